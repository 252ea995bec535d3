"""The state as a value: whatever happens to a model, its state is what `change` makes of one change after the other."""

import copy
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest
import traitlets

import roofwidget as rw
from roofwidget import Chip, RooflineModel, RooflineWidget
from roofwidget.state.field import Refused, WrongFormError
from roofwidget.state.state import EMPTY, FIELDS, State, change, from_wire, stored, wire_value

SEED = int(os.environ.get("ROOFWIDGET_SEED", "20261127"))
SEQUENCES = 2_000
SEQUENCES_OF_ONE = 20
IN_TWO_THREADS = 300

SMALL = Chip("Small", {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s", "L2": "4 TB/s"})
LARGE = Chip("Large", {"bf16": "400 TFLOP/s"}, {"HBM": "2 TB/s"})
OTHER = Chip("Other", {"fp32": "1 TFLOP/s"}, {"DDR": "100 GB/s"})
KERNELS = rw.Kernels(["matmul", "copy", "opaque"], [1e12, 0, np.nan], [1e9, 8e6, np.nan], time=[0.02, 1e-5, 1e-3])
NAMED = rw.Kernels(["a", "b"], [1e9, 2e9], [1e6, 2e6], time=[1e-3, 2e-3], extra={"site": ["x", "y"]})
PREFILL = rw.chain([("scale", 1), ("shift", 1), ("clip", 1)], elements=1_000)
DECODE = rw.chain([("load", 1), ("store", 2)], elements=10)

# Values that are given to traits. Some fit only some states, and some fit none.
VALUES: Mapping[str, tuple[Any, ...]] = {
    "chips": ([SMALL, LARGE], [LARGE, OTHER], [], [OTHER], ["v5p", SMALL], [SMALL, SMALL], "no such chip"),
    "added_chips": ([], ["v6e"], ["v5p", "v6e"], ["none"]),
    "shown": (["small"], ["large", "small"], [], ["other"], 5),
    "focus_chip": ("small", "LARGE", "other", "tpu-v6e", "none", 3),
    "precision": ("auto", "bf16", "fp8", "fp32", "fp3", None),
    "memory": ("main", "all", "hbm", "L2", "DDR", "L9"),
    "peak_flops": (1e15, "2 PFLOP/s", 100e12, -1, "fast"),
    "bandwidth": (5e12, "1 TB/s", 0, float("nan")),
    "ceilings": (None, [], ["fp8"], ["bf16"], ["no FMA"]),
    "exposed_comm": (0, 0.25, 1, "much"),
    "launch_overhead": (0, "2 us", -1),
    "graph": (None, PREFILL, DECODE, 5),
    "graphs": ({}, {"prefill": PREFILL, "decode": DECODE}, {"decode": DECODE}, {"a": PREFILL, "b": PREFILL}),
    "phase": ("", "prefill", "decode", "none"),
    "dims": ({}, {"n": 7}, {"none": 3}, 4),
    "convention": ("", "torch", "textbook", "none"),
    "dtype": (None, "fp8", "fp32", "none"),
    "partition": (None, [[0, 1], [2]], [[0], [1]], [[0, 1, 2]], [["scale"], ["shift", "clip"]], [[0, 2], [1]], 5),
    "kernels": (KERNELS, NAMED, [("one", 1e9, 1e6, 1e-3)], [], 5),
    "baseline": (None, KERNELS, 5),
    "rules": ({}, {"opaque": '"opaque" = { flops = 7 }'}, {"a": '"a*" = { bytes = 5 }'}, {"a": "x = 1"}, 5),
    "typed_work": ({}, {2: {"flops": 1e9}}, {0: {"bytes": 1}}, {9: {"flops": 1}}, 5),
    "selected": ([], [0], [1, 0], [2], [9], ["a"]),
    "hovered": (None, 0, 2, 9, "a"),
    "at_roof": ([], [1], [9]),
    "moves": ({}, {0: {"bytes": 0.5}}, {1: {"time": 2.0}}, {9: {"bytes": 2.0}}, {0: {"bytes": 0}}),
    "search": ("", "mat*", 5),
    "bounds": (None, ["compute"], ["HBM"], ["L2"], [], ["none"]),
    "sort_by": ("", "-time", "site", "none"),
    "columns": (None, ["name", "time"], ["site"], ["none"]),
    "colour_by": ("category", "time", "site", "none"),
    "view": ("roofline", "time", "none"),
    "time_scale": ("log", "linear"),
    "zoom": (None, (1, 10, 1, 10), (0, 1, 0, 1), (1, 2)),
    "step": (0, 1, 2, 9),
    "snap": ({}, {"bandwidth": ["1 TB/s", "3 TB/s"]}, {"bandwidth": []}),
    "ranges": ({}, {"bandwidth": ("2 TB/s", "4 TB/s")}, {"bandwidth": ("5 TB/s", "9 TB/s")}, {"bandwidth": (2, 1)}),
    "title": ("", "held"),
    "presentation": (True, False, 1),
}
REFUSALS = (Refused, WrongFormError)
Act = Callable[[RooflineWidget], None]
Fold = Callable[[State], State]


def made(drawn: Random) -> RooflineWidget:
    widget = RooflineWidget(
        [SMALL, LARGE], **drawn.choice(({"kernels": KERNELS}, {"graphs": {"prefill": PREFILL, "decode": DECODE}}))
    )
    steps: list[Any] = [
        "start",
        ("faster", {"bandwidth": "3 TB/s"}),
        ("in time", {"view": "time", "focus_chip": "large"}),
    ]
    rw.Story(widget, steps)
    return widget


def after(state: State, values: Mapping[str, Any]) -> State:
    """Return the state after a change, or the same state if the change is refused."""
    try:
        return change(state, values)
    except REFUSALS:
        return state


def assigned(values: Mapping[str, Any]) -> tuple[Act, Fold]:
    [(name, value)] = values.items()

    def act(widget: RooflineWidget) -> None:
        with suppress(traitlets.TraitError):
            setattr(widget, name, value)

    return act, lambda state: after(state, values)


def held(given: list[tuple[str, Any]]) -> tuple[Act, Fold]:
    """Return a hold: what does not fit yet waits for what comes later, and what never fits takes all back."""

    def act(widget: RooflineWidget) -> None:
        with suppress(traitlets.TraitError), widget.hold_trait_notifications():
            for name, value in given:
                setattr(widget, name, value)

    def fold(before: State) -> State:
        state, waiting = before, dict[str, Any]()
        for name, value in given:
            for others in (waiting, {}) if waiting else ({},):
                try:
                    state = change(state, {**others, name: value})
                except Refused:
                    continue
                except WrongFormError:
                    return before
                waiting = {} if others else waiting
                break
            else:
                waiting = {**waiting, name: value}
        try:
            return change(state, waiting)
        except REFUSALS:
            return before

    return act, fold


def sent(values: Mapping[str, Any]) -> tuple[Act, Fold]:
    """Return an update of a page, which is taken as a whole or not at all."""

    def act(widget: RooflineWidget) -> None:
        with suppress(traitlets.TraitError):
            widget.set_state(dict(values))

    def fold(state: State) -> State:
        own = {name: value for name, value in values.items() if FIELDS[name].sync and FIELDS[name].owner != "python"}
        try:
            return change(state, {name: from_wire(name, value) for name, value in own.items()})
        except REFUSALS:
            return state

    return act, fold


def undone(states: list[State], drawn: Random) -> tuple[Act, Fold]:
    """Return the change to all values of an earlier state, by name."""
    earlier = stored(drawn.choice(states))

    def act(widget: RooflineWidget) -> None:
        widget._apply(lambda _: earlier, waits=False)

    return act, lambda state: change(state, earlier)


def some(drawn: Random, most: int, known: list[str]) -> dict[str, Any]:
    names = drawn.sample(known, drawn.randint(1, most))
    return {name: drawn.choice(VALUES[name]) for name in names}


def next_change(drawn: Random, states: list[State], known: list[str]) -> tuple[Act, Fold]:
    kind = drawn.random()
    if kind < 0.5:
        return assigned(some(drawn, 1, known))
    if kind < 0.7:
        return held([*some(drawn, 4, known).items()])
    if kind < 0.9:
        # A page does not hear that a column of the kernels before is gone; see `test_messages.py`.
        return sent({name: value for name, value in some(drawn, 3, known).items() if "site" not in str(value)})
    return undone(states, drawn)


@pytest.fixture
def _threads_switch_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_any_sequence_of_changes_ends_in_the_state_that_folding_change_gives() -> None:
    widget = None
    for number in range(SEQUENCES):
        drawn = Random(f"{SEED} {number}")  # noqa: S311 - no secret
        if widget is None or number % SEQUENCES_OF_ONE == 0:
            widget = made(drawn)
        states = [widget._state]
        # Few traits, so that what one change does meets what another needs.
        known = drawn.sample(list(VALUES), 8)
        for _ in range(5):
            act, fold = next_change(drawn, states, known)
            expected = fold(states[-1])
            act(widget)
            assert widget._state == expected, f"seed {SEED}, sequence {number}"
            states.append(widget._state)
        # Naming all values of a state gives this state, whatever came before.
        one, other = drawn.choice(states), drawn.choice(states)
        assert change(other, stored(one)) == one, f"seed {SEED}, sequence {number}"
        assert change(EMPTY, stored(one)) == one, f"seed {SEED}, sequence {number}"


@pytest.mark.usefixtures("_threads_switch_often")
def test_changes_of_two_threads_are_those_of_one_in_the_order_in_which_they_took_the_lock() -> None:
    for number in range(IN_TWO_THREADS):
        drawn = Random(f"{SEED} two {number}")  # noqa: S311 - no secret
        widget = made(drawn)
        start, swap, record = widget._state, widget._cell.swap, {}

        def recorded(before: State, then: State, make: Any) -> Any:
            names = swap(before, then, make)  # noqa: B023 - it ends with this round
            if names is not None and then is not before:
                record[id(before)] = (before, then, make)  # noqa: B023
            return names

        setattr(widget._cell, "swap", recorded)  # noqa: B010 - a method of this object alone
        known = drawn.sample(list(VALUES), 8)
        changes = [[assigned(some(drawn, 1, known)) for _ in range(8)] for _ in range(2)]

        def work(own: list[tuple[Act, Fold]]) -> None:
            for act, _ in own:
                act(widget)  # noqa: B023

        threads = [threading.Thread(target=work, args=(own,)) for own in changes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        state = start
        for _ in range(len(record)):
            _before, then, make = record[id(state)]
            assert change(state, make(state)) == then, f"seed {SEED}, sequence {number}"
            state = then
        assert widget._state is state, f"seed {SEED}, sequence {number}"
        widget.close()


def test_a_refused_change_leaves_the_very_same_state() -> None:
    state = change(EMPTY, {"chips": [SMALL], "kernels": KERNELS})
    for values in ({"selected": [0, 9]}, {"title": "x", "memory": "L9"}, {"view": 3}):
        with pytest.raises(REFUSALS):
            change(state, values)
    assert change(state, {"title": "", "selected": []}) is state


def test_a_state_does_not_change() -> None:
    with pytest.raises(AttributeError, match="a state does not change"):
        EMPTY.title = "x"
    with pytest.raises(AttributeError, match="there is no 'titel'; did you mean 'title'"):
        change(EMPTY, {"titel": "x"})


def test_what_a_page_gets_can_be_sent_back() -> None:
    widget = made(Random(1))  # noqa: S311 - no secret
    for name, field in FIELDS.items():
        if field.sync and field.owner == "shared":
            assert change(widget._state, {name: from_wire(name, wire_value(widget._state, name))}) is widget._state, (
                name
            )
    widget.close()


# -- what the traits of traitlets could not hold ---------------------------------------------------------------


def test_a_rate_belongs_to_the_chip_that_has_the_focus_when_it_is_set_in_a_hold() -> None:
    model = RooflineModel([SMALL, LARGE], KERNELS)
    with model.hold_trait_notifications():
        model.peak_flops = 1e15
        assert model.what_if == {"small": {"peak_flops": {"bf16": 1e15}}}
        model.focus_chip = "large"
        assert model.peak_flops == 400e12
        model.bandwidth = 5e12
    assert model.what_if == {"small": {"peak_flops": {"bf16": 1e15}}, "large": {"bandwidth": {"HBM": 5e12}}}


@pytest.mark.parametrize(
    "remove",
    [
        lambda model: model.unobserve_all(),
        lambda model: [model.unobserve_all(name) for name in model.trait_names()],
        lambda model: model.unobserve_all("chips"),
    ],
)
def test_what_follows_from_a_change_follows_after_unobserve_all(remove: Callable[[Any], Any]) -> None:
    model = RooflineModel([SMALL, LARGE], KERNELS, selected=[1])
    model.observe(lambda _: pytest.fail("it was removed"), "chips")
    remove(model)
    model.peak_flops = 1e15
    assert model.what_if == {"small": {"peak_flops": {"bf16": 1e15}}}
    model.chips = [LARGE]
    assert (model.shown, model.focus_chip, model.peak_flops, model.what_if) == (("large",), "large", 400e12, {})
    model.kernels = NAMED
    assert model.selected == ()


def test_a_widget_speaks_another_language_after_unobserve_all() -> None:
    widget = RooflineWidget([SMALL], KERNELS)
    before = widget._esm
    widget.unobserve_all()
    widget.locale = "de"
    assert widget._esm != before
    widget.close()


def pickled(model: RooflineModel) -> RooflineModel:
    copied: RooflineModel = pickle.loads(pickle.dumps(model))  # noqa: S301 - it was made here
    return copied


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_of_a_model_has_its_values_and_its_own_life(copied: Callable[[RooflineModel], RooflineModel]) -> None:
    model = RooflineModel([SMALL, LARGE], KERNELS, selected=[1], bandwidth="3 TB/s")
    other = copied(model)
    assert other._state == model._state
    seen: list[Any] = []
    other.observe(seen.append, ["bandwidth", "focus_chip"])
    other.bandwidth = 7e12
    other.chips = [LARGE]
    assert [one.name for one in seen] == ["bandwidth", "focus_chip", "bandwidth"]
    assert (model.bandwidth, model.focus_chip, model.selected) == (3e12, "small", (1,))


def test_an_equal_graph_is_no_news() -> None:
    model = RooflineModel([SMALL], graph=PREFILL, partition=[[0, 1], [2]], selected=[1])
    heard: list[str] = []
    model.observe(lambda change: heard.append(change.name))
    model.graph = PREFILL
    model.graphs = {"": PREFILL}
    assert (heard, model.selected, len(model.partition or ())) == ([], (1,), 2)


@pytest.mark.parametrize("made_link", [traitlets.link, traitlets.dlink])
def test_a_link_to_what_if_is_refused_before_anything_changes_and_says_what_to_link(made_link: Any) -> None:
    one, other = RooflineModel([SMALL], KERNELS, bandwidth="3 TB/s"), RooflineModel([SMALL], KERNELS)
    with pytest.raises(traitlets.TraitError, match="what_if is read-only: set or link peak_flops and bandwidth"):
        made_link((one, "what_if"), (other, "what_if"))
    one.bandwidth = 5e12
    assert (one.bandwidth, other.bandwidth) == (5e12, 1e12)


def test_a_validator_of_a_subclass_adds_to_the_rules() -> None:
    class AtMostEight(RooflineModel):
        @traitlets.validate("bandwidth")
        def _refuse(self, proposal: Any) -> Any:
            assert self.bandwidth == proposal["value"]
            if proposal["value"] > 8e12:
                raise traitlets.TraitError("at most 8 TB/s")
            return proposal["value"]

        @traitlets.validate("shown")
        def _sorted(self, proposal: Any) -> Any:
            return [*proposal["value"], "large"]

    model = AtMostEight([SMALL, LARGE], KERNELS)
    with pytest.raises(traitlets.TraitError, match="at most 8 TB/s"):
        model.bandwidth = 9e12
    assert (model.bandwidth, model.what_if) == (1e12, {})
    model.shown = ["small"]
    assert model.shown == ("small", "large")
    with pytest.raises(traitlets.TraitError, match="none of the chips here"):
        model.shown = ["none"]


def test_a_default_of_a_subclass_counts_where_nothing_is_given() -> None:
    class Mine(RooflineModel):
        @traitlets.default("view")
        def _in_time(self) -> str:
            return "time"

    assert (Mine([SMALL]).view, Mine([SMALL], view="roofline").view) == ("time", "roofline")


def test_a_subclass_does_not_declare_a_trait_again() -> None:
    with pytest.raises(TypeError, match="Again declares view again; use @default for another default"):
        type("Again", (RooflineModel,), {"view": traitlets.Unicode("time")})
