"""Conditions on a graph's dimensions in addition to their ranges: sizes are at least 1, divisions have no remainder.

`js/src/fusion/conditions.ts` mirrors this file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from operator import index
from typing import Any, Final, SupportsIndex, TypeAlias

from roofwidget.support.arguments import mapping_argument, text_argument
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.workloads.expressions import Call, Count, Dim, Expression, Symbol, dims_of, evaluate
from roofwidget.workloads.tensors import Tensor

Conditions: TypeAlias = Mapping[tuple[Count, Count], str]
"""The meaning of each count, by (count, divisor). Counts are multiples of the divisor; 0 means at least 1 instead."""

# The largest distance from the given value at which a legal value is searched.
_MAX_DISTANCE: Final = 4096


def of_sizes(tensor: Tensor, where: str) -> dict[tuple[Count, Count], str]:
    """Return the conditions on the sizes of a tensor, without conditions that always hold."""
    return {
        (size, 0): f"{where}: axis {axis} of '{tensor.name}'"
        for axis, size in reversed([*enumerate(tensor.shape)])  # if axes have equal sizes, name the first axis
        if not _is_above_zero(size)
    }


def sizes(graph: str, dims: Mapping[str, Dim], conditions: Conditions, given: Mapping[str, Any]) -> dict[str, int]:
    """Return the values of a graph's dims. A dim without a given value has its default.

    An illegal value raises an error.
    """
    values = {name: dim.default for name, dim in dims.items()}
    for name, value in mapping_argument(given, "dims", "{'batch': 8}").items():
        text_argument(name, "a key of dims")
        values[name] = _checked(graph, dims, name, value)
    if given:
        check(conditions, dims.values(), values, f"graph '{graph}': ")
    return values


def _checked(graph: str, dims: Mapping[str, Dim], name: str, value: Any) -> int:
    dim = dims.get(name)
    if dim is None:
        known = listed(dims) or "none"
        raise ValueError(f"graph '{graph}' has no dim '{name}'{did_you_mean(name, dims, f'; it has {known}')}")
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"dim '{name}' of graph '{graph}' must be an int, got {value!r:.40}")
    size = index(value)
    if not dim.low <= size <= dim.high:
        raise ValueError(f"dim '{name}' of graph '{graph}' must be from {dim.low} to {dim.high}, got {size}")
    return size


def check(conditions: Conditions, dims: Collection[Dim], env: Mapping[str, int], where: str = "") -> None:
    """Raise `ValueError` unless all conditions hold. The message names the op, the dims, and values that are legal."""
    for (count, divisor), what in conditions.items():
        fault = _fault(count, divisor, env)
        if fault is None:
            continue
        names = {dim.name for dim in dims_of([count, divisor])}
        involved = [dim for dim in dims if dim.name in names]
        given = ", ".join(f"{dim.name} = {env[dim.name]}" for dim in involved)
        others = ((dim.name, nearest_size(conditions, dim, env)) for dim in involved)
        mend = " or ".join(f"{name} = {size}" for name, size in others if size is not None)
        raise ValueError(f"{where}with {given}, {what} = {fault}" + (f"; {mend} would do" if mend else ""))


def nearest_size(conditions: Conditions, dim: Dim, env: Mapping[str, int]) -> int | None:
    """Return the legal value that is nearest to the value of a dim, or None if no legal value is near.

    If two legal values are equally near, the smaller value is returned.
    """
    for size in _around(env[dim.name]):
        if dim.low <= size <= dim.high:
            there = {**env, dim.name: size}
            if all(_fault(count, divisor, there) is None for count, divisor in conditions):
                return size
    return None


def _around(middle: int) -> Iterator[int]:
    yield middle
    for away in range(1, _MAX_DISTANCE):
        yield middle - away
        yield middle + away


def _fault(count: Count, divisor: Count, env: Mapping[str, int]) -> str | None:
    """Return why a count breaks its condition, or None if the condition holds.

    An example: ``n - 3 = -2, which is not at least 1``.
    """
    if divisor == 0:
        size = evaluate(count, env)
        return None if size >= 1 else f"{_with_value(count, size)}, which is not at least 1"
    by = evaluate(divisor, env)
    whole = evaluate(count, env)
    return (
        None
        if by >= 1 and whole % by == 0
        else f"{_with_value(count, whole)} is no multiple of {_with_value(divisor, by)}"
    )


def _with_value(count: Count, value: int) -> str:
    return str(value) if isinstance(count, int) else f"{count} = {value}"


def _is_above_zero(count: Count) -> bool:
    """Return whether a count is a sum of positive terms, so that it is at least 1 for all values of the dimensions."""
    if not isinstance(count, Expression):
        return count >= 1
    return all(
        number > 0 and all(map(_is_at_least_one, (atom for atom, _ in factors))) for factors, number in count.terms()
    )


def _is_at_least_one(atom: Symbol | Call) -> bool:
    if isinstance(atom, Symbol):
        return (atom.low or 0) >= 1
    return any(map(_is_above_zero, atom.args)) if atom.kind == "max" else all(map(_is_above_zero, atom.args))
