"""The chips of a chart and their rates: which are shown, which has the focus, precision, memory and ceilings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from roofwidget import wire
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.chips import chip as catalogue_chip
from roofwidget.state.field import Field, Refused, put
from roofwidget.state.forms import (
    catalogue_ids,
    distinct_chips,
    flag,
    names,
    optional,
    seconds,
    share_of_time,
    shares,
    text,
)
from roofwidget.state.what_if import (
    Quantity,
    WhatIf,
    common_precision,
    one_level,
    parsed_rate,
    rate_in_force,
    read_only_what_if,
    with_known_figures,
    with_rates,
)
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.support.precisions import precision_key

if TYPE_CHECKING:
    from roofwidget.state.state import State

NO_CHIPS_HINT: Final = "pass chips=['h100-sxm'] or the like"
"""What an error message proposes where there are no chips."""
MAX_CHIPS_SHOWN_AT_FIRST: Final = 6
"""More rooflines than this would overlap too much to be read."""


def chip_called(name: object, chips: Sequence[Chip]) -> Chip:
    """Return the chip whose id, name or alias is `name`. Upper and lower case are equal.

    If the id of a chip is exactly `name`, this chip is returned. Otherwise the first chip that fits is returned.

    Raises
    ------
    Refused
        If there is no such chip. The message names the nearest ids.
    """
    if not chips:
        raise Refused(f"there are no chips, so there is no roof; {NO_CHIPS_HINT}, or set .chips")
    for chip in chips:
        if isinstance(name, str) and name == chip.id:
            return chip
    for chip in chips:
        known = (chip.id, chip.name, *chip.aliases)
        if isinstance(name, str) and name.casefold() in {word.casefold() for word in known}:
            return chip
    ids = [chip.id for chip in chips]
    raise Refused(f"{name!r} is none of the chips here; nearest: {listed(nearest(str(name), ids) or ids)}")


def shown_after(before: Iterable[Chip], chips: Iterable[Chip], shown: Iterable[str]) -> list[str]:
    """Return the ids of the chips to show after the chips of a model have changed from `before` to `chips`.

    The result contains the ids in `shown` that still exist. Then ids of new chips are added, until the result contains
    `MAX_CHIPS_SHOWN_AT_FIRST` ids. If no id in `shown` still exists, the result contains the first ids of `chips`.
    """
    known, ids = [chip.id for chip in before], [chip.id for chip in chips]
    still = [key for key in shown if key in ids]
    if not still:
        return ids[:MAX_CHIPS_SHOWN_AT_FIRST]
    # If `shown` contains a chip that is not in `before`, the user has set `shown` for the new chips. Then add no chips.
    is_given = not known or any(key not in known for key in still)
    added = [] if is_given else [key for key in ids if key not in known]
    return [*still, *added[: max(0, MAX_CHIPS_SHOWN_AT_FIRST - len(still))]]


def check_precision(name: str, chips: Sequence[Chip]) -> str:
    """Return the package's name of a precision, such as 'bf16' for 'BFloat16'. For 'auto', return 'auto'.

    Raises `Refused` if no chip has a peak for the precision.
    """
    name = precision_key(name)
    known = dict.fromkeys(precision for chip in chips for precision in chip.peak_flops)
    if name != "auto" and name not in known:
        raise _lacking("precision", chips, f"none of the chips has '{name}'; they have {listed(known)}, or use 'auto'")
    return name


def check_memory(name: str, chips: Sequence[Chip]) -> str:
    """Return 'main', 'all' or a memory level, in the spelling of the first chip that has this level.

    Upper and lower case are equal: "hbm" means "HBM". Raises `Refused` if no chip has a bandwidth for the level.
    """
    known = dict.fromkeys(
        memory.name for chip in chips for memory in chip.memories.values() if memory.bandwidth is not None
    )
    for level in ["main", "all", *known]:
        if level.casefold() == name.casefold():
            return level
    reason = f"none of the chips has a bandwidth for '{name}'; they have {listed(known)}, or use 'main' or 'all'"
    raise _lacking("memory", chips, reason)


def check_link(name: str, chips: Sequence[Chip]) -> str:
    """Return the name of a link, in the spelling of the first chip that has it, or '' for the link between chips.

    Upper and lower case are equal: "pcie" means "PCIe". Raises `Refused` if no chip has a bandwidth for the link.
    """
    known = dict.fromkeys(link for chip in chips for link, one in chip.links.items() if one.bandwidth is not None)
    for link in ["", *known]:
        if link.casefold() == name.casefold():
            return link
    there = f"they have {listed(known)}" if known else "they have none of a known bandwidth"
    raise _lacking(
        "link", chips, f"none of the chips has a bandwidth for a link '{name}'; {there}; '' is that between chips"
    )


def still_possible(check: Callable[[str, Sequence[Chip]], str], name: str, chips: Sequence[Chip], other: str) -> str:
    """Return `name` if `check(name, chips)` raises no `Refused`. Otherwise return `other`."""
    try:
        check(name, chips)
    except Refused:
        return other
    return name


def known_ceilings(chips: Iterable[Chip], focus_chip: str) -> dict[str, str]:
    """Return a dict of the names of all ceilings, and of all precisions that have a peak.

    A key is the name in lower case. Its value is the name as the chip spells the name. If two chips spell a name
    differently, the value is the spelling of the focus chip.
    """
    # In a dict, a later entry replaces an earlier entry with the same key. So the focus chip must be last.
    ordered = sorted(chips, key=lambda chip: chip.id == focus_chip)
    names = [name for chip in ordered for name in (*(ceiling.key for ceiling in chip.ceilings), *chip.peak_flops)]
    return {name.casefold(): name for name in names}


def check_ceilings(names: Iterable[str], chips: Sequence[Chip], focus_chip: str) -> tuple[str, ...]:
    """Return the names of ceilings in the spelling of `known_ceilings`. Upper and lower case are the same.

    Raises `Refused` for an unknown name.
    """
    known = known_ceilings(chips, focus_chip)
    found = []
    for name in names:
        key = name.casefold() if name.casefold() in known else precision_key(name)
        if key not in known:
            near = nearest(name, known.values()) or dict.fromkeys(known.values())
            raise _lacking("ceilings", chips, f"none of the chips has '{name}'; nearest: {listed(near)}")
        found.append(known[key])
    return tuple(found)


def _lacking(trait: str, chips: Sequence[Chip], reason: str) -> Refused:
    """Return the error for a value that no chip supports. If there are no chips, the message says this."""
    return Refused(
        f"{trait}: {reason}" if chips else f"{trait}: there are no chips that could have it; {NO_CHIPS_HINT}"
    )


def shared_precision(s: State) -> str:
    """Return the precision that all kernels with FLOPs have in common, or ''."""
    # Typed work has no precision. It must not change the precision of the roof.
    return common_precision(s.ruled)


def roof_precision(s: State, chip: Chip) -> str:
    """Return the precision whose peak is the roof of a chip. The help text of `precision` states the rule."""
    common = s.shared_precision if s.precision == "auto" else ""
    return chip.precision(common if common in chip.peak_flops else s.precision)


def rate_of(s: State, quantity: Quantity) -> float:
    """Return the focus chip's `peak_flops` or `bandwidth`. A what-if rate replaces the rate of the data sheet.

    If the chip has no peak for the precision, or no bandwidth for the memory level, return `math.nan` itself.
    """
    if not s.all_chips:
        return math.nan
    chip = chip_called(s.focus_chip, s.all_chips)
    try:
        return rate_in_force(s.what_if, chip, quantity, _key_of(s, chip, quantity))
    except MissingFigureError:
        return math.nan


def _key_of(s: State, chip: Chip, quantity: Quantity) -> str:
    return roof_precision(s, chip) if quantity == "peak_flops" else chip.memory(one_level(s.memory))


def with_rate(s: State, quantity: Quantity, rate: float) -> WhatIf:
    """Return the what-if rates with another rate of the focus chip, at the chosen precision or memory."""
    try:
        chip = chip_called(s.focus_chip, s.all_chips)
        return with_rates(s.what_if, chip, {(quantity, _key_of(s, chip, quantity)): rate})
    except (MissingFigureError, Refused) as error:
        raise Refused(f"{quantity}: {error}") from None


def all_chips(s: State) -> tuple[Chip, ...]:
    """Return the chips of `chips`, followed by those of `added_chips` that are not among them."""
    ids = {chip.id for chip in s.chips}
    return (*s.chips, *(catalogue_chip(name) for name in s.added_chips if name not in ids))


def focus_by_default(shown: Sequence[str], chips: Sequence[Chip]) -> str:
    """Return the id of the chip that has the focus if nobody has chosen one."""
    return shown[0] if shown else chips[0].id if chips else ""


def _fit_shown(s: State, given: Sequence[str]) -> tuple[str, ...]:
    wanted = {chip_called(name, s.all_chips).id for name in given}
    return tuple(chip.id for chip in s.all_chips if chip.id in wanted)


def _after_chips(s: State, old: State, _named: Mapping[str, Any]) -> None:
    if s.all_chips == old.all_chips:
        return
    chips = s.all_chips
    put(s, "shown", _fit_shown(s, shown_after(old.all_chips, chips, s.shown)))
    if s.focus_chip not in {chip.id for chip in chips}:
        put(s, "focus_chip", focus_by_default(s.shown, chips))
    put(s, "what_if", with_known_figures(s.what_if, chips))
    put(s, "precision", still_possible(check_precision, s.precision, chips, "auto"))
    put(s, "memory", still_possible(check_memory, s.memory, chips, "main"))
    if s.link:
        put(s, "link", still_possible(check_link, s.link, chips, ""))
    if s.ceilings is not None:
        known = known_ceilings(chips, s.focus_chip)
        put(s, "ceilings", tuple(name for name in s.ceilings if name.casefold() in known))


def _after_shown(s: State, _old: State, _named: Mapping[str, Any]) -> None:
    if s.shown and s.focus_chip not in s.shown:
        put(s, "focus_chip", s.shown[0])


def _after_focus(s: State, _old: State, named: Mapping[str, Any]) -> None:
    # Whoever names both wants a focus chip that is not shown.
    is_hidden_by_name = "shown" in named and not s.shown
    if s.focus_chip and s.focus_chip not in s.shown and not is_hidden_by_name:
        put(s, "shown", _fit_shown(s, (*s.shown, s.focus_chip)))


def _check_communication(s: State, _old: State, named: Mapping[str, Any]) -> None:
    # `exposed_comm` defines the time over the link. Network bytes define this time too. So `bound` refuses kernels with
    # network bytes if `exposed_comm` is not 0.
    if s.exposed_comm and (s.ruled.network_bytes > 0).any():
        raise Refused(
            f"{'exposed_comm' if 'exposed_comm' in named else 'kernels'}: exposed_comm excludes network bytes, and "
            "these kernels have network bytes: give one of the two"
        )


_OF_RATES: Final = (
    *("chips", "added_chips", "focus_chip", "precision", "memory"),
    *("kernels", "partition", "dims"),  # the precision in which all kernels compute
)


class Rates:
    """The chips of a chart, and their rates."""

    chips: Field[tuple[Chip, ...]] = Field(
        "python",
        distinct_chips,
        (),
        help="The chips that can be shown.",
        wire_of=lambda s: wire.chips_to_wire(s.chips, added=s.all_chips[len(s.chips) :]),
        in_session=False,
        page_type="readonly Chip[]",
    )
    added_chips = Field(
        "shared",
        catalogue_ids,
        (),
        help="Ids of further chips of the catalogue, which a person has added to `chips`.",
        follow=_after_chips,
        also=("chips",),
        undo="alone",
    )
    shown = Field(
        "shared",
        names,
        (),
        help="Ids of the chips that are shown, in the order of `chips`.",
        fit=_fit_shown,
        follow=_after_shown,
        undo="alone",
    )
    focus_chip: Field[str] = Field(
        "shared",
        text,
        "",
        help="Id of the chip whose rates the sliders change and whose gaps the arrows show.",
        fit=lambda s, given: chip_called(given, s.all_chips).id if s.all_chips else "",
        follow=_after_focus,
        undo="alone",
    )
    precision = Field(
        "shared",
        text,
        "auto",
        help="A precision's name, or 'auto': the precision in which all kernels compute, where they agree and the "
        "chip has it, else the chip's default.",
        fit=lambda s, given: check_precision(given, s.all_chips),
        undo="alone",
    )
    memory = Field(
        "shared",
        text,
        "main",
        help="A memory level's name, 'main' for each chip's off-chip memory, or 'all': every level counts, and "
        "each level that binds a kernel has a roof beside the main memory's (`all_levels` draws the others too).",
        fit=lambda s, given: check_memory(given, s.all_chips),
        undo="alone",
    )
    link = Field(
        "shared",
        text,
        "",
        help="The name of the link in the network view, such as 'PCIe'; '' for the link of each chip to other chips, "
        "which also stands for a name that a chip lacks.",
        fit=lambda s, given: check_link(given, s.all_chips),
        to_wire=wire.text_to_wire,
        undo="alone",
    )
    what_if = Field(
        "shared",
        read_only_what_if,
        MappingProxyType({}),
        help="Changed peaks and bandwidths by chip id; set with `set_what_if`, `reset` or the sliders.",
        fit=lambda s, given: with_known_figures(given, s.all_chips),
        to_wire=wire.what_if_to_wire,
        is_read_only=True,
        in_session=False,
        undo="alone",
        page_type="WhatIf",
    )
    peak_flops = Field(
        "shared",
        lambda value: parsed_rate(value, "peak_flops", "peak_flops"),
        math.nan,
        help="Peak rate of the focus chip at the chosen precision, FLOP/s; NaN where it has none.",
        fit=lambda s, given: with_rate(s, "peak_flops", given),
        of="what_if",
        sources=_OF_RATES,
        read=lambda s: rate_of(s, "peak_flops"),
        sync=False,
    )
    bandwidth = Field(
        "shared",
        lambda value: parsed_rate(value, "bandwidth", "bandwidth"),
        math.nan,
        help="Bandwidth of the focus chip at the chosen memory, bytes/s; NaN where it has none.",
        fit=lambda s, given: with_rate(s, "bandwidth", given),
        of="what_if",
        sources=_OF_RATES,
        read=lambda s: rate_of(s, "bandwidth"),
        sync=False,
    )
    exposed_roofs = Field(
        "shared",
        shares,
        (),
        help="Shares of exposed communication, such as 0.2 for 20 %; what each leaves of the focus roof is drawn "
        "as a dashed roof. They change no number; `exposed_comm` does.",
        undo="alone",
    )
    ceilings = Field(
        "shared",
        optional(names),
        help="Ceilings of the focus chip that are drawn: precisions, or names such as 'no FMA' and 'STREAM DRAM'; "
        "None for the chip's own.",
        fit=lambda s, given: None if given is None else check_ceilings(given, s.all_chips, s.focus_chip),
        undo="alone",
    )
    all_levels = Field(
        "shared",
        flag,
        default=False,
        help="With memory 'all', whether levels that bind no kernel have a roof too.",
        undo="alone",
    )
    launch_overhead = Field("python", seconds, 0.0, help="Minimum time of one launch, in seconds.")
    exposed_comm = Field(
        "python",
        share_of_time,
        0.0,
        help="The share of the time in which only the link works, from 0 to below 1, as in `roofwidget.bound`: "
        "every kernel is judged by the roof that it leaves. Refused for kernels with network bytes.",
        follow=_check_communication,
        also=("kernels",),
    )
