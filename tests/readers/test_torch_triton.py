"""Triton kernels of PyTorch's compiler: bytes of pointers as a lower bound, FLOPs of the words of a name."""

from __future__ import annotations

from typing import Any

import pytest

from roofwidget.readers.torch.calls import Certainty, OpCall, OpWork
from roofwidget.readers.torch.work import work_of


def kernel(name: str, *pointers: list[int], sizes: tuple[int, ...] = (), dtype: str = "float", **more: Any) -> OpCall:
    dims: list[Any] = [*pointers, *([] for _ in sizes)]
    types = [dtype] * len(pointers) + ["Scalar"] * len(sizes)
    return OpCall(name, dims, types, [""] * len(pointers) + [str(size) for size in sizes], **more)


def known(call: OpCall) -> OpWork:
    work = work_of(call)
    assert work is not None
    return work


@pytest.mark.parametrize(
    ("call", "flops", "moved"),
    [
        # One add per element; two pointers of 1024 fp32.
        (kernel("triton_poi_fused_add_0", [1024], [1024], sizes=(1024,)), 1024, 8192),
        # add, cos and sin: 1 each.
        (kernel("triton_poi_fused_add_cos_sin_0", *[[10, 10]] * 3, sizes=(100,)), 300, 1200),
        # silu 5, mul 1; the view computes nothing.
        (
            kernel("triton_poi_fused__unsafe_view_mul_silu_2", [4, 64], [4, 64], sizes=(256,), dtype="c10::BFloat16"),
            6 * 256,
            2 * 2 * 256,
        ),
        # add, mean, mul, pow, rsqrt over 32 rows of 20.
        (
            kernel("triton_red_fused_add_mean_mul_pow_rsqrt_0", [32, 20], [20], [32, 20], sizes=(32, 20)),
            5 * 640,
            4 * (640 + 20 + 640),
        ),
        (kernel("triton_per_fused__softmax_3", [8, 9], [8, 9], sizes=(8, 9)), 5 * 72, 4 * 144),
        (kernel("triton_poi_fused__to_copy_1", [16, 4], [16, 4], sizes=(64,)), 0, 4 * 128),
        # The norm 8 and its gradient 13; the softmax 5 and its gradient 4; the gradient of gelu with erf.
        (
            kernel("triton_red_fused_native_layer_norm_native_layer_norm_backward_4", [6, 10], [6, 10], sizes=(6, 10)),
            21 * 60,
            4 * 120,
        ),
        (
            kernel("triton_per_fused__log_softmax__log_softmax_backward_data_3", [6, 10], [6, 10], sizes=(6, 10)),
            9 * 60,
            4 * 120,
        ),
        (kernel("triton_poi_fused_gelu_backward_2", [4, 3], [4, 3], sizes=(12,)), 11 * 12, 4 * 24),
        # Tiles of two axes: both sizes count, an add for each of 64 x 4096 elements.
        (kernel("triton_poi_fused_add_0", [64, 4096], [64, 4096], sizes=(64, 4096)), 262_144, 2_097_152),
        # Another number before the size is no axis.
        (kernel("triton_poi_fused_add_0", [64, 4096], [64, 4096], sizes=(7, 262_144)), 262_144, 2_097_152),
    ],
    ids=lambda given: given.name if isinstance(given, OpCall) else "",
)
def test_a_kernel_moves_each_pointer_at_least_once_and_computes_the_words_of_its_name(
    call: OpCall, flops: int, moved: int
) -> None:
    work = known(call)
    assert (work.flops, work.bytes) == (flops, moved)
    assert (work.flops_are, work.bytes_are) == (Certainty.ESTIMATE, Certainty.AT_LEAST)
    assert work.vector
    assert work.rule.startswith("estimated from the name, each word once: ")
    assert "lower bound" in work.bytes_rule


@pytest.mark.parametrize(
    ("call", "flops", "moved"),
    [
        # Of a table of 1000 rows at most as many elements are read as the kernel walks over.
        (kernel("triton_poi_fused_embedding_0", [8], [1000, 64], [8, 64], sizes=(512,)), 0, 4 * (8 + 512 + 512)),
        # Without sizes, pointers of equally many elements show how many the kernel walks over.
        (kernel("triton_poi_fused_add_1", [10, 100], [1000]), 1000, 4 * 2000),
    ],
    ids=lambda given: given.name if isinstance(given, OpCall) else "",
)
def test_bytes_are_an_estimate_where_a_kernel_may_read_a_part_of_a_pointer(
    call: OpCall, flops: int, moved: int
) -> None:
    work = known(call)
    assert (work.flops, work.bytes) == (flops, moved)
    assert (work.flops_are, work.bytes_are) == (Certainty.ESTIMATE, Certainty.ESTIMATE)
    assert work.bytes_rule == "estimated: each pointer once (how much of each the kernel reads is not in the trace)"


def test_a_kernel_that_walks_over_less_than_it_writes_has_no_bytes_if_its_pointers_differ() -> None:
    work = known(kernel("triton_poi_fused_add_0", [64, 4096], [128, 4096], sizes=(8, 4096)))
    assert work.bytes is None


@pytest.mark.parametrize(
    "pointers",
    [
        # An embedding reads 8192 of the 201,088 rows, and the same kernel casts another table.
        ([8192], [201088, 2880], [131072, 64], [8192, 2880], [131072, 64]),
        # One row of each of two tables of equal size.
        ([1], [131072, 64], [131072, 64], [1, 64], [1, 64]),
    ],
)
def test_without_sizes_a_pointer_that_may_be_gathered_from_gives_no_bytes(
    pointers: tuple[list[int], ...],
) -> None:
    work = known(kernel("triton_poi_fused_0", *pointers))
    assert (work.flops, work.bytes) == (None, None)
    assert work.bytes_rule == (
        "unknown: how many elements the kernel walks over is no argument, and of a larger pointer it may read few"
    )


def test_the_words_that_count_are_named() -> None:
    assert known(kernel("triton_poi_fused_add_mul_7", [4], sizes=(4,))).rule.endswith(": add, mul: 2 per element")
    assert known(kernel("triton_poi_fused_cat_7", [4], sizes=(4,))).rule.endswith(": no arithmetic")


def test_what_the_compiler_wrote_counts_before_what_the_name_shows() -> None:
    call = kernel("triton_poi_fused_add_0", [1024], [1024], sizes=(1024,), metadata={"kernel_num_gb": 8.192e-06})
    work = known(call)
    assert (work.flops, work.bytes) == (1024, 8192)
    assert work.bytes_rule == "kernel_num_gb of the op x 1e9"
    assert (work.flops_are, work.bytes_are) == (Certainty.ESTIMATE, Certainty.EXACT)


@pytest.mark.parametrize("amount", [0, -1, True, "8", float("inf"), float("nan"), 1e40])
def test_an_amount_of_a_compiler_that_is_none_does_not_count(amount: object) -> None:
    metadata = {"kernel_num_gb": amount, "kernel_flop": amount}
    work = known(kernel("triton_poi_fused_add_0", [8], [8], sizes=(8,), metadata=metadata))
    assert (work.flops, work.bytes) == (8, 64)


def test_a_template_multiplies_its_first_two_tensors_if_their_inner_sizes_agree() -> None:
    work = known(kernel("triton_tem_fused_mm_0", [5, 11], [11, 7], [5, 7]))
    assert (work.flops, work.bytes, work.family) == (770, 4 * (55 + 77 + 35), "matrix product")
    assert work_of(kernel("triton_tem_fused_mm_0", [5, 11], [12, 7], [5, 7])) is None


def test_flex_attention_is_unknown_without_its_mask() -> None:
    work = known(kernel("triton_tem_fused_flex_attention_0", [2, 4, 8, 16], [2, 4, 8, 16]))
    assert not work.is_known
    assert work.missing == "the mask of flex attention, which is not in the trace"


@pytest.mark.parametrize("name", ["triton_for_fused_add_0", "triton_poi_fused_0"])
def test_a_name_without_words_and_several_kernels_in_one_have_only_bytes(name: str) -> None:
    work = known(kernel(name, [8], [8], sizes=(8,)))
    assert (work.flops, work.bytes) == (None, 64)


@pytest.mark.parametrize(
    "call",
    [
        OpCall("triton_poi_fused_add_0", ()),
        OpCall("triton_poi_fused_add_0", [[]], [""]),
        kernel("triton_poi_fused_add_0", [-8], sizes=(8,)),
        kernel("poi_fused_add_0", [8], sizes=(8,)),
    ],
)
def test_a_kernel_without_pointers_has_unknown_work(call: OpCall) -> None:
    assert work_of(call) is None
