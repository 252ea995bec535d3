"""Counting does not change what a function computes, nor what it leaves behind."""

from __future__ import annotations

import copy
import pickle
import threading
from collections import Counter, namedtuple
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from roofwidget.measure.counts import Request
from roofwidget.measure.numpy.arrays import CountedArray
from roofwidget.measure.numpy.counter import count, recorded

NO_TIMES = Request(timing=None)
Step = Callable[[Any, Any], Any]


def _scattered(a: Any, b: Any) -> Any:
    sums = np.zeros((4, 4))
    np.add.at(sums, [0, 1, 1], b[:3])
    return a + sums


def _part_in_place(a: Any, b: Any) -> Any:
    result = a.copy()
    result[1:3] += b[1:3]
    result[0, 0] = 7
    result[:, 3] = b[0]
    return result


# Each step takes two arrays of shape (4, 4) and returns another.
STEPS: dict[str, Step] = {
    "add": lambda a, b: a + b,
    "add in place": lambda a, b: np.add(a, b, out=a.copy()),
    "argsort": lambda a, b: np.take_along_axis(b, np.argsort(a, axis=1), axis=1),
    "astype": lambda a, _: a.astype(np.float32).astype(float),
    "at": _scattered,
    "broadcast": lambda a, b: a * b[0] + b[:, :1],
    "clip": lambda a, b: a.clip(-1, 1) + np.clip(b, 0, None),
    "concatenate": lambda a, b: np.concatenate([a, b])[::2],
    "cumsum": lambda a, _: a.cumsum(axis=0),
    "diff": lambda a, b: np.diff(a, axis=0, prepend=b[:1]),
    "divmod": lambda a, b: sum(np.divmod(a, np.abs(b) + 1)),
    "dot": lambda a, b: a.dot(b),
    "einsum": lambda a, b: np.einsum("ij,kj->ik", a, b),
    "fancy index": lambda a, b: a[[3, 0, 1, 2]] + b[:, np.array([1, 1, 0, 3])],
    "fft": lambda a, _: np.fft.fft(a).real,
    "gradient": lambda a, _: np.gradient(a)[0],
    "linalg": lambda a, b: np.linalg.solve(a @ a.T + 9 * np.eye(4), b),
    "mask": lambda a, b: np.where(a > 0, a, b),
    "matmul": lambda a, b: a @ b,
    "mean": lambda a, _: a - a.mean(axis=0) / (1 + a.std()),
    "median": lambda a, b: a - np.median(b, axis=0),
    "norm": lambda a, b: a / (1 + np.linalg.norm(b, axis=1, keepdims=True)),
    "outer": lambda a, b: np.outer(a[0], b[1]),
    "pad": lambda a, _: np.pad(a, 1)[1:-1, :-2],
    "part in place": _part_in_place,
    "percentile": lambda a, b: a + np.percentile(b, 30),
    "reductions": lambda a, b: a.max() + a.min() * b.sum(axis=1) + np.prod(b[0]) + a.argmax() + np.zeros((4, 4)),
    "roll": lambda a, _: np.roll(a, 1, axis=0),
    "single elements": lambda a, b: a * b[0, 1] + float(a[1, 1]),
    "sort": lambda a, _: np.sort(a, axis=0),
    "stack": lambda a, b: np.stack([a, b]).sum(axis=0),
    "tile": lambda a, _: np.tile(a, 2)[:, ::2],
    "transpose": lambda a, _: a.T,
    "unique": lambda a, _: np.resize(np.unique(a), (4, 4)),
    "view": lambda a, _: a[::-1, ::-1].reshape(2, 8).reshape(4, 4),
}


NUMBERS = arrays(np.float64, (4, 4), elements=st.floats(-8, 8, width=16))


@settings(max_examples=60)
@given(first=NUMBERS, second=NUMBERS, names=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6))
def test_a_counted_function_returns_what_the_plain_function_returns(first: Any, second: Any, names: list[str]) -> None:
    def chain(a: Any, b: Any) -> Any:
        for name in names:
            a, b = STEPS[name](a, b), a
        return a

    before = first.copy(), second.copy()
    with np.errstate(all="ignore"):
        expected = chain(first.copy(), second.copy())
        recorder, found = recorded(chain, (first, second), {}, NO_TIMES)
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_array_equal(first, before[0])
    np.testing.assert_array_equal(second, before[1])
    assert all(op.bytes is not None and op.bytes >= 0 for op in recorder.ops)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_each_step_of_the_property_is_seen(name: str) -> None:
    a = np.arange(16.0).reshape(4, 4) - 5
    assert count(STEPS[name], (a, a + 1), {}, NO_TIMES).ops


def test_counting_calls_the_function_once() -> None:
    calls = []

    def grow(a: Any) -> None:
        calls.append(a)
        a += 1

    a = np.zeros(3)
    count(grow, (a,), {}, NO_TIMES)
    assert len(calls) == 1
    assert a.tolist() == [1, 1, 1]


def test_arrays_in_lists_dicts_and_tuples_are_counted_and_their_types_stay() -> None:
    Pair = namedtuple("Pair", ["left", "right"])  # noqa: PYI024 - arrays of any type
    seen = []

    def add(pair: Any, table: Any, *, rest: Any) -> Any:
        seen.append((type(pair), type(table), type(rest), type(rest[0])))
        return {"sum": pair.left + pair.right + table["x"][0] + rest[0][0]}

    ones = np.ones(3)
    recorder, result = recorded(add, (Pair(ones, ones), {"x": [ones]}), {"rest": ([ones],)}, NO_TIMES)
    assert seen == [(Pair, dict, tuple, list)]
    assert [op.name for op in recorder.ops] == ["add", "add", "add"]
    assert type(result["sum"]) is np.ndarray
    assert result["sum"].tolist() == [4, 4, 4]


def test_a_target_is_returned_itself_and_so_is_an_array_that_needs_no_copy() -> None:
    def work(a: Any, target: Any) -> list[bool]:
        return [
            np.add(a, a, out=target) is target,
            a.astype(float, copy=False) is a,
            np.asarray(a) is a,
            np.cumsum(a, out=target) is target,
            np.take(a, [0, 1, 2], out=target, mode="clip") is target,
        ]

    _, same = recorded(work, (np.ones(3), np.zeros(3)), {}, NO_TIMES)
    assert same == work(np.ones(3), np.zeros(3)) == [True] * 5


def test_results_with_names_keep_their_names() -> None:
    def factors(a: Any) -> Any:
        found = np.linalg.svd(a)
        return np.linalg.qr(found.U).R, found

    matrix = np.diag([3.0, 2.0, 1.0])
    recorder, (triangle, found) = recorded(factors, (matrix,), {}, NO_TIMES)
    assert [op.name for op in recorder.ops] == ["svd", "qr"]
    np.testing.assert_array_equal(triangle, np.linalg.qr(np.linalg.svd(matrix).U).R)
    assert found.S.tolist() == [3, 2, 1]


def test_an_error_of_the_function_passes_through_and_numpy_is_as_before() -> None:
    class OwnError(Exception):
        pass

    zeros = np.zeros

    def fail(a: Any) -> None:
        raise OwnError(str(a.shape))

    with pytest.raises(OwnError, match=r"^\(3,\)$"):
        count(fail, (np.ones(3),), {}, NO_TIMES)
    assert np.zeros is zeros


def test_numpy_makes_plain_arrays_in_other_threads_while_one_counts() -> None:
    made: list[Any] = []

    def work(a: Any) -> Any:
        thread = threading.Thread(target=lambda: made.append(np.zeros(3)))
        thread.start()
        thread.join()
        made.append(np.zeros(3))
        return a

    count(work, (np.ones(3),), {}, NO_TIMES)
    assert [type(one) for one in made] == [np.ndarray, CountedArray]


def test_operations_of_all_threads_are_counted() -> None:
    def work(a: Any) -> list[Any]:
        with ThreadPoolExecutor(4) as pool:
            # numpy.interp is one operation in the end; its rows must not take those of other threads along.
            return list(pool.map(lambda part: np.interp(np.exp(part) + 1, [0.0, 9.0], [0.0, 1.0]).sum(), [a] * 40))

    recorder, sums = recorded(work, (np.ones(50),), {}, NO_TIMES)
    assert Counter(op.name for op in recorder.ops) == {"exp": 40, "add": 40, "interp": 40, "sum": 40}
    assert len(recorder.seconds) == 160
    assert len(set(sums)) == 1


def test_an_array_that_outlives_the_count_behaves_as_a_plain_array() -> None:
    kept: list[Any] = []
    count(kept.append, (np.arange(4.0),), {}, NO_TIMES)
    (array,) = kept
    for result in (array + 1, array[1:], array.copy(), np.sort(array), np.zeros_like(array), array.T, copy.copy(array)):
        assert type(result) is np.ndarray
    array[0] = 5
    assert repr(array) == "array([5., 1., 2., 3.])"
    assert f"{array}" == str(array) == "[5. 1. 2. 3.]"
    assert type(pickle.loads(pickle.dumps(array))) is np.ndarray  # noqa: S301 - its own
    assert type(copy.deepcopy(array)) is np.ndarray


WEIGHTS = np.ones((4, 4))


def _with_global(a: Any) -> Any:
    return WEIGHTS @ WEIGHTS + a


def test_arrays_in_globals_closures_and_objects_are_counted_and_restored() -> None:
    bias = np.ones((4, 4))

    class Layer:
        def __init__(self) -> None:
            self.weight = np.ones((4, 4))

        def forward(self) -> Any:
            return self.weight @ self.weight

        def __call__(self) -> Any:
            return self.weight * 2

    layer = Layer()
    weight = layer.weight
    functions: dict[str, tuple[Callable[..., Any], list[str]]] = {
        "global": (partial(_with_global, 1), ["matmul", "add"]),
        "closure": (lambda: bias + bias, ["add"]),
        "method": (layer.forward, ["matmul"]),
        "object": (layer, ["multiply"]),
    }
    for function, names in functions.values():
        assert [op.name for op in count(function, (), {}, NO_TIMES).ops] == names
    assert type(WEIGHTS) is type(bias) is np.ndarray
    assert layer.weight is weight


def test_a_variable_that_the_function_sets_keeps_its_value_as_a_plain_array() -> None:
    total = np.zeros(3)

    def add(a: Any) -> None:
        nonlocal total
        total = total + a

    count(add, (np.ones(3),), {}, NO_TIMES)
    assert type(total) is np.ndarray
    assert total.tolist() == [1, 1, 1]


def test_functions_that_return_nothing_or_take_numbers_are_counted() -> None:
    assert count(lambda: None, (), {}, NO_TIMES).ops == ()
    assert count(lambda x, y: x * y, (2.0, 3), {}, NO_TIMES).ops == ()
    (made,) = count(np.ones, (8,), {}, NO_TIMES).ops
    assert (made.name, made.bytes_written) == ("ones", 64)


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (np.array([1, "a"], dtype=object), "arrays of the type object"),
        (np.zeros(3, dtype=[("x", float)]), "arrays of the type void64"),
        (np.array(["a"]), "arrays of the type str32"),
        (np.ma.masked_array([1.0, 2.0]), "arrays of the class MaskedArray"),
    ],
)
def test_other_arrays_pass_through_uncounted_with_a_warning(array: Any, what: str) -> None:
    seen: list[Any] = []
    counts = count(seen.append, (array,), {}, NO_TIMES)
    assert seen[0] is array
    assert counts.warnings == (f"{what} are not counted",)


def test_single_elements_make_one_row_and_a_warning() -> None:
    def add_up(a: Any) -> float:
        total = 0.0
        for i in range(len(a)):
            total += a[i]
            a[i] = total
        return total

    counts = count(add_up, (np.ones(1000),), {}, NO_TIMES)
    assert [(op.name, op.flops, op.bytes_read, op.bytes_written) for op in counts.ops] == [
        ("single elements", {}, 8000, 8000)
    ]
    assert counts.warnings == (
        "2,000 single elements were read or written one by one; Python's arithmetic on them is not counted",
    )
