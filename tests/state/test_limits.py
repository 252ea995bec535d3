"""The model's limits: all levels of memory, ceilings, exposed communication and launch overhead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

from roofwidget import Chip, Kernels, RooflineModel, bound, chip, preset
from roofwidget.wire import chips_to_wire

LEVELS = Chip("Levels", {"bf16": 100e12, "fp32": 10e12}, {"HBM": 1e12, "L2": 10e12, "L1": None})
FLAT = Chip("Flat", {"bf16": 400e12}, {"HBM": 2e12})
KERNELS = [{"name": "tiled", "flops": 1e12, "bytes": {"HBM": 2e10, "L2": 5e11}, "time": 0.1, "count": 4}]


@pytest.fixture
def model() -> RooflineModel:
    return RooflineModel([LEVELS.with_ceiling("no FMA", peak_flops="50 TFLOP/s"), FLAT], KERNELS)


def test_with_all_levels_the_rates_are_those_of_the_main_memory(model: RooflineModel) -> None:
    model.memory = "ALL"
    assert (model.memory, model.bandwidth) == ("all", 1e12)
    model.bandwidth = "2 TB/s"
    assert model.what_if == {"levels": {"bandwidth": {"HBM": 2e12}}}
    model.set_what_if(bandwidth="20 TB/s", memory="L2")
    assert model.resolved_chip().bandwidth("L2") == 20e12
    assert model.bandwidth == 2e12


def test_the_model_judges_its_kernels_with_what_if_values_in_force(model: RooflineModel) -> None:
    assert model.bound().bound_by.tolist() == ["HBM"]
    model.memory = "all"
    assert model.bound().bound_by.tolist() == ["L2"]
    model.set_what_if(bandwidth="100 TB/s", memory="L2")
    assert model.bound().bound_by.tolist() == ["HBM"]
    model.launch_overhead = "10 ms"
    assert model.bound().bound_by.tolist() == ["overhead"]
    np.testing.assert_array_equal(model.bound("Flat").time, bound(KERNELS, FLAT, launch_overhead=0.01).time)


def test_the_link_is_a_what_if_rate_like_those_of_memories() -> None:
    node = Chip("Node", {"bf16": 400e12}, {"HBM": 2e12}, links={"PCIe": 6e10, "NVLink": 4e11})
    model = RooflineModel([node, FLAT], Kernels(["all-reduce"], [0], {"HBM": [0], "network": [4e11]}, time=[5]))
    assert model.bound().time.tolist() == [1]
    model.set_what_if(bandwidth="800 GB/s", memory="Network")
    assert model.what_if == {"node": {"bandwidth": {"network": 8e11}}}
    assert model.bound().time.tolist() == [0.5]
    assert model.bandwidth == 2e12
    assert {name: link.bandwidth for name, link in model.resolved_chip().links.items()} == {
        "PCIe": 6e10,
        "NVLink": 8e11,
    }
    model.set_what_if(bandwidth=4e11, memory="network")
    assert model.what_if == {}
    with pytest.raises(LookupError, match="Flat has no known link"):
        model.set_what_if("Flat", bandwidth=1e9, memory="network")


@pytest.mark.parametrize(
    ("given", "kept"),
    [(0.2, (0.2,)), ([0.2, 0.4, 0.2], (0.2, 0.4)), (0, ()), ([], ()), (np.array([0.6]), (0.6,))],
)
def test_roofs_are_drawn_for_one_share_of_exposed_communication_or_several(
    model: RooflineModel, given: Any, kept: tuple[float, ...]
) -> None:
    model.exposed_roofs = given
    assert model.exposed_roofs == kept
    assert all(type(share) is float for share in model.exposed_roofs)


@pytest.mark.parametrize("given", [1, -0.1, 20, "20 %", [0.2, 1.0], [None], True, float("nan")])
def test_a_roof_is_drawn_for_a_share_below_the_whole(model: RooflineModel, given: Any) -> None:
    model.exposed_roofs = 0.3
    with pytest.raises(TraitError, match="exposed_roofs"):
        model.exposed_roofs = given
    assert model.exposed_roofs == (0.3,)


def test_exposed_communication_means_in_a_model_what_it_means_in_bound(model: RooflineModel) -> None:
    model.exposed_comm = 0.3
    own = bound(KERNELS, model.chip(), exposed_comm=0.3)
    for name in ("time", "utilization", "attainable", "bound_by", "headroom"):
        np.testing.assert_array_equal(getattr(model.bound(), name), getattr(own, name))
    assert model.exposed_comm == 0.3
    assert repr(model.bound()).startswith(repr(own).splitlines()[0])


def test_drawn_roofs_of_exposed_communication_change_no_number(model: RooflineModel) -> None:
    before = model.bound().time
    model.exposed_roofs = [0.2, 0.4]
    np.testing.assert_array_equal(model.bound().time, before)


@pytest.mark.parametrize("given", [1, -0.1, "20 %", None, True, float("nan")])
def test_exposed_communication_is_one_share_below_the_whole(model: RooflineModel, given: Any) -> None:
    with pytest.raises(TraitError, match="exposed_comm"):
        model.exposed_comm = given
    assert model.exposed_comm == 0


def test_several_shares_of_exposed_communication_name_the_trait_that_takes_several(model: RooflineModel) -> None:
    with pytest.raises(TraitError, match=r"exposed_comm.*exposed_roofs takes several"):
        model.exposed_comm = [0.2, 0.4]


def test_exposed_communication_and_network_bytes_exclude_each_other_in_a_model_too() -> None:
    linked = Chip("Linked", {"bf16": 1e14}, {"HBM": 1e12}, links={"Link": 1e11})
    sent = Kernels(["step"], [1e12], {"HBM": [1e9], "network": [1e9]})
    with pytest.raises(TraitError, match="exposed_comm excludes network bytes"):
        RooflineModel([linked], sent, exposed_comm=0.1)
    model = RooflineModel([linked], sent)
    with pytest.raises(TraitError, match="exposed_comm: exposed_comm excludes network bytes"):
        model.exposed_comm = 0.1
    model = RooflineModel([linked], [("a", 1e12, 1e9)], exposed_comm=0.1)
    with pytest.raises(TraitError, match="kernels: exposed_comm excludes network bytes"):
        model.kernels = sent
    assert model.kernels.names.tolist() == ["a"]


def test_an_unmeasured_kernel_is_frozen_on_the_roof_that_exposed_communication_leaves(model: RooflineModel) -> None:
    model.kernels = [("planned", 1e12, 1e11)]
    whole = model.freeze().kernels
    model.exposed_comm = 0.5
    assert model.freeze().kernels == tuple((name, ai, rate / 2) for name, ai, rate in whole)


def test_ceilings_are_the_chips_own_until_some_are_named_in_any_case(model: RooflineModel) -> None:
    assert model.ceilings is None
    model.ceilings = ["FP32", "no fma"]
    assert model.ceilings == ("fp32", "no FMA")
    model.ceilings = None
    assert model.ceilings is None


def test_a_ceiling_that_no_chip_has_is_refused_with_the_nearest(model: RooflineModel) -> None:
    with pytest.raises(TraitError, match="none of the chips has 'no FMAs'; nearest: 'no FMA'"):
        model.ceilings = ["no FMAs"]


def test_named_ceilings_go_with_the_chips_that_have_them_and_the_others_stay(model: RooflineModel) -> None:
    model.ceilings = ["no FMA", "fp32"]
    model.chips = [FLAT]
    assert model.ceilings == ()
    model.chips = [LEVELS, FLAT]
    model.ceilings = ["fp32"]
    model.chips = [LEVELS]
    assert model.ceilings == ("fp32",)


def test_a_ceiling_that_two_chips_spell_differently_has_the_focus_chips_spelling() -> None:
    first, second = FLAT.with_ceiling("No FMA", peak_flops=1e13), LEVELS.with_ceiling("no fma", peak_flops=1e13)
    model = RooflineModel([first, second], ceilings=["NO FMA"])
    assert model.ceilings == ("No FMA",)


@pytest.mark.parametrize("given", [-1e-6, "5 parsecs", None, float("inf")])
def test_a_launch_overhead_is_a_time(model: RooflineModel, given: Any) -> None:
    model.launch_overhead = "5 us"
    assert model.launch_overhead == 5e-6
    with pytest.raises(TraitError, match="launch_overhead"):
        model.launch_overhead = given
    assert model.launch_overhead == 5e-6


def test_a_ceiling_of_a_level_is_named_with_its_level() -> None:
    model = RooflineModel(preset("williams-2009"), ceilings=["STREAM DRAM"])
    assert model.ceilings == ("STREAM DRAM",)


def test_the_wire_tells_links_what_is_illustrative_and_what_was_measured() -> None:
    v5p, bare, shown = chips_to_wire([chip("v5p"), FLAT, preset("tpu-roofline-guide-vmem").chips[0]])
    assert (v5p["link"], bare["link"]) == (600e9, None)
    assert (v5p["illustrative"], shown["illustrative"]) == ([], ["VMEM"])
    measured = chips_to_wire([FLAT.with_measured(bandwidth={"HBM": "1.8 TB/s"})])[0]
    assert [figure["value"] for figure in measured["figures"] if figure["measured"]] == [1.8e12]
    assert [(one["key"], one["measured"]) for one in measured["ceilings"]] == [("measured HBM", True)]


def test_the_wire_tells_only_of_sources_that_differ() -> None:
    figures = {figure["label"]: figure for figure in chips_to_wire([chip("h100-sxm")])[0]["figures"]}
    assert [value for value, _ in figures["Peak bf16"]["checks"]] == [1979e12, 1070530560000000]
