"""Where the numbers differ: on which inputs, at large means, in other shapes and dtypes."""

from dataclasses import replace

import torch
from torch import Tensor

from lnorm_course.checking.comparing import close_numbers
from lnorm_course.diagnose.causes import Failure
from lnorm_course.diagnose.inputs import Input, parameter, point_shape, typical
from lnorm_course.diagnose.module_places import DETACHED, gradient_place, state_dict_place
from lnorm_course.diagnose.references import layer_norm_of
from lnorm_course.diagnose.report import Place
from lnorm_course.diagnose.rounding import error_of, is_single
from lnorm_course.diagnose.run import Run
from lnorm_utils.words import dtype_name, spoken

__all__ = ["clauses", "is_a_cause", "look"]

ONE_PASS = "your variance is E[x²] − E[x]², which loses its digits when the mean is large"
ODD = 7  # features
IN_PLACE = "it changes its input in place"


def look(run: Run, is_wrong: bool) -> list[Place]:
    """Return the places, the gravest first.

    Args:
        run: the layer beside its reference, with the slips that were found.
        is_wrong: whether its numbers are wrong on the usual inputs.
    """
    is_explained = not is_wrong or bool(run.slips or run.mistake)
    found = [*_changed_input(run)]
    if is_wrong:
        found += _which_inputs(run)
    if is_explained:
        found += [*_large_means(run), *gradient_place(run)]
    if not is_wrong:
        found += [*_other_size(run), *_shapes(run), *_dtypes(run)]
    found += state_dict_place(run)
    return sorted(found, key=lambda place: not place.counts)


def is_a_cause(words: str) -> bool:
    """Tell whether a place is one more thing that is wrong, and not only where it shows."""
    return any(part in words for part in (ONE_PASS[1:], IN_PLACE[1:], "gradient"))


def clauses(found: list[Place]) -> list[str]:
    """Return what is wrong according to places, as clauses."""
    words = " ".join(place.words for place in found)
    known = (ONE_PASS, IN_PLACE, *DETACHED)
    return [clause for clause in known if clause[1:] in words]


def _changed_input(run: Run) -> list[Place]:
    call = run.subject.call(run.inputs[0].x, run.weight, run.bias, run.inputs[0].eps, run.mode)
    if not call.changed_input:
        return []
    return [
        Place("It changes its input in place, so whoever uses x afterwards gets other numbers.")
    ]


def _which_inputs(run: Run) -> list[Place]:
    """Say on which inputs the difference shows, and on which rows and features."""
    right = replace(run, slips=(), mistake=None)
    shows: list[Input] = []
    hides: list[Input] = []
    for each in run.inputs:
        is_right = right.explains(each.x, right.call(each.x, each.eps), each.eps)
        (hides if is_right else shows).append(each)
    found = []
    # Other shapes are named only where they differ from the first.
    unlike_first = hides if run.inputs[0] in shows else shows
    mine = [
        [e.words for e in some if not e.is_shape or some is unlike_first] for some in (shows, hides)
    ]
    if all(mine):
        found.append(Place(f"It shows on {spoken(mine[0])}, not on {spoken(mine[1])}."))
    value = run.call(run.inputs[0].x)
    expected = right.expected(run.inputs[0].x)
    is_named = bool(run.slips or run.mistake)
    if not is_named and isinstance(value, Tensor) and value.shape == expected.shape:
        found += _where(~close_numbers(value, expected, run.within))
    return found


def _where(wrong: Tensor) -> list[Place]:
    """Say which features, or which rows, are wrong, if only some of them are."""
    features = wrong.reshape(-1, wrong.shape[-1])
    by_feature, by_row = features.any(0), features.any(1)
    found = []
    for name, some in (("feature", by_feature), ("row", by_row)):
        numbers = some.nonzero().flatten().tolist()
        if 0 < len(numbers) < len(some):
            few = spoken([str(n) for n in numbers[:4]])
            more = " and others" if len(numbers) > 4 else ""
            found.append(Place(f"Only {name} {few}{more} of {len(some)}, counted from 0."))
    return found


def _large_means(run: Run) -> list[Place]:
    """Compare rows whose mean is large against their spread."""
    mean, within = (4096.0, 0.02) if is_single(run) else (1e7, 1e-4)
    shape = run.inputs[0].x.shape
    x = typical(shape, 41) + mean
    value, right = run.call(x), run.expected(x)
    if error_of(value, right) < within or not right.isfinite().all():
        return []
    place = f"It goes wrong when the mean is large: at a mean of {mean:g} and a spread of about 2"
    if isinstance(value, Tensor) and value.shape == right.shape and _one_pass(run, x, value):
        return [Place(f"{place}. There {ONE_PASS}.")]
    return [Place(f"{place}, it's off by {error_of(value, right):.2g}.")]


def _one_pass(run: Run, x: Tensor, value: Tensor) -> bool:
    """Tell whether each row is right up to a factor, or not a number: only its variance is off."""
    plain = replace(run, weight=None, bias=None)
    y = value.double() if run.bias is None else value.double() - run.bias
    if run.weight is not None and run.weight.shape[-1:] == y.shape[-1:]:
        y = y / run.weight
    right = plain.expected(x)
    factor = (y * right).mean(-1, True) / right.square().mean(-1, True)
    rows = ((y - factor * right).abs() <= 0.02 * (1 + factor.abs()) * (1 + right.abs())).all(-1)
    return bool((rows | ~y.isfinite().all(-1)).all())


def _other_size(run: Run) -> list[Place]:
    """Try an odd number of features, if nobody has said how many there are."""
    if not run.subject.takes_any_size:
        return []
    shape, was = (ODD,), run.subject.shape
    x = point_shape(shape, run.axes[0], False)
    assert x is not None
    other = replace(
        run,
        reference=layer_norm_of(shape, run.reference.eps),
        weight=None if run.weight is None else parameter(shape, 3),
        bias=None if run.bias is None else parameter(shape, 4),
    )
    run.subject.shape = shape
    value = other.call(typical(x))
    run.subject.shape = was
    if isinstance(value, Failure) or other.explains(typical(x), value):
        return []
    return [
        Place(f"It is wrong for {ODD} features, though not for {was[-1] if was else 'others'}.")
    ]


def _shapes(run: Run) -> list[Place]:
    """Try the other numbers of axes, a batch of one, and other strides."""
    found = []
    channels, shape = run.reference.has_channels, run.reference.shape
    for more in range(4):
        axes = more + len(shape) + channels
        sizes = point_shape(shape, axes, channels)
        if sizes and axes not in run.axes:
            value = run.call(typical(sizes))
            if isinstance(value, Failure):
                found.append(Place(f"For shape {sizes}, it {value.remark}.", False))
    main = run.inputs[0].x
    for words, x in (
        ("a batch of one", main[:1].clone()),
        ("an input that isn't contiguous", main.mT.contiguous().mT if main.ndim > 1 else main),
        ("other numbers of the same shape", typical(tuple(main.shape), 61)),
        ("another order of the batch", main.flip(0)),
    ):
        value = run.call(x)
        if isinstance(value, Failure):
            found.append(Place(f"For {words}, it {value.remark}.", False))
        elif not run.explains(x, value):
            found.append(Place(f"It is wrong for {words}."))
    return found


def _dtypes(run: Run) -> list[Place]:
    """Run it in other dtypes."""
    found = []
    x = typical(tuple(run.inputs[0].x.shape), 71)
    x = x - x.mean(-1, keepdim=True)
    for dtype, within in ((torch.float32, 1e-3), (torch.float16, 0.03), (torch.bfloat16, 0.2)):
        name = dtype_name(dtype)
        mine = x.to(dtype)
        value, right = run.call(mine), run.expected(mine.double())
        if isinstance(value, Failure):
            found.append(Place(f"In {name}, it {value.remark}.", dtype == torch.float32))
            continue
        if error_of(value, right) > within:
            found.append(Place(f"In {name}, it's off by {error_of(value, right):.2g}."))
        elif dtype == torch.float16:
            large = (300 * x).to(dtype)
            if error_of(run.call(large), run.expected(large.double())) > 0.1:
                found.append(
                    Place(
                        "In float16, it goes wrong at a spread of 300 and more: its squares "
                        "overflow. PyTorch computes the statistics in float32.",
                        False,
                    )
                )
        if isinstance(value, Tensor) and value.dtype != dtype:
            found.append(Place(f"For {name}, it returns {str(value.dtype)[6:]}.", False))
    return found
