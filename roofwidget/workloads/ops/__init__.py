"""The operators, by family. Importing this package registers them."""

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
