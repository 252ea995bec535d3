"""Reading AMD's databases: rocprofv3's rocpd by the same rules as tables, and rocprof-compute's analysis."""

from __future__ import annotations

import gzip
import runpy
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError
from tests.places import ROOT
from tests.tables import has_columns

HERE = ROOT / "tests"
FIXTURES = HERE / "fixtures" / "rocprof"
TWINS = runpy.run_path(str(HERE / "make_fixtures" / "rocpd.py"))
TABLES = runpy.run_path(str(HERE / "make_fixtures" / "rocprof.py"))
write_rocpd, write_analysis = TWINS["write_rocpd"], TWINS["write_analysis"]
MI200 = {"name": "gfx90a", "product_name": "MI200", "cu_count": 104}
COUNTERS = ("VALU", "MFMA", "CACHES", "MEMORY")


def dispatches(*groups: str) -> list[Any]:
    """Return the dispatches of the MI200 twin with the counters of these groups."""
    names = [name for group in groups for name in TABLES[group]]
    return [
        (number + 5, f"{name} [clone .kd]", start, start + took, {counter: counts.get(counter, 0) for counter in names})
        for number, ((name, counts), start, took) in enumerate(
            zip(TABLES["ON_GFX90A"], TABLES["STARTS"], TABLES["ENDS"], strict=True)
        )
    ]


def changed(path: Path, statement: str) -> Path:
    with closing(sqlite3.connect(path)) as base, base:
        (run,) = base.execute("SELECT substr(name, 22) FROM sqlite_master WHERE name LIKE 'rocpd_kernel_dispatch_%'")
        base.execute(statement.replace("{run}", run[0]))
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a database with one kernel of bf16 matrix operations on an MI300X."""
    counts = {"SQ_INSTS_VALU_MFMA_MOPS_BF16": 1000, "TCC_EA0_RDREQ": 40, "TCC_EA0_RDREQ_32B": 4}
    counts |= {"TCC_EA0_WRREQ": 30, "TCC_EA0_WRREQ_64B": 20, "TCC_BUBBLE": 10}
    path: Path = write_rocpd(tmp_path / "4711_results.db", [[(1, "gemm", 100, 2100, counts)]])
    return path


def test_a_rocpd_database_gives_the_numbers_of_the_tables_of_the_same_run(tmp_path: Path) -> None:
    path = write_rocpd(tmp_path / "1_results.db", [dispatches(*COUNTERS)], gpus=[MI200])
    found, expected = rw.read(path), rw.read(FIXTURES / "gfx90a" / "pmc_perf.csv")
    assert found.names.tolist() == expected.names.tolist()
    for precision in ("fp32", "fp64"):
        matrix = expected.flops_by_precision.get(f"{precision}_matrix", np.zeros(3))
        np.testing.assert_array_equal(
            found.flops_by_precision[precision], expected.flops_by_precision[precision] + matrix
        )
    for level in ("HBM", "L2", "L1", "LDS"):
        np.testing.assert_array_equal(found.bytes_by_level[level], expected.bytes_by_level[level])
    np.testing.assert_array_equal(found.time, expected.time)
    has_columns(found, extra={"dispatch": [5, 6, 7], "grid": [1024 * 8] * 3})
    assert found.origin["time"][0] == "end - start of rocpd_kernel_dispatch of 1_results.db"


def test_counters_are_summed_over_instances_and_samples_are_left_out(trace: Path) -> None:
    kernels = rw.read(trace)
    assert kernels.flops_by_precision["bf16"].tolist() == [512 * 1000]
    # Reads: 64 x 40 - 32 x 4 + 64 x 10 (128-byte requests). Writes: 32 x 30 + 32 x 20.
    has_columns(kernels, bytes=[64 * 40 - 32 * 4 + 64 * 10 + 32 * 30 + 32 * 20], time=[2e-6])


def test_the_agent_names_the_chip_and_the_architecture(trace: Path) -> None:
    kernels = rw.read(trace)
    assert kernels.chip is not None
    assert kernels.chip.id == "mi300x"
    assert "the catalogue's AMD Instinct MI300X, the model in the database" in " ".join(kernels.warnings)


def test_a_partition_is_not_the_whole_chip(tmp_path: Path) -> None:
    path = write_rocpd(tmp_path / "x.db", [dispatches("VALU")], gpus=[{**TWINS["MI300X"], "cu_count": 38}])
    kernels = rw.read(path)
    assert kernels.chip is None
    assert "of which the device is a part: it has 38 of 304 CU: choose a chip" in " ".join(kernels.warnings)


def test_dispatches_on_several_gpus_have_their_number_and_equal_gpus_one_chip(tmp_path: Path) -> None:
    path = write_rocpd(tmp_path / "x.db", [dispatches("VALU")], gpus=[TWINS["MI300X"]] * 2)
    kernels = rw.read(path)
    assert kernels.extra["GPU"].tolist() == [0, 1, 0]
    assert kernels.chip is not None
    mixed = rw.read(write_rocpd(tmp_path / "y.db", [dispatches("VALU")], gpus=[TWINS["MI300X"], MI200]))
    assert mixed.chip is None
    assert "the kernels ran on different GPUs ('AMD Instinct MI300X', 'MI200')" in " ".join(mixed.warnings)


def test_a_trace_without_counters_has_times_and_unknown_work(tmp_path: Path) -> None:
    kernels = rw.read(write_rocpd(tmp_path / "x.db", [dispatches()]))
    assert np.isfinite(kernels.time).all()
    has_columns(kernels, flops=None, bytes=None)


def test_processes_of_one_database_follow_in_the_order_of_their_first_kernel(tmp_path: Path) -> None:
    late = [(1, "late", 500, 600, {"SQ_X": 1})]
    early: list[Any] = [(1, "early", 100, 300, {}), (2, "next", 900, 950, {})]
    kernels = rw.read(write_rocpd(tmp_path / "x.db", [late, early]))
    assert kernels.names.tolist() == ["early", "next", "late"]


def test_passes_in_a_folder_are_joined_by_dispatch_and_take_the_tables_beside_them(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "pmc_perf_0.db", [dispatches("VALU", "MFMA")], gpus=[MI200])
    write_rocpd(tmp_path / "pmc_perf_1.db", [dispatches("CACHES", "MEMORY")], gpus=[MI200])
    for name in ("sysinfo.csv", "roofline.csv"):
        shutil.copy(FIXTURES / "gfx90a" / name, tmp_path / name)
    found, expected = rw.read(tmp_path), rw.read(FIXTURES / "gfx90a")
    assert found.flops_by_precision.keys() == expected.flops_by_precision.keys()
    np.testing.assert_array_equal(found.flops, expected.flops)
    np.testing.assert_array_equal(found.bytes, expected.bytes)
    assert found.chip is not None
    assert expected.chip is not None
    assert found.chip.peak_flops == expected.chip.peak_flops
    assert rw.read(tmp_path / "pmc_perf_1.db").chip == found.chip.replace(name=found.chip.name)


def test_databases_with_the_same_counters_are_ranks_and_no_passes(tmp_path: Path) -> None:
    for rank in range(2):
        write_rocpd(tmp_path / f"{rank}_results.db", [dispatches("VALU")])
    with pytest.raises(ProfileError, match=r"have the same counters: they are runs or ranks.*rw\.read_many"):
        rw.read(tmp_path)
    assert len(rw.read_many(str(tmp_path / "*.db"))) == 2


@pytest.mark.parametrize("form", ["bytes", "gzip", "zip", "gzip file"])
def test_a_database_may_be_bytes_or_compressed(trace: Path, tmp_path: Path, form: str) -> None:
    given: Any = trace.read_bytes()
    if form == "gzip":
        given = gzip.compress(given)
    elif form == "gzip file":
        (tmp_path / "results.db.gz").write_bytes(gzip.compress(given))
        given = tmp_path / "results.db.gz"
    elif form == "zip":
        given = tmp_path / "folder.zip"
        with zipfile.ZipFile(given, "w") as archive:
            archive.write(trace, "host/4711_results.db")
            archive.writestr("host/notes.txt", "x")
    found, expected = rw.read(given), rw.read(trace)
    assert found.flops.tolist() == expected.flops.tolist()
    assert found.time.tolist() == expected.time.tolist()


def test_reading_leaves_the_database_and_its_folder_as_they_are(trace: Path) -> None:
    before = trace.read_bytes(), trace.stat().st_mtime_ns
    trace.chmod(0o444)
    rw.read(trace)
    assert (trace.read_bytes(), trace.stat().st_mtime_ns) == before
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]


def test_a_database_whose_write_ahead_log_is_complete_gets_no_file_beside_it(trace: Path) -> None:
    with closing(sqlite3.connect(trace)) as base:
        base.execute("PRAGMA journal_mode = WAL")
    assert trace.read_bytes()[18:20] == bytes([2, 2])
    trace.parent.chmod(0o555)
    try:
        assert rw.read(trace).time.tolist() == [2e-6]
    finally:
        trace.parent.chmod(0o755)
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]


def test_a_database_with_a_write_ahead_log_is_read_with_it(trace: Path) -> None:
    with closing(sqlite3.connect(trace)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        (run,) = base.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch_%'"
        ).fetchone()
        with base:
            base.execute(f"UPDATE {run} SET end = 5100")
        assert trace.with_name(f"{trace.name}-wal").stat().st_size > 0
        assert rw.read(trace).time.tolist() == [5e-6]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TABLE rocpd_info_kernel_symbol{run}", r"no table 'rocpd_info_kernel_symbol_\w+', which has the names"),
        ("DELETE FROM rocpd_kernel_dispatch{run}", "the database has no dispatch of a kernel"),
        ("UPDATE rocpd_kernel_dispatch{run} SET end = start - 1", r"id 1: the kernel ends before it starts"),
        ("UPDATE rocpd_kernel_dispatch{run} SET start = 'soon'", r"id 1, column 'start': expected a whole number"),
        ("UPDATE rocpd_kernel_dispatch{run} SET end = 1e300", r"column 'end': expected a whole number, got 1e\+300"),
        ("UPDATE rocpd_pmc_event{run} SET value = -5", r"counter 'SQ_INSTS_VALU_MFMA_MOPS_BF16' is -10"),
        ("ALTER TABLE rocpd_kernel_dispatch{run} RENAME start TO began", "has no column 'start'"),
        ("ALTER TABLE rocpd_kernel_dispatch{run} RENAME agent_id TO track_id", "version 4 of rocpd's schema"),
    ],
)
def test_damage_in_a_database_is_named(trace: Path, statement: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        rw.read(changed(trace, statement))


def test_hostile_databases_give_the_documented_error(trace: Path, tmp_path: Path) -> None:
    data = trace.read_bytes()
    broken = {
        "cut": data[: len(data) // 2],
        "only the mark": b"SQLite format 3\0",
        "noise after the mark": b"SQLite format 3\0" + bytes(range(256)) * 64,
        "noise in the pages": data[:200] + b"\xff" * 3000 + data[3200:],
    }
    for name, content in broken.items():
        for format_ in (None, "rocprof"):
            with pytest.raises(ProfileError) as caught:
                rw.read(content, format_)
            assert "database" in str(caught.value), name
    other = tmp_path / "notes.db"
    with closing(sqlite3.connect(other)) as base, base:
        base.execute("CREATE TABLE notes (text)")
    with pytest.raises(ProfileError, match="an SQLite database, which is not a profile of a known tool"):
        rw.read(other)


def test_views_and_virtual_tables_of_a_file_are_not_run(trace: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS name FROM n"
    changed(trace, "DROP TABLE rocpd_info_pmc{run}")
    for statement in (
        f"CREATE VIEW rocpd_info_pmc{{run}} AS {endless}",
        "DROP VIEW rocpd_info_pmc{run}",
        "CREATE VIRTUAL TABLE rocpd_info_pmc{run} USING fts5(id, name)",
        "INSERT INTO rocpd_info_pmc{run} VALUES ('1', 'x')",
    ):
        assert np.isnan(rw.read(changed(trace, statement)).flops).all()
    damaged = changed(trace, "DROP TABLE rocpd_info_pmc{run}_data")
    assert np.isnan(rw.read(damaged).flops).all()


def test_huge_texts_are_cut_and_texts_that_are_no_json_are_unknown(trace: Path) -> None:
    changed(trace, "UPDATE rocpd_info_kernel_symbol{run} SET display_name = hex(zeroblob(5000000))")
    changed(trace, "UPDATE rocpd_info_agent{run} SET extdata = replace(hex(zeroblob(40000)), '0', '[')")
    kernels = rw.read(trace)
    assert len(kernels.names[0]) == 2**16
    assert kernels.chip is not None


def points() -> dict[str, Any]:
    """Return a kernel with FLOPs, one without FLOPs, and one that the roofline leaves out."""
    gemm = {"total_flops": 50_000.0, "hbm_cache_data": 100.0, "l2_cache_data": 25.0, "l1_cache_data": 0.0}
    return {
        "app": [
            (
                "gemm [clone .kd]",
                [(0, 1000), (5000, 8000)],
                gemm,
                {"VALU FLOPs": 1000.0, "MFMA FLOPs (BF16)": 9000.0, "HBM Bandwidth": 1.0, "MFMA IOPs (Int8)": 0.0},
            ),
            (
                "copy",
                [(1000, 3000)],
                {"total_flops": 0.0, "hbm_cache_data": 0.0},
                {"VALU FLOPs": 0.0, "MFMA FLOPs (BF16)": 0.0, "HBM Bandwidth": 4000.0, "MFMA IOPs (Int8)": 0.0},
            ),
            ("rest", [(3000, 5000)], None, {"VALU FLOPs": 500.0, "MFMA FLOPs (BF16)": 0.0, "HBM Bandwidth": "N/A"}),
        ]
    }


def test_an_analysis_gives_flops_as_rate_times_time_and_bytes_as_flops_over_intensity(tmp_path: Path) -> None:
    kernels = rw.read(write_analysis(tmp_path / "x.db", points()))
    has_columns(kernels, names=["gemm", "copy", "rest"], time=pytest.approx([4e-6, 2e-6, 2e-6]), count=[2, 1, 1])
    # 50,000 GFLOP/s for 4 us; a zero of a kernel that its rates say has none; 500 GFLOP/s for 2 us.
    assert kernels.flops.tolist() == pytest.approx([2e8, 0, 1e6])
    np.testing.assert_allclose(kernels.bytes, [2e6, 4000e9 * 2e-6, np.nan])
    np.testing.assert_allclose(kernels.bytes_by_level["L2"], [8e6, np.nan, np.nan])
    assert "L1" not in kernels.bytes_by_level


def test_the_rates_of_an_analysis_divide_the_flops_by_precision(tmp_path: Path) -> None:
    kernels = rw.read(write_analysis(tmp_path / "x.db", points()))
    has_columns(kernels, flops_by_precision={"bf16": pytest.approx([1.8e8, 0, 0]), "": pytest.approx([2e7, 0, 1e6])})
    assert "rate of rocprof-compute's roofline x time" in kernels.origin["flops"][0]


def test_a_point_of_an_analysis_without_rates_has_its_flops_under_no_precision(tmp_path: Path) -> None:
    point = {"total_flops": 10.0, "hbm_cache_data": 2.0}
    for rates in ({}, {"MFMA FLOPs (BF16)": "N/A"}):
        kernels = rw.read(write_analysis(tmp_path / f"{len(rates)}.db", {"app": [("k", [(0, 1000)], point, rates)]}))
        has_columns(kernels, flops=pytest.approx([10e9 * 1e-6]), bytes=pytest.approx([5e9 * 1e-6]))


def test_operations_of_8_bit_integers_of_an_analysis_are_beside_its_flops(tmp_path: Path) -> None:
    point = {"total_flops": 10.0, "hbm_cache_data": 2.0}
    rates = {"MFMA FLOPs (BF16)": 5.0, "MFMA IOPs (Int8)": 7.0}
    kernels = rw.read(write_analysis(tmp_path / "x.db", {"app": [("k", [(0, 1000)], point, rates)]}))
    has_columns(kernels, flops_by_precision={"bf16": pytest.approx([1e4]), "int8": pytest.approx([7e3])})
    assert "under int8" in kernels.warnings[-1]


def test_an_analysis_names_the_chip_and_its_measured_ceilings(tmp_path: Path) -> None:
    chip = rw.read(write_analysis(tmp_path / "x.db", points())).chip
    assert chip is not None
    assert chip.id == "mi300x"
    # 4,100 GB/s and 600,000 GFLOP/s of the benchmark.
    assert {4.1e12, 6e14} <= {ceiling.rate for ceiling in chip.ceilings}


def test_version_1_2_of_an_analysis_has_other_tables_and_the_same_numbers(tmp_path: Path) -> None:
    old = rw.read(write_analysis(tmp_path / "old.db", points(), schema="1.2.0"))
    new = rw.read(write_analysis(tmp_path / "new.db", points()))
    assert old == new
    assert "before 3.7 wrote the database: bytes of L1 and L2 are up to twice as many" in " ".join(old.warnings)
    assert "before 3.7" not in " ".join(new.warnings)


def test_workloads_of_one_analysis_are_categories_and_those_of_two_gpus_have_no_chip(tmp_path: Path) -> None:
    two = {"before": points()["app"], "after": points()["app"]}
    kernels = rw.read(write_analysis(tmp_path / "x.db", two))
    assert kernels.category.tolist() == ["before"] * 3 + ["after"] * 3
    assert kernels.chip is not None
    systems = [TWINS["SYSTEM"], {"gpu_arch": "gfx90a", "gpu_model": "MI210"}]
    mixed = rw.read(write_analysis(tmp_path / "y.db", two, systems=systems))
    assert mixed.chip is None
    assert "the workloads are of different GPUs" in mixed.warnings[0]


def test_an_analysis_without_a_kernel_or_with_wrong_times_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="the database has no kernel"):
        rw.read(write_analysis(tmp_path / "x.db", {"app": []}))
    with pytest.raises(ProfileError, match="table 'compute_dispatch', kernel 10: expected whole numbers"):
        rw.read(write_analysis(tmp_path / "y.db", {"app": [("k", [(5, 1)], None, {})]}))


def of_integers(*names: str) -> dict[str, Any]:
    """Return a kernel without FLOPs and one with FLOPs, with the numbers that rocprof-compute 3.5 wrote for two."""
    sobol = {
        "VALU FLOPs (F32)": 468.1142857142857,
        "INT32": 688128.0,
        "INT64": 135168.0,
        "VALU IOPs": 5880.685714285714,
    }
    init = {"VALU FLOPs (F32)": 0.0, "INT32": 11217579.0, "INT64": 23211.0, "VALU IOPs": 3161.3826561552455}
    point = {"total_flops": 468.1142857142857, "hbm_cache_data": 0.49868738443275984}
    rates = [{name: cells[name] for name in ("VALU FLOPs (F32)", *names)} for cells in (sobol, init)]
    return {"app": [("sobol", [(0, 8960)], point, rates[0]), ("init", [(9000, 236562)], None, rates[1])]}


def test_integer_instructions_of_an_analysis_are_64_operations_each_as_its_own_total_has_it(tmp_path: Path) -> None:
    kernels = rw.read(write_analysis(tmp_path / "x.db", of_integers("INT32", "INT64")), integers=True)
    own = kernels.flops_by_precision
    assert (own["int32"] + own["int64"]).tolist() == [52_690_944, 719_410_560]
    assert own["fp32"].tolist() == pytest.approx([4_194_304, 0])
    assert "under int32 and int64: their unit is OP, not FLOP" in " ".join(kernels.warnings)


def test_the_rate_of_integers_of_an_analysis_counts_where_the_instructions_are_missing(tmp_path: Path) -> None:
    kernels = rw.read(write_analysis(tmp_path / "x.db", of_integers("VALU IOPs")), integers=True)
    assert kernels.flops_by_precision["int32"].tolist() == pytest.approx([52_690_944, 719_410_560])


def test_an_analysis_says_which_kernels_do_integers_that_are_not_counted(tmp_path: Path) -> None:
    kernels = rw.read(write_analysis(tmp_path / "x.db", of_integers("INT32", "INT64")))
    assert kernels.flops.tolist() == pytest.approx([4_194_304, 0])
    assert kernels.warnings[-1] == (
        "1 kernel without FLOPs does operations of integers, which are not counted: integers=True counts them"
    )
