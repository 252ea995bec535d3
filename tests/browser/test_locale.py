"""The front end in another language, beside an English one on the page, and on a page that runs from right to left."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.drawn import Drawn, enter

# At 0.25 FLOP/B the slope gives 250 GFLOP/s of 2 TFLOP/s.
TWO = """import roofwidget as rw
chip = rw.Chip("Plain", {"bf16": 2e12}, {"HBM": 1e12})
e, d = (rw.roofline([chip], [("copy", 1e9, 4e9)], locale=locale) for locale in ("en", "de"))
e.selected = d.selected = [0]
display(e, d)"""
ENGLISH = (
    "copy on Plain · min(2 TFLOP/s, 0.25 FLOP/B × 1 TB/s) = 250 GFLOP/s attainable · memory-bound (HBM)"
    " · at most 12 % of peak"
)
GERMAN = (
    "copy auf Plain · min(2 TFLOP/s; 0,25 FLOP/B × 1 TB/s) = 250 GFLOP/s erreichbar · speichergebunden (HBM)"
    " · höchstens 12 % der Spitze"
)
IMPORTED = "() => globalThis[Symbol.for('roofwidget')].size"
RIGHT_TO_LEFT = "(on) => { document.body.dir = on ? 'rtl' : ''; }"
# The chart's texts and where each stands in it.
PLACES = """(chart) => {
  const origin = chart.getBoundingClientRect();
  return [...chart.querySelectorAll('text')].map((text) => {
    const { x, y, width } = text.getBoundingClientRect();
    return [text.textContent, ...[x - origin.x, y - origin.y, width].map(Math.round)];
  });
}"""


def test_two_languages_stand_on_one_page_and_a_widget_changes_its_own(notebook: OpenNotebook) -> None:
    book = notebook([TWO, "d.locale, e.locale = 'en', 'de'"])
    book.run(0)
    english, german = Drawn(book, 0), Drawn(book, 1)
    english.eventually(lambda: english.sentence() == ENGLISH)
    german.eventually(lambda: german.sentence() == GERMAN)
    expect(english.locator("[lang=en]")).to_have_count(1)
    expect(german.locator("[lang=de]")).to_have_count(1)
    assert book.page.evaluate(IMPORTED) == 2

    box = german.get_by_role("textbox", name="Spitze bf16, eingetippt")
    enter(box, "2,5 PFLOP/s")
    expect(box).to_have_value("2,5 PFLOP/s")
    expect(box).to_have_attribute("title", "×1250")
    german.becomes("[d.peak_flops, e.peak_flops]", [2.5e15, 2e12])
    enter(box, "2,5")
    status = german.locator("[data-rw='status']")
    expect(status).to_contain_text("„2,5“ hat keine Einheit; zum Beispiel „2 PFLOP/s“ schreiben")

    # A chart is read from left to right wherever it stands.
    before = german.chart.evaluate(PLACES)
    book.page.evaluate(RIGHT_TO_LEFT, arg=True)
    german.page.wait_for_timeout(100)
    assert german.chart.evaluate(PLACES) == before
    book.page.evaluate(RIGHT_TO_LEFT, arg=False)

    book.run(1)
    expect(english.locator("[lang=de]")).to_have_count(1)
    english.eventually(lambda: english.sentence() == GERMAN)
    expect(german.get_by_role("textbox", name="Peak bf16, typed")).to_have_value("2.5 PFLOP/s")
    assert book.page.locator(".rw-frame").count() == 2
    assert book.page.evaluate(IMPORTED) == 2
    assert book.console_errors == []
