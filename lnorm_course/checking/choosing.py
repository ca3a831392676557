"""An exercise in code as a program with gaps, in JupyterLab: a student chooses what stands in each.

`Exercise.choose` shows it. `gaps.js` draws and judges it, here and on a page.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lnorm_course.checking.feedback import Feedback, State, inline
from lnorm_course.progress_files import CHOSEN, keep

if TYPE_CHECKING:
    from lnorm_course.checking.code_exercise import CodeExercise

__all__ = ["SCRIPT", "choosing", "program_data"]

ROOM = Path(__file__).parent
SCRIPT = (ROOM / "gaps.js").read_text("utf-8")
STYLE = (ROOM / "gaps.css").read_text("utf-8")
RENDER = """
function render({ model, el }) {
  program(el, model.get("program"), (chosen, wrong) => { if (!wrong.length) model.send("right"); });
}
export default { render };
"""
NOW_WRITE_IT = "Now write it yourself, and check it: only that counts."


def choosing(exercise: "CodeExercise") -> Any:
    """Return a widget with the template of an exercise, which keeps that it was solved so."""
    import anywidget
    import traitlets

    class Choosing(anywidget.AnyWidget):
        _esm = SCRIPT + RENDER
        _css = STYLE
        program = traitlets.Dict().tag(sync=True)

    def solved(*message: object) -> None:
        if exercise.name:
            keep(exercise.topic, exercise.name, CHOSEN)

    widget = Choosing(program=program_data(exercise, NOW_WRITE_IT))
    widget.on_msg(solved)
    return widget


def program_data(exercise: "CodeExercise", right: str) -> dict[str, Any]:
    """Return what `gaps.js` needs to draw the programs of an exercise, and to judge them.

    Args:
        exercise: with the gaps.
        right: what a student reads whose program is right.
    """
    template = exercise.template
    gaps = [[{"code": p.code, "html": inline(p.why)} for p in gap] for gap in template.gaps]
    programs = [*filter(exercise.is_right_with, template.programs)]
    said = Feedback(State.RIGHT, right)._repr_html_()
    return {"code": list(template.code), "gaps": gaps, "programs": programs, "right": said}
