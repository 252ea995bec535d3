"""Writes a learner's answers with their questions, as JSON that `roofwidget.grade` reads.

`js/src/panels/story/answers_file.ts` writes the same form.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

FORMAT: Final = "roofwidget answers"
VERSION: Final = 1


def text(questions: Iterable[Mapping[str, Any]], answers: Mapping[str, Sequence[Any]]) -> str:
    """Return the text of a file with the records of questions and all answers by key."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "questions": list(questions),
        "answers": {key: list(given) for key, given in answers.items()},
    }
    return json.dumps(document, allow_nan=False, indent=1) + "\n"
