"""How the pages of one model and Python agree on its values.

Python decides. A page sends each changed value to Python. Python validates the value and sends the result to all pages.
If no message is under way, all pages and Python hold the same values. `js/src/state/messages.ts` is the page's side.

**From a page to Python**: a page sends a custom message instead of ipywidgets' own update. If a connection is cut while
a second page is open, a status message of the kernel is lost. Without this status message, ipywidgets would send no
more updates. ::

    {"kind": "roofwidget", "page": "k3v8x1", "number": 7,
     "values": {"zoom": null},
     "changes": {"what_if": {"v5p": {"bandwidth": {"HBM": 3e12}}}}}

- `page` is a random name of the page, `number` counts its messages from 1.
- `values` replace the value of a trait. `changes` are merged into a mapping, key by key, and null removes a key. So
  two pages can change the rates of two chips at once, and neither page overwrites the other page's change.
- `{"ask": [names]}` instead of `values` and `changes` asks for the values that Python has.
- A page has one unanswered message at a time. Later changes of the page are collected and sent after the answer.
  Without an answer the page sends the same message again, with the same number, at growing intervals. Python applies a
  number once, and answers each time.
- If a value is refused, the other values of the same message still apply. Phase, partition, sizes, convention and dtype
  belong together: they are applied together or not at all.

**From Python to the pages**: ipywidgets' updates, which reach all pages in the same order. Each update has one more
key, ``"_sync": [clock, page, number]``:

- `clock` counts Python's updates. A page that finds a number missing asks for all shared traits. A state with an
  older clock than the page has seen is out of date: JupyterLab fetches a whole state when it reconnects, and may
  apply it after newer updates. The page ignores such values and asks for the current values.
- `page` is the page whose message caused the update, or "" if Python code did.
- `number` is the number of the message that the update answers, -1 for a whole state, or 0. The answer comes at the
  end of `RooflineWidget.set_state`, also after a refusal. It has the validated values of the shared traits that the
  message named.

**What a page does with a value from Python**

- While a change of the page to the trait is unanswered, the page keeps its own value. For a mapping it keeps only its
  own keys. After the answer it takes Python's value. So a late answer cannot move a slider back, a refused value does
  not stay. If two pages change a trait at the same time, both pages end with the value that Python applied last.
- During a pointer gesture on the trait, the page keeps its own value until the gesture ends.
- A change by Python code is one entry of the page's history. A change by another page is not an entry. Instead,
  the change is applied to all entries (`absorb` in `js/src/state/history.ts`). So undo takes back only what this page
  did.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from roofwidget.state.field import Refused

KIND: Final = "roofwidget"
"""Marks the custom messages of a page."""
STAMP: Final = "_sync"
"""The key in which each update of Python says what it answers."""

# A page gets a new name each time the page is loaded. If there are more names than this, the oldest name is forgotten.
# If a forgotten page repeats a message, the message is applied twice.
_MAX_PAGES: Final = 256
_MAX_PAGE_NAME: Final = 64
_WHOLE_STATE: Final = -1
_MAX_ITEMS: Final = 1_000
# A snapshot may have more rows than the table that is shown now.
_MAX_SNAPSHOT_ROWS: Final = 1_000_000
_MAX_TEXT: Final = 10_000
_MAX_DEPTH: Final = 8
# A page writes larger numbers with an exponent, so they arrive as floats.
_MAX_INTEGER: Final = 10**21
_MIN_NUMBER: Final = 1e-100
_MAX_NUMBER: Final = 1e100


@dataclass(frozen=True)
class PageMessage:
    """A message from a page; see the module's description."""

    page: str
    number: int
    values: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    asked: tuple[str, ...] = ()

    @property
    def named(self) -> set[str]:
        """The names of the traits that the message changes or asks for."""
        return {*self.values, *self.changes, *self.asked}


def page_message(content: object) -> PageMessage | None:
    """Return a custom message as a `PageMessage`. If the message is not from a page of this package, return None.

    Raises
    ------
    ValueError
        If the message is from a page, but a key such as `number` is missing or has a wrong type.
    """
    if not isinstance(content, Mapping) or content.get("kind") != KIND:
        return None
    page, number = content.get("page"), content.get("number")
    values, changes, asked = content.get("values", {}), content.get("changes", {}), content.get("ask", [])
    if (
        not (isinstance(page, str) and 0 < len(page) <= _MAX_PAGE_NAME)
        or not (isinstance(number, int) and not isinstance(number, bool) and number > 0)
        or not isinstance(values, Mapping)
        or not (isinstance(changes, Mapping) and all(isinstance(change, Mapping) for change in changes.values()))
        or not (isinstance(asked, list) and all(isinstance(name, str) for name in asked))
    ):
        raise ValueError(f"a page sent a message that has not the form of a page's message: {content!r:.80}")
    return PageMessage(page, number, values, changes, tuple(asked))


def check_sizes(values: Mapping[str, Any], rows: int) -> None:
    """Raise an error if a value in a page's message is larger than any value of a page with a table of `rows` rows.

    The traits check what a value means. These limits come first, so that no check takes long or makes a long message.

    Raises
    ------
    Refused
        If a text, a list or a mapping is too long, a number is too large or too small, or values are nested too deeply.
    """
    for name, value in values.items():
        _check_size(name, value, _MAX_SNAPSHOT_ROWS if name == "snapshots" else max(rows, _MAX_ITEMS), _MAX_DEPTH)


def _check_size(name: str, value: object, most: int, depth: int) -> None:
    if depth == 0:
        raise Refused(f"a page sent {name} with values nested more than {_MAX_DEPTH} levels deep")
    if reason := _scalar_reason(value):
        raise Refused(f"a page sent {name} with {reason}")
    if isinstance(value, (list, tuple, Mapping)):
        if len(value) > most:
            raise Refused(f"a page sent {name} with {len(value):,} values; at most {most:,} are taken here")
        for part in [*value, *value.values()] if isinstance(value, Mapping) else value:
            _check_size(name, part, most, depth - 1)


def _scalar_reason(value: object) -> str | None:
    """Return why a text or a number is too large or too small, or None if it is not."""
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        return f"a text of {len(value):,} characters; at most {_MAX_TEXT:,} are taken"
    if isinstance(value, int) and not -_MAX_INTEGER <= value <= _MAX_INTEGER:
        return f"a whole number beyond {_MAX_INTEGER:,}, which no page writes"
    if isinstance(value, float) and value and math.isfinite(value) and not _MIN_NUMBER <= abs(value) <= _MAX_NUMBER:
        return f"{value}; its size must be from {_MIN_NUMBER} to {_MAX_NUMBER}"
    return None


def applied(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nested mapping after the changes of a page are applied.

    A change to None removes a key. A mapping inside `value` that becomes empty is removed too.

    Examples
    --------
    >>> applied({"a": {"x": 1, "y": 2}, "b": {"x": 3}}, {"a": {"x": 5}, "b": {"x": None}})
    {'a': {'x': 5, 'y': 2}}
    """
    found = dict(value)
    for key, change in changes.items():
        if isinstance(change, Mapping):
            old = found.get(key)
            change = applied(old if isinstance(old, Mapping) else {}, change) or None  # noqa: PLW2901 - what is left of it
        if change is None:
            found.pop(key, None)
        else:
            found[key] = change
    return found


class Messages:
    """Counts the updates of a model (the clock), and remembers the number of the latest message of each page."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held from reading values until they are sent: JupyterLab may have messages handled in another thread."""
        self._clock = itertools.count(1)
        self._now = 0
        self._latest: OrderedDict[str, int] = OrderedDict()
        self._handled = ("", 0)

    @property
    def state(self) -> list[Any]:
        """The stamp ``[clock, page, number]`` that is sent with a whole state."""
        return [self._now, "", _WHOLE_STATE]

    def stamp(self, *, is_answer: bool = False) -> list[Any]:
        """Add 1 to the clock, and return the stamp ``[clock, page, number]`` of the next update."""
        self._now = next(self._clock)
        page, number = self._handled
        return [self._now, page, number if is_answer else 0]

    @property
    def is_handling(self) -> bool:
        """Whether a page's message is being handled."""
        return self._handled[0] != ""

    @contextmanager
    def handling(self, message: PageMessage) -> Iterator[bool]:
        """Return a context in which the stamp of each update names the page of this message.

        The context yields whether the message is new. A message that a page repeats is not new.
        """
        is_new = message.number > self._latest.get(message.page, 0)
        if is_new:
            self._latest[message.page] = message.number
            self._latest.move_to_end(message.page)
            while len(self._latest) > _MAX_PAGES:
                self._latest.popitem(last=False)
        before, self._handled = self._handled, (message.page, message.number)
        try:
            yield is_new
        finally:
            self._handled = before
