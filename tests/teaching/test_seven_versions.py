"""The lesson on seven versions of a product: its recorded rates, its counts, and what it measures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

import roofwidget as rw
from tests.teaching.test_lessons import cells_of, ran, texts_of

LESSON = "14_seven_versions.ipynb"
N = 2048
FLOPS = 2 * N**3
GIGA = 1e9
# Recorded on one core of an AMD EPYC (Zen 3), numpy 2.4.6, OpenBLAS 0.3.31: the best rates, GFLOP/s.
BEST = {
    "1 loops": 0.014,
    "2 strided": 0.233,
    "3 in order": 2.22,
    "4 one row": 7.88,
    "5 two rows": 5.08,
    "5 16 rows": 24.6,
    "5 128 rows": 38.3,
    "6 blocks of 32": 12.9,
    "6 blocks of 256": 38.5,
    "7 A @ B": 43.5,
    "fp32": 92.4,
}
COPY, L3 = 32.1, 68
ROWS = {1: 7.88, 2: 5.08, 4: 9.66, 8: 17.3, 16: 24.6, 32: 31.1, 64: 35.1, 128: 38.3, 256: 39.5, 512: 39.5}


def of_rows(r: int) -> Fraction:
    """Return FLOPs for each byte: B is read for r rows, of which each is read in A and written in C."""
    return Fraction(2 * r * N * N, 8 * (N * N + 2 * r * N))


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    programs, _, story, *_ = cells_of(LESSON)
    return ran([programs, story])


@pytest.fixture(scope="module")
def told(names: dict[str, Any]) -> dict[str, str]:
    """Return all that a learner may read at each question."""
    steps = [(step, step.question) for step in names["story"].steps if step.question]
    return {
        asked.key: " ".join([step.caption, asked.prompt, *asked.options, *asked.options.values(), asked.explanation])
        for step, asked in steps
    }


def test_each_version_has_its_recorded_rate(names: dict[str, Any]) -> None:
    assert {name: float(f"{rate / GIGA:.3g}") for name, rate in names["rates"].items()} == {
        name: pytest.approx(rate, rel=5e-3) for name, rate in BEST.items()
    }
    machine = names["machine"]
    figures = [machine.peak("fp64"), machine.peak("fp32"), machine.bandwidth()]
    assert [round(figure / GIGA, 1) for figure in figures] == [43.5, 92.4, COPY]


def test_each_version_is_at_the_intensity_of_the_bytes_that_its_order_fetches(names: dict[str, Any]) -> None:
    line, number = 64, 8
    counted = {
        "1 loops": Fraction(2, 2 * line),
        "2 strided": Fraction(2, line),
        "3 in order": Fraction(2, number),
        "4 one row": of_rows(1),
        "5 two rows": of_rows(2),
        "5 16 rows": of_rows(16),
        "5 128 rows": of_rows(128),
        # Two blocks are read for 2 size³ FLOPs.
        "6 blocks of 32": Fraction(2 * 32**3, 2 * 32**2 * number),
        "6 blocks of 256": Fraction(2 * 256**3, 2 * 256**2 * number),
        "7 A @ B": Fraction(FLOPS, 3 * N * N * number),
        "fp32": Fraction(FLOPS, 3 * N * N * 4),
    }
    assert names["intensities"] == pytest.approx({name: float(place) for name, place in counted.items()}, rel=1e-15)
    ladder = names["ladder"].kernels
    assert dict(zip(ladder.names, ladder.arithmetic_intensity, strict=True)) == pytest.approx(names["intensities"])
    assert [bool(above) for above in rw.bound(ladder, names["machine"]).above_roof] == [False] * len(counted)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("how-many-times", 2500),
        ("ridge", 1.36),
        ("share-of-line", 0.125),
        ("place-of-row", 0.25),
        ("place-of-16", 3.94),
        ("fp32", 92.4e9),
    ],
)
def test_each_number_is_the_one_of_the_record(names: dict[str, Any], key: str, answer: float) -> None:
    (asked,) = (one for one in names["story"].questions if one.key == key)
    assert asked.answer == pytest.approx(answer, rel=4e-3)
    assert asked.check(answer).correct


def test_a_guess_within_a_factor_of_two_is_right(names: dict[str, Any]) -> None:
    guess = names["guess"]
    assert [guess.check(times).correct for times in (1200, 1260, 4990, 5100)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("key", "printed"),
    [
        ("how-many-times", f"{16 * 60 / 0.395:.0f}".replace("2430", "2,400")),
        ("how-many-times", f"{round(FLOPS / (98_304 / 0.007046) / 0.395, -2):,.0f} times"),
        ("ridge", f"43.5 GFLOP/s / 32.1 GB/s = {43.5 / COPY:.2f} FLOP/B"),
        ("limit-of-loops", f"{0.007046 / 49_152 * 1e9:.0f} ns for 2 FLOPs"),
        ("limit-of-loops", f"{0.014 / 43.5:.2%}".replace("%", " %")),
        ("share-of-line", f"{0.036 / N * 1e6:.1f} µs"),
        ("share-of-line", f"131 kB: {N * 64 / (0.036 / N) / GIGA:.1f} GB/s"),
        ("share-of-line", f"{0.233 / 0.01395:.0f} times as fast"),
        ("short-dots", f"16 kB in {8 * N / COPY / GIGA * 1e6:.1f} µs"),
        ("short-dots", f"a dot takes {0.003774 / N * 1e6:.1f} µs"),
        ("short-dots", f"{2.2227 / 0.233:.1f} times as fast"),
        ("place-of-row", f"{1_074_790_400 / 0.034068 / GIGA:.1f} of 32.1 GB/s"),
        ("place-of-row", f"{7.879 / 2.2227:.1f} times as fast"),
        ("small", f"B has {8 * 512 * 512 / 1e6:.1f} MB"),
        ("small", f"0.25 · 68 = {0.25 * L3:.0f} GFLOP/s"),
        ("place-of-16", f"{float(of_rows(16)):.2f} FLOP/B"),
        ("two-rows", f"{1_075_838_976 / 0.105774 / GIGA:.1f} GB/s counted"),
        ("two-rows", f"three times that is {3 * 1_075_838_976 / 0.105774 / GIGA:.1f} GB/s"),
        ("small-blocks", f"43.5 / 68 = {43.5 / L3:.2f} FLOP/B"),
        ("small-blocks", f"{2 * 32**3 / 1e3:.1f} kFLOP take {2 * 32**3 / 43.5 / GIGA * 1e6:.1f} µs"),
        ("small-blocks", f"a step takes {0.166671 / (2_147_483_648 / (2 * 32**3)) * 1e6:.1f} µs"),
        ("small-blocks", f"used {N // 256} times"),
    ],
)
def test_a_step_prints_the_number_of_its_formula(told: dict[str, str], key: str, printed: str) -> None:
    assert printed in told[key]


def test_the_table_of_rows_has_the_counted_intensities_and_the_recorded_rates() -> None:
    table = {
        line.split("|")[1].strip(): [float(cell) for cell in line.split("|")[2:-1]]
        for line in texts_of(LESSON).splitlines()
        if line.startswith(("| r |", "| counted", "| best"))
    }
    assert table["r"] == list(ROWS)
    assert table["counted FLOP/B"] == [float(f"{float(of_rows(r)):.3g}") for r in ROWS]
    assert table["best GFLOP/s"] == list(ROWS.values())


def test_the_slider_moves_the_counted_point(names: dict[str, Any]) -> None:
    (cell,) = (cell for cell in cells_of(LESSON) if "rw.dim" in cell)
    ran_with = {**names}
    exec(cell, ran_with)  # noqa: S102 - the repository's own notebook
    rows = ran_with["rows"]
    counted = [Fraction(rows.count("flops", {"r": r}), rows.count("bytes", {"r": r})) for r in ROWS]
    assert counted == [of_rows(r) for r in ROWS]


def test_the_solution_prints_the_shares_and_why_a_measurement_is_void(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    exec(cells_of(LESSON)[-1], {**names})  # noqa: S102 - the repository's own notebook
    printed = capsys.readouterr().out
    copies, row = 3 * 8 * N * N / (COPY * GIGA), 2 * N * N / (43.5 * GIGA)
    words = texts_of(LESSON)
    assert f"copies {copies * 1e3:.1f} ms a call, arithmetic {row * 1e3:.3f} ms a row: equal at r = 16" in printed
    assert "all: median 34.5 ms, 1.7 times the least\ntwo threads: median 57.5 ms, 2.9 times the least" in printed
    for r, share in ((16, 57), (64, 81), (128, 88), (512, 91)):
        assert round(ROWS[r] / 43.5 * 100) == share
        assert f"{r} rows{' reach' * (r == 16)} {share} %" in words
    for said in (
        f"take {copies * 1e3:.1f} ms",
        f"{row * 1e3:.3f} ms",
        "34.5 ms",
        "a factor of 1.7",
        "57.5 ms, 2.9 times",
    ):
        assert said in words
    assert round(4 * 43.5 / COPY, 1) == 5.4
    assert "r = 5.4" in words


def measuring() -> dict[str, Any]:
    programs, _, story, _, _, own, _, _ = cells_of(LESSON)
    return ran([programs, story, own.partition("\nmine = ")[0]])


def test_a_part_of_each_version_is_measured_with_its_flops() -> None:
    found = measuring()["versions"](n=64, seconds=0, copied_numbers=1000)
    assert {name: work for name, (work, _, _) in found.items()} == {
        "copy": 16 * 1000,
        "1 loops": 2 * 32 * 64,
        "2 strided": 2 * 64**2,
        "3 in order": 2 * 4 * 64**2,
        "4 one row": 2 * 16 * 64**2,
        "5 two rows": 2 * 16 * 64**2,
        "5 16 rows": 2 * 64 * 64**2,
        "6 blocks of 64": 2 * 64**3,
        "7 A @ B": 2 * 64**3,
    }
    assert all(0 < least <= median for _, least, median in found.values())


@pytest.mark.parametrize(("slow", "said"), [(1.9, ""), (2.1, "The machine is busy.")])
def test_a_measurement_on_a_busy_machine_is_void(slow: float, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = measuring()
    jobs = 9

    def seconds() -> Iterator[float]:
        # The clock is read at the start, before each round and twice for each job. Two fast rounds, then slow ones.
        now = 0.0
        yield now
        for round_ in count():
            yield now
            for _ in range(jobs):
                yield now
                now += 1 if round_ in (0, 1) else slow
                yield now

    clock = seconds()
    found["versions"].__globals__["time"] = SimpleNamespace(perf_counter=lambda: next(clock))
    result = found["versions"](n=64, seconds=0, copied_numbers=1000)
    assert (result is None) == bool(said)
    assert said in capsys.readouterr().out


def test_the_recorded_machine_is_described(names: dict[str, Any]) -> None:
    words = " ".join(texts_of(LESSON).split())
    for said in ("AMD EPYC (Zen 3, family 25 model 1", "numpy 2.4.6 with OpenBLAS 0.3.31", "one thread", "best of 8"):
        assert said in words
    assert re.search(r"medians up to 60 % longer", words)
    times = names["recorded"].values()
    assert max(median / least for _, least, median in times) < 1.6
