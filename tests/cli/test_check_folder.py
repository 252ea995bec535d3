"""`roofwidget check FOLDER`: the ranks of one program, or profiles that are each read alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roofwidget.cli import main
from tests.analysis.test_rank_messages import LATE, STEP, WIRE, N, delay, trace
from tests.cli.profiles import chip_file, profile_file
from tests.cli.test_check import Capture, document
from tests.places import write

STEPS = 3
# Ring or tree: 2 (n - 1) / n times the size; fp32 has four bytes.
SENT = STEPS * sum(WIRE) * 4 * 2 * (N - 1) / N


def job(folder: Path, name: str = "rank{}.trace.json") -> str:
    """Write the traces of eight ranks, of which one is late. Return the folder."""
    folder.mkdir()
    for rank in range(N):
        (folder / name.format(rank)).write_bytes(trace(rank))
    return str(folder)


def with_header(given: bytes, **header: Any) -> bytes:
    return json.dumps({**header, **json.loads(given)}).encode()


@pytest.fixture
def mine(tmp_path: Path) -> list[str]:
    return ["--chip", chip_file(tmp_path)]


def test_a_folder_of_ranks_is_one_table_with_the_late_rank_and_the_exact_bytes_on_the_wire(
    capsys: Capture, tmp_path: Path
) -> None:
    found = document(capsys, job(tmp_path / "job"), "--chip", "h100-sxm")
    assert found["exit_status"] == 0
    ranks = found["ranks"]
    assert ranks["late_rank"] == f"rank {LATE}"
    assert [one["rank"] for one in ranks["stragglers"]] == [f"rank {LATE}"]
    assert ranks["stragglers"][0]["kernels"] == ["gemm"]
    assert [one["rank"] for one in ranks["by_rank"]] == [f"rank {rank}" for rank in range(N)]
    assert [one["sent_bytes"] for one in ranks["by_rank"]] == [SENT] * N
    calls = STEPS * len(WIRE)
    waits = [one["waiting_s"] for one in ranks["by_rank"]]
    assert waits == pytest.approx([calls * (delay(LATE) - delay(rank)) * 1e-6 for rank in range(N)], abs=1e-9)
    assert [file["rank"] for file in found["files"]] == [f"rank {rank}" for rank in range(N)]
    assert found["program"]["time_s"] == pytest.approx(sum(one["time_s"] for one in ranks["by_rank"]))
    # Launches of all ranks are one row.
    gemm = next(kernel for kernel in found["kernels"] if kernel["name"] == "gemm")
    assert gemm["launches"] == calls * N
    assert gemm["time_s"] == pytest.approx(calls * sum(100 + delay(rank) for rank in range(N)) * 1e-6)
    assert f"{N} ranks of one program: times, FLOPs and bytes are sums over the ranks" in found["notes"]
    # A kernel and the collective take 240 us and the wire, one after the other; another kernel runs beside the
    # collective. The trace of a rank lasts two steps, two calls and the last call.
    busy = N * STEPS * sum(240 + wire for wire in WIRE.values()) * 1e-3
    span = N * (STEP * (STEPS - 1) + 2 * 1300 + 240 + 900) * 1e-3
    assert found["summary"]["headline"] == f"The GPU is idle {100 - round(100 * busy / span)} % of the time."
    assert found["summary"]["detail"].startswith(f"Kernels run {busy:.1f} ms of {span:.1f} ms")
    # A note that all profiles have is there once and names none of them.
    assert not any(".json" in note and "no shapes" in note for note in found["notes"])
    assert sum("no shapes in this profile" in note for note in found["notes"]) == 1
    assert found["read"] == ""


def test_the_ranks_are_a_table_of_the_text_and_of_the_summary_of_ci(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert main(["check", job(tmp_path / "job"), "--chip", "h100-sxm"]) == 0
    text = capsys.readouterr().out
    assert f"8 ranks of one program: rank {LATE} comes last" in text
    assert "communication at the median rank: 9 collectives, 441 MB in 3.75 ms on the wire (118 GB/s)" in text
    assert "rank5.trace.json  rank 5" not in text
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert f"#### 8 ranks of one program: rank {LATE} comes last" in summary


def test_the_headers_of_traces_tell_the_ranks_where_names_do_not(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in (1, 0):
        header: dict[str, Any] = {
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_config": [{"ranks": []}]}
        }
        (folder / f"host_{10 - rank}.pt.trace.json").write_bytes(with_header(trace(rank), **header))
    found = document(capsys, str(folder), "--chip", "h100-sxm")
    assert [(one["file"], one["rank"]) for one in found["files"]] == [
        ("host_10.pt.trace.json", "rank 0"),
        ("host_9.pt.trace.json", "rank 1"),
    ]
    assert [one["rank"] for one in found["ranks"]["by_rank"]] == ["rank 0", "rank 1"]


def test_traces_that_are_no_ranks_are_named_each_with_what_was_read(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    folder = Path(job(tmp_path / "steps", "step{}.trace.json"))
    for rank in range(2, N):
        (folder / f"step{rank}.trace.json").unlink()
    profile_file(folder, "gemm,1e12,1e9,0.1", "old.csv")
    (folder / "work.toml").write_text('"gemm" = { flops = "1 GFLOP", bytes = "1 MB" }\n', encoding="utf-8")
    found = document(capsys, str(folder), "--chip", "h100-sxm")
    assert found["ranks"] is None
    assert [(file["file"], file["format"], file["error"]) for file in found["files"]] == [
        ("step0.trace.json", "torch", None),
        ("step1.trace.json", "torch", None),
        ("old.csv", None, "it is no trace of PyTorch"),
    ]
    assert "2 profiles, not ranks of one program: each is read alone, and times are added" in found["notes"]
    assert "not read: old.csv (it is no trace of PyTorch)" in found["notes"]
    assert found["program"]["time_s"] == pytest.approx(sum(file["time_s"] for file in found["files"][:2]))
    assert main(["check", str(folder), "--chip", "h100-sxm"]) == 0
    text = capsys.readouterr().out
    assert "2 profiles of 3 files" in text
    assert "old.csv" in text
    assert "not read: it is no trace of PyTorch" in text


def test_files_of_any_format_in_a_folder_are_read_alone_and_the_limits_hold_for_all_together(
    capsys: Capture, tmp_path: Path, mine: list[str]
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    # Half of the roof of 100 TFLOP/s, and a quarter of it.
    profile_file(folder, "gemm,1e12,1e9,0.02", "a.csv")
    profile_file(folder, "gemm,1e12,1e9,0.04", "b.csv")
    (folder / "notes.txt").write_text("hello", encoding="utf-8")
    found = document(capsys, str(folder), *mine)
    assert found["program"]["utilization"] == pytest.approx(0.02 / 0.06)
    assert [file["file"] for file in found["files"]] == ["a.csv", "b.csv", "notes.txt"]
    assert found["files"][2]["error"].startswith("begins with 'hello'")
    assert main(["check", str(folder), *mine, "--fail-below", "40%"]) == 1
    assert main(["check", str(folder), *mine, "--fail-below", "30%"]) == 0
    (folder / "b.csv").unlink()
    assert main(["check", str(folder), *mine]) == 2


def test_a_wrong_rule_of_work_for_profiles_of_a_folder_is_one_sentence(capsys: Capture, tmp_path: Path) -> None:
    folder = job(tmp_path / "job")
    (tmp_path / "job" / "work.toml").write_text('"gemm" = { op = "linear", x = 0, weight = 1 }\n', encoding="utf-8")
    operation = {"External id": 1, "Input Dims": [[4], [5]], "Input type": ["float", "float"]}
    events = [
        {"ph": "X", "cat": "cpu_op", "name": "gemm", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": operation},
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 5, "dur": 4, "args": {"device": 0, "External id": 1}},
    ]
    write(tmp_path / "job" / "rank0.trace.json", {"schemaVersion": 1, "traceEvents": events})
    assert main(["check", folder, "--chip", "h100-sxm"]) == 2
    error = capsys.readouterr().err
    assert "work.toml: line 1: 'gemm' for gemm" in error


def test_profiles_of_several_chips_need_one_that_judges(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for rank, name in enumerate(("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB")):
        device = {"id": 0, "name": name}
        (folder / f"rank{rank}.trace.json").write_bytes(with_header(trace(rank), deviceProperties=[device]))
    assert main(["check", str(folder)]) == 2
    assert "the profiles are of different chips: 'NVIDIA A100" in capsys.readouterr().err
    assert main(["check", str(folder), "--chip", "h100-sxm"]) == 0
