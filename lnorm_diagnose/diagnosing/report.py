"""What a diagnosis says, as plain text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.explaining import Explained
from lnorm_diagnose.diagnosing.findings import Finding
from lnorm_diagnose.diagnosing.likeness import place
from lnorm_diagnose.diagnosing.trials import APART
from lnorm_diagnose.sentences import inline
from lnorm_utils.words import capitalized, spoken

__all__ = ["Diagnosis", "Verdict", "conclusion", "diagnosis"]


class Verdict(Enum):
    """The four results, in the words that a verdict begins with."""

    NO_DIFFERENCE = "No difference found"
    KNOWN = "It differs, and this is why."
    UNKNOWN = "It differs, cause unknown."
    NOT_JUDGED = "Can't be judged."


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found.

    Args:
        verdict: the finding in one to three sentences; its first words are one of `Verdict`.
        right: True if no difference was found, False if one was, None if it couldn't be judged.
        slips: what is done otherwise than in the reference, one clause for each. If several
            explain the same numbers, all of them.
        places: where it differs, and what else is worth knowing, one sentence for each.
        tried: what it looked at: shapes, rows, dtypes, modes.

    >>> Diagnosis("It differs, and this is why. ε is left out.", False, ("ε is left out",))
    It differs, and this is why. ε is left out.
    """

    verdict: str
    right: bool | None
    slips: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    tried: str = ""

    def __repr__(self) -> str:
        lines = [self.verdict, *(f"  - {place}" for place in self.places)]
        return "\n".join([*lines, f"Tried: {self.tried}."] if self.tried else lines)

    def _repr_html_(self) -> str:
        sign = {True: "✓", False: "✗", None: "?"}[self.right]
        places = "".join(f"<li>{inline(place)}</li>" for place in self.places)
        tried = f"<small>Tried: {inline(self.tried)}.</small>" if self.tried else ""
        head = f"<strong>{sign}</strong> {inline(self.verdict)}"
        return f'<div role="status">{head}{f"<ul>{places}</ul>" if places else ""}{tried}</div>'


def diagnosis(
    verdict: Verdict,
    words: str,
    slips: Sequence[str] = (),
    places: Sequence[str] = (),
    tried: str = "",
) -> Diagnosis:
    """Return a diagnosis whose verdict begins with one of the four."""
    right = {Verdict.NO_DIFFERENCE: True, Verdict.NOT_JUDGED: None}.get(verdict, False)
    words = words if right else capitalized(words)
    slips = tuple(dict.fromkeys(map(capitalized, slips)))
    return Diagnosis(f"{verdict.value} {words}", right, slips, tuple(places), tried)


def conclusion(
    main: Case, explained: Explained, found: Sequence[Finding], how_far: str, tried: str
) -> Diagnosis:
    """Return a diagnosis from what explains the cases, or else from where they differ.

    Args:
        main: the most typical case.
        found: what there is to say besides.
        how_far: what "no difference found" is said of.
    """
    is_known = explained.is_right or explained.words
    slips = [each for each in found if each.slip and is_known]
    rest = [case.trial.words for case in explained.without if case.kind not in APART]
    places = [f"It doesn't explain all that differs on {spoken(rest)}."] if rest else []
    places += [each.words for each in found if each not in slips]
    clauses = (*explained.slips, *(each.slip for each in slips))
    verdict, words = Verdict.KNOWN, " ".join([explained.words, *(each.words for each in slips)])
    if not is_known:
        wrong = [case for case in explained.wrong if case.kind not in APART]
        where = f"It differs on {spoken([case.trial.words for case in wrong])} alone. "
        verdict, words = Verdict.UNKNOWN, where * (main not in wrong) + place(wrong[-1])
        tried += "; all slips, and each with the common ones, but no two rare ones together"
    elif not clauses:
        verdict, words = Verdict.NO_DIFFERENCE, f"from {main.norm.in_words}{how_far}."
    return diagnosis(verdict, words.strip() + explained.remark, clauses, places, tried)
