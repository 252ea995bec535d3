"""Reading ceilings: measured figures become a chip, or ceilings of a given chip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError
from tests import places
from tests.places import json_of, write
from tests.real_files import real_file
from tests.tables import has_columns

FIXTURES = places.FIXTURES / "ceilings"


def changed(name: str, change: Callable[[Any], object], folder: Path) -> Path:
    """Copy a JSON fixture and change it."""
    document = json_of(FIXTURES / name)
    change(document)
    return write(folder / name, document)


def ceilings(chip: rw.Chip) -> dict[str, float]:
    return {ceiling.key: ceiling.rate for ceiling in chip.ceilings}


@pytest.mark.parametrize(("name", "ridge"), [("ert_one_level.json", 7.239), ("ert_four_levels.json", 17.224)])
def test_ert_ridges_are_those_known_of_mira_and_cascade_lake(name: str, ridge: float) -> None:
    chip = rw.read_ceilings(FIXTURES / name)
    precision = "fp64" if "fp64" in chip.peak_flops else "auto"
    assert chip.ridge_point(precision) == pytest.approx(ridge, rel=1e-12)
    assert chip.sources["memories.DRAM.bandwidth"].confidence == "measured"


@pytest.mark.parametrize(
    ("name", "ridge", "levels"),
    [
        ("ert_titan.ccs.ornl.gov.01.json", 3.381, ["DRAM", "L2", "L1"]),
        ("ert_edison.nersc.gov.01.json", 4.287, ["DRAM", "L3", "L2", "L1"]),
        ("hpcl_roofline_a64_DP.json", 2761.3 / 840.6, ["HBM", "L2", "L1"]),
    ],
)
def test_ert_ridges_of_real_files_come_out_as_known(name: str, ridge: float, levels: list[str]) -> None:
    chip = rw.read_ceilings(real_file(f"ert/{name}"))
    assert round(chip.ridge_point(), 3) == round(ridge, 3)
    assert list(chip.memories) == levels


def test_ert_may_know_three_levels_as_well_as_one_and_four(tmp_path: Path) -> None:
    levels = {
        "ert_one_level.json": ["DRAM"],
        "ert_four_levels.json": ["DRAM", "L3", "L2", "L1"],
        str(changed("ert_four_levels.json", lambda d: d["empirical"]["gbytes"]["data"].pop(2), tmp_path)): [
            *("DRAM", "L2", "L1")
        ],
    }
    assert {name: list(rw.read_ceilings(FIXTURES / name).memories) for name in levels} == levels


def test_ert_names_the_precision_by_label_then_by_configuration_and_else_not_at_all() -> None:
    assert dict(rw.read_ceilings(FIXTURES / "ert_four_levels.json").peak_flops) == {"fp64": 2.153e12, "fp32": 4.306e12}
    assert dict(rw.read_ceilings(FIXTURES / "ert_stream.json").peak_flops) == {"fp64": 3.6e12, "fp16": 28.8e12}
    unknown = rw.read_ceilings(FIXTURES / "ert_one_level.json")
    assert dict(unknown.peak_flops) == {"unspecified": 180.975e9}
    assert "such as precision='fp64'" in unknown.notes[0]
    assert rw.read_ceilings(FIXTURES / "ert_one_level.json", precision="FP64").peak("fp64") == 180.975e9


def test_ert_rates_below_the_highest_of_a_precision_are_ceilings() -> None:
    chip = rw.read_ceilings(FIXTURES / "ert_four_levels.json")
    assert ceilings(chip) == {"FP64 Vector GFLOPs fp64": 1.1e12}
    assert chip.name == "fir.example.org"
    assert [(check.figure, check.value) for check in chip.checks] == [
        ("memories.DRAM.bandwidth", 140e9),
        ("memories.L2.bandwidth", 3.5e12),
        ("peak_flops.fp64", 2.4e12),
    ]


def test_the_stream_figure_beside_that_of_its_level_is_a_ceiling_and_alone_is_the_level(tmp_path: Path) -> None:
    chip = rw.read_ceilings(FIXTURES / "ert_stream.json")
    assert (chip.main_memory, chip.bandwidth(), ceilings(chip)) == ("HBM", 0.9e12, {"STREAM HBM": 0.8e12})
    alone = changed("ert_stream.json", lambda d: d["empirical"]["gbytes"]["data"].pop(1), tmp_path)
    assert rw.read_ceilings(alone).bandwidth("HBM") == 0.8e12


def test_reading_ceilings_as_a_profile_gives_their_chip_and_no_kernels() -> None:
    for name in ("ert_one_level.json", "oak_roofline.csv", "elm.json"):
        kernels = rw.read(FIXTURES / name)
        assert (len(kernels), kernels.chip) == (0, rw.read_ceilings(FIXTURES / name))
        assert "no kernels" in kernels.warnings[0]


def test_tracelens_matrix_units_are_meant_below_32_bits_and_vector_units_from_there() -> None:
    chip = rw.read_ceilings(FIXTURES / "elm.json")
    assert dict(chip.peak_flops) == {
        "fp64": 40e12,
        "fp64_matrix": 80e12,
        "fp16_vector": 160e12,
        "fp16": 640e12,
        "fp8": 1280e12,
    }
    assert (chip.name, chip.bandwidth("HBM"), chip.memories["HBM"].capacity) == ("Elm", 3.2e12, 96 * 2**30)
    assert chip.ridge_point("fp16") == 200


def test_ceilings_under_a_chip_of_the_catalogue_leave_its_sheet_and_find_its_words() -> None:
    chip = rw.read_ceilings(FIXTURES / "elm.json", chip="mi300x")
    assert chip.peak_flops == rw.chip("mi300x").peak_flops
    base = ceilings(rw.chip("mi300x"))
    added = {key: rate for key, rate in ceilings(chip).items() if base.get(key) != rate}
    assert added == {
        "measured fp64": 40e12,
        "measured fp64_tensor": 80e12,
        "measured fp16": 640e12,
        "measured fp16_vector": 160e12,
        "measured fp8": 1280e12,
        "measured HBM": 3.2e12,
    }
    older = rw.read_ceilings(FIXTURES / "elm.json", chip="mi210")
    assert "measured, but not of this chip: fp16_vector, fp8" in older.notes


def test_lower_ceilings_move_under_the_other_chip_too() -> None:
    base = rw.Chip("Mine", {"fp64": 3e12}, {"DDR5": 150e9, "L2": 4e12})
    chip = rw.read_ceilings(FIXTURES / "ert_four_levels.json", chip=base)
    assert ceilings(chip) == {
        "measured fp64": 2.153e12,
        "measured DDR5": 125e9,
        "measured L2": 3e12,
        "FP64 Vector GFLOPs fp64": 1.1e12,
    }
    assert chip.notes == ("measured, but not of this chip: fp32, L3, L1",)


def test_carm_takes_the_best_run_of_each_figure_and_others_as_ceilings() -> None:
    chip = rw.read_ceilings(FIXTURES / "oak_roofline.csv")
    assert dict(chip.peak_flops) == {"fp64": 480e9, "fp32": 940e9}
    assert {name: level.bandwidth for name, level in chip.memories.items()} == {"DRAM": 50e9, "L2": 800e9, "L1": 1.6e12}
    assert ceilings(chip) == {
        "no FMA fp64": 240e9,
        "scalar, 8 threads fp64": 120e9,
        "scalar, 8 threads L1": 400.5e9,
        "scalar, 8 threads L2": 210.25e9,
        "scalar, 8 threads DRAM": 40e9,
    }


def test_carm_runs_are_chosen_by_instruction_set_precision_and_threads() -> None:
    path = FIXTURES / "oak_roofline.csv"
    scalar = rw.read_ceilings(path, isa="Scalar", threads=8)
    assert (scalar.peak("fp64"), scalar.bandwidth()) == (120e9, 40e9)
    assert dict(rw.read_ceilings(path, precision="sp").peak_flops) == {"fp32": 940e9}
    with pytest.raises(ProfileError, match=r"no such run; there is scalar fp64 8 threads; avx2 fp64 8 threads;"):
        rw.read_ceilings(path, threads=4)
    with pytest.raises(TypeError, match="read_ceilings has no keyword 'thread'; did you mean 'threads'"):
        rw.read_ceilings(path, thread=8)


def test_carm_applications_count_what_the_core_asks_for_and_find_their_machine() -> None:
    kernels = rw.read(FIXTURES / "oak_applications.csv")
    has_columns(
        kernels, names=["stencil", "spmv", "mixed", "gather"], time=[1.5, 0.5, 0.25, 2], flops=[30e9, 3e9, 25e9, 0]
    )
    # FLOPs over the intensity, and 30 GB/s for 2 s where there are no FLOPs.
    has_columns(
        kernels,
        bytes_by_level={"L1": [120e9, 24e9, 12.5e9, 60e9]},
        bytes=None,
        precision=["fp64", "fp32", "fp64", None],
        extra={"ISA": [None, "avx2", "avx2", None]},
    )
    assert kernels.chip == rw.read_ceilings(FIXTURES / "oak_roofline.csv")
    assert kernels.chip is not None
    judged = rw.bound(kernels, kernels.chip, memory="L1")
    # An intensity of 0.25 under 1600 GB/s is 400 GFLOP/s.
    assert judged.attainable[0] == pytest.approx(400e9, rel=1e-12)


def test_carm_bytes_that_are_too_many_name_the_row_and_the_column_of_the_file() -> None:
    header = "Date,Method,Name,ISA,Precision,Threads,AI,Gflops,Bandwidth,Time"
    data = f"{header}\n,PMU,a,avx2,sp,1,1,1,1,1\n,PMU,b,avx2,sp,1,1e-300,1e50,1,1\n".encode()
    with pytest.raises(ProfileError) as caught:
        rw.read(data, "carm")
    assert str(caught.value) == "buffer: row 3, column 'AI': the FLOPs are too many for this intensity"


def test_the_machine_of_applications_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "oak_applications.csv"
    path.write_bytes((FIXTURES / "oak_applications.csv").read_bytes())
    assert rw.read(path).chip is None
    told = rw.read(path, machine=FIXTURES / "oak_roofline.csv", isa="scalar").chip
    assert told is not None
    assert told.peak("fp64") == 120e9
    with pytest.raises(ProfileError, match=r"the ceilings are in the machine's NAME_roofline.csv"):
        rw.read_ceilings(path)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("ert_stream.json", lambda d: d["empirical"].pop("gbytes"), "'empirical.gbytes.data': expected a list"),
        (
            "ert_stream.json",
            lambda d: d["empirical"]["gflops"]["data"].append(["GFLOPs"]),
            "'empirical.gflops.data', entry 3: expected [label, number], got ['GFLOPs']",
        ),
        (
            "ert_stream.json",
            lambda d: d["empirical"]["gbytes"]["data"].append(["L2", -1]),
            "'empirical.gbytes.data', entry 4: expected a number that is finite and not negative, got -1",
        ),
        ("ert_stream.json", lambda d: d["empirical"]["gflops"].update(data=[]), "no rate of arithmetic above zero"),
        ("ert_one_level.json", lambda d: d["empirical"]["gbytes"].update(data=[["L1", 0]]), "no bandwidth above zero"),
        (
            "ert_one_level.json",
            lambda d: d["empirical"]["gbytes"].update(data=[["all", 1]]),
            "'all' cannot be the name",
        ),
        ("elm.json", lambda d: d.pop("mem_bw_gbps"), "'mem_bw_gbps': the key is missing"),
        (
            "elm.json",
            lambda d: d.update(max_achievable_tflops={"bf16": 1}),
            "'max_achievable_tflops.bf16': expected a key",
        ),
        (
            "elm.json",
            lambda d: d.update(memory_gb="96"),
            "'memory_gb': expected a number that is finite and not negative",
        ),
    ],
)
def test_a_bad_document_is_refused_with_its_place(
    name: str, change: Callable[[Any], object], told: str, tmp_path: Path
) -> None:
    path = changed(name, change, tmp_path)
    with pytest.raises(ProfileError) as caught:
        rw.read_ceilings(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (",1600.0,", ",fast,", "row 4, column 'L1': expected a number that is finite and not negative, got 'fast'"),
        (",0.4,940.0,1.9,0,0", ",0.4", "row 5: expected 20 cells, got 17"),
        ("FP FMA,FP_FMA", "FP,FP", "row 1, column 'FP': expected one column of gb/s or gflop/s, got 2"),
        ("Precision", "Width", "row 2, column 'Precision': expected the header of the runs"),
        ("Yes,524288", 'Yes,"524288', "row 5: expected 20 cells"),
    ],
)
def test_a_bad_cell_of_a_machine_is_named(old: str, new: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "oak_roofline.csv"
    text = (FIXTURES / "oak_roofline.csv").read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())
    with pytest.raises(ProfileError) as caught:
        rw.read_ceilings(path)
    assert told in str(caught.value)


def test_a_bad_cell_of_applications_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x_applications.csv"
    text = (FIXTURES / "oak_applications.csv").read_bytes().decode()
    path.write_bytes(text.replace(",48.0,0.5", ",48.0,-0.5").encode())
    with pytest.raises(ProfileError, match=r"row 3, column 'Time': expected a finite number from 0, got '-0.5'"):
        rw.read(path)


def test_a_cut_off_result_and_a_file_of_another_tool_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "roofline.json"
    path.write_bytes((FIXTURES / "ert_stream.json").read_bytes()[:-30])
    with pytest.raises(ProfileError, match=r"not JSON: .* \(the file ends too early\)"):
        rw.read_ceilings(path)
    write(path, '{"traceEvents": []}')
    with pytest.raises(ProfileError, match="no ceilings of a known tool; the formats are 'ert', 'tracelens-arch'"):
        rw.read_ceilings(path)


def test_a_machine_of_a_million_columns_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "wide_roofline.csv", "Name:,wide" + ",L1" * 1_000_000 + "\n" + "GB/s," * 1_000_000 + "\n")
    with pytest.raises(ProfileError, match="row 2, column 'ISA': expected the header of the runs"):
        rw.read_ceilings(path)
