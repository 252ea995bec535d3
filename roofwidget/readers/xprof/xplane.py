"""XProf's raw traces, ``.xplane.pb``: converted by XProf itself, which the optional part ``xprof`` installs.

To get the file: ``jax.profiler.trace("logs")`` or TensorFlow's and PyTorch/XLA's profilers write it to
``logs/plugins/profile/<run>/<host>.xplane.pb``. From the folder of a run, all hosts are read together.

XProf converts the trace to ``roofline_model`` and ``hlo_stats``; the rules are those of these two formats, so opaque
calls get FLOPs from their shapes. XProf writes intermediate results into the folder of a trace, so XProf gets a copy of
the trace in a temporary folder.
"""

from __future__ import annotations

from typing import Any, Final

from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof import roofline_model
from roofwidget.readers.xprof.convert import converted, is_trace

FORMAT: Final = "xplane"
EXPECTED: Final = "a trace .xplane.pb of XLA's profiler"

recognises = is_trace


def read(source: Source, *, infeed: bool = True, idle: bool = True, executions: Any = None) -> Kernels:
    """Read a trace; for parameters and result see ``roofline_model``.

    Raises
    ------
    ImportError
        If the package ``xprof`` is not installed.
    ProfileError
        If XProf cannot convert the trace.
    """
    model, stats = converted(source, "roofline_model", "hlo_stats")
    return roofline_model.read(model, infeed=infeed, idle=idle, shapes=stats, executions=executions)
