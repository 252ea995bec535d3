"""The command `roofwidget` as a whole: help, statuses, the catalogue, peaks and completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import roofwidget as rw
from roofwidget import cli
from roofwidget.chips import toml
from roofwidget.cli import main, make_parser
from tests.cli.profiles import profile_file
from tests.places import FIXTURES, json_of, text_of, write

Capture = pytest.CaptureFixture[str]
SCHEMA = json_of(Path(toml.__file__).with_name("chips.schema.json"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "roofwidget", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_help_names_every_command_and_each_has_examples_that_fit_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    whole = capsys.readouterr().out
    for name in cli._COMMANDS:
        assert re.search(rf"^    {name}\b", whole, re.MULTILINE)
        with pytest.raises(SystemExit):
            main([name, "--help"])
        text = capsys.readouterr().out
        assert f"roofwidget {name} " in text.partition("positional")[0].partition("\n\n")[2]
        if name != "page":
            assert max(map(len, text.splitlines())) <= 80, text


def test_every_example_of_the_help_is_one_that_the_parser_takes() -> None:
    texts = [cli._DESCRIPTION, *(import_module(cli.module_of(name)).DESCRIPTION for name in cli._COMMANDS)]
    examples = re.findall(r"^  roofwidget (\w.*?)(?:  +.*| >.*)?$", "\n".join(texts), re.MULTILINE)
    assert len(examples) > 20
    for example in examples:
        words = [word.strip('"') for word in example.split()]
        make_parser(words).parse_args(words)


def test_the_module_runs_as_the_command_and_says_its_version() -> None:
    done = run("--version")
    assert done.stdout == f"roofwidget {rw.__version__}\n"
    assert run().returncode == 2


def test_an_unknown_command_is_refused() -> None:
    done = run("chek", "x")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "check" in done.stderr


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = f"'{sys.executable}' -m roofwidget chips --json | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, encoding="utf-8", check=False)  # noqa: S607
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_unicode_gets_question_marks(tmp_path: Path) -> None:
    path = profile_file(tmp_path, "matmul,1e14,1e11,2")
    command = [sys.executable, "-m", "roofwidget", "show", path, "--chip", "h100-sxm"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "matmul" in done.stdout


def test_the_catalogue_is_searched_by_words(capsys: Capture) -> None:
    assert main(["chips"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rw.chips()) + 1
    assert main(["chips", "nvidia", "H100", "sxm"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["id", "h100-sxm"]
    assert main(["chips", "h100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["chips"][0]
    assert found["peak_flops"]["bf16"]["value"] == rw.chip("h100-sxm").peak("bf16")
    assert found["memories"]["HBM"]["bandwidth"]["value"] == 3.35e12


def test_the_catalogue_as_json_is_that_of_chips_json(capsys: Capture) -> None:
    whole = json.loads(rw.chips_json())
    assert main(["chips", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["chips"] == whole["chips"]
    assert found["sources"].items() <= whole["sources"].items()


def test_the_json_of_some_chips_follows_the_schema_and_has_the_sources_they_name(capsys: Capture) -> None:
    assert main(["chips", "nvidia", "h100", "sxm", "--json"]) == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert list(Draft202012Validator(SCHEMA).iter_errors(found)) == []
    assert [one["id"] for one in found["chips"]] == ["h100-sxm"]
    assert set(found["sources"]) == set(re.findall(r'"source": "(\w+)"', text))


def test_words_that_no_chip_has_give_status_2_and_the_nearest(capsys: Capture) -> None:
    assert main(["chips", "h10x"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "'h100-sxm'" in said.err


def test_peaks_measures_prints_json_and_writes_a_chip_that_check_takes(tmp_path: Path, capsys: Capture) -> None:
    node = tmp_path / "node.toml"
    assert main(["peaks", "--budget", "0.2", "--dtype", "fp32", "--json", "--out", str(node)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["dtype"] == "fp32"
    (chip,) = rw.load_chips(node)
    assert chip.peak("fp32") == found["peak_flops"]
    assert chip.sources["peak_flops.fp32"].confidence == "measured"
    assert toml.parse(text_of(node))["chips"][0]["default_precision"] == "fp32"
    path = profile_file(tmp_path, "matmul,1e6,1e3,20")
    assert main(["check", path, "--chip", str(node)]) == 0
    assert chip.name in capsys.readouterr().out


def test_the_chip_of_a_very_slow_machine_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node.toml"
    slow = rw.Chip("Slow", {"fp32": 3.1e8 / 3}, {"DRAM": rw.Memory("DRAM", 2.31e8 / 7, 4e9), "L1": 1e20})
    measured = SimpleNamespace(chip=slow, as_dict=dict)
    monkeypatch.setattr("roofwidget.cli.peaks.measure_peaks", lambda *_, **__: measured)
    assert main(["peaks", "--json", "--out", str(node)]) == 0
    (read,) = rw.load_chips(node)
    assert (read.peak_flops, read.memories) == (slow.peak_flops, slow.memories)


def test_peaks_are_a_table_for_people(capsys: Capture) -> None:
    assert main(["peaks", "--budget", "0.2", "--dtype", "fp32"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^figure +best +median", out, re.MULTILINE)
    assert "HardwarePeaks(" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dtype", "fp7"], "fp7"),
        (["--device", "gpuu"], "gpuu"),
        (["--budget", "-1"], "budget"),
        (["--out", "x.json"], ".toml"),
    ],
)
def test_what_cannot_be_measured_gives_status_2(capsys: Capture, arguments: list[str], said: str) -> None:
    assert main(["peaks", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_is_a_script_that_the_shell_takes(capsys: Capture, shell: str, tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "--fail-below" in script
    if shell == "bash":
        path = write(tmp_path / "script", script)
        subprocess.run(["bash", "-n", str(path)], check=True)  # noqa: S607


def test_completion_without_its_package_says_how_to_install_it(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'shtab>=1.8'" in capsys.readouterr().err


def test_a_long_read_shows_on_a_terminal_what_is_done_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    options: Any = import_module("roofwidget.cli.options")
    monkeypatch.setattr(options, "_SILENT_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["check", str(FIXTURES / "xprof_tpu.roofline_model.json")]) == 0
    out, err = capsys.readouterr()
    assert "reading" not in out
    assert re.search(r"reading .*xprof_tpu.roofline_model.json … 0 s", err)
    assert err.endswith("\r\x1b[K")
