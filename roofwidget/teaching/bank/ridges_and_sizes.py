"""Exercises on ridge points, and on the sizes of matrix products and batches that reach them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from roofwidget.analysis.bound import bound
from roofwidget.analysis.roofline import attainable
from roofwidget.analysis.sizing import critical_batch, smallest_square_matmul
from roofwidget.chips import Chip
from roofwidget.chips.catalogue import chip as catalogue_chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.presets import preset
from roofwidget.teaching.bank.counts import H100, TPUS, V7X, itemsize, of_op, record
from roofwidget.teaching.bank.exercise import Draw, exercise
from roofwidget.teaching.bank.phrases import GUIDE, SCALING_BOOK, exact, name, quotient, rates, short
from roofwidget.teaching.bank.slips import not_equal
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import evaluate

V7X_FP8, _, _, V5P = preset("tpu-roofline-guide").chips
# With a seed, chips are those of the catalogue.
_FP8: Final = record("v7x", "fp8")
_INT8: Final = tuple(record(word, "bf16", "int8") for word in ("v5e", "v5p", "v6e"))
_OTHER_GPUS: Final = tuple(record(word, "bf16") for word in ("a100-sxm-80gb", "h200-sxm", "b200"))
_GPUS: Final = (H100, *_OTHER_GPUS)
# The scaling book rounds the bandwidth of the v5e in two ways.
V5E: Final = Chip("TPU v5e", {"bf16": 1.97e14, "int8": 3.94e14}, {"HBM": 8.2e11}, family="TPU")
V5E_810: Final = Chip("TPU v5e", {"bf16": 1.97e14, "int8": 3.94e14}, {"HBM": 8.1e11}, family="TPU")
# The rule for layers of infinite size is at least 3 % off for the sizes of the exercises. It must not count as right.
_FINITE_LAYER_TOLERANCE: Final = math.log2(1.02)
_ROOFS_OF_V7X: Final = Chip("TPU v7x", {"bf16": 2307e12, "fp8": 4614e12}, {"HBM": 7.2e12}, family="TPU")


@functools.cache
def _square(n: int, dtype: str = "bf16") -> tuple[Kernel, float]:
    """Return the product of two n by n matrices, and its intensity."""
    graph = of_op("matmul", dtype, (n, n), (n, n))
    flops, moved = graph.count("flops"), graph.count("bytes")
    return Kernel(f"MatMul {n}x{n}", flops, moved), flops / moved


def _bytes(size: int) -> str:
    return f"{size} byte{'s' if size > 1 else ''}"


@exercise("ridge-point")
def _ridge_point(draw: Draw) -> Question:
    chip = draw.instead(V5P, [*TPUS, _FP8])
    return draw.question(
        prompt=f"{rates(chip)} Where is its ridge point, in FLOP/B?",
        answer=chip.ridge_point(),
        unit="FLOP/B",
        explanation=f"The ridge point is peak over bandwidth: {quotient(chip)}.",
        source=GUIDE,
    )


@exercise("ridge-point-of-a-gpu")
def _ridge_point_of_a_gpu(draw: Draw) -> Question:
    chip = draw.pick(H100, _OTHER_GPUS)
    return draw.question(
        prompt=f"{rates(chip)} From which intensity on can a kernel reach the peak? Answer in FLOP/B.",
        answer=chip.ridge_point(),
        unit="FLOP/B",
        explanation=f"From the ridge point on: {quotient(chip)}.",
        source=SCALING_BOOK,
    )


@exercise("ridge-point-of-a-precision")
def _ridge_point_of_a_precision(draw: Draw) -> Question:
    # No intensity is within 10 % of a ridge point.
    ai = draw.pick(450, [150, 220, 250, 400, 550])
    chip = draw.instead(_ROOFS_OF_V7X, [record("v7x", "bf16", "fp8")])
    bf16, fp8 = short(chip.ridge_point("bf16")), short(chip.ridge_point("fp8"))
    compute = bound(Kernel("matmul", ai, 1), chip, precision="bf16").regime.tolist() == ["compute"]
    peak, bandwidth = "The bf16 peak", "The HBM bandwidth"
    wrong = {
        peak: f"{ai} FLOP/B is below {bf16} FLOP/B, the ridge point in bf16.",
        bandwidth: (
            f"A kernel in bf16 has the ridge point of bf16, {bf16} FLOP/B. The {fp8} FLOP/B are those of fp8, whose "
            "peak is twice as high."
        ),
        "The fp8 peak": "A kernel in bf16 does no fp8 arithmetic. The fp8 peak does not apply to it.",
    }
    answer = peak if compute else bandwidth
    side = "above" if compute else "below"
    return draw.question(
        prompt=(
            f"The {name(chip)} has a ridge point of {bf16} FLOP/B in bf16 and of {fp8} FLOP/B in fp8. A bf16 matrix "
            f"product has an intensity of {ai} FLOP/B. What limits it?"
        ),
        answer=answer,
        options=wrong | {answer: f"{ai} FLOP/B is {side} {bf16} FLOP/B, the ridge point in bf16."},
        source=GUIDE,
        difficulty=2,
        setup={"chips": [chip], "precision": "bf16"},
    )


@exercise("compute-time")
def _compute_time(draw: Draw) -> Question:
    chip = draw.pick(H100, _OTHER_GPUS)
    flops = draw.pick(1e12, [2e12, 5e12, 2e13])
    peak = exact(chip.peak(), "FLOP/s")
    seconds = bound(Kernel("matmul", flops, 0), chip).total_time
    return draw.question(
        prompt=(
            f"The {name(chip)} computes {peak} in bf16. How long do {exact(flops, 'FLOP')} take at least, in seconds?"
        ),
        answer=seconds,
        unit="s",
        explanation=f"{exact(flops, 'FLOP')} / {peak} = {short(seconds, 's')}.",
        source=SCALING_BOOK,
    )


def _other_elements(chip: Chip, size: int) -> dict[float, str]:
    """Return the sizes from which a product is compute-bound if its elements have another number of bytes."""
    others = [other for other in (1, 2, 4, 8) if other != size]
    return {smallest_square_matmul(chip, itemsize=one): f"This holds for elements of {_bytes(one)}." for one in others}


@exercise("square-matmul-size")
def _square_matmul_size(draw: Draw) -> Question:
    chip = draw.instead(V5P, [*TPUS, _FP8])
    size = itemsize(chip.precision())
    n = smallest_square_matmul(chip, itemsize=size)
    return draw.question(
        prompt=(
            f"{rates(chip)} Two square matrices of N × N elements are multiplied. Each element, also of the result, "
            f"has {_bytes(size)} and moves once. What is the smallest N at which the product is compute-bound?"
        ),
        answer=n,
        wrong_answers=_other_elements(chip, size),
        explanation=(
            f"The intensity is 2 N³ / (3 · {size} · N²). It reaches the ridge point, {short(chip.ridge_point())} "
            f"FLOP/B, at N = {1.5 * size:g} · {short(chip.ridge_point())}, rounded up to {n}."
        ),
        source=GUIDE,
        difficulty=2,
    )


@exercise("square-matmul-size-of-other-elements")
def _square_matmul_size_of_other_elements(draw: Draw) -> Question:
    stored = draw.pick("fp8", ["bf16", "fp32", "fp64"])
    chip, size = draw.instead(V7X_FP8, [_FP8]), itemsize(stored)
    n = smallest_square_matmul(chip, itemsize=size)
    ridge = short(chip.ridge_point())
    return draw.question(
        prompt=(
            f"{rates(chip)} Two square matrices of N × N elements are multiplied in fp8. Each element, also of the "
            f"result, is stored in {stored} ({_bytes(size)}) in HBM and moves once. What is the smallest N at which "
            "the product is compute-bound?"
        ),
        answer=n,
        wrong_answers=_other_elements(chip, size),
        explanation=(
            f"The peak is that of fp8, in which the product computes. The intensity is 2 N³ / (3 · {size} · N²). It "
            f"reaches the ridge point, {ridge} FLOP/B, at N = {1.5 * size:g} · {ridge}, rounded up to {n}."
        ),
        source=GUIDE,
        difficulty=2,
    )


@exercise("square-matmul-limit")
def _square_matmul_limit(draw: Draw) -> Question:
    # No intensity is within 10 % of a ridge point.
    chip = draw.instead(V5P, TPUS)
    n = draw.pick(600, [300, 1200, 2400])
    kernel, intensity = _square(n)
    ai, ridge = short(intensity), short(chip.ridge_point())
    compute = bound(kernel, chip).regime.tolist() == ["compute"]
    peak, bandwidth = "The peak FLOP/s", "The HBM bandwidth"
    wrong = {
        peak: (
            f"Not every matrix product is compute-bound. This product has {ai} FLOP/B, which is below the ridge point "
            f"of {ridge} FLOP/B."
        ),
        bandwidth: f"The intensity of {ai} FLOP/B is above the ridge point of {ridge} FLOP/B.",
        "Both limits equally": f"Both limits are equal only at the ridge point, {ridge} FLOP/B. The product has {ai} "
        "FLOP/B.",
    }
    answer = peak if compute else bandwidth
    side = "above" if compute else "below"
    return draw.question(
        prompt=(
            f"{rates(chip)} Two bf16 matrices of {n} × {n} elements are multiplied. Each element, also of the result, "
            "moves once. What limits the product?"
        ),
        answer=answer,
        options=wrong | {answer: f"{ai} FLOP/B is {side} the ridge point of {ridge} FLOP/B."},
        explanation=f"The intensity is {n} / 3 = {ai} FLOP/B. The ridge point is {quotient(chip)}.",
        source=GUIDE,
    )


@exercise("square-matmul-rate")
def _square_matmul_rate(draw: Draw) -> Question:
    chip = draw.instead(V7X, TPUS)
    n = draw.pick(600, [300, 450, 750, 1200])
    _, ai = _square(n)
    rate = attainable(ai, chip.peak(), chip.bandwidth())
    return draw.question(
        prompt=(
            f"{rates(chip)} Two bf16 matrices of {n} × {n} elements are multiplied. Each element, also of the result, "
            "moves once. Which rate can the product reach at most, in FLOP/s?"
        ),
        answer=rate,
        unit="FLOP/s",
        wrong_answers=not_equal(
            rate,
            {
                chip.peak(): "This is the peak. At this intensity the memory does not bring enough for it.",
                ai * chip.bandwidth(): "This is intensity times bandwidth. No product is faster than the peak.",
            },
        ),
        explanation=(
            f"The intensity is {n} / 3 = {short(ai)} FLOP/B. The roof is the smaller of {exact(chip.peak(), 'FLOP/s')} "
            f"and {short(ai)} FLOP/B · {exact(chip.bandwidth(), 'B/s')} = {short(ai * chip.bandwidth(), 'FLOP/s')}."
        ),
        source=GUIDE,
        difficulty=2,
    )


@exercise("square-matmul-share-of-peak")
def _square_matmul_share_of_peak(draw: Draw) -> Question:
    chip = draw.instead(V7X, [*TPUS[1:], _FP8])
    n = draw.pick(600, [300, 450, 750])
    dtype = chip.precision()
    _, ai = _square(n, dtype)
    rate = attainable(ai, chip.peak(), chip.bandwidth())
    share = 100 * rate / chip.peak()
    return draw.question(
        prompt=(
            f"{rates(chip)} A product of two {n} × {n} matrices in {dtype} ({_bytes(itemsize(dtype))}) moves each "
            "element, also of the result, once. Which share of the peak can it reach at most, in %?"
        ),
        answer=share,
        unit="%",
        explanation=(
            f"2 · {n} / (3 · {itemsize(dtype)}) = {short(ai)} FLOP/B allow {short(rate, 'FLOP/s')}. This is "
            f"{short(share)} % of {exact(chip.peak(), 'FLOP/s')}, and 100 % of the roof."
        ),
        source=GUIDE,
        difficulty=2,
    )


@exercise("square-matmul-bandwidth")
def _square_matmul_bandwidth(draw: Draw) -> Question:
    chip = draw.instead(V7X, [*TPUS[1:], _FP8])
    n = draw.pick(600, [300, 450, 750])
    dtype = chip.precision()
    kernel, ai = _square(n, dtype)
    needed = chip.peak() / ai
    return draw.question(
        prompt=(
            f"{rates(chip)} A product of two {n} × {n} matrices in {dtype} ({_bytes(itemsize(dtype))}) has {short(ai)} "
            "FLOP/B. Drag the bandwidth to the value from which on this product is compute-bound."
        ),
        answer=needed,
        on="bandwidth",
        explanation=(
            f"The ridge point must be {short(ai)} FLOP/B: {exact(chip.peak(), 'FLOP/s')} / {short(ai)} FLOP/B = "
            f"{short(needed, 'B/s')}."
        ),
        source=GUIDE,
        difficulty=2,
        setup={"chips": [chip], "kernels": [kernel]},
    )


@exercise("critical-batch")
def _critical_batch(draw: Draw) -> Question:
    chip = draw.instead(V5E, [*_INT8, H100])
    batch = critical_batch(chip)
    return draw.question(
        prompt=(
            f"{rates(chip)} A layer multiplies B tokens by a weight matrix, all in bf16 (2 bytes). The matrix is so "
            "large that only the bytes of the weights count. From which B on is the layer compute-bound?"
        ),
        answer=batch,
        unit="tokens",
        explanation=(
            f"Each weight of 2 bytes does 2 B FLOPs, so the intensity is B. It must reach {quotient(chip)}, so B = "
            f"{short(batch)}."
        ),
        source=SCALING_BOOK,
    )


@exercise("critical-batch-int8")
def _critical_batch_int8(draw: Draw) -> Question:
    chip = draw.instead(V5E_810, _INT8)
    batch = critical_batch(chip, precision="int8", weight_bytes=1, activation_bytes=1)
    return draw.question(
        prompt=(
            f"{rates(chip, 'int8')} A layer multiplies B tokens by a weight matrix. Weights, tokens and arithmetic are "
            "int8 (1 byte). Only the bytes of the weights count. From which B on is the layer compute-bound?"
        ),
        answer=batch,
        unit="tokens",
        explanation=(
            f"Each weight of 1 byte does 2 B FLOPs, so the intensity is 2 B. It must reach {quotient(chip, 'int8')}, "
            f"so B = {short(batch)}."
        ),
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("critical-batch-int8-weights")
def _critical_batch_int8_weights(draw: Draw) -> Question:
    chip = draw.instead(V5E, _INT8)
    batch = critical_batch(chip, precision="bf16", weight_bytes=1)
    return draw.question(
        prompt=(
            f"{rates(chip)} A layer stores its weights as int8 (1 byte) and computes in bf16. Only the bytes of the "
            "weights count. From which number of tokens on is the layer compute-bound?"
        ),
        answer=batch,
        unit="tokens",
        explanation=(
            "Each weight of 1 byte does 2 B FLOPs, so the intensity is 2 B. The ridge point is that of bf16, "
            f"{quotient(chip)}, so B = {short(batch)}."
        ),
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("critical-batch-of-a-data-sheet")
def _critical_batch_of_a_data_sheet(draw: Draw) -> Question:
    chip = draw.instead(Chip("H100", {"bf16": 1e15}, {"HBM": 3.35e12}), _GPUS)
    batch = critical_batch(chip)
    return draw.question(
        prompt=(
            f"The data sheet of the {name(chip)} says {exact(2 * chip.peak(), 'FLOP/s')} in bf16, with 2:4 sparsity, "
            f"and {exact(chip.bandwidth(), 'B/s')}. A dense bf16 layer multiplies B tokens by a large weight matrix. "
            "Only the bytes of the weights count. Up to which whole B is it memory-bound?"
        ),
        answer=math.floor(batch),
        unit="tokens",
        wrong_answers={2 * batch: "This takes the peak with sparsity. A dense layer has half of it."},
        explanation=f"Dense arithmetic has half of the printed peak: {quotient(chip)}. The intensity is B.",
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("critical-batch-of-a-layer")
def _critical_batch_of_a_layer(draw: Draw) -> Question:
    rows = draw.pick(4096, [2048, 8192, 16384])
    columns = draw.pick(4096, [8192, 16384])
    batch = critical_batch(H100, rows, columns)
    rule = short(H100.ridge_point())
    return draw.question(
        prompt=(
            f"{rates(H100)} A bf16 layer multiplies B tokens, a B × {rows} matrix, by weights of {rows} × {columns}. "
            "Tokens, weights and results all move once. From which B on is the layer compute-bound?"
        ),
        answer=batch,
        unit="tokens",
        tolerance=_FINITE_LAYER_TOLERANCE,
        explanation=(
            f"With R = {rule} FLOP/B, D = {rows} and F = {columns}, both times are equal at B = R D F / (D F − R (D + "
            f"F)) = {short(batch)}."
        ),
        source="Derived",
        difficulty=3,
    )


@exercise("critical-batch-against-its-rule")
def _critical_batch_against_its_rule(draw: Draw) -> Question:
    size = draw.pick(4096, [2048, 3072, 6144, 8192])
    batch, rule = critical_batch(H100, size, size), critical_batch(H100)
    more = 100 * (batch / rule - 1)
    return draw.question(
        prompt=(
            f"{rates(H100)} A rule says: a bf16 layer is compute-bound from a batch on that equals the ridge point. "
            f"The rule counts only the bytes of the weights. A layer has weights of {size} × {size}. Its tokens and "
            "results move too. By how many % is its critical batch larger than the rule says?"
        ),
        answer=more,
        unit="%",
        explanation=f"The critical batch is {short(batch)}, the rule says {short(rule)}: {short(more)} % more.",
        source="Derived",
        difficulty=3,
    )


@exercise("matrix-for-each-row-intensity")
def _matrix_for_each_row_intensity(draw: Draw) -> Question:
    bits, dtype = draw.pick((8, "int8"), [(16, "bf16"), (4, "int4"), (32, "fp32")])
    graph = Graph()
    weights = graph.input("w", (16, 8192, 8192), dtype)
    graph.batched_matmul(graph.input("x", (16, 1, 8192), dtype), weights)
    ai = graph.count("flops") / evaluate(graph.bytes(weights), {})
    return draw.question(
        prompt=(
            "Each sequence of a batch has one row, and a large matrix of its own. Each row is multiplied by its "
            f"matrix. An element has {bits} bits ({dtype}). Only the bytes of the matrices count. What is the "
            "intensity, in FLOP/B?"
        ),
        answer=ai,
        unit="FLOP/B",
        explanation=f"Each element does one multiply-add, 2 FLOPs: 2 FLOP / {bits / 8:g} B = {short(ai)} FLOP/B.",
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("matrix-for-each-row-limit")
def _matrix_for_each_row_limit(draw: Draw) -> Question:
    chip = draw.instead(V5E_810, _INT8)
    batch = f"{critical_batch(chip, precision='int8', weight_bytes=1):.0f}"
    double = f"{critical_batch(chip, precision='int8', weight_bytes=2):.0f}"
    never = "At no batch"
    return draw.question(
        prompt=(
            f"{rates(chip, 'int8')} Each sequence of a batch has one int8 row, which is multiplied by an int8 matrix "
            "of its own. From which batch on is this compute-bound?"
        ),
        answer=never,
        options={
            f"From {batch} on": (
                "This is the critical batch of a matrix that all sequences share. Here no matrix is used twice, so "
                "the intensity stays 2 FLOP/B."
            ),
            f"From {double} on": (
                "This is the ridge point. The intensity equals the batch only if 2-byte weights are shared. Here it "
                "stays 2 FLOP/B."
            ),
            never: "FLOPs and bytes both grow with the batch. The intensity stays 2 FLOP/B.",
        },
        explanation=f"2 FLOP/B stay below the ridge point of {short(chip.ridge_point('int8'))} FLOP/B.",
        source=SCALING_BOOK,
        difficulty=2,
    )


def _int8_layer(draw: Draw, chip: Chip, sizes: Sequence[tuple[int, int]]) -> Question:
    rows, columns = draw.pick((4096, 16384), sizes)
    memory = chip.memory()
    batch = critical_batch(chip, rows, columns, weight_bytes=1, activation_bytes=1)
    ridge = short(chip.ridge_point())
    return draw.question(
        prompt=(
            f"{rates(chip)} An int8 layer multiplies B tokens, a B × {rows} matrix, by weights of {rows} × {columns}. "
            f"Tokens, weights and results have 1 byte per element and move once between {memory} and the matrix unit. "
            "What is the smallest whole B at which the layer is compute-bound?"
        ),
        answer=math.ceil(batch),
        unit="tokens",
        tolerance=_FINITE_LAYER_TOLERANCE,
        explanation=(
            f"With R = {ridge} FLOP/B, D = {rows} and F = {columns}, both times are equal at B = R D F / (2 D F − R (D "
            f"+ F)) = {short(batch)}."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@exercise("int8-layer-from-hbm")
def _int8_layer_from_hbm(draw: Draw) -> Question:
    printed = Chip("TPU v5e", {"int8": V5E_810.peak("int8")}, {"HBM": V5E_810.bandwidth()})
    sizes = [(rows, columns) for rows in (2048, 4096, 8192) for columns in (8192, 16384, 32768)]
    return _int8_layer(draw, draw.instead(printed, [record("v5e", "int8")]), sizes)


@exercise("int8-layer-from-vmem")
def _int8_layer_from_vmem(draw: Draw) -> Question:
    vmem = catalogue_chip("v5e").memories["VMEM"]
    printed = Chip("TPU v5e", {"int8": V5E_810.peak("int8")}, {"VMEM": replace(vmem, bandwidth=22 * 8.1e11)})
    drawn = Chip("TPU v5e", {"int8": record("v5e", "int8").peak()}, {"VMEM": vmem})
    # Data that are used from on-chip memory must fit into it: no matrix takes more than half of VMEM.
    sizes = [(2048, 8192), (2048, 16384), (2048, 32768), (4096, 8192), (8192, 4096), (8192, 8192)]
    return _int8_layer(draw, draw.instead(printed, [drawn]), sizes)


@exercise("weights-over-pcie")
def _weights_over_pcie(draw: Draw) -> Question:
    peak = draw.instead(9.2e14, [one.peak() for one in _INT8])
    bandwidth = draw.pick(1.5e10, [3.2e10, 6.4e10])
    chip = Chip("TPU", {"bf16": peak}, {"PCIe": bandwidth}, family="TPU")
    batch = critical_batch(chip)
    return draw.question(
        prompt=(
            f"A TPU computes {exact(peak, 'FLOP/s')} in bf16. The bf16 weights of a layer are in the memory of the "
            f"host. PCIe transfers them at {exact(bandwidth, 'B/s')}. Only the bytes of the weights count. From how "
            "many tokens on does the arithmetic take longer than the transfer?"
        ),
        answer=batch,
        unit="tokens",
        explanation=f"Each weight of 2 bytes does 2 B FLOPs, so the intensity is B. It must reach {quotient(chip)}.",
        source=SCALING_BOOK,
        difficulty=2,
    )
