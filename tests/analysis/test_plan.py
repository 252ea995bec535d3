"""The plan: its order, its upper limits, its evidence, and a check for each step."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.advice import CHECKS, SUGGESTIONS, Advice
from roofwidget.analysis.plan import KINDS
from roofwidget.cli.check_report import Limits, report
from roofwidget.kernels.metadata import Communication
from tests import places

SHEET = rw.Source("Data sheet of the chip", "", "datasheet")
CHIP = rw.Chip(
    "My chip",
    {"bf16": 1e15},
    {"HBM": rw.Memory("HBM", 2e12, latency=500e-9)},
    sources={"memories.HBM.bandwidth": SHEET, "memories.HBM.latency": rw.Source("A chase", "", "measured")},
)
# At its roof the product needs 0.4 ms, the copy 1 ms.
MATMUL = rw.Kernel("matmul", 4e11, 1e8, 1e-3)
COPY = rw.Kernel("copy", 0, 2e9, 4e-3)
IDLE = rw.Kernel("idle", None, None, 2e-3, category="idle")
UNKNOWN = rw.Kernel("custom", None, None, 1e-3)


def steps_of(*kernels: rw.Kernel, **options: Any) -> rw.Plan:
    return rw.plan(list(kernels), CHIP, **options)


def test_steps_are_in_the_order_of_what_they_gain_at_most() -> None:
    found = steps_of(MATMUL, COPY, IDLE, UNKNOWN)
    assert [(step.kind, step.kernels[0]) for step in found] == [
        *[("kernel", "copy"), ("waiting", "idle"), ("unknown", "custom"), ("kernel", "matmul")]
    ]
    assert [step.gain for step in found] == pytest.approx([3e-3, 2e-3, 1e-3, 6e-4])
    assert found.time == pytest.approx(8e-3)
    assert found.share(found[0]) == pytest.approx(3 / 8)
    assert {step.kind for step in found} <= set(KINDS)


def test_the_gain_of_a_kernel_is_its_headroom_and_its_advice_is_that_of_advise() -> None:
    found = {step.kernels[0]: step for step in steps_of(MATMUL, COPY)}
    bound = rw.bound([MATMUL, COPY], CHIP)
    for row, advice in enumerate(rw.advise(bound)):
        step = found[advice.name]
        assert step.gain == pytest.approx(float(bound.headroom[row]))
        assert (step.situation, step.check) == (advice.situation, advice.check)
        assert step.action == advice.suggestion
        assert step.evidence[0].text == advice.evidence
        assert step.evidence[0].value == pytest.approx(float(bound.utilization[row]))
        assert step.evidence[0].unit == "1"


def test_evidence_says_where_its_numbers_come_from() -> None:
    kernels = rw.Kernels(
        *(["copy"], [0.0], {"HBM": [2e9]}),
        time=[4e-3],
        origin={"time": ["column T"], "flops": ["column F"], "bytes:HBM": ["column B"]},
    )
    measured, roof = rw.plan(kernels, CHIP)[0].evidence
    assert measured.source == "time from column T; flops from column F; bytes:HBM from column B"
    assert roof.text == "at its roof it needs 1 ms: 2 GB at 2 TB/s of HBM"
    assert (roof.source, roof.value, roof.unit) == ("My chip: Data sheet of the chip (datasheet)", 1e-3, "s")
    compute = steps_of(MATMUL)[0].evidence[1]
    assert compute.text == "at its roof it needs 400 µs: 400 GFLOP at 1 PFLOP/s"
    assert steps_of(MATMUL)[0].evidence[0].source == "the profile"


def test_launches_of_one_kernel_are_one_step() -> None:
    (step,) = steps_of(COPY, COPY, COPY)
    assert step.gain == pytest.approx(9e-3)


def test_a_kernel_at_its_roof_is_left_out_and_counted() -> None:
    found = steps_of(rw.Kernel("good", 0, 2e9, 1.01e-3), COPY)
    assert [step.kernels for step in found] == [("copy",)]
    assert any("1 kernel left out: at the roof" in note for note in found.notes)


def test_a_small_launch_has_its_latency_as_evidence_in_words_of_a_bound() -> None:
    (step,) = steps_of(rw.Kernel("small", 0, 1e5, 6e-7))
    assert step.situation == "latency-bound, close"
    assert step.evidence[0].text.startswith("moves 100 kB: at 500 ns that is at most 200 GB/s of 2 TB/s")
    (slow,) = steps_of(rw.Kernel("slow", 0, 1e5, 1e-5))
    assert slow.situation == "way below both"
    told = [fact for fact in slow.evidence if "latency explains 5 % of its time" in fact.text]
    assert [(fact.source, fact.is_estimate) for fact in told] == [("latency: A chase", False)]


def test_few_threads_are_an_estimate_of_too_few_bytes_in_flight() -> None:
    def told(grid: str, waves: float = math.nan) -> tuple[rw.Plan, list[Any]]:
        extra = {"grid": [grid], "block": ["128 x 1 x 1"], "waves per SM": [waves]}
        found = rw.plan(rw.Kernels(["chase"], [0.0], [1e7], time=[1e-1], extra=extra), CHIP)
        return found, [one for one in found[0].evidence if "threads at once" in one.text]

    found, (fact,) = told("1 x 1 x 1")
    assert fact.text == (
        "it has 128 threads at once: with one load of 32 B for each, 4.1 kB are in flight, and 1 MB fill the bandwidth"
    )
    assert (fact.value, fact.unit, fact.is_estimate) == (128 * 32, "B", True)
    assert "Have more loads under way" in found[0].action
    # 16,384 threads have half of a megabyte in flight; of 163,840 in 20 waves, 8,192 run at once.
    assert not told("128 x 1 x 1")[1]
    assert told("1280 x 1 x 1", 20.0)[1][0].value == 8192 * 32
    assert not any("threads" in one.text for one in steps_of(COPY)[0].evidence)


def test_a_tail_of_blocks_costs_the_empty_places_of_the_last_wave() -> None:
    extra = {"waves per SM": [133 / 132, 1.0]}
    kernels = rw.Kernels(["tail", "tail"], [1e11] * 2, [4e3] * 2, time=[356e-6, 179e-6], extra=extra)
    (step,) = rw.plan(kernels, CHIP)
    fact = next(one for one in step.evidence if "waves" in one.text)
    assert fact.value == pytest.approx(356e-6 * (1 - 133 / 264))
    assert (fact.unit, fact.is_estimate) == ("s", True)
    assert fact.text.startswith(
        "its blocks fill 67 % of their waves, such as 1.008 of 2; the last waves cost about 177 µs"
    )
    assert "whole waves" in step.action


def test_few_blocks_and_full_waves_are_told_apart() -> None:
    def told(waves: float) -> list[str]:
        extra = {"waves per SM": [waves]}
        (step,) = rw.plan(rw.Kernels(["k"], [1e11], [4e3], time=[1e-3], extra=extra), CHIP)
        return [one.text for one in step.evidence if "its blocks fill" in one.text]

    assert told(0.25) == ["its blocks fill 25 % of the places of the chip, so the other places stay empty"]
    assert told(2.0) == told(31.9) == told(math.nan) == []


def test_what_counters_show_is_evidence_with_its_counters_its_rule_and_what_to_try() -> None:
    profile = rw.read(places.FIXTURES / "gpu" / "slow.raw.csv.gz")
    steps = {one.kernels[0].partition("(")[0]: one for one in rw.plan(profile, "h100-sxm")}
    step = steps["divergent"]
    (fact,) = [one for one in step.evidence if "threads are active in an instruction" in one.text]
    counter = "smsp__thread_inst_executed_per_inst_executed.ratio"
    assert fact.source.startswith(f"{counter}, {counter} / threads of a warp of the block; rule: NVIDIA, ")
    # Counters explain what no roof does.
    assert step.situation == "way below both"
    assert step.action == (
        "Let the threads of a warp take the same branch: sort or compact the work, or move the branch to whole warps."
    )
    assert step.check == (
        "Change what the counters name first (divergence), and profile again. If the counter moves and the time stays, "
        "it is not the reason."
    )
    # The waves of the launch say the same as the counters of a small grid, so they are silent.
    told = [one.text for one in steps["small_copy"].evidence]
    assert "A grid of 64 fills 0.06 of a wave: the chip could run more blocks at once." in told
    assert not [text for text in told if "its blocks fill" in text]
    # The file rounds the waves of one block to 0.
    assert not [one.text for one in steps["tiny"].evidence if "fills 0 of a wave" in one.text]
    assert not [one.text for one in steps["tail_wave"].evidence if "its blocks fill" in one.text]


def test_a_kernel_is_promised_no_more_than_each_memory_level_of_its_file_leaves() -> None:
    levels = {"HBM": rw.Memory("HBM", 2e12), "L2": rw.Memory("L2", 4e12), "L1": rw.Memory("L1", 1e12)}
    chip = rw.Chip("My chip", {"bf16": 1e15}, levels)
    # Each needs 1 ms of HBM, and of L2 3, 0.5 or 2 ms. The bytes of L1 must be wrong: they need longer than it ran.
    moved = {"HBM": [2e9] * 4, "L2": [1.2e10, 2e9, np.nan, 8e9], "L1": [np.nan, np.nan, 1e10, 1e10]}
    kernels = rw.Kernels(["near", "far", "wrong", "both"], [0.0] * 4, moved, time=[4e-3] * 4)
    steps = {step.kernels[0]: step for step in rw.plan(kernels, chip)}
    assert {name: step.gain for name, step in steps.items()} == {
        name: pytest.approx(gain) for name, gain in {"near": 1e-3, "far": 3e-3, "wrong": 3e-3, "both": 2e-3}.items()
    }
    near = [fact.text for fact in steps["near"].evidence[:2]]
    assert near[0] == "75 % of roof (close from 80 %); at most 1 ms left (L2)"
    assert near[1] == "at its roof it needs 3 ms: 12 GB at 4 TB/s of L2"
    advised = [one.evidence for one in rw.advise(rw.bound(kernels, chip))]
    assert advised == [steps[name].evidence[0].text for name in kernels.names]
    document = report(kernels, chip, None, [], Limits(), file="x.csv", baseline=None, top=4)
    listed = {one["name"]: (one["headroom_s"], one["bound_by"]) for one in document["kernels"]}
    assert listed == {
        "near": (pytest.approx(1e-3), "L2"),
        "far": (pytest.approx(3e-3), "HBM"),
        "wrong": (pytest.approx(3e-3), "HBM"),
        "both": (pytest.approx(2e-3), "L2"),
    }
    assert document["program"]["headroom_s"] == pytest.approx(9e-3)
    assert document["summary"]["headline"].startswith("Up to 9 ms of 16 ms could be saved")


def test_a_kernel_whose_bound_is_unknown_at_the_given_level_gets_none_from_another_level() -> None:
    chip = rw.Chip("My chip", {"bf16": 1e15}, {"HBM": 2e12, "L2": 4e12})
    moved = {"HBM": [np.nan, 2e9], "L2": [1.2e10, 1.2e10]}
    unknown, known = rw.advise(rw.bound(rw.Kernels(["a", "b"], [0.0] * 2, moved, time=[4e-3] * 2), chip))
    assert (unknown.situation, known.evidence[:13]) == ("unknown", "75 % of roof ")
    assert unknown.evidence.startswith("bytes at HBM not known")


def test_a_kernel_at_the_roof_of_l1_and_shared_memory_is_left_out_and_conflicts_leave_what_they_take() -> None:
    profile = rw.read(places.FIXTURES / "gpu" / "slow.raw.csv.gz")
    ran = {
        name.split("(")[0].split()[-1]: time for name, time in zip(profile.names, profile.time.tolist(), strict=True)
    }
    found = rw.plan(profile)
    gains = {step.kernels[0].split("(")[0].split()[-1]: step.gain for step in found}
    # Nsight Compute says 96.7 % for L1.
    assert "shared_read<1>" not in gains
    assert profile.chip is not None
    advised = {one.name.split("(")[0].split()[-1]: one for one in rw.advise(rw.bound(profile, profile.chip))}
    assert [name for name, one in advised.items() if one.done] == ["shared_read<1>"]
    assert advised["shared_read<1>"].evidence.endswith("at most 4.58 µs left (L1 with shared memory)")
    assert "1 kernel left out: at the roof, so only less work or a higher roof helps." in found.notes
    # The kernels do the same loads, an SM one a cycle, and a few stores.
    least = 4096 * 132 * 8 * 8 / 132 / 1.983e9
    for name in ("shared_read<2>", "shared_read<32>"):
        assert gains[name] == pytest.approx(ran[name] - least, rel=0.01)
        assert gains[name] >= ran[name] - ran["shared_read<1>"]


def test_counters_of_each_launch_are_evidence_that_names_the_launch() -> None:
    profile = rw.read(places.FIXTURES / "gpu" / "slow.raw.csv.gz")
    steps = {one.kernels[0].partition("(")[0]: one for one in rw.plan(profile)}
    step = steps["tail_wave"]
    texts = [fact.text for fact in step.evidence]
    assert (
        "1 of its 2 launches, tail_wave #3: 356 µs of 536 µs. 133 blocks are 1.01 waves: in the last one places for "
        "blocks stay empty, and 50.5 % of the places in all waves are used."
    ) in texts
    assert any(
        text.startswith("each of its 2 launches, here tail_wave #3: The pipe FMA is 91.2 % busy") for text in texts
    )
    assert texts[2] == (
        "its 2 launches reach 46 % (tail_wave #3) to 90 % (tail_wave #2) of the roof; tail_wave #3 has at most 194 µs "
        "left"
    )
    assert "whole number of waves" in step.action
    assert profile.chip is not None
    bound = rw.bound(profile[[2, 3]], profile.chip)
    assert step.gain == pytest.approx(float(bound.headroom.sum()))
    # Five launches of the same kind are nothing to tell apart.
    assert not [fact.text for fact in steps["tiny"].evidence if "launches reach" in fact.text]


def test_many_launches_are_counted_and_three_of_them_named() -> None:
    waves = {"waves per SM": [1.01] * 4 + [2.0], "full waves (%)": [50.5] * 4 + [100.0], "SM active (%)": [50.0] * 5}
    extra = {**waves, "blocks": [133.0] * 4 + [264.0]}
    kernels = rw.Kernels(["k"] * 5, [1e11] * 5, [4e3] * 5, time=[4e-4, 5e-4, 6e-4, 7e-4, 2e-4], extra=extra)
    (step,) = rw.plan(kernels, CHIP)
    assert step.gain == pytest.approx(2.4e-3 - 5 * 1e-4)
    told = [fact.text for fact in step.evidence if "133 blocks" in fact.text]
    assert [text.partition("133 blocks")[0] for text in told] == [
        "4 of its 5 launches, such as k (4), k (3), k (2): 2.2 ms of 2.4 ms. "
    ]


def test_counters_of_a_kernel_that_is_at_its_roof_or_above_say_nothing() -> None:
    tail = {"waves per SM": [1.01], "full waves (%)": [50.5], "SM active (%)": [50.0], "blocks": [133.0]}
    for time in (1.01e-3, 0.5e-3):
        kernels = rw.Kernels(["copy"], [0.0], [2e9], time=[time], extra=tail)
        assert not [step for step in rw.plan(kernels, CHIP) if step.kind == "kernel"]


def test_rows_that_were_added_up_keep_the_evidence_of_their_launches() -> None:
    profile = rw.read(places.FIXTURES / "gpu" / "slow.raw.csv.gz")
    added = profile.groupby("name")
    steps = {step.kernels[0].partition("(")[0]: step for step in rw.plan(added)}
    # The two pointer chases are one row now. Gains are those of the launches.
    chase = steps["pointer_chase"]
    assert chase.gain == pytest.approx(6.924e-3 + 0.983e-3, rel=1e-3)
    assert [
        text for fact in chase.evidence if (text := fact.text).startswith("1 of its 2 launches, pointer_chase #13: ")
    ]
    assert "1 of its 2 launches, tail_wave #3: " in " ".join(fact.text for fact in steps["tail_wave"].evidence)
    # Other sums than those of the launches are judged as they are.
    faster = rw.plan(added.replace(time=added.time / 2))
    assert faster.time == pytest.approx(rw.plan(profile).time / 2)
    assert not [fact for step in faster for fact in step.evidence if "its 2 launches" in fact.text]


def test_a_launch_without_work_takes_no_gain_from_the_others() -> None:
    launches = rw.Kernels(["k", "k"], [0.0, 0.0], [2e9, 0.0], time=[4e-3, 1e-6])
    (step,) = rw.plan(launches.groupby("name"), CHIP)
    assert step.gain == pytest.approx(3.001e-3)


def test_launches_at_the_roof_are_left_out_and_one_above_it_takes_nothing_from_the_others() -> None:
    (step,) = steps_of(COPY, rw.Kernel("copy", 0, 2e9, 1.01e-3))
    assert step.gain == pytest.approx(3e-3)
    assert step.evidence[0].text == "25 % of roof (close from 80 %); at most 3 ms left (HBM)"
    (other,) = steps_of(COPY, rw.Kernel("copy", 0, 2e9, 0.5e-3))
    assert other.gain == pytest.approx(3e-3)


def test_more_blocks_are_not_tried_where_all_bytes_are_in_flight() -> None:
    (slow,) = steps_of(rw.Kernel("slow", 0, 1e5, 1e-5))
    assert "Join launches, or give each more work" in slow.action
    extra = {"bytes in flight": [5e4]}
    (few,) = rw.plan(rw.Kernels(["few"], [0.0], [1e5], time=[1e-5], extra=extra), CHIP)
    assert "Use more blocks" in few.action
    assert "Join launches, or" not in few.action


def test_unknown_work_is_one_step_with_what_is_missing() -> None:
    found = steps_of(UNKNOWN, rw.Kernel("other", 1e9, None, 5e-4), MATMUL)
    (step,) = [one for one in found if one.kind == "unknown"]
    assert step.kernels == ("custom", "other")
    assert step.gain == pytest.approx(1.5e-3)
    assert [fact.text for fact in step.evidence] == [
        "2 kernels without a bound: 1.5 ms of 2.5 ms",
        "custom, 1 ms; missing: FLOPs and bytes",
        "other, 500 µs; missing: bytes",
    ]


@pytest.mark.parametrize(("time", "place"), [(1e-2, 0), (1e-6, -1)])
def test_wrong_counts_come_first_if_they_take_most_of_the_time(time: float, place: int) -> None:
    above = rw.Kernel("above", 1e9, 10 * time * 2e12, time)
    found = steps_of(above, COPY)
    step = found.steps[place]
    assert (step.kind, step.kernels, step.situation) == ("counts", ("above",), "above its roof")
    assert math.isnan(step.gain)
    assert "'above' is above its roof" in step.evidence[0].text


def test_exposed_communication_and_collectives_of_unknown_bytes_are_told() -> None:
    overlap = Communication(time=4e-3, other=7e-3, hidden=1e-3)
    kernels = rw.Kernels(["copy"], [0.0], [2e9], time=[4e-3], communication=overlap)
    step = next(one for one in rw.plan(kernels, CHIP) if one.kind == "communication")
    assert step.gain == pytest.approx(3e-3)
    assert any("overlap" in note for note in rw.plan(kernels, CHIP).notes)
    alone = steps_of(rw.Kernel("nccl", 0, 1e3, 2e-3, category="all-reduce"))
    assert [one.kind for one in alone] == ["communication"]
    assert alone[0].gain == pytest.approx(2e-3)


def test_fusion_gains_what_the_profile_takes_more_than_the_best_kernels() -> None:
    graph = rw.Graph("tail")
    x = graph.input("x", (65536, 4096), "bf16")
    graph.output(graph.gelu(graph.layernorm(x)))
    light = rw.sol(graph, CHIP)
    (step,) = [one for one in steps_of(COPY, IDLE, light=light) if one.kind == "fusion"]
    assert step.gain == pytest.approx(4e-3 - light.best)
    assert step.evidence[0].is_estimate
    assert "if it is one run" in step.evidence[0].text
    assert not [one for one in steps_of(rw.Kernel("k", 0, 1e6, 1e-6), light=light) if one.kind == "fusion"]


def test_more_advice_becomes_evidence_of_the_kernel_of_its_name() -> None:
    counter = Advice(
        "copy", "uncoalesced", "9 sectors for each request", "Load neighbours.", done=False, check="Count."
    )
    copy, matmul = steps_of(COPY, MATMUL, advices=[counter, Advice("not there", "", "", "", done=False)])
    assert (copy.evidence[-1].text, copy.evidence[-1].source) == ("9 sectors for each request", "uncoalesced")
    assert copy.action.endswith("Load neighbours.")
    assert copy.check.endswith("Count.")
    assert len(matmul.evidence) == 2


def test_every_step_has_an_action_evidence_and_a_check() -> None:
    found = steps_of(MATMUL, COPY, IDLE, UNKNOWN, rw.Kernel("above", 1e9, 1e12, 1e-5))
    for step in found:
        assert step.action
        assert step.evidence
        assert step.check
        assert all(fact.text and fact.source for fact in step.evidence)
    assert set(CHECKS) == set(SUGGESTIONS)


def test_a_plan_is_json_a_table_and_can_be_pickled() -> None:
    found = steps_of(rw.Kernel("<b>", 0, 2e9, 4e-3), rw.Kernel("above", 1e9, 1e12, 1e-5))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["steps"][0]["gain_s"] == pytest.approx(3e-3)
    assert document["steps"][-1]["gain_s"] is None
    assert document["steps"][0]["evidence"][1]["unit"] == "s"
    assert repr(found).startswith("Plan: 2 steps for 4.01 ms on My chip\n")
    assert "unknown" in repr(found)
    assert "&lt;b&gt;" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).steps[0] == found[0]  # noqa: S301 - what the test wrote
    assert (len(found), len(rw.plan([], CHIP)), repr(rw.plan([], CHIP))) == (2, 0, "Plan: 0 steps for 0 s on My chip")


def test_without_a_chip_the_error_says_how_to_name_it() -> None:
    with pytest.raises(ValueError, match=r"plan\(profile, 'h100-sxm'\)"):
        rw.plan([COPY])
    own = rw.Kernels(["copy"], [0.0], [2e9], time=[4e-3], chip=CHIP)
    assert rw.plan(own).chip == "My chip"


def test_gains_are_never_more_than_the_time_of_the_profile() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        n = int(random.integers(1, 30))
        kernels = rw.Kernels(
            [f"k{row % 7}" for row in range(n)],
            np.where(random.random(n) < 0.2, np.nan, 10 ** random.uniform(3, 12, n)),
            np.where(random.random(n) < 0.2, np.nan, 10 ** random.uniform(3, 10, n)),
            time=10 ** random.uniform(-6, -2, n),
            category=["idle" if one < 0.1 else "copy" for one in random.random(n)],
        )
        found = rw.plan(kernels, CHIP)
        known = [step.gain for step in found if not math.isnan(step.gain)]
        assert known == sorted(known, reverse=True)
        # Kernels, waiting and unknown work are different rows.
        assert sum(known) <= found.time * (1 + 1e-9)
