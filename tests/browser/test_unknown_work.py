"""The tab of unknown work: a person completes the rule of the longest operation, saves it and takes it back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import FilePayload, Locator, expect

import roofwidget as rw
from tests.browser.drawn import Drawn, shown
from tests.readers.test_work_rules import EXPERTS, op, trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported

MOE = "vllm::moe_forward"
FLOATS = ["float"] * 2
# 160 ms of kernels: 120 ms of experts, 30 ms of a sum, and 10 ms of a product whose work is known.
TRACE = trace(
    op(MOE, 1, [("experts", 60_000)], **EXPERTS),
    op(MOE, 70_000, [("experts", 60_000)], **EXPERTS),
    op(
        "aten::mm",
        140_000,
        [("gemm", 10_000)],
        **{"Input Dims": [[512, 1024], [1024, 256]], "Input type": ["float"] * 2},
    ),
    op("mine::sum", 160_000, [("sum", 30_000)], **{"Input Dims": [[1000, 100]], "Input type": ["float"]}),
)
CELL = """import roofwidget as rw
chip = rw.Chip("Example", {{"bf16": "100 TFLOP/s", "fp32": "50 TFLOP/s"}}, {{"HBM": "1 TB/s"}})
w = rw.roofline([chip], {path!r})
w"""
RULE = (
    f'"{MOE}" = {{ op = "moe", x = 0, experts = "dims[1][1]", active = 4, ffn = 2880, d = 2880, weight_bits = 4.25 }}'
)
FLOPS = 6 * 8192 * 4 * 2880 * 2880


def tab(drawn: Drawn) -> Locator:
    """Open the tab, and return its panel."""
    drawn.get_by_role("tab", name=re.compile("^(Unknown|Unbekannt)")).click()
    return drawn.get_by_role("tabpanel")


def test_a_person_completes_a_rule_sees_what_it_says_saves_it_and_undoes_it(
    notebook: OpenNotebook, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(TRACE)
    book, drawn = shown(notebook, CELL.format(path=str(path)))
    root = drawn.root
    expect(root.locator("[data-rw=verdict]")).to_contain_text(re.compile(r"Only 6\.\d % of kernel time"))
    root.locator("[data-rw=verdict]").get_by_role("button", name="Type their work…").click()
    panel = drawn.get_by_role("tabpanel")
    expect(drawn.get_by_role("tab", name="Unknown 2")).to_have_attribute("aria-selected", "true")
    expect(panel.locator("tbody tr th")).to_have_text(["▾ vllm::moe_forward", "▸ mine::sum"])
    expect(panel).to_contain_text("Without work · 150 ms, 94 % of kernel time")
    rule = panel.get_by_role("textbox", name="Rule, for work.toml")
    says = panel.get_by_role("status")
    expect(rule).to_have_value(re.compile(r'^"vllm::moe_forward" = \{ op = "moe", .*active = "\?"'))
    expect(says).to_contain_text('Write a number or an expression for "?": active, ffn')
    save = panel.get_by_role("button", name="Save to work.toml")
    expect(save).to_have_attribute("aria-disabled", "true")
    rule.fill(RULE.replace("x = 0", "x = 5"))
    expect(says).to_have_text("▲ Line 1: 'vllm::moe_forward' for vllm::moe_forward: x = 5: input 5 is not a tensor")
    expect(rule).to_have_attribute("aria-invalid", "true")
    drawn.becomes("dict(w.rules)", {})
    rule.fill(RULE)
    expect(says).to_contain_text("1.63 TFLOP a call · 3.26 TFLOP in all")
    expect(says).to_contain_text("27.2 TFLOP/s · 27 % of peak · 27 % of roof · Example bf16")
    expect(says).to_contain_text(re.compile(r"Known kernel time: 6\.\d % → 81 %"))
    expect(says).to_contain_text("Not in the trace: active, ffn, d, weight_bits.")
    expect(panel).to_contain_text("Without work · 30 ms, 19 % of kernel time")
    drawn.becomes("dict(w.rules)", {MOE: RULE})
    expect(root.locator("[data-rw=verdict]")).not_to_contain_text("Only")
    assert book.python("float(w.shown_kernels.flops[[*w.kernels.names].index('vllm::moe_forward')])") == 2 * FLOPS
    save.click()
    expect(root.locator(".rw-status")).to_contain_text("Saved to work.toml")
    assert path.with_name("work.toml").read_text(encoding="utf-8") == f"{RULE}\n"
    drawn.button("Undo").click()
    drawn.becomes("dict(w.rules)", {})
    expect(root.locator("[data-rw=verdict]")).to_contain_text("Only")
    expect(rule).to_have_value(re.compile('active = "\\?"'))
    drawn.button("Redo").click()
    drawn.becomes("dict(w.rules)", {MOE: RULE})
    expect(rule).to_have_value(RULE)
    panel.get_by_role("button", name="Discard").click()
    drawn.becomes("dict(w.rules)", {})
    book.python(f"setattr(w, 'rules', {{{MOE!r}: {RULE!r}}})")
    expect(rule).to_have_value(RULE)
    expect(panel.locator("tbody tr th").first).to_contain_text("has a rule")


def test_rules_keep_what_is_selected_and_are_opened_from_a_file(notebook: OpenNotebook, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(TRACE)
    book, drawn = shown(notebook, CELL.format(path=str(path)))
    book.python("[setattr(w, 'selected', [0]), setattr(w, 'moves', {1: {'bytes': 0.5}})]")
    panel = tab(drawn)
    both = f'{RULE}\n"mine::*" = {{ flops = 7 }}\n'
    file = FilePayload(name="work.toml", mimeType="text/plain", buffer=both.encode())
    panel.locator("input[type=file]").set_input_files(file)
    drawn.becomes("sorted(w.rules)", ["mine::*", MOE])
    panel.get_by_role("button", name="mine::*").click()
    expect(panel.get_by_role("status")).to_contain_text("7 FLOP a call · 7 FLOP in all")
    panel.get_by_role("button", name="Discard").click()
    drawn.becomes("sorted(w.rules)", [MOE])
    assert book.python("[list(w.selected), {k: dict(v) for k, v in w.moves.items()}]") == [[0], {"1": {"bytes": 0.5}}]
    drawn.button("Undo").click()
    drawn.becomes("sorted(w.rules)", ["mine::*", MOE])


def test_a_file_is_downloaded_if_python_does_not_know_where_the_profile_is(
    notebook: OpenNotebook, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(TRACE)
    _, drawn = shown(notebook, CELL.format(path=str(path)).replace(f"{str(path)!r})", f"rw.read({str(path)!r}))"))
    panel = tab(drawn)
    panel.get_by_role("textbox").fill(RULE)
    expect(panel.get_by_role("status")).to_contain_text("in all")
    with drawn.page.expect_download() as download:
        panel.get_by_role("button", name="Save to work.toml").click()
    assert download.value.suggested_filename == "work.toml"
    assert Path(download.value.path()).read_text(encoding="utf-8") == f"{RULE}\n"
    assert not path.with_name("work.toml").exists()


@pytest.mark.parametrize("width", [1280, 480])
def test_a_page_without_python_shows_the_rule_to_copy(
    exported: Callable[..., Exported], tmp_path: Path, width: int
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(TRACE)
    html = rw.roofline(["mi300x"], path, locale="de").to_html()
    drawn = exported(html, viewport={"width": width, "height": 900}).drawn
    panel = tab(drawn)
    expect(panel.get_by_role("columnheader")).to_have_text(
        ["Operation", "Zeit", "Anteil", "Aufrufe"][: 3 + (width > 600)]
    )
    expect(panel.get_by_role("textbox")).to_have_attribute("readonly", "")
    expect(panel).to_contain_text("Regeln liest Python")
    expect(panel.get_by_role("button", name="Kopieren")).to_be_visible()
    expect(panel.get_by_role("button", name="In work.toml sichern")).to_have_count(0)
    panel.get_by_role("button", name="mine::sum").click()
    expect(panel.get_by_role("button", name=MOE)).to_have_attribute("aria-expanded", "false")
    expect(panel.get_by_role("textbox")).to_have_value(re.compile('^"mine::sum"'))
