"""What each room of the package may import, read from its source."""

import ast
import sys

PACKAGE = "lnorm_utils"
# From the bottom up. Besides these, a room may import itself and the standard library.
ROOMS = {
    "progress_files": set(),
    "numbers": set(),
    "functional": {"torch"},
    "backward": {"functional", "torch"},
    "modules": {"functional", "torch"},
    "beliefs": set(),
    "slips": {"beliefs", "modules", "torch"},
    "backward_slips": {"beliefs", "slips", "torch"},
    "examples": {"modules", "torch"},
    "clinic": {"examples", "torch"},
    "measures": {"modules", "torch"},
    "training": {"torch"},
    "transformer": {"modules", "torch"},
    "speed": {"torch"},
    "plotting": {"numbers", "numpy", "matplotlib", "IPython"},
    "lab": {"progress_files"},
    "exercises": {
        *("functional", "modules", "slips", "beliefs", "examples", "measures", "numbers"),
        *("backward_slips", "progress_files", "torch", "numpy", "IPython"),
    },
    "explorers": {
        *("functional", "modules", "slips", "examples", "measures", "numbers", "plotting"),
        *("backward", "transformer", "torch", "numpy", "matplotlib"),
        *("ipywidgets", "anywidget", "traitlets", "IPython"),
    },
    "grading": {
        *("exercises", "lab", "plotting"),
        *("torch", "numpy", "matplotlib", "IPython", "traitlets"),
        *("psutil", "nbformat"),  # from the extra `test`
    },
    "web": {"exercises", "explorers", "lab", "sphinx", "bs4"},
    "__init__": {"functional", "modules"},
    "__main__": {"lab", "jupyterlab", "jupyterhub"},
}
ONLY_IN_FUNCTIONS = {"IPython", "jupyterlab", "jupyterhub", "nbformat", "psutil", "bs4", "sphinx"}
# It keeps every figure alive, and the notebook shows them a second time.
NOWHERE = "matplotlib.pyplot"


def violations(package):
    """Yield a sentence for each import in the package that is not allowed."""
    for file in sorted(package.rglob("*.py")):
        room = file.relative_to(package).parts[0].removesuffix(".py")
        if room not in ROOMS:
            yield f"{room} is not a room"
            continue
        tree = ast.parse(file.read_text("utf-8"))
        in_functions = {
            node
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            for name in imported_names(node):
                for violation in judge(room, name, node in in_functions):
                    yield f"{room} {violation} ({file.name}, line {node.lineno})"


def imported_names(node):
    """Yield the dotted names that a statement imports; a relative one starts with a dot."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        own = module == PACKAGE
        yield from (module if own else f"{module}.{alias.name}" for alias in node.names)


def judge(room, name, in_function):
    """Yield what is wrong with an import: at most one thing."""
    top, *inner = name.split(".")
    source = inner[0] if top == PACKAGE and inner else top
    if not top:
        yield "has a relative import"
    elif name.endswith(".*"):
        yield "has a star import"
    elif f"{name}.".startswith(f"{NOWHERE}."):
        yield f"imports {NOWHERE}"
    elif name == PACKAGE:
        yield f"may not import {PACKAGE} itself"
    elif source not in {room, *ROOMS[room], *sys.stdlib_module_names}:
        yield f"may not import {name}"
    elif source in ONLY_IN_FUNCTIONS and not in_function:
        yield f"imports {source} outside a function"
