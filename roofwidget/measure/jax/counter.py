"""Counts the operations of a JAX function from the program that XLA compiles for it, and times calls.

XLA runs all kernels of a program inside one call, so only calls are timed. A kernel that runs alone has the call's
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import Any, Final

from roofwidget.measure.counts import Counts, Request
from roofwidget.measure.frameworks import required
from roofwidget.measure.jax.programs import Program, compile_function, counts_of
from roofwidget.measure.passes import Passes

_CALLS_ONLY: Final = (
    "calls are timed, and rows are not: XLA runs all of them inside one call; pass timing='call' to leave out this note"
)


def count(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request) -> Counts:
    """Compile a function, count what the program runs, and time calls of it.

    Raises
    ------
    TypeError, ValueError
        As `roofwidget.from_jax`.
    """
    jax = required("jax")
    program = compile_function(jax, function, args, kwargs)
    counts = counts_of(program, request.by)
    if request.timing is None:
        return counts
    passes = Passes(request)
    times = _call_times(jax, program, args, kwargs, request, passes)
    counts = replace(counts, call_times=times, load=passes.load)
    if request.timing == "call":
        return counts
    if len(counts.ops) == 1 and counts.ops[0].count == 1:
        return replace(counts, ops=(replace(counts.ops[0], time=median(times)),))
    return replace(counts, warnings=(*counts.warnings, _CALLS_ONLY))


def count_without_running(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request) -> Counts:
    """Compile a function and count what the program would run. Arguments may be `jax.ShapeDtypeStruct`.

    Raises
    ------
    TypeError, ValueError
        As `roofwidget.from_jax`.
    """
    return counts_of(compile_function(required("jax"), function, args, kwargs), request.by)


def _call_times(  # noqa: PLR0917 - what is called, and how
    jax: Any, program: Program, args: tuple[Any, ...], kwargs: Mapping[str, Any], request: Request, passes: Passes
) -> tuple[float, ...]:
    """Return the seconds of calls. A call ends when all its results are there."""
    if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree_util.tree_leaves((args, kwargs))):
        raise TypeError("a shape without data cannot be timed: use rw.count_flops, or pass arrays")

    def seconds() -> float:
        given, named = _ready(jax, program, args, kwargs)
        start = request.clock()
        jax.block_until_ready(program.call(*given, **named))
        return request.clock() - start

    passes.warm_up(seconds)
    return tuple(passes.timed(seconds))


def _ready(
    jax: Any, program: Program, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments for one call. XLA reuses the memory of donated arrays, so a call gets copies of these."""
    donates = any(each.donated for each in jax.tree_util.tree_leaves(program.compiled.args_info))
    if not donates:
        return args, dict(kwargs)
    copied = jax.tree_util.tree_map(
        lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, (args, dict(kwargs))
    )
    ready: tuple[tuple[Any, ...], dict[str, Any]] = jax.block_until_ready(copied)
    return ready
