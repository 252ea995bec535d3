"""What exercises compute often: the bytes of an element, the intensity of a graph, its least time on a chip."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from roofwidget.analysis.bound import bound
from roofwidget.chips import Chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.workloads import Graph
from roofwidget.workloads.tensors import DTYPES

H100: Final = Chip("H100", {"bf16": 989e12}, {"HBM": 3.35e12})
"""The rounded figures that the printed answers use. The catalogue has more digits."""
H100_TEXT: Final = "A GPU does 989 TFLOP/s in bf16 and reads 3.35 TB/s."


def intensity(graph: Graph, what: str = "bytes") -> float:
    """Return the FLOPs of a graph per byte: unfused with ``"bytes"``, fused with ``"compulsory"``."""
    return float(Fraction(graph.count("flops"), graph.count(what)))


def seconds(graph: Graph, chip: Chip) -> float:
    """Return the least time of a graph on a chip if nothing is fused."""
    return bound(graph.kernels(), chip).total_time


def kernel(graph: Graph, name: str) -> Kernel:
    """Return a graph as one kernel with the unfused bytes."""
    return Kernel(name, graph.count("flops"), graph.count("bytes"))


def itemsize(dtype: str) -> int:
    """Return the bytes of an element."""
    return DTYPES[dtype] // 8
