"""The metadata of a table of kernels: origins of numbers, further columns, launches, communication, activity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.kernels import column_meanings, columns
from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.support.arguments import list_argument, mapping_argument, text_argument
from roofwidget.support.did_you_mean import choose_from
from roofwidget.units import format_percent, format_quantity

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

Rows: TypeAlias = npt.NDArray[np.intp]
Extra: TypeAlias = Mapping[str, Floats | DictColumn]


class TextsByName(Mapping[str, Any]):
    """Read-only columns by name, each of shape (n,); text columns are decoded when they are read."""

    def __init__(self, columns_by_name: Extra) -> None:
        self._columns = columns_by_name

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            raise KeyError(f"there is no '{name}'{choose_from(name, self._columns)}")
        column = self._columns[name]
        return column.texts() if isinstance(column, DictColumn) else column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._columns)})"


def origins(given: Mapping[str, Any] | None, n: int) -> Mapping[str, DictColumn]:
    """Return checked origins as text columns.

    Each origin is either one text that applies to all rows, or a column with a text or None for each row.
    """
    return MappingProxyType(
        {
            key: _text_column(words, f"origin:{key}", n)
            for key, words in _by_name(given, "origin", "{'flops': 'counted'}").items()
        }
    )


def extra_columns(given: Mapping[str, Any] | None, n: int) -> Extra:
    """Return checked columns of `Kernels.extra`: numbers (NaN is unknown) or texts (None is no text).

    One number or one text applies to all rows.
    """
    found: dict[str, Floats | DictColumn] = {}
    for name, column in _by_name(given, "extra", "{'queue': [1, 2]}").items():
        # Tables that were saved before `Kernels.rate` existed may have such a column.
        if column_meanings.is_regular(name):
            raise ValueError(f"extra: '{name}' is the name of a regular column of the table; use another name")
        if _is_text(column):
            found[name] = _text_column(column, name, n)
        else:
            found[name] = columns.float_column(
                column if hasattr(column, "__len__") else np.broadcast_to(column, n), name, n
            )
    return MappingProxyType(found)


def text_list(given: Any, what: str, example: str) -> tuple[str, ...]:
    """Return checked texts."""
    return tuple(text_argument(text, f"each of {what}") for text in list_argument(given, what, example))


def texts_by_name(given: Mapping[str, str] | None, what: str, example: str) -> Mapping[str, str]:
    """Return a checked mapping of texts."""
    return MappingProxyType(
        {key: text_argument(text, f"{what}: '{key}'") for key, text in _by_name(given, what, example).items()}
    )


def _by_name(given: Any, what: str, example: str) -> Mapping[str, Any]:
    named = mapping_argument({} if given is None else given, what, example)
    for name in named:
        text_argument(name, f"a key of {what}")
    return named


def _is_text(column: Any) -> bool:
    if isinstance(column, (str, DictColumn)):
        return True
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column.dtype.kind in "US"
    if not hasattr(column, "__iter__"):
        return False
    return next((isinstance(value, str) for value in column if value is not None), False)


def _text_column(given: Any, name: str, n: int) -> DictColumn:
    if isinstance(given, str):
        return DictColumn((given,), np.zeros(n, dtype=np.int32))
    if isinstance(given, np.ndarray):
        given = given.tolist()
    return columns.dict_column(given, name, n)


@dataclass(frozen=True)
class Communication:
    """How the communication of a profile overlaps with its other kernels. Seconds, added over devices.

    A device may run several streams at once, so each time is that of a union of intervals. Copies count neither as
    communication nor as other kernels.

    Parameters
    ----------
    time
        Seconds in which communication runs.
    other
        Seconds in which other kernels run.
    hidden
        Seconds in which both run.

    Examples
    --------
    >>> step = Communication(time=4.0, other=7.0, hidden=1.0)
    >>> step.exposed, step.hidden_share, step.exposed_share
    (3.0, 0.25, 0.3)
    """

    __module__ = "roofwidget"

    time: float
    other: float
    hidden: float

    @property
    def exposed(self) -> float:
        """Seconds in which only communication runs."""
        return self.time - self.hidden

    @property
    def hidden_share(self) -> float:
        """The share of the communication that other kernels hide."""
        return self.hidden / self.time if self.time else math.nan

    @property
    def exposed_share(self) -> float:
        """The share of the busy time in which only communication runs: the `exposed_comm` of a whole step."""
        busy = self.exposed + self.other
        return self.exposed / busy if busy else math.nan

    def __str__(self) -> str:
        hidden = "none of it" if not self.hidden else f"{format_percent(self.hidden_share)} of it"
        return (
            f"communication runs for {format_quantity(self.time, 's')}, {hidden} hidden behind other kernels: "
            f"{format_quantity(self.exposed, 's')} are exposed, {format_percent(self.exposed_share)} of the busy time"
        )

    def to_dict(self) -> dict[str, float]:
        """Return the three times as a dict for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Communication:
        """Return the communication of a dict of `to_dict`."""
        return cls(**{name: float(record[name]) for name in ("time", "other", "hidden")})


@dataclass(frozen=True)
class Activity:
    """How long the devices of a profile ran something. Seconds, added over devices.

    A device may run several streams at once, so `busy` is the union of the intervals of its kernels and copies.

    Parameters
    ----------
    busy, idle
        Seconds in which a device ran something, and in which it ran nothing between its first event and its last.
    added
        The sum of the durations of all kernels and copies, which is longer than `busy` where they overlap.
    gap, gap_start
        The longest time in which a device ran nothing, and how long after the first event of the device it began; 0
        without idle time.

    Examples
    --------
    >>> step = Activity(busy=3.0, idle=1.0, added=4.0, gap=0.75, gap_start=0.5)
    >>> step.span, step.idle_share
    (4.0, 0.25)
    """

    __module__ = "roofwidget"

    busy: float
    idle: float
    added: float
    gap: float
    gap_start: float

    @property
    def span(self) -> float:
        """Seconds from the first event of each device to its last."""
        return self.busy + self.idle

    @property
    def idle_share(self) -> float:
        """The share of the span in which a device ran nothing."""
        return self.idle / self.span if self.span else math.nan

    def to_dict(self) -> dict[str, float]:
        """Return the times as a dict for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Activity:
        """Return the activity of a dict of `to_dict`."""
        return cls(**{field.name: float(record[field.name]) for field in fields(cls)})


@dataclass(frozen=True, eq=False)
class Launches:
    """The single launches that an aggregated table was made from.

    Parameters
    ----------
    kernels
        All m launches.
    owner
        For each launch, the row of the whole aggregated table that contains the launch, shape (m,).
    rows
        The rows of the whole aggregated table that this slice has, shape (n,). A slice of the table keeps all launches.
    """

    kernels: Kernels
    owner: Rows
    rows: Rows

    @classmethod
    def of(cls, kernels: Kernels | None, owner: npt.ArrayLike | None, n: int) -> Launches | None:
        """Return the checked launches of a table of n rows, or None if it has no launches."""
        if kernels is None:
            return None
        owners = np.array([] if owner is None else owner, dtype=np.intp)
        if owners.shape != (len(kernels),) or not ((owners >= 0) & (owners < n)).all():
            raise ValueError(
                f"launch_rows must hold a row of this table, 0 to {n - 1}, for each of {len(kernels)} launches"
            )
        return cls(kernels, owners, np.arange(n))

    def __getitem__(self, rows: Any) -> Launches:
        return Launches(self.kernels, self.owner, self.rows[rows])

    def here(self) -> Kernels:
        """Return the launches of all rows of this slice."""
        return self.of_rows(self.rows)

    def of_rows(self, rows: Any) -> Kernels:
        """Return the launches of the given rows of the whole table."""
        is_of_rows = np.isin(self.owner, rows)
        return self.kernels if is_of_rows.all() else self.kernels[is_of_rows]

    def owners_here(self) -> Rows:
        """Return for each launch in `here` the row of this slice that contains the launch."""
        row_here = np.full(max(self.owner.max(initial=-1), self.rows.max(initial=-1)) + 1, -1, dtype=np.intp)
        row_here[self.rows] = np.arange(len(self.rows))
        owners = row_here[self.owner]
        return owners[owners >= 0]
