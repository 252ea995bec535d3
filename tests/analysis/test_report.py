"""The text of a bound: notes, lines, the HTML table, and the data frame with its columns."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import roofwidget as rw
from tests.analysis.test_bound import one

WELL_TILED = rw.Kernel("Well-tiled kernel", flops=1.26e12, bytes={"HBM": 1.26e12 / 50}, time=1e-3)
GUIDE = rw.Chip("v7x (bf16)", {"bf16": 2307e12}, {"HBM": 7.2e12, "VMEM": 150e12})
ARRAYS = [
    *("flops", "measured", "compute_time", "network_time", "overhead_time", "body_time", "time", "bound_by", "regime"),
    *("balanced", "peak", "attainable", "attainable_fraction", "achieved", "utilization", "roof_fraction", "names"),
    *("peak_fraction", "headroom", "above_roof", "exposed_fraction", "energy"),
]
BY_LEVEL = ["bytes", "ai", "memory_time", "bandwidth_utilization"]


def simple() -> rw.Chip:
    return rw.Chip("chip", {"bf16": 100}, {"HBM": 10})


def linked() -> rw.Chip:
    return rw.Chip("chip", {"bf16": 100}, {"HBM": 10}, links={"ICI": 2})


def test_the_names_of_a_report_command_no_console_and_reverse_no_figure() -> None:
    bound = rw.bound(rw.Kernel("\x1b[31mred\u202e", 1e12, 1e10), simple())
    for text in (str(bound), repr(bound), bound._repr_html_()):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "\ufffd[31mred\ufffd" in str(bound)


# -- notes -------------------------------------------------------------------------------------------------------------


def test_the_well_tiled_kernel_is_above_its_roof_and_the_note_says_what_forbids_it() -> None:
    bound = rw.bound(WELL_TILED, GUIDE)
    assert bound.ai["HBM"][0] == pytest.approx(50)
    assert bound.attainable[0] == pytest.approx(360e12)
    assert bound.achieved[0] == pytest.approx(1260e12)
    assert bound.above_roof.tolist() == [True]
    assert bound.utilization[0] == pytest.approx(3.5)
    (note,) = bound.notes
    assert note == (
        "'Well-tiled kernel' is above its roof: its 25.2 GB of HBM need 3.5 ms at 7.2 TB/s, but it ran 1 ms at "
        "1.26 PFLOP/s. At that rate its intensity at HBM must be at least 175 FLOP/B, not 50 FLOP/B. So the bytes are "
        "miscounted or are those of a nearer level, or the time, a peak rate, a clock or a sparsity is not as assumed."
    )


@pytest.mark.parametrize(
    ("kernel", "options", "words"),
    [
        (rw.Kernel("k", 0, 1000, time=1.0), {}, "1 kB of HBM need 100 s at 10 B/s, but it ran 1 s. So the bytes"),
        (rw.Kernel("k", 500, 1, time=2.0), {}, "500 FLOP need 5 s at 100 FLOP/s, but it ran 2 s. So the FLOPs"),
        (
            rw.Kernel("k", 1, {"HBM": 1, "network": 8}, time=1.0),
            {},
            "8 B over the link need 4 s at 2 B/s one way, but it ran 1 s. So the bytes",
        ),
        (
            rw.Kernel("k", 1, 1, time=1.0, count=5),
            {"launch_overhead": 0.5},
            "launches need 2.5 s at 500 ms each, but it ran 1 s. So a launch costs less",
        ),
        (
            rw.Kernel("k", 100, 10, time=1.5),
            {"overlap": 0},
            "ran 1.5 s, but its resources one after the other need 2 s",
        ),
    ],
)
def test_a_note_says_which_resource_forbids_the_measured_time(kernel: rw.Kernel, options: Any, words: str) -> None:
    (note,) = rw.bound(kernel, linked(), **options).notes
    assert words in note
    assert note.startswith("'k' ")


def test_only_the_first_kernels_above_their_roof_are_explained_and_the_rest_counted() -> None:
    kernels = [(f"k{i}", 1000, 1, 5.0) for i in range(1003)]
    notes = rw.bound(kernels, simple()).notes
    assert [note[:4] for note in notes[:3]] == ["'k0'", "'k1'", "'k2'"]
    assert notes[3:] == ("1,000 more kernels are above their roof.",)
    assert rw.bound(kernels[:4], simple()).notes[3] == "1 more kernel is above its roof."


def test_of_all_levels_one_without_a_bandwidth_is_noted_and_does_not_count() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": None, "L1": None})
    kernel = rw.Kernel("k", 1, {"HBM": 10, "L2": 1e9})
    bound = rw.bound(kernel, chip, memory="all")
    assert (bound.time[0], bound.notes) == (1.0, ("c has no bandwidth for L2: its bytes do not count.",))
    assert rw.bound(kernel, chip).notes == ()


# -- how it shows itself -----------------------------------------------------------------------------------------------


def test_the_repr_is_aligned_lines_with_of_peak_beside_of_roof() -> None:
    kernels = [("matmul", 1000, 10, 40.0), ("copy", 0, 50, 40.0), ("not run", 10, 50), ("opaque", None, None)]
    assert repr(rw.bound(kernels, simple())).splitlines() == [
        "Bound: 4 kernels on chip · bf16 · HBM",
        "kernel   AI at HBM   bound time  bound by  of peak      of roof",
        "matmul   100 FLOP/B  10 s        compute   25 %         25 %",
        "copy     0 FLOP/B    5 s         HBM       0 %          12 %",
        "not run  0.2 FLOP/B  5 s         HBM       at most 2 %  not measured",
        "opaque   unknown     unknown     unknown   unknown      not measured",
    ]


def test_the_repr_tells_options_balance_and_what_is_above_the_roof() -> None:
    text = repr(one(100, 10, 0.5, simple(), overlap=0.5, exposed_comm=0.2, launch_overhead=5e-6, memory="all"))
    assert text.splitlines() == [
        "Bound: 1 kernel on chip · bf16 · all levels · 50 % overlap · 20 % exposed communication · 5 µs a launch",
        "kernel  AI at the slowest  bound time  bound by            of peak  of roof",
        "k       10 FLOP/B (HBM)    1.88 s      compute (balanced)  200 %    375 %, above it",
    ]


def test_a_long_table_shows_its_first_rows_and_counts_the_rest() -> None:
    bound = rw.bound([(f"k{i}", 1, 1) for i in range(1005)], simple())
    lines = repr(bound).splitlines()
    assert [line.split()[0] for line in lines[2:-1]] == [f"k{i}" for i in range(8)]
    assert lines[0].startswith("Bound: 1,005 kernels")
    assert lines[-1] == "… and 997 more"
    assert "… and 985 more" in bound._repr_html_()


def test_a_name_from_a_file_is_one_short_line_of_text() -> None:
    bound = rw.bound([("two\nlines \ud800" + "x" * 100, 1, 1)], simple())
    assert repr(bound).splitlines()[2].startswith("two lines ?xxx")
    assert "x… " in repr(bound)
    bound._repr_html_().encode()


def test_the_html_is_a_table_in_which_names_are_text() -> None:
    chip = rw.Chip("<i>chip</i>", {"bf16": 100}, {"HBM": 10})
    page = rw.bound([("<script>x</script> & 'co'", 1000, 1, 5.0)], chip, overlap=0.5)._repr_html_()
    assert "<script" not in page
    assert "<i>" not in page
    assert "&lt;script&gt;x&lt;/script&gt; &amp; &#x27;co&#x27;" in page
    assert "<caption>Bounds on &lt;i&gt;chip&lt;/i&gt; · bf16 · HBM · 50 % overlap</caption>" in page
    assert re.findall("<td>(.*?)</td>", page) == ["1000 FLOP/B", "10.1 s", "compute", "200 %", "201 %, above it"]
    assert page.count("<li>") == 1


def test_a_data_frame_has_a_row_for_each_kernel_and_a_column_for_each_quantity_and_level() -> None:
    chip = rw.Chip("c", {"bf16": 100}, {"HBM": 10, "L2": 50}, links={"ICI": 2.0})
    kernels = [("a", 1, {"HBM": 2, "L2": 3, "network": 4}), ("b", 5, 6, 7.0)]
    bound = rw.bound(kernels, chip)
    frame = bound.to_dataframe()
    levels = {f"{name}:{level}" for name in BY_LEVEL for level in ("HBM", "L2", "network")} - {"memory_time:network"}
    assert set(frame.columns) == {"name", *ARRAYS} - {"names"} | levels
    assert frame["name"].tolist() == ["a", "b"]
    for name in set(ARRAYS) - {"names"}:
        pd.testing.assert_series_equal(frame[name], pd.Series(getattr(bound, name), name=name))
    for column in levels:
        name, _, level = column.partition(":")
        np.testing.assert_array_equal(frame[column], getattr(bound, name)[level])


@pytest.mark.parametrize("name", ARRAYS)
def test_columns_are_read_only_and_derived_once(name: str) -> None:
    bound = one(100, {"HBM": 10, "network": 1}, 1.5, linked(), launch_overhead=1.0)
    column = getattr(bound, name)
    assert column.shape == (1,)
    assert column is getattr(bound, name)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = column[0]


@pytest.mark.parametrize("name", BY_LEVEL)
def test_columns_by_level_are_read_only(name: str) -> None:
    for column in getattr(one(100, {"HBM": 10, "network": 1}, 1.5, linked()), name).values():
        assert not column.flags.writeable


def test_a_bound_can_be_pickled() -> None:
    bound = one(100, 10, 1.5, simple())
    again = pickle.loads(pickle.dumps(bound))  # noqa: S301 - what was pickled here
    assert repr(again) == repr(bound)
    assert again.utilization.tolist() == bound.utilization.tolist()


def test_with_all_levels_the_intensity_is_that_at_the_slowest_which_is_named() -> None:
    chip = rw.Chip("Deep", {"bf16": 100e12}, {"HBM": 1e12, "L2": 10e12})
    kernels = [rw.Kernel("tiled", 1e12, {"HBM": 1e9, "L2": 5e11}), rw.Kernel("untold", 1e12, None)]
    lines = repr(rw.bound(kernels, chip, memory="all")).splitlines()
    assert "AI at the slowest" in lines[1]
    assert "2 FLOP/B (L2)" in lines[2]
    assert "unknown" in lines[3]


def test_flops_of_the_matrix_units_need_no_note_where_the_peak_is_theirs() -> None:
    chip = rw.Chip("Plain", {"bf16": 100e12}, {"HBM": 1e12})
    assert rw.bound(rw.Kernel("k", {"matmul": 1e12}, 1e9), chip).notes == ()
    assert len(rw.bound(rw.Kernel("k", {"vector": 1e12}, 1e9), chip).notes) == 1


def test_a_share_of_the_roof_that_is_not_a_hundred_percent_is_never_written_so() -> None:
    chip = rw.Chip("My chip", {"bf16": 1e14}, {"HBM": 1e12})
    seconds = {"above": 1e-3 / 1.002, "near": 1e-3 / 0.9951, "at": 1e-3, "far above": 1e-3 / 12.34}
    found = rw.bound([(name, 1e9, 1e9, time) for name, time in seconds.items()], chip)
    cells = [line.split("  ")[-1].strip() for line in repr(found).splitlines()[2:]]
    assert cells == ["100.2 %, above it", "99.5 %", "100 %", "1234 %, above it"]
