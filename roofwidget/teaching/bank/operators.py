"""Exercises on single operators: matrix products, convolutions, optimizers, elementwise kernels and launches."""

from __future__ import annotations

import itertools
from typing import Final

from roofwidget.analysis.bound import bound
from roofwidget.analysis.roofline import ridge_point
from roofwidget.analysis.sizing import critical_batch, smallest_square_matmul
from roofwidget.chips import Chip
from roofwidget.teaching.bank.counts import H100, H100_TEXT, fits, intensity, itemsize, kernel, of_op, record, seconds
from roofwidget.teaching.bank.exercise import Draw, exercise
from roofwidget.teaching.bank.phrases import MODAL, UCSD_LAB, exact
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph, Tensor

_BRRRR: Final = "Horace He, Making Deep Learning Go Brrrr From First Principles"
_SHAPES: Final = "Derived from the shapes of the tensors"
_H200: Final = record("h200-sxm", "bf16")


def _product(m: int, k: int, n: int, dtype: str, convention: str = "textbook") -> Graph:
    return of_op("matmul", dtype, (m, k), (k, n), convention=convention)


# -- matrix products ---------------------------------------------------------------------------------------------------


@exercise("matmul-macs")
def _matmul_macs(draw: Draw) -> Question:
    m, k, n = draw.pick((512, 512, 512), [(512, 256, 512), (256, 1024, 128), (384, 768, 96)])
    answer = _product(m, k, n, "fp32", "mac").count("flops")
    return draw.question(
        prompt=f"A matrix of {m} × {k} is multiplied by a matrix of {k} × {n}. "
        "How many multiply-adds (MACs) does the product take?",
        answer=answer,
        unit="MAC",
        explanation=f"Each of the {m} · {n} outputs sums {k} products: {answer:,} MACs. In FLOPs it is twice as many.",
        source=UCSD_LAB,
    )


@exercise("matmul-bytes")
def _matmul_bytes(draw: Draw) -> Question:
    m, k, n = draw.pick((512, 512, 512), [(512, 256, 512), (128, 256, 512), (1024, 64, 256)])
    answer = _product(m, k, n, "fp32").count("bytes")
    return draw.question(
        prompt=f"A matrix of {m} × {k} is multiplied by a matrix of {k} × {n}, all in fp32. "
        "Each matrix moves once between memory and chip. How many bytes move?",
        answer=answer,
        unit="B",
        explanation=f"4 B for each element of the two inputs and of the output: "
        f"4 · ({m} · {k} + {k} · {n} + {m} · {n}) = {answer:,} B.",
        source=UCSD_LAB,
    )


@exercise("fp32-gemm-compute-bound")
def _gemm_size(draw: Draw) -> Question:
    peak, bandwidth = draw.pick((38.7e12, 768e9), [(19.5e12, 1.555e12), (82.6e12, 1.008e12), (67e12, 3.35e12)])
    chip = Chip("GPU", {"fp32": peak}, {"DRAM": bandwidth})
    answer = smallest_square_matmul(chip, itemsize=4)
    return draw.question(
        prompt=f"A GPU does {exact(peak, 'FLOP/s')} in fp32 and reads {exact(bandwidth, 'B/s')}. "
        "Two square matrices of N × N in fp32 are multiplied, and each matrix moves once. "
        "What is the smallest N at which the product is compute-bound?",
        answer=answer,
        wrong_answers={answer / 2: "This holds for elements of 2 bytes. fp32 has 4."},
        explanation=f"The intensity is 2 N³ / (3 · 4 N²) = N / 6. The ridge point is "
        f"{ridge_point(peak, bandwidth):.1f} FLOP/B, so N is six times as much, rounded up: {answer}.",
        source=f"{UCSD_LAB}, question 2.1.2",
        difficulty=2,
    )


def _gemv(rows: int, dtype: str) -> Graph:
    return of_op("gemv", dtype, (rows, rows), (rows,))


@exercise("gemv-intensity")
def _gemv_intensity(draw: Draw) -> Question:
    rows, dtype = draw.pick((4096, "bf16"), [(8192, "fp32"), (5120, "int8"), (2048, "fp64")])
    return draw.question(
        prompt=f"A {rows} × {rows} matrix in {dtype} is multiplied by a vector in {dtype}. The result is in {dtype} "
        "too, and everything moves once. What is the arithmetic intensity?",
        answer=intensity(_gemv(rows, dtype)),
        unit="FLOP/B",
        explanation=f"2 FLOP for each matrix element of {itemsize(dtype)} B, so just below "
        f"{2 / itemsize(dtype):g} FLOP/B: the vectors add few bytes.",
        source=_SHAPES,
    )


@exercise("gemv-time")
def _gemv_time(draw: Draw) -> Question:
    rows = draw.pick(4096, [8192, 5120, 16384])
    return draw.question(
        prompt=f"{H100_TEXT} It multiplies a {rows} × {rows} matrix in bf16 by a vector in bf16. The result is in "
        "bf16. What is the least time?",
        answer=seconds(_gemv(rows, "bf16"), H100),
        unit="s",
        explanation="At about 1 FLOP/B the product is far left of the ridge point of "
        f"{H100.ridge_point():.0f} FLOP/B. "
        "The time is the bytes over the bandwidth: 2 B for each element of matrix, vector and result, at "
        f"{exact(H100.bandwidth(), 'B/s')}.",
        source=_SHAPES,
        difficulty=2,
    )


@exercise("gemv-what-binds")
def _gemv_binds(draw: Draw) -> Question:
    batch = draw.pick(1, [8, 64, 4096])
    graph = _product(batch, 4096, 4096, "bf16")
    ai, ridge = intensity(graph), H100.ridge_point()
    side = "left" if ai < ridge else "right"
    at = f"The intensity is {ai:.4g} FLOP/B, {side} of the ridge point of {ridge:.0f} FLOP/B."
    options = {
        "memory bandwidth": f"{at} The operands arrive faster than the tensor cores can use them.",
        "peak FLOP/s": f"{at} Each weight that arrives serves a batch of only {batch}, so the tensor cores wait.",
        "both equally": f"{at} Only at the ridge point do both take the same time.",
    }
    binding = "memory bandwidth" if bound(graph.kernels(), H100).bound_by[0] == "HBM" else "peak FLOP/s"
    return draw.question(
        prompt=f"{H100_TEXT} A layer multiplies {batch} × 4096 activations by 4096 × 4096 weights, all in bf16. "
        "What bounds its time?",
        answer=binding,
        options={**options, binding: at},
        explanation=at,
        source=_SHAPES,
    )


@exercise("layer-batch-intensity")
def _batch_intensity(draw: Draw) -> Question:
    batch = draw.pick(256, [8, 64, 512])
    graph = _product(batch, 4096, 4096, "bf16")
    ai = intensity(graph)
    return draw.question(
        prompt=f"{H100_TEXT} A layer multiplies {batch} × 4096 activations by 4096 × 4096 weights, all in bf16. "
        "Drag the marker to the layer's arithmetic intensity.",
        answer=ai,
        on="intensity",
        kernel="layer",
        explanation=f"2 · {batch} · 4096² FLOP over 2 B · ({batch} · 4096 + 4096² + {batch} · 4096): {ai:.4g} FLOP/B. "
        f"The rule for small batches says {batch}: the activations count too.",
        source=_SHAPES,
        difficulty=2,
        setup={"chips": [H100], "kernels": [kernel(graph, "layer")]},
    )


# -- large models ------------------------------------------------------------------------------------------------------


def _server(draw: Draw) -> tuple[float, float, float]:
    """Return parameters, FLOP/s and bytes/s of a server and its model. The weights fit into its memory."""
    sizes = itertools.product((8e9, 70e9, 405e9), (record("a100-sxm-80gb", "bf16"), H100, _H200), (1, 4, 8))
    servers = [(n, k * one.peak(), k * one.bandwidth()) for n, one, k in sizes if fits(2 * n, one, k)]
    return draw.instead((500e9, 1e15, 10e12), servers)


def _of_model(parameters: float, peak: float, bandwidth: float) -> str:
    return (
        f"A server does {exact(peak, 'FLOP/s')} and reads {exact(bandwidth, 'B/s')}. "
        f"It generates text with a dense model of {parameters / 1e9:g} billion parameters in bf16. "
    )


def _weights_pass(parameters: float, peak: float, bandwidth: float) -> tuple[float, float]:
    """Return the seconds of memory and of compute for one token."""
    chip = Chip("server", {"bf16": peak}, {"HBM": bandwidth})
    on_chip = bound([("token", 2 * parameters, 2 * parameters)], chip)
    return float(on_chip.memory_time["HBM"][0]), float(on_chip.compute_time[0])


@exercise("model-weights-time")
def _weights_time(draw: Draw) -> Question:
    model = _server(draw)
    return draw.question(
        prompt=f"{_of_model(*model)}How long does it take to read all weights once, as each token does at batch 1?",
        answer=_weights_pass(*model)[0],
        unit="s",
        explanation="2 B for each parameter over the bandwidth.",
        source=MODAL,
    )


@exercise("model-compute-time")
def _compute_time(draw: Draw) -> Question:
    model = _server(draw)
    return draw.question(
        prompt=f"{_of_model(*model)}Each sequence of the batch needs 2 FLOP per parameter for a token. "
        "How long does the arithmetic of one sequence take at the peak rate?",
        answer=_weights_pass(*model)[1],
        unit="s",
        explanation="2 FLOP for each parameter over the peak rate.",
        source=MODAL,
    )


@exercise("model-crossover-batch")
def _crossover_batch(draw: Draw) -> Question:
    _, peak, bandwidth = model = _server(draw)
    batch = critical_batch(Chip("server", {"bf16": peak}, {"HBM": bandwidth}))
    return draw.question(
        prompt=f"{_of_model(*model)}Each sequence of the batch needs 2 FLOP per parameter for a token, and the weights "
        "are read once for the whole batch. Count no other bytes. "
        "At which batch do arithmetic and memory take the same time?",
        answer=batch,
        wrong_answers=dict.fromkeys(
            (batch / 2, 2 * batch), "2 FLOPs and 2 bytes belong to each parameter: they cancel."
        ),
        explanation="Arithmetic grows with the batch and the reading of weights does not. "
        "With 2 FLOP and 2 B per parameter they meet at the ridge point, peak over bandwidth.",
        source=MODAL,
        difficulty=2,
    )


# -- convolutions ------------------------------------------------------------------------------------------------------


def _convolution(channels: int, side: int, dtype: str, groups: int = 1) -> Graph:
    shape = 1, channels, side, side
    return of_op("conv2d", dtype, shape, channels=channels, kernel=3, padding=1, groups=groups)


_STAGES: Final = [(128, 28), (256, 14), (512, 7)]


def _of_convolution(channels: int, side: int, dtype: str, *, depthwise: bool = False) -> str:
    kind = "depthwise 3 × 3 convolution" if depthwise else "3 × 3 convolution"
    return (
        f"A {kind} has {channels} input channels and {channels} output channels. Image and output have {side} × {side} "
        f"points, the batch is 1, and all data are in {dtype}. Products with padding count. "
    )


@exercise("convolution-flops")
def _convolution_flops(draw: Draw) -> Question:
    channels, side = draw.pick((64, 56), [(96, 56), (128, 56), (128, 14)])
    answer = _convolution(channels, side, "fp16").count("flops")
    return draw.question(
        prompt=f"{_of_convolution(channels, side, 'fp16')}How many FLOPs does it take?",
        answer=answer,
        unit="FLOP",
        explanation=f"Each of the {channels} · {side} · {side} outputs sums {channels} · 9 products, "
        f"2 FLOP each: {answer:,} FLOP.",
        source=_SHAPES,
    )


@exercise("convolution-intensity")
def _convolution_intensity(draw: Draw) -> Question:
    channels, side = draw.pick((64, 56), _STAGES)
    return draw.question(
        prompt=f"{_of_convolution(channels, side, 'fp16')}Image, weights and output move once. "
        "What is the arithmetic intensity?",
        answer=intensity(_convolution(channels, side, "fp16")),
        unit="FLOP/B",
        explanation=f"2 · {channels} · {side}² · {channels} · 9 FLOP over "
        f"2 B · (2 · {channels} · {side}² + 9 · {channels}²).",
        source=_SHAPES,
        difficulty=2,
    )


@exercise("depthwise-intensity")
def _depthwise_intensity(draw: Draw) -> Question:
    channels, side = draw.pick((64, 56), _STAGES)
    dtype = draw.pick("fp16", ["fp32", "int8"])
    return draw.question(
        prompt=f"{_of_convolution(channels, side, dtype, depthwise=True)}Image, weights and output move once. "
        "What is the arithmetic intensity?",
        answer=intensity(_convolution(channels, side, dtype, groups=channels)),
        unit="FLOP/B",
        explanation=f"Each output sums only 9 products, 18 FLOP, and moves about two elements of {itemsize(dtype)} B. "
        "No choice of channels lifts the intensity above 9 FLOP per element that moves.",
        source=_SHAPES,
        difficulty=2,
    )


_LAYER_4: Final = (
    "Layer 4 of ResNet-18, as in the fasterbench tutorial; it prints 23.10 because it counts bytes otherwise"
)


@exercise("late-convolution-intensity")
def _late_convolution(draw: Draw) -> Question:
    channels, side = draw.pick((512, 7), [(256, 14), (1024, 7), (512, 14)])
    return draw.question(
        prompt=f"{_of_convolution(channels, side, 'fp32')}Image, weights and output move once. "
        "What is the arithmetic intensity?",
        answer=intensity(_convolution(channels, side, "fp32")),
        unit="FLOP/B",
        explanation=f"The weights are 9 · {channels}² elements, image and output together 2 · {channels} · {side}². "
        f"Each weight serves only {side} · {side} points, so the weights' bytes keep the intensity low.",
        source=_LAYER_4
        if (channels, side) == (512, 7)
        else "Derived, after layer 4 of ResNet-18 in the fasterbench tutorial",
        difficulty=2,
    )


# -- optimizers --------------------------------------------------------------------------------------------------------


def _optimizer(name: str, parameters: int) -> Graph:
    graph = Graph()
    weights, gradient = (graph.input(word, (parameters,), "fp32") for word in ("weights", "gradient"))
    if name.startswith("Adam"):
        graph.output(graph.adam_step(weights, gradient, decay=name == "AdamW"))
    else:
        graph.output(graph.sgd_step(weights, gradient, momentum=name == "SGD with momentum"))
    return graph


@exercise("optimizer-intensity")
def _optimizer_intensity(draw: Draw) -> Question:
    name = draw.pick("Adam", ["AdamW", "SGD with momentum", "SGD"])
    graph = _optimizer(name, 1)
    flops, moved = graph.count("flops"), graph.count("bytes")
    reads, writes = len(graph.inputs), len(graph.ops[0].outputs)
    return draw.question(
        prompt=f"{name} updates fp32 parameters in one kernel. For each parameter it reads {reads} numbers, "
        f"writes {writes}, and does {flops} FLOP. What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"{reads + writes} numbers of 4 B are {moved} B: {flops} / {moved} = {flops / moved:.2f} FLOP/B.",
        source=_SHAPES,
    )


@exercise("adam-step-time")
def _adam_time(draw: Draw) -> Question:
    chip = record("h100-sxm", "fp32")
    # Parameter, gradient and both moments: 16 B for each parameter.
    billions = draw.pick(4, [one for one in (1, 1.5, 2, 3, 4.5) if fits(16e9 * one, chip)])
    graph = _optimizer("Adam", int(billions * 10**9))
    return draw.question(
        prompt=f"A GPU does {exact(chip.peak(), 'FLOP/s')} in fp32 and reads {exact(chip.bandwidth(), 'B/s')}. "
        f"Adam updates {billions:g} billion parameters. "
        "Parameters, gradients and both moments are in fp32 (4 B): four reads, three writes and 13 FLOP for each "
        "parameter. What is the least time of the step?",
        answer=seconds(graph, chip),
        unit="s",
        explanation=f"28 B for each parameter are {graph.count('bytes') / 1e9:g} GB. The step is memory-bound: "
        f"bytes over {exact(chip.bandwidth(), 'B/s')}.",
        source=_SHAPES,
        difficulty=2,
    )


# -- elementwise kernels and launches ----------------------------------------------------------------------------------


def _cosines(ops: int, elements: int) -> Graph:
    graph = Graph()
    value: Tensor = graph.input("x", (elements,), "fp32")
    for _ in range(ops):
        value = graph.unary(value, "cos")
    graph.output(value)
    return graph


@exercise("cosines-fusion-saving")
def _cosines_saving(draw: Draw) -> Question:
    ops = draw.pick(2, [3, 4, 5])
    graph = _cosines(ops, 1000)
    return draw.question(
        prompt=f"`x{'.cos()' * ops}` runs as {ops} memory-bound kernels. One fused kernel does the same. "
        "How many times faster is the fused kernel?",
        answer=graph.count("bytes") / graph.count("compulsory"),
        wrong_answers={2 * ops: "A read and a write are left: the fused kernel moves the data twice."},
        explanation=f"Each kernel reads and writes the data once. Fused, 1 read and 1 write are left of {ops} each.",
        source=_BRRRR,
    )


def _fp32_chip(draw: Draw) -> Chip:
    peak, bandwidth = draw.pick((19.5e12, 1.555e12), [(15.7e12, 900e9), (67e12, 3.35e12), (38.7e12, 768e9)])
    return Chip("GPU", {"fp32": peak}, {"HBM": bandwidth})


@exercise("unary-elements-per-second")
def _unary_rate(draw: Draw) -> Question:
    chip = _fp32_chip(draw)
    moved = _cosines(1, 1).count("bytes")
    return draw.question(
        prompt=f"A GPU reads {exact(chip.bandwidth(), 'B/s')}. A memory-bound kernel reads and writes each element in "
        "fp32 (4 B). How many elements does it process per second?",
        answer=chip.bandwidth() / moved,
        wrong_answers={2 * chip.bandwidth() / moved: "Each element is read and written."},
        unit="elements/s",
        explanation=f"{moved} B move for each element: the bandwidth over {moved}.",
        source=_BRRRR,
    )


@exercise("unary-free-flops")
def _free_flops(draw: Draw) -> Question:
    chip = _fp32_chip(draw)
    moved = _cosines(1, 1).count("bytes")
    return draw.question(
        prompt=f"A GPU does {exact(chip.peak(), 'FLOP/s')} in fp32 and reads {exact(chip.bandwidth(), 'B/s')}. "
        "A kernel reads and writes each element in fp32 (4 B). "
        "How many FLOP per element can it do before it is compute-bound?",
        answer=chip.ridge_point() * moved,
        unit="FLOP",
        explanation=f"The ridge point is {chip.ridge_point():.1f} FLOP/B, and each element moves {moved} B. "
        f"Below {chip.ridge_point() * moved:.1f} FLOP the bytes take longer than the arithmetic.",
        source=f"{_BRRRR}; it says about 100 for the printed numbers",
        difficulty=2,
    )


@exercise("fused-share-speed-up")
def _fused_share(draw: Draw) -> Question:
    percent, factor = draw.pick((80, 3), [(60, 3), (50, 2), (90, 4)])
    chip = Chip("any", {"bf16": 1e12}, {"HBM": 1e12})
    rest = (100 - percent) * 1e10
    before, after = (
        bound([("memory-bound", 0, moved), ("compute-bound", rest, 0)], chip).total_time
        for moved in (percent * 1e10, percent * 1e10 / factor)
    )
    return draw.question(
        prompt=f"A program spends {percent} % of its time in memory-bound kernels and the rest in compute-bound "
        f"kernels. Fusion makes the memory-bound kernels move {factor} times fewer bytes, and they stay memory-bound. "
        "How many times faster is the program?",
        answer=before / after,
        wrong_answers={factor: "Only the memory-bound part becomes faster."},
        explanation=f"{100 - percent} % of the time stay, and {percent} % become {percent / factor:.1f} %: "
        f"100 / {100 * after / before:.1f}.",
        source="Amdahl's law, with the roofline's times",
        difficulty=2,
    )


@exercise("launch-equals-memory")
def _launch_size(draw: Draw) -> Question:
    launch, dtype = draw.pick((5e-6, "bf16"), [(2e-6, "bf16"), (5e-6, "fp32"), (10e-6, "bf16")])
    moved = 2 * itemsize(dtype)
    return draw.question(
        prompt=f"A GPU reads {exact(H100.bandwidth(), 'B/s')}, and each launch takes at least {exact(launch, 's')}. "
        f"An elementwise kernel reads and writes {dtype} ({itemsize(dtype)} B each). At how many elements do its bytes "
        "take as long as its launch?",
        answer=H100.bandwidth() * launch / moved,
        wrong_answers={2 * H100.bandwidth() * launch / moved: "Each element is read and written."},
        unit="elements",
        explanation=f"In {exact(launch, 's')} {H100.bandwidth() * launch / 1e6:g} MB move, {moved} B for each element. "
        "The time of a smaller kernel is that of its launch.",
        source="Derived from bandwidth and launch time",
        difficulty=2,
    )


@exercise("small-kernel-what-binds")
def _small_kernel(draw: Draw) -> Question:
    elements = draw.pick(1_000_000, [2_000_000, 8_000_000, 64_000_000])
    graph = of_op("relu", "bf16", (elements,))
    on_chip = bound(graph.kernels(), H100, launch_overhead=5e-6)
    memory = float(on_chip.memory_time["HBM"][0])
    at = f"{graph.count('bytes') / 1e6:g} MB take {memory * 1e6:.3g} µs, and the launch takes 5 µs."
    answer = "launch overhead" if on_chip.bound_by[0] == "overhead" else "memory bandwidth"
    options = {
        "launch overhead": f"{at} The bytes take longer than the launch.",
        "memory bandwidth": f"{at} The bytes are done before the next launch can start.",
        "peak FLOP/s": "A kernel of 0.25 FLOP/B is far left of the ridge point, so the peak never binds it.",
    }
    return draw.question(
        prompt=f"{H100_TEXT} Each launch takes at least 5 µs. A ReLU reads and writes {elements / 1e6:g} million "
        "elements in bf16 (2 B). What bounds its time?",
        answer=answer,
        options={**options, answer: at},
        explanation=at,
        source="Derived from bandwidth and launch time",
    )
