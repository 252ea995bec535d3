"""What a chip answers when it is asked for a figure: the figure, or an error that names those it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from roofwidget.chips import checking
from roofwidget.chips.figures import FLOP_CLASSES, Link, Memory, MissingFigureError
from roofwidget.support.did_you_mean import listed

__all__ = ["Answers"]

# One unit under three names: what frameworks and vendors call the part that multiplies matrices.
_MATMUL: Final = ("matmul", "tensor", "matrix")


class Answers:
    """The questions of a `Chip`, which has the fields."""

    name: str
    peak_flops: Mapping[str, float]
    memories: Mapping[str, Memory]
    default_precision: str
    links: Mapping[str, Link]

    @property
    def main_memory(self) -> str:
        """The name of the memory outside the chip: the first of `memories`."""
        return next(iter(self.memories))

    def precision(self, name: str = "auto") -> str:
        """Return the precision that `name` (any case, or ``"auto"``) means on this chip, else raise."""
        if name.casefold() == "auto":
            return self.default_precision
        return checking.find_precision(self.name, self.peak_flops, name)

    def memory(self, name: str = "main") -> str:
        """Return the memory level that `name` (any case, or ``"main"``) means on this chip, else raise."""
        return checking.find_level(self.name, self.memories, name)

    def peak(self, precision: str = "auto") -> float:
        """Return the dense peak rate of a precision, FLOP/s.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision; there is no falling back to another one.
        """
        return self.peak_flops[self.precision(precision)]

    def peak_of(self, flop_class: str, precision: str = "auto") -> tuple[float, bool]:
        """Return the peak that a class of FLOPs is charged to, FLOP/s, and whether it is one of its own.

        Looked for in this order: ``fp16_vector`` (the class at that precision; ``fp16_tensor`` and ``fp16_matrix``
        serve ``matmul``), ``vector`` (the class itself), and else the precision's peak, which is none of its own.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision.
        ValueError
            If there is no such class.

        Examples
        --------
        >>> from roofwidget.chips import Chip
        >>> chip = Chip("H100", {"fp16": "989.5 TFLOP/s", "fp16_vector": "133.8 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> chip.peak_of("vector", "fp16"), chip.peak_of("transcendental", "fp16")
        ((133800000000000.0, True), (989500000000000.0, False))
        """
        word, judged = flop_class.casefold(), self.precision(precision)
        if word not in FLOP_CLASSES:
            msg = f"'{flop_class}' is no class of FLOPs; there is {listed(sorted(FLOP_CLASSES))}"
            raise ValueError(msg)
        words = (word, *(other for other in _MATMUL if other != word)) if word in _MATMUL else (word,)
        for key in (*(f"{judged}_{one}" for one in words), *words):
            if key in self.peak_flops:
                return self.peak_flops[key], True
        return self.peak_flops[judged], False

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

    def link(self, name: str | None = None) -> Link:
        """Return a link by its name in any case, or the first: the one that joins chips where there is one.

        Raises
        ------
        MissingFigureError
            If the chip has no such link.
        """
        for key, link in self.links.items():
            if name is None or key.casefold() == name.casefold():
                return link
        asked = "known link" if name is None else f"link '{name}'"
        msg = f"{self.name} has no {asked}" + (f"; it has {listed(self.links)}" if self.links else "")
        raise MissingFigureError(msg)

    def link_bandwidth(self, name: str | None = None) -> float:
        """Return the bandwidth of a link one way, over all links of its kind that one chip has, bytes/s.

        Raises
        ------
        MissingFigureError
            If the chip has no such link, or only a figure whose direction or number of links is not stated.
        """
        link = self.link(name)
        if link.bandwidth is not None:
            return link.bandwidth
        printed = f": its source prints {link.printed}" if link.printed else ""
        known = [other.name for other in self.links.values() if other.bandwidth is not None]
        there = f"; it has that of {listed(known)}" if known else ""
        msg = f"{self.name} has no one-way bandwidth for {link.name}{printed}{there}"
        raise MissingFigureError(msg)

    def ridge_point(self, precision: str = "auto", memory: str = "main") -> float:
        """Return peak over bandwidth, FLOP/byte: the intensity from which a kernel can be compute-bound."""
        return self.peak(precision) / self.bandwidth(memory)
