"""Replaces variables by values whose operations are reported, for recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final

_MAX_DEPTH: Final = 3
_MAX_PARTS: Final = 1000
"""Longer lists, tuples and dicts are not searched for results: that would take time."""


@contextmanager
def watched_variables(
    variables: MutableMapping[str, Any], seen: Callable[[Any], Any], plain: Callable[[Any], Any]
) -> Iterator[None]:
    """Replace the values of variables by those that `seen` returns until the block ends.

    Afterwards a variable that the block did not set has its old value. A variable that it set has the value that
    `plain` returns, and so have the parts of lists, tuples and dicts. Variables with a leading underscore stay.

    Examples
    --------
    >>> variables = {"x": 1}
    >>> with watched_variables(variables, lambda value: value + 0.5, lambda value: -value):
    ...     variables["y"] = 2 * variables["x"]
    >>> variables
    {'x': 1, 'y': -3.0}
    """
    during: dict[int, tuple[Any, Any]] = {}
    for name, value in list(variables.items()):
        if name.startswith("_"):
            continue
        if id(value) not in during:
            during[id(value)] = (value, seen(value))
        if during[id(value)][1] is not value:
            variables[name] = during[id(value)][1]
    before = {id(new): old for old, new in during.values() if new is not old}
    try:
        yield
    finally:
        for name, value in list(variables.items()):
            if name.startswith("_"):
                continue
            old = before.get(id(value))
            # A shape can be set in place: the block then left another array than the old one.
            is_unchanged = old is not None and getattr(old, "shape", None) == getattr(value, "shape", None)
            after = old if is_unchanged else plain_parts(value, plain)
            if after is not value:
                variables[name] = after


def plain_parts(value: Any, plain: Callable[[Any], Any], depth: int = 0) -> Any:
    """Return what `plain` returns for a value, or a list, a tuple or a dict with such parts.

    Lists and dicts are changed in place, since other variables may hold them too.
    """
    found = plain(value)
    if found is not value or depth == _MAX_DEPTH or type(value) not in {list, tuple, dict} or len(value) > _MAX_PARTS:
        return found
    if isinstance(value, dict):
        for key, part in value.items():
            value[key] = plain_parts(part, plain, depth + 1)
        return value
    parts = [plain_parts(part, plain, depth + 1) for part in value]
    if isinstance(value, list):
        value[:] = parts
        return value
    return value if all(new is old for new, old in zip(parts, value, strict=True)) else tuple(parts)
