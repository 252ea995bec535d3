"""Call trees: Triton's Proton, Hatchet's literals and dumps, and Caliper's json-split.

Proton: ``proton.start("run", hook="triton")`` and ``proton.finalize()`` write ``run.hatchet``. Hatchet:
``GraphFrame.dump("run.json")``, or a literal as `GraphFrame.from_literal` takes it. Caliper:
``CALI_CONFIG="hatchet-region-profile"`` writes ``region_profile.json``.

Proton's rows are the kernels, the leaves with ``time (ns)``. Time, ``bytes`` and ``flops``, ``flops8`` … are totals
over ``count`` launches. ``flops8`` to ``flops64`` are FLOPs of the precisions fp8, fp16, fp32 and fp64: Proton names
only the number of bits. If a scope has FLOPs or bytes of its own and its kernels have none, the longest kernel of the
scope gets the amount; if its kernels have amounts, that of the scope is their sum and is not read. Kernels that ran for
Proton's own hook (``__proton_launch_metadata``) are left out. The category is the scope around a kernel.

Hatchet's and Caliper's rows are the nodes: `time` includes called nodes, `self_time` is the exclusive metric. Hatchet
does not write units: pass ``unit="us"`` if the times are not seconds. Caliper's ``time.duration`` is in microseconds,
and ``time.duration.ns`` in nanoseconds. A rank is part of `Kernels.extra`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import numpy as np

from roofwidget.kernels.column_meanings import extra_name
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.devices import chip_of_capability, named_apart
from roofwidget.readers.folders import alone_in_a_folder, one_of
from roofwidget.readers.input.documents import object_at, value_at
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables.tool_table import factor
from roofwidget.support.did_you_mean import first_in
from roofwidget.support.text_tables import counted

FORMAT: Final = "hatchet"
EXPECTED: Final = "a call tree of Triton's Proton (.hatchet), of Hatchet, or of Caliper (json-split)"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_TREE: Final = ("frame", "metrics", "children")
_DUMP: Final = ("graph", "dataframe")
_SPLIT: Final = ("data", "columns", "column_metadata", "nodes")
_TIME: Final = "time (ns)"
_HOOK: Final = "__proton_launch_metadata"
_FLOPS: Final = {"flops": "", "flops8": "fp8", "flops16": "fp16", "flops32": "fp32", "flops64": "fp64"}
_AMOUNTS: Final = (*_FLOPS, "bytes")
_MAX_NAMED_DEVICES: Final = 3
# Numbers are below this, so that no product with a unit is too large for a double.
_LIMIT: Final = 1e290


@alone_in_a_folder
def recognises(source: Source) -> bool:
    """Whether the source is one of these call trees, or a folder with exactly one."""
    return _form(source.document(_may_be_tree)) is not None


def read(source: Source, *, unit: str = "s") -> Kernels:
    """Return the kernels of Proton, or the nodes of Hatchet or Caliper.

    Parameters
    ----------
    source
        The file.
    unit
        The unit of Hatchet's times, which the file does not name: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``.

    Raises
    ------
    ProfileError
        If the file is damaged or has no times, or a value is invalid.
    ValueError
        If `unit` is no unit of time.
    """
    scale = factor(unit, "s") if isinstance(unit, str) else None
    if scale is None:
        raise ValueError(f"unit must be a unit of time such as 'us', got {unit!r:.40}")
    source = one_of(source, recognises)
    document: Any = source.json(nan=True)
    form = _form(document)
    if form is None:
        raise source.error(f"expected {EXPECTED}")
    if form is _DUMP:
        return _of_dump(document, source, scale)
    if form is _SPLIT:
        return _of_caliper(document, source)
    nodes = list(_walked(document, source))
    return _of_proton(nodes, document, source) if _is_proton(nodes) else _of_literal(nodes, source, scale)


def _may_be_tree(text: str) -> bool:
    return all(f'"{key}"' in text for key in _TREE) or any(
        all(f'"{key}"' in text for key in keys[:2]) for keys in (_DUMP, _SPLIT)
    )


def _form(document: Any) -> tuple[str, ...] | None:
    """Return the keys that tell the form of a document; None for other documents."""
    if isinstance(document, dict):
        return next((keys for keys in (_DUMP, _SPLIT) if set(keys) <= document.keys()), None)
    is_tree = isinstance(document, list) and bool(document) and isinstance(document[0], dict)
    return _TREE if is_tree and {"frame", "metrics"} <= document[0].keys() else None


# -- trees ---------------------------------------------------------------------------------------------------------


@dataclass
class _Node:
    """A node of a tree.

    Parameters
    ----------
    name, parent
        Its name, and the number of the node around it (-1 for a root).
    metrics
        Its numbers and texts.
    place, source
        Where it is in the file, and the file.
    is_of_hook
        Whether Proton's hook ran it.
    """

    name: str
    parent: int
    metrics: Mapping[str, Any]
    place: str
    source: Source
    is_of_hook: bool = False

    def number(self, key: str) -> float:
        """Return a metric; NaN if the node lacks it."""
        return _amount(self.metrics.get(key), key, self.place, self.source)


def _walked(document: Sequence[Any], source: Source) -> Iterator[_Node]:
    """Yield the nodes, each after the node around it."""
    numbers = 0
    waiting = [
        (given, -1, False, f"[{at}]")
        for at, given in reversed(list(enumerate(document)))
        if isinstance(given, dict) and "frame" in given
    ]
    while waiting:
        given, parent, is_of_hook, place = waiting.pop()
        frame, metrics, children = (value_at(given, key) for key in _TREE)
        name = value_at(frame, "name")
        if not isinstance(name, str) or not isinstance(metrics, dict):
            raise source.error("expected a node with frame.name and metrics", place=place)
        is_of_hook = is_of_hook or name == _HOOK
        yield _Node(name, parent, metrics, place, source, is_of_hook)
        below = children if isinstance(children, list) else []
        waiting += [
            (child, numbers, is_of_hook, f"{place}.children[{at}]") for at, child in reversed(list(enumerate(below)))
        ]
        numbers += 1


def _amount(value: Any, key: str, place: str, source: Source) -> float:
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _LIMIT:
        raise source.error(f"'{key}': expected a number from 0, got {value!r:.40}", place=place)
    return float(value)


def _column(nodes: Iterable[_Node], key: str) -> Floats:
    return np.array([node.number(key) for node in nodes])


def _is_proton(nodes: Sequence[_Node]) -> bool:
    return any(_TIME in node.metrics or "device_id" in node.metrics for node in nodes)


def _of_proton(nodes: Sequence[_Node], document: Sequence[Any], source: Source) -> Kernels:
    timed = [number for number, node in enumerate(nodes) if node.number(_TIME) > 0]
    kernels = [number for number in timed if not nodes[number].is_of_hook]
    if not kernels:
        raise source.error("no kernel with a time in ns: cycles and samples of Proton are not read")
    rows = [nodes[number] for number in kernels]
    amounts = {key: _column(rows, key) for key in _AMOUNTS}
    time = _column(rows, _TIME)
    warnings = _with_scopes(nodes, kernels, amounts, time)
    left_out = len(timed) - len(kernels)
    if left_out:
        warnings.append(f"{counted(left_out, 'row')} left out: kernels of Proton's own hook")
    flops = {precision: amounts[key] for key, precision in _FLOPS.items() if not np.isnan(amounts[key]).all()}
    if "fp8" in flops:
        warnings.append("flops8 is taken for fp8: Proton does not tell fp8 from int8")
    unknown = [
        what for what, is_known in (("FLOPs", flops), ("bytes", not np.isnan(amounts["bytes"]).all())) if not is_known
    ]
    if unknown:
        warnings.append(
            f"{' and '.join(unknown)} are unknown: hook='triton' and metadata of kernels, or scopes, give them"
        )
    devices = [_device(row.metrics) for row in rows]
    count = _column(rows, "count")
    return Kernels(
        named_apart([row.name for row in rows], devices),
        flops,
        amounts["bytes"],
        time=time * 1e-9,
        count=np.where(np.isnan(count), 1.0, count),
        category=[_scope(nodes, number) for number in kernels],
        origin={
            "time": _TIME,
            "bytes": "bytes of the kernel or its scope",
            **{
                f"flops:{precision}" if precision else "flops": key
                for key, precision in _FLOPS.items()
                if precision in flops
            },
        },
        extra={"device": devices},
        warnings=[*warnings, *_device_warning(document, {device for device in devices if device})],
        source=source.name,
    )


def _with_scopes(nodes: Sequence[_Node], kernels: Sequence[int], amounts: dict[str, Floats], time: Floats) -> list[str]:
    """Give amounts of scopes to the longest of their kernels, where these have none, and return warnings."""
    rows = {number: row for row, number in enumerate(kernels)}
    own = {key: {n for n, node in enumerate(nodes) if n not in rows and node.metrics.get(key)} for key in _AMOUNTS}
    given = several = double = 0
    for key, scopes in own.items():
        below: dict[int, list[int]] = {scope: [] for scope in scopes if not nodes[scope].is_of_hook}
        for number, row in rows.items() if below else ():
            # The innermost scope with an amount owns the kernel.
            around = nodes[number].parent
            while around >= 0 and around not in below:
                around = nodes[around].parent
            if around >= 0:
                below[around].append(row)
        for scope, members in below.items():
            if not members:
                continue
            if not np.isnan(amounts[key][members]).all():
                double += 1
                continue
            longest = members[int(np.argmax(time[members]))]
            amounts[key][longest] = nodes[scope].number(key)
            given, several = given + 1, several + (len(members) > 1)
    return [
        *([f"{several:,} amounts of scopes are those of the longest kernel of the scope"] if several else []),
        *([f"{double:,} amounts of scopes are not read: their kernels have amounts"] if double else []),
    ]


def _scope(nodes: Sequence[_Node], number: int) -> str | None:
    parent = nodes[number].parent
    return nodes[parent].name if parent >= 0 and nodes[parent].parent >= 0 else None


def _device(metrics: Mapping[str, Any]) -> str | None:
    number, kind = metrics.get("device_id"), metrics.get("device_type")
    return None if number is None else f"{kind if isinstance(kind, str) else 'device'} ({number})"


def _device_warning(document: Sequence[Any], used: set[str]) -> list[str]:
    """Return the warning that the file does not name the GPU, with what it says of it."""
    about = next((one for one in document if isinstance(one, dict) and "frame" not in one), {})
    devices = [
        (f"{kind} ({number})", device)
        for kind, found in about.items()
        if isinstance(found, dict)
        for number, device in found.items()
        if isinstance(device, dict) and f"{kind} ({number})" in used
    ]
    texts = []
    example = "h100-sxm"
    for name, device in devices[:_MAX_NAMED_DEVICES]:
        arch = str(device.get("arch", "unknown"))[:20]
        is_capability = re.fullmatch(r"\d{2,3}", arch) is not None
        example = chip_of_capability(int(arch) / 10) if is_capability else "mi300x"
        bus, clock, units = (device.get(key) for key in ("bus_width", "memory_clock_rate", "num_sms"))
        # The bus moves data twice a clock. The clock is in kHz, the width in bits.
        rate = f", {2 * bus / 8 * clock * 1e3 / 1e12:.3g} TB/s" if _is_count(bus) and _is_count(clock) else ""
        texts.append(f"{name} is {'sm_' if is_capability else ''}{arch} with {units} multiprocessors{rate}")
    return [f"the file does not name the GPU; {', '.join(texts)}: name a chip, such as {example}"] if texts else []


def _is_count(given: Any) -> TypeGuard[int]:
    return type(given) is int and 0 < given < 2**40


# -- Hatchet -------------------------------------------------------------------------------------------------------

_EXCLUSIVE: Final = ("time", "time (s)", "Total time", "time (us)")
_INCLUSIVE: Final = ("time (inc)", "time (s) (inc)", "time (inc) (s)")


def _of_literal(nodes: Sequence[_Node], source: Source, scale: float) -> Kernels:
    parents = [nodes[node.parent].name if node.parent >= 0 else None for node in nodes]
    columns = {
        key: _column(nodes, key)
        for key in (*_EXCLUSIVE, *_INCLUSIVE, *_AMOUNTS)
        if any(key in node.metrics for node in nodes)
    }
    return _of_columns([node.name for node in nodes], columns, {"parent": parents}, source, scale)


def _of_dump(document: Mapping[str, Any], source: Source, scale: float) -> Kernels:
    """Return the rows of ``GraphFrame.dump``: a graph, and a data frame with a row per node (and rank)."""
    records = document["dataframe"]
    if not isinstance(records, list) or not records or not all(isinstance(one, dict) for one in records):
        raise source.error("expected a list of objects under 'dataframe'")
    names, parents = _graph(document["graph"])
    nodes = [_Node(_name(one, names), -1, one, f"dataframe[{at}]", source) for at, one in enumerate(records)]
    metrics = document.get("exclusive_metrics"), document.get("inclusive_metrics")
    listed = [name for found in metrics if isinstance(found, list) for name in found if isinstance(name, str)]
    wanted = dict.fromkeys((*_EXCLUSIVE, *_INCLUSIVE, *_AMOUNTS, *listed[:100]))
    there = [key for key in wanted if any(key in one for one in records)]
    columns = {key: _column(nodes, key) for key in there}
    extra: dict[str, Any] = {"parent": [parents.get(str(one.get("node"))) for one in records]}
    if any("rank" in one for one in records):
        extra["rank"] = _column(nodes, "rank")
    return _of_columns([node.name for node in nodes], columns, extra, source, scale)


def _name(record: Mapping[str, Any], names: Mapping[str, str]) -> str:
    name = record.get("name")
    return name if isinstance(name, str) else names.get(str(record.get("node")), "")


def _graph(given: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of nodes, and the names of the nodes around them, by their numbers."""
    roots = [root for root in (given if isinstance(given, list) else [given]) if isinstance(root, dict)]
    nodes = {number: node for root in roots for number, node in root.items() if isinstance(node, dict)}
    names = {
        number: data["name"]
        for number, node in nodes.items()
        if isinstance(data := node.get("data"), dict) and isinstance(data.get("name"), str)
    }
    parents = {
        str(child): names[number]
        for number, node in nodes.items()
        if isinstance(node.get("children"), list) and number in names
        for child in node["children"]
    }
    return names, parents


def _of_columns(
    names: list[str], columns: Mapping[str, Floats], extra: Mapping[str, Any], source: Source, scale: float
) -> Kernels:
    exclusive, inclusive = first_in(_EXCLUSIVE, columns), first_in(_INCLUSIVE, columns)
    time = inclusive or exclusive
    if time is None:
        raise source.error(f"no metric 'time' and no 'time (inc)' among the metrics of {len(names)} nodes")
    flops = {precision: columns[key] for key, precision in _FLOPS.items() if key in columns}
    own_unit = {"(us)": 1e-6, "(s)": 1.0}
    factors = {key: next((f for mark, f in own_unit.items() if mark in key), scale) for key in (time, exclusive) if key}
    used = {exclusive, inclusive, *_AMOUNTS}
    return Kernels(
        names,
        flops,
        columns.get("bytes", {}),
        time=columns[time] * factors[time],
        self_time=columns[exclusive] * factors[exclusive] if exclusive and inclusive else None,
        origin={"time": time, **({"self_time": exclusive} if exclusive and inclusive else {})},
        extra={**extra, **{extra_name(key, "Hatchet"): column for key, column in columns.items() if key not in used}},
        warnings=[f"the file has no unit of '{time}': the times are taken for {_shown(factors[time])}"],
        source=source.name,
    )


def _shown(scale: float) -> str:
    return {1.0: "seconds", 1e-3: "ms", 1e-6: "us", 1e-9: "ns"}.get(scale, f"{scale:g} s")


# -- Caliper -------------------------------------------------------------------------------------------------------

_DURATION: Final = re.compile(
    r"(?P<of>(?:(?:sum|avg|min|max|any|inclusive)#)*)(?:time\.duration(?P<ns>\.ns)?|(?P<s>Total time|time))"
    r"(?P<inc> \((?:inc|I)\))?"
)

_FUNCTION: Final = "source.function#"


def _of_caliper(document: Mapping[str, Any], source: Source) -> Kernels:
    """Return the rows of json-split: values, and numbers of nodes whose labels are the names."""
    names, rows, nodes = (document[key] for key in ("columns", "data", "nodes"))
    about = document["column_metadata"]
    is_table = all(isinstance(one, list) for one in (names, rows, nodes, about)) and len(about) == len(names)
    if not is_table or not all(isinstance(name, str) for name in names):
        raise source.error("expected lists of columns, of their metadata, of rows and of nodes")
    if not rows:
        raise source.error("the file has no row under 'data'")
    for at, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(names):
            raise source.error(f"expected {len(names)} values", place=f"data[{at}]")
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    paths = [
        name for name, one in zip(names, about, strict=True) if isinstance(one, dict) and not one.get("is_value", True)
    ]
    # The other columns of nodes, such as modules and source lines, say less than the region or the function.
    regions = [name for name in paths if name == "path"] + [name for name in paths if name.startswith(_FUNCTION)]
    path = next(iter([*regions, *paths]), None)
    if path is None:
        raise source.error("no column of nodes, such as 'path'")
    labels, parents = _labels(nodes, cells[path], source)
    found = [(match, name) for name in names if name != path and (match := _DURATION.fullmatch(name))]
    own = _best([(match, name) for match, name in found if "inclusive" not in match["of"] and not match["inc"]])
    whole = _best([(match, name) for match, name in found if "inclusive" in match["of"] or match["inc"]])
    time = whole or own
    if time is None:
        raise source.error(f"no column of times (time.duration) among {', '.join(names[:12])}")
    used = {path, *(one[1] for one in (own, whole) if one)}
    numbers = {name: _plain(cells[name]) for name in names if name not in used and name not in paths}
    return Kernels(
        labels,
        {},
        {},
        time=_values(cells[time[1]], time[1], source) * _seconds(time[0]),
        self_time=_values(cells[own[1]], own[1], source) * _seconds(own[0]) if own and whole else None,
        origin={"time": time[1], **({"self_time": own[1]} if own and whole else {})},
        extra={
            "parent": parents,
            **{extra_name(name, "Caliper"): column for name, column in numbers.items() if column is not None},
        },
        warnings=["Caliper's regions have no FLOPs and no bytes: work= gives them"],
        source=source.name,
    )


def _best(found: Sequence[tuple[re.Match[str], str]]) -> tuple[re.Match[str], str] | None:
    """Return the column that is a sum or a mean, not an extreme of several processes."""
    ranked = sorted(found, key=lambda one: ("min#" in one[0]["of"] or "max#" in one[0]["of"], "avg#" in one[0]["of"]))
    return ranked[0] if ranked else None


def _seconds(match: re.Match[str]) -> float:
    if match["s"]:
        return 1.0
    return 1e-9 if match["ns"] else 1e-6


def _labels(nodes: Sequence[Any], numbers: Sequence[Any], source: Source) -> tuple[list[str], list[str | None]]:
    """Return the label of each row's node, and the label of the node around it."""
    labels = [str(object_at(node).get("label", "")) for node in nodes]
    around = [value_at(node, "parent") for node in nodes]
    for at, number in enumerate(numbers):
        if number is not None and not (type(number) is int and 0 <= number < len(nodes)):
            raise source.error(f"expected the number of a node, got {number!r:.40}", place=f"data[{at}]")
    parents = [labels[one] if type(one) is int and 0 <= one < len(labels) else None for one in around]
    return (
        ["(outside of all regions)" if number is None else labels[number] for number in numbers],
        [None if number is None else parents[number] for number in numbers],
    )


def _values(cells: Sequence[Any], name: str, source: Source) -> Floats:
    return np.array([_amount(cell, name, f"data[{at}]", source) for at, cell in enumerate(cells)])


def _plain(cells: Sequence[Any]) -> Floats | None:
    """Return a column of numbers; None for other columns."""
    kinds = set(map(type, cells)) - {type(None)}
    if not kinds or not kinds <= {int, float}:
        return None
    with np.errstate(over="ignore"):
        found = np.array([np.nan if cell is None else float(min(cell, 1e300)) for cell in cells], dtype=np.float64)
    return found if np.isfinite(found[~np.isnan(found)]).all() else None
