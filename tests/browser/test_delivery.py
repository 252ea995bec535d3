"""How the front end's code gets to a page of JupyterLab: once, and still there when the page or the kernel is new."""

from __future__ import annotations

import base64

from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, enter, shown
from tests.browser.lab import RESTORE_ATTEMPTS, Notebook
from tests.browser.tabs import READY

GUIDE = "import roofwidget as rw\nw = rw.RooflineWidget()\nw"
TEN = """import roofwidget as rw
from IPython.display import display
for _ in range(10):
    w = rw.RooflineWidget()
    display(w)"""

# Keeps the size of every text that is imported from here on.
COUNT_IMPORTS = """() => {
  window.imported = [];
  const original = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    if (blob.type === 'text/javascript') window.imported.push(blob.size);
    return original.call(URL, blob);
  };
}"""
BUNDLES = "() => window.imported.filter((size) => size > 100000).length"
LARGEST_OTHER = "() => Math.max(...window.imported.filter((size) => size <= 100000))"
LOADERS = "(starter) => window.imported.filter((size) => size <= 100000 && size !== starter).length"
STYLES = "() => document.querySelectorAll('style[data-roofwidget]').length"
KNOWN = "() => globalThis[Symbol.for('roofwidget')].size"
# Whether the style was in place whenever a view was put into the page.
WATCH_VIEWS = """() => {
  window.dressed = [];
  const styles = () => document.querySelectorAll('style[data-roofwidget]').length;
  new MutationObserver((records) => {
    for (const { addedNodes } of records)
      for (const node of addedNodes)
        if (node.nodeType === 1 && (node.matches('.roofwidget') || node.querySelector('.roofwidget')))
          window.dressed.push(styles());
  }).observe(document.body, { childList: true, subtree: true });
}"""
NAMED = """import roofwidget as rw
w = rw.roofline(["h100-sxm"], [("marked", 1e12, 1e9, 1e-3), ("other", 1e12, 1e9, 1e-3)])
w"""
# Decodes the names of these kernels slowly, or not at all. The global name keeps the page from being handed on.
DECODE_SLOWLY = """(milliseconds) => {
  const original = TextDecoder.prototype.decode;
  window.decoded = 0;
  TextDecoder.prototype.decode = function (...given) {
    const text = original.apply(this, given);
    if (text.startsWith('["marked"')) {
      if (milliseconds === 0) throw new Error('no names');
      for (const end = performance.now() + milliseconds; performance.now() < end; );
      window.decoded += 1;
    }
    return text;
  };
}"""
# Makes the code of the widget, the largest script, seconds late, as on a slow machine.
LOAD_SLOWLY = """(milliseconds) => {
  const original = URL.createObjectURL;
  window.loadedLate = 0;
  URL.createObjectURL = (blob) => {
    if (blob.type !== 'text/javascript' || blob.size < 100000) return original.call(URL, blob);
    window.loadedLate += 1;
    const wait = `await new Promise((done) => setTimeout(done, ${milliseconds}));\\n`;
    return original.call(URL, new Blob([wait, blob], { type: blob.type }));
  };
}"""
# The columns of its kernels take MANY_BYTES in the page.
MANY = """import numpy as np, roofwidget as rw
ones = np.ones(200_000)
w = rw.roofline(["h100-sxm"], rw.Kernels(["kernel"] * 200_000, ones * 1e12, ones * 1e9, time=ones))
w"""
MANY_BYTES = 200_000 * 3 * 8
NODES = "() => document.getElementsByTagName('*').length"
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
TOGGLE_SAVING = "() => window.jupyterapp.commands.execute('@jupyter-widgets/jupyterlab-manager:saveWidgetState')"
# Saves, and tells of how many models the file holds the state.
SAVE_STATES = """async () => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute('docmanager:save');
  const saved = shell.currentWidget.content.model.getMetadata('widgets');
  return Object.keys(saved?.['application/vnd.jupyter.widget-state+json']?.state ?? {}).length;
}"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"


class Received:
    """The bytes that a page's websockets got since this was made."""

    def __init__(self, book: Notebook) -> None:
        self._bytes = 0
        self._session = book.page.context.new_cdp_session(book.page)
        self._session.on("Network.webSocketFrameReceived", self._add)
        self._session.send("Network.enable")

    def _add(self, event: dict[str, dict[str, object]]) -> None:
        frame = event["response"]
        data = str(frame["payloadData"])
        self._bytes += len(data.encode()) if frame["opcode"] == 1 else len(base64.b64decode(data))

    @property
    def bytes(self) -> int:
        # What the session answers comes after all that it told before, which the page may have drawn already.
        self._session.send("Network.enable")
        return self._bytes


def reload(book: Notebook) -> None:
    book.page.reload()
    book.page.wait_for_function(READY)


def works(book: Notebook) -> None:
    """Change the view in the browser and the model in Python, and see each reach the other."""
    drawn = Drawn(book)
    enter(drawn.box("bandwidth"), "3 TB/s")
    drawn.becomes("w.bandwidth", 3e12)
    book.python("setattr(w, 'bandwidth', 2e12)")
    expect(drawn.box("bandwidth")).to_have_value("2 TB/s")


def test_a_page_has_the_code_before_the_first_widget_is_made(notebook: OpenNotebook) -> None:
    book = notebook(["from roofwidget import RooflineWidget", "w = RooflineWidget()\nw"])
    book.page.evaluate(COUNT_IMPORTS)
    book.run(0)
    book.page.wait_for_function("() => globalThis[Symbol.for('roofwidget')]?.size === 1")
    book.run(1)
    book.page.locator(".rw-chart").wait_for()
    assert book.page.evaluate(BUNDLES) == 1


def test_ten_widgets_import_the_code_once_and_send_it_once(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE, "w2 = rw.RooflineWidget()\nw2", TEN])
    book.page.evaluate(COUNT_IMPORTS)
    received = Received(book)
    book.run(0)
    Drawn(book, 0)
    first = received.bytes
    book.run(1)
    Drawn(book, 1)
    second = received.bytes - first
    # Twice the code would be more than 500,000 bytes. The kernel's own messages come on top.
    assert 100_000 < first < 330_000
    assert second < 40_000
    book.run(2)
    Drawn(book, 11)
    assert received.bytes - first - second < 10 * 40_000
    assert book.page.evaluate(BUNDLES) == 1
    assert book.page.evaluate(LARGEST_OTHER) < 3_000
    assert book.page.evaluate(LOADERS, book.python("len(w._esm.encode())")) == 1
    assert (book.page.evaluate(KNOWN), book.page.evaluate(STYLES)) == (1, 1)


def test_the_style_is_in_place_before_any_view_is(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE, "w"])
    book.page.evaluate(WATCH_VIEWS)
    book.run(0)
    book.run(1)
    first, second = Drawn(book, 0), Drawn(book, 1)
    assert book.page.evaluate("() => window.dressed") == [1, 1]
    assert first.locator(".rw-main").evaluate("(main) => getComputedStyle(main).display") == "grid"
    first.drag("bandwidth", 0.2)
    second.eventually(lambda: second.roof("v7x-fp8") == first.roof("v7x-fp8"))


def test_a_reloaded_page_finds_the_code_in_the_running_kernel(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE])
    book.run(0)
    works(book)
    book.page.evaluate(SAVE)
    reload(book)
    works(book)
    assert book.page.evaluate(STYLES) == 1


def test_a_restarted_kernel_sends_the_code_and_the_page_does_not_import_it_again(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE])
    book.page.evaluate(COUNT_IMPORTS)
    book.run(0)
    works(book)
    book.page.evaluate(RESTART)
    book.page.wait_for_function(READY)
    book.run(0)
    works(book)
    assert book.page.evaluate(BUNDLES) == 1


def test_closing_everything_sends_the_code_anew(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE, "import ipywidgets; ipywidgets.Widget.close_all()", GUIDE])
    for index in range(3):
        book.run(index)
    works(book)
    assert book.page.evaluate(KNOWN) == 1


def test_a_notebook_saved_with_its_widgets_shows_them_without_their_kernel(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE])
    book.run(0)
    before = Drawn(book).roof("v7x-fp8")
    book.page.evaluate(TOGGLE_SAVING)
    try:
        # The setting is in force a moment later.
        Drawn(book).eventually(lambda: book.page.evaluate(SAVE_STATES) > 1)
    finally:
        # The server keeps the setting for the tests that follow.
        book.page.evaluate(TOGGLE_SAVING)
    book.page.evaluate(SHUT_DOWN)
    for _ in range(RESTORE_ATTEMPTS):
        reload(book)
        if not book.lost_saved_widgets():
            break
    drawn = Drawn(book)
    assert drawn.roof("v7x-fp8") == before
    drawn.drag("bandwidth", 0.2)
    assert drawn.roof("v7x-fp8") != before
    assert book.python("'w' in globals()") is False


def test_a_view_whose_code_was_closed_says_what_to_do(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE])
    book.run(0)
    Drawn(book)
    book.page.evaluate(SAVE)
    book.python("w._code.close()")
    reload(book)
    expect(book.cell(0)).to_contain_text("Run the cell that makes the widget again")
    book.run(0)
    works(book)
    # The cause is told to the console.
    assert any("its code was closed" in error for error in book.console_errors)
    book.console_errors.clear()


def test_a_widget_that_brings_the_whole_code_works_as_well(notebook: OpenNotebook) -> None:
    book = notebook([f"import os\nos.environ['ROOFWIDGET_INLINE'] = '1'\n{GUIDE}"])
    book.page.evaluate(COUNT_IMPORTS)
    book.run(0)
    works(book)
    assert book.page.evaluate(BUNDLES) == 1
    assert book.page.evaluate(STYLES) == 0


def test_a_widget_whose_code_and_data_take_seconds_still_follows_python(notebook: OpenNotebook) -> None:
    book = notebook([NAMED])
    # anywidget gives the initialization two seconds.
    book.page.evaluate(LOAD_SLOWLY, 3_000)
    book.page.evaluate(DECODE_SLOWLY, 3_000)
    book.run(0)
    works(book)
    assert book.page.evaluate("() => [window.loadedLate, window.decoded]") == [1, 1]


def test_a_widget_that_cannot_be_decoded_says_so_in_its_view(notebook: OpenNotebook) -> None:
    book = notebook([NAMED])
    book.page.evaluate(DECODE_SLOWLY, 0)
    book.run(0)
    expect(book.cell(0)).to_contain_text("This roofwidget could not be drawn (no names): run the cell again.")
    # The cause is told to the console.
    assert all("no names" in error for error in book.console_errors)
    book.console_errors.clear()


def test_widgets_made_and_closed_leave_no_nodes(notebook: OpenNotebook) -> None:
    book = notebook([GUIDE, "w.close()"])
    counts = []
    for _ in range(3):
        for _ in range(5):
            book.run(0)
            Drawn(book)
            book.run(1)
        counts.append(book.page.evaluate(NODES))
    # JupyterLab's own come and go; these would be one at least for each of the ten.
    assert counts[2] - counts[0] < 5


def test_a_widget_closed_while_it_is_dragged_saved_and_changed_by_python_leaves_an_empty_output(
    notebook: OpenNotebook,
) -> None:
    book, drawn = shown(notebook, GUIDE)

    def press(control: Locator) -> None:
        control.evaluate("(one) => one.click()")

    def change_and_close() -> None:
        drawn.becomes("len(w.what_if)", 1)
        book.python("setattr(w, 'bandwidth', 2.5e12)")
        # The pointer holds the slider.
        press(drawn.locator("[data-tool=save]"))
        dialog = drawn.get_by_role("dialog")
        for name in ("Screen", "PNG"):
            press(dialog.get_by_role("button", name=name, exact=True))
        expect(dialog.get_by_role("img")).to_be_visible()
        press(dialog.locator("[data-tool=png]"))
        book.python("w.close()")
        expect(drawn.root).to_have_count(0)

    with book.page.expect_download() as download:
        drawn.drag("bandwidth", 0.2, during=change_and_close)
    assert download.value.suggested_filename == "roofline.png"
    expect(book.cell(0).locator(".jp-OutputArea-output")).to_have_text("")


def test_closed_widgets_leave_no_kernels(notebook: OpenNotebook) -> None:
    ways = ["w.close()", "w.close(); w.layout.close()", "w.layout.close(); w.close()"]
    book = notebook([MANY, *ways])
    client = book.page.context.new_cdp_session(book.page)
    client.send("HeapProfiler.enable")

    def columns() -> int:
        client.send("HeapProfiler.collectGarbage")
        return int(client.send("Runtime.getHeapUsage")["backingStorageSize"])

    before = columns()
    for way in range(len(ways)):
        book.run(0)
        drawn = Drawn(book)
        assert columns() - before > MANY_BYTES
        book.run(1 + way)
        drawn.eventually(lambda: columns() - before < MANY_BYTES / 2)
