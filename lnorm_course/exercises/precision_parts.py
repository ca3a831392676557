"""Outputs for testing `first_wrong` in the exercises on half precision."""

import torch

NAN, INF = float("nan"), float("inf")
OUTPUTS = {
    name: (
        {each: torch.tensor(numbers) for each, numbers in outputs.items()},
        {each: torch.tensor(numbers).double() for each, numbers in right.items()},
    )
    for name, outputs, right in [
        (
            "a variance that is wrong, and then NaN",
            {"center": [1.0, -1.0], "variance": [-4.0, 1.0], "divide": [NAN, -1.0]},
            {"center": [1.0, -1.0], "variance": [1.0, 1.0], "divide": [1.0, -1.0]},
        ),
        (
            "no NaN at all",
            {"embed": [2.0, 3.03], "positions": [4.0, 3.0], "norm": [-1.0, 1.0]},
            {"embed": [2.0, 3.0], "positions": [2.0, 3.0], "norm": [-1.0, 1.0]},
        ),
        (
            "a NaN in the first output",
            {"first": [NAN, 1.0], "second": [7.0, 1.0]},
            {"first": [1.0, 1.0], "second": [1.0, 1.0]},
        ),
        (
            "large numbers with a small error",
            {"scores": [500.0, 0.5], "exp": [INF, 0.0], "weights": [0.0, 0.0]},
            {"scores": [500.5, 0.1], "exp": [1e9, 0.0], "weights": [1.0, 0.0]},
        ),
        (
            "one wrong number among twelve",
            {"relu": [1.0] * 12, "narrow": [1.3] + [1.0] * 11},
            {"relu": [1.0] * 12, "narrow": [1.0] * 12},
        ),
        (
            "a number that is too small, and NaN later",
            {"relu": [1.0, 0.5], "narrow": [-9.0, 0.5], "norm": [NAN, NAN]},
            {"relu": [1.0, 0.5], "narrow": [1.0, 0.5], "norm": [1.0, -1.0]},
        ),
        (
            "outputs that are all fine",
            {"relu": [-9.3, 0.5], "narrow": [0.5, 0.05]},
            {"relu": [-10.0, 0.5], "narrow": [0.5, 0.01]},
        ),
        (
            "an error of 10 beside a number of 500, and then one of 0.5 among six of 1",
            {"scores": [-490.0, 1.0], "narrow": [1.5] + [1.0] * 5},
            {"scores": [-500.0, 1.0], "narrow": [1.0] * 6},
        ),
        ("wrong signs", {"relu": [1.0, -1.0]}, {"relu": [-1.0, 1.0]}),
        (
            "one wrong number among 31",
            {"relu": [500.0, 1.0], "narrow": [11.05] + [10.0] * 30},
            {"relu": [500.0, 1.0], "narrow": [10.0] * 31},
        ),
    ]
}
