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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.ceilings.measured import MATRIX, VECTOR

Weights: TypeAlias = Mapping[str, float]

# Bytes per L1 line and per L2 read.
ARCHITECTURES: Final = {"gfx908": 64, "gfx90a": 64, "gfx940": 128, "gfx941": 128, "gfx942": 128, "gfx950": 128}
"""The architectures whose counters are known: AMD Instinct MI100 to MI355X."""

# Vector instructions by their names in counters, with the FLOPs of a lane.
_VALU: Final = {"ADD": 1, "MUL": 1, "FMA": 2, "TRANS": 1}
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
# The types that the matrix units multiply: gfx908 has no fp64, and fp8 began with gfx940.
_MATRIX_TYPES: Final = {
    "gfx908": ("fp16", "bf16", "fp32"),
    **dict.fromkeys(("", "gfx90a"), ("fp16", "bf16", "fp32", "fp64")),
    **dict.fromkeys(("gfx940", "gfx941", "gfx942", "gfx950"), ("fp16", "bf16", "fp32", "fp64", "fp8")),
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

    def lacking(self, names: Iterable[str]) -> list[str]:
        """Return the names of which the profile has no counter."""
        return [name for name in names if name not in self]

    def weighted(self, weights: Weights) -> Part | None:
        """Return the sum of counters times their weights, NaN where it is negative; None if a counter is missing."""
        if self.lacking(weights):
            return None
        total = np.zeros(())
        for name, weight in weights.items():
            total = total + weight * self.get(name)
        rule = " ".join(f"{'-' if weight < 0 else '+'} {abs(weight):g} x {name}" for name, weight in weights.items())
        return Part(np.where(total < 0, np.nan, total), rule.removeprefix("+ "))


@dataclass(frozen=True)
class Uncounted:
    """The operations that a profile did not count.

    Parameters
    ----------
    vector
        For each precision, the kinds of vector instructions without a counter, such as ``"TRANS"``.
    matrix
        The types without a counter of matrix instructions, of those that the architecture multiplies.
    """

    vector: Mapping[str, Sequence[str]]
    matrix: Sequence[str]

    @property
    def zero_is_known(self) -> bool:
        """Whether a kernel whose counters are all 0 has no FLOPs: some precision was counted in full."""
        return not all(self.vector.values())


def flops_by_unit(counters: Counters, gfx: str) -> tuple[list[Part], Uncounted]:
    """Return FLOPs by precision and unit, and what was not counted. Kinds of instructions without a counter add 0."""
    parts: list[Part] = []
    vector: dict[str, list[str]] = {}
    for precision, width in _VALU_WIDTHS.items():
        names = {kind: vector_counter(kind, precision) for kind in _VALU}
        vector[precision] = [kind for kind, name in names.items() if name not in counters]
        counted = {kind: each for kind, each in _VALU.items() if kind not in vector[precision]}
        part = counters.weighted({names[kind]: _LANES * each for kind, each in counted.items()}) if counted else None
        if part is not None:
            terms = " + ".join(f"{each} {kind}" if each > 1 else kind for kind, each in counted.items())
            rule = f"64 lanes x ({terms}) of SQ_INSTS_VALU_*_{width}, masked lanes too"
            parts.append(Part(part.values, rule, precision, VECTOR))
    found = {precision: counters.weighted({matrix_counter(precision): _MFMA}) for precision in _MFMA_TYPES}
    parts += [Part(part.values, part.origin, key, MATRIX) for key, part in found.items() if part is not None]
    return parts, Uncounted(vector, [key for key in _MATRIX_TYPES.get(gfx, ()) if found[key] is None])


def vector_counter(kind: str, precision: str) -> str:
    """Return the counter of a kind of vector instructions.

    Examples
    --------
    >>> vector_counter("TRANS", "fp64"), matrix_counter("bf16")
    ('SQ_INSTS_VALU_TRANS_F64', 'SQ_INSTS_VALU_MFMA_MOPS_BF16')
    """
    return f"SQ_INSTS_VALU_{kind}_{_VALU_WIDTHS[precision]}"


def matrix_counter(precision: str) -> str:
    """Return the counter of the matrix operations of a type."""
    return f"SQ_INSTS_VALU_MFMA_MOPS_{_MFMA_TYPES[precision]}"


def integer_operations(counters: Counters) -> tuple[list[Part], list[str]]:
    """Return operations of integers outside the matrix units, by precision, and the counters that are missing.

    Each instruction counts one operation a lane.
    """
    names = {precision: f"SQ_INSTS_VALU_{kind}" for precision, kind in _INTEGERS.items()}
    found = {precision: counters.weighted({name: _LANES}) for precision, name in names.items()}
    parts = [Part(part.values, part.origin, precision, VECTOR) for precision, part in found.items() if part is not None]
    return parts, counters.lacking(names.values())


def bytes_by_level(counters: Counters, gfx: str, lds_banks: int) -> tuple[dict[str, Part], dict[str, list[str]]]:
    """Return bytes at HBM, L2, L1 and LDS. A level is missing if its counters or the architecture are unknown.

    The second result has the levels of which only some counters were profiled, with the counters that are missing:
    requests of one kind alone do not tell how many bytes move.

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
    forms: dict[str, list[tuple[Weights, str]]] = {"HBM": _hbm(counters, gfx)}
    line = ARCHITECTURES.get(gfx)
    if line is not None:
        rest = ("TCP_TCC_WRITE_REQ_sum", *_ATOMICS)
        forms["L2"] = [({"TCP_TCC_READ_REQ_sum": line} | dict.fromkeys(rest, 64), "")]
        forms["L1"] = [({"TCP_TOTAL_CACHE_ACCESSES_sum": line}, "")]
        bank = _LDS_WORD * lds_banks
        forms["LDS"] = [({"SQ_LDS_IDX_ACTIVE": bank, "SQ_LDS_BANK_CONFLICT": -bank}, "")]
    found: dict[str, Part] = {}
    missing: dict[str, list[str]] = {}
    for level, candidates in forms.items():
        parts = ((counters.weighted(weights), note) for weights, note in candidates)
        whole = next(((part, note) for part, note in parts if part is not None), None)
        if whole is not None:
            part, note = whole
            found[level] = Part(part.values, part.origin + note)
            continue
        lacking = [(counters.lacking(weights), len(weights)) for weights, _ in candidates]
        partial = [names for names, count in lacking if len(names) < count]
        if partial:
            missing[level] = min(partial, key=len)
    return found, missing


def _hbm(counters: Counters, gfx: str) -> list[tuple[Weights, str]]:
    """Return the sums that give the bytes of HBM, the best first, each with a note for its rule."""
    if gfx and gfx not in ARCHITECTURES:
        return []
    unit = "TCC_EA0" if "TCC_EA0_RDREQ_sum" in counters else "TCC_EA"
    writes = {f"{unit}_WRREQ_sum": 32.0, f"{unit}_WRREQ_64B_sum": 32.0}
    reads = {f"{unit}_RDREQ_sum": 64.0, f"{unit}_RDREQ_32B_sum": -32.0}
    sizes = {f"{unit}_RDREQ_{size}B_sum": float(size) for size in (128, 64, 32)}
    if gfx in ("gfx950", "") and all(name in counters for name in sizes):
        reads = sizes
    elif unit == "TCC_EA0":
        reads["TCC_BUBBLE_sum"] = 64.0
    low = gfx == "gfx950" and "TCC_BUBBLE_sum" in reads
    pairs = (("FETCH_SIZE", "WRITE_SIZE"), ("FetchSize", "WriteSize"))
    return [
        ({**reads, **writes}, " (a lower bound: no count of 128-byte reads)" if low else ""),
        *((dict.fromkeys(pair, _KIB), "") for pair in pairs),
    ]
