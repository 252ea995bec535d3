"""Pictures of a model as SVG, PNG and PDF, made by Python alone."""

from __future__ import annotations

import gc
import io
import multiprocessing
import re
import sys
import threading
import time
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

import roofwidget as rw
from roofwidget import RooflineModel
from roofwidget.export import engine, pictures
from tests.processes import run_python

CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s", "L2": "10 TB/s"})
KERNELS = [
    {"name": "matmul", "flops": 4e12, "bytes": 1e10, "time": 0.08, "category": "gemm"},
    {"name": "copy", "flops": 0, "bytes": 1e9, "time": 2e-3},
    {"name": "norm", "flops": 5e9, "bytes": 1.6e9, "category": "norm"},
]
HOSTILE = [
    "</text><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "a\x00b\x0bc\ud800d\uffff",
    "\u202eright to left",
    "&lt;&#0;]]>",
    "x" * 1_000_000,
]
SVG = "{http://www.w3.org/2000/svg}"


def model(**traits: Any) -> RooflineModel:
    return RooflineModel([CHIP], KERNELS, **traits)


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own


def test_the_svg_has_title_names_ridge_point_and_regions_and_ends_with_the_legend() -> None:
    found = texts(model(title="Before fusion").to_svg())
    assert found[0] == "Before fusion"
    assert {"matmul", "copy", "gemm", "norm", "One 100 TFLOP/s", "ridge 100"} <= set(found)
    assert {"◂ memory-bound", "compute-bound ▸"} <= set(found)
    assert found[-3:] == ["gemm", "no category", "norm"]


def test_a_picture_of_a_german_model_is_german() -> None:
    assert "speichergebunden" in " ".join(texts(model(locale="de").to_svg()))


def test_the_same_state_always_gives_the_same_text() -> None:
    code = (
        "import roofwidget as rw\n"
        "print(rw.RooflineModel(['v5p'], [('matmul', 4e12, 1e10, 0.08), ('copy', 0, 1e9, 2e-3)]).to_svg())"
    )
    runs = {run_python(code) for _ in range(2)}
    assert len(runs) == 1


def test_a_what_if_and_a_filter_are_in_the_picture() -> None:
    changed = model()
    plain = changed.to_svg()
    changed.peak_flops = "200 TFLOP/s"
    assert "ridge 200" in texts(changed.to_svg())
    changed.reset()
    assert changed.to_svg() == plain
    changed.search = "matmul"
    assert "copy" not in texts(changed.to_svg())


def test_a_graph_is_drawn_by_its_partition() -> None:
    graph = rw.chain([("LayerNorm", 10), ("GELU", 8), ("Add", 1)], elements=1_000_000)
    shown = RooflineModel([CHIP], graph=graph)
    unfused = shown.to_svg()
    shown.partition = [[graph.ops[0].name, graph.ops[1].name], *[[op.name] for op in graph.ops[2:]]]
    assert shown.to_svg() != unfused


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_text_in_valid_xml(name: str) -> None:
    chip = rw.Chip(name[:200], {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
    shown = RooflineModel([chip], [{**KERNELS[0], "name": name, "category": name}], title=name[:200])
    root = ET.fromstring(shown.to_svg())  # noqa: S314 - our own
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "rect", "g", "path", "text", "tspan", "circle", "line", "clipPath", "defs"}
    assert not any(key.startswith("on") for element in root.iter() for key in element.keys())  # noqa: SIM118


@pytest.mark.parametrize(
    "chip",
    [
        rw.Chip("x" * 10_000, {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"}),
        CHIP.with_ceiling("x" * 10_000, peak_flops="50 TFLOP/s"),
        CHIP.replace(memories={"HBM": "1 TB/s", "x" * 10_000: "10 TB/s"}),
    ],
    ids=["chip", "ceiling", "level"],
)
def test_a_long_name_of_a_roof_takes_no_long_time(chip: rw.Chip) -> None:
    shown = RooflineModel([chip], KERNELS, memory="all", all_levels=True)
    start = time.process_time()
    shown.to_svg()
    assert time.process_time() - start < 2


def test_width_and_height_are_those_of_the_whole_picture() -> None:
    root = ET.fromstring(model(title="A title").to_svg(width=336, height=400))  # noqa: S314 - our own
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("336", "400", "0 0 336 400")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": 100}, "width is 100 px; it must be from 200 to 10,000 px"),
        ({"height": 20_000}, "height is 20000 px; it must be from 200 to 10,000 px"),
        ({"theme": "drak"}, "theme is 'light' or 'dark', not 'drak'; did you mean 'dark'?"),
    ],
)
def test_an_impossible_picture_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        model().to_svg(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": "3.5in"}, "width in px must be a number, got '3.5in'"),
        ({"height": True}, "height in px must be a number, got True"),
        ({"dpi": "300"}, "dpi must be a number, got '300'"),
    ],
)
def test_a_size_that_is_no_number_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
        model().to_png(**options)


def test_a_png_has_its_scale_or_its_dots_per_inch() -> None:
    shown = model()
    plain = Image.open(io.BytesIO(shown.to_png(width=400, height=300)))
    assert (plain.size, "dpi" in plain.info) == ((800, 600), False)
    printed = Image.open(io.BytesIO(shown.to_png(width=336, height=300, dpi=300)))
    assert printed.size == (1050, 938)
    assert printed.info["dpi"] == pytest.approx((300, 300), abs=0.01)
    assert Image.open(io.BytesIO(shown.to_png(width=400, height=300, scale=1))).size == (400, 300)
    with pytest.raises(TypeError, match="scale or dpi, not both"):
        shown.to_png(scale=1, dpi=300)
    with pytest.raises(ValueError, match="dpi is -1; it must be above 0"):
        shown.to_png(dpi=-1)
    with pytest.raises(ValueError, match=r"a PNG of [\d,]+ pixels is too large"):
        shown.to_png(scale=100)


def test_a_dark_png_is_dark() -> None:
    dark = Image.open(io.BytesIO(model().to_png(theme="dark"))).convert("RGB")
    assert dark.getpixel((0, 0)) == (17, 17, 17)


def test_a_png_has_letters_on_a_machine_without_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    import resvg_py  # noqa: PLC0415  # only here

    drawn = resvg_py.svg_to_bytes
    monkeypatch.setattr(resvg_py, "svg_to_bytes", lambda **options: drawn(skip_system_fonts=True, **options))
    with_letters = Image.open(io.BytesIO(model().to_png(width=400, height=300)))
    monkeypatch.setattr(pictures, "_fonts", list)
    without = Image.open(io.BytesIO(model().to_png(width=400, height=300)))

    def dark(image: Image.Image) -> int:
        return sum(image.convert("L").histogram()[:100])

    assert dark(with_letters) > dark(without) + 500


def test_a_pdf_has_the_size_and_the_title_and_always_the_same_bytes() -> None:
    shown = model(title="Before fusion")
    pdf = shown.to_pdf(width=400, height=320)
    assert pdf.startswith(b"%PDF-")
    assert b"/MediaBox[0 0 300 240]" in pdf
    assert b"Before fusion" in pdf
    assert pdf == shown.to_pdf(width=400, height=320)


def test_a_picture_does_not_collect_the_garbage_of_python() -> None:
    shown, generations = model(), []
    shown.to_svg()
    gc.collect()

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    gc.callbacks.append(note)
    try:
        shown.to_svg()
    finally:
        gc.callbacks.remove(note)
    assert 2 not in generations


def test_threads_and_forked_processes_draw_the_same_picture() -> None:
    shown, svgs = model(), []
    expected = shown.to_svg()
    threads = [threading.Thread(target=lambda: svgs.append(shown.to_svg())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert svgs == [expected] * 4
    if sys.platform == "linux":
        receiver, sender = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=lambda: sender.send(shown.to_svg()))
        child.start()
        assert receiver.poll(60)
        assert receiver.recv() == expected
        child.join()


def test_without_the_engine_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    monkeypatch.setattr(engine._ENGINES, "drawing", {})
    with pytest.raises(ImportError, match="pip install quickjs-ng"):
        model().to_svg()


def test_an_engine_that_cannot_start_is_told_by_a_picture_and_not_in_the_background(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_language: str) -> Any:
        raise ArithmeticError("broken")

    monkeypatch.setattr(engine, "_started", broken)
    engine._ENGINES.forget()
    engine._warm_up("en")
    with pytest.raises(ArithmeticError):
        model().to_svg()
