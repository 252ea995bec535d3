"""What a table of kernels tells beside its counts: origins, further columns, launches, groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from roofwidget.kernels import columns
from roofwidget.kernels.columns import DictColumn, Floats, Texts
from roofwidget.kernels.metadata import Extra, Launches, Rows, Words

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

__all__ = ["Told"]


class Told:
    """The part of `Kernels` that holds what is carried along; the constructor of `Kernels` sets its fields."""

    _names: Texts
    _time: Floats
    _self_time: Floats | None
    _origin: Mapping[str, DictColumn]
    _extra: Extra
    _launches: Launches | None
    _words: dict[str, DictColumn]

    @property
    def self_time(self) -> Floats:
        """Measured seconds without those of other rows within them, shape (n,): these may be added."""
        return self._time if self._self_time is None else self._self_time

    @property
    def has_self_time(self) -> bool:
        """Whether the source tells seconds without those of other rows apart."""
        return self._self_time is not None

    @property
    def origin(self) -> Mapping[str, Texts]:
        """Where numbers came from: a text or None by row, shape (n,), for ``"flops"``, ``"bytes:L2"``, ``"time"``.

        Examples
        --------
        >>> import roofwidget as rw
        >>> told = rw.Kernels(["a", "b"], [1, 2], [3, 4], origin={"flops": "2MNK of the shapes"})
        >>> told.origin["flops"].tolist()
        ['2MNK of the shapes', '2MNK of the shapes']
        """
        return Words(self._origin)

    @property
    def extra(self) -> Mapping[str, Any]:
        """What else the source tells: columns of numbers or texts by name, each of shape (n,)."""
        return Words(self._extra)

    @property
    def extra_columns(self) -> Extra:
        """The columns of `extra` as they are kept, those of texts with each different word once."""
        return self._extra

    @property
    def launches(self) -> Kernels | None:
        """The rows that these are sums of, None where these are no sums."""
        return None if self._launches is None else self._launches.here()

    def launches_of(self, row: int) -> Kernels:
        """Return the rows that one row is the sum of: that row itself where it is no sum."""
        at = range(len(self._names))[row]
        if self._launches is not None:
            return self._launches.of_rows(self._launches.rows[at])
        return cast("Kernels", self)[at : at + 1]

    def launches_with_rows(self) -> tuple[Kernels | None, Rows]:
        """Return `launches`, and for each the row of this table that it is part of."""
        if self._launches is None:
            return None, np.zeros(0, dtype=np.intp)
        return self._launches.here(), self._launches.owners_here()

    def groupby(self, *by: str) -> Kernels:
        """Return a row for each different ``name``, ``precision``, ``category`` or column of `extra`: sums over sums.

        FLOPs, bytes, seconds and launches are added, so that intensity and rate are sums over sums. A sum with an
        unknown part is unknown, and a warning says how many are. `extra` gains ``"time min (s)"``,
        ``"time median (s)"`` and ``"time max (s)"`` per launch; of its other columns, as of `origin`, `precision` and
        `category`, a group keeps what all its rows share. `launches` are the rows that were added.

        Raises
        ------
        ValueError
            If there is no such column: the message names the nearest.

        Examples
        --------
        >>> import roofwidget as rw
        >>> table = rw.Kernels(["a", "b", "a"], [1, 2, 3], [4, 5, 6], time=[1, 1, 3])
        >>> sums = table.groupby("name")
        >>> sums.names.tolist(), sums.flops.tolist(), sums.extra["time max (s)"].tolist()
        (['a', 'b'], [4.0, 2.0], [3.0, 1.0])
        >>> len(sums.launches_of(0))
        2
        """
        from roofwidget.kernels.groupby import grouped  # noqa: PLC0415 - it makes tables of this class

        return grouped(cast("Kernels", self), by or ("name",))

    def totals(self) -> Mapping[str, float]:
        """Return what the rows add up to but for unknown amounts, and the seconds of the rows that these are of.

        ``"flops"``, ``"bytes"`` of the main memory, ``"time"`` (self time, seconds) and ``"launches"``; ``"time without
        flops"`` and ``"time without bytes"`` are the seconds of rows whose amount is unknown, such as opaque calls and
        the row of idle time: `flops.sum()` is NaN where there is one. A whole program's bound is no bound of these sums
        but the sum of its kernels' bounds. NaN where all are unknown.

        Examples
        --------
        >>> import roofwidget as rw
        >>> table = rw.Kernels(["dot", "idle"], [8, np.nan], [2, np.nan], time=[3, 1])
        >>> float(table.flops.sum()), table.totals()["flops"], table.totals()["time without flops"]
        (nan, 8.0, 1.0)
        """
        kernels = cast("Kernels", self)
        flops, moved, time = kernels.flops, kernels.bytes, self.self_time
        added = {"flops": flops, "bytes": moved, "time": time, "launches": kernels.count}
        added |= {"time without flops": time[np.isnan(flops)], "time without bytes": time[np.isnan(moved)]}
        return {name: _sum_of_known(column) for name, column in added.items()}

    @property
    def short_names(self) -> Texts:
        """Names as charts show them, shape (n,): without return types, parameters, namespaces and template noise."""
        from roofwidget.kernels.names import shortened  # noqa: PLC0415 - only where names are shown

        names = self.codes("name")
        return DictColumn(tuple(shortened(name or "") for name in names.values), names.codes).texts()

    def codes(self, field: str) -> DictColumn:
        """Return a column of texts as its different words and, row by row, which of them it is.

        ``"name"``, ``"precision"``, ``"category"``, a column of `extra`, or ``"origin:flops"`` and so on.

        Examples
        --------
        >>> import roofwidget as rw
        >>> codes = rw.Kernels(["a", "b"], [1, 2], [3, 4], precision=["fp8", None]).codes("precision")
        >>> codes.values, codes.codes.tolist()
        (('fp8', None), [0, 1])
        """
        if field == "name" and field not in self._words:
            self._words[field] = columns.distinct(self._names.tolist())
        if field in self._words:
            return self._words[field]
        told = self._origin[field[7:]] if field.startswith("origin:") else self._extra[field]
        if not isinstance(told, DictColumn):
            raise KeyError(field)
        return told


def _sum_of_known(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(known.sum()) if len(known) or not len(column) else float("nan")
