"""The rules for Nsight Compute's counters: one rule per test, on tables with one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.readers import read
from roofwidget.readers.ncu.flops import is_tensor_name, mma_shape
from tests import places
from tests.places import text_of
from tests.tables import has_columns, lists, warns

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

FIXTURES = places.FIXTURES / "ncu"
HEADER = '"ID","Process ID","Kernel Name","CC","Metric Name","Metric Unit","Metric Value"'
SASS = "smsp__sass_thread_inst_executed_op_"
PATH = "sm__ops_path_tensor_"
MICROSECOND = {"gpu__time_duration.sum": "1000"}


def launch(metrics: dict[str, str], name: str = "k", cc: str = "9.0", **options: Any) -> Kernels:
    """Read a table of one launch of one microsecond."""
    rows = [f'"0","5","{name}","{cc}","{metric}","","{value}"' for metric, value in (MICROSECOND | metrics).items()]
    return read("\n".join([HEADER, *rows, ""]).encode(), **options)


def said(kernels: Kernels, words: str) -> bool:
    return warns(kernels, words)


def test_rates_per_cycle_become_whole_counts() -> None:
    told = {f"{SASS}ffma_pred_on.sum.per_cycle_elapsed": "0.57", "smsp__cycles_elapsed.avg": "100"}
    kernels = launch(told)
    assert kernels.flops.tolist() == [2 * 57]
    assert kernels.origin["flops"][0].endswith(".sum.per_cycle_elapsed x cycles")


def test_a_sum_that_a_section_derives_counts_what_was_executed_never_the_peak() -> None:
    executed = {f"derived__{SASS}ffma_pred_on_x2": "4", "smsp__cycles_elapsed.avg": "100"}
    peak = {"derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2": "8704"}
    assert launch(executed | peak).flops.tolist() == [400]
    assert np.isnan(launch(peak | {"smsp__cycles_elapsed.avg": "100"}).flops[0])


def test_prefixes_of_one_counter_are_not_added() -> None:
    both = {f"{SASS}dadd_pred_on.sum": "70", "sm__sass_thread_inst_executed_op_dadd_pred_on.sum": "70"}
    assert launch(both).flops.tolist() == [70]


def test_paths_of_types_that_share_a_counter_are_charged_once() -> None:
    shared = {f"{PATH}src_fp4_fp6_fp8_dst_fp32.sum": "640"}
    assert launch(shared).flops_by_precision["fp8"].tolist() == [640]
    own = launch(shared | {f"{PATH}src_fp4.sum": "640"})
    assert lists(own.flops_by_precision) == {"fp4": [640]}


def test_paths_with_and_without_sparsity_add_up_to_their_base_and_sparsity_is_said() -> None:
    parts = {f"{PATH}src_fp16_dst_fp32_sparsity_off.sum": "100", f"{PATH}src_fp16_dst_fp32_sparsity_on.sum": "28"}
    assert launch(parts).flops.tolist() == [128]
    kernels = launch(parts | {f"{PATH}src_fp16_dst_fp32.sum": "128"})
    assert kernels.flops.tolist() == [128]
    assert said(kernels, "structured sparsity was on in this launch: dense roofs do not bound them")


def test_paths_of_units_count_where_the_plain_ones_are_zero() -> None:
    units = {f"{PATH}op_hmma_src_fp16_dst_fp32.sum": "512", f"{PATH}src_fp16_dst_fp32.sum": "0"}
    assert launch(units, cc="8.9").flops.tolist() == [512]


def test_paths_win_over_a_shape_in_the_name() -> None:
    told = {f"{PATH}src_bf16_dst_fp32.sum": "9000", "sm__inst_executed_pipe_tensor.sum": "2"}
    assert launch(told, name="ampere_bf16_s16816gemm", cc="8.0").flops.tolist() == [9000]


@pytest.mark.parametrize(
    ("name", "flops", "precision"),
    [
        ("volta_h884gemm_64x64_tn", 512, "fp16"),
        ("ampere_fp16_s1688gemm_fp16_128x128", 2048, "fp16"),
        ("ampere_s1688gemm_tf32_64x64", 2048, "tf32"),
        ("cutlass_80_tensorop_d884gemm_32x16", 512, "fp64"),
        ("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64", 4096, "bf16"),
        ("sm80_xmma_gemm_f16f16_f16f32_f32_tn_tilesize64x64x64_tensor16x8x16_kernel", 4096, "fp16"),
        ("cutlass_80_tensorop_i16832gemm_s8_256x128", 8192, "int8"),
        ("void f<cutlass::arch::Mma<cutlass::gemm::GemmShape<16, 8, 8>, 32, cutlass::tfloat32_t>>()", 2048, "tf32"),
        ("gemm<cute::SM80_16x8x16_F32BF16BF16F32_TN>", 4096, "bf16"),
        ("mma_m16n8k16_kernel", 4096, ""),
    ],
)
def test_the_shape_in_a_name_tells_flops_and_precision(name: str, flops: int, precision: str) -> None:
    shape = mma_shape(name)
    assert shape is not None
    assert (shape.flops, shape.precision) == (flops, precision)
    kernels = launch({"sm__inst_executed_pipe_tensor.sum": "3"}, name=name, cc="8.0")
    assert kernels.flops_by_precision[precision].tolist() == [3 * flops]


@pytest.mark.parametrize(
    "name", ["ampere_sgemm_128x64_nn", "tile_128x128x16", "reduce_1688", "gemm_64x16816", f"m{'1' * 5000}n8k16"]
)
def test_other_digits_in_a_name_are_no_shape(name: str) -> None:
    assert mma_shape(name) is None
    kernels = launch({"sm__inst_executed_pipe_tensor.sum": "3"}, name=name, cc="8.0")
    assert np.isnan(kernels.flops[0])
    assert said(kernels, "tensor instructions without a shape in the name in this launch")


@pytest.mark.parametrize(
    ("name", "uses_tensor_cores"),
    [
        ("gemma_rms_norm<float>", False),
        ("at::native::lgamma_kernel", False),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize2x2x1_ffma_aligna4", False),
        ("f<cutlass::arch::Mma<cutlass::gemm::GemmShape<1, 1, 1>, 1, float>>", False),
        ("f<cutlass::arch::Mma<cutlass::gemm::GemmShape<(int)8, 8, 99>>>", True),
        ("collective::CollectiveMma<MainloopSm90TmaGmmaWarpSpecialized<4>>", True),
        ("my_wgmma_kernel", True),
        ("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", True),
    ],
)
def test_a_name_tells_of_tensor_cores_only_in_words_of_their_own(name: str, *, uses_tensor_cores: bool) -> None:
    assert is_tensor_name(name) == uses_tensor_cores
    # The FP32 work of this kernel is incomplete; that of the other kernels is complete.
    assert np.isnan(launch({f"{SASS}ffma_pred_on.sum": "10"}, name=name, cc="8.0").flops[0]) == uses_tensor_cores


def test_half_precision_that_may_be_register_moves_is_left_out_and_said() -> None:
    fp32 = {f"{SASS}ffma_pred_on.sum": "10", f"{SASS}hfma_pred_on.sum": "64", f"{SASS}hadd_pred_on.sum": "0"}
    kernels = launch(fp32, cc="8.0")
    assert lists(kernels.flops_by_precision) == {"fp32": [20]}
    assert said(kernels, "hfma is left out in this launch ('k'): on this chip it also counts register moves")
    # No register moves: other additions were counted, another chip, or the pipe was never active.
    for other in (
        launch(fp32 | {f"{SASS}hadd_pred_on.sum": "5"}, cc="8.0"),
        launch(fp32, cc="8.6"),
        launch(fp32 | {"sm__inst_executed_pipe_tensor.sum": "0"}, cc="8.0"),
    ):
        assert other.flops_by_precision["fp16_vector"][0] >= 4 * 64
        assert not said(other, "hfma is left out")


def test_zeros_of_tensor_counters_on_a_busy_new_chip_are_said_and_flops_by_name_replace_the_rest() -> None:
    told = {
        f"{PATH}src_bf16_dst_fp32.sum": "0",
        f"{SASS}ffma_pred_on.sum": "500",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": "86",
    }
    kernels = launch(told, name="triton_dot", cc="10.0")
    assert kernels.flops.tolist() == [1000]
    assert said(kernels, "all tensor counters are 0 for this launch ('triton_dot'), which keep SMs busy")
    given = launch(told, name="triton_dot", cc="10.0", flops={"triton": {"bf16": 8e6}})
    assert {key: np.nansum(column) for key, column in given.flops_by_precision.items()} == {"fp32": 0, "bf16": 8e6}
    assert given.flops.tolist() == [8e6]
    assert not said(given, "all tensor counters are 0")
    # Before Hopper a zero counter means zero work.
    assert not said(launch(told, cc="8.6"), "all tensor counters are 0")


def test_an_operation_that_no_counter_tells_of_is_said_to_be_missing() -> None:
    words = {f"{SASS}ffma_pred_on.sum": "10", f"{SASS}fmul_pred_on.sum": "1"}
    assert said(
        launch(words),
        "the file has no counters for fp64, fp16 outside tensor cores, fadd: these are missing from FLOPs",
    )
    assert not said(launch(words | {f"{SASS}fadd_pred_on.sum": "0"}), "fadd")


def test_launches_of_one_chip_share_a_roof_where_the_capability_is_not_told() -> None:
    lines = [f'"{number}","5","k","gpu__time_duration.sum","","1000"' for number in (0, 1)]
    table = [HEADER.replace('"CC",', ""), *lines, ""]
    kernels = read("\n".join(table).encode(), chip="a100-pcie-40gb")
    assert kernels.chip is not None
    assert not said(read("\n".join(table).encode()), "several devices")


def test_headers_with_their_unit_in_brackets_are_read() -> None:
    text = '"ID","Kernel Name","dram__bytes.sum [Kbyte]","gpu__time_duration.sum [us]"\n"0","k","2.5","4"\n'
    kernels = read(text.encode())
    has_columns(kernels, bytes=[2500], time=[4e-6])


def test_text_of_a_program_in_another_notation_does_not_decide_that_of_the_numbers() -> None:
    header = '"ID","Kernel Name","Range:Msg","dram__bytes.sum","lts__t_sector_hit_rate.pct"\n'
    kernels = read(f'{header}"","","","byte","%"\n"0","k","1,5","1,024","65.5"\n'.encode())
    assert kernels.bytes.tolist() == [1024]


def test_from_hopper_on_instructions_of_the_tensor_pipe_are_never_multiplied() -> None:
    kernels = launch({"sm__inst_executed_pipe_tensor.sum": "3"}, name="ampere_s16816gemm_fp16", cc="9.0")
    assert np.isnan(kernels.flops[0])


HMMA = "sm__inst_executed_pipe_tensor_subpipe_hmma"
SHARE = ".avg.pct_of_peak_sustained_active"
FP32 = {f"{SASS}f{form}_pred_on.sum": "50" for form in ("add", "mul", "fma")}


def lines(*rows: dict[str, str], names: tuple[str, ...], cc: str = "10.0", **options: Any) -> Kernels:
    """Read a table with a row per metric, of several launches."""
    told = [
        f'"{n}","5","{names[n]}","{cc}","{metric}","","{value}"'
        for n, row in enumerate(rows)
        for metric, value in (MICROSECOND | row).items()
    ]
    return read("\n".join([HEADER, *told, ""]).encode(), **options)


@pytest.mark.parametrize(
    "metric",
    [
        f"{HMMA}{SHARE}",
        f"{HMMA}.avg.pct_of_peak_sustained_elapsed",
        f"{HMMA}.sum",
        f"{HMMA}_op_hmma.sum",
        "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_tc.sum",
        "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_cycles_active.sum",
    ],
)
@pytest.mark.parametrize("name", ["nvjet_sm100_tst_128x256", "k"])
def test_activity_of_a_tensor_pipe_is_evidence_of_tensor_work_and_no_count(metric: str, name: str) -> None:
    kernels = launch({metric: "43"} | FP32, name=name, cc="10.0")
    assert np.isnan(kernels.flops[0])
    assert kernels.origin["flops"][0] == "unknown: a tensor pipe was active, but its FLOPs were not counted"
    assert said(kernels, f"a tensor pipe was active in this launch ('{name}'), as {metric} shows, but no counter has")
    assert not said(kernels, "no counter of tensor cores")
    known = launch({metric: "43"} | FP32, name=name, cc="10.0", flops={name: "155 GFLOP"})
    assert known.flops.tolist() == [155e9]


HALVES_ON_HOPPER = FP32 | {
    f"{SASS}hfma_pred_on.sum": "3200",
    "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed": "60",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed": "60",
    "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_elapsed": "0",
    f"{PATH}op_hmma_src_fp16_dst_fp32_sparsity_off.sum": "0",
}


def test_hfma_that_keeps_the_tensor_pipe_of_hopper_busy_is_arithmetic_where_no_product_ran() -> None:
    kernels = launch(HALVES_ON_HOPPER)
    # 50 + 50 + 2 x 50 in fp32; two packed numbers of two FLOPs each.
    assert lists(kernels.flops_by_precision) == {
        "fp32": [200],
        "fp16_vector": [12800],
    }
    # hfma that the pipe of fp32 never ran are register moves.
    moves = launch(HALVES_ON_HOPPER | {"sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed": "0"})
    assert (moves.flops.tolist(), said(moves, "the tensor pipe moved registers")) == ([200], True)


@pytest.mark.parametrize(
    ("changed", "cc"),
    [
        ({"sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_elapsed": "5"}, "9.0"),
        ({"sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_elapsed": "5"}, "9.0"),
        ({f"{SASS}hfma_pred_on.sum": "0"}, "9.0"),
        ({}, "10.0"),
    ],
)
def test_a_busy_tensor_pipe_is_unknown_work_where_hfma_may_not_be_all_of_it(changed: dict[str, str], cc: str) -> None:
    assert np.isnan(launch(HALVES_ON_HOPPER | changed, cc=cc).flops[0])


PATHS_OF_HOPPER = {f"{PATH}op_{unit}_src_fp16_sparsity_off.sum": "0" for unit in ("hmma", "hgmma")} | {
    f"{PATH}src_{kind}.sum": "0" for kind in ("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp64", "fp8", "int8", "int1")
}
# The roofline set has no counter of instructions of warp groups or of the fma pipe.
ROOFLINE_SET = (
    FP32
    | PATHS_OF_HOPPER
    | {
        f"{SASS}hfma_pred_on.sum": "3200",
        "smsp__cycles_elapsed.avg": "1000",
        "device__attribute_multiprocessor_count": "2",
        "device__attribute_num_schedulers_per_multiprocessor": "4",
    }
)


# 3200 hfma are 100 of warps: 200 cycles on the tensor pipe, a share of 2.5 % of the 8 x 1000 cycles.
@pytest.mark.parametrize(
    ("busy", "flops"), [("1.25", [200, 12800]), ("1.8", [200, 12800]), ("1.9", [200]), ("3", [200])]
)
def test_paths_without_flops_show_that_hfma_is_arithmetic_unless_all_of_it_ran_on_the_tensor_pipe(
    busy: str, flops: list[float]
) -> None:
    kernels = launch(ROOFLINE_SET | {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": busy})
    assert [column[0] for column in kernels.flops_by_precision.values()] == flops
    assert said(kernels, "hfma is left out in this launch") == (len(flops) == 1)


@pytest.mark.parametrize("path", PATHS_OF_HOPPER)
def test_one_path_without_a_counter_or_a_name_of_tensor_cores_leaves_the_work_of_a_busy_pipe_unknown(path: str) -> None:
    busy = ROOFLINE_SET | {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": "1"}
    assert launch(busy).flops.tolist() == [13000]
    assert np.isnan(launch({name: value for name, value in busy.items() if name != path}).flops[0])
    assert np.isnan(launch(busy, name="nvjet_hsh_128x256").flops[0])


@pytest.mark.parametrize("left_out", list(HALVES_ON_HOPPER)[-2:])
def test_without_the_counters_of_products_hfma_explains_nothing(left_out: str) -> None:
    assert np.isnan(launch({name: value for name, value in HALVES_ON_HOPPER.items() if name != left_out}).flops[0])


def test_activity_beside_a_counter_of_flops_adds_nothing() -> None:
    counted = {f"{PATH}src_bf16_dst_fp32.sum": "9000", f"{HMMA}{SHARE}": "43"}
    kernels = launch(counted, name="nvjet", cc="10.0")
    assert kernels.flops_by_precision["bf16"].tolist() == [9000]
    assert not said(kernels, "a tensor pipe was active")


@pytest.mark.parametrize("metric", [f"{HMMA}.sum.peak_sustained", "sm__inst_executed_pipe_tensor.sum.peak_sustained"])
def test_the_peak_of_a_tensor_pipe_is_no_activity(metric: str) -> None:
    assert launch({metric: "43"} | FP32, cc="10.0").flops.tolist() == [200]


def test_a_share_of_the_pipe_of_ga100_may_be_register_moves_but_for_a_name_of_tensor_cores() -> None:
    share = {"sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active": "12"} | FP32
    assert launch(share, name="ampere_sgemm_128x64_nn", cc="8.0").flops.tolist() == [200]
    kernels = launch(share, name="ampere_s16816gemm_fp16", cc="8.0")
    assert np.isnan(kernels.flops[0])
    assert said(kernels, "a tensor pipe was active")
    assert np.isnan(launch(share, name="k", cc="8.6").flops[0])


@pytest.mark.parametrize("metric", [f"{HMMA}.sum", f"{HMMA}{SHARE}", "sm__pipe_tensor_cycles_active.avg.per_second"])
def test_zeros_of_a_pipe_that_counts_for_another_launch_are_zeros(metric: str) -> None:
    names = ("nvjet_sm100_tst", "fmha_reduce", "norm")
    kernels = lines({metric: "8"} | FP32, {metric: "0"} | FP32, {metric: "0"} | FP32, names=names)
    np.testing.assert_array_equal(kernels.flops, [np.nan, 200, 200])
    assert not said(kernels, "are 0")
    alone = lines({metric: "0"} | FP32, {metric: "0"} | FP32, names=names[1:])
    np.testing.assert_array_equal(alone.flops, [np.nan, 200])
    assert said(alone, "all tensor counters are 0 for 1 of 2 launches ('fmha_reduce')")


@pytest.mark.parametrize("metric", [f"{HMMA}_op_hmma.sum", f"{PATH}op_hmma_src_bf16_dst_fp32_sparsity_off.sum"])
def test_zeros_of_an_operation_that_new_tensor_cores_do_not_use_prove_nothing(metric: str) -> None:
    kernels = lines({metric: "8"}, {metric: "0"} | FP32, names=("flash_fwd", "nvjet_sm100_tst"))
    assert np.isnan(kernels.flops[1])
    assert said(kernels, "all tensor counters are 0 for 1 of 2 launches ('nvjet_sm100_tst')")


def test_zero_tensor_work_leaves_flops_unknown_where_other_units_were_not_counted() -> None:
    kernels = lines({f"{HMMA}.sum": "8"}, {f"{HMMA}.sum": "0"}, names=("nvjet", "norm"))
    assert np.isnan(kernels.flops).all()
    assert kernels.origin["flops"][1] == "unknown: tensor cores were counted, but not the other units"


def test_counters_of_a_subpipe_and_of_its_operations_are_not_added() -> None:
    parts = {"sm__inst_executed_pipe_tensor_op_hmma.sum": "3", "smsp__inst_executed_pipe_tensor_op_hmma.sum": "3"}
    assert launch(parts, name="ampere_fp16_s16816gemm", cc="8.6").flops.tolist() == [3 * 4096]
    nested = {f"{HMMA}.sum": "3", f"{HMMA}_op_hmma.sum": "3"}
    assert launch(nested, name="ampere_fp16_s16816gemm", cc="8.9").flops.tolist() == [3 * 4096]


def test_a_tensor_kernel_whose_tensor_work_nothing_counted_is_unknown_not_small() -> None:
    kernels = launch({f"{SASS}ffma_pred_on.sum": "10"}, name="ampere_s16816gemm_fp16", cc="8.0")
    assert np.isnan(kernels.flops[0])
    assert said(
        kernels, "no counter of tensor cores for this launch ('ampere_s16816gemm_fp16'), whose name indicates them"
    )


def test_zero_of_one_kind_is_not_zero_flops_where_others_were_not_counted() -> None:
    assert np.isnan(launch({f"{SASS}dfma_pred_on.sum": "0"}).flops[0])
    assert launch({f"{SASS}ffma_pred_on.sum": "0"}).flops.tolist() == [0]


@pytest.mark.parametrize(
    ("metrics", "level", "moved"),
    [
        ({"dram__sectors_read.sum": "10", "dram__sectors_write.sum": "5"}, "DRAM", 480),
        ({"dram__bytes.sum.per_second": "2,000,000,000"}, "DRAM", 2000),
        ({"dram__bytes.sum": "7", "dram__bytes_read.sum": "1", "dram__bytes_write.sum": "1"}, "DRAM", 7),
        ({"lts__t_bytes.sum": "64", "lts__t_sectors.sum": "1"}, "L2", 64),
        ({"lts__lts2xbar_cycles_active.sum": "3", "l1tex__m_xbar2l1tex_read_bytes.sum": "9"}, "L2", 96),
        ({"l1tex__m_xbar2l1tex_read_bytes.sum": "9"}, "L2", 9),
        ({"l1tex__t_bytes.sum": "1", "l1tex__lsu_writeback_active_mem_lg.sum": "1"}, "L1", 1),
        ({"l1tex__lsu_writeback_active_mem_lgds.sum": "2"}, "L1", 256),
    ],
)
def test_bytes_of_a_level_come_from_the_first_definition_that_is_there(
    metrics: dict[str, str], level: str, moved: float
) -> None:
    kernels = launch(metrics)
    assert kernels.bytes_by_level[level].tolist() == [moved]
    assert kernels.origin[f"bytes:{level}"][0].lstrip("(").startswith(next(iter(metrics)))


def test_the_bandwidth_of_a_level_has_the_definition_of_its_bytes() -> None:
    rates = {"lts__cycles_elapsed.avg.per_second": "1,000,000", "lts__t_bytes.sum.peak_sustained": "5000"}
    crossing = {"lts__lts2xbar_cycles_active.sum": "3", "lts__lts2xbar_cycles_active.sum.peak_sustained": "96"}
    chip = launch(rates | crossing | {"sm__cycles_elapsed.avg.per_second": "1,000,000"}, chip="a100-pcie-40gb").chip
    assert chip is not None
    assert chip.bandwidth("L2") == 32 * 96 * 1e6


# Peaks per cycle of a clock of 1 GHz, and bytes of DRAM: a chip needs FP32 and DRAM.
PEAKS = {
    "dram__bytes.sum": "64",
    "sm__cycles_elapsed.avg.per_second": "1000000000",
    "lts__cycles_elapsed.avg.per_second": "1000000000",
    "dram__cycles_elapsed.avg.per_second": "1000000000",
    "l1tex__cycles_elapsed.avg.per_second": "1000000000",
    f"sm__{SASS.removeprefix('smsp__')}ffma_pred_on.sum.peak_sustained": "8192",
    "dram__bytes.sum.peak_sustained": "2048",
    "lts__t_bytes.sum.peak_sustained": "5120",
    "lts__lts2xbar_cycles_active.sum.peak_sustained": "80",
    "l1tex__t_bytes.sum.peak_sustained": "8000",
    "l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained": "50",
}
BY_BYTES = {"lts__t_bytes.sum": "2000000"}
BY_CROSSINGS = {"lts__lts2xbar_cycles_active.sum": "62500"}


def table(rows: list[dict[str, str]], **options: Any) -> Kernels:
    """Read a table with a row per launch, of one microsecond if the row has no time."""
    told = [MICROSECOND | PEAKS | row for row in rows]
    metrics = sorted({metric for row in told for metric in row})
    lines = [
        ["ID", "Process ID", "Kernel Name", "CC", *metrics],
        ["", "", "", "", *("ns" if m.startswith("gpu") else "" for m in metrics)],
    ]
    lines += [[str(n), "5", "k", "9.0", *(row.get(m, "") for m in metrics)] for n, row in enumerate(told)]
    return read("".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines).encode(), **options)


@pytest.mark.parametrize(("row", "bandwidth"), [(BY_BYTES, 5.12e12), (BY_CROSSINGS, 2.56e12)])
def test_bytes_of_each_counter_of_l2_are_below_the_roof_of_their_own_counter(
    row: dict[str, str], bandwidth: float
) -> None:
    kernels = table([row, row])
    assert kernels.bytes_by_level["L2"].tolist() == [2e6, 2e6]
    assert kernels.chip is not None
    assert kernels.chip.bandwidth("L2") == bandwidth


TAGS = {"l1tex__t_bytes.sum": "2000000"}


def test_what_tags_of_l1_look_up_is_no_bandwidth_and_without_a_data_sheet_l1_has_no_roof() -> None:
    kernels = table([TAGS])
    assert kernels.bytes_by_level["L1"].tolist() == [2e6]
    assert kernels.chip is not None
    assert "L1" not in kernels.chip.memories
    assert said(kernels, "L1 has no roof: the peak of l1tex__t_bytes is how much its tags look up")
    assert said(kernels, "name a chip, such as chip='h100-sxm'")
    written_back = table([{"l1tex__lsu_writeback_active_mem_lg.sum": "9"}])
    assert written_back.chip is not None
    assert written_back.chip.bandwidth("L1") == 50 * 128 * 1e9
    both = table([TAGS, {"l1tex__lsu_writeback_active_mem_lg.sum": "9"}])
    assert said(both, "bytes of L1 come from different counters")
    assert not said(written_back, "L1 has no roof")
    assert not said(both, "tags look up")


@pytest.mark.parametrize(
    ("chip", "bytes_a_cycle_and_sm", "units"), [("h100-sxm", 128, 132), ("t4", 64, 40), ("a100-sxm-80gb", 128, 108)]
)
def test_the_roof_of_bytes_at_the_tags_of_l1_is_what_its_data_sheet_moves_at_the_measured_clock(
    chip: str, bytes_a_cycle_and_sm: int, units: int
) -> None:
    kernels = table([TAGS], chip=chip)
    assert kernels.chip is not None
    assert kernels.chip.bandwidth("L1") == pytest.approx(bytes_a_cycle_and_sm * units * 1e9, rel=1e-3)
    source = kernels.chip.sources["memories.L1.bandwidth"]
    assert source.title.startswith("data sheet of ")
    assert source.title.endswith(" x measured clock / its clock")
    assert not said(kernels, "L1 has no roof")


@pytest.mark.parametrize("chip", [None, "h100-sxm"])
@pytest.mark.parametrize("rows", [[BY_BYTES, BY_CROSSINGS], [BY_CROSSINGS, BY_BYTES], [{}, BY_CROSSINGS, BY_BYTES]])
def test_bytes_of_a_level_from_different_counters_have_no_roof_in_common_and_say_so(
    rows: list[dict[str, str]], chip: str | None
) -> None:
    kernels = table(rows, chip=chip)
    assert kernels.bytes_by_level["L2"][-2:].tolist() == [2e6, 2e6]
    assert kernels.chip is not None
    assert "L2" not in kernels.chip.memories
    assert {ceiling.memory for ceiling in kernels.chip.ceilings} <= {None, "DRAM", "L1"}
    assert said(
        kernels,
        "bytes of L2 come from different counters, 'lts__lts2xbar_cycles_active x 32', 'lts__t_bytes', whose roofs "
        "differ, so L2 has no roof: profile all launches with the same metrics",
    )


def test_parts_and_sums_of_one_counter_share_its_roof() -> None:
    parts = [
        {"lts__t_sectors.sum": "100"},
        BY_BYTES,
        {f"lts__t_sectors_op_{each}.sum": "25" for each in ("read", "write", "atom", "red")},
    ]
    kernels = table(parts)
    assert kernels.bytes_by_level["L2"].tolist() == [3200, 2e6, 3200]
    assert kernels.chip is not None
    assert kernels.chip.bandwidth("L2") == 5.12e12
    assert not said(kernels, "different counters")


ANY_LAUNCH = st.fixed_dictionaries(
    {},
    optional={
        "gpu__time_duration.sum": st.integers(1, 9999).map(str),
        "sm__cycles_elapsed.avg.per_second": st.sampled_from(["1000000000", "1100000001", "999999937"]),
        "lts__t_bytes.sum": st.sampled_from(["64", "128"]),
        "lts__lts2xbar_cycles_active.sum": st.just("3"),
        "l1tex__m_xbar2l1tex_read_bytes.sum": st.just("9"),
        "l1tex__t_bytes.sum": st.just("7"),
        "l1tex__lsu_writeback_active_mem_lg.sum": st.just("2"),
        "dram__bytes.sum": st.sampled_from(["1", "32"]),
        f"{SASS}ffma_pred_on.sum": st.sampled_from(["0", "5"]),
        f"{PATH}src_bf16_dst_fp32.sum": st.sampled_from(["0", "512"]),
        "sm__inst_executed_pipe_tensor_subpipe_hmma.sum": st.sampled_from(["0", "8"]),
    },
)


# A deadline per example would fail on slow machines.
@given(
    st.lists(ANY_LAUNCH, min_size=2, max_size=5).flatmap(
        lambda rows: st.tuples(st.just(rows), st.permutations(range(len(rows))))
    )
)
def test_roofs_numbers_and_warnings_do_not_depend_on_the_order_of_launches(
    drawn: tuple[list[dict[str, str]], list[int]],
) -> None:
    rows, order = drawn
    kernels, permuted = table(rows), table([rows[row] for row in order])
    assert permuted.chip == kernels.chip
    assert set(permuted.warnings) == set(kernels.warnings)
    for mine, theirs in (
        (kernels.bytes_by_level, permuted.bytes_by_level),
        (kernels.flops_by_precision, permuted.flops_by_precision),
        ({"time": kernels.time}, {"time": permuted.time}),
    ):
        assert mine.keys() == theirs.keys()
        for key, column in mine.items():
            np.testing.assert_array_equal(theirs[key], column[order])


def test_without_a_peak_of_some_precision_there_is_no_chip_until_it_is_named() -> None:
    kernels = read(FIXTURES / "hopper_long.csv")
    assert kernels.chip is None
    assert said(kernels, "the file has no peak of fp32, so there is no chip: name the chip")
    named = read(FIXTURES / "hopper_long.csv", chip="h100-sxm").chip
    assert named is not None
    assert named.peak("bf16") == pytest.approx(540_672 * 1.755e9, rel=1e-12)
    assert named.peak("fp32") == pytest.approx(67e12 * 1.755 / 1.98, rel=1e-12)
    assert named.bandwidth() == pytest.approx(1280 * 2.6e9, rel=1e-12)


def test_runs_of_other_kernels_in_one_file_stay_apart() -> None:
    text = text_of(FIXTURES / "passes_in_one.csv")
    end = text.index('"322"')
    other = text[:end] + text[end:].replace("dot_twin", "norm_twin")
    assert read(other.encode()).names.tolist() == ["axpy_twin", "dot_twin", "axpy_twin", "norm_twin"]


INTEGER = f"{SASS}integer_pred_on.sum"
FLOATS = {f"{SASS}f{form}_pred_on.sum": "0" for form in ("add", "mul", "fma")}


def test_integer_instructions_of_threads_are_left_out_and_said_where_there_are_no_flops() -> None:
    kernels = launch({INTEGER: "4096"} | FLOATS)
    assert kernels.flops.tolist() == [0]
    assert said(kernels, "operations of integers are not counted in this launch ('k'): integers=True counts them")
    some = launch({INTEGER: "4096", f"{SASS}ffma_pred_on.sum": "8"})
    assert some.flops.tolist() == [16]
    assert not said(some, "integers")


def test_integers_count_one_operation_an_instruction_under_int32() -> None:
    kernels = launch({INTEGER: "4096", f"{SASS}ffma_pred_on.sum": "8"}, integers=True)
    assert lists(kernels.flops_by_precision) == {
        "fp32": [16],
        "int32": [4096],
    }
    assert kernels.precision.tolist() == ["int32"]
    assert kernels.origin["flops:int32"][0] == INTEGER
    assert said(kernels, "operations of integers are counted too, under int32: their unit is OP, not FLOP")


def test_the_peak_of_integers_is_that_of_their_counter_at_the_measured_clock() -> None:
    roofs = {
        "sm__sass_thread_inst_executed_op_integer_pred_on.sum.peak_sustained": "8448",
        "sm__cycles_elapsed.avg.per_second": "1500000000",
        "dram__bytes.sum": "64000",
        "dram__bytes.sum.peak_sustained": "2048",
        "dram__cycles_elapsed.avg.per_second": "1000000000",
    }
    kernels = launch({INTEGER: "4096"} | FLOATS | roofs, integers=True)
    assert kernels.chip is not None
    assert kernels.chip.peak("int32") == 8448 * 1.5e9
    assert kernels.arithmetic_intensity.tolist() == [4096 / 64000]


def test_the_memory_that_the_driver_reports_is_usable_and_the_capacity_is_that_of_the_data_sheet() -> None:
    roofs = {
        "sm__sass_thread_inst_executed_op_integer_pred_on.sum.peak_sustained": "8448",
        "sm__cycles_elapsed.avg.per_second": "1500000000",
        "dram__bytes.sum": "64000",
        "dram__bytes.sum.peak_sustained": "2048",
        "dram__cycles_elapsed.avg.per_second": "1000000000",
        "device__attribute_total_memory": "85017886720",
    }
    alone = launch({INTEGER: "4096"} | FLOATS | roofs, integers=True).chip
    known = launch({INTEGER: "4096"} | FLOATS | roofs, integers=True, chip="h100-sxm").chip
    assert alone is not None
    assert known is not None
    assert (alone.memories["DRAM"].capacity, alone.memories["DRAM"].usable) == (85_017_886_720, 85_017_886_720)
    assert (known.memories["DRAM"].capacity, known.memories["DRAM"].usable) == (80 * 2**30, 85_017_886_720)


def test_operations_of_integers_of_tensor_cores_are_under_their_type_and_said_to_be_no_flops() -> None:
    told = {f"{PATH}src_int8_dst_int32.sum": "9000", f"{PATH}src_int4_dst_int32.sum": "0"}
    kernels = launch(told)
    assert lists(kernels.flops_by_precision) == {"int8": [9000]}
    assert said(kernels, "operations of integers are counted too, under int8: their unit is OP, not FLOP")
    by_shape = launch({"sm__inst_executed_pipe_tensor_op_imma.sum": "3"}, name="turing_i16832gemm_s8", cc="8.0")
    assert by_shape.flops_by_precision["int8"].tolist() == [3 * 2 * 16 * 8 * 32]


def test_a_word_for_integers_is_refused() -> None:
    with pytest.raises(TypeError, match="integers must be True or False, got 'yes'"):
        launch({INTEGER: "1"}, integers="yes")
