"""XLA's profiler: the Chrome trace ``….trace.json.gz`` that JAX, TensorFlow and PyTorch/XLA write.

The file ``.xplane.pb`` of the same folder has more: the bytes of each memory, and the chip. Read that file if you have
it. A warning names it.

- A row is an operation of XLA on one device, over all its executions: ``count`` is their number. `time` includes the
  operations that run inside an operation, such as the body of a loop, and `self_time` excludes them. The time is the
  device's own (``device_duration_ps``) if the event has it.
- Of a device, the lane ``XLA Ops`` is read, or its streams if it has no such lane. The other lanes show the same time
  again, by step, by program and by source line. On a CPU, the events with ``hlo_op`` are read.
- FLOPs and bytes are ``model_flops`` and ``bytes_accessed`` of the events, which traces of TPUs have. These bytes are
  those of all memories, so the main memory moves at most as many. An operation that contains others, such as a loop,
  has none of its own: its FLOPs and bytes are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.documents import object_at, value_at
from roofwidget.readers.input.json_rows import JsonRows
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof.operations import CONTAINERS

FORMAT: Final = "xla-trace"
EXPECTED: Final = "a Chrome trace of XLA's profiler (JAX, TensorFlow or PyTorch/XLA)"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_PROCESS: Final = re.compile(r'"name"\s*:\s*"/(?:device|host):')
_DEVICE: Final = "/device:"
_OPERATIONS: Final = "XLA Ops"
_STREAM: Final = re.compile(r"stream", re.IGNORECASE)
_MICRO, _PICO = 1e6, 1e12
_FLOPS, _BYTES = "model_flops", "bytes_accessed"
# Times are rounded to nanoseconds or picoseconds.
_ROUNDING_S: Final = 1e-9
_MAX_EVENTS: Final = 1_000_000
"""XLA's profiler writes no more events."""
_WORK: Final = (
    "a Chrome trace of XLA has no FLOPs and bytes of operations: the file .xplane.pb of the same run has them"
)
_ALL_MEMORIES: Final = (
    "bytes_accessed counts all memories, so the bytes of the main memory are at most these: the file .xplane.pb of the "
    "same run has each memory"
)

Lane = tuple[Any, Any]


def recognises(source: Source) -> bool:
    """Whether the text begins like a Chrome trace with processes such as ``/device:TPU:0``.

    Examples
    --------
    >>> recognises(Source.of(b'{"traceEvents": [{"ph": "M", "args": {"name": "/device:TPU:0"}}]}'))
    True
    """
    if source.is_folder or source.beginning.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return False
    return '"traceEvents"' in source.beginning and _PROCESS.search(source.beginning) is not None


def read(source: Source) -> Kernels:
    """Read the times of XLA's operations.

    Returns
    -------
    Kernels
        A row per operation and device with seconds, and FLOPs and bytes if the events have them. `extra` has the
        columns ``"device"``, ``"program"`` and ``"hlo"``, the operation as text.

    Raises
    ------
    ProfileError
        If the file is damaged, or has no operation of XLA; the message says which file has more.
    """
    document = source.json()
    events = value_at(document, "traceEvents")
    if not isinstance(events, list):
        raise source.error("expected an object with a list 'traceEvents'")
    lanes = _lanes(events)
    found = [(at, event) for at, event in enumerate(events, 1) if _is_operation(event, lanes)]
    beside = _beside(source)
    if not found:
        instead = f"read {beside!r} beside it" if beside else "read the file .xplane.pb of the same run"
        raise source.error(f"the trace has no operation of XLA on a device; {instead}")
    rows = JsonRows(source.name, [event for _, event in found], [at for at, _ in found])
    arguments = [object_at(event, "args") for event in rows.rows]
    given = JsonRows(source.name, arguments, rows.numbered)
    own = given.numbers("device_duration_ps", is_text=True) / _PICO
    shown = rows.numbers("dur") / _MICRO
    time = np.where(np.isnan(own), shown, own)
    devices = [lanes.get(_lane(event), (None, ""))[0] for event in rows.rows]
    category = [_text(each, "hlo_category") for each in arguments]
    contains = np.array([word in CONTAINERS for word in category], dtype=np.bool_)
    flops, moved = (np.where(contains, np.nan, given.numbers(key, is_text=True)) for key in (_FLOPS, _BYTES))
    calls = Kernels(
        rows.texts("name"),
        flops,
        moved,
        time=time,
        self_time=time - _nested(rows, time),
        category=category,
        origin={
            "flops": [None if unknown else _FLOPS for unknown in np.isnan(flops).tolist()],
            "bytes:main": [None if unknown else _BYTES for unknown in np.isnan(moved).tolist()],
            "time": np.where(np.isnan(own), "dur", "device_duration_ps").tolist(),
        },
        extra={
            "device": devices,
            "program": [_text(each, "hlo_module") for each in arguments],
            "hlo": [_text(each, "long_name") for each in arguments],
        },
        warnings=_warnings(beside, len(events), devices, has_work=not np.isnan([flops, moved]).all()),
        source=source.name,
    )
    return calls.groupby("name", "device", "program", "hlo")


def _warnings(beside: str | None, events: int, devices: Sequence[str | None], *, has_work: bool) -> list[str]:
    work = _ALL_MEMORIES if has_work else _WORK
    messages = [f"{work}; read {beside!r}, which is beside this file" if beside else work]
    if events >= _MAX_EVENTS:
        messages.append(f"XLA's profiler writes at most {_MAX_EVENTS:,} events, so later operations may be missing")
    if not any(str(device).startswith(_DEVICE) for device in devices):
        messages.append("the trace has no device: these are XLA's operations on the host")
    return messages


def _beside(source: Source) -> str | None:
    """Return the name of the raw trace in the same folder: that of the same host, or the only one."""
    if source.path is None:
        return None
    host = source.path.name.partition(".trace.json")[0]
    same = source.beside(source.path.with_name(f"{host}.xplane.pb"))
    if same is not None and same.path is not None:
        return same.path.name
    try:
        others = sorted(source.path.parent.glob("*.xplane.pb"))
    except OSError:
        return None
    return others[0].name if len(others) == 1 and source.beside(others[0]) is not None else None


def _lanes(events: Sequence[Any]) -> dict[Lane, tuple[str, str]]:
    """Return the process and the name of each lane to read. Of a device, one kind of lane is read."""
    named = [event for event in events if isinstance(event, dict) and event.get("ph") == "M"]
    processes = {
        _key(event.get("pid")): str(object_at(event, "args").get("name"))
        for event in named
        if event.get("name") == "process_name"
    }
    lanes = {
        _lane(event): (processes.get(_key(event.get("pid")), ""), str(object_at(event, "args").get("name")))
        for event in named
        if event.get("name") == "thread_name"
    }
    with_operations = {pid for (pid, _), (_, thread) in lanes.items() if thread == _OPERATIONS}

    def is_read(lane: Lane, process: str, thread: str) -> bool:
        if not process.startswith(_DEVICE):
            return True
        return thread == _OPERATIONS if lane[0] in with_operations else _STREAM.search(thread) is not None

    return {lane: words for lane, words in lanes.items() if is_read(lane, *words)}


def _is_operation(event: object, lanes: Mapping[Lane, tuple[str, str]]) -> bool:
    if not (isinstance(event, dict) and event.get("ph") == "X"):
        return False
    process = lanes.get(_lane(event), ("", ""))[0]
    return process.startswith(_DEVICE) or (bool(process) and "hlo_op" in object_at(event, "args"))


def _nested(rows: JsonRows, time: Floats) -> Floats:
    """Return the seconds of the operations directly inside each operation of the same lane, shape (n,)."""
    start, duration = rows.numbers("ts") / _MICRO, np.nan_to_num(time)
    numbers: dict[Lane, int] = {}
    lane = np.array([numbers.setdefault(_lane(event), len(numbers)) for event in rows.rows])
    begin = np.nan_to_num(start) - np.nanmin(np.append(start, np.inf)) if len(rows) else start
    # Lanes follow each other on one axis.
    begin = begin + lane * (1 + 2 * float(np.max(begin + duration, initial=0.0)))
    order = np.lexsort((-duration, begin))
    starts = begin[order]
    depth = np.arange(len(order)) - np.searchsorted(np.sort(begin + duration), starts + _ROUNDING_S, side="right")
    inside = np.zeros(len(rows))
    for level in range(1, int(depth.max(initial=0)) + 1):
        parents, children = order[depth == level - 1], order[depth == level]
        owner = np.searchsorted(begin[parents], begin[children], side="right") - 1
        children, owner = children[owner >= 0], owner[owner >= 0]
        inside += np.bincount(parents[owner], duration[children], minlength=len(rows))
    return np.minimum(inside, duration)


def _lane(event: Mapping[str, Any]) -> Lane:
    return _key(event.get("pid")), _key(event.get("tid"))


def _key(value: object) -> Any:
    return value if isinstance(value, (int, float, str)) else None


def _text(arguments: Mapping[str, Any], key: str) -> str | None:
    value = arguments.get(key)
    return value or None if isinstance(value, str) else None
