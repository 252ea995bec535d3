"""The questions that an executed notebook asks, from the saved states of its widgets."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roofwidget.export.notebook import STATE, VIEW, language_of
from roofwidget.support import markdown, strict_json
from roofwidget.teaching.question import Question, by_key

_TEXTS: Final = ("prompt", "explanation")
_HEADING: Final = re.compile(r"^# +(.+?) *#*$", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """A question with the chart of its step.

    Attributes
    ----------
    question
        The question.
    caption
        The text of its step, as Markdown.
    state
        The values of the widget's traits at this step, as a page receives them; None without a chart.
    language
        The code of the language of the widget.
    """

    question: Question
    caption: str
    state: Mapping[str, Any] | None
    language: str


@dataclass(frozen=True)
class NotebookSheet:
    """What a notebook asks: its title, which is its first heading, and its questions in their order."""

    title: str
    asked: tuple[Asked, ...]


def read_notebook_sheet(path: Path) -> NotebookSheet:
    """Return the questions of an executed notebook whose widgets are saved with it.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no notebook, asks nothing, or has no saved widgets.
    """
    try:
        notebook: Any = strict_json.parse(path.read_text(encoding="utf-8")).value
        cells = [(cell["cell_type"], _text(cell["source"]), cell.get("outputs", [])) for cell in notebook["cells"]]
        states = notebook.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state", {})
        views = dict.fromkeys(
            output["data"][VIEW]["model_id"]
            for _, _, outputs in cells
            for output in outputs
            if VIEW in output.get("data", {})
        )
        found = [one for view in views if view in states for one in _asked(states[view])]
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no notebook: it is not UTF-8 text") from None
    except (AttributeError, LookupError, TypeError, strict_json.JsonError) as error:
        raise ValueError(f"{path.name} is no notebook, or is damaged: {error}") from None
    if not found:
        raise ValueError(
            f"{path.name}: no saved widget asks a question; run the notebook first, with "
            "'jupyter nbconvert --to notebook --execute --inplace'"
        )
    try:
        by_key([one.question for one in found])
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    headings = (match[1] for kind, text, _ in cells if kind == "markdown" for match in _HEADING.finditer(text))
    return NotebookSheet(next(headings, path.stem), tuple(found))


def _text(source: str | Sequence[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _asked(model: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield the questions of a saved widget; none if it has no story, or is of another package."""
    story = model["state"].get("story")
    if not isinstance(story, Mapping):
        return
    state, language = _with_buffers(model), language_of(str(model["state"].get("_esm")))
    for at, step in enumerate(story["steps"]):
        if step["question"] is not None:
            record = {**step["question"], **{name: markdown.source(step["question"][name]) for name in _TEXTS}}
            now = {**state, **story["base"], **step["changes"], "step": at, "answers": {}, "hovered": None}
            yield Asked(Question.from_record(record), markdown.source(step["caption"]), now, language)


def _with_buffers(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a saved widget with its binary values in their places."""
    state = {name: value for name, value in model["state"].items() if not name.startswith("_")}
    for one in model.get("buffers", []):
        *way, last = one["path"]
        place: Any = state
        for key in way:
            place = place[key]
        place[last] = base64.b64decode(one["data"])
    return state
