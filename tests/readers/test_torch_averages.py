"""Reading PyTorch's averages: the profiler's FLOPs with the right seconds, and no guessed dtype."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from tests.real_files import real_file

FIXTURES = Path(__file__).parents[1] / "fixtures" / "torch"
PRINTED = FIXTURES / "averages.txt"
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
    assert kernels.precision.tolist() == [None] * 3
    assert np.isnan(kernels.bytes).all()
    assert any(NO_DTYPE in word and "dtype='bf16'" in word for word in kernels.warnings)


def test_a_dtype_that_is_given_gives_compulsory_bytes() -> None:
    kernels = read(RUN, dtype="bf16")
    at = found(kernels, "aten::bmm")
    assert (kernels.precision[at], kernels.bytes[at]) == ("bf16", 4 * 2 * (384 + 192 + 96))
    assert kernels.origin["bytes:main"][at].startswith("compulsory bytes")
    assert not any(NO_DTYPE in word for word in kernels.warnings)
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
    assert any("group_by_input_shape=True" in word for word in read([average("aten::mm")]).warnings)


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
            [average("aten::mm", cpu_time_total=-1.0)],
            "row 1, column 'cpu_time_total': expected a number from 0, got -1.0",
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
    assert any(NO_DTYPE in word for word in kernels.warnings)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  250.000us", "  250.000 h", "row 6, column 'CPU total': expected a time such as '5.807us', got '250.000 h'"),
        ("   0.138  ", "   many!  ", "row 6, column 'Total MFLOPs': expected a number, got 'many!'"),
        ("  Self CPU  ", "  Self TPU  ", "column 'Self CPU': the table has no such column"),
    ],
)
def test_a_bad_cell_of_a_printed_table_is_named(old: str, new: str, message: str) -> None:
    text = PRINTED.read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(ProfileError, match=message):
        read(text.replace(old, new).encode(), format="torch-averages")


def test_a_printed_table_that_is_cut_off_is_refused() -> None:
    lines = PRINTED.read_text(encoding="utf-8").splitlines()
    with pytest.raises(ProfileError, match="the table has no line of dashes at its end"):
        read("\n".join(lines[:8]).encode())
    with pytest.raises(ProfileError, match="expected a table with a column '# of Calls'"):
        read(b"epoch 3 done", format="torch-averages")


def test_averages_of_a_cpu_have_the_flops_that_the_profiler_counted() -> None:
    path = real_file("torch/generated_cpu_withflops_key_averages_torch2.13.json")
    rows = json.loads(path.read_text(encoding="utf-8"))
    renamed = [{word.removesuffix("_us"): value for word, value in row.items()} for row in rows]
    kernels = read([SimpleNamespace(**row) for row in renamed if row["key"] != "step"])
    product, conv = found(kernels, "aten::mm"), found(kernels, "aten::conv2d")
    # Two calls in fp32 and two in bf16: one row.
    assert (kernels.count[product], kernels.flops[product]) == (4, 402_653_184)
    assert (kernels.flops[conv], kernels.time[conv]) == (3_538_944, pytest.approx(29_974.158999999992e-6))
    told = {row["key"]: row["flops"] for row in rows if row["flops"]}
    assert set(told) >= {"aten::mm", "aten::bmm", "aten::conv2d", "aten::add", "aten::mul"}
    assert any(NO_DTYPE in word for word in kernels.warnings)
