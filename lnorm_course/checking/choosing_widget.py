"""A program with gaps in JupyterLab: `Exercise.choose` shows it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnorm_course.checking.choosing import Template, to_change
from lnorm_course.checking.feedback import Feedback, State, inline
from lnorm_course.progress_files import CHOSEN, keep

if TYPE_CHECKING:
    from lnorm_course.checking.code_exercise import CodeExercise

__all__ = ["SCRIPT", "as_data", "choosing", "judged"]

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
NOW_WRITE_IT = "Now write it yourself in the cell above, and check it: only that counts."


def as_data(template: Template, right: str) -> dict[str, Any]:
    """Return what `gaps.js` needs to draw a program.

    Args:
        template: with the gaps.
        right: what a student reads whose program is right.
    """
    gaps = [[{"code": p.code, "html": inline(p.why)} for p in gap] for gap in template.gaps]
    said = Feedback(State.RIGHT, right)._repr_html_()
    return {"code": list(template.code), "gaps": gaps, "right": said}


def choosing(exercise: "CodeExercise", template: Template) -> Any:
    """Return a widget with the template of an exercise, which runs what is chosen."""
    import anywidget
    import traitlets

    class Choosing(anywidget.AnyWidget):
        _esm = SCRIPT + RENDER
        _css = STYLE
        program = traitlets.Dict().tag(sync=True)

    widget = Choosing(program=as_data(template, NOW_WRITE_IT))

    def answer(widget: Any, content: dict[str, list[int]], buffers: object) -> None:
        widget.send({"wrong": judged(exercise, template, content["chosen"])})

    widget.on_msg(answer)
    return widget


def judged(exercise: "CodeExercise", template: Template, chosen: Sequence[int]) -> list[int]:
    """Return the gaps that have to change; if there are none, keep that it was solved like this."""
    wrong = to_change(template, chosen, exercise.is_right_with)
    if not wrong and exercise.name:
        keep(exercise.topic, exercise.name, CHOSEN)
    return wrong
