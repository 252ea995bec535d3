"""Opening profiles and adding chips in the page: chosen, dropped, by path, refused, compared; rates that are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.drawn import Drawn, enter, shown
from tests.places import FIXTURES

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

TPU = FIXTURES / "xprof_tpu.roofline_model.json"
RUN = "name,flops,bytes,time (us)\n" + "\n".join(f"kernel {i},4.3e9,1.2e7,{100 + i}" for i in range(20))

IN_A_FOLDER = f"""import os, pathlib, tempfile
import os
import roofwidget as rw
os.chdir(tempfile.mkdtemp())
pathlib.Path("run.csv").write_text({RUN!r})
w = rw.roofline("v5p", [])
w"""
DROP = """(frame, [name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  const event = (kind) => new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true });
  frame.dispatchEvent(event("dragenter"));
  return new Promise((resolve) => requestAnimationFrame(() => {
    const target = frame.querySelector(".rw-drop");
    const taken = !target.dispatchEvent(event("dragover"));
    target.dispatchEvent(event("drop"));
    resolve(taken);
  }));
}"""


def button(drawn: Drawn, name: str) -> Locator:
    return drawn.button(name, exact=True)


def test_a_newcomer_opens_a_profile_adds_chips_and_compares_a_second_run(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, "import roofwidget as rw\nw = rw.explore()\nw")
    expect(drawn.root).to_contain_text("Drop a profile here")

    # A file that is chosen: its chip gets the focus, and newer ones are offered.
    button(drawn, "Open").click()
    drawn.get_by_role("dialog").locator("input[type=file]").set_input_files(str(TPU))
    expect(drawn.locator("[data-rw=status]")).to_contain_text("kernels from")
    assert book.python("[chip.vendor for chip in w.chips]") == ["Google"]
    expect(button(drawn, "Choose a file…")).to_have_count(0)
    drawn.get_by_role("tab", name="Projection").click()
    onto = drawn.root.get_by_label("Projected onto")
    expect(onto.locator("option").nth(1)).to_be_attached()
    name = onto.locator("option").nth(1).text_content() or ""
    onto.select_option(label=name)
    drawn.becomes("(w.chip().name, len(w.added_chips))", [name, 1])

    # Any chip of the catalogue, by a word of it; undo takes it away again.
    button(drawn, "Add a chip").click()
    search = drawn.get_by_role("combobox", name="Search chips")
    search.fill("h100 sxm")
    expect(drawn.get_by_role("option").first).to_have_attribute("data-chip", "h100-sxm")
    search.press("Enter")
    expect(search).to_have_count(0)
    drawn.eventually(lambda: drawn.has_roof("h100-sxm"))
    drawn.eventually(lambda: book.python("'h100-sxm' in w.shown and w.chip('h100-sxm').peak() > 0"))
    drawn.tool("undo").click()
    drawn.eventually(lambda: not drawn.has_roof("h100-sxm"))
    drawn.becomes("len(w.added_chips)", 1)
    # By keyboard alone: the key opens the palette, and with Shift, Enter adds the first chip and stays.
    drawn.chart.focus()
    drawn.press("c")
    drawn.keyboard.type("GB300")
    expect(drawn.get_by_role("option").first).to_have_attribute("data-chip", "gb300")
    search.press("Shift+Enter")
    drawn.becomes("len(w.added_chips)", 2)
    search.press("Escape")
    expect(button(drawn, "Add a chip")).to_be_focused()
    # A file that is dropped is compared.
    frame = drawn.locator(".rw-frame")
    assert frame.evaluate(DROP, ["second.csv", RUN])
    button(drawn, "Compare").click()
    drawn.eventually(lambda: book.python("len(w.kernels) == 20 and len(w.baseline) > 0"))
    expect(drawn.get_by_role("tab", name="Changes")).to_be_visible()


def test_what_python_refuses_is_said_in_place_and_paths_are_those_of_the_notebooks_folder(
    notebook: OpenNotebook,
) -> None:
    _, drawn = shown(notebook, IN_A_FOLDER)
    panel = drawn.get_by_role("group", name="Open a profile")
    dialog = drawn.get_by_role("dialog", name="Open a profile")
    frame = drawn.locator(".rw-frame")
    frame.evaluate(DROP, ["broken.csv", RUN.replace("1.2e7", "lots")])
    expect(panel.get_by_role("alert")).to_contain_text("broken.csv")
    expect(panel.get_by_role("alert")).to_contain_text("'lots'")
    button(drawn, "Close").click()
    expect(panel).to_have_count(0)

    button(drawn, "Open").click()
    path = dialog.get_by_role("textbox", name="Path, in the notebook's folder")
    expect(path).to_have_css("text-align", "start")
    enter(path, "../elsewhere.csv")
    expect(panel.get_by_role("alert")).to_contain_text("not in the folder of the notebook")
    button(drawn, "Close").click()
    button(drawn, "Open").click()
    path.fill("run.csv")
    button(drawn, "Open path").click()
    drawn.becomes("len(w.kernels)", 20)
    expect(panel).to_have_count(0)
    button(drawn, "How the file was read").click()
    read_as = drawn.get_by_role("table").filter(has_text="rows").locator("tbody tr")
    expect(read_as.filter(has_text="name")).to_have_text('nameall"name"')
    expect(read_as.filter(has_text="time")).to_have_text('timeall"time (us)" x 1e-06')

    # Rates as people type them; an empty box after a mistake is the data sheet's rate again.
    box = drawn.box("peak")
    for typed, rate in (("2 tflops", "2 TFLOP/s"), ("3 TFLOP", "3 TFLOP/s"), ("4T", "4 TFLOP/s")):
        enter(box, typed)
        expect(box).to_have_value(rate)
    enter(box, "fast")
    expect(box).to_have_attribute("aria-invalid", "true")
    message = drawn.page.locator(f"[id='{box.get_attribute('aria-describedby')}']")
    expect(message).to_contain_text("no number in “fast”")
    enter(box, "")
    expect(box).to_have_value("459 TFLOP/s")
    assert box.get_attribute("aria-describedby") is None
