"""What-ifs on single kernels: the arithmetic against the golden file of the front end, and the model's trait."""

from __future__ import annotations

import math
import runpy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traitlets import TraitError

import roofwidget as rw
from roofwidget.analysis.kernel_moves import with_moves
from roofwidget.chips import Link
from roofwidget.wire import by_row_from_wire, by_row_to_wire
from tests.places import GOLDEN, golden, text_of
from tests.tables import has_columns, lists

FILE = golden("moves.json")
CHIP = rw.Chip(
    "Golden",
    FILE["chip"]["peak_flops"],
    FILE["chip"]["memories"],
    links={"Wire": Link("Wire", FILE["chip"]["link"])},
)
# Bounds of 62 µs and 100 µs for 124 µs and 125 µs: utilizations of 50 % and 80 %.
NORM = ("norm", 1e9, 62e6, 124e-6)
MATMUL = ("matmul", 1e10, 40e6, 125e-6)


def _table(kernels: list[dict[str, Any]]) -> rw.Kernels:
    return rw.Kernels.from_records(kernels)


def _model(*kernels: Any, **traits: Any) -> rw.RooflineModel:
    return rw.RooflineModel([CHIP], list(kernels) or [NORM, MATMUL], **traits)


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: str(case["name"]))
def test_a_moved_kernel_takes_what_exact_fractions_give(case: dict[str, Any]) -> None:
    options = {name: case[name] for name in ("memory", "launch_overhead") if name in case}

    def judge(kernels: rw.Kernels) -> Any:
        return rw.bound(kernels, CHIP, **options)

    found = with_moves(_table([case["kernel"]]), {0: case["move"]}, judge)
    wanted = [math.nan if case["expected"][key] is None else case["expected"][key] for key in ("time", "share")]
    np.testing.assert_allclose([found.time[0], judge(found).utilization[0]], wanted, rtol=1e-12)


@pytest.mark.parametrize("case", FILE["programs"], ids=lambda case: str(case["name"]))
def test_a_program_takes_the_sum_of_its_kernels_one_that_cannot_be_said_as_it_was(case: dict[str, Any]) -> None:
    table = _table(case["kernels"])
    found = with_moves(table, by_row_from_wire(case["moves"]), lambda kernels: rw.bound(kernels, CHIP))
    times = np.where(np.isnan(found.self_time), table.self_time, found.self_time)
    np.testing.assert_allclose([np.nansum(table.self_time), np.nansum(times)], case["expected"], rtol=1e-12)


def test_the_file_is_what_its_maker_writes_and_imports_nothing_of_the_package() -> None:
    assert len(FILE["cases"]) >= 30
    maker = GOLDEN / "make_moves.py"
    assert text_of(GOLDEN / "moves.json") == runpy.run_path(str(maker))["text"]()


amounts = st.floats(1e3, 1e15)
factors = st.floats(1e-6, 1e6)


@given(flops=amounts, moves=amounts, time=st.floats(1e-9, 1e3), by=factors)
def test_other_bytes_leave_the_share_of_the_roof_as_it_is(flops: float, moves: float, time: float, by: float) -> None:
    table = rw.Kernels(["one"], [flops], [moves], time=[time])
    before = rw.bound(table, CHIP).utilization[0]
    after = with_moves(table, {0: {"bytes": by}}, lambda kernels: rw.bound(kernels, CHIP))
    np.testing.assert_allclose(rw.bound(after, CHIP).utilization[0], before, rtol=1e-9)


@given(flops=amounts, moves=amounts, time=st.floats(1e-9, 1e3), by=factors, slower=factors)
def test_no_factor_brings_a_kernel_above_its_roof(
    flops: float, moves: float, time: float, by: float, slower: float
) -> None:
    table = rw.Kernels(["one"], [flops], [moves], time=[time])
    before = rw.bound(table, CHIP).utilization[0]
    after = with_moves(table, {0: {"bytes": by, "time": slower}}, lambda kernels: rw.bound(kernels, CHIP))
    # A kernel above its roof does not go higher.
    assert rw.bound(after, CHIP).utilization[0] <= max(before, 1) * (1 + 1e-9)


def test_other_rows_other_columns_and_bytes_over_the_link_stay_as_they_are() -> None:
    table = rw.Kernels(
        ["a", "b"],
        [1e9, 1e9],
        {"HBM": [62e6, 62e6], "L2": [8e6, 8e6], "network": [5.0, 5.0]},
        time=[124e-6, 124e-6],
        self_time=[100e-6, 50e-6],
        category=["x", "y"],
        extra={"rank": [1, 2]},
    )
    found = with_moves(table, {1: {"bytes": 0.5}}, lambda kernels: rw.bound(kernels, CHIP))
    assert found[[0]] == table[[0]]
    assert lists(found.bytes_by_level) == {
        "HBM": [62e6, 31e6],
        "L2": [8e6, 4e6],
        "network": [5, 5],
    }
    has_columns(found, self_time=pytest.approx([100e-6, 25e-6], rel=1e-12), category=["x", "y"], extra={"rank": [1, 2]})


def test_what_describes_the_measured_data_is_left_out_and_a_table_without_self_time_stays_without() -> None:
    table = rw.Kernels(
        ["a"],
        [1e9],
        [62e6],
        time=[124e-6],
        origin={"time": "a clock"},
        launches=rw.Kernels(["a"], [1e9], [62e6]),
        launch_rows=[0],
        program=rw.Kernels(["all"], [1e9], [62e6]),
        steps=rw.Kernels(["step"], [1e9], [62e6]),
    )
    found = with_moves(table, {0: {"time": 0.8}}, lambda kernels: rw.bound(kernels, CHIP))
    assert (dict(found.origin), found.launches, len(found.program), len(found.steps)) == ({}, None, 0, 0)
    assert not found.has_self_time


def test_other_bytes_of_a_kernel_without_work_give_an_unknown_time_and_no_warning() -> None:
    table = rw.Kernels(["empty"], [0], [0], time=[1e-6])
    found = with_moves(table, {0: {"bytes": 2}}, lambda kernels: rw.bound(kernels, CHIP))
    assert np.isnan(found.time[0])


# -- a model -------------------------------------------------------------------------------------------------------


def test_move_asks_for_one_factor_after_the_other_and_reset_moves_takes_them_back() -> None:
    model = _model()
    data = model.shown_kernels
    model.move("norm", bytes=0.5)
    model.move(0, time=0.75)
    model.move("matmul", time=0.8)
    assert model.moves == {0: {"bytes": 0.5, "time": 0.75}, 1: {"time": 0.8}}
    np.testing.assert_allclose(model.moved_kernels.time, [46.5e-6, 100e-6], rtol=1e-12)
    assert model.shown_kernels == data
    model.move("norm", time=1)
    assert model.moves == {0: {"bytes": 0.5}, 1: {"time": 0.8}}
    model.reset_moves("norm")
    assert model.moves == {1: {"time": 0.8}}
    model.reset_moves()
    assert model.moves == {}
    assert model.moved_kernels is model.shown_kernels


def test_all_else_that_python_says_stays_with_the_data() -> None:
    model = _model()
    before = (model.bound().utilization.tolist(), model.filtered, model.projection(CHIP).time)
    model.move("norm", bytes=0.1)
    assert (model.bound().utilization.tolist(), model.filtered, model.projection(CHIP).time) == before


def test_observers_hear_of_a_move_once_and_of_none_that_changes_nothing() -> None:
    model = _model()
    heard: list[Any] = []
    model.observe(lambda change: heard.append((dict(change["old"]), dict(change["new"]))), "moves")
    model.move(0, bytes=0.5)
    model.move(0, bytes=0.5)
    model.reset_moves(1)
    model.reset_moves()
    assert heard == [({}, {0: {"bytes": 0.5}}), ({0: {"bytes": 0.5}}, {})]


def test_a_factor_of_1_is_none() -> None:
    assert _model(moves={1: {"bytes": 1, "time": 1.0}, 0: {"time": 2, "bytes": 1}}).moves == {0: {"time": 2.0}}


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ({5: {"bytes": 0.5}}, "moves: 5 is not a row of kernels, which has 2"),
        ({0: {"flops": 0.5}}, "row 0 may have 'bytes' and 'time', not 'flops'"),
        ({0: {"bytes": 0}}, "'bytes' of row 0 must be a finite number above zero, got 0.0"),
        ({0: {"time": math.nan}}, "'time' of row 0 must be a finite number above zero, got nan"),
        ({0: {"time": "2"}}, "'time' of row 0 must be a number such as 0.5, got '2'"),
        ({0: {"time": True}}, "'time' of row 0 must be a number such as 0.5, got True"),
        ({"norm": {"bytes": 0.5}}, "a mapping from row numbers"),
        ({0: 0.5}, "a mapping from row numbers"),
        ([0.5], "a mapping from row numbers"),
    ],
)
def test_moves_that_make_no_sense_are_refused_and_nothing_is_changed(moves: Any, told: str) -> None:
    model = _model(moves={1: {"bytes": 2}})
    with pytest.raises(TraitError) as refused:
        model.moves = moves
    assert told in str(refused.value)
    assert model.moves == {1: {"bytes": 2.0}}


@pytest.mark.parametrize(
    ("kernel", "factors_", "error", "told"),
    [
        ("norm", {}, TypeError, "move needs a factor: bytes=0.5"),
        ("norm", {"bytes": "0.5"}, TypeError, "move: bytes must be a number such as 0.5, got '0.5'"),
        ("norm", {"bytes": -1}, ValueError, "move: bytes must be a finite number above zero, got -1.0"),
        ("norm", {"time": 0.4}, ValueError, "'norm' would beat its roof with time=0.4; the least is 0.5"),
        ("planned", {"time": 0.5}, ValueError, "'planned' was not measured, so its time cannot be changed; give bytes"),
        (
            "opaque",
            {"bytes": 0.5},
            ValueError,
            "the bytes of 'opaque' are unknown, so they cannot be changed; give time",
        ),
        ("nrm", {"bytes": 0.5}, TraitError, "no kernel is called 'nrm'; nearest: 'norm'"),
        ("twin", {"bytes": 0.5}, TraitError, "2 kernels are called 'twin'; give a row, such as 3"),
        (9, {"bytes": 0.5}, TraitError, "move: 9 is not a row of kernels, which has 5"),
        (True, {"bytes": 0.5}, TraitError, "no kernel is called True"),
    ],
)
def test_a_move_that_cannot_be_is_one_clear_error(kernel: Any, factors_: Any, error: type, told: str) -> None:
    model = _model(NORM, ("planned", 1e9, 62e6), ("opaque", 1e9, None, 5e-5), ("twin", 1, 1, 1), ("twin", 1, 1, 1))
    with pytest.raises(error) as refused:
        model.move(kernel, **factors_)
    assert told in str(refused.value)
    assert model.moves == {}


def test_other_kernels_have_no_what_ifs() -> None:
    model = _model()
    model.move(0, bytes=0.5)
    model.kernels = [MATMUL, NORM]
    assert model.moves == {}


def test_a_merge_forgets_what_was_asked_and_other_sizes_keep_it() -> None:
    graph = rw.Graph("tail")
    batch = rw.dim("batch", 1, 64, default=8)
    graph.output(graph.gelu(graph.relu(graph.input("x", (batch, 1024), "bf16"))))
    model = rw.RooflineModel([CHIP], graph=graph)
    model.move("relu", bytes=0.5)
    model.dims = {"batch": 16}
    assert model.moves == {0: {"bytes": 0.5}}
    # 16 x 1024 items of 2 bytes are read, and as many written.
    assert model.moved_kernels.bytes.tolist() == [32768, 65536]
    model.partition = [["relu", "gelu"]]
    assert model.moves == {}


def test_what_if_rates_count_and_so_does_the_chip_that_kernels_ran_on() -> None:
    model = _model(NORM)
    model.move(0, bytes=1 / 62)
    np.testing.assert_allclose(model.moved_kernels.time, [20e-6], rtol=1e-12)
    # The bound is 31 µs (memory) before and 10 µs (compute) after.
    model.bandwidth = "2 TB/s"
    np.testing.assert_allclose(model.moved_kernels.time, [40e-6], rtol=1e-12)
    ran_on = rw.Kernels(["norm"], [1e9], [62e6], time=[124e-6], chip=CHIP)
    faster = rw.Chip("Faster", {"bf16": 1e15}, {"DRAM": 5e12})
    # On the other chip these would be 12.4 µs and 1 µs.
    elsewhere = rw.RooflineModel([faster], ran_on, moves={0: {"bytes": 1 / 62}})
    np.testing.assert_allclose(elsewhere.moved_kernels.time, [20e-6], rtol=1e-12)


def test_moves_travel_with_rows_as_text() -> None:
    model = _model(moves={1: {"time": 2}, 0: {"bytes": 0.5}})
    assert by_row_to_wire(model.moves) == {"0": {"bytes": 0.5}, "1": {"time": 2.0}}
    assert by_row_from_wire({"0": {"bytes": 0.5}}) == {0: {"bytes": 0.5}}
    told = rw.RooflineModel.class_traits()["moves"].metadata
    assert (told["sync"], told["echo_update"]) == (True, False)
