"""Code on a page: what is folded, and how long lines go on."""

import ast
import re

from lnorm_utils import plotting

__all__ = ["only_shows", "with_lines"]

SHOW = {*plotting.__all__, "display", "assert_close", "assert_equal"}
BLOCK = re.compile(r'(<div class="highlight"><pre>(?:<span></span>)?)(.*?)</pre>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def only_shows(source: str) -> bool:
    """Tell whether code only imports, draws, and asserts.

    Names for what is written out, such as titles, may be bound on the way.

    >>> only_shows("names = {'title': 'Rows'}\\ncurves(x, y, **names)")
    True
    >>> only_shows("y = x.mean()\\ncurves(x, y)")
    False
    """
    return all(map(_shows, ast.parse(source).body))


def _shows(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(statement, ast.Assign):
        return not any(isinstance(node, ast.Call | ast.BinOp) for node in ast.walk(statement.value))
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in SHOW


def with_lines(page: str) -> str:
    """Put each line of code into an element that knows how far it is indented.

    >>> with_lines('<div class="highlight"><pre>    y\\n</pre>')[34:]
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
