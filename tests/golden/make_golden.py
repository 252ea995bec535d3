"""Write the golden files that pytest and vitest both hold the code to. Run this file to write them anew.

Nothing of the package is imported here: the roofline follows from its definitions in exact fractions of the very
doubles that the code is given, formatting from decimal rounding (ties to even) of the exact value of a double, parsing
from exact fractions, and the guide's tables are what the guide prints.

In the files null is NaN (unknown) and ``"inf"`` is infinity; every other number is written so that it reads back as
the same double.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent

# -- roofline.json -----------------------------------------------------------------------------------------------------

CHIPS: Final[dict[str, dict[str, Any]]] = {
    "accelerator": {
        "peak_flops": {"bf16": 989.5e12, "fp8": 1979e12, "fp32": 67e12},
        "memories": {"HBM": 3.35e12, "L2": 5.5e12, "SMEM": None},
        "default_precision": "bf16",
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
    },
}
# What is asked of each chip: a precision and a memory.
CHOICES: Final = {
    "accelerator": [("auto", "main"), ("fp8", "HBM"), ("BF16", "hbm"), ("fp32", "L2"), ("Fp8", "l2"), ("auto", "DRAM")],
    "card": [("auto", "main"), ("int8", "HBM"), ("FP16", "GDDR6"), ("fp32", "L2"), ("auto", "hbm"), ("fp16", "l2")],
    "cpu": [("auto", "main"), ("fp64", "DRAM"), ("FP32", "dram"), ("fp32", "L3"), ("auto", "HBM"), ("fp64", "l3")],
    "round": [("auto", "main"), ("fp8", "HBM"), ("BF16", "hbm"), ("fp32", "VMEM"), ("auto", "vmem"), ("bf16", "main")],
}
# Words for the memory outside the chip that these cases use.
OFF_CHIP: Final = {"hbm", "gddr6", "dram"}
TIE: Final = Fraction(1, 10**12)
# Beating a bound by no more than this is rounding.
ROUNDING: Final = Fraction(1, 10**9)
NANOSECOND: Final = 1e-9


def roofline() -> dict[str, Any]:
    cases = [*_crossed(), *_on_the_ridge(), *_own_precision(), *_against_the_roof(), *_large_and_small()]
    return {"chips": CHIPS, "cases": cases, "all_levels": list(_all_levels()), "refused": list(_refused())}


def _crossed() -> Iterator[dict[str, Any]]:
    """Cross every form of FLOPs with every form of bytes; choice, time and own precision go round at other periods."""
    for name, chip in CHIPS.items():
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
        kernel = {"flops": flops, "bytes": 4.4e9, "time": 0.004, "precision": own}
        yield _case("accelerator", asked, "main", kernel)


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


def _all_levels() -> Iterator[dict[str, Any]]:
    """Let the slowest level whose bytes are known bind; only Python can be asked for all of them."""
    moved = [{"HBM": 1e9, "L2": 1e9}, {"HBM": 1e9, "L2": 9e9}, {"L2": 9e9}, {"HBM": 1e9, "SMEM": 1e15}, 1e9, None, 0]
    for flops, traffic in itertools.product((1e9, 5e12, 0, None), moved):
        kernel = {"flops": flops, "bytes": traffic, "time": 0.01, "precision": None}
        of_level = {level: _bytes_at("accelerator", level, traffic) for level in ("HBM", "L2")}
        known = {level: amount for level, amount in of_level.items() if amount is not None}
        times = {level: amount / Fraction(CHIPS["accelerator"]["memories"][level]) for level, amount in known.items()}
        slowest = max(times, key=lambda level: times[level], default="HBM")
        expected = _expected("accelerator", "auto", slowest, kernel)
        yield {"chip": "accelerator", "precision": "auto", "memory": "all", "kernel": kernel, "expected": expected}


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
        asked = {"chip": chip, "precision": precision, "memory": memory, "kernel": kernel}
        yield {**asked, "quantity": quantity, "lacking": lacking}


def _timed(
    chip: str, precision: str, memory: str, kernel: dict[str, Any], time: Fraction | float | None
) -> dict[str, Any]:
    """Make a case whose time, if it is a fraction, is that many times the bound."""
    if isinstance(time, Fraction):
        bound = _case(chip, precision, memory, kernel)["expected"]["time"]
        time = float(time * Fraction(bound)) if bound else NANOSECOND
    return _case(chip, precision, memory, {**kernel, "time": time})


def _case(chip: str, precision: str, memory: str, kernel: Mapping[str, Any]) -> dict[str, Any]:
    whole = {"flops": None, "bytes": None, "time": None, "precision": None, **kernel}
    expected = _expected(chip, precision, memory, whole)
    return {"chip": chip, "precision": precision, "memory": memory, "kernel": whole, "expected": expected}


def _expected(name: str, precision: str, memory: str, kernel: Mapping[str, Any]) -> dict[str, Any]:
    chip = CHIPS[name]
    peaks = {key: Fraction(value) for key, value in chip["peak_flops"].items()}
    level = _level(name, memory)
    asked = chip["default_precision"] if precision == "auto" else precision.lower()
    flops = _flops_by_precision(kernel["flops"], (kernel["precision"] or asked).lower())
    total = None if flops is None else sum(flops.values(), Fraction(0))
    moved = _bytes_at(name, level, kernel["bytes"])
    measured = Fraction(kernel["time"]) if kernel["time"] else None

    compute = None if flops is None else sum((part / peaks[key] for key, part in flops.items()), Fraction(0))
    transfer = None if moved is None else moved / Fraction(chip["memories"][level])
    time = None if compute is None or transfer is None else max(compute, transfer)
    regime = "unknown"
    if time is not None and compute is not None and transfer is not None:
        regime = "compute" if compute >= transfer * (1 - TIE) else "memory"
    # The peak that judges a kernel of several precisions is its FLOPs over the time that they take at their peaks.
    peak = total / compute if total and compute else peaks[asked]
    attainable, achieved, utilization = _ratio(total, time), _ratio(total, measured), _ratio(time, measured)
    return {
        "compute_time": _double(compute),
        "memory_time": _double(transfer),
        "time": _double(time),
        "bound_by": level if regime == "memory" else regime,
        "regime": regime,
        "ai": _double(_ratio(total, moved)),
        "attainable": _double(attainable),
        "attainable_fraction": _double(_ratio(attainable, peak)),
        "achieved": _double(achieved),
        "peak_fraction": _double(_ratio(achieved, peak)),
        "utilization": _double(utilization),
        "above_roof": isinstance(utilization, Fraction) and utilization > 1 + ROUNDING,
    }


def _level(name: str, memory: str) -> str:
    levels: list[str] = list(CHIPS[name]["memories"])
    return next((level for level in levels if level.lower() == memory.lower()), levels[0])


def _flops_by_precision(flops: Any, plain: str) -> dict[str, Fraction] | None:
    if flops is None:
        return None
    parts = flops if isinstance(flops, dict) else {plain: flops}
    return {key.lower(): Fraction(part) for key, part in parts.items()}


def _bytes_at(name: str, level: str, moved: Any) -> Fraction | None:
    """Bytes at a level: its own; for the main memory also those told of another memory outside the chip."""
    is_main = level == next(iter(CHIPS[name]["memories"]))
    if not isinstance(moved, dict):
        return Fraction(moved) if moved is not None and is_main else None
    if level in moved:
        return Fraction(moved[level])
    outside = [Fraction(part) for key, part in moved.items() if is_main and key.lower() in OFF_CHIP]
    return sum(outside, Fraction(0)) if outside else None


def _ratio(top: Fraction | float | None, bottom: Fraction | None) -> Fraction | float | None:
    """Divide: unknown by anything and zero by zero are unknown, anything else by zero is infinite."""
    if top is None or bottom is None or (top == 0 and bottom == 0):
        return None
    return top / bottom if bottom else math.inf


def _double(value: Fraction | float | None) -> float | str | None:
    return None if value is None else "inf" if value == math.inf else float(value)


# -- units.json --------------------------------------------------------------------------------------------------------

PREFIXES: Final = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"]
SPECIAL: Final = {"nan": "unknown", "inf": "∞", "-inf": "-∞"}
NUMBERS: Final[list[float | str]] = [
    *(0, 1, 2, 5, 9, 10, 12, 99, 100, 999, 1000, 1024, 9999, 10000, 65536, 123456789),
    # Ties, which go to even: 1.25 is exact in binary, 1.15 is a little less and 1.35 a little more than it says.
    *(0.5, 1.5, 2.5, 3.5, 0.25, 0.125, 0.375, 1.25, 1.75, 1.15, 1.35, 2.675, 12.5, 13.5, 112.5, 1112.5, 1113.5),
    *(1250, 1350, 2.5e12, 1.125e15, 320.25, 640.625, 573.75, 0.0625, 2**-20, 3 * 2**-12, 1.0000000000000002),
    # Carries into another digit and another prefix.
    *(9.5, 9.95, 9.995, 99.5, 99.95, 999.4, 999.5, 999.95, 999.995, 9995, 9999.5, 9999.4, 999500, 999.5e9, 999.95e12),
    *(0.9995, 0.09995, 9.9996e-7, 999.6e-9, 999.96e21, 999.96e24),
    # Rates, times and intensities people meet.
    *(989.5e12, 3.35e12, 2.307e15, 7.2e12, 1.979e15, 4614e12, 107.7894736842105, 1.66665, 3120.761904761905),
    *(3.1e-5, 8.5e-6, 1.2e-10, 4.7e-13, 0.00123, 60, 3600, 86400),
    # As large and as small as doubles go.
    *(1e24, 1.5e27, 1e100, 1e308, 1.7976931348623157e308, 2.2250738585072014e-308, 1e-310, 5e-324, 1.5e-323),
    *(-1.25, -2.5, -999.95, -3.1e-5, -1e308, -0.0),
    *("nan", "inf", "-inf"),
]
# Texts, "|" between two.
PARSED: Final = {
    "FLOP/s": "2 PFLOP/s|1.2e15|989.5TFLOPS|989.5 TFLOP/s|989.5 TFLOPs/s|67 T|67T|1 k|1 K|3 M|4.3 GFLOPs/sec"
    "|4.3 Gflop/s|4.3 Gflops|4.3 GFlops|197 TOPS|197 TOP/s|1e3 kOPs/s|1.1 EFLOP/s|1.102 EFLOPS|2 ZFLOP/s|2 YFLOPS"
    "|.5 PFLOP/s|5. PFLOP/s|+5 PFLOP/s|  7 TFLOP/s\n|7\u00a0TFLOP/s|2E15|2e+15 FLOP/s|2e-3 PFLOP/s|0.1 TFLOP/s|0.3 T"
    "|1.1e-1 PFLOP/s|8.1 T|1e308|1e293 PFLOP/s|9007199254740993|123456789012345678901234567890|4.35 kFLOP/s"
    "|9007199254740993.0000000000000000001 FLOP/s",
    "B/s": "3.35 TB/s|820 GiB/s|819 GB/s|204.8 GB/s|204.8GB/s|1 B/s|1 byte/s|12 bytes/s|12 Mbytes/sec|7.2e12|7.2 T"
    "|900 GBps|1.5 TiB/s|1 KiB/s|3.7 MiB/s|2 PiB/s|1 EiB/s|0.1 GiB/s|1e3 GiB/s|64 kB/s|64 KB/s|1.8 TBytes/s"
    "|2.765e3 GB/s|\t2 TB/s ",
}
# Texts that are refused, by what is wrong with them.
REFUSED: Final = {
    "FLOP/s": {
        "number": "| |fast|nan|inf|-inf|TFLOP/s|e15|.|+|∞ FLOP/s|unknown|\u0661\u0662 T",
        "unit": "2 TB/s|989.5 TFLOPs|2 TFLOP|2 PFLOP / s|2 P FLOP/s|2 TiFLOP/s|2 Ti|2 mFLOP/s|1,000|1_000|0x10|1.2.3|2e"
        "|2 e15|2 t|2 p|5 furlongs|2 TFLOP/s 3|10 %|1 2 T|2 tflop/s|2 constructor",
        "size": "1e309|1e300 PFLOP/s|1.8e308|1e1000000|1e99999999999999999999",
    },
    "B/s": {
        "number": "|TB/s|x",
        "unit": "3.35 TFLOP/s|3.35 TB|3.35 Tb/s|900 Gbps|1 mB/s|1 µB/s|1 GiBs|1 kiB/s|1 Gi|5 s",
        "size": "1e309|1e300 TB/s|1e300 TiB/s",
    },
}
POWERS: Final[dict[str, int]] = {prefix: 3 * (index - 4) for index, prefix in enumerate(PREFIXES)} | {"K": 3}
BINARY: Final[dict[str, int]] = {f"{prefix}i": 10 * (index + 1) for index, prefix in enumerate("KMGTPE")}


def units() -> dict[str, Any]:
    all_digits, some = (1, 2, 3, 4), (3,)
    shown = {"FLOP/s": all_digits, "s": all_digits, "B/s": some, "B": some, "FLOP": some}
    quantities = [(value, unit, n) for value in NUMBERS for unit, digits in shown.items() for n in digits]
    reasons = [(unit, why, texts) for unit, of_unit in REFUSED.items() for why, texts in of_unit.items()]
    return {
        "significant": [
            {"value": value, "digits": n, "text": _significant(value, n)}
            for value in NUMBERS
            for n in (*all_digits, 15)
        ],
        "quantity": [
            {"value": v, "unit": unit, "digits": n, "text": _quantity(v, unit, n)} for v, unit, n in quantities
        ],
        "intensity": [{"value": v, "digits": n, "text": _intensity(v, n)} for v in NUMBERS for n in (2, 3, 4)],
        "parse": [
            {"text": text, "unit": unit, "value": float(_exact(text))}
            for unit, texts in PARSED.items()
            for text in texts.split("|")
        ],
        "refused": [
            {"text": text, "unit": unit, "why": why} for unit, why, texts in reasons for text in texts.split("|")
        ],
    }


def _exact(text: str) -> Fraction:
    """Read a number and the prefix of its unit."""
    plain = text.strip()
    length = max(n for n in range(len(plain) + 1) if _is_number(plain[:n]))
    number, suffix = Fraction(plain[:length]), plain[length:].strip()
    binary = next((power for prefix, power in BINARY.items() if suffix.startswith(prefix)), None)
    if binary is not None:
        return number * Fraction(2) ** binary
    bare = {"FLOP", "Flop", "flop", "OP", "B", "b"}
    prefix = suffix[:1] if suffix and not any(suffix.startswith(word) for word in bare) else ""
    return number * Fraction(10) ** POWERS[prefix]


def _is_number(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return text == text.strip()


def _rounded(value: float, digits: int) -> Decimal:
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)
    return context.plus(Decimal(value))


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaled(value: float, digits: int, unit: str, powers: range, plain_below: int = 0) -> str:
    """Write with the SI prefix that leaves one to three digits before the point, within the prefixes that are used."""
    rounded = _rounded(value, digits)
    power = 0 if 0 <= rounded.adjusted() < plain_below else rounded.adjusted() // 3 * 3
    power = max(powers[0], min(powers[-1], power))
    return f"{_plain(rounded.scaleb(-power, Context(prec=50)))} {PREFIXES[power // 3 + 4]}{unit}"


def _significant(value: float | str, digits: int) -> str:
    if isinstance(value, str):
        return SPECIAL[value]
    return _plain(_rounded(value, digits)) if value else "0"


def _quantity(value: float | str, unit: str, digits: int) -> str:
    if isinstance(value, str):
        return SPECIAL[value] if value == "nan" else f"{SPECIAL[value]} {unit}"
    if not value:
        return f"0 {unit}"
    return _scaled(value, digits, unit, range(-12, 1) if unit == "s" else range(25))


def _intensity(value: float | str, digits: int) -> str:
    if isinstance(value, str) or not value:
        return _quantity(value, "FLOP/B", digits)
    return _scaled(value, digits, "FLOP/B", range(25), plain_below=4)


# -- guide.json --------------------------------------------------------------------------------------------------------

# As "Roofline Analysis: A Practical Guide" prints them.
HARDWARE: Final = """
v7x (fp8)       | 4614   TFLOPS   | 7.2   TB/s  | 640.8  FLOP/Byte
v7x (bf16)      | 2307   TFLOPS   | 7.2   TB/s  | 320.4  FLOP/Byte
v6e             | 918    TFLOPS   | 1.6   TB/s  | 573.8  FLOP/Byte
v5p             | 459    TFLOPS   | 2.76  TB/s  | 166.3  FLOP/Byte
"""
OPERATIONS: Final = """
Operation          |     AI |      v7x (fp8)       |      v7x (bf16)      |         v6e          |         v5p
LayerNorm          |    1.7 |     12T (  0%) MEM   |     12T (  1%) MEM   |      3T (  0%) MEM   |      5T (  1%) MEM
Attention QK^T     |  107.8 |    776T ( 17%) MEM   |    776T ( 34%) MEM   |    172T ( 19%) MEM   |    297T ( 65%) MEM
MatMul 600x600     |  200.0 |   1440T ( 31%) MEM   |   1440T ( 62%) MEM   |    320T ( 35%) MEM   |    459T (100%) COMP
FFN Up Proj        | 3120.8 |   4614T (100%) COMP  |   2307T (100%) COMP  |    918T (100%) COMP  |    459T (100%) COMP
"""
# "compute-bound at N ~ ...+": three times the ridge point, cut to an integer; the first size is one above.
SIZES: Final = {"v7x (fp8)": 1922, "v7x (bf16)": 961, "v6e": 1721, "v5p": 498}


def guide() -> dict[str, Any]:
    hardware = [[cell.strip() for cell in line.split("|")] for line in HARDWARE.strip().splitlines()]
    header, *rows = [[cell.strip() for cell in line.split("|")] for line in OPERATIONS.strip().splitlines()]
    return {
        "hardware": [
            {"name": name, "peak": peak.split()[0], "bandwidth": bandwidth.split()[0], "ridge": ridge.split()[0]}
            for name, peak, bandwidth, ridge in hardware
        ],
        "operations": [
            {"name": name, "ai": ai, "cells": dict(zip(header[2:], cells, strict=True))} for name, ai, *cells in rows
        ],
        "sizes": [{"name": name, "size": size} for name, size in SIZES.items()],
    }


# -- writing -----------------------------------------------------------------------------------------------------------


def files() -> dict[str, str]:
    """Return the text of each golden file by its name."""
    made = {"roofline.json": roofline(), "units.json": units(), "guide.json": guide()}
    return {name: _text(content) for name, content in made.items()}


def _text(content: Mapping[str, Any]) -> str:
    """Write JSON with one entry a line, so that a change of a case is a change of its line."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(part)}" for key, part in content.items()) + "\n}\n"


def _lines(part: Any) -> str:
    if isinstance(part, dict):
        return "{\n" + ",\n".join(f"{json.dumps(key)}: {_line(value)}" for key, value in part.items()) + "\n}"
    return "[\n" + ",\n".join(_line(entry) for entry in part) + "\n]"


def _line(entry: Any) -> str:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False)


if __name__ == "__main__":
    for file_name, file_text in files().items():
        (HERE / file_name).write_text(file_text, encoding="utf-8", newline="\n")
