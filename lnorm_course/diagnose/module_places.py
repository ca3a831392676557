"""What only a whole layer shows: its gradient, and its state dict."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.diagnose.inputs import typical
from lnorm_course.diagnose.known import CONSTANTS
from lnorm_course.diagnose.report import Place
from lnorm_course.diagnose.rounding import error_of
from lnorm_course.diagnose.run import EXACT, Run
from lnorm_course.diagnose.slip import Slip
from lnorm_utils.words import spoken

__all__ = ["DETACHED", "gradient_place", "state_dict_place"]

DETACHED: Mapping[str, Mapping[str, Any]] = {
    f"the {what} detached": slip.changes
    for what, slip in zip(
        ("mean and the variance are", "mean is", "variance is"), CONSTANTS, strict=True
    )
}


def gradient_place(run: Run) -> list[Place]:
    """Compare the gradient at x for one gradient that comes in."""
    x = run.inputs[0].x.clone().requires_grad_()
    with torch.enable_grad():
        call = run.subject.call(x, run.weight, run.bias, run.inputs[0].eps, run.mode)
    if not isinstance(call.value, Tensor):
        return []
    if not call.value.requires_grad:
        return [Place("No gradient comes back through it, so nothing below it can learn.", False)]
    g = typical(tuple(call.value.shape), 51)

    def gradient(y: Tensor, at: Tensor) -> Tensor | None:
        return torch.autograd.grad((y * g).sum(), at, allow_unused=True)[0]

    def right(changes: Mapping[str, Any]) -> Tensor | None:
        mine = run.inputs[0].x.clone().requires_grad_()
        slips = (*run.slips, Slip("", "", changes))
        function = run.reference.result(slips, run.mistake)
        y = function(mine, run.weight, run.bias, run.inputs[0].eps)
        return gradient(y, mine) if y.shape == g.shape and y.requires_grad else None

    try:
        found, wanted = gradient(call.value, call.input), right({})
    except RuntimeError as error:
        return [Place(f"Its gradient can't be computed: {' '.join(str(error).split())[:120]}.")]
    within = 1e-5 if run.within <= EXACT else 1e-3
    if wanted is None or error_of(found, wanted) < within:
        return []
    for words, changes in DETACHED.items():
        other = right(changes)
        if other is not None and error_of(found, other) < within:
            return [Place(f"Its gradient at x is wrong: {words}, so they count as constants.")]
    return [Place(f"Its gradient at x is wrong, by up to {error_of(found, wanted):.2g}.")]


def state_dict_place(run: Run) -> list[Place]:
    """Compare the names in the state dict with those of PyTorch's module."""
    layer, like = run.subject.layer, run.reference.module
    if not isinstance(layer, nn.Module):
        return []
    own = {name: tuple(t.shape) for name, t in layer.state_dict().items()}
    wanted = dict.fromkeys(("weight", "bias"), run.reference.shape)
    if like is not None:
        wanted = {name: tuple(t.shape) for name, t in like.state_dict().items()}
    found = []
    if missing := [name for name in wanted if name not in own]:
        found.append(f"misses {spoken([f'`{name}`' for name in missing])}")
    if more := [name for name in own if name not in wanted]:
        found.append(f"has {spoken([f'`{name}`' for name in more])} besides")
    found += [
        f"has `{name}` of shape {own[name]} and not {shape}"
        for name, shape in wanted.items()
        if name in own and own[name] != shape
    ]
    if not found:
        return []
    held = [(letter, run.subject.held(role)) for letter, role in (("γ", "weight"), ("β", "bias"))]
    plain = [f"{letter} (`{name}`)" for letter, name in held if name and name not in own]
    also = f" No optimizer finds {spoken(plain)}, because it's no parameter." if plain else ""
    counts = like is not None or bool(plain)
    return [Place(f"Its state dict {spoken(found)}.{also}", counts)]
