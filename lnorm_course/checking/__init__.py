"""Judge attempts at exercises: call them, compare their results, and give feedback."""
