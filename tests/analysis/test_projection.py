"""A measured program on another chip: each kernel keeps its utilization; without a known bound it keeps its time."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest

import roofwidget as rw
from roofwidget import Chip, Kernels, MissingFigureError, project
from roofwidget.analysis.projection import Projection
from tests.places import golden

# Ridge points of 100 and 200 FLOP/B.
OLD: Final = Chip("Old", {"bf16": 1e14, "fp32": 1e13}, {"HBM": 1e12, "L2": 1e13}, clock="2 GHz")
NEW: Final = Chip("New", {"bf16": 4e14, "fp8": 8e14}, {"DRAM": 2e12})

GOLDEN: Final[dict[str, Any]] = golden("projection.json")
CHIPS: Final = {name: Chip(name, **told) for name, told in GOLDEN["chips"].items()}


@pytest.fixture
def step() -> Kernels:
    """Bounds on Old are 4, 1, 2 (compute; 1.5 for bytes), unknown and 1 s; on New 1, 0.5, 0.75 (bytes), unknown."""
    return Kernels(
        ["matmul", "gelu", "near the ridge", "opaque", "unmeasured"],
        [4e14, 1e12, 2e14, np.nan, 1e14],
        [1e12, 1e12, 1.5e12, np.nan, 1e12],
        time=[8, 2, 4, 1, np.nan],
        chip=OLD,
    )


def table_of(case: dict[str, Any]) -> Kernels:
    rows = GOLDEN["tables"][case["table"]]
    kernels = Kernels.from_records([{key: value for key, value in row.items() if key != "self_time"} for row in rows])
    time = [row["time"] for row in rows]
    own = [row.get("self_time", row["time"]) for row in rows]
    return Kernels(
        kernels.names,
        dict(kernels.flops_by_precision),
        dict(kernels.bytes_by_level),
        time=time,
        self_time=own,
        precision=list(kernels.precision),
        chip=CHIPS[case["source"]],
    )


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[case["name"] for case in GOLDEN["cases"]])
def test_the_projected_times_are_those_of_the_golden_file(case: dict[str, Any]) -> None:
    asked = {key: value for key, value in case.items() if key in {"precision", "memory", "clock", "at_roof"}}
    found, expected = project(table_of(case), CHIPS[case["chip"]], **asked), case["expected"]
    for name in ("before", "time", "not_scaled", "speedup"):
        same(getattr(found, name), math.nan if expected[name] is None else expected[name])
    same(found.by_kernel, [math.nan if one is None else one for one in expected["by_kernel"]])


def same(found: Any, expected: list[float] | float) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_each_kernel_keeps_its_utilization(step: Kernels) -> None:
    found = project(step, NEW)
    same(found.by_kernel, [2, 1, 1.5, 1, math.nan])
    same(rw.bound(step, OLD).utilization[:3], [0.5, 0.5, 0.5])
    then = Kernels(step.names[:3], step.flops[:3], step.bytes[:3], time=found.by_kernel[:3])
    same(rw.bound(then, NEW).utilization, [0.5, 0.5, 0.5])


def test_the_programs_time_is_the_sum_and_what_is_not_known_stays_in_it(step: Kernels) -> None:
    found = project(step, NEW)
    same([found.before, found.time, found.speedup, found.not_scaled], [15, 5.5, 15 / 5.5, 1])
    assert found.scaled.tolist() == [True, True, True, False, False]
    assert found.notes == ("1 kernel keeps its time, 1 s, because a bound is unknown.",)


def test_the_same_chip_changes_nothing(step: Kernels) -> None:
    same(project(step, OLD).by_kernel, [8, 2, 4, 1, math.nan])


def test_rows_at_their_roof_take_their_bound(step: Kernels) -> None:
    same(project(step, NEW, at_roof=[0, 2]).by_kernel, [1, 1, 0.75, 1, math.nan])
    same(project(step, OLD, at_roof=np.array([1, 3, 4])).by_kernel, [8, 1, 4, 1, math.nan])


def test_self_time_grows_and_shrinks_as_the_time_does() -> None:
    loop = Kernels(["matmul"], [4e14], [1e12], time=[8], self_time=[4], chip=OLD)
    same([project(loop, NEW).before, project(loop, NEW).time, project(loop, NEW, at_roof=[0]).time], [4, 1, 0.5])


@pytest.mark.parametrize("clock", [0.5, "1 GHz", "1000 MHz", np.float64(0.5)])
def test_a_clock_moves_the_peaks_alone(step: Kernels, clock: Any) -> None:
    # The peak halves: 8 s and 4 s instead of 4 s and 2 s. The bytes of gelu still need 1 s.
    same(project(step, OLD, clock=clock).by_kernel, [16, 2, 8, 1, math.nan])


def test_a_precision_judges_what_tells_none_of_its_own(step: Kernels) -> None:
    # At 800 TFLOP/s the FLOPs of the matmul need 0.5 s, and so do its bytes.
    same(project(step, NEW, precision="fp8").by_kernel, [1, 1, 1.5, 1, math.nan])
    own = Kernels(["told", "apart"], {"": [4e14, np.nan], "bf16": [np.nan, 4e14]}, [1e12] * 2, time=[8, 8], chip=OLD)
    same(project(own, NEW, precision="fp8").by_kernel, [1, 2])
    assert project(own, NEW, precision="fp8").notes == (
        "1 kernel names its own precision, so fp8 does not apply to it.",
    )


def test_without_a_precision_it_stays_what_it_was() -> None:
    eight = NEW.replace(default_precision="fp8")
    kernels = Kernels(["matmul"], [4e14], [1e12], time=[8], chip=OLD)
    assert project(kernels, eight).precision == "bf16"
    same(project(kernels, eight).by_kernel, [2])
    assert project(kernels, eight, precision="auto").precision == "fp8"
    same(project(kernels, eight, precision="auto").by_kernel, [1])


def test_a_kernel_whose_own_precision_a_chip_lacks_keeps_its_time() -> None:
    mixed = Kernels(["a", "b"], [1e13, 4e14], [1, 1e12], precision=["fp32", "bf16"], time=[2, 8], chip=OLD)
    found = project(mixed, NEW)
    same(found.by_kernel, [2, 2])
    assert found.notes == (
        "1 kernel needs a figure that New lacks, such as the peak of its precision.",
        "1 kernel keeps its time, 2 s, because a bound is unknown.",
    )


def test_a_projection_has_the_remarks_that_the_bounds_on_both_chips_make_each_once() -> None:
    apart = OLD.replace(name="Apart", peak_flops={"bf16_vector": 1e13})
    vector = Kernels(["gelu"], {"vector": [4e13]}, [1e12], time=[8], chip=apart)
    charged = "New has no separate peak for vector FLOPs: they are charged to the bf16 peak."
    assert project(vector, NEW).notes == (charged,)
    assert project(vector, NEW, source=NEW).remarks == (charged,)
    assert charged in repr(project(vector, NEW))
    assert charged in project(vector, NEW)._repr_html_()
    back = "Old has no separate peak for vector FLOPs: they are charged to the bf16 peak."
    assert project(vector, apart, source=OLD).notes[0] == back, "the time before rests on it too"
    sent = Kernels(["reduce"], [0], {"HBM": [1e12], "network": [1e9]}, time=[8], chip=OLD)
    assert project(sent, NEW).notes[:2] == tuple(
        f"1 kernel needs a link to other chips, and {name} has none of known bandwidth." for name in ("Old", "New")
    )


def test_the_levels_that_are_asked_for_judge_on_both_chips() -> None:
    two = Chip("Two", {"bf16": 1e14}, {"HBM": 2e12, "L2": 1e13})
    kernels = Kernels(["a"], [0], {"HBM": [1e12], "L2": [2e13]}, time=[4], chip=OLD)
    same(project(kernels, two).by_kernel, [2])
    same(project(kernels, two, memory="L2").by_kernel, [4])
    same(project(kernels, two, memory="all").by_kernel, [4])


def test_a_kernel_that_does_nothing_keeps_its_time() -> None:
    same(project(Kernels(["idle"], [0], [0], time=[3], chip=OLD), NEW).by_kernel, [3])


def test_nothing_measured_has_no_speedup() -> None:
    found = project(Kernels(["a"], [1], [1], chip=OLD), NEW)
    assert (found.before, found.time, math.isnan(found.speedup), found.notes) == (0, 0, True, ())
    assert math.isnan(project(Kernels(), NEW, source=OLD).speedup)


def test_chips_may_be_names_and_kernels_records() -> None:
    found = project([("matmul", 4e14, 1e12, 8)], "h100-sxm", source="a100-sxm-80gb")
    assert (found.chip.id, found.source.id) == ("h100-sxm", "a100-sxm-80gb")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"source": None}, ValueError, "needs the chip that these kernels ran on.*give source="),
        ({"clock": 0}, ValueError, "clock"),
        ({"clock": "fast"}, ValueError, "clock"),
        ({"clock": "1 GHz", "source": NEW, "chip": NEW}, MissingFigureError, "New has no clock"),
        ({"at_roof": [3]}, ValueError, "at_roof: 3 is not a row of the 1 kernel"),
        ({"at_roof": [-1]}, ValueError, "at_roof: -1 is not a row"),
        ({"at_roof": [True]}, ValueError, "at_roof: True is not a row"),
        ({"precision": "fp64"}, MissingFigureError, "New has no peak for precision 'fp64'"),
        ({"memory": "L2"}, MissingFigureError, "New has no memory 'L2'"),
        ({"at_rof": [1]}, TypeError, "project has no keyword 'at_rof'; did you mean 'at_roof'"),
    ],
    ids=repr,
)
def test_what_cannot_be_projected_is_one_clear_error(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    given: dict[str, Any] = {"chip": NEW, "source": OLD} | arguments
    with pytest.raises(error, match=message):
        project([("matmul", 4e14, 1e12, 8)], **given)


def test_the_table_shows_the_longest_first_and_what_is_not_measured(step: Kernels) -> None:
    assert repr(project(step, NEW)).splitlines() == [
        "Projection: 5 kernels from Old to New (bf16): 15 s to 5.5 s, 2.7 times as fast",
        "kernel          before        after    faster",
        "matmul          8 s           2 s      4×",
        "near the ridge  4 s           1.5 s    2.7×",
        "gelu            2 s           1 s      2×",
        "opaque          1 s           1 s      stays",
        "unmeasured      not measured  unknown",
        "1 kernel keeps its time, 1 s, because a bound is unknown.",
    ]


def test_many_kernels_are_cut_short_and_names_are_text() -> None:
    many = Kernels([f"<b>{row}" for row in range(60)], [1e14] * 60, [1] * 60, time=range(1, 61), chip=OLD)
    found = project(many, NEW)
    *_, last, note = repr(found).splitlines()
    assert last == "… and 52 more"
    # The bound of each kernel is 1 s: those of 11 to 60 s, 1775 s of 1830 s, are below 10 %.
    assert note.startswith("Kernels below 10 % of their roof (97 % of the time)")
    shown: str = found._repr_html_()
    assert "&lt;b&gt;59" in shown
    assert "<b>" not in shown
    assert "… and 10 more" in shown


def test_it_says_how_much_of_the_time_is_far_below_its_roof_and_may_not_follow_another() -> None:
    # The utilizations are 5 %, 10 %, 50 %, unknown, and 7.5 % for a time of 2 s with 1 s self time.
    table = Kernels(
        ["far", "a tenth", "half", "opaque", "shared"],
        [5e12, 1e13, 5e13, np.nan, 1.5e13],
        [1, 1, 1, np.nan, 1],
        time=[1, 1, 1, 1, 2],
        self_time=[1] * 5,
        chip=OLD,
    )
    found = project(table, NEW)
    assert (found.is_far.tolist(), found.far) == ([True, False, False, False, True], 2)
    said = "Kernels below 10 % of their roof ({} % of the time) may not get faster on another chip."
    assert found.notes[-1] == said.format(40)
    # A kernel that reaches its roof does not keep its utilization.
    assert project(table, NEW, at_roof=[0]).notes[-1] == said.format(20)
    assert project(table, NEW, at_roof=[0, 4]).far == 0


def test_it_says_how_much_of_the_time_is_above_its_roof() -> None:
    # The bounds are 4, 4 and 1 s.
    table = Kernels(["cached", "exact", "norm"], [4e14, 4e14, 1e12], [1e12] * 3, time=[2, 4, 2], chip=OLD)
    found = project(table, NEW)
    assert (found.is_above.tolist(), found.above) == ([True, False, False], 2)
    said = "Kernels above their roof (25 % of the time) have wrong counts, times or peaks, so their projected times are"
    assert found.notes[-1] == f"{said} wrong too."
    assert said in repr(found)
    assert project(table[1:], NEW).above == 0


def test_a_data_frame_has_a_row_a_kernel(step: Kernels) -> None:
    frame = project(step, NEW).to_dataframe()
    assert frame.columns.tolist() == ["name", "before", "after", "scaled"]
    same(frame["after"], [2, 1, 1.5, 1, math.nan])
    assert isinstance(project(step, NEW), Projection)


def test_recast_work_is_judged_by_one_precision_whatever_it_tells() -> None:
    told = Kernels(
        ["bf16", "by key", "plain", "of a class", "?"],
        {
            "": [8e14, np.nan, 8e14, np.nan, np.nan],
            "bf16": [np.nan, 4e14, np.nan, 4e14, np.nan],
            "vector": [np.nan, np.nan, np.nan, 8e13, np.nan],
        },
        [1e12] * 5,
        time=[16, 4, 16, 8, 1],
        precision=["bf16", None, None, None, None],
        chip=OLD,
    )
    new = Chip("New", {"bf16": 4e14, "fp8": 8e14, "fp8_vector": 8e13}, {"DRAM": 2e12})
    # The bounds are 8, 4, 8 and 4.8 s on Old; recast on New 1, 0.5, 1 and 1.5 s.
    found = project(told, new, recast="fp8")
    assert found.by_kernel.tolist() == pytest.approx([2, 0.5, 2, 2.5, 1], rel=1e-12)
    assert found.precision == "fp8"
    assert not any("precision" in note for note in found.notes)
    assert project(told, new, precision="fp8").by_kernel[0] == 4


def test_recast_work_needs_a_peak_and_no_other_precision(step: Kernels) -> None:
    with pytest.raises(MissingFigureError, match="New has no peak for precision 'fp64'"):
        project(step, NEW, recast="fp64")
    with pytest.raises(ValueError, match="recast='fp8' replaces the precision"):
        project(step, NEW, recast="fp8", precision="bf16")


# -- texts, to the letter ----------------------------------------------------------------------------------------------


def lines(kernels: Kernels, **options: Any) -> list[str]:
    return repr(project(kernels, NEW, source=OLD, **options)).splitlines()


def test_kernels_that_keep_their_time_and_those_not_measured_are_in_the_text() -> None:
    unknown = Kernels(["a", "b", "c", "d"], [np.nan] * 4, [np.nan] * 4, time=[1, 2, np.nan, np.nan])
    assert lines(unknown) == [
        "Projection: 4 kernels from Old to New (bf16): 3 s to 3 s, 1 times as fast",
        "kernel  before        after    faster",
        "b       2 s           2 s      stays",
        "a       1 s           1 s      stays",
        "c       not measured  unknown",
        "d       not measured  unknown",
        "2 kernels keep their time, 3 s, because a bound is unknown.",
    ]
    assert lines(unknown[[2]])[0] == "Projection: 1 kernel from Old to New (bf16): 0 s to 0 s"
    assert lines(Kernels()) == ["Projection: 0 kernels from Old to New (bf16): 0 s to 0 s"]
    nested = Kernels(["outer"], [1e14], [1e12], time=[1], self_time=[0])
    assert lines(nested)[-1] == "outer   0 s     0 s    stays"


def test_the_longest_kernels_come_first_equal_ones_in_the_order_of_the_table() -> None:
    times = [1.0 + at % 2 for at in range(60)]
    many = Kernels([f"k{at:02}" for at in range(60)], [1e14] * 60, [1e12] * 60, time=times)
    made = project(many, NEW, source=OLD)
    assert [line.split()[0] for line in repr(made).splitlines()[2:10]] == [f"k{at:02}" for at in range(1, 17, 2)]
    assert repr(made).splitlines()[10] == "… and 52 more"
    html = made._repr_html_()
    assert html.count("<tr>") == 1 + 50 + 1
    assert "and 10 more" in html


def test_a_tenth_of_a_second_above_the_roof_is_named_too() -> None:
    above = project(Kernels(["k"], [1e14], [1e12], time=[0.5]), NEW, source=OLD)
    assert above.above == 0.5
    assert above.notes[-1].startswith("Kernels above their roof (100 % of the time)")


@pytest.mark.parametrize(
    ("flops", "precision", "asked", "remark"),
    [
        (
            {"": [1e14, 1e14]},
            ["bf16", "bf16"],
            "fp8",
            "2 kernels name their own precision, so fp8 does not apply to them.",
        ),
        ({"bf16": [0.5, 0]}, None, "fp8", "1 kernel names its own precision, so fp8 does not apply to it."),
        ({"": [1e14, 1e14], "fp32": [1, 1]}, None, "fp8", None),
        ({"": [1e14, 1e14]}, ["bf16", "bf16"], "auto", None),
        ({"": [1e14, 1e14]}, ["bf16", "bf16"], None, None),
    ],
)
def test_a_precision_that_kernels_name_themselves_is_told(
    flops: Any, precision: Any, asked: str | None, remark: str | None
) -> None:
    kernels = Kernels(["a", "b"], flops, [1e12, 1e12], time=[2, 2], precision=precision)
    found = [each for each in project(kernels, NEW, source=OLD, precision=asked).remarks if "own precision" in each]
    assert found == ([] if remark is None else [remark])


def test_all_flops_of_a_class_stay_in_their_class_when_the_rest_is_recast() -> None:
    engines = Chip("engines", {"bf16": 1e14, "fp8": 2e14, "vector": 1e12}, {"HBM": 1e13})
    kernels = Kernels(["norm"], {"vector": [1e12]}, [1.0], time=[2])
    assert project(kernels, engines, source=engines, recast="fp8").by_kernel.tolist() == [2]


def test_a_kernel_without_work_on_the_chip_it_ran_on_keeps_its_time_without_a_warning() -> None:
    kernels = Kernels(["k"], [0], {"HBM": [0.0], "DRAM": [5.0]}, time=[2])
    assert project(kernels, NEW, source=OLD).by_kernel.tolist() == [2]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"clock": "1 B"}, ValueError, "^clock: 'B' is not a unit of Hz"),
        ({"clock": 0}, ValueError, "^clock must be a finite number above zero"),
        ({"precision": 3}, TypeError, "^precision must be text"),
        ({"recast": 3}, TypeError, "^recast must be text"),
        ({"at_roof": 3}, TypeError, r"^at_roof must be .*such as \[0, 3\]"),
        ({"at_roof": [1]}, ValueError, "^at_roof: 1 is not a row of the 1 kernel$"),
        ({"source": None}, ValueError, "^project needs the chip that .* they name none: give source=$"),
    ],
)
def test_a_wrong_option_is_refused_by_name(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        project(Kernels(["k"], [1], [1], time=[1]), NEW, **{"source": OLD, **options})
