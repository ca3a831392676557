"""Find what was handed in, whose it is, and what in it is the student's own work.

`handed_in` looks through folders and archives, and asks `whose` a file is. `notebooks` reads a
notebook and tells its lesson, and `own_work` leaves out those in which a student has done nothing.
"""
