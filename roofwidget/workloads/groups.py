"""What people write for ops and groups, found and checked, and the kernels that groups are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import nearest
from roofwidget.workloads.legality import FusionError, Refusal, Rules
from roofwidget.workloads.line import Line
from roofwidget.workloads.op import CLASSES, Op
from roofwidget.workloads.structure import Mask, Structure, members
from roofwidget.workloads.summary import told

__all__ = ["checked", "find_group", "find_op", "kernels_of", "mask_of"]


def find_op(structure: Structure, op: str | Op | int) -> Mask:
    """Return the op of a name or position as a set."""
    name = op.name if isinstance(op, Op) else op
    if isinstance(name, int) and 0 <= name < len(structure.ops):
        return 1 << name
    if isinstance(name, str) and name in structure.index:
        return 1 << structure.index[name]
    close = nearest(str(name), structure.names, most=1)
    hint = f"; did you mean '{close[0]}'?" if close else f"; it has {len(structure.ops)} ops"
    msg = f"graph '{structure.graph.name}' has no op {name!r:.60}{hint}"
    raise ValueError(msg)


def mask_of(structure: Structure, group: Iterable[str | int]) -> Mask:
    """Return the ops of a group that is written as names or positions."""
    if isinstance(group, str):
        msg = f"a group is a list of ops, got the text {group!r:.60}; write [{group!r:.60}] for a group of one"
        raise TypeError(msg)
    mask = 0
    for op in group:
        one = find_op(structure, op)
        if mask & one:
            msg = f"a group has op '{structure.names[one.bit_length() - 1]}' twice"
            raise ValueError(msg)
        mask |= one
    if not mask:
        msg = "a group has no ops"
        raise ValueError(msg)
    return mask


def find_group(structure: Structure, groups: Sequence[Mask], which: str | Op | int | Iterable[str]) -> Mask:
    """Return the group that an op of it, its position or the names of all its ops stand for."""
    if isinstance(which, int):
        if not 0 <= which < len(groups):
            msg = f"there is no group {which}: the partition has {len(groups)}, counted from 0"
            raise ValueError(msg)
        return groups[which]
    if isinstance(which, (str, Op)):
        one = find_op(structure, which)
        return next(group for group in groups if group & one)
    mask = mask_of(structure, which)
    if mask not in groups:
        msg = f"no group of the partition is {structure.spoken(mask)}"
        raise ValueError(msg)
    return mask


def checked(structure: Structure, rules: Rules, groups: list[Mask]) -> list[Mask]:
    """Return groups if they are a legal partition, else raise."""
    covered = 0
    for group in groups:
        if twice := covered & group:
            msg = f"op '{structure.spoken(twice & -twice)}' is in two groups"
            raise ValueError(msg)
        covered |= group
    if missing := structure.everything & ~covered:
        msg = f"no group has {structure.spoken(missing)}; every op must be in one"
        raise ValueError(msg)
    for group in groups:
        parts = structure.connected(group)
        if len(parts) > 1:
            apart = [structure.spoken(part) for part in parts[:2]]
            raise FusionError(Refusal("not-connected", f"{apart[0]} and {apart[1]} share no tensor", tuple(apart)))
        if refusal := rules.refusal(group):
            raise FusionError(refusal)
    _check_order(structure, rules, groups)
    return groups


def _check_order(structure: Structure, rules: Rules, groups: Sequence[Mask]) -> None:
    """Raise if a group waits for itself when single ops are joined group by group."""
    line = Line(structure, [1 << op for op in range(len(structure.ops))])
    for group in groups:
        parts = sorted({line.owner[op] for op in members(group)})
        if way := line.detour(parts):
            raise FusionError(rules.circle(line, way, group))
        line.merge(parts)


def kernels_of(
    structure: Structure,
    groups: Sequence[Mask],
    spilled: Iterable[int],
    dims: Mapping[str, int] | None,
    *,
    own_precision: bool,
) -> Kernels:
    """Return one kernel a group, with its own precision or with none."""
    counts = structure.counts_at(dims)
    flops = [structure.flops(group, counts) for group in groups]
    columns: dict[str, list[float]] = {
        word: [float(row[word]) if word in row else np.nan for row in flops]
        for word in CLASSES
        if any(word in row for row in flops)
    }
    if not all(flops):
        columns[""] = [np.nan if row else 0.0 for row in flops]
    precisions = [
        structure.precision(group, counts) if own_precision and row else None
        for group, row in zip(groups, flops, strict=True)
    ]
    return Kernels(
        [" + ".join(structure.names[op] for op in members(group)) for group in groups],
        columns,
        [float(structure.bytes(group, counts, spilled)) for group in groups],
        precision=precisions,
        source=f"graph '{structure.graph.name}', counted by {told(structure.graph.convention)}",
    )
