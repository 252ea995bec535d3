"""FLOPs per element of functions that numpy, PyTorch and XLA share, counted as the operators of a graph count them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from roofwidget.workloads.convention import CONVENTIONS
from roofwidget.workloads.expressions import Count, evaluate
from roofwidget.workloads.ops.elementwise import BINARY, UNARY
from roofwidget.workloads.ops.formulas import COMPARE, SQRT

_ENVIRONMENT: Final = CONVENTIONS["textbook"].environment


def _by_class(terms: Mapping[str, Count]) -> Mapping[str, int]:
    return MappingProxyType({name: evaluate(count, _ENVIRONMENT) for name, count in terms.items()})


def _summed(function: str) -> Mapping[str, int]:
    terms: dict[str, Count] = {}
    for _, name, count in UNARY[function]:
        terms[name] = terms.get(name, 0) + count
    return _by_class(terms)


_FUNCTION: Final = _summed("exp")
_PLAIN: Final = _by_class({"vector": 1})
_COMPARE: Final = _by_class({"vector": COMPARE})
_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})

FLOPS_PER_ELEMENT: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        **{name: _summed(name) for name in UNARY},
        **{name: _by_class({"vector": count}) for name, count in BINARY.items()},
        # One function each, as exp is, whatever a library makes of them.
        **dict.fromkeys(
            (
                *("exp2", "expm1", "log2", "log10", "log1p", "power", "cbrt", "erfc", "erfinv", "lgamma", "digamma"),
                *("sinh", "cosh", "tan", "asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh"),
            ),
            _FUNCTION,
        ),
        "hypot": _by_class({"vector": 3 + SQRT}),
        **dict.fromkeys(("floor", "ceil", "round", "trunc", "sign", "remainder", "clip"), _PLAIN),
        **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _COMPARE),
        # Bits and choices: no arithmetic on floating-point numbers.
        **dict.fromkeys(("and", "or", "xor", "not", "shift", "select", "copy", "convert", "is_finite"), _NOTHING),
    }
)
"""FLOPs by class for one element of the result. Functions of one variable and of two are those of
`roofwidget.workloads.ops.elementwise`, by the convention ``textbook``; a function that is missing is unknown.

Examples
--------
>>> dict(FLOPS_PER_ELEMENT["gelu_tanh"]), dict(FLOPS_PER_ELEMENT["add"])
({'vector': 7, 'transcendental': 1}, {'vector': 1})
"""


def reduction_flops(inputs: int, results: int) -> dict[str, int]:
    """Return the FLOPs of a sum, product, minimum or maximum over `inputs` elements into `results` elements.

    Examples
    --------
    >>> reduction_flops(1024, 1)
    {'vector': 1023}
    """
    return {"vector": max(inputs - results, 0)}
