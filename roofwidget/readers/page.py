"""A page that roofwidget saved: the kernels of its widgets.

Save the page with ``widget.save("page.html")`` or ``rw.save_page([…], "report.html", title=…)``. It has the state of
each widget. The reader takes all kernels of one widget, also those that its filters hide, with the numbers that they
had in Python, and with FLOPs and bytes that were typed. What-ifs are not applied. If the page has several widgets,
`widget` selects one.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Final

import numpy as np

from roofwidget.chips import AmbiguousChipError, Chip, UnknownChipError, chip_of_saved_id
from roofwidget.kernels.column_meanings import RATIOS
from roofwidget.kernels.columns import DictColumn, Floats
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.work import with_typed_work
from roofwidget.readers.input.source import Source
from roofwidget.support import strict_json
from roofwidget.support.text_tables import counted

FORMAT: Final = "page"
EXPECTED: Final = "a page that roofwidget saved with save('page.html')"
MARK: Final = "data-roofwidget"
"""The attribute of the element with a widget's state."""
_GENERATOR: Final = b'<meta name="generator" content="roofwidget'
_MAX_STATE_BYTES: Final = 512 * 2**20
# What a damaged state raises on its way to columns.
_DAMAGED: Final = (LookupError, TypeError, ValueError, AttributeError, binascii.Error, zlib.error, EOFError)


def recognises(source: Source) -> bool:
    """Whether the source is a page that roofwidget wrote.

    Examples
    --------
    >>> recognises(Source.of(b'<!doctype html><meta name="generator" content="roofwidget">'))
    True
    """
    return not source.is_folder and _GENERATOR in source.head


def read(source: Source, *, widget: int = 1) -> Kernels:
    """Read the kernels of a page.

    Parameters
    ----------
    source
        The file.
    widget
        Which widget of the page, counted from 1.

    Returns
    -------
    Kernels
        FLOPs, bytes and seconds as the page has them, with `origin`, `extra`, `program`, `warnings` and `source`.
        `chip` is the catalogue's chip of the same id.

    Raises
    ------
    ProfileError
        If the page is damaged, or has no such widget.
    """
    states = _States()
    states.feed(source.text())
    if not 1 <= widget <= len(states.found):
        raise source.error(f"it has {counted(len(states.found), 'widget')}, not number {widget}")
    try:
        return _kernels(_state(states.found[widget - 1]), source.name)
    except _DAMAGED as error:
        raise source.error(f"the state of widget {widget} is damaged ({error})") from None
    except RecursionError:
        raise source.error(f"the state of widget {widget} is damaged (nested too deeply)") from None


class _States(HTMLParser):
    """Collects the texts of the scripts that have the states."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._awaited = self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if any(name == MARK for name, _ in attrs):
            self._awaited = True
        elif self._awaited and tag == "script":
            self._awaited, self._inside = False, True
            self.found.append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False


def _state(packed: str) -> Mapping[str, Any]:
    """Return a state with its binary values in their places."""
    with Source.of(base64.b64decode(packed, validate=True)).open() as stream:
        text = stream.read(_MAX_STATE_BYTES + 1)
    if len(text) > _MAX_STATE_BYTES:
        raise ValueError(f"more than {_MAX_STATE_BYTES // 2**20} MiB")
    document: Any = strict_json.parse(text.decode()).value
    state: dict[str, Any] = document["state"]
    for path, data in document["buffers"]:
        place: Any = state
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = base64.b64decode(data, validate=True)
    return state


def _kernels(state: Mapping[str, Any], name: str) -> Kernels:
    sent = state["kernels"]
    ran_on, warnings = _chip(sent["chip"])
    kernels = Kernels(
        **_columns(sent),
        chip=ran_on,
        program=None if sent["program"] is None else Kernels(**_columns(sent["program"])),
        warnings=[*sent["warnings"], *warnings],
        source=sent["source"] or name,
    )
    # Pages of earlier versions have no typed work.
    typed = {int(row): amounts for row, amounts in state.get("typed_work", {}).items()}
    return with_typed_work(kernels, typed) if typed else kernels


def _columns(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of `roofwidget.wire.kernels_to_wire` as keywords of `Kernels`."""
    n: int = sent["n"]
    names = _texts(sent["name"], n)
    return {
        "names": [names.values[code] or "" for code in names.codes],
        "flops": {key: _floats(column) for key, column in sent["flops"].items()},
        "bytes": {key: _floats(column) for key, column in sent["bytes"].items()},
        "time": None if sent["time"] is None else _floats(sent["time"]),
        "self_time": None if sent["self_time"] is None else _floats(sent["self_time"]),
        "count": None if sent["count"] is None else _floats(sent["count"]),
        **{ratio: _floats(sent[ratio]) for ratio in RATIOS if ratio in sent},
        "precision": _texts(sent["precision"], n),
        "category": _texts(sent["category"], n),
        "extra": {key: _floats(part) if isinstance(part, bytes) else _texts(part, n) for key, part in sent["extra"]},
        "origin": {key: _texts(part, n) for key, part in sent["origin"]},
    }


def _floats(column: bytes) -> Floats:
    return np.frombuffer(column, dtype="<f8").astype(np.float64)


def _texts(column: Mapping[str, Any] | None, n: int) -> DictColumn:
    """Return a column of texts. Without codes, each row has its own text, or all rows have the same."""
    if column is None:
        return DictColumn((None,), np.zeros(n, dtype=np.int32))
    values = tuple(json.loads(column["values"]))
    if column["codes"] is not None:
        return DictColumn(values, np.frombuffer(column["codes"], dtype="<i4").astype(np.int32))
    return DictColumn(values, np.arange(n, dtype=np.int32) if len(values) == n else np.zeros(n, dtype=np.int32))


def _chip(sent: Mapping[str, Any] | None) -> tuple[Chip | None, list[str]]:
    if sent is None:
        return None, []
    try:
        return chip_of_saved_id(sent["id"]), []
    except (AmbiguousChipError, UnknownChipError):
        return None, [f"the kernels ran on {sent['name']}, which is not in the catalogue: give the chip with chips=[…]"]
