"""Hostile messages of a page: values of traits, custom messages and requests."""

from __future__ import annotations

import copy
import functools
import json
import math
from collections.abc import Mapping
from random import Random
from typing import Any, Final

import ipywidgets
from traitlets import TraitError

import roofwidget as rw
from roofwidget.state import messages, requests
from tests.fuzz import mutate, profiles
from tests.fuzz.subject import Case, Subject, with_story
from tests.saved_state.cases import CASES

_OTHER_NAMES: Final = (
    *("__class__", "_esm", "_css", "_code", "comm", "keys", "_trait_values", "layout", "tooltip", "tabbable", "_sync"),
    *("_view_count", "_model_name", "", "x" * 10_000, "\ud800", "close", "log", "_dom_classes", "style", "_messages"),
)
_OTHERS: Final[tuple[Any, ...]] = (
    *("IPY_MODEL_", "IPY_MODEL_" + "0" * 32, b"\0" * 8, b"abc", [[0] * 3] * 3, list(range(3000))),
    *({"small": {"peak_flops": {"bf16": 1e15}}}, {"0": {"flops": 1e9}}, [1e-3, 1e3, 1e9, 1e15], [0, 0, 0, 0]),
)


def _widgets() -> list[Any]:
    """Return the functions that make the widgets which get the messages."""
    return [functools.partial(lambda make: make()[0], make) for make in CASES.values()] + [_lesson]


def _lesson() -> rw.RooflineWidget:
    widget = rw.RooflineWidget(["v5p", "v6e"], [("a", 1e9, 1e6, 1e-3)], open_files="folder")
    with_story(widget)
    return widget


@functools.cache
def _states() -> list[dict[str, Any]]:
    """Return what each of the widgets sends to a page."""
    found = [{name: part for name, part in make().get_state().items() if _is_plain(part)} for make in _widgets()]
    ipywidgets.Widget.close_all()
    return found


def _is_plain(part: object) -> bool:
    if isinstance(part, Mapping):
        return all(map(_is_plain, part.values()))
    if isinstance(part, (list, tuple)):
        return all(map(_is_plain, part))
    return part is None or isinstance(part, (str, int, float))


def _draw(chance: Random) -> Case:
    which = chance.randrange(len(_widgets()))
    state = _states()[which]
    sent = [_message(chance, state) for _ in range(chance.choice((1, 1, 2, 3)))]
    return Case(" ".join(f"{way} {given!s:.60}" for way, given, _ in sent), (which, sent), len(repr(sent)))


def _message(chance: Random, state: Mapping[str, Any]) -> tuple[str, Any, list[Any]]:
    kind = chance.random()
    if kind < 0.5:
        return "set_state", _values(chance, state), []
    if kind < 0.75:
        content: dict[str, Any] = {"kind": messages.KIND, "page": "abc", "number": chance.randrange(1, 4)}
        content |= {"values": _values(chance, state)} if chance.random() < 0.6 else {}
        content |= {"changes": _values(chance, state)} if chance.random() < 0.5 else {}
        content |= {"ask": chance.sample([*state, *_OTHER_NAMES], 2)} if chance.random() < 0.3 else {}
    else:
        data = chance.choice((b"name,flops,bytes,time\na,1,2,3\n", b"", profiles._made_up(chance)[1]))
        content = {
            "kind": requests.KIND,
            "page": "abc",
            "number": chance.randrange(1, 4),
            "ask": chance.choice(("catalogue", "part", "part", "show", "cancel", "example", "swap", "stop", "save")),
        }
        if content["ask"] == "part":
            content |= {"name": "a.csv", "size": len(data), "offset": 0}
        if content["ask"] == "save":
            content |= {"name": chance.choice(("svg", "json", *mutate.TEXTS)), "style": chance.choice(mutate.TEXTS)}
        if content["ask"] == "show":
            content |= {"path": chance.choice((*mutate.TEXTS, ".", "Makefile", "tests", "README.md", "/dev/zero", "~"))}
        content |= {"compare": True} if chance.random() < 0.2 else {}
        if chance.random() < 0.5:
            return "custom", mutate.changed(content, chance), [memoryview(data)]
        return "custom", content, [data]
    if chance.random() < 0.3:
        content = mutate.changed(content, chance)
    return "custom", content, []


def _values(chance: Random, state: Mapping[str, Any]) -> dict[str, Any]:
    names = list(state)
    found = {}
    for _ in range(chance.choice((1, 1, 2, 6))):
        name = chance.choice(_OTHER_NAMES) if chance.random() < 0.1 else chance.choice(names)
        kind = chance.random()
        if kind < 0.4 and name in state:
            found[name] = mutate.changed([state[name]], chance, [state[other] for other in names])
            found[name] = found[name][0] if isinstance(found[name], list) and found[name] else found[name]
        elif kind < 0.5:
            found[name] = copy.deepcopy(state[chance.choice(names)])
        elif kind < 0.6:
            found[name] = chance.choice(_OTHERS)
        elif kind < 0.62:
            found[name] = _nested(chance.choice((7, 9, 100, 400)))
        else:
            found[name] = mutate.value(chance)
    return found


def _nested(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = {"a": found} if depth % 2 else [found]
    return found


def _use(case: Case) -> None:
    which, sent = case.given
    widget = _widgets()[which]()
    try:
        for way, given, buffers in sent:
            before = _sent(widget)
            try:
                if way == "set_state":
                    widget.set_state(given)
                else:
                    widget._handle_custom_msg(given, buffers)
            except (TraitError, ValueError):
                # Other values of the same custom message still apply.
                if way == "set_state":
                    assert _sent(widget) == before, "a refused message changed the state"
                if given is sent[-1][1]:
                    raise
            _sent(widget)
    finally:
        ipywidgets.Widget.close_all()


def _sent(widget: rw.RooflineWidget) -> str:
    """Return the state as a page gets it. JSON must be able to hold it."""
    state = {name: value for name, value in widget.get_state().items() if name not in {"_sync", "layout"}}
    text = json.dumps(_without_bytes(state), allow_nan=False, ensure_ascii=False)
    text.encode()
    return text


def _without_bytes(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_bytes(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_bytes(part) for part in value]
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    assert not isinstance(value, float) or math.isfinite(value)
    return value


MESSAGES: Final = Subject("messages of a page", _draw, _use, (TraitError, ValueError))
