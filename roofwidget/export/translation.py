"""Translations of a notebook's texts, in one ``.po`` file for each notebook and language.

The texts are those of the Markdown cells and of the stories. Code, names, keys and the ids of options have no language.
A number of a text is a placeholder such as ``{1}``: a text stays translated when a number changes, and each language
writes numbers in its own way. Text in backquotes and the targets of links keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from roofwidget import units
from roofwidget.support import markdown
from roofwidget.support.extras import install_command
from roofwidget.support.text_tables import one_line

Say: TypeAlias = Callable[[str, str], "str | None"]
"""Returns the translation of a text in a context, or None for a text that stays as it is."""

_NUMBER: Final = re.compile(r"(?<![\w.,])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?![\w]|[.,][0-9])")
_LITERAL: Final = re.compile(r"(`[^`]*`|\]\([^)]*\))")
_PLACEHOLDER: Final = re.compile(r"\{([0-9]+)\}")
_LETTER: Final = re.compile(r"[^\W\d_]")
_FENCES: Final = ("```", "~~~")
# What begins a heading, an item of a list, a quotation or a row of a table.
_MARKER: Final = re.compile(r"( *(?:#{1,6}|[-*+>]|[0-9]+\.) +|\|)(.*)", re.DOTALL)
_LESSON: Final = re.compile(r"0*([0-9]+)_")
_HEADER: Final = """\
msgid ""
msgstr ""
"Language: {}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
_MAX_LETTERS: Final = 60
"""How much of a text a message shows."""


class Translation:
    """The translations of a notebook's texts into a language.

    Parameters
    ----------
    path
        The ``.po`` file.
    language
        The code of the language, such as "de".

    Raises
    ------
    ImportError
        If Babel is not installed.
    OSError
        If the file cannot be read.
    ValueError
        If the file is damaged, or a translation has other placeholders than its text.
    """

    def __init__(self, path: Path, language: str) -> None:
        self.language = language
        self.missing: dict[str, None] = {}
        """The texts that have had no translation, in their order."""
        self._said = {key: said for key, said in _entries(path) if said}
        # A text keeps its translation when it moves to another place of the notebook.
        self._anywhere = {text: said for (_, text), said in reversed(self._said.items())}

    def __call__(self, context: str, text: str) -> str | None:
        """Return the translation of a text, or None if there is none."""
        template, numbers = template_of(text)
        said = self._said.get((context, template), self._anywhere.get(template))
        if said is None:
            self.missing[template] = None
            return None
        written = [_localized(number, self.language) for number in numbers]
        return _PLACEHOLDER.sub(lambda place: written[int(place[1]) - 1], said)


def translation_of(notebook: Path, language: str, folder: Path | None = None) -> Translation | None:
    """Return the translation of a notebook; None if there is no file. See `file_of`."""
    path = file_of(notebook, language, folder)
    return Translation(path, language) if path.exists() else None


def file_of(notebook: Path, language: str, folder: Path | None = None) -> Path:
    """Return the path of the translation of a notebook. The folder is by default "translations" beside the notebook."""
    return (folder or notebook.parent / "translations") / language / f"{notebook.stem}.po"


def update(path: Path, texts: Iterable[tuple[str, str]], language: str) -> int:
    """Write the texts of a notebook, each with its context, into a ``.po`` file. Return how many are not translated.

    A text that is in the file already keeps its translation.

    Raises
    ------
    ImportError
        If Babel is not installed.
    ValueError
        If the file is damaged.
    """
    _babel()
    from babel.messages.catalog import Catalog  # noqa: PLC0415 - optional
    from babel.messages.pofile import write_po  # noqa: PLC0415 - optional

    former = dict(_entries(path)) if path.exists() else {}
    anywhere = {text: said for (_, text), said in former.items() if said}
    catalog = Catalog(locale=language, header_comment="", fuzzy=False)
    for context, text in dict.fromkeys((context, template_of(text)[0]) for context, text in texts):
        message = catalog.add(text, former.get((context, text)) or anywhere.get(text, ""), context=context)
        # A percent sign in a text is no format.
        message.flags.clear()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(_HEADER.format(language).encode())
        write_po(file, catalog, width=120, omit_header=True)
    return sum(not message.string for message in catalog if message.id)


def template_of(text: str) -> tuple[str, list[str]]:
    """Return a text with placeholders instead of its numbers, and the numbers.

    Examples
    --------
    >>> template_of("The H100 has 3.35 TB/s, and `2 * 3` is code.")
    ('The H100 has {1} TB/s, and `2 * 3` is code.', ['3.35'])
    """
    numbers: list[str] = []

    def place(number: re.Match[str]) -> str:
        numbers.append(number[0])
        return f"{{{len(numbers)}}}"

    # Every second part is literal.
    parts = _LITERAL.split(text)
    parts[::2] = [_NUMBER.sub(place, part) for part in parts[::2]]
    return "".join(parts), numbers


def translate(notebook: Any, states: Iterable[dict[str, Any]], name: str, say: Say) -> None:
    """Replace the texts of an executed notebook by their translations, in place.

    Parameters
    ----------
    notebook
        The notebook as nbformat reads it.
    states
        The saved states of the widgets that it shows, each once.
    name
        The name of its file without the ending. "03_fusion" gives contexts such as "lesson-3/gain-own/wrong/2.667".
    say
        Returns the translation of a text in a context, or None.
    """
    number = _LESSON.match(name)
    lesson = f"lesson-{number[1]}" if number else name
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _cell(cell.source, f"{lesson}/{cell.get('id', 'text')}", say)
    for state in states:
        state["title"] = _said(state.get("title", ""), f"{lesson}/title", say)
        for at, step in enumerate((state.get("story") or {"steps": []})["steps"], start=1):
            question = step["question"]
            place = f"{lesson}/{question['key'] if question else f'step-{at}'}"
            step["caption"] = _nodes(step["caption"], f"{place}/caption", say)
            if question:
                _translate_question(question, place, say)


def _translate_question(question: dict[str, Any], place: str, say: Say) -> None:
    for name in ("prompt", "explanation"):
        question[name] = _nodes(question[name], f"{place}/{name}", say)
    question["method"] = _said(question["method"], f"{place}/method", say)
    # Names of units are the same in all languages; a word such as "times" is not.
    if question["unit"] not in units.UNITS:
        question["unit"] = _said(question["unit"], f"{place}/unit", say)
    options = []
    for name, (option, text) in zip(question["option_ids"], question["options"], strict=True):
        options.append([_said(option, f"{place}/{name}", say), _said(text, f"{place}/{name}/text", say)])
        if question["kind"] == "choice" and question["answer"] == option:
            question["answer"] = options[-1][0]
    question["options"] = options
    question["wrong_answers"] = [
        [number, _said(text, f"{place}/wrong/{number:.4g}", say)] for number, text in question["wrong_answers"]
    ]


def _said(text: str, context: str, say: Say) -> str:
    return (say(context, text) or text) if _LETTER.search(text) else text


def _nodes(nodes: list[markdown.Node], context: str, say: Say) -> list[markdown.Node]:
    """Return the elements of a Markdown text with their translations."""
    found: list[markdown.Node] = []
    for node in nodes:
        text = markdown.source([node])
        said = say(context, text) if _LETTER.search(text) else None
        found += [node] if said is None else markdown.tree(said)
    return found


def _cell(source: str, context: str, say: Say) -> str:
    """Return the source of a Markdown cell with its translations. Each paragraph, item and row is a text of its own."""
    return "\n".join(_block(block, context, say) if is_text else block for block, is_text in _blocks(source))


def _blocks(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the paragraphs, items and rows of tables of a Markdown text, and the lines between them with False."""
    block: list[str] = []
    is_code = False
    for line in source.split("\n"):
        is_fence = line.lstrip().startswith(_FENCES)
        is_between = is_code or is_fence or not line.strip()
        if block and (is_between or _MARKER.match(line)):
            yield "\n".join(block), True
            block = []
        if is_between:
            yield line, False
        else:
            block.append(line)
        is_code ^= is_fence
    if block:
        yield "\n".join(block), True


def _block(block: str, context: str, say: Say) -> str:
    found = _MARKER.fullmatch(block)
    marker, text = (found[1], found[2]) if found else ("", block)
    if not _LETTER.search(text):
        return block
    said = say(context, " ".join(text.split()))
    return block if said is None else f"{marker}{said}"


def _localized(number: str, language: str) -> str:
    from babel.numbers import get_decimal_symbol, get_group_symbol  # noqa: PLC0415 - optional

    marks = {",": get_group_symbol(language), ".": get_decimal_symbol(language)}
    return "".join(marks.get(letter, letter) for letter in number)


def _entries(path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the context and the text of each entry of a file, and its translation or ""."""
    _babel()
    from babel.messages.pofile import PoFileError, read_po  # noqa: PLC0415 - optional

    try:
        with path.open("rb") as file:
            catalog = read_po(file, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no .po file ({one_line(str(error), _MAX_LETTERS)})") from None
    for message in catalog:
        text, said = str(message.id), "" if message.fuzzy else str(message.string)
        if not text:
            continue
        places, wanted = (set(_PLACEHOLDER.findall(one)) for one in (said, text))
        if said and places != wanted:
            shown = one_line(text, _MAX_LETTERS)
            raise ValueError(
                f"{path.name}: the translation of '{shown}' has the placeholders {_listed(places)}, and the text "
                f"{_listed(wanted)}"
            )
        yield (message.context or "", text), said


def _listed(places: set[str]) -> str:
    return " ".join(f"{{{place}}}" for place in sorted(places, key=int)) or "none"


def _babel() -> None:
    try:
        import babel  # noqa: F401, PLC0415 - optional
    except ImportError:
        raise ImportError(f"translations need Babel: {install_command('translations')}") from None
