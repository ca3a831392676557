"""Show the grades: to the lecturer, to each student, and to the gradebook of Moodle or Canvas.

`terminal` prints those of a notebook as soon as there are some. `class_folder` writes all the rest:
the `exercises_table`, from which everything else can be made again, its `summary`, a `page` for the
lecturer and one for each student, with the words of `questions`, and the `gradebook`.
"""
