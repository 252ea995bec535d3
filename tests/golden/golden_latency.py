"""The cases of latency.json, in exact fractions of the doubles that are given. Nothing of the package is imported.

Little's law: ``bytes in flight = bandwidth x latency``, so the rate is at most ``min(bandwidth, bytes in flight /
latency)``. No launch has more bytes in flight than it moves. Seconds are those of all launches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

# Bandwidths and latencies: an H100, an A100, a CPU, and powers of two whose product is a power of two.
LEVELS: Final = {
    "accelerator": (3.35e12, 600e-9),
    "a100": (2.04e12, 391.5e-9),
    "cpu": (20.48e9, 130e-9),
    "round": (2.0**40, 2.0**-20),
}
SIZES: Final = [0, 1, 64, 128, 4096, 5e5, 2.0**20, 2.0**20 + 1, 2.0**20 - 1, 2010000, 7.9e8, 1e12]
COUNTS: Final = [1, 3, 1000]
# What is known of a launch: bytes in flight; or threads, waves and bytes per thread.
KNOWN: Final[list[dict[str, float]]] = [
    {},
    {"in_flight": 64},
    {"in_flight": 1536.0},
    {"threads": 32, "bytes_per_thread": 4},
    {"threads": 270336, "bytes_per_thread": 16, "waves": 0.5},
    {"threads": 540672, "bytes_per_thread": 16, "waves": 2.0},
    {"threads": 540672, "bytes_per_thread": 16, "waves": 2.5},
]
SHARES: Final = [0, 0.25, 0.5, 0.75, 0.9, 0.99]
WAVES: Final = [(109, 108, 1), (108, 108, 1), (25, 108, 1), (216, 108, 2), (217, 108, 2), (133, 132, 1), (1, 132, 16)]


def latency() -> dict[str, Any]:
    return {
        "levels": {name: {"bandwidth": rate, "latency": seconds} for name, (rate, seconds) in LEVELS.items()},
        "cases": list(_cases()),
        "needed": [{"level": name, "bytes": float(_needed(name))} for name in LEVELS],
        "reach": [
            {"level": name, "share": share, "bytes": float(Fraction(share) / (1 - Fraction(share)) * _needed(name))}
            for name, share in itertools.product(LEVELS, SHARES)
        ],
        "waves": [
            {
                "blocks": blocks,
                "units": units,
                "blocks_per_unit": each,
                "waves": float(Fraction(blocks, units * each)),
                "tail": blocks % (units * each),
                "efficiency": float(Fraction(blocks, units * each * math.ceil(Fraction(blocks, units * each)))),
            }
            for blocks, units, each in WAVES
        ],
    }


def _needed(level: str) -> Fraction:
    bandwidth, seconds = LEVELS[level]
    return Fraction(bandwidth) * Fraction(seconds)


def _cases() -> Iterator[dict[str, Any]]:
    for at, (level, size, known) in enumerate(itertools.product(LEVELS, SIZES, KNOWN)):
        count = COUNTS[at % len(COUNTS)]
        bandwidth, seconds = map(Fraction, LEVELS[level])
        flying = min(_in_flight(Fraction(size), known), Fraction(size))
        rate = min(bandwidth, flying / seconds)
        yield {
            "level": level,
            "bytes": size * count,
            "count": count,
            **known,
            "expected": {
                "in_flight": float(flying),
                "attainable_bandwidth": float(rate),
                "time": float(Fraction(size * count) / rate) if size else 0.0,
                "is_below_bandwidth": flying < bandwidth * seconds,
            },
        }


def _in_flight(size: Fraction, known: dict[str, float]) -> Fraction:
    if "in_flight" in known:
        return Fraction(known["in_flight"])
    if "bytes_per_thread" in known:
        at_once = Fraction(known["threads"]) / max(Fraction(1), Fraction(known.get("waves", 1)))
        return at_once * Fraction(known["bytes_per_thread"])
    return size
