"""Exercises of numerical computing: printed answers, and an independent formula for every variant."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import log2

import pytest

from tests.teaching.bank.prompts import (
    check_answers,
    check_choice,
    check_drag,
    drawn,
    itemsize,
    keys_of,
    numbers,
    printed,
    rounds_to,
)

PRINTED = {
    "word-machine-ridge": "4",
    "word-machine-next-ridge": "8",
    "word-stencil-cached-intensity": "3",
    "word-stencil-two-rows-intensity": "1.5",
    "word-stencil-cached-rate": "6e9",
    "word-stencil-two-rows-rate": "3e9",
    "word-stencil-cached-next-rate": "12e9",
    "word-stencil-two-rows-next-rate": "6e9",
    "saxpy-bytes": "320e6",
    "saxpy-intensity-write-allocate": "0.125",
    "saxpy-intensity": "0.167",
    "add-in-place-intensity": "0.0417",
    "triad-intensity": "0.083",
    "triad-intensity-write-allocate": "0.0625",
    "dot-intensity": "0.125",
    "matrix-vector-intensity-limit": "0.25",
    "sgemm-with-c-intensity": "128",
    "complex-multiply-intensity": "0.25",
    "simd-gpu-peak": "384e9",
    "simd-gpu-bandwidth": "4608e9",
    "jacobi-intensity": "0.167",
    "jacobi-no-allocate-intensity": "0.25",
    "jacobi-broken-intensity": "0.10",
    "sparse-balance": "8.0",
    "sparse-intensity-limit": "0.167",
    "sparse-blocked-intensity-limit": "0.25",
    "seven-point-intensity": "0.33",
    "seven-point-no-allocate-intensity": "0.50",
    "lattice-boltzmann-intensity": "0.70",
    "lattice-boltzmann-no-allocate-intensity": "1.07",
    "fft-3d-intensity": "1.09",
    "fft-3d-no-allocate-intensity": "1.64",
    "fft-intensity-factor": "0.104",
    "n-body-intensity": "10240",
    "opteron-x2-ridge": "1.17",
    "opteron-x4-ridge": "4.46",
    "opteron-attainable": "3.75e9",
    "xeon-flops-per-operand": "54",
    # Twice the peak of 74 GFLOP/s, because the stencil has 0.5 FLOP/B; derived.
    "stencil-bandwidth-needed": "148e9",
    "sparse-place": "0.167",
}

Formula = Callable[[list[float], str], float]


def _of_dtype(flops: float, elements: float) -> Formula:
    """Return the intensity of a kernel with these FLOPs for each point, and these elements that move."""
    return lambda _, text: flops / (elements * itemsize(text))


def _word_rate(words_moved: float, more_words: float) -> Formula:
    return lambda n, _: 6 / words_moved * n[1] * more_words


FORMULAS: dict[str, Formula] = {
    "word-machine-ridge": lambda n, _: n[0] / n[1],
    "word-machine-next-ridge": lambda n, _: 4 * n[0] / (2 * n[1]),
    "word-stencil-cached-intensity": lambda n, _: n[-1] / 2,
    "word-stencil-two-rows-intensity": lambda n, _: n[-1] / 4,
    "word-stencil-cached-rate": _word_rate(2, 1),
    "word-stencil-two-rows-rate": _word_rate(4, 1),
    "word-stencil-cached-next-rate": _word_rate(2, 2),
    "word-stencil-two-rows-next-rate": _word_rate(4, 2),
    "saxpy-bytes": lambda n, _: 4 * n[0] * n[1],
    "saxpy-intensity-write-allocate": _of_dtype(2, 4),
    "saxpy-intensity": _of_dtype(2, 3),
    "add-in-place-intensity": _of_dtype(1, 3),
    "triad-intensity": _of_dtype(2, 3),
    "triad-intensity-write-allocate": _of_dtype(2, 4),
    "dot-intensity": _of_dtype(2, 2),
    "matrix-vector-intensity-limit": _of_dtype(2, 1),
    "sgemm-with-c-intensity": lambda n, _: n[0] / 8,
    "complex-multiply-intensity": _of_dtype(6, 6),
    "simd-gpu-peak": lambda n, _: n[0] * n[1] * n[2],
    "simd-gpu-bandwidth": lambda n, _: 12 * n[0] * n[1] * n[2],
    "jacobi-intensity": _of_dtype(4, 3),
    "jacobi-no-allocate-intensity": _of_dtype(4, 2),
    "jacobi-broken-intensity": _of_dtype(4, 5),
    # 6 + 4 a + 10 / nnzr with a = 1 / nnzr: the formula of the course.
    "sparse-balance": lambda n, _: 6 + 4 / n[0] + 10 / n[0],
    "sparse-intensity-limit": lambda n, _: 2 / (n[0] + n[1]),
    "sparse-blocked-intensity-limit": _of_dtype(2, 1),
    "seven-point-intensity": _of_dtype(8, 3),
    "seven-point-no-allocate-intensity": _of_dtype(8, 2),
    "lattice-boltzmann-intensity": _of_dtype(1300, 73 + 2 * 79),
    "lattice-boltzmann-no-allocate-intensity": _of_dtype(1300, 73 + 79),
    "fft-3d-intensity": lambda n, _: 5 * log2(n[1] ** 3) / 96,
    "fft-3d-no-allocate-intensity": lambda n, _: 5 * log2(n[1] ** 3) / 64,
    "fft-intensity-factor": lambda n, text: 5 / (n[0] * (2 if "bypass" in text else 3)),
    "n-body-intensity": lambda n, _: 0.625 * n[0],
    "opteron-x2-ridge": lambda n, _: n[0] / n[1],
    "opteron-x4-ridge": lambda n, _: n[0] / n[1],
    "opteron-attainable": lambda n, _: min(n[0], n[2] * n[1]),
    "xeon-flops-per-operand": lambda n, _: n[0] * n[1],
    "sparse-place": lambda n, _: 2 / (n[0] + n[1]),
    "stencil-bandwidth-needed": lambda n, _: n[0] * n[-1] / n[-2],
}
CHOICES = {"word-stencil-what-helps", "saxpy-write-allocate", "copy-intensity", "opteron-what-binds"}


@pytest.mark.parametrize(("nonzeros", "text"), [(27, "6.52"), (100, "6.14")])
def test_other_printed_sparse_matrices_are_variants_with_the_printed_balance(nonzeros: int, text: str) -> None:
    found = [one.answer for one in drawn("sparse-balance") if numbers(one.prompt)[0] == nonzeros]
    assert found
    assert rounds_to(found[0], text)


@pytest.mark.parametrize("key", FORMULAS)
def test_the_answer_is_the_printed_one_and_follows_from_the_prompt_with_any_seed(key: str) -> None:
    check_answers(key, PRINTED[key], lambda prompt: FORMULAS[key](numbers(prompt), prompt))


@pytest.mark.parametrize("key", sorted(CHOICES))
def test_every_wrong_option_has_a_text_of_its_own(key: str) -> None:
    for question in [printed(key), *drawn(key)]:
        check_choice(question)


def test_only_bandwidth_helps_a_stencil_left_of_the_ridge_point() -> None:
    for question in drawn("word-stencil-what-helps"):
        peak, words = numbers(question.prompt)[:2]
        assert peak / words > 3
        assert question.answer == "twice the memory bandwidth"
        assert f"{min(peak, 3 * 2 * words) / 1e9:g} GFLOP/s" in question.explanation


def test_the_counters_of_saxpy_show_four_arrays() -> None:
    for question in drawn("saxpy-write-allocate"):
        elements, size, counted = numbers(question.prompt)
        assert counted == 4 * elements * size
        assert question.answer == "write-allocate reads result"


def test_a_copy_has_an_intensity_of_zero() -> None:
    for question in drawn("copy-intensity"):
        assert question.answer == "0 FLOP/B"
        assert f"{1 / (2 * itemsize(question.prompt)):g} FLOP/B" in question.options


def test_the_ridge_point_of_each_machine_says_what_binds() -> None:
    for question in [printed("opteron-what-binds"), *drawn("opteron-what-binds")]:
        peak, bandwidth, flops, moved, ai = numbers(question.prompt)
        memory = flops / moved < peak / bandwidth
        assert abs(log2(ai * bandwidth / peak)) > log2(1.1)
        assert question.answer == ("memory bandwidth" if memory else "peak FLOP/s")
    assert printed("opteron-what-binds").answer == "memory bandwidth"
    assert len({question.answer for question in drawn("opteron-what-binds")}) == 2


def test_whether_a_store_first_reads_its_line_is_a_property_of_the_machine() -> None:
    # CACM 52(4), page 74: both x86 can choose, Cell uses DMA, and only the T2+ has no store without the read.
    moved: dict[str, dict[bool, float]] = {"stencil-bandwidth-needed": {}, "opteron-what-binds": {}}
    for key, by_machine in moved.items():
        for question in [printed(key), *drawn(key)]:
            n = numbers(question.prompt)
            by_machine["UltraSPARC" in question.prompt] = n[-1] if key.startswith("stencil") else n[-2]
            assert ("All its stores read the line first" in question.prompt) == ("UltraSPARC" in question.prompt)
            assert ("by DMA" in question.prompt) == ("Cell" in question.prompt)
    assert moved["stencil-bandwidth-needed"] == {False: 16}  # 0.50 FLOP/B; on the T2+ it would be at the ridge point
    assert moved["opteron-what-binds"] == {True: 1848, False: 1216}  # 0.70 and 1.07 FLOP/B


def test_a_bandwidth_of_2009_is_that_of_its_machine_and_its_program() -> None:
    # Opteron X2: a benchmark of the authors (page 69). STREAM and the tuned roof of the other machines.
    printed_by = {
        "Opteron X2": {("a benchmark of the authors", 15e9)},
        "Xeon E5345": {("STREAM", 5.9e9), ("the tuned roof of the paper's figure", 11.2e9)},
        "Opteron X4": {("STREAM", 16.6e9)},
        "UltraSPARC T2+": {("STREAM", 26e9)},
        "Cell QS20": {("STREAM", 47e9)},
    }
    found: dict[str, set[str]] = {}
    for key in ("opteron-x2-ridge", "opteron-x4-ridge"):
        for question in [printed(key), *drawn(key)]:
            name, program = re.findall(r"The (.*) does .* bandwidth by (.*?) is [0-9]", question.prompt)[0]
            assert (program, round(numbers(question.prompt)[1])) in printed_by[name]
            assert name in question.source
            assert program in question.source
            found.setdefault(key, set()).add(name)
    assert found == {"opteron-x2-ridge": set(printed_by) - found["opteron-x4-ridge"], **found}
    assert set().union(*found.values()) == set(printed_by)


def test_a_memory_delivers_a_few_hundredths_of_a_byte_for_each_flop() -> None:
    # H100: 3.35 TB/s over 67 TFLOP/s in fp32.
    for question in drawn("simd-gpu-bandwidth"):
        assert "an H100 0.05 B in fp32" in question.explanation


def test_a_sparse_product_is_left_of_the_ridge_points_of_the_four_machines() -> None:
    for question in drawn("sparse-place"):
        assert question.answer < 0.33
        assert "left of the ridge points of all four machines in the paper" in question.explanation


@pytest.mark.parametrize("key", ["sparse-place", "stencil-bandwidth-needed"])
def test_the_drag_ends_where_a_model_of_the_setup_has_the_answer(key: str) -> None:
    for question in [printed(key), *drawn(key)[:8]]:
        check_drag(question)


def test_every_exercise_of_numerical_computing_is_checked_here() -> None:
    assert keys_of("cpus") == {*FORMULAS, *CHOICES}
    assert PRINTED.keys() == FORMULAS.keys()
