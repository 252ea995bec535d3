"""Reading bad PyTorch profiles: one clear error, or work that stays unknown."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from roofwidget.readers.torch import printed
from roofwidget.readers.torch.calls import OpCall
from roofwidget.readers.torch.nesting import Nest
from roofwidget.readers.torch.work import work_of
from tests import places
from tests.places import text_of

FIXTURES = places.FIXTURES / "torch"
DEVICE = FIXTURES / "device.trace.json"
PRINTED = FIXTURES / "averages.txt"
NONE: list[Any] = []
JUNK = [bytes(range(256)) * 40, b"\x00" * 5000, b"\x89PNG\r\n\x1a\n" + b"\xfe" * 900]
CONV = [[1, 4, 9, 9], [6, 4, 3, 3], *[NONE] * 5]


def written(*events: Any, **rest: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": events, **rest}).encode()


def event(category: str, **changes: Any) -> dict[str, Any]:
    place = {"pid": 1, "tid": 1, "ts": 5, "dur": 4, "args": {}}
    return {"ph": "X", "cat": category, "name": "aten::mm", **place, **changes}


def shaped(*dims: list[int], **more: Any) -> dict[str, Any]:
    return {"Input Dims": dims, "Input type": ["float"] * len(dims), **more}


def settings(stride: str, padding: str = "[0]") -> list[str]:
    return ["", "", "", stride, padding, "[1]", "1"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (event("kernel", args={"kernel_flop": -5}), "expected a number from 0 as its 'kernel_flop', got -5"),
        (event("kernel", args={"kernel_flop": float("inf")}), "as its 'kernel_flop', got inf"),
        (event("kernel", args={"kernel_num_gb": 1e305}), r"as its 'kernel_num_gb', got 1e\+305"),
        (event("gpu_memcpy", args={"bytes": -1}), "expected a number from 0 as its 'bytes', got -1"),
        (event("kernel", args={"correlation": "x" * 9000}), "event 2: a bad value in 'aten::mm' of 'kernel'"),
    ],
)
def test_a_bad_amount_names_the_event_and_the_mend(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        read(written(event("cpu_op"), bad))
    assert caught.value.place == "event 2"
    assert str(caught.value).endswith("export the trace again, or remove the event")
    assert len(str(caught.value)) < 500


def test_a_time_that_no_clock_shows_is_left_out_as_one_without_an_end() -> None:
    kernels = read(written(event("kernel"), event("kernel", dur=1e300), event("kernel", ts=-1e19)))
    assert kernels.count.tolist() == [1]
    assert "events without a duration were left out: 2" in kernels.warnings


def test_a_launch_at_no_time_joins_nothing() -> None:
    launch = event("cuda_runtime", name="launch", ts=float("nan"), args={"correlation": 3})
    kernels = read(
        written(
            event("cpu_op", args=shaped([2, 2], [2, 2])), launch, event("kernel", name="k", args={"correlation": 3})
        )
    )
    assert kernels.names.tolist() == ["k"]
    assert np.isnan(kernels.flops[0])


def test_operations_are_found_on_their_thread_however_long_the_trace_is() -> None:
    # Times since 1970 and one event at 0: a thousand threads, each with two operations of one microsecond.
    threads = np.repeat(np.arange(1000), 2)
    start = np.tile([1.6e15, 1.6e15 + 1.5], 1000)
    start[0] = 0
    nest = Nest(threads, start, np.full(2000, 1.0))
    assert nest.enclosing(np.array([999, 999, 999]), 1.6e15 + np.array([0.75, 1.25, 2.0])).tolist() == [1998, -1, 1999]


def test_names_and_devices_of_another_kind_do_no_harm() -> None:
    odd = [{"id": [3], "name": "a"}, {"id": {}, "computeMajor": []}, 7]
    assert read(written(event("cpu_op", name=""), deviceProperties=odd)).names.tolist() == ["unnamed"]
    assert read(written(event("kernel", name="k"), deviceProperties=odd)).chip is None
    counted = event("cuda_profiler_range", name="k", args={"dram__bytes.sum": 8})
    assert read(written(counted, deviceProperties=odd)).bytes.tolist() == [8]


def test_a_negative_counter_names_range_and_counter() -> None:
    ranges = [event("cuda_profiler_range", name="k", args={"dram__bytes.sum": number}) for number in (4, -1)]
    with pytest.raises(ProfileError, match="expected a count from 0, got -1") as caught:
        read(written(*ranges))
    assert caught.value.place == "range 2, 'k', counter 'dram__bytes.sum'"


@pytest.mark.parametrize(
    "given",
    [
        OpCall("aten::mm", [[10**300, 10**300], [10**300, 10**300]]),
        OpCall("aten::mm", [[2**40, 2**40], [2**40, 2**40]]),
        OpCall("aten::relu", [[1] * 65]),
        OpCall("aten::index_select", [[6, 2], NONE, [5]], None, ["", "--1", ""]),
        OpCall("aten::index_select", [[6, 2], NONE, [5]], None, ["", "²", ""]),
        OpCall("aten::index_select", [[6, 2], NONE, [5]]),
        OpCall("aten::native_layer_norm", [[6, 2], *[NONE] * 4], None, ["", f"[{'1' * 5000}]"]),
        OpCall("aten::conv2d", CONV, None, settings("-" * 50_000 + "1")),
        OpCall("aten::conv2d", CONV, None, settings("{[]: 1}")),
        OpCall("aten::conv2d", CONV, None, settings("[True]")),
        # Two sides of -1 have a positive product.
        OpCall("aten::conv2d", [[1, 4, 2, 2], [6, 4, 4, 4], *[NONE] * 5], None, settings("[1]")),
        OpCall(
            "aten::conv3d", [[1, 4, *[1] * 40], [6, 4, *[1] * 40], *[NONE] * 5], None, settings("[1]", "[999999999]")
        ),
    ],
    ids=lambda given: f"{given.name} {given.shape}"[:60],
)
def test_arguments_that_no_tensor_has_leave_the_work_unknown(given: OpCall) -> None:
    assert work_of(given) is None


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("form", ["torch", "torch-averages"])
def test_binary_junk_is_refused_as_that(junk: bytes, form: str) -> None:
    with pytest.raises(ProfileError, match=r"not UTF-8|expected the object or the list|expected a table|a PNG picture"):
        read(junk, format=form)
    with pytest.raises(ProfileError, match="not a profile of a known tool"):
        read(junk)


@pytest.mark.parametrize("form", ["torch", "torch-averages"])
def test_the_profile_of_another_tool_is_refused_by_either_reader(form: str) -> None:
    other = (FIXTURES.parent / "ncu" / "volta_long.csv").read_bytes()
    with pytest.raises(ProfileError, match=f"the content is of format 'ncu', not '{form}'"):
        read(other, format=form)


def test_a_trace_that_ends_anywhere_is_refused_and_says_to_export_it_again() -> None:
    data = DEVICE.read_bytes().rstrip()
    for end in range(1, len(data), 97):
        with pytest.raises(ProfileError, match=r"ends too early; export it again|not JSON: ") as caught:
            read(data[:end], format="torch")
        assert caught.value.place is not None


def test_an_average_of_half_a_call_names_its_row() -> None:
    half = SimpleNamespace(key="aten::mm", count=2.5, flops=0, cpu_time_total=3.0)
    with pytest.raises(ProfileError, match=r"row 1, column 'count': expected a whole number, got 2\.5"):
        read([half])
    with pytest.raises(ProfileError, match="row 1, column 'flops': expected a number from 0, got 1e\\+31"):
        read([SimpleNamespace(key="aten::mm", count=2, flops=1e31, cpu_time_total=3.0)])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("             5  ", "           5.5  ", "column '# of Calls': expected a whole number, got '5.5'"),
        ("   0.138  ", "   1e999  ", "column 'Total MFLOPs': expected a number, got '1e999'"),
    ],
)
def test_a_cell_of_a_printed_table_that_is_no_such_number_is_named(old: str, new: str, message: str) -> None:
    text = text_of(PRINTED)
    first = text.index("aten::conv2d")
    assert old in text[first:]
    with pytest.raises(ProfileError, match=message):
        read((text[:first] + text[first:].replace(old, new, 1)).encode(), format="torch-averages")


def test_a_printed_table_longer_than_any_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed, "_MAX_TEXT_BYTES", 2**20)
    with pytest.raises(ProfileError, match="has more than 1 MiB of text; split it"):
        read(PRINTED.read_bytes() + b" " * 2**20)


def test_shapes_of_a_printed_table_that_are_nested_without_end_are_unknown() -> None:
    dashes = ["-" * width for width in (20, 12, 12, 12, 90_000)]
    rows = [
        ["Name", "Self CPU", "CPU total", "# of Calls", "Input Shapes"],
        ["aten::mm", "5us", "6us", "1", "[" * 90_000],
    ]
    lines = ["  ".join(cell.rjust(len(dash)) for cell, dash in zip(row, dashes, strict=True)) for row in rows]
    rule = "  ".join(dashes)
    kernels = read("\n".join([rule, lines[0], rule, lines[1], rule, ""]).encode(), format="torch-averages")
    assert kernels.names.tolist() == ["aten::mm"]
    assert np.isnan(kernels.flops[0])
