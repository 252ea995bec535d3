"""Steps of inference servers: sums over requests in the names of annotations."""

from __future__ import annotations

import numpy as np
import pytest

from roofwidget.readers.torch.steps import Requests, Step, captured_batch, step_of

MIXED = "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)"
NONE = Requests()


def of_lengths(lengths: list[tuple[int, int]]) -> Requests:
    return Requests(
        len(lengths),
        sum(s for s, _ in lengths),
        sum(k for _, k in lengths),
        sum(s * s for s, _ in lengths),
        sum(s * k for s, k in lengths),
    )


def drawn(seed: int, most_tokens: int) -> list[tuple[int, int]]:
    draw = np.random.default_rng(seed)
    tokens = draw.integers(1, most_tokens, size=draw.integers(1, 9), endpoint=True).tolist()
    return [(s, s + int(draw.integers(200))) for s in tokens]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            "execute_context_2(6144)_generation_3(3)",
            Step(Requests(2, 6144, None, None, None), Requests(3, 3, None, None, None)),
        ),
        (
            "execute_context_2(30_500)_generation_3(3)",
            Step(Requests(2, 30, None, 500, None), Requests(3, 3, None, None, None)),
        ),
        (
            "execute_context_0(0)_generation_3(3)",
            Step(NONE, Requests(3, 3, None, None, None)),
        ),
        (MIXED, Step(Requests(9, 8155, 8430, 7475785, 7671310), Requests(37, 37, 34489, 37, 34489), 8192)),
        ("step[EXTEND bs=15 toks=15360]", Step(Requests(15, 15360, None, None, None), NONE)),
        ("step[MIXED bs=2 toks=77]", Step(Requests(2, 77, None, None, None), NONE)),
        ("step[DECODE bs=32]", Step(NONE, Requests(32, 32, None, None, None))),
        (
            "step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
            Step(NONE, Requests(64, 128, 131072, 256, 262144)),
        ),
        (
            "step[EXTEND bs=2 toks=12 c_sq=12 c_sk=20 c_sqsq=80 c_sqsk=128]",
            Step(Requests(2, 12, 20, 80, 128), NONE),
        ),
        # Of 7 requests, one token each decodes in 4; the other 3 are prefill.
        (
            "step[MIXED bs=7 c_sq=12 c_sk=20 c_sqsq=80 c_sqsk=128 g_sq=4 g_sk=50 g_sqsq=4 g_sqsk=50]",
            Step(Requests(3, 12, 20, 80, 128), Requests(4, 4, 50, 4, 50)),
        ),
        (
            "prefill[bs=2 tok=14721 ctx=[7803, 6918] sqsq=108745533 sqsk=108745534 sk=14721]",
            Step(Requests(2, 14721, 14721, 108745533, 108745534), NONE),
        ),
        # As many keys as tokens: no request has context, so the squares are 7803² + 6918² = 108745533.
        (
            "prefill[bs=2 tok=14721 ctx=[7803, 6918]]",
            Step(Requests(2, 14721, 14721, 108745533, 108745533), NONE),
        ),
        ("prefill[bs=2 tok=14000 ctx=[7803, 6918]]", Step(Requests(2, 14000, None, None, None), NONE)),
        ("decode[bs=117/128 tok=117 d=117]", Step(NONE, Requests(117, 117, None, None, None), 128)),
    ],
)
def test_the_name_of_a_step_tells_its_requests(text: str, step: Step) -> None:
    assert step_of(text) == step


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ProfilerStep#3",
        "step[DECODE]",
        "step[DECODE bs=32",
        "execute_context_2(6144)",
        "execute_context_2(sq1sk2)_generation_3(3)",
        "prefill[tok=12]",
        f"execute_context_2({'9' * 19})_generation_3(3)",
        "step[" + "A" * 100_000,
        "prefill[" + "a=1 " * 50_000 + "]",
    ],
)
def test_another_annotation_is_no_step(text: str) -> None:
    assert step_of(text) is None


def test_the_batch_of_a_captured_graph_is_in_the_name_of_its_capture() -> None:
    assert [captured_batch(text) for text in ("capture_8192_PIECEWISE", "capture_32_DECODE", "capture_7", "step")] == [
        8192,
        32,
        7,
        None,
    ]


def test_the_pairs_of_a_mixed_step_are_those_of_its_sums() -> None:
    step = step_of(MIXED)
    assert step is not None
    # 7671310 - (7475785 - 8155) / 2 = 3937495.
    assert (step.prefill.pairs, step.decode.pairs, step.pairs) == (3_937_495, 34_489, 3_937_495 + 34_489)
    assert (step.sq, step.sk, step.sqsq, step.sqsk) == (8192, 42_919, 7_475_822, 7_705_799)
    assert step.count == 46


def test_a_step_without_sums_has_unknown_pairs() -> None:
    step = step_of("execute_context_2(6144)_generation_3(3)")
    assert step is not None
    assert (step.pairs, step.sk, step.sq) == (None, None, 6147)
    assert step.prefill.windowed(128) is None


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_those_of_a_walk_over_all_queries(seed: int) -> None:
    lengths = drawn(seed, most_tokens=90)
    # Query i of s sees the keys 0 to k - s + i.
    assert of_lengths(lengths).pairs == sum(k - s + i + 1 for s, k in lengths for i in range(s))


@pytest.mark.parametrize("decodes", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_the_pairs_in_a_window_are_between_their_bounds(*, seed: int, decodes: bool) -> None:
    window, lengths = 1 + 7 * seed, drawn(seed, most_tokens=1 if decodes else 90)
    bounds = of_lengths(lengths).windowed(window)
    assert bounds is not None
    exact = sum(min(window, k - s + i + 1) for s, k in lengths for i in range(s))
    assert bounds[0] <= exact <= bounds[1]


def test_the_bounds_of_a_window_are_met() -> None:
    # Without context: 100 x 10 - 10 x 9 / 2. With much context: 100 x 10. Decode: all keys but one in one request.
    assert of_lengths([(100, 100)]).windowed(10) == (955, 1000)
    assert of_lengths([(1, 50), (1, 1)]).windowed(10) == (11, 20)
    assert of_lengths([(100, 100)]).windowed(1000) == (5050, 5050)
