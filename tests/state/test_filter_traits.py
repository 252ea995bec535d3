"""Filters of a measured program in the model, its table, and an earlier run."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest
from traitlets import TraitError

from roofwidget import Chip, Kernels, RooflineModel, chain
from roofwidget.state.filters import TABLE_COLUMNS, TABLE_COLUMNS_BY
from tests.places import golden

SMALL: Final = Chip("Small", {"bf16": 1e14}, {"HBM": 1e12, "L2": 1e13})
FAST: Final = Chip("Fast", {"bf16": 1e20, "fp64": 1e20}, {"DRAM": 1e12})


@pytest.fixture
def step() -> Kernels:
    """On Small they are bound by compute, HBM, HBM, unknown, and unknown because a peak is missing."""
    return Kernels(
        ["matmul", "copy.1", "infeed.2", "opaque", "quad"],
        [4e14, 0, 1e12, np.nan, 1e14],
        [1e12, 2e12, 1e12, np.nan, 1e12],
        time=[8, 3, 4, 5, np.nan],
        category=["dot", "copy", "infeed", None, "dot"],
        precision=["bf16", None, "bf16", None, "fp64"],
        extra={"grid": "1x1", "phase": ["prefill", "decode", "decode", None, "prefill"]},
        chip=SMALL,
    )


@pytest.fixture
def model(step: Kernels) -> RooflineModel:
    return RooflineModel([SMALL, FAST], step)


def brief(value: Any) -> str:
    return repr(value)[:60]


# -- filters -----------------------------------------------------------------------------------------------------------


def test_at_first_all_pass_but_for_those_after_the_thousandth(model: RooflineModel) -> None:
    assert model.filtered_rows.tolist() == [0, 1, 2, 3, 4]
    assert model.filtered == model.kernels
    model.kernels = Kernels([f"k{row}" for row in range(1200)], [0] * 1200, [1] * 1200, time=range(1200))
    assert model.filtered_rows.tolist() == list(range(200, 1200))
    model.top = None
    assert len(model.filtered) == 1200


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({"search": "OP*1"}, [1]),
        ({"search": "q"}, [3, 4]),
        ({"categories": ["dot", ""]}, [0, 3, 4]),
        ({"categories": "no such"}, []),
        ({"categories": []}, []),
        ({"bounds": ["hbm"]}, [1, 2]),
        ({"bounds": ["compute", "unknown"]}, [0, 3, 4]),
        ({"precisions": ["BF16"]}, [0, 2]),
        ({"precisions": [""]}, [1, 3]),
        ({"phases": ["decode", ""]}, [1, 2, 3]),
        ({"phases": "prefill", "top": 1}, [0]),
        ({"time_share": 0.65}, [0, 3]),
        ({"top": 2}, [0, 3]),
        ({"infeed": False}, [0, 1, 3, 4]),
        ({"infeed": False, "time_share": 0.85, "top": 1, "bounds": ["HBM", "unknown"]}, [3]),
    ],
    ids=brief,
)
def test_filtered_is_the_table_behind_the_picture(
    model: RooflineModel, step: Kernels, filters: dict[str, Any], rows: list[int]
) -> None:
    for name, value in filters.items():
        setattr(model, name, value)
    assert model.filtered_rows.tolist() == rows
    assert model.filtered == step[rows]
    assert RooflineModel([SMALL, FAST], step, **filters).filtered_rows.tolist() == rows


def test_what_binds_is_judged_on_the_focus_chip_as_it_is_asked_about(model: RooflineModel) -> None:
    model.bounds = ["HBM"]
    assert model.filtered_rows.tolist() == [1, 2]
    model.set_what_if(peak_flops=1e11)
    assert model.filtered_rows.tolist() == [1]
    model.reset()
    model.launch_overhead = 3
    assert model.filtered_rows.tolist() == []
    model.bounds = ["overhead"]
    assert model.filtered_rows.tolist() == [1, 2]
    model.focus_chip, model.launch_overhead, model.bounds = "fast", 0, "dram"
    assert model.filtered_rows.tolist() == [0, 1, 2, 4]


def test_without_a_roof_what_binds_is_unknown(model: RooflineModel) -> None:
    model.precision, model.bounds = "fp64", ["unknown"]
    assert model.filtered_rows.tolist() == [0, 1, 2, 3, 4]
    model.chips = []
    assert model.filtered_rows.tolist() == [0, 1, 2, 3, 4]


def test_filters_survive_a_change_of_kernels_and_are_meant_for_those_that_come(model: RooflineModel) -> None:
    model.search, model.categories, model.time_share, model.bounds = "a", ["dot"], 0.9, ["HBM"]
    model.kernels = Kernels(["a", "ab", "b"], [0] * 3, [1] * 3, time=[1, 8, 1], category=["dot"] * 3)
    assert (model.search, model.categories, model.time_share, model.bounds) == ("a", ("dot",), 0.9, ("HBM",))
    assert model.filtered.names.tolist() == ["a", "ab"]


def test_answers_that_new_chips_cannot_give_are_dropped_and_of_none_left_all_pass(model: RooflineModel) -> None:
    model.bounds = ["hbm", "DRAM", "compute"]
    model.chips = [SMALL]
    assert model.bounds == ("HBM", "compute")
    model.bounds = ["L2"]
    model.chips = [FAST]
    assert model.bounds is None
    model.bounds = []
    model.chips = [SMALL]
    assert model.bounds == ()


def test_a_level_that_two_chips_spell_differently_has_the_focus_chips_spelling() -> None:
    other = Chip("Other", {"bf16": 1e14}, {"Dram": 1e12})
    copy = Kernels(["copy"], [0], [1])
    assert RooflineModel([other, FAST], copy, focus_chip="fast", bounds=["DRAM"]).filtered_rows.tolist() == [0]
    assert RooflineModel([FAST, other], copy, focus_chip="other", bounds=["DRAM"]).filtered_rows.tolist() == [0]
    model = RooflineModel([FAST, other], copy, focus_chip="other", bounds=["DRAM"])
    model.focus_chip = "fast"
    assert (model.bounds, model.filtered_rows.tolist()) == (("DRAM",), [0])


def test_the_kernels_of_a_graph_are_filtered_too() -> None:
    graph = chain([("gelu", 8), ("relu", 1)], elements=64)
    model = RooflineModel([SMALL], graph=graph, search="relu")
    assert model.filtered.names.tolist() == ["relu"]


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("search", "a b", "a b"),
        ("categories", ["dot", "dot", ""], ("dot", "")),
        ("categories", "dot", ("dot",)),
        ("categories", (), ()),
        ("bounds", ["COMPUTE", "l2", "compute"], ("compute", "L2")),
        ("bounds", "dram", ("DRAM",)),
        ("precisions", ["BF16", "", "fp3"], ("bf16", "", "fp3")),
        ("phases", ["decode", "", "no such", "decode"], ("decode", "", "no such")),
        ("phases", "decode", ("decode",)),
        ("time_share", 0.5, 0.5),
        ("top", np.int64(5), 5),
        ("top", None, None),
        ("infeed", False, False),
        ("scope", "program", "program"),
        ("baseline", [("a", 1, 2)], Kernels(["a"], [1], [2])),
        ("sort_by", "-headroom", "-headroom"),
        ("sort_by", "-grid", "-grid"),
        ("sort_by", "-extra:block", "-block"),
        ("columns", ["extra:time", "extra:ai:L2", "rate:L9"], ("extra:time", "extra:ai:L2", "rate:L9")),
        ("columns", ["name", "ai:L2", "flops:fp16", "name"], ("name", "ai:L2", "flops:fp16")),
        ("colour_by", "time", "time"),
        ("colour_by", "grid", "grid"),
        ("at_roof", [2, 0, 2], (2, 0)),
    ],
    ids=brief,
)
def test_a_trait_is_set_in_any_of_its_forms_and_observed_once(
    model: RooflineModel, name: str, given: Any, kept: Any
) -> None:
    seen: list[Any] = []
    model.observe(lambda change: seen.append(change["new"]), name)
    setattr(model, name, given)
    setattr(model, name, given)
    assert getattr(model, name) == kept
    assert seen == [kept]
    assert getattr(RooflineModel([SMALL, FAST], model.kernels, **{name: given}), name) == kept


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("search", None, "search"),
        ("search", 5, "search"),
        ("categories", 5, "categories"),
        ("categories", [None], "categories"),
        ("bounds", ["HMB"], "'HMB' binds no kernel on any of the chips; nearest: 'HBM'"),
        ("bounds", "memory", "'memory' binds no kernel on any of the chips"),
        ("bounds", "", "'' binds no kernel on any of the chips"),
        ("bounds", 5, "bounds"),
        ("precisions", [5], "precisions"),
        ("phases", [5], "phases"),
        ("time_share", 0, "above 0 and at most 1, such as 0.9 for 90 %, got 0"),
        ("time_share", 1.01, "above 0 and at most 1"),
        ("time_share", math.nan, "above 0 and at most 1"),
        ("time_share", None, "time_share"),
        ("time_share", True, "time_share must be a number"),
        ("top", 0, "top must be at least 1, got 0"),
        ("top", 1.5, "top must be a whole number, got 1.5"),
        ("top", True, "top must be a whole number, got True"),
        ("infeed", "no", "infeed"),
        ("infeed", None, "infeed"),
        ("scope", "step", "scope"),
        ("baseline", 5, "baseline"),
        ("sort_by", "headrom", "the table has no column 'headrom'; nearest: 'headroom'"),
        ("sort_by", "--time", "the table has no column '-time'; nearest: 'time'"),
        ("sort_by", "gird", "the table has no column 'gird'; nearest: 'grid'"),
        ("sort_by", "bytes", "the table has no column 'bytes'.* or 'flops:…' or 'bytes:…'"),
        ("sort_by", "extra:", "the table has no column 'extra:'"),
        ("columns", ["name", "nam"], "the table has no column 'nam'; nearest: 'name'"),
        ("columns", 5, "columns"),
        ("colour_by", "gird", "colour_by: there is no column 'gird'; nearest: 'grid'"),
        ("colour_by", "", "colour_by: there is no column ''; nearest: 'category'"),
        ("colour_by", 5, "colour_by"),
        ("at_roof", [5], "at_roof: 5 is not a row of kernels, which has 5"),
        ("at_roof", [1.0], "at_roof"),
    ],
    ids=brief,
)
def test_a_bad_value_is_one_clear_error_and_changes_nothing(
    model: RooflineModel, name: str, value: Any, named: str
) -> None:
    before, seen = getattr(model, name), list[Any]()
    model.observe(seen.append)
    with pytest.raises(TraitError, match=named):
        setattr(model, name, value)
    assert getattr(model, name) == before
    assert seen == []
    with pytest.raises(TraitError, match=named):
        RooflineModel([SMALL, FAST], model.kernels, **{name: value})


def test_the_tables_own_columns_have_the_keys_of_the_front_end() -> None:
    # A test of the front end reads the same file.
    columns = golden("table_columns.json")
    assert (columns["columns"], columns["columns_by"]) == (list(TABLE_COLUMNS), list(TABLE_COLUMNS_BY))


# -- what follows ------------------------------------------------------------------------------------------------------


def test_the_projected_time_is_that_of_the_focus_chip_as_it_is_asked_about(model: RooflineModel) -> None:
    assert model.projection().time == model.projection().before == 20
    model.set_what_if(bandwidth=2e12)
    # The bytes of the copy and of the infeed take half of the time.
    np.testing.assert_allclose(model.projection().by_kernel, [8, 1.5, 2, 5, math.nan])
    model.at_roof = [0, 1]
    np.testing.assert_allclose(model.projection().by_kernel, [4, 1, 2, 5, math.nan])
    model.reset()
    model.focus_chip, model.at_roof = "fast", ()
    # On Fast the bytes of the matmul take 1 s.
    np.testing.assert_allclose(model.projection().by_kernel, [2, 3, 4, 5, math.nan])
    assert model.projection(source=FAST).time == 20


def test_rows_at_their_roof_are_forgotten_with_the_kernels(model: RooflineModel) -> None:
    model.at_roof = [4]
    model.kernels = [("a", 1, 2)]
    assert model.at_roof == ()
