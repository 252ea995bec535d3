"""Types of traits, and functions that check a value for a trait and return it in the form that the model stores."""

from __future__ import annotations

import math
import numbers
import reprlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np
import traitlets

from roofwidget import units
from roofwidget.analysis.snapshot import Snapshot
from roofwidget.chips import Chip, chip, chip_of_peaks
from roofwidget.kernels.columns import is_whole
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.state.rates import Quantity, parsed_rate
from roofwidget.state.view import Zoom
from roofwidget.support.did_you_mean import listed
from roofwidget.support.languages import languages
from roofwidget.workloads import Graph
from roofwidget.workloads.partition import Partition

Owner: TypeAlias = Literal["python", "browser", "shared"]
"""Who may change a trait: Python alone, the front end alone, or both."""

OWNER_IN_HELP: Final[Mapping[Owner, str]] = {
    "python": "Owned by Python.",
    "browser": "Owned by the browser.",
    "shared": "Shared.",
}

_NUMBERS: Final = (int, float, np.integer, np.floating)

G = TypeVar("G")
T = TypeVar("T", bound=traitlets.TraitType[Any, Any])
Wire: TypeAlias = Callable[[Any, Any], Any]
"""A function that is called with a value and its widget."""


def owned(
    owner: Owner, trait: T, *, sync: bool = True, to_wire: Wire | None = None, from_wire: Wire | None = None
) -> T:
    """Return the given trait with an owner.

    The owner determines who may change the trait, and whether a change is sent back to the front end. The help text of
    the trait ends with the owner.

    Parameters
    ----------
    owner
        Who may change the trait. If it is "python", `RooflineWidget.set_state` ignores values from the front end.
    trait
        The trait, with a help text.
    sync
        Whether the trait is sent to the front end. Use False if its value follows from other traits that are sent.
    to_wire, from_wire
        Functions that convert values of the trait to JSON and back. Needed only if JSON cannot encode the values.
    """
    if trait.help:
        trait.help = trait.__doc__ = f"{trait.help} {OWNER_IN_HELP[owner]}"
    trait.tag(owner=owner)
    if sync:
        trait.tag(sync=True)
    if sync and owner != "python":
        # ipywidgets would send a value back before it is validated. `RooflineWidget.set_state` sends back the validated
        # value instead.
        trait.tag(echo_update=False)
    if to_wire is not None:
        trait.tag(to_json=to_wire)
    if from_wire is not None:
        trait.tag(from_json=_refusing(from_wire))
    return trait


def _refusing(from_wire: Wire) -> Wire:
    """Return `from_wire`, but with a `TraitError` for values of another form than the front end sends."""

    def read(value: Any, widget: Any) -> Any:
        try:
            return from_wire(value, widget)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise traitlets.TraitError(
                f"a page sent {reprlib.repr(value)}, which has another form than a page sends"
            ) from error

    return read


class Checked(traitlets.TraitType[G, Any]):
    """A trait type. A function checks each new value and returns the value to store.

    Parameters
    ----------
    check
        A function that takes the given value and returns the value to store. If the function raises an error, the
        trait raises a `TraitError` that names the trait.
    default
        The default value, in the form that `check` returns. None if the model computes the default.
    """

    def __init__(self, check: Callable[[Any], G], default: Any = None, **options: Any) -> None:
        super().__init__(default, **options)
        self.check = check

    def validate(self, obj: Any, value: Any) -> G:
        try:
            return self.check(value)
        except (LookupError, TypeError, ValueError) as error:
            raise traitlets.TraitError(f"{type(obj).__name__}.{self.name}: {error}") from None


class WholeEnum(traitlets.Enum[int]):
    """A trait that allows some whole numbers. It refuses True and False, and makes an int of an integer of numpy."""

    def validate(self, obj: Any, value: Any) -> int:
        if not is_whole(value):
            self.error(obj, value)
        return int(super().validate(obj, value))


class RateTrait(Checked[float]):
    """A trait for a rate above zero, given as a number or as text with a unit. NaN means that there is no such rate."""

    def __init__(self, quantity: Quantity, **options: Any) -> None:
        super().__init__(lambda value: parsed_rate(value, quantity, quantity), math.nan, **options)

    def validate(self, obj: Any, value: Any) -> float:
        if isinstance(value, float) and math.isnan(value) and obj._trait_values.get(self.name) is value:  # noqa: SLF001
            # The model itself has stored this NaN. traitlets validates a stored value again, so accept it.
            return value
        return super().validate(obj, value)


class ShownKernelsTrait(Checked[G]):
    """A trait for kernels, or for no kernels. The owner limits their number by `_max_kernels`."""

    def validate(self, obj: Any, value: Any) -> G:
        table = super().validate(obj, value)
        most = obj._max_kernels  # noqa: SLF001
        if most is not None and table is not None and len(table) > most:  # type: ignore[arg-type]
            raise traitlets.TraitError(
                f"{type(obj).__name__}.{self.name}: {len(table):,} kernels; a widget shows at most {most:,}: "  # type: ignore[arg-type]
                "join the launches of each name with kernels.groupby(), or keep the longest with "
                "kernels.top(1000, by='self_time')"
            )
        return table


class KernelsTrait(ShownKernelsTrait[Kernels]):
    """A trait for the kernels that a model shows.

    Without a graph, its value is the given kernels. While a model shows a graph, its value is the kernels of the
    graph's partition. The given kernels are kept, and are the value again when the graph is removed.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(as_kernels, **options)

    def get(self, obj: Any, cls: Any = None) -> Kernels | None:
        """Return the kernels of the partition of `obj`. If `obj` has no partition, return the given kernels."""
        given = super().get(obj, cls)
        # At the end of `hold_trait_notifications`, traitlets reads each changed trait and sets it again. The kernels of
        # a partition must not replace the given kernels at this point. Only a private attribute says that notifications
        # are held. Other threads read the kernels of the partition at all times.
        is_held = obj._cross_validation_lock and obj._holding_thread in {None, threading.get_ident()}  # noqa: SLF001
        return given if is_held or obj.partition is None else obj.partition.kernels(obj.dims)

    def given(self, obj: Any) -> Kernels | None:
        """Return the kernels that were given to `obj`."""
        return super().get(obj)


class PartitionTrait(traitlets.TraitType[Partition | None, Any]):
    """A trait for a `Partition`, a list of groups of ops, or None.

    The model checks later whether its graph has these ops.
    """

    default_value = None
    allow_none = True


def _unexpected(what: str, value: object) -> TypeError:
    return TypeError(f"expected {what}, got {value!r:.60}")


def _sequence(value: Any, what: str) -> list[Any]:
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        raise _unexpected(what, value)
    return list(value)


def optional(check: Callable[[Any], G]) -> Callable[[Any], G | None]:
    """Return a function that returns None for None, and `check(value)` for any other value."""
    return lambda value: None if value is None else check(value)


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
    what = "a list of names"
    found = (value,) if isinstance(value, str) else tuple(_sequence(value, what))
    if not all(isinstance(name, str) for name in found):
        raise _unexpected(what, value)
    return found


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
    if not isinstance(value, Graph):
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
        if not isinstance(name, str) or not isinstance(graph, Graph):
            raise TypeError(f"{what} is needed, not {graph!r:.40} by the name {name!r:.40}")
        if id(graph) in known:
            raise ValueError(f"'{known[id(graph)]}' and '{name}' are the same graph; build one for each")
        known[id(graph)] = name
    # Two plain dicts with different orders are equal, so traitlets would ignore a new order. `OrderedDict` compares the
    # order too.
    return MappingProxyType(OrderedDict(value))


def sizes_by_name(value: Any) -> Mapping[str, int]:
    """Return the size of each dimension as a read-only mapping, by name. The model checks the sizes later."""
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
    if isinstance(value, bool) or not isinstance(value, _NUMBERS) or not 0 <= value < 1:
        hint = "; exposed_roofs takes several" if isinstance(value, Iterable) and not isinstance(value, str) else ""
        raise ValueError(f"{value!r:.60} is not a share from 0 to below 1, such as 0.2 for 20 %{hint}")
    return float(value)


def shares(value: Any) -> tuple[float, ...]:
    """Return a list of shares as a tuple, without duplicates and zeros. A single share becomes a tuple of one share.

    Raises `ValueError` for a share that is negative, 1 or above 1.
    """
    given = [value] if isinstance(value, numbers.Real) else _sequence(value, "a share from 0 to below 1, or a list")
    for share in given:
        if isinstance(share, bool) or not isinstance(share, _NUMBERS) or not 0 <= share < 1:
            raise ValueError(f"{share!r} is not a share from 0 to below 1, such as 0.2 for 20 %")
    return tuple(dict.fromkeys(share for share in map(float, given) if share > 0))


def row_number(value: Any) -> int:
    """Return a row number as an int. The model checks later that the row exists."""
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
    what = "a list of Snapshot objects"
    found = (value,) if isinstance(value, Snapshot) else tuple(_sequence(value, what))
    if not all(isinstance(entry, Snapshot) for entry in found):
        raise _unexpected(what, value)
    return found


def zoom_limits(value: Any) -> Zoom:
    """Return the limits of a zoom as four floats: x_low, x_high, y_low, y_high."""
    what = "(x_low, x_high, y_low, y_high), each pair of finite numbers rising, above 0 on logarithmic axes; or None"
    try:
        x_low, x_high, y_low, y_high = zoom = tuple(map(float, _sequence(value, what)))
    except (TypeError, ValueError):
        raise _unexpected(what, value) from None
    if not all(map(math.isfinite, zoom)) or not 0 <= x_low < x_high or not 0 <= y_low < y_high:
        raise _unexpected(what, value)
    return x_low, x_high, y_low, y_high
