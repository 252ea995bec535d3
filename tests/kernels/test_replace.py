"""`Kernels.replace`: a changed copy, and every function that makes one, keeps all arguments that are not replaced."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.kernel_moves import with_moves
from roofwidget.kernels.columns import DictColumn
from roofwidget.kernels.metadata import Activity, Communication
from roofwidget.readers.torch.assembly import Spans, with_idle, without_launches
from tests.tables import has_columns

CHIP = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
OTHER = rw.Chip("Other", {"bf16": 2e14}, {"HBM": 2e12})
FULL: dict[str, Any] = {
    "names": ["a", "b", "c"],
    "flops": {"bf16": [1e12, np.nan, np.nan], "": [np.nan, 2e12, np.nan]},
    "bytes": {"HBM": [1e10, 2e10, np.nan], "network": [np.nan, 0, np.nan]},
    "time": [1.0, 2.0, np.nan],
    "precision": ["bf16", None, None],
    "category": ["loop", "idle", None],
    "count": [1, 3, 1],
    "self_time": [0.5, 2.0, np.nan],
    "intensity": [np.nan, np.nan, 0.083],
    "rate": [np.nan, np.nan, 15.4e9],
    "origin": {"flops": "2MNK of the shapes"},
    "extra": {"rank": [0, 1, 1], "shape": ["8x8", None, None]},
    "launches": rw.Kernels(["a", "b", "b", "c"], [1, 1, 1, 1], [1, 1, 1, 1]),
    "launch_rows": [0, 1, 1, 2],
    "chip": CHIP,
    "program": rw.Kernels(["Program"], [3e12], [3e10], time=[3]),
    "steps": rw.Kernels(["Step"], [3e12], [3e10], time=[3]),
    "warnings": ("one call is opaque",),
    "source": "run 1",
    "read_as": {"format": "table", "count": "calls"},
    "series": False,
    "communication": Communication(4.0, 7.0, 1.0),
    "activity": Activity(9.0, 1.0, 11.0, 0.5, 2.0),
    "fitting_chips": ("mi300x",),
}
CHANGED: dict[str, Any] = {
    "names": ["d", "e", "f"],
    "flops": [5.0, 6.0, 7.0],
    "bytes": {"L2": [7.0, 8.0, np.nan]},
    "time": [3.0, 4.0, np.nan],
    "precision": [None, "fp8", None],
    "category": [None, "copy", None],
    "count": [2, 2, 2],
    "self_time": None,
    "intensity": [np.nan, np.nan, 12.5],
    "rate": None,
    "origin": None,
    "extra": {"stream": [7, 8, 9]},
    "launches": rw.Kernels(["x", "y", "z", "w"], [1, 1, 1, 1], [1, 1, 1, 1]),
    "launch_rows": [1, 1, 0, 2],
    "chip": OTHER,
    "program": None,
    "steps": None,
    "warnings": (),
    "source": "run 2",
    "read_as": {},
    "series": True,
    "communication": None,
    "activity": None,
    "fitting_chips": (),
}
ARGUMENTS = tuple(inspect.signature(rw.Kernels).parameters)


@pytest.fixture
def table() -> rw.Kernels:
    return rw.Kernels(**FULL)


def arguments(kernels: rw.Kernels) -> dict[str, Any]:
    """Return every argument of the constructor in plain types, read from the table's public attributes."""

    def plain(column: Any) -> Any:
        if isinstance(column, DictColumn):
            column = column.texts()
        return repr(column.tolist())

    launches, rows = kernels.launches_with_rows()
    return {
        "names": plain(kernels.names),
        "flops": {key: plain(column) for key, column in kernels.flops_by_precision.items()},
        "bytes": {level: plain(column) for level, column in kernels.bytes_by_level.items()},
        "time": plain(kernels.time),
        "precision": plain(kernels.precision),
        "category": plain(kernels.category),
        "count": plain(kernels.count),
        "self_time": plain(kernels.self_time) if kernels.has_self_time else None,
        "intensity": plain(kernels.intensity),
        "rate": plain(kernels.rate),
        "origin": {key: plain(column) for key, column in kernels.origin.items()},
        "extra": {name: plain(column) for name, column in kernels.extra_columns.items()},
        "launches": launches and plain(launches.names),
        "launch_rows": rows.tolist(),
        "chip": kernels.chip,
        "program": arguments(kernels.program) if len(kernels.program) else None,
        "steps": arguments(kernels.steps) if len(kernels.steps) else None,
        "warnings": kernels.warnings,
        "source": kernels.source,
        "read_as": dict(kernels.read_as),
        "series": kernels.series,
        "communication": kernels.communication,
        "activity": kernels.activity,
        "fitting_chips": kernels.fitting_chips,
    }


def test_the_examples_of_this_file_leave_no_argument_out() -> None:
    assert tuple(FULL) == tuple(CHANGED) == ARGUMENTS
    assert tuple(arguments(rw.Kernels(**FULL))) == ARGUMENTS


@pytest.mark.parametrize("name", ARGUMENTS)
def test_replacing_one_argument_keeps_all_others(table: rw.Kernels, name: str) -> None:
    expected = arguments(rw.Kernels(**{**FULL, name: CHANGED[name]}))
    changed = arguments(table.replace(**{name: CHANGED[name]}))
    assert changed == expected
    assert changed[name] != arguments(table)[name]


def test_replacing_nothing_is_a_copy(table: rw.Kernels) -> None:
    assert table.replace() == table
    assert arguments(table.replace()) == arguments(table)


def test_a_part_keeps_every_column_of_its_rows_and_all_facts_of_the_table(table: rw.Kernels) -> None:
    part = table[[1]]
    changed = table.replace(**{name: CHANGED[name] for name in ("names", "time")})
    again = changed[[1]].replace(names=["b"], time=[2.0])
    assert arguments(part) == arguments(again)
    has_columns(part, category=["idle"], extra={"shape": [None]}, self_time=[2.0])
    assert (part.chip, part.warnings, part.source, len(part.program), len(part.steps)) == (
        *(CHIP, ("one call is opaque",), "run 1"),
        *(1, 1),
    )


def test_a_changed_copy_is_checked_as_a_new_table(table: rw.Kernels) -> None:
    with pytest.raises(ValueError, match=r"row 1, column 'time': -1\.0 must be finite and not negative"):
        table.replace(time=[1, -1, 1])
    with pytest.raises(ValueError, match=r"column 'flops:bf16' has shape \(3,\), expected \(1,\)"):
        table.replace(names=["a"])


def test_an_unknown_argument_names_the_nearest_real_one(table: rw.Kernels) -> None:
    with pytest.raises(TypeError, match=r"Kernels.replace has no keyword 'categroy'; did you mean 'category'\?"):
        table.replace(categroy=["x", "y"])


# -- functions that use replace ----------------------------------------------------------------------------------------


def mixed() -> rw.Kernels:
    return rw.Kernels(
        ["matmul", "idle", "double"],
        [1e12, np.nan, 1e12],
        [1e9, np.nan, 1e9],
        time=[1, 2, 3],
        precision=["bf16", None, "fp64"],
        category=[None, "idle", None],
    )


def test_a_kernel_that_the_chip_cannot_bound_does_not_turn_an_idle_row_into_a_kernel() -> None:
    model = rw.RooflineModel([CHIP], mixed())
    bound = model.bound()
    assert bound.bound_by.tolist() == ["compute", "unknown", "unknown"]
    assert [one.situation for one in rw.advise(bound)] == ["way below both", "idle", "unknown"]
    assert repr(rw.advise(bound)).startswith("Advice: 2 kernels, 0 done; 1 of the rows no kernel\n")
    assert rw.compare_chips(mixed(), [CHIP]).bounds[0].non_kernels.tolist() == [None, "idle", None]  # type: ignore[union-attr]  # a bound has them


def test_the_dropped_columns_of_kernels_with_what_ifs_are_those_of_the_data_alone() -> None:
    table = rw.Kernels(**FULL)
    moved = with_moves(table, {0: {"bytes": 0.5}}, lambda kernels: rw.bound(kernels, CHIP))
    dropped: dict[str, Any] = {"origin": {}, "launches": None, "launch_rows": [], "program": None, "steps": None}
    changed = {name: arguments(moved)[name] for name in ("bytes", "time", "self_time")}
    assert arguments(moved) == {**arguments(table), **dropped, **changed}


def test_sums_that_drop_their_launches_keep_everything_else() -> None:
    table = rw.Kernels(**FULL)
    expected = {"launches": None, "launch_rows": [], "warnings": arguments(without_launches(table, 7))["warnings"]}
    assert arguments(without_launches(table, 7)) == {**arguments(table), **expected}
    assert without_launches(table, 7).warnings[0] == "one call is opaque"


def test_rows_of_idle_time_are_added_to_every_column_and_all_facts_stay() -> None:
    spans = Spans(*(np.array([number]) for number in (0, 10.0, 4.0, 6.0, 3.0, 2.0)))
    table = rw.Kernels(**FULL)
    longer = with_idle(table, spans)
    assert longer[:3] == table
    assert repr(longer.self_time.tolist()) == "[0.5, 2.0, nan, 4.0]"
    assert longer.category.tolist() == ["loop", "idle", None, "idle"]
    for name in ("chip", "program", "steps", "warnings", "source"):
        assert arguments(longer)[name] == arguments(table)[name]


def test_groups_keep_the_facts_of_the_table() -> None:
    found, table = arguments(rw.Kernels(**FULL).groupby("name")), arguments(rw.Kernels(**FULL))
    for name in (
        "chip",
        "program",
        "steps",
        "source",
        "warnings",
        "category",
        "precision",
        "self_time",
        "intensity",
        "rate",
    ):
        assert found[name] == table[name]


def test_launches_are_found_also_where_the_last_rows_have_none() -> None:
    table = rw.Kernels(["a", "b", "c"], [1, 1, 1], [1, 1, 1], launches=FULL["launches"][:3], launch_rows=[0, 1, 1])
    assert table[[0, 2]].launches == FULL["launches"][:1]
    assert table[[2, 1]].launches_with_rows()[1].tolist() == [1, 1]
    assert arguments(table.replace(time=None)) == arguments(table)
