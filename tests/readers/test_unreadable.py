"""Inputs that cannot be read: each gives one error with a reason and what to do, never a raw one of the system."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError
from tests.places import FIXTURES, text_of, write

LONE = "a\ud800"

READ: dict[str, Callable[[Any], Any]] = {
    "read": rw.read,
    "read_many": rw.read_many,
    "read_ceilings": rw.read_ceilings,
    "load_chips": rw.load_chips,
    "shapes": lambda path: rw.read(FIXTURES / "xprof_calls.roofline_model.json", shapes=path),
}


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "'': the path is empty; '.' is the current folder"),
        ("  ", "'  ': the path is empty; '.' is the current folder"),
        ("a\0b.csv", "'a\\x00b.csv': a path cannot contain a NUL character"),
        (LONE, "a?: a path cannot contain half a character (a lone surrogate)"),
        (
            "https://example.org/run.json",
            "https://example.org/run.json: a URL is not fetched: download the file first and give its path",
        ),
        ("S3://runs/a.csv", "S3://runs/a.csv: a URL is not fetched: download the file first and give its path"),
        ("file:///home/a.csv", "file:///home/a.csv: a URL is not fetched: give the path alone, '/home/a.csv'"),
        (
            "name,time\na,1\n",
            "'name,time\\na,1\\n': this text is not a path; to read text itself, pass its bytes: text.encode()",
        ),
    ],
)
def test_a_text_that_is_no_path_says_what_to_give_instead(way: str, path: str, message: str) -> None:
    with pytest.raises(ValueError, match="path") as caught:
        READ[way](path)
    assert str(caught.value) == message
    assert isinstance(caught.value, ProfileError) == (way != "load_chips")


def test_a_file_whose_name_looks_like_a_url_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a:", "b").mkdir(parents=True)
    write(Path("a:", "b", "c.csv"), "name,time\nk,1\n")
    assert rw.read("a://b/c.csv").names.tolist() == ["k"]


def denied(*_: Any, **__: Any) -> Any:
    raise PermissionError(13, "Permission denied")


TOLD = "it cannot be read: permission denied; change its permissions, or copy it to a place that you can read"


def test_a_file_that_may_not_be_read_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "run.csv", "name,time\nk,1\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", denied)
        with pytest.raises(ProfileError) as caught:
            rw.read(path)
    assert str(caught.value) == f"{path}: {TOLD}"
    with monkeypatch.context() as patch:
        patch.setattr("roofwidget.readers.input.source._File", denied)
        with pytest.raises(ProfileError) as caught:
            rw.read(path)
    assert str(caught.value) == f"{path}: {TOLD}"
    with pytest.raises(ProfileError, match=r"run\.csv/x: it cannot be read: not a directory$"):
        rw.read(path / "x")


def test_a_folder_within_that_may_not_be_read_is_not_left_out_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "sysinfo.csv").touch()
    listed = os.scandir

    def scandir(path: Any) -> Any:
        return denied() if Path(path) == inner else listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(ProfileError, match="it cannot be read: permission denied"):
        rw.read(tmp_path)


def test_an_error_of_the_disk_amid_a_file_names_the_file() -> None:
    path = Path("/proc/self/mem")
    if not path.exists():
        pytest.skip("this system has no file that opens and cannot be read")
    with pytest.raises(ProfileError, match=r"^/proc/self/mem: it cannot be read: input/output error$"):
        rw.read(path)


# -- text in other encodings -----------------------------------------------------------------------------------

ENCODINGS = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
MARKED = {"utf-16-be": b"\xfe\xff", "utf-32-be": b"\x00\x00\xfe\xff"}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "name",
    [
        "torch/device.trace.json",
        "torch/averages.txt",
        "ncu/volta_long.csv",
        "ncu/wide_base.csv",
        "rocprof/results.csv",
        "ceilings/likwid_turns.txt",
        "ceilings/likwid_regions.csv",
        "xprof_gpu.roofline_model.json",
        "xprof_gpu.roofline_model.csv",
    ],
)
def test_a_profile_reads_the_same_in_every_unicode_encoding(encoding: str, name: str) -> None:
    text = (FIXTURES / name).read_text(encoding="utf-8-sig")
    expected = rw.read(text.encode())
    assert rw.read(text.encode(encoding)) == expected
    if encoding in MARKED:
        assert rw.read(MARKED[encoding] + text.encode(encoding)) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_a_trace_in_utf_16_that_is_cut_off_within_a_character_is_refused(encoding: str) -> None:
    data = text_of(FIXTURES / "torch/device.trace.json").encode(encoding)
    with pytest.raises(ProfileError, match=r"^buffer: .*(truncated data|ends too early)"):
        rw.read(data[: len(data) // 4 * 2 - 1])


# -- what other programs write ---------------------------------------------------------------------------------

PRINTED = """\
[4711] saxpy@127.0.0.1
  saxpy(int, float, float *) (4096, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ------------- ------------
    Metric Name               Metric Unit Metric Value
    ----------------------- ------------- ------------
    Duration                      usecond        12.34
    ----------------------- ------------- ------------
"""
OLD = PRINTED.replace("    Metric Name               Metric Unit Metric Value\n", "")


@pytest.mark.parametrize("text", [PRINTED, f'==PROF== Profiling "saxpy" - 1: 100%\n{PRINTED}', OLD, f"loss = 3\n{OLD}"])
def test_pages_that_ncu_prints_for_people_say_to_use_csv(text: str) -> None:
    with pytest.raises(
        ProfileError, match=r"^buffer: these are pages that ncu prints for people; use --csv: ncu --csv"
    ):
        rw.read(text.encode())


PROGRAM = "".join(f"step {step} loss 0.5\n" for step in range(5000))
PROFILING = '==PROF== Connected to process 4711 (/a/saxpy)\n==PROF== Profiling "saxpy" - 0: 0%....100% - 8 passes\n'


@pytest.mark.parametrize("name", [None, "ncu"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PROFILING, "these are lines that ncu prints for people; use --csv: ncu --csv --page raw"),
        (PROFILING + PROGRAM + PRINTED, "these are pages that ncu prints for people; use --csv: ncu --csv --page raw"),
        (PROFILING + PROGRAM.replace(" ", ", ") + PRINTED, "these are pages that ncu prints for people; use --csv"),
        (f"{PROFILING}==PROF== Report: /tmp/a.ncu-rep\n", "the profile is in the report '/tmp/a.ncu-rep': read it"),
        ("==WARNING== No kernels were profiled.\n", "no kernel was profiled; ncu said: No kernels were profiled"),
        (f"{PROFILING}==ERROR== No.\n", "no kernel was profiled; ncu said: No.; profile again, for example with 'ncu"),
    ],
)
def test_lines_of_ncu_without_a_table_say_how_to_make_one(text: str, told: str, name: str | None) -> None:
    with pytest.raises(ProfileError, match=re.escape(told)):
        rw.read(text.encode(), format=name)


def test_a_table_of_ncu_after_much_output_of_the_program_is_read() -> None:
    table = '"ID","Kernel Name","Metric Name","Metric Value"\n"0","k","gpu__time_duration.sum","1000"\n'
    assert rw.read((PROFILING + PROGRAM + table).encode()).time.tolist() == [1e-6]


def field(tag: int, content: bytes) -> bytes:
    size, left = b"", len(content)
    while left > 0x7F:
        size, left = size + bytes([left & 0x7F | 0x80]), left >> 7
    return bytes([tag]) + size + bytes([left]) + content


def test_a_damaged_raw_trace_of_xla_is_refused_before_xprof_sees_it(tmp_path: Path) -> None:
    whole = field(0x0A, b"\x12\x0e/host:metadata" + bytes(300)) + field(0x0A, bytes(70)) + field(0x22, b"host")
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(whole)
    with pytest.raises(ImportError, match="needs the package xprof"):
        rw.read(path)
    ends = {0, whole.index(field(0x0A, bytes(70))), len(whole) - len(field(0x22, b"host")), len(whole)}
    for end in set(range(2, len(whole))) - ends:
        path.write_bytes(whole[:end])
        with pytest.raises(ProfileError, match=r"host\.xplane\.pb: byte \d+: the trace (ends|is damaged)"):
            rw.read(path)
    path.write_bytes(b"\x7fELF" + bytes(range(256)))
    with pytest.raises(ProfileError, match=r"byte 1: the trace is damaged or incomplete: a field was expected here"):
        rw.read(path)


# -- half characters in chips ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figures", "what"),
    [
        ({"id": LONE}, "id of chip 'x'"),
        ({"peak_flops": {LONE: 1e12}}, "the name of a precision of chip 'x'"),
        ({"memories": {LONE: 1e12}}, "the name of a memory level of chip 'x'"),
        ({"links": {LONE: 1e11}}, "a key of links of chip 'x'"),
    ],
)
def test_a_chip_has_no_key_with_half_a_character(figures: dict[str, Any], what: str) -> None:
    given: dict[str, Any] = {"peak_flops": {"fp32": 1e12}, "memories": {"HBM": 1e12}} | figures
    with pytest.raises(ValueError, match="half a character") as caught:
        rw.Chip("x", **given)
    assert str(caught.value) == f"{what} contains half a character (a lone surrogate): 'a\\ud800'"
    assert json.dumps(str(caught.value)).isascii()
    str(caught.value).encode()


@pytest.mark.parametrize("look_up", [rw.chip, rw.roofline, lambda name: rw.bound([("k", 1, 1)], name)])
def test_a_chips_name_with_half_a_character_ends_in_an_error_that_can_be_printed(look_up: Callable[[str], Any]) -> None:
    with pytest.raises(Exception, match=r"no chip is called 'a\?'") as caught:
        look_up(LONE)
    str(caught.value).encode()


def test_a_file_of_chips_with_half_a_character_is_refused_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "chips.toml"
    chip = '[[chips]]\nname = "x"\nid = "a{}"\npeak_flops.fp32 = "1 TFLOP/s"\nmemories.HBM = "1 TB/s"\n'
    write(path, chip.format("\\ud800"))
    with pytest.raises(ValueError, match=r"chips\.toml, line 3: this is not TOML: "):
        rw.load_chips(path)
    path.write_bytes(chip.format("\ud800").encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=r"chips\.toml: not UTF-8 text \(byte 28\)"):
        rw.load_chips(path)
