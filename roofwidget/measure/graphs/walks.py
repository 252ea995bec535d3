"""The loops of a traced op over its tensors, as an index text (`roofwidget.workloads.index`).

An op walks views, and tensors are the arrays behind the views. A transposed view of a weight has the weight's own axes
in another order, and heads that a view splits off are a part of an axis of the array. Strides tell which: an axis of a
view runs along those axes of the array whose distances between neighbours lie between its own and that times its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from roofwidget.measure.graphs.views import View, dense, reshaped, value_of
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.index import ANY, Axis, Index, text_of

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

Layout: TypeAlias = "tuple[tuple[Count, ...], tuple[Count, ...]]"
"""The shape and the strides of a tensor."""


class _Span(NamedTuple):
    """A loop in memory: its letter, its size, and the distance between neighbours along it."""

    letter: str
    size: int
    stride: int


@dataclass
class Walked:
    """What an op walks: a view or what it writes, the loops of its axes, and the layouts of its tensors."""

    view: View
    axes: tuple[Axis, ...] | None
    layouts: Sequence[Layout]


def index_of(reads: Sequence[Walked], writes: Sequence[Walked]) -> str | None:
    """Return the index text of an op over its tensors, or None if it has too many loops for letters."""
    spans = [_spans(each, _sizes([*reads, *writes])) for each in (*reads, *writes)]
    cuts: dict[str, set[int]] = {}
    for each, own in zip((*reads, *writes), spans, strict=True):
        for shape, strides in each.layouts:
            _cut(own, shape, strides, cuts)
    parts = {letter: _chain(sizes) for letter, sizes in cuts.items()}
    names: dict[tuple[str, int], str] = {}
    sides = [
        [_axes(own, layout, parts, names) for layout in each.layouts]
        for each, own in zip((*reads, *writes), spans, strict=True)
    ]
    if len(names) > len(_LETTERS):
        return None
    inputs, outputs = sides[: len(reads)], sides[len(reads) :]
    read, made = (tuple(axes for side in each for axes in side) for each in (inputs, outputs))
    return text_of(Index(read, made))


def moved(view: View, shape: Sequence[Count]) -> Index:
    """Return the loops of an op that writes the elements of a view, in their order, in another shape."""
    ends: set[int] = {1}
    for sizes in (view.shape, shape):
        step = 1
        for size in reversed(sizes):
            step *= value_of(size)
            ends.add(step)
    known = _chain(ends)
    letters = {low: _LETTERS[at % len(_LETTERS)] for at, (low, _) in enumerate(pairwise(known))}

    def axes(sizes: Sequence[Count]) -> tuple[Axis, ...]:
        found: list[Axis] = []
        for size, low in zip(sizes, dense(sizes), strict=True):
            start, end = value_of(low), value_of(low) * value_of(size)
            inside = [letters[at] for at in sorted(letters, reverse=True) if start <= at < end]
            found.append(tuple(inside) if start in letters or start == end else ANY)
        return tuple(found)

    return Index((axes(view.shape),), (axes(shape),))


def _sizes(walked: Iterable[Walked]) -> dict[str, int]:
    """Return the sizes of letters. A letter that is only a part of an axis gets what the other letters leave."""
    sizes: dict[str, int] = {}
    joined: list[tuple[Axis, int]] = []
    for each in walked:
        for axis, size in zip(each.axes or (), each.view.shape, strict=False):
            if len(axis) == 1 and axis != ANY:
                sizes[axis[0]] = max(value_of(size), sizes.get(axis[0], 1))
            elif len(axis) > 1:
                joined.append((axis, value_of(size)))
    for axis, size in joined:
        left = size
        for letter in axis:
            left //= sizes.get(letter, 1)
        for letter in axis:
            if letter not in sizes:
                sizes[letter], left = max(left, 1), 1
    return sizes


def _spans(walked: Walked, sizes: dict[str, int]) -> list[_Span]:
    found: list[_Span] = []
    if walked.axes is None:
        return found
    for axis, size, step in zip(walked.axes, walked.view.shape, walked.view.strides, strict=True):
        if size == 1 or step == 0 or axis == ANY:
            continue
        stride = value_of(step)
        for letter in reversed(axis):
            length = value_of(size) if len(axis) == 1 else sizes[letter]
            found.append(_Span(letter, length, stride))
            stride *= length
    return found


def _cut(spans: Iterable[_Span], shape: Sequence[Count], strides: Sequence[Count], cuts: dict[str, set[int]]) -> None:
    """Note where axes of a tensor begin or end inside a loop."""
    edges = {value_of(stride) for stride in strides} | {
        value_of(stride) * value_of(size) for size, stride in zip(shape, strides, strict=True)
    }
    for letter, size, stride in spans:
        own = cuts.setdefault(letter, {1, size})
        own.add(size)
        own.update(edge // stride for edge in edges if stride < edge < stride * size and edge % stride == 0)


def _chain(sizes: Iterable[int]) -> list[int]:
    """Return ascending sizes that divide each other; sizes that do not are left out."""
    found: list[int] = []
    for size in sorted(sizes):
        if not found or size % found[-1] == 0:
            found.append(size)
    return found


def _axes(
    spans: Iterable[_Span], layout: Layout, parts: dict[str, list[int]], names: dict[tuple[str, int], str]
) -> tuple[Axis, ...]:
    """Return the loops of a tensor's axes, in letters of the text."""
    found: list[Axis] = []
    pieces = [
        (span.stride * low, (span.letter, low))
        for span in spans
        for low, _ in pairwise(parts.get(span.letter, [1, span.size]))
        if low < span.size
    ]
    for size, stride in zip(*layout, strict=True):
        start, end = value_of(stride), value_of(stride) * value_of(size)
        inside = sorted(((at, key) for at, key in pieces if start <= at < end), reverse=True)
        if not inside:
            found.append(() if size == 1 else ANY)
            continue
        letters = []
        for _, key in inside:
            names.setdefault(key, _LETTERS[len(names) % len(_LETTERS)])
            letters.append(names[key])
        found.append(tuple(letters))
    return tuple(found)


def in_shape(view: View, shape: Sequence[Count]) -> View:
    """Return a view in the shape in which an operator takes it. If that needs a copy, its axes are in any order."""
    if tuple(shape) == view.shape:
        return view
    found = reshaped(view, [value_of(size) for size in shape])
    return found if found is not None else View(view.array, tuple(shape), (0,) * len(shape), view.offset)
