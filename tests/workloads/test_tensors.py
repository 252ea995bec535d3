"""Tensors: exact bytes, checked shapes and dtypes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads import DTYPES, Tensor, dim
from roofwidget.workloads.expressions import ceil_div, evaluate

BITS = {f"@{name}": bits for name, bits in DTYPES.items()}


@given(st.lists(st.integers(1, 10**6), max_size=4), st.sampled_from(sorted(DTYPES)))
def test_bytes_are_exact_and_rounded_up_once_a_tensor(shape: list[int], dtype: str) -> None:
    elements = 1
    for size in shape:
        elements *= size
    tensor = Tensor("x", shape, dtype)
    assert tensor.size == elements
    assert evaluate(tensor.bytes, BITS) == (elements * DTYPES[dtype] + 7) // 8


def test_every_dtype_has_its_bits() -> None:
    assert dict(DTYPES) == {
        "fp64": 64,
        "fp32": 32,
        "tf32": 32,
        "bf16": 16,
        "fp16": 16,
        "fp8": 8,
        "fp4": 4,
        "int64": 64,
        "int32": 32,
        "int16": 16,
        "int8": 8,
        "int4": 4,
        "bool": 8,
    }
    assert str(Tensor("x", (8,), "int4").bits) == "@int4"


def test_symbolic_sizes_give_expressions() -> None:
    batch = dim("batch", 1, 1024, default=32)
    tensor = Tensor("x", (batch, 3), "fp4")
    assert str(tensor.size) == "3·batch"
    assert [evaluate(tensor.bytes, {**BITS, "batch": n}) for n in (1, 2, 3)] == [2, 3, 5]
    assert str(tensor) == "x[batch, 3] fp4"


def test_an_empty_shape_is_one_number() -> None:
    assert Tensor("loss", (), "fp32").size == 1


def test_a_symbolic_size_that_is_below_1_by_default_is_refused() -> None:
    batch = dim("batch", 1, 8, default=2)
    with pytest.raises(ValueError, match="axis 0 of tensor 'x' must be at least 1, got batch - 2 = 0 with its dims"):
        Tensor("x", (batch - 2,), "fp32")
    with pytest.raises(ValueError, match="no value for"):
        Tensor("x", (ceil_div(batch, 2) * Tensor("y", (1,), "fp32").bits,), "fp32")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        *(
            ((("x", (4, size), "fp32")), ValueError, f"axis 1 of tensor 'x' must be at least 1, got {size}")
            for size in (0, -1)
        ),
        *(
            (("x", (size,), "fp32"), TypeError, r"axis 0 of tensor 'x' must be an int or an expression over rw\.dim")
            for size in (2.0, "4", None, True)
        ),
        *(
            (("x", shape, "fp32"), TypeError, "the shape of tensor 'x' must be a tuple of sizes")
            for shape in (4, "44", None)
        ),
        *(
            (("x", (4,), wrong), ValueError, f"tensor 'x': unknown dtype '{wrong}'; {hint}")
            for wrong, hint in (
                ("bf61", "did you mean 'bf16'"),
                ("fp6", "there are 'fp64', 'fp32', "),
                ("zzz", "there are 'fp64'"),
            )
        ),
        *(((name, (4,), "fp32"), TypeError, "a tensor's name must be text") for name in ("", None, 3)),
    ],
    ids=lambda part: str(part) if isinstance(part, tuple) else "",
)
def test_what_is_no_name_shape_size_or_dtype_is_refused_and_the_tensor_named(
    values: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Tensor(*values)


def test_an_unknown_keyword_is_named() -> None:
    with pytest.raises(TypeError, match="Tensor has no keyword 'dtyp'; did you mean 'dtype'"):
        Tensor("x", (4,), dtyp="fp32")  # type: ignore[call-arg]


def test_tensors_are_values() -> None:
    batch = dim("batch", 1, 8, default=2)
    one, other = Tensor("x", (batch, 4), "fp32"), Tensor("x", [batch, 4], "fp32")
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - it was written on the line itself
    assert one != Tensor("x", (batch, 4), "bf16")
