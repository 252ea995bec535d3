"""The loops of an op: which axes of its tensors the op walks together.

An index text has one letter for each loop, as in einsum: ``"mk,kn->mn"`` is a matrix product. The inputs are before the
arrow and the outputs after it, in the op's order. An axis of one element that is stretched is ``1``. An axis whose
elements are read in any order, such as the rows of a table, is ``*``. An axis that contains several loops has them in
parentheses, the slowest first, as in einops: ``"m(hd)->hmd"`` moves heads to the front.

An op without an index text has that of its kind. A matrix product has its rows and columns in the last two axes, and a
batch before them. A reduction walks all axes of its first input. Elementwise and broadcasting ops have their axes
aligned from the last. Only an injective op has none: how it moves elements is then unknown.

`js/src/fusion/loops.ts` mirrors this file and `loops.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from roofwidget.workloads.expressions import Count
from roofwidget.workloads.tensors import Tensor

Axis: TypeAlias = tuple[str, ...]
"""The loops of one axis: letters, none for an axis of one element, or ``("*",)`` for an axis read in any order."""

ANY: Final[Axis] = ("*",)
_AXIS: Final = re.compile(r"\(([A-Za-z]+)\)|([A-Za-z])|(1)|(\*)")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Index(NamedTuple):
    """The loops of each axis of an op's inputs and outputs, in the op's order."""

    inputs: tuple[tuple[Axis, ...], ...]
    outputs: tuple[tuple[Axis, ...], ...]


def text_of(index: Index) -> str:
    """Return the text of an op's loops, such as ``"mk,kn->mn"``.

    Examples
    --------
    >>> text_of(Index(((("m",), ("h", "d")),), ((("h",), ("m",), ()),)))
    'm(hd)->hm1'
    """

    def written(axes: tuple[Axis, ...]) -> str:
        return "".join("1" if not axis else axis[0] if len(axis) == 1 else f"({''.join(axis)})" for axis in axes)

    return "->".join(",".join(map(written, side)) for side in index)


def parsed(text: str, op: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Index:
    """Return the loops of an index text.

    Raises
    ------
    TypeError, ValueError
        If the text has another form, or another number of tensors or axes than the op. The message names the op.

    Examples
    --------
    >>> x, y = Tensor("x", (8, 12), "fp32"), Tensor("y", (3, 8, 4), "fp32")
    >>> parsed("m(hd)->hmd", "heads", [x], [y])
    Index(inputs=((('m',), ('h', 'd')),), outputs=((('h',), ('m',), ('d',)),))
    """
    if not isinstance(text, str):
        raise TypeError(f"the index of op '{op}' must be text such as 'mk,kn->mn', got {text!r:.60}")
    sides = text.split("->")
    if len(sides) != 2:  # noqa: PLR2004 - inputs and outputs
        raise ValueError(
            f"the index of op '{op}' needs one '->' between inputs and outputs, as in 'mk,kn->mn': {text!r:.60}"
        )
    found = []
    for side, tensors, word in zip(sides, (inputs, outputs), ("inputs", "outputs"), strict=True):
        parts = side.split(",") if tensors else []
        if len(parts) != len(tensors):
            raise ValueError(f"the index {text!r:.60} of op '{op}' has {len(parts)} {word}, the op has {len(tensors)}")
        found.append(tuple(_axes(part.strip(), op, tensor) for part, tensor in zip(parts, tensors, strict=True)))
    return Index(*found)


def _axes(part: str, op: str, tensor: Tensor) -> tuple[Axis, ...]:
    axes: list[Axis] = []
    place = 0
    while place < len(part):
        match = _AXIS.match(part, place)
        if match is None:
            raise ValueError(
                f"the index of op '{op}' has {part[place]!r} in {part!r:.60}: write letters, '1', '*' or '(ab)'"
            )
        joined, letter, _, any_order = match.groups()
        axes.append(tuple(joined) if joined else (letter,) if letter else ANY if any_order else ())
        place = match.end()
    if len(axes) != len(tensor.shape):
        raise ValueError(
            f"the index of op '{op}' gives {part!r:.60} {len(axes)} axes, {tensor} has {len(tensor.shape)}"
        )
    return tuple(axes)


def usual(kind: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], axes: Sequence[int]) -> Index | None:
    """Return the loops that an op of a kind has by default. None for an injective or opaque op, which has none.

    Examples
    --------
    >>> x, y = Tensor("x", (8, 12), "fp32"), Tensor("y", (8,), "fp32")
    >>> usual("reduction", [x], [y], [1])
    Index(inputs=((('a',), ('b',)),), outputs=((('a',),),))
    """
    if kind in ("elementwise", "broadcast", "scan"):
        rank = max((len(one.shape) for one in (*inputs, *outputs)), default=0)
        sizes = _stretched(rank, [*outputs, *inputs])
        return Index(*(tuple(_aligned(one.shape, rank, sizes) for one in ones) for ones in (inputs, outputs)))
    if kind == "reduction" and inputs:
        return _reduction(inputs, outputs, axes)
    if kind == "matmul" and len(inputs) > 1:
        return _product(inputs, outputs)
    return None


def _stretched(rank: int, tensors: Sequence[Tensor]) -> list[Count]:
    """Return the size of each axis, counted from the last, to which all tensors are stretched."""
    sizes: list[Count] = [1] * rank
    for one in tensors:
        for axis, size in enumerate(one.shape, rank - len(one.shape)):
            sizes[axis] = size if sizes[axis] == 1 else sizes[axis]
    return sizes


def _aligned(shape: Sequence[Count], rank: int, sizes: Sequence[Count]) -> tuple[Axis, ...]:
    """Return the letters of a shape whose axes are aligned from the last; an axis that is stretched has none."""
    first = rank - len(shape)
    return tuple(() if size == 1 and sizes[axis] != 1 else (_LETTERS[axis],) for axis, size in enumerate(shape, first))


def _reduction(inputs: Sequence[Tensor], outputs: Sequence[Tensor], axes: Sequence[int]) -> Index:
    """Return the loops of a reduction: other inputs are aligned from the last axis with the first, or with the rows."""
    shape = inputs[0].shape
    letters = [(letter,) for letter in _LETTERS[: len(shape)]]
    left = [axis for axis in range(len(shape)) if axis not in axes]

    def axes_of(one: Tensor) -> tuple[Axis, ...]:
        if len(one.shape) > len(shape):
            return (ANY,) * len(one.shape)
        places = list(range(len(shape)))[len(shape) - len(one.shape) :]
        fits = all(one.shape[at] in (1, shape[place]) for at, place in enumerate(places))
        if len(one.shape) == len(left) and (not fits or one in outputs) and len(left) < len(shape):
            places = left
        elif not fits:
            return (ANY,) * len(one.shape)
        return tuple(letters[place] if one.shape[at] == shape[place] else () for at, place in enumerate(places))

    return Index(tuple(map(axes_of, inputs)), tuple(map(axes_of, outputs)))


def _product(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Index:
    """Return the loops of a product: rows and columns in the last two axes, a batch before, a bias along the result."""
    a, b, *others = inputs
    (out, *more) = outputs
    if not _fit(a.shape, b.shape, out.shape):
        unknown = tuple((ANY,) * len(one.shape) for one in inputs)
        return Index(unknown, tuple(tuple((letter,) for letter in _LETTERS[: len(one.shape)]) for one in outputs))
    rank = len(out.shape)
    result = [(letter,) for letter in _LETTERS[:rank]]
    inner = (_LETTERS[rank],)
    columns, rows = len(b.shape) > 1, len(a.shape) > 1
    batch = rank - (rows + columns) if rows and columns and len(b.shape) == len(a.shape) else 0

    def operand(one: Tensor, last: list[Axis]) -> tuple[Axis, ...]:
        many = len(one.shape) - len(last)
        own = result[max(0, batch - many) : batch] if many <= batch else result[:many]
        aligned = [axis if one.shape[at] != 1 else () for at, axis in enumerate(own)]
        return tuple([*aligned, *last][-len(one.shape) :])

    left = operand(a, [*([result[-2 if columns else -1]] if rows else []), inner])
    if rows and columns and len(b.shape) < len(a.shape):
        # A weight: all axes of the first operand but the last are rows.
        left = (*result[: len(a.shape) - 1], inner)
    right = operand(b, [inner, *([result[-1]] if columns else [])])
    shape = out.shape
    rest = tuple(_aligned_with(one, shape, result) for one in (*others, *more))
    return Index((left, right, *rest[: len(others)]), (tuple(result), *rest[len(others) :]))


def _fit(a: Sequence[Count], b: Sequence[Count], out: Sequence[Count]) -> bool:
    """Return whether shapes are those of a product of matrices or vectors, with a batch before that may broadcast."""
    inner = b[-2] if len(b) > 1 else b[-1] if b else None
    ends = (*(a[-2:-1]), *(b[-1:] if len(b) > 1 else ()))
    batch = len(out) - len(ends)
    if not a or not b or a[-1] != inner or batch < max(0, len(a) - 2, len(b) - 2):
        return False
    return tuple(out[batch:]) == ends


def _aligned_with(one: Tensor, shape: Sequence[Count], letters: Sequence[Axis]) -> tuple[Axis, ...]:
    first = len(shape) - len(one.shape)
    if first < 0 or any(size not in (1, shape[axis]) for axis, size in enumerate(one.shape, first)):
        return (ANY,) * len(one.shape)
    return tuple(letters[axis] if size == shape[axis] else () for axis, size in enumerate(one.shape, first))
