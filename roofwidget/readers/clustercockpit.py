"""ClusterCockpit: the archive of a job, `meta.json` (the job as one row) or `data.json` (a row per node).

cc-backend writes both, as ``job-archive/CLUSTER/…/START/meta.json`` and ``data.json.gz``. Read either file, or the
folder of a job, whose rows are those of its ``data.json``. The jobs of a cluster are
``rw.read_many("job-archive/emmy/*/*/*/meta.json").merge()``.

- ``meta.json``: `time` is ``duration``. FLOPs and bytes are the mean rates of a node, ``statistics.….avg``, times
  ``numNodes`` times ``duration``: amounts of all nodes in the time of one.
- ``data.json``: `time` is the number of samples times ``timestep``, and FLOPs and bytes are the sums of the same
  samples times ``timestep``. A sample that one of the metrics lacks (``null``) is left out of all, with its time.
  Samples of sockets or cores are added if the file has none of nodes. ``statistics`` of the series are not used.
- FLOPs: ``flops_sp`` and ``flops_dp``, as fp32 and fp64. If the file lacks one of the two, FLOPs are ``flops_any``,
  which is ``flops_sp`` + 2 x ``flops_dp`` in ClusterCockpit; a warning says so. Bytes: ``mem_bw``.
- The unit that stands beside the numbers is used, such as ``{"base": "F/s", "prefix": "G"}`` or ``"GF/s"``. Numbers
  without a unit are an error.

The roofs are those of a node, not of a CPU. ``cluster.json`` has its figures by subcluster: ``flopRateSimd``, the peak
of fp32, of which fp64 has half on most CPUs, and ``memoryBandwidth``. The chip of a node ``haswell``::

    rw.Chip("haswell", {"fp32": "112 GFLOP/s", "fp64": "56 GFLOP/s"}, {"DRAM": "24 GB/s"})

The row of a ``meta.json`` needs ``numNodes`` times these figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import ASKED_PRECISION, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.folders import members_of
from roofwidget.readers.input.documents import list_at, object_at, value_at
from roofwidget.readers.input.source import Source
from roofwidget.support.arguments import shown_value
from roofwidget.units import format_quantity, prefix_factor

FORMAT: Final = "clustercockpit"
EXPECTED: Final = "meta.json or data.json of a job in an archive of ClusterCockpit"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_PRECISIONS: Final = ("flops_sp", "flops_dp")
_ANY: Final = "flops_any"
_BYTES: Final = "mem_bw"
_METRICS: Final = {"flops_sp": "FLOP/s", "flops_dp": "FLOP/s", _ANY: "FLOP/s", _BYTES: "B/s"}
_KEYS: Final = {"flops_sp": "fp32", "flops_dp": "fp64", _ANY: ASKED_PRECISION}
_UNITS: Final = {
    "FLOP/s": re.compile(r"([kKMGTPE]?)F(?:[Ll][Oo][Pp][Ss]?)?/s"),
    "B/s": re.compile(r"((?:[kKMGTPE]i?)?)B(?:ytes?)?/s"),
}
# From the coarsest to the finest.
_SCOPES: Final = ("node", "socket", "memoryDomain", "core", "hwthread")
_WORDS: Final = ('"jobId"', '"series"', '"subClusters"')
# The product of four numbers below this limit is still finite.
_MAX_NUMBER: Final = 1e60
_NUMBERS: Final = {int, float, type(None)}


def recognises(source: Source) -> bool:
    """Whether the source is a file of ClusterCockpit, or a folder with the files of one job."""
    if not source.is_folder:
        return _kind(source) is not None
    kinds = [_kind(member) for member in members_of(source, lambda member: _kind(member) in {"data", "meta"})]
    return bool(kinds) and len(set(kinds)) == len(kinds)


def read(source: Source) -> Kernels:
    """Read a job, or the nodes of a job.

    Returns
    -------
    Kernels
        A row for the job or for each node, with seconds, FLOPs by precision if the file has them, and bytes.

    Raises
    ------
    ProfileError
        If the file describes no job, has neither FLOPs nor bytes, or a value is invalid. The message for
        ``cluster.json`` has the chip of a node.
    """
    members = members_of(source, lambda member: _kind(member) is not None) if source.is_folder else [source]
    files = {_kind(member): member for member in members}
    if len(files) < len(members):
        raise source.error("the folder has the files of several jobs: read the folder of one job")
    if "data" in files:
        return _nodes(files["data"], files.get("meta"), source.name)
    if "meta" in files:
        return _job(files["meta"])
    if "cluster" in files:
        raise _machines(files["cluster"])
    raise source.error(f"expected {EXPECTED}")


def _kind(source: Source) -> str | None:
    """Return which file of an archive this is; None for another file."""
    if not source.beginning.lstrip("\ufeff \t\r\n").startswith("{") or not _may_be_one(source.first):
        return None
    document = source.document(_may_be_one)
    if not isinstance(document, dict):
        return None
    if "jobId" in document and isinstance(document.get("statistics"), dict):
        return "meta"
    if isinstance(document.get("subClusters"), list) and "metricConfig" in document:
        return "cluster"
    return "data" if any(_scope(scopes) for scopes in document.values()) else None


def _may_be_one(text: str) -> bool:
    return any(word in text for word in _WORDS)


def _job(source: Source) -> Kernels:
    meta: Any = source.json()
    statistics = object_at(meta, "statistics")
    metrics, messages = _metrics(source, [key for key in statistics if object_at(statistics, key)])
    duration, nodes = (_figure(source, meta.get(key), key) for key in ("duration", "numNodes"))
    amounts = {
        metric: _numbers(source, [value_at(statistics, metric, "avg")], f"statistics.{metric}.avg")
        * (_factor(source, statistics[metric], _METRICS[metric], f"statistics.{metric}") * nodes * duration)
        for metric in metrics
    }
    if nodes > 1:
        messages.append(
            f"FLOPs and bytes are those of {nodes:g} nodes together: compare them with the roofs of as many nodes"
        )
    # Older files have a number: 1 is a job alone on its nodes.
    if meta.get("shared") not in (None, "none") or meta.get("exclusive") not in (None, 1):
        messages.append("the job shared its nodes with other jobs, whose FLOPs and bytes may be counted")
    origin = "mean rate of a node x numNodes x duration"
    kernels = _kernels([_name(source, meta)], amounts, np.array([duration]), origin, "duration")
    return kernels.replace(warnings=messages, extra={"nodes": [nodes]}, source=source.name)


def _nodes(source: Source, meta: Source | None, name: str) -> Kernels:
    document: Any = source.json()
    metrics, messages = _metrics(source, [key for key in document if _scope(document[key])])
    series = {metric: _Series(source, metric, document[metric]) for metric in metrics}
    steps = {one.timestep for one in series.values()}
    if len(steps) > 1:
        shown = ", ".join(f"{metric} {one.timestep:g} s" for metric, one in series.items())
        raise source.error(f"the metrics have samples at different times ({shown}): read the job's meta.json")
    (step,) = steps
    hosts = list(dict.fromkeys(host for one in series.values() for host in one.hosts))
    amounts = {metric: np.full(len(hosts), np.nan) for metric in metrics}
    time, lacking = np.full(len(hosts), np.nan), 0
    for row, host in enumerate(hosts):
        present = [metric for metric in metrics if host in series[metric].hosts]
        table = _columns([series[metric].hosts[host] for metric in present])
        known = table[~np.isnan(table).any(axis=1)]
        lacking += len(table) - len(known)
        if len(known):
            time[row] = len(known) * step
            for metric, column in zip(present, known.T, strict=True):
                amounts[metric][row] = math.fsum(column.tolist()) * (series[metric].factor * step)
    if lacking:
        messages.append(f"samples that a metric lacks were left out, with their time: {lacking:,}")
    job = "" if meta is None else f" of {_name(meta, meta.json())}"
    origin = f"samples{job} x timestep"
    return _kernels(hosts, amounts, time, origin, origin).replace(warnings=messages, source=name)


def _metrics(source: Source, present: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the metrics to read of those that a file has, and warnings."""
    found = [_BYTES] if _BYTES in present else []
    messages = [] if found else [f"bytes are unknown: the file has no {_BYTES}"]
    if all(metric in present for metric in _PRECISIONS):
        return [*_PRECISIONS, *found], messages
    if _ANY in present:
        twice = "which counts a FLOP of double precision twice: the file has not both flops_sp and flops_dp"
        return [_ANY, *found], [*messages, f"FLOPs are {_ANY}, {twice}"]
    lacks = f"the file has neither {_ANY} nor both flops_sp and flops_dp"
    if not found:
        raise source.error(f"{lacks}, and no {_BYTES}")
    return found, [f"FLOPs are unknown: {lacks}"]


class _Series:
    """The samples of a metric by host, the seconds between two of them, and the factor of their unit."""

    def __init__(self, source: Source, metric: str, scopes: object) -> None:
        scope = _scope(scopes)
        about, place = object_at(scopes, scope), f"{metric}.{scope}"
        self.timestep = _figure(source, about.get("timestep"), f"{place}.timestep")
        self.factor = _factor(source, about, _METRICS[metric], place)
        parts: dict[str, dict[str | None, Floats]] = {}
        for at, one in enumerate(about["series"]):
            host, data = value_at(one, "hostname"), value_at(one, "data")
            where = f"{place}.series[{at}]"
            if not (isinstance(host, str) and isinstance(data, list)):
                raise source.error("expected an object with a text 'hostname' and a list 'data'", place=where)
            of_host, part = parts.setdefault(host, {}), str(one.get("id")) if scope != "node" else None
            if part in of_host:
                raise source.error(f"the samples of host {shown_value(host)} are there twice", place=where)
            of_host[part] = _numbers(source, data, f"{where}.data")
        self.hosts = {host: _columns([*of_host.values()]).sum(axis=1) for host, of_host in parts.items()}


def _scope(scopes: object) -> str:
    """Return the coarsest scope with samples of a metric; an empty text if there is none."""
    return next((scope for scope in _SCOPES if list_at(scopes, scope, "series")), "")


def _columns(parts: Sequence[Floats]) -> Floats:
    """Return columns of one length, shape (samples, parts), with NaN where a part ends earlier than another."""
    found = np.full((max(map(len, parts)), len(parts)), np.nan)
    for at, part in enumerate(parts):
        found[: len(part), at] = part
    return found


def _kernels(names: Sequence[str], amounts: dict[str, Floats], time: Floats, origin: str, timed: str) -> Kernels:
    unknown = np.full(len(names), np.nan)
    flops = _by_precision(amounts) if _PRECISIONS[0] in amounts else {_ANY: amounts.get(_ANY, unknown)}
    known = {metric: values for metric, values in flops.items() if not np.isnan(values).all()}
    return Kernels(
        names,
        {_KEYS[metric]: values for metric, values in known.items()} or unknown,
        amounts.get(_BYTES, unknown),
        time=time,
        origin={f"flops:{_KEYS[metric]}".rstrip(":"): f"{metric}: {origin}" for metric in known}
        | ({"bytes": f"{_BYTES}: {origin}"} if _BYTES in amounts else {})
        | {"time": timed},
    )


def _by_precision(amounts: dict[str, Floats]) -> dict[str, Floats]:
    """Return FLOPs by metric. A row without FLOPs of a precision needs no peak of this precision."""
    single, double = (amounts[metric] for metric in _PRECISIONS)
    unknown = np.isnan(single + double)
    return {
        _PRECISIONS[0]: np.where(unknown | ((single == 0) & (double > 0)), np.nan, single),
        _PRECISIONS[1]: np.where(unknown | (double == 0), np.nan, double),
    }


def _machines(source: Source) -> ProfileError:
    """Return the error for the file of a cluster's machines, with the chip of a node of the first subcluster."""
    about = next(iter(list_at(source.json(), "subClusters")), None)
    shown = []
    for key, unit in (("flopRateSimd", "FLOP/s"), ("memoryBandwidth", "B/s")):
        given, place = value_at(about, key), f"subClusters[0].{key}"
        # Older files have numbers alone, in GF/s and GB/s.
        record = given if isinstance(given, dict) else {"value": given, "unit": f"G{unit}"}
        figure = _figure(source, record.get("value"), f"{place}.value") * _factor(source, record, unit, place)
        shown.append(format_quantity(figure, unit, 4))
    chip = f"rw.Chip({shown_value(value_at(about, 'name'))}, {{'fp32': '{shown[0]}'}}, {{'DRAM': '{shown[1]}'}})"
    return source.error(f"the file describes the machines of a cluster, not a job; the chip of a node is {chip}")


def _name(source: Source, meta: Any) -> str:
    job = value_at(meta, "jobId")
    if isinstance(job, bool) or not isinstance(job, (int, str)):
        raise source.error(f"expected the number of the job, got {shown_value(job)}", place="jobId")
    return f"job {job}"


def _factor(source: Source, record: dict[str, Any], unit: str, place: str) -> float:
    """Return the factor of the unit that a record has, to ``"FLOP/s"`` or ``"B/s"``."""
    given = record.get("unit")
    written = f"{given.get('prefix') or ''}{given.get('base')}" if isinstance(given, dict) else str(given)
    found = _UNITS[unit].fullmatch(written)
    if found is None:
        example = {"base": unit.replace("FLOP", "F"), "prefix": "G"}
        raise source.error(f"expected a unit such as {example}, got {shown_value(given)}", place=f"{place}.unit")
    return prefix_factor(found[1])


def _figure(source: Source, value: object, place: str) -> float:
    """Return a number above 0."""
    (found,) = _numbers(source, [value], place)
    if not found > 0:
        raise source.error(f"expected a number above 0, got {shown_value(value)}", place=place)
    return float(found)


def _numbers(source: Source, values: list[Any], place: str) -> Floats:
    """Return numbers, shape (n,), NaN for null."""
    are_numbers = {*map(type, values)} <= _NUMBERS
    wrong = [
        at
        for at, value in enumerate(values)
        if (value is not None and not 0 <= value <= _MAX_NUMBER if are_numbers else type(value) not in _NUMBERS)
    ]
    if wrong:
        which = f"{place}[{wrong[0]}]" if len(values) > 1 else place
        raise source.error(f"expected a number from 0, got {shown_value(values[wrong[0]])}", place=which)
    return np.array(values, dtype=np.float64)
