"""A random search: `bound` on 10,000 kernels, chips and options gives what exact fractions give.

The fractions are those of `tests/golden/golden_roofline.py`, which imports nothing of the package. A failure
names the seed; set ROOFWIDGET_SEED to it to repeat the search.
"""

from __future__ import annotations

import math
import os
import random
from fractions import Fraction
from typing import Any, Final

import numpy as np

import roofwidget as rw
from tests.golden import golden_roofline

CHIPS: Final = 250
KERNELS: Final = 40
# Each result is a few roundings of doubles away from the exact one.
CLOSE: Final = 1e-13
NUMBERS: Final = (
    *("compute_time", "time", "attainable", "attainable_fraction", "achieved", "peak_fraction", "roof_fraction"),
    "utilization",
)
OF_OPTIONS: Final = ("body_time", "network_time", "overhead_time")
WORDS: Final = ("bound_by", "regime", "balanced", "above_roof")
PRECISIONS: Final = ("bf16", "fp16", "fp32", "fp64", "fp8", "int8", "bf16_vector", "fp16_tensor", "vector", "tensor")
LEVELS: Final = ("L2", "L1", "VMEM", "SMEM", "LPDDR5X")


def amount(draw: random.Random, low: float, high: float) -> float:
    """Return a number on a logarithmic scale, sometimes a power of two, so that ties occur."""
    exponent = draw.uniform(math.log2(low), math.log2(high))
    return 2.0 ** round(exponent) if draw.random() < 0.3 else 2.0**exponent


def figures(draw: random.Random) -> dict[str, Any]:
    names = draw.sample(PRECISIONS[:6], draw.randint(1, 5)) + draw.sample(PRECISIONS[6:], draw.randint(0, 3))
    main = draw.choice(("HBM", "DRAM", "GDDR6", "LPDDR5", "SRAM"))
    others = draw.sample(LEVELS, draw.randint(0, 3))
    return {
        "peak_flops": {name: amount(draw, 1e9, 1e17) for name in names},
        "memories": {main: amount(draw, 1e9, 1e14)}
        | {name: None if draw.random() < 0.2 else amount(draw, 1e9, 1e15) for name in others},
        "default_precision": names[0],
        **({"link": amount(draw, 1e9, 1e13)} if draw.random() < 0.7 else {}),
    }


def options(draw: random.Random) -> dict[str, float]:
    return {
        "overlap": draw.choice((1.0, 1.0, 0.0, draw.random())),
        "exposed_comm": draw.choice((0.0, 0.0, 0.25, draw.uniform(0, 0.99))),
        "launch_overhead": draw.choice((0.0, 0.0, amount(draw, 1e-9, 1e-3))),
    }


def kernel(draw: random.Random, chip: dict[str, Any], *, may_send: bool) -> dict[str, Any]:
    def work() -> float:
        return 0.0 if draw.random() < 0.1 else amount(draw, 1.0, 1e18)

    own = [name for name in chip["peak_flops"] if name in PRECISIONS[:6]]
    flops = draw.choice((work(), None, {word: work() for word in draw.sample([*own, "vector", "tensor"], 2)}))
    levels = [*chip["memories"], "L9", *(["network"] if may_send and "link" in chip else [])]
    moved = draw.choice((work(), work(), None, {name: work() for name in draw.sample(levels, min(3, len(levels)))}))
    if draw.random() < 0.7:
        flops = work()
    return {
        "flops": flops,
        "bytes": moved,
        "time": draw.choice((None, amount(draw, 1e-9, 10.0))),
        "precision": draw.choice((None, draw.choice(own))),
        "count": draw.choice((1, 1, draw.randint(2, 1_000))),
    }


def differing(bound: rw.Bound, row: int, expected: dict[str, Any]) -> dict[str, Any]:
    """Return the quantities of a row that are not those of exact fractions."""
    pairs: dict[str, tuple[float, Any]] = {name: (getattr(bound, name)[row], expected[name]) for name in NUMBERS}
    pairs |= {name: (getattr(bound, name)[row], expected[name]) for name in OF_OPTIONS if name in expected}
    levels = expected["memory_time"]
    if isinstance(levels, dict):
        for name in ("memory_time", "ai"):
            columns = getattr(bound, name)
            for level, value in expected[name].items():
                pairs[f"{name} {level}"] = (columns[level][row] if level in columns else math.nan), value
    found: dict[str, Any] = {name: pair for name, pair in pairs.items() if not same(*pair)}
    words = {name: (getattr(bound, name)[row], expected[name]) for name in WORDS}
    found |= {name: pair for name, pair in words.items() if pair[0] != pair[1]}
    # A difference of two times has the rounding of the larger time.
    exposed = expected.get("exposed_fraction")
    if exposed is not None and abs(float(bound.exposed_fraction[row]) - exposed) > CLOSE:
        found["exposed_fraction"] = (bound.exposed_fraction[row], exposed)
    measured, time = float(bound.measured[row]), expected["time"]
    # A kernel without work has no headroom: no roof explains its time.
    headroom = math.nan if not time or math.isnan(measured) else float(Fraction(measured) - Fraction(time))
    error = abs(float(bound.headroom[row]) - headroom)
    if math.isnan(headroom) != math.isnan(bound.headroom[row]) or error > CLOSE * max(measured, float(time or 0)):
        found["headroom"] = (bound.headroom[row], headroom)
    return found


def same(found: float, expected: float | str | None) -> bool:
    if expected is None:
        return bool(np.isnan(found))
    return math.isclose(found, float(expected), rel_tol=CLOSE, abs_tol=0.0)


def test_10_000_random_kernels_have_the_bounds_of_exact_fractions() -> None:
    seed = int(os.environ.get("ROOFWIDGET_SEED", random.SystemRandom().randrange(2**32)))
    print(f"seed {seed}")  # noqa: T201 - shown if the test fails
    draw = random.Random(seed)  # noqa: S311 - no secret
    wrong: list[Any] = []
    for _ in range(CHIPS):
        chip, given = figures(draw), options(draw)
        rated = [name for name, rate in chip["memories"].items() if rate is not None]
        precision = draw.choice(("auto", draw.choice([name for name in chip["peak_flops"] if name in PRECISIONS[:6]])))
        memory = draw.choice(("main", "all", draw.choice(rated)))
        kernels = [kernel(draw, chip, may_send=given["exposed_comm"] == 0) for _ in range(KERNELS)]
        rest = {name: value for name, value in chip.items() if name != "link"}
        made = rw.Chip("drawn", **rest, links={"Link": chip["link"]} if "link" in chip else {})
        for level in rated:
            ridge = Fraction(chip["peak_flops"][made.precision(precision)]) / Fraction(chip["memories"][level])
            assert math.isclose(made.ridge_point(precision, level), float(ridge), rel_tol=CLOSE)
        bound = rw.bound([{"name": "k", **one} for one in kernels], made, precision=precision, memory=memory, **given)
        for row, one in enumerate(kernels):
            expected = golden_roofline.expected_on(chip, precision, memory, one, given)
            if found := differing(bound, row, expected):
                wrong.append((chip, precision, memory, given, one, found))
    assert not wrong, f"seed {seed}: {len(wrong)} of {CHIPS * KERNELS:,} differ, such as {wrong[0]}"
