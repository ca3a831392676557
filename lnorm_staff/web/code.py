"""Code on a page: what is folded, and how long lines go on below."""

import ast
import re

from lnorm_utils.data import __all__ as EXAMPLES
from lnorm_utils.plotting import __all__ as PICTURES

__all__ = ["highlighted", "only_shows", "with_lines", "with_narrow_cells", "with_whole_numbers"]

SHOW = {*PICTURES, "display", "assert_close"}
BLOCK = re.compile(r'(<div class="highlight"><pre>(?:<span></span>)?)(.*?)</pre>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")
# A line may go on below behind an opening bracket, and before a method of what was computed.
OPENING = re.compile(r'(<span class="p">[^<]*[(\[{]</span>)(?!<span class="p">[)\]}])')
METHOD = re.compile(r'(?<=\)</span>)(?=<span class="o">\.</span>)')
# The sign of a comment stays with its first word, and a shape there is whole.
COMMENT = re.compile(r'(?<=<span class="c1">)#[ ](?:\([^()<]*\)|[^ <]+)')
NUMBER = re.compile(r"(?<![\w.])[\d.]+e-\d+(?!\w)")
CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
INLINE = re.compile(r'(?<=<span class="pre">)[^<]{17,}')
BETWEEN = re.compile(r"(?<=[(\[_=/])(?=\w)|(?<=[\w)\]])(?=\.[a-zA-Z])")
TEXT = re.compile(r"<(script|style|svg|math)\b.*?</\1>|<[^>]+>|[^<]+", re.DOTALL)


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


def highlighted(source: str) -> str:
    """Write Python as Sphinx does, so that it gets the colors of the page."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return highlight(source, PythonLexer(), HtmlFormatter())


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
    text = METHOD.sub("<wbr>", OPENING.sub(r"\1<wbr>", COMMENT.sub(_whole, text)))
    return f'<span class="lnorm-line" style="--indent:{indent}">{text}\n</span>'


def with_narrow_cells(page: str) -> str:
    """Let code in tables go on below between its names, so that a table fits a phone.

    >>> with_narrow_cells('<td><span class="pre">nn.LayerNorm(D)(x)</span></td>')
    '<td><span class="pre">nn<wbr>.LayerNorm(<wbr>D)(<wbr>x)</span></td>'
    """

    def narrow(cell: re.Match[str]) -> str:
        return INLINE.sub(lambda code: BETWEEN.sub("<wbr>", code[0]), cell[0])

    return CELL.sub(narrow, page)


def with_whole_numbers(page: str) -> str:
    """Keep browsers from beginning a new line inside of a number, behind its minus.

    >>> with_whole_numbers('<p title="1e-5">at 1e-5')
    '<p title="1e-5">at <span class="lnorm-whole">1e-5</span>'
    """
    return TEXT.sub(
        lambda text: text[0] if text[0][0] == "<" else NUMBER.sub(_whole, text[0]), page
    )


def _whole(found: re.Match[str]) -> str:
    return f'<span class="lnorm-whole">{found[0]}</span>'
