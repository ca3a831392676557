"""Find the files that were handed in, their owners, and what to grade in them.

`handed_in` searches folders and archives. It uses `whose` to find each file's owner, and
`notebooks` to read the file.
"""
