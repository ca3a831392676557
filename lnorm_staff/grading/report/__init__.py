"""Report the grades to the lecturer, to each student, and to the gradebook of Moodle or Canvas.

`class_folder` writes and reads the table of exercises, and creates everything else from it: a
`summary`, a `page` for the lecturer and one for each student, and the `gradebook`.
"""
