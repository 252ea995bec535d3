"""Operations over lists of tensors: a trace has no dtype for a list, but kernels and operations inside tell it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import read
from roofwidget.readers.torch.calls import Certainty, OpCall
from roofwidget.readers.torch.lists import dtypes_of_kernel
from roofwidget.readers.torch.work import work_of
from tests.places import FIXTURES

SIZES = [[128, 64], [64], [3, 5, 7]]
N = 128 * 64 + 64 + 3 * 5 * 7
ANONYMOUS = "at::native::(anonymous namespace)::"


def applied(functor: str, metadata: str = "TensorListMetadata<1>") -> str:
    """Return the name of a kernel over lists as profilers write it."""
    return (
        f"void {ANONYMOUS}multi_tensor_apply_kernel<{ANONYMOUS}{metadata}, {ANONYMOUS}{functor}>({ANONYMOUS}{metadata})"
    )


def op(name: str, number: int, dims: list[Any], types: list[str], *, at: float = 0, lasts: float = 9) -> dict[str, Any]:
    args = {"External id": number, "Input Dims": dims, "Input type": types, "Concrete Inputs": [""] * len(dims)}
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": lasts, "args": args}


def kernel(name: str, start: float, number: int) -> dict[str, Any]:
    args = {"External id": number, "device": 0, "stream": 7}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": 4, "args": args}


def table(*events: Any) -> rw.Kernels:
    return read(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode(), idle=False)


@pytest.mark.parametrize(
    ("element", "size"),
    [(f"{ANONYMOUS}OpaqueType<2u>, ", 2), ("at::native::OpaqueType<8>, ", 8), ("float, ", 4), ("c10::Half, ", 2)],
)
def test_the_kernel_of_joined_tensors_has_the_size_of_their_elements(element: str, size: int) -> None:
    name = f"void {ANONYMOUS}CatArrayBatchedCopy_contig<{element}unsigned int, 3, 128, 1>({element[:-2]}*)"
    joined = op("aten::cat", 1, [[[5, 11], [2, 11]], []], ["TensorList", "Scalar"])
    kernels = table(joined, kernel(name, 9, 1))
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([0], [2 * 77 * size])
    of_bytes = name.replace(f"<{element}unsigned int, 3, 128, 1>", "_vectorized<128, 1, 16, 8>")
    assert np.isnan(table(joined, kernel(of_bytes, 9, 1)).bytes).all()


MUL = ("aten::_foreach_mul_", 1, [SIZES, []], ["TensorList", "Scalar"])


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        (applied("BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float"), ("float",)),
        # Factors of a list are in the dtype of the arithmetic.
        (
            applied("PointwiseOpScalarListFunctor<c10::BFloat16, 3, 3, 0>", "TensorListScalarListMetadata<float, 3>"),
            ("c10::BFloat16",),
        ),
        (applied("FusedAdamMathFunctor<c10::Half, 4, (at::native::ADAM_MODE)1, false>"), ("c10::Half",)),
        (
            applied("FusedAdamMathFunctorMP<float, float, float, c10::BFloat16, c10::BFloat16, c10::BFloat16, 4, …>"),
            ("float", "float", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16"),
        ),
        (applied("CopyFunctor<c10::BFloat16, float, 2, 1, 1>"), ("c10::BFloat16", "float")),
        (applied("LpNormFunctor<c10::BFloat16, (at::native::NormType)1, float, 1, 1, 0>"), ("c10::BFloat16",)),
        ("void lpnorm_cleanup<float, (at::native::NormType)1, float>(float*)", ()),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, 3>(int)", ()),
        (applied("UnaryOpFunctor<c10::complex<float>, 1, 1, 0>"), ()),
    ],
)
def test_the_name_of_a_kernel_over_lists_has_their_dtypes(name: str, dtypes: tuple[str, ...]) -> None:
    assert dtypes_of_kernel(name) == dtypes


@pytest.mark.parametrize(("dtype", "precision", "item"), [("float", "fp32", 4), ("c10::BFloat16", "bf16", 2)])
def test_kernels_over_lists_tell_the_bytes_and_the_precision_of_their_operation(
    dtype: str, precision: str, item: int
) -> None:
    name = applied(f"BinaryOpScalarFunctor<{dtype}, 1, 1, 0>, std::multiplies<float>, float")
    kernels = table(op(*MUL), kernel(name, 20, 1), kernel(name, 30, 1))
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([N], [2 * N * item])
    assert kernels.precision.tolist() == [precision]


def test_calls_of_equal_sizes_and_other_dtypes_have_bytes_of_their_own() -> None:
    names = [applied(f"BinaryOpScalarFunctor<{dtype}, 1, 1, 0>") for dtype in ("float", "c10::Half")]
    calls = [op(MUL[0], number, *MUL[2:], at=10 * number) for number in (1, 2)]
    kernels = table(*calls, kernel(names[0], 50, 1), kernel(names[1], 60, 2))
    assert sorted(zip(kernels.precision.tolist(), kernels.bytes.tolist(), strict=True)) == [
        ("fp16", 4 * N),
        ("fp32", 8 * N),
    ]


def test_states_of_another_dtype_than_parameters_have_their_own_bytes() -> None:
    lists = [SIZES] * 4
    name = applied("FusedAdamMathFunctorMP<float, float, float, c10::BFloat16, c10::BFloat16, c10::BFloat16, 4, …>")
    types = ["TensorList"] * 6 + ["Scalar"] * 7 + ["", ""]
    dims = [*lists, [], [[]] * 3, *[[]] * 9]
    kernels = table(op("aten::_fused_adamw_", 1, dims, types), kernel(name, 20, 1))
    # Parameters twice and gradients once in four bytes; two moments twice in two.
    assert kernels.bytes.tolist() == [N * (3 * 4 + 4 * 2)]


def test_operations_inside_tell_the_dtype_where_pytorch_runs_one_per_tensor() -> None:
    inside = [
        op("aten::mul_", 2 + at, [sizes, []], ["double", "Scalar"], at=2 + 2 * at, lasts=1)
        for at, sizes in enumerate(SIZES)
    ]
    launches = [kernel("void at::native::vectorized_elementwise_kernel<4>", 20 + 5 * at, 2 + at) for at in range(3)]
    kernels = table(op(*MUL), *inside, *launches)
    assert kernels.names.tolist() == ["aten::_foreach_mul_"]
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([N], [2 * N * 8])


def inside(number: int, dims: list[Any], dtype: str, *, name: str = "aten::mul_") -> list[dict[str, Any]]:
    """Return an operation inside the one of number 1, and its kernel."""
    return [op(name, number, [dims], [dtype], at=number, lasts=0.5), kernel("k", 20 + 5 * number, number)]


def test_tensors_of_several_dtypes_leave_the_bytes_unknown() -> None:
    kernels = table(op(*MUL), *inside(2, SIZES[0], "float"), *inside(3, SIZES[1], "double"))
    assert (kernels.flops.tolist(), np.isnan(kernels.bytes).tolist()) == ([N], [True])


def test_the_names_of_kernels_count_before_the_operations_inside() -> None:
    name = applied("BinaryOpScalarFunctor<c10::Half, 1, 1, 0>")
    kernels = table(op(*MUL), *inside(2, SIZES[0], "float"), kernel(name, 50, 1))
    assert kernels.bytes.tolist() == [2 * N * 2]


def test_operations_inside_on_other_tensors_do_not_tell_the_dtype() -> None:
    kernels = table(op(*MUL), *inside(2, [2], "long int"), *inside(3, SIZES[0], "float"))
    assert kernels.bytes.tolist() == [2 * N * 4]
    # A fused step reads its number of steps, which has no axes, as this parameter.
    lists: list[Any] = [[[]]] * 4
    dims, types = [*lists, [], [[]], *[[]] * 9], ["TensorList"] * 6 + ["Scalar"] * 7 + ["", ""]
    step = table(op("aten::_fused_adamw_", 1, dims, types), *inside(2, [], "float", name="aten::item"))
    assert np.isnan(step.bytes).all()


def test_without_a_dtype_the_bytes_are_unknown_and_the_reason_says_what_would_give_them() -> None:
    kernels = table(op(*MUL), kernel("k", 20, 1))
    assert (kernels.flops.tolist(), np.isnan(kernels.bytes).tolist()) == ([N], [True])
    (why,) = kernels.origin["bytes:main"]
    assert why is not None
    assert why.startswith("unknown: built-in: _foreach_mul_ from inputs 0: the dtype of the tensors")
    assert "a rule with bytes gives them" in why


def test_without_sizes_the_reason_says_how_to_record_them() -> None:
    names = ("aten::_fused_adamw_", "aten::max_pool2d_with_indices", "aten::mm", "mine::op")
    events = [op(name, at, [], [], at=10 * at) for at, name in enumerate(names, 1)]
    for event in events:
        event["args"] = {"External id": event["args"]["External id"]}
    kernels = table(*events, *(kernel(f"k{at}", 100 + 5 * at, at) for at in range(1, 5)))
    assert kernels.extra["missing for FLOPs"].tolist() == [
        *["the sizes of its inputs: profile with record_shapes=True"] * 3,
        "a rule for this operation",
    ]


def test_without_recorded_options_the_flops_of_a_step_are_a_lower_bound_and_its_bytes_exact() -> None:
    lists: list[Any] = [SIZES] * 4
    work = work_of(
        OpCall("aten::_fused_adamw_", [*lists, [], [[]] * 3, *[[]] * 9], ["float"] * 4 + ["TensorList"] * 2 + [""] * 9)
    )
    assert work is not None
    assert (work.flops, work.flops_are, work.bytes, work.bytes_are) == (
        13 * N,
        Certainty.AT_LEAST,
        7 * 4 * N,
        Certainty.EXACT,
    )
    assert "weight decay and other options are not in the trace" in work.rule


def test_pooling_without_a_recorded_window_says_what_is_missing() -> None:
    work = work_of(OpCall("aten::avg_pool2d", [[2, 3, 8, 8], *[[]] * 6], ["float", *[""] * 6]))
    assert work is not None
    assert (work.flops, work.bytes) == (None, None)
    assert work.missing == (
        "the size of the windows: arguments that PyTorch 2.1 and newer record with record_shapes=True"
    )


def test_a_long_list_is_shown_by_its_number_of_tensors_and_elements() -> None:
    call = OpCall("aten::_foreach_zero_", [[[10, 10]] * 9], ["TensorList"])
    assert call.shape == "[9 tensors of 900 elements]"
    assert OpCall("aten::_foreach_zero_", [SIZES], ["TensorList"]).shape == str(SIZES)


# -- a trace of PyTorch 2.13, which tests/make_fixtures/torch_lists.py records --------------------------------------


@pytest.fixture(scope="module")
def recorded() -> dict[str, tuple[float, float]]:
    """Return FLOPs and bytes by operation."""
    kernels = read(FIXTURES / "torch_recorded" / "lists.trace.json.gz")
    return {
        name: (flops, moved) for name, flops, moved in zip(kernels.names, kernels.flops, kernels.bytes, strict=True)
    }


def test_fused_steps_that_pytorch_records_have_the_flops_of_their_options(
    recorded: dict[str, tuple[float, float]],
) -> None:
    flops = {name: work[0] for name, work in recorded.items() if "fused" in name}
    # Decay of 0.01 and the largest second moment; decay, momentum and Nesterov's; Adagrad alone.
    assert flops == {
        "aten::_fused_adamw_": (13 + 2 + 1) * N,
        "aten::_fused_sgd_": (2 + 2 + 2 + 2) * N,
        "aten::_fused_adagrad_": 7 * N,
    }


def test_a_step_over_lists_that_pytorch_records_has_the_bytes_of_its_dtype(
    recorded: dict[str, tuple[float, float]],
) -> None:
    # RMSprop: s = a s; s = s + (1 - a) g g; root of s.
    assert recorded["aten::_foreach_mul_"] == (N, 4 * 2 * N)
    assert recorded["aten::_foreach_addcmul_"] == (3 * N, 4 * 4 * N)
    assert recorded["aten::_foreach_sqrt"] == (N, 4 * 2 * N)


def test_pooling_that_pytorch_records_has_the_windows_of_its_result(recorded: dict[str, tuple[float, float]]) -> None:
    read_, planes = 2 * 3 * 32 * 33, 6
    maxima, means, adapted = planes * 16 * 17, planes * 17 * 17, planes * 7 * 5
    assert recorded["aten::max_pool2d_with_indices"] == (8 * maxima, 4 * read_ + 12 * maxima)
    assert recorded["aten::max_pool2d_with_indices_backward"] == (maxima, 4 * read_ + 12 * maxima)
    assert recorded["aten::avg_pool2d"] == (9 * means, 4 * (read_ + means))
    assert recorded["aten::avg_pool2d_backward"] == (10 * means, 4 * (read_ + means))
    # 32 rows in 7 windows share a row at 6 borders; 33 columns in 5 windows share one at 4.
    within = planes * (32 + 6) * (33 + 4)
    assert recorded["aten::_adaptive_avg_pool2d"] == (within, 4 * (read_ + adapted))
    assert recorded["aten::_adaptive_avg_pool2d_backward"] == (within + adapted, 4 * (read_ + adapted))
