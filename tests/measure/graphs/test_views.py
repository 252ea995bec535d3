"""Views of arrays, and the pieces that reads cut from them, compared with numpy's own views."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from roofwidget.measure.graphs.views import Array, Pieces, View, dense, reshaped, value_of
from roofwidget.workloads.expressions import dim


def array(*shape: int) -> Array:
    return Array("x", shape, dense(shape), "fp32")


def view_of(base: Array, part: np.ndarray[Any, Any]) -> View:
    """Return the view that numpy made of an array of 8-byte numbers, each of which is its own position."""
    strides = tuple(stride // 8 if size != 1 else 0 for size, stride in zip(part.shape, part.strides, strict=True))
    return View(base, part.shape, strides, int(part.flat[0]))


def positions(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(prod(shape)).reshape(shape)


def test_halves_of_the_last_axis_are_two_pieces() -> None:
    x, base = positions(3, 4, 8), array(3, 4, 8)
    left, right = view_of(base, x[..., :4]), view_of(base, x[..., 4:])
    pieces = Pieces(base, [[left], [right], [base.view()]])
    assert [(piece.shape, piece.place) for piece in pieces.pieces] == [
        ((3, 4, 4), ":, :, 0:4"),
        ((3, 4, 4), ":, :, 4:8"),
    ]
    assert (pieces.of(left), pieces.of(right), pieces.of(base.view())) == ([0], [1], [0, 1])


def test_parts_of_a_reshaped_and_permuted_array_are_pieces_of_the_array() -> None:
    x, base = positions(2, 5, 24), array(2, 5, 24)
    q, k, v = (view_of(base, part) for part in x.reshape(2, 5, 3, 2, 4).transpose(2, 0, 3, 1, 4))
    pieces = Pieces(base, [[q, k], [v]])
    assert [piece.place for piece in pieces.pieces] == [":, :, 0:8", ":, :, 8:16", ":, :, 16:24"]
    assert [pieces.of(view) for view in (q, k, v)] == [[0], [1], [2]]


def test_an_array_that_each_op_reads_whole_stays_whole() -> None:
    x, base = positions(4, 8), array(4, 8)
    halves = [view_of(base, x[:, :4]), view_of(base, x[:, 4:])]
    assert Pieces(base, [halves, [view_of(base, x.T)]]).pieces == []


def test_a_slice_of_a_dynamic_array_along_another_axis_is_a_piece() -> None:
    rows = dim("rows", 1, 64, default=4)
    base = Array("x", (rows, 8), (8, 1), "fp32")
    left = View(base, (rows, 2), (8, 1))
    assert [piece.shape for piece in Pieces(base, [[left]]).pieces] == [(rows, 2), (rows, 6)]


@pytest.mark.parametrize("seed", range(40))
def test_pieces_cover_the_array_once_and_each_view_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.choice([2, 3, 4, 6], size=3))
    x, base = positions(*shape), array(*shape)
    readers = []
    for _ in range(int(rng.integers(1, 4))):
        cut = [np.sort(rng.choice(size + 1, size=2, replace=False)) for size in shape]
        part = x[tuple(slice(int(low), int(high)) for low, high in cut)].transpose(rng.permutation(3))
        readers.append([view_of(base, part)])
    pieces = Pieces(base, readers)
    if pieces.pieces:
        sizes = [prod(value_of(size) for size in piece.shape) for piece in pieces.pieces]
        assert sum(sizes) == x.size
        for (view,) in readers:
            assert sum(sizes[place] for place in pieces.of(view)) == view.distinct
    else:
        assert all(view.is_whole for (view,) in readers)


@pytest.mark.parametrize("seed", range(40))
def test_a_view_in_another_shape_is_numpys_or_a_copy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, base = positions(2, 3, 4), array(2, 3, 4)
    order = rng.permutation(3)
    part = x.transpose(order)
    shape = [(24,), (6, 4), (4, 6), (2, 12), (2, 3, 2, 2), (3, 8), (1, 24, 1), (12, 2)][seed % 8]
    found = reshaped(View(base, part.shape, tuple(stride // 8 for stride in part.strides)), shape)
    wanted = part.reshape(shape)
    if found is None:
        assert not np.shares_memory(wanted, x)
    else:
        strides = [8 * value_of(stride) for stride in found.strides]
        seen = np.lib.stride_tricks.as_strided(x, shape, strides)
        assert seen.tolist() == wanted.tolist()
        assert np.shares_memory(wanted, x)


def test_a_view_follows_an_array_if_its_elements_lie_in_the_same_order() -> None:
    x, base = positions(4, 8), array(4, 8)
    whole, turned = view_of(base, x), view_of(base, x.T)
    row = View(array(8), (8,), (1,))
    assert whole.follows((4, 8), (8, 1))
    assert turned.follows((8, 4), (1, 8))
    assert not turned.follows((8, 4), (4, 1))
    assert row.follows((4, 8), (8, 1))
    assert not view_of(base, x[:, :4]).follows((4, 4), (4, 1))
