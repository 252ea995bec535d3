"""bqplot figures that follow a model, for dashboards built from bqplot parts.

Each figure is an ordinary `bqplot.Figure`: append your own marks to its ``marks``, set its ``layout``, or put it into
an ``HBox`` with other widgets. The figure updates with its model until you close it. Closing it also closes its own
marks, axes and scales. The figure no longer changes a scale limit that you set or that a user drags.

>>> import roofwidget as rw
>>> figure = rw.companions.roofline_figure(rw.RooflineModel(["v5p"]))
>>> figure.close()
"""

from __future__ import annotations

from roofwidget.companions.histories import ridge_history
from roofwidget.companions.rooflines import roofline_figure
from roofwidget.companions.speeds import speed_map
from roofwidget.companions.sweeps import size_sweep
from roofwidget.companions.times import time_bars

__all__ = ["ridge_history", "roofline_figure", "size_sweep", "speed_map", "time_bars"]
