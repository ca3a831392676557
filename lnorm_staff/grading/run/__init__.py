"""Run a notebook that nobody trusts, and judge what it answers.

`grade_many` has several notebooks graded at once. For each, `outcomes` asks a `child` behind the
walls of a `sandbox`, which refuses some `system_calls`. In it, `runner` runs the cells, and `check`
writes down each attempt as `plain_data`. Another child judges them with `judge`. Either may die.
"""
