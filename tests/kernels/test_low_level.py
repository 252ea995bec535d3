"""Low-level columns in groups of rows: totals added, ratios as ratios of sums, texts only where all rows agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.kernels.low_level import LOW_LEVEL_COLUMNS


def grouped(time: list[float], **columns: Any) -> rw.Kernels:
    n = len(time)
    extra = {name.replace("_", " "): column for name, column in columns.items()}
    return rw.Kernels(["k"] * n, [1] * n, [1] * n, time=time, extra=extra).groupby("name")


def test_counts_of_instructions_are_added() -> None:
    assert grouped([1, 1], warp_instructions=[3, 4]).extra["warp instructions"].tolist() == [7]


def test_an_unknown_count_makes_the_sum_unknown() -> None:
    assert np.isnan(grouped([1, 1], warp_instructions=[3, np.nan]).extra["warp instructions"]).all()


def test_a_ratio_of_counts_is_the_ratio_of_their_sums() -> None:
    # 10 loads of 4 sectors and 30 of 32: 1000 sectors of 40 loads.
    found = grouped([5, 1], global_loads=[10, 30], sectors_per_load_request=[4, 32])
    assert found.extra["sectors per load request"].tolist() == [25]


def test_a_launch_without_such_accesses_has_no_weight() -> None:
    found = grouped([5, 1], global_loads=[0, 30], sectors_per_load_request=[np.nan, 32])
    assert found.extra["sectors per load request"].tolist() == [32]


def test_a_ratio_without_its_denominator_is_weighted_by_time() -> None:
    assert grouped([3, 1], sectors_per_load_request=[4, 32]).extra["sectors per load request"].tolist() == [11]


def test_shares_of_time_are_weighted_by_time() -> None:
    found = grouped([3, 1], **{"achieved occupancy (%)": [20, 60]})
    assert found.extra["achieved occupancy (%)"].tolist() == [30]


def test_equal_numbers_keep_their_last_digit() -> None:
    found = grouped([0.1, 0.2, 0.7], **{"issue slots busy (%)": [0.3] * 3})
    assert found.extra["issue slots busy (%)"].tolist() == [0.3]


def test_figures_of_the_launch_stay_only_if_all_launches_share_them() -> None:
    found = grouped([1, 1], blocks=[64, 64], **{"waves per SM": [1, 2]})
    assert found.extra["blocks"].tolist() == [64]
    assert np.isnan(found.extra["waves per SM"]).all()


@pytest.mark.parametrize(("second", "text", "share"), [("barrier", "barrier", 40.0), ("wait", None, np.nan)])
def test_the_share_of_a_stall_is_known_where_the_stall_is(second: str, text: str | None, share: float) -> None:
    found = grouped([1, 1], stall_1=["barrier", second], **{"stall 1 (%)": [30, 50]})
    assert found.extra["stall 1"].tolist() == [text]
    assert found.extra["stall 1 (%)"].tolist() == pytest.approx([share], nan_ok=True)


def test_every_column_says_what_it_is_and_every_weight_is_a_column() -> None:
    for name, column in LOW_LEVEL_COLUMNS.items():
        assert column.name == name
        assert column.meaning
        assert not (column.adds and column.weight)
        assert column.weight in {None, "time"} or LOW_LEVEL_COLUMNS[str(column.weight)].adds, name
