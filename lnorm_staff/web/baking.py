"""Draw the states of an explorer ahead, into files that a web page fetches when it needs them."""

import ast
import gzip
import inspect
import itertools
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnorm_course.explorers.engine import panels
from lnorm_staff.web.fingerprint import fingerprint

__all__ = ["Call", "bake", "calls_in", "curly", "draw", "draw_part", "page_of", "typeset"]

PROJECT = Path(__file__).parents[2]
EXPLORERS = PROJECT / "lnorm_course" / "explorers"
DRAWING = (PROJECT / "lnorm_utils", EXPLORERS, PROJECT / "lnorm_course" / "lessons")
KINDS = ("*.py", "*.json", "*.zip")
MOST_STATES = 3_000  # of a full grid
PARTS = 4  # that are drawn beside each other
State = tuple[int, ...]
APOSTROPHE = re.compile("(?<=[a-z])(?:'|&#x27;)(?=[a-z])")
PRESSES = 10  # of a button before it starts over, or more if a preset has more


@dataclass(frozen=True)
class Call:
    """A call of an explorer in a lesson.

    Args:
        source: the call, without its preset.
        preset: the preset to start with, or "".
    """

    source: str
    preset: str

    @property
    def topic(self) -> str:
        """What the explorer is called in a link, such as "collapse"."""
        return self.source.split("(")[0].removeprefix("explore_")


def calls_in(source: str) -> list[Call]:
    """Find the explorers that a cell shows: calls of `explore_…` that stand alone on their lines.

    >>> calls_in("explore_batch(preset='a lone pair')")
    [Call(source='explore_batch()', preset='a lone pair')]
    """
    found = []
    for statement in ast.parse(source).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("explore_"):
            presets = [k.value for k in call.keywords if k.arg == "preset"]
            call.keywords = [k for k in call.keywords if k.arg != "preset"]
            preset = ast.literal_eval(presets[0]) if presets else ""
            found.append(Call(ast.unparse(call), preset))
    return found


def bake(source: str, cache: Path, draw_all: Any = map) -> Path:
    """Draw all states of an explorer, unless that has been done before, and return the folder.

    The folder has `page.json`, which describes the explorer as `Explorer.page` does, and for each
    arrangement of its panels three files. `N.first.gz` has the background and the frames of the
    start and the presets. `N.near.gz` has those in which a single control stands elsewhere, and
    `N.rest.gz` all others, if they aren't too many. In these two, the first line says on which of
    the lines below it each state is.

    Args:
        source: the call of the explorer, such as "explore_collapse()".
        cache: the folder of folders, one for each explorer and what its pictures depend on.
        draw_all: like `map`, maybe in several processes.

    Raises:
        ValueError: the call needs more than what `lnorm_course.explorers` has.
    """
    folder = cache / f"{Call(source, '').topic}-{_fingerprint(source)}"
    page_file = folder / "page.json"  # written last
    if not page_file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        explorer = _evaluate(source)
        if isinstance(explorer, panels.Explorer):
            _write_states(explorer, source, folder, draw_all)
            return folder
        page = explorer.page
        jobs = [(source, number, folder) for number in range(len(page["sizes"]))]
        is_whole = all(list(draw_all(draw, jobs)))
        kept = {name: page[name] for name in page if name not in ("backgrounds", "frames")}
        text = _json({**kept, "whole": is_whole, "presses": _presses(page)})
        page_file.write_text(text, encoding="utf-8")
    return folder


def _write_states(explorer: panels.Explorer, source: str, folder: Path, draw_all: Any) -> None:
    """Write `page.json`, each frame as a line of `all.gz`, and those of presets to `first.gz`."""
    states, start = explorer.states(), tuple(explorer.state)
    if len(states) > MOST_STATES:
        raise ValueError(f"{source} has {len(states)} states, of at most {MOST_STATES}.")
    lines = [*itertools.chain(*draw_all(draw_part, [(source, part) for part in range(PARTS)]))]
    frames = dict(zip(states, lines, strict=True))
    first = [f"{_json(_key(s))}:{frames[s]}" for s in {start, *explorer.presets.values()}]
    _write(folder / "all.gz", "\n".join(lines))
    _write(folder / "first.gz", "{" + ",".join(first) + "}")
    page = {**explorer.about(), "start": start}
    (folder / "page.json").write_text(_json(page), encoding="utf-8")


def draw_part(job: tuple[str, int]) -> list[str]:
    """Draw one of the parts of the states of an explorer, each frame as a line of JSON."""
    source, part = job
    explorer = _evaluate(source)
    states = explorer.states()
    begin, end = (len(states) * n // PARTS for n in (part, part + 1))
    return [_json(typeset(explorer.frame(state))) for state in states[begin:end]]


def page_of(folder: Path, preset: str) -> dict[str, Any]:
    """Return what a page says of an explorer that was drawn, with the frame it begins with."""
    page: dict[str, Any] = json.loads((folder / "page.json").read_text("utf-8"))
    if "panels" in page:
        frames = json.loads(gzip.decompress((folder / "first.gz").read_bytes()))
        states = {each["name"]: each["state"] for each in page["presets"]}
        page["frame"] = frames[_key(states.get(preset, page["start"]))]
    return page


def draw(job: tuple[str, int, Path]) -> bool:
    """Draw the frames of an arrangement, and tell whether that's every state there is.

    Args:
        job: the call of the explorer, the number of the arrangement, and the folder for the files.
    """
    source, arrangement, folder = job
    explorer = _evaluate(source)
    page, frames = explorer.page, explorer.frames
    grid = {state: _settled(frames, state) for state in _grid(page)}
    is_whole = 0 < len({*grid.values()}) <= MOST_STATES
    alone = {state: _settled(frames, state) for state in _alone(page)}
    rest = {state: shown for state, shown in grid.items() if state not in alone} if is_whole else {}
    background = frames.background(arrangement)
    first = {_key(s): typeset(frames.frame(arrangement, s)) for s in _anchors(page)}
    _write(folder / f"{arrangement}.first.gz", _json({"background": background, "frames": first}))
    for part, states in (("near", alone), ("rest", rest)):
        _write(folder / f"{arrangement}.{part}.gz", _drawn(frames, arrangement, states))
    return is_whole


def _drawn(frames: Any, arrangement: int, states: dict[State, State]) -> str:
    """Draw what is shown of each state: a line for each frame, below one that says which is where.

    Args:
        states: a state → the one that is shown in its place.
    """
    lines: dict[State, int] = {}
    numbers: dict[str, int] = {}
    texts: list[str] = []
    for state, shown in states.items():
        if shown not in lines:
            lines[shown] = len(texts)
            texts.append(_json(typeset(frames.frame(arrangement, shown))))
        numbers[_key(state)] = lines[shown]
    return "\n".join([_json(numbers), *texts])


def typeset(frame: Any) -> Any:
    """Give a frame the apostrophes of the page around it.

    >>> typeset({"svg": "", "words": "That's it."})
    {'svg': '', 'words': 'That’s it.'}
    """
    if "svgs" in frame:
        return {**frame, "words": curly(frame["words"]), "svgs": [*map(curly, frame["svgs"])]}
    return {**frame, **{key: curly(frame[key]) for key in ("svg", "words")}}


def curly(text: str) -> str:
    """Replace each apostrophe between letters by a curly one."""
    return APOSTROPHE.sub("\u2019", text)


def _evaluate(source: str) -> Any:
    import lnorm_course.explorers as explorers

    try:
        return eval(source, dict(vars(explorers)))
    except NameError as error:
        raise ValueError(
            f"A page can show {source} only if all it needs is lnorm_course.explorers: {error}."
        ) from None


def _presses(page: dict[str, Any]) -> int:
    """Count how often a button can be pressed before it starts over."""
    buttons = [i for i, control in enumerate(page["controls"]) if control["kind"] == "button"]
    return max([PRESSES, *(anchor[i] + 1 for anchor in _anchors(page) for i in buttons)])


def _places(page: dict[str, Any]) -> list[range]:
    """List for each control where it can stand."""
    controls, presses = page["controls"], _presses(page)
    return [range(presses if c["kind"] == "button" else len(c["texts"])) for c in controls]


def _anchors(page: dict[str, Any]) -> list[State]:
    """List the states of the start and of the presets."""
    return [*dict.fromkeys([tuple(page["start"]), *(tuple(p["state"]) for p in page["presets"])])]


def _grid(page: dict[str, Any]) -> Iterator[State]:
    """Yield each state, or none if they are far too many."""
    places = _places(page)
    return itertools.product(*places) if math.prod(map(len, places)) < 9 * MOST_STATES else iter(())


def _settled(frames: Any, state: State) -> State:
    """Return the state that is shown in place of one whose numbers are too large."""
    return tuple(frames.state(frames.settled(frames.values(state))))


def _alone(page: dict[str, Any]) -> Iterator[State]:
    """Yield each state in which at most one control stands elsewhere than at a preset."""
    for anchor in _anchors(page):
        for index, places in enumerate(_places(page)):
            for place in places:
                yield (*anchor[:index], place, *anchor[index + 1 :])


def _key(state: Sequence[int]) -> str:
    return ",".join(map(str, state))


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _write(file: Path, text: str) -> None:
    file.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _fingerprint(source: str) -> str:
    """Name everything that the pictures of an explorer depend on."""
    function = inspect.unwrap(_evaluate(source.split("(")[0]))  # below its decorator
    own = Path(inspect.getfile(function))
    others = {file for file in EXPLORERS.iterdir() if file.is_file()} - {own}
    files = {f for room in DRAWING for kind in KINDS for f in room.rglob(kind)}
    return fingerprint({*files, Path(__file__)} - others, source)
