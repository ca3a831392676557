"""What authors and lecturers run: grading, and the web edition."""
