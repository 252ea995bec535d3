"""Notebooks that an earlier version saved with their widgets show them as they were, before anything has run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.browser.lab import RESTORE_ATTEMPTS
from tests.saved_state import saved

VERSIONS: Final = sorted({path.parent for path in saved.PATHS})


@pytest.fixture(params=VERSIONS, ids=lambda folder: folder.name)
def version(request: pytest.FixtureRequest) -> Path:
    """Return the folder of what a version saved."""
    folder: Path = request.param
    return folder


def opened(notebook: OpenNotebook, path: Path, *, view: int = 0) -> Drawn:
    """Return a widget of a saved notebook, of which no cell has run."""
    for _ in range(RESTORE_ATTEMPTS):
        book = notebook(["raise RuntimeError('nobody runs this')"], height=1400, saved=saved.whole(path))
        if not book.lost_saved_widgets():
            break
    drawn = Drawn(book, view)
    assert book.python("'roofwidget' in __import__('sys').modules") is False
    return drawn


def shows(drawn: Drawn, labels: dict[str, str]) -> None:
    """Wait until labels of the chart, by their keys, say this."""
    for key, said in labels.items():
        expect(drawn.locator(f"text[data-label='{key}']")).to_have_text(said)


def chips(drawn: Drawn) -> dict[str, str | None]:
    """Return the chips that can be shown and whether they are."""
    toggles = drawn.button("Show ").all()
    names = [(toggle.get_attribute("aria-label") or "", toggle.get_attribute("aria-pressed")) for toggle in toggles]
    return {name.removeprefix("Show "): pressed for name, pressed in names if name.startswith("Show ")}


def test_kernels_are_drawn_under_the_roofs_of_the_chips_that_were_shown(notebook: OpenNotebook, version: Path) -> None:
    drawn = opened(notebook, version / "kernels.json")
    expect(drawn.root.get_by_text("15 % less time: 125 ms before, 106 ms now.")).to_be_visible()
    roofs = {"roof small": "Small 100 TFLOP/s", "roof large": "Large 400 TFLOP/s", "level L2": "L2 · 10 TB/s"}
    shows(drawn, {**roofs, "run 2": "+50 %"})
    changes = drawn.get_by_role("tabpanel", name="Changes").locator("[data-rw=row]")
    expect(changes.nth(0)).to_contain_text("−33 %")
    expect(changes.nth(1)).to_contain_text("+50 %")
    assert {"Small": "true", "Large": "true", "Hidden": "false"}.items() <= chips(drawn).items()
    assert drawn.sentence().startswith("gelu on Small · min(100 TFLOP/s, HBM 0.25 FLOP/B × 1 TB/s, L2 0.25 FLOP/B")
    drawn.open_tab("kernels")
    drawn.button("All columns").click()
    table = drawn.get_by_role("region", name="All columns").get_by_role("grid")
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert [head.split("\n")[0].strip().casefold() for head in heads][-1] == "module"
    expect(table.get_by_role("row").nth(1)).to_contain_text("matmul.1")


def test_a_graph_is_merged_and_counted_as_it_was(notebook: OpenNotebook, version: Path) -> None:
    drawn = opened(notebook, version / "graph.json")
    # Two kernels are at one place.
    shows(drawn, {"kernel 0": "expand + act +1"})
    expect(drawn.locator("[data-op]")).to_have_count(4)
    assert "111 FLOP/B × 1 TB/s" in drawn.sentence()
    drawn.open_tab("workload")
    settings = [drawn.get_by_role("combobox", name=name) for name in ("Phase", "Convention", "dtype")]
    assert [setting.input_value() for setting in settings] == ["decode", "torch", "fp8"]
    expect(drawn.get_by_role("textbox", name="batch, typed")).to_have_value("64")


def test_what_ifs_snapshots_and_filters_are_in_force(notebook: OpenNotebook, version: Path) -> None:
    drawn = opened(notebook, version / "what_ifs.json")
    expect(drawn.box("peak")).to_have_value("600 TFLOP/s")
    expect(drawn.box("bandwidth")).to_have_value("3 TB/s")
    shows(drawn, {"snapshot 0": "before", "moved peak": "peak 1.5×", "sub exposed 0.2": "20 % exposed"})
    expect(drawn.locator("[data-snapshot='0']")).to_have_count(1)
    expect(drawn.locator("[data-label='move 0']")).to_contain_text("2× less traffic · 40 → 32 ms")
    expect(drawn.locator("[data-rw=tab-kernels]")).to_have_text("Kernels 1 / 7")
    kernels = drawn.get_by_role("tabpanel", name="Kernels")
    expect(kernels).to_contain_text("1 selected · 40 ms, 38 % of kernel time")
    expect(kernels).to_contain_text("1 what-if · Remove")
    kernels.get_by_role("button", name="Clear", exact=True).click()
    expect(kernels.get_by_role("searchbox")).to_have_value("matmul")
    assert drawn.label("ridge large") == "ridge 0.0025"


def test_the_time_view_is_as_large_as_it_was(notebook: OpenNotebook, version: Path) -> None:
    drawn = opened(notebook, version / "time_view.json")
    expect(drawn.locator(".rw-frame")).to_have_class("rw-frame rw-large")
    shows(drawn, {"diagonal": "Small: compute = memory", "kernel 7": "program", "kernel 9": "step 2"})
    ticks = drawn.locator(".rw-axes text").all_text_contents()
    assert {"0 s", "40 ms"} <= set(ticks)
    assert "100 ms" not in ticks


def test_a_german_widget_speaks_german(notebook: OpenNotebook, version: Path) -> None:
    drawn = opened(notebook, version / "german.json")
    expect(drawn.locator("[lang=de]")).to_have_count(1)
    expect(drawn.locator("[data-rw=tab-kernels]")).to_have_text("Kernel 7")
    expect(drawn.locator("[data-rw=source]")).to_contain_text("7 Kernel auf Small")
    shows(drawn, {"ridge small": "Ridge 150"})
    expect(drawn.get_by_role("textbox", name="Spitze bf16, eingetippt")).to_have_value("150 TFLOP/s")
    assert drawn.sentence().startswith("Small · 150 TFLOP/s (×1,5) bei bf16")


@pytest.mark.parametrize("case", ["shared_code", "inline"])
def test_widgets_draw_and_change_wherever_their_code_is_from(notebook: OpenNotebook, version: Path, case: str) -> None:
    first = opened(notebook, version / f"{case}.json")
    views = [first, *([Drawn(first.book, 1)] if case == "shared_code" else [])]
    assert sorted(next(iter(chips(drawn))) for drawn in views) == ["Large", "Small"][-len(views) :]
    for drawn in views:
        shows(drawn, {"kernel 0": "product"})
        before = drawn.locator(".rw-roof").first.get_attribute("d") or ""
        drawn.drag("bandwidth", 0.2)
        expect(drawn.locator(".rw-roof").first).not_to_have_attribute("d", before)
    styles = first.page.evaluate("() => document.querySelectorAll('style[data-roofwidget]').length")
    assert styles == (case == "shared_code")


@pytest.mark.parametrize("path", saved.of_case("typed_work"), ids=saved.title)
def test_typed_work_and_added_chips_are_drawn(notebook: OpenNotebook, path: Path) -> None:
    drawn = opened(notebook, path)
    expect(drawn.locator("[data-rw=status]")).not_to_contain_text("not drawn")
    expect(drawn.get_by_role("tabpanel", name="Kernels")).not_to_contain_text("no FLOPs or bytes")
    assert {"Small": "true", "Large": "true", "NVIDIA H100 SXM5 80GB": "true"}.items() <= chips(drawn).items()
    expect(drawn.get_by_role("combobox", name="Colour")).to_have_value("time")
    expect(drawn.locator("[data-tool=view]")).to_have_accessible_name("View: Roofline")


@pytest.mark.parametrize("path", saved.of_case("lesson"), ids=saved.title)
def test_a_lesson_is_at_its_step_with_its_answers(notebook: OpenNotebook, path: Path) -> None:
    drawn = opened(notebook, path)
    story = drawn.locator(".rw-story")
    for said in ("Where is the knee of Small?", "Step 3 of 3", "Not yet: too large.", "1 answer"):
        expect(story).to_contain_text(said)
    expect(drawn.box("bandwidth")).to_have_value("2 TB/s")
    # The open question asks for it.
    expect(drawn.locator("text[data-label='ridge small']")).to_have_count(0)
    expect(drawn.locator("text[data-label='kernel 2']")).to_have_count(0)
    expect(drawn.locator("[data-tool=precision]")).to_have_attribute("aria-disabled", "true")
    expect(drawn.button("Open", exact=True)).to_have_count(0)
