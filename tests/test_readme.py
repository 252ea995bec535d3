"""The examples of the README and the guide run and print what the texts say; pictures and files are there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import roofwidget as rw
from tests.places import FIXTURES, ROOT, text_of, write

README = ROOT / "README.md"
USING = README.parent / "docs" / "using.md"


@pytest.mark.parametrize("recipe", ["profile", "model", "course"])
def test_each_recipe_of_the_readme_runs_and_prints_what_it_says(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if recipe == "model":
        pytest.importorskip("torch")
    example = re.search(rf"\*\*My {recipe}\.\*\*.*?```python\n(.*?)```", text_of(README), re.DOTALL)
    assert example is not None
    assert example[1].count("\n") <= 7
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    exec(example[1], {})  # noqa: S102 - our own text
    said = re.findall(r"^print\(.*\)  # (.*)$", example[1], re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said
    assert [path.name for path in tmp_path.glob("*.html")] == (["lesson.html"] if recipe == "course" else [])


@pytest.mark.filterwarnings("ignore:.*names no chip:UserWarning")
def test_what_the_table_says_in_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(FIXTURES / "ncu" / "two_kernels.ncu-rep", "profile.ncu-rep")
    for name in ("profile.csv", "before.csv", "after.csv", "rank0.csv", "rank1.csv"):
        write(Path(name), "name,flops,bytes,time (us)\nmatmul,4.3e9,1.2e7,31\n")
    sent = {"Collective name": "allreduce", "In msg nelems": 8, "dtype": "Half", "Group size": 2}
    kernel = {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 0, "dur": 4, "args": sent}
    write(Path("trace.json"), {"schemaVersion": 1, "traceEvents": [kernel]})
    text = text_of(USING.parent / "first_five_minutes.md")
    chain = re.search(r"`(rw\.chain\(.*\))`", text)
    assert chain is not None
    names: dict[str, object] = {"rw": rw, "graph": eval(chain[1]), "chip": rw.chip("h100-sxm")}  # noqa: S307 - our own text
    names["kernels"] = rw.read("profile.ncu-rep")
    names["widget"] = rw.roofline("profile.ncu-rep")
    section = text.partition("## What you probably came for")[2].partition("##")[0]
    codes = [code for row in section.splitlines() if row.startswith("|") for code in re.findall("`([^`]*)`", row)]
    assert len(codes) >= 6
    for code in codes:
        eval(code, names)  # noqa: S307 - our own text


def test_the_example_of_a_graph_runs() -> None:
    example = re.search(r"```python\n(.*?)```", text_of(USING), re.DOTALL)
    assert example is not None
    exec(example[1], {})  # noqa: S102 - our own text


def test_the_example_of_what_fusion_saves_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    section = text_of(USING.parent / "measuring.md").partition("### What fusion saves")[2]
    example = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert example is not None
    exec(example[1], {})  # noqa: S102 - our own text
    said = re.findall(r"^print\(.*\)  # (.*?)(?: times .*)?$", example[1], re.MULTILINE)
    assert len(said) == 4
    assert capsys.readouterr().out.splitlines() == said


def test_the_first_five_minutes_run_and_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = text_of(USING.parent / "first_five_minutes.md")
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(example, names)  # noqa: S102 - our own text
    said = re.findall(r"^print\(.*\)  # (.*)$", text, re.MULTILINE)
    assert capsys.readouterr().out.splitlines()[1:] == said
    assert {path.name for path in tmp_path.iterdir()} == {"roofline.png", "roofline.html"}


def test_every_file_the_readme_names_is_there() -> None:
    text = text_of(README)
    targets = re.findall(r"\]\(([^)#]+)\)|(?:href|src|srcset)=\"([^\"#]+)", text)
    assert len(targets) > 50
    for target in map("".join, targets):
        assert (README.parent / target).exists(), target


def test_each_picture_of_the_readme_has_a_dark_twin_and_an_alternative_text_and_is_small() -> None:
    pictures = re.findall(r"<picture>(.*?)</picture>", text_of(README), re.DOTALL)
    assert len(pictures) == 7
    for picture in pictures:
        dark, light = re.findall(r"(?:src|srcset)=\"([^\"]+)", picture)
        assert dark == light.replace(".webp", "-dark.webp")
        alt = re.search(r"alt=\"([^\"]+)", picture)
        assert alt is not None
        assert len(alt[1]) > 40
        most = 700_000 if "moving" in light else 60_000
        assert max((README.parent / name).stat().st_size for name in (dark, light)) <= most


def test_the_numbers_of_the_readme_and_of_the_comparison_are_those_of_the_catalogue_and_the_course() -> None:
    chips = f"{len(rw.chips())} chips"
    assert chips in text_of(README)
    assert chips in text_of(USING.parent / "neighbours.md")
    lessons = len(list((README.parent / "notebooks").glob("*.ipynb")))
    assert f"[{lessons}](teaching.md#the-course)" in text_of(USING.parent / "neighbours.md")
    assert text_of(README).count("](notebooks/") == lessons


def test_every_place_that_the_guide_for_contributors_names_is_there() -> None:
    root = README.parent
    names = {path.name for folder in ("roofwidget", "js", "docs", "tests") for path in (root / folder).rglob("*")}
    places = re.findall(r"`([\w/.]+(?:/|\.(?:py|tsx?|toml|md|json)))`", (root / "CONTRIBUTING.md").read_text("utf-8"))
    assert len(places) > 50
    for place in places:
        assert (root / place).exists() or Path(place).name in names, place
