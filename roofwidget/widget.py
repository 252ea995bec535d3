"""The model with its front end, as a Jupyter widget."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anywidget
from IPython.display import display
from traitlets import HasTraits, Unicode, default

from roofwidget.model import RooflineModel
from roofwidget.workload import is_same_grouping

__all__ = ["RooflineWidget"]

_STATIC = Path(__file__).parent / "static"
_PYTHONS_OWN = ("title", "chips", "kernels", "graphs", "launch_overhead", "baseline")


class RooflineWidget(RooflineModel, anywidget.AnyWidget):
    """A live roofline in a notebook: the state of `RooflineModel`, drawn.

    Parameters
    ----------
    chips, kernels, **traits
        As for `RooflineModel`, and `layout` of ipywidgets.

    Examples
    --------
    >>> widget = RooflineWidget(["v5p", "v6e"], [("matmul", 4.3e9, 1.2e7)])
    >>> widget
    RooflineWidget(TPU v5p, TPU v6e (Trillium); 1 kernels)
    """

    # The text, not the path: a path keeps every closed widget alive.
    _esm = Unicode().tag(sync=True)
    _css = Unicode().tag(sync=True)

    @default("_esm")
    def _default_esm(self) -> str:
        return _built("widget.js")

    @default("_css")
    def _default_css(self) -> str:
        return _built("widget.css")

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the front end sends, but for what Python owns."""
        taken = {name: value for name, value in sync_data.items() if name not in _PYTHONS_OWN}
        # What else a message holds is of the phase that it brings.
        super().set_state(dict(sorted(taken.items(), key=lambda entry: entry[0] != "phase")))

    def notify_change(self, change: Any) -> None:
        """Tell the front end and observers of a change; of groups that only count anew, observers alone."""
        if change["name"] == "partition" and is_same_grouping(change["old"], change["new"]):
            HasTraits.notify_change(self, change)
        else:
            super().notify_change(change)

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """Send some traits, or all; with new kernels how an earlier run compares with them."""
        keys = None if key is None else {key} if isinstance(key, str) else set(key)
        if keys is not None and "kernels" in keys and self.baseline is not None:
            keys.add("baseline")
        super().send_state(keys)

    def __repr__(self) -> str:
        return RooflineModel.__repr__(self)

    def show(self) -> None:
        """Display the widget here."""
        display(self)  # type: ignore[no-untyped-call]


def _built(name: str) -> str:
    try:
        return (_STATIC / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        msg = f"the front end is not built: {name} is missing; run 'make build', or 'npm run build' in js/"
        raise FileNotFoundError(msg) from None
