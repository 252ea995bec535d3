"""`Kernels`: a table of kernels, one array per column."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast, overload

import numpy as np
import numpy.typing as npt

from roofwidget.chips import NETWORK, Chip, is_off_chip
from roofwidget.chips import chip as look_up
from roofwidget.kernels import columns, table_report, unknown_work
from roofwidget.kernels.arrow import to_table
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL, DictColumn, Floats, Texts, frozen, is_whole
from roofwidget.kernels.dataframes import from_frame, is_frame, to_columns, to_frame
from roofwidget.kernels.filters import (
    Filters,
    checked_text,
    known_resources,
    known_values,
    phase_column,
    share_above_zero,
    whole_from_one,
)
from roofwidget.kernels.groupby import grouped
from roofwidget.kernels.kernel import Kernel, as_kernel
from roofwidget.kernels.metadata import (
    Activity,
    Communication,
    Extra,
    Launches,
    Rows,
    TextsByName,
    extra_columns,
    origins,
    text_list,
    texts_by_name,
)
from roofwidget.kernels.names import displayed, numbered
from roofwidget.kernels.work import with_work
from roofwidget.support.arguments import list_argument, shown_value, text_argument
from roofwidget.support.did_you_mean import keywords, listed, nearest, unknown_keyword
from roofwidget.support.text_tables import counted

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.kernels.unknown_work import UnknownWorks
    from roofwidget.widget import RooflineWidget

_OF_TABLE: Final = frozenset(
    (
        *("chip", "fitting_chips", "program", "steps", "warnings", "source", "read_as", "series"),
        *("communication", "activity"),
    )
)
"""The arguments of `Kernels` that belong to the whole table, not to its rows."""
_RANKS_OF_BOUND: Final = ("headroom", "utilization", "roof_fraction", "peak_fraction", "attainable")
"""Attributes of `Bound` that `Kernels.top` can rank by; they need a chip."""
_RANKS: Final = ("time", "self_time", "flops", "bytes", "count", "arithmetic_intensity", "achieved")
"""Properties of `Kernels` that `Kernels.top` can rank by; they need no chip."""


class Kernels:
    """A table of kernels with read-only columns. A slice returns `Kernels`, an integer index returns a `Kernel`.

    Parameters
    ----------
    names
        One text per kernel.
    flops, bytes
        FLOPs and bytes, shape (n,), or a mapping from precision or memory level to such an array. In an array NaN means
        unknown. In a mapping NaN means that the kernel has no FLOPs of this precision, or no bytes of this level. The
        keys for FLOPs are precisions and classes of FLOPs. The keys for bytes are memory levels and ``"network"``, for
        bytes that cross the chip's link.
    time
        Seconds, shape (n,); NaN means not measured.
    precision, category
        One text or None per kernel.
    count
        The number of launches, shape (n,).
    self_time
        Seconds without the time of nested rows, shape (n,). None if no row's `time` includes the time of other rows.
    intensity, rate
        FLOP per byte of the main memory, and FLOP/s, shape (n,), for kernels that a source describes by the two
        coordinates of a roofline. NaN means unknown. They complete FLOPs, bytes and seconds where they can: an
        intensity and bytes, or a rate and seconds, give FLOPs; these give bytes and seconds. They are kept only for
        kernels whose FLOPs stay unknown and that have no network bytes. Such a kernel has a place on the chart and a
        share of its roof, and no seconds.
    origin
        How each field was measured or computed: the metric and the rule, by field (``"flops"``, ``"flops:fp16"``,
        ``"bytes:L2"``, ``"time"`` …). One text for all rows, or one text per row.
    extra
        Further columns by name, with the unit in the name: numbers or texts, one per row or one for all rows.
    launches, launch_rows
        Only for a table whose rows are sums: the m rows that were added, and for each added row the row of this table
        that contains it, shape (m,).
    chip
        The chip that the kernels ran on, if the source names it.
    fitting_chips
        The ids of the catalogue's chips with the memory and the units of the device, if the source names no chip.
    program, steps
        Whole-program and per-step totals as `Kernels`, if the source has them.
    warnings
        The warnings of the reader.
    source
        The file that the kernels were read from, or the graph and its counting convention.
    read_as
        How the file was read: its format as ``"format"``, and by field (``"name"``, ``"count"`` …) the column of the
        file. `origin` has the columns of FLOPs, bytes and seconds. Empty if the kernels are not from a file.
    series
        Whether the categories are series, such as the runs of a program. In the widget, series keep their order, and a
        line joins the points of a selected kernel in all series.
    communication
        How the communication of the program overlaps with its other kernels, if the source has the times of launches.
    activity
        How long the devices were busy and idle, if the source has the times of launches.

    Raises
    ------
    ValueError
        If columns differ in length, or a number is negative or infinite: the message names row and column.

    Examples
    --------
    >>> kernels = Kernels.from_records([("matmul", 4.3e9, 1.2e7), ("copy", 0, 8e6)])
    >>> len(kernels), kernels[1].name, kernels.arithmetic_intensity.round(1).tolist()
    (2, 'copy', [358.3, 0.0])
    >>> points = Kernels(["triad", "dgemm"], intensity=[0.083, 12.5], rate=[15.4e9, 880e9])
    >>> points.achieved.tolist(), points.time.tolist()
    ([15400000000.0, 880000000000.0], [nan, nan])
    """

    __module__ = "roofwidget"

    @keywords("Kernels")
    def __init__(
        self,
        names: Iterable[str] | DictColumn = (),
        flops: npt.ArrayLike | Mapping[str, npt.ArrayLike] = (),
        bytes: npt.ArrayLike | Mapping[str, npt.ArrayLike] = (),  # noqa: A002 - the usual name of this quantity
        *,
        time: npt.ArrayLike | None = None,
        precision: Iterable[str | None] | DictColumn | None = None,
        category: Iterable[str | None] | DictColumn | None = None,
        count: npt.ArrayLike | None = None,
        self_time: npt.ArrayLike | None = None,
        intensity: npt.ArrayLike | None = None,
        rate: npt.ArrayLike | None = None,
        origin: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        launches: Kernels | None = None,
        launch_rows: npt.ArrayLike | None = None,
        chip: Chip | None = None,
        program: Kernels | None = None,
        steps: Kernels | None = None,
        warnings: Iterable[str] = (),
        source: str = "",
        read_as: Mapping[str, str] | None = None,
        series: bool = False,
        communication: Communication | None = None,
        activity: Activity | None = None,
        fitting_chips: Iterable[str] = (),
    ) -> None:
        if isinstance(names, DictColumn):
            self._names = columns.name_column(names)
            self._name_codes = names
        else:
            self._names = columns.name_column(list_argument(names, "names", "['gelu', 'matmul']"))
        n = len(self._names)
        if intensity is not None or rate is not None:
            flops, bytes = ({} if isinstance(given, tuple) and not given else given for given in (flops, bytes))  # noqa: A001
        self._flops = columns.by_key(flops, ASKED_PRECISION, "flops", n, casefold=True)
        self._bytes = columns.by_key(bytes, MAIN_LEVEL, "bytes", n)
        self._time = columns.checked(np.full(n, np.nan) if time is None else time, "time", n)
        self._intensity = None if intensity is None else columns.checked(intensity, "intensity", n)
        self._rate = None if rate is None else columns.checked(rate, "rate", n)
        self._precision = columns.dict_column(precision, "precision", n, casefold=True)
        self._category = columns.dict_column(category, "category", n)
        self._count = columns.checked(np.ones(n) if count is None else count, "count", n)
        self._self_time = None if self_time is None else columns.checked(self_time, "self_time", n)
        self._origin = origins(origin, n)
        self._extra = extra_columns(extra, n)
        self._launches = Launches.of(launches, launch_rows, n)
        self.chip = chip
        self.fitting_chips = text_list(fitting_chips, "fitting_chips", "['h100-sxm']")
        self._program = program
        self._steps = steps
        self.warnings = text_list(warnings, "warnings", "['no times']")
        self.source = text_argument(source, "source")
        self.read_as = texts_by_name(read_as, "read_as", "{'format': 'table'}")
        self.series = bool(series)
        self.communication = communication
        self.activity = activity
        if intensity is not None or rate is not None:
            self._complete()

    @classmethod
    def from_records(cls, records: Iterable[Kernel | Sequence[Any] | Mapping[str, Any]]) -> Kernels:
        """Make a table from `Kernel` objects, tuples ``(name, flops, bytes[, time])`` or dicts of `Kernel`'s keywords.

        Raises
        ------
        TypeError, ValueError
            If a record has another form or contains a bad number: the message names the record.
        """
        listed_records = list_argument(records, "records", "[('gelu', 1.3e8, 6.7e7)]")
        kernels = [as_kernel(record, row) for row, record in enumerate(listed_records)]
        return cls(
            [k.name for k in kernels],
            columns.by_key_of_rows([k.flops for k in kernels], ASKED_PRECISION),
            columns.by_key_of_rows([k.bytes for k in kernels], MAIN_LEVEL),
            time=columns.known_numbers([k.time for k in kernels]),
            precision=[k.precision for k in kernels],
            category=[k.category for k in kernels],
            count=[k.count for k in kernels],
            intensity=columns.known_numbers([k.intensity for k in kernels]),
            rate=columns.known_numbers([k.rate for k in kernels]),
        )

    @classmethod
    def from_dataframe(cls, frame: Any) -> Kernels:
        """Make a table from a data frame or a mapping of columns, such as `to_dataframe` and `to_arrow` return.

        The data frame is one of pandas, or any object with Arrow's PyCapsule interface or the interchange protocol for
        data frames: of polars, pyarrow (also a reader of record batches), DuckDB, Ibis, cuDF …

        Columns have the words and units that `roofwidget.read` knows (``time (ms)``, ``dtype``, ``calls`` …; see
        docs/readers.md). Columns for ``name``, ``flops`` and ``bytes`` are required. ``flops`` and ``bytes`` may be
        split by precision or level (``flops:fp16``, ``bytes:HBM``). ``time``, ``self_time``, ``precision``,
        ``category``, ``count``, ``intensity``, ``rate`` and origins (``origin:flops`` …) are optional. Other columns of
        numbers or texts become `extra`. `warnings` names columns that look like a measure and are not used, and columns
        of other types.

        Raises
        ------
        ValueError
            If a required column is missing, a name looks misspelt, or a cell is bad: the message names row and column.
        """
        if not is_frame(frame):
            raise TypeError(
                f"frame must be a data frame or a mapping of columns (name, flops, bytes), got {shown_value(frame)}"
            )
        return cls(**from_frame(frame))

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one column per field; mappings become columns such as ``flops:fp16``.

        The last columns are ``self_time``, ``intensity`` and ``rate`` if the table has them, the columns of `extra` and
        origins (``origin:flops`` …).
        """
        return to_frame(self)

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with the columns of `to_dataframe`; texts are dictionary-encoded, unknown is null.

        The metadata of the schema has `chip`, `source`, `warnings` and `series`, so `from_dataframe` and
        `roofwidget.read` return an equal table. The table does not have `launches`, `program` and `steps`.

        Raises
        ------
        ImportError
            If pyarrow is not installed. The message says how to install it.

        Examples
        --------
        >>> table = Kernels(["a", "b"], [1, 2], [3, float("nan")], source="run 1").to_arrow()
        >>> table.column("bytes").to_pylist(), Kernels.from_dataframe(table).source
        ([3.0, None], 'run 1')
        """
        return to_table(self, to_columns(self))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table of `to_arrow` to a Parquet file, which `roofwidget.read` reads.

        Raises
        ------
        ImportError
            If pyarrow is not installed. The message says how to install it.
        """
        table = self.to_arrow()
        from pyarrow import parquet  # noqa: PLC0415 - optional and slow to import

        parquet.write_table(table, os.fspath(path))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the columns of `to_arrow` for other libraries, as a PyCapsule."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def names(self) -> Texts:
        """Names, shape (n,)."""
        return self._names

    @property
    def flops(self) -> Floats:
        """FLOPs over all precisions, shape (n,); NaN where unknown. `totals` returns the sum of the known FLOPs."""
        return columns.sum_of_known(list(self._flops.values()), len(self))

    @property
    def flops_by_precision(self) -> Mapping[str, Floats]:
        """FLOPs by precision or class, each of shape (n,); NaN means no FLOPs. The key ``""`` is for plain numbers."""
        return self._flops

    @property
    def bytes(self) -> Floats:
        """Bytes of the main memory, shape (n,); NaN where unknown. If `chip` is known, its main memory counts."""
        if self.chip is not None:
            return self.bytes_on(self.chip)
        return columns.sum_of_known([c for level, c in self._bytes.items() if is_off_chip(level)], len(self))

    def bytes_on(self, chip: Chip | str) -> Floats:
        """Return bytes of the main memory of `chip`, shape (n,); NaN where unknown.

        Bytes under the name of the chip's main memory have priority. Without such bytes, plain numbers count, and bytes
        under other names of off-chip memory, such as ``"DRAM"``. Bytes under the name of another level of `chip` do not
        count.

        Examples
        --------
        >>> two = Chip("two", {"bf16": 1e15}, {"HBM": 4e12, "LPDDR5X": 5e11})
        >>> Kernels(["a", "b"], [0, 0], {"DRAM": [1, np.nan], "LPDDR5X": [2, 3]}).bytes_on(two).tolist()
        [1.0, nan]
        """
        main, *others = (level.casefold() for level in look_up(chip).memories)
        by_level = {level.casefold(): column for level, column in self._bytes.items()}
        exact = by_level.pop(main, None)
        if exact is not None and not np.isnan(exact).any():
            return exact
        outside = [column for level, column in by_level.items() if is_off_chip(level) and level not in others]
        rest = columns.sum_of_known(outside, len(self))
        return rest if exact is None else np.where(np.isnan(exact), rest, exact)

    @property
    def bytes_by_level(self) -> Mapping[str, Floats]:
        """Bytes by memory level, each of shape (n,). The key ``"main"`` is for plain numbers."""
        return self._bytes

    @property
    def network_bytes(self) -> Floats:
        """Bytes that cross the chip's link, shape (n,); NaN where unknown."""
        column = next((part for level, part in self._bytes.items() if level.casefold() == NETWORK), None)
        return np.broadcast_to(np.nan, len(self)) if column is None else column

    @property
    def time(self) -> Floats:
        """Measured seconds, shape (n,); NaN where not measured."""
        return self._time

    @property
    def precision(self) -> Texts:
        """The precision of each kernel or None, shape (n,)."""
        return self._precision.texts()

    @property
    def category(self) -> Texts:
        """The category of each kernel or None, shape (n,)."""
        return self._category.texts()

    @property
    def count(self) -> Floats:
        """The number of launches, shape (n,)."""
        return self._count

    @property
    def intensity(self) -> Floats:
        """FLOP per byte of main memory where the FLOPs are unknown, shape (n,); NaN elsewhere and where unknown.

        `arithmetic_intensity` has the intensities of all kernels.
        """
        return np.broadcast_to(np.nan, len(self)) if self._intensity is None else self._intensity

    @property
    def rate(self) -> Floats:
        """Achieved FLOP/s where the FLOPs are unknown, shape (n,); NaN elsewhere and where unknown.

        `achieved` has the rates of all kernels.
        """
        return np.broadcast_to(np.nan, len(self)) if self._rate is None else self._rate

    @property
    def has_ratios(self) -> bool:
        """Whether a kernel has an `intensity` or a `rate`."""
        return any(column is not None and not np.isnan(column).all() for column in (self._intensity, self._rate))

    @property
    @columns.unwarned
    def arithmetic_intensity(self) -> Floats:
        """FLOPs per byte of main memory, shape (n,): NaN where unknown, infinite at zero bytes.

        Where the FLOPs are unknown, it is `intensity`.
        """
        return columns.known_or(self.flops / self.bytes, self._intensity)

    @property
    @columns.unwarned
    def achieved(self) -> Floats:
        """FLOPs per measured second, FLOP/s, shape (n,): NaN where not measured.

        Where the FLOPs are unknown, it is `rate`.
        """
        return columns.known_or(np.where(self._time > 0, self.flops / self._time, np.nan), self._rate)

    @property
    def program(self) -> Kernels:
        """Whole-program totals as `Kernels`; empty if the source has none."""
        return self._program or Kernels()

    @property
    def steps(self) -> Kernels:
        """Per-step totals and their average as `Kernels`; empty if the source has none."""
        return self._steps or Kernels()

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, key: int) -> Kernel: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> Kernels: ...
    def __getitem__(self, key: Any) -> Kernel | Kernels:
        """Return one `Kernel` for an integer, `Kernels` for a slice, a boolean mask or an array of row numbers."""
        if is_whole(key):
            return self._kernel(range(len(self))[int(key)])
        if not isinstance(key, slice):
            key = np.asarray(key)
            key = key.astype(np.intp) if key.size == 0 else key
            if key.ndim != 1:
                raise IndexError(
                    f"the index of a Kernels is an integer, a slice, a mask or a list of row numbers, not {key!r:.60}"
                )
        part = object.__new__(Kernels)
        # A copy, because other threads may keep in it what they compute.
        for name, value in vars(self).copy().items():
            is_column = name.removeprefix("_") not in _OF_TABLE
            setattr(part, name, columns.at_rows(value, key) if is_column else value)
        return part

    def __iter__(self) -> Iterator[Kernel]:
        return (self._kernel(row) for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernels):
            return NotImplemented
        return self is other or (len(self) == len(other) and columns.same(self._content(), other._content()))

    __hash__ = None  # type: ignore[assignment]  # equality looks into arrays

    def __reduce__(self) -> tuple[object, ...]:
        # A pickle must not name this file, so that old pickles can still be read if this file is renamed.
        # Repeated names are stored once.
        arguments = {**self._arguments(), "names": self._name_codes}
        return Kernels._unpickled, ({name: columns.to_plain(value) for name, value in arguments.items()},)

    @classmethod
    def _unpickled(cls, arguments: Mapping[str, Any]) -> Kernels:
        return cls(**{name: columns.from_plain(value) for name, value in arguments.items()})

    def _arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments for this table, for `replace`, pickles and `==`."""
        kept = {name.removeprefix("_"): value for name, value in vars(self).copy().items()}
        kept["launches"], kept["launch_rows"] = self.launches_with_rows()
        return {name: kept[name] for name in _ARGUMENTS}

    def _content(self) -> dict[str, Any]:
        """Return what `==` compares: the columns, but not the facts about the whole table, such as `source`."""
        columns_ = {name: value for name, value in self._arguments().items() if name not in _OF_TABLE | {"launch_rows"}}
        return {**columns_, "self_time": self.self_time, "intensity": self.intensity, "rate": self.rate}

    @columns.unwarned
    def _complete(self) -> None:
        """Compute FLOPs, bytes and seconds that follow from intensities and rates. Drop those of rows with FLOPs."""
        intensity, rate, time, moved = self.intensity, self.rate, self._time, self.bytes
        by_time = np.where(time > 0, rate * time, np.nan)
        counted = columns.known_or(by_time, np.where(moved > 0, intensity * moved, np.nan))
        flops = columns.known_or(self.flops, counted)
        crossed = np.where((flops > 0) & (intensity > 0), flops / intensity, np.nan)
        seconds = np.where((flops > 0) & (rate > 0), flops / rate, np.nan)
        more = np.where(np.isnan(self.flops), counted, np.nan), np.where(np.isnan(moved), crossed, np.nan)
        self._flops = columns.filled(self._flops, ASKED_PRECISION, more[0], "flops")
        self._bytes = columns.filled(self._bytes, MAIN_LEVEL, more[1], "bytes")
        self._time = columns.checked(columns.known_or(time, seconds), "time", len(self))
        # Of the bytes over a link, unknown FLOPs have no known share.
        is_unknown = np.isnan(flops) & ~(self.network_bytes > 0)
        self._intensity, self._rate = (
            None if np.isnan(column[is_unknown]).all() else frozen(np.where(is_unknown, column, np.nan))
            for column in (intensity, rate)
        )

    def replace(self, **changes: Any) -> Kernels:
        """Return a copy with some arguments of `Kernels` replaced and all others kept.

        Parameters
        ----------
        **changes
            Any argument of `Kernels`; None removes an optional column. If the number of rows changes, every column
            must be given.

        Raises
        ------
        TypeError
            If a keyword is unknown; the message names the nearest keyword.
        ValueError
            As in `Kernels`.

        Examples
        --------
        >>> table = Kernels(["a", "b"], [1, 2], [3, 4], time=[5, 6], category=["loop", None], source="run 1")
        >>> faster = table.replace(time=[2.5, 3])
        >>> faster.time.tolist(), faster.category.tolist(), faster.source
        ([2.5, 3.0], ['loop', None], 'run 1')
        """
        for name in changes:
            if name not in _ARGUMENTS:
                raise unknown_keyword("Kernels.replace", name, _ARGUMENTS)
        return Kernels(**{**self._arguments(), **changes})

    def __repr__(self) -> str:
        return table_report.plain(self)

    def _repr_html_(self) -> str:
        return table_report.html(self)

    @property
    def self_time(self) -> Floats:
        """Measured seconds without the time of nested rows, shape (n,). The sum over all rows counts no time twice."""
        return self._time if self._self_time is None else self._self_time

    @property
    def has_self_time(self) -> bool:
        """Whether the source has a `self_time` that differs from `time`."""
        return self._self_time is not None

    @property
    def origin(self) -> Mapping[str, Texts]:
        """How each field (``"flops"``, ``"bytes:L2"``) was measured or computed: a text or None per row.

        Examples
        --------
        >>> table = Kernels(["a", "b"], [1, 2], [3, 4], origin={"flops": "2MNK of the shapes"})
        >>> table.origin["flops"].tolist()
        ['2MNK of the shapes', '2MNK of the shapes']
        """
        return TextsByName(self._origin)

    @property
    def extra(self) -> Mapping[str, Any]:
        """Further columns of the source by name: numbers or texts, each of shape (n,)."""
        return TextsByName(self._extra)

    @property
    def extra_columns(self) -> Extra:
        """The columns of `extra` in their stored form: text columns are dictionary-encoded."""
        return self._extra

    @property
    def launches(self) -> Kernels | None:
        """The rows that were added to make this table, or None if its rows are not sums."""
        return None if self._launches is None else self._launches.here()

    def launches_of(self, row: int) -> Kernels:
        """Return the rows that were added to make one row. If the row is not a sum, return the row itself."""
        if not is_whole(row):
            raise TypeError(f"row must be a row number, got {shown_value(row)}")
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no row {shown_value(row)}: the table has {counted(len(self), 'row')}")
        at = range(len(self._names))[row]
        if self._launches is not None:
            return self._launches.of_rows(self._launches.rows[at])
        return self[at : at + 1]

    def launches_with_rows(self) -> tuple[Kernels | None, Rows]:
        """Return `launches`, and for each launch its row in this table."""
        if self._launches is None:
            return None, np.zeros(0, dtype=np.intp)
        return self._launches.here(), self._launches.owners_here()

    def groupby(self, *by: str) -> Kernels:
        """Return one row per unique combination of ``name``, ``precision``, ``category`` or columns of `extra`.

        FLOPs, bytes, seconds and launches of a group are added, so its intensity and its rate are ratios of sums. If a
        part of a sum is unknown, the sum is unknown. A warning says how many groups have unknown sums. `extra` gains
        the shortest, median and longest launch: ``"time min (s)"``, ``"time median (s)"``, ``"time max (s)"``; and, if
        work of some rows is unknown, ``"known share of time"``: the share of a group's time in rows of known work.
        Other columns of `extra`, `origin`, `precision` and `category` keep a value only if all rows of a group share
        it. `launches` are the rows that were added.

        Raises
        ------
        ValueError
            If the table has no column of a given name: the message names the nearest column.

        Examples
        --------
        >>> table = Kernels(["a", "b", "a"], [1, 2, 3], [4, 5, 6], time=[1, 1, 3])
        >>> sums = table.groupby("name")
        >>> sums.names.tolist(), sums.flops.tolist(), sums.extra["time max (s)"].tolist()
        (['a', 'b'], [4.0, 2.0], [3.0, 1.0])
        >>> len(sums.launches_of(0))
        2
        """
        return grouped(self, by or ("name",))

    def totals(self) -> Mapping[str, float]:
        """Return the sums of the known amounts over all rows, and the time of the rows with unknown amounts.

        The keys are ``"flops"``, ``"bytes"`` (main memory), ``"time"`` (self time, seconds) and ``"launches"``. Also,
        ``"time without flops"`` and ``"time without bytes"`` are the seconds of rows with an unknown amount, such as
        opaque calls and idle time. A single row with unknown FLOPs makes ``flops.sum()`` NaN. A sum of `totals` is NaN
        only if all its parts are unknown. These sums do not give the bound of a whole program, which is the sum of its
        kernels' bounds.

        Examples
        --------
        >>> table = Kernels(["dot", "idle"], [8, np.nan], [2, np.nan], time=[3, 1])
        >>> float(table.flops.sum()), table.totals()["flops"], table.totals()["time without flops"]
        (nan, 8.0, 1.0)
        """
        flops, moved, time = self.flops, self.bytes, self.self_time
        added = {"flops": flops, "bytes": moved, "time": time, "launches": self.count}
        added |= {"time without flops": time[np.isnan(flops)], "time without bytes": time[np.isnan(moved)]}
        return {name: _sum_of_known(column) for name, column in added.items()}

    @property
    def short_names(self) -> Texts:
        """Short names, shape (n,), as the chart, the table and the command line show them.

        They leave out return types, parameters and namespaces, for example. Kernels of one name have an addition: the
        shape of an operand, the file's own number, or a number in the order of the rows. In a table of more than 10,000
        kernels, equal names have no addition.
        """
        return self._displayed

    @cached_property
    def _displayed(self) -> Texts:
        column = np.empty(len(self), dtype=object)
        names, category = self.codes("name"), self.codes("category")
        same = numbered(names, category) if self.series else None
        column[:] = displayed(names, category, self.extra_columns, same)
        return frozen(column)

    def codes(self, field: str) -> DictColumn:
        """Return a text column in its dictionary-encoded form.

        The field is ``"name"``, ``"precision"``, ``"category"``, a text column of `extra`, or an origin such as
        ``"origin:flops"``.

        Examples
        --------
        >>> codes = Kernels(["a", "b"], [1, 2], [3, 4], precision=["fp8", None]).codes("precision")
        >>> codes.values, codes.codes.tolist()
        (('fp8', None), [0, 1])
        """
        if text_argument(field, "field") == "name":
            return self._name_codes
        if field in {"precision", "category"}:
            return self._precision if field == "precision" else self._category
        columns_of, key = (self._origin, field[7:]) if field.startswith("origin:") else (self._extra, field)
        column = columns_of.get(key)
        if not isinstance(column, DictColumn):
            texts = [name for name, other in self._extra.items() if isinstance(other, DictColumn)]
            known = ["name", "precision", "category", *texts, *(f"origin:{name}" for name in self._origin)]
            raise KeyError(f"the table has no text column '{field}'; it has {listed(known)}")
        return column

    @cached_property
    def _name_codes(self) -> DictColumn:
        return columns.dict_encoded(self._names.tolist())

    @keywords("Kernels.top")
    def top(self, n: int = 5, by: str = "headroom", chip: Chip | str | None = None) -> Kernels:
        """Return the n kernels with the largest values of `by`, largest first.

        Kernels with equal values keep the table's order. Kernels with an unknown value are last.

        Parameters
        ----------
        n
            How many kernels; fewer if the table has fewer.
        by
            ``"headroom"`` (seconds of self time saved at the roof), ``"utilization"``, ``"roof_fraction"``,
            ``"peak_fraction"`` or ``"attainable"``, as `roofwidget.bound` computes them on `chip`; ``"time"``,
            ``"self_time"``, ``"flops"``, ``"bytes"``, ``"count"``, ``"arithmetic_intensity"`` or ``"achieved"``; or a
            numeric column of `extra`.
        chip
            A chip or its name; by default the chip that the kernels ran on. A kernel is last if it needs a figure that
            the chip lacks.

        Raises
        ------
        TypeError, ValueError
            If n is not a positive whole number, `by` is unknown (the message names the nearest), or `by` needs a chip
            and no chip is known.

        Examples
        --------
        >>> table = Kernels(["matmul", "copy", "gelu"], [4e14, 0, 1e12], [1e12, 2e12, 1e12], time=[9, 3, 4])
        >>> table.top(2, chip=Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})).names.tolist()
        ['matmul', 'gelu']
        >>> table.top(1, by="bytes").names.tolist()
        ['copy']
        """
        column = self._ranked_by(by, chip)
        return self[np.argsort(-column, kind="stable")[: whole_from_one(n, "top: n")]]

    @keywords("Kernels.filter")
    def filter(
        self,
        search: str = "",
        *,
        categories: Iterable[str] | str | None = None,
        bounds: Iterable[str] | str | None = None,
        precisions: Iterable[str] | str | None = None,
        phases: Iterable[str] | str | None = None,
        time_share: float = 1.0,
        top: int | None = None,
        infeed: bool = True,
        chip: Chip | str | None = None,
    ) -> Kernels:
        """Return the kernels that pass all of these filters, in the table's order.

        Parameters
        ----------
        search
            Words that must all occur in the name, in any case and order; ``*`` matches any characters within a word.
        categories, precisions
            Only kernels of these categories or precisions; ``""`` selects kernels without a category or precision.
        bounds
            Only kernels that are bound by one of these resources on `chip`: ``"compute"``, a level's name,
            ``"network"``, ``"overhead"``, ``"unknown"``.
        phases
            Only kernels of these phases of a trace of PyTorch: ``"prefill"``, ``"decode"``, ``"mixed"``, ``"forward"``,
            ``"backward"``, ``"optimizer"``; ``""`` selects kernels without a phase.
        time_share
            Keep the longest kernels that together reach this share of the table's self time, such as 0.9.
        top
            How many of the kernels that pass all other filters to keep: the longest by self time.
        infeed
            Whether to keep kernels whose category contains "infeed" or "outfeed".
        chip
            A chip or its name, for `bounds` only; by default the chip that the kernels ran on.

        Raises
        ------
        TypeError, ValueError
            For a value of the wrong type or out of range; for a category, precision or phase that no kernel has, or a
            resource that the chip does not have (the message names the nearest); and for `bounds` without a chip.

        Examples
        --------
        >>> names = ["fusion.1", "copy", "fusion.2"]
        >>> table = Kernels(names, [1, 0, 1], [1, 1, 1], time=[1, 5, 4], category=["loop", None, "loop"])
        >>> table.filter("fus*2").names.tolist(), table.filter(time_share=0.9).names.tolist()
        (['fusion.2'], ['copy', 'fusion.2'])
        >>> table.filter(categories="loop", top=1).names.tolist()
        ['fusion.2']
        """
        on = self._chip_or_own(chip, "filter(bounds=…)") if bounds is not None else None
        filters = Filters(
            checked_text(search, "search"),
            known_values(categories, "categories", self._category),
            known_resources(bounds, on),
            known_values(precisions, "precisions", self._precision, casefold=True),
            share_above_zero(time_share),
            None if top is None else whole_from_one(top, "filter: top"),
            bool(infeed),
            known_values(phases, "phases", phase_column(self), casefold=True),
        )
        return self[filters.rows(self, None if on is None else lambda: self._bound(on).bound_by)]

    @keywords("Kernels.with_work")
    def with_work(self, work: Mapping[str, Any], *, replace: bool = False) -> Kernels:
        """Return a table in which the FLOPs and bytes of kernels come from `work`, for kernels that no counter counts.

        A kernel may be opaque to a profiler, such as a call into a library or a kernel of Pallas or Triton.

        Parameters
        ----------
        work
            The work of one launch by a pattern of names, as in the search of `filter`: words that must all occur, in
            any case and order; ``*`` matches any characters within a word. The work is a dict with ``"flops"``,
            ``"bytes"`` or both, as in `Kernel` (a number, text with a unit, or a mapping by precision or memory level),
            and with or without ``"precision"``; or an op of `roofwidget.workloads`; or a function that gets the row as
            a `Kernel` and returns a dict, an op, or None for no work. If several patterns match, the first counts.
        replace
            Whether to replace FLOPs and bytes that are known. By default only unknown amounts are filled in: FLOPs if
            all FLOPs of the row are unknown, bytes of the main memory or of another level if these are unknown.

        Returns
        -------
        Kernels
            The amounts are those of one launch times `count`. `origin` says where they come from. A warning names
            patterns that match no kernel, and patterns whose kernels have no unknown work.

        Raises
        ------
        TypeError, ValueError
            If `work` has another form or contains a bad number. The message names the pattern.

        Examples
        --------
        >>> table = Kernels(["flash_fwd", "copy"], [float("nan"), 0], [float("nan"), 8e6], count=[2, 1])
        >>> filled = table.with_work({"flash*": {"flops": "4 GFLOP", "bytes": "10 MB", "precision": "bf16"}})
        >>> filled.flops.tolist(), filled.bytes.tolist(), filled.precision.tolist()
        ([8000000000.0, 0.0], [20000000.0, 8000000.0], ['bf16', None])
        >>> filled.origin["flops"].tolist()
        ["given per launch by work['flash*']", None]
        """
        from roofwidget.workloads.graph import kernel_of_op  # noqa: PLC0415 - it imports this module

        return with_work(self, work, kernel_of_op, replace=replace)

    def unknown_work(self) -> UnknownWorks:
        """Return the rows whose FLOPs or bytes are unknown, longest first, with what would make them known.

        Idle time and copies over a link are no kernels. Traces of PyTorch say what is missing, and propose a rule if
        the sizes of the tensors suggest one.

        Examples
        --------
        >>> (one,) = Kernels(["mine", "dot"], [None, 8], [None, 2], time=[3, 1]).unknown_work()
        >>> one.name, one.share, one.rule
        ('mine', 0.75, None)
        """
        return unknown_work.unknown_work(self)

    def _ranked_by(self, by: str, chip: Chip | str | None) -> Floats:
        if text_argument(by, "top: by") in _RANKS:
            return cast("Floats", getattr(self, by))
        if by in _RANKS_OF_BOUND:
            bound = self._bound(self._chip_or_own(chip, f"top(by='{by}')"))
            return cast("Floats", getattr(bound, by))
        numbers = {name: column for name, column in self._extra.items() if not isinstance(column, DictColumn)}
        if by not in numbers:
            options = [*_RANKS_OF_BOUND, *_RANKS, *numbers]
            raise ValueError(f"top: cannot rank by '{by}'; nearest: {listed(nearest(str(by), options) or options)}")
        return numbers[by]

    def _bound(self, chip: Chip) -> Bound:
        from roofwidget.analysis.bound_lenient import bound_lenient  # noqa: PLC0415 - it imports this module

        return bound_lenient(self, chip)

    def _chip_or_own(self, chip: Chip | str | None, what: str) -> Chip:
        if chip is not None:
            return look_up(chip)
        if self.chip is None:
            raise ValueError(f"{what} needs a chip: these kernels do not name the chip they ran on; give chip=")
        return self.chip

    def roofline(self, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` with these kernels, on the chip in `Kernels.chip` if this chip is known."""
        from roofwidget.widget import RooflineWidget  # noqa: PLC0415 - it imports this module

        return RooflineWidget(kernels=self, **traits)

    def _kernel(self, row: int) -> Kernel:
        time = float(self._time[row])
        return Kernel(
            self._names[row],
            columns.at_row(self._flops, row, ASKED_PRECISION),
            columns.at_row(self._bytes, row, MAIN_LEVEL),
            time=None if np.isnan(time) else time,
            precision=self._precision.at(row),
            category=self._category.at(row),
            count=int(self._count[row]),
            **{
                field: float(column[row])
                for field, column in (("intensity", self._intensity), ("rate", self._rate))
                if column is not None and not np.isnan(column[row])
            },
        )


_ARGUMENTS: Final = tuple(inspect.signature(Kernels).parameters)


def _sum_of_known(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(known.sum()) if len(known) or not len(column) else float("nan")


def as_kernels(value: Any) -> Kernels:
    """Return `value` as `Kernels`.

    The value may be `Kernels`, one `Kernel`, a list of records, a data frame, the profiles that
    `roofwidget.read_many` returns, or an object with such a table as its `kernels`, as a `Profile`.
    """
    if isinstance(value, Kernels):
        return value
    table = getattr(value, "kernels", None)
    if isinstance(table, Kernels):
        return table
    if isinstance(value, Kernel):
        return Kernels.from_records([value])
    merge = getattr(value, "merge", None)
    if isinstance(value, Mapping) and merge is not None:
        return cast("Kernels", merge())
    if is_frame(value):
        return Kernels.from_dataframe(value)
    if isinstance(value, (list, tuple)):
        return Kernels.from_records(value)
    raise TypeError(f"kernels must be Kernels, a list of records or a data frame, got {type(value).__name__}")
