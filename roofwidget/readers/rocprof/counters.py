"""FLOPs and bytes from AMD's counters, as weighted sums.

The weights come from AMD's rocprofiler-compute (its documentation of the roofline and of the memory counters), with
these exceptions, which were checked against a copy of known size or against AMD's own correction:

- L2 on gfx94x: 128 bytes per read and 64 per write. Versions of rocprofiler-compute before 3.7 take 64 bytes for reads
  and writes.
- HBM reads on gfx950: the requests of 128, 64 and 32 bytes, counted separately. The rule of gfx94x, with
  ``TCC_BUBBLE``, gives about a quarter less on gfx950.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.ceilings.measured import MATRIX, VECTOR

Weights: TypeAlias = Mapping[str, float]

# Bytes per L1 line and per L2 read.
ARCHITECTURES: Final = {"gfx908": 64, "gfx90a": 64, "gfx940": 128, "gfx941": 128, "gfx942": 128, "gfx950": 128}
"""The architectures whose counters are known: AMD Instinct MI100 to MI355X."""

_VALU: Final = ("ADD", "MUL", "FMA", "TRANS")
_VALU_WIDTHS: Final = {"fp16": "F16", "fp32": "F32", "fp64": "F64"}
_MFMA_TYPES: Final = {
    "fp6_fp4": "F6F4",
    "fp8": "F8",
    "fp16": "F16",
    "bf16": "BF16",
    "tf32": "XF32",
    "fp32": "F32",
    "fp64": "F64",
    "int8": "I8",
}
# A wave counts 64 lanes, even if some are masked; a counted MFMA operation is 512 FLOPs.
_LANES: Final = 64
_MFMA: Final = 512
_INTEGERS: Final = {"int32": "INT32", "int64": "INT64"}
_LDS_WORD: Final = 4
_ATOMICS: Final = ("TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum")
_KIB: Final = 1024.0


@dataclass(frozen=True)
class Part:
    """An amount per row, shape (n,), with its rule. FLOPs also have a precision and units (vector or matrix)."""

    values: Floats
    origin: str
    precision: str = ""
    unit: str = ""


class Counters:
    """Counters by name, shape (n,) each; ``X_sum`` may be the sum of channels ``X[0]``, ``X[1]`` and so on.

    Parameters
    ----------
    names
        The names of the counters.
    column
        Returns the numbers of a counter.
    """

    def __init__(self, names: list[str], column: Callable[[str], Floats]) -> None:
        self._names = frozenset(names)
        self._channels: dict[str, list[str]] = {}
        for name in names:
            match = re.fullmatch(r"(\w+)\[\d+\]", name)
            if match and f"{match[1]}_sum" not in self._names:
                self._channels.setdefault(f"{match[1]}_sum", []).append(name)
        self._column = column

    def __contains__(self, name: str) -> bool:
        return name in self._names or name in self._channels

    def get(self, name: str) -> Floats:
        """Return the numbers of a counter. The counter must exist."""
        if name in self._names:
            return self._column(name)
        total: Floats = np.sum([self._column(channel) for channel in self._channels[name]], axis=0)
        return total

    def weighted(self, weights: Weights) -> Part | None:
        """Return the sum of counters times their weights, NaN where it is negative; None if a counter is missing."""
        if any(name not in self for name in weights):
            return None
        total = np.zeros(())
        for name, weight in weights.items():
            total = total + weight * self.get(name)
        rule = " ".join(f"{'-' if weight < 0 else '+'} {abs(weight):g} x {name}" for name, weight in weights.items())
        return Part(np.where(total < 0, np.nan, total), rule.removeprefix("+ "))


def flops_by_unit(counters: Counters) -> tuple[list[Part], list[str]]:
    """Return FLOPs by precision and unit, and the precisions that lack a counter of vector instructions."""
    parts: list[Part] = []
    missing: list[str] = []
    for precision, width in _VALU_WIDTHS.items():
        names = [f"SQ_INSTS_VALU_{kind}_{width}" for kind in _VALU]
        part = counters.weighted({name: _LANES * (2 if "_FMA_" in name else 1) for name in names})
        if part is None:
            missing.append(precision)
        else:
            rule = f"64 lanes x (ADD + MUL + 2 FMA + TRANS) of SQ_INSTS_VALU_*_{width}, masked lanes too"
            parts.append(Part(part.values, rule, precision, VECTOR))
    for precision, kind in _MFMA_TYPES.items():
        part = counters.weighted({f"SQ_INSTS_VALU_MFMA_MOPS_{kind}": _MFMA})
        if part is not None:
            parts.append(Part(part.values, part.origin, precision, MATRIX))
    return parts, missing


def integer_operations(counters: Counters) -> list[Part]:
    """Return operations of integers outside the matrix units, by precision: each instruction counts one a lane."""
    found = {precision: counters.weighted({f"SQ_INSTS_VALU_{kind}": _LANES}) for precision, kind in _INTEGERS.items()}
    return [Part(part.values, part.origin, precision, VECTOR) for precision, part in found.items() if part is not None]


def bytes_by_level(counters: Counters, gfx: str, lds_banks: int) -> dict[str, Part]:
    """Return bytes at HBM, L2, L1 and LDS. A level is missing if its counters or the architecture are unknown.

    Parameters
    ----------
    counters
        The counters of n rows.
    gfx
        The architecture, such as ``gfx942``. ``""`` if unknown. Then only HBM has bytes, because the names of HBM's
        counters are enough to count its bytes.
    lds_banks
        LDS banks of a compute unit, 4 bytes each.
    """
    found = {"HBM": _hbm(counters, gfx)}
    line = ARCHITECTURES.get(gfx)
    if line is not None:
        rest = ("TCP_TCC_WRITE_REQ_sum", *_ATOMICS)
        found["L2"] = counters.weighted({"TCP_TCC_READ_REQ_sum": line} | dict.fromkeys(rest, 64))
        found["L1"] = counters.weighted({"TCP_TOTAL_CACHE_ACCESSES_sum": line})
        bank = _LDS_WORD * lds_banks
        found["LDS"] = counters.weighted({"SQ_LDS_IDX_ACTIVE": bank, "SQ_LDS_BANK_CONFLICT": -bank})
    return {level: part for level, part in found.items() if part is not None}


def _hbm(counters: Counters, gfx: str) -> Part | None:
    if gfx and gfx not in ARCHITECTURES:
        return None
    unit = "TCC_EA0" if "TCC_EA0_RDREQ_sum" in counters else "TCC_EA"
    writes = {f"{unit}_WRREQ_sum": 32.0, f"{unit}_WRREQ_64B_sum": 32.0}
    reads = {f"{unit}_RDREQ_sum": 64.0, f"{unit}_RDREQ_32B_sum": -32.0}
    sizes = {f"{unit}_RDREQ_{size}B_sum": float(size) for size in (128, 64, 32)}
    if gfx in ("gfx950", "") and all(name in counters for name in sizes):
        reads = sizes
    elif unit == "TCC_EA0":
        reads["TCC_BUBBLE_sum"] = 64.0
    exact = counters.weighted({**reads, **writes})
    if exact is not None:
        low = gfx == "gfx950" and "TCC_BUBBLE_sum" in reads
        return Part(exact.values, exact.origin + (" (a lower bound: no count of 128-byte reads)" if low else ""))
    for pair in (("FETCH_SIZE", "WRITE_SIZE"), ("FetchSize", "WriteSize")):
        derived = counters.weighted(dict.fromkeys(pair, _KIB))
        if derived is not None:
            return derived
    return None
