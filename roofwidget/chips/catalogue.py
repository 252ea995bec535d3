"""The catalogue: known chips, by name.

The figures are in `catalogue.toml`, each with its source. A chip is read when it is first used, then cached.
Capacities are in bytes. The GB of a memory and the MB of a cache that a source prints are GiB and MiB.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from roofwidget.chips import chip_record, toml
from roofwidget.chips.chip import Chip
from roofwidget.chips.figures import Source
from roofwidget.support.arguments import text_argument
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.support.text_tables import without_surrogates

_MAX_NEAREST_NAMES: Final = 5
# Drivers keep some of the memory for themselves.
_LEAST_MEMORY: Final = 0.9
FORMER_IDS: Final = {"rtx-pro-6000": "rtx-pro-6000-workstation", "apple-m4-max": "apple-m4-max-40"}
"""Ids of release 1.0.0 that are now names of several chips, with the id of the chip whose figures they had."""


class UnknownChipError(LookupError):
    """No chip has this name; the message lists the nearest names."""

    __module__ = "roofwidget"


class AmbiguousChipError(LookupError):
    """Several chips share this name; the message lists their ids."""

    __module__ = "roofwidget"


class MeasuredPeaks(Protocol):
    """Peaks that were measured, as `HardwarePeaks`."""

    @property
    def chip(self) -> Chip:
        """The chip with these peaks."""

    @property
    def peak_flops(self) -> float:
        """FLOP/s of the usual precision."""


ChipLike: TypeAlias = str | Chip | MeasuredPeaks


def chip_of_peaks(value: object) -> Chip | None:
    """Return the chip of measured peaks; None for other values, such as kernels, which may name a chip too."""
    found = getattr(value, "chip", None) if hasattr(value, "peak_flops") else None
    return found if isinstance(found, Chip) else None


def chip(name: ChipLike) -> Chip:
    """Return one chip of the catalogue.

    Parameters
    ----------
    name
        An id, a name, an alias or a short name; case, spaces, hyphens and underscores are ignored. If `name` is a
        `Chip`, the result is this chip. For the peaks of `roofwidget.measure_peaks` the result is their chip.

    Returns
    -------
    Chip
        Figures in FLOP/s, bytes/s and bytes, with ``sources`` for keys such as ``"peak_flops.bf16"``,
        ``"memories.HBM.bandwidth"`` and ``"memories.HBM.capacity"``.

    Raises
    ------
    UnknownChipError
        If no chip has this name; the message lists the nearest names.
    AmbiguousChipError
        If several chips share `name`, and `name` is not the id of a chip. The message lists the ids of these chips.
    TypeError
        If `name` is neither text nor a `Chip`.

    Examples
    --------
    >>> chip("H100 SXM").peak("bf16"), chip("Trillium").id
    (989500000000000.0, 'tpu-v6e')
    >>> chip("gaudi")
    Traceback (most recent call last):
    ...
    roofwidget.AmbiguousChipError: 'gaudi' is one of several chips: 'gaudi2', 'gaudi3'; name one
    """
    if isinstance(name, Chip):
        return name
    if not isinstance(name, str):
        measured = chip_of_peaks(name)
        if measured is None:
            raise TypeError(f"expected a chip's name or a Chip, got {name!r}")
        return measured
    catalogue = _catalogue()
    key = lookup_key(name)
    if key in catalogue.by_id:
        return _made(catalogue.by_id[key])
    found = catalogue.by_name.get(key, ())
    if len(found) == 1:
        return _made(found[0])
    if found:
        raise AmbiguousChipError(f"'{name}' is one of several chips: {listed(found)}; name one")
    close = nearest(name, catalogue.names, most=_MAX_NEAREST_NAMES) if key else []
    hint = f"the nearest are {listed(close)}" if close else f"chips() lists all {len(catalogue.ids)}"
    raise UnknownChipError(f"no chip is called '{without_surrogates(name)}'; {hint}")


def chip_of_saved_id(key: str) -> Chip:
    """Return the chip whose id a file has that this or an earlier release saved.

    Raises
    ------
    UnknownChipError, AmbiguousChipError
        As `chip`.

    Examples
    --------
    >>> chip_of_saved_id("apple-m4-max").id
    'apple-m4-max-40'
    """
    return chip(FORMER_IDS.get(key, key))


def chips(vendor: str | None = None, family: str | None = None) -> tuple[Chip, ...]:
    """Return the chips of the catalogue, in the order of its file.

    Parameters
    ----------
    vendor, family
        If a vendor or a family is given, only its chips are returned; case is ignored.

    Raises
    ------
    LookupError
        If there is no such vendor, or the vendor has no such family; the message lists the known names.

    Examples
    --------
    >>> [one.id for one in chips(vendor="amd", family="CDNA 3")]
    ['mi300a', 'mi300x', 'mi325x']
    """
    found = _only(tuple(_made(entry) for entry in _catalogue().ids), "vendor", vendor, "the catalogue")
    return _only(found, "family", family, f"vendor '{found[0].vendor}'" if vendor is not None else "the catalogue")


def chips_named(name: str) -> tuple[Chip, ...]:
    """Return the chips that a name of the catalogue means: several if they share it, none if it is unknown.

    Examples
    --------
    >>> [one.id for one in chips_named("gfx950")], [one.id for one in chips_named("10de:2330")], chips_named("gfx1")
    (['mi350x', 'mi350p', 'mi355x'], ['h100-sxm'], ())
    """
    catalogue, key = _catalogue(), lookup_key(name)
    entries = (catalogue.by_id[key],) if key in catalogue.by_id else catalogue.by_name.get(key, ())
    return tuple(_made(entry) for entry in entries)


def chips_json() -> str:
    """Return the whole catalogue as JSON, for other programs.

    Numbers are in base units, and each figure has its source. ``chips.schema.json`` in the package `roofwidget.chips`
    describes the keys, and ``schema_version`` in the text is the version of this description.

    Examples
    --------
    >>> import json
    >>> catalogue = json.loads(chips_json())
    >>> found = next(one for one in catalogue["chips"] if "10de:2330" in one["aliases"])
    >>> catalogue["schema_version"], found["id"], found["peak_flops"]["bf16"]["value"]
    (1, 'h100-sxm', 989500000000000.0)
    """
    return toml.packaged(__file__, "chips.json")


@dataclass(frozen=True)
class _Catalogue:
    ids: tuple[str, ...]
    by_id: Mapping[str, str]
    by_name: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]


def lookup_key(name: str) -> str:
    """Return a name in the form that look-ups compare: without case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "", name.casefold())


@functools.cache
def _catalogue() -> _Catalogue:
    own = {entry: _names(entry) for entry in _entries()}
    by_name: dict[str, tuple[str, ...]] = {}
    for entry, names in own.items():
        for key in names:
            by_name[key] = (*by_name.get(key, ()), entry)
    every = dict.fromkeys([*own, *(name for names in own.values() for name in names.values())])
    return _Catalogue(tuple(own), {lookup_key(entry): entry for entry in own}, by_name, tuple(every))


@dataclass(frozen=True)
class _Entry:
    head: Mapping[str, Any]
    text: str


@functools.cache
def _entries() -> dict[str, _Entry]:
    """Return the entries by id. To save time, only the first paragraph of each entry is parsed."""
    entries = [text.lstrip() for text in toml.packaged(__file__, "catalogue.toml").split("\n[[chips]]\n")[1:]]
    heads = [toml.parse(text.split("\n\n", 1)[0]) for text in entries]
    return {head["id"]: _Entry(head, text) for head, text in zip(heads, entries, strict=True)}


def _names(entry: str) -> dict[str, str]:
    """Map look-up keys to names of one chip. If several names have the same key, the first name is kept."""
    head = _entries()[entry].head
    by_key: dict[str, str] = {}
    for name in (head["name"], *head["aliases"], *head["short"]):
        by_key.setdefault(lookup_key(name), name)
    return by_key


@functools.cache
def _documents() -> Mapping[str, Source]:
    return chip_record.documents(toml.parse(toml.packaged(__file__, "sources.toml"))["sources"])


@functools.cache
def _made(entry: str) -> Chip:
    """Return the chip of an entry. The aliases of the chip do not include names that several chips share."""
    record = toml.parse("[chips]\n" + _entries()[entry].text)["chips"]
    by_name = _catalogue().by_name
    del record["short"]
    names = _names(entry)
    record["aliases"] = [word for key, word in names.items() if len(by_name[key]) == 1 and word != record["name"]]
    return chip_record.from_record(Chip, record, _documents())


def _only(found: tuple[Chip, ...], field: str, wanted: str | None, where: str) -> tuple[Chip, ...]:
    if wanted is None:
        return found
    text_argument(wanted, field)
    matching = tuple(one for one in found if getattr(one, field).casefold() == wanted.casefold())
    if not matching:
        there = dict.fromkeys(getattr(one, field) for one in found)
        raise LookupError(f"{where} has no {field} '{wanted}'; it has {listed(there)}")
    return matching


def fitting_chips(memory: float, units: float) -> list[str]:
    """Return the ids of the catalogue's GPUs with as much memory (bytes) and as many units as a driver says.

    Examples
    --------
    >>> sorted(fitting_chips(42_297_524_224, 108)), fitting_chips(206_141_652_992, 304)
    (['a100-pcie-40gb', 'a100-sxm-40gb'], ['mi300x'])
    """

    def fits(one: Chip) -> bool:
        capacity = one.memories[one.main_memory].capacity
        count = re.match(r"\d+", one.units or "")
        return (
            one.kind == "gpu"
            and count is not None
            and int(count[0]) == units
            and capacity is not None
            and _LEAST_MEMORY * capacity <= memory <= capacity
        )

    return [one.id for one in chips() if fits(one)]
