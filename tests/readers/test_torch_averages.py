"""Reading PyTorch's averages: the profiler's FLOPs with the right seconds, and no guessed dtype."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from tests import places
from tests.places import json_of, text_of
from tests.real_files import real_file
from tests.tables import has_columns, warns

FIXTURES = places.FIXTURES / "torch"
PRINTED = FIXTURES / "averages.txt"
TABLES = FIXTURES.parent / "torch_tables"
WIDE_HEADER = """\
----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------------------------  ------------
      Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg    # of Calls                    Input Shapes  Total GFLOPs
----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------------------------  ------------
  aten::mm        71.43%      50.000us        71.43%      50.000us      50.000us       9.000ms        98.68%       9.000ms       9.000ms             1    [[4096, 4096], [4096, 4096]]       137.439
aten::relu        28.57%      20.000us        28.57%      20.000us      20.000us     120.000us         1.32%     120.000us     120.000us             1                  [[4096, 4096]]            --
----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------------------------  ------------
"""  # noqa: E501 - lines of PyTorch
NEGATIVE = """\
----------  ------------  ------------  ------------  ------------  ------------  ------------
      Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls
----------  ------------  ------------  ------------  ------------  ------------  ------------
ProfileRun        -1.00%     -10.000us       100.00%       1.000ms       1.000ms             1
  aten::mm       101.00%       1.010ms       101.00%       1.010ms       1.010ms             1
----------  ------------  ------------  ------------  ------------  ------------  ------------
"""
NO_DTYPE = "averages have no dtypes"
CONV = [[2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]


def average(key: str, **changes: Any) -> SimpleNamespace:
    times = {"cpu_time_total": 30.0, "self_cpu_time_total": 20.0}
    times |= {"device_time_total": 0.0, "self_device_time_total": 0.0}
    return SimpleNamespace(**({"key": key, "count": 1, "flops": 0, "input_shapes": [], **times} | changes))


def on_device(key: str, total: float, own: float, **changes: Any) -> SimpleNamespace:
    return average(key, device_time_total=total, self_device_time_total=own, device_type="DeviceType.CPU", **changes)


RUN = [
    on_device("ProfilerStep*", 900, 0),
    on_device("aten::conv2d", 40, 0, count=2, flops=7000, input_shapes=CONV),
    on_device("aten::cudnn_convolution", 40, 40, count=2, input_shapes=CONV),
    on_device("aten::bmm", 8, 8, count=4, input_shapes=[[3, 8, 16], [3, 16, 4]]),
    on_device("aten::view", 0, 0),
    average("gemm_kernel", device_time_total=8, self_device_time_total=8, device_type="DeviceType.CUDA"),
]


def found(kernels: rw.Kernels, name: str) -> int:
    (at,) = np.flatnonzero(kernels.names == name)
    return int(at)


def test_operations_have_the_devices_time_with_all_that_they_call() -> None:
    kernels = read(RUN)
    assert kernels.names.tolist() == ["aten::conv2d", "aten::cudnn_convolution", "aten::bmm"]
    np.testing.assert_allclose(kernels.time * 1e6, [40, 40, 8])
    np.testing.assert_allclose(kernels.self_time * 1e6, [0, 40, 8])
    at = found(kernels, "aten::conv2d")
    assert kernels.achieved[at] == pytest.approx(7000 / 40e-6)


def test_flops_are_the_profilers_and_else_those_of_the_shapes_times_the_calls() -> None:
    kernels = read(RUN)
    # Four calls of 2 x 3 x 8 x 4 x 16.
    np.testing.assert_equal(kernels.flops, [7000, np.nan, 4 * 3072])
    assert kernels.origin["flops"].tolist() == [
        "flops of the profiler, summed over calls",
        None,
        "2 M N K from the shapes of aten::bmm x calls",
    ]


def test_a_dtype_that_is_not_told_is_not_made_up() -> None:
    kernels = read(RUN)
    has_columns(kernels, precision=[None] * 3, bytes=None)
    assert warns(kernels, NO_DTYPE, "dtype='bf16'")


def test_a_dtype_that_is_given_gives_compulsory_bytes() -> None:
    kernels = read(RUN, dtype="bf16")
    at = found(kernels, "aten::bmm")
    assert (kernels.precision[at], kernels.bytes[at]) == ("bf16", 4 * 2 * (384 + 192 + 96))
    assert kernels.origin["bytes:main"][at].startswith("compulsory bytes")
    assert not warns(kernels, NO_DTYPE)
    with pytest.raises(ValueError, match="did you mean 'bf16'"):
        read(RUN, dtype="bf61")


def test_a_profiler_is_asked_for_its_averages_by_shape() -> None:
    asked: list[bool] = []

    def key_averages(*, group_by_input_shape: bool) -> list[SimpleNamespace]:
        asked.append(group_by_input_shape)
        return RUN

    assert read(SimpleNamespace(key_averages=key_averages)) == read(RUN)
    assert asked == [True]


def test_a_list_that_could_be_averaged_again_is_read_as_it_is() -> None:
    events = type("EventList", (list,), {"key_averages": lambda _self: []})(RUN)
    assert read(events) == read(RUN)


def test_names_of_older_versions_are_known() -> None:
    old = average("aten::mm", cuda_time_total=6.0, self_cuda_time_total=5.0, flops=60)
    del old.device_time_total, old.self_device_time_total
    kernels = read([old])
    assert (kernels.time[0], kernels.self_time[0]) == (pytest.approx(6e-6), pytest.approx(5e-6))


def test_kernels_stand_alone_where_no_operation_was_profiled() -> None:
    kernels = read([average("gemm_kernel", cpu_time_total=0.0, device_time_total=8, self_device_time_total=8)])
    assert (kernels.names.tolist(), kernels.time[0]) == (["gemm_kernel"], pytest.approx(8e-6))


def test_without_a_device_times_are_the_hosts() -> None:
    kernels = read([average("aten::mm", flops=90, input_shapes=[[5, 3], [3, 3]])])
    assert (kernels.time[0], kernels.self_time[0]) == (pytest.approx(30e-6), pytest.approx(20e-6))
    assert "these averages have no device time: times are the host's" in kernels.warnings


def test_attention_is_counted_once_and_in_full() -> None:
    shape = [2, 4, 32, 16]
    rows = [
        on_device("aten::_scaled_dot_product_flash_attention", 9, 0, input_shapes=[shape] * 3),
        on_device("aten::_flash_attention_forward", 9, 9, input_shapes=[[2, 32, 4, 16]] * 3),
    ]
    kernels = read(rows)
    np.testing.assert_equal(kernels.flops, [4 * 2 * 4 * 32 * 32 * 16, np.nan])
    said = "the profile does not say whether attention is causal, so it is counted in full: if it is causal, half of"
    assert any(word.startswith(said) for word in kernels.warnings)


def test_averages_without_shapes_say_how_to_get_them() -> None:
    assert warns(read([average("aten::mm")]), "group_by_input_shape=True")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no operation took any time"),
        ([average("aten::mm", count=0)], "no operation took any time"),
        (
            [average("a"), average("aten::mm", flops="many")],
            "row 2, column 'flops': expected a number from 0, got 'many'",
        ),
        (
            [average("aten::mm", flops=-1.0)],
            "row 1, column 'flops': expected a number from 0, got -1.0",
        ),
        ([average("aten::mm", count=float("inf"))], "row 1, column 'count': expected a number from 0, got inf"),
        ([average(3)], "row 1, column 'key': expected a text, got 3"),  # type: ignore[arg-type]  # the error under test
    ],
)
def test_bad_averages_end_in_one_error(rows: list[Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(rows, format="torch-averages") if rows else read(type("EventList", (list,), {})())


def test_the_printed_table_is_read_as_the_averages_are() -> None:
    kernels = read(PRINTED)
    assert kernels.names.tolist() == ["aten::conv2d", "aten::cudnn_convolution", "aten::mm", "aten::bmm"]
    np.testing.assert_allclose(kernels.time * 1e6, [1200, 1200, 6.5, 2])
    np.testing.assert_allclose(kernels.self_time * 1e6, [0, 1200, 6.5, 2])
    np.testing.assert_allclose(kernels.flops, [138_000, np.nan, 24_000, 3072])
    assert kernels.count.tolist() == [5, 5, 2, 1]
    assert kernels.extra["shape"][2] == "[30, 20], [20, 10]"
    assert warns(kernels, NO_DTYPE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  250.000us", "  250.000 h", "row 6, column 'CPU total': expected a time such as '5.807us', got '250.000 h'"),
        ("   0.138  ", "   many!  ", "row 6, column 'Total MFLOPs': expected a number, got 'many!'"),
        ("  Self CPU  ", "  Self TPU  ", "column 'Self CPU': the table has no such column"),
    ],
)
def test_a_bad_cell_of_a_printed_table_is_named(old: str, new: str, message: str) -> None:
    text = text_of(PRINTED)
    assert old in text
    with pytest.raises(ProfileError, match=message):
        read(text.replace(old, new).encode(), format="torch-averages")


def test_a_printed_table_that_is_cut_off_is_refused() -> None:
    lines = text_of(PRINTED).splitlines()
    with pytest.raises(ProfileError, match="the table has no line of dashes at its end"):
        read("\n".join(lines[:8]).encode())
    with pytest.raises(ProfileError, match="expected a table with a column '# of Calls'"):
        read(b"epoch 3 done", format="torch-averages")


@pytest.mark.parametrize("version", ["1.4.0", "1.6.0", "1.8.1", "1.13.1", "2.7.1", "2.13.0"])
def test_a_table_with_all_columns_of_each_version_is_read(version: str) -> None:
    kernels = read(TABLES / f"{version}_device.txt")
    names = ["linear", "mm", "relu"] if version in ("1.4.0", "1.6.0") else ["aten::linear", "aten::mm", "aten::relu"]
    has_columns(kernels, names=names, time=[0.0128, 0.0128, 0.00096], count=[8, 8, 8])
    # 8 x 2 x 4096^3. 1.8 prints a rate, 85.899 TFLOP/s; later versions print 1.100 TFLOP; older versions print none.
    expected = {"1.8.1": 85.899e12 * 0.0128, "1.4.0": 8 * 2 * 4096**3, "1.6.0": 8 * 2 * 4096**3}
    assert kernels.flops[1] == pytest.approx(expected.get(version, 1.1e12), rel=1e-15)
    assert kernels.flops[2] == 8 * 4096**2
    # 1.6 and older print no device time without called operations.
    assert kernels.self_time[1] == pytest.approx(0.0128, nan_ok=True) or version in ("1.4.0", "1.6.0")
    assert kernels.extra["shape"][1] == "[4096, 4096], [4096, 4096]"
    assert not any("cuts off" in word or "row_limit" in word for word in kernels.warnings)


@pytest.mark.parametrize("version", ["1.4.0", "1.6.0", "1.8.1", "1.13.1", "2.7.1", "2.13.0"])
def test_a_plain_table_of_each_version_has_the_times_of_the_host(version: str) -> None:
    kernels = read(TABLES / f"{version}_host.txt")
    has_columns(kernels, time=[400e-6, 360e-6, 130e-6], self_time=[40e-6, 300e-6, 90e-6])
    assert "these averages have no device time: times are the host's" in kernels.warnings


@pytest.mark.parametrize("device", ["cuda", "xpu", "mtia", "privateuseone"])
@pytest.mark.parametrize("group", [{}, {"group_by_input_shape": True}, {"group_by_stack_n": 3}])
def test_tables_that_the_installed_pytorch_prints_are_read(device: str, group: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    with torch.profiler.profile(record_shapes=True, profile_memory=True, with_flops=True, with_stack=True) as profiler:
        torch.relu(torch.ones(64, 32) @ torch.ones(32, 16))
    averages = profiler.key_averages(**group)
    counted = {event.key: (event.count, event.flops) for event in averages}
    for row, event in enumerate(averages, 1):
        event.use_device, event.device_time_total, event.self_device_time_total = device, 7.0 * row, 7.0 * row
        event.is_legacy = True
    kernels = read(averages.table(row_limit=-1, max_name_column_width=None).encode())
    assert len(kernels) == len([event for event in averages if not event.key.startswith("ProfilerStep")])
    np.testing.assert_allclose(kernels.time * 1e6, 7.0 * np.arange(1, len(kernels) + 1))
    assert (kernels.count[found(kernels, "aten::mm")], kernels.flops[found(kernels, "aten::mm")]) == (1, 65_536)
    assert counted["aten::mm"] == (1, 65_536)


def test_a_header_that_is_wider_than_its_dashes_moves_no_column() -> None:
    kernels = read(WIDE_HEADER.encode())
    has_columns(
        kernels, names=["aten::mm", "aten::relu"], time=[9e-3, 120e-6], flops=[137.439e9, 16_777_216], count=[1, 1]
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [line.strip() for line in lines],
        lambda lines: [f"[rank0]: {line}" for line in lines],
        lambda lines: [f"2026-01-05 10:00:0{at} INFO {line}" for at, line in enumerate(lines)],
        lambda lines: ["step 1", *lines, "Self CPU time total: 70.000us", "done"],
        lambda lines: lines[1:],
        lambda lines: [f"{line}\r" for line in lines],
    ],
)
def test_a_table_in_the_output_of_a_program_is_read(change: Callable[[list[str]], list[str]]) -> None:
    text = "\n".join(change(WIDE_HEADER.splitlines()))
    assert read(text.encode()).flops.tolist() == [137.439e9, 16_777_216]


def test_a_negative_time_is_unknown_and_its_row_is_read() -> None:
    kernels = read(NEGATIVE.encode())
    has_columns(kernels, names=["ProfileRun", "aten::mm"], time=[1e-3, 1.01e-3])
    np.testing.assert_equal(kernels.self_time, [np.nan, 1.01e-3])
    assert "1 time is negative in the profile and therefore unknown: 'Self CPU' of ProfileRun" in kernels.warnings
    own = read([average("aten::mm", self_cpu_time_total=-10.0)])
    np.testing.assert_equal((own.time[0], own.self_time[0]), (30e-6, np.nan))
    assert warns(own, "'self_cpu_time_total' of aten::mm")


def test_of_several_tables_the_first_is_read_and_the_others_are_named() -> None:
    text = f"{WIDE_HEADER}\n{NEGATIVE}".encode()
    kernels = read(text)
    assert (len(kernels), kernels.time[0]) == (2, 9e-3)
    assert warns(kernels, "the text has 2 tables and this is table 1: pass table=")
    assert read(text, table=2).names.tolist() == ["ProfileRun", "aten::mm"]
    with pytest.raises(ProfileError, match="there is no table 3; the tables are 1 to 2"):
        read(text, table=3)


def test_a_table_that_leaves_out_rows_names_or_shapes_says_so() -> None:
    short = (
        WIDE_HEADER.replace("[[4096, 4096], [4096, 4096]]", "[[4096, 4096], [4096, 4096") + "\nSelf CPU time total: 1s"
    )
    warnings = read(short.encode()).warnings
    assert any("shapes in 1 rows: print it with table(max_shapes_column_width=None)" in word for word in warnings)
    assert any("the rows have 0% of the CPU time; print all rows with table(row_limit=-1)" in word for word in warnings)


def test_averages_of_a_cpu_have_the_flops_that_the_profiler_counted() -> None:
    path = real_file("torch/generated_cpu_withflops_key_averages_torch2.13.json")
    rows = json_of(path)
    renamed = [{word.removesuffix("_us"): value for word, value in row.items()} for row in rows]
    kernels = read([SimpleNamespace(**row) for row in renamed if row["key"] != "step"])
    product, conv = found(kernels, "aten::mm"), found(kernels, "aten::conv2d")
    # Two calls in fp32 and two in bf16: one row.
    assert (kernels.count[product], kernels.flops[product]) == (4, 402_653_184)
    assert (kernels.flops[conv], kernels.time[conv]) == (3_538_944, pytest.approx(29_974.158999999992e-6))
    told = {row["key"]: row["flops"] for row in rows if row["flops"]}
    assert set(told) >= {"aten::mm", "aten::bmm", "aten::conv2d", "aten::add", "aten::mul"}
    assert warns(kernels, NO_DTYPE)
