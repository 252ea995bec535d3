"""Operations of integers are no FLOPs: their unit is OP, in Python's texts as in the page's."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.chips import MissingFigureError
from roofwidget.kernels.operations import operations_of
from roofwidget.kernels.table import as_kernels
from roofwidget.units import format_intensity, format_quantity, ratio_units
from tests.places import golden
from tests.tables import has_columns

GOLDEN: dict[str, Any] = golden("operations.json")
CARD = rw.Chip("card", GOLDEN["reports"]["chip"]["peaks"], GOLDEN["reports"]["chip"]["memories"])


def table() -> rw.Kernels:
    return as_kernels(
        [{key: one[key] for key in ("name", "flops", "bytes", "time")} for one in GOLDEN["reports"]["kernels"]]
    )


@pytest.mark.parametrize("case", GOLDEN["units"], ids=str)
def test_the_unit_of_a_kernel_is_that_of_its_operations(case: dict[str, Any]) -> None:
    one = rw.Kernel("k", case["flops"], 1, precision=case["precision"])
    assert operations_of(as_kernels([one]), case["asked"]).unit(0) == case["unit"]


@pytest.mark.parametrize("case", GOLDEN["axes"], ids=str)
def test_an_axis_names_every_unit_that_it_shows(case: dict[str, Any]) -> None:
    assert (ratio_units(case["operations"], "s"), ratio_units(case["operations"], "B")) == (case["y"], case["x"])


def test_each_kernel_has_the_unit_of_its_own_operations() -> None:
    found = rw.bound(table(), CARD)
    for row, told in enumerate(GOLDEN["reports"]["kernels"]):
        unit = found.operation(row)
        assert format_intensity(float(found.ai["HBM"][row]), operation=unit) == told["ai"]
        assert format_quantity(float(found.achieved[row]), f"{unit}/s") == told["achieved"]
        assert format_quantity(float(found.attainable[row]), f"{unit}/s") == told["attainable"]
    assert [re.split(r"  +", line)[1] for line in repr(found).splitlines()[2:]] == [
        told["ai"] for told in GOLDEN["reports"]["kernels"]
    ]


def test_a_kernel_of_int8_is_judged_by_the_int8_peak() -> None:
    found = rw.bound(rw.Kernel("quantized", {"int8": 4e12}, 1e10, time=0.04), CARD)
    has_columns(found, peak=[2e14], utilization=[0.5])
    with pytest.raises(MissingFigureError, match="int4"):
        rw.bound(rw.Kernel("k", {"int4": 1}, 1), CARD)


def test_a_sum_of_flops_and_integers_is_said_to_be_one() -> None:
    assert rw.bound(table(), CARD).notes[0] == (
        "1 kernel does FLOPs and operations of integers: both are charged to their own peaks, and rates and "
        "intensities in OP are of their sum."
    )
    assert not any("integers" in note for note in rw.bound(table()[[0, 2]], CARD).notes)


def test_a_kernel_above_its_roof_is_told_in_operations() -> None:
    found = rw.bound(rw.Kernel("quantized", {"int8": 4e12}, 1e10, time=0.01), CARD)
    assert "its 4 TOP need 20 ms at 200 TOP/s" in found.notes[0]
    assert "So the operations are miscounted" in found.notes[0]


def test_what_is_unknown_of_a_kernel_of_integers_is_its_operations() -> None:
    found = rw.bound(rw.Kernels(["k"], [math.nan], [1.0], precision=["int8"]), CARD)
    assert rw.advise(found)[0].evidence == "operations not known"


def test_a_chip_prints_its_integer_peaks_in_operations() -> None:
    assert repr(CARD) == "Chip('card': bf16 100 TFLOP/s, int8 200 TOP/s; HBM 1 TB/s)"
    assert [figure.unit for figure in CARD.figures][:2] == ["FLOP/s", "OP/s"]


def test_a_table_with_integers_counts_operations() -> None:
    html = table()._repr_html_()
    assert ">operations<" in html
    assert "4 TOP<" in html
    assert "4 TFLOP<" in html
    assert ">FLOPs<" in table()[[2]]._repr_html_()


def test_utilization_of_an_integer_peak_is_in_operations() -> None:
    found = rw.mfu("1 PFLOP", 10, CARD, precision="int8")
    assert float(found) == 0.5
    assert "1 PFLOP" not in repr(found)
    assert "1 × 200 TOP/s: card, int8, dense" in repr(found)


def test_columns_of_results_keep_their_names() -> None:
    pytest.importorskip("pandas")
    with_integers, without = (rw.bound(table()[[row]], CARD).to_dataframe().columns for row in (0, 2))
    assert with_integers.tolist() == without.tolist()


def test_large_tables_know_their_units_without_a_loop_over_kernels() -> None:
    n = 100_000
    flops = {"bf16": np.ones(n), "int8": np.where(np.arange(n) % 2, 1.0, np.nan)}
    found = operations_of(rw.Kernels([f"k{at}" for at in range(n)], flops, np.ones(n)))
    assert (int(found.integer.sum()), int(found.mixed.sum()), found.units) == (n // 2, n // 2, {"FLOP", "OP"})
