"""What holds for every explorer: its states, its words, its still image, its data, its release."""

import gc
import html
import inspect
import re
import weakref
from base64 import b64decode
from xml.etree import ElementTree

import ipywidgets
import numpy as np
import pytest
import torch
from control_ends import make_all
from explorer_fixtures import every_state
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.text import Text

from lnorm_course.explorers import Explorer

WIDGETS = ipywidgets.widgets.widget._instances
EXPLORERS = {
    name: function
    for name, function in make_all().items()
    if inspect.unwrap(function).__globals__["Explorer"] is Explorer
}
NOT_FOR_PEOPLE = re.compile(r"nan|inf\b|-\d|e[-+−]?0|−0(\.0+)?(?!\.?\d)")  # a true minus sign is −
NAN, INF = float("nan"), float("inf")
OWN = {  # the argument that takes it, and something of another size than what is there
}


@pytest.fixture(scope="module", params=EXPLORERS)
def explorer(request):
    """One for all tests, as they have moved it, for making one takes long."""
    explorer = EXPLORERS[request.param]()
    explorer.name = request.param
    yield explorer
    explorer.close()


def check_state(explorer):
    """All is drawn inside its axes, once, and said in numbers for people; return the drawing."""
    words, frame = explorer.words, explorer.frame()
    assert len(words) > 30
    assert not NOT_FOR_PEOPLE.search(words), words
    assert frame["words"] == words
    ElementTree.fromstring(f'<svg xmlns:xlink="x">{frame["svg"]}</svg>')
    ids = ids_in(frame["svg"])
    assert len(ids) == len({*ids})
    for artist in explorer.moving:
        if isinstance(artist, Line2D):
            for values, limits in zip(artist.get_data(), limits_of(artist.axes), strict=True):
                values = np.asarray(values, dtype=float)
                known = values[np.isfinite(values)]
                assert ((known >= min(limits)) & (known <= max(limits))).all()
    return frame["svg"]


def ids_in(drawing):
    return re.findall(r'\bid="([^"]+)"', drawing)


def limits_of(ax):
    return ax.get_xlim(), ax.get_ylim()


def test_in_every_state_all_is_inside_and_said_for_people_and_what_stands_still_stands(explorer):
    still, limits = explorer.frames.still("", "none"), [limits_of(a) for a in explorer.picture.axes]
    drawings = []
    for values in every_state(explorer):
        drawings.append(check_state(explorer))
        assert explorer.presets.get(explorer.preset, values) == values
    presets = len(explorer.presets)  # with which it begins
    assert len({*drawings[:presets]}) == presets >= 3
    assert explorer.frames.still("", "none") == still
    assert [limits_of(ax) for ax in explorer.picture.axes] == limits


def test_every_control_has_a_label_of_its_own_and_a_text_for_each_stop(explorer):
    labels = [control.label for control in explorer.controls.values()]
    labels += explorer.presets
    labels += [t for c in explorer.page["controls"] if c["kind"] == "choice" for t in c["texts"]]
    assert all(labels)
    assert len({*labels}) == len(labels)
    for control in explorer.page["controls"]:
        assert len({*control["texts"]}) == len(control["texts"])


def test_every_arrangement_has_its_panels_titles_and_labels_inside_and_fits_a_phone(explorer):
    for number, arrangement in enumerate(explorer.frames.arrangements):
        for left, bottom, width, height in arrangement.places:
            assert min(left, bottom) >= 0
            assert left + width <= arrangement.width
            assert bottom + height <= arrangement.height
            assert min(width, height) > 0.5
        explorer.frame(number)
        axes = explorer.picture.axes
        for text in (text for ax in axes for text in (ax.title, ax.xaxis.label)):
            box = text.get_window_extent()
            assert box.x0 > -1, text
            assert box.x1 < arrangement.width * 72 + 1, text
    for (_, height), views in zip(explorer.page["sizes"], explorer.page["views"], strict=True):
        names = {view.name for view in views}
        assert len(names) == len(views) != 1 or explorer.page["chooses_view"]
        ends = [*(view.top for view in views), height]
        for view, end in zip(views, ends[1:], strict=True):
            assert view.top + view.height == pytest.approx(end)
    assert max([view.height for view in views] or [height]) < 4.2  # inches
    explorer.frame()


def test_a_point_that_is_dragged_goes_where_the_page_says(explorer):
    for drag, told in zip(explorer._drags, explorer.page["drags"], strict=True):
        start, names = explorer.values, [*explorer.stops]
        numbers = [*told["moves"], *told["depends"]]
        offsets = {}
        for key, place in told["places"].items():
            for number, at in zip(numbers, map(int, key.split(",")), strict=True):
                start[names[number]] = explorer.stops[names[number]][at]
            explorer.values = start
            assert drag.artist in explorer.moving
            own = key.split(",")[len(told["moves"]) :]
            offset = drag.artist.get_xydata()[0] - place
            np.testing.assert_allclose(offset, offsets.setdefault(tuple(own), offset), atol=0.002)
    explorer.values = explorer.frames.values(explorer.page["start"])


def test_where_no_widget_runs_there_is_an_image_with_an_alternative_and_its_words(explorer):
    before = explorer.frame()
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBOR")
    assert f'<img alt="{html.escape(explorer.picture.alt)}"' in bundle["text/html"]
    assert html.escape(explorer.words) in bundle["text/html"]
    assert bundle["text/plain"] == f"{explorer.picture.alt}. {explorer.words}"
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert explorer.frame() == before
    for ax in explorer.picture.axes:  # it stacks its parts as the live picture does
        shown = [*ax.lines, *ax.patches]
        stacked = sorted((a for a in ax.get_children() if a in shown), key=Artist.get_zorder)
        over = [artist for artist in explorer.moving if artist in shown]
        assert stacked == [*(artist for artist in stacked if artist not in over), *over]


def test_the_picture_fits_a_projector_and_its_text_can_be_read_on_every_machine(explorer):
    assert (explorer.picture.get_size_inches() <= (10, 5.2)).all()
    texts = [t for t in explorer.picture.findobj(Text) if t.get_text()]
    assert min(t.get_fontsize() for t in texts) >= 10
    drawing = b64decode(explorer.page["backgrounds"][0].split("base64,")[1])
    assert b"<path" in drawing
    assert b"<text" not in drawing


def test_a_second_one_starts_at_its_preset_looks_the_same_and_leaves_nothing_behind(explorer):
    torch.manual_seed(99)
    widgets, random_state = {*WIDGETS}, torch.random.get_rng_state()
    explorer.preset = [*explorer.presets][-1]
    other = EXPLORERS[explorer.name](preset=explorer.preset)
    assert (other.values, other.words) == (explorer.values, explorer.words)
    assert torch.equal(torch.random.get_rng_state(), random_state)
    one, drawing = explorer.frame()["svg"], other.frame()["svg"]
    referred = re.findall(r'(?:url\(#|href="#)([^")]+)', one)
    assert {*referred} <= {*ids_in(one)} - {*ids_in(drawing)}
    figure = weakref.ref(other.picture)
    other.close()
    del other
    gc.collect()
    assert {*WIDGETS} == widgets
    assert figure() is None


@pytest.mark.parametrize("name", OWN)
def test_own_data_are_shown_in_every_preset(name):
    argument, x = OWN[name]
    x = torch.tensor(np.asarray(x, dtype=float), requires_grad=True)
    explorer = EXPLORERS[name](**{argument: x})
    for preset in explorer.presets:
        explorer.preset = preset
        check_state(explorer)
    explorer.close()
