"""Functions that return bqplot figures of a model, for dashboards. A figure is drawn again when its model changes.

Each figure is an ordinary `bqplot.Figure`. You can append your own marks to its ``marks``, set its ``layout``, or put
it into an ``HBox`` with other widgets. The figure follows its model until you close the figure. Closing a figure also
closes the marks, axes and scales that were created for it. A figure sets the limits of its scales. If you set a limit
of a scale, or if a user drags the axes, the figure no longer changes the limits of this scale.

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
