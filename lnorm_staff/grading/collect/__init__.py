"""Find the files that were handed in, whose they are, and what in them is to be graded.

`handed_in` searches folders and archives, uses `whose` to find a file's owner, and `notebooks` to
read the file.
"""
