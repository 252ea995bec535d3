"""Reading XProf's roofline_model: results agree with the file's own columns, and errors name the place."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from roofwidget.analysis.bound import bound
from roofwidget.readers import ProfileError, read
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof import roofline_model
from tests.places import FIXTURES, json_of, write
from tests.real_files import real_file
from tests.tables import has_columns, warns

if TYPE_CHECKING:
    from collections.abc import Callable

    from roofwidget.kernels.table import Kernels


TPU, GPU, EMPTY = (f"xprof_{name}.roofline_model.json" for name in ("tpu", "gpu", "empty"))
NOT_A_NUMBER = "expected a number that is finite and not negative, got "


def records(path: Path, *, infeed: bool = True) -> list[dict[str, Any]]:
    """Return the file's operation rows by column id, read without the code under test."""
    table = json_of(path)[0]
    ids = [column["id"] for column in table["cols"]]
    rows = [dict(zip(ids, [cell["v"] for cell in row["c"]], strict=True)) for row in table["rows"]]
    rows = [row for row in rows if row["include_infeed_outfeed"] == infeed]
    return [row for row in rows if row["step"] == "Total" and row["rank"] > 0]


def column(rows: list[dict[str, Any]], name: str) -> np.ndarray[Any, Any]:
    return np.array([row[name] for row in rows])


def properties(path: Path) -> dict[str, str]:
    given: dict[str, str] = json_of(path)[0]["p"]
    return given


def agrees_with_its_file(path: Path, *, infeed: bool) -> Kernels:
    """Compare the kernels with all columns of the file's operations."""
    kernels, rows = read(path, infeed=infeed, idle=False, shapes=False), records(path, infeed=infeed)
    assert kernels.chip is not None
    has_columns(
        kernels,
        names=[row["operation"] for row in rows],
        category=[row["category"] for row in rows],
        count=[row["occurrences"] for row in rows],
    )
    np.testing.assert_allclose(kernels.time, column(rows, "total_time") * 1e-6, rtol=1e-12)
    judged = bound(kernels, kernels.chip, memory="all")
    assert [word.casefold() for word in judged.bound_by] == [row["bound_by"].casefold() for row in rows]
    known = column(rows, "bound_by") != "Unknown"
    np.testing.assert_allclose(judged.utilization[known], column(rows, "roofline_efficiency")[known], rtol=1e-5)
    np.testing.assert_allclose(judged.achieved[known], column(rows, "measured_flop_rate")[known] * 1e9, rtol=1e-12)
    optimal = judged.achieved[known] / judged.utilization[known]
    np.testing.assert_allclose(optimal, column(rows, "optimal_flop_rate")[known] * 1e9, rtol=1e-5)
    intensity = column(rows, "hbm_operational_intensity")
    np.testing.assert_allclose(kernels.arithmetic_intensity[known], intensity[known], rtol=1e-6)
    assert np.isnan(kernels.flops[~known]).all()
    assert np.isnan(kernels.bytes[~known]).all()
    assert not np.isnan(kernels.flops[known]).any()
    return kernels


@pytest.mark.parametrize("infeed", [True, False])
@pytest.mark.parametrize("name", [TPU, GPU])
def test_a_twin_comes_out_as_its_own_columns_say(name: str, infeed: bool) -> None:  # noqa: FBT001 - parametrised
    agrees_with_its_file(FIXTURES / name, infeed=infeed)


@pytest.mark.parametrize("infeed", [True, False])
def test_a_real_tpu_profile_comes_out_as_its_own_columns_say(infeed: bool) -> None:  # noqa: FBT001 - parametrised
    path = real_file("xprof/tpu_inference_2.roofline_model.json")
    kernels = agrees_with_its_file(path, infeed=infeed)
    assert kernels.chip is not None
    assert len(kernels) == 17
    assert int((kernels.flops == 0).sum()) == 13
    assert kernels.chip.name == "TPU v6 Lite"
    assert kernels.chip.vendor == "Google"
    assert kernels.chip.bandwidth("HBM") == 1525.5 * 2**30
    assert kernels.chip.peak("bf16") == 918e12
    assert list(kernels.chip.memories) == ["HBM", "VMEM read", "VMEM write"]
    given = properties(path)
    for level, name in (("HBM", "hbm"), ("VMEM read", "vmem_read"), ("VMEM write", "vmem_write")):
        ridge = kernels.chip.ridge_point("bf16", level)
        assert ridge == pytest.approx(float(given[f"{name}_ridge_point"]), rel=2e-6)


@pytest.mark.parametrize("infeed", [True, False])
def test_a_real_gpu_profile_comes_out_as_its_own_columns_say(infeed: bool) -> None:  # noqa: FBT001 - parametrised
    path = real_file("xprof/mi300x_jax08_gemm.roofline_model.json")
    kernels = agrees_with_its_file(path, infeed=infeed)
    assert kernels.chip is not None
    assert (len(kernels), int(np.isnan(kernels.flops).sum())) == (16, 5)
    assert kernels.names.tolist()[:5] == ["custom-call.1"] * 5
    assert kernels.chip.peak("fp16") == 1.30744e15
    assert kernels.chip.vendor == "AMD"
    assert list(kernels.chip.memories) == ["HBM", "Shm/L1"]
    assert list(kernels.bytes_by_level) == ["HBM"]
    assert warns(kernels, "5 of 16, 94.3% of the operations' time")


def test_a_real_profile_of_an_unknown_device_is_empty_and_says_why() -> None:
    kernels = read(real_file("xprof/jax_cpu.roofline_model.json"))
    assert len(kernels) == 0
    assert kernels.chip is None
    assert "XProf lists no operation" in kernels.warnings[0]


def test_the_tpu_twin_shows_every_kind_of_bound_and_a_point_above_its_roof() -> None:
    kernels = read(FIXTURES / TPU, idle=False)
    assert kernels.chip is not None
    judged = bound(kernels, kernels.chip, memory="all")
    assert set(judged.bound_by) == {"compute", "HBM", "VMEM read", "VMEM write"}
    assert kernels.names[judged.above_roof].tolist() == ["fusion.cache_update"]
    assert (kernels.flops == 0).sum() == 3
    assert not np.isnan(kernels.flops).any()


def test_every_derived_column_of_a_twin_follows_from_its_rates() -> None:
    rows, given = records(FIXTURES / TPU), properties(FIXTURES / TPU)
    best = np.zeros(len(rows))
    for rate, peak in (
        ("measured_flop_rate", "peak_flop_rate"),
        ("hbm_bw", "peak_hbm_bw"),
        ("vmem_read_bw", "peak_vmem_read_bw"),
        ("vmem_write_bw", "peak_vmem_write_bw"),
    ):
        best = np.maximum(best, column(rows, rate) / float(given[peak]))
    np.testing.assert_allclose(column(rows, "roofline_efficiency"), best, rtol=1e-5)
    everything = column(rows, "hbm_bw") + column(rows, "vmem_read_bw") + column(rows, "vmem_write_bw")
    np.testing.assert_allclose(column(rows, "measured_memory_bw"), everything, rtol=1e-12)
    intensity = column(rows, "measured_flop_rate") * 1e9 / (everything * 2**30)
    np.testing.assert_allclose(column(rows, "operational_intensity"), intensity, rtol=1e-12)
    assert column(rows, "cumulative_total_self_time_percent")[-1] == pytest.approx(1 / 1.06)


def test_without_infeed_the_infeed_operation_and_its_time_are_gone() -> None:
    with_infeed, without = read(FIXTURES / TPU), read(FIXTURES / TPU, infeed=False)
    assert set(with_infeed.names) - set(without.names) == {"infeed.tokens"}
    infeed = with_infeed.time[with_infeed.names == "infeed.tokens"][0]
    assert with_infeed.program.time[0] - without.program.time[0] == pytest.approx(infeed)


def test_program_and_steps_are_kernels_of_their_own() -> None:
    kernels = read(FIXTURES / TPU, idle=False)
    assert kernels.program.names.tolist() == ["Program"]
    assert kernels.steps.names.tolist() == ["Average", "Step 0", "Step 1"]
    assert kernels.program.flops[0] == pytest.approx(kernels.flops.sum())
    assert kernels.steps.flops[1:].sum() == pytest.approx(kernels.flops.sum())
    assert kernels.steps.time[0] == pytest.approx(kernels.program.time[0] / 2)
    assert kernels.program.chip == kernels.steps.chip == kernels.chip
    assert kernels.source == kernels.program.source == str(FIXTURES / TPU)
    document = load(TPU)
    put(document, 1, "step", "Total (HW)")
    assert of(document).program.names.tolist() == ["Program (HW)"]


def test_the_empty_average_of_a_profile_without_steps_is_no_step() -> None:
    kernels = read(FIXTURES / GPU)
    assert len(kernels.steps) == 0
    assert kernels.warnings[0].startswith("WARNING: No step marker observed")
    assert "the profile has no steps: XProf's empty average step was left out" in kernels.warnings


def test_one_name_in_two_programs_stays_two_kernels_and_opaque_ones_are_unknown_not_zero() -> None:
    kernels = read(FIXTURES / GPU, idle=False)
    assert kernels.names.tolist().count("custom-call.7") == 2
    assert np.isnan(kernels.flops).sum() == np.isnan(kernels.bytes).sum() == 3
    assert np.isfinite(kernels.time).all()


def test_an_empty_database_gives_no_kernels_no_chip_and_the_reason() -> None:
    kernels = read(FIXTURES / EMPTY)
    assert (len(kernels), kernels.chip, len(kernels.program), len(kernels.steps)) == (0, None, 0, 0)
    assert kernels.warnings == (
        "XProf lists no operation and no device: it supports only TPU and GPU profiles with operations",
        "the profile has no peak_flop_rate and no peak_hbm_bw, so there is no chip: choose a chip to see a roof",
    )


def test_a_missing_peak_is_missing_never_zero() -> None:
    document = load(TPU)
    document[0]["p"] |= {"peak_flop_rate": "0"}
    kernels = of(document)
    assert kernels.chip is None
    assert len(kernels) == 17
    assert warns(kernels, "no peak_flop_rate, so there is no chip")
    document = load(TPU)
    document[0]["p"] |= {"peak_vmem_write_bw": "0"}
    chip = of(document).chip
    assert chip is not None
    assert list(chip.memories) == ["HBM", "VMEM read"]


def test_cmem_is_read_where_the_device_has_it() -> None:
    document = load(TPU)
    document[0]["p"].update(has_merged_vmem="0", has_cmem="1", peak_cmem_read_bw="5000", peak_cmem_write_bw="4000")
    put(document, 2, "cmem_read_bw", 100.0)
    kernels = of(document)
    assert kernels.chip is not None
    assert list(kernels.chip.memories) == ["HBM", "CMEM read", "CMEM write"]
    assert kernels.bytes_by_level["CMEM read"][0] == pytest.approx(100 * 2**30 * kernels.time[0])
    # No row has bytes written to CMEM, so the level was not counted.
    assert list(kernels.bytes_by_level) == ["HBM", "CMEM read"]


def test_column_order_and_unknown_columns_and_properties_do_not_matter() -> None:
    document = load(TPU)
    for part in (document[0]["cols"], *(row["c"] for row in document[0]["rows"])):
        part.reverse()
    assert of(document) == read(FIXTURES / TPU)


def test_an_unknown_column_with_the_name_of_a_regular_column_says_whose_it_is() -> None:
    document = load(TPU)
    document[0]["cols"].append({"id": "count", "label": "Count", "type": "number"})
    for at, row in enumerate(document[0]["rows"]):
        row["c"].append({"v": at})
    kernels = of(document)
    assert kernels.count.tolist() == read(FIXTURES / TPU).count.tolist()
    assert "count (XProf)" in kernels.extra


def test_nested_operations_and_a_throttled_clock_are_remarked() -> None:
    document = load(TPU)
    put(document, 2, "category", "while")
    document[0]["p"] |= {"time_scale_multiplier": "0.9"}
    warnings = of(document).warnings
    assert any("include the time of others: add self_time, not time" in warning for warning in warnings)
    assert any("time scale multiplier is 0.9" in warning for warning in warnings)


def test_markup_in_a_name_stays_text_and_the_source_markup_is_not_passed_on() -> None:
    document = load(TPU)
    put(document, 2, "operation", "<img src=x onerror=alert(1)>")
    kernels = of(document)
    assert kernels.names[0] == "<img src=x onerror=alert(1)>"
    assert not any("<div" in word for word in [*kernels.names, *kernels.category, *kernels.warnings])


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + (FIXTURES / TPU).read_bytes())
    assert read(str(path)) == read(FIXTURES / TPU)


def of(document: Any) -> Kernels:
    return roofline_model.read(Source.of(json.dumps(document).encode()))


def load(name: str) -> Any:
    return json_of(FIXTURES / name)


def put(document: Any, row: int, name: str, value: object) -> None:
    """Set a cell; the row counts from 1."""
    position = [column["id"] for column in document[0]["cols"]].index(name)
    document[0]["rows"][row - 1]["c"][position] = {"v": value}


def column_of(document: Any, name: str) -> dict[str, Any]:
    return next(column for column in document[0]["cols"] if column["id"] == name)


def refusal(tmp_path: Path, content: object, **options: Any) -> str:
    """Return the error message of `read`, without the folder's name."""
    path = tmp_path / "p.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        write(path, content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ProfileError) as caught:
        read(path, **options)
    assert caught.value.file == str(path)
    return str(caught.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("hbm_bw", "abc", "expected a number, got 'abc'"),
        ("total_time", None, "expected a number, got null"),
        ("occurrences", True, "expected a number, got true"),
        ("vmem_read_bw", [1], "expected a number, got [1]"),
        ("measured_flop_rate", float("nan"), "expected a finite number from 0, got NaN"),
        ("hbm_bw", float("inf"), "expected a finite number from 0, got Infinity"),
        ("hbm_bw", 10**400, "expected a finite number from 0, got 1" + "0" * 56 + "..."),
        ("hbm_bw", -1.5, "expected a finite number from 0, got -1.5"),
        ("hbm_bw", 1e308, "the rate is too large for its time"),
        ("occurrences", 0, "expected a finite number from 1, got 0"),
        ("operation", 7, "expected text, got 7"),
        ("operation", "\ud800", r"expected text, got '\ud800'"),
        ("step", None, "expected text, got null"),
        ("include_infeed_outfeed", "true", "expected true or false, got 'true'"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_bad_cell_is_named_by_file_row_and_column(tmp_path: Path, name: str, value: object, reason: str) -> None:
    document = load(TPU)
    put(document, 3, name, value)
    assert refusal(tmp_path, document) == f"p.json: row 3, column '{name}': {reason}"


def test_a_bad_cell_in_the_other_list_is_refused_too(tmp_path: Path) -> None:
    document = load(TPU)
    put(document, last := len(document[0]["rows"]), "hbm_bw", "abc")
    assert refusal(tmp_path, document) == f"p.json: row {last}, column 'hbm_bw': expected a number, got 'abc'"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda d: column_of(d, "hbm_bw").update(id="hbm_bandwidth"),
            "column 'hbm_bw': the table has no such column; did you mean 'hbm_bandwidth'?",
        ),
        (lambda d: d[0]["cols"][0].update(id="hlo_module_id"), "column 'hlo_module_id': two columns have this id"),
        (lambda d: d[0]["rows"][3]["c"].pop(), "row 4: expected 38 cells, one per column, got 37"),
        (lambda d: d[0]["rows"].insert(1, 5), "row 2: expected an object with a list 'c', got 5"),
        (lambda d: d[0]["cols"].insert(1, 5), "column 2: expected an object with an 'id'"),
        (lambda d: d[0].update(rows=None), "expected a table with 'cols' and 'rows'"),
        (lambda d: d[0].update(p=[]), "'p': expected an object of device properties, got []"),
        (lambda d: d[0]["p"].update(peak_hbm_bw="fast"), "property 'peak_hbm_bw': " + NOT_A_NUMBER + "'fast'"),
        (lambda d: d[0]["p"].update(peak_hbm_bw="-1"), "property 'peak_hbm_bw': " + NOT_A_NUMBER + "'-1'"),
        (lambda d: d[0]["p"].update(peak_hbm_bw="nan"), "property 'peak_hbm_bw': " + NOT_A_NUMBER + "'nan'"),
        (lambda d: d[0]["p"].update(peak_hbm_bw=None), "property 'peak_hbm_bw': " + NOT_A_NUMBER + "null"),
        (lambda d: d[0]["p"].update(device_type=3), "property 'device_type': expected text, got 3"),
        (lambda d: d.__setitem__(1, 0), "expected a table with 'cols' and 'rows'"),
    ],
)
def test_a_flawed_table_is_named_by_its_place(tmp_path: Path, spoil: Callable[[Any], object], message: str) -> None:
    document = load(TPU)
    spoil(document)
    assert refusal(tmp_path, document) == f"p.json: {message}"


def test_a_file_without_the_list_that_was_asked_for_says_which_it_has(tmp_path: Path) -> None:
    document = load(TPU)
    document[0]["rows"] = document[0]["rows"][:3]
    message = "p.json: column 'include_infeed_outfeed': no row is false; read the file with infeed=True"
    assert refusal(tmp_path, document, infeed=False) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty; "),
        (b'\xff\xfe[\x00"', "byte 5: not UTF-16 text: truncated data; "),
        (b'[{"cols": "caf\xe9"}]', "byte 15: not UTF-8 text: invalid continuation byte; "),
        ('[{"cols": [],\n "p', "line 2, column 2: not JSON: Unterminated string starting at"),
        ('[{"cols": []', "line 1, column 13: not JSON: Expecting ',' delimiter (the file ends too early); "),
        ('[]\n{"more": 1}', "line 2, column 1: not JSON: Extra data; "),
        ("step,rank\nTotal,0\n", "no column of names and no column of FLOPs, bytes or seconds among 'step', 'rank'"),
        ("[" * 200_000, "nested too deeply; "),
        ("[" + "9" * 10_000 + "]", "a number that cannot be read: "),
        ('{"a }": {"b": "}"},\n "c": [{"v": 1, "v": 2}]}', "line 2, column 23: the key 'v' is twice in the object"),
    ],
)
def test_a_file_that_is_no_json_is_named_by_line_and_column(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert refusal(tmp_path, content).startswith(f"p.json: {message}")


@pytest.mark.parametrize(
    ("content", "described"),
    [
        ({"spans": [], "version": 1}, "an object with the keys 'spans', 'version'"),
        (
            [{"cols": [{"id": "op_kind"}], "rows": []}],
            "a list of 1 values, the first an object with the keys 'cols', 'rows'",
        ),
        ([], "an empty list"),
    ],
)
def test_the_json_of_another_tool_is_described(tmp_path: Path, content: object, described: str) -> None:
    said = f"p.json: JSON, {described}, which is not a profile of a known tool; docs/readers.md lists the formats"
    assert refusal(tmp_path, content) == said


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        read(tmp_path / "nothing.json")
    with pytest.raises(ProfileError, match="an empty folder, not a profile of a known tool"):
        read(tmp_path)


def test_an_unknown_option_names_the_nearest_one() -> None:
    with pytest.raises(TypeError, match="read has no keyword 'infed'; did you mean 'infeed'"):
        read(FIXTURES / TPU, infed=True)
    with pytest.raises(TypeError, match="infeed must be True or False, got 'no'"):
        read(FIXTURES / TPU, infeed="no")


def test_a_profile_error_survives_pickling() -> None:
    error = ProfileError("f.json", "expected a number", row=3, column="hbm_bw")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (str(again), again.row, again.column) == (str(error), 3, "hbm_bw")
