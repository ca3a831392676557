"""What explorers draw and say is what PyTorch and NumPy compute.

A check of an explorer is named after it. It takes the words, the moving artists of each panel, and
the values of the controls, and yields what is drawn beside what should be.
"""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course import explorers
from lnorm_course.explorers import batch as of_batch
from lnorm_course.explorers import collapse as of_collapse
from lnorm_course.explorers import file_types as of_files
from lnorm_course.explorers import gamma_beta as of_gamma_beta
from lnorm_course.explorers import gradient as of_gradient
from lnorm_course.explorers import invariances as of_invariances
from lnorm_course.explorers import projection as of_projection
from lnorm_course.explorers.amplitude import DRAWN
from lnorm_course.lessons.file_types import FORMULAS, as_codes, likeliest, sample_files, with_norm
from lnorm_course.lessons.transformer.grid import BEGINNINGS, RATES, run, split
from lnorm_course.lessons.transformer.model import PLACES
from lnorm_course.lessons.transformer.text import entropies
from lnorm_utils.data import normal
from lnorm_utils.plotting.points import in_plane

made = cache(lambda name: getattr(explorers, f"explore_{name}")())


def amplitude(words, panels, amplitude, eps):
    (exact, before, after, *_), (outside, inside, here) = panels
    row = normal(64, seed=3).double()
    x = amplitude * (row - row.mean()) / row.std(correction=0)
    y = F.layer_norm(x, (64,), eps=eps)
    sigma = y.std(correction=0)
    yield before.get_xdata(), x
    yield after.get_xdata(), y
    yield here.get_xydata(), [[amplitude, sigma]]
    yield inside.get_ydata(), DRAWN / np.sqrt(DRAWN**2 + eps)
    yield outside.get_ydata(), DRAWN / (DRAWN + eps)
    assert exact.get_visible() == (amplitude > 0)
    assert (f"it is {sigma:.2f}" if amplitude else "divide 0 by 0") in words


def batch(words, panels, batch_size, batch):
    (cloud, now), (_, mean, _, variance) = panels
    alone = F.layer_norm(of_batch.points()[0], (4,))
    yield cloud.axes.lines[-1].get_ydata(), alone
    if batch_size == 1:
        outputs, kept = np.full((40, 4), np.nan), np.full((2, 41), np.nan)
        with pytest.raises(ValueError, match="more than 1 value"):
            by_batch_norm(1)
        assert "nn.BatchNorm1d raises" in words
        assert f"into {alone[0]:.2f}." in words
    else:
        outputs, kept = by_batch_norm(batch_size)
        assert f"After batch {batch}, the running mean is {kept[0][batch]:.2f}" in words
    yield cloud.get_ydata(), outputs.ravel()
    yield now.get_ydata(), outputs[batch - 1]
    for past, values in zip((mean, variance), kept, strict=True):
        yield past.get_ydata(), values[: batch + 1]


def by_batch_norm(size):
    """Let nn.BatchNorm1d see 40 batches with point 0, for its outputs, and let another see 40
    without it, for what that keeps of feature 0."""
    x = of_batch.points()
    with_it, without = (torch.Generator().manual_seed(seed) for seed in (5, 8))
    company = x[torch.randint(1, len(x), (40, 255), generator=with_it)]
    others = x[torch.randint(1, len(x), (40, 256), generator=without)]
    layer, other = (nn.BatchNorm1d(4, affine=False).double().train() for _ in range(2))
    outputs, kept = [], [(0.0, 1.0)]
    for some, rest in zip(company, others, strict=True):
        outputs.append(layer(torch.cat([x[:1], some])[:size])[0].numpy())
        other(rest[:size])
        kept.append((other.running_mean[0].item(), other.running_var[0].item()))
    return np.array(outputs), np.array(kept).T


def collapse(words, panels, features, difference, eps):
    points = of_collapse.points()
    mean = points[:, :features].mean(1, keepdim=True)
    x = mean + difference * (points[:, :features] - mean)
    y = F.layer_norm(x, (features,), eps=eps)
    for dots, values in zip((panels[0][:4], panels[1][1:5]), (x, y), strict=True):
        *drawn, marked = np.concatenate([those.get_xydata() for those in dots])
        places = in_plane(values.numpy())
        yield marked, places[0]
        yield np.sort(drawn, 0), np.sort(places, 0)
        is_larger = difference * (points[:, 0] - points[:, min(1, features - 1)]) > 0
        yield len(dots[0].get_xdata()), is_larger.sum()
    if features == 2 and difference:
        corners = ((y - torch.tensor([s, -s])).abs().amax(1) < 0.01 for s in (1, -1))
        counts = [int(near.sum()) for near in corners]
        assert f"{counts[0]} points lie within" in words
        assert [int((text.get_text() or "0").split()[0]) for text in panels[1][-2:]] == counts
    else:
        assert ("lie at 0" if not difference or features == 1 else f"√{features}") in words


def file_types(words, panels, file, formula, which):
    ((bars, _, *names),) = panels
    model = with_norm(**dict.fromkeys(of_files.WHICH[which], FORMULAS[formula]))
    with torch.no_grad():
        rows = likeliest(model(as_codes(*(sample_files()[name] for name in of_files.FILES))))
    kinds, probabilities = zip(*rows[of_files.FILES.index(file)], strict=True)
    yield np.reshape(bars.get_xdata(), (-1, 3))[:, 1], probabilities
    assert tuple(text.get_text() for text in names) == kinds
    assert f"{file} is {kinds[0]} {probabilities[0]:.2f}" in words
    kept = {"as trained": 8, "RMSNorm": 0}.get(formula, "")
    assert f"{kept} keep their kind" in words


def gamma_beta(words, panels, feature, weight, bias):
    gamma, beta = torch.ones(4).double(), torch.zeros(4).double()
    those = slice(None) if feature == "all" else int(feature[-1])
    gamma[those], beta[those] = weight, bias
    y = F.layer_norm(of_gamma_beta.rows(), (4,), gamma, beta)
    for (dots, means), values in zip(panels, (y, y.T), strict=True):
        yield dots.get_ydata(), values.ravel()
        yield means.get_ydata(), values.mean(0)
    mean = f"{feature} has mean {y[:, those].mean():.2f}".replace("-", "−")
    assert feature == "all" or mean in words


def gradient(words, panels, feature, scale, direction, eps):
    (_, star, passes, lost, arrives, *_), (_, leaves, *_) = panels
    x = (scale * torch.tensor([feature, 1.0, -1.0]).double()).requires_grad_()
    y = F.layer_norm(x, (3,), eps=eps)
    g = of_gradient.gradient(direction)
    y.backward(g)
    yield (g.norm(), g.sum()), (1.5, 0)
    x_hat, passing = y.detach(), x.grad * (x.var(correction=0) + eps).sqrt().detach()
    for arrow, start, way in (
        (passes, x_hat, passing),
        (lost, x_hat, g - passing),
        (arrives, x_hat, g),
        (leaves, (x - x.mean()).detach(), x.grad),
    ):
        if way.norm() >= 0.01:  # or it's too short to be seen
            yield arrow.get_xydata()[:2], in_plane(torch.stack([start, start + way]).numpy())
    yield star.get_xydata(), in_plane(x_hat[None].numpy())
    is_seen = passing.norm() >= 0.01
    assert (f"it has length {x.grad.norm():.2f}" if is_seen else "g lies along x̂") in words


# In the order of CHANGES, as in table 1 of Ba et al. 2016. Those of RMSNorm are Zhang & Sennrich's,
# github.com/bzhangGo/rmsnorm.
UNNOTICED = {
    "batch norm": "yes no yes yes yes no",
    "weight norm": "yes no yes no no no",
    "layer norm": "yes yes no yes no yes",
    "RMSNorm": "yes no no yes no yes",
}
NORMS = {
    "batch norm": lambda a: F.batch_norm(a, None, None, training=True, eps=1e-30),
    "layer norm": lambda a: F.layer_norm(a, a.shape[-1:], eps=0.0),
    "RMSNorm": lambda a: F.rms_norm(a, a.shape[-1:], eps=0.0),
}


def invariances(words, panels, change, norm, amount, before):
    def outputs(x, w):
        if norm == "weight norm":
            return x @ F.normalize(w).T
        return NORMS[norm](x) @ w.T if before else NORMS[norm](x @ w.T)

    (goes_in, comes_out), old = panels, (of_invariances.X, of_invariances.W)
    new = of_invariances.CHANGES[change][0](amount)
    is_of_weights = "W" in change or "weight" in change
    assert [old[0] is new[0], old[1] is new[1]] == [is_of_weights, not is_of_weights]
    marks = (goes_in[:3], goes_in[3:], comes_out)
    for (was, same, now), *both in zip(
        marks, (*old, outputs(*old)), (*new, outputs(*new)), strict=True
    ):
        earlier, later = (each.ravel() for each in both)
        is_same = (later - earlier).abs() <= 1e-9
        yield was.get_ydata(), earlier
        yield np.isnan(now.get_ydata()), is_same
        yield np.where(is_same, same.get_ydata(), now.get_ydata()), later
    assert (f"{(~is_same).sum()} of 16 outputs change" in words) == (not is_same.all())
    assert ("doesn't notice" in words) == is_same.all()
    if amount > 0 and not before:
        unnoticed = dict(zip(of_invariances.CHANGES, UNNOTICED[norm].split(), strict=True))
        assert is_same.all() == (unnoticed[change] == "yes")


def projection(words, panels, size, bias, bias_scale):
    (star,), rays = panels
    *_, with_bias, without, _ = star.axes.lines
    for curve, scale in ((with_bias, 1), (without, 0)):
        yield curve.get_ydata(), [by_least_squares(n, scale)[0] for n in of_projection.SIZES]
    r2, back = by_least_squares(size, bias * bias_scale)
    yield star.get_xydata(), [[size, r2]]
    yield np.concatenate([ray.get_xydata() for ray in rays]), back
    of_each = (v.reshape(4, 4, 2) for v in (of_projection.on_rays().numpy(), back))
    before, after = (np.linalg.norm(v[:, -1] - v[:, 0], axis=1).mean() for v in of_each)
    assert f"a ray, {before:.2f} apart, come back {after:.2f} apart" in words


def by_least_squares(size, scale):
    """Return R² on the second half of the points, and where those on rays come back."""
    with torch.random.fork_rng():
        torch.manual_seed(of_projection.SEED)
        linear = nn.Linear(2, size)
    weight, bias = linear.weight.detach().double(), scale * linear.bias.detach().double()
    both = of_projection.points(), of_projection.on_rays()
    code, other = (F.layer_norm(F.linear(v, weight, bias), (size,)).numpy() for v in both)
    x, half = both[0].numpy(), len(code) // 2
    target, middle = x[:half].mean(0), code[:half].mean(0)
    fit = np.linalg.lstsq(code[:half] - middle, x[:half] - target, rcond=1e-4)[0]
    wrong = x[half:] - target - (code[half:] - middle) @ fit
    r2 = 1 - (wrong**2).sum() / ((x[half:] - x[half:].mean(0)) ** 2).sum()
    return r2, (other - middle) @ fit + target


def transformer(words, panels, rate, place, embeddings, warm_up):
    (*curves, _, _, _, _), cards = panels
    steps = 100 if warm_up else 1
    runs = [run(name, rate, steps, 0, embeddings) for name in PLACES]
    for curve, (losses, *_) in zip(curves, runs, strict=True):
        yield curve.get_ydata(), np.clip(losses, *curve.axes.get_ylim())
    chosen = [*PLACES].index(place)
    assert max(curves, key=lambda curve: curve.get_linewidth()) is curves[chosen]
    for title, text, name, each in zip(cards[::2], cards[1::2], PLACES, runs, strict=True):
        written, wanted = text.get_text().split(), each.text.split() or ["(nothing)"]
        assert name in title.get_text()
        assert written
        assert "".join(wanted).startswith("".join(written))
    assert ("with a warm-up" in words) == warm_up
    loss, known = runs[chosen].validation, entropies(split()[1])
    judged = {
        f"its loss is {loss:.2f}": not math.isnan(loss),
        "overflowed": math.isnan(loss),
        "no better than always": loss > known.letters - 0.03,
        "between the entropies": known.pairs + 0.03 < loss <= known.letters - 0.03,
        "about the entropy": abs(loss - known.pairs) <= 0.03,
        "more than just the previous character": loss < known.pairs - 0.03,
    }
    assert {said: said in words for said in judged} == judged


# Check → how far what is drawn may be off, and the states in which it's looked at.
CHECKS = {
    amplitude: (1e-12, product([0, 1e-4, 0.00316, 1.0], [1e-8, 1e-5, 1.0])),
    batch: (1e-10, [(1, 1), (2, 7), (8, 40), (256, 2)]),
    collapse: (1e-12, product([1, 2, 3, 4], [0, 1e-3, 1.0], [1e-8, 1e-3, 0.1])),
    file_types: (
        1e-6,
        [
            (of_files.FILES[0], "as trained", "both"),
            (of_files.FILES[1], "RMSNorm", "norm 2"),
            (of_files.FILES[5], "over the batch", "norm 1"),
        ],
    ),
    gamma_beta: (1e-12, product(of_gamma_beta.CHOSEN, [-2, 0, 1], [-3, 0, 3])),
    gradient: (1e-12, product([-1.0, 0.0, 2.0], [0.75, 1.5], [0, 30, 90, 240], [1e-5, 1.0])),
    invariances: (
        1e-9,
        product(of_invariances.CHANGES, [*NORMS, "weight norm"], [-1, 0.5, 2], [False, True]),
    ),
    projection: (
        1e-7,
        [(2, True, 0.1), (3, False, 1), (6, False, 1), (6, True, 1), (64, True, 10)],
    ),
    transformer: (
        0,
        [
            *product(RATES, PLACES, [1], [False]),
            *((0.01, "pre-LN", embeddings, steps > 1) for steps, embeddings in BEGINNINGS),
        ],
    ),
}


@pytest.mark.parametrize(
    ("check", "off", "state"),
    [
        pytest.param(check, off, state, id=f"{check.__name__}-{'-'.join(map(str, state))}")
        for check, (off, states) in CHECKS.items()
        for state in states
    ],
)
def test_what_is_drawn_and_said_is_what_was_computed_apart(check, off, state):
    explorer = made(check.__name__)
    values = dict(zip(explorer.controls, state, strict=True))
    words = explorer.move_to(explorer.state_of(values))
    for seen, wanted in check(words, [*explorer.panels.values()], **values):
        np.testing.assert_allclose(seen, wanted, atol=off, rtol=off)
