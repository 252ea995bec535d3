"""The rules of operations of libraries: each with random sizes, against counts that are written out here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pytest

from roofwidget.chips import toml
from roofwidget.readers.torch import rules
from roofwidget.readers.torch.calls import Certainty, OpCall, OpWork
from roofwidget.readers.torch.formulas import FORMULAS
from roofwidget.readers.torch.rows import WorkTable
from roofwidget.readers.torch.steps import Requests, Step
from roofwidget.readers.torch.work import work_of

TYPES: Final = {
    "bf16": "c10::BFloat16",
    "fp8": "c10::Float8_e4m3fn",
    "fp4": "c10::Float4_e2m1fn_x2",
    "fp32": "float",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int32": "int",
    "int64": "long int",
}


class Arg(NamedTuple):
    dims: list[Any]
    type: str
    value: str = ""


NONE: Final = Arg([], "")


def tensor(dtype: str, *sizes: int) -> Arg:
    return Arg(list(sizes), TYPES[dtype])


def value(given: object) -> Arg:
    return Arg([], "Scalar", str(given))


def op(name: str, *args: Arg, **more: Any) -> OpCall:
    return OpCall(name, [a.dims for a in args], [a.type for a in args], [a.value for a in args], **more)


def known(call: OpCall) -> OpWork:
    work = work_of(call)
    assert work is not None
    return work


Draw: TypeAlias = "Callable[[int, int], int]"
Case: TypeAlias = "Callable[[Draw], tuple[OpCall, float | None, float | None]]"
CASES: dict[str, Case] = {}


def rule(name: str) -> Callable[[Case], Case]:
    def put(case: Case) -> Case:
        CASES[name] = case
        return case

    return put


def pad(args: list[Arg], place: int, *more: Arg) -> list[Arg]:
    """Return the arguments with nothing up to a place, and more arguments from there on."""
    return [*args, *[NONE] * (place - len(args)), *more]


# -- products ------------------------------------------------------------------------------------------------------


def products(
    name: str, *, result: int, order: str, weight_nk: bool, dtype: str, scales: int = 0, packed: int = 1
) -> None:
    """Add the case of a product: `order` has a letter for each argument before the scales."""

    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        m, n, k = draw(1, 500), draw(1, 500), 8 * draw(1, 60)
        item = {"bf16": 2}.get(dtype, 1)
        shapes = {
            "o": tensor("bf16", m, n),
            "x": tensor(dtype, m, k // packed),
            "w": tensor(dtype, *((n, k // packed) if weight_nk else (k // packed, n))),
        }
        args = [shapes[letter] for letter in order] + [tensor("fp32", m + place) for place in range(scales)]
        moved = (m + n) * k // packed * item + m * n * result + sum(4 * (m + place) for place in range(scales))
        return op(name, *args), 2 * m * n * k, moved


products("vllm::rocm_unquantized_gemm", result=2, order="xw", weight_nk=True, dtype="bf16")
products("aiter::gemm_a8w8_bpreshuffle", result=2, order="xw", weight_nk=True, dtype="fp8", scales=2)
products("aiter::gemm_a4w4_blockscale", result=2, order="xw", weight_nk=True, dtype="uint8", scales=2, packed=2)
products("_C::cutlass_scaled_mm", result=2, order="oxw", weight_nk=False, dtype="fp8", scales=2)
products("_C::cutlass_scaled_mm_azp", result=2, order="oxw", weight_nk=False, dtype="int8", scales=4)
products("_C::cutlass_scaled_fp4_mm", result=2, order="oxw", weight_nk=True, dtype="uint8", scales=2, packed=2)
products("sgl_kernel::dsv3_fused_a_gemm", result=2, order="oxw", weight_nk=False, dtype="bf16")


@rule("aiter::gemm_a16w16")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", m, k), tensor("bf16", n, k), tensor("bf16", n), value(6)]
    # ScalarType 6 is fp32.
    return op("aiter::gemm_a16w16", *args), 2 * m * n * k, 2 * (m * k + n * k + n) + 4 * m * n


@rule("sgl_kernel::fp8_scaled_mm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), draw(1, 90), draw(1, 90)
    args = [tensor("fp8", m, k), tensor("fp8", k, n), tensor("fp32", m, 1), tensor("fp32", n, 1), value(5)]
    return (
        op("sgl_kernel::fp8_scaled_mm", *args, tensor("bf16", n)),
        2 * m * n * k,
        (m + n) * (k + 4) + 2 * m * n + 2 * n,
    )


@rule("sgl_kernel::bmm_fp8")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    b, m, n, k = draw(2, 9), draw(1, 90), draw(1, 90), draw(1, 90)
    args = [
        tensor("fp8", b, m, k),
        tensor("fp8", b, k, n),
        tensor("bf16", b, m, n),
        tensor("fp32", 1),
        tensor("fp32", 1),
    ]
    return op("sgl_kernel::bmm_fp8", *args), 2 * b * m * n * k, b * (m * k + k * n + 2 * m * n) + 8


@rule("aiter::batched_gemm_a8w8_CK")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    b, m, n, k = draw(2, 9), draw(1, 90), draw(1, 90), draw(1, 90)
    args = [tensor("int8", b, m, k), tensor("int8", b, n, k), tensor("fp32", b, m), tensor("fp32", b, n)]
    return op("aiter::batched_gemm_a8w8_CK", *args), 2 * b * m * n * k, b * (m * k + n * k + 2 * m * n + 4 * m + 4 * n)


@rule("aiter::batched_gemm_bf16_CK")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    b, m, n, k = draw(2, 9), draw(1, 90), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", b, m, k), tensor("bf16", b, n, k)]
    return op("aiter::batched_gemm_bf16_CK", *args), 2 * b * m * n * k, 2 * b * (m * k + n * k + m * n)


@rule("aten::_scaled_mm_v2")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), draw(1, 90), draw(1, 90)
    lists = [Arg([[m]], "TensorList"), Arg([], "ScalarList"), Arg([], "ScalarList")] * 2
    # Four-bit elements: a byte has two.
    args = [tensor("fp4", m, k), tensor("fp4", k, n), *lists, tensor("bf16", n), value(15)]
    return op("aten::_scaled_mm_v2", *args), 2 * m * n * 2 * k, (m + n) * k + 2 * m * n + 2 * n


@rule("_C::marlin_gemm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), 16 * draw(1, 90), 16 * draw(1, 90)
    packed, scales = tensor("int32", k // 16, 2 * n), tensor("bf16", k // 16, n)
    args = [tensor("bf16", m, k), NONE, packed, NONE, scales, *[NONE] * 5, tensor("int32", 999), value(1)]
    call = op("_C::marlin_gemm", *args, value(m), value(n), value(k))
    return call, 2 * m * n * k, 2 * m * k + 4 * (k // 16) * 2 * n + 2 * (k // 16) * n + 2 * m * n


@rule("_C::awq_gemm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), 8 * draw(1, 90), 128 * draw(1, 9)
    groups = k // 128
    args = [
        tensor("bf16", m, k),
        tensor("int32", k, n // 8),
        tensor("bf16", groups, n),
        tensor("int32", groups, n // 8),
    ]
    moved = 2 * m * k + k * n // 2 + 2 * groups * n + groups * n // 2 + 2 * m * n
    return op("_C::awq_gemm", *args), 2 * m * n * k, moved


@rule("_C::gptq_gemm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), 8 * draw(1, 90), 128 * draw(1, 9)
    groups = k // 128
    # Four bits: eight weights in an int32.
    args = [
        tensor("bf16", m, k),
        tensor("int32", k // 8, n),
        tensor("int32", groups, n // 8),
        tensor("bf16", groups, n),
    ]
    moved = 2 * m * k + k * n // 2 + groups * n // 2 + 2 * groups * n + 4 * k + 2 * m * n
    return op("_C::gptq_gemm", *args, tensor("int32", k), value("True"), value(4)), 2 * m * n * k, moved


@rule("_Linear")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    s, b, n, k = draw(1, 90), draw(1, 9), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", n, k), tensor("bf16", s, b, k), tensor("bf16", n)]
    return op("_Linear", *args), 2 * s * b * n * k, 2 * (n * k + s * b * k + n + s * b * n)


@rule("_LayerNormLinear")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, n, k = draw(1, 90), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", t, k), tensor("bf16", k), tensor("bf16", k), tensor("bf16", n, k), tensor("bf16", n)]
    return op("_LayerNormLinear", *args), 2 * t * n * k, 2 * (t * k + n * k + n + t * n)


@rule("tex_ts::te_gemm_ts")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), draw(1, 90), draw(1, 90)
    # The layout "TN" of column-major matrices: a weight of N x K and rows of K.
    args = pad(pad([tensor("bf16", n, k)], 4, value(1), tensor("bf16", m, k)), 9, value(0), tensor("bf16", m, n))
    return op("tex_ts::te_gemm_ts", *args), 2 * m * n * k, 2 * (n * k + m * k + m * n)


@rule("primus_turbo_cpp_extension::hipblaslt_gemm_fp8")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    m, n, k = draw(1, 90), draw(1, 90), draw(1, 90)
    one = tensor("fp32", 1)
    args = [
        tensor("fp8", m, k),
        one,
        tensor("fp8", n, k),
        one,
        value(15),
        value("False"),
        value("True"),
        value("False"),
    ]
    return op("primus_turbo_cpp_extension::hipblaslt_gemm_fp8", *args), 2 * m * n * k, (m + n) * k + 2 * m * n + 8


@rule("aten::_grouped_mm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, g, k, n = draw(1, 90), draw(1, 9), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", t, k), tensor("bf16", g, k, n), tensor("int32", g)]
    return op("aten::_grouped_mm", *args), 2 * t * k * n, 2 * (t * k + g * k * n + t * n) + 4 * g


@rule("aten::_scaled_grouped_mm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, g, k, n = draw(1, 90), draw(1, 9), draw(1, 90), draw(1, 90)
    args = [tensor("fp8", t, k), tensor("fp8", g, k, n), tensor("fp32", t), tensor("fp32", g, n), tensor("int32", g)]
    moved = t * k + g * k * n + 4 * (t + g * n) + 4 * g + 2 * t * n
    return op("aten::_scaled_grouped_mm", *pad(args, 7, value(15))), 2 * t * k * n, moved


@rule("_C::cutlass_moe_mm")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, g, k, n = draw(1, 90), draw(1, 9), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", t, n), tensor("fp8", t, k), tensor("fp8", g, k, n), tensor("fp32", t), tensor("fp32", g)]
    return op("_C::cutlass_moe_mm", *args), 2 * t * k * n, t * k + g * k * n + 4 * (t + g) + 2 * t * n


# -- mixtures of experts -------------------------------------------------------------------------------------------


def used(experts: int, active: int, tokens: int) -> int:
    return round(experts * (1 - (1 - active / experts) ** tokens))


@rule("vllm::inplace_fused_experts")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, d, f, e, k = draw(1, 40), draw(8, 90), draw(8, 90), draw(4, 64), draw(1, 4)
    args = [tensor("bf16", t, d), tensor("bf16", e, 2 * f, d), tensor("bf16", e, d, f)]
    call = op("vllm::inplace_fused_experts", *args, tensor("fp32", t, k), tensor("int32", t, k))
    return call, 6 * t * k * d * f, 2 * 2 * t * d + used(e, k, t) * 3 * d * f * 2


@rule("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel_12")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, n, d, e, k = draw(1, 40), draw(8, 90), draw(8, 90), draw(4, 64), draw(1, 4)
    args = pad([tensor("bf16", t, d), tensor("bf16", e, n, d), tensor("bf16", t, k, n)], 8, tensor("int32", t, k))
    moved = 2 * t * d + used(e, k, t) * n * d * 2 + 2 * t * k * n + 4 * t * k
    return op("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel_12", *args), 2 * t * k * n * d, moved


@rule("aiter::fmoe_g1u1")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, d, f, e, k = draw(1, 40), draw(8, 90), draw(8, 90), draw(4, 64), draw(1, 4)
    args = [tensor("bf16", t, d), tensor("fp8", t, d), tensor("fp8", e, 2 * f, d), tensor("fp8", e, d, f)]
    call = op("aiter::fmoe_g1u1", *pad(args, 8, value(k)))
    # x of one byte, the result of two.
    return call, 6 * t * k * d * f, 3 * t * d + used(e, k, t) * 3 * d * f


@rule("aiter::ck_moe_stage1")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, d, f, e, k = draw(1, 40), draw(8, 90), draw(8, 90), draw(4, 64), draw(1, 4)
    args = [tensor("fp8", t, d), tensor("fp8", e, 2 * f, d), tensor("fp8", e, d, f)]
    call = op("aiter::ck_moe_stage1", *pad(args, 6, tensor("bf16", t, k, f)))
    return call, 4 * t * k * d * f, t * (d + 2 * k * f) + used(e, k, t) * 2 * d * f


@rule("aiter::ck_moe_stage2")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, d, f, e, k = draw(1, 40), draw(8, 90), draw(8, 90), draw(4, 64), draw(1, 4)
    args = [tensor("bf16", t, k, f), tensor("bf16", e, 2 * f, d), tensor("bf16", e, d, f)]
    call = op("aiter::ck_moe_stage2", *pad(args, 6, tensor("bf16", t, d)))
    return call, 2 * t * k * d * f, 2 * t * (d + k * f) + used(e, k, t) * d * f * 2


@rule("_moe_C::topk_softmax")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, e, k = draw(1, 500), draw(4, 64), draw(1, 4)
    args = [tensor("fp32", t, k), tensor("int32", t, k), tensor("int32", t, k), tensor("bf16", t, e)]
    return op("_moe_C::topk_softmax", *args), 5 * t * e, 12 * t * k + 2 * t * e


@rule("sgl_kernel::topk_softmax")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, e, k = draw(1, 500), draw(4, 64), draw(1, 4)
    args = [tensor("fp32", t, k), tensor("int32", t, k), tensor("fp32", t, e)]
    return op("sgl_kernel::topk_softmax", *args), 5 * t * e, 8 * t * k + 4 * t * e


@rule("_moe_C::moe_align_block_size")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, k, s = draw(1, 500), draw(1, 4), draw(1, 99)
    args = [tensor("int32", t, k), value(8), value(64), tensor("int32", s), tensor("int32", s), tensor("int32", 1)]
    return op("_moe_C::moe_align_block_size", *args), 0, 4 * (t * k + 2 * s + 1)


@rule("_moe_C::moe_sum")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, k, d = draw(1, 500), draw(1, 4), draw(1, 99)
    return op("_moe_C::moe_sum", tensor("bf16", t, k, d), tensor("bf16", t, d)), t * k * d, 2 * t * d * (k + 1)


# -- norms, activations, quantisation ------------------------------------------------------------------------------


def norms(name: str, *, order: str, each: int, scales: str = "", out: int = 2) -> None:
    """Add the case of a norm. Letters: x, w weight, b bias, o out, r residual, s residual out, 1 a scale, - nothing."""

    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        t, d = draw(1, 500), draw(1, 500)
        rows, one = tensor("bf16", t, d), tensor("bf16", d)
        dynamic = tensor("fp32", t) if scales == "dynamic" else tensor("fp32", 1)
        letters = {"x": rows, "r": rows, "s": rows, "w": one, "b": one, "1": dynamic, "-": NONE}
        letters["o"] = rows if out == 2 else tensor("fp8", t, d)
        moved = 2 * t * d + out * t * d + 2 * d * sum(letter in order for letter in "wb")
        moved += 2 * (2 * t * d) if "r" in order else 0
        moved += {"": 0, "static": 4, "dynamic": 4 * t}[scales]
        return op(name, *(letters[letter] for letter in order)), each * t * d + 3 * t, moved


norms("_C::rms_norm", order="oxw", each=4)
norms("_C::fused_add_rms_norm", order="xrw", each=5)
norms("_C::rms_norm_static_fp8_quant", order="oxw1", each=6, scales="static", out=1)
norms("_C::fused_add_rms_norm_static_fp8_quant", order="oxrw1", each=7, scales="static", out=1)
norms("_C::rms_norm_dynamic_per_token_quant", order="oxw1--r", each=8, scales="dynamic", out=1)
norms("sgl_kernel::rmsnorm", order="oxw", each=4)
norms("sgl_kernel::fused_add_rmsnorm", order="xrw", each=5)
norms("aten::_fused_rms_norm", order="x-w", each=4)
norms("aiter::rms_norm", order="xw", each=4)
norms("aiter::rmsnorm", order="oxw", each=4)
norms("aiter::add_rmsnorm", order="oxrsw", each=5)
norms("aiter::layer_norm", order="xwb", each=8)


def activations(name: str, each: int, *, gated: bool = True, quantised: bool = False) -> None:
    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        t, f = draw(1, 500), draw(1, 500)
        read = 2 * f if gated else f
        args = [tensor("fp8" if quantised else "bf16", t, f), tensor("bf16", t, read)]
        args += [tensor("fp32", 1)] * quantised
        return op(name, *args), each * t * f, 2 * t * read + (t * f + 4 if quantised else 2 * t * f)


# silu is 5, gelu 5 or, with tanh, 8; the gate 1; scale and clamp 2.
activations("_C::silu_and_mul", 6)
activations("_C::gelu_and_mul", 6)
activations("_C::gelu_tanh_and_mul", 9)
activations("_C::silu_and_mul_quant", 8, quantised=True)
activations("_C::gelu_new", 8, gated=False)


def quantised(name: str, *, x: int, out: int, each: int, reads: int = 1) -> None:
    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        t, d = draw(1, 500), draw(1, 500)
        by_place = {x: tensor("bf16", t, d), out: tensor("fp8", t, d), 2: tensor("fp32", t)}
        return op(name, *(by_place[place] for place in range(3))), each * t * d, reads * 2 * t * d + t * d + 4 * t


quantised("_C::static_scaled_fp8_quant", out=0, x=1, each=2)
quantised("_C::dynamic_scaled_fp8_quant", out=0, x=1, each=3, reads=2)
quantised("_C::dynamic_per_token_scaled_fp8_quant", out=0, x=1, each=3)
quantised("_C::per_token_group_fp8_quant", out=1, x=0, each=3)
quantised("sgl_kernel::sgl_per_tensor_quant_fp8", out=1, x=0, each=3, reads=2)
quantised("aiter::dynamic_per_token_scaled_quant", out=0, x=1, each=3)
quantised("aiter::dynamic_per_tensor_quant", out=0, x=1, each=3, reads=2)
quantised("aiter::static_per_tensor_quant", out=0, x=1, each=2)


@rule("_C::scaled_fp4_quant")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, d = draw(1, 500), 16 * draw(1, 50)
    args = [tensor("uint8", t, d // 2), tensor("bf16", t, d), tensor("fp8", t, d // 16), tensor("fp32", 1)]
    return op("_C::scaled_fp4_quant", *args), 3 * t * d, t * d // 2 + 2 * t * d + t * d // 16 + 4


# -- rotary embedding and caches -----------------------------------------------------------------------------------


@rule("_C::rotary_embedding")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, heads, kv_heads, head = draw(1, 500), draw(1, 9), draw(1, 9), 8 * draw(1, 9)
    rotated = head // 2
    args = [tensor("int64", t), tensor("bf16", t, heads * head), tensor("bf16", t, kv_heads * head)]
    call = op("_C::rotary_embedding", *args, value(head), tensor("bf16", 9999, rotated), value("True"))
    # Each pair: four products and two sums.
    pairs = t * (heads + kv_heads) * rotated // 2
    return call, 6 * pairs, 2 * 2 * (2 * pairs) + 2 * t * rotated + 8 * t


@rule("_C_cache_ops::reshape_and_cache_flash")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, less, h, d = draw(9, 500), draw(1, 9), draw(1, 9), draw(1, 99)
    row, pool = tensor("bf16", t, h, d), tensor("fp8", 77, 16, h, d)
    call = op("_C_cache_ops::reshape_and_cache_flash", row, row, pool, pool, tensor("int64", less))
    # Only rows with a slot are copied, to one byte each.
    return call, 0, 2 * less * h * d * (2 + 1) + 8 * less


@rule("_C_cache_ops::concat_and_cache_mla")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t = draw(1, 500)
    args = [tensor("bf16", t, 512), tensor("bf16", t, 64), tensor("bf16", 99, 64, 576), tensor("int64", t)]
    return op("_C_cache_ops::concat_and_cache_mla", *args), 0, 2 * t * 576 * 2 + 8 * t


@rule("sglang::store_cache")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, d = draw(1, 500), draw(1, 500)
    row, pool = tensor("bf16", t, d), tensor("bf16", 9999, d)
    return op("sglang::store_cache", row, row, pool, pool, tensor("int64", t)), 0, 4 * t * d * 2 + 8 * t


@rule("vllm::unified_kv_cache_update")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    t, h, d = draw(1, 500), draw(1, 9), draw(1, 99)
    row = tensor("bf16", t, h, d)
    return op("vllm::unified_kv_cache_update", row, row, NONE), 0, 4 * t * h * d * 2


# -- state space models --------------------------------------------------------------------------------------------


def scanned(draw: Draw, name: str) -> tuple[OpCall, int, int]:
    b, d, length, n = draw(1, 4), draw(1, 90), draw(1, 90), draw(1, 20)
    u, small = tensor("bf16", b, d, length), tensor("bf16", b, n, length)
    args = [u, u, tensor("fp32", d, n), small, small, tensor("fp32", d), u]
    flops = 9 * b * length * d * n + 2 * b * length * d
    moved = 4 * 2 * b * d * length + 4 * d * n + 2 * 2 * b * n * length + 4 * d
    return op(name, *args), flops, moved


@rule("SelectiveScanFn")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    return scanned(draw, "SelectiveScanFn")


@rule("_C::selective_scan_fwd")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    call, flops, moved = scanned(draw, "_C::selective_scan_fwd")
    (b, d, _), (_, n) = call.tensor(0), call.tensor(2)
    state = tensor("bf16", 300, d, n)
    args = [Arg(sizes, kind) for sizes, kind in zip(call.dims, call.types or (), strict=True)]  # type: ignore[arg-type]
    # Each sequence of the batch writes its state.
    return op(call.name, *args, NONE, value("True"), NONE, NONE, NONE, state), flops, moved + 2 * b * d * n


@rule("_C::causal_conv1d_fwd")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    b, c, length = draw(1, 4), draw(1, 90), draw(1, 90)
    args = [tensor("bf16", b, c, length), tensor("bf16", c, 4), tensor("bf16", c)]
    return op("_C::causal_conv1d_fwd", *args), 2 * b * c * length * 4, 2 * (2 * b * c * length + 5 * c)


@rule("_C::causal_conv1d_update")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    b, c = draw(1, 90), draw(1, 90)
    args = [tensor("bf16", b, c), tensor("bf16", 999, c, 3), tensor("bf16", c, 4)]
    # Three columns of the state of each channel are read and written.
    return op("_C::causal_conv1d_update", *args), 2 * b * c * 4, 2 * (2 * b * c + 4 * c + 2 * 3 * b * c)


@rule("MambaSplitConv1dScanCombinedFn")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    b, t, heads, p, groups, n, chunk = draw(1, 4), draw(1, 90), draw(1, 9), draw(1, 9), draw(1, 3), draw(1, 9), 16
    columns, channels = 2 * heads * p + 2 * groups * n + heads, heads * p + 2 * groups * n
    args = pad(
        [tensor("bf16", b, t, columns), tensor("bf16", channels, 4), NONE, tensor("fp32", heads)], 6, value(chunk)
    )
    call = op("MambaSplitConv1dScanCombinedFn", *pad(args, 15, value(p), value(groups)))
    scan = groups * chunk * n + heads * chunk * p + 2 * heads * n * p
    flops = 2 * b * t * scan + 2 * b * t * channels * 4
    return call, flops, 2 * b * t * columns + 2 * channels * 4 + 4 * heads + 2 * b * t * heads * p


# -- attention -----------------------------------------------------------------------------------------------------


def requests(draw: Draw, tokens: int) -> list[tuple[int, int]]:
    return [(s, s + draw(0, 200)) for s in (draw(1, tokens) for _ in range(draw(1, 6)))]


def phase(lengths: list[tuple[int, int]]) -> Requests:
    sums = (np.array([(s, k, s * s, s * k) for s, k in lengths]).sum(axis=0)).tolist() if lengths else (0, 0, 0, 0)
    return Requests(len(lengths), *sums)


def pairs_of(lengths: list[tuple[int, int]]) -> int:
    """Return the pairs of a query and a key, one query after the other."""
    return sum(k - s + i + 1 for s, k in lengths for i in range(s))


class Attention(NamedTuple):
    rows: int
    pairs: int
    heads: int
    kv_heads: int
    d: int
    dv: int
    keys: int

    @classmethod
    def drawn(cls, draw: Draw, lengths: list[tuple[int, int]], rows: int | None = None) -> Attention:
        kv_heads, tokens = draw(1, 4), sum(s for s, _ in lengths)
        return cls(
            rows or tokens,
            pairs_of(lengths),
            kv_heads * draw(1, 4),
            kv_heads,
            draw(1, 64),
            draw(1, 64),
            sum(k for _, k in lengths),
        )

    @property
    def flops(self) -> int:
        return 2 * self.heads * (self.d + self.dv) * self.pairs

    def moved(self, tokens: int) -> int:
        return 2 * (tokens * self.heads * (self.d + self.dv) + self.keys * self.kv_heads * (self.d + self.dv))

    def qkv(self, rows: int | None = None) -> list[Arg]:
        keys = self.rows if rows is None else rows
        return [
            tensor("bf16", self.rows, self.heads, self.d),
            tensor("bf16", keys, self.kv_heads, self.d),
            tensor("bf16", keys, self.kv_heads, self.dv),
        ]


@rule("vllm::unified_attention_with_output")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    prefill, decode = requests(draw, 90), requests(draw, 1)
    a = Attention.drawn(draw, prefill + decode, 1000)
    out = tensor("bf16", a.rows, a.heads, a.dv)
    step = Step(phase(prefill), phase(decode), a.rows)
    call = op("vllm::unified_attention_with_output", *a.qkv(), out, NONE, step=step)
    return call, a.flops, a.moved(sum(s for s, _ in prefill + decode))


@rule("vllm::unified_mla_attention_with_output")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    decode, heads = requests(draw, 1), draw(1, 16)
    t, keys = len(decode), sum(k for _, k in decode)
    args = [
        tensor("bf16", t, heads, 192),
        tensor("bf16", t, 512),
        tensor("bf16", t, 1, 64),
        tensor("bf16", t, heads * 128),
    ]
    call = op("vllm::unified_mla_attention_with_output", *args, step=Step(Requests(), phase(decode)))
    # Queries meet latent keys of 512 + 64 columns, and weights their first 512.
    return call, 2 * heads * (576 + 512) * pairs_of(decode), 2 * t * heads * (192 + 128) + keys * 576 * 2


@rule("_C::paged_attention_v1")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    prefill, decode = requests(draw, 9), requests(draw, 1)
    a = Attention.drawn(draw, decode)
    q, cache = tensor("bf16", a.rows, a.heads, a.d), tensor("bf16", 999, a.kv_heads, 1, 16, 8)
    call = op("_C::paged_attention_v1", q, q, cache, cache, value(a.kv_heads), step=Step(phase(prefill), phase(decode)))
    return call, 4 * a.heads * a.d * a.pairs, 2 * (2 * a.rows * a.heads * a.d + 2 * a.keys * a.kv_heads * a.d)


@rule("_C::paged_attention_v2")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    decode = requests(draw, 1)
    a = Attention.drawn(draw, decode)
    q, cache = tensor("bf16", a.rows, a.heads, a.d), tensor("bf16", 999, a.kv_heads, 1, 16, 8)
    work = [tensor("fp32", 9)] * 3
    step = Step(Requests(), phase(decode))
    call = op("_C::paged_attention_v2", q, *work, q, cache, cache, value(a.kv_heads), step=step)
    return call, 4 * a.heads * a.d * a.pairs, 2 * (2 * a.rows * a.heads * a.d + 2 * a.keys * a.kv_heads * a.d)


@rule("aiter::paged_attention_ragged")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    decode = requests(draw, 1)
    a = Attention.drawn(draw, decode)
    out = tensor("bf16", a.rows, a.heads, a.dv)
    call = op(
        "aiter::paged_attention_ragged", out, tensor("fp32", 9), *a.qkv(9999), step=Step(Requests(), phase(decode))
    )
    return call, a.flops, a.moved(a.rows)


def of_equal_lengths(name: str, place: int, *more: tuple[int, Arg], step: bool = False, pool: bool = False) -> None:
    """Add the case of n causal sequences of m rows: the offsets are the argument at `place`; "n", "m" are filled in."""

    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        n, m = draw(1, 9), draw(2, 90)
        a = Attention.drawn(draw, [(m, m)] * n)
        args = pad(a.qkv(9999 if pool else None), place, tensor("int32", n + 1))
        for at, arg in more:
            args = pad(args[:at], at, arg._replace(value=str(m)) if arg.value == "m" else arg)
        given = Step(phase([(m, m)] * n), Requests()) if step else None
        return op(name, *args, step=given), a.flops, a.moved(n * m)


LONGEST: Final = value("m")
CAUSAL: Final = value("True")
FULL: Final = value(-1)
of_equal_lengths(
    "flash_attn::_flash_attn_varlen_forward", 3, (5, LONGEST), (6, LONGEST), (9, CAUSAL), (10, FULL), (11, FULL)
)
of_equal_lengths("flash_attn_3::fwd", 7, (12, LONGEST), (13, LONGEST), (24, CAUSAL), (25, FULL), (26, FULL))
of_equal_lengths("xformers_flash::flash_fwd", 3, (6, LONGEST), (7, LONGEST), (10, CAUSAL), (11, FULL), (12, FULL))
of_equal_lengths("aten::_flash_attention_forward", 3, (5, LONGEST), (6, LONGEST), (8, CAUSAL))
of_equal_lengths("aten::_efficient_attention_forward", 4, (6, LONGEST), (7, LONGEST), (9, value(1)))
of_equal_lengths("aiter::mha_varlen_fwd", 3, (5, LONGEST), (6, LONGEST), (12, CAUSAL), (13, FULL), (14, FULL))
of_equal_lengths(
    "aiter::mha_batch_prefill", 3, (6, LONGEST), (7, LONGEST), (12, CAUSAL), (13, FULL), (14, FULL), pool=True
)
of_equal_lengths(
    "_vllm_fa2_C::varlen_fwd", 4, (6, tensor("int32", 3)), (8, tensor("int32", 3, 9)), step=True, pool=True
)


def of_a_batch(name: str, causal: int) -> None:
    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        b, s, h, kv, d, window = draw(1, 4), draw(2, 90), 4 * draw(1, 4), 4, draw(1, 64), draw(1, 99)
        args = [tensor("bf16", b, s, h, d), tensor("bf16", b, s, kv, d), tensor("bf16", b, s, kv, d)]
        args = pad(args, causal, CAUSAL, value(window), value(0))
        # Query i sees its own key and `window` keys before it.
        pairs = b * sum(min(i, window) + 1 for i in range(s))
        return op(name, *args), 4 * h * d * pairs, 2 * 2 * b * s * d * (h + kv)


of_a_batch("flash_attn::_flash_attn_forward", 5)
of_a_batch("aiter::mha_fwd", 5)


def backward(name: str, *, out: int, lse: int, causal: int, lengths: int | None = None, longest: int = 0) -> None:
    @rule(name)
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        n, m = draw(1, 4), draw(2, 90)
        a = Attention.drawn(draw, [(m, m)] * n)
        outputs, rows = tensor("bf16", n * m, a.heads, a.dv), tensor("fp32", a.heads, n * m)
        q, k, v = a.qkv()
        if lengths is None:
            outputs, q, k, v = (Arg([n, m, *arg.dims[1:]], arg.type) for arg in (outputs, q, k, v))
        by_place = {0: outputs, 1: q, 2: k, 3: v, out: outputs, lse: rows, causal: CAUSAL}
        if lengths is not None:
            by_place |= {lengths: tensor("int32", n + 1), longest: value(m), longest + 1: value(m)}
        args = [by_place.get(place, NONE) for place in range(max(by_place) + 1)]
        # Five products: Q K, and the gradients of Q, K, V and P.
        flops = 2 * a.heads * (3 * a.d + 2 * a.dv) * a.pairs
        once = n * m * (a.heads * a.d + a.kv_heads * (a.d + a.dv))
        return op(name, *args), flops, 2 * (2 * once + 2 * n * m * a.heads * a.dv) + 4 * a.heads * n * m


backward("flash_attn::_flash_attn_backward", out=4, lse=5, causal=11)
backward("flash_attn::_flash_attn_varlen_backward", out=4, lse=5, causal=15, lengths=9, longest=11)
backward("flash_attn_3::bwd", out=4, lse=5, causal=16, lengths=9, longest=13)
backward("aten::_flash_attention_backward", out=4, lse=5, causal=11, lengths=6, longest=8)
backward("aten::_efficient_attention_backward", out=5, lse=10, causal=14, lengths=6, longest=8)


# -- lists of tensors ----------------------------------------------------------------------------------------------


def lists(draw: Draw, count: int, dtype: str = "fp32") -> tuple[list[Arg], int, int]:
    """Return equal lists of tensors, the number of their tensors, and of their elements."""
    sizes = [[draw(1, 9), draw(1, 9)][: draw(0, 2)] for _ in range(draw(1, 12))]
    elements = sum(int(np.prod(each)) for each in sizes)
    return [Arg(sizes, TYPES[dtype])] * count, len(sizes), elements


def for_each(word: str, *, each: int, count: int, options: tuple[Arg, ...] = ()) -> None:
    @rule(f"aten::_foreach_{word}")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        args, _, n = lists(draw, count)
        # All lists are read, and one is written.
        return op(f"aten::_foreach_{word}", *args, *options), each * n, 4 * n * (count + 1)


for_each("add", each=1, count=2, options=(value("1"),))
for_each("sub_", each=1, count=2, options=(value("1"),))
for_each("mul", each=1, count=2)
for_each("div_", each=1, count=1, options=(value("2."),))
for_each("maximum_", each=1, count=2)
for_each("clamp_min_", each=1, count=1, options=(Arg([], "ScalarList", "[0., 1.]"),))
for_each("sqrt", each=1, count=1)
for_each("round_", each=1, count=1)
# exp(-x), 1 +, 1 /, and the negation.
for_each("sigmoid", each=4, count=1)
for_each("addcmul", each=2, count=3, options=(value("1"),))
for_each("addcdiv_", each=3, count=3, options=(Arg([], "ScalarList", "[-0.1, -0.2]"),))
# x + w (y - x).
for_each("lerp", each=3, count=3)
for_each("lerp_", each=3, count=2, options=(value("0.1"),))


def in_place(word: str, *, each: int, count: int, options: tuple[Arg, ...] = ()) -> None:
    @rule(f"aten::{word}_")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        sizes = (draw(1, 9), draw(1, 90))
        args = [tensor("bf16", *sizes)] * count
        n = sizes[0] * sizes[1]
        return op(f"aten::{word}_", *args, *options), each * n, 2 * n * (count + 1)


in_place("addcmul", each=3, count=3, options=(value("0.001"),))
in_place("lerp", each=3, count=2, options=(value("0.1"),))
in_place("clamp_min", each=1, count=1, options=(value("0."),))


def of_tensors(word: str, *, each: int, roots: int, result: str, item: int) -> None:
    @rule(f"aten::_foreach_{word}")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        args, tensors, n = lists(draw, 1, "bf16")
        call = op(f"aten::_foreach_{word}", *args, value("2"), value(result) if result else NONE)
        return call, each * n + roots * tensors, 2 * n + item * tensors


# A square and an addition for each element; ScalarType 6 is fp32.
of_tensors("norm", each=2, roots=1, result="6", item=4)
of_tensors("powsum", each=2, roots=0, result="", item=2)
of_tensors("max", each=1, roots=0, result="", item=2)


@rule("aten::mse_loss_backward")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    n, d = draw(1, 99), draw(1, 99)
    given = [tensor("fp32", n, d)] * 3
    # 2 (x - target) times the gradient.
    return op("aten::mse_loss_backward", *given, value(1)), 3 * n * d, 4 * 4 * n * d


@rule("fbgemm::permute_pooled_embs_auto_grad")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    n, d, tables = draw(1, 99), draw(1, 99), draw(1, 9)
    lists_of_tables = [tensor("int64", tables + 1), tensor("int64", tables)] * 2
    return op("fbgemm::permute_pooled_embs_auto_grad", tensor("fp32", n, d), *lists_of_tables), 0, 2 * 4 * n * d


@rule("aten::_foreach_copy_")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    (given,), _, n = lists(draw, 1)
    return op("aten::_foreach_copy_", given, Arg(given.dims, TYPES["bf16"]), value("False")), 0, (4 + 2) * n


@rule("aten::_foreach_clone")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    args, _, n = lists(draw, 1)
    return op("aten::_foreach_clone", *args, NONE), 0, 8 * n


@rule("aten::_foreach_zero_")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    args, _, n = lists(draw, 1, "bf16")
    return op("aten::_foreach_zero_", *args), 0, 2 * n


@rule("aten::_amp_foreach_non_finite_check_and_unscale_")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    args, _, n = lists(draw, 1, "bf16")
    return op("aten::_amp_foreach_non_finite_check_and_unscale_", *args, tensor("fp32"), tensor("fp32")), n, 4 * n


@rule("aten::_fused_adamw_")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    largest, decay, maximize, scaled = (draw(0, 1) for _ in range(4))
    args, tensors, n = lists(draw, 5, "bf16")
    scale = tensor("fp32") if scaled else NONE
    numbers = [value(word) for word in ("0.001", "0.9", "0.999", "0.01" if decay else "0.", "1e-08")]
    steps, flags = Arg([[]] * tensors, "TensorList"), [value(bool(largest)), value(bool(maximize))]
    args[4] = args[4] if largest else Arg([], "TensorList")
    call = op("aten::_fused_adamw_", *args, steps, *numbers, *flags, scale, scale)
    # m + (1 - b)(g - m): 3; b v + (1 - b) g g: 4; root, quotient, sum; product, quotient, difference.
    each = 3 + 4 + 3 + 3 + 2 * decay + largest + maximize + scaled
    # Four lists are read, three written.
    return call, each * n, 2 * n * (4 + 3 + 2 * largest + scaled)


@rule("aten::_fused_adagrad_")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    decay = draw(0, 1)
    args, tensors, n = lists(draw, 3)
    numbers = [value(word) for word in ("0.01", "0.", "0.1" if decay else "0.", "1e-10", "False")]
    call = op("aten::_fused_adagrad_", *args, Arg([[]] * tensors, "TensorList"), *numbers, NONE, NONE)
    # s + g g: 2; root, sum; product, quotient, difference.
    return call, (2 + 2 + 3 + 2 * decay) * n, 4 * n * (3 + 2)


@rule("aten::_fused_sgd_")
def _(draw: Draw) -> tuple[OpCall, float, float]:
    momentum, decay, dampening, nesterov, first = (draw(0, 1) for _ in range(5))
    args, _, n = lists(draw, 3)
    args[2] = args[2] if momentum else Arg([], "TensorList")
    numbers = ["0.1" if decay else "0.", "0.9" if momentum else "0.", "0.1", "0.5" if dampening else "0."]
    flags = [str(bool(flag)) for flag in (nesterov, 0, first)]
    call = op("aten::_fused_sgd_", *args, *map(value, numbers), *map(value, flags), NONE, NONE)
    each = 2 + 2 * decay + 2 * nesterov + (momentum and not first) * (2 + dampening)
    return call, each * n, 4 * n * (2 + 1 + 2 * momentum)


# -- pooling -------------------------------------------------------------------------------------------------------


def windows(size: int, taps: int, stride: int, edge: int, hole: int = 1, *, ceil: bool = False) -> int:
    """Return how many windows begin at a multiple of the stride, each within the input or its left padding."""
    reach = hole * (taps - 1)
    begins = [start for start in range(-edge, size + edge, stride) if start + reach < size + edge]
    if ceil and begins[-1] + stride < size and begins[-1] + reach < size + edge - 1:
        begins.append(begins[-1] + stride)
    return len(begins)


def adaptive(size: int, results: int) -> int:
    """Return the elements in all windows, counted one by one."""
    return sum(
        1
        for i in range(results)
        for at in range(size)
        if at * results < (i + 1) * size and (at + 1) * results > i * size
    )


def as_list(given: list[int]) -> Arg:
    return Arg([], "ScalarList", str(given))


def pooled(axes: int) -> None:
    @rule(f"aten::max_pool{axes}d_with_indices")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        sides, taps, steps = ([draw(low, high) for _ in range(axes)] for low, high in ((9, 30), (1, 4), (1, 3)))
        hole, ceil, n, c = draw(1, 2), bool(draw(0, 1)), draw(1, 3), draw(1, 5)
        edges = [draw(0, k // 2) for k in taps]
        counts = [windows(*axis, hole, ceil=ceil) for axis in zip(sides, taps, steps, edges, strict=True)]
        results = n * c * int(np.prod(counts))
        args = [tensor("bf16", n, c, *sides), *map(as_list, (taps, steps, edges, [hole] * axes)), value(ceil)]
        flops = (int(np.prod(taps)) - 1) * results
        # Positions of the maxima have eight bytes.
        return op(f"aten::max_pool{axes}d_with_indices", *args), flops, 2 * n * c * int(np.prod(sides)) + 10 * results

    @rule(f"aten::max_pool{axes}d_with_indices_backward")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        made, sides, c = [draw(1, 5) for _ in range(axes)], [draw(6, 9) for _ in range(axes)], draw(1, 5)
        gradient, x = tensor("fp32", c, *made), tensor("fp32", c, *sides)
        call = op(f"aten::max_pool{axes}d_with_indices_backward", gradient, x, *[NONE] * 5, tensor("int64", c, *made))
        results = c * int(np.prod(made))
        return call, results, 12 * results + 4 * c * int(np.prod(sides))

    @rule(f"aten::avg_pool{axes}d")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        side, taps, ceil, c = draw(5, 30), draw(1, 4), bool(draw(0, 1)), draw(1, 5)
        results = c * windows(side, taps, taps, 0, ceil=ceil) ** axes
        # Without a stride it is the size of a window; one number is for all axes.
        args = [tensor("fp32", c, *[side] * axes), as_list([taps]), as_list([]), as_list([0]), value(ceil)]
        moved = 4 * (c * side**axes + results)
        return op(f"aten::avg_pool{axes}d", *args, value("True"), NONE), taps**axes * results, moved

    @rule(f"aten::avg_pool{axes}d_backward")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        made, taps, c = draw(1, 9), draw(1, 4), draw(1, 5)
        x = tensor("fp32", c, *[made * taps] * axes)
        call = op(f"aten::avg_pool{axes}d_backward", tensor("fp32", c, *[made] * axes), x, as_list([taps] * axes))
        results = c * made**axes
        # A division for each result, which each element of its window adds.
        return call, results + c * (made * taps) ** axes, 4 * (results + c * (made * taps) ** axes)

    def drawn(draw: Draw) -> tuple[list[int], list[int], int, int, int, int]:
        sides, made, n = [draw(1, 20) for _ in range(axes)], [draw(1, 20) for _ in range(axes)], draw(1, 4)
        within = n * int(np.prod([adaptive(*axis) for axis in zip(sides, made, strict=True)]))
        return sides, made, n, within, n * int(np.prod(sides)), n * int(np.prod(made))

    @rule(f"aten::_adaptive_avg_pool{axes}d")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        sides, made, n, within, read, results = drawn(draw)
        call = op(f"aten::_adaptive_avg_pool{axes}d", tensor("fp32", 1, n, *sides), as_list(made))
        return call, within, 4 * (read + results)

    @rule(f"aten::_adaptive_avg_pool{axes}d_backward")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        sides, made, n, within, read, results = drawn(draw)
        call = op(f"aten::_adaptive_avg_pool{axes}d_backward", tensor("fp32", n, *made), tensor("fp32", n, *sides))
        return call, within + results, 4 * (read + results)

    @rule(f"aten::adaptive_max_pool{axes}d")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        sides, made, n, within, read, results = drawn(draw)
        call = op(f"aten::adaptive_max_pool{axes}d", tensor("fp32", n, *sides), as_list(made))
        return call, within - results, 4 * read + 12 * results

    @rule(f"aten::adaptive_max_pool{axes}d_backward")
    def _(draw: Draw) -> tuple[OpCall, float, float]:
        sides, made, n, _, read, results = drawn(draw)
        args = [tensor("fp32", n, *made), tensor("fp32", n, *sides), tensor("int64", n, *made)]
        return op(f"aten::adaptive_max_pool{axes}d_backward", *args), results, 12 * results + 4 * read


pooled(2)
pooled(3)


# -- all of them ---------------------------------------------------------------------------------------------------


def test_lists_of_scales_have_no_dtype_so_the_bytes_of_a_scaled_product_are_a_lower_bound() -> None:
    call, _, _ = CASES["aten::_scaled_mm_v2"](drawing(1))
    work = known(call)
    assert (work.flops_are, work.bytes_are) == (Certainty.EXACT, Certainty.AT_LEAST)
    assert work.bytes_rule.endswith("(lower bound: lists of scales have no dtype)")


ENTRIES: Final = toml.parse(toml.packaged(rules.__file__, "rules.toml"))["rules"]


def drawing(seed: int) -> Draw:
    generator = np.random.default_rng(seed)
    return lambda low, high: int(generator.integers(low, high, endpoint=True))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CASES)
def test_the_work_of_an_operation_is_what_its_sizes_say(name: str, seed: int) -> None:
    call, flops, moved = CASES[name](drawing(seed))
    work = known(call)
    assert (work.flops, work.bytes) == (flops, moved)
    assert work.rule.startswith("built-in: ")
    assert work.bytes_rule.startswith("built-in: ")


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("_C::cutlass_scaled_mm", "fp8"),
        ("_C::cutlass_scaled_mm_azp", "int8"),
        ("_C::cutlass_scaled_fp4_mm", "fp4"),
        ("_C::cutlass_moe_mm", "fp8"),
        ("_C::marlin_gemm", "bf16"),
        ("_C::awq_gemm", "bf16"),
        ("aten::_scaled_mm_v2", "fp4"),
        ("aten::_scaled_grouped_mm", "fp8"),
        ("aiter::gemm_a8w8_bpreshuffle", "fp8"),
        ("aiter::gemm_a4w4_blockscale", "fp4"),
        ("aiter::batched_gemm_a8w8_CK", "int8"),
        ("aiter::fmoe_g1u1", "fp8"),
        ("sgl_kernel::bmm_fp8", "fp8"),
        ("tex_ts::te_gemm_ts", "bf16"),
        ("vllm::inplace_fused_experts", "bf16"),
        ("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel_12", "bf16"),
        ("_C::rms_norm_static_fp8_quant", "fp8"),
    ],
)
def test_a_product_is_judged_by_the_roof_of_its_left_operand_and_not_of_its_result(name: str, precision: str) -> None:
    call, _, _ = CASES[name](drawing(3))
    assert WorkTable([call]).precision.at(0) == precision


def test_a_scan_of_a_server_writes_the_state_of_each_sequence_and_may_read_it() -> None:
    # 3 sequences of 40 rows in all, 8 channels, 16 states; D and z are given.
    u, small = tensor("fp32", 8, 40), tensor("fp32", 1, 16, 40)
    args = [u, u, tensor("fp32", 8, 16), small, small, tensor("fp32", 8), u, NONE, value("True")]
    offsets, states = tensor("int32", 4), tensor("fp32", 100, 8, 16)
    moved = 4 * (4 * 320 + 128 + 2 * 640 + 8)
    fresh = known(op("_C::selective_scan_fwd", *args, offsets, tensor("int32", 3), NONE, states))
    assert (fresh.flops, fresh.bytes, fresh.bytes_are) == (
        9 * 320 * 16 + 2 * 320,
        moved + 4 * 3 * 8 * 16,
        Certainty.EXACT,
    )
    with_initial = Arg([3], "bool")
    later = known(op("_C::selective_scan_fwd", *args, offsets, tensor("int32", 3), with_initial, states))
    assert (later.bytes, later.bytes_are) == (fresh.bytes, Certainty.AT_LEAST)
    assert "which sequences continue is on the device" in later.bytes_rule
    unknown = known(op("_C::selective_scan_fwd", *args, NONE, tensor("int32", 3), NONE, states))
    assert (unknown.flops, unknown.bytes) == (fresh.flops, None)


def test_transformer_engine_has_its_fp8_operands_as_bytes() -> None:
    call, flops, _ = CASES["tex_ts::te_gemm_ts"](drawing(3))
    types = [TYPES["uint8"] if kind == TYPES["bf16"] and at < 10 else kind for at, kind in enumerate(call.types or ())]
    table = WorkTable([replace(call, types=types)])
    assert (table.precision.at(0), table.flops[0]) == ("fp8", flops)


def test_there_is_a_case_for_each_rule() -> None:
    assert len(CASES) > 80
    without = [
        entry["names"]
        for entry in ENTRIES
        if entry["work"].get("op") != "unknown"
        and not any(fnmatchcase(name, pattern) for name in CASES for pattern in entry["names"])
    ]
    # It has no numbers of its own, see below.
    assert without == [["vllm::moe_forward", "vllm::moe_forward_shared"]]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["names"][0])
def test_each_name_of_a_rule_has_its_work_and_each_rule_a_source(entry: dict[str, Any]) -> None:
    assert entry["source"]
    if entry["work"].get("op") == "unknown":
        return
    name = next((name for name in CASES if any(fnmatchcase(name, pattern) for pattern in entry["names"])), None)
    if name is None:
        return
    call, flops, moved = CASES[name](drawing(7))
    for other in entry["names"]:
        same = known(OpCall(other.replace("*", "x"), call.dims, call.types, call.values, call.step))
        assert (same.flops, same.bytes) == (flops, moved)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e["work"].get("op") == "unknown"], ids=lambda e: e["names"][0])
def test_what_nobody_can_know_says_what_is_missing(entry: dict[str, Any]) -> None:
    work = known(op(entry["names"][0].replace("*", ""), tensor("bf16", 8, 8), tensor("bf16", 8, 8)))
    assert not work.is_known
    assert work.missing == entry["missing"]
    assert work.rule.startswith("unknown: built-in: ")


def test_opaque_experts_name_the_numbers_that_only_a_person_knows() -> None:
    work = known(op("vllm::moe_forward", tensor("bf16", 8192, 3072), tensor("bf16", 8192, 32)))
    assert (work.flops, work.bytes) == (None, None)
    assert "active (experts of a token), ffn" in work.missing


SIZES: Final[list[Any]] = [[], [0], [1], [8], [4, 8], [8, 8], [2, 4, 8], [2, 4, 8, 16]]
NO_SIZES: Final[list[Any]] = [
    "x",
    None,
    3,
    [1] * 65,
    [[1, 2], [3]],
    ["a"],
    [-1, 4],
    [True],
    [10**30, 2],
    [2**62, 4],
    [1.5],
]
JUNK_VALUES: list[str] = ["", "1", "0", "-1", "True", "[1, 2]", "1e400", "nan", "x" * 100, "9" * 30, "0.5", "128"]
JUNK_VALUES += ["--5", "٣", "1e3000000"]
JUNK_STEPS: Final = [
    None,
    Step(Requests(2, 4, 9, 8, 20), Requests(1, 1, 5, 1, 5)),
    Step(Requests(2, 4, None, None, None), Requests(3, 3, None, None, None)),
    Step(Requests(), Requests()),
    Step(Requests(2, 9999, 0, 9999**2, 0), Requests()),
    Step(Requests(2, 10**18, 10**18, 10**18, 10**18), Requests()),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["names"][0])
def test_no_arguments_break_a_rule(entry: dict[str, Any]) -> None:
    draw = drawing(len(entry["source"]))

    def one(junk: list[Any]) -> Any:
        return junk[draw(0, len(junk) - 1)]

    for _ in range(200):
        count = draw(0, 18)
        types = [one([*TYPES.values(), "Scalar", "", "weird", None]) for _ in range(count)]
        values = [one(JUNK_VALUES) for _ in range(count)]
        dims = [one([*SIZES, *NO_SIZES]) for _ in range(count)]
        name = entry["names"][0].replace("*", "x")
        work = work_of(OpCall(name, dims, one([types, None]), one([values, None]), one(JUNK_STEPS)))
        for number in () if work is None else (work.flops, work.bytes):
            assert number is None or 0 <= float(number) < np.inf


def test_a_whole_number_that_pytorch_writes_with_a_point_is_a_number() -> None:
    given = [rules.WorkRules({"mine::scaled": {"flops": "dims[0][0] * value[1]"}})]
    work = work_of(op("mine::scaled", tensor("bf16", 8), value("2.")), given)
    assert work is not None
    assert work.flops == 16


# -- bounds --------------------------------------------------------------------------------------------------------


def varlen(rows: int, n: int, longest: int, causal: str = "True", **more: Arg) -> OpCall:
    q = tensor("bf16", rows, 16, 64)
    places = {5: value(longest), 6: value(longest), 9: value(causal)} | {int(k[1:]): v for k, v in more.items()}
    args = [q, q, q, tensor("int32", n + 1)]
    return op("flash_attn::_flash_attn_varlen_forward", *args, *(places.get(place, NONE) for place in range(4, 18)))


def test_sequences_of_unknown_lengths_have_at_least_the_pairs_of_equal_ones_and_both_bounds_are_named() -> None:
    # 3000 rows in 3 sequences, the longest 2000. Least: 2000, 500, 500; most: 2000, 999, 1.
    work = known(varlen(3000, 3, 2000))
    assert work.flops == 4 * 16 * 64 * 2_251_500
    assert work.flops_are is Certainty.AT_LEAST
    assert "P = 2251500: 3 sequences of 3000 rows in all, the longest 2000" in work.rule
    assert "(lower bound: lengths unknown; at most 2500501, 1.11 times as many)" in work.rule
    assert work.bytes_are is Certainty.EXACT


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_the_true_pairs_are_between_the_bounds(*, seed: int, causal: bool) -> None:
    draw = drawing(seed)
    lengths = [draw(1, 60) for _ in range(draw(1, 7))]
    work = known(varlen(sum(lengths), len(lengths), max(lengths), str(causal)))
    pairs = sum(s * (s + 1) // 2 if causal else s * s for s in lengths)
    assert work.flops is not None
    most = int(work.rule.partition("at most ")[2].partition(")")[0].partition(",")[0] or work.flops // (4 * 16 * 64))
    assert work.flops <= 4 * 16 * 64 * pairs <= 4 * 16 * 64 * most
    if len(lengths) == 1 or set(lengths) == {max(lengths)}:
        assert work.flops == 4 * 16 * 64 * pairs
        assert work.flops_are is Certainty.EXACT


@pytest.mark.parametrize(
    "call",
    [
        varlen(3000, 3, 2000, p15=tensor("int32", 3, 9)),
        varlen(3000, 3, 2000, p17=tensor("int32", 3)),
        varlen(3000, 3, 2000, p6=value(4000)),
        varlen(3000, 3, 2000, p10=value(128), p11=value(0)),
        varlen(3000, 3, 999),
        varlen(3000, 0, 2000),
        op("vllm::unified_attention_with_output", *[tensor("bf16", 8, 4, 64)] * 4),
        op("_C::paged_attention_v1", *[tensor("bf16", 8, 4, 64)] * 4, value(4)),
    ],
)
def test_keys_that_are_in_no_trace_leave_flops_unknown(call: OpCall) -> None:
    work = known(call)
    assert work.flops is None
    assert work.missing


def test_a_prefill_without_sums_has_at_least_the_pairs_of_equal_lengths() -> None:
    q = tensor("bf16", 10, 4, 64)
    step = Step(Requests(3, 10, None, None, None), Requests())
    work = known(op("vllm::unified_attention_with_output", q, q, q, q, step=step))
    # Of 3, 3 and 4 tokens: 6 + 6 + 10 pairs.
    assert (work.flops, work.flops_are) == (4 * 4 * 64 * 22, Certainty.AT_LEAST)


def test_a_prefill_with_the_squares_of_its_lengths_has_at_least_the_pairs_of_its_own_tokens() -> None:
    q = tensor("bf16", 10, 4, 64)
    step = Step(Requests(2, 10, None, 8**2 + 2**2, None), Requests())
    work = known(op("vllm::unified_attention_with_output", q, q, q, q, step=step))
    # Of 8 and 2 tokens: 36 + 3 pairs.
    assert (work.flops, work.flops_are) == (4 * 4 * 64 * 39, Certainty.AT_LEAST)


def test_a_decode_without_sums_is_unknown() -> None:
    q = tensor("bf16", 10, 4, 64)
    step = Step(Requests(), Requests(10, 10, None, None, None))
    assert known(op("vllm::unified_attention_with_output", q, q, q, q, step=step)).flops is None


def test_attention_of_a_step_says_that_a_window_would_be_less() -> None:
    draw = drawing(0)
    call, _, _ = CASES["vllm::unified_attention_with_output"](draw)
    work = known(call)
    assert "without a sliding window (at most: a window would be less)" in work.rule
    assert work.assumed is not None
    assert "sliding window" in work.assumed.value


def test_weights_of_experts_may_have_n_and_k_in_both_orders() -> None:
    def call(*weight: int) -> OpCall:
        scales = tensor("fp32", 9), tensor("fp32", 4)
        return op("_C::cutlass_moe_mm", tensor("bf16", 9, 20), tensor("fp8", 9, 30), tensor("fp8", *weight), *scales)

    for weight in ((4, 20, 30), (4, 30, 20)):
        work = known(call(*weight))
        assert (work.flops, work.flops_are) == (2 * 9 * 20 * 30, Certainty.ESTIMATE)
    assert known(call(4, 30, 30)).flops is None


def test_groups_that_may_be_empty_are_an_estimate_and_a_batch_of_products_is_exact() -> None:
    a, b, offsets = tensor("bf16", 8, 4), tensor("bf16", 3, 4, 5), tensor("int32", 3)
    shared = known(op("aten::_grouped_mm", a, b, offsets))
    assert (shared.flops_are, shared.bytes_are) == (Certainty.ESTIMATE, Certainty.ESTIMATE)
    batch = known(op("aten::_grouped_mm", tensor("bf16", 3, 8, 4), b))
    assert (batch.flops, batch.flops_are, batch.bytes_are) == (2 * 3 * 8 * 4 * 5, Certainty.EXACT, Certainty.EXACT)


def test_rotary_embedding_without_a_recorded_size_of_a_head_is_unknown_unless_heads_have_an_axis() -> None:
    flat = [tensor("int64", 10), tensor("bf16", 10, 4096), tensor("bf16", 10, 1024), NONE, tensor("bf16", 99, 128)]
    assert known(op("_C::rotary_embedding", *flat)).flops is None
    with_heads = [flat[0], tensor("bf16", 10, 32, 128), tensor("bf16", 10, 8, 128), *flat[3:]]
    assert known(op("_C::rotary_embedding", *with_heads)).flops == 3 * 10 * 40 * 128


# -- steps, and what the call itself recorded ------------------------------------------------------------------------


def fa2(*, causal: str, left: int, right: int, table: bool = True, rows: int = 2000, keys: int | None = None) -> OpCall:
    """Return a call over a cache of pages, or without a table of pages over the keys of its own arguments."""
    q, k = tensor("bf16", rows, 32, 128), tensor("bf16", *([keys] if keys else [999, 16]), 8, 128)
    places = {4: tensor("int32", 2), 15: value(causal), 16: value(left), 17: value(right)}
    if table:
        places |= {6: tensor("int32", 1), 8: tensor("int32", 1, 9)}
    args = [q, k, k, q, *(places.get(place, NONE) for place in range(4, 18))]
    # One request of 2000 queries after 1001 keys: 2000 x 3001 - 2000 x 1999 / 2 pairs.
    step = Step(Requests(1, 2000, 3001, 2000**2, 2000 * 3001), Requests())
    return op("_vllm_fa2_C::varlen_fwd", *args, step=step)


PAIRS_OF_STEP: Final = 2000 * 3001 - 2000 * 1999 // 2


def test_a_call_without_a_window_has_all_pairs_of_its_step_and_assumes_nothing() -> None:
    work = known(fa2(causal="True", left=-1, right=-1))
    assert (work.flops, work.flops_are, work.assumed) == (4 * 32 * 128 * PAIRS_OF_STEP, Certainty.EXACT, None)
    assert "no window by the call" in work.rule


def test_the_window_that_a_call_recorded_limits_the_pairs_of_its_step() -> None:
    work = known(fa2(causal="True", left=127, right=0))
    # Each of the queries sees 128 keys, itself among them: all have 1001 keys before them.
    exactly, least = 2000 * 128, 2000 * 128 - 128 * 127 // 2
    assert work.flops is not None
    assert 4 * 32 * 128 * least <= work.flops <= 4 * 32 * 128 * exactly
    assert work.flops_are is Certainty.AT_LEAST
    assert work.assumed is None
    assert "window 128" in work.rule


def test_a_call_that_is_not_causal_has_other_pairs_than_its_step() -> None:
    work = known(fa2(causal="False", left=-1, right=-1))
    assert work.flops is None
    assert "not causal" in work.missing


def test_a_call_that_reads_no_cache_has_the_pairs_of_its_own_sequences() -> None:
    q, k = tensor("bf16", 2000, 16, 192), tensor("bf16", 4000, 16, 192)
    v = tensor("bf16", 4000, 16, 128)
    places = {3: tensor("int32", 2), 4: tensor("int32", 2), 5: value(2000), 6: value(4000), 9: value("False")}
    args = [q, k, v, *(places.get(place, NONE) for place in range(3, 12))]
    step = Step(Requests(1, 2000, 10_000, 2000**2, 2000 * 10_000), Requests())
    work = known(op("flash_attn::_flash_attn_varlen_forward", *args, step=step))
    # One sequence: 2000 queries see 4000 keys of its context.
    assert work.flops == 2 * 16 * (192 + 128) * 2000 * 4000 == 81_920_000_000
    assert work.flops_are is Certainty.EXACT


def test_a_decode_rule_counts_only_decodes_even_without_sums() -> None:
    q, cache = tensor("bf16", 99, 8, 64), tensor("bf16", 999, 8, 8, 16, 8)
    step = Step(Requests(3, 90, None, None, None), Requests(9, 9, None, None, None))
    work = known(op("_rocm_C::paged_attention", q, *[tensor("fp32", 9)] * 3, q, cache, cache, value(8), step=step))
    assert work.flops is None


@pytest.mark.parametrize("seed", range(40))
def test_a_window_leaves_the_pairs_that_counting_one_by_one_finds(seed: int) -> None:
    draw = drawing(seed)
    queries, keys, left, right, causal = draw(1, 40), draw(1, 40), draw(-1, 50), draw(-1, 50), draw(0, 1)
    q, k = tensor("bf16", 1, queries, 1, 1), tensor("bf16", 1, keys, 1, 1)
    call = op("flash_attn::_flash_attn_forward", q, k, k, NONE, NONE, value(bool(causal)), value(left), value(right))

    def sees(query: int, key: int) -> bool:
        own = query + keys - queries
        after = own if causal else own + right if right >= 0 else keys
        return (left < 0 or key >= own - left) and key <= after

    assert known(call).flops == 4 * sum(sees(query, key) for query in range(queries) for key in range(keys))


def test_a_window_over_very_many_rows_takes_no_memory() -> None:
    q = tensor("bf16", 1, 10**12, 1, 1)
    call = op("flash_attn::_flash_attn_forward", q, q, q, NONE, NONE, value("True"), value(9), value(0))
    assert known(call).flops == 4 * (10 * 10**12 - 45)


def test_the_tokens_of_a_prefill_among_themselves_have_the_pairs_of_the_sums_of_their_step() -> None:
    # Of 3 and 7 tokens after contexts that this call does not read: 6 + 28 pairs.
    step = Step(Requests(2, 10, 100, 58, 600), Requests(4, 4, 99, 4, 99))
    work = known(replace(varlen(10, 2, 7), step=step))
    assert (work.flops, work.flops_are) == (4 * 16 * 64 * 34, Certainty.EXACT)


# -- dense calls, windows and more columns of FlashAttention 3 -------------------------------------------------------


def fa3(name: str = "flash_attn_3::fwd", /, *, q_v: Arg = NONE, chunk: int = 0, **places: Arg) -> OpCall:
    q = tensor("bf16", 2, 4096, 32, 128)
    at = {0: q, 1: q, 2: q, 5: q_v, 24: value("True"), 25: value(-1), 26: value(-1), 27: value(chunk)}
    at |= {int(key[1:]): arg for key, arg in places.items()}
    return op(name, *(at.get(place, NONE) for place in range(28)))


def test_a_dense_call_of_flash_attention_3_has_the_pairs_of_its_axes() -> None:
    work = known(fa3())
    assert work.flops == 4 * 2 * 32 * 128 * (4096 * 4097 // 2)
    assert (work.flops_are, work.bytes_are) == (Certainty.EXACT, Certainty.EXACT)
    assert work.bytes == 4 * 2 * 2 * 4096 * 32 * 128
    assert known(fa3(p14=tensor("int32", 2, 9))).flops is None


def test_a_chunked_attention_is_unknown() -> None:
    assert known(fa3(chunk=1024)).flops is None
    assert known(fa3(chunk=0)).flops is not None


def test_absorbed_queries_add_their_columns_to_the_first_product_and_their_bytes() -> None:
    at = {
        0: tensor("bf16", 8, 128, 64),
        1: tensor("bf16", 99, 64, 1, 64),
        2: tensor("bf16", 99, 64, 1, 512),
        5: tensor("bf16", 8, 128, 512),
        7: tensor("int32", 9),
        11: tensor("int32", 8),
        14: tensor("int32", 8, 99),
        24: value("True"),
    }
    args = [at.get(place, NONE) for place in range(28)]
    work = known(op("_vllm_fa3_C::fwd", *args, step=Step(Requests(), Requests(8, 8, 8000, 8, 8000))))
    assert work.flops == 2 * 128 * (64 + 512 + 512) * 8000 == 2_228_224_000
    assert work.bytes == 2 * (8 * 128 * (64 + 512 + 512) + 8000 * (64 + 512))


@pytest.mark.parametrize(
    ("name", "at", "causal", "window"),
    [
        ("flash_attn::_flash_attn_backward", (), 11, 12),
        ("flash_attn_3::bwd", (9, 13, 14), 16, 17),
        ("aten::_flash_attention_backward", (6, 8, 9), 11, 15),
    ],
)
def test_a_window_counts_in_the_backward_pass_too(name: str, at: tuple[int, ...], causal: int, window: int) -> None:
    s, h, d = 4096, 32, 128
    q = tensor("bf16", s, h, d) if at else tensor("bf16", 1, s, h, d)
    places = {**dict.fromkeys((0, 1, 2, 3, 4), q), 5: tensor("fp32", h, s), causal: CAUSAL}
    places |= {window: value(127), window + 1: value(0)}
    if at:
        places |= {at[0]: tensor("int32", 2), at[1]: value(s), at[2]: value(s)}
    work = known(op(name, *(places.get(place, NONE) for place in range(20))))
    assert work.flops == 10 * h * d * sum(min(i, 127) + 1 for i in range(s))


@pytest.mark.parametrize(
    ("name", "lengths", "longest", "causal", "size"),
    [
        ("aten::_efficient_attention_forward", 4, 6, 9, 13),
        ("aten::_efficient_attention_backward", 6, 8, 14, 18),
    ],
)
def test_a_window_of_the_efficient_kernels_is_of_another_form_and_so_unknown(
    *, name: str, lengths: int, longest: int, causal: int, size: int
) -> None:
    q = tensor("bf16", 64, 4, 16)
    places = {**dict.fromkeys((0, 1, 2), q), lengths: tensor("int32", 2), longest: value(64), longest + 1: value(64)}
    if "backward" in name:
        places |= {3: q, 5: q, 10: tensor("fp32", 4, 64)}
    places |= {causal: value(1)}
    call = op(name, *(places.get(place, NONE) for place in range(20)))
    assert known(call).flops is not None
    values = [*(call.values or ())]
    values[size] = "32"
    assert known(replace(call, values=values)).flops is None


BATCH: Final = [tensor("bf16", 2, 30, 6, 16), tensor("bf16", 2, 50, 3, 16), tensor("bf16", 2, 50, 3, 8)]
HEADS_FIRST: Final = [tensor("bf16", 2, 6, 30, 16), tensor("bf16", 2, 3, 50, 16), tensor("bf16", 2, 3, 50, 8)]
FLAT: Final = [tensor("bf16", 30, 96), tensor("bf16", 30, 48), tensor("bf16", 30, 48), tensor("bf16", 30, 96)]
QKV: Final = {"op": "attention", "q": 0, "k": 1, "v": 2}


@pytest.mark.parametrize(
    ("args", "keys", "pairs", "columns", "moved"),
    [
        # All pairs; the last of 30 queries sees 50 keys, the first 21; keys and queries the other way round.
        (BATCH, {}, 2 * 1500, 6 * 24, 2 * 2 * (30 * 6 * 24 + 50 * 3 * 24)),
        (BATCH, {"causal": True}, 2 * 1065, 6 * 24, 2 * 2 * (30 * 6 * 24 + 50 * 3 * 24)),
        (HEADS_FIRST, {"layout": "bhsd", "causal": True}, 2 * 1065, 6 * 24, 2 * 2 * (30 * 6 * 24 + 50 * 3 * 24)),
        ([BATCH[1], BATCH[0], BATCH[0]], {"causal": True}, 2 * 465, 3 * 32, 2 * 2 * (50 * 3 * 32 + 30 * 6 * 32)),
        # Typed pairs and rows of keys.
        (FLAT, {"pairs": "dims[0][0] * 7", "keys": 99}, 210, 192, 2 * (30 * 192 + 99 * 96)),
        (FLAT, {"pairs": 210, "keys": 99, "out": 3}, 210, 192, 2 * (30 * 192 + 99 * 96)),
        (FLAT, {"pairs": 210, "keys": 99, "out_columns": 10, "kv_columns": 20}, 210, 106, 2 * (30 * 106 + 99 * 20)),
    ],
)
def test_attention_has_the_rows_and_columns_of_its_tensors(
    *, args: list[Arg], keys: dict[str, Any], pairs: int, columns: int, moved: int
) -> None:
    work = work_of(op("mine::attention", *args), [rules.WorkRules({"mine::attention": QKV | keys})])
    assert work is not None
    assert (work.flops, work.bytes) == (2 * columns * pairs, moved)


# -- numbers of references -----------------------------------------------------------------------------------------

STEP: Final = Step(Requests(9, 8155, 8430, 7475785, 7671310), Requests(37, 37, 34489, 37, 34489), 8192)


def rows(*sizes: int) -> Arg:
    return tensor("bf16", *sizes)


@pytest.mark.parametrize(
    ("call", "flops", "moved"),
    [
        (
            op(
                "vllm::unified_attention_with_output",
                rows(8192, 64, 64),
                *[rows(8192, 8, 64)] * 2,
                rows(8192, 64, 64),
                step=STEP,
            ),
            65_076_985_856,
            222_115_840,
        ),
        (
            op("aiter::rmsnorm2d_fwd_with_add_ck", *[rows(8192, 2880)] * 4, rows(2880), value("1e-05")),
            5 * 8192 * 2880 + 3 * 8192,
            188_749_440,
        ),
        (op("vllm::rocm_unquantized_gemm", rows(46, 2880), rows(201_088, 2880), NONE), 53_280_276_480, 1_177_031_936),
        (op("sgl_kernel::silu_and_mul", rows(15_360, 12_288), rows(15_360, 24_576)), 1_132_462_080, 1_132_462_080),
        (
            op("sglang::store_cache", *[rows(15_360, 1024)] * 2, *[rows(835_874, 1024)] * 2, tensor("int64", 15_360)),
            0,
            125_952_000,
        ),
        (
            op(
                "aiter::mha_batch_prefill",
                rows(15_360, 32, 128),
                *[rows(835_874, 8, 128)] * 2,
                *[tensor("int32", 16)] * 2,
                tensor("int32", 15_616),
                value(1024),
                value(1024),
                *[value(0)] * 3,
                value("False"),
                value("True"),
                value(-1),
                value(-1),
            ),
            128_974_848_000,
            314_572_800,
        ),
        (
            op("aten::_grouped_mm", rows(4096, 2048), rows(8, 2048, 1024), tensor("int32", 8)),
            2 * 4096 * 2048 * 1024,
            58_720_288,
        ),
        (
            op(
                "vllm::unified_attention_with_output",
                rows(2, 32, 128),
                *[rows(2, 8, 128)] * 2,
                rows(2, 32, 128),
                step=Step(Requests(), Requests(2, 2, 3000, 2, 3000), 2),
            ),
            49_152_000,
            12_320_768,
        ),
    ],
    ids=lambda given: given.name if isinstance(given, OpCall) else None,
)
def test_known_numbers_of_real_traces(call: OpCall, flops: int, moved: int) -> None:
    work = known(call)
    assert (work.flops, work.bytes) == (flops, moved)


# The names that the schemas of PyTorch give to what a key of a rule or of a formula points at.
ARGUMENT_NAMES: Final[dict[str, set[str]]] = {
    "q": {"query"},
    "k": {"key"},
    "v": {"value"},
    "out": {"out"},
    "gradient": {"grad_out", "grad_out_", "grad_output"},
    "lse": {"logsumexp"},
    "lengths": {"cum_seq_q", "cu_seqlens_q"},
    "longest": {"max_q", "max_seqlen_q"},
    "longest_keys": {"max_k", "max_seqlen_k"},
    "causal": {"is_causal", "custom_mask_type"},
    "window": {"window_size_left", "window_size_right"},
    "other_mask": {"window_size"},
    "cached": {"seqused_k", "seqlen_k"},
    "a": {"self"},
    "b": {"mat2"},
    "x": {"input", "self"},
    "weight": {"weight"},
    "bias": {"bias", "weight"},
    "scales": {"scale_a", "scale_b"},
    "offsets": {"offs"},
    "result": {"out_dtype", "dtype"},
    "read": {
        "grad_output",
        "target",
        *("mean", "rstd", "weight", "save_mean", "save_var", "save_invstd"),
        *("self", "other", "exponent", "tensor1", "tensor2", "tensors1", "weights", "src", "end", "min", "max"),
    },
    "written": {"self"},
    "factor": {"alpha", "value"},
    "gradients": {"grads"},
    "moments": {"exp_avgs", "exp_avg_sqs", "state_sums", "momentum_buffer_list"},
    "largest_moments": {"max_exp_avg_sqs"},
    "decay": {"weight_decay"},
    "gradient_scale": {"grad_scale"},
    "first_step": {"is_first_step"},
    "ceil": {"ceil_mode"},
    **{word: {word} for word in ("maximize", "dampening", "nesterov", "indices", "output_size")},
    **{word: {word} for word in ("kernel_size", "stride", "padding", "dilation")},
}
OF_PYTORCH: Final = [
    *((name, entry["work"]) for entry in ENTRIES for name in entry["names"] if name.startswith("aten::")),
    *((name, getattr(formula, "keywords", {})) for name, formula in FORMULAS.items() if "norm_backward" in name),
]


@pytest.mark.parametrize(("name", "keys"), OF_PYTORCH, ids=[name for name, _ in OF_PYTORCH])
def test_positions_of_arguments_are_those_of_the_schemas_of_pytorch(name: str, keys: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    schemas = torch._C._jit_get_schemas_for_operator(name)
    if not schemas:
        pytest.skip(f"PyTorch {torch.__version__} has no {name}")
    # Operations on lists of tensors have a list, or a number in its place; both have the same options.
    found_names = {schema.overload_name: [one.name for one in schema.arguments] for schema in schemas}
    arguments = next(found_names[word] for word in ("", "List", "Scalar") if word in found_names)
    wrong = {}
    for key, given in keys.items():
        if key in ARGUMENT_NAMES and given is not None:
            found = {arguments[place] for place in (given if isinstance(given, (list, tuple)) else [given])}
            if not found <= ARGUMENT_NAMES[key]:
                wrong[key] = found
    assert not wrong
