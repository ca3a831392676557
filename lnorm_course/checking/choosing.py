"""Show a code exercise in JupyterLab as a program in which a student chooses what fills each gap.

`Exercise.choose` shows the program. `gaps.js` draws and checks it, here and on web pages.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lnorm_course.checking.feedback import Feedback, State
from lnorm_diagnose.slips.notation import Template
from lnorm_utils.words import inline

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
NOW_WRITE_IT = "Now write it yourself and check it: only a checked answer counts."


def choosing(program: dict[str, Any], solved: Callable[[], None]) -> Any:
    """Return a widget in which a student chooses an option for each gap.

    Args:
        program: the program, as returned by `program_data`.
        solved: called when the student has built a correct program.
    """
    import anywidget
    import traitlets

    class Choosing(anywidget.AnyWidget):
        _esm = SCRIPT + RENDER
        _css = STYLE
        program = traitlets.Dict().tag(sync=True)

    widget = Choosing(program=program)
    widget.on_msg(lambda *message: solved())
    return widget


def program_data(
    template: Template, programs: Sequence[tuple[int, ...]], right: str = NOW_WRITE_IT
) -> dict[str, Any]:
    """Return what `gaps.js` needs to draw an exercise's program with gaps, and to check it.

    Args:
        template: the program with gaps.
        programs: the right programs, each given by the indices of its options.
        right: the message for a right program.
    """
    gaps = [[{"code": p.code, "html": inline(p.why)} for p in gap] for gap in template.gaps]
    said = Feedback(State.RIGHT, right)._repr_html_()
    return {"code": list(template.code), "gaps": gaps, "programs": [*programs], "right": said}
