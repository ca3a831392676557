"""Code on a page: what is folded, and how long lines go on."""

import ast
import re

from lnorm_utils.examples import __all__ as EXAMPLES
from lnorm_utils.plotting import __all__ as PICTURES

__all__ = ["only_shows", "with_lines"]

SHOW = {*PICTURES, "display", "assert_close"}
BLOCK = re.compile(r'(<div class="highlight"><pre>(?:<span></span>)?)(.*?)</pre>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def only_shows(source: str) -> bool:
    """Tell whether code only imports, draws, and asserts.

    On the way it may fetch an example of the course, and name what is written out, such as titles.

    >>> only_shows("points, ring = two_rings()\\npoints_by_class(points, ring, ['in', 'out'])")
    True
    >>> only_shows("y = x.mean()\\ncurves(x, y)")
    False
    """
    tree = ast.parse(source)
    return all(map(_shows, tree.body)) and any(map(_is_seen, tree.body))


def _shows(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        calls = (node for node in ast.walk(statement.value) if isinstance(node, ast.Call))
        return all(ast.unparse(call.func) in EXAMPLES for call in calls) and not any(
            isinstance(node, ast.BinOp) for node in ast.walk(statement.value)
        )
    return isinstance(statement, ast.Import | ast.ImportFrom) or _is_seen(statement)


def _is_seen(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    is_call = isinstance(call, ast.Call) and ast.unparse(call.func) in SHOW
    return is_call or isinstance(statement, ast.Assert)


def with_lines(page: str) -> str:
    """Put each line of code into an element that knows how far it is indented.

    >>> with_lines('<div class="highlight"><pre>    y\\n</pre>')[28:]
    '<span class="lnorm-line" style="--indent:4">    y\\n</span></pre>'
    """

    def lines(found: re.Match[str]) -> str:
        each = (_line(text) for text in found[2].removesuffix("\n").split("\n"))
        return f"{found[1]}{''.join(each)}</pre>"

    return BLOCK.sub(lines, page)


def _line(text: str) -> str:
    plain = TAG.sub("", text)
    indent = len(plain) - len(plain.lstrip(" "))
    return f'<span class="lnorm-line" style="--indent:{indent}">{text}\n</span>'
