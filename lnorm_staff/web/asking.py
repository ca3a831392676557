"""The small pictures with which lessons open: each asks the question of its lesson."""

import html
from collections.abc import Callable, Iterable

from torch import Tensor

from lnorm_course.lessons.file_types import as_codes, sample_files
from lnorm_course.lessons.todays_models import MODELS
from lnorm_course.lessons.transformer import austen
from lnorm_utils.data import normal, two_rings
from lnorm_utils.functional import layer_norm, mean, standardize
from lnorm_utils.plotting.picture import SKY

__all__ = ["asking"]

WIDTH = 350
LEFT, RIGHT = 70, 335  # the ends of a number line
LETTERS = "abcd"
Picture = tuple[str, int, list[str]]  # what it shows, its height, and its parts


def asking(lesson: str) -> str:
    """Draw the picture that asks the question of a lesson, as HTML; "" if it has none.

    What is given is drawn solid, and what is asked for is dashed, with a question mark.

    Args:
        lesson: the name of its notebook, such as "01_mean".
    """
    draw = PICTURES.get(lesson)
    if draw is None:
        return ""
    alt, height, parts = draw()
    return (
        f'<figure class="lnorm-asking"><svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{html.escape(alt)}">{"".join(parts)}</svg></figure>'
    )


def _text(x: float, y: float, said: str, kind: str = "", anchor: str = "middle") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{named}>{html.escape(said)}</text>'


def _box(x: float, y: float, width: float, height: float, said: str, kind: str = "given") -> str:
    """Draw a box; its kind is "given" or "asked"."""
    drawn = (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'
    )
    return drawn + _text(x + width / 2, y + height / 2 + 4.5, said)


def _hole(x: float, y: float, radius: float = 11) -> str:
    circle = f'<circle class="asked" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'
    return circle + _text(x, y + 5, "?", "mark")


def _arrow(x0: float, y0: float, x1: float, y1: float, kind: str = "way") -> str:
    """Draw an arrow along an axis, or aslant with a head that points to the right."""
    x, y = (0, 1 if y1 > y0 else -1) if x0 == x1 else (1 if x1 > x0 else -1, 0)
    head = f"M{x1 - 6 * x - 4 * y:g} {y1 - 6 * y - 4 * x:g}L{x1:g} {y1:g}"
    head += f"L{x1 - 6 * x + 4 * y:g} {y1 - 6 * y + 4 * x:g}"
    return f'<path class="{kind}" d="M{x0:g} {y0:g}L{x1:g} {y1:g}"/><path class="way" d="{head}"/>'


def _at(value: float, most: float) -> float:
    """Return where a value stands on a number line from -most to most."""
    return LEFT + (RIGHT - LEFT) * (value + most) / (2 * most)


def _number_line(y: float, name: str, values: Iterable[float] = (), most: float = 5) -> str:
    """Draw a number line with a dot for each value, or with holes if there are none."""
    drawn = f'<path class="axis" d="M{LEFT} {y:g}H{RIGHT}"/>' + _text(
        0, y + 4.5, name, anchor="start"
    )
    dots = [(_at(value, most), letter) for value, letter in zip(values, LETTERS, strict=False)]
    for x, letter in dots:
        drawn += f'<circle class="dot" cx="{x:.1f}" cy="{y:g}" r="8"/>'
        drawn += _text(round(x, 1), y + 4, letter, "letter")
    if not dots:
        drawn += "".join(_hole(_at(most * share, most), y) for share in (-0.6, -0.2, 0.2, 0.6))
    return drawn


def _row() -> Tensor:
    return 2 * normal(4, seed=0) + 1  # (4,), far enough apart to be seen


def _cell(x: float, y: float, size: float, color: str, opacity: float) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{size - 2:g}" height="{size - 2:g}" rx="3" '
        f'style="fill: {color}" opacity="{opacity:.2f}"/>'
    )


def _cloud(left: float, top: float, size: float, points: int) -> str:
    """Draw the two rings, on each side of a square."""
    places, ring = two_rings(points)
    dots = ""
    for (x, y), outer in zip(places.tolist(), ring.tolist(), strict=True):
        at = f'cx="{left + size * (x + 2.4) / 4.8:.1f}" cy="{top + size * (2.4 - y) / 4.8:.1f}"'
        dots += f'<circle class="{"outer" if outer else "inner"}" {at} r="2.2"/>'
    return f'<rect class="axis" x="{left}" y="{top}" width="{size}" height="{size}" rx="4"/>{dots}'


def _variance() -> Picture:
    row = _row()
    middle = _at(float(mean(row)), 5)
    parts = [_number_line(70, "one point", row.tolist())]
    parts += [f'<path class="way" d="M{middle:.1f} 52V88"/>', _text(middle, 108, "mean")]
    parts += [_arrow(middle + side * 13, 34, middle + side * 75, 34, "asked") for side in (-1, 1)]
    parts.append(_hole(round(middle, 1), 34))
    return "four numbers on a line around their mean: how far from it are they?", 116, parts


def _standardize() -> Picture:
    parts = [_number_line(22, "x", _row().tolist()), _arrow(202, 38, 202, 78)]
    parts += [_text(212, 62, "layer norm", anchor="start"), _number_line(98, "y")]
    return "four numbers on a line go through a layer norm: where are they then?", 116, parts


def _gamma_beta() -> Picture:
    row = _row()
    parts = [
        _number_line(18, "x", row.tolist()),
        _number_line(66, "normed", standardize(row).tolist()),
    ]
    parts += [_arrow(202, 32, 202, 52), _arrow(202, 80, 202, 102), _number_line(118, "· γ + β")]
    alt = "four numbers on a line, closer together after layer norm: what do γ and β make of them?"
    return alt, 134, parts


def _collapse() -> Picture:
    parts = [_cloud(10, 8, 116, 96), _arrow(136, 66, 214, 66), _text(175, 56, "layer norm")]
    parts += ['<rect class="asked" x="224" y="8" width="116" height="116" rx="4"/>']
    parts.append(_text(282, 78, "?", "mark large"))
    return "points on two rings go through a layer norm of two features: what is left?", 132, parts


def _projection() -> Picture:
    parts = []
    for top in (4, 76):
        parts += [_cloud(6, top, 58, 48), _arrow(70, top + 29, 96 if top > 4 else 184, top + 29)]
        parts += [_box(190, top + 14, 84, 30, "layer norm"), _arrow(280, top + 29, 300, top + 29)]
    places, _ = two_rings(48)
    left = sorted({tuple(point) for point in layer_norm(places, (2,)).sign().tolist()})
    for x, y in left:
        parts.append(f'<circle class="dot" cx="{324 + 14 * x:g}" cy="{33 - 14 * y:g}" r="5"/>')
    parts += ['<rect class="axis" x="305" y="14" width="38" height="38" rx="4"/>']
    parts += [_box(102, 90, 60, 30, "2 → 64"), _arrow(167, 105, 184, 105), _hole(324, 105, 15)]
    alt = "layer norm makes two points of two rings: what comes out behind a projection to 64?"
    return alt, 138, parts


def _module() -> Picture:
    parts = [
        _text(175, 26, "y = γ · (x − mean) / √(var + ε) + β", "large"),
        _arrow(175, 40, 175, 64),
    ]
    parts += [
        _box(40, 74, 270, 56, "", "asked"),
        _text(56, 96, "class LayerNorm(nn.Module):", "code", "start"),
    ]
    parts.append(_text(88, 119, "?", "mark"))
    return "the formula of layer norm, and a class that is still empty", 136, parts


def _rms_norm() -> Picture:
    parts = [_text(175, 26, "y = γ · (x − mean) / √(var + ε) + β", "large")]
    parts += [_arrow(175, 40, 175, 62), _box(70, 70, 210, 40, "y = γ · x / √(? + ε)", "asked")]
    return (
        "the formula of layer norm, and a shorter one, without the mean and without β",
        118,
        parts,
    )


def _bugs() -> Picture:
    row = _row()
    theirs = (row - row.mean()) / row.std()  # divided by D - 1
    parts = [_number_line(20, "PyTorch", layer_norm(row, (4,)).tolist(), 2)]
    parts.append(_number_line(64, "this one", theirs.tolist(), 2))
    parts += [_box(LEFT, 96, RIGHT - LEFT, 28, "which line of the code did that?", "asked")]
    alt = "what two layer norms make of the same row differs: which line of the code did that?"
    return alt, 130, parts


def _residual() -> Picture:
    parts = ['<path class="way" d="M40 104V40H56M188 40H240V50"/>']
    parts += [_arrow(8, 104, 226, 104), _arrow(254, 104, 270, 104), _arrow(328, 104, 346, 104)]
    parts += [_arrow(240, 50, 240, 90), '<circle class="given" cx="240" cy="104" r="13"/>']
    parts += [_text(240, 109, "+"), _box(128, 25, 60, 30, "branch"), _arrow(108, 40, 124, 40)]
    parts += [_box(56, 26, 52, 28, "norm?", "asked"), _box(274, 90, 52, 28, "norm?", "asked")]
    parts += [_text(14, 96, "x")]
    alt = (
        "a branch that is added to its input: does the norm stand before it or after the addition?"
    )
    return alt, 126, parts


def _training() -> Picture:
    parts = []
    for top, said in zip((6, 48, 90), ("norms?", "start?", "rate?"), strict=True):
        parts += [_box(6, top, 66, 32, said, "asked"), _arrow(78, top + 16, 98, top + 16)]
    blocks = (
        f'<rect class="block" x="{108 + 7 * i}" y="6" width="4" height="116"/>' for i in range(24)
    )
    parts += [*blocks, _arrow(280, 64, 300, 64), _hole(322, 64, 15), _text(324, 100, "loss")]
    return (
        "a network of 24 blocks: do its norms, its start, or its rate decide its loss?",
        128,
        parts,
    )


def _backward() -> Picture:
    parts = [_box(130, 6, 90, 118, "layer norm"), _text(62, 35, "x"), _text(288, 35, "y")]
    parts += [_arrow(76, 30, 124, 30), _arrow(226, 30, 274, 30), _arrow(274, 94, 226, 94)]
    parts += [_arrow(124, 94, 76, 94), _hole(54, 94, 15)]
    for place, value in enumerate(normal(4, seed=0).tolist()):
        top, height = 94 - 12 * max(value, 0), 12 * abs(value)
        at = f'x="{284 + 14 * place}" y="{top:.1f}" width="9" height="{height:.1f}"'
        parts.append(f'<rect class="dot" {at}/>')
    parts.append('<path class="axis" d="M280 94H340"/>')
    return "a gradient goes back through a layer norm: what comes out?", 130, parts


def _precision() -> Picture:
    parts = []
    for place in range(5):
        said = {0: f"{_row()[1]:.2f}", 4: "NaN"}.get(place, "?")
        parts.append(
            _box(4 + 72 * place, 20, 54, 40, said, "given" if place in (0, 4) else "asked")
        )
        parts += [_arrow(61 + 72 * place, 40, 73 + 72 * place, 40)] if place < 4 else []
    parts.append(_text(175, 88, "float16 on its way through a network"))
    return "a number goes into a network, and NaN comes out: where did it arise?", 98, parts


def _invariances() -> Picture:
    parts = [_box(140, 5, 86, 122, "norm"), _arrow(232, 66, 258, 66)]
    parts.append(_box(266, 49, 80, 34, "same y?", "asked"))
    for top, said in zip((5, 37, 69, 101), ("W", "5 · W", "W + 1", "− W"), strict=True):
        parts += [_box(6, top, 90, 26, said), _arrow(102, top + 13, 132, top + 13)]
    return (
        "weights, changed in three ways, in front of a norm: for which is the output the same?",
        132,
        parts,
    )


def _transformer() -> Picture:
    parts = [_box(4, 46, 104, 36, f"{austen()[:11]}…")]
    for y, said in ((30, "with norms"), (98, "without")):
        parts += [f'<path class="way" d="M108 64L122 {y}"/>', _arrow(122, y, 142, y)]
        parts += [_box(148, y - 18, 110, 36, said), _arrow(264, y, 292, y), _hole(314, y, 15)]
    alt = "the beginning of a text goes into a transformer with norms and into one without"
    return f"{alt}: which letter do they say comes next?", 128, parts


def _file_types() -> Picture:
    codes = as_codes(next(iter(sample_files().values())))[0, :20].tolist()
    cells = (
        _cell(6 + 17 * i, 6, 17, SKY, 0.15 + 0.85 * code / 256) for i, code in enumerate(codes)
    )
    parts = [*cells, _text(175, 42, "the bytes of a file"), _arrow(175, 50, 175, 68)]
    for left, said in zip((6, 98, 190), ("layers", "norm: ?", "layers"), strict=True):
        kind = "asked" if "?" in said else "given"
        parts += [_box(left, 76, 68, 34, said, kind), _arrow(left + 72, 93, left + 86, 93)]
    parts.append(_text(282, 98, "its type", anchor="start"))
    alt = "the bytes of a file go through a network that says its type: what does its norm do?"
    return alt, 118, parts


def _models() -> Picture:
    parts = []
    for place, model in enumerate(MODELS[:6]):
        left, top = 6 + 116 * (place % 3), 6 + 60 * (place // 3)
        parts += [
            _text(left + 53, top + 15, model.model),
            _box(left + 26, top + 22, 54, 26, "?", "asked"),
        ]
    return "six models: which norm does each of them have?", 120, parts


def _speed() -> Picture:
    parts = [_text(0, 35, "copy", anchor="start"), _text(0, 83, "layer norm", anchor="start")]
    parts += ['<rect class="dot" x="84" y="16" width="110" height="30" rx="4"/>']
    parts += ['<path class="asked" d="M334 64H84V94H334"/>']
    parts += [
        _text(209, 85, "?", "mark"),
        _arrow(84, 112, 334, 112),
        _text(84, 128, "time", anchor="start"),
    ]
    return "a bar for the time of a copy: how long is the one of a layer norm?", 134, parts


PICTURES: dict[str, Callable[[], Picture]] = {
    "02_variance": _variance,
    "03_standardize": _standardize,
    "04_gamma_beta": _gamma_beta,
    "06_two_feature_collapse": _collapse,
    "07_projection_fix": _projection,
    "08_build_the_layer": _module,
    "09_rms_norm": _rms_norm,
    "10_add_and_norm": _residual,
    "11_train_it": _training,
    "12_backward_pass": _backward,
    "13_half_precision": _precision,
    "14_invariances": _invariances,
    "15_transformer": _transformer,
    "16_in_the_wild": _file_types,
    "17_find_the_bug": _bugs,
    "appendix_models": _models,
    "appendix_speed": _speed,
}
