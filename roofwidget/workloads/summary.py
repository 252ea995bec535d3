"""What a partition says of itself in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roofwidget.units import format_quantity, format_significant
from roofwidget.workloads.convention import PEAK_FMA
from roofwidget.workloads.expressions import evaluate

if TYPE_CHECKING:
    from roofwidget.workloads.convention import Convention
    from roofwidget.workloads.partition import Partition

__all__ = ["summary", "told"]


def summary(partition: Partition) -> str:
    """Return the line: ops, kernels, bytes at the defaults of all dimensions, and how it is counted and was found."""
    graph, kernels = partition.graph, len(partition)
    ops = sum(map(len, partition.indices))
    moved = format_quantity(float(evaluate(partition.total_bytes(), graph.environment())), "B")
    counted = f"{ops} op{'' if ops == 1 else 's'} in {kernels} kernel{'' if kernels == 1 else 's'}"
    remarks = [
        f"{counted}, {moved}, {format_significant(partition.excess())}× the compulsory bytes",
        told(graph.convention),
        *([f"spilled: {', '.join(partition.spilled)}"] if partition.spilled else []),
        *([partition.how] if partition.how else []),
    ]
    return f"Partition({graph.name!r}: {'; '.join(remarks)})"


def told(convention: Convention) -> str:
    """Return the name of a convention, and what it does not say of kernels."""
    if convention.fma == PEAK_FMA:
        return convention.name
    return f"{convention.name}, but a multiply-add is {PEAK_FMA} FLOPs in kernels, as in peaks"
