"""`sweep`: a profile per value, as series of one widget and as a table with a row per value."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import roofwidget as rw
from roofwidget.measure import sweep as module
from roofwidget.measure.counts import Counts, OpCount
from roofwidget.measure.profile import Profile
from tests.measure.torch.models import ResNet18
from tests.tables import has_columns

CHIP = rw.Chip("My CPU", {"fp64": "100 GFLOP/s", "fp32": "200 GFLOP/s"}, {"DRAM": "10 GB/s"})
FASTER = rw.Chip("Faster", {"fp64": "100 GFLOP/s"}, {"DRAM": "40 GB/s"})


def profile_of(*ops: OpCount, call: float | None = None) -> Profile:
    return Profile("f", Counts(ops, call_times=() if call is None else (call,), device="cpu"))


def work(flops: int, moved: int, time: float | None = None, name: str = "matmul") -> OpCount:
    return OpCount(name, {"tensor": flops}, moved, 0, "fp64", time=time)


@pytest.fixture
def profiled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Replace `profile`: the first argument of what is profiled makes its result. Return what was asked."""
    asked: list[tuple[Any, ...]] = []

    def profile(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        asked.append((args, options))
        return function(*args)

    monkeypatch.setattr(module, "profile", profile)
    return asked


def by_size(n: int) -> Any:
    """Return what makes a profile that takes 1 s for memory and n / 10 s for compute, in 2 s."""
    return lambda: profile_of(work(n * 10**10, 10**10), call=2.0)


def frame(found: rw.Sweep, *columns: str) -> list[tuple[Any, ...]]:
    return list(found.to_dataframe()[list(columns)].itertuples(index=False, name=None))


# -- what is measured ----------------------------------------------------------------------------------------------


def test_numpy_at_several_sizes_is_a_row_and_a_series_per_size() -> None:
    def product(n: int) -> tuple[Any, ...]:
        return np.matmul, np.ones((n, n)), np.ones((n, n))

    found = rw.sweep(product, over={"n": [32, 64]}, peaks=CHIP, repeat=1)
    assert frame(found, "n", "flops", "bytes") == [(32, 2 * 32**3, 3 * 8 * 32**2), (64, 2 * 64**3, 3 * 8 * 64**2)]
    assert all(time > 0 for (time,) in frame(found, "time"))
    widget = found.roofline(title="matmul")
    assert widget.kernels.category.tolist() == ["n=32", "n=64"]
    assert (widget.chips, widget.title) == ((CHIP,), "matmul")


def test_resnet_18_at_two_sides_moves_its_convolutions_to_higher_intensity() -> None:
    model = ResNet18().eval()
    found = rw.sweep(
        lambda side: (model, torch.zeros(1, 3, side, side)),
        over={"side": [32, 64]},
        peaks=CHIP,
        by="module",
        warmup=0,
        repeat=1,
    )
    assert list(found.profiles) == ["side=32", "side=64"]
    convolutions = {
        label: one.kernels.arithmetic_intensity[one.kernels.names.tolist().index("layer4.0.conv2")]
        for label, one in found.profiles.items()
    }
    weights = 4 * 512 * 512 * 9
    assert convolutions == {
        "side=32": pytest.approx(2 * 512 * 512 * 9 / (weights + 2 * 4 * 512)),
        "side=64": pytest.approx(4 * 2 * 512 * 512 * 9 / (weights + 4 * 2 * 4 * 512)),
    }


def test_a_jax_function_is_swept_too() -> None:
    jax = pytest.importorskip("jax")
    found = rw.sweep(
        lambda n: (jax.jit(jax.numpy.dot), jax.numpy.ones((n, n)), jax.numpy.ones((n, n))),
        over={"n": [32, 64]},
        peaks=CHIP,
        repeat=1,
    )
    assert frame(found, "n", "flops") == [(32, 2 * 32**3), (64, 2 * 64**3)]


def test_what_fn_does_itself_is_not_profiled(profiled: list[tuple[Any, ...]]) -> None:
    made: list[int] = []

    def make(n: int) -> Any:
        made.append(n)
        return lambda x: x, profile_of(work(n, n))

    rw.sweep(make, over={"n": [1, 2]}, peaks=CHIP, by="module", timing="call", warmup=3, repeat=4)
    assert made == [1, 2]
    assert [options for _, options in profiled] == 2 * [{"by": "module", "timing": "call", "warmup": 3, "repeat": 4}]


def test_several_keywords_are_combined(profiled: list[tuple[Any, ...]]) -> None:
    def make(batch: int, side: int) -> Any:
        return lambda: profile_of(work(batch * side, 1))

    found = rw.sweep(make, over={"batch": (1, 2), "side": np.array([3, 5])}, peaks=CHIP)
    assert list(found.profiles) == ["batch=1, side=3", "batch=1, side=5", "batch=2, side=3", "batch=2, side=5"]
    assert frame(found, "batch", "side", "flops") == [(1, 3, 3), (1, 5, 5), (2, 3, 6), (2, 5, 10)]
    assert [dict(values) for values in found.values][1] == {"batch": 1, "side": 5}
    assert (len(found), len(profiled)) == (4, 4)


# -- the table -----------------------------------------------------------------------------------------------------


def test_a_row_has_the_bound_of_the_call_and_its_share_of_the_roof(profiled: list[tuple[Any, ...]]) -> None:
    found = rw.sweep(by_size, over={"n": [5, 16]}, peaks=CHIP)
    assert len(profiled) == 2
    assert frame(found, "arithmetic_intensity", "time", "bound_time", "bound_by", "utilization") == [
        (5.0, 2.0, 1.0, "DRAM", 0.5),
        (16.0, 2.0, 1.6, "compute", 0.8),
    ]
    assert list(found.to_dataframe(FASTER)["bound_by"]) == ["compute", "compute"]
    assert repr(found).splitlines() == [
        "Sweep over n on My CPU",
        "n       FLOPs  bytes         AI  time  bound by  % of roof",
        "5    50 GFLOP  10 GB   5 FLOP/B   2 s  DRAM           50 %",
        "16  160 GFLOP  10 GB  16 FLOP/B   2 s  compute        80 %",
    ]


def test_the_bound_of_a_call_is_the_sum_over_its_operations(profiled: list[tuple[Any, ...]]) -> None:
    # 1 s of memory and 3 s of compute do not overlap: they are one operation after the other.
    def make(n: int) -> Any:
        return lambda: profile_of(work(n, 10**10, 2.0, "copy"), work(3 * 10**11, n, 6.0))

    found = rw.sweep(make, over={"n": [1]}, peaks=CHIP)
    assert len(profiled) == 1
    assert frame(found, "bound_time", "bound_by", "time", "utilization") == [(4.0, "compute", 8.0, 0.5)]


def test_each_value_may_also_be_one_point_for_its_whole_call(profiled: list[tuple[Any, ...]]) -> None:
    def make(n: int) -> Any:
        return lambda: profile_of(work(n, 2, 1.0), work(3, 4, 1.0, "add"), call=5.0)

    found = rw.sweep(make, over={"n": [1, 2]}, peaks=CHIP)
    assert len(profiled) == 2
    assert found.roofline().kernels.names.tolist() == ["matmul", "add", "matmul", "add"]
    calls = found.roofline(whole=True).kernels
    assert calls.names.tolist() == calls.category.tolist() == ["n=1", "n=2"]
    has_columns(calls, flops=[4, 5], bytes=[6, 6], time=[5, 5])


def test_what_is_unknown_or_not_timed_is_said(profiled: list[tuple[Any, ...]]) -> None:
    def make(n: int) -> Any:
        custom = OpCount("custom", None, None, None, "fp64")
        return lambda: profile_of(work(10, 10), *([custom] if n else []))

    found = rw.sweep(make, over={"n": [0, 1]}, peaks=CHIP)
    assert len(profiled) == 2
    (plain, custom) = frame(found, "flops", "time", "bound_by", "utilization")
    assert (plain[0], plain[2], custom[2]) == (10, "DRAM", "unknown")
    assert all(math.isnan(value) for value in (plain[1], plain[3], custom[0], custom[1], custom[3]))
    last = repr(found).splitlines()[-1]
    assert re.split(r" {2,}", last.strip()) == ["1", *3 * ["unknown"], "not measured", "unknown", "not measured"]
    assert "FLOPs of 1 operation are unknown" in found._repr_html_()


def test_the_html_table_has_a_row_per_value_and_no_markup_from_names(profiled: list[tuple[Any, ...]]) -> None:
    def make(kind: str) -> Any:
        return lambda: profile_of(work(len(kind), 1))

    html = rw.sweep(make, over={"kind": ["<b>", "plain"]}, peaks=CHIP)._repr_html_()
    assert len(profiled) == 2
    assert html.count("<tr>") == 3
    assert "<b>" not in html
    assert '<th scope="row">&lt;b&gt;</th>' in html


def test_functions_and_types_are_labelled_by_their_names(profiled: list[tuple[Any, ...]]) -> None:
    def make(dtype: Any, size: Any) -> Any:
        return lambda: profile_of(work(1, size, name=dtype.__name__))

    found = rw.sweep(make, over={"dtype": [np.float32, np.add], "size": [np.int64(7)]}, peaks=CHIP)
    assert len(profiled) == 2
    assert list(found.profiles) == ["dtype=float32, size=7", "dtype=add, size=7"]


# -- the roof ------------------------------------------------------------------------------------------------------


def test_without_peaks_those_of_the_device_are_measured_once(
    profiled: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def measure(device: Any, **options: Any) -> Any:
        asked.append((device, options))
        return SimpleNamespace(chip=CHIP)

    monkeypatch.setattr("roofwidget.measure.profile.measure_peaks", measure)
    found = rw.sweep(by_size, over={"n": [5, 16]})
    assert (asked, len(profiled)) == ([("cpu", {"dtype": None})], 2)
    assert found.peaks.chip is CHIP
    assert found.roofline().chips == (CHIP,)
    assert found.roofline(FASTER).chips == (FASTER,)


# -- progress and errors -------------------------------------------------------------------------------------------


def test_progress_counts_the_values(profiled: list[tuple[Any, ...]]) -> None:
    seen: list[tuple[int, int | None]] = []
    rw.sweep(by_size, over={"n": [5, 16, 20]}, peaks=CHIP, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert len(profiled) == 3


@pytest.mark.parametrize(
    ("fn", "over", "kind", "message"),
    [
        (by_size, {}, ValueError, "sweep: over has no values; write for example {'side': [224, 512]}"),
        (by_size, {"n": []}, ValueError, "sweep: over has no values for 'n'; write for example"),
        (by_size, [1, 2], TypeError, "sweep: over must be a mapping such as {'side': [224, 512]}, got [1, 2]"),
        (by_size, {"n": 5}, TypeError, "sweep: over['n'] must be a list such as [224, 512], got 5"),
        (by_size, {"n": "56"}, TypeError, "sweep: over['n'] must be a list such as [224, 512], got '56'"),
        (by_size, {"n": [1, 2, 1]}, ValueError, "sweep: n=1 is given twice"),
        (lambda side: side, {"sde": [1]}, TypeError, "sweep: fn has no keyword 'sde'; did you mean 'side'?"),
        (lambda side, n: side * n, {"side": [1]}, TypeError, "sweep: fn also needs 'n': add values to over"),
        (5, {"side": [1]}, TypeError, "sweep: fn must be a function that returns what to profile, got 5"),
        (lambda n: n, {"n": [3]}, TypeError, "sweep: fn must return a function or model, or a tuple of it and its"),
        (lambda n: (n, n), {"n": [3]}, TypeError, "arguments; for n=3 it returned (3, 3)"),
        (lambda n: () if n else n, {"n": [3]}, TypeError, "arguments; for n=3 it returned ()"),
    ],
)
def test_bad_input_is_refused(fn: Any, over: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        rw.sweep(fn, over, peaks=CHIP)


def test_defaults_and_any_keywords_of_fn_are_accepted(profiled: list[tuple[Any, ...]]) -> None:
    rw.sweep(lambda n, scale=2: by_size(n * scale), over={"n": [5]}, peaks=CHIP)
    rw.sweep(lambda **sizes: by_size(sizes["n"]), over={"n": [5]}, peaks=CHIP)
    rw.sweep(functools.partial(lambda side, n: by_size(side * n), 2), over={"n": [5]}, peaks=CHIP)
    assert len(profiled) == 3


def test_a_value_that_fails_is_named_with_its_cause(profiled: list[tuple[Any, ...]]) -> None:
    def make(side: int) -> Any:
        if side == 2:
            raise ArithmeticError("no such side")
        return by_size(side)

    with pytest.raises(RuntimeError, match="sweep: side=2 failed: ArithmeticError: no such side") as caught:
        rw.sweep(make, over={"side": [1, 2, 3]}, peaks=CHIP)
    assert isinstance(caught.value.__cause__, ArithmeticError)
    assert len(profiled) == 1

    def run(side: int) -> Any:
        raise MemoryError(side)

    with pytest.raises(RuntimeError, match="sweep: side=512 failed: MemoryError: 512"):
        rw.sweep(lambda side: (run, side), over={"side": [512]}, peaks=CHIP)
