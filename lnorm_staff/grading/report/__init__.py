"""Show the grades: to the lecturer, to each student, and to the gradebook of Moodle or Canvas.

`class_folder` writes it all: the `exercises_table`, from which everything else can be made again,
its `summary`, a `page` for the lecturer and one for each student, with the words of `questions`,
and the `gradebook`.
"""
