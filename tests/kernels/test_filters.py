"""Filters: Python gives the results of the golden file, and `filter` and `top` refuse unknown values."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import Chip, Kernels
from roofwidget.kernels.filters import Filters, share_of_time, small
from tests import places
from tests.places import golden

GOLDEN_FOLDER: Final = places.GOLDEN
GOLDEN: Final[dict[str, Any]] = golden("filters.json")
CASES: Final[list[dict[str, Any]]] = GOLDEN["cases"]
CHIP: Final = Chip("My chip", {"bf16": 1e14, "fp32": 1e13}, {"HBM": 1e12, "L2": 1e13})


def table_of(name: str) -> Kernels:
    columns = GOLDEN["tables"][name]
    unknown = np.full(len(columns["name"]), np.nan)
    time = [math.nan if one is None else one for one in columns["self_time"]]
    return Kernels(
        *(columns["name"], unknown, unknown),
        time=time,
        category=columns["category"],
        precision=columns["precision"],
        extra={"phase": columns["phase"]},
    )


def filters_of(case: dict[str, Any]) -> Filters:
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in case.items()}
    return Filters(**given)


@pytest.fixture
def step() -> Kernels:
    """Bounds are 4 s (matmul), 2 s (copy) and 1 s (gelu); opaque and quad (a precision the chip lacks) have none."""
    return Kernels(
        ["matmul", "copy", "gelu", "opaque", "quad"],
        [4e14, 0, 1e12, np.nan, 1e14],
        [1e12, 2e12, 1e12, np.nan, 1e12],
        time=[8, 3, 9, 5, np.nan],
        category=["dot", "copy", "loop", None, "dot"],
        precision=["bf16", None, "bf16", None, "fp64"],
        extra={
            "registers": [32, 64, 16, np.nan, 8],
            "grid": "1x1",
            "phase": ["forward", "forward", "backward", None, "backward"],
        },
        chip=CHIP,
    )


# -- what the golden file says -----------------------------------------------------------------------------------------


def test_the_golden_file_is_what_its_script_writes(tmp_path: Path) -> None:
    script = runpy.run_path(str(GOLDEN_FOLDER / "make_filters.py"))
    script["main"].__globals__["HERE"] = tmp_path
    script["main"]()
    assert (tmp_path / "filters.json").read_bytes() == (GOLDEN_FOLDER / "filters.json").read_bytes()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_those_rows_pass_which_the_golden_file_names(case: dict[str, Any]) -> None:
    table = table_of(case["table"])
    binds = np.array(GOLDEN["tables"][case["table"]]["bound"], dtype=object)
    rows = filters_of(case["filters"]).rows(table, lambda: binds)
    assert rows.tolist() == case["rows"]
    assert share_of_time(table, rows) == pytest.approx(
        math.nan if case["share"] is None else case["share"], rel=1e-12, nan_ok=True
    )


def test_texts_have_the_small_letters_of_the_golden_file() -> None:
    assert [[text, small(text)] for text, _ in GOLDEN["folded"]] == GOLDEN["folded"]


@pytest.mark.parametrize("blank", GOLDEN["blanks"], ids=[f"U+{ord(blank):04X}" for blank in GOLDEN["blanks"]])
def test_every_blank_of_the_golden_file_parts_words(blank: str) -> None:
    names = Kernels(["one two", "onetwo", "one", f"one{blank}two"], [0] * 4, [1] * 4)
    assert Filters(search=f"{blank}two{blank}one{blank}").rows(names).tolist() == [0, 1, 3]


def test_what_binds_is_asked_only_for_a_filter_by_it(step: Kernels) -> None:
    def asked() -> Any:
        raise AssertionError

    assert Filters(search="matmul").rows(step, asked).tolist() == [0]
    with pytest.raises(AssertionError):
        Filters(bounds=("HBM",)).rows(step, asked)


def test_self_time_is_what_is_shared_and_ranked() -> None:
    nested = Kernels(["loop", "body", "tail"], [0] * 3, [1] * 3, time=[10, 9, 2], self_time=[1, 9, 2])
    assert Filters(time_share=0.75).rows(nested).tolist() == [1]
    assert Filters(top=2).rows(nested).tolist() == [1, 2]


def test_a_search_that_would_try_every_split_of_a_name_ends() -> None:
    names = Kernels(["a" * 20_000, "a" * 20_000 + "b"], [0] * 2, [1] * 2)
    assert Filters(search="a*" * 200 + "b").rows(names).tolist() == [1]


# -- a table's own -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, ["matmul", "copy", "gelu", "opaque", "quad"]),
        ({"search": "L*"}, ["matmul", "gelu"]),
        ({"categories": "dot"}, ["matmul", "quad"]),
        ({"categories": ["", "copy"]}, ["copy", "opaque"]),
        ({"precisions": ["BF16"]}, ["matmul", "gelu"]),
        ({"precisions": ""}, ["copy", "opaque"]),
        ({"bounds": "compute"}, ["matmul"]),
        ({"bounds": ["hbm"]}, ["copy", "gelu"]),
        ({"bounds": ["unknown"]}, ["opaque", "quad"]),
        ({"phases": "Forward"}, ["matmul", "copy"]),
        ({"phases": ["", "backward"]}, ["gelu", "opaque", "quad"]),
        ({"phases": "forward", "top": 1}, ["matmul"]),
        ({"time_share": 0.6}, ["matmul", "gelu"]),
        ({"top": 1}, ["gelu"]),
        ({"search": "m", "top": np.int64(1), "bounds": ["compute", "unknown"]}, ["matmul"]),
    ],
    ids=repr,
)
def test_a_table_filters_itself(step: Kernels, filters: dict[str, Any], names: list[str]) -> None:
    assert step.filter(**filters).names.tolist() == names


def test_a_filter_keeps_what_a_table_carries(step: Kernels) -> None:
    kept = step.filter(bounds="HBM")
    assert (kept.chip, kept.extra["registers"].tolist()) == (CHIP, [64, 16])


def test_what_binds_is_asked_of_the_chip_that_is_given(step: Kernels) -> None:
    fast = Chip("Fast", {"bf16": 1e20, "fp64": 1e20}, {"DRAM": 1e12})
    assert step.filter(bounds="dram", chip=fast).names.tolist() == ["matmul", "copy", "gelu", "quad"]
    assert Kernels(["a"], [1e15], [1]).filter(bounds="compute", chip="v5p").names.tolist() == ["a"]


@pytest.mark.parametrize(
    ("filters", "error", "message"),
    [
        ({"search": 5}, TypeError, "filter: search must be text, got 5"),
        ({"categories": "dott"}, ValueError, "filter: categories: no kernel has 'dott'; nearest: 'dot'"),
        ({"categories": [None]}, TypeError, "filter: categories must be text, got None"),
        ({"categories": 5}, TypeError, "filter: categories must be text, got 5"),
        ({"precisions": "bf1"}, ValueError, "filter: precisions: no kernel has 'bf1'; nearest: 'bf16'"),
        ({"phases": "forwards"}, ValueError, "filter: phases: no kernel has 'forwards'; nearest: 'forward'"),
        ({"phase": "forward"}, TypeError, "Kernels.filter has no keyword 'phase'; did you mean 'phases'"),
        ({"bounds": "HMB"}, ValueError, "filter: 'HMB' binds no kernel on My chip; nearest: 'HBM'"),
        ({"bounds": "memory"}, ValueError, "filter: 'memory' binds no kernel on My chip"),
        ({"time_share": 0}, ValueError, "time_share must be above 0 and at most 1, such as 0.9 for 90 %, got 0"),
        ({"time_share": 90}, ValueError, "time_share must be above 0 and at most 1, such as 0.9 for 90 %, got 90"),
        ({"time_share": math.nan}, ValueError, "time_share must be above 0"),
        ({"time_share": "90 %"}, TypeError, "time_share must be a number, got '90 %'"),
        ({"top": 0}, ValueError, "filter: top must be at least 1, got 0"),
        ({"top": 2.0}, TypeError, "filter: top must be a whole number, got 2.0"),
        ({"top": True}, TypeError, "filter: top must be a whole number, got True"),
        ({"catgories": "dot"}, TypeError, "Kernels.filter has no keyword 'catgories'; did you mean 'categories'"),
    ],
    ids=repr,
)
def test_a_filter_that_cannot_be_is_one_clear_error(
    step: Kernels, filters: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message.replace("?", r"\?")):
        step.filter(**filters)


def test_a_filter_by_what_binds_needs_a_chip() -> None:
    with pytest.raises(ValueError, match=r"filter\(bounds=…\) needs a chip.*give chip="):
        Kernels(["a"], [1], [1]).filter(bounds="compute")


def test_a_category_is_refused_where_none_is_told() -> None:
    with pytest.raises(ValueError, match="categories: no kernel has 'dot' or any other"):
        Kernels(["a"], [1], [1]).filter(categories="dot")


def test_a_phase_is_refused_in_a_profile_without_phases() -> None:
    with pytest.raises(ValueError, match="phases: no kernel has 'decode' or any other"):
        Kernels(["a"], [1], [1]).filter(phases="decode")


@pytest.mark.parametrize(
    ("by", "names"),
    [
        # 9 - 1, 8 - 4 and 3 - 2 seconds.
        ("headroom", ["gelu", "matmul", "copy", "opaque", "quad"]),
        ("utilization", ["copy", "matmul", "gelu", "opaque", "quad"]),
        ("time", ["gelu", "matmul", "opaque", "copy", "quad"]),
        ("self_time", ["gelu", "matmul", "opaque", "copy", "quad"]),
        ("flops", ["matmul", "quad", "gelu", "copy", "opaque"]),
        ("bytes", ["copy", "matmul", "gelu", "quad", "opaque"]),
        ("arithmetic_intensity", ["matmul", "quad", "gelu", "copy", "opaque"]),
        ("registers", ["copy", "matmul", "gelu", "quad", "opaque"]),
    ],
)
def test_the_top_is_largest_first_equals_in_order_and_unknown_last(step: Kernels, by: str, names: list[str]) -> None:
    assert step.top(9, by=by).names.tolist() == names
    assert step.top(2, by=by).names.tolist() == names[:2]


def test_the_top_is_five_by_headroom_on_the_chip_that_they_ran_on(step: Kernels) -> None:
    six = rw.Kernels([*"abcdef"], [0] * 6, [1e12] * 6, time=[3, 1, 7, 2, 5, 4], chip=CHIP)
    assert six.top().names.tolist() == ["c", "e", "f", "a", "d"]
    slow = Chip("Slow", {"bf16": 1e14}, {"HBM": 4e11})
    # 9 - 2.5, 8 - 4 and 3 - 5 seconds.
    assert step.top(3, chip=slow).names.tolist() == ["gelu", "matmul", "copy"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, ValueError, "top: n must be at least 1, got 0"),
        ({"n": 1.5}, TypeError, "top: n must be a whole number, got 1.5"),
        ({"by": "headrom"}, ValueError, "top: cannot rank by 'headrom'; nearest: 'headroom'"),
        ({"by": "grid"}, ValueError, "top: cannot rank by 'grid'"),
        ({"by": "names"}, ValueError, "top: cannot rank by 'names'"),
        ({"bye": "time"}, TypeError, "Kernels.top has no keyword 'bye'; did you mean 'by'"),
        ({"chip": "no such chip"}, rw.UnknownChipError, "no such chip"),
    ],
    ids=repr,
)
def test_a_top_that_cannot_be_is_one_clear_error(
    step: Kernels, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        step.top(**arguments)


def test_the_top_by_headroom_needs_a_chip() -> None:
    with pytest.raises(ValueError, match=r"top\(by='headroom'\) needs a chip.*give chip="):
        Kernels(["a"], [1], [1]).top()
