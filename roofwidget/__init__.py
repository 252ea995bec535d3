"""Interactive roofline charts for Jupyter.

For example, the ridge point of the TPU v5p in FLOP/byte:

>>> import roofwidget as rw
>>> round(rw.chip("v5p").ridge_point(), 1)
166.0
"""

from __future__ import annotations

from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any

# Not when it is first used, like the others: the folder of the same name would be found instead.
from roofwidget.chips import chips as chips
from roofwidget.support.late import late

# The public names are listed in the stub beside this file, for type checkers too, a line for each: "from MODULE import
# NAME as NAME". The module is imported when the name is first used, because few users need ipywidgets, bqplot and all
# readers.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_LINES = [line.split() for line in _STUB.splitlines() if line.startswith("from ")]
_NAMES = {name: module for _, module, _, name, *_ in sorted(_LINES, key=itemgetter(3))}
_UNLISTED = {line[3] for line in _LINES if "__all__" in line}

# Packages that few charts need: those without a graph, and those whose kernels are not from a file.
_LATE = ("readers", "workloads")
_stand_in = late(__name__, *_LATE)

__all__ = [name for name in _NAMES if name not in _UNLISTED]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked for

        return version("roofwidget")
    if name in _LATE:
        return _stand_in(name)
    if name not in _NAMES:
        raise AttributeError(f"module 'roofwidget' has no attribute '{name}'")
    module = _NAMES[name]
    found = import_module(f"roofwidget.{name}") if module == "roofwidget" else getattr(import_module(module), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
