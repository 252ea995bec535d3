"""`Faced`: an object of traitlets whose traits show the state of a chart.

A trait is read from the state, and setting it makes another state by `roofwidget.state.state.change`. Then the pages
are told, in one message, and the observers. So nothing that an observer does can leave the traits in contradiction, and
`unobserve_all` removes only what a user has added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import chain
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from traitlets import (
    All,
    Bunch,
    DefaultHandler,
    HasTraits,
    TraitError,
    TraitType,
    ValidateHandler,
    directional_link,
    link,
)

from roofwidget.state.cell import Cell, Hold, Make
from roofwidget.state.field import OWNER_IN_HELP, Field, Refused, WrongFormError
from roofwidget.state.state import EMPTY, TRAITS, State, change, has_changed, stored, wire_value

# A validator that changes the model whenever it is asked would never end.
_MAX_TRIES: Final = 1000


_READ_ONLY: Final = "{} is read-only: set or link peak_flops and bandwidth, or call set_what_if and reset"


class UnfitError(TraitError):
    """A value of the right form that does not fit the other values."""


class Face(TraitType[Any, Any]):
    """A trait whose value is in the state of its owner."""

    def __init__(self, field: Field[Any]) -> None:
        told = f"{field.help} {OWNER_IN_HELP[field.owner]}" if field.owner else field.help
        super().__init__(field.default, help=told, read_only=field.is_read_only, allow_none=True)
        self.shows = field.shows or field.name
        self.tag(owner=field.owner)
        if field.sync:
            self.tag(sync=True)
            if field.owner != "python":
                # ipywidgets would send a value back before it is checked. The widget answers with the checked value.
                self.tag(echo_update=False)
        if field.to_wire is not None or field.wire_of is not None:
            self.tag(to_json=lambda _, model: wire_value(model._state, field.name))  # noqa: SLF001 - its owner

    def get(self, obj: Any, cls: Any = None) -> Any:  # noqa: ARG002 - as traitlets calls it
        """Return what the trait shows."""
        return getattr(obj._state, self.shows)  # noqa: SLF001 - its owner

    def set(self, obj: Any, value: Any) -> None:
        """Change the state of the owner."""
        obj._apply(lambda _: {self.name: value})  # noqa: SLF001 - its owner

    def __set__(self, obj: Any, value: Any) -> None:
        if self.read_only:
            raise TraitError(_READ_ONLY.format(self.name))
        self.set(obj, value)


def told(error: Refused | WrongFormError, model: object) -> TraitError:
    """Return an error of the state as users of traitlets know it."""
    if isinstance(error, WrongFormError):
        return TraitError(f"{type(model).__name__}.{error.name}: {error.reason}")
    return UnfitError(str(error))


@contextmanager
def telling(model: object) -> Iterator[None]:
    """Return a context in which errors of the state become errors of traitlets."""
    try:
        yield
    except (Refused, WrongFormError) as error:
        raise told(error, model) from None


if TYPE_CHECKING:
    from roofwidget.state.lesson import Lesson
    from roofwidget.state.rates import Rates
    from roofwidget.state.rows import Rows
    from roofwidget.state.view import View
    from roofwidget.state.workload import Workload

    class _Traits(Lesson, Workload, Rates, Rows, View, HasTraits): ...
else:
    _Traits = type(HasTraits)("_Traits", (HasTraits,), {name: Face(field) for name, field in TRAITS.items()})


class Faced(_Traits):
    """The traits of a chart, and how they follow its state."""

    _validators: Mapping[str, tuple[str, ...]] = {}
    """The methods with `validate` of subclasses, by trait. They add to the rules of the state."""
    _defaults: frozenset[str] = frozenset()
    """The traits for which subclasses have another default."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        again = [name for name in TRAITS if name in own and not isinstance(own[name], Face)]
        if again:
            raise TypeError(f"{cls.__name__} declares {', '.join(again)} again; use @default for another default")
        found = dict(cls._validators)
        for key, method in own.items():
            for name in map(str, method.trait_names) if isinstance(method, ValidateHandler) else ():
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), key)))
        cls._validators = {name: found[name] for name in TRAITS if name in found}
        cls._defaults |= {one.trait_name for one in own.values() if isinstance(one, DefaultHandler)} & TRAITS.keys()

    def setup_instance(self, *args: Any, **options: Any) -> None:
        """Give a new object the empty state. Traits may be read before the constructor."""
        self._cell = Cell(EMPTY)
        super().setup_instance(*args, **options)

    def _begin(self, makes: Iterable[Make], others: Mapping[str, Any]) -> None:
        """Make the first state and the rest of the object. Then tell the observers of subclasses."""
        names: list[str] = []
        for make in makes:
            names += self._swapped(make)
        super().__init__(**others)
        self._tell(dict.fromkeys(names))

    @property
    def _state(self) -> State:
        """The state that this thread reads."""
        return self._cell.now()

    def __getstate__(self) -> dict[str, Any]:
        found: dict[str, Any] = {**super().__getstate__(), "_cell": self._cell.state}
        found.pop("notify_change", None)  # traitlets puts a function there during a hold
        return found

    def __setstate__(self, found: dict[str, Any]) -> None:
        super().__setstate__({**found, "_cell": Cell(found["_cell"])})

    def observe(self, handler: Callable[..., Any], names: Any = All, type: Any = "change") -> None:  # noqa: A002
        """Have a function called when traits change, as in traitlets. A link that would set `what_if` is refused."""
        end = getattr(handler, "__self__", None)
        if isinstance(end, (link, directional_link)):
            ends = [end.target, end.source] if isinstance(end, link) else [end.target]
            for model, name in ends:
                if isinstance(model, Faced) and name in TRAITS and TRAITS[name].is_read_only:
                    raise TraitError(_READ_ONLY.format(name))
        super().observe(handler, names, type)

    def trait_has_value(self, name: str) -> bool:
        """Return whether a trait has a value. Those of the state always have one."""
        return name in TRAITS or super().trait_has_value(name)

    def _apply(self, make: Make, *, waits: bool = True, unsent: Iterable[str] = ()) -> None:
        """Change the state, and tell the pages and the observers now, or when the hold of this thread ends.

        Parameters
        ----------
        make
            Returns the values to set, given the state in which they are set.
        waits
            Whether values that do not fit yet wait for the end of a hold.
        unsent
            Names that pages are not told of, because they get an answer.
        """
        hold = self._cell.hold()
        if hold is None:
            self._tell(self._swapped(make), unsent)
            return
        hold.unsent.update(unsent)
        waiting = hold.waiting
        if not waits:
            hold.names.update(self._swapped(make))
            return
        if waiting:
            with suppress(UnfitError):
                hold.names.update(self._swapped(lambda state: {**waiting, **make(state)}))
                hold.waiting = {}
                return
        try:
            hold.names.update(self._swapped(make))
        except UnfitError:
            hold.waiting = {**waiting, **make(self._cell.state)}

    def _swapped(self, make: Make) -> list[str]:
        """Put the changed state in place, and return the names of what changed. No one is told."""
        for _ in range(_MAX_TRIES):
            before = self._cell.state
            after = self._changed(before, make)
            checked = self._validated(before, after, make) if self._validators else (after, make)
            names = self._cell.swap(before, *checked)
            if names is not None:
                return names
        raise RuntimeError("a validator changes the model each time that it is asked")

    def _changed(self, before: State, make: Make) -> State:
        # Not by `telling`: this runs at each step of a drag, and a context costs a tenth of it.
        try:
            return change(before, make(before))
        except (Refused, WrongFormError) as error:
            raise told(error, self) from None

    def _validated(self, before: State, after: State, make: Make) -> tuple[State, Make]:
        """Return the changed state after the validators of subclasses. They read the proposed values of all traits."""
        for name in [name for name in self._validators if has_changed(before, after, name)]:
            for method in self._validators[name]:
                proposal = Bunch(trait=getattr(type(self), name), value=getattr(after, name), owner=self)
                try:
                    with self._cell.seeing(after):
                        value = getattr(self, method)(proposal)
                except TraitError as error:
                    raise UnfitError(str(error)) from error
                if value is not proposal.value:
                    make = _with(make, name, value)
                    after = self._changed(before, make)
        return after, make

    def hold_trait_notifications(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Return a context whose changes are one transaction.

        Each assignment takes effect at once. Values that are only valid together wait for each other. Observers are
        told at the end, once. A `TraitError` takes all changes of the context back.
        """
        return self._holding(super().hold_trait_notifications())

    @contextmanager
    def _holding(self, others: AbstractContextManager[None]) -> Iterator[None]:
        """Return the context. `others` is traitlets' own, for traits that are not in the state."""
        cell, me = self._cell, get_ident()
        if me in cell.holds:
            yield
            return
        with cell.lock:
            # traitlets' own works in one thread at a time.
            others = nullcontext() if cell.holds else others
            hold = cell.holds[me] = Hold(cell.state)
        try:
            with others:
                yield
                # What still does not fit is refused now.
                hold.names.update(self._swapped(lambda _: hold.waiting))
        except TraitError:
            hold.names.update(self._taken_back(hold))
            raise
        finally:
            with cell.lock:
                del cell.holds[me]
            self._tell([name for name in TRAITS if name in hold.names], hold.unsent, hold.foreign)

    def _taken_back(self, hold: Hold) -> list[str]:
        """Go back to the state before the hold, and do again what other threads have changed since."""
        while True:
            now, state = self._cell.state, hold.before
            for make in [*hold.others]:
                with suppress(Refused, WrongFormError):
                    state = change(state, make(state))
            values = stored(state)
            names = self._cell.swap(now, state, _always(values))
            if names is not None:
                return names

    def _tell(self, names: Iterable[str], unsent: Iterable[str] = (), foreign: Iterable[Bunch] = ()) -> None:
        """Tell the pages, in one message, then the observers: all of them, whatever one of them raises."""
        names = [name for name in names if name in TRAITS]
        errors: list[BaseException] = []

        def attempt(tell: Callable[..., None], *arguments: Any) -> None:
            try:
                tell(*arguments)
            except BaseException as error:  # noqa: BLE001 - it is raised when all have been told
                errors.append(error)

        attempt(self._to_pages, [name for name in names if name not in unsent])
        news = (Bunch(one._asdict(), owner=self, type="change") for one in self._cell.news(names))
        for one in chain(foreign, news):
            # Of the class: during a hold of another thread, the instance has a function of traitlets.
            attempt(type(self).notify_change, self, one)
        if errors:
            raise errors[0]

    def notify_change(self, change: Bunch) -> None:
        """Notify the observers of a change. In a hold, changes of traits that are not in the state wait for its end."""
        hold = self._cell.hold()
        if hold is not None and change["name"] not in TRAITS:
            hold.foreign.append(change)
        elif change["name"] in TRAITS:
            HasTraits.notify_change(self, change)  # ipywidgets would send it, and the pages know it already
        else:
            super().notify_change(change)

    def _to_pages(self, names: list[str]) -> None:
        """Tell the pages which traits have changed. A model has no pages."""


def _always(values: Mapping[str, Any]) -> Make:
    return lambda _: values


def _with(make: Make, name: str, value: Any) -> Make:
    return lambda state: {**make(state), name: value}
