"""The dtypes of PyTorch: by their numbers, by their names in metadata and in C++, and by ours."""

from __future__ import annotations

from typing import Final, NamedTuple


class Dtype(NamedTuple):
    """A dtype.

    Parameters
    ----------
    number, name
        The number and the name of the ``ScalarType`` in c10/core/ScalarType.h.
    in_traces
        How a trace writes the dtype of an argument.
    ours
        Our name.
    itemsize
        Bytes of an element. An element of ``Float4_e2m1fn_x2`` has two numbers.
    """

    number: int
    name: str
    in_traces: str
    ours: str
    itemsize: int


DTYPES: Final = (
    Dtype(0, "Byte", "unsigned char", "int8", 1),
    Dtype(1, "Char", "signed char", "int8", 1),
    Dtype(2, "Short", "short int", "int16", 2),
    Dtype(3, "Int", "int", "int32", 4),
    Dtype(4, "Long", "long int", "int64", 8),
    Dtype(5, "Half", "c10::Half", "fp16", 2),
    Dtype(6, "Float", "float", "fp32", 4),
    Dtype(7, "Double", "double", "fp64", 8),
    Dtype(9, "ComplexFloat", "c10::complex<float>", "complex64", 8),
    Dtype(10, "ComplexDouble", "c10::complex<double>", "complex128", 16),
    Dtype(11, "Bool", "bool", "bool", 1),
    Dtype(15, "BFloat16", "c10::BFloat16", "bf16", 2),
    Dtype(23, "Float8_e5m2", "c10::Float8_e5m2", "fp8", 1),
    Dtype(24, "Float8_e4m3fn", "c10::Float8_e4m3fn", "fp8", 1),
    Dtype(25, "Float8_e5m2fnuz", "c10::Float8_e5m2fnuz", "fp8", 1),
    Dtype(26, "Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", "fp8", 1),
    Dtype(44, "Float8_e8m0fnu", "c10::Float8_e8m0fnu", "fp8", 1),
    Dtype(45, "Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "fp4", 1),
)
BY_NUMBER: Final = {dtype.number: dtype for dtype in DTYPES}
BY_NAME: Final = {dtype.name: dtype for dtype in DTYPES}
