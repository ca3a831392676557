"""What the table of today's models shows."""

import re

import pytest
import torch
import torch.nn.functional as F

from lnorm_course.lessons.todays_models import MODELS, table


def test_the_table_has_a_row_for_each_model_with_a_link_to_the_line_of_its_block():
    rows = table(MODELS).data.splitlines()[2:]
    assert len(rows) == len(MODELS) == len({each.model for each in MODELS})
    for row, each in zip(rows, MODELS, strict=True):
        path = f"/models/{each.folder}/modeling_{each.folder}.py#L{each.line})"
        assert row.startswith(
            f"| [{each.model}](https://github.com/huggingface/transformers/blob/v5.24.0/"
        )
        assert path in row
        assert each.place in row


def test_a_place_is_a_formula_of_a_branch_its_norms_and_the_stream():
    for each in MODELS:
        steps = re.findall(r"norm|f(?=\()", each.place)
        assert steps.count("f") == 1
        assert len(steps) <= 3
        plain = {"norm": lambda x: x, "f": lambda x: 2 * x, "x": 1}
        assert eval(each.place, {}, plain) == 3


def test_with_all_heads_in_one_row_the_bound_of_a_score_is_that_of_a_head_times_the_heads():
    heads, size = 6, 16
    one_head = torch.zeros(heads, size).index_fill(0, torch.tensor([2]), 7.0)
    row = F.rms_norm(one_head.flatten(), (heads * size,)).reshape(heads, size)
    by_head = F.rms_norm(one_head, (size,))
    bound = size**0.5
    assert (by_head.square().sum(dim=-1) / size**0.5).max().item() == pytest.approx(bound)
    assert (row.square().sum(dim=-1) / size**0.5).max().item() == pytest.approx(heads * bound)
