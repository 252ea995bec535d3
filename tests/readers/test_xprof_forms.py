"""Reading XProf's other forms: the same operations as in the JSON, as far as the form has them."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roofwidget.analysis.bound import bound
from roofwidget.kernels.table import Kernels
from roofwidget.readers import ProfileError, read
from tests.places import FIXTURES, json_of, text_of, write
from tests.real_files import real_file
from tests.tables import has_columns

CALLS, STATS, PRINTED = (
    FIXTURES / f"xprof_calls.{tool}.json" for tool in ("roofline_model", "hlo_stats", "cli_roofline")
)
TPU, GPU = (FIXTURES / f"xprof_{name}.roofline_model.csv" for name in ("tpu", "gpu"))


def refusal(given: Any, **options: Any) -> str:
    with pytest.raises(ProfileError) as caught:
        read(given, **options)
    return str(caught.value)


def same_numbers(left: Kernels, right: Kernels, rtol: float) -> None:
    assert left.names.tolist() == right.names.tolist()
    for field in ("flops", "bytes", "time", "self_time", "count"):
        np.testing.assert_allclose(getattr(left, field), getattr(right, field), rtol=rtol, err_msg=field)


# -- CSV ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("infeed", [True, False])
@pytest.mark.parametrize("path", [TPU, GPU])
def test_a_csv_gives_what_its_json_gives_and_its_peaks_come_out_of_rates_and_efficiencies(
    path: Path,
    infeed: bool,  # noqa: FBT001 - parametrised
) -> None:
    lost, whole = read(path, infeed=infeed), read(path.with_suffix(".json"), infeed=infeed)
    assert lost == whole
    assert lost.program == whole.program
    assert lost.steps == whole.steps
    assert lost.chip is not None
    assert whole.chip is not None
    assert "the CSV does not have the device and its peaks: the peaks were computed" in lost.warnings[0]
    # The JSON prints its peaks with six digits; the rates are as XProf computed them.
    for level in set(whole.chip.memories) - {"Shm/L1"}:
        assert lost.chip.bandwidth(level) == pytest.approx(whole.chip.bandwidth(level), rel=5e-6)
    assert lost.chip.peak() == pytest.approx(whole.chip.peak(), rel=5e-6)
    assert lost.chip.default_precision == whole.chip.default_precision
    assert lost.chip.name in {"TPU (not named)", "GPU (not named)"}
    judged = (bound(kernels, kernels.chip, memory="all").bound_by.tolist() for kernels in (lost, whole) if kernels.chip)
    assert next(judged) == next(judged)


@pytest.mark.parametrize("name", ["tpu_inference_2", "mi300x_jax08_gemm"])
def test_a_real_csv_gives_what_its_json_gives(name: str) -> None:
    lost, whole = (
        read(real_file(f"xprof/{name}.roofline_model.csv")),
        read(real_file(f"xprof/{name}.roofline_model.json")),
    )
    assert lost == whole
    assert lost.chip is not None
    assert whole.chip is not None
    assert lost.chip.bandwidth("HBM") == pytest.approx(whole.chip.bandwidth("HBM"), rel=5e-6)
    assert lost.chip.peak() == pytest.approx(whole.chip.peak(), rel=5e-6)


def cells_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def as_text(rows: list[list[str]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def test_a_csv_saved_again_by_a_spreadsheet_reads_the_same(tmp_path: Path) -> None:
    header, *rows = cells_of(GPU)
    is_text = [label in {"Operation", "Source Info", "Category", "Step"} for label in header]
    for cells in rows:
        cells[:] = [cell if text else cell.replace(".", ",").upper() for cell, text in zip(cells, is_text, strict=True)]
    path = tmp_path / "saved.csv"
    path.write_text(as_text([header, *rows], ";"), encoding="utf-8-sig", newline="")
    same_numbers(read(path), read(GPU), rtol=1e-15)


def test_a_csv_without_a_row_that_shows_a_peak_has_no_chip_and_says_so() -> None:
    header, *rows = cells_of(GPU)
    of_peak = header.index("FLOP Rate / Peak (%)")
    kernels = read(as_text([header, *(cells for cells in rows if float(cells[of_peak]) == 0)]).encode())
    assert kernels.chip is None
    assert "too few rows are bound by them to compute them" in kernels.warnings[0]
    assert kernels.names.tolist().count("custom-call.7") == 2


def test_a_bad_cell_of_a_csv_is_named_by_line_and_heading(tmp_path: Path) -> None:
    lines = text_of(GPU).splitlines()

    at = next(n for n, line in enumerate(lines) if '"5120.5"' in line)

    def spoiled(old: str, new: str) -> bytes:
        return "\n".join([*lines[:at], lines[at].replace(old, new, 1), *lines[at + 1 :]]).encode()

    assert refusal(spoiled('"5120.5"', '"abc"')).startswith(
        f"buffer: row {at + 1}, column 'Total Time (us)': expected a"
    )
    assert (
        refusal(spoiled('"5120.5"', '""'))
        == f"buffer: row {at + 1}, column 'Total Time (us)': expected a number, got ''"
    )
    assert refusal(spoiled('"True"', '"maybe"')) == (
        f"buffer: row {at + 1}, column 'Include Infeed/Outfeed': expected True or False, got 'maybe'"
    )
    twice = [lines[0].replace('"Category"', '"operation"'), *lines[1:]]
    assert (
        refusal("\n".join(twice).encode(), format="xprof-csv")
        == "buffer: column 'operation': two columns have the same meaning"
    )
    path = write(tmp_path / "cut.csv", "\n".join(lines)[:-300])
    assert "the file ends within a row" in refusal(path)


# -- hlo_stats ----------------------------------------------------------------------------------------------------


def test_hlo_stats_alone_gives_the_same_operations_without_a_chip() -> None:
    kernels, whole = read(STATS), read(CALLS)
    same_numbers(kernels, whole, rtol=1e-12)
    assert kernels.chip is None
    assert kernels.warnings[0] == "hlo_stats has no peaks, so there is no chip: choose a chip to see a roof"
    assert kernels.program.time[0] == pytest.approx(201.25e-6 * 1.25, rel=1e-12)
    # One operation has unknown FLOPs, so the sum is unknown.
    assert np.isnan(kernels.program.flops[0])
    assert kernels.extra["share of self time"].sum() == pytest.approx(1, rel=1e-12)
    assert kernels.extra["framework op"][0] == "jit(step)/cudnn-conv.2:"


def test_the_matrix_products_of_a_real_hlo_stats_come_out_at_their_true_rates() -> None:
    kernels = read(real_file("xprof/mi300x_jax08_gemm.hlo_stats.json"))
    assert [round(rate / 1e12, 1) for rate in kernels.achieved[:5]] == [899.8, 745.7, 917.7, 585.2, 205.4]
    whole = read(real_file("xprof/mi300x_jax08_gemm.roofline_model.json"))
    same_numbers(kernels, whole, rtol=1e-9)
    assert kernels.program.flops[0] == pytest.approx(whole.program.flops[0], rel=1e-9)


def test_without_infeed_its_operation_and_time_are_gone_from_hlo_stats_too() -> None:
    document = json_of(STATS)
    ids = [column["id"] for column in document["cols"]]
    for row in document["rows"]:
        if row["c"][ids.index("hlo_op_name")]["v"] == "grouped.1":
            row["c"][ids.index("category")]["v"] = "infeed"
    data = json.dumps([document]).encode()
    with_infeed, without = read(data), read(data, infeed=False)
    assert set(with_infeed.names) - set(without.names) == {"grouped.1"}
    assert with_infeed.program.time[0] - without.program.time[0] == pytest.approx(42e-6)
    assert with_infeed.time[-1] == pytest.approx(without.time[-1])


def test_an_empty_hlo_stats_says_why() -> None:
    document = json_of(STATS)
    kernels = read(json.dumps({**document, "rows": []}).encode())
    assert (len(kernels), len(kernels.program)) == (0, 0)
    assert kernels.warnings[0].startswith("XProf lists no operation")


# -- the command line ---------------------------------------------------------------------------------------------


def test_the_command_line_is_rounded_and_its_flops_by_name_are_not_taken() -> None:
    kernels, whole = read(PRINTED, shapes=False), read(CALLS, shapes=False, executions={"cudnn-conv.2": 12})
    conv = kernels.names.tolist().index("cudnn-conv.2")
    # 20.36 % of 3725.29 GiB/s for 61 us: percentages have two decimals, times are whole microseconds.
    assert kernels.bytes[conv] == pytest.approx(0.2036 * 3725.29 * 2**30 * 61e-6, rel=1e-12)
    assert kernels.flops[conv] == pytest.approx(336.4172 * kernels.bytes[conv], rel=1e-12)
    assert kernels.flops[conv] == pytest.approx(whole.flops[conv], rel=5e-3)
    assert kernels.bytes[conv] == pytest.approx(whole.bytes[conv], rel=5e-3)
    assert np.isnan(kernels.flops[[name.startswith("gemm") for name in kernels.names]]).all()
    assert np.isnan(kernels.flops[kernels.names == "grouped.1"]).all()
    assert kernels.extra["source"][kernels.names == "tail_add"].tolist() == ["step.py:7:1"]
    assert kernels.warnings[0].startswith("the command line rounds, FLOPs and bytes to 0.005 % of a peak")
    assert "derived from shapes for 4 operations were not used" in kernels.warnings[1]
    assert kernels.self_time.sum() == pytest.approx(kernels.program.time[0], rel=1e-12)


def test_what_the_command_line_rounds_away_is_unknown_not_zero() -> None:
    document = json_of(PRINTED)
    for one in document["top_operations"]:
        one["compute_efficiency_percent"] = one["max_mem_bw_utilization_percent"] = "0.00%"
    document["total_operations_analyzed"] = 40
    kernels = read(json.dumps(document).encode())
    has_columns(kernels, bytes=None, flops=None)
    assert kernels.names[-1] == "idle or not listed"


def test_with_hlo_stats_beside_it_the_command_line_is_exact() -> None:
    kernels, whole = read(PRINTED), read(CALLS)
    same_numbers(kernels[:-1], whole[:-1], rtol=1e-12)
    assert kernels.chip is not None
    assert kernels.chip.bandwidth() == pytest.approx(4e12, rel=1e-5)
    assert kernels.count.tolist() == whole.count.tolist()
    assert "of another run" in refusal(PRINTED, shapes=real_file("xprof/mi300x_jax08_gemm.hlo_stats.json"))


def test_a_real_command_line_gives_the_true_rates_with_hlo_stats_and_none_without() -> None:
    path = real_file("xprof/mi300x_jax08_gemm.cli_roofline.json")
    assert [round(rate / 1e12, 1) for rate in read(path).achieved[:5]] == [899.8, 745.7, 917.7, 585.2, 205.4]
    rounded, whole = (
        read(path, shapes=False),
        read(real_file("xprof/mi300x_jax08_gemm.roofline_model.json"), shapes=False),
    )
    assert np.isnan(rounded.flops[:5]).all()
    large = whole.extra["XProf memory utilization"] > 0.1
    np.testing.assert_allclose(rounded.achieved[large], whole.achieved[large], rtol=0)
    np.testing.assert_allclose((rounded.bytes / rounded.time)[large], (whole.bytes / whole.time)[large], rtol=5e-4)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.update(top_operations={}), "'top_operations': expected a list of objects"),
        (lambda d: d.update(device_info=1), "'device_info': expected an object, got 1"),
        (lambda d: d.pop("program"), "'program': expected an object, got null"),
        (
            lambda d: d["program"].update(total_time_ms="1"),
            "'program', key 'total_time_ms': expected a finite number from 0, got '1'",
        ),
        (
            lambda d: d["top_operations"][1].update(compute_efficiency_percent="many"),
            "row 2, column 'compute_efficiency_percent': expected a percentage, got 'many'",
        ),
        (
            lambda d: d["top_operations"][2].update(total_self_time_ms=float("nan")),
            "row 3, column 'total_self_time_ms': expected a finite number from 0, got NaN",
        ),
        (lambda d: d["top_operations"][0].pop("name"), "row 1, column 'name': expected text, got null"),
        (lambda d: d["device_info"].update(peak_flop_rate=[]), "property 'peak_flop_rate': expected a number"),
    ],
)
def test_a_flawed_print_is_named_by_its_place(spoil: Callable[[Any], object], message: str) -> None:
    document = json_of(PRINTED)
    spoil(document)
    assert refusal(json.dumps(document).encode()).startswith(f"buffer: {message}")


# -- raw traces ---------------------------------------------------------------------------------------------------

TRACE = b"\n\x10\x12\x0e/host:metadata"


def converter(monkeypatch: pytest.MonkeyPatch, convert: Callable[[list[str], str, dict[str, Any]], Any]) -> None:
    """Replace the converter of the extra by a fake."""
    module = types.ModuleType("xprof.convert.raw_to_tool_data")
    module.xspace_to_tool_data = convert  # type: ignore[attr-defined]  # a fake
    for name in ("xprof", "xprof.convert"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "xprof.convert.raw_to_tool_data", module)


def test_a_raw_trace_is_converted_in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folders: list[Path] = []

    def convert(paths: list[str], tool: str, _: dict[str, Any]) -> tuple[bytes, str]:
        folders.append(Path(paths[0]).parent)
        assert Path(paths[0]).read_bytes() == TRACE
        (folders[-1] / "left_behind.pb").touch()
        return {"roofline_model": CALLS, "hlo_stats": STATS}[tool].read_bytes(), "application/json"

    converter(monkeypatch, convert)
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(TRACE)
    assert read(path) == read(CALLS)
    assert read(CALLS, shapes=path) == read(CALLS)
    assert list(tmp_path.iterdir()) == [path]
    assert not any(folder.exists() for folder in folders)


def test_the_folder_of_a_run_is_its_hosts_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[int] = []

    def convert(paths: list[str], tool: str, _: dict[str, Any]) -> tuple[bytes, str]:
        given.append(len(paths))
        return {"roofline_model": CALLS, "hlo_stats": STATS}[tool].read_bytes(), "application/json"

    converter(monkeypatch, convert)
    run = tmp_path / "plugins/profile/monday"
    run.mkdir(parents=True)
    for host in ("a", "b"):
        (run / f"{host}.xplane.pb").write_bytes(TRACE)
    assert read(tmp_path) == read(CALLS)
    assert given == [2, 2]
    other = run.with_name("tuesday")
    other.mkdir()
    (other / "a.xplane.pb").write_bytes(TRACE)
    assert refusal(tmp_path).endswith(
        "the folder has 2 runs; give the path of one run: 'plugins/profile/monday', 'plugins/profile/tuesday'"
    )


def test_a_trace_that_cannot_be_converted_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Any:
        raise RuntimeError("not a valid XSpace")

    converter(monkeypatch, fail)
    assert refusal(TRACE) == "buffer: XProf cannot convert the trace to 'roofline_model': not a valid XSpace"
    converter(monkeypatch, lambda *_: (None, ""))
    assert refusal(TRACE) == "buffer: XProf finds nothing for 'roofline_model' in the trace"


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xprof", None)
    with pytest.raises(ImportError, match=r"reading \.xplane\.pb needs the package xprof: pip install 'xprof>=2.20'"):
        read(TRACE)


def test_a_real_trace_gives_what_its_exported_tables_give() -> None:
    if importlib.util.find_spec("xprof") is None:
        pytest.skip("the package xprof is not installed")
    whole = read(real_file("xprof/mi300x_jax08_gemm.roofline_model.json"))
    assert read(real_file("xprof/mi300x_jax08_gemm.xplane.pb")) == whole


# -- any of them --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [CALLS, STATS, PRINTED, TPU])
def test_every_form_reads_compressed_and_from_bytes(path: Path, tmp_path: Path) -> None:
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with zipfile.ZipFile(tmp_path / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, path.name)
    options: dict[str, Any] = {} if path == STATS else {"shapes": False}
    expected = read(path, **options)
    assert (
        read(packed, **options)
        == read(tmp_path / "one.zip", **options)
        == read(path.read_bytes(), **options)
        == expected
    )


@pytest.mark.parametrize(
    ("path", "format_"), [(CALLS, "xprof"), (STATS, "xprof-hlo-stats"), (PRINTED, "xprof-cli"), (TPU, "xprof-csv")]
)
def test_a_truncated_file_ends_in_one_clear_error(path: Path, format_: str) -> None:
    data = path.read_bytes()
    for share in (0.05, 0.4, 0.97):
        message = refusal(data[: int(len(data) * share)], format=format_)
        assert message.startswith("buffer: ")
        assert len(message) < 1000


@pytest.mark.parametrize("format_", ["xprof", "xprof-hlo-stats", "xprof-cli", "xprof-csv"])
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"5", b'[{"cols":[]}]', b"\x00\x01\x02", b"a,b\n1,2\n"])
def test_another_file_named_as_one_of_these_is_refused(content: bytes, format_: str) -> None:
    assert refusal(content, format=format_).startswith("buffer: ")


def test_a_million_columns_are_refused() -> None:
    wide = ",".join(f'"{n}"' for n in range(1_000_000)).encode()
    assert "columns" in refusal(b'"Step","Operation","Roofline efficiency (%)","Include Infeed/Outfeed",' + wide)
