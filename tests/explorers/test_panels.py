"""What holds for every explorer of panels: its states, its words, its still image, its release."""

import gc
import html
import re
import weakref
from xml.etree import ElementTree

import ipywidgets
import numpy as np
import pytest
import torch
from matplotlib.lines import Line2D
from matplotlib.text import Text
from project import named_presets

from lnorm_course import explorers

MOST_STATES = 3_000  # which are all drawn ahead
WIDGETS = ipywidgets.widgets.widget._instances
# All but those that draw in the browser.
OTHERS = ("explore_row", "explore_rings", "explore_stream")
NAMES = [n for n in explorers.__all__ if n.startswith("explore_") and n not in OTHERS]
NOT_FOR_PEOPLE = re.compile(r"nan|inf\b|-\d|e[-+−]?0|−0(\.0+)?(?!\.?\d)")  # a true minus sign is −
SENTENCE = re.compile(r"[.?](?= [A-Z0-9γβσεµ]|$)")


@pytest.fixture(scope="module", params=NAMES)
def explorer(request):
    """One for all tests, as they have moved it, for making one takes long."""
    make = getattr(explorers, request.param)
    explorer = make()
    explorer.make = make
    yield explorer
    explorer.close()


def every_state(explorer):
    """List the presets, and from each the states with one control at its ends, or any choice."""
    found = {}
    for state in {tuple(explorer.state), *explorer.presets.values()}:
        found[state] = None
        for number, (name, stops) in enumerate(explorer.stops.items()):
            is_slider = explorer.controls[name].kind == "slider"
            for place in (0, len(stops) - 1) if is_slider else range(len(stops)):
                found[(*state[:number], place, *state[number + 1 :])] = None
    return [*found]


def limits_of(explorer):
    return [(ax.get_xlim(), ax.get_ylim()) for p in explorer.panels for ax in p.axes]


def check_drawing(explorer, frame):
    """All is drawn inside its axes and its panel, and each id stands there once."""
    for drawing in frame["svgs"]:
        ElementTree.fromstring(f'<svg xmlns:xlink="x">{drawing}</svg>')
        ids = re.findall(r'\bid="([^"]+)"', drawing)
        assert len(ids) == len({*ids})
    for picture, moving in explorer.panels.items():
        for artist in moving:
            if isinstance(artist, Line2D):
                limits = artist.axes.get_xlim(), artist.axes.get_ylim()
                for values, (low, high) in zip(artist.get_data(), limits, strict=True):
                    values = np.asarray(values, dtype=float)
                    known = values[np.isfinite(values)]
                    is_inside = (known >= min(low, high)) & (known <= max(low, high))
                    assert is_inside.all(), (picture.alt, known[~is_inside], limits)
            elif isinstance(artist, Text) and artist.get_text() and artist.get_visible():
                box, (width, height) = artist.get_window_extent(), picture.bbox.size
                assert -1 < box.x0 < box.x1 < width + 1, artist
                assert -1 < box.y0 < box.y1 < height + 1, artist


def test_in_every_state_all_is_inside_and_said_in_two_sentences_and_the_rest_stands(explorer):
    limits = limits_of(explorer)
    seen = set()
    for state in every_state(explorer):
        frame = explorer.frame(state)
        words = frame["words"]
        assert len(words) > 30
        assert words[-1] in ".?"
        assert len(SENTENCE.findall(words)) <= 2, words
        assert not NOT_FOR_PEOPLE.search(words), words
        check_drawing(explorer, frame)
        if state in explorer.presets.values():
            seen.add(str(frame["svgs"]))
    assert len(seen) == len(explorer.presets) >= 3
    assert limits_of(explorer) == limits
    panels = explorer.about()["panels"]
    assert panels == explorer.page["panels"], "something moves that isn't listed in `panels`"
    assert len(explorer.states()) <= MOST_STATES


def test_it_has_every_preset_that_a_lesson_or_a_page_names(explorer):
    named = {preset for name, preset in named_presets() if name == explorer.make.__name__}
    assert named <= {*explorer.presets}


def test_every_control_has_a_label_of_its_own_and_a_text_for_each_stop(explorer):
    labels = [control.label for control in explorer.controls.values()]
    labels += explorer.presets
    for control in explorer.page["controls"]:
        assert len({*control["texts"]}) == len(control["texts"])
    assert all(labels)
    assert len({*labels}) == len(labels)


def test_its_text_can_be_read_and_its_panels_are_seen_together_with_what_moves_them(explorer):
    for picture in explorer.panels:
        texts = [t for t in picture.findobj(Text) if t.get_text().strip() and t.get_visible()]
        assert min(text.get_fontsize() for text in texts) >= 10
        for ax in picture.axes:
            for text in (ax.title, ax.xaxis.label, *ax.texts):
                box = text.get_window_extent()
                assert box.x0 > -1, text
                assert box.x1 < picture.bbox.width + 1, text
    assert sum(picture.get_figheight() for picture in explorer.panels) <= 5


def test_where_no_widget_runs_there_is_an_image_with_an_alternative_and_its_words(explorer):
    before = explorer.frame(tuple(explorer.state))
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBOR")
    assert f'<img alt="{html.escape(explorer.alt)}"' in bundle["text/html"]
    assert html.escape(explorer.words) in bundle["text/html"]
    assert bundle["text/plain"] == f"{explorer.alt}. {explorer.words}"
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert explorer.frame(tuple(explorer.state)) == before


def test_a_second_one_starts_at_its_preset_looks_the_same_and_leaves_nothing_behind(explorer):
    torch.manual_seed(99)
    widgets, random_state = {*WIDGETS}, torch.random.get_rng_state()
    explorer.preset = [*explorer.presets][-1]
    other = explorer.make(preset=explorer.preset)
    assert (other.state, other.words) == (explorer.state, explorer.words)
    assert torch.equal(torch.random.get_rng_state(), random_state)
    one, drawing = ("".join(e.frame(tuple(e.state))["svgs"]) for e in (explorer, other))
    ids_of_one, ids = ({*re.findall(r'\bid="([^"]+)"', text)} for text in (one, drawing))
    assert {*re.findall(r'(?:url\(#|href="#)([^")]+)', one)} <= ids_of_one - ids
    figure = weakref.ref(next(iter(other.panels)))
    other.close()
    del other
    gc.collect()
    assert {*WIDGETS} == widgets
    assert figure() is None
