"""`Chip`: peaks, memories and links of one accelerator or CPU package, and the source of each figure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import partial
from math import inf
from types import MappingProxyType
from typing import Any, Final

from roofwidget import units as quantities
from roofwidget.chips import card, chip_record, validation
from roofwidget.chips.figures import (
    FLOP_CLASSES,
    NETWORK,
    Ceiling,
    Check,
    Energy,
    Figure,
    Link,
    Memory,
    MissingFigureError,
    Source,
    is_host_link,
    is_off_chip,
)
from roofwidget.support.arguments import mapping_argument, text_argument
from roofwidget.support.did_you_mean import keywords, listed, unknown_keyword
from roofwidget.support.precisions import operation, precision_key

# Names of the matrix unit in frameworks and data sheets. A peak under any of these names is the matrix unit's peak.
_MATRIX_UNIT_NAMES: Final = ("matmul", "tensor", "matrix")
_EXAMPLE_PEAKS: Final = "{'bf16': '989 TFLOP/s'}"
_EXAMPLE_BANDWIDTHS: Final = "{'HBM': '3 TB/s'}"
_SHEET: Final = "data sheet"
# Memories next to the compute units, nearest first.
_NEAREST_MEMORIES: Final = ("vmem", "smem", "sbuf", "lds", "l1")


@dataclasses.dataclass(frozen=True, init=False, repr=False)
class Chip:
    """The figures of one accelerator or CPU package. Immutable.

    Parameters
    ----------
    name
        Display name.
    peak_flops
        Dense peak rate by precision, FLOP/s: numbers or text such as ``"989.5 TFLOP/s"``. A class of FLOPs with its
        own peak has a key such as ``"fp16_vector"`` or ``"transcendental"``, see `peak_of`.
    memories
        Bandwidth by memory level, main memory first, bytes/s: a number, text such as ``"3.35 TB/s"``, a `Memory`,
        or None where the bandwidth is unknown.
    id
        A short unique key. By default it is made from the name.
    vendor, family, generation
        For grouping; `generation` orders the chips of a vendor.
    kind, year
        The kind is ``gpu``, ``tpu``, ``npu`` or ``cpu``. The year is the year of release.
    status
        ``cross-checked`` if figures were compared with a second source, ``single-source`` if not, or ``given`` for a
        chip that is not from the catalogue.
    default_precision
        The precision that ``"auto"`` means; by default the first of bf16, fp16, tf32, fp32, fp64 that the chip has.
    aliases
        Other names of the chip for look-ups in the catalogue.
    sources
        `Source` by figure, such as ``"peak_flops.bf16"``, ``"memories.HBM.bandwidth"`` or ``"clock"``.
    links
        `Link` by name, or its bandwidth **one way** per chip, bytes/s; links between chips first, PCIe last.
        Network bytes use the first link between chips; PCIe and CXL lead to the host.
    ceilings
        Roofs below the peaks, see `with_measured` and `with_ceiling`.
    checks
        Values that other sources give for the same figures, see `disputed`.
    clock, units, power
        The clock in Hz, or as text such as ``"1.98 GHz"``; the number and kind of compute units, such as ``"132 SM"``;
        the power in W.
    host_memories
        Memories of the host that the chip reads over a coherent link, by name: the LPDDR5X of a Grace CPU. They are no
        level of the roofline.
    energy
        The energy per FLOP and per byte, for an energy roofline.
    notes
        Remarks for readers of the figures.

    Raises
    ------
    ValueError
        If a figure is zero, negative, NaN or infinite; if there is no peak or no main-memory bandwidth; if a name is
        empty or reserved (``auto``, ``main``, ``network``); or if a source or check names a figure that the chip lacks.
    TypeError
        If a figure is not a number or text, or a keyword is unknown.

    Examples
    --------
    >>> chip = Chip("My chip", peak_flops={"bf16": "989.5 TFLOP/s"}, memories={"HBM": "3.35 TB/s"})
    >>> chip.peak("bf16"), chip.bandwidth("hbm"), round(chip.ridge_point(), 1)
    (989500000000000.0, 3350000000000.0, 295.4)
    """

    __module__ = "roofwidget"

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
    host_memories: Mapping[str, Memory]
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
        host_memories: Mapping[str, object] = MappingProxyType({}),
        energy: Energy | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a chip's name must be text that is not empty, got {name!r}")
        peaks = validation.peaks(name, peak_flops)
        levels = validation.memories(name, memories)
        self.__dict__.update(
            name=name,
            peak_flops=MappingProxyType(peaks),
            memories=MappingProxyType(levels),
            id=validation.identity(name, id),
            vendor=vendor,
            family=family,
            generation=generation,
            kind=kind,
            year=validation.year(name, year),
            status=status,
            default_precision=validation.default_precision(name, peaks, default_precision),
            aliases=validation.texts(aliases, f"aliases of chip '{name}'"),
            links=MappingProxyType(validation.links(name, links)),
            ceilings=validation.ceilings(name, ceilings, peaks, levels),
            clock=validation.optional(clock, "Hz", f"clock of chip '{name}'"),
            units=validation.unit_count(name, units),
            power=validation.optional(power, "W", f"power of chip '{name}'"),
            host_memories=MappingProxyType(validation.host_memories(name, host_memories)),
            energy=validation.energy(name, energy),
            notes=validation.texts(notes, f"notes of chip '{name}'"),
        )
        self.__dict__.update(
            sources=MappingProxyType(validation.sources(name, sources, card.figures_with_sources(self))),
            checks=validation.checks(name, checks, card.units_by_figure(self)),
        )

    def __hash__(self) -> int:
        return hash((self.id, self.name))

    def __reduce__(self) -> tuple[object, ...]:
        # Mapping proxies cannot be pickled, so they become dicts.
        values: dict[str, Any] = {field: getattr(self, field) for field in _FIELDS}
        plain: dict[str, Any] = {
            key: dict(value) if isinstance(value, MappingProxyType) else value for key, value in values.items()
        }
        return partial(Chip, **plain), ()

    # -- figures ---------------------------------------------------------------------------------------------------

    @property
    def main_memory(self) -> str:
        """The name of the off-chip memory: the first of `memories`."""
        return next(iter(self.memories))

    def precision(self, name: str = "auto") -> str:
        """Return the chip's precision called `name`, or the default precision for ``"auto"``.

        Case does not matter, and names of other programs are known: ``bfloat16``, ``half``, ``float32``, ``double``.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision.
        """
        if isinstance(name, str) and name.casefold() == "auto":
            return self.default_precision
        return validation.find_precision(self.name, self.peak_flops, name)

    def memory(self, name: str = "main") -> str:
        """Return the chip's memory level called `name` (any case), or the main memory for ``"main"``.

        Raises
        ------
        MissingFigureError
            If the chip has no such level.
        """
        return validation.find_level(self.name, self.memories, name)

    def peak(self, precision: str = "auto") -> float:
        """Return the dense peak rate of a precision, FLOP/s.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision. No other precision's peak is used instead.
        """
        return self.peak_flops[self.precision(precision)]

    def peak_of(self, flop_class: str, precision: str = "auto") -> tuple[float, bool]:
        """Return the peak for a class of FLOPs, FLOP/s, and whether the chip has a separate peak for this class.

        Tries, in this order: the class at this precision, such as ``fp16_vector`` (for ``matmul`` also ``fp16_tensor``
        and ``fp16_matrix``); the class alone, such as ``vector``; the peak of the precision.

        Raises
        ------
        MissingFigureError
            If the chip has no such precision.
        ValueError
            If there is no such class.

        Examples
        --------
        >>> chip = Chip("H100", {"fp16": "989.5 TFLOP/s", "fp16_vector": "133.8 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> chip.peak_of("vector", "fp16"), chip.peak_of("transcendental", "fp16")
        ((133800000000000.0, True), (989500000000000.0, False))
        """
        name, precision = text_argument(flop_class, "flop_class").casefold(), self.precision(precision)
        if name not in FLOP_CLASSES:
            raise ValueError(f"'{flop_class}' is no class of FLOPs; there is {listed(sorted(FLOP_CLASSES))}")
        names = dict.fromkeys((name, *_MATRIX_UNIT_NAMES)) if name in _MATRIX_UNIT_NAMES else (name,)
        for key in (*(f"{precision}_{one}" for one in names), *names):
            if key in self.peak_flops:
                return self.peak_flops[key], True
        return self.peak_flops[precision], False

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
            raise MissingFigureError(f"{self.name} has no bandwidth for {level.name}; it has those of {listed(known)}")
        return level.bandwidth

    def link(self, name: str | None = None) -> Link:
        """Return the link called `name` (any case), or by default the first link to other chips.

        A link to the host, such as PCIe, must be named: it never takes the place of a link between chips.

        Raises
        ------
        MissingFigureError
            If the chip has no such link.
        """
        if name is not None:
            text_argument(name, f"the name of a link of {self.name}")
        for key, link in self.links.items():
            if key.casefold() == name.casefold() if name is not None else not is_host_link(key):
                return link
        if name is not None or not self.links:
            asked = "known link" if name is None else f"link '{name}'"
            there = f"; it has {listed(self.links)}" if self.links else ""
            raise MissingFigureError(f"{self.name} has no {asked}{there}")
        verb = "connects" if len(self.links) == 1 else "connect"
        raise MissingFigureError(
            f"{self.name} has no known link to other chips: {listed(self.links)} {verb} it to its host; "
            "if chips communicate over it, name it otherwise, as in replace(links={'Fabric': '32 GB/s'})"
        )

    def link_bandwidth(self, name: str | None = None) -> float:
        """Return the one-way bandwidth of all links of one kind together, bytes/s.

        The default is the kind of the first link to other chips, see `link`.

        Raises
        ------
        MissingFigureError
            If the chip has no such link, or its source does not state the direction or the number of links.
        """
        link = self.link(name)
        if link.bandwidth is not None:
            return link.bandwidth
        printed = f": its source prints {link.printed}" if link.printed else ""
        known = [other.name for other in self.links.values() if other.bandwidth is not None]
        others = f"; it has that of {listed(known)}" if known else ""
        raise MissingFigureError(f"{self.name} has no one-way bandwidth for {link.name}{printed}{others}")

    def ridge_point(self, precision: str = "auto", memory: str = "main") -> float:
        """Return peak over bandwidth, FLOP/byte: the intensity from which a kernel can be compute-bound."""
        return self.peak(precision) / self.bandwidth(memory)

    # -- changed copies --------------------------------------------------------------------------------------------

    def with_rates(
        self,
        peak_flops: Mapping[str, float],
        bandwidths: Mapping[str, float],
        latencies: Mapping[str, float] | None = None,
    ) -> Chip:
        """Return this chip with other peaks (FLOP/s), and other bandwidths (bytes/s) and latencies (s) by level.

        The level ``"network"`` is the link to other chips. All other fields stay the same: a changed figure keeps its
        old source. This makes the method fast enough for each step of a drag. For lasting changes use `replace`, which
        drops the source.
        """
        mapping_argument(peak_flops, "peak_flops", _EXAMPLE_PEAKS)
        mapping_argument(bandwidths, "bandwidths", _EXAMPLE_BANDWIDTHS)
        changed = {
            level: dataclasses.replace(
                m, bandwidth=quantities.figure(rate, "B/s", f"memories['{level}'] of chip '{self.name}'")
            )
            for level, m in self.memories.items()
            if (rate := bandwidths.get(level)) is not None
        }
        for level, seconds in (latencies or {}).items():
            changed[level] = dataclasses.replace(changed.get(level, self.memories[level]), latency=seconds)
        peaks = {
            precision_key(text_argument(precision, "a key of peak_flops")): quantities.figure(
                rate, "FLOP/s", f"peak_flops['{precision}'] of chip '{self.name}'"
            )
            for precision, rate in peak_flops.items()
        }
        twin = object.__new__(Chip)
        twin.__dict__.update(self.__dict__)
        twin.__dict__["peak_flops"] = MappingProxyType({**self.peak_flops, **peaks})
        twin.__dict__["memories"] = MappingProxyType({**self.memories, **changed})
        if (rate := bandwidths.get(NETWORK)) is not None:
            speed = quantities.figure(rate, "B/s", f"bandwidth of the link of chip '{self.name}'")
            link = self.link()
            twin.__dict__["links"] = MappingProxyType(
                {
                    name: dataclasses.replace(one, bandwidth=speed) if one is link else one
                    for name, one in self.links.items()
                }
            )
        return twin

    def replace(self, **changes: Any) -> Chip:
        """Return this chip with other fields; the keywords are those of `Chip`.

        `peak_flops`, `memories`, `links` and `sources` are merged by name (any case) into the fields of this chip; the
        name ``"main"`` means the main memory. A new link to other chips comes first, so that network bytes use it.
        Other fields are replaced. If a figure changes, its source and checks are dropped. Ceilings under a
        changed figure are dropped too, unless `ceilings` are given. A ceiling for all precisions is dropped if the peak
        of the default precision changes. The status becomes ``given``. A new name without an id gets a new id.

        Raises
        ------
        TypeError
            If a keyword is unknown; the message names the nearest keyword.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989.5 TFLOP/s"}, {"HBM": Memory("HBM", 3.35e12, 80e9)})
        >>> faster = chip.replace(name="HBM4", memories={"HBM": "6 TB/s"})
        >>> faster.id, faster.bandwidth(), faster.memories["HBM"].capacity, round(faster.ridge_point(), 1)
        ('hbm4', 6000000000000.0, 80000000000.0, 164.9)
        """
        for keyword in changes:
            if keyword not in _FIELDS:
                raise unknown_keyword("Chip.replace", keyword, _FIELDS)
        values = {field: getattr(self, field) for field in _FIELDS} | changes
        if "name" in changes and "id" not in changes:
            values["id"] = None
        merges = {"peak_flops": self._merged_peaks, "memories": self._merged_memories, "links": self._merged_links}
        for field, merged in merges.items():
            # A value that is no mapping stays unchanged: the constructor refuses it with an error that names the field.
            if isinstance(changes.get(field), Mapping):
                values[field] = merged(changes[field])
        bare = Chip(**{**values, "ceilings": (), "sources": {}, "checks": ()})
        stale = self._figures_changed_in(bare)
        kept = {key: source for key, source in self.sources.items() if key not in stale}
        sources = changes.get("sources", {})
        values["sources"] = {**kept, **sources} if isinstance(sources, Mapping) else sources
        if "ceilings" not in changes:
            values["ceilings"] = [ceiling for ceiling in self.ceilings if self._figure_above(ceiling) not in stale]
        if "checks" not in changes:
            values["checks"] = [check for check in self.checks if check.figure not in stale]
        if stale and "status" not in changes:
            values["status"] = "given"
        return Chip(**values)

    def _merged_peaks(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        folded = {precision_key(key) if isinstance(key, str) else key: rate for key, rate in changes.items()}
        return {**self.peak_flops, **folded}

    def _merged_memories(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = dict(self.memories)
        for key, value in changes.items():
            level = validation.level_called(self.memories, key)
            if level is None:
                merged[key] = value
            elif isinstance(value, Memory):
                merged[level] = dataclasses.replace(value, name=level)
            else:
                merged[level] = dataclasses.replace(self.memories[level], bandwidth=value)
        return merged

    def _merged_links(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = dict(self.links)
        # Chips communicate over their first link, so a link that a user adds comes before those of the data sheet.
        added: dict[str, Any] = {}
        for key, value in changes.items():
            name = next((known for known in self.links if known.casefold() == str(key).casefold()), key)
            is_first = name not in self.links and not is_host_link(str(name))
            # Keep only the latency: the printed figure and the figure per link describe the old bandwidth.
            latency = self.links[name].latency if name in self.links else None
            one = value if isinstance(value, Link) else Link(name, value, latency=latency)
            (added if is_first else merged)[name] = one
        return added | merged

    def _figures_changed_in(self, new: Chip) -> set[str]:
        """Return the keys of this chip's figures that the chip `new` does not have, or has with another value."""
        after = {row.key: (row.value, row.unit) for row in new.figures}
        before = {row.key: (row.value, row.unit) for row in self.figures if row.value is not None}
        changed = {
            key for key, figure in before.items() if after.get(key) != figure and not key.startswith("ceilings.")
        }
        return changed | {
            f"links.{key}.printed" for key, link in self.links.items() if new.links[key].printed != link.printed
        }

    def _figure_above(self, ceiling: Ceiling) -> str:
        """Return the key of the peak or bandwidth above a ceiling."""
        if ceiling.memory is not None:
            return f"memories.{ceiling.memory}.bandwidth"
        return f"peak_flops.{ceiling.precision or self.default_precision}"

    @keywords("Chip.with_measured")
    def with_measured(
        self,
        *,
        peak_flops: Mapping[str, object] = MappingProxyType({}),
        bandwidth: Mapping[str, object] = MappingProxyType({}),
        source: Source | None = None,
    ) -> Chip:
        """Return this chip with measured ceilings; the figures of its data sheet stay as they are.

        Parameters
        ----------
        peak_flops, bandwidth
            FLOP/s by precision and bytes/s by memory level. Earlier measurements of these figures are replaced.
        source
            Who measured the rates, and how.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989.5 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> measured = chip.with_measured(bandwidth={"HBM": "3.0 TB/s"})
        >>> measured.bandwidth(), [(c.name, c.memory, c.rate, c.measured) for c in measured.ceilings]
        (3350000000000.0, [('measured', 'HBM', 3000000000000.0, True)])
        """
        mapping_argument(peak_flops, "peak_flops", _EXAMPLE_PEAKS)
        mapping_argument(bandwidth, "bandwidth", _EXAMPLE_BANDWIDTHS)
        if not peak_flops and not bandwidth:
            raise ValueError("with_measured needs peak_flops={precision: rate} or bandwidth={level: rate}")
        rates: list[Any] = [(rate, None, self.precision(precision)) for precision, rate in peak_flops.items()]
        rates += [(rate, self._own_level(level), None) for level, rate in bandwidth.items()]
        return self._with_ceilings(
            [
                Ceiling("measured", rate, level, precision, measured=True, source=source)
                for rate, level, precision in rates
            ]
        )

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
        """Return this chip with one more roof below a peak or a bandwidth, such as ``no FMA`` or ``no prefetch``.

        Parameters
        ----------
        name
            The display name. A ceiling of this name under the same roof is replaced.
        peak_flops, bandwidth
            The rate, FLOP/s or bytes/s. Exactly one of these two arguments must be given.
        precision
            The precision whose peak is above the ceiling; None for all precisions.
        memory
            The level whose bandwidth is above the ceiling; None for the main memory.
        source
            Where the figure comes from.

        Examples
        --------
        >>> chip = Chip("My CPU", {"fp64": "75 GFLOP/s"}, {"DRAM": "11 GB/s"})
        >>> chip.with_ceiling("no SIMD", peak_flops="37.5 GFLOP/s").ceilings[0].rate
        37500000000.0
        """
        if isinstance(name, Ceiling):
            raise TypeError(
                "with_ceiling takes a name and a rate, as in with_ceiling('no FMA', peak_flops='67 TFLOP/s'); "
                f"for a Ceiling use replace(ceilings=[*chip.ceilings, {name!r:.80}])"
            )
        if (peak_flops is None) == (bandwidth is None):
            raise ValueError(f"ceiling '{name}' needs either peak_flops or bandwidth")
        rate: Any = peak_flops if bandwidth is None else bandwidth
        given, keyword, value, other = (
            ("peak_flops", "memory", memory, "bandwidth")
            if bandwidth is None
            else ("bandwidth", "precision", precision, "peak_flops")
        )
        if value is not None:
            raise ValueError(f"ceiling '{name}' has {given}; {keyword}='{value}' goes with {other}")
        if bandwidth is not None:
            return self._with_ceilings([Ceiling(name, rate, self._own_level(memory or "main"), source=source)])
        under = None if precision is None else self.precision(precision)
        return self._with_ceilings([Ceiling(name, rate, precision=under, source=source)])

    @property
    def measured_rates(self) -> Mapping[str, Ceiling]:
        """The fastest measured ceiling under each peak and bandwidth, by keys such as ``peak_flops.bf16``.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989.5 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> {key: one.rate for key, one in chip.with_measured(bandwidth={"HBM": "3 TB/s"}).measured_rates.items()}
        {'memories.HBM.bandwidth': 3000000000000.0}
        """
        slowest_first = sorted((one for one in self.ceilings if one.measured), key=lambda one: one.rate)
        return MappingProxyType({self._figure_above(ceiling): ceiling for ceiling in slowest_first})

    def achievable(self) -> Chip:
        """Return this chip with its measured rates as peaks and bandwidths, where it has measured rates.

        All other figures stay those of the data sheet; the first note names both kinds. The figures of the data sheet
        that were replaced become ceilings called ``data sheet``.

        Raises
        ------
        MissingFigureError
            If the chip has no measured rate.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "989.5 TFLOP/s", "fp8": "1979 TFLOP/s"}, {"HBM": "3.35 TB/s"})
        >>> real = chip.with_measured(peak_flops={"bf16": "794.5 TFLOP/s"}).achievable()
        >>> real.peak("bf16"), real.peak("fp8"), real.name
        (794500000000000.0, 1979000000000000.0, 'My chip (achievable)')
        >>> real.notes[0]
        'Measured: bf16. As in the data sheet: fp8, HBM.'
        """
        fastest = self.measured_rates
        if not fastest:
            raise MissingFigureError(
                f"{self.name} has no measured peak or bandwidth; with_measured adds yours, "
                "and measure_peaks measures this machine"
            )
        peaks = {key: one for key in self.peak_flops if (one := fastest.get(f"peak_flops.{key}"))}
        levels = {key: one for key in self.memories if (one := fastest.get(f"memories.{key}.bandwidth"))}
        known = [key for key, level in self.memories.items() if level.bandwidth is not None]
        kept = [key for key in (*self.peak_flops, *known) if key not in peaks and key not in levels]
        note = f"Measured: {', '.join([*peaks, *levels])}."
        note += f" As in the data sheet: {', '.join(kept)}." if kept else ""
        return self.replace(
            id=f"{self.id}-achievable",
            name=f"{self.name} (achievable)",
            aliases=(),
            status=self.status,
            peak_flops={key: one.rate for key, one in peaks.items()},
            memories={key: one.rate for key, one in levels.items()},
            sources={key: one.source for key, one in fastest.items() if one.source},
            ceilings=[*(one for one in self.ceilings if not one.measured), *self._sheet_ceilings(peaks, levels)],
            notes=[note, *self.notes],
        )

    @keywords("Chip.at_clock")
    def at_clock(self, clock: float | str) -> Chip:
        """Return this chip at another clock, as a what-if: a clock that was set, or the one under a power cap.

        Peaks, and the bandwidths of the memories on the chip, are scaled by the ratio to `Chip.clock`; the latencies of
        these memories are those of as many cycles. Off-chip memories and links have clocks of their own, so they stay.
        The figures of the data sheet that were replaced become ceilings called ``data sheet``. Where a data sheet gives
        a peak for a lower clock than `Chip.clock`, as for the tensor cores of H100, H200 and B200, the result is up to
        8 % too low.

        Parameters
        ----------
        clock
            Hz, or text such as ``"1.2 GHz"``. At which clock a program runs under a power limit, ``nvidia-smi`` and
            ``rocm-smi`` say while it runs.

        Raises
        ------
        MissingFigureError
            If the clock of the chip's figures is unknown.
        ValueError
            If the clock is not above zero.

        Examples
        --------
        >>> chip = Chip("My chip", {"bf16": "990 TFLOP/s"}, {"HBM": "3 TB/s", "L1": "33 TB/s"}, clock="1.98 GHz")
        >>> capped = chip.at_clock("1.2 GHz")
        >>> capped.peak(), capped.bandwidth(), capped.bandwidth("L1"), capped.name
        (600000000000000.0, 3000000000000.0, 20000000000000.0, 'My chip at 1.2 GHz')
        """
        wanted = quantities.figure(clock, "Hz", f"at_clock of chip '{self.name}'")
        if self.clock is None:
            raise MissingFigureError(
                f"{self.name} has no clock, so its rates at another clock are unknown: give the clock of its figures, "
                "as in chip.replace(clock='1.98 GHz')"
            )
        share = wanted / self.clock
        shown, own = (quantities.format_quantity(hertz, "Hz", 4) for hertz in (wanted, self.clock))
        levels = {
            key: dataclasses.replace(
                level,
                bandwidth=None if level.bandwidth is None else level.bandwidth * share,
                latency=None if level.latency is None else level.latency / share,
            )
            for key, level in self.memories.items()
            if key != self.main_memory and not is_off_chip(key)
        }
        scaled = [f"peak_flops.{key}" for key in self.peak_flops]
        scaled += [f"memories.{key}.bandwidth" for key, level in levels.items() if level.bandwidth is not None]
        waits = [f"memories.{key}.latency" for key, level in levels.items() if level.latency is not None]
        stay = ", ".join(key for key in self.memories if key not in levels)
        note = f"A what-if at {shown}: peaks{' and ' + ', '.join(levels) if levels else ''} are those at {own}, scaled."
        return self.replace(
            name=f"{self.name} at {shown}",
            aliases=(),
            clock=wanted,
            peak_flops={key: rate * share for key, rate in self.peak_flops.items()},
            memories=levels,
            sources={key: Source(f"as at {own}, scaled to {shown}", confidence="derived") for key in (*scaled, *waits)},
            ceilings=[
                *(one for one in self.ceilings if self._figure_above(one) not in scaled),
                *self._sheet_ceilings(self.peak_flops, levels),
            ],
            notes=[f"{note} {stay} and links have clocks of their own and stay.", *self.notes],
        )

    def _sheet_ceilings(self, precisions: Iterable[str], levels: Iterable[str]) -> list[Ceiling]:
        """Return figures of the data sheet as ceilings, each with its source."""
        peaks = [
            Ceiling(_SHEET, self.peak_flops[key], precision=key, source=self.sources.get(f"peak_flops.{key}"))
            for key in precisions
        ]
        return peaks + [
            Ceiling(_SHEET, rate, memory=key, source=self.sources.get(f"memories.{key}.bandwidth"))
            for key in levels
            if (rate := self.memories[key].bandwidth) is not None
        ]

    def _own_level(self, level: str) -> str:
        return validation.own_level(self.name, self.memories, level)

    def _with_ceilings(self, new: list[Ceiling]) -> Chip:
        def place(ceiling: Ceiling) -> tuple[str, str | None, str | None]:
            return str(ceiling.name).casefold(), ceiling.memory, ceiling.precision

        taken = {place(ceiling) for ceiling in new}
        return self.replace(ceilings=(*(old for old in self.ceilings if place(old) not in taken), *new))

    # -- as text and as data ---------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, text and numbers that `from_dict` reads; unknown figures are left out."""
        return chip_record.to_record(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Chip:
        """Return the chip that a dict describes: the result of `to_dict`, or a dict of the same form written by hand.

        Raises
        ------
        ValueError
            If a key is unknown, a figure is bad or a source is missing; the message names the key, figure or source.

        Examples
        --------
        >>> chip = Chip.from_dict({"name": "My chip", "peak_flops": {"bf16": "990 TFLOP/s"}, "memories": {"HBM": 3e12}})
        >>> Chip.from_dict(chip.to_dict()) == chip
        True
        """
        return chip_record.from_record(cls, record)

    def __repr__(self) -> str:
        peaks = ", ".join(
            f"{p} {quantities.format_quantity(v, f'{operation(p)}/s', 4)}" for p, v in self.peak_flops.items()
        )
        known = [m for m in self.memories.values() if m.bandwidth is not None]
        bandwidths = ", ".join(f"{m.name} {quantities.format_quantity(m.bandwidth or 0.0, 'B/s', 4)}" for m in known)
        warning = "; single-source" if self.status == "single-source" else ""
        return f"Chip({self.name!r}: {peaks}; {bandwidths}{warning})"

    def _repr_html_(self) -> str:
        return card.html(self)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure with its source and the values of other sources: the rows of the chip's card."""
        return card.figures(self)

    @property
    def disputed(self) -> Mapping[str, tuple[Check, ...]]:
        """For each disputed figure, the checks that differ from our value by more than 3 %."""
        return card.disputed(self)


_FIELDS: Final = tuple(field.name for field in dataclasses.fields(Chip))


@dataclasses.dataclass(frozen=True)
class Share:
    """The part of an on-chip memory that one compute unit may use.

    Parameters
    ----------
    level
        The memory level.
    capacity
        Bytes: what one block of threads can allocate. If that is unknown, the capacity of the whole chip divided by the
        number of compute units, because all units may work at the same time.
    units
        The number of units; 1 if the chip does not state a number.
    """

    __module__ = "roofwidget.chips"

    level: str
    capacity: float
    units: int = 1


def share_on_chip(chip: Chip) -> Share | None:
    """Return one unit's share of the nearest memory with a known capacity, or None if no capacity is known.

    Examples
    --------
    >>> smem = Memory("SMEM", None, 132 * 233_472)
    >>> share_on_chip(Chip("My chip", {"bf16": 1e15}, {"HBM": 3e12, "SMEM": smem}, units="132 SM"))
    Share(level='SMEM', capacity=233472.0, units=132)
    """
    known = {
        name: (memory.capacity, memory.per_block)
        for name, memory in chip.memories.items()
        if memory.capacity is not None and name != chip.main_memory
    }
    if not known:
        return None
    folded = {name.casefold().split()[0]: name for name in reversed(known)}
    level = next((folded[word] for word in _NEAREST_MEMORIES if word in folded), next(reversed(known)))
    units = int(chip.units.split()[0]) if chip.units else 1
    whole, per_block = known[level]
    return Share(level, whole / units if per_block is None else per_block, units)


def shared_on_chip(chip: Chip) -> float:
    """Return the bytes of the largest memory on the chip that all of its units share.

    If there is none, or its capacity is unknown, this is what all units have together.

    Examples
    --------
    >>> on_chip = {"L2": Memory("L2", None, 50e6), "SMEM": Memory("SMEM", None, 30e6)}
    >>> chip = Chip("My chip", {"bf16": 1e15}, {"HBM": 3e12, **on_chip}, units="2 SM")
    >>> shared_on_chip(chip)
    50000000.0
    """
    share = share_on_chip(chip)
    if share is None:
        return inf
    sizes = [
        float(memory.capacity)
        for name, memory in chip.memories.items()
        if memory.capacity is not None and name not in (chip.main_memory, share.level)
    ]
    own = share.capacity * share.units
    return max([own, *sizes] if share.units == 1 else sizes, default=own)
