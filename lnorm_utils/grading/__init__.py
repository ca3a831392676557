"""Hand out copies of the course, and grade what comes back.

A copy is handed out by `hand_out`, which looks for answers with `filled_in`.

A notebook comes back through `submissions`, which finds it and tells its lesson, and `grade`, which
calls the others: `cells` finds the checks, `kernel` runs the code in a `sandbox`, `fetch_attempt`
sends each attempt as `plain_data`, `judge` judges it here, and `report` writes the result.
"""
