"""Diagnose a layer: run it beside its norm, explain what differs, and say where."""

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from lnorm_course.checking.search import Raised
from lnorm_course.diagnose.explaining import MARGIN, Explained, Result, explain
from lnorm_course.diagnose.findings import HALF, Finding, Run, findings
from lnorm_course.diagnose.likeness import law, likeness
from lnorm_course.diagnose.norms import Norm, layer_norm_of, norm_like, with_channels_first
from lnorm_course.diagnose.report import Diagnosis, Verdict, diagnosis
from lnorm_course.diagnose.rows import about_rows
from lnorm_course.diagnose.subject import Subject, shape_of
from lnorm_course.diagnose.trials import Trial, parameter, shapes_for, trials_for, typical
from lnorm_utils.words import dtype_name, spoken

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
    """Return what tells a layer from its norm; the arguments are those of `diagnose`."""
    norm = norm_like(like, eps) if like else None
    known = shape or (norm.shape if norm else shape_of(layer))
    subject = Subject(layer, known)

    def prepared(sizes: Sequence[tuple[int, ...]], is_first: bool) -> tuple[Run, list[Trial], bool]:
        """Return it with the first size that it takes, or else that gives anything at all."""
        subject.channels_first = is_first
        best: tuple[int, Run, list[Trial]] | None = None
        for size in sizes:
            subject.shape = size
            mine = norm or layer_norm_of(size, eps)
            mine = with_channels_first(mine) if is_first else mine
            run, trials = _prepared(subject, mine, weight, bias, known is None)
            value = run.call(run.main.x)
            is_tensor = isinstance(value, Tensor)
            rank = is_tensor + (is_tensor and value.numel() == run.main.x.numel())
            if best is None or rank > best[0]:
                best = rank, run, trials
            if rank == 2:
                break
        assert best is not None
        subject.shape = best[1].norm.shape
        return best[1], best[2], best[0] == 2

    sizes = [known] if known else [(n,) for n in SIZES]
    run, trials, takes = prepared(sizes, False)
    found = _judged(run, trials) if takes else None
    takes_all = takes and (not found or not found.right or run.main.x.ndim == len(sizes[0]) + 2)
    if not takes_all and not run.norm.split and len(sizes[0]) == 1:
        # Perhaps its features are axis 1, which a table of rows doesn't tell.
        images, some, takes_images = prepared([run.norm.shape] if takes else sizes, True)
        if takes_images:
            of_images = _judged(images, some)
            if not found or of_images.right is False:
                return of_images
        subject.channels_first, subject.shape = False, run.norm.shape
    if found:
        return found
    gives = isinstance(run.call(run.main.x), Tensor)
    return _judged(run, trials) if gives else _fails(run, trials)


def _prepared(
    subject: Subject,
    norm: Norm,
    weight: Tensor | None,
    bias: Tensor | None,
    any_width: bool,
) -> tuple[Run, list[Trial]]:
    """Choose γ and β, and the shapes that go in, those that it takes first."""
    chosen: list[Tensor | None] = []
    for seed, (role, given) in enumerate((("weight", weight), ("bias", bias)), start=3):
        own = getattr(norm.module, role, None)
        if given is not None:
            chosen.append(given.detach().double())
        elif subject.has(role) or (subject.is_module and own is not None):
            chosen.append(parameter(norm.shape, seed))
        else:
            chosen.append(None if own is None else own.detach().double())
    if chosen[0] is None and chosen[1] is not None:
        chosen[0] = torch.ones(norm.shape, dtype=torch.float64)
    mode = None
    if subject.is_module:
        mode = bool(norm.split and norm.module and norm.module.training)
    plain = Trial("", torch.zeros(0), norm.eps, chosen[0], chosen[1])
    run = Run(subject, norm, plain, mode)
    shapes = [each for each in shapes_for(norm) if _takes(norm, each)]
    values = [run.call(typical(each)) for each in shapes]
    takes = [
        isinstance(v, Tensor) and v.numel() == torch.Size(s).numel()
        for v, s in zip(values, shapes, strict=True)
    ]
    shapes = [shape for _, shape in sorted(zip(takes, shapes, strict=True), key=lambda p: not p[0])]
    any_width = any_width and not norm.is_channels_first
    trials = trials_for(norm, shapes, chosen[0], chosen[1], "eps" in subject.takes, any_width)
    return replace(run, main=trials[-1]), trials


def _takes(norm: Norm, shape: tuple[int, ...]) -> bool:
    """Tell whether the module of a norm of channels takes this shape as (batch, channels, …)."""
    if not norm.split or norm.module is None:
        return True
    x, mine = typical(shape), copy.deepcopy(norm.module).to("cpu", torch.float64)
    own = [getattr(mine, name, None) for name in ("weight", "bias")]
    try:
        with torch.no_grad():
            return torch.allclose(mine(x), norm.result((), x, *own, norm.eps))
    except (ValueError, RuntimeError):
        return False


def _fails(run: Run, trials: list[Trial]) -> Diagnosis:
    """Say why a layer fails on every input, or name the slip that makes it fail."""
    results = [run.result(trial) for trial in trials]
    explained = explain(run.norm, trials, results, run.unit, _source(run), must_run=True)
    value, shape = results[-1], f"an input of shape {tuple(run.main.x.shape)}"
    fails = f"for {shape} it raises {value.kind}: {value.message}"  # type: ignore[union-attr]
    if explained.words:
        words = f"{explained.words} So {fails}"
        return diagnosis(Verdict.KNOWN, words, explained.slips, tried=shape)
    words = f"{fails}. With `shape=` you can say which sizes γ has, such as `shape=768`."
    return diagnosis(Verdict.NOT_JUDGED, f"{words[0].upper()}{words[1:]}")


def _judged(run: Run, trials: list[Trial]) -> Diagnosis:
    """Judge a layer that takes inputs, a module in both modes."""
    modes = [False, True] if run.subject.is_module and not run.norm.split else [run.mode]
    for mode in modes:
        if said := _changes(replace(run, mode=mode)):
            return said
    runs = [replace(run, mode=mode) for mode in modes]
    results = [_results(each, trials) for each in runs]
    is_one = len(runs) < 2 or all(map(_equal, *results))
    judged = []
    for each, mine in list(zip(runs, results, strict=True))[: 1 if is_one else 2]:
        judged.append((each, *_explained(each, trials, mine)))
    if is_one or {e.is_right for _, e, _ in judged} == {True}:
        return _report(*judged[0], trials, modes)
    # In `train` a batch norm shows what it is; in `eval` it hardly does anything when it's new.
    order = sorted(judged, key=lambda j: (not j[1].words, j[1].is_right, not j[0].mode))
    worst, other = order
    words = other[1].words or " ".join(_rows(other[0])) or "cause unknown."
    place = f"In `{'train' if other[0].mode else 'eval'}`: {words}"
    if other[1].is_right:
        place = f"It is wrong only in `{'train' if worst[0].mode else 'eval'}`."
    return _report(*worst, trials, modes, [Finding(place)])


def _results(run: Run, trials: Sequence[Trial]) -> list[Result]:
    """Return what comes out; an axis more for some shapes, if others are kept, is an error."""
    results = [run.result(trial) for trial in trials]
    main = results[-1]
    keeps = isinstance(main, Tensor) and main.shape == run.main.x.shape
    for n, (trial, value) in enumerate(zip(trials, results, strict=True)):
        is_other = isinstance(value, Tensor) and value.shape != trial.x.shape
        if keeps and is_other and trial.kind == "shape":
            results[n] = Raised("another shape", str(tuple(value.shape)))  # type: ignore[union-attr]
    return results


def _changes(run: Run) -> Diagnosis | None:
    """Say if it gives other numbers for the same input, and why."""
    with torch.random.fork_rng():
        first, second = (run.call(run.main.x) for _ in range(2))
        seeded = []
        for _ in range(2):
            torch.manual_seed(0)
            seeded.append(run.call(run.main.x))
    if _equal(first, second):
        return None
    where = {True: " in `train`", False: " in `eval`", None: ""}[run.mode]
    other = f"It gives other numbers for the same input{where}"
    if kept := run.subject.kept():
        names = spoken([f"`{name}`" for name in kept])
        words = (
            f"{other}, because each call changes {names}. {run.norm.name} takes the statistics of "
            "its input and keeps nothing."
        )
        slip = f"each call changes {names}, and the next one uses it"
        return diagnosis(Verdict.KNOWN, words, (slip,))
    why = "so something in it is random, such as dropout"
    if not _equal(*seeded):
        why = "so it's random, or something is kept from call to call"
    return diagnosis(Verdict.NOT_JUDGED, f"{other}, {why}.")


def _equal(one: Result, other: Result) -> bool:
    if isinstance(one, Raised) or isinstance(other, Raised):
        return one == other if isinstance(one, Raised) and isinstance(other, Raised) else False
    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())


def _explained(
    run: Run, trials: list[Trial], results: list[Result]
) -> tuple[Explained, torch.dtype]:
    """Explain what comes out of a layer; and the dtype in which it computes."""
    dtype = _precision(run)
    run.unit = 2.0**-53 if dtype == torch.float64 else 2.0**-24
    # What refuses a width is made for certain ones, and what has no gradient is right without.
    pairs = list(zip(trials, results, strict=True))
    any_width = not any(t.kind == "width" and isinstance(r, Raised) for t, r in pairs)
    pairs = [p for p in pairs if p[0].kind != "width" or any_width]
    pairs = [p for p in pairs if not (p[0].at_gradient and isinstance(p[1], Raised))]
    some, mine = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if dtype in HALF:
        off, explained = run.error(run.main.x, torch.finfo(dtype).eps / 2)
        is_rounded = off <= explained
        slip = f"something is computed in {dtype_name(dtype)} and not in the dtype of x"
        words = f"{slip[0].upper()}{slip[1:]}, so digits are lost." if is_rounded else ""
        return Explained(False, (), words, (slip,) * is_rounded, wrong=[len(some) - 1]), dtype
    is_single_row = run.main.x.shape == torch.Size(run.norm.shape)
    found = explain(run.norm, some, mine, run.unit, _source(run), must_run=is_single_row)
    if is_single_row and not found.words and not found.wrong:
        found.is_right = True
    if found.wrong and not found.words and (words := law(run, some)):
        found.words, found.slips = words, (words.removesuffix("."),)
    run.parts = found.parts
    return found, dtype


def _precision(run: Run) -> torch.dtype:
    """Return the dtype in which a layer computes what comes in as float64."""
    x = run.main.x
    value = run.call(x)
    if not isinstance(value, Tensor):
        return torch.float64
    for dtype in (*HALF, torch.float32):
        # What it doesn't see are the digits that the dtype lacks, and no others.
        moved = run.call(x * (1 + 32 * torch.finfo(dtype).eps * typical(x.shape, 81)))
        if not isinstance(moved, Tensor) or moved.shape != value.shape:
            continue
        sees_more = moved.ne(value).double().mean() > 0.5
        is_output = _equal(value, value.to(dtype).to(value.dtype))
        if sees_more and (is_output or _equal(value, run.call(x.to(dtype).double()))):
            return dtype
    return torch.float64


def _source(run: Run) -> str:
    layer = run.subject.layer
    try:
        return inspect.getsource(layer if inspect.isroutine(layer) else type(layer))
    except (OSError, TypeError):
        return ""


def _report(
    run: Run,
    explained: Explained,
    dtype: torch.dtype,
    trials: Sequence[Trial],
    modes: Sequence[bool | None],
    also: Sequence[Finding] = (),
) -> Diagnosis:
    """Say what was found."""
    found = [*also, *_refused(trials, _results(run, trials))]
    if run.norm.is_channels_first:
        found.append(Finding("Its features are axis 1, as in images, and it was judged like that."))
    if dtype == torch.float32:
        found.append(Finding("It computes in float32 what comes in as float64."))
    if explained.is_right or explained.parts:
        found += findings(run)
    mixed = _rows(run) if explained.is_right or not explained.words else []
    causes = [f for f in found if f.is_wrong]
    places = [f.words for f in found if not f.is_wrong]
    tried = _tried(trials, modes, run.norm)
    slips = (*explained.slips, *(f.slip for f in causes if f.slip))
    words = " ".join([explained.words, *(f.words for f in causes), *mixed]).strip()
    if explained.is_right and not words:
        nothing = f"{Verdict.NO_DIFFERENCE.value} from {run.norm.in_words}, up to rounding"
        return Diagnosis(f"{nothing}, in what was tried.", True, (), tuple(places), tried)
    if explained.words or (explained.is_right and slips) or mixed:
        if explained.words:
            places = [*_where(explained, trials), *places]
        slips = (*slips, *(each.removesuffix(".") for each in mixed))
        return diagnosis(Verdict.KNOWN, words, slips, places, tried)
    if not explained.is_right:
        words = f"{likeness(run, trials, explained)} {words}".strip()
        tried += "; all single slips and pairs with a common one, but no pairs of rare ones"
    return diagnosis(Verdict.UNKNOWN, words, (), places, tried)


def _refused(trials: Sequence[Trial], results: Sequence[Result]) -> list[Finding]:
    """Say what it doesn't take, with the first error."""
    pairs = [(t.words, r) for t, r in zip(trials, results, strict=True) if isinstance(r, Raised)]
    pairs = [(words, r) for words, r in pairs if words != "the gradient"]
    if not pairs:
        return []
    words, error = spoken([words for words, _ in pairs]), pairs[0][1]
    return [Finding(f"It doesn't take {words}. First: {error.kind}: {error.message[:100]}")]


def _rows(run: Run) -> list[str]:
    """Say what rows do to each other."""
    within = 1e-8 if run.unit < 2.0**-30 else 1e-4

    def call(x: Tensor) -> Tensor:
        value = run.call(x)
        return value if isinstance(value, Tensor) else torch.full_like(x, torch.nan)

    size = torch.Size(run.norm.shape).numel()
    return [] if run.norm.split else about_rows(call, run.main.x, size, within)


def _where(explained: Explained, trials: Sequence[Trial]) -> list[str]:
    """Say what it doesn't explain, and on which inputs it shows."""
    found = [
        f"On {trial.words}, this doesn't explain all that differs." for trial in explained.without
    ]
    return found


def _tried(trials: Sequence[Trial], modes: Sequence, norm: Norm) -> str:
    shapes = spoken([*dict.fromkeys(str(tuple(trial.x.shape)) for trial in trials)])
    eps = spoken([f"{each:g}" for each in sorted({trial.eps for trial in trials})])
    tried = (
        f"shapes {shapes}; spreads of 0, 1e-8, 1e-5, 0.003 and 1 to 3; means of 0, 100, and much "
        f"more; ε = {eps}; float64, float32, float16 and bfloat16; the gradient"
    )
    return f"{tried}; `eval` and `train`" if len(modes) > 1 else tried
