"""What the counter asks of a tensor: its bytes, its memory, and where tensors are in nested arguments."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import torch

Tensor: TypeAlias = Any


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of nested lists, tuples, sets, dicts and dataclasses, in their order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for part in value:
            yield from tensors_in(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors_in(getattr(value, field.name))


def storage_of(tensor: Tensor) -> int:
    """Return a number that tensors have in common if and only if they share memory."""
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - fake tensors have no address


def key_of(tensor: Tensor) -> Hashable:
    """Return what tensors have in common that are the same elements of the same memory."""
    return storage_of(tensor), int(tensor.storage_offset()), tuple(tensor.shape), tuple(tensor.stride())


def bytes_of(tensor: Tensor) -> int:
    """Return the bytes of the elements, each once.

    A dimension of stride 0, which `expand` makes, repeats the same elements. Overlapping windows have no more bytes
    than their memory.
    """
    count = int(tensor.itemsize)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if size == 0:
            return 0
        if stride != 0:
            count *= int(size)
    return min(count, int(tensor.untyped_storage().nbytes()))


def is_plain(tensor: Tensor) -> bool:
    """Return whether the tensor has strides and one memory: a sparse or a nested tensor does not."""
    return tensor.layout == torch.strided and not tensor.is_nested
