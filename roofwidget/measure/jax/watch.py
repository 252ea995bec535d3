"""Sees the calls of functions that `jax.jit` made, for recordings."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from roofwidget.measure import watch
from roofwidget.measure.counts import Counts, OpCount, Report, Request
from roofwidget.measure.jax import counter


class Watch(watch.Watch):
    """Reports each call of a jitted function as one operation: all that XLA runs for it.

    Other JAX calls, such as ``jnp.dot(a, b)`` outside of a jitted function, are not seen.
    """

    needs_variables = True

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        super().__init__(report, clock)
        self._counts: dict[Hashable, Counts | None] = {}

    def seen(self, value: Any) -> Any:
        """Return a function whose calls are reported, for a jitted function. Other values are returned as they are."""
        is_jitted = type(value).__name__ == "PjitFunction" and callable(getattr(value, "lower", None))
        return _Jitted(value, self) if is_jitted else value

    def plain(self, value: Any) -> Any:
        """Return the jitted function that `seen` was given."""
        return value.function if isinstance(value, _Jitted) else value

    def wait(self, value: Any) -> None:
        """Wait until the arrays in a value are computed."""
        import jax  # noqa: PLC0415 - optional

        jax.block_until_ready(value)

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a jitted function, and report the call."""
        import jax  # noqa: PLC0415 - optional

        leaves, tree = jax.tree.flatten((args, kwargs))
        if not self.is_reporting or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return function(*args, **kwargs)
        key = (id(function), tree, tuple(map(_signature, leaves)))
        is_first = key not in self._counts
        if is_first:
            self._counts[key] = self._counted(function, args, kwargs)
        jax.block_until_ready(args)
        result, seconds = self._timed(function, args, kwargs)
        if is_first:
            # The first call compiles. Jitted functions have no side effects, so a second call gives the time.
            is_gone = any(leaf.is_deleted() for leaf in leaves if isinstance(leaf, jax.Array))
            seconds = None if is_gone else self._timed(function, args, kwargs)[1]
        self.report(_one(str(getattr(function, "__name__", "jit")), self._counts[key], leaves, seconds))
        return result

    def _timed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, float | None]:
        start = self.clock()
        result = function(*args, **kwargs)
        self.wait(result)
        return result, self.clock() - start

    def _counted(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Counts | None:
        # A call that cannot be counted must still run.
        with contextlib.suppress(Exception):
            found: Counts = counter.count_without_running(function, args, kwargs, Request(timing=None))
            return found
        return None


class _Jitted:
    """A jitted function whose calls are reported. All else is the function's own."""

    def __init__(self, function: Any, owner: Watch) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._owner = owner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._owner.call(self.function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


def _signature(leaf: Any) -> Hashable:
    """Return what compiled code depends on."""
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return tuple(leaf.shape), str(leaf.dtype)
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return type(leaf), leaf


def _one(name: str, counts: Counts | None, leaves: list[Any], seconds: float | None) -> OpCount:
    """Return one operation for all that a call runs. An amount that is unknown for a part is unknown."""
    shapes = ", ".join("×".join(map(str, leaf.shape)) or "scalar" for leaf in leaves if hasattr(leaf, "shape"))
    if counts is None:
        return OpCount(name, None, None, None, shapes=shapes, time=seconds)
    flops = Counter[str]()
    for op in counts.ops:
        flops.update(op.flops or {})
    precisions = {op.precision for op in counts.ops if op.precision is not None}
    return OpCount(
        name,
        None if any(op.flops is None for op in counts.ops) else dict(flops),
        _total([op.bytes_read for op in counts.ops]),
        _total([op.bytes_written for op in counts.ops]),
        precisions.pop() if len(precisions) == 1 else None,
        shapes=shapes,
        time=seconds,
    )


def _total(amounts: list[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
