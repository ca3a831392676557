"""Two of the trainings that `explore_rings` plays, trained again."""

import base64

import numpy as np
import pytest
from rings import trained

from lnorm_course.explorers.rings import RUNS


# Neither jumps, so what another machine rounds differently stays small.
@pytest.mark.parametrize("name", ["plain", "times 2, forward only"])
def test_a_recorded_training_is_what_training_gives(name):
    kept, again = RUNS[name], trained(name)
    for key in ("loss", "apart", "range", "maps"):
        np.testing.assert_allclose(again[key], kept[key], rtol=0.01)
    for key in ("p", "says", "along"):
        content = kept[key].encode() if key == "p" else base64.b64decode(kept[key])
        recorded = np.frombuffer(content, again[key][0].numpy().dtype)
        new = np.stack(again[key]).ravel()
        assert abs(new.astype(int) - recorded).max() <= 2


def test_other_networks_would_not_pass_for_these():
    plain, forward = (RUNS[name] for name in ("plain", "times 2, forward only"))
    assert abs(plain["loss"][-1] - forward["loss"][-1]) > 0.5
