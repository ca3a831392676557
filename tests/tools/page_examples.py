"""Run the examples of a page, each alone, and compare what they print with what stands below them.

    python tests/tools/page_examples.py docs/diagnose.md

It needs Python and what the examples need, so it runs in an environment without tests, too.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import torch

# An example with an output runs alone.
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def output_of(code: str) -> str:
    """Run a snippet; return what it prints and, at the end, the error that it raises."""
    torch.manual_seed(0)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(code, {})
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def main(page: str) -> None:
    found = SHOWN.findall(Path(page).read_text("utf-8"))
    for code, text in found:
        if (given := output_of(code)) != text:
            raise SystemExit(f"{code}\ngives\n\n{given}\nand not\n\n{text}")
    print(f"{len(found)} examples of {page} give what stands below them.")


if __name__ == "__main__":
    main(*sys.argv[1:])
