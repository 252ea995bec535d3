"""Faults between page and Python: kernels and servers that end, connections that are cut, slow or out of order."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import lab
from tests.browser.drawn import Grip
from tests.browser.rates import shown
from tests.browser.tabs import READY
from tests.faults.conftest import Faults, Thread
from tests.faults.sides import CELL, ENDED, RESTARTED, WAITING, Page, agree, follow_each_other, is_same, rate_at

RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


def drag(grip: Grip, seconds: float = 0.5) -> None:
    """Move the thumb for a while, and hold it at 0.7 of the track."""
    end = time.monotonic() + seconds
    step = 0
    while time.monotonic() < end:
        step += 1
        grip.to(0.6 + 0.02 * (step % 5))
        time.sleep(0.05)
    grip.to(0.7)


def is_usable_without_python(page: Page) -> None:
    """See that the page has kept its state and can be changed: rates, chips, undo."""
    drawn = page.drawn
    before = shown(drawn, "bandwidth")
    roof = drawn.roof("example")
    after = page.slide()
    assert after != before
    drawn.eventually(lambda: drawn.roof("example") != roof)
    undo = drawn.button("Undo")
    undo.evaluate("(button) => button.click()")
    drawn.eventually(lambda: shown(drawn, "bandwidth") == before)


@contextlib.contextmanager
def stopped(page: Page) -> Iterator[None]:
    """Stop the kernel's process, as a kernel stands that computes without a pause; let it go on afterwards."""
    process = page.kernel.process
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        # It may have been killed meanwhile.
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


def runs_again(page: Page) -> None:
    """Run the cell again, with the kernel that the notebook has now."""
    page.page.wait_for_function(READY)
    page.close()
    page.book.run(0)
    again = Page(page.book, page.server, page.name)
    follow_each_other(again)
    again.close()
    page.book.forgive_a_lost_kernel()


@pytest.mark.fault("kernel restarted while dragging")
def test_kernel_restart(faults: Faults) -> None:
    page = faults.open()
    grip = page.grip()
    drag(grip)
    page.page.evaluate(RESTART)
    grip.to(0.65)
    expect(page.note).to_have_text(RESTARTED)
    grip.release()
    assert page.state()[1] == pytest.approx(rate_at(0.65, 1e12), rel=0.02)
    is_usable_without_python(page)
    faults.says(RESTARTED)
    runs_again(page)


@pytest.mark.fault("kernel killed (kill -9) while dragging")
def test_kernel_killed(faults: Faults) -> None:
    page = faults.open(is_new=True)
    grip = page.grip()
    drag(grip)
    os.kill(page.kernel.process, signal.SIGKILL)
    grip.to(0.65)
    grip.release()
    is_usable_without_python(page)
    expect(page.note).to_have_text(RESTARTED)
    faults.says(RESTARTED)
    runs_again(page)


@pytest.mark.fault("kernel stopped, then killed, while the page sends it a file")
def test_kernel_killed_while_a_file_is_sent(faults: Faults) -> None:
    page = faults.open([CELL.replace('locale="en"', 'locale="en", open_files="uploads"')], is_new=True)
    page.page.set_default_timeout(20_000)
    with stopped(page):
        page.drawn.button("Open").click()
        page.drawn.locator("input[type=file]").set_input_files(
            files={"name": "run.csv", "mimeType": "text/csv", "buffer": b"name,flops,bytes\nmatmul,1e12,1e9\n"}
        )
        panel = page.drawn.locator(".rw-opening")
        expect(panel).to_contain_text(WAITING)
        faults.says(WAITING)
        os.kill(page.kernel.process, signal.SIGKILL)
    expect(panel).to_contain_text(RESTARTED)
    expect(page.note).to_have_text(RESTARTED)
    faults.says(RESTARTED)
    is_usable_without_python(page)
    runs_again(page)


@pytest.mark.fault("kernel shut down", is_cheap=True)
def test_kernel_shut_down(faults: Faults) -> None:
    page = faults.open(is_new=True)
    drag(grip := page.grip())
    grip.release()
    agree(page)
    page.page.evaluate(SHUT_DOWN)
    is_usable_without_python(page)
    expect(page.note).to_have_text(ENDED)
    faults.says(ENDED)


@pytest.mark.fault("server ended; started again")
def test_server_ends_and_comes_back(faults: Faults, tmp_path: Path) -> None:
    port = lab.free_port()
    with contextlib.ExitStack() as running:
        server = running.enter_context(lab.jupyterlab(tmp_path, port=port))
        page = faults.open(server=server)
        drag(grip := page.grip())
        grip.release()
        agree(page)
        page.book.save()
        running.close()
        before = page.state()
        last = page.slide()
        expect(page.note).to_have_text(WAITING)
        faults.says(WAITING)
        assert page.state() == [before[0], last, *before[2:]]
        is_usable_without_python(page)
        running.enter_context(lab.jupyterlab(tmp_path, port=port))
        # JupyterLab looks for the server at intervals that grow.
        expect(page.note).to_have_text(ENDED, timeout=120_000)
        faults.says(ENDED)
        assert page.state() == [before[0], last, *before[2:]]
        is_usable_without_python(page)


@pytest.mark.fault("server out of reach, and back, while dragging")
def test_server_out_of_reach(faults: Faults) -> None:
    link, through = faults.through()
    page = faults.open(server=through)
    drag(grip := page.grip())
    link.cut_all()
    grip.to(0.65)
    expect(page.note).to_have_text(WAITING)
    faults.says(WAITING)
    page.kernel.value("setattr(w, 'title', 'meanwhile')")
    link.mend()
    page.reconnect()
    grip.release()
    assert agree(page)[1:3] == [pytest.approx(rate_at(0.65, 1e12), rel=0.02), "meanwhile"]
    follow_each_other(page)


@pytest.mark.fault("page reloaded while dragging")
def test_reload(faults: Faults) -> None:
    page = faults.open(is_new=True)
    page.book.save()
    grip = page.grip()
    drag(grip)
    page.book.reload()
    grip.release()
    assert agree(page)[1] > 1e12
    follow_each_other(page)


@pytest.mark.fault("connection cut for {seconds} s while dragging, let go {when}")
@pytest.mark.parametrize("seconds", [4, 10, 60])
@pytest.mark.parametrize("when", ["meanwhile", "afterwards"])
def test_cut(faults: Faults, seconds: float, when: str) -> None:
    link, through = faults.through()
    page = faults.open(server=through)
    drag(grip := page.grip())
    link.cut()
    page.kernel.value("setattr(w, 'title', 'meanwhile')")
    drag(grip, seconds)
    if when == "meanwhile":
        grip.release()
    if seconds > 5:
        expect(page.note).to_have_text(WAITING)
        faults.says(WAITING)
    link.mend()
    # JupyterLab connects again by itself after a short cut; after a long one that takes a minute, or it asks.
    if seconds > 5:
        page.reconnect()
    if when == "afterwards":
        grip.to(0.68)
        grip.release()
    assert agree(page)[1:3] == [
        pytest.approx(rate_at(0.68 if when == "afterwards" else 0.7, 1e12), rel=0.02),
        "meanwhile",
    ]
    follow_each_other(page)


@pytest.mark.fault("kernel {how} for 20 s while dragging; messages of widgets handled in {thread}")
@pytest.mark.parametrize("how", ["busy with a cell", "stopped"])
@pytest.mark.parametrize("thread", ["a subshell", "the main thread"])
def test_busy(faults: Faults, tmp_path: Path, how: str, thread: Thread) -> None:
    end = tmp_path / "end"
    cell = f"import pathlib\nwhile not pathlib.Path({str(end)!r}).exists():\n    time.sleep(0.1)"
    page = faults.open([CELL, cell], thread=thread)
    grip = page.grip()
    with contextlib.ExitStack() as busy:
        if how == "busy with a cell":
            page.book.start(1)
        else:
            busy.enter_context(stopped(page))
        drag(grip, 20)
        if how == "stopped" or thread == "the main thread":
            expect(page.note).to_have_text(WAITING)
            faults.says(WAITING)
    end.touch()
    grip.to(0.65)
    grip.release()
    assert agree(page)[1] == pytest.approx(rate_at(0.65, 1e12), rel=0.02)
    follow_each_other(page)


@pytest.mark.fault("two tabs of one notebook, both dragging")
def test_two_tabs(faults: Faults) -> None:
    first = faults.open(is_new=True)
    first.book.save()
    both_drag(first, faults.open_again(first, beside=first.book.tab))


@pytest.mark.fault("two people, one kernel, both dragging")
def test_two_people(faults: Faults) -> None:
    first = faults.open(is_new=True)
    first.book.save()
    both_drag(first, faults.open_again(first))


def both_drag(first: Page, second: Page) -> None:
    agree(first, second)
    one, other = first.grip(), second.drawn.grip("peak")
    for step in range(20):
        one.to(0.55 + 0.005 * step)
        other.to(0.55 + 0.005 * step)
        time.sleep(0.016)
    one.to(0.7)
    other.to(0.6)
    one.release()
    other.release()
    assert agree(first, second)[:2] == pytest.approx([rate_at(0.6, 1e14), rate_at(0.7, 1e12)], rel=0.02)
    follow_each_other(first, second)


@pytest.mark.fault("page frozen while Python changes")
def test_frozen(faults: Faults) -> None:
    page = faults.open(is_new=True)
    drag(grip := page.grip())
    grip.release()
    agree(page)
    session = page.page.context.new_cdp_session(page.page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    for step in range(50):
        page.kernel.value(f"w.set_what_if(bandwidth={1e12 + step * 1e10})")
    page.kernel.value("setattr(w, 'title', 'while frozen')")
    session.send("Page.setWebLifecycleState", {"state": "active"})
    assert agree(page)[2] == "while frozen"
    follow_each_other(page)


@pytest.mark.fault("messages of one tab 2 s late each way, those of another not; updates {iopub} s later than replies")
@pytest.mark.parametrize("iopub", [0, 1])
def test_late(faults: Faults, iopub: float) -> None:
    link, through = faults.through()
    first = faults.open(server=through)
    first.book.save()
    second = faults.open_again(first, faults.server)
    agree(first, second)
    link.delay(2, iopub=iopub)
    one, other = first.grip(), second.grip()
    for step in range(20):
        one.to(0.55 + 0.005 * step)
        other.to(0.45 - 0.005 * step)
        time.sleep(0.1)
    other.release()
    one.to(0.7)
    one.release()
    faults.says(first.note.text_content() or "nothing")
    first.kernel.value("setattr(w, 'title', 'late')")
    second.drawn.toggle("Other").click()
    assert agree(first, second)[2] == "late"
    link.delay(0)
    follow_each_other(first, second)


@pytest.mark.fault("kernel busy, and the page reloaded")
def test_busy_and_reload(faults: Faults) -> None:
    page = faults.open(is_new=True)
    page.book.save()
    drag(grip := page.grip())
    grip.release()
    before = agree(page)
    with stopped(page):
        page.page.reload()
        page.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        faults.says(" ".join((page.page.locator(".jp-OutputArea-output").first.text_content() or "nothing").split()))
    page.page.wait_for_function(READY)
    assert agree(page) == before
    follow_each_other(page)


@pytest.mark.fault("notebook saved with widget state, opened without a kernel")
def test_opened_without_a_kernel(faults: Faults) -> None:
    page = faults.open(is_new=True)
    drag(grip := page.grip())
    grip.release()
    before = agree(page)
    toggle = "() => window.jupyterapp.commands.execute('@jupyter-widgets/jupyterlab-manager:saveWidgetState')"
    page.page.evaluate(toggle)
    try:
        saved = """async () => {
          const { commands, shell } = window.jupyterapp;
          await commands.execute('docmanager:save');
          const saved = shell.currentWidget.content.model.getMetadata('widgets');
          return Object.keys(saved?.['application/vnd.jupyter.widget-state+json']?.state ?? {}).length;
        }"""
        page.drawn.eventually(lambda: page.page.evaluate(saved) > 1)
    finally:
        page.page.evaluate(toggle)
    page.page.evaluate(SHUT_DOWN)
    for _ in range(lab.RESTORE_ATTEMPTS):
        page.book.reload()
        if not page.book.lost_saved_widgets():
            break
    assert is_same(page.state(), before)
    is_usable_without_python(page)
    expect(page.note).to_have_text("")


@pytest.mark.fault("notebook saved without widget state, opened without a kernel")
def test_opened_without_state(faults: Faults) -> None:
    page = faults.open(is_new=True)
    page.book.save()
    page.page.evaluate(SHUT_DOWN)
    page.book.reload()
    output = page.page.locator(".jp-OutputArea-output").first
    expect(output).to_contain_text("Error displaying widget: model not found")
    faults.says("JupyterLab: Error displaying widget: model not found")
    faults.needs("run the cell again")
    runs_again(page)
