"""The tab-separated text that Blackboard uploads: a question a line, without feedback."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from roofwidget.support import markdown
from roofwidget.teaching.lms.items import Item

MAX_ROWS: Final = 250
"""The most questions of a file that Blackboard's help recommends."""


def text(items: Sequence[Item]) -> str:
    """Return the text of a file."""
    return "".join(f"{chr(9).join(map(_cell, _row(item)))}\n" for item in items)


def _row(item: Item) -> list[str]:
    prompt = " ".join(map(_plain, markdown.tree(item.prompt)))
    if not item.is_choice:
        return ["NUM", prompt, item.right.text, item.right.tolerance]
    options = ((answer.text, "correct" if answer.is_right else "incorrect") for answer in item.answers)
    return ["MC", prompt, *(cell for option in options for cell in option)]


def _plain(node: markdown.Node) -> str:
    """Return the text of Markdown's elements."""
    return node if isinstance(node, str) else _joined(node[1:], " " if node[0] in {"ul", "ol", "br"} else "")


def _joined(nodes: Iterable[markdown.Node], between: str) -> str:
    return between.join(map(_plain, nodes))


def _cell(words: str) -> str:
    return " ".join(words.split())
