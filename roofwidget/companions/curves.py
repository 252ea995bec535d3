"""Arithmetic intensity against size: of an op of a graph, of an operator on square matrices, of a user's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.companions.arrays import allowed, over, swept, whole_numbers
from roofwidget.kernels.table import Kernel, Kernels
from roofwidget.support.did_you_mean import nearest
from roofwidget.workloads import Graph, Op, Tensor, dim
from roofwidget.workloads.fusion import Partition
from roofwidget.workloads.registry import OPERATORS

if TYPE_CHECKING:
    from roofwidget.kernels.columns import Floats
    from roofwidget.model import RooflineModel

__all__ = ["Curve", "curve_of"]

# As in `bound`: closer than this (relative) to the ridge point is on it.
_TIE: Final = 1 - 1e-12
# Between two sizes of a sweep every whole number is tried, up to so many.
_TRIED: Final = 2**20
_SIZE: Final = "N"
_LARGEST: Final = 2**31


@dataclass(frozen=True)
class Curve:
    """The intensity of one kernel at n sizes.

    Parameters
    ----------
    name
        What the kernel is called.
    size
        What the sizes are of: a dimension's name, or ``N``.
    sizes, intensity
        Whole numbers, ascending, and FLOP/byte, shape (n,); NaN where it is unknown or the size may not be.
    at
        The intensity at other sizes, None where only these are known.
    """

    name: str
    size: str
    sizes: Floats
    intensity: Floats
    at: Callable[[Floats], Floats] | None = None

    def first(self, ridge: float) -> int | None:
        """Return the first size at which the intensity reaches a ridge point; None if none of these sizes does.

        Where `at` tells, whole numbers between the sizes are tried too.
        """
        reached = np.flatnonzero(self.intensity >= ridge * _TIE)
        if not reached.size:
            return None
        here = int(self.sizes[reached[0]])
        if self.at is None or reached[0] == 0:
            return here
        below = int(self.sizes[reached[0] - 1]) + 1
        if here - below > _TRIED:
            return here
        between = np.arange(below, here + 1, dtype=np.float64)
        return int(between[np.flatnonzero(self.at(between) >= ridge * _TIE)[0]])


_NOTHING: Final = Curve("", _SIZE, np.zeros(0), np.zeros(0))


def curve_of(model: RooflineModel, op: Any, sizes: Any) -> Callable[[], Curve]:
    """Return what makes the curve of an op as the model is at the time; see `size_sweep` for the forms."""
    name = op if isinstance(op, str) else _operator_name(op)
    graph = model.counted_graph()
    if graph is not None and isinstance(op, str) and _is_of_graph(graph, op, sizes):
        return _of_graph(model, graph, op, sizes)
    if name in OPERATORS:
        wanted = whole_numbers("size_sweep", _plain(sizes), high=_LARGEST)
        make = _of_operator(model, name, wanted)
        make()
        return make
    if callable(op):
        curve = _of_function(op, whole_numbers("size_sweep", _plain(sizes)))
        return lambda: curve
    known = [*(() if graph is None else (one.name for one in graph.ops)), *OPERATORS]
    if not isinstance(op, str):
        msg = f"size_sweep: op must be the name of an op or an operator, or a function of N, got {op!r:.60}"
        raise TypeError(msg)
    close = nearest(op, known, most=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    msg = f"size_sweep: there is no op and no operator called '{op:.60}'{hint}"
    raise ValueError(msg)


def _operator_name(op: Any) -> str:
    """Return the name under which a function is an operator, or nothing."""
    plain = inspect.unwrap(op) if callable(op) else None
    return next((name for name, known in OPERATORS.items() if inspect.unwrap(known) is plain), "")


def _is_of_graph(graph: Graph, op: str, sizes: Any) -> bool:
    """Whether an op of the graph is meant: an operator of that name is, where the graph has nothing to sweep."""
    named = isinstance(sizes, (str, Mapping))
    return any(one.name == op for one in graph.ops) and (named or bool(graph.dims) or op not in OPERATORS)


def _plain(sizes: Any) -> Any:
    if isinstance(sizes, (str, Mapping)):
        msg = f"size_sweep: sizes of an operator or a function are whole numbers, as it has no dims, got {sizes!r:.60}"
        raise TypeError(msg)
    return sizes


def _of_graph(model: RooflineModel, graph: Graph, op: str, sizes: Any) -> Callable[[], Curve]:
    name, wanted = swept("size_sweep", sizes, graph)

    def make() -> Curve:
        partition: Partition | None = model.partition
        if partition is None or all(op not in group for group in partition.groups):
            return _NOTHING
        dims = {dim.name: dim for dim in partition.graph.dims}
        if name not in dims:
            return _NOTHING
        legal = wanted[(wanted >= dims[name].low) & (wanted <= dims[name].high)]
        fixed = partition.graph.environment(model.dims)

        def at(there: Floats) -> Floats:
            env = {**fixed, name: there}
            found = _intensity(partition, op, env)
            return np.where(allowed(partition.graph, env, len(there)), found, np.nan)

        kernel = " + ".join(next(group for group in partition.groups if op in group))
        return Curve(kernel, name, legal, at(legal), at)

    return make


def _intensity(partition: Partition, op: str | int, env: Mapping[str, Any]) -> Floats:
    """Return FLOPs over bytes of the kernel that an op is in."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        flops = sum(over(count, env) for count in partition.flops(op).values())
        return np.asarray(flops / over(partition.bytes(op), env))


def _of_operator(model: RooflineModel, name: str, wanted: Floats) -> Callable[[], Curve]:
    def make() -> Curve:
        counted = model.counted_graph()
        convention = "textbook" if counted is None else counted.convention
        dtype = (counted and (counted.dtype or counted.main_dtype)) or "bf16"
        graph = Graph("square", convention=convention)
        _apply(graph, name, dtype, int(wanted[-1]))
        apart = Partition.unfused(graph)
        fixed = graph.environment()

        def at(there: Floats) -> Floats:
            env = {**fixed, _SIZE: there}
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                found = over(apart.total_flops(), env) / over(apart.total_bytes(), env)
            return np.where(allowed(graph, env, len(there)), found, np.nan)

        return Curve(f"{name} of {dtype} N × N", _SIZE, wanted, at(wanted), at)

    return make


def _apply(graph: Graph, name: str, dtype: str, size: int) -> None:
    """Add an operator to a graph, N by N matrices for all of its tensors and N for its counts."""
    n = dim(_SIZE, 1, _LARGEST, default=size)
    given: list[Any] = []
    for parameter in list(inspect.signature(inspect.unwrap(OPERATORS[name])).parameters.values())[1:]:
        needed = parameter.default is parameter.empty
        if not needed or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        what = parameter.annotation if isinstance(parameter.annotation, str) else ""
        if parameter.kind is parameter.KEYWORD_ONLY or what not in {"", "Tensor", "Count"}:
            msg = f"size_sweep: operator '{name}' also needs {parameter.name}; give a function of N that makes the op"
            raise ValueError(msg)
        given.append(n if what == "Count" else graph.input(parameter.name, (n, n), dtype))
    try:
        OPERATORS[name](graph, *given)
    except (TypeError, ValueError) as error:
        msg = (
            f"size_sweep: operator '{name}' takes no square matrices; give a function of N that makes the op ({error})"
        )
        raise ValueError(msg) from None


def _of_function(function: Callable[[int], Any], wanted: Floats) -> Curve:
    counted = [_counted(function(int(size)), int(size)) for size in wanted]
    flops, moved = (np.array(column, dtype=np.float64) for column in zip(*counted, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = flops / moved
    return Curve(getattr(function, "__name__", "op").replace("<lambda>", "op"), _SIZE, wanted, intensity)


def _counted(made: Any, size: int) -> tuple[float, float]:
    """Return FLOPs and bytes of what a user's function made."""
    if isinstance(made, Op):
        made = Graph("op", [made])
    if isinstance(made, Tensor) or not isinstance(made, (Graph, Kernel, tuple, list)):
        msg = f"size_sweep: the function must return an Op, a Graph, a Kernel or (flops, bytes), got {made!r:.60}"
        raise TypeError(msg + f" for N = {size}")
    if isinstance(made, Graph):
        table = made.kernels()
    elif isinstance(made, Kernel):
        table = Kernels.from_records([made])
    else:
        table = Kernels.from_records([("op", *made)])
    return float(table.flops.sum()), float(table.bytes.sum())
