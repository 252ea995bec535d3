"""The parts of a chip: memories, links, ceilings, and where each figure comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = [
    "FLOP_CLASSES",
    "Ceiling",
    "Check",
    "Energy",
    "Figure",
    "Link",
    "Memory",
    "MissingFigureError",
    "Source",
    "is_off_chip",
]

FLOP_CLASSES: Final = frozenset({"matmul", "tensor", "transcendental", "vector"})
"""Kinds of FLOPs that a chip may have a peak of their own for; ``matmul`` and ``tensor`` mean the same."""

# What vendors and profilers call the memory outside the chip.
_OFF_CHIP: Final = re.compile(r"main|hbm\d?e?|dram|(?:g|lp)?ddr\d?x?|unified memory|device memory", re.IGNORECASE)


class MissingFigureError(LookupError):
    """A chip was asked for a figure that it does not have; the message names those it has."""

    __module__ = "roofwidget"


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
        ``datasheet``, ``vendor doc``, ``source code``, ``derived``, ``measured``, ``secondary``, ``illustrative``
        (chosen to show something, true of no chip) or ``given``.
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
        As people write it: ``HBM``, ``L2``, ``VMEM read``.
    bandwidth
        bytes/s of the whole chip, or None when unknown.
    capacity
        bytes of the whole chip, or None when unknown.
    scope
        Who shares it and what its source says of it, such as ``per SM, private``.
    """

    __module__ = "roofwidget"

    name: str
    bandwidth: float | None = None
    capacity: float | None = None
    scope: str = ""


@dataclass(frozen=True)
class Link:
    """What joins a chip to other chips or to its host.

    Parameters
    ----------
    name
        As people write it: ``NVLink``, ``ICI``, ``PCIe``.
    bandwidth
        bytes/s **one way**, over all links of this kind that one chip has; None when unknown.
    per_link
        bytes/s one way over one link, or None when unknown.
    latency
        Seconds a hop, or None when unknown.
    printed
        The figure as its source prints it, direction included: vendors count one way, both ways or do not say.
    """

    __module__ = "roofwidget"

    name: str
    bandwidth: float | None = None
    per_link: float | None = None
    latency: float | None = None
    printed: str = ""


@dataclass(frozen=True)
class Ceiling:
    """A roof below the peak: what a chip reaches without one of its means, or what was measured on it.

    Parameters
    ----------
    name
        What people read: ``no FMA``, ``STREAM``, ``measured``.
    rate
        FLOP/s, or bytes/s where `memory` is given.
    memory
        The level whose bandwidth it lies under; None for a ceiling of compute.
    precision
        The precision whose peak a ceiling of compute lies under; None for all of them.
    measured
        Whether somebody measured it; a ceiling from a data sheet or a model is not.
    source
        Where it comes from.
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
        """What it is chosen by: its name, and the level or the precision that it lies under."""
        place = self.memory or self.precision
        return f"{self.name} {place}" if place else self.name


@dataclass(frozen=True)
class Check:
    """The value that another source gives for a figure, right or wrong.

    Parameters
    ----------
    figure
        The figure's key, such as ``peak_flops.bf16`` or ``memories.HBM.bandwidth``.
    value
        In the unit of that figure.
    source
        The other source.
    """

    __module__ = "roofwidget.chips"

    figure: str
    value: float
    source: Source


@dataclass(frozen=True)
class Energy:
    """What work costs on a chip, for a roofline of energy (Choi, Bedard, Fowler and Vuduc, IPDPS 2013).

    Parameters
    ----------
    per_flop
        Joules per FLOP.
    per_byte
        Joules per byte of main memory.
    constant_power
        Watts that flow all the time.
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
        As in `Chip.sources`, such as ``peak_flops.bf16``; a ceiling's is ``ceilings.measured.L2``.
    label
        What people read.
    value
        In base units, or None where the level or link is there but its figure is unknown.
    unit
        ``FLOP/s``, ``B/s``, ``B``, ``s``, ``Hz``, ``W``, ``J/FLOP``, ``J/B``, a word such as ``SM``, or nothing.
    source
        Where it comes from; None where nobody said.
    checks
        What other sources say.
    """

    __module__ = "roofwidget.chips"

    key: str
    label: str
    value: float | None
    unit: str
    source: Source | None = None
    checks: tuple[Check, ...] = ()
