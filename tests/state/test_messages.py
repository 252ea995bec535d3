"""How pages and Python agree: what is answered, what a page's message changes, and what a lost one leaves."""

from __future__ import annotations

import contextlib
import copy
import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from traitlets import TraitError

import roofwidget as rw
from roofwidget import Chip, RooflineWidget
from roofwidget.state.messages import applied
from roofwidget.state.state import TRAITS

SMALL = Chip("Small", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12, "L2": None})
LARGE = Chip("Large", {"bf16": 400e12}, {"HBM": 2e12})
KERNELS = [("matmul", 4.3e9, 1.2e7, 31e-6), ("copy", 0, 8e6), ("opaque", None, None)]


def plain(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state as a page reads it."""
    read: dict[str, Any] = json.loads(json.dumps(state))
    return read


class Page:
    """A page that sees what a widget sends, and sends messages of its own."""

    def __init__(self, widget: RooflineWidget, monkeypatch: pytest.MonkeyPatch, name: str = "page") -> None:
        self.widget = widget
        self.name = name
        self.number = 0
        self.got: list[dict[str, Any]] = []
        monkeypatch.setattr(
            widget.comm, "send", lambda data, **_: self.got.append(json.loads(json.dumps(data["state"])))
        )

    def says(self, *, page: str | None = None, number: int | None = None, **content: Any) -> None:
        """Send a message. ipywidgets logs errors."""
        self.number = self.number + 1 if number is None else number
        message = {"kind": "roofwidget", "page": page or self.name, "number": self.number, **content}
        data = {"method": "custom", "content": message}
        self.widget._handle_msg({"content": {"data": data}, "buffers": []})

    def hears(self) -> list[dict[str, Any]]:
        """Return what came since the last call."""
        got, self.got = self.got, []
        return got


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    yield Page(RooflineWidget([SMALL, LARGE], KERNELS), monkeypatch)
    ipywidgets.Widget.close_all()


# -- answers ---------------------------------------------------------------------------------------------------


def test_python_answers_a_message_to_all_pages_with_the_validated_values(page: Page) -> None:
    page.says(values={"shown": ["large", "small", "large"], "view": "time"})
    answer = page.hears()[-1]
    assert answer == {"shown": ["small", "large"], "view": "time", "_sync": [1, "page", 1]}


def test_python_answers_a_refused_message_with_the_values_that_stay(
    page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    page.says(values={"memory": "L9"})
    assert page.hears() == [{"memory": "main", "_sync": [1, "page", 1]}]
    assert page.widget.memory == "main"
    assert "'L9'" in caplog.text


def test_a_refused_value_does_not_take_what_was_collected_with_it(page: Page, caplog: pytest.LogCaptureFixture) -> None:
    page.says(
        values={"memory": "L9", "view": "time", "hovered": 7, "selected": [1]},
        changes={"what_if": {"small": {"bandwidth": {"HBM": 3e12}}}},
    )
    answer = {"memory": "main", "view": "time", "selected": [1], "what_if": {"small": {"bandwidth": {"HBM": 3e12}}}}
    assert page.hears()[-1] == {**answer, "_sync": [1, "page", 1]}
    assert "'L9'" in caplog.text


class RatesSetMeanwhile(RooflineWidget):
    """Another thread sets a rate while the first message of a page is checked."""

    other: threading.Thread | None = None

    @traitlets.validate("what_if")
    def _set_another_rate(self, proposal: Any) -> Any:
        checked = proposal["value"]
        if checked and self.other is None:
            self.other = threading.Thread(target=self.set_what_if, args=("large",), kwargs={"bandwidth": 5e12})
            self.other.start()
            # It ends now, or it waits for the lock that this thread holds.
            self.other.join(0.5)
        return checked


def test_a_rate_that_another_thread_sets_meanwhile_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    widget = RatesSetMeanwhile([SMALL, LARGE], KERNELS)
    page = Page(widget, monkeypatch)
    page.says(changes={"what_if": {"small": {"bandwidth": {"HBM": 3e12}}}})
    assert widget.other is not None
    widget.other.join()
    both = {"small": {"bandwidth": {"HBM": 3e12}}, "large": {"bandwidth": {"HBM": 5e12}}}
    assert widget.what_if == both
    assert [update["what_if"] for update in page.hears() if "what_if" in update][-1] == both


def test_a_message_that_cannot_be_merged_is_answered_too(page: Page) -> None:
    page.says(changes={"view": {"a": 1}, "kernels": {"n": 5}})
    assert page.hears() == [{"view": "roofline", "_sync": [1, "page", 1]}]


def test_a_value_that_an_observer_corrects_is_answered_as_it_is_then(page: Page) -> None:
    page.widget.observe(lambda _: setattr(page.widget, "time_share", 0.5), "time_share")
    page.says(values={"time_share": 0.7})
    assert page.hears()[-1] == {"time_share": 0.5, "_sync": [2, "page", 1]}


def test_an_observer_that_raises_leaves_no_other_trait_of_the_message_unnoticed(
    page: Page, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    page.widget.observe(lambda _: 1 / 0, "shown")
    page.widget.observe(lambda change: heard.append(change["name"]), ["bandwidth", "view"])
    page.says(values={"shown": ["large"], "focus_chip": "large", "view": "time"})
    assert (page.widget.bandwidth, sorted(heard)) == (2e12, ["bandwidth", "view"])
    assert page.hears()[-1]["focus_chip"] == "large"
    assert "division by zero" in caplog.text


def test_an_observer_that_exits_ends_neither_the_kernel_nor_the_answers(
    page: Page, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    page.widget.observe(lambda _: sys.exit(), "time_share")
    page.says(values={"time_share": 0.7})
    assert page.hears()[-1] == {"time_share": 0.7, "_sync": [1, "page", 1]}
    assert "an observer of the widget called sys.exit()" in caplog.text + capsys.readouterr().err
    page.says(values={"view": "time"})
    assert page.widget.view == "time"


def test_what_the_pointer_hovers_is_taken_without_a_value_in_the_answer(page: Page) -> None:
    page.says(values={"hovered": 1})
    assert page.widget.hovered == 1
    assert page.hears() == [{"_sync": [1, "page", 1]}]


def test_a_plain_update_of_ipywidgets_is_answered_too(page: Page) -> None:
    page.widget.set_state({"focus_chip": "large"})
    assert page.hears()[-1] == {"focus_chip": "large", "_sync": [1, "", 0]}
    with pytest.raises(TraitError):
        page.widget.set_state({"focus_chip": "none"})
    assert page.hears() == [{"focus_chip": "large", "_sync": [2, "", 0]}]


def test_a_change_by_python_names_no_page_and_counts_on(page: Page) -> None:
    page.widget.view = "time"
    page.says(values={"view": "roofline"})
    page.widget.view = "time"
    assert [sent["_sync"] for sent in page.hears()] == [[1, "", 0], [2, "page", 1], [3, "", 0]]
    assert page.widget.get_state()["_sync"] == [3, "", -1]


def test_what_a_message_changes_besides_is_sent_as_caused_by_its_page(page: Page) -> None:
    page.says(values={"shown": ["large"]})
    focus, answer = page.hears()
    assert focus == {"focus_chip": "large", "_sync": [1, "page", 0]}
    assert answer == {"shown": ["large"], "_sync": [2, "page", 1]}


# -- lost and repeated messages --------------------------------------------------------------------------------


def test_a_message_that_comes_again_is_answered_and_not_applied_again(page: Page) -> None:
    page.says(values={"view": "time"})
    page.widget.view = "roofline"
    page.hears()
    page.says(number=1, values={"view": "time"})
    assert page.hears() == [{"view": "roofline", "_sync": [3, "page", 1]}]


def test_each_page_counts_for_itself(page: Page) -> None:
    page.says(values={"view": "time"})
    page.says(page="other", number=1, values={"view": "roofline"})
    assert page.hears()[-1] == {"view": "roofline", "_sync": [2, "other", 1]}


def test_a_page_that_asks_gets_the_shared_traits_that_it_names_and_no_other(page: Page) -> None:
    page.says(ask=["view", "zoom", "kernels", "chips", "_esm", "nonsense"])
    assert page.hears() == [{"view": "roofline", "zoom": None, "_sync": [1, "page", 1]}]


@pytest.mark.parametrize(
    "content",
    [
        {"page": ""},
        {"page": 7},
        {"page": "x" * 100},
        {"number": 0},
        {"number": True},
        {"number": "1"},
        {"values": [1]},
        {"changes": {"what_if": 5}},
        {"ask": "view"},
        {"ask": [["view"]]},
    ],
)
def test_a_message_of_another_form_changes_nothing_and_says_so(
    page: Page, caplog: pytest.LogCaptureFixture, content: dict[str, Any]
) -> None:
    message = {"kind": "roofwidget", "page": "page", "number": 1, "values": {"view": "time"}, **content}
    page.widget._handle_msg({"content": {"data": {"method": "custom", "content": message}}, "buffers": []})
    assert "a page sent a message" in caplog.text
    assert page.widget.view == "roofline"
    assert page.hears() == []


def test_custom_messages_of_others_still_reach_those_who_listen(page: Page) -> None:
    heard: list[object] = []
    page.widget.on_msg(lambda _widget, content, _buffers: heard.append(content))
    page.widget._handle_msg({"content": {"data": {"method": "custom", "content": {"kind": "other"}}}, "buffers": []})
    page.says(values={"view": "time"})
    assert heard == [{"kind": "other"}]


# -- merging ---------------------------------------------------------------------------------------------------


def test_what_ifs_of_two_pages_merge_by_chip_and_quantity(page: Page) -> None:
    page.says(changes={"what_if": {"small": {"bandwidth": {"HBM": 3e12}}}})
    page.says(page="other", number=1, changes={"what_if": {"small": {"peak_flops": {"bf16": 1e14 + 1}}}})
    page.says(changes={"what_if": {"large": {"bandwidth": {"HBM": 4e12}}}})
    merged = {
        "small": {"peak_flops": {"bf16": 1e14 + 1}, "bandwidth": {"HBM": 3e12}},
        "large": {"bandwidth": {"HBM": 4e12}},
    }
    assert page.widget.what_if == merged
    assert page.hears()[-1]["what_if"] == merged
    page.says(changes={"what_if": {"small": {"bandwidth": {"HBM": None}}}})
    assert page.widget.what_if["small"] == {"peak_flops": {"bf16": 1e14 + 1}}


def test_what_ifs_of_kernels_and_sizes_merge_too(page: Page) -> None:
    page.widget.moves = {0: {"bytes": 0.5}}
    page.says(changes={"moves": {"1": {"bytes": 0.25}}})
    assert page.widget.moves == {0: {"bytes": 0.5}, 1: {"bytes": 0.25}}
    page.says(changes={"kernels": {"n": 5}, "view": {"a": 1}})
    assert (len(page.widget.kernels), page.widget.view) == (3, "roofline")


LEAVES = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 3), min_size=1, max_size=3)
NESTED = st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=3)
CHANGES = st.dictionaries(
    st.sampled_from("abc"),
    st.dictionaries(st.sampled_from("xyz"), st.none() | st.integers(0, 3), min_size=1),
    max_size=3,
)


@given(NESTED, CHANGES)
def test_changes_set_and_remove_the_keys_they_name_and_leave_no_empty_mapping(
    value: dict[str, dict[str, int]], changes: dict[str, dict[str, int | None]]
) -> None:
    flat = {(outer, inner): leaf for outer, leaves in value.items() for inner, leaf in leaves.items()}
    for outer, leaves in changes.items():
        for inner, leaf in leaves.items():
            flat.pop((outer, inner), None)
            if leaf is not None:
                flat[outer, inner] = leaf
    before = copy.deepcopy(value)
    found = applied(value, changes)
    assert value == before
    assert {(outer, inner): leaf for outer, leaves in found.items() for inner, leaf in leaves.items()} == flat
    assert all(found.values())


# -- groups and rows in one message ----------------------------------------------------------------------------


def test_a_selection_in_the_message_of_its_partition_is_kept() -> None:
    widget = RooflineWidget(["v5p"], graph=rw.chain([("scale", 1), ("shift", 1), ("clip", 1)], elements=8))
    widget.selected = [2]
    widget.set_state({"selected": [1], "at_roof": [0], "moves": {"1": {"bytes": 0.5}}, "partition": [[0, 1], [2]]})
    assert (widget.selected, widget.at_roof, dict(widget.moves)) == ((1,), (0,), {1: {"bytes": 0.5}})
    assert widget.partition is not None
    assert widget.partition.indices == ((0, 1), (2,))
    with pytest.raises(TraitError):
        # There are two rows.
        widget.set_state({"partition": [[0], [1, 2]], "selected": [2]})
    assert (widget.selected, widget.partition.indices) == ((1,), ((0, 1), (2,)))
    widget.set_state({"partition": [[0], [1, 2]]})
    assert widget.selected == ()
    widget.close()


# -- random pages ----------------------------------------------------------------------------------------------

VALUES = st.sampled_from(
    [
        ("view", "time"),
        ("view", "roofline"),
        ("memory", "HBM"),
        ("memory", "main"),
        ("memory", "L9"),
        ("selected", [1]),
        ("selected", [9]),
        ("shown", ["small"]),
        ("shown", []),
        ("focus_chip", "large"),
    ]
)
RATES = st.tuples(st.sampled_from(["small", "large"]), st.sampled_from([None, 1e12, 2e12, 3e12, -1]))
NAMES = ["view", "memory", "selected", "shown", "focus_chip", "what_if"]
EVENTS = st.lists(st.tuples(st.sampled_from(["one", "other", "Python"]), VALUES | RATES), max_size=12)


@settings(max_examples=150)
@given(EVENTS)
def test_after_any_messages_a_page_that_took_every_update_has_the_values_of_python(
    events: list[tuple[str, tuple[str, Any]]],
) -> None:
    widget = RooflineWidget([SMALL, LARGE], KERNELS)
    with pytest.MonkeyPatch.context() as patch:
        page = Page(widget, patch)
        numbers = {"one": 0, "other": 0}
        seen = plain(widget.get_state(NAMES))
        for who, (name, value) in events:
            is_rate = name in {"small", "large"}
            change = {"what_if": {name: {"bandwidth": {"HBM": value}}}}
            if who == "Python":
                with contextlib.suppress(ValueError, TraitError):
                    if is_rate:
                        widget.set_what_if(name, bandwidth=value or 5e12)
                    else:
                        setattr(widget, name, value)
                continue
            numbers[who] += 1
            content = {"changes": change} if is_rate else {"values": {name: value}}
            page.says(page=who, number=numbers[who], **content)
        got = page.hears()
        clocks = [state["_sync"][0] for state in got]
        assert clocks == list(range(1, len(got) + 1))
        for state in got:
            seen |= state
        assert {name: seen[name] for name in NAMES} == plain(widget.get_state(NAMES))
        answered = {state["_sync"][1]: state["_sync"][2] for state in got if state["_sync"][2]}
        assert answered == {who: number for who, number in numbers.items() if number}
    widget.close()


def test_a_value_that_a_subclass_refuses_does_not_stay() -> None:
    class Strict(RooflineWidget):
        @traitlets.validate("search")
        def _refuse(self, proposal: traitlets.Bunch) -> str:
            if proposal["value"] == "no":
                raise TraitError("search: not 'no'")
            return str(proposal["value"])

    widget = Strict([SMALL], KERNELS, search="yes")
    with pytest.MonkeyPatch.context() as patch:
        page = Page(widget, patch)
        page.says(values={"search": "no"})
        assert page.hears() == [{"search": "yes", "_sync": [1, "page", 1]}]
    widget.close()


seen: list[Any] = []


class ReadMeanwhile(RooflineWidget):
    """Another thread reads while a message of a page is checked."""

    @traitlets.validate("search")
    def _read_in_another_thread(self, proposal: Any) -> Any:
        reader = threading.Thread(target=lambda: seen.extend([self.partition, list(self.kernels.names)]))
        reader.start()
        reader.join()
        return proposal["value"]


def test_a_thread_that_reads_beside_a_message_sees_nothing_of_it() -> None:
    graph = rw.chain([("scale", 1), ("shift", 1), ("clip", 1)], elements=8)
    widget = ReadMeanwhile(["v5p"], graph=graph)
    seen.clear()
    widget.set_state({"partition": [[0, 1], [2]], "search": "x"})
    assert seen == [rw.Partition.unfused(graph), ["scale", "shift", "clip"]]
    assert widget.partition == rw.Partition(graph, [[0, 1], [2]])
    widget.close()


def test_updates_of_two_threads_end_with_the_last_value(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    # JupyterLab has messages of pages handled in a thread of their own while a cell runs.
    other = threading.Thread(target=lambda: setattr(page.widget, "view", "roofline"))
    read = page.widget.get_state

    def interrupted(key: Any = None) -> dict[str, Any]:
        state = read(key)
        if "view" in (key or ()) and not other.ident:
            other.start()
            # It ends now if it need not wait until the value that was read is sent.
            other.join(0.3)
        return state

    monkeypatch.setattr(page.widget, "get_state", interrupted)
    page.says(values={"view": "time"})
    other.join()
    assert [state["view"] for state in page.hears()] == ["time", "roofline"]
    assert page.widget.view == "roofline"


# -- what no page of ours sends ----------------------------------------------------------------------------------


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("top", 10**400, "a whole number beyond 1,000,000,000,000,000,000,000"),
        ("selected", [0] * 1_000_000, "1,000,000 values; at most 1,000 are taken"),
        ("at_roof", [0] * 1_001, "1,001 values"),
        ("columns", [str(number) for number in range(1_000_000)], "1,000,000 values"),
        ("exposed_roofs", [5e-324], "5e-324; its size must be from 1e-100 to 1e"),
        ("exposed_roofs", [10**400], "a whole number beyond"),
        ("zoom", [5e-324, 1e308, 1.0, 2.0], "5e-324"),
        ("search", "x" * 10_001, "a text of 10,001 characters; at most 10,000"),
        ("categories", ["x" * 1_000_000], "a text of 1,000,000 characters"),
        ("moves", {"9" * 10_001: {"bytes": 0.5}}, "a text of 10,001 characters"),
        ("dims", nested(900), "nested more than 8 levels deep"),
        ("snapshots", [0], "which has another form"),
        ("snapshots", [{}], "which has another form"),
    ],
)
def test_a_value_larger_than_any_of_a_page_is_refused_in_one_sentence(name: str, value: Any, reason: str) -> None:
    widget = RooflineWidget([SMALL], KERNELS)
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=f"a page sent .*{reason}") as refusal:
        widget.set_state({name: value})
    assert name == "snapshots" or f"a page sent {name} with" in str(refusal.value)
    assert len(str(refusal.value)) < 200
    assert getattr(widget, name) == before


@pytest.mark.parametrize("written", ["20000000000000000", "123456789012345680000", "1e+22"])
def test_a_large_rate_is_accepted_as_javascript_writes_it(written: str) -> None:
    widget = RooflineWidget([SMALL], KERNELS)
    widget.set_state({"what_if": json.loads(f'{{"small": {{"peak_flops": {{"bf16": {written}}}}}}}')})
    assert widget.peak_flops == float(written)


def test_a_row_may_be_selected_in_every_row_of_a_large_table() -> None:
    rows = list(range(2_000))
    widget = RooflineWidget([SMALL], [(f"kernel {row}", 1e9, 1e6) for row in rows])
    widget.set_state({"selected": rows})
    assert len(widget.selected) == len(rows)


@pytest.mark.parametrize("name", ["_view_module", "_view_name", "_model_module", "_dom_classes", "_esm", "chips", "x"])
def test_a_page_sets_only_what_pages_may_set(name: str) -> None:
    widget = RooflineWidget([SMALL], KERNELS)
    before = getattr(widget, name, None)
    widget.set_state({name: "x", "search": "matmul"})
    assert (getattr(widget, name, None), widget.search) == (before, "matmul")


def test_a_column_that_no_table_had_is_refused_and_one_of_the_kernels_before_is_dropped() -> None:
    kernels = rw.Kernels(["a"], [1e9], [1e6], extra={"block": ["32x4"]})
    widget = RooflineWidget([SMALL], kernels)
    with pytest.raises(TraitError, match="__class__"):
        widget.set_state({"columns": ["__class__"], "search": "matmul"})
    assert widget.search == ""
    widget.kernels = KERNELS
    widget.set_state({"columns": ["name", "block"], "search": "matmul"})
    assert (widget.columns, widget.search) == (("name",), "matmul")


def test_the_values_of_a_message_are_in_the_order_in_which_they_take_effect(page: Page) -> None:
    # A page takes one value after another: the groups of a new phase are not those of the phase before.
    names = ["zoom", "partition", "hovered", "phase", "dims", "moves", "convention", "shown", "view", "dtype"]
    page.hears()
    page.widget.send_state({*names})
    (sent,) = page.hears()
    assert [name for name in sent if name in names] == [name for name in TRAITS if name in names]
    assert list(sent).index("phase") < list(sent).index("partition")
