"""Measured rates of servers against `serve`: none is above "at most", and the bounds are those of a count by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import roofwidget as rw
from tests.workloads.hf_configs import CONFIGS

# DeepSeek-V3 by hand: FLOPs of matrices per token with and without logits, FLOPs of attention per pair of tokens in
# decode and in prefill, and bytes of the cache per token. Bytes of weights on a chip that reads one routed expert a
# layer: attention, dense layers and experts in fp8, routers and logits in 16 bits.
MATRICES: Final = 2 * 36_624_596_992
LAYERS: Final = MATRICES - 2 * 129_280 * 7168
DECODE_PAIR: Final = 61 * 2 * 128 * 1088
PREFILL_PAIR: Final = 61 * 2 * 128 * 320
CACHE: Final = 61 * 576 * 2
WEIGHTS: Final = 19.78e9


class Chip(NamedTuple):
    """Peak of the matrices, peak of attention and bandwidth."""

    matrices: float
    attention: float
    bandwidth: float


PAGE: Final = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
HOPPER: Final = Chip(1979e12, 989.5e12, 3.35e12)
ASCEND: Final = Chip(1504e12, 752e12, 3.2e12)


def deepseek(chip: str, chips: int, batch: int, context: int, **more: Any) -> rw.Serving:
    """Return DeepSeek-V3 with its experts on `chips` chips, each of which has `batch` sequences."""
    options = {"dtype": "fp8", "attention_dtype": "bf16", "cache_dtype": "bf16", **more}
    return rw.serve(CONFIGS["DeepSeek-V3"], chip, ep=chips, batch=batch * chips, context=context, **options)


def check_row(measured: float, most: float) -> None:
    """Assert that the table of the page has a measured rate and the bound."""
    assert f" | {measured:,} | {round(most, -1):,.0f} | {measured / most:.0%} |".replace("%", " %") in PAGE


def decode_by_hand(chip: Chip, batch: int, context: int) -> float:
    compute = batch * (MATRICES / chip.matrices + DECODE_PAIR * context / chip.attention)
    return batch / max(compute, (WEIGHTS + batch * context * CACHE) / chip.bandwidth)


@pytest.mark.parametrize(
    ("where", "batch", "context", "measured", "bound"),
    [
        # deepseek-ai/open-infra-index, day 6: 14.8k tokens/s a node of eight. The batch is that of a table of LMSYS.
        (("h800", 144), 128, 4989, 1850, 6632),
        # deepseek-ai/profile-data.
        (("h800", 128), 128, 4096, 2325, None),
        # lmsys.org/blog/2025-05-05-large-scale-ep.
        (("h100-sxm", 72), 256, 2000, 2785, 14_015),
        (("h100-sxm", 72), 128, 4000, 2172, None),
    ],
)
def test_decode_of_deepseek_v3_was_measured_below_at_most_and_below_serial(
    where: tuple[str, int], batch: int, context: int, measured: float, bound: float | None
) -> None:
    chip, chips = where
    made = deepseek(chip, chips, batch, context)
    most = made.tokens_per_second / chips
    assert most == pytest.approx(decode_by_hand(HOPPER, batch, context), rel=0.005)
    if bound is not None:
        assert most == pytest.approx(bound, rel=0.005)
    assert measured < made.serial_tokens_per_second / chips < most
    check_row(measured, most)


def test_serial_is_not_a_bound_of_two_parts_with_different_limits() -> None:
    # 256 sequences of 2,000 tokens: compute takes 18.27 ms. Matrices are compute-bound, attention is memory-bound.
    made = deepseek("h100-sxm", 72, 256, 2000, network="none")
    assert made.decode.compute_time == pytest.approx(18.27e-3, rel=0.001)
    assert made.serial_tokens_per_second / 72 == pytest.approx(12_664, rel=0.001)
    assert made.tokens_per_second / 72 == pytest.approx(14_015, rel=0.001)


@pytest.mark.parametrize(
    ("prompt", "measured", "bound"), [(1024, 7209, 25_860), (2048, 6818, 24_240), (4096, 6288, 21_540)]
)
def test_prefill_of_deepseek_v3_was_measured_below_at_most(prompt: int, measured: float, bound: float) -> None:
    # lmsys.org/blog/2025-05-05-large-scale-ep: prefill on four nodes of eight H100.
    made = deepseek("h100-sxm", 32, 16_384 // prompt, prompt)
    most = made.prefill.tokens_per_second / 32
    by_hand = 1 / (LAYERS / HOPPER.matrices + PREFILL_PAIR * (prompt + 1) / 2 / HOPPER.attention)
    assert most == pytest.approx(by_hand, rel=0.005)
    assert most == pytest.approx(bound, rel=0.005)
    assert measured < most
    check_row(measured, most)
    # deepseek-ai/open-infra-index, day 6: 73.7k tokens/s a node, of which 56.3 % were in a cache of prefixes.
    assert most > 73_700 * (1 - 0.563) / 8


def test_prefill_and_decode_on_ascend_were_measured_below_at_most() -> None:
    # arXiv 2506.12708: prompts of 4,096 tokens, 6,688 tokens/s; decode in less than 50 ms, 1,943 tokens/s.
    made = deepseek("ascend-910c", 32, 96, 4096, dtype="int8", network="none")
    assert made.prefill.tokens_per_second / 32 == pytest.approx(16_370, rel=0.005)
    assert made.prefill.tokens_per_second / 32 > 6688
    check_row(6688, made.prefill.tokens_per_second / 32)
    compute = 96 / made.decode.compute_time
    assert compute == pytest.approx(7080, rel=0.005)
    assert 1943 < made.tokens_per_second / 32 <= compute
    assert made.tokens_per_second / 32 == pytest.approx(decode_by_hand(ASCEND, 96, 4096), rel=0.005)


@pytest.mark.parametrize(
    ("dtype", "attention", "decode", "prefill"), [("fp4", "fp8", 13_386, 26_156), ("fp8", "bf16", 9087, 18_471)]
)
def test_deepseek_on_a_rack_of_gb200_was_measured_below_at_most(
    dtype: str, attention: str, decode: float, prefill: float
) -> None:
    # lmsys.org/blog/2025-09-25-gb200-part-2: 12 nodes of four, 2,000 tokens.
    made = deepseek("gb200", 48, 768, 2000, dtype=dtype, attention_dtype=attention)
    assert decode < made.tokens_per_second / 48
    assert prefill < made.prefill.tokens_per_second / 48


@pytest.mark.parametrize(
    ("prompt", "output", "measured", "bound"),
    [(2048, 128, 463.1, 1146), (32_768, 2048, 320.1, 983), (120_000, 2048, 71.5, 203)],
)
def test_llama_405b_on_eight_h200_was_measured_below_the_compute_of_its_requests(
    prompt: int, output: int, measured: float, bound: float
) -> None:
    # NVIDIA technical blog, August 2024: Llama 3.1 405B in fp8, output tokens per second of the box.
    made = rw.serve("llama-3-405b", "h200-sxm", tp=8, dtype="fp8", prompt=prompt, context=prompt + output // 2)
    request = made.prefill.compute_time + output * made.decode.compute_time
    assert output / request == pytest.approx(bound, rel=0.005)
    assert measured < output / request
    assert measured < made.at(1024).tokens_per_second


@pytest.mark.parametrize(("chip", "measured"), [("mi355x", 12_535), ("b300", 13_415)])
def test_llama_2_70b_on_eight_chips_was_measured_below_at_most(chip: str, measured: float) -> None:
    # MLPerf Inference v6.0, server: 100,282 tokens/s on eight MI355X and 107,317 on eight B300. Bound of decode alone.
    made = rw.serve("llama-2-70b", chip, dtype="fp4", batch=4096, context=64)
    matrix = 68_976_648_192 - 32_000 * 8192 - 161 * 8192
    assert made.decode.compute_time > 4096 * 2 * matrix / rw.chip(chip).peak("fp4")
    assert measured < made.tokens_per_second < rw.chip(chip).peak("fp4") / (2 * matrix)
