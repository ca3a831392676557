"""Run the exercises: call an attempt, compare the results, and say what was found."""
