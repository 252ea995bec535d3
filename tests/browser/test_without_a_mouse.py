"""The first look without a mouse: what a screen reader says first, where Tab stops, and what a finger can do."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from playwright.sync_api import Locator, expect

import roofwidget as rw
from tests.browser.drawn import box_of
from tests.browser.first_look import bert, chain, copies, layers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

    from tests.browser.exported import Exported

# What is announced as a whole: its content is its name or its value.
WHOLE = {
    *("application", "button", "columnheader", "combobox", "gridcell", "heading", "image", "link", "rowheader"),
    *("searchbox", "slider", "tab", "textbox", "DisclosureTriangle"),
}
# What is not announced: it holds other elements, or it is silent until it changes.
SILENT = {"RootWebArea", "main", "generic", "none", "paragraph", "status", "row", "rowgroup", "LabelText", "tabpanel"}
# The words of a state that is on, and of one that is off.
STATES = {
    "pressed": ("pressed", "not pressed"),
    "expanded": ("expanded", "collapsed"),
    "selected": ("selected", "not selected"),
    "disabled": ("disabled", ""),
}
# Signs that are drawn for the eye. A "×" between two numbers is a word of the text.
SIGNS = re.compile(r"[▾▸▴▲⌄⌃⤢⋯↶↷⟲✓→]|\s·|·\s|(?:^|\s)×(?:\s|$)")
FOCUSED = """() => {
  const one = document.activeElement;
  return one.getAttribute("aria-label") ?? one.textContent;
}"""

DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 480, "height": 900}, "has_touch": True}
Open: TypeAlias = "Callable[..., Exported]"


def heard(page: Page) -> Iterator[str]:
    """Yield the role, the name and the state of all that is read, such as "button: Undo (disabled)", in its order."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    known = {node["nodeId"]: node for node in nodes}

    def walk(node: dict[str, Any]) -> Iterator[str]:
        role = "" if node["ignored"] else node["role"]["value"]
        name = node.get("name", {}).get("value", "").replace("\xa0", " ").strip()
        if role == "StaticText" and name:
            yield f"text: {name}"
        elif role and role not in {*SILENT, "StaticText"}:
            found = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
            states = [STATES[state][found[state] not in (True, "true")] for state in STATES if state in found]
            state = ", ".join(filter(None, [*states, f"level {found['level']}" if role == "heading" else ""]))
            yield f"{role}: {name}" + (f" ({state})" if state else "")
        for child in () if role in {*WHOLE, "StaticText"} else node.get("childIds", ()):
            if child in known:
                yield from walk(known[child])

    return walk(nodes[0])


def opened_page(exported: Open, widget: rw.RooflineWidget, **options: Any) -> Exported:
    opened = exported(widget.to_html(), **options)
    expect(opened.drawn.locator("[data-rw=slider]").first).to_be_visible()
    expect(opened.drawn.locator("[data-rw=inspector]")).to_be_visible()
    return opened


def test_the_verdict_is_the_first_thing_a_reader_hears_of_a_profile(exported: Open) -> None:
    opened = opened_page(exported, rw.roofline("h100-sxm", bert()), **DESK)
    assert list(heard(opened.page))[1:24] == [
        "group: The GPU is idle 92 % of the time.",
        "toolbar: Toolbar",
        "button: Add a chip (collapsed)",
        "button: Show NVIDIA H100 SXM5 80GB (pressed)",
        "button: H100 SXM5",
        "button: Precision: auto, bf16 (collapsed)",
        "button: Memory: main, HBM (collapsed)",
        "button: View: Roofline (collapsed)",
        "button: Undo (disabled)",
        "button: Redo (disabled)",
        "button: Save (collapsed)",
        "button: Present (not pressed)",
        "button: What the marks mean (collapsed)",
        "button: More (collapsed)",
        "text: bert-small.json.gz",
        "text: PyTorch",
        "text: 16 kernels on H100 SXM5",
        "text: bytes are computed from shapes, not measured",
        "button: 2 remarks (collapsed)",
        "heading: The GPU is idle 92 % of the time. (level 2)",
        (
            "text: Kernels run 309 µs of 3.91 ms, in 61 launches of 5.07 µs. "
            "The 5 to fix first could save up to 220 µs; at every roof 35.1 µs would remain."
        ),
        "text: idle 92 %, 3.6 ms",
        "group: Kernel time by category",
    ]


def test_a_german_reader_on_a_phone_hears_the_same_and_then_each_kernel_in_one_sentence(exported: Open) -> None:
    widget = rw.roofline("h100-sxm", bert(), locale="de-DE")
    said = list(heard(opened_page(exported, widget, **PHONE).page))
    assert said[:15] == [
        "heading: NVIDIA H100 SXM5 80GB (level 1)",
        "group: Die GPU ist 92 % der Zeit untätig.",
        "toolbar: Werkzeugleiste",
        "button: Chip hinzufügen (collapsed)",
        "button: NVIDIA H100 SXM5 80GB zeigen (pressed)",
        "button: H100 SXM5",
        "button: bf16, HBM: Genauigkeit, Speicher, Ansicht (collapsed)",
        "button: Mehr (collapsed)",
        "text: bert-small.json.gz",
        "text: PyTorch",
        "text: 16 Kernel auf H100 SXM5",
        "button: 2 Anmerkungen (collapsed)",
        "heading: Die GPU ist 92 % der Zeit untätig. (level 2)",
        (
            "text: Kernel laufen 309 µs von 3,91 ms, in 61 Starts zu 5,07 µs. "
            "Die ersten 5 Kernel könnten bis zu 220 µs sparen; an allen Rooflines blieben 35,1 µs."
        ),
        "text: untätig 92 %, 3,6 ms",
    ]
    kernels = said[said.index("gridcell: Zuerst beheben diese 5 sparen bis zu 220 µs Diese 5 auswählen") + 1 :]
    assert kernels[:2] == [
        "gridcell: 1 addmm 512×512, 98,7 µs, 4,2 % der Roofline, sparbar 94,6 µs",
        "gridcell: 2 scaled_dot_product_flash_attention, 37,4 µs, 1,8 % der Roofline, sparbar 36,7 µs",
    ]
    assert "gridcell: all, 3,65 µs, sparbar unbekannt" in said
    assert "combobox: Farbe (collapsed)" in said


@pytest.mark.parametrize("options", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: rw.roofline("h100-sxm", bert()),
        lambda: rw.roofline(kernels=copies()),
        lambda: rw.roofline("h100-sxm", layers(16), baseline=layers()),
        lambda: rw.roofline("h100-sxm", graph=chain()),
        lambda: rw.roofline(["v5p", "v6e"]),
    ],
    ids=["profile", "copies", "runs", "graph", "chips"],
)
def test_no_sign_is_read_out_no_control_is_nameless_and_nothing_is_said_twice_in_a_row(
    exported: Open, make: Callable[[], rw.RooflineWidget], options: dict[str, Any]
) -> None:
    said = list(heard(opened_page(exported, make(), **options).page))
    assert len(said) > 20
    assert [one for one in said if SIGNS.search(one)] == []
    controls = [one for one in said if one.partition(":")[0] in WHOLE - {"gridcell"}]
    assert [one for one in controls if re.fullmatch(r"\w+: (\(.*\))?", one)] == []
    # Numbers and words of a table may well be equal.
    names = [one.partition(": ")[2] for one in said if not one.startswith("gridcell")]
    repeated = [one for one, other in itertools.pairwise(names) if one and one == other]
    assert repeated == []


def test_a_name_that_the_table_cuts_is_read_whole_and_an_unknown_number_is_called_unknown(exported: Open) -> None:
    opened = opened_page(exported, rw.roofline("h100-sxm", bert()), **DESK)
    grid = opened.drawn.get_by_role("grid")
    row = grid.get_by_role("row", name="2 scaled_dot_product_flash_attention 37.4 µs 1.8 % 36.7 µs", exact=True)
    expect(row).to_have_count(1)
    expect(grid.get_by_role("row", name="eq 1.76 µs unknown unknown", exact=True)).to_have_count(1)


def test_idle_time_is_no_kernel_wherever_kernels_are_counted(exported: Open) -> None:
    opened = opened_page(exported, rw.roofline("h100-sxm", bert()), **DESK)
    root = opened.drawn.root
    expect(root.get_by_role("application", name=re.compile("with 16 kernels"))).to_have_count(1)
    expect(root.get_by_role("status").filter(has_text="16 of 16 kernels")).to_have_count(1)
    expect(root.get_by_role("status").filter(has_text="3 kernels are not drawn: all, Memcpy DtoH")).to_have_count(1)
    expect(root).not_to_contain_text("17")


def test_tab_stops_once_at_the_toolbar_and_then_follows_the_screen(exported: Open) -> None:
    opened = opened_page(exported, rw.roofline("h100-sxm", bert()), **DESK)
    stops = []
    for _ in range(21):
        opened.page.keyboard.press("Tab")
        stops.append(opened.page.evaluate(FOCUSED).replace("\xa0", " "))
    assert stops == [
        "Add a chip",
        "2 remarks",
        *("matrix product 64 %", "attention 12 %", "normalisation 10 %", "element by element 8.4 %"),
        *("look-up 3.2 %", "no category 1.7 %", "+ 1 more ▾", "Colour"),
        (
            "Roofline of NVIDIA H100 SXM5 80GB with 16 kernels. "
            "Arrow keys move from kernel to kernel, Enter selects one, M moves one."
        ),
        *("Peak bf16", "Peak bf16, typed", "Peaks", "HBM bandwidth", "HBM bandwidth, typed", "Peaks"),
        *("Kernels 16", "All columns ⤢", "Close the inspector", "Search names"),
    ]


def tap(where: Locator) -> None:
    """Tap the middle of an element, which may be a line that Playwright would call covered."""
    where.scroll_into_view_if_needed()
    box = box_of(where)
    where.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_the_first_tap_on_a_kernel_shows_its_figures_and_the_second_selects_it(exported: Open) -> None:
    drawn = opened_page(exported, rw.roofline("h100-sxm", bert()), **PHONE).drawn
    place = drawn.place(1256718336 / 13839360, 1256718336 / 98.718e-6)
    chosen = drawn.locator("[data-rw=row][aria-selected=true]")
    drawn.page.touchscreen.tap(*place)
    assert drawn.tooltip().startswith("addmm 512×512 | ")
    expect(chosen).to_have_count(0)
    drawn.page.touchscreen.tap(*place)
    expect(chosen).to_have_count(1)
    expect(chosen).to_contain_text("addmm 512×512")
    # Beside all kernels, a tap takes both back.
    drawn.page.touchscreen.tap(*drawn.place(10, 1e14))
    expect(chosen).to_have_count(0)
    expect(drawn.get_by_role("tooltip")).to_be_hidden()


def test_a_tap_on_the_roof_shows_its_ceilings_and_what_a_drag_would_change(exported: Open) -> None:
    drawn = opened_page(exported, rw.roofline("h100-sxm", bert()), **PHONE).drawn
    ceilings = drawn.locator("[data-rw=ceiling]")
    before = ceilings.count()
    drawn.page.touchscreen.tap(*drawn.place(1000, 9.895e14))
    expect(drawn.get_by_role("note")).to_have_text("drag: peak")
    assert ceilings.count() > before
    drawn.page.touchscreen.tap(*drawn.place(10, 1e14))
    expect(drawn.get_by_role("note")).to_have_count(0)
    expect(ceilings).to_have_count(before)


def test_the_first_tap_on_an_edge_shows_what_a_merge_would_bring_and_the_second_merges(exported: Open) -> None:
    root = opened_page(exported, rw.roofline("h100-sxm", graph=chain()), **PHONE).drawn.root
    edge, note = root.locator("[data-rw=edge]").first, root.locator("[data-rw=edge-note]")
    tap(edge)
    expect(note).to_have_text("Merge: 1.28 ms → 962 µs")
    expect(root.locator("[data-rw=merge-preview]")).to_have_count(1)
    # The preview stays when the finger is lifted, as long as nothing else is tapped.
    tap(root.locator("[data-rw=verdict]"))
    expect(note).to_have_count(0)
    tap(edge)
    tap(edge)
    expect(note).to_have_text("Split: 962 µs → 1.28 ms")
