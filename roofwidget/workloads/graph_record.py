"""`Graph` as plain dicts, lists, texts and numbers (a record), which JSON can hold, and back.

Counts are written as `expressions.to_wire` writes them, so the record of a graph with symbolic sizes keeps its sliders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Dim, dim, from_wire, to_wire
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.op import Op
from roofwidget.workloads.tensors import Tensor

_KEYS: Final = ("name", "convention", "dtype", "dims", "tensors", "ops", "outputs", "conditions", "notes")


def to_record(graph: Graph) -> dict[str, Any]:
    """Return the record of a graph.

    Examples
    --------
    >>> graph = Graph("tail")
    >>> graph.output(graph.gelu(graph.input("x", (8, 4), "bf16")))
    >>> to_record(graph)["tensors"]
    [['x', [8, 4], 'bf16'], ['gelu', [8, 4], 'bf16']]
    """
    return {
        "name": graph.name,
        "convention": {field.name: getattr(graph.convention, field.name) for field in fields(Convention)},
        "dtype": graph.dtype,
        "dims": [[one.name, one.low, one.high, one.default] for one in graph.dims],
        # In the order in which they came to the graph: it decides ties, such as which dtype is the main one.
        "tensors": [
            [tensor.name, [to_wire(size) for size in tensor.shape], tensor.dtype] for tensor in graph.tensors.values()
        ],
        "ops": [_op(op) for op in graph.ops],
        "outputs": [tensor.name for tensor in graph.outputs],
        "conditions": [[what, *map(to_wire, counts)] for counts, what in graph.conditions.items()],
        "notes": list(graph.notes),
    }


def _op(op: Op) -> dict[str, Any]:
    return {
        "name": op.name,
        "kind": op.kind,
        "inputs": [tensor.name for tensor in op.inputs],
        "outputs": [tensor.name for tensor in op.outputs],
        "flops": {word: to_wire(count) for word, count in op.flops.items()},
        "extra_bytes": to_wire(op.extra_bytes),
        "terms": [[name, to_wire(count)] for name, count in op.terms],
        "precision": op.precision,
        "axes": list(op.axes) if op.kind == "reduction" else None,
        "index": op.index,
        "rescale": op.rescale,
        "stats": op.stats,
    }


def from_record(record: Any) -> Graph:
    """Return the graph of a record.

    Raises
    ------
    LookupError, TypeError, ValueError
        If the record is none that `to_record` writes.

    Examples
    --------
    >>> graph = Graph("tail")
    >>> graph.output(graph.gelu(graph.input("x", (dim("n", 1, 64, default=8), 4), "bf16")))
    >>> from_record(to_record(graph)).ops == graph.ops
    True
    """
    if not isinstance(record, Mapping):
        raise TypeError(f"a graph must be an object with names and values, not {record!r:.60}")
    for word in record:
        if word not in _KEYS:
            raise ValueError(f"a graph has no '{word}'{did_you_mean(str(word), _KEYS)}")
    missing = [word for word in _KEYS if word not in record]
    if missing:
        raise ValueError(f"a graph needs {listed(missing)}")
    dims = {name: dim(name, low, high, default=default) for name, low, high, default in record["dims"]}
    tensors = {
        name: Tensor(name, [from_wire(size, dims) for size in shape], dtype) for name, shape, dtype in record["tensors"]
    }
    ops = [_read_op(op, tensors, dims) for op in record["ops"]]
    writers = {tensor.name: op for op in ops for tensor in op.outputs}
    graph = Graph(record["name"], convention=Convention(**record["convention"]), dtype=record["dtype"])
    added: set[str] = set()
    for name, tensor in tensors.items():
        op = writers.get(name)
        if op is None:
            graph.input(name, tensor.shape, tensor.dtype)
        elif op.name not in added:
            added.add(op.name)
            graph.op(
                *(op.kind, op.name, op.inputs, op.outputs, op.flops),
                extra_bytes=op.extra_bytes,
                terms=op.terms,
                precision=op.precision,
                axes=op.axes if op.kind == "reduction" else None,
                index=op.index,
                rescale=op.rescale,
                stats=op.stats,
            )
    graph.output(*record["outputs"])
    for what, count, divisor in record["conditions"]:
        graph.require(what, from_wire(count, dims), from_wire(divisor, dims))
    for text in record["notes"]:
        graph.note(text)
    return graph


def _read_op(record: Mapping[str, Any], tensors: Mapping[str, Tensor], dims: Mapping[str, Dim]) -> Op:
    def named(names: list[str]) -> list[Tensor]:
        for name in names:
            if name not in tensors:
                raise ValueError(f"op '{record['name']}' uses tensor '{name}', which is not among the tensors")
        return [tensors[name] for name in names]

    return Op(
        record["name"],
        record["kind"],
        named(record["inputs"]),
        named(record["outputs"]),
        {word: from_wire(count, dims) for word, count in record["flops"].items()},
        extra_bytes=from_wire(record["extra_bytes"], dims),
        terms=[(name, from_wire(count, dims)) for name, count in record["terms"]],
        precision=record["precision"],
        axes=record["axes"],
        # Graphs that were saved before ops had loops have those of their kinds.
        index=record.get("index"),
        rescale=record.get("rescale", True),
        stats=record.get("stats", 1),
    )
