"""A measured program in a model: which of its kernels are shown, how its table is ordered, and an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from traitlets import Bool, Enum, HasTraits, TraitError, Unicode, observe, validate

from roofwidget import wire
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.projection import Projection, project
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.kernels.columns import Texts, folded
from roofwidget.kernels.filters import RESOURCES, Filters
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.table import Kernels
from roofwidget.state.graph import is_same_grouping
from roofwidget.state.trait_types import HowManyTrait, KernelsTrait, NamesTrait, RowsTrait, TimeShareTrait
from roofwidget.support.did_you_mean import listed, nearest

__all__ = ["TABLE_COLUMNS", "TABLE_COLUMNS_BY", "Profile"]

TABLE_COLUMNS: Final = (
    *("rank", "name", "category", "precision", "count", "time", "self_time", "share", "cumulative_share", "flops"),
    *("achieved", "attainable", "bound_by", "bound_time", "utilization", "roof_fraction", "peak_fraction", "headroom"),
)
"""The keys of the table's own columns; those of the file have their names."""
TABLE_COLUMNS_BY: Final = ("flops", "bytes", "ai", "rate", "bandwidth_utilization")
"""What a precision or a level follows: ``flops:fp16``, ``ai:HBM``. A file's own ``rank`` is ``extra:rank``."""


class Profile(HasTraits):
    """What `RooflineModel` knows of measured programs."""

    if TYPE_CHECKING:
        chips: Any
        focus_chip: Any
        precision: Any
        memory: Any
        launch_overhead: Any
        kernels: Any

        @property
        def shown_kernels(self) -> Kernels: ...
        def resolved_chip(self, name: str | None = None) -> Chip: ...
        def _row_of(self, row: int, what: str) -> int: ...

    search = Unicode(
        "",
        help="Only kernels in whose whole name each of these words occurs, in any case; '*' in a word is any run of "
        "characters. Shared.",
    ).tag(sync=True, to_json=wire.text_to_wire, echo_update=False)
    categories = NamesTrait(
        None, allow_none=True, help="Only kernels of these categories, '' for those without; None for all. Shared."
    ).tag(sync=True, to_json=wire.texts_to_wire, echo_update=False)
    bounds = NamesTrait(
        None,
        allow_none=True,
        help="Only kernels that one of these binds on the focus chip: 'compute', a level's name, 'network', "
        "'overhead', 'unknown'; None for all. Shared.",
    ).tag(sync=True, echo_update=False)
    precisions = NamesTrait(
        None, allow_none=True, help="Only kernels of these precisions, '' for those untold; None for all. Shared."
    ).tag(sync=True, to_json=wire.texts_to_wire, echo_update=False)
    time_share = TimeShareTrait(
        1.0,
        help="Only the fewest kernels that make up this share of the whole table's self time; 1 for all, also those "
        "that were not measured. Shared.",
    ).tag(sync=True, echo_update=False)
    top = HowManyTrait(
        1000, help="Only so many of those that pass all else, by self time; None for all of them. Shared."
    ).tag(sync=True, echo_update=False)
    infeed = Bool(
        default_value=True, help="Whether categories that contain 'infeed' or 'outfeed' are shown. Shared."
    ).tag(sync=True, echo_update=False)
    scope = Enum(
        ("kernels", "program"),
        default_value="kernels",
        help="Whether the chart shows the kernels or the program's totals and steps. Shared.",
    ).tag(sync=True, echo_update=False)
    baseline = KernelsTrait(
        None, allow_none=True, help="An earlier run that `kernels` are compared with, or None. Owned by Python."
    ).tag(sync=True, to_json=wire.baseline_to_wire)
    sort_by = Unicode(
        "", help="The table's order: a column's key, '-' before it for falling; '' for '-self_time'. Shared."
    ).tag(sync=True, to_json=wire.text_to_wire, echo_update=False)
    columns = NamesTrait(
        None, allow_none=True, help="The table's columns by key; None for the usual ones. Shared."
    ).tag(sync=True, to_json=wire.texts_to_wire, echo_update=False)
    at_roof = RowsTrait((), help="Rows of the kernels that reach their roof in the projected time. Shared.").tag(
        sync=True, echo_update=False
    )

    @property
    def filtered(self) -> Kernels:
        """The kernels that pass all filters, in the table's order: those behind the picture."""
        return self.shown_kernels[self.filtered_rows]

    @property
    def filtered_rows(self) -> Rows:
        """The rows of `shown_kernels` that pass all filters, ascending."""
        filters = Filters(
            self.search, self.categories, self.bounds, self.precisions, self.time_share, self.top, self.infeed
        )
        kernels = self.shown_kernels
        return filters.rows(kernels, lambda: self._bound_by(kernels))

    def projection(self, source: Chip | str | None = None, *, recast: str | None = None) -> Projection:
        """Return how long the kernels would take on the focus chip, what-if values in force; see `roofwidget.project`.

        `source` is the chip they ran on, if they do not tell. The rows of `at_roof` reach their roof. With `recast`
        all FLOPs are done in that precision.
        """
        return project(
            self.shown_kernels,
            self.resolved_chip(),
            source=source,
            precision=self.precision if recast is None else None,
            memory=self.memory,
            at_roof=self.at_roof,
            recast=recast,
        )

    def _bound_by(self, kernels: Kernels) -> Texts:
        """Return what binds each kernel on the focus chip: unknown where the chip lacks a figure that this takes."""
        try:
            return bound_lenient(
                kernels,
                self.resolved_chip(),
                precision=self.precision,
                memory=self.memory,
                launch_overhead=self.launch_overhead,
            ).bound_by
        except (MissingFigureError, TraitError):
            return np.full(len(kernels), "unknown", dtype=object)

    # -- what may be set ---------------------------------------------------------------------------------------

    @validate("categories", "precisions")
    def _check_words(self, proposal: Any) -> tuple[str, ...] | None:
        words = proposal["value"]
        if words is None:
            return None
        casefold = proposal["trait"].name == "precisions"
        return tuple(dict.fromkeys(folded(word) if casefold else word for word in words))

    @validate("bounds")
    def _check_bounds(self, proposal: Any) -> tuple[str, ...] | None:
        words = proposal["value"]
        if words is None:
            return None
        known = self._known_bounds()
        for word in words:
            if word.casefold() not in known:
                near = nearest(word, known.values()) or known.values()
                msg = f"bounds: '{word[:60]}' binds no kernel on any of the chips; nearest: {listed(near)}"
                raise TraitError(msg)
        return tuple(dict.fromkeys(known[word.casefold()] for word in words))

    def _known_bounds(self) -> dict[str, str]:
        """Answers by what they are in any case; the focus chip's spelling of a level goes before others'."""
        chips = sorted(self.chips, key=lambda chip: chip.id == self.focus_chip)
        return {name.casefold(): name for name in (*(level for chip in chips for level in chip.memories), *RESOURCES)}

    @validate("sort_by")
    def _check_sort_by(self, proposal: Any) -> str:
        key: str = proposal["value"]
        return key and "-" * key.startswith("-") + self._column_key(key.removeprefix("-"), "sort_by")

    @validate("columns")
    def _check_columns(self, proposal: Any) -> tuple[str, ...] | None:
        keys = proposal["value"]
        return None if keys is None else tuple(dict.fromkeys(self._column_key(key, "columns") for key in keys))

    def _column_key(self, key: str, trait: str) -> str:
        """Return the key of a column that the table has now, or may have with other kernels or on another chip."""
        first, _, name = key.partition(":")
        if first == "extra" and name:
            return key if _is_own(name) else name
        if _is_own(key) or key in self.shown_kernels.extra:
            return key
        options = [*TABLE_COLUMNS, *self.shown_kernels.extra]
        near = nearest(key, options) or options
        forms = " or ".join(f"'{word}:…'" for word in (*TABLE_COLUMNS_BY, "extra"))
        msg = f"{trait}: the table has no column '{key[:60]}'; nearest: {listed(near)}; or {forms}"
        raise TraitError(msg)

    def _has_column(self, key: object) -> bool:
        try:
            self._column_key(str(key).removeprefix("-"), "columns")
        except TraitError:
            return False
        return True

    @validate("at_roof")
    def _check_at_roof(self, proposal: Any) -> tuple[int, ...]:
        return tuple(self._row_of(row, "at_roof") for row in proposal["value"])

    # -- what follows from what --------------------------------------------------------------------------------

    @observe("kernels", "graph", "partition")
    def _forget_rows_at_roof(self, change: Any) -> None:
        if change["name"] != "partition" or not is_same_grouping(change["old"], change["new"]):
            self.at_roof = ()

    @observe("chips", "focus_chip")
    def _keep_known_bounds(self, _change: Any) -> None:
        if self.bounds is not None:
            known = self._known_bounds()
            kept = tuple(known[word.casefold()] for word in self.bounds if word.casefold() in known)
            # A filter of which nothing is left must not hide everything; one that never let any pass still does.
            self.bounds = kept or (None if self.bounds else ())


def _is_own(key: str) -> bool:
    first, colon, name = key.partition(":")
    return first in TABLE_COLUMNS_BY if colon and name else key in TABLE_COLUMNS
