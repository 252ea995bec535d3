"""The zoom, and the plane: the pair of axes that the zoom applies to."""

from __future__ import annotations

from typing import TypeAlias

from traitlets import TraitError

Zoom: TypeAlias = tuple[float, float, float, float]
"""``(x_low, x_high, y_low, y_high)`` in base units."""
Plane: TypeAlias = tuple[str, str]
"""A view, and the scale of its axes."""


def plane_of(view: str, time_scale: str) -> Plane:
    """Return the plane that is shown. Only the time view has a choice of scales."""
    return view, time_scale if view == "time" else "log"


def check_zoom(zoom: Zoom | None, plane: Plane) -> None:
    """Raise `TraitError` for a zoom that starts at 0 on logarithmic axes."""
    if zoom is not None and plane != ("time", "linear") and 0 in zoom:
        raise TraitError(f"zoom: {zoom} starts at 0, which logarithmic axes do not have")
