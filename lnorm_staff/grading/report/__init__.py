"""Show the grades: to the lecturer, to each student, and to the gradebook of Moodle or Canvas.

`terminal` prints those of a notebook as soon as there are some. `class_folder` writes all the rest:
the `exercises_table`, from which everything else can be made again, its `summary`, a `page` with
`pictures` for the lecturer and one for each student, and the points of those on the `class_list` as
a `gradebook` imports them.
"""
