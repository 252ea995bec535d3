"""docs/readers.md is generated from the readers' doc strings."""

from __future__ import annotations

import runpy
from importlib import import_module
from typing import Any

import pytest

from roofwidget.readers import FORMATS
from tests.places import DOCS, text_of


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_readers.py"))


def test_the_page_is_up_to_date(maker: dict[str, Any]) -> None:
    assert maker["page"]() == text_of(DOCS / "readers.md"), "run: python docs/make_readers.py"


@pytest.mark.parametrize("name", FORMATS)
def test_every_reader_has_a_section_with_its_call(maker: dict[str, Any], name: str) -> None:
    page, module = maker["page"](), import_module(name)
    section = page.partition(f"\n## {module.FORMAT}\n")[2].partition("\n## ")[0]
    assert "`rw.read(path" in section
    assert len(section.split()) > 50, "how to make the file, and the rule behind each number"


def test_texts_of_the_readers_become_markdown(maker: dict[str, Any]) -> None:
    text = "First::\n\n    code ``x``\n\ntime\n    ``t``, else\n    cycles.\n\nLast ``word``."
    expected = "First:\n\n    code `x`\n\n- **time**:\n  `t`, else\n  cycles.\n\nLast `word`."
    assert maker["_markdown"](text) == expected
