"""Run a notebook that nobody trusts, and judge what it answers.

`grade_many` has several notebooks graded at once. For each, `replies` asks a `child` behind the
walls of a `sandbox`. In it, a `kernel` runs the cells, in which `check` writes down attempts as
`plain_data`. Another child judges them with `judge`. Both may die.
"""
