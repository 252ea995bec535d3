"""Chains of idealised operations. Each operation reads one tensor and writes one tensor."""

from __future__ import annotations

from collections.abc import Iterable

from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.tensors import Tensor


@keywords("chain")
def chain(
    ops: Iterable[tuple[str, int]],
    *,
    elements: Count,
    dtype: str = "bf16",
    name: str = "chain",
    convention: str | Convention = "textbook",
) -> Graph:
    """Return a graph in which each op reads only the output of the op before it and writes a tensor of the same size.

    Introductions to fusion often use such chains. The chains leave out the other inputs of real ops: the second operand
    of an addition, weights, masks.

    Parameters
    ----------
    ops
        Pairs of a name and its FLOPs per element.
    elements
        Elements of every tensor.
    dtype, name, convention
        As for `Graph` and `Tensor`.

    Raises
    ------
    TypeError, ValueError
        If there is no op, an op is not a name with an int of at least 0, or two ops have the same name.

    Examples
    --------
    >>> g = chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=268_435_456)
    >>> g.count("flops"), g.count("bytes"), g.count("compulsory")
    (5368709120, 4294967296, 1073741824)
    """
    graph = Graph(name, convention=convention)
    given = list(ops)
    if not given:
        raise ValueError(f"chain '{name}' has no ops; give pairs of a name and FLOPs per element")
    tensor = graph.input("x", (elements,), dtype)
    for row in given:
        if isinstance(row, str) or len(row) != 2 or type(row[1]) is not int:  # noqa: PLR2004 - a pair
            raise TypeError(
                f"an op of chain '{name}' must be a name and its FLOPs per element, as ('GELU', 8), got {row!r:.60}"
            )
        word, each = row
        written = Tensor(f"{word} out", (elements,), dtype)
        graph.op("elementwise", word, [tensor], [written], each * written.size, terms=[(word, each * written.size)])
        tensor = written
    graph.output(tensor)
    return graph
