"""Code of a test that looks as if it had been written in a notebook."""

import linecache


def as_cell(code, mode):
    """Compile code as a notebook does, which keeps its source for whoever asks."""
    name = f"<cell {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    return compile(code, name, mode)
