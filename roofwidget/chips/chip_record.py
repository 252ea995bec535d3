"""Chips as plain dicts (records): the form of the catalogue and of a user's own files.

A figure is a number in base units, text such as ``"989.5 TFLOP/s"``, or a table with a `value` and its origin.
The origin is a `source` (a key of `sources`), a `confidence`, and a `formula` or `note`. A formula or note is appended
to the title of the source.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from roofwidget import units
from roofwidget.chips import card, validation
from roofwidget.chips.figures import Ceiling, Check, Energy, Link, Memory, Source
from roofwidget.chips.toml import Path
from roofwidget.support.arguments import short_message
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.precisions import precision_key

if TYPE_CHECKING:
    from roofwidget.chips.chip import Chip

_TEXTS: Final = ("id", "name", "vendor", "family", "kind", "status", "default_precision")
_FIGURE: Final = ("value", "source", "confidence", "formula", "note")
_SOURCE: Final = ("title", "url", "confidence")
_MEMORY: Final = ("bandwidth", "capacity", "usable", "per_block", "latency", "scope")
_LINK: Final = ("bandwidth", "per_link", "latency", "printed")
_CEILING: Final = ("name", "rate", "memory", "precision", "measured", *_FIGURE[1:])
_CHECK: Final = ("figure", "value", "source", "confidence", "note")
_KEYS: Final = (
    *(*_TEXTS, "generation", "year", "aliases", "notes", "peak_flops", "memories", "links", "ceilings", "checks"),
    *("clock", "units", "power", "host_memories", "energy", "sources"),
)


class RecordError(ValueError):
    """One part of a chip's record is wrong.

    Parameters
    ----------
    path
        The place in the record.
    problem
        What is wrong there and how to correct it.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(short_message(problem))
        self.path = path


def from_record(
    make: type[Chip], record: Mapping[str, Any], known: Mapping[str, Source] = MappingProxyType({})
) -> Chip:
    """Return the chip that a record describes; see `Chip.from_dict`.

    Parameters
    ----------
    make
        The class `Chip`.
    record
        The record.
    known
        Documents that the figures may name in addition to the record's own `sources`.

    Raises
    ------
    RecordError
        If a part of the record is wrong.
    """
    table = _table(record, (), "a chip", _KEYS)
    name = table.get("name")
    if not isinstance(name, str) or not name.strip():
        raise RecordError(("name",), f"a chip needs a name that is text, got {name!r}")
    return _Reader(name, {**known, **documents(table.get("sources", {}))}).chip(make, table)


class _Reader:
    """Reads the record of one chip and collects the sources of its figures."""

    def __init__(self, name: str, documents: Mapping[str, Source]) -> None:
        self.of = f"of chip '{name}'"
        self.name = name
        self.documents = documents
        self.sources: dict[str, Source] = {}

    def chip(self, make: type[Chip], table: Mapping[str, Any]) -> Chip:
        values: dict[str, Any] = {word: _text(table, word, self.of) for word in _TEXTS if word in table}
        values |= {word: _whole(table, word, self.of) for word in ("generation", "year") if word in table}
        values |= {word: _texts(table, word, self.of) for word in ("aliases", "notes") if word in table}
        for needed in ("peak_flops", "memories"):
            if needed not in table:
                raise RecordError((), f"chip '{self.name}' has no {needed}")
        values["peak_flops"] = self.peaks(table["peak_flops"])
        values["memories"] = self.memories("memories", table["memories"])
        values["host_memories"] = self.memories("host_memories", table.get("host_memories", {}))
        values["links"] = self.links(table.get("links", {}))
        for key, unit in (("clock", "Hz"), ("power", "W")):
            values[key] = self.plain((key,), table[key], unit) if key in table else None
        if "units" in table:
            values["units"] = self.sourced("units", ("units",), table["units"])
        if "energy" in table:
            values["energy"] = self.energy(table["energy"])
        ceilings = [self.ceiling(("ceilings", i), one) for i, one in enumerate(_list(table, "ceilings", self.of))]
        self.check_each(values, ceilings)
        with _at(()):
            made = make(**values, ceilings=ceilings, sources=self.sources)
        units_of = card.units_by_figure(made)
        checks = [self.check(("checks", i), one, units_of) for i, one in enumerate(_list(table, "checks", self.of))]
        return replace(made, checks=tuple(checks)) if checks else made

    def check_each(self, values: Mapping[str, Any], ceilings: list[Ceiling]) -> None:
        """Validate each field before the chip is made, so that an error names the place in the record."""
        with _at(("peak_flops",)):
            rates = validation.peaks(self.name, values["peak_flops"])
        with _at(("memories",)):
            levels = validation.memories(self.name, values["memories"])
        with _at(("host_memories",)):
            validation.host_memories(self.name, values["host_memories"])
        with _at(("links",)):
            validation.links(self.name, values["links"])
        with _at(("default_precision",)):
            validation.default_precision(self.name, rates, values.get("default_precision"))
        for word, checked in (("id", validation.identity), ("year", validation.year), ("units", validation.unit_count)):
            with _at((word,)):
                checked(self.name, values.get(word))
        for i, ceiling in enumerate(ceilings):
            place: Path = ("ceilings", i)
            if ceiling.memory is not None:
                with _at((*place, "memory")):
                    validation.own_level(self.name, levels, ceiling.memory)
            if ceiling.precision is not None:
                with _at((*place, "precision")):
                    validation.find_precision(self.name, rates, ceiling.precision)
            with _at((*place, "name")):
                validation.ceilings(self.name, ceilings[: i + 1], rates, levels)

    def peaks(self, given: Any) -> dict[str, float]:
        table = _table(given, ("peak_flops",), f"peak_flops {self.of}", None)
        for key in table:
            with _at(("peak_flops", key)):
                validation.precision_name(self.name, key)
        return {key: self.figure(("peak_flops", key), value, "FLOP/s", fold=True) for key, value in table.items()}

    def memories(self, field: str, given: Any) -> dict[str, Memory]:
        levels = {}
        for level, value in _table(given, (field,), f"{field} {self.of}", None).items():
            path: Path = (field, level)
            with _at(path):
                validation.level_name(self.name, level)
            table = self.parts(path, value, _MEMORY)
            levels[level] = Memory(
                level,
                self.optional((*path, "bandwidth"), table, "B/s"),
                self.optional((*path, "capacity"), table, "B"),
                _text(table, "scope", f"of {field}['{level}'] {self.of}", path) if "scope" in table else "",
                self.optional((*path, "usable"), table, "B"),
                self.optional((*path, "per_block"), table, "B"),
                self.optional((*path, "latency"), table, "s"),
            )
        return levels

    def links(self, given: Any) -> dict[str, Link]:
        links = {}
        for name, value in _table(given, ("links",), f"links {self.of}", None).items():
            path: Path = ("links", name)
            table = self.parts(path, value, _LINK)
            links[name] = Link(
                name,
                self.optional((*path, "bandwidth"), table, "B/s"),
                self.optional((*path, "per_link"), table, "B/s"),
                self.optional((*path, "latency"), table, "s"),
                self.sourced(f"links.{name}.printed", (*path, "printed"), table.get("printed", "")),
            )
        return links

    def energy(self, given: Any) -> Energy:
        known = [field.name for field in fields(Energy)]
        table = _table(given, ("energy",), f"energy {self.of}", known, required=known)
        found = {key: self.plain(("energy", key), table[key], validation.ENERGY_UNITS[key]) for key in known}
        return Energy(**found)

    def ceiling(self, path: Path, given: Any) -> Ceiling:
        table = _table(given, path, f"a ceiling {self.of}", _CEILING, required=("name", "rate"))
        what = f"of a ceiling {self.of}"
        under = {key: _text(table, key, what, path) for key in ("memory", "precision") if key in table}
        measured = table.get("measured", False)
        if not isinstance(measured, bool):
            raise RecordError((*path, "measured"), f"measured {what} must be true or false, got {measured!r}")
        name = _text(table, "name", what, path)
        with _at((*path, "rate")):
            unit = "B/s" if "memory" in under else "FLOP/s"
            of_rate = f"rate of ceiling '{name}' {self.of}"
            rate = units.figure(table["rate"], unit, of_rate)
        return Ceiling(name, rate, **under, measured=measured, source=self.source(path, table))

    def check(self, path: Path, given: Any, known: Mapping[str, str]) -> Check:
        """Return a check: the value that another source gives for a figure. `known` maps keys of figures to units."""
        table = _table(given, path, f"a check {self.of}", _CHECK, required=("figure", "value", "source"))
        with _at((*path, "figure")):
            key = validation.figure(_text(table, "figure", f"of a check {self.of}", path), known, f"a check {self.of}")
        source = self.source(path, table) or Source("")
        with _at((*path, "value")):
            return validation.checks(self.name, [Check(key, table["value"], source)], known)[0]

    def parts(self, path: Path, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the table of a level or link. A plain value is the bandwidth, so it becomes a table."""
        if not isinstance(value, Mapping) or "value" in value:
            return {"bandwidth": value}
        return _table(value, path, f"{path[0]}['{path[1]}'] {self.of}", known)

    def optional(self, path: Path, table: Mapping[str, Any], unit: str) -> float | None:
        return self.figure(path, table[str(path[-1])], unit) if str(path[-1]) in table else None

    def figure(self, path: Path, given: Any, unit: str, *, fold: bool = False) -> float:
        """Return a figure in base units, and record its source."""
        named = (path[0], precision_key(str(path[1]))) if fold else path
        value = self.sourced(".".join(map(str, named)), path, given)
        what = f"{path[0]}['{path[1]}'] {self.of}"
        with _at(path):
            what = f"{path[2]} of {what}" if len(path) > 2 and path[2] != "bandwidth" else what  # noqa: PLR2004 - a part
            return units.figure(value, unit, what)

    def plain(self, path: Path, given: Any, unit: str) -> float:
        """Return a figure of the whole chip, such as the clock, not a figure of a precision, a level or a link."""
        value = self.sourced(".".join(str(part) for part in path), path, given)
        what = f"{path[-1]} {self.of}"
        with _at(path):
            # Only the constant power may be zero.
            return units.figure(value, unit, what, may_be_zero=path[-1] == "constant_power")

    def sourced(self, key: str, path: Path, given: Any) -> Any:
        """Return the value of a figure, and record its source under `key`."""
        if not isinstance(given, Mapping):
            return given
        table = _table(given, path, f"{key} {self.of}", _FIGURE, required=("value",))
        source = self.source(path, table)
        if source is not None:
            self.sources[key] = source
        return table["value"]

    def source(self, path: Path, table: Mapping[str, Any]) -> Source | None:
        """Return the source of a figure, with a formula or note appended to its title."""
        texts = {word: _text(table, word, self.of, path) for word in _FIGURE[1:] if word in table}
        if "source" not in texts:
            stray = next(iter(texts), None)
            if stray is not None:
                raise RecordError((*path, stray), f"'{stray}' {self.of} goes with a source")
            return None
        document = self.documents.get(texts["source"])
        if document is None:
            hint = _hint(texts["source"], self.documents) if self.documents else "; there is no [sources] table"
            raise RecordError((*path, "source"), f"no source is called '{texts['source']}'{hint}")
        title = document.title
        title += f": {texts['formula']}" if "formula" in texts else ""
        title += f" ({texts['note']})" if "note" in texts else ""
        return Source(title, document.url, texts.get("confidence", document.confidence))


def to_record(chip: Chip) -> dict[str, Any]:
    """Return plain dicts, lists, text and numbers; see `Chip.to_dict`."""
    writer = _Writer(chip)
    # A record without a status has the status "given", so an empty status is written.
    record: dict[str, Any] = {word: value for word in _TEXTS if (value := getattr(chip, word)) or word == "status"}
    record |= {word: value for word in ("generation", "year") if (value := getattr(chip, word))}
    record |= {word: list(value) for word in ("aliases", "notes") if (value := getattr(chip, word))}
    for word in ("clock", "units", "power"):
        if getattr(chip, word) is not None:
            record[word] = writer.figure(word, getattr(chip, word))
    if chip.energy is not None:
        record["energy"] = writer.parts("energy", chip.energy, [field.name for field in fields(Energy)])
    record["ceilings"] = [writer.ceiling(ceiling) for ceiling in chip.ceilings]
    record["checks"] = [
        {"figure": check.figure, "value": check.value, **writer.source(check.source)} for check in chip.checks
    ]
    record["peak_flops"] = {key: writer.figure(f"peak_flops.{key}", rate) for key, rate in chip.peak_flops.items()}
    for field, levels in (("memories", chip.memories), ("host_memories", chip.host_memories)):
        record[field] = {key: writer.parts(f"{field}.{key}", one, _MEMORY) for key, one in levels.items()}
    record["links"] = {key: writer.parts(f"links.{key}", one, _LINK) for key, one in chip.links.items()}
    record["sources"] = writer.documents()
    return {key: value for key, value in record.items() if value not in ([], {})}


class _Writer:
    """Writes the record of one chip, with a key for each document."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.keys: dict[tuple[str, str], str] = {}

    def figure(self, key: str, value: object) -> object:
        source = self.chip.sources.get(key)
        return value if source is None else {"value": value, **self.source(source)}

    def parts(self, key: str, part: object, words: Any) -> dict[str, Any]:
        """Return the fields of a level, a link or the energy costs that have a value."""
        known = {word: getattr(part, word) for word in words}
        return {word: self.figure(f"{key}.{word}", value) for word, value in known.items() if value not in (None, "")}

    def ceiling(self, ceiling: Ceiling) -> dict[str, Any]:
        record = {"name": ceiling.name, "rate": ceiling.rate, "memory": ceiling.memory, "precision": ceiling.precision}
        record |= {"measured": True} if ceiling.measured else {}
        record |= self.source(ceiling.source) if ceiling.source else {}
        return {key: value for key, value in record.items() if value is not None}

    def source(self, source: Source) -> dict[str, str]:
        key = self.keys.setdefault((source.title, source.url), f"source-{len(self.keys) + 1}")
        return {"source": key, "confidence": source.confidence}

    def documents(self) -> dict[str, dict[str, str]]:
        return {key: {"title": title, **({"url": url} if url else {})} for (title, url), key in self.keys.items()}


@contextlib.contextmanager
def _at(path: Path) -> Iterator[None]:
    """Add the place in the record to errors that the body raises."""
    try:
        yield
    except RecordError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise RecordError(path, str(error)) from None


def documents(given: Any) -> dict[str, Source]:
    """Return documents of a `sources` table by key. Figures that state no confidence get the document's confidence."""
    found = {}
    for key, value in _table(given, ("sources",), "sources", None).items():
        path: Path = ("sources", key)
        table = _table(value, path, f"sources['{key}']", _SOURCE, required=("title",))
        texts = {word: _text(table, word, f"of sources['{key}']", path) for word in table}
        found[key] = Source(**texts)
    return found


def _table(
    given: Any, path: Path, what: str, known: Iterable[str] | None, *, required: Iterable[str] = ()
) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise RecordError(path, f"{what} must be a table, got {given!r}")
    for key in given:
        if not isinstance(key, str) or not key:
            raise RecordError(path, f"{what}: a key must be text that is not empty, got {key!r}")
        if known is not None and key not in known:
            raise RecordError((*path, key), f"{what} has no key '{key}'{_hint(key, known)}")
    for key in required:
        if key not in given:
            raise RecordError(path, f"{what} has no {key}")
    return given


def _hint(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word, known, f"; it has {listed(known)}")


def _text(table: Mapping[str, Any], word: str, of: str, path: Path = ()) -> str:
    value = table[word]
    if not isinstance(value, str):
        raise RecordError((*path, word), f"{word} {of} must be text, got {value!r}")
    return value


def _texts(table: Mapping[str, Any], word: str, of: str) -> tuple[str, ...]:
    values = _list(table, word, of)
    for value in values:
        if not isinstance(value, str):
            raise RecordError((word,), f"{word} {of} must be a list of texts, got {value!r} in it")
    return tuple(values)


def _list(table: Mapping[str, Any], word: str, of: str) -> list[Any]:
    values = table.get(word, [])
    if not isinstance(values, list | tuple):
        raise RecordError((word,), f"{word} {of} must be a list, got {values!r}")
    return list(values)


def _whole(table: Mapping[str, Any], word: str, of: str) -> int:
    value = table[word]
    if isinstance(value, bool) or not isinstance(value, int):
        raise RecordError((word,), f"{word} {of} must be a whole number, got {value!r}")
    return value
