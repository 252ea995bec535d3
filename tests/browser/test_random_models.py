"""Random models in a real JupyterLab: what the page shows is what Python says, number by number.

The models are those of tests/agreement, which sees many more of them, without a page.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import expect

import roofwidget as rw
from roofwidget.analysis.verdict import MIN_ABOVE
from roofwidget.units import format_quantity
from tests.agreement import draw
from tests.agreement.reference import Said, unit_of
from tests.agreement.test_random_models import differences, numbers_in
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.browser.lab import Notebook

SEED: Final = os.environ.get("ROOFWIDGET_SEED", "") or str(random.SystemRandom().randrange(10**9))
MODELS: Final = 40
# A table shows at least so many rows.
_MIN_ROWS: Final = 8
# How often to go on to the next kernel of the chart.
STEPS: Final = 2
START: Final = f"""import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import random, warnings
from playwright.sync_api import expect

import roofwidget as rw
from tests.agreement import draw
from tests.agreement.reference import Said
warnings.simplefilter("ignore")
case = -1"""
SHOW: Final = f"""case += 1
w = draw.model(random.Random(f"{SEED}/{{case}}"), rw.RooflineWidget)
w.columns = list(Said(w).columns())
w"""
# The texts of the widget: of a cell by row and column, of a rate by what it is of.
READ: Final = """(root) => {
  const text = (node) => (node?.textContent ?? '').replaceAll('\\u00a0', ' ').trim();
  const all = (selector) => [...root.querySelectorAll(selector)];
  const cells = {};
  for (const line of all('.rw-table [role=row][data-row]')) {
    const columns = [...line.querySelectorAll('[data-column]')];
    cells[line.dataset.row] = Object.fromEntries(columns.map((cell) => [cell.dataset.column, text(cell)]));
  }
  return {
    cells,
    rows: Number(root.querySelector('.rw-table [role=grid]')?.getAttribute('aria-rowcount') ?? 1) - 1,
    // The status row shows a formula, whose title is the sentence.
    sentence: all('.rw-formula').map((line) => line.title.replaceAll('\\u00a0', ' ') || text(line))[0] ?? '',
    counted: text(root.querySelector('.rw-tokens > p')),
    rates: all('.rw-rate').map((rate) => [rate.dataset.quantity, rate.querySelector('.rw-box').value]),
    ranking: all('.rw-kernels [role=row]:has(.rw-badge) [data-column=headroom]').map(text),
    tooltip: all('.rw-tooltip dl > div').map((row) => [text(row.children[0]), text(row.children[1])]),
  };
}"""


def opened(drawn: Drawn) -> None:
    """Show every column, and what to fix first, if there are kernels."""
    tab = drawn.root.locator("[data-rw=tab-kernels]")
    if tab.count() > 0:
        tab.click()
        columns = drawn.root.get_by_role("button", name="All columns")
        if columns.get_attribute("aria-pressed") == "false":
            columns.click()


def told(model: rw.RooflineModel) -> dict[str, Any]:
    """Return what Python says of what the page shows at first."""
    here = Said(model)
    bound = here.focus
    rows = model.filtered_rows.tolist()
    cells = here.cells()
    for row in above_roof(here):
        cells["utilization"][row] += " ▲"
    ranking, _ = here.ranking()
    levels = [] if bound is None else here.levels_drawn() if bound.memory == "all" else [here.level(bound)]
    rates: list[list[str]] = []
    if bound is not None:
        rates = [["peak_flops", format_quantity(here.peak(bound), f"{unit_of(here.precision_of(bound))}/s", 4)]]
    rates += [
        ["bandwidth", format_quantity(bound.chip.bandwidth(level), "B/s", 4)] for level in levels if bound is not None
    ]
    return {
        "rows": len(rows) if here.n else 0,
        "cells": {str(row): {key: column[row] for key, column in cells.items()} for row in rows},
        "sentence": numbers_in(here.roof_sentence(here.judging)) if here.judging is not None else None,
        "counted": [number for text in here.counted() for number in numbers_in(text) if number != "unknown"],
        "rates": rates,
        "ranking": [numbers_in(gain) for _, _, gain in ranking],
    }


def above_roof(here: Said) -> list[int]:
    """Return the rows of kernels more than 5 % above their roof, which the table marks."""
    return [] if here.judging is None else [row for row in range(here.n) if here.judging.utilization[row] > MIN_ABOVE]


def read(drawn: Drawn, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows, in the form of what Python says."""
    found: dict[str, Any] = drawn.root.evaluate(READ)
    # Rows of a long table that are out of sight are not drawn.
    cells = found["cells"] if len(found["cells"]) >= min(_MIN_ROWS, found["rows"]) else {}
    return {
        "rows": found["rows"],
        "cells": {row: cells.get(row, wanted["cells"][row] if cells else None) for row in wanted["cells"]},
        "sentence": numbers_in(found["sentence"]) if wanted["sentence"] is not None else None,
        # Of few kernels, and while some are selected, it is not said.
        "counted": numbers_in(found["counted"]) if found["counted"] else wanted["counted"],
        "rates": found["rates"],
        "ranking": [numbers_in(text) for text in found["ranking"]],
    }


def tooltip_differences(book: Notebook, drawn: Drawn, here: Said) -> list[Any]:
    """Compare the tooltip of the kernel under the pointer, which may leave out its last rows, and its sentence."""
    row = book.python("w.hovered")
    found = drawn.root.evaluate(READ)
    rows = {label: numbers_in(text) for label, text in found["tooltip"]}
    name = dict(found["tooltip"]).get("on")
    bound = next((bound for bound in here.bounds.values() if bound.chip.name == name), None)
    if row is None or bound is None or not rows or here.model.moves:
        return []
    wanted = {label: numbers_in(text) for label, text in here.tooltip(bound, row)}
    lines = list(differences({label: wanted.get(label) for label in rows}, rows, f"tooltip of {row}"))
    return [
        *lines,
        *differences(numbers_in(here.sentence(bound, row)), numbers_in(found["sentence"]), f"sentence of {row}"),
    ]


def test_forty_random_models_are_shown_with_the_numbers_of_python(notebook: OpenNotebook) -> None:
    sys.stdout.write(f"ROOFWIDGET_SEED={SEED}\n")
    book = notebook([START, SHOW], height=1800)
    book.run(0)
    found: list[Any] = []
    for case in range(MODELS):
        model = draw.model(random.Random(f"{SEED}/{case}"), rw.RooflineModel)  # noqa: S311 - no secret
        book.run(1)
        drawn = Drawn(book)
        drawn.eventually(lambda: book.page.locator(".roofwidget").count() == 1)
        opened(drawn)
        wanted = json.loads(json.dumps(told(model)))

        def holds(wanted: dict[str, Any] = wanted, drawn: Drawn = drawn) -> bool:
            return not list(differences(wanted, read(drawn, wanted)))

        try:
            drawn.eventually(holds)
        except AssertionError:
            found += [(case, *one) for one in differences(wanted, read(drawn, wanted))]
        here = Said(model)
        for _ in range(STEPS if here.drawn_rows() else 0):
            drawn.chart.focus()
            drawn.chart.press("ArrowRight")
            drawn.eventually(lambda: drawn.root.get_by_role("tooltip").count() == 1)  # noqa: B023 - called at once
            # Of a selected kernel all is told.
            drawn.chart.press("Enter")
            on = drawn.root.get_by_role("tooltip").locator("dt", has_text=re.compile("^on$"))
            if on.count() == 0:
                drawn.chart.press("Enter")
            expect(on).to_have_count(1)
            # Python gets the row after a pause.
            try:
                drawn.eventually(lambda: not tooltip_differences(book, drawn, here))  # noqa: B023 - called at once
            except AssertionError:
                found += [(case, *one) for one in tooltip_differences(book, drawn, here)]
    assert not found, f"ROOFWIDGET_SEED={SEED}: {len(found)} differences, such as {found[:8]}"
