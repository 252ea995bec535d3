"""The operators that a graph has as methods: those of this package and a user's own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from roofwidget.support.did_you_mean import keywords

__all__ = ["OPERATORS", "Operator", "built_in", "operator", "register_op"]

Operator: TypeAlias = Callable[..., Any]
"""``function(graph, *tensors, name=None, **params)``: adds ops to the graph and returns the tensors they write."""

F = TypeVar("F", bound=Operator)

OPERATORS: Final[dict[str, Operator]] = {}
_BUILT_IN: Final[set[str]] = set()


def register_op(name: str, function: Operator) -> None:
    """Make ``graph.<name>(…)`` call ``function(graph, …)``.

    Parameters
    ----------
    name
        An identifier that no attribute of `Graph` and no built-in operator has. A name of your own can be taken again.
    function
        Takes the graph first, then tensors and keywords; it checks shapes, calls ``graph.op(…)`` and returns a tensor
        or a tuple of them.

    Raises
    ------
    TypeError, ValueError
        If the function cannot be called, or the name is none or taken.

    Examples
    --------
    >>> from roofwidget.workloads import Graph, Tensor
    >>> def cube(graph, x, name=None):
    ...     name = graph.new_name(name or "cube")
    ...     y = Tensor(name, x.shape, x.dtype)
    ...     graph.op("elementwise", name, [x], [y], 2 * x.size)
    ...     return y
    >>> register_op("cube", cube)
    >>> g = Graph()
    >>> g.flops(g.producer(g.cube(g.input("x", (4, 8), "fp32"))))
    64
    """
    from roofwidget.workloads.graph import Graph  # noqa: PLC0415 - the graph looks its operators up here

    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        msg = f"the name of an operator must be an identifier such as 'gelu', got {name!r:.60}"
        raise ValueError(msg)
    if not callable(function):
        msg = f"operator '{name}' must be a function, got {function!r:.60}"
        raise TypeError(msg)
    if name in _BUILT_IN or name in vars(Graph) or name in vars(Graph()):
        what = "a built-in operator" if name in _BUILT_IN else "an attribute of every graph"
        msg = f"'{name}' is {what}; give yours another name"
        raise ValueError(msg)
    OPERATORS[name] = _checked(name, function)


def operator(function: F) -> F:
    """Register a built-in operator under its function's name."""
    OPERATORS[function.__name__] = _checked(function.__name__, function)
    _BUILT_IN.add(function.__name__)
    return function


def built_in() -> frozenset[str]:
    """Return the names of the built-in operators."""
    return frozenset(_BUILT_IN)


def _checked(name: str, function: Operator) -> Operator:
    parameters = inspect.signature(function).parameters.values()
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = function if open_ended else keywords(f"operator '{name}'")(function)

    @functools.wraps(function)
    def built(graph: Any, /, *tensors: Any, **params: Any) -> Any:
        with graph.building():
            return named(graph, *tensors, **params)

    return built
