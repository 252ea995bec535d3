"""Computes rates: peaks and bandwidths from the data sheet, and the what-if rates that replace these figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from roofwidget import units
from roofwidget.chips import FLOP_CLASSES, NETWORK, Chip, is_host_link, is_off_chip
from roofwidget.kernels.table import Kernels
from roofwidget.support.arguments import text_argument
from roofwidget.support.did_you_mean import choose_from
from roofwidget.support.precisions import precision_key

Quantity: TypeAlias = Literal["peak_flops", "bandwidth", "latency"]
WhatIf: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Figures that replace the data sheet's: by chip id, quantity, and precision or memory level. "network" is the link.
Only the link has a latency."""

QUANTITIES: Final[tuple[Quantity, ...]] = ("peak_flops", "bandwidth")
"""The quantities of a roofline. The latency of a link changes no bound."""
ALL_QUANTITIES: Final[tuple[Quantity, ...]] = (*QUANTITIES, "latency")
PEAKS: Final = ("printed", "achievable")
# Two clocks count as equal if their relative difference is smaller than this.
_CLOCK_TOLERANCE: Final = 1e-9
_MIN_RATES_OF_A_CLOCK: Final = 2
_UNITS: Final = MappingProxyType({"peak_flops": "FLOP/s", "bandwidth": "B/s", "latency": "s"})


def parsed_rate(value: float | str, quantity: Quantity, what: str) -> float:
    """Return a figure as a float: FLOP/s for ``"peak_flops"``, bytes/s for ``"bandwidth"``, seconds for ``"latency"``.

    Raises
    ------
    TypeError, ValueError
        If the value is not a rate that hardware can have. The message begins with `what`.
    """
    return units.figure(value, _UNITS[quantity], what)


def read_only_what_if(given: Any) -> WhatIf:
    """Return what-if rates as read-only mappings of floats, without empty mappings.

    Raises
    ------
    TypeError, ValueError
        If the value is not a nested mapping, if a quantity is unknown, or if no hardware can have a rate.
    """
    chips: dict[str, dict[str, dict[str, float]]] = {}
    for chip, quantities in _mapping(given).items():
        changes: dict[str, dict[str, float]] = {}
        for quantity, values in _mapping(quantities).items():
            if quantity not in _UNITS:
                raise ValueError(f"what_if['{chip}'] may hold {', '.join(_UNITS)}, not '{quantity}'")
            rates = {
                precision_key(str(key)) if quantity == "peak_flops" else str(key): parsed_rate(
                    value, quantity, f"what_if['{chip}']['{quantity}']['{key}']"
                )
                for key, value in _mapping(values).items()
            }
            changes[quantity] = rates
        chips[str(chip)] = changes
    return _read_only(chips)


def _read_only(checked: Mapping[str, Mapping[str, Mapping[str, float]]]) -> WhatIf:
    """Return checked rates as read-only mappings, without empty mappings."""
    found: dict[str, Mapping[str, Mapping[str, float]]] = {}
    for chip, quantities in checked.items():
        changes = {quantity: MappingProxyType(rates) for quantity, rates in quantities.items() if rates}
        if changes:
            found[chip] = MappingProxyType(changes)
    return MappingProxyType(found)


def _mapping(part: Any) -> Mapping[Any, Any]:
    if not isinstance(part, Mapping):
        shape = "{'peak_flops': {precision: rate}, 'bandwidth': {level: rate}}"
        raise TypeError(f"expected a mapping from chip id to {shape}, got {part!r:.60}")
    return part


def with_known_figures(what_if: WhatIf, chips: Sequence[Chip]) -> WhatIf:
    """Return only the what-if rates that replace a figure in the data sheet of one of these chips."""
    changed = (chip for chip in chips if chip.id in what_if)
    return _read_only(
        {
            chip.id: {
                quantity: {key: rate for key, rate in rates.items() if _has_figure(chip, quantity, key)}
                for quantity, rates in what_if[chip.id].items()
            }
            for chip in changed
        }
    )


def _has_figure(chip: Chip, quantity: str, key: str) -> bool:
    if quantity == "peak_flops":
        return key in chip.peak_flops
    if quantity == "latency" and key != NETWORK:
        return False
    if key == NETWORK:
        return any(link.bandwidth is not None for name, link in chip.links.items() if not is_host_link(name))
    return key in chip.memories and chip.memories[key].bandwidth is not None


def with_rates(what_if: WhatIf, chip: Chip, rates: Mapping[tuple[Quantity, str], float]) -> WhatIf:
    """Return the what-if rates of all chips, with `rates` as new what-if rates of one chip.

    A key of `rates` is a pair, such as ``("peak_flops", "bf16")`` or ``("bandwidth", "HBM")``. If a rate is equal to
    the rate in the data sheet, the rate is left out.

    Raises
    ------
    MissingFigureError
        If the data sheet of the chip has no such figure.
    """
    changed: dict[str, dict[str, float]] = {
        quantity: dict(values) for quantity, values in what_if.get(chip.id, {}).items()
    }
    for (quantity, key), rate in rates.items():
        sheet = _sheet_rate(chip, quantity, key)
        values = changed.setdefault(quantity, {})
        values[key] = parsed_rate(rate, quantity, f"what_if['{chip.id}']['{quantity}']['{key}']")
        if rate == sheet:
            del values[key]
    found = {**what_if, **_read_only({chip.id: changed})}
    if not any(changed.values()):
        found.pop(chip.id, None)
    return MappingProxyType(found)


def with_peaks(what_if: WhatIf, chips: Sequence[Chip], peaks: str) -> WhatIf:
    """Return the what-if rates with the measured rates of all chips (``achievable``), or without them (``printed``).

    Other what-if rates stay. A measured bandwidth of a level without a published one is left out: what-if rates replace
    figures of the data sheet.

    Raises
    ------
    ValueError
        If `peaks` is neither ``achievable`` nor ``printed``.
    """
    if peaks not in PEAKS:
        raise ValueError(f"peaks: unknown {peaks!r}{choose_from(peaks, PEAKS)}")
    for chip in chips:
        rates = achievable_rates(chip)
        wanted = {key: _sheet_rate(chip, *key) for key in rates} if peaks == "printed" else rates
        what_if = with_rates(what_if, chip, wanted)
    return what_if


def with_clock(what_if: WhatIf, chip: Chip, clock: float | str | None) -> WhatIf:
    """Return the what-if rates with those of one chip at another clock, as `Chip.at_clock` has them.

    Other what-if rates stay. Without a clock the rates are those of the data sheet.

    Raises
    ------
    MissingFigureError
        If the clock of the chip's figures is unknown.
    """
    other = chip if clock is None else chip.at_clock(clock)
    return with_rates(what_if, chip, _rates_with_the_clock(other))


def resolved(what_if: WhatIf, chip: Chip) -> Chip:
    """Return a chip with its what-if rates.

    If all of them are those of another clock, the memories on the chip have the latencies of as many cycles.
    """
    changes = what_if.get(chip.id, {})
    peaks, bandwidths = changes.get("peak_flops", {}), changes.get("bandwidth", {})
    share = _share_of_clock(chip, peaks, bandwidths)
    on_chip = (key for key in chip.memories if share != 1 and key != chip.main_memory and not is_off_chip(key))
    waits = {key: seconds / share for key in on_chip if (seconds := chip.memories[key].latency) is not None}
    return chip.with_rates(peaks, bandwidths, waits)


def _share_of_clock(chip: Chip, peaks: Mapping[str, float], bandwidths: Mapping[str, float]) -> float:
    """Return the clock to which all rates belong over that of the data sheet; 1 if they belong to no one clock.

    A change of the only rate of a chip is no other clock.
    """
    sheet = _rates_with_the_clock(chip)
    if chip.clock is None or len(sheet) < _MIN_RATES_OF_A_CLOCK:
        return 1.0
    now = {"peak_flops": peaks, "bandwidth": bandwidths}
    shares = [now[quantity].get(key, rate) / rate for (quantity, key), rate in sheet.items()]
    is_one = all(math.isclose(share, shares[0], rel_tol=_CLOCK_TOLERANCE) for share in shares)
    return shares[0] if is_one else 1.0


def _rates_with_the_clock(chip: Chip) -> dict[tuple[Quantity, str], float]:
    """Return the rates that go with the clock: peaks, and bandwidths of memories on the chip."""
    peaks: dict[tuple[Quantity, str], float] = {("peak_flops", key): peak for key, peak in chip.peak_flops.items()}
    return peaks | {
        ("bandwidth", key): memory.bandwidth
        for key, memory in chip.memories.items()
        if memory.bandwidth is not None and key != chip.main_memory and not is_off_chip(key)
    }


def achievable_rates(chip: Chip) -> dict[tuple[Quantity, str], float]:
    """Return the measured rates of a chip that can replace figures of its data sheet."""
    measured = chip.measured_rates
    peaks: dict[tuple[Quantity, str], float] = {
        ("peak_flops", key): one.rate for key in chip.peak_flops if (one := measured.get(f"peak_flops.{key}"))
    }
    return peaks | {
        ("bandwidth", key): one.rate
        for key, memory in chip.memories.items()
        if memory.bandwidth is not None and (one := measured.get(f"memories.{key}.bandwidth"))
    }


def rate_in_force(what_if: WhatIf, chip: Chip, quantity: Quantity, key: str) -> float:
    """Return the what-if rate of a chip. If there is none, return the rate in the data sheet.

    `key` is a precision for ``"peak_flops"``, a memory level or ``"network"`` for ``"bandwidth"``, and ``"network"``
    for ``"latency"``, which is NaN if it is unknown.

    Raises
    ------
    MissingFigureError
        If the data sheet has no such figure.
    """
    sheet = _sheet_rate(chip, quantity, key)
    return float(what_if.get(chip.id, {}).get(quantity, {}).get(key, sheet))


def _sheet_rate(chip: Chip, quantity: Quantity, key: str) -> float:
    if quantity == "peak_flops":
        return chip.peak(key)
    if quantity == "latency":
        latency = chip.link().latency
        return math.nan if latency is None else latency
    return chip.link_bandwidth() if key == NETWORK else chip.bandwidth(key)


def common_precision(kernels: Kernels) -> str:
    """Return the precision that all kernels with FLOPs have in common.

    Return an empty text if the kernels have different precisions, or if no kernel has FLOPs.

    Examples
    --------
    >>> import roofwidget as rw
    >>> own = ["fp8", "fp8", "fp32"]
    >>> common_precision(rw.Kernels(["a", "b", "copy"], [8, 8, 0], [1, 1, 1], precision=own))
    'fp8'
    """
    own = kernels.codes("precision")
    found: set[str] = set()
    for key, flops in kernels.flops_by_precision.items():
        works = flops > 0
        if key and key not in FLOP_CLASSES:
            found |= {key} if works.any() else set()
        else:
            found |= {own.values[code] or "" for code in np.flatnonzero(np.bincount(own.codes[works]))}
    return found.pop() if len(found) == 1 else ""


def one_level(memory: str) -> str:
    """Return `memory`, the selected memory level. If it is 'all', return 'main', because a slider changes one level."""
    return "main" if text_argument(memory, "memory").casefold() == "all" else memory
