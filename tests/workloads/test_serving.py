"""Bounds on serving: hand counts of six public models, published tables, memory, tensor parallelism, turning points."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

import roofwidget as rw
from roofwidget.chips.figures import is_host_link
from roofwidget.workloads import decoder, decoder_config
from roofwidget.workloads.models.serving import switch_adds
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

    def weights(self, batch: int, width: int, *, least: bool = False) -> float:
        mean = self.many * (1 - (1 - self.active / self.many) ** batch) if self.many else 0
        touched = self.active if least else mean
        rows = 0 if self.tied else (1 if least else batch) * width
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
    config = replace(decoder_config(CONFIGS[name], name=name), quantised=None)
    return rw.serve(config, more.pop("chip", CHIP), **{"batch": BATCH, "context": CONTEXT, **more})


# -- hand counts -------------------------------------------------------------------------------------------------------


def test_the_hand_counts_cover_two_mixtures_mla_a_window_and_a_tied_embedding() -> None:
    assert sum(one.many > 0 for one in HANDS.values()) >= 2
    for name, hand in HANDS.items():
        config = decoder_config(CONFIGS[name])
        total = hand.matrices + hand.vectors + hand.experts * hand.many + hand.table * (1 if hand.tied else 2)
        assert total == config.parameters


@pytest.mark.parametrize("name", HANDS)
def test_a_decode_step_takes_at_least_the_longer_of_all_compute_and_all_memory(name: str) -> None:
    hand, made = HANDS[name], serving(name)
    width = decoder_config(CONFIGS[name]).hidden
    step = made.decode
    assert step.matrix_compute == pytest.approx(hand.linear(BATCH), rel=1e-12)
    assert step.weights_time == pytest.approx(hand.weights(BATCH, width), rel=1e-12)
    assert step.attention_compute == pytest.approx(BATCH * hand.pair_flops / PEAK, rel=1e-12)
    assert step.cache_time == pytest.approx(BATCH * 2 * hand.cache / BANDWIDTH, rel=1e-12)
    compute = hand.linear(BATCH) + BATCH * hand.pair_flops / PEAK
    memory = hand.weights(BATCH, width, least=True) + BATCH * 2 * hand.cache / BANDWIDTH
    assert made.tokens_per_second == pytest.approx(BATCH / max(compute, memory), rel=1e-12)


@pytest.mark.parametrize("name", HANDS)
def test_serial_is_the_matrices_and_then_attention_each_by_its_slower_resource(name: str) -> None:
    hand, made = HANDS[name], serving(name)
    matrices = max(hand.linear(BATCH), hand.weights(BATCH, made.config.hidden))
    attention = max(BATCH * hand.pair_flops / PEAK, BATCH * 2 * hand.cache / BANDWIDTH)
    assert made.decode.serial_time == pytest.approx(matrices + attention, rel=1e-12)
    assert made.serial_tokens_per_second == pytest.approx(BATCH / (matrices + attention), rel=1e-12)


def random_servings(many: int) -> Iterator[rw.Serving]:
    """Yield `many` servings of random models, sizes and chips."""
    draw = random.Random(0)  # noqa: S311 - sizes for tests
    for _ in range(many):
        name = draw.choice(sorted(HANDS))
        layout = {draw.choice(["tp", "pp", "ep"] if HANDS[name].many else ["tp", "pp"]): draw.choice([1, 2, 4, 8])}
        chip = CHIP.replace(
            peak_flops={"bf16": 10 ** draw.uniform(13, 17)},
            memories={"HBM": 10 ** draw.uniform(11, 14), "L2": rw.Memory("L2", None, 10 ** draw.uniform(6, 10))},
            links={"NVLink": 10 ** draw.uniform(9, 13)},
        )
        sizes = {"batch": 2 ** draw.randrange(12), "context": 2 ** draw.randrange(1, 18)}
        words = {
            "network": draw.choice(["overlapped", "exposed", "none"]),
            "all_reduce": draw.choice(["ring", "switch"]),
        }
        yield serving(name, chip=chip, **layout, **sizes, **words)


def test_at_most_is_never_below_serial_and_never_falls_with_a_faster_chip() -> None:
    binding = set()
    for made in random_servings(300):
        chip = made.chip
        faster = [
            chip.replace(peak_flops={"bf16": 2 * chip.peak()}),
            chip.replace(memories={"HBM": 2 * chip.bandwidth()}),
            chip.replace(links={"NVLink": 2 * chip.link_bandwidth()}),
        ]
        for phase in ("decode", "prefill"):
            step = getattr(made, phase)
            binding.add(step.bound_by)
            assert step.tokens_per_second >= step.serial_tokens_per_second * (1 - 1e-12)
            for other in faster:
                assert getattr(replace(made, chip=other), phase).time <= step.time * (1 + 1e-12)
    assert binding == {"compute", "weights", "cache", "network"}


def test_at_most_and_serial_are_equal_where_both_parts_meet_the_same_limit() -> None:
    # Mistral 7B, 64 sequences of 8,192 tokens on one H100: matrices and attention are both memory-bound, 14.5 ms.
    step = serving("Mistral-7B-v0.1", chip="h100-sxm", batch=64).decode
    kept = (50 * 2**20 + 132 * 256 * 1024) / 3.35e12
    assert step.serial_time == pytest.approx(14.5e-3, rel=0.005)
    assert step.time == pytest.approx(step.serial_time - kept, rel=1e-4)


def test_bytes_that_the_caches_of_a_chip_can_keep_need_not_be_read_again() -> None:
    weights, cache = HANDS["Meta-Llama-3-8B"].weights(1, 4096), 2 * HANDS["Meta-Llama-3-8B"].cache / BANDWIDTH
    small, large = (CHIP.replace(memories={"L2": rw.Memory("L2", None, size)}) for size in (4e9, 40e9))
    one = serving("Meta-Llama-3-8B", chip=small, batch=1).decode
    assert one.memory_time == pytest.approx(weights + cache - 4e9 / BANDWIDTH)
    assert sum(one.parts.values()) == pytest.approx(one.time)
    other = serving("Meta-Llama-3-8B", chip=large, batch=1).decode
    assert (other.memory_time, other.bound_by) == (0.0, "compute")
    # A memory outside of the chip keeps nothing that the main memory does not have to deliver.
    host = CHIP.replace(memories={"LPDDR5X": rw.Memory("LPDDR5X", 5e11, 480e9)})
    assert serving("Meta-Llama-3-8B", chip=host).decode.kept_time == 0


@pytest.mark.parametrize("name", HANDS)
def test_the_time_to_the_first_token_is_that_of_the_hand_count(name: str) -> None:
    hand = HANDS[name]
    elements = hand.matrices + hand.experts * hand.active
    matrices = 2 * (CONTEXT * elements + hand.table) / PEAK
    expected = matrices + hand.prefill_flops / PEAK  # all of it is compute, so that overlap changes nothing
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
    # The model cards of gpt-oss: 60.8 and 12.8 GiB. Experts at 4.25 bits, all other parameters at 16.
    large, small = (rw.serve(CONFIGS[name], "h100-sxm") for name in ("gpt-oss-120b", "gpt-oss-20b"))
    assert large.weight_bytes == (114_661_785_600 * 17 // 4 + 2_167_371_072 * 16) // 8 == 65_248_815_744
    assert small.weight_bytes == (19_110_297_600 * 17 // 4 + 1_804_459_584 * 16) // 8 == 13_761_264_768
    assert (round(large.weight_bytes / 2**30, 1), round(small.weight_bytes / 2**30, 1)) == (60.8, 12.8)
    assert large.fits
    assert large.capacity is not None
    assert large.capacity - large.weight_bytes_per_chip == 20_271_994_240
    assert large.weight_dtype == "mxfp4"
    assert "bf16, weights mxfp4, cache bf16" in repr(large)


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


def test_what_is_reserved_is_left_for_nothing_else() -> None:
    # 85,520,809,984 usable bytes less 16,060,522,496 of weights, 1 GiB of cache a sequence: 64. Less 8e9: 57.
    plain = rw.serve("llama-3-8b", "h100-sxm", batch=64, context=8192)
    less = rw.serve("llama-3-8b", "h100-sxm", batch=64, context=8192, reserve="8 GB")
    assert (plain.fits, plain.max_batch) == (True, 64)
    assert (less.reserve, less.capacity, less.fits, less.max_batch) == (8e9, plain.capacity, False, 57)
    assert "of 85.5 GB usable (99 %), 8 GB of them reserved; at most 57 sequences" in repr(less)


def test_every_chip_holds_the_whole_latent_cache() -> None:
    made = serving("DeepSeek-V3", tp=8)
    assert made.cache_bytes_per_chip == made.cache_bytes
    assert any("whole latent cache" in note for note in made.notes)
    # vllm, issue 12258: DeepSeek-V3 in fp8 on 16 x 2 chips (tp 16, two stages) loads 18.9 to 21.4 GB a chip.
    thirty_two = serving("DeepSeek-V3", tp=32, dtype="fp8").weight_bytes_per_chip
    assert 18.9e9 < thirty_two < 22e9


@pytest.mark.parametrize(
    ("tp", "how", "bound", "estimate"),
    [
        (2, "switch", 1.0, 1.0),
        (2, "ring", 1.0, 1.0),
        (8, "switch", 1.0, 1.125),
        (8, "ring", 1.75, 1.75),
        (8, "auto", 1.0, 1.75),  # it is not known whether the switches of this chip add
        (32, "switch", 1.0, 1.03125),
    ],
)
def test_a_layer_has_two_all_reduces_that_a_switch_makes_shorter(
    tp: int, how: str, bound: float, estimate: float
) -> None:
    step = serving("Meta-Llama-3-8B", tp=tp, all_reduce=how).decode
    each = BATCH * 4096 * 2 / 450e9
    assert step.network_time == pytest.approx(2 * 32 * bound * each)
    assert step.serial_network_time == pytest.approx(2 * 32 * estimate * each)


def test_the_latency_of_a_link_is_in_the_estimate_alone() -> None:
    # A ring of eight has 14 steps, a switch two phases.
    for how, factor, steps in (("ring", 1.75, 14), ("switch", 1.125, 2)):
        slow = CHIP.replace(links={"NVLink": rw.Link("NVLink", 450e9, latency=1e-6)})
        step = serving("Meta-Llama-3-8B", chip=slow, tp=8, all_reduce=how).decode
        each = BATCH * 4096 * 2 / 450e9
        assert step.serial_network_time == pytest.approx(64 * (factor * each + steps * 1e-6))
        assert step.network_time == serving("Meta-Llama-3-8B", tp=8, all_reduce=how).decode.network_time


def test_at_most_is_above_the_all_reduce_that_eight_h100_were_measured_at() -> None:
    # 275 GB/s of the array, where a ring of 450 GB/s one way ends at 450 / 1.75 = 257.
    size = 2 * 32 * BATCH * 4096 * 2
    made = serving("Meta-Llama-3-8B", chip="h100-sxm", tp=8)
    assert size / serving("Meta-Llama-3-8B", chip="a100-sxm-80gb", tp=8).decode.network_time == pytest.approx(
        300e9 / 1.75
    )
    assert size / made.decode.network_time == pytest.approx(450e9)
    assert size / replace(made, all_reduce="ring").decode.network_time == pytest.approx(257e9, rel=1e-3)
    assert size / made.decode.serial_network_time == pytest.approx(400e9)
    assert size / made.decode.serial_network_time > 275e9


def test_whether_switches_add_is_known_of_these_chips() -> None:
    # NVLink SHARP: NVSwitch of the third generation and later. Meshes, tori, bridges and older switches have none.
    known: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
    for one in rw.chips():
        if one.links and not is_host_link(next(iter(one.links))):
            known[switch_adds(one)].add(one.id)
    assert known[True] == {"h100-sxm", "h200-sxm", "b200", "b300", "gb200", "gb300", "rubin"}
    assert known[False] > {"a100-sxm-80gb", "v100-sxm2-32gb", "h100-nvl", "h200-nvl", "mi300x", "mi355x", "tpu-v5p"}
    assert known[None] > {"gh200-96gb", "gaudi3", "aws-trainium2", "ascend-910c", "mi455x", "maia-200"}
    assert "Not known whether switches of NVLink add." in repr(serving("Meta-Llama-3-8B", chip="gh200-96gb", tp=2))
    assert "Not known" not in repr(serving("Meta-Llama-3-8B", chip="h100-sxm", tp=2))


def test_the_network_overlaps_or_adds_or_is_left_out() -> None:
    step = serving("Meta-Llama-3-8B", tp=8).decode
    made = serving("Meta-Llama-3-8B", tp=8, network="exposed")
    exposed = made.decode
    assert exposed.time == pytest.approx(exposed.body_time + exposed.network_time)
    assert "Assumed: the network does not overlap." in repr(made)
    assert step.time == max(step.body_time, step.network_time)
    assert step.serial_time == pytest.approx(exposed.serial_time)
    left_out = serving("Meta-Llama-3-8B", tp=8, network="none").decode
    assert (left_out.network_time, left_out.serial_network_time) == (0, 0)
    assert serving("Meta-Llama-3-8B", tp=1).decode.network_time == 0


# -- experts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "experts"),
    [
        ("DeepSeek-V3", {1: 8, 8: 57.421, 64: 222.442, 256: 255.924}),
        ("gpt-oss-120b", {1: 4, 8: 28.710, 64: 111.221, 256: 127.962}),
        ("Mixtral-8x7B-v0.1", {1: 2, 8: 7.199, 64: 8.000, 256: 8.000}),
    ],
)
def test_a_bound_reads_the_least_number_of_experts_and_serial_the_mean(name: str, experts: dict[int, float]) -> None:
    config = decoder_config(CONFIGS[name])
    held = next(one for one in config.weights if one.experts)
    for batch, mean in experts.items():
        made = serving(name, batch=batch)
        assert made.experts_read is not None
        least, expected, most = made.experts_read
        assert (least, most) == (held.active, min(held.experts, held.active * batch))
        assert expected == pytest.approx(mean, abs=5e-4)
        assert least - 1e-9 <= expected <= most
        more = (batch - 1) * config.hidden  # rows of the embedding
        biases = next((one.elements for one in config.weights if one.name == "expert biases"), 0)
        extra = (expected - least) / held.experts * (held.elements + biases)
        assert made.decode.weights_time - made.decode.least_weights_time == pytest.approx(
            2 * (extra + more) / BANDWIDTH
        )
    assert serving("Meta-Llama-3-8B").experts_read is None
    # Eight sequences in two stages: four tokens at once.
    assert serving("DeepSeek-V3", batch=8, pp=2).experts_read == pytest.approx((8, 256 * (1 - (31 / 32) ** 4), 32))


def test_chips_share_experts_and_each_has_all_other_weights_and_its_own_sequences() -> None:
    one, made = serving("DeepSeek-V3"), serving("DeepSeek-V3", ep=72, batch=72 * BATCH + 1)
    hand = HANDS["DeepSeek-V3"]
    others = hand.matrices + hand.vectors + 2 * hand.table
    assert made.weight_bytes_per_chip == 2 * (others + 4 * hand.experts)  # 256 experts on 72 chips: up to 4
    assert made.cache_bytes_per_chip == (BATCH + 1) * 2 * hand.cache  # a chip has 17 sequences
    assert made.decode.attention_compute == pytest.approx(one.decode.attention_compute * (BATCH + 1) / BATCH)
    routed = (72 * BATCH + 1) / 72 * hand.experts * hand.active
    assert made.decode.matrix_compute == pytest.approx(2 * ((BATCH + 1) * (hand.matrices + hand.table) + routed) / PEAK)
    # At least one expert is read; all 256 are reached on average, which are 3.56 a chip.
    width = 7168
    least = hand.matrices + hand.vectors + hand.experts + hand.table + width
    assert made.decode.least_weights_time == pytest.approx(2 * least / BANDWIDTH)
    reached = 256 * (1 - (1 - 8 / 256) ** (72 * BATCH + 1)) / 72
    mean = hand.matrices + hand.vectors + reached * hand.experts + hand.table + (BATCH + 1) * width
    assert made.decode.weights_time == pytest.approx(2 * mean / BANDWIDTH)
    assert "72 × chip" in repr(made)


@pytest.mark.parametrize(("pp", "layers"), [(4, 8), (3, 11)])
def test_a_stage_of_a_pipeline_has_its_layers_and_the_cache_of_all_sequences(pp: int, layers: int) -> None:
    hand, made = HANDS["Meta-Llama-3-8B"], serving("Meta-Llama-3-8B", pp=pp)
    # The last stage has the logits and the last norm.
    assert made.weight_bytes_per_chip == 2 * (hand.matrices // 32 * layers + (2 * layers + 1) * 4096 + hand.table)
    assert made.cache_bytes_per_chip == BATCH * 2 * hand.cache // 32 * layers
    assert f"on {pp} × chip" in repr(made)


def test_a_pipeline_decodes_a_part_of_the_batch_in_each_stage() -> None:
    # 16 sequences in 4 stages: a token passes all layers in the time of 4 sequences, and 16 tokens are made meanwhile.
    hand, made = HANDS["Meta-Llama-3-8B"], serving("Meta-Llama-3-8B", pp=4)
    memory = hand.weights(4, 4096, least=True) + 4 * 2 * hand.cache / BANDWIDTH
    assert made.time_per_token == pytest.approx(memory)
    assert made.tokens_per_second == pytest.approx(BATCH / memory)
    # A chip passes 16 tokens of 4,096 elements on.
    assert made.decode.network_time == pytest.approx(BATCH * 4096 * 2 / 450e9)
    apart = hand.weights(4, 4096) + 4 * 2 * hand.cache / BANDWIDTH
    assert made.decode.serial_time == pytest.approx(apart + BATCH * 4096 * 2 / 450e9)
    assert serving("Meta-Llama-3-8B", pp=4, network="none").decode.network_time == 0
    # Two sequences leave two of four stages idle.
    two, one = serving("Meta-Llama-3-8B", pp=4, batch=2), serving("Meta-Llama-3-8B", batch=1)
    assert two.time_per_token == one.time_per_token
    assert two.tokens_per_second == 2 * one.tokens_per_second


def test_a_prompt_passes_the_stages_in_pieces() -> None:
    one, four = serving("Meta-Llama-3-8B"), serving("Meta-Llama-3-8B", pp=4)
    assert four.time_to_first_token == pytest.approx(one.time_to_first_token / 4)
    assert four.prefill.weights_time == pytest.approx(one.prefill.weights_time / 4, rel=0.1)  # fewer rows of the table


def test_tokens_travel_to_their_experts_only_in_the_estimate() -> None:
    # 8 copies of 7,168 elements, as fp8 there and as bf16 back: 172,032 bytes per token and layer, 9,977,856 in all.
    step = serving("DeepSeek-V3", ep=72, batch=72, dtype="fp8").decode
    assert step.network_time == 0
    assert step.serial_network_time == pytest.approx(9_977_856 * 71 / 72 / 450e9)
    assert serving("DeepSeek-V3", ep=72, network="none").decode.serial_network_time == 0


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


def test_a_faster_precision_that_quantised_weights_allow_is_named() -> None:
    # A server that multiplies in fp8 can beat "at most" of bf16.
    v3 = decoder_config(CONFIGS["DeepSeek-V3"])
    said = "Assumed: arithmetic of bf16. Quantised weights allow a faster one: dtype="
    assert f"{said}'fp8' or 'int8'." in rw.serve(v3, "h200-sxm", tp=8).notes
    assert f"{said}'fp4' or 'fp8' or 'int8'." in rw.serve(v3, "b200", tp=8, weight_dtype="mxfp4").notes
    others: list[dict[str, Any]] = [{"dtype": "fp8"}, {"weight_dtype": "bf16"}]
    for more in others:
        assert not any("arithmetic" in note for note in rw.serve(v3, "h200-sxm", tp=8, **more).notes)
    assert not any("arithmetic" in note for note in rw.serve(v3, "a100-sxm-80gb", tp=8, dtype="int8").notes)


# -- text and tables ---------------------------------------------------------------------------------------------------


def test_the_text_says_each_bound_and_what_binds() -> None:
    lines = repr(rw.serve("llama-3-8b", "h100-sxm", tp=2, batch=8, context=8192, weight_dtype="fp8")).splitlines()
    assert lines[0] == (
        "Serving: llama-3-8b on 2 × NVIDIA H100 SXM5 80GB, bf16, weights fp8, cache bf16, batch 8, context 8,192"
    )
    assert [line.split("  ")[0] for line in lines[1:9]] == [
        "decode",
        "prefill",
        "first token",
        "serial",
        "weights",
        "cache",
        "memory",
        "turns",
    ]
    assert "bound by cache" in lines[1]
    assert lines[4].endswith(" per token, if matrices, attention and network do not overlap: an estimate")
    assert lines[5] == "weights      8.03 GB, 4.02 GB per chip"
    assert lines[9].startswith("Bounds: only matrix products, weights and cache count")


def test_the_html_has_the_bounds_and_the_notes() -> None:
    html = serving("Mixtral-8x7B-v0.1")._repr_html_()
    assert '<th scope="row">first token</th>' in html
    assert "A decode step reads 2 to 8 experts a layer: " in html


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
        ({"ep": 8}, ValueError, "ep=8 spreads experts, and Meta-Llama-3-8B has none; give tp"),
        ({"ep": 2, "tp": 2}, ValueError, "tp=2 and ep=2 together are not counted"),
        ({"pp": 33}, ValueError, "pp=33 is more than the 32 layers of Meta-Llama-3-8B"),
        ({"pp": 0}, ValueError, "pp must be a whole number from 1, got 0"),
        ({"attention_dtype": "fp4"}, rw.MissingFigureError, "chip has no peak for precision 'fp4'"),
        ({"reserve": -1}, ValueError, "reserve"),
        ({"all_reduce": "swich"}, ValueError, "unknown all_reduce 'swich'; did you mean 'switch'"),
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
