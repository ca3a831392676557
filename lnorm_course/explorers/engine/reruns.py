"""Close what a cell has made when the cell runs again, for widgets live until they are closed."""

from typing import Any, Protocol


class Closable(Protocol):
    """Something with `close()`."""

    def close(self) -> None:
        """Let go of what is held."""


# Jupyter's id of a cell → its last run (the id of a message), and what that run has made.
_last_run: dict[str, tuple[str, list[Closable]]] = {}


def close_former_run(made: Closable) -> None:
    """Remember what the cell that runs now has made, and close what it made in a former run.

    Outside a notebook, or where the front end does not tell which cell runs, this does nothing.
    """
    from IPython import get_ipython

    get_parent = getattr(get_ipython(), "get_parent", dict)
    message: dict[str, Any] = get_parent()
    cell = message.get("metadata", {}).get("cellId")
    if cell is None:
        return
    run = message["header"]["msg_id"]
    former_run, former = _last_run.get(cell, (run, []))
    if former_run != run:
        for one in former:
            one.close()
        former = []
    _last_run[cell] = (run, [*former, made])
