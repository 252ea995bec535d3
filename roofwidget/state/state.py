"""`State`, all that a chart shows as one immutable value, and `change`, the only way to another state."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from roofwidget.chips import Chip
from roofwidget.kernels.table import Kernels
from roofwidget.state import rates, rows, workload
from roofwidget.state.field import Derived, Field, Refused, WrongFormError, put, replace
from roofwidget.state.lesson import Lesson
from roofwidget.state.rates import Rates
from roofwidget.state.rows import Rows
from roofwidget.state.view import View
from roofwidget.state.workload import Workload
from roofwidget.support.did_you_mean import did_you_mean

if TYPE_CHECKING:
    from roofwidget.workloads import Graph
    from roofwidget.workloads.partition import Partition


class Memory:
    """What rules remember. No trait shows it."""

    left: Field[Mapping[str, tuple[Graph, Partition]]] = Field(None, MappingProxyType, MappingProxyType({}))
    """The graph and the last partition of each phase that was left."""
    former_columns = Field[frozenset[str]](None, frozenset, frozenset())
    """The columns of a file's own that the kernels before the present ones had."""


_SLICES: Final = (Lesson, Workload, Rates, Rows, View, Memory)
# Named values are set in this order, and what follows from each is set before the next. So a named value replaces what
# follows from those above it.
FIELDS: Final = MappingProxyType(
    {name: field for one in _SLICES for name, field in vars(one).items() if isinstance(field, Field)}
)
"""Every value of a state by its name, in the order in which values take effect."""
TRAITS: Final = MappingProxyType({n: field for n, field in FIELDS.items() if field.owner})
"""The fields that are traits of a model."""
_ORDER: Final = tuple(FIELDS.items())
_PLACES: Final = {name: place for place, name in enumerate(FIELDS)}
_FOLLOWING: Final = [place for place, (_, field) in enumerate(_ORDER) if field.follow is not None]
_TRIGGERS: Final = {name: (field.of or name, *field.also) for name, field in FIELDS.items()}
_VIEWS: Final = tuple(name for name, field in FIELDS.items() if field.of)
_NAMED: Final = {name: field.named for name, field in FIELDS.items() if field.named is not None}
_STORED: Final = tuple(name for name, field in FIELDS.items() if not field.of)


_OF_KERNELS: Final = ("kernels", "partition", "dims", "chips", "added_chips", "focus_chip")


class State(Lesson, Workload, Rates, Rows, View, Memory):
    """All that a chart shows. Only `change` makes one."""

    __slots__ = ("known",)
    # The fields are in `__dict__`. What was computed from them is apart, in `known`.
    if TYPE_CHECKING:
        known: dict[str, Any]
        dependants: Mapping[str, tuple[str, ...]]

    counted_graph: Derived[Graph | None] = Derived(workload.counted_graph, "graphs", "phase", "convention", "dtype")
    plotted: Derived[Kernels] = Derived(workload.plotted, *_OF_KERNELS)
    ruled: Derived[Kernels] = Derived(rows.ruled, *_OF_KERNELS, "rules")
    shown_kernels: Derived[Kernels] = Derived(rows.shown_kernels, *_OF_KERNELS, "rules", "typed_work")
    shared_precision: Derived[str] = Derived(rates.shared_precision, *_OF_KERNELS, "rules")
    all_chips: Derived[tuple[Chip, ...]] = Derived(rates.all_chips, "chips", "added_chips")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a state does not change; change(state, {{'{name}': …}}) returns another")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, _memo: Any) -> State:
        return self

    def __reduce__(self) -> Any:
        return _restored, ({name: _without_proxies(value) for name, value in stored(self).items()},)


_SOURCES: Final = {
    **{name: one.sources for name, one in vars(State).items() if isinstance(one, Derived)},
    **{name: (field.of, *field.sources) for name, field in FIELDS.items() if field.of},
}


class _Draft(State):
    """The state so far, inside one `change`."""

    __slots__ = ()

    dependants: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {name: tuple(one for one, sources in _SOURCES.items() if name in sources) for name in _STORED}
    )
    """What is computed from each field."""


def stored(state: State) -> dict[str, Any]:
    """Return the values from which all others follow. `change` of any state to these values is this state."""
    return {**vars(state), **{name: named(state) for name, named in _NAMED.items()}}


def _made(kind: type[State], values: Mapping[str, Any], known: dict[str, Any] | None = None) -> State:
    made = object.__new__(kind)
    object.__setattr__(made, "known", {} if known is None else known)
    vars(made).update(values)
    return made


def _restored(values: Mapping[str, Any]) -> State:
    return change(EMPTY, values)


def _without_proxies(value: Any) -> Any:
    """Return a value that can be pickled."""
    if isinstance(value, MappingProxyType):
        return {key: _without_proxies(one) for key, one in value.items()}
    return value


EMPTY: Final = _made(State, {name: FIELDS[name].default for name in _STORED})
"""The state of a chart without chips and kernels."""


def change(state: State, named: Mapping[str, Any]) -> State:
    """Return the state with the named values and all that follows from them. If nothing changes, return `state` itself.

    Raises
    ------
    WrongFormError
        If a value has another form than its field takes.
    Refused
        If a value does not fit the others.
    AttributeError
        If there is no such field.
    """
    old = vars(state)
    draft = _made(_Draft, old, dict(state.known))
    values = vars(draft)
    given = {name: _formed(name, value, state) for name, value in named.items()}
    further: Mapping[str, Any] = {}
    wanted: Mapping[str, Any] = given
    due = sorted({*_FOLLOWING, *map(_PLACES.__getitem__, given)})
    while due:
        name, field = _ORDER[due.pop(0)]
        try:
            is_named = name in given or name in further
            if name in given:
                _set(draft, field, given[name])
            elif is_named:
                _set(draft, field, _formed(name, from_wire(name, further[name]), state))
            if field.follow is not None and (is_named or _has_changed(values, old, _TRIGGERS[name])):
                more = field.follow(draft, state, wanted)
                if more:
                    # The step of a story is one of the first fields: what it sets comes later.
                    further = _allowed(more, draft.step)
                    wanted = {**further, **given}
                    due = sorted({*due, *map(_PLACES.__getitem__, more)})
        except (Refused, WrongFormError) as error:
            if name in further and name not in given:
                raise Refused(f"step {draft.step}: {error}; the model has changed, so make the story again") from None
            raise
    if all(value is old[name] for name, value in values.items()):
        return state
    return _made(State, values, draft.known)


def _has_changed(values: Mapping[str, Any], old: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    for name in names:  # noqa: SIM110 - a generator takes twice the time, and each change of a state asks this often
        if values[name] is not old[name]:
            return True
    return False


def _formed(name: str, value: Any, state: State) -> Any:
    field = FIELDS.get(name)
    if field is None:
        raise AttributeError(f"there is no '{name}'{did_you_mean(name, TRAITS)}")
    # What is stored has passed the check. A rate may be set to the NaN that it is.
    return value if value is getattr(state, name) else field.formed(value)


def from_wire(name: str, value: Any) -> Any:
    """Return the value of a trait that a page or a story has sent.

    Raises
    ------
    WrongFormError
        If the value has another form than a page sends.
    """
    reading = TRAITS[name].from_wire
    try:
        return value if reading is None else reading(value)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):
        sent = f"a page sent {reprlib.repr(value)}, which has another form than a page sends"
        raise WrongFormError(name, sent) from None


def _set(draft: State, field: Field[Any], value: Any) -> None:
    if field.of and value is getattr(draft, field.name):
        return
    value = value if field.fit is None else field.fit(draft, value)
    if field.of:
        put(draft, field.of, value)
    elif not field.is_same(vars(draft)[field.name], value):
        replace(draft, field.name, value)


def _allowed(values: Mapping[str, Any], step: int) -> Mapping[str, Any]:
    """Return what a step sets. Raise `Refused` for what no step may set: who edits a session can edit its story."""
    for name in values:
        if name not in TRAITS or TRAITS[name].owner != "shared":
            raise Refused(f"step {step} sets '{name}', which no step may set")
    return values


def values_of_step(state: State) -> Mapping[str, Any]:
    """Return the values that the shown step of the story sets."""
    values = {} if state.story is None else _allowed(state.story.at(state.step), state.step)
    return {name: from_wire(name, value) for name, value in values.items()}


def has_changed(one: State, other: State, name: str) -> bool:
    """Return whether a value differs. `change` keeps the object of an equal value, except of a view."""
    return _differs(one, other, name) if name in _VIEWS else getattr(one, name) is not getattr(other, name)


def differing(one: State, other: State) -> list[str]:
    """Return the names of the values that differ, in the order of `FIELDS`."""
    if one is other:
        return []
    a, b = vars(one), vars(other)
    found = [name for name, value in a.items() if value is not b[name]]
    found += [name for name in _VIEWS if _differs(one, other, name)]
    return sorted(found, key=_PLACES.__getitem__)


def _differs(one: State, other: State, name: str) -> bool:
    a, b = getattr(one, name), getattr(other, name)
    return a is not b and a != b


def session_value(state: State, name: str) -> Any:
    """Return the value of a trait as a session has it: as pages get it, and fit for any other kernels."""
    field = TRAITS[name]
    return wire_value(state, name) if field.named is None else _on_wire(field, field.named(state))


def wire_value(state: State, name: str) -> Any:
    """Return the value of a trait as pages get it."""
    field = TRAITS[name]
    return _on_wire(field, getattr(state, name)) if field.wire_of is None else field.wire_of(state)


def _on_wire(field: Field[Any], value: Any) -> Any:
    return value if field.to_wire is None else field.to_wire(value)
