"""`RooflineWidget`: the `RooflineModel` as a Jupyter widget."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, cast

import anywidget
from IPython.core.getipython import get_ipython
from IPython.display import display
from traitlets import Instance, Int, TraitError, Unicode, default, validate
from traitlets.utils.bunch import Bunch

from roofwidget import bundle, readers
from roofwidget.chips import AmbiguousChipError, MissingFigureError, UnknownChipError, chip
from roofwidget.export import engine
from roofwidget.face import telling
from roofwidget.kernels import series
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.model import RooflineModel
from roofwidget.state import rules
from roofwidget.state.filters import has_column
from roofwidget.state.forms import language_of
from roofwidget.state.messages import STAMP, Messages, applied, check_sizes, page_message
from roofwidget.state.requests import (
    REPLY,
    SEARCH_SECONDS,
    RefusedError,
    Request,
    Requests,
    catalogue,
    page_request,
    profile,
    refusal,
    text_of,
    within,
)
from roofwidget.state.state import TRAITS, State, from_wire, wire_value
from roofwidget.state.what_if import QUANTITIES
from roofwidget.state.workload import has_same_groups
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import one_line

_EXAMPLE: Final = Path(__file__).parent / "kernels" / "example.csv"
"""Two training steps of a transformer block on an H100, as PyTorch's profiler recorded them."""

# Traits of ipywidgets that a page sets.
_OF_ALL_WIDGETS: Final = frozenset({"_view_count", "layout", "tabbable", "tooltip"})
_REFERENCE: Final = "IPY_MODEL_"
# These values of a message belong together. If one of these values is refused, all of these values are refused.
_OF_GRAPH: Final = frozenset({"phase", "partition", "dims", "convention", "dtype"})
_PLACES: Final = {name: place for place, name in enumerate(TRAITS)}


def _prepare(language: str) -> None:
    """Send the page the code that all widgets share, and start the engine of the picture beside a widget.

    The page inflates and compiles the code while Python makes a widget, and the engine starts meanwhile too. Without
    this, a person would wait for both.
    """
    bundle.front_end(language)
    engine.warm_up(language)


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
    RooflineWidget(TPU v5p, TPU v6e (Trillium); 1 kernel)
    """

    __module__ = "roofwidget"

    # The text of the script. anywidget also accepts a path, but with a path every closed widget would stay in memory.
    _esm = Unicode().tag(sync=True, owner="python")
    _css = Unicode().tag(sync=True, owner="python")
    # The shared model that contains the code of the front end, or None if this widget sends the code itself.
    _code = Instance(bundle.FrontEnd, allow_none=True).tag(sync=True, owner="python", to_json=bundle.reference)

    # The version of the form of the state, for whoever opens a notebook that was saved long ago. It rises when a page
    # could not read the state of the release before.
    _state_version = Int(1).tag(sync=True, owner="python")

    _messages = Instance(Messages, ())
    _requests = Instance(Requests, ())
    # So many were measured in a page, see docs/trust.md.
    _max_kernels = 4_000_000
    _is_made = False
    # The folder of the profile that is shown, in which rules are saved.
    _profile_folder: Path | None = None
    # What waits for the end of `hold_sync`.
    _unsent: set[str] | None = None

    def __init__(self, chips: Any = None, kernels: Any = None, **traits: Any) -> None:
        # The code is sent before the state, see `_prepare`. The model refuses a locale without texts.
        with suppress(TypeError, ValueError):
            _prepare(language_of(traits.get("locale", ENGLISH)))
        super().__init__(chips, kernels, **traits)
        self._is_made = True
        self.open()

    def open(self) -> None:
        """Send the widget to the page, when all of its traits have their values.

        The constructor of ipywidgets calls this method before `RooflineModel` sets the last traits. The page would take
        these values for changes: it would offer to undo them.
        """
        if self._is_made:
            super().open()

    def close(self) -> None:
        """Close the widget in all pages, and forget the files that they were sending."""
        self._requests.forget()
        super().close()

    @default("_esm")
    def _default_esm(self) -> str:
        return bundle.first_script(self.locale)

    @default("_css")
    def _default_css(self) -> str:
        return bundle.first_style()

    @default("_code")
    def _default_code(self) -> bundle.FrontEnd | None:
        return bundle.front_end(self.locale)

    @validate("kernels", "baseline")
    def _check_number(self, proposal: Bunch) -> Kernels | None:
        kernels: Kernels | None = proposal["value"]
        if kernels is not None and len(kernels) > self._max_kernels:
            raise TraitError(
                f"{type(self).__name__}.{proposal['trait'].name}: {len(kernels):,} kernels; a widget shows at most "
                f"{self._max_kernels:,}: join the launches of each name with kernels.groupby(), or keep the longest "
                "with kernels.top(1000, by='self_time')"
            )
        return kernels

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply a message from the front end, and send the result to all pages.

        Traits that Python owns do not change.
        """
        try:
            state = {name: value for name, value in sync_data.items() if self._is_set_by_pages(name)}
            if not str(state.get("layout", _REFERENCE)).startswith(_REFERENCE):
                raise TraitError("a page sent a layout that does not refer to a layout of Python")
            others = {name: value for name, value in state.items() if name not in TRAITS}
            with self.hold_trait_notifications() if others else nullcontext():
                self._apply_sent(state, {})
                super().set_state(others)
        finally:
            self._answer(sync_data)

    def _apply_sent(self, values: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """Apply all values and all changes of a message. If one is refused, apply none and raise an error.

        Changes are merged into the value that is there when they are applied, which another thread may have set.
        """
        values = {name: value for name, value in values.items() if name in TRAITS and self._is_set_by_pages(name)}
        with telling(self):
            check_sizes(values, len(self.shown_kernels))
            check_sizes(changes, len(self.shown_kernels))

        def sent(state: State) -> Mapping[str, Any]:
            merged = {}
            for name, change in changes.items():
                known = wire_value(state, name) if name in TRAITS and TRAITS[name].owner == "shared" else None
                if isinstance(known, Mapping):
                    merged[name] = applied(known, change)
            both = _without_former_columns({**values, **merged}, state)
            return {name: from_wire(name, value) for name, value in both.items()}

        self._apply(sent, waits=False, unsent={*values, *changes})
        if "rules" in {*values, *changes}:
            # Together: a page keeps what it knows of the rows only if it sees that the rules have changed.
            self._to_pages(["rules", "kernels"])

    def _apply_parts(self, values: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """Apply the values that a page has collected. If a value is refused, the other values still apply."""
        try:
            self._apply_sent(values, changes)
        except TraitError:
            names = [*values, *changes]
            graph = [name for name in names if name in _OF_GRAPH]
            parts = (graph, *([name] for name in names if name not in graph))
            sent = (({n: one[n] for n in part if n in one} for one in (values, changes)) for part in parts)
            refusals = [refusal for part in sent if (refusal := self._refusal(*part)) is not None]
            if refusals:
                raise refusals[0] from None

    def _refusal(self, values: Mapping[str, Any], changes: Mapping[str, Any]) -> TraitError | None:
        """Apply a part of a message. Return the error if it is refused."""
        try:
            self._apply_sent(values, changes)
        except TraitError as error:
            return error
        return None

    def _answer(self, names: Iterable[str]) -> None:
        """Send the values of the named shared traits to all pages, with the number of the handled message."""
        with self._messages.lock:
            # Pages must also read the phase and the partition before the other values.
            state = self.get_state(_in_order(self._shared(names)))
            if state or self._messages.is_handling:
                state[STAMP] = self._messages.stamp(is_answer=True)
                self._send({"method": "update", "state": state, "buffer_paths": []})

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        request = page_request(content, buffers)
        if request is not None:
            self._reply(request)
            return
        message = page_message(content)
        if message is None:
            super()._handle_custom_msg(content, buffers)
            return
        with self._messages.handling(message) as is_new:
            if not is_new or message.asked:
                self._answer(message.named)
                return
            try:
                self._apply_parts(message.values, message.changes)
            except SystemExit as error:
                # It would end the thread that handles the messages, or the kernel. In a cell it ends neither.
                raise RuntimeError("an observer of the widget called sys.exit()") from error
            finally:
                self._answer(message.named)

    def _reply(self, request: Request) -> None:
        """Do what a page asks for, once, and send it the reply."""
        reply = self._requests.reply(request)
        if reply is None:
            try:
                reply = self._done(request)
            except BaseException as error:
                # Whatever is wrong with a file, the page that sent it says so. Without a reply to a request that was
                # interrupted, the page would send the request again, and Python would read the file again.
                logging.getLogger("roofwidget").info("a request of a page was refused", exc_info=True)
                reply = {"refused": refusal(error, request)}
            self._requests.remember(request, reply)
        self.send({"kind": REPLY, "page": request.page, "number": request.number, **reply})

    def _done(self, request: Request) -> dict[str, Any]:
        told: dict[str, tuple[str, Callable[[], Any]]] = {
            "catalogue": ("catalogue", catalogue),
            "save": ("saved", lambda: self._saved(request)),
            "best": ("best", self._best),
            "rule": ("effect", lambda: self._effect_of_rule(request.name, text_of(request))),
            "rules": ("rules", lambda: rules.rules_in(text_of(request))),
            "save rules": ("saved", lambda: self._saved_rules(text_of(request))),
        }
        if request.ask in told:
            name, answer = told[request.ask]
            return {name: answer()}
        if request.ask == "cancel":
            self._requests.cancel(request)
            return {}
        if self.open_files == "nothing" or (request.path is not None and self.open_files != "folder"):
            raise RefusedError("this widget does not open files: read them in a cell with rw.read")
        if request.ask == "part":
            return {"received": self._requests.keep(request)}
        if request.ask in ("swap", "stop"):
            self._change_runs(request.ask)
            return {}
        if request.ask == "example":
            kernels = readers.read(_EXAMPLE).replace(chip=chip("h100-sxm"), source=_EXAMPLE.name)
        elif request.path is not None:
            kernels = readers.read(profile(Path.cwd(), request.path))
        else:
            kernels = series.as_series(readers.read_each(self._requests.files(request)))
        self.show_profile(kernels, compare=request.compare)
        self._profile_folder = None if request.path is None else folder_of(within(Path.cwd(), request.path))
        return {"shown": len(kernels)}

    def _best(self) -> Mapping[str, Any] | None:
        """Return the groups of the fastest partition on the focus chip and how they were found, or None."""
        try:
            best = self._best_partition(SEARCH_SECONDS)
        except MissingFigureError:
            return None
        return None if best is None else {"groups": best.indices, "how": best.how}

    def _saved(self, request: Request) -> str:
        """Return the text of a file that a page saves."""
        if request.name == "svg":
            return self.to_svg(style=cast("engine.Style", request.style), caption=request.caption)
        made = {"html": self.to_html, "json": self._to_session}.get(request.name)
        if made is None:
            raise RefusedError(f"a page saves svg, html or json, not {one_line(request.name)}")
        return made()

    def _saved_rules(self, text: str) -> str | None:
        """Write rules beside the profile. Return the name of the file, or None without a folder for it."""
        folder, lines = self._profile_folder, rules.lines_of(rules.parsed(text))
        if folder is None or self.open_files == "nothing" or not os.access(folder, os.W_OK):
            return None
        rules.save(folder, lines)
        return rules.FILE

    def _change_runs(self, ask: str) -> None:
        """Exchange the two runs that are compared, or compare with no run."""
        before = self.baseline
        if before is None:
            return
        with self.hold_trait_notifications():
            now = self.kernels
            self.baseline = now if ask == "swap" else None
            if ask == "swap":
                self.kernels = before

    def _shared(self, names: Iterable[str]) -> set[str]:
        """Return those names whose traits are synced and may be changed by Python and by the pages."""
        return {name for name in names if name in self.keys and name in TRAITS and TRAITS[name].owner == "shared"}

    def _send(self, msg: dict[str, Any], buffers: Any = None) -> None:
        """Send a message. Each update says what caused it; see `roofwidget.state.messages`."""
        if msg["method"] == "update" and STAMP not in msg["state"] and self.comm is not None:
            # The stamp comes last: a host that sets one value after another has all values when it sees the stamp.
            msg["state"][STAMP] = self._messages.stamp()
        super()._send(msg, buffers=buffers)

    def get_state(self, key: str | Iterable[str] | None = None, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the values of some traits for the front end, or the whole state with its stamp."""
        with self._cell.seeing(self._state):
            # One message does not mix two states.
            state: dict[str, Any] = super().get_state(key, *args, **kwargs)
        if key is not None:
            return state
        return {**state, STAMP: self._messages.state, **(self._for_marimo() if "marimo" in sys.modules else {})}

    def _for_marimo(self) -> dict[str, Any]:
        """Return what only marimo needs of the state.

        There the whole state is the value of an element. Cells read the two rates, and no page does. `_runs_cells` asks
        pages to tell marimo of each change, so that it runs these cells again.
        """
        rates = {name: getattr(self, name) for name in QUANTITIES}
        return {name: None if math.isnan(rate) else rate for name, rate in rates.items()} | {"_runs_cells": True}

    @property
    def _sync(self) -> list[object]:
        """The stamp in the whole state. `ipywidgets.embed` needs this attribute for the key "_sync" of the state."""
        return self._messages.state

    def _is_set_by_pages(self, name: str) -> bool:
        return name in _OF_ALL_WIDGETS or (name in TRAITS and TRAITS[name].sync and TRAITS[name].owner != "python")

    def _to_pages(self, names: list[str]) -> None:
        """Send what has changed, in one message. The same groups of ops again are no news to pages."""
        if "locale" in names and self._is_made:
            # When `_esm` changes, the front end draws the widget again with the code in `_code`. So these are sent in
            # one message.
            with self.hold_sync():
                self._code = bundle.front_end(self.locale)
                self._esm = bundle.first_script(self.locale)
        keys = [name for name in names if name in self.keys]
        if "rules" in keys and "kernels" not in keys:
            keys.append("kernels")
        if "partition" in keys and has_same_groups(self._cell.told("partition"), self.partition):
            keys.remove("partition")
        if keys and self.comm is not None:
            self.send_state(keys)

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """Send one trait, several traits or, without `key`, all traits to the front end.

        `baseline` is sent with a comparison with `kernels`. So `baseline` is sent whenever `kernels` is sent. The
        figures of `added_chips` are sent with `chips`.
        """
        keys = None if key is None else {key} if isinstance(key, str) else set(key)
        if keys is not None and "kernels" in keys and self.baseline is not None:
            keys.add("baseline")
        if keys is not None and "added_chips" in keys:
            keys.add("chips")
        with self._messages.lock:
            if keys is None or self._unsent is None:
                # A page takes one value after another. So they are in the order in which they take effect:
                # the groups of a new phase are not those of the phase before.
                super().send_state(_in_order(self.keys if keys is None else keys))
            else:
                self._unsent |= keys

    @contextmanager
    def hold_sync(self) -> Iterator[None]:
        """Return a context at whose end all changed traits are sent, in one message."""
        with self._messages.lock:
            is_outer = self._unsent is None
            self._unsent = set() if is_outer else self._unsent
        try:
            with super().hold_sync() if is_outer else nullcontext():
                yield
        finally:
            if is_outer:
                with self._messages.lock:
                    keys, self._unsent = self._unsent, None
                    if keys:
                        self.send_state(keys)

    def __repr__(self) -> str:
        return RooflineModel.__repr__(self)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget's view and, for places where no widget can run, a picture with a table."""
        shown: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**options)
        if shown is not None:
            try:
                shown[0]["text/html"] = self.fallback_html()
            except Exception:
                # Whatever is wrong with the picture, the widget is shown.
                logging.getLogger("roofwidget").exception("the picture beside the widget is missing")
        return shown

    def show(self) -> None:
        """Display the widget in the output of the current notebook cell."""
        display(self)  # type: ignore[no-untyped-call]


def _in_order(names: Iterable[str]) -> list[str]:
    """Return names of traits in the order in which they take effect."""
    return sorted(names, key=lambda name: _PLACES.get(name, len(_PLACES)))


def _without_former_columns(values: dict[str, Any], state: State) -> dict[str, Any]:
    """Return the values without columns that only the kernels before the present ones have.

    Python may have replaced the kernels since the message was sent. Otherwise the whole message would be refused.
    """

    def is_former(key: str) -> bool:
        return not has_column(key, state.plotted.extra) and has_column(key, state.former_columns)

    if isinstance(values.get("columns"), list):
        values["columns"] = [key for key in values["columns"] if not is_former(str(key))]
    if values.get("sort_by") and is_former(str(values["sort_by"]).removeprefix("-")):
        del values["sort_by"]
    colour_by = str(values.get("colour_by"))
    if colour_by in state.former_columns and colour_by not in state.plotted.extra:
        del values["colour_by"]
    return values


def roofline(chips: Any = None, kernels: Any = None, *, work: Any = None, **traits: Any) -> RooflineWidget:
    """Return a `RooflineWidget` that shows kernels on chips. The defaults are the same as for `RooflineModel`.

    Parameters
    ----------
    chips
        A `Preset`, or a list of `Chip` objects and names of catalogue chips. Or the path of a profile: its kernels are
        shown on the chip that it names.
    kernels
        `Kernels`, a list of `Kernel` objects, tuples or dicts, or a data frame. Or the path of a profile.
    work
        The work of one launch by a pattern of kernels' names, for kernels whose FLOPs or bytes are unknown; see
        `Kernels.with_work`. It also applies to a `baseline` that is a path.
    **traits
        Any trait of `RooflineModel`. `baseline` may be the path of a profile.

    Raises
    ------
    FileNotFoundError, ProfileError
        As `roofwidget.read`, which reads the profiles.
    TypeError
        If a table of kernels is given in place of chips.

    Examples
    --------
    >>> import roofwidget as rw
    >>> rw.roofline(chips=["v5p", "v6e"], kernels=[("matmul", 4.3e9, 1.2e7)])
    RooflineWidget(TPU v5p, TPU v6e (Trillium); 1 kernel)
    """
    if isinstance(chips, Kernels):
        raise TypeError(
            "roofline: a table of kernels comes second, as in rw.roofline('h100-sxm', kernels); kernels.roofline() "
            "shows it on the chip that it ran on"
        )
    if kernels is None and _names_a_file(chips):
        chips, kernels = None, chips
    if isinstance(traits.get("baseline"), (str, os.PathLike)):
        traits["baseline"] = readers.read(traits["baseline"], work=work)
    folder = None
    if isinstance(kernels, (str, os.PathLike)):
        folder, kernels = folder_of(Path(kernels)), readers.read(kernels, work=work)
    elif work is not None:
        if kernels is None:
            raise TypeError("roofline: work is for kernels; give kernels= or the path of a profile")
        kernels = as_kernels(kernels).with_work(work)
    made = RooflineWidget(chips, kernels, **traits)
    made._profile_folder = folder  # noqa: SLF001 - of this module
    return made


def folder_of(path: Path) -> Path:
    """Return the folder in which a file of rules is beside a profile: the profile's own, if it is a folder."""
    full = path.absolute()
    return full if full.is_dir() else full.parent


def _names_a_file(given: object) -> bool:
    """Return whether this is a path. A text that is the name of a catalogue chip is none."""
    if not isinstance(given, str):
        return isinstance(given, os.PathLike)
    try:
        chip(given)
    except AmbiguousChipError:
        return False
    except UnknownChipError:
        # A file that is missing is told from a misspelt chip by its ending or its folder.
        folder, name = os.path.split(given)
        return folder != "" or "." in name or os.path.lexists(given)
    return False


def explore(**traits: Any) -> RooflineWidget:
    """Return a `RooflineWidget` with no chip and no kernel, into which a person opens a profile and adds chips.

    Parameters
    ----------
    **traits
        Any trait of `RooflineModel`.

    Examples
    --------
    >>> import roofwidget as rw
    >>> rw.explore()
    RooflineWidget(no chips; 0 kernels)
    """
    return RooflineWidget([], [], **traits)


def load(path: str | os.PathLike[str]) -> RooflineWidget:
    """Return a new widget from a file that ``widget.save("….json")`` wrote, or a link; see `RooflineModel.load`."""
    return RooflineWidget.load(path)


# Whoever loads this module will soon show a widget. Elsewhere than in a Jupyter kernel there is no page.
if getattr(get_ipython(), "kernel", None) is not None:
    with suppress(FileNotFoundError):
        _prepare(ENGLISH)
