"""The cases of roofline.json, in the exact fractions of the doubles that are given: tests/analysis/exact.py.

Nothing of the package is imported here. Keys that a case leaves out have their defaults: ``options`` (overlap 1,
exposed_comm 0, launch_overhead 0), the kernel's ``count`` (1), a chip's ``link`` (none; bytes/s one way).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from tests.analysis import exact
from tests.analysis.exact import Machine, Options, Work

CHIPS: Final[dict[str, dict[str, Any]]] = {
    "accelerator": {
        "peak_flops": {"bf16": 989.5e12, "fp8": 1979e12, "fp32": 67e12},
        "memories": {"HBM": 3.35e12, "L2": 5.5e12, "SMEM": None},
        "default_precision": "bf16",
        "link": 450e9,
    },
    "card": {
        "peak_flops": {"fp16": 65e12, "fp32": 8.1e12, "int8": 130e12},
        "memories": {"GDDR6": 320e9, "L2": 1.27e12, "L1": None},
        "default_precision": "fp16",
    },
    "cpu": {
        "peak_flops": {"fp32": 3.2e12, "fp64": 1.6e12},
        "memories": {"DRAM": 204.8e9, "L3": 1.1e12, "L2": None},
        "default_precision": "fp64",
    },
    # Its ridge points are powers of two, so that kernels can stand on them exactly.
    "round": {
        "peak_flops": {"bf16": 2.0**50, "fp8": 2.0**51, "fp32": 2.0**46},
        "memories": {"HBM": 2.0**42, "VMEM": 2.0**45, "SMEM": None},
        "default_precision": "bf16",
        "link": 2.0**38,
    },
    # Its vector and matrix units have peaks of their own: some for one precision only, some for all.
    "engines": {
        "peak_flops": {"bf16": 918e12, "fp8": 1836e12, "fp32": 57e12, "fp64": 1.1e12}
        | {"bf16_vector": 14e12, "vector": 7e12, "fp8_tensor": 1790e12, "fp64_matrix": 2.2e12},
        "memories": {"HBM": 1.6e12, "VMEM": 36e12},
        "default_precision": "bf16",
        "link": 90e9,
    },
    # Two of its memories lie outside the chip.
    "twofold": {
        "peak_flops": {"bf16": 990e12, "fp32": 67e12},
        "memories": {"HBM": 4e12, "LPDDR5X": 500e9, "L2": 5.5e12},
        "default_precision": "bf16",
        "link": 450e9,
    },
}
# What is asked of each chip: a precision and a memory.
CHOICES: Final = {
    "accelerator": [("auto", "main"), ("fp8", "HBM"), ("BF16", "hbm"), ("fp32", "L2"), ("Fp8", "l2"), ("auto", "DRAM")],
    "card": [("auto", "main"), ("int8", "HBM"), ("FP16", "GDDR6"), ("fp32", "L2"), ("auto", "hbm"), ("fp16", "l2")],
    "cpu": [("auto", "main"), ("fp64", "DRAM"), ("FP32", "dram"), ("fp32", "L3"), ("auto", "HBM"), ("fp64", "l3")],
    "round": [("auto", "main"), ("fp8", "HBM"), ("BF16", "hbm"), ("fp32", "VMEM"), ("auto", "vmem"), ("bf16", "main")],
}
NANOSECOND: Final = 1e-9
NO_OPTIONS: Final[Mapping[str, float]] = {"overlap": 1.0, "exposed_comm": 0.0, "launch_overhead": 0.0}


def roofline() -> dict[str, Any]:
    plain = [*_crossed(), *_on_the_ridge(), *_own_precision(), *_against_the_roof(), *_large_and_small(), *_balanced()]
    joined = [*_overlapping(), *_exposed(), *_launched(), *_networked(), *_everything(), *_classes()]
    cases = [*plain, *joined, *_two_outside()]
    return {"chips": CHIPS, "cases": cases, "all_levels": list(_all_levels()), "refused": list(_refused())}


def _crossed() -> Iterator[dict[str, Any]]:
    """Cross every form of FLOPs with every form of bytes; choice, time and own precision go round at other periods."""
    for name in CHOICES:
        chip = CHIPS[name]
        (first, second, *_), (main, level, _) = chip["peak_flops"], chip["memories"]
        flops = [4.3e9, 0, None, 1, 7.7e15, {first: 3e9, second: 1.7e9}, {second: 2.5e11}, {first: 0}]
        moved = [1.2e7, 0, None, 3, {main: 5.1e7}, {main: 2e7, level: 9e7}, {level: 6e7}, {"HBM": 3.3e8}]
        times = [None, Fraction(2), 1.1e-5, Fraction(1000, 3), None, Fraction(1), 0, Fraction(1, 2), 0.25]
        for at, (amount, traffic) in enumerate(itertools.product(flops, moved)):
            for turn in (0, 1):
                precision, memory = CHOICES[name][(at + 3 * turn) % 6]
                own = [None, None, None, second, None, first.upper(), None][(at + 2 * turn) % 7]
                kernel = {"flops": amount, "bytes": traffic, "time": None, "precision": own}
                case = _timed(name, precision, memory, kernel, times[(at + 4 * turn) % 9])
                # So many are unknown that one in five will do.
                if case["expected"]["regime"] != "unknown" or (at + turn) % 5 == 0:
                    yield case


def _on_the_ridge() -> Iterator[dict[str, Any]]:
    """Ties go to compute, to within one part in 10**12; a little further left it is the memory."""
    for scale in (1, 3, 2**20, 1e6, 1e9 + 1):
        yield _case("round", "auto", "main", {"flops": 256 * scale, "bytes": scale})
        yield _case("round", "fp8", "HBM", {"flops": 512 * scale, "bytes": scale, "time": float(scale)})
        yield _case("round", "fp32", "VMEM", {"flops": 2 * scale, "bytes": {"VMEM": scale, "HBM": 5}})
    for scale in (1.0, 1e-3, 1e-6, 7.0):
        yield _case("accelerator", "auto", "main", {"flops": 989.5e12 * scale, "bytes": 3.35e12 * scale})
        yield _case("card", "auto", "HBM", {"flops": 65e12 * scale, "bytes": 320e9 * scale, "time": scale})
    for off in (-1e-3, -1e-6, -1e-9, -1e-11, -2e-12, -5e-13, -1e-13, 1e-13, 1e-12, 1e-11, 1e-6):
        yield _case("round", "auto", "main", {"flops": 256e12 * (1 + off), "bytes": 1e12, "time": 1.0})


def _own_precision() -> Iterator[dict[str, Any]]:
    """Let a kernel's own precision judge the FLOPs given as a plain number; a mapping says for itself."""
    for asked, own, flops in itertools.product(
        ("auto", "fp32"), ("fp8", "FP32", "bf16"), (2e12, 0, None, {"fp8": 1e12, "fp32": 1e10}, {"BF16": 3e12})
    ):
        yield _case("accelerator", asked, "main", {"flops": flops, "bytes": 4.4e9, "time": 0.004, "precision": own})


def _against_the_roof() -> Iterator[dict[str, Any]]:
    """Far below, on and above the roof, under the slope, under the flat and without FLOPs."""
    factors = [Fraction(10**6), Fraction(20), Fraction(1.05), Fraction(1), Fraction(0.9999), Fraction(1, 3)]
    for flops, factor in itertools.product((5e9, 6e13, 0), factors):
        yield _timed("accelerator", "auto", "main", {"flops": flops, "bytes": 8.1e8}, factor)
        yield _timed("cpu", "fp32", "L3", {"flops": flops, "bytes": {"L3": 8.1e8}}, factor)


def _large_and_small() -> Iterator[dict[str, Any]]:
    for flops, moved, time in [(1e30, 1e3, 1e16), (1e-3, 1e25, 1e13), (1e-20, 1e-20, 1e-30), (2**53, 2**53 - 1, 1e4)]:
        yield _case("card", "auto", "main", {"flops": flops, "bytes": moved, "time": time})
        yield _case("round", "fp8", "main", {"flops": flops, "bytes": moved})


def _balanced() -> Iterator[dict[str, Any]]:
    """Within 5 % of each other compute and memory are in balance, whichever binds."""
    for ratio in (0.5, 0.94, 0.9499, 0.9501, 0.96, 1.0, 1.04, 1.0526, 1.0527, 1.06, 2.0):
        yield _case("round", "auto", "main", {"flops": 2.0**50 * ratio, "bytes": 2.0**42, "time": 2.5})
        yield _case("card", "fp32", "L2", {"flops": 8.1e12, "bytes": {"L2": 1.27e12 * ratio, "GDDR6": 1.0}})


# FLOPs and bytes on the chip "round": far left of its ridge point, left, on it and right, and without either.
KINDS: Final = [(1e12, 1e12), (1.5e14, 1e12), (256e12, 1e12), (3e15, 1e12), (0, 1e12), (2e14, 0), (0, 0), (None, 1e12)]


def _overlapping() -> Iterator[dict[str, Any]]:
    """Overlap lies between the sum of compute and memory time and the larger of them."""
    for overlap, (flops, moved) in itertools.product((0, 0.25, 0.5, 0.95), KINDS):
        kernel = {"flops": flops, "bytes": moved}
        yield _timed("round", "auto", "main", kernel, Fraction(3, 2), overlap=overlap)
        if overlap in {0, 0.95} and flops:
            yield _timed("accelerator", "fp8", "HBM", kernel, Fraction(4, 5), overlap=overlap)


def _exposed() -> Iterator[dict[str, Any]]:
    """Exposed communication lowers slope and flat alike."""
    for exposed, (flops, moved) in itertools.product((0.2, 0.4, 0.6, 0.999), KINDS):
        yield _timed("round", "auto", "main", {"flops": flops, "bytes": moved}, Fraction(2), exposed_comm=exposed)
    for exposed, overlap in itertools.product((0.125, 0.5), (0, 0.75)):
        for flops, moved in KINDS[:4]:
            kernel = {"flops": flops, "bytes": {"L3": moved, "DRAM": moved}}
            yield _timed("cpu", "fp32", "L3", kernel, Fraction(1), exposed_comm=exposed, overlap=overlap)


def _launched() -> Iterator[dict[str, Any]]:
    """Let launches need their time however little there is to do in each."""
    for overhead, count, (flops, moved) in itertools.product((5e-6, 2.0**-10), (1, 128, 4096), KINDS):
        kernel = {"flops": flops, "bytes": moved, "count": count}
        yield _timed("round", "auto", "main", kernel, Fraction(5, 4), launch_overhead=overhead)
    # As long as the body: the body binds. Longer by more than a tie: the launches do.
    for off in (0, 1e-13, 1e-11):
        yield _case("round", "auto", "main", {"flops": 2.0**50, "bytes": 1, "count": 8}, launch_overhead=(1 + off) / 8)


def _networked() -> Iterator[dict[str, Any]]:
    """Bytes over the link have a time of their own; nought of them or none told is none of it."""
    for word, sent, (flops, moved) in itertools.product(("network", "Network"), (1e9, 6e11, 1e14, 0), KINDS):
        if word == "network" or sent == 6e11:
            kernel = {"flops": flops, "bytes": {"HBM": moved, word: sent}}
            yield _timed("round", "auto", "main", kernel, Fraction(10, 9))
    for sent, level in itertools.product((3e8, 9e11), ("HBM", "L2")):
        sides = {"HBM": 2e10, "L2": 3e10, "network": sent}
        yield _case("accelerator", "auto", level, {"flops": 7e13, "bytes": sides, "time": 0.5, "precision": "fp8"})
    yield _case("accelerator", "auto", "main", {"flops": 7e13, "bytes": {"network": 1e9}})
    for sent in (2.0**38 * (1 + off) for off in (0, 1e-13, 1e-11, -0.04, 0.04, 0.06)):
        yield _case("round", "auto", "main", {"flops": 2.0**50, "bytes": {"HBM": 1, "network": sent}, "time": 1.0})
        yield _case("round", "auto", "main", {"flops": 1, "bytes": {"HBM": 2.0**42, "network": sent}, "time": 3.0})


def _everything() -> Iterator[dict[str, Any]]:
    """Put the link, the launches and half an overlap against each other."""
    for overlap, sent, count in itertools.product((0.5, 1.0), (2.0**36, 2.0**38, 2.0**40), (1, 2**10, 2**12)):
        kernel = {"flops": 2.0**50, "bytes": {"HBM": 2.0**41, "network": sent}, "count": count}
        yield _timed("round", "auto", "main", kernel, Fraction(7, 5), overlap=overlap, launch_overhead=2.0**-10)
    for exposed, count in itertools.product((0.25, 0.5), (1, 2**10, 2**12)):
        kernel = {"flops": 2.0**50, "bytes": 2.0**41, "count": count, "time": 2.0}
        yield _case("round", "fp8", "main", kernel, exposed_comm=exposed, launch_overhead=2.0**-10)


def _classes() -> Iterator[dict[str, Any]]:
    """Charge a class of FLOPs to its own peak at the kernel's precision, its own for all, or else the precision's."""
    flops: list[dict[str, float]] = [
        *({"matmul": 8e13, "vector": 2e12}, {"tensor": 8e13, "transcendental": 3e12}, {"vector": 4e11}),
        *({"Matmul": 1e13, "VECTOR": 0}, {"fp32": 2e12, "vector": 3e11, "tensor": 5e13}),
    ]
    for amount, asked, own in itertools.product(flops, ("auto", "fp8", "fp64"), (None, "FP8", "fp32")):
        yield _timed("engines", asked, "main", {"flops": amount, "bytes": 6e10, "precision": own}, Fraction(3))
    for amount, own in itertools.product(flops, (None, "fp32", "int8")):
        yield _case("card", "auto", "main", {"flops": amount, "bytes": 6e10, "precision": own, "time": 9.0})


# Bytes told of one memory outside the chip "twofold", of the other, of both and of words that name neither.
OUTSIDE: Final[list[Any]] = [
    *(4.4e9, {"HBM": 4.4e9}, {"LPDDR5X": 4.4e9}, {"lpddr5x": 4.4e9, "main": 3e8}, {"hbm": 1e9, "LPDDR5X": 3e8}),
    *({"DRAM": 2e9, "LPDDR5X": 7e7}, {"DRAM": 2e9, "GDDR6": 1e9}, {"main": 5e8, "DRAM": 2e9, "HBM": 1e9}),
    *({"LPDDR5X": 4.4e9, "L2": 9e9, "network": 1e6}, {"LPDDR5X": 0}),
]


def _two_outside() -> Iterator[dict[str, Any]]:
    """Count bytes told of a memory that the chip has at that memory alone, though others lie outside it too."""
    for (at, moved), memory in itertools.product(enumerate(OUTSIDE), ("main", "lpddr5x", "HBM", "DRAM", "L2")):
        asked, flops = ("auto", "fp32")[at % 3 == 0], (2e11, 0)[at % 2]
        yield _timed("twofold", asked, memory, {"flops": flops, "bytes": moved}, Fraction(7, 4))
    # The same words on chips whose main memory another of them names.
    for chip, moved in itertools.product(("accelerator", "card", "cpu"), OUTSIDE[2:8]):
        yield _case(chip, "auto", "main", {"flops": 2e11, "bytes": moved, "time": 0.5})


def _all_levels() -> Iterator[dict[str, Any]]:
    """Let the slowest level whose bytes are known bind; only Python can be asked for all of them."""
    moved = [{"HBM": 1e9, "L2": 1e9}, {"HBM": 1e9, "L2": 9e9}, {"L2": 9e9}, {"HBM": 1e9, "SMEM": 1e15}, 1e9, None, 0]
    for flops, traffic in itertools.product((1e9, 5e12, 0, None), moved):
        yield _case("accelerator", "auto", "all", {"flops": flops, "bytes": traffic, "time": 0.01})
    for flops, traffic in itertools.product((1e9, 5e12), OUTSIDE):
        yield _case("twofold", "auto", "all", {"flops": flops, "bytes": traffic, "time": 0.03})
    # Two levels in balance, a link, and options.
    levels = [{"HBM": 2.0**42, "vmem": 2.0**45 * share, "network": 2.0**37} for share in (0.5, 0.96, 1.03, 4.0)]
    for traffic, flops in itertools.product(levels, (2.0**47, 2.0**52)):
        yield _case("round", "auto", "all", {"flops": flops, "bytes": traffic, "time": 5.0, "count": 3})
        yield _case("round", "fp8", "all", {"flops": flops, "bytes": traffic}, overlap=0.5, launch_overhead=2.0)


def _refused() -> Iterator[dict[str, Any]]:
    """Ask for what a chip lacks: Python raises and names it, the front end has no roof or no bound."""
    for chip, precision, memory, own, quantity, lacking in [
        ("accelerator", "fp64", "main", None, "peak_flops", "fp64"),
        ("card", "bf16", "main", None, "peak_flops", "bf16"),
        ("cpu", "int8", "L3", None, "peak_flops", "int8"),
        ("accelerator", "auto", "VMEM", None, "bandwidth", "VMEM"),
        ("accelerator", "auto", "SMEM", None, "bandwidth", "SMEM"),
        ("card", "auto", "l1", None, "bandwidth", "L1"),
        ("cpu", "auto", "L2", None, "bandwidth", "L2"),
        ("round", "auto", "L2", None, "bandwidth", "L2"),
        ("accelerator", "auto", "main", "fp64", "kernel", "fp64"),
        ("card", "fp16", "main", "fp8", "kernel", "fp8"),
    ]:
        kernel = {"flops": 1e9, "bytes": 1e6, "time": None, "precision": own}
        asked = {"chip": chip, "precision": precision, "memory": memory}
        yield {**asked, "kernel": kernel, "quantity": quantity, "lacking": lacking}


def _timed(
    chip: str, precision: str, memory: str, kernel: dict[str, Any], time: Fraction | float | None, **options: float
) -> dict[str, Any]:
    """Make a case whose time, if it is a fraction, is that many times the bound."""
    if isinstance(time, Fraction):
        bound = _case(chip, precision, memory, kernel, **options)["expected"]["time"]
        time = float(time * Fraction(bound)) if bound else NANOSECOND
    return _case(chip, precision, memory, {**kernel, "time": time}, **options)


def _case(chip: str, precision: str, memory: str, kernel: Mapping[str, Any], **options: float) -> dict[str, Any]:
    whole = {"flops": None, "bytes": None, "time": None, "precision": None, **kernel}
    if whole.get("count") == 1:
        del whole["count"]
    given = {name: value for name, value in options.items() if value != NO_OPTIONS[name]}
    expected = expected_on(CHIPS[chip], precision, memory, whole, given)
    asked = {"chip": chip, "precision": precision, "memory": memory, **({"options": given} if given else {})}
    return {**asked, "kernel": whole, "expected": expected}


def expected_on(
    chip: Mapping[str, Any], precision: str, memory: str, kernel: Mapping[str, Any], given: Mapping[str, float]
) -> dict[str, Any]:
    """Return all quantities of a kernel on a chip, computed as fractions and rounded once."""
    overlap, exposed, overhead = (Fraction({**NO_OPTIONS, **given}[option]) for option in NO_OPTIONS)
    levels = {name.lower(): name for name in chip["memories"]}
    asked = "all" if memory == "all" else levels.get(memory.lower(), "main")
    machine = Machine(
        _fractions(chip["peak_flops"]),
        _fractions(chip["memories"]),
        _fractions({"link": chip.get("link")}),
        chip["default_precision"],
    )
    work = Work(
        _parts(kernel["flops"], ""),
        _parts(kernel["bytes"], "main"),
        time=_fraction(kernel["time"]),
        precision=kernel["precision"],
        count=kernel.get("count", 1),
    )
    found = exact.exact(work, machine, Options(precision, asked, overlap, exposed, overhead))
    judged = [level for level in found.judged if level in found.levels]
    by_level = {
        "memory_time": {level: _double(found.levels[level]) for level in judged},
        "ai": {level: _double(found.intensities[level]) for level in judged},
    }
    expected = {
        "compute_time": _double(found.compute),
        **(by_level if memory == "all" else {key: next(iter(part.values())) for key, part in by_level.items()}),
        "time": _double(found.time),
        "bound_by": _only(found.bound_by),
        "regime": _only(found.regimes),
        "balanced": _only(found.balanced),
        "attainable": _double(found.attainable),
        "attainable_fraction": _double(exact.over(found.attainable, found.peak)),
        "achieved": _double(found.achieved),
        "peak_fraction": _double(exact.over(found.achieved, found.peak)),
        "roof_fraction": _double(exact.over(found.achieved, found.attainable) if found.flops else None),
        "utilization": _double(found.utilization),
        "above_roof": _only(found.above_roof),
    }
    if given or found.sent is not None:
        expected |= {
            "body_time": _double(found.body),
            "network_time": _double(found.network),
            "overhead_time": _double(found.launches),
            "exposed_fraction": _double(found.exposed_share),
        }
    return expected


def _fraction(value: float | None) -> Fraction | None:
    return None if value is None else Fraction(value)


def _fractions(values: Mapping[str, float | None]) -> dict[str, Any]:
    return {key: _fraction(value) for key, value in values.items()}


def _parts(amount: Any, plain: str) -> dict[str, Fraction]:
    """Return amounts by key; a plain number has the key `plain`."""
    parts = amount if isinstance(amount, dict) else {} if amount is None else {plain: amount}
    known = {word.lower(): word.lower() for word in (*exact.CLASSES, exact.NETWORK)}
    return {known.get(key.lower(), key): Fraction(part) for key, part in parts.items()}


def _only(answers: set[Any]) -> Any:
    """Return the one answer. A case within the rounding of a threshold has two, and is none for a file."""
    (answer,) = answers
    return answer


def _double(value: exact.Quantity) -> float | str | None:
    return None if value is None else "inf" if value == exact.INFINITE else float(value)
