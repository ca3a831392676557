"""What a diagnosis says, as plain text and as HTML."""

from dataclasses import dataclass

from lnorm_course.checking.feedback import inline

__all__ = ["Diagnosis", "Place"]


@dataclass(frozen=True)
class Place:
    """Where a layer differs from its reference.

    Args:
        words: the place and what happens there, as one sentence.
        counts: whether the layer is wrong because of it. Other places are worth knowing, such as
            a sum that overflows in float16.
    """

    words: str
    counts: bool = True


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found.

    Args:
        verdict: the finding in one to three sentences.
        right: True if no difference was found where it looked, False if one was found, and None if
            it could not tell.
        slips: what is done otherwise than in the reference, one clause for each. For two arrays,
            every explanation that fits them, the one with the fewest slips first.
        places: where it differs, one sentence for each.
        tried: what it looked at: sizes, means, spreads, dtypes, modes.

    >>> Diagnosis("ε is left out.", False, ("ε is left out",), ("Only on narrow rows.",), "2 rows")
    ε is left out.
      - Only on narrow rows.
    Tried: 2 rows.
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
        listed = f"<ul>{places}</ul>" if places else ""
        tried = f"<small>Tried: {inline(self.tried)}.</small>" if self.tried else ""
        head = f"<strong>{sign}</strong> {inline(self.verdict)}"
        return f'<div role="status">{head}{listed}{tried}</div>'
