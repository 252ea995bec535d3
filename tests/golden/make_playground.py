"""Write `playground.json`: tables as people paste them into the playground, and the numbers of their kernels.

Run `python -m tests.golden.make_playground` to write it anew.

The numbers are computed here with exact fractions. The tests of Python read the same texts with `roofwidget.read`, and
those of the page paste them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

ROWS = [
    ("gemm", Fraction(4_300_000_000_000), Fraction(12_000_000_000), Fraction(12, 1000)),
    ("layer norm", Fraction(5_368_709_120), Fraction(1_073_741_824), Fraction(36, 100_000)),
    ("copy", Fraction(0), Fraction(2_000_000_000), Fraction(1, 1000)),
    ("softmax", Fraction(7, 2) * 10**9, Fraction(10**9), None),
]
RATIOS = [
    ("triad", Fraction(83, 1000), Fraction(15_400_000_000)),
    ("dgemm", Fraction(25, 2), Fraction(880_000_000_000)),
    ("unmeasured", Fraction(3), None),
]
# A chip with round numbers: 1 PFLOP/s and 4 TB/s, so that the ridge point is at 250 FLOP/B.
PEAK, BANDWIDTH = Fraction(10**15), Fraction(4 * 10**12)


def text() -> str:
    """Return the content of the file."""
    content = {
        "peak": float(PEAK),
        "bandwidth": float(BANDWIDTH),
        "work": {"text": _text("name,FLOPs,bytes,time", ROWS), "kernels": [_of_work(*row) for row in ROWS]},
        "ratios": {"text": _text("name,intensity,rate", RATIOS), "kernels": [_of_ratios(*row) for row in RATIOS]},
    }
    return json.dumps(content, indent=1) + "\n"


def _text(header: str, rows: list[Any]) -> str:
    lines = (",".join([name, *("" if one is None else repr(float(one)) for one in numbers)]) for name, *numbers in rows)
    return "\n".join([header, *lines]) + "\n"


def _of_work(name: str, flops: Fraction, moved: Fraction, time: Fraction | None) -> dict[str, Any]:
    bound = max(flops / PEAK, moved / BANDWIDTH)
    return {
        "name": name,
        "intensity": float(flops / moved),
        "rate": None if time is None else float(flops / time),
        "bound": float(bound),
        "bound_by": "compute" if flops / PEAK >= moved / BANDWIDTH else "HBM",
        "utilization": None if time is None else float(bound / time),
    }


def _of_ratios(name: str, intensity: Fraction, rate: Fraction | None) -> dict[str, Any]:
    attainable = min(PEAK, intensity * BANDWIDTH)
    return {
        "name": name,
        "intensity": float(intensity),
        "rate": None if rate is None else float(rate),
        "bound": None,
        "bound_by": "compute" if intensity * BANDWIDTH >= PEAK else "HBM",
        "utilization": None if rate is None else float(rate / attainable),
    }


if __name__ == "__main__":
    Path(__file__).with_name("playground.json").write_text(text(), encoding="utf-8", newline="\n")
