"""The page of a student: a sheet without answers, which collects what the student enters and saves it as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from roofwidget.export.answers import FORMAT, VERSION
from roofwidget.export.page import policy_hash
from roofwidget.support import markdown
from roofwidget.support.text_tables import escaped
from roofwidget.teaching.classroom.sheet import Sheet
from roofwidget.teaching.classroom.students import Student, slug
from roofwidget.teaching.lms.items import Item

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
# What was entered is kept in the browser by the token, so that a reload loses nothing.
_SCRIPT: Final = """\
(() => {
  const sheet = JSON.parse(document.getElementById("sheet").textContent);
  const form = document.querySelector("form");
  const status = document.querySelector("[role=status]");
  const place = "roofwidget-sheet-" + sheet.token;
  const entered = () => Object.fromEntries(new FormData(form));
  try {
    for (const [key, value] of Object.entries(JSON.parse(localStorage.getItem(place)) ?? {})) {
      const field = form.elements.namedItem(key);
      if (field) field.value = value;
    }
  } catch {}
  const count = () => Object.values(entered()).filter((value) => value.trim()).length;
  const say = (text) => { status.textContent = `${count()} of ${sheet.questions.length} answered. ${text}`; };
  form.addEventListener("input", () => {
    try { localStorage.setItem(place, JSON.stringify(entered())); } catch {}
    say("Not saved as a file yet.");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = entered();
    const answers = {};
    const { units, file, ...head } = sheet;
    for (const { key } of sheet.questions) {
      const value = (given[key] ?? "").trim();
      const unit = units[key];
      if (value) answers[key] = [unit && !/[A-Za-zµ%]$/.test(value) ? `${value} ${unit}` : value];
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
"""


def student_page(sheet: Sheet, student: Student, token: str, items: Sequence[Item]) -> str:
    """Return the HTML of a page. It has neither answers nor the seed, and asks no network for anything."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "course": sheet.course,
        "sheet": sheet.id,
        "id": student.id,
        "token": token,
        "questions": [{"key": item.key, "prompt": item.prompt} for item in items],
        "units": {item.key: item.unit for item in items},
        "file": f"answers-{''.join(slug(student.id))}.json",
    }
    fields = "\n".join(_field(at, item) for at, item in enumerate(items, start=1))
    policy = (
        f"default-src 'none'; script-src {policy_hash(_SCRIPT)}; style-src {policy_hash(_STYLE)}; "
        "base-uri 'none'; form-action 'none'"
    )
    who = f"{student.name} · {student.id}" if student.name else student.id
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="roofwidget">
<title>{escaped(sheet.title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>{escaped(sheet.title)}</h1>
<p>{escaped(sheet.course)} · {escaped(who)} · sheet {sheet.id} · {token}</p>
</header>
<form>
{fields}
<button>Save answers</button>
<p role="status"></p>
</form>
<script type="application/json" id="sheet">{_json(record)}</script>
<script>{_SCRIPT}</script>
</body>
</html>
"""


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
        inputs = f'<label>{label} <input type="text" name="{name}" autocomplete="off" maxlength="100"></label>'
    return f"<fieldset><legend>{number}</legend>{markdown.html(item.prompt)}\n{inputs}</fieldset>"
