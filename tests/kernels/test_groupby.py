"""Sums of kernels over groups, their launches, and the metadata of a table."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import Kernels
from tests.tables import has_columns

NAN = math.nan


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - what was pickled here


@pytest.fixture
def launches() -> Kernels:
    return Kernels(
        ["gemm", "copy", "gemm", "gemm"],
        {"": [8.0, 0, 8, 32], "fp8": [NAN, NAN, 2, NAN]},
        {"DRAM": [4.0, 16, 6, 8], "L2": [8.0, 16, 8, NAN]},
        time=[1.0, 2, 4, 10],
        self_time=[1.0, 2, 3, 10],
        precision=["fp16", None, "fp16", "fp16"],
        category=["dot", "copy", "dot", "dot"],
        count=[1, 1, 2, 1],
        origin={"flops": ["2MNK", "none", "2MNK", "counter"], "time": "duration"},
        extra={"shape": ["8x8", None, "8x8", "16x16"], "occupancy": [0.5, NAN, 0.5, 0.25], "gpu": "A"},
        warnings=["odd"],
        source="trace.json",
    )


def test_groups_are_sums_in_order_of_first_appearance(launches: Kernels) -> None:
    sums = launches.groupby("name")
    has_columns(
        sums,
        names=["gemm", "copy"],
        flops_by_precision={"": [48, 0]},
        flops=[50, 0],
        time=[15, 2],
        self_time=[14, 2],
        count=[4, 1],
        bytes_by_level={"DRAM": [18, 16]},
        arithmetic_intensity=[50 / 18, 0],
        achieved=[50 / 15, 0],
    )
    assert (sums.warnings, sums.source) == (("odd",), "trace.json")


def test_a_level_that_a_part_does_not_tell_is_unknown_for_the_sum(launches: Kernels) -> None:
    np.testing.assert_array_equal(launches.groupby("name").bytes_by_level["L2"], [NAN, 16])
    assert launches.groupby("name", "shape").bytes_by_level["L2"].tolist()[:2] == [16, 16]


def test_groups_are_by_all_columns_that_are_named(launches: Kernels) -> None:
    sums = launches.groupby("name", "shape")
    has_columns(sums, names=["gemm", "copy", "gemm"], extra={"shape": ["8x8", None, "16x16"]}, time=[5, 2, 10])
    assert launches.groupby() == launches.groupby("name")


def test_groups_without_a_name_are_named_by_what_they_share(launches: Kernels) -> None:
    assert launches.groupby("shape", "occupancy").names.tolist() == ["8x8 · 0.5", "unknown · unknown", "16x16 · 0.25"]
    assert launches.groupby("category").names.tolist() == ["dot", "copy"]


def test_a_group_keeps_what_all_its_rows_share(launches: Kernels) -> None:
    sums = launches.groupby("name")
    has_columns(
        sums,
        precision=["fp16", None],
        category=["dot", "copy"],
        extra={"shape": [None, None], "occupancy": [NAN, NAN], "gpu": ["A", "A"]},
    )
    assert sums.origin["flops"].tolist() == ["2MNK; counter", "none"]
    assert sums.origin["time"].tolist() == ["duration", "duration"]


def test_many_origins_of_one_group_are_told_by_the_first_three() -> None:
    table = Kernels(["a"] * 5, [1] * 5, [1] * 5, origin={"flops": list("vwxyz")})
    assert table.groupby("name").origin["flops"].tolist() == ["v; w; x; 2 more"]


def test_the_spread_is_of_one_launch(launches: Kernels) -> None:
    sums = launches.groupby("name")
    has_columns(sums, extra={"time min (s)": [1, 2], "time median (s)": [2, 2], "time max (s)": [10, 2]})


def test_a_median_counts_each_launch_of_a_row() -> None:
    table = Kernels(["a", "a"], [1, 1], [1, 1], time=[3, 100], count=[3, 1])
    assert table.groupby("name").extra["time median (s)"].tolist() == [1]


def test_an_unknown_part_makes_a_sum_unknown_and_is_said() -> None:
    table = Kernels(
        ["a", "a", "b", "c"], {"": [1, NAN, NAN, 3]}, [NAN, 2, 3, 4], time=[1, NAN, 1, 1], count=[1, 1, 1, 1]
    )
    sums = table.groupby("name")
    has_columns(sums, flops=[NAN, NAN, 3], bytes=[NAN, 3, 4], time=[NAN, 1, 1], extra={"time max (s)": [NAN, 1, 1]})
    assert sums.warnings == (
        "FLOPs of 1 of 3 groups are unknown: a part of each of these groups is unknown",
        "bytes of 1 of 3 groups are unknown: a part of each of these groups is unknown",
        "seconds of 1 of 3 groups are unknown: a part of each of these groups is unknown",
    )


def test_words_for_memory_outside_the_chip_stand_for_each_other_in_a_sum() -> None:
    table = Kernels(["a", "a"], [1, 1], {"HBM": [5, NAN], "DRAM": [NAN, 7], "network": [NAN, 2]})
    sums = table.groupby("name")
    has_columns(sums, bytes=[12], network_bytes=[2])


def test_plain_flops_of_several_precisions_go_to_their_own() -> None:
    table = Kernels(["a", "a", "b"], [1, 2, 4], [1, 1, 1], precision=["fp16", "fp8", "fp16"])
    sums = table.groupby("name")
    has_columns(sums, precision=[None, "fp16"], flops_by_precision={"fp16": [1, NAN], "fp8": [2, NAN], "": [NAN, 4]})


def test_an_unknown_column_to_group_by_names_the_nearest(launches: Kernels) -> None:
    with pytest.raises(ValueError, match="groupby: the table has no column 'shpae'; nearest: 'shape'"):
        launches.groupby("shpae")


def test_no_rows_make_no_groups() -> None:
    sums = Kernels().groupby("name")
    assert len(sums) == 0
    assert sums.launches == Kernels()


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 9), st.integers(1, 9), st.integers(1, 4)),
        min_size=1,
        max_size=30,
    )
)
def test_sums_are_those_of_a_loop(rows: list[tuple[str, int, int, int, int]]) -> None:
    names, flops, moved, time, count = (list(column) for column in zip(*rows, strict=True))
    sums = Kernels(names, flops, moved, time=time, count=count).groupby("name")
    for at, name in enumerate(dict.fromkeys(names)):
        mine = [row for row in rows if row[0] == name]
        assert sums.names[at] == name
        assert [sums.flops[at], sums.bytes[at], sums.time[at], sums.count[at]] == [
            sum(column) for column in list(zip(*mine, strict=True))[1:]
        ]
        each = sorted(Fraction(row[3], row[4]) for row in mine for _ in range(row[4]))
        middle = (each[(len(each) - 1) // 2] + each[len(each) // 2]) / 2
        spread = [sums.extra[f"time {word} (s)"][at] for word in ("min", "median", "max")]
        assert spread == pytest.approx([float(each[0]), float(middle), float(each[-1])], rel=1e-15)
        assert [kernel.time for kernel in sums.launches_of(at)] == [row[3] for row in mine]


# -- launches --------------------------------------------------------------------------------------------------


def test_the_launches_behind_a_row_are_the_rows_that_were_added(launches: Kernels) -> None:
    sums = launches.groupby("name")
    assert sums.launches is launches
    assert sums.launches_of(0) == launches[[0, 2, 3]]
    assert sums.launches_of(-1) == launches[[1]]
    with pytest.raises(IndexError):
        sums.launches_of(2)


def test_a_row_that_is_no_sum_is_its_own_launch(launches: Kernels) -> None:
    assert launches.launches is None
    assert launches.launches_of(1) == launches[1:2]


def test_a_part_of_a_table_keeps_the_launches_of_its_rows(launches: Kernels) -> None:
    part = launches.groupby("name", "shape")[[2, 0]]
    assert part.launches == launches[[0, 2, 3]]
    assert part.launches_of(0) == launches[3:4]
    assert part.launches_of(1) == launches[[0, 2]]
    assert part.groupby("name").launches_of(0) == launches[[0, 2, 3]]


def test_groups_of_groups_reach_down_to_the_launches(launches: Kernels) -> None:
    twice = launches.groupby("name", "shape").groupby("name")
    assert twice.launches == launches
    assert twice.launches_of(0) == launches[[0, 2, 3]]
    has_columns(twice, extra={"time median (s)": [2, 2]}, time=launches.groupby("name").time.tolist())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_copies_keep_everything(launches: Kernels, copied: Callable[[Kernels], Kernels]) -> None:
    for table in (launches, launches.groupby("name"), launches.groupby("name", "shape")[[2, 0]]):
        twin = copied(table)
        assert twin == table
        assert twin.launches_of(0) == table.launches_of(0)
        assert dict(twin.origin).keys() == dict(table.origin).keys()


@pytest.mark.parametrize("rows", [None, [0], [0, 2], [0, -1]])
def test_launches_that_belong_to_no_row_are_refused(rows: Any) -> None:
    behind = Kernels(["a", "b"], [1, 1], [1, 1])
    with pytest.raises(ValueError, match="launch_rows must hold a row of this table, 0 to 1, for each of 2 launches"):
        Kernels(["a", "b"], [1, 1], [1, 1], launches=behind, launch_rows=rows)


# -- what is carried along -------------------------------------------------------------------------------------


def test_self_time_is_the_time_where_nothing_else_is_told(launches: Kernels) -> None:
    assert Kernels(["a"], [1], [1], time=[5]).self_time.tolist() == [5]
    assert not Kernels(["a"], [1], [1], time=[5]).has_self_time
    assert launches[1:3].self_time.tolist() == [2, 3]


def test_origins_and_further_columns_are_sliced_with_the_rows(launches: Kernels) -> None:
    part = launches[[3, 0]]
    assert part.origin["flops"].tolist() == ["counter", "2MNK"]
    has_columns(part, extra={"occupancy": [0.25, 0.5], "shape": ["16x16", "8x8"]})
    assert part.codes("shape").at(0) == "16x16"
    assert part.codes("origin:flops").at(1) == "2MNK"


def test_columns_carried_along_are_read_only_and_say_their_names(launches: Kernels) -> None:
    assert list(launches.extra) == ["shape", "occupancy", "gpu"]
    for column in (launches.extra["shape"], launches.extra["occupancy"], launches.origin["flops"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[0]
    with pytest.raises(TypeError):
        launches.extra["new"] = [1]  # type: ignore[index]
    with pytest.raises(KeyError):
        launches.extra["nothing"]
    with pytest.raises(KeyError):
        launches.codes("occupancy")


@pytest.mark.parametrize(
    "different",
    [
        {"self_time": [2]},
        {"origin": {"flops": "other"}},
        {"origin": {}},
        {"extra": {"n": [2]}},
        {"extra": {"n": ["1"]}},
        {"extra": {}},
        {"launches": Kernels(["a"], [1], [1]), "launch_rows": [0]},
    ],
)
def test_tables_that_differ_in_what_they_carry_are_not_equal(different: dict[str, Any]) -> None:
    told: dict[str, Any] = {"time": [1], "self_time": [1], "origin": {"flops": "rule"}, "extra": {"n": [1]}}
    assert Kernels(["a"], [1], [1], **told) == Kernels(["a"], [1], [1], **told)
    assert Kernels(["a"], [1], [1], **told) != Kernels(["a"], [1], [1], **(told | different))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"extra": {"grid": [1]}}, "column 'grid' has shape"),
        ({"extra": {"shape": ["x"]}}, "column 'shape' has 1 entries, expected 2"),
        ({"extra": {"time": [1, 2]}}, "'time' is the name of a regular column of the table"),
        ({"extra": {"bytes:L2": [1, 2]}}, "'bytes:L2' is the name of a regular column"),
        ({"origin": {"flops": ["x"]}}, "column 'origin:flops' has 1 entries, expected 2"),
        ({"self_time": [1]}, "column 'self_time' has shape"),
        ({"self_time": [-1, 1]}, "row 0, column 'self_time'"),
    ],
)
def test_columns_carried_along_that_do_not_fit_are_refused_by_name(told: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Kernels(["a", "b"], [1, 1], [1, 1], **told)


def test_totals_leave_out_what_is_unknown_and_say_how_long_it_took() -> None:
    table = Kernels(
        ["dot", "opaque", "idle"], [8, NAN, NAN], [2, 4, NAN], time=[3, 2, 5], self_time=[3, 1, 5], count=[2, 1, 1]
    )
    assert math.isnan(table.flops.sum())
    assert table.totals() == {
        "flops": 8,
        "bytes": 6,
        "time": 9,
        "launches": 4,
        "time without flops": 6,
        "time without bytes": 5,
    }
    assert set(Kernels().totals().values()) == {0}
    unknown = Kernels(["a"], [NAN], [NAN]).totals()
    assert [name for name, amount in unknown.items() if math.isnan(amount)] == [
        *("flops", "bytes", "time", "time without flops", "time without bytes")
    ]


def test_what_is_carried_survives_the_way_through_a_data_frame(launches: Kernels) -> None:
    frame = launches.to_dataframe()
    assert frame["self_time"].tolist() == [1, 2, 3, 10]
    assert frame["shape"].tolist()[0] == "8x8"
    assert frame["origin:flops"].tolist()[3] == "counter"
    again = Kernels.from_dataframe(frame)
    assert again == launches


def test_a_group_says_the_share_of_its_time_in_kernels_of_known_work_and_idle_time_is_none() -> None:
    step = Kernels(
        ["gemm", "opaque", "add", "gelu", "idle"],
        [8, np.nan, 0, 2, np.nan],
        [1, 1, 5, np.nan, np.nan],
        time=[6, 2, 1, 3, 10],
        category=[None, None, None, None, "idle"],
        extra={"phase": ["forward", "forward", "backward", "backward", None]},
    )
    by_phase = step.groupby("phase")
    # 6 of 8 seconds, 1 of 4, and no kernel.
    assert by_phase.extra["known share of time"].tolist() == pytest.approx([6 / 8, 1 / 4, np.nan], nan_ok=True)
    again = step.groupby("name", "phase").groupby("phase")
    assert again.extra["known share of time"].tolist() == pytest.approx([6 / 8, 1 / 4, np.nan], nan_ok=True)
    assert "known share of time" not in step[:1].groupby("phase").extra
