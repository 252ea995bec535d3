"""Reading LIKWID: regions become kernels, in all three forms of its output."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, Source
from roofwidget.readers.likwid.perfctr import counter_groups
from tests import places
from tests.places import text_of, write
from tests.real_files import real_file
from tests.tables import has_columns, lists, warns

FIXTURES = places.FIXTURES / "ceilings"


@pytest.mark.parametrize("name", ["likwid_regions.txt", "likwid_regions.csv"])
def test_each_region_is_a_kernel_of_all_its_threads(name: str) -> None:
    kernels = rw.read(FIXTURES / name)
    assert kernels.names.tolist() == ["solve", "setup, coarse"]
    # Each of two threads: 1e9 scalar, 2 x 0.25e9 of 128 bits, 4 x 0.125e9 of 256 bits.
    has_columns(
        kernels,
        flops_by_precision={"fp64": [4e9, 4e9]},
        bytes_by_level={"DRAM": [4e9, 4e9]},
        time=[0.8, 0.8],
        arithmetic_intensity=[1, 1],
        extra={"calls": [12, 1], "threads": [2, 2]},
    )
    assert set(kernels.extra["CPU"]) == {"Oak 8 cores"}
    assert set(kernels.extra["clock (Hz)"]) == {2.5e9}
    assert "2 x FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE" in kernels.origin["flops:fp64"][0]
    assert kernels.warnings == ()


@pytest.mark.parametrize("name", ["likwid_regions.txt", "likwid_regions.csv"])
def test_a_metrics_name_may_hold_what_separates_columns(name: str) -> None:
    first = counter_groups(Source.of(FIXTURES / name))[0]
    assert first.metrics["L3|MEM evict data volume [GBytes]"] == [0.5, 0.25]


def test_a_solvers_groups_in_three_runs_give_its_intensities_at_l2_and_l3() -> None:
    kernels = rw.read(FIXTURES / "likwid_solver")
    assert kernels.flops.tolist() == [577_889_172]
    intensity = {level: kernels.flops[0] / moved[0] for level, moved in kernels.bytes_by_level.items()}
    assert {level: round(value, 4) for level, value in intensity.items()} == {"L2": 0.0969, "L3": 0.1183}
    assert kernels.time.tolist() == [0.6494]


def test_a_zip_archive_of_the_runs_is_their_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        for path in (FIXTURES / "likwid_solver").iterdir():
            archive.write(path, path.name)
    assert rw.read(tmp_path / "runs.zip") == rw.read(FIXTURES / "likwid_solver")


def test_runs_of_one_program_that_differ_in_time_are_said(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "likwid_solver", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "l2.txt"
    write(path, text_of(path).replace("0.6600", "0.9900"))
    kernels = rw.read(tmp_path)
    assert "the program took 0.99 s in the run of group L2, 0.6494 s in another" in kernels.warnings
    assert kernels.bytes_by_level["L2"].tolist() == [5.9632e9]


def test_groups_that_took_turns_are_scaled_to_one_time() -> None:
    kernels = rw.read(FIXTURES / "likwid_turns.txt")
    # 1.5 GB in half the time and 0.5 GB in a quarter of it.
    assert {level: float(moved[0]) for level, moved in kernels.bytes_by_level.items()} == {"L2": 3e9, "L3": 2e9}
    assert "x 2 to the time of the group with FLOPs" in kernels.origin["bytes:L2"][0]
    assert warns(kernels, "alternate")


STALLS = """
CPU name:	Oak 8 cores
Group 1: CYCLE_STALLS
+-------+---------+------------+------------+
| Event | Counter | HWThread 0 | HWThread 1 |
+-------+---------+------------+------------+
+-------+---------+------------+------------+

+----------------------------------------+------------+------------+
|                 Metric                 | HWThread 0 | HWThread 1 |
+----------------------------------------+------------+------------+
|           Runtime (RDTSC) [s]          |     2.0000 |     2.0000 |
|                   CPI                  |     3.0000 |     5.0000 |
|              L2 miss ratio             |     0.2500 |     0.7500 |
|            L3 miss ratio [%]           |    10.0000 |    30.0000 |
|       Branch misprediction rate        |     0.0100 |     0.0300 |
|       Branch misprediction ratio       |     0.0400 |     0.0600 |
|           Vectorization ratio          |    12.0000 |     8.0000 |
|        Execution stall rate [%]        |    70.0000 |    80.0000 |
| Stalls caused by memory loads rate [%] |    60.0000 |        nil |
+----------------------------------------+------------+------------+
"""


def test_ratios_of_a_core_are_low_level_columns_and_give_reasons(tmp_path: Path) -> None:
    kernels = rw.read(write(tmp_path / "run.txt", STALLS))
    found = {name: kernels.extra[name][0] for name in kernels.read_as if name in kernels.extra}
    assert found == pytest.approx(
        {
            "cycles per instruction": 4.0,
            "L2 hit rate (%)": 50.0,
            "L3 hit rate (%)": 80.0,
            "mispredictions per 1,000 instructions": 20.0,
            "mispredicted branches (%)": 5.0,
            "vector instructions (%)": 10.0,
            "stalled cycles (%)": 75.0,
            "cycles stalled by loads (%)": 60.0,
        }
    )
    assert kernels.read_as["L3 hit rate (%)"] == "L3 miss ratio [%], the mean of the threads"
    assert [one.sentence for one in rw.reasons(kernels)[0]] == [
        "In 60 % of its cycles a core executes nothing while loads are under way.",
        "Of 1,000 instructions 20 are branches that were predicted wrongly.",
        "10 % of its floating-point instructions are vector instructions.",
    ]
    good = {"0.0100": "0.0090", "0.0300": "0.0090", "12.0000": "20.0000", "8.0000": "20.0000", "60.0000": "39.0000"}
    text = STALLS
    for old, new in good.items():
        text = text.replace(f" {old}", f" {new}")
    assert rw.reasons(rw.read(write(tmp_path / "good.txt", text))) == ((),)


def appended(tmp_path: Path, *names: str) -> Path:
    """Return one file with the output of several runs, as ``>> run.txt`` makes it."""
    return write(tmp_path / "run.txt", "".join(text_of(FIXTURES / name) for name in names))


def test_two_runs_in_one_file_are_read_as_a_folder_of_them(tmp_path: Path) -> None:
    runs = ("likwid_solver/flops.txt", "likwid_solver/l2.txt", "likwid_solver/l3.txt")
    kernels, folder = rw.read(appended(tmp_path, *runs)), rw.read(FIXTURES / "likwid_solver")
    assert kernels.flops.tolist() == folder.flops.tolist() == [577_889_172]
    assert kernels.time.tolist() == folder.time.tolist() == [0.6494]
    assert lists(kernels.bytes_by_level) == {level: moved.tolist() for level, moved in folder.bytes_by_level.items()}
    assert kernels.warnings == folder.warnings


def test_a_second_run_of_a_group_does_not_mix_its_time_with_the_rates_of_the_first(tmp_path: Path) -> None:
    once = FIXTURES / "likwid_solver/flops.txt"
    text = text_of(once)
    path = write(tmp_path / "run.txt", text + text.replace("0.6494", "1.2988").replace("577889172", "1155778344"))
    kernels = rw.read(path)
    has_columns(kernels, flops=[577_889_172], time=[0.6494])
    assert "group FLOPS_DP was measured in 2 runs: the first counts" in kernels.warnings


@pytest.mark.parametrize("name", ["likwid_regions.txt", "likwid_regions.csv"])
def test_a_second_run_of_regions_leaves_the_first_as_it_is(name: str, tmp_path: Path) -> None:
    text = text_of(FIXTURES / name)
    path = write(tmp_path / name, text + text.replace("0.8000", "1.6000").replace("0.800000", "1.600000"))
    kernels, alone = rw.read(path), rw.read(FIXTURES / name)
    assert kernels.time.tolist() == alone.time.tolist() == [0.8, 0.8]
    assert kernels.flops.tolist() == alone.flops.tolist()


@pytest.mark.parametrize("name", ["likwid_regions.txt", "likwid_regions.csv", "likwid_turns.txt", "likwid_bench.txt"])
def test_a_file_cut_off_at_any_byte_never_gives_other_numbers(name: str, tmp_path: Path) -> None:
    text = text_of(FIXTURES / name).rstrip() + "\n"
    path = tmp_path / name
    whole = rw.read(FIXTURES / name)
    figures = dict(zip(whole.names, zip(whole.flops, whole.time, strict=True), strict=True))
    for end in range(len(text)):
        write(path, text[:end])
        try:
            kernels = rw.read(path)
        except ProfileError:
            continue
        for kernel, *amounts in zip(kernels.names, kernels.flops, kernels.time, strict=True):
            expected = figures[kernel]
            assert all(np.isnan(a) or a == b for a, b in zip(amounts, expected, strict=True)), (end, kernel, amounts)
        for level, moved in kernels.bytes_by_level.items():
            at = [list(whole.names).index(kernel) for kernel in kernels.names]
            known = ~np.isnan(moved)
            assert not known.any() or (moved == whole.bytes_by_level[level][at])[known].all(), (end, level)


@pytest.mark.parametrize(
    ("name", "last", "told"),
    [
        ("likwid_turns.txt", "|     DP [MFLOP/s]    |  88", "the table ends without a closing line"),
        (
            "likwid_turns.txt",
            "|           MERGE           |   PMC1  |     0      |\n",
            "the table ends without a closing line",
        ),
        ("likwid_regions.csv", "DP [MFLOP/s],4000.0000,2500.0000,,,,\n", "the table ends after 3 of 8 rows"),
        ("likwid_regions.csv", "Operational intensity [FLOP/Byte],0.5000,na", "the last line has no line end"),
    ],
)
def test_a_table_that_is_not_closed_is_refused(name: str, last: str, told: str, tmp_path: Path) -> None:
    text = text_of(FIXTURES / name)
    path = write(tmp_path / name, text[: text.index(last) + len(last)])
    with pytest.raises(ProfileError, match=rf"line \d+: {told}: the file is cut off or damaged"):
        rw.read(path)


def test_a_file_cut_off_between_the_tables_of_a_group_is_said(tmp_path: Path) -> None:
    text = text_of(FIXTURES / "likwid_turns.txt")
    path = write(tmp_path / "run.txt", text[: text.rindex("\n\n+---") + 1])
    kernels = rw.read(path)
    assert list(kernels.bytes_by_level) == ["L2"]
    assert "group L3 has no table of metrics: if the file is cut off, measure again" in kernels.warnings
    text = text_of(FIXTURES / "likwid_regions.csv")
    write(path, text[: text.index("TABLE,Region setup, coarse,Group 1 Metric")])
    kernels = rw.read(path)
    assert np.isnan(kernels.flops[1])
    said = "group MEM_DP of region setup, coarse has no table of metrics: if the file is cut off, measure again"
    assert said in kernels.warnings


def test_a_bench_whose_last_run_is_cut_off_is_said(tmp_path: Path) -> None:
    text = text_of(FIXTURES / "likwid_bench.txt")
    path = write(tmp_path / "bench.txt", text[: text.index("Test: peakflops")])
    kernels = rw.read(path)
    assert kernels.names.tolist() == ["triad_avx"]
    assert "2 runs begin and 1 have a line 'Test:': a run failed, or the file is cut off" in kernels.warnings


def test_the_json_filter_tells_the_same_sums() -> None:
    kernels = rw.read(FIXTURES / "likwid.json")
    has_columns(kernels, flops=[577_889_172], time=[0.6494], bytes=None)


def test_without_regions_the_time_is_said_to_be_that_of_the_process() -> None:
    assert warns(rw.read(FIXTURES / "likwid_turns.txt"), "no region is marked")


def test_events_that_disagree_with_the_printed_rate_are_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    text = text_of(FIXTURES / "likwid_turns.txt")
    write(path, text.replace("577889172", "288944586"))
    kernels = rw.read(path)
    assert kernels.flops[0] == pytest.approx(889.8819e6 * 0.6494, rel=1e-12)
    assert warns(kernels, "the latter is used")


def test_likwid_bench_is_a_machine_and_its_runs_are_kernels() -> None:
    chip = rw.read_ceilings(FIXTURES / "likwid_bench.txt")
    assert (chip.peak("fp64"), chip.bandwidth("DRAM"), round(chip.ridge_point(), 4)) == (64e9, 38.4e9, 1.6667)
    kernels = rw.read(FIXTURES / "likwid_bench.txt", level="L3")
    has_columns(
        kernels, names=["triad_avx", "peakflops_avx_fma"], bytes_by_level={"L3": [96e9, 32e6]}, achieved=[3.2e9, 64e9]
    )


def test_half_a_machine_names_the_command_that_is_missing(tmp_path: Path) -> None:
    text = text_of(FIXTURES / "likwid_bench.txt")
    path = write(tmp_path / "bench.txt", text[: text.index("Test: peakflops")])
    with pytest.raises(ProfileError, match="a roof is missing: append the output of likwid-bench -t peakflops"):
        rw.read_ceilings(path)
    write(path, text[: text.rindex("Number of Flops")])
    with pytest.raises(ProfileError, match="run 2: the line 'Number of Flops:' is missing"):
        rw.read_ceilings(path)


def test_a_profile_is_no_machine() -> None:
    with pytest.raises(ProfileError, match="ceilings are in the output of likwid-bench"):
        rw.read_ceilings(FIXTURES / "likwid_regions.txt")


def test_a_run_that_measured_nothing_ends_in_likwids_own_reason(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.txt", "CPU name:\tX\nERROR - [likwid.c:1] No.\nAccess to performance group L9 not allowed\n"
    )
    with pytest.raises(ProfileError, match="LIKWID measured nothing: Access to performance group L9 not allowed"):
        rw.read(path)


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("likwid_regions.csv", ",125000000,125000000,", ",125000000,many,", "line 13: expected a number, got 'many'"),
        (
            "likwid_regions.txt",
            "| 1000000000 | 1000000000 |",
            "|",
            "line 20: expected 4 cells, got 2: the file is cut off",
        ),
        ("likwid.json", '"Values": [', '"Value": [', "'FLOPS_DP.Raw.PMC2': expected an object with a list 'Values'"),
    ],
)
def test_a_bad_cell_is_named_by_its_place(name: str, old: str, new: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    text = text_of(FIXTURES / name)
    assert old in text
    write(path, text.replace(old, new, 1))
    with pytest.raises(ProfileError) as caught:
        rw.read(path)
    assert str(caught.value).startswith(f"{path}: {told}")


def test_a_metric_that_is_infinite_says_nothing_and_a_time_below_zero_is_refused(tmp_path: Path) -> None:
    text = text_of(FIXTURES / "likwid_solver" / "l2.txt")
    path = tmp_path / "l2.txt"
    assert "5.9632" in text
    write(path, text.replace("5.9632", "inf"))
    assert np.isnan(rw.read(path).bytes_by_level.get("L2", [np.nan])).all()
    write(path, text.replace("5.9632", "5e990"))
    with pytest.raises(ProfileError, match=r"l2\.txt: line \d+: expected a number, got '5e990'"):
        rw.read(path)
    write(path, text.replace("0.6600", "-0.66"))
    with pytest.raises(ProfileError, match=r"l2\.txt: the program: its time, -0\.66 s, is below zero"):
        rw.read(path)


def test_json_without_tables_of_a_group_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", {"Info": {"CPU name:": "X"}, "L2": [{"Values": 1}]})
    with pytest.raises(ProfileError, match="'L2': expected an object of tables"):
        rw.read(path)


def run(group: str, events: Mapping[str, float], metrics: Mapping[str, float], number: int = 1) -> str:
    """Return the output of a run of one second with one region and one thread."""
    rule = "+---+---+---+"

    def table(head: str, rows: list[str]) -> str:
        return "\n".join([rule, head, rule, *rows, rule, ""])

    return "\n".join(
        [
            "CPU name:\tOak",
            f"Region solve, Group {number}: {group}",
            table("| Region Info | HWThread 0 |", ["| RDTSC Runtime [s] | 1.0 |", "| call count | 1 |"]),
            table(
                "| Event | Counter | HWThread 0 |",
                [f"| {name} | PMC{n} | {v} |" for n, (name, v) in enumerate(events.items())],
            ),
            table(
                "| Metric | HWThread 0 |",
                [f"| {name} | {v} |" for name, v in {"Runtime (RDTSC) [s]": 1.0, **metrics}.items()],
            ),
        ]
    )


GRACE = {"FP_FIXED_OPS_SPEC": 100e6, "FP_SCALE_OPS_SPEC": 2000e6}
GRACE_RATES = {
    "FP rate [MFLOP/s]": 2100,
    "SVE FP rate [MFLOP/s]": 2000,
    "Scalar/NEON FP rate [MFLOP/s]": 100,
    "Memory bandwidth [MBytes/s]": 25600,
    "Memory data volume [GBytes]": 25.6,
}


@pytest.mark.parametrize("group", ["FLOPS", "MEM_DP", "MEM_SP"])
def test_the_fp_rate_of_grace_is_of_any_precision(group: str) -> None:
    kernels = rw.read(run(group, GRACE, GRACE_RATES).encode())
    assert lists(kernels.flops_by_precision) == {"": [2.1e9]}
    has_columns(kernels, time=[1], bytes_by_level={"DRAM": [25.6e9]})
    assert kernels.origin["flops"][0] == "FP_FIXED_OPS_SPEC + FP_SCALE_OPS_SPEC"
    assert kernels.warnings == ()


@pytest.mark.parametrize(("word", "precision"), [("DP", "fp64"), ("SP", "fp32"), ("HP", "fp16")])
def test_scalable_operations_of_a64fx_count_four_times_for_vectors_of_512_bits(word: str, precision: str) -> None:
    events = {f"FP_{word}_FIXED_OPS_SPEC": 5e6, f"FP_{word}_SCALE_OPS_SPEC": 100e6}
    rates = {f"{word} (FP) [MFLOP/s]": 5.0}
    rates |= {f"{word} (FP+SVE{bits}) [MFLOP/s]": 5 + 100 * bits / 128 for bits in (128, 256, 512)}
    kernels = rw.read(run(f"FLOPS_{word}", events, rates).encode())
    assert lists(kernels.flops_by_precision) == {precision: [405e6]}
    assert f"4 x FP_{word}_SCALE_OPS_SPEC" in kernels.origin[f"flops:{precision}"][0]
    assert warns(
        kernels, f"'{word} (FP+SVE512) [MFLOP/s]' is based on an assumption of LIKWID, and not '{word} (FP) [MFLOP/s]'"
    )


@pytest.mark.parametrize(
    ("group", "events", "rates", "expected", "said"),
    [
        # Broadwell and Sandy Bridge servers: the events tell the precision.
        (
            "MEM_DP",
            {"FP_ARITH_INST_RETIRED_SCALAR_DOUBLE": 10e6, "FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE": 5e6},
            {"MFLOP/s": 30, "AVX [MFLOP/s]": 20},
            {"fp64": 30e6},
            None,
        ),
        # Knights Landing and POWER9: readings of one counter, of which one counts.
        (
            "FLOPS_DP",
            {"UOPS_RETIRED_SCALAR_SIMD": 1e6, "UOPS_RETIRED_PACKED_SIMD": 2e6},
            {"DP [MFLOP/s] (SSE assumed)": 5, "DP [MFLOP/s] (AVX assumed)": 9, "DP [MFLOP/s] (AVX512 assumed)": 17},
            {"fp64": 17e6},
            "and not 'DP [MFLOP/s] (SSE assumed)', 'DP [MFLOP/s] (AVX assumed)'",
        ),
        (
            "FLOPS",
            {"PM_FLOP_CMPL": 1e6},
            {
                "SP/DP [MFLOP/s] (scalar assumed)": 2,
                "SP [MFLOP/s] (vector assumed)": 8,
                "DP [MFLOP/s] (vector assumed)": 4,
            },
            {"fp64": 4e6},
            "'DP [MFLOP/s] (vector assumed)' is based on an assumption of LIKWID, and not 'SP/DP",
        ),
        ("FLOPS_VSX", {}, {"SP [MFLOP/s] (assumed)": 8, "DP [MFLOP/s] (assumed)": 4}, {"fp64": 4e6}, "and not 'SP"),
        # Groups that count a part.
        (
            "FLOPS_AVX",
            {"FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE": 1e6, "FP_ARITH_INST_RETIRED_256B_PACKED_SINGLE": 1e6},
            {"Packed SP [MFLOP/s]": 8, "Packed DP [MFLOP/s]": 4},
            {"fp64": 4e6, "fp32": 8e6},
            "group FLOPS_AVX counts only packed AVX instructions: FLOPs may be too low",
        ),
        (
            "FLOPS_AVX",
            {"AVX_INSTS_CALC": 1e6},
            {"Packed SP [MFLOP/s]": 8, "Packed DP [MFLOP/s]": 4},
            {"fp64": 4e6},
            "counts only packed AVX instructions",
        ),
        ("FLOPS_4_8", {}, {"MFLOP/s": 12}, {"": 12e6}, "counts only instructions of 4 and 8 FLOPs"),
        ("FLOPS_VSU0", {"PM_VSU0_DP_FMA": 1e6}, {"[MFLOP/s]": 4}, {"": 4e6}, "counts only the pipe VSU0 of two"),
        ("FLOPS_X87", {}, {"X87 [MFLOP/s]": 7, "X87 Add [MFLOP/s]": 3}, {"": 7e6}, "counts only x87 instructions"),
        # Parts beside their sum.
        (
            "FLOPS_HP",
            {},
            {"HP [MFLOP/s]": 40, "128B HP [MFLOP/s]": 8, "512B HP [MFLOP/s]": 32},
            {"fp16": 40e6},
            None,
        ),
        (
            "FLOPS_DP",
            {"VFP_SPEC": 1e6, "ASE_SPEC": 3e6},
            {"DP [MFLOP/s]": 7, "NEON DP [MFLOP/s]": 6},
            {"fp64": 7e6},
            None,
        ),
    ],
)
def test_the_rates_of_likwids_groups_are_read_by_what_they_count(
    group: str, events: dict[str, float], rates: dict[str, float], expected: dict[str, float], said: str | None
) -> None:
    kernels = rw.read(run(group, events, rates).encode())
    assert lists(kernels.flops_by_precision) == {key: [number] for key, number in expected.items()}
    about = [warning for warning in kernels.warnings if "no group with bytes" not in warning]
    assert any(said in warning for warning in about) if said else about == []


@pytest.mark.parametrize(
    ("group", "metrics", "expected"),
    [
        ("MEM", {"Memory bandwidth [MBytes/s]": 500, "Memory read bandwidth [MBytes/s]": 300}, {"DRAM": 5e8}),
        ("HBM", {"HBM read data volume [GBytes]": 1, "HBM data volume [GBytes]": 3}, {"HBM": 3e9}),
        ("DDR_HBM", {"DDR data volume [GBytes]": 2, "HBM data volume [GBytes]": 3}, {"DRAM": 2e9, "HBM": 3e9}),
        # Knights Landing calls its MCDRAM memory in the group HBM.
        ("HBM", {"Memory data volume [GBytes]": 4, "Memory bandwidth [MBytes/s]": 4000}, {"HBM": 4e9}),
        ("L2", {"L1D<-L2 load data volume [GBytes]": 1, "L1<->L2 data volume [GBytes]": 2}, {"L2": 2e9}),
        ("L3", {"L2<->L3 bandwidth [MBytes/s]": 7}, {"L3": 7e6}),
        (
            "CACHES",
            {"L1 to/from L2 data volume [GBytes]": 1, "L2 to/from L3 data volume [GBytes]": 2},
            {"L2": 1e9, "L3": 2e9},
        ),
    ],
)
def test_volumes_and_bandwidths_of_likwids_groups_are_bytes_of_their_levels(
    group: str, metrics: dict[str, float], expected: dict[str, float]
) -> None:
    kernels = rw.read(run(group, {}, metrics).encode())
    assert lists(kernels.bytes_by_level) == {level: [number] for level, number in expected.items()}


def test_a_counter_of_all_precisions_counts_once_in_groups_of_two_precisions() -> None:
    event = {"RETIRED_SSE_AVX_FLOPS_ALL": 90e6}
    both = run("FLOPS_DP", event, {"DP [MFLOP/s]": 90}) + run("FLOPS_SP", event, {"SP [MFLOP/s]": 90})
    kernels = rw.read(both.encode())
    assert lists(kernels.flops_by_precision) == {"fp64": [90e6]}
    said = "the FLOPs of group FLOPS_SP are those of another group already, because RETIRED_SSE_AVX_FLOPS_ALL does not"
    assert any(warning.startswith(said) for warning in kernels.warnings)


def test_the_real_solver_counts_its_flops_exactly() -> None:
    kernels = rw.read(real_file("likwid/hpcte_cg_likwid_native_FLOPS_DP.txt"))
    has_columns(kernels, flops=[577_889_172], time=[0.6494], extra={"clock (Hz)": [3537.1431e6]})


def test_the_real_run_without_permission_says_so() -> None:
    with pytest.raises(ProfileError, match="measured nothing: Access to performance group MEM_DP not allowed"):
        rw.read(real_file("likwid/hpcte_cg_likwid_native_MEM_DP.txt"))
