"""The Python file of `roofwidget sol`: which graph or model in it counts, with which example inputs.

Benchmarks of kernels such as KernelBench write a problem as a file with a class `Model`, a function `get_inputs` that
returns its example inputs, and a function `get_init_inputs` that returns the arguments of the class. Such a file is
read as it is.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from roofwidget.measure.frameworks import GRAPHS, is_imported, tracer
from roofwidget.measure.sol import graph_of
from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.support.text_tables import one_line
from roofwidget.workloads import Graph

_MODULE: Final = "roofwidget_sol_file"
_MODEL: Final = "Model"
_INPUTS: Final = "get_inputs"
_INIT: Final = "get_init_inputs"
_MAX_REASON: Final = 300  # characters of the reason in an error


def graph_in(given: str) -> Graph:
    """Return the graph of ``FILE.py`` or ``FILE.py:NAME``. The file is imported; a model in it is traced, and not run.

    Raises
    ------
    ValueError, OSError
        If there is no such file or name, or nothing in it has a graph. The message names the file and what to do.
    """
    path, _, name = given.rpartition(":") if given.rpartition(":")[0].endswith(".py") else (given, "", "")
    if not path.endswith(".py"):
        raise ValueError(f"{path}: is no Python file; give a file such as model.py, or a name in it, model.py:forward")
    if not Path(path).is_file():
        raise FileNotFoundError(2, "there is no such file", path)
    sys.path.insert(0, str(Path(path).resolve().parent))  # as when Python runs the file
    try:
        # stdout has only the result.
        with contextlib.redirect_stdout(sys.stderr):
            return _found(_imported(path), path, name)
    finally:
        sys.path.pop(0)


def _found(module: ModuleType, path: str, name: str) -> Graph:
    name = name or _only(module, path)
    if not hasattr(module, name):
        found = _candidates(module)
        close = did_you_mean(name, found, f"; it has {listed(found)}" if found else "")
        raise ValueError(f"{path}: has no '{name}'{close}")
    graph = _graph(module, getattr(module, name), path, name)
    if not graph.ops:
        raise ValueError(f"{path}:{name}: has no operations; return a tensor that is computed from the inputs")
    return graph


def _imported(path: str) -> ModuleType:
    """Import a file under a name that hides no other module."""
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: Python cannot import it; rename it to a name such as model.py")
    module = sys.modules[_MODULE] = importlib.util.module_from_spec(spec)
    _called(path, "importing it", partial(spec.loader.exec_module, module))
    return module


def _called(path: str, doing: str, function: Callable[[], Any]) -> Any:
    """Call code of the file. An error in it names the file and the line."""
    try:
        return function()
    except (Exception, SystemExit) as error:
        lines = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == path]
        where = f", line {lines[-1]}" if lines else ""
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}{where}: {doing} failed: {one_line(reason, _MAX_REASON)}") from error


def _candidates(module: ModuleType) -> list[str]:
    """Return the names in a file that may have a graph: graphs, models, classes of models, and functions."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and name not in (_INPUTS, _INIT)
        if isinstance(value, Graph)
        or (callable(value) and getattr(value, "__module__", "") == module.__name__)
        or _is_model(value)
    ]


def _only(module: ModuleType, path: str) -> str:
    if hasattr(module, _MODEL):
        return _MODEL
    found = _candidates(module)
    graphs = [name for name in found if isinstance(getattr(module, name), Graph)]
    for names in (graphs, found):
        if len(names) == 1:
            return names[0]
    if not found:
        raise ValueError(f"{path}: has no graph, model or function; write a function, and {_INPUTS}() for its inputs")
    raise ValueError(f"{path}: has {listed(found)}; name one, such as {path}:{found[0]}")


def _graph(module: ModuleType, value: Any, path: str, name: str) -> Graph:
    if isinstance(value, Graph):
        return value
    get_inputs = getattr(module, _INPUTS, None)
    if get_inputs is None:
        return _made(value, path, name)
    framework = _framework(module, value, path)
    without_values = tracer(framework).without_values
    if isinstance(value, type):
        made, init = value, getattr(module, _INIT, list)
        value = _called(path, f"{name}({_INIT}())", partial(without_values, lambda: made(*init())))
    inputs = _called(path, f"{_INPUTS}()", partial(without_values, get_inputs))
    try:
        return graph_of(value, inputs)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def _made(function: Any, path: str, name: str) -> Graph:
    """Return the graph that a function without parameters makes."""
    if not callable(function) or _required(function):
        raise ValueError(
            f"{path}: has no example inputs for {name}; write a function {_INPUTS}() that returns the list of them, "
            "or a function without parameters that returns a Graph"
        )
    made = _called(path, f"{name}()", function)
    if isinstance(made, Graph):
        return made
    raise ValueError(
        f"{path}: {name}() returns {made!r:.40}, and no Graph; return one, or write a function {_INPUTS}() that "
        f"returns the list of example inputs of {name}"
    )


def _required(function: Any) -> list[str]:
    """Return the names of the parameters that a call must give."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["an unknown parameter"]
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return [one.name for one in parameters if one.default is one.empty and one.kind not in kinds]


def _framework(module: ModuleType, value: Any, path: str) -> str:
    """Return the framework of a model: PyTorch for a module, otherwise the one that the file uses."""
    if _is_model(value):
        return "torch"
    owners = [
        str(getattr(one, "__name__", "") if isinstance(one, ModuleType) else getattr(one, "__module__", ""))
        for one in vars(module).values()
    ]
    used = [name for name in GRAPHS if is_imported(name) and any(one.partition(".")[0] == name for one in owners)]
    if len(used) == 1:
        return used[0]
    what = "both JAX and PyTorch" if used else "neither PyTorch nor JAX"
    raise ValueError(f"{path}: imports {what}, so its framework is unknown; import one of them in this file")


def _is_model(value: Any) -> bool:
    """Return whether a value is a module of PyTorch, or a class of them. PyTorch is not imported for this."""
    nn = getattr(sys.modules.get("torch"), "nn", None)
    if nn is None:
        return False
    return isinstance(value, nn.Module) or (
        isinstance(value, type) and issubclass(value, nn.Module) and value is not nn.Module
    )
