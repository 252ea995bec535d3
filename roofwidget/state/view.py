"""Checks the zoom of the chart. A zoom applies to a plane: a view and the scale of its axes."""

from __future__ import annotations

from typing import TypeAlias

from traitlets import TraitError

Zoom: TypeAlias = tuple[float, float, float, float]
"""``(x_low, x_high, y_low, y_high)`` in base units."""
Plane: TypeAlias = tuple[str, str]
"""A view, and the scale of its axes."""


def plane_of(view: str, time_scale: str) -> Plane:
    """Return the plane that is shown. Only the time view can have linear axes. All other views have log axes."""
    return view, time_scale if view == "time" else "log"


def check_zoom(zoom: Zoom | None, plane: Plane) -> None:
    """Raise `TraitError` if the axes of the plane are logarithmic and a limit of the zoom is 0."""
    if zoom is not None and plane != ("time", "linear") and 0 in zoom:
        raise TraitError(f"zoom: {zoom} starts at 0, which logarithmic axes do not have")
