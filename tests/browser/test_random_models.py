"""Random models in a real JupyterLab: the page shows the texts of its own functions, word by word.

The models are those of tests/agreement, which holds the numbers in these texts to Python's.
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
from roofwidget.support.precisions import operation
from roofwidget.units import format_quantity
from tests.agreement import draw, page
from tests.agreement.reference import Said
from tests.agreement.test_random_models import differences
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn
from tests.browser.lab import Notebook
from tests.places import ROOT

SEED: Final = os.environ.get("ROOFWIDGET_SEED", "") or str(random.SystemRandom().randrange(10**9))
MODELS: Final = 10
# A table shows at least so many rows.
_MIN_ROWS: Final = 8
# How often to go on to the next kernel of the chart.
STEPS: Final = 2
START: Final = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
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
    tab = drawn.locator("[data-rw=tab-kernels]")
    if tab.count() > 0:
        tab.click()
        columns = drawn.button("All columns")
        if columns.get_attribute("aria-pressed") == "false":
            columns.click()


def told(here: Said, texts: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows at first. `texts` are those of the page's functions."""
    bound, judge = here.focus, here.judge()
    rows = here.model.filtered_rows.tolist()
    cells = texts["cells"]
    levels = [] if bound is None else here.levels_drawn() if bound.memory == "all" else [here.level(bound)]
    rates: list[list[str]] = []
    if bound is not None:
        rates = [["peak_flops", format_quantity(here.peak(bound), f"{operation(here.precision_of(bound))}/s", 4)]]
    rates += [
        ["bandwidth", format_quantity(bound.chip.bandwidth(level), "B/s", 4)] for level in levels if bound is not None
    ]
    return {
        "rows": len(rows) if here.n else 0,
        "cells": {
            str(row): {
                key: column[row] + (" ▲" if key == "utilization" and row in above_roof(here) else "")
                for key, column in cells.items()
            }
            for row in rows
        },
        "sentence": None if here.judging is None else texts["roofs"][here.judging.chip.id],
        "counted": [text for text in texts["counted"] if text != "unknown"],
        "rates": rates,
        # The kernels to fix first are judged by the chip that they ran on; the table, by the focus chip.
        "ranking": [] if judge is None else [format_quantity(judge.headroom[row], "s") for row, _ in here.ranking()],
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
        "sentence": found["sentence"] if wanted["sentence"] is not None else None,
        # Of few kernels, and while some are selected, it is not said.
        "counted": [text for text in wanted["counted"] if text in found["counted"] or not found["counted"]],
        "rates": found["rates"],
        "ranking": found["ranking"],
    }


def tooltip_differences(book: Notebook, drawn: Drawn, here: Said, texts: dict[str, Any]) -> list[Any]:
    """Compare the tooltip of the kernel under the pointer, which may leave out its last rows, and its sentence."""
    row = book.python("w.hovered")
    found = drawn.root.evaluate(READ)
    rows = dict(found["tooltip"])
    chip = next((bound.chip.id for bound in here.bounds.values() if bound.chip.name == rows.get("on")), None)
    if row is None or chip is None or here.model.moves:
        return []
    wanted = dict(texts["tooltips"][chip][row])
    lines = differences({label: wanted.get(label) for label in rows}, rows, f"tooltip of {row}")
    return [*lines, *differences(texts["sentences"][chip][row], found["sentence"], f"sentence of {row}")]


def test_ten_random_models_are_shown_with_the_texts_of_the_page_s_functions(
    notebook: OpenNotebook, tmp_path: Path
) -> None:
    sys.stdout.write(f"ROOFWIDGET_SEED={SEED}\n")
    book = notebook([START, SHOW], height=1800)
    book.run(0)
    models = [draw.model(random.Random(f"{SEED}/{case}"), rw.RooflineModel) for case in range(MODELS)]  # noqa: S311 - no secret
    answers = page.shown(page.program(tmp_path), map(page.line_of, models), tmp_path)
    found: list[Any] = []
    for case, (model, answer) in enumerate(zip(models, answers, strict=True)):
        here, texts = Said(model), json.loads(json.dumps(answer["texts"]).replace("\\u00a0", " "))
        book.run(1)
        drawn = Drawn(book)
        drawn.eventually(lambda: book.page.locator(".roofwidget").count() == 1)
        opened(drawn)
        wanted = told(here, texts)

        def holds(wanted: dict[str, Any] = wanted, drawn: Drawn = drawn) -> bool:
            return not list(differences(wanted, read(drawn, wanted)))

        try:
            drawn.eventually(holds)
        except AssertionError:
            found += [(case, *one) for one in differences(wanted, read(drawn, wanted))]
        for _ in range(STEPS if here.drawn_rows() else 0):
            drawn.chart.focus()
            drawn.chart.press("ArrowRight")
            drawn.eventually(lambda: drawn.get_by_role("tooltip").count() == 1)  # noqa: B023 - called at once
            # Of a selected kernel all is told.
            drawn.chart.press("Enter")
            on = drawn.get_by_role("tooltip").locator("dt", has_text=re.compile("^on$"))
            if on.count() == 0:
                drawn.chart.press("Enter")
            expect(on).to_have_count(1)
            # Python gets the row after a pause.
            try:
                drawn.eventually(lambda: not tooltip_differences(book, drawn, here, texts))  # noqa: B023 - called at once
            except AssertionError:
                found += [(case, *one) for one in tooltip_differences(book, drawn, here, texts)]
    assert not found, f"ROOFWIDGET_SEED={SEED}: {len(found)} differences, such as {found[:8]}"
