"""FLOPs and bytes of XLA's programs from their texts; expected numbers are computed by hand from the shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.measure.counts import Grouping
from tests import places
from tests.places import text_of
from tests.tables import warns

FIXTURES = places.FIXTURES / "hlo"
MATRIX = 256 * 256 * 4


def listing(name: str) -> str:
    return text_of(FIXTURES / f"{name}.txt")


def read(name: str, by: Grouping = "fusion") -> rw.Profile:
    return rw.from_hlo_text(listing(name), by=by)


def kernel(profile: rw.Profile, name: str) -> rw.Kernel:
    return profile.kernels[int(profile.kernels.names.tolist().index(name))]


def program(*lines: str, before: str = "", header: str = "") -> rw.Profile:
    body = "\n".join(f"  {line}" for line in lines)
    return rw.from_hlo_text(f"HloModule m{header}\n{before}\nENTRY e {{\n{body}\n}}\n")


ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"


# Loops and branches


def test_the_body_of_a_loop_counts_as_often_as_it_runs() -> None:
    p = read("scan")
    assert p.flops == 10 * 2 * 256**3 == 335_544_320
    # The product reads two matrices and writes one, ten times.
    assert kernel(p, "ynn_fusion").count == 10
    assert kernel(p, "ynn_fusion").bytes == 10 * 3 * MATRIX
    assert p.warnings == ()


def test_the_condition_of_a_loop_runs_once_more_than_its_body() -> None:
    assert kernel(read("scan"), "wrapped_compare").count == 11


def test_a_loop_of_unknown_length_counts_once_and_a_warning_says_so() -> None:
    p = read("dynamic")
    assert p.flops == 2 * 256**3
    assert len(p.warnings) == 1
    assert "loops whose number of iterations the text does not say, counted once: while" in p.warnings[0]


def test_the_trip_count_of_a_loop_is_read_from_a_text_with_backslashes() -> None:
    tanh = kernel(read("gpu"), "head loop_tanh_fusion")
    assert tanh.count == 6
    assert tanh.flops == {"transcendental": 6 * 1024 * 512}
    assert tanh.bytes == 6 * 2 * 1024 * 512 * 4
    assert read("gpu").unfused_bytes == read("gpu", by="op").bytes


@pytest.mark.parametrize("name", ["gpu", "scan"])
def test_a_counter_says_the_length_of_a_loop_if_the_compiler_does_not(name: str) -> None:
    text = re.sub(r"known_trip_count", "unknown", listing(name))
    loops = [w for w in rw.from_hlo_text(text).warnings if "number of iterations" in w]
    # The loop of the GPU's text has no counter.
    assert (rw.from_hlo_text(text).bytes == read(name).bytes, len(loops)) == (
        (True, 0) if name == "scan" else (False, 1)
    )


@pytest.mark.parametrize(
    ("start", "step", "stop", "runs"),
    [
        ("0", "add(i, one)", "compare(i, n), direction=LT", 12),
        ("0", "add(one, i)", "compare(n, i), direction=GT", 12),
        ("5", "add(i, one)", "compare(i, n), direction=LE", 8),
        ("0", "add(i, five)", "compare(i, n), direction=LT", 3),
        ("20", "subtract(i, one)", "compare(i, n), direction=GT", 8),
        ("20", "subtract(i, five)", "compare(i, n), direction=GE", 2),
        ("0", "add(i, one)", "compare(i, n), direction=NE", 12),
        ("12", "add(i, one)", "compare(i, n), direction=NE", 0),
        ("30", "add(i, one)", "compare(i, n), direction=LT", 0),
        # These never end, or not by counting.
        ("0", "add(i, five)", "compare(i, n), direction=NE", None),
        ("0", "subtract(i, one)", "compare(i, n), direction=LT", None),
        ("0", "multiply(i, five)", "compare(i, n), direction=LT", None),
        ("0", "add(i, i)", "compare(i, n), direction=LT", None),
        ("0", "add(i, one)", "compare(i, n), direction=EQ", None),
        ("0", "add(i, one)", "not(n)", None),
    ],
)
def test_the_length_of_a_loop_follows_from_its_counter(start: str, step: str, stop: str, runs: int | None) -> None:
    state = "(s32[], f32[4])"
    before = (
        f"c {{\n s = {state} parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] constant(12)\n"
        f" ROOT r = pred[] {stop}\n}}\n"
        f"b {{\n s = {state} parameter(0)\n i = s32[] get-tuple-element(s), index=0\n one = s32[] constant(1)\n"
        f" five = s32[] constant(5)\n x = f32[4] get-tuple-element(s), index=1\n j = s32[] {step}\n"
        f" y = f32[4] tanh(x)\n ROOT t = {state} tuple(j, y)\n}}\n"
    )
    p = program(
        "x = f32[4] parameter(0)",
        f"i = s32[] constant({start})",
        f"t = {state} tuple(i, x)",
        f"ROOT w = {state} while(t), condition=c, body=b",
        before=before,
    )
    counts = {k.name: k.count for k in p.kernels}
    assert counts.get("y", 0) == (1 if runs is None else runs)
    assert warns(p, "number of iterations") == (runs is None)


def test_loops_in_loops_multiply() -> None:
    inner = (
        "c {\n p = f32[4] parameter(0)\n ROOT t = pred[] constant(true)\n}\n"
        "b {\n p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p)\n}\n"
    )
    trips = 'backend_config={"known_trip_count":{"n":"%d"}}'
    outer = f"d {{\n p = f32[4] parameter(0)\n ROOT w = f32[4] while(p), condition=c, body=b, {trips % 3}\n}}\n"
    p = program(
        "x = f32[4] parameter(0)",
        f"ROOT w = f32[4] while(x), condition=c, body=d, {trips % 5}",
        before=inner + outer,
    )
    assert kernel(p, "n").count == 15
    assert p.other_flops == 15 * 4


def test_the_branch_with_most_flops_counts_and_a_warning_names_it() -> None:
    p = read("choice")
    assert p.flops == 2 * 256**3
    assert [warning for warning in p.warnings if "the branch with most FLOPs counts" in warning]
    old = read("old")
    assert old.flops == 2 * 64**3
    assert warns(old, "no.11 of conditional.16")


# Fused, unfused and compulsory bytes


def test_a_layer_normalisation_moves_what_its_two_fusions_read_and_write() -> None:
    p = read("normalised")
    array = 4096 * 1024 * 4
    # The first fusion reads x and writes the normalised array, the second reads both and writes the result.
    assert p.kernels.bytes.tolist() == [2 * array, 3 * array]
    assert p.bytes == 83_886_080
    assert p.compulsory_bytes == 2 * array == 33_554_432


def test_unfused_bytes_are_those_of_every_fused_instruction_on_its_own() -> None:
    p = read("normalised")
    array, column, scalar = 4096 * 1024 * 4, 4096 * 4, 4
    first = (
        3 * (array + column)  # two reductions and the broadcast of the mean
        + 2 * scalar  # the reductions' start
        + 2 * (scalar + column)  # broadcasts of 1/n and of the small number
        + 3 * column * 2  # divisions by n, and the reciprocal root
        + 3 * column  # the sum with the small number
    )
    assert p.unfused_bytes > first
    assert p.unfused_bytes == read("normalised", by="op").bytes
    assert p.unfused_bytes == 738_476_064


def test_by_op_has_a_row_for_each_fused_instruction_and_the_same_flops() -> None:
    fused, single = read("normalised"), read("normalised", by="op")
    assert len(fused.kernels) == 2
    assert {"tanh", "rsqrt", "reduce"} <= set(single.kernels.category)
    assert single.other_flops == fused.other_flops == 58_724_352 + 4_198_400
    assert fused.warnings == ()
    assert "operations count as if none were fused" in single.warnings[0]


def test_fused_attention_moves_its_inputs_and_its_output_alone() -> None:
    p = read("attention")
    assert p.flops == 2 * 2 * 2 * 8 * 512 * 512 * 64
    assert p.bytes == p.compulsory_bytes == 4 * 2 * 8 * 512 * 64 * 4


def test_a_bf16_product_on_a_cpu_converts_its_operands_and_its_result() -> None:
    p = read("bf16")
    half, single = 2048 * 2048 * 2, 2048 * 2048 * 4
    assert sorted(p.kernels.bytes.tolist()) == [half + single] * 3 + [3 * single]
    assert p.bytes == 125_829_120
    assert p.compulsory_bytes == 3 * half
    product = next(k for k in p.kernels if k.category == "dot fusion")
    # The product runs in the precision of its converted operands.
    assert (product.precision, product.flops) == ("fp32", {"tensor": 2 * 2048**3})


# What an instruction touches


def test_a_gather_reads_the_rows_that_it_returns_and_not_the_table() -> None:
    p = read("gather")
    rows, numbers = 32 * 64 * 4, 32 * 4
    assert p.bytes == p.compulsory_bytes == 2 * rows + numbers


def test_an_update_in_place_moves_the_update_alone() -> None:
    p = read("updated")
    # It reads the row and where the row goes, and writes the row.
    assert p.bytes == p.compulsory_bytes == 2 * 64 * 4 + 4


def test_slices_behind_bitcasts_and_updates_in_fusions_count_what_they_touch() -> None:
    p = read("tpu")
    part = 8 * 256 * 4
    assert kernel(p, "slice_negate_fusion").bytes == 2 * part
    assert kernel(p, "update_fusion").bytes == 2 * part


def test_an_update_in_the_middle_of_a_fusion_copies_its_target() -> None:
    fused = (
        "f {\n p = f32[64,8] parameter(0)\n u = f32[1,8] parameter(1)\n i = s32[] parameter(2)\n"
        " d = f32[64,8] dynamic-update-slice(p, u, i, i)\n ROOT n = f32[64,8] negate(d)\n}\n"
    )
    p = program(
        "x = f32[64,8] parameter(0)",
        "u = f32[1,8] parameter(1)",
        "i = s32[] parameter(2)",
        "ROOT f = f32[64,8] fusion(x, u, i), kind=kLoop, calls=f",
        before=fused,
    )
    assert p.bytes == 2 * 64 * 8 * 4 + 8 * 4 + 4


def test_an_operand_that_is_taken_twice_is_read_once() -> None:
    assert program("x = f32[64] parameter(0)", "ROOT y = f32[64] add(x, x)").bytes == 2 * 64 * 4


def test_a_scatter_reads_and_writes_what_it_updates() -> None:
    p = program(
        "t = f32[1000,8] parameter(0)",
        "i = s32[4,1] parameter(1)",
        "u = f32[4,8] parameter(2)",
        "ROOT s = f32[1000,8] scatter(t, i, u), update_window_dims={1}, to_apply=add",
        before=ADD,
    )
    # The old values, the updates and the indices are read, and the new values written.
    assert p.bytes == 3 * 4 * 8 * 4 + 4 * 4
    assert p.other_flops == 4 * 8


def test_a_scatter_of_two_arrays_has_two_updates() -> None:
    p = program(
        "s = f32[1000,8] parameter(0)",
        "t = f32[1000,8] parameter(1)",
        "i = s32[4,1] parameter(2)",
        "u = f32[4,8] parameter(3)",
        "v = f32[4,8] parameter(4)",
        "ROOT r = (f32[1000,8], f32[1000,8]) scatter(s, t, i, u, v), update_window_dims={1}, to_apply=add",
        before=ADD,
    )
    # The old values, the updates and the indices are read, and the new values written.
    assert p.bytes == 3 * (2 * 4 * 8 * 4) + 4 * 4


def test_an_output_that_is_updated_in_its_inputs_place_must_move_its_update_alone() -> None:
    lines = (
        "c = f32[1000,8] parameter(0)",
        "u = f32[1,8] parameter(1)",
        "i = s32[] parameter(2)",
        "d = f32[1000,8] dynamic-update-slice(c, u, i, i)",
        "n = f32[1,8] negate(u)",
        "ROOT r = (f32[1,8], f32[1000,8]) tuple(n, d)",
    )
    row, cache = 8 * 4, 1000 * 8 * 4
    donated = program(*lines, header=", input_output_alias={ {1}: (0, {}, may-alias) }, num_partitions=1")
    assert donated.compulsory_bytes == row + 4 + row + row
    assert program(*lines).compulsory_bytes == row + 4 + row + cache


def test_arrays_in_the_memory_of_a_tpu_move_no_bytes_of_its_main_memory() -> None:
    p = read("tpu")
    image, kernels, result = 512 * 1024 * 2, 1024 * 256 * 2, 512 * 256 * 4
    assert kernel(p, "copy-start.1").bytes == kernels
    # The filters are on the chip already.
    assert kernel(p, "Dense_0 convolution_add_fusion").bytes == image + result
    assert warns(p, "in the memory of the chip or of the host", "copy-start.1")


def test_memory_space_one_of_a_gpu_is_main_memory() -> None:
    p = read("gpu")
    row = p.kernels.names.tolist().index("all-gather-start")
    assert p.kernels.bytes[row] == 5 * 1024 * 512 * 4
    assert not warns(p, "memory of the chip")


def test_narrow_types_are_packed() -> None:
    assert program("x = s4[100] parameter(0)", "ROOT y = s4[100] copy(x)").bytes == 2 * 50


# FLOPs


def test_positions_in_the_padding_of_a_convolution_are_not_products() -> None:
    p = read("convolution")
    # Of 3 x 56 products a row, the first and the last output lack one each.
    assert p.flops == 2 * 64 * 64 * (3 * 56 - 2) ** 2 == 225_738_752
    assert p.compulsory_bytes == (2 * 64 * 56 * 56 + 64 * 64 * 9) * 4


@pytest.mark.parametrize(
    ("window", "out", "products"),
    [
        ("{size=3}", 6, 18),
        ("{size=3 stride=2}", 3, 9),
        ("{size=3 pad=1_1}", 8, 22),
        ("{size=3 rhs_dilate=2}", 4, 12),
        # Between the 8 elements are holes: 15 places, with two more on each side.
        ("{size=3 pad=2_2 lhs_dilate=2}", 17, 24),
        ("{size=3 pad=-1_-1}", 4, 12),
    ],
)
def test_strides_padding_and_dilations_of_a_convolution_count(window: str, out: int, products: int) -> None:
    p = program(
        "x = f32[2,8,5] parameter(0)",
        "w = f32[3,5,7] parameter(1)",
        f"ROOT c = f32[2,{out},7] convolution(x, w), window={window}, dim_labels=b0f_0io->b0f",
    )
    assert p.flops == 2 * 2 * 5 * 7 * products


def test_a_convolution_with_groups_does_one_group_of_inputs_for_each_output() -> None:
    p = program(
        "x = f32[2,8,6] parameter(0)",
        "w = f32[1,2,12] parameter(1)",
        "ROOT c = f32[2,8,12] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=3",
    )
    assert p.flops == 2 * 2 * 8 * 12 * 2


@pytest.mark.parametrize(
    ("dtype", "precision"),
    [
        ("f64", "fp64"),
        ("f32", "fp32"),
        ("bf16", "bf16"),
        ("f16", "fp16"),
        ("f8e4m3fn", "fp8"),
        ("s8", "int8"),
        ("c64", None),
    ],
)
def test_the_precision_of_a_product_is_that_of_its_operands(dtype: str, precision: str | None) -> None:
    p = program(
        f"x = {dtype}[4,8] parameter(0)",
        "ROOT d = s32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    )
    assert (p.flops, p.kernels[0].precision) == (2 * 4 * 4 * 8, precision)


def test_a_product_of_two_precisions_has_the_wider_one() -> None:
    p = program(
        "x = f8e4m3fn[4,8] parameter(0)",
        "y = bf16[8,4] parameter(1)",
        "ROOT d = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    )
    assert p.kernels[0].precision == "bf16"


def test_batched_products_contract_the_named_axes() -> None:
    p = program(
        "x = f32[3,4,8,2] parameter(0)",
        "y = f32[3,2,8,5] parameter(1)",
        "ROOT d = f32[3,4,5] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2,3}, rhs_batch_dims={0}, "
        "rhs_contracting_dims={2,1}",
    )
    assert p.flops == 2 * 3 * 4 * 5 * 16


def test_transcendental_functions_are_a_class_of_their_own() -> None:
    p = read("softmax")
    assert p.flops == 0
    by_class = p.kernels.flops_by_precision
    assert np.nansum(by_class["transcendental"]) == 1024**2
    # Subtracting the maximum, two reductions of 1024 elements to one, and products with the reciprocals of the sums.
    assert np.nansum(by_class["vector"]) == 1024**2 + 2 * 1024 * 1023 + 1024**2 + 1024


def test_reductions_windows_sorts_and_transforms_have_their_textbook_flops() -> None:
    x = "x = f32[64,128] parameter(0)"
    zero = "z = f32[] constant(0)"
    reduced = program(x, zero, "ROOT r = f32[64] reduce(x, z), dimensions={1}, to_apply=add", before=ADD)
    assert reduced.other_flops == 64 * 127
    window = "window={size=2x1 stride=2x1}"
    pooled = program(x, zero, f"ROOT r = f32[32,128] reduce-window(x, z), {window}, to_apply=add", before=ADD)
    assert pooled.other_flops == 32 * 128
    ordered = program(x, "ROOT r = f32[64,128] sort(x), dimensions={1}, to_apply=add", before=ADD)
    assert ordered.other_flops == 64 * 128 * 7
    lines = ("c = c64[16,1024] parameter(0)", "ROOT r = c64[16,1024] fft(c), fft_type=FFT, fft_length={1024}")
    assert program(*lines).other_flops == 5 * 16 * 1024 * 10
    lines = ("c = f32[16,1024] parameter(0)", "ROOT r = c64[16,513] fft(c), fft_type=RFFT, fft_length={1024}")
    assert program(*lines).other_flops == 5 * 16 * 1024 * 10 / 2
    lines = ("a = f32[256,256] parameter(0)", "ROOT r = f32[256,256] cholesky(a), lower=true")
    assert program(*lines).other_flops == 256**3 // 3
    right = "b = f32[256,64] parameter(1)"
    solved = program(lines[0], right, "ROOT r = f32[256,64] triangular-solve(a, b), left_side=true, lower=true")
    assert solved.other_flops == 256 * 256 * 64


# Libraries and what is unknown


def test_a_call_to_a_library_is_unknown_and_a_warning_names_it() -> None:
    p = read("cholesky")
    call = next(k for k in p.kernels if k.category == "lapack_spotrf_ffi")
    assert call.flops is None
    assert call.bytes == 2 * MATRIX + 4
    assert p.flops == 0
    assert warns(p, "calls to libraries", "lapack_spotrf_ffi")
    assert warns(p, "FLOPs of 1 operation are unknown")


def test_the_shapes_of_a_cublas_product_say_its_flops_and_its_scratch_memory_is_no_output() -> None:
    product = kernel(read("gpu"), "mlp cublas-gemm.1")
    assert product.flops == {"tensor": 2 * 1024 * 512 * 2048}
    assert product.bytes == (1024 * 2048 + 2048 * 512 + 1024 * 512) * 2
    assert (product.precision, product.category) == ("bf16", "__cublas$gemm")


def test_a_fused_product_has_the_precision_of_its_operands_and_the_flops_of_its_conversions() -> None:
    product = kernel(read("gpu"), "gemm_fusion_dot.1")
    assert product.flops == {"vector": 256 * 64, "tensor": 2 * 512 * 64 * 256}
    assert product.precision == "fp16"
    assert product.bytes == 512 * 256 * 2 + 256 * 64 + 512 * 64 * 2


def test_a_product_that_is_printed_as_a_convolution_is_a_product() -> None:
    p = read("tpu")
    fusion = kernel(p, "Dense_0 convolution_add_fusion")
    assert fusion.flops == {"tensor": 2 * 512 * 256 * 1024, "vector": 512 * 256}
    assert (fusion.precision, fusion.category) == ("bf16", "convolution fusion")


def test_an_unknown_operation_is_unknown_and_a_warning_names_it() -> None:
    p = read("old")
    assert kernel(p, "frobnicate.1").flops is None
    assert warns(p, "operations without a rule for their FLOPs: frobnicate")


def test_a_dynamic_size_counts_with_the_largest_and_a_warning_says_so() -> None:
    p = read("old")
    assert kernel(p, "reduce.1").bytes == 64 * 64 * 4 + 4 + 64 * 4
    assert warns(p, "arrays of a dynamic size", "frobnicate.1")


# Collectives


def test_an_all_reduce_sends_twice_its_array_but_for_one_share() -> None:
    p = read("gpu")
    reduced = kernel(p, "mlp all-reduce-start")
    array = 1024 * 512 * 4
    assert reduced.bytes == {"main": 2 * array, "network": 2 * array * 3 // 4}
    # The second half of the pair does nothing.
    assert not [name for name in p.kernels.names if "done" in name]
    assert warns(p, "runs on 4 chips")


def test_an_all_gather_sends_its_result_but_for_one_share() -> None:
    gathered = read("gpu").kernels
    row = gathered.names.tolist().index("all-gather-start")
    assert gathered.network_bytes[row] == 4096 * 512 * 4 * 3 / 4


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add", 4096 / 2),
        ("all-to-all(x), replica_groups={{0,1,2,3},{4,5,6,7}}, dimensions={0}", 4096 * 3 / 4),
        ("collective-permute(x), source_target_pairs={{0,1},{1,0}}", 4096),
        ("all-reduce(x), replica_groups={}, to_apply=add", 2 * 4096 * 7 / 8),
        ("send(x), channel_id=1", 4096),
    ],
)
def test_other_collectives_send_their_share(line: str, sent: float) -> None:
    p = program("x = f32[1024] parameter(0)", f"ROOT y = f32[1024] {line}", before=ADD, header=", num_partitions=8")
    assert p.kernels.network_bytes.tolist() == [sent]


def test_a_fusion_sends_what_the_collectives_in_it_send() -> None:
    scattered = (
        "all-reduce-scatter.1 {\n p = f32[1024] parameter(0)\n i = s32[] parameter(1)\n"
        " a = f32[1024] all-reduce(p), replica_groups={{0,1,2,3}}, to_apply=add\n"
        " ROOT d = f32[256] dynamic-slice(a, i), dynamic_slice_sizes={256}\n}\n"
    )
    fusion = "ROOT f = f32[256] fusion(x, i), kind=kCustom, calls=%s"
    lines = ("x = f32[1024] parameter(0)", "i = s32[] parameter(1)")
    p = program(*lines, fusion % "all-reduce-scatter.1", before=ADD + scattered)
    assert p.kernels.network_bytes.tolist() == [4096 * 3 / 4]
    plain = scattered.replace("all-reduce-scatter.1", "g")
    assert program(*lines, fusion % "g", before=ADD + plain).kernels.network_bytes.tolist() == [2 * 4096 * 3 / 4]


def test_a_collective_among_an_unknown_number_of_chips_has_unknown_bytes_over_the_link() -> None:
    p = read("old")
    assert np.isnan(p.kernels.network_bytes).all()
    assert warns(p, "among an unknown number of chips", "all-reduce.1")


def test_what_goes_to_the_host_or_arrives_sends_nothing_over_the_link() -> None:
    x = "x = f32[1024] parameter(0)"
    host = program(x, "ROOT y = (f32[1024], u32[]) send(x), channel_id=1, is_host_transfer=true")
    assert "network" not in host.kernels.bytes_by_level
    received = program("t = token[] after-all()", "ROOT y = (f32[1024], u32[], token[]) recv(t), channel_id=1")
    assert "network" not in received.kernels.bytes_by_level


# Rows


def test_asynchronous_computations_run_where_they_start() -> None:
    p = read("tpu")
    # The slice reads its half of the array; its result is on the chip.
    assert kernel(p, "slice.1").bytes == 128 * 128


def test_modules_are_the_named_scopes_and_gradients_belong_to_them() -> None:
    p = read("gradient", by="module")
    flops = {k.name: k.flops for k in p.kernels}
    product = 2 * 64 * 128 * 128
    # The first layer has a product forward and one backward: its input needs no gradient.
    tensor = {name: by_class["tensor"] for name, by_class in flops.items() if isinstance(by_class, Mapping)}
    assert tensor == {"encoder": 2 * product, "decoder/output": 3 * product}


def test_rows_carry_names_scopes_and_shapes() -> None:
    table = read("gradient").kernels
    row = table.names.tolist().index("encoder ynn_fusion.3")
    assert table.extra["module"][row] == "encoder"
    assert table.extra["shapes"][row] == "64×128, 128×128"
    assert table.category[row] == "dot fusion"


def test_the_program_before_optimisation_can_be_read() -> None:
    p = read("scan.lowered")
    # It does not say how long the loop is, but its counter runs from 0 to 10.
    assert (p.name, p.flops, p.warnings) == ("jit_scan", 10 * 2 * 256**3, ())


def test_a_profile_has_the_name_of_the_program_or_the_given_one() -> None:
    assert read("scan").name == "jit_scan"
    assert rw.from_hlo_text(listing("scan"), name="ten products").name == "ten products"


def test_a_program_of_one_parameter_says_that_nothing_was_counted() -> None:
    p = program("ROOT x = f32[4] parameter(0)")
    assert len(p.kernels) == 0
    assert p.compulsory_bytes == 2 * 16


def test_a_text_is_for_any_device_so_the_chip_must_be_named() -> None:
    with pytest.raises(ValueError, match=r"name the chip to judge it by, as in p.summary\('v5p'\)"):
        read("scan").summary()


def test_rows_are_judged_on_a_chip() -> None:
    chip = rw.Chip("my chip", {"fp32": "1 TFLOP/s"}, {"DRAM": "100 GB/s"})
    bound = read("scan").bound(chip)
    times = dict(zip(bound.names, bound.time, strict=True))
    assert times["ynn_fusion"] == pytest.approx(335_544_320 / 1e12)


def test_a_layer_that_xla_compiled_for_an_h100_has_the_work_of_its_shapes() -> None:
    # softmax(x + gelu(x up) down) in bf16; the second product adds x.
    rows, width, inner = 4096, 4096, 16384
    path = places.FIXTURES / "gpu" / "jax_layer.hlo.txt"
    found = {op.name: op for op in rw.from_hlo_text(text_of(path)).ops}
    assert list(found) == ["custom-call.1", "loop_multiply_fusion", "cublas-lt-matmul.2", "triton_softmax.2"]
    product = 2 * rows * width * inner
    moved = 2 * (rows * width + width * inner + rows * inner)
    assert (found["custom-call.1"].flops, found["custom-call.1"].bytes) == ({"tensor": product}, moved)
    assert found["cublas-lt-matmul.2"].flops == {"tensor": product}
    assert found["cublas-lt-matmul.2"].bytes == moved + 2 * rows * width
    assert found["loop_multiply_fusion"].bytes == 2 * 2 * rows * inner
    assert found["triton_softmax.2"].bytes == 2 * 2 * rows * width
