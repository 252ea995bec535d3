"""Exercises on links: the printed answers, and an independent formula of each prompt's numbers."""

from __future__ import annotations

from collections.abc import Callable

from tests.teaching.bank.prompts import answers_by_prompt, made, numbers

PRINTED = {
    "exposed-communication-roof": "1845.6e12",
    "contraction-over-two-chips": "8755.6",
    "all-gather-on-a-ring": "373e-6",
    "all-gather-on-a-line": "559e-6",
    "all-reduce-time": "3.89e-3",
    "data-parallel-batch": "2550.000000000",
}


CHOICES = {
    "hidden-communication-roof": "At 2.307 PFLOP/s",
    "data-parallel-limit": "The all-reduce",
}


FORMULAS: dict[str, Callable[..., float]] = {
    "exposed-communication-roof": lambda p, share: p * (100 - share) / 100,
    "contraction-over-two-chips": lambda p, e, w: e * p / w,
    "all-gather-on-a-ring": lambda rows, columns, e, _n, w: rows * columns * e / (2 * w),
    "all-gather-on-a-line": lambda rows, columns, e, n, w: (n - 1) / n * rows * columns * e / w,
    "all-reduce-time": lambda n, v, w: 2 * (n - 1) / n * v / w,
    "data-parallel-batch": lambda p, w, flops, _e, sent: sent * p / (flops * w),
}


def test_three_shares_of_exposed_communication_have_the_printed_roofs() -> None:
    guide = {"precision": "bf16", "peak": 2307e12, "bandwidth": 7.2e12}
    roofs = [made("exposed-communication-roof", chip=guide, share=share).answer for share in (20, 40, 60)]
    assert [round(roof / 1e12, 1) for roof in roofs] == [1845.6, 1384.2, 922.8]


def test_hidden_communication_leaves_the_roof_at_the_peak() -> None:
    found = answers_by_prompt("hidden-communication-roof")
    assert len(found) == 9
    assert all(answer.removeprefix("At ") in prompt for prompt, answer in found.items())


def test_gradients_are_hidden_from_the_peak_over_the_bandwidth_on() -> None:
    found = answers_by_prompt("data-parallel-limit")
    for prompt, answer in found.items():
        peak, bandwidth, *_, tokens = numbers(prompt)
        assert answer == ("The backward pass" if tokens >= peak / bandwidth else "The all-reduce")
    assert (len(found), len(set(found.values()))) == (5, 2)
