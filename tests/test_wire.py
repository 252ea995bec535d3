"""A measured program on the wire: kernels, an earlier run with its matches, and messages of the front end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import ipywidgets
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ipywidgets.widgets.widget import _remove_buffers

from roofwidget import Chip, Kernels, Link, Memory, RooflineModel, RooflineWidget
from roofwidget.kernels.concat import concat
from roofwidget.kernels.metadata import Activity, Communication
from roofwidget.kernels.names import shortened
from roofwidget.wire import baseline_to_wire, chips_to_wire, kernels_to_wire, text_to_wire

SMALL: Final = Chip("Small", {"bf16": 1e14}, {"HBM": 1e12, "L2": 1e13})
LONG: Final = "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float>>(int, float*)"


@pytest.fixture
def step() -> Kernels:
    names = ["matmul", "copy.1", "infeed.2", "opaque", "quad"]
    return Kernels(names, [1] * 5, [1] * 5, time=[8, 3, 4, 5, np.nan], category=["dot", *[None] * 4], chip=SMALL)


@pytest.fixture(autouse=True)
def _no_widget_is_left_open() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


def brief(value: Any) -> str:
    return repr(value)[:60]


def words(column: dict[str, Any] | None, n: int) -> list[Any]:
    if column is None:
        return [None] * n
    values: list[Any] = json.loads(column["values"])
    if column["codes"] is None:
        return values if len(values) == n else values * n
    return [values[code] for code in np.frombuffer(column["codes"], "<i4")]


def floats(column: Any) -> list[float]:
    return list(np.frombuffer(column, "<f8"))


def test_messages_communication_and_activity_are_on_the_wire_only_where_they_are_known() -> None:
    bare = kernels_to_wire(Kernels(["a"], [1], [1], time=[1], extra={"message size (B)": [8.0]}))
    assert not {"messages", "communication", "activity"} & bare.keys()
    columns = {"collective": ["all-reduce"] * 2 + [None], "message size (B)": [8e6, 8e6, 1], "ranks": [2, 2, 1]}
    told = Communication(time=5.0, other=8.0, hidden=1.0)
    busy = Activity(busy=9.0, idle=4.0, added=13.0, gap=3.0, gap_start=0.5)
    kernels = Kernels(["a", "b", "c"], [0] * 3, [1] * 3, time=[1, 4, 8], extra=columns, communication=told)
    sent = kernels_to_wire(kernels.replace(activity=busy))
    assert sent["activity"] == {"busy": 9.0, "idle": 4.0, "added": 13.0, "gap": 3.0, "gap_start": 0.5}
    assert sent["communication"] == {"time": 5.0, "other": 8.0, "hidden": 1.0}
    messages = sent["messages"]
    assert words(messages["kind"], 1) == ["all-reduce"]
    assert words(messages["group"], 1) == [None]
    assert "series" not in messages
    runs = concat({"before": kernels, "after": kernels}).replace(series=True)
    assert words(kernels_to_wire(runs)["messages"]["series"], 2) == ["before", "after"]
    found = {name: floats(messages[name]) for name in ("size", "ranks", "count", "time", "fastest", "waiting")}
    assert found == {"size": [8e6], "ranks": [2], "count": [2], "time": [5], "fastest": [1], "waiting": [3]}


def test_the_instruction_roofline_is_on_the_wire_only_with_counts_of_instructions() -> None:
    chip = Chip(
        *("V100", {"fp32": 15.7e12}, {"HBM": 828.8e9, "L1": 14e12}),
        vendor="NVIDIA",
        family="Volta",
        units="80 SM",
        clock=1.53e9,
    )
    counts = {"warp instructions": [4e9, np.nan], "HBM transactions": [1e8, np.nan], "L1 transactions": [0, np.nan]}
    access = {"global memory instructions": [2e8, np.nan], "global memory transactions": [8e8, np.nan]}
    table = Kernels(["a", "b"], [0, 1], [1, 1], time=[0.02, 1], extra={**counts, **access}, chip=chip)
    sent = kernels_to_wire(table)["instructions"]
    assert (sent["unit"], sent["estimate"], sent["peak"]) == ("warp", False, pytest.approx(489.6e9))
    assert [(level, round(rate / 1e9, 1)) for level, rate in sent["roofs"]] == [("L1", 437.5), ("HBM", 25.9)]
    assert ["stride 1, 4 B", "global", 0.25] in sent["walls"]
    assert floats(sent["rate"]) == pytest.approx([200e9, np.nan], nan_ok=True)
    assert {level: floats(column) for level, column in sent["levels"]}["HBM"] == pytest.approx(
        [40, np.nan], nan_ok=True
    )
    (_, intensity, rate), shared = sent["accesses"]
    assert (floats(intensity)[0], shared[0]) == (0.25, "shared")
    assert floats(rate)[0] == pytest.approx(1e10)
    assert words(sent["bound"], 2) == ["instructions", "unknown"]
    assert floats(sent["utilization"])[0] == pytest.approx(200 / 489.6)
    assert json.dumps({key: value for key, value in sent.items() if key in {"peak", "roofs", "walls"}}, allow_nan=False)
    for bare in ({}, {"warp instructions": [np.nan]}, {"warp instructions": ["many"]}):
        assert "instructions" not in kernels_to_wire(Kernels(["a"], [0], [1], time=[1], extra=bare, chip=chip))


def test_a_chip_has_its_links_and_no_bandwidth_where_it_is_unknown() -> None:
    links = {"NVLink": Link("NVLink", 450e9, latency=2e-6), "Fabric": Link("Fabric"), "PCIe": Link("PCIe", 64e9)}
    (sent,) = chips_to_wire([Chip("Linked", {"bf16": 1e14}, {"HBM": 1e12}, links=links)])
    assert sent["links"] == [["NVLink", 450e9, 2e-6], ["Fabric", None, None], ["PCIe", 64e9, None]]


def test_a_link_to_other_chips_comes_first_also_with_an_unknown_bandwidth() -> None:
    host, fabric = Link("PCIe", 64e9), Link("Fabric", 64e9)
    for links, names in (
        ({"PCIe": host, "Fabric": fabric}, ["Fabric", "PCIe"]),
        ({"PCIe": host, "Fabric": Link("Fabric")}, ["Fabric", "PCIe"]),
        ({"PCIe": host}, ["PCIe"]),
    ):
        (sent,) = chips_to_wire([Chip("Linked", {"bf16": 1e14}, {"HBM": 1e12}, links=links)])
        assert [name for name, *_ in sent["links"]] == names


def test_a_chip_has_the_known_latencies_of_its_memories() -> None:
    memories = {"HBM": Memory("HBM", 1e12, latency=600e-9), "L2": 1e13}
    (sent, bare) = chips_to_wire([Chip("Known", {"bf16": 1e14}, memories), SMALL])
    assert sent["latencies"] == {"HBM": 600e-9}
    assert "latencies" not in bare


def test_bytes_in_flight_are_sent_where_the_file_counts_them() -> None:
    bare = kernels_to_wire(Kernels(["a"], [1], [1], extra={"grid": ["8"]}))
    assert "in_flight" not in bare
    # 4 blocks of 32 threads in 2 waves: 64 threads run at once, each with 16 bytes. Given bytes win.
    columns: dict[str, Any] = {"grid": ["4", "4", None], "block": ["32", "32", None]}
    columns |= {"waves per SM": [2.0, 2.0, np.nan], "bytes per thread": [16.0, 16.0, np.nan]}
    columns |= {"bytes in flight": [np.nan, 128.0, np.nan]}
    sent = kernels_to_wire(Kernels(list("abc"), [0] * 3, [1e6] * 3, extra=columns))
    np.testing.assert_array_equal(floats(sent["in_flight"]), [1024, 128, np.nan])


def test_reasons_are_sent_as_rules_once_each_with_the_rows_of_their_kernels() -> None:
    bare = kernels_to_wire(Kernels(["a"], [1], [1], extra={"grid": ["8"]}))
    assert "reasons" not in bare
    # Rows 0 and 2 have a tail, row 2 diverges too, and row 1 has neither.
    columns = {"waves per SM": [1.01, 4, 1.01], "full waves (%)": [50.5, 100, 50.5], "SM active (%)": [50, 97, 50]}
    columns |= {"blocks": [133, 528, 133], "threads per instruction": [32, 32, 8], "active lanes (%)": [100, 100, 25]}
    kernels = Kernels(list("abc"), [1] * 3, [1] * 3, extra=columns, read_as={"blocks": "launch__grid_size"})
    sent = kernels_to_wire(kernels)["reasons"]
    rows, rules = (np.frombuffer(sent[name], "<i4").tolist() for name in ("row", "rule"))
    assert list(zip(rows, rules, strict=True)) == [(0, 0), (2, 0), (2, 1)]
    tail, divergence = sent["rules"]
    assert (tail["columns"], tail["counters"]) == (["waves per SM", "SM active (%)"], ["launch__grid_size"])
    assert "{blocks} blocks are {waves per SM} waves" in tail["sentence"]
    assert "{blocks} Blöcke sind {waves per SM} Wellen" in tail["translations"]["de"]["sentence"]
    assert (divergence["columns"][0], divergence["counters"]) == ("threads per instruction", [])
    assert all(rule["suggestion"] and rule["source"] for rule in sent["rules"])


def test_kernels_tell_what_they_carry() -> None:
    kernels = Kernels(
        [LONG, "fusion.1", LONG],
        [1, 2, 3],
        [4, 5, 6],
        time=[3, 2, 1],
        self_time=[1, 2, 1],
        origin={"flops": "2MNK", "time": ["start", None, "start"]},
        extra={"occupancy": [0.5, np.nan, 1], "grid": ["1x1", None, "1x1"]},
        chip=SMALL,
        warnings=["Beware.", "lone \ud800"],
        source="a/trace.json",
        read_as={"format": "torch", "count": "calls"},
    )
    sent = kernels_to_wire(kernels)
    assert words(sent["short"], 3) == [
        "vectorized_elementwise_kernel<4, AUnaryFunctor<float>>",
        None,
        "vectorized_elementwise_kernel<4, AUnaryFunctor<float>>",
    ]
    assert (floats(sent["time"]), floats(sent["self_time"])) == ([3, 2, 1], [1, 2, 1])
    assert [name for name, _ in sent["extra"]] == ["occupancy", "grid"]
    np.testing.assert_array_equal(floats(sent["extra"][0][1]), [0.5, np.nan, 1])
    assert words(sent["extra"][1][1], 3) == ["1x1", None, "1x1"]
    assert [(key, words(column, 3)) for key, column in sent["origin"]] == [
        ("flops", ["2MNK", "2MNK", "2MNK"]),
        ("time", ["start", None, "start"]),
    ]
    assert (sent["warnings"], sent["source"]) == (["Beware.", "lone ?"], "a/trace.json")
    assert (sent["chip"]["id"], sent["program"]) == ("small", None)
    assert sent["read_as"]["format"] == "torch"
    assert ["count", "all", "calls"] in sent["read_as"]["fields"]
    assert ["time", "all", "start"] in sent["read_as"]["fields"]


def test_kernels_that_carry_nothing_tell_so() -> None:
    sent = kernels_to_wire(Kernels(["a"], [1], [2], time=[3]))
    assert (sent["extra"], sent["origin"], sent["warnings"], sent["source"]) == ([], [], [], "")
    assert (sent["chip"], sent["program"], "read_as" in sent) == (None, None, False)


def test_a_column_that_says_nothing_is_not_sent() -> None:
    names = ["b", "a", "b"]
    bare = kernels_to_wire(Kernels(names, [1] * 3, [2] * 3))
    silent = ("short", "precision", "category", "time", "self_time", "count", "intensity", "rate")
    assert [bare.get(name) for name in silent] == [None] * 8
    told: dict[str, Any] = {"time": [3, np.nan, 3], "self_time": [2, np.nan, 3], "count": [1, 2, 1]}
    told |= {"precision": [None, "fp8", None], "category": ["x", None, None]}
    told |= {"intensity": [np.nan, np.nan, 0.083], "rate": [np.nan, np.nan, 15.4e9]}
    told["time"][2] = told["self_time"][2] = np.nan
    full = kernels_to_wire(Kernels(["f<1>(int)", "a", "b"], [1, 1, np.nan], [2, 2, np.nan], **told))
    assert (floats(full["intensity"])[2], floats(full["rate"])[2]) == (0.083, 15.4e9)
    assert not [name for name in silent if full.get(name) is None]
    same = kernels_to_wire(Kernels(names, [1] * 3, [2] * 3, time=told["time"], self_time=told["time"]))
    assert (floats(same["time"])[0], same["self_time"]) == (3, None)


@pytest.mark.parametrize(
    ("names", "values", "codes"),
    [
        (["b", "a", "c"], b'["b","a","c"]', None),
        (["b", "b", "b"], b'["b"]', None),
        (["b"], b'["b"]', None),
        ([], b"[]", None),
        (["b", "a", "b"], b'["b","a"]', [0, 1, 0]),
        (['"\\\n', "\u540d\u524d", "\ud800"], '["\\"\\\\\\n","\u540d\u524d","?"]'.encode(), None),
    ],
    ids=brief,
)
def test_texts_are_sent_once_each_and_which_row_has_which_where_that_does_not_follow(
    names: list[str], values: bytes, codes: list[int] | None
) -> None:
    sent = kernels_to_wire(Kernels(names, [1] * len(names), [1] * len(names)))["name"]
    assert sent["values"] == values
    assert codes == (None if sent["codes"] is None else np.frombuffer(sent["codes"], "<i4").tolist())


def test_a_part_of_a_table_sends_the_words_that_it_has_as_they_appear() -> None:
    part = Kernels(list("abcdc"), [1] * 5, [1] * 5, category=list("xyzyx"))[[4, 1, 2]]
    sent = kernels_to_wire(part)
    assert (json.loads(sent["name"]["values"]), words(sent["name"], 3)) == (["c", "b"], ["c", "b", "c"])
    assert (json.loads(sent["category"]["values"]), sent["category"]["codes"]) == (["x", "y", "z"], None)


WORD: Final = st.text(st.sampled_from('ab"\\\0\n\u2028\u540d\ud800\ud83d\ude80\U0001f680'), max_size=3)
TEXT: Final = st.none() | WORD
TIMES: Final = st.just(np.nan) | st.sampled_from([0.0, 1.5, 3.0])


@st.composite
def tables(draw: st.DrawFn) -> Kernels:
    n = draw(st.integers(0, 6))

    def column(of: st.SearchStrategy[Any]) -> Any:
        return st.lists(of, min_size=n, max_size=n)

    name = st.sampled_from(["a", "f<2>(int)", "void g<int>()"]) | WORD
    told = {
        "time": column(TIMES),
        "self_time": st.none() | column(TIMES),
        "count": column(st.integers(1, 2)),
        "precision": column(st.none() | st.sampled_from(["fp8", "bf16"])),
        "category": column(TEXT),
        "origin": st.just({}) | st.fixed_dictionaries({"time": column(TEXT)}),
        "extra": st.just({}) | st.fixed_dictionaries({"size": column(TIMES)}),
    }
    return Kernels(draw(column(name)), [1] * n, [1] * n, **{key: draw(value) for key, value in told.items()})


@given(tables())
def test_what_is_sent_says_all_that_kernels_tell_of_each_row(kernels: Kernels) -> None:
    sent, n = kernels_to_wire(kernels), len(kernels)
    for field in ("name", "precision", "category"):
        told = kernels.names if field == "name" else getattr(kernels, field)
        assert words(sent[field], n) == [word if word is None else text_to_wire(word) for word in told]
    short = [mine if (mine := shortened(whole or "")) != whole else None for whole in kernels.names]
    assert words(sent["short"], n) == [word if word is None else text_to_wire(word) for word in short]
    assert [(key, words(column, n)) for key, column in sent["origin"]] == [
        (key, [word if word is None else text_to_wire(word) for word in column])
        for key, column in kernels.origin.items()
    ]
    time = [np.nan] * n if sent["time"] is None else floats(sent["time"])
    np.testing.assert_array_equal(time, kernels.time)
    np.testing.assert_array_equal(time if sent["self_time"] is None else floats(sent["self_time"]), kernels.self_time)
    np.testing.assert_array_equal([1] * n if sent["count"] is None else floats(sent["count"]), kernels.count)
    assert [name for name, _ in sent["extra"]] == list(kernels.extra)


def test_nobody_walks_over_the_names_of_many_kernels() -> None:
    sent = kernels_to_wire(Kernels([f"kernel {row}" for row in range(1000)], [1] * 1000, [1] * 1000, time=range(1000)))
    state, _, buffers = _remove_buffers({"kernels": sent})
    # Seconds, FLOPs and bytes take eight bytes each; names have quotes and commas, and brackets without a last comma.
    assert sum(memoryview(buffer).nbytes for buffer in buffers) == 3 * 8 * 1000 + (10 * 11 + 90 * 12 + 900 * 13 - 1 + 2)
    assert len(json.dumps(state)) < 300


def test_the_program_is_its_totals_and_then_its_steps() -> None:
    program = Kernels(["Total"], [3], {"HBM": [4]}, time=[5], category=["x"], extra={"rank": [0], "host": "h"})
    steps = Kernels(["1", "Average"], [1, 2], {"VMEM": [3, 4]}, time=[1, 2], self_time=[1, 1], extra={"host": [7, 8]})
    sent = kernels_to_wire(Kernels(["a"], [1], [2], program=program, steps=steps))["program"]
    assert (sent["n"], words(sent["name"], 3)) == (3, ["Total", "1", "Average"])
    assert words(sent["category"], 3) == ["program", "step", "step"]
    assert (floats(sent["time"]), floats(sent["self_time"])) == ([5, 1, 2], [5, 1, 1])
    np.testing.assert_array_equal(floats(sent["bytes"]["HBM"]), [4, np.nan, np.nan])
    np.testing.assert_array_equal(floats(sent["bytes"]["VMEM"]), [np.nan, 3, 4])
    assert [name for name, _ in sent["extra"]] == ["rank"]


def test_a_program_may_have_totals_or_steps_alone() -> None:
    steps = Kernels(["1"], [1], [2])
    assert words(kernels_to_wire(Kernels(["a"], [1], [2], steps=steps))["program"]["category"], 1) == ["step"]
    assert words(kernels_to_wire(Kernels(["a"], [1], [2], program=steps))["program"]["category"], 1) == ["program"]


def test_many_names_are_shortened_where_the_time_is() -> None:
    names = [f"void f<{row}>(int)" for row in range(1500)]
    sent = kernels_to_wire(Kernels(names, [0] * 1500, [1] * 1500, time=range(1500)))
    short = words(sent["short"], 1500)
    assert short[500:502] == ["f<500>", "f<501>"]
    assert set(short[:500]) == {None}


@pytest.mark.parametrize("time", [np.nan, 0, 2], ids=["unknown", "zero", "equal"])
def test_of_many_names_that_take_equally_long_the_first_are_shortened(time: float) -> None:
    names = [f"void f<{row}>(int)" for row in range(1500)]
    times = [time] * 1500
    times[1200] = 3
    short = words(kernels_to_wire(Kernels(names, [0] * 1500, [1] * 1500, time=times))["short"], 1500)
    assert [row for row in range(1500) if short[row]] == [*range(999), 1200]


def test_a_name_is_as_long_as_its_longest_row() -> None:
    names = [f"void f<{row % 1200}>(int)" for row in range(2400)]
    times = [2] * 1100 + [1] * 100 + [1] * 1100 + [3] * 100
    short = words(kernels_to_wire(Kernels(names, [0] * 2400, [1] * 2400, time=times))["short"], 2400)
    assert [row for row in range(1200) if short[row]] == [*range(900), *range(1100, 1200)]


def test_an_earlier_run_is_sent_with_its_matches_and_verdicts(step: Kernels) -> None:
    model = RooflineModel([SMALL], step)
    assert baseline_to_wire(model.baseline, model.kernels) is None
    model.baseline = Kernels(["copy.1", "gone", "matmul"], [1] * 3, [1] * 3, time=[5, 1, 7])
    sent = baseline_to_wire(model.baseline, model.kernels)
    assert sent is not None
    assert words(sent["kernels"]["name"], 3) == ["copy.1", "gone", "matmul"]
    assert np.frombuffer(sent["match"], "<i4").tolist() == [1, -1, 0]
    assert words(sent["verdict"], 3) == ["faster", None, "slower"]
    assert sent["per_launch"] is None


def test_an_earlier_run_is_sent_with_the_rows_whose_launches_are_compared() -> None:
    now = Kernels(["gemm", "norm"], [50e9, 1], [50e6, 1], time=[5, 1], count=[50, 1])
    model = RooflineModel([SMALL], now)
    model.baseline = Kernels(["norm", "gemm"], [1, 100e9], [1, 100e6], time=[1, 10], count=[1, 100])
    sent = baseline_to_wire(model.baseline, model.kernels)
    assert sent is not None
    assert np.frombuffer(sent["per_launch"], "<i4").tolist() == [0, 1]


def test_new_kernels_come_with_their_matches(step: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    widget = RooflineWidget([SMALL], step)
    monkeypatch.setattr(RooflineWidget, "_send", lambda _self, msg, buffers=None: sent.append({**msg, "b": buffers}))
    widget.kernels = step[::-1]
    assert [set(message["state"]) & {"kernels", "baseline"} for message in sent] == [{"kernels"}]
    widget.baseline = step
    sent.clear()
    widget.kernels = step
    both = [message for message in sent if "kernels" in message["state"]]
    assert [set(message["state"]) for message in both] == [{"kernels", "baseline"}]
    at = both[0]["buffer_paths"].index(["baseline", "match"])
    assert np.frombuffer(both[0]["b"][at], "<i4").tolist() == [0, 1, 2, 3, 4]


def test_every_trait_can_be_sent(step: Kernels) -> None:
    widget = RooflineWidget(
        [SMALL],
        step,
        search="lone \ud800",
        categories=["lone \ud800", ""],
        precisions=["\ud800"],
        columns=["extra:\ud800"],
        sort_by="-extra:\ud800",
        baseline=step,
    )
    state, _, _ = _remove_buffers(widget.get_state())
    sent = json.loads(json.dumps(state, allow_nan=False, ensure_ascii=False).encode())
    assert (sent["search"], sent["categories"], sent["precisions"]) == ("lone ?", ["lone ?", ""], ["?"])
    assert (sent["columns"], sent["sort_by"], sent["bounds"]) == (["?"], "-?", None)
    assert (sent["time_share"], sent["top"], sent["infeed"], sent["scope"]) == (1.0, 1000, True, "kernels")


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ({"search": "copy"}, ("search", "copy")),
        ({"categories": ["dot"]}, ("categories", ("dot",))),
        ({"bounds": ["HBM"]}, ("bounds", ("HBM",))),
        ({"precisions": None}, ("precisions", None)),
        ({"time_share": 0.25}, ("time_share", 0.25)),
        ({"top": None}, ("top", None)),
        ({"scope": "program"}, ("scope", "program")),
        ({"columns": ["name", "time"]}, ("columns", ("name", "time"))),
        ({"at_roof": [1]}, ("at_roof", (1,))),
        # Owned by Python.
        ({"baseline": None}, ("baseline", Kernels(["a"], [1], [2]))),
    ],
    ids=brief,
)
def test_what_the_front_end_sends_is_taken_but_for_what_is_pythons(
    step: Kernels, message: dict[str, Any], kept: tuple[str, Any]
) -> None:
    widget = RooflineWidget([SMALL], step, baseline=[("a", 1, 2)])
    widget.set_state(message)
    assert getattr(widget, kept[0]) == kept[1]


@pytest.mark.parametrize(
    ("message", "columns", "sort_by"),
    [
        ({"columns": ["name", "grid", "time"]}, ("name", "time"), "-time"),
        ({"sort_by": "-grid"}, None, "-time"),
        ({"sort_by": "", "columns": None}, None, ""),
        ({"colour_by": "grid"}, None, "-time"),
    ],
    ids=brief,
)
def test_columns_of_kernels_that_were_replaced_meanwhile_undo_nothing_else(
    step: Kernels, message: dict[str, Any], columns: tuple[str, ...] | None, sort_by: str
) -> None:
    before = Kernels(["a"], [1e9], [1e6], extra={"grid": ["4x4"]})
    widget = RooflineWidget([SMALL], before, sort_by="-time")
    widget.kernels = step
    widget.set_state({**message, "search": "copy"})
    assert (widget.columns, widget.sort_by, widget.search) == (columns, sort_by, "copy")
    assert widget.colour_by == "category"
