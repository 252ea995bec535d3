"""Write the golden file of the instruction roofline. Run this file to write it anew.

Nothing of the package is imported here. Peaks and roofs are those that Ding and Williams (PMBS 2019) and Leinhauser et
al. (2022) print; walls are exact fractions; the counts of kernels are derived by hand from `tests/gpu/slow.cu`.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
WARPS: Final = 65536 * 256 // 32
SMS: Final = 132
READS: Final = 4096 * SMS * 8 * 256 // 32
STORES: Final = SMS * 8 * 256 // 32


def _sectors(stride: int, size: int) -> int:
    """Return the sectors of 32 lanes: the span of the last lane, but never more than a sector each lane."""
    return 1 if stride == 0 else min(32, max(1, -(-32 * stride * size // 32)))


def golden() -> dict[str, Any]:
    """Return the content of the file."""
    strides = [(stride, size) for size in (4, 8) for stride in (0, 1, 2, 4, 8, 16, 32)]
    walls = [
        ("stride 0", "global", Fraction(1)),
        ("stride 1, 4 B", "global", Fraction(1, 4)),
        ("stride 1, 8 B", "global", Fraction(1, 8)),
        ("stride 8 and more, 4 B", "global", Fraction(1, 32)),
        ("no bank conflict", "shared", Fraction(1)),
        ("32-way bank conflict", "shared", Fraction(1, 32)),
    ]
    return {
        "peaks": [
            {"chip": "V100", "vendor": "NVIDIA", "family": "Volta", "units": "80 SM", "clock": 1.53e9, "gips": 489.6},
            {"chip": "MI60", "vendor": "AMD", "family": "CDNA", "units": "64 CU", "clock": 1.8e9, "gips": 115.2},
            {"chip": "MI100", "vendor": "AMD", "family": "CDNA", "units": "120 CU", "clock": 1.502e9, "gips": 180.24},
        ],
        # Bytes/s as measured by the paper, and the GTXN/s that it prints.
        "roofs": [
            {"level": "L1", "bandwidth": 14e12, "gtxn": 437.5},
            {"level": "L2", "bandwidth": 2996.8e9, "gtxn": 93.6},
            {"level": "HBM", "bandwidth": 828.8e9, "gtxn": 25.9},
            {"level": "shared", "bandwidth": 14e12, "gtxn": 109.3},
        ],
        "strides": [{"stride": a, "size": size, "sectors": _sectors(a, size)} for a, size in strides],
        "walls": [{"name": name, "space": space, "of": [one.numerator, one.denominator]} for name, space, one in walls],
        "kernels": {
            "stream_triad": {"global": [2**20 + 2**19, 16 * (2**20 + 2**19)]},
            "strided_read<0>": {"global": [2 * WARPS, WARPS * (1 + 4)]},
            "strided_read<1>": {"global": [2 * WARPS, WARPS * (4 + 4)]},
            "strided_read<8>": {"global": [2 * WARPS, WARPS * (32 + 4)]},
            "strided_read<32>": {"global": [2 * WARPS, WARPS * (32 + 4)]},
            "shared_read<1>": {"shared": [READS + 4 * STORES, READS + 4 * STORES], "global": [STORES, 4 * STORES]},
            "shared_read<2>": {"shared": [READS + 4 * STORES, 2 * READS + 4 * STORES], "global": [STORES, 4 * STORES]},
            "shared_read<32>": {
                "shared": [READS + 4 * STORES, 32 * READS + 4 * STORES],
                "global": [STORES, 4 * STORES],
            },
        },
    }


if __name__ == "__main__":
    text = json.dumps(golden(), indent=1) + "\n"
    (HERE / "instruction_roofline.json").write_text(text, encoding="utf-8")
