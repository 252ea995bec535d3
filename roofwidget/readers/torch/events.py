"""The events of a trace as columns: operations, launches, device activity and counters."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.torch.formulas import KEEPS_VALUES, OpCall
from roofwidget.support.arrays import Integers

_Key = TypeVar("_Key", bound=Hashable)

NONE: Final = -1


class Column:
    """A column of float64 that grows: eight bytes per row."""

    def __init__(self) -> None:
        self._values = array("d")
        self.append = self._values.append

    def floats(self) -> Floats:
        """Return the numbers."""
        return np.array(self._values, dtype=np.float64)

    def __len__(self) -> int:
        return len(self._values)


class WholeColumn:
    """A column of int64 that grows: eight bytes per row."""

    def __init__(self) -> None:
        self._values = array("q")
        self.append = self._values.append

    def integers(self) -> Integers:
        """Return the numbers."""
        return np.array(self._values, dtype=np.int64)


class Codes(Generic[_Key]):
    """Dictionary encoding: unique values in order of appearance. Calling it with a value returns the code."""

    def __init__(self) -> None:
        self._index: dict[_Key, int] = {}

    def __call__(self, value: _Key) -> int:
        return self._index.setdefault(value, len(self._index))

    def __len__(self) -> int:
        return len(self._index)

    def values(self) -> list[_Key]:
        """Return the unique values. The code of a value is its position in this list."""
        return list(self._index)


class Resources(NamedTuple):
    """The resources of a launch, as far as the trace has them."""

    grid: str
    block: str
    registers: float
    shared_memory: float
    occupancy: float


@dataclass
class Timed:
    """Rows with start and duration in microseconds of the trace's clock."""

    start: Column = field(default_factory=Column)
    duration: Column = field(default_factory=Column)


@dataclass
class Operations(Timed):
    """Calls of operations on the host."""

    thread: WholeColumn = field(default_factory=WholeColumn)
    external: WholeColumn = field(default_factory=WholeColumn)
    call: WholeColumn = field(default_factory=WholeColumn)


@dataclass
class RuntimeCalls:
    """Calls of the runtime that start work on the device."""

    start: Column = field(default_factory=Column)
    thread: WholeColumn = field(default_factory=WholeColumn)
    correlation: WholeColumn = field(default_factory=WholeColumn)


@dataclass
class OnDevice(Timed):
    """Device activity: kernels, copies and fills."""

    name: WholeColumn = field(default_factory=WholeColumn)
    category: WholeColumn = field(default_factory=WholeColumn)
    external: WholeColumn = field(default_factory=WholeColumn)
    correlation: WholeColumn = field(default_factory=WholeColumn)
    device: WholeColumn = field(default_factory=WholeColumn)
    resources: WholeColumn = field(default_factory=WholeColumn)
    bytes: Column = field(default_factory=Column)
    flops: Column = field(default_factory=Column)


class Counted(NamedTuple):
    """A range with hardware counters."""

    name: str
    metrics: Mapping[str, float]


class Collected:
    """The columns of a trace. `calls` has each different call once. `shapes` says whether any call has shapes."""

    def __init__(self, source: str) -> None:
        self.operations = Operations()
        self.launches = RuntimeCalls()
        self.device = OnDevice()
        self.counted: list[Counted] = []
        self.calls: list[OpCall] = []
        self.shapes = False
        self.unfinished = 0
        self.unread: Counter[str] = Counter()
        self.names: Codes[str] = Codes()
        self.categories: Codes[str] = Codes()
        self._resource_codes: Codes[tuple[object, ...]] = Codes()
        self.events = 0
        self._source = source
        self._threads: Codes[tuple[object, object]] = Codes()
        self._call_codes: Codes[tuple[str, ...]] = Codes()
        self._takers: Mapping[object, Callable[[Mapping[str, Any], Mapping[str, Any]], None]] = {
            "cpu_op": self._operation,
            "Operator": self._operation,
            **dict.fromkeys(("kernel", "gpu_memcpy", "gpu_memset", *_CATEGORIES), self._on_device),
            "cuda_profiler_range": self._counters,
            **dict.fromkeys(_RUNTIMES, self._launch),
        }

    def resources(self) -> list[Resources]:
        """Return the different resources of launches, by code."""
        return [_resources(raw) for raw in self._resource_codes.values()]

    def take(self, batch: Iterable[Any]) -> None:
        """Add a batch of events.

        Raises
        ------
        ProfileError
            If an event is not an object, or a number in it is invalid.
        """
        takers, known = self._takers, self.events
        for position, event in enumerate(batch, known):
            try:
                category = event.get("cat")
                taker = takers.get(category)
                if taker is not None:
                    if event.get("ph", "X") == "X":
                        taker(event, event.get("args") or {})
                elif category not in _NO_WORK and event.get("dur"):
                    self.unread[str(category)] += 1
            except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
                raise ProfileError(self._source, _flaw(event, error), place=f"event {position + 1}") from None
            self.events += 1

    def _time(self, event: Mapping[str, Any], into: Timed) -> bool:
        start, duration = float(event["ts"]), float(event.get("dur", NONE))
        if not 0 <= duration <= _MAX_TIME_US or not abs(start) <= _MAX_TIME_US:
            # The duration is missing or -1 if the profiler stopped before the event ended.
            self.unfinished += 1
            return False
        into.start.append(start)
        into.duration.append(duration)
        return True

    def _operation(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        if self._time(event, self.operations):
            self.operations.thread.append(self._threads((event.get("pid"), event.get("tid"))))
            self.operations.external.append(_id(args, "External id", "external id"))
            self.operations.call.append(self._call(event["name"], args))

    def _call(self, name: str, args: Mapping[str, Any]) -> int:
        dims, types = args.get("Input Dims"), args.get("Input type")
        if dims is None:
            key: tuple[str, ...] = (name,)
        elif name in KEEPS_VALUES:
            key = (name, str(dims), str(types), str(args.get("Concrete Inputs")))
        else:
            key = (name, str(dims), str(types))
        code = self._call_codes(key)
        if code == len(self.calls):
            self.shapes = self.shapes or bool(dims)
            values = args.get("Concrete Inputs") if name in KEEPS_VALUES else None
            self.calls.append(OpCall(_text(name), _list(dims), types and _list(types), values and _list(values)))
        return code

    def _launch(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        correlation, start = _id(args, "correlation"), float(event["ts"])
        if correlation != NONE and abs(start) <= _MAX_TIME_US:
            self.launches.start.append(start)
            self.launches.thread.append(self._threads((event.get("pid"), event.get("tid"))))
            self.launches.correlation.append(correlation)

    def _on_device(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        rows = self.device
        if self._time(event, rows):
            rows.name.append(self.names(_text(event["name"])))
            rows.category.append(self.categories(_CATEGORIES.get(event["cat"], event["cat"])))
            rows.external.append(_id(args, "External id", "external id"))
            rows.correlation.append(_id(args, "correlation"))
            rows.device.append(_id(args, "device", "Device Id"))
            rows.resources.append(self._resource_codes(_raw_resources(args)))
            # Compiled kernels may state their own work; 0 FLOPs means that it was not counted.
            rows.flops.append(_amount(args, "kernel_flop") or np.nan)
            raw = _amount(args, "bytes")
            rows.bytes.append((_amount(args, "kernel_num_gb") or np.nan) * 1e9 if raw is None else raw)

    def _counters(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        metrics = {key: float(value) for key, value in args.items() if _is_number(value)}
        self.counted.append(Counted(_text(event["name"]), metrics))


# Limits that no real trace reaches, in microseconds, and in FLOPs or bytes. The limits keep sums finite.
_MAX_TIME_US: Final = 1e18
_MAX_WORK: Final = 1e30
_AGAIN: Final = "export the trace again, or remove the event"
_RUNTIMES: Final = (
    "cuda_runtime",
    "cuda_driver",
    "hip_runtime",
    "xpu_runtime",
    "mtia_runtime",
    "privateuse1_runtime",
    "privateuse1_driver",
    "Runtime",
)
# On Meta's accelerator MTIA the control processors run the kernels.
_CATEGORIES: Final = {
    "Kernel": "kernel",
    "mtia_ccp_events": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
}
# Events that are no work: Python's frames, marks, arrows, and spans whose time other events also contain.
_NO_WORK: Final = frozenset(
    {
        None,
        "",
        "Trace",
        "ac2g",
        "async_cpu_to_gpu",
        "async_gpu",
        "forward_backward",
        "fwdbwd",
        "cpu_instant_event",
        "cuda_event",
        "cuda_sync",
        "external_correlation",
        "gpu_user_annotation",
        "mtia_counters",
        "mtia_insight",
        "overhead",
        "python_function",
        "user_annotation",
    }
)


def collect(batches: Iterable[list[Any]], source: str) -> Collected:
    """Return the columns of a trace."""
    collected = Collected(source)
    for batch in batches:
        collected.take(batch)
    return collected


def _raw_resources(args: Mapping[str, Any]) -> tuple[object, ...]:
    """Return a launch's unparsed resources. They are parsed once for all launches that share them."""
    get = args.get
    sizes = str(get("grid")), str(get("block"))
    return *sizes, get("registers per thread"), get("shared memory"), get("est. achieved occupancy %")


def _resources(raw: tuple[Any, ...]) -> Resources:
    grid, block, *numbers = raw
    return Resources(_size(grid), _size(block), *(_number(given) for given in numbers))


def _size(given: str) -> str:
    return given.strip("[]").replace(", ", " x ") if given.startswith("[") else ""


def _number(given: Any) -> float:
    return float(given) if _is_number(given) else np.nan


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) < np.inf


def _amount(args: Mapping[str, Any], key: str) -> float | None:
    """Return an amount of work, or None if the event has none."""
    given = args.get(key)
    if given is None:
        return None
    amount = float(given)
    if not 0 <= amount <= _MAX_WORK:
        raise ValueError(f"expected a number from 0 as its '{key}', got {given!r:.40}")
    return amount


def _id(args: Mapping[str, Any], *keys: str) -> int:
    """Return the id under the first of `keys` that exists, or -1. Some versions write ids as text."""
    for key in keys:
        if key in args:
            return int(args[key])
    return NONE


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"expected a text as its name, got {given!r:.40}")
    # Half of a surrogate pair can neither be shown nor sent.
    return (given if given.isascii() else given.encode("utf-8", "replace").decode()) or "unnamed"


def _list(given: object) -> list[object]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise TypeError(f"expected a list of its arguments, got {given!r:.40}")
    return given


def _flaw(event: object, error: Exception) -> str:
    if not isinstance(event, dict):
        return f"expected an object, got {event!r:.40}; {_AGAIN}"
    if isinstance(error, KeyError):
        return f"the event has no {error}; it is {event.get('name')!r:.60} of '{event.get('cat')}'; {_AGAIN}"
    return f"a bad value in {event.get('name')!r:.60} of '{event.get('cat')}': {error!s:.200}; {_AGAIN}"
