"""What runs an explorer.

`explorer` shows the picture, its controls and presets; `frames` draws its states, `drawing` makes
the SVG of what moves, and `arrangements` puts panels elsewhere on a phone; `controls` has a class
for each kind of control, and `dragging` lets points be dragged; `figures` has what several
explorers draw; `own_data` checks an instructor's own data; `stills` shows an image where nothing
runs; `reruns` closes what a cell has made before it runs again. Colors and the style of all
pictures are in `lnorm_utils/plotting/picture.py`, the way to write a number is in
`lnorm_utils/words.py`.
"""
