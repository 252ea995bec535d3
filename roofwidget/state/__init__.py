"""Functions that check new values of the model's traits, and compute the traits that depend on other traits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roofwidget.support.late import late

if not TYPE_CHECKING:
    __getattr__ = late(__name__, "snapshots")
