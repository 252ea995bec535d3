"""The search with a limited time: what it returns when the time ends, and the progress that it tells."""

from __future__ import annotations

import itertools
import pickle
from contextlib import nullcontext
from typing import Any

import pytest

from roofwidget.chips import Chip, Memory
from roofwidget.support.budget import Budget
from roofwidget.support.progress import Progress
from roofwidget.workloads import Graph, Tensor, greedy, search
from roofwidget.workloads.forms import Forms
from roofwidget.workloads.legality import Rules
from roofwidget.workloads.masks import members
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.structure import Structure

CHIP = Chip("chip", {"bf16": 1e12}, {"HBM": 1e9})
SIZES = {"x": 64, "a": 8, "b": 16, "c": 8, "d": 64}


def two_chains() -> Graph:
    """Return a graph of two parts: four ops in a row, and three ops that read one tensor."""
    graph = Graph("two")
    tensors = {name: Tensor(name, (size,), "bf16") for name, size in SIZES.items()}
    graph.input("x", (64,), "bf16")
    for before, after in itertools.pairwise(SIZES):
        graph.op("elementwise", f"to_{after}", [tensors[before]], [tensors[after]], 10)
    y = graph.input("y", (32,), "bf16")
    leaves = [Tensor(f"leaf{i}", (8,), "bf16") for i in range(3)]
    for leaf in leaves:
        graph.op("elementwise", f"to_{leaf.name}", [y], [leaf], 10)
    graph.output(tensors["d"], *leaves)
    return graph


def found_in(graph: Graph, ticks: float | None) -> tuple[search.Found, int]:
    """Return what the search finds in a time, and how often it asked for the time. Each question takes a second."""
    structure, asked = Structure(graph), itertools.count()
    forms = Forms(structure, structure.counts_at(None), CHIP)
    budget = Budget(ticks, clock=lambda: float(next(asked)))
    found = search.fastest(Rules(structure), forms, budget=budget)
    return found, next(asked)


def partition_of(graph: Graph, found: search.Found) -> Partition:
    return Partition(graph, [list(members(group)) for group in found.groups])


def test_the_more_time_a_search_has_the_faster_is_its_partition() -> None:
    graph = two_chains()
    best, asked = found_in(graph, 1e9)
    assert (best.how, best.budget_ended) == ("optimal", False)
    assert set(best.groups) == set(found_in(graph, None)[0].groups)
    times = []
    for ticks in range(1, asked - 1):
        found, _ = found_in(graph, ticks)
        assert (found.how, found.budget_ended) == ("greedy", True)
        times.append(partition_of(graph, found).time(CHIP))
    assert times == sorted(times, reverse=True)
    assert times[0] == Partition.unfused(graph).time(CHIP)
    assert times[-1] == pytest.approx(Partition.best(graph, CHIP).time(CHIP))
    assert len(set(times)) > 4
    assert found_in(graph, asked)[0] == best


def test_a_part_that_the_exact_search_finished_keeps_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy, "by_gain", lambda rules, *_: greedy.singles(rules.structure))
    graph = two_chains()
    _, asked = found_in(graph, 1e9)
    found, _ = found_in(graph, asked - 3)
    assert sorted(found.groups) == [0b1111, 1 << 4, 1 << 5, 1 << 6]
    # A chain of four ops has ten runs of ops. The second part has made at least one step.
    assert found.evaluations > 10


def test_a_search_without_steps_left_is_greedy_though_the_time_has_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_STEPS", 9)
    found, _ = found_in(two_chains(), 1e9)
    assert (found.how, found.evaluations, found.budget_ended) == ("greedy", 9, False)
    assert set(found.groups) == set(found_in(two_chains(), None)[0].groups)


@pytest.mark.parametrize("ticks", [None, 1e9])
def test_all_parts_of_a_graph_share_the_number_of_steps(ticks: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Four ops in a row take 10 steps, and three that read one tensor 19.
    monkeypatch.setattr(search, "MAX_STEPS", 29)
    found, _ = found_in(two_chains(), ticks)
    assert (found.how, found.evaluations, found.budget_ended) == ("optimal", 29, False)
    monkeypatch.setattr(search, "MAX_STEPS", 28)
    found, _ = found_in(two_chains(), ticks)
    assert (found.how, found.evaluations, found.budget_ended) == ("greedy", 28, False)


def test_a_search_ends_at_its_number_of_steps_and_a_limit_of_steps_is_no_end_of_time() -> None:
    graph = Graph("pair")
    x = graph.input("x", (8,), "bf16")
    graph.output(graph.relu(graph.relu(x)))
    structure = Structure(graph)
    found = [search.optimal(structure, Rules(structure), lambda _group: (1.0, 0), 0b11, limit) for limit in (2, 3, 4)]
    assert found == [search.Optimum(None, 2), search.Optimum((0b11,), 3), search.Optimum((0b11,), 3)]
    ended = Budget(1, clock=iter([0.0, 0.0, 2.0]).__next__)
    assert search.optimal(structure, Rules(structure), lambda _group: (1.0, 0), 0b11, 3, ended) == (
        search.Optimum(None, 1, budget_ended=True)
    )


def row(ops: int) -> Structure:
    """Return the structure of ops in a row."""
    graph = Graph("row")
    tensor = graph.input("x", (8,), "bf16")
    for _ in range(ops):
        tensor = graph.relu(tensor)
    graph.output(tensor)
    return Structure(graph)


def test_a_step_asks_for_no_price_if_its_least_cost_is_no_better() -> None:
    structure, asked = row(6), list[int]()

    def price(group: int) -> tuple[float, int]:
        asked.append(group)
        return 1.0, 10

    found = search.optimal(structure, Rules(structure), price, 0b111111, 1000, least=lambda *_: (1.0, 10))
    assert found == search.Optimum((0b111111,), 21)
    assert asked == [0b1, 0b11, 0b111, 0b1111, 0b11111, 0b111111]


def fastest_of(ops: int, allowed: set[int], seconds: float, **bytes_: int) -> tuple[int, ...] | None:
    """Return the groups that the exact search finds if only some groups fit, and if each op takes the same time.

    Each op moves 10 bytes, but for groups whose bytes are given by keywords such as ``b110=5``.
    """
    structure = row(ops)
    moved = {int(group[1:], 2): count for group, count in bytes_.items()}

    def price(group: int) -> tuple[float, int] | None:
        if group not in allowed and group.bit_count() > 1:
            return None
        return seconds * group.bit_count(), moved.get(group, 10 * group.bit_count())

    return search.optimal(structure, Rules(structure), price, (1 << ops) - 1, 1000).groups


@pytest.mark.parametrize("seconds", [1.0, 0.1, 0.0])
def test_of_equally_fast_partitions_the_search_takes_the_fewest_kernels_and_then_the_first(seconds: float) -> None:
    assert fastest_of(4, {0b1100, 0b0111}, seconds) == (0b0111, 0b1000)
    assert fastest_of(4, {0b1110, 0b0011}, seconds) == (0b0001, 0b1110)
    assert fastest_of(3, {0b110, 0b011}, seconds) == (0b001, 0b110)


@pytest.mark.parametrize("seconds", [1.0, 0.1, 0.0])
def test_of_equally_fast_partitions_the_search_takes_the_fewest_bytes_before_the_fewest_kernels(seconds: float) -> None:
    assert fastest_of(3, {0b110, 0b011, 0b111}, seconds, b111=31) == (0b001, 0b110)
    assert fastest_of(3, {0b110, 0b011, 0b111}, seconds, b011=19, b111=30) == (0b011, 0b100)
    assert fastest_of(3, {0b110, 0b011, 0b111}, seconds, b111=29) == (0b111,)


def test_a_bar_says_which_search_it_counts_and_in_what(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[tuple[int | None, str, str]] = []

    def advancing(progress: Progress, total: int | None, *, unit: str, description: str) -> Any:
        bars.append((total, unit, f"{description}: {progress}"))
        return nullcontext(lambda _done: None)

    monkeypatch.setattr(search, "advancing", advancing)
    Partition.best(two_chains(), CHIP, seconds=3600, progress=True)
    assert bars == [(None, "merge", "greedy search: True"), (7, "op", "exact search: True")]
    bars.clear()
    Partition.best(two_chains(), CHIP, progress=True)
    assert bars == [(7, "op", "exact search: True")]
    bars.clear()
    found_in(two_chains(), None)
    assert bars == [(7, "op", "exact search: False")]


@pytest.mark.parametrize("ops", [1, 2, 3, 4, 5])
def test_ops_that_read_one_tensor_take_a_step_for_each_subset_of_the_unfinished_ops(ops: int) -> None:
    graph = Graph("siblings")
    x = graph.input("x", (8,), "bf16")
    graph.output(*(graph.relu(x) for _ in range(ops)))
    structure = Structure(graph)
    found = search.optimal(structure, Rules(structure), lambda _group: (1.0, 0), (1 << ops) - 1, 1000)
    assert found == search.Optimum(((1 << ops) - 1,), 3**ops - 2**ops)


def test_ops_in_a_row_take_a_step_for_each_run() -> None:
    structure = row(6)
    found = search.optimal(structure, Rules(structure), lambda group: (group.bit_count(), 0), 0b111111, 1000)
    assert found == search.Optimum((0b111111,), 21)


@pytest.mark.parametrize(("sizes", "groups"), [((100, 200), [0b001, 0b110]), ((200, 100), [0b100, 0b011])])
def test_of_two_pairs_the_pair_that_saves_more_is_merged_however_short_the_times_are(
    sizes: tuple[int, int], groups: list[int]
) -> None:
    graph = Graph("three")
    tensors = [graph.input("x", (8,), "bf16"), *(Tensor(f"t{size}", (size,), "bf16") for size in (*sizes, 8))]
    for at, (read, written) in enumerate(itertools.pairwise(tensors)):
        graph.op("elementwise", f"o{at}", [read], [written], 10)
    # The two tensors between the ops have tiles of 200 B and 256 B, so the three ops do not fit together.
    chip = Chip("fast", {"bf16": 1e24}, {"HBM": 1e24, "SMEM": Memory("SMEM", None, 300)})
    structure = Structure(graph)
    found = search.fastest(Rules(structure), Forms(structure, structure.counts_at(None), chip))
    assert (found.how, sorted(found.groups)) == ("optimal", sorted(groups))


def test_a_partition_says_that_the_time_for_its_search_ended() -> None:
    graph = two_chains()
    short = Partition.best(graph, CHIP, seconds="1 ns")
    assert (short.how, short.evaluations, short.budget_ended) == ("greedy", 0, True)
    assert short == Partition.unfused(graph)
    assert repr(short).endswith("; greedy; the time for the search ended)")
    assert pickle.loads(pickle.dumps(short)).budget_ended  # noqa: S301 - our own bytes
    long = Partition.best(graph, CHIP, seconds=3600)
    assert (long.how, long.budget_ended) == ("optimal", False)
    assert long == Partition.best(graph, CHIP)
    assert not Partition.unfused(graph).budget_ended


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "soon"])
def test_a_time_that_is_none_is_refused(seconds: object) -> None:
    with pytest.raises(ValueError, match="seconds"):
        Partition.best(two_chains(), CHIP, seconds=seconds)  # type: ignore[arg-type]


def test_progress_counts_finished_ops_and_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int | None]] = []
    Partition.best(two_chains(), CHIP, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 7) for done in range(1, 8)]
    told.clear()
    monkeypatch.setattr(search, "MAX_STEPS", 0)
    found = Partition.best(two_chains(), CHIP, progress=lambda done, total: told.append((done, total)))
    assert found.how == "greedy"
    assert told == [(done, None) for done in range(1, 7 - len(found) + 1)]
