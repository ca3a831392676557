"""Hand out copies of the course, and grade what students hand in.

`hand_out` writes a copy. `collect` finds submissions, `run` runs and judges them, and `report`
reports the results; `__main__` passes them from one to the next:

1. `collect.handed_in` finds a file, its owner, and whether it contains anything to grade, and
   returns a `HandedIn`.
2. `run.grade_many` runs its cells, has the attempts judged, and returns a `Grade` per exercise.
3. `report.class_folder` writes the grades: as tables, as the report on the class, and as a page
   for each student.

`plain_text` and `grade` are shared by all of them.
"""
