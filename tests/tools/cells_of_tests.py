"""Compile the code of a test as if it had been written in a notebook."""

import linecache


def as_cell(code, mode):
    """Compile code as a notebook does, so that `inspect` can find its source."""
    name = f"<cell {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    return compile(code, name, mode)
