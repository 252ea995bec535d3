"""One call of a PyTorch operation as a profile records it: its name, and what its arguments were."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, NamedTuple

__all__ = ["Call", "Dims", "Unusable", "Work", "precision_of"]

Dims = tuple[int, ...]


class Unusable(Exception):  # noqa: N818 - not an error of the file: the operation's work stays unknown
    """The arguments of a call do not tell its work."""


_DTYPES: Final[Mapping[str, tuple[str, int]]] = {
    "float": ("fp32", 4),
    "double": ("fp64", 8),
    "c10::Half": ("fp16", 2),
    "c10::BFloat16": ("bf16", 2),
    "c10::Float8_e4m3fn": ("fp8", 1),
    "c10::Float8_e5m2": ("fp8", 1),
    "c10::Float8_e4m3fnuz": ("fp8", 1),
    "c10::Float8_e5m2fnuz": ("fp8", 1),
    "c10::Float8_e8m0fnu": ("fp8", 1),
    "long int": ("int64", 8),
    "long": ("int64", 8),
    "int": ("int32", 4),
    "short int": ("int16", 2),
    "short": ("int16", 2),
    "signed char": ("int8", 1),
    "unsigned char": ("int8", 1),
    "bool": ("bool", 1),
}
_INT: Final = re.compile(r"-?[0-9]{1,18}")
_INTS: Final = re.compile(r"-?[0-9]{1,18}|\[(?:-?[0-9]{1,18}(?:, *-?[0-9]{1,18}){0,9})?\]")
# PyTorch's own limits: 64 axes, and a signed number of 64 bits for the elements.
_MOST_AXES: Final = 64
_MOST_ELEMENTS: Final = 2**63
_OURS: Final = {ours: (ours, size) for ours, size in _DTYPES.values()}


def precision_of(dtype: str) -> str | None:
    """Return our word for a dtype as PyTorch writes it, or None where it is none that has FLOPs of its own.

    Examples
    --------
    >>> precision_of("c10::BFloat16"), precision_of("bf16"), precision_of("Scalar")
    ('bf16', 'bf16', None)
    """
    known = _DTYPES.get(dtype) or _OURS.get(dtype)
    return known[0] if known else None


class Work(NamedTuple):
    """What one call does: FLOPs of tensor or vector units, compulsory bytes, and the rule of its FLOPs."""

    family: str
    flops: int
    bytes: int | None
    rule: str
    vector: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Call:
    """The arguments of a call, position by position.

    Parameters
    ----------
    name
        The operation, such as ``"aten::addmm"``.
    dims
        Sizes: a list of ints for a tensor, of such lists for a list of tensors, empty for what is no tensor.
    types
        PyTorch's words for dtypes, ``"Scalar"``, ``"TensorList"`` or ``""``; None where none were recorded.
    values
        Arguments that are no tensors, as text; None where none were recorded.
    """

    name: str
    dims: Sequence[object]
    types: Sequence[object] | None = None
    values: Sequence[object] | None = None

    def tensor(self, position: int) -> Dims:
        """Return the sizes of a tensor; raise `Unusable` if there is none."""
        sizes = self.dims[position] if position < len(self.dims) else None
        if not isinstance(sizes, (list, tuple)) or not self._is_tensor(position, sizes):
            raise Unusable
        return _sizes(sizes)

    def tensors(self, position: int) -> list[Dims]:
        """Return the sizes of each tensor of a list."""
        listed = self.dims[position] if position < len(self.dims) else None
        if not isinstance(listed, (list, tuple)) or not listed:
            raise Unusable
        return [_sizes(sizes) for sizes in listed if isinstance(sizes, (list, tuple))]

    def has(self, position: int) -> bool:
        """Whether an optional tensor was given."""
        return bool(position < len(self.dims) and self.dims[position])

    def itemsize(self, position: int) -> int | None:
        """Return the bytes of an element, or None where the dtype is not known."""
        known = self._dtype(position)
        return known[1] if known else None

    def precision(self, position: int = 0) -> str | None:
        """Return our word for the dtype of an argument, or None."""
        known = self._dtype(position)
        return known[0] if known else None

    def read(self) -> int | None:
        """Return the bytes of all tensors that were handed in, each once; None where a dtype is not known.

        A number beside a tensor is recorded as a tensor without sizes; it is none.
        """
        total = 0
        for position, sizes in enumerate(self.dims):
            if (sizes or not position) and isinstance(sizes, (list, tuple)) and self._is_tensor(position, sizes):
                size = self.itemsize(position)
                if size is None:
                    return None
                total += prod(_sizes(sizes)) * size
        return total

    def moved(self, written: int, position: int = 0) -> int | None:
        """Return `read` and `written` elements of the dtype at a position, in bytes; None where not known."""
        read, size = self.read(), self.itemsize(position)
        return None if read is None or size is None else read + written * size

    def value(self, position: int) -> str:
        """Return an argument that is no tensor as it was written, ``""`` where it was not recorded."""
        values = self.values or ()
        return str(values[position]) if position < len(values) else ""

    def truth(self, position: int) -> bool:
        """Return a truth value; raise `Unusable` where it was not recorded."""
        try:
            return {"True": True, "true": True, "False": False, "false": False}[self.value(position)]
        except KeyError:
            raise Unusable from None

    def ints(self, position: int, rank: int) -> Dims:
        """Return a list of `rank` ints, such as strides; one int stands for as many of it."""
        listed = self.all_ints(position)
        if len(listed) not in {1, rank}:
            raise Unusable
        return listed if len(listed) == rank else listed * rank

    def all_ints(self, position: int) -> Dims:
        """Return one int or a list of them, none where they were not recorded."""
        text = self.value(position)
        if text and not _INTS.fullmatch(text):
            raise Unusable
        return tuple(map(int, _INT.findall(text)))

    @property
    def shape(self) -> str:
        """The sizes of its tensors as text, such as ``"[512], [141, 512], [512, 512]"``."""
        return ", ".join(str(sizes) for sizes in self.dims if sizes)

    @property
    def dtype(self) -> str:
        """The dtypes of its tensors as text, each different one once."""
        found = (self.precision(position) for position, sizes in enumerate(self.dims) if sizes)
        return ", ".join(dict.fromkeys(word for word in found if word))

    def _dtype(self, position: int) -> tuple[str, int] | None:
        word = self.types[position] if self.types is not None and position < len(self.types) else None
        return (_DTYPES.get(word) or _OURS.get(word)) if isinstance(word, str) else None

    def _is_tensor(self, position: int, sizes: Sequence[object]) -> bool:
        """Whether it is a tensor: it has sizes, or none and a dtype, and then is one number on the device."""
        return bool(sizes and not isinstance(sizes[0], (list, tuple))) or (
            not sizes and self._dtype(position) is not None
        )


def _sizes(given: Sequence[object]) -> Dims:
    sizes = tuple(size for size in given if isinstance(size, int) and not isinstance(size, bool) and size >= 0)
    if len(sizes) < len(given) or len(sizes) > _MOST_AXES or prod(sizes) > _MOST_ELEMENTS:
        raise Unusable
    return sizes
