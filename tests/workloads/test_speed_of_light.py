"""The four times of a graph, scores and verdicts, against numbers that a person derives."""

from __future__ import annotations

import pickle
import random
import re
from math import prod
from typing import Any, Final

import pytest

import roofwidget as rw
from roofwidget.chips import Chip, Memory
from roofwidget.workloads import Graph, Tensor, dim
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.speed_of_light import SpeedOfLight, speed_of_light

# A GPU of 132 units, and a core that is one unit: all ops outside of matrix products run at one rate.
_PEAKS: Final = {"bf16": 1e15, "fp16": 1e15, "fp8": 2e15, "int8": 2e15, "fp32": 5e14}
G: Final = Chip(
    "G",
    {**_PEAKS, **{f"{one}_vector": 1e14 for one in _PEAKS}},
    {"HBM": 4e12, "L2": Memory("L2", None, 52_428_800), "L1": Memory("L1", None, 132 * 232_448)},
    units="132 SM",
)
T: Final = Chip("T", {"bf16": 2e14, "bf16_vector": 1e13}, {"HBM": 8e11, "VMEM": Memory("VMEM", None, 2**27)})


def graph_of(sizes: str, text: str, outputs: str = "") -> Graph:
    """Return a graph with a line per op: ``name kind FLOPs: inputs -> output``, tensors as ``name.axes.dtype``.

    FLOPs are for each combination of the op's axes; ``+`` adds some for each row. ``over=n`` is a reduced axis.
    """
    size = {one[0]: int(one[1:]) for one in sizes.split()}
    tensors: dict[str, tuple[Tensor, str]] = {}

    def tensor(word: str) -> tuple[Tensor, str]:
        name, *rest = word.split(".")
        if name not in tensors:
            axes, dtype = rest
            tensors[name] = Tensor(name, [size[axis] for axis in axes], dtype), axes
        return tensors[name]

    graph = Graph("case")
    for line in text.strip().splitlines():
        head, _, body = line.strip().partition(": ")
        name, kind, each, *options = head.split()
        reads, _, made = body.partition(" -> ")
        for word in reads.split():
            if word.partition(".")[0] not in tensors:
                one, _ = tensor(word)
                graph.input(one.name, one.shape, one.dtype)
        read, out = [tensor(word) for word in reads.split()], tensor(made)
        walked = "".join(dict.fromkeys("".join(axes for _, axes in (*read, out))))
        over = next((one[5:] for one in options if one.startswith("over=")), "")
        flops, _, of_row = each.partition("+")
        rows = prod(size[axis] for axis in walked if axis not in over)
        done = int(flops) * prod(size[axis] for axis in walked) + int(of_row or 0) * rows
        index = f"{','.join(axes for _, axes in read)}->{out[1]}"
        axes = [read[0][1].index(axis) for axis in over] if over else None
        how: dict[str, Any] = {"index": index, "axes": axes, "rescale": "final" not in options}
        graph.op(kind, name, [one for one, _ in read], [out[0]], done, **how)
    graph.output(*outputs.split())
    return graph


ATTENTION: Final = """
    qk matmul 2: q.hmd.bf16 k.hnd.bf16 -> s.hmn.bf16
    softmax reduction 5 over=n: s -> p.hmn.bf16
    pv matmul 2: p v.hnd.bf16 -> o.hmd.bf16"""
MLP: Final = """
    gate matmul 2: x.md.bf16 w.df.bf16 -> a.mf.bf16
    up matmul 2: x u.df.bf16 -> b.mf.bf16
    swiglu elementwise 6: a b -> h.mf.bf16
    down matmul 2: h v.fd.bf16 -> y.md.bf16"""
CONV: Final = {"b": 32, "c": 64, "o": 64, "y": 56, "x": 56}

# name: chip, sizes, ops, outputs; unfused, compiler, best and light in seconds; bytes of light.
GOLDEN: Final[dict[str, tuple[Chip, str, str, str, tuple[float, ...], int]]] = {
    "int4 weights to bf16": (
        G,
        "m16 k8192 n8192",
        "cast elementwise 0: q.kn.int4 -> w.kn.bf16\nmm matmul 2: x.mk.bf16 w -> y.mn.bf16",
        "",
        (75.628544e-6, 8.51968e-6, 8.51968e-6, 8.51968e-6),
        34_078_720,
    ),
    "int8 weights with a scale of each channel": (
        G,
        "m1 k4096 n4096",
        (
            "cast elementwise 0: q.kn.int8 -> w.kn.bf16\nmm matmul 2: x.mk.bf16 w -> y.mn.bf16\n"
            "scale broadcast 1: y s.n.bf16 -> z.mn.bf16"
        ),
        "",
        (20.98176e-6, 4.200448e-6, 4.200448e-6, 4.200448e-6),
        16_801_792,
    ),
    "fp8 by the largest element, decode": (
        G,
        "m16 k4096 n4096",
        (
            "amax reduction 1+-1 over=k final: x.mk.bf16 -> a.m.fp32\nquantise broadcast 2: x a -> q.mk.fp8\n"
            "mm matmul 2: q w.kn.fp8 -> y.mn.bf16"
        ),
        "",
        (4.325408e-6, 4.292608e-6, 4.25984e-6, 4.25984e-6),
        17_039_360,
    ),
    "fp8 by the largest element, prefill": (
        G,
        "m8192 k4096 n4096",
        (
            "amax reduction 1+-1 over=k final: x.mk.bf16 -> a.m.fp32\nquantise broadcast 2: x a -> q.mk.fp8\n"
            "mm matmul 2: q w.kn.fp8 -> y.mn.bf16"
        ),
        "",
        (179.398377472e-6, 162.604777472e-6, 162.604777472e-6, 137.438953472e-6),
        150_994_944,
    ),
    "a transposed weight": (
        G,
        "m64 k4096 n4096",
        "transpose injective 0: w.nk.bf16 -> t.kn.bf16\nmm matmul 2: x.mk.bf16 t -> y.mn.bf16",
        "",
        (25.427968e-6, 8.650752e-6, 8.650752e-6, 8.650752e-6),
        34_603_008,
    ),
    "GELU before a product": (
        G,
        "m8192 k8192 n8192",
        "gelu elementwise 8: x.mk.bf16 -> h.mk.bf16\nmm matmul 2: h w.kn.bf16 -> y.mn.bf16",
        "",
        (1166.620491776e-6, 1166.620491776e-6, 1166.620491776e-6, 1099.511627776e-6),
        402_653_184,
    ),
    "layer norm before a product": (
        G,
        "m64 k4096 n4096",
        "norm reduction 8+3 over=k: x.mk.bf16 g.k.bf16 b.k.bf16 -> h.mk.bf16\nmm matmul 2: h w.kn.bf16 -> y.mn.bf16",
        "",
        (8.916992e-6, 8.916992e-6, 8.654848e-6, 8.654848e-6),
        34_619_392,
    ),
    "attention": (
        G,
        "h8 m1024 n1024 d128",
        ATTENTION,
        "",
        (18.874368e-6, 18.874368e-6, 4.714397696e-6, 4.294967296e-6),
        8_388_608,
    ),
    "attention whose probabilities are an output": (
        G,
        "h8 m1024 n1024 d128",
        ATTENTION,
        "p",
        (18.874368e-6, 18.874368e-6, 10.48576e-6, 6.291456e-6),
        25_165_824,
    ),
    "attention over a long context": (
        G,
        "h1 m131072 n131072 d128",
        ATTENTION,
        "",
        (42983.227392e-6, 42983.227392e-6, 9655.086481408e-6, 8796.093022208e-6),
        134_217_728,
    ),
    "a gated MLP": (
        G,
        "m4096 d4096 f14336",
        MLP,
        "",
        (1531.189395456e-6, 1446.632226816e-6, 1446.632226816e-6, 1443.109011456e-6),
        419_430_400,
    ),
    "a narrow gated MLP": (
        G,
        "m65536 d256 f1024",
        MLP,
        "",
        (226.885632e-6, 159.776768e-6, 107.105746944e-6, 103.079215104e-6),
        68_681_728,
    ),
    "a gated MLP on one core": (
        T,
        "m2048 d4096 f14336",
        MLP,
        "",
        (3827.97348864e-6, 3625.38860544e-6, 3625.38860544e-6, 3607.77252864e-6),
        385_875_968,
    ),
    "a large gated MLP on one core": (
        T,
        "m32768 d4096 f14336",
        MLP,
        "",
        (61247.57581824e-6, 58006.21768704e-6, 58006.21768704e-6, 57724.36045824e-6),
        889_192_448,
    ),
    "LoRA": (
        G,
        "m4096 d4096 n4096 r16",
        (
            "mm matmul 2: x.md.bf16 w.dn.bf16 -> y0.mn.bf16\na matmul 2: x wa.dr.bf16 -> t.mr.bf16\n"
            "b matmul 2: t wb.rn.bf16 -> u.mn.bf16\nadd elementwise 1: y0 u -> y.mn.bf16"
        ),
        "",
        (179.513065472e-6, 154.515013632e-6, 146.597740544e-6, 138.512695296e-6),
        100_925_440,
    ),
    "a product and a softmax that fits": (
        G,
        "m4096 d1024 n1024",
        "mm matmul 2: x.md.bf16 w.dn.bf16 -> y.mn.bf16\nsoftmax reduction 5 over=n: y -> p.mn.bf16",
        "",
        (12.784238592e-6, 12.784238592e-6, 8.799649792e-6, 8.589934592e-6),
        18_874_368,
    ),
    "a product and a softmax that is too wide": (
        G,
        "m4096 d1024 n32000",
        "mm matmul 2: x.md.bf16 w.dn.bf16 -> y.mn.bf16\nsoftmax reduction 5 over=n: y -> p.mn.bf16",
        "",
        (399.507456e-6, 399.507456e-6, 399.507456e-6, 268.435456e-6),
        336_068_608,
    ),
    "sums over both axes": (
        G,
        "m8192 n8192",
        "rows reduction 1+-1 over=n: x.mn.fp32 -> r.m.fp32\ncolumns reduction 1+-1 over=m: x -> c.n.fp32",
        "",
        (134.234112e-6, 134.234112e-6, 69.287936e-6, 67.125248e-6),
        268_500_992,
    ),
    "rows of 8 MB": (
        G,
        "m16 n4194304",
        (
            "a elementwise 1: x.mn.bf16 -> r.mn.bf16\nnorm reduction 8+3 over=n: r -> h.mn.bf16\n"
            "b elementwise 1: h -> y.mn.bf16"
        ),
        "",
        (234.881024e-6, 100.663296e-6, 100.663296e-6, 67.108864e-6),
        268_435_456,
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_four_times_are_those_derived_by_hand(name: str) -> None:
    chip, sizes, text, outputs, times, least = GOLDEN[name]
    sol = speed_of_light(graph_of(sizes, text, outputs), chip)
    assert (sol.unfused, sol.compiler, sol.best, sol.light) == pytest.approx(times, rel=1e-12)
    assert sol.light_bytes == least
    assert sol.light_bytes <= sol.best_bytes
    assert sol.how == "optimal"
    assert sum(kernel.time for kernel in sol.kernels) == pytest.approx(sol.best, rel=1e-12)


def test_the_rows_that_a_gather_reads_in_any_order_count_and_the_table_does_not() -> None:
    g = Graph("embedding")
    ids = g.input("ids", (8192,), "int32")
    rows = 2 * 8192 * 4096
    g.op("injective", "embed", [ids], [Tensor("e", (8192, 4096), "bf16")], 0, extra_bytes=rows, index="*->*d")
    sol = speed_of_light(g, G)
    assert sol.light_bytes == 4 * 8192 + 2 * rows
    assert sol.bound_by == "HBM"
    # The two other bytes of an accumulator need not leave the chip.
    linear = Graph("linear", convention=rw.Convention("accumulated", accumulator_bytes=4))
    x = linear.input("x", (64, 64), "bf16")
    linear.output(linear.matmul(x, linear.input("w", (64, 64), "bf16")))
    assert speed_of_light(linear, G).light_bytes == 3 * 2 * 64 * 64
    assert speed_of_light(linear, G).unfused_bytes == 3 * 2 * 64 * 64 + 4 * 64 * 64


def of(light: float, bound: str = "memory") -> SpeedOfLight:
    """Return a result on G whose light is so many seconds, bound by the bytes or by the FLOPs of a product."""
    if bound == "memory":
        n = int(light * 4e12 / 4)
        return speed_of_light(graph_of(f"n{n}", "relu elementwise 1: x.n.bf16 -> y.n.bf16"), G)
    each = round(light * (1e15 if bound == "tensor" else 1e14) / 64**2)
    if bound == "vector":
        return speed_of_light(graph_of("m64 n64", f"exp elementwise {each}: x.mn.bf16 -> y.mn.bf16"), G)
    return speed_of_light(graph_of("m64 k1 n64", f"mm matmul {each}: x.mk.bf16 w.kn.bf16 -> y.mn.bf16"), G)


@pytest.mark.parametrize(
    ("measured", "baseline", "score"),
    [
        (12, 12, 0.5),
        (10, 12, 1.0),
        (11, 12, 2 / 3),
        (14, 12, 1 / 3),
        (20, 12, 1 / 6),
        (9, 12, None),
        (8, 12, None),
        (12, 10, None),
    ],
)
def test_the_score_is_1_at_light_and_a_half_at_the_baseline(measured: int, baseline: int, score: float | None) -> None:
    sol = of(10e-6)
    assert sol.light == 10e-6
    found = sol.score(f"{measured} us", f"{baseline} us")
    assert found.value == (None if score is None else pytest.approx(score))
    assert found.fraction == sol.fraction(f"{measured} us") == pytest.approx(10 / measured)
    assert not found.is_modelled
    assert bool(found.reason) == (score is None)


def test_a_score_says_its_baseline_and_why_there_is_none() -> None:
    chip, sizes, text, outputs, *_ = GOLDEN["attention"]
    sol = speed_of_light(graph_of(sizes, text, outputs), chip)
    found = sol.score(sol.compiler)
    assert (found.value, found.is_modelled, found.baseline) == (0.5, True, sol.compiler)
    assert str(found) == "score 0.5 against a modelled baseline of 18.9 µs; 23 % of the speed of light"
    # The share of 9 - 4.295 in 12 - 4.295 is 0.6106.
    assert (
        str(sol.score("9 us", "12 us"))
        == "score 0.6209 against a measured baseline of 12 µs; 48 % of the speed of light"
    )
    assert str(of(10e-6).score("9 us")) == "no score: measured 9 µs is below light, 10 µs; 111 % of the speed of light"
    assert of(10e-6).score("12 us").reason == "the baseline, 10 µs, is not slower than light, 10 µs"
    with pytest.raises(ValueError, match="measured"):
        sol.score("0 us")


def words(sol: SpeedOfLight, measured: str | float) -> list[str]:
    """Return the words with which the checks of a time begin."""
    return [" ".join(check.split()[:2]) for check in sol.verdict(measured).checks]


def test_a_time_at_light_is_no_fault_and_one_below_it_is_impossible() -> None:
    sol = of(10e-6)
    assert sol.verdict("12 us").word == "possible"
    assert sol.verdict("10 us").word == "possible"
    assert sol.verdict("9.95 us").word == "at light"
    assert sol.verdict("9.95 us").sentence.endswith("; check the clock")
    assert sol.verdict("9.9 us").word == "at light"
    assert sol.verdict("9.89 us").word == "impossible"
    assert sol.verdict("6 us").sentence == (
        "measured 6 µs is below 10 µs, the least time in which G can move 40 MB. Check:"
    )


def test_only_reasons_that_apply_are_given() -> None:
    # 20 MB are read, and the units share 52 MB: the inputs can be in cache.
    assert words(of(10e-6), "6 us") == ["inputs were", "fewer bytes", "the clock:"]
    # 240 MB are read: a cache of 52 MB cannot hold them.
    assert words(of(120e-6), "60 us") == ["fewer bytes", "the clock:"]
    # 60 MB are read. That 52 MB of the 120 MB stay on chip would be enough, but a cache keeps none of a longer walk.
    assert of(30e-6).warm_light < 20e-6
    assert words(of(30e-6), "20 us") == ["fewer bytes", "the clock:"]
    # A product of 10 µs that moves 8,448 B: bytes explain nothing.
    tensor = of(10e-6, "tensor")
    assert tensor.bound_by == "tensor"
    assert words(tensor, "6 us") == ["a higher", "fewer FLOPs", "the clock:"]
    # Both are below: the bytes of an MLP on one core take 482 µs, its products 3,608 µs.
    chip, sizes, text, outputs, *_ = GOLDEN["a gated MLP on one core"]
    assert words(speed_of_light(graph_of(sizes, text, outputs), chip), "300 us") == [
        "fewer bytes",
        "a higher",
        "fewer FLOPs",
        "the clock:",
    ]


def test_light_of_flops_outside_of_products_is_a_convention_and_no_proof() -> None:
    sol = of(10e-6, "vector")
    assert sol.bound_by == "vector"
    found = sol.verdict("6 us")
    assert found.word == "check the convention"
    assert [" is a convention, textbook, and no bound" in check for check in found.checks] == [True]
    # Below the 4.1 ns of its 16 kB it is impossible all the same.
    assert sol.verdict("3 ns").word == "impossible"


def test_math_of_fewer_bits_is_named_for_inputs_of_fp32() -> None:
    def check(dtype: str) -> str:
        text = f"mm matmul 2: x.mk.{dtype} w.kn.{dtype} -> y.mn.{dtype}"
        sol = speed_of_light(graph_of("m2048 k2048 n2048", text), G)
        return next(one for one in sol.verdict(sol.light / 2).checks if one.startswith("a higher peak"))

    assert "than that of fp32: TF32 or 16-bit math for fp32 inputs" in check("fp32")
    assert "than that of bf16: math of fewer bits" in check("bf16")


def test_warm_light_counts_only_what_does_not_fit_in_cache() -> None:
    g = graph_of("n20000000", "relu elementwise 1: x.n.bf16 -> y.n.bf16")
    cold, warm = speed_of_light(g, G), speed_of_light(g, G, warm=True)
    assert (cold.light_bytes, warm.light_bytes) == (80_000_000, 80_000_000 - 52_428_800)
    assert cold.warm_light == warm.light == pytest.approx(27_571_200 / 4e12)
    assert any("warm=True: 6.89 µs" in check for check in cold.verdict("7 us").checks)
    assert warm.verdict("7 us").word == "possible"
    assert not any("in cache" in check for check in warm.verdict("5 us").checks)
    # Not even a warm cache explains 5 µs.
    assert not any("in cache" in check for check in cold.verdict("5 us").checks)
    bare = Chip("bare", {"bf16": 1e15}, {"HBM": 4e12})
    assert speed_of_light(g, bare).verdict("7 us").checks[0] == (
        "inputs were in cache: 40 MB are read, and bare keeps an unknown number of bytes on chip for all units; "
        "clear it before each run"
    )
    with pytest.raises(ValueError, match="cache of bare, which is unknown; leave warm out"):
        speed_of_light(g, bare, warm=True)


def test_the_least_time_of_a_kernel_is_no_part_of_light() -> None:
    chip, sizes, text, outputs, times, _ = GOLDEN["int4 weights to bf16"]
    sol = speed_of_light(graph_of(sizes, text, outputs), chip, launch_overhead="20 us")
    # The cast alone moves 168 MB, 42 µs; the product alone 134 MB, 33.7 µs; both together 8.5 µs.
    assert sol.light == times[3]
    assert sol.best == sol.compiler == 20e-6
    assert sol.unfused == pytest.approx(times[0])


def test_a_precision_gives_every_op_its_peak_and_changes_no_bytes() -> None:
    chip, sizes, text, outputs, *_ = GOLDEN["GELU before a product"]
    auto, narrow = (speed_of_light(graph_of(sizes, text, outputs), chip, one) for one in ("auto", "fp8"))
    assert narrow.light == pytest.approx(auto.light / 2)
    assert narrow.light_bytes == auto.light_bytes
    assert "1,099,511,627,776 FLOP / 2 PFLOP/s (fp8) = 549.8 µs" in narrow.derivation[3]
    assert "than that of fp8: math of fewer bits" in narrow.verdict("100 us").checks[1]
    assert repr(narrow).endswith("speed of light, bound by tensor FLOPs")


def test_flops_outside_of_products_run_at_the_fastest_precision_so_that_light_is_the_least() -> None:
    # This chip has no rate of its own for them. A kernel with a product in bf16 does its fp32 ops at the peak of bf16.
    chip = Chip("P", {"bf16": 1e15, "fp32": 1e12}, {"HBM": 4e12, "VMEM": Memory("VMEM", None, 2**27)})
    text = "mm matmul 2: x.mk.bf16 w.kn.bf16 -> y.mn.fp32\nexp elementwise 500: y -> z.mn.fp32"
    sol = speed_of_light(graph_of("m1024 k1024 n1024", text), chip)
    assert sol.light <= sol.best <= sol.compiler <= sol.unfused
    assert sol.parts["vector"] == pytest.approx(500 * 2**20 / 1e15)


def test_ops_without_flops_make_light_a_lower_bound_and_are_named() -> None:
    text = "sort opaque 0: x.n.bf16 -> y.n.bf16\nrelu elementwise 1: y -> z.n.bf16"
    sol = speed_of_light(graph_of("n1024", text), G)
    assert sol.notes == ("a lower bound: 1 op has no FLOPs: sort",)
    assert "note: a lower bound: 1 op has no FLOPs: sort" in repr(sol)
    known = speed_of_light(graph_of("n1024", text.replace("opaque 0", "opaque 7")), G)
    assert known.notes == ()
    # Its time is that of its tensors, read and written once each.
    assert sol.light == pytest.approx(2 * 2048 / 4e12)


def test_the_best_is_never_slower_than_what_a_compiler_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    chip, sizes, text, outputs, times, _ = GOLDEN["int8 weights with a scale of each channel"]
    # A greedy search can end at a partition that the exact search among the kernels of compilers beats.
    monkeypatch.setattr(Partition, "best", lambda graph, *_args, **_how: Partition.unfused(graph))
    sol = speed_of_light(graph_of(sizes, text, outputs), chip)
    assert (sol.best, sol.compiler) == pytest.approx((times[1], times[1]))
    assert sol.partition.groups == (("cast", "mm", "scale"),)
    assert sol.how == "greedy"


def drawn(seed: int) -> Graph:
    """Return a random graph of up to six ops in several dtypes."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    g = Graph(f"seed {seed}")
    rows, columns = draw.choice([1, 16, 64, 1024, 4096]), draw.choice([64, 1024, 4096])
    live = [g.input("x", (rows, columns), draw.choice(["bf16", "fp32", "fp8"]))]
    for at in range(draw.randint(1, 6)):
        x, kind = draw.choice(live), draw.choice(["add", "cast", "gelu", "layernorm", "matmul", "softmax"])
        if kind == "matmul":
            shape = x.shape[1], draw.choice([64, 1024, 4096])
            live.append(g.matmul(x, g.input(f"w{at}", shape, draw.choice(["bf16", x.dtype]))))
        elif kind == "add":
            live.append(g.add(x, draw.choice([one for one in live if one.shape == x.shape])))
        elif kind == "cast":
            live.append(g.cast(x, draw.choice(["bf16", "fp32", "fp8"])))
        else:
            live.append(getattr(g, kind)(x))
    g.output(*live[-2:] if len(live) > 2 else live[-1:])
    return g


@pytest.mark.parametrize("chip", ["h100-sxm", "b200", "mi300x", "rtx-4090"])
def test_the_four_times_of_any_graph_are_in_their_order(chip: str) -> None:
    for seed in range(50):
        sol = speed_of_light(drawn(seed), chip)
        assert 0 < sol.light <= sol.best <= sol.compiler <= sol.unfused, seed
        assert sol.light_bytes <= min(sol.best_bytes, sol.compiler_bytes, sol.unfused_bytes), seed
        assert sol.verdict(sol.best).word == "possible", seed


def test_the_derivation_is_line_by_line_with_exact_counts() -> None:
    chip, sizes, text, outputs, *_ = GOLDEN["int4 weights to bf16"]
    lines = speed_of_light(graph_of(sizes, text, outputs), chip).derivation
    assert lines[:5] == (
        "reads once: q 33.6 MB; x 262 kB",
        "writes once: y 262 kB",
        "HBM: 34,078,720 B / 4 TB/s = 8.52 µs",
        "matrix products: 2,147,483,648 FLOP / 1 PFLOP/s (bf16) = 2.147 µs",
        "light = the longest of these = 8.52 µs, bound by HBM",
    )
    assert lines[5].startswith("best: cast + mm: 34.1 MB, 2.15 GFLOP in 8.52 µs; tiles")
    assert lines[6:] == (
        "best = the sum = 8.52 µs, which the search proved to be the least under the model",
        "compiler = 8.52 µs: at most one matrix product in a kernel, no reduction beside it",
        "unfused = 75.63 µs: 2 kernels, each with its own bound",
    )


def test_a_notebook_shows_a_table_whose_names_are_no_markup() -> None:
    g = Graph("<b>", outputs=[])
    g.output(g.relu(g.input("x<y", (1024,), "bf16")))
    shown = speed_of_light(g, G)._repr_html_()
    assert re.findall(r'<th scope="row">(\w+)</th>', shown) == ["unfused", "compiler", "best", "light"]
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "reads once: x&lt;y 2.05 kB" in shown


def test_dimensions_have_the_values_that_are_given() -> None:
    g = Graph("relu")
    g.output(g.relu(g.input("x", (dim("n", 1, 4096, default=1024),), "bf16")))
    assert speed_of_light(g, G).light_bytes == 4 * 1024
    assert speed_of_light(g, G, dims={"n": 4096}).light_bytes == 4 * 4096
    assert speed_of_light(g, G, dims={"n": 4096}).notes == ("counted at n = 4,096",)
    assert speed_of_light(g, G, dims={"n": 4096}).unfused == pytest.approx(4 * 4096 / 4e12)


def test_a_graph_without_ops_is_refused_and_a_result_can_be_pickled() -> None:
    with pytest.raises(ValueError, match="graph 'empty' has no ops"):
        speed_of_light(Graph("empty"), G)
    sol = of(10e-6)
    again = pickle.loads(pickle.dumps(sol))  # noqa: S301 - our own bytes
    assert (again.light, repr(again)) == (sol.light, repr(sol))
    assert again.partition == Partition.best(again.graph, G)
