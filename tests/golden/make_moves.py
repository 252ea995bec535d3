"""Write the golden file of moved kernels that pytest and vitest hold the code to.

Run `python -m tests.golden.make_moves` to write it anew. Nothing of the package is imported here. The
microseconds beside each case are worked out by hand; this file checks them by the definitions in exact fractions before
it writes.

In the file bytes or seconds may be null, which is unknown. A case is a kernel, what is asked of it (factors),
what is not at its default (`memory`; `launch_overhead` in seconds), and what comes out: seconds and the share of the
roof, null where they are unknown. A program is several kernels, what is asked of each by row, and the seconds of all of
them, before and after.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.analysis import exact
from tests.analysis.exact import Machine, Options, Work

HERE: Final = Path(__file__).parent
MICRO: Final = 10**6
# FLOP and bytes a microsecond: 100 TFLOP/s; 1 TB/s of main memory, 4 TB/s of L2; over the link 0.1 TB/s.
MACHINE: Final = Machine(
    {"bf16": Fraction(10**8)},
    {"HBM": Fraction(10**6), "L2": Fraction(4 * 10**6)},
    {"NVLink": Fraction(10**5)},
    "bf16",
)
# FLOP, bytes (of the main memory, or by level) and µs.
Row: TypeAlias = tuple[int | None, Any, str | None]
KERNELS: Final[dict[str, Row]] = {
    "norm": (10**9, 62 * 10**6, "124"),  # 10 and 62 µs: half of its roof
    "matmul": (10**10, 40 * 10**6, "125"),  # 100 and 40 µs: four fifths of it
    "ridge": (10**10, 10**8, "200"),  # 100 and 100 µs
    "copy": (0, 60 * 10**6, "80"),
    "planned": (10**9, 62 * 10**6, None),
    "cached": (10**9, 60 * 10**6, "30"),  # it beats its roof twice over
    "tiled": (10**9, {"HBM": 20 * 10**6, "L2": 160 * 10**6}, "80"),  # 10, 20 and 40 µs
    "sent": (10**9, {"HBM": 20 * 10**6, "network": 4 * 10**6}, "80"),  # 10, 20 and 40 µs
    "opaque": (10**9, None, "50"),
    "free": (10**9, 0, "20"),
    "skipped": (10**9, 10**6, "0"),
}
# What is asked, and the µs and the share that come out.
Case: TypeAlias = tuple[str, str, dict[str, str], dict[str, Any], str | None, str | None]
CASES: Final[list[Case]] = [
    ("nothing asked", "norm", {}, {}, "124", "1/2"),
    ("a third of the traffic", "norm", {"bytes": "1/3"}, {}, "124/3", "1/2"),
    ("3.1 times less of it", "norm", {"bytes": "10/31"}, {}, "40", "1/2"),
    ("twice as much", "norm", {"bytes": "2"}, {}, "248", "1/2"),
    ("past the ridge the peak binds", "norm", {"bytes": "1/62"}, {}, "20", "1/2"),
    ("on the flat fewer bytes change nothing", "matmul", {"bytes": "1/8"}, {}, "125", "4/5"),
    ("on the flat more bytes at first change nothing", "matmul", {"bytes": "5/2"}, {}, "125", "4/5"),
    ("left of the ridge they do", "matmul", {"bytes": "5"}, {}, "250", "4/5"),
    ("from the ridge to the right", "ridge", {"bytes": "1/2"}, {}, "200", "1/2"),
    ("from the ridge to the left", "ridge", {"bytes": "3/2"}, {}, "300", "1/2"),
    ("a better use of the roof", "norm", {"time": "3/4"}, {}, "93", "2/3"),
    ("a worse one", "norm", {"time": "5/4"}, {}, "155", "2/5"),
    ("up to the roof", "norm", {"time": "1/2"}, {}, "62", "1"),
    ("never above it", "norm", {"time": "1/10"}, {}, "62", "1"),
    ("nor on the flat", "matmul", {"time": "1/2"}, {}, "100", "1"),
    ("both", "norm", {"bytes": "1/2", "time": "3/4"}, {}, "93/2", "2/3"),
    ("both, to the roof of its new bytes", "norm", {"bytes": "1/2", "time": "1/9"}, {}, "31", "1"),
    ("one that beats its roof goes no higher", "cached", {"time": "1/2"}, {}, "30", "2"),
    ("but lower", "cached", {"time": "4"}, {}, "120", "1/2"),
    ("and keeps its lead sideways", "cached", {"bytes": "1/2"}, {}, "15", "2"),
    ("without FLOPs a better use of the roof", "copy", {"time": "7/8"}, {}, "70", "6/7"),
    ("without FLOPs fewer bytes", "copy", {"bytes": "1/2"}, {}, "40", "3/4"),
    ("not measured", "planned", {"bytes": "1/2"}, {}, None, None),
    ("bytes not known", "opaque", {"bytes": "1/2"}, {}, None, None),
    ("bytes not known, another time", "opaque", {"time": "1/2"}, {}, "25", None),
    ("no bytes at all", "free", {"bytes": "1/2"}, {}, "20", "1/2"),
    ("measured as nothing", "skipped", {"time": "2"}, {}, "0", None),
    ("every level's bytes, judged by one", "tiled", {"bytes": "1/4"}, {}, "40", "1/4"),
    ("by another", "tiled", {"bytes": "1/2"}, {"memory": "L2"}, "40", "1/2"),
    ("by the slowest of all", "tiled", {"bytes": "1/8"}, {"memory": "all"}, "20", "1/2"),
    ("what goes over the link stays", "sent", {"bytes": "1/4"}, {}, "80", "1/2"),
    ("until memory takes longer", "sent", {"bytes": "4"}, {}, "160", "1/2"),
    ("a launch takes what it takes", "norm", {"bytes": "1/31"}, {"launch_overhead": "31"}, "62", "1/2"),
    ("one that launches bind stays", "norm", {"bytes": "1/2"}, {"launch_overhead": "124"}, "124", "1"),
]
# Rows, what is asked of each, the µs of all before and after.
Program: TypeAlias = tuple[str, list[str], dict[int, dict[str, str]], str, str]
PROGRAMS: Final[list[Program]] = [
    ("one of two", ["norm", "matmul"], {0: {"bytes": "1/2"}}, "249", "187"),
    ("both of them", ["norm", "matmul"], {0: {"bytes": "1/2"}, 1: {"time": "4/5"}}, "249", "162"),
    ("beside one that was not measured", ["planned", "copy"], {0: {"bytes": "1/2"}, 1: {"time": "3/4"}}, "80", "60"),
    ("a time that is not known any more counts as it was", ["opaque", "norm"], {0: {"bytes": "2"}}, "174", "174"),
]


def bound(row: Row, by: Fraction, *, memory: str, overhead: Fraction) -> Fraction | None:
    """Return the µs that a kernel needs at least with so many times its bytes, None where they are unknown."""
    flops, moved, _ = row
    told = moved if isinstance(moved, dict) else {} if moved is None else {"HBM": moved}
    scaled = {level: amount * (1 if level == exact.NETWORK else by) for level, amount in told.items()}
    work = Work({} if flops is None else {"": Fraction(flops)}, scaled)
    return exact.exact(work, MACHINE, Options(memory=memory, launch=overhead)).time


def outcome(row: Row, move: Mapping[str, str], asked: Mapping[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """Return the µs that a kernel would take and its share of the roof, None where they are unknown."""
    by, slower = Fraction(move.get("bytes", 1)), Fraction(move.get("time", 1))
    options: dict[str, Any] = {
        "memory": asked.get("memory", "main"),
        "overhead": Fraction(asked.get("launch_overhead", 0)),
    }
    before, after = bound(row, Fraction(1), **options), bound(row, by, **options)
    if row[2] is None or (by != 1 and (before is None or after is None)):
        return None, None
    time = Fraction(row[2])
    if before is None or after is None or time == 0:
        return time * slower, None
    share = before / time
    used = max(slower, min(share, Fraction(1)))
    return time * used * after / before, share / used


def _exact(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _seconds(micros: Fraction | None) -> float | None:
    return None if micros is None else float(micros / MICRO)


def _kernel(name: str) -> dict[str, Any]:
    flops, moved, time = KERNELS[name]
    return {"name": name, "flops": flops, "bytes": moved, "time": _seconds(_exact(time))}


def _factors(move: Mapping[str, str]) -> dict[str, float]:
    return {word: float(Fraction(factor)) for word, factor in move.items()}


def _case(name: str, kernel: str, move: dict[str, str], asked: dict[str, Any], *out: str | None) -> dict[str, Any]:
    by_hand = (_exact(out[0]), _exact(out[1]))
    found = outcome(KERNELS[kernel], move, asked)
    if found != by_hand:
        msg = f"'{name}': {found} by the definitions, but {by_hand} by hand"
        raise ValueError(msg)
    overhead = {"launch_overhead": _seconds(Fraction(asked["launch_overhead"]))} if "launch_overhead" in asked else {}
    expected = {"time": _seconds(found[0]), "share": None if found[1] is None else float(found[1])}
    return {"name": name, "kernel": _kernel(kernel), "move": _factors(move), **asked, **overhead, "expected": expected}


def _program(name: str, rows: list[str], moves: dict[int, dict[str, str]], *out: str) -> dict[str, Any]:
    times = [Fraction(KERNELS[row][2] or 0) for row in rows]
    # A time that cannot be said counts as it was.
    new = [outcome(KERNELS[row], moves.get(at, {}), {})[0] for at, row in enumerate(rows)]
    found = (sum(times), sum(old if time is None else time for old, time in zip(times, new, strict=True)))
    if found != tuple(map(Fraction, out)):
        msg = f"'{name}': {found} by the definitions, but {out} by hand"
        raise ValueError(msg)
    return {
        "name": name,
        "kernels": [_kernel(row) for row in rows],
        "moves": {str(row): _factors(move) for row, move in moves.items()},
        "expected": [_seconds(Fraction(time)) for time in found],
    }


def text() -> str:
    """Return what moves.json holds."""
    golden = {
        "chip": {
            "peak_flops": {"bf16": float(MACHINE.peak("bf16") * MICRO)},
            "memories": {level: float((rate or 0) * MICRO) for level, rate in MACHINE.bandwidths.items()},
            "link": float(MACHINE.link() * MICRO),
        },
        "cases": [_case(*case) for case in CASES],
        "programs": [_program(*program) for program in PROGRAMS],
    }
    return json.dumps(golden, indent=1, allow_nan=False) + "\n"


if __name__ == "__main__":
    (HERE / "moves.json").write_text(text(), encoding="utf-8", newline="\n")
