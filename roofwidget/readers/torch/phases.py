"""When a kernel was launched: its step of a serving engine, its iteration, and its phase."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.readers.input.source import Source
from roofwidget.readers.torch.annotations import ITERATION, OPTIMIZER, Annotations
from roofwidget.readers.torch.events import NONE, Collected
from roofwidget.readers.torch.nesting import Launched, Nest, Positions
from roofwidget.readers.torch.steps import Step, step_of
from roofwidget.support.arrays import Integers
from roofwidget.support.did_you_mean import listed

PHASES: Final = ("prefill", "decode", "mixed", "forward", "backward", "optimizer", None)
_PREFILL, _DECODE, _MIXED, _FORWARD, _BACKWARD, _OPTIMIZER = range(6)
# Autograd's nodes, and functions with a backward of their own, also those of compiled graphs.
_BACKWARD_NAME: Final = re.compile(r"autograd::engine::evaluate_function|.*Backward\d*$")
# A first iteration that takes so many times the median of all iterations compiles, tunes or allocates.
_WARM_UP_RATIO: Final = 2.0


@dataclass(frozen=True, eq=False)
class Phases:
    """The step, the iteration and the phase of each row on the device, by the host's time of its launch.

    Parameters
    ----------
    step
        A code of `steps`, -1 outside steps, shape (m,).
    steps
        The steps of serving engines in the order of time, None where the annotation has another form.
    iteration
        The number of the profiler's iteration, else of the step from 0; NaN outside, shape (m,).
    phase
        A code of `PHASES`, -1 if unknown, shape (m,).
    warm_up
        Numbers of the iterations that are warm-up.
    """

    step: Positions
    steps: Sequence[Step | None]
    iteration: Floats
    phase: Positions
    warm_up: Sequence[int]

    @property
    def column(self) -> DictColumn:
        """The phase of each row as text."""
        return DictColumn(PHASES, np.where(self.phase >= 0, self.phase, len(PHASES) - 1).astype(np.int32))


def phases_of(collected: Collected, nest: Nest, launched: Launched) -> Phases:
    """Return when each row on the device was launched."""
    annotations = Annotations(collected)
    at = launched.thread, np.nan_to_num(launched.time)
    known = ~np.isnan(launched.time)
    step, iteration, optimizer = (
        np.where(known, rows, np.intc(NONE))
        for rows in (
            annotations.steps(*at),
            annotations.enclosing(ITERATION, *at),
            annotations.enclosing(OPTIMIZER, *at),
        )
    )
    spans = np.unique(step[step >= 0])
    spans = spans[np.argsort(annotations.start[spans], kind="stable")]
    texts = [annotations.text(row) for row in spans.tolist()]
    steps = [step_of(text) for text in texts]
    place = np.full(len(annotations.start) + 1, NONE, dtype=np.intc)
    place[spans] = np.arange(len(spans))
    step = place[step]
    phase = _training_phase(collected, nest, launched, iteration, optimizer >= 0)
    serving = np.array([*map(_serving_phase, steps, texts), NONE], dtype=np.int8)
    phase = np.where(serving[step] >= 0, serving[step], phase)
    if not len(annotations.rows(ITERATION)):
        return Phases(step, steps, np.where(step >= 0, step, np.nan), phase, ())
    numbers = np.array([*(int(found[1]) if (found := ITERATION.match(text)) else 0 for text in annotations.texts), 0])
    number = numbers[np.append(annotations.code, NONE)]
    return Phases(
        step, steps, np.where(iteration >= 0, number[iteration], np.nan), phase, _warm_up(annotations, number)
    )


def _serving_phase(step: Step | None, text: str) -> int:
    if step is None:
        return NONE
    if "MIXED" in text or (step.prefill.count and step.decode.count):
        return _MIXED
    return _PREFILL if step.prefill.count else _DECODE if step.decode.count else NONE


def _training_phase(
    collected: Collected, nest: Nest, launched: Launched, iteration: Positions, is_optimizer: Bools
) -> Positions:
    """Return the phase in training: the forward pass is what was launched before a backward of the same iteration."""
    backward = np.array([_BACKWARD_NAME.match(call.name) is not None for call in collected.calls], dtype=np.bool_)
    phase = np.full(len(iteration), NONE, dtype=np.int8)
    if backward.any():
        within = backward[collected.operations.call.integers()]
        for level in nest.levels():
            above = nest.parent[level]
            within[level] |= (above >= 0) & within[above]
        is_backward = (launched.operation >= 0) & within[launched.operation]
        last = np.full(iteration.max(initial=NONE) + 2, -np.inf)
        np.maximum.at(last, iteration[is_backward], np.nan_to_num(launched.time[is_backward], nan=-np.inf))
        phase[launched.time < last[iteration]] = _FORWARD
        phase[is_backward] = _BACKWARD
    phase[is_optimizer] = _OPTIMIZER
    return phase


def _warm_up(annotations: Annotations, number: Integers) -> list[int]:
    """Return the first iterations that took much longer on the host than the median iteration."""
    rows = annotations.rows(ITERATION)
    rows = rows[np.argsort(annotations.start[rows], kind="stable")]
    is_long = annotations.duration[rows] > _WARM_UP_RATIO * np.median(annotations.duration[rows])
    return number[rows[: np.argmin(is_long)]].tolist()  # type: ignore[no-any-return]


def chosen_iterations(phases: Phases, iterations: Any, source: Source) -> tuple[Bools, list[str]]:
    """Return a mask of the rows on the device to read, shape (m,), and a warning if warm-up is left out.

    Raises
    ------
    TypeError, ValueError
        If `iterations` has another form.
    ProfileError
        If the trace does not have one of the iterations.
    """
    numbers = phases.iteration
    everything = np.ones(len(numbers), dtype=np.bool_)
    if iterations is None:
        left_out = np.isin(numbers, phases.warm_up)
        if not left_out.any() or left_out.all():
            return everything, []
        which = listed(str(number) for number in phases.warm_up)
        warning = (
            f"warm-up is left out: iteration {which} took more than {_WARM_UP_RATIO:g} times the median iteration "
            f"({int(left_out.sum()):,} of {len(numbers):,} rows on the device); iterations='all' keeps it"
        )
        return ~left_out, [warning]
    if isinstance(iterations, str):
        if iterations != "all":
            raise ValueError(f"iterations must be 'all', a number or a list of numbers, got {iterations!r:.40}")
        return everything, []
    wanted = [iterations] if isinstance(iterations, int) else iterations
    if isinstance(iterations, bool) or not (
        isinstance(wanted, (list, tuple, range)) and all(type(number) is int for number in wanted)
    ):
        raise TypeError(f"iterations must be 'all', a number or a list of numbers, got {iterations!r:.40}")
    known = np.unique(numbers[~np.isnan(numbers)]).astype(np.int64).tolist()
    missing = [number for number in wanted if number not in known]
    if missing or not wanted:
        has = f"it has {known[0]} to {known[-1]}" if known else "it has no annotations of iterations or steps"
        raise source.error(f"no kernels of iteration {', '.join(map(str, missing)) or '(none given)'}: {has}")
    return np.isin(numbers, wanted), []
