"""The events of a trace as columns: operations, launches, device activity and counters."""

from __future__ import annotations

import gc
import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Floats
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.torch.calls import OpCall
from roofwidget.readers.torch.messages import KEEPS_VALUES as FOR_MESSAGES
from roofwidget.readers.torch.messages import METADATA, MessageTable, message_of
from roofwidget.readers.torch.work import KEEPS_VALUES
from roofwidget.support.arrays import Integers

_Key = TypeVar("_Key", bound=Hashable)

NONE: Final = -1


class Column:
    """A column of float64 that grows: eight bytes per row."""

    def __init__(self) -> None:
        self._values = array("d")
        self.append = self._values.append

    def floats(self) -> Floats:
        """Return the numbers, which are not copied: the column must not grow after that."""
        return _viewed(self._values, np.float64)

    def __len__(self) -> int:
        return len(self._values)


class WholeColumn:
    """A column of whole numbers that grows: eight bytes per row, or four with the type code ``"i"``."""

    def __init__(self, typecode: Literal["q", "i"] = "q") -> None:
        self._values = array(typecode)
        self.append = self._values.append

    @classmethod
    def of(cls, numbers: Integers) -> WholeColumn:
        """Return a column of four bytes per row."""
        column = cls("i")
        column._values.frombytes(numbers.astype(np.intc).tobytes())
        return column

    def integers(self) -> Integers:
        """Return the numbers as int64. A column of eight bytes is not copied: it must not grow after that."""
        return _viewed(self._values, np.int64 if self._values.typecode == "q" else np.intc).astype(np.int64, copy=False)

    def __len__(self) -> int:
        return len(self._values)


def _viewed(values: array[Any], dtype: type[np.number[Any]]) -> npt.NDArray[Any]:
    view = np.frombuffer(values, dtype) if len(values) else np.zeros(0, dtype)
    view.flags.writeable = False
    return view


class Codes(Generic[_Key]):
    """Dictionary encoding: unique values in order of appearance. Calling it with a value returns the code."""

    def __init__(self) -> None:
        self._index: dict[_Key, int] = {}

    def __call__(self, value: _Key) -> int:
        code = self._index.get(value)
        if code is None:
            code = self._index[value] = len(self._index)
        return code

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


def _codes() -> WholeColumn:
    return WholeColumn("i")


@dataclass
class Timed:
    """Rows with start and duration in microseconds of the trace's clock."""

    start: Column = field(default_factory=Column)
    duration: Column = field(default_factory=Column)


@dataclass
class Operations(Timed):
    """Calls of operations on the host."""

    thread: WholeColumn = field(default_factory=_codes)
    external: WholeColumn = field(default_factory=WholeColumn)
    call: WholeColumn = field(default_factory=_codes)


@dataclass
class RuntimeCalls:
    """Calls of the runtime, most of which start work on the device.

    `name` is a code of `Collected.runtime_names`. `kernel` is a code of `Collected.names`, or -1: only AMD's runtime
    names the kernel that it launches.
    """

    start: Column = field(default_factory=Column)
    thread: WholeColumn = field(default_factory=_codes)
    correlation: WholeColumn = field(default_factory=WholeColumn)
    name: WholeColumn = field(default_factory=_codes)
    kernel: WholeColumn = field(default_factory=_codes)


@dataclass
class AnnotationColumns(Timed):
    """Annotated spans on the host. `text` is a code of `Collected.annotation_texts`."""

    thread: WholeColumn = field(default_factory=_codes)
    text: WholeColumn = field(default_factory=_codes)


@dataclass
class OnDevice(Timed):
    """Device activity: kernels, copies and fills."""

    name: WholeColumn = field(default_factory=_codes)
    category: WholeColumn = field(default_factory=_codes)
    external: WholeColumn = field(default_factory=WholeColumn)
    correlation: WholeColumn = field(default_factory=WholeColumn)
    device: WholeColumn = field(default_factory=WholeColumn)
    stream: WholeColumn = field(default_factory=WholeColumn)
    resources: WholeColumn = field(default_factory=_codes)
    bytes: Column = field(default_factory=Column)
    flops: Column = field(default_factory=Column)


class Counted(NamedTuple):
    """A range with hardware counters."""

    name: str
    metrics: Mapping[str, float]


class Collected:
    """The columns of a trace. `calls` has each different call once. `shapes` says whether any call has shapes.

    Parameters
    ----------
    source
        The trace, for messages.
    joined
        A trace to which this trace belongs. Both then share one table of operations and its codes; the operations of
        this trace are `operation_rows`. External ids and times of the two traces are unrelated.
    """

    def __init__(self, source: str, joined: Collected | None = None) -> None:
        self.source = source
        self.operations: Operations = Operations() if joined is None else joined.operations
        self.operation_rows = slice(len(self.operations.start), None)
        self.launches = RuntimeCalls()
        self.annotations = AnnotationColumns()
        self.device = OnDevice()
        self.messages: MessageTable = MessageTable() if joined is None else joined.messages.with_same_calls()
        self.counted: list[Counted] = []
        self.calls: list[OpCall] = [] if joined is None else joined.calls
        self.shapes = False
        self.unfinished = 0
        self.unread: Counter[str] = Counter()
        self.names: Codes[str] = Codes() if joined is None else joined.names
        self.categories: Codes[str] = Codes()
        self.runtime_names: Codes[str] = Codes()
        self.annotation_texts: Codes[str] = Codes()
        self._resource_codes: Codes[str] = Codes()
        self._raw_resources: list[tuple[object, ...]] = []
        self.events = 0
        self.thread_codes: Codes[tuple[object, ...]] = Codes() if joined is None else joined.thread_codes
        self.call_codes: Codes[object] = Codes() if joined is None else joined.call_codes
        self._valued: dict[str, bool] = {}
        self._takers: Mapping[object, Callable[[Mapping[str, Any], Mapping[str, Any]], None]] = {
            "cpu_op": self._operation,
            "Operator": self._operation,
            **dict.fromkeys(("kernel", "gpu_memcpy", "gpu_memset", *_CATEGORIES), self._on_device),
            "cuda_profiler_range": self._counters,
            "user_annotation": self._annotation,
            **dict.fromkeys(_RUNTIMES, self._launch),
        }

    def resources(self) -> list[Resources]:
        """Return the different resources of launches, by code."""
        return [_resources(raw) for raw in self._raw_resources]

    def forget_host(self) -> None:
        """Free what joins the device to the host, which fills more than half of the memory of a large trace."""
        self.messages.number_kernels(self.device.external.integers())
        self.operations, self.launches = Operations(), RuntimeCalls()
        self.device.external, self.device.correlation = WholeColumn(), WholeColumn()

    def take(self, batch: Sequence[Any]) -> None:
        """Add a batch of events.

        Raises
        ------
        ProfileError
            If an event is not an object, or a number in it is invalid.
        """
        takers = self._takers
        position, event = 0, None
        try:
            for position, event in enumerate(batch, self.events + 1):  # noqa: B007 - the message names it
                category = event.get("cat")
                taker = takers.get(category)
                if taker is not None:
                    if event.get("ph", "X") == "X":
                        taker(event, event.get("args") or {})
                elif category not in _NO_WORK and event.get("dur"):
                    self.unread[str(category)] += 1
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ProfileError(self.source, _flaw(event, error), place=f"event {position}") from None
        self.events += len(batch)

    def _thread(self, event: Mapping[str, Any]) -> int:
        # The threads of joined traces are others, even if their numbers are equal.
        return self.thread_codes((event.get("pid"), event.get("tid"), self.operation_rows.start))

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
            self.operations.thread.append(self._thread(event))
            external = _id(args, "External id", "external id")
            self.operations.external.append(external)
            self.operations.call.append(self._call(event["name"], args))
            if METADATA in args:
                self.messages.add_sequence_number(external, args)

    def _call(self, name: str, args: Mapping[str, Any]) -> int:
        dims, types = args.get("Input Dims"), args.get("Input type")
        message = message_of(args)
        metadata = _metadata(args)
        # Sizes of a compiled kernel are numbers among its arguments.
        keeps_values = metadata is not None or self._keeps_values(name)
        if message is not None:
            key: object = (name, message)
        elif dims is None and metadata is None:
            key = name
        elif keeps_values:
            key = repr((name, dims, types, args.get("Concrete Inputs"), metadata))
        else:
            key = repr((name, dims, types))
        code = self.call_codes(key)
        if code == len(self.calls):
            self.shapes = self.shapes or bool(dims)
            if message is not None:
                self.messages.add_call(code, message)
            values = args.get("Concrete Inputs") if keeps_values else None
            call = OpCall(_text(name), _list(dims), types and _list(types), values and _list(values), metadata=metadata)
            self.calls.append(call)
        return code

    def _keeps_values(self, name: str) -> bool:
        found = self._valued.get(name)
        if found is None:
            found = self._valued[name] = name in KEEPS_VALUES or name in FOR_MESSAGES
        return found

    def _launch(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        correlation, start = _id(args, "correlation"), float(event["ts"])
        if correlation != NONE and abs(start) <= _MAX_TIME_US:
            self.launches.start.append(start)
            self.launches.thread.append(self._thread(event))
            self.launches.correlation.append(correlation)
            self.launches.name.append(self.runtime_names(_text(event["name"])))
            kernel = args.get("kernel")
            self.launches.kernel.append(NONE if kernel is None else self.names(_text(kernel)))

    def _annotation(self, event: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        name = event.get("name")
        if isinstance(name, str) and ANNOTATION.match(name) and self._time(event, self.annotations):
            self.annotations.thread.append(self._thread(event))
            self.annotations.text.append(self.annotation_texts(_text(name)))

    def _on_device(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        rows = self.device
        if self._time(event, rows):
            rows.name.append(self.names(_text(event["name"])))
            rows.category.append(self.categories(_CATEGORIES.get(event["cat"], event["cat"])))
            rows.external.append(_id(args, "External id", "external id"))
            rows.correlation.append(_id(args, "correlation"))
            rows.device.append(_id(args, "device", "Device Id"))
            rows.stream.append(_id(args, "stream"))
            raw_resources = _raw_resources(args)
            code = self._resource_codes(repr(raw_resources))
            if code == len(self._raw_resources):
                self._raw_resources.append(raw_resources)
            rows.resources.append(code)
            # Compiled kernels may state their own work; 0 FLOPs means that it was not counted.
            rows.flops.append(_amount(args, "kernel_flop") or np.nan)
            if METADATA in args:
                self.messages.add_kernel(len(rows.start) - 1, args)
            raw = _amount(args, "bytes")
            rows.bytes.append((_amount(args, "kernel_num_gb") or np.nan) * 1e9 if raw is None else raw)

    def _counters(self, event: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        metrics = {key: float(value) for key, value in args.items() if _is_number(value)}
        self.counted.append(Counted(_text(event["name"]), metrics))


ANNOTATION: Final = re.compile(r"(?i)execute_|step\[|prefill\[|decode\[|mixed\[|capture_|ProfilerStep#|Optimizer\.")
"""Annotations of steps, of captures of graphs, of the profiler's iterations and of optimizers."""

# What torch.compile says of a kernel, on the operation that launches it.
_METADATA: Final = ("kernel_backend", "kernel_flop", "kernel_num_gb", "kernel_kwargs", "grid")

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
    }
)


def collect(batches: Iterable[list[Any]], source: str, joined: Collected | None = None) -> Collected:
    """Return the columns of a trace, which may belong to another trace; see `Collected`."""
    collected = Collected(source, joined)
    with _without_garbage_collection():
        for batch in batches:
            collected.take(batch)
    collected.operation_rows = slice(collected.operation_rows.start, len(collected.operations.start))
    return collected


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switch the collection of cycles off: parsed events have none, and a search for them takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _metadata(args: Mapping[str, Any]) -> Mapping[str, object] | None:
    """Return what a compiler says of the operation's kernels, or None. A FLOP count of 0 means that none was made."""
    if _METADATA[0] not in args and _METADATA[1] not in args and _METADATA[2] not in args:
        return None
    amounts = {key: _amount(args, key) or None for key in ("kernel_flop", "kernel_num_gb")}
    known = {key: amounts.get(key, args.get(key)) for key in _METADATA}
    return {key: value for key, value in known.items() if value is not None}


def _raw_resources(args: Mapping[str, Any]) -> tuple[object, ...]:
    """Return a launch's unparsed resources. They are parsed once for all launches that share them."""
    get = args.get
    return (
        get("grid"),
        get("block"),
        get("registers per thread"),
        get("shared memory"),
        get("est. achieved occupancy %"),
    )


def _resources(raw: tuple[Any, ...]) -> Resources:
    grid, block, *numbers = raw
    return Resources(_size(str(grid)), _size(str(block)), *(_number(given) for given in numbers))


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
