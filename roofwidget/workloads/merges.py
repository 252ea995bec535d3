"""What becomes of a partition when an op leaves its group or is copied into others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from roofwidget.workloads.graph import Graph
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.op import Op
from roofwidget.workloads.structure import Mask, Structure, members
from roofwidget.workloads.tensors import Tensor

__all__ = ["parts_without", "recomputed"]


def parts_without(structure: Structure, rules: Rules, group: Mask, op: Mask) -> list[Mask]:
    """Return what a legal group falls into when an op leaves it.

    The parts that are connected through shared tensors; where a part has ops on both sides of the op that left, those
    before it and the rest, each in its connected parts; where a part breaks a rule of kinds, single ops.
    """
    (left,) = members(op)
    before, after = structure.before[left], structure.after[left]
    parts: list[Mask] = []
    for part in structure.connected(group & ~op):
        torn = part & before and part & after
        for piece in (part & before, part & ~before) if torn else (part,):
            for one in structure.connected(piece):
                parts += [one] if rules.allows(one) else [1 << each for each in members(one)]
    return parts


def recomputed(structure: Structure, groups: Sequence[Mask], tensor: str | Tensor) -> tuple[Graph, list[list[str]]]:
    """Return a graph in which each group that reads a tensor has a copy of the op that makes it, and its groups.

    The op itself stays if its own group, or a group that does not read this tensor, needs something that it writes.
    """
    graph = structure.graph
    maker = graph.producer(tensor)
    name = tensor.name if isinstance(tensor, Tensor) else tensor
    if maker is None:
        msg = f"'{name}' is an input of graph '{graph.name}': there is no op that could make it again"
        raise ValueError(msg)
    op = structure.index[maker.name]
    readers = next(structure.readers[t] for t in structure.makes[op] if structure.tensors[t].name == name)
    users = [group for group in groups if group & readers and not group >> op & 1]
    elsewhere = structure.everything & ~sum(users)
    stays = any(structure.kept[t] or structure.readers[t] & elsewhere for t in structure.makes[op])

    taken = _Taken({*structure.names}, {*graph.tensors})
    if not stays:
        taken.ops.discard(maker.name)
        taken.tensors.difference_update(one.name for one in maker.outputs)
    rewritten: dict[int, list[Op]] = {i: [one] for i, one in enumerate(structure.ops) if i != op}
    rewritten[op] = [maker] if stays else []
    copies: dict[Mask, str] = {}
    for group in users:
        read = {one for i in members(group) for one in structure.ops[i].inputs}
        copy, renamed = _copy(maker, read, taken)
        rewritten[op].append(copy)
        copies[group] = copy.name
        for i in members(group):
            rewritten[i] = [_reading(structure.ops[i], renamed)]
    ops = [one for i in range(len(structure.ops)) for one in rewritten[i]]
    outputs = [one.name for one in graph.outputs]
    new = Graph(graph.name, ops, outputs, convention=graph.convention, dtype=graph.dtype)
    for (count, divisor), what in graph.conditions.items():
        if divisor != 0:
            new.require(what, count, divisor)
    gone = 0 if stays else 1 << op
    named = [
        [*(structure.names[i] for i in members(part)), *([copies[group]] if group in copies else [])]
        for group in groups
        for part in (structure.connected(group & ~gone) if group & gone else [group])
    ]
    return new, named


class _Taken(NamedTuple):
    """Names that are not free: an op may be called as its tensor is."""

    ops: set[str]
    tensors: set[str]


def _copy(op: Op, read: set[Tensor], taken: _Taken) -> tuple[Op, Mapping[Tensor, Tensor]]:
    """Return a copy of an op that writes what is read of it, under names that are free, and what stands for what."""
    renamed = {one: Tensor(_free(one.name, taken.tensors), one.shape, one.dtype) for one in op.outputs if one in read}
    return _like(op, _free(op.name, taken.ops), op.inputs, renamed.values()), renamed


def _reading(op: Op, renamed: Mapping[Tensor, Tensor]) -> Op:
    """Return an op that reads other tensors in place of some."""
    return _like(op, op.name, [renamed.get(one, one) for one in op.inputs], op.outputs)


def _like(op: Op, name: str, inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> Op:
    return Op(
        name,
        op.kind,
        inputs,
        outputs,
        op.flops,
        extra_bytes=op.extra_bytes,
        terms=op.terms,
        precision=op.precision,
    )


def _free(name: str, taken: set[str]) -> str:
    """Return the name with the first number that makes it free, and take it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free
