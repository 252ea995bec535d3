"""One chip: its peaks, its memories, and where each figure comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from roofwidget import units
from roofwidget.suggest import keywords, listed

__all__ = ["Chip", "Memory", "MissingFigureError", "Source", "is_off_chip"]

# Used when a chip does not say which precision it is judged by: the first of these that it has.
_PRECISIONS_BY_USE: Final = ("bf16", "fp16", "tf32", "fp32", "fp64")
# What vendors and profilers call the memory outside the chip.
_OFF_CHIP: Final = re.compile(r"main|hbm\d?e?|dram|(?:g|lp)?ddr\d?x?|unified memory|device memory", re.IGNORECASE)


class MissingFigureError(LookupError):
    """A chip was asked for a figure that it does not have; the message names those it has."""


def is_off_chip(level: str) -> bool:
    """Whether a memory level's name is one of the usual words for the memory outside the chip.

    Examples
    --------
    >>> is_off_chip("HBM"), is_off_chip("GDDR6X"), is_off_chip("L2")
    (True, True, False)
    """
    return _OFF_CHIP.fullmatch(level.strip()) is not None


@dataclass(frozen=True)
class Source:
    """Where a figure comes from.

    Parameters
    ----------
    title, url
        The document.
    confidence
        ``datasheet``, ``vendor doc``, ``source code``, ``derived``, ``measured``, ``secondary`` or ``given``.
    """

    title: str
    url: str = ""
    confidence: str = "given"


@dataclass(frozen=True)
class Memory:
    """One memory level of a chip.

    Parameters
    ----------
    name
        As people write it: ``HBM``, ``L2``, ``VMEM read``.
    bandwidth
        bytes/s, or None when unknown.
    capacity
        bytes, or None when unknown.
    """

    name: str
    bandwidth: float | None = None
    capacity: float | None = None


@dataclass(frozen=True, init=False, repr=False)
class Chip:
    """One accelerator or CPU package as a kernel sees it. Immutable.

    Parameters
    ----------
    name
        What people read.
    peak_flops
        Dense peak rate by precision, FLOP/s: numbers or text such as ``"989.5 TFLOP/s"``.
    memories
        Bandwidth by memory level, main memory first, bytes/s: a number, text such as ``"3.35 TB/s"``, a `Memory`,
        or None where the bandwidth is unknown.
    id
        A short unique key; made from the name when not given.
    vendor, family, generation
        For grouping; `generation` orders the chips of a vendor.
    default_precision
        The precision that ``"auto"`` means; by default the first of bf16, fp16, tf32, fp32, fp64 that the chip has.
    aliases
        Other names it can be looked up by.
    sources
        `Source` by figure, such as ``"peak_flops.bf16"`` or ``"memories.HBM.bandwidth"``.

    Raises
    ------
    ValueError
        If a peak or a bandwidth is zero, negative, NaN or infinite, or there is none.
    TypeError
        If a figure is not a number or text, or a keyword is unknown.

    Examples
    --------
    >>> chip = Chip("My chip", peak_flops={"bf16": "989.5 TFLOP/s"}, memories={"HBM": "3.35 TB/s"})
    >>> chip.peak("bf16"), chip.bandwidth("hbm"), round(chip.ridge_point(), 1)
    (989500000000000.0, 3350000000000.0, 295.4)
    """

    name: str
    peak_flops: Mapping[str, float]
    memories: Mapping[str, Memory]
    id: str
    vendor: str
    family: str
    generation: int
    default_precision: str
    aliases: tuple[str, ...]
    sources: Mapping[str, Source]

    @keywords("Chip")
    def __init__(
        self,
        name: str,
        peak_flops: Mapping[str, object],
        memories: Mapping[str, object],
        *,
        id: str | None = None,  # noqa: A002 - the catalogue's word, read-only and only here
        vendor: str = "",
        family: str = "",
        generation: int = 0,
        default_precision: str | None = None,
        aliases: Iterable[str] = (),
        sources: Mapping[str, Source] = MappingProxyType({}),
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            msg = f"a chip's name must be text that is not empty, got {name!r}"
            raise ValueError(msg)
        peaks = _peaks(name, peak_flops)
        levels = _memories(name, memories)
        default = _default_precision(name, peaks, default_precision)
        values = {
            "name": name,
            "peak_flops": MappingProxyType(peaks),
            "memories": MappingProxyType(levels),
            "id": id or re.sub(r"[^a-z0-9.+]+", "-", name.casefold()).strip("-") or "chip",
            "vendor": vendor,
            "family": family,
            "generation": generation,
            "default_precision": default,
            "aliases": (aliases,) if isinstance(aliases, str) else tuple(aliases),
            "sources": MappingProxyType(dict(sources)),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def __hash__(self) -> int:
        return hash((self.id, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.name, dict(self.peak_flops), dict(self.memories), self._rest())

    def with_rates(self, peak_flops: Mapping[str, float], bandwidths: Mapping[str, float]) -> Chip:
        """Return this chip with other peaks by precision, FLOP/s, and other bandwidths by level, bytes/s."""
        memories = {
            level: Memory(level, bandwidths.get(level, memory.bandwidth), memory.capacity)
            for level, memory in self.memories.items()
        }
        return _rebuild(self.name, {**self.peak_flops, **peak_flops}, memories, self._rest())

    def _rest(self) -> dict[str, object]:
        return {
            "id": self.id,
            "vendor": self.vendor,
            "family": self.family,
            "generation": self.generation,
            "default_precision": self.default_precision,
            "aliases": self.aliases,
            "sources": dict(self.sources),
        }

    def __repr__(self) -> str:
        peaks = ", ".join(f"{p} {units.format_quantity(v, 'FLOP/s', 4)}" for p, v in self.peak_flops.items())
        known = [m for m in self.memories.values() if m.bandwidth is not None]
        bandwidths = ", ".join(f"{m.name} {units.format_quantity(m.bandwidth or 0.0, 'B/s', 4)}" for m in known)
        return f"Chip({self.name!r}: {peaks}; {bandwidths})"

    @property
    def main_memory(self) -> str:
        """The name of the memory outside the chip: the first of `memories`."""
        return next(iter(self.memories))

    def precision(self, name: str = "auto") -> str:
        """Return the precision that `name` (any case, or ``"auto"``) means on this chip, else raise."""
        key = name.casefold()
        if key == "auto":
            return self.default_precision
        if key in self.peak_flops:
            return key
        msg = f"{self.name} has no peak for precision '{name}'; it has {listed(self.peak_flops)}"
        raise MissingFigureError(msg)

    def memory(self, name: str = "main") -> str:
        """Return the memory level that `name` (any case, or ``"main"``) means on this chip, else raise."""
        if name.casefold() == "main":
            return self.main_memory
        for level in self.memories:
            if level.casefold() == name.casefold():
                return level
        if is_off_chip(name) and is_off_chip(self.main_memory):
            return self.main_memory
        msg = f"{self.name} has no memory '{name}'; it has {listed(self.memories)}"
        raise MissingFigureError(msg)

    def peak(self, precision: str = "auto") -> float:
        """Return the dense peak rate of a precision, FLOP/s.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision; there is no falling back to another one.
        """
        return self.peak_flops[self.precision(precision)]

    def bandwidth(self, memory: str = "main") -> float:
        """Return the bandwidth of a memory level, bytes/s.

        Raises
        ------
        MissingFigureError
            If the chip has no such level, or its bandwidth is unknown.
        """
        level = self.memories[self.memory(memory)]
        if level.bandwidth is None:
            known = [m.name for m in self.memories.values() if m.bandwidth is not None]
            msg = f"{self.name} has no bandwidth for {level.name}; it has those of {listed(known)}"
            raise MissingFigureError(msg)
        return level.bandwidth

    def ridge_point(self, precision: str = "auto", memory: str = "main") -> float:
        """Return peak over bandwidth, FLOP/byte: the intensity from which a kernel can be compute-bound."""
        return self.peak(precision) / self.bandwidth(memory)


def _rebuild(name: str, peaks: dict[str, float], memories: dict[str, Memory], rest: dict[str, object]) -> Chip:
    return Chip(name, peaks, memories, **rest)  # type: ignore[arg-type]  # what __reduce__ took apart


def _peaks(name: str, given: object) -> dict[str, float]:
    if not isinstance(given, Mapping) or not given:
        msg = f"peak_flops of chip '{name}' must map precisions to rates, such as {{'bf16': '989.5 TFLOP/s'}}"
        raise ValueError(msg)
    peaks: dict[str, float] = {}
    for precision, value in given.items():
        what = f"peak_flops['{precision}'] of chip '{name}'"
        _refuse_twin(str(precision), peaks, f"peak_flops of chip '{name}'")
        peaks[str(precision).casefold()] = units.positive(units.parse(value, "FLOP/s", what), what)
    return peaks


def _memories(name: str, given: object) -> dict[str, Memory]:
    if not isinstance(given, Mapping) or not given:
        msg = f"memories of chip '{name}' must map levels to bandwidths, such as {{'HBM': '3.35 TB/s'}}"
        raise ValueError(msg)
    levels: dict[str, Memory] = {}
    for level, value in given.items():
        what = f"memories['{level}'] of chip '{name}'"
        memory = value if isinstance(value, Memory) else Memory(level, value)
        _refuse_twin(level, levels, f"memories of chip '{name}'")
        levels[level] = Memory(
            level,
            _optional(memory.bandwidth, "B/s", what),
            _optional(memory.capacity, "B", f"capacity of {what}"),
        )
    if next(iter(levels.values())).bandwidth is None:
        msg = f"chip '{name}' needs the bandwidth of its main memory '{next(iter(levels))}', the first of its memories"
        raise ValueError(msg)
    return levels


def _optional(value: object, unit: str, what: str) -> float | None:
    return None if value is None else units.positive(units.parse(value, unit, what), what)


def _refuse_twin(key: str, others: Iterable[str], what: str) -> None:
    """Two names that differ in case alone would be one to every look-up."""
    if any(key.casefold() == other.casefold() for other in others):
        msg = f"{what}: '{key}' is there twice"
        raise ValueError(msg)


def _default_precision(name: str, peaks: Mapping[str, float], given: str | None) -> str:
    if given is None:
        return next((p for p in _PRECISIONS_BY_USE if p in peaks), next(iter(peaks)))
    if given.casefold() not in peaks:
        msg = f"default_precision '{given}' of chip '{name}' is none of its precisions: {listed(peaks)}"
        raise ValueError(msg)
    return given.casefold()
