"""Work that a person types for kernels without, with a kernel of Python and on a page without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.drawn import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported

CELL = """import roofwidget as rw
chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
w = rw.roofline([chip], [rw.Kernel("gemm", 1e14, 1e11, time=2), rw.Kernel("flash_fwd", None, None, time=6, count=3)])
w"""


def test_a_rule_gives_a_kernel_without_an_operation_its_point_in_page_and_python(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, CELL)
    root = drawn.root
    expect(root.locator("[data-rw=inspector]")).to_contain_text("1 kernel has no FLOPs or bytes (75 % of kernel time).")
    root.get_by_role("button", name="Type its work…").click()
    rule = drawn.get_by_role("tabpanel").get_by_role("textbox", name="Rule, for work.toml")
    expect(rule).to_have_value('"flash_fwd" = { flops = "?", bytes = "?" }')
    rule.fill('"flash_fwd" = { flops = "100 TFLOP", bytes = "100 GB" }')
    expect(drawn.get_by_role("tabpanel")).to_contain_text("100 TFLOP a call · 300 TFLOP in all")
    drawn.becomes("list(w.rules)", ["flash_fwd"])
    assert book.python("[w.shown_kernels.origin['flops'][1], float(w.bound().utilization[1])]") == [
        'work.toml:1 "flash_fwd": 100000000000000.0',
        0.5,
    ]
    book.python("[setattr(w, 'rules', {}), setattr(w, 'typed_work', {1: {'flops': 0, 'bytes': '6 TB'}})]")
    drawn.eventually(lambda: "compute" in book.python("w.bound().bound_by.tolist()"))


@pytest.mark.parametrize("width", [1280, 480])
def test_work_is_typed_on_a_page_without_python(exported: Callable[..., Exported], width: int) -> None:
    chip = rw.Chip("Example", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
    kernels = [rw.Kernel("gemm", 1e14, 1e11, time=2), rw.Kernel("flash_fwd", 1e14, None, time=6)]
    drawn = exported(
        rw.roofline([chip], kernels, locale="de").to_html(), viewport={"width": width, "height": 900}
    ).drawn
    drawn.button("Arbeit eingeben …").click()
    moved = drawn.get_by_role("textbox", name="Bytes", exact=True)
    expect(moved).to_be_focused()
    # The FLOPs are known.
    expect(drawn.locator(".rw-work input")).to_have_count(1)
    moved.fill("0,1 TB")
    drawn.press("Enter")
    expect(moved).to_have_value("100 GB")
    expect(drawn.locator(".rw-formula + .rw-spoken")).to_contain_text("rechengebunden")
    drawn.button("Eingegebene Bytes entfernen").click()
    expect(drawn.locator(".rw-formula + .rw-spoken")).not_to_contain_text("rechengebunden")


def test_the_work_of_an_int8_kernel_is_typed_in_operations(exported: Callable[..., Exported]) -> None:
    chip = rw.Chip("Example", {"bf16": "100 TFLOP/s", "int8": "200 TOP/s"}, {"HBM": "1 TB/s"})
    kernels = [rw.Kernel("gemm", 1e14, 1e11, time=2), rw.Kernel("qgemm", None, 1e11, time=6, precision="int8", count=3)]
    drawn = exported(rw.roofline([chip], kernels).to_html()).drawn
    drawn.button("Type its work…").click()
    typed = drawn.get_by_role("textbox", name="Operations of one launch", exact=True)
    expect(typed).to_have_attribute("placeholder", "e.g. 4 TOP")
    typed.fill("600")
    drawn.press("Enter")
    expect(typed).to_have_value("600 OP")
    typed.fill("600 TOP")
    drawn.press("Enter")
    expect(drawn.locator(".rw-work")).to_contain_text("3 launches: 1.8 POP")
    drawn.button("Remove the typed operations").click()
    expect(typed).to_have_value("")
