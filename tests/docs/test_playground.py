"""The playground's part in Python: tables that are pasted there, and the graphs to play with."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import pytest

import roofwidget as rw
from tests.golden import make_playground
from tests.places import DOCS, GOLDEN, golden, text_of, write

if TYPE_CHECKING:
    from pathlib import Path

TABLES = golden("playground.json")
CHIP = rw.Chip("Round", {"bf16": TABLES["peak"]}, {"HBM": TABLES["bandwidth"]})
GRAPHS: dict[str, tuple[str, rw.Graph]] = runpy.run_path(str(DOCS / "make_playground.py"))["graphs"]()


def test_the_golden_file_is_what_its_script_writes() -> None:
    assert text_of(GOLDEN / "playground.json") == make_playground.text()


@pytest.mark.parametrize("form", ["work", "ratios"])
def test_a_table_that_is_pasted_has_the_numbers_that_python_reads(form: str, tmp_path: Path) -> None:
    kernels = rw.read(write(tmp_path / "table.csv", TABLES[form]["text"]))
    found = rw.bound(kernels, CHIP)
    expected: list[dict[str, Any]] = TABLES[form]["kernels"]
    assert [one["name"] for one in expected] == list(kernels.names)
    assert [one["bound_by"] for one in expected] == list(found.bound_by)
    columns = {
        "intensity": kernels.arithmetic_intensity,
        "rate": kernels.achieved,
        "utilization": found.utilization,
        "bound": found.time,
    }
    for name, column in columns.items():
        wanted = [float("nan") if one[name] is None else one[name] for one in expected]
        assert list(column) == pytest.approx(wanted, rel=1e-15, nan_ok=True), name


@pytest.mark.parametrize(
    ("key", "times"), [("chain", 4.0), ("residual", 3.0), ("shared", 4.5), ("feed-forward", None), ("attention", None)]
)
def test_a_graph_to_play_with_gains_by_merging_as_lesson_3_says(key: str, times: float | None) -> None:
    assert list(GRAPHS) == ["chain", "residual", "shared", "feed-forward", "attention"]
    _, graph = GRAPHS[key]
    chip = rw.chip("h100-sxm")
    apart, best = rw.Partition.unfused(graph), rw.Partition.best(graph, chip)
    gain = apart.time(chip) / best.time(chip)
    assert best.how == "optimal"
    assert gain > 1
    if times is not None:
        assert gain == pytest.approx(times, rel=1e-12)
