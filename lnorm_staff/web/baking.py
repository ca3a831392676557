"""Render an explorer's states ahead of time to files that a web page fetches when needed."""

import ast
import contextlib
import gzip
import hashlib
import inspect
import json
import platform
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["Call", "bake", "calls_in", "curly", "in_script", "page_of", "typeset"]

PROJECT = Path(__file__).parents[2]
EXPLORERS = PROJECT / "lnorm_course" / "explorers"
DRAWING = (PROJECT / "lnorm_utils", EXPLORERS, PROJECT / "lnorm_course" / "lessons")
KINDS = ("*.py", "*.json", "*.zip")
APOSTROPHE = re.compile("(?<=[a-z])(?:'|&#x27;)(?=[a-z])")


@dataclass(frozen=True)
class Call:
    """A call to an explorer in a lesson.

    Args:
        source: the call's source code, without the preset.
        preset: the preset to start with, or "" for none.
    """

    source: str
    preset: str

    @property
    def topic(self) -> str:
        """The explorer's name in a link, such as "collapse"."""
        return self.source.split("(")[0].removeprefix("explore_")


def calls_in(source: str) -> list[Call]:
    """Find the explorers that a cell shows: calls to `explore_…` that are whole statements.

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


def bake(source: str, cache: Path) -> Path:
    """Draw all states of an explorer unless they're cached, and return their folder.

    In the folder, `page.json` has what `Explorer.about` says about the explorer, and its initial
    state. `first.gz` has the frames of the initial state and of the presets. `all.gz` has a line
    for each state, in an order in which the last control changes fastest.

    Args:
        source: the call to the explorer, such as "explore_collapse()".
        cache: the folder with a subfolder for each explorer and each version of its dependencies.

    Raises:
        ValueError: the call uses a name that `lnorm_course.explorers` doesn't have.
    """
    folder = cache / f"{Call(source, '').topic}-{_fingerprint(source)}"
    if folder.exists():
        return folder
    explorer = _evaluate(source)
    states, start = explorer.states(), tuple(explorer.state)
    frames = {state: _json(typeset(explorer.frame(state))) for state in states}
    first = [f"{_json(_key(s))}:{frames[s]}" for s in {start, *explorer.presets.values()}]
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as made:
        draft = Path(made, folder.name)
        draft.mkdir()
        _write(draft / "all.gz", "\n".join(frames.values()))
        _write(draft / "first.gz", "{" + ",".join(first) + "}")
        (draft / "page.json").write_text(_json({**explorer.about(), "start": start}), "utf-8")
        with contextlib.suppress(OSError):  # another process was faster
            draft.rename(folder)
    return folder


def page_of(folder: Path, preset: str) -> dict[str, Any]:
    """Return the data that a page needs about a baked explorer, including its initial frame."""
    page: dict[str, Any] = json.loads((folder / "page.json").read_text("utf-8"))
    frames = json.loads(gzip.decompress((folder / "first.gz").read_bytes()))
    states = {each["name"]: each["state"] for each in page["presets"]}
    return {**page, "frame": frames[_key(states.get(preset, page["start"]))]}


def typeset(frame: Any) -> Any:
    """Give a frame curly apostrophes, like those of the page around it.

    >>> typeset({"svgs": [""], "words": "That's it."})
    {'svgs': [''], 'words': 'That’s it.'}
    """
    return {**frame, "words": curly(frame["words"]), "svgs": [*map(curly, frame["svgs"])]}


def curly(text: str) -> str:
    """Replace each apostrophe between letters with a curly one."""
    return APOSTROPHE.sub("\u2019", text)


def in_script(data: Any) -> str:
    """Return data as JSON in an HTML element that a page's scripts can read."""
    text = _json(data).replace("</", "<\\/")
    return f'<script type="application/json">{text}</script>'


def _evaluate(source: str) -> Any:
    import lnorm_course.explorers as explorers

    try:
        return eval(source, dict(vars(explorers)))
    except NameError as error:
        raise ValueError(
            f"A page can show {source} only if lnorm_course.explorers has its names: {error}."
        ) from None


def _key(state: Sequence[int]) -> str:
    return ",".join(map(str, state))


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _write(file: Path, text: str) -> None:
    file.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _fingerprint(source: str) -> str:
    """Return a hash of everything that the pictures of an explorer depend on."""
    function = inspect.unwrap(_evaluate(source.split("(")[0]))  # without its decorator
    own = Path(inspect.getfile(function))
    others = {file for file in EXPLORERS.iterdir() if file.is_file()} - {own}
    files = {f for room in DRAWING for kind in KINDS for f in room.rglob(kind)}
    versions = (version(name) for name in ("torch", "numpy", "matplotlib"))
    hashed = hashlib.sha256(" ".join([platform.python_version(), *versions, source]).encode())
    for file in sorted({*files, Path(__file__)} - others):
        hashed.update(file.read_bytes())
    return hashed.hexdigest()[:12]
