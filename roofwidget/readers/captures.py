"""Captures of graphs among several profiles: a capture belongs to the other profiles, and is no profile of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from roofwidget import readers
from roofwidget.readers.input.source import Source

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_Given = TypeVar("_Given")

# Captures are traces of PyTorch. Other files, of which there may be thousands, are not opened.
_SUFFIXES: Final = (".json", ".gz", ".zip")


def read_each(files: Iterable[Any]) -> Iterator[Kernels]:
    """Read several open files, each with the captures of graphs that are among them."""
    sources = [Source.of(file) for file in files]
    captures = captures_among(sources)
    for source in sources:
        if source not in captures:
            yield readers.read(source, **options_of(source, captures))


def captures_among(given: Sequence[_Given]) -> list[_Given]:
    """Return the captures among paths or sources; none if all are captures. A file that cannot be opened is none."""
    found = [one for one in given if _is_capture(one)] if len(given) > 1 else []
    return found if len(found) < len(given) else []


def traces_among(given: Sequence[_Given]) -> list[_Given]:
    """Return the traces of PyTorch among paths or sources, captures included. A file that cannot be opened is none."""
    return [one for one in given if _is_pytorchs(one)]


def options_of(given: Any, captures: Sequence[Any]) -> dict[str, Any]:
    """Return the options with which `read` uses the captures; none for a file of another format."""
    return {"captures": captures} if captures and _is_trace(given) else {}


def _is_capture(given: Any) -> bool:
    try:
        return _is_trace(given) and bool(readers.reader("torch").is_capture(Source.of(given), is_quick=True))
    except Exception:  # noqa: BLE001 - `read` says what is wrong with the file
        return False


def _is_pytorchs(given: Any) -> bool:
    try:
        # The reader of PyTorch's traces also takes Chrome traces of other tools, which others read first.
        return _is_trace(given) and readers.reader_of(Source.of(given)) is readers.reader("torch")
    except (OSError, ValueError):
        return False


def _is_trace(given: Any) -> bool:
    name = given.name if isinstance(given, Source) else os.fspath(given)
    if not name.endswith(_SUFFIXES):
        return False
    source = Source.of(given)
    return not source.is_folder and bool(readers.reader("torch").recognises(source))
