"""The code that runs explorers, and the parts they are made of.

`panels` shows figures with controls and presets, and for each state redraws only what moves;
`drawing` turns figures into SVG; `controls` has a class for each kind of control; `stills` has a
widget that is replaced by an image where no widget runs, and that closes when its cell runs again.
On a page, `explorer.js` draws an explorer and requests frames, and `kernel.js` connects it to a
kernel. `lnorm_utils/plotting/picture.py` defines the colors and the style of all pictures, and
`lnorm_utils/words.py` defines how numbers are written.
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
