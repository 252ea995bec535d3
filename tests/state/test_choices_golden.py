"""What follows from a choice is the same in the page: a table written by hand, which vitest reads too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis import projection, snapshot
from roofwidget.analysis.result import ABOVE_ROOF_FROM
from roofwidget.kernels.columns import TIE_TOLERANCE
from roofwidget.state.rates import check_ceilings, known_ceilings
from roofwidget.state.what_if import common_precision, with_rates
from roofwidget.workloads import Op, Tensor
from roofwidget.workloads.graph import Graph
from tests.places import golden

GOLDEN: dict[str, Any] = golden("choices.json")
CHIPS = {
    key: rw.Chip(
        key,
        chip["peaks"],
        chip["memories"],
        id=key,
        ceilings=[
            rw.Ceiling(one["name"], one["rate"], memory=one["memory"], precision=one["precision"])
            for one in chip["ceilings"]
        ],
    )
    for key, chip in GOLDEN["chips"].items()
}


def table(rows: list[dict[str, Any]], chip: rw.Chip | None = None) -> rw.Kernels:
    levels = {level for row in rows for level in (row["bytes"] if isinstance(row["bytes"], dict) else {"main": 0})}

    def moved(row: dict[str, Any], level: str) -> float:
        told = row["bytes"] if isinstance(row["bytes"], dict) else {"main": row["bytes"]}
        return float(told.get(level, math.nan))

    def numbers(word: str) -> list[float]:
        return [math.nan if row.get(word) is None else float(row[word]) for row in rows]

    return rw.Kernels(
        [row["name"] for row in rows],
        numbers("flops"),
        {level: [moved(row, level) for row in rows] for level in levels},
        time=numbers("time"),
        self_time=[row.get("self_time", row.get("time") or math.nan) for row in rows],
        precision=[row.get("precision") for row in rows],
        chip=chip,
    )


def test_defaults_and_limits_are_those_of_the_page() -> None:
    told = GOLDEN["defaults"]
    assert rw.RooflineModel().top == told["top"]
    assert told["snapshot_kernels"] == snapshot._MAX_KERNELS
    assert told["snapshot_name"] == snapshot._MAX_NAME_CHARACTERS
    assert len(table([{"name": "k", "flops": 1, "bytes": 1, "time": 1}] * 9, CHIPS["plain"]).top()) == told["ranked"]
    assert told["explained_share"] == projection._FAR_UTILIZATION
    assert told["above_roof_from"] == ABOVE_ROOF_FROM
    assert told["tie"] == TIE_TOLERANCE


@pytest.mark.parametrize("case", GOLDEN["common_precision"])
def test_a_precision_is_common_where_all_flops_have_it(case: dict[str, Any]) -> None:
    flops = {key: [math.nan if one is None else one for one in column] for key, column in case["flops"].items()}
    n = len(case["precision"])
    assert common_precision(rw.Kernels(["k"] * n, flops, [1] * n, precision=case["precision"])) == case["common"]


@pytest.mark.parametrize("case", GOLDEN["roof_precision"])
def test_a_roof_has_the_common_precision_where_the_chip_has_it(case: dict[str, Any]) -> None:
    kernels = rw.Kernels(["k"], [1], [1], precision=[case["common"] or None])
    model = rw.RooflineModel([CHIPS[case["chip"]]], kernels, precision=case["asked"])
    assert model.bound().precision == case["precision"]
    assert model.peak_flops == CHIPS[case["chip"]].peak(case["precision"])


@pytest.mark.parametrize("case", GOLDEN["judge"])
def test_kernels_are_judged_by_the_chip_that_they_ran_on_where_it_has_the_memory(case: dict[str, Any]) -> None:
    chips = [CHIPS[case["focus"]]]
    kernels = rw.Kernels(["k"], [1], {"main": [1], "L2": [1]}, chip=CHIPS.get(case["ran"]))
    model = rw.RooflineModel(chips, kernels, memory=case["memory"])
    assert model._bound_where_measured(model.kernels).chip.id == case["judge"]


@pytest.mark.parametrize("case", GOLDEN["what_if"])
def test_a_changed_rate_is_kept_and_one_of_the_data_sheet_is_not(case: dict[str, Any]) -> None:
    quantity = "peak_flops" if "peak_flops" in case else "bandwidth"
    key, rate = case[quantity]
    found = with_rates(case["before"], CHIPS[case["chip"]], {(quantity, key): rate})  # type: ignore[dict-item]
    plain = {chip: {word: dict(rates) for word, rates in parts.items()} for chip, parts in found.items()}
    assert plain == case["after"]


def test_a_ceiling_is_known_by_its_name_in_any_case() -> None:
    told, chips = GOLDEN["known_ceilings"], list(CHIPS.values())
    assert set(known_ceilings(chips[:1], "wide").values()) == set(told["names"])
    assert check_ceilings(told["chosen"], chips, "wide") == tuple(told["spelled"])


@pytest.mark.parametrize("case", [case for case in GOLDEN["ceilings"] if case["chosen"]])
def test_chosen_ceilings_are_spelled_as_the_chip_spells_them(case: dict[str, Any]) -> None:
    spelled = check_ceilings(case["chosen"], list(CHIPS.values()), "wide")
    assert set(spelled) >= set(case["on"])


@pytest.mark.parametrize("case", GOLDEN["snapshots"])
def test_a_snapshot_keeps_what_the_page_keeps(case: dict[str, Any]) -> None:
    model = rw.RooflineModel([CHIPS["wide"]], table(case["kernels"]), memory=case["memory"])
    model.precision = case["precision"]
    kept = model.freeze()
    assert {
        "precision": kept.precision,
        "memory": kept.memory,
        "peak": kept.peak_flops,
        "bandwidth": kept.bandwidth,
        "kernels": [[name, None if math.isinf(ai) else ai, rate] for name, ai, rate in kept.kernels],
    } == case["kept"]


@pytest.mark.parametrize("case", GOLDEN["ranking"])
def test_first_to_fix_is_what_gains_most_of_its_own_time(case: dict[str, Any]) -> None:
    kernels = table(case["kernels"], rw.Chip("judge", {"bf16": 1e14}, {"HBM": 1e12}))
    best = kernels.top(len(case["rows"]), by="headroom")
    assert best.names.tolist() == [case["kernels"][row]["name"] for row in case["rows"]]
    gains = rw.bound(best, kernels.chip or "").headroom
    assert gains.tolist() == pytest.approx(case["gains"], rel=1e-12)
    assert float(gains.sum() / np.nansum(kernels.self_time)) == pytest.approx(case["share"], rel=1e-12)


@pytest.mark.parametrize("case", GOLDEN["main_dtype"])
def test_the_main_dtype_is_the_first_of_the_most_frequent_floating_point_ones(case: dict[str, Any]) -> None:
    tensors = [Tensor(f"t{index}", (4,), dtype) for index, dtype in enumerate(case["tensors"])]
    graph = Graph("typed", [Op("op", "elementwise", tensors[:-1], tensors[-1:], {"vector": 4})])
    assert graph.main_dtype == case["main"]


def phase(name: str) -> Graph:
    told = GOLDEN["phases"]["graphs"][name]
    low, high, default = told["n"]
    graph = Graph(name, convention=told["convention"])
    x = graph.input("x", (rw.dim("n", low, high, default=default),), told["dtype"])
    graph.output(graph.relu(x))
    return graph


@pytest.mark.parametrize("case", GOLDEN["phases"]["cases"])
def test_another_phase_keeps_the_sizes_convention_and_dtype_that_it_can(case: dict[str, Any]) -> None:
    model = rw.RooflineModel([CHIPS["wide"]], graphs={name: phase(name) for name in GOLDEN["phases"]["graphs"]})
    model.phase = case["at"]["phase"]
    for name in ("dims", "convention", "dtype"):
        if name in case["at"]:
            setattr(model, name, case["at"][name])
    model.phase = case["to"]
    assert {"dims": dict(model.dims), "convention": model.convention, "dtype": model.dtype} == case["then"]
