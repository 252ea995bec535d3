"""A chain of idealised operations: each reads one tensor and writes one."""

from __future__ import annotations

from collections.abc import Iterable

from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.tensors import Tensor

__all__ = ["chain"]


@keywords("chain")
def chain(
    ops: Iterable[tuple[str, int]],
    *,
    elements: Count,
    dtype: str = "bf16",
    name: str = "chain",
    convention: str | Convention = "textbook",
) -> Graph:
    """Return a graph in which each op reads the tensor before it and writes one of the same size, and nothing else.

    That is how fusion is often introduced. It leaves out what a real op reads besides: the other operand of an
    addition, weights, masks.

    Parameters
    ----------
    ops
        Names, each with its FLOPs an element.
    elements
        Elements of every tensor.
    dtype, name, convention
        As of a `Graph` and its tensors.

    Raises
    ------
    TypeError, ValueError
        If there is no op, one is not a name and an int from 0, or two have one name.

    Examples
    --------
    >>> g = chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=268_435_456)
    >>> g.count("flops"), g.count("bytes"), g.count("compulsory")
    (5368709120, 4294967296, 1073741824)
    """
    graph = Graph(name, convention=convention)
    given = list(ops)
    if not given:
        raise ValueError(f"chain '{name}' has no ops; give pairs of a name and FLOPs an element")
    tensor = graph.input("x", (elements,), dtype)
    for row in given:
        if isinstance(row, str) or len(row) != 2 or type(row[1]) is not int:  # noqa: PLR2004 - a pair
            raise TypeError(
                f"an op of chain '{name}' must be a name and its FLOPs an element, such as ('GELU', 8), got {row!r:.60}"
            )
        word, each = row
        written = Tensor(f"{word} out", (elements,), dtype)
        graph.op("elementwise", word, [tensor], [written], each * written.size, terms=[(word, each * written.size)])
        tensor = written
    graph.output(tensor)
    return graph
