"""What runs an explorer, and what an explorer is made of.

`panels` shows figures, their controls and presets, and for each state what moves in them, of which
`drawing` makes SVG; `controls` has a class for each kind of control; `stills` has a widget that
shows an image where nothing runs, and that is closed when its cell runs again. In a page,
`explorer.js` draws an explorer and asks for frames, and `kernel.js` lets a kernel answer. Colors
and the style of all pictures are in `lnorm_utils/plotting/picture.py`, the way to write a number is
in `lnorm_utils/words.py`.
"""

from lnorm_course.explorers.engine.controls import Choice, Slider, Switch, powers_of_ten, steps
from lnorm_course.explorers.engine.panels import WIDTH, Explorer, key, line, panel

__all__ = [
    "WIDTH",
    "Choice",
    "Explorer",
    "Slider",
    "Switch",
    "key",
    "line",
    "panel",
    "powers_of_ten",
    "steps",
]
