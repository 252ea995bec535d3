"""FLOPs of tensor cores: counted by arithmetic path where the chip counts those, else instructions by their shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats, sum_of_known
from roofwidget.readers.ncu.evidence import Told, amount, nothing
from roofwidget.readers.ncu.launches import Launches
from roofwidget.readers.ncu.paths import Mask, by_path
from roofwidget.readers.ncu.shapes import Shape, is_tensor_name, shape_of

__all__ = ["Tensor", "tensor_flops"]

_VOLTA: Final = 7.0
_GA100: Final = 8.0
_HOPPER: Final = 9.0
_WARP: Final = 32
_VOLTA_SHAPE: Final = Shape("884", 512, "fp16")
_PIPE: Final = re.compile(r"(?P<base>(?:sm|smsp)__inst_executed_pipe_tensor_op_[a-z]+)\.sum(?:\..*)?")
_SHARE: Final = re.compile(r"(?:sm__pipe_tensor\w*cycles_active|(?:sm|smsp)__inst_executed_pipe_tensor\w*)\.avg\.pct.*")


@dataclass(frozen=True, eq=False)
class Tensor:
    """What is known of the tensor cores' work; every mask has shape (n,).

    Parameters
    ----------
    flops
        FLOPs by precision, NaN where there are none of it; ``""`` holds those whose precision is not known.
    is_unknown
        Where there is, or may well be, work that nothing counted.
    is_counted
        Where some counter of the tensor cores was read.
    all_zero
        Where all of them read 0 on a chip on which that proves nothing.
    moves
        Where the tensor pipe moved registers for a kernel of other arithmetic.
    may_move
        Where hfma may be such moves, for nothing tells of the pipe and no other half-precision arithmetic was counted.
    no_shape
        Where instructions were counted, but the name does not tell their shape.
    sparse
        Where some work was counted with structured sparsity.
    """

    flops: Mapping[str, Told]
    is_unknown: Mask
    is_counted: Mask
    all_zero: Mask
    moves: Mask
    may_move: Mask
    no_shape: Mask
    sparse: Mask


def tensor_flops(launches: Launches, hfma: Floats, other_halves: Floats) -> Tensor:
    """Return the tensor cores' FLOPs of each launch.

    Parameters
    ----------
    launches
        The launches.
    hfma
        Threads' half-precision fused multiply-adds, shape (n,); NaN where not counted.
    other_halves
        Their half-precision additions and products, alike.
    """
    capability = launches.capability
    # From Hopper on, one instruction of the pipe may be of many shapes, and some counters miss the new instructions.
    is_new = capability >= _HOPPER
    paths = by_path(launches)
    instructions = _instructions(launches)
    # GA100 runs HFMA2.MMA, a register move, on the tensor pipe: 32 threads' hfma for each of its instructions.
    moved = np.isclose(hfma, _WARP * instructions.values, rtol=1e-6, atol=0)
    is_ga100 = capability == _GA100
    moves = is_ga100 & (instructions.values > 0) & moved
    may_move = is_ga100 & np.isnan(instructions.values) & (hfma > 0) & ~(other_halves > 0)
    executed = np.where(moves, 0, instructions.values)
    is_told = paths.total > 0
    estimated, no_shape = _by_shape(launches, Told(executed, instructions.rules), (executed > 0) & ~is_told & ~is_new)

    says = {name: is_tensor_name(name) for name in set(launches.names)}
    named = np.array([says[name] for name in launches.names], dtype=np.bool_)
    is_counted = ~np.isnan(paths.total) | ~np.isnan(executed)
    all_zero = is_new & is_counted & ~is_told & ~(executed > 0)
    busy = is_new & ~is_told & ((executed > 0) | (_share(launches) > 0))
    is_unknown = no_shape | busy | (all_zero & named) | (~is_counted & named)
    flops = {**estimated, **paths.flops}
    for key in estimated.keys() & paths.flops.keys():
        flops[key] = paths.flops[key].or_else(estimated[key])
    return Tensor(flops, is_unknown, is_counted, all_zero, moves, may_move, no_shape, paths.sparse)


def _instructions(launches: Launches) -> Told:
    """Return the instructions that the tensor pipe executed for matrix products."""
    n = len(launches)
    told = amount(launches, ["sm__inst_executed_pipe_tensor", "smsp__inst_executed_pipe_tensor"])
    bases = dict.fromkeys(found["base"] for found in map(_PIPE.fullmatch, launches.metrics) if found)
    parts = [amount(launches, [base]) for base in bases]
    if parts:
        text = " + ".join(f"{base}.sum" for base in bases)
        summed = Told(sum_of_known([part.values for part in parts], n), np.full(n, text, dtype=object))
        told = told.or_else(summed)
    told = told.or_else(
        Told(np.where(_share(launches) == 0, 0.0, np.nan), np.full(n, "pipe never active", dtype=object))
    )
    moves = amount(launches, [f"{unit}__inst_executed_pipe_tensor_op_hmma_type_hfma2" for unit in ("sm", "smsp")])
    return Told(np.maximum(told.values - np.nan_to_num(moves.values), 0), told.rules)


def _share(launches: Launches) -> Floats:
    """Return the largest share of time that a tensor pipe was active, %; NaN where not read."""
    shares = [column for name, column in launches.metrics.items() if _SHARE.fullmatch(name)]
    return np.fmax.reduce(shares) if shares else np.full(len(launches), np.nan)


def _by_shape(launches: Launches, instructions: Told, wanted: Mask) -> tuple[dict[str, Told], Mask]:
    """Return instructions times the FLOPs of their shape by precision, and where the name tells no shape."""
    n = len(launches)
    flops: dict[str, Told] = {}
    no_shape = np.zeros(n, dtype=np.bool_)
    is_volta = launches.capability == _VOLTA
    for row in np.flatnonzero(wanted).tolist():
        shape = shape_of(launches.names[row])
        where = "in the kernel's name"
        if shape is None and is_volta[row]:
            shape, where = _VOLTA_SHAPE, "the only one of this chip"
        if shape is None:
            no_shape[row] = True
            continue
        told = flops.setdefault(shape.precision, nothing(n))
        told.values[row] = instructions.values[row] * shape.flops
        told.rules[row] = f"{instructions.rules[row]} x {shape.flops} ({shape.text} shape {where})"
    return flops, no_shape
