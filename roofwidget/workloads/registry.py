"""The operators that a graph offers as methods: built-in operators and a user's own operators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads.tensors import Tensor

Operator: TypeAlias = Callable[..., Any]
"""``function(graph, *tensors, name=None, **params)``: adds ops to the graph and returns the tensors that they write."""

F = TypeVar("F", bound=Operator)

OPERATORS: Final[dict[str, Operator]] = {}
_BUILT_IN: Final[set[str]] = set()


def operator(function: F) -> F:
    """Register a function as a built-in operator under the function's name."""
    register(function.__name__, function)
    _BUILT_IN.add(function.__name__)
    return function


def built_in() -> frozenset[str]:
    """Return the names of the built-in operators."""
    return frozenset(_BUILT_IN)


def register(name: str, function: Operator) -> None:
    """Add an operator. If an operator fails, the graph stays unchanged. Unknown keywords are refused."""
    parameters = tuple(inspect.signature(function).parameters.values())
    # The first parameter is the graph. Annotations may be texts, so `Tensor` is also compared as text.
    of_tensors = [p.name for p in parameters if p.annotation in {Tensor, "Tensor"}]
    order = [p.name for p in parameters][1:]
    takes_any_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters)
    checked = function if takes_any_keyword else keywords(f"operator '{name}'")(function)

    @functools.wraps(function)
    def built(graph: Any, /, *tensors: Any, **params: Any) -> Any:
        for parameter, value in [*zip(order, tensors, strict=False), *params.items()]:
            if parameter in of_tensors and not isinstance(value, Tensor):
                raise TypeError(
                    f"operator '{name}': {parameter} must be a Tensor, such as the result of graph.input(…), "
                    f"got {shown_value(value)}"
                )
        with graph.building():
            return checked(graph, *tensors, **params)

    OPERATORS[name] = built
