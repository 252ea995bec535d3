"""Reading HLO text: shapes as printed, and FLOPs only if the shapes are enough."""

from __future__ import annotations

import pytest

from roofwidget.readers.xprof.hlo import ArrayShape, call_work, instruction

BIG = 10**15 - 1


def call(target: str, operands: str, results: str, attributes: str = "") -> str:
    return f'%c.1 = {results} custom-call({operands}), custom_call_target="{target}"{attributes}'


def flops(line: str) -> int | None:
    parsed = instruction(line)
    assert parsed is not None
    done = call_work(parsed)
    return done.flops if done else None


def test_a_matrix_product_is_two_m_n_k_and_its_bytes_are_operands_and_output_without_scratch() -> None:
    line = call("__cublas$gemm", "bf16[640,96]{1,0} %a, bf16[96,320]{1,0} %b", "(bf16[640,320]{1,0}, s8[4096]{0})")
    parsed = instruction(line)
    assert parsed is not None
    done = call_work(parsed)
    assert done is not None
    assert done.flops == 2 * 640 * 320 * 96
    assert done.bytes == 2 * (640 * 96 + 96 * 320 + 640 * 320)
    assert (done.precision, done.rule) == ("bf16", "2 x 204800 outputs x 96 (K) of __cublas$gemm")


@pytest.mark.parametrize(
    ("left", "right", "out"),
    [
        ("[640,96]", "[96,320]", "[640,320]"),
        ("[96,640]", "[96,320]", "[640,320]"),
        ("[96,640]", "[320,96]", "[640,320]"),
        ("[640,96]", "[320,96]", "[320,640]"),
        ("[5,128,96]", "[96,320]", "[5,128,320]"),
    ],
)
def test_the_depth_follows_from_the_sizes_however_the_factors_lie(left: str, right: str, out: str) -> None:
    assert flops(call("__cublas$gemm", f"f32{left} %a, f32{right} %b", f"f32{out}")) == 2 * 640 * 320 * 96


def test_a_batch_of_products_counts_its_depth_once_for_each() -> None:
    line = call("__cublas$gemm", "f16[6,2,64,48] %a, f16[6,2,48,80] %b", "f16[6,2,64,80]")
    assert flops(line) == 2 * 12 * 64 * 80 * 48


def test_dimension_numbers_go_before_sizes() -> None:
    config = ', backend_config={"dot_dimension_numbers":{"lhs_contracting_dimensions":["0","2"]}}'
    line = call("__cublas$lt$matmul", "bf16[4,10,8] %a, bf16[32,7] %b, bf16[7] %bias", "bf16[10,7]", config)
    assert flops(line) == 2 * 70 * 32


@pytest.mark.parametrize(
    ("target", "operands", "out", "filters"),
    [
        ("__cudnn$convForward", "f16[16,28,28,64] %x, f16[96,3,3,64] %w", "(f16[16,28,28,96], u8[9]{0})", "o01i"),
        ("__cudnn$convBackwardInput", "f16[16,28,28,96] %g, f16[96,3,3,64] %w", "(f16[16,28,28,64], u8[9]{0})", "o01i"),
        (
            "__cudnn$convBackwardFilter",
            "f16[16,28,28,64] %x, f16[16,28,28,96] %g",
            "(f16[96,3,3,64], u8[9]{0})",
            "o01i",
        ),
        ("__cudnn$convForward", "f16[16,28,28,64] %x, f16[3,3,64,96] %w", "f16[16,28,28,96]", "01io"),
    ],
)
def test_a_convolution_and_its_gradients_are_two_outputs_filter_elements(
    target: str, operands: str, out: str, filters: str
) -> None:
    line = call(target, operands, out, f", dim_labels=b01f_{filters}->b01f")
    assert flops(line) == 2 * (16 * 28 * 28 * 96) * (3 * 3 * 64)


@pytest.mark.parametrize(
    "line",
    [
        call("__cublas$lt$groupedMatmul", "bf16[512,128] %a, bf16[4,128,256] %b, s64[4] %n", "bf16[512,256]"),
        call("tpu_custom_call", "bf16[512,128] %q, bf16[512,128] %k", "bf16[512,128]"),
        call("__cublas$gemm", "f32[7,5] %a, f32[5,3] %b", "f32[7,4]"),
        call("__cublas$gemm", "f32[7,5] %a", "f32[7,4]"),
        call("__cublas$gemm", "f32[0,5] %a, f32[5,0] %b", "f32[0,0]"),
        call("__cublas$gemm", f"f32[{BIG},{BIG}] %a, f32[{BIG},{BIG}] %b", f"f32[{BIG},{BIG}]"),
        call("__cudnn$convForward", "f16[1,8,8,4] %x, f16[4,3,3,4] %w", "f16[1,8,8,4]"),
        "%fusion = f32[8] fusion(f32[8] %gemm), kind=kLoop",
    ],
)
def test_what_the_shapes_do_not_tell_stays_unknown(line: str) -> None:
    assert flops(line) is None


def test_layouts_tuples_quoted_brackets_and_upper_limits_are_read_past() -> None:
    line = (
        "ROOT %copy-start = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)S(5)}, u32[]{:S(2)}) "
        'copy-start(f32[<=8,128]{1,0:T(8,128)} %p), metadata={op_name="jit(f)/(("}'
    )
    parsed = instruction(line)
    assert parsed is not None
    assert parsed.shape == "f32[8,128] -> f32[8,128], f32[8,128], u32[]"
    assert parsed.target == ""


@pytest.mark.parametrize(
    "text", ["", "fusion.1", "%a = ", "%a = f32[8]", "%a = f32[8] add(f32[8] %b, f32", "%a = (f32[8]", "%a = () b()"]
)
def test_text_that_is_cut_is_no_instruction(text: str) -> None:
    assert instruction(text) is None


def test_an_element_takes_the_bits_of_its_type() -> None:
    sizes = {"f64": 80, "bf16": 20, "pred": 10, "s4": 5, "f8e4m3fn": 10, "f4e2m1fn": 5, "c64": 80, "token": 0}
    assert {dtype: ArrayShape(dtype, (2, 5)).bytes for dtype in sizes} == sizes
    assert ArrayShape("s4", (3,)).bytes == 2
    assert ArrayShape("f32", ()).bytes == 4
