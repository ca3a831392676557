"""Run a notebook that nobody trusts, and judge what it answers.

`grade_many` has several notebooks graded at once. Each has a `kernel`, a `child` behind the walls
of a `sandbox`, which refuses some `system_calls`. In it, `runner` runs the cells, and `check`
writes down each attempt as `plain_data`. `judge` judges the attempts in a child too, which may die.
"""
