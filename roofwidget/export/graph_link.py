"""Writes a graph, how its ops run as kernels, a chip and a title as the end of an address, and reads it again.

The end is ``#g=`` and base64url text of compressed JSON:
``{v: 1, chip, title, ins: [[name, shape, dtype]], ops: [{n: name, k: kind, in: [name], out: [[name, shape, dtype]],
flops, …}], groups: [[op]], outs: [name]}``. `js/src/state/graph_link.ts` reads and writes the same form. A browser
sends no server the part of an address after ``#``. What comes in a link is not trusted: sizes are limited, and names
are text.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roofwidget.chips import Chip
from roofwidget.chips import chip as find_chip
from roofwidget.support import strict_json
from roofwidget.units import format_significant
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import Count, evaluate
from roofwidget.workloads.index import text_of
from roofwidget.workloads.op import Op
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.tensors import Tensor

MARK: Final = "#g="
"""What the part of an address that holds a graph begins with."""
VERSION: Final = 1
"""The version of the form. A newer one is refused."""
MAX_LETTERS: Final = 2000
"""The most letters from `MARK` on: longer addresses are cut by some programs. About 12 ops fit."""
MAX_JSON_BYTES: Final = 20_000
"""The most bytes of the JSON text of a link."""
MAX_OPS: Final = 64
MAX_TITLE_LETTERS: Final = 120
MAX_NAME_LETTERS: Final = 60
MAX_AXES: Final = 8
MAX_COUNT: Final = 2**53
"""The largest number of a link, which a browser counts exactly."""
NEWER: Final = "This link was made with a newer version."
DAMAGED: Final = "This link is damaged."


@dataclass(frozen=True)
class Shared:
    """What a link holds.

    Attributes
    ----------
    partition
        The graph and its kernels.
    chip
        The chip.
    title
        What its sender wrote above it.
    """

    partition: Partition
    chip: Chip
    title: str


def text(partition: Partition, chip: str, title: str, dims: Mapping[str, int] | None = None) -> str:
    """Return the end of an address. Symbolic sizes get their values. Without a title, the gain is the title.

    Raises
    ------
    ValueError
        If the graph is too large for an address, or the catalogue has no such chip.
    """
    graph, values = partition.graph, partition.graph.environment(dims)
    find_chip(chip)

    def number(count: Count) -> int:
        return int(evaluate(count, values))

    def described(tensor: Tensor) -> list[Any]:
        return [tensor.name, [number(size) for size in tensor.shape], tensor.dtype]

    document = {
        "v": VERSION,
        "chip": chip,
        "title": (title or _gain(partition, chip, dims))[:MAX_TITLE_LETTERS],
        "ins": [described(tensor) for tensor in graph.inputs],
        "ops": [
            {
                "n": op.name,
                "k": op.kind,
                "in": [tensor.name for tensor in op.inputs],
                "out": [described(tensor) for tensor in op.outputs],
                "flops": {word: number(count) for word, count in op.flops.items()},
                **_unusual(op, number(op.extra_bytes)),
            }
            for op in graph.ops
        ],
        "groups": [list(group) for group in partition.indices],
        "outs": [tensor.name for tensor in graph.outputs],
    }
    contents = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    packed = base64.urlsafe_b64encode(zlib.compress(contents, 9)).decode().rstrip("=")
    found = f"{MARK}{packed}"
    if len(found) > MAX_LETTERS or len(graph.ops) > MAX_OPS or len(contents) > MAX_JSON_BYTES:
        raise ValueError(
            f"graph '{graph.name}' has {len(graph.ops)} ops: its link would have {len(found):,} letters, and at most "
            f"{MAX_LETTERS:,} are safe in an address; save it as a page or a session instead"
        )
    return found


def _gain(partition: Partition, chip: str, dims: Mapping[str, int] | None) -> str:
    """Return how many passes become how many, and how many times faster the kernels are."""
    apart = Partition.unfused(partition.graph)
    before, after = map(_passes, (apart, partition))
    times = apart.time(chip, dims=dims) / partition.time(chip, dims=dims)
    return f"{before} → {after} passes: {format_significant(times)} times. Which graph is yours?"


def _passes(partition: Partition) -> int:
    """Return how often kernels read or write a tensor."""
    graph, outputs = partition.graph, set(partition.graph.outputs)
    readers: dict[Tensor, set[str]] = {}
    for op in graph.ops:
        for tensor in op.inputs:
            readers.setdefault(tensor, set()).add(op.name)
    count = 0
    for group in map(set, partition.groups):
        ops = [op for op in graph.ops if op.name in group]
        made = {tensor for op in ops for tensor in op.outputs}
        read = {tensor for op in ops for tensor in op.inputs} - made
        count += len(read) + sum(t in outputs or not readers.get(t) or bool(readers[t] - group) for t in made)
    return count


def _unusual(op: Op, extra: int) -> dict[str, Any]:
    """Return what ops rarely have. The loops are always written: a page does not know those that a kind usually has."""
    values = {
        "x": extra or None,
        "p": op.precision,
        "axes": list(op.axes) or None,
        "i": None if op.loops is None else text_of(op.loops),
        "once": None if op.rescale else 1,
        "stats": None if op.stats == 1 else op.stats,
    }
    return {word: value for word, value in values.items() if value is not None}


def read(link: str) -> Shared:
    """Return what a link holds: an address, or its end from `MARK` on.

    Raises
    ------
    ValueError
        If a newer version wrote the link, if it is damaged or too large, or if it names an unknown chip.
    """
    found = re.search(rf"{MARK}([\w-]+)", link, re.ASCII)
    if found is None:
        raise ValueError(f"{link:.60}: no link of a graph; it has '{MARK}'")
    document = _document(found[1])
    version = document.get("v")
    if type(version) is int and version > VERSION:
        raise ValueError(NEWER)
    try:
        return _shared(document)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{DAMAGED} {error}") from None


def _document(packed: str) -> Mapping[str, Any]:
    if len(packed) + len(MARK) > MAX_LETTERS:
        raise ValueError(f"{DAMAGED} It has more than {MAX_LETTERS:,} letters")
    try:
        inflater = zlib.decompressobj()
        contents = inflater.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), MAX_JSON_BYTES)
        document = strict_json.parse(contents.decode()).value if inflater.eof else None
    except (UnicodeDecodeError, ValueError, zlib.error):
        document = None
    if isinstance(document, Mapping):
        return document
    raise ValueError(DAMAGED)


def _shared(document: Mapping[str, Any]) -> Shared:
    if document["v"] != VERSION or type(document["v"]) is not int:
        raise ValueError("its version is no number")
    title = _text(document["title"], MAX_TITLE_LETTERS)
    tensors = {}
    graph = Graph(title)
    for name, shape, dtype in document["ins"]:
        tensors[name] = graph.input(_text(name), _shape(shape), dtype)
    if not 0 < len(document["ops"]) <= MAX_OPS:
        raise ValueError(f"it has {len(document['ops'])} ops")
    for op in document["ops"]:
        made = [Tensor(_text(name), _shape(shape), dtype) for name, shape, dtype in op["out"]]
        graph.op(
            op["k"],
            _text(op["n"]),
            [tensors[name] for name in op["in"]],
            made,
            {word: _count(count) for word, count in op["flops"].items()},
            extra_bytes=_count(op.get("x", 0)),
            precision=op.get("p"),
            axes=op.get("axes", []) if op["k"] == "reduction" else None,
            index=op.get("i"),
            rescale="once" not in op,
            stats=_count(op.get("stats", 1)),
        )
        tensors.update({tensor.name: tensor for tensor in made})
    graph.output(*document["outs"])
    groups: Sequence[Sequence[int]] = document["groups"]
    chip = find_chip(_text(document["chip"]))
    return Shared(Partition.on_some_chip(graph, groups), chip, title)


def _text(value: Any, most: int = MAX_NAME_LETTERS) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{value!r:.40} is no text of at most {most} letters")
    return value


def _shape(value: Any) -> list[int]:
    if len(value) > MAX_AXES:
        raise ValueError(f"a tensor has {len(value)} axes")
    return [_count(size) for size in value]


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{value!r:.40} is no count")
    return value
