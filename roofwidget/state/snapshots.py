"""Creates the snapshot that `RooflineModel.freeze` stores."""

from __future__ import annotations

from collections.abc import Iterable

from roofwidget.analysis.result import Bound, roof_level
from roofwidget.analysis.snapshot import Snapshot, kernel_positions
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.state.field import Refused
from roofwidget.support.arguments import text_argument


def frozen(name: str, others: Iterable[Snapshot], kernels: Kernels, rows: Rows, bound: Bound) -> Snapshot:
    """Return a snapshot of the given rows of `kernels`.

    If `name` is empty, the name is "snapshot 1", or "snapshot 2" if one of `others` is "snapshot 1", and so on.

    Raises
    ------
    Refused
        If the name is too long, or if a rate of the roof is not finite.
    """
    taken = {snapshot.name for snapshot in others}
    free = next(word for word in (f"snapshot {k}" for k in range(1, len(taken) + 2)) if word not in taken)
    chip = bound.chip
    try:
        return Snapshot(
            text_argument(name, "name").strip() or free,
            chip.id,
            bound.precision,
            bound.memory,
            chip.peak(bound.precision),
            chip.bandwidth(roof_level(bound)),
            kernel_positions(kernels, rows, bound),
        )
    except (TypeError, ValueError) as error:
        raise Refused(f"freeze: {error}") from None
