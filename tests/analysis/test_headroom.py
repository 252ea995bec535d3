"""Headroom: one definition for `bound`, `Kernels.top`, the ranking of the page and `advise`."""

from __future__ import annotations

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.kernels.collectives import collectives, communicates
from roofwidget.readers.kernel_families import kernel_family
from roofwidget.wire import kernels_to_wire

CHIP = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12}, links={"Link": 1e11})


def test_headroom_of_rows_that_contain_others_is_of_their_own_time() -> None:
    # The bounds are 1 s each.
    nested = rw.Kernels(["while", "body"], [1e14, 1e14], [1, 1], time=[10, 5], self_time=[1, 5], chip=CHIP)
    bound = rw.bound(nested, CHIP)
    np.testing.assert_allclose(bound.headroom, [0.9, 4.0], rtol=1e-15)
    assert nested.top(1).names.tolist() == ["body"]
    assert "at most 900 ms left" in rw.advise(bound)[0].evidence


def test_headroom_without_nested_rows_is_measured_time_less_bound_time() -> None:
    table = rw.Kernels(["a", "b"], [1e14, 0], [1, 1e12], time=[1.1, 3])
    assert rw.bound(table, CHIP).headroom.tolist() == [1.1 - 1, 2]


def test_a_row_without_work_has_no_headroom_and_leads_no_ranking() -> None:
    table = rw.Kernels(["nothing", "a"], [0, 1e14], [0, 1], time=[9, 2], chip=CHIP)
    np.testing.assert_array_equal(rw.bound(table, CHIP).headroom, [np.nan, 1])
    assert table.top(1).names.tolist() == ["a"]


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("all-reduce.3", None),
        ("%all-gather-start.1", None),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", None),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", None),
        ("Reduce-Scatter.1", None),
        ("COLLECTIVE_PERMUTE", None),
        ("fusion.4", "all-reduce fusion"),
        ("fusion.5", "Collectives"),
        ("c10d::allreduce_", "communication"),
    ],
)
def test_a_collective_without_bytes_over_its_link_has_no_headroom_and_says_so(name: str, category: str | None) -> None:
    table = rw.Kernels([name, "norm"], [0, 0], [1e9, 1e12], time=[9, 2], category=[category, None], chip=CHIP)
    bound = rw.bound(table, CHIP)
    np.testing.assert_array_equal(bound.headroom, [np.nan, 1])
    assert table.top(1).names.tolist() == ["norm"]
    said = "1 collective has no bytes over a link, so its headroom is unknown: give its bytes under 'network'"
    assert bound.notes == (f"{said}, as from roofwidget.network.network_bytes.",)
    found = rw.advise(bound)[0]
    assert (found.situation, found.evidence) == ("collective, link unknown", "bytes over its link not known; 9 s")
    assert np.frombuffer(kernels_to_wire(table)["unlinked"], "<i4").tolist() == [1, 0]


def test_a_collective_with_bytes_over_its_link_is_judged_by_its_link() -> None:
    table = rw.Kernels(["all-reduce"], [0], {"HBM": [1e9], "network": [1e11]}, time=[9], chip=CHIP)
    bound = rw.bound(table, CHIP)
    assert (bound.bound_by.tolist(), bound.headroom.tolist(), bound.notes) == (["network"], [8], ())
    assert kernels_to_wire(table)["unlinked"] is None


@pytest.mark.parametrize(
    "name",
    ["deep_ep::intranode::dispatch<8>", "void vllm::cross_device_reduce_2stage<half, 8>", "ncclDevKernel_SendRecv"],
)
def test_kernels_of_libraries_that_communicate_are_collectives(name: str) -> None:
    assert collectives(rw.Kernels([name], [0], [1])).tolist() == communicates([name]).tolist() == [True]
    assert kernel_family(name) == "collective"


def test_reductions_and_gathers_on_one_chip_are_no_collectives() -> None:
    names = ["reduce", "reduce_sum", "gather", "all_reduced_norm", "scatter", "broadcast", "permute"]
    table = rw.Kernels(names, [0] * 7, [1e12] * 7, time=[2] * 7)
    assert rw.bound(table, CHIP).headroom.tolist() == [1] * 7
