"""A pytest plugin: how the kernels of the notebooks start, and no network for them and the tests.

They start sooner than nbval's, start once more if one dies, and read no student's progress. The
tests are quicker, too, because Python doesn't look for garbage in what they import.
"""

import functools
import gc
import os
import sys

import offline

# nbval imports jsonschema, which would compile a grammar that notebooks do not need: 0.7 s in the
# session and in each of its workers.
sys.modules.setdefault("rfc3987_syntax", None)
# What a student has solved is neither read nor written, here and in the kernels.
os.environ["LNORM_PROGRESS"] = ""
OFFLINE = [f"--IPKernelApp.exec_lines=__import__('runpy').run_path({offline.__file__!r})"]


def pytest_configure(config):
    import nbval.kernel  # not above: pytest has to load nbval first, to rewrite its assertions

    if not hasattr(config, "workerinput"):
        # If listing a machine's fonts takes more than 5 seconds, Matplotlib says so. It lists them
        # once, which would be in the first notebook, as an output that isn't on record.
        import matplotlib.font_manager  # noqa: F401
    start = functools.partial(nbval.kernel.start_new_kernel, extra_arguments=OFFLINE)
    nbval.kernel.start_new_kernel = with_second_try(start)


def pytest_collection_finish():
    """Don't look for garbage in what is imported by now: it's large, and stays."""
    gc.freeze()


def with_second_try(start):
    """Start again if that fails, for a port can be taken between its choice and its use.

    Jupyter chooses free ports, lets go of them, and half a second later the kernel binds them. In
    between, another worker may be given the same ones.
    """

    @functools.wraps(start)
    def start_or_try_again(*arguments, **options):
        try:
            return start(*arguments, **options)
        except RuntimeError:
            return start(*arguments, **options)

    return start_or_try_again
