"""The model with its front end, as a Jupyter widget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anywidget
from IPython.display import display
from traitlets import HasTraits, Instance, Set, Unicode, default, observe

from roofwidget import bundle as delivery
from roofwidget.model import RooflineModel
from roofwidget.state.graph import is_same_grouping

__all__ = ["RooflineWidget"]

_PYTHONS_OWN = ("title", "chips", "kernels", "graphs", "launch_overhead", "baseline", "_code", "_css", "_esm")


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
    # Where the loader that is sent as the text finds the code.
    _code = Instance(delivery.FrontEnd, allow_none=True).tag(sync=True, to_json=delivery.reference)

    # What the front end was told of since it was opened.
    _told = Set()

    @default("_esm")
    def _default_esm(self) -> str:
        return delivery.first_script(self.locale)

    @default("_css")
    def _default_css(self) -> str:
        return delivery.first_style()

    @default("_code")
    def _default_code(self) -> delivery.FrontEnd | None:
        return delivery.front_end(self.locale)

    @observe("locale")
    def _redraw_in_the_language(self, _change: Any) -> None:
        # Views are drawn anew when the script is another, and then need the code that it is to find.
        with self.hold_sync():
            self._code = delivery.front_end(self.locale)
            self._esm = delivery.first_script(self.locale)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the front end sends, but for what Python owns; say what is in force where both may have spoken."""
        taken = {name: value for name, value in sync_data.items() if name not in _PYTHONS_OWN}
        # Columns of kernels that Python has replaced since the front end spoke must not undo the rest of its message.
        if isinstance(taken.get("columns"), list):
            taken["columns"] = [key for key in taken["columns"] if self._has_column(key)]
        if not self._has_column(taken.get("sort_by") or "name"):
            del taken["sort_by"]
        # What else a message holds is of the phase that it brings.
        super().set_state(dict(sorted(taken.items(), key=lambda entry: entry[0] != "phase")))
        # Had the two crossed, each side would keep the other's word. Where it has said more since, it waits for that.
        crossed = self._told & taken.keys()
        if crossed:
            self._send({"method": "echo_update", "state": self.get_state(crossed), "buffer_paths": []})

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
        if keys is not None:
            self._told |= keys
        super().send_state(keys)

    def __repr__(self) -> str:
        return RooflineModel.__repr__(self)

    def show(self) -> None:
        """Display the widget here."""
        display(self)  # type: ignore[no-untyped-call]
