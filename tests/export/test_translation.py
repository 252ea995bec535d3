"""Translations of notebooks: the texts that are extracted, and the pages that are made with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.export.notebook import lesson_of, texts_of
from roofwidget.export.translation import Translation, template_of, translation_of
from roofwidget.support import markdown
from tests.export.test_course import cell, written
from tests.places import ROOT, text_of

SOURCE = """\
# Roofs and 4 bytes

The H100 has 3.35 TB/s,
and takes 40 minutes.

- One item of `3.5 * x`
- See [lesson 2](02_two.ipynb#step=3)

```python
print("2.5 stays")
```

| name | 1,024 rows |
| --- | --- |
"""
GERMAN = {
    "Roofs and {1} bytes": "Dächer und {1} Byte",
    "The H100 has {1} TB/s, and takes {2} minutes.": "In {2} Minuten: Die H100 hat {1} TB/s.",
    "See [lesson {1}](02_two.ipynb#step=3)": "Siehe [Lektion {1}](02_two.ipynb#step=3)",
    "name | {1} rows |": "Name | {1} Zeilen |",
    "Two **kernels**": "Zwei **Kernel**",
    "Which one takes {1} ms?": "Welcher braucht {1} ms?",
    "the first": "der erste",
    "the second": "der zweite",
    "It takes {1} ms.": "Er braucht {1} ms.",
    "How many?": "Wie viele?",
    "You counted {1} bytes twice.": "{1} Byte sind doppelt gezählt.",
    "Bytes / bandwidth.": "Byte / Bandbreite.",
    "times": "Mal",
}


def told() -> rw.RooflineWidget:
    widget = rw.RooflineWidget(["v5p"], [("matmul", 4e12, 8e10)], title="Not translated")
    which = rw.Question(
        key="which",
        prompt="Which one takes 1.5 ms?",
        answer="the second",
        options={"the first": "It takes 2 ms.", "the second": "It takes 1.5 ms."},
    )
    many = rw.Question(
        key="many",
        prompt="How many?",
        answer=3,
        unit="times",
        wrong_answers={8 / 3: "You counted 2 bytes twice."},
        method="Bytes / bandwidth.",
    )
    rw.Story(widget, [rw.Step("Two **kernels**"), which, many])
    return widget


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    widget = told()
    return written(tmp_path, "03_roofs", cell(SOURCE), cell("code", widget), cell("again", widget))


def translated(path: Path, said: dict[str, str] = GERMAN) -> Path:
    """Write a translation of a lesson by the command and a translator, and return its path."""
    assert main(["translate", str(path), "--language", "de"]) == 0
    file = path.parent / "translations" / "de" / f"{path.stem}.po"
    text = text_of(file)
    for source, german in said.items():
        text = text.replace(f'msgid "{source}"\nmsgstr ""', f'msgid "{source}"\nmsgstr "{german}"')
    file.write_text(text, encoding="utf-8")
    return file


def test_each_paragraph_and_each_text_of_a_story_is_a_text_with_its_context(lesson: Path) -> None:
    assert texts_of(lesson) == [
        ("lesson-3/cell-0", "Roofs and 4 bytes"),
        ("lesson-3/cell-0", "The H100 has 3.35 TB/s, and takes 40 minutes."),
        ("lesson-3/cell-0", "One item of `3.5 * x`"),
        ("lesson-3/cell-0", "See [lesson 2](02_two.ipynb#step=3)"),
        ("lesson-3/cell-0", "name | 1,024 rows |"),
        ("lesson-3/title", "Not translated"),
        ("lesson-3/step-1/caption", "Two **kernels**"),
        ("lesson-3/which/prompt", "Which one takes 1.5 ms?"),
        ("lesson-3/which/a1", "the first"),
        ("lesson-3/which/a1/text", "It takes 2 ms."),
        ("lesson-3/which/a2", "the second"),
        ("lesson-3/which/a2/text", "It takes 1.5 ms."),
        ("lesson-3/many/prompt", "How many?"),
        ("lesson-3/many/method", "Bytes / bandwidth."),
        ("lesson-3/many/unit", "times"),
        ("lesson-3/many/wrong/2.667", "You counted 2 bytes twice."),
    ]


@pytest.mark.parametrize(
    ("text", "template", "numbers"),
    [
        ("From 1,024 to 2.5, and 3.", "From {1} to {2}, and {3}.", ["1,024", "2.5", "3"]),
        ("MatMul 600x600 of an H100 in bf16: 10³", "MatMul 600x600 of an H100 in bf16: 10³", []),
        ("9 / 3 = 3", "{1} / {2} = {3}", ["9", "3", "3"]),
        ("`x[1]` and 2 of [3](4.ipynb)", "`x[1]` and {1} of [{2}](4.ipynb)", ["2", "3"]),
        ("1,02 is none of thousands, 1.2.3 no number", "1,02 is none of thousands, 1.2.3 no number", []),
    ],
)
def test_numbers_are_placeholders_and_names_and_code_are_not(text: str, template: str, numbers: list[str]) -> None:
    assert template_of(text) == (template, numbers)


def test_a_translated_page_has_the_words_and_the_numbers_of_its_language(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translated(lesson)
    assert main(["page", str(lesson), "--language", "de", "--contents", "Ein Kurs"]) == 0
    html, contents = (text_of(lesson.parent / name) for name in ("03_roofs.html", "index.html"))
    assert '<html lang="de">' in html
    assert "<title>Dächer und 4 Byte</title>" in html
    assert "<p>In 40 Minuten: Die H100 hat 3,35 TB/s.</p>" in html
    assert "1.024 Zeilen" in html
    assert "2.5 stays" in html
    assert "<p>Welcher braucht 1,5 ms?</p><ul><li>der erste</li><li>der zweite</li></ul>" in html
    assert '<nav aria-label="Kurs">' in html
    assert "40 Minuten" in contents
    assert "Weiter mit {title}" in contents
    assert capsys.readouterr().err.splitlines() == [
        "03_roofs.ipynb: not translated: One item of `3.5 * x`",
        "03_roofs.ipynb: not translated: Not translated",
    ]


def test_a_translated_question_has_its_key_its_ids_and_its_answer(lesson: Path) -> None:
    translation = Translation(translated(lesson), "de")
    assert lesson_of(lesson, translation).title == "Dächer und 4 Byte"
    assert main(["page", str(lesson), "--language", "de", "--print-answers"]) == 0
    html = text_of(lesson.with_suffix(".html"))
    assert html.count("<strong>Antwort: der zweite</strong>") == 2
    assert html.count("<strong>Antwort: 3 Mal</strong>") == 2


def test_a_lesson_without_a_translation_stays_as_it_is_and_is_named(
    lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["page", str(lesson), "--language", "de"]) == 0
    assert '<html lang="en">' in text_of(lesson.with_suffix(".html"))
    assert capsys.readouterr().err == ("03_roofs.ipynb has no translation into 'de': its page stays as it is\n")


def test_a_language_without_words_is_refused(lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", str(lesson), "--language", "xx"]) == 1
    assert capsys.readouterr().err == "roofwidget: --language: the widgets have the languages en, de, not 'xx'\n"


@pytest.mark.parametrize(("german", "shown"), [("Dächer", "none"), ("Dächer {1} {2}", "{1} {2}")])
def test_a_translation_with_other_placeholders_is_refused(
    german: str, shown: str, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translated(lesson, {"Roofs and {1} bytes": german})
    assert main(["page", str(lesson), "--language", "de"]) == 1
    assert capsys.readouterr().err == (
        f"roofwidget: 03_roofs.po: the translation of 'Roofs and {{1}} bytes' has the placeholders {shown}, and the "
        "text {1}\n"
    )


def test_a_file_that_is_no_translation_is_refused(lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translated(lesson).write_text("no entry", encoding="utf-8")
    assert main(["page", str(lesson), "--language", "de"]) == 1
    assert capsys.readouterr().err.startswith("roofwidget: 03_roofs.po is no .po file")


def test_texts_keep_their_translations_when_they_move_and_numbers_change(lesson: Path) -> None:
    file = translated(lesson)
    before = text_of(file)
    translated(lesson)
    assert text_of(file) == before
    moved = SOURCE.replace("3.35", "4.8").replace("- One item of `3.5 * x`\n", "")
    written(lesson.parent, lesson.stem, cell("A new text."), cell(moved))
    translated(lesson)
    after = text_of(file)
    assert 'msgctxt "lesson-3/cell-1"\nmsgid "Roofs and {1} bytes"\nmsgstr "Dächer und {1} Byte"' in after
    assert 'msgid "A new text."\nmsgstr ""' in after
    assert "One item" not in after
    translation = translation_of(lesson, "de")
    assert translation is not None
    assert translation("elsewhere", "The H100 has 4.8 TB/s, and takes 45 minutes.") == (
        "In 45 Minuten: Die H100 hat 4,8 TB/s."
    )


@pytest.mark.parametrize(
    "text",
    [
        "**Where?** At `x * y`, *not* there.\n\nA second paragraph.",
        "- one\n- **two**\n- three",
        "1. one\n2. two",
        "### Heading\n\n```\nx = 1\n```\n\n> Said.",
    ],
)
def test_the_elements_of_a_text_are_those_of_its_markdown(text: str) -> None:
    nodes = markdown.tree(text)
    assert [one for node in nodes for one in markdown.tree(markdown.source([node]))] == nodes


TRANSLATIONS = sorted((ROOT / "notebooks" / "translations").glob("*/*.po"))


@pytest.mark.parametrize("file", TRANSLATIONS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_texts_of_a_lesson_of_the_course_are_translated(file: Path) -> None:
    # The stories are in executed notebooks only: "make course" lists their texts.
    translation = Translation(file, file.parent.name)
    for context, text in texts_of(ROOT / "notebooks" / f"{file.stem}.ipynb"):
        translation(context, text)
    assert list(translation.missing) == []
    assert re.findall('msgstr ""\n\n', text_of(file)) == []
