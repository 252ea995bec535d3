"""Integers in an exported page: OP/s and OP/B on the axes, in sentences, tooltips and tables, in English and German."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

import roofwidget as rw
from tests.browser.drawn import Drawn, enter
from tests.browser.exported import Exported

Open = Callable[..., Exported]
CARD = rw.Chip("card", {"bf16": "100 TFLOP/s", "int8": "200 TOP/s"}, {"HBM": "1 TB/s"})
QUANTIZED = rw.Kernel("quantized", {"int8": 4e12}, 1e10, time=0.04)
MATMUL = rw.Kernel("matmul", {"bf16": 4e12}, 1e10, time=0.08)


def page(exported: Open, *kernels: rw.Kernel, locale: str = "en", **options: Any) -> Drawn:
    model = rw.RooflineModel([CARD], list(kernels), locale=locale, selected=[0], **options)
    return exported(model.to_html()).drawn


def titles(drawn: Drawn) -> list[str]:
    """Return the titles of both axes."""
    texts = drawn.locator(".rw-axes > text").all_text_contents()
    return [text for text in texts if text.endswith("OP/s") or "ntensit" in text]


@pytest.mark.parametrize(
    ("kernels", "across", "up"),
    [
        ([MATMUL], "FLOP per byte", "FLOP/s"),
        ([QUANTIZED], "OP per byte", "OP/s"),
        ([QUANTIZED, MATMUL], "FLOP per byte · OP per byte", "FLOP/s · OP/s"),
    ],
    ids=["FLOPs", "integers", "both"],
)
def test_the_axes_name_every_unit_of_the_chart(exported: Open, kernels: list[rw.Kernel], across: str, up: str) -> None:
    drawn = page(exported, *kernels)
    drawn.eventually(lambda: titles(drawn) == [up, f"arithmetic intensity, {across} →"])


def test_a_kernel_of_int8_is_told_in_operations_in_both_languages(exported: Open) -> None:
    drawn = page(exported, QUANTIZED)
    drawn.eventually(lambda: "min(200 TOP/s, 400 OP/B × 1 TB/s) = 200 TOP/s" in drawn.sentence())
    german = page(exported, QUANTIZED, locale="de")
    german.eventually(lambda: "min(200 TOP/s; 400 OP/B × 1 TB/s) = 200 TOP/s" in german.sentence())
    german.eventually(lambda: "arithmetische Intensität, OP pro Byte →" in titles(german))


def test_the_peak_of_an_integer_precision_is_typed_and_shown_in_operations(exported: Open) -> None:
    drawn = page(exported, QUANTIZED)
    box = drawn.get_by_role("textbox", name="Peak int8")
    expect(box).to_have_value("200 TOP/s")
    enter(box, "300 TOP/s")
    expect(box).to_have_value("300 TOP/s")
    drawn.eventually(lambda: "300 TOP/s" in drawn.sentence())
