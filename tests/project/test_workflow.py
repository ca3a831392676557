"""The workflows call what exists, and find the lines of the docs that they run."""

import re

import yaml
from project import MAKEFILE, PROJECT

PAGE = "docs/troubleshooting.md"
WORKFLOWS = [
    yaml.safe_load(path.read_text("utf-8"))
    for path in sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
]
JOBS = [job for workflow in WORKFLOWS for job in workflow["jobs"].values()]
SCRIPTS = "\n".join(step.get("run", "") for job in JOBS for step in job["steps"])


def test_every_file_and_every_make_target_that_a_workflow_calls_exists():
    files = {*re.findall(r"\.ci/\w+|tests/[\w/]+\.py", SCRIPTS)}
    targets = {*re.findall(r"\bmake (\w+)", SCRIPTS)}
    assert {".ci/run", ".ci/first_minute", "test"} <= files | targets
    assert [name for name in files if not (PROJECT / name).is_file()] == []
    assert targets <= {*re.findall(r"^(\w+):", MAKEFILE, re.MULTILINE)}


def test_the_powershell_lines_of_the_docs_install_the_course_and_then_open_it():
    assert f"$page = Get-Content {PAGE}" in SCRIPTS
    pattern = re.search(r"Match\(\$page, '(.+?)'\)", SCRIPTS)[1]
    (block,) = re.findall(pattern, (PROJECT / PAGE).read_text("utf-8"))
    *install, start = block.split("\n")
    assert install[0] == "py -m venv .venv"
    assert any(" -m pip install " in line for line in install)
    assert start == r".venv\Scripts\python -m lnorm_course"
