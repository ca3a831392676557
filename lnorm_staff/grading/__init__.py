"""Hand out copies of the course, and grade what comes back.

A copy is written in `hand_out`. What comes back is found in `collect`, run and judged in `run`, and
told in `report`; `__main__` leads it from one to the next:

1. `collect.handed_in` finds a file and whose it is: a `HandedIn`. `collect.own_work` takes away its
   path if there's nothing of the student's in it.
2. `run.grade_one` runs its cells and has the attempts judged: a `Grade` for each exercise, or one
   that says why there's nothing to grade.
3. `report.terminal` prints the grades, and `report.class_folder` writes them: as tables, as the
   report on the class, and as a page for each student.

`files`, `plain_text`, `cells` and `grade` are for all of them.
"""
