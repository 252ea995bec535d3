"""Kernels that communicate, in files without the metadata of collectives."""

from __future__ import annotations

import numpy as np

from roofwidget.kernels.collectives import collectives
from roofwidget.kernels.table import Kernels
from roofwidget.support.text_tables import counted
from roofwidget.units import format_percent


def with_unsized_note(kernels: Kernels) -> Kernels:
    """Return the table with a warning if it has collectives: their bytes over the link are not in the file.

    Examples
    --------
    >>> with_unsized_note(Kernels(["ncclDevKernel_Generic_1", "gemm"], [0, 1], [1, 1], time=[3, 1])).warnings
    ('bytes over the link are unknown for 1 kernel that communicates, 75 % of the time: the file has no sizes',)
    """
    sends = collectives(kernels) & ~(kernels.network_bytes > 0)
    if not sends.any():
        return kernels
    time = np.nan_to_num(kernels.self_time)
    share = time[sends].sum() / max(time.sum(), np.finfo(float).tiny)
    does = "communicates" if sends.sum() == 1 else "communicate"
    what = f"{counted(int(sends.sum()), 'kernel')} that {does}, {format_percent(share)} of the time"
    note = f"bytes over the link are unknown for {what}: the file has no sizes"
    return kernels.replace(warnings=[*kernels.warnings, note])
