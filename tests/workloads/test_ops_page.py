"""The generated page of operators is up to date, and every operator has a source."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest

from roofwidget.workloads.ops.sources import SOURCES
from roofwidget.workloads.registry import built_in
from tests.places import DOCS, text_of


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_operators.py"))


@pytest.fixture(scope="module")
def page(maker: dict[str, Any]) -> str:
    return str(maker["page"]())


def test_the_page_is_up_to_date(page: str) -> None:
    assert page == text_of(DOCS / "operators.md"), "run: python docs/make_operators.py"


def test_every_operator_is_on_the_page(maker: dict[str, Any]) -> None:
    assert maker["missing"]() == set()


def test_a_row_shows_the_formulas(page: str) -> None:
    assert "| `matmul(a[M, K], b[K, N])` | 2·M·N·K | 2·M·K + 2·K·N + 2·M·N | matmul |" in page


def test_every_built_in_operator_has_a_source_and_no_other_name_has_one() -> None:
    assert set(SOURCES) == built_in()


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_a_work_with_its_year_a_program_or_the_convention(name: str) -> None:
    source = SOURCES[name]
    assert re.search(r"\b(19|20)\d\d\b|^by the convention in force: |HloCostAnalysis|benchFFT", source)
    assert not re.search(r"\n|  |\.$", source), "one line, without the stop that the page adds"


@pytest.mark.parametrize("name", SOURCES)
def test_the_page_shows_the_source_of_every_operator(page: str, name: str) -> None:
    lines = [line for line in page.splitlines() if line.endswith(f". Source: {SOURCES[name]}.")]
    assert any(f"`{name}`" in line.partition(". Source: ")[0] for line in lines)


def test_the_page_tells_how_many_operators_there_are(page: str) -> None:
    assert f"\nThe {len(SOURCES)} operators of `rw.Graph`" in page
