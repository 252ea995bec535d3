"""Makes a graph of a JAX function: `jax.make_jaxpr` traces it, and each primitive becomes an op.

Reshapes and broadcasts are free, and so is what depends on constants only. Other primitives that move elements, such as
a transpose or a slice, read and write what they move.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Final

from roofwidget.measure.graphs.trace import Trace, Where
from roofwidget.measure.graphs.views import View
from roofwidget.measure.jax.primitives import CONSTANT, HANDLERS, Call, array_of, read
from roofwidget.workloads import Graph

_MAX_REASON: Final = 300  # characters of JAX's reason in an error


def graph_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Graph:
    """Return the graph of a function: see `Graph.from_jax`."""
    import jax  # noqa: PLC0415 - optional

    if not callable(function):
        raise TypeError(f"Graph.from_jax needs a function of arrays, got {function!r:.60}")
    name = str(getattr(function, "__name__", type(function).__name__))
    leaves = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
    if not any(hasattr(leaf, "shape") and hasattr(leaf, "dtype") for _, leaf in leaves):
        raise ValueError(
            f"Graph.from_jax needs example inputs for {name}, and got no array; call it as "
            "Graph.from_jax(function, jax.ShapeDtypeStruct((1024, 1024), 'float32'))"
        )
    try:
        closed = jax.make_jaxpr(function)(*args, **kwargs)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"jax.make_jaxpr cannot trace {name}: {type(error).__name__}: {reason:.{_MAX_REASON}}; "
            "make jax.jit(function) work first: it follows no branch on the values of an array"
        ) from error
    trace = Trace(name)
    names = _argument_names(function, [path for path, _ in leaves])
    inputs = [array_of(var.aval, called).view() for var, called in zip(closed.jaxpr.invars, names, strict=True)]
    return trace.graph(view for view in _Reader(trace).run(closed, inputs, "") if view is not None)


def without_values(make: Callable[[], Any]) -> Any:
    """Return what a function makes, such as inputs, with arrays that have shapes but no memory."""
    import jax  # noqa: PLC0415 - optional

    return jax.eval_shape(make)


def _argument_names(function: Any, paths: Iterable[Any]) -> list[str]:
    """Return the names of the arrays in the arguments: ``x``, ``params.w1``."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = [one.name for one in parameters if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}]
    names = []
    for kind, *path in paths:
        parts = [str(next(getattr(key, word) for word in ("key", "idx", "name") if hasattr(key, word))) for key in path]
        if kind.idx == 0:
            place = int(parts[0])
            parts[0] = named[place] if place < len(named) else f"arg{place}"
        names.append(".".join(parts))
    return names


class _Reader:
    """Reads a jaxpr into a trace.

    Parameters
    ----------
    trace
        Where operations are added.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def run(self, closed: Any, inputs: Sequence[View | None], scope: str) -> list[View | None]:
        """Read a jaxpr with these inputs, and return its results. None is a constant that needs no memory."""
        jaxpr = getattr(closed, "jaxpr", closed)
        values: dict[Any, View | None] = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, const in zip(jaxpr.constvars, getattr(closed, "consts", ()), strict=False):
            values[var] = None if prod(const.shape) == 1 else array_of(var.aval, "constant").view()
        for equation in jaxpr.eqns:
            operands = [_value(values, atom) for atom in equation.invars]
            values.update(zip(equation.outvars, self._equation(equation, operands, scope), strict=True))
        return [_value(values, atom) for atom in jaxpr.outvars]

    def body(self, closed: Any) -> Graph | None:
        """Return the graph of a jaxpr of its own, or None if it has no operations."""
        reader = _Reader(Trace(self.trace.name))
        inputs = [array_of(var.aval, f"input {place}").view() for place, var in enumerate(closed.jaxpr.invars)]
        return reader.trace.graph_or_none(view for view in reader.run(closed, inputs, "") if view is not None)

    def _equation(self, equation: Any, operands: Sequence[View | None], scope: str) -> Sequence[View | None]:
        name, params = str(equation.primitive), equation.params
        scope = _joined(scope, *str(equation.source_info.name_stack).split("/"))
        inner = next((params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in params), None)
        if inner is not None and name not in HANDLERS and len(getattr(inner, "jaxpr", inner).invars) == len(operands):
            called = str(params.get("name", ""))
            return self.run(inner, operands, scope if called == self.trace.name else _joined(scope, called))
        if name in CONSTANT and all(view is None for view in operands):
            return [None] * len(equation.outvars)
        avals = [atom.aval for atom in equation.invars]
        results = [array_of(var.aval) for var in equation.outvars]
        place = partial(Where, module=scope)
        return read(Call(self.trace, results, place, name, params, operands, avals, scope, self.run, self.body))


def _value(values: Mapping[Any, View | None], atom: Any) -> View | None:
    return None if hasattr(atom, "val") else values[atom]  # a literal has its value


def _joined(scope: str, *parts: str) -> str:
    """Return the path of a function inside a scope. Names that only say how JAX calls a function are left out."""
    words = [part for part in parts if part.isidentifier() and not part.startswith("_")]
    return ".".join([*([scope] if scope else []), *words])
