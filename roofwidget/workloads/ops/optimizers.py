"""Optimizer steps over all parameters: streaming kernels, far below any ridge point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import COMPARE, DIVIDE, SQRT, Term, add, fail, like, named, scaled, work
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor, checked_dtype

STEPS: Final[Mapping[str, tuple[Term, ...]]] = {
    "adam": (
        ("first moment", "vector", 3),
        ("second moment", "vector", 4),
        ("root, scale, epsilon", "vector", SQRT + 2),
        ("step", "vector", DIVIDE + 2),
    ),
    # Duchi, Hazan and Singer (2011), with the decay of the rate in the step size.
    "adagrad": (
        ("sum of squares", "vector", 2),
        ("root, epsilon", "vector", SQRT + 1),
        ("step", "vector", DIVIDE + 2),
    ),
    "sgd": (("step", "vector", 2),),
}
"""FLOPs per parameter of a step of an optimizer without its options, as terms."""

OPTIONS: Final[Mapping[str, Term]] = {
    "momentum": ("momentum", "vector", 2),
    "dampening": ("dampening", "vector", 1),
    "nesterov": ("Nesterov", "vector", 2),
    "decay": ("weight decay", "vector", 2),
    "largest": ("largest second moment", "vector", COMPARE),
    "maximize": ("negate the gradient", "vector", 1),
    "scale": ("scale the gradient", "vector", DIVIDE),
}
"""FLOPs per parameter that an option of an optimizer adds."""


@operator
def adam_step(
    graph: Graph,
    parameter: Tensor,
    gradient: Tensor,
    *,
    decay: bool = False,
    copy_dtype: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Take a step of Adam (Kingma and Ba 2015): 13·P FLOPs, 15·P with decoupled weight decay (AdamW).

    FLOPs per parameter: first moment 3, second moment 4, root and scale of the second moment 3, the step 3. The bias
    corrections are part of the step size. Parameter, gradient and both moments (in the parameter's dtype) are read;
    parameter and moments are written: 28·P bytes in fp32. With `copy_dtype`, such as ``"bf16"`` for fp32 parameters, a
    copy for the next forward pass is also written.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> p = g.adam_step(*(g.input(name, (7_000_000_000,), "fp32") for name in ("p", "g")))
    >>> g.count("bytes"), round(g.count("flops") / g.count("bytes"), 2)
    (196000000000, 0.46)
    """
    op = named(graph, name, "adam_step")
    n = _paired(op, parameter, gradient).size
    copied = None if copy_dtype is None else checked_dtype(copy_dtype, f"op '{op}'")
    moments = [graph.input(f"{op}.{word}", parameter.shape, parameter.dtype) for word in ("m", "v")]
    written = [like(parameter, name) for name in (op, f"{op}.new_m", f"{op}.new_v")]
    if copied:
        written.append(Tensor(f"{op}.copy", parameter.shape, copied))
    terms = (*STEPS["adam"], *([OPTIONS["decay"]] if decay else []))
    add(graph, "elementwise", [parameter, gradient, *moments], written, work(*scaled(terms, n)))
    return written[0]


@operator
def sgd_step(
    graph: Graph, parameter: Tensor, gradient: Tensor, *, momentum: bool = True, name: str | None = None
) -> Tensor:
    """Take a step of gradient descent: 4·P FLOPs and 20·P bytes in fp32 with momentum, 2·P and 12·P without."""
    op = named(graph, name, "sgd_step")
    n = _paired(op, parameter, gradient).size
    inputs, written = [parameter, gradient], [like(parameter, op)]
    if momentum:
        inputs.append(graph.input(f"{op}.momentum", parameter.shape, parameter.dtype))
        written.append(like(parameter, f"{op}.new_momentum"))
    terms = (*([OPTIONS["momentum"]] if momentum else []), *STEPS["sgd"])
    add(graph, "elementwise", inputs, written, work(*scaled(terms, n)))
    return written[0]


def _paired(op: str, parameter: Tensor, gradient: Tensor) -> Tensor:
    if parameter.shape != gradient.shape:
        raise fail(op, f"parameter and gradient must have one shape, got {parameter} and {gradient}")
    return parameter
