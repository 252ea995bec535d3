"""One trait type for each kind of value the model holds: it validates and brings many forms into one."""

from __future__ import annotations

import math
import numbers
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import traitlets

from roofwidget import units
from roofwidget.chips import Chip
from roofwidget.kernels.filters import share_above_zero, whole_from_one
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.support.did_you_mean import listed
from roofwidget.support.languages import ENGLISH, languages

__all__ = [
    "ChipsTrait",
    "DimsTrait",
    "FractionsTrait",
    "GraphTrait",
    "GraphsTrait",
    "HowManyTrait",
    "KernelsTrait",
    "LocaleTrait",
    "NamesTrait",
    "RateTrait",
    "RowTrait",
    "RowsTrait",
    "SecondsTrait",
    "TimeShareTrait",
    "WhatIfTrait",
]

_QUANTITIES = {"peak_flops": "FLOP/s", "bandwidth": "B/s"}


def _refuse(obj: Any, trait: traitlets.TraitType[Any, Any], error: Exception) -> traitlets.TraitError:
    return traitlets.TraitError(f"{type(obj).__name__}.{trait.name}: {error}")


class ChipsTrait(traitlets.TraitType[tuple[Chip, ...], Any]):
    """Chips, names of catalogue chips, or a `Preset`; kept as a tuple of `Chip` with distinct ids."""

    info_text = "a Preset, or a list of Chip objects and names of catalogue chips"

    def validate(self, obj: Any, value: Any) -> tuple[Chip, ...]:
        from roofwidget.chips import chip  # noqa: PLC0415 - the catalogue is read only when a name is looked up

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
        try:
            return as_kernels(value)
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class NamesTrait(traitlets.TraitType[tuple[str, ...], Any]):
    """Names, such as ids of chips; kept as a tuple of str. A single name may stand alone."""

    info_text = "a list of names"

    def validate(self, obj: Any, value: Any) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            self.error(obj, value)
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


class GraphTrait(traitlets.TraitType[Any, Any]):
    """A graph of `roofwidget.workloads`, or None."""

    info_text = "a Graph, or None"
    allow_none = True

    def validate(self, obj: Any, value: Any) -> Any:
        if value is not None and not _is_graph(value):
            self.error(obj, value)
        return value


class GraphsTrait(traitlets.TraitType[Mapping[str, Any], Any]):
    """Graphs of `roofwidget.workloads` by name; kept as a read-only mapping, in order, of different graphs."""

    info_text = "a mapping from names of phases to graphs, such as {'prefill': Graph, 'decode': Graph}"

    def validate(self, obj: Any, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        names: dict[int, str] = {}
        for name, graph in value.items():
            if not isinstance(name, str) or not _is_graph(graph):
                msg = f"{self.info_text} is needed, not {graph!r:.40} by the name {name!r:.40}"
                raise _refuse(obj, self, TypeError(msg))
            if id(graph) in names:
                msg = f"'{names[id(graph)]}' and '{name}' are the same graph; build one for each"
                raise _refuse(obj, self, ValueError(msg))
            names[id(graph)] = name
        # Ordered ones differ where their order does, and then it is told.
        return MappingProxyType(OrderedDict(value))


def _is_graph(value: object) -> bool:
    from roofwidget.workloads import Graph  # noqa: PLC0415 - only when one is set

    return isinstance(value, Graph)


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


class HowManyTrait(traitlets.TraitType["int | None", Any]):
    """A whole number from 1, or None for no limit."""

    info_text = "a whole number from 1, or None"
    allow_none = True

    def validate(self, obj: Any, value: Any) -> int | None:
        try:
            return whole_from_one(value, str(self.name))
        except (TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None


class RowTrait(traitlets.TraitType["int | None", Any]):
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


class WhatIfTrait(traitlets.TraitType[Mapping[str, Any], Any]):
    """Changed peaks and bandwidths by chip id: ``{id: {"peak_flops": {…}, "bandwidth": {…}}}``.

    Rates are by precision or by memory level, FLOP/s or bytes/s.
    Kept as a read-only mapping; entries that are empty are left out.
    """

    info_text = "a mapping from chip id to {'peak_flops': {precision: rate}, 'bandwidth': {level: rate}}"

    def validate(self, obj: Any, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        try:
            chips = {str(chip): _changes(str(chip), changes) for chip, changes in value.items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _refuse(obj, self, error) from None
        return MappingProxyType({chip: MappingProxyType(changes) for chip, changes in chips.items() if changes})


def _changes(chip: str, given: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, float]]:
    changes: dict[str, Mapping[str, float]] = {}
    for quantity, values in given.items():
        if quantity not in _QUANTITIES:
            msg = f"what_if['{chip}'] may hold 'peak_flops' and 'bandwidth', not '{quantity}'"
            raise ValueError(msg)
        rates = {}
        for key, value in values.items():
            what = f"what_if['{chip}']['{quantity}']['{key}']"
            rates[str(key)] = units.positive(units.parse(value, _QUANTITIES[quantity], what), what)
        if rates:
            changes[quantity] = MappingProxyType(rates)
    return changes


def _row(trait: traitlets.TraitType[Any, Any], obj: Any, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        trait.error(obj, value)
    return int(value)
