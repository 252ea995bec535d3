"""`measured`: a function or a block whose FLOPs and bytes the user states. Recordings show its calls."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Generic, TypeVar, final

from roofwidget.kernels.table import Kernels
from roofwidget.measure.recording import Recording, active_recording, stated
from roofwidget.measure.tally import Tally
from roofwidget.support.arguments import shown_value, text_argument

R = TypeVar("R")


@final
class Measured:
    """The stated work of a function or a block; `measured` returns it.

    Attributes
    ----------
    kernels : Kernels
        All calls during recordings. Calls with equal FLOPs and bytes are one row with their count.
    """

    def __init__(self, name: str, flops: Any, moved: Any, precision: str | None) -> None:
        self.name = name
        self._flops = flops
        self._bytes = moved
        self._precision = precision
        self._tally = Tally()
        self._guard = threading.Lock()
        self._open = threading.local()

    @property
    def kernels(self) -> Kernels:
        with self._guard:
            return self._tally.kernels(self.name)

    def __call__(self, function: Callable[..., R]) -> MeasuredFunction[R]:
        """Return the function with this work."""
        if not callable(function):
            raise TypeError(f"measured is put on a function, got {shown_value(function)}")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(
                f"measured: '{function.__name__}' returns before its work is done; measure the work inside of it: "
                "with rw.measured('name', flops=…, bytes=…):"
            )
        self.name = self.name or str(getattr(function, "__name__", type(function).__name__))
        return MeasuredFunction(function, self)

    def __enter__(self) -> Measured:
        if not self.name:
            raise TypeError("measured: a block needs a name: with rw.measured('name', flops=…, bytes=…):")
        if callable(self._flops) or callable(self._bytes):
            raise TypeError(f"measured: block '{self.name}' has no arguments; give flops and bytes as numbers or text")
        run, stack = active_recording(), ExitStack()
        if run is not None:
            stack.enter_context(self._block(run))
        self._stacks.append(stack)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stacks.pop().__exit__(kind, error, traceback)

    @property
    def _stacks(self) -> list[ExitStack]:
        """The blocks of this thread that are open."""
        if not hasattr(self._open, "stacks"):
            self._open.stacks = []
        stacks: list[ExitStack] = self._open.stacks
        return stacks

    @contextlib.contextmanager
    def _block(self, run: Recording) -> Iterator[None]:
        with self.timing(run, (), {}):
            yield
            run.wait(None)

    @contextlib.contextmanager
    def timing(self, run: Recording, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[None]:
        """Time a block for a recording. `args` and `kwargs` are the arguments of the function, for its FLOPs."""
        flops, moved = (
            amount(*args, **kwargs) if callable(amount) else amount for amount in (self._flops, self._bytes)
        )
        op = stated(self.name, flops, moved, precision=self._precision, what="measured")
        run.wait((args, dict(kwargs)))
        with run.measuring(op) as finished:
            yield
        with self._guard:
            self._tally.add(finished[0])


class MeasuredFunction(Generic[R]):
    """A function with `measured`: it behaves as the function, and recordings show its calls.

    Attributes
    ----------
    kernels : Kernels
        All calls during recordings. Calls with equal FLOPs and bytes are one row with their count.
    """

    def __init__(self, function: Callable[..., R], work: Measured) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._work = work

    @property
    def kernels(self) -> Kernels:
        return self._work.kernels

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        run = active_recording()
        if run is None:
            return self._function(*args, **kwargs)
        args, kwargs = tuple(map(run.plain, args)), {key: run.plain(value) for key, value in kwargs.items()}
        with self._work.timing(run, args, kwargs):
            result = self._function(*args, **kwargs)
            run.wait(result)
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<measured {self._function!r}>"

    def __reduce__(self) -> str:
        # Like a function, it is pickled by its name.
        return str(self.__dict__["__qualname__"])


def measured(
    name: str | None = None,
    *,
    flops: Any = None,
    bytes: Any = None,  # noqa: A002 - the usual name of this quantity
    precision: str | None = None,
) -> Measured:
    """State the FLOPs and bytes of a function or a block, so that recordings show each of its calls as a point.

    Put it on a function, ``@rw.measured(flops=…, bytes=…)``, or use it on a block, ``with rw.measured("step", flops=…,
    bytes=…):``. During `record` and ``%%roofline`` each call is timed until its result is ready, also where CUDA and
    JAX return earlier. Outside a recording the function is only called. What a measured function or block runs is part
    of it: operations inside are no points of their own. A measured call inside another one is a point too; then
    ``self_time`` of the outer one leaves out its time.

    Parameters
    ----------
    name
        The name of the points: by default the function's. A block needs one.
    flops, bytes
        The work of one call: a number, text such as ``"2 GFLOP"`` and ``"12 MB"``, or a function of the call's
        arguments, such as ``lambda a, b: 2 * a.shape[0] * a.shape[1] * b.shape[1]``. FLOPs may be a mapping from
        precisions to numbers. One of the two may be left out if it is unknown; for no FLOPs give 0.
    precision
        The precision of the FLOPs, such as ``"fp32"``.

    Raises
    ------
    TypeError
        If neither FLOPs nor bytes are given, for a block without a name, and for coroutines and generators.
    TypeError, ValueError
        During a recording, if FLOPs or bytes are no number or negative: the message names the function.

    Examples
    --------
    >>> import roofwidget as rw
    >>> @rw.measured(flops=lambda n: 2 * n, bytes=lambda n: 24 * n)
    ... def triad(n):
    ...     return n
    >>> model = rw.RooflineModel(["v5p"], [])
    >>> with rw.record(model):
    ...     _ = triad(1000)
    >>> model.kernels.names.tolist(), model.kernels.flops.tolist(), triad.kernels.bytes.tolist()
    (['triad'], [2000.0], [24000.0])
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"measured: name must be text, got {shown_value(name)}; "
            "above a function, write @rw.measured(flops=…, bytes=…)"
        )
    if flops is None and bytes is None:
        raise TypeError("measured needs flops= or bytes=: the work of one call, such as flops='2 GFLOP', bytes='12 MB'")
    if precision is not None:
        text_argument(precision, "measured: precision")
    for amount, what in ((flops, "flops"), (bytes, "bytes")):
        if not callable(amount):
            # A wrong number is an error here, not in the first recording.
            stated(name or "a function", **{"flops": None, "bytes": None, what: amount}, what="measured")
    return Measured(name or "", flops, bytes, precision)
