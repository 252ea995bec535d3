"""Reading XProf's opaque calls: FLOPs from the shapes of their own program, and shares that add up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests.places import FIXTURES, json_of, text_of, write
from tests.real_files import real_file
from tests.tables import warns

CALLS = FIXTURES / "xprof_calls.roofline_model.json"
STATS = FIXTURES / "xprof_calls.hlo_stats.json"


def row(kernels: Any, name: str, program: str) -> int:
    found = [
        n for n, key in enumerate(zip(kernels.names, kernels.extra["program"], strict=True)) if key == (name, program)
    ]
    assert len(found) == 1
    return found[0]


def moved(tmp_path: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(FIXTURES / name, tmp_path)
    return tmp_path / names[0]


def test_one_name_in_two_programs_gets_the_flops_of_each_shape_times_executions() -> None:
    kernels = read(CALLS)
    batch, plain = row(kernels, "gemm.3", "8812"), row(kernels, "gemm.3", "8813")
    assert kernels.flops[batch] == 2 * 3 * 640 * 1536 * 320 * 4
    assert kernels.flops[plain] == 2 * 768 * 512 * 2048 * 7
    assert kernels.bytes[plain] == 2 * (768 * 2048 + 2048 * 512 + 768 * 512) * 7
    assert kernels.precision[[batch, plain]].tolist() == ["fp16", "bf16"]
    assert kernels.extra["shape"][plain] == "bf16[768,2048], bf16[2048,512] -> bf16[768,512]"
    assert kernels.origin["flops"][plain] == "2 x 393216 outputs x 2048 (K) of __cublas$gemm x 7 executions"
    assert kernels.origin["bytes:HBM"][plain].startswith("compulsory bytes, operands and outputs once: ")
    assert kernels.origin["precision"][plain] == "the type of the first operand"


def test_a_type_that_the_chip_has_no_peak_for_is_judged_by_the_one_it_has_and_said() -> None:
    kernels = read(CALLS)
    at = row(kernels, "gemm.f8", "8813")
    assert kernels.flops[at] == 2 * 1024 * 2048 * 512 * 7
    assert kernels.bytes[at] == (1024 * 512 + 2048 * 512 + 4 + 4 + 2 * 1024 * 2048) * 7
    assert (kernels.precision[at], kernels.extra["dtype"][at]) == (None, "f8e4m3fn")
    assert warns(kernels, "some of them are fp8, for which the profile has no peak")
    # Without a chip no peak is needed.
    assert read(STATS).precision[row(read(STATS), "gemm.f8", "8813")] == "fp8"


def test_kernels_of_one_call_are_not_counted_as_executions() -> None:
    kernels = read(CALLS)
    conv, split = row(kernels, "cudnn-conv.2", "8812"), row(kernels, "gemm.split", "8812")
    assert kernels.count[[conv, split]].tolist() == [4, 4]
    assert kernels.extra["XProf occurrences"][[conv, split]].tolist() == [12, 8]
    assert kernels.flops[conv] == pytest.approx(2 * (16 * 28 * 28 * 96) * (3 * 3 * 64) * 4, rel=1e-12)
    assert kernels.flops[split] == 2 * 96 * 128 * 20000 * 4
    assert kernels.origin["flops"][conv].endswith("x 4 executions / 12 kernels")
    told = next(warning for warning in kernels.warnings if warning.startswith("XProf counts every kernel"))
    assert "'cudnn-conv.2' 4 times, not 12" in told


def test_executions_that_are_told_go_before_what_the_rest_of_the_program_says() -> None:
    kernels = read(CALLS, executions={"CUDNN-*": 6, "tail_add": 3})
    assert kernels.count[row(kernels, "cudnn-conv.2", "8812")] == 6
    assert kernels.flops[row(kernels, "tail_add", "8813")] == pytest.approx(65536 * 3)
    with pytest.raises(ValueError, match=r"executions: no operation is called 'tail_ad'; did you mean 'tail_add'"):
        read(CALLS, executions={"tail_ad": 3})
    with pytest.raises(TypeError, match=r"executions must be counts by operation name, .* got 5"):
        read(CALLS, executions=5)
    with pytest.raises(TypeError, match=r"executions\['x'\] must be a whole number, got True"):
        read(CALLS, executions={"x": True})
    with pytest.raises(ValueError, match=r"executions\['x'\] must be from 1 to 9,007,199,254,740,992, got 0"):
        read(CALLS, executions={"x": 0})


def test_in_a_program_with_a_loop_or_of_differing_counts_kernels_stay_as_counted(tmp_path: Path) -> None:
    for change in ({"category": "while"}, {"occurrences": 5.0}):
        document = json_of(CALLS)
        ids = [column["id"] for column in document[0]["cols"]]
        for cells in (one["c"] for one in document[0]["rows"]):
            if cells[ids.index("operation")]["v"] == "cudnn-conv.2" and "occurrences" in change:
                cells[ids.index("hlo_module_id")]["v"] = "8813"
            if cells[ids.index("operation")]["v"] == "loop_scale_fusion" and "category" in change:
                cells[ids.index("category")]["v"] = "while"
        path = write(tmp_path / "changed.json", document)
        kernels = read(path)
        assert kernels.count[kernels.names == "cudnn-conv.2"].tolist() == [12]


def changed(tmp_path: Path, *changes: tuple[str, dict[str, Any]]) -> Path:
    """Return a profile in which the rows of these operations have other cells."""
    document = json_of(CALLS)
    ids = [column["id"] for column in document[0]["cols"]]
    for cells in (one["c"] for one in document[0]["rows"]):
        for name, values in changes:
            if cells[ids.index("operation")]["v"] == name:
                for column, value in values.items():
                    cells[ids.index(column)]["v"] = value
    return write(tmp_path / "changed.json", document)


def undecided(kernels: Any) -> list[str]:
    return [warning for warning in kernels.warnings if warning.startswith("how often library calls ran is not certain")]


def test_a_call_that_lost_one_of_its_events_still_counts_by_its_executions(tmp_path: Path) -> None:
    # Two kernels in each of 40 executions: 80 events, of which the profiler lost one.
    path = changed(tmp_path, ("gemm.split", {"occurrences": 79.0}), ("loop_scale_fusion", {"occurrences": 40.0}))
    kernels = read(path, shapes=STATS)
    at = kernels.names.tolist().index("gemm.split")
    assert kernels.count[at] == 40
    assert kernels.flops[at] == 2 * 96 * 128 * 20000 * 40
    assert kernels.extra["XProf occurrences"][at] == 79
    assert kernels.origin["flops"][at] == "2 x 12288 outputs x 20000 (K) of __cublas$lt$matmul x 40 executions"


@pytest.mark.parametrize("counts", [(40.0, 40.0, 39.0), (40.0, 41.0, 40.0), (40.0, 40.0, 20.0)])
def test_the_most_common_count_of_the_other_operations_is_the_number_of_executions(
    counts: tuple[float, float, float], tmp_path: Path
) -> None:
    others = ("loop_scale_fusion", "tail_add", "grouped.1")
    changes = [
        (name, {"occurrences": count, "hlo_module_id": "8812", "category": "loop fusion"})
        for name, count in zip(others, counts, strict=True)
    ]
    path = changed(tmp_path, ("gemm.split", {"occurrences": 80.0}), ("cudnn-conv.2", {"occurrences": 118.0}), *changes)
    kernels = read(path)
    assert kernels.count[kernels.names == "gemm.split"].tolist() == [40]
    assert kernels.count[kernels.names == "cudnn-conv.2"].tolist() == [40]
    assert not [said for said in undecided(kernels) if "gemm.split" in said or "cudnn-conv.2" in said]


@pytest.mark.parametrize(
    "changes",
    [
        [("loop_scale_fusion", {"occurrences": 30.0}), ("gemm.split", {"occurrences": 79.0})],
        [("loop_scale_fusion", {"category": "while"})],
        [("loop_scale_fusion", {"occurrences": 3.0}), ("gemm.split", {"occurrences": 5.0})],
        [("loop_scale_fusion", {"hlo_module_id": "8813"})],
        [
            ("loop_scale_fusion", {"hlo_module_id": "8813", "occurrences": 28.0}),
            ("gemm.split", {"hlo_module_id": "8813"}),
        ],
    ],
    ids=["no multiple", "a loop", "too few", "no other operation", "two counts"],
)
def test_a_call_whose_executions_nothing_decides_is_named_in_a_warning(changes: Any, tmp_path: Path) -> None:
    kernels = read(changed(tmp_path, *changes))
    at = kernels.names.tolist().index("gemm.split")
    assert kernels.count[at] in {5, 8, 79}
    (said,) = undecided(kernels)
    assert "'gemm.split'" in said
    assert "executions={'gemm.split': n}" in said or "executions={'cudnn-conv.2': n}" in said
    told = read(changed(tmp_path, *changes), executions={"*gemm*": 4, "cudnn*": 4, "grouped*": 4})
    assert not undecided(told)


def test_a_call_that_ran_as_often_as_the_other_operations_is_certain() -> None:
    assert not undecided(read(CALLS))


def test_the_program_gains_what_its_operations_gain() -> None:
    kernels = read(CALLS)
    assert kernels.program.flops[0] == pytest.approx(np.nansum(kernels.flops), rel=1e-12)
    assert kernels.program.bytes[0] == pytest.approx(np.nansum(kernels.bytes), rel=1e-12)
    assert kernels.program.origin["flops"][0].endswith(" + what was derived for operations")
    bare = read(CALLS, shapes=False)
    assert bare.program.flops[0] < kernels.program.flops[0]
    assert np.isnan(bare.flops[row(bare, "gemm.3", "8813")])


def test_idle_time_is_a_row_and_shares_of_self_time_add_up_to_one() -> None:
    kernels = read(CALLS)
    # The fixture is idle for a quarter of its operations' time.
    assert (kernels.names[-1], kernels.category[-1]) == ("idle or not profiled", "idle")
    assert kernels.time[-1] == pytest.approx(201.25e-6 / 4)
    assert kernels.self_time.sum() == pytest.approx(kernels.program.time[0], rel=1e-12)
    assert kernels.extra["share of self time"].sum() == pytest.approx(1, rel=1e-12)
    assert np.isnan([kernels.flops[-1], kernels.bytes[-1]]).all()
    assert "idle" not in read(CALLS, idle=False).category.tolist()
    with pytest.raises(TypeError, match="idle must be True or False, got 'yes'"):
        read(CALLS, idle="yes")


def test_operations_beyond_a_thousand_are_named_with_the_idle_time(tmp_path: Path) -> None:
    document = json_of(CALLS)
    ids = [column["id"] for column in document[0]["cols"]]
    rows = document[0]["rows"]
    one = next(r for r in rows if r["c"][ids.index("operation")]["v"] == "tail_add")
    document[0]["rows"] = [*rows, *[one] * 992]
    rows[0]["c"][ids.index("total_time")]["v"] = 1e6
    path = write(tmp_path / "many.json", document)
    kernels = read(path)
    assert kernels.names[-1] == "idle or not listed"
    assert warns(kernels, "only 1,000 operations are listed")


def test_operations_that_overlap_are_said_to() -> None:
    document = json_of(CALLS)
    ids = [column["id"] for column in document[0]["cols"]]
    document[0]["rows"][0]["c"][ids.index("total_time")]["v"] = 100.625
    kernels = read(json.dumps(document).encode())
    assert "idle" not in kernels.category.tolist()
    assert "operations overlap: their self time is 200.0% of the program's" in kernels.warnings


def test_the_table_beside_a_profile_is_found_and_another_can_be_named(tmp_path: Path) -> None:
    alone = moved(tmp_path, CALLS.name)
    assert "HLO" not in read(alone).extra
    assert warns(read(alone), "give shapes='….hlo_stats.json'")
    assert read(alone, shapes=STATS) == read(CALLS)
    assert read(alone, shapes=STATS.read_bytes()) == read(CALLS)
    shutil.copy(STATS, tmp_path / "xprof_calls.hlo_stats.json")
    assert read(alone) == read(CALLS)
    with pytest.raises(TypeError, match="shapes must be the path of a hlo_stats table, None or False, got True"):
        read(alone, shapes=True)


def test_a_table_of_another_run_is_refused_and_a_damaged_one_beside_is_left_out(tmp_path: Path) -> None:
    alone = moved(tmp_path, CALLS.name)
    other = write(tmp_path / "other.json", text_of(STATS).replace('"881', '"991'))
    with pytest.raises(
        ProfileError, match=r"other\.json: none of its operations is in the profile: the file is of another run"
    ):
        read(alone, shapes=other)
    with pytest.raises(ProfileError, match=r"expected the JSON that XProf exports for its tool 'hlo_stats'"):
        read(alone, shapes=CALLS)
    write(tmp_path / "xprof_calls.hlo_stats.json", "{")
    kernels = read(alone)
    assert kernels.warnings[0].startswith("the shapes in the profile's folder could not be read: ")
    assert len(kernels) == 9


def test_rows_whose_time_differs_are_not_joined(tmp_path: Path) -> None:
    stats = json_of(STATS)
    ids = [column["id"] for column in stats["cols"]]
    stats["rows"][0]["c"][ids.index("total_time")]["v"] += 0.5
    path = write(tmp_path / "stats.json", stats)
    kernels = read(CALLS, shapes=path)
    assert kernels.extra["HLO"][kernels.names == "cudnn-conv.2"].tolist() == [None]
    assert f"the shapes of 1 of 8 operations are not in {path}" in kernels.warnings


def test_an_hbm_peak_far_below_the_data_sheet_is_said_with_the_mend() -> None:
    said = [warning for warning in read(CALLS).warnings if warning.startswith("the profile's HBM peak")]
    assert len(said) == 1
    assert said[0].startswith("the profile's HBM peak, 4.00 TB/s, is 50% of the 8.00 TB/s on the data sheet of AMD")
    assert "set kernels.chip = rw.chip('mi350x')" in said[0]
    assert not warns(read(FIXTURES / "xprof_gpu.roofline_model.json"), "HBM peak")


def test_every_column_of_the_table_is_kept_with_its_unit() -> None:
    kernels = read(FIXTURES / "xprof_tpu.roofline_model.json")
    table = json_of(FIXTURES / "xprof_tpu.roofline_model.json")[0]
    fields = {"step", "category", "operation", "occurrences", "total_time", "total_self_time", "include_infeed_outfeed"}
    # Source information gives two columns: the line and the stack.
    assert len(kernels.extra) == len({column["id"] for column in table["cols"]} - fields) + 1
    first = kernels.names.tolist().index("fusion.mlp_up")
    assert kernels.extra["source"][first] == "model.py:118"
    assert kernels.extra["stack"][first] == "model.py:118:8"
    assert kernels.extra["program"][first] == "7300000000000000042"
    assert kernels.extra["tile_id"].tolist()[:3] == [0, 0, 0]
    assert kernels.extra["XProf bound by"][first] == "Compute"
    rates = kernels.extra["XProf normalized FLOP rate (FLOP/s)"]
    np.testing.assert_allclose(rates[:-1], kernels.flops[:-1] / kernels.time[:-1], rtol=1e-12)
    bandwidths = kernels.extra["XProf HBM bandwidth (B/s)"]
    np.testing.assert_allclose(bandwidths[:-1], kernels.bytes[:-1] / kernels.time[:-1], rtol=1e-12)
    np.testing.assert_allclose(
        kernels.extra["time per launch (s)"][:-1], (kernels.time / kernels.count)[:-1], rtol=1e-12
    )
    assert kernels.origin["flops"][first] == "measured_flop_rate x total_time, normalised by XProf to the bf16 peak"
    assert kernels.origin["bytes:VMEM read"][first] == "vmem_read_bw x total_time"


def test_the_matrix_products_of_a_real_mi300x_profile_come_out_at_their_true_rates() -> None:
    kernels = read(real_file("xprof/mi300x_jax08_gemm.roofline_model.json"))
    shape = {"49": 899.8, "34": 917.7, "79": 745.7, "64": 585.2, "21": 205.4}
    rates = {kernels.extra["program"][n]: round(kernels.achieved[n] / 1e12, 1) for n in range(5)}
    assert rates == shape
    assert kernels.precision[:5].tolist() == ["bf16"] * 5
    assert kernels.self_time.sum() == pytest.approx(9456.212e-6, rel=1e-12)
    # 36.1 % of the program's time is in operations.
    assert kernels.time[-1] / kernels.self_time.sum() == pytest.approx(1 - 0.361, abs=5e-4)
    said = next(warning for warning in kernels.warnings if "HBM peak" in warning)
    assert "2.66 TB/s, is 50% of the 5.30 TB/s" in said
    assert warns(kernels, "above their roof: 2, ")


@pytest.mark.parametrize("tool", ["roofline_model", "hlo_stats"])
def test_products_of_a_real_gpu_program_have_the_flops_of_their_shapes_as_often_as_they_ran(tool: str) -> None:
    kernels = read(FIXTURES / f"gpu/jax.{tool}.json")
    at = [kernels.names.tolist().index(name) for name in ("custom-call.1", "cublas-lt-matmul.2")]
    # The file has rates and times.
    assert kernels.flops[at].tolist() == pytest.approx([3 * 2 * 4096**2 * 16384] * 2, rel=1e-12)
    assert kernels.count[at].tolist() == [3, 3]
    assert kernels.time[at].tolist() == pytest.approx([2075.966e-6, 1980.347e-6], rel=1e-12)
    assert warns(kernels, "these ran: 'custom-call.1' 3 times, not 6")


def test_the_kernels_of_a_real_gpu_program_have_their_times_and_launches() -> None:
    kernels = read(FIXTURES / "gpu/jax.kernel_stats.json")
    assert kernels.names[2:].tolist() == ["loop_multiply_fusion", "triton_softmax_2"]
    assert kernels.time.tolist() == pytest.approx([2073.662e-6, 1978.011e-6, 300.772e-6, 70.721e-6], rel=1e-12)
    assert (kernels.count.tolist(), kernels.warnings) == ([3, 3, 3, 3], ())
