"""One chip: its peaks, its memories, its links, and where each figure comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from roofwidget import units as quantities
from roofwidget.chips import card, checking
from roofwidget.chips.answers import Answers
from roofwidget.chips.figures import (
    Ceiling,
    Check,
    Energy,
    Figure,
    Link,
    Memory,
    MissingFigureError,
    Source,
    is_off_chip,
)
from roofwidget.support.did_you_mean import keywords

__all__ = ["Chip", "Memory", "MissingFigureError", "Source", "is_off_chip"]


@dataclass(frozen=True, init=False, repr=False)
class Chip(Answers):
    """One accelerator or CPU package as a kernel sees it. Immutable.

    Parameters
    ----------
    name
        What people read.
    peak_flops
        Dense peak rate by precision, FLOP/s: numbers or text such as ``"989.5 TFLOP/s"``. A class of FLOPs with a
        peak of its own is a key such as ``"fp16_vector"`` or ``"transcendental"``, see `peak_of`.
    memories
        Bandwidth by memory level, main memory first, bytes/s: a number, text such as ``"3.35 TB/s"``, a `Memory`,
        or None where the bandwidth is unknown.
    id
        A short unique key; made from the name when not given.
    vendor, family, generation
        For grouping; `generation` orders the chips of a vendor.
    kind, year
        ``gpu``, ``tpu``, ``npu`` or ``cpu``, and when it came out.
    status
        ``cross-checked`` where a second source was compared, ``single-source``, or ``given``.
    default_precision
        The precision that ``"auto"`` means; by default the first of bf16, fp16, tf32, fp32, fp64 that the chip has.
    aliases
        Other names it can be looked up by.
    sources
        `Source` by figure, such as ``"peak_flops.bf16"``, ``"memories.HBM.bandwidth"`` or ``"clock"``.
    links
        `Link` by name, or its bandwidth **one way** per chip, bytes/s; the one between chips first, PCIe last.
    ceilings
        Roofs below the peaks, see `with_measured` and `with_ceiling`.
    checks
        What other sources say, see `disputed`.
    clock, units, power
        Hz, or text such as ``"1.98 GHz"``; how many units of which kind, such as ``"132 SM"``; W.
    energy
        Costs of work, for a roofline of energy.
    notes
        What a reader of the figures should know.

    Raises
    ------
    ValueError
        If a figure is zero, negative, NaN or infinite, there is no peak or no bandwidth of the main memory, a name is
        empty or has a meaning of its own (``auto``, ``main``, ``network``), or a source or check is of no figure.
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
    kind: str
    year: int | None
    status: str
    default_precision: str
    aliases: tuple[str, ...]
    sources: Mapping[str, Source]
    links: Mapping[str, Link]
    ceilings: tuple[Ceiling, ...]
    checks: tuple[Check, ...]
    clock: float | None
    units: str | None
    power: float | None
    energy: Energy | None
    notes: tuple[str, ...]

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
        kind: str = "",
        year: int | None = None,
        status: str = "given",
        default_precision: str | None = None,
        aliases: Iterable[str] = (),
        sources: Mapping[str, Source] = MappingProxyType({}),
        links: Mapping[str, object] = MappingProxyType({}),
        ceilings: Iterable[Ceiling] = (),
        checks: Iterable[Check] = (),
        clock: float | str | None = None,
        units: str | None = None,
        power: float | str | None = None,
        energy: Energy | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            msg = f"a chip's name must be text that is not empty, got {name!r}"
            raise ValueError(msg)
        peaks = checking.peaks(name, peak_flops)
        levels = checking.memories(name, memories)
        self.__dict__.update(
            name=name,
            peak_flops=MappingProxyType(peaks),
            memories=MappingProxyType(levels),
            id=checking.identity(name, id),
            vendor=vendor,
            family=family,
            generation=generation,
            kind=kind,
            year=checking.year(name, year),
            status=status,
            default_precision=checking.default_precision(name, peaks, default_precision),
            aliases=checking.aliases(name, aliases),
            links=MappingProxyType(checking.links(name, links)),
            ceilings=checking.ceilings(name, ceilings, peaks, levels),
            clock=checking.number(name, "clock", "Hz", clock),
            units=checking.unit_count(name, units),
            power=checking.number(name, "power", "W", power),
            energy=checking.energy(name, energy),
            notes=checking.notes(name, notes),
        )
        self.__dict__.update(
            sources=MappingProxyType(checking.sources(name, sources, card.told(self))),
            checks=checking.checks(name, checks, card.known(self)),
        )

    def __hash__(self) -> int:
        return hash((self.id, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._fields(),)

    def _fields(self) -> dict[str, Any]:
        """Every field under its keyword, mappings as dicts."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: dict(value) if isinstance(value, MappingProxyType) else value for key, value in values.items()}

    def with_rates(self, peak_flops: Mapping[str, float], bandwidths: Mapping[str, float]) -> Chip:
        """Return this chip with other peaks by precision, FLOP/s, and other bandwidths by level, bytes/s.

        Everything else stays, sources too: it is what a drag asks for at every step. `replace` is for lasting changes.
        """
        changed = {
            level: Memory(
                level, quantities.positive(rate, f"memories['{level}'] of chip '{self.name}'"), m.capacity, m.scope
            )
            for level, m in self.memories.items()
            if (rate := bandwidths.get(level)) is not None
        }
        peaks = {
            precision.casefold(): quantities.positive(rate, f"peak_flops['{precision}'] of chip '{self.name}'")
            for precision, rate in peak_flops.items()
        }
        twin = object.__new__(Chip)
        twin.__dict__.update(self.__dict__)
        twin.__dict__["peak_flops"] = MappingProxyType({**self.peak_flops, **peaks})
        twin.__dict__["memories"] = MappingProxyType({**self.memories, **changed})
        return twin

    def replace(self, **changes: Any) -> Chip:
        """Return this chip with other fields, for what-ifs; `Chip`'s keywords.

        `peak_flops`, `memories`, `links` and `sources` are merged into those of this chip, by name in any case, where
        ``"main"`` is the main memory; other fields are exchanged. A figure that changes loses its source, its checks
        and, unless `ceilings` are given, the ceilings under it (one under all peaks goes with that of the default
        precision), and the chip's status becomes ``given``; a new name without an id gets one.

        Raises
        ------
        TypeError
            If a keyword is unknown; the message names the nearest.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989.5 TFLOP/s"}, {"HBM": Memory("HBM", 3.35e12, 80e9)})
        >>> faster = chip.replace(name="HBM4", memories={"HBM": "6 TB/s"})
        >>> faster.id, faster.bandwidth(), faster.memories["HBM"].capacity, round(faster.ridge_point(), 1)
        ('hbm4', 6000000000000.0, 80000000000.0, 164.9)
        """
        from roofwidget.chips import variants  # noqa: PLC0415 - asked for by few

        return variants.replaced(self, changes)

    @keywords("Chip.with_measured")
    def with_measured(
        self,
        *,
        peak_flops: Mapping[str, object] = MappingProxyType({}),
        bandwidth: Mapping[str, object] = MappingProxyType({}),
        source: Source | None = None,
    ) -> Chip:
        """Return this chip with measured ceilings beside the figures of its data sheet, which stay as they are.

        Parameters
        ----------
        peak_flops, bandwidth
            FLOP/s by precision and bytes/s by memory level. A figure measured before is exchanged.
        source
            Who measured it, and how.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989.5 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> measured = chip.with_measured(bandwidth={"HBM": "3.0 TB/s"})
        >>> measured.bandwidth(), [(c.name, c.memory, c.rate, c.measured) for c in measured.ceilings]
        (3350000000000.0, [('measured', 'HBM', 3000000000000.0, True)])
        """
        from roofwidget.chips import variants  # noqa: PLC0415 - the same

        return variants.measured(self, peak_flops, bandwidth, source)

    @keywords("Chip.with_ceiling")
    def with_ceiling(
        self,
        name: str,
        *,
        peak_flops: object = None,
        bandwidth: object = None,
        precision: str | None = None,
        memory: str | None = None,
        source: Source | None = None,
    ) -> Chip:
        """Return this chip with one more roof below a peak or a bandwidth: ``no FMA``, ``no prefetch``.

        Parameters
        ----------
        name
            What people read. A ceiling of this name in the same place is exchanged.
        peak_flops, bandwidth
            FLOP/s or bytes/s: one of the two.
        precision
            The precision whose peak it lies under; None for all of them.
        memory
            The level whose bandwidth it lies under; None for the main memory.

        Examples
        --------
        >>> chip = Chip("My CPU", {"fp64": "75 GFLOP/s"}, {"DRAM": "11 GB/s"})
        >>> chip.with_ceiling("no SIMD", peak_flops="37.5 GFLOP/s").ceilings[0].rate
        37500000000.0
        """
        from roofwidget.chips import variants  # noqa: PLC0415 - the same

        rate = {"peak_flops": peak_flops, "bandwidth": bandwidth}
        return variants.ceiled(self, Ceiling(name, 0.0, memory, precision, source=source), rate)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, text and numbers, as `from_dict` reads them; what is unknown is left out."""
        from roofwidget.chips import records  # noqa: PLC0415 - the same

        return records.to_record(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Chip:
        """Return the chip that `to_dict` wrote, or that was written by hand in the same way.

        Raises
        ------
        ValueError
            If a key is unknown, a figure is bad or a source is not told: the message names it.

        Examples
        --------
        >>> chip = Chip.from_dict({"name": "My chip", "peak_flops": {"bf16": "990 TFLOP/s"}, "memories": {"HBM": 3e12}})
        >>> Chip.from_dict(chip.to_dict()) == chip
        True
        """
        from roofwidget.chips import records  # noqa: PLC0415 - the same

        return records.from_record(record)

    def __repr__(self) -> str:
        peaks = ", ".join(f"{p} {quantities.format_quantity(v, 'FLOP/s', 4)}" for p, v in self.peak_flops.items())
        known = [m for m in self.memories.values() if m.bandwidth is not None]
        bandwidths = ", ".join(f"{m.name} {quantities.format_quantity(m.bandwidth or 0.0, 'B/s', 4)}" for m in known)
        doubt = "; single-source" if self.status == "single-source" else ""
        return f"Chip({self.name!r}: {peaks}; {bandwidths}{doubt})"

    def _repr_html_(self) -> str:
        return card.html(self)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure with its source and what other sources say: the rows of the chip's card."""
        return card.figures(self)

    @property
    def disputed(self) -> Mapping[str, tuple[Check, ...]]:
        """By figure, the other sources whose value is more than 3 % off."""
        return card.disputed(self)


def _rebuild(values: dict[str, Any]) -> Chip:
    return Chip(**values)
