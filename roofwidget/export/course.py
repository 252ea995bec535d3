"""The pages of a course beside its texts: the contents, the links between lessons, and the questions on paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from urllib.parse import quote

from roofwidget.export import page
from roofwidget.readers.page import MARK
from roofwidget.state.lesson import answer_text
from roofwidget.support import built_files, markdown
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import escaped

CONTENTS: Final = "index.html"
"""The name of the page with the contents of a course."""
STYLE: Final = """\
.skip { position: absolute; left: 16px; transform: translateY(-200%); padding: 4px 8px; background: inherit; }
.skip:focus { transform: none; }
nav { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: baseline; font-size: 13px; }
nav p { margin: 0; }
nav details { margin: 0; flex-basis: 100%; }
nav li { margin: 0; }
summary { padding: 2px 0; }
nav a, .next a { display: inline-block; min-height: 24px; min-width: 24px; line-height: 24px; }
.facts > :not([hidden]) ~ :not([hidden])::before { content: " · "; }
.next { margin: 32px 0 0; }
.cell details { margin: 8px 0 0; font-size: inherit; }
.text_cell_render :is(p, ul, ol, blockquote) { max-width: 62ch; }
.on-paper { display: none; }
@page { size: A4; margin: 18mm 16mm; }
@media print {
  nav, .skip, .next, .anchor-link, details:not([open]) { display: none; }
  body { padding: 0; }
  .roofwidget { zoom: var(--on-paper, 1); }
  .roofwidget :is(.rw-story, .rw-tabs, [data-rw="toolbar"], [data-rw="slider"], [data-rw="status"]) {
    display: none !important;
  }
  pre { white-space: pre-wrap; }
  section { break-inside: avoid; margin: 0; }
  .on-paper { display: block; }
  .on-paper > li, pre, img, svg, table { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
  .on-paper ul { list-style: none; padding: 0; }
  .on-paper ul > li::before { content: "\\2610\\00a0\\00a0"; }
  .ruled { border-bottom: 1px solid; height: 10mm; }
}
"""
_CONTENTS_STYLE: Final = """\
body { max-width: 800px; }
li { margin: 12px 0; }
li p { margin: 0; font-size: 13px; }
li a { display: inline-block; min-height: 24px; line-height: 24px; }
"""
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    ENGLISH: {
        "answer": "Answer: {}",
        "code": "Code",
        "solution": "Solution",
        "answered": "{answered} of {asked} answered",
        "continue": "Continue with {title}",
        "contents": "Contents",
        "course": "Course",
        "minutes": "{} minutes",
        "next": "Next: {}",
        "previous": "Previous: {}",
        "sections": "Sections and steps",
        "skip": "Skip to the lesson",
        "step": "Step {}",
        "steps": "Steps:",
    },
    "de": {
        "answer": "Antwort: {}",
        "code": "Code",
        "solution": "Lösung",
        "answered": "{answered} von {asked} beantwortet",
        "continue": "Weiter mit {title}",
        "contents": "Inhalt",
        "course": "Kurs",
        "minutes": "{} Minuten",
        "next": "Weiter: {}",
        "previous": "Zurück: {}",
        "sections": "Abschnitte und Schritte",
        "skip": "Zur Lektion springen",
        "step": "Schritt {}",
        "steps": "Schritte:",
    },
}
_SECTION: Final = re.compile(rf'<h2 id="([^"]+)">(.*?)</h2>|<section {MARK}>', re.DOTALL)
_ANCHOR: Final = re.compile(r'<a class="anchor-link".*?</a>', re.DOTALL)
_TAG: Final = re.compile("<[^>]*>")


@dataclass(frozen=True)
class Lesson:
    """What the contents of a course say of a notebook.

    Attributes
    ----------
    page
        The name of its page.
    title
        Its first heading, or the name of its file.
    sections
        Its headings of the second level.
    minutes
        How long it takes by its first text, or None.
    asked
        How many questions its page asks. Zero if the notebook has not been executed.
    """

    page: str
    title: str
    sections: tuple[str, ...]
    minutes: int | None = None
    asked: int = 0


def words(language: str) -> Mapping[str, str]:
    """Return the words of the pages in a language, or in English."""
    return _WORDS.get(language, _WORDS[ENGLISH])


def contents_page(lessons: Iterable[Lesson], title: str, day: date, language: str = ENGLISH) -> str:
    """Return the HTML of a table of contents with a link to the page of each lesson."""
    lessons = list(lessons)
    items = "\n".join(
        f'<li><a href="{_address(lesson)}">{escaped(lesson.title)}</a>'
        f"<p>{escaped(' · '.join(lesson.sections))}</p>{_facts(lesson, language)}</li>"
        for lesson in lessons
    )
    asks = any(lesson.asked for lesson in lessons)
    resume = f'<p data-continue="{escaped(words(language)["continue"])}" hidden></p>\n' if asks else ""
    return page.document(
        [],
        f"<h1>{escaped(title)}</h1>\n{resume}<ol>\n{items}\n</ol>",
        title,
        day,
        f"{STYLE}{_CONTENTS_STYLE}",
        language=language,
        script=built_files.text("contents.js") if asks else "",
    )


def navigation(lessons: Sequence[Lesson], at: int, sections: str, language: str) -> str:
    """Return the HTML that stands before a lesson: the links to the lessons beside it and to its `sections`."""
    said, lesson = words(language), lessons[at]
    return f"""\
<a class="skip" href="#main">{said["skip"]}</a>
<nav aria-label="{said["course"]}">
{_neighbour(lessons, at - 1, "previous", language)}
<a href="{CONTENTS}">{said["contents"]}</a>
{_neighbour(lessons, at + 1, "next", language)}
{_facts(lesson, language)}
{sections}
</nav>
"""


def next_lesson(lessons: Sequence[Lesson], at: int, language: str) -> str:
    """Return the HTML that stands after a lesson: the link to the next lesson, or ""."""
    link = _neighbour(lessons, at + 1, "next", language)
    return f'\n<p class="next">{link}</p>' if link else ""


def sections(body: str, stories: Sequence[Mapping[str, Any] | None], language: str) -> str:
    """Return links to the sections of a lesson and to the steps of its stories.

    Parameters
    ----------
    body
        The HTML of the lesson.
    stories
        The stories of its widgets on the wire, in their order; None for a widget without a story.
    language
        The language of the words between the links.
    """
    said, items, told = words(language), [""], iter(stories)
    place = 0
    for found in _SECTION.finditer(body):
        if found[1] is not None:
            items.append(f'<a href="#{found[1]}">{_TAG.sub("", _ANCHOR.sub("", found[2]))}</a>')
        elif (story := next(told)) is not None:
            place += 1
            links = (
                f'<a href="#{step_id(place, step)}" aria-label="{said["step"].format(step)}">{step}</a>'
                for step in range(1, len(story["steps"]) + 1)
            )
            items[-1] += f" <span>{said['steps']} {' '.join(links)}</span>"
    listed = "\n".join(f"<li>{item}</li>" for item in items if item)
    return f"<details><summary>{said['sections']}</summary><ul>\n{listed}\n</ul></details>" if listed else ""


def step_id(story: int, step: int) -> str:
    """Return the name of a step in the address of a page, both from 1, as the front end reads it."""
    return f"step={step}" if story == 1 else f"story={story}&amp;step={step}"


def steps_and_paper(story: Mapping[str, Any], place: int, language: str, *, has_answers: bool) -> tuple[str, str]:
    """Return the HTML before and after the widget of a story: the targets of links, and the questions on paper."""
    steps = story["steps"]
    targets = "".join(f'<span id="{step_id(place, step)}"></span>' for step in range(1, len(steps) + 1))
    asked = [step for step in steps if step["question"]]
    items = "\n".join(f"<li>{''.join(_on_paper(step, language, has_answers=has_answers))}</li>" for step in asked)
    return targets, f'<ol class="on-paper">\n{items}\n</ol>' if items else ""


def _on_paper(step: Mapping[str, Any], language: str, *, has_answers: bool) -> Iterator[str]:
    question = step["question"]
    yield "".join(map(markdown.html_of, step["caption"]))
    yield "".join(map(markdown.html_of, question["prompt"]))
    options = "".join(f"<li>{escaped(option)}</li>" for option, _ in question["options"])
    yield f"<ul>{options}</ul>" if options else '<p class="ruled"></p>'
    # A vote has no right answer.
    if has_answers and question.get("graded", True):
        answer = words(language)["answer"].format(answer_text(question["kind"], question["answer"], question["unit"]))
        yield f"<p><strong>{escaped(answer)}</strong></p>"
    if has_answers:
        yield "".join(map(markdown.html_of, question["explanation"]))


def _neighbour(lessons: Sequence[Lesson], at: int, which: str, language: str) -> str:
    if not 0 <= at < len(lessons):
        return ""
    rel = "prev" if which == "previous" else which
    label = words(language)[which].format(lessons[at].title)
    return f'<a href="{_address(lessons[at])}" rel="{rel}">{escaped(label)}</a>'


def _facts(lesson: Lesson, language: str) -> str:
    """Return how long a lesson takes, and a place for how many questions are answered; "" if neither is known."""
    said = words(language)
    minutes = "" if lesson.minutes is None else f"<span>{said['minutes'].format(lesson.minutes)}</span>"
    asked = (
        f'<span data-progress="{said["answered"]}" data-asked="{lesson.asked}" hidden></span>' if lesson.asked else ""
    )
    return f'<p class="facts">{minutes}{asked}</p>' if minutes or asked else ""


def _address(lesson: Lesson) -> str:
    return escaped(quote(lesson.page))
