"""A pytest plugin: fail unless nbval compared exactly the outputs that are on record.

nbval doesn't fail for a missing notebook, for one whose outputs and execution counts were cleared,
or for a cell that is marked to be ignored. So this plugin counts what nbval really compared in each
notebook, and checks the counts against `tests/notebooks/compared_outputs.json`, where `tests` is in
the same folder as `notebooks`.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

# This is IPyNbFile.skip_compare of nbval 0.11. The session counts with nbval's own list, and the
# record with this one, so a version of nbval that compares less fails the session.
NOT_COMPARED = frozenset(
    {
        "application/vnd.jupyter.widget-view+json",
        "execution_count",
        "image/jpeg",
        "image/png",
        "metadata",
        "name",
        "output_type",
        "prompt_number",
        "traceback",
    }
)
# nbval ignores image/png. It has to ignore the same picture in HTML, too, whose size may differ
# between machines; only its words are compared.
PIXELS = 'src="data:image/[^>]*'
REMEDY = "Run `make notebooks` and look at the diff."
SELECTIONS = ("collectonly", "deselect", "keyword", "lf", "markexpr", "stepwise")


def record_of(notebooks):
    """Return the path of the record for the notebooks in a folder."""
    return notebooks.parent / "tests" / "notebooks" / "compared_outputs.json"


def read_record(notebooks):
    """Read {notebook name: number of outputs that nbval compares}; {} if there's no file."""
    record = record_of(notebooks)
    return json.loads(record.read_text("utf-8")) if record.exists() else {}


def comparable_outputs(outputs, not_compared=NOT_COMPARED):
    """Count what nbval compares in one cell: each stream, and each MIME type of each result."""
    results = [output for output in outputs if output["output_type"] != "stream"]
    streams = {output["name"] for output in outputs if output["output_type"] == "stream"}
    fields = [field for result in results for field in (*result, *result.get("data", {}))]
    return len(streams) + sum(field not in {"data", *not_compared} for field in fields)


def pytest_configure(config):
    if config.option.nbval_lax:
        raise pytest.UsageError("--nbval-lax compares almost nothing: use --nbval.")
    if config.option.nbval_sanitize_with or config.option.sanitize_with:
        raise pytest.UsageError("Sanitized numbers aren't compared: omit --nbval-sanitize-with.")
    guard = Guard(config)
    if guard.asked and not config.option.nbval:
        raise pytest.UsageError("Notebooks are run as tests only with --nbval.")
    if guard.asked and not hasattr(config, "workerinput"):
        config.pluginmanager.register(guard)


def pytest_runtest_setup(item):
    """Make each cell that compares its outputs add their number to its report."""
    if item.path.suffix != ".ipynb":
        return
    item.parent.sanitize_patterns[PIXELS] = "src=pixels"
    compare = item.compare_outputs

    def compare_and_count(test, reference, skip_compare=None):
        equal = compare(test, reference, skip_compare)
        if equal:
            compared = comparable_outputs(reference, item.parent.skip_compare)
            item.user_properties.append(("compared_outputs", (str(item.path), compared)))
        return equal

    item.compare_outputs = compare_and_count


class Guard:
    """Add up the reports of all workers of a session, and judge them at its end."""

    def __init__(self, config):
        self.notebooks = config.rootpath / "notebooks"
        self.record = read_record(self.notebooks)
        self.asked = self._asked(config)
        self.partial = any(".ipynb::" in argument for argument in config.args) or any(
            config.getoption(option, None) for option in SELECTIONS
        )
        self.compared = Counter()
        self.wrong = []

    def _asked(self, config):
        on_disk = {path.name for path in self.notebooks.glob("*.ipynb")}
        arguments = (argument.split("::")[0] for argument in config.args)
        asked = {(config.invocation_params.dir / argument).resolve() for argument in arguments}
        notebooks = [(self.notebooks / name).resolve() for name in {*self.record, *on_disk}]
        return sorted(path for path in notebooks if asked & {path, *path.parents})

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            for key, value in report.user_properties:
                if key == "compared_outputs":
                    path, number = value
                    self.compared[Path(path).resolve()] += number

    def pytest_sessionfinish(self, session, exitstatus):
        if not self.partial:
            self.wrong = [sentence for path in self.asked for sentence in self._judge(path)]
        if self.wrong and exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _judge(self, path):
        compared, recorded = self.compared[path], self.record.get(path.name)
        if not path.exists():
            yield f"{path.name} is on record, but there is no such notebook. {REMEDY}"
        elif recorded is None:
            yield f"{path.name} is not on record: nbval compared {compared} outputs. {REMEDY}"
        elif compared != recorded:
            yield f"{path.name}: nbval compared {compared} outputs, not {recorded}. {REMEDY}"

    def pytest_terminal_summary(self, terminalreporter):
        if self.partial:
            terminalreporter.line("outputs compared: not counted, because only some cells ran")
        elif self.wrong:
            terminalreporter.section("outputs compared", red=True)
            for sentence in self.wrong:
                terminalreporter.line(sentence, red=True)
        else:
            total, number = self.compared.total(), len(self.asked)
            terminalreporter.line(f"outputs compared: {total}, notebooks: {number}, as on record")
