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
from control_ends import ends, make_all
from explorer_fixtures import every_state
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.text import Text

from lnorm_utils.examples import normal

WIDGETS = ipywidgets.widgets.widget._instances
EXPLORERS = make_all()
NOT_FOR_PEOPLE = re.compile(r"nan|inf\b|-\d|e[-+−]?0|−0(\.0+)?(?!\.?\d)")  # a true minus sign is −
NAN, INF = float("nan"), float("inf")
OWN = {  # the argument that takes it, and some to take
    "explore_amplitude": ("row", [[7.0, 9.0], [[1, 2, 6]], [3e8, 5e8], [0, 5e-324]]),
    "explore_batch": ("x", [normal(4, 2, seed=3), normal(3, 2, 8, seed=3), np.full((5, 3), 0.1)]),
    "explore_broken": ("x", [[[1.0, 2.0]], normal(16, 64, seed=1), 1e6 * normal(2, 3, 5, seed=2)]),
    "explore_collapse": ("points", [[[1.0, 0.0]], normal(2, 2, 7, seed=1)]),
    "explore_gamma_beta": ("x", [normal(3, 2, 4, seed=1), np.full((3, 2), 7), 1e6 * np.eye(12)]),
    "explore_offset": ("x", [[2.5, 2.5], torch.linspace(-1, 3, 300), [[1e15, -1e15, 3.0]]]),
    "explore_precision": ("row", [[7.0, 9.0], normal(300, seed=1), [[1e100, -1e100, 0]]]),
    "explore_projection": ("points", [normal(8, 2, seed=2), 1e6 * normal(5, 8, 2, seed=1)]),
    "explore_residual": ("x", [normal(2, 2, seed=1), normal(256, 3, seed=2)]),
    "explore_stream": ("x", [normal(2, 2, seed=1), normal(256, 3, seed=2)]),
    "explore_shared_mean": ("x", [[[1, 2], [3, 4]], torch.zeros(1, 1), normal(8, 8, 1, 1, seed=0)]),
}
REFUSED = [  # with what the sentence must say
    *[(name, 3.0, r"\(\)") for name in OWN],
    *[(name, np.ones((1, 1, 0)), r"\(1, 1, 0\)") for name in OWN],
    *[(name, np.ones((1,) * 5), r"\(1, 1, 1, 1, 1\)") for name in OWN],
    ("explore_amplitude", [7.0] * 3, "all 3 are 7"),
    ("explore_amplitude", [1, NAN], "1 of 2"),
    ("explore_amplitude", [1e308, -1e308], r"up to 1e100.*1e308"),
    ("explore_batch", np.ones((3, 3)), r"at least 4 rows.*\(3, 3\)"),
    ("explore_batch", np.ones((5, 9)), r"at most 8 features.*\(5, 9\)"),
    ("explore_broken", np.ones((17, 3)), r"at most 16 rows.*\(17, 3\)"),
    ("explore_broken", np.ones((3, 65)), r"at most 64 features.*\(3, 65\)"),
    ("explore_broken", [[1.0, -2e15]], r"from −1e15 to 1e15, but got −2e15"),
    ("explore_collapse", [[1.0, INF], [NAN, 2.0]], "2 of 4"),
    ("explore_gamma_beta", np.ones((2, 13)), r"at most 12 features.*\(2, 13\)"),
    ("explore_offset", [1, NAN, INF], "2 of 3"),
    ("explore_offset", [1.0, -2e15], r"from −1e15 to 1e15, but got −2e15"),
    ("explore_precision", [7.0] * 3, "all 3 are 7"),
    ("explore_precision", [1, NAN], "1 of 2"),
    ("explore_projection", np.ones((7, 2)), r"at least 8 rows.*\(7, 2\)"),
    ("explore_projection", np.ones((9, 3)), r"2 features.*3"),
    ("explore_projection", [[1.0, 2.5]] * 9, r"differ.*\(1.0, 2.5\)"),
    ("explore_residual", np.ones((300, 4)), r"at most 256 rows.*\(300, 4\)"),
    ("explore_residual", np.ones((4, 200)), r"at most 128 features.*\(4, 200\)"),
    ("explore_shared_mean", np.ones((5, 13)), r"64 cells.*\(5, 13\)"),
    ("explore_shared_mean", [[INF, 1.0], [NAN, 0.0]], "2 of 4"),
]


@pytest.fixture(scope="module", params=EXPLORERS)
def function(request):
    """What makes explorers of one kind."""
    return EXPLORERS[request.param]


@pytest.fixture(scope="module")
def explorer(function):
    """One for all tests, as they have moved it, for making one takes long."""
    explorer = function()
    yield explorer
    explorer.close()


@pytest.fixture
def make(function):
    """A function that makes more explorers of that kind, which are closed after the test."""
    made = []

    def make(**options):
        made.append(function(**options))
        return made[-1]

    make.parameters = inspect.signature(function).parameters
    yield make
    for explorer in made:
        explorer.close()


def check_state(explorer):
    """All is drawn inside its axes, and said in numbers for people."""
    words = explorer.words
    assert len(words) > 30
    assert not NOT_FOR_PEOPLE.search(words), words
    frame = explorer.frame()
    assert frame["words"] == words
    ElementTree.fromstring(f'<svg xmlns:xlink="x">{frame["svg"]}</svg>')
    for artist in explorer.moving:
        if isinstance(artist, Line2D):
            for values, limits in zip(artist.get_data(), limits_of(artist.axes), strict=True):
                values = np.asarray(values, dtype=float)
                known = values[np.isfinite(values)]
                assert ((known >= min(limits)) & (known <= max(limits))).all()


def limits_of(ax):
    return ax.get_xlim(), ax.get_ylim()


def assert_one_sentence(error):
    assert str(error.value).endswith(".")
    assert not re.search(r"[.!?] [A-Z]", str(error.value))


def test_in_every_state_all_is_inside_and_said_for_people_and_what_stands_still_stands(explorer):
    still, limits = explorer.frames.still("", "none"), [limits_of(a) for a in explorer.picture.axes]
    for _ in every_state(explorer):
        check_state(explorer)
    assert explorer.frames.still("", "none") == still
    assert [limits_of(ax) for ax in explorer.picture.axes] == limits


def test_every_preset_can_be_chosen_left_and_started_with_and_shows_another_picture(explorer, make):
    shown = set()
    moved = next(iter(ends(explorer)))
    for name, values in explorer.presets.items():
        explorer.preset = name
        assert explorer.values == values
        assert explorer.presets[explorer.preset] == values
        shown.add(explorer.frame()["svg"])
        words = explorer.words
        low, high = ends(explorer)[moved][0], ends(explorer)[moved][-1]
        setattr(explorer, moved, low if values[moved] != low else high)
        assert explorer.presets.get(explorer.preset, explorer.values) == explorer.values
    assert len(explorer.presets) >= 3, "an explorer has at least three presets"
    assert len(shown) == len(explorer.presets)
    started = make(preset=name)
    assert (started.values, started.words) == (values, words)


def test_keyword_arguments_start_the_controls_and_own_presets_stand_behind_the_others(
    explorer, make
):
    values = [*explorer.presets.values()][1]
    starts = {name: value for name, value in values.items() if name in make.parameters}
    started = make(**starts, presets={"mine": starts})
    assert [*started.presets] == [*explorer.presets, "mine"]
    assert {**started.values, **starts} == started.values
    name = next(iter(explorer.controls))
    setattr(started, name, ends(started)[name][-1])
    started.preset = "mine"
    assert {**started.values, **starts} == started.values


def test_a_start_outside_its_range_is_refused_by_name(explorer, make):
    for name in explorer.controls:
        if name in make.parameters:
            with pytest.raises(ValueError, match=rf"{name}.*object") as error:
                make(**{name: object()})
            assert_one_sentence(error)


def test_an_unknown_preset_or_control_is_named_and_leaves_no_widget_behind(make):
    before = len(WIDGETS)
    with pytest.raises(ValueError, match=r"preset must be one of .*, but 'nothing' was given"):
        make(preset="nothing")
    with pytest.raises(ValueError, match=r"preset 'mine'.* one of .*, but 'speed' was given"):
        make(presets={"mine": {"speed": 1}})
    assert len(WIDGETS) == before


@pytest.mark.parametrize("name", OWN)
def test_own_data_are_shown_in_every_preset(name):
    argument, each = OWN[name]
    for x in each:
        explorer = EXPLORERS[name](
            **{argument: torch.tensor(np.asarray(x, dtype=float), requires_grad=True)}
        )
        for preset in explorer.presets:
            explorer.preset = preset
            check_state(explorer)
        explorer.close()


@pytest.mark.parametrize(("name", "x", "said"), REFUSED)
def test_data_that_cannot_be_shown_are_refused_in_a_sentence_that_names_them(name, x, said):
    with pytest.raises(ValueError, match=said) as error:
        EXPLORERS[name](**{OWN[name][0]: x})
    assert_one_sentence(error)


def test_every_control_has_a_label_of_its_own_and_a_text_for_each_stop(explorer):
    labels = [control.label for control in explorer.controls.values()]
    labels += explorer.presets
    labels += [t for c in explorer.page["controls"] if c["kind"] == "choice" for t in c["texts"]]
    assert all(labels)
    assert len({*labels}) == len(labels)
    for control in explorer.page["controls"]:
        assert len({*control["texts"]}) == len(control["texts"])


def test_the_background_is_an_image_that_looks_the_same_on_every_machine(explorer):
    drawing = b64decode(explorer.page["backgrounds"][0].split("base64,")[1])
    assert b"<path" in drawing
    assert b"<text" not in drawing


def test_in_every_arrangement_all_panels_are_inside_and_apart(explorer):
    for arrangement in explorer.frames.arrangements:
        for left, bottom, width, height in arrangement.places:
            assert left >= 0
            assert bottom >= 0
            assert left + width <= arrangement.width
            assert bottom + height <= arrangement.height
            assert min(width, height) > 0.5


def test_in_every_arrangement_titles_and_labels_are_inside(explorer):
    picture = explorer.picture
    for number, arrangement in enumerate(explorer.frames.arrangements):
        explorer.frame(number)
        for text in (text for ax in picture.axes for text in (ax.title, ax.xaxis.label)):
            box = text.get_window_extent()
            assert box.x0 > -1, text
            assert box.x1 < arrangement.width * 72 + 1, text
    explorer.frame()


def test_a_narrow_picture_is_as_low_as_a_phone_needs_and_each_part_has_a_name(explorer):
    for (_, height), views in zip(explorer.page["sizes"], explorer.page["views"], strict=True):
        names = {view.name for view in views}
        assert len(names) == len(views) != 1 or explorer.page["chooses_view"]
        ends = [*(view.top for view in views), height]
        for view, end in zip(views, ends[1:], strict=True):
            assert view.top + view.height == pytest.approx(end)
    parts = [view.height for view in views] or [height]
    assert max(parts) < 4.2


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


def test_a_still_image_stacks_its_parts_as_the_live_picture_does(explorer):
    for ax in explorer.picture.axes:
        shown = [*ax.lines, *ax.patches]
        stacked = sorted((a for a in ax.get_children() if a in shown), key=Artist.get_zorder)
        over = [artist for artist in explorer.moving if artist in shown]
        assert stacked == [*(artist for artist in stacked if artist not in over), *over]


def test_where_no_widget_runs_there_is_an_image_with_an_alternative_and_its_words(explorer):
    before = explorer.frame()
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBOR")
    assert f'<img alt="{html.escape(explorer.picture.alt)}"' in bundle["text/html"]
    assert html.escape(explorer.words) in bundle["text/html"]
    assert bundle["text/plain"] == f"{explorer.picture.alt}. {explorer.words}"
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert explorer.frame() == before


def test_the_picture_fits_a_projector_and_its_text_can_be_read(explorer):
    assert (explorer.picture.get_size_inches() <= (10, 5.2)).all()
    texts = [t for t in explorer.picture.findobj(Text) if t.get_text()]
    assert min(t.get_fontsize() for t in texts) >= 10


def test_what_an_explorer_refers_to_is_there_once_and_in_no_other(explorer, make):
    explorer.preset = [*explorer.presets][-1]
    one, other = (each.frame()["svg"] for each in (explorer, make(preset=explorer.preset)))
    referred = re.findall(r'(?:url\(#|href="#)([^")]+)', one)
    ids = re.findall(r' id="([^"]+)"', one)
    assert referred
    assert all(ids.count(name) == 1 for name in referred)
    assert not {*referred} & {*re.findall(r' id="([^"]+)"', other)}


def test_whatever_was_drawn_before_an_id_stands_in_a_picture_once(explorer):
    for _ in range(2):
        for name in explorer.presets:
            explorer.preset = name
            ids = re.findall(r'\bid="([^"]+)"', explorer.frame()["svg"])
            assert len(ids) == len(set(ids)), name


def test_it_is_the_same_each_time_and_leaves_the_callers_random_state_alone(explorer, make):
    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    started = make()
    explorer.values = started.values
    assert started.words == explorer.words
    assert torch.equal(torch.random.get_rng_state(), before)


def test_closing_lets_go_of_widgets_and_figure():
    before, figures = set(WIDGETS), {}
    for name, function in EXPLORERS.items():
        explorer = function()
        figures[name] = weakref.ref(explorer.picture)
        assert len(WIDGETS) > len(before)
        explorer.close()
        assert set(WIDGETS) == before, name
    del explorer
    gc.collect()
    assert [name for name, figure in figures.items() if figure()] == []
