"""Diagnose a layer: run it beside its norm, explain what differs, and say where."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lnorm_course.checking.search import Raised
from lnorm_course.diagnose.explaining import APART, DOUBLE, SINGLE, Explained, Result, Search
from lnorm_course.diagnose.findings import compare_as_held, findings, times_right
from lnorm_course.diagnose.likeness import law, likeness
from lnorm_course.diagnose.norms import Norm, norm_like
from lnorm_course.diagnose.report import Diagnosis, Verdict, diagnosis
from lnorm_course.diagnose.rows import NOTHING_AVERAGED, about_rows
from lnorm_course.diagnose.run import Finding, Run, is_whole
from lnorm_course.diagnose.subject import Subject, shape_of
from lnorm_course.diagnose.trials import OVERFLOW, Trial, parameter, shapes_for, trials_for, typical
from lnorm_utils.words import capitalized, spoken

__all__ = ["diagnose_layer"]

SIZES = [(n,) for n in (8, 4, 16, 3, 6, 32, 64, 128, 256, 512, 768, 1024, 10, 2, 5)]
OTHER_SHAPE = "another shape"
FAR = {DOUBLE: 1e7, SINGLE: 4096.0}  # means at which E[x²] − E[x]² has no digit left
WIDTHS = (7, 64, 96, 768)  # one of them a power of 2, as the usual 8 is
KINDS = "spreads of 0, 1e-8, 1e-5, 0.003 and 1 to 3; means of 0, 100, and much more"
DTYPES = "float64, float32, float16 and bfloat16; the gradient"


def diagnose_layer(
    layer: Any,
    like: Any = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float | None = None,
    shape: tuple[int, ...] | None = None,
) -> Diagnosis:
    """Return what tells a layer from its norm; the arguments are those of `diagnose`."""
    norm = Norm((), 1e-5 if eps is None else eps) if like is None else norm_like(like, eps)
    subject = Subject(layer)
    known = shape or norm.shape or shape_of(layer)
    sizes = [known] if known else SIZES

    def prepared(is_images: bool) -> tuple[int, Run, list[Trial]]:
        """Return it with the first size that it takes (2), or else that gives anything (1)."""
        subject.channels_first = is_images
        ranks: list[tuple[int, Run, list[Trial]]] = []
        for size in sizes:
            mine = replace(norm, shape=size, is_channels_first=is_images)
            run, trials = _prepared(subject, mine, weight, bias, () if known else WIDTHS)
            value = run.call(run.main.x)
            ranks.append((isinstance(value, Tensor) + is_whole(value, run.main.x), run, trials))
            if ranks[-1][0] == 2:
                break
        return max(ranks, key=lambda rank: rank[0])

    rank, run, trials = prepared(False)
    found = _judged(run, trials) if rank == 2 else None
    if len(run.norm.shape) == 1 and (not found or (run.main.x.ndim == 2 and not found.slips)):
        # Perhaps its features are axis 1, which a table of rows doesn't tell.
        sizes = [run.norm.shape] if found else sizes
        images = prepared(True)
        if images[0] == 2:
            return _judged(*images[1:])
        subject.channels_first = False
    return found or (_judged(run, trials) if rank else _fails(run, trials))


def _prepared(
    subject: Subject, norm: Norm, weight: Any, bias: Any, widths: Sequence[int]
) -> tuple[Run, list[Trial]]:
    """Choose γ and β, and the shapes that go in, those that it takes first."""
    chosen: list[Tensor | None] = []
    for seed, role, given in ((3, "weight", weight), (4, "bias", bias)):
        own = getattr(norm.module, role, None) if given is None else given
        if given is None and (subject.has(role) or (subject.is_module and own is not None)):
            chosen.append(parameter(norm.shape, seed))
        else:
            chosen.append(None if own is None else own.detach().double())
    g, b = chosen
    if g is None and b is not None:
        g = torch.ones_like(b)
    subject.axes = len(norm.shape)
    is_given = weight is not None or bias is not None
    run = Run(subject, norm, Trial("", torch.zeros(0), norm.eps, g, b), is_given=is_given)
    taken = {shape: is_whole(run.call(x := typical(shape)), x) for shape in shapes_for(norm)}
    shapes = sorted(taken, key=lambda shape: not taken[shape])
    run = replace(run, main=replace(run.main, x=typical(shapes[0]))).with_unit()
    probe, tiny = replace(run, subject=subject.fresh()), replace(run.main, x=1e-5 * run.main.x)
    probe.subject.find_eps(norm.eps)
    if not _equal(probe.result(tiny), probe.result(replace(tiny, eps=2 * norm.eps))):
        subject.own_eps = probe.subject.own_eps  # which it really uses
    takes_eps = bool(subject.own_eps) or "eps" in subject.takes
    widths = () if norm.is_channels_first else widths
    trials = trials_for(norm, shapes, g, b, takes_eps, widths, FAR[run.unit])
    return replace(run, main=trials[-1]), trials


def _fails(run: Run, trials: list[Trial]) -> Diagnosis:
    """Say why a layer fails on every input, or name the slip that makes it fail."""
    results = [run.result(trial) for trial in trials]
    explained = Search(run.norm, trials).explain(results, _source(run), must_run=True)
    error: Any = results[-1]
    fails = f"for {tuple(run.main.x.shape)} it raises {error.kind}: {error.message}"
    if explained.words:
        words = f"{explained.words} So {fails}"
        return diagnosis(Verdict.KNOWN, words, explained.slips)
    words = (
        f"{capitalized(fails)}. With `shape=` you can say which sizes γ has, such as `shape=768`."
    )
    return diagnosis(Verdict.NOT_JUDGED, words)


def _judged(run: Run, trials: list[Trial]) -> Diagnosis:
    """Judge a layer that takes inputs, a module in both modes."""
    runs = [replace(run, mode=mode) for mode in (False, True)[: 1 + run.subject.is_module]]
    for each in runs:
        if said := _changes(each):
            return said
    results = [_results(each, trials) for each in runs]
    if len(runs) > 1 and all(map(_equal, *results)):
        runs = runs[:1]
    search = Search(run.norm, trials, run.unit)
    judged = [
        (each, *_explained(each, search, mine)) for each, mine in zip(runs, results, strict=False)
    ]
    # In `train` a batch norm shows what it is; in `eval` it hardly does anything when it's new.
    judged.sort(key=lambda j: (not j[1].words, j[1].is_right, not j[0].mode))
    (run, explained, looks), *others = judged
    notes = []
    if len(judged) == 1:
        explained, remark, note = compare_as_held(run, trials, explained)
        notes += [Finding(note)] if note else []
    else:
        remark = ""
    # Where the first is right, so are the others.
    for other, about, _ in () if explained.is_right else others:
        mode, worse = ("train", "eval") if other.mode else ("eval", "train")
        words = about.words or " ".join(_rows(other)) or "cause unknown."
        is_one = f"It is wrong only in `{worse}`."
        notes.append(Finding(is_one if about.is_right else f"In `{mode}`: {words}"))
    return _report(run, explained, looks, trials, [*notes, *_refused(trials, results[0])], remark)


def _results(run: Run, trials: Sequence[Trial]) -> list[Result]:
    """Return what comes out; an axis more for some shapes, if others are kept, is an error."""
    results = [run.result(trial) for trial in trials]
    keeps = getattr(results[-1], "shape", None) == run.main.x.shape
    for n, (trial, value) in enumerate(zip(trials, results, strict=True)):
        is_other = isinstance(value, Tensor) and value.shape != trial.x.shape
        if keeps and is_other and trial.kind == "shape":
            results[n] = Raised(OTHER_SHAPE, str(tuple(value.shape)))  # type: ignore[union-attr]
    return results


def _changes(run: Run) -> Diagnosis | None:
    """Say if it gives other numbers for the same input, and why."""
    x, values, fresh = run.main.x, [], replace(run, subject=run.subject.fresh())
    with torch.random.fork_rng():
        for seed in (1, 2, 0, 0):
            torch.manual_seed(seed)
            values.append(run.call(x))
        other = fresh.call(typical(x.shape, 71))
        after_other = fresh.call(x)
    kept = [f"`{name}`" for name in (*run.subject.kept(), *fresh.subject.kept())]
    where = f" in `{'train' if run.mode else 'eval'}`" * run.subject.is_module
    if isinstance(other, Tensor) and _equal(values[0], other):
        words = "what comes out doesn't depend on what goes in"
        words = words if other.isfinite().any() else "nothing finite comes out"
        return diagnosis(Verdict.KNOWN, f"{words}.", (words,))
    if _equal(*values[:2]):
        if _equal(values[0], after_other):
            return None
        what = spoken(kept) if kept else "something"
        slip = f"it keeps {what} from an earlier input"
        words = f"{slip}{where}, and gives other numbers for the next one because of that."
        return diagnosis(Verdict.KNOWN, f"{words} {run.norm.name} keeps nothing.", (slip,))
    said = f"It gives other numbers for the same input{where}"
    if kept:
        slip = f"each call changes {spoken(kept)}"
        words = f"{said}, because {slip}. {run.norm.name} keeps nothing."
        return diagnosis(Verdict.KNOWN, words, (slip,))
    why = "so something in it is random, such as dropout"
    why = why if _equal(*values[2:]) else "so it's random, or something is kept from call to call"
    return diagnosis(Verdict.NOT_JUDGED, f"{said}, {why}.")


def _equal(one: Result, other: Result) -> bool:
    if isinstance(one, Raised) or isinstance(other, Raised):
        return type(one) is type(other) and one == other
    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())


def _explained(run: Run, search: Search, results: list[Result]) -> tuple[Explained, str]:
    """Explain what comes out; say what it looks like if nothing explains it."""
    # What refuses a width is made for certain ones, and what has no gradient is right without.
    trials, last = search.trials, len(search.trials) - 1
    fails = {t.kind for t, r in zip(trials, results, strict=True) if isinstance(r, Raised)}
    fails &= {"width", "gradient"}
    counted = [None if t.kind in fails else r for t, r in zip(trials, results, strict=True)]
    kinds = ("main",) if run.is_still else ("main", "flat")
    some = [n for n, trial in enumerate(trials) if trial.kind in kinds]
    half = Search(run.norm, [trials[n] for n in some], torch.finfo(torch.bfloat16).eps / 2)
    is_half = all(half.is_right(results[n], at) for at, n in enumerate(some))
    is_half = is_half and not search.is_right(results[last], last)
    slip = "it's right to fewer digits than float32 has, as where something is rounded, or only "
    slip += "approximated"
    rounded = Explained(False, f"{capitalized(slip)}.", (slip,), [run.main])
    if is_half and run.is_still:
        return rounded, ""
    is_row = run.main.x.shape == torch.Size(run.norm.shape)
    found = search.explain(counted, _source(run), must_run=is_row)
    if found.is_right or found.words:
        return found, ""
    if words := law(search, counted):
        return found._replace(words=words, slips=(words.partition(". ")[0],)), ""
    if is_half:
        return rounded, ""
    if run.main in found.wrong:
        return found, likeness(search, results)
    wrong = [trial for trial in found.wrong if trial.kind not in APART]
    if [trial.kind for trial in wrong] == ["gradient"]:
        n = trials.index(wrong[0])
        slip = f"the gradient of x is {times_right(results[n], search.answers[n])}"  # type: ignore[arg-type]
        words = f"{capitalized(slip)}, while its numbers are right."
        return found._replace(words=words, slips=(slip,)), ""
    where = spoken([trial.words for trial in wrong])
    if {trial.kind for trial in wrong} <= {"shape", "width"}:
        slip = f"it's wrong on {where}"
        words = f"{slip}, and on nothing else that was tried. {_example(run, wrong)}"
        return found._replace(words=capitalized(words).strip(), slips=(slip,)), ""
    return found, f"It differs on {where}, and on nothing else that was tried."


def _example(run: Run, wrong: Sequence[Trial]) -> str:
    """Say what is wrong with the smallest of some inputs, if that can be said."""
    for trial in sorted(wrong, key=lambda trial: trial.x.numel()):
        if trial.x.is_contiguous():  # changing a row would make any other one contiguous
            norm = replace(run.norm, shape=trial.x.shape[-len(run.norm.shape) :])
            mine = replace(run, main=replace(trial, kind="main"), norm=norm)
            search = Search(norm, [mine.main], run.unit, is_quick=True)
            results = [mine.result(trial)]
            words = law(search, results) or search.explain(results, "").words
            words = words or " ".join(_rows(mine))
            return f"On {trial.words}: {words}" if words else ""
    return ""


def _apart(explained: Explained) -> list[Finding]:
    """Return what the trials say that are apart: what is wrong far from zero, or in a dtype."""
    kinds = {trial.kind: trial.words for trial in explained.without}
    if "far" in kinds:
        slip = "digits are lost when the mean is large, as E[x²] − E[x]² loses them"
        return [Finding(f"{capitalized(slip)}: it's wrong on {kinds['far']}.", slip)]
    if dtypes := [t.words for t in explained.without if t.kind == "dtype" and explained.is_right]:
        if dtypes == [OVERFLOW]:  # many right layers are written for float32 alone
            return [Finding(f"In {OVERFLOW} a square is too large. Compute in float32 there.")]
        slip = f"in {spoken(dtypes)} it's off by more than rounding explains"
        words = f"{capitalized(slip)}. In float64 no difference was found."
        return [Finding(words, slip, is_minor=True)]
    return []


def _source(run: Run) -> str:
    layer = run.subject.layer
    try:
        return inspect.getsource(layer if inspect.isroutine(layer) else type(layer))
    except (OSError, TypeError):
        return ""


def _refused(trials: Sequence[Trial], results: Sequence[Result]) -> list[Finding]:
    """Say what it doesn't take, with the first error, and for what another shape comes out."""
    pairs = [(t, r) for t, r in zip(trials, results, strict=True) if isinstance(r, Raised)]
    pairs = [(trial, error) for trial, error in pairs if trial.kind != "gradient"]
    found = []
    if others := [f"{e.message} for {t.words}" for t, e in pairs if e.kind == OTHER_SHAPE]:
        slip = f"it returns shape {spoken(others)}"
        found.append(Finding(f"{capitalized(slip)}.", slip))
    if fails := [(trial, error) for trial, error in pairs if error.kind != OTHER_SHAPE]:
        words, (_, error) = spoken([trial.words for trial, _ in fails]), fails[0]
        first = f"First: {error.kind}: {error.message[:100]}"
        found.append(Finding(f"It doesn't take {words}. {first}"))
    return found


def _rows(run: Run) -> list[str]:
    """Say what rows do to each other, and features."""

    def call(x: Tensor) -> Tensor:
        value = run.call(x)
        return value.double() if isinstance(value, Tensor) else torch.full_like(x, torch.nan)

    size = torch.Size(run.norm.shape).numel()
    found = about_rows(call, run.main.x, size, 1e-8 if run.unit == DOUBLE else 1e-4)
    if found == [NOTHING_AVERAGED] and not run.mode and run.subject.kept():
        kept = spoken([f"`{name}`" for name in run.subject.kept()])
        found.append(f"It uses {kept}, which calls in `train` change, as batch norm does.")
    return found


def _report(
    run: Run,
    explained: Explained,
    looks: str,
    trials: Sequence[Trial],
    notes: Sequence[Finding],
    remark: str,
) -> Diagnosis:
    """Say what was found."""
    found = [*notes]
    if run.norm.is_channels_first:
        found.append(Finding("Its features are axis 1, as in images, and it was judged like that."))
    if run.unit == SINGLE and explained.is_right:
        found.append(Finding("It computes in float32, also if float64 comes in."))
    found += _apart(explained)
    found += findings(run, explained, bool(explained.found or not explained.wrong))
    causes = _rows(run) if not (explained.words or explained.is_right) else []
    found += [Finding(words, words.removesuffix(".")) for words in causes]
    is_known = bool(explained.is_right or explained.words or causes)
    if explained.words or any(each.slip and not each.is_minor for each in found):
        found = [each._replace(slip="") if each.is_minor else each for each in found]
    rest = [trial.words for trial in explained.without if trial.kind not in APART]
    places = [f"It doesn't explain all that differs on {spoken(rest)}."] if rest else []
    places += [each.words for each in found if not (each.slip and is_known)]
    slips = [each for each in found if each.slip and is_known]
    shapes = spoken([*dict.fromkeys(str(tuple(trial.x.shape)) for trial in trials)])
    eps = spoken([f"{each:g}" for each in sorted({trial.eps for trial in trials})])
    tried = f"shapes {shapes}; {KINDS}; ε = {eps}; {DTYPES}"
    tried += "; `eval` and `train`" * run.subject.is_module
    words = " ".join([explained.words, *(each.words for each in slips)]).strip()
    if words:
        clauses = (*explained.slips, *(each.slip for each in slips))
        return diagnosis(Verdict.KNOWN, words, clauses, places, tried)
    if explained.is_right:
        words = f"from {run.norm.in_words} in what was tried, up to rounding.{remark}"
        return diagnosis(Verdict.NO_DIFFERENCE, words, (), places, tried)
    tried += "; all slips, and pairs of them, but no two rare ones of the normalization"
    return diagnosis(Verdict.UNKNOWN, looks, (), places, tried)
