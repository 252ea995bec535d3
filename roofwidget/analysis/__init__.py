"""The roofline arithmetic and all results that are based on it. No module here uses traitlets or pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roofwidget.support.late import late

if not TYPE_CHECKING:
    __getattr__ = late(
        __name__,
        "bound_lenient",
        "bound_report",
        "compare_runs",
        "instruction_roofline",
        "kernel_moves",
        "latency",
        "messages",
        "projection",
        "reasons",
        "snapshot",
        "verdict",
    )
