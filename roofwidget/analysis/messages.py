"""The messages of one profile, and the model of message size and time: latency and bandwidth."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.analysis.network import (
    ENDS_TOGETHER,
    TOPOLOGIES,
    algorithm_bandwidth,
    bus_bandwidth,
    sent_factor,
)
from roofwidget.chips import NETWORK
from roofwidget.kernels.collectives import collectives
from roofwidget.kernels.columns import DictColumn, Floats, Texts, frozen, quantity, unwarned
from roofwidget.kernels.communication import GROUP, KIND, RANKS, SIZE, known_messages, numbers_of, texts_of
from roofwidget.kernels.groupby import PER_LAUNCH
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import choose_from, keywords
from roofwidget.support.text_tables import aligned, and_more, counted, html_table
from roofwidget.units import format_quantity

_MAX_SMALL: Final = 4096
"""Up to this many bytes the time of a message is its latency."""
_ROUNDING: Final = 1e-9
_MAX_LINES: Final = 12
_MAX_TABLE_ROWS: Final = 50
_HEADER: Final = ("message", "ranks", "size", "calls", "mean time", "bus bandwidth", "fastest", "over fastest")


@dataclass(frozen=True)
class AlphaBeta:
    """A model of the time of messages of one kind and group: ``time = alpha + size / bandwidth``.

    Real messages of 1 to 64 MiB between nodes take two to four times as long, because NCCL changes its protocol with
    the size: logs of NCCL's tests have 32 GB/s for an all-reduce of 16 MiB over 16 H100 and 103 GB/s over 16 H200,
    where the model says 145 and 290. So the model is a bound on small and large messages, and no expectation in
    between.

    Parameters
    ----------
    alpha
        The latency, seconds; NaN if unknown.
    bandwidth
        The algorithm bandwidth of an endless message, bytes/s; NaN if unknown. The roof on the bus bandwidth is
        `bus_factor` times this.

    Examples
    --------
    Eight MI300X, measured with RCCL's tests: half of the roof is reached at 2.5 MB.

    >>> node = AlphaBeta(13.7e-6, 316e9 / 1.75)
    >>> f"{node.half_size / 1e6:.1f} MB, {node.bus_bandwidth('all-reduce', 2**24, 8) / 1e9:.0f} GB/s"
    '2.5 MB, 275 GB/s'
    """

    alpha: float
    bandwidth: float

    @classmethod
    @unwarned
    def of(cls, size: npt.ArrayLike, time: npt.ArrayLike) -> AlphaBeta:
        """Return the model of measured messages of one kind and group.

        `alpha` is the median time of messages up to 4 KiB. The bandwidth is the slope between the two largest sizes,
        each with its shortest time, if both are above 4 KiB. A figure that the messages do not show is NaN.

        Parameters
        ----------
        size, time
            Message sizes S in bytes, and seconds, shape (n,).

        Examples
        --------
        >>> model = AlphaBeta.of([8, 4096, 10**8, 3 * 10**8], [9e-6, 11e-6, 1.01e-3, 3.01e-3])
        >>> f"{model.alpha * 1e6:.0f} us, {model.bandwidth / 1e9:.0f} GB/s"
        '10 us, 100 GB/s'
        """
        moved, seconds = np.broadcast_arrays(np.asarray(size, dtype=np.float64), np.asarray(time, dtype=np.float64))
        known = np.isfinite(moved) & (seconds > 0)
        moved, seconds = moved[known], seconds[known]
        small = seconds[moved <= _MAX_SMALL]
        # The time of small messages is latency, so the slope between two of them is no bandwidth.
        is_large = moved > _MAX_SMALL
        sizes, which = np.unique(moved[is_large], return_inverse=True)
        shortest = np.full(len(sizes), np.inf)
        np.minimum.at(shortest, which, seconds[is_large])
        rise = np.diff(sizes[-2:]) / np.diff(shortest[-2:])
        slope = float(rise[0]) if len(rise) and rise[0] > 0 and np.isfinite(rise[0]) else np.nan
        return cls(float(np.median(small)) if len(small) else np.nan, slope)

    @property
    def half_size(self) -> float:
        """The message size that reaches half of the roof, bytes."""
        return self.alpha * self.bandwidth

    def time(self, size: npt.ArrayLike) -> Floats:
        """Return the seconds of messages, of the shape of `size` (bytes)."""
        return np.asarray(self.alpha + quantity(size, "B", "size") / self.bandwidth)

    def bus_bandwidth(self, kind: str, size: npt.ArrayLike, ranks: npt.ArrayLike) -> Floats:
        """Return the bus bandwidth of messages, bytes/s; see `roofwidget.network.bus_bandwidth`."""
        return bus_bandwidth(kind, size, ranks, self.time(size))


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of one profile, one row per kind, size, group and series, shape (n,).

    A collective's kernel runs from the arrival of its rank to the end, so its time has waiting in it. The fastest of
    equal messages is an upper bound of the time on the wire. What the others took longer has two readings: this rank
    waited for another, or the wire was slower, as under contention. Where a rank may leave before the others, as in a
    broadcast or a send, nothing is known of this. With the profiles of all ranks, `Ranks.messages` tells the wire from
    the wait.

    Attributes
    ----------
    kind, group
        One of `roofwidget.network.MESSAGES`, and the group's name and ranks.
    size, ranks
        The message size S in bytes, and the number of ranks.
    count
        How many calls.
    time, fastest
        Seconds of all calls, and of the fastest call; the latter is NaN if the profile has only sums of calls.
    series
        The series of each message, such as its run, whose calls are compared with no others; None without series.
    """

    __module__ = "roofwidget"

    kind: Texts
    group: Texts
    size: Floats
    ranks: Floats
    count: Floats
    time: Floats
    fastest: Floats
    series: Texts | None = None

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def algorithm_bandwidth(self) -> Floats:
        """The algorithm bandwidth at the mean time of a call, bytes/s."""
        return frozen(algorithm_bandwidth(self.size, self.time / self.count))

    @property
    def bus_bandwidth(self) -> Floats:
        """The bus bandwidth at the mean time of a call, bytes/s."""
        return frozen(self._bus_bandwidth(self.time / self.count))

    @property
    def fastest_bus_bandwidth(self) -> Floats:
        """The bus bandwidth of the fastest call, bytes/s: the wire is at least as fast."""
        return frozen(self._bus_bandwidth(self.fastest))

    @property
    def slower_than_fastest(self) -> Floats:
        """Seconds that all calls together took longer than the fastest of them each.

        This is waiting for other ranks if the wire is equally fast each time, and else waiting and a slower wire
        together. NaN for single calls, broadcasts, sends and the like, and where no call is known by itself.
        """
        ends_together = np.array([kind in ENDS_TOGETHER for kind in self.kind], dtype=np.bool_)
        longer = self.time - self.count * self.fastest
        # The sum of equal times differs from their multiple by rounding.
        longer = np.where(longer > _ROUNDING * self.time, longer, np.where(np.isnan(longer), np.nan, 0.0))
        return frozen(np.where(ends_together & (self.count > 1), longer, np.nan))

    @keywords("Messages.fit")
    def fit(self, kind: str = "all-reduce", ranks: int | None = None) -> AlphaBeta:
        """Return latency and bandwidth of the messages of one kind, from the fastest call of each size.

        Parameters
        ----------
        kind
            One of `roofwidget.network.MESSAGES`.
        ranks
            Only groups of this many ranks. By default all groups, which must then have the same number of ranks.

        Warns
        -----
        UserWarning
            If one of the two largest sizes has a single call: ranks may have waited in it.

        Raises
        ------
        ValueError
            If there is no such message, or if groups of several sizes would be mixed.
        """
        rows = np.array([one == kind for one in self.kind], dtype=np.bool_)
        if not rows.any():
            raise ValueError(f"there is no message of kind '{kind}'{choose_from(kind, [*dict.fromkeys(self.kind)])}")
        if ranks is not None:
            rows &= self.ranks == ranks
        sizes = np.unique(self.ranks[rows])
        if len(sizes) != 1:
            there = ", ".join(f"{one:g}" for one in np.unique(self.ranks[self.kind == kind]))
            raise ValueError(f"ranks must be one of {there}, the numbers of ranks that have a message of kind '{kind}'")
        model = AlphaBeta.of(self.size[rows], self.fastest[rows])
        large = np.unique(self.size[rows & (self.size > _MAX_SMALL)])[-2:]
        calls = [self.count[rows & (self.size == size)].sum() for size in large]
        if np.isfinite(model.bandwidth) and 1 in calls:
            sizes_text = " and ".join(format_quantity(float(size), "B") for size in large)
            warnings.warn(
                f"the bandwidth is the slope between messages of {sizes_text}, of which the profile has single calls: "
                "if ranks waited in them, no link has this speed; read a profile of several steps",
                stacklevel=3,
            )
        return model

    def __repr__(self) -> str:
        rows = [list(_HEADER), *self._lines(_MAX_LINES)]
        return "\n".join([self._title(), *aligned(rows), *and_more(len(self), _MAX_LINES)])

    def _repr_html_(self) -> str:
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        return html_table(self._title(), _HEADER, self._lines(_MAX_TABLE_ROWS), more)

    def _title(self) -> str:
        calls = counted(int(self.count.sum()), "call")
        return f"Messages: {counted(len(self), 'message')}, {calls}, {format_quantity(float(self.time.sum()), 's')}"

    def _lines(self, most: int) -> list[list[str]]:
        """Return the messages that take longest."""

        def text(number: float, unit: str) -> str:
            return "" if np.isnan(number) else format_quantity(float(number), unit)

        order = np.argsort(-np.nan_to_num(self.time), kind="stable")[:most]
        return [
            [
                " · ".join(map(str, (self.kind[row], *(() if self.series is None else (self.series[row],))))),
                "" if np.isnan(self.ranks[row]) else f"{self.ranks[row]:g}",
                text(self.size[row], "B"),
                f"{self.count[row]:,.0f}",
                text(self.time[row] / self.count[row], "s"),
                text(self.bus_bandwidth[row], "B/s"),
                text(self.fastest_bus_bandwidth[row], "B/s"),
                text(self.slower_than_fastest[row], "s"),
            ]
            for row in order.tolist()
        ]

    def _bus_bandwidth(self, time: Floats) -> Floats:
        return bus_bandwidth(self.kind.tolist(), self.size, self.ranks, time)


def messages(kernels: Kernels) -> Messages:
    """Return the messages of a profile whose collectives have kinds and sizes, such as a trace of PyTorch.

    Raises
    ------
    ValueError
        If the profile has no such collective.

    Examples
    --------
    >>> columns = {"collective": ["all-reduce"] * 2, "message size (B)": [8e6] * 2, "ranks": [2] * 2}
    >>> profile = Kernels(["a", "b"], [0, 0], [16e6] * 2, time=[1e-3, 4e-3], extra=columns)
    >>> found = messages(profile)
    >>> found.count.tolist(), found.fastest_bus_bandwidth.tolist(), found.slower_than_fastest.tolist()
    ([2.0], [8000000000.0], [0.003])
    """
    part = kernels[np.flatnonzero(_known_messages(kernels))]
    keys = [name for name in (KIND, SIZE, RANKS, GROUP) if name in part.extra_columns]
    # The calls of several runs are not compared.
    sums = part.groupby(*keys, *(["category"] if kernels.series else []))
    launches, owner = sums.launches_with_rows()
    is_call = np.ones(len(sums), dtype=np.bool_)
    if launches is not None:
        is_call[owner[launches.count != 1]] = False
    fastest = numbers_of(sums, PER_LAUNCH[0])
    return Messages(
        texts_of(sums, KIND).texts(),
        texts_of(sums, GROUP).texts(),
        numbers_of(sums, SIZE),
        numbers_of(sums, RANKS),
        sums.count,
        sums.time,
        np.where(is_call & (fastest > 0), fastest, np.nan),
        sums.codes("category").texts() if kernels.series else None,
    )


@unwarned
def with_topology(kernels: Kernels, topology: str) -> Kernels:
    """Return a table whose collectives have their bytes over the link counted for another topology.

    Readers count what a rank sends through a switch. No profile says whether the switch adds
    (``"in-network"``), so this is for the user to say. The bus bandwidth of a collective stays, and its roof changes.

    Parameters
    ----------
    kernels
        A table whose collectives have kinds and sizes.
    topology
        One of `roofwidget.network.TOPOLOGIES`.

    Raises
    ------
    ValueError
        If the profile has no such collective, or the topology is unknown.

    Examples
    --------
    >>> columns = {"collective": ["all-reduce"], "message size (B)": [8e6], "ranks": [8]}
    >>> profile = Kernels(["a"], [0], {"network": [14e6]}, extra=columns)
    >>> with_topology(profile, "in-network").network_bytes.tolist()
    [8000000.0]
    """
    if topology not in TOPOLOGIES:
        raise ValueError(f"no topology is called '{topology}'{choose_from(topology, TOPOLOGIES)}")
    known = _known_messages(kernels)
    ranks = numbers_of(kernels, RANKS)
    rows = np.flatnonzero(known & (ranks >= 1))
    sent = np.full(len(kernels), np.nan)
    kind = texts_of(kernels, KIND).texts()[rows].tolist()
    sent[rows] = sent_factor(kind, ranks[rows], topology) * numbers_of(kernels, SIZE)[rows] * kernels.count[rows]
    level = next((level for level in kernels.bytes_by_level if level.casefold() == NETWORK), NETWORK)
    before = kernels.bytes_by_level.get(level, np.full(len(kernels), np.nan))
    counted_anew = ~np.isnan(sent)
    text = f"message size, counted for topology '{topology}'"
    rule = DictColumn((text, None), np.where(counted_anew, 0, 1).astype(np.int32))
    return kernels.replace(
        bytes={**kernels.bytes_by_level, level: np.where(counted_anew, sent, before)},
        origin={**kernels.origin, f"bytes:{level}": rule},
    )


def _known_messages(kernels: Kernels) -> Any:
    """Return a mask of the collectives with a kind and a size, shape (n,)."""
    known = known_messages(kernels)
    if not known.any():
        what = "no collective with a kind and a size" if collectives(kernels).any() else "no collective"
        raise ValueError(f"the profile has {what}; the columns '{KIND}', '{SIZE}' and '{RANKS}' would tell")
    return known
