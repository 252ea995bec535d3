"""Verdicts: the golden file, which the page is held to as well, and what the model gives to the rules."""

from __future__ import annotations

from typing import Any, Final

import pytest

import roofwidget as rw
from roofwidget.analysis.compare_runs import compare_runs
from roofwidget.analysis.verdict import RULES, Fusion, facts_of, family_of, verdict_of
from roofwidget.kernels.metadata import Activity, Communication
from tests.places import golden

GOLDEN: Final[list[dict[str, Any]]] = golden("verdicts.json")
CLASSES: Final[dict[str, Any]] = {"communication": Communication, "activity": Activity}


def kernels_of(rows: list[dict[str, Any]], **metadata: dict[str, float] | None) -> rw.Kernels:
    names = {"collective": "collective", "message size (B)": "size", "ranks": "ranks"}
    extra = {column: [row.get(key) for row in rows] for column, key in names.items()}
    return rw.Kernels(
        [row["name"] for row in rows],
        [row["flops"] for row in rows],
        [row["bytes"] for row in rows],
        time=[row["time"] for row in rows],
        category=[row["category"] for row in rows],
        count=[row["count"] for row in rows],
        extra=extra if any(extra["collective"]) else None,
        **{name: CLASSES[name](**times) for name, times in metadata.items() if times is not None},
    )


def chip_of(case: dict[str, Any]) -> rw.Chip | None:
    if case["chip"] is None:
        return None
    told = case["chip"]
    chip = rw.Chip(
        told["name"],
        {"bf16": told["peak_flops"]},
        {"HBM": told["bandwidth"]},
        id=told["id"],
        vendor=told["vendor"],
        kind=told["kind"],
    )
    rates = case["what_if"] or {}
    return chip.with_rates({}, {"HBM": rates["bandwidth"]} if rates else {})


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: str(case["case"]))
def test_each_rule_and_each_of_its_limits_gives_the_sentences_of_the_exact_fractions(case: dict[str, Any]) -> None:
    chip, earlier = chip_of(case), case["earlier"]
    kernels = kernels_of(case["kernels"], **{name: case[name] for name in CLASSES})
    facts = facts_of(
        kernels,
        None if chip is None else rw.bound(kernels, chip),
        runs=None if earlier is None else compare_runs(kernels_of(earlier["kernels"]), kernels),
        fusion=None if case["fusion"] is None else Fusion(**case["fusion"]),
        what_if=case["what_if"] is not None,
        links=case["links"],
        topology=case["topology"],
    )
    found = verdict_of(facts)
    assert (found.rule, found.headline, found.detail, found.is_alert) == (
        case["rule"],
        case["headline"],
        case["detail"],
        case["is_alert"],
    )


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in RULES} == {case["rule"] for case in GOLDEN} - {"nothing"}


CHIP: Final = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
ROWS: Final = [("matmul", 1e14, 1e10, 2.0), ("copy", 0, 1e12, 4.0)]


def test_the_model_judges_the_roof_that_is_drawn_and_names_its_what_if() -> None:
    model = rw.RooflineModel([CHIP], ROWS)
    assert model.verdict().headline == "Up to 4 s of 6 s could be saved: kernels run at 33 % of their roofs."
    model.set_what_if(bandwidth="2 TB/s")
    # The copy needs 0.5 s.
    found = model.verdict()
    assert found.headline == "Up to 4.5 s of 6 s could be saved: kernels run at 25 % of their roofs."
    assert found.detail == "With your what-if: most could be saved in copy (78 %) and matmul (22 %)."
    model.reset()
    model.search = "copy"
    assert model.verdict().headline.startswith("Up to 4 s of 6 s"), "whichever filters are set"


@pytest.mark.parametrize(
    ("chip", "name"), [("h100-sxm", "H100 SXM5"), ("h100-nvl", "H100 NVL"), ("a100-sxm-80gb", "A100 SXM4 80GB")]
)
def test_the_name_of_a_chip_has_the_size_of_its_memory_only_if_its_id_has_it(chip: str, name: str) -> None:
    bandwidth = rw.chip(chip).memories["HBM"].bandwidth
    assert bandwidth is not None
    model = rw.RooflineModel([chip], [("copy", 0, 1e12, 1e12 / bandwidth)])
    assert model.verdict().headline == f"copy runs at 100 % of its roof: little is left to save on {name}."


def test_kernels_that_ran_on_another_chip_are_judged_by_it() -> None:
    kernels = rw.Kernels(*zip(*[row[:3] for row in ROWS], strict=True), time=[2.0, 4.0], chip=CHIP)
    fast = rw.Chip("Fast", {"bf16": "1 PFLOP/s"}, {"HBM": "10 TB/s"})
    model = rw.RooflineModel([fast], kernels)
    model.set_what_if(bandwidth="20 TB/s")
    found = model.verdict()
    assert found.headline == "Up to 4 s of 6 s could be saved: kernels run at 33 % of their roofs."
    assert not found.detail.startswith("With your what-if")


def test_a_model_without_a_shown_chip_or_without_the_precision_has_no_roof() -> None:
    assert rw.RooflineModel([], ROWS).verdict().rule == "no roof"
    other = rw.Chip("Two", {"fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s"})
    assert rw.RooflineModel([CHIP, other], ROWS, precision="fp8", focus_chip="example").verdict().rule == "no roof"


def test_a_graph_is_held_against_its_best_partition() -> None:
    # Each op reads and writes 2 GB.
    graph = rw.chain([("gelu", 8), ("dropout", 2), ("tanh", 8), ("scale", 1)], elements=10**9)
    model = rw.RooflineModel([CHIP], graph=graph)
    found = model.verdict()
    assert found.rule == "graph"
    assert found.headline == "Fused into one kernel, this graph runs 4× as fast."
    assert found.detail == (
        "Unfused, all 4 kernels are memory-bound: they move 16 GB where the graph needs at least 4 GB."
    )
    model.partition = rw.Partition.best(graph, CHIP)
    assert model.verdict().headline == "This partition is the best for Example."


def test_a_title_stands_in_place_of_what_needs_no_measured_times() -> None:
    assert rw.RooflineModel([CHIP], title="A lesson").verdict() == rw.Verdict("A lesson", rule="title")
    untimed = rw.RooflineModel([CHIP], [("matmul", 1e14, 1e10)], title="A lesson")
    assert untimed.verdict().headline == "A lesson"
    assert rw.RooflineModel([CHIP], ROWS, title="A lesson").verdict().rule == "spread"
    assert rw.RooflineModel([CHIP]).verdict() == rw.Verdict()


def test_two_runs_are_compared_over_all_launches() -> None:
    earlier = rw.Kernels(["matmul", "copy"], [1e14, 0], [1e10, 1e12], time=[3.0, 4.0])
    found = rw.RooflineModel([CHIP], ROWS, baseline=earlier).verdict()
    assert str(found) == (
        "14 % less time: 7 s before, 6 s now.\n"
        "1 kernel faster (−1 s), 1 the same within 1 %. All 2 kernels are in both runs."
    )


def test_the_family_of_a_category_joins_copies_and_collectives() -> None:
    names = ["copy-start", "copy-done", "copy", "copyright", "all-reduce", "collectives", "reduce", "", None]
    families = ["copy", "copy", "copy", "copyright", "collective", "collective", "reduce", None, None]
    assert [family_of(name) for name in names] == families
