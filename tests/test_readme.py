"""The examples in the README run."""

import re
from pathlib import Path

import pytest

from lnorm_utils.explorers import Explorer

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_and_its_last_line_is_an_explorer(code):
    *before, last = code.rstrip().split("\n")
    names = {}
    exec("\n".join(before), names)
    explorer = eval(last, names)
    assert isinstance(explorer, Explorer)
    for preset in explorer.presets:
        explorer.chooser.value = preset
        assert explorer.presets[preset] == explorer.values
    explorer.close()


def test_the_own_explorer_of_the_readme_moves():
    names = {}
    exec(EXAMPLES[-1], names)
    explorer = names["explore_one_feature"]()
    explorer.controls["last"].value = 9
    assert explorer.words == "The last feature is 9, the mean is 4.00."
    assert explorer.moving[1].get_xdata() == [4.0]
    explorer.close()
