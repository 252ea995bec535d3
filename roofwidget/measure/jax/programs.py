"""Compiles JAX functions, and reads what XLA runs for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from roofwidget.measure.counts import Counts, Grouping, OpCount
from roofwidget.measure.frameworks import required
from roofwidget.measure.hlo.program import count_program
from roofwidget.measure.hlo.text import parse
from roofwidget.measure.profile import Profile, checked_grouping
from roofwidget.support.arguments import shown_value

_TOTALS_ONLY: Final = (
    "this device does not show its programs: the only row has XLA's totals. They count the body of a loop once, and "
    "all FLOPs, except those of transcendental functions, as those of matrix products"
)
_MODULE: Final = re.compile(r"HloModule\s+(?:jit_)?([^\s,]+)")


def from_jax(function: Any, *args: Any, by: Grouping = "fusion", **kwargs: Any) -> Profile:
    """Count what XLA runs for a JAX function, from the compiled program. The function is compiled and does not run.

    Errors that the function raises pass through.

    Parameters
    ----------
    function
        A function of JAX arrays, a function that `jax.jit` made, or the result of its ``lower`` or ``compile``.
    *args, **kwargs
        The function's arguments: arrays, or `jax.ShapeDtypeStruct` in their place. A lowered or compiled function takes
        none. A keyword ``by`` of the function reaches it through ``functools.partial``.
    by
        What a row is: ``"fusion"``, what XLA runs as one kernel; ``"op"``, an operation, as if none were fused;
        ``"module"``, the kernels of a `jax.named_scope` together.

    Returns
    -------
    Profile
        As `from_hlo_text` returns it. Loops count as often as XLA knows that they run; calls of libraries are unknown.

    Raises
    ------
    ImportError
        If JAX is not installed; the message names the extra that installs it.
    TypeError
        If the function cannot be called, or `jax.jit` cannot take an argument: the message says what to do.
    ValueError
        If there is no such grouping.

    Examples
    --------
    ``rw.from_jax(jnp.matmul, a, b).kernels`` has one row for the matrix product, with its FLOPs and bytes.
    """
    jax = required("jax")
    grouping = checked_grouping(by)
    if isinstance(function, (jax.stages.Compiled, jax.stages.Lowered)) and (args or kwargs):
        raise TypeError("from_jax: a lowered or compiled function takes no arguments here, it has their shapes")
    program = compile_function(jax, function, args, kwargs)
    return Profile(program.name, counts_of(program, grouping), grouping)


@dataclass(frozen=True)
class Program:
    """A compiled function, its name, its text (empty if the device does not show it), and how to call it."""

    name: str
    text: str
    compiled: Any
    call: Callable[..., Any]

    @classmethod
    def of(cls, compiled: Any, name: str = "", call: Callable[..., Any] | None = None) -> Program:
        """Return a program; without a name, XLA's name of it, and without a call, that of the compiled function."""
        text = compiled.as_text() or ""
        found = _MODULE.match(text)
        return cls(name or (found[1] if found else "program"), text, compiled, call or compiled)


def compile_function(jax: Any, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Program:
    """Compile a function for arguments or their shapes; a compiled function is returned as it is.

    Raises
    ------
    TypeError
        If the function cannot be called, or `jax.jit` cannot take an argument.
    """
    if isinstance(function, (jax.stages.Compiled, jax.stages.Lowered)):
        return Program.of(function.compile() if isinstance(function, jax.stages.Lowered) else function)
    if not callable(function):
        expected = "a JAX function, or a lowered or compiled one"
        raise TypeError(f"the first argument must be {expected}, got {shown_value(function)}")
    name = _name_of(function)
    if isinstance(function, jax.stages.Wrapped):
        # Static arguments are not arguments of the compiled function, so the function itself is called.
        return Program.of(function.lower(*args, **kwargs).compile(), name, function)
    _check_arguments(jax, name, args, kwargs)
    try:
        lowered = jax.jit(function).lower(*args, **kwargs)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise TypeError(
            f"{name} needs the value of an argument while it is compiled; make that argument static: "
            f"jax.jit({name}, static_argnames=…), or convert it to numpy outside the function"
        ) from error
    return Program.of(lowered.compile(), name)


def counts_of(program: Program, by: Grouping) -> Counts:
    """Return what a compiled function runs. Without the program's text there is one row, with XLA's totals."""
    device = _device_of(program.compiled)
    if program.text:
        return count_program(parse(program.text), by, device)
    totals = totals_of(program.compiled.cost_analysis())
    flops = None if totals.flops is None else {"tensor": totals.flops, "transcendental": totals.transcendentals or 0}
    written = None if totals.bytes is None else 0
    row = OpCount("program", flops, totals.bytes, written, category="program")
    return Counts((row,), device=device, warnings=(_TOTALS_ONLY,))


@dataclass(frozen=True)
class Totals:
    """XLA's totals of one program. None if unknown: XLA knows nothing of the program, or it calls a library."""

    flops: int | None
    transcendentals: int | None
    bytes: int | None
    calls_libraries: bool


def totals_of(analysis: Any) -> Totals:
    """Return XLA's totals from what ``cost_analysis`` of a lowered or compiled function returned.

    That is a mapping, in JAX before 0.5 a list of one, or None. XLA leaves out keys whose value is zero, and puts -1
    for what it does not know.

    Examples
    --------
    >>> totals_of([{"flops": 8.0, "bytes accessed": 96.0}])
    Totals(flops=8, transcendentals=0, bytes=96, calls_libraries=False)
    >>> totals_of({"bytes accessed": 1023.0, "optimal_seconds": -1.0})
    Totals(flops=None, transcendentals=None, bytes=None, calls_libraries=True)
    >>> totals_of(None).flops is None
    True
    """
    found = analysis[0] if isinstance(analysis, (list, tuple)) and analysis else analysis
    if not isinstance(found, Mapping) or not found:
        return Totals(None, None, None, calls_libraries=False)
    values = [found.get(key, 0) for key in ("flops", "transcendentals", "bytes accessed", "optimal_seconds")]
    if min(values) < 0:
        # A library's -1 is part of the sums, and its work is not.
        return Totals(None, None, None, calls_libraries=True)
    flops, transcendentals, moved, _ = (round(value) for value in values)
    return Totals(flops, transcendentals, moved, calls_libraries=False)


def _device_of(compiled: Any) -> str:
    """Return where a compiled function runs, such as ``cpu`` or ``gpu:0``; of several devices, the first one."""
    first = compiled.runtime_executable().local_devices()[0]
    return "cpu" if first.platform == "cpu" else f"{first.platform}:{first.id}"


def _name_of(function: Any) -> str:
    """Return the name of a function; of a partial one, that of the whole."""
    while hasattr(function, "func"):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _check_arguments(jax: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Refuse arguments that a plain function cannot be compiled for, by their place or name."""
    given = [*((f"argument {number}", value) for number, value in enumerate(args, 1)), *kwargs.items()]
    for what, value in given:
        for leaf in jax.tree_util.tree_leaves(value):
            if not isinstance(leaf, (bool, int, float, complex)) and not (
                hasattr(leaf, "shape") and hasattr(leaf, "dtype")
            ):
                raise TypeError(
                    f"{what} of {name} holds {shown_value(leaf)}, which is not an array; make it static: "
                    f"jax.jit({name}, static_argnames=…), or functools.partial"
                )
