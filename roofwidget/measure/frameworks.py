"""Finds what belongs to a framework: its counter and its probes. No framework is imported before it is needed.

A counter is a module listed in `COUNTERS` with ``count(function, args, kwargs, request)``, which returns `Counts`, and
``count_without_running(function, args, kwargs, request)``, which does the same without computing anything.

Probes measure the peaks of a device. Their module is listed in `PROBES`, with ``DTYPES``, the measurable precisions,
and ``probes(…)``, which yields the probes that `roofwidget.measure.probes` describes. Those of PyTorch and JAX also
have ``find(device)``.

A recording has no function to call: it watches the code that runs. `WATCHERS` lists the modules with a class `Watch`
for it, a subclass of `roofwidget.measure.watch.Watch`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import unwrap
from types import CellType, FunctionType, ModuleType
from typing import Any, Final

from roofwidget.measure.counts import Grouping, Report
from roofwidget.measure.watch import Watch
from roofwidget.support.did_you_mean import choose_from
from roofwidget.support.extras import install_command

TITLES: Final = {"jax": "JAX", "numpy": "numpy", "torch": "PyTorch"}
"""The names of the frameworks for a reader."""

COUNTERS: Final = {framework: f"roofwidget.measure.{framework}.counter" for framework in TITLES}
WATCHERS: Final = {framework: f"roofwidget.measure.{framework}.watch" for framework in TITLES}
PROBES: Final = {framework: f"roofwidget.measure.{framework}.probes" for framework in TITLES}
GRAPHS: Final = {"jax": "roofwidget.measure.jax.graph", "torch": "roofwidget.measure.torch.graph"}
"""The modules that make a `Graph` of a model of a framework, each with a function ``graph_of``."""


def framework_of(function: Any, values: Iterable[Any] = ()) -> str:
    """Return the framework of a function and its arguments: ``torch``, ``jax`` or ``numpy``.

    A `torch.nn.Module`, a tensor, a function that `jax.jit` made or compiled, or a JAX array or its shape anywhere in
    the arguments decides. If there is none, those decide that the function uses without taking them as arguments. No
    framework is imported: what is not imported has made no argument.

    Examples
    --------
    >>> import numpy as np
    >>> framework_of(np.add, [np.zeros(2)])
    'numpy'
    """
    return _framework_of(_leaves([function, *values])) or _framework_of(_leaves(captured(function))) or "numpy"


def _framework_of(values: Iterable[Any]) -> str:
    leaves = list(values)
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and any(isinstance(leaf, (torch.Tensor, torch.nn.Module)) for leaf in leaves):
        return "torch"
    if jax is not None:
        of_jax = (jax.Array, jax.ShapeDtypeStruct, jax.stages.Wrapped, jax.stages.Lowered, jax.stages.Compiled)
        if any(isinstance(leaf, of_jax) for leaf in leaves):
            return "jax"
    return ""


def captured(function: Any) -> list[Any]:
    """Return what a function uses without taking it as an argument: of `partial`, its object, closure and globals.

    Of a decorated function these are of what was decorated.
    """
    found = []
    while isinstance(function, partial):
        found += [*function.args, function.keywords]
        function = function.func
    found += [function, getattr(function, "__self__", None)]
    function = unwrap(getattr(function, "__func__", function))
    if isinstance(function, FunctionType):
        variables = function.__globals__
        found += [variables[name] for name in function.__code__.co_names if name in variables]
        found += [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    return found


def counter(framework: str) -> ModuleType:
    """Return the module that counts for a framework.

    Raises
    ------
    ImportError
        If the framework is not installed. The message names the extra that installs it.
    ValueError
        If there is no such framework.
    """
    if framework not in COUNTERS:
        raise ValueError(f"unknown framework {framework!r:.40}{choose_from(framework, COUNTERS)}")
    required(framework)
    return import_module(COUNTERS[framework])


def tracer(framework: str) -> ModuleType:
    """Return the module that makes graphs of a framework's models.

    Raises
    ------
    ImportError
        If the framework is not installed. The message names the extra that installs it.
    """
    required(framework)
    return import_module(GRAPHS[framework])


def probes_of(framework: str) -> ModuleType:
    """Return the module of a framework's probes.

    Raises
    ------
    ImportError
        If the framework is not installed. The message names the extra that installs it.
    """
    required(framework)
    return import_module(PROBES[framework])


def is_imported(framework: str) -> bool:
    """Return whether a framework has been imported. An entry None in `sys.modules` blocks an import."""
    return sys.modules.get(framework) is not None


def is_installed(framework: str) -> bool:
    """Return whether a framework is installed, without importing it."""
    return is_imported(framework) or find_spec(framework) is not None


def watches(others: Iterable[str], report: Report, clock: Callable[[], float]) -> dict[str, Watch]:
    """Return a `Watch` for each framework that has been imported, except `others`."""
    names = [name for name in WATCHERS if is_imported(name) and name not in others]
    return {name: import_module(WATCHERS[name]).Watch(report, clock) for name in names}


def default_grouping(framework: str) -> Grouping:
    """Return what runs as one kernel: a fusion of XLA's for JAX, an operation for the other frameworks."""
    return "fusion" if framework == "jax" else "op"


def required(framework: str) -> ModuleType:
    """Return the imported framework.

    Raises
    ------
    ImportError
        If it is not installed. The message has the command that installs it.
    """
    try:
        return import_module(framework)
    except ImportError as error:
        if error.name != framework:
            raise
        raise ImportError(f"this needs {TITLES[framework]}: {install_command(framework)}", name=framework) from None


def _leaves(value: Any) -> Iterable[Any]:
    """Yield what the lists, tuples and dicts of a value hold."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        for part in value:
            yield from _leaves(part)
    else:
        yield value
