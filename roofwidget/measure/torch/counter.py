"""Counts the operations of a PyTorch model or function by running it under a dispatch mode, and times it apart.

The bytes are those of `roofwidget.measure.torch.traffic`, the FLOPs those of `roofwidget.measure.torch.flops`, the
modules those of `roofwidget.measure.torch.modules`. Compulsory bytes are the elements that the call reads and has not
made (inputs, parameters, buffers), those that it changes in place, those that it returns, and the gradients that it
leaves, each once.

A compiled model or function is counted as it was before it was compiled: a dispatch mode cannot look into compiled
code. Its calls are timed as compiled. ``by="fusion"`` counts the groups that the compiler fused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any, Final

import torch

from roofwidget.measure.counts import Counts, Request
from roofwidget.measure.passes import Passes
from roofwidget.measure.torch import fake, inductor
from roofwidget.measure.torch.dispatch import OpCounter, OpTimer, eagerly
from roofwidget.measure.torch.modules import ModulePaths
from roofwidget.measure.torch.state import State, modules_in, reachable, root_of
from roofwidget.measure.torch.tensors import has_values, tensors_in
from roofwidget.measure.torch.timing import seconds_of, synchronizer, watch_for

_COMPILED: Final = (
    "the model is compiled: operations are counted and timed as before compilation, calls are timed as compiled; "
    'by="fusion" counts the groups that the compiler fused'
)
_CHANGING: Final = (
    "the operations differ from call to call, so they have no times; if the function keeps results from call to call, "
    "profile a part of it that does not"
)
_PARTLY_COMPILED: Final = "parts of the function ran uncompiled, or the compiler changed products"


def count(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], request: Request) -> Counts:
    """Count what a call does, then time calls, then time the operations of further calls.

    Calls that warm up come first: the first step of an optimizer also makes the optimizer's state.

    What the calls change in models that the function can reach is put back, see `State`.

    Raises
    ------
    ValueError
        If a tensor has no values: it is on the meta device, or made under a `FakeTensorMode`.

    Errors of the function pass through.
    """
    values = reachable(function, args, kwargs)
    _check_device(values)
    eager = before_compilation(function)
    passes = Passes(request)
    with State(values) as state:
        if request.timing is not None and request.by != "fusion":
            _warm_up(passes, partial(function, *args, **kwargs), state)
        counts = _counted(partial(eager, *args, **kwargs), root_of(eager), state.gradients)
        timed = function
        if request.by == "fusion":
            counts, timed = _fused(counts, eager, args, kwargs, state)
            if request.timing is not None:
                _warm_up(passes, partial(timed, *args, **kwargs), state)
        elif eager is not function:
            counts = replace(counts, warnings=(*counts.warnings, _COMPILED))
        if request.timing is not None:
            call = partial(timed, *args, **kwargs)
            seconds = partial(
                seconds_of, call, request.clock, before=state.reset, synchronize=synchronizer(counts.device)
            )
            counts = replace(counts, call_times=tuple(passes.timed(seconds)))
        if request.timing == "op" and request.by != "fusion":
            counts = _with_op_times(counts, partial(eager, *args, **kwargs), passes, request, state)
    return replace(counts, load=passes.load)


def count_without_running(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], request: Request
) -> Counts:
    """Count what a call would do, from the shapes of tensors alone: they have no values and take no memory.

    Models may have their values, or be on the meta device, or be made under a `FakeTensorMode`.

    Raises
    ------
    ValueError
        If the shape of a tensor or a branch depends on values, or ``by="fusion"`` is asked, which needs to compile.

    Errors of the function pass through.
    """
    if request.by == "fusion":
        raise ValueError('by="fusion" compiles and runs the function: use rw.profile, or by="op"')
    eager = before_compilation(function)
    values = reachable(function, args, kwargs)
    with State(values) as state, fake.without_values(eager, values, args, kwargs) as (call, gradients):
        return _counted(call, root_of(eager), lambda: [*state.gradients(), *gradients()])


def before_compilation(function: Any) -> Any:
    """Return the model or the function that `torch.compile` was given; others as they are."""
    if isinstance(function, torch.nn.Module):
        return getattr(function, "_orig_mod", function)
    return getattr(function, "_torchdynamo_orig_callable", function)


def _check_device(values: Sequence[Any]) -> None:
    parameters = (parameter for module in modules_in(values) for parameter in module.parameters(recurse=False))
    if not all(map(has_values, (*parameters, *tensors_in(values)))):
        raise ValueError(
            "a tensor has no values, since it is on the meta device or made under a FakeTensorMode: use rw.count_flops"
        )


def _counted(call: Callable[[], Any], root: Any, gradients: Callable[[], list[Any]]) -> Counts:
    """Count one call; `gradients` returns those that it leaves."""
    with eagerly(), ModulePaths(root) as paths, OpCounter(paths) as counter:
        result = call()
    compulsory = counter.boundary.bytes((*tensors_in(result), *gradients()))
    return Counts(tuple(counter.ops), compulsory, device=counter.device)


def _fused(
    counts: Counts, eager: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], state: State
) -> tuple[Counts, Callable[..., Any]]:
    """Return the groups that the compiler fuses instead of operations, and the compiled function."""
    state.reset()
    groups, compiled, warnings = inductor.fused(eager, args, kwargs)
    if groups is None:
        return replace(counts, warnings=(*counts.warnings, *warnings)), eager
    compiled_flops, flops = (sum((op.flops or {}).get("tensor", 0) for op in ops) for ops in (groups, counts.ops))
    if compiled_flops != flops:
        warnings = (*warnings, f"{_PARTLY_COMPILED}: {compiled_flops:,} of {flops:,} tensor FLOPs are in groups")
    return replace(counts, ops=groups, warnings=(*counts.warnings, *warnings)), compiled


def _warm_up(passes: Passes, call: Callable[[], Any], state: State) -> None:
    """Make calls that are neither counted nor timed."""

    def again() -> None:
        state.reset()
        call()

    passes.warm_up(again)
    state.reset()


def _with_op_times(counts: Counts, call: Callable[[], Any], passes: Passes, request: Request, state: State) -> Counts:
    """Return the counts with the median seconds of each operation, from calls in which nothing else is done."""
    names = [op.name for op in counts.ops]

    def operations() -> list[float] | None:
        state.reset()
        watch = watch_for(counts.device, request.clock)
        with eagerly(), OpTimer(watch) as timer:
            call()
        return watch.seconds() if timer.names == names else None

    found = passes.timed(operations)
    alike = [seconds for seconds in found if seconds is not None]
    if len(alike) < len(found):
        return replace(counts, warnings=(*counts.warnings, _CHANGING))
    times = [median(seconds) for seconds in zip(*alike, strict=True)]
    return replace(counts, ops=tuple(replace(op, time=time) for op, time in zip(counts.ops, times, strict=True)))
