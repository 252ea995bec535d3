"""Write `network.json`, the golden file of the network plane, which pytest and vitest both read.

Run `python -m tests.golden.make_network` to write it anew. Nothing of the package is imported. The numbers are exact
fractions of the printed formulas: for a message of S bytes a rank of n sends f S through a switch, with f of NCCL's
doc/PERFORMANCE.md, and time = latency + S / bandwidth (Hockney, 1994) with the bandwidth W / s, where s S is sent.
A switch that adds gets each array once. On a ring each rank sends S/n to each of the ranks that are 1 to n - 1 hops
away, so the parts of an all-to-all cross (1 + … + n - 1)/n = (n - 1)/2 links; both ways round, hops are at most n/2.

**The file** has ``factors``: f, and s by topology. ``models`` are bus bandwidths at a size: the slope f S / latency,
the model f S / time, and the size that reaches half of the roof. ``roofs`` are the highest bus bandwidths, f W / s.
``messages`` are equal calls with what follows from their times.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

F = Fraction
HERE: Final = Path(__file__).parent
TURNS: Final = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1, "gather": 1, "scatter": 1}
TOPOLOGIES: Final = ("ring", "ring-both-ways", "switch", "in-network")
KINDS: Final = (*TURNS, "broadcast", "reduce", "send", "receive")


def factor(kind: str, ranks: int) -> Fraction:
    return TURNS[kind] * F(ranks - 1, ranks) if kind in TURNS else F(1)


def sent(kind: str, ranks: int, topology: str) -> Fraction:
    """Return the bytes that cross a rank's link in the busier direction, per byte of its message."""
    if ranks == 1:
        return F(0)
    if topology == "in-network" and kind in ("all-reduce", "reduce-scatter"):
        return F(1)
    hops = range(1, ranks)
    if kind == "all-to-all" and topology == "ring":
        return F(sum(hops), ranks)
    if kind == "all-to-all" and topology == "ring-both-ways":
        return F(sum(min(one, ranks - one) for one in hops), ranks)
    return factor(kind, ranks)


def model(kind: str, ranks: int, topology: str, path: tuple[int, Fraction], size: int) -> dict[str, Any]:
    (link, latency), f, s = path, factor(kind, ranks), sent(kind, ranks, topology)
    found = {"slope": f * size / latency, "model": f * size / (latency + size * s / link), "half": latency * link / s}
    told = {"kind": kind, "ranks": ranks, "topology": topology, "link": link, "latency": float(latency), "size": size}
    return {**told, **{name: float(value) for name, value in found.items()}}


def roof(kind: str, ranks: int, link: int, topology: str) -> dict[str, Any]:
    highest = factor(kind, ranks) * link / sent(kind, ranks, topology)
    return {"kind": kind, "ranks": ranks, "link": link, "topology": topology, "roof": float(highest)}


def message(kind: str, size: int, ranks: int, calls: tuple[int, Fraction, Fraction]) -> dict[str, Any]:
    f, (count, time, fastest) = factor(kind, ranks), calls
    found = {"algorithm": size * count / time, "bus": f * size * count / time, "best": f * size / fastest}
    told = {"kind": kind, "size": size, "ranks": ranks, "count": count, "time": float(time), "fastest": float(fastest)}
    return {**told, **{name: float(value) for name, value in found.items()}}


def main() -> None:
    us = F(1, 10**6)
    told = {
        "factors": [
            {
                "kind": kind,
                "ranks": ranks,
                "factor": float(factor(kind, ranks)),
                "sent": {topology: float(sent(kind, ranks, topology)) for topology in TOPOLOGIES},
            }
            for kind in KINDS
            for ranks in (1, 2, 3, 8, 1000)
        ],
        "models": [
            model(kind, ranks, topology, (link, latency * us), size)
            for kind, ranks, topology, link, latency in (
                ("all-reduce", 8, "ring", 450 * 10**9, F(18)),
                ("all-reduce", 8, "in-network", 450 * 10**9, F(18)),
                ("all-gather", 4, "in-network", 300 * 10**9, F(137, 10)),
                ("all-to-all", 4, "ring", 300 * 10**9, F(137, 10)),
                ("broadcast", 16, "switch", 25 * 10**9, F(5, 2)),
            )
            for size in (512, 2**20, 10**9)
        ],
        "roofs": [
            roof(kind, ranks, 450 * 10**9, topology)
            for kind in ("all-reduce", "reduce-scatter", "all-to-all", "all-gather")
            for ranks in (2, 8)
            for topology in ("ring", "switch", "in-network")
        ],
        "messages": [
            message("all-reduce", 67_108_864, 8, (32, 32 * 520 * us, 318 * us)),
            message("all-gather", 134_217_728, 8, (64, 64 * 373 * us, 342 * us)),
            message("send", 4096, 2, (1, 9 * us, 9 * us)),
        ],
    }
    text = json.dumps(told, indent=1)
    (HERE / "network.json").write_text(f"{text}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
