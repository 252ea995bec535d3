"""The page of operators says what the operators say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_operators.py"))


def test_the_page_is_up_to_date(maker: dict[str, Any]) -> None:
    assert maker["page"]() == (DOCS / "operators.md").read_text(encoding="utf-8"), "run: python docs/make_operators.py"


def test_every_operator_is_on_the_page(maker: dict[str, Any]) -> None:
    assert maker["missing"]() == set()


def test_a_row_shows_the_formulas(maker: dict[str, Any]) -> None:
    assert "| `matmul(a[M, K], b[K, N])` | 2·M·N·K | 2·M·K + 2·K·N + 2·M·N | matmul |" in maker["page"]()
