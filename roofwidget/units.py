"""Converts between numbers and text with SI prefixes and units.

All numbers inside the package are in SI base units (FLOP/s, bytes/s, bytes, seconds). In Python, only this file
handles prefixes. `js/src/text/numbers.ts` has the same functions in TypeScript. The tests check the functions of both
files against `tests/golden/units.json`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from numbers import Real
from typing import Final

_DECIMAL: Final = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24}
_SMALL: Final = {"m": -3, "u": -6, "µ": -6, "n": -9, "p": -12}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SHOWN: Final = {
    -12: "p",
    -9: "n",
    -6: "µ",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
    21: "Z",
    24: "Y",
}

# For each unit, a pattern of its accepted spellings without prefix. The key is the spelling that is shown.
_SPELLINGS: Final = {
    "FLOP/s": r"(?:[Ff][Ll][Oo][Pp][Ss]?|[Oo][Pp][Ss]?)(?:/[Ss](?:ec)?)?",
    "B/s": r"(?:B/s(?:ec)?|bytes?/s(?:ec)?|Bytes?/s|Bps)",
    "FLOP": r"(?:FLOPs?|flops?|Flops?|OPs?)",
    "B": r"(?:B|[Bb]ytes?)",
    "s": r"(?:s|sec|seconds?)",
    "FLOP/B": r"(?:FLOPs?/B(?:yte)?|flops?/b(?:yte)?|FLOPs?/byte)",
    "Hz": r"(?:Hz|[Hh]ertz)",
    "W": r"(?:W|[Ww]atts?)",
    "J/FLOP": r"J/(?:FLOP|flop)",
    "J/B": r"J/(?:B|[Bb]yte)",
}
# `format_capacity` writes fewer bytes than this without a prefix.
_MIN_PREFIXED_BYTES: Final = 1024
# A share that differs from 1 by at most this is shown as "100 %", because rounding can explain the difference.
_HUNDRED_PERCENT_TOLERANCE: Final = 1e-9
# `format_factor` writes a factor between these two limits with three significant digits.
_LOW_NEAR_ONE: Final = 0.9
_HIGH_NEAR_ONE: Final = 1.1
# A double holds 15 decimal digits exactly. More digits of a number would be noise.
_MAX_WHOLE_DIGITS: Final = 15
UNITS: Final = frozenset(_SPELLINGS)
"""The units that `parse` knows."""
FIGURE_LIMITS: Final = {
    "FLOP/s": (1e-3, 1e24),
    "B/s": (1e-3, 1e24),
    "B": (1.0, 1e24),
    "s": (1e-15, 1e6),
    "Hz": (1e-3, 1e15),
    "W": (1e-12, 1e15),
    "J/FLOP": (1e-30, 1e12),
    "J/B": (1e-30, 1e12),
}
"""The smallest and the largest figure of hardware, by unit.

The limits refuse typing errors that would make axes and sentences unreadable. They are generous: the rates go from less
than a person with an abacus to more than all computers on Earth together. `MIN_RATE` and `MAX_RATE` in
`js/src/text/numbers.ts` are the same limits.
"""
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Units whose values are usually below one. Only these units take the prefixes milli to pico.
_BELOW_ONE: Final = frozenset({"s", "J/FLOP", "J/B"})
# People type rates in a hurry: "2 tflops" or "2t". Small letters are prefixes of a rate, except m and e: m means milli,
# and e begins an exponent.
_RATES: Final = frozenset({"FLOP/s", "B/s"})
_SMALL_LETTERS: Final = frozenset("gtpzy")
# float and int come first, because a check against the abstract class Real takes ten times as long.
_NUMBERS: Final = (float, int, Real)
_EXAMPLES: Final = {
    "FLOP/s": "989.5 TFLOP/s",
    "B/s": "3.35 TB/s",
    "FLOP": "4.3 GFLOP",
    "B": "12 MB",
    "s": "8.5 us",
    "FLOP/B": "108 FLOP/B",
    "Hz": "1.98 GHz",
    "W": "700 W",
    "J/FLOP": "0.5 pJ/FLOP",
    "J/B": "30 pJ/B",
}


def parse(value: object, unit: str, what: str) -> float:
    """Return a number, or text with a unit, as a float in base units.

    Parameters
    ----------
    value
        A real number in SI base units, or text such as ``"989.5 TFLOP/s"``. Text without a unit means base units.
    unit
        One of ``FLOP/s``, ``B/s``, ``FLOP``, ``B``, ``s``, ``FLOP/B``, ``Hz``, ``W``, ``J/FLOP``, ``J/B``.
    what
        A description of the number for error messages, such as ``"peak_flops['bf16'] of chip 'H100'"``.

    Returns
    -------
    float
        The value in base units. For text, the double that is nearest to the written decimal number.

    Raises
    ------
    TypeError
        If `value` is neither a real number nor text, or if it is a bool.
    ValueError
        If the text has no number, if its unit is no spelling of `unit`, or if the number is too large for a double.

    Examples
    --------
    >>> parse("3.35 TB/s", "B/s", "bandwidth")
    3350000000000.0
    >>> parse("16 GiB", "B", "capacity")
    17179869184.0
    >>> parse("0.5 pJ/FLOP", "J/FLOP", "energy")
    5e-13
    """
    if isinstance(value, str):
        return _parse_text(value, unit, what)
    if isinstance(value, bool) or not (isinstance(value, _NUMBERS) or hasattr(value, "__float__")):
        raise TypeError(f"{what}: expected a number or text such as '{_EXAMPLES[unit]}', got {_short(value)}")
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{what}: {_short(value)} does not fit a double-precision number") from None


def _parse_text(text: str, unit: str, what: str) -> float:
    stripped = text.strip()
    number = _NUMBER.match(stripped)
    if not number:
        raise ValueError(f"{what}: no number in {_short(text)}; write for example '{_EXAMPLES[unit]}'")
    digits, rest = number.group(), stripped[number.end() :].strip()
    scale = _scale_of(rest, unit)
    if scale is None:
        raise ValueError(f"{what}: '{rest[:40]}' is not a unit of {unit}; write for example '{_EXAMPLES[unit]}'")
    shift, multiple = scale
    mantissa, _, exponent = digits.lower().partition("e")
    # Add the prefix to the exponent before the conversion: "3.35 TB/s" becomes the text "3.35e12". A multiplication by
    # 1e12 after the conversion could round a second time.
    result = float(f"{mantissa}e{int(exponent[:9] or 0) + shift}") * multiple
    if math.isinf(result):
        raise ValueError(f"{what}: {_short(text)} does not fit a double-precision number")
    return result


def _scale_of(suffix: str, unit: str) -> tuple[int, float] | None:
    """Return the scale of a suffix as an exponent of ten and a factor, or None if the suffix is not valid for `unit`.

    "TB/s" has the scale (12, 1.0). "KiB" has the scale (0, 1024.0).
    """
    if not suffix:
        return 0, 1.0
    if unit in _RATES and suffix[0] in _SMALL_LETTERS:
        suffix = suffix[0].upper() + suffix[1:]
    if re.fullmatch("[kKMGTPEZY]", suffix) and unit not in _BELOW_ONE:
        return _DECIMAL[suffix], 1.0
    spelled = re.fullmatch(r"(?P<prefix>[KMGTPE]i|[kKMGTPEZYmuµnp])?" + _SPELLINGS[unit], suffix)
    if not spelled:
        return None
    prefix = spelled["prefix"] or ""
    if prefix in _BINARY:
        return (0, 2.0 ** _BINARY[prefix]) if unit in {"B", "B/s"} else None
    if prefix in _SMALL:
        return (_SMALL[prefix], 1.0) if unit in _BELOW_ONE else None
    return _DECIMAL[prefix], 1.0


def suffix_pattern(unit: str) -> str:
    """Return a pattern of what may stand behind a number in `parse`, for programs of other languages.

    Examples
    --------
    >>> [bool(re.fullmatch(suffix_pattern("s"), suffix)) for suffix in ("", "ms", "seconds", "k", "B")]
    [True, True, True, False, False]
    """
    letters = "[kKMGTPEZYgtpzy]" if unit in _RATES else "[kKMGTPEZY]"
    prefix = f"(?:{letters}{'|[KMGTPE]i' if unit in {'B', 'B/s'} else ''}{'|[muµnp]' if unit in _BELOW_ONE else ''})?"
    alone = "" if unit in _BELOW_ONE else f"|{letters}"
    return f"(?:{prefix}{_SPELLINGS[unit]}{alone})?"


def prefix_factor(prefix: str) -> float:
    """Return the factor of a prefix above one in any case, for tools whose units have no prefixes below one.

    Examples
    --------
    >>> [prefix_factor(prefix) for prefix in ("", "k", "G", "m", "Ki")]
    [1.0, 1000.0, 1000000000.0, 1000000.0, 1024.0]
    """
    shown = prefix[:1].upper() + prefix[1:].casefold()
    return 2.0 ** _BINARY[shown] if shown in _BINARY else float(10 ** _DECIMAL[shown])


def finite(value: float, what: str) -> float:
    """Return `value` if it is finite and not negative. Otherwise raise a `ValueError` that begins with `what`.

    Examples
    --------
    >>> finite(0.0, "bytes")
    0.0
    """
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{what} must be a finite number that is not negative, got {value!r}")
    return value


def positive(value: float, what: str) -> float:
    """Return `value` if it is finite and above zero. Otherwise raise a `ValueError` that begins with `what`.

    Examples
    --------
    >>> positive(3.35e12, "bandwidth")
    3350000000000.0
    """
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{what} must be a finite number above zero, got {value!r}")
    return value


def figure(value: object, unit: str, what: str, *, may_be_zero: bool = False) -> float:
    """Return a figure of hardware, such as a peak, in base units. `value` is a number, or text with a unit.

    Raises
    ------
    TypeError
        If `value` is neither a real number nor text, or if it is a bool.
    ValueError
        If the text has no number or no valid unit, if the figure is negative or not finite, if the figure is outside
        `FIGURE_LIMITS`, or if it is 0 although `may_be_zero` is False. The message begins with `what`.

    Examples
    --------
    >>> figure("3.35 TB/s", "B/s", "bandwidth")
    3350000000000.0
    >>> figure(1e99, "FLOP/s", "peak")
    Traceback (most recent call last):
    ValueError: peak must be from 0.001 FLOP/s to 1 YFLOP/s, which all hardware is, got 1e+99
    """
    given = (finite if may_be_zero else positive)(parse(value, unit, what), what)
    low, high = FIGURE_LIMITS[unit]
    if given != 0 and not low <= given <= high:
        # `format_quantity` would write up to 18 zeros: the prefixes end at pico, and most units have none below one.
        least, most = f"{low:g} {unit}", format_quantity(high, unit)
        raise ValueError(f"{what} must be from {least} to {most}, which all hardware is, got {given!r}")
    return given


def format_significant(value: float, digits: int = 3) -> str:
    """Return `value` as text with at most `digits` significant digits, without trailing zeros and without a prefix.

    If a value is halfway between two roundings, the last digit becomes even: with two digits, 1.25 becomes "1.2".

    Examples
    --------
    >>> format_significant(1.25, 2), format_significant(640.833, 4), format_significant(0.0)
    ('1.2', '640.8', '0')
    """
    special = _special(value)
    if special is not None:
        return special
    sign, figures, exponent = _decompose(value, digits)
    return sign + _place(figures, exponent)


def format_quantity(value: float, unit: str, digits: int = 3) -> str:
    """Return `value` as text with an SI prefix and `unit`.

    Parameters
    ----------
    value
        The value in base units. NaN is shown as "unknown".
    unit
        Any unit. Only ``s``, ``J/FLOP`` and ``J/B`` are shown with prefixes below one, such as n. All units except
        ``s`` are shown with prefixes above one, such as k.
    digits
        The largest number of significant digits. Use 4 for peaks, bandwidths and ridge points, and 3 for other values.

    Examples
    --------
    >>> format_quantity(2.307e15, "FLOP/s", 4), format_quantity(7.2e12, "B/s", 4), format_quantity(3.1e-5, "s")
    ('2.307 PFLOP/s', '7.2 TB/s', '31 µs')
    >>> format_quantity(1400.0, "W"), format_quantity(5e-13, "J/FLOP")
    ('1.4 kW', '0.5 pJ/FLOP')
    """
    special = _special(value)
    if special is not None:
        return special if special == "unknown" else f"{special} {unit}"
    sign, figures, exponent = _decompose(value, digits)
    thousand = max(-12 if unit in _BELOW_ONE else 0, min(24, 3 * (exponent // 3)))
    if unit == "s":
        thousand = min(0, thousand)
    return f"{sign}{_place(figures, exponent - thousand)} {_SHOWN[thousand]}{unit}"


def format_capacity(value: float) -> str:
    """Return bytes of a memory as text, with the prefix in which the number is short: MiB and GiB, or MB and GB.

    A capacity that is a whole number of megabytes, as a user writes ``"64 GB"``, keeps its decimal prefix. All others
    have binary prefixes and at most four digits. `format_quantity` writes other bytes, such as those that a kernel
    moves.

    Examples
    --------
    >>> format_capacity(80 * 2**30), format_capacity(85_520_809_984), format_capacity(64e9), format_capacity(96)
    ('80 GiB', '79.65 GiB', '64 GB', '96 B')
    """
    steps = 0 if value < _MIN_PREFIXED_BYTES else min(len(_BINARY), int(math.log2(value)) // 10)
    if steps == 0 or value % 10**6 == 0:
        return format_quantity(value, "B", 4)
    return f"{format_significant(value / 1024**steps, 4)} {list(_BINARY)[steps - 1]}B"


def format_intensity(value: float, digits: int = 3, operation: str = "FLOP") -> str:
    """Return an arithmetic intensity as text in FLOP/B, or in OP/B. Only values of 10,000 and above get a prefix.

    Examples
    --------
    >>> format_intensity(107.79), format_intensity(320.4167, 4), format_intensity(12345.0)
    ('108 FLOP/B', '320.4 FLOP/B', '12.3 kFLOP/B')
    >>> format_intensity(64.0, operation="OP")
    '64 OP/B'
    """
    special = _special(value)
    if special is not None:
        return special if special == "unknown" else f"{special} {operation}/B"
    sign, figures, exponent = _decompose(value, digits)
    thousand = 0 if exponent < 4 else min(24, 3 * (exponent // 3))  # noqa: PLR2004 - the doc string's 9,999
    return f"{sign}{_place(figures, exponent - thousand)} {_SHOWN[thousand]}{operation}/B"


def ratio_units(operations: Iterable[str], per: str) -> str:
    """Return the units of an axis of rates or intensities: ``FLOP/s``, ``OP/s``, or both if operations differ.

    Examples
    --------
    >>> ratio_units(["OP"], "s"), ratio_units({"OP", "FLOP"}, "B"), ratio_units([], "s")
    ('OP/s', 'FLOP/B · OP/B', 'FLOP/s')
    """
    found = {*operations}
    return " · ".join(f"{one}/{per}" for one in ("FLOP", "OP") if one in found) or f"FLOP/{per}"


def format_percent(share: float, more: int = 0) -> str:
    """Return a share as text in percent.

    From 10 % up, the number is whole, such as "12 %". Below 10 %, the number has two significant digits, such as
    "0.68 %". A share near 1 gets more digits until its text differs from "100 %", such as "99.5 %". A share that
    differs from 1 by at most 1e-9 is shown as "100 %".

    Parameters
    ----------
    share
        The share; NaN is shown as "unknown".
    more
        The number of additional digits.

    Examples
    --------
    >>> format_percent(0.00677), format_percent(0.125), format_percent(12.34), format_percent(0.7999, 2)
    ('0.68 %', '12 %', '1234 %', '79.99 %')
    >>> format_percent(0.9951), format_percent(1.0), format_percent(1.002)
    ('99.5 %', '100 %', '100.2 %')
    """
    if math.isnan(share):
        return "unknown"
    if abs(share - 1) <= _HUNDRED_PERCENT_TOLERANCE:
        return "100 %"
    digits = _whole_digits(share * 100, 2) + more
    while (text := format_significant(share * 100, digits)) == "100":
        digits += 1
    return f"{text} %"


def format_change(before: float, after: float) -> str:
    """Return the change from one amount to another as text in percent, with its sign.

    If an amount is unknown, the text is "unknown". A change from 0 to another amount is also shown as "unknown".

    Examples
    --------
    >>> format_change(4.0, 3.0), format_change(1.0, 2.002), format_change(2.0, 2.0)
    ('−25 %', '+100.2 %', '±0 %')
    """
    if before == after:
        return "±0 %"
    change = after / before - 1 if before else math.nan
    if not math.isfinite(change):
        return "unknown"
    return ("+" if change > 0 else "−") + format_percent(abs(change))


def format_factor(factor: float) -> str:
    """Return a factor as text. From 10 up, the number is whole. Below 10, it has two significant digits.

    A factor between 0.9 and 1.1 has three significant digits: with two digits, 1.04 would look like no change.

    Examples
    --------
    >>> format_factor(1.25), format_factor(1.044), format_factor(12.5), format_factor(1234.4)
    ('1.2', '1.04', '12', '1234')
    """
    if _LOW_NEAR_ONE < factor < _HIGH_NEAR_ONE:
        return format_significant(factor)
    return format_significant(factor, _whole_digits(factor, 2))


def _whole_digits(value: float, least: int) -> int:
    """Return the number of digits before the decimal point of `value`, but at least `least` and at most 15."""
    size = abs(value)
    return least if not size < math.inf else max(least, min(len(str(int(size))), _MAX_WHOLE_DIGITS))


def _special(value: float) -> str | None:
    return "unknown" if math.isnan(value) else {math.inf: "∞", -math.inf: "-∞"}.get(value)


def _decompose(value: float, digits: int) -> tuple[str, str, int]:
    """Return the sign, the significant digits without trailing zeros, and the decimal exponent of `value`.

    ``_decompose(1250.0, 2)`` returns ``("", "12", 3)``: 1250 is halfway between 1200 and 1300, so the last digit
    becomes even.
    """
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    return "-" if value < 0 else "", mantissa.replace(".", "").rstrip("0"), int(exponent)


def _place(figures: str, exponent: int) -> str:
    """Return the number 0.0012, 1.2 or 1200 as text, for the digits "12" in `figures` and the given exponent.

    The first digit stands for 10**exponent: ``_place("12", 3)`` returns ``"1200"``.
    """
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + figures
    whole = figures[: exponent + 1].ljust(exponent + 1, "0")
    fraction = figures[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def _short(value: object) -> str:
    shown = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "an integer of more than 20 digits"
    return shown if len(shown) <= 60 else shown[:57] + "..."  # noqa: PLR2004 - a line of an error message
