"""Collectives in PyTorch's traces: what they send, their rates, and how other kernels hide them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import read
from tests.tables import has_columns

RING = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SHORT = {"collective": "Collective name", "dtype": "dtype", "ranks": "Group size", "sent": "In msg nelems"}
SHORT |= {"got": "Out msg nelems", "group": "Process Group Name", "members": "Process Group Ranks", "seq": "Seq"}
SHORT |= {"splits": "In split size", "splits_out": "Out split size", "about": "Process Group Description"}


def metadata(**given: Any) -> dict[str, Any]:
    return {SHORT.get(word, word): value for word, value in given.items()}


def kernel(name: str, start: float, microseconds: float, *, stream: int = 7, device: int = 0, **args: Any) -> Any:
    found = {"device": device, "stream": stream, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "ts": start, "dur": microseconds, "args": found}


def operation(name: str, external: int, start: float = 0, dur: float = 5, **args: Any) -> Any:
    found = {"External id": external, **args}
    return {"ph": "X", "cat": "cpu_op", "name": name, "ts": start, "dur": dur, "pid": 1, "tid": 1, "args": found}


def trace(*events: Any, **header: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, **header, "traceEvents": events}).encode()


def one(name: str = RING, microseconds: float = 100, **given: Any) -> rw.Kernels:
    """Return the table of a trace with one kernel that has a copy of the metadata."""
    return read(trace(kernel(name, 0, microseconds, **metadata(**given))))


@pytest.mark.parametrize(
    ("collective", "sent", "got", "kind", "size", "over_link"),
    [
        ("allreduce", 1000, 1000, "all-reduce", 2000, 2 * 7 / 8 * 2000),
        ("allreduce_coalesced", 1000, 1000, "all-reduce", 2000, 2 * 7 / 8 * 2000),
        ("_allgather_base", 1000, 8000, "all-gather", 16000, 14000),
        ("allgather_into_tensor_coalesced", 1000, 8000, "all-gather", 16000, 14000),
        ("reduce_scatter_tensor_coalesced", 8000, 1000, "reduce-scatter", 16000, 14000),
        ("_reduce_scatter_base", 8000, 1000, "reduce-scatter", 16000, 14000),
        ("all_to_all", 8000, 8000, "all-to-all", 16000, 14000),
        ("gather", 1000, 8000, "gather", 16000, 14000),
        ("scatter", 8000, 1000, "scatter", 16000, 14000),
        # Other ranks than the root have only their own part.
        ("gather", 1000, 0, "gather", 16000, 14000),
        ("gather", 1000, 1000, "gather", 16000, 14000),
        ("scatter", 0, 1000, "scatter", 16000, 14000),
        ("broadcast", 1000, 1000, "broadcast", 2000, 2000),
        ("reduce", 1000, 1000, "reduce", 2000, 2000),
        ("send", 1000, 1000, "send", 2000, 2000),
        ("recv", 1000, 1000, "receive", 2000, 2000),
    ],
)
def test_a_kernel_with_a_copy_of_the_metadata_has_the_least_bytes_that_its_rank_sends(  # noqa: PLR0917 - a number each
    collective: str, sent: int, got: int, kind: str, size: int, over_link: float
) -> None:
    table = one(collective=collective, sent=sent, got=got, dtype="BFloat16", ranks=8)
    has_columns(table, category=["communication"], flops=[0], bytes=[2 * (sent + got)], network_bytes=[over_link])
    columns = (table.extra[name].tolist() for name in ("collective", "message size (B)", "ranks", "dtype"))
    assert [*columns] == [[kind], [size], [8], ["bf16"]]


def test_rates_are_those_that_nccls_tests_print() -> None:
    table = one(collective="_allgather_base", sent=1_000_000, got=8_000_000, dtype="BFloat16", ranks=8)
    assert table.extra["algorithm bandwidth (B/s)"][0] == pytest.approx(160e9, rel=1e-12)
    assert table.extra["bus bandwidth (B/s)"][0] == pytest.approx(140e9, rel=1e-12)
    assert table.network_bytes[0] == 14e6


def test_rates_of_repeated_messages_are_those_of_their_mean_time_and_sizes_stay_apart() -> None:
    def call(start: float, microseconds: float, elements: int) -> Any:
        args = metadata(collective="allreduce", sent=elements, got=elements, dtype="Float", ranks=4)
        return kernel(RING, start, microseconds, **args)

    table = read(trace(call(0, 10, 1000), call(20, 30, 1000), call(60, 8, 500)), idle=False)
    has_columns(table, count=[2, 1], network_bytes=[2 * 1.5 * 4000, 1.5 * 2000])
    np.testing.assert_allclose(table.extra["bus bandwidth (B/s)"], [1.5 * 4000 / 20e-6, 1.5 * 2000 / 8e-6], rtol=1e-12)
    assert table.extra["shape"].tolist() == ["1,000 elements, 4 ranks", "500 elements, 4 ranks"]


def test_the_roof_of_a_collective_is_the_link_and_its_share_the_bus_bandwidth_over_it() -> None:
    table = one(collective="allreduce", sent=10**6, got=10**6, dtype="Half", ranks=8)
    chip = rw.Chip("chip", {"fp16": 1e15}, {"HBM": 3e12}, links={"NVLink": 450e9})
    bound = rw.bound(table, chip)
    assert bound.bound_by.tolist() == ["network"]
    assert bound.time[0] == pytest.approx(3.5e6 / 450e9, rel=1e-12)
    assert bound.utilization[0] == pytest.approx(3.5e6 / 100e-6 / 450e9, rel=1e-12)


def test_without_a_copy_the_operation_has_the_metadata() -> None:
    about = metadata(collective="allreduce", sent=64, got=64, dtype="Double", ranks=2)
    table = read(
        trace(
            operation("c10d::allreduce_", 6, 0, 9),
            operation("record_param_comms", 7, 1, 5, **about),
            kernel(RING, 20, 5, **{"External id": 7}),
        ),
        by="operation",
    )
    has_columns(table, names=["all-reduce"], network_bytes=[512])
    assert table.extra["kernel"].tolist() == [RING]


def test_an_operation_without_a_kernel_sends_nothing() -> None:
    about = metadata(collective="allreduce", sent=64, got=64, dtype="Float", ranks=2)
    events = [operation("record_param_comms", 7, **about), kernel("gemm", 20, 5, **{"External id": 9})]
    table = read(trace(*events), by="operation")
    assert table.names.tolist() == ["gemm"]
    assert np.isnan(table.network_bytes).all()


def test_a_message_of_two_kernels_of_one_operation_counts_once() -> None:
    about = metadata(collective="allreduce_coalesced", sent=100, got=100, dtype="Float", ranks=2)
    events = [kernel(RING, 20, 5, **{"External id": 7}), kernel(RING, 30, 9, **{"External id": 7})]
    data = trace(operation("record_param_comms", 7, **about), *events)
    for by in ("operation", "kernel"):
        assert np.nansum(read(data, by=by).network_bytes) == 400


def test_splits_that_differ_send_what_the_busiest_side_sends_to_others() -> None:
    # The rank is the second of its group: it sends 3 + 1 of 6 rows, and gets 4 + 4 of 10, each of 8 bytes.
    table = read(
        trace(
            kernel(
                "ncclDevKernel_SendRecv",
                0,
                10,
                **metadata(collective="all_to_allv", sent=12, got=20, dtype="Float", ranks=3, members="[0, 5, 6]"),
                **metadata(splits="[3, 2, 1]", splits_out="[4, 2, 4]"),
            ),
            distributedInfo={"rank": 5, "world_size": 8},
        )
    )
    assert table.network_bytes[0] == pytest.approx(8 * 8, rel=1e-12)
    assert table.extra["message size (B)"][0] == pytest.approx(8 * 8 * 3 / 2, rel=1e-12)
    assert table.extra["shape"][0] == "20 elements, 3 ranks, uneven"
    assert table.origin["bytes:network"][0].endswith("the larger of what the rank sends to and gets from others")


def test_the_part_of_a_rank_whose_place_is_unknown_is_the_mean_of_its_splits_and_said_so() -> None:
    about: Any = {"sent": 12, "got": 12, "dtype": "Float", "ranks": 3, "splits": "[3, 2, 1]", "splits_out": "[2, 2, 2]"}
    table = one("ncclDevKernel_SendRecv", collective="all_to_allv", **about)
    # 6 - 2 of 6 rows of 8 bytes are sent to others.
    assert table.network_bytes[0] == pytest.approx(4 * 8, rel=1e-12)
    assert table.origin["bytes:network"][0].endswith("gets from others (its own part is taken as the mean)")


def test_a_list_of_splits_that_the_profiler_has_cut_counts_as_even_and_says_so() -> None:
    cut = f"[{', '.join(['1', '2'] * 15)}, ...]"
    about: Any = {"sent": 6400, "got": 6400, "dtype": "Half", "ranks": 64, "splits": cut, "splits_out": cut}
    table = one("ncclDevKernel_SendRecv", collective="all_to_allv", **about)
    assert table.network_bytes[0] == pytest.approx(63 / 64 * 12800, rel=1e-12)
    assert table.origin["bytes:network"][0].endswith("its list of splits is cut, so they count as even")


def test_a_group_without_its_size_has_that_of_the_header() -> None:
    groups = [{"pg_name": "0", "pg_size": 16}, {"pg_name": "1", "pg_size": 4}]
    about = metadata(collective="allreduce", sent=64, got=64, dtype="Float", group="1")
    table = read(trace(kernel(RING, 0, 1, **about), distributedInfo={"world_size": 16, "pg_config": groups}))
    assert table.extra["ranks"].tolist() == [4]
    assert table.network_bytes[0] == pytest.approx(2 * 3 / 4 * 256)


def test_equal_messages_of_two_groups_are_two_rows_that_name_their_groups() -> None:
    def call(start: float, group: str, about: str) -> Any:
        given = metadata(collective="allreduce", sent=8, got=8, dtype="Float", ranks=2, group=group, about=about)
        return kernel(RING, start, 1, **given, **metadata(members="[0, 1]"))

    table = read(trace(call(0, "3", "tensor"), call(1, "4", "data")))
    assert table.extra["shape"].tolist() == ["8 elements, 2 ranks of tensor", "8 elements, 2 ranks of data"]
    assert table.extra["group"].tolist() == ["3 [0, 1]", "4 [0, 1]"]


def test_ends_of_a_send_and_a_receive_are_named() -> None:
    sent = one("ncclDevKernel_SendRecv", collective="send", sent=8, got=8, dtype="Float", ranks=2, **{"Dst Rank": 3})
    got = one("ncclDevKernel_SendRecv", collective="recv", sent=8, got=8, dtype="Float", ranks=2, **{"Src Rank": 1})
    assert [*sent.extra["shape"], *got.extra["shape"]] == ["8 elements, to rank 3", "8 elements, from rank 1"]


@pytest.mark.parametrize("key", ["In msg nelems", "In msg size"])
def test_sizes_of_older_versions_are_elements_too(key: str) -> None:
    about: Any = {"collective": "allreduce", "dtype": "Float", "ranks": 2, key: 25}
    table = one(**about)
    has_columns(table, network_bytes=[100], bytes=[100])


@pytest.mark.parametrize(
    ("name", "dims", "types", "values", "sent"),
    [
        ("c10d::_allgather_base_", [[8, 100], [100]], ["c10::Half", "c10::Half"], [], 1400),
        ("c10d::_reduce_scatter_base_", [[100], [8, 100]], ["c10::Half", "c10::Half"], [], 1400),
        ("c10d::alltoall_base_", [[800], [800]], ["c10::Half", "c10::Half"], [], 1400),
        ("c10d::allreduce_", [[[100], [60]]], ["TensorList"], [], 2 * 7 / 8 * 160 * 2),
        ("_c10d_functional::all_reduce", [[100]], ["float"], ["", "sum", "0"], 2 * 7 / 8 * 400),
        ("_c10d_functional::all_gather_into_tensor", [[100], [], []], ["float", "Scalar", ""], ["", "4", "0"], 1200),
        ("_c10d_functional::reduce_scatter_tensor", [[80]] + [[]] * 3, ["float"] * 4, ["", "sum", "4", "0"], 240),
        ("symm_mem::multimem_all_reduce_", [[100], [], []], ["c10::BFloat16", "", ""], [], 2 * 7 / 8 * 200),
        ("symm_mem::multimem_all_gather_out", [[100], [], [800]], ["c10::Half", "", "c10::Half"], [], 1400),
        ("vllm::all_reduce", [[10, 10], []], ["c10::Half", ""], [], 2 * 7 / 8 * 200),
        ("vllm::all_gather", [[100], [], [], []], ["float", "Scalar", "Scalar", ""], ["", "-1", "4", ""], 1200),
        ("vllm::reduce_scatter", [[80], [], [], []], ["float", "Scalar", "Scalar", ""], ["", "0", "4", ""], 240),
    ],
)
def test_without_metadata_the_arguments_of_the_operation_count(
    name: str, dims: list[Any], types: list[str], values: list[str], sent: float
) -> None:
    args: Any = {"Input Dims": dims, "Input type": types, "Concrete Inputs": values}
    events = [operation(name, 7, **args), kernel(RING.replace("bf16", "f16"), 9, 5, **{"External id": 7})]
    table = read(trace(*events, distributedInfo={"world_size": 8}))
    assert table.network_bytes[0] == pytest.approx(sent, rel=1e-12)
    assert table.origin["bytes:network"][0] == f"arguments of {name}"


@pytest.mark.parametrize(("about", "sent"), [({}, 1400), (metadata(collective="all_to_all", sent=80, ranks=8), 140)])
def test_the_operation_around_a_record_counts_where_the_record_has_no_metadata(
    about: dict[str, Any], sent: float
) -> None:
    args: Any = {"Input Dims": [[800], [800]], "Input type": ["c10::Half", "c10::Half"]}
    record = {"Input Dims": [[800]], "Input type": ["c10::Half"], **about, **({"dtype": "Half"} if about else {})}
    events = [
        operation("c10d::alltoall_base_", 7, 0, 20, **args),
        operation("record_param_comms", 8, 5, 10, **record),
        kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", 30, 5, **{"External id": 8}),
    ]
    table = read(trace(*events, distributedInfo={"world_size": 8}), idle=False)
    has_columns(table, names=["all-to-all"], flops=[0], network_bytes=[sent])


def test_groups_of_one_rank_do_not_hide_the_number_of_ranks() -> None:
    groups = [{"pg_name": "0", "pg_size": 8}, {"pg_name": "1", "pg_size": 1}]
    args: Any = {"Input Dims": [[100], [], []], "Input type": ["c10::BFloat16", "", ""]}
    name = "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)"
    events = [operation("symm_mem::multimem_all_reduce_", 7, **args), kernel(name, 9, 5, **{"External id": 7})]
    table = read(trace(*events, distributedInfo={"world_size": 8, "pg_config": groups}))
    has_columns(table, names=["all-reduce"], category=["communication"], network_bytes=[2 * 7 / 8 * 200])


@pytest.mark.parametrize(
    "name",
    [
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_twoshot_sync<1, __nv_bfloat16, 8, false>()",
        "void trtllm_mnnvl_allreduce::twoshotAllreduceKernel<8, __nv_bfloat16>(__nv_bfloat16*)",
        "void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half>, __half>(__half const*)",
        "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 8>(c10::BFloat16**)",
    ],
)
def test_kernels_of_serving_libraries_communicate(name: str) -> None:
    assert one(name).category.tolist() == ["communication"]


def test_the_all_reduce_of_vllm_has_the_ranks_of_its_kernels_template() -> None:
    args: Any = {
        "Input Dims": [[], [16, 4096], [16, 4096], [], []],
        "Input type": ["Scalar", *["c10::BFloat16"] * 2, "", ""],
    }
    name = "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 4>(vllm::RankData*)"
    events = [operation("_C_custom_ar::all_reduce", 7, **args), kernel(name, 9, 5, **{"External id": 7})]
    table = read(trace(*events))
    has_columns(table, names=["all-reduce"], category=["communication"], network_bytes=[2 * 3 / 4 * 16 * 4096 * 2])


def test_deep_ep_has_no_sizes_and_a_warning_says_what_to_do() -> None:
    table = one("void deep_ep::intranode::dispatch<8, 768>(int4*)", 30)
    assert table.category.tolist() == ["communication"]
    assert np.isnan(table.network_bytes[0])
    (warning,) = [text for text in table.warnings if "over the link" in text]
    assert warning.startswith("bytes over the link are unknown for 1 collective, 100 % of the time of communication; ")
    assert "give the bytes that a rank sends as bytes under 'network' with Kernels.with_work" in warning
    known = table.with_work({"deep_ep": {"bytes": {"network": 1000}}})
    assert known.network_bytes.tolist() == [1000]


def test_a_collective_without_a_known_size_is_unknown_and_a_barrier_is_no_transfer() -> None:
    table = read(trace(kernel(RING, 0, 5), kernel(RING, 10, 5, **metadata(collective="barrier", ranks=8))))
    assert np.isnan(table.network_bytes).all()
    assert np.isnan(table.flops).all()


def test_a_bad_number_of_the_metadata_names_its_event() -> None:
    with pytest.raises(rw.ProfileError, match=r"event 1: .*expected a number from 0 as its 'In msg nelems', got -4"):
        one(collective="allreduce", sent=-4)


# -- overlap -----------------------------------------------------------------------------------------------------------


def test_the_hidden_share_is_the_overlap_of_unions_over_that_of_communication() -> None:
    # Communication from 0 to 10 and 12 to 14; other kernels on two streams from 4 to 8, 6 to 9 and 13 to 20.
    events = [kernel(RING, 0, 10, stream=40), kernel(RING, 12, 2, stream=40), kernel("a", 4, 4)]
    events += [kernel("b", 6, 3, stream=9), kernel("c", 13, 7)]
    found = read(trace(*events)).communication
    assert found is not None
    assert (found.time, found.other, found.hidden) == pytest.approx((12e-6, 12e-6, 6e-6), rel=1e-9)
    assert (found.exposed, found.hidden_share, found.exposed_share) == pytest.approx((6e-6, 0.5, 1 / 3), rel=1e-9)


def test_copies_are_neither_communication_nor_what_hides_it() -> None:
    copy = {**kernel("Memcpy DtoH", 0, 10, stream=9, bytes=4096), "cat": "gpu_memcpy"}
    found = read(trace(kernel(RING, 0, 10), copy)).communication
    assert found is not None
    assert (found.other, found.hidden) == (0, 0)


def test_kernels_of_another_device_hide_nothing() -> None:
    found = read(trace(kernel(RING, 0, 10), kernel("a", 0, 10, device=1))).communication
    assert found is not None
    assert found.hidden == 0
    assert found.exposed == pytest.approx(10e-6)


def test_a_profile_says_how_much_of_its_communication_is_exposed() -> None:
    table = read(trace(kernel(RING, 0, 10, stream=40), kernel("a", 5, 15)))
    said = (
        "communication runs for 10 µs, 50 % of it hidden behind other kernels: 5 µs are exposed, 25 % of the busy time"
    )
    assert said in table.warnings
    alone = read(trace(kernel(RING, 0, 10)))
    assert "communication runs for 10 µs, none of it hidden behind other kernels" in str(alone.warnings)


def test_a_program_without_communication_says_nothing_of_it() -> None:
    assert read(trace(kernel("a", 0, 10))).communication is None
    assert rw.Kernels(["a"], [1], [1]).communication is None


# -- rules and graphs --------------------------------------------------------------------------------------------------


def test_a_rule_of_a_person_goes_before_the_metadata(tmp_path: Path) -> None:
    about = metadata(collective="allreduce", sent=64, got=64, dtype="Float", ranks=2)
    args: Any = {"Input Dims": [[64]], "Input type": ["float"], **about}
    path = tmp_path / "trace.json"
    path.write_bytes(trace(operation("record_param_comms", 7, **args), kernel(RING, 20, 5, **{"External id": 7})))
    rules = tmp_path / "mine.toml"
    rules.write_text('"record_param_comms" = { link_bytes = "1 kB", flops = 32 }\n', encoding="utf-8")
    has_columns(rw.read(path), network_bytes=[256], flops=[0], bytes=[512])
    found = rw.read(path, work=rules)
    has_columns(found, network_bytes=[1000], flops=[32], bytes=[512])
    assert found.origin["bytes:network"].tolist() == ["link_bytes of a rule"]


def test_collectives_of_known_size_are_no_unknown_work() -> None:
    about = metadata(collective="allreduce", sent=64, got=64, dtype="Float", ranks=2)
    args: Any = {"Input Dims": [[64]], "Input type": ["float"], **about}
    table = read(trace(operation("record_param_comms", 7, **args), kernel(RING, 20, 5, **{"External id": 7})))
    assert not any(table.extra.get("missing for FLOPs", [None]))
    assert not any(table.extra.get("proposed rule", [None]))
