"""Which precision, memory and ceilings can be chosen: those that some of the chips have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from traitlets import HasTraits, TraitError, validate

from roofwidget.support.did_you_mean import listed, nearest

__all__ = ["GIVE_CHIPS", "Choices"]

GIVE_CHIPS: Final = "pass chips=['h100-sxm'] or the like"
"""The mend where there are none."""


class Choices(HasTraits):
    """What `RooflineModel` knows of choices. Its traits are declared there, for it alone carries the sync tags."""

    if TYPE_CHECKING:
        chips: Any
        focus_chip: Any
        ceilings: Any

    @validate("precision")
    def _check_precision(self, proposal: Any) -> str:
        name: str = proposal["value"].casefold()
        known = dict.fromkeys(precision for chip in self.chips for precision in chip.peak_flops)
        if name != "auto" and name not in known:
            raise self._lacking(f"precision: none of the chips has '{name}'; they have {listed(known)}, or use 'auto'")
        return name

    @validate("memory")
    def _check_memory(self, proposal: Any) -> str:
        name: str = proposal["value"]
        known: dict[str, None] = dict.fromkeys(
            memory.name for chip in self.chips for memory in chip.memories.values() if memory.bandwidth is not None
        )
        for level in ["main", "all", *known]:
            if level.casefold() == name.casefold():
                return level
        raise self._lacking(
            f"memory: none of the chips has a bandwidth for '{name}'; they have {listed(known)}, or use 'main' or 'all'"
        )

    @validate("ceilings")
    def _check_ceilings(self, proposal: Any) -> tuple[str, ...] | None:
        if proposal["value"] is None:
            return None
        by_key = self._known_ceilings()
        for name in proposal["value"]:
            if name.casefold() not in by_key:
                near = nearest(name, by_key.values()) or dict.fromkeys(by_key.values())
                raise self._lacking(f"ceilings: none of the chips has '{name}'; nearest: {listed(near)}")
        return tuple(by_key[name.casefold()] for name in proposal["value"])

    def _known_ceilings(self) -> dict[str, str]:
        """Names of ceilings by what they are in any case; the focus chip's spelling goes before others'."""
        chips = sorted(self.chips, key=lambda chip: chip.id == self.focus_chip)
        known = [name for chip in chips for name in (*(c.key for c in chip.ceilings), *chip.peak_flops)]
        return {name.casefold(): name for name in known}

    def _keep_choice(self, name: str, fallback: str) -> None:
        try:
            getattr(self, f"_check_{name}")({"value": getattr(self, name)})
        except TraitError:
            setattr(self, name, fallback)

    def _lacking(self, message: str) -> TraitError:
        """Return the error for what none of the chips has, or for there being none."""
        trait = message.partition(":")[0]
        return TraitError(message if self.chips else f"{trait}: there are no chips that could have it; {GIVE_CHIPS}")
