"""Find the files that were handed in, their owners, and what to grade in them.

`handed_in` searches folders and archives, uses `whose` to find a file's owner, and `notebooks` to
read the file.
"""
