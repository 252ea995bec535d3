"""Turns an executed notebook into one HTML page on which its widgets are alive, without Python and without a network.

nbconvert's own pages load the code of widgets from the network, and stay blank without it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from roofwidget.export import page
from roofwidget.export.course import STYLE, Lesson, navigation, next_lesson, sections, steps_and_paper, words
from roofwidget.export.foreign_html import sanitized, style_sheet
from roofwidget.export.saved_state import saved_parts
from roofwidget.export.translation import Say, Translation, translate
from roofwidget.support import built_files, languages
from roofwidget.support.extras import install_command
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import escaped, one_line

VIEW: Final = "application/vnd.jupyter.widget-view+json"
STATE: Final = "application/vnd.jupyter.widget-state+json"
_OURS: Final = "roofwidget.RooflineWidget"
_MAX_LETTERS: Final = 200
_STYLE: Final = """\
pre { overflow-x: auto; padding: 8px; background: #8881; font-size: 13px; }
.prompt, .anchor-link { display: none; }
.output_area, .from-notebook { overflow-x: auto; }
"""
# Styles of a notebook do not change the page around it, nor the widgets.
_SCOPE: Final = "@scope (.from-notebook > :not([data-roofwidget])) {{\n{}\n}}\n"
_WEB: Final = {"http", "https", "mailto"}
_HEADING: Final = re.compile(r"(#{1,2}) +(.+)")
_MINUTES: Final = re.compile(r"\b(\d+) [Mm]inut")
_FENCES: Final = ("```", "~~~")


def texts_of(path: Path) -> list[tuple[str, str]]:
    """Return the texts of an executed notebook that a translation has, each with its context.

    Raises
    ------
    ImportError, ValueError
        As `lesson_of`.
    """
    found: list[tuple[str, str]] = []

    def collect(context: str, text: str) -> None:
        found.append((context, text))

    with _read(path) as notebook:
        _translate(notebook, path, collect)
    return found


def lesson_of(path: Path, translation: Translation | None = None) -> Lesson:
    """Return what the table of contents says of a notebook, translated if there is a translation.

    Raises
    ------
    ImportError
        If nbconvert is not installed.
    ValueError
        If the file is no notebook.
    """
    with _read(path) as notebook:
        if translation is not None:
            _translate(notebook, path, translation)
        sections = tuple(text for level, text in _headings(notebook) if level == len("##"))
        stories = [model["state"].get("story") for _, model in _shown(notebook) if model is not None]
        asked = sum(step["question"] is not None for story in stories if story for step in story["steps"])
        texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        minutes = _MINUTES.search(next(texts, ""))
        title = _title(notebook) or path.stem
        return Lesson(f"{path.stem}.html", title, sections, int(minutes[1]) if minutes else None, asked)


def notebook_page(
    path: Path,
    day: date,
    neighbours: Collection[str] = (),
    course: Sequence[Lesson] = (),
    *,
    translation: Translation | None = None,
    print_answers: bool = False,
) -> str:
    """Return the HTML of a notebook: its texts, code and outputs, with its widgets.

    Parameters
    ----------
    path
        The notebook. It must have been executed, and saved with the state of its widgets, as ``jupyter nbconvert
        --execute --to notebook --inplace`` does.
    day
        When the page was made.
    neighbours
        The names of the notebooks that become pages in the same folder. A link to one of them becomes a link to its
        page. A link to any other file becomes plain text: a page is given away without the files around it.
    course
        The lessons of a course with a page of contents, in their order. The page of a lesson links to those beside it.
    translation
        The translation of its texts. The page is in its language; a text without a translation stays as it is.
    print_answers
        Whether the questions have their answers when the page is printed.

    Raises
    ------
    ImportError
        If nbconvert is not installed.
    ValueError
        If the file is no notebook, is damaged, or shows a widget whose state it does not have.
    """
    with _read(path) as notebook:
        if translation is not None:
            _translate(notebook, path, translation)
        language = None if translation is None else translation.language
        return _page(notebook, path, day, neighbours, course, language=language, print_answers=print_answers)


def _page(
    notebook: Any,
    path: Path,
    day: date,
    neighbours: Collection[str],
    course: Sequence[Lesson],
    *,
    language: str | None,
    print_answers: bool,
) -> str:
    own = _Own()
    parts = _with_places(notebook, path, own, language, print_answers=print_answers)
    language = language or (parts[0].language if parts else ENGLISH)
    # For states of widgets nbconvert would add a script, which the page's policy forbids.
    notebook.metadata.pop("widgets", None)
    convert = _Converter(notebook, neighbours)
    cells = list(_with_solutions(_folded(notebook, own, language), own, convert, language))
    body = own.in_places(convert(cells))
    rules = "\n".join(filter(None, convert.sheets))
    style = f"{_STYLE}{STYLE}{_SCOPE.format(rules) if rules else ''}"
    at = next((at for at, lesson in enumerate(course) if lesson.page == f"{path.stem}.html"), None)
    before = ""
    if at is not None:
        links = sections(body, [part.story for part in parts], language)
        before = navigation(course, at, links, language)
        body += next_lesson(course, at, language)
    title = _title(notebook) or path.stem
    return page.document(parts, body, title, day, style, before=before, language="" if parts else language)


class _Converter:
    """Converts cells of a notebook to HTML, and collects the style sheets of their outputs."""

    def __init__(self, notebook: Any, neighbours: Collection[str]) -> None:
        import nbconvert  # noqa: PLC0415  # as above

        self.sheets: list[str] = []
        self._notebook, self._neighbours = notebook, neighbours
        new_exporter: Any = nbconvert.HTMLExporter
        self._exporter = new_exporter(template_name="basic", sanitize_html=True)
        self._exporter.register_filter("clean_html", self._part)

    def __call__(self, cells: Iterable[Any]) -> str:
        self._notebook.cells = list(cells)
        html, _ = self._exporter.from_notebook_node(self._notebook)
        # The whole once more: nbconvert writes some texts without the filter, and writes all HTML anew afterwards.
        return sanitized(html, lambda address: _address(address, self._neighbours))

    def _part(self, html: str) -> str:
        self.sheets.append(style_sheet(html))
        # An element that a part leaves open does not contain the next part.
        return f'<div class="from-notebook">{sanitized(html, str)}</div>'


def _with_places(notebook: Any, path: Path, own: _Own, language: str | None, *, print_answers: bool) -> list[page.Part]:
    """Return the widgets of a notebook, and put their places into the outputs that show them."""
    parts: list[page.Part] = []
    stories = 0
    for output, model in _shown(notebook):
        if model is not None and model["state"].get("_anywidget_id") != _OURS:
            # A widget of another package needs a network. Its text stays.
            del output["data"][VIEW]
            continue
        if model is None:
            raise ValueError(
                f"{path.name} shows a widget whose state is not saved: run it with "
                "'jupyter nbconvert --to notebook --execute --inplace', or save it in JupyterLab with "
                "Settings > Save Widget State Automatically"
            )
        part = _part(model, language)
        html = part.html
        if part.story is not None:
            stories += 1
            targets, paper = steps_and_paper(part.story, stories, part.language, has_answers=print_answers)
            html = f"{targets}{html}{paper}"
        parts.append(part)
        output.update(own.output(html))
    return parts


class _Own:
    """HTML of ours that comes into a page after all HTML of the notebook is sanitized."""

    def __init__(self) -> None:
        # No text of a notebook can have the mark by chance or by intention. The page does not contain it.
        self._mark = secrets.token_hex(16)
        self._pieces: list[str] = []

    def output(self, html: str) -> dict[str, Any]:
        """Return an output of a cell whose place `html` will have."""
        self._pieces.append(html)
        place = f"<p>{self._mark} {len(self._pieces) - 1}</p>"
        return {"output_type": "display_data", "metadata": {}, "data": {"text/html": place}}

    def in_places(self, body: str) -> str:
        # A piece that is converted from cells has places too.
        return re.sub(rf"<p>{self._mark} (\d+)</p>", lambda place: self.in_places(self._pieces[int(place[1])]), body)


def _folded(notebook: Any, own: _Own, language: str) -> Iterator[Any]:
    """Yield the cells. Code that the author has folded becomes an output that a reader unfolds."""
    import nbformat  # noqa: PLC0415  # as above

    node: Any = nbformat.from_dict
    for cell in _split(notebook.cells):
        is_solution = _is_solution(cell)
        if cell.cell_type == "code" and (is_solution or cell.metadata.get("jupyter", {}).get("source_hidden")):
            code = f"<pre>{escaped(cell.source)}</pre>"
            html = code if is_solution else _details(words(language)["code"], code)
            cell.outputs.insert(0, node(own.output(html)))
            cell.metadata["transient"] = node({"remove_source": True})
        yield cell


def _split(cells: Iterable[Any]) -> Iterator[Any]:
    """Yield the cells. Text below a heading that the author has collapsed becomes a cell with the tag "solution"."""
    for cell in cells:
        heading, _, text = cell.source.partition("\n")
        if cell.metadata.get("jp-MarkdownHeadingCollapsed") and text.strip():
            below = deepcopy(cell)
            cell.source, below.source = heading, text
            below.metadata["tags"] = ["solution"]
            if "id" in below:
                below["id"] = f"{cell['id']}-text"
            yield cell
            yield below
        else:
            yield cell


def _with_solutions(cells: Iterable[Any], own: _Own, convert: _Converter, language: str) -> Iterator[Any]:
    """Yield the cells. Each run of cells with the tag "solution" becomes one cell that a reader unfolds."""
    import nbformat  # noqa: PLC0415  # as above

    node: Any = nbformat.from_dict
    new_cell: Any = nbformat.v4.new_code_cell
    for is_solution, run in groupby(cells, _is_solution):
        if is_solution:
            html = _details(words(language)["solution"], convert(run))
            yield new_cell(outputs=[node(own.output(html))], metadata={"transient": {"remove_source": True}})
        else:
            yield from run


def _is_solution(cell: Any) -> bool:
    return "solution" in cell.metadata.get("tags", ())


def _details(summary: str, html: str) -> str:
    return f"<details><summary>{summary}</summary>{html}</details>"


@contextmanager
def _read(path: Path) -> Iterator[Any]:
    """Yield a notebook. Raise `ValueError` for what is wrong with it, there and where it is used."""
    try:
        import nbconvert  # noqa: F401, PLC0415  # optional
        import nbformat  # noqa: PLC0415  # comes with nbconvert
        import nh3  # noqa: F401, PLC0415  # optional
        import tinycss2  # noqa: F401, PLC0415  # optional
        from nbconvert.filters.markdown_mistune import InvalidNotebook  # noqa: PLC0415  # as above
    except ImportError:
        packages = f"nbconvert, nh3 and tinycss2: {install_command('notebooks')}"
        raise ImportError(f"pages of notebooks need {packages}") from None
    try:
        read: Any = nbformat.reads
        notebook = read(path.read_text(encoding="utf-8"), as_version=4)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - nbformat converts old notebooks unchecked, so damage raises anything
        raise ValueError(f"{path.name} is not a notebook ({one_line(str(error), _MAX_LETTERS)})") from None
    damages = (AssertionError, AttributeError, LookupError, RecursionError, TypeError)
    try:
        yield notebook
    except (*damages, nbformat.ValidationError, InvalidNotebook) as error:
        reason = one_line(str(error), _MAX_LETTERS)
        raise ValueError(f"{path.name}: the notebook or the state of a widget is damaged ({reason})") from None


def _address(address: str, neighbours: Collection[str]) -> str | None:
    """Return the address of a link: of the page of another notebook, of another machine, of a place in this page."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme in _WEB or address.startswith("#"):
        return address
    if parts.scheme or parts.netloc:
        return None
    if unquote(parts.path) not in neighbours:
        return None
    return parts._replace(path=f"{parts.path.removesuffix('.ipynb')}.html").geturl()


def _shown(notebook: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the outputs that show a widget, each with the saved model of the widget, or None."""
    models = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if VIEW in output.get("data", {}):
                yield output, models.get(output["data"][VIEW].get("model_id"))


def _translate(notebook: Any, path: Path, say: Say) -> None:
    models = {id(model): model for _, model in _shown(notebook) if model is not None}
    ours = (model["state"] for model in models.values() if model["state"].get("_anywidget_id") == _OURS)
    translate(notebook, ours, path.stem, say)


def _part(model: Mapping[str, Any], language: str | None) -> page.Part:
    state = {name: value for name, value in model["state"].items() if not name.startswith("_")}
    buffers = [(one["path"], one["data"]) for one in model.get("buffers", []) if _is_current(state, one["path"])]
    shown = [chip for chip in state["chips"] if chip["id"] in state["shown"]]
    language = language or language_of(model["state"]["_esm"])
    return page.Part(saved_parts(state, buffers), shown, language, "", state.get("story"))


def _is_current(state: Any, path: Sequence[str | int]) -> bool:
    """Return whether a binary value belongs to a state.

    The keys of binary values are taken out of a state, and places in lists are None. nbclient, which executes notebooks
    for nbconvert and papermill, keeps the binary values of earlier states too.
    """
    place = state
    for key in path[:-1]:
        is_there = key in place if isinstance(place, Mapping) else isinstance(place, list) and int(key) < len(place)
        if not is_there:
            return False
        place = place[key]
    last = path[-1]
    if isinstance(place, Mapping):
        return last not in place
    return isinstance(place, list) and int(last) < len(place) and place[int(last)] is None


def language_of(script: str) -> str:
    """Return the language of a saved widget: its script is that of the language."""
    scripts = {name: built_files.read(f"loader.{name}.js").decode() for name in languages.languages()}
    return next((name for name, text in scripts.items() if text == script), ENGLISH)


def _title(notebook: Any) -> str:
    """Return the first heading of a notebook, or ""."""
    return next((text for level, text in _headings(notebook) if level == 1), "")


def _headings(notebook: Any) -> Iterator[tuple[int, str]]:
    """Yield the level and the text of each heading of the first two levels."""
    for cell in notebook.cells:
        is_code = cell.cell_type != "markdown"
        for line in [] if is_code else cell.source.splitlines():
            if line.startswith(_FENCES):
                is_code = not is_code
            heading = None if is_code else _HEADING.fullmatch(line)
            if heading and (text := _plain(heading[2])):
                yield len(heading[1]), text


def _plain(heading: str) -> str:
    """Return a heading without the marks at its end, and without its marks for code and emphasis."""
    text = heading.rstrip(" ")
    opening = text.rstrip("#")
    return re.sub(r"[`*]", "", opening.rstrip(" ") if opening.endswith(" ") else text)
