"""Notebooks that an earlier version saved: what their widgets wrote is still understood, and still written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anywidget
import ipywidgets
import pytest

import roofwidget as rw
from roofwidget.state.messages import STAMP
from tests.saved_state import saved
from tests.saved_state.cases import CASES, LOCALES

# A page cannot set these.
PYTHON_OWNED: Final = rw.RooflineModel.class_trait_names(owner="python", sync=True)
# Rows depend on these: a page sends them before the messages that name rows.
OF_THE_GRAPH: Final = ("phase", "dims", "convention", "dtype", "partition")
# In 0.1.0 this name meant the roofs that are drawn. Now it means the share by which kernels are judged, as in `bound`.
RENAMED: Final = {"exposed_comm": "exposed_roofs"}
# The wording of texts for people may change.
WORDS: Final = ("label",)


@pytest.fixture(params=saved.PATHS, ids=saved.title)
def path(request: pytest.FixtureRequest) -> Iterator[Path]:
    yield request.param
    ipywidgets.Widget.close_all()


def own(state: dict[str, Any]) -> dict[str, Any]:
    """Return the model's part of a state, by the names and words of today.

    The part does not contain what every widget has, nor how the page finds the code, nor chips of the catalogue, whose
    figures may be corrected, nor `open_files`, whose default depends on what shows the widget.
    """
    of_any = {*anywidget.AnyWidget.class_trait_names(), "open_files"}
    named = {
        RENAMED.get(name, name): value
        for name, value in state.items()
        if name not in of_any and not name.startswith("_")
    }
    named["chips"] = [chip for chip in named["chips"] if "added" not in chip]
    if named.get("baseline"):
        verdict = named["baseline"]["verdict"]
        named["baseline"] = {
            **named["baseline"],
            "verdict": {**verdict, "values": bytes(verdict["values"]).replace(b'"equal"', b'"same"')},
        }
    return named


def made_again(path: Path, state: dict[str, Any]) -> rw.RooflineWidget:
    """Return the widget that wrote a state, made again by the code as it is now."""
    chips = [chip["id"] for chip in own(state)["chips"]]
    (made,) = (one for one in CASES[path.stem]() if [chip.id for chip in one.chips] == chips)
    return made


def differences(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield the places where something is no longer written as it was; additions are no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            if key not in now:
                yield f"{where}/{key} is gone"
            elif key not in WORDS:
                yield from differences(value, now[key], f"{where}/{key}")
    elif isinstance(before, list) and isinstance(now, (list, tuple)) and len(before) == len(now):
        for index, value in enumerate(before):
            yield from differences(value, now[index], f"{where}/{index}")
    elif before != (bytes(now) if isinstance(now, memoryview) else now):
        yield f"{where} was {before!r:.60} and is {now!r:.60}"


def test_every_trait_that_was_saved_is_still_synced(path: Path) -> None:
    for state in saved.widgets(path).values():
        # These two are not traits: anywidget's name of the class, and the stamp of the last message.
        assert set(state) - {"_anywidget_id", STAMP} <= set(rw.RooflineWidget.class_trait_names(sync=True))


def test_what_a_page_may_say_is_taken_as_it_was_saved(path: Path) -> None:
    for state in saved.widgets(path).values():
        given = made_again(path, state)
        shown = {"graphs": given.graphs} if given.graphs else {"kernels": given.kernels}
        widget = rw.RooflineWidget(given.chips, **shown, story=given.story, locale=LOCALES.get(path.stem, "en"))
        said = {name: value for name, value in own(state).items() if name not in PYTHON_OWNED}
        widget.set_state({name: state[name] for name in OF_THE_GRAPH})
        widget.set_state({name: value for name, value in own(state).items() if name not in OF_THE_GRAPH})
        assert json.loads(json.dumps(widget.get_state(said))) == said


def test_what_was_saved_is_still_written(path: Path) -> None:
    for state in saved.widgets(path).values():
        assert list(differences(own(state), own(made_again(path, state).get_state()))) == []


def test_every_trait_was_saved_at_another_value_than_its_default() -> None:
    states = [own(state) for path in saved.PATHS for state in saved.widgets(path).values()]
    plain = rw.RooflineWidget([], []).get_state()
    changed = {name for state in states for name in state if any(differences(state[name], plain[name]))}
    assert changed == {name for state in states for name in state}
    ipywidgets.Widget.close_all()


def test_only_the_text_of_the_front_end_is_left_out_and_is_found_again(path: Path) -> None:
    bare, whole = saved.read(path)["state"], saved.whole(path)["state"]
    sizes = [sum(len(text) for text in model["state"].values() if isinstance(text, str)) for model in whole.values()]
    assert 100_000 < max(sizes) < 1_000_000
    for key, model in bare.items():
        names = saved.texts(model)
        # 0.1.0 sent no words apart: they were in the script.
        assert {model["state"].pop(name, "") for name in names} <= {""}
        for name in names:
            del whole[key]["state"][name]
    assert bare == whole
