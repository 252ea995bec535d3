"""`Cell`: holds the state of one model, which several threads change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any, NamedTuple, TypeAlias

from roofwidget.state.state import State, differing

Make: TypeAlias = Callable[[State], Mapping[str, Any]]
"""Returns the values to set, given the state in which they are set. So no thread takes back what another has set."""


class News(NamedTuple):
    """A change to tell."""

    name: str
    old: Any
    new: Any


class Hold:
    """What one thread keeps until its hold ends."""

    def __init__(self, before: State) -> None:
        self.before = before
        """The state to go back to."""
        self.others: list[Make] = []
        """What other threads have changed since."""
        self.waiting: dict[str, Any] = {}
        """Values that do not fit yet."""
        self.names: set[str] = set()
        """What has changed."""
        self.unsent: set[str] = set()
        """What pages are not told of, because they get an answer."""
        self.foreign: list[Any] = []
        """Changes of traits that are not in the state."""


class Cell:
    """Holds the state. The lock is for the swap alone: nothing is computed under it, and no code of a user runs."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.lock = Lock()
        self.holds: dict[int, Hold] = {}
        """By thread."""
        self._untold: dict[str, Any] = {}
        """Of each value that has news, the value that was told last."""
        self._seen: dict[int, State] = {}
        """The fixed state that a thread reads."""

    def now(self) -> State:
        """Return the state that this thread reads."""
        return self._seen.get(get_ident(), self.state) if self._seen else self.state

    def hold(self) -> Hold | None:
        """Return the hold of this thread."""
        return self.holds.get(get_ident()) if self.holds else None

    @contextmanager
    def seeing(self, state: State) -> Iterator[None]:
        """Return a context in which this thread reads one fixed state: a proposal, or a message of one state."""
        me = get_ident()
        outer = self._seen.get(me)
        self._seen[me] = state
        try:
            yield
        finally:
            if outer is None:
                del self._seen[me]
            else:
                self._seen[me] = outer

    def swap(self, before: State, after: State, make: Make) -> list[str] | None:
        """Replace `before` by `after`. Return the names of what changed, or None if another thread was faster."""
        names = differing(before, after)
        old = {name: getattr(before, name) for name in names}
        with self.lock:
            if self.state is not before:
                return None
            self.state = after
            self._untold = {**old, **self._untold}
            me = get_ident()
            for thread, hold in self.holds.items():
                if thread != me:
                    hold.others.append(make)
        return names

    def told(self, name: str) -> Any:
        """Return the value of which observers know."""
        with self.lock:
            return self._untold.get(name, getattr(self.state, name))

    def news(self, names: Iterable[str]) -> Iterator[News]:
        """Yield the changes to tell, each from the value that was told last, and each once for all threads."""
        for name in names:
            with self.lock:
                new = getattr(self.state, name)
                old = self._untold.pop(name, new)
            if old is not new and old != new:
                yield News(name, old, new)
