"""Hand out copies of the course, and grade what comes back."""
