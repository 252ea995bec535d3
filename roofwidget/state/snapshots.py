"""Snapshots: a roof as it stood and where its kernels were, kept beside what follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from traitlets import HasTraits, TraitError, TraitType

from roofwidget import wire
from roofwidget.analysis.snapshot import Snapshot, kernel_positions

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.metadata import Rows
    from roofwidget.kernels.table import Kernels

__all__ = ["Snapshots", "SnapshotsTrait"]


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
                kernel_positions(self.shown_kernels, self.filtered_rows, bound),
            )
        except (TypeError, ValueError) as error:
            msg = f"freeze: {error}"
            raise TraitError(msg) from None
        self.snapshots = (*self.snapshots, frozen)
        return frozen

    def _free_name(self) -> str:
        taken = {snapshot.name for snapshot in self.snapshots}
        return next(name for name in (f"snapshot {k}" for k in range(1, len(taken) + 2)) if name not in taken)
