"""Write `verdicts.json`, which pytest and vitest both hold verdicts to. Run this file to write it anew.

Nothing of the package is imported. Every number in a sentence is an exact fraction, rounded once.

**The file** is a list of cases. A case has a ``chip`` or null, ``what_if`` rates or null, ``kernels``, and what is said
of them: ``rule``, ``headline``, ``detail`` and ``is_alert``. ``earlier`` is an earlier run, or null: its kernels, and
for each the row of the same kernel now (-1 without one) and whether it is faster, slower or the same. ``fusion`` is a
partition beside the best one, or null. ``communication`` and ``activity`` have seconds, and ``messages`` are the equal
calls among the kernels, or null. ``links`` are the rates of the link with and without its what-if, or null.

A kernel's bound is its bytes over 1 TB/s or its FLOPs over 100 TFLOP/s, the longer of the two.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

F = Fraction
HERE: Final = Path(__file__).parent
PEAK, BANDWIDTH = 100 * 10**12, 10**12
CHIP: Final = {"id": "t100", "name": "Test T100 (80 GB)", "vendor": "Test", "kind": "gpu"}
PREFIXES: Final = {0: "", -3: "m", -6: "µ", -9: "n", 3: "k", 6: "M", 9: "G", 12: "T"}


def rounded(value: F, digits: int) -> F:
    """Return a number with so many significant digits. A tie would depend on how a float is rounded."""
    power = 0
    while value >= F(10) ** (power + 1):
        power += 1
    while value < F(10) ** power:
        power -= 1
    unit = F(10) ** (power - digits + 1)
    assert (value / unit) % 1 != F(1, 2), value
    return round(value / unit) * unit


def text(value: F) -> str:
    return f"{float(value):f}".rstrip("0").rstrip(".")


def s(value: F | int, unit: str = "s") -> str:
    """Return an amount with three digits and a prefix. Seconds have no prefix above 1."""
    short, power = rounded(F(value), 3), 0 if unit == "s" else 12
    while power > -9 and short < F(10) ** power:
        power -= 3
    return f"{text(short / F(10) ** power)} {PREFIXES[power]}{unit}"


def pct(share: F) -> str:
    """Return a share in percent: two digits, and no decimals from 10 % up."""
    return f"{text(rounded(share * 100, 2 if share < 1 else 3))} %"


def kernel(
    name: str, bound: F | int | None, time: F | int | None, category: str | None = None, count: int = 1, **more: Any
) -> dict[str, Any]:
    """Return a kernel that is bound by memory; without a bound its FLOPs and bytes are unknown."""
    work = None if bound is None else float(F(bound) * BANDWIDTH)
    measured = None if time is None else float(time)
    return {"name": name, "flops": work, "bytes": work, "time": measured, "category": category, "count": count} | more


def on_compute(name: str, bound: F | int, time: F | int | None, category: str | None = None) -> dict[str, Any]:
    """Return a kernel that is bound by compute."""
    return {**kernel(name, 0, time, category), "flops": float(F(bound) * PEAK), "bytes": 1.0}


def many(count: int, bound: F | int, time: F | int, category: str | None = None) -> list[dict[str, Any]]:
    return [kernel(f"{category}.{at}", bound, time, category) for at in range(count)]


def idle(time: F | int) -> dict[str, Any]:
    return kernel("idle", None, time, "idle")


CASES: Final[list[dict[str, Any]]] = []


def case(
    what: str,
    rule: str,
    kernels: list[dict[str, Any]],
    headline: str,
    detail: str = "",
    *,
    is_alert: bool = False,
    chip: bool = True,
    what_if: dict[str, float] | None = None,
    earlier: list[dict[str, Any]] | None = None,
    fusion: dict[str, Any] | None = None,
    **metadata: Any,
) -> None:
    CASES.append(
        {
            "case": what,
            "chip": {**CHIP, "peak_flops": PEAK, "bandwidth": BANDWIDTH} if chip else None,
            "what_if": what_if,
            "kernels": kernels,
            "earlier": None if earlier is None else matched(earlier, kernels),
            "fusion": fusion,
            "communication": None,
            "activity": None,
            "messages": None,
            "links": None,
            "topology": "ring",
            **metadata,
            "rule": rule,
            "headline": headline,
            "detail": detail,
            "is_alert": is_alert,
        }
    )


def matched(earlier: list[dict[str, Any]], now: list[dict[str, Any]]) -> dict[str, Any]:
    rows = {one["name"]: at for at, one in enumerate(now)}
    match, verdicts = [], []
    for one in earlier:
        row = rows.get(one["name"], -1)
        match.append(row)
        ratio = F(now[row]["time"]) / F(one["time"]) - 1 if row >= 0 else None
        word = None if ratio is None else "same" if abs(ratio) <= F(1, 100) else "faster" if ratio < 0 else "slower"
        verdicts.append(word)
    return {"kernels": earlier, "match": match, "verdicts": verdicts}


ON: Final = "T100"
A, B, C = "matrix product", "element by element", "copy"


def idle_cases() -> None:
    kernels = [kernel("a", 1, 2, A, 2), kernel("b", 3, 4, B, 3), kernel("c", None, 2)]
    # Kernels run 8 s; they save 1 + 1 s.
    gain = f"The 2 to fix first could save up to {s(2)}; at every roof {s(6)} would remain."
    run = f"Kernels run {s(8)} of {s(10)}, in 6 launches of {s(F(8, 6))}."
    case("idle 20 %", "idle", [*kernels, idle(2)], f"The GPU is idle {pct(F(2, 10))} of the time.", f"{run} {gain}")
    kernels = [kernel("a", 1, 400, A), kernel("b", 100, 401, B)]
    saved = 399 + 301
    case(
        "idle 19.9 %",
        "spread",
        [*kernels, idle(199)],
        f"Up to {s(saved)} of {s(1000)} could be saved: kernels run at {pct(F(101, 801))} of their roofs.",
        f"Most could be saved in a ({pct(F(399, 700))}) and b ({pct(F(301, 700))}).",
    )
    case("idle alone", "idle", [idle(3)], "The GPU is idle 100 % of the time.", f"No kernel ran in {s(3)}.")
    case(
        "idle, no known roof, one launch",
        "idle",
        [kernel("a", None, 1), idle(1)],
        f"The GPU is idle {pct(F(1, 2))} of the time.",
        f"Kernels run {s(1)} of {s(2)}, in one launch.",
    )
    case(
        "idle without a chip",
        "idle",
        [kernel("a", 1, 2, A, 4), idle(2)],
        f"The chip is idle {pct(F(1, 2))} of the time.",
        f"Kernels run {s(2)} of {s(4)}, in 4 launches of {s(F(1, 2))}.",
        chip=False,
    )
    # At 2 TB/s the bound is 0.5 s, and 1.5 s are saved.
    case(
        "idle with a what-if",
        "idle",
        [kernel("a", 1, 2, A), idle(2)],
        f"The GPU is idle {pct(F(1, 2))} of the time.",
        f"With your what-if: kernels run {s(2)} of {s(4)}, in one launch. The one to fix first could save up to "
        f"{s(F(3, 2))}; at every roof {s(F(1, 2))} would remain.",
        what_if={"bandwidth": 2e12},
    )
    overlapping_cases()


def overlapping_cases() -> None:
    """Kernels of several streams run 8 s, and their durations add up to 11 s."""
    kernels = [kernel("a", None, 6, A, 3), kernel("b", None, 5, B)]

    def times(gap: F | int) -> dict[str, float]:
        return {"busy": 8.0, "idle": 2.0, "added": 11.0, "gap": float(gap), "gap_start": 0.25}

    headline, run = f"The GPU is idle {pct(F(2, 10))} of the time.", f"Kernels run {s(8)} of {s(10)}"
    launches = f", in 4 launches of {s(F(11, 4))}."
    case("idle beside streams", "idle", [*kernels, idle(2)], headline, f"{run}{launches}", activity=times(F(99, 100)))
    gap = (
        f"{run}. One gap of {s(1)}, which begins {s(F(1, 4))} after the first kernel starts, is most of the idle time."
    )
    case("idle in one gap", "idle", [*kernels, idle(2)], headline, gap, activity=times(1))
    case(
        "idle beside some of the kernels",
        "idle",
        [kernels[1], idle(2)],
        f"The GPU is idle {pct(F(2, 7))} of the time.",
        f"Kernels run {s(5)} of {s(7)}, in one launch.",
        activity=times(1),
    )
    # Durations are shorter by 5 + 2 s. If that time is only of one stream, kernels run 8 - 7 s; if all of it ran beside
    # other kernels, they run as long as all durations that remain, 4 s.
    with_roof = [kernel("a", 1, 6, A, 3), kernel("b", 3, 5, B), idle(2)]
    gain = f"The 2 to fix first could save up to {s(7)}; at every roof {s(1)} to {s(4)} would remain."
    case("savings beside streams", "idle", with_roof, headline, f"{run}{launches} {gain}", activity=times(0))
    # 1 s saved of 8 s: 7 s to 8 s, because 10 s of durations remain.
    little = [kernel("a", 5, 6, A, 3), kernel("b", 5, 5, B), idle(2)]
    gain = f"The one to fix first could save up to {s(1)}; at every roof {s(7)} to {s(8)} would remain."
    case("savings that others may hide", "idle", little, headline, f"{run}{launches} {gain}", activity=times(0))
    told = {"busy": 10.0, "idle": 5.0, "added": 80.0, "gap": 0.0, "gap_start": 0.0}
    run = f"Kernels run {s(10)} of {s(15)}, in 2 launches of {s(40)}."
    case(
        "savings that may be all of the time in which kernels run",
        "idle",
        [kernel("a", 1, 40, A), kernel("b", 1, 40, B), idle(5)],
        f"The GPU is idle {pct(F(1, 3))} of the time.",
        f"{run} The 2 to fix first could save up to {s(10)}; at every roof 0 s to {s(2)} would remain.",
        activity=told,
    )
    # Eight streams: no more than the 10 s in which kernels run can be saved.
    told = {"busy": 10.0, "idle": 1.0, "added": 80.0, "gap": 1.0, "gap_start": 0.0}
    case(
        "more saved in streams than kernels run",
        "spread",
        [kernel("a", 6, 40, A), kernel("b", 5, 40, B), idle(1)],
        f"Up to {s(10)} of {s(11)} could be saved: kernels run at {pct(F(11, 80))} of their roofs.",
        f"Most could be saved in b ({pct(F(35, 69))}) and a ({pct(F(34, 69))}).",
        activity=told,
    )
    case(
        "one kernel beside itself",
        "one",
        [kernel("a", 76, 80, A, 8), idle(1)],
        f"a runs at {pct(F(76, 80))} of its roof: up to {s(4)} of {s(11)} could be saved.",
        f"It is memory-bound: at its roof {s(6)} to {s(10)} would remain.",
        activity=told,
    )
    case(
        "kernels to fix first beside streams",
        "first",
        [*many(5, 10, 20, A), *many(5, 10, 20, B)],
        f"5 of 10 kernels hold most of what could be saved: up to {s(50)} of {s(160)}.",
        f"At every roof {s(60)} to {s(100)} would remain.",
        activity={"busy": 160.0, "idle": 0.0, "added": 200.0, "gap": 0.0, "gap_start": 0.0},
    )
    case(
        "a category to fix beside streams",
        "category",
        [kernel("x", 40, 80, C), kernel("b", 10, 20, B)],
        f"Copies take {pct(F(8, 10))} of the time.",
        f"The slowest of them moves bytes at {pct(F(1, 2))} of the HBM bandwidth. The 2 to fix first could save up to "
        f"{s(50)} of {s(90)}.",
        activity={"busy": 90.0, "idle": 0.0, "added": 100.0, "gap": 0.0, "gap_start": 0.0},
    )
    case(
        "beside streams without a chip",
        "no roof",
        [kernel("a", 1, 4, A), kernel("b", 1, 5, B)],
        f"2 kernels in {s(8)}.",
        "Show the chip that they ran on to see what could be saved.",
        chip=False,
        activity={"busy": 8.0, "idle": 0.0, "added": 9.0, "gap": 0.0, "gap_start": 0.0},
    )
    rows = [kernel("a", None, 120, A), kernel("b", None, 20, B), idle(6)]
    told = {"busy": 100.0, "idle": 6.0, "added": 140.0, "gap": 6.0, "gap_start": 0.0}
    case(
        "one category beside streams",
        "category",
        rows,
        f"Matrix products take {pct(F(120, 146))} of the time; the GPU is idle for {pct(F(6, 106))}.",
        activity=told,
    )


def category_cases() -> None:
    rows = [kernel("x", 7, 40, "copy-start"), kernel("y", 7, 30, "copy-done"), kernel("b", 10, 20, B), idle(10)]
    case(
        "one category 70 %",
        "category",
        rows,
        f"Copies take {pct(F(70, 100))} of the time; the GPU is idle for {pct(F(1, 10))}.",
        f"The 2 slowest copies move bytes at {pct(F(14, 70))} of the HBM bandwidth. The 3 to fix first could save up "
        f"to {s(33 + 23 + 10)} of {s(100)}.",
    )
    rows = [kernel("x", 7, 39, "copy-start"), kernel("y", 7, 30, "copy-done"), kernel("b", 10, 21, B), idle(10)]
    case(
        "one category 69 %",
        "spread",
        rows,
        f"Up to {s(32 + 23 + 11)} of {s(100)} could be saved: kernels run at {pct(F(24, 90))} of their roofs.",
        f"Most could be saved in x ({pct(F(32, 66))}) and y ({pct(F(23, 66))}).",
    )
    rows = [on_compute("m", 30, 75, A), kernel("b", 10, 21, B), idle(4)]
    case(
        "one category, compute-bound, little idle",
        "category",
        rows,
        f"Matrix products take {pct(F(75, 100))} of the time.",
        f"The slowest of them runs at {pct(F(30, 75))} of the bf16 peak. The 2 to fix first could save up to {s(56)} "
        f"of {s(100)}.",
    )
    rows = [on_compute("m", 10, 40, "own"), kernel("n", 10, 40, "own"), kernel("b", 10, 20, B)]
    case(
        "a category of the file, bound by several things",
        "category",
        rows,
        f"Kernels of “own” take {pct(F(8, 10))} of the time.",
        f"The 2 slowest of them run at {pct(F(20, 80))} of their roofs. The 3 to fix first could save up to {s(70)} of "
        f"{s(100)}.",
    )
    case(
        "all kernels of one category",
        "spread",
        [kernel("x", 5, 10, C), kernel("y", 5, 10, C)],
        f"Up to {s(10)} of {s(20)} could be saved: kernels run at {pct(F(1, 2))} of their roofs.",
        f"Most could be saved in x ({pct(F(1, 2))}) and y ({pct(F(1, 2))}).",
    )
    case(
        "collectives without bytes over their link",
        "category",
        [kernel("all-reduce.1", 1, 80, "all-reduce"), kernel("b", 10, 20, B)],
        f"Collectives take {pct(F(8, 10))} of the time.",
        f"The one to fix first could save up to {s(10)} of {s(100)}.",
    )


def calls(kind: str, size: int, ranks: int, *times: F | int) -> list[dict[str, Any]]:
    told: dict[str, Any] = {"collective": kind, "size": size, "ranks": ranks}
    return [kernel(f"{kind}.{size}", None, time, "collective", **told) for time in times]


def message(kind: str, size: int, ranks: int, *times: F | int) -> dict[str, Any]:
    """Return equal calls as one message, with the time that ranks waited at most; None if it is unknown."""
    waited = None if kind == "broadcast" or len(times) == 1 else float(sum(times) - len(times) * min(times))
    told = {"kind": kind, "size": size, "ranks": ranks, "count": len(times), "time": float(sum(times))}
    return {**told, "fastest": float(min(times)), "waiting": waited}


def exposed_cases() -> None:
    sent = [("all-reduce", 8 * 10**9, 4, F(1, 5), F(1, 2)), ("broadcast", 10**9, 4, F(1, 10), F(1, 5))]
    rows = [kernel("a", 1, F(33, 10), A), *calls(*sent[0]), *calls(*sent[1])]
    # 0.8 s of 1 s are exposed, and other kernels run 3.2 s.
    times = {"time": 1.0, "other": 3.2, "hidden": 0.2}
    told: dict[str, Any] = {"messages": [message(*one) for one in sent], "communication": times}
    headline = f"Exposed communication takes {pct(F(8, 40))} of the busy time."
    detail = f"It runs for {s(1)}, {pct(F(1, 5))} of it hidden behind other kernels."
    waited = f"{detail} In all calls of the same messages together, ranks waited at most {s(F(3, 10))}."
    case("exposed 20 %", "exposed", rows, headline, waited, **told)
    case("exposed, no sizes", "exposed", [kernel("a", 1, 4, A)], headline, detail, communication=times)
    case(
        *(
            "exposed, none hidden",
            "exposed",
            [kernel("a", 1, 4, A)],
            f"Exposed communication takes {pct(F(1, 4))} of the busy time.",
        ),
        f"It runs for {s(1)}, none of it hidden behind other kernels.",
        communication={"time": 1.0, "other": 3.0, "hidden": 0.0},
    )
    case("exposed without a chip", "exposed", rows, headline, waited, chip=False, **told)
    # On a ring, a rank sends 2 * 3/4 * 8 GB twice, and 1 GB twice. A switch that adds gets 8 GB twice.
    for topology, sums in (("ring", 12), ("in-network", 8)):
        least = F(2 * sums + 2 * 1, 50)
        case(
            f"exposed with a what-if of the link, {topology}",
            "exposed",
            rows,
            headline,
            f"With your what-if: over a link of 50 GB/s the same messages need at least {s(least)} instead of "
            f"{s(2 * least)}.",
            links=[50e9, 25e9],
            topology=topology,
            **told,
        )
    case(
        "exposed 19.9 %",
        "spread",
        [kernel("a", 1, 2, A), kernel("b", 1, 2, B)],
        f"Up to {s(2)} of {s(4)} could be saved: kernels run at {pct(F(1, 2))} of their roofs.",
        f"Most could be saved in a ({pct(F(1, 2))}) and b ({pct(F(1, 2))}).",
        communication={"time": 1.0, "other": 3.201, "hidden": 0.204},
    )


def above_cases() -> None:
    words = "Most kernels are above the roof: the chip or the counts are wrong."
    detail = f"{{}} less time than the roof of {ON} allows. Check the chip, the precision, the FLOPs and the bytes."
    case(
        "51 % above the roof",
        "above",
        [kernel("a", 100, 51, A), kernel("b", 10, 49, B)],
        words,
        detail.format("1 of 2 kernels needs"),
        is_alert=True,
    )
    case(
        "above the roof comes before idle",
        "above",
        [kernel("a", 100, 30, A), kernel("c", 100, 21, A), kernel("b", 10, 49, B), idle(900)],
        words,
        detail.format("2 of 3 kernels need"),
        is_alert=True,
    )
    case(
        "50 % above the roof",
        "spread",
        [kernel("a", 100, 50, A), kernel("b", 10, 50, B)],
        f"Up to {s(40)} of {s(100)} could be saved: kernels run at {pct(F(1, 5))} of their roofs.",
        "Most could be saved in b (100 %).",
    )
    case(
        "4 % above the roof",
        "near",
        [kernel("a", 104, 100, A), kernel("b", 104, 100, B)],
        f"Kernels run at 100 % of their roofs: little is left to save on {ON}.",
    )
    case(
        "one kernel, 4 % above the roof",
        "near",
        [kernel("a", 104, 100, A)],
        f"a runs at 100 % of its roof: little is left to save on {ON}.",
    )


def saving_cases() -> None:
    case(
        "one kernel",
        "one",
        [kernel("matmul", F(9, 25), 1, A)],
        f"matmul runs at {pct(F(9, 25))} of its roof: up to {s(F(16, 25))} of {s(1)} could be saved.",
        f"It is memory-bound: at its roof {s(F(9, 25))} would remain.",
    )
    case(
        "one kernel and idle time",
        "one",
        [on_compute("matmul", 4, 9, A), idle(1)],
        f"matmul runs at {pct(F(4, 9))} of its roof: up to {s(5)} of {s(10)} could be saved.",
        f"It is compute-bound: at its roof {s(4)} would remain.",
    )
    case(
        "9.9 % to save",
        "near",
        [kernel("a", 451, 500, A), kernel("b", 450, 500, B)],
        f"Kernels run at {pct(F(901, 1000))} of their roofs: little is left to save on {ON}.",
        f"The 2 to fix first could save up to {s(99)}; at every roof {s(901)} would remain.",
    )
    case(
        "10 % to save",
        "spread",
        [kernel("a", 450, 500, A), kernel("b", 450, 500, B)],
        f"Up to {s(100)} of {s(1000)} could be saved: kernels run at {pct(F(9, 10))} of their roofs.",
        f"Most could be saved in a ({pct(F(1, 2))}) and b ({pct(F(1, 2))}).",
    )
    # Five kernels save 10 s each; six save 8 1/3 s each, together as much.
    case(
        "the first five save half",
        "first",
        [*many(5, 10, 20, A), *many(5, 10, 20, B)],
        f"5 of 10 kernels hold most of what could be saved: up to {s(50)} of {s(200)}.",
        f"At every roof {s(100)} would remain.",
    )
    case(
        "the first five save less than half",
        "spread",
        [*many(7, 10, 20, A), *many(4, 10, 20, B)],
        f"Up to {s(110)} of {s(220)} could be saved: kernels run at {pct(F(1, 2))} of their roofs.",
        f"No kernel stands out: the 5 to fix first could save up to {s(50)}. Most could be saved in {A} "
        f"({pct(F(7, 11))}) and {B} ({pct(F(4, 11))}).",
    )
    case(
        "a second category with less than 10 %",
        "spread",
        [*many(12, 10, 20, A)[:7], *many(4, 10, 20, None), kernel("b", 10, 19, B)],
        f"Up to {s(119)} of {s(239)} could be saved: kernels run at {pct(F(120, 239))} of their roofs.",
        f"No kernel stands out: the 5 to fix first could save up to {s(50)}. Most could be saved in {A} "
        f"({pct(F(70, 119))}).",
    )


def unknown_cases() -> None:
    give = "Give FLOPs and bytes to see what could be saved."
    rest = "Without FLOPs and bytes nothing can be said of the other kernels."
    case(
        "no known roof",
        "unjudged",
        [kernel("a", None, 1), kernel("b", None, 1)],
        "No kernel has a known roof.",
        give,
    )
    case("one kernel without a known roof", "unjudged", [kernel("a", None, 1)], "The kernel has no known roof.", give)
    case(
        "49 % with a known roof",
        "unjudged",
        [kernel("a", 9, 49, A), kernel("b", None, 51, B)],
        f"Only {pct(F(49, 100))} of kernel time has a known roof.",
        f"{rest} The one to fix first could save up to {s(40)}.",
    )
    case(
        "50 % with a known roof",
        "spread",
        [kernel("a", 10, 50, A), kernel("b", None, 50, B)],
        f"Up to {s(40)} of {s(100)} could be saved: kernels run at {pct(F(1, 5))} of their roofs.",
        "Most could be saved in a (100 %).",
    )
    case(
        "no chip",
        "no roof",
        [kernel("a", 1, 2, A), kernel("b", 1, 2, B)],
        f"2 kernels in {s(4)}.",
        "Show the chip that they ran on to see what could be saved.",
        chip=False,
    )


def run_cases() -> None:
    before = [kernel("a", 1, 60, A), kernel("b", 1, 30, B), kernel("c", 1, 10, C)]

    def now(a: F | int, b: F | int, c: F | int) -> list[dict[str, Any]]:
        return [kernel("a", 1, a, A), kernel("b", 1, b, B), kernel("c", 1, c, C)]

    all_three = "All 3 kernels are in both runs."
    case(
        "less time",
        "runs",
        now(50, 34, 10),
        f"{pct(F(6, 100))} less time: {s(100)} before, {s(94)} now.",
        f"1 kernel faster (−{s(10)}), 1 slower (+{s(4)}), 1 the same within 1 %. {all_three}",
        earlier=before,
    )
    ms = F(1, 1000)
    case(
        "milliseconds",
        "runs",
        now(F("28.05") * ms, F("10.326") * ms, 4 * ms),
        f"{pct(F('1.864') / F('44.24'))} less time: 44.2 ms before, 42.4 ms now.",
        f"1 kernel faster (−2.19 ms), 1 slower (+326 µs), 1 the same within 1 %. {all_three}",
        earlier=[kernel("a", 1, F("30.24") * ms, A), kernel("b", 1, 10 * ms, B), kernel("c", 1, 4 * ms, C)],
    )
    case(
        "more time",
        "runs",
        now(80, 40, 10),
        f"{pct(F(30, 100))} more time: {s(100)} before, {s(130)} now.",
        f"2 kernels slower (+{s(30)}), 1 the same within 1 %. {all_three}",
        earlier=before,
    )
    case(
        "1 % less time is no change",
        "runs",
        now(60, 29, 10),
        f"No change: {s(100)} before and now.",
        f"1 kernel faster (−{s(1)}), 2 the same within 1 %. {all_three}",
        earlier=before,
    )
    case(
        "1.1 % more time is a change",
        "runs",
        now(60, F(311, 10), 10),
        f"{pct(F(11, 1000))} more time: {s(100)} before, {s(F(1011, 10))} now.",
        f"1 kernel slower (+{s(F(11, 10))}), 2 the same within 1 %. {all_three}",
        earlier=before,
    )
    case(
        "a factor of 1.5",
        "runs",
        [kernel("a", 1, 40, A), kernel("d", 1, 24, B)],
        f"1.5× as fast: {s(96)} before, {s(64)} now.",
        f"1 kernel faster (−{s(46)}). 1 only before, 1 only now.",
        earlier=[kernel("a", 1, 86, A), kernel("b", 1, 10, B)],
    )
    case(
        "a factor just below 1.5",
        "runs",
        [kernel("a", 1, 64, A)],
        f"{pct(F(31, 95))} less time: {s(95)} before, {s(64)} now.",
        f"1 kernel faster (−{s(31)}). The kernel is in both runs.",
        earlier=[kernel("a", 1, 95, A)],
    )
    case(
        "twice the time",
        "runs",
        [kernel("a", 1, 42, A)],
        f"2.1× the time: {s(20)} before, {s(42)} now.",
        f"1 kernel slower (+{s(22)}). The kernel is in both runs.",
        earlier=[kernel("a", 1, 20, A)],
    )
    case(
        "nothing matches",
        "no match",
        [kernel("x", 1, 2, A), idle(50)],
        "No kernel of the two runs has the same name.",
        f"Only totals can be compared: {s(60)} before, {s(52)} now. If the runs come from different tools, their names "
        "differ.",
        is_alert=True,
        earlier=[kernel("y", 1, 10, A), idle(50)],
    )


def graph_cases() -> None:
    four = [kernel(name, 1, None, B) for name in "abcd"]
    fusion = {
        "seconds": 4.0,
        "best_seconds": 1.0,
        "best_kernels": 1,
        "is_exact": True,
        "kernels": 4,
        "memory_bound": 4,
        "is_unfused": True,
        "bytes": 4.29e9,
        "least_bytes": 1.07e9,
    }
    least = f"where the graph needs at least {s(107 * 10**7, 'B')}."
    moved = s(429 * 10**7, "B")
    case(
        "fused into one kernel",
        "graph",
        four,
        "Fused into one kernel, this graph runs 4× as fast.",
        f"Unfused, all 4 kernels are memory-bound: they move {moved} {least}",
        fusion=fusion,
    )
    case(
        "fused into three kernels",
        "graph",
        four,
        "Fused into 3 kernels, this graph runs 1.6× as fast.",
        f"As it is, 3 of 4 kernels are memory-bound: they move {moved} {least}",
        fusion={**fusion, "best_kernels": 3, "best_seconds": 2.5, "memory_bound": 3, "is_unfused": False},
    )
    case(
        "the best partition",
        "graph",
        four[:1],
        f"This partition is the best for {ON}.",
        f"As it is, the kernel is memory-bound: it moves {s(107 * 10**7, 'B')} {least}",
        fusion={
            **fusion,
            "seconds": 1.0,
            "kernels": 1,
            "memory_bound": 1,
            "is_unfused": False,
            "bytes": fusion["least_bytes"],
        },
    )
    case(
        "the best partition that was found",
        "graph",
        four,
        f"This partition is the best found for {ON}.",
        f"Unfused, none of the 4 kernels are memory-bound: they move {moved} {least}",
        fusion={**fusion, "seconds": 1.0, "is_exact": False, "memory_bound": 0},
    )


def unmeasured_cases() -> None:
    case(
        "kernels without times",
        "unmeasured",
        [*[kernel(name, 1, None) for name in "abc"], on_compute("d", 2, None)],
        f"4 kernels: 3 memory-bound, 1 compute-bound on {ON}.",
        f"At their roofs they need {s(5)}.",
    )
    case(
        "kernels without times, some unknown",
        "unmeasured",
        [kernel("a", 1, None), kernel("b", None, None)],
        f"2 kernels: 1 memory-bound, 1 of unknown bound on {ON}.",
        f"At their roofs they need at least {s(1)}.",
    )
    case(
        "kernels without times, all alike",
        "unmeasured",
        [kernel("a", 1, None), kernel("b", 1, None)],
        f"2 kernels, all memory-bound on {ON}.",
        f"At their roofs they need {s(2)}.",
    )
    case(
        "one kernel without a time",
        "unmeasured",
        [kernel("a", 1, None)],
        f"a is memory-bound on {ON}.",
        f"At its roof it needs {s(1)}.",
    )
    case(
        "no times and no chip",
        "unmeasured",
        [kernel("a", 1, None), kernel("b", 1, None)],
        "2 kernels without times.",
        "Show a chip to see what bounds them.",
        chip=False,
    )
    case("nothing", "nothing", [], "")


def main() -> None:
    for write in (idle_cases, exposed_cases, category_cases, above_cases, saving_cases, unknown_cases):
        write()
    run_cases()
    graph_cases()
    unmeasured_cases()
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in CASES)
    (HERE / "verdicts.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
