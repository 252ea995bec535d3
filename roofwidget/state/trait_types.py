"""Who owns a trait, and one trait type for each kind of value: it validates, and turns the accepted forms into one."""

from __future__ import annotations

import math
import numbers
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np
import traitlets

from roofwidget import units
from roofwidget.analysis.snapshot import Snapshot
from roofwidget.chips import Chip, chip
from roofwidget.kernels.filters import share_above_zero, whole_from_one
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.state.rates import WhatIf, read_only_what_if
from roofwidget.state.view import Zoom
from roofwidget.state.what_if_traits import KernelWhatIfs, read_only_factors
from roofwidget.support.did_you_mean import listed
from roofwidget.support.languages import ENGLISH, languages
from roofwidget.workloads import Graph
from roofwidget.workloads.partition import Partition

__all__ = [
    "ChipsTrait",
    "DimsTrait",
    "FractionsTrait",
    "GraphTrait",
    "GraphsTrait",
    "HowManyTrait",
    "KernelWhatIfsTrait",
    "KernelsTrait",
    "LocaleTrait",
    "NamesTrait",
    "OptionalKernelsTrait",
    "OptionalNamesTrait",
    "Owner",
    "PartitionTrait",
    "RateTrait",
    "RowTrait",
    "RowsTrait",
    "SecondsTrait",
    "SnapshotsTrait",
    "TimeShareTrait",
    "WhatIfTrait",
    "ZoomTrait",
    "owned",
]

Owner: TypeAlias = Literal["python", "browser", "shared"]
"""Who may change a trait: Python alone, the front end alone, or both."""

_OWNER_IN_HELP: Final[Mapping[Owner, str]] = {
    "python": "Owned by Python.",
    "browser": "Owned by the browser.",
    "shared": "Shared.",
}
_ZOOM_VALUES: Final = 4

T = TypeVar("T", bound=traitlets.TraitType[Any, Any])
Wire: TypeAlias = Callable[[Any, Any], Any]
"""Called with a value and its widget."""


def owned(
    owner: Owner, trait: T, *, sync: bool = True, to_wire: Wire | None = None, from_wire: Wire | None = None
) -> T:
    """Return the trait with its owner, from which follow what is sent, what may come back, and the end of its help.

    Parameters
    ----------
    owner
        The front end can set only what the browser owns or shares: `RooflineWidget.set_state` drops the rest.
    trait
        Any trait; what it is for is its help.
    sync
        Whether the front end receives it. False for a view of other traits.
    to_wire, from_wire
        Convert its values to JSON and back, where they are not JSON already.
    """
    if trait.help:
        trait.help = trait.__doc__ = f"{trait.help} {_OWNER_IN_HELP[owner]}"
    trait.tag(owner=owner)
    if sync:
        trait.tag(sync=True)
    if sync and owner != "python":
        # ipywidgets would echo a message before it is validated; `RooflineWidget.set_state` answers instead.
        trait.tag(echo_update=False)
    if to_wire is not None:
        trait.tag(to_json=to_wire)
    if from_wire is not None:
        trait.tag(from_json=from_wire)
    return trait


def _refuse(obj: Any, trait: traitlets.TraitType[Any, Any], error: Exception) -> traitlets.TraitError:
    return traitlets.TraitError(f"{type(obj).__name__}.{trait.name}: {error}")


class ChipsTrait(traitlets.TraitType[tuple[Chip, ...], Any]):
    """Chips, names of catalogue chips, or a `Preset`; kept as a tuple of `Chip` with distinct ids."""

    info_text = "a Preset, or a list of Chip objects and names of catalogue chips"

    def validate(self, obj: Any, value: Any) -> tuple[Chip, ...]:
        given = getattr(value, "chips", value)
        given = [given] if isinstance(given, (Chip, str)) else given
        if not isinstance(given, Sequence):
            self.error(obj, value)
        try:
            chips = tuple(entry if isinstance(entry, Chip) else chip(entry) for entry in given)
        except (LookupError, TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None
        seen: set[str] = set()
        for entry in chips:
            if entry.id in seen:
                msg = f"two chips have the id '{entry.id}'; give one of them another id"
                raise _refuse(obj, self, ValueError(msg))
            seen.add(entry.id)
        return chips


class KernelsTrait(traitlets.TraitType[Kernels, Any]):
    """`Kernels`, a list of records, or a data frame; kept as `Kernels`."""

    info_text = "Kernels, a list of kernels, tuples or dicts, or a data frame"

    def validate(self, obj: Any, value: Any) -> Kernels:
        return _kernels(self, obj, value)


class OptionalKernelsTrait(traitlets.TraitType[Kernels | None, Any]):
    """The same, or None."""

    info_text = f"{KernelsTrait.info_text}, or None"
    allow_none = True
    default_value = None

    def validate(self, obj: Any, value: Any) -> Kernels | None:
        return None if value is None else _kernels(self, obj, value)


def _kernels(trait: traitlets.TraitType[Any, Any], obj: Any, value: Any) -> Kernels:
    try:
        return as_kernels(value)
    except (TypeError, ValueError) as error:
        raise _refuse(obj, trait, error) from None


class NamesTrait(traitlets.TraitType[tuple[str, ...], Any]):
    """Names, such as ids of chips; kept as a tuple of str. A single name may stand alone."""

    info_text = "a list of names"

    def validate(self, obj: Any, value: Any) -> tuple[str, ...]:
        return _names(self, obj, value)


class OptionalNamesTrait(traitlets.TraitType[tuple[str, ...] | None, Any]):
    """The same, or None."""

    info_text = f"{NamesTrait.info_text}, or None"
    allow_none = True
    default_value = None

    def validate(self, obj: Any, value: Any) -> tuple[str, ...] | None:
        return None if value is None else _names(self, obj, value)


def _names(trait: traitlets.TraitType[Any, Any], obj: Any, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        trait.error(obj, value)
    return tuple(names)


class LocaleTrait(traitlets.TraitType[str, Any]):
    """A language of the front end, or a locale of it such as 'de-AT'; kept as the language."""

    default_value = ENGLISH
    info_text = "a language such as 'en' or 'de'"

    def validate(self, obj: Any, value: Any) -> str:
        if not isinstance(value, str):
            self.error(obj, value)
        language = value.replace("_", "-").split("-")[0].casefold()
        if language not in languages():
            msg = f"there is no catalogue for '{value}'; there are {listed(languages())}"
            raise _refuse(obj, self, ValueError(msg))
        return language


class RateTrait(traitlets.TraitType[float, Any]):
    """A rate above zero, a number or text with its unit; NaN stands for "the focus chip has none"."""

    def __init__(self, unit: str, **kwargs: Any) -> None:
        super().__init__(default_value=float("nan"), **kwargs)
        self.unit = unit
        self.info_text = f"a rate in {unit}, finite and above zero"

    def validate(self, obj: Any, value: Any) -> float:
        if isinstance(value, float) and math.isnan(value) and obj._trait_values.get(self.name) is value:  # noqa: SLF001
            # traitlets validates again what the model itself has put there.
            return value
        try:
            return units.positive(units.parse(value, self.unit, str(self.name)), str(self.name))
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class GraphTrait(traitlets.TraitType[Graph | None, Any]):
    """A graph of `roofwidget.workloads`, or None."""

    info_text = "a Graph, or None"
    allow_none = True

    def validate(self, obj: Any, value: Any) -> Graph | None:
        if value is not None and not isinstance(value, Graph):
            self.error(obj, value)
        return value


class GraphsTrait(traitlets.TraitType[Mapping[str, Graph], Any]):
    """Graphs of `roofwidget.workloads` by name; kept as a read-only mapping, in order, of different graphs."""

    info_text = "a mapping from names of phases to graphs, such as {'prefill': Graph, 'decode': Graph}"

    def validate(self, obj: Any, value: Any) -> Mapping[str, Graph]:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        names: dict[int, str] = {}
        for name, graph in value.items():
            if not isinstance(name, str) or not isinstance(graph, Graph):
                msg = f"{self.info_text} is needed, not {graph!r:.40} by the name {name!r:.40}"
                raise _refuse(obj, self, TypeError(msg))
            if id(graph) in names:
                msg = f"'{names[id(graph)]}' and '{name}' are the same graph; build one for each"
                raise _refuse(obj, self, ValueError(msg))
            names[id(graph)] = name
        # Plain dicts in another order are equal, and traitlets would not notify of the change.
        return MappingProxyType(OrderedDict(value))


class PartitionTrait(traitlets.TraitType[Partition | None, Any]):
    """A `Partition`, groups of ops by name or position, or None; the model checks them against its graph."""

    info_text = "a Partition, or groups of names or positions of ops"
    allow_none = True
    default_value = None


class DimsTrait(traitlets.TraitType[Mapping[str, int], Any]):
    """Whole numbers by name of a dimension; kept as a read-only mapping."""

    info_text = "a mapping from names of dimensions to whole numbers"

    def validate(self, obj: Any, value: Any) -> Mapping[str, int]:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        return MappingProxyType({str(name): size for name, size in value.items()})


class SecondsTrait(traitlets.TraitType[float, Any]):
    """A time from zero, in seconds; a number or text with its unit."""

    info_text = "seconds, finite and not negative"

    def validate(self, obj: Any, value: Any) -> float:
        try:
            return units.finite(units.parse(value, "s", str(self.name)), str(self.name))
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class FractionsTrait(traitlets.TraitType[tuple[float, ...], Any]):
    """Shares from 0 to below 1, without repeats; kept as a tuple of float. A single one may stand alone."""

    info_text = "a share from 0 to below 1, or a list of them"

    def validate(self, obj: Any, value: Any) -> tuple[float, ...]:
        given = [value] if isinstance(value, numbers.Real) else value
        if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, str):
            self.error(obj, value)
        for share in given:
            if isinstance(share, bool) or not isinstance(share, numbers.Real) or not 0 <= float(share) < 1:
                msg = f"{share!r} is not a share from 0 to below 1, such as 0.2 for 20 %"
                raise _refuse(obj, self, ValueError(msg))
        return tuple(dict.fromkeys(share for share in map(float, given) if share > 0))


class TimeShareTrait(traitlets.TraitType[float, Any]):
    """A share above 0, at most 1."""

    info_text = "a share above 0, at most 1"

    def validate(self, obj: Any, value: Any) -> float:
        try:
            return share_above_zero(value)
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class HowManyTrait(traitlets.TraitType[int | None, Any]):
    """A whole number from 1, or None for no limit."""

    info_text = "a whole number from 1, or None"
    allow_none = True

    def validate(self, obj: Any, value: Any) -> int | None:
        try:
            return whole_from_one(value, str(self.name))
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class RowTrait(traitlets.TraitType[int | None, Any]):
    """A row number into the kernels, or None."""

    info_text = "a row number into kernels, or None"
    allow_none = True

    def validate(self, obj: Any, value: Any) -> int | None:
        return None if value is None else _row(self, obj, value)


class RowsTrait(traitlets.TraitType[tuple[int, ...], Any]):
    """Row numbers into the kernels, without repeats; kept as a tuple of int."""

    info_text = "row numbers into kernels"

    def validate(self, obj: Any, value: Any) -> tuple[int, ...]:
        if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
            self.error(obj, value)
        return tuple(dict.fromkeys(_row(self, obj, row) for row in value))


class WhatIfTrait(traitlets.TraitType[WhatIf, Any]):
    """Changed peaks and bandwidths by chip id: ``{id: {"peak_flops": {…}, "bandwidth": {…}}}``.

    Rates are by precision or by memory level, FLOP/s or bytes/s.
    Kept as a read-only mapping; entries that are empty are left out.
    """

    info_text = "a mapping from chip id to {'peak_flops': {precision: rate}, 'bandwidth': {level: rate}}"

    def validate(self, obj: Any, value: Any) -> WhatIf:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        try:
            return read_only_what_if(value)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class KernelWhatIfsTrait(traitlets.TraitType[KernelWhatIfs, Any]):
    """Factors on bytes and time by row: ``{3: {"bytes": 0.5}}``; kept as a read-only mapping without those of 1."""

    default_value = MappingProxyType({})
    info_text = "a mapping from row numbers to {'bytes': factor, 'time': factor}"

    def validate(self, obj: Any, value: Any) -> KernelWhatIfs:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        for row, factors in value.items():
            if isinstance(row, bool) or not isinstance(row, (int, np.integer)) or not isinstance(factors, Mapping):
                self.error(obj, value)
        try:
            return read_only_factors(value)
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class SnapshotsTrait(traitlets.TraitType[tuple[Snapshot, ...], Any]):
    """Snapshots; kept as a tuple. A single one may stand alone."""

    default_value = ()
    info_text = "a list of Snapshot objects"

    def validate(self, obj: Any, value: Any) -> tuple[Snapshot, ...]:
        given = [value] if isinstance(value, Snapshot) else value
        if not isinstance(given, Sequence) or not all(isinstance(entry, Snapshot) for entry in given):
            self.error(obj, value)
        return tuple(given)


class ZoomTrait(traitlets.TraitType[Zoom | None, Any]):
    """The part of the plane that is shown, or None for all that there is; kept as a tuple of four floats."""

    info_text = (
        "(x_low, x_high, y_low, y_high), each pair of finite numbers rising, above 0 on logarithmic axes; or None"
    )
    allow_none = True
    default_value = None

    def validate(self, obj: Any, value: Any) -> Zoom | None:
        if value is None:
            return None
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != _ZOOM_VALUES:
            self.error(obj, value)
        try:
            x_low, x_high, y_low, y_high = (float(limit) for limit in value)
        except (TypeError, ValueError):
            self.error(obj, value)
        finite = all(map(math.isfinite, (x_low, x_high, y_low, y_high)))
        if not finite or not 0 <= x_low < x_high or not 0 <= y_low < y_high:
            self.error(obj, value)
        return x_low, x_high, y_low, y_high


def _row(trait: traitlets.TraitType[Any, Any], obj: Any, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        trait.error(obj, value)
    return int(value)
