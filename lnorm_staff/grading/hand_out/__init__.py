"""Write a copy of the course for students."""
