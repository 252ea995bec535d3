"""No lesson uses a word of the glossary before the lesson that explains it, unless it says what the word means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.places import ROOT, json_of, text_of

GLOSSARY: Final = ROOT / "docs" / "glossary.md"
LESSONS: Final = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
_ROW: Final = re.compile(r"^\| ([^|]+) \| ([^|]+) \| \[(\d+)\]\(\.\./notebooks/(\w+\.ipynb)\) \|$", re.MULTILINE)
# A text of a lesson that a learner reads, in contrast to names of files and keys.
_SHORTEST_SENTENCE: Final = 12
# How far from a word its explanation or its link may be, letters.
_NEAR: Final = 160


@dataclass(frozen=True)
class Word:
    """A word of the glossary."""

    name: str
    meaning: str
    lesson: int

    @property
    def stem(self) -> str:
        """The word without what every use may leave out."""
        return self.name.removesuffix(" bytes")

    def found_in(self, text: str) -> re.Match[str] | None:
        """Return the first use of the word, also in the plural."""
        start = re.escape(self.stem).replace(r"\ ", r"[\s-]")
        flags = re.NOFLAG if re.search("[A-Z]", self.name) else re.IGNORECASE
        return re.search(rf"(?<![\w-])(?:{start})(?:e?s)?(?![\w-])", text, flags)


WORDS: Final = [Word(name, meaning, int(lesson)) for name, meaning, lesson, _ in _ROW.findall(text_of(GLOSSARY))]


def _strings(code: str) -> Iterator[str]:
    """Yield the sentences of stories and questions in the order of a cell."""
    if "rw.Step(" in code or "rw.Question(" in code:
        found = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
        for node in sorted(found, key=lambda one: (one.lineno, one.col_offset)):
            if isinstance(node.value, str) and len(node.value) >= _SHORTEST_SENTENCE and " " in node.value:
                yield node.value


def read_by_learners(path: Path) -> list[str]:
    """Return what the cells of a lesson say, without headings and code."""
    parts: list[str] = []
    for cell in json_of(path)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts += [line for line in source.splitlines() if not line.startswith("#")]
        else:
            # A story asks questions that are written above its steps.
            parts.append("\n".join(_strings(source)))
    return [re.sub(r"`[^`]*`", "", part) for part in parts if part]


TEXTS: Final = [(int(path.name[:2]), read_by_learners(path)) for path in LESSONS]


def is_explained(word: Word, use: re.Match[str], text: str) -> bool:
    """Return whether a text that uses a word marks it as explained, or has a link to an explanation near it."""
    around = text if "\n" in text else text[max(0, use.start() - _NEAR) : use.end() + _NEAR]
    marked = re.search(rf"\*{{1,2}}[^*]*{re.escape(word.stem)}[^*]*\*{{1,2}}", around, re.IGNORECASE)
    linked = re.search(rf"\]\((?:\.\./docs/glossary\.md|{word.lesson:02}_\w+\.ipynb)[^)]*\)", around)
    return bool(marked or linked or f"({use[0]})" in around)


def test_the_glossary_has_words_of_all_parts_of_the_course_once() -> None:
    assert len(WORDS) >= 30
    assert len(WORDS) == len(re.findall(r"^\| (?!word|---)", text_of(GLOSSARY), re.MULTILINE))
    assert len({word.name.casefold() for word in WORDS}) == len(WORDS)
    for word in WORDS:
        assert not word.meaning.endswith("."), word.name


def test_each_word_links_to_its_lesson() -> None:
    names = {path.name for path in LESSONS}
    for _, _, lesson, name in _ROW.findall(text_of(GLOSSARY)):
        assert name in names
        assert int(name[:2]) == int(lesson)


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_a_word_is_explained_where_it_is_first_used(word: Word) -> None:
    for lesson, texts in TEXTS:
        if lesson > word.lesson:
            return
        for text in texts:
            use = word.found_in(text)
            if use is not None:
                said = text[max(0, use.start() - 60) : use.end() + 60]
                assert is_explained(word, use, text), f"lesson {lesson}: '{word.name}' is not explained: {said!r}"
                break
        else:
            assert lesson < word.lesson, f"lesson {lesson} does not use '{word.name}'"


def test_the_walk_finds_a_word_that_comes_too_early() -> None:
    word = Word("residual", "a tensor", 3)
    early = "The residual is added."
    use = word.found_in(early)
    assert use is not None
    assert not is_explained(word, use, early)
    linked = "The residual ([lesson 3](03_fusion.ipynb)) is added."
    for text in ("A **residual** is added.", linked, "A second input (residual) is added."):
        found = word.found_in(text)
        assert found is not None
        assert is_explained(word, found, text)
    assert word.found_in("residually") is None
    assert word.found_in("two residuals") is not None
