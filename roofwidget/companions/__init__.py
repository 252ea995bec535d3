"""bqplot figures that follow a model, for dashboards that are built of bqplot parts.

Each is an ordinary `bqplot.Figure`: append marks of your own to its ``marks``, set its ``layout``, put it beside other
widgets in an ``HBox``. It follows its model until it is closed, and closing it closes the marks, axes and scales that
it came with. A limit of a scale that you set, or that somebody drags, stays.

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
