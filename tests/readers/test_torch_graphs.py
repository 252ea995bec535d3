"""Replays of CUDA and HIP graphs: their kernels get the operations of the capture."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from roofwidget.readers.captures import read_each
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.captures import is_capture
from tests.tables import warns

CAPTURED = "the operation is that of the capture of the kernel's graph"
HOST = {"pid": 1, "tid": 1}


def span(name: str, start: float, duration: float, /, category: str = "cpu_op", **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, **HOST, "ts": start, "dur": duration, "args": args}


def shaped(*dims: list[int]) -> dict[str, Any]:
    return {"Input Dims": [*dims], "Input type": ["c10::BFloat16"] * len(dims)}


def external(number: int) -> dict[str, Any]:
    return {"External id": number}


def runtime(name: str, start: float, correlation: int, **args: Any) -> dict[str, Any]:
    return span(name, start, 0.5, "cuda_runtime", correlation=correlation, **args)


def kernel(name: str, start: float, duration: float, correlation: int, **args: Any) -> dict[str, Any]:
    on = {"device": 0, "stream": 7, "correlation": correlation, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": duration, "args": on}


def trace(*events: Any, **properties: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, **properties, "traceEvents": events}).encode()


def captured(batch: int | None = 8, *, names: bool = True, start: float = 1000.0) -> list[dict[str, Any]]:
    """Return the events of the capture of two graphs: mm and a kernel beside it, then mm alone, and relu between them.

    The events are not in the order of time, as in files of the profiler.
    """

    def launch(kind: str, at: float, kernel: str) -> dict[str, Any]:
        return runtime(kind, start + at, int(at), **({"kernel": kernel} if names else {}))

    rows = batch or 8
    label = [span(f"capture_{batch}_PIECEWISE", start, 100, "user_annotation")] if batch else []
    return [
        *label,
        span("mine::gemm", start + 3, 10),
        span("aten::mm", start + 4, 4, **shaped([rows, 16], [16, 32]), **external(3)),
        span("aten::mm", start + 33, 4, **shaped([rows, 32], [32, 4]), **external(4)),
        span("aten::relu", start + 21, 4, **shaped([rows, 32])),
        launch("cudaLaunchKernel", 35, "gemm_b"),
        launch("cudaLaunchKernel", 5, "gemm_a"),
        launch("cuLaunchKernelEx", 10, "beside"),
        launch("cudaLaunchKernelExC", 22, "relu"),
        *(
            runtime(f"cudaStream{word}", start + at, 900 + int(at))
            for word, at in (("BeginCapture", 2), ("EndCapture", 14))
        ),
        *(
            runtime(f"cudaStream{word}", start + at, 900 + int(at))
            for word, at in (("EndCapture", 38), ("BeginCapture", 30))
        ),
    ]


def replayed(
    step: str | None = "execute_8_context_1(8)_generation_0(0)",
    *,
    start: float = 0.0,
    first: int = 1,
    last: str = "gemm_b",
) -> list[dict[str, Any]]:
    """Return the events of a step that replays both graphs, with relu launched between them."""
    around = [span(step, start, 50, "user_annotation")] if step else []
    return [
        *around,
        span("aten::relu", start + 10, 5, **shaped([8, 32]), **external(first + 100)),
        runtime("cudaGraphLaunch", start + 5, first),
        runtime("cudaLaunchKernel", start + 11, first + 1, **external(first + 100)),
        runtime("cudaGraphLaunch", start + 20, first + 2),
        kernel("beside", start + 33, 2, first),
        kernel("gemm_a", start + 30, 3, first),
        kernel("relu", start + 36, 1, first + 1, **external(first + 100)),
        kernel(last, start + 40, 4, first + 2),
    ]


def by_name(kernels: rw.Kernels) -> dict[str, tuple[int, float, float]]:
    """Return launches, microseconds and FLOPs by name and shape."""
    shapes = kernels.extra["shape"]
    return {
        f"{name} {shape or ''}".strip(): (int(count), round(float(time * 1e6), 6), float(flops))
        for name, shape, count, time, flops in zip(
            kernels.names, shapes, kernels.count, kernels.time, kernels.flops, strict=True
        )
    }


# Per step: 2 x 8 x 16 x 32 and 2 x 8 x 32 x 4.
MM_A, MM_B = "aten::mm [8, 16], [16, 32]", "aten::mm [8, 32], [32, 4]"


@pytest.mark.parametrize("names", [True, False], ids=["AMD names its launches", "NVIDIA does not"])
def test_the_kth_kernel_of_the_ith_replay_is_the_kth_launch_of_the_ith_capture(*, names: bool) -> None:
    kernels = read(trace(*replayed()), captures=trace(*captured(names=names)), idle=False)
    found = by_name(kernels)
    assert found.keys() == {MM_A, MM_B, "mine::gemm", "aten::relu [8, 32]"}
    assert found[MM_A] == (1, 3, 8192)
    assert found[MM_B] == (1, 4, 2048)
    assert found["mine::gemm"][:2] == (1, 2)
    assert found["aten::relu [8, 32]"] == (1, 1, 256)
    origin = dict(zip(kernels.names, kernels.origin["flops"], strict=True))
    alone = "" if names else ", by their order alone: the capture does not name its kernels"
    assert origin["aten::mm"] == f"2 M N K from the shapes of aten::mm; {CAPTURED}{alone}"
    assert CAPTURED not in origin["aten::relu"]
    # (8 x 16 + 16 x 32 + 8 x 32) elements of two bytes.
    assert kernels.bytes[kernels.extra["shape"] == "[8, 16], [16, 32]"].tolist() == [1792]
    assert not warns(kernels, "graphs")


@pytest.mark.parametrize("by", ["operation", "kernel"])
def test_each_replay_is_a_call_of_the_operations_of_the_capture(by: str) -> None:
    steps = [event for step in range(3) for event in replayed(start=100.0 * step, first=1 + 10 * step)]
    kernels = read(trace(*steps), captures=trace(*captured()), idle=False, by=by)
    of_a = kernels.extra["shape"] == "[8, 16], [16, 32]"
    assert (kernels.count[of_a].tolist(), kernels.flops[of_a].tolist()) == ([3], [3 * 8192])
    assert kernels.time[of_a] == pytest.approx([9e-6])


def test_one_graph_that_is_replayed_again_and_again_without_steps_is_tied_each_time() -> None:
    events = [event for at in range(4) for event in replayed(None, start=100.0 * at, first=1 + 10 * at)]
    kernels = read(trace(*events), captures=trace(*captured(None)), idle=False)
    assert by_name(kernels)[MM_B] == (4, 16, 4 * 2048)


def test_a_capture_in_the_trace_itself_is_used() -> None:
    kernels = read(trace(*captured(None), *replayed(None, start=2000, first=2000)), idle=False)
    assert by_name(kernels)[MM_A] == (1, 3, 8192)


@pytest.mark.parametrize(
    ("step", "batch"),
    [
        ("execute_8_context_1(5)_generation_0(0)", 8),
        ("execute_4_context_0(0)_generation_3(3)", 4),
        ("execute_context_1(2)_generation_3(3)", 8),
        ("step[DECODE bs=3]", 4),
        ("decode[bs=7/8 tok=7 d=7]", 8),
    ],
)
def test_the_batch_of_the_step_chooses_the_capture(step: str, batch: int) -> None:
    captures = [trace(*captured(4, names=False)), trace(*captured(8, names=False))]
    kernels = read(trace(*replayed(step)), captures=captures, idle=False)
    assert by_name(kernels)[f"aten::mm [{batch}, 16], [16, 32]"] == (1, 3, 2 * batch * 16 * 32)
    assert f"aten::mm [{12 - batch}, 16], [16, 32]" not in by_name(kernels)


def test_captures_of_two_batches_in_one_file_are_told_apart_by_their_annotations() -> None:
    both = trace(*captured(4), *captured(8, start=5000))
    steps = [*replayed("execute_4_context_0(0)_generation_4(4)"), *replayed(start=100, first=11)]
    found = by_name(read(trace(*steps), captures=both, idle=False))
    assert (found["aten::mm [4, 16], [16, 32]"][0], found[MM_A][0]) == (1, 1)


def untied(kernels: rw.Kernels, *words: str) -> None:
    """Check that no kernel of a graph has an operation, and that the warnings say why."""
    assert {"gemm_a", "beside"} <= set(kernels.names)
    assert not any("[8, 16]" in (shape or "") for shape in kernels.extra["shape"])
    assert np.isnan(kernels.flops[kernels.names == "gemm_a"]).all()
    for word in words:
        assert warns(kernels, word)


def test_a_batch_without_a_capture_is_not_guessed() -> None:
    kernels = read(trace(*replayed("execute_16_context_0(0)_generation_16(16)")), captures=trace(*captured(8)))
    untied(kernels, "no capture is of its batch or of a larger batch", "execute_16_")


def test_captures_that_fit_equally_well_are_not_guessed() -> None:
    captures = [trace(*captured(4, names=False)), trace(*captured(8, names=False))]
    kernels = read(trace(*replayed(None)), captures=captures)
    untied(kernels, "the captures 'capture_4_PIECEWISE', 'capture_8_PIECEWISE' fit equally well")


def test_another_count_of_kernels_ties_nothing_and_says_which_graph_differs() -> None:
    kernels = read(trace(*replayed(), kernel("more", 45, 1, 3)), captures=trace(*captured(names=False)))
    untied(
        kernels,
        "the operations of graphs stay unknown in the step 'execute_8_context_1(8)_generation_0(0)', which differs "
        "from the capture 'capture_8_PIECEWISE': 2 kernels in launch 2 of a graph, 1 captured",
        "4 kernels (90.9% of all kernels' time) come from 2 launches of CUDA or HIP graphs",
    )


@pytest.mark.parametrize("names", [True, False], ids=["named", "not named"])
def test_the_last_kernel_of_a_replay_may_be_missing_if_the_capture_names_its_kernels(*, names: bool) -> None:
    events = [event for event in replayed() if event["name"] != "beside"]
    kernels = read(trace(*events), captures=trace(*captured(names=names)), idle=False)
    assert (MM_A in by_name(kernels)) is names
    assert warns(kernels, "1 kernels in launch 1 of a graph, 2 captured") is not names


def test_a_kernel_that_is_missing_before_the_last_ties_nothing() -> None:
    events = [event for event in replayed() if event["name"] != "gemm_a"]
    kernels = read(trace(*events), captures=trace(*captured()), idle=False)
    assert MM_B not in by_name(kernels)
    assert warns(kernels, "kernel 1 in launch 1 of a graph is 'beside', captured was 'gemm_a'")


def test_another_count_of_graphs_ties_nothing() -> None:
    more = [runtime("cudaGraphLaunch", 25, 9), kernel("gemm_a", 46, 1, 9)]
    kernels = read(trace(*replayed(), *more), captures=trace(*captured(names=False)))
    untied(kernels, "'capture_8_PIECEWISE': 3 launches of graphs, 2 captured")


def test_another_name_ties_nothing_and_says_which_kernel_differs() -> None:
    kernels = read(trace(*replayed(last="gemm_c")), captures=trace(*captured()))
    untied(kernels, "kernel 1 in launch 2 of a graph is 'gemm_c', captured was 'gemm_b'")
    assert not warns(read(trace(*replayed(last="gemm_c")), captures=trace(*captured(names=False))), "graphs")


def two_streams(names: tuple[str, str] = ("beside", "gemm_a")) -> list[dict[str, Any]]:
    """Return a step whose first graph has a kernel on another stream; `names` are those that start first and second."""
    events = replayed()
    for event, name in zip([one for one in events if one["name"] in {"gemm_a", "beside"}], names, strict=True):
        event["name"] = name
        event["args"]["stream"] = 8 if name == "beside" else 7
    return events


def test_kernels_of_a_replay_on_several_streams_are_not_tied_by_their_order() -> None:
    kernels = read(trace(*two_streams()), captures=trace(*captured(names=False)))
    untied(kernels, "the kernels of launch 1 of a graph ran on several streams", "does not name its kernels")


def test_names_say_which_kernel_of_several_streams_is_which() -> None:
    kernels = read(trace(*two_streams()), captures=trace(*captured()), idle=False)
    assert by_name(kernels)[MM_A] == (1, 3, 8192)


def test_without_a_capture_the_warning_says_how_much_time_and_how_to_get_one() -> None:
    kernels = read(trace(*replayed()))
    untied(
        kernels,
        "3 kernels (90.0% of all kernels' time) come from 2 launches of CUDA or HIP graphs",
        "also trace the capture of the graphs",
        "captures='capture_*.json.gz'",
    )
    assert not warns(kernels, "kernels without operation")


def test_a_capture_alone_says_that_it_is_no_step() -> None:
    events = [*captured(8), kernel("warm_up", 5000, 10, 99)]
    kernels = read(trace(*events))
    assert warns(kernels, "the capture of graphs and not of a step", "captures=", "--captures")
    assert not warns(read(trace(*replayed()), captures=trace(*captured(8))), "not of a step")


def test_a_file_beside_a_step_that_is_named_as_a_capture_is_named_and_not_used(tmp_path: Path) -> None:
    step, capture = tmp_path / "step.json", tmp_path / "step_capture_8.json"
    step.write_bytes(trace(*replayed()))
    assert not warns(read(step), "beside the trace")
    capture.write_bytes(trace(*captured(8)))
    assert warns(read(step), "'step_capture_8.json' beside the trace may be a capture", "--captures")
    assert not warns(read(step, captures=capture), "beside the trace")


def test_captures_of_another_rank_are_not_used() -> None:
    ranks = [trace(*captured(8), distributedInfo={"rank": rank}) for rank in (0, 1)]
    ranks[0] = ranks[0].replace(b"[[8, 16], [16, 32]]", b"[[8, 24], [24, 32]]")
    kernels = read(trace(*replayed(), distributedInfo={"rank": 1}), captures=ranks, idle=False)
    assert MM_A in by_name(kernels)
    # Without a rank of the trace both captures fit.
    untied(read(trace(*replayed()), captures=ranks), "fit equally well")


# -- files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a trace and captures of its graphs, under names that say nothing."""
    (tmp_path / "a.json").write_bytes(trace(*captured(4)))
    (tmp_path / "b.json").write_bytes(trace(*replayed()))
    (tmp_path / "c.json").write_bytes(trace(*captured(8)))
    return tmp_path


@pytest.mark.parametrize("given", ["pattern", "paths", "folder", "bytes", "file", "zip"])
def test_captures_are_given_in_any_form_that_read_takes(folder: Path, given: str) -> None:
    with zipfile.ZipFile(folder / "d.zip", "w") as archive:
        archive.write(folder / "a.json", "a.json")
        archive.write(folder / "c.json", "c.json")
    with (folder / "c.json").open("rb") as file:
        captures = {
            "pattern": str(folder / "[ac].json"),
            "paths": [folder / "a.json", str(folder / "c.json")],
            "folder": folder,
            "bytes": (folder / "c.json").read_bytes(),
            "file": file,
            "zip": folder / "d.zip",
        }[given]
        (folder / "d.zip").unlink() if given == "folder" else None
        assert MM_A in by_name(read(folder / "b.json", captures=captures))


def test_captures_that_are_not_there_are_an_error(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file of captures matches .*capture_"):
        read(folder / "b.json", captures=str(folder / "capture_*.json"))
    with pytest.raises(ProfileError, match="expected the object or the list of a Chrome trace"):
        read(folder / "b.json", captures=b"a,b\n1,2")


@pytest.mark.parametrize("form", ["folder", "archive"])
def test_a_trace_and_captures_of_its_graphs_in_one_folder_or_archive_are_one_profile(folder: Path, form: str) -> None:
    path = folder
    if form == "archive":
        path = folder / "all.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in "abc":
                archive.write(folder / f"{name}.json", f"{name}.json")
    kernels = read(path, idle=False)
    assert by_name(kernels)[MM_A] == (1, 3, 8192)
    assert kernels.source.endswith("b.json")


def test_of_a_folder_of_captures_only_files_that_may_be_traces_are_read(folder: Path) -> None:
    (folder / "README.md").write_text("# Captures of graphs", encoding="utf-8")
    assert MM_A in by_name(read(folder / "b.json", captures=folder))


def test_a_folder_of_two_traces_is_not_one_profile(folder: Path) -> None:
    (folder / "e.json").write_bytes(trace(*replayed()))
    with pytest.raises(
        ProfileError, match=r"one trace and captures of its graphs, got 2 traces and 2 captures; rw\.re"
    ):
        read(folder)


def test_of_many_files_the_captures_belong_to_the_other_traces(folder: Path) -> None:
    (folder / "t.csv").write_bytes(b"name,flops,bytes,time (us)\nmatmul,4,5,6\n")
    profiles = rw.read_many(folder / "*")
    assert [Path(path).name for path in profiles] == ["b.json", "t.csv"]
    assert MM_A in by_name(profiles[folder / "b.json"])
    assert [Path(path).name for path in rw.read_many(folder / "[ac].json")] == ["a.json", "c.json"]


def test_captures_that_a_page_opens_with_a_trace_are_no_series(folder: Path) -> None:
    with (folder / "b.json").open("rb") as step, (folder / "c.json").open("rb") as capture:
        (kernels,) = read_each([step, capture])
    assert MM_A in by_name(kernels)


def test_of_many_files_only_those_named_as_captures_are_searched_to_their_end(tmp_path: Path) -> None:
    late = b'{"traceEvents": [' + b" " * 5 * 2**20 + trace(*captured()).partition(b"[")[2]
    for name, is_found in (("step", False), ("graph_capture_0", True)):
        (path := tmp_path / f"{name}.json").write_bytes(late)
        assert is_capture(Source.of(path))
        assert is_capture(Source.of(path), is_quick=True) == is_found
    (path := tmp_path / "early.json").write_bytes(trace(*captured()))
    assert is_capture(Source.of(path), is_quick=True)
    (path := tmp_path / "both.json").write_bytes(trace(*captured(), *replayed()))
    assert not is_capture(Source.of(path), is_quick=True)


def test_a_trace_that_replays_what_it_captured_is_a_profile(folder: Path) -> None:
    (folder / "d.json").write_bytes(trace(*captured(None), *replayed(None, start=2000, first=2000)))
    assert [Path(path).name for path in rw.read_many(folder / "[cd].json")] == ["d.json"]
