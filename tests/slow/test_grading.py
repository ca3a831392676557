"""Submissions that cheat, or take all they can: no credit, and no other is stopped."""

import signal
import sys
import tempfile
import threading
import time

import pytest
from submissions import notebook, put
from submitted_mean import CODE, IMPORTS, PREDICTIONS, assert_graded, checked, solved

from lnorm_staff.grading import __main__ as command
from lnorm_staff.grading.__main__ import main
from lnorm_staff.grading.report.class_folder import EXERCISES, read_grades

P0, P1, P2, *_ = PREDICTIONS
C0, C1, C2 = CODE
TIMEOUT = 6
ALL = "--as-root", "--without-walls"


CHANGE_EVERYTHING = f"""
from lnorm_course.exercises import Exercise
from lnorm_course.checking import running
from lnorm_course.checking.feedback import Feedback, State
right = lambda *anything: Feedback(State.RIGHT, "")
Exercise.check = Exercise.judge = Exercise.judge_outcome = Exercise._judge = right
running.results = lambda *anything: running.Outcome([True])
torch.allclose = torch.equal = lambda *anything, **more: True
class Always:
    check = right
    def __eq__(self, other): return True
    def __getattr__(self, name): return lambda *anything: self
for e in ({P0.name}, {P1.name}, {C0.name}, {C1.name}):
    e.answer, e.answers, e.mistakes, e.inputs = right, [(6, "")], [], None
{P0.name} = {P1.name} = Always()
print("Right.")
"""
FORGE = f"""
from lnorm_staff.grading.run import kernel
class Forged(dict):
    def clear(self): pass
forged = Forged({C2.name}={{"values": "Right.", "error": 0, "state": "RIGHT"}}, other={{}})
forged[{P2.name!r}] = '{{"values": [{{"numbers": ["torch.qint8", [2], "AAA="]}}], "error": null,'
forged[{P2.name!r}] += '"notices": [], "code": ""}}'
kernel.ATTEMPTS = forged
"""
IGNORE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
SUBMISSIONS = {
    "from the bank, or without end": [
        (IMPORTS,),
        (checked(P1, f"{P1.name}.solution()"), (P1, "not attempted", "")),
        # Who hands this in might have copied it, and it's there to read.
        (checked(C1, f"{C1.name}.answer"), (C1, "right", "")),
        (
            checked(C0, "attempt", "def attempt(x):\n    while True: pass\n"),
            (C0, "wrong", "did not finish within 2 seconds."),
        ),
        (
            checked(C2, "max", "while True: pass"),
            (C2, "timed out", "it ran for more than 6 seconds."),
        ),
    ],
    "cheating": [
        (IMPORTS,),
        (CHANGE_EVERYTHING,),
        (checked(P0, "..."), (P0, "missing", "")),
        (checked(P1, "Always()"), (P1, "missing", "")),
        (f"print('{P2.name}: Right.')", (P2, "crashed", "its kernel sent something")),
        (checked(C0, "Always()"), (C0, "crashed", "")),
        (checked(C1, "lambda x: Always()"), (C1, "crashed", "")),
        (FORGE, (C2, "crashed", "its kernel sent something")),
    ],
    "busy": [
        (IMPORTS,),
        *[("%time\n" * 199 + "how_many.check", (P1, "timed out", ""))] * 60,
        (solved(P0), (P0, "timed out", "the 30 seconds for the whole notebook were used up.")),
    ],
    "greedy": [
        (IMPORTS,),
        (solved(P0, "for _ in range(20000): print('x' * 1000)"), (P0, "right", "")),
        # Only Linux limits what a process allocates.
        (
            solved(P1, "x = bytearray(2**34)"),
            (P1, *(("crashed", "MemoryError") if sys.platform == "linux" else ("right", ""))),
        ),
        (solved(P2, IGNORE_INTERRUPTS), (P2, "timed out", "")),
        (solved(C1), (C1, "right", "")),
    ],
}


def test_each_exercise_of_a_submission_gets_its_grade(tmp_path):
    for name, cells in SUBMISSIONS.items():
        put(tmp_path / "class" / f"{name}.ipynb", notebook(*(source for source, *_ in cells)))
    options = ["--out", str(tmp_path), "--timeout", str(TIMEOUT), *ALL]
    assert main(["grade", str(tmp_path / "class"), *options]) == 0
    found = list(read_grades(tmp_path / EXERCISES))
    for name, cells in SUBMISSIONS.items():
        assert_graded([grade for grade in found if grade.name == f"{name}.ipynb"], cells)


@pytest.mark.skipif(sys.platform == "win32", reason="there, a process alone gets no Ctrl-C")
def test_ctrl_c_ends_the_cells_that_run_and_keeps_what_is_graded(tmp_path, monkeypatch, capsys):
    put(tmp_path / "class" / "1.ipynb", notebook(IMPORTS))
    for number in range(2, 9):
        put(tmp_path / "class" / f"{number}.ipynb", notebook(IMPORTS, "while True: pass"))
    monkeypatch.setattr(tempfile, "tempdir", str(put(tmp_path / "kernels" / "a").parent))
    stop = threading.Timer(1, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    monkeypatch.setattr(command, "in_short", lambda grades: stop.start())  # of the first only
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    started, out = time.monotonic(), tmp_path / "out"
    options = ["--out", str(out), *ALL, "--jobs", "2"]
    assert main(["grade", str(tmp_path / "class"), *options]) == 130
    signal.signal(signal.SIGINT, former)
    assert time.monotonic() - started < 50  # each cell would run for 60 seconds
    assert capsys.readouterr().err.splitlines()[-1] == "Stopped."
    assert {row.name for row in read_grades(out / EXERCISES)} == {"1.ipynb"}
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["a"]
