"""Misconceptions about rooflines: a wrong belief, what is true instead, a question, and a model that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from roofwidget.chips import Chip
from roofwidget.chips import chip as find_chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.presets import preset
from roofwidget.teaching.bank.counts import H100, V7X, kernel, of_2009, of_op, record
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph
from roofwidget.workloads.partition import Partition

_GUIDE: Final = "Roofline Analysis: A Practical Guide"
_WILLIAMS: Final = "Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009"
_BOOK: Final = "JAX, How to Scale Your Model"
_DERIVED: Final = "Derived from the roofline's formulas"
_SIDE: Final = 4096


@dataclass(frozen=True)
class Misconception:
    """A wrong belief about rooflines, and how to show that it is wrong.

    Parameters
    ----------
    name
        A short unique name, such as ``"low-share-of-peak"``.
    belief
        The wrong sentence. It is one of the wrong options of `question`.
    truth
        What is true instead, with the numbers that `setup` shows.
    question
        A choice. Its explanation is `truth`.
    setup
        Arguments of `RooflineModel` that show the truth.
    """

    name: str
    belief: str
    truth: str
    question: Question
    setup: Mapping[str, Any] = field(compare=False, repr=False)


def misconceptions() -> tuple[Misconception, ...]:
    """Return all misconceptions.

    Examples
    --------
    >>> found = {one.name: one for one in misconceptions()}
    >>> found["memory-bound-is-bad"].belief
    'A memory-bound kernel is badly written: it should be made compute-bound.'
    """
    return (
        _low_share_of_peak(),
        _memory_bound_is_bad(),
        _predicts_speed(),
        _above_the_roof(),
        _more_flops(),
        _intensity_of_the_algorithm(),
        _under_the_slope(),
        _multiply_add(),
        _sparse_peak(),
        _binary_prefix(),
        _bigger_cache(),
        _one_dot(),
        _other_ridge(),
        _int8_weights(),
        _more_cores(),
        _fusion_always(),
        _before_a_product(),
        _fewest_bytes(),
    )


def _misconception(
    name: str,
    *,
    belief: str,
    why: str,
    right: str,
    truth: str,
    others: Mapping[str, str],
    prompt: str,
    source: str,
    setup: Mapping[str, Any],
    difficulty: int = 1,
) -> Misconception:
    """Return a misconception. `why` and the values of `others` say why an option is wrong."""
    question = Question(
        key=f"misconception-{name}",
        prompt=prompt,
        answer=right,
        options={belief: why, right: "", **others},
        explanation=truth,
        source=source,
        difficulty=difficulty,
        setup=setup,
    )
    return Misconception(name, belief, truth, question.shuffled(), setup)


def _matmul(seconds: float | None = None, name: str = "matmul") -> Kernel:
    """Return the product of two square matrices of side `_SIDE` in bf16."""
    return Kernel(name, 2 * _SIDE**3, 3 * 2 * _SIDE**2, seconds)


def _gelu() -> Kernel:
    return Kernel("GELU", 8 * _SIDE**2, 2 * 2 * _SIDE**2)


def _low_share_of_peak() -> Misconception:
    guide = preset("tpu-roofline-guide")
    norm = guide.kernels[0]
    moved = float(guide.kernels.bytes[0])
    return _misconception(
        "low-share-of-peak",
        prompt="A LayerNorm reaches 0.52 % of the peak FLOP/s of a TPU v7x. What follows?",
        belief="A kernel at 0.52 % of the peak is badly written.",
        why="The peak is not the roof of this kernel. At 1.67 FLOP/B memory allows no more.",
        right="Nothing yet: first find its roof at its intensity.",
        truth="At 1.67 FLOP/B the roof is 12 TFLOP/s. The LayerNorm reaches 0.52 % of the peak and 100 % of its roof.",
        others={"The chip runs more slowly than it should.": "It moves 7.2 TB/s, all that its memory can do."},
        source=_GUIDE,
        setup={"chips": [V7X], "kernels": [Kernel("LayerNorm", norm.flops, norm.bytes, moved / V7X.bandwidth())]},
    )


def _memory_bound_is_bad() -> Misconception:
    moved, flops = 33_500_000, 3_350_000_000
    return _misconception(
        "memory-bound-is-bad",
        prompt="A kernel with 100 FLOP/B is memory-bound on a GPU with its ridge point at 295 FLOP/B. "
        "Another version does five times the FLOPs for the same bytes and is compute-bound. Which one is better?",
        belief="A memory-bound kernel is badly written: it should be made compute-bound.",
        why="More FLOPs made the kernel compute-bound and slower. The time counts, not the bound.",
        right="The memory-bound version, because it takes less time.",
        truth="Memory-bound says which resource sets the time. "
        "The memory-bound version takes 10 µs, the compute-bound version 16.9 µs.",
        others={"They are alike, because they move the same bytes.": "FLOPs take time too, and here they take longer."},
        source=_DERIVED,
        setup={
            "chips": [H100],
            "kernels": [Kernel("memory-bound", flops, moved), Kernel("compute-bound", 5 * flops, moved)],
        },
    )


def _predicts_speed() -> Misconception:
    gelu = _gelu()
    return _misconception(
        "roofline-predicts-speed",
        prompt="A GELU moves 67.1 MB on a GPU with 3.35 TB/s. What does the roofline say about its time?",
        belief="It predicts the time: the GELU takes 20 µs.",
        why="The roofline leaves out launches, latency and imbalance. A real kernel can be much slower.",
        right="The GELU takes 20 µs or more, never less.",
        truth="The roofline is a bound. The GELU of this profile takes 80.1 µs, and its bound is 20 µs: 25 % of the "
        "roof.",
        others={
            "The GELU takes 20 µs or less, never more.": "The roofline bounds the rate from above, so the time from "
            "below."
        },
        source=_DERIVED,
        setup={"chips": [H100], "kernels": [Kernel("GELU", gelu.flops, gelu.bytes, 16 * _SIDE**2 / 3.35e12)]},
    )


def _above_the_roof() -> Misconception:
    shown = preset("tpu-roofline-guide-vmem")
    return _misconception(
        "dot-above-the-roof",
        prompt="A dot is 3.5 times above the memory roof at 50 FLOP/B. What does it show?",
        belief="The kernel is tuned so well that it beats the roof.",
        why="No kernel gets its bytes faster than memory delivers them. Good tiling moves a dot to the right.",
        right="Not all its bytes came from this memory, or a figure is wrong.",
        truth="At 50 FLOP/B HBM allows 360 TFLOP/s. A dot at 1260 TFLOP/s is 3.5 times too high. Either the bytes were "
        "counted and some came from a cache, or a count, the time or the peak is wrong. No kernel is above the roof of "
        "the bytes that it really moved.",
        others={
            "The kernel is compute-bound, above the memory roof.": "At 50 FLOP/B it is left of the ridge point of 320 "
            "FLOP/B. No roof is higher there."
        },
        source=_GUIDE,
        setup={"chips": list(shown.chips), "kernels": shown.kernels},
        difficulty=2,
    )


def _more_flops() -> Misconception:
    twice = Chip("H100 with twice the FLOP/s", {"bf16": 2 * H100.peak()}, {"HBM": 3.35e12})
    return _misconception(
        "more-flops-help-everything",
        prompt="A new GPU has twice the FLOP/s and the same memory bandwidth. What becomes faster?",
        belief="Twice the FLOP/s make every kernel twice as fast.",
        why="A memory-bound kernel waits for its bytes, and they arrive as slowly as before.",
        right="Only compute-bound kernels become faster.",
        truth="The 4096³ matmul takes 69.4 µs instead of 139 µs. The GELU takes 20 µs on both.",
        others={
            "Memory-bound kernels become faster.": "Their roof is intensity times bandwidth. The peak is not in it."
        },
        source=_DERIVED,
        setup={"chips": [H100, twice], "kernels": [_matmul(), _gelu()]},
    )


def _intensity_of_the_algorithm() -> Misconception:
    apart, fused = (of_op(op, "bf16", *[(_SIDE, 128)] * 3) for op in ("unfused_attention", "attention"))
    return _misconception(
        "intensity-of-the-algorithm",
        prompt="Two programs compute the same attention with the same FLOPs. "
        "One uses three kernels, the other one kernel. Do they have the same arithmetic intensity?",
        belief="Yes, intensity is a property of the algorithm.",
        why="FLOPs come from the algorithm. Bytes depend on how it runs: on fusion, cache, dtype and write-allocate.",
        right="No, the two programs move different bytes.",
        truth="In three kernels the attention has 62.7 FLOP/B, in one kernel 2068 FLOP/B.",
        others={
            "No, fusion adds FLOPs to the one kernel.": "Without recomputation fusion keeps the FLOPs and removes "
            "bytes."
        },
        source=_DERIVED,
        setup={
            "chips": [H100],
            "kernels": [kernel(apart, "three kernels"), kernel(fused, "one kernel")],
        },
    )


def _under_the_slope() -> Misconception:
    return _misconception(
        "slow-means-memory-bound",
        prompt="A matmul has 1365 FLOP/B and reaches 5 % of the peak of a GPU with its ridge point at 295 FLOP/B. "
        "What explains its rate?",
        belief="A dot far below the flat roof is memory-bound.",
        why="The height of a dot shows how fast the kernel is. Its place left or right of the ridge point shows the "
        "bound.",
        right="Neither roof: look for launches, small tiles or idle units.",
        truth="At 1365 FLOP/B, right of 295 FLOP/B, memory bandwidth cannot be the reason. The roof of the matmul is "
        "the peak, but it reaches 5 % of the peak, so the peak is not the reason either. The side of the ridge point "
        "names the roof; the distance to it says whether that roof is the problem.",
        others={
            "The peak FLOP/s, because it is right of the ridge point.": "This names its roof. A kernel at 5 % of its "
            "roof is not held back by it."
        },
        source=_GUIDE,
        setup={"chips": [H100], "kernels": [_matmul(2 * _SIDE**3 / (0.05 * H100.peak()), "slow matmul")]},
    )


def _multiply_add() -> Misconception:
    least = 2 * _SIDE**3 / H100.peak()
    return _misconception(
        "multiply-add-counts-once",
        prompt="How many FLOPs does a matmul of two N × N matrices take, if it is compared with a published peak?",
        belief="N³, because a multiply-add is 1 FLOP.",
        why="Published peaks count a multiply-add as 2 FLOP. With N³ a perfect kernel seems to reach half of the peak.",
        right="2 N³, because a multiply-add is 2 FLOP.",
        truth="Peaks count a multiply-add as 2 FLOP. Counted as 1, a matmul at 100 % of the peak seems to be at 50 %.",
        others={
            "3 N³, because each needs a load as well.": "A multiply-add is one multiplication and one addition. Loads "
            "are no FLOPs."
        },
        source=_DERIVED,
        setup={
            "chips": [H100],
            "kernels": [
                _matmul(least, "matmul, 2 FLOP each"),
                Kernel("matmul, 1 FLOP each", _SIDE**3, 3 * 2 * _SIDE**2, least),
            ],
        },
    )


def _sparse_peak() -> Misconception:
    sparse = Chip("H100, sparse figure", {"bf16": 1979e12}, {"HBM": 3.35e12})
    return _misconception(
        "sparse-peak",
        prompt="A data sheet says 1979 TFLOP/s in bf16 with sparsity. Which peak holds for a dense matmul?",
        belief="The highest figure is the peak: 1979 TFLOP/s.",
        why="This figure counts products with zeros that a 2:4 sparse matrix leaves out. A dense matrix has none.",
        right="Half of this figure is the peak: 989.5 TFLOP/s.",
        truth="A dense matmul that reaches 80 % of 989.5 TFLOP/s seems to reach 40 % of the sparse figure, "
        "and the ridge point seems to be 591 FLOP/B instead of 295 FLOP/B.",
        others={"A quarter of this figure is the peak: 495 TFLOP/s.": "2:4 sparsity doubles the figure once."},
        source=_BOOK,
        setup={"chips": [H100, sparse], "kernels": [_matmul(2 * _SIDE**3 / (0.8 * H100.peak()))]},
    )


def _binary_prefix() -> Misconception:
    return _misconception(
        "gb-is-gib",
        prompt="A tool reports weights of 80 GiB. How long does a GPU with 3.35 TB/s read them?",
        belief="GB and GiB are the same: 80 GB over 3.35 TB/s.",
        why="1 GiB is 2³⁰ B. The bandwidth of a data sheet counts 10⁹ B as 1 GB.",
        right="80 GiB are 85.9 GB, over 3.35 TB/s.",
        truth="80 GiB are 85.9 GB and take 25.6 ms. 80 GB take 23.9 ms, 7 % less.",
        others={"80 GiB are 74.5 GB, over 3.35 TB/s.": "This converts the wrong way: 80 GB are 74.5 GiB."},
        source=_DERIVED,
        setup={
            "chips": [H100],
            "kernels": [Kernel("read 80 GB", 80e9, 80e9), Kernel("read 80 GiB", 80 * 2**30, 80 * 2**30)],
        },
    )


def _blocked(side: int, name: str) -> Kernel:
    return kernel(of_op("blocked_matmul", "fp64", *[(1024, 1024)] * 2, cache=3 * side * side), name)


def _bigger_cache() -> Misconception:
    return _misconception(
        "bigger-cache-raises-intensity",
        prompt="A new processor has a much larger cache. Which kernels move to the right on the roofline?",
        belief="All kernels: a bigger cache always raises arithmetic intensity.",
        why="A cache saves only repeated reads. Bytes that have to move once at least stay.",
        right="Only kernels that read data repeatedly from memory, until each byte moves once.",
        truth="A blocked fp64 matmul of 1024 rows goes from 7.53 FLOP/B to 25.6 FLOP/B with 16 times the cache, "
        "and stops at 64 FLOP/B when each matrix fits. The triad has 0.0833 FLOP/B with any cache.",
        others={"No kernel, because the cache is not in the roofline.": "Bytes are counted behind the cache."},
        source=_WILLIAMS,
        setup={
            "chips": [Chip("CPU", {"fp64": 3e12}, {"DRAM": 200e9})],
            "kernels": [
                _blocked(64, "matmul, blocks of 64"),
                _blocked(256, "matmul, blocks of 256"),
                _blocked(1024, "matmul, all in cache"),
                kernel(of_op("stream_triad", "fp64", (10**8,), (10**8,)), "triad"),
            ],
        },
        difficulty=2,
    )


def _one_dot() -> Misconception:
    matmul, gelu = _matmul(), _gelu()
    together = Kernel("program as one dot", 2 * _SIDE**3 + 8 * _SIDE**2, (3 + 2) * 2 * _SIDE**2)
    return _misconception(
        "program-as-one-dot",
        prompt="A program runs a compute-bound matmul and then a memory-bound GELU. "
        "How is its least time found, if nothing overlaps?",
        belief="A program is one dot under the roof: sum its FLOPs and its bytes.",
        why="One dot is the time if one limit holds for all kernels, or if they overlap fully. Otherwise it is too "
        "short.",
        right="Sum the least times of the kernels, each by its roof.",
        truth="Add times. The matmul takes 139 µs and the GELU 20 µs: 159 µs together. One dot says 139.0 µs. Adding "
        "FLOPs and bytes is only right if one limit holds for all kernels.",
        others={
            "Take the longer of the two times, the matmul's.": "Kernels that run one after another add their times."
        },
        source=_DERIVED,
        setup={"chips": [H100], "kernels": [matmul, gelu, together]},
        difficulty=2,
    )


def _other_ridge() -> Misconception:
    chip = Chip("v7x", {"bf16": 2307e12, "fp8": 4614e12}, {"HBM": 7.2e12})
    return _misconception(
        "ridge-of-another-precision",
        prompt="A TPU v7x has its ridge point at 641 FLOP/B in fp8 and at 320 FLOP/B in bf16. "
        "A bf16 matmul has 512 FLOP/B. What bounds it?",
        belief="Memory: a chip has one ridge point, and 512 FLOP/B is left of 641 FLOP/B.",
        why="641 FLOP/B is the ridge point of fp8 arithmetic. This matmul computes in bf16.",
        right="The peak FLOP/s, because 512 FLOP/B is right of 320 FLOP/B.",
        truth="A chip has one ridge point for each precision. The bf16 matmul has 512 FLOP/B and is compute-bound: "
        "320 FLOP/B is enough in bf16, 641 FLOP/B only in fp8.",
        others={
            "Both alike, because it is between the two ridge points.": "Only the roof of its own precision counts."
        },
        source=_GUIDE,
        setup={"chips": [chip], "kernels": [Kernel("bf16 matmul", 2 * 1536**3, 6 * 1536**2, precision="bf16")]},
    )


def _int8_weights() -> Misconception:
    side, batch = 8192, 160
    chip = Chip("TPU v5e", {"bf16": 1.97e14}, {"HBM": 8.2e11})
    flops, activations = 2 * batch * side**2, 2 * 2 * batch * side
    return _misconception(
        "int8-weights-keep-the-batch",
        prompt="A large layer in bf16 is compute-bound from a batch of 240 on a TPU v5e. "
        "Its weights are now stored in int8, and it still computes in bf16. From which batch is it compute-bound?",
        belief="From 240 again: only the arithmetic decides.",
        why="The peak is the same, but the weights move half the bytes.",
        right="From 120: the weights have half the bytes.",
        truth="With 1 B for each weight the critical batch is 120 instead of 240. At batch 160 a layer of 8192 × 8192 "
        "has 297 FLOP/B with int8 weights and is compute-bound. With bf16 weights it has 154 FLOP/B and is "
        "memory-bound.",
        others={
            "From 480: int8 needs twice as many tokens.": "Fewer bytes for each FLOP need a smaller batch, not a "
            "larger one."
        },
        source=_BOOK,
        setup={
            "chips": [chip],
            "kernels": [
                Kernel("int8 weights", flops, side**2 + activations),
                Kernel("bf16 weights", flops, 2 * side**2 + activations),
            ],
        },
        difficulty=2,
    )


def _more_cores() -> Misconception:
    chip = of_2009("barcelona")
    twice = chip.replace(name="The same with 16 cores", id="barcelona-16", peak_flops={"fp64": 148e9})
    return _misconception(
        "more-cores-fix-memory-bound",
        prompt="A sparse product is memory-bound on 8 cores that share 16.8 GB/s. "
        "What does the same memory with 16 cores bring?",
        belief="Twice the cores give twice the rate.",
        why="The cores share one memory. It delivers the same bytes to more cores.",
        right="The same rate, because the bandwidth is the same.",
        truth="At 0.167 FLOP/B and 16.8 GB/s the product attains 2.8 GFLOP/s with 8 cores and with 16 cores. "
        "More cores move the ridge point from 4.4 FLOP/B to 8.8 FLOP/B.",
        others={
            "Half the rate, because the cores share the memory.": "The total rate is bytes per second times intensity."
        },
        source=_WILLIAMS,
        setup={"chips": [chip, twice], "kernels": [Kernel("SpMV", 2, 12)]},
    )


def _fusion_always() -> Misconception:
    elements = 2**24
    tensor = 2 * elements
    costly = 200 * elements
    work = {
        "costly": (costly, 2 * tensor),
        "reader 1": (elements, 2 * tensor),
        "reader 2": (elements, 2 * tensor),
        "costly + reader 1": (costly + elements, 2 * tensor),
        "costly + reader 2": (costly + elements, 2 * tensor),
        "costly + both readers": (costly + 2 * elements, 3 * tensor),
    }
    return _misconception(
        "fusion-always-helps",
        prompt="An elementwise kernel reads and writes bf16 (2 B) and does 200 FLOP in fp32 for each element. It runs "
        "on the vector units of a GPU, which do 67 TFLOP/s. Two kernels read its result. Should it be fused into each "
        "of the two?",
        belief="Yes, fusion always makes a program faster.",
        why="Fused into two kernels the costly arithmetic runs twice. It saves bytes that were not the bottleneck.",
        right="No, because then the costly arithmetic runs twice.",
        truth="Three kernels take 50.1 µs and twice 20 µs: 90.1 µs. Fused into both readers, two kernels take 50.3 µs "
        "each: 100.7 µs. A single kernel with all three does the arithmetic once and writes both results: 50.6 µs.",
        others={"It makes no difference, because the FLOPs are the same.": "The fused kernels do the FLOPs twice."},
        source=_DERIVED,
        setup={
            "chips": [record("h100-sxm", "fp32")],
            "kernels": [Kernel(name, flops, moved, precision="fp32") for name, (flops, moved) in work.items()],
        },
        difficulty=2,
    )


def _before_a_product() -> Misconception:
    rows, side = 16, 8192
    weights, ends = side**2, 2 * 2 * rows * side
    product = 2 * rows * weights
    return _misconception(
        "product-begins-a-kernel",
        prompt="Weights are stored as int4. One kernel scales them and writes them as bf16. A second kernel multiplies "
        "16 rows of 8192 numbers by the 8192 × 8192 weights. May one kernel do both?",
        belief="No, an operation before a matrix product needs a kernel of its own.",
        why="This is a rule of some compilers. A kernel can scale a tile of weights on chip just before it uses it.",
        right="Yes, and the bf16 weights do not move at all.",
        truth="Two kernels move 302.5 MB and take 50.1 µs and 40.2 µs: 90.3 µs. One kernel moves 34.1 MB and takes "
        "10.2 µs. With 16 rows it scales each weight once.",
        others={
            "Yes, but it is not faster, because the FLOPs are the same.": "Both kernels are memory-bound: their bytes "
            "set their time."
        },
        source=_DERIVED,
        setup={
            "chips": [H100],
            "kernels": [
                Kernel("scale", weights, weights / 2 + 2 * weights),
                Kernel("product", product, 2 * weights + ends),
                Kernel("scale + product", weights + product, weights / 2 + ends),
            ],
        },
    )


def _fewest_bytes() -> Misconception:
    graph = Graph("layernorm and product")
    x = graph.input("x", (_SIDE, _SIDE), "bf16")
    weights = graph.input("W", (_SIDE, 4 * _SIDE), "bf16")
    graph.output(graph.matmul(graph.layernorm(x, affine=False), weights, name="product"))
    apart, joined = Partition.unfused(graph), Partition.fully(graph)
    chip = find_chip("h100-sxm")
    return _misconception(
        "fewest-bytes-are-fastest",
        prompt="A LayerNorm feeds a product of 4096 × 4096 by 4096 × 16384 numbers in bf16 on an H100. "
        "In one kernel they move 302 MB, in two kernels 369 MB. Is one kernel faster?",
        belief="Yes, the fewest bytes take the least time.",
        why="The product is compute-bound. Fewer bytes do not make it faster, and more FLOPs make it slower.",
        right="No, because the LayerNorm then runs many times.",
        truth="Two kernels take 20 µs and 556 µs: 576 µs. One kernel computes the result in tiles of 128 columns. It "
        "runs the LayerNorm 128 times, once for each of the 16384 / 128 columns of tiles, and takes 652 µs.",
        others={
            "No, because the two cannot share a kernel.": "They can. With few rows one kernel is faster, because the "
            "repeated arithmetic takes less time than the bytes."
        },
        source=_DERIVED,
        setup={"chips": [chip], "kernels": [*apart.kernels(chip=chip), *joined.kernels(chip=chip)]},
        difficulty=2,
    )
