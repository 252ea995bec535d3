"""GIFT, the text format of Moodle."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Final

from roofwidget.support import markdown
from roofwidget.teaching.lms.items import Answer, Item, by_key

_RESERVED: Final = re.compile(r"([~=#{}:\\])")
_ALL_OTHERS: Final = "~#"


def text(items: Sequence[Item], title: str) -> str:
    """Return the text of a file. Variants of a key are in one category, from which a quiz can draw."""
    return "\n".join(part for key, variants in by_key(items).items() for part in _category(title, key, variants))


def _category(title: str, key: str, variants: Sequence[Item]) -> Iterator[str]:
    # A slash would begin another category.
    yield f"$CATEGORY: {' '.join(title.split()).replace('/', '//')}/{key}\n"
    for item in variants:
        yield f"{_question(item)}\n"


def _question(item: Item) -> str:
    head = f"::{_escaped(item.name)}::[html]{_markdown(item.prompt)}{{{'' if item.is_choice else '#'}"
    lines = [_option(answer) if item.is_choice else _number(answer) for answer in item.answers]
    if item.method:
        lines.append(f"{_ALL_OTHERS}{_plain(item.method)}")
    if item.explanation:
        lines.append(f"####{_markdown(item.explanation)}")
    return "\n".join([head, *lines, "}"])


def _option(answer: Answer) -> str:
    return f"{'=' if answer.is_right else '~'}{_plain(answer.text)}{_feedback(answer)}"


def _number(answer: Answer) -> str:
    return f"={'' if answer.is_right else '%0%'}{answer.text}:{answer.tolerance}{_feedback(answer)}"


def _feedback(answer: Answer) -> str:
    return f"#{_plain(answer.said)}" if answer.said else ""


def _plain(words: str) -> str:
    return _escaped(html.escape(words, quote=False))


def _markdown(words: str) -> str:
    return _escaped(markdown.html(words))


def _escaped(words: str) -> str:
    r"""Return text on one line, because a blank line ends a question, with a backslash before reserved signs."""
    return _RESERVED.sub(r"\\\1", words.replace("\r", "")).replace("\n", r"\n")
