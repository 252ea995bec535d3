"""The widget for everyone: by keyboard and by ear, in forced colours, enlarged, right to left, wherever it is shown."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, box_of, centre, enter, shown
from tests.browser.lab import Notebook
from tests.places import ROOT, text_of

AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
# Every rule but those of whole pages, with the size of targets, which is off unless asked for; or a few rules alone.
CHECK = """async (root, only) => {
  const rules = only ? { runOnly: only } : { rules: { 'target-size': { enabled: true } } };
  // Of what passes only the names are wanted. Style sheets are loaded for a rule of whole pages alone.
  const brief = { resultTypes: ['violations', 'incomplete'], selectors: false, preload: false };
  const { violations, incomplete, passes } = await axe.run(root, { ...rules, ...brief });
  const found = [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}: ${failureSummary}`));
  return { found, passed: passes.map(({ id }) => id) };
}"""
# Names of whatever has the focus in turn but does not keep the notebook's keys away.
UNGUARDED = """(root) => [...root.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')]
  .filter((one) => one.dataset.lmSuppressShortcuts !== 'true').map((one) => one.outerHTML.slice(0, 200))"""
# What is smaller than 24 px either way; a tick or an option is pressed by its label, a link stands in a text.
SMALL = """(root) => [...root.querySelectorAll('button, input, select')]
  .map((one) => [one, (/checkbox|radio/.test(one.type) ? one.closest('label') : one).getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < 23.9 || height < 23.9))
  .map(([one, { width, height }]) => `${width} x ${height}: ${one.outerHTML.slice(0, 200)}`)"""
# Parts of the widget that are cut off where nothing scrolls.
CLIPPED = """(root) => {
  const right = root.getBoundingClientRect().right + 1;
  const scrolls = (one) => one !== root && (/auto|scroll|hidden/.test(getComputedStyle(one).overflowX)
    || scrolls(one.parentElement));
  return [...root.querySelectorAll('button, input, select, p, h3, svg, canvas')]
    .filter((one) => one.getBoundingClientRect().right > right && !scrolls(one.parentElement))
    .map((one) => one.outerHTML.slice(0, 200));
}"""
# Where the ticks of the axes are written, px from the chart's corner, without the browser's rounding.
TICKS = """(root) => [...root.querySelectorAll('.rw-axes text')].map((one) => Math.round(100 *
  (one.getBoundingClientRect().x - root.querySelector('.rw-chart').getBoundingClientRect().x)) / 100)"""
# Opens what can be opened, and what is in it: all but menus, which close when another has the focus.
UNFOLD = """async (root) => {
  const closed = () => [...root.querySelectorAll('[aria-expanded=false]:not([aria-haspopup])')];
  for (let depth = 0; depth < 4 && closed().length > 0; depth++) {
    for (const one of closed()) one.click();
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  }
  return closed().map((one) => one.outerHTML.slice(0, 200));
}"""
# What Tab stops at: a toolbar and a list are one stop each.
STOPS = ":is(button, input, select, [tabindex='0']):not([tabindex='-1'])"

PLAIN = "import roofwidget as rw\nw = rw.RooflineWidget()\nw"
# Chips for which there is no room in the bar.
CATALOGUE = """w = rw.RooflineWidget(rw.chips(), [
    {"name": "left", "flops": 1e9, "bytes": 1e9}, {"name": "right", "flops": 1e12, "bytes": 1e9}])
w.shown = ["h100-sxm", "a100-sxm-80gb"]
w"""
GRAPH = """g = rw.Graph("tail")
x = g.input("x", (rw.dim("batch", 1, 1024, default=32) * 2048, 4096), "bf16")
g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
w = rw.roofline(["h100-sxm"], graph=g)
w"""
# Categories of 90 %, 9 % and, too narrow for a pointer, 1 % of the time.
PROFILE = """names, times = ["matmul", "norm", "gelu", "copy", "send", "wait"], [50, 40, 5, 4, 0.5, 0.5]
kernels = rw.Kernels(names, [4e14, 1e12, 1.5e14, 0, 1e12, 1e12], {"HBM": [1e12, 2e12, 1e12, 1e12, 1e11, 1e11]},
                     time=times, category=["gemm", "gemm", "loop", "loop", "rest", "rest"])
w = rw.roofline([rw.Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})], kernels)
w"""
# Two runs compared.
RUNS = """w = rw.roofline("h100-sxm", [("matmul", 4e14, 1e12, 1.0), ("norm", 1e12, 2e12, 2.0)],
                baseline=[("matmul", 4e14, 1e12, 1.5), ("norm", 1e12, 2e12, 2.5)])
w"""


def run_alone(book: Notebook, cell: int) -> Drawn:
    """Run a cell, with the widgets of the others cleared away."""
    book.page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    book.run(cell)
    return Drawn(book)


def unfold(root: Locator) -> None:
    """Open the picker, the card, the table with its columns, and every fold."""
    assert root.evaluate(UNFOLD) == []


def checked(root: Locator) -> set[str]:
    """Hold all that is shown now to the rules; return the names of those that it was held to."""
    answer = root.evaluate(CHECK)
    assert answer["found"] == []
    assert root.evaluate(UNGUARDED) == []
    assert root.evaluate(SMALL) == []
    return set(answer["passed"])


def test_axe_finds_nothing_in_any_state_of_the_widget(notebook: OpenNotebook) -> None:
    cells = [PLAIN, CATALOGUE, GRAPH, PROFILE]
    # One output is one run over all of them, and none of them is taken off the page.
    book = notebook(["\n".join(f"{cell.removesuffix('w')}display(w)" for cell in cells)], height=2600)
    book.page.add_script_tag(content=text_of(AXE))
    book.run(0)
    profile = Drawn(book, 3)
    all_of_them = book.page.locator(".jp-Cell-outputArea")
    expect(all_of_them.locator(".roofwidget")).to_have_count(4)
    held = checked(all_of_them)
    assert {"color-contrast", "target-size", "label", "nested-interactive"} <= held
    unfold(all_of_them)
    profile.axes()
    expect(profile.get_by_role("dialog")).to_be_visible()
    assert checked(all_of_them) > held, "what scrolls is checked, too"
    expect(profile.locator(".rw-timebar > i")).to_have_count(3)
    expect(profile.locator("[data-rw='legend'] button[data-category]")).to_have_count(3)
    profile.press("Escape")
    # What is shown only for a while, each state after the other.
    profile.tool("marks").click()
    expect(profile.get_by_role("dialog", name="What the marks mean")).to_be_visible()
    checked(profile.root)
    profile.press("Escape")
    profile.tool("open").click()
    checked(profile.root)
    path = profile.get_by_role("textbox", name="Path")
    enter(path, "../elsewhere.csv")
    checked(profile.root)
    profile.button("Show alone").click()
    expect(profile.get_by_role("alert").first).to_be_visible()
    enter(profile.box("peak"), "fast")
    expect(profile.box("peak")).to_have_attribute("aria-invalid", "true")
    checked(profile.root)
    book.python("(setattr(w, 'presentation', True), setattr(w, 'view', 'time'))")
    expect(profile.locator(".rw-diagonal")).to_have_count(1)
    profile.locator(".rw-large").wait_for()
    checked(profile.root)
    # Another theme has other colours, and the rest as it was.
    book.theme("dark")
    expect(profile.locator(".rw-dark")).to_be_visible()
    contrasts(all_of_them)
    book.python("(setattr(w, 'presentation', False), setattr(w, 'view', 'roofline'))")
    profile.locator(".rw-large").wait_for(state="detached")
    profile.tool("marks").click()
    expect(profile.get_by_role("dialog", name="What the marks mean")).to_be_visible()
    contrasts(profile.root)


def contrasts(root: Locator) -> None:
    """Hold the colours of all that is shown now to the rule for contrast."""
    answer = root.evaluate(CHECK, ["color-contrast"])
    assert (answer["found"], answer["passed"]) == ([], ["color-contrast"])


def test_axe_finds_nothing_while_a_kernel_is_hovered_or_a_file_opened_and_on_a_phone(notebook: OpenNotebook) -> None:
    cells = ["import roofwidget as rw\nw = rw.explore()\nw", RUNS]
    book = notebook(["\n".join(f"{cell.removesuffix('w')}display(w)" for cell in cells)], height=2600)
    book.page.add_script_tag(content=text_of(AXE))
    book.run(0)
    empty, compared = Drawn(book, 0), Drawn(book, 1)
    checked(empty.root)
    empty.button("Open", exact=True).first.click()
    checked(empty.root)
    empty.button("Add a chip").click()
    expect(empty.get_by_role("combobox", name="Search chips")).to_be_visible()
    checked(empty.root)
    compared.chart.focus()
    compared.press("End")
    assert compared.tooltip()
    checked(compared.root)
    book.python("setattr(w, 'view', 'time')")
    expect(compared.locator(".rw-diagonal")).to_have_count(1)
    checked(compared.root)
    book.python("setattr(w, 'view', 'roofline')")
    x, y = compared.place(1000, book.python("w.peak_flops"))
    compared.mouse.move(x, y - 40)
    compared.mouse.move(x, y)
    expect(compared.get_by_role("note")).to_be_visible()
    checked(compared.root)
    book.page.set_viewport_size({"width": 480, "height": 2600})
    compared.locator(".rw-narrow").wait_for()
    unfold(compared.root)
    checked(compared.root)
    compared.locator("[data-tool=more]").click()
    expect(compared.get_by_role("menu", name="More")).to_be_visible()
    checked(compared.root)
    book.theme("dark")
    expect(compared.locator(".rw-dark")).to_be_visible()
    contrasts(compared.root)
    contrasts(empty.root)


def stops(drawn: Drawn) -> list[str]:
    """Return what Tab goes to within the widget, in order."""
    names = []
    for _ in range(120):
        drawn.press("Tab")
        name = drawn.root.evaluate("""(root) => {
          const one = document.activeElement;
          if (!root.contains(one)) return null;
          const { outlineStyle, outlineWidth } = getComputedStyle(one);
          const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 ? '' : 'no ring: ';
          return ring + (one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent);
        }""")
        if name is None:
            break
        names.append(name)
    return names


def spoken(drawn: Drawn) -> str:
    """Return what the status row under the chart says to those who hear it."""
    lines = drawn.locator(".rw-formula + .rw-spoken").all_text_contents()
    return lines[0].replace("\xa0", " ")


def aloud(drawn: Drawn) -> str:
    """Return the sentence of the status row without the signs between its parts."""
    return drawn.sentence().replace(" · ", ", ")


def heard_once(drawn: Drawn) -> None:
    assert spoken(drawn) == aloud(drawn)
    tree = drawn.root.aria_snapshot().replace("\xa0", " ")
    assert tree.count("ridge point 640.8 FLOP/B") == 1
    assert re.search(r"status: .*ridge point 640\.8 FLOP/B", tree)
    assert re.search(r'slider "Peak fp8".*', tree)
    expect(drawn.slider("bandwidth")).to_have_attribute("aria-valuetext", "7.2 terabytes per second")

    # Not all along a drag, which Ctrl+Z takes back wherever the focus is.
    during: list[str] = []
    before = spoken(drawn)

    def rested() -> None:
        # Longer than the pace of what is written while a control is held.
        drawn.page.wait_for_timeout(200)
        during.extend([spoken(drawn), aloud(drawn)])

    drawn.drag("bandwidth", 0.2, steps=4, during=rested)
    assert during[0] == before
    assert during[1] != before
    assert spoken(drawn) == aloud(drawn) == during[1]
    drawn.slider("bandwidth").press("Control+z")
    assert spoken(drawn) == aloud(drawn) == before


def undone_from_what_goes_away(drawn: Drawn) -> None:
    """Move a kernel, which moves nothing under the chart, and undo it from the button that would take it back."""
    size = drawn.page.viewport_size
    assert size is not None
    drawn.page.set_viewport_size({"width": 900, "height": size["height"]})
    sliders = drawn.locator("[data-rw='slider']").first
    drawn.chart.focus()
    drawn.press("End")
    before = centre(sliders)
    for key in ("m", "ArrowUp", "Enter"):
        drawn.press(key)
    assert "what if: 50 " in drawn.sentence()
    assert centre(sliders) == before
    back = drawn.locator(".rw-footer").get_by_role("button", name="Remove")
    back.press("Control+z")
    expect(back).to_have_count(0)
    # Nothing stood behind it: what stood before it.
    expect(drawn.button(re.compile("^Select (it|these)"))).to_be_focused()
    drawn.page.set_viewport_size(size)


def test_everything_is_heard_once_and_done_by_keyboard_and_focus_comes_back(notebook: OpenNotebook) -> None:
    book = notebook([PLAIN, "# next\n", CATALOGUE, PROFILE])
    book.start(0)
    book.page.evaluate("() => { window.focused = document.activeElement; }")
    book.wait(0)
    drawn = Drawn(book)
    assert book.page.evaluate("() => window.focused === document.activeElement"), "a new widget takes no focus"
    heard_once(drawn)

    drawn.locator("button").first.focus()
    reached = stops(drawn)
    assert not [name for name in reached if name.startswith("no ring")]
    assert len(reached) == drawn.locator(STOPS).filter(visible=True).count() - 1

    drawn = run_alone(book, 2)
    button = drawn.button("Add a chip")
    button.press("Enter")
    drawn.get_by_role("combobox", name="Search chips").focus()
    drawn.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    # The tabs are one stop, and arrow keys open one after the other. Closed, the focus is back at its tab.
    kernels, chip = (drawn.locator(f"[data-rw='tab-{name}']") for name in ("kernels", "chip"))
    kernels.press("ArrowRight")
    expect(chip).to_be_focused()
    expect(drawn.locator(".rw-card")).to_be_visible()
    drawn.button("Close").press("Enter")
    expect(drawn.get_by_role("tabpanel")).to_have_count(0)
    expect(chip).to_be_focused()

    scroller = drawn.root.evaluate_handle("""(root) => {
      let one = root.parentElement;
      while (one && !(one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY)))
        one = one.parentElement;
      return one ?? document.scrollingElement;
    }""")
    drawn.chart.scroll_into_view_if_needed()
    drawn.chart.focus()
    top = scroller.evaluate("(one) => one.scrollTop")
    for key, name in (("End", "right"), ("Home", "left"), ("ArrowRight", "right"), ("ArrowLeft", "left")):
        drawn.press(key)
        assert drawn.tooltip().startswith(name)
    drawn.press("Space")
    drawn.becomes("list(w.selected)", [0])
    drawn.press("ArrowUp")
    assert scroller.evaluate("(one) => one.scrollTop") == top

    # Whose cycles they are.
    book.python("setattr(w, 'rate_unit', 'FLOP/cycle')")
    menu = drawn.axes()
    expect(menu).to_contain_text("Cycles of NVIDIA A100 SXM4 80GB: 1.41 GHz")
    drawn.press("Escape")
    expect(menu).to_have_count(0)

    drawn = run_alone(book, 3)
    undone_from_what_goes_away(drawn)
    search = drawn.get_by_role("searchbox")
    search.fill("nothing is called so")
    clear = drawn.button("Clear").first
    clear.press("Enter")
    expect(drawn.chart).to_be_focused()
    assert book.page.locator(".jp-Notebook .jp-Cell").count() == 4


def colours(drawn: Drawn) -> dict[str, Any]:
    answer: dict[str, Any] = drawn.root.evaluate("""(root) => {
      const style = (selector) => getComputedStyle(root.querySelector(selector));
      return {
        label: root.querySelector('text[data-label^="roof"]').getAttribute('fill'),
        halo: root.querySelector('text[data-label^="roof"]').getAttribute('stroke'),
        axes: root.querySelector('.rw-axes').getAttribute('fill'),
        box: style('.rw-box').borderTopColor,
        chosen: style('.rw-chosen').outlineStyle,
        parts: new Set([...root.querySelectorAll('.rw-timebar > i')]
          .map((one) => getComputedStyle(one).backgroundColor)).size,
      };
    }""")
    return answer


def test_it_follows_forced_colours_a_narrow_page_and_text_from_right_to_left(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, PROFILE.replace("names", "import roofwidget as rw\nnames", 1), height=1400)
    unfold(drawn.root)
    table = drawn.get_by_role("grid")
    table.press("ArrowDown")
    table.press("Enter")
    table.blur()
    expect(drawn.locator(".rw-chosen")).to_have_count(1)
    ours = colours(drawn)
    assert (ours["halo"], ours["box"], ours["chosen"]) == ("#ffffff", "rgb(217, 221, 227)", "none")
    assert ours["parts"] == 3
    schemes: tuple[Any, ...] = (
        ("light", "#ffffff", "#000000", "rgb(0, 0, 0)"),
        ("dark", "#000000", "#ffffff", "rgb(255, 255, 255)"),
    )
    for scheme, background, text, edge in schemes:
        book.page.emulate_media(forced_colors="active", color_scheme=scheme)
        expect(drawn.locator(".rw-axes").first).to_have_attribute("fill", text)
        forced = colours(drawn)
        assert (forced["halo"], forced["box"], forced["chosen"], forced["parts"]) == (background, edge, "solid", 3)
    book.page.emulate_media(forced_colors="none", color_scheme="light")
    expect(drawn.locator(".rw-axes").first).to_have_attribute("fill", ours["axes"])

    # Half as many px is what a page enlarged to 200 % has; 460 leave the widget less than 360.
    for width in (600, 460):
        book.page.set_viewport_size({"width": width, "height": 1400})
        drawn.eventually(lambda: drawn.locator(".rw-narrow").count() == 1)
        assert drawn.root.evaluate(CLIPPED) == []
        assert drawn.root.evaluate(SMALL) == []

    places = drawn.root.evaluate(TICKS)
    thumb = float(drawn.slider("peak").input_value())
    book.page.evaluate("() => { document.body.dir = 'rtl'; }")
    assert drawn.root.evaluate(TICKS) == places
    assert drawn.root.evaluate(CLIPPED) == []
    slider = drawn.slider("peak")
    slider.press("ArrowRight")
    assert float(slider.input_value()) > thumb
    row = drawn.locator("[data-rw='slider']").first
    box = row.locator(".rw-box")
    assert centre(box)[0] < centre(row)[0], "the box stands where a line ends"


def test_in_a_presentation_everything_is_larger_and_under_the_hand(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, GRAPH.replace("g =", "import roofwidget as rw\ng =", 1), height=1200)
    label = drawn.locator("text[data-label='roof h100-sxm']")
    small = box_of(label)
    drawn.tool("present").click()
    drawn.locator(".rw-large").wait_for()
    drawn.eventually(lambda: book.python("w.presentation") is True)
    drawn.tool("present").press("Enter")
    drawn.locator(".rw-large").wait_for(state="detached")
    drawn.eventually(lambda: book.python("w.presentation") is False)
    book.python("setattr(w, 'presentation', True)")
    drawn.locator(".rw-large").wait_for()
    drawn.press("Escape")
    large = box_of(label)
    assert abs(large["height"] / small["height"] - 1.6) < 0.05
    sizes = drawn.root.evaluate("""(root) => [...root.querySelectorAll('p, button, select, input, text, dt')]
      .filter((one) => one.getClientRects().length > 0)
      .map((one) => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom)""")
    assert min(sizes) >= 16
    # The chart has the room of the inspector until a tab is opened.
    expect(drawn.get_by_role("tab")).not_to_have_count(0)
    expect(drawn.get_by_role("tabpanel")).to_have_count(0)
    drawn.open_tab("fusion")
    expect(drawn.get_by_role("tabpanel")).to_have_count(1)
    drawn.locator("[data-op='gelu']").click()
    expect(drawn.locator("[data-op='gelu']")).to_have_class(re.compile("cursor"))

    drawn.chart.scroll_into_view_if_needed()
    # Where it would lie after the scroll, the browser says when it likes.
    drawn.mouse.move(2, 2)
    drawn.chart.focus()
    drawn.press("ArrowRight")
    told = drawn.tooltip()
    x, y = centre(drawn.locator(".rw-ring").first)
    drawn.press("Escape")
    drawn.mouse.move(x, y)
    assert drawn.tooltip() == told
    pixels = drawn.locator("canvas").evaluate("(one) => one.width / one.getBoundingClientRect().width")
    assert abs(pixels - 1) < 0.01

    flat = drawn.locator(".rw-handles [data-part=peak]")
    x, y = centre(flat)
    drawn.mouse.move(x + 40, y)
    drawn.mouse.down()
    drawn.mouse.move(x + 40, y + 30)
    drawn.mouse.move(x + 40, y + 60)
    drawn.eventually(lambda: abs(centre(flat)[1] - y - 60) < 2)
    drawn.press("Escape")
    drawn.mouse.up()
    drawn.eventually(lambda: abs(centre(flat)[1] - y) < 2)
    assert drawn.root.evaluate(CLIPPED) == []


def foot(one: Locator) -> float:
    box = box_of(one)
    return box["y"] + box["height"]


def size(drawn: Drawn) -> tuple[float, float]:
    box = box_of(drawn.chart)
    return box["width"], box["height"]


def test_it_fills_a_screen_of_its_own_and_comes_back_from_where_it_was_hidden(notebook: OpenNotebook) -> None:
    book = notebook([PLAIN, "w"], width=1600, height=800)
    book.run(0)
    book.run(1)
    drawn, second = Drawn(book, 0), Drawn(book, 1)
    before = size(drawn)
    drawn.tool("screen").press("Enter")
    drawn.eventually(lambda: 540 < size(drawn)[1] < 760)
    drawn.tool("screen").press("Enter")
    drawn.eventually(lambda: size(drawn) == before)
    drawn.tool("screen").click()
    drawn.eventually(lambda: 540 < size(drawn)[1] < 760)
    # The chart, its sliders and its status row fill one screen.
    drawn.eventually(lambda: 760 < foot(drawn.locator("[data-rw='status']")) <= 800)
    assert drawn.root.evaluate("(root) => getComputedStyle(root).backgroundColor") == "rgb(255, 255, 255)"
    drawn.tool("screen").click()
    drawn.eventually(lambda: size(drawn) == before)

    fold = "window.jupyterapp.shell.currentWidget.content.widgets[1].outputHidden"
    book.page.evaluate(f"{fold} = true")
    expect(book.page.locator(".rw-chart")).to_have_count(1)
    book.python("setattr(w, 'peak_flops', 2e15)")
    expect(drawn.locator(".rw-ridge-number")).to_have_text("ridge 277.8")
    book.page.evaluate(f"{fold} = false")
    expect(book.page.locator(".rw-chart")).to_have_count(2)
    drawn.eventually(lambda: size(second) == before)
    assert second.roof("v7x-fp8") == drawn.roof("v7x-fp8")
    assert second.locator("canvas").evaluate("(one) => one.width") == before[0]

    book.page.set_viewport_size({"width": 3840, "height": 2160})
    drawn.eventually(lambda: size(drawn)[0] > 3000)
    assert size(drawn)[1] == 640
