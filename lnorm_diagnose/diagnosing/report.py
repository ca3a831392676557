"""Put a diagnosis into words, as plain text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.findings import Finding
from lnorm_diagnose.diagnosing.likeness import place
from lnorm_diagnose.diagnosing.search import Cause
from lnorm_diagnose.diagnosing.trial_inputs import APART
from lnorm_utils.words import capitalized, inline, spoken

__all__ = ["Diagnosis", "Verdict", "conclusion", "diagnosis"]


class Verdict(Enum):
    """The five possible results of a diagnosis, in the words that begin its summary.

    >>> Verdict.UNKNOWN.value
    'It differs, cause unknown.'
    """

    NO_DIFFERENCE = "No difference found"
    KNOWN = "It differs, and this is why."
    SEEN = "It differs, and this was seen."
    UNKNOWN = "It differs, cause unknown."
    NOT_JUDGED = "Can't be judged."


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found.

    Args:
        verdict: which of the five results it is.
        summary: the finding in one to three sentences.
        slips: what the layer does differently than the reference, one clause for each mistake. If
            several mistakes explain the same numbers, all of them are listed.
        notes: where the layer differs, and what else is worth knowing, one sentence each.
        tried: what was tried, such as shapes, rows, dtypes, and modes.

    >>> Diagnosis(Verdict.KNOWN, "It differs, and this is why. ε is left out.", ("ε is left out",))
    It differs, and this is why. ε is left out.
    """

    verdict: Verdict
    summary: str
    slips: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tried: str = ""

    @property
    def right(self) -> bool | None:
        """True if no difference was found, False if one was, None if it couldn't be judged."""
        return {Verdict.NO_DIFFERENCE: True, Verdict.NOT_JUDGED: None}.get(self.verdict, False)

    def __repr__(self) -> str:
        lines = [self.summary, *(f"  - {note}" for note in self.notes)]
        return "\n".join([*lines, f"Tried: {self.tried}."] if self.tried else lines)

    def _repr_html_(self) -> str:
        sign = {True: "✓", False: "✗", None: "?"}[self.right]
        notes = "".join(f"<li>{inline(note)}</li>" for note in self.notes)
        tried = f"<small>Tried: {inline(self.tried)}.</small>" if self.tried else ""
        head = f"<strong>{sign}</strong> {inline(self.summary)}"
        return f'<div role="status">{head}{f"<ul>{notes}</ul>" if notes else ""}{tried}</div>'


def diagnosis(
    verdict: Verdict,
    words: str,
    slips: Sequence[str] = (),
    notes: Sequence[str] = (),
    tried: str = "",
) -> Diagnosis:
    """Return a diagnosis whose summary begins with the words of its verdict."""
    words = words if verdict is Verdict.NO_DIFFERENCE else capitalized(words)
    slips = tuple(dict.fromkeys(map(capitalized, slips)))
    return Diagnosis(verdict, f"{verdict.value} {words}", slips, tuple(notes), tried)


def conclusion(
    main: Case, cause: Cause, found: Sequence[Finding], how_far: str, tried: str
) -> Diagnosis:
    """Return a diagnosis that gives the cause or, if that's unknown, says where results differ.

    Args:
        main: the most typical case.
        found: further findings.
        how_far: the limits of "no difference found", in words.
    """
    slips = [each for each in found if each.slip and not cause.is_open]
    rest = [case.trial.words for case in cause.without if case.kind not in APART]
    notes = [f"This doesn't explain everything that differs on {spoken(rest)}."] if rest else []
    notes += [each.words for each in found if each not in slips]
    clauses = (*cause.slips, *(each.slip for each in slips))
    verdict, words = Verdict.KNOWN, " ".join([cause.words, *(each.words for each in slips)])
    if cause.is_open:
        wrong = [case for case in cause.wrong if case.kind not in APART]
        where = f"It differs only on {spoken([case.trial.words for case in wrong])}. "
        verdict, words = Verdict.UNKNOWN, where * (main not in wrong) + place(wrong[-1])
        tried += "; all slips, alone and with the common ones, but no two rare ones together"
    elif not clauses:
        verdict, words = Verdict.NO_DIFFERENCE, f"from {main.norm.family}{how_far}."
    elif rest or cause.is_seen or any(each.is_seen for each in slips):
        verdict = Verdict.SEEN
    return diagnosis(verdict, words.strip() + cause.remark, clauses, notes, tried)
