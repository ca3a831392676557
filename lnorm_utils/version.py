"""The version of the course, which the pages, the feedback of the grader and `progress()` tell."""

__all__ = ["__version__"]

__version__ = "2.0.0.dev0"
