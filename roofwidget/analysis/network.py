"""Communication between chips: the time of collectives over a chip's link, and its effect on the roof.

Conventions: `size` is always V, the bytes of the **full array** over all ranks, not of the part that one rank holds.
Bandwidths are **one way**: what a rank sends in one direction of a ring, or into a switch. Mixing up one way and both
ways is a common mistake, and the result is wrong by a factor of two. Formulas, with n ranks and bandwidth W (a formula
after ":" is the simpler form for an even n):

============== ======================= ================================= ======================= =============
kind           ring                    ring-both-ways                    switch                  in-network
============== ======================= ================================= ======================= =============
all-gather     (n - 1)/n V/W           floor(n/2)/n V/W: V/2W if even    as ring                 as ring
reduce-scatter (n - 1)/n V/W           floor(n/2)/n V/W                  as ring                 V/W
all-reduce     2 (n - 1)/n V/W         2 floor(n/2)/n V/W                as ring                 V/W
all-to-all     (n - 1)/2n V/W          floor(n^2/4)/n^2 V/2W: V/8W       (n - 1)/n^2 V/W         as switch
broadcast      V/W                     V/2W                              as ring                 as ring
permute        V/nW                    refused: it has one direction     as ring                 as ring
============== ======================= ================================= ======================= =============

The ring formulas are those of bandwidth-optimal rings (Patarasu and Yuan, JPDC 69(2), 2009). With "ring-both-ways" the
ring wraps around: each shard travels in both directions, half of the ring in each. With an even n, one direction is
idle in the last step. On a switch each rank holds V/n and sends all of it except its own n-th part. With "in-network"
the switch adds and copies, as NVLink SHARP does: a rank sends its array once, and gets the sum once. Each hop costs
`latency`, and the hops of a collective run one after the other. Single numbers may be text with a unit, such as
``"450 GB/s"`` or ``"1 us"``.

Tools that measure collectives print two rates (NCCL's tests, doc/PERFORMANCE.md): the algorithm bandwidth S/t and the
bus bandwidth f S/t. S is the size of the message: the larger of what one rank puts in and gets out. It equals V, except
in an all-to-all and a permute, where S is V/n. `bus_factor` has the factors f: with them f S is what a rank sends on a
switch, so the bus bandwidth of every collective has the link's bandwidth as its roof. `sent_factor` has what is sent on
another topology: with "in-network" the roof of an all-reduce is ``2 (n - 1)/n`` times the link's bandwidth, that of a
reduce-scatter ``(n - 1)/n`` times, and on a ring that of an all-to-all ``2/n`` times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip, Link, MissingFigureError
from roofwidget.chips import chip as look_up
from roofwidget.kernels.columns import Floats, Scalar, number_or_array, quantity, real, unwarned
from roofwidget.kernels.communication import KINDS
from roofwidget.support.arguments import text_argument
from roofwidget.support.did_you_mean import choose_from, keywords

COLLECTIVES: Final = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "permute")
"""The supported kinds of collectives."""
TOPOLOGIES: Final = ("ring", "ring-both-ways", "switch", "in-network")
"""The supported topologies of the ranks; ``"in-network"`` is a switch that adds and copies."""

ENDS_TOGETHER: Final = frozenset({"all-reduce", "all-gather", "reduce-scatter", "all-to-all"})
"""The kinds in which no rank can end before the last one has come."""
_BOTH_WAYS: Final = "ring-both-ways"
_IN_NETWORK: Final = "in-network"
MESSAGES: Final = KINDS
"""The kinds of messages of a profile, for which `bus_factor` is defined."""
# (n - 1)/n of the message is sent so many times. Kinds that are not listed send all of it, once.
_TURNS: Final = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1, "gather": 1, "scatter": 1}
_TIERED: Final = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
# How many times the shards go round the ring, for each collective in which ranks pass on whole shards.
_IN_STEPS: Final = {"all-gather": 1, "reduce-scatter": 1, "all-reduce": 2}


@overload
def collective_time(  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
    kind: str,
    size: Scalar,
    ranks: Scalar,
    bandwidth: Scalar | Chip | Link,
    *,
    latency: Scalar | None = None,
    topology: str = "ring",
) -> float: ...
@overload
def collective_time(
    kind: str,
    size: npt.ArrayLike,
    ranks: npt.ArrayLike,
    bandwidth: npt.ArrayLike | Chip | Link,
    *,
    latency: npt.ArrayLike | None = None,
    topology: str = "ring",
) -> Floats: ...
@keywords("collective_time")
@unwarned
def collective_time(
    kind: str,
    size: npt.ArrayLike,
    ranks: npt.ArrayLike,
    bandwidth: npt.ArrayLike | Chip | Link,
    *,
    latency: npt.ArrayLike | None = None,
    topology: str = "ring",
) -> float | Floats:
    """Return the time of a collective in seconds. Arrays broadcast.

    Parameters
    ----------
    kind
        One of `COLLECTIVES`.
    size
        Bytes of the full array over all ranks. In an all-to-all each rank holds ``size / ranks`` of these bytes.
    ranks
        The number of chips that take part, whole numbers from 1; a single chip has nothing to send.
    bandwidth
        bytes/s one way: what a rank sends in one direction. For a `Chip` or a `Link` it is the sum over all links of
        this kind. With ``"ring-both-ways"`` each direction gets half of this sum.
    latency
        Seconds per hop. None means the latency of the `Chip` or `Link`, or 0 if the latency is unknown.
    topology
        One of `TOPOLOGIES`.

    Returns
    -------
    float or numpy.ndarray
        Seconds: a float for numbers, an array of the broadcast shape for arrays.

    Raises
    ------
    MissingFigureError
        If the chip or link has no bandwidth.
    ValueError
        If a kind or topology is unknown, a size or latency is negative, a bandwidth is not above zero, ranks are not
        whole numbers from 1, or a permute is asked for with ``"ring-both-ways"``.

    Examples
    --------
    An all-gather of a bf16 array of 2048 by 8192 over four chips, 45 GB/s one way, with and without wrap-around:

    >>> both_ways = collective_time("all-gather", 2048 * 8192 * 2, 4, 4.5e10, topology="ring-both-ways")
    >>> one_way = collective_time("all-gather", 2048 * 8192 * 2, 4, 4.5e10)
    >>> f"{both_ways * 1e6:.0f} us, {one_way * 1e6:.0f} us"
    '373 us, 559 us'
    """
    array, n = _asked(kind, size, ranks, topology)
    ways = 1
    if isinstance(bandwidth, (Chip, Link)):
        link = bandwidth.link() if isinstance(bandwidth, Chip) else bandwidth
        speed = np.asarray(bandwidth.link_bandwidth() if isinstance(bandwidth, Chip) else _of_link(link))
        hop = link.latency if latency is None else latency
    else:
        speed = quantity(bandwidth, "B/s", "bandwidth", above_zero=True)
        ways, hop = (2 if topology == _BOTH_WAYS else 1), latency
    time = np.asarray(array * (_link_capacity(kind, n, topology) / ways) / speed)
    if hop is not None:
        time = time + _hops(kind, n, topology) * quantity(hop, "s", "latency")
    return number_or_array(np.asarray(time))


@overload
def network_bytes(kind: str, size: Scalar, ranks: Scalar, *, topology: str = "ring") -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def network_bytes(kind: str, size: npt.ArrayLike, ranks: npt.ArrayLike, *, topology: str = "ring") -> Floats: ...
@keywords("network_bytes")
@unwarned
def network_bytes(kind: str, size: npt.ArrayLike, ranks: npt.ArrayLike, *, topology: str = "ring") -> float | Floats:
    """Return the bytes that a rank sends in a collective over all its links; received bytes do not count.

    If ranks send different amounts, as in a broadcast, the result is the largest amount. For an all-gather
    ``"in-network"``, in which a rank sends less than it receives, the result is what it receives. A kernel with these
    ``"network"`` bytes gets the collective's time without latency, at `Chip.link_bandwidth`. There is one exception: an
    all-gather, reduce-scatter or all-reduce with ``"ring-both-ways"`` and an even number of ranks n. Such a collective
    takes ``n / (n - 1)`` times as long, because one direction has nothing to send in the last step. To get bytes that
    include this exception, use ``collective_time(kind, size, ranks, chip, latency=0, topology=...) *
    chip.link_bandwidth()``.

    Parameters
    ----------
    kind, size, ranks, topology
        As in `collective_time`.

    Raises
    ------
    ValueError
        As in `collective_time`.

    Examples
    --------
    >>> network_bytes("all-reduce", 1e9, 8)
    1750000000.0
    """
    array, n = _asked(kind, size, ranks, topology)
    return number_or_array(np.asarray(array * _bytes_sent(kind, n, topology)))


def _asked(kind: str, size: npt.ArrayLike, ranks: npt.ArrayLike, topology: str) -> tuple[Floats, Floats]:
    """Check the arguments of a collective, and return its bytes and ranks."""
    _known(kind, COLLECTIVES, "collective")
    _known(topology, TOPOLOGIES, "topology")
    if topology == _BOTH_WAYS and kind == "permute":
        raise ValueError("a permute sends each shard one way; use topology 'ring' or 'switch'")
    return quantity(size, "B", "size"), _whole(ranks)


def _bytes_sent(kind: str, n: Floats, topology: str) -> Floats:
    """Return the bytes that a rank sends (both directions added), as a multiple of the bytes of the full array."""
    gathered = (n - 1) / n
    to_all = {
        "ring": gathered / 2,
        # Each rank has V/n^2 bytes for each other rank. If two ranks are d hops apart, these bytes cross d links, so d
        # ranks send them in turn.
        _BOTH_WAYS: np.floor(n * n / 4) / (n * n),
        "switch": gathered / n,
        _IN_NETWORK: gathered / n,
    }
    once = np.where(n > 1, 1.0, 0.0)
    sent = {
        "all-reduce": once if topology == _IN_NETWORK else 2 * gathered,
        # In the network a rank sends only its shard, but it still receives all others.
        "all-gather": gathered,
        "reduce-scatter": once if topology == _IN_NETWORK else gathered,
        "all-to-all": to_all[topology],
        "broadcast": once,
        "permute": np.where(n > 1, 1 / n, 0.0),
    }
    return sent[kind]


def _link_capacity(kind: str, n: Floats, topology: str) -> Floats:
    """Return the bytes that a rank's links could send during a collective, as a multiple of the full array's bytes."""
    if topology == _BOTH_WAYS and kind in _IN_STEPS:
        # In each step a rank can send one shard per direction. There are as many steps as hops to the farthest rank.
        return _IN_STEPS[kind] * 2 * np.floor(n / 2) / n
    return _bytes_sent(kind, n, topology)


def _hops(kind: str, n: Floats, topology: str) -> Floats:
    """Return how many hops of a collective run one after the other. The latency of each hop adds to the time."""
    # A switch that adds sends the sum to all ranks at once.
    if kind == "permute" or topology == _IN_NETWORK:
        return np.minimum(n - 1, 1)
    if kind == "broadcast" or topology != _BOTH_WAYS:
        return (n - 1) * (2 if kind == "all-reduce" else 1)
    return np.floor(n / 2) * (2 if kind == "all-reduce" else 1)


def bus_factor(kind: str | Sequence[str | None], ranks: npt.ArrayLike) -> Floats:
    """Return the bus bandwidth over the algorithm bandwidth: what a rank sends per byte of the message by a switch.

    ``2 (n - 1)/n`` for an all-reduce; ``(n - 1)/n`` for an all-gather, reduce-scatter, all-to-all, gather and scatter;
    1 for the others. As in NCCL's tests (doc/PERFORMANCE.md).

    Parameters
    ----------
    kind
        One of `MESSAGES`, or a sequence of these; None for an unknown kind, whose factor is NaN.
    ranks
        The number of ranks of the group; NaN if unknown. The factor 1 does not need it.

    Raises
    ------
    ValueError
        If a kind is unknown, or ranks are not whole numbers from 1.

    Examples
    --------
    >>> float(bus_factor("all-reduce", 8)), bus_factor(["all-gather", "send", None], [8, 2, 2]).tolist()
    (1.75, [0.875, 1.0, nan])
    """
    kinds = np.asarray(kind, dtype=object)
    for one in {*kinds.flat} - {None}:
        _known(one, MESSAGES, "collective")
    n = real(ranks, "", "ranks")
    _whole(n[~np.isnan(n)])
    turns = np.vectorize(lambda one: _TURNS.get(one, 0), otypes=[np.float64])(kinds)
    factor = np.where(turns > 0, turns * (n - 1) / n, 1.0)
    return np.where(kinds == None, np.nan, factor)  # noqa: E711 - compares the elements of an array


@unwarned
def sent_factor(kind: str | Sequence[str | None], ranks: npt.ArrayLike, topology: str = "switch") -> Floats:
    """Return the bytes that cross a rank's link, in the busier direction, per byte of its message. Arrays broadcast.

    On a switch it is `bus_factor`. If the switch adds, a rank sends the array of an all-reduce or a reduce-scatter
    once, which for a reduce-scatter is more than on a ring. On a ring an all-to-all crosses links between other ranks
    too. The roof on the bus bandwidth is the link's bandwidth times `bus_factor` over this factor.

    Parameters
    ----------
    kind, ranks
        As in `bus_factor`. A single rank sends nothing.
    topology
        One of `TOPOLOGIES`.

    Raises
    ------
    ValueError
        As in `bus_factor`, or if the topology is unknown.

    Examples
    --------
    >>> sent_factor(["all-reduce", "reduce-scatter", "all-gather"], 8, "in-network").tolist()
    [1.0, 1.0, 0.875]
    >>> 450e9 * float(bus_factor("all-reduce", 8) / sent_factor("all-reduce", 8, "in-network"))
    787500000000.0
    """
    _known(topology, TOPOLOGIES, "topology")
    kinds, n = np.broadcast_arrays(np.asarray(kind, dtype=object), real(ranks, "", "ranks"))
    factor = np.array(bus_factor(kinds.tolist(), n))
    for one in {*kinds.flat} & {*COLLECTIVES}:
        rows = (kinds == one) & (n >= 1)
        # The message of an all-to-all is what one rank holds.
        held = n[rows] if one == "all-to-all" else 1.0
        factor[rows] = held * _bytes_sent(one, n[rows], topology)
    return np.where(n == 1, 0.0, factor)


@unwarned
def algorithm_bandwidth(size: npt.ArrayLike, time: npt.ArrayLike) -> Floats:
    """Return the size S of a message over its seconds, bytes/s. Arrays broadcast; NaN where a value is unknown.

    Examples
    --------
    >>> float(algorithm_bandwidth(16e6, 100e-6))
    160000000000.0
    """
    return np.asarray(real(size, "B", "size") / real(time, "s", "time"))


@unwarned
def bus_bandwidth(
    kind: str | Sequence[str | None], size: npt.ArrayLike, ranks: npt.ArrayLike, time: npt.ArrayLike
) -> Floats:
    """Return the bus bandwidth, bytes/s: `bus_factor` times `algorithm_bandwidth`. Its roof is the link's bandwidth.

    Between nodes the ranks of a node share their links, so this rate may exceed that of the slowest wire: see
    `tier_bytes`.

    Parameters
    ----------
    kind, ranks
        As in `bus_factor`.
    size
        The message size S in bytes: the larger of what one rank puts in and gets out.
    time
        Seconds.

    Examples
    --------
    >>> float(bus_bandwidth("all-gather", 16e6, 8, 100e-6))
    140000000000.0
    """
    return np.asarray(bus_factor(kind, ranks) * algorithm_bandwidth(size, time))


def tier_bytes(kind: str, size: npt.ArrayLike, per_node: int, nodes: int) -> tuple[Floats, Floats]:
    """Return the bytes that a rank sends within its node and to other nodes, if the collective is hierarchical.

    A hierarchical collective first works within each node, then each rank exchanges its part with the ranks of the
    same place on the other nodes over a network card of its own. With g ranks per node and m nodes:

    ============== ============== ======================
    kind           within a node  to other nodes
    ============== ============== ======================
    all-reduce     2 (g - 1)/g S  2 (m - 1)/m S/g
    all-gather     (g - 1)/g S    (m - 1)/m S/g
    reduce-scatter (g - 1)/g S    (m - 1)/m S/g
    all-to-all     (g - 1)/(gm) S (m - 1)/m S
    ============== ============== ======================

    Each amount over the bandwidth of its tier is a roof on the time. A flat ring over all ranks sends instead
    ``bus_factor(kind, g m) S`` out of each node, over all its cards together.

    Parameters
    ----------
    kind
        ``"all-reduce"``, ``"all-gather"``, ``"reduce-scatter"`` or ``"all-to-all"``.
    size
        The message size S in bytes, as in `bus_bandwidth`.
    per_node, nodes
        Ranks per node, and nodes.

    Returns
    -------
    within, across : numpy.ndarray
        Bytes, of the shape of `size`.

    Examples
    --------
    An all-reduce of 8 GiB on two nodes of eight GPUs: each GPU sends 15 GB over NVLink, and 1.07 GB over its card:

    >>> within, across = tier_bytes("all-reduce", 8 * 2**30, per_node=8, nodes=2)
    >>> f"{float(within) / 1e9:.2f} GB, {float(across) / 1e9:.2f} GB"
    '15.03 GB, 1.07 GB'
    """
    _known(kind, _TIERED, "collective of two tiers")
    g, m = (float(_whole(count)) for count in (per_node, nodes))
    moved = quantity(size, "B", "size")
    if kind == "all-to-all":
        return np.asarray((g - 1) / (g * m) * moved), np.asarray((m - 1) / m * moved)
    return np.asarray(_TURNS[kind] * (g - 1) / g * moved), np.asarray(_TURNS[kind] * (m - 1) / m * moved / g)


@overload
def network_intensity(flops: Scalar, network_bytes: Scalar) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def network_intensity(flops: npt.ArrayLike, network_bytes: npt.ArrayLike) -> Floats: ...
@unwarned
def network_intensity(flops: npt.ArrayLike, network_bytes: npt.ArrayLike) -> float | Floats:
    """Return FLOPs per byte that a rank sends, the x axis of a roofline over the link. It is infinite without bytes.

    Parameters
    ----------
    flops
        The FLOPs of one rank.
    network_bytes
        The bytes that this rank sends, as the function `network_bytes` counts them.

    Examples
    --------
    >>> network_intensity(1e12, [4e8, 0]).tolist()
    [2500.0, inf]
    """
    work, moved = quantity(flops, "FLOP", "flops"), quantity(network_bytes, "B", "network_bytes")
    return number_or_array(np.asarray(work / moved))


@keywords("network_ridge_point")
def network_ridge_point(chip: Chip | str, *, precision: str = "auto", link: str | None = None) -> float:
    """Return peak over link bandwidth, FLOP/byte. Below this network intensity the link needs longer than the FLOPs.

    Parameters
    ----------
    chip
        A chip, or its name in the catalogue.
    precision
        The precision of the peak; ``"auto"`` for the chip's default.
    link
        The name of the kind of link; None for the link between chips. The bandwidth is one way, summed over all the
        chip's links of this kind.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision or the link.

    Examples
    --------
    >>> from roofwidget.chips import Chip
    >>> one_axis = Chip("v5p", {"bf16": 4.59e14}, {"HBM": 2.765e12}, links={"ICI": 1.8e11})
    >>> network_ridge_point(one_axis)
    2550.0
    """
    found = look_up(chip)
    return found.peak(precision) / found.link_bandwidth(link)


@overload
def exposed_fraction(network_time: Scalar, overlappable_time: Scalar, *, body_time: Scalar | None = None) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def exposed_fraction(
    network_time: npt.ArrayLike, overlappable_time: npt.ArrayLike, *, body_time: npt.ArrayLike | None = None
) -> Floats: ...
@keywords("exposed_fraction")
@unwarned
def exposed_fraction(
    network_time: npt.ArrayLike, overlappable_time: npt.ArrayLike, *, body_time: npt.ArrayLike | None = None
) -> float | Floats:
    """Return the share of a step that waits for the network, for the option ``exposed_comm`` of `bound`.

    Tn is the network time. Its part beyond `overlappable_time` is exposed: ``x = max(0, Tn - overlappable)``. The step
    lasts ``body + x``, and the share is ``f = x / (body + x)``. If all work can overlap with the network, the share is
    ``max(0, Tn - body) / max(Tn, body)``.

    Parameters
    ----------
    network_time
        Seconds of communication.
    overlappable_time
        Seconds of computing and memory traffic that can overlap with the communication.
    body_time
        Seconds of all computing and memory traffic, at least `overlappable_time`; None if all of it can overlap.

    Returns
    -------
    float or numpy.ndarray
        A share from 0 to 1: a float for numbers, an array of the broadcast shape for arrays; 0 where all times are 0.

    Raises
    ------
    ValueError
        If a time is negative, or `overlappable_time` is longer than `body_time`.

    Examples
    --------
    >>> exposed_fraction(10e-3, 8e-3)
    0.2
    >>> exposed_fraction(2e-3, 0, body_time=8e-3)
    0.2
    """
    network, hiding = quantity(network_time, "s", "network_time"), quantity(overlappable_time, "s", "overlappable_time")
    body = hiding if body_time is None else quantity(body_time, "s", "body_time")
    if (hiding > body).any():
        raise ValueError("overlappable_time is a part of body_time and cannot be longer")
    exposed = np.maximum(0.0, network - hiding)
    return number_or_array(np.asarray(np.where(exposed > 0, exposed / (body + exposed), 0.0)))


@overload
def effective_roof(attainable: Scalar, exposed: Scalar) -> float: ...  # type: ignore[overload-overlap]  # a number is array-like too: the first match counts
@overload
def effective_roof(attainable: npt.ArrayLike, exposed: npt.ArrayLike) -> Floats: ...
@unwarned
def effective_roof(attainable: npt.ArrayLike, exposed: npt.ArrayLike) -> float | Floats:
    """Return the roof, lowered by the share f of exposed communication: ``(1 - f) attainable``.

    Parameters
    ----------
    attainable
        The roof without communication, FLOP/s.
    exposed
        The share f, at least 0 and below 1.

    Raises
    ------
    ValueError
        If `attainable` is negative, or `exposed` is below 0, or `exposed` is 1 or more.

    Examples
    --------
    >>> (effective_roof(2307e12, [0.2, 0.4, 0.6]) / 1e12).round(1).tolist()
    [1845.6, 1384.2, 922.8]
    """
    fraction = quantity(exposed, "", "exposed")
    if (fraction >= 1).any():
        raise ValueError(
            f"exposed must be a share of the time, at least 0 and below 1, got {fraction[fraction >= 1].flat[0]}"
        )
    return number_or_array(np.asarray((1 - fraction) * quantity(attainable, "FLOP/s", "attainable")))


def _known(word: str, words: tuple[str, ...], what: str) -> None:
    if text_argument(word, what) not in words:
        raise ValueError(f"no {what} is called '{word}'{choose_from(word, words)}")


def _of_link(link: Link) -> float:
    if link.bandwidth is None:
        raise MissingFigureError(
            f"the link '{link.name}' has no bandwidth; give it in bytes/s, one way, summed over all its links"
        )
    return link.bandwidth


def _whole(ranks: npt.ArrayLike) -> Floats:
    n = real(ranks, "", "ranks")
    bad = ~(np.isfinite(n) & (n >= 1) & (np.floor(n) == n))
    if bad.any():
        raise ValueError(f"ranks must be whole numbers from 1, got {n[bad].flat[0]:g}")
    return n
