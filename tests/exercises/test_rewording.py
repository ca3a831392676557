"""Every sentence of models and banks can be reworded: the same mistakes are read, and found."""

import functools
import itertools
import re
from types import ModuleType

import torch.nn.functional as F
from exercise_banks import BANK, BY_NAME, ROOM
from student_answers import ANSWERS
from torch import nn

from lnorm_course.checking import bank
from lnorm_course.checking.bank import BankLoader
from lnorm_course.checking.feedback import State
from lnorm_course.exercises import Exercise
from lnorm_diagnose import diagnose
from lnorm_diagnose.diagnosing import likeness, reference
from lnorm_diagnose.fewest_slips import Mistake
from lnorm_diagnose.slips import models, notation
from lnorm_utils.data import normal

# Topics with a norm of words, images, RMSNorm, and a class.
JUDGED = ("standardize", "batch_norm", "rms_norm", "bugs")
MODELS = [each for each in vars(models).values() if isinstance(each, models.ErrorModel)]


def reword(monkeypatch):
    """Let texts be read with other words from now on, as long as a test runs."""
    told, count = notation.told, itertools.count()

    def other(words):
        option = told(words)
        if not option.why:
            return option
        names = re.findall(r"\{\w+\}", option.why)
        return option._replace(why=f"Zxq {next(count)} {' '.join(names)} zxq.")

    monkeypatch.setattr(notation, "told", other)
    monkeypatch.setattr(bank, "told", other)
    for model in MODELS:
        for name in ("_read", "_class"):
            monkeypatch.delitem(vars(model), name, raising=False)
    monkeypatch.setattr(reference, "_model", functools.cache(reference._model.__wrapped__))


def exercises(monkeypatch, topics):
    """Read the banks again; return their exercises by their names."""
    monkeypatch.setattr(Exercise, "bank", {})
    for topic in topics:
        path = ROOM / f"{topic}.txt"
        BankLoader(topic, str(path)).exec_module(ModuleType(topic))
    return {name: each for topic in topics for name, each in Exercise.bank[topic].items()}


def known(exercise):
    """Return all that an exercise knows, without its words."""
    distractors = [*exercise.template.distractors] if hasattr(exercise, "template") else []
    distractors += exercise.model.distractors if getattr(exercise, "by_steps", None) else []
    mistakes = getattr(exercise, "mistakes", getattr(exercise, "wrong", []))
    misconceptions = [each.misconceptions for each in mistakes]
    return [option._replace(why="", elsewhere="") for option in distractors], misconceptions


def found(exercise, feedback):
    """Return what feedback has found, without its words."""

    def identity(part):
        if not isinstance(part, Mistake):
            return part.step, part.gap, part.number
        lists = [getattr(exercise, name, []) for name in ("answers", "wrong", "mistakes")]
        return next((k, n) for k, each in enumerate(lists) for n, p in enumerate(each) if p is part)

    parts = [[identity(part) for part in each] for each in feedback.found]
    return feedback.state, [misconception.name for misconception in feedback.misconceptions], parts


# Layers that are wrong in one thing, two, a number, axes, and γ.
LAYERS = [
    (lambda x: (x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + 1e-5), None),
    (lambda x: F.layer_norm(x, x.shape[-1:], eps=0.0123), None),
    (lambda x: 0.7071 * F.layer_norm(x, x.shape[-1:]), None),
    (lambda x: F.group_norm(x.mT, 1).mT, None),
    (lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], 1 + weight, bias), None),
    (lambda x, weight: F.layer_norm(x, x.shape[-1:], weight), nn.RMSNorm(8)),
    (lambda x, weight, bias: weight * (F.layer_norm(x, x.shape[-1:], eps=1e-6) + bias), None),
]


def distractors_found(monkeypatch):
    """Return which distractors `diagnose` finds in the layers, without their words."""
    causes = []

    def seen(*arguments):
        causes.append(original(*arguments))
        return causes[-1]

    original = likeness.cause_of
    for room in ("layer", "arrays"):
        monkeypatch.setattr(f"lnorm_diagnose.diagnosing.{room}.cause_of", seen)
    for layer, like in LAYERS:
        diagnose(layer, like=like)
    x = 0.03 * normal(6, 8, seed=1)  # where no ε and a small one give the same numbers
    diagnose(x, F.layer_norm(x, (8,), eps=0.0))
    return [[[(p.step, p.gap, p.number) for p in parts] for parts in c.found] for c in causes]


def test_with_every_sentence_reworded_the_same_pieces_are_read_and_found(monkeypatch):
    with monkeypatch.context() as patched:
        in_layers = distractors_found(patched)
    assert all(in_layers)
    assert len(in_layers[-1]) > 1
    asked = {a.exercise: a for a in ANSWERS if a.state is State.WRONG}  # the last one of each
    wrong = {name: a for name, a in asked.items() if BY_NAME[name].topic in JUDGED}
    told = {name: found(BY_NAME[name], answer.judge()) for name, answer in wrong.items()}
    all_known = {name: known(each) for bank in BANK.values() for name, each in bank.items()}
    reword(monkeypatch)
    other = exercises(monkeypatch, BANK)
    assert {name: known(each) for name, each in other.items()} == all_known
    judged = {name: other[name].judge(answer.attempt()) for name, answer in wrong.items()}
    assert {name: found(other[name], feedback) for name, feedback in judged.items()} == told
    assert any("zxq" in feedback.message for feedback in judged.values())
    assert distractors_found(monkeypatch) == in_layers
