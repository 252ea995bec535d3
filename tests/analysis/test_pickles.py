"""Pickles of kernels and results: they name packages but not files, so they can be read after a file has moved."""

from __future__ import annotations

import pickle
import pickletools
from typing import Any

import pytest

import roofwidget as rw

CHIP = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
KERNELS = rw.Kernels(
    ["matmul", "copy"],
    {"bf16": [4e14, 0]},
    {"HBM": [1e12, 1e12]},
    time=[8, 1],
    precision=["bf16", None],
    category=["loop", None],
    origin={"flops": "2MNK of the shapes"},
    extra={"shape": ["8x8", None], "nothing": [None, None], "rank": [0, 1]},
    chip=CHIP,
    warnings=["one call is opaque"],
    source="run 1",
)
BOUND = rw.bound(KERNELS, CHIP)
COMPARISON = rw.compare_chips(KERNELS, [CHIP, "v5p"])
RANKS = rw.ranks([KERNELS, KERNELS.replace(time=[16, 1]), KERNELS])
GRADES = rw.grade({"ridge": 100.0}, [rw.Question(key="ridge", prompt="Where?", answer=100.0, unit="FLOP/B")])
RESULTS: dict[str, Any] = {
    "Kernel": KERNELS[0],
    "Kernels": KERNELS.groupby("name"),
    "a part of Kernels": KERNELS.groupby("name")[[1]],
    "Preset": rw.preset("tpu-roofline-guide"),
    "Bound": BOUND,
    "Snapshot": rw.RooflineModel([CHIP], KERNELS).freeze(),
    "Advice": rw.advise(BOUND)[0],
    "Advices": rw.advise(BOUND),
    "Comparison": COMPARISON,
    "Flip": rw.compare_chips([("gelu", 1e12, 9e9)], [CHIP, "v5p"]).flips[0],
    "Projection": rw.project(KERNELS, "v5p"),
    "RunSeries": rw.compare_runs({"a": KERNELS, "b": KERNELS.replace(time=[4, 2])}),
    "RunStep": rw.compare_runs({"a": KERNELS, "b": KERNELS.replace(time=[4, 2])}).largest_step,
    "RunTrend": rw.compare_runs({"a": KERNELS, "b": KERNELS.replace(time=[4, 2])}).trend(),
    "RunComparison": rw.compare_runs(KERNELS, KERNELS.replace(time=[4, 2])),
    "Ranks": RANKS,
    "Straggler": RANKS.stragglers[0],
    "Grades": GRADES,
    "Grade": GRADES["ridge"],
    "Check": rw.Question(key="ridge", prompt="Where?", answer=100.0, unit="FLOP/B").check(100.0),
}


def modules_named_in(data: bytes) -> set[str]:
    """Return the modules of this package that a pickle names."""
    texts = [argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)]
    return {name for text in texts for name in text.split() if name == "roofwidget" or name.startswith("roofwidget.")}


@pytest.mark.parametrize("name", RESULTS)
def test_a_pickle_names_packages_alone_and_can_be_read_again(name: str) -> None:
    value = RESULTS[name]
    shown = repr(value)  # This fills cached properties, which must not be pickled.
    assert type(value).__module__ == "roofwidget"
    assert getattr(rw, type(value).__name__) is type(value)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        data = pickle.dumps(value, protocol)
        assert modules_named_in(data) <= {"roofwidget", "roofwidget.chips"}
        again = pickle.loads(data)  # noqa: S301 - what was pickled here
        assert type(again) is type(value)
        assert repr(again) == shown


def test_a_pickled_table_keeps_each_column_as_it_was() -> None:
    again: rw.Kernels = pickle.loads(pickle.dumps(KERNELS))  # noqa: S301 - what was pickled here
    assert again == KERNELS
    assert again.replace() == KERNELS
    assert {name: column.dtype for name, column in again.extra.items()} == {
        name: column.dtype for name, column in KERNELS.extra.items()
    }
    assert (again.chip, again.warnings, again.source) == (CHIP, ("one call is opaque",), "run 1")
