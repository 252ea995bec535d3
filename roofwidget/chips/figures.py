"""The parts of a chip: memories, links, ceilings, and where each figure comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

ASSUMED_USABLE_SHARE: Final = 0.93
"""The part of a main memory that programs can allocate, where no figure is known.

Of the chips of the catalogue with both figures, B200 and B300 have the smallest part: 0.9326.
"""
FLOP_CLASSES: Final = frozenset({"matmul", "tensor", "transcendental", "vector"})
"""Classes of FLOPs that may have their own peak on a chip; ``matmul`` and ``tensor`` mean the same."""
NETWORK: Final = "network"
"""The name under which bytes and what-if rates of the link to other chips are given beside those of memory levels."""

# Names that vendors and profilers give to off-chip memory.
_OFF_CHIP: Final = re.compile(r"main|hbm\d?e?|dram|(?:g|lp)?ddr\d?x?|unified memory|device memory", re.IGNORECASE)

# Names of links from a chip to its host. By default bytes between chips use other links.
_TO_HOST: Final = re.compile(r"(?:pci(?:[ -]?e(?:xpress)?)?|cxl)(?:[ \d].*)?", re.IGNORECASE)


class MissingFigureError(LookupError):
    """A chip lacks a requested figure; the message lists the figures that the chip has."""

    __module__ = "roofwidget"


def is_off_chip(level: str) -> bool:
    """Return whether a memory level's name is a usual name of off-chip memory.

    Examples
    --------
    >>> is_off_chip("HBM"), is_off_chip("GDDR6X"), is_off_chip("L2")
    (True, True, False)
    """
    return _OFF_CHIP.fullmatch(level.strip()) is not None


def is_host_link(link: str) -> bool:
    """Return whether a link's name is a usual name of a link to the host, not to other chips.

    Examples
    --------
    >>> is_host_link("PCIe"), is_host_link("PCIe 5 x16"), is_host_link("NVLink")
    (True, True, False)
    """
    return _TO_HOST.fullmatch(link.strip()) is not None


@dataclass(frozen=True)
class Source:
    """The source of a figure.

    Parameters
    ----------
    title, url
        The document.
    confidence
        ``datasheet``, ``vendor doc``, ``source code``, ``derived``, ``measured``, ``secondary``, ``illustrative`` (an
        example value that belongs to no real chip) or ``given`` (by the user, without a document).
    """

    __module__ = "roofwidget"

    title: str
    url: str = ""
    confidence: str = "given"


@dataclass(frozen=True)
class Memory:
    """One memory level of a chip.

    Parameters
    ----------
    name
        The usual name of the memory: ``HBM``, ``L2``, ``VMEM read``.
    bandwidth
        bytes/s of the whole chip, or None when unknown.
    capacity
        bytes that the whole chip has, or None when unknown. Memories are made of powers of two: the "80 GB" that a
        data sheet prints is 80 GiB, and its "50 MB" of L2 are 50 MiB.
    scope
        Which units share the memory, as its source writes it, such as ``per SM, private``.
    usable
        bytes of the capacity that programs can allocate, as the driver reports them, or None when unknown. Error
        correction and firmware take the rest.
    per_block
        bytes that one block of threads can allocate, or None for a whole unit's share. CUDA gives a block of an H100 at
        most 227 KiB of the 256 KiB of each multiprocessor; the rest is cache, and 1 KiB is reserved.
    latency
        Seconds from a load to its data while nothing else uses the memory, as a pointer chase of one thread measures
        them; None when unknown. It is the least latency: with other loads under way a load takes longer.

    Examples
    --------
    >>> h100 = Memory("HBM", 3.35e12, 80 * 2**30, usable=81_559 * 2**20)
    >>> h100.allocatable, Memory("HBM", 3.35e12, 100.0).allocatable
    (85520809984, 93.0)
    """

    __module__ = "roofwidget"

    name: str
    bandwidth: float | None = None
    capacity: float | None = None
    scope: str = ""
    usable: float | None = None
    per_block: float | None = None
    latency: float | None = None

    @property
    def allocatable(self) -> float | None:
        """Bytes that programs can allocate: `usable`, or if unknown 93 % of the capacity, which is an assumption."""
        if self.usable is not None or self.capacity is None:
            return self.usable
        return ASSUMED_USABLE_SHARE * self.capacity


@dataclass(frozen=True)
class Link:
    """A link from a chip to other chips or to its host.

    Parameters
    ----------
    name
        The usual name of the link: ``NVLink``, ``ICI``, ``PCIe``.
    bandwidth
        bytes/s **one way**, summed over all links of this kind on one chip; None when unknown.
    per_link
        bytes/s one way over a single link, or None when unknown.
    latency
        Seconds per hop, or None when unknown.
    printed
        The figure as its source prints it. Some vendors count one direction, some count both directions, and some do
        not say.
    """

    __module__ = "roofwidget"

    name: str
    bandwidth: float | None = None
    per_link: float | None = None
    latency: float | None = None
    printed: str = ""


@dataclass(frozen=True)
class Ceiling:
    """A roof below the peak: the rate without a feature of the chip, or a measured rate.

    Parameters
    ----------
    name
        Display name: ``no FMA``, ``STREAM``, ``measured``.
    rate
        FLOP/s, or bytes/s if `memory` is given.
    memory
        The level whose bandwidth is above the ceiling; None for a ceiling of compute.
    precision
        The precision whose peak is above a ceiling of compute; None for all precisions.
    measured
        Whether the rate was measured; False for a rate from a data sheet or a model.
    source
        The source of the rate.
    """

    __module__ = "roofwidget"

    name: str
    rate: float
    memory: str | None = None
    precision: str | None = None
    measured: bool = False
    source: Source | None = None

    @property
    def key(self) -> str:
        """The key that selects the ceiling: the ceiling's name, then the level or precision of its roof, if known."""
        place = self.memory or self.precision
        return f"{self.name} {place}" if place else self.name


@dataclass(frozen=True)
class Check:
    """The value that another source gives for a figure. The value may be wrong.

    Parameters
    ----------
    figure
        The figure's key, such as ``peak_flops.bf16`` or ``memories.HBM.bandwidth``.
    value
        The value in the unit of the figure.
    source
        The other source.
    """

    __module__ = "roofwidget.chips"

    figure: str
    value: float
    source: Source


@dataclass(frozen=True)
class Energy:
    """Energy costs of work on a chip, for an energy roofline (Choi, Bedard, Fowler and Vuduc, IPDPS 2013).

    Parameters
    ----------
    per_flop
        Joules per FLOP.
    per_byte
        Joules per byte of main memory.
    constant_power
        Watts that the chip draws all the time.
    """

    __module__ = "roofwidget"

    per_flop: float
    per_byte: float
    constant_power: float


@dataclass(frozen=True)
class Figure:
    """One row of a chip's card.

    Parameters
    ----------
    key
        As in `Chip.sources`, such as ``peak_flops.bf16``. A ceiling has a key such as ``ceilings.measured.L2``.
    label
        Display text.
    value
        The value in base units; None if the figure of a level or link is unknown.
    unit
        ``FLOP/s``, ``B/s``, ``B``, ``s``, ``Hz``, ``W``, ``J/FLOP``, ``J/B``, a word such as ``SM``, or empty.
    source
        The source of the value; None if not stated.
    checks
        Values from other sources.
    """

    __module__ = "roofwidget.chips"

    key: str
    label: str
    value: float | None
    unit: str
    source: Source | None = None
    checks: tuple[Check, ...] = ()
