"""What the counter asks of a tensor: its bytes, its memory, and where tensors are in nested arguments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeTensor

Tensor: TypeAlias = Any


class OpCall(NamedTuple):
    """A finished call of an operation.

    Parameters
    ----------
    operation
        The overload, such as ``torch.ops.aten.mm.default``.
    args, kwargs, result
        Its arguments as a dispatch mode gets them, and what it returned.
    """

    operation: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any

    @property
    def name(self) -> str:
        """The operation's name without the overload, such as ``mm``."""
        return str(self.operation._overloadpacket.__name__)  # noqa: SLF001 - no public name

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors among the arguments."""
        return tensors_in((self.args, self.kwargs))

    @property
    def results(self) -> list[Tensor]:
        """The tensors of the result."""
        return tensors_in(self.result)

    @property
    def made(self) -> int:
        """The elements of the first result."""
        return int(self.results[0].numel())

    def size(self, place: int) -> int:
        """Return the elements of an argument that is a tensor or a list of tensors."""
        given = self.args[place]
        return sum(int(tensor.numel()) for tensor in (given if isinstance(given, (list, tuple)) else [given]))

    def given(self, *places: int) -> int:
        """Return how many of some arguments are not None."""
        return sum(self.args[place] is not None for place in places)


_PLAIN: Final = (int, float, str, complex, torch.dtype, torch.device, torch.layout, torch.memory_format)


def tensors_in(value: Any) -> list[Tensor]:
    """Return the tensors of nested lists, tuples, sets, dicts and dataclasses, in their order."""
    found: list[Tensor] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[Tensor]) -> None:
    # Most arguments of operations are tensors, lists, numbers or None: those are recognised first.
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for part in value:
            _collect(part, found)
    elif isinstance(value, _PLAIN) or value is None:
        return
    elif isinstance(value, Mapping):
        for part in value.values():
            _collect(part, found)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _collect(getattr(value, field.name), found)


def storage_of(tensor: Tensor) -> int:
    """Return a number that tensors have in common if and only if they share memory."""
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - fake tensors have no address


def key_of(tensor: Tensor) -> Hashable:
    """Return what tensors have in common that are the same elements of the same memory."""
    return (
        storage_of(tensor),
        int(tensor.storage_offset()),
        tuple(map(int, tensor.shape)),
        tuple(map(int, tensor.stride())),
    )


def bytes_of(tensor: Tensor) -> int:
    """Return the bytes of the elements, each once.

    A dimension of stride 0, which `expand` makes, repeats the same elements. Overlapping windows have no more elements
    than lie between the first and the last.

    Examples
    --------
    >>> x = torch.zeros(8)
    >>> bytes_of(x), bytes_of(x.expand(100, 8)), bytes_of(x.unfold(0, 4, 1))
    (32, 32, 32)
    """
    count = span = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if size == 0:
            return 0
        if stride != 0:
            count *= int(size)
            span += (int(size) - 1) * int(stride)
    return min(count, span) * int(tensor.itemsize)


def is_plain(tensor: Tensor) -> bool:
    """Return whether the tensor has strides and one memory: a sparse or a nested tensor does not."""
    return tensor.layout == torch.strided and not tensor.is_nested


def has_values(tensor: Tensor) -> bool:
    """Return whether a tensor has values: not on the meta device, nor under a `FakeTensorMode`."""
    return not tensor.is_meta and not isinstance(tensor, FakeTensor)
