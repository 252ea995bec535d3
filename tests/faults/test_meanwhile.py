"""Faults around a drag: observers that fail or are slow, views that go, a page that is hidden or has no storage."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import EVENTUALLY_SECONDS, Grip, centre
from tests.faults.conftest import Faults, Thread
from tests.faults.sides import CELL, Page, agree, follow_each_other, rate_at

RAISES = """calls = []
def fail(change):
    calls.append(change)
    raise RuntimeError("an observer failed")
w.observe(fail, "what_if")"""
EXITS = """import sys
calls = []
def leave(change):
    calls.append(change)
    sys.exit()
w.observe(leave, "what_if")"""
CHANGES = """for step in range(300):
    w.set_what_if("other", bandwidth=2e12 + step * 1e9)
    w.title = f"step {step}"
    time.sleep(0.005)"""
SLOW = """def wait(change):
    time.sleep(1)
w.observe(wait, "what_if")"""
INTERRUPTED = """import pathlib
interrupted = []
def wait(change):
    pathlib.Path(STARTED).touch()
    w.unobserve(wait, "what_if")
    try:
        for _ in range(200):
            time.sleep(0.01)
    except KeyboardInterrupt:
        interrupted.append(1)
        raise
w.observe(wait, "what_if")"""
INTERRUPT = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()"
CLEAR = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
DELETE = """() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = 0;
  content.mode = 'command';
  return window.jupyterapp.commands.execute('notebook:delete-cell');
}"""
# How the view goes, and the cell that is left to show it.
TAKEN_AWAY = {"output cleared": (CLEAR, 1), "cell deleted": (DELETE, 0)}
NEW_VIEW = """() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = 0;
  return window.jupyterapp.commands.execute('notebook:create-output-view');
}"""
CLOSE_NEW_VIEW = """() => {
  const { shell } = window.jupyterapp;
  for (const area of ['main', 'down'])
    for (const widget of [...shell.widgets(area)]) if (widget.title.label === 'Output View') widget.dispose();
}"""
# Shows the launcher in place of the notebook.
HIDE = """async () => {
  window.hiddenPanel = window.jupyterapp.shell.currentWidget.id;
  await window.jupyterapp.commands.execute('launcher:create');
}"""
SHOW = """() => {
  window.jupyterapp.shell.activateById(window.hiddenPanel);
  delete window.hiddenPanel;
}"""
VIEWS = "() => document.querySelectorAll('.roofwidget').length"
# Fills what is left of the page's storage. JupyterLab itself does not start in a page that may not store anything.
FILL_STORAGE = """() => {
  let size = 1 << 20;
  for (let at = 0; size > 0; at += 1) {
    try { localStorage.setItem(`full-${at}`, 'x'.repeat(size)); } catch { size >>= 1; }
  }
  try { localStorage.setItem('one more', 'x'); return false; } catch { return true; }
}"""
DENY_STORAGE = """() => {
  const value = () => { throw new DOMException('denied', 'SecurityError'); };
  for (const name of ['getItem', 'setItem']) Object.defineProperty(Storage.prototype, name, { value });
}"""


def begin(page: Page) -> Grip:
    """Begin a drag that Python hears of."""
    grip = page.grip()
    grip.to(0.6)
    page.drawn.eventually(lambda: page.kernel.value("w.bandwidth") != 1e12)
    grip.to(0.65)
    return grip


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something is so of which no view need be left."""
    deadline = time.monotonic() + EVENTUALLY_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


def near(share: float) -> object:
    """Return what is equal to the bandwidth at a share of the slider's track."""
    return pytest.approx(rate_at(share, 1e12), rel=0.02)


@pytest.mark.fault("an observer raises", is_cheap=True)
def test_observer_raises(faults: Faults) -> None:
    page = faults.open([CELL, RAISES])
    page.book.run(1)
    grip = page.grip()
    grip.to(0.6)
    page.drawn.eventually(lambda: page.kernel.value("len(calls)") > 0)
    grip.to(0.7)
    grip.release()
    assert agree(page)[1] == near(0.7)
    follow_each_other(page)


@pytest.mark.fault("an observer calls sys.exit() in {thread}")
@pytest.mark.parametrize("thread", ["a subshell", "the main thread"])
def test_observer_exits(faults: Faults, thread: Thread) -> None:
    page = faults.open([CELL, EXITS], thread=thread)
    page.book.run(1)
    grip = page.grip()
    grip.to(0.6)
    page.drawn.eventually(lambda: page.kernel.value("len(calls)") > 0)
    grip.to(0.7)
    grip.release()
    assert agree(page)[1] == near(0.7)
    follow_each_other(page)


@pytest.mark.fault("a cell changes the widget while dragging; messages of widgets handled in {thread}")
@pytest.mark.parametrize("thread", ["a subshell", "the main thread"])
def test_cell_changes_the_widget(faults: Faults, thread: Thread) -> None:
    page = faults.open([CELL, CHANGES], thread=thread)
    grip = page.grip()
    page.book.start(1)
    for step in range(40):
        grip.to(0.55 + 0.002 * step)
        time.sleep(0.05)
    page.book.wait(1)
    grip.to(0.7)
    grip.release()
    assert agree(page)[1:3] == [near(0.7), "step 299"]
    assert page.kernel.value("w.what_if['other']['bandwidth']['HBM']") == 2e12 + 299e9
    follow_each_other(page)


@pytest.mark.fault("an observer takes 1 s")
def test_observer_slow(faults: Faults) -> None:
    page = faults.open([CELL, SLOW])
    page.book.run(1)
    grip = page.grip()
    for step in range(30):
        grip.to(0.55 + 0.005 * step)
        time.sleep(0.05)
    grip.release()
    assert agree(page)[1] == near(0.695)
    follow_each_other(page)


@pytest.mark.fault("w.close() while dragging", is_cheap=True)
def test_close(faults: Faults) -> None:
    page = faults.open()
    grip = begin(page)
    page.kernel.value("w.close()")
    expect(page.page.locator(".roofwidget")).to_have_count(0)
    grip.to(0.68)
    grip.release()
    page.book.run(0)
    follow_each_other(page)


@pytest.mark.fault("{what} while dragging", is_cheap=True)
@pytest.mark.parametrize("what", TAKEN_AWAY)
def test_view_taken_away(faults: Faults, what: str) -> None:
    script, left = TAKEN_AWAY[what]
    page = faults.open([CELL, "w"])
    grip = begin(page)
    page.page.evaluate(script)
    expect(page.page.locator(".roofwidget")).to_have_count(0)
    grip.to(0.68)
    grip.release()
    page.kernel.value("setattr(w, 'title', 'while nothing was shown')")
    page.book.run(left)
    assert agree(page)[1] == near(0.65)
    follow_each_other(page)


@pytest.mark.fault("output cleared while the roof is dragged by its {part}")
@pytest.mark.parametrize("part", ["peak", "bandwidth", "ridge"])
def test_output_cleared_under_the_roof(faults: Faults, part: str) -> None:
    page = faults.open([CELL, "w"])
    x, y = centre(page.drawn.locator(f"[data-part='{part}']").first)
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 30, y - 20, steps=6)
    rates = "[w.peak_flops, w.bandwidth]"
    # The boxes of the panel show a drag some frames late.
    page.drawn.eventually(lambda: [1e14, 1e12] != page.kernel.value(rates) == pytest.approx(page.state()[:2], rel=1e-3))
    before = page.state()[:2]
    page.page.mouse.move(x + 40, y - 30)
    page.drawn.eventually(lambda: page.state()[:2] != before)
    last = pytest.approx(page.state()[:2], rel=1e-3)
    page.page.evaluate(CLEAR)
    expect(page.page.locator(".roofwidget")).to_have_count(0)
    page.page.mouse.up()
    eventually(lambda: page.kernel.value(rates) == last)
    page.kernel.value("w.reset()")
    page.book.run(1)
    assert agree(page)[:2] == [1e14, 1e12]
    follow_each_other(page)


@pytest.mark.fault("cell run again while dragging", is_cheap=True)
def test_cell_run_again(faults: Faults) -> None:
    page = faults.open([CELL.replace("w = ", "former = globals().get('w')\nw = ")])
    grip = begin(page)
    page.book.run(0)
    page.drawn.eventually(lambda: page.page.evaluate(VIEWS) == 1)
    grip.to(0.68)
    grip.release()
    assert agree(page)[1] == 1e12
    page.drawn.eventually(lambda: page.kernel.value("former.bandwidth") == near(0.65))
    follow_each_other(page)


@pytest.mark.fault("notebook hidden while dragging, and shown again", is_cheap=True)
def test_hidden(faults: Faults) -> None:
    page = faults.open()
    grip = begin(page)
    before = page.drawn.chart.bounding_box()
    page.page.evaluate(HIDE)
    expect(page.page.locator(".rw-chart")).to_be_hidden()
    page.kernel.value("setattr(w, 'title', 'while hidden')")
    page.page.evaluate(SHOW)
    expect(page.page.locator(".rw-chart")).to_be_visible()
    grip.release()
    assert agree(page)[1:3] == [near(0.65), "while hidden"]
    after = page.drawn.chart.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["width"], after["height"]) == (before["width"], before["height"])
    follow_each_other(page)


@pytest.mark.fault("a second view of the output opened and closed while dragging", is_cheap=True)
def test_second_view(faults: Faults) -> None:
    page = faults.open()
    grip = begin(page)
    page.page.evaluate(NEW_VIEW)
    page.drawn.eventually(lambda: page.page.evaluate(VIEWS) == 2)
    page.kernel.value("setattr(w, 'title', 'in both')")
    expect(page.page.locator(".roofwidget h2")).to_have_text(["in both", "in both"])
    page.page.evaluate(CLOSE_NEW_VIEW)
    page.drawn.eventually(lambda: page.page.evaluate(VIEWS) == 1)
    grip.release()
    agree(page)
    follow_each_other(page)


@pytest.mark.fault("the page's storage is full, then denied")
def test_storage(faults: Faults) -> None:
    page = faults.open(is_new=True)
    assert page.page.evaluate(FILL_STORAGE)
    for fault in (None, DENY_STORAGE):
        if fault:
            page.page.evaluate(fault)
        page.book.run(0)
        grip = begin(page)
        grip.release()
        agree(page)
        follow_each_other(page)


@pytest.mark.fault("interrupt in a callback in {thread}")
@pytest.mark.parametrize("thread", ["a subshell", "the main thread"])
def test_interrupt(faults: Faults, tmp_path: Path, thread: Thread) -> None:
    started = tmp_path / "started"
    page = faults.open([CELL, INTERRUPTED.replace("STARTED", repr(str(started)))], thread=thread)
    page.book.run(1)
    grip = page.grip()
    grip.to(0.6)
    page.drawn.eventually(started.exists)
    page.page.evaluate(INTERRUPT)
    grip.to(0.7)
    grip.release()
    assert agree(page)[1] == near(0.7)
    # Jupyter interrupts the main thread of the kernel only.
    assert (page.kernel.value("len(interrupted)") > 0) is (thread == "the main thread")
    follow_each_other(page)
