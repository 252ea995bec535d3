"""MFU and MBU: the share of a peak that a model's own FLOPs or bytes reach, with the convention of the count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from roofwidget import units
from roofwidget.chips import Chip, ChipLike, Source
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import is_whole
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.precisions import operation
from roofwidget.support.text_tables import aligned, counted, escaped, one_line
from roofwidget.units import format_percent, format_quantity

_GIVEN: Final = "given as a number"
_NO_SOURCE: Final = "no source stated"
_RATIO_TOLERANCE: Final = 1 + 1e-9


@dataclass(frozen=True)
class ModelFlops:
    """The FLOPs of a model for a number of tokens, and the convention by which they were counted.

    Parameters
    ----------
    flops
        FLOPs that the model needs. Recomputation is not in this number.
    hardware_flops
        FLOPs that the hardware does: `flops` and the recomputed part of the forward pass.
    tokens
        The number of tokens.
    convention
        The formula, and what it leaves out.
    recompute
        What is computed again in the backward pass; empty if nothing is.
    terms
        Pairs of a name and its FLOPs; they add up to `hardware_flops`.

    Examples
    --------
    >>> from roofwidget.workloads import model_flops
    >>> model_flops(7e9, tokens=1000).flops
    42000000000000
    """

    __module__ = "roofwidget"

    flops: int | float
    hardware_flops: int | float
    tokens: int | float
    convention: str
    recompute: str = ""
    terms: tuple[tuple[str, int | float], ...] = ()

    def __repr__(self) -> str:
        rows = [["term", "FLOPs"], *([name, _amount(count, "FLOP")] for name, count in self.terms)]
        rows.append(["model FLOPs", _amount(self.flops, "FLOP")])
        if self.recompute:
            rows.append(["hardware FLOPs", _amount(self.hardware_flops, "FLOP")])
        many = self.tokens
        tokens = counted(many, "token") if isinstance(many, int) else f"{format_quantity(many, 'token')}s"
        return "\n".join([f"ModelFlops: {self.convention}, {tokens}", *aligned(rows, right=[1])])


@dataclass(frozen=True)
class Utilization:
    """A share of a peak. Its text says how the numerator was counted and what the denominator is.

    Parameters
    ----------
    name
        ``MFU``, ``HFU`` or ``MBU``.
    value
        The share, 0.42 for 42 %. `float` of the object returns the same.
    amount, unit
        The numerator: FLOPs (``FLOP``), operations of an integer precision (``OP``) or bytes (``B``).
    time
        Seconds.
    chip, n_chips
        The chip's name, and how many there are.
    peak
        FLOP/s of one chip at one precision, dense, or bytes/s of one memory level.
    of
        The precision or the memory level.
    source
        The source of the peak; None if the chip states none.
    convention
        How the numerator was counted.
    hardware
        The HFU if something was recomputed, else None. It counts the recomputed FLOPs too.
    """

    __module__ = "roofwidget"

    name: str
    value: float
    amount: int | float
    unit: str
    time: float
    chip: str
    n_chips: int
    peak: float
    of: str
    source: Source | None
    convention: str
    hardware: Utilization | None = None

    @property
    def rate(self) -> float:
        """FLOP/s or bytes/s of all chips together."""
        return self.amount / self.time

    @property
    def rate_per_chip(self) -> float:
        """FLOP/s or bytes/s of one chip."""
        return self.rate / self.n_chips

    @property
    def above_peak(self) -> bool:
        """Whether the share is above 1. Then the count, the time, the number of chips or the peak is wrong."""
        return self.value > _RATIO_TOLERANCE

    @property
    def denominator(self) -> str:
        """The denominator in words: number of chips, peak, precision, dense, source."""
        kind = "bandwidth" if self.unit == "B" else "dense"
        source = self.source.title if self.source else _NO_SOURCE
        peak = format_quantity(self.peak, f"{self.unit}/s", 4)
        return f"{self.n_chips:,} × {peak}: {one_line(self.chip)}, {self.of}, {kind} ({one_line(source, 80)})"

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned(list(self._rows()))])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(text)}</td></tr>' for name, text in self._rows()
        )
        return f"<table><caption>{escaped(self._title())}</caption><tbody>{rows}</tbody></table>"

    def _title(self) -> str:
        title = f"{self.name} {format_percent(self.value, 1)}"
        if self.hardware is not None:
            title += f", {self.hardware.name} {format_percent(self.hardware.value, 1)}"
        return title + (": above the peak, so a number is wrong" if self.above_peak else "")

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield "numerator", f"{_amount(self.amount, self.unit)} in {format_quantity(self.time, 's')}: {self.convention}"
        if self.hardware is not None:
            more = f"{_amount(self.hardware.amount, self.unit)}: {self.hardware.convention}"
            yield f"{self.hardware.name} numerator", more
        yield "denominator", self.denominator
        yield "per chip", format_quantity(self.rate_per_chip, f"{self.unit}/s")


_COUNT_FIRST: Final = "count the FLOPs first: rw.mfu(rw.model_flops(model, tokens=…), time, chip)"


@keywords("mfu", {"model": _COUNT_FIRST, "tokens": _COUNT_FIRST})
def mfu(
    flops: float | str | ModelFlops,
    time: float | str,
    chip: ChipLike,
    n_chips: int = 1,
    *,
    precision: str = "auto",
    convention: str = _GIVEN,
) -> Utilization:
    """Return the model FLOPs utilization: the FLOPs of a model per second, divided by the dense peak of all chips.

    Parameters
    ----------
    flops
        The FLOPs of a model: a number, text such as ``"400 TFLOP"``, or the result of `model_flops`, which contains
        its convention and what was recomputed.
    time
        Seconds, or text such as ``"1.1 s"``, in which all chips together do these FLOPs.
    chip, n_chips
        A chip or its name; the number of chips.
    precision
        The precision of the peak; ``"auto"`` for the chip's default.
    convention
        How a plain number of FLOPs was counted, for the text of the result.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision.
    TypeError, ValueError
        If FLOPs, time or the number of chips is not above zero, or `convention` is given for a `ModelFlops`.

    Examples
    --------
    PaLM 540B: 238,300 tokens per second on 6144 TPU v4, first by 6ND, then with attention.

    >>> from roofwidget.workloads import model_flops
    >>> palm = {"layers": 118, "heads": 48, "head_dim": 256, "seq": 2048, "attention": "full"}
    >>> round(float(mfu(model_flops(540.35e9, tokens=238_300), 1, "tpu-v4", 6144)), 3)
    0.457
    >>> mfu(model_flops(540.35e9, tokens=238_300, **palm), 1, "tpu-v4", 6144)
    MFU 46.2 %
    numerator    781,084,204,456,627,200 FLOP in 1 s: 6ND with full attention; forward and backward
    denominator  6,144 × 275 TFLOP/s: TPU v4, bf16, dense (Cloud TPU docs: TPU v4)
    per chip     127 TFLOP/s
    """
    found = look_up(chip)
    key = found.precision(precision)
    if isinstance(flops, ModelFlops):
        if convention != _GIVEN:
            raise TypeError("mfu: a ModelFlops contains its convention; give convention only with a number of FLOPs")
        amount: int | float = flops.flops
        convention = flops.convention
    else:
        amount = _number(flops, "FLOP", "flops")
    unit = operation(key)
    made = _made("MFU", amount, unit, time, found, n_chips, found.peak(key), key, f"peak_flops.{key}", convention)
    if not isinstance(flops, ModelFlops) or not flops.recompute:
        return made
    again = f"with recomputation of {flops.recompute}"
    peak = found.peak(key)
    hardware = _made("HFU", flops.hardware_flops, unit, time, found, n_chips, peak, key, f"peak_flops.{key}", again)
    return replace(made, hardware=hardware)


@keywords("mbu")
def mbu(
    bytes: float | str,  # noqa: A002 - the word of Kernel
    time: float | str,
    chip: ChipLike,
    n_chips: int = 1,
    *,
    memory: str = "main",
    convention: str = _GIVEN,
) -> Utilization:
    """Return the model bandwidth utilization: the bytes that a model must read per second, divided by the bandwidth.

    For a decode step the bytes are usually the weights and the cache, and the time is the time per output token.

    Parameters
    ----------
    bytes
        Bytes, or text such as ``"14 GB"``, that all chips together move.
    time
        Seconds, or text such as ``"14 ms"``.
    chip, n_chips
        A chip or its name; the number of chips.
    memory
        The level whose bandwidth is the denominator; ``"main"`` for the off-chip memory.
    convention
        How the bytes were counted, for the text of the result.

    Raises
    ------
    MissingFigureError
        If the chip lacks the memory level or its bandwidth.
    TypeError, ValueError
        If bytes, time or the number of chips is not above zero.

    Examples
    --------
    >>> from roofwidget.chips import Chip
    >>> card = Chip("card", {"bf16": "312 TFLOP/s"}, {"HBM": "2 TB/s"})
    >>> mbu("14 GB", "14 ms", card, convention="16-bit weights of 7B parameters, no cache")
    MBU 50 %
    numerator    14 GB in 14 ms: 16-bit weights of 7B parameters, no cache
    denominator  1 × 2 TB/s: card, HBM, bandwidth (no source stated)
    per chip     1 TB/s
    """
    found = look_up(chip)
    level = found.memory(memory)
    amount = _number(bytes, "B", "bytes")
    figure = f"memories.{level}.bandwidth"
    return _made("MBU", amount, "B", time, found, n_chips, found.bandwidth(level), level, figure, convention)


def _made(  # noqa: PLR0917 - the fields of the result
    name: str,
    amount: float,
    unit: str,
    time: float | str,
    chip: Chip,
    n_chips: int,
    peak: float,
    of: str,
    figure: str,
    convention: str,
) -> Utilization:
    seconds = units.positive(units.parse(time, "s", "time"), "time")
    if not is_whole(n_chips) or n_chips < 1:
        raise ValueError(f"n_chips must be a whole number from 1, got {n_chips!r:.40}")
    value = amount / seconds / (int(n_chips) * peak)
    source = chip.sources.get(figure)
    return Utilization(name, value, amount, unit, seconds, chip.name, int(n_chips), peak, of, source, convention)


def _number(value: Any, unit: str, what: str) -> int | float:
    """Return a number above zero in base units. An int stays an int."""
    number = units.positive(units.parse(value, unit, what), what)
    return int(value) if is_whole(value) else number


def _amount(value: float, unit: str) -> str:
    return f"{value:,} {unit}" if isinstance(value, int) else format_quantity(value, unit, 4)
