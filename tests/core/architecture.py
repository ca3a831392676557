"""What each room of the package may import, read from its source and from the page about rooms."""

import ast
import re
import sys

from project import PROJECT

PACKAGE = "lnorm_utils"
PAGE = PROJECT / "docs" / "architecture.md"
ROW = re.compile(r"^\| `(\w+)` \| .+? \| (.*?) ?\|$", re.MULTILINE)
# Room -> what it may import besides itself and the standard library, from the bottom up.
ROOMS = {
    room: {*filter(None, may.split(", "))} for room, may in ROW.findall(PAGE.read_text("utf-8"))
}
# What each room inside a room may import of that one. `__main__` may import all of them.
INNER_ROOMS = {
    "grading": {
        "cells": set(),
        "files": set(),
        "grade": set(),
        "plain_text": set(),
        "hand_out": {"cells"},
        "collect": {"cells", "grade", "plain_text"},
        "run": {"collect", "cells", "files", "grade", "plain_text"},
        "report": {"files", "grade", "plain_text"},
        "__init__": set(),
    }
}
ONLY_IN_FUNCTIONS = {
    *("IPython", "jupyterlab", "jupyterhub", "nbformat", "psutil"),
    *("bs4", "docutils", "latex2mathml", "sphinx"),
}
# It keeps every figure alive, and the notebook shows them a second time.
NOWHERE = "matplotlib.pyplot"


def violations(package):
    """Yield a sentence for each import in the package that is not allowed."""
    for file in sorted(package.rglob("*.py")):
        room, *inner = [part.removesuffix(".py") for part in file.relative_to(package).parts]
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
                found = [f"{room} {wrong}" for wrong in judge(room, name, node in in_functions)]
                found += judge_inside(room, inner, name)
                yield from (f"{each} ({file.name}, line {node.lineno})" for each in found)


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


def judge_inside(room, inner, name):
    """Yield what is wrong with an import from a room to another one inside the same room."""
    if room not in INNER_ROOMS or inner[0] == "__main__":
        return
    top, source, other, *_ = [*name.split("."), "", ""]
    if inner[0] not in INNER_ROOMS[room]:
        yield f"{inner[0]} is not a room of {room}"
    elif (top, source) == (PACKAGE, room) and other not in {inner[0], *INNER_ROOMS[room][inner[0]]}:
        yield f"{inner[0]} may not import {name}"
