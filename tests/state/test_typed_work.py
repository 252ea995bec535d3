"""Work that is typed for kernels without: what is accepted, what follows from it, and what keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import roofwidget as rw

CHIP = rw.Chip("Mine", {"bf16": 1e14, "fp8": 2e14}, {"HBM": 1e12})
KERNELS = [
    rw.Kernel("gemm", 1e14, 1e11, time=2, precision="fp8"),
    rw.Kernel("flash", None, None, time=6, count=3),
    rw.Kernel("half", 1e12, None, time=1),
]


@pytest.fixture
def model() -> rw.RooflineModel:
    return rw.RooflineModel([CHIP], KERNELS)


def test_all_results_use_it_and_the_kernels_stay_as_they_were_given(model: rw.RooflineModel) -> None:
    given = model.kernels
    assert np.isnan(model.bound().utilization[1])
    model.typed_work = {1: {"flops": "200 TFLOP", "bytes": "100 GB"}}
    assert model.typed_work == {1: {"flops": 2e14, "bytes": 1e11}}
    assert model.kernels is given
    assert np.isnan(model.kernels.flops[1])
    assert model.shown_kernels.flops[1] == 6e14
    assert model.shown_kernels.bytes[1] == 3e11
    assert model.bound().time[1] == 6
    assert model.filtered.origin["flops"].tolist() == [None, "typed per launch in the widget", None]
    model.selected = [1]
    assert model.selected_kernels.flops.tolist() == [6e14]
    assert "flash" in [name for name, _, _ in model.freeze("typed").kernels]


def test_the_precision_of_the_roof_stays_that_of_the_given_kernels(model: rw.RooflineModel) -> None:
    model.kernels = KERNELS[:2]
    assert model.peak_flops == 2e14
    model.typed_work = {1: {"flops": 1e14}}
    assert model.peak_flops == 2e14
    assert model.bound().precision == "fp8"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({0: {"flops": 1}}, r"the FLOPs of 'gemm' \(row 0\) are known; kernels.with_work\(work, replace=True\)"),
        ({2: {"flops": 1, "bytes": 1}}, r"the FLOPs of 'half' \(row 2\) are known"),
        ({0: {"bytes": 1}}, "the bytes of 'gemm'"),
        ({3: {"flops": 1}}, "3 is not a row of kernels, which has 3"),
        ({1: {"flop": 1}}, "row 1 may have 'flops' and 'bytes', not 'flop'.*flops"),
        ({1: {"flops": -1}}, "'flops' of row 1 must be from 0 to 1e"),
        ({1: {"flops": float("nan")}}, "'flops' of row 1 must be from 0"),
        ({1: {"flops": 1e31}}, "'flops' of row 1 must be from 0 to 1e"),
        ({1: {"bytes": "4 TFLOP"}}, "'bytes' of row 1"),
        ({1: {"bytes": True}}, "'bytes' of row 1"),
        ({"flash": {"bytes": 1}}, "expected a mapping from row numbers"),
        ({1: 5}, "expected a mapping from row numbers"),
        ([1], "expected a mapping from row numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(model: rw.RooflineModel, given: Any, reason: str) -> None:
    model.typed_work = {1: {"flops": 5}}
    with pytest.raises(TraitError, match=reason):
        model.typed_work = given
    assert model.typed_work == {1: {"flops": 5}}


def test_bytes_alone_can_be_typed_where_flops_are_known(model: rw.RooflineModel) -> None:
    model.typed_work = {2: {"bytes": 1e12}}
    assert (model.shown_kernels.flops[2], model.shown_kernels.bytes[2]) == (1e12, 1e12)


def test_it_is_dropped_with_other_kernels_also_while_they_have_fewer_rows(model: rw.RooflineModel) -> None:
    model.typed_work = {1: {"flops": 5}}
    seen = []
    model.observe(lambda _change: seen.append(len(model.shown_kernels)), "typed_work")
    model.kernels = KERNELS[:1]
    assert (model.typed_work, seen) == ({}, [1])


def test_kernels_of_a_graph_have_their_work() -> None:
    graph = rw.Graph("g")
    graph.output(graph.relu(graph.input("x", (8, 8), "bf16")))
    model = rw.RooflineModel([CHIP], graph=graph)
    with pytest.raises(TraitError, match="the kernels of a graph is counted"):
        model.typed_work = {0: {"flops": 1}}


def test_sessions_pages_and_tables_keep_it(model: rw.RooflineModel, tmp_path: Path) -> None:
    model.typed_work = {1: {"flops": 1e14, "bytes": 1e11}}
    again = rw.RooflineModel.load(model.save(tmp_path / "x.json"))
    assert again.typed_work == model.typed_work
    assert np.isnan(again.kernels.flops[1])
    assert again.shown_kernels == model.shown_kernels
    for name in ("x.html", "x.csv"):
        read = rw.read(model.save(tmp_path / name))
        row = read.names.tolist().index("flash")
        assert (read.flops[row], read.bytes[row]) == (3e14, 3e11)
    assert rw.read(tmp_path / "x.html").origin["bytes"][1] == "typed per launch in the widget"
    assert model.copy_without_browser().shown_kernels == model.shown_kernels
    # Another kernel is at the same place.
    assert ">flash +1<" in model.to_svg()
    assert "flash" in model.fallback_html()


def test_a_page_sets_it_and_python_refuses_what_is_known() -> None:
    widget = rw.RooflineWidget([CHIP], KERNELS)
    widget.set_state({"typed_work": {"1": {"flops": 100000000000000, "bytes": 1e11}}})
    assert widget.shown_kernels.flops[1] == 3e14
    with pytest.raises(TraitError, match="are known"):
        widget.set_state({"typed_work": {"0": {"flops": 1}}})
    assert widget.typed_work == {1: {"flops": 1e14, "bytes": 1e11}}
