"""Run an untrusted notebook, and judge its answers.

`grade_many` grades several notebooks at once. For each notebook, `replies` sends requests to
a `child` in a `sandbox`. There, a `kernel` runs the cells, in which `check` only records attempts
as `plain_data`. A second child judges the attempts with `judge`. If a child dies, `replies`
restarts it.
"""
