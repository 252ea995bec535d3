"""Many kernels in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip, is_off_chip
from roofwidget.kernels import columns
from roofwidget.kernels.chosen import Chosen
from roofwidget.kernels.columns import DictColumn, Floats, Texts
from roofwidget.kernels.dataframes import from_frame, to_frame
from roofwidget.kernels.kernel import NETWORK, Kernel, as_kernel
from roofwidget.kernels.metadata import Launches, extra_columns, origins, part, same_extra
from roofwidget.kernels.told import Told
from roofwidget.support.did_you_mean import keywords

if TYPE_CHECKING:
    from roofwidget.widget import RooflineWidget

__all__ = ["Kernel", "Kernels", "as_kernels"]

UNNAMED: Final = ""
"""The precision of FLOPs given as a plain number: the one that is asked for."""
MAIN: Final = "main"
"""The level of bytes given as a plain number: the chip's main memory."""


class Kernels(Told, Chosen):
    """A columnar table of kernels. Its columns are read-only; slicing gives `Kernels`, an integer gives a `Kernel`.

    Parameters
    ----------
    names
        Text by kernel.
    flops, bytes
        FLOPs and bytes, shape (n,), or a mapping from precision or memory level to such an array. NaN means unknown,
        or in a mapping "none of this precision or level here". The keys are those of `Kernel`: a class of FLOPs may
        stand for a precision, and the level ``"network"`` holds what crosses the chip's link.
    time
        Seconds, shape (n,); NaN means not measured.
    precision, category
        Text or None by kernel.
    count
        Launches, shape (n,).
    self_time
        Seconds without those of other rows within them, shape (n,); None where `time` holds no others'.
    origin
        Where numbers came from, by field (``"flops"``, ``"flops:fp16"``, ``"bytes:L2"``, ``"time"`` …): the metric and
        the rule, one text for all rows or one a row.
    extra
        Further columns by name, the unit in the name: numbers or texts, one a row or one for all.
    launches, launch_rows
        The rows that these are sums of, m of them, and for each the row here that it is part of, shape (m,).
    chip
        The chip they ran on, if the source tells.
    program, steps
        Whole-program and per-step totals, if the source tells, as `Kernels`.
    warnings
        What a reader had to say.
    source
        The file they came from, or the graph and the convention that they are counted by.

    Raises
    ------
    ValueError
        If columns differ in length, or a number is negative or infinite: the message names row and column.

    Examples
    --------
    >>> kernels = Kernels.from_records([("matmul", 4.3e9, 1.2e7), ("copy", 0, 8e6)])
    >>> len(kernels), kernels[1].name, kernels.arithmetic_intensity.round(1).tolist()
    (2, 'copy', [358.3, 0.0])
    """

    @keywords("Kernels")
    def __init__(
        self,
        names: Iterable[str] = (),
        flops: npt.ArrayLike | Mapping[str, npt.ArrayLike] = (),
        bytes: npt.ArrayLike | Mapping[str, npt.ArrayLike] = (),  # noqa: A002 - the field's word
        *,
        time: npt.ArrayLike | None = None,
        precision: Iterable[str | None] | DictColumn | None = None,
        category: Iterable[str | None] | DictColumn | None = None,
        count: npt.ArrayLike | None = None,
        self_time: npt.ArrayLike | None = None,
        origin: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        launches: Kernels | None = None,
        launch_rows: npt.ArrayLike | None = None,
        chip: Chip | None = None,
        program: Kernels | None = None,
        steps: Kernels | None = None,
        warnings: Iterable[str] = (),
        source: str = "",
    ) -> None:
        self._names = columns.texts(list(names))
        n = len(self._names)
        self._flops = columns.by_key(flops, UNNAMED, "flops", n, casefold=True)
        self._bytes = columns.by_key(bytes, MAIN, "bytes", n)
        self._time = columns.checked(np.full(n, np.nan) if time is None else time, "time", n)
        self._words = {
            "precision": columns.coded(precision, "precision", n, casefold=True),
            "category": columns.coded(category, "category", n),
        }
        self._spelled: dict[str, Texts] = {}
        self._count = columns.checked(np.ones(n) if count is None else count, "count", n)
        self._self_time = None if self_time is None else columns.checked(self_time, "self_time", n)
        self._origin = origins(origin, n)
        self._extra = extra_columns(extra, n)
        self._launches = Launches.of(launches, launch_rows, n)
        self.chip = chip
        self._program = program
        self._steps = steps
        self.warnings = tuple(warnings)
        self.source = source

    @classmethod
    def from_records(cls, records: Iterable[Kernel | Sequence[Any] | Mapping[str, Any]]) -> Kernels:
        """Make a table from `Kernel` objects, tuples ``(name, flops, bytes[, time])`` or dicts of `Kernel`'s keywords.

        Raises
        ------
        TypeError, ValueError
            If a record is none of these or holds a bad number: the message names the record.
        """
        kernels = [as_kernel(record, row) for row, record in enumerate(records)]
        return cls(
            [k.name for k in kernels],
            columns.gather([k.flops for k in kernels], UNNAMED),
            columns.gather([k.bytes for k in kernels], MAIN),
            time=[np.nan if k.time is None else k.time for k in kernels],
            precision=[k.precision for k in kernels],
            category=[k.category for k in kernels],
            count=[k.count for k in kernels],
        )

    @classmethod
    def from_dataframe(cls, frame: Any) -> Kernels:
        """Make a table from a data frame with the columns that `to_dataframe` writes.

        ``name``, ``flops`` and ``bytes`` are needed (the last two also as ``flops:fp16`` or ``bytes:HBM``, one a
        precision or level); ``time``, ``self_time``, ``precision``, ``category``, ``count`` and ``origin:flops`` and
        the like are optional. Other columns of numbers or texts become `extra`, unless they look like one of these
        that is missing; columns of anything else are named in `warnings`.

        Raises
        ------
        ValueError
            If a needed column is missing, one looks misspelt, or a cell is bad: the message names row and column.
        """
        return from_frame(frame, cls, MAIN)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a column for each field, ``flops:fp16`` and ``bytes:HBM`` where mapped.

        ``self_time`` where it is told, the columns of `extra`, and ``origin:flops`` and so on follow.
        """
        return to_frame(self, MAIN)

    @property
    def names(self) -> Texts:
        """Names, shape (n,)."""
        return self._names

    @property
    def flops(self) -> Floats:
        """FLOPs over all precisions, shape (n,); NaN where unknown: `totals` adds up the others."""
        return columns.sum_of_known(list(self._flops.values()), len(self))

    @property
    def flops_by_precision(self) -> Mapping[str, Floats]:
        """FLOPs by precision or class, each of shape (n,); ``""`` holds those given as plain numbers, NaN is "none"."""
        return self._flops

    @property
    def bytes(self) -> Floats:
        """Bytes of the main memory, shape (n,); NaN where unknown. It is that of `chip` where the source told it."""
        if self.chip is not None:
            return self.bytes_on(self.chip)
        return columns.sum_of_known([c for level, c in self._bytes.items() if is_off_chip(level)], len(self))

    def bytes_on(self, chip: Chip) -> Floats:
        """Return bytes of the main memory of `chip`, shape (n,); NaN where unknown.

        They are those told under its name, else those of plain numbers and of the other words for a memory outside the
        chip, such as ``"DRAM"``; but not of a word that names another level of `chip`.

        Examples
        --------
        >>> two = Chip("two", {"bf16": 1e15}, {"HBM": 4e12, "LPDDR5X": 5e11})
        >>> Kernels(["a", "b"], [0, 0], {"DRAM": [1, np.nan], "LPDDR5X": [2, 3]}).bytes_on(two).tolist()
        [1.0, nan]
        """
        main, *others = (level.casefold() for level in chip.memories)
        told = {level.casefold(): column for level, column in self._bytes.items()}
        exact = told.pop(main, None)
        if exact is not None and not np.isnan(exact).any():
            return exact
        outside = [column for level, column in told.items() if is_off_chip(level) and level not in others]
        rest = columns.sum_of_known(outside, len(self))
        return rest if exact is None else np.where(np.isnan(exact), rest, exact)

    @property
    def bytes_by_level(self) -> Mapping[str, Floats]:
        """Bytes by memory level, each of shape (n,); ``"main"`` holds those given as plain numbers."""
        return self._bytes

    @property
    def network_bytes(self) -> Floats:
        """Bytes that cross the chip's link, shape (n,); NaN where none are told."""
        column = next((part for level, part in self._bytes.items() if level.casefold() == NETWORK), None)
        return np.broadcast_to(np.nan, len(self)) if column is None else column

    @property
    def time(self) -> Floats:
        """Measured seconds, shape (n,); NaN where not measured."""
        return self._time

    @property
    def precision(self) -> Texts:
        """The precision of each kernel or None, shape (n,)."""
        return self._texts("precision")

    @property
    def category(self) -> Texts:
        """The category of each kernel or None, shape (n,)."""
        return self._texts("category")

    @property
    def count(self) -> Floats:
        """Launches, shape (n,)."""
        return self._count

    @property
    def arithmetic_intensity(self) -> Floats:
        """FLOPs per byte of main memory, shape (n,): NaN where unknown, infinite at zero bytes."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.flops / self.bytes

    @property
    def achieved(self) -> Floats:
        """FLOPs per measured second, FLOP/s, shape (n,): NaN where not measured."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(self._time > 0, self.flops / self._time, np.nan)

    @property
    def program(self) -> Kernels:
        """Whole-program totals as kernels; empty when the source has none."""
        return self._program if self._program is not None else Kernels()

    @property
    def steps(self) -> Kernels:
        """Per-step totals (and their average) as kernels; empty when the source has none."""
        return self._steps if self._steps is not None else Kernels()

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, key: int) -> Kernel: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> Kernels: ...
    def __getitem__(self, key: Any) -> Kernel | Kernels:
        """Return one `Kernel` for an integer, `Kernels` for a slice, a boolean mask or an array of row numbers."""
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return self._kernel(range(len(self))[int(key)])
        if not isinstance(key, slice):
            key = np.asarray(key)
            key = key.astype(np.intp) if key.size == 0 else key
        rows = Kernels(
            self._names[key],
            {p: column[key] for p, column in self._flops.items()},
            {level: column[key] for level, column in self._bytes.items()},
            time=self._time[key],
            precision=self._words["precision"][key],
            category=self._words["category"][key],
            count=self._count[key],
            self_time=None if self._self_time is None else self._self_time[key],
            origin=part(self._origin, key),
            extra=part(self._extra, key),
            chip=self.chip,
            program=self._program,
            steps=self._steps,
            warnings=self.warnings,
            source=self.source,
        )
        rows._launches = None if self._launches is None else self._launches[key]
        return rows

    def __iter__(self) -> Iterator[Kernel]:
        return (self._kernel(row) for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernels):
            return NotImplemented
        return self is other or (
            np.array_equal(self._names, other._names)
            and columns.same(self._flops, other._flops)
            and columns.same(self._bytes, other._bytes)
            and np.array_equal(self._time, other._time, equal_nan=True)
            and np.array_equal(self.precision, other.precision)
            and np.array_equal(self.category, other.category)
            and np.array_equal(self._count, other._count)
            and np.array_equal(self.self_time, other.self_time, equal_nan=True)
            and same_extra(self._origin, other._origin)
            and same_extra(self._extra, other._extra)
            and self.launches == other.launches
        )

    __hash__ = None  # type: ignore[assignment]  # equality looks into arrays

    def __reduce__(self) -> tuple[object, ...]:
        columns_ = (self._names, dict(self._flops), dict(self._bytes))
        rest = {
            "time": self._time,
            "precision": self._words["precision"],
            "category": self._words["category"],
            "count": self._count,
            "self_time": self._self_time,
            "origin": dict(self._origin),
            "extra": dict(self._extra),
            **dict(zip(("launches", "launch_rows"), self.launches_with_rows(), strict=True)),
            "chip": self.chip,
            "program": self._program,
            "steps": self._steps,
            "warnings": self.warnings,
            "source": self.source,
        }
        return _rebuild_table, (*columns_, rest)

    def __repr__(self) -> str:
        measured = int(np.isfinite(self._time).sum())
        return f"Kernels({len(self)} kernels, {measured} measured{f'; {self.source}' if self.source else ''})"

    def roofline(self, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` that shows these kernels, on their own chip when it is known."""
        from roofwidget.widget import RooflineWidget  # noqa: PLC0415 - the widget needs this module

        return RooflineWidget(kernels=self, **traits)

    def _texts(self, field: str) -> Texts:
        if field not in self._spelled:
            self._spelled[field] = self._words[field].texts()
        return self._spelled[field]

    def _kernel(self, row: int) -> Kernel:
        time = float(self._time[row])
        return Kernel(
            self._names[row],
            columns.at_row(self._flops, row, UNNAMED),
            columns.at_row(self._bytes, row, MAIN),
            time=None if np.isnan(time) else time,
            precision=self._words["precision"].at(row),
            category=self._words["category"].at(row),
            count=int(self._count[row]),
        )


def _rebuild_table(names: Any, flops: Any, bytes_: Any, rest: dict[str, Any]) -> Kernels:
    return Kernels(names, flops, bytes_, **rest)


def as_kernels(value: Any) -> Kernels:
    """Return `value` as `Kernels`: such a table, one `Kernel`, a sequence of records, or a data frame."""
    if isinstance(value, Kernels):
        return value
    if isinstance(value, Kernel):
        return Kernels.from_records([value])
    if hasattr(value, "columns"):
        return Kernels.from_dataframe(value)
    if isinstance(value, (list, tuple)):
        return Kernels.from_records(value)
    msg = f"kernels must be Kernels, a list of records or a data frame, got {type(value).__name__}"
    raise TypeError(msg)
