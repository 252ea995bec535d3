"""Functions that check new values of the model's traits, and compute the traits that depend on other traits."""

from __future__ import annotations

from roofwidget.support.late import late

__getattr__ = late(__name__, "snapshots")
