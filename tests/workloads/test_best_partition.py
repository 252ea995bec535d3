"""The search against a brute force that prices every partition, and what holds of all kernels of a graph.

``ROOFWIDGET_RANDOM_GRAPHS`` is the number of random graphs of up to eight ops.
"""

from __future__ import annotations

import itertools
import os
from typing import Final

import pytest

from roofwidget.workloads import search
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.forms import Form, Forms
from roofwidget.workloads.partition import Partition
from tests.workloads.fusion_help import DRAWN, G, S, T, forms_of, is_kernel, partitions, priced, written

GRAPHS: Final = int(os.environ.get("ROOFWIDGET_RANDOM_GRAPHS", "150"))
CHIPS: Final = (G, T, S)
TIE: Final = 1e-12


def some(seed: int) -> Forms:
    """Return the kernels of a random graph of two to eight ops on one of the chips."""
    return forms_of(written(*DRAWN(seed, 2 + seed % 7)), CHIPS[seed % 3])


def test_the_search_finds_the_fastest_of_all_partitions() -> None:
    for seed in range(GRAPHS):
        forms = some(seed)
        assert forms.chip is not None
        graph = forms.structure.graph
        tried = [(*priced(forms, groups), len(groups)) for groups in partitions(forms)]
        shortest = min(seconds for seconds, *_ in tried)
        equal = [(moved, kernels) for seconds, moved, kernels in tried if seconds <= shortest * (1 + TIE)]
        best = Partition.best(graph, forms.chip)
        assert best.how == "optimal"
        assert best.time(forms.chip) == pytest.approx(shortest, rel=TIE), seed
        assert (int(best.kernels(chip=forms.chip).bytes.sum()), len(best)) == min(equal), seed


def test_a_greedy_search_finds_no_faster_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    slower = 0
    for seed in range(40):
        chip = CHIPS[seed % 3]
        graph = written(*DRAWN(1000 + seed, 10 + seed % 7))
        with monkeypatch.context() as limited:
            limited.setattr(search, "MAX_STEPS", 0)
            greedy = Partition.best(graph, chip)
        exact = Partition.best(graph, chip)
        assert (greedy.how, exact.how) == ("greedy", "optimal")
        assert exact.time(chip) <= greedy.time(chip) * (1 + TIE)
        slower += greedy.time(chip) > exact.time(chip) * (1 + TIE)
    assert 0 < slower < 20


def test_no_partition_beats_the_compulsory_bytes_and_the_three_times_are_in_order() -> None:
    for seed in range(GRAPHS):
        forms = some(seed)
        chip, graph = forms.chip, forms.structure.graph
        assert chip is not None
        unfused, best = Partition.unfused(graph), Partition.best(graph, chip)
        compiler = Partition.like("compiler", graph, chip)
        times = [part.time(chip) for part in (best, compiler, unfused)]
        assert all(one <= other * (1 + TIE) for one, other in itertools.pairwise(times))
        extra = sum(evaluate(op.extra_bytes, {}) for op in graph.ops)
        least = evaluate(unfused.compulsory_bytes, {}) + extra
        assert least <= min(priced(forms, groups)[1] for groups in partitions(forms))
        assert unfused.total_flops() == best.total_flops() == compiler.total_flops()


def test_a_merge_adds_bytes_only_by_a_second_pass_by_partial_results_and_by_waves_of_blocks() -> None:
    dearer = set[str]()
    for seed in range(GRAPHS):
        forms = some(seed)
        groups = [group for group in range(1, forms.structure.everything + 1) if is_kernel(forms, group)]
        costs = {group: cost[1] for group in groups if (cost := forms.price(group))}
        for one, other in itertools.combinations(groups, 2):
            if one & other or costs.get(one | other, 0) <= costs[one] + costs[other]:
                continue
            form = forms.form(one | other)
            assert isinstance(form, Form)
            assert form.workspace or form.reads, (seed, form)
            assert form.name in {"two passes", "whole rows", "chain"} or form.workspace or form.keeps == "again"
            dearer.add("partial results" if form.workspace else form.name)
    assert {"two passes", "partial results"} <= dearer


def test_a_kernel_does_each_op_at_least_once_and_reads_each_tensor_at_least_once() -> None:
    for seed in range(GRAPHS):
        forms = some(seed)
        for group in range(1, forms.structure.everything + 1):
            form = forms.form(group) if is_kernel(forms, group) else None
            if not isinstance(form, Form):
                continue
            assert all(times > 1 for times in (*form.reads.values(), *form.times.values()))
            once = forms.structure.bytes(group, forms.counts)
            assert forms.bytes(group, form) >= once
            assert form.need <= forms.unit or form.name == "alone"
            done = sum(forms.flops(group, form))
            assert done >= sum(forms.structure.flops(group, forms.counts).values())
            assert forms.seconds(group, form) >= forms.bytes(group, form) / forms.bandwidth
