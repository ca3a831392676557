"""Time one change of each explorer in a kernel, against `interact` with a fresh figure.

`measure()` starts a kernel, runs this file's `PROGRAM` there, and returns its numbers.
"""

import json
from subprocess import DEVNULL

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

# What tutorials do: at each change, all of the figure anew. Four panels of two histograms.
FRESH_FIGURE = """
from lnorm_utils import layer_norm
from lnorm_utils.examples import dummy_points

def fresh_figure(difference):
    points = difference * dummy_points()
    figure, axes = plt.subplots(1, 4, figsize=(10, 3))
    for ax, before, after in zip(axes, points, layer_norm(points, 256)):
        ax.hist(before[0], bins=40)
        ax.hist(after[0], bins=40)
        ax.set_title(f"mean {before.mean():.2f}, variance {before.var():.2f}")
    plt.show()
"""
# Runs in the kernel, as a cell does, so that what a change sends is really sent.
PROGRAM = f"""
import json, time
from statistics import median
import ipywidgets, matplotlib.pyplot as plt
from IPython.display import display
from control_ends import ends, make_all

def seconds(change, values):
    change(values[-1])
    times = []
    for round in range(6):
        for value in values:
            start = time.perf_counter()
            change(value)
            times.append(time.perf_counter() - start)
    return median(times)

def shows(explorer, control):
    def change(value):
        setattr(explorer, control, value)
        explorer.send(dict(frames=explorer.frame()))
    return change

{FRESH_FIGURE}

times = dict()
slider = ipywidgets.FloatSlider(min=0, max=1)
display(ipywidgets.interactive(fresh_figure, difference=slider))
times["interact"] = seconds(lambda value: slider.set_trait("value", value), [0.1, 0.9])
for name, make in make_all().items():
    explorer = make()
    display(explorer)
    times[name] = max(
        seconds(shows(explorer, control), values) for control, values in ends(explorer).items()
    )
    explorer.close()
print("times", json.dumps(times))
"""


def measure(tests):
    """Return {name: seconds}: the slowest control of each explorer, and `interact`."""
    cells = [f"%matplotlib inline\nimport sys; sys.path.insert(0, {str(tests)!r})", PROGRAM]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    options = {"kernel_name": "python3", "timeout": 300, "shutdown_kernel": "immediate"}
    NotebookClient(notebook, **options).execute(stderr=DEVNULL)
    said = "".join(o.text for o in notebook.cells[1].outputs if o.get("name") == "stdout")
    return json.loads(said.split("times ", 1)[1])
