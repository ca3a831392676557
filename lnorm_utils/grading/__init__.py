"""Hand out copies of the course, and grade what comes back.

A copy is handed out by `hand_out`, which looks for answers with `filled_in`.

What comes back is found by `collect`, which unpacks archives with `unzip` and asks `students` whose
a file is. `grade_many` and `grade` call the others: `submissions` reads a notebook and tells its
lesson, and `cells` takes out the code. `processes` starts a process for each notebook, from a
`fork_server` where that can be, and behind the `walls` of a `sandbox`. In it, `runner` runs the
cells, and `recording` has exercises without answers, which write down each attempt as
`plain_data`. In the grader, `kernel` sends the cells over a `channel` and enforces the limits, also
that of `memory`, and `judge` judges each attempt.

`report` prints the grades, and `results` keeps them through an interruption. `class_folder` writes
all the rest: the `rows`, their `summary`, and a `page` with `pictures` for the lecturer and one for
each student.
"""
