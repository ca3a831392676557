"""The course's version, as shown on pages, in the grader's feedback, and by `progress()`."""

__all__ = ["__version__"]

__version__ = "2.0.0.dev0"
