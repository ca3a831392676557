"""Run an untrusted notebook, and judge its answers.

`grade_many` grades several notebooks at once. For each, `replies` sends requests to a `child` in
a `sandbox`. There, a `kernel` runs the cells, where `check` only records attempts as `plain_data`.
A second child judges them with `judge`. Either child may die.
"""
