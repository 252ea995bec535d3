"""Exercises on attention: three kernels, one kernel, and FlashAttention without reuse of keys and values."""

from __future__ import annotations

from typing import Any, Final, Literal

from roofwidget.analysis.bound import bound
from roofwidget.kernels.kernel import Kernel
from roofwidget.teaching.bank.counts import H100, H100_TEXT, intensity, kernel, of_op, seconds
from roofwidget.teaching.bank.exercise import Draw, exercise
from roofwidget.teaching.bank.phrases import UCSD_LAB, exact
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph
from roofwidget.workloads.partition import Partition

_DERIVED: Final = "Derived from the shapes"
_DAO: Final = "Derived, after Dao, FlashAttention-2, 2023"
_PRINTED: Final = (4096, 128)
_OTHERS: Final = [(2048, 128), (8192, 128), (8192, 64)]
_SMALL: Final = (1024, 64)
_SMALL_OTHERS: Final = [(4096, 128), (8192, 128), (512, 64)]

_How = Literal["unfused", "fused", "flash"]
_BLOCK_ROWS: Final = 128


def _attention(tokens: int, d: int, how: _How) -> Graph:
    """Return attention of one bf16 head. `flash` reads keys and values once for each block of query rows."""
    op = {"fused": "attention", "flash": "flash_attention", "unfused": "unfused_attention"}[how]
    more: dict[str, Any] = {"block_rows": _BLOCK_ROWS} if how == "flash" else {}
    return of_op(op, "bf16", *[(tokens, d)] * 3, **more)


def _scores_fused(tokens: int, d: int) -> tuple[Kernel, Kernel]:
    """Return two kernels: scores with softmax, and values. The scores before the softmax do not move."""
    graph = _attention(tokens, d, "unfused")
    first, softmax, last = graph.kernels()
    between = int(graph.bytes("attention.scores"))  # type: ignore[arg-type]  # no dimensions: an int
    joined = Kernel(
        "scores and softmax",
        first.total_flops + softmax.total_flops,
        float(graph.count("bytes")) - _bytes_of(last) - 2 * between,
    )
    return joined, Kernel("values", last.total_flops, _bytes_of(last))


def _bytes_of(one: Kernel) -> float:
    return one.total_flops / one.arithmetic_intensity


def _head(tokens: int, d: int) -> str:
    return (
        f"One attention head has {tokens} queries, {tokens} keys and values, and a head size of {d}. "
        "Everything is in bf16 (2 B), and no mask is used. Count 5 FLOP for each element of the softmax. "
    )


_KERNELS: Final = "Three kernels compute scores, softmax and values, and the score matrix moves four times. "
_FUSED: Final = "One kernel computes everything: queries, keys, values and output move once. "
_FLASH: Final = (
    f"FlashAttention-2 works on blocks of {_BLOCK_ROWS} query rows. "
    "Each block reads all keys and values from memory, and no cache keeps them. Queries and output move once. "
)


@exercise("attention-macs")
def _macs(draw: Draw) -> Question:
    heads, queries, keys, d = draw.pick(
        (4, 173, 256, 128), [(8, 512, 512, 64), (16, 100, 2048, 128), (12, 77, 300, 64)]
    )
    shapes = [(heads, many, d) for many in (queries, keys, keys)]
    answer = of_op("attention", "fp32", *shapes, convention="mac").count("flops")
    return draw.question(
        prompt=f"Attention has {heads} heads, {queries} queries, {keys} keys and a head size of {d}. The batch is 1. "
        "How many multiply-adds (MACs) do its two matrix products take, without the softmax?",
        answer=answer,
        unit="MAC",
        explanation=f"Scores and values take {heads} · {queries} · {keys} · {d} MACs each: {answer:,} together.",
        source=UCSD_LAB,
    )


@exercise("attention-unfused-bytes")
def _unfused_bytes(draw: Draw) -> Question:
    tokens, d = draw.pick(_SMALL, _SMALL_OTHERS)
    graph = _attention(tokens, d, "unfused")
    return draw.question(
        prompt=f"{_head(tokens, d)}{_KERNELS}How many bytes move?",
        answer=graph.count("bytes"),
        unit="B",
        explanation=f"Four matrices of {tokens} × {d} and four times the {tokens} × {tokens} scores, 2 B each: "
        f"{graph.count('bytes') / 2**20:g} MiB.",
        source=_DERIVED,
        difficulty=2,
    )


@exercise("attention-unfused-intensity")
def _unfused_intensity(draw: Draw) -> Question:
    tokens, d = draw.pick(_SMALL, _SMALL_OTHERS)
    return draw.question(
        prompt=f"{_head(tokens, d)}{_KERNELS}What is the arithmetic intensity of the three kernels together?",
        answer=intensity(_attention(tokens, d, "unfused")),
        unit="FLOP/B",
        explanation=f"(4 · {d} + 5) FLOP for each of the {tokens}² scores, which move 4 · 2 B, "
        f"and 4 · 2 B for each of the {tokens} · {d} elements of a matrix.",
        source=_DERIVED,
        difficulty=2,
    )


@exercise("attention-fused-intensity")
def _fused_intensity(draw: Draw) -> Question:
    tokens, d = draw.pick(_SMALL, _SMALL_OTHERS)
    graph = _attention(tokens, d, "fused")
    return draw.question(
        prompt=f"{_head(tokens, d)}{_FUSED}What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"The FLOPs stay (4 · {d} + 5) · {tokens}², and only four matrices of {tokens} × {d} move: "
        f"{graph.count('bytes') / 2**20:g} MiB.",
        source=_DERIVED,
        difficulty=2,
    )


@exercise("attention-traffic-saved")
def _saved(draw: Draw) -> Question:
    tokens, d = draw.pick(_SMALL, _SMALL_OTHERS)
    moved = [_attention(tokens, d, how).count("bytes") for how in ("unfused", "fused")]
    return draw.question(
        prompt=f"{_head(tokens, d)}{_KERNELS}A fused kernel moves queries, keys, values and output once, and no "
        "scores. How many times fewer bytes does the fused kernel move?",
        answer=moved[0] / moved[1],
        wrong_answers={moved[1] / moved[0]: "This is the share that is left. The question asks how many times fewer."},
        explanation=f"The scores move 4 · {tokens}² elements, the matrices 4 · {tokens} · {d}: "
        f"1 + {tokens} / {d} = {moved[0] / moved[1]:g}.",
        source=_DERIVED,
    )


@exercise("attention-fused-place")
def _fused_place(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    graph = _attention(tokens, d, "fused")
    return draw.question(
        prompt=f"{_head(tokens, d)}{_FUSED}Drag the marker to the arithmetic intensity of the fused kernel.",
        answer=intensity(graph),
        on="intensity",
        kernel="fused attention",
        explanation=f"(4 · {d} + 5) · {tokens}² FLOP over 4 · 2 B · {tokens} · {d}. The intensity grows with the "
        "context.",
        source=_DERIVED,
        difficulty=2,
        setup={
            "chips": [H100],
            "kernels": [kernel(_attention(tokens, d, "unfused"), "three kernels"), kernel(graph, "fused attention")],
        },
    )


@exercise("attention-unfused-time")
def _unfused_time(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    return draw.question(
        prompt=f"{H100_TEXT} {_head(tokens, d)}{_KERNELS}What is the least time of the three kernels one after "
        "another?",
        answer=seconds(_attention(tokens, d, "unfused"), H100),
        unit="s",
        explanation="All three kernels are memory-bound. Scores and values move the score matrix once and two small "
        "matrices each, the softmax moves the score matrix twice. Add the three times.",
        source=_DERIVED,
        difficulty=3,
    )


@exercise("attention-softmax-fused-time")
def _scores_fused_time(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    three = Partition.unfused(_attention(tokens, d, "unfused"))
    refusal = three.why_not("attention.scores", "attention.softmax", chip="h100-sxm")
    return draw.question(
        prompt=f"{H100_TEXT} {_head(tokens, d)}One kernel computes scores and softmax and writes the weights. "
        "A second kernel reads the weights and computes the values. What is the least time of both, one after another?",
        answer=bound(list(_scores_fused(tokens, d)), H100).total_time,
        unit="s",
        explanation=f"The {tokens} × {tokens} weights are written once and read once. The scores do not move any more, "
        "and that saves about half of the traffic."
        + (f" An H100 cannot keep whole rows of the scores: {refusal.sentence}." if refusal else ""),
        source=_DERIVED,
        difficulty=3,
    )


@exercise("attention-fused-time")
def _fused_time(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    return draw.question(
        prompt=f"{H100_TEXT} {_head(tokens, d)}{_FUSED}Take the peak for all FLOPs. What is the least time?",
        answer=seconds(_attention(tokens, d, "fused"), H100),
        unit="s",
        explanation=f"The kernel is compute-bound: (4 · {d} + 5) · {tokens}² FLOP at {exact(H100.peak(), 'FLOP/s')}.",
        source=_DERIVED,
        difficulty=2,
    )


@exercise("flash-no-reuse-intensity")
def _flash_intensity(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    graph = _attention(tokens, d, "flash")
    return draw.question(
        prompt=f"{_head(tokens, d)}{_FLASH}What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"{tokens // _BLOCK_ROWS} blocks read keys and values, so {graph.count('bytes') / 2**20:g} MiB "
        f"move. A key element of 2 B serves {_BLOCK_ROWS} rows, so the intensity is near {_BLOCK_ROWS} FLOP/B at any "
        "context.",
        source=_DAO,
        difficulty=3,
    )


@exercise("flash-no-reuse-time")
def _flash_time(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    graph = _attention(tokens, d, "flash")
    return draw.question(
        prompt=f"{H100_TEXT} {_head(tokens, d)}{_FLASH}What is the least time?",
        answer=seconds(graph, H100),
        unit="s",
        explanation=f"{graph.count('bytes') / 2**20:g} MiB at {exact(H100.bandwidth(), 'B/s')} take longer than the "
        "FLOPs at the peak.",
        source=_DAO,
        difficulty=3,
    )


@exercise("flash-what-binds")
def _flash_binds(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    how: _How = draw.pick("flash", ["fused"])
    graph = _attention(tokens, d, how)
    ai, ridge = intensity(graph), H100.ridge_point()
    memory = bound(graph.kernels(), H100).bound_by[0] == "HBM"
    at = f"The intensity is {ai:.4g} FLOP/B, {'left' if memory else 'right'} of the ridge point of {ridge:.0f} FLOP/B."
    answer = "memory bandwidth" if memory else "peak FLOP/s"
    helps = "Larger blocks, or keys and values in L2, would move fewer bytes." if memory else "No scores move."
    options = {
        "memory bandwidth": f"{at} Each key moves once and serves {tokens} queries.",
        "peak FLOP/s": f"{at} Fusion keeps the scores on chip, but keys and values still move once for each block.",
        "neither of the two": f"{at} Fusion does not decide what binds. The bytes that are left do.",
    }
    return draw.question(
        prompt=f"{H100_TEXT} {_head(tokens, d)}{_FLASH if how == 'flash' else _FUSED}What bounds the time?",
        answer=answer,
        options={**options, answer: at},
        explanation=f"{at} {helps}",
        source=_DAO,
        difficulty=2,
    )


@exercise("flash-bandwidth-needed")
def _flash_bandwidth(draw: Draw) -> Question:
    tokens, d = draw.pick(_PRINTED, _OTHERS)
    graph = _attention(tokens, d, "flash")
    return draw.question(
        prompt=f"{H100_TEXT} {_head(tokens, d)}{_FLASH}"
        "Drag the memory roof to the bandwidth from which the kernel is compute-bound.",
        answer=H100.peak() / intensity(graph),
        on="bandwidth",
        explanation=f"The ridge point has to come down to the {intensity(graph):.4g} FLOP/B of the kernel: "
        "peak over intensity.",
        source=_DAO,
        difficulty=3,
        setup={"chips": [H100], "kernels": [kernel(graph, "FlashAttention-2, no reuse")]},
    )
