"""Write the golden file of projected times that pytest and vitest hold the code to.

Run `python -m tests.golden.make_projection` to write it anew. Nothing of the package is imported
here. The seconds beside each case are worked out by hand; this file checks them by the definitions in exact fractions
before it writes.

In the file a kernel's FLOPs, bytes or seconds may be null, which is unknown, and `self_time` is left out where it is
`time`. A case is a table, the chip that it ran on, the chip that it is taken to, what is not at its default
(`precision`, by default that of the chip that it ran on; `memory`; `clock` as a factor of the chip's own; `at_roof` as
rows), and what comes out: `before`, `time` and `not_scaled` in seconds, `speedup`, the seconds of each row (null where
they are unknown), and the seconds of scaled rows that are `far` below their roof (under a tenth of it, unless they are
at their roof) and `above` their roof, where they ran.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.analysis import exact
from tests.analysis.exact import Machine, Options, Work

HERE: Final = Path(__file__).parent
TERA: Final = 10**12
# TFLOP/s by precision, the default one first; TB/s by level, the main one first.
CHIPS: Final[dict[str, dict[str, dict[str, int]]]] = {
    "old": {"peak_flops": {"bf16": 100, "fp8": 200, "fp32": 10}, "memories": {"HBM": 1, "L2": 4}},
    "new": {"peak_flops": {"bf16": 400, "fp8": 800}, "memories": {"HBM": 2, "L2": 16}},
    "card": {"peak_flops": {"fp32": 20, "bf16": 50}, "memories": {"GDDR6": 4}},
}
# TFLOP, TB (of the main memory, or by level), seconds; what else is told. Beside each its bounds on "old" and "new".
Row: TypeAlias = tuple[str, Any, Any, str | None, dict[str, str]]
TABLES: Final[dict[str, list[Row]]] = {
    "step": [
        ("matmul", 400, 1, "8", {}),  # 4 and 1
        ("norm", 1, 2, "4", {}),  # 2 and 1
        ("gelu", 150, 1, "3", {}),  # 1.5 (compute) and 0.5 (memory)
        ("copy", 0, 4, "5", {}),  # 4 and 2
    ],
    "untold": [
        ("matmul", 400, 1, "8", {}),
        ("opaque", None, 1, "6", {}),
        ("unread", 100, None, "1", {}),
        ("idle", 0, 0, "2", {}),
        ("planned", 100, 1, None, {}),
        ("skipped", 100, 1, "0", {}),
    ],
    "mixed": [
        ("own", 400, 1, "4", {"precision": "fp8"}),  # 2 and 0.5
        ("plain", 400, 1, "8", {}),
        ("exact", 10, 1, "2", {"precision": "fp32"}),  # 1, and none: there is no such peak
        ("parts", {"fp8": 200, "bf16": 100}, 1, "3", {}),  # 2 and 0.5
    ],
    "nested": [
        ("while", 400, 1, "10", {"self": "1"}),  # 4 and 1
        ("body", 400, 1, "9", {}),
    ],
    "fast": [("cached", 400, 1, "2", {})],  # 4 and 1: it beats its roof on "old"
    "doubtful": [
        ("cached", 400, 1, "3", {"self": "1"}),  # 4 and 1: above its roof
        ("exact", 400, 1, "4", {}),  # at its roof
        ("slow", 1, 1, "20", {}),  # 1 and 0.5: a twentieth of its roof
        ("tenth", 1, 1, "10", {}),  # 1 and 0.5: a tenth of its roof
        ("opaque", None, 1, "1", {}),
    ],
    "tiled": [
        ("tiles", 100, {"HBM": 1, "L2": 16}, "8", {}),  # HBM: 1 and 0.5; L2: 4 and 1; all: 4 and 1
        ("stream", 100, {"HBM": 2, "L2": 2}, "4", {}),  # HBM: 2 and 1; L2: 1 (compute) and 0.25; all: 2 and 1
    ],
    "planned": [("a", 1, 1, None, {}), ("b", 1, 1, None, {})],
    "none": [],
}

# What is asked, and the seconds of each row; the last is what did not scale.
Case: TypeAlias = tuple[str, str, str, str, dict[str, Any], list[str | None], str]
CASES: Final[list[Case]] = [
    ("on its own chip nothing changes", "step", "old", "old", {}, ["8", "4", "3", "5"], "0"),
    ("each keeps its utilization", "step", "old", "new", {}, ["2", "2", "1", "5/2"], "0"),
    ("and back", "step", "new", "old", {}, ["32", "8", "9", "10"], "0"),
    (
        "at the precision that it ran at, a main memory by another name",
        "step",
        "old",
        "card",
        {},
        ["16", "1", "6", "5/4"],
        "0",
    ),
    (
        "at the other chip's usual precision",
        "step",
        "old",
        "card",
        {"precision": "auto"},
        ["40", "1", "15", "5/4"],
        "0",
    ),
    ("a faster clock is for what computes", "step", "old", "old", {"clock": "2"}, ["4", "4", "2", "5"], "0"),
    ("a slower one for more of it", "step", "new", "new", {"clock": "1/4"}, ["32", "4", "9", "5"], "0"),
    ("another chip at half its clock", "step", "old", "new", {"clock": "1/2"}, ["4", "2", "3/2", "5/2"], "0"),
    ("another precision", "step", "old", "new", {"precision": "fp8"}, ["1", "2", "1", "5/2"], "0"),
    ("another precision on its own chip", "step", "old", "old", {"precision": "fp8"}, ["4", "4", "2", "5"], "0"),
    ("one at its roof", "step", "old", "old", {"at_roof": [0]}, ["4", "4", "3", "5"], "0"),
    ("several, in any order", "step", "old", "old", {"at_roof": [3, 1]}, ["8", "2", "3", "4"], "0"),
    ("all at their roofs are the bound", "step", "old", "old", {"at_roof": [0, 1, 2, 3]}, ["4", "2", "3/2", "4"], "0"),
    ("at the roof of the other chip", "step", "old", "new", {"at_roof": [0, 2]}, ["1", "2", "1/2", "5/2"], "0"),
    (
        "at the roof at another clock",
        "step",
        "old",
        "new",
        {"at_roof": [0], "clock": "1/2"},
        ["2", "2", "3/2", "5/2"],
        "0",
    ),
    ("what is unknown keeps its time", "untold", "old", "new", {}, ["2", "6", "1", "2", None, "0"], "9"),
    (
        "the unknown has no roof to be at",
        "untold",
        "old",
        "new",
        {"at_roof": [0, 1, 2, 3, 4, 5]},
        ["1", "6", "1", "2", None, "0"],
        "9",
    ),
    ("each at its own precision", "mixed", "old", "new", {}, ["1", "2", "2", "3/4"], "2"),
    ("only what tells no precision changes it", "mixed", "old", "old", {"precision": "fp8"}, ["4", "4", "2", "3"], "0"),
    ("where it ran there was no such peak", "mixed", "new", "old", {}, ["16", "32", "2", "12"], "2"),
    (
        "it may have a roof where it goes",
        "mixed",
        "new",
        "old",
        {"at_roof": [2]},
        ["16", "32", "1", "12"],
        "0",
    ),
    ("time of others within is not its own", "nested", "old", "new", {}, ["1/4", "9/4"], "0"),
    ("at its roof its own part shrinks alike", "nested", "old", "old", {"at_roof": [0]}, ["2/5", "9"], "0"),
    ("what beats its roof goes on to", "fast", "old", "new", {}, ["1/2"], "0"),
    ("its roof is where it says, if that is slower", "fast", "old", "old", {"at_roof": [0]}, ["4"], "0"),
    (
        "above its roof and far below it",
        "doubtful",
        "old",
        "new",
        {},
        ["1/4", "1", "10", "5", "1"],
        "1",
    ),
    (
        "what is at its roof is not far below it, but its counts stay in doubt",
        "doubtful",
        "old",
        "new",
        {"at_roof": [0, 2]},
        ["1/3", "1", "1/2", "5", "1"],
        "1",
    ),
    ("at the main memory", "tiled", "old", "new", {}, ["4", "2"], "0"),
    ("at another level", "tiled", "old", "new", {"memory": "L2"}, ["2", "1"], "0"),
    ("at the slowest of all levels", "tiled", "old", "new", {"memory": "all"}, ["2", "2"], "0"),
    ("at the roof of the slowest", "tiled", "old", "new", {"memory": "all", "at_roof": [0, 1]}, ["1", "1"], "0"),
    ("nothing measured", "planned", "old", "new", {"at_roof": [0]}, [None, None], "0"),
    ("no kernels", "none", "old", "new", {}, [], "0"),
]


def _usual(chip: str) -> str:
    return next(iter(CHIPS[chip]["peak_flops"]))


def _machine(chip: str, clock: Fraction = Fraction(1)) -> Machine:
    peaks = {key: clock * peak for key, peak in CHIPS[chip]["peak_flops"].items()}
    bandwidths = {level: Fraction(rate) for level, rate in CHIPS[chip]["memories"].items()}
    return Machine(peaks, bandwidths, {}, _usual(chip))


def _work(row: Row) -> Work:
    _, flops, moved, time, told = row

    def parts(amount: Any, plain: str) -> dict[str, Fraction]:
        by_key = amount if isinstance(amount, dict) else {} if amount is None else {plain: amount}
        return {key: Fraction(part) for key, part in by_key.items()}

    seconds, own = (None if time is None else Fraction(one) for one in (time or 0, told.get("self", time) or 0))
    return Work(parts(flops, ""), parts(moved, "main"), seconds, told.get("precision"), self_time=own)


def _case(name: str, table: str, source: str, chip: str, asked: dict[str, Any], *out: Any) -> dict[str, Any]:
    by_hand, not_scaled = [None if one is None else Fraction(one) for one in out[0]], Fraction(out[1])
    memory, precision = asked.get("memory", "main"), asked.get("precision", _usual(source))
    old, new = _machine(source), _machine(chip, Fraction(asked.get("clock", 1)))
    works = [_work(row) for row in TABLES[table]]
    found = [
        exact.moved(
            work,
            exact.exact(work, old, Options(memory=memory), lenient=True),
            exact.exact(work, new, Options(precision, memory), lenient=True),
            at_roof=at in asked.get("at_roof", []),
        )
        for at, work in enumerate(works)
    ]
    times = [one.time for one in found]
    kept = sum((one.time or 0 for one in found if not one.scaled), Fraction())
    if times != by_hand or kept != not_scaled:
        msg = f"'{name}' takes {times}, {kept} not scaled, by the definitions, but {by_hand}, {not_scaled} by hand"
        raise ValueError(msg)
    before, time = (sum((part or 0 for part in parts), Fraction()) for parts in ([w.self_time for w in works], times))
    far, above = (
        sum((work.self_time or 0 for work, so in zip(works, answers, strict=True) if False not in so), Fraction())
        for answers in ([one.far for one in found], [one.above for one in found])
    )
    clock = {"clock": float(Fraction(asked["clock"]))} if "clock" in asked else {}
    return {
        "name": name,
        "table": table,
        "source": source,
        "chip": chip,
        **asked,
        **clock,
        "expected": {
            "before": float(before),
            "time": float(time),
            "speedup": float(before / time) if time else None,
            "not_scaled": float(kept),
            "far": float(far),
            "above": float(above),
            "by_kernel": [None if part is None else float(part) for part in times],
        },
    }


def _scaled(amount: Any) -> Any:
    if isinstance(amount, dict):
        return {key: _scaled(part) for key, part in amount.items()}
    return None if amount is None else float(amount * TERA)


def _kernel(row: Row) -> dict[str, Any]:
    name, flops, moved, time, told = row
    kernel = {
        "name": name,
        "flops": _scaled(flops),
        "bytes": _scaled(moved),
        "time": None if time is None else float(time),
    }
    own = {"self_time": float(told["self"])} if "self" in told else {}
    return {**kernel, "precision": told.get("precision"), **own}


def text() -> str:
    """Return what projection.json holds."""
    golden = {
        "chips": {name: {**_scaled(chip), "default_precision": _usual(name)} for name, chip in CHIPS.items()},
        "tables": {name: [_kernel(row) for row in table] for name, table in TABLES.items()},
        "cases": [_case(*case) for case in CASES],
    }
    return json.dumps(golden, indent=1, allow_nan=False) + "\n"


if __name__ == "__main__":
    (HERE / "projection.json").write_text(text(), encoding="utf-8", newline="\n")
