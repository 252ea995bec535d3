"""Recordings: what runs in a block is a series of points on a widget, while it runs."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.measure import recording
from roofwidget.measure.counts import Counts, OpCount
from roofwidget.measure.profile import Profile
from roofwidget.measure.recording import Recording, active_recording
from tests.tables import has_columns, lists

CHIP = rw.Chip("Mine", {"fp32": "100 GFLOP/s", "fp64": "50 GFLOP/s"}, {"DRAM": "20 GB/s"})


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> rw.RooflineModel:
    return rw.RooflineModel([CHIP], [("before", 1e9, 1e8, 0.02)])


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    yield
    assert active_recording() is None


def updates_of(model: rw.RooflineModel) -> list[int]:
    """Return a list that gains the number of rows at each update of the kernels."""
    found: list[int] = []
    model.observe(lambda change: found.append(len(change["new"])), "kernels")
    return found


def matmul(time: float | None, *, n: int = 64) -> OpCount:
    return OpCount("matmul", {"tensor": 2 * n**3}, 16 * n * n, 8 * n * n, "fp64", shapes=f"{n}×{n}, {n}×{n}", time=time)


def test_a_recording_is_a_series_of_its_own_and_the_rows_before_stay(model: rw.RooflineModel) -> None:
    with rw.record(model) as run:
        run.add("gelu", "2 GFLOP", "12 MB", time="3 ms", precision="fp32")
    with rw.record(model) as again:
        again.add("copy", 0, 8e6, time=1e-3)
    assert (run.name, again.name) == ("run 1", "run 2")
    has_columns(
        model.kernels,
        names=["before", "gelu", "copy"],
        category=[None, "run 1", "run 2"],
        flops=[1e9, 2e9, 0],
        bytes=[1e8, 12e6, 8e6],
        time=[0.02, 0.003, 0.001],
    )
    assert run.kernels.names.tolist() == ["gelu"]
    assert run.kernels.origin["flops"].tolist() == ["stated"]


def test_a_name_that_is_taken_gets_a_number(model: rw.RooflineModel) -> None:
    for _ in range(3):
        with rw.record(model, "tiled") as run:
            run.add("x", 1, 1)
    assert model.kernels.category.tolist() == [None, "tiled", "tiled (2)", "tiled (3)"]


def test_what_belongs_to_the_table_and_the_selection_stays_when_points_land() -> None:
    given = rw.Kernels(
        ["a", "b", "a"], [1, 2, 3], [4, 5, 6], time=[1, 2, 3], chip=CHIP, source="a file", warnings=["w"]
    )
    model = rw.RooflineModel(kernels=given.groupby("name"))
    model.selected, model.at_roof = (1,), (0,)
    with rw.record(model) as run:
        run.add("c", 1, 1)
    kernels = model.kernels
    assert (kernels.chip, kernels.source, kernels.warnings) == (CHIP, "a file", ("w",))
    assert [len(kernels.launches_of(row)) for row in range(3)] == [2, 1, 1]
    assert kernels.launches_of(2).names.tolist() == ["c"]
    assert (model.selected, model.at_roof) == ((1,), (0,))


def test_the_page_is_told_that_categories_are_runs_until_there_are_other_kernels(model: rw.RooflineModel) -> None:
    def series() -> bool:
        return bool(model.trait_metadata("kernels", "to_json")(None, model)["series"])

    assert not series()
    with rw.record(model) as run:
        run.add("x", 1, 1)
    assert series()
    model.kernels = [("other", 1, 1)]
    assert not series()


def test_equal_operations_are_one_row_with_their_count_and_times(model: rw.RooflineModel, clock: Clock) -> None:
    with Recording(model, "loop", clock=clock) as run:
        for time in (4e-3, 1e-3, 1e-3):
            run.report(matmul(time))
        run.report(matmul(2e-3, n=32))
        run.report(OpCount("view", {}, 0, 0, time=1e-6))
    has_columns(
        run.kernels,
        names=["matmul", "matmul"],
        count=[3, 1],
        flops=[3 * 524_288, 65_536],
        bytes=[3 * 98_304, 24_576],
        time=pytest.approx([6e-3, 2e-3], rel=1e-12),
        extra={"time min (s)": [1e-3, 2e-3], "time max (s)": [4e-3, 2e-3]},
    )
    assert repr(run) == "Recording(loop: 4 operations, 8 ms)"


def test_rows_are_modules_or_the_whole_call_if_asked(model: rw.RooflineModel) -> None:
    ops = [
        OpCount("addmm", {"tensor": 1000}, 80, 20, "fp32", "mlp.up", time=2.0),
        OpCount("gelu", {"transcendental": 10}, 40, 40, "fp32", "mlp.up", time=1.0),
        OpCount("addmm", {"tensor": 500}, 80, 20, "fp32", "mlp.down", time=4.0),
        OpCount("add", {"vector": 5}, 40, 20, "fp32", time=8.0),
    ]
    with rw.record(model, by="module") as run:
        for op in ops:
            run.report(op)
    has_columns(run.kernels, names=["mlp.up", "mlp.down", "add"], flops=[1010, 500, 5], time=[3, 4, 8])
    with rw.record(model, "all", by="call") as run:
        for op in ops:
            run.report(op)
    has_columns(run.kernels, names=["all"], flops=[1515], bytes=[340], time=[15], count=[1])


def test_the_chart_is_updated_a_few_times_a_second_and_always_at_the_end(model: rw.RooflineModel, clock: Clock) -> None:
    updates = updates_of(model)
    with Recording(model, "run", clock=clock) as run:
        for step in range(1000):
            run.report(OpCount(f"op {step}", {"vector": 1}, 8, 8, time=1e-3))
            clock.now += 1e-3
    # At 0 s, and then 0.3 s after each update.
    assert updates == [2, 302, 602, 902, 1001]


def test_updates_that_take_long_are_rarer(model: rw.RooflineModel, clock: Clock) -> None:
    updates = updates_of(model)

    def slow(_change: object) -> None:
        clock.now += 0.125

    model.observe(slow, "kernels")
    with Recording(model, "run", clock=clock) as run:
        for step in range(30):
            run.report(OpCount(f"op {step}", {"vector": 1}, 8, 8, time=0.125))
            clock.now += 0.125
    # An update of 1/8 s is followed by ten times as long without one.
    assert updates == [2, 12, 22, 31]


def test_what_has_finished_is_shown_while_a_long_operation_runs(model: rw.RooflineModel, clock: Clock) -> None:
    updates = updates_of(model)
    with Recording(model, "run", clock=clock) as run:
        run.report(matmul(1e-3))
        run.report(matmul(1e-3, n=32))
        clock.now = 0.9
        run.flush_if_quiet()
        assert updates == [2]
        clock.now = 1.0
        run.flush_if_quiet()
        assert updates == [2, 3]
        clock.now = 3.0
        run.flush_if_quiet()
        assert updates == [2, 3]


def test_progress_is_told_also_while_nothing_finishes(
    model: rw.RooflineModel, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The recording's own thread sleeps.
    monkeypatch.setattr(recording, "_QUIET_SECONDS", 1e6)
    told: list[int] = []
    run = Recording(model, "run", clock=clock)
    run.on_update = lambda: told.append(run.calls)
    with run:
        run.flush_if_quiet()
        run.report(matmul(1e-3))
        run.flush_if_quiet()
    assert told == [0, 1, 1, 1]


def test_an_error_in_the_block_passes_through_and_what_was_recorded_stays(model: rw.RooflineModel) -> None:
    def fails() -> None:
        with rw.record(model) as run:
            run.add("first", 1, 1)
            run.add("second", 1, 1, time="long")

    with pytest.raises(ValueError, match="add: time of 'second': no number in 'long'"):
        fails()
    assert model.kernels.names.tolist() == ["before", "first"]


def test_a_recording_inside_another_is_refused_and_the_outer_one_goes_on(model: rw.RooflineModel) -> None:
    with rw.record(model, "outer") as run:
        with pytest.raises(RuntimeError, match="'outer' is being recorded already"), rw.record(model):
            pass
        run.add("x", 1, 1)
    assert model.kernels.category.tolist() == [None, "outer"]


def test_a_block_that_records_nothing_says_what_is_seen(model: rw.RooflineModel) -> None:
    with pytest.warns(UserWarning, match="run 1 recorded nothing"), rw.record(model):
        pass
    assert model.kernels.names.tolist() == ["before"]


def test_bad_arguments_are_named(model: rw.RooflineModel) -> None:
    with pytest.raises(TypeError, match="record needs the RooflineWidget that shows the points, got 'v5p'"):
        rw.record("v5p")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by: unknown 'layer'"):
        rw.record(model, by="layer")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="record: name must be text, got 3"):
        rw.record(model, 3)  # type: ignore[arg-type]
    graph = rw.chain([("gelu", 8)], elements=16)
    with pytest.raises(ValueError, match="this widget shows the kernels of its graph"):
        rw.record(rw.RooflineModel([CHIP], graph=graph))
    with pytest.raises(ValueError, match="this model shows the kernels of its graph"):
        rw.RooflineModel([CHIP], graph=graph).set_series("run 1", [])
    with rw.record(model) as run:
        with pytest.raises(ValueError, match="add: flops of 'x': no number in 'many'"):
            run.add("x", "many", 1)
        with pytest.raises(ValueError, match="add: bytes of 'x' must be a finite number that is not negative, got -1"):
            run.add("x", 1, -1)
        run.add("x", {"fp32": 1, "fp64": "2 FLOP"}, None)
    assert lists(run.kernels.flops_by_precision) == {
        "fp32": [1],
        "fp64": [2],
    }
    assert np.isnan(run.kernels.bytes).all()


def test_profiles_of_functions_are_added_with_their_warnings(
    model: rw.RooflineModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fake(function: Any, *args: Any, **kwargs: Any) -> Profile:
        assert (function, args, kwargs) == (len, ("ab",), {"repeat": 3})
        return Profile("len", Counts((matmul(1e-3),), warnings=("a remark",)))

    monkeypatch.setattr(recording, "profile", fake)
    with rw.record(model) as run:
        assert run.profile(len, "ab", repeat=3).name == "len"
    assert model.kernels.names.tolist() == ["before", "matmul"]
    assert (run.warnings, model.kernels.warnings) == (("a remark",), ("a remark",))


# -- measured ------------------------------------------------------------------------------------------------------


@rw.measured(flops=lambda n: 2 * n, bytes="24 kB", precision="fp64")
def triad(n: int) -> int:
    """Return n."""
    return n


class Solver:
    @rw.measured("solve", flops="1 GFLOP")
    def solve(self, factor: int) -> int:
        return 2 * factor


def test_each_call_of_a_measured_function_is_a_point_and_other_calls_only_call_it(
    model: rw.RooflineModel, clock: Clock
) -> None:
    before = len(triad.kernels)
    assert triad(3) == 3
    assert len(triad.kernels) == before
    with Recording(model, "run", clock=clock):
        assert triad(1000) == 1000
        assert triad(1000) == 1000
        assert Solver().solve(factor=4) == 8
    has_columns(model.kernels, names=["before", "triad", "solve"], flops=[1e9, 4000, 1e9], count=[1, 2, 1])
    assert model.kernels.bytes.tolist()[:2] == [1e8, 48e3]
    assert np.isnan(model.kernels.bytes[2])
    assert model.kernels.precision.tolist() == [None, "fp64", None]
    assert triad.kernels.count.tolist() == [2]
    assert Solver().solve.kernels.names.tolist() == ["solve"]


def test_a_measured_function_is_timed_and_a_measured_call_inside_leaves_its_self_time(
    model: rw.RooflineModel, clock: Clock
) -> None:
    @rw.measured(flops=1)
    def inner() -> None:
        clock.now += 2

    @rw.measured(flops=3)
    def outer() -> None:
        clock.now += 1
        inner()
        active = active_recording()
        assert active is not None
        active._report_seen(matmul(1.0))

    with Recording(model, "run", clock=clock) as run:
        outer()
    has_columns(run.kernels, names=["inner", "outer"], time=[2, 3], self_time=[2, 1])


def test_a_measured_call_that_raises_is_no_point(model: rw.RooflineModel) -> None:
    @rw.measured(flops=1)
    def fails() -> None:
        raise KeyError("x")

    with rw.record(model) as run:
        run.add("x", 1, 1)
        with pytest.raises(KeyError):
            fails()
        run._report_seen(matmul(1.0))
    assert run.kernels.names.tolist() == ["x", "matmul"]


def test_a_block_can_be_measured(model: rw.RooflineModel, clock: Clock) -> None:
    step = rw.measured("step", flops="2 FLOP", bytes="3 B")
    with step:
        pass
    with Recording(model, "run", clock=clock):
        for _ in range(2):
            with step:
                clock.now += 0.5
    assert model.kernels.names.tolist() == ["before", "step"]
    assert (model.kernels.flops[1], model.kernels.bytes[1], model.kernels.time[1]) == (4, 6, 1)
    assert step.kernels.count.tolist() == [2]


def test_measured_calls_of_many_threads_are_all_counted(model: rw.RooflineModel) -> None:
    def work() -> None:
        for _ in range(50):
            triad(7)

    with rw.record(model) as run:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert run.kernels.count.tolist() == [200]
    assert model.kernels.count.tolist() == [1, 200]


def test_a_measured_function_is_still_that_function() -> None:
    assert repr(triad).startswith("<measured <function triad at ")
    assert (vars(triad)["__name__"], triad.__doc__) == ("triad", "Return n.")
    assert copy.deepcopy(triad) is triad
    assert triad.__reduce__() == "triad"
    with pytest.raises(AttributeError):
        pickle.dumps(triad.nothing)  # type: ignore[attr-defined]


def test_measured_says_what_it_needs() -> None:
    with pytest.raises(TypeError, match="measured needs flops= or bytes="):
        rw.measured("x")
    with pytest.raises(TypeError, match="name must be text, got <function"):
        rw.measured(lambda: 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="measured: flops of 'x': no number in 'lots'"):
        rw.measured("x", flops="lots")
    with pytest.raises(TypeError, match="a block needs a name"), rw.measured(flops=1):
        pass
    with pytest.raises(TypeError, match="block 'x' has no arguments"), rw.measured("x", flops=lambda: 1):
        pass
    with pytest.raises(TypeError, match="measured is put on a function, got 3"):
        rw.measured(flops=1)(3)  # type: ignore[arg-type]

    async def later() -> None: ...

    with pytest.raises(TypeError, match="'later' returns before its work is done"):
        rw.measured(flops=1)(later)
