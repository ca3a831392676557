"""Run a notebook that nobody trusts, and judge what it answers.

`grade_many` has several notebooks graded at once by `grade_one`. Each has a `kernel`, a `child`
behind the walls of a `sandbox`, which refuses some `system_calls`. In it, `runner` runs the cells,
and `recording` has `check` write down each attempt as `plain_data`. `judge` judges the attempts, in
a child that may die of it.
"""
