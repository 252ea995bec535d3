"""The instruction of a tensor kernel, as far as the kernel's name tells: its shape and what it multiplies.

One instruction of the tensor pipe is one matrix product of the shape M x N x K, 2MNK FLOPs: 512 for 8x8x4 (``s884``),
2048 for 16x8x8 (``s1688``), 4096 for 16x8x16 (``s16816``). No single factor fits all kernels of a chip.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Shape", "is_tensor_name", "shape_of"]

_INT: Final = r"(?:\(int\))?"
_PATTERNS: Final = (
    # cuBLAS, cuDNN, CUTLASS: s16816gemm, h884, i16832; the letter is what accumulates.
    re.compile(r"(?<![A-Za-z0-9])(?P<kind>[shdi])(16|8)(8)(4|8|16|32|64)(?![0-9])"),
    # CUTLASS's templates, spelt out.
    re.compile(rf"\bMma<(?:\w+::)*GemmShape<{_INT}(\d{{1,3}}), ?{_INT}(\d{{1,3}}), ?{_INT}(\d{{1,3}})>"),
    re.compile(r"(?<![A-Za-z0-9])(?:tensor|SM[78]\d_)(\d{1,3})x(\d{1,3})x(\d{1,3})(?!\d)"),
    re.compile(r"(?<![A-Za-z0-9])m(\d{1,3})n(\d{1,3})k(\d{1,3})(?!\d)"),
)
_SHAPES: Final = frozenset({(8, 8, 4), (8, 8, 16), (8, 8, 32), *((16, 8, k) for k in (4, 8, 16, 32, 64))})
_KINDS: Final = {"d": "fp64", "h": "fp16"}
_TYPES: Final = (
    ("bf16", re.compile(r"bf16|bfloat16", re.IGNORECASE)),
    ("tf32", re.compile(r"tf32|tfloat32", re.IGNORECASE)),
    ("fp16", re.compile(r"fp16|(?<!b)f16|half", re.IGNORECASE)),
    ("fp64", re.compile(r"fp64|f64|double", re.IGNORECASE)),
    ("int8", re.compile(r"int8|\b[su]8\b|_[su]8", re.IGNORECASE)),
)
_OPERANDS: Final = 160
# A word of its own, for "gemma" and "lgamma" end alike; CUTLASS calls the scalar product Mma too, of the shape 1x1x1.
_MMA: Final = rf"(?<![a-z])(?:wg|[bdghiqw])?mma(?![a-z])(?!<(?:\w+::)*GemmShape<{_INT}1,)|(?:Collective|Tiled|TmaG)mma"
_SURE: Final = re.compile(
    rf"tensorop|nvjet|{_MMA}|xmma|tcgen05|fmha|flash_|SM(?:8|9|10|12)\d_\d+x\d+x\d+", re.IGNORECASE
)
# The name of a library's family of kernels, and then the scalar instruction that this one uses.
_SCALAR: Final = re.compile(r"_[fd]fma(?![a-z])|simt", re.IGNORECASE)


@dataclass(frozen=True)
class Shape:
    """One instruction of the tensor pipe.

    Parameters
    ----------
    text
        As it is written: ``16816``.
    flops
        FLOPs (or integer operations) of one instruction.
    precision
        What it multiplies, or ``""`` where the name does not tell.
    """

    text: str
    flops: int
    precision: str


@functools.lru_cache(maxsize=4096)
def shape_of(name: str) -> Shape | None:
    """Return the instruction that a kernel's name tells, or None.

    Examples
    --------
    >>> shape_of("ampere_s16816gemm_fp16_256x128_ldg8_stages_64x3_nn")
    Shape(text='16816', flops=4096, precision='fp16')
    >>> shape_of("volta_h884gemm_128x64_nt").flops, shape_of("volta_sgemm_32x128_nn")
    (512, None)
    """
    for pattern in _PATTERNS:
        for found in pattern.finditer(name):
            *_, m, n, k = found.groups()
            sides = (int(m), int(n), int(k))
            if sides in _SHAPES:
                kind = found.groupdict().get("kind")
                return Shape(
                    "".join(map(str, sides)), 2 * sides[0] * sides[1] * sides[2], _type(name, found.end(), kind)
                )
    return None


def is_tensor_name(name: str) -> bool:
    """Whether a kernel's name says that it uses tensor cores, if not how.

    Examples
    --------
    >>> is_tensor_name("nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT"), is_tensor_name("ampere_sgemm_128x64_nn")
    (True, False)
    """
    return shape_of(name) is not None or (_SURE.search(name) is not None and _SCALAR.search(name) is None)


def _type(name: str, end: int, kind: str | None) -> str:
    """Return what is multiplied: the operands right after a shape tell it before the rest of the name does."""
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "i":
        return "int4" if name[:end].endswith("64") else "int8"
    for text in (name[end : end + _OPERANDS], name):
        for precision, pattern in _TYPES:
            if pattern.search(text):
                return precision
    return ""
