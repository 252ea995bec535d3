"""The work of an assignment, of a page's message, of a new model and of the import, counted the same on every machine.

A budget is what the code needs now. The floor beside it is what no code that does the same can be without. Operators
and ufuncs of numpy make no event that could be counted: `test_a_move_makes_no_column` holds their arrays.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import ipywidgets
import numpy as np
import pytest

import roofwidget as rw
from roofwidget import Chip, RooflineModel, RooflineWidget
from tests.processes import memory_below, run_python

OWN, NUMPY = (str(Path(str(package.__file__)).parent) for package in (rw, np))
# Inlined by some versions of Python.
COMPREHENSIONS = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
COPYING = frozenset(
    {"array", "ascontiguousarray", "asfortranarray", "astype", "concatenate", "copy", "flatten", "take"}
)

SMALL = Chip("Small", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12})
LARGE = Chip("Large", {"bf16": 400e12}, {"HBM": 2e12})


def records(rows: int) -> list[tuple[str, float, float, float]]:
    return [(f"kernel_{row}", 1e9 + row, 1e8 + row, 1e-3) for row in range(rows)]


# -- counting --------------------------------------------------------------------------------------------------


@dataclass
class Work:
    """What was called, and how often."""

    own: Counter[str] = field(default_factory=Counter)
    """Functions of the package."""
    numpy: Counter[str] = field(default_factory=Counter)
    """Public functions of numpy and methods of arrays that the package calls."""

    @property
    def copies(self) -> Counter[str]:
        """Those of numpy that copy an array."""
        return Counter({name: times for name, times in self.numpy.items() if name in COPYING})

    def event(self, frame: FrameType, event: str, called: Any) -> None:
        """Count an event of `sys.setprofile`."""
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        if event == "call" and file.startswith(OWN):
            self.own.update([f"{Path(file).stem}.{name}"] if name not in COMPREHENSIONS else [])
        elif event == "call" and file.startswith((NUMPY, "<__array_function__")):
            self._count_numpy(name, frame.f_back)
        elif event == "c_call":
            module = getattr(called, "__module__", None) or ""
            if module.startswith("numpy") or isinstance(getattr(called, "__self__", None), np.ndarray):
                self._count_numpy(called.__name__, frame)

    def _count_numpy(self, name: str, caller: FrameType | None) -> None:
        # What numpy calls itself differs by its version.
        if caller is not None and caller.f_code.co_filename.startswith(OWN) and not name.startswith("_"):
            self.numpy[name] += 1


def work_of(act: Callable[[], object]) -> Work:
    """Return the work of an act that was done before, so that nothing is loaded or computed for the first time."""
    act()
    work, before = Work(), sys.getprofile()
    sys.setprofile(work.event)
    try:
        act()
    finally:
        sys.setprofile(before)
    return work


def check(found: Counter[str], budget: int, what: str) -> None:
    """Fail with the largest counts if a budget is exceeded."""
    largest = ", ".join(f"{name} {times}" for name, times in found.most_common(20))
    assert found.total() <= budget, f"{what}: {found.total()} calls, and the budget is {budget}: {largest}"


def test_work_is_counted_and_a_budget_that_is_exceeded_names_what_grew() -> None:
    kernels = rw.Kernels.from_records(records(3))
    work = work_of(lambda: kernels.replace(time=[1.0, 2.0, 3.0]))
    assert work.own["table.replace"] == 1
    assert work.copies["array"] >= 1
    with pytest.raises(AssertionError, match=r"one call more: \d+ calls, and the budget is \d+: .*table.replace 1"):
        check(work.own, work.own.total() - 1, "one call more")


# -- a move ----------------------------------------------------------------------------------------------------


class Shown:
    """A widget that a page shows, and what it sends there."""

    def __init__(self, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.widget = RooflineWidget([SMALL, LARGE], records(rows))
        self.sent: list[Any] = []
        self._number = 0
        self._rates = itertools.cycle((110e12, 125e12))
        monkeypatch.setattr(self.widget.comm, "send", lambda data, **_: self.sent.append(data))

    def move(self, kind: str) -> None:
        """Move a rate to another value than before."""
        rate = next(self._rates)
        if kind == "page":
            self._number += 1
            changes = {"what_if": {"small": {"peak_flops": {"bf16": rate}}}}
            message = {"kind": "roofwidget", "page": "page", "number": self._number, "changes": changes}
            self.widget._handle_msg({"content": {"data": {"method": "custom", "content": message}}, "buffers": []})
        elif kind == "set_what_if":
            self.widget.set_what_if("small", peak_flops=rate)
        else:
            setattr(self.widget, kind, rate)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Shown]]:
    yield lambda rows: Shown(rows, monkeypatch)
    ipywidgets.Widget.close_all()


# The floor of an assignment, 9: its trait is set, the change is checked alone, checked beside the others and made, the
# state is swapped, the observers are told, and pages get one message with the value and a stamp. The floor of a
# message of a page, 12: it is also read, its sizes are checked, and it is merged with what is there. The rest is one
# state for all threads, errors that name the trait, and the values that follow.
MOVES = {
    "peak_flops": 159,  # floor 9
    "bandwidth": 167,  # floor 9
    "set_what_if": 171,  # floor 9
    "page": 187,  # floor 12
}


@pytest.mark.parametrize("kind", MOVES)
def test_the_functions_that_a_move_of_a_rate_calls(kind: str, shown: Callable[[int], Shown]) -> None:
    page = shown(1000)
    check(work_of(lambda: page.move(kind)).own, MOVES[kind], kind)


@pytest.mark.parametrize("kind", MOVES)
def test_a_move_of_a_rate_calls_nothing_of_numpy_and_copies_no_array(kind: str, shown: Callable[[int], Shown]) -> None:
    page = shown(1000)
    work = work_of(lambda: page.move(kind))
    check(work.copies, 0, f"{kind}, copies")  # floor 0
    check(work.numpy, 0, f"{kind}, numpy")  # floor 0: the page computes what it draws


@pytest.mark.parametrize("kind", MOVES)
def test_the_work_of_a_move_does_not_depend_on_the_number_of_kernels(kind: str, shown: Callable[[int], Shown]) -> None:
    few, many = shown(10), shown(2000)
    assert work_of(lambda: few.move(kind)).own == work_of(lambda: many.move(kind)).own


def test_a_move_makes_no_column(shown: Callable[[int], Shown]) -> None:
    page = shown(20_000)
    for kind in MOVES:
        page.move(kind)
        with memory_below(80_000):  # half a column; floor 0
            page.move(kind)


@pytest.mark.parametrize("kind", MOVES)
def test_a_move_of_a_rate_is_one_message(kind: str, shown: Callable[[int], Shown]) -> None:
    page = shown(1000)
    quantity, level = ("bandwidth", "HBM") if kind == "bandwidth" else ("peak_flops", "bf16")
    page.move(kind)
    assert len(page.sent) == 1  # floor 1
    value = {"what_if": {"small": {quantity: {level: 110e12}}}}
    # The floor is the value: 67 bytes, or 65. The rest are the form of a message of ipywidgets, and the stamp by which
    # a page knows the answer to its own message.
    assert len(json.dumps(value)) == (65 if kind == "bandwidth" else 67)
    assert len(json.dumps(page.sent[0])) - len(json.dumps(value)) == (76 if kind == "page" else 72)


def test_a_rate_that_is_set_to_itself_is_no_message_and_a_page_that_says_it_again_gets_its_answer(
    shown: Callable[[int], Shown],
) -> None:
    page = shown(10)
    page.widget.peak_flops = 110e12
    page.sent.clear()
    page.widget.peak_flops = 110e12
    assert page.sent == []
    page.move("page")
    assert len(page.sent) == 1


# -- a new model -----------------------------------------------------------------------------------------------


def test_the_functions_that_check_one_record() -> None:
    few, many = (work_of(partial(rw.Kernels.from_records, records(rows))).own for rows in (10, 1010))
    # Floor 2: each record is taken, and its kernel made. The rest are the four numbers of a kernel, each with its own
    # message, and the names of its keywords.
    per_record = Counter({name: times // 1000 for name, times in (many - few).items()})
    check(per_record, 9, "one record")


@pytest.mark.parametrize("rows", [10, 1000])
def test_the_functions_of_numpy_that_a_table_of_records_calls(rows: int) -> None:
    given = records(rows)
    work = work_of(lambda: rw.Kernels.from_records(given))
    check(work.numpy, 13, "numpy")  # floor 9: one column for each of five fields, and the check of four with numbers
    check(work.copies, 4, "copies")  # floor 4: FLOPs, bytes, times and counts


def test_a_model_of_a_table_has_no_work_for_each_row() -> None:
    few, many = (rw.Kernels.from_records(records(rows)) for rows in (10, 1000))
    work, more = (work_of(partial(RooflineModel, [SMALL], kernels)) for kernels in (few, many))
    assert work.own == more.own
    check(work.own, 231, "model")  # floor 9, as an assignment, for each of the six traits that are set
    check(work.numpy, 2, "numpy")  # floor 2: whether the kernels agree on a precision
    check(work.copies, 0, "copies")  # floor 0


def test_the_functions_of_numpy_that_a_widget_of_a_table_calls() -> None:
    kernels = rw.Kernels.from_records(records(1000))
    work = work_of(lambda: RooflineWidget([SMALL], kernels))
    check(work.numpy, 73, "numpy")  # floor 5: each column that a page gets becomes a buffer
    check(work.copies, 11, "copies")  # floor 0: a column of the right type is a buffer
    ipywidgets.Widget.close_all()


# -- the import ------------------------------------------------------------------------------------------------

IMPORT = """
import json, sys, anywidget, numpy
floor, opened = {*sys.modules}, []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
import roofwidget as rw
rw.RooflineWidget
added = sorted({*sys.modules} - floor)
print(json.dumps({"added": added, "opened": opened, "standard": sorted(sys.stdlib_module_names)}))
"""


# The floor is what `import anywidget, numpy` loads: none of these. With one file for each room it would be 11.
MODULES_BY_ROOM = {
    "roofwidget": 7,  # itself, bundle, face, model, units, widget, wire
    "analysis": 1,  # its name: nothing is computed before a page or a person asks
    "chips": 9,
    "export": 3,  # the engine, which draws the picture beside a widget
    "kernels": 15,  # one for the low-level columns, which sums over groups of kernels need
    "state": 16,
    "support": 12,
}


def test_the_modules_that_the_first_widget_loads() -> None:
    found = json.loads(run_python(IMPORT))
    rooms: dict[str, list[str]] = {}
    for name in found["added"]:
        package, *path = name.split(".")
        if package == "roofwidget":
            rooms.setdefault(path[0] if path and (Path(OWN) / path[0]).is_dir() else package, []).append(name)
    more = {room: names for room, names in rooms.items() if len(names) > MODULES_BY_ROOM.get(room, 0)}
    assert not more, "more modules than the budget has"
    assert {room: len(names) for room, names in rooms.items()} == MODULES_BY_ROOM
    others = {name.split(".")[0] for name in found["added"]} - {"roofwidget", *found["standard"]}
    assert others <= {"numpy"}, "a package beside anywidget and numpy"


def test_the_first_widget_reads_no_data_when_it_is_imported() -> None:
    found = json.loads(run_python(IMPORT))
    data = {Path(name).name for name in found["opened"] if not name.endswith((".py", ".pyc"))}
    # Floor 1: the list of the public names.
    assert {name for name in data if (Path(OWN) / name).exists() or list(Path(OWN).rglob(name))} == {"__init__.pyi"}
