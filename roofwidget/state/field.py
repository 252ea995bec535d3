"""How the state of a chart is declared: fields, and what is computed from them.

Nothing here knows traitlets, threads or messages.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import Self

    from roofwidget.state.state import State

V = TypeVar("V")

Owner: TypeAlias = Literal["python", "browser", "shared"]
"""Who may change a trait: Python alone, the front end alone, or both."""
Undo: TypeAlias = Literal["alone", "with graph"]
OWNER_IN_HELP: Final[Mapping[Owner, str]] = {
    "python": "Owned by Python.",
    "browser": "Owned by the browser.",
    "shared": "Shared.",
}
FORM_ERRORS: Final = (LookupError, TypeError, ValueError)
"""What a check of a form raises."""

Fit: TypeAlias = "Callable[[State, Any], Any]"
"""A function of the state so far and a value of the right form. It returns the value to store, or raises `Refused`."""
Follow: TypeAlias = "Callable[[State, State, Mapping[str, Any]], Mapping[str, Any] | None]"
"""A function of the state so far, the state before the change, and the named values. It changes the state so far by
`put`, raises `Refused`, or returns further values that a person has not named."""


class Refused(ValueError):  # noqa: N818 - it says what happened to the value
    """A value of the right form that does not fit the other values. While changes are held, it may fit later."""


class WrongFormError(ValueError):
    """A value that a field never takes, whatever the other values are."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class _Computed(Generic[V]):
    """A value of a state that `read` computes, unless the state stores it."""

    name: str
    read: Callable[[State], V] | None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, state: None, owner: type) -> Self: ...
    @overload
    def __get__(self, state: object, owner: type) -> V: ...
    def __get__(self, state: Any, owner: type) -> Any:
        # A stored value is found before this method is called.
        return self if state is None else computed(state, self.name, self.read)


class Field(_Computed[V]):
    """The one declaration of a value of the state, and of the trait that shows it.

    Parameters
    ----------
    owner
        Who may change it. None for a value that is no trait: the state remembers it for a rule.
    form
        A function that checks a given value by itself, and returns it in the form that is stored.
    default
        The value of an empty chart.
    help
        One line for people who use the trait.
    fit
        Checks the value beside the others.
    follow
        What follows if this field, or one of `also`, is named or has changed.
    also
        The names of other fields.
    of
        The name of the field that stores the value, if this one is a view of it. Then `fit` returns the value to store
        there, and `read` computes the value.
    sources
        The names of the other fields from which `read` computes the value.
    read
        Computes the value of a view.
    sync
        Whether pages get the value. They do not need what follows from others.
    to_wire
        Returns the value as JSON holds it, if JSON cannot hold it as it is stored.
    wire_of
        The same, from the state: for a value whose form depends on others.
    from_wire
        The inverse, where `form` does not take what pages send.
    shows
        The name of what the trait shows, if it is not what is stored.
    named
        Returns the value by which `fit` gives the stored one for any other values, if that is another.
    is_same
        Whether a new value is the same as the old one, which is kept then.
    is_read_only
        Whether only methods of the model set it.
    in_session
        Whether a session has it among its traits, by default if pages get it. Large values are parts of their own.
    undo
        Whether a page can undo a change: "alone", or "with graph" together with the others of the graph.
    page_type
        The TypeScript type of the value in the page, if `form` does not tell it.
    """

    def __init__(
        self,
        owner: Owner | None,
        form: Callable[[Any], V],
        default: Any = None,
        *,
        help: str = "",  # noqa: A002 - as traitlets calls it
        fit: Fit | None = None,
        follow: Follow | None = None,
        also: tuple[str, ...] = (),
        of: str = "",
        sources: tuple[str, ...] = (),
        read: Callable[[State], V] | None = None,
        sync: bool = True,
        to_wire: Callable[[V], Any] | None = None,
        wire_of: Callable[[State], Any] | None = None,
        from_wire: Callable[[Any], Any] | None = None,
        shows: str = "",
        named: Callable[[State], V] | None = None,
        is_same: Callable[[Any, Any], bool] = operator.eq,
        is_read_only: bool = False,
        in_session: bool | None = None,
        undo: Undo | None = None,
        page_type: str = "",
    ) -> None:
        self.owner = owner
        self.form = form
        self.default = default
        self.help = help
        self.fit = fit
        self.follow = follow
        self.also = also
        self.of = of
        self.sources = sources
        self.read = read
        self.sync = sync and owner is not None
        self.to_wire = to_wire
        self.wire_of = wire_of
        self.from_wire = from_wire
        self.shows = shows
        self.named = named
        self.is_same = is_same
        self.is_read_only = is_read_only
        self.undo = undo
        self.page_type = page_type
        self.in_session = self.sync if in_session is None else in_session

    if TYPE_CHECKING:

        def __set__(self, model: object, value: Any) -> None: ...

    def formed(self, value: Any) -> V:
        """Return a given value in the form that is stored. Raise `WrongFormError` if it has another form."""
        try:
            return self.form(value)
        except FORM_ERRORS as error:
            raise WrongFormError(self.name, str(error)) from None


class Derived(_Computed[V]):
    """A value that follows from the fields `sources`, and is computed once for each of their values."""

    def __init__(self, make: Callable[[State], V], *sources: str) -> None:
        self.read = make
        self.sources = sources
        self.__doc__ = make.__doc__


def computed(state: Any, name: str, make: Any) -> Any:
    """Return `make(state)`, and keep it until one of its sources changes."""
    if name not in state.known:
        state.known[name] = make(state)
    return state.known[name]


def put(state: State, name: str, value: Any) -> None:
    """Store a value in the state so far. An equal value keeps the old object, so `is` tells what has changed."""
    known = vars(state)[name]
    if value is not known and value != known:
        replace(state, name, value)


def replace(state: State, name: str, value: Any) -> None:
    """Store a value in the state so far, and forget what was computed from the old one."""
    vars(state)[name] = value
    for derived in state.dependants[name]:
        state.known.pop(derived, None)
