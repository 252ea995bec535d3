"""How the chart is looked at: which plane, which part of it, in which units and how large."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from traitlets import Bool, CaselessStrEnum, Enum, HasTraits, TraitError, TraitType, observe, validate

__all__ = ["Viewing", "ZoomTrait"]

_CORNERS: Final = 4
_ZOOM = "(x_low, x_high, y_low, y_high), each pair of finite numbers rising, above 0 on logarithmic axes; or None"


class ZoomTrait(TraitType["tuple[float, float, float, float] | None", Any]):
    """The part of the plane that is shown, or None for all that there is; kept as a tuple of four floats."""

    info_text = _ZOOM
    allow_none = True

    def validate(self, obj: Any, value: Any) -> tuple[float, float, float, float] | None:
        if value is None:
            return None
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != _CORNERS:
            self.error(obj, value)
        try:
            x_low, x_high, y_low, y_high = (float(corner) for corner in value)
        except (TypeError, ValueError):
            self.error(obj, value)
        finite = all(map(math.isfinite, (x_low, x_high, y_low, y_high)))
        if not finite or not 0 <= x_low < x_high or not 0 <= y_low < y_high:
            self.error(obj, value)
        return x_low, x_high, y_low, y_high


class Viewing(HasTraits):
    """What `RooflineModel` holds of how it is looked at."""

    view = Enum(
        ("roofline", "time"),
        default_value="roofline",
        help="'roofline': rate against intensity; 'time': memory time against compute time, a launch. Shared.",
    ).tag(sync=True, echo_update=False)
    zoom = ZoomTrait(
        None,
        help="The part of the plane that is shown, (x_low, x_high, y_low, y_high) in FLOP/B and FLOP/s, in the time "
        "view in seconds; None for all that there is, as it is again with another view. Shared.",
    ).tag(sync=True, echo_update=False)
    rate_unit = CaselessStrEnum(
        ("FLOP/s", "FLOP/cycle"),
        default_value="FLOP/s",
        help="Unit of the vertical axis; per cycle of the focus chip's clock, where it is known. Shared.",
    ).tag(sync=True, echo_update=False)
    word = Enum(
        (0, 2, 4, 8),
        default_value=0,
        help="Bytes of a word that intensity and bandwidth are counted in on the axes; 0 for bytes. Shared.",
    ).tag(sync=True, echo_update=False)
    x_axis = Enum(
        ("intensity", "balance"),
        default_value="intensity",
        help="What the horizontal axis says: 'intensity', FLOP/B, or its inverse 'balance', B/FLOP. Shared.",
    ).tag(sync=True, echo_update=False)
    tick_base = Enum((10, 2), default_value=10, help="Ticks stand at powers of ten, or of two. Shared.").tag(
        sync=True, echo_update=False
    )
    time_scale = Enum(
        ("log", "linear"),
        default_value="log",
        help="The axes of the time view; linear ones begin at 0, and a second is as long across as up. Shared.",
    ).tag(sync=True, echo_update=False)
    presentation = Bool(default_value=False, help="Everything 1.6 times as big, for a projector. Shared.").tag(
        sync=True, echo_update=False
    )
    rulers = Bool(default_value=True, help="A line at the pointer shows what each roof allows there. Shared.").tag(
        sync=True, echo_update=False
    )

    # What the zoom is a part of.
    _zoomed: tuple[str, str] = ("roofline", "log")

    @property
    def _plane(self) -> tuple[str, str]:
        return self.view, self.time_scale if self.view == "time" else "log"

    @validate("zoom")
    def _check_zoom(self, proposal: Any) -> tuple[float, float, float, float] | None:
        zoom: tuple[float, float, float, float] | None = proposal["value"]
        if zoom is not None and self._plane != ("time", "linear") and 0 in zoom:
            msg = f"zoom: {zoom} starts at 0, which logarithmic axes do not have"
            raise TraitError(msg)
        self._zoomed = self._plane
        return zoom

    @observe("view", "time_scale")
    def _fit_other_plane(self, _change: Any) -> None:
        # One message may bring both: then the zoom is of the plane that came with it.
        if self._zoomed != self._plane:
            self.zoom = None
