"""Write the golden files that pytest and vitest both hold the code to.

Run `python -m tests.golden.make_golden` to write them anew. Nothing of the package is imported here:
the roofline follows from its definitions in exact fractions of the very doubles that the code is given
(`golden_roofline.py`), and so do the latency roofs (`golden_latency.py`), formatting from decimal rounding (ties to
even) of the exact value of a double, parsing from exact fractions, and the guide's tables are what the guide prints.

In the files null is NaN (unknown) and ``"inf"`` is infinity; every other number is written so that it reads back as
the same double.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent

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
# Shares as doubles: of a roof, of a peak, of the time.
SHARES: Final[list[float | str]] = [
    *(0, 0.00677, 0.0123, 0.04567, 0.0985, 0.0995, 0.0996, 0.1, 0.125, 0.135, 0.34, 0.5, 0.655, 0.7999, 0.9949),
    # Beside 100 %: never "100 %", except within rounding of it.
    *(0.995, 0.9951, 0.99501, 0.9961, 0.999, 0.9999, 0.99996, 0.999999, 0.99999999, 0.999999998, 0.9999999995),
    *(1, 1.0000000000000002, 0.9999999999999999, 1.0000000005, 1.000000002, 1.00000001, 1.0004, 1.001, 1.002, 1.0049),
    *(1.005, 1.0051, 1.015, 1.25, 9.995, 10, 12.304, 12.34, 12.345, 12.3456, 123.45, 1e6, 1.23456789e9, 1e20, 1e300),
    *("nan", "inf"),
]
# Factors, and ratios with one decimal.
RATIOS: Final = [
    *(1, 1.04, 1.05, 1.0502, 1.094, 1.0999, 1.1, 0.9, 0.904, 0.9001, 0.954, 1.15, 1.25, 1.35, 1.75, 2.25, 2.5, 2.96),
    *(3.05, 4, 9.25, 9.94, 9.95, 9.96, 10, 10.5, 11.5, 12.4, 12.5, 99.5, 100.5, 999.5, 1234.4, 12345.6, 0.025, 0.35),
]
# An amount before and after.
CHANGES: Final[list[tuple[float | str, float | str]]] = [
    *((4, 3), (3, 4), (4, 4), (0, 0), (0, 2), (2, 0), (1, 2), (1, 2.002), (1000, 995.1), (8, 7.99), (1, 13.34)),
    *((2e-6, 1.955e-6), (1, 1.125), ("nan", 1), (1, "nan"), ("nan", "nan")),
]
# Capacities as people read them: of memories and caches, of what drivers report, and of chips that users write in MB.
CAPACITIES: Final = {
    1: "1 B",
    96: "96 B",
    1023: "1.023 kB",
    1024: "1 KiB",
    65536: "64 KiB",
    227 * 1024: "227 KiB",
    5632 * 1024: "5.5 MiB",
    40 * 2**20: "40 MiB",
    129536 * 1024: "126.5 MiB",
    408 * 2**20: "408 MiB",
    80 * 2**30: "80 GiB",
    144 * 2**30: "144 GiB",
    1536 * 2**30: "1.5 TiB",
    2**60: "1 EiB",
    3 * 2**70: "3072 EiB",
    81_559 * 2**20: "79.65 GiB",
    143_771 * 2**20: "140.4 GiB",
    46_068 * 2**20: "44.99 GiB",
    64 * 10**9: "64 GB",
    141 * 10**9: "141 GB",
    60 * 10**6: "60 MB",
    5 * 10**11: "500 GB",
}

# Texts, "|" between two.
PARSED: Final = {
    "FLOP/s": "2 PFLOP/s|1.2e15|989.5TFLOPS|989.5 TFLOP/s|989.5 TFLOPs/s|67 T|67T|1 k|1 K|3 M|4.3 GFLOPs/sec"
    "|4.3 Gflop/s|4.3 Gflops|4.3 GFlops|197 TOPS|197 TOP/s|1e3 kOPs/s|1.1 EFLOP/s|1.102 EFLOPS|2 ZFLOP/s|2 YFLOPS"
    "|.5 PFLOP/s|5. PFLOP/s|+5 PFLOP/s|  7 TFLOP/s\n|7\u00a0TFLOP/s|2E15|2e+15 FLOP/s|2e-3 PFLOP/s|0.1 TFLOP/s|0.3 T"
    "|1.1e-1 PFLOP/s|8.1 T|1e308|1e293 PFLOP/s|9007199254740993|123456789012345678901234567890|4.35 kFLOP/s"
    "|9007199254740993.0000000000000000001 FLOP/s|2 tflops|2 TFLOP|989.5 TFLOPs|2 tflop/s|2T|2 t|2 p|2 gFlops|197 tops",
    "B/s": "3.35 TB/s|820 GiB/s|819 GB/s|204.8 GB/s|204.8GB/s|1 B/s|1 byte/s|12 bytes/s|12 Mbytes/sec|7.2e12|7.2 T"
    "|900 GBps|1.5 TiB/s|1 KiB/s|3.7 MiB/s|2 PiB/s|1 EiB/s|0.1 GiB/s|1e3 GiB/s|64 kB/s|64 KB/s|1.8 TBytes/s"
    "|2.765e3 GB/s|\t2 TB/s |3.35 tB/s|3.35 t",
}
# Texts that are refused, by what is wrong with them.
REFUSED: Final = {
    "FLOP/s": {
        "number": "| |fast|nan|inf|-inf|TFLOP/s|e15|.|+|∞ FLOP/s|unknown|\u0661\u0662 T",
        "unit": "2 TB/s|2 PFLOP / s|2 P FLOP/s|2 TiFLOP/s|2 Ti|2 mFLOP/s|1,000|1_000|0x10|1.2.3|2e"
        "|2 e15|2 m|2 mflops|2 eflops|2 flap|5 furlongs|2 TFLOP/s 3|10 %|1 2 T|2 constructor",
        "size": "1e309|1e300 PFLOP/s|1.8e308|1e1000000|1e99999999999999999999",
    },
    "B/s": {
        "number": "|TB/s|x",
        "unit": "3.35 TFLOP/s|3.35 TB|3.35 Tb/s|3.35 tb/s|900 Gbps|1 mB/s|1 µB/s|1 GiBs|1 kiB/s|1 Gi|5 s",
        "size": "1e309|1e300 TB/s|1e300 TiB/s",
    },
}
POWERS: Final[dict[str, int]] = {prefix: 3 * (index - 4) for index, prefix in enumerate(PREFIXES)}
POWERS.update(K=3, g=9, t=12, p=15)
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
        "capacity": [{"value": value, "text": text} for value, text in CAPACITIES.items()],
        "intensity": [{"value": v, "digits": n, "text": _intensity(v, n)} for v in NUMBERS for n in (2, 3, 4)],
        "percent": [{"share": share, "text": _percent(share)} for share in SHARES],
        "factor": [{"value": value, "text": _factor(value)} for value in RATIOS],
        "ratio": [{"value": value, "text": _ratio(value)} for value in RATIOS],
        "change": [{"from": before, "to": after, "text": _change(before, after)} for before, after in CHANGES],
        "tenths": [{"value": value, "text": _tenths(value)} for value in RATIOS if value >= 1],
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


def _ratio(value: float, least: int = 2) -> str:
    """Write two digits below 10, and a whole number from there on."""
    whole = len(str(int(value)))
    return _plain(_rounded(value, max(least, min(whole, 15))))


def _percent(share: float | str) -> str:
    """Write percent; 100 only for what differs from it by at most one part in a thousand million."""
    if isinstance(share, str):
        return SPECIAL[share] if share == "nan" else f"{SPECIAL[share]} %"
    if not share:
        return "0 %"
    hundred = share * 100
    if abs(Fraction(share) - 1) <= Fraction(1, 10**9):
        return "100 %"
    digits = (_ratio(hundred, least) for least in range(2, 17))
    return next(text for text in digits if text != "100") + " %"


def _change(before: float | str, after: float | str) -> str:
    """Write the change in percent; nothing of an unknown amount, nor from nothing to something."""
    if isinstance(before, str) or isinstance(after, str) or (before == 0 and after != 0):
        return SPECIAL["nan"]
    if before == after:
        return "±0 %"
    return ("+" if after > before else "−") + _percent(abs(after / before - 1))


def _factor(value: float) -> str:
    return _significant(value, 3) if Fraction(9, 10) < Fraction(value) < Fraction(11, 10) else _ratio(value)


def _tenths(value: float) -> str:
    return f"{Decimal(value).quantize(Decimal('0.1'), ROUND_HALF_EVEN, Context(prec=400)):f}"


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
    parts = {name: runpy.run_path(str(HERE / f"golden_{name}.py"))[name]() for name in ("roofline", "latency")}
    made = {f"{name}.json": part for name, part in parts.items()} | {"units.json": units(), "guide.json": guide()}
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
