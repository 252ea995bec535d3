"""Write `network.json`, the golden file of the network plane, which pytest and vitest both read.

Run `python -m tests.golden.make_network` to write it anew. Nothing of the package is imported. The numbers are exact
fractions of the printed formulas: for a message of S bytes a rank of n sends f S on a ring, with f of NCCL's
doc/PERFORMANCE.md, and time = latency + S / bandwidth (Hockney, 1994) with the bandwidth W / f.

**The file** has ``factors``: f, and what a rank sends for each byte through a switch that adds. ``models`` are bus
bandwidths at a size: the slope f S / latency, the model f S / time, and the size that reaches half of the link.
``roofs`` are the highest bus bandwidths. ``messages`` are equal calls with what follows from their times.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

F = Fraction
HERE: Final = Path(__file__).parent
TURNS: Final = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1, "gather": 1, "scatter": 1}
KINDS: Final = (*TURNS, "broadcast", "reduce", "send", "receive")


def factor(kind: str, ranks: int) -> Fraction:
    return TURNS[kind] * F(ranks - 1, ranks) if kind in TURNS else F(1)


def model(kind: str, ranks: int, link: int, latency: Fraction, size: int) -> dict[str, Any]:
    f = factor(kind, ranks)
    half = latency * link / f
    found = {"slope": f * size / latency, "model": f * size / (latency + size * f / link), "half": half}
    told = {"kind": kind, "ranks": ranks, "link": link, "latency": float(latency), "size": size}
    return {**told, **{name: float(value) for name, value in found.items()}}


def roof(kind: str, ranks: int, link: int, topology: str) -> dict[str, Any]:
    """Return the roof: with a switch that adds, S bytes in and out take S / W."""
    adds = kind == "all-reduce" and topology == "in-network"
    return {
        "kind": kind,
        "ranks": ranks,
        "link": link,
        "topology": topology,
        "roof": float(factor(kind, ranks) * link) if adds else float(link),
    }


def message(kind: str, size: int, ranks: int, calls: tuple[int, Fraction, Fraction]) -> dict[str, Any]:
    f, (count, time, fastest) = factor(kind, ranks), calls
    found = {"algorithm": size * count / time, "bus": f * size * count / time, "best": f * size / fastest}
    told = {"kind": kind, "size": size, "ranks": ranks, "count": count, "time": float(time), "fastest": float(fastest)}
    return {**told, **{name: float(value) for name, value in found.items()}}


def main() -> None:
    us = F(1, 10**6)
    told = {
        "factors": [
            {"kind": kind, "ranks": ranks, "factor": float(f := factor(kind, ranks)), "added": float(min(f, F(1)))}
            for kind in KINDS
            for ranks in (2, 3, 8, 1000)
        ],
        "models": [
            model(kind, ranks, link, latency * us, size)
            for kind, ranks, link, latency in (
                ("all-reduce", 8, 450 * 10**9, F(18)),
                ("all-gather", 4, 300 * 10**9, F(137, 10)),
                ("broadcast", 16, 25 * 10**9, F(5, 2)),
            )
            for size in (512, 2**20, 10**9)
        ],
        "roofs": [
            roof(kind, ranks, 450 * 10**9, topology)
            for kind in ("all-reduce", "reduce-scatter")
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
