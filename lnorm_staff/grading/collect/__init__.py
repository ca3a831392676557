"""Find what was handed in, whose it is, and what in it is to be graded.

`handed_in` looks through folders and archives, asks `whose` a file is, and has `notebooks` read it.
"""
