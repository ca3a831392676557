"""Write a copy of the course for students: `copies`, which looks for answers with `filled_in`."""
