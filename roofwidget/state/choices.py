"""Finds chips by name. Checks precisions, memory levels and ceilings: at least one chip of a model must have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from traitlets import TraitError

from roofwidget.chips import Chip
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.support.precisions import precision_key

NO_CHIPS_HINT: Final = "pass chips=['h100-sxm'] or the like"
"""What an error message proposes where there are no chips."""
MAX_CHIPS_SHOWN_AT_FIRST: Final = 6
"""More rooflines than this would overlap too much to be read."""


def chip_called(name: object, chips: Sequence[Chip]) -> Chip:
    """Return the chip whose id, name or alias is `name`. Upper and lower case are equal.

    If the id of a chip is exactly `name`, this chip is returned. Otherwise the first chip that fits is returned.

    Raises
    ------
    TraitError
        If there is no such chip. The message names the nearest ids.
    """
    if not chips:
        raise TraitError(f"there are no chips, so there is no roof; {NO_CHIPS_HINT}, or set .chips")
    for chip in chips:
        if isinstance(name, str) and name == chip.id:
            return chip
    for chip in chips:
        known = (chip.id, chip.name, *chip.aliases)
        if isinstance(name, str) and name.casefold() in {word.casefold() for word in known}:
            return chip
    ids = [chip.id for chip in chips]
    raise TraitError(f"{name!r} is none of the chips here; nearest: {listed(nearest(str(name), ids) or ids)}")


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

    Raises `TraitError` if no chip has a peak for the precision.
    """
    name = precision_key(name)
    known = dict.fromkeys(precision for chip in chips for precision in chip.peak_flops)
    if name != "auto" and name not in known:
        raise _lacking("precision", chips, f"none of the chips has '{name}'; they have {listed(known)}, or use 'auto'")
    return name


def check_memory(name: str, chips: Sequence[Chip]) -> str:
    """Return 'main', 'all' or a memory level, in the spelling of the first chip that has this level.

    Upper and lower case are equal: "hbm" means "HBM". Raises `TraitError` if no chip has a bandwidth for the level.
    """
    known = dict.fromkeys(
        memory.name for chip in chips for memory in chip.memories.values() if memory.bandwidth is not None
    )
    for level in ["main", "all", *known]:
        if level.casefold() == name.casefold():
            return level
    reason = f"none of the chips has a bandwidth for '{name}'; they have {listed(known)}, or use 'main' or 'all'"
    raise _lacking("memory", chips, reason)


def still_possible(check: Callable[[str, Sequence[Chip]], str], name: str, chips: Sequence[Chip], other: str) -> str:
    """Return `name` if `check(name, chips)` raises no `TraitError`. Otherwise return `other`."""
    try:
        check(name, chips)
    except TraitError:
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

    Raises `TraitError` for an unknown name.
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


def _lacking(trait: str, chips: Sequence[Chip], reason: str) -> TraitError:
    """Return the error for a value that no chip supports. If there are no chips, the message says this."""
    return TraitError(
        f"{trait}: {reason}" if chips else f"{trait}: there are no chips that could have it; {NO_CHIPS_HINT}"
    )
