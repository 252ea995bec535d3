"""The chips that are known, by name, and the presets of published tables.

The numbers stand in `catalog.toml`, each with its source; it is read at the first look-up and then kept.
Capacities are in bytes, from the size that the source prints: GB = 1e9 bytes, GiB = 2**30 bytes.
"""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roofwidget.chips.chip import Chip, Memory, Source
from roofwidget.suggest import listed, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from roofwidget.kernels import Kernels

__all__ = ["AmbiguousChipError", "Preset", "UnknownChipError", "chip", "chips", "preset", "presets"]

_HOW_MANY_NEAREST = 5


class UnknownChipError(LookupError):
    """No chip has this name; the message lists the nearest names."""


class AmbiguousChipError(LookupError):
    """Several chips share this name; the message lists their ids."""


@dataclass(frozen=True)
class Preset:
    """A published table of chips with the kernels it shows, exactly as printed.

    Parameters
    ----------
    name
        What `preset` finds it by.
    title
        What people read.
    chips
        Chips with the rounded figures of that table (FLOP/s, bytes/s): they are not those of the catalogue.
    kernels
        The table's example kernels (FLOPs, bytes of main memory), not measured.
    source
        The document.
    """

    name: str
    title: str
    chips: tuple[Chip, ...]
    kernels: Kernels
    source: Source


def chip(name: str | Chip) -> Chip:
    """Find one chip of the catalogue.

    Parameters
    ----------
    name
        An id, a name, an alias or a short name; case, spaces, hyphens and underscores do not count.
        A `Chip` is returned as it is.

    Returns
    -------
    Chip
        Figures in FLOP/s, bytes/s and bytes, with ``sources`` for ``"peak_flops.bf16"``,
        ``"memories.HBM.bandwidth"`` and ``"memories.HBM.capacity"`` and their like.

    Raises
    ------
    UnknownChipError
        If there is none; the message lists the nearest names.
    AmbiguousChipError
        If several chips share the name and it is the id of none; the message lists their ids.
    TypeError
        If `name` is neither text nor a `Chip`.

    Examples
    --------
    >>> chip("H100 SXM").peak("bf16"), chip("Trillium").id
    (989500000000000.0, 'tpu-v6e')
    >>> chip("gaudi")
    Traceback (most recent call last):
    ...
    roofwidget.chips.catalog.AmbiguousChipError: 'gaudi' is one of several chips: 'gaudi2', 'gaudi3'; name one
    """
    if isinstance(name, Chip):
        return name
    if not isinstance(name, str):
        msg = f"expected a chip's name or a Chip, got {name!r}"
        raise TypeError(msg)
    catalog = _catalog()
    key = _key(name)
    if key in catalog.by_id:
        return catalog.by_id[key]
    found = catalog.by_name.get(key, ())
    if len(found) == 1:
        return found[0]
    if found:
        msg = f"'{name}' is one of several chips: {listed(one.id for one in found)}; name one"
        raise AmbiguousChipError(msg)
    close = nearest(name, catalog.spoken, most=_HOW_MANY_NEAREST) if key else []
    hint = f"the nearest are {listed(close)}" if close else f"chips() lists all {len(catalog.chips)}"
    msg = f"no chip is called '{name}'; {hint}"
    raise UnknownChipError(msg)


def chips(vendor: str | None = None, family: str | None = None) -> tuple[Chip, ...]:
    """Return the chips of the catalogue, in its order.

    Parameters
    ----------
    vendor, family
        Only those of this vendor and this family, in any case.

    Raises
    ------
    LookupError
        If there is no such vendor, or that vendor has no such family; the message lists those there are.

    Examples
    --------
    >>> [one.id for one in chips(vendor="amd", family="CDNA 3")]
    ['mi300a', 'mi300x', 'mi325x']
    """
    found = _only(_catalog().chips, "vendor", vendor, "the catalogue")
    return _only(found, "family", family, f"vendor '{found[0].vendor}'" if vendor is not None else "the catalogue")


def preset(name: str) -> Preset:
    """Find one published table by its name, in any case.

    Raises
    ------
    LookupError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> guide = preset("tpu-roofline-guide")
    >>> [(one.name, round(one.ridge_point(), 1)) for one in guide.chips]
    [('v7x (fp8)', 640.8), ('v7x (bf16)', 320.4), ('v6e', 573.8), ('v5p', 166.3)]
    """
    for known in presets():
        if _key(known) == _key(str(name)):
            return _preset(known)
    msg = f"no preset is called '{name}'; there is {listed(presets())}"
    raise LookupError(msg)


def presets() -> tuple[str, ...]:
    """Return the names of the presets.

    Examples
    --------
    >>> presets()
    ('tpu-roofline-guide',)
    """
    return tuple(entry["name"] for entry in _entries()["presets"])


@dataclass(frozen=True)
class _Catalog:
    chips: tuple[Chip, ...]
    by_id: Mapping[str, Chip]
    by_name: Mapping[str, tuple[Chip, ...]]
    spoken: tuple[str, ...]


@functools.cache
def _entries() -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - needed at the first look-up, not at import
    else:
        import tomli as tomllib  # noqa: PLC0415 - the same
    return tomllib.loads(Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8"))


@functools.cache
def _catalog() -> _Catalog:
    entries = _entries()["chips"]
    names = [_distinct([entry["name"], *entry["aliases"], *entry["short"]]) for entry in entries]
    holders = Counter(key for own in names for key in own)
    all_chips = tuple(
        _chip(entry, [word for key, word in own.items() if holders[key] == 1 and word != entry["name"]])
        for entry, own in zip(entries, names, strict=True)
    )
    by_name: dict[str, tuple[Chip, ...]] = {}
    for one, own in zip(all_chips, names, strict=True):
        for key in own:
            by_name[key] = (*by_name.get(key, ()), one)
    spoken = dict.fromkeys([*(one.id for one in all_chips), *(word for own in names for word in own.values())])
    return _Catalog(all_chips, {_key(one.id): one for one in all_chips}, by_name, tuple(spoken))


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())


def _distinct(words: Iterable[str]) -> dict[str, str]:
    """Words by key, the first spelling of each."""
    by_key: dict[str, str] = {}
    for word in words:
        by_key.setdefault(_key(word), word)
    return by_key


def _chip(entry: Mapping[str, Any], aliases: Iterable[str]) -> Chip:
    memory = entry["memory"]
    figures = {f"peak_flops.{precision}": figure for precision, figure in entry["peak_flops"].items()}
    figures |= {f"memories.{memory['name']}.{f}": memory[f] for f in ("bandwidth", "capacity") if f in memory}
    return Chip(
        entry["name"],
        {precision: figure["value"] for precision, figure in entry["peak_flops"].items()},
        {memory["name"]: Memory(memory["name"], memory["bandwidth"]["value"], memory.get("capacity", {}).get("value"))},
        id=entry["id"],
        vendor=entry["vendor"],
        family=entry["family"],
        generation=entry["generation"],
        default_precision=entry["default_precision"],
        aliases=aliases,
        sources={name: _source(figure) for name, figure in figures.items()},
    )


def _source(figure: Mapping[str, Any]) -> Source:
    document = _entries()["sources"][figure["source"]]
    title = f"{document['title']}: {figure['formula']}" if "formula" in figure else document["title"]
    return Source(title, document["url"], figure["confidence"])


@functools.cache
def _preset(name: str) -> Preset:
    from roofwidget.kernels import Kernels  # noqa: PLC0415 - kernels know chips, so chips may not import kernels

    entry = next(entry for entry in _entries()["presets"] if entry["name"] == name)
    document = _entries()["sources"][entry["source"]]
    source = Source(document["title"], document["url"], document["kind"])
    return Preset(
        name,
        entry["title"],
        tuple(_preset_chip(row, source) for row in entry["chips"]),
        Kernels.from_records(entry["kernels"]),
        source,
    )


def _preset_chip(row: Mapping[str, Any], source: Source) -> Chip:
    return Chip(
        row["name"],
        {row["precision"]: row["peak_flops"]},
        {row["memory"]: row["bandwidth"]},
        id=row["id"],
        vendor=row["vendor"],
        family=row["family"],
        generation=row["generation"],
        default_precision=row["precision"],
        sources={f"peak_flops.{row['precision']}": source, f"memories.{row['memory']}.bandwidth": source},
    )


def _only(found: tuple[Chip, ...], field: str, wanted: str | None, where: str) -> tuple[Chip, ...]:
    if wanted is None:
        return found
    matching = tuple(one for one in found if getattr(one, field).casefold() == wanted.casefold())
    if not matching:
        there = dict.fromkeys(getattr(one, field) for one in found)
        msg = f"{where} has no {field} '{wanted}'; it has {listed(there)}"
        raise LookupError(msg)
    return matching
