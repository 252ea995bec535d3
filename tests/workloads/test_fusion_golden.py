"""Partitions, refusals, totals, presets and the search agree with results from sets and exact fractions."""

from __future__ import annotations

import runpy
from typing import Any, Final

import pytest

from roofwidget.chips import Chip, Memory
from roofwidget.workloads import Graph, Tensor, dim
from roofwidget.workloads.capacity import Capacity
from roofwidget.workloads.expressions import evaluate, from_wire
from roofwidget.workloads.legality import FusionError
from roofwidget.workloads.partition import Partition
from tests.places import GOLDEN, golden, text_of

CASES: Final[list[dict[str, Any]]] = golden("fusion.json")["cases"]
NAMES: Final = [case["graph"]["name"] for case in CASES]
each_case = pytest.mark.parametrize("case", CASES, ids=NAMES)


def graph_of(wire: dict[str, Any]) -> Graph:
    dims = {name: dim(name, low, high, default=default) for name, low, high, default in wire["dims"]}

    def count(part: Any) -> Any:
        return from_wire(part, dims)

    tensors = [Tensor(one["name"], [count(size) for size in one["shape"]], one["dtype"]) for one in wire["tensors"]]
    made = {t for op in wire["ops"] for t in op["outputs"]}
    graph = Graph(wire["name"], convention=wire["convention"])
    for t, one in enumerate(tensors):
        if t not in made:
            graph.input(one.name, one.shape, one.dtype)
    for op in wire["ops"]:
        graph.op(
            op["kind"],
            op["name"],
            [tensors[t] for t in op["inputs"]],
            [tensors[t] for t in op["outputs"]],
            {word: count(flops) for word, flops in op["flops"].items()},
            extra_bytes=count(op["extra"]),
            terms=[(word, count(flops)) for word, flops in op["terms"]],
            precision=op.get("precision"),
            axes=op.get("axes"),
        )
    graph.output(*(tensors[t] for t in wire["outputs"]))
    return graph


def chip_of(wire: dict[str, Any]) -> Chip:
    """Return a chip with the peaks of the case: those of products by precision, the others the same at each."""
    classes = {word: rate for word, rate in wire["peak"].items() if word != "tensor"}
    peaks = {**wire["peak"]["tensor"], **classes}
    return Chip("golden", peaks, {"HBM": wire["bandwidth"]}, default_precision="bf16")


def env_of(case: dict[str, Any]) -> dict[str, int]:
    return {name: value for name, value in case["env"].items() if not name.startswith("@")}


def indices(partition: Partition) -> list[list[int]]:
    return [list(group) for group in partition.indices]


def test_the_file_has_at_least_200_graphs_of_every_kind() -> None:
    codes = {merge["refusal"] for case in CASES for merge in case["merges"]}
    precisions = {p for case in CASES for parts in case["partitions"] if parts["legal"] for p in parts["precision"]}
    rooms = [room["refusal"] for case in CASES for room in case["capacity"]]
    assert len(CASES) >= 200
    assert codes == {None, "same", "not-connected", "barrier", "kinds", "not-convex", "cycle", "axes"}
    assert sum(case["best"] is not None for case in CASES) > 100
    assert sum(bool(case["graph"]["dims"]) for case in CASES) > 60
    assert sum(len(case["graph"]["outputs"]) > 1 for case in CASES) > 100
    assert sum(isinstance(case["compulsory"], str) for case in CASES) > 2
    assert precisions == {None, "fp32", "bf16", "fp8", "fp4", "int8"}
    assert sum(case["graph"]["convention"] == "mac" for case in CASES) > 30
    assert min(rooms.count("capacity"), rooms.count(None)) > 200
    assert rooms.count("axes") > 20


def test_the_file_is_what_its_program_writes() -> None:
    lines = runpy.run_path(str(GOLDEN / "make_fusion.py"))["lines"]
    written = text_of(GOLDEN / "fusion.json").splitlines()[1:-1]
    some = range(0, len(CASES), 9)
    assert list(lines(some)) == [written[number].removesuffix(",") for number in some]


@each_case
def test_totals_of_partitions_are_exact(case: dict[str, Any]) -> None:
    graph = graph_of(case["graph"])
    env = graph.environment(env_of(case))
    for partition in case["partitions"]:
        if not partition["legal"]:
            with pytest.raises(FusionError) as refused:
                Partition(graph, partition["groups"])
            assert refused.value.refusal.code == partition["refusal"]
            continue
        made = Partition(graph, partition["groups"])
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


@each_case
def test_a_graph_counts_by_its_own_convention(case: dict[str, Any]) -> None:
    graph = graph_of(case["graph"])
    for word in ("tensor", "vector", "transcendental"):
        assert graph.count(word, env_of(case)) == int(case["own"].get(word, 0))


@each_case
def test_what_does_not_fit_on_chip_is_refused(case: dict[str, Any]) -> None:
    graph, dims = graph_of(case["graph"]), env_of(case)
    for room in case["capacity"]:
        partition = Partition(graph, room["groups"])
        chip = Chip("small", {"bf16": 1}, {"HBM": 1, "SMEM": Memory("SMEM", None, room["share"])})
        refusal = partition.why_not(room["a"], room["b"], chip=chip, dims=dims)
        assert (refusal and refusal.code) == room["refusal"]
        both = sum(1 << op for end in "ab" for op in room["groups"][room[end]])
        structure = partition._structure
        assert Capacity(structure, structure.counts_at(dims), chip, dims).need(both) == room["need"]


@each_case
def test_refused_merges_say_why(case: dict[str, Any]) -> None:
    graph = graph_of(case["graph"])
    for merge in case["merges"]:
        partition = Partition(graph, merge["groups"])
        a, b = (merge["groups"][merge[end]] for end in "ab")
        refusal = partition.why_not(merge["a"], merge["b"])
        assert (refusal and refusal.code) == merge["refusal"]
        if refusal is None:
            fused = partition.fuse(merge["a"], merge["b"])
            assert sorted(a + b) in indices(fused)
            assert len(fused) == len(partition) - 1
        else:
            assert set(refusal.path) <= set(partition._structure.names)
            with pytest.raises(FusionError) as refused:
                partition.fuse(merge["a"], merge["b"])
            assert refused.value.refusal == refusal


@each_case
def test_an_op_that_leaves_its_group_leaves_legal_parts(case: dict[str, Any]) -> None:
    graph = graph_of(case["graph"])
    for split in case["splits"]:
        apart = Partition(graph, split["groups"]).split(split["op"])
        assert indices(apart) == split["result"]
        assert Partition(graph, apart.groups) == apart


@each_case
def test_presets_merge_what_their_rules_say(case: dict[str, Any]) -> None:
    graph, dims = graph_of(case["graph"]), env_of(case)
    assert indices(Partition.pairs(graph, dims=dims)) == case["pairs"]
    if case["xla"] is not None:
        chip, overhead = chip_of(case["chip"]), case["chip"]["launch_overhead"]
        assert indices(Partition.like("xla", graph, chip, dims=dims, launch_overhead=overhead)) == case["xla"]


@pytest.mark.parametrize("case", [case for case in CASES if case["best"]], ids=lambda case: case["graph"]["name"])
def test_the_search_finds_the_best_of_all_partitions(case: dict[str, Any]) -> None:
    graph, dims, best = graph_of(case["graph"]), env_of(case), case["best"]
    chip, overhead = chip_of(best["chip"]), best["chip"]["launch_overhead"]
    found = Partition.best(graph, chip, launch_overhead=overhead, dims=dims)
    assert found.how == "optimal"
    assert found.time(chip, dims=dims, launch_overhead=overhead) == pytest.approx(best["time"], rel=1e-12)
    assert len(found) == len(best["groups"])
