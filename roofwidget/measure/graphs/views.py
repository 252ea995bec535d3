"""Arrays of a traced function, and views of them: a transpose, a slice and a broadcast move no bytes.

A view is a shape with one stride per axis, and an offset, in elements of its array. The array is dense. If ops read
parts of an array, the array is cut into pieces, so that each op reads just the pieces that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final, TypeAlias

from roofwidget.workloads.expressions import Count, ceil_div, dims_of, evaluate
from roofwidget.workloads.expressions import product as multiplied

# The largest number of pieces of an array: enough for the layers of a model whose weights are stacked.
_MAX_PIECES: Final = 256

Box: TypeAlias = "tuple[tuple[int, Count], ...]"
"""A part of an array: a first index and an end for each digit of the position of an element."""


@dataclass(eq=False)
class Array:
    """Memory that an input fills or an op writes.

    Parameters
    ----------
    name
        The name of an input. Empty for what an op writes: its tensor gets the name of the op.
    shape, strides
        The size of each axis, and the distance in elements between neighbours along the axis.
    dtype
        The dtype of an element.
    """

    name: str
    shape: tuple[Count, ...]
    strides: tuple[Count, ...]
    dtype: str

    @property
    def size(self) -> Count:
        """Number of elements."""
        return multiplied(self.shape)

    def view(self) -> View:
        """Return the view of the whole array."""
        return View(self, self.shape, self.strides)


@dataclass(frozen=True)
class View:
    """What an op reads of an array. An axis with the stride 0 repeats its elements."""

    array: Array
    shape: tuple[Count, ...]
    strides: tuple[Count, ...]
    offset: Count = 0

    @property
    def size(self) -> Count:
        """Number of elements, repeated ones included."""
        return multiplied(self.shape)

    @property
    def axes(self) -> tuple[tuple[Count, Count], ...]:
        """Size and stride of each axis along which different elements lie."""
        return tuple(
            (size, stride) for size, stride in zip(self.shape, self.strides, strict=True) if size != 1 and stride != 0
        )

    @property
    def distinct(self) -> Count:
        """Number of different elements."""
        return multiplied(size for size, _ in self.axes)

    @property
    def is_whole(self) -> bool:
        """Whether the view has all elements of its array."""
        return self.distinct == self.array.size

    @property
    def is_in_order(self) -> bool:
        """Whether the view has all elements, in the order in which they are in memory."""
        return self.is_whole and _descend(stride for _, stride in self.axes)

    def follows(self, shape: Sequence[Count], strides: Sequence[Count]) -> bool:
        """Return whether the view's elements are in memory in the order of an array to which the view is broadcast."""
        own = list(zip(self.shape, self.strides, strict=True))
        there = list(zip(shape, strides, strict=True))[len(shape) - len(own) :]
        axes = [
            (far, stride) for (size, stride), (_, far) in zip(own, there, strict=False) if size != 1 and stride != 0
        ]
        return self.is_whole and _descend(near for _, near in sorted(axes, key=lambda axis: -value_of(axis[0])))


def dense(shape: Sequence[Count]) -> tuple[Count, ...]:
    """Return the strides of an array whose last axis is contiguous.

    Examples
    --------
    >>> dense((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[Count] = []
    step: Count = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * size
    return tuple(reversed(strides))


def reshaped(view: View, shape: Sequence[int]) -> View | None:
    """Return a view in another shape, or None if the elements must be copied for it. Sizes are ints.

    Examples
    --------
    >>> rows = Array("x", (4, 6), (6, 1), "fp32").view()
    >>> reshaped(rows, (2, 2, 6)).strides, reshaped(View(rows.array, (6, 4), (1, 6)), (24,))
    ((12, 6, 1), None)
    """
    own = [
        (evaluate(size, {}), evaluate(stride, {}))
        for size, stride in zip(view.shape, view.strides, strict=True)
        if size != 1
    ]
    strides: list[int] = []
    left = list(reversed(own))
    size, stride = 1, 1  # what is left of a run of axes that lie side by side in memory
    for wanted in reversed(shape):
        if wanted == 1:
            strides.append(stride * size)
            continue
        if size == 1 and left:
            size, stride = left.pop(0)
        while size % wanted and left and left[0][1] == stride * size:
            size *= left.pop(0)[0]
        if size % wanted:
            return None
        strides.append(stride)
        size, stride = size // wanted, stride * wanted
    return View(view.array, tuple(shape), tuple(reversed(strides)), view.offset)


def axes_of(view: View, dims: Iterable[int], shape: Sequence[Count], strides: Sequence[Count]) -> tuple[int, ...]:
    """Return the axes of an array, of this shape and these strides, along which some axes of a view run."""
    runs = [(view.strides[dim], view.strides[dim] * view.shape[dim]) for dim in dims if view.shape[dim] != 1]
    return tuple(
        axis
        for axis, (size, stride) in enumerate(zip(shape, strides, strict=True))
        if size != 1
        and any(value_of(start) < value_of(stride * size) and value_of(stride) < value_of(end) for start, end in runs)
    )


@dataclass(frozen=True)
class Piece:
    """A part of an array that is a tensor of its own.

    Parameters
    ----------
    shape
        Its shape.
    place
        The part as an index, such as ``:, 0:256``. Empty if no single index selects it.
    """

    shape: tuple[Count, ...]
    place: str


class Pieces:
    """The pieces into which the reads of an array cut it, so that every view consists of whole pieces.

    Parameters
    ----------
    array
        The array.
    readers
        The views through which each op reads the array.

    Attributes
    ----------
    pieces
        The pieces. Empty if the array stays whole: all ops read all of it, or no few pieces serve every view.
    """

    def __init__(self, array: Array, readers: Sequence[Sequence[View]]) -> None:
        self.pieces: list[Piece] = []
        self._places: dict[View, list[int]] = {}
        views = list(dict.fromkeys(view for reads in readers for view in reads))
        digits = None if all(view.is_whole for view in views) else _digits(array, views)
        found = {} if digits is None else {view: _box(view, digits) for view in views}
        boxes = {view: box for view, box in found.items() if box is not None}
        if digits is None or len(boxes) < len(views):
            return
        ends = [{0, size, *(end for box in boxes.values() for end in box[at])} for at, (size, _) in enumerate(digits)]
        cells = list(product(*(pairwise(sorted(there, key=value_of)) for there in reversed(ends))))
        if len(cells) > _MAX_PIECES:
            return
        parts = [cell[::-1] for cell in cells]
        places = {view: [at for at, part in enumerate(parts) if _is_inside(part, box)] for view, box in boxes.items()}
        if any(len({at for view in reads for at in places[view]}) < len(parts) for reads in readers):
            self.pieces = [_piece(array, digits, part) for part in parts]
            self._places = places

    def of(self, view: View) -> list[int]:
        """Return the indices of the pieces of a view."""
        return self._places[view]


def value_of(count: Count) -> int:
    """Return the value of a count with every dimension at its default."""
    return evaluate(count, {dim.name: dim.default for dim in dims_of([count])})


def _descend(strides: Iterable[Count]) -> bool:
    return all(value_of(one) > value_of(next_one) for one, next_one in pairwise(strides))


def _exact(count: Count, divisor: Count) -> Count | None:
    """Return the quotient, or None if the divisor does not divide the count at all dimensions."""
    quotient = ceil_div(count, divisor)
    return quotient if quotient * divisor == count else None


def _digits(array: Array, views: Iterable[View]) -> list[tuple[Count, int]] | None:
    """Return the size and the stride of each digit of an element's position, the fastest digit first.

    The digits are those of a mixed radix in which every axis of the array and of the views begins at a digit. Return
    None if there is no such radix.
    """
    strides = {stride for view in (array.view(), *views) for _, stride in view.axes}
    steps = sorted(stride for stride in strides if isinstance(stride, int))
    if len(steps) < len(strides) or not steps or steps[0] != 1 or any(far % near for near, far in pairwise(steps)):
        return None
    last = _exact(array.size, steps[-1])
    inner: list[tuple[Count, int]] = [(far // near, near) for near, far in pairwise(steps)]
    return None if last is None else [*inner, (last, steps[-1])]


def _box(view: View, digits: Sequence[tuple[Count, int]]) -> Box | None:
    """Return the range of each digit in a view, or None if the view is no such box."""
    if not isinstance(view.offset, int):
        return None
    last = len(digits) - 1
    starts = [
        view.offset // stride % (size if at < last and isinstance(size, int) else view.offset + 1)
        for at, (size, stride) in enumerate(digits)
    ]
    ranges: dict[int, tuple[int, Count]] = {}
    places = {stride: at for at, (_, stride) in enumerate(digits)}
    for size, stride in view.axes:
        if not isinstance(stride, int):
            return None
        at, left = places[stride], size
        while left != 1:
            whole, start = digits[at][0], starts[at]
            times = _exact(left, whole)
            if at in ranges or (times is None and not isinstance(left, int)) or (times is not None and start):
                return None
            ranges[at] = (start, start + left if times is None else whole)
            left, at = times or 1, at + 1
            if left != 1 and at > last:
                return None
    box = tuple(ranges.get(at, (start, start + 1)) for at, start in enumerate(starts))
    is_inside = all(value_of(end) <= value_of(size) for (_, end), (size, _) in zip(box, digits, strict=True))
    return box if is_inside else None


def _is_inside(part: Sequence[tuple[Count, Count]], box: Box) -> bool:
    return all(
        value_of(low) <= value_of(start) and value_of(end) <= value_of(high)
        for (start, end), (low, high) in zip(part, box, strict=True)
    )


def _piece(array: Array, digits: Sequence[tuple[Count, int]], part: Sequence[tuple[Count, Count]]) -> Piece:
    shape: list[Count] = []
    places: list[str] = []
    for size, stride in zip(array.shape, array.strides, strict=True):
        begin, end = value_of(stride), value_of(stride) * value_of(size)
        own = [(whole, *part[at]) for at, (whole, step) in enumerate(digits) if begin <= step < end]
        shape.append(multiplied(high - low for _, low, high in own))
        places.append(_place(own))
    return Piece(tuple(shape), "" if "" in places else ", ".join(places))


def _place(digits: Sequence[tuple[Count, Count, Count]]) -> str:
    """Return the range of an axis as an index, or an empty text if the range has gaps.

    Each digit has a size, a first index and an end; the fastest digit is the first.
    """
    step: Count = 1
    start: Count = 0
    length: Count = 1
    for size, low, high in digits:
        if length != step and high - low != 1:
            return ""
        start, length, step = start + low * step, length * (high - low), step * size
    return ":" if length == step else f"{start}:{start + length}"
