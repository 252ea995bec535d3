"""`RooflineWidget`: the `RooflineModel` as a Jupyter widget."""

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
    """A Jupyter widget that draws the state of a `RooflineModel` and lets users change the state.

    Parameters
    ----------
    chips, kernels, **traits
        The same as for `RooflineModel`. ``layout``, a trait of all ipywidgets, is also accepted.

    Examples
    --------
    >>> widget = RooflineWidget(["v5p", "v6e"], [("matmul", 4.3e9, 1.2e7)])
    >>> widget
    RooflineWidget(TPU v5p, TPU v6e (Trillium); 1 kernels)
    """

    __module__ = "roofwidget"

    # The text of the script. anywidget also accepts a path, but with a path every closed widget would stay in memory.
    _esm = owned("python", Unicode())
    _css = owned("python", Unicode())
    # The shared model that contains the code of the front end, or None if this widget sends the code itself.
    _code = owned("python", Instance(bundle.FrontEnd, allow_none=True), to_wire=bundle.reference)

    # The names of the traits that Python has sent to the front end since the widget was opened.
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
        # When `_esm` changes, the front end draws the widget again with the code in `_code`. So `_code` and `_esm` are
        # sent in one message.
        with self.hold_sync():
            self._code = bundle.front_end(self.locale)
            self._esm = bundle.first_script(self.locale)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Set the traits that a message from the front end contains. Traits that only Python may change are ignored."""
        state = {name: value for name, value in sync_data.items() if not self._is_python_owned(name)}
        # Python may have replaced the kernels after the front end sent the message. Remove each column that only the
        # old kernels have. Otherwise Python would refuse all of the message.
        if isinstance(state.get("columns"), list):
            state["columns"] = [key for key in state["columns"] if has_column(str(key), self.shown_kernels.extra)]
        if state.get("sort_by") and not has_column(str(state["sort_by"]).removeprefix("-"), self.shown_kernels.extra):
            del state["sort_by"]
        # The phase is set first, because the other values of the message belong to this phase.
        super().set_state(dict(sorted(state.items(), key=lambda entry: entry[0] != "phase")))
        # Python has sent these traits too. If Python and the front end changed a trait at the same time, their values
        # may differ now. So send Python's value again.
        crossed = self._sent_since_open & state.keys()
        if crossed:
            self._send({"method": "echo_update", "state": self.get_state(crossed), "buffer_paths": []})

    def _is_python_owned(self, name: str) -> bool:
        return self.has_trait(name) and self.trait_metadata(name, "owner") == "python"

    def notify_change(self, change: Any) -> None:
        """Notify observers in Python and the front end that a trait has changed.

        If a new partition has the same groups as the old partition, only observers in Python are notified.
        """
        if change["name"] == "partition" and has_same_groups(change["old"], change["new"]):
            HasTraits.notify_change(self, change)
        else:
            super().notify_change(change)

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """Send one trait, several traits or, without `key`, all traits to the front end.

        `baseline` is sent with a comparison with `kernels`. So `baseline` is sent whenever `kernels` is sent.
        """
        keys = None if key is None else {key} if isinstance(key, str) else set(key)
        if keys is not None and "kernels" in keys and self.baseline is not None:
            keys.add("baseline")
        if keys is not None:
            self._sent_since_open |= keys
        super().send_state(keys)

    def __repr__(self) -> str:
        return RooflineModel.__repr__(self)

    def show(self) -> None:
        """Display the widget in the output of the current notebook cell."""
        display(self)  # type: ignore[no-untyped-call]


def roofline(chips: Any = None, kernels: Any = None, **traits: Any) -> RooflineWidget:
    """Return a `RooflineWidget` that shows kernels on chips. The defaults are the same as for `RooflineModel`.

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
