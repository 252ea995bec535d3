"""The page on arithmetic: every example in it runs and prints what the page says."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/arithmetic.md"


def test_every_example_of_the_page_prints_what_the_page_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted == text.count("\n>>> ") > 20


def test_every_fenced_example_is_one_that_is_run() -> None:
    blocks = PAGE.read_text(encoding="utf-8").split("```python\n")[1:]
    assert blocks
    # The empty line before the fence ends the expected output.
    assert all(block.startswith(">>> ") and "\n\n```" in block for block in blocks)
