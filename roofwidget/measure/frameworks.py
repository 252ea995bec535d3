"""Finds the counter for a function: numpy's, PyTorch's or JAX's. None is imported before it is needed.

A counter is a module listed in `COUNTERS` with ``count(function, args, kwargs, request)``, which returns `Counts`, and
``count_without_running(function, args, kwargs, request)``, which does the same without computing anything.

For recordings of code that is no function, a counter may also have these:

- ``watch(report, clock)``, a context manager. While it is open, it calls ``report(op)`` with a timed `OpCount` for each
  operation of this thread, when the operation has finished.
- ``watched(value, report, clock)`` and ``unwatched(value)``, where operations are seen only on values that are prepared
  for it. `watched` returns a value that behaves as the given one and reports the operations on it and on their results;
  `unwatched` returns the plain value. Both return other values as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from roofwidget.support.did_you_mean import choose_from

COUNTERS: Final = {
    "jax": "roofwidget.measure.jax.counter",
    "numpy": "roofwidget.measure.numpy.counter",
    "torch": "roofwidget.measure.torch.counter",
}


def framework_of(function: Any, values: Iterable[Any] = ()) -> str:
    """Return the framework of a function and its arguments: ``torch``, ``jax`` or ``numpy``.

    A `torch.nn.Module`, a tensor, a function that `jax.jit` made or compiled, or a JAX array or its shape anywhere in
    the arguments decides. No framework is imported: what is not imported has made no argument.

    Examples
    --------
    >>> import numpy as np
    >>> framework_of(np.add, [np.zeros(2)])
    'numpy'
    """
    leaves = list(_leaves([function, *values]))
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and any(isinstance(leaf, (torch.Tensor, torch.nn.Module)) for leaf in leaves):
        return "torch"
    if jax is not None:
        of_jax = (jax.Array, jax.ShapeDtypeStruct, jax.stages.Wrapped, jax.stages.Lowered, jax.stages.Compiled)
        if any(isinstance(leaf, of_jax) for leaf in leaves):
            return "jax"
    return "numpy"


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
    if framework != "numpy":
        required(framework)
    return import_module(COUNTERS[framework])


def required(framework: str) -> ModuleType:
    """Return the imported framework.

    Raises
    ------
    ImportError
        If it is not installed. The message names the extra that installs it.
    """
    try:
        return import_module(framework)
    except ImportError as error:
        if error.name != framework:
            raise
        name = {"jax": "JAX", "torch": "PyTorch"}[framework]
        raise ImportError(f"this needs {name}: pip install 'roofwidget[{framework}]'", name=framework) from None


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
