"""Tables as students and laboratories write them down: what is read, what is asked, and what stays unknown."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import roofwidget as rw
from tests.tables import has_columns, lists

NAN = float("nan")


def read(*rows: str, **options: Any) -> rw.Kernels:
    return rw.read(("\n".join(rows) + "\n").encode(), **options)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-14)


# Header, row, FLOPs, bytes, seconds. One kernel each.
AMOUNTS = [
    ("kernel,flops,bytes,measured_gflops", "matmul,4000000,200000,20.0", 4e6, 2e5, 200e-6),
    ("kernel,flops,bytes,measured_gflops", "softmax,1300000,2000000,1.5", 1.3e6, 2e6, 1.3e6 / 1.5e9),
    ("Kernel;Laufzeit (ms);FLOPs (GFLOP);Bytes (MB)", "a;1,5;2,25;3,5", 2.25e9, 3.5e6, 1.5e-3),
    ("kernel,Time/ms,GFLOP/s,GB/s", "a,2.5,100,400", 2.5e8, 1e9, 2.5e-3),
    ("kernel,Runtime in ms,Traffic in MiB", "a,2.5,3", NAN, 3 * 2**20, 2.5e-3),
    ("kernel,duration_us,Throughput (GFLOP/s),OI", "a,10,50,0.25", 5e5, 2e6, 1e-5),
    ("kernel,Achieved GFLOP/s,Time (ms),AI", "a,100,2,4", 2e8, 5e7, 2e-3),
    ("Kernel,Intensity,Performance (GFLOPS),Zeit (ms)", "a,2,3,4", 1.2e7, 6e6, 4e-3),
    ("kernel,AI,traffic (MB),latency (ms),gflops", "a,10,20,2,100", 2e8, 2e7, 2e-3),
    ("kernel,AI,traffic (MB),latency (ms),gflops", "a,10,20,2,0.2", 2e8, 2e7, 2e-3),
    ("kernel,flops,time,gflops", "a,4e9,2,2", 4e9, NAN, 2.0),
    ("kernel,bytes (MB),DRAM bandwidth (GB/s)", "a,20,400", NAN, 2e7, 5e-5),
    ("kernel,FLOP/B,MFLOP/s,MBps,sec", "a,0.5,100,200,2", 2e8, 4e8, 2.0),
    ("kernel,avg time (us),calls,flops per call (MFLOP)", "a,10,5,2", 1e7, NAN, 5e-5),
    ("name,calls,time per call (us),Data Volume [GBytes]", "a,4,25,0.5", NAN, 5e8, 1e-4),
    ("Kernel,Calls,TotalDurationNs,AverageNs,Percentage", "k,10,1512480,151248,100.0", NAN, NAN, 1.51248e-3),
    ("name,start (ns),end (ns),Duration [ns]", "a,100,300,200", NAN, NAN, 2e-7),
    ("kernel,time (us),flops", 'a,"1,150.50","16,777,216"', 16777216, NAN, 1.1505e-3),
    ("kernel,min (ms),max (ms),time (ms),StdDev (ms),% of peak", "a,1,3,2,0.5,45", NAN, NAN, 2e-3),
    ("kernel,runtime (s),speedup,Time (%)", "a,1.5,3,45", NAN, NAN, 1.5),
    ("name,time (us),op count (x10^9)", "a,1,20", 2e10, NAN, 1e-6),
    ("name,time (us),FLOPs [1e9],bytes (10^6)", "a,1,20,3", 2e10, 3e6, 1e-6),
    ("name,time (us),FLOPs (10\u2079),bytes (millions)", "a,1,20,3", 2e10, 3e6, 1e-6),
    ("name,time [\u00b5],number of operations (\u00d710**6),bytes [Gi]", "a,1,20,3", 2e7, 3 * 2**30, 1e-6),
    ("name,time (us),dram_read_bytes,dram_write_bytes", "a,1,20,3", NAN, 23, 1e-6),
    ("name,time (us),bytes_read (MB),bytes_written (kB)", "a,1,20,3", NAN, 20_003_000, 1e-6),
    ("name,time (us),HBM read (MB),HBM write (MB)", "a,1,20,3", NAN, 23e6, 1e-6),
    ("name,time (us),dram__bytes_read.sum [Mbyte],dram__bytes_write.sum [Mbyte]", "a,1,20,3", NAN, 23e6, 1e-6),
    ("name,time (us),read bandwidth (GB/s),write bandwidth (GB/s)", "a,1,20,3", NAN, 23e3, 1e-6),
    ("name,time (us),DRAM read+write (MB)", "a,1,20", NAN, 20e6, 1e-6),
    ("name,time (us),read bytes,write bytes,bytes", "a,1,20,3,23", NAN, 23, 1e-6),
    ("kernel,flops,time (ms),energy (J),power (W),Shared Memory (kB)", "a,5,2,3,4,48", 5, NAN, 2e-3),
    ("ID,Function Call Sites and Loops,time [s],GFLOP", "1,loop,1.5,3", 3e9, NAN, 1.5),
    ("benchmark,kernel,time (s)", "suite,a,2", NAN, NAN, 2.0),
    ("KernelName,fp64 GFLOP,time (s)", "a,3,2", 3e9, NAN, 2.0),
]


@pytest.mark.parametrize(("header", "row", "flops", "moved", "time"), AMOUNTS)
def test_the_amounts_of_a_hand_made_table_are_exact(
    header: str, row: str, flops: float, moved: float, time: float
) -> None:
    kernels = read(header, row)
    close([kernels.flops[0], kernels.bytes[0], kernels.time[0]], [flops, moved, time])
    assert (len(kernels), kernels.warnings) == (1, ())
    assert kernels.names[0] in {"a", "k", "loop", "matmul", "softmax"}


COORDINATES = [
    ("kernel,AI,GFLOPS", "triad,0.083,15.4"),
    ("Name,Arithmetic Intensity (FLOP/Byte),Performance (GFLOP/s)", "triad,0.083,15.4"),
    ("Kernel,OI,Perf [GFLOP/s]", "triad,0.083,15.4"),
    ("Name;AI (FLOP/Byte);Leistung (GFLOP/s)", "triad;0,083;15,4"),
    ("Kernel;Arithmetische Intensität [FLOP/B];Rechenleistung [MFLOP/s]", "triad;0,083;15400"),
    ("App\tOperational Intensity (FLOPs/Byte)\tAttained Performance (GFLOPs/sec)", "triad\t0.083\t15.4"),
    ("# kernel,AI,tflops", "triad,0.083,0.0154"),
    ("kernel,Peak GFLOP/s,GFLOP/s,AI,L2 AI", "triad,9999,15.4,0.083,7"),
    ("kernel,flop/byte,gflop/s", "triad,0.083,15.4"),
    ("kernel,rate,intensity", "triad,15.4e9,0.083"),
]


@pytest.mark.parametrize(("header", "row"), COORDINATES)
def test_the_two_coordinates_of_a_roofline_are_a_point_without_amounts(header: str, row: str) -> None:
    kernels = read(header, row)
    close([kernels.intensity[0], kernels.rate[0]], [0.083, 15.4e9])
    assert np.isnan([*kernels.flops, *kernels.bytes, *kernels.time]).all()
    assert (kernels.names.tolist(), kernels.warnings) == (["triad"], ())


def test_a_rate_and_a_bandwidth_give_the_intensity() -> None:
    kernels = read("kernel,GFLOP/s,GB/s", "a,100,50")
    has_columns(kernels, intensity=[2.0], rate=[1e11])


def test_intensities_by_level_give_bytes_by_level() -> None:
    kernels = read("kernel,AI_L1,AI_L2,AI_HBM,GFLOP/s,time (ms)", "a,0.5,1,4,100,2")
    found = lists(kernels.bytes_by_level)
    assert found == {"L1": [4e8], "L2": [2e8], "HBM": [5e7]}
    without_time = read("kernel,AI_L1,AI_HBM,GFLOP/s", "a,0.5,4,100")
    assert (without_time.intensity.tolist(), list(without_time.extra)) == ([4.0], ["AI_L1"])


# -- where units are -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        ("kernel,time,flops,bytes", ",us,GFLOP,MB", "gemm,10,1,20"),
        ("time,kernel,flops,bytes", "[us],,[GFLOP],[MB]", "10,gemm,1,20"),
        ("kernel,Runtime,Work,Bytes (MB)", ",us,GFLOP,", "gemm,10,1,20"),
        ("Share,kernel,Runtime,Work,Traffic", "%,,us,GFLOP,MB", "12.5,gemm,10,1,20"),
        ("kernel,time,flops,bytes", "gemm,10 us,1 GFLOP,20 MB"),
        ("kernel;Laufzeit;Work;traffic", "gemm;0,01 ms;1000MFLOP;0,02 GB"),
        ("Runtime,kernel,Perf,traffic", "ms,,TFLOP/s,MB", "0.01,gemm,100,20"),
    ],
)
def test_units_in_a_row_or_in_each_cell_count(rows: tuple[str, ...]) -> None:
    kernels = read(*rows)
    close([kernels.time[0], kernels.flops[0], kernels.bytes[0]], [10e-6, 1e9, 20e6])
    assert (kernels.names.tolist(), kernels.warnings) == (["gemm"], ())


def test_each_cell_may_have_another_unit_and_no_unit_is_counted_twice() -> None:
    rows = ("kernel,time,perf", "a,1.5 ms,15.4 GFLOP/s", "b,12.5us,2 TFLOP/s", "c,,n/a")
    kernels = read(*rows)
    close(kernels.time, [1.5e-3, 12.5e-6, NAN])
    close(kernels.flops, [23.1e6, 25e6, NAN])
    close(read(*rows, columns={"time": ("time", "ms")}).time, [1.5e-3, 12.5e-6, NAN])
    frame = pd.DataFrame({"kernel": ["a"], "flops": [1.0], "bytes": [2.0], "time": ["1.5 ms"]})
    assert rw.read(frame).time.tolist() == rw.Kernels.from_dataframe(frame).time.tolist() == [1.5e-3]


def test_a_cell_without_a_unit_among_cells_with_units_is_refused() -> None:
    with pytest.raises(rw.ProfileError, match=r"row 2, column 'time': expected a finite number, got '1\.5 ms'"):
        read("kernel,time", "a,1.5 ms", "b,3")


@pytest.mark.parametrize(
    ("columns", "time"),
    [({"time": "ms"}, 2e-3), ({"time": "t (us)"}, 3e-6), ({"time": ("avg", "us/call")}, 4e-5)],
)
def test_a_column_that_the_user_names_keeps_the_unit_of_its_header(columns: Any, time: float) -> None:
    close(read("name,ms,t (us),avg,calls", "a,2,3,4,10", columns=columns).time, [time])


@pytest.mark.parametrize("given", ["GFLOPS", ("work", "GFLOPS")])
def test_a_unit_that_may_be_a_count_or_a_rate_is_refused_from_the_user_too(given: Any) -> None:
    with pytest.raises(rw.ProfileError, match=r"that of a count or of a rate; write \('\w+', 'GFLOP'\) or"):
        read("name,GFLOPS,work,time (s)", "a,2,3,4", columns={"flops": given})


# -- what must agree ---------------------------------------------------------------------------------------------------


def test_a_disagreement_is_one_warning_with_the_first_row_and_both_numbers_and_amounts_win() -> None:
    kernels = read("kernel,FLOPs (GFLOP),time (ms),GFLOP/s", "a,10,5,2000", "b,10,5,1000", "c,10,5,1000")
    assert kernels.achieved.tolist() == [2e12] * 3
    (said,) = kernels.warnings
    assert said.startswith("'GFLOP/s' is not used: it disagrees with FLOPs and seconds; 2 of 3 rows differ; ")
    assert said.endswith("row 3, column 'GFLOP/s': 1 TFLOP/s, but FLOPs and seconds give 2 TFLOP/s")


@pytest.mark.parametrize("rate", ["3.3", "3.33", "3.333333"])
def test_numbers_agree_within_their_digits(rate: str) -> None:
    assert read("kernel,FLOPs (GFLOP),time (s),GFLOP/s", f"a,1000,300,{rate}").warnings == ()


def test_a_total_wins_over_an_average() -> None:
    kernels = read("Name,Avg (ns),Calls,Total Time (ns),mean time (us)", "k,100,10,1000,7")
    close(kernels.time, [1e-6])
    (said,) = kernels.warnings
    assert said.startswith("'mean time (us)' is not used: the time is 'Total Time (ns)'; 1 of 1 rows differs; ")


def test_an_average_without_launches_is_asked_about() -> None:
    kernels = read("name,flops,avg time (ms)", "k,100,10")
    assert np.isnan(kernels.time).all()
    assert kernels.warnings[0].startswith("'avg time (ms)' is not used: if it is the time of all launches, pass col")


@pytest.mark.parametrize(("last", "count"), [("Total,4,6", 2), ("Mittelwert,2,3", 2), ("sum,1,6", 3), ("Total,9,6", 3)])
def test_a_last_row_that_has_the_totals_of_the_others_is_no_kernel(last: str, count: int) -> None:
    kernels = read("kernel,time (ms),GFLOP", "a,1,2", "b,3,4", last)
    assert len(kernels) == count
    assert bool(kernels.warnings) == (count == 2)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["flops,bytes,time", "ID,flops,bytes"])
def test_a_table_of_numbers_alone_names_kernels_by_their_rows(header: str) -> None:
    kernels = read(header, "1,2,3", "2,4,6")
    assert kernels.names.tolist() == ["row 1", "row 2"]
    assert kernels.warnings == ("the table has no column of names: kernels are named by their row",)


# -- advice ------------------------------------------------------------------------------------------------------------


def proposals(text: str) -> list[dict[str, Any]]:
    return [ast.literal_eval(part) for part in re.findall(r"columns=(\{.*?\})", text)]


def test_a_column_that_may_be_a_count_or_a_rate_has_an_answer_for_each_case() -> None:
    rows = ("variant,seqlen,latency_ms,tflops", "dense,512,0.1,33.0", "dense,4096,3.5,60.0")
    with pytest.raises(rw.ProfileError) as caught:
        read(*rows)
    as_rate, as_count = proposals(str(caught.value))
    close(read(*rows, columns=as_rate).flops, [3.3e9, 210e9])
    close(read(*rows, columns=as_count).flops, [33e12, 60e12])
    assert as_rate["name"] == "variant"


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("Routine,CPU Time,Module", "f,1.5,a.out", [{"time": ("CPU Time", "…")}]),
        (
            "ID,what,Bandwidth,Runtime",
            "1,x,100,2",
            [{"name": "what", "bytes": ("Bandwidth", "…"), "time": ("Runtime", "…")}],
        ),
        ("it's,d\"u (ms),x", "a,3,1", [{"name": "it's", "time": ('d"u (ms)', "ms")}]),
        ("kernel,gbps", "a,3", [{"bytes": ("gbps", "…")}]),
        ("what,Self Memory (GB),n", "x,5,1", [{"name": "what", "flops": ("…", "GFLOP"), "time": ("…", "us")}]),
        ("op,GFLOPS", "x,5", [{"flops": ("GFLOPS", "GFLOP/s")}, {"flops": ("GFLOPS", "GFLOP")}]),
    ],
)
def test_advice_can_be_pasted_and_has_a_unit_only_where_the_header_has(header: str, row: str, expected: Any) -> None:
    with pytest.raises(rw.ProfileError) as caught:
        read(header, row)
    assert proposals(str(caught.value)) == expected


def test_a_unit_that_is_still_to_be_filled_in_is_refused() -> None:
    with pytest.raises(rw.ProfileError, match="the unit of column 'Runtime': '…' is not a unit of s"):
        read("kernel,Runtime", "a,2", columns={"time": ("Runtime", "…")})


@pytest.mark.parametrize("header", ["time (ms)", "time_us", "Runtime [s]", "time"])
def test_a_unit_in_the_cells_counts_before_that_of_the_header_and_only_once(header: str) -> None:
    close(read(f"kernel,{header}", "a,5 ms", "b,7 us").time, [5e-3, 7e-6])
    frame = pd.DataFrame({"kernel": ["a", "b"], header: ["5 ms", "7 us"]})
    close(rw.read(frame).time, [5e-3, 7e-6])


@pytest.mark.parametrize("unit", ["time unit", "time_unit", "Units", "unit"])
def test_a_column_of_units_counts_for_the_cells_before_it(unit: str) -> None:
    close(read(f"kernel,time,{unit}", "a,5,ms", "b,7,us").time, [5e-3, 7e-6])
    frame = pd.DataFrame({"kernel": ["a", "b"], "time": [5.0, 7.5], unit: ["ms", "us"]})
    close(rw.read(frame).time, [5e-3, 7.5e-6])
    close(read(f"kernel,time (ms),{unit}", "a,5,ms").time, [5e-3])


def test_a_column_of_units_that_are_no_units_of_time_is_asked_about() -> None:
    with pytest.raises(rw.ProfileError, match="with its unit"):
        read("kernel,time,unit", "a,5,cycles")


def test_between_semicolons_a_comma_that_proves_nothing_is_a_decimal_mark() -> None:
    close(read("Kernel;Zeit (ms)", "a;1,234").time, [1.234e-3])
    close(read("Kernel;Zeit", "a;1,234 ms").time, [1.234e-3])
    close(read("Kernel;Zeit (ms)", "a;1.234").time, [1.234e-3])
    close(read("kernel,time (ms)", 'a,"1,234"').time, [1.234])
    close(rw.read(b"Function;CPU Time;Module\ntriad;1,234s;a.out\n").time, [1.234])


def test_the_memory_that_a_kernel_occupies_is_no_traffic_and_said() -> None:
    for header in ("Mem (GiB)", "GPU Memory (MB)", "memory [MB]"):
        kernels = read(f"name,time (us),{header}", "a,1,20")
        assert np.isnan(kernels.bytes).all()
        assert kernels.warnings == (f"'{header}' is not used: the memory that a kernel occupies is no traffic",)


@pytest.mark.parametrize("row", ["[-],[G],[MB],[us],[-]", "-,10^9,MB,us,1", ",1e9,MB,us,#", ",G,M,u,1"])
def test_a_row_of_units_may_have_factors_and_cells_for_no_unit(row: str) -> None:
    kernels = read("name,flops,bytes,time,calls", row, "gemm,1,20,10,3")
    close([kernels.flops[0], kernels.bytes[0], kernels.time[0], kernels.count[0]], [1e9, 20e6, 1e-5, 3])


@pytest.mark.parametrize("name", ["G", "k", "ms", "-"])
def test_a_row_of_a_kernel_that_is_named_like_a_unit_is_no_row_of_units(name: str) -> None:
    close(read("name,time (us)", f"{name},1", "b,2").time, [1e-6, 2e-6])


def test_a_row_without_bytes_read_or_written_is_unknown_and_said() -> None:
    kernels = read("name,time (us),HBM read (MB),HBM write (MB)", "a,1,20,3", "b,1,,3")
    close(kernels.bytes_by_level["HBM"], [23e6, NAN])
    assert kernels.origin["bytes:HBM"][0] == '"HBM read (MB)" x 1000000 + "HBM write (MB)" x 1000000'
    said = "'HBM read (MB)' + 'HBM write (MB)' is unknown where one of them is: 1 of 2 rows; "
    assert kernels.warnings == (f"{said}buffer: row 3, column 'HBM read (MB)': the cell is empty",)


def test_bytes_read_and_written_without_a_unit_are_asked_about_together() -> None:
    (said,) = read("name,time (us),HBM read,HBM write", "a,1,20,3").warnings
    columns = ast.literal_eval(said.partition("columns=")[2].partition("}")[0] + "}")
    assert columns == {"bytes:HBM": [("HBM read", "\u2026"), ("HBM write", "\u2026")]}
    own = {"bytes:HBM": [("HBM read", "MB"), ("HBM write", "kB")]}
    close(read("name,time (us),HBM read,HBM write", "a,1,20,3", columns=own).bytes_by_level["HBM"], [20_003_000])


def test_bytes_that_are_only_read_are_not_all_bytes() -> None:
    kernels = read("name,time (us),bytes_read (MB)", "a,1,20")
    assert np.isnan(kernels.bytes).all()
    assert kernels.warnings[0].startswith("'bytes_read (MB)' is not used: if it is the bytes that the kernel moves, ")
