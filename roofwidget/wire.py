"""Converts domain objects to the data that the front end receives, and back.

"On the wire" means in the messages between Python and the front end. In Python, only this file knows the names on the
wire. `js/src/wire` knows the same names. Every number on the wire is finite or null. All kernels are in one message,
because each column is one binary buffer: little-endian float64 for numbers, int32 codes for text.

======== =========================================================================================
trait    on the wire
======== =========================================================================================
chips    ``[{id, name, vendor, family, generation, kind, year, status, precision, notes,
         added: true if a person has added it, link: bytes/s or null, clock: Hz or null,
         links: [[name, bytes/s or null, seconds or null]], those to other chips first,
         share: [level, bytes, units] or null, shared: bytes that all units share or null, peaks: [[name, FLOP/s]],
         memories: [[name, bytes/s or null]], latencies: {level: seconds}, illustrative: [level],
         ceilings: [{key, name, rate, memory, precision, measured}],
         figures: [{label, value, unit, measured, source, url, confidence, checks: [[value, source]]}]}]``
kernels  ``{n, name, short, precision, category: texts, time, self_time, count, intensity, rate,
         unlinked, in_flight: buffer or null, flops, bytes: {key: buffer}, extra: [[name, texts or buffer]],
         origin: [[key, texts]], series: boolean, same: buffer or null,
         communication: {time, other, hidden}, activity: {busy, idle, added, gap, gap_start},
         messages: {kind: texts, group: texts, series: texts, size, ranks, count, time, fastest, waiting},
         instructions: {unit, peak: 1/s or null, estimate: boolean, roofs: [[level, 1/s]],
         walls: [[name, space, intensity]], rate, lanes, utilization, bound: texts, levels: [[level, buffer]],
         accesses: [[space, intensity, rate]]},
         reasons: {rules: [{sentence, suggestion, source, columns: [text], counters: [text],
         translations: {language: {sentence, suggestion}}}], row, rule: buffer},
         program: as kernels or null, chip: as one of chips or null, warnings: [text], source: text,
         read_as: {format: text, fields: [[field, rows with a value, rule]]}}``.
         A short name is null if the name is not shortened. `time` is null if no row has a time. `self_time` is null
         if it equals `time`. `unlinked` has for each row the int32 1 for a collective whose bytes over the link are
         unknown, else 0. It is null if all are 0. `in_flight` has the bytes that one launch of each row has in flight,
         as far as the file counts them; it is missing if it does not. `latencies` is missing if none is known. `series`
         is true if the categories are series, such as runs: then they keep their order, and so their colours, while
         they grow. `same` has for each row the int32 number of its
         kernel: rows of several series with one number are the same kernel. It is null without several series. `count`
         is null if every count is 1. `intensity` and `rate` are missing if no row has a value, `read_as` is missing for
         kernels that are not from a file. `communication` and `activity` have seconds, and are missing if they are
         unknown. `messages` has a row for equal calls of a collective, as in `Messages`, and is missing without
         messages; its `series` is missing without series. `instructions` has the columns of `InstructionRoofline`, and
         is missing without counts of instructions. `reasons` has for each reason why a kernel is slow the int32 `row`
         of the kernel and the int32 number of the `rule`. A sentence has columns of `extra` in braces, in place of
         their values. `columns` are those that show the reason, the most telling one first, and `counters` are the
         profiler's names. It is missing without reasons. The first rows of `program` are the totals (category
         "program"). The other rows of `program` are the steps (category "step"). `chip` is the chip that the kernels
         ran on.
texts    ``{values: buffer, codes: buffer or null}``, a dictionary-encoded column: a JSON list of unique texts in the
         order in which they appear, and one code per row. The column is null if no row has a text. `codes` is null if
         all rows have the same text, or if every row has a different text.
baseline ``{kernels: as kernels, match: buffer, verdict: texts, per_launch: buffer or null}`` or null. `match` has for
         each row of the baseline the int32 row of the matching kernel, or -1. `verdict` has for each row of the
         baseline whether its kernel became faster, slower, same, unknown or other work. `per_launch` has for each row
         of the baseline the int32 1 if times per launch are compared, or 0. It is null if all are 0.
graphs   ``[[phase, {name, dims: [[name, low, high, default]], convention, dtypes: {name: bits},
         conventions: {name: {word: value}}, conditions: [[what, count, divisor]],
         outputs: [tensor], tensors: [{name, shape, dtype, bytes}],
         ops: [{name, kind, inputs, outputs, flops: {class: count}, extra, terms: [[name, count]], precision,
         axes}]}]]``.
         `roofwidget.workloads.expressions.to_wire` writes counts. A condition means that its count is a multiple of
         its divisor. If the divisor is 0, the condition means that the count is at least 1.
partition ``[[position of op]]``, one list for each kernel. Null if there is no graph.
what_if  ``{chip id: {peak_flops: {precision: FLOP/s}, bandwidth: {level: bytes/s}, latency: {"network": seconds}}}``
moves    ``{row: {bytes: factor, time: factor}}``, without factors of 1. Sent by both sides.
rules    ``{name: lines of a file of rules}``. Sent by both sides.
typed_work ``{row: {flops: FLOPs of one launch, bytes: bytes of one launch}}``. Sent by both sides.
snapshots ``[{name, chip, precision, memory, peak, bandwidth, hidden, kernels: [[name, FLOP/byte or null, rate]]}]``.
         Null means infinite. Sent by both sides.
story    ``{base: {trait: value}, steps: [{caption: nodes, changes: {trait: value}, hides: boolean or [kernel],
         question: null or {key, kind, prompt: nodes, answer, unit, tolerance, options: [[text, what is said]],
         explanation: nodes, on, kernel, graph, source, difficulty}}]}``. The page only copies the graph into the file
         of answers. A step has the values of `base` and of its `changes`. With `keeps_hidden` it hides the same
         after its answer.
         `roofwidget.support.markdown` makes the nodes.
others   as in Python
======== =========================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import inf, isinf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget import workloads
from roofwidget.analysis import compare_runs, instruction_roofline, latency, messages, reasons, snapshot
from roofwidget.chips import Ceiling, Check, Chip, Figure, Source, is_host_link, share_on_chip, shared_on_chip
from roofwidget.chips.card import ceiling_key
from roofwidget.kernels import communication, concat, matching, reading
from roofwidget.kernels.collectives import unlinked_collectives
from roofwidget.kernels.columns import DictColumn, Floats, dict_encoded
from roofwidget.kernels.low_level import INSTRUCTIONS
from roofwidget.kernels.names import shortened
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.unknown_work import ARGUMENTS
from roofwidget.support import markdown
from roofwidget.support.text_tables import without_controls, without_surrogates

if TYPE_CHECKING:
    from roofwidget.analysis.snapshot import Snapshot
    from roofwidget.workloads import Graph, Op, Tensor
    from roofwidget.workloads.partition import Partition

# Shortening 1000 names takes about 0.1 s. A chart never shows more than 1000 names.
_MAX_SHORTENED_NAMES: Final = 1000
_MAX_CHIP_LETTERS: Final = 200


def chips_to_wire(chips: Iterable[Chip], added: Iterable[Chip] = ()) -> list[dict[str, Any]]:
    """Return each chip as a dict that JSON can encode. `added` are the chips that a person has added to `chips`."""
    return [*map(_chip, chips), *(_chip(chip) | {"added": True} for chip in added)]


def catalogue_to_wire(chips: Iterable[Chip]) -> list[dict[str, Any]]:
    """Return the catalogue for a page: each chip as a dict with its aliases, without its figures' sources and notes."""
    return [_chip(chip) | {"aliases": list(chip.aliases), "figures": [], "notes": []} for chip in chips]


def _chip(chip: Chip) -> dict[str, Any]:
    disputed = chip.disputed
    share = share_on_chip(chip)
    measured = {ceiling_key(ceiling) for ceiling in chip.ceilings if ceiling.measured}
    return {
        "id": chip.id,
        # The name stands within sentences.
        "name": _chip_name(chip.name),
        "vendor": text_to_wire(chip.vendor),
        "family": text_to_wire(chip.family),
        "generation": chip.generation,
        "kind": text_to_wire(chip.kind),
        "year": chip.year,
        "status": text_to_wire(chip.status),
        "precision": chip.default_precision,
        "peaks": [[precision, peak] for precision, peak in chip.peak_flops.items()],
        "memories": [[memory.name, memory.bandwidth] for memory in chip.memories.values()],
        **_latencies(chip),
        "illustrative": [level for level in chip.memories if _is_illustrative(chip, level)],
        "link": next((link.bandwidth for name, link in chip.links.items() if not is_host_link(name)), None),
        "links": [
            [text_to_wire(name), link.bandwidth, link.latency]
            for name, link in sorted(chip.links.items(), key=lambda item: is_host_link(item[0]))
        ],
        "clock": chip.clock,
        "share": None if share is None else [share.level, share.capacity, share.units],
        "shared": None if share is None else shared_on_chip(chip),
        "ceilings": [_ceiling(ceiling) for ceiling in chip.ceilings],
        "figures": [
            _figure(figure, disputed.get(figure.key, ()), measured=figure.key in measured) for figure in chip.figures
        ],
        "notes": [text_to_wire(note) for note in chip.notes],
    }


def _latencies(chip: Chip) -> dict[str, Any]:
    """Return the known latencies of the memory levels, by level; empty if none is known."""
    found = {memory.name: memory.latency for memory in chip.memories.values() if memory.latency is not None}
    return {"latencies": found} if found else {}


def _is_illustrative(chip: Chip, level: str) -> bool:
    source = chip.sources.get(f"memories.{level}.bandwidth")
    return source is not None and source.confidence == "illustrative"


def _ceiling(ceiling: Ceiling) -> dict[str, Any]:
    return {
        "key": text_to_wire(ceiling.key),
        "name": text_to_wire(ceiling.name),
        "rate": ceiling.rate,
        "memory": ceiling.memory,
        "precision": ceiling.precision,
        "measured": ceiling.measured,
    }


def _figure(figure: Figure, disputes: Iterable[Check], *, measured: bool) -> dict[str, Any]:
    source = figure.source or Source("", "", "")
    return {
        "label": text_to_wire(figure.label),
        "value": figure.value,
        "unit": text_to_wire(figure.unit),
        "measured": measured,
        "source": text_to_wire(source.title),
        "url": text_to_wire(source.url),
        "confidence": text_to_wire(source.confidence),
        "checks": [[check.value, text_to_wire(check.source.title)] for check in disputes],
    }


def kernels_to_wire(kernels: Kernels) -> dict[str, Any]:
    """Return the kernels as one dict, whose columns are binary buffers."""
    return {
        **_columns(kernels),
        "series": kernels.series,
        "same": _same_kernels(kernels),
        "program": _totals(kernels),
        "chip": None if kernels.chip is None else _chip(kernels.chip),
        "warnings": [text_to_wire(warning) for warning in kernels.warnings],
        "source": text_to_wire(kernels.source),
        **_read_as(kernels),
        **_communication(kernels),
        **_instructions(kernels),
        **({} if kernels.activity is None else {"activity": asdict(kernels.activity)}),
        **_reasons(kernels),
    }


def _totals(kernels: Kernels) -> dict[str, Any] | None:
    """Return the totals of the whole program and of its steps, or None if there are none."""
    tables = {"program": kernels.program, "step": kernels.steps}
    return _columns(concat.concat(tables)) if any(map(len, tables.values())) else None


def _read_as(kernels: Kernels) -> dict[str, Any]:
    """Return the format of the file and how each field was read; empty for kernels that are not from a file."""
    if not kernels.read_as:
        return {}
    fields = [list(map(text_to_wire, line)) for line in reading.fields_read(kernels)]
    return {"read_as": {"format": text_to_wire(kernels.read_as.get("format", "")), "fields": fields}}


def _communication(kernels: Kernels) -> dict[str, Any]:
    """Return the time of the communication and the messages of a table, as far as they are known."""
    found = {} if kernels.communication is None else {"communication": asdict(kernels.communication)}
    if not communication.has_messages(kernels):
        return found
    table = messages.messages(kernels)
    columns = {name: _binary(getattr(table, name)) for name in ("size", "ranks", "count", "time", "fastest")}
    names = ("kind", "group", *(() if table.series is None else ("series",)))
    texts = {name: _texts(dict_encoded(getattr(table, name).tolist())) for name in names}
    return {**found, "messages": {**texts, **columns, "waiting": _binary(table.slower_than_fastest)}}


def _instructions(kernels: Kernels) -> dict[str, Any]:
    """Return the instruction roofline of a table that counts instructions, on the chip that it ran on; else nothing."""
    counts = kernels.extra_columns.get(INSTRUCTIONS)
    if counts is None or isinstance(counts, DictColumn) or np.isnan(counts).all():
        return {}
    found = instruction_roofline.instruction_roofline(kernels)
    accesses = {
        "global": (found.global_intensity, found.global_rate),
        "shared": (found.shared_intensity, found.shared_rate),
    }
    record = {
        "unit": found.unit,
        "peak": None if np.isnan(found.peak) else found.peak,
        "estimate": found.is_estimate,
        # A point is all instructions of a kernel; only those of shared memory are below the roof of shared memory.
        "roofs": [[level, rate] for level, rate in found.bandwidths.items() if level != "shared"],
        "walls": [[wall.name, wall.space, wall.intensity] for wall in found.walls],
        **{name: _binary(getattr(found, name)) for name in ("rate", "lanes", "utilization")},
        "bound": _texts(dict_encoded(found.bound_by.tolist())),
        "levels": [[level, _binary(intensity)] for level, intensity in found.intensity.items()],
        "accesses": [[space, *map(_binary, pair)] for space, pair in accesses.items()],
    }
    return {"instructions": record}


def _reasons(kernels: Kernels) -> dict[str, Any]:
    """Return the rules that say why kernels are slow, with their rows; empty if no rule says anything."""
    found = reasons.rows_by_rule(kernels.extra_columns, len(kernels)) if kernels.extra_columns else []
    if not found:
        return {}
    counters = kernels.read_as
    records = [
        {
            "sentence": rule.sentence,
            "suggestion": rule.suggestion,
            "translations": rule.translations,
            "source": rule.source,
            "columns": list(rule.rows),
            "counters": list(dict.fromkeys(text_to_wire(counters[name]) for name in rule.columns if name in counters)),
        }
        for rule, _ in found
    ]
    rows = np.concatenate([rows for _, rows in found]).astype("<i4")
    which = np.repeat(np.arange(len(found), dtype="<i4"), [len(rows) for _, rows in found])
    return {"reasons": {"rules": records, "row": rows.data.cast("B"), "rule": which.data.cast("B")}}


def _same_kernels(kernels: Kernels) -> memoryview | None:
    """Return the number of the kernel in each row, if the table has several series. See `number_kernels`."""
    series = kernels.codes("category")
    used = dict.fromkeys(series.codes.tolist())
    if not kernels.series or len(used) < 2:  # noqa: PLR2004 - a line joins two series
        return None
    rows = [np.flatnonzero(series.codes == code) for code in used]
    same = np.zeros(len(kernels), dtype="<i4")
    for own, numbers in zip(rows, matching.number_kernels([kernels[own] for own in rows], ("name",)), strict=True):
        same[own] = numbers
    return same.data.cast("B")


def baseline_to_wire(baseline: Kernels | None, kernels: Kernels) -> dict[str, Any] | None:
    """Return an earlier run, with a comparison of its rows with `kernels`."""
    if baseline is None:
        return None
    runs = compare_runs.compare_runs(baseline, kernels)
    match, verdict = runs.by_row_before()
    per_launch = np.zeros(len(baseline), dtype="<i4")
    per_launch[runs.rows_before] = runs.is_per_launch
    return {
        "kernels": kernels_to_wire(baseline),
        "match": np.ascontiguousarray(match, dtype="<i4").data.cast("B"),
        "verdict": _texts(verdict),
        "per_launch": per_launch.data.cast("B") if per_launch.any() else None,
    }


def _columns(kernels: Kernels) -> dict[str, Any]:
    unlinked, own = unlinked_collectives(kernels), kernels.self_time
    is_own = own is not kernels.time and not np.array_equal(own, kernels.time, equal_nan=True)
    return {
        "n": len(kernels),
        "name": _texts(kernels.codes("name")),
        "short": _texts(_short_names(kernels)),
        "precision": _texts(kernels.codes("precision")),
        "category": _texts(kernels.codes("category")),
        "time": None if np.isnan(kernels.time).all() else _binary(kernels.time),
        "self_time": _binary(own) if is_own else None,
        "count": None if (kernels.count == 1).all() else _binary(kernels.count),
        "unlinked": unlinked.astype("<i4").data.cast("B") if unlinked.any() else None,
        "flops": {text_to_wire(precision): _binary(column) for precision, column in kernels.flops_by_precision.items()},
        "bytes": {text_to_wire(level): _binary(column) for level, column in kernels.bytes_by_level.items()},
        "extra": [
            [text_to_wire(name), _texts(column) if isinstance(column, DictColumn) else _binary(column)]
            for name, column in kernels.extra_columns.items()
            # Python alone applies rules.
            if name != ARGUMENTS
        ],
        "origin": [[text_to_wire(key), _texts(kernels.codes(f"origin:{key}"))] for key in kernels.origin],
        **_in_flight(kernels),
        **{
            name: _binary(column)
            for name, column in (("intensity", kernels.intensity), ("rate", kernels.rate))
            if not np.isnan(column).all()
        },
    }


def _in_flight(kernels: Kernels) -> dict[str, Any]:
    """Return the bytes that launches have in flight, as far as the file counts them; empty if it does not."""
    found = latency.in_flight_of_file(kernels) if kernels.extra_columns else None
    return {} if found is None or np.isnan(found).all() else {"in_flight": _binary(found)}


def _short_names(kernels: Kernels) -> DictColumn:
    """Return a column with the short name of each kernel. If a name is not shortened, its short name is None.

    `_names_by_time` selects the names to shorten.
    """
    names = kernels.codes("name")
    index: dict[str | None, int] = {None: 0}
    position = np.zeros(len(names.values), dtype=np.int32)
    for code in _names_by_time(names, kernels.self_time):
        name = names.values[code] or ""
        short = shortened(name)
        position[code] = index.setdefault(short if short != name else None, len(index))
    return DictColumn(tuple(index), position[names.codes])


def _names_by_time(names: DictColumn, seconds: Floats) -> list[int]:
    """Return the codes of the names to shorten.

    If there are more than `_MAX_SHORTENED_NAMES` names, only this many are shortened: the names whose longest row takes
    the most time. If names have equal times, the names with smaller codes are preferred.
    """
    longest = np.full(len(names.values), -np.inf)
    np.maximum.at(longest, names.codes, np.nan_to_num(seconds, nan=-1))
    used: list[int] = np.flatnonzero(longest > -np.inf).tolist()
    if len(used) <= _MAX_SHORTENED_NAMES:
        return used
    limit = np.partition(longest, -_MAX_SHORTENED_NAMES)[-_MAX_SHORTENED_NAMES]
    above = np.flatnonzero(longest > limit)
    return [*above.tolist(), *np.flatnonzero(longest == limit)[: _MAX_SHORTENED_NAMES - len(above)].tolist()]


def graphs_to_wire(graphs: Mapping[str, Graph]) -> list[list[Any]]:
    """Return a list ``[phase, graph]`` for each phase, in the order of `graphs`."""
    return [[text_to_wire(phase), graph_to_wire(graph)] for phase, graph in graphs.items()]


def graph_to_wire(graph: Graph) -> dict[str, Any]:
    """Return a graph as one dict that JSON can encode. Counts become expressions."""
    position = {name: index for index, name in enumerate(graph.tensors)}
    count = workloads.expressions.to_wire
    conventions = {**workloads.CONVENTIONS, graph.convention.name: graph.convention}
    return {
        "name": text_to_wire(graph.name),
        "dims": [[dim.name, dim.low, dim.high, dim.default] for dim in graph.dims],
        "convention": graph.convention.name,
        "dtypes": dict(workloads.DTYPES),
        "conventions": {name: dict(one.environment) for name, one in conventions.items()},
        "conditions": [[text_to_wire(what), *map(count, counts)] for counts, what in graph.conditions.items()],
        "outputs": [position[tensor.name] for tensor in graph.outputs],
        "tensors": [_tensor(tensor) for tensor in graph.tensors.values()],
        "ops": [_op(op, position) for op in graph.ops],
    }


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": text_to_wire(tensor.name),
        "shape": [workloads.expressions.to_wire(size) for size in tensor.shape],
        "dtype": tensor.dtype,
        "bytes": workloads.expressions.to_wire(tensor.bytes),
    }


def _op(op: Op, position: Mapping[str, int]) -> dict[str, Any]:
    return {
        "name": text_to_wire(op.name),
        "kind": op.kind,
        "inputs": [position[tensor.name] for tensor in op.inputs],
        "outputs": [position[tensor.name] for tensor in op.outputs],
        "flops": {word: workloads.expressions.to_wire(count) for word, count in op.flops.items()},
        "extra": workloads.expressions.to_wire(op.extra_bytes),
        "terms": [[text_to_wire(name), workloads.expressions.to_wire(count)] for name, count in op.terms],
        "precision": op.precision,
        "axes": list(op.axes),
        "index": None if op.loops is None else workloads.index.text_of(op.loops),
        "rescale": op.rescale,
        "stats": op.stats,
    }


def partition_to_wire(partition: Partition | None) -> list[list[int]] | None:
    """Return one list for each group of a partition: the positions of its ops. Without a partition, return None."""
    return None if partition is None else [list(group) for group in partition.indices]


def dims_to_wire(dims: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes by dimension as a plain dict, because JSON cannot encode a read-only mapping."""
    return dict(dims)


def _chip_name(name: str) -> str:
    """Return the name of a chip as pages show it: without control characters, and cut if it is very long.

    The page tries many ways to place and to shorten the name of a roof.
    """
    shown = without_controls(text_to_wire(name))
    return shown if len(shown) <= _MAX_CHIP_LETTERS else shown[: _MAX_CHIP_LETTERS - 1] + "…"


def text_to_wire(text: str) -> str:
    """Return the text without lone surrogates (invalid Unicode characters), because a message cannot contain them."""
    return without_surrogates(text)


def texts_to_wire(texts: Iterable[str] | None) -> list[str] | None:
    """Return each text without lone surrogates, as `text_to_wire` does. Return None if `texts` is None."""
    return None if texts is None else [text_to_wire(text) for text in texts]


def what_if_to_wire(what_if: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Any]:
    """Return the what-if rates as plain dicts, because JSON cannot encode read-only mappings."""
    return {
        chip: {quantity: dict(values) for quantity, values in quantities.items()}
        for chip, quantities in what_if.items()
    }


def by_row_to_wire(values: Mapping[int, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return values of rows as plain dicts. Row numbers become text, because keys in JSON must be text."""
    return {str(row): dict(value) for row, value in values.items()}


def by_row_from_wire(received: Mapping[str, Mapping[str, float]]) -> dict[int, Mapping[str, float]]:
    """Return values by row number, from a message that has the form of `by_row_to_wire`."""
    return {int(row): value for row, value in received.items()}


def snapshots_to_wire(snapshots: Iterable[Snapshot]) -> list[dict[str, Any]]:
    """Return each snapshot as a dict that JSON can encode."""
    return [
        {
            "name": one.name,
            "chip": text_to_wire(one.chip),
            "precision": one.precision,
            "memory": one.memory,
            "peak": one.peak_flops,
            "bandwidth": one.bandwidth,
            "hidden": one.hidden,
            "kernels": [[name, None if isinf(ai) else ai, rate] for name, ai, rate in one.kernels],
        }
        for one in snapshots
    ]


def snapshots_from_wire(received: Iterable[Mapping[str, Any]]) -> tuple[Snapshot, ...]:
    """Return the `Snapshot` objects of a message that has the form of `snapshots_to_wire`."""
    return tuple(
        snapshot.Snapshot(
            entry["name"],
            entry["chip"],
            entry["precision"],
            entry["memory"],
            entry["peak"],
            entry["bandwidth"],
            tuple((name, inf if ai is None else ai, rate) for name, ai, rate in entry["kernels"]),
            entry["hidden"],
        )
        for entry in received
    )


def story_to_wire(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the data of a story, from its record. Texts are elements instead of Markdown, without lone surrogates."""
    if record is None:
        return None

    def asked(question: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if question is None:
            return None
        texts = {name: markdown.tree(question[name]) for name in ("prompt", "explanation")}
        return {**question, **texts}

    steps = [
        {**step, "caption": markdown.tree(step["caption"]), "question": asked(step["question"])}
        for step in record["steps"]
    ]
    data: dict[str, Any] = _json_to_wire({**record, "steps": steps})
    return data


def _json_to_wire(value: Any) -> Any:
    """Return JSON data with all of its texts as `text_to_wire` returns them."""
    if isinstance(value, str):
        return text_to_wire(value)
    if isinstance(value, Mapping):
        return {text_to_wire(key): _json_to_wire(one) for key, one in value.items()}
    return [_json_to_wire(one) for one in value] if isinstance(value, (list, tuple)) else value


def _binary(column: Floats) -> memoryview:
    return np.ascontiguousarray(column, dtype="<f8").data.cast("B")


def _texts(column: DictColumn) -> dict[str, Any] | None:
    """Return the unique texts of a column and one code per row, or None if no row has a text.

    The codes are None if all rows have the same text, or if every row has a different text.
    """
    n = len(column.codes)
    first = np.full(len(column.values), n)
    np.minimum.at(first, column.codes, np.arange(n))
    used = np.flatnonzero(first < n)
    used = used[np.argsort(first[used])]
    is_all = np.array_equal(used, np.arange(len(first)))
    words = column.values if is_all else tuple(map(column.values.__getitem__, used.tolist()))
    if words == (None,):
        return None
    rank = np.empty(len(first), dtype="<i4")
    rank[used] = np.arange(len(used))
    return {
        "values": json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
        "codes": None if len(words) in {1, n} else rank[column.codes].data.cast("B"),
    }
