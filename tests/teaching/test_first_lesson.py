"""The first lesson: its numbers, its words before they are used, and what its pictures do not show yet."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

import roofwidget as rw
from tests.teaching.test_lessons import cells_of, ran, texts_of

LESSON = "01_first_roofline.ipynb"
# NVIDIA's data sheet of the H100 SXM, dense bf16. Of TPU v5p as the TPU guide prints it.
H100_PEAK, H100_BANDWIDTH = Fraction("989.5e12"), Fraction("3.35e12")
V5P_PEAK, V5P_BANDWIDTH = Fraction("459e12"), Fraction("2.76e12")
# Two products and sums for each of N^3; two matrices read and one written. 20 FLOPs for each number, read and written.
A_FLOPS, A_BYTES = 2 * 4000**3, 3 * 4000**2 * 2
B_FLOPS, B_BYTES = 20 * 6_400_000_000, 2 * 6_400_000_000 * 2
B_PLACE, C_PLACE = Fraction(B_FLOPS, B_BYTES), Fraction(2 * 600**3, 3 * 600**2 * 2)
RIDGE = H100_PEAK / H100_BANDWIDTH
MEASURED = Fraction("9.1e-3")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return ran(cells_of(LESSON)[:2])


@pytest.fixture(scope="module")
def steps(names: dict[str, Any]) -> list[rw.Step]:
    return [*names["first"].steps, *names["second"].steps]


@pytest.fixture(scope="module")
def questions(steps: list[rw.Step]) -> dict[str, rw.Question]:
    return {step.question.key: step.question for step in steps if step.question}


@pytest.fixture(scope="module")
def pictures(names: dict[str, Any]) -> dict[str, str]:
    """Return the picture of each step of the first story, and of each answer, with its alternative text."""
    return {slide.key: slide.picture.svg for slide in names["first"]._slides()}


def texts(step: rw.Step) -> list[str]:
    """Return all that a learner may read at a step."""
    asked = step.question
    assert asked
    said = [*asked.options, *asked.options.values(), *asked.wrong_answers.values()]
    return [step.caption, asked.prompt, *said, asked.method, asked.explanation]


def test_the_two_programs_do_128_gflop_and_need_times_59_fold_apart() -> None:
    assert A_FLOPS == B_FLOPS == 128e9
    a, b = (max(f / H100_PEAK, m / H100_BANDWIDTH) for f, m in ((A_FLOPS, A_BYTES), (B_FLOPS, B_BYTES)))
    assert f"{float(a * 1000):.2f} ms, {float(b * 1000):.1f} ms" == "0.13 ms, 7.6 ms"
    assert round(b / a) == 59
    assert b / a == RIDGE / B_PLACE
    # With units twenty times as fast as the vector units, or only with these (67 TFLOP/s), B takes as long.
    assert B_FLOPS / Fraction("67e12") < b


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("flops-a", A_FLOPS),
        ("bytes-b", B_BYTES),
        ("time-b", B_BYTES / H100_BANDWIDTH),
        ("place-b", B_PLACE),
        ("rate-b", B_PLACE * H100_BANDWIDTH),
        ("ridge", RIDGE),
        ("bandwidth-c", H100_PEAK / C_PLACE),
    ],
)
def test_each_number_is_that_of_its_formula(questions: dict[str, rw.Question], key: str, answer: Fraction) -> None:
    assert questions[key].answer == pytest.approx(float(answer), rel=1e-12)


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ("flops-a", "64 GFLOP", "addition"),
        ("bytes-b", "12.8 GB", "written back"),
        ("bytes-b", "51.2 GB", "2 bytes"),
        ("time-b", "129 us", "arithmetic"),
        ("time-b", "7.77 ms", "the sum"),
        ("place-b", "0.2", "bytes over FLOPs"),
        ("rate-b", "989.5 TFLOP/s", "the peak"),
        ("ridge", "0.0034", "inverted"),
        ("ridge", "3315", "product"),
    ],
)
def test_usual_wrong_numbers_are_told_why(questions: dict[str, rw.Question], key: str, given: str, said: str) -> None:
    verdict = questions[key].check(given)
    assert not verdict.correct
    assert said in verdict.message


def test_the_time_of_b_is_right_with_two_digits_and_wrong_as_a_sum(questions: dict[str, rw.Question]) -> None:
    given = ("7.6 ms", "7.64 ms", "7.65 ms", "7.77 ms", "7.8 ms")
    assert [questions["time-b"].check(one).correct for one in given] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("key", "printed"),
    [
        ("flops-a", f"{A_FLOPS / 1e9:.0f} GFLOP"),
        ("bytes-b", f"{B_BYTES / 1e9:.1f} GB"),
        ("bytes-b", f"{A_BYTES / 1e6:.0f} MB"),
        ("time-b", f"{float(B_BYTES / H100_BANDWIDTH) * 1e3:.2f} ms"),
        ("time-b", f"{float(B_FLOPS / H100_PEAK) * 1e3:.3f} ms"),
        ("place-b", f"128 G / 96 M = {A_FLOPS / A_BYTES:.0f} FLOP/B"),
        ("rate-b", f"{float(B_PLACE * H100_BANDWIDTH) / 1e12:.2f} TFLOP/s"),
        ("rate-b", f"{float(B_PLACE / RIDGE) * 100:.1f} % of the peak"),
        ("ridge", f"{float(RIDGE):.1f} FLOP/B"),
        ("v5p-b", f"{float(V5P_PEAK / V5P_BANDWIDTH):.1f} FLOP/B"),
        ("v5p-b", f"{float(B_PLACE * V5P_BANDWIDTH) / 1e12:.1f} TFLOP/s"),
        ("c-two-chips", f"{float(C_PLACE):.0f} FLOP/B"),
        ("c-two-chips", f"left of {float(RIDGE):.1f}, and right of {float(V5P_PEAK / V5P_BANDWIDTH):.1f} FLOP/B"),
        ("bandwidth-c", f"{float(H100_PEAK / C_PLACE) / 1e12:.2f} TB/s"),
        ("worth", f"{float(B_BYTES / H100_BANDWIDTH / MEASURED):.0%}".replace("%", " %")),
        ("worth", f"{float(B_FLOPS / MEASURED / H100_PEAK) * 100:.1f} % of the peak"),
        ("worth", f"{float(1 - B_BYTES / H100_BANDWIDTH / MEASURED):.0%}".replace("%", " %")),
    ],
)
def test_a_step_prints_the_number_of_its_formula(steps: list[rw.Step], key: str, printed: str) -> None:
    (step,) = (one for one in steps if one.question and one.question.key == key)
    assert printed in " ".join(texts(step))


def test_c_is_memory_bound_on_one_chip_and_compute_bound_on_the_other(names: dict[str, Any]) -> None:
    assert V5P_PEAK / V5P_BANDWIDTH < C_PLACE < RIDGE
    limits = [str(rw.bound(names["c"], names[chip]).regime[0]) for chip in ("h100", "v5p")]
    assert limits == ["memory", "compute"]


def test_each_word_is_defined_in_bold_by_the_first_step_that_uses_it(steps: list[rw.Step]) -> None:
    words = (
        *("FLOP", "bytes", "peak", "bandwidth", "memory", "arithmetic intensity", "slope", "flat part", "kernel"),
        *("roof", "ridge point", "memory-bound", "compute-bound"),
    )
    for word in words:
        used = re.compile(rf"\b{word}(?![\w-])", re.IGNORECASE)
        first = next(step for step in steps if used.search(" ".join(texts(step))))
        bold = " ".join(re.findall(r"\*\*(.*?)\*\*", first.caption))
        assert used.search(bold), word


def test_no_picture_and_no_alternative_text_has_the_ridge_point_before_it_was_asked_for(
    pictures: dict[str, str],
) -> None:
    shown = [key for key, svg in pictures.items() if f"{float(RIDGE):.1f}" in svg]
    assert shown == ["step-7-answer", "step-8", "step-8-answer"]


def test_the_pictures_show_neither_the_place_nor_the_rate_of_b_before_they_were_asked_for(
    pictures: dict[str, str],
) -> None:
    named = [key for key, svg in pictures.items() if re.search(r">B<", svg)]
    assert named == ["step-6-answer", "step-7-answer", "step-8", "step-8-answer"]


def test_the_solution_prints_what_its_text_says(capsys: pytest.CaptureFixture[str]) -> None:
    ran(["import roofwidget as rw", cells_of(LESSON)[-1]])
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()] == [
        "0.0833 FLOP/B",
        "H100 358.2 µs, 0.42% of peak",
        "twice the peak 358.2 µs, 0.21% of peak",
        "twice the bandwidth 179.1 µs, 0.83% of peak",
    ]
    n, peak = 10**8, Fraction("67e12")
    time = Fraction(12 * n) / H100_BANDWIDTH
    told = texts_of(LESSON)
    for said in (
        f"1 / 12 = {1 / 12:.4f} FLOP/B",
        f"{float(time) * 1e6:.0f} µs",
        f"{float(n / peak) * 1e6:.1f} µs",
        f"{float(n / time) / 1e12:.3f} TFLOP/s, {float(n / time / peak) * 100:.2f} % of 67 TFLOP/s",
        f"67 / 3.35 = {float(peak / H100_BANDWIDTH):.0f} FLOP/B",
        f"Twice the bandwidth: {float(time) / 2 * 1e6:.0f} µs",
        f"gets {float(Fraction(8 * n) / H100_BANDWIDTH) * 1e6:.0f} µs",
    ):
        assert said in told
