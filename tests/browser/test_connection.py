"""What a page says and keeps when Python is busy, restarted, killed or gone, and in a page that never had a kernel."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.browser import lab
from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, enter, shown
from tests.browser.lab import Notebook
from tests.browser.tabs import READY

GUIDE = "import roofwidget as rw\nw = rw.RooflineWidget(locale=LOCALE)\nw"
ENGLISH = GUIDE.replace("LOCALE", "'en'")
WAITING = {
    "en": "Python is busy or gone; changes wait.",
    "de": "Python ist beschäftigt oder beendet; Änderungen warten.",
}
RESTARTED = {
    "en": "Python was restarted: run the cell again.",
    "de": "Python wurde neu gestartet: Zelle noch einmal ausführen.",
}

# The code comes so late that the kernel has stopped before the widget is drawn.
LOAD_LATE = """() => {
  const original = URL.createObjectURL;
  window.loadedLate = 0;
  URL.createObjectURL = (blob) => {
    if (blob.type !== 'text/javascript' || blob.size < 100000) return original.call(URL, blob);
    window.loadedLate += 1;
    const wait = 'await new Promise((done) => setTimeout(done, 3000));\\n';
    return original.call(URL, new Blob([wait, blob], { type: blob.type }));
  };
}"""
# Moves a slider as a key of the keyboard does.
SLIDE = """(input) => {
  input.valueAsNumber += 0.1 * (input.max - input.min);
  for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
}"""
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
# Counts what the page sends to models of the kernel.
COUNT_SENT = """() => {
  window.sentToModels = 0;
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  kernel.anyMessage.connect((_, { msg, direction }) => {
    if (direction === 'send' && msg.header.msg_type === 'comm_msg') window.sentToModels += 1;
  });
}"""
SENT = "() => window.sentToModels"
# Which drawn parts of the widget lie over the note, of those that are not around it. A group of a drawing is as large
# as what paints nothing in it.
OVERLAPS = """(root) => {
  const note = root.querySelector('.rw-connection');
  const mine = note.getBoundingClientRect();
  const frame = root.getBoundingClientRect();
  const found = [...root.querySelectorAll('*')].filter((part) => {
    if (part === note || part.contains(note) || note.contains(part)) return false;
    const box = part.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(part).visibility !== 'hidden' &&
      !part.closest('.rw-spoken') && !part.matches('svg svg, svg g, [fill=transparent]') &&
      box.left < mine.right && box.right > mine.left && box.top < mine.bottom - 0.5 && box.bottom > mine.top + 0.5;
  });
  const isInside = mine.left >= frame.left && mine.right <= frame.right + 0.5 && mine.height > 0;
  return isInside ? found.map((part) => part.outerHTML.slice(0, 80)) : ['outside'];
}"""


def note(book: Notebook) -> Any:
    """Return the note on the connection, a polite live region."""
    return book.page.locator(".rw-connection[role=status]")


def moved(drawn: Drawn) -> str:
    """Drag the bandwidth and return what its box then shows."""
    before = drawn.box("bandwidth").input_value()
    drawn.drag("bandwidth", 0.2)
    after = drawn.box("bandwidth").input_value()
    assert after != before
    return after


def moved_without_a_mouse(drawn: Drawn) -> str:
    """Move the bandwidth's slider and return what its box then shows.

    JupyterLab's dialog about a lost kernel or server can cover the slider at any moment, so no mouse is used.
    """
    before = drawn.box("bandwidth").input_value()
    drawn.slider("bandwidth").evaluate(SLIDE)
    drawn.eventually(lambda: drawn.box("bandwidth").input_value() != before)
    return drawn.box("bandwidth").input_value()


def fresh_after_running_again(book: Notebook) -> None:
    """Run the cell again and see a widget that follows Python, and that Python follows."""
    book.run(0)
    drawn = Drawn(book)
    expect(note(book)).to_have_text("")
    enter(drawn.box("bandwidth"), "3 TB/s")
    drawn.becomes("w.bandwidth", 3e12)
    book.python("setattr(w, 'title', 'From Python')")
    expect(drawn.locator(".rw-title")).to_have_text("From Python")


@contextlib.contextmanager
def stopped(book: Notebook) -> Iterator[None]:
    """Stop the kernel's process, as a kernel stands that computes without a pause; let it go on afterwards."""
    # A cell that sleeps is not enough: JupyterLab's messages to widgets have a thread of their own in the kernel.
    process = book.python("__import__('os').getpid()")
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_busy_kernel_is_told_of_and_gets_the_changes_when_it_is_free(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, ENGLISH)
    with stopped(book):
        first = moved(drawn)
        expect(note(book)).to_have_text(WAITING["en"])
        last = moved(drawn)
        assert last != first
    expect(note(book)).to_have_text("")
    assert drawn.box("bandwidth").input_value() == last
    book.python("setattr(w, 'title', f'{w.bandwidth:.4g}')")
    expect(drawn.locator(".rw-title")).to_have_text(f"{float(last.split()[0]) * 1e12:.4g}")


def test_a_kernel_that_is_busy_from_the_cell_of_the_widget_is_told_of_too(notebook: OpenNotebook) -> None:
    # The pause lets the kernel send the widget.
    stop = "import os, signal, time\ntime.sleep(1)\nos.kill(os.getpid(), signal.SIGSTOP)"
    book = notebook([f"{ENGLISH.removesuffix('w')}display(w)\n{stop}"])
    process = book.python("__import__('os').getpid()")
    # The page asks for the values when it starts, and its question gets no answer.
    book.page.evaluate(LOAD_LATE)
    book.start(0)
    try:
        moved(Drawn(book))
        expect(note(book)).to_have_text(WAITING["en"])
    finally:
        os.kill(process, signal.SIGCONT)
    book.wait(0)
    expect(note(book)).to_have_text("")


def test_after_a_restart_the_page_keeps_its_state_says_so_and_sends_nothing(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, ENGLISH)
    first = moved(drawn)
    book.page.evaluate(RESTART)
    book.page.wait_for_function(READY)
    expect(note(book)).to_have_text(RESTARTED["en"])
    assert drawn.box("bandwidth").input_value() == first
    book.page.evaluate(COUNT_SENT)
    last = moved(drawn)
    drawn.button(re.compile("^(Show|.* zeigen)")).first.click()
    assert drawn.box("bandwidth").input_value() == last != first
    # The kernel answers after all that was sent before.
    assert book.python("'w' in globals()") is False
    assert book.page.evaluate(SENT) == 0
    expect(note(book)).to_have_text(RESTARTED["en"])
    fresh_after_running_again(book)


def test_after_a_kill_the_page_keeps_its_state_and_says_so(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, ENGLISH)
    os.kill(book.python("__import__('os').getpid()"), signal.SIGKILL)
    book.forgive_a_lost_kernel()
    last = moved_without_a_mouse(drawn)
    expect(note(book)).to_have_text(RESTARTED["en"])
    assert drawn.box("bandwidth").input_value() == last
    book.page.wait_for_function(READY)
    fresh_after_running_again(book)
    book.forgive_a_lost_kernel()


def test_after_the_server_has_ended_the_page_keeps_its_state_and_says_so(browser: Browser, tmp_path: Path) -> None:
    with contextlib.ExitStack() as running:
        server = running.enter_context(lab.jupyterlab(tmp_path))
        book = Notebook(browser, server, "gone.ipynb", [ENGLISH], width=1200, height=900)
        book.run(0)
        drawn = Drawn(book)
        running.close()
        last = moved_without_a_mouse(drawn)
        expect(note(book)).to_have_text(WAITING["en"])
        assert drawn.box("bandwidth").input_value() == last
        book.tab.close()


LOOKS: tuple[tuple[str, int, int, lab.Theme], ...] = (
    ("de", 1280, 900, "light"),
    ("de", 480, 900, "dark"),
    # A projector's size is that of a presentation.
    ("en", 1024, 768, "dark"),
)


def test_both_notes_lie_over_nothing(notebook: OpenNotebook) -> None:
    german, english = (GUIDE.replace("LOCALE", options) for options in ("'de'", "'en', presentation=True"))
    book = notebook([f"{german.removesuffix('w')}display(w)\n{english}"])
    book.run(0)
    views = {"de": Drawn(book, 0), "en": Drawn(book, 1)}

    def say(texts: dict[str, str]) -> None:
        for language, drawn in views.items():
            expect(drawn.locator(".rw-connection[role=status]")).to_have_text(texts[language])

    def lie_over_nothing(state: str) -> None:
        for language, width, height, theme in LOOKS:
            drawn = views[language]
            book.page.set_viewport_size({"width": width, "height": height})
            book.theme(theme)
            drawn.eventually(lambda: drawn.root.evaluate(OVERLAPS) == [])  # noqa: B023 - called at once
            _picture(drawn, f"{state}-{language}-{width}-{theme}")

    with stopped(book):
        for drawn in views.values():
            drawn.button(re.compile("^(Show|.* zeigen)")).first.click()
        say(WAITING)
        lie_over_nothing("waiting")
    say({"de": "", "en": ""})
    book.page.evaluate(RESTART)
    say(RESTARTED)
    lie_over_nothing("restarted")


def _picture(drawn: Drawn, name: str) -> None:
    folder = os.environ.get("ROOFWIDGET_PICTURES")
    if folder:
        drawn.page.screenshot(path=Path(folder) / f"{name}.png")
