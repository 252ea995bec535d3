"""Dispatch modes that see each operation that PyTorch runs: one counts it, one times it.

Both see the same operations. An operation that only combines others, such as `linear`, is replaced by those, so that
a call under `torch.inference_mode` has the operations of any other call. `detach`, which autograd adds for itself, is
left out, so that gradients do not change the operations of a forward pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import islice
from typing import Any, Final, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from roofwidget.measure.counts import OpCount
from roofwidget.measure.torch.flops import flops, precision
from roofwidget.measure.torch.modules import ModulePaths
from roofwidget.measure.torch.tensors import OpCall, Tensor, bytes_of, is_plain, key_of, storage_of
from roofwidget.measure.torch.timing import Watch
from roofwidget.measure.torch.traffic import Traffic, traffic

_UNSEEN: Final = frozenset(("detach", "detach_", "alias", "lift_fresh"))
"""Operations that are bookkeeping: they compute nothing, move nothing and give back the same elements."""

_NO_OPERATION: Final = frozenset(
    (
        *("is_contiguous", "sym_is_contiguous", "is_strides_like_format", "is_non_overlapping_and_dense", "size"),
        *("sym_size", "stride", "sym_stride", "storage_offset", "sym_storage_offset", "numel", "sym_numel", "dim"),
        *("sparse_dim", "dense_dim", "is_coalesced", "_coalesced_", "_indices", "_values", "_nnz"),
    )
)
"""Questions that PyTorch asks about a tensor through the same dispatch."""

_MAX_SHAPES: Final = 8
"""How many shapes of a row are named: an optimizer's operation may have hundreds of tensors."""


class Operations(TorchDispatchMode):  # type: ignore[misc]  # torch is not typed here
    """Calls `run` with each operation while the mode is entered."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # If True, PyTorch imports its compiler, for seconds, at the first operation. `eagerly` keeps it from compiling.
        return False

    def __torch_dispatch__(
        self, operation: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        kind = _kind(operation)
        if kind == "composed":
            with self:
                return operation.decompose(*args, **given)
        if kind == "unseen":
            return operation(*args, **given)
        return self.run(operation, args, given)

    def run(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run an operation and return its result."""
        raise NotImplementedError


def eagerly() -> AbstractContextManager[Any]:
    """Return a context in which compiled functions run as before compilation.

    Under a dispatch mode they do so anyway, but PyTorch then gives up compiling them, also for later calls. PyTorch
    2.6 has this context first. To import the compiler takes seconds: before it is imported, nothing is compiled.
    """
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None or sys.modules.get("torch._dynamo") is None:
        return nullcontext()
    return cast("AbstractContextManager[Any]", set_stance("force_eager"))


@cache
def _kind(operation: Any) -> str:
    """Return how an operation is treated: ``composed`` of others, ``unseen``, or ``seen``."""
    packet = getattr(operation, "_overloadpacket", None)
    if packet is None:
        return "seen"
    if operation.namespace in {"prim", "profiler"} or packet.__name__ in _NO_OPERATION:
        return "unseen"
    if packet not in flop_registry and operation._can_decompose():  # noqa: SLF001 - no public name
        return "composed"
    return "unseen" if operation.namespace == "aten" and packet.__name__ in _UNSEEN else "seen"


@cache
def name_of(operation: Any) -> str:
    """Return the name of an operation: ``addmm``, or ``namespace::name`` outside PyTorch's own namespace."""
    packet = getattr(operation, "_overloadpacket", None)
    if packet is None:
        return str(operation.name())
    return str(packet.__name__ if operation.namespace == "aten" else f"{operation.namespace}::{packet.__name__}")


class OpCounter(Operations):
    """Counts the FLOPs and the bytes of each operation, and gives it to the module that runs it."""

    def __init__(self, paths: ModulePaths) -> None:
        super().__init__()
        self.ops: list[OpCount] = []
        self.boundary = Boundary()
        self.device = "cpu"
        self._paths = paths

    def run(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        path = self._paths.current()
        result = operation(*args, **kwargs)
        call = OpCall(operation, args, kwargs, result)
        op, moved = count(call, path=path)
        self.ops.append(op)
        self.boundary.add(call, moved)
        if self.device == "cpu":
            self.device = next((str(tensor.device) for tensor in call.results), self.device)
        return result


class OpTimer(Operations):
    """Takes the time of each operation, and keeps the names to compare them with those that were counted."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.names: list[str] = []
        self._watch = watch

    def run(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self.names.append(name_of(operation))
        self._watch.start()
        try:
            return operation(*args, **kwargs)
        finally:
            self._watch.stop()


class OpReporter(Operations):
    """Reports each operation, counted and timed, when it has finished."""

    def __init__(
        self,
        paths: ModulePaths,
        report: Callable[[OpCount], None],
        clock: Callable[[], float],
        synchronize: Callable[[], None],
    ) -> None:
        super().__init__()
        self._paths, self._report, self._clock, self._synchronize = paths, report, clock, synchronize

    def run(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        path = self._paths.current()
        self._synchronize()
        begin = self._clock()
        result = operation(*args, **kwargs)
        self._synchronize()
        seconds = self._clock() - begin
        self._report(count(OpCall(operation, args, kwargs, result), path=path, seconds=seconds)[0])
        return result


def count(call: OpCall, *, path: str = "", seconds: float | None = None) -> tuple[OpCount, Traffic]:
    """Return one call of an operation as a row, and the tensors that it reads and writes."""
    if not hasattr(call.operation, "_schema"):
        moved, found = Traffic(None, None), None
    else:
        moved = traffic(call)
        found = {} if moved == Traffic() else flops(call)
    row = OpCount(
        name_of(call.operation),
        found,
        moved.bytes_read,
        moved.bytes_written,
        precision(call, found),
        path,
        _shapes(call.inputs),
        seconds,
    )
    return row, moved


def _shapes(tensors: Iterable[Tensor]) -> str:
    texts = ["×".join(map(str, tensor.shape)) or "scalar" for tensor in islice(tensors, _MAX_SHAPES + 1)]
    return ", ".join(texts if len(texts) <= _MAX_SHAPES else [*texts[:-1], "…"])


class Boundary:
    """What crosses the boundary of a call: elements that it gets from outside or leaves there, each once."""

    def __init__(self) -> None:
        self._made: set[int] = set()
        self._replaced: set[int] = set()
        self._crossing: dict[tuple[str, int], dict[Hashable, int]] = {}
        self._sizes: dict[int, int] = {}
        self._is_known = True

    def add(self, call: OpCall, moved: Traffic) -> None:
        """Add a call of an operation, and what it moved."""
        if moved.reads is None or moved.writes is None:
            self._is_known = False
            return
        for tensor, count in moved.reads:
            storage = storage_of(tensor)
            if storage not in self._made and storage not in self._replaced:
                self._note("in", storage, tensor, count)
        self._made |= set(map(storage_of, call.results)) - set(map(storage_of, call.inputs))
        for tensor, count in moved.writes:
            storage = storage_of(tensor)
            if storage not in self._made:
                self._note("out", storage, tensor, count)
                if count >= self._sizes[storage]:
                    self._replaced.add(storage)

    def bytes(self, results: Iterable[Tensor]) -> int | None:
        """Return the bytes that cross the boundary of a call that returns some tensors; None if they are unknown."""
        returned = list(results)
        if not self._is_known or not all(map(is_plain, returned)):
            return None
        for tensor in returned:
            if storage_of(tensor) in self._made:
                self._note("out", storage_of(tensor), tensor, bytes_of(tensor))
        return sum(min(sum(parts.values()), self._sizes[storage]) for (_, storage), parts in self._crossing.items())

    def _note(self, direction: str, storage: int, tensor: Tensor, count: int) -> None:
        self._sizes[storage] = int(tensor.untyped_storage().nbytes())
        parts = self._crossing.setdefault((direction, storage), {})
        parts[key_of(tensor)] = max(count, parts.get(key_of(tensor), 0))
