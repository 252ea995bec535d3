"""Kernels, partitions, refusals, totals, presets and the search agree with results from sets and plain loops."""

from __future__ import annotations

import runpy
from typing import Any, Final

import pytest

from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.legality import FusionError, Refusal, Rules
from roofwidget.workloads.partition import Partition
from tests.places import GOLDEN, golden, text_of
from tests.workloads.fusion_help import G, S, T, forms_of, graph_of

FILE: Final = golden("fusion.json")
CHIPS: Final = {"G": G, "T": T, "S": S}
CASES: Final[list[dict[str, Any]]] = FILE["cases"]
COUNTS: Final[list[dict[str, Any]]] = FILE["counts"]
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
each_count = pytest.mark.parametrize("case", COUNTS, ids=[case["graph"]["name"] for case in COUNTS])


def env_of(case: dict[str, Any]) -> dict[str, int]:
    return {name: value for name, value in case["env"].items() if not name.startswith("@")}


def indices(partition: Partition) -> list[list[int]]:
    return [list(group) for group in partition.indices]


def test_the_file_has_kernels_of_every_form_and_refusals_of_every_code() -> None:
    groups = [group for case in CASES for group in case["groups"]]
    forms = {(group["form"], group.get("keeps", "")) for group in groups if "form" in group}
    assert forms == {
        ("alone", ""),
        ("stream", ""),
        ("rows", ""),
        ("two passes", ""),
        ("tiles", ""),
        ("tiles", "rows"),
        ("tiles", "again"),
        ("whole rows", ""),
        ("chain", "result"),
        ("chain", "middle"),
        ("chain", "nothing"),
    }
    assert {group["refusal"] for group in groups if "refusal" in group} == {"barrier", "kinds", "axes", "capacity"}
    codes = {merge[3] for case in CASES for merge in case["merges"]}
    assert codes >= {None, "same", "not-connected", "barrier", "kinds", "not-convex", "axes", "capacity"}
    assert sum("workspace" in group for group in groups) > 4
    assert {case["chip"] for case in CASES} == {*CHIPS}
    faults = {parts["refusal"] for case in COUNTS for parts in case["partitions"] if not parts["legal"]}
    assert faults >= {"not-connected", "barrier", "kinds", "not-convex", "cycle"}
    precisions = {p for case in COUNTS for parts in case["partitions"] if parts["legal"] for p in parts["precision"]}
    assert precisions >= {None, "fp32", "bf16", "fp8", "int8"}
    assert any(case["graph"]["dims"] for case in COUNTS)
    assert any(case["graph"]["convention"] == "mac" for case in COUNTS)
    # Beyond 2^53 a count is text.
    assert any(isinstance(case["compulsory"], str) for case in COUNTS)


def test_the_file_is_what_its_program_writes() -> None:
    written = runpy.run_path(str(GOLDEN / "make_fusion.py"))["file"]()
    assert written == text_of(GOLDEN / "fusion.json")


@each_case
def test_kernels_have_the_form_the_bytes_and_the_time_of_the_definitions(case: dict[str, Any]) -> None:
    forms = forms_of(graph_of(case["graph"]), CHIPS[case["chip"]])
    rules, s = Rules(forms.structure), forms.structure
    for wanted in case["groups"]:
        group = sum(1 << op for op in wanted["ops"])
        found = rules.refusal(group) or forms.form(group)
        if isinstance(found, Refusal):
            assert found.code == wanted.get("refusal"), wanted
            continue
        flops = zip(("tensor", "vector", "transcendental"), forms.flops(group, found), strict=True)
        told = {
            "form": found.name,
            "keeps": found.keeps,
            "need": found.need,
            "block": found.block,
            "reads": {s.tensors[t].name: n for t, n in found.reads.items()},
            "times": {s.names[op]: n for op, n in found.times.items()},
            "workspace": found.workspace,
            "bytes": forms.bytes(group, found),
            "flops": {word: n for word, n in flops if n},
        }
        assert {word: part for word, part in told.items() if part} == {
            word: part for word, part in wanted.items() if word not in {"ops", "seconds"}
        }
        assert forms.seconds(group, found) == pytest.approx(wanted["seconds"], rel=1e-12)


@each_case
def test_refused_merges_say_why(case: dict[str, Any]) -> None:
    graph, chip = graph_of(case["graph"]), CHIPS[case["chip"]]
    for groups, one, other, code in case["merges"]:
        partition = Partition(graph, groups, chip=chip)
        assert indices(partition) == groups
        refusal = partition.why_not(one, other, chip=chip)
        assert (refusal and refusal.code) == code
        if refusal is None:
            fused = partition.fuse(one, other, chip=chip)
            assert sorted(groups[one] + groups[other]) in indices(fused)
            assert len(fused) == len(partition) - 1
        else:
            assert set(refusal.path) <= set(partition._structure.names)
            with pytest.raises(FusionError) as refused:
                partition.fuse(one, other, chip=chip)
            assert refused.value.refusal == refusal


@each_case
def test_an_op_that_leaves_its_group_leaves_legal_parts(case: dict[str, Any]) -> None:
    graph, chip = graph_of(case["graph"]), CHIPS[case["chip"]]
    for groups, op, result in case["splits"]:
        assert indices(Partition(graph, groups, chip=chip).split(op)) == result


@each_case
def test_presets_merge_what_their_rules_say(case: dict[str, Any]) -> None:
    graph, chip = graph_of(case["graph"]), CHIPS[case["chip"]]
    assert indices(Partition.pairs(graph, chip=chip)) == case["pairs"]
    assert indices(Partition.like("xla", graph, chip)) == case["xla"]


@each_case
def test_the_search_finds_the_best_of_all_partitions(case: dict[str, Any]) -> None:
    graph, chip, best = graph_of(case["graph"]), CHIPS[case["chip"]], case["best"]
    found = Partition.best(graph, chip)
    assert found.how == "optimal"
    assert found.time(chip) == pytest.approx(best["seconds"], rel=1e-12)
    assert int(found.kernels(chip=chip).bytes.sum()) == best["bytes"]
    assert len(found) == len(best["groups"])


@each_count
def test_totals_of_partitions_are_exact(case: dict[str, Any]) -> None:
    graph = graph_of(case["graph"])
    env = graph.environment(env_of(case))
    for partition in case["partitions"]:
        if not partition["legal"]:
            with pytest.raises(FusionError) as refused:
                Partition.on_some_chip(graph, partition["groups"])
            assert refused.value.refusal.code == partition["refusal"]
            continue
        made = Partition.on_some_chip(graph, partition["groups"])
        assert indices(made) == partition["groups"]
        bytes_ = [evaluate(made.bytes(group), env) for group in range(len(made))]
        flops = [{k: evaluate(n, env) for k, n in made.flops(group).items()} for group in range(len(made))]
        assert bytes_ == [int(n) for n in partition["bytes"]]
        assert flops == [{k: int(n) for k, n in group.items()} for group in partition["flops"]]
        table = made.kernels(env_of(case))
        told = zip(table.precision.tolist(), partition["precision"], flops, strict=True)
        # A kernel without FLOPs has no precision.
        assert all(found == (wanted if any(work.values()) else None) for found, wanted, work in told)
        assert evaluate(made.total_bytes(), env) == int(partition["total_bytes"])
        assert evaluate(made.compulsory_bytes, env) == int(partition["compulsory"]) == int(case["compulsory"])


@each_count
def test_a_graph_counts_by_its_own_convention(case: dict[str, Any]) -> None:
    graph = graph_of(case["graph"])
    for word in ("tensor", "vector", "transcendental"):
        assert graph.count(word, env_of(case)) == int(case["own"].get(word, 0))
