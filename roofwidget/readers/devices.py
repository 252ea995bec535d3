"""Finds the catalogue's chip for a device name that a driver or a profiler writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from roofwidget.chips import AmbiguousChipError, Chip, UnknownChipError, chip, chips_named
from roofwidget.kernels.columns import DictColumn
from roofwidget.support.did_you_mean import listed

# Suffixes of a model's name. VF: the whole GPU as a virtual function, for a virtual machine. OAM: the module's form. A
# letter and a digit: AMD's silicon stepping, as in MI300A_A1.
_ENDINGS: Final = re.compile(r"(?:[ _](?:VF|OAM)|_[A-Z]\d)$")
# Software sees each of the two dies (GCDs) of these cards as a device with its own counters and kernels.
_TWO_DEVICES: Final = re.compile(r"(?:amd )?(?:instinct )?(mi250x?)", re.IGNORECASE)
# Tools write "Tesla V100-SXM2-16GB (0)".
_NUMBER: Final = re.compile(r"\((\d+)\)\s*$")
_UNITS_TOLERANCE: Final = 0.1
# For each compute capability of NVIDIA, a chip of the catalogue that messages name as an example.
_BY_CAPABILITY: Final[Mapping[float, str]] = {
    3.7: "k80",
    6.0: "p100-sxm2",
    7.0: "v100-sxm2-16gb",
    7.5: "t4",
    8.0: "a100-sxm-80gb",
    8.6: "a40",
    8.7: "jetson-agx-orin-64gb",
    8.9: "l40s",
    9.0: "h100-sxm",
    10.0: "b200",
    10.3: "b300",
    12.0: "rtx-5090",
}


def chip_of_device(name: str, units: float | None = None) -> Chip:
    """Return the catalogue's chip for a device that a driver or a profiler names.

    Parameters
    ----------
    name
        The device's name, as the driver or the profiler writes it.
    units
        The device's multiprocessors or compute units, if known.

    Raises
    ------
    LookupError
        If no chip or several chips have this name. Also if the device has fewer units than the chip: the device is only
        a part of the chip. The message is a clause that can follow the device's name.

    Examples
    --------
    >>> [chip_of_device(name).id for name in ("AMD Instinct MI300X VF", "MI300A_A1", "MI250X", "NVIDIA H200")]
    ['mi300x', 'mi300a', 'mi250x-gcd', 'h200-sxm']
    """
    text = _ENDINGS.sub("", name.strip())
    pair = _TWO_DEVICES.fullmatch(text)
    try:
        found = chip(f"{pair[1]}-gcd" if pair else text)
    except AmbiguousChipError:
        raise LookupError(f"which is one of several chips: {listed(one.id for one in chips_named(text))}") from None
    except UnknownChipError:
        raise LookupError("which is not one chip of the catalogue") from None
    # RDNA drivers count pairs of compute units. So `units` cannot be compared with the chip's number of units.
    whole = None if found.family.startswith("RDNA") else re.match(r"\d+", found.units or "")
    if units is not None and whole is not None and units < (1 - _UNITS_TOLERANCE) * int(whole[0]):
        raise LookupError(f"of which the device is a part: it has {units:g} of {found.units}")
    return found


def one_chip_of(names: Iterable[str], units: float | None = None) -> tuple[Chip | None, list[str]]:
    """Return the chip that all these devices are (None if the catalogue lacks it, or they differ) and warnings.

    Examples
    --------
    >>> one_chip_of(["NVIDIA H200", "NVIDIA H200"])[0].id, one_chip_of(["NVIDIA H200", "Tesla T4"])[0]
    ('h200-sxm', None)
    """
    different = list(dict.fromkeys(names))
    if len(different) > 1:
        return None, [f"the kernels ran on different chips: {listed(different)}"]
    try:
        return (chip_of_device(different[0], units) if different else None), []
    except LookupError as error:
        return None, [f"the kernels ran on '{different[0]}', {error}; name a chip"]


def without_number(device: str) -> str:
    """Return the name of a device without its number in brackets.

    Examples
    --------
    >>> without_number("NVIDIA A100-SXM4-40GB (0)")
    'NVIDIA A100-SXM4-40GB'
    """
    return _NUMBER.sub("", device).strip()


def named_apart(names: Iterable[str], devices: Iterable[Any]) -> list[str]:
    """Return names of kernels, with the device in brackets where a name is on several devices.

    Examples
    --------
    >>> named_apart(["a", "a", "b"], ["A100 (0)", "A100 (1)", "A100 (1)"])
    ['a (device 0)', 'a (device 1)', 'b']
    """
    names, devices = list(names), list(devices)
    if len(set(devices)) <= 1:
        return names
    pairs = Counter(name for name, _ in set(zip(names, devices, strict=True)))
    shown = {device: _shown_device(device) for device in set(devices)}
    return [name + shown[device] if pairs[name] > 1 else name for name, device in zip(names, devices, strict=True)]


def by_device(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `Kernels` with the chip and the names that their texts in the column ``Device`` give.

    Examples
    --------
    >>> by_device({"extra": {}, "warnings": ["none"]}, ["a"])
    {'extra': {}, 'warnings': ['none'], 'names': ['a']}
    """
    devices = found["extra"].get("Device")
    if not isinstance(devices, DictColumn):
        return {**found, "names": list(names)}
    texts = devices.texts().tolist()
    model, warnings = one_chip_of(without_number(device) for device in dict.fromkeys(texts) if device)
    warnings = [*found["warnings"], *warnings]
    return {**found, "chip": model, "warnings": warnings, "names": named_apart(names, texts)}


def _shown_device(device: Any) -> str:
    number = _NUMBER.search(str(device))
    return "" if device is None else f" (device {number[1] if number else device})"


def gfx_of(name: str) -> str:
    """Return the architecture that a text on a GPU of AMD names; empty if it names none.

    Examples
    --------
    >>> gfx_of("gfx942:sramecc+:xnack-"), gfx_of("AMD EPYC")
    ('gfx942', '')
    """
    found = re.search("gfx[0-9a-f]+", name.casefold())
    return found[0] if found else ""


def chip_of_capability(capability: float | None) -> str:
    """Return the id of a chip with this compute capability, as an example for messages.

    If `capability` is None, return the id of a common chip.

    Examples
    --------
    >>> chip_of_capability(7.0), chip_of_capability(12.1), chip_of_capability(None)
    ('v100-sxm2-16gb', 'rtx-5090', 'h100-sxm')
    """
    if capability is None or not capability > 0:
        return "h100-sxm"
    nearest = min(_BY_CAPABILITY, key=lambda known: (abs(known - capability), known))
    return _BY_CAPABILITY[nearest]
