"""Run each example of a page alone, and compare what it prints with the output below it.

    python tests/tools/page_examples.py docs/diagnose.md

It needs only Python and what the examples need, so it runs even where pytest isn't installed.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import torch

# Only examples with an output below them run.
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
            raise SystemExit(f"{code}\nprints\n\n{given}\nrather than\n\n{text}")
    print(f"{len(found)} examples of {page} print the outputs below them.")


if __name__ == "__main__":
    main(*sys.argv[1:])
