"""What a person should know of the counts of a file, in sentences."""

from __future__ import annotations

from typing import Final

import numpy as np

from roofwidget.readers.ncu.counts import Counts
from roofwidget.readers.ncu.evidence import Told
from roofwidget.readers.ncu.launches import Launches
from roofwidget.readers.ncu.paths import Mask
from roofwidget.readers.ncu.traffic import Moved

__all__ = ["of", "on_counts"]

_SHOWN: Final = 40
_BUSY: Final = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
_MUCH: Final = 50
_GIVE: Final = "give them by name, such as flops={'gemm': '155 GFLOP'}"
_FAMILY: Final = {"fp16_vector": "fp16 outside tensor cores"}


def of(launches: Launches, counts: Counts, time: Told, traffic: Moved) -> list[str]:
    """Return the remarks on FLOPs, bytes and time."""
    tensor = counts.tensor
    is_unknown = np.array([reason is not None for reason in counts.reasons], dtype=np.bool_)
    remarks: list[str] = []
    zero = tensor.all_zero & is_unknown
    if zero.any():
        most = np.nanmax(launches.metric(_BUSY)[zero], initial=-1)
        share = f", with SMs up to {most:.0f} % busy" if most >= 0 else ""
        names = _names(launches, zero)
        remarks.append(
            f"all tensor counters are 0 for {_of(launches, zero)}{share} ({names}): {_counters(launches)} miss the "
            f"instructions of new tensor cores, so these FLOPs are unknown, not 0; {_GIVE}"
        )
    busy = tensor.all_zero & ~is_unknown & (launches.metric(_BUSY) >= _MUCH)
    if busy.any():
        remarks.append(
            f"all tensor counters are 0 for {_of(launches, busy)} that keep SMs busy ({_names(launches, busy)}): FLOPs "
            f"are those of other units; if they use new tensor cores, {_GIVE}"
        )
    if (tensor.no_shape & is_unknown).any():
        where = tensor.no_shape & is_unknown
        remarks.append(
            f"tensor instructions without a shape in the name in {_of(launches, where)} ({_names(launches, where)}): "
            f"their FLOPs are unknown; {_GIVE}"
        )
    uncounted = is_unknown & tensor.is_unknown & ~tensor.is_counted
    if uncounted.any():
        remarks.append(
            f"no counter of tensor cores for {_of(launches, uncounted)} whose name tells of them "
            f"({_names(launches, uncounted)}): their FLOPs are unknown; {_GIVE}"
        )
    rest = is_unknown & ~zero & ~uncounted & ~tensor.no_shape
    if rest.any():
        remarks.append(f"FLOPs are unknown for {_of(launches, rest)}: the file does not count them all; {_GIVE}")
    return [*remarks, *on_counts(launches, counts), *_on_the_rest(time, traffic)]


def on_counts(launches: Launches, counts: Counts) -> list[str]:
    """Return the remarks on how FLOPs were counted, and what is not among them."""
    remarks: list[str] = []
    tensor = counts.tensor
    if tensor.moves.any():
        remarks.append(
            f"the tensor pipe moved registers in {_of(launches, tensor.moves)} ({_names(launches, tensor.moves)}), "
            "32 hfma an instruction: neither counts as FLOPs"
        )
    if tensor.may_move.any():
        remarks.append(
            f"hfma is left out in {_of(launches, tensor.may_move)} ({_names(launches, tensor.may_move)}): this chip "
            "counts register moves there, and without sm__inst_executed_pipe_tensor.sum they cannot be told from "
            "arithmetic"
        )
    estimated = [told for told in counts.flops.values() if any("shape" in (rule or "") for rule in told.rules)]
    if estimated:
        remarks.append("tensor FLOPs were estimated from the instruction shape: see origin['flops']")
    if tensor.sparse.any():
        remarks.append(f"structured sparsity was on in {_of(launches, tensor.sparse)}: dense roofs do not bound those")
    if counts.flops and counts.missing:
        missing = ", ".join(_FAMILY.get(key, key) for key in counts.missing)
        remarks.append(f"not counted in this file, so missing from FLOPs: {missing}")
    return remarks


def _on_the_rest(time: Told, traffic: Moved) -> list[str]:
    lacking = [level for level in ("DRAM", "L2", "L1") if level not in traffic]
    wanted = {"DRAM": "dram__bytes.sum", "L2": "lts__t_bytes.sum", "L1": "l1tex__t_bytes.sum"}
    missing = [f"bytes of {level} ({wanted[level]})" for level in lacking]
    if not time.is_known.any():
        missing.insert(0, "time (gpu__time_duration.sum)")
    return [f"the file does not tell {', '.join(missing)}"] if missing else []


def _of(launches: Launches, where: Mask) -> str:
    word = "kernel" if (launches.count > 1).any() else "launch"
    plural = "kernels" if word == "kernel" else "launches"
    return f"{int(where.sum())} of {len(where)} {plural}" if len(where) > 1 else f"this {word}"


def _names(launches: Launches, where: Mask) -> str:
    different = list(dict.fromkeys(launches.names[row] for row in np.flatnonzero(where).tolist()))
    first = different[0] if len(different[0]) <= _SHOWN else different[0][: _SHOWN - 3] + "..."
    return f"'{first}'" + (f" and {len(different) - 1} more" if len(different) > 1 else "")


def _counters(launches: Launches) -> str:
    paths = [name for name in launches.metrics if name.startswith("sm__ops_path_tensor_") and name.endswith(".sum")]
    names = paths or [name for name in launches.metrics if "pipe_tensor" in name]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004 - a line
