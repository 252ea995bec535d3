"""`roofwidget show`: a roofline of letters, and the files that export writes."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from roofwidget.cli import main
from roofwidget.cli.terminal import Point, Roof, draw
from tests.cli.profiles import WITH_CHIP, WITHOUT_ANSWER, chip_file, profile_file
from tests.places import FIXTURES, text_of, write

Capture = pytest.CaptureFixture[str]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
ROOF = Roof("Mine", 1e14, 1e12, "bf16")


@pytest.fixture
def mine(tmp_path: Path) -> list[str]:
    rows = "matmul,1e14,1e11,2\ngelu,1e12,1e12,2\ncopy,0,2e12,2"
    return [profile_file(tmp_path, rows), "--chip", chip_file(tmp_path)]


def braille(text: str) -> int:
    return sum("⠀" < letter <= "⣿" for letter in text)


def test_kernels_with_an_intensity_and_a_rate_are_drawn_with_their_share_and_without_seconds(
    tmp_path: Path, capsys: Capture
) -> None:
    profile, chip = tmp_path / "lab.csv", chip_file(tmp_path)
    write(profile, "name,flops,bytes,intensity,rate\ngelu,,,2,1e12\ngelu,,,2,5e11\nmatmul,,,400,9e13\n")
    assert main(["show", str(profile), "--chip", chip]) == 0
    table = capsys.readouterr().out.splitlines()[-3:]
    shares = [re.split(r"  +", line.strip())[1:4] for line in table]
    assert shares == [["gelu (1)", "HBM", "50 %"], ["gelu (2)", "HBM", "25 %"], ["matmul", "compute", "90 %"]]


@pytest.mark.parametrize("name", WITH_CHIP)
@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50), (60, 12)])
def test_each_fixture_is_drawn_within_its_size(capsys: Capture, name: str, width: int, height: int) -> None:
    assert main(["show", str(FIXTURES / name), "--width", str(width), "--height", str(height)]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert braille(said.out) > width / 3
    assert "\x1b" not in said.out
    assert any(line.startswith("1  ") for line in lines)
    assert said.err == ""


def test_roof_points_and_names_are_where_they_belong(mine: list[str], capsys: Capture) -> None:
    assert main(["show", *mine, "--width", "80", "--height", "24"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "Up to 2 s of 6 s could be saved: kernels run at 67 % of their roofs."
    assert lines[1] == "Mine, bf16; ridge point 100 FLOP/B"
    assert "bf16 100 TFLOP/s" in out
    assert "HBM 1 TB/s" in out
    matmul = next(line for line in lines if "matmul" in line)
    gelu = next(line for line in lines if "gelu" in line)
    assert matmul.endswith("matmul 1")
    assert gelu.endswith("2 gelu")
    assert matmul.index("1") > gelu.index("2")
    assert lines.index(matmul) < lines.index(gelu)
    assert re.search(r"^3 +copy +no FLOPs +HBM +100 %", out, re.MULTILINE)
    # 50 TFLOP/s is between two ticks of the rates.
    assert lines.index(next(line for line in lines if line.startswith("100T"))) < lines.index(matmul)


def test_integers_have_operations_on_the_axes_and_floats_beside_them_both_units(
    capsys: Capture, tmp_path: Path
) -> None:
    path = write(tmp_path / "quantized.csv", "name,flops:int8,bytes,time (us)\nquantized,4e12,1e10,4000\n")
    size = ["--width", "80", "--height", "24"]
    assert main(["show", str(path), "--chip", "h100-sxm", "--precision", "int8", *size]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1:3] == ["NVIDIA H100 SXM5 80GB, int8; ridge point 590.7 OP/B", "     OP/s"]
    assert "int8 1.979 POP/s" in out
    assert "OP/B of HBM" in out
    assert "FLOP" not in out
    assert main(["show", str(path), "--chip", "h100-sxm", *size]) == 0
    mixed = capsys.readouterr().out
    assert mixed.splitlines()[2] == "     FLOP/s · OP/s"
    assert "FLOP/B · OP/B of HBM" in mixed
    assert main(["check", str(path), "--chip", "h100-sxm", "--precision", "int8"]) == 0
    assert "(int8, HBM; 1.979 POP/s, 3.35 TB/s)" in capsys.readouterr().out


def test_a_second_roof_is_dotted_and_has_its_own_names(mine: list[str], capsys: Capture) -> None:
    main(["show", *mine, "--width", "100", "--height", "30"])
    one = braille(capsys.readouterr().out)
    main(["show", *mine, "--on", "h100-sxm", "--width", "100", "--height", "30"])
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("Mine, dotted: NVIDIA H100 SXM5 80GB")
    assert "bf16 989.5 TFLOP/s" in out
    assert "HBM 3.35 TB/s" in out
    assert one < braille(out) < 1.8 * one


def test_kernels_at_one_place_say_whose_mark_is_seen(capsys: Capture, tmp_path: Path) -> None:
    path = profile_file(tmp_path, "first,1e14,1e11,3\nsecond,1e14,1e11,3")
    main(["show", path, "--chip", chip_file(tmp_path)])
    assert re.search(r"^2 +second +under 1 ", capsys.readouterr().out, re.MULTILINE)


def test_names_from_a_file_take_their_cells_and_no_command_of_the_terminal() -> None:
    long = Point("copy", 10.0, 1e10, "memory", ("a memory level with a long name " * 3, "", ""))
    assert max(map(len, draw([ROOF], [long], "HBM", 60, 12, has_colour=False).splitlines())) <= 60
    names = ("行列の積を計算するカーネル", "\x1b[31mred", "a" * 200)
    points = [Point(name, 10.0**at, 1e12, "memory", ("HBM", "10 %", "1 s")) for at, name in enumerate(names)]
    lines = draw([ROOF], points, "HBM", 80, 30, has_colour=False).splitlines()
    assert all("\x1b" not in line for line in lines)
    assert max(map(len, lines)) <= 80
    wide, narrow = (next(line for line in lines if line.startswith(f"{at}  ")) for at in (1, 2))
    letters = sum(ord(letter) > 0x3000 for letter in wide.partition("HBM")[0])
    assert wide.index("HBM") + letters == narrow.index("HBM")


def test_every_colour_is_one_of_the_256_and_ends() -> None:
    points = [
        Point(kind, 10.0, 10.0**at, kind, (kind, "", ""))
        for at, kind in enumerate(("memory", "compute", "above", "unmeasured"), 10)
    ]
    text = draw([ROOF], points, "HBM", 80, 30, has_colour=True)
    assert set(re.findall(r"\x1b\[([0-9;]*)m", text)) == {*("38;5;32", "38;5;166", "38;5;160", "38;5;244", "0")}
    assert ESCAPE.sub("", text) == draw([ROOF], points, "HBM", 80, 30, has_colour=False)


@pytest.mark.parametrize(("no_colour", "has_colour"), [("", True), ("1", False)])
def test_a_terminal_has_colours_unless_no_color_is_set(mine: list[str], no_colour: str, *, has_colour: bool) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_colour, "COLUMNS": "80", "LINES": "24"}
    command = [sys.executable, "-m", "roofwidget", "show", *mine]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        read = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                more = os.read(ours, 65536)
            except OSError:
                break
            if not more:
                break
            read += more
    os.close(ours)
    assert process.returncode == 0
    text = read.decode()
    assert "matmul" in text
    assert ("\x1b[38;5;166m" in text) == has_colour


def test_a_picture_and_a_page_are_those_of_export_and_only_their_paths_are_printed(
    mine: list[str], tmp_path: Path, capsys: Capture
) -> None:
    files = {kind: tmp_path / f"roof.{kind}" for kind in ("png", "svg", "html")}
    options = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    assert main(["show", *mine, *options, "--width", "600"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(map(str, files.values()))
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert '<svg xmlns="http://www.w3.org/2000/svg" width="600"' in text_of(files["svg"])
    assert "data-roofwidget" in text_of(files["html"])


@pytest.mark.parametrize("name", [name for name in WITHOUT_ANSWER if "gfx942" not in name and "cupti" not in name])
def test_what_cannot_be_drawn_gives_status_2_and_one_sentence(capsys: Capture, name: str) -> None:
    assert main(["show", str(FIXTURES / name)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_a_terminal_that_is_too_small_says_so(mine: list[str], capsys: Capture) -> None:
    assert main(["show", *mine, "--width", "30"]) == 2
    assert "at least 60 columns and 12 lines" in capsys.readouterr().err


def test_a_picture_has_the_end_of_its_kind(mine: list[str], tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "ticket.jpg"
    assert main(["show", *mine, "--png", str(path)]) == 2
    assert f"'{path}' must end in .png" in capsys.readouterr().err
    assert not path.exists()


def test_a_folder_that_is_missing_is_named(mine: list[str], tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "none" / "roof.png"
    assert main(["show", *mine, "--png", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def axes_of(drawing: str) -> list[str]:
    """Return the numbers along both axes."""
    lines = drawing.splitlines()
    bottom = next(at for at, line in enumerate(lines) if "└" in line)
    return [line.partition("┤")[0] for line in lines if "┤" in line] + lines[bottom : bottom + 2]


def test_profiles_in_the_frame_of_the_chip_have_the_same_axes(tmp_path: Path, capsys: Capture) -> None:
    chip = chip_file(tmp_path)
    drawn = {}
    for frame in ("points", "chip"):
        for name, rows in (("before", "matmul,1e14,1e11,2000"), ("after", "matmul,1e14,1e11,2\ngelu,1e3,1e12,2")):
            (tmp_path / name).mkdir(exist_ok=True)
            assert main(["show", profile_file(tmp_path / name, rows), "--chip", chip, "--frame", frame]) == 0
            drawn[frame, name] = capsys.readouterr().out
    assert axes_of(drawn["chip", "before"]) == axes_of(drawn["chip", "after"])
    assert axes_of(drawn["points", "before"]) != axes_of(drawn["points", "after"])
    assert re.search(r"^2 +gelu +off the axes", drawn["chip", "after"], re.MULTILINE)
    assert "off the axes" not in drawn["points", "after"]


def test_a_picture_can_have_the_frame_of_the_chip(tmp_path: Path, mine: list[str]) -> None:
    names = ("points", "chip")
    for frame in names:
        assert main(["show", *mine, "--frame", frame, "--svg", str(tmp_path / f"{frame}.svg")]) == 0
    points, chip = (text_of(tmp_path / f"{frame}.svg") for frame in names)
    assert points != chip
