"""What a page with the widgets of `tests.hostile_labels` must show, and what a spreadsheet must not calculate."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import pytest
from playwright.sync_api import Locator, Page, expect

from roofwidget.support.text_tables import without_controls, without_surrogates
from tests.environments import ROOT
from tests.hostile_labels import TEXTS, short

ALL: Final = os.environ.get("ROOFWIDGET_HOSTS", "") == "all"
"""Whether all pictures are opened, not a third of them."""
CELL: Final = f"""import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
import hostile_labels
for widget in (hostile_labels.described(), hostile_labels.merged(), hostile_labels.asked()):
    display(widget)"""
"""A cell that shows all three widgets."""
TALLY: Final = "hostile labels"
"""Under this name a test records the place that it tried, how many scripts ran, and how many files were invalid."""
HAS_RUN: Final = "() => window.PWNED !== undefined"
FORMULA: Final = re.compile("[=+\\-@\t\r\n\0\uff1d\uff0b\uff0d\uff20]")
NUMBER: Final = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")

# What no text may become.
FOREIGN: Final = """() => [...document.querySelectorAll('.roofwidget *')].filter((element) =>
  /^(?:script|img|image|iframe|object|embed|base|link|meta|form|foreignobject)$/i.test(element.tagName) ||
  [...element.attributes].some(({ name }) => /^on/i.test(name)) ||
  (element.href !== undefined && !/^https?:/.test(element.href))
).map((element) => element.outerHTML.slice(0, 200))"""
# The rows of a table, of which only those in sight are drawn: the titles of names, and categories.
ROWS: Final = """async (grid) => {
  const found = new Map();
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let top = 0; top <= grid.scrollHeight; top += grid.clientHeight / 2) {
    grid.scrollTop = top;
    await drawn();
    for (const row of grid.querySelectorAll('[role=row]:has([role=rowheader])')) {
      const [name] = row.querySelectorAll('[role=rowheader]');
      found.set(row.id.replace(/.*-/, ''), [name.title, row.querySelector('[data-column=category]').textContent]);
    }
  }
  return [...found].sort(([one], [other]) => one - other).map(([, texts]) => texts);
}"""


def summary(reports: Sequence[pytest.TestReport]) -> str:
    """Return the sum of all tests that noted numbers, or "" if none did."""
    noted: list[Any] = [value for report in reports for name, value in report.user_properties if name == TALLY]
    if not noted:
        return ""
    scripts, invalid = sum(entry[1] for entry in noted), sum(entry[2] for entry in noted)
    places = ", ".join(entry[0] for entry in noted)
    return f"hostile labels, {len(TEXTS)} × {len(noted)}: scripts {scripts}, invalid files {invalid} ({places})"


class Tally:
    """Notes for one place how many scripts ran and how many files were invalid, and fails unless there were none."""

    def __init__(self, node: pytest.Item, place: str) -> None:
        self._node = node
        self._place = place

    def __call__(self, *, scripts: int = 0, invalid: int = 0) -> None:
        """Note the numbers."""
        self._node.user_properties.append((TALLY, [self._place, scripts, invalid]))
        assert (scripts, invalid) == (0, 0)


TallyOf: TypeAlias = Callable[[str], Tally]
"""Returns what notes the numbers of a place; the fixture `tally`."""


def check_widgets(page: Page) -> int:
    """Look for each text on a page with all three widgets. Return how many scripts ran: 0 or 1."""
    charts = page.locator(".rw-chart")
    expect(charts).to_have_count(3)
    described, merged, asked = (page.locator(".roofwidget").nth(number) for number in range(3))
    texts = [without_surrogates(text) for text in TEXTS.values()]
    labels = [label.strip() for label in asked.locator("label:has(> [type=radio])").all_text_contents()]
    assert labels == [*(short(text).strip() for text in texts if text.strip()), "right"]
    ops = merged.locator(".rw-members li > b")
    assert {short(text) for text in texts} <= set(ops.all_text_contents())
    grid = table(described)
    rows: list[list[str]] = grid.evaluate(ROWS)
    for text, (title, category) in zip(texts, rows, strict=True):
        assert title.startswith(without_shown_controls(text))
        assert category == without_shown_controls(short(text))
    grid.focus()
    formula = described.locator(".rw-formula")
    for _ in rows:
        grid.press("ArrowDown")
        said = formula.get_attribute("title") or ""
        assert said
        assert without_shown_controls(said) == said
    assert page.evaluate(FOREIGN) == []
    return int(page.evaluate(HAS_RUN))


def without_shown_controls(text: str) -> str:
    """Return the text as a page shows it: tabs and line breaks stay, other control characters become U+FFFD."""
    return "".join(letter if letter in "\t\n\r" else without_controls(letter) for letter in text)


def table(widget: Locator) -> Locator:
    """Open the table of a widget with all columns, and return its grid."""
    widget.get_by_role("button", name="All columns").click()
    return widget.locator(".rw-table").get_by_role("grid")


def invalid_tables(text: str, separator: str = ",", end: str = "\r\n") -> int:
    """Return 1 if a table of all texts is not one that every program reads alike, or holds a formula. Otherwise 0."""
    limit = csv.field_size_limit(10_000_000)
    try:
        heading, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return 1
    finally:
        csv.field_size_limit(limit)
    cells = [cell for row in (heading, *rows) for cell in row]
    names = {unguarded(row[heading.index("name")]) for row in rows}
    is_valid = (
        text.endswith(end)
        and "\0" not in text
        and {len(row) for row in rows} == {len(heading)}
        and names == {without_surrogates(name).replace("\0", "\ufffd") for name in TEXTS.values()}
        and not any(FORMULA.match(cell) and not NUMBER.fullmatch(cell) for cell in cells)
    )
    return int(not is_valid)


def unguarded(cell: str) -> str:
    """Return a cell without the apostrophe before a formula."""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell.lstrip("'")) else cell
