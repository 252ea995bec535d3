"""The bytes that an operation of PyTorch reads and writes, if nothing is cached.

An operation reads each distinct input once and writes each new or changed output once. The exceptions:

- A view, and an operation that only allocates memory, moves nothing.
- What `copy_`, `fill_` and other operations overwrite, and what ``out=`` names, is written and not read.
- `embedding`, `index`, `gather` and other operations that read some elements of a table read as many bytes as they
  write, and the indices.
- `index_put_`, `scatter_` and other operations that change some elements of a tensor write as many bytes as they are
  given, read as many, and read the indices.
- Elements that `expand` repeats count once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, Final, TypeAlias

import torch

from roofwidget.measure.torch.flops import accumulates
from roofwidget.measure.torch.tensors import OpCall, Tensor, bytes_of, is_plain, key_of, storage_of, tensors_in

Moved: TypeAlias = "tuple[tuple[Tensor, int], ...]"

_MEMORY_ONLY: Final = frozenset(
    (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
        *(
            "resize_",
            "resize_as_",
            "set_",
            "record_stream",
            "_assert_async",
            "_assert_scalar",
            "_assert_tensor_metadata",
        ),
    )
)
_OVERWRITES: Final = frozenset(
    (
        *("copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "geometric_"),
        *("cauchy_", "log_normal_", "_foreach_copy_", "_foreach_zero_"),
    )
)
_FACTORIES: Final = frozenset(
    (
        *("zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like", "fill"),
        *("new_zeros", "new_ones", "new_full", "_efficientzerotensor"),
    )
)
_GATHERS: Final = frozenset(("embedding", "index", "_unsafe_index", "index_select", "gather", "take"))
_BAGS: Final = frozenset(("_embedding_bag", "_embedding_bag_forward_only"))
_SCATTERS: Final = frozenset(
    (
        *("index_put_", "_index_put_impl_", "index_copy_", "index_add_", "index_fill_"),
        *("index_reduce_", "scatter_", "scatter_add_", "scatter_reduce_", "masked_scatter_"),
    )
)
_ADDING_SCATTERS: Final = frozenset(("index_add_", "index_reduce_", "scatter_add_", "scatter_reduce_"))


@dataclass(frozen=True)
class Traffic:
    """Which tensors an operation reads and writes, with the bytes of each.

    Parameters
    ----------
    reads, writes
        Tensors and bytes. None if the bytes are unknown, as those of sparse tensors are.
    """

    reads: Moved | None = ()
    writes: Moved | None = ()

    @property
    def bytes_read(self) -> int | None:
        return None if self.reads is None else sum(count for _, count in self.reads)

    @property
    def bytes_written(self) -> int | None:
        return None if self.writes is None else sum(count for _, count in self.writes)


@dataclass(frozen=True)
class _Rule:
    """What the schema and the name of an operation say about its bytes."""

    name: str
    moves_nothing: bool
    written: tuple[tuple[int, str], ...]
    overwritten: frozenset[int]


@cache
def _rule(operation: Any) -> _Rule:
    name = operation._overloadpacket.__name__  # noqa: SLF001 - no public name
    arguments = operation._schema.arguments  # noqa: SLF001 - no public name
    written = {
        place: argument
        for place, argument in enumerate(arguments)
        if argument.alias_info and argument.alias_info.is_write
    }
    return _Rule(
        name,
        name in _MEMORY_ONLY or torch.Tag.inplace_view in operation.tags,
        tuple((place, argument.name) for place, argument in written.items()),
        frozenset(
            place for place, argument in written.items() if argument.is_out or (name in _OVERWRITES and place == 0)
        ),
    )


def traffic(call: OpCall) -> Traffic:
    """Return what one call of an operation of `torch.ops` reads and writes.

    Examples
    --------
    >>> x = torch.zeros(256, 256)
    >>> moved = traffic(OpCall(torch.ops.aten.relu.default, (x,), {}, torch.relu(x)))
    >>> moved.bytes_read, moved.bytes_written
    (262144, 262144)
    >>> traffic(OpCall(torch.ops.aten.t.default, (x,), {}, x.t())).bytes_read
    0
    """
    rule = _rule(call.operation)
    if rule.moves_nothing:
        return Traffic()
    targets = [tensor for place in rule.written for tensor in tensors_in(_argument(call, place))]
    given, results = call.inputs, call.results
    if not all(map(is_plain, (*given, *results))):
        return Traffic(None, None)
    known = {storage_of(tensor) for tensor in given}
    new = [tensor for tensor in results if storage_of(tensor) not in known]
    if results and not new and not targets:
        return Traffic()
    if rule.name in _SCATTERS and targets:
        return _scatter(call)
    writes = _once((*targets, *new))
    return Traffic(_reads(rule, call, sum(count for _, count in writes)), writes)


def _reads(rule: _Rule, call: OpCall, written: int) -> Moved:
    """Return what an operation reads that writes a number of bytes."""
    if rule.name in _FACTORIES:
        return ()
    # What is overwritten, and out=, comes by position or by name.
    names = {name for place, name in rule.written if place in rule.overwritten}
    given = [value for place, value in enumerate(call.args) if place not in rule.overwritten]
    given += [value for name, value in call.kwargs.items() if name not in names]
    if rule.name in _GATHERS:
        return ((given[0], written), *_once(tensors_in(given[1:])))
    if rule.name in _BAGS:
        row = given[0].itemsize * prod(map(int, given[0].shape[1:]))
        return ((given[0], int(given[1].numel()) * row), *_once(tensors_in(given[1:])))
    return _once(tensors_in(given))


def _argument(call: OpCall, place: tuple[int, str]) -> Any:
    index, name = place
    return call.args[index] if index < len(call.args) else call.kwargs.get(name)


def _once(tensors: Iterable[Tensor]) -> Moved:
    """Return each distinct tensor with its bytes."""
    found: dict[Hashable, tuple[Tensor, int]] = {}
    for tensor in tensors:
        found.setdefault(key_of(tensor), (tensor, bytes_of(tensor)))
    return tuple(found.values())


def _scatter(call: OpCall) -> Traffic:
    """Return the bytes of an operation that changes some elements of its first argument."""
    target, name = call.args[0], call.name
    touched = bytes_of(target)
    if name == "index_fill_":
        touched = touched // max(int(target.shape[call.args[1]]), 1) * call.size(2)
    elif name.startswith("scatter"):
        touched = min(touched, call.size(2) * int(target.itemsize))
    else:
        values = call.args[2 if "index_put" in name else -1]
        if isinstance(values, torch.Tensor) and int(values.numel()) > 1:
            touched = min(touched, int(values.numel()) * int(target.itemsize))
    reads = _once(tensors_in((call.args[1:], call.kwargs)))
    # Some read the elements that they change.
    adds = accumulates(call) if "index_put" in name else name in _ADDING_SCATTERS or "reduce" in call.kwargs
    return Traffic((*reads, (target, touched)) if adds else reads, ((target, touched),))
