"""Graphs written as text, for the golden cases of fusion. Nothing of the package is imported.

A graph is a list of sizes of loops and a list of ops::

    m16 k8192 n4096
    cast elementwise 0: q[kn]/int4 -> w[kn]
    mm matmul 2: x[mk] w -> y[mn]

An op has a name, a kind, its FLOPs, and the tensors that it reads and writes. A tensor has its loops and its dtype
(bf16 if there is none) where it is first named. ``[*td]`` is a tensor whose axis of the size of t is read in any order.
A tensor with ``!`` after its loops is an output of the graph although an op reads it.

``c`` FLOPs is c for each element of all loops; ``c+r`` adds r for each row, without the loops that a reduction reduces,
and ``=N`` is N in all. After the FLOPs, ``over=n`` names the loops that a reduction reduces, ``final`` says that its
result cannot be corrected later, ``stats=2`` gives the numbers that it keeps, and ``extra=N`` adds N bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

BITS: Final = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4, "int32": 32, "int64": 64}
_TENSOR: Final = re.compile(r"(\w+)(?:\[([*A-Za-z]*)\](!?)(?:/(\w+))?)?$")


def graph_of(name: str, sizes: str, text: str) -> dict[str, Any]:
    """Return a graph as it is on the wire, without the tables that all graphs share."""
    loops = {part[0]: int(part[1:]) for part in sizes.split()}
    found: dict[str, dict[str, Any]] = {}
    axes_of: dict[str, list[str]] = {}
    outputs = set[str]()

    def tensor(word: str) -> int:
        match = _TENSOR.match(word)
        assert match, word
        key, given, is_output, dtype = match.groups()
        if key not in found:
            axes = re.findall(r"\*?[A-Za-z]", given)
            shape = [loops[axis[-1]] for axis in axes]
            dtype = dtype or "bf16"
            size = -(-math.prod(shape) * BITS[dtype] // 8)
            found[key] = {"name": key, "shape": shape, "dtype": dtype, "bytes": size}
            axes_of[key] = axes
        outputs.update([key] if is_output else [])
        return list(found).index(key)

    ops = list[dict[str, Any]]()
    for line in filter(None, map(str.strip, text.splitlines())):
        head, _, sides = line.partition(":")
        called, kind, counted, *rest = head.split()
        how = dict(word.partition("=")[::2] for word in rest)
        inputs, written = ([tensor(word) for word in side.split()] for side in sides.split("->"))
        names = list(found)
        letters = [[axes_of[names[t]] for t in side] for side in (inputs, written)]
        count = _flops(counted, letters, how.get("over", ""), loops)
        word = "tensor" if kind == "matmul" else "vector"
        ops.append(
            {"name": called, "kind": kind, "inputs": inputs, "outputs": written}
            | {"flops": {word: count} if count else {}, "extra": int(how.get("extra", 0)), "terms": []}
            | {"axes": [letters[0][0].index(axis) for axis in how.get("over", "")]}
            | {"index": None if kind == "opaque" else _index(letters)}
            | {"rescale": "final" not in how, "stats": int(how.get("stats", 1))}
        )
    read = {t for op in ops for t in op["inputs"]}
    ends = [t for op in ops for t in op["outputs"] if t not in read or list(found)[t] in outputs]
    return {"name": name, "outputs": ends, "tensors": list(found.values()), "ops": ops}


def _index(letters: list[list[list[str]]]) -> str:
    return "->".join(
        ",".join("".join("*" if "*" in axis else axis for axis in axes) for axes in side) for side in letters
    )


def _flops(counted: str, letters: list[list[list[str]]], over: str, loops: Mapping[str, int]) -> int:
    if counted.startswith("="):
        return int(counted[1:])
    walked = {axis for side in letters for axes in side for axis in axes if "*" not in axis}
    each, row = re.fullmatch(r"(\d+)([+-]\d+)?", counted).groups("0")  # type: ignore[union-attr]
    rows = math.prod(loops[axis] for axis in walked - {*over})
    return int(each) * math.prod(loops[axis] for axis in walked) + int(row) * rows
