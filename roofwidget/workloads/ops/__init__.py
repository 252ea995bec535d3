"""The operators, by family; importing this registers them."""

from __future__ import annotations

from roofwidget.workloads.ops import (
    attention,
    convolution,
    elementwise,
    hpc,
    linear,
    mixture,
    normalisation,
    optimizers,
    recurrent,
    stencils,
)

__all__ = [
    "attention",
    "convolution",
    "elementwise",
    "hpc",
    "linear",
    "mixture",
    "normalisation",
    "optimizers",
    "recurrent",
    "stencils",
]
