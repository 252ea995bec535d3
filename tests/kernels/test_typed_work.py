"""FLOPs and bytes that are typed for kernels without, on the golden file that the front end is held to as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.kernels.work import TYPED_ORIGIN, with_typed_work
from tests.places import golden
from tests.tables import has_columns

GOLDEN = golden("typed_work.json")


def known(column: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in column]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["title"])
def test_typed_work_fills_what_is_unknown(case: dict[str, Any]) -> None:
    kernels = rw.Kernels.from_records(case["kernels"])
    found = with_typed_work(kernels, {int(row): work for row, work in case["typed"].items()})
    assert known(found.flops) == case["flops"]
    assert known(found.bytes) == case["bytes"]
    assert GOLDEN["origin"] == TYPED_ORIGIN
    origins = {key: [text and "typed" for text in texts] for key, texts in found.origin.items()}
    assert origins == case["origins"]
    assert {text for texts in found.origin.values() for text in texts if text} <= {TYPED_ORIGIN}


def test_typed_work_is_that_of_each_launch_of_a_sum() -> None:
    rows = rw.Kernels(["flash", "gemm", "flash"], [np.nan, 5, np.nan], [np.nan, 6, np.nan], time=[1, 2, 3])
    table = rows.groupby("name")
    row = table.names.tolist().index("flash")
    found = with_typed_work(table, {row: {"flops": 10}})
    assert found.flops[row] == 20
    assert found.launches_of(row).flops.tolist() == [10, 10]
    assert found.launches_of(1 - row).flops.tolist() == [5]


def test_bytes_are_unknown_if_the_chip_of_the_kernels_has_none_in_its_main_memory() -> None:
    chip = rw.Chip("two", {"bf16": 1e15}, {"HBM": 4e12, "LPDDR5X": 5e11})
    kernels = rw.Kernels(["a"], [1.0], {"LPDDR5X": [2.0]}, chip=chip)
    found = with_typed_work(kernels, {0: {"bytes": 7}})
    has_columns(found, bytes=[7], bytes_by_level={"LPDDR5X": [2]})
