"""The model as a Jupyter widget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anywidget
from IPython.display import display
from traitlets import HasTraits, Instance, Set, Unicode, default, observe

from roofwidget import bundle
from roofwidget.model import RooflineModel
from roofwidget.state.filter_traits import has_column
from roofwidget.state.graph import has_same_groups
from roofwidget.state.trait_types import owned


class RooflineWidget(RooflineModel, anywidget.AnyWidget):
    """A live roofline in a notebook, which draws the state of a `RooflineModel`.

    Parameters
    ----------
    chips, kernels, **traits
        As for `RooflineModel`. The `layout` of ipywidgets is also accepted.

    Examples
    --------
    >>> widget = RooflineWidget(["v5p", "v6e"], [("matmul", 4.3e9, 1.2e7)])
    >>> widget
    RooflineWidget(TPU v5p, TPU v6e (Trillium); 1 kernels)
    """

    __module__ = "roofwidget"

    # The script as text, not as a path: with a path every closed widget would stay in memory.
    _esm = owned("python", Unicode())
    _css = owned("python", Unicode())
    # The shared model that contains the code of the front end. None if the widget itself sends the code.
    _code = owned("python", Instance(bundle.FrontEnd, allow_none=True), to_wire=bundle.reference)

    # The names of the traits that were sent to the front end since it was opened.
    _sent_since_open = Set()

    @default("_esm")
    def _default_esm(self) -> str:
        return bundle.first_script(self.locale)

    @default("_css")
    def _default_css(self) -> str:
        return bundle.first_style()

    @default("_code")
    def _default_code(self) -> bundle.FrontEnd | None:
        return bundle.front_end(self.locale)

    @observe("locale")
    def _redraw_in_the_language(self, _change: Any) -> None:
        # A new `_esm` makes the views draw again, and drawing needs the new `_code`. So one message contains `_code`
        # and `_esm`.
        with self.hold_sync():
            self._code = bundle.front_end(self.locale)
            self._esm = bundle.first_script(self.locale)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply a message from the front end, except to traits that Python owns."""
        state = {name: value for name, value in sync_data.items() if not self._is_python_owned(name)}
        # Python may have replaced the kernels since the message was sent. A column that only the old
        # kernels have is dropped: otherwise the whole message would be refused.
        if isinstance(state.get("columns"), list):
            state["columns"] = [key for key in state["columns"] if has_column(str(key), self.shown_kernels.extra)]
        if state.get("sort_by") and not has_column(str(state["sort_by"]).removeprefix("-"), self.shown_kernels.extra):
            del state["sort_by"]
        # The phase is set first, because the other values of the message belong to this phase.
        super().set_state(dict(sorted(state.items(), key=lambda entry: entry[0] != "phase")))
        # If both sides changed a trait at the same time, send Python's value again so that they converge.
        crossed = self._sent_since_open & state.keys()
        if crossed:
            self._send({"method": "echo_update", "state": self.get_state(crossed), "buffer_paths": []})

    def _is_python_owned(self, name: str) -> bool:
        return self.has_trait(name) and self.trait_metadata(name, "owner") == "python"

    def notify_change(self, change: Any) -> None:
        """Notify observers and the front end. If only the counts of a partition change, notify observers alone."""
        if change["name"] == "partition" and has_same_groups(change["old"], change["new"]):
            HasTraits.notify_change(self, change)
        else:
            super().notify_change(change)

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """Send some traits, or all traits. New kernels are sent together with `baseline`."""
        keys = None if key is None else {key} if isinstance(key, str) else set(key)
        if keys is not None and "kernels" in keys and self.baseline is not None:
            keys.add("baseline")
        if keys is not None:
            self._sent_since_open |= keys
        super().send_state(keys)

    def __repr__(self) -> str:
        return RooflineModel.__repr__(self)

    def show(self) -> None:
        """Display the widget here."""
        display(self)  # type: ignore[no-untyped-call]


def roofline(chips: Any = None, kernels: Any = None, **traits: Any) -> RooflineWidget:
    """Return a widget that shows these kernels on these chips.

    Parameters
    ----------
    chips
        A `Preset`, or a list of `Chip` objects and names of catalogue chips.
    kernels
        `Kernels`, a list of `Kernel` objects, tuples or dicts, or a data frame.
    **traits
        Any trait of `RooflineModel`.

    Examples
    --------
    >>> import roofwidget as rw
    >>> rw.roofline(chips=["v5p", "v6e"], kernels=[("matmul", 4.3e9, 1.2e7)])
    RooflineWidget(TPU v5p, TPU v6e (Trillium); 1 kernels)
    """
    return RooflineWidget(chips, kernels, **traits)
