"""Where the project and its lessons are, for the tests and the tools."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
LESSON_PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
