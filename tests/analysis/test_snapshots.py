"""Snapshots: their content, refused arguments, and their form on the wire."""

from __future__ import annotations

import math
from typing import Any

import pytest
from traitlets import TraitError

from roofwidget import Chip, Kernels, RooflineModel, Snapshot, wire

# The ridge points are 100 FLOP/byte for HBM and 10 for L2.
CHIP = Chip("Example", {"bf16": 100e12}, {"HBM": 1e12, "L2": 10e12})
KERNELS = [
    ("measured", 1e12, 1e11, 0.4),
    ("on the roof", 2e12, 1e11),
    ("flat", 4e14, 1e12),
    ("copy", 0, 1e9, 1e-2),
    ("no bytes", 1e12, 0, 1),
    ("opaque", None, None),
]
GOOD: dict[str, Any] = {
    "name": "before",
    "chip": "example",
    "precision": "bf16",
    "memory": "HBM",
    "peak_flops": 1e14,
    "bandwidth": 1e12,
    "kernels": [("gelu", 10, 1e13)],
}


@pytest.fixture
def model() -> RooflineModel:
    return RooflineModel([CHIP], KERNELS)


def test_a_snapshot_keeps_the_roof_in_force_and_where_each_kernel_stands(model: RooflineModel) -> None:
    model.set_what_if(bandwidth="2 TB/s")
    frozen = model.freeze("before")
    assert model.snapshots == (frozen,)
    assert (frozen.name, frozen.chip, frozen.precision, frozen.memory) == ("before", "example", "bf16", "HBM")
    assert (frozen.peak_flops, frozen.bandwidth, frozen.hidden) == (100e12, 2e12, False)
    # Measured kernels at their measured rate, others on the roof, copies in bytes/s; the longest first.
    assert frozen.kernels == (
        ("no bytes", math.inf, 1e12),
        ("measured", 10, 2.5e12),
        ("copy", 0, 1e11),
        ("on the roof", 20, 40e12),
        ("flat", 400, 100e12),
    )


def test_with_all_levels_a_kernel_stands_at_the_one_that_binds(model: RooflineModel) -> None:
    model.kernels = Kernels(["a", "b", "c"], [1e12] * 3, {"HBM": [1e9, 1e11, 1e9], "L2": [1e12, 1e11, 1e9]})
    model.memory = "all"
    assert [place[:2] for place in model.freeze().kernels] == [("a", 1), ("b", 10), ("c", 1000)]
    assert model.snapshots[0].bandwidth == 1e12


def test_a_kernel_without_flops_stands_at_a_level_where_it_moves_bytes_whatever_binds_it(model: RooflineModel) -> None:
    model.kernels = Kernels(["copy", "nothing"], [0, 0], {"HBM": [0, 0], "L2": [1e9, 0]})
    model.launch_overhead, model.memory = 1, "all"
    assert model.freeze().kernels == (("copy", 0, 10e12),)
    model.memory = "HBM"
    assert model.freeze().kernels == ()


def test_snapshots_are_named_by_number_unless_told_otherwise(model: RooflineModel) -> None:
    assert [model.freeze(name).name for name in ("", " after ", "", "")] == [
        *("snapshot 1", "after", "snapshot 2", "snapshot 3")
    ]
    model.snapshots = model.snapshots[1:]
    assert model.freeze().name == "snapshot 1"


def test_kernels_are_kept_also_where_the_totals_of_their_program_are_shown(model: RooflineModel) -> None:
    model.kernels = Kernels(["gelu"], [1e12], [1e11], time=[1], program=Kernels(["Program"], [1e12], [5e10], time=[2]))
    model.scope = "program"
    assert model.freeze().kernels == (("gelu", 10, 1e12),)


def test_of_very_many_kernels_the_200_longest_are_kept_and_each_name_once(model: RooflineModel) -> None:
    n = 1000
    names = [f"k{row % 500}" for row in range(n)]
    model.kernels = Kernels(names, [1e12] * n, [1e11] * n, time=[1 + row for row in range(n)])
    kept = model.freeze().kernels
    assert len(kept) == 200
    assert kept[0] == ("k499", 10, 1e9)
    assert kept[-1] == ("k300", 10, 1e12 / 801)
    model.kernels = Kernels(["gelu", "gelu"], [1e12] * 2, [1e11] * 2, time=[1, 2])
    assert model.freeze().kernels == (("gelu", 10, 5e11),)


def test_what_a_message_may_not_hold_is_replaced_in_every_text() -> None:
    frozen = Snapshot(**{**GOOD, "name": "a\ud800", "kernels": [("b\ud800", 1, 2)]})
    assert (frozen.name, frozen.kernels) == ("a?", (("b?", 1, 2),))


def test_only_kernels_that_pass_the_filters_are_kept(model: RooflineModel) -> None:
    model.search = "me"
    assert [name for name, *_ in model.freeze().kernels] == ["measured"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "a snapshot needs a name of 1 to 80 characters, got ''"),
        ({"name": "x" * 81}, "a snapshot needs a name of 1 to 80 characters"),
        ({"name": 3}, "the name of a snapshot must be text, got 3"),
        ({"peak_flops": 0}, "peak_flops of snapshot 'before'"),
        ({"bandwidth": math.nan}, "bandwidth of snapshot 'before'"),
        ({"kernels": "gelu"}, "kernels of snapshot 'before' must be rows of"),
        ({"kernels": [("gelu", 10)]}, "kernels of snapshot 'before' must be rows of"),
        ({"kernels": [("gelu", -1, 1e12)]}, "kernel 'gelu' of snapshot 'before' has no position at -1, "),
        ({"kernels": [("gelu", 1, math.inf)]}, "kernel 'gelu' of snapshot 'before' has no position at 1, inf"),
        ({"kernels": [("gelu", "far", 1)]}, "kernel 'gelu' of snapshot 'before' has no position at 'far', 1"),
        ({"kernels": [("gelu", 1, 1)] * 201}, "snapshot 'before' holds at most 200 kernels, got 201"),
    ],
)
def test_what_can_have_no_place_is_refused_by_name(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        Snapshot(**{**GOOD, **wrong})
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("wrong", ["before", [1], [GOOD], None, 3])
def test_a_trait_of_something_else_is_refused_and_nothing_changes(model: RooflineModel, wrong: Any) -> None:
    frozen = model.freeze()
    with pytest.raises(TraitError, match="a list of Snapshot objects"):
        model.snapshots = wrong
    assert model.snapshots == (frozen,)


def test_nothing_is_kept_where_there_is_no_roof_or_the_name_is_too_long(model: RooflineModel) -> None:
    with pytest.raises(TraitError, match="there are no chips"):
        RooflineModel([], []).freeze()
    with pytest.raises(TraitError, match="freeze: a snapshot needs a name of 1 to 80 characters"):
        model.freeze("x" * 81)
    assert model.snapshots == ()


def test_a_model_starts_with_the_snapshots_it_is_given(model: RooflineModel) -> None:
    frozen = model.freeze("before")
    assert RooflineModel([CHIP], KERNELS, snapshots=frozen).snapshots == (frozen,)


def test_what_is_sent_comes_back_the_same_and_without_infinities(model: RooflineModel) -> None:
    model.freeze("before")
    sent = wire.snapshots_to_wire(model.snapshots)
    assert sent[0]["kernels"][0] == ["no bytes", None, 1e12]
    assert (sent[0]["peak"], sent[0]["hidden"]) == (100e12, False)
    assert wire.snapshots_from_wire(sent) == model.snapshots


def test_the_precision_that_all_kernels_share_is_kept_with_its_peak_as_the_page_keeps_it() -> None:
    chip = Chip("Two", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12})
    model = RooflineModel([chip], Kernels(["a", "copy"], [1e12, 0], [1e11, 1e11], precision=["fp8", None]))
    frozen = model.freeze()
    assert (frozen.precision, frozen.peak_flops) == ("fp8", 200e12)
    assert model.bound().precision == "fp8"
    assert model.bound().peak.tolist() == [model.peak_flops] * 2 == [200e12] * 2


def test_a_kernel_whose_bound_is_unknown_has_no_place_on_the_roof(model: RooflineModel) -> None:
    model.kernels = Kernels(["no peak", "copy"], [1e12, 0], [1e11, 1e11], precision=["fp64", None])
    assert [name for name, _, _ in model.freeze().kernels] == ["copy"]


def test_what_took_no_time_comes_before_what_was_not_measured(model: RooflineModel) -> None:
    model.kernels = Kernels(["planned", "skipped"], [1e12, 1e12], [1e11, 1e11], time=[math.nan, 0])
    assert [name for name, _, _ in model.freeze().kernels] == ["skipped", "planned"]
