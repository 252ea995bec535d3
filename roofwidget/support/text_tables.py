"""Formats small tables of results: as aligned lines for a console, as HTML for a notebook, and as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

_MAX_NAME_LETTERS: Final = 40
# Control characters, which a console obeys, and embeddings, overrides and isolates, which reverse the text after them.
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def one_line(name: str, width: int = _MAX_NAME_LETTERS) -> str:
    r"""Return a name as one line of at most `width` letters.

    Names in files may be longer, or contain line breaks, control characters or lone surrogates (invalid Unicode
    characters). Control characters and characters that change the direction of text become U+FFFD.

    Examples
    --------
    >>> one_line("a fused\n kernel"), len(one_line("x" * 100)), one_line("\x1b[31mred")
    ('a fused kernel', 40, '�[31mred')
    """
    line = without_controls(" ".join(without_surrogates(name).split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def without_controls(text: str) -> str:
    r"""Return the text with each control character, and each that sets the direction of text, replaced by U+FFFD.

    Examples
    --------
    >>> without_controls("\u202egnp.exe 12 %").encode("ascii", "backslashreplace")
    b'\\ufffdgnp.exe 12 %'
    """
    return _CONTROLS.sub("\ufffd", text)


def without_surrogates(text: str) -> str:
    r"""Return the text with each lone surrogate replaced by ``?``.

    A lone surrogate is half of a UTF-16 pair. UTF-8 cannot encode it.

    Examples
    --------
    >>> without_surrogates("a\ud800")
    'a?'
    """
    return text.encode("utf-8", "replace").decode()


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return one line of text per row. All cells of a column start at the same position.

    The cells of the columns whose numbers are in `right` end at the same position.

    Examples
    --------
    >>> aligned([["chip", "time"], ["a longer name", "1 s"]])
    ['chip           time', 'a longer name  1 s']
    >>> aligned([["chip", "time"], ["v5p", "1 s"]], right=[1])
    ['chip  time', 'v5p    1 s']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        [cell.rjust(width) if at in right else cell.ljust(width) for at, (cell, width) in enumerate(cells)]
        for cells in (zip(row, widths, strict=True) for row in rows)
    ]
    return ["  ".join(line).rstrip() for line in lines]


def escaped(text: str) -> str:
    r"""Return text for HTML: markup is escaped, and a lone surrogate becomes ``?``.

    Examples
    --------
    >>> escaped("a < b"), escaped("a\ud800")
    ('a &lt; b', 'a?')
    """
    return html.escape(without_surrogates(text))


def is_web_address(url: str) -> bool:
    """Return whether a text is the address of a web page, which may become a link.

    Examples
    --------
    >>> is_web_address("https://example.org"), is_web_address("javascript:alert(1)")
    (True, False)
    """
    return url[:8].lower().startswith(("http://", "https://"))


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], more: str = "") -> str:
    """Return an HTML table. The first cell of a row is the row's name. Characters such as ``<`` are escaped.

    A column without a name has no header. If `more` is given, it is the text of an additional last row.

    Examples
    --------
    >>> html_table("Times", ["chip", "time"], [["<b>", "1 s"]])  # doctest: +ELLIPSIS
    '<table><caption>Times</caption>...<th scope="row">&lt;b&gt;</th><td>1 s</td></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{escaped(cell)}</th>' if cell else "<td></td>" for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escaped(name)}</th>' + "".join(f"<td>{escaped(cell)}</td>" for cell in cells) + "</tr>"
        for name, *cells in rows
    )
    if more:
        body += f'<tr><td colspan="{len(header)}">{escaped(more)}</td></tr>'
    shown = f"<table><caption>{escaped(caption)}</caption>"
    return f"{shown}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], code: int) -> list[str]:
    """Return the lines of a Markdown table. The cells of column `code` are code.

    Examples
    --------
    >>> markdown_table(["kernel", "time"], [["a|b", "1 s"]], code=0)
    ['| kernel | time |', '| --- | --- |', '| <code>a&#124;b</code> | 1 s |']
    """
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for row in rows:
        cells = [markdown_code(cell) if at == code else markdown_text(cell) for at, cell in enumerate(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def markdown_code(cell: str) -> str:
    """Return a text as code in a table: HTML, because backticks cannot quote a bar or a backtick there."""
    return f"<code>{markdown_text(cell)}</code>"


def markdown_text(line: str) -> str:
    """Return a text in which nothing is Markdown.

    Examples
    --------
    >>> markdown_text("a_b < c")
    'a&#95;b &lt; c'
    """
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        line = line.replace(letter, entity)
    return "".join(f"&#{ord(letter)};" if letter in "|`*_[]\\~$@#" else letter for letter in line)


def and_more(count: int, shown: int) -> list[str]:
    """Return a list with one line, which says how many entries are not shown.

    There are `count` entries, and the first `shown` of them are shown. If all are shown, the list is empty.

    Examples
    --------
    >>> and_more(1010, 8), and_more(5, 8)
    (['… and 1,002 more'], [])
    """
    return [f"… and {count - shown:,} more"] if count > shown else []


def counted(count: int, noun: str) -> str:
    """Return a number and a noun as text, such as "2 kernels". The noun gets a plural s unless the number is 1.

    Examples
    --------
    >>> counted(1, "kernel"), counted(2000, "kernel")
    ('1 kernel', '2,000 kernels')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def first_words(words: Iterable[object], most: int) -> str:
    """Return the first `most` words, separated by commas. If words are left out, add their number.

    Examples
    --------
    >>> first_words(["a", "b", "c"], 2), first_words(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    texts = [str(word) for word in words]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def first_few(texts: Sequence[str], most: int) -> str:
    """Return the first `most` texts, separated by semicolons. If texts are left out, add their number.

    Examples
    --------
    >>> first_few(["a", "b", "c"], 2)
    'a; b; and 1 more'
    """
    more = len(texts) - most
    return "; ".join(texts[:most]) + (f"; and {more:,} more" if more > 0 else "")


def html_with_notes(table: str, notes: Iterable[str]) -> str:
    """Return the HTML table `table` with a list of notes below it. Notes are plain text: ``<`` is escaped.

    Examples
    --------
    >>> html_with_notes("<table></table>", ["a < b"])
    '<div><table></table><ul><li>a &lt; b</li></ul></div>'
    """
    items = "".join(f"<li>{escaped(note)}</li>" for note in notes)
    return f"<div>{table}{f'<ul>{items}</ul>' if items else ''}</div>"
