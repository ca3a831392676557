"""Diagnose a layer: run it beside its reference, explain what differs, and say where."""

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from lnorm_course.checking.comparing import same
from lnorm_course.diagnose import places
from lnorm_course.diagnose.causes import Failure
from lnorm_course.diagnose.explaining import clauses_of, explain, search_for, told
from lnorm_course.diagnose.inputs import parameter, point_shape, typical
from lnorm_course.diagnose.references import Reference, layer_norm_of, reference_for
from lnorm_course.diagnose.report import Diagnosis, Place
from lnorm_course.diagnose.run import EXACT, Run
from lnorm_course.diagnose.subject import Subject, tensors_of
from lnorm_utils.words import spoken

__all__ = ["diagnose_layer"]

SIZES = (8, 4, 16, 3, 6, 32, 64, 128, 256, 512, 768, 1024, 10, 2, 5)


def diagnose_layer(
    layer: Callable,
    like: nn.Module | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float | None = None,
    shape: tuple[int, ...] | None = None,
) -> Diagnosis:
    """Return what tells a layer from its reference; the arguments are those of `diagnose`."""

    def reference_of(size: tuple[int, ...]) -> Reference:
        return reference_for(like, eps) if like else layer_norm_of(size, eps)

    reference = None if like is None else reference_for(like, eps)
    known = shape or (reference.shape if reference else shape_of(layer))
    subject = Subject(layer, known)
    error: Failure | None = None
    for size in [known] if known else [(n,) for n in SIZES]:
        subject.shape = size
        reference = reference_of(size)
        run = _prepared(subject, reference, weight, bias)
        axes, failure = _accepted(run)
        if axes:  # if it takes single vectors only, perhaps a slip with axes fails on more
            named = _fails(run, failure) if axes == [len(size)] and failure else None
            return named if named and named.slips else _judged(replace(run, axes=axes))
        error = error or failure
    subject.shape = known or (SIZES[0],)
    reference = reference_of(subject.shape)
    return _fails(_prepared(subject, reference, weight, bias), error)


def shape_of(layer: object) -> tuple[int, ...] | None:
    """Return the shape that a module's γ has, as far as it tells."""
    if not isinstance(layer, nn.Module):
        return None
    shape = getattr(layer, "normalized_shape", None)
    if isinstance(shape, int):
        return (shape,)
    if shape is not None:
        return tuple(shape)
    shapes = [tuple(t.shape) for t in tensors_of(layer).values() if t.numel() > 1]
    return max(shapes, key=len) if shapes else None


def _prepared(
    subject: Subject, reference: Reference, weight: Tensor | None, bias: Tensor | None
) -> Run:
    """Choose γ and β: what was given, or what the subject takes, or those of the reference."""
    like = reference.module
    chosen: list[Tensor | None] = []
    for seed, (role, given) in enumerate((("weight", weight), ("bias", bias)), start=3):
        own = getattr(like, role, None)
        takes = role in subject.names or subject.held(role) is not None
        if given is not None:
            chosen.append(given.detach().double())
        elif takes or (subject.is_module and own is not None):
            chosen.append(parameter(reference.shape, seed))
        else:
            chosen.append(None if own is None else own.detach().double())
    modes = subject.is_module and (like.training if reference.has_channels and like else False)
    return Run(subject, reference, chosen[0], chosen[1], [], modes if subject.is_module else None)


def _accepted(run: Run) -> tuple[list[int], Failure | None]:
    """Return how many axes an input may have, and what came of the first, if that failed."""
    shape, accepted, first = run.reference.shape, [], None
    for n in (3, 2, 4) if run.reference.has_channels else (2, 1, 3, 0):
        axes = n if run.reference.has_channels else n + len(shape)
        sizes = point_shape(shape, axes, run.reference.has_channels)
        if sizes is None or not _takes(run.reference.module, sizes):
            continue
        value = run.call(typical(sizes))
        if isinstance(value, Tensor):
            accepted.append(axes)
        elif first is None and isinstance(value, Failure):
            first = value
    return accepted, first


def _takes(module: nn.Module | None, sizes: tuple[int, ...]) -> bool:
    """Tell whether the reference module itself takes an input of this shape as (batch, ...)."""
    if module is None:
        return True
    x, reference = typical(sizes), reference_for(module)
    mine = copy.deepcopy(module).to("cpu", torch.float64)
    own = [getattr(mine, name, None) for name in ("weight", "bias")]
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # instance norm warns of the axes that it guesses
            return same(mine(x), reference.result()(x, *own, reference.eps), EXACT)
    except (ValueError, RuntimeError):
        return False


def _fails(run: Run, error: Failure | None) -> Diagnosis:
    """Say why a layer fails on every input, or name the slip that makes it fail."""
    n = 3 if run.reference.has_channels else len(run.reference.shape) + 2
    run = replace(run, axes=[n])
    run.choose_inputs()
    search = search_for(run, EXACT)
    x = run.inputs[0].x
    value = run.call(x)
    causes = search.causes({0: value}) if isinstance(value, Failure) else []
    shape = f"an input of shape {tuple(x.shape)}"
    remark = value.remark if isinstance(value, Failure) else getattr(error, "remark", "failed")
    if causes:
        verdict = f"{told(causes, run)} On {shape}, it {remark}."
        return Diagnosis(verdict, False, clauses_of(causes, run.reference.layout), (), shape)
    return Diagnosis(
        f"This layer can't be judged, because it {remark} for {shape}, as for other shapes. "
        "With `shape=` you can say which sizes γ has, such as `shape=768`.",
        None,
    )


def _judged(run: Run) -> Diagnosis:
    """Judge a layer that takes inputs."""
    run.choose_inputs()
    modes = (
        [False, True] if run.subject.is_module and not run.reference.has_channels else [run.mode]
    )
    for mode in modes:
        first, second = (replace(run, mode=mode).call(run.inputs[0].x) for _ in range(2))
        if not same(first, second, 0.0) and isinstance(first, Tensor):
            where = {True: " in `train`", False: " in `eval`", None: ""}[mode]
            if kept := run.subject.changed_by_calls():
                names = spoken([f"`{name}`" for name in kept])
                return Diagnosis(
                    f"It gives other numbers for the same input{where}, because each call changes "
                    f"{names}, as batch norm's running statistics do. Layer norm takes the mean "
                    "and the variance of each row alone and keeps nothing.",
                    False,
                    ("it uses statistics that it keeps from call to call",),
                )
            return Diagnosis(
                f"This layer can't be judged: it gives other numbers for the same input{where}, "
                "so something in it is random, such as dropout.",
                None,
            )
    explained = {mode: explain(replace(run, mode=mode)) for mode in modes}
    wrong = [bool(sentence) for _, sentence, _ in explained.values()]
    # In `train` a batch norm shows what it is; in `eval` it hardly does anything when it's new.
    worst = max(modes, key=lambda mode: (bool(explained[mode][2]), bool(explained[mode][1]), mode))
    here, sentence, clauses = explained[worst]
    others = [
        Place(f"In `{'train' if mode else 'eval'}`: {words}")
        for mode, (_, words, _) in explained.items()
        if words and words != sentence
    ]
    all_places = [*_mode_place(modes, wrong), *others, *places.look(here, bool(sentence))]
    serious = [place for place in all_places if place.counts]
    clauses = (*clauses, *(c for c in places.clauses(serious) if c not in clauses))
    return _said(here, run.reference.layout.name, sentence, clauses, all_places, modes)


def _said(
    run: Run, name: str, sentence: str, clauses: tuple, found: list[Place], modes: list
) -> Diagnosis:
    tried = _tried(run, modes)
    words = tuple(place.words for place in found)
    serious = [place.words for place in found if place.counts]
    if sentence:
        more = [w for w in serious if places.is_a_cause(w)]
        return Diagnosis(" ".join([sentence, *more]), False, clauses, words, tried)
    if serious:
        verdict = f"On most inputs it agrees with {_lower(name)}, but not everywhere. {serious[0]}"
        return Diagnosis(verdict, False, clauses, words, tried)
    verdict = f"I found no difference from {_lower(name)}, up to rounding"
    verdict += ", in what I tried." if not words else ", apart from what stands below."
    return Diagnosis(verdict, True, (), words, tried)


def _lower(name: str) -> str:
    return name if name[1:2].isupper() else name.lower()


def _tried(run: Run, modes: list) -> str:
    shapes = spoken([str(tuple(each.x.shape)) for each in run.inputs])
    more = f", and {places.ODD} features" if run.subject.takes_any_size else ""
    eps = sorted({each.eps for each in run.inputs})
    tried = (
        f"shapes {shapes}{more}; spreads 0, 1e-8, 1e-5, 0.003 and 1 to 3; "
        "means from −2 to 2, and large ones; "
        f"ε = {spoken([f'{e:g}' for e in eps])}; float64, float32, float16 and bfloat16; "
        "the gradient"
    )
    return f"{tried}; `eval` and `train`" if len(modes) > 1 else tried


def _mode_place(modes: list, wrong: list[bool]) -> list[Place]:
    if len(modes) < 2 or len(set(wrong)) == 1:
        return []
    return [Place(f"It is wrong only in `{'train' if wrong[1] else 'eval'}`.")]
