"""A pytest plugin: start the notebooks' kernels faster, and block the network for all tests.

The kernels start faster than nbval's, start again if the first start fails, and read no student's
progress. The tests are faster, too, because Python doesn't look for garbage in what they import.
"""

import functools
import gc
import os
import sys

import offline

# nbval imports jsonschema, which would compile a grammar that notebooks don't need. This takes 0.7
# seconds in the session and in each of its workers.
sys.modules.setdefault("rfc3987_syntax", None)
# What a student has solved is neither read nor written, here and in the kernels.
os.environ["LNORM_PROGRESS"] = ""
# The kernels run without the garbage collector, whose search through PyTorch's and Matplotlib's
# modules takes a fifth of the time to import them.
SETTINGS = [
    f"--IPKernelApp.exec_lines=__import__('runpy').run_path({offline.__file__!r})",
    "--IPKernelApp.exec_lines=__import__('gc').disable()",
]


def pytest_configure(config):
    import nbval.kernel  # not above: pytest has to load nbval first, to rewrite its assertions

    if not hasattr(config, "workerinput"):
        # If listing a machine's fonts takes more than 5 seconds, Matplotlib says so. It lists them
        # once: here, because in a notebook, its message would be an output that isn't on record.
        import matplotlib.font_manager  # noqa: F401
    start = functools.partial(nbval.kernel.start_new_kernel, extra_arguments=SETTINGS)
    nbval.kernel.start_new_kernel = with_second_try(start)


def pytest_collection_finish():
    """Don't look for garbage in what has been imported, which is large and stays in memory."""
    gc.freeze()


def with_second_try(start):
    """Start a kernel again if that fails, because a port may be taken before the kernel uses it.

    Jupyter chooses free ports and releases them, and the kernel binds them half a second later. In
    between, a different worker may get the same ports.
    """

    @functools.wraps(start)
    def start_or_try_again(*arguments, **options):
        try:
            return start(*arguments, **options)
        except RuntimeError:
            return start(*arguments, **options)

    return start_or_try_again
