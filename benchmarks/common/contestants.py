"""The widgets that `peers.py` compares, each used as an experienced user would use it."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.job import GENTLE, NAMES, Job

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Contestant:
    """One widget.

    Parameters
    ----------
    name : str
        The name in the tables and in `contest.js`.
    package : str
        The package that it needs in addition to this project.
    prepare, show : str
        The cell that imports and makes the data, and the cell that makes and shows the widget.
    counts : tuple of int
        The numbers of points to measure.
    rounds : int
        The number of rounds; more for contestants that are compared by ratios.
    jobs : tuple of str
        The jobs to measure.
    """

    name: str
    package: str
    prepare: str
    show: str
    counts: tuple[int, ...]
    rounds: int
    jobs: tuple[str, ...] = (GENTLE,)

    def cells(self, job: Job) -> list[str]:
        """Return the cells of a notebook with the points of a job."""
        return [f"count, name = {job.count}, {job.name!r}\n{self.prepare}", self.show]


COMMON = f"""import sys
sys.path.append({str(HERE.parents[1])!r})
import numpy as np
from benchmarks.common import job as jobs
job = jobs.Job(count, name)
"""

OURS = Contestant(
    "roofwidget",
    "roofwidget",
    COMMON
    + """import roofwidget as rw
rw.RooflineWidget  # loads lazily; load it here, as the other packages are
chips = [rw.Chip(name, {"bf16": peak}, {"HBM": slope})
         for name, (peak, slope) in zip(["moving", "a", "b", "c"], jobs.ROOFS)]
flops = job.rate * job.time
kernels = rw.Kernels([f"kernel {i}" for i in range(job.count)], flops, flops / job.ai, time=job.time)""",
    """w = rw.RooflineWidget(chips, kernels)
w.top = None
w""",
    (1_000, 10_000, 100_000),
    2,
    NAMES,
)

BARE = Contestant(
    "bare canvas",
    "anywidget",
    COMMON
    + f"""import anywidget, pathlib, traitlets
class Bare(anywidget.AnyWidget):
    _esm = pathlib.Path({str(HERE / "canvas.js")!r}).read_text(encoding="utf-8")
    points = traitlets.Bytes().tag(sync=True)
    roofs = traitlets.List().tag(sync=True)
    domain = traitlets.List().tag(sync=True)
points = np.concatenate([job.ai, job.rate]).tobytes()""",
    """w = Bare(points=points, roofs=[list(one) for one in jobs.ROOFS], domain=list(jobs.DOMAIN))
w""",
    (1_000, 10_000, 100_000),
    2,
    NAMES,
)

ALTAIR = Contestant(
    "altair",
    "altair",
    COMMON
    + """import altair as alt
alt.data_transformers.disable_max_rows()
alt.JupyterChart.enable_offline()
points = alt.Data(values=[{"x": x, "y": y} for x, y in zip(job.ai.tolist(), job.rate.tolist())])
def line(number):
    ai, rate = jobs.roof(*jobs.ROOFS[number])
    return [{"x": x, "y": y, "roof": number} for x, y in zip(ai.tolist(), rate.tolist())]
still = alt.Data(values=[one for number in (1, 2, 3) for one in line(number)])
moving = alt.Data(values=line(0))
slope = jobs.ROOFS[0][1]""",
    """exponent = alt.param(name="exponent", value=14.0, bind=alt.binding_range(min=13, max=17, step=0.001))
low, high = 10.0 ** np.array(jobs.DOMAIN[::2]), 10.0 ** np.array(jobs.DOMAIN[1::2])
x = alt.X("x:Q", scale=alt.Scale(type="log", domain=[low[0], high[0]], nice=False))
y = alt.Y("y:Q", scale=alt.Scale(type="log", domain=[low[1], high[1]], nice=False))
side = alt.condition(f"datum.x * {slope} >= pow(10, exponent)", alt.value("#d62728"), alt.value("#1f77b4"))
dots = alt.Chart(points).mark_circle(size=20, opacity=1).encode(x, y, color=side)
others = alt.Chart(still).mark_line(color="#888").encode(x, y, detail="roof:N")
roof = alt.Chart(moving).transform_calculate(y=f"min(datum.x * {slope}, pow(10, exponent))")
chart = (dots + others + roof.mark_line(color="#000", strokeWidth=3).encode(x, y)).add_params(exponent)
chart = chart.properties(width=800, height=450, padding={"left": 70, "top": 10, "right": 10, "bottom": 50},
                         autosize="none")
w = alt.JupyterChart(chart, embed_options={"renderer": "canvas", "actions": False})
w""",
    (1_000, 10_000),
    1,
)

BQPLOT = Contestant(
    "bqplot",
    "bqplot",
    COMMON
    + """import bqplot, ipywidgets
curves = [jobs.roof(*one) for one in jobs.ROOFS]""",
    """peak = ipywidgets.FloatSlider(value=14.3, min=13, max=17, step=jobs.STEP, readout=False)
x, y = bqplot.LogScale(min=10 ** jobs.DOMAIN[0], max=10 ** jobs.DOMAIN[1]), bqplot.LogScale(
    min=10 ** jobs.DOMAIN[2], max=10 ** jobs.DOMAIN[3])
scales = {"x": x, "y": y}
side = bqplot.ColorScale(min=0, max=1, colors=["#1f77b4", "#d62728"])
dots = bqplot.Scatter(x=job.ai, y=job.rate, color=np.array(job.sides(10 ** 14.3)), default_size=20,
                      scales={**scales, "color": side})
others = [bqplot.Lines(x=ai, y=rate, scales=scales, colors=["#888"]) for ai, rate in curves[1:]]
roof = bqplot.Lines(x=curves[0][0], y=jobs.roof(10 ** 14.3, jobs.ROOFS[0][1])[1], scales=scales, colors=["#000"])
axes = [bqplot.Axis(scale=x), bqplot.Axis(scale=y, side="left", orientation="vertical")]
figure = bqplot.Figure(marks=[dots, *others, roof], axes=axes, animation_duration=0)
figure.layout.width, figure.layout.height = "900px", "550px"
def move(change):
    value = 10 ** change.new
    roof.y = jobs.roof(value, jobs.ROOFS[0][1])[1]
    dots.color = np.array(job.sides(value))
peak.observe(move, "value")
w = ipywidgets.VBox([peak, figure])
w""",
    (1_000, 10_000),
    1,
)

PLOTLY = Contestant(
    "plotly",
    "plotly",
    COMMON
    + """import ipywidgets
import plotly.graph_objects as go
go.FigureWidget()
curves = [jobs.roof(*one) for one in jobs.ROOFS]
colours = np.array(["#1f77b4", "#d62728"])""",
    """peak = ipywidgets.FloatSlider(value=14.3, min=13, max=17, step=jobs.STEP, readout=False)
w = go.FigureWidget()
w.add_scatter(x=job.ai.tolist(), y=job.rate.tolist(), mode="markers",
              marker={"size": 5, "color": colours[job.sides(10 ** 14.3)].tolist()})
for ai, rate in curves[1:]:
    w.add_scatter(x=ai, y=rate, mode="lines", line={"color": "#888"})
ai, rate = jobs.roof(10 ** 14.3, jobs.ROOFS[0][1])
w.add_scatter(x=ai, y=rate, mode="lines", line={"color": "#000", "width": 3})
w.update_xaxes(type="log", range=jobs.DOMAIN[:2])
w.update_yaxes(type="log", range=jobs.DOMAIN[2:])
w.update_layout(width=900, height=550, showlegend=False)
def move(change):
    value = 10 ** change.new
    with w.batch_update():
        w.data[-1].y = jobs.roof(value, jobs.ROOFS[0][1])[1]
        w.data[0].marker.color = colours[job.sides(value)].tolist()
peak.observe(move, "value")
ipywidgets.VBox([peak, w])""",
    (1_000, 10_000),
    1,
)

ALL = (OURS, BARE, ALTAIR, BQPLOT, PLOTLY)


def require() -> None:
    """Exit with a message if the package of a peer is missing."""
    # altair needs vl-convert to draw without network access.
    packages = [*(one.package for one in ALL), "vl_convert"]
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f'not installed: {", ".join(missing)}; in the checkout: pip install ".[peers]"')
