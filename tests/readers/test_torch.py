"""Reading a PyTorch trace: work from shapes, time from kernels, each matched to its operation."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, Source, read
from roofwidget.readers.torch import stream, trace
from tests import places
from tests.places import json_of
from tests.processes import memory_below
from tests.tables import has_columns, warns

FIXTURES = places.FIXTURES / "torch"
DEVICE, OLD, HOST, CUPTI = (FIXTURES / f"{name}.trace.json" for name in ("device", "old", "host", "cupti"))
GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_64x128_32x6_tn_align8>(Params)"
FLASH = "aten::_scaled_dot_product_flash_attention"


def row(kernels: rw.Kernels, name: str, shape: str | None = None) -> int:
    found = [
        at for at, word in enumerate(kernels.names) if word == name and shape in (None, kernels.extra["shape"][at])
    ]
    (only,) = found
    return only


def without(*keys: str) -> bytes:
    """Return the device fixture without some arguments."""
    document = json_of(DEVICE)
    for event in document["traceEvents"]:
        for key in keys:
            event["args"].pop(key, None) if "args" in event else None
    return json.dumps(document).encode()


def written(*events: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


def operation(**changes: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 4, "args": {}} | changes


@pytest.mark.parametrize(
    ("name", "calls", "flops", "moved", "microseconds", "precision"),
    [
        # Each call: 2 x 40 x 96 x 64, and (96 + 40 x 64 + 64 x 96 + 40 x 96) halves.
        ("aten::addmm", 3, 3 * 491_520, 3 * 25_280, 18, "fp16"),
        # 4 x 16 x 5 x 12 results of 4 x 3 x 5 products; three kernels, one of which says tf32.
        ("aten::conv2d", 1, 2 * 3840 * 60, 4 * (3840 + 960 + 16 + 3840), 8, "tf32"),
        # 32 queries see 17 to 48 of 48 keys, 1040 pairs: 4 x 2 x 4 x 1040 x 16; q and output of 4096, k and v of 6144.
        (FLASH, 1, 532_480, 2 * (2 * 4096 + 2 * 6144), 7, "bf16"),
        ("aten::mul", 1, 120, 4 * (30 + 4 + 120), 2, "fp32"),
        ("aten::bmm", 1, 3072, 8 * (384 + 192 + 96), 2.5, "fp64"),
        ("triton_poi_fused_relu_3", 1, 2048, 10_000, 1.25, "fp32"),
        ("Memcpy DtoD (Device -> Device)", 1, 0, 2 * 4096, 1, None),
        ("mine::scan", 1, np.nan, np.nan, 3, "fp32"),
        ("lonely", 1, np.nan, np.nan, 0.25, None),
    ],
)
def test_an_operation_has_its_work_and_the_time_of_its_kernels(
    *, name: str, calls: int, flops: float, moved: float, microseconds: float, precision: str | None
) -> None:
    kernels = read(DEVICE)
    at = row(kernels, name)
    assert kernels.count[at] == calls
    np.testing.assert_equal((kernels.flops[at], kernels.bytes[at]), (flops, moved))
    assert kernels.time[at] == pytest.approx(microseconds * 1e-6, rel=1e-12)
    assert kernels.precision[at] == precision


def test_nothing_is_lost_and_nothing_is_counted_twice() -> None:
    by_operation, by_kernel = read(DEVICE, by="operation"), read(DEVICE, by="kernel")
    for table in (by_operation, by_kernel):
        kernels = table[table.category != "idle"]
        assert kernels.time.sum() == pytest.approx(51e-6, rel=1e-12)
        assert np.nansum(kernels.flops) == 3 * 491_520 + 460_800 + 532_480 + 120 + 3072 + 2048


def test_every_number_says_where_it_comes_from_and_bytes_are_called_compulsory() -> None:
    kernels = read(DEVICE)
    flops, moved = kernels.origin["flops"], kernels.origin["bytes:main"]
    assert (
        flops[row(kernels, FLASH)]
        == f"4 B H Nq Nk d, of the pairs that the causal mask leaves, from the shapes of {FLASH}; the mask is aligned "
        "bottom-right: the last query sees all keys"
    )
    assert flops[row(kernels, "triton_poi_fused_relu_3")] == "kernel_flop of the kernel's event"
    assert moved[row(kernels, "aten::bmm")] == "compulsory bytes: each operand read once, each result written once"
    assert moved[row(kernels, "Memcpy DtoD (Device -> Device)")].startswith("bytes of the copy's event")
    assert (flops[row(kernels, "mine::scan")], moved[row(kernels, "mine::scan")]) == (None, None)
    assert list(kernels.bytes_by_level) == ["main"]
    assert warns(kernels, "compulsory", "memory traffic was not measured")


IN_FULL = "the profile does not say whether attention is causal, so it is counted in full"


@pytest.mark.parametrize("by", ["operation", "kernel"])
def test_attention_of_a_trace_without_its_arguments_is_counted_in_full_and_said(by: str) -> None:
    kernels = read(without("Concrete Inputs"), by=by)
    assert np.nansum(kernels.flops[kernels.category == "attention"]) == 4 * 2 * 4 * 32 * 48 * 16
    (warning,) = [word for word in kernels.warnings if IN_FULL in word]
    assert "if it is causal, half of its FLOPs are possible" in warning
    assert not warns(read(DEVICE, by=by), IN_FULL)


def test_attention_on_the_host_without_its_arguments_is_counted_in_full_and_said() -> None:
    given = {"Input Dims": [[2, 4, 32, 16]] * 3, "Input type": ["float"] * 3}
    kernels = read(written(operation(name="aten::_scaled_dot_product_flash_attention_for_cpu", args=given)))
    assert kernels.flops.tolist() == [4 * 2 * 4 * 32 * 32 * 16]
    assert warns(kernels, IN_FULL)


def test_calls_are_added_and_stay_within_reach() -> None:
    kernels = read(DEVICE)
    at = row(kernels, "aten::addmm")
    assert (kernels.launches_of(at).time * 1e6).round(9).tolist() == [4, 9, 5]
    spread = [kernels.extra[f"time {word} (s)"][at] for word in ("min", "median", "max")]
    np.testing.assert_allclose(spread, [4e-6, 5e-6, 9e-6], rtol=1e-12)
    assert kernels.extra["kernel"][at] == GEMM
    assert (kernels.extra["grid"][at], kernels.extra["block"][at]) == ("2 x 1 x 1", "128 x 1 x 1")
    assert pickle.loads(pickle.dumps(kernels)) == kernels  # noqa: S301 - its own bytes


def test_a_million_calls_are_added_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = read(DEVICE)
    monkeypatch.setattr(trace, "_MAX_LAUNCHES", 12)
    kernels = read(DEVICE)
    assert kernels.launches is None
    assert "the 12 calls are too many to keep one by one" in kernels.warnings
    np.testing.assert_equal(kernels.flops, kept.flops)
    np.testing.assert_equal(kernels.time, kept.time)


def test_an_operation_of_several_kernels_keeps_their_names_in_order() -> None:
    kernels = read(DEVICE)
    at = row(kernels, "aten::conv2d")
    words = kernels.extra["kernel"][at].split(" + ")
    assert [word.split("<")[0] for word in words] == [
        "void nchwToNhwcKernel",
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc",
        "void add_bias",
    ]
    assert kernels.extra["kernels per call"][at] == 3
    assert kernels.extra["shape"][at].endswith("; stride [2, 1], padding [1, 2], groups 2")


def test_by_kernel_the_longest_kernel_of_an_operation_carries_its_work() -> None:
    kernels = read(DEVICE, by="kernel")
    of_conv = kernels.extra["operation"] == "aten::conv2d"
    assert dict(zip(kernels.time[of_conv].round(12), kernels.flops[of_conv], strict=True)) == pytest.approx(
        {1.5e-6: np.nan, 6e-6: 460_800, 0.5e-6: np.nan}, nan_ok=True
    )
    assert warns(kernels, "longest kernel")


def test_kernels_find_their_operation_without_external_ids_by_the_time_of_their_launch() -> None:
    kernels, joined = read(without("External id")), read(DEVICE)
    assert kernels.names.tolist() == joined.names.tolist()
    np.testing.assert_equal(kernels.flops, joined.flops)


def test_an_external_id_that_means_something_else_is_not_believed() -> None:
    kernels = read(OLD)
    at = row(kernels, "aten::mm")
    assert kernels.names.tolist() == ["aten::mm", "aten::matmul", "idle or not profiled"]
    assert (kernels.flops[at], kernels.count[at], kernels.time[at]) == (2 * 24 * 10 * 8, 1, pytest.approx(11e-6))
    assert kernels.extra["kernel"][row(kernels, "aten::matmul")] == "between_operations"


def test_a_trace_without_shapes_has_kernels_with_times_and_says_how_to_profile() -> None:
    kernels = read(without("Input Dims", "Input type", "Concrete Inputs", "kernel_flop", "kernel_num_gb"))
    gemm = row(kernels, GEMM)
    assert (kernels.count[gemm], kernels.time[gemm]) == (3, pytest.approx(18e-6))
    assert kernels.extra["operation"][gemm] == "aten::addmm"
    is_copy = kernels.category == "copy"
    assert np.isnan(kernels.flops[~is_copy]).all()
    assert np.isnan(kernels.bytes[~is_copy]).all()
    assert warns(kernels, "profile with record_shapes=True")


def test_the_chip_is_that_of_the_device_that_ran_the_kernels() -> None:
    assert read(DEVICE).chip == rw.chip("NVIDIA A100-SXM4-80GB")
    unknown = DEVICE.read_bytes().replace(b"NVIDIA A100-SXM4-80GB", b"Made-up 9000")
    kernels = read(unknown)
    assert kernels.chip is None
    assert warns(kernels, "'Made-up 9000'")


def test_categories_tell_products_attention_copies_and_communication_apart() -> None:
    kernels = read(DEVICE)
    found = dict(zip(kernels.names, kernels.category, strict=True))
    assert found["aten::bmm"] == "matrix product"
    assert found[FLASH] == "attention"
    assert found["Memcpy DtoD (Device -> Device)"] == "copy"
    assert found["c10d::allreduce_"] == "communication"


def test_without_a_device_self_times_add_up_and_known_operations_hold_what_they_call() -> None:
    kernels = read(HOST)
    assert kernels.names.tolist() == ["aten::conv1d", "aten::matmul", "aten::mm", "aten::relu"]
    np.testing.assert_allclose(kernels.time * 1e6, [100, 50, 40, 8])
    np.testing.assert_allclose(kernels.self_time * 1e6, [100, 10, 40, 8])
    # 3 x 6 results of 2 x 4 products; 2 x 6 x 7 x 5.
    np.testing.assert_equal(kernels.flops, [2 * 18 * 8, np.nan, 420, 30])
    assert "no kernels in this trace: these are operations on the host" in kernels.warnings


def test_where_cupti_counts_durations_are_refused_and_counters_used() -> None:
    kernels = read(CUPTI)
    has_columns(kernels, names=["blend_rows", "shuffle"], time=None)
    # Twice 10 + 20 + 2 x 300; read and written bytes of DRAM.
    has_columns(kernels, flops=[1260, 0], bytes_by_level={"DRAM": [4096 + 1024 + 4096 + 2048, 704]})
    assert "ffma of smsp__sass_thread_inst_executed_op_" in kernels.origin["flops:fp32"][0]
    assert warns(kernels, "so its durations are not real")
    assert warns(kernels, "register moves")


def test_cupti_counters_of_nothing_that_a_roofline_needs_are_refused() -> None:
    only = operation(cat="cuda_profiler_range", args={"sm__warps_active.sum": 3})
    with pytest.raises(ProfileError, match=r"no counter of FLOPs or bytes in this trace \(sm__warps_active.sum\)"):
        read(written(only))


@pytest.mark.parametrize("chunk", [64, 700, 2**22])
@pytest.mark.parametrize("tail", [50, 2**16])
def test_a_trace_reads_the_same_in_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch, chunk: int, tail: int) -> None:
    monkeypatch.setattr(stream, "_CHUNK_BYTES", chunk)
    monkeypatch.setattr(stream, "_TAIL_CHARS", tail)
    for path in (DEVICE, OLD, CUPTI):
        read_ = stream.Trace(Source.of(path))
        events = [event for batch in read_.batches() for event in batch]
        document = json_of(path)
        whole = {"traceEvents": document} if isinstance(document, list) else document
        assert {**read_.properties, "traceEvents": events} == whole


def test_a_long_trace_is_read_within_the_memory_of_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_CHUNK_BYTES", 2**16)
    event = json.dumps(operation(args={"Concrete Inputs": ["x" * 300]}))
    text = f'{{"traceEvents": [{", ".join([event] * 20_000)}]}}'.encode()
    source = Source.of(text)
    assert len(text) > 8e6
    with memory_below(2_000_000):
        assert sum(len(batch) for batch in stream.Trace(source).batches()) == 20_000


def test_compressed_traces_and_open_files_are_read_too(tmp_path: Path) -> None:
    plain = read(DEVICE)
    packed = tmp_path / "t.json.gz"
    packed.write_bytes(gzip.compress(DEVICE.read_bytes()))
    with DEVICE.open("rb") as file:
        assert read(file) == plain
    assert read(packed) == plain
    assert read(b"\xef\xbb\xbf" + DEVICE.read_bytes()) == plain


def test_a_trace_is_known_by_its_first_words_where_its_events_come_late() -> None:
    begin = {"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {"pg_config": "x" * 2**17}}
    kernels = read(json.dumps({**begin, "traceEvents": [operation()]}).encode())
    assert kernels.names.tolist() == ["aten::mm"]


def test_progress_is_told_up_to_the_size_of_the_file() -> None:
    told: list[tuple[int, int | None]] = []
    read(DEVICE, progress=lambda done, total: told.append((done, total)))
    size = DEVICE.stat().st_size
    assert told[-1] == (size, size)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (DEVICE.read_bytes()[:9000], "the file ends too early"),
        (b'{"traceEvents": [{"ph": "X"}, {"ph" "X"}]}', r"line 1, column 37: not JSON: Expecting ':'"),
        (b'{"traceEvents": [\n{"ph": "X"},\n{"a": 1],\n{"b": 2}]}', "line 3, column 8: not JSON"),
        (b'{"traceEvents": []} {}', "line 1, column 21: unexpected text after the end of the trace"),
        (b'{"traceEvents": {}}', "expected one list 'traceEvents'"),
        (b'{"traceEvents": [], "traceEvents": []}', "expected one list 'traceEvents'"),
        (b'{"traceEvents": []}', "no kernels and no operations in this trace"),
        (
            b'{"traceEvents": [{"ph": "X", "cat": "tensorflow", "ts": 1, "dur": 2}]}',
            "of PyTorch, XLA and ONNX Runtime are read, .* its events are of the categories 'tensorflow'",
        ),
        (b'{"traceEvents": [[1, 2]]}', r"event 1: expected an object, got \[1, 2\]"),
        (b'{"traceEvents": ["\xff"]}', "not UTF-8 text"),
        (b'{"traceEvents": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"traceEvents": [{"a": ' + b"1" * 5000 + b"}]}", "a number that cannot be read"),
        (
            written(operation(), operation(ts="soon")),
            "event 2: a bad value in 'aten::mm' of 'cpu_op': could not convert",
        ),
        (written({"cat": "cpu_op", "ph": "X", "ts": 1, "dur": 1}), r"event 1: the event has no 'name'; it is None of"),
        (written(operation(name=7)), "event 1: a bad value in 7 of 'cpu_op': expected a text as its name, got 7"),
        (written(operation(args={"External id": 10**30})), "event 1: a bad value in 'aten::mm'"),
        (written(operation(args={"Input Dims": "2, 3"})), "expected a list of its arguments, got '2, 3'"),
        (written(operation(args=[1])), "event 1: a bad value in 'aten::mm'"),
    ],
)
def test_a_damaged_trace_ends_in_one_error_that_says_where(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        read(data)
    assert "\n" not in str(caught.value)


def test_a_compressed_trace_that_is_cut_off_ends_in_one_error() -> None:
    with pytest.raises(ProfileError, match="damaged or incomplete"):
        read(gzip.compress(DEVICE.read_bytes())[:-400])


def test_a_text_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_CHUNK_BYTES", 2**12)
    monkeypatch.setattr(stream, "_MAX_VALUE_CHARS", 2**16)
    data = b'{"traceEvents": [{"name": "' + b"x" * 2**20
    with pytest.raises(ProfileError, match="not JSON, or one value of more than"):
        read(data)


def test_an_empty_trace_says_that_it_is_empty() -> None:
    with pytest.raises(ProfileError, match="the file is empty"):
        read(io.BytesIO(b""), format="torch")


def test_an_event_without_an_end_is_left_out_and_counted() -> None:
    assert "events without a duration were left out: 1" in read(DEVICE).warnings
    kernels = read(written(operation(), operation(dur=-1), operation(dur=float("nan"))))
    assert kernels.count.tolist() == [1]


def test_an_unknown_word_or_option_is_refused() -> None:
    with pytest.raises(ValueError, match="by must be 'operation', 'kernel' or None, got 'op'"):
        read(DEVICE, by="op")
    with pytest.raises(TypeError, match="progress"):
        read(DEVICE, progres=True)


def test_names_that_are_not_text_for_a_screen_are_mended() -> None:
    kernels = read(written(operation(name="half \ud83d of a pair")))
    assert kernels.names.tolist() == ["half ? of a pair"]
