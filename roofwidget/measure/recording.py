"""A recording: what runs while it is open is counted and timed, and lands on a chart as points."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, final

from roofwidget.kernels.columns import ASKED_PRECISION
from roofwidget.kernels.series import unused_name
from roofwidget.kernels.table import Kernels
from roofwidget.measure.counts import OpCount
from roofwidget.measure.frameworks import WATCHERS, watches
from roofwidget.measure.profile import Profile, profile
from roofwidget.measure.tally import STATED, Row, Tally
from roofwidget.measure.variables import watched_variables
from roofwidget.measure.watch import Watch
from roofwidget.support.arguments import text_argument
from roofwidget.support.text_tables import counted
from roofwidget.units import finite, format_quantity, parse

if TYPE_CHECKING:
    from roofwidget.model import RooflineModel

_INTERVAL_SECONDS: Final = 0.3
"""The chart is updated at most once in this time."""
_UPDATE_SHARE: Final = 0.1
"""Updates of the chart take at most about this share of the time, also with very many rows."""
_QUIET_SECONDS: Final = 1.0
"""If no operation has finished for this time, those that have finished are shown."""

_lock = threading.Lock()
_active: Recording | None = None


@final
class Recording:
    """What runs while a recording is open, as a series of points on a chart; `record` returns it.

    Attributes
    ----------
    name : str
        The name of the series: the category of its rows.
    warnings : tuple of str
        What a reader must know about the counts.
    """

    __module__ = "roofwidget"

    def __init__(
        self,
        widget: RooflineModel,
        name: str,
        by: Row = "op",
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.widget = widget
        self.name = name
        self.by = by
        self.warnings: tuple[str, ...] = ()
        self.clock = clock
        self.variables: MutableMapping[str, Any] | None = None
        """Variables whose values are watched: by default those of the module that enters the recording."""
        self.on_update: Callable[[], object] | None = None
        """Is called after each update of the chart, and every second."""
        self.warns_if_empty = True
        """Whether a block that recorded nothing raises a warning."""
        self._call_time: float | None = None
        self._tally = Tally()
        # The latest table, and what it was made of.
        self._made: tuple[object, Kernels] | None = None
        self._guard = threading.Lock()
        self._publishing = threading.Lock()
        self._is_pending = False
        self._earliest_update = -float("inf")
        self._latest_op = -float("inf")
        self._in_thread = threading.local()
        self._watchers = ExitStack()
        self._watches: dict[str, Watch] = {}
        self._over = threading.Event()
        self._flusher: threading.Thread | None = None
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        with self._guard:
            count, seconds = self._tally.count, self._tally.time
        took = f", {format_quantity(seconds, 's')}" if seconds else ""
        return f"Recording({self.name}: {counted(count, 'operation')}{took})"

    @property
    def kernels(self) -> Kernels:
        """What was recorded so far. Operations that are equal, with the same shapes, are one row with their count."""
        # The table is made of arrays: their operations are not those of the block, and would wait for this lock.
        with self.paused(), self._guard:
            version = (self.calls, self.warnings, self._call_time)
            if self._made is None or self._made[0] != version:
                table = self._tally.kernels(self.name, self.by, warnings=self.warnings, call_time=self._call_time)
                self._made = version, table
            return self._made[1]

    @property
    def calls(self) -> int:
        """The number of operations that were recorded so far."""
        return self._tally.count

    def __enter__(self) -> Recording:
        global _active  # noqa: PLW0603 - functions of any thread report to the recording that is open
        with _lock:
            if _active is not None:
                raise RuntimeError(f"'{_active.name}' is being recorded already; a recording cannot be inside another")
            self.name = unused_name(self.name, self.widget.kernels.category)
            _active = self
        self._thread = threading.current_thread()
        if self.variables is None:
            self.variables = _variables_of(sys._getframe(1))  # noqa: SLF001 - as documented for this use
        try:
            self.watch_frameworks()
            if self.variables is not None:
                self._watchers.enter_context(watched_variables(self.variables, self.seen, self.plain))
        except BaseException:
            _active = None
            raise
        self._flusher = threading.Thread(target=self._flush_while_quiet, name=f"roofwidget {self.name}", daemon=True)
        self._flusher.start()
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        global _active  # noqa: PLW0603 - see __enter__
        self.warnings = tuple(
            dict.fromkeys([*self.warnings, *(text for watch in self._watches.values() for text in watch.warnings)])
        )
        try:
            self._watchers.close()
        finally:
            _active = None
            self._over.set()
            if self._flusher is not None:
                self._flusher.join()
            self._publish()
        if self.warns_if_empty and kind is None and not self.calls:
            warnings.warn(
                f"{self.name} recorded nothing. A block sees PyTorch if it was imported before, and outside of "
                "functions the numpy arrays of variables. Else use run.profile(f, x), @rw.measured(flops=…, bytes=…) "
                "or run.add(…)",
                UserWarning,
                stacklevel=2,
            )

    def add(
        self,
        name: str,
        flops: float | str | Mapping[str, float | str] | None = None,
        bytes: float | str | None = None,  # noqa: A002 - the usual name of this quantity
        *,
        time: float | str | None = None,
        precision: str | None = None,
    ) -> None:
        """Add a point.

        Parameters
        ----------
        name
            Its name.
        flops, bytes
            FLOPs and bytes: a number, text such as ``"2 GFLOP"`` and ``"12 MB"``, or None if unknown. FLOPs may be
            given by precision.
        time
            Seconds, or text such as ``"3 ms"``; None if not measured.
        precision
            The precision of the FLOPs, such as ``"fp32"``.

        Raises
        ------
        TypeError, ValueError
            If a value is no number, negative or infinite: the message names the value.
        """
        self.report(stated(name, flops, bytes, time=time, precision=precision, what="add"))

    def profile(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Profile:
        """Profile a function or a model as `roofwidget.profile` does, and add its operations.

        The arguments are those of `roofwidget.profile`.
        """
        with self.paused():
            found = profile(self.plain(function), *map(self.plain, args), **kwargs)
        self.warnings = tuple(dict.fromkeys([*self.warnings, *found.warnings]))
        for op in found.ops:
            self.report(op)
        return found

    def report(self, op: OpCount, *, nested: float = 0.0) -> None:
        """Add an operation that has finished. `nested`: its seconds that are also those of other operations."""
        with self._guard:
            if not self._tally.add(op, nested=nested):
                return
            self._is_pending = True
            self._latest_op = now = self.clock()
        if now >= self._earliest_update:
            self._publish()

    def set_call_time(self, seconds: float) -> None:
        """Set the seconds of the whole call, for rows by call, and show them."""
        self._call_time = seconds
        self._publish()

    @contextlib.contextmanager
    def measuring(self, op: OpCount) -> Iterator[list[OpCount]]:
        """Time a block, and add `op` with this time if the block raises no error.

        After the block, the list that is yielded holds the operation with its time. A block may contain other measured
        blocks: `Kernels.self_time` leaves out their seconds.
        """
        outer = getattr(self._in_thread, "nested", 0.0)
        finished: list[OpCount] = []
        with self.paused():
            self._in_thread.nested = 0.0
            start = self.clock()
            try:
                yield finished
            finally:
                seconds, nested = self.clock() - start, self._in_thread.nested
                self._in_thread.nested = outer + seconds
        finished.append(replace(op, time=seconds))
        self.report(finished[0], nested=nested)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Count no operations of this thread in a block, and do not slow them down."""
        self._in_thread.pauses = getattr(self._in_thread, "pauses", 0) + 1
        try:
            with ExitStack() as stack:
                if threading.current_thread() is self._thread:
                    for watch in reversed(self._watches.values()):
                        stack.enter_context(watch.paused())
                yield
        finally:
            self._in_thread.pauses -= 1

    def flush_if_quiet(self) -> None:
        """Show what has finished if no operation has finished for a while, and else how far the recording is."""
        if self._is_pending and self.clock() - self._latest_op >= _QUIET_SECONDS:
            self._publish()
        elif self.on_update is not None and self._publishing.acquire(blocking=False):
            try:
                self.on_update()
            finally:
                self._publishing.release()

    def watch_frameworks(self) -> None:
        """Count the operations of each framework that has been imported, in this thread."""
        for framework, watch in watches(self._watches, self._report_seen, self.clock).items():
            if not watch.needs_variables or self.variables is not None:
                self._watchers.enter_context(watch)
            self._watches[framework] = watch

    def seen(self, value: Any) -> Any:
        """Return a value that behaves as the given one, and whose operations are recorded."""
        if len(self._watches) < len(WATCHERS):
            self.watch_frameworks()
        for watch in self._watches.values():
            value = watch.seen(value)
        return value

    def plain(self, value: Any) -> Any:
        """Return the value that was given to `seen`, or a plain value for a result of it."""
        for watch in self._watches.values():
            value = watch.plain(value)
        return value

    def wait(self, value: Any) -> None:
        """Wait until the work that makes a value is done."""
        for watch in self._watches.values():
            watch.wait(value)

    def _report_seen(self, op: OpCount) -> None:
        # A function whose work is stated stands for all that it runs.
        if not getattr(self._in_thread, "pauses", 0):
            self.report(op)

    def _publish(self) -> None:
        """Show the rows on the chart, unless another thread does so now."""
        if not self._publishing.acquire(blocking=self._over.is_set()):
            return
        try:
            start = self.clock()
            self._earliest_update = float("inf")
            with self._guard:
                self._is_pending, has_rows = False, self.calls > 0
            if has_rows:
                with self.paused():
                    self.widget.set_series(self.name, self.kernels)
                    if self.on_update is not None:
                        self.on_update()
            end = self.clock()
            self._earliest_update = end + max(_INTERVAL_SECONDS, (end - start) / _UPDATE_SHARE)
        finally:
            self._publishing.release()

    def _flush_while_quiet(self) -> None:
        while not self._over.wait(_QUIET_SECONDS):
            # The last update, in the thread of the block, raises the same error again.
            with contextlib.suppress(Exception):
                self.flush_if_quiet()


def _variables_of(frame: FrameType) -> MutableMapping[str, Any] | None:
    """Return the variables of a module or a notebook. Those of a function cannot be replaced."""
    return frame.f_globals if frame.f_locals is frame.f_globals else None


def active_recording() -> Recording | None:
    """Return the recording that is open, or None."""
    return _active


def stated(
    name: str,
    flops: Any,
    bytes: Any,  # noqa: A002 - the usual name of this quantity
    *,
    time: Any = None,
    precision: str | None = None,
    what: str,
) -> OpCount:
    """Return an operation whose work the user states. `what` begins the messages of errors."""
    text_argument(name, f"{what}: name")
    of = f"of '{name}'"
    if isinstance(flops, Mapping):
        by_class = {str(key): _amount(part, "FLOP", f"{what}: flops['{key}'] {of}") for key, part in flops.items()}
    else:
        by_class = {} if flops is None else {ASKED_PRECISION: _amount(flops, "FLOP", f"{what}: flops {of}")}
    moved = None if bytes is None else _amount(bytes, "B", f"{what}: bytes {of}")
    seconds = None if time is None else finite(parse(time, "s", f"{what}: time {of}"), f"{what}: time {of}")
    written = None if moved is None else 0
    counts = None if flops is None else by_class
    return OpCount(name, counts, moved, written, precision, time=seconds, category=STATED)


def _amount(value: Any, unit: str, what: str) -> int:
    return round(finite(parse(value, unit, what), what))
