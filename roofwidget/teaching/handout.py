"""`class_handout`: the questions of a sheet on paper, and the key, as PDF or as a page to print."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roofwidget.export import engine
from roofwidget.export.engine import Picture
from roofwidget.export.pictures import typeset
from roofwidget.model import RooflineModel
from roofwidget.state.lesson import answer_text
from roofwidget.support import html_document, markdown
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import escaped
from roofwidget.teaching.classroom.sheet import read_sheet
from roofwidget.teaching.lms.items import with_digits
from roofwidget.teaching.notebook_sheet import Asked, read_notebook_sheet
from roofwidget.teaching.question import Question
from roofwidget.teaching.story import SLIDE_PX, asked

ENDS: Final = (".pdf", ".html")
_LINES: Final = {"number": 3, "choice": 0, "drag": 2, "merge": 4}
"""How many ruled lines a question of each kind gets."""
# Texts come as data: nothing in them is read as Typst.
_TYPST: Final = """\
#let data = json(bytes(sys.inputs.data))
#let blank(width) = box(width: width, height: 1em, stroke: (bottom: 0.5pt))
#set document(title: data.title, date: none)
#set text(size: 11pt, font: ("Hanken Grotesk", "Libertinus Serif"))
#set page(
  paper: "a4",
  margin: (x: 16mm, top: 30mm, bottom: 18mm),
  header: [
    *#data.title*
    #grid(columns: (1fr, auto), column-gutter: 8mm, align: bottom,
      text(size: 9pt, data.line),
      if not data.key [Name #blank(42mm) Id #blank(22mm)])
    #v(-1mm) #line(length: 100%, stroke: 0.5pt)
  ],
  footer: context align(center, text(size: 9pt)[page #counter(page).display("1 of 1", both: true)]),
)
#let render(node) = if type(node) == str { node } else {
  let name = node.first()
  let nodes = node.slice(1)
  let inside = nodes.map(render).join()
  if name == "strong" { strong(inside) }
  else if name == "em" { emph(inside) }
  else if name == "code" { raw(nodes.join()) }
  else if name == "pre" { raw(nodes.join(), block: true) }
  else if name == "br" { linebreak() }
  else if name == "ul" { list(..nodes.map(item => item.slice(1).map(render).join())) }
  else if name == "ol" { enum(..nodes.map(item => item.slice(1).map(render).join())) }
  else if name == "blockquote" { quote(block: true, inside) }
  else if name == "h3" { block(strong(inside)) }
  else if name == "p" { par(inside) }
  else { inside }
}
#let tick(is-right) = box(width: 3.4mm, height: 3.4mm, stroke: 0.6pt, baseline: 0.4mm,
  if is-right { align(center + horizon, text(size: 9pt)[×]) })
#for (at, one) in data.questions.enumerate() {
  block(breakable: false, width: 100%, above: 7mm, {
    [*#(at + 1)*]
    h(2mm)
    one.nodes.map(render).join(parbreak())
    if one.picture != none {
      block(image(bytes(one.picture.svg), format: "svg", width: 125mm, alt: one.picture.title))
    }
    for option in one.options { block(above: 2.5mm, [#tick(option.right) #h(2mm) #option.text]) }
    for line-number in range(one.lines) { block(above: 8mm, line(length: 100%, stroke: 0.4pt + gray)) }
    if one.answer != none {
      block(inset: (left: 4mm), stroke: (left: 1.5pt + gray), {
        par(strong(one.answer))
        one.explanation.map(render).join(parbreak())
        if one.source != "" { par(text(size: 9pt, one.source)) }
      })
    }
  })
}
"""
_ON_PAPER: Final = ["p", ["em", "On paper: mark the place in the chart, and write the number."]]
_STYLE: Final = """\
:root { color-scheme: light; }
html { background: #fff; }
body { max-width: 180mm; margin: 0 auto; padding: 16px; font: 11pt/1.4 system-ui, sans-serif; color: #111; }
header { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: baseline; border-bottom: 1px solid #111; }
h1 { font-size: 1.2em; margin: 0; }
header p { margin: 0; }
.blank { display: inline-block; width: 45mm; border-bottom: 1px solid #111; }
section { break-inside: avoid; margin: 7mm 0; }
section > img { width: 125mm; max-width: 100%; display: block; }
.options { list-style: none; padding: 0; }
.options li { margin: 2mm 0; }
.box { display: inline-block; width: 3.4mm; height: 3.4mm; border: 1px solid #111; font-size: 9pt; line-height: 3.4mm;
  text-align: center; vertical-align: -0.4mm; margin-right: 2mm; }
.rule { height: 9mm; border-bottom: 1px solid #888; }
.answer { border-left: 2px solid #888; padding-left: 4mm; }
@page {
  size: A4;
  margin: 18mm 16mm;
  @bottom-center { content: "page " counter(page) " of " counter(pages); font-size: 9pt; }
}
"""


def _picture(asked: Asked, *, is_key: bool) -> Picture | None:
    """Return the chart: as the step shows it while the question is open, or with nothing hidden."""
    if asked.state is None:
        return None
    answers = {asked.question.key: [asked.question.attempt]} if is_key else {}
    state = {**asked.state, "answers": answers, "title": ""}
    width, height = SLIDE_PX
    return engine.draw(state, asked.language, width=width, height=height)


@dataclass(frozen=True)
class _Paper:
    """A sheet on paper: its title, a line below it, and its questions."""

    title: str
    line: str
    printed: tuple[Asked, ...]

    def write(self, path: Path, *, is_key: bool) -> None:
        title = f"{self.title}: key" if is_key else self.title
        if path.suffix.lower() == ".html":
            path.write_text(self._html(title, is_key=is_key), encoding="utf-8", newline="\n")
            return
        try:
            made = typeset(_TYPST, {"data": json.dumps(self._data(title, is_key=is_key))})
        except ImportError as error:
            raise ImportError(f"{error}; or write a page (.html) and print it from a browser") from None
        path.write_bytes(made)

    def _data(self, title: str, *, is_key: bool) -> dict[str, Any]:
        questions = [_record(one, is_key=is_key) for one in self.printed]
        return {"title": title, "line": self.line, "key": is_key, "questions": questions}

    def _html(self, title: str, *, is_key: bool) -> str:
        data = self._data(title, is_key=is_key)
        parts = "\n".join(_section(at, one) for at, one in enumerate(data["questions"], start=1))
        blank = '<span class="blank"></span>'
        who = "" if is_key else f"<p>Name {blank} Id {blank}</p>"
        head = f"<h1>{escaped(title)}</h1><p>{escaped(self.line)}</p>{who}"
        body = f"<header>{head}</header>\n<main>\n{parts}\n</main>"
        return html_document.document(body, title=title, language=ENGLISH, style=_STYLE)


def class_handout(
    sheet: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    answer_key: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> Path:
    """Write the questions of a sheet for paper, and return the path.

    Each question has its chart as its step shows it, boxes for its options and ruled lines for the answer, and stays on
    one page. Each page of a PDF has places for name and id, and its number.

    Parameters
    ----------
    sheet
        A TOML file with questions of the bank, or an executed notebook; see `class_pages`.
    out
        A file that ends in ``.pdf``, for which typst is needed, or in ``.html``: a page that a browser prints.
    answer_key
        Where the same with answers, explanations and sources goes, for those who mark; None for none.
    seed
        The seed of the numbers of the bank; by default those that the sources print.

    Raises
    ------
    ImportError
        If a package is missing that draws pictures or writes PDF.
    OSError
        If a file cannot be read or written.
    ValueError
        If the sheet is wrong, or a name has another end.
    """
    targets = [(Path(out), False), *([] if answer_key is None else [(Path(answer_key), True)])]
    for path, _ in targets:
        if path.suffix.lower() not in ENDS:
            raise ValueError(f"a handout ends in .pdf or .html, not '{path.name}'")
    paper = _paper(Path(sheet), seed)
    for path, is_key in targets:
        paper.write(path, is_key=is_key)
    return Path(out)


def _paper(path: Path, seed: int | None) -> _Paper:
    sheet = read_sheet(path)
    questions = sheet.questions(seed)
    printed = tuple(_of_notebook(path, questions) if sheet.own else _of_bank(questions))
    course = "" if sheet.course == sheet.title else f"{sheet.course} · "
    numbers = "" if seed is None or sheet.own else f" · {seed}"
    return _Paper(sheet.title, f"{course}sheet {sheet.id}{numbers}", printed)


def _of_notebook(path: Path, questions: list[Question]) -> Iterator[Asked]:
    for question, one in zip(questions, read_notebook_sheet(path).asked, strict=True):
        yield Asked(question, one.caption, one.state if one.state and one.state["shown"] else None, one.language)


def _of_bank(questions: list[Question]) -> Iterator[Asked]:
    for one in questions:
        model = asked(RooflineModel, [one], {})
        yield Asked(with_digits(one), "", model.wire_state() if model.shown else None, ENGLISH)


def _record(printed: Asked, *, is_key: bool) -> dict[str, Any]:
    """Return a question as the templates need it."""
    one, picture = printed.question, _picture(printed, is_key=is_key)
    on_paper = [_ON_PAPER] if one.kind == "drag" else []
    return {
        "nodes": [*markdown.tree(printed.caption), *markdown.tree(one.prompt), *on_paper],
        "picture": None if picture is None else {"svg": picture.svg, "title": picture.title},
        "options": [{"text": option, "right": is_key and option == one.answer} for option in one.options],
        "lines": 0 if is_key else _LINES[one.kind],
        "answer": one.answer_text if is_key else None,
        "explanation": [*_accepted(one), *markdown.tree(one.explanation)],
        "source": one.source,
    }


def _accepted(one: Question) -> list[markdown.Node]:
    """Return which numbers count as right, for those who mark."""
    if one.kind not in ("number", "drag") or not one.tolerance:
        return []
    factor = 2 ** float(one.tolerance)
    low, high = (answer_text(one.kind, one.answer * by, one.unit) for by in (1 / factor, factor))
    return [["p", f"Accepted: {low} to {high}."]]


def _section(at: int, one: Mapping[str, Any]) -> str:
    parts = [f"<section><strong>{at}</strong> {''.join(map(markdown.html_of, one['nodes']))}"]
    if one["picture"] is not None:
        data = base64.b64encode(one["picture"]["svg"].encode()).decode("ascii")
        parts.append(f'<img alt="{escaped(one["picture"]["title"])}" src="data:image/svg+xml;base64,{data}">')
    if one["options"]:
        boxes = (
            f'<li><span class="box">{"×" if option["right"] else ""}</span>{escaped(option["text"])}</li>'
            for option in one["options"]
        )
        parts.append(f'<ul class="options">{"".join(boxes)}</ul>')
    parts += ['<div class="rule"></div>'] * one["lines"]
    if one["answer"] is not None:
        explanation = "".join(map(markdown.html_of, one["explanation"]))
        source = f"<p><small>{escaped(one['source'])}</small></p>" if one["source"] else ""
        parts.append(f'<div class="answer"><p><strong>{escaped(one["answer"])}</strong></p>{explanation}{source}</div>')
    return "\n".join([*parts, "</section>"])
