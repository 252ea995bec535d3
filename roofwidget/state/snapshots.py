"""Snapshots: a roof as it stood and where its kernels were, kept beside what follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from traitlets import HasTraits, TraitError, TraitType

from roofwidget import units, wire

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.columns import Floats
    from roofwidget.kernels.metadata import Rows
    from roofwidget.kernels.table import Kernels

__all__ = ["Snapshot", "Snapshots", "SnapshotsTrait"]

_MOST: Final = 200
_LONGEST: Final = 80
_FIELDS: Final = 3


@dataclass(frozen=True)
class Snapshot:
    """A roof and the places of its kernels as they stood when they were frozen.

    Parameters
    ----------
    name
        What it is called, 80 letters at most.
    chip
        Id of the chip.
    precision, memory
        Whose peak and bandwidth they are.
    peak_flops, bandwidth
        FLOP/s and bytes/s, finite and above zero.
    kernels
        ``(name, FLOP/byte, FLOP/s)`` of at most 200 kernels, those that took longest, of one name only the longest.
        Without bytes the intensity is infinite, without FLOPs 0, and then the rate is in bytes/s.
    hidden
        Whether the chart leaves it out.

    Raises
    ------
    TypeError
        If a name, or what should be a row of `kernels`, is something else.
    ValueError
        For an empty name, or for a number that has no place.

    Examples
    --------
    >>> Snapshot("before", "v5p", "bf16", "HBM", 459e12, 2.765e12, [("gelu", 0.5, 1.38e12)]).kernels
    (('gelu', 0.5, 1380000000000.0),)
    """

    name: str
    chip: str
    precision: str
    memory: str
    peak_flops: float
    bandwidth: float
    kernels: tuple[tuple[str, float, float], ...] = ()
    hidden: bool = False

    def __post_init__(self) -> None:
        for field in ("name", "chip", "precision", "memory"):
            text = getattr(self, field)
            if not isinstance(text, str):
                msg = f"the {field} of a snapshot is text, not {text!r:.40}"
                raise TypeError(msg)
            object.__setattr__(self, field, wire.text_to_wire(text.strip()))
        if not self.name or len(self.name) > _LONGEST:
            msg = f"a snapshot needs a name of 1 to {_LONGEST} letters, not '{self.name:.40}'"
            raise ValueError(msg)
        for field, unit in (("peak_flops", "FLOP/s"), ("bandwidth", "B/s")):
            what = f"{field} of snapshot '{self.name}'"
            rate = units.positive(units.parse(getattr(self, field), unit, what), what)
            object.__setattr__(self, field, rate)
        object.__setattr__(self, "hidden", bool(self.hidden))
        object.__setattr__(self, "kernels", _places(self.name, self.kernels))


def _places(snapshot: str, given: Any) -> tuple[tuple[str, float, float], ...]:
    rows = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else None
    if rows is None or not all(isinstance(row, Sequence) and len(row) == _FIELDS for row in rows):
        msg = f"kernels of snapshot '{snapshot}' are rows of (name, FLOP/byte, FLOP/s), not {given!r:.40}"
        raise TypeError(msg)
    if len(rows) > _MOST:
        msg = f"snapshot '{snapshot}' keeps {_MOST} kernels at most, not {len(rows)}: leave out the shortest"
        raise ValueError(msg)
    places = []
    for told, intensity, rate in rows:
        name = wire.text_to_wire(str(told))
        try:
            place = (name, float(intensity), float(rate))
        except (TypeError, ValueError):
            place = (name, np.nan, np.nan)
        if not (place[1] >= 0 and 0 < place[2] < np.inf):
            msg = f"kernel '{place[0]:.40}' of snapshot '{snapshot}' has no place at {intensity!r}, {rate!r}"
            raise ValueError(msg)
        places.append(place)
    return tuple(places)


class SnapshotsTrait(TraitType["tuple[Snapshot, ...]", Any]):
    """Snapshots; kept as a tuple. A single one may stand alone."""

    default_value = ()
    info_text = "a list of Snapshot objects"

    def validate(self, obj: Any, value: Any) -> tuple[Snapshot, ...]:
        given = [value] if isinstance(value, Snapshot) else value
        if not isinstance(given, Sequence) or not all(isinstance(entry, Snapshot) for entry in given):
            self.error(obj, value)
        return tuple(given)


class Snapshots(HasTraits):
    """What `RooflineModel` holds of curves that were frozen."""

    if TYPE_CHECKING:

        @property
        def shown_kernels(self) -> Kernels: ...
        @property
        def filtered_rows(self) -> Rows: ...
        def bound(self, chip: str | None = None) -> Bound: ...

    snapshots = SnapshotsTrait(
        (), help="Roofs and places of kernels that were frozen, the oldest first; `freeze` adds one. Shared."
    ).tag(sync=True, to_json=wire.snapshots_to_wire, from_json=wire.snapshots_from_wire, echo_update=False)

    def freeze(self, name: str = "") -> Snapshot:
        """Keep the focus roof as it stands, and where its kernels are, as the newest of `snapshots`.

        Parameters
        ----------
        name
            What it is called; "snapshot 1" and so on by default.

        Raises
        ------
        MissingFigureError
            If the focus chip has no peak or bandwidth that was asked for.
        traitlets.TraitError
            If there are no chips, or the name is too long.

        Examples
        --------
        >>> from roofwidget import Chip, RooflineModel
        >>> chip = Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
        >>> model = RooflineModel([chip], [("gelu", 1e12, 1e11, 0.4)])
        >>> model.freeze("before").kernels
        (('gelu', 10.0, 2500000000000.0),)
        >>> model.bandwidth = "2 TB/s"
        >>> [(frozen.name, frozen.bandwidth) for frozen in model.snapshots]
        [('before', 1000000000000.0)]
        """
        bound = self.bound()
        chip = bound.chip
        level = chip.main_memory if bound.memory == "all" else bound.memory
        try:
            frozen = Snapshot(
                name.strip() or self._free_name(),
                chip.id,
                bound.precision,
                bound.memory,
                chip.peak(bound.precision),
                chip.bandwidth(level),
                _standing(self.shown_kernels, self.filtered_rows, bound),
            )
        except (TypeError, ValueError) as error:
            msg = f"freeze: {error}"
            raise TraitError(msg) from None
        self.snapshots = (*self.snapshots, frozen)
        return frozen

    def _free_name(self) -> str:
        taken = {snapshot.name for snapshot in self.snapshots}
        return next(name for name in (f"snapshot {k}" for k in range(1, len(taken) + 2)) if name not in taken)


def _standing(kernels: Kernels, rows: Rows, bound: Bound) -> tuple[tuple[str, float, float], ...]:
    """Return where the longest of these rows stand, of one name the first: at the level that binds."""
    moved, slowest = _binding_bytes(bound)
    seconds = np.where(np.isnan(bound.measured), np.fmax(bound.compute_time, slowest), bound.measured)
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = bound.flops / moved
        rate = np.where(bound.flops > 0, bound.flops, moved) / seconds
    longest = rows[np.argsort(-np.nan_to_num(kernels.self_time[rows]), kind="stable")]
    places: dict[str, tuple[str, float, float]] = {}
    for row in longest.tolist():
        name = wire.text_to_wire(str(bound.names[row] or ""))
        has_place = intensity[row] >= 0 and 0 < rate[row] < np.inf
        if has_place and name and name not in places:
            places[name] = (name, float(intensity[row]), float(rate[row]))
        if len(places) == _MOST:
            break
    return tuple(places.values())


def _binding_bytes(bound: Bound) -> tuple[Floats, Floats]:
    """Return bytes and seconds of the level that binds each kernel, or of the first it tells of."""
    moved = np.full(len(bound), np.nan)
    slowest = np.full(len(bound), np.nan)
    for level in bound.judged:
        seconds = bound.memory_time.get(level)
        if seconds is None:
            continue
        first = np.isnan(slowest) & ~np.isnan(seconds)
        binds = (bound.bound_by == level) & ~np.isnan(seconds)
        moved = np.where(first | binds, bound.bytes[level], moved)
        slowest = np.fmax(slowest, seconds)
    return moved, slowest
