"""The names of precisions: one spelling inside the package, and the names that other programs use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "fp64": ("double", "float64", "f64"),
    "fp32": ("single", "float", "float32", "f32"),
    "tf32": ("tfloat32", "tensorfloat32"),
    "bf16": ("bfloat16",),
    "fp16": ("half", "float16", "f16"),
    "fp8": (
        *("float8", "f8", "e4m3", "e5m2"),
        *(f"{word}{form}" for word in ("float8_", "f8") for form in ("e4m3", "e4m3fn", "e4m3fnuz")),
        *(f"{word}{form}" for word in ("float8_", "f8") for form in ("e5m2", "e5m2fnuz")),
    ),
    "fp6": ("float6", "float6_e2m3fn", "float6_e3m2fn"),
    "fp4": ("float4", "float4_e2m1fn", "float4_e2m1fn_x2", "f4e2m1fn"),
    "int64": ("s64",),
    "int32": ("s32",),
    "int16": ("s16",),
    "int8": ("s8",),
    "int4": ("s4",),
}
PRECISION_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {alias: name for name, aliases in _NAMES.items() for alias in aliases}
)
"""The package's name of a precision, by the names that PyTorch, JAX, XLA and C use, in lower case."""


def precision_key(word: str) -> str:
    """Return the package's name of a precision. An unknown name is returned in lower case.

    The text after an underscore names a part of the chip and stays: ``half_vector`` becomes ``fp16_vector``.

    Examples
    --------
    >>> precision_key("BFloat16"), precision_key("torch.float32"), precision_key("half_vector"), precision_key("FP8")
    ('bf16', 'fp32', 'fp16_vector', 'fp8')
    """
    lower = word.casefold().strip().removeprefix("torch.")
    if lower in PRECISION_ALIASES:
        return PRECISION_ALIASES[lower]
    head, underscore, unit = lower.partition("_")
    return PRECISION_ALIASES.get(head, head) + underscore + unit


_INTEGER: Final = re.compile(r"u?int\d")


def is_integer(precision: str) -> bool:
    """Return whether a precision is one of integers, also with a part of the chip: ``int8``, ``int32_vector``.

    Examples
    --------
    >>> is_integer("int8"), is_integer("S4"), is_integer("bf16"), is_integer("")
    (True, True, False, False)
    """
    return _INTEGER.match(precision_key(precision)) is not None


def operation(precision: str) -> str:
    """Return the unit of operations of a precision: ``FLOP``, or ``OP`` for integers.

    Examples
    --------
    >>> operation("fp8"), operation("int8")
    ('FLOP', 'OP')
    """
    return "OP" if is_integer(precision) else "FLOP"
