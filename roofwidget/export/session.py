"""A session: all that a model shows and was told, as a JSON file from which the model is made again.

Chips, kernels and graphs are written with all of their figures, so a session shows the same numbers after the catalogue
has changed. What belongs to a moment, such as the kernel under the pointer, is not written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from roofwidget import wire
from roofwidget.analysis.snapshot import Snapshot
from roofwidget.chips import Chip
from roofwidget.kernels import table_record
from roofwidget.kernels.table import Kernels
from roofwidget.support import strict_json
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.workloads import Graph, graph_record

FORMAT: Final = "roofwidget session"
VERSION: Final = 1
"""The version of the file's form. A file of an older version is still read; a newer one is refused."""
_HEAD: Final = ("format", "version")
_PARTS: Final = (*("chips", "kernels", "series", "baseline", "graphs", "partitions", "what_if", "snapshots", "traits"),)


@dataclass(frozen=True)
class Session:
    """What a session contains.

    Attributes
    ----------
    chips, snapshots
        As the traits of a model.
    kernels
        The kernels that were given. A model with a graph shows them when the graph is removed.
    series
        Whether the categories of the kernels are series.
    baseline
        The earlier run, or None.
    graphs
        Graphs by phase.
    partitions
        For each phase that was shown, the names of the ops of each kernel.
    what_if
        Rates by chip, quantity and precision or level.
    traits
        The values of all other traits as JSON holds them.
    """

    chips: Sequence[Chip]
    kernels: Kernels
    series: bool = False
    baseline: Kernels | None = None
    graphs: Mapping[str, Graph] = field(default_factory=dict)
    partitions: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    what_if: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    snapshots: Sequence[Snapshot] = ()
    traits: Mapping[str, Any] = field(default_factory=dict)


def text(session: Session) -> str:
    """Return the text of a file. The same session always gives the same text, with a line for each column and trait."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "chips": {chip.id: chip.to_dict() for chip in session.chips},
        "kernels": table_record.to_record(session.kernels),
        "series": session.series,
        "baseline": None if session.baseline is None else table_record.to_record(session.baseline),
        "graphs": {phase: graph_record.to_record(graph) for phase, graph in session.graphs.items()},
        "partitions": {phase: [list(group) for group in groups] for phase, groups in session.partitions.items()},
        "what_if": wire.what_if_to_wire(session.what_if),
        "snapshots": wire.snapshots_to_wire(session.snapshots),
        "traits": dict(session.traits),
    }
    return _lines(document, "") + "\n"


def _lines(value: Any, indent: str) -> str:
    """Return JSON text in which each entry of an object has a line of its own."""
    if not isinstance(value, Mapping) or not value:
        return json.dumps(value, allow_nan=False)
    inner = indent + "  "
    entries = (f"{inner}{json.dumps(key)}: {_lines(part, inner)}" for key, part in value.items())
    return "{\n" + ",\n".join(entries) + f"\n{indent}}}"


def read(path: Path) -> Session:
    """Return the session in a file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        As `parsed`, and if the file is not UTF-8 text.
    """
    try:
        return parsed(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8 text") from None


def parsed(contents: str) -> Session:
    """Return the session in a text.

    Raises
    ------
    ValueError
        If the text is no session, is of a newer version, or is wrong in a part: the message names the part.
    """
    document = _document(contents)
    for word in document:
        if word not in _HEAD + _PARTS:
            raise ValueError(f"a session has no '{word}'{did_you_mean(str(word), _PARTS)}")
    missing = [word for word in _PARTS if word not in document]
    if missing:
        raise ValueError(f"the session has no {listed(missing)}: the file is not complete")
    read_each: dict[str, Any] = {
        "chips": lambda part: tuple(_each(part, Chip.from_dict).values()),
        "kernels": table_record.from_record,
        "series": bool,
        "baseline": lambda part: None if part is None else table_record.from_record(part),
        "graphs": lambda part: _each(part, graph_record.from_record),
        "partitions": dict,
        "what_if": dict,
        "snapshots": wire.snapshots_from_wire,
        "traits": dict,
    }
    found = {}
    for word, reading in read_each.items():
        with _within(word):
            found[word] = reading(document[word])
    if found["series"]:
        found["kernels"] = found["kernels"].replace(series=True)
    return Session(**found)


def _document(contents: str) -> Mapping[str, Any]:
    if contents.lstrip()[:1] == "<":
        raise ValueError("a page holds no session: rw.read reads its kernels, and save('….json') writes a session")
    try:
        document = strict_json.parse(contents).value
    except strict_json.JsonError as error:
        raise ValueError(f"{error}; save('….json') writes a session, and rw.read reads profiles") from None
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError("the file is not a session that save('….json') wrote; rw.read reads profiles")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(
            f"the session has version {shown_value(version)}, and this roofwidget reads versions up to {VERSION}: "
            "a newer roofwidget reads it"
        )
    return document


def _each(part: Any, reading: Any) -> dict[str, Any]:
    if not isinstance(part, Mapping):
        raise TypeError(f"expected an object with names and values, not {part!r:.60}")
    found = {}
    for name, entry in part.items():
        with _within(f"'{name}'"):
            found[name] = reading(entry)
    return found


@contextmanager
def _within(word: str) -> Iterator[None]:
    """Return a context in which errors name the part of the session that is wrong."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{word}: there is no {error}") from None
    except RecursionError:
        raise ValueError(f"{word}: nested too deeply") from None
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{word}: {error}") from None
