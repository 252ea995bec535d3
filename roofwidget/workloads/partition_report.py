"""Graphs and partitions as HTML tables, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from roofwidget.kernels.operations import operations_of
from roofwidget.support.text_tables import and_more, counted, html_table, html_with_notes, one_line
from roofwidget.units import format_intensity, format_quantity
from roofwidget.workloads.expressions import evaluate

if TYPE_CHECKING:
    from roofwidget.workloads.graph import Graph
    from roofwidget.workloads.partition import Partition

_MAX_TABLE_ROWS: Final = 20
_MAX_NAMES_CHARACTERS: Final = 80


def graph_html(graph: Graph) -> str:
    """Return an HTML table of the first ops with their counts as unfused kernels, at the defaults of the dimensions."""
    env = graph.environment()
    rows = [
        (
            one_line(op.name),
            op.kind,
            one_line(", ".join(tensor.name for tensor in op.inputs), _MAX_NAMES_CHARACTERS),
            one_line(", ".join(map(str, op.outputs)), _MAX_NAMES_CHARACTERS),
            format_quantity(float(evaluate(graph.simplify(op.total_flops), env)), "FLOP"),
            format_quantity(float(evaluate(graph.simplify(op.own_bytes), env)), "B"),
        )
        for op in graph.ops[:_MAX_TABLE_ROWS]
    ]
    sizes = ", ".join(f"{dim.name} = {dim.default:,}" for dim in graph.dims)
    words = [graph.name, counted(len(graph.ops), "op"), graph.convention.name, *([graph.dtype] if graph.dtype else [])]
    more = "".join(and_more(len(graph.ops), _MAX_TABLE_ROWS))
    caption = one_line(" · ".join(words), _MAX_NAMES_CHARACTERS)
    table = html_table(caption, ("op", "kind", "reads", "writes", "FLOPs", "bytes"), rows, more)
    return html_with_notes(table, [f"Counted at {sizes}."] if sizes else [])


def partition_html(partition: Partition) -> str:
    """Return an HTML table of the first kernels of a partition: their ops and counts."""
    kernels = partition.kernels()
    operations = operations_of(kernels)
    rows = [
        (
            one_line(", ".join(group), _MAX_NAMES_CHARACTERS),
            str(len(group)),
            format_quantity(float(kernels.flops[row]), operations.unit(row)),
            format_quantity(float(kernels.bytes[row]), "B"),
            format_intensity(float(kernels.arithmetic_intensity[row]), operation=operations.unit(row)),
        )
        for row, group in enumerate(partition.groups[:_MAX_TABLE_ROWS])
    ]
    caption = repr(partition).removeprefix("Partition(").removesuffix(")")
    more = "".join(and_more(len(partition), _MAX_TABLE_ROWS))
    return html_with_notes(html_table(caption, ("ops in one kernel", "ops", "FLOPs", "bytes", "AI"), rows, more), [])
