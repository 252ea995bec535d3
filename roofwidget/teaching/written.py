"""Numbers as people write them: fractions, powers of ten, thousands, decimal commas, units in words."""

from __future__ import annotations

import contextlib
import math
import re
from fractions import Fraction
from typing import Final

from roofwidget import units

_DIMENSIONS: Final = {
    "FLOP/s": "a rate",
    "B/s": "a bandwidth",
    "FLOP": "a number of FLOPs",
    "B": "a number of bytes",
    "s": "a time",
    "FLOP/B": "an intensity",
    "Hz": "a clock",
    "W": "a power",
}
_MAX_LETTERS: Final = 300
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED: Final = re.compile(r"(?<=10)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
# A name before the number, as in "N = 766", and a full stop behind it.
_NAMED: Final = re.compile(r"^(?:[A-Za-z][A-Za-z0-9_]{0,19})?\s*[=≈~]\s*")
_STOP: Final = re.compile(r"\s*\.$")
_PREFIXES: Final = {
    "nano": "n",
    "micro": "µ",
    "milli": "m",
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "peta": "P",
}
_PREFIX: Final = re.compile(rf"^({'|'.join(_PREFIXES)})(?=[a-z])", re.IGNORECASE)
_SPACES: Final = re.compile(r"[\u00a0\u2009\u202f]")
_POWER: Final = re.compile(r"\s*[·*x×]\s*10(?:\^|\*\*)([+-]?[0-9]{1,3})(?![0-9])")
# Groups of three digits with one separator, of which none follows a zero: 516,096 but not 0,250.
_THOUSANDS: Final = re.compile(
    r"(?<![0-9.,_'])([1-9][0-9]{0,2})((?:(?P<mark>[,_' ])[0-9]{3})(?:(?P=mark)[0-9]{3})*)(?![0-9])"
)
_ONE_GROUP: Final = re.compile(r"\s*([1-9][0-9]{0,2}),([0-9]{3})(?![0-9,.])")
_NUMBER: Final = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_WRITTEN: Final = re.compile(rf"({_NUMBER})(?:\s*/\s*({_NUMBER}))?\s*(.*)", re.DOTALL)


def read_number(text: str, unit: str) -> float:
    """Return a number that a person wrote, in base units of the unit that is asked for.

    A comma between groups of exactly three digits separates thousands; another single comma is a decimal mark.

    Parameters
    ----------
    text
        A number without a unit, with its unit, or with a prefix only.
    unit
        A unit that `roofwidget.units` knows, another word, or "" for a plain number.

    Raises
    ------
    ValueError
        If the text is no number, or if its unit is another one. The message says which quantity it is.

    Examples
    --------
    >>> [read_number(text, "FLOP/B") for text in ("1/6", "0,25", "2·10^3", "12 flop per byte")]
    [0.16666666666666666, 0.25, 2000.0, 12.0]
    >>> read_number("516,096", "B"), read_number("516 096 B", "B"), read_number("12 T", "FLOP/s")
    (516096.0, 516096.0, 12000000000000.0)
    >>> read_number("3 TB/s", "FLOP/B")
    Traceback (most recent call last):
        ...
    ValueError: '3 TB/s' is a bandwidth (B/s); the question asks for an intensity (FLOP/B)
    """
    found = _WRITTEN.fullmatch(_plain(text)) if len(text) <= _MAX_LETTERS else None
    if found is None:
        raise ValueError(f"{text.strip()!r:.40} is not a number{f' of {unit}' if unit else ''}")
    value, divisor = Fraction(found[1]), Fraction(found[2] or 1)
    if divisor == 0:
        raise ValueError(f"{text.strip()!r:.40} divides by zero")
    factor = _factor(found[3].strip(), unit, text.strip())
    try:
        number = float(value / divisor) * factor
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{text.strip()!r:.40} is too large")
    return number


def as_decimal(text: str) -> str:
    """Return a number whose single comma was read as thousands, with a decimal point; "" if it can be read in one way.

    Examples
    --------
    >>> as_decimal("516,096 B"), as_decimal("516,096,000"), as_decimal("0,25")
    ('516.096', '', '')
    """
    found = _ONE_GROUP.match(text)
    return f"{found[1]}.{found[2]}" if found else ""


def _plain(text: str) -> str:
    """Return a text with one way of writing powers, thousands and decimal marks."""
    plain = _SPACES.sub(" ", text.strip()).replace("−", "-").replace("\u03bc", "µ")
    plain = _STOP.sub("", _NAMED.sub("", plain))
    plain = _RAISED.sub(lambda raised: f"^{raised[0]}", plain).translate(_SUPERSCRIPTS)
    plain = _POWER.sub(r"e\1", plain)
    plain = _THOUSANDS.sub(lambda one: one[1] + re.sub(r"[,_' ]", "", one[2]), plain)
    return re.sub(r"(?<=[0-9]),(?=[0-9]+(?![0-9,]))", ".", plain, count=1)


def _spelled(written: str) -> str:
    """Return a unit in words as `roofwidget.units` spells it."""
    known = re.sub(r"\s+per\s+", "/", written, flags=re.IGNORECASE)
    known = re.sub(r"/seconds?$", "/s", known, flags=re.IGNORECASE)
    known = _PREFIX.sub(lambda prefix: _PREFIXES[prefix[1].lower()], known)
    return re.sub(r"^([kKMGTP]?)F/B$", r"\1FLOP/B", known)


def _factor(written: str, unit: str, text: str) -> float:
    """Return the base units of a written unit."""
    if not written or written == unit:
        return 1.0
    if written == "%" and unit == "":
        return 0.01
    if unit in units.UNITS:
        with contextlib.suppress(ValueError):
            return units.parse(f"1 {_spelled(written)}", unit, "the answer")
    for other, dimension in _DIMENSIONS.items():
        try:
            units.parse(f"1 {_spelled(written)}", other, "the answer")
        except ValueError:
            continue
        # A single letter is a prefix, unless it is a unit.
        if len(written) > 1 or written in _DIMENSIONS:
            asked = f"{_DIMENSIONS[unit]} ({unit})" if unit in _DIMENSIONS else unit or "a number without a unit"
            raise ValueError(f"{text!r:.40} is {dimension} ({other}); the question asks for {asked}")
    raise ValueError(f"{text!r:.40} is not a number{f' of {unit}' if unit else ''}")
