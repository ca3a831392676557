"""Run a notebook that nobody trusts, and judge what it answers.

`grade_many` has several notebooks graded at once by `grade_one`, and keeps a `journal` of them.

`processes` starts a process for each notebook in a `sandbox`, which refuses some `system_calls`. In
it, `runner` runs the cells, and `recording` has exercises without answers, which write down each
attempt as `plain_data`. In the grader, `kernel` sends the cells over a `channel` and enforces the
limits, also that of `memory`.

`judge_process` sends each attempt to a process that may die of it, in which `judge` judges it.
"""
