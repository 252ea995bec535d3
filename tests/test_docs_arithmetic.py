"""Pages of the documentation with arithmetic: every example in them runs and prints what the page says."""

from __future__ import annotations

import doctest
import runpy

import pytest

from tests.places import DOCS, text_of

PAGES = {"agents.md": 3, "arithmetic.md": 20, "serving.md": 12, "speed_of_light.md": 7, "why.md": 6}


@pytest.mark.parametrize(("name", "least"), PAGES.items())
def test_every_example_of_the_page_prints_what_the_page_says(name: str, least: int) -> None:
    text = text_of(DOCS / name)
    results = doctest.testfile(str(DOCS / name), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted == text.count("\n>>> ") > least


@pytest.mark.parametrize("name", PAGES)
def test_every_fenced_example_is_one_that_is_run(name: str) -> None:
    blocks = text_of(DOCS / name).split("```python\n")[1:]
    assert blocks
    # The empty line before the fence ends the expected output.
    assert all(block.startswith(">>> ") and "\n\n```" in block for block in blocks)


def test_the_tables_of_reasons_are_those_of_the_rules_and_columns() -> None:
    page = runpy.run_path(str(DOCS / "make_why.py"))["page"]
    text = text_of(DOCS / "why.md")
    assert page(text) == text
