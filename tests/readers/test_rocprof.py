"""Reading AMD's profiles: counters become FLOPs and bytes by the rules of the architecture."""

from __future__ import annotations

import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError
from tests import places
from tests.places import text_of, write
from tests.real_files import real_file
from tests.tables import has_columns, warns

FIXTURES = places.FIXTURES / "rocprof"
TRIAD, WIPE, TILES = range(3)


def changed(folder: Path, name: str, old: str, new: str) -> Path:
    """Copy the folder of the MI200 fixture and change one of its tables."""
    shutil.copytree(FIXTURES / "gfx90a", folder, dirs_exist_ok=True)
    text = (folder / name).read_bytes().decode()
    assert old in text
    (folder / name).write_bytes(text.replace(old, new, 1).encode())
    return folder


def test_vector_flops_are_64_lanes_a_wave_with_two_for_an_fma() -> None:
    kernels = rw.read(FIXTURES / "gfx90a")
    # 64 x 2 x 32,768; none; 64 x (10 + 200 + 2 x 3000).
    has_columns(kernels, flops_by_precision={"fp64": [4_194_304, 0, 397_440], "fp32": [0, 0, 64 * 7]})
    assert "SQ_INSTS_VALU_*_F64" in kernels.origin["flops:fp64"][TRIAD]


def test_matrix_flops_are_512_a_counted_operation_and_have_the_matrix_units_peak() -> None:
    kernels = rw.read(FIXTURES / "gfx90a")
    assert kernels.flops_by_precision["fp64_matrix"].tolist() == [0, 0, 2**30]
    assert kernels.chip is not None
    judged = rw.bound(kernels, kernels.chip)
    # 2**30 at 40 TFLOP/s, 397,440 at 20 and 448 at 21.
    assert judged.compute_time[TILES] == pytest.approx(2**30 / 40e12 + 397_440 / 20e12 + 448 / 21e12, rel=1e-14)


def test_hbm_bytes_on_gfx90a_are_requests_of_32_and_64_bytes() -> None:
    kernels = rw.read(FIXTURES / "gfx90a")
    # Reads 64 x 524,288 + 32 x 32, writes 64 x 262,044 + 32 x 200: the two arrays read and the one written, and a bit.
    assert kernels.bytes_by_level["HBM"].tolist() == [33_555_456 + 16_777_216, 131_072 * 64, (65_536 + 16_384) * 64]


def test_caches_on_gfx90a_have_lines_of_64_bytes_and_lds_four_bytes_a_bank() -> None:
    kernels = rw.read(FIXTURES / "gfx90a")
    has_columns(
        kernels,
        bytes_by_level={
            "L2": [3 * 2**24, 2**23, 64 * (600_000 + 16_384 + 120)],
            "L1": [64 * 1_572_864, 0, 64_000_000],
            "LDS": [0, 0, 480_000 * 4 * 32],
        },
    )


def test_times_are_exact_beyond_what_a_double_holds_in_nanoseconds() -> None:
    assert rw.read(FIXTURES / "gfx90a").time.tolist() == [48.32e-6, 9.12e-6, 231e-6]


def test_times_that_are_means_of_several_passes_keep_their_decimals(tmp_path: Path) -> None:
    changed(tmp_path, "pmc_perf.csv", ",1700000000000000123,", ",1700000000000000123.75,")
    path = tmp_path / "pmc_perf.csv"
    text = path.read_bytes().decode()
    path.write_bytes(text.replace("1700000000000048443,", "1700000000000048445.5,", 1).encode())
    assert rw.read(tmp_path).time[TRIAD] == pytest.approx(48_321.75e-9, rel=1e-12)


def test_a_kernel_without_flops_is_listed_with_zero_and_bound_by_its_memory() -> None:
    kernels = rw.read(FIXTURES / "gfx90a")
    assert (kernels.names[WIPE], kernels.flops[WIPE]) == ("wipe(float*, unsigned long)", 0)
    assert kernels.chip is not None
    assert rw.bound(kernels, kernels.chip).bound_by[WIPE] == "HBM"


def test_a_profile_of_nothing_but_copies_has_zero_flops_not_unknown_ones(tmp_path: Path) -> None:
    lines = (FIXTURES / "gfx90a" / "pmc_perf.csv").read_bytes().decode().splitlines(keepends=True)
    path = tmp_path / "pmc_perf.csv"
    path.write_bytes("".join([lines[0], lines[1 + WIPE]]).encode())
    kernels = rw.read(path)
    assert kernels.flops.tolist() == [0]
    assert kernels.origin["flops"][0].startswith("all zero: 64 lanes x (ADD + MUL + 2 FMA + TRANS)")


def test_the_chip_of_an_unlisted_model_is_what_the_benchmark_measured() -> None:
    chip = rw.read(FIXTURES / "gfx90a").chip
    assert chip is not None
    assert (chip.name, chip.vendor, chip.ridge_point("fp64")) == ("MI200", "AMD", 16)
    assert list(chip.memories) == ["HBM", "L2", "L1"]
    assert chip.sources["peak_flops.fp64"].confidence == "measured"
    assert [(check.figure, check.value) for check in chip.checks] == [("memories.HBM.bandwidth", 1.6e12)]
    assert rw.read_ceilings(FIXTURES / "gfx90a" / "roofline.csv") == rw.read_ceilings(FIXTURES / "gfx90a") == chip


def test_a_table_of_ceilings_alone_is_a_chip_without_kernels() -> None:
    kernels = rw.read(FIXTURES / "gfx90a" / "roofline.csv")
    assert (len(kernels), kernels.chip) == (0, rw.read_ceilings(FIXTURES / "gfx90a"))
    assert "has ceilings and no kernels" in kernels.warnings[0]


def test_further_columns_are_kept() -> None:
    extra = rw.read(FIXTURES / "gfx90a").extra
    assert extra["dispatch"].tolist() == [5, 6, 7]
    assert set(extra["workgroup"]) == {128}


def test_one_table_of_a_folder_finds_what_lies_beside_it() -> None:
    whole, table = rw.read(FIXTURES / "gfx90a"), rw.read(FIXTURES / "gfx90a" / "pmc_perf.csv")
    assert table == whole
    assert table.chip == whole.chip


def test_a_zip_archive_of_the_folder_is_the_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "profile.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in (FIXTURES / "gfx90a").iterdir():
            archive.write(path, f"twin/MI200/{path.name}")
    packed = rw.read(tmp_path / "profile.zip")
    assert packed == rw.read(FIXTURES / "gfx90a")
    assert pickle.loads(pickle.dumps(packed)) == packed  # noqa: S301 - our own bytes


def test_old_names_of_columns_are_known(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gfx90a", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "pmc_perf.csv"
    text = path.read_bytes().decode()
    for new, old in (("Kernel_Name", "KernelName"), ("Start_Timestamp", "BeginNs"), ("End_Timestamp", "EndNs")):
        text = text.replace(new, old, 1)
    path.write_bytes(text.replace("Grid_Size", "grd", 1).encode())
    kernels, new_names = rw.read(tmp_path), rw.read(FIXTURES / "gfx90a")
    assert kernels.time.tolist() == new_names.time.tolist()
    assert kernels.names.tolist() == new_names.names.tolist()
    assert kernels.extra["grid"].tolist() == new_names.extra["grid"].tolist()


def test_passes_are_joined_by_dispatch_and_the_table_of_times_is_believed() -> None:
    kernels = rw.read(FIXTURES / "gfx942")
    has_columns(
        kernels,
        names=["reduce(float*)", "gemm_bf16", "reduce(float*)"],
        flops_by_precision={"fp32": [256_000, 0, 0], "bf16": [0, 512_000_000, 0]},
        time=[507e-9, 509e-9, 511e-9],
    )
    assert kernels.origin["time"][0] == "End_Timestamp - Start_Timestamp of timestamps.csv"


def test_on_gfx942_a_bubble_is_a_read_of_128_bytes_and_channels_are_summed() -> None:
    # 100 reads of 32 bytes, 4096 d of 128 and 4196 d less these of 64; 100 writes of 64 bytes in four channels.
    expected = [128 * 4096 * d + 64 * (100 * d - 100) + 32 * 100 + 64 * 100 for d in (7, 9, 11)]
    assert rw.read(FIXTURES / "gfx942").bytes_by_level["HBM"].tolist() == expected


def test_on_gfx942_l2_is_read_by_128_bytes_and_written_by_64() -> None:
    kernels = rw.read(FIXTURES / "gfx942")
    has_columns(kernels, bytes_by_level={"L2": [128 * 500 + 64 * 100] * 3, "L1": [128 * 2000] * 3})
    assert "upper bound" in kernels.origin["bytes:L1"][0]


def test_a_listed_model_has_its_sheet_and_the_benchmarks_figures_under_it() -> None:
    kernels = rw.read(FIXTURES / "gfx942")
    chip = kernels.chip
    assert chip is not None
    assert (chip.id, chip.peak_flops) == ("mi300x", rw.chip("mi300x").peak_flops)
    measured = {ceiling.key: ceiling.rate for ceiling in chip.ceilings if ceiling not in rw.chip("mi300x").ceilings}
    assert measured == {
        "measured HBM": 4.1e12,
        "measured Infinity Cache": 11e12,
        "measured L2": 20e12,
        "measured fp32": 120e12,
        "measured bf16": 600e12,
        "measured fp16": 1200e12,
        "measured fp64_tensor": 90e12,
    }
    assert warns(kernels, "bf16 rate is half that of fp16")


def test_a_divided_gpu_is_not_taken_for_the_whole_one(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gfx942", tmp_path, dirs_exist_ok=True)
    (tmp_path / "roofline.csv").unlink()
    table = tmp_path / "sysinfo.csv"
    write(table, text_of(table).replace("SPX", "CPX"))
    kernels = rw.read(tmp_path)
    assert kernels.chip is None
    assert "choose a chip" in kernels.warnings[0]


def test_gfx950_counts_its_reads_by_size() -> None:
    kernels = rw.read(FIXTURES / "gfx950_counter_collection.csv", gfx="gfx950")
    assert kernels.names.tolist() == ["touch", "scale"]
    # A counter in two rows is summed; the other dispatch has only one of the six counters.
    scaled = 128 * 1000 + 64 * 200 + 32 * 30 + 64 * 500
    assert np.array_equal(kernels.bytes_by_level["HBM"], [np.nan, scaled], equal_nan=True)
    assert kernels.time.tolist() == [50e-9, 600e-9]


def test_gfx950_without_these_counters_has_a_lower_bound_and_says_so(tmp_path: Path) -> None:
    text = text_of(FIXTURES / "gfx950_counter_collection.csv")
    path = write(
        tmp_path / "counter_collection.csv", "\n".join(line for line in text.splitlines() if "128B" not in line)
    )
    kernels = rw.read(path, gfx="gfx950")
    assert kernels.bytes_by_level["HBM"][1] == 64 * 1230 - 32 * 30 + 64 * 600 + 64 * 500
    assert "lower bound" in kernels.origin["bytes:HBM"][1]


def test_the_first_rocprof_tells_kibibytes_of_hbm_and_unknown_flops() -> None:
    kernels = rw.read(FIXTURES / "results.csv")
    assert kernels.names.tolist() == ["laplacian<4>"]
    assert (kernels.bytes_by_level["HBM"][0], kernels.time[0]) == (1024 * (2100.25 + 1048.5), 77e-6)
    assert np.isnan(kernels.flops[0])
    assert kernels.origin["time"][0] == "DurationNs of results.csv"
    assert warns(kernels, "FLOPs are unknown")


def test_without_an_architecture_only_hbm_is_known_until_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "pmc_perf.csv"
    shutil.copy(FIXTURES / "gfx90a" / "pmc_perf.csv", path)
    kernels = rw.read(path)
    assert (list(kernels.bytes_by_level), kernels.chip) == (["HBM"], None)
    assert warns(kernels, "such as gfx=")
    told = rw.read(path, gfx="gfx942")
    assert told.bytes_by_level["L2"][TRIAD] == 128 * 524_288 + 64 * 262_144
    with pytest.raises(ValueError, match=r"gfx must be one of 'gfx908'.*got 'gfx1100'"):
        rw.read(path, gfx="gfx1100")


def test_an_architecture_with_other_counters_has_no_bytes(tmp_path: Path) -> None:
    kernels = rw.read(changed(tmp_path, "sysinfo.csv", "gfx90a", "gfx1100"))
    assert np.isnan(kernels.bytes).all()
    assert warns(kernels, "counters of gfx1100 are not supported")


def test_missing_counters_of_one_precision_are_said(tmp_path: Path) -> None:
    kernels = rw.read(changed(tmp_path, "pmc_perf.csv", "SQ_INSTS_VALU_ADD_F16", "SQ_INSTS_VALU_ADD_OTHER"))
    assert warns(kernels, "counters of fp16 vector instructions are missing")


def collected(*dispatches: dict[str, float]) -> bytes:
    """Return a table of rocprofv3: a row per counter of each dispatch."""
    head = '"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
    rows = [
        f'{n},"daxpy(double*, double*)","{name}",{value},1000000,1015120'
        for n, counters in enumerate(dispatches, 1)
        for name, value in counters.items()
    ]
    return "\n".join([head, *rows, ""]).encode()


FMA, ADD, MUL, TRANS = (f"SQ_INSTS_VALU_{kind}_F64" for kind in ("FMA", "ADD", "MUL", "TRANS"))
MFMA = {f"SQ_INSTS_VALU_MFMA_MOPS_{kind}": 0.0 for kind in ("F16", "BF16", "F32", "F64")}


def test_three_of_four_counters_of_vector_instructions_count_and_the_fourth_is_named() -> None:
    kernels = rw.read(collected({FMA: 16384, ADD: 1024, MUL: 1024}))
    # (2 x 16,384 + 1024 + 1024) x 64.
    assert kernels.flops_by_precision["fp64"].tolist() == [2_228_224]
    rule = "64 lanes x (ADD + MUL + 2 FMA) of SQ_INSTS_VALU_*_F64, masked lanes too"
    assert kernels.origin["flops:fp64"][0] == rule
    assert (
        "counters of fp64 vector instructions are missing: transcendental operations were not counted "
        "(SQ_INSTS_VALU_TRANS_F64): FLOPs may be too low"
    ) in kernels.warnings
    assert "counters of fp16 and fp32 vector instructions are missing: FLOPs may be too low" in kernels.warnings


def test_one_counter_alone_counts_and_the_others_are_named() -> None:
    kernels = rw.read(collected({ADD: 5}))
    assert kernels.flops.tolist() == [64 * 5]
    said = "multiplications and fused multiply-adds and transcendental operations were not counted"
    assert warns(kernels, said)


@pytest.mark.parametrize("dispatch", [{FMA: 0.0, ADD: 0.0, MUL: 0.0}, MFMA])
def test_zeros_of_some_counters_are_not_zero_flops(dispatch: dict[str, float]) -> None:
    kernels = rw.read(collected(dispatch))
    assert np.isnan(kernels.flops).tolist() == [True]
    said = "FLOPs of 1 of 1 dispatches are unknown: some counters are missing, and the others are 0 or missing too"
    assert said in kernels.warnings
    full = dispatch | dict.fromkeys((FMA, ADD, MUL, TRANS), 0.0)
    assert rw.read(collected(full)).flops.tolist() == [0]


def test_a_dispatch_without_counters_that_others_have_is_unknown_and_said() -> None:
    kernels = rw.read(collected({FMA: 1, ADD: 0, MUL: 0, TRANS: 0}, {FMA: 1, ADD: 0, MUL: 0}))
    np.testing.assert_array_equal(kernels.flops, [128, np.nan])
    assert any(warning.startswith("FLOPs of 1 of 2 dispatches are unknown") for warning in kernels.warnings)


@pytest.mark.parametrize(
    ("gfx", "left", "told"),
    [
        (None, ["F16", "BF16", "F32"], "fp64 matrix instructions are missing (SQ_INSTS_VALU_MFMA_MOPS_F64)"),
        ("gfx90a", ["F16"], "bf16 and fp32 and fp64 matrix instructions are missing"),
        ("gfx942", ["F16", "BF16", "F32", "F64"], "fp8 matrix instructions are missing (SQ_INSTS_VALU_MFMA_MOPS_F8)"),
        ("gfx908", ["F16", "BF16", "F32"], None),
    ],
)
def test_types_of_matrix_instructions_without_a_counter_are_named(
    gfx: str | None, left: list[str], told: str | None
) -> None:
    vector = dict.fromkeys((FMA, ADD, MUL, TRANS), 1.0)
    data = collected(vector | {f"SQ_INSTS_VALU_MFMA_MOPS_{kind}": 2.0 for kind in left})
    kernels = rw.read(data) if gfx is None else rw.read(data, gfx=gfx)
    assert kernels.flops.tolist() == [5 * 64 + len(left) * 2 * 512]
    said = [warning for warning in kernels.warnings if "matrix instructions" in warning]
    assert [warning.removeprefix("counters of ").startswith(told or "") for warning in said] == [True] * (
        told is not None
    )


@pytest.mark.parametrize(
    ("counters", "level", "missing"),
    [
        ({"FETCH_SIZE": 8.0}, "HBM", "WRITE_SIZE is missing"),
        (
            {"TCC_EA_RDREQ_sum": 8.0, "TCC_EA_RDREQ_32B_sum": 0.0, "TCC_EA_WRREQ_sum": 1.0},
            "HBM",
            "TCC_EA_WRREQ_64B_sum is missing",
        ),
        (
            {"TCP_TCC_READ_REQ_sum": 8.0, "TCP_TCC_WRITE_REQ_sum": 8.0},
            "L2",
            "TCP_TCC_ATOMIC_WITH_RET_REQ_sum, TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum are missing",
        ),
        ({"SQ_LDS_IDX_ACTIVE": 8.0}, "LDS", "SQ_LDS_BANK_CONFLICT is missing"),
    ],
)
def test_bytes_of_a_level_with_some_of_its_counters_are_unknown_and_the_others_are_named(
    counters: dict[str, float], level: str, missing: str
) -> None:
    kernels = rw.read(collected(counters), gfx="gfx90a")
    assert level not in kernels.bytes_by_level
    said = f"bytes of {level} are unknown, because only some of their counters were profiled: {missing}"
    assert said in kernels.warnings


def test_integers_of_one_width_count_and_the_other_counter_is_named() -> None:
    data = collected({"SQ_INSTS_VALU_INT32": 5.0} | dict.fromkeys((FMA, ADD, MUL, TRANS), 0.0))
    kernels = rw.read(data, integers=True)
    assert kernels.flops_by_precision["int32"].tolist() == [320]
    assert "operations of integers were not all counted: SQ_INSTS_VALU_INT64 was not profiled" in kernels.warnings


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        (
            "pmc_perf.csv",
            ",32768,",
            ",many,",
            "row 2, column 'SQ_INSTS_VALU_FMA_F64': expected a finite number from 0, got 'many'",
        ),
        (
            "pmc_perf.csv",
            ",1700000000000000123,",
            ",1700000000000100123,",
            "row 2, column 'End_Timestamp': the kernel ends before it starts",
        ),
        ("pmc_perf.csv", ",5\r\n", ",5.5.5\r\n", "row 2, column 'Dispatch_ID': expected a finite number"),
        (
            "pmc_perf.csv",
            ",5\r\n",
            ",5.5\r\n",
            "row 2, column 'Dispatch_ID': expected a whole number with all digits",
        ),
        (
            "pmc_perf.csv",
            ",1700000000000000123,",
            ",1.7E+18,",
            "row 2, column 'Start_Timestamp': expected a whole number with all digits, got '1.7E+18'",
        ),
        ("roofline.csv", "1250.0,", "-1250.0,", "row 2, column 'HBMBw': expected a finite number from 0"),
        ("sysinfo.csv", "1600.0,", "fast,", "row 2, column 'hbm_bw': expected a finite number"),
    ],
)
def test_a_bad_cell_is_named_by_file_row_and_column(tmp_path: Path, name: str, old: str, new: str, told: str) -> None:
    with pytest.raises(ProfileError) as caught:
        rw.read(changed(tmp_path, name, old, new))
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/{name}: ")


def test_a_table_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pmc_perf.csv"
    path.write_bytes((FIXTURES / "gfx90a" / "pmc_perf.csv").read_bytes()[:-40])
    with pytest.raises(ProfileError, match="row 4: the file ends within a row"):
        rw.read(path)


def test_a_table_without_dispatches_and_one_of_other_kernels_are_refused(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gfx942", tmp_path, dirs_exist_ok=True)
    first, second = tmp_path / "pmc_perf_0.csv", tmp_path / "pmc_perf_1.csv"
    write(second, text_of(second).replace("gemm_bf16", "gemm_fp8"))
    with pytest.raises(ProfileError, match=r"pmc_perf_1.csv: row 3: is kernel 'gemm_fp8', but 'gemm_bf16' in .*_0.csv"):
        rw.read(tmp_path)
    write(first, text_of(first).splitlines()[0] + "\n")
    with pytest.raises(ProfileError, match=r"pmc_perf_0.csv: the table has no dispatch"):
        rw.read(tmp_path)


def test_a_dispatch_that_one_pass_lacks_is_unknown_there(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gfx942", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "pmc_perf_1.csv"
    lines = text_of(path).splitlines(keepends=True)
    write(path, "".join(lines[:2] + lines[3:]))
    kernels = rw.read(tmp_path)
    assert np.isnan(kernels.bytes_by_level["HBM"]).tolist() == [False, True, False]
    assert "1 of 3 dispatches are missing in one of the passes, so their counts are unknown" in kernels.warnings


def test_folders_that_hold_no_profile_or_two_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(FIXTURES / "gfx90a", tmp_path / name)
    with pytest.raises(
        ProfileError, match=r"the folder has several profiles: 'a/pmc_perf.csv', 'b/pmc_perf.csv'; give the path of one"
    ):
        rw.read(tmp_path)
    (tmp_path / "a" / "pmc_perf.csv").unlink()
    with pytest.raises(ProfileError, match=r"the folder has neither pmc_perf.csv nor a database"):
        rw.read(tmp_path / "a")
    (tmp_path / "b" / "roofline.csv").unlink()
    with pytest.raises(ProfileError, match=r"the folder has no roofline.csv"):
        rw.read_ceilings(tmp_path / "b")


def test_a_million_columns_are_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "pmc_perf.csv", "Kernel_Name,End_Timestamp," + ",".join(f"c{n}" for n in range(1_000_000)) + "\n"
    )
    with pytest.raises(ProfileError, match="a table of 1,000,002 columns; the limit is 20,000"):
        rw.read(path)


def test_the_real_mi200_copy_comes_out_as_known() -> None:
    kernels = rw.read(real_file("rocprof/MI200_device_filter__pmc_perf.csv"))
    assert len(kernels) == 3
    assert (kernels.bytes_by_level["HBM"][0], kernels.flops[0], kernels.time[0]) == (16_777_728, 0, 20.64e-6)
    assert (kernels.bytes_by_level["L2"][0], kernels.bytes_by_level["L1"][0]) == (16_777_216, 33_554_432)
    assert kernels.bytes_by_level["HBM"].sum() == 45_254_144
    assert kernels.time.sum() == pytest.approx(52.64e-6, rel=1e-14)
    assert kernels.names[0] == "vecCopy(double*, double*, double*, int, int)"
    assert kernels.chip is not None
    assert (kernels.chip.bandwidth("HBM"), kernels.chip.peak("fp64_matrix")) == (1388.7948e9, 41498.918e9)
    judged = rw.bound(kernels, kernels.chip)
    # 16,777,728 B in 20.64 us is 812.9 GB/s of the measured 1388.8.
    assert (judged.bound_by[0], round(float(judged.utilization[0]), 4)) == ("HBM", 0.5853)


def test_the_real_mi300a_copy_reads_lines_of_128_bytes() -> None:
    kernels = rw.read(real_file("rocprof/MI300A_A1_device_filter__pmc_perf.csv"))
    # 65,536 reads of 128 bytes and 78 of 64, 131,072 writes of 64: the two arrays of 8 MiB, and 4,992 bytes.
    assert kernels.bytes_by_level["HBM"][0] == 2 * 2**23 + 4_992
    assert kernels.bytes_by_level["L2"].tolist() == [16_777_216] * 3
    assert (kernels.time[0], kernels.flops[0]) == (7.731e-6, 0)
    assert kernels.chip is not None
    assert kernels.chip.id == "mi300a"


def test_a_table_cut_off_anywhere_in_a_row_is_refused_or_said(tmp_path: Path) -> None:
    whole = (FIXTURES / "gfx90a" / "pmc_perf.csv").read_bytes()
    path = tmp_path / "pmc_perf.csv"
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        path.write_bytes(whole[:end])
        is_end_of_row = whole[:end].endswith((b"\r", b"\n"))
        try:
            kernels = rw.read(path, gfx="gfx90a")
        except ProfileError:
            continue
        assert len(kernels) == len(whole[:end].splitlines()) - 1, end
        said = [warning for warning in kernels.warnings if "ends without a line end" in warning]
        assert bool(said) == (not is_end_of_row), end


@pytest.mark.parametrize("cells", [1, 2, 5, 30])
def test_a_dispatch_cut_off_in_its_first_half_is_not_lost_in_silence(cells: int, tmp_path: Path) -> None:
    text = text_of(FIXTURES / "gfx90a" / "pmc_perf.csv").rstrip()
    lines = text.split("\n")
    path = write(tmp_path / "pmc_perf.csv", "\n".join([*lines[:-1], ",".join(lines[-1].split(",")[:cells])]))
    with pytest.raises(ProfileError, match=rf"row 4: the file ends within a row: {cells} of 34 cells"):
        rw.read(path)


def test_a_line_between_the_dispatches_that_is_not_a_dispatch_is_refused(tmp_path: Path) -> None:
    text = text_of(FIXTURES / "gfx90a" / "pmc_perf.csv")
    lines = text.splitlines()
    path = write(tmp_path / "pmc_perf.csv", "\n".join([*lines[:2], ",".join(lines[2].split(",")[:9]), *lines[3:], ""]))
    with pytest.raises(ProfileError, match="row 3: 8 cells where the header has 34"):
        rw.read(path)


def test_timestamps_too_coarse_for_a_duration_give_unknown_times_and_a_warning(tmp_path: Path) -> None:
    path = write(
        tmp_path / "results.csv",
        "Index,KernelName,BeginNs,EndNs,FETCH_SIZE\n"
        "0,a,8.1097E+14,8.1097E+14,16\n"
        "1,b,8.1097E+14,8.1098E+14,16\n"
        "2,c,811000000000000,811000000077000,16\n"
        "3,d,8E+02,77800,16\n",
    )
    kernels = rw.read(path)
    np.testing.assert_array_equal(kernels.time, [np.nan, np.nan, 77e-6, 77e-6])
    (said,) = [warning for warning in kernels.warnings if "rounded" in warning]
    assert said.startswith("the times of 2 of 4 dispatches are unknown: 'EndNs' is rounded, as in '8.1097E+14'; ")


def test_integer_instructions_are_left_out_and_kernels_without_flops_are_counted() -> None:
    kernels = rw.read(FIXTURES / "integers")
    assert set(kernels.flops_by_precision) == {"fp32", "int8"}
    assert kernels.flops.tolist() == [0, 64 * 2 * 40_000, 512 * 5_000_000]
    assert kernels.warnings[-2:] == (
        "operations of integers are counted too, under int8: their unit is OP, not FLOP",
        "1 kernel without FLOPs does operations of integers, which are not counted: integers=True counts them",
    )


def test_integers_are_64_operations_an_instruction_under_their_widths() -> None:
    own = rw.read(FIXTURES / "integers", integers=True).flops_by_precision
    assert own["int32"].tolist() == [64 * 700_000, 64 * 9000, 64 * 20_000]
    assert own["int64"].tolist() == [64 * 3000, 0, 0]
    assert own["int8"].tolist() == [0, 0, 512 * 5_000_000]


def test_integers_have_the_measured_peaks_beside_those_of_the_catalogue() -> None:
    kernels = rw.read(FIXTURES / "integers", integers=True)
    assert kernels.chip is not None
    assert (kernels.chip.id, kernels.chip.peak("int32"), kernels.chip.peak("int64")) == ("mi300x", 56e12, 14e12)
    assert kernels.chip.sources["peak_flops.int32"].confidence == "measured"
    judged = rw.bound(kernels, kernels.chip)
    assert judged.compute_time[0] == pytest.approx(64 * 700_000 / 56e12 + 64 * 3000 / 14e12, rel=1e-14)
    assert [judged.operation(row) for row in range(3)] == ["OP", "OP", "OP"]
    assert "1 kernel does FLOPs and operations of integers" in judged.notes[0]


def test_a_word_for_integers_is_refused() -> None:
    with pytest.raises(TypeError, match="integers must be True or False, got 'int8'"):
        rw.read(FIXTURES / "integers", integers="int8")


def test_vector_instructions_of_integers_of_a_real_profile_are_64_lanes_each() -> None:
    kernels = rw.read(real_file("rocprof/MI200_device_filter__pmc_perf.csv"), integers=True, gfx="gfx90a")
    assert kernels.flops_by_precision["int32"].tolist()[:3] == [64 * 114_688] * 3
