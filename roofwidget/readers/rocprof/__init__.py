"""AMD's rocprof-compute (formerly Omniperf) and rocprof: tables of hardware counters, one row per dispatch.

``rocprof-compute profile -n NAME -- ./program`` (of a version before 3.9; later versions write a database) makes the
folder ``workloads/NAME/MODEL``. Give `roofwidget.read` the folder, a zip archive of it, or its ``pmc_perf.csv``; the
reader finds ``sysinfo.csv`` and ``roofline.csv`` in the same folder. Several ``pmc_perf_*.csv``, ``results_*.csv`` or
rocprofv3's ``counter_collection.csv`` are joined dispatch by dispatch; columns may have their old or new names.
``rocprof -i counters.txt ./program`` writes ``results.csv``; with ``pmc: FETCH_SIZE WRITE_SIZE`` it has the bytes of
HBM.

The rules by counters follow. The architecture (gfx) comes from ``sysinfo.csv`` or from the option ``gfx``.

- Time: end minus start, from ``timestamps.csv`` if this file exists.
- FLOPs: 64 x (ADD + MUL + 2 FMA + TRANS) of ``SQ_INSTS_VALU_*_F16|F32|F64`` and 512 x
  ``SQ_INSTS_VALU_MFMA_MOPS_*``. All 64 lanes of a wave count, even masked lanes: the FLOPs of a divergent kernel are
  too high.
- HBM: 32- and 64-byte requests of ``TCC_EA``; on gfx94x 128 bytes for each ``TCC_BUBBLE``; on gfx950 read
  requests of 128, 64 and 32 bytes. Without these counters, bytes are 1024 x (``FETCH_SIZE`` + ``WRITE_SIZE``).
- L2: 64 bytes per request of L1 on gfx908 and gfx90a; on gfx94x and gfx950 128 per read and 64 per write or atomic.
- L1: 64 bytes per cache access; on gfx94x and gfx950 128 bytes, which is an upper bound. LDS: 4 bytes x banks x active
  cycles without conflicts.

FLOPs of the matrix units use a separate peak (``fp64_matrix``) if the chip has one. If ``sysinfo.csv`` names a chip of
the catalogue, `Kernels.chip` is this chip, with the measured ceilings of ``roofline.csv``. Otherwise the chip is made
from ``roofline.csv``. A kernel without FLOPs is listed with zero FLOPs. If no counter of FLOPs was profiled, the FLOPs
are unknown.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.ceilings.measured import MATRIX, base_key
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof import machine, passes
from roofwidget.readers.rocprof.counters import ARCHITECTURES, Part, bytes_by_level, flops_by_unit
from roofwidget.support.did_you_mean import listed

FORMAT: Final = "rocprof"
EXPECTED: Final = "a folder of rocprof-compute, its pmc_perf.csv or roofline.csv, or rocprof's results.csv"

_KERNEL: Final = re.compile(r"\bKernel_?Name\b")
_MEASURE: Final = re.compile(
    r"\b(BeginNs|DurationNs|(Start|End)_Timestamp|(SQ|TCC|TCP|GRBM)_\w+|FETCH_SIZE|Counter_Name)\b"
)
_CEILINGS: Final = re.compile(r"\bHBMBw\b")
_FOLDER: Final = re.compile(r"(.*/)?(pmc_perf\w*|sysinfo|\w*counter_collection|results\w*)\.csv(\.gz)?", re.IGNORECASE)
# Additional columns: our name, and the possible names in a file.
_EXTRA: Final = {
    "dispatch": ("Dispatch_ID", "Dispatch_Id", "Index"),
    "GPU": ("GPU_ID", "gpu-id"),
    "grid": ("Grid_Size", "grd"),
    "workgroup": ("Workgroup_Size", "wgr"),
    "LDS (B)": ("LDS_Per_Workgroup", "lds"),
    "scratch (B)": ("Scratch_Per_Workitem", "scr"),
    "VGPRs": ("Arch_VGPR", "arch_vgpr"),
    "SGPRs": ("SGPR", "sgpr"),
}


def recognises(source: Source) -> bool:
    """Whether the source is a folder with tables of AMD's counters, or one of these tables."""
    if source.is_folder:
        return any(_FOLDER.fullmatch(name) for name in source.members())
    if _CEILINGS.search(source.beginning):
        return True
    return any(_KERNEL.search(line) and _MEASURE.search(line) for line in source.beginning.splitlines()[:50])


def read(source: Source, *, gfx: str | None = None) -> Kernels:
    """Return one kernel per dispatch.

    Parameters
    ----------
    source
        The folder or one table.
    gfx
        The architecture, such as ``"gfx90a"``, if there is no ``sysinfo.csv``.

    Raises
    ------
    ProfileError
        If a table is missing, two tables have different dispatches, or a cell is invalid.
    ValueError
        If `gfx` is unknown.
    """
    if gfx is not None and gfx not in ARCHITECTURES:
        msg = f"gfx must be one of {listed(ARCHITECTURES)}, got {gfx!r}"
        raise ValueError(msg)
    if not source.is_folder and _CEILINGS.search(source.beginning):
        message = "roofline.csv has ceilings and no kernels: read the folder, or its pmc_perf.csv"
        return Kernels(chip=ceilings(source), warnings=[message], source=source.name)
    found = passes.files(source)
    about = machine.system(found.sysinfo)
    rows = passes.joined(found.passes)
    arch = gfx or about.gfx
    chip, chip_warnings = machine.gpu(about, found.roofline)
    flops, flops_rules, flops_warnings = _flops(rows, chip)
    moved = bytes_by_level(rows.counters, arch, about.lds_banks)
    warnings = [*rows.warnings, *chip_warnings, *flops_warnings, *_bytes_warnings(moved, arch)]
    return Kernels(
        rows.names,
        flops,
        {level: part.values for level, part in moved.items()} or np.full(len(rows.names), np.nan),
        time=rows.time,
        chip=chip,
        origin={
            **flops_rules,
            **{f"bytes:{level}": _bytes_rule(level, part.origin, arch) for level, part in moved.items()},
            **({"time": rows.time_rule} if rows.time_rule else {}),
        },
        extra=_extra(rows),
        warnings=warnings,
        source=source.name,
    )


def ceilings(source: Source) -> Chip:
    """Return the GPU as measured by rocprof-compute's benchmark.

    Parameters
    ----------
    source
        ``roofline.csv``, or its folder.

    Raises
    ------
    ProfileError
        If ``roofline.csv`` is missing, or a cell is invalid.
    """
    if source.is_folder:
        found = passes.files(source)
        if found.roofline is None:
            raise ProfileError(
                source.name, "the folder has no roofline.csv: profile without --no-roof to measure ceilings"
            )
        return machine.measured(found.roofline, machine.system(found.sysinfo))
    if not _CEILINGS.search(source.beginning):
        raise ProfileError(source.name, "the file has counters; the measured ceilings are in roofline.csv")
    beside = None
    if source.path is not None:
        path = source.path.with_name(source.path.name.replace("roofline", "sysinfo"))
        beside = Source.of(path) if path != source.path and path.is_file() else None
    return machine.measured(source, machine.system(beside))


def _flops(rows: passes.Joined, chip: Chip | None) -> tuple[dict[str, Floats], dict[str, str], list[str]]:
    """Return FLOPs by the chip's keys, their rules, and warnings."""
    parts, missing = flops_by_unit(rows.counters)
    n = len(rows.names)
    if not parts:
        message = "no counter of FLOPs was profiled (SQ_INSTS_VALU_*, SQ_INSTS_VALU_MFMA_MOPS_*): FLOPs are unknown"
        return {"": np.full(n, np.nan)}, {}, [message]
    warnings = []
    if missing:
        message = f"counters of {' and '.join(missing)} vector instructions are missing: FLOPs may be too low"
        warnings.append(message)
    used = [part for part in parts if (part.values > 0).any()]
    if not used:
        known = np.all([~np.isnan(part.values) for part in parts], axis=0)
        rule = "; ".join(part.origin for part in parts)
        return {"": np.where(known, 0.0, np.nan)}, {"flops": f"all zero: {rule}"}, warnings
    flops: dict[str, Floats] = {}
    rules: dict[str, str] = {}
    for part in used:
        key = _key(part, chip)
        flops[key] = part.values if key not in flops else flops[key] + part.values
        rules[f"flops:{key}"] = f"{rules[f'flops:{key}']} + {part.origin}" if f"flops:{key}" in rules else part.origin
    rules["flops"] = "; ".join(f"{key.removeprefix('flops:')}: {rule}" for key, rule in rules.items())
    if any(part.precision.startswith("int") for part in used):
        warnings.append("operations of 8-bit integers are counted among the FLOPs, under int8")
    return flops, rules, warnings


def _key(part: Part, chip: Chip | None) -> str:
    """Return the key of the peak: ``fp64_matrix`` if the chip has this key, otherwise ``fp64``."""
    if chip is None:
        return part.precision
    narrow = part.precision not in ("fp64", "fp32")
    if part.unit == MATRIX:
        own = part.precision if narrow else base_key(chip, f"{part.precision}_{MATRIX}")
    else:
        own = f"{part.precision}_{part.unit}" if narrow else part.precision
    return own if own in chip.peak_flops else part.precision


def _bytes_warnings(moved: dict[str, Part], gfx: str) -> list[str]:
    warnings = []
    if gfx and gfx not in ARCHITECTURES:
        warnings.append(
            f"the counters of {gfx} are not supported, so bytes are unknown; supported are {listed(ARCHITECTURES)}"
        )
    elif not gfx:
        warnings.append(
            "the architecture is unknown, and so are the bytes of L2, L1 and LDS; give it, such as gfx='gfx942'"
        )
    elif "HBM" not in moved:
        warnings.append(
            "the counters of HBM's requests (TCC_EA*_RDREQ, _WRREQ) were not profiled, so its bytes are unknown"
        )
    negative = [level for level, part in moved.items() if np.isnan(part.values).any()]
    if negative:
        warnings.append(
            f"some bytes of {' and '.join(negative)} are unknown: counters are missing, or sums are below zero"
        )
    return warnings


def _bytes_rule(level: str, rule: str, gfx: str) -> str:
    upper = level == "L1" and ARCHITECTURES.get(gfx, 0) == 128  # noqa: PLR2004 - a line of 128 bytes
    return f"{rule} (an upper bound: whole lines)" if upper else rule


def _extra(rows: passes.Joined) -> dict[str, Floats]:
    table = rows.table
    if table is None:
        return {}
    named = {ours: next((name for name in theirs if name in table.columns), None) for ours, theirs in _EXTRA.items()}
    return {ours: table.numbers(name) for ours, name in named.items() if name is not None}
