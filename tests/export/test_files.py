"""Files that a model is saved as, and what reads them again."""

from __future__ import annotations

import base64
import csv
import gzip
import re
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import RooflineModel
from roofwidget.export import page
from tests.places import text_of, write
from tests.tables import has_columns

CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s", "L2": "10 TB/s"})
HOSTILE = '</script><script>alert(1)</script> "=1+1"\ud800'
KERNELS = rw.Kernels(
    ["matmul", HOSTILE, "=1+1"],
    {"fp16": [4e12, 0, np.nan], "fp32": [np.nan, np.nan, 1e9]},
    {"HBM": [1e10, 1 / 3, np.nan], "L2": [1e11, 1e10, np.nan]},
    time=[0.08, np.nan, 1e-3],
    precision=["fp16", None, "fp32"],
    category=["gemm", HOSTILE, None],
    count=[1, 2, 3],
    extra={"grid": [1.0, 2.0, np.nan], "stream": ["a", None, "=b"]},
    origin={"flops": ["counted", None, "guessed"]},
    warnings=["one time is missing"],
    source="run 1",
)


def is_same(one: rw.Kernels, other: rw.Kernels) -> bool:
    """Whether two tables are equal but for lone surrogates, which no file can hold."""
    texts = [
        (str(name).encode("utf-8", "replace").decode(), *part)
        for kernels in (one, other)
        for name, *part in zip(kernels.names, kernels.precision, kernels.count, strict=True)
    ]
    columns = [
        {**kernels.flops_by_precision, **kernels.bytes_by_level, "time": kernels.time, "grid": kernels.extra["grid"]}
        for kernels in (one, other)
    ]
    return texts[: len(one)] == texts[len(one) :] and all(
        np.array_equal(columns[0][key], columns[1][key], equal_nan=True) for key in columns[0]
    )


@pytest.mark.parametrize("end", ["svg", "png", "pdf", "html", "csv"])
def test_a_model_is_saved_by_the_end_of_the_name(end: str, tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / f"figure.{end.upper()}")
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype html>", "csv": b"name,"}
    assert path.read_bytes().startswith(starts[end])


def test_another_end_or_option_is_refused_and_no_file_is_made(tmp_path: Path) -> None:
    model = RooflineModel([CHIP], KERNELS)
    with pytest.raises(ValueError, match=r"save: 'figure.pgn' must end in '.svg', .*; did you mean '.png'\?"):
        model.save(tmp_path / "figure.pgn")
    with pytest.raises(TypeError, match=r"save of a .svg file has no keyword 'dpi'"):
        model.save(tmp_path / "figure.svg", dpi=300)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ["html", "csv"])
def test_a_saved_page_and_a_saved_table_give_the_kernels_back(end: str, tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / f"kernels.{end}")
    read = rw.read(path)
    assert is_same(read, KERNELS)
    if end == "html":
        assert (read.source, "one time is missing" in read.warnings) == ("run 1", True)
        assert list(read.origin["flops"]) == ["counted", None, "guessed"]


@pytest.mark.parametrize("end", ["html", "csv"])
def test_a_saved_page_and_a_saved_table_give_intensities_and_rates_back(end: str, tmp_path: Path) -> None:
    lab = rw.Kernels(["triad", "dgemm", "spmv"], intensity=[0.083, 12.5, 0.17], rate=[15.4e9, 880e9, np.nan])
    read = rw.read(RooflineModel([CHIP], lab).save(tmp_path / f"kernels.{end}"))
    has_columns(read, names=lab.names.tolist(), intensity=[0.083, 12.5, 0.17])
    np.testing.assert_array_equal(read.rate, lab.rate)
    assert all(np.isnan(column).all() for column in (read.flops, read.bytes, read.time))


def test_a_page_keeps_the_chip_that_the_kernels_ran_on(tmp_path: Path) -> None:
    ran = rw.Kernels(["matmul"], [4e12], [1e10], time=[0.08], chip=rw.chip("h100-sxm"))
    assert rw.read(RooflineModel(kernels=ran).save(tmp_path / "a.html")).chip == rw.chip("h100-sxm")
    other = rw.Kernels(["matmul"], [4e12], [1e10], time=[0.08], chip=CHIP)
    read = rw.read(RooflineModel(kernels=other).save(tmp_path / "b.html"))
    assert read.chip is None
    assert read.warnings == ("the kernels ran on One, which is not in the catalogue: give the chip with chips=[…]",)


def test_a_page_of_a_graph_gives_the_kernels_of_its_partition(tmp_path: Path) -> None:
    graph = rw.chain([("LayerNorm", 10), ("GELU", 8), ("Add", 1)], elements=1_000_000)
    model = RooflineModel([CHIP], graph=graph, partition=[[0, 1], [2]])
    read = rw.read(model.save(tmp_path / "graph.html"))
    assert list(read.names) == list(model.shown_kernels.names)
    assert np.array_equal(read.bytes, model.shown_kernels.bytes)


def test_each_widget_of_a_page_is_read_by_its_number(tmp_path: Path) -> None:
    models = [RooflineModel([CHIP], [(name, 4e12, 1e10, 0.08)]) for name in ("first", "second")]
    path = rw.save_page(["## A heading\n\nA <b>text</b>.", *models], tmp_path / "report.html", title="A & B")
    html = text_of(path)
    assert "<h2>A heading</h2>\n<p>A &lt;b&gt;text&lt;/b&gt;.</p>" in html
    assert "<title>A &amp; B</title>" in html
    assert [rw.read(path, widget=number).names.tolist() for number in (1, 2)] == [["first"], ["second"]]
    with pytest.raises(rw.ProfileError, match="it has 2 widgets, not number 3"):
        rw.read(path, widget=3)
    # The code is there once.
    assert html.count("data-unpack") == 2 + html.count("[data-unpack]")


def test_the_kernels_of_a_page_of_1_0_0_ran_on_the_chip_whose_figures_it_had(tmp_path: Path) -> None:
    card = rw.Chip.from_dict({**rw.chip("rtx-pro-6000-workstation").to_dict(), "id": "rtx-pro-6000"})
    path = RooflineModel([card], rw.Kernels(["a"], [1e12], [1e9], chip=card)).save(tmp_path / "page.html")
    assert rw.read(path).chip == rw.chip("rtx-pro-6000-workstation")


def test_a_damaged_page_is_refused(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / "page.html")
    html = text_of(path)
    start = html.index('<script type="text/plain">') + 100
    write(path, html[:start] + html[start + 40 :])
    with pytest.raises(rw.ProfileError, match="the state of widget 1 is damaged"):
        rw.read(path)


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ('{"state":' + "[" * 100_000, "nested too deeply"),
        ('{"state":' + '{"a":' * 100_000, "nested too deeply"),
        ('{"state": {}, "state": {}, "buffers": []}', "line 1, column 41: the key 'state' is twice in the object that"),
    ],
)
def test_a_page_whose_state_is_nested_too_deeply_or_has_a_key_twice_is_refused(
    contents: str, reason: str, tmp_path: Path
) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / "page.html")
    html = text_of(path)
    state = base64.b64encode(gzip.compress(contents.encode())).decode()
    start = html.index('<script type="text/plain">') + len('<script type="text/plain">')
    write(path, html[:start] + state + html[html.index("</script>", start) :])
    with pytest.raises(rw.ProfileError, match=rf"the state of widget 1 is damaged \({reason}"):
        rw.read(path)


def test_the_page_allows_itself_no_request_and_no_script_but_its_own() -> None:
    html = RooflineModel([CHIP], KERNELS, title=HOSTILE).to_html()
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    for kind in ("script-src", "style-src"):
        assert re.fullmatch(r"('sha256-[\w+/]{43}=' ?){2}", rules[kind])
    assert rules["img-src"] == "data:"
    addresses = re.findall(r'(?:src|href)="(?!data:)([^"]*)"', html)
    assert addresses == []
    # Its own small script; the two that are unpacked and the state are only text.
    assert len(re.findall(r"<script>", html)) == 1


def test_a_page_names_the_sources_of_its_figures_and_its_day() -> None:
    model = RooflineModel(["h100-sxm"], [("matmul", 4e12, 1e10, 0.008)])
    html = model.to_html()
    source = rw.chip("h100-sxm").sources["peak_flops.bf16"]
    assert f'<a href="{source.url}" rel="noreferrer">{source.title}</a>: NVIDIA H100' in html
    assert re.search(r"<footer>\d{4}-\d\d-\d\d</footer>", html)


def test_a_source_that_is_no_web_address_is_no_link() -> None:
    source = rw.Source("A note", "javascript:alert(1)")
    chip = rw.Chip("One", {"bf16": 1e14}, {"HBM": 1e12}, sources={"peak_flops.bf16": source})
    html = RooflineModel([chip]).to_html()
    assert "<li>A note: One: " in html
    assert "javascript:" not in html.partition("<script>")[0]


def test_an_address_that_is_damaged_does_not_prevent_a_page() -> None:
    source = rw.Source("A note", "https://[x")
    chip = rw.Chip("One", {"bf16": 1e14}, {"HBM": 1e12}, sources={"peak_flops.bf16": source})
    link = '<li><a href="https://[x" rel="noreferrer">A note</a>: One: Peak bf16</li>'
    assert link in RooflineModel([chip]).to_html()


def test_pages_have_one_language() -> None:
    german, english = (RooflineModel([CHIP], KERNELS, locale=locale) for locale in ("de", "en"))
    assert '<html lang="de">' in german.to_html()
    parts = [german._part_of_page(), english._part_of_page()]
    with pytest.raises(ValueError, match="a page has one language, and these widgets have de and en"):
        page.page(parts, "Both", date(2026, 1, 1))


def test_a_page_is_small(tmp_path: Path) -> None:
    small = RooflineModel(["h100-sxm"], [("matmul", 4e12, 1e10, 0.008)]).save(tmp_path / "small.html")
    assert small.stat().st_size < 330_000
    chance = np.random.default_rng(1)
    flops, moved = 10 ** chance.uniform(9, 13, 10_000), 10 ** chance.uniform(8, 11, 10_000)
    names = [f"kernel {row}" for row in range(10_000)]
    many = rw.Kernels(names, flops, moved, time=np.maximum(flops / 1e14, moved / 1e12) * 2)
    assert RooflineModel([CHIP], many).save(tmp_path / "many.html").stat().st_size < 1_500_000


def test_no_cell_of_a_saved_table_is_a_formula(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / "kernels.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[2]["name"] == "'=1+1"
    assert rows[2]["stream"] == "'=b"
    assert rows[1]["bytes:HBM"] == repr(1 / 3)


def test_a_saved_table_has_no_nul(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], [("\0=1+1\0", 4e12, 1e10, 0.08)]).save(tmp_path / "kernels.csv")
    assert b"\0" not in path.read_bytes()
    assert list(rw.read(path).names) == ["\ufffd=1+1\ufffd"]


def test_a_still_is_a_picture_a_table_and_pixels() -> None:
    bundle = RooflineModel([CHIP], KERNELS).snapshot()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    headline = "Kernels of “gemm” take 99 % of the time."
    assert bundle["text/html"].startswith(f"<div><p><strong>{headline}</strong></p><img ")
    assert bundle["text/plain"].startswith(f"{headline}\n")
