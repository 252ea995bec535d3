"""Arrays that record what is done with them: `CountedArray`, and the `Recorder` that collects the operations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count, takewhile
from threading import RLock, get_ident
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import is_whole
from roofwidget.measure.counts import OpCount, Report
from roofwidget.measure.numpy import functions
from roofwidget.measure.numpy.float_errors import warned_at_callers
from roofwidget.measure.numpy.functions import Call, Rule, Work, arrays_in
from roofwidget.measure.numpy.traffic import Array, bytes_of, is_view, total_bytes
from roofwidget.measure.numpy.ufuncs import precision_of, ufunc_flops, ufunc_name

_COUNTED_KINDS: Final = "biufc"
"""The kinds of numpy's data types that are counted: truth values, whole numbers, floating-point and complex numbers."""

_MIN_SINGLE_ELEMENTS: Final = 100
"""So many single elements are a loop in Python. numpy's own code reads a few."""

active: ContextVar[Recorder | None] = ContextVar("active", default=None)
"""The recorder of this thread. Without a recorder, numpy's functions that make arrays are not recorded."""


@dataclass
class _Row:
    """An operation that ran: its seconds, the identities of the memory that it read, its thread, and its number."""

    op: OpCount
    seconds: float
    read: frozenset[int]
    thread: int
    number: int


class Recorder:
    """Collects operations on `CountedArray` from all threads, in the order in which they finish.

    Parameters
    ----------
    clock
        Returns seconds. Each operation is timed without the work of counting it.
    report
        If given, takes each operation with its time when it has finished. Then `ops` does not keep it.
    """

    def __init__(self, clock: Callable[[], float], report: Report | None = None) -> None:
        self._rows: list[_Row] = []
        self._numbers = count()
        self._lock = RLock()
        self._clock = clock
        self._report = report
        # For each thread the number of numpy's functions written in Python that run now, one inside the other.
        self._depth: dict[int, int] = {}
        self._left_out: dict[str, None] = {}
        self._single_elements = 0
        self._single_row: _Row | None = None
        # Bytes of the arrays that the operations did not make, by the identity of their memory.
        self._inputs: dict[int, int] = {}
        self._made: set[int] = set()
        self._read: set[int] = set()
        self._written: set[int] = set()
        self.is_open = True

    @property
    def ops(self) -> list[OpCount]:
        """The operations, without times."""
        return [row.op for row in self._rows]

    @property
    def seconds(self) -> list[float]:
        """The times of the operations."""
        return [row.seconds for row in self._rows]

    @property
    def warnings(self) -> list[str]:
        """What could not be counted."""
        found = [f"{what} are not counted" for what in self._left_out]
        if self._single_elements >= _MIN_SINGLE_ELEMENTS:
            found.append(
                f"{self._single_elements:,} single elements were read or written one by one; "
                "Python's arithmetic on them is not counted"
            )
        return found

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record in this thread until the block ends. Arrays that outlive the block no longer record."""
        token = active.set(self)
        try:
            with warned_at_callers():
                yield
        finally:
            active.reset(token)
            self.is_open = False

    def compulsory_bytes(self, result: Any) -> int:
        """Return the bytes of the inputs that were read, of the inputs that were written, and of the result."""
        known = self._inputs
        inputs = sum(known[key] for key in (*(self._read & known.keys()), *(self._written & known.keys())))
        outputs = total_bytes(array for array in arrays_in(plain(result)) if id(_memory(array)) not in known)
        return min(inputs + outputs, sum(op.bytes or 0 for op in self.ops))

    def wrap_input(self, value: Any) -> Any:
        """Return a value with counted arrays in place of its arrays, also in lists, tuples and dicts."""
        if isinstance(value, np.ndarray):
            wrapped = self.wrap(value)
            if isinstance(wrapped, CountedArray):
                self._add_input(value)
            return wrapped
        return _mapped(self.wrap_input, value)

    def wrap(self, value: Any) -> Any:
        """Return a value with counted arrays in place of arrays that can be counted, also in lists and tuples."""
        if not isinstance(value, np.ndarray):
            return _mapped(self.wrap, value)
        if not self.is_open or isinstance(value, CountedArray):
            return value
        if type(value) not in {np.ndarray, np.memmap}:
            self._left_out[f"arrays of the class {type(value).__name__}"] = None
            return value
        if value.dtype.kind not in _COUNTED_KINDS:
            self._left_out[f"arrays of the type {value.dtype.name}"] = None
            return value
        counted = np.ndarray.view(value, CountedArray)
        counted.recorder = self
        return counted

    def run(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], rule: Rule
    ) -> Any:
        """Call a function with plain arrays, record its work by a rule, and return its result with counted arrays.

        If the result is one of the arguments, such as a target of ``out=``, this argument itself is returned.
        """
        given = (args, dict(kwargs))
        bare_args, bare_kwargs = bare = plain(given)
        with unrecorded():
            result, seconds = self.timed(function, *bare_args, **bare_kwargs)
            self.add(name, rule, bare, result, seconds)
        owners = {id(array): own for array, own in zip(arrays_in(bare), arrays_in(given), strict=True)}
        return self._returned(result, owners)

    def _returned(self, result: Any, owners: Mapping[int, Any]) -> Any:
        if isinstance(result, np.ndarray):
            return owners.get(id(result), self.wrap(result))
        return _mapped(lambda part: self._returned(part, owners), result)

    def add(self, name: str, rule: Rule, given: tuple[Any, Any], result: Any, seconds: float) -> None:
        """Add an operation that ran; `given` are its arguments and keywords, without counters."""
        args, kwargs = given
        rest = {key: value for key, value in kwargs.items() if key != "out"}
        call = Call(args, rest, tuple(arrays_in(kwargs.get("out"))), result)
        try:
            work = rule(call)
        except Exception:  # noqa: BLE001 - a form of arguments that a rule does not foresee must not stop the function
            work = functions.unknown(call)
        if work is functions.NO_OPERATION:
            return
        precision = None
        if work.flops is None or work.flops:
            numbers = result if isinstance(result, tuple) else (result,)
            precision = precision_of(numbers) or precision_of(call.operands) or _integers(work, call)
        shapes = ", ".join("×".join(map(str, array.shape)) or "scalar" for array in call.operands)
        op = OpCount(name, work.flops, work.read, work.written, precision, shapes=shapes)
        read = frozenset(id(_memory(array)) for array in work.sources)
        with self._lock:
            self._rows.append(_Row(op, seconds, read, get_ident(), next(self._numbers)))
            for array in work.sources:
                if id(_memory(array)) not in self._made:
                    self._add_input(array)
            self._read.update(read)
            self._written.update(id(_memory(array)) for array in work.targets)
            self._made.update(key for array in call.new if (key := id(_memory(array))) not in self._inputs)
        self._flush_outside()

    def add_element(self, array: Array, seconds: float, *, is_read: bool) -> None:
        """Add the read or the write of a single element. All of them make one row."""
        read, written = (array.itemsize, 0) if is_read else (0, array.itemsize)
        memory = id(_memory(array))
        with self._lock:
            self._single_elements += 1
            row = self._single_row
            if row is None:
                op = OpCount("single elements", {}, 0, 0)
                row = self._single_row = _Row(op, 0.0, frozenset(), get_ident(), next(self._numbers))
                self._rows.append(row)
            sums = ((row.op.bytes_read or 0) + read, (row.op.bytes_written or 0) + written)
            row.op = OpCount(row.op.name, {}, *sums)
            row.seconds += seconds
            if is_read:
                row.read |= {memory}
            (self._read if is_read else self._written).add(memory)

    def flush(self) -> None:
        """Report the operations that are not reported yet."""
        if self._report is None:
            return
        with self._lock:
            finished = list(self._rows)
            for column in (self._rows, self._inputs, self._made, self._read, self._written):
                column.clear()
            self._single_row = None
        for row in finished:
            self._report(replace(row.op, time=row.seconds))

    def _flush_outside(self) -> None:
        """Report what is finished, unless a function of numpy runs whose operations may become one."""
        if self._report is not None and not any(self._depth.values()):
            with unrecorded():
                self.flush()

    def run_python(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a function of numpy that is written in Python, and record the operations inside it.

        If they read none of the arrays given to it, the function has worked on plain arrays in code that is not seen.
        Then it is one operation with unknown FLOPs.
        """
        thread, first = get_ident(), next(self._numbers)
        self._depth[thread] = self._depth.get(thread, 0) + 1
        try:
            result, seconds = self.timed(function, *args, **kwargs)
        finally:
            self._depth[thread] -= 1
        if result is not NotImplemented:
            with self._lock:
                later = takewhile(lambda row: row.number > first, reversed(self._rows))
                inside = [row for row in later if row.thread == thread]
            if not _have_used(list(arrays_in((args, kwargs))), inside):
                self._remove(inside)
                with unrecorded():
                    self.add(name, functions.unknown, plain((args, kwargs)), plain(result), seconds)
        self._flush_outside()
        return self.wrap(result)

    def _remove(self, rows: list[_Row]) -> None:
        dropped = {id(row) for row in rows}
        with self._lock:
            self._rows[:] = [row for row in self._rows if id(row) not in dropped]
            if id(self._single_row) in dropped:
                self._single_row, self._single_elements = None, 0

    def timed(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, float]:
        """Call a function, and return its result and its seconds."""
        start = self._clock()
        result = function(*args, **kwargs)
        return result, self._clock() - start

    def _add_input(self, array: Array) -> None:
        key = id(_memory(array))
        self._inputs[key] = max(self._inputs.get(key, 0), bytes_of(array))


class CountedArray(np.ndarray[Any, Any]):
    """A view of an array that records operations. It behaves as the array, and its results are counted arrays too."""

    recorder: Recorder | None = None

    def __array_finalize__(self, template: Any) -> None:
        self.recorder = getattr(template, "recorder", None)

    @property
    def _open(self) -> Recorder | None:
        return self.recorder if self.recorder is not None and self.recorder.is_open else None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        recorder, function = self._open, getattr(ufunc, method)
        if recorder is None:
            return function(*plain(inputs), **plain(kwargs))
        rule = _rule_of_at(ufunc) if method == "at" else _rule_of_ufunc(ufunc, method)
        return recorder.run(ufunc_name(ufunc.__name__, method), function, inputs, kwargs, rule)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        recorder, key = self._open, functions.rule_name(func)
        if recorder is None or key in functions.METADATA:
            return func(*plain(args), **plain(kwargs))
        name = key.rpartition(".")[2]
        if key in functions.RULES:
            return recorder.run(name, func, args, kwargs, functions.RULES[key])
        inner = super().__array_function__
        return recorder.run_python(name, lambda *given, **named: inner(func, types, given, named), args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        recorder = self._open
        if recorder is None:
            return plain(self)[plain(key)]
        if _is_element(self, key):
            result, seconds = recorder.timed(operator.getitem, plain(self), key)
            recorder.add_element(self, seconds, is_read=True)
            return result
        return recorder.run("getitem", operator.getitem, (self, key), {}, functions.gathers)

    def __setitem__(self, key: Any, value: Any) -> None:
        recorder, target, bare_key, bare_value = self._open, plain(self), plain(key), plain(value)
        if recorder is None:
            target[bare_key] = bare_value
        elif _is_element(self, key):
            _, seconds = recorder.timed(operator.setitem, target, bare_key, bare_value)
            recorder.add_element(self, seconds, is_read=False)
        else:
            with unrecorded():
                _, seconds = recorder.timed(operator.setitem, target, bare_key, bare_value)
                if not _is_own_part(target, bare_key, bare_value):
                    recorder.add("setitem", _assigns, ((target, bare_key, bare_value), {}), None, seconds)

    @property
    def T(self) -> Any:  # noqa: N802 - numpy's name
        return self.transpose()

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return plain(self).__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return plain(self).__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return repr(plain(self))

    def __str__(self) -> str:
        return str(plain(self))

    def __format__(self, spec: str) -> str:
        return format(plain(self), spec)


_METHODS: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(
        (
            *(
                "argmax",
                "argmin",
                "argpartition",
                "argsort",
                "astype",
                "byteswap",
                "copy",
                "diagonal",
                "flatten",
                "nonzero",
            ),
            *("ravel", "repeat", "reshape", "searchsorted", "squeeze", "swapaxes", "tobytes", "tolist", "transpose"),
        ),
        functions.moves,
    ),
    "choose": functions.RULES["choose"],
    "compress": functions.gathers,
    "dot": functions.RULES["dot"],
    "fill": functions.overwrites,
    "partition": functions.rearranges,
    "put": functions.scatters,
    "sort": functions.rearranges,
    "take": functions.gathers,
}
"""The methods of arrays that numpy runs without a universal function."""


def _counted_method(name: str, rule: Rule) -> Callable[..., Any]:
    function = getattr(np.ndarray, name)

    def method(array: CountedArray, *args: Any, **kwargs: Any) -> Any:
        recorder = array.recorder
        if recorder is None or not recorder.is_open:
            return function(plain(array), *plain(args), **plain(kwargs))
        return recorder.run(name, function, (array, *args), kwargs, rule)

    method.__name__ = name
    return method


for _name, _rule in _METHODS.items():
    setattr(CountedArray, _name, _counted_method(_name, _rule))


@contextmanager
def unrecorded() -> Iterator[None]:
    """Do not record the arrays that numpy's functions make in this block."""
    token = active.set(None)
    try:
        yield
    finally:
        active.reset(token)


def plain(value: Any) -> Any:
    """Return a value with plain arrays in place of counted arrays, also in lists, tuples and dicts."""
    if isinstance(value, CountedArray):
        return np.ndarray.view(value, np.ndarray)
    return value if isinstance(value, np.ndarray) else _mapped(plain, value)


def _have_used(arrays: list[Array], rows: list[_Row]) -> bool:
    """Return whether operations read some of these arrays, or as much as all of them.

    numpy's code may copy an array first, unseen.
    """
    memory = {id(_memory(array)) for array in arrays}
    read = sum(row.op.bytes_read or 0 for row in rows)
    return any(memory & row.read for row in rows) or 0 < total_bytes(arrays) <= read


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Return a list, tuple or dict with changed parts. If no part changes, return the value itself."""
    if isinstance(value, dict):
        parts = {key: change(part) for key, part in value.items()}
        if all(parts[key] is part for key, part in value.items()):
            return value
        return parts if type(value) is dict else _filled(value, parts)
    if not isinstance(value, (list, tuple)):
        return value
    changed = [change(part) for part in value]
    if all(new is old for new, old in zip(changed, value, strict=True)):
        return value
    if isinstance(value, list):
        return changed
    return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)


def _filled(mapping: dict[Any, Any], parts: dict[Any, Any]) -> dict[Any, Any]:
    twin = mapping.copy()
    twin.update(parts)
    return twin


def _rule_of_ufunc(ufunc: np.ufunc, method: str) -> Rule:
    def rule(call: Call) -> Work:
        results = call.result if isinstance(call.result, tuple) else (call.result,)
        return functions.computed(ufunc_flops(ufunc, method, call.args, call.kwargs, results), call)

    return rule


def _rule_of_at(ufunc: np.ufunc) -> Rule:
    def rule(call: Call) -> Work:
        target, key, *others = call.args
        picked = np.asarray(target[key])
        sources = (*arrays_in(key), *arrays_in(others))
        flops = ufunc_flops(ufunc, "at", (target, *others), {}, (picked,))
        return Work(flops, picked.nbytes + total_bytes(sources), picked.nbytes, (target, *sources), (target,))

    return rule


def _assigns(call: Call) -> Work:
    """Return the work of ``target[key] = value``."""
    target, key, value = call.args
    picked = np.asarray(target[key])
    sources = (*arrays_in(key), *arrays_in(value))
    written = bytes_of(picked) if is_view(picked, (target,)) else picked.nbytes
    return functions.changes(target, sources, written)


def _is_own_part(target: Array, key: Any, value: Any) -> bool:
    """Return whether ``target[key]`` is the very memory of the value, as after ``target[key] += 1``: no byte moves."""
    if not isinstance(value, np.ndarray) or not is_view(value, (target,)):
        return False
    part = target[key]
    return isinstance(part, np.ndarray) and _layout(part) == _layout(value)


def _layout(array: Array) -> tuple[Any, ...]:
    return array.__array_interface__["data"], array.shape, array.strides, array.dtype


def _is_element(array: Array, key: Any) -> bool:
    """Return whether a key picks a single element: one whole number per dimension."""
    keys = key if isinstance(key, tuple) else (key,)
    return len(keys) == array.ndim and all(is_whole(one) for one in keys)


def _integers(work: Work, call: Call) -> str | None:
    """Return the precision of products of whole numbers, such as ``int64``."""
    if not work.flops or not call.operands:
        return None
    return str(np.result_type(*call.operands).name)


def _memory(array: Array) -> Any:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
