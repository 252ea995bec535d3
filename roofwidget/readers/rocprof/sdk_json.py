"""The JSON of rocprofv3 (``--output-format json``): dispatches, their counters and the GPUs, for each process."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.readers.devices import gfx_of
from roofwidget.readers.input.documents import list_at, value_at
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof.passes import COUNTER_LIMIT, Pass, kernel_name
from roofwidget.readers.rocprof.rocpd import OF_INSTANCES, Gpu

_ROOT: Final = "rocprofiler-sdk-tool"
_NANOSECONDS: Final = 1e9
_GPU: Final = 2
"""The type of agents that are GPUs."""


def is_sdk_json(source: Source) -> bool:
    """Return whether the source begins like the JSON of rocprofv3."""
    return not source.is_folder and f'"{_ROOT}"' in source.beginning[:1000]


def read(source: Source) -> tuple[Pass, list[Gpu]]:
    """Return the dispatches of all processes, and the GPUs that they ran on.

    Raises
    ------
    ProfileError
        If the file is not JSON, has no dispatch, or a value is missing or invalid.
    """
    document = source.json()
    root = value_at(document, _ROOT)
    processes = [one for one in (root if isinstance(root, list) else [root]) if isinstance(one, dict)]
    found = [_dispatches(process, number, source) for number, process in enumerate(processes)]
    dispatches = [dispatch for one in found for dispatch in one]
    if not dispatches:
        raise source.error("the file has no dispatch of a kernel: rocprofv3 --kernel-trace writes them")
    dispatches.sort(key=lambda one: one.start)
    elapsed = np.array([one.end - one.start for one in dispatches], dtype=np.int64)
    ids = np.array([one.number for one in dispatches], dtype=np.int64)
    counters, sizes = (
        {
            name: functools.partial(np.array, [part.get(name) for part in parts], dtype=np.float64)
            for name in dict.fromkeys(name for part in parts for name in part)
        }
        for parts in ([one.counters for one in dispatches], [one.sizes for one in dispatches])
    )
    names = np.empty(len(dispatches), dtype=object)
    names[:] = [one.name for one in dispatches]
    moved = sum(len(list_at(process, "buffer_records", "memory_copy")) for process in processes)
    return Pass(
        source,
        names,
        ids if len(np.unique(ids)) == len(ids) else None,
        elapsed / _NANOSECONDS,
        "end_timestamp - start_timestamp",
        counters,
        range(1, len(ids) + 1),
        sizes,
        [f"{moved:,} cop{'y is' if moved == 1 else 'ies are'} not read: only kernels are"] if moved else [],
    ), list(dict.fromkeys(one.gpu for one in dispatches if one.gpu is not None))


@dataclass(frozen=True)
class _Dispatch:
    """One dispatch of a kernel."""

    number: int
    name: str
    start: int
    end: int
    gpu: Gpu | None
    sizes: Mapping[str, float]
    counters: Mapping[str, float]


def _dispatches(process: Mapping[str, Any], number: int, source: Source) -> list[_Dispatch]:
    """Return the dispatches of one process."""
    names = _names(process)
    gpus = {handle: gpu for agent in list_at(process, "agents") for handle, gpu in _agent(agent)}
    counted = list_at(process, "callback_records", "counter_collection")
    counters = _counters(process, counted, source)
    records = list_at(process, "buffer_records", "kernel_dispatch")
    where = "buffer_records.kernel_dispatch"
    if not records:
        records = [value_at(one, "dispatch_data") for one in counted if isinstance(one, dict)]
        where = "callback_records.counter_collection"
    found = []
    for row, record in enumerate(records):
        place = f"{_ROOT}[{number}].{where}[{row}]"
        info = value_at(record, "dispatch_info")
        if not isinstance(info, dict):
            raise source.error("expected an object with dispatch_info", place=place)
        start, end = (_whole(record, key, place, source) for key in ("start_timestamp", "end_timestamp"))
        if end < start:
            raise source.error("the kernel ends before it starts", place=place)
        dispatch = _whole(info, "dispatch_id", place, source)
        gpu, index = gpus.get(_handle(info.get("agent_id")), (None, np.nan))
        sizes = {"Dispatch_ID": float(dispatch), "GPU_ID": index, **_sizes(info)}
        name = names.get(info.get("kernel_id"), "kernel")
        found.append(_Dispatch(dispatch, name, start, end, gpu, sizes, counters.get(dispatch, {})))
    return found


def _names(process: Mapping[str, Any]) -> dict[Any, str]:
    """Return the names of kernels by the ids of their symbols."""
    keys = ("formatted_kernel_name", "demangled_kernel_name", "kernel_name")
    found = {}
    for symbol in list_at(process, "kernel_symbols"):
        if isinstance(symbol, dict) and type(symbol.get("kernel_id")) is int:
            name = next((text for key in keys if isinstance(text := symbol.get(key), str) and text), "")
            found[symbol["kernel_id"]] = kernel_name(name)
    return found


def _agent(agent: Any) -> Iterator[tuple[Any, tuple[Gpu, float]]]:
    """Yield the handle of a GPU, and what it is."""
    if not isinstance(agent, dict) or agent.get("type") != _GPU:
        return
    units, index = agent.get("cu_count"), agent.get("gpu_index", agent.get("logical_node_type_id"))
    name, model = (text if isinstance(text := agent.get(key), str) else "" for key in ("name", "product_name"))
    gpu = Gpu(gfx_of(name), model.strip(), _number(units) if _number(units) > 0 else None)
    yield _handle(agent.get("id")), (gpu, _number(index))


def _counters(process: Mapping[str, Any], counted: Sequence[Any], source: Source) -> dict[int, dict[str, float]]:
    """Return the sums of the counters' instances by dispatch."""
    names = {
        _handle(counter.get("id")): counter["name"]
        for counter in list_at(process, "counters")
        if isinstance(counter, dict) and isinstance(counter.get("name"), str)
    }
    found: dict[int, dict[str, float]] = {}
    for one in counted:
        dispatch = value_at(one, "dispatch_data", "dispatch_info", "dispatch_id")
        if type(dispatch) is not int:
            continue
        sums = found.setdefault(dispatch, {})
        for record in list_at(one, "records"):
            name, value = names.get(_handle(value_at(record, "counter_id"))), value_at(record, "value")
            if not name:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < COUNTER_LIMIT:
                raise source.error(f"dispatch {dispatch}: counter '{name}' is {value!r:.30}")
            sums[name] = sums.get(name, 0.0) + value
        sums |= {f"{name}_sum": value for name, value in sums.items() if OF_INSTANCES.fullmatch(name)}
    return found


def _sizes(info: Mapping[str, Any]) -> dict[str, float]:
    """Return sizes by the names that tables of rocprof-compute have."""
    found = {
        "LDS_Per_Workgroup": _number(info.get("group_segment_size")),
        "Scratch_Per_Workitem": _number(info.get("private_segment_size")),
    }
    for ours, theirs in (("Grid_Size", "grid_size"), ("Workgroup_Size", "workgroup_size")):
        sizes = info.get(theirs)
        extents = [_number(sizes.get(axis)) for axis in "xyz"] if isinstance(sizes, dict) else [np.nan]
        found[ours] = float(np.prod(extents))
    return found


def _number(given: Any) -> float:
    """Return a count as a number; NaN for other values."""
    return float(given) if _is_count(given) else np.nan


def _is_count(given: Any) -> bool:
    return type(given) is int and 0 <= given < COUNTER_LIMIT


def _whole(record: Mapping[str, Any], key: str, place: str, source: Source) -> int:
    value = record.get(key)
    if not _is_count(value):
        raise source.error(f"'{key}': expected a whole number, got {value!r:.40}", place=place)
    return int(value)  # type: ignore[arg-type]  # a count


def _handle(given: Any) -> Any:
    handle = value_at(given, "handle")
    return handle if type(handle) is int else None
