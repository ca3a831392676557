"""What holds for every explorer: its ends, its presets, its words, its still image, its release."""

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
from jupyter_client.manager import start_new_kernel
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.text import Text
from playing import ends, make_all

from lnorm_utils.explorers import Button, Choice, Explorer, Slider, Switch, powers_of_ten
from lnorm_utils.plotting import new_picture

REGISTRY = ipywidgets.widgets.widget._instances
EXPLORERS = make_all()
NUMBER = re.compile(r"nan|inf\b|-\d|−0\.0+\b")  # a true minus sign is −


@pytest.fixture(params=EXPLORERS, ids=str)
def explorer(request):
    explorer = EXPLORERS[request.param]()
    yield explorer
    explorer.close()


@pytest.fixture
def dot():
    """A small explorer with every kind of control."""
    made = []

    def make(**options):
        picture, axes = new_picture("A dot", 1, 1, 3, 2)
        (line,) = axes[0, 0].plot([0], [0], "o")
        axes[0, 0].set(xlim=(-1, 11), ylim=(-1, 11))
        calls = []

        def move(x, kind, up, again):
            calls.append((x, kind, up, again))
            line.set_data([x], [again if up else 0])
            return f"{kind} at {x} & {again}"

        controls = {
            "x": Slider("place", 2, range(11)),
            "kind": Choice("kind", "dot", ["dot", "<b>"]),
            "up": Switch("goes up", False),
            "again": Button("again", 0, when=lambda values: values["up"]),
        }
        made.append(Explorer(picture, [line], move, controls, **options))
        made[-1].calls, made[-1].line = calls, line
        return made[-1]

    yield make
    for explorer in made:
        explorer.close()


def test_there_is_an_explorer_for_each_lesson():
    assert len(EXPLORERS) >= 7


def test_at_both_ends_of_every_control_all_is_drawn_inside_and_said_in_numbers(explorer):
    for name, values in ends(explorer).items():
        for value in values:
            explorer.controls[name].value = value
            assert explorer.values[name] == value
            assert not NUMBER.search(explorer.words), explorer.words
            assert len(explorer.words) > 30
            assert f'aria-label="{html.escape(explorer.words)}"' in explorer.foreground.value
            assert_inside(explorer)


def assert_inside(explorer):
    for artist in explorer.moving:
        if isinstance(artist, Line2D) and artist.get_transform() == artist.axes.transData:
            x, y = np.array(artist.get_data(), dtype=float)
            for values, limits in ((x, artist.axes.get_xlim()), (y, artist.axes.get_ylim())):
                known = values[np.isfinite(values)]
                assert ((known >= min(limits)) & (known <= max(limits))).all()


def test_every_preset_can_be_chosen_and_left_again(explorer):
    assert explorer.presets
    moved = next(iter(ends(explorer)))
    for name, values in explorer.presets.items():
        explorer.chooser.value = name
        assert explorer.values == values
        assert explorer.presets[explorer.chooser.value] == values
        low, high = ends(explorer)[moved][0], ends(explorer)[moved][-1]
        explorer.controls[moved].value = low if values[moved] != low else high
        assert explorer.presets.get(explorer.chooser.value) in (None, explorer.values)


def test_presets_show_different_pictures(explorer):
    shown = set()
    for name in explorer.presets:
        explorer.chooser.value = name
        shown.add(explorer.foreground.value)
    assert len(shown) == len(explorer.presets)


def test_every_control_is_described_and_works_from_the_keyboard(explorer):
    by_keyboard = (
        ipywidgets.SelectionSlider,
        ipywidgets.ToggleButtons,
        ipywidgets.Checkbox,
        ipywidgets.Button,
    )
    for widget in [explorer.chooser, *explorer.controls.values()]:
        assert isinstance(widget, by_keyboard)
        assert widget.description
        assert widget.tooltip == widget.description


def test_the_background_stands_still(explorer):
    stage = explorer.children[-1]
    background = stage.children[0].value
    for name, values in ends(explorer).items():
        explorer.controls[name].value = values[-1]
    assert explorer.children[-1].children[0].value == background
    assert 'alt=""' in background
    drawing = b64decode(re.search('base64,(.+?)"', background)[1])
    assert b"<path" in drawing
    assert b"<text" not in drawing  # its letters are the same on every machine


def test_the_background_is_an_image_that_a_browser_can_read(explorer):
    background = explorer.children[-1].children[0].value
    image = ElementTree.fromstring(b64decode(re.search('base64,([^"]+)', background)[1]))
    width, height = explorer.picture.get_size_inches() * 72
    assert image.get("viewBox") == f"0 0 {width:g} {height:g}"
    assert set(image.keys()) == {"viewBox", "style"}


def test_a_still_image_stacks_its_parts_as_the_live_picture_does(explorer):
    for ax in explorer.picture.axes:
        shown = [*ax.lines, *ax.patches]
        stacked = sorted((a for a in ax.get_children() if a in shown), key=Artist.get_zorder)
        over = [artist for artist in explorer.moving if artist in shown]
        assert stacked == [*(artist for artist in stacked if artist not in over), *over]


def test_text_is_at_least_ten_points(explorer):
    sizes = [t.get_fontsize() for t in explorer.picture.findobj(Text) if t.get_text()]
    assert min(sizes) >= 10


def test_where_no_widget_runs_there_is_an_image_with_an_alternative_and_its_words(explorer):
    bundle, _ = explorer._repr_mimebundle_()
    assert bundle["image/png"].startswith("iVBOR")
    assert f'<img alt="{html.escape(explorer.picture.alt)}"' in bundle["text/html"]
    assert html.escape(explorer.words) in bundle["text/html"]
    assert bundle["text/plain"] == f"{explorer.picture.alt}. {explorer.words}"
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id


def test_the_still_image_leaves_the_live_picture_as_it_was(explorer):
    before = explorer.foreground.value
    explorer._repr_mimebundle_()
    explorer.show()
    assert explorer.foreground.value == before


def test_no_id_of_the_page_is_given_twice(explorer):
    page = "".join(layer.value for layer in explorer.children[-1].children)
    referred = re.findall(r'(?:url\(#|href="#)([^")]+)', page)
    ids = re.findall(r' id="([^"]+)"', page)
    assert referred
    assert all(ids.count(name) == 1 for name in referred)


@pytest.mark.parametrize("make", EXPLORERS.values(), ids=EXPLORERS)
def test_a_start_outside_its_range_is_named_with_the_range(make):
    explorer = make()
    explorer.close()
    for name, widget in explorer.controls.items():
        if isinstance(widget, ipywidgets.SelectionSlider):
            for wrong in (-1e9, 1e9, float("nan"), "2", None):
                with pytest.raises(ValueError, match=f"{name} must be a.*{wrong!r}") as error:
                    make(presets={"wrong": {name: wrong}})
                assert_one_sentence(error)
        if name in inspect.signature(make).parameters:
            with pytest.raises(ValueError, match=rf"{name}.*object") as error:
                make(**{name: object()})
            assert_one_sentence(error)


@pytest.mark.parametrize("make", EXPLORERS.values(), ids=EXPLORERS)
def test_a_preset_that_there_is_not_is_named_with_those_that_there_are(make):
    with pytest.raises(ValueError, match=r"preset must be one of .*, but 'nothing' was given"):
        make(preset="nothing")
    with pytest.raises(ValueError, match=r"preset 'mine'.* one of .*, but 'speed' was given"):
        make(presets={"mine": {"speed": 1}})


@pytest.mark.parametrize("make", EXPLORERS.values(), ids=EXPLORERS)
def test_bad_input_leaves_no_widget_behind(make):
    before = len(REGISTRY)
    with pytest.raises(ValueError, match="nothing"):
        make(preset="nothing")
    assert len(REGISTRY) == before


def assert_one_sentence(error):
    assert str(error.value).endswith(".")
    assert not re.search(r"[.!?] [A-Z]", str(error.value))


def test_an_own_preset_stands_beside_the_built_in_ones():
    name, make = next(iter(EXPLORERS.items()))
    explorer = make()
    own = dict(next(iter(explorer.presets.values())))
    both = make(presets={"mine": own}, preset="mine")
    assert [*both.presets] == [*explorer.presets, "mine"]
    assert both.values == own, name
    explorer.close()
    both.close()


def test_without_presets_there_is_no_row_for_them(dot):
    assert dot().chooser.layout.display == "none"
    assert dot(presets={"left": {"x": 0}}).chooser.layout.display is None


def test_a_preset_outside_a_range_is_named_with_the_control(dot):
    with pytest.raises(ValueError, match=r"^x must be a whole number between 0 and 10, but 99 was"):
        dot(presets={"too far": {"x": 99}})
    with pytest.raises(ValueError, match=r"^preset 'too far': the name of a control must be one"):
        dot(presets={"too far": {"y": 1}})


@pytest.mark.parametrize("make", EXPLORERS.values(), ids=EXPLORERS)
def test_what_one_explorer_refers_to_is_in_no_other(make):
    one, other = make(), make()
    refers = re.compile(r'url\(#([^)]+)\)|href="#([^"]+)"')
    first, second = (set(refers.findall(explorer.foreground.value)) for explorer in (one, other))
    assert first
    assert not first & second
    one.close()
    other.close()


def test_a_start_between_two_stops_becomes_a_stop():
    controls = {"x": Slider("x", 0.25, [0.0, 1.0])}
    picture, _ = new_picture("Nothing", 1, 1, 2, 2)
    explorer = Explorer(picture, [], lambda x: f"{x}", controls, {"low": {"x": 0.125}})
    assert [value for _, value in explorer.controls["x"].options] == [0.0, 0.125, 0.25, 1.0]
    assert explorer.words == "0.25"
    explorer.close()


def test_a_whole_number_is_asked_for_where_all_stops_are_whole():
    with pytest.raises(ValueError, match=r"x must be a whole number between 0 and 3, but 1\.5 was"):
        Slider("x", 0, range(4)).checked("x", 1.5)
    with pytest.raises(ValueError, match="up must be True or False, but 1 was given"):
        Switch("up", False).checked("up", 1)
    with pytest.raises(ValueError, match="again must be a whole number from 0 on, but -1 was"):
        Button("again", 0).checked("again", -1)
    with pytest.raises(ValueError, match="kind must be one of 'a', 'b', but 'c' was given"):
        Choice("kind", "a", ["a", "b"]).checked("kind", "c")


def test_powers_of_ten_hold_the_round_numbers():
    assert {1e-3, 1e-2, 0.1, 1.0} < {*powers_of_ten(-3, 0)}


def test_one_change_is_one_drawing(dot):
    explorer = dot()
    explorer.calls.clear()
    explorer.controls["x"].value = 7
    assert explorer.calls == [(7, "dot", False, 0)]
    assert explorer.line.get_data() == ([7], [0])
    assert explorer.words == "dot at 7 & 0"


def test_a_preset_moves_all_controls_in_one_drawing(dot):
    explorer = dot(presets={"far up": {"x": 10, "up": True, "again": 3}})
    assert explorer.chooser.value is None
    explorer.calls.clear()
    explorer.chooser.value = "far up"
    assert explorer.calls == [(10, "dot", True, 3)]
    assert explorer.values == {"x": 10, "kind": "dot", "up": True, "again": 3}
    explorer.controls["x"].value = 9
    assert explorer.chooser.value is None
    explorer.controls["x"].value = 10
    assert explorer.chooser.value == "far up"


def test_what_a_preset_leaves_out_stands_where_it_started(dot):
    explorer = dot(presets={"up": {"up": True}})
    explorer.controls["x"].value = 9
    explorer.chooser.value = "up"
    assert explorer.values["x"] == 2


def test_a_button_counts_its_presses(dot):
    explorer = dot(presets={"up": {"up": True}}, preset="up")
    explorer.controls["again"].click()
    explorer.controls["again"].click()
    assert explorer.line.get_data() == ([2], [2])


def test_a_control_without_effect_is_gray(dot):
    explorer = dot()
    assert explorer.controls["again"].disabled
    explorer.controls["up"].value = True
    assert not explorer.controls["again"].disabled


def test_words_are_text_and_no_html(dot):
    explorer = dot()
    explorer.controls["kind"].value = "<b>"
    assert "<p>&lt;b&gt; at 2 &amp; 0</p>" in explorer.foreground.value
    assert "<figcaption>&lt;b&gt; at 2 &amp; 0 " in explorer._repr_mimebundle_()[0]["text/html"]


def test_all_markers_of_a_line_are_drawn_at_their_places():
    picture, axes = new_picture("Three dots", 1, 1, 4, 3, layout=None)
    (line,) = axes[0, 0].plot([1.0, 2.0, np.nan, 4.0], [1.0, 3.0, 1.0, 2.0], "o")
    explorer = Explorer(picture, [line], lambda: "Three dots.", {})
    path = re.search(
        r'<g style="marker: url\(#[^)]+\)">\s*<path d="([^"]+)"', explorer.foreground.value
    )
    drawn = np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", path[1]), dtype=float)
    height = picture.get_figheight() * 72
    expected = axes[0, 0].transData.transform([(1, 1), (2, 3), (4, 2)]) * (1, -1) + (0, height)
    assert drawn == pytest.approx(expected, abs=0.01)
    explorer.close()


def test_closing_lets_go_of_widgets_and_figure():
    gc.collect()
    before = set(REGISTRY)
    explorer = next(iter(EXPLORERS.values()))()
    figure = weakref.ref(explorer.picture)
    assert len(REGISTRY) > len(before)
    explorer.close()
    assert set(REGISTRY) == before
    del explorer
    gc.collect()
    assert figure() is None


def test_fifty_explorers_that_are_moved_and_closed_leave_memory_where_it_was(dot):
    def objects_after(explorers):
        for _ in range(explorers):
            explorer = dot(presets={"up": {"up": True}})
            for step in range(100):
                explorer.controls["x"].value = step % 11
            explorer.close()
        made.clear()
        del explorer
        gc.collect()
        return len(gc.get_objects())

    made = inspect.getclosurevars(dot).nonlocals["made"]
    assert objects_after(5) >= objects_after(50)


def test_a_cell_that_runs_again_closes_the_explorers_of_its_former_run():
    code = "from lnorm_utils.explorers import explore_collapse as e; a, b = e(), e()"
    count = "print(len(__import__('ipywidgets').widgets.widget._instances))"
    manager, client = start_new_kernel()
    try:
        run = lambda source, cell: execute(client, source, cell)  # noqa: E731
        run(code, "first")
        once = int(run(count, "count"))
        run(code, "first")
        assert int(run(count, "count")) == once
        run(code, "second")
        assert int(run(count, "count")) == 2 * once
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def execute(client, source, cell):
    """Run a cell as JupyterLab does, which tells the kernel which cell it is."""
    content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
    message = client.session.msg("execute_request", {**content, "user_expressions": {}})
    message["metadata"] = {"cellId": cell}
    client.shell_channel.send(message)
    reply = client._recv_reply(message["header"]["msg_id"], timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]
    said = ""
    while True:
        output = client.get_iopub_msg(timeout=60)
        if output["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if output["msg_type"] == "stream":
            said += output["content"]["text"]
        if output["msg_type"] == "status" and output["content"]["execution_state"] == "idle":
            return said
