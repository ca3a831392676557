"""Hand out copies of the course, and grade what students hand in.

`hand_out` writes a copy. Grading has three steps: `collect` finds submissions, `run` runs and
judges them, and `report` reports the results. `__main__` passes the result of each step to the
next:

1. `collect.handed_in` finds a file, determines its owner and whether it contains anything to
   grade, and yields a `HandedIn`.
2. `run.grade_many` runs the file's cells, has the attempts judged, and reports a `Grade` for each
   exercise.
3. `report.class_folder` writes the grades as tables, as a report on the class, and as a page for
   each student.

All steps use `plain_text` and `grade`.
"""
