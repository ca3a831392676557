"""An exercise in code as a program with gaps, in JupyterLab: a student chooses what stands in each.

`Exercise.choose` shows it. On a page `gaps.js` draws it too, and `choosing.js` judges it.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnorm_course.checking.feedback import Feedback, State, inline
from lnorm_course.progress_files import CHOSEN, keep
from lnorm_course.slips.notation import Template

if TYPE_CHECKING:
    from lnorm_course.checking.code_exercise import CodeExercise

__all__ = ["SCRIPT", "choosing", "judged", "outcomes", "program_data", "to_change"]

ROOM = Path(__file__).parent
SCRIPT = (ROOM / "gaps.js").read_text("utf-8")
STYLE = (ROOM / "gaps.css").read_text("utf-8")
RENDER = """
function render({ model, el }) {
  let tell = () => {};
  const take = ({ wrong }) => tell(wrong);
  model.on("msg:custom", take);
  program(el, model.get("program"), (chosen) => new Promise((resolve) => {
    tell = resolve;
    model.send({ chosen });
  }));
  return () => model.off("msg:custom", take);
}
export default { render };
"""
NOW_WRITE_IT = "Now write it yourself, and check it: only that counts."


def choosing(exercise: "CodeExercise") -> Any:
    """Return a widget with the template of an exercise, which runs what is chosen."""
    import anywidget
    import traitlets

    class Choosing(anywidget.AnyWidget):
        _esm = SCRIPT + RENDER
        _css = STYLE
        program = traitlets.Dict().tag(sync=True)

    widget = Choosing(program=program_data(exercise.template, NOW_WRITE_IT))

    def answer(widget: Any, content: dict[str, list[int]], buffers: object) -> None:
        widget.send({"wrong": judged(exercise, content["chosen"])})

    widget.on_msg(answer)
    return widget


def program_data(template: Template, right: str) -> dict[str, Any]:
    """Return what `gaps.js` needs to draw a program.

    Args:
        template: with the gaps.
        right: what a student reads whose program is right.
    """
    gaps = [[{"code": p.code, "html": inline(p.why)} for p in gap] for gap in template.gaps]
    said = Feedback(State.RIGHT, right)._repr_html_()
    return {"code": list(template.code), "gaps": gaps, "right": said}


def judged(exercise: "CodeExercise", chosen: Sequence[int]) -> list[int]:
    """Return the gaps that have to change; if there are none, keep that it was solved like this."""
    wrong = to_change(exercise, chosen)
    if not wrong and exercise.name:
        keep(exercise.topic, exercise.name, CHOSEN)
    return wrong


def to_change(exercise: "CodeExercise", chosen: Sequence[int]) -> list[int]:
    """Number the fewest gaps whose change makes a program right; none if it's right as it is.

    Only gaps with a piece that is wrong are changed, so each has a sentence. Changing all of them
    makes the program right. `choosing.js` does the same on a page.

    Args:
        exercise: with the gaps.
        chosen: the number of a piece for each gap.
    """
    template = exercise.template
    marked = [piece.gap for piece in template.pieces(chosen) if piece.why]
    for count in range(len(marked)):
        for gaps in itertools.combinations(marked, count):
            each = (
                range(len(gap)) if n in gaps else [chosen[n]] for n, gap in enumerate(template.gaps)
            )
            if any(map(exercise.is_right_with, itertools.product(*each))):
                return list(gaps)
    return marked


def outcomes(exercise: "CodeExercise") -> bytes:
    """Tell of each program whether it's right: its bit, counted from the lowest of each byte."""
    programs = exercise.template.programs
    bits = sum(exercise.is_right_with(chosen) << n for n, chosen in enumerate(programs))
    return bits.to_bytes((len(programs) + 7) // 8, "little")
