"""Many ranks of one program: the slowest rank of each kernel, stragglers, and waiting in collectives."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.ranks import Straggler
from tests.places import write
from tests.tables import has_columns

GEMM, GELU, REDUCE = "gemm", "gelu", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"


def rank(gemm: float = 0.1, gelu: float = 0.02, reduce: float = 0.05, **changes: Any) -> rw.Kernels:
    table = rw.Kernels([GEMM, GELU, GEMM, REDUCE], [4e12, 1e9, 4e12, 0], [1e9] * 4, time=[gemm, gelu, gemm, reduce])
    return table.replace(**changes)


def four() -> rw.Ranks:
    """Return four ranks. Rank 2 is slow in one kernel, so it comes last to the collective."""
    return rw.ranks([rank(), rank(0.101), rank(0.13, reduce=0.01), rank(0.099, 0.021)])


def test_each_kernel_has_its_slowest_rank_its_median_and_its_spread_over_ranks() -> None:
    ranks = four()
    assert ranks.names.tolist() == [GEMM, GELU, REDUCE]
    np.testing.assert_allclose(ranks.time[0], [0.2, 0.202, 0.26, 0.198])
    has_columns(
        ranks,
        slowest_rank=["rank 2", "rank 3", "rank 0"],
        fastest_rank=["rank 3", "rank 0", "rank 2"],
        median=pytest.approx([0.201, 0.02, 0.05], rel=1e-7),
        spread=pytest.approx([(0.26 - 0.198) / 0.201, 0.05, 0.04 / 0.05], rel=1e-7),
    )


def test_a_straggler_is_named_with_its_seconds_and_its_kernels() -> None:
    (straggler,) = four().stragglers
    assert straggler.rank == "rank 2"
    assert straggler.seconds == pytest.approx(0.26 - 0.201)
    assert straggler.share == pytest.approx(0.059 / 0.221)
    assert straggler.kernels == {GEMM: pytest.approx(0.059)}
    assert "straggler: rank 2 takes 59 ms more than the median rank (+27 %): gemm +59 ms" in repr(four())


def test_waiting_in_collectives_is_on_the_fast_ranks_and_makes_no_straggler() -> None:
    ranks = four()
    has_columns(ranks, waiting=pytest.approx([0.04, 0.04, 0, 0.04], rel=1e-7), is_collective=[False, False, True])
    assert ranks.last == "rank 2"
    assert ranks.slowest_rank[2] == "rank 0"
    assert [one.rank for one in ranks.stragglers] == ["rank 2"]


def test_a_rank_that_comes_last_without_slow_kernels_is_late_outside_kernels() -> None:
    ranks = rw.ranks([rank(), rank(), rank(reduce=0.001), rank()])
    assert ranks.stragglers == ()
    assert ranks.last == "rank 2"
    assert "rank 2 comes last, but its kernels are no slower: look outside kernels" in repr(ranks)


def test_equal_ranks_have_no_straggler_and_none_comes_last() -> None:
    ranks = rw.ranks([rank(), rank(), rank()])
    assert ranks.stragglers == ()
    assert ranks.last is None
    assert "no straggler: no rank takes 5 % more than the median rank in the same kernels" in repr(ranks)


def test_no_rank_comes_last_if_the_wait_is_short_or_if_the_last_rank_changes() -> None:
    assert rw.ranks([rank(), rank(), rank(reduce=0.04)]).last is None
    times = [[0.5, 0, 0.1], [0.5, 0.1, 0], [0.5, 0.1, 0.1]]
    tables = [rw.Kernels([GEMM, "all-reduce.1", "all-gather.2"], [1] * 3, [1] * 3, time=time) for time in times]
    ranks = rw.ranks(tables)
    np.testing.assert_allclose(ranks.waiting, [0.1, 0.1, 0.2])
    assert ranks.last is None


def test_a_rank_without_a_kernel_is_neither_its_slowest_nor_its_fastest() -> None:
    some = rw.Kernels(["a", "b"], [1, 1], [1, 1], time=[1, 2])
    more = rw.Kernels(["a", "c", "d"], [1] * 3, [1] * 3, time=[2.0, 3.0, np.nan])
    ranks = rw.ranks([some, more])
    has_columns(
        ranks, slowest_rank=["rank 1", "rank 0", "rank 1", None], fastest_rank=["rank 0", "rank 0", "rank 1", None]
    )
    assert ranks.to_dataframe()["ranks"].tolist() == [2, 1, 1, 0]


def test_a_rank_that_was_not_timed_is_never_the_slowest_even_of_a_kernel_that_takes_no_time() -> None:
    some = rw.Kernels(["a", "b", "c"], [1] * 3, [1] * 3, time=[np.nan, np.nan, 1])
    ranks = rw.ranks([some, some.replace(time=[0, 0.5, 1])])
    assert ranks.slowest_rank.tolist() == ["rank 1", "rank 1", "rank 0"]


def test_ranks_are_pickled_without_what_was_computed_from_their_tables() -> None:
    ranks = four()
    text = repr(ranks)
    again = pickle.loads(pickle.dumps(ranks))  # noqa: S301 - our own bytes
    assert vars(again).keys() == vars(rw.Ranks(ranks.tables)).keys()
    assert repr(again) == text


def of(*columns: list[float], names: Sequence[str] = (GEMM, "all-reduce.1", "all-gather.2")) -> list[rw.Kernels]:
    """Return one table per rank. A column has the seconds of one kernel on all ranks."""
    n = len(columns)
    return [rw.Kernels(names[:n], [1] * n, [1] * n, time=list(times)) for times in zip(*columns, strict=True)]


def test_a_kernel_that_takes_no_time_on_the_median_rank_has_no_finite_spread() -> None:
    ranks = rw.ranks(of([0, 0, 1]))
    assert ranks.spread.tolist() == [np.inf]
    assert ranks.stragglers[0].share == np.inf
    assert repr(ranks).endswith("rank 2   1 s  0 s     rank 0   0 s  ∞ %")
    assert np.isnan(rw.ranks(of([0, 0], [1, 1])).spread[0])


def test_a_kernel_of_two_ranks_has_a_median_between_them_and_may_make_a_straggler() -> None:
    ranks = rw.ranks(of([1, 3]))
    has_columns(ranks, median=[2], spread=[1], excess=[-1, 1])
    assert [(one.rank, one.share) for one in ranks.stragglers] == [("rank 1", 0.5)]


def test_stragglers_are_sorted_by_their_seconds_and_their_kernels_too() -> None:
    ranks = rw.ranks(of([1, 1, 1, 1.5, 2.5], [1, 1, 1, 1, 4], names=("a", "b")))
    assert [one.rank for one in ranks.stragglers] == ["rank 4", "rank 3"]
    assert list(ranks.stragglers[0].kernels.items()) == [("b", 3), ("a", 1.5)]


def test_equally_slow_ranks_and_kernels_keep_their_order() -> None:
    # On slow ranks, each third kernel takes 2 s longer, and each other kernel 1 s.
    tables = of(
        *([1.0] * 61 + [2.0 if i % 3 else 3.0] * 40 for i in range(40)),
        names=[f"k{i}" for i in range(40)],
    )
    stragglers = rw.ranks(tables).stragglers
    assert [one.rank for one in stragglers] == [f"rank {number}" for number in range(61, 101)]
    expected = [*range(0, 40, 3), *(i for i in range(40) if i % 3)]
    assert list(stragglers[0].kernels) == [f"k{i}" for i in expected]


def test_a_rank_exactly_at_the_share_is_no_straggler_and_a_wait_exactly_at_the_share_is_short() -> None:
    assert rw.ranks(of([4, 4, 5]), above=0.25).stragglers == ()
    assert [one.rank for one in rw.ranks(of([4, 4, 5]), above=0.24).stragglers] == ["rank 2"]
    # The median rank takes 4 s and waits for 1 s of them.
    assert rw.ranks(of([3, 3, 3], [1, 1, 0]), above=0.25).last is None
    assert rw.ranks(of([3, 3, 3], [1, 1, 0]), above=0.24).last == "rank 2"


def test_the_last_rank_waits_less_than_half_as_long_as_the_median_rank() -> None:
    # Ranks 0 and 1 wait for 2 s in the first collective. Rank 2 waits in the second.
    waits = {wait: rw.ranks(of([1, 1, 1], [2, 2, 0], [0, 0, wait])) for wait in (1.0, 0.75)}
    assert [ranks.waiting.tolist() for ranks in waits.values()] == [[2, 2, 1], [2, 2, 0.75]]
    assert [ranks.last for ranks in waits.values()] == [None, "rank 2"]


def test_idle_time_makes_no_straggler() -> None:
    def with_idle(seconds: float) -> rw.Kernels:
        return rank(names=[GEMM, "idle", GEMM, REDUCE], gelu=seconds, category=[None, "idle", None, None])

    assert rw.ranks([with_idle(0), with_idle(0), with_idle(9)]).stragglers == ()


def test_ranks_with_other_stages_of_a_pipeline_are_compared_in_the_kernels_that_they_share() -> None:
    first = rw.Kernels(["embed", "block"], [1, 1], [1, 1], time=[9, 1])
    slow = rw.Kernels(["block", "head"], [1, 1], [1, 1], time=[1.2, 1])
    ranks = rw.ranks([first, first.replace(time=[9, 1]), slow, slow.replace(time=[1, 1])])
    (straggler,) = ranks.stragglers
    assert (straggler.rank, list(straggler.kernels)) == ("rank 2", ["block"])
    assert np.isnan(rw.ranks({"a": first, "b": slow}).spread[0])


def test_a_straggler_with_more_work_says_so() -> None:
    ranks = rw.ranks([rank(), rank(), rank(0.13, flops=[6e12, 1e9, 6e12, 0])])
    assert ranks.stragglers[0].flops_share == pytest.approx(0.5, rel=1e-3)
    assert "it has +50 % FLOPs" in repr(ranks)


def test_a_straggler_with_as_much_work_or_with_unknown_work_says_nothing_of_it() -> None:
    text = "rank 2 takes 60 ms more than the median rank (+27 %): gemm +60 ms"
    (same,) = rw.ranks([rank(), rank(), rank(0.13)]).stragglers
    assert (same.flops_share, str(same)) == (0, text)
    for flops in ([np.nan] * 4, [0] * 4):
        (unknown,) = rw.ranks([rank(flops=flops), rank(flops=flops), rank(0.13, flops=flops)]).stragglers
        assert np.isnan(unknown.flops_share)
        assert str(unknown) == text
    # Profilers round FLOPs, so a difference of 1 % is none.
    assert [str(Straggler("b", 1.0, 0.5, {"gemm": 1.0}, share)) for share in (0.01, 0.02)] == [
        "b takes 1 s more than the median rank (+50 %): gemm +1 s",
        "b takes 1 s more than the median rank (+50 %): gemm +1 s; it has +2 % FLOPs",
    ]
    (twice,) = rw.ranks(
        [one.replace(flops=[work]) for one, work in zip(of([1, 1, 2]), (1, 1, 2), strict=True)]
    ).stragglers
    assert twice.flops_share == 1


def test_above_sets_how_slow_a_straggler_is() -> None:
    tables = [rank(), rank(), rank(0.13)]
    assert rw.ranks(tables, above=0.3).stragglers == ()
    assert len(rw.ranks(tables, above=0.2).stragglers) == 1


def test_ranks_are_matched_by_further_columns() -> None:
    tables = [rank(extra={"shape": ["a", "a", "b", "a"]}), rank(0.2, extra={"shape": ["a", "a", "b", "a"]})]
    ranks = rw.ranks(tables, match=("name", "shape"))
    assert ranks.names.tolist() == ["gemm a", "gelu a", "gemm b", f"{REDUCE} a"]
    assert len(ranks.kernels) == 8
    with pytest.raises(ValueError, match=r"^ranks: a table has no column 'shap'; nearest: "):
        rw.ranks(tables, match="shap")


def test_a_table_of_ranks_takes_one_column_as_text_and_only_a_mapping_of_tables() -> None:
    assert rw.Ranks({"a": rank(), "b": rank()}, match="name").match == ("name",)
    message = "^tables must be a mapping such as {'rank 0': kernels, 'rank 1': others}, got 7$"
    with pytest.raises(TypeError, match=message):
        rw.Ranks(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^match must be text, got 7"):
        rw.ranks([rank(), rank()], match=("name", 7))  # type: ignore[arg-type]


def test_a_kernel_without_a_value_in_a_further_column_has_the_other_columns_as_its_name() -> None:
    tables = [rank(extra={"shape": ["a", None, "b", "a"]})] * 2
    names = rw.ranks(tables, match=("name", "shape")).names
    assert names.tolist() == ["gemm a", "gelu", "gemm b", f"{REDUCE} a"]
    assert names.dtype.kind == "O"


def test_ranks_are_matched_by_columns_of_numbers_too() -> None:
    tables = [rank(extra={"batch": [8, 8, 16, 8]}), rank(0.2, extra={"batch": [8, 8, 16, 8]})]
    assert rw.ranks(tables, match=("name", "batch")).names.tolist() == [
        "gemm 8.0",
        "gelu 8.0",
        "gemm 16.0",
        f"{REDUCE} 8.0",
    ]


def test_profiles_are_read_and_named_by_the_number_of_their_rank(tmp_path: Path) -> None:
    for number in (10, 9, 0):
        write(tmp_path / f"trace_rank{number}_step3.csv", f"name,time (s)\ngemm,{1 + number}\n")
    ranks = rw.ranks(str(tmp_path / "*.csv"))
    assert ranks.ranks == ("rank 0", "rank 9", "rank 10")
    assert ranks.time.tolist() == [[1, 10, 11]]
    assert rw.ranks(rw.read_many(str(tmp_path / "*.csv"))).ranks == ranks.ranks
    work = rw.ranks(sorted(tmp_path.iterdir()), work={"gemm": {"flops": 5}})
    assert work.tables["rank 9"].flops.tolist() == [5]


def test_profiles_without_numbers_of_ranks_have_the_names_of_their_paths(tmp_path: Path) -> None:
    for name in ("node1", "node2"):
        write(tmp_path / f"{name}.csv", "name,time (s)\ngemm,1\n")
    assert rw.ranks(str(tmp_path / "*.csv")).ranks == (str(tmp_path / "node1.csv"), str(tmp_path / "node2.csv"))


def test_the_data_frame_has_a_row_for_each_kernel_and_a_column_for_each_rank() -> None:
    frame = four().to_dataframe()
    assert frame["kernel"].tolist() == [GEMM, GELU, REDUCE]
    assert frame["collective"].tolist() == [False, False, True]
    assert frame["ranks"].tolist() == [4, 4, 4]
    assert frame["time:rank 2"].tolist() == pytest.approx([0.26, 0.02, 0.01])
    assert frame["slowest_rank"].tolist() == ["rank 2", "rank 3", "rank 0"]
    assert frame["slowest"].tolist() == pytest.approx([0.26, 0.021, 0.05])
    assert frame["median"].tolist() == pytest.approx([0.201, 0.02, 0.05])
    assert frame["fastest_rank"].tolist() == ["rank 3", "rank 0", "rank 2"]
    assert frame["fastest"].tolist() == pytest.approx([0.198, 0.02, 0.01])
    assert frame["spread"].tolist() == pytest.approx([0.062 / 0.201, 0.05, 0.8])


def test_the_roofline_has_the_rank_as_category_and_as_column() -> None:
    ranks = rw.ranks([rank(category=["matmul", "act", "matmul", "nccl"]), rank(0.2)])
    widget = ranks.roofline(chips=["h100-sxm"])
    assert widget.kernels.category.tolist() == ["rank 0"] * 3 + ["rank 1"] * 3
    assert widget.kernels.extra["rank"].tolist() == widget.kernels.category.tolist()
    assert widget.kernels.extra["category in the profile"].tolist() == ["matmul", "act", "nccl", None, None, None]
    assert rw.roofline(["h100-sxm"], ranks).kernels == widget.kernels


def test_the_text_and_the_html_show_the_largest_differences_first_and_collectives_last() -> None:
    lines = repr(four()).splitlines()
    assert lines[0] == "Ranks: 4 ranks, 3 kernels; time of a rank 269 ms to 290 ms, median 271 ms"
    assert [line.split()[0] for line in lines[3:]] == ["kernel", GEMM, GELU, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"]
    assert lines[-1].endswith("80 % (waiting)")
    page = four()._repr_html_()
    assert page.count("<tr>") == 4
    assert "straggler: rank 2" in page


def test_all_kernels_are_a_series_of_their_common_chip_with_the_warnings_of_each_rank() -> None:
    one = rank(chip="h100-sxm", warnings=["the trace was cut off"])
    same = rw.ranks([one, rank(0.2, chip="h100-sxm")]).kernels
    assert (str(same.chip), same.source, same.series) == ("h100-sxm", "2 ranks", True)
    assert same.warnings == ("rank 0: the trace was cut off",)
    other = rw.ranks([one, rank(0.2, chip="v5p"), rank(0.2, chip="v5p")]).kernels
    assert (other.chip, other.source) == (None, "3 ranks")
    assert other.warnings == ("the ranks are of different chips", "rank 0: the trace was cut off")
    third = rw.ranks([one, rank(0.2, chip="v5p"), rank(0.2, chip="mi300x")]).kernels
    assert (third.chip, third.warnings[0]) == (None, "the ranks are of different chips")


def three() -> rw.Ranks:
    """Return three ranks with a kernel that only rank "a" has, and a kernel that no rank was timed in."""
    names, times = ["never", "same", "gemm", "all-reduce", "head"], [np.nan, 0.25, 0.1, 0.05, 0.001]
    first = rw.Kernels(names, [1] * 5, [1] * 5, time=times)
    slow = rw.Kernels(names[:4], [1] * 4, [1] * 4, time=[np.nan, 0.25, 0.13, 0.02])
    return rw.ranks({"a": first, "b": slow, "c": slow.replace(time=times[:4])})


def test_the_text_has_a_line_for_each_finding_and_for_each_kernel() -> None:
    assert repr(three()).splitlines() == [
        "Ranks: 3 ranks, 5 kernels; time of a rank 400 ms to 401 ms, median 400 ms",
        "straggler: b takes 30 ms more than the median rank (+8.6 %): gemm +30 ms",
        "waiting in collectives: 30 ms at the median rank; b comes last",
        "kernel      slowest           median   fastest           spread",
        "gemm        b        130 ms   100 ms   a        100 ms   30 %",
        "same        a        250 ms   250 ms   a        250 ms   0 %",
        "head        a        1 ms     1 ms     a        1 ms",
        "never                unknown  unknown           unknown",
        "all-reduce  a        50 ms    50 ms    b        20 ms    60 % (waiting)",
    ]


def test_the_html_has_the_same_cells_as_the_text_and_a_header_for_each_column() -> None:
    page = three()._repr_html_()
    header = ["kernel", "slowest rank", "slowest", "median", "fastest rank", "fastest", "spread"]
    assert re.findall(r'<th scope="col">(.*?)</th>', page) == header
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    assert rows[1] == ["gemm", "b", "130 ms", "100 ms", "a", "100 ms", "30 %"]
    assert rows[4] == ["never", "", "unknown", "unknown", "", "unknown", ""]
    assert rows[5] == ["all-reduce", "a", "50 ms", "50 ms", "b", "20 ms", "60 % (waiting)"]
    assert re.findall("<li>(.*?)</li>", page) == [
        "straggler: b takes 30 ms more than the median rank (+8.6 %): gemm +30 ms",
        "waiting in collectives: 30 ms at the median rank; b comes last",
    ]


def test_the_text_has_8_kernels_and_the_html_50_and_both_count_the_others() -> None:
    table = rw.Kernels([f"k{i}" for i in range(52)], [1] * 52, [1] * 52, time=[0.5] * 52)
    ranks = rw.ranks([table, table])
    lines = repr(ranks).splitlines()
    assert lines[0] == "Ranks: 2 ranks, 52 kernels; time of a rank 26 s, median 26 s"
    assert lines[1] == "no straggler: no rank takes 5 % more than the median rank in the same kernels"
    assert [line.split()[0] for line in lines[2:]] == ["kernel", *(f"k{i}" for i in range(8)), "…"]
    assert lines[-1] == "… and 44 more"
    page = ranks._repr_html_()
    assert page.count("<td>500 ms</td>") == 3 * 50
    assert page.endswith(
        '<tr><td colspan="7">… and 2 more</td></tr></tbody></table><ul><li>'
        "no straggler: no rank takes 5 % more than the median rank in the same kernels</li></ul></div>"
    )


def test_the_kernel_whose_ranks_differ_most_is_first_not_the_longest() -> None:
    one, other = (rw.Kernels(["long", "short"], [1, 1], [1, 1], time=[10, short]) for short in (1, 2))
    assert [line.split()[0] for line in repr(rw.ranks([one, other])).splitlines()[-2:]] == ["short", "long"]


def test_names_from_files_are_one_line_and_are_escaped() -> None:
    ranks = rw.ranks({"<b>\n1": rank(names=["<i>\n", GELU, "<i>\n", REDUCE]), "2": rank(0.5)})
    assert "<b>" not in ranks._repr_html_()
    assert len(repr(ranks).splitlines()) == 8


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ([rank()], {}, ValueError, "at least two ranks, got 1 rank"),
        ([rank(), rank(time=None)], {}, ValueError, "rank 'rank 1' has no times"),
        ({"a": rank(), "b": 3}, {}, TypeError, "rank 'b' must be Kernels, got int"),
        (7, {}, TypeError, "paths_or_glob must be a pattern"),
        ([], {}, ValueError, "at least two ranks, got 0 ranks"),
        ([rank(), rank()], {"above": 0}, ValueError, "above must be a share above 0"),
        ([rank(), rank()], {"above": True}, ValueError, "above must be a share above 0, .* got True"),
        ([rank(), rank()], {"match": ()}, ValueError, "^match needs at least one column, such as 'name'$"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rw.ranks(given, **options)
