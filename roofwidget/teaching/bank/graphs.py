"""Exercises whose answer is a partition of a graph into kernels: what a merge saves, and whether a product's pays."""

from __future__ import annotations

import functools
from typing import Final

from roofwidget.chips import chip as find_chip
from roofwidget.teaching.bank.counts import H100_TEXT, TPUS, V7X
from roofwidget.teaching.bank.exercise import Draw, exercise
from roofwidget.teaching.bank.phrases import GUIDE, exact, short
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph, Tensor, chain
from roofwidget.workloads.partition import Partition

_TOPIC: Final = "fusion"
_ELEMENTS: Final = 2**28
# FLOPs per element.
_OPS: Final = {"LayerNorm": 10, "GELU": 8, "Dropout": 1, "ReLU": 1, "SiLU": 5, "Scale": 1}
_TAILS: Final = (
    ("GELU", "Dropout"),
    ("LayerNorm", "Scale", "GELU", "Dropout"),
    ("Scale", "LayerNorm", "SiLU", "ReLU", "Dropout"),
)


@functools.cache
def _guide_chain(elements: int) -> Graph:
    """Return the guide's chain of four ops, each with one read and one write."""
    return chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=elements, dtype="bf16")


@exercise("chain-merge", _TOPIC)
def _chain_merge(draw: Draw) -> Question:
    graph = _guide_chain(draw.pick("elements", _ELEMENTS, (2**24, 2**26, 2**27)))
    best = Partition.fully(graph)
    return Question(
        key=draw.key,
        prompt=(
            "Four ops follow each other: LayerNorm, GELU, Dropout and Add. Here each reads one tensor and writes one "
            "tensor. Merge the ops so that as few bytes as possible move."
        ),
        answer=best.groups,
        graph=graph,
        explanation=(
            f"In one kernel the tensors between the ops stay on chip: {short(graph.count('bytes'), 'B')} become "
            f"{short(graph.count('compulsory'), 'B')}."
        ),
        source=GUIDE,
        setup={"chips": [draw.pick("chip", V7X, TPUS, also_printed=False)], "graph": graph},
    )


@functools.cache
def _tail(ops: tuple[str, ...]) -> Graph:
    """Return a graph of ops that follow each other, and of an Add with the input of the first op."""
    graph = Graph("tail")
    x = start = graph.input("x", (_ELEMENTS // 4096, 4096), "bf16")
    for op in ops:
        if op == "LayerNorm":
            x = graph.layernorm(x, affine=False, flops_per_element=_OPS[op], name=op)
            continue
        y = Tensor(f"{op}.out", x.shape, "bf16")
        graph.op("elementwise", op, [x], [y], _OPS[op] * _ELEMENTS)
        x = y
    graph.output(graph.add(x, start, name="Add"))
    return graph


@exercise("residual-merge", _TOPIC)
def _residual_merge(draw: Draw) -> Question:
    ops = draw.pick("ops", ("LayerNorm", "GELU", "Dropout"), _TAILS)
    graph = _tail(ops)
    best = Partition.fully(graph)
    return Question(
        key=draw.key,
        prompt=(
            f"{len(ops)} ops follow each other: {', '.join(ops)}. Then an Add adds the tensor that the first op reads. "
            "All tensors have the same size. Merge the ops so that as few bytes as possible move."
        ),
        answer=best.groups,
        graph=graph,
        explanation=(
            "One kernel with all ops reads its input once, for the first op and for the Add, and writes its result: "
            f"{short(graph.count('bytes'), 'B')} become {short(graph.count('compulsory'), 'B')}."
        ),
        source=f"Derived from the {GUIDE}",
        difficulty=2,
        setup={"chips": [draw.pick("chip", V7X, TPUS, also_printed=False)], "graph": graph},
    )


@functools.cache
def _before_product(rows: int, inner: int, columns: int) -> Graph:
    """Return a product of `rows` × `inner` by `inner` × `columns` numbers, and the LayerNorm of its left operand."""
    graph = Graph("LayerNorm and product")
    normal = graph.layernorm(graph.input("x", (rows, inner), "bf16"), affine=False, name="LayerNorm")
    graph.output(graph.matmul(normal, graph.input("weights", (inner, columns), "bf16"), name="product"))
    return graph


@exercise("norm-in-the-kernel-of-a-product", _TOPIC)
def _norm_in_product(draw: Draw) -> Question:
    rows, columns = draw.pick("sizes", (4096, 16384), [(64, 1024), (256, 1024), (256, 4096), (8192, 16384)])
    chip = find_chip("h100-sxm")
    joined = Partition.fully(_before_product(rows, 4096, columns), chip=chip)
    runs = joined.form("product", chip).times["LayerNorm"]
    apart, together = Partition.unfused(joined.graph).time(chip), joined.time(chip)
    times = f"Two kernels take {short(apart, 's')}, one kernel takes {short(together, 's')}."
    faster, slower = "One kernel for both", "One kernel for each"
    why = "The product is memory-bound: fewer bytes make it faster, and the repeated arithmetic takes less time."
    if together >= apart:
        faster, slower = slower, faster
        why = "The product is compute-bound: fewer bytes do not make it faster, and more arithmetic makes it slower."
    return Question(
        key=draw.key,
        prompt=(
            f"{H100_TEXT} The kernel of a matrix product computes its result in tiles. It may also run an op before "
            f"the product. It runs this op again for each column of tiles. A product multiplies {rows} × 4096 numbers "
            f"by 4096 × {columns} weights, all in bf16 (2 B). A tile has {columns // runs} columns. A LayerNorm makes "
            "the left operand. It does 6 FLOPs per element, on vector units with "
            f"{exact(chip.peak('bf16_vector'), 'FLOP/s')}. What is faster?"
        ),
        answer=faster,
        options={
            faster: f"{times} {why}",
            slower: f"{times} {why}",
            "Neither is faster": f"{times} In one kernel the LayerNorm runs {runs} times, and the tensor between "
            "the two ops does not move.",
        },
        explanation=times,
        source="Derived from the shapes",
        difficulty=3,
    )
