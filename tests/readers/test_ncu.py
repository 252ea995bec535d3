"""Reading Nsight Compute: counts by their rules, equal in all forms of the file, and roofs at the measured clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.bound import bound
from roofwidget.readers import read
from roofwidget.workloads import Op, Tensor
from tests import places
from tests.places import text_of
from tests.real_files import real_file
from tests.tables import has_columns, lists, warns

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

FIXTURES = places.FIXTURES / "ncu"
A_REPORT = "two_kernels.ncu-rep"
TWO_KERNELS = [A_REPORT, "wide_base.csv", "wide_automatic.csv"]


def twin(name: str, **options: Any) -> Kernels:
    return read(FIXTURES / name, **options)


def real(name: str, **options: Any) -> Kernels:
    return read(real_file(f"ncu/{name}"), **options)


def said(kernels: Kernels, words: str) -> bool:
    return warns(kernels, words)


# -- reports and wide tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWO_KERNELS)
def test_a_report_and_its_tables_in_either_units_tell_the_same(name: str) -> None:
    kernels = twin(name)
    has_columns(
        kernels,
        names=[
            "ampere_bf16_s1688gemm_bf16_128x64_stages_32x6_tn",
            "void image::blur<float, (int)3>(const float *, float *, int)",
        ],
        time=[0.002, 0.0001],
        flops=[50_000_000 * 2048 + 250_000 + 2 * 1_000_000, 1_000_000 + 2 * 5_000_000],
    )
    assert lists(kernels.bytes_by_level) == {
        "DRAM": [400e6, 10e6],
        "L2": [32 * 25e6, 32 * 0.5e6],
        "L1": [128 * 10e6, 128 * 0.4e6],
    }
    has_columns(
        kernels,
        extra={
            "grid": ["(64, 24, 1)", "(1920, 1, 1)"],
            "block": ["(128, 1, 1)", "(32, 8, 1)"],
            "compute capability": [8.0, 8.0],
            "process": ["4100", "4100"],
        },
    )


@pytest.mark.parametrize("name", TWO_KERNELS)
def test_every_number_says_which_metric_and_rule_gave_it(name: str) -> None:
    origin = twin(name).origin
    assert origin["flops:bf16"].tolist() == [
        "sm__inst_executed_pipe_tensor.sum x 2048 (1688 shape in the kernel's name)",
        None,
    ]
    assert origin["flops"][1] == "fp32: fadd + fmul + 2 x ffma of smsp__sass_thread_inst_executed_op_*_pred_on.sum"
    assert origin["bytes:L1"][0] == "l1tex__lsu_writeback_active_mem_lg.sum x 128 (reads only)"
    assert set(origin["bytes:DRAM"]) == {"dram__bytes_read.sum + dram__bytes_write.sum"}


@pytest.mark.parametrize("name", TWO_KERNELS)
def test_roofs_are_at_the_clock_that_was_measured_with_boost_and_data_sheet_beside(name: str) -> None:
    chip = twin(name).chip
    assert chip is not None
    assert chip.name == "NVIDIA A100-PCIE-40GB at 0.705 GHz"
    assert chip.default_precision == "bf16"
    assert chip.peak("fp32") == pytest.approx(2 * 6912 * 705e6, rel=1e-12)
    assert chip.peak("fp64") == pytest.approx(2 * 3456 * 705e6, rel=1e-12)
    assert chip.bandwidth("DRAM") == pytest.approx(1280 * 1.2e9, rel=1e-12)
    assert chip.bandwidth("L2") == pytest.approx(5120 * 0.9e9, rel=1e-12)
    assert chip.bandwidth("L1") == pytest.approx(128 * 108 * 705e6, rel=1e-12)
    # The data sheet's 312 TFLOP/s are at 1.41 GHz, twice the measured clock.
    assert chip.peak("bf16") == pytest.approx(156e12, rel=1e-12)
    beside = {ceiling.key: ceiling.rate for ceiling in chip.ceilings}
    assert beside["data sheet bf16"] == 312e12
    assert beside["boost clock fp32"] == pytest.approx(2 * 6912 * 1.41e9, rel=1e-12)
    assert beside["boost clock DRAM"] == pytest.approx(1280 * 1.215e9, rel=1e-12)
    assert beside["data sheet DRAM"] == 1555e9
    assert said(twin(name), "measured at 0.705 GHz of at most 1.410 GHz")


def test_the_report_and_the_base_unit_table_of_a_real_kernel_agree() -> None:
    report, table = real("rtx2080ti_sgemm.ncu-rep.gz"), real("raw_wide_rtx2080ti_sgemm_base_units.csv")
    assert report.chip is not None
    assert table.chip is not None
    exact = {
        "time": (report.time[0], table.time[0]),
        "bytes": (report.bytes[0], table.bytes[0]),
        "peak": (report.chip.peak("fp32"), table.chip.peak("fp32")),
        "bandwidth": (report.chip.bandwidth(), table.chip.bandwidth()),
        "ridge": (report.chip.ridge_point("fp32"), table.chip.ridge_point("fp32")),
    }
    for what, (one, other) in exact.items():
        assert one == pytest.approx(other, rel=1e-9), what
    # The table prints per-cycle counters to two decimals.
    assert report.flops[0] == pytest.approx(table.flops[0], rel=1e-5)
    assert report.arithmetic_intensity[0] == pytest.approx(table.arithmetic_intensity[0], rel=1e-5)
    assert report.achieved[0] == pytest.approx(table.achieved[0], rel=1e-5)


def test_a_real_report_gives_the_numbers_that_nsight_shows() -> None:
    kernels = real("rtx2080ti_sgemm.ncu-rep.gz")
    assert kernels.chip is not None
    judged = bound(kernels, kernels.chip)
    has_columns(kernels, time=[1.072e-05], flops=[26_419_200], bytes=[819_456])
    assert kernels.arithmetic_intensity[0] == pytest.approx(32.24, abs=0.005)
    assert kernels.chip.peak("fp32") == pytest.approx(11.366e12, rel=1e-4)
    assert kernels.chip.bandwidth() == pytest.approx(637.3e9, rel=1e-4)
    assert kernels.chip.ridge_point("fp32") == pytest.approx(17.83, abs=0.005)
    assert judged.utilization[0] == pytest.approx(0.2168, abs=0.00005)
    assert kernels.bytes_by_level["L2"][0] / kernels.time[0] == pytest.approx(269.0e9, rel=1e-4)
    assert kernels.bytes_by_level["L1"][0] / kernels.time[0] == pytest.approx(257.6e9, rel=1e-4)
    assert said(kernels, "above the data sheet's 616.0 GB/s")


@pytest.mark.parametrize("name", ["rtx2080ti_sgemm.ncu-rep.gz", "raw_wide_rtx2080ti_sgemm_base_units.csv"])
def test_roofs_of_a_real_report_agree_with_its_own_shares_of_peaks_and_with_the_64_bytes_of_l1_on_turing(
    name: str,
) -> None:
    kernels = real(name)
    assert kernels.chip is not None
    rates = {level: moved[0] / kernels.time[0] for level, moved in kernels.bytes_by_level.items()}
    # gpu__dram_throughput and lts__throughput of the report, in percent.
    shares = {"DRAM": 11.99, "L2": 15.38}
    for level, share in shares.items():
        assert 100 * rates[level] / kernels.chip.bandwidth(level) == pytest.approx(share, abs=0.01)
    # 34,816 B a cycle, or 512 B for each of 68 SMs, is what the report's tags look up.
    assert kernels.chip.bandwidth("L1") == pytest.approx(64 * 68 * 1_305_874_122, rel=1e-6)


# -- tensor cores --------------------------------------------------------------------------------------------------


def test_tensor_flops_on_a_real_a100_are_those_of_the_instruction_shape() -> None:
    kernels = real("nersc_a100_cutlass_gemm_20480.csv", chip="a100-pcie-40gb")
    assert kernels.chip is not None
    k8, k16 = 4, 10
    true_work = 2 * 20480**3
    assert kernels.flops[[k8, k16]].tolist() == [true_work, true_work]
    assert kernels.achieved[k8] / 1e12 == pytest.approx(130.45, abs=0.005)
    assert kernels.achieved[k16] / 1e12 == pytest.approx(160.60, abs=0.005)
    by_level = [kernels.flops[k16] / kernels.bytes_by_level[level][k16] for level in ("DRAM", "L2", "L1")]
    assert by_level == pytest.approx([668.4, 68.5, 83.3], abs=0.05)
    # At the 0.765 GHz of the profile the roof is 169.3 TFLOP/s, not 312.
    assert bound(kernels, kernels.chip).utilization[k16] == pytest.approx(0.949, abs=0.0005)
    assert kernels.origin["flops:fp16"][k8].endswith("x 2048 (1688 shape in the kernel's name)")


def test_a_real_fp32_kernel_on_a100_has_no_tensor_and_no_fp16_flops() -> None:
    kernels = real("nersc_a100_smsp_gemm.csv")
    assert kernels.flops_by_precision.keys() == {"fp32"}
    assert kernels.achieved[2] / 1e9 == pytest.approx(1858.1, abs=0.05)
    by_level = [kernels.flops[2] / kernels.bytes_by_level[level][2] for level in ("DRAM", "L2", "L1")]
    assert by_level == pytest.approx([15.636, 5.255, 0.400], abs=0.0005)
    assert said(kernels, "the tensor pipe moved registers in 1 of 3 launches ('void gemm_v0")


def test_register_moves_on_the_tensor_pipe_are_no_flops() -> None:
    kernels = twin(A_REPORT)
    assert np.isnan(kernels.flops_by_precision["bf16"][1])
    assert "fp16_vector" not in kernels.flops_by_precision
    assert said(kernels, "the tensor pipe moved registers in 1 of 2 launches ('void image::blur")


def test_paths_count_flops_without_a_factor_and_never_twice() -> None:
    kernels = twin("hopper_long.csv")
    assert kernels.flops_by_precision["bf16"][0] == 412_316_860_416
    assert kernels.flops_by_precision["fp32"][0] == 2 * 4_194_304
    assert kernels.precision.tolist() == ["bf16", None, None]


def test_tensor_counters_that_are_all_zero_leave_flops_unknown_and_say_so() -> None:
    kernels = twin("hopper_long.csv")
    assert np.isnan(kernels.flops).tolist() == [False, True, False]
    assert said(kernels, "all tensor counters are 0 for 1 of 3 launches ('flash_fwd_splitkv")
    assert said(kernels, ", with SMs up to 86 % busy: ")
    assert "proves nothing on this chip" in kernels.origin["flops"][1]


def test_a_copy_has_zero_flops_not_unknown_ones() -> None:
    kernels = twin("hopper_long.csv")
    assert kernels.flops[2] == 0
    assert kernels.bytes[2] == 128_000_000


def test_real_b200_kernels_have_bytes_and_time_and_take_flops_by_name() -> None:
    name = "b200_fame_prefill_attention.csv"
    kernels = real(name)
    assert np.isnan(kernels.flops).all()
    assert kernels.bytes[0] == 151_251_712
    assert kernels.time[0] == 242.208e-6
    assert said(kernels, "all tensor counters are 0 for 6 of 6 launches")
    assert said(kernels, ", with SMs up to 86 % busy")
    assert said(kernels, "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum")
    given = real(name, flops={"128x256_64x6_2x1": 154.62e9})
    assert given.achieved[0] / 1e12 == pytest.approx(638.4, abs=0.05)
    assert given.arithmetic_intensity[0] == pytest.approx(1022.3, abs=0.05)
    assert np.isnan(given.flops[1:]).all()


def test_volta_has_512_flops_an_instruction_and_packed_halves_count_twice() -> None:
    packed, single = twin("volta_long.csv"), twin("volta_long.csv", fp16_packed=False)
    assert packed.flops_by_precision["fp16"][0] == 8_000_000 * 512
    assert packed.flops_by_precision["fp16_vector"][1] == 2 * 3_000 + 2 * 500 + 4 * 20_000
    assert single.flops_by_precision["fp16_vector"][1] == 3_000 + 500 + 2 * 20_000
    assert packed.time.tolist() == [1e-3, 2e-5]


# -- FLOPs given by name -------------------------------------------------------------------------------------------


def test_flops_by_name_are_of_one_launch_as_number_text_mapping_or_op() -> None:
    q = Tensor("q", (1024, 64), "bf16")
    k, o = Tensor("k", (64, 2048), "bf16"), Tensor("o", (1024, 2048), "bf16")
    product = Op("qk", "matmul", [q, k], [o], 2 * 1024 * 2048 * 64)
    for value in (268_435_456, "268.435456 MFLOP", {"bf16": 268_435_456}, product):
        kernels = twin("hopper_long.csv", flops={r"^flash_\w+": value})
        assert kernels.flops[1] == 268_435_456
        assert kernels.origin["flops"][1].endswith(r"given for names that contain '^flash_\w+'")
    assert kernels.precision[1] == "bf16"
    assert not said(kernels, "all tensor counters are 0")


def test_flops_by_name_keep_what_was_counted_and_refuse_a_name_that_is_nowhere() -> None:
    kernels = twin("hopper_long.csv", flops={"wgmma": 1.0})
    assert kernels.flops_by_precision["bf16"][0] == 412_316_860_416
    assert said(kernels, "flops: 'wgmma' has no effect, because counters give the FLOPs of all its 1 launches")
    with pytest.raises(ValueError, match="no kernel's name contains 'flash_bwd'; there are 'sm90_gemm_bf16"):
        twin("hopper_long.csv", flops={"flash_bwd": 1.0})
    with pytest.raises(TypeError, match=r"flops\['flash'\] must be a number"):
        twin("hopper_long.csv", flops={"flash": len})
    with pytest.raises(ValueError, match="is not a regular expression"):
        twin("hopper_long.csv", flops={"flash(": 1.0})


def test_the_flops_of_a_summary_are_given_a_launch_and_counted_over_all() -> None:
    assert twin("summary.csv", flops={"gather": 1e6}).flops.tolist() == [40e6]


# -- other tables --------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_banners_and_output_between_rows_do_not_disturb() -> None:
    kernels = twin("hopper_long.csv")
    has_columns(kernels, time=[1.25e-3, 80e-6, 50e-6], extra={"id": ["0", "1", "2"]})


def test_utf_16_as_a_windows_shell_writes_it_is_read() -> None:
    text = (FIXTURES / "hopper_long.csv").read_text(encoding="utf-8-sig")
    assert read(text.encode("utf-16")) == twin("hopper_long.csv")


def test_european_numbers_are_decided_once_for_the_file() -> None:
    kernels = twin("european_long.csv")
    has_columns(
        kernels,
        time=[117_344e-9],
        bytes=[27_595_520],
        extra={"L2 hit rate (%)": [65.77]},
        flops_by_precision={"fp64": [64_000]},
    )


def test_a_count_alone_shows_the_notation_for_it_has_no_fraction() -> None:
    rows = text_of(FIXTURES / "european_long.csv").splitlines()
    kept = [row for row in rows if "27.595" not in row and "65,77" not in row]
    assert len(kept) == len(rows) - 2
    assert read("\n".join(kept).encode()).time.tolist() == [117_344e-9]


def test_the_details_page_gives_time_and_bytes_and_no_flops() -> None:
    kernels = twin("details.csv")
    has_columns(
        kernels, time=[1.25e-3], bytes=pytest.approx([640e9 * 1.25e-3]), flops=None, extra={"SM clock (Hz)": [1.4e9]}
    )
    assert said(kernels, "the page Details has no FLOPs, peaks or bytes of caches: read the report (.ncu-rep), or its")
    assert not said(twin("wide_base.csv"), "the page Details")
    assert real("details_rtx2080ti_sgemm.csv").time.tolist() == [1.072e-05]


def test_a_summary_counts_its_launches_and_keeps_the_spread() -> None:
    kernels = twin("summary.csv")
    has_columns(kernels, count=[40], bytes=[40 * (1000.5 + 249.5) * 32], time=pytest.approx([40 * 5e-6]))
    assert (kernels.extra["time min (s)"][0], kernels.extra["time max (s)"][0]) == (4e-6, 9e-6)
    whole = real("summary_per_kernel_a100_metrics.csv")
    assert whole.names.tolist() == ["kernel_B", "kernel_A"]
    assert whole.bytes[0] == pytest.approx(100 * 32 * 402_339.36, rel=1e-12)


def test_a_real_saxpy_moves_607_gigabytes_a_second_and_has_flops_only_when_given() -> None:
    kernels = real("rtx5070_ncu2026.2_saxpy.csv")
    assert kernels.bytes[0] == 134_221_568 + 43_631_104
    assert kernels.bytes[0] / kernels.time[0] / 1e9 == pytest.approx(607.2, abs=0.05)
    assert np.isnan(kernels.flops[0])
    assert kernels.origin["bytes:DRAM"][0] == "dram__bytes_op_read.sum + dram__bytes_op_write.sum"
    given = real("rtx5070_ncu2026.2_saxpy.csv", flops={"saxpy": 2 * 2**24})
    assert given.arithmetic_intensity[0] == pytest.approx(0.1887, abs=0.00005)


# -- several passes ------------------------------------------------------------------------------------------------


def test_passes_of_one_program_are_joined_from_files_a_folder_or_one_file() -> None:
    folder = FIXTURES / "passes"
    for kernels in (
        read(folder / "bytes.csv", passes=folder / "flops.csv"),
        read(folder),
        twin("passes_in_one.csv"),
    ):
        has_columns(
            kernels, names=["axpy_twin", "dot_twin"], bytes=[6_000_000, 9_000], flops=[2_000, 5_000], time=[8e-6, 8e-6]
        )


def test_processes_with_the_same_metrics_are_launches_of_their_own() -> None:
    text = text_of(FIXTURES / "passes" / "bytes.csv")
    both = read((text + text.replace('"301"', '"302"')).encode())
    assert both.bytes.tolist() == [6_000_000, 9_000, 6_000_000, 9_000]


def test_one_device_of_several_can_be_chosen() -> None:
    *rest, last = text_of(FIXTURES / "wide_base.csv").splitlines()
    text = "\n".join([*rest, last.replace('"twin3.7","0"', '"twin3.7","3"')]).encode()
    assert read(text).extra["device"].tolist() == ["0", "3"]
    assert read(text, device=3).flops.tolist() == [11_000_000]
    with pytest.raises(rw.ProfileError, match="no launch on device 2; there is 0, 3"):
        read(text, device="2")


def test_launches_on_different_chips_have_no_roof_in_common() -> None:
    *rest, last = text_of(FIXTURES / "wide_base.csv").splitlines()
    both = read("\n".join([*rest, last.replace("A100-PCIE", "A30")]).encode())
    assert both.chip is None
    assert said(both, "the launches ran on several devices, so there is no chip")


# -- recorded on an H100: kernels of known counts, see fixtures/gpu/README.md ----------------------------------------

THREADS = 264 * 256
ITEMS = 2**24
KNOWN_FLOPS: dict[str, tuple[float, str]] = {
    "void fma_chain<float>": ((2 * 8 * 512 + 23) * THREADS, "fp32"),
    "void fma_chain<double>": ((2 * 8 * 512 + 27) * THREADS, "fp64"),
    "add_chain": ((8 * 512 + 1) * THREADS, "fp32"),
    "mul_chain": ((8 * 512 + 1) * THREADS, "fp32"),
    "half2_chain": (2 * 2 * 8 * 512 * THREADS, "fp16_vector"),
    "divergent_fma": (2 * 512 * THREADS / 2, "fp32"),
    # One addition before 512 reciprocal roots, which no counter has.
    "rsqrt_chain": (THREADS, "fp32"),
    "integer_chain": (0, "fp32"),
    "tensor_product": (2 * 16**3 * 512 * THREADS / 32, "fp16"),
    "copy": (0, "fp32"),
    "triad": (2 * 4 * ITEMS, "fp32"),
    "read_only": (0, "fp32"),
    "write_only": (0, "fp32"),
    "histogram": (0, "fp32"),
    "tiled_sgemm": (2 * 1024**3, "fp32"),
}


def recorded(name: str, **options: Any) -> Kernels:
    return read(FIXTURES.parent / "gpu" / name, **options)


@pytest.mark.parametrize("name", ["kernels.raw.csv.gz", "kernels.roofline.csv.gz"])
def test_the_flops_of_kernels_on_an_h100_are_those_of_their_source(name: str) -> None:
    kernels = recorded(name)
    assert [name.partition("(")[0] for name in kernels.names] == list(KNOWN_FLOPS)
    for row, (flops, precision) in enumerate(KNOWN_FLOPS.values()):
        found = {name: float(column[row]) for name, column in kernels.flops_by_precision.items() if column[row] > 0}
        assert found == ({precision: flops} if flops else {})
    assert not np.isnan(kernels.flops).any()


def test_a_table_in_base_units_has_fewer_digits_of_the_same_flops() -> None:
    kernels = recorded("kernels.raw_base_units.csv.gz")
    # Rates have two decimals: 3.05 instead of 3.049729 additions per cycle of the smallest kernel.
    np.testing.assert_allclose(kernels.flops, [flops for flops, _ in KNOWN_FLOPS.values()], rtol=1e-4)


def test_half_precision_of_threads_on_the_tensor_pipe_of_hopper_is_arithmetic_and_its_register_moves_are_not() -> None:
    kernels = recorded("kernels.raw.csv.gz")
    assert not said(kernels, "a tensor pipe was active")
    assert said(kernels, "the tensor pipe moved registers in 1 of 15 launches ('tiled_sgemm(")
    # The roofline set counts the FLOPs of all paths, but not the instructions of the fma pipe.
    small = recorded("kernels.roofline.csv.gz")
    assert not said(small, "a tensor pipe was active")
    assert said(small, "hfma is left out in 1 of 15 launches ('tiled_sgemm(")
    assert said(small, "sm__inst_executed_pipe_fma_type_fp16 (H100)")


def test_bytes_of_dram_on_an_h100_are_close_to_what_streams_must_move() -> None:
    must = {"copy": 32 * ITEMS, "triad": 48 * ITEMS, "read_only": 16 * ITEMS, "write_only": 16 * ITEMS}
    for name in ("kernels.raw.csv.gz", "kernels.metrics.csv.gz", "kernels.details.csv.gz"):
        kernels = recorded(name)
        found = {name.partition("(")[0]: moved for name, moved in zip(kernels.names, kernels.bytes, strict=True)}
        # The L2 of 50 MB keeps a part of the last writes.
        assert all(moved - 50e6 < found[kernel] < 1.02 * moved for kernel, moved in must.items())


def test_the_peak_of_fp16_on_hopper_is_that_of_instructions_of_warp_groups() -> None:
    chip = recorded("kernels.raw.csv.gz").chip
    assert chip is not None
    assert chip.clock is not None
    # Per SM and cycle: 4096 FLOPs by hgmma, dense, and 2730 by hmma.
    assert chip.peak_flops["fp16"] == chip.peak_flops["bf16"] == 2 * chip.peak_flops["tf32"]
    assert chip.peak_flops["fp16"] == pytest.approx(132 * 4096 * chip.clock)
