"""The HTML beside a widget's view, for places where no widget can run."""

from __future__ import annotations

import base64
import re
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.export import engine
from tests.places import golden

CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
KERNELS = [("matmul", 4e12, 1e10, 0.08), ("copy", 0, 1e9, 2e-3)]


def fallback(widget: rw.RooflineWidget) -> str:
    bundle = widget._repr_mimebundle_()
    assert bundle is not None
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]
    assert bundle[0]["text/plain"] == repr(widget)
    return str(bundle[0]["text/html"])


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.image: dict[str, str | None] = {}
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "img":
            self.image = dict(attrs)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def svg_of(reader: Reader) -> str:
    source = reader.image["src"] or ""
    assert source.startswith("data:image/svg+xml;base64,")
    return base64.b64decode(source.partition(",")[2]).decode()


def measured(n: int, name: str = "kernel {}") -> dict[str, Any]:
    chance = np.random.default_rng(1)
    flops, moved = 10 ** chance.uniform(9, 13, n), 10 ** chance.uniform(8, 11, n)
    time = np.maximum(flops / 1e14, moved / 1e12) * chance.uniform(1, 4, n)
    return {"name": [name.format(row) for row in range(n)], "flops": flops, "bytes": moved, "time": time}


def test_a_widget_brings_its_picture_and_a_table_of_its_kernels() -> None:
    widget = rw.roofline([CHIP], KERNELS, title="Before fusion")
    reader = read(fallback(widget))
    said = (
        "Up to 41 ms of 82 ms could be saved: kernels run at 50 % of their roofs. Most could be saved in matmul (98 %)."
    )
    assert reader.image["alt"] == f"Before fusion: {said}"
    assert svg_of(reader) == widget.to_svg(width=510)
    assert {"Bounds on One · bf16 · HBM", "matmul", "copy"} <= set(reader.words)


def test_the_alternative_text_is_the_sentence_without_a_title_and_without_kernels() -> None:
    words = read(fallback(rw.roofline([CHIP]))).image["alt"] or ""
    assert words.startswith("One · 100 TFLOP/s at bf16, 1 TB/s from HBM · ridge point 100 FLOP/B")


@pytest.mark.parametrize("n", [1_000, 10_000])
def test_of_many_kernels_the_longest_are_drawn_and_it_says_so(n: int) -> None:
    table = measured(n)
    html = fallback(rw.roofline([CHIP], table))
    assert len(html) <= 30_000
    reader = read(html)
    # The filter `top` leaves 1,000.
    assert f"The picture shows the 100 kernels with the longest times, of {min(n, 1000):,}." in reader.words
    longest = table["name"][int(np.argmax(table["time"]))]
    assert longest in reader.words
    assert svg_of(reader).count("<path") >= 100


def test_long_names_leave_it_small() -> None:
    html = fallback(rw.roofline([CHIP], measured(200, "a kernel with a name " + "of many letters " * 200 + "{}")))
    assert len(html) <= 30_000
    assert "<img" in html


def test_planned_kernels_on_many_chips_have_a_picture() -> None:
    chips = ["h100-sxm", "b200", "a100-sxm-80gb", "mi300x", "tpu-7x", "v6e", "v5p", "v5e", "tpu-v4"]
    planned = [(f"kernel {row}", 1e12, 1e9 * (row + 1)) for row in range(20)]
    widget = rw.roofline(chips, planned, shown=chips)
    html = fallback(widget)
    assert len(html) <= 30_000
    assert "<img" in html
    assert "The picture shows the first 5 kernels, of 20." in html


def test_hostile_names_are_text() -> None:
    name = '"><script>alert(1)</script>'
    chip = rw.Chip(name, {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
    reader = read(fallback(rw.roofline([chip], [(name, 4e12, 1e10, 0.08)], title=name)))
    assert set(reader.tags) <= {
        "div",
        "img",
        "p",
        "strong",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
    }
    assert (reader.image["alt"] or "").startswith(f"{name}: {name} runs at 50 % of its roof")
    assert name in reader.words


def test_a_selected_kernel_and_a_moved_one_keep_their_marks() -> None:
    table = measured(300)
    row = int(np.argmax(table["time"]))
    widget = rw.roofline([CHIP], table)
    plain = svg_of(read(fallback(widget)))
    widget.selected = [row]
    selected = svg_of(read(fallback(widget)))
    assert selected != plain
    widget.selected = []
    assert svg_of(read(fallback(widget))) == plain
    widget.move(row, bytes=0.5)
    assert svg_of(read(fallback(widget))) != plain


def test_without_chips_or_kernels_there_is_a_picture_and_no_table() -> None:
    assert read(fallback(rw.roofline([CHIP]))).tags == ["div", "img"]
    assert read(fallback(rw.roofline([], KERNELS))).tags == ["div", "p", "strong", "img"]


def test_a_focus_chip_without_the_precision_leaves_the_picture() -> None:
    other = rw.Chip("Two", {"fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s"})
    widget = rw.roofline([CHIP, other], KERNELS, precision="fp8", focus_chip="one")
    assert read(fallback(widget)).tags == ["div", "p", "strong", "img"]


def test_a_fault_in_the_picture_leaves_the_widget(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(engine._ENGINES.drawing, "en", lambda order: order[:10])
    bundle = rw.roofline([CHIP], KERNELS)._repr_mimebundle_()
    assert bundle is not None
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]
    assert "the picture beside the widget is missing" in caplog.text


def test_without_the_engine_there_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    monkeypatch.setattr(engine._ENGINES, "drawing", {})
    html = fallback(rw.roofline([CHIP], KERNELS))
    assert "<img" not in html
    assert re.search("<td>[^<]*compute</td>", html)


@pytest.mark.parametrize("case", golden("open_questions.json")["cases"], ids=lambda case: str(case["question"]))
def test_an_open_question_hides_the_verdict_and_the_numbers_that_the_golden_file_says(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The texts do not need the pixels.
    monkeypatch.setattr(rw.RooflineModel, "to_png", lambda _: b"")
    model = rw.RooflineModel(["v5p"], [rw.Kernel("matmul", 4e12, 1e10, 80e-3)])
    assert "matmul runs at" in model.fallback_html()
    rw.Story(model, [rw.Question(key="q", prompt="What is it?", answer=400.0, **case["question"])])
    html, words = model.fallback_html(), str(model.snapshot()._repr_mimebundle_()["text/plain"])
    assert ("matmul runs at" in html, "matmul runs at" in words) == (not case["headline"], not case["headline"])
    assert ("<table" in html) is not case["numbers"]
