"""Bounds on serving: hand counts of six public models, published tables, memory, tensor parallelism, turning points."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

import roofwidget as rw
from roofwidget.workloads import decoder, decoder_config
from tests.places import write
from tests.workloads.hf_configs import CONFIGS

PEAK: Final = 1e15
BANDWIDTH: Final = 4e12
CHIP = rw.Chip(
    "chip",
    {"bf16": PEAK, "fp8": 2 * PEAK},
    {"HBM": rw.Memory("HBM", BANDWIDTH, 100e9)},
    links={"NVLink": rw.Link("NVLink", 450e9)},
)


@dataclass(frozen=True)
class Hand:
    """Elements counted by hand. `experts` are those of one expert in all layers; `seen` are tokens of the cache."""

    matrices: int
    vectors: int
    table: int
    cache: int
    pair_flops: int
    prefill_flops: int
    tied: bool = False
    experts: int = 0
    many: int = 0
    active: int = 0

    def linear(self, batch: int) -> float:
        elements = self.matrices + self.experts * self.active + self.table
        return 2 * batch * elements / PEAK

    def weights(self, batch: int, width: int) -> float:
        touched = self.many * (1 - (1 - self.active / self.many) ** batch) if self.many else 0
        rows = 0 if self.tied else batch * width
        return 2 * (self.matrices + self.vectors + self.experts * touched + self.table + rows) / BANDWIDTH


BATCH: Final = 16
CONTEXT: Final = 8192
# Sum over queries of the keys that they see, without and with a window of 4096.
FULL: Final = CONTEXT * (CONTEXT + 1) // 2
NEAR: Final = 4096 * 4097 // 2 + (CONTEXT - 4096) * 4096

HANDS = {
    "Meta-Llama-3-8B": Hand(
        matrices=32 * (4096 * (4096 + 1024 + 1024 + 4096) + 3 * 4096 * 14336),
        vectors=65 * 4096,
        table=128256 * 4096,
        cache=32 * 2 * 1024 * CONTEXT,
        pair_flops=32 * 4 * 4096 * CONTEXT,
        prefill_flops=32 * 4 * 4096 * FULL,
    ),
    "Mistral-7B-v0.1": Hand(
        matrices=32 * (4096 * (4096 + 1024 + 1024 + 4096) + 3 * 4096 * 14336),
        vectors=65 * 4096,
        table=32000 * 4096,
        cache=32 * 2 * 1024 * 4096,
        pair_flops=32 * 4 * 4096 * 4096,
        prefill_flops=32 * 4 * 4096 * NEAR,
    ),
    "Mixtral-8x7B-v0.1": Hand(
        matrices=32 * (4096 * (4096 + 1024 + 1024 + 4096) + 4096 * 8),
        vectors=65 * 4096,
        table=32000 * 4096,
        cache=32 * 2 * 1024 * CONTEXT,
        pair_flops=32 * 4 * 4096 * CONTEXT,
        prefill_flops=32 * 4 * 4096 * FULL,
        experts=32 * 3 * 4096 * 14336,
        many=8,
        active=2,
    ),
    "Qwen3-30B-A3B": Hand(
        matrices=48 * (2048 * (4096 + 512 + 512) + 4096 * 2048 + 2048 * 128),
        vectors=97 * 2048 + 48 * 2 * 128,
        table=151936 * 2048,
        cache=48 * 2 * 512 * CONTEXT,
        pair_flops=48 * 4 * 4096 * CONTEXT,
        prefill_flops=48 * 4 * 4096 * FULL,
        experts=48 * 3 * 2048 * 768,
        many=128,
        active=8,
    ),
    "gemma-2-9b": Hand(
        matrices=42 * (3584 * (4096 + 2048 + 2048) + 4096 * 3584 + 3 * 3584 * 14336),
        vectors=(4 * 42 + 1) * 3584,
        table=256000 * 3584,
        cache=21 * 2 * 2048 * (4096 + CONTEXT),
        pair_flops=21 * 4 * 4096 * (4096 + CONTEXT),
        prefill_flops=21 * 4 * 4096 * (NEAR + FULL),
        tied=True,
    ),
    "DeepSeek-V3": Hand(
        # Queries through 1536, keys and values through 512, 64 rotated elements, 128 heads of 128 + 64 and of 128.
        matrices=61 * (7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168)
        + 3 * 3 * 7168 * 18432
        + 58 * (7168 * 256 + 3 * 7168 * 2048),
        vectors=61 * (1536 + 512 + 2 * 7168) + 58 * 256 + 7168,
        table=129280 * 7168,
        cache=61 * 576 * CONTEXT,
        pair_flops=61 * 2 * 128 * (576 + 512) * CONTEXT,
        prefill_flops=61 * 2 * 128 * (192 + 128) * FULL,
        experts=58 * 3 * 7168 * 2048,
        many=256,
        active=8,
    ),
}


def serving(name: str, **more: Any) -> rw.Serving:
    config = decoder_config(CONFIGS[name], name=name)
    return rw.serve(config, more.pop("chip", CHIP), **{"batch": BATCH, "context": CONTEXT, **more})


# -- hand counts -------------------------------------------------------------------------------------------------------


def test_the_hand_counts_cover_two_mixtures_mla_a_window_and_a_tied_embedding() -> None:
    assert sum(one.many > 0 for one in HANDS.values()) >= 2
    for name, hand in HANDS.items():
        config = decoder_config(CONFIGS[name])
        total = hand.matrices + hand.vectors + hand.experts * hand.many + hand.table * (1 if hand.tied else 2)
        assert total == config.parameters


@pytest.mark.parametrize("name", HANDS)
def test_the_bound_of_a_decode_step_is_that_of_the_hand_count(name: str) -> None:
    hand, made = HANDS[name], serving(name)
    width = decoder_config(CONFIGS[name]).hidden
    step = made.decode
    assert step.matrix_compute == pytest.approx(hand.linear(BATCH), rel=1e-12)
    assert step.weights_time == pytest.approx(hand.weights(BATCH, width), rel=1e-12)
    assert step.attention_compute == pytest.approx(BATCH * hand.pair_flops / PEAK, rel=1e-12)
    assert step.cache_time == pytest.approx(BATCH * 2 * hand.cache / BANDWIDTH, rel=1e-12)
    matrices = max(hand.linear(BATCH), hand.weights(BATCH, width))
    attention = max(BATCH * hand.pair_flops / PEAK, BATCH * 2 * hand.cache / BANDWIDTH)
    assert made.tokens_per_second == pytest.approx(BATCH / (matrices + attention), rel=1e-12)


@pytest.mark.parametrize("name", HANDS)
def test_the_time_to_the_first_token_is_that_of_the_hand_count(name: str) -> None:
    hand = HANDS[name]
    elements = hand.matrices + hand.experts * hand.active
    matrices = 2 * (CONTEXT * elements + hand.table) / PEAK
    expected = matrices + hand.prefill_flops / PEAK
    assert serving(name).time_to_first_token == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", HANDS)
def test_the_memory_is_weights_and_cache(name: str) -> None:
    made, config = serving(name), decoder_config(CONFIGS[name])
    assert made.weight_bytes == made.weight_bytes_per_chip == 2 * config.parameters
    assert made.cache_bytes == made.cache_bytes_per_chip == BATCH * 2 * HANDS[name].cache
    assert made.fits == (2 * config.parameters + BATCH * 2 * HANDS[name].cache <= 100e9)


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_the_flops_are_those_of_the_graph_of_the_same_configuration(name: str) -> None:
    config = decoder_config(CONFIGS[name])
    config = replace(config, layers=config.layers[:4])
    made = rw.serve(config, CHIP, batch=4, context=300)
    for phase, step in (("decode", made.decode), ("prefill", made.prefill)):
        graph = decoder(config, batch=4, seq=300, phase=phase)  # type: ignore[arg-type]
        # The graph computes the logits of all tokens of a prompt, serving only those of the last.
        more = 2 * 4 * 299 * config.embedding if phase == "prefill" else 0
        flops = (step.matrix_compute + step.attention_compute) * PEAK
        assert graph.count("tensor") == pytest.approx(flops + more, rel=1e-12)


# -- published tables --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("batch", "milliseconds", "rate"),
    [(1, 4.98, 201), (8, 12.13, 659), (16, 20.30, 788), (32, 36.65, 873), (64, 69.33, 923), (240, 249.09, 964)],
)
def test_the_scaling_books_table_of_llama_2_13b_on_eight_v5e_is_reproduced(
    batch: int, milliseconds: float, rate: int
) -> None:
    # The scaling book, inference: step time and tokens per second, with 13e9 parameters and 6.7e9 bytes a sequence. The
    # configuration has 1 % fewer bytes to read: a step needs only the rows of the embedding that its tokens have.
    v5e = rw.Chip("v5e", {"bf16": 1.97e14}, {"HBM": rw.Memory("HBM", 8.2e11, 16e9)})
    made = rw.serve("llama-2-13b", v5e, tp=8, batch=batch, context=8192, network="none")
    assert 1000 * made.time_per_token == pytest.approx(milliseconds, rel=0.012)
    assert made.tokens_per_second == pytest.approx(rate, rel=0.012)


def test_the_published_sizes_of_weights_are_reproduced() -> None:
    # open-source-ai.tech, Llama 3.1 405B: 810 GB in fp16.
    assert round(decoder_config("llama-3-405b").weight_bytes() / 1e10) == 81
    made = serving("gpt-oss-120b", weight_dtype="int4")
    assert made.weight_bytes == 116_829_156_672 // 2


# -- what binds --------------------------------------------------------------------------------------------------------


def test_few_sequences_are_bound_by_weights_long_ones_by_the_cache_and_prompts_by_compute() -> None:
    assert serving("Meta-Llama-3-8B", batch=1, context=100).decode.bound_by == "weights"
    assert serving("Meta-Llama-3-8B", batch=64, context=8192).decode.bound_by == "cache"
    assert serving("Meta-Llama-3-8B", batch=2000, context=1).decode.bound_by == "compute"
    assert serving("Meta-Llama-3-8B").prefill.bound_by == "compute"


def test_the_parts_add_up_to_the_time() -> None:
    for name in HANDS:
        for how in ("overlapped", "exposed", "none"):
            made = serving(name, tp=4, network=how)
            for step in (made.decode, made.prefill):
                assert sum(step.parts.values()) == pytest.approx(step.time)
                assert step.tokens_per_second == step.tokens / step.time


@pytest.mark.parametrize("name", sorted(HANDS))
def test_matrices_turn_compute_bound_at_the_stated_batch_and_not_one_before(name: str) -> None:
    made = serving(name)
    turn = made.compute_bound_from
    assert turn is not None
    assert made.at(turn).decode.matrix_compute >= made.at(turn).decode.weights_time
    assert made.at(turn - 1).decode.matrix_compute < made.at(turn - 1).decode.weights_time


def test_a_dense_model_turns_near_the_ridge_point_and_a_mixture_at_experts_over_active_times_that() -> None:
    # B x 2 FLOPs per 2 bytes: the ridge point is 250 FLOP/B.
    assert serving("Meta-Llama-3-8B").compute_bound_from == pytest.approx(250, rel=0.01)
    assert serving("Meta-Llama-3-8B", weight_dtype="int8").compute_bound_from == pytest.approx(125, rel=0.01)
    experts = serving("Qwen3-30B-A3B").compute_bound_from
    assert experts is not None
    assert 250 * 30.2 / 3.4 * 0.9 < experts < 250 * 128 / 8


def test_attention_takes_longer_than_the_matrices_from_the_stated_batch() -> None:
    made = serving("Meta-Llama-3-8B")
    turn = made.cache_bound_from
    assert turn == 14
    before, after = made.at(turn - 1).decode, made.at(turn).decode
    assert before.cache_time < before.weights_time
    assert after.cache_time >= after.weights_time
    assert serving("Mistral-7B-v0.1", context=1).cache_bound_from is None


# -- memory ------------------------------------------------------------------------------------------------------------


def test_the_largest_batch_that_fits_fits_and_one_more_does_not() -> None:
    made = serving("Meta-Llama-3-8B")
    # The chip states 100 GB and no figure of a driver, so 93 % of them count.
    assert made.max_batch == int((93e9 - 2 * 8_030_261_248) / (8192 * 131_072)) == 71
    assert made.at(71).fits
    assert not made.at(72).fits
    assert "Assumed: programs can allocate 93 % of the 100 GB of HBM." in made.notes


def test_what_the_driver_lets_programs_allocate_decides_whether_a_model_fits() -> None:
    made = rw.serve("llama-3-8b", "h100-sxm", context=8192)
    assert made.capacity == 85_520_809_984
    assert made.max_batch == (85_520_809_984 - 2 * 8_030_261_248) // (8192 * 131_072) == 64
    assert "of 85.5 GB usable" in repr(made)
    assert not any(note.startswith("Assumed") for note in made.notes)


def test_without_a_capacity_the_fit_is_unknown() -> None:
    made = serving("Meta-Llama-3-8B", chip=rw.Chip("bare", {"bf16": 1e15}, {"HBM": 4e12}))
    assert (made.capacity, made.fits, made.max_batch) == (None, None, None)
    assert "the capacity of HBM is unknown" in repr(made)


def test_weights_that_do_not_fit_leave_room_for_no_sequence() -> None:
    made = serving("DeepSeek-V3")
    assert (made.fits, made.max_batch) == (False, 0)
    assert "does not fit" in repr(made)


# -- tensor parallelism ------------------------------------------------------------------------------------------------


def test_tensor_parallelism_divides_weights_work_and_heads() -> None:
    one, four = serving("Meta-Llama-3-8B"), serving("Meta-Llama-3-8B", tp=4, network="none")
    norms = 65 * 4096
    assert four.weight_bytes_per_chip == 2 * ((8_030_261_248 - norms) // 4 + norms)
    assert four.cache_bytes_per_chip == one.cache_bytes // 4
    assert four.decode.attention_compute == one.decode.attention_compute / 4
    assert four.decode.weights_time == pytest.approx(one.decode.weights_time / 4, rel=2e-4)  # norms are whole


def test_more_chips_than_heads_of_keys_hold_a_copy_of_one() -> None:
    eight, sixteen = (serving("Meta-Llama-3-8B", tp=tp) for tp in (8, 16))
    assert sixteen.cache_bytes_per_chip == eight.cache_bytes_per_chip == eight.cache_bytes // 8
    keys = 32 * 2 * 4096 * 1024  # weights of keys and values
    norms = 65 * 4096
    assert sixteen.weight_bytes_per_chip == 2 * ((8_030_261_248 - norms - keys) // 16 + keys // 8 + norms)


def test_every_chip_holds_the_whole_latent_cache() -> None:
    made = serving("DeepSeek-V3", tp=8)
    assert made.cache_bytes_per_chip == made.cache_bytes
    assert any("whole latent cache" in note for note in made.notes)
    # vllm, issue 12258: DeepSeek-V3 in fp8 on 16 x 2 chips (tp 16, two stages) loads 18.9 to 21.4 GB a chip.
    thirty_two = serving("DeepSeek-V3", tp=32, dtype="fp8").weight_bytes_per_chip
    assert 18.9e9 < thirty_two < 22e9


def test_the_all_reduces_are_two_a_layer() -> None:
    step = serving("Meta-Llama-3-8B", tp=8).decode
    each = 2 * 7 / 8 * BATCH * 4096 * 2 / 450e9
    assert step.network_time == pytest.approx(2 * 32 * each)
    exposed = serving("Meta-Llama-3-8B", tp=8, network="exposed").decode
    assert exposed.time == pytest.approx(exposed.body_time + exposed.network_time)
    assert step.time == max(step.body_time, step.network_time)
    assert serving("Meta-Llama-3-8B", tp=8, network="none").decode.network_time == 0
    assert serving("Meta-Llama-3-8B", tp=1).decode.network_time == 0


def test_a_slow_link_binds() -> None:
    slow = CHIP.replace(links={"NVLink": 1e9})
    step = serving("Meta-Llama-3-8B", chip=slow, tp=8).decode
    assert step.bound_by == "network"
    assert step.time == step.network_time > step.body_time
    assert serving("Meta-Llama-3-8B", chip=slow, tp=8, network="exposed").decode.bound_by == "network"


# -- dtypes ------------------------------------------------------------------------------------------------------------


def test_dtypes_of_arithmetic_weights_and_cache_are_apart() -> None:
    plain = serving("Meta-Llama-3-8B").decode
    mixed = serving("Meta-Llama-3-8B", weight_dtype="int4", cache_dtype="fp8").decode
    assert mixed.matrix_compute == plain.matrix_compute
    assert mixed.weights_time == pytest.approx(plain.weights_time / 4)
    assert mixed.cache_time == pytest.approx(plain.cache_time / 2)
    narrow = serving("Meta-Llama-3-8B", dtype="fp8").decode
    assert narrow.matrix_compute == plain.matrix_compute / 2
    assert narrow.weights_time == pytest.approx(plain.weights_time / 2)


# -- text and tables ---------------------------------------------------------------------------------------------------


def test_the_text_says_each_bound_and_what_binds() -> None:
    lines = repr(rw.serve("llama-3-8b", "h100-sxm", tp=2, batch=8, context=8192, weight_dtype="fp8")).splitlines()
    assert lines[0] == (
        "Serving: llama-3-8b on 2 × NVIDIA H100 SXM5 80GB, bf16, weights fp8, cache bf16, batch 8, context 8,192"
    )
    assert [line.split("  ")[0] for line in lines[1:8]] == [
        "decode",
        "prefill",
        "first token",
        "weights",
        "cache",
        "memory",
        "turns",
    ]
    assert "bound by cache" in lines[1]
    assert lines[4] == "weights      8.03 GB, 4.02 GB per chip"
    assert lines[-1].startswith("Bounds: only matrix products, weights and cache count")


def test_the_html_has_the_bounds_and_the_notes() -> None:
    html = serving("Mixtral-8x7B-v0.1")._repr_html_()
    assert '<th scope="row">first token</th>' in html
    assert "<li>Weights of experts are read for the mean number of experts that the tokens reach.</li>" in html


def test_the_table_has_a_row_per_power_of_two_that_fits() -> None:
    made = serving("Meta-Llama-3-8B")
    frame = made.to_dataframe()
    assert frame["batch"].tolist() == [1, 2, 4, 8, 16, 32, 64]
    assert frame["fits"].all()
    at = frame.set_index("batch").loc[16]
    assert at["tokens_per_second"] == made.tokens_per_second
    assert at["bound_by"] == made.decode.bound_by
    assert made.to_dataframe([100])["fits"].tolist() == [False]
    assert serving("DeepSeek-V3").to_dataframe()["batch"].tolist() == [1, 2, 4, 8, 16]


def test_the_rate_never_falls_and_the_time_never_shrinks_with_the_batch() -> None:
    for name in HANDS:
        frame = serving(name, context=1000).to_dataframe([1, 2, 3, 8, 100, 1000, 5000])
        for word in ("tokens_per_second", "time_per_token"):
            values = frame[word].tolist()
            assert all(after >= before * (1 - 1e-12) for before, after in pairwise(values))


def test_a_result_is_pickled_and_compared_by_value() -> None:
    made = serving("DeepSeek-V3", tp=8)
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - made in this line
    assert made.at(BATCH) == made


def test_serving_takes_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "config.json", CONFIGS["Mistral-7B-v0.1"])
    assert rw.serve(path, CHIP).tokens_per_second == serving("Mistral-7B-v0.1", batch=1, context=4096).tokens_per_second


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"tp": 0}, ValueError, "tp must be a whole number from 1, got 0"),
        ({"tp": 3}, ValueError, "tp=3 does not divide the 32 heads of Meta-Llama-3-8B"),
        ({"batch": 1.5}, ValueError, "batch must be a whole number from 1, got 1.5"),
        ({"context": True}, ValueError, "context must be a whole number from 1, got True"),
        ({"prompt": -1}, ValueError, "prompt must be a whole number from 1, got -1"),
        ({"dtype": "fp4"}, rw.MissingFigureError, "chip has no peak for precision 'fp4'"),
        ({"weight_dtype": "int5"}, ValueError, "weight_dtype of serve: unknown dtype 'int5'"),
        ({"cache_dtype": "q8"}, ValueError, "cache_dtype of serve: unknown dtype 'q8'"),
        ({"network": "expose"}, ValueError, "unknown network 'expose'; did you mean 'exposed'"),
        ({"contxt": 1}, TypeError, "serve has no keyword 'contxt'; did you mean 'context'"),
        ({"n_chips": 8}, TypeError, "serve has no keyword 'n_chips': write tp="),
    ],
)
def test_a_wrong_argument_is_refused_by_name(more: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        serving("Meta-Llama-3-8B", **more)


def test_a_chip_without_a_link_says_how_to_leave_the_all_reduces_out() -> None:
    alone = rw.Chip("alone", {"bf16": 1e15}, {"HBM": 4e12})
    with pytest.raises(rw.MissingFigureError, match=r"alone has no known link; .*network='none'"):
        serving("Meta-Llama-3-8B", chip=alone, tp=2)
    assert serving("Meta-Llama-3-8B", chip=alone, tp=2, network="none").decode.network_time == 0
