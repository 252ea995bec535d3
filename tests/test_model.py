"""The model without a browser: its defaults, the values that it accepts and refuses, and what a change causes."""

from __future__ import annotations

import contextlib
import math
import runpy
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import traitlets
from traitlets import TraitError

from roofwidget import Chip, Kernel, Kernels, MissingFigureError, RooflineModel, RooflineWidget, chain, preset
from roofwidget.state.state import TRAITS
from tests.places import ROOT, text_of
from tests.processes import run_python

# Seconds. No test needs a tenth of this; a deadlock fails instead of hanging.
PATIENCE = 10.0
TOO_LARGE = 10**400

SMALL = Chip("Small", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12, "L2": 10e12, "L1": None}, aliases=["tiny"])
LARGE = Chip("Large", {"bf16": 400e12}, {"HBM": 2e12})
OTHER = Chip("Other", {"fp32": 1e12}, {"DRAM": 1e11})
KERNELS = [("matmul", 4.3e9, 1.2e7), ("copy", 0, 8e6), ("opaque", None, None)]

# Written by hand; the front end's table is held to it too.
SYNCED = {name for name, field in TRAITS.items() if field.sync}
BAD_RATES = [0, -1, math.nan, math.inf, TOO_LARGE, None, True, "6 parsecs", "", "0 FLOP/s"]


@pytest.fixture
def model() -> RooflineModel:
    return RooflineModel([SMALL, LARGE], KERNELS)


@pytest.fixture
def _threads_switch_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def brief(value: Any) -> str:
    return repr(value)[:30]


def state(model: RooflineModel) -> dict[str, Any]:
    """Return every trait, with None for NaN, so that states can be compared."""
    values = {name: getattr(model, name) for name in RooflineModel.class_trait_names()}
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}


def events(model: RooflineModel, *names: str) -> list[str]:
    """Return a list to which the name of each change from now on is added."""
    seen: list[str] = []
    model.observe(lambda change: seen.append(change["name"]), list(names) or traitlets.All)
    return seen


def in_threads(*works: Callable[[], None]) -> None:
    """Run each function in its own thread; a deadlock or an error in a thread fails the test."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below, in the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    if errors:
        raise errors[0]


# -- what it holds at first ------------------------------------------------------------------------------------


def test_by_default_a_model_holds_the_guides_chips_and_kernels() -> None:
    guide, model = preset("tpu-roofline-guide"), RooflineModel()
    assert model.chips == guide.chips
    assert model.kernels == guide.kernels
    assert model.shown == tuple(chip.id for chip in guide.chips)
    assert model.focus_chip == guide.chips[0].id
    assert (model.peak_flops, model.bandwidth) == (guide.chips[0].peak(), guide.chips[0].bandwidth())


def test_by_default_nothing_is_chosen_changed_or_pointed_at() -> None:
    model = RooflineModel()
    assert (model.precision, model.memory, model.title) == ("auto", "main", "")
    assert model.what_if == {}
    assert model.selected == ()
    assert model.hovered is None
    assert len(model.selected_kernels) == 0
    assert model.hovered_kernel is None


def test_a_preset_brings_its_kernels_and_chips_alone_bring_none() -> None:
    guide = preset("tpu-roofline-guide")
    assert RooflineModel(guide).kernels == guide.kernels
    assert len(RooflineModel(["v5p"]).kernels) == 0


def test_kernels_alone_are_shown_on_the_chip_they_ran_on_else_on_the_guides() -> None:
    assert RooflineModel(kernels=Kernels(["a"], [1], [1], chip=SMALL)).chips == (SMALL,)
    assert RooflineModel(kernels=KERNELS).chips == preset("tpu-roofline-guide").chips


@pytest.mark.parametrize(
    "asked",
    [
        lambda model: model.bound(),
        lambda model: model.chip("v5p"),
        lambda model: model.resolved_chip(),
        lambda model: model.projection(),
        lambda model: model.set_what_if(peak_flops=1e12),
        lambda model: setattr(model, "peak_flops", 1e12),
        lambda model: setattr(model, "shown", ["v5p"]),
        lambda model: setattr(model, "precision", "bf16"),
        lambda model: setattr(model, "memory", "L2"),
        lambda model: setattr(model, "ceilings", ["STREAM"]),
    ],
)
def test_what_needs_a_chip_where_there_is_none_is_one_clear_error(asked: Callable[[RooflineModel], object]) -> None:
    model = RooflineModel([], KERNELS)
    with pytest.raises(TraitError, match=r"there are no chips.*; pass chips=\['h100-sxm'\] or the like"):
        asked(model)
    assert [model.shown, model.precision, model.memory, model.ceilings] == [(), "auto", "main", None]
    assert math.isnan(model.peak_flops)
    assert repr(model).startswith("RooflineModel(no chips; ")


def test_the_first_six_chips_are_shown_at_first() -> None:
    chips = [Chip(f"chip {number}", {"bf16": 1e12}, {"HBM": 1e12}) for number in range(8)]
    assert RooflineModel(chips).shown == tuple(chip.id for chip in chips[:6])


def test_a_model_without_chips_has_no_focus_and_no_rates() -> None:
    model = RooflineModel([])
    assert (model.chips, model.shown, model.focus_chip) == ((), (), "")
    assert math.isnan(model.peak_flops)
    assert math.isnan(model.bandwidth)
    assert repr(model) == "RooflineModel(no chips; 0 kernels)"


def test_every_trait_can_be_given_at_the_start() -> None:
    model = RooflineModel(
        [SMALL, LARGE],
        KERNELS,
        title="A lecture",
        shown=["large"],
        focus_chip="large",
        precision="bf16",
        memory="HBM",
        peak_flops="500 TFLOP/s",
        bandwidth=3e12,
        selected=[1],
        hovered=0,
    )
    assert (model.title, model.shown, model.focus_chip) == ("A lecture", ("large",), "large")
    assert (model.precision, model.memory) == ("bf16", "HBM")
    assert (model.peak_flops, model.bandwidth) == (500e12, 3e12)
    assert model.what_if == {"large": {"peak_flops": {"bf16": 500e12}, "bandwidth": {"HBM": 3e12}}}
    assert (model.selected, model.hovered) == ((1,), 0)


def test_an_unknown_keyword_names_the_nearest_trait() -> None:
    with pytest.raises(TypeError, match="RooflineModel has no keyword 'slected'; did you mean 'selected'"):
        RooflineModel(slected=[1])


# -- every trait is set and observed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("title", "A lecture", "A lecture"),
        ("chips", [LARGE], (LARGE,)),
        ("chips", LARGE, (LARGE,)),
        ("kernels", [("a", 1, 2)], Kernels(["a"], [1], [2])),
        ("kernels", Kernel("a", 1, 2), Kernels(["a"], [1], [2])),
        ("kernels", Kernels(["a"], [1], [2]).to_dataframe(), Kernels(["a"], [1], [2])),
        ("shown", ["large"], ("large",)),
        ("shown", ["LARGE"], ("large",)),
        ("shown", "tiny", ("small",)),
        ("shown", [], ()),
        ("focus_chip", "large", "large"),
        ("focus_chip", "Large", "large"),
        ("precision", "FP8", "fp8"),
        ("memory", "l2", "L2"),
        ("peak_flops", 6e15, 6e15),
        ("peak_flops", "6 PFLOP/s", 6e15),
        ("bandwidth", np.float64(8e12), 8e12),
        ("bandwidth", "8 TB/s", 8e12),
        ("selected", [2, 0, 2], (2, 0)),
        ("selected", np.array([1]), (1,)),
        ("hovered", 1, 1),
        ("hovered", np.int64(1), 1),
    ],
    ids=brief,
)
def test_a_trait_is_set_in_any_of_its_forms_and_observed_once(
    model: RooflineModel, name: str, given: Any, kept: Any
) -> None:
    seen: list[Any] = []
    model.observe(lambda change: seen.append(change["new"]), name)
    setattr(model, name, given)
    assert getattr(model, name) == kept
    assert seen == [kept]
    setattr(model, name, given)
    assert seen == [kept]


def test_shown_chips_keep_the_order_of_chips(model: RooflineModel) -> None:
    model.shown = []
    model.shown = ["large", "small"]
    assert list(model.shown) == ["small", "large"]


def test_what_if_cannot_be_assigned_or_written_into(model: RooflineModel) -> None:
    with pytest.raises(TraitError, match="read-only"):
        model.what_if = {}
    model.peak_flops = 6e15
    with pytest.raises(TypeError):
        model.what_if["small"]["peak_flops"]["bf16"] = 1.0  # type: ignore[index]
    with pytest.raises(TypeError):
        model.what_if["large"] = {}  # type: ignore[index]


def test_the_repr_names_shown_chips_and_counts_kernels(model: RooflineModel) -> None:
    model.shown = ["large"]
    assert repr(model) == "RooflineModel(Large; 3 kernels)"


# -- rates and what-ifs ----------------------------------------------------------------------------------------


def test_rates_are_those_of_the_data_sheet_for_the_focus_chip_and_the_chosen_precision_and_memory(
    model: RooflineModel,
) -> None:
    assert (model.peak_flops, model.bandwidth) == (100e12, 1e12)
    model.precision, model.memory = "fp8", "L2"
    assert (model.peak_flops, model.bandwidth) == (200e12, 10e12)
    model.precision, model.memory, model.focus_chip = "auto", "main", "large"
    assert (model.peak_flops, model.bandwidth) == (400e12, 2e12)


def test_a_rate_that_the_focus_chip_lacks_is_nan_and_cannot_be_changed(model: RooflineModel) -> None:
    model.focus_chip, model.precision, model.memory = "large", "fp8", "L2"
    assert math.isnan(model.peak_flops)
    assert math.isnan(model.bandwidth)
    before = state(model)
    with pytest.raises(TraitError, match="Large has no peak for precision 'fp8'; it has 'bf16'"):
        model.peak_flops = 1e15
    with pytest.raises(TraitError, match="Large has no memory 'L2'; it has 'HBM'"):
        model.bandwidth = 1e12
    assert state(model) == before


def test_a_rate_that_the_focus_chip_lacks_from_the_start_is_nan() -> None:
    model = RooflineModel([LARGE, SMALL], precision="fp8", memory="L2")
    assert math.isnan(model.peak_flops)
    assert math.isnan(model.bandwidth)


def test_a_changed_rate_is_remembered_by_chip(model: RooflineModel) -> None:
    model.peak_flops = 111e12
    model.focus_chip = "large"
    assert model.peak_flops == 400e12
    model.peak_flops = 444e12
    model.focus_chip = "small"
    assert model.peak_flops == 111e12
    assert model.what_if == {"small": {"peak_flops": {"bf16": 111e12}}, "large": {"peak_flops": {"bf16": 444e12}}}


def test_a_changed_peak_is_remembered_by_precision(model: RooflineModel) -> None:
    model.peak_flops = 111e12
    model.precision = "fp8"
    assert model.peak_flops == 200e12
    model.peak_flops = 222e12
    model.precision = "bf16"
    assert model.peak_flops == 111e12
    assert model.what_if["small"]["peak_flops"] == {"bf16": 111e12, "fp8": 222e12}


def test_a_changed_bandwidth_is_remembered_by_memory(model: RooflineModel) -> None:
    model.bandwidth = 3e12
    model.memory = "L2"
    assert model.bandwidth == 10e12
    model.bandwidth = 30e12
    model.memory = "main"
    assert model.bandwidth == 3e12
    assert model.what_if["small"]["bandwidth"] == {"HBM": 3e12, "L2": 30e12}


def test_a_what_if_leaves_the_data_sheet_alone_and_shows_in_the_resolved_chip(model: RooflineModel) -> None:
    model.set_what_if("small", peak_flops=111e12, bandwidth=3e12)
    assert model.chip("small") == SMALL
    resolved = model.resolved_chip("small")
    assert (resolved.peak("bf16"), resolved.peak("fp8")) == (111e12, 200e12)
    assert (resolved.bandwidth(), resolved.bandwidth("L2")) == (3e12, 10e12)
    assert (resolved.id, resolved.name) == ("small", "Small")
    assert model.resolved_chip("large").peak() == 400e12


def test_set_what_if_changes_any_chip_precision_and_memory_and_takes_text(model: RooflineModel) -> None:
    model.set_what_if("Small", peak_flops="2 PFLOP/s", bandwidth="8 TB/s", precision="FP8", memory="l2")
    assert model.what_if == {"small": {"peak_flops": {"fp8": 2e15}, "bandwidth": {"L2": 8e12}}}
    assert (model.peak_flops, model.bandwidth) == (100e12, 1e12)


def test_set_what_if_takes_the_focus_chip_and_the_chosen_ones_by_default(model: RooflineModel) -> None:
    model.focus_chip = "large"
    model.set_what_if(peak_flops=1e15)
    assert model.what_if == {"large": {"peak_flops": {"bf16": 1e15}}}
    assert model.peak_flops == 1e15


def test_a_rate_set_back_to_the_data_sheet_leaves_no_trace(model: RooflineModel) -> None:
    model.set_what_if(peak_flops=111e12, bandwidth=3e12)
    model.peak_flops = 100e12
    assert model.what_if == {"small": {"bandwidth": {"HBM": 3e12}}}
    model.bandwidth = 1e12
    assert model.what_if == {}


def test_reset_goes_back_to_the_data_sheet_for_one_chip_or_for_all(model: RooflineModel) -> None:
    for _ in range(2):
        model.set_what_if("small", peak_flops=111e12)
        model.set_what_if("large", bandwidth=3e12)
        model.reset("Small")
        assert model.what_if == {"large": {"bandwidth": {"HBM": 3e12}}}
        assert model.peak_flops == 100e12
    model.reset()
    assert model.what_if == {}
    assert model.resolved_chip("large").bandwidth() == 2e12


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("peak_flops", value) for value in BAD_RATES),
        *(("bandwidth", value) for value in BAD_RATES),
        ("peak_flops", "6 TB/s"),
        ("bandwidth", "6 PFLOP/s"),
        ("title", None),
        ("title", 5),
        ("chips", None),
        ("chips", 5),
        ("chips", [None]),
        ("chips", ["no such chip"]),
        ("chips", [LARGE, LARGE]),
        ("chips", [LARGE, Chip("large", {"bf16": 1e12}, {"HBM": 1e12})]),
        ("kernels", None),
        ("kernels", 5),
        ("kernels", [("a", -1, 2)]),
        ("kernels", [("a", TOO_LARGE, 2)]),
        ("kernels", [("a", 1)]),
        ("kernels", [{"name": "a", "flops": 1, "bytes": 1, "count": math.inf}]),
        ("kernels", [{"name": "a", "flops": 1, "bytes": 1, "precision": 5}]),
        ("shown", None),
        ("shown", 5),
        ("shown", [5]),
        ("shown", [None]),
        ("shown", ["large", "no such chip"]),
        ("focus_chip", None),
        ("focus_chip", ""),
        ("focus_chip", "no such chip"),
        ("precision", None),
        ("precision", ""),
        ("precision", "fp3"),
        ("memory", None),
        ("memory", ""),
        ("memory", "L9"),
        ("memory", "L1"),
        ("selected", None),
        ("selected", 5),
        ("selected", "0"),
        ("selected", [3]),
        ("selected", [-1]),
        ("selected", [0, 1.0]),
        ("selected", [True]),
        ("hovered", 3),
        ("hovered", -1),
        ("hovered", 0.0),
        ("hovered", "0"),
        ("hovered", True),
    ],
    ids=brief,
)
def test_a_bad_value_raises_one_clear_error_and_changes_nothing(model: RooflineModel, name: str, value: Any) -> None:
    model.set_what_if("large", peak_flops=1e15)
    model.selected, model.hovered = [1], 2
    before, seen = state(model), events(model)
    with pytest.raises(TraitError, match=f"{name}|none of the chips here") as caught:
        setattr(model, name, value)
    assert len(str(caught.value)) < 300
    assert state(model) == before
    assert seen == []


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("precision", "fp3", "'bf16', 'fp8'"),
        ("memory", "L9", "'HBM', 'L2'"),
        ("focus_chip", "larg", "nearest: 'large'"),
        ("chips", [LARGE, LARGE], "two chips have the id 'large'"),
        ("kernels", [("a", 1, 2), ("b", -1, 2)], "kernel 1: flops of kernel 'b'"),
        ("selected", [3], "3 is not a row of kernels, which has 3"),
        ("peak_flops", 0, "finite number above zero, got 0"),
    ],
)
def test_an_error_names_what_would_have_been_right(model: RooflineModel, name: str, value: Any, named: str) -> None:
    with pytest.raises(TraitError, match=named):
        setattr(model, name, value)


@pytest.mark.parametrize("rate", BAD_RATES[:5], ids=brief)
def test_set_what_if_refuses_a_bad_rate_and_changes_nothing(model: RooflineModel, rate: Any) -> None:
    before = state(model)
    with pytest.raises(ValueError, match="bandwidth of Small"):
        model.set_what_if(peak_flops=1e15, bandwidth=rate)
    assert state(model) == before


def test_a_kernel_whose_peak_a_chip_lacks_hides_no_other() -> None:
    kernels = Kernels(["a", "b"], [100, 100], [1, 1], precision=["fp64", "bf16"])
    model = RooflineModel([Chip("Small", {"bf16": 50}, {"HBM": 10})], kernels)
    assert model.bound().bound_by.tolist() == ["unknown", "compute"]
    assert model.bound().time[1] == 2


def test_set_what_if_refuses_what_the_chip_lacks_and_changes_nothing(model: RooflineModel) -> None:
    before = state(model)
    with pytest.raises(MissingFigureError, match="Large has no peak for precision 'fp8'"):
        model.set_what_if("large", peak_flops=1e15, precision="fp8")
    with pytest.raises(MissingFigureError, match="Small has no bandwidth for L1"):
        model.set_what_if("small", peak_flops=1e15, bandwidth=1e12, memory="L1")
    with pytest.raises(TraitError, match="'no such chip' is none of the chips here"):
        model.set_what_if("no such chip", peak_flops=1e15)
    assert state(model) == before


@pytest.mark.parametrize("bad", [{"selected": [9]}, {"focus_chip": "none"}, {"peak_flops": 0}, {"shown": 5}])
def test_a_bad_value_at_the_start_makes_no_model(bad: dict[str, Any]) -> None:
    with pytest.raises(TraitError, match=f"{next(iter(bad))}|none of the chips here"):
        RooflineModel([SMALL], KERNELS, **bad)


# -- what follows from what ------------------------------------------------------------------------------------


def test_new_chips_keep_what_can_be_kept(model: RooflineModel) -> None:
    model.set_what_if("large", peak_flops=1e15, bandwidth=5e12)
    model.shown, model.focus_chip, model.precision, model.memory = ["large"], "large", "bf16", "HBM"
    model.selected, model.hovered = [1], 2
    before = state(model)
    model.chips = [LARGE, OTHER]
    assert state(model) == before | {"chips": (LARGE, OTHER), "shown": ("large", "other")}


def test_chips_that_are_added_are_shown_but_not_those_that_were_hidden(model: RooflineModel) -> None:
    model.shown = ["large"]
    model.chips = [OTHER, SMALL, LARGE]
    assert (model.shown, model.focus_chip) == (("other", "large"), "large")


def test_chips_are_added_to_those_shown_up_to_the_usual_six() -> None:
    chips = [Chip(f"c{number}", {"bf16": 1}, {"HBM": 1}) for number in range(12)]
    model = RooflineModel(chips[:4])
    model.chips = chips[:9]
    assert model.shown == ("c0", "c1", "c2", "c3", "c4", "c5")
    model.shown = [chip.id for chip in chips[:8]]
    model.chips = chips
    assert model.shown == tuple(f"c{number}" for number in range(8))


def test_what_is_said_to_be_shown_together_with_chips_is_shown_alone(model: RooflineModel) -> None:
    with model.hold_trait_notifications():
        model.chips = [SMALL, LARGE, OTHER]
        model.shown = ["other"]
    assert model.shown == ("other",)
    assert RooflineModel([SMALL, LARGE], shown=["large"]).shown == ("large",)


def test_new_chips_drop_what_cannot_be_kept(model: RooflineModel) -> None:
    model.precision, model.memory = "fp8", "L2"
    model.set_what_if("small", peak_flops=1e15, bandwidth=5e12)
    model.set_what_if("large", peak_flops=1e15, precision="bf16")
    model.chips = [OTHER]
    assert (model.shown, model.focus_chip) == (("other",), "other")
    assert (model.precision, model.memory) == ("auto", "main")
    assert model.what_if == {}
    assert (model.peak_flops, model.bandwidth) == (1e12, 1e11)


@pytest.mark.parametrize("changed", ["small", "large"])
def test_new_chips_drop_the_what_ifs_of_those_that_went(model: RooflineModel, changed: str) -> None:
    model.set_what_if(changed, peak_flops=1e15)
    seen = events(model)
    model.chips = [OTHER]
    assert (model.what_if, model.focus_chip, model.peak_flops) == ({}, "other", 1e12)
    assert sorted(seen) == ["bandwidth", "chips", "focus_chip", "peak_flops", "shown", "what_if"]


def test_new_figures_for_a_chip_drop_the_what_ifs_of_those_it_no_longer_has(model: RooflineModel) -> None:
    model.set_what_if("small", peak_flops=1e15, bandwidth=5e12, precision="fp8", memory="L2")
    model.set_what_if("small", peak_flops=2e15, bandwidth=6e12)
    model.chips = [Chip("Small", {"bf16": 1e12}, {"HBM": 1e12})]
    assert model.what_if == {"small": {"peak_flops": {"bf16": 2e15}, "bandwidth": {"HBM": 6e12}}}
    assert set(model.resolved_chip().peak_flops) == {"bf16"}


def test_chips_can_go_and_come_back(model: RooflineModel) -> None:
    model.chips = []
    assert (model.shown, model.focus_chip) == ((), "")
    assert math.isnan(model.peak_flops)
    model.chips = [LARGE]
    assert (model.shown, model.focus_chip, model.peak_flops) == (("large",), "large", 400e12)


def test_new_kernels_clear_what_is_selected_and_hovered(model: RooflineModel) -> None:
    model.selected, model.hovered = [1, 2], 0
    model.kernels = [("a", 1, 2)]
    assert (model.selected, model.hovered) == ((), None)


def test_selected_and_hovered_kernels_are_those_rows(model: RooflineModel) -> None:
    model.selected, model.hovered = [2, 0], 1
    assert model.selected_kernels.names.tolist() == ["opaque", "matmul"]
    assert model.hovered_kernel == Kernel("copy", 0, 8e6)
    model.selected, model.hovered = [], None
    assert len(model.selected_kernels) == 0
    assert model.hovered_kernel is None


# -- events ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda m: setattr(m, "peak_flops", 1e15), ["peak_flops", "what_if"]),
        (lambda m: setattr(m, "bandwidth", 5e12), ["bandwidth", "what_if"]),
        (lambda m: m.set_what_if(peak_flops=1e15), ["peak_flops", "what_if"]),
        (lambda m: m.set_what_if(peak_flops=1e15, bandwidth=5e12), ["bandwidth", "peak_flops", "what_if"]),
        (lambda m: m.set_what_if("large", peak_flops=1e15), ["what_if"]),
        (lambda m: setattr(m, "focus_chip", "large"), ["bandwidth", "focus_chip", "peak_flops"]),
        (lambda m: setattr(m, "precision", "fp8"), ["peak_flops", "precision"]),
        (lambda m: setattr(m, "precision", "bf16"), ["precision"]),
        (lambda m: setattr(m, "memory", "L2"), ["bandwidth", "memory"]),
        (lambda m: setattr(m, "kernels", [("a", 1, 2)]), ["hovered", "kernels", "selected"]),
        (lambda m: setattr(m, "peak_flops", 100e12), []),
        (lambda m: m.set_what_if(peak_flops=100e12), []),
        (lambda m: m.reset(), []),
    ],
)
def test_observers_fire_once_per_change(
    model: RooflineModel, change: Callable[[RooflineModel], None], expected: list[str]
) -> None:
    model.selected, model.hovered = [1], 1
    seen = events(model)
    change(model)
    assert sorted(seen) == expected


def test_an_observer_sees_rates_and_what_if_agree(model: RooflineModel) -> None:
    agreed: list[bool] = []

    def look(_change: Any) -> None:
        agreed.append(
            model.resolved_chip().peak() == model.peak_flops and model.resolved_chip().bandwidth() == model.bandwidth
        )

    model.observe(look, ["peak_flops", "bandwidth", "what_if"])
    model.peak_flops = 1e15
    model.bandwidth = 5e12
    assert agreed == [True] * 4


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.set_what_if(peak_flops=1e15),
        lambda m: setattr(m, "peak_flops", 1e15),
        lambda m: setattr(m, "focus_chip", "large"),
    ],
)
def test_a_bandwidth_that_an_observer_of_the_peak_sets_is_not_undone(
    model: RooflineModel, change: Callable[[RooflineModel], None]
) -> None:
    model.observe(lambda _change: setattr(model, "bandwidth", 7e12), "peak_flops")
    change(model)
    assert model.bandwidth == 7e12
    assert model.what_if[model.focus_chip]["bandwidth"] == {"HBM": 7e12}


def test_changes_that_are_held_arrive_together_and_all_count(model: RooflineModel) -> None:
    seen = events(model)
    with model.hold_trait_notifications():
        model.focus_chip = "large"
        model.peak_flops = 1e15
        model.bandwidth = 5e12
        model.title = "held"
        assert seen == []
    assert (model.focus_chip, model.peak_flops, model.bandwidth, model.title) == ("large", 1e15, 5e12, "held")
    assert model.what_if == {"large": {"peak_flops": {"bf16": 1e15}, "bandwidth": {"HBM": 5e12}}}
    assert {"focus_chip", "peak_flops", "bandwidth", "title", "what_if"} == set(seen)


@pytest.mark.parametrize("bad", [("precision", "fp3"), ("selected", [9]), ("shown", ["none"]), ("shown", 5)])
def test_a_bad_value_among_held_changes_undoes_them_all(model: RooflineModel, bad: tuple[str, Any]) -> None:
    before = state(model)
    with pytest.raises(TraitError), model.hold_trait_notifications():  # noqa: PT012 - raised when the hold ends
        model.title = "held"
        setattr(model, *bad)
    assert state(model) == before


# -- several models, several threads ---------------------------------------------------------------------------


def test_linked_models_follow_each_other(model: RooflineModel) -> None:
    twin = RooflineModel([SMALL, LARGE], KERNELS)
    traitlets.link((model, "peak_flops"), (twin, "peak_flops"))
    model.peak_flops = 1e15
    assert twin.what_if == {"small": {"peak_flops": {"bf16": 1e15}}}
    twin.reset()
    assert (model.peak_flops, model.what_if) == (100e12, {})


@pytest.mark.usefixtures("_threads_switch_often")
def test_two_models_linked_crosswise_in_two_threads_do_not_deadlock(model: RooflineModel) -> None:
    twin = RooflineModel([SMALL, LARGE], KERNELS)
    traitlets.link((model, "peak_flops"), (twin, "peak_flops"))
    traitlets.link((twin, "bandwidth"), (model, "bandwidth"))

    def drag(one: RooflineModel, name: str) -> Callable[[], None]:
        def work() -> None:
            for step in range(1, 101):
                # traitlets reports a broken link if the other thread was faster.
                with contextlib.suppress(TraitError):
                    setattr(one, name, step * 1e12)

        return work

    in_threads(*(drag(one, name) for one in (model, twin) for name in ("peak_flops", "bandwidth")))


def test_two_models_that_set_each_other_from_two_threads_do_not_deadlock(model: RooflineModel) -> None:
    twin = RooflineModel([SMALL, LARGE], KERNELS)
    both_inside = threading.Barrier(2, timeout=PATIENCE)

    def copy_to(other: RooflineModel) -> Callable[[Any], None]:
        def copied(change: Any) -> None:
            if change["new"]["small"]["peak_flops"]["bf16"] != 1e15:
                return
            # Both threads are inside an observer now, and each sets the other model.
            both_inside.wait()
            other.set_what_if("large", bandwidth=9e12)

        return copied

    model.observe(copy_to(twin), "what_if")
    twin.observe(copy_to(model), "what_if")
    in_threads(lambda: model.set_what_if(peak_flops=1e15), lambda: twin.set_what_if(peak_flops=1e15))


@pytest.mark.usefixtures("_threads_switch_often")
def test_threads_that_set_both_rates_lose_neither(model: RooflineModel) -> None:
    rounds, start, end = range(1, 1001), threading.Barrier(3, timeout=PATIENCE), threading.Barrier(3, timeout=PATIENCE)
    rate = 1.1e9  # no multiple of this is a rate of the data sheet
    lost: list[tuple[int, float, float]] = []

    def drag(name: str) -> Callable[[], None]:
        def work() -> None:
            for step in rounds:
                start.wait()
                setattr(model, name, step * rate)
                end.wait()

        return work

    def look() -> None:
        for step in rounds:
            start.wait()
            end.wait()
            expected = {"small": {"peak_flops": {"bf16": step * rate}, "bandwidth": {"HBM": step * rate}}}
            if model.what_if != expected or model.peak_flops != model.bandwidth:
                lost.append((step, model.peak_flops, model.bandwidth))

    in_threads(drag("peak_flops"), drag("bandwidth"), look)
    assert lost == []


@pytest.mark.usefixtures("_threads_switch_often")
def test_threads_that_set_what_ifs_of_different_chips_lose_none() -> None:
    chips = [Chip(f"chip {number}", {"bf16": 1e12}, {"HBM": 1e12}) for number in range(8)]
    model = RooflineModel(chips)

    def drag(chip: Chip) -> Callable[[], None]:
        def work() -> None:
            for step in range(2, 52):
                model.set_what_if(chip.id, peak_flops=step * 1e12)

        return work

    in_threads(*(drag(chip) for chip in chips))
    assert model.what_if == {chip.id: {"peak_flops": {"bf16": 51e12}} for chip in chips}


# -- the traits themselves -------------------------------------------------------------------------------------


def test_only_what_pages_may_change_can_be_undone_there() -> None:
    undoable = [field for field in TRAITS.values() if field.undo is not None]
    assert len(undoable) == 25
    assert all(field.owner == "shared" and field.sync for field in undoable)


def test_the_page_has_the_table_of_traits_as_they_are_declared() -> None:
    root = ROOT
    make_traits = runpy.run_path(str(root / "js" / "make_traits.py"))
    assert make_traits["text"]() == text_of(make_traits["FILE"]), "make traits"


def test_the_widget_declares_no_trait_of_the_model_again() -> None:
    own = {name for name, value in vars(RooflineWidget).items() if isinstance(value, traitlets.TraitType)}
    assert not own & TRAITS.keys()


def test_what_is_said_in_other_traits_is_not_synced_itself() -> None:
    # Rates are views of what_if, graph is one of graphs, and the locale chooses the code that is sent.
    assert set(RooflineModel.class_trait_names()) - SYNCED == {"peak_flops", "bandwidth", "graph", "locale"}


def test_domain_objects_are_sent_in_the_wires_form_and_nothing_comes_back_in_another() -> None:
    tagged = {name: set(trait.metadata) - {"help"} for name, trait in RooflineModel.class_traits().items()}
    assert {name for name, tags in tagged.items() if "to_json" in tags} >= {"chips", "kernels", "what_if"}
    assert set().union(*tagged.values()) <= {"owner", "sync", "to_json", "from_json", "echo_update"}


def test_what_the_browser_may_change_is_not_echoed() -> None:
    owned_by_python = {name for name, field in TRAITS.items() if field.owner == "python"}
    assert set(RooflineModel.class_trait_names(sync=True, echo_update=False)) == SYNCED - owned_by_python


@pytest.mark.parametrize("name", sorted(RooflineModel.class_trait_names()))
def test_the_help_of_each_trait_names_its_owner(name: str) -> None:
    text = RooflineModel.class_traits()[name].help
    assert any(owner in text for owner in ("Owned by Python.", "Owned by the browser.", "Shared.")), text


def test_a_model_needs_no_jupyter() -> None:
    run_python(
        "import sys, roofwidget as rw; rw.RooflineModel().peak_flops = 1e15;"
        "sys.exit(any(name in sys.modules for name in ('ipywidgets', 'anywidget', 'IPython', 'ipykernel')))"
    )


def test_a_misspelt_trait_is_refused_when_it_is_set(model: RooflineModel) -> None:
    with pytest.raises(AttributeError, match="RooflineModel has no trait 'bandwith'; did you mean 'bandwidth'"):
        model.bandwith = 1e12


def test_the_focus_chip_is_shown_and_a_hidden_one_hands_the_focus_on(model: RooflineModel) -> None:
    model.shown = ["large"]
    assert model.focus_chip == "large"
    model.focus_chip = "small"
    assert set(model.shown) == {"small", "large"}


def test_the_focus_of_the_chips_by_default_can_run_the_graph() -> None:
    graph = chain([("LayerNorm", 10), ("GELU", 8)], elements=1_000_000)
    model = RooflineModel(graph=graph)
    assert model.focus_chip == "v7x-bf16"
    assert model.bound().total_time > 0
    assert RooflineModel(graph=graph, focus_chip="v6e").focus_chip == "v6e"
    assert RooflineModel().focus_chip == RooflineModel().shown[0]
    # No chip of these has the precision.
    assert RooflineModel(graph=chain([("GELU", 8)], elements=1_000, dtype="fp64")).focus_chip == "v7x-fp8"


def test_an_observer_that_raises_leaves_no_other_changed_trait_unnoticed() -> None:
    model = RooflineModel(["v5p", "v6e"], focus_chip="v5p")
    heard: list[str] = []
    for name in ("shown", "view"):
        model.observe(lambda _: 1 / 0, name)
    model.observe(lambda change: heard.append(change["name"]), ["focus_chip", "title"])

    def change_all() -> None:
        with model.hold_trait_notifications():
            model.shown = ["v6e"]
            model.view = "time"
            model.focus_chip = "v6e"
            model.title = "all"

    with pytest.raises(ZeroDivisionError):
        change_all()
    assert sorted(heard) == ["focus_chip", "title"]
    assert model.bandwidth == model.chip("v6e").bandwidth()
    # The next change is notified at once.
    model.title = "next"
    assert heard[-1] == "title"
    assert len(heard) == 3
