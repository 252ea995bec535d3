"""Reading bad files of Nsight Compute: one clear error that names the place, in limited memory."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import runpy
import zipfile
from typing import Any

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests import places
from tests.places import text_of
from tests.processes import memory_below
from tests.real_files import real_file
from tests.tables import warns

FIXTURES = places.FIXTURES / "ncu"
REPORT = (FIXTURES / "two_kernels.ncu-rep").read_bytes()
MADE = runpy.run_path(str(FIXTURES.parents[1] / "make_fixtures" / "ncu.py"))
HEADER = '"ID","Process ID","Kernel Name","Grid Size","Block Size","CC","Metric Name","Metric Unit","Metric Value"\n'
ROW = '"0","5","k","(1, 1, 1)","(2, 1, 1)","8.6","{}","{}","{}"\n'
TIME = ROW.format("gpu__time_duration.sum", "ns", "1000")


def refused(data: bytes, words: str, **options: Any) -> ProfileError:
    with pytest.raises(ProfileError, match=words) as caught:
        read(data, format="ncu", **options)
    return caught.value


def problem(data: bytes) -> ProfileError | None:
    """Return the `ProfileError` of a file, or None if it could be read."""
    try:
        read(data, format="ncu")
    except ProfileError as error:
        return error
    return None


def test_a_report_that_ends_anywhere_is_refused_with_the_byte() -> None:
    between_blocks = 0
    for end in range(5, len(REPORT)):
        error = problem(REPORT[:end])
        if error is None or "has no kernels" in error.reason:
            between_blocks += 1
        else:
            assert (error.reason, error.place) == ("the report ends too early; copy it again", error.place)
            assert error.place is not None
            assert int(error.place.removeprefix("byte ")) <= end + 1
    # After the header of the file and after three of its four blocks.
    assert between_blocks == 4


def test_a_damaged_report_never_ends_in_another_error() -> None:
    chance = random.Random(5)  # noqa: S311 - the same bytes every time
    for _ in range(200):
        data = bytearray(REPORT)
        for _ in range(3):
            data[chance.randrange(4, len(data))] = chance.randrange(256)
        problem(bytes(data))


def test_a_report_that_claims_a_huge_block_takes_no_memory() -> None:
    # A header of two bytes, then a header with a payload size of 2**60 bytes.
    claim = bytes([0x28, *[0x80] * 8, 0x10])
    with memory_below(4 * 2**20):
        refused(b"NVR\0" + (2**32 - 1).to_bytes(4, "little") + b"x" * 100, "the report is damaged here")
        refused(b"NVR\0\2\0\0\0\x08\x07" + len(claim).to_bytes(4, "little") + claim, "the report ends too early")


def test_an_empty_report_and_an_empty_file_are_told_apart_from_others() -> None:
    refused(b"NVR\0\2\0\0\0\x08\x07", "the report has no kernels; profile again")
    refused(b"", "no kernel was profiled; profile again, for example with 'ncu --set roofline -o profile ./program'")


def test_a_real_table_of_errors_alone_says_how_to_profile_again() -> None:
    data = real_file("ncu/error_only_b200.csv").read_bytes()
    refused(data, "no kernel was profiled.*; profile again, for example with 'ncu --set roofline")


def test_a_table_of_errors_alone_repeats_what_ncu_said() -> None:
    data = (FIXTURES / "error_only.csv").read_bytes()
    refused(data, r"no kernel was profiled; ncu said: twin3.7 was denied the counters \(code 7\); profile again")
    assert read(HEADER.encode() + TIME.encode(), format="ncu").time.tolist() == [1e-6]
    refused(HEADER.encode(), "no kernel was profiled")


def test_the_wrong_tool_is_refused_with_what_was_expected() -> None:
    with pytest.raises(ProfileError, match="a PDF document, which is not a profile of a known tool"):
        read(b"%PDF-1.7 not a profile")
    refused(b"Kernel_Name,SQ_WAVES\ncopy,5\n", "the content is of format 'rocprof', not 'ncu'")


def test_a_bad_number_names_line_column_and_metric() -> None:
    error = refused((HEADER + TIME + ROW.format("dram__bytes.sum", "byte", "12 apples")).encode(), "got '12 apples'")
    assert (error.row, error.column) == (3, "Metric Value")
    assert "'dram__bytes.sum'" in error.reason
    refused((HEADER + ROW.format("dram__bytes.sum", "byte", "-4")).encode(), "expected a finite number from 0")


def test_a_number_in_another_notation_than_its_file_is_refused() -> None:
    rows = ROW.format("dram__bytes.sum", "byte", "1.234.567") + ROW.format("lts__t_sector_hit_rate.pct", "%", "65.5")
    refused((HEADER + rows).encode(), "for 'lts__t_sector_hit_rate.pct', got '65.5'")


@pytest.mark.parametrize("value", ["1e61", "1e400", "9" * 5000])
def test_a_number_that_no_counter_reaches_is_refused_before_it_is_multiplied(value: str) -> None:
    error = refused((HEADER + TIME + ROW.format("dram__bytes.sum", "byte", value)).encode(), "for 'dram__bytes.sum'")
    assert (error.row, error.column) == (3, "Metric Value")
    assert len(str(error)) < 200


@pytest.mark.parametrize("count", ["0", "1.5", "some", "", "1e300"])
def test_a_summary_of_no_whole_number_of_launches_is_refused(count: str) -> None:
    data = (FIXTURES / "summary.csv").read_bytes().replace(b'"40"', f'"{count}"'.encode())
    error = refused(data, f"expected a whole number from 1, got '{count}'")
    assert (error.row, error.column) == (2, "Invocations")


def report_of(**metrics: float) -> bytes:
    """Return a report of one launch."""
    field, amount = MADE["field"], MADE["amount"]
    told = [field(13, field(1, row) + field(2, amount(value))) for row, value in enumerate(metrics.values())]
    table = [name.replace("_sum", ".sum") for name in metrics]
    launch: bytes = MADE["block"](field(7, "k") + b"".join(told), results=1, table=table)
    return b"NVR\0\0\0\0\0" + launch


def test_a_bad_number_in_a_report_names_launch_kernel_and_metric() -> None:
    for value in (-4.0, 1e61):
        error = refused(report_of(dram__bytes_sum=value), "the report is damaged, copy it again")
        assert error.place == "launch 1, kernel 'k'"
        assert f"expected a number from 0 for 'dram__bytes.sum', got {value:g}" in error.reason


@pytest.mark.parametrize("none", [np.nan, np.inf, -np.inf])
def test_what_ncu_could_not_compute_is_unknown_in_a_report(none: float) -> None:
    kernels = read(report_of(gpu__time_duration_sum=1000, dram__bytes_sum=none, launch__device_id=none))
    assert kernels.time.tolist() == [1e-6]
    assert "DRAM" not in kernels.bytes_by_level
    assert "device" not in kernels.extra


@pytest.mark.parametrize("junk", [bytes(range(256)) * 40, b"\x00" * 5000, b"\x89PNG\r\n\x1a\n" + b"\xfe" * 900])
def test_binary_junk_is_refused_as_that(junk: bytes) -> None:
    refused(junk, "no kernel was profiled|not UTF-8|a PNG picture, not a report")
    refused(b"NVR\0" + junk, "the report (is damaged here|ends too early|has no kernels)")
    with pytest.raises(ProfileError, match="not a profile of a known tool"):
        read(junk)


def test_what_ncu_said_is_cut_to_a_line_that_can_be_read() -> None:
    error = refused(b"==ERROR== " + b"x" * 50_000 + b"\n", "no kernel was profiled; ncu said: xxx")
    assert len(str(error)) < 500


def test_a_metric_twice_may_repeat_its_value_but_not_change_it() -> None:
    assert read((HEADER + TIME + TIME).encode()).time.tolist() == [1e-6]
    error = refused((HEADER + TIME + TIME.replace("1000", "2000")).encode(), "has 'gpu__time_duration.sum' twice")
    assert error.row == 2


def test_a_missing_column_and_a_row_that_is_cut_off_are_named() -> None:
    error = refused((HEADER + TIME).replace("Metric Value", "Metric Val").encode(), "the table has no such column")
    assert error.column == "Average"
    refused((HEADER + TIME + TIME.rstrip("\n")[:-16]).encode(), "the file ends within a row")


def three(number: int, name: str = "k", process: int = 5) -> str:
    """Return the rows of a launch with three metrics."""
    metrics = (("dram__bytes.sum", "byte"), ("gpu__time_duration.sum", "ns"), ("lts__t_bytes.sum", "byte"))
    rows = "".join(ROW.format(metric, unit, "1,000") for metric, unit in metrics)
    return rows.replace('"0","5","k"', f'"{number}","{process}","{name}"')


def test_a_table_that_ends_anywhere_within_a_row_is_refused_with_its_line() -> None:
    text = HEADER + three(0) + three(1)
    begin, value = text.rindex('"1"'), text.rindex('"1,000"')
    for end in {*range(begin + 1, len(text) - 1)} - {value}:
        error = refused(text[:end].encode(), "the file ends within a row: .* of 9 cells; export it again")
        assert error.row == 7
    assert "has no 'lts__t_bytes.sum', which all launches before it have" in str(read(text[:value].encode()).warnings)
    assert read(text[:-1].encode()) == read(text.encode())
    assert read(f"{text}loss = 3".encode()) == read(text.encode())


def test_a_real_table_that_ends_within_a_kernel_s_name_is_refused() -> None:
    data = real_file("ncu/nersc_a100_cutlass_gemm_20480.csv").read_bytes()
    cut = data[: len(data) * 6 // 10]
    error = refused(cut, "the file ends within a row")
    assert error.row == cut.count(b"\n") + 1


def test_a_table_that_ends_after_some_metrics_of_its_last_launch_says_so() -> None:
    lines = [HEADER, *(three(0) + three(1) + three(2, "last")).splitlines(keepends=True)]
    for rows, lacking in ((8, "'gpu__time_duration.sum' and 1 more"), (9, "'lts__t_bytes.sum'")):
        said = read("".join(lines[:rows]).encode()).warnings
        assert (
            f"the last launch, 'last', has no {lacking}, which all launches before it have: if the file is cut off, "
            "export it again"
        ) in said
    assert "cut off" not in str(read("".join(lines).encode()).warnings)


def test_a_last_launch_of_other_metrics_is_no_sign_of_a_file_that_is_cut_off() -> None:
    first, second = three(0), three(1).splitlines(keepends=True)
    assert "cut off" not in str(read((HEADER + first + second[0] + second[2]).encode()).warnings)
    assert "cut off" not in str(read((HEADER + first + three(0, process=6).splitlines()[0]).encode()).warnings)
    assert "cut off" not in str(read(FIXTURES / "hopper_long.csv").warnings)


def test_a_page_of_details_that_ends_before_a_value_is_refused() -> None:
    text = text_of(FIXTURES / "details.csv")
    end = text.index('"1.25"')
    for cut in (end, end + 1, end + 5):
        error = refused(text[:cut].encode(), "the file ends within a row: 12 of 15 cells; export it again")
        assert error.row == 2
    assert read(text[: end + 6].encode()).time.tolist() == [1.25e-3]


def test_a_wide_table_without_roofline_metrics_says_what_to_collect() -> None:
    text = '"ID","Kernel Name","launch__waves_per_multiprocessor"\n"","",""\n"0","k","1.5"\n'
    refused(text.encode(), "no time, bytes or FLOPs for any of 1 launches; collect them with 'ncu --set roofline")
    timed = text.replace("launch__waves_per_multiprocessor", "gpu__time_duration.sum")
    kernels = read(timed.encode())
    missing = "the file does not have bytes of DRAM (dram__bytes.sum), bytes of L2 (lts__t_bytes.sum), bytes of L1"
    assert warns(kernels, missing)


def test_half_a_million_columns_end_in_one_error() -> None:
    header = '"ID","Kernel Name",' + ",".join(f'"sm__made_up_{number}.sum"' for number in range(500_000))
    with memory_below(10 * len(header)):
        refused(header.encode() + b"\n0,k\n", "a table of 500,002 columns; the limit is 20,000")


def test_damaged_compression_is_an_error_of_the_file() -> None:
    refused(gzip.compress(REPORT)[:-200], "the compressed file is damaged or incomplete")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.ncu-rep", REPORT)
    assert read(archive.getvalue()) == read(REPORT)


def test_passes_of_other_programs_are_refused_with_the_first_difference() -> None:
    first = (HEADER + TIME).encode()
    other = (HEADER + TIME.replace('"k"', '"other"')).encode()
    refused(first, r"launch 1 is 'other' \(1, 1, 1\)x\(2, 1, 1\), in buffer 'k'", passes=other)
    twice = (HEADER + TIME + TIME.replace('"0"', '"1"')).encode()
    refused(first, "lists 2 launches, but buffer lists 1; passes must be of one program", passes=[twice])


def test_options_that_are_no_options_are_refused() -> None:
    with pytest.raises(TypeError, match="fp16_packed must be True or False"):
        read(REPORT, fp16_packed="yes")
    with pytest.raises(TypeError, match="did you mean 'passes'"):
        read(REPORT, pases=())
    with pytest.raises(TypeError, match="flops must map patterns"):
        read(REPORT, flops=5)


def test_no_bytes_and_hardly_any_bytes_give_no_bad_numbers() -> None:
    rows = "".join(
        ROW.format(metric, unit, value)
        for metric, unit, value in (
            ("gpu__time_duration.sum", "ns", "1000"),
            ("dram__bytes.sum", "byte", "0"),
            ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "1,500,000"),
        )
    )
    kernels = read((HEADER + rows + rows.replace('"0","5"', '"1","5"').replace('"byte","0"', '"byte","1"')).encode())
    assert kernels.arithmetic_intensity.tolist() == [np.inf, 3e6]


def test_what_was_read_survives_slicing_and_pickling() -> None:
    kernels = read(REPORT)
    assert pickle.loads(pickle.dumps(kernels)) == kernels  # noqa: S301 - its own bytes
    assert kernels[1:].origin["flops"].tolist() == kernels.origin["flops"].tolist()[1:]
