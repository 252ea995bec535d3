"""One kernel: one plotted point, with checked values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from roofwidget import units
from roofwidget.chips import is_off_chip
from roofwidget.kernels.columns import folded
from roofwidget.support.did_you_mean import keywords

Number: TypeAlias = float | str | None
"""A number in SI base units, text with a unit, or None when unknown."""


# tuple and list come first, because a check against the abstract class Sequence takes ten times as long.
_SEQUENCES: Final = (tuple, list, Sequence)


@dataclass(frozen=True, init=False)
class Kernel:
    """One plotted point: work that ran (or would run) as one launch, or as `count` launches of the same kernel.

    Parameters
    ----------
    name
        The label. Any text; it is shown as text, never as markup.
    flops
        FLOPs over all launches (1 FMA = 2): a number, text such as ``"4.3 GFLOP"``, a mapping from precision to
        number, or None when unknown. A key may also be a class of FLOPs (``matmul`` or ``tensor``, ``vector``,
        ``transcendental``), for which a chip may have a separate peak. The key ``"auto"`` means the same as a plain
        number.
    bytes
        Bytes moved over all launches: a number (the main memory), text such as ``"12 MB"``, a mapping from memory
        level to number, or None when unknown. The level ``"network"`` is for bytes that cross the chip's link.
    time
        Measured seconds over all launches, text such as ``"31 us"``, or None if the kernel was not measured.
    precision
        The precision whose peak applies to this kernel; None and ``"auto"`` mean the `precision` option of `bound`.
    category
        A label to group by.
    count
        The number of launches.
    intensity, rate
        FLOP per byte of the main memory, and FLOP/s, or text such as ``"15.4 GFLOP/s"``, if a source gives these two
        coordinates of a roofline in place of FLOPs, bytes and seconds. None when unknown. See `Kernels`.

    Raises
    ------
    ValueError
        If a number is negative, NaN or infinite, a mapping is empty, or count is below 1.
    TypeError
        If an argument for a number is no number, or a keyword is unknown.

    Examples
    --------
    >>> Kernel("matmul", 4.3e9, 1.2e7).arithmetic_intensity
    358.3333333333333
    """

    __module__ = "roofwidget"

    name: str
    flops: float | Mapping[str, float] | None
    bytes: float | Mapping[str, float] | None
    time: float | None
    precision: str | None
    category: str | None
    count: int
    intensity: float | None
    rate: float | None

    @keywords("Kernel")
    def __init__(
        self,
        name: str,
        flops: Number | Mapping[str, Number],
        bytes: Number | Mapping[str, Number],  # noqa: A002 - the usual name of this quantity
        time: Number = None,
        *,
        precision: str | None = None,
        category: str | None = None,
        count: int = 1,
        intensity: Number = None,
        rate: Number = None,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a kernel's name must be text, got {name!r}")
        where = f"of kernel '{name[:60]}'"
        # Not by the attributes, which are frozen.
        vars(self).update(
            name=name,
            flops=_amount(flops, "FLOP", f"flops {where}", casefold=True),
            bytes=_amount(bytes, "B", f"bytes {where}", casefold=False),
            time=None if time is None else _number(time, "s", f"time {where}"),
            precision=None if precision is None else folded(_word(precision, f"precision {where}") or "") or None,
            category=None if category is None else _word(category, f"category {where}"),
            count=_launches(count, f"count {where}"),
            intensity=None if intensity is None else _number(intensity, "FLOP/B", f"intensity {where}"),
            rate=None if rate is None else _number(rate, "FLOP/s", f"rate {where}"),
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Mapping proxies cannot be pickled, so they become dicts.
        fields: dict[str, Any] = {name: dict(v) if isinstance(v, Mapping) else v for name, v in vars(self).items()}
        return partial(Kernel, **fields), ()

    def __hash__(self) -> int:
        return hash((self.name, self.time, self.precision, self.category, self.count))

    @property
    def total_flops(self) -> float:
        """FLOPs over all precisions and launches; NaN when unknown."""
        if isinstance(self.flops, Mapping):
            return sum(self.flops.values())
        return math.nan if self.flops is None else self.flops

    @property
    def arithmetic_intensity(self) -> float:
        """FLOPs per byte of main memory, infinite for zero bytes.

        If FLOPs or bytes are unknown, it is `intensity`, or NaN without it.
        """
        moved = self.bytes
        if isinstance(moved, Mapping):
            main = [amount for level, amount in moved.items() if is_off_chip(level)]
            moved = sum(main) if main else None
        flops = self.total_flops
        if moved is None or math.isnan(flops):
            return math.nan if self.intensity is None else self.intensity
        if flops == moved == 0:
            return math.nan
        return flops / moved if moved else math.inf


def as_kernel(record: Any, row: int) -> Kernel:
    """Return a kernel. `record` is a `Kernel`, ``(name, flops, bytes[, time])`` or a dict of `Kernel`'s keywords.

    Raises
    ------
    TypeError, ValueError
        If the record has another form or contains a bad number: the message names `row`.

    Examples
    --------
    >>> as_kernel(("copy", 0, 8e6), 0).bytes
    8000000.0
    """
    if isinstance(record, Kernel):
        return record
    try:
        if isinstance(record, _SEQUENCES) and not isinstance(record, str) and 3 <= len(record) <= 4:  # noqa: PLR2004
            return Kernel(*record)
        if isinstance(record, Mapping):
            return Kernel(**{"flops": None, "bytes": None, **record}) if "name" in record else Kernel(**record)
    except (TypeError, ValueError) as error:
        raise type(error)(f"kernel {row}: {error}") from None
    raise TypeError(
        f"kernel {row}: expected a Kernel, (name, flops, bytes[, time]) or a dict of these, got {record!r:.60}"
    )


def _number(value: Number, unit: str, what: str) -> float | None:
    if value is None:
        return None
    if type(value) is float and 0 <= value < math.inf:
        return value  # the usual case, of which a table may have many
    number = units.parse(value, unit, what)
    if not 0 <= number < math.inf:
        if math.isnan(number):
            raise ValueError(f"{what} is NaN; write None where a number is unknown")
        units.finite(number, what)
    return value if isinstance(value, int) else number


def _amount(
    value: Number | Mapping[str, Number], unit: str, what: str, *, casefold: bool
) -> float | Mapping[str, float] | None:
    if isinstance(value, (float, int)) or not isinstance(value, Mapping):
        return _number(value, unit, what)
    if not value:
        raise ValueError(f"{what}: the mapping is empty; write None where the number is unknown")
    amounts: dict[str, float] = {}
    for key, part in value.items():
        number = _number(part, unit, f"{what}['{key}']")
        if number is None:
            raise ValueError(f"{what}['{key}'] is None; leave the entry out where there is none")
        kept = folded(str(key)) if casefold else str(key)
        if any(kept.casefold() == other.casefold() for other in amounts):
            raise ValueError(f"{what}: '{key}' is there twice")
        amounts[kept] = number
    return amounts[""] if casefold and amounts.keys() == {""} else MappingProxyType(amounts)


def _word(value: object, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{what} must be text, got {value!r:.60}")
    return value or None


def _launches(value: object, what: str) -> int:
    if type(value) is int and value == 1:
        return value  # the usual case
    number = units.parse(value, "FLOP", what)
    if not (number >= 1 and number.is_integer()):
        raise ValueError(f"{what} must be a whole number from 1, got {value!r}")
    return int(number)
