"""Exercises on the intensity of memory-bound ops, on what fusion saves, and on what a product's kernel repeats."""

from __future__ import annotations

import functools
from typing import Final

from roofwidget.analysis.roofline import attainable
from roofwidget.chips import chip as find_chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.teaching.bank.counts import H100_TEXT, TPUS, V7X, intensity, itemsize, of_op
from roofwidget.teaching.bank.exercise import Draw, exercise, exercises
from roofwidget.teaching.bank.phrases import GUIDE, exact, rates, short
from roofwidget.teaching.bank.slips import not_equal
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph, Tensor, chain
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.partition import Partition

_DERIVED: Final = f"Derived from the {GUIDE}"
_FROM_SHAPES: Final = "Derived from the shapes"
# FLOPs per element.
_OPS: Final = {"LayerNorm": 10, "GELU": 8, "Dropout": 1, "ReLU": 1, "SiLU": 5, "Scale": 1}
_PEAK: Final = "This is the peak. At this intensity the memory does not bring enough for it."
_TAILS: Final = (
    ("GELU", "Dropout"),
    ("LayerNorm", "Scale", "GELU", "Dropout"),
    ("Scale", "LayerNorm", "SiLU", "ReLU", "Dropout"),
)
_PRINTED_TAIL: Final = ("LayerNorm", "GELU", "Dropout")
_PRINTED_ELEMENTS: Final = 2**28
_ELEMENTS: Final = (2**24, 2**26, 2**27)


def _layernorm(draw: Draw, *, dtypes: tuple[str, ...] = ()) -> tuple[int, int, str, float]:
    """Return FLOPs per element, passes over the data, dtype and intensity of a LayerNorm in bf16 or one of `dtypes`."""
    flops, passes, dtype = draw.pick(10, [8, 7, 5]), draw.pick(3, [2]), draw.pick("bf16", dtypes)
    return flops, passes, dtype, _layernorm_ai(flops, passes, dtype)


@functools.cache
def _layernorm_ai(flops: int, passes: int, dtype: str) -> float:
    return intensity(of_op("layernorm", dtype, (64, 64), affine=False, passes=passes, flops_per_element=flops))


def _text(flops: int, passes: int, dtype: str) -> str:
    return (
        f"A LayerNorm does {flops} FLOPs per element. Its passes over the data move each element {passes} times "
        f"between HBM and the chip. An element has {itemsize(dtype)} bytes ({dtype})."
    )


@exercise("layernorm-intensity")
def _layernorm_intensity(draw: Draw) -> Question:
    flops, passes, dtype, ai = _layernorm(draw, dtypes=("fp32",))
    return draw.question(
        prompt=f"{_text(flops, passes, dtype)} What is its intensity, in FLOP/B?",
        answer=ai,
        unit="FLOP/B",
        explanation=f"{flops} FLOP / ({passes} · {itemsize(dtype)} B) = {short(ai)} FLOP/B.",
        source=GUIDE,
    )


@exercise("layernorm-roof")
def _layernorm_roof(draw: Draw) -> Question:
    flops, passes, dtype, ai = _layernorm(draw)
    chip = draw.instead(V7X, TPUS)
    rate = attainable(ai, chip.peak(), chip.bandwidth())
    return draw.question(
        prompt=f"{_text(flops, passes, dtype)} {rates(chip)} Which rate can the LayerNorm reach at most, in FLOP/s?",
        answer=rate,
        unit="FLOP/s",
        wrong_answers=not_equal(rate, {chip.peak(): _PEAK}),
        explanation=(
            f"The intensity is {short(ai)} FLOP/B. Times {exact(chip.bandwidth(), 'B/s')} this is "
            f"{short(rate, 'FLOP/s')}, far below the peak."
        ),
        source=GUIDE,
    )


@exercise("layernorm-share-of-peak")
def _layernorm_share_of_peak(draw: Draw) -> Question:
    flops, passes, dtype, ai = _layernorm(draw)
    chip = draw.instead(V7X, TPUS)
    rate = attainable(ai, chip.peak(), chip.bandwidth())
    share = 100 * rate / chip.peak()
    return draw.question(
        prompt=f"{_text(flops, passes, dtype)} {rates(chip)} Which share of the peak can it reach at most, in %?",
        answer=share,
        unit="%",
        explanation=(
            f"{short(ai)} FLOP/B allow {short(rate, 'FLOP/s')}: {short(share)} % of the peak, with 100 % of the "
            "bandwidth."
        ),
        source=GUIDE,
        difficulty=2,
    )


@exercise("layernorm-yardstick")
def _layernorm_yardstick(draw: Draw) -> Question:
    chip = draw.instead(V7X, TPUS)
    ai = _layernorm_ai(10, 3, "bf16")
    rate = attainable(ai, chip.peak(), chip.bandwidth())
    share = short(100 * rate / chip.peak())
    fewer = "Fuse it with its neighbours, so that it moves fewer bytes"
    return draw.question(
        prompt=(
            f"{rates(chip)} A LayerNorm with an intensity of {short(ai)} FLOP/B reaches {short(rate, 'FLOP/s')}. This "
            f"is {share} % of the peak. What makes it faster?"
        ),
        answer=fewer,
        options={
            "Rewrite it, because it wastes nearly all of the peak": (
                f"A low share of the peak does not mean a bad kernel. At {short(ai)} FLOP/B the roof is "
                f"{short(rate, 'FLOP/s')}, and the kernel reaches it."
            ),
            fewer: "It is at its roof: it uses 100 % of the bandwidth. Only fewer bytes help.",
            "Run it on a chip with twice the peak and the same bandwidth": (
                "More FLOP/s do not help everything. The bandwidth limits this kernel, and it stays the same."
            ),
        },
        explanation=f"{short(ai)} FLOP/B · {exact(chip.bandwidth(), 'B/s')} = {short(rate, 'FLOP/s')}.",
        source=GUIDE,
    )


@exercise("layernorm-place")
def _layernorm_place(draw: Draw) -> Question:
    flops, passes, dtype, ai = _layernorm(draw, dtypes=("fp32",))
    kernel = Kernel("LayerNorm", flops * _PRINTED_ELEMENTS, passes * itemsize(dtype) * _PRINTED_ELEMENTS)
    return draw.question(
        prompt=f"{_text(flops, passes, dtype)} Drag the marker to its intensity.",
        answer=ai,
        on="intensity",
        kernel=kernel.name,
        explanation=f"{flops} FLOP / ({passes} · {itemsize(dtype)} B) = {short(ai)} FLOP/B.",
        source=GUIDE,
        setup={"chips": [draw.instead(V7X, TPUS)], "kernels": [kernel]},
    )


@functools.cache
def _guide_chain(elements: int, dtype: str = "bf16") -> Graph:
    """Return the guide's chain of four ops, each with one read and one write."""
    return chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=elements, dtype=dtype)


@functools.cache
def _chain_in(kernels: int, elements: int, dtype: str = "bf16") -> tuple[int, int]:
    """Return FLOPs and bytes of the guide's chain in 4, 2 or 1 kernels."""
    graph = _guide_chain(elements, dtype)
    make = {4: Partition.unfused, 2: Partition.pairs, 1: Partition.fully}[kernels]
    return graph.count("flops"), evaluate(make(graph).total_bytes(), {})


def _chain_text(elements: int, dtype: str) -> str:
    return (
        f"Four ops follow each other on {elements:,} elements of {itemsize(dtype)} bytes ({dtype}). Together they do "
        "20 FLOPs per element. Each kernel reads one tensor and writes one tensor."
    )


def _of_kernels(kernels: int) -> str:
    return f"{kernels} kernel{'s' if kernels > 1 else ''}"


@exercise("chain-intensity")
def _chain_intensity(draw: Draw) -> Question:
    kernels, elements = draw.pick(4, [2, 1]), draw.pick(_PRINTED_ELEMENTS, _ELEMENTS)
    dtype = draw.pick("bf16", ["fp32"])
    flops, moved = _chain_in(kernels, elements, dtype)
    return draw.question(
        prompt=(
            f"{_chain_text(elements, dtype)} The ops run in {_of_kernels(kernels)}. What is the intensity of them "
            "together, in FLOP/B?"
        ),
        answer=flops / moved,
        unit="FLOP/B",
        explanation=f"20 FLOP / ({kernels} · 2 · {itemsize(dtype)} B) = {short(flops / moved)} FLOP/B.",
        source=GUIDE,
    )


@exercise("chain-bytes")
def _chain_bytes(draw: Draw) -> Question:
    kernels, elements = draw.pick(4, [2, 1]), draw.pick(_PRINTED_ELEMENTS, _ELEMENTS)
    dtype = draw.pick("bf16", ["fp32"])
    _, moved = _chain_in(kernels, elements, dtype)
    return draw.question(
        prompt=f"{_chain_text(elements, dtype)} How many bytes move if the ops run in {_of_kernels(kernels)}?",
        answer=moved,
        unit="B",
        explanation=f"{kernels} · 2 · {elements:,} · {itemsize(dtype)} B = {short(moved, 'B')}.",
        source=GUIDE,
    )


@exercise("chain-roof")
def _chain_roof(draw: Draw) -> Question:
    kernels, chip = draw.pick(1, [2, 4]), draw.instead(V7X, TPUS)
    flops, moved = _chain_in(kernels, _PRINTED_ELEMENTS)
    rate = attainable(flops / moved, chip.peak(), chip.bandwidth())
    return draw.question(
        prompt=(
            f"{_chain_text(_PRINTED_ELEMENTS, 'bf16')} {rates(chip)} The ops run in {_of_kernels(kernels)}. Which rate "
            "can they reach at most, in FLOP/s?"
        ),
        answer=rate,
        unit="FLOP/s",
        wrong_answers=not_equal(rate, {chip.peak(): _PEAK}),
        explanation=(
            f"The intensity is 20 / ({kernels} · 4) = {short(flops / moved)} FLOP/B. Times "
            f"{exact(chip.bandwidth(), 'B/s')} this is {short(rate, 'FLOP/s')}."
        ),
        source=GUIDE,
        difficulty=2,
    )


@exercise("chain-place")
def _chain_place(draw: Draw) -> Question:
    kernels, dtype = draw.pick(1, [2, 4]), draw.pick("bf16", ["fp32"])
    flops, moved = _chain_in(kernels, _PRINTED_ELEMENTS, dtype)
    kernel = Kernel("chain", flops, moved)
    return draw.question(
        prompt=(
            f"{_chain_text(_PRINTED_ELEMENTS, dtype)} The ops run in {_of_kernels(kernels)}. Drag the marker to their "
            "intensity."
        ),
        answer=flops / moved,
        on="intensity",
        kernel=kernel.name,
        explanation=f"20 FLOP / ({kernels} · 2 · {itemsize(dtype)} B) = {short(flops / moved)} FLOP/B.",
        source=GUIDE,
        setup={"chips": [draw.instead(V7X, TPUS)], "kernels": [kernel]},
    )


@exercise("chain-merge")
def _chain_merge(draw: Draw) -> Question:
    graph = _guide_chain(draw.pick(_PRINTED_ELEMENTS, _ELEMENTS))
    best = Partition.fully(graph)
    return draw.question(
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
        setup={"chips": [draw.instead(V7X, TPUS)], "graph": graph},
    )


@functools.cache
def _tail(ops: tuple[str, ...], elements: int, dtype: str, *, own_input: bool = False) -> Graph:
    """Return a graph of ops that follow each other, and of an Add with a residual or with the input of the first op."""
    graph = Graph("tail")
    rows = elements // 4096
    x = start = graph.input("x", (rows, 4096), dtype)
    residual = start if own_input else graph.input("residual", (rows, 4096), dtype)
    for op in ops:
        if op == "LayerNorm":
            x = graph.layernorm(x, affine=False, flops_per_element=_OPS[op], name=op)
            continue
        y = Tensor(f"{op}.out", x.shape, dtype)
        graph.op("elementwise", op, [x], [y], _OPS[op] * elements)
        x = y
    graph.output(graph.add(x, residual, name="Add"))
    return graph


@functools.cache
def _fused_bytes(graph: Graph) -> int:
    return evaluate(Partition.fully(graph).total_bytes(), {})


def _tail_text(ops: tuple[str, ...], *, own_input: bool = False) -> str:
    read = "the tensor that the first op reads" if own_input else "a residual tensor, which none of these ops reads"
    return (
        f"{len(ops)} ops follow each other: {', '.join(ops)}. Then an Add adds {read}. All tensors have the same size."
    )


@exercise("residual-bytes-unfused")
def _residual_bytes_unfused(draw: Draw) -> Question:
    ops = draw.pick(_PRINTED_TAIL, _TAILS)
    elements, dtype = draw.pick(_PRINTED_ELEMENTS, _ELEMENTS), draw.pick("bf16", ["fp32"])
    moved = _tail(ops, elements, dtype).count("bytes")
    passes = 2 * len(ops) + 3
    return draw.question(
        prompt=(
            f"{_tail_text(ops)} A tensor has {elements:,} elements of {itemsize(dtype)} bytes ({dtype}). Each op is a "
            "kernel of its own. How many bytes move?"
        ),
        answer=moved,
        unit="B",
        wrong_answers={
            moved * (passes - 1) / passes: "The Add reads two tensors.",
            moved * (len(ops) + 1) / passes: "These are the writes. Each kernel also reads.",
        },
        explanation=(
            f"{len(ops)} ops read one tensor and write one tensor. The Add reads two tensors and writes one. These are "
            f"{passes} · {elements:,} · {itemsize(dtype)} B = {short(moved, 'B')}."
        ),
        source=_DERIVED,
        difficulty=2,
    )


@exercise("residual-bytes-fused")
def _residual_bytes_fused(draw: Draw) -> Question:
    ops = draw.pick(_PRINTED_TAIL, _TAILS)
    elements, dtype = draw.pick(_PRINTED_ELEMENTS, _ELEMENTS), draw.pick("bf16", ["fp32"])
    moved = _fused_bytes(_tail(ops, elements, dtype))
    return draw.question(
        prompt=(
            f"{_tail_text(ops)} A tensor has {elements:,} elements of {itemsize(dtype)} bytes ({dtype}). All ops are "
            "fused into one kernel. How many bytes move?"
        ),
        answer=moved,
        unit="B",
        wrong_answers={moved * 2 / 3: "The residual is read too: it is not the input of the first op."},
        explanation=(
            f"The kernel reads its input and the residual, and writes its result: 3 · {elements:,} · {itemsize(dtype)} "
            f"B = {short(moved, 'B')}."
        ),
        source=_DERIVED,
        difficulty=2,
    )


@exercises(
    {
        "residual-speed-up": {"own_input": False},
        "residual-of-the-own-input-speed-up": {"own_input": True},
    }
)
def _speed_up(draw: Draw, *, own_input: bool) -> Question:
    ops = draw.pick(_PRINTED_TAIL, _TAILS)
    graph = _tail(ops, _PRINTED_ELEMENTS, "bf16", own_input=own_input)
    factor = graph.count("bytes") / _fused_bytes(graph)
    left, before = (2 if own_input else 3), 2 * len(ops) + 3
    other = 5 - left
    read_once = "The fused kernel reads its input once, for the first op and for the Add."
    must_read = "The fused kernel must read the residual too: it is not the input of the first op."
    read = "its input once" if own_input else "its input and the residual"
    return draw.question(
        prompt=(
            f"{_tail_text(ops, own_input=own_input)} All ops are memory-bound. How many times faster are they as one "
            "fused kernel than as kernels of their own?"
        ),
        answer=factor,
        wrong_answers={
            before / other: read_once if own_input else must_read,
            (before - 1) / left: "Before fusion the Add reads two tensors.",
        },
        explanation=(
            f"Unfused, {2 * len(ops) + 3} tensors move: two for each op, three for the Add. The fused kernel reads "
            f"{read} and writes its result: {left} tensors. {2 * len(ops) + 3} / {left} = {short(factor)}."
        ),
        source=_DERIVED,
        difficulty=2,
    )


@exercise("residual-merge")
def _residual_merge(draw: Draw) -> Question:
    ops = draw.pick(_PRINTED_TAIL, _TAILS)
    graph = _tail(ops, _PRINTED_ELEMENTS, "bf16", own_input=True)
    best = Partition.fully(graph)
    return draw.question(
        prompt=f"{_tail_text(ops, own_input=True)} Merge the ops so that as few bytes as possible move.",
        answer=best.groups,
        graph=graph,
        explanation=(
            "One kernel with all ops reads its input once, for the first op and for the Add, and writes its result: "
            f"{short(graph.count('bytes'), 'B')} become {short(graph.count('compulsory'), 'B')}."
        ),
        source=_DERIVED,
        difficulty=2,
        setup={"chips": [draw.instead(V7X, TPUS)], "graph": graph},
    )


# -- ops before a matrix product ---------------------------------------------------------------------------------------


@functools.cache
def _before_product(op: str, rows: int, inner: int, columns: int) -> Graph:
    """Return a product of `rows` × `inner` by `inner` × `columns` numbers, and an op that makes one of its operands."""
    graph = Graph(f"{op} and product")
    x = graph.input("x", (rows, inner), "bf16")
    if op == "LayerNorm":
        left, right = graph.layernorm(x, affine=False, name=op), graph.input("weights", (inner, columns), "bf16")
    else:
        left, right = x, graph.cast(graph.input("weights", (inner, columns), "int4"), "bf16", name=op)
    graph.output(graph.matmul(left, right, name="product"))
    return graph


_ONE_KERNEL: Final = "One kernel for both"
_TWO_KERNELS: Final = "One kernel for each"
_UNPACK: Final = "The weights are stored as int4, half a byte each, and an unpack op makes bf16 numbers of them."
_TILES: Final = (
    "The kernel of a matrix product computes its result in tiles. It may also run an op before the product. It runs "
    "this op again for each column of tiles."
)


def _product_text(rows: int, inner: int, columns: int) -> str:
    return f"A product multiplies {rows} × {inner} numbers by {inner} × {columns} weights, all in bf16 (2 B)."


@exercise("unpack-and-product-bytes")
def _unpack_bytes(draw: Draw) -> Question:
    rows = draw.pick(16, [1, 32, 64])
    inner, columns = draw.pick((8192, 8192), [(4096, 4096), (4096, 14336), (8192, 28672)])
    graph = _before_product("unpack", rows, inner, columns)
    apart, joined = graph.count("bytes"), graph.count("compulsory")
    return draw.question(
        prompt=(
            f"{_product_text(rows, inner, columns)} {_UNPACK} How many times fewer bytes move if one kernel unpacks "
            "and multiplies?"
        ),
        answer=apart / joined,
        wrong_answers={joined / apart: "This is the share that is left. The question asks how many times fewer."},
        explanation=(
            f"The bf16 weights are not written and not read: {short(apart, 'B')} become {short(joined, 'B')}. A kernel "
            "unpacks a tile of weights on chip just before it uses it."
        ),
        source=_FROM_SHAPES,
        difficulty=2,
    )


@exercise("norm-before-product-runs")
def _norm_runs(draw: Draw) -> Question:
    rows, side = draw.pick(4096, [1024, 8192, 16384]), draw.pick(256, [128, 64])
    columns = draw.pick(16384, [4096, 8192, 14336])
    return draw.question(
        prompt=(
            f"{_TILES} {_product_text(rows, 4096, columns)} A tile has {side} × {side} numbers. How often does the "
            "kernel run a LayerNorm of the left operand?"
        ),
        answer=-(-columns // side),
        unit="times",
        wrong_answers=not_equal(
            columns / side,
            {rows / side: "These are the rows of tiles.", rows * columns / side**2: "These are all tiles."},
        ),
        explanation=f"The result has {columns} / {side} = {columns // side} columns of tiles.",
        source=_FROM_SHAPES,
    )


@exercise("norm-in-the-kernel-of-a-product")
def _norm_in_product(draw: Draw) -> Question:
    rows, columns = draw.pick((4096, 16384), [(64, 1024), (256, 1024), (256, 4096), (8192, 16384)])
    chip = find_chip("h100-sxm")
    joined = Partition.fully(_before_product("LayerNorm", rows, 4096, columns), chip=chip)
    runs = joined.form("product", chip).times["LayerNorm"]
    apart, together = Partition.unfused(joined.graph).time(chip), joined.time(chip)
    times = f"Two kernels take {short(apart, 's')}, one kernel takes {short(together, 's')}."
    if together < apart:
        faster, slower = _ONE_KERNEL, _TWO_KERNELS
        why = "The product is memory-bound: fewer bytes make it faster, and the repeated arithmetic takes less time."
    else:
        faster, slower = _TWO_KERNELS, _ONE_KERNEL
        why = "The product is compute-bound: fewer bytes do not make it faster, and more arithmetic makes it slower."
    return draw.question(
        prompt=(
            f"{H100_TEXT} {_TILES} {_product_text(rows, 4096, columns)} A tile has {columns // runs} columns. A "
            "LayerNorm makes the left operand. It does 6 FLOPs per element, on vector units with "
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
        source=_FROM_SHAPES,
        difficulty=3,
    )
