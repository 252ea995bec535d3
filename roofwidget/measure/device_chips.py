"""Finds the catalogue's chip of a device, and what a MIG slice or a partition leaves of it. Never guesses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from roofwidget import units
from roofwidget.chips import Chip, Source, UnknownChipError, chips, chips_named, is_host_link
from roofwidget.measure.device_tools import Device
from roofwidget.readers.devices import chip_of_device
from roofwidget.support.did_you_mean import listed, nearest

_MIG_GUIDE: Final = Source(
    "NVIDIA MIG User Guide, Supported MIG Profiles",
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html",
    "derived",
)
_PARTITION_GUIDE: Final = Source(
    "AMD SMI, GPU partitioning",
    "https://rocm.docs.amd.com/projects/amdsmi/en/latest/conceptual/partition.html",
    "derived",
)
# The slices of a whole GPU by the tables of the guide: of the multiprocessors, and of memory and L2.
_SLICES: Final = (
    (re.compile(r"a30"), 4, 4),
    (re.compile(r"a100-.*|a800|h100-.*|h200-.*|gh200-.*|b200|gb200"), 7, 8),
)
_PROFILE: Final = re.compile(r"(\d)g\.(\d+)gb.*")
# The number of devices that a mode makes of one GPU; CPX makes a device of each XCD.
_MODES: Final[Mapping[str, int]] = {"SPX": 1, "DPX": 2, "TPX": 3, "QPX": 4}
_XCDS: Final[Mapping[str, int]] = {"mi300a": 6, "mi300x": 8, "mi325x": 8, "mi350x": 8, "mi355x": 8}
# Memories of the whole GPU; the others belong to multiprocessors or XCDs.
_SHARED_MEMORIES: Final = frozenset({"L2", "Infinity Cache"})
# A tool reports the memory that programs can allocate: error correction and firmware take a part of the capacity. The
# upper limit leaves room for rounding.
_LEAST_MEMORY, _MOST_MEMORY = 0.85, 1.01
_MAX_CANDIDATES: Final = 5
_TOLERANCE: Final = 0.01


def chip_here(device: Device) -> Chip:
    """Return the chip of a device, with notes on its limits and modes.

    Raises
    ------
    UnknownChipError
        If the device is not exactly one chip of the catalogue, or is an undocumented part of one. The message names
        the nearest chips, and what speaks for or against them.

    Examples
    --------
    >>> chip_here(Device("NVIDIA H100 80GB HBM3", "nvidia-smi", pci="10de:2330", power_limit=500.0)).notes[0]
    'nvidia-smi: the power limit is 500 W, 200 W below the data sheet: sustained rates can be lower than the peaks.'
    """
    whole = _whole(device)
    if device.slice:
        found = _slice(whole, device)
    elif device.partition not in {"", "SPX"} or device.memory_partition not in {"", "NPS1"}:
        found = _partition(whole, device)
    else:
        found = whole
    return found.replace(notes=[*_limits(whole, device), *found.notes])


def refused(device: Device, why: str, candidates: list[str]) -> UnknownChipError:
    """Return the error for a device that is not exactly one chip."""
    near = f"; the nearest are {listed(candidates)}" if candidates else ""
    said = [f"PCI id {device.pci}"] * bool(device.pci) + [device.architecture] * bool(device.architecture)
    known = f" ({', '.join(said)})" if said else ""
    return UnknownChipError(
        f"{device.tool} finds '{device.name}'{known}, {why}{near}. Take one with rw.chip(…), or measure this machine "
        "with rw.measure_peaks()"
    )


def _whole(device: Device) -> Chip:
    """Return the chip that the name or the PCI id means, if what else the tool says agrees."""
    by_name, by_pci = _named(device.name), _named(device.pci) if device.pci else ()
    found = by_name or by_pci
    if by_name and by_pci:
        found = tuple(one for one in by_name if one in by_pci)
        if not found:
            raise refused(device, "but the PCI id is that of another chip", [one.id for one in (*by_name, *by_pci)])
    if not found:
        raise refused(device, "which is no chip of the catalogue", _near(device))
    fitting = [one for one in found if _memory_fits(one, device)]
    if not fitting:
        sizes = listed([f"{one.id} with {_gigabytes(_capacity(one))}" for one in found])
        said = f"but the device has {_gigabytes(device.memory)} of memory"
        raise refused(device, f"which would be {sizes}, {said}: another variant, or a part of it", [])
    if len(fitting) > 1:
        raise refused(device, "which is the name of several chips", [one.id for one in fitting])
    (only,) = fitting
    _refuse_fewer_units(only, device)
    return only


def _named(name: str) -> tuple[Chip, ...]:
    """Return the chips that a name means: none, one, or the several that share it."""
    try:
        return (chip_of_device(name),)
    except LookupError:
        return chips_named(name)


def _near(device: Device) -> list[str]:
    """Return ids of chips of the same instruction set, else of chips with similar names."""
    kin = [one.id for one in _named(device.architecture)] if device.architecture else []
    by_name = {name: one.id for one in chips() for name in (one.name, *one.aliases) if ":" not in name}
    alike = [by_name[name] for name in nearest(device.name, by_name, most=_MAX_CANDIDATES)]
    return list(dict.fromkeys(kin or alike))[:_MAX_CANDIDATES]


def _capacity(one: Chip) -> float | None:
    return one.memories[one.main_memory].capacity


def _memory_fits(one: Chip, device: Device) -> bool:
    capacity = _capacity(one)
    if capacity is None or device.memory is None or device.partition not in {"", "SPX"}:
        return True
    return _LEAST_MEMORY <= device.memory / capacity <= _MOST_MEMORY


def _gigabytes(size: float | None) -> str:
    return "unknown memory" if size is None else units.format_capacity(size)


def _refuse_fewer_units(one: Chip, device: Device) -> None:
    try:
        chip_of_device(one.id, None if device.partition not in {"", "SPX"} else device.units)
    except LookupError as error:
        raise refused(device, str(error), [one.id]) from None


def _limits(one: Chip, device: Device) -> list[str]:
    notes = []
    if device.power_limit is not None:
        text = f"{device.tool}: the power limit is {device.power_limit:.0f} W"
        if one.power is not None and device.power_limit < (1 - _TOLERANCE) * one.power:
            missing = f"{one.power - device.power_limit:.0f} W below the data sheet"
            text += f", {missing}: sustained rates can be lower than the peaks"
        notes.append(f"{text}.")
    if device.max_clock is not None:
        text = f"{device.tool}: the highest clock is {units.format_quantity(device.max_clock, 'Hz', 4)}"
        if one.clock is not None and abs(device.max_clock - one.clock) > _TOLERANCE * one.clock:
            text += f"; the peaks of the data sheet are for {units.format_quantity(one.clock, 'Hz', 4)}"
        notes.append(f"{text}.")
    return notes


def _slice(whole: Chip, device: Device) -> Chip:
    match = _PROFILE.fullmatch(device.slice)
    slices = next((counts for ids, *counts in _SLICES if ids.fullmatch(whole.id)), None)
    capacity = whole.memories[whole.main_memory].allocatable
    if match is None or slices is None or capacity is None:
        why = f"a MIG slice {device.slice}" if match else "a GPU in MIG mode, whose slice is unknown"
        raise refused(device, f"{why}: no documentation here says which part of the peaks it has", [whole.id])
    computing, remembering = slices
    compute = min(1.0, int(match[1]) / computing)
    share = min(1.0, round(int(match[2]) * 2**30 / capacity * remembering) / remembering)
    note = (
        f"A MIG slice {device.slice} of the {whole.name}: {int(match[1])}/{computing} of its multiprocessors and "
        f"{share:g} of its memory, by the nominal shares of the MIG User Guide. A slice has no links to other GPUs."
    )
    return _part(whole, f"MIG {device.slice}", compute, share, guide=_MIG_GUIDE, note=note)


def _partition(whole: Chip, device: Device) -> Chip:
    modes = _MODES if whole.id not in _XCDS else {**_MODES, "CPX": _XCDS[whole.id]}
    count = modes.get(device.partition or "SPX")
    domains = re.fullmatch(r"NPS([1248])", device.memory_partition or "NPS1")
    if count is None or domains is None or whole.id not in _XCDS:
        mode = " ".join(filter(None, (device.partition, device.memory_partition)))
        raise refused(device, f"in mode {mode}: no documentation here says which part of the peaks it has", [whole.id])
    mode = f"{device.partition or 'SPX'}/{device.memory_partition or 'NPS1'}"
    note = (
        f"One of {count} partitions of the {whole.name} in mode {mode}: 1/{count} of its compute units; its memory is "
        f"1/{domains[1]} of the chip's, and other partitions use the same memory at the same time."
    )
    return _part(whole, mode, 1 / count, 1 / int(domains[1]), guide=_PARTITION_GUIDE, note=note)


def _part(whole: Chip, name: str, compute: float, memory: float, *, guide: Source, note: str) -> Chip:
    """Return a part of a chip: `compute` of its units and `memory` of its main memory and the caches before it."""

    def share(level: str) -> float:
        return memory if level == whole.main_memory or level in _SHARED_MEMORIES else compute

    def scaled(value: float | None, factor: float) -> float | None:
        return None if value is None else factor * value

    def source(factor: float) -> Source:
        return Source(f"{guide.title}: {factor:.4g} x {whole.name}", guide.url, guide.confidence)

    sources = {f"peak_flops.{key}": source(compute) for key in whole.peak_flops}
    for key, level in whole.memories.items():
        known = {"bandwidth": level.bandwidth, "capacity": level.capacity, "usable": level.usable}
        sources |= {f"memories.{key}.{part}": source(share(key)) for part, value in known.items() if value is not None}
    links = {key: link for key, link in whole.links.items() if is_host_link(key)}
    kept = tuple(f"links.{link}." for link in links)
    same = {
        key: at for key, at in whole.sources.items() if key.startswith(kept) or key.endswith((".per_block", ".latency"))
    }
    parts: dict[str, Any] = {
        key: replace(
            one,
            bandwidth=scaled(one.bandwidth, share(key)),
            capacity=scaled(one.capacity, share(key)),
            usable=scaled(one.usable, share(key)),
        )
        for key, one in whole.memories.items()
    }
    return Chip(
        f"{whole.name}, {name}",
        {key: compute * rate for key, rate in whole.peak_flops.items()},
        parts,
        vendor=whole.vendor,
        family=whole.family,
        generation=whole.generation,
        kind=whole.kind,
        year=whole.year,
        status=whole.status,
        default_precision=whole.default_precision,
        sources={**sources, **same},
        links=links,
        notes=[note, *whole.notes],
    )
