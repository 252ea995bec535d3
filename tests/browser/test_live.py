"""Recorded runs in a real JupyterLab: points land on the chart while a cell still runs, each run in its own colour."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.drawn import Drawn, shown

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

# The chip's figures are stated, so that the axes do not depend on this machine.
WIDGET = """import numpy as np, roofwidget as rw
%load_ext roofwidget
a, b = np.ones((512, 512)), np.ones((512, 512))
chip = rw.Chip("Bench", {"fp64": "100 GFLOP/s", "fp32": "200 GFLOP/s"}, {"DRAM": "20 GB/s"})
w = rw.RooflineWidget([chip], title="Live")
w"""
# The second operation ends, and then the cell waits for the test.
FIRST = """%%roofline -w w
from pathlib import Path
c = a @ b
d = np.exp(c - 512)
while not Path({go!r}).exists():
    Path({turn!r}).exists()
d.sum()"""
SECOND = """%%roofline -w w -n 'in place'
np.matmul(a, b, out=c)
np.add(a, b, out=c)
np.sqrt(c, out=c)"""
FILL = ".rw-legend circle"


def rows(drawn: Drawn) -> Locator:
    """Return the names of the rows of the table."""
    return drawn.get_by_role("grid").get_by_role("rowheader")


def test_points_land_while_the_cell_runs_and_each_run_is_a_series(notebook: OpenNotebook, tmp_path: Path) -> None:
    go = tmp_path / "go"
    first = FIRST.format(go=str(go), turn=str(tmp_path))
    book, drawn = shown(notebook, WIDGET, first, SECOND, width=1280, height=1500)
    book.start(1)
    # The cell cannot end before the file is there: these points have landed while it runs.
    expect(drawn.chart).to_have_attribute("aria-label", re.compile("with 3 kernels"))
    drawn.open_tab("kernels")
    expect(rows(drawn)).to_have_count(3)
    drawn.eventually(lambda: "run 1: 3 operations so far" in book.output(1))
    assert not go.exists()
    go.touch()
    book.wait(1)
    assert book.output(1).startswith("run 1: 4 operations in ")
    assert book.python("w.kernels.names.tolist()") == ["matmul", "subtract", "exp", "sum"]
    expect(rows(drawn)).to_have_count(4)
    book.run(2)
    # The series with most of the time comes first in the legend, and both runs take about the same time.
    expect(drawn.locator(".rw-legend")).to_have_text(re.compile("run 1.*in place|in place.*run 1"))
    colours = drawn.locator(FILL).evaluate_all("(dots) => dots.map((dot) => dot.getAttribute('fill'))")
    assert len(set(colours)) == 2
    expect(drawn.chart).to_have_attribute("aria-label", re.compile("with 7 kernels"))
    expect(rows(drawn)).to_have_count(7)
    # Later runs keep the colours of earlier ones, however long they take.
    book.python("w.set_series('long', [('idle', 1e9, 1e9, 100.0)])")
    expect(drawn.locator(FILL)).to_have_count(3)
    kept = drawn.locator(FILL).evaluate_all("(dots) => dots.map((dot) => dot.getAttribute('fill'))")
    assert kept[1:] == colours
    assert kept[0] not in colours
