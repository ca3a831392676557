"""Hand out copies of the course, and grade what comes back.

A copy is written in `hand_out`. What comes back is found in `collect`, run and judged in `run`, and
told in `report`; `__main__` leads it from one to the next:

1. `collect.handed_in` finds a file, whose it is, and whether there's something to grade in it: a
   `HandedIn`.
2. `run.grade_one` runs its cells and has the attempts judged: a `Grade` for each exercise.
3. `report.class_folder` writes them: as tables, as the report on the class, and as a page for each
   student.

`plain_text` and `grade` are for all of them.
"""
