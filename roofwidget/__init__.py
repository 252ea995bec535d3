"""Interactive roofline charts for Jupyter.

For example, the ridge point of the TPU v5p in FLOP/byte:

>>> import roofwidget as rw
>>> round(rw.chip("v5p").ridge_point(), 1)
166.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from roofwidget.analysis.bound import bound
from roofwidget.analysis.result import Bound
from roofwidget.analysis.roofline import attainable, ridge_point
from roofwidget.chips import (
    AmbiguousChipError,
    Ceiling,
    Chip,
    Energy,
    Link,
    Memory,
    MissingFigureError,
    Source,
    UnknownChipError,
    chip,
    chips,
    chips_json,
    load_chips,
)
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.presets import Preset, preset, presets
from roofwidget.kernels.table import Kernels

if TYPE_CHECKING:
    from roofwidget import companions, network, workloads
    from roofwidget.analysis.advice import Advice as Advice
    from roofwidget.analysis.advice import Advices as Advices
    from roofwidget.analysis.advice import advise
    from roofwidget.analysis.compare_chips import Comparison as Comparison
    from roofwidget.analysis.compare_chips import Flip as Flip
    from roofwidget.analysis.compare_chips import compare_chips
    from roofwidget.analysis.compare_runs import compare_runs
    from roofwidget.analysis.exercise import roofline_analysis
    from roofwidget.analysis.projection import Projection as Projection
    from roofwidget.analysis.projection import project
    from roofwidget.analysis.ranks import Ranks
    from roofwidget.analysis.ranks import Straggler as Straggler
    from roofwidget.analysis.run_comparison import RunComparison as RunComparison
    from roofwidget.analysis.run_series import RunSeries as RunSeries
    from roofwidget.analysis.run_series import RunStep as RunStep
    from roofwidget.analysis.run_series import RunTrend as RunTrend
    from roofwidget.analysis.sizing import critical_batch, critical_batch_per_chip, smallest_square_matmul
    from roofwidget.analysis.snapshot import Snapshot
    from roofwidget.analysis.utilization import ModelFlops, Utilization, mbu, mfu
    from roofwidget.analysis.verdict import Verdict as Verdict
    from roofwidget.live.magic import load_ipython_extension as load_ipython_extension
    from roofwidget.live.record import record
    from roofwidget.measure.analyzer import RooflineAnalyzer, RooflinePoint
    from roofwidget.measure.hardware_peaks import HardwarePeaks
    from roofwidget.measure.hardware_peaks import MeasuredRate as MeasuredRate
    from roofwidget.measure.hlo.program import from_hlo_text
    from roofwidget.measure.jax.programs import from_jax
    from roofwidget.measure.measured import measured
    from roofwidget.measure.peaks import clear_peaks_cache, measure_peaks
    from roofwidget.measure.profile import Profile, count_flops, profile
    from roofwidget.measure.recording import Recording as Recording
    from roofwidget.measure.sweep import Sweep, sweep
    from roofwidget.measure.this_chip import this_chip
    from roofwidget.model import RooflineModel, save_page
    from roofwidget.readers import ProfileError, read, read_many
    from roofwidget.readers.ceilings import read_ceilings
    from roofwidget.readers.ranks import ranks
    from roofwidget.teaching.bank import question_bank
    from roofwidget.teaching.grading import Grade as Grade
    from roofwidget.teaching.grading import Grades, grade
    from roofwidget.teaching.misconceptions import misconceptions
    from roofwidget.teaching.question import Check as Check
    from roofwidget.teaching.question import Question
    from roofwidget.teaching.story import Step, Story, ask
    from roofwidget.widget import RooflineWidget, explore, load, roofline
    from roofwidget.workloads import Convention, Graph, Serving, chain, dim, model_flops, register_op, serve
    from roofwidget.workloads.partition import Partition

    __version__: str

# Each key is a public name, and its value is the module that defines the name. The module is imported when the name is
# first used, because few users need ipywidgets, bqplot and all readers.
_LAZY = {
    "Advice": "roofwidget.analysis.advice",
    "Advices": "roofwidget.analysis.advice",
    "Verdict": "roofwidget.analysis.verdict",
    "Check": "roofwidget.teaching.question",
    "Comparison": "roofwidget.analysis.compare_chips",
    "Convention": "roofwidget.workloads",
    "Flip": "roofwidget.analysis.compare_chips",
    "Grade": "roofwidget.teaching.grading",
    "Grades": "roofwidget.teaching.grading",
    "Graph": "roofwidget.workloads",
    "HardwarePeaks": "roofwidget.measure.hardware_peaks",
    "MeasuredRate": "roofwidget.measure.hardware_peaks",
    "ModelFlops": "roofwidget.analysis.utilization",
    "Partition": "roofwidget.workloads.partition",
    "Profile": "roofwidget.measure.profile",
    "ProfileError": "roofwidget.readers",
    "Projection": "roofwidget.analysis.projection",
    "Question": "roofwidget.teaching.question",
    "Ranks": "roofwidget.analysis.ranks",
    "Recording": "roofwidget.measure.recording",
    "RooflineAnalyzer": "roofwidget.measure.analyzer",
    "RooflineModel": "roofwidget.model",
    "RooflinePoint": "roofwidget.measure.analyzer",
    "RooflineWidget": "roofwidget.widget",
    "RunComparison": "roofwidget.analysis.run_comparison",
    "RunSeries": "roofwidget.analysis.run_series",
    "RunStep": "roofwidget.analysis.run_series",
    "RunTrend": "roofwidget.analysis.run_series",
    "Serving": "roofwidget.workloads",
    "Snapshot": "roofwidget.analysis.snapshot",
    "Step": "roofwidget.teaching.story",
    "Story": "roofwidget.teaching.story",
    "Straggler": "roofwidget.analysis.ranks",
    "Sweep": "roofwidget.measure.sweep",
    "Utilization": "roofwidget.analysis.utilization",
    "advise": "roofwidget.analysis.advice",
    "ask": "roofwidget.teaching.story",
    "chain": "roofwidget.workloads",
    "clear_peaks_cache": "roofwidget.measure.peaks",
    "compare_chips": "roofwidget.analysis.compare_chips",
    "compare_runs": "roofwidget.analysis.compare_runs",
    "count_flops": "roofwidget.measure.profile",
    "critical_batch": "roofwidget.analysis.sizing",
    "critical_batch_per_chip": "roofwidget.analysis.sizing",
    "dim": "roofwidget.workloads",
    "explore": "roofwidget.widget",
    "from_hlo_text": "roofwidget.measure.hlo.program",
    "from_jax": "roofwidget.measure.jax.programs",
    "grade": "roofwidget.teaching.grading",
    "load": "roofwidget.widget",
    "load_ipython_extension": "roofwidget.live.magic",
    "mbu": "roofwidget.analysis.utilization",
    "measure_peaks": "roofwidget.measure.peaks",
    "measured": "roofwidget.measure.measured",
    "mfu": "roofwidget.analysis.utilization",
    "misconceptions": "roofwidget.teaching.misconceptions",
    "model_flops": "roofwidget.workloads",
    "profile": "roofwidget.measure.profile",
    "project": "roofwidget.analysis.projection",
    "question_bank": "roofwidget.teaching.bank",
    "ranks": "roofwidget.readers.ranks",
    "read": "roofwidget.readers",
    "read_ceilings": "roofwidget.readers.ceilings",
    "read_many": "roofwidget.readers.many",
    "record": "roofwidget.live.record",
    "register_op": "roofwidget.workloads",
    "roofline": "roofwidget.widget",
    "roofline_analysis": "roofwidget.analysis.exercise",
    "save_page": "roofwidget.model",
    "serve": "roofwidget.workloads",
    "smallest_square_matmul": "roofwidget.analysis.sizing",
    "sweep": "roofwidget.measure.sweep",
    "this_chip": "roofwidget.measure.this_chip",
}
_MODULES = ("companions", "network", "workloads")

__all__ = [
    "AmbiguousChipError",
    "Bound",
    "Ceiling",
    "Chip",
    "Convention",
    "Energy",
    "Grades",
    "Graph",
    "HardwarePeaks",
    "Kernel",
    "Kernels",
    "Link",
    "Memory",
    "MissingFigureError",
    "ModelFlops",
    "Partition",
    "Preset",
    "Profile",
    "ProfileError",
    "Question",
    "Ranks",
    "RooflineAnalyzer",
    "RooflineModel",
    "RooflinePoint",
    "RooflineWidget",
    "Serving",
    "Snapshot",
    "Source",
    "Step",
    "Story",
    "Sweep",
    "UnknownChipError",
    "Utilization",
    "advise",
    "ask",
    "attainable",
    "bound",
    "chain",
    "chip",
    "chips",
    "chips_json",
    "clear_peaks_cache",
    "companions",
    "compare_chips",
    "compare_runs",
    "count_flops",
    "critical_batch",
    "critical_batch_per_chip",
    "dim",
    "explore",
    "from_hlo_text",
    "from_jax",
    "grade",
    "load",
    "load_chips",
    "mbu",
    "measure_peaks",
    "measured",
    "mfu",
    "misconceptions",
    "model_flops",
    "network",
    "preset",
    "presets",
    "profile",
    "project",
    "question_bank",
    "ranks",
    "read",
    "read_ceilings",
    "read_many",
    "record",
    "register_op",
    "ridge_point",
    "roofline",
    "roofline_analysis",
    "save_page",
    "serve",
    "smallest_square_matmul",
    "sweep",
    "this_chip",
    "workloads",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"roofwidget.{name}")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked for

        return version("roofwidget")
    raise AttributeError(f"module 'roofwidget' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
