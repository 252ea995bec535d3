"""The chips of exercises and misconceptions, and graphs of one op."""

from __future__ import annotations

from typing import Any, Final

from roofwidget.chips import Chip
from roofwidget.chips.catalogue import chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.presets import preset
from roofwidget.teaching.bank.phrases import exact
from roofwidget.workloads import Graph

USABLE: Final = 0.9
"""The share of a memory that a model may take. The rest is for activations and for what a framework needs."""


def record(name: str, *precisions: str) -> Chip:
    """Return a chip of the catalogue with its dense peaks in these precisions, its main memory and its links.

    All exercises of a seed have the figures of the catalogue, so that a sheet has one figure of each chip.
    """
    whole = chip(name)
    level = whole.memory()
    peaks = {precision: whole.peak(precision) for precision in precisions}
    return Chip(whole.name, peaks, {level: whole.memories[level]}, links=whole.links)


V7X: Final = preset("tpu-roofline-guide").chips[1]
TPUS: Final = tuple(record(word, "bf16") for word in ("v5p", "v6e", "v7x"))
H100: Final = record("h100-sxm", "bf16")
H100_TEXT: Final = f"A GPU does {exact(H100.peak(), 'FLOP/s')} in bf16 and reads {exact(H100.bandwidth(), 'B/s')}."


def of_2009(name: str) -> Chip:
    """Return a machine of the first roofline paper."""
    return next(one for one in preset("williams-2009").chips if one.id == name)


def of_op(
    op: str, dtype: str, *shapes: tuple[int, ...], convention: str = "textbook", allocate: bool = False, **how: Any
) -> Graph:
    """Return the graph of one op whose inputs have these shapes. With `allocate`, stores read their lines first."""
    graph = Graph(convention="hpc" if allocate else convention)
    inputs = (graph.input(f"in{number}", shape, dtype) for number, shape in enumerate(shapes))
    graph.output(getattr(graph, op)(*inputs, **how))
    return graph


def kernel(graph: Graph, name: str) -> Kernel:
    """Return a graph as one kernel with the unfused bytes."""
    return Kernel(name, graph.count("flops"), graph.count("bytes"))
