"""Functions that check the form of a value by itself, and return it in the form that the state stores."""

from __future__ import annotations

import math
import numbers
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from roofwidget import units, workloads
from roofwidget.analysis import snapshot
from roofwidget.chips import Chip, chip, chip_of_peaks
from roofwidget.kernels.columns import is_number, is_whole
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.languages import languages

if TYPE_CHECKING:
    from roofwidget.analysis.snapshot import Snapshot
    from roofwidget.workloads import Graph

G = TypeVar("G")


def _unexpected(what: str, value: object, hint: str = "") -> TypeError:
    return TypeError(f"expected {what}, got {value!r:.60}{hint}")


def _sequence(value: Any, what: str) -> list[Any]:
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        raise _unexpected(what, value)
    return list(value)


def _all_of(kind: type[G], value: Any, what: str) -> tuple[G, ...]:
    found = (value,) if isinstance(value, kind) else tuple(_sequence(value, what))
    if not all(isinstance(one, kind) for one in found):
        raise _unexpected(what, value)
    return found


def optional(check: Callable[[Any], G]) -> Callable[[Any], G | None]:
    """Return a function that returns None for None, and `check(value)` for any other value."""
    return _typed(f"{page_type(check)} | null", lambda value: None if value is None else check(value))


def _typed(name: str, check: Callable[[Any], G]) -> Callable[[Any], G]:
    check.page_type = name  # type: ignore[attr-defined]
    return check


def page_type(check: Callable[[Any], Any]) -> str:
    """Return the TypeScript type of what a check returns, as pages get it; "unknown" if the check does not tell."""
    return getattr(check, "page_type", "unknown")


def distinct_chips(value: Any) -> tuple[Chip, ...]:
    """Return the chips of a preset, or the chips of a list of chips and catalogue names.

    Raises `ValueError` if two chips have the same id.
    """
    given = getattr(value, "chips", value)
    given = [given] if isinstance(given, (Chip, str)) or chip_of_peaks(given) is not None else given
    chips = tuple(
        entry if isinstance(entry, Chip) else chip(entry)
        for entry in _sequence(given, "a Preset, or a list of Chip objects and names of catalogue chips")
    )
    seen: set[str] = set()
    for entry in chips:
        if entry.id in seen:
            raise ValueError(f"two chips have the id '{entry.id}'; give one of them another id")
        seen.add(entry.id)
    return chips


def catalogue_ids(value: Any) -> tuple[str, ...]:
    """Return the ids of catalogue chips, each once, for a list of their names."""
    return tuple(dict.fromkeys(chip(name).id for name in names(value)))


def names(value: Any) -> tuple[str, ...]:
    """Return a list of texts as a tuple. A single text becomes a tuple of one text."""
    return _all_of(str, value, "a list of names")


def language_of(value: Any) -> str:
    """Return the language of a locale: 'de' for 'de-AT'. Raise `ValueError` if the front end lacks this language."""
    if not isinstance(value, str):
        raise _unexpected("a language such as 'en' or 'de'", value)
    language = value.replace("_", "-").split("-")[0].casefold()
    if language not in languages():
        raise ValueError(f"there is no catalogue for '{value}'; there are {listed(languages())}")
    return language


def one_graph(value: Any) -> Graph:
    """Return the value if it is a `Graph`. Otherwise raise `TypeError`."""
    if not isinstance(value, workloads.Graph):
        raise _unexpected("a Graph, or None", value)
    return value


def graphs_by_name(value: Any) -> Mapping[str, Graph]:
    """Return graphs by name as a read-only mapping, in the given order.

    Raises `ValueError` if two names have the same graph.
    """
    what = "a mapping from names of phases to graphs, such as {'prefill': Graph, 'decode': Graph}"
    if not isinstance(value, Mapping):
        raise _unexpected(what, value)
    known: dict[int, str] = {}
    for name, graph in value.items():
        if not isinstance(name, str) or not isinstance(graph, workloads.Graph):
            raise TypeError(f"{what} is needed, not {graph!r:.40} by the name {name!r:.40}")
        if id(graph) in known:
            raise ValueError(f"'{known[id(graph)]}' and '{name}' are the same graph; build one for each")
        known[id(graph)] = name
    # Two plain dicts with different orders are equal, so traitlets would ignore a new order. `OrderedDict` compares the
    # order too.
    return MappingProxyType(OrderedDict(value))


def sizes_by_name(value: Any) -> Mapping[str, int]:
    """Return the size of each dimension as a read-only mapping, by name. The state checks the sizes later."""
    if not isinstance(value, Mapping):
        raise _unexpected("a mapping from names of dimensions to whole numbers", value)
    return MappingProxyType({str(name): size for name, size in value.items()})


def seconds(value: Any) -> float:
    """Return a time in seconds as a float. The value is a number of seconds, or text with a unit; it is at least 0."""
    return units.finite(units.parse(value, "s", "a time"), "a time")


def share_of_time(value: Any) -> float:
    """Return one share from 0 to below 1 as a float. Raises `ValueError` for anything else.

    Examples
    --------
    >>> share_of_time(0.25)
    0.25
    """
    if not _is_share(value):
        hint = "; exposed_roofs takes several" if isinstance(value, Iterable) and not isinstance(value, str) else ""
        raise ValueError(f"{value!r:.60} is not a share from 0 to below 1, such as 0.2 for 20 %{hint}")
    return float(value)


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value < 1


def shares(value: Any) -> tuple[float, ...]:
    """Return a list of shares as a tuple, without duplicates and zeros. A single share becomes a tuple of one share.

    Raises `ValueError` for a share that is negative, 1 or above 1.
    """
    given = [value] if isinstance(value, numbers.Real) else _sequence(value, "a share from 0 to below 1, or a list")
    for share in given:
        if not _is_share(share):
            raise ValueError(f"{share!r} is not a share from 0 to below 1, such as 0.2 for 20 %")
    return tuple(dict.fromkeys(share for share in map(float, given) if share > 0))


def row_number(value: Any) -> int:
    """Return a row number as an int. The state checks later that the row exists."""
    if not is_whole(value):
        raise _unexpected("a row number", value)
    return int(value)


def row_numbers(value: Any) -> tuple[int, ...]:
    """Return a list of row numbers as a tuple of ints, without duplicates."""
    return tuple(dict.fromkeys(map(row_number, _sequence(value, "a list of row numbers"))))


def step_number(value: Any) -> int:
    """Return the number of a step as an int. Numbers begin at 0."""
    if not is_whole(value) or value < 0:
        raise _unexpected("the number of a step, from 0", value)
    return int(value)


def snapshots_of(value: Any) -> tuple[Snapshot, ...]:
    """Return a list of snapshots as a tuple. A single snapshot becomes a tuple of one snapshot."""
    return _all_of(snapshot.Snapshot, value, "a list of Snapshot objects")


def zoom_limits(value: Any) -> tuple[float, float, float, float]:
    """Return the limits of a zoom as four floats: x_low, x_high, y_low, y_high."""
    what = "(x_low, x_high, y_low, y_high), each pair of finite numbers rising, above 0 on logarithmic axes; or None"
    try:
        x_low, x_high, y_low, y_high = zoom = tuple(map(float, _sequence(value, what)))
    except (TypeError, ValueError):
        raise _unexpected(what, value) from None
    if not all(map(math.isfinite, zoom)) or not 0 <= x_low < x_high or not 0 <= y_low < y_high:
        raise _unexpected(what, value)
    return x_low, x_high, y_low, y_high


def text(value: Any) -> str:
    """Return the value if it is text."""
    if not isinstance(value, str):
        raise _unexpected("text", value)
    return value


def flag(value: Any) -> bool:
    """Return the value if it is True or False."""
    if not isinstance(value, bool):
        raise _unexpected("True or False", value)
    return value


def one_of(*choices: str, any_case: bool = False) -> Callable[[Any], str]:
    """Return a function that accepts one of these texts, and returns it as it is written here."""

    def key(word: str) -> str:
        return word.casefold() if any_case else word

    known = {key(choice): choice for choice in choices}

    def check(value: Any) -> str:
        found = known.get(key(value)) if isinstance(value, str) else None
        if found is None:
            hint = did_you_mean(value, choices) if isinstance(value, str) else ""
            raise _unexpected(" or ".join(map(repr, choices)), value, hint)
        return found

    return _typed(" | ".join(f'"{choice}"' for choice in choices), check)


def whole_of(*choices: int) -> Callable[[Any], int]:
    """Return a function that accepts one of these whole numbers, and returns it as an int."""

    def check(value: Any) -> int:
        if not is_whole(value) or value not in choices:
            raise _unexpected(" or ".join(map(str, choices)), value)
        return int(value)

    return _typed(" | ".join(map(str, choices)), check)


for _check, _name in (
    (text, "string"),
    (flag, "boolean"),
    (names, "readonly string[]"),
    (catalogue_ids, "readonly string[]"),
    (seconds, "number"),
    (share_of_time, "number"),
    (shares, "readonly number[]"),
    (row_number, "number"),
    (row_numbers, "readonly number[]"),
    (step_number, "number"),
    (zoom_limits, "Zoom"),
):
    _typed(_name, _check)
