"""Reads the files of the built front end."""

from __future__ import annotations

import gzip

from roofwidget.support import languages


def words_file(language: str) -> str:
    """Return the name of the file with the front end's texts in a language."""
    return f"words.{language}.js"


def words(language: str) -> str:
    """Return the script that defines the front end's texts in a language. It stands before other scripts."""
    return text(words_file(language))


def text(name: str) -> str:
    """Return the text of a compressed file, such as "widget.js".

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    return gzip.decompress(read(f"{name}.gz")).decode()


def read(name: str) -> bytes:
    """Return the bytes of a file, such as "widget.js.gz".

    Raises
    ------
    FileNotFoundError
        If the front end is not built.
    """
    path = languages.STATIC / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"the front end is not built: {path.name} is missing; run 'make build', or 'npm run build' in js/"
        ) from None
