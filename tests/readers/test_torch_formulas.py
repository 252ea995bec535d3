"""FLOPs and compulsory bytes of PyTorch's operations from shapes; a comment has the calculation by hand."""

from __future__ import annotations

from typing import Any

import pytest

from roofwidget.readers.torch.calls import _ARGUMENTS, OpCall, OpWork, assumption_warnings
from roofwidget.readers.torch.dtypes import DTYPES
from roofwidget.readers.torch.work import work_of

Q, K = [2, 6, 30, 16], [2, 3, 50, 16]
NONE: list[Any] = []
IMAGE = [2, 6, 4, 5]


def known_work(given: OpCall) -> OpWork:
    work = work_of(given)
    assert work is not None
    return work


def call(name: str, dims: list[Any], dtype: str = "float", values: list[str] | None = None) -> OpCall:
    types = [dtype if sizes else "ScalarList" for sizes in dims]
    return OpCall(name, dims, types, values)


CONV = ["", "", "", "[3, 1]", "[2, 0]", "[1, 2]"]
CASES = [
    # 2 x 5 x 7 x 11; 5 x 11 and 11 x 7 read, 5 x 7 written, 4 bytes each.
    (call("aten::mm", [[5, 11], [11, 7]]), 770, 4 * (55 + 77 + 35)),
    # The bias of 7 is read; it has no FLOPs.
    (call("aten::addmm", [[7], [5, 11], [11, 7], NONE, NONE], "c10::BFloat16"), 770, 2 * (7 + 55 + 77 + 35)),
    (call("aten::bmm", [[3, 5, 11], [3, 11, 7]], "double"), 2310, 8 * 3 * (55 + 77 + 35)),
    (call("aten::baddbmm", [[3, 5, 7], [3, 5, 11], [3, 11, 7]], "c10::Half"), 2310, 2 * 3 * (35 + 55 + 77 + 35)),
    # Products of one-byte integers are accumulated in four bytes.
    (call("aten::_int_mm", [[5, 11], [11, 7]], "signed char"), 770, 55 + 77 + 4 * 35),
    # ScalarType 15 is bfloat16: two bytes written.
    (
        call("aten::_scaled_mm", [[5, 11], [11, 7], *[NONE] * 6], "c10::Float8_e4m3fn", [""] * 6 + ["15", "True"]),
        770,
        55 + 77 + 2 * 35,
    ),
    # ScalarType 24 is fp8.
    (
        call("aten::_scaled_mm", [[5, 11], [11, 7], *[NONE] * 6], "c10::Float8_e4m3fn", [""] * 6 + ["24", "True"]),
        770,
        55 + 77 + 35,
    ),
    (call("aten::mv", [[5, 11], [11]]), 110, 4 * (55 + 11 + 5)),
    (call("aten::dot", [[11], [11]]), 22, 4 * 23),
    # 1x4x20x9 by 6x2x5x3 in two groups: (20 + 4 - 4 - 1) // 3 + 1 = 7 rows, 9 - 4 = 5 columns.
    (
        call("aten::conv2d", [[1, 4, 20, 9], [6, 2, 5, 3], [6], *[NONE] * 4], values=[*CONV, "2"]),
        2 * 6 * 7 * 5 * 2 * 5 * 3,
        4 * (720 + 180 + 6 + 210),
    ),
    (
        call("aten::convolution", [[1, 4, 20, 9], [6, 2, 5, 3], *[NONE] * 7], values=[*CONV, "False", "[0, 0]", "2"]),
        2 * 6 * 7 * 5 * 2 * 5 * 3,
        4 * (720 + 180 + 210),
    ),
    # cuDNN's own operation has padding before stride, and no bias.
    (
        call(
            "aten::cudnn_convolution",
            [[1, 4, 20, 9], [6, 2, 5, 3], *[NONE] * 7],
            values=["", "", "[2, 0]", "[3, 1]", "[1, 2]", "2"],
        ),
        2 * 6 * 7 * 5 * 2 * 5 * 3,
        4 * (720 + 180 + 210),
    ),
    # Transposed: 10 x 3 inputs each meet 4 x 5 weights; (10 - 1) 2 - 2 + 4 + 1 = 21 results of 4 channels.
    (
        call(
            "aten::convolution",
            [[1, 3, 10], [3, 4, 5], *[NONE] * 7],
            values=["", "", "", "[2]", "[1]", "[1]", "True", "[0]", "1"],
        ),
        2 * 30 * 20,
        4 * (30 + 60 + 84),
    ),
    # The gradients of input and weight each cost as much as the convolution; the bias gradient is not counted.
    (
        call(
            "aten::convolution_backward",
            [[1, 6, 8], [1, 2, 10], [6, 2, 3], *[NONE] * 8],
            values=["", "", "", "[6]", "[1]", "[0]", "[1]", "False", "[0]", "1", "[True, True, True]"],
        ),
        2 * 2 * 48 * 6,
        4 * (48 + 20 + 36 + 20 + 36),
    ),
    # 4 x 2 x 6 x 30 x 50 x 16; the three heads of K and V are read once.
    (
        call("aten::_scaled_dot_product_cudnn_attention", [Q, K, K, *[NONE] * 5], "c10::Half", [""] * 6 + ["False"]),
        1_152_000,
        2 * (2 * 5760 + 2 * 4800),
    ),
    (
        call("aten::_scaled_dot_product_efficient_attention", [Q, K, K, *[NONE] * 4], values=[""] * 6 + ["True"]),
        # 30 of 50 keys at most: query i sees i + 1 keys, 465 pairs of 1500.
        4 * 2 * 6 * 465 * 16,
        4 * (2 * 5760 + 2 * 4800),
    ),
    # The same with heads after rows; custom_mask_type 1 is causal, and type 2 lets the last query see all keys: query i
    # sees 21 + i keys, 30 x 21 + 435 = 1065 pairs.
    (
        call(
            "aten::_efficient_attention_forward",
            [[2, 30, 6, 16], [2, 50, 3, 16], [2, 50, 3, 16], *[NONE] * 8],
            values=[""] * 9 + ["2"],
        ),
        4 * 2 * 6 * 1065 * 16,
        4 * (2 * 5760 + 2 * 4800),
    ),
    (
        call(
            "aten::_efficient_attention_forward",
            [[2, 30, 6, 16], [2, 50, 3, 16], [2, 50, 3, 16], *[NONE] * 8],
            values=[""] * 9 + ["1"],
        ),
        4 * 2 * 6 * 465 * 16,
        4 * (2 * 5760 + 2 * 4800),
    ),
    # Five products instead of two; gradient, q, k, v and output read, three gradients written.
    (
        call(
            "aten::_scaled_dot_product_flash_attention_backward",
            [Q, Q, K, K, Q, [2, 6, 30], *[NONE] * 6],
            "c10::BFloat16",
            [""] * 11 + ["False"],
        ),
        2_880_000,
        2 * (3 * 5760 + 2 * 4800 + 5760 + 2 * 4800),
    ),
    (call("aten::add", [[4, 1, 3], [5, 1], NONE]), 60, 4 * (12 + 5 + 60)),
    (call("aten::mul_", [[4, 3], NONE]), 12, 4 * 24),
    # A scalar is recorded as a tensor without sizes.
    (OpCall("aten::mul", [[4, 3], NONE], ["float", "double"]), 12, 4 * 24),
    (OpCall("aten::add_", [NONE, NONE, NONE], ["float", "long int", "Scalar"]), 1, 4 * 2),
    (call("aten::relu", [[4, 3]]), 12, 4 * 24),
    # A truth has a byte.
    (call("aten::lt", [[4, 1], [3]]), 12, 4 * (4 + 3) + 12),
    (OpCall("aten::eq", [[4, 3], NONE], ["long int", "Scalar"]), 12, 8 * 12 + 12),
    (OpCall("aten::bitwise_and", [[4, 3], [4, 3]], ["bool", "bool"]), 0, 36),
    (OpCall("aten::masked_fill_", [[4, 3], [4, 1], NONE], ["float", "bool", "Scalar"]), 0, 2 * 48 + 4),
    (OpCall("aten::where", [[4, 1], [3], [4, 3]], ["bool", "c10::Half", "c10::Half"]), 0, 4 + 2 * (3 + 12 + 12)),
    (OpCall("aten::where", [[4, 3], [4, 3], NONE], ["bool", "float", "Scalar"]), 0, 12 + 2 * 48),
    *(
        (call("aten::pow", [[4, 3], NONE], values=["", exponent]), each * 12, 4 * 24)
        for exponent, each in (("2", 1), ("3.", 2), ("0.5", 1), ("1", 0), ("2.5", 1), ("", 1))
    ),
    (call("aten::pow", [[4, 3], [4, 3]]), 12, 4 * 36),
    # A difference, a square and a sum.
    (call("aten::mse_loss", [[4, 3], [4, 3], NONE], values=["", "", "1"]), 36, 4 * 25),
    (call("aten::mse_loss", [[4, 3], [4, 3], NONE], values=["", "", "0"]), 24, 4 * 36),
    (call("aten::silu", [[4, 3]]), 60, 4 * 24),
    (call("aten::gelu", [[4, 3], NONE], values=["", "tanh"]), 96, 4 * 24),
    (call("aten::gelu", [[4, 3], NONE], values=["", "none"]), 60, 4 * 24),
    # 8 per element and 3 per row; gamma and beta are read.
    (call("aten::native_layer_norm", [[6, 10], NONE, [10], [10], NONE]), 8 * 60 + 18, 4 * (60 + 20 + 60)),
    (call("aten::native_layer_norm", [[6, 10], NONE, NONE, NONE, NONE]), 6 * 60 + 18, 4 * 120),
    # Rows of two axes.
    (call("aten::native_layer_norm", [[6, 2, 5], *[NONE] * 4], values=["", "[2, 5]"]), 6 * 60 + 18, 4 * 120),
    (call("aten::_softmax", [[6, 10], NONE, NONE]), 300, 4 * 120),
    (call("aten::threshold_backward", [[4, 3], [4, 3], NONE]), 12, 4 * 36),
    (call("aten::sigmoid_backward", [[4, 3], [4, 3]]), 36, 4 * 36),
    (call("aten::tanh_backward", [[4, 3], [4, 3]]), 36, 4 * 36),
    # The sigmoid 4; g s (1 + x (1 - s)) 5.
    (call("aten::silu_backward", [[4, 3], [4, 3]]), 9 * 12, 4 * 36),
    (call("aten::gelu_backward", [[4, 3], [4, 3], NONE], values=["", "", "none"]), 11 * 12, 4 * 36),
    (call("aten::gelu_backward", [[4, 3], [4, 3], NONE], values=["", "", "tanh"]), 16 * 12, 4 * 36),
    # The mask has a byte per element.
    (call("aten::native_dropout", [[4, 3], NONE, NONE]), 36, 4 * 24 + 12),
    (OpCall("aten::native_dropout_backward", [[4, 3], [4, 3], NONE], ["float", "bool", ""]), 24, 4 * 24 + 12),
    # Times the result, its sum, less the sum, times the result.
    (call("aten::_softmax_backward_data", [[6, 10], [6, 10], NONE, NONE]), 240, 4 * 180),
    (call("aten::_log_softmax_backward_data", [[6, 10], [6, 10], NONE, NONE]), 240, 4 * 180),
    # x̂ 2, g times the weights 1, sums of that and of that times x̂ 3, the result 4, gradients of the weights 2 and 1.
    # Gradient, input, means, rates and weights are read; three gradients are written.
    (
        call("aten::native_layer_norm_backward", [[6, 10], [6, 10], NONE, [6, 1], [6, 1], [10], [10], NONE]),
        13 * 60,
        4 * (120 + 12 + 10 + 60 + 20),
    ),
    (
        call("aten::native_layer_norm_backward", [[6, 10], [6, 10], NONE, [6, 1], [6, 1], [10], NONE, NONE]),
        12 * 60,
        4 * (120 + 12 + 10 + 60 + 10),
    ),
    (
        call("aten::native_layer_norm_backward", [[6, 10], [6, 10], NONE, [6, 1], [6, 1], NONE, NONE, NONE]),
        9 * 60,
        4 * (120 + 12 + 60),
    ),
    (
        OpCall(
            "aten::native_layer_norm_backward",
            [[6, 10], [6, 10], NONE, [6, 1], [6, 1], [10], [10], NONE],
            [*["c10::BFloat16"] * 2, "", *["float"] * 4, ""],
        ),
        13 * 60,
        2 * 180 + 4 * (12 + 10 + 20),
    ),
    # x̂ 1, g times the weights 1, the sum of that times x̂ 2, the result 3, the gradient of the weights 2.
    (
        call("aten::_fused_rms_norm_backward", [[6, 10], [6, 10], NONE, [6, 1], [10], NONE]),
        9 * 60,
        4 * (120 + 6 + 10 + 60 + 10),
    ),
    (
        call("aten::_fused_rms_norm_backward", [[6, 10], [6, 10], NONE, [6, 1], NONE, NONE]),
        6 * 60,
        4 * (120 + 6 + 60),
    ),
    # 240 elements in 2 x 3 groups.
    (
        call("aten::native_group_norm", [IMAGE, [6], [6], *[NONE] * 5], values=["", "", "", "2", "6", "20", "3", "0"]),
        8 * 240 + 3 * 6,
        4 * (240 + 12 + 240),
    ),
    (
        call("aten::native_group_norm", [IMAGE, *[NONE] * 7], values=["", "", "", "2", "6", "20", "3", "0"]),
        6 * 240 + 3 * 6,
        4 * 480,
    ),
    (
        call("aten::native_group_norm_backward", [IMAGE, IMAGE, [2, 3], [2, 3], [6], *[NONE] * 5]),
        13 * 240,
        4 * (480 + 12 + 6 + 240 + 12),
    ),
    # Weights, bias, and the running mean and variance are read. Without training a scale and a shift.
    (
        call("aten::cudnn_batch_norm", [IMAGE, *[[6]] * 4, *[NONE] * 3], values=[*[""] * 5, "True", "0.1", "0"]),
        8 * 240,
        4 * (240 + 24 + 240),
    ),
    (
        call("aten::native_batch_norm", [IMAGE, *[[6]] * 4, *[NONE] * 3], values=[*[""] * 5, "False", "0.1", "0"]),
        2 * 240,
        4 * (240 + 24 + 240),
    ),
    # The mean and the rate that the forward pass has kept are read, those of running are not.
    (
        call("aten::cudnn_batch_norm_backward", [IMAGE, IMAGE, *[[6]] * 5, NONE]),
        13 * 240,
        4 * (480 + 18 + 240 + 12),
    ),
    (
        call("aten::native_batch_norm_backward", [IMAGE, IMAGE, *[[6]] * 5, *[NONE] * 3]),
        13 * 240,
        4 * (480 + 18 + 240 + 12),
    ),
    # 15 rows of 8 are added to 900 rows, which are written.
    (
        OpCall(
            "aten::embedding_dense_backward",
            [[3, 5, 8], [3, 5], NONE, NONE, NONE],
            ["c10::Half", "long int", "", "", ""],
            ["", "", "900", "-1", "False"],
        ),
        120,
        2 * (120 + 7200) + 15 * 8,
    ),
    (call("aten::copy_", [[6, 10], [10], NONE]), 0, 4 * 70),
    (call("aten::zero_", [[6, 10]], "bool"), 0, 60),
]


@pytest.mark.parametrize(("given", "flops", "moved"), CASES, ids=[f"{case[0].name} {case[0].shape}" for case in CASES])
def test_the_work_of_a_call_follows_from_its_shapes(given: OpCall, flops: int, moved: int) -> None:
    work = known_work(given)
    assert (work.flops, work.bytes) == (flops, moved)


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        (call("aten::mm", [[5, 11], [11, 7], [5, 7]]), 4 * (55 + 77 + 35)),
        (call("aten::bmm", [[3, 5, 11], [3, 11, 7], [3, 5, 7]]), 4 * 3 * (55 + 77 + 35)),
        (call("aten::addmm", [[7], [5, 11], [11, 7], NONE, NONE, [5, 7]]), 4 * (7 + 55 + 77 + 35)),
        (
            call("aten::baddbmm", [[3, 5, 7], [3, 5, 11], [3, 11, 7], NONE, NONE, [3, 5, 7]]),
            4 * 3 * (35 + 55 + 77 + 35),
        ),
        (
            call("aten::_scaled_mm", [[5, 11], [11, 7], *[NONE] * 6, [5, 7]], "c10::Float8_e4m3fn", [*[""] * 6, "15"]),
            55 + 77 + 2 * 35,
        ),
        (call("aten::mv", [[5, 11], [11], [5]]), 4 * (55 + 11 + 5)),
        (call("aten::add", [[4, 3], [4, 3], NONE, [4, 3]]), 4 * 36),
        (call("aten::mul", [[4, 3], [4, 3], [4, 3]]), 4 * 36),
        (call("aten::silu", [[4, 3], [4, 3]]), 4 * 24),
        (call("aten::gelu", [[4, 3], NONE, [4, 3]], values=["", "tanh", ""]), 4 * 24),
        (call("aten::_softmax", [[6, 10], NONE, NONE, [6, 10]]), 4 * 120),
    ],
    ids=lambda value: value.name if isinstance(value, OpCall) else None,
)
def test_a_tensor_after_the_arguments_is_the_result_and_moves_once(given: OpCall, moved: int) -> None:
    work = known_work(given)
    assert work.bytes == moved


def test_dtypes_have_the_names_and_sizes_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    same = {"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16"}
    same |= {"Float": "float32", "Double": "float64", "ComplexFloat": "complex64", "ComplexDouble": "complex128"}
    found = {dtype.name: getattr(torch, same.get(dtype.name, dtype.name.lower()), None) for dtype in DTYPES}
    known = {name: dtype for name, dtype in found.items() if dtype is not None}
    assert len(known) > 12
    sizes = {dtype.name: dtype.itemsize for dtype in DTYPES}
    assert {name: dtype.itemsize for name, dtype in known.items()} == {name: sizes[name] for name in known}
    # c10/core/ScalarType.h of PyTorch 2.13.
    numbers = [*range(8), 9, 10, 11, 15, 23, 24, 25, 26, 44, 45]
    assert [dtype.number for dtype in DTYPES] == numbers


def test_the_products_of_compiled_code_move_their_result_once() -> None:
    # 32768 x 2048 by 2048 x 2048 in bf16: 2 x (2 x 32768 x 2048 + 2048²) = 276824064 bytes, four times 1107296256.
    work = known_work(call("aten::mm", [[32768, 2048], [2048, 2048], [32768, 2048]], "c10::BFloat16"))
    assert (work.flops, work.bytes) == (274_877_906_944, 276_824_064)


def test_the_dtype_of_out_counts_for_the_result() -> None:
    types = ["c10::Float8_e4m3fn"] * 2 + [""] * 6 + ["c10::BFloat16"]
    work = known_work(OpCall("aten::_scaled_mm", [[5, 11], [11, 7], *[NONE] * 6, [5, 7]], types))
    assert work.bytes == 55 + 77 + 2 * 35
    mixed = OpCall("aten::add", [[4, 3], [4, 3], NONE, [4, 3]], ["c10::Half", "c10::Half", "Scalar", "float"])
    assert known_work(mixed).bytes == 2 * 24 + 4 * 12
    # The overload with a dtype has one argument more.
    cast = OpCall("aten::mm", [[5, 11], [11, 7], NONE, [5, 7]], ["c10::Half", "c10::Half", "Scalar", "float"])
    assert known_work(cast).bytes == 2 * (55 + 77) + 4 * 35


def test_joined_tensors_have_the_dtype_of_out() -> None:
    dims = [[[5, 11], [2, 11]], NONE]
    assert known_work(OpCall("aten::cat", dims, ["TensorList", "Scalar"])).bytes is None
    with_out = OpCall("aten::cat", [*dims, [7, 11]], ["TensorList", "Scalar", "c10::Half"])
    assert (known_work(with_out).flops, known_work(with_out).bytes) == (0, 2 * 2 * 77)


def test_the_arguments_before_out_are_those_of_the_schemas_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    counts: dict[str, set[int]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.arguments and schema.arguments[-1].is_out:
            before = sum(not argument.is_out for argument in schema.arguments)
            counts.setdefault(schema.name, set()).add(before)
    for name, count in _ARGUMENTS.items():
        if name in counts:
            assert count in counts[name], name


@pytest.mark.parametrize(
    ("given", "flops", "moved"),
    [
        (call("aten::addmm_", [[5, 7], [5, 11], [11, 7], NONE, NONE]), 770, 4 * (35 + 55 + 77 + 35)),
        (call("aten::sum", [[6, 10], NONE]), 60, 4 * 61),
        (call("aten::sum", [[6, 10], NONE, NONE, NONE], values=["", "[-1]", "False", ""]), 60, 4 * 66),
        (call("aten::mean", [[6, 10], NONE, NONE, NONE], "c10::Half", ["", "[0, 1]", "True", ""]), 60, 2 * 61),
        # A sum of integers has eight bytes, as a position has.
        (call("aten::sum", [[6, 10], NONE], "int"), 60, 4 * 60 + 8),
        (call("aten::argmax", [[6, 10], NONE, NONE], values=["", "-1", "False"]), 60, 4 * 60 + 8 * 6),
        (call("aten::max", [[6, 10], NONE, NONE], values=["", "0", "False"]), 60, 4 * 60 + 12 * 10),
        (call("aten::max", [[6, 10], [10]]), 60, 4 * (60 + 10 + 60)),
        (call("aten::cumsum", [[6, 10], NONE, NONE], values=["", "0", ""]), 60, 4 * 120),
        (OpCall("aten::gather", [[900, 8], NONE, [3, 8], NONE], ["float", "Scalar", "long int", ""]), 0, 24 * 16),
    ],
    ids=lambda value: value.name if isinstance(value, OpCall) else None,
)
def test_products_in_place_reductions_and_gathers_count_what_they_read_and_write(
    given: OpCall, flops: int, moved: int
) -> None:
    assert (known_work(given).flops, known_work(given).bytes) == (flops, moved)


TOP_LEFT = "; the mask is aligned top-left: the first query sees the first key"
BOTTOM_RIGHT = "; the mask is aligned bottom-right: the last query sees all keys"
ROWS_FIRST = [[2, 30, 6, 16], [2, 50, 6, 16], [2, 50, 6, 16]]


@pytest.mark.parametrize(
    ("name", "dims", "values", "pairs", "end"),
    [
        # 30 queries and 50 keys: 465 pairs from the first key on, 30 x 50 - 30 x 29 / 2 = 1065 up to the last key.
        ("aten::_scaled_dot_product_efficient_attention", [Q, K, K], [""] * 6 + ["True"], 465, TOP_LEFT),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", [Q, K, K], [""] * 4 + ["True"], 465, TOP_LEFT),
        ("aten::_efficient_attention_forward", ROWS_FIRST, [""] * 9 + ["1"], 465, TOP_LEFT),
        ("aten::_efficient_attention_forward", ROWS_FIRST, [""] * 9 + ["2"], 1065, BOTTOM_RIGHT),
        ("flash_attn::_flash_attn_forward", ROWS_FIRST, [""] * 5 + ["True"], 1065, BOTTOM_RIGHT),
        ("flash_attn::_flash_attn_forward", ROWS_FIRST, [""] * 5 + ["False"], 1500, ""),
        ("aten::_efficient_attention_forward", ROWS_FIRST, [""] * 9 + ["0"], 1500, ""),
    ],
)
def test_a_causal_mask_of_more_keys_than_queries_names_its_alignment(
    name: str, dims: list[list[int]], values: list[str], pairs: int, end: str
) -> None:
    work = known_work(call(name, [*dims, *[NONE] * (len(values) - 3)], values=values))
    assert work.flops == 4 * 2 * 6 * 16 * pairs
    left = ", of the pairs that the causal mask leaves," if end else ""
    assert work.rule == f"4 B H Nq Nk d{left} from the shapes of {name}{end}"
    assert work.detail == {TOP_LEFT: "causal top-left", BOTTOM_RIGHT: "causal bottom-right", "": ""}[end]
    assert assumption_warnings([work]) == []


def test_as_many_queries_as_keys_need_no_alignment() -> None:
    work = known_work(call("flash_attn::_flash_attn_forward", [ROWS_FIRST[0]] * 3, values=[""] * 5 + ["True"]))
    assert work.flops == 4 * 2 * 6 * 16 * 450
    assert work.rule == "4 B H Nq Nk d / 2, causal, from the shapes of flash_attn::_flash_attn_forward"


@pytest.mark.parametrize(
    ("given", "flops", "moved", "told"),
    [
        (OpCall("aten::gelu", [[4, 3], NONE], ["float", ""]), 60, 96, "which formula gelu uses: 5 FLOPs per result"),
        (
            OpCall("aten::_scaled_mm", [[5, 11], [11, 7]], ["c10::Float8_e4m3fn"] * 2),
            770,
            55 + 77 + 35,
            "the dtype of the results of _scaled_mm",
        ),
        (
            OpCall("aten::_scaled_dot_product_flash_attention", [Q, Q, Q], ["c10::Half"] * 3),
            4 * 2 * 6 * 30 * 30 * 16,
            2 * 4 * 5760,
            "whether attention is causal, so it is counted in full: if it is causal, half of its FLOPs are possible",
        ),
    ],
    ids=lambda given: given.name if isinstance(given, OpCall) else "",
)
def test_an_argument_that_was_not_recorded_is_assumed_and_said(
    given: OpCall, flops: int, moved: int, told: str
) -> None:
    work = known_work(given)
    assert (work.flops, work.bytes) == (flops, moved)
    (warning,) = assumption_warnings([work, None, work])
    assert warning.startswith(f"the profile does not say {told}")


def test_a_look_up_reads_and_writes_the_rows_that_it_finds_and_reads_the_index() -> None:
    embedding = known_work(OpCall("aten::embedding", [[900, 8], [3, 5]], ["c10::Half", "long int"]))
    picked = known_work(OpCall("aten::index_select", [[900, 8], [], [5]], ["float", "Scalar", "int"], ["", "1", ""]))
    assert (embedding.flops, embedding.bytes) == (0, 2 * 15 * 8 * 2 + 15 * 8)
    assert (picked.flops, picked.bytes) == (0, 2 * 900 * 5 * 4 + 5 * 4)


@pytest.mark.parametrize(
    "given",
    [
        call("aten::mm", [[5, 11], [10, 7]]),
        call("aten::mm", [[5, 11]]),
        call("aten::mm", [["5", 11], [11, 7]]),
        call("aten::mm", [[5, -11], [-11, 7]]),
        call("aten::bmm", [[3, 5, 11], [2, 11, 7]]),
        call("aten::conv2d", [[1, 4, 20, 9], [6, 2, 5, 3], NONE], values=None),
        call("aten::conv2d", [[1, 4, 20, 9], [6, 2, 5, 3], *[NONE] * 5], values=["", "", "", "[0]", "[0]", "[1]", "1"]),
        call("aten::conv2d", [[1, 4, 2, 2], [6, 4, 5, 5], *[NONE] * 5], values=["", "", "", "x", "[0]", "[1]", "1"]),
        call("aten::convolution_backward", [[1, 6, 8], [1, 2, 10], [6, 2, 3]], values=[""] * 11),
        call("aten::_flash_attention_forward", [[90, 4, 8], [90, 4, 8], [90, 4, 8], [3], [3]]),
        call("aten::add", [[4, 3], [5]]),
        call("aten::index_select", [[4, 3], NONE, [5]], values=["", "7", ""]),
        call("aten::cudnn_batch_norm", [[2, 6, 4, 5], *[[6]] * 4, *[[]] * 3], values=[""] * 8),
        call("aten::native_group_norm", [[2, 6, 4, 5], [6], [6], *[[]] * 5], values=[""] * 8),
        call("aten::embedding_dense_backward", [[3, 5, 8], [3, 5], [], [], []], values=[""] * 5),
        call("aten::someone_else", [[5, 11], [11, 7]]),
    ],
    ids=lambda given: f"{given.name} {given.shape}",
)
def test_a_call_whose_arguments_do_not_tell_its_work_has_unknown_work(given: OpCall) -> None:
    work = work_of(given)
    assert work is None or not work.is_known


def test_an_unknown_dtype_leaves_flops_known_and_bytes_unknown() -> None:
    for types in (None, ["c10::complex<float>"] * 2):
        work = known_work(OpCall("aten::mm", [[5, 11], [11, 7]], types))
        assert (work.flops, work.bytes) == (770, None)
