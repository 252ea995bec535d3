"""Moodle XML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from roofwidget.support import markdown
from roofwidget.teaching.lms.items import Answer, Item, by_key

_DEFAULT_PENALTY: Final = "0.3333333"
_ALL_OTHERS: Final = "*"
_TYPED: Final = "moodle_auto_format"


def text(items: Sequence[Item], title: str) -> str:
    """Return the text of a file. Variants of a key are in one category, from which a quiz can draw."""
    quiz = Element("quiz")
    for key, variants in by_key(items).items():
        category = SubElement(SubElement(quiz, "question", type="category"), "category")
        SubElement(category, "text").text = f"{' '.join(title.split()).replace('/', '//')}/{key}"
        for item in variants:
            _question(quiz, item)
    indent(quiz, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(quiz, encoding="unicode")}\n'


def _question(quiz: Element, item: Item) -> None:
    question = SubElement(quiz, "question", type="multichoice" if item.is_choice else "numerical")
    _text(question, "name", item.name, "")
    _text(question, "questiontext", markdown.html(item.prompt))
    _text(question, "generalfeedback", markdown.html(item.explanation))
    values = {"defaultgrade": "1", "penalty": _penalty(item), "hidden": "0"}
    if item.is_choice:
        shuffle = "true" if item.can_shuffle else "false"
        values |= {"single": "true", "shuffleanswers": shuffle, "answernumbering": "none"}
    for name, value in values.items():
        SubElement(question, name).text = value
    for answer in item.answers:
        _answer(question, answer)
    if item.is_choice:
        return
    if item.method:
        _answer(question, Answer("others", _ALL_OTHERS, is_right=False, said=item.method, tolerance="0"))
        # Moodle shows it between the tries of "Interactive with multiple tries".
        _text(question, "hint", html.escape(item.method))
    for name, value in {"unitgradingtype": "0", "unitpenalty": "0.1", "showunits": "3", "unitsleft": "0"}.items():
        SubElement(question, name).text = value


def _penalty(item: Item) -> str:
    """Return the share that a wrong try costs. With three options a second try would be half a guess."""
    return "1" if item.is_choice and len(item.answers) <= 3 else _DEFAULT_PENALTY  # noqa: PLR2004 - as in grading


def _answer(question: Element, answer: Answer) -> None:
    layout = _TYPED if answer.tolerance else "html"
    shown = answer.text if answer.tolerance else html.escape(answer.text)
    element = _text(question, "answer", shown, layout)
    element.set("fraction", "100" if answer.is_right else "0")
    _text(element, "feedback", html.escape(answer.said))
    if answer.tolerance:
        SubElement(element, "tolerance").text = answer.tolerance


def _text(parent: Element, name: str, words: str, layout: str = "html") -> Element:
    element = SubElement(parent, name, {"format": layout} if layout else {})
    SubElement(element, "text").text = words
    return element
