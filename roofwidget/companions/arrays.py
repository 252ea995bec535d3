"""Evaluates the counts of a graph for many sizes at once, as float64 arrays. Whole numbers up to 2^53 are exact."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.workloads.expressions import Call, Symbol

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Bools, Floats
    from roofwidget.workloads import Dim, Graph
    from roofwidget.workloads.expressions import Count

# If the highest size of a dimension is at least this many times the lowest size, `whole_range` uses powers of two.
_MIN_RATIO_FOR_POWERS: Final = 16
_MAX_STEPS: Final = 24


def evaluate_arrays(count: Count, env: Mapping[str, Any]) -> Floats:
    """Return the values of a count. `env` maps the name of each symbol in the count to a number or an array.

    The shapes of the arrays are broadcast as in numpy. The result has the broadcast shape.

    Examples
    --------
    >>> from roofwidget.workloads import dim
    >>> n = dim("n", 1, 9, default=2)
    >>> evaluate_arrays(3 * n * n + 1, {"n": np.array([1.0, 2.0])}).tolist()
    [4.0, 13.0]
    """
    if isinstance(count, int):
        return np.asarray(float(count))
    total: Any = 0.0
    for factors, coefficient in count.terms():
        number: Any = float(coefficient)
        for atom, power in factors:
            number = number * _atom(atom, env) ** power
        total = total + number
    return np.asarray(total)


def _atom(atom: Symbol | Call, env: Mapping[str, Any]) -> Floats:
    if isinstance(atom, Symbol):
        return np.asarray(env[atom.name], dtype=np.float64)
    values = [evaluate_arrays(argument, env) for argument in atom.args]
    if atom.kind == "/":
        return np.asarray(np.ceil(values[0] / np.where(values[1] > 0, values[1], np.nan)))
    broadcast = np.broadcast_arrays(*values)
    return np.asarray((np.minimum if atom.kind == "min" else np.maximum).reduce(broadcast))


def allowed(graph: Graph, env: Mapping[str, Any], n: int) -> Bools:
    """Return a mask, shape (n,): true where the sizes in `env` meet all conditions of the graph."""
    fine = np.ones(n, dtype=np.bool_)
    for count, divisor in graph.conditions:
        whole = evaluate_arrays(count, env)
        if divisor == 0:
            fine &= whole >= 1
            continue
        by = evaluate_arrays(divisor, env)
        fine &= (by >= 1) & (np.mod(whole, np.where(by >= 1, by, 1)) == 0)
    return fine


def swept(where: str, given: Any, graph: Graph) -> tuple[str, Floats]:
    """Return the name of the dimension to sweep, and its sizes in ascending order.

    `given` is ``{name: sizes}``, or only a name for the whole range of the dimension. If the graph has exactly one
    dimension, `given` can also be only the sizes. Error messages begin with `where`.
    """
    dims = {dim.name: dim for dim in graph.dims}
    if isinstance(given, Mapping) and len(given) == 1:
        name, sizes = next(iter(given.items()))
    elif isinstance(given, str):
        name, sizes = given, None
    elif len(dims) == 1 and not isinstance(given, Mapping):
        name, sizes = next(iter(dims)), given
    else:
        msg = f"{where}: name the dim of graph '{graph.name}' for these sizes, as in {{name: sizes}}; it has "
        raise ValueError(msg + (listed(dims) or "none"))
    dim = dims.get(name)
    if dim is None:
        hint = did_you_mean(str(name), dims, f"; it has {listed(dims) or 'none'}")
        raise ValueError(f"{where}: graph '{graph.name}' has no dim {name!r:.60}{hint}")
    return name, whole_range(dim) if sizes is None else whole_numbers(f"{where}: '{name}'", sizes, dim.low, dim.high)


def whole_range(dim: Dim) -> Floats:
    """Return ascending sizes from the lowest to the highest size of a dimension.

    If the highest size is at least 16 times the lowest size, the sizes are the two ends and the powers of two between
    the ends: from 3 to 50, the sizes are 3, 4, 8, 16, 32 and 50. Otherwise the sizes are at most 24 whole
    numbers with nearly equal distances.
    """
    if dim.high >= _MIN_RATIO_FOR_POWERS * dim.low:
        powers = 2.0 ** np.arange(np.ceil(np.log2(dim.low)), np.floor(np.log2(dim.high)) + 1)
        return np.unique([dim.low, *powers, dim.high])
    return np.unique(np.round(np.linspace(dim.low, dim.high, min(_MAX_STEPS, dim.high - dim.low + 1))))


def whole_numbers(what: str, sizes: Any, low: int = 1, high: int = 2**53) -> Floats:
    """Return sizes as a float64 array, in ascending order and without duplicates.

    If a size is not a whole number from `low` to `high`, this function raises `TypeError` or `ValueError`. The message
    begins with `what`.
    """
    try:
        found = sorted({index(size) for size in sizes if not isinstance(size, (bool, np.bool_)) or _refused(size)})
    except TypeError:
        raise TypeError(f"{what}: sizes must be a sequence of whole numbers, got {sizes!r:.60}") from None
    if not found:
        raise ValueError(f"{what}: no sizes given; give at least one")
    if found[0] < low or found[-1] > high:
        wrong = found[0] if found[0] < low else found[-1]
        raise ValueError(f"{what}: sizes must be from {low} to {high}, got {wrong}")
    return np.array(found, dtype=np.float64)


def _refused(size: object) -> bool:
    raise TypeError(size)
