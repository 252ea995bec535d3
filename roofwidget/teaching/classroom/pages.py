"""The page of a student: it saves what the student enters as a file, without answers, or live and with them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from roofwidget import units
from roofwidget.export import page
from roofwidget.export.answers import FORMAT, VERSION
from roofwidget.model import RooflineModel
from roofwidget.support import html_document, markdown
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import escaped
from roofwidget.teaching.bank.exercise import BANK_VERSION
from roofwidget.teaching.classroom.sheet import Sheet
from roofwidget.teaching.classroom.students import Student, file_name
from roofwidget.teaching.lms.items import Item, with_digits
from roofwidget.teaching.question import Question
from roofwidget.teaching.story import asked

_STYLE: Final = """\
:root { color-scheme: light dark; }
body { max-width: 70ch; margin: 0 auto; padding: 16px; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
fieldset { margin: 0 0 24px; padding: 8px 16px 16px; border: 1px solid #8888; break-inside: avoid; }
legend { font-weight: 600; }
label { display: block; min-height: 24px; padding: 2px 0; }
input[type=text] { font: inherit; width: 16ch; }
button { font: inherit; padding: 6px 16px; }
@page { size: A4; margin: 18mm 16mm; }
@media print { button, [role=status] { display: none; } }
"""
_HOW: Final = (
    "Nothing is checked here: the page does not know the answers. This browser keeps what you enter. At the end choose "
    "<em>Save answers</em>, and hand in the saved file, not this page, where your course collects files. The line above"
    " says whose page this is, of which sheet, and the token by which your file is known as yours: give it to nobody."
)
_CONTAINS_ANSWERS: Final = "Answers are in this page: it checks what you enter."
# Reads what `roofwidget.teaching.written` reads, without the value of its unit.
READER: Final = """\
const read = (text, pattern) => {
  const plain = text.trim().replace(/[\\u00a0\\u2009\\u202f]/g, " ").replaceAll("−", "-").replaceAll("\\u03bc", "µ")
    .replace(/^(?:[A-Za-z][A-Za-z0-9_]{0,19})?\\s*[=≈~]\\s*|\\s*\\.$/g, "")
    .replace(/(?<=10)[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+/g, "^$&")
    .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/g, (raised) => "0123456789-"["⁰¹²³⁴⁵⁶⁷⁸⁹⁻".indexOf(raised)])
    .replace(/\\s*[·*x×]\\s*10(?:\\^|\\*\\*)([+-]?[0-9]{1,3})(?![0-9])/g, "e$1")
    .replace(/(?<![0-9.,_'])([1-9][0-9]{0,2})(([,_' ])[0-9]{3}(?:\\3[0-9]{3})*)(?![0-9])/g,
      (_, first, rest) => first + rest.replace(/[,_' ]/g, ""))
    .replace(/(?<=[0-9]),(?=[0-9]+(?![0-9,]))/, ".");
  const number = "([+-]?(?:[0-9]+(?:\\\\.[0-9]*)?|\\\\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)";
  const found = new RegExp(`^${number}(?:\\\\s*/\\\\s*${number})?\\\\s*([^]*)$`).exec(plain);
  if (!found) return undefined;
  const value = Number(found[1]) / Number(found[2] ?? 1);
  const names = ["nano", "micro", "milli", "kilo", "mega", "giga", "tera", "peta"];
  const unit = found[3].trim();
  const spelled = unit.replace(/\\s+per\\s+/gi, "/").replace(/\\/seconds?$/i, "/s")
    .replace(new RegExp(`^(${names.join("|")})(?=[a-z])`, "i"), (name) => "nµmkMGTP"[names.indexOf(name.toLowerCase())])
    .replace(/^([kKMGTP]?)F\\/B$/, "$1FLOP/B");
  return Number.isFinite(value) && new RegExp(`^(?:${pattern})$`).test(spelled) ? { value, unit } : undefined;
};
"""
# What was entered is kept in the browser by the token, so that a reload loses nothing.
_SCRIPT: Final = """\
(() => {
READER
  const sheet = JSON.parse(document.getElementById("sheet").textContent);
  const form = document.querySelector("form");
  const status = document.querySelector("[role=status]");
  const place = "roofwidget-sheet-" + sheet.token;
  const entered = () => Object.fromEntries(new FormData(form));
  const echo = (field) => {
    const [unit, pattern] = sheet.numbers[field.name];
    const typed = field.value.trim();
    const found = read(typed, pattern);
    const behind = (found?.unit || unit).replace(/^u(?=s)/, "µ");
    const said = found
      ? `Read as ${Number(found.value.toPrecision(6))} ${behind}`
      : `Cannot be read: write a number, such as 12 ${unit}`;
    field.parentNode.nextElementSibling.textContent = typed && said.trim();
  };
  try {
    for (const [key, value] of Object.entries(JSON.parse(localStorage.getItem(place)) ?? {})) {
      const field = form.elements.namedItem(key);
      if (field) field.value = value;
    }
  } catch {}
  const count = () => Object.values(entered()).filter((value) => value.trim()).length;
  const say = (text) => { status.textContent = `${count()} of ${sheet.questions.length} answered. ${text}`; };
  for (const field of form.querySelectorAll("input[type=text]")) {
    echo(field);
    field.addEventListener("input", () => echo(field));
  }
  form.addEventListener("input", () => {
    try { localStorage.setItem(place, JSON.stringify(entered())); } catch {}
    say("Not saved as a file yet.");
  });
  // Enter in a field sends a form: it saves nothing here.
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button").addEventListener("click", () => {
    const given = entered();
    const answers = {};
    const { numbers, file, ...head } = sheet;
    for (const { key } of sheet.questions) {
      const value = (given[key] ?? "").trim();
      const found = numbers[key] && read(value, numbers[key][1]);
      if (value) answers[key] = [found && !found.unit ? `${found.value} ${numbers[key][0]}`.trim() : value];
    }
    const text = JSON.stringify({ ...head, answers, saved_at: new Date().toISOString() }, null, 1);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = file;
    link.click();
    say(`Saved as ${file}: hand in this file.`);
  });
  say("");
})();
""".replace("READER\n", READER)


def head_of(sheet: Sheet, student: Student, token: str, questions: Sequence[Question]) -> dict[str, Any]:
    """Return what a file of answers says beside the answers: whose they are, and to which questions."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "course": sheet.course,
        "sheet": sheet.id,
        "id": student.id,
        "token": token,
        "bank_version": BANK_VERSION,
        # Drawn numbers are left out: a drawn ridge point is an answer.
        "questions": [{"key": question.key, "prompt": question.prompt} for question in questions],
        "file": file_name(student),
    }


def student_page(
    sheet: Sheet, student: Student, head: Mapping[str, Any], questions: Sequence[Question], items: Sequence[Item]
) -> str:
    """Return the HTML of a page. It has neither answers nor the seed, and asks no network for anything.

    `items` has an item for each question.
    """
    numbers = {
        one.key: [item.unit, pattern_of(one.unit)]
        for one, item in zip(questions, items, strict=True)
        if not item.is_choice
    }
    record = {**head, "numbers": numbers}
    fields = "\n".join(_field(at, item) for at, item in enumerate(items, start=1))
    body = f"""\
{_header(sheet, student, head)}
<p>{_HOW}</p>
<form>
{fields}
<button type="button">Save answers</button>
<p role="status"></p>
</form>
<script type="application/json" id="sheet">{_json(record)}</script>
<script>{_SCRIPT}</script>"""
    return html_document.document(body, title=sheet.title, language=ENGLISH, style=_STYLE, scripts=[_SCRIPT])


def pattern_of(unit: str) -> str:
    """Return a pattern of what may stand behind a number in a unit."""
    if unit in units.UNITS:
        return units.suffix_pattern(unit)
    return f"(?:{re.escape(unit)})?" if unit else "%?"


def live_page(
    sheet: Sheet,
    student: Student,
    head: Mapping[str, Any],
    questions: Sequence[Question],
    day: date,
    *,
    is_shown: bool,
) -> str:
    """Return the HTML of a page with charts that checks answers, and contains them.

    The state of its widget is compressed. If `is_shown`, the answers are at the end too, as text.

    Raises
    ------
    ValueError
        If one widget cannot ask all questions.
    """
    model = asked(RooflineModel, [with_digits(question) for question in questions], {})
    part = page.part_of(model.wire_state(), model.locale, model.fallback_html())
    body = f"""\
{_header(sheet, student, head)}
<p>{_CONTAINS_ANSWERS}</p>
{part.html}
<script type="application/json" data-hand-in>{_json(head)}</script>
{_solutions(questions) if is_shown else ""}"""
    return page.document([part], body, sheet.title, day)


def _header(sheet: Sheet, student: Student, head: Mapping[str, Any]) -> str:
    who = f"{student.name} · {student.id}" if student.name else student.id
    line = " · ".join(dict.fromkeys([sheet.course, who, f"sheet {sheet.id}", f"token {head['token']}"]))
    return f"<header>\n<h1>{escaped(sheet.title)}</h1>\n<p>{escaped(line)}</p>\n</header>"


def _solutions(questions: Sequence[Question]) -> str:
    found = "\n".join(
        f"<li>{markdown.html(one.prompt)}<p><strong>{escaped(one.answer_text)}</strong></p>"
        f"{markdown.html(one.explanation)}{f'<p>{escaped(one.source)}</p>' if one.source else ''}</li>"
        for one in questions
    )
    return f"<details><summary>Answers</summary><ol>\n{found}\n</ol></details>"


def _json(record: Any) -> str:
    """Return JSON that cannot end the element around it."""
    return json.dumps(record).replace("<", "\\u003c")


def _field(number: int, item: Item) -> str:
    name = escaped(item.key)
    if item.is_choice:
        inputs = "\n".join(
            f'<label><input type="radio" name="{name}" value="{escaped(answer.id)}"> {escaped(answer.text)}</label>'
            for answer in item.answers
        )
    else:
        label = f"Number{f' in {escaped(item.unit)}' if item.unit else ''}"
        field = f'<input type="text" name="{name}" autocomplete="off" maxlength="100">'
        inputs = f'<label>{label} {field}</label><span aria-live="polite"></span>'
    return f"<fieldset><legend>{number}</legend>{markdown.html(item.prompt)}\n{inputs}</fieldset>"
