"""The programs that authors and lecturers run: grading and the web edition."""
