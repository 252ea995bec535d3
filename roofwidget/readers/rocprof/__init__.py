"""AMD's rocprof-compute (formerly Omniperf), rocprofv3 and rocprof: hardware counters, one row per dispatch.

``rocprofv3 --pmc … -- ./program`` writes ``HOST/PID_results.db``, a database (rocpd) with the kernels, their times, the
counters and the GPU. Without ``--pmc`` it has times only. ``rocprof-compute profile -n NAME -- ./program`` makes the
folder ``workloads/NAME/MODEL``, with a database for each pass, or with ``pmc_perf.csv`` before version 3.9. Give
`roofwidget.read` the folder, a zip archive of it, or one of its files; the reader finds ``sysinfo.csv`` and
``roofline.csv`` in the same folder. Several databases, ``pmc_perf_*.csv``, ``results_*.csv`` or rocprofv3's
``counter_collection.csv`` are joined dispatch by dispatch; columns may have their old or new names. Databases with the
same counters are runs or ranks, not passes: `roofwidget.read_many` and `roofwidget.ranks` read these.
``rocprof -i counters.txt ./program`` writes ``results.csv``; with ``pmc: FETCH_SIZE WRITE_SIZE`` it has the bytes of
HBM. ``rocprofv3 --kernel-trace`` writes ``*_kernel_trace.csv``, or with ``--output-format json`` a file
``*_results.json``: times of each dispatch, and counters in the JSON. ``rocprof --stats`` and ``rocprofv3 --stats``
write ``results.stats.csv``, ``*_kernel_stats.csv`` and ``*_memory_copy_stats.csv``: calls and total time of each kernel
or kind of copy. Statistics and traces of API calls are of the host and are refused.

Databases are opened read-only. The schema of rocpd (version 3) is in ``source/share/rocprofiler-sdk-rocpd`` of
rocprofiler-sdk. Only kernels are read, not copies. A counter of a dispatch is the sum over its instances, as in the
view ``counters_collection``.

``rocprof-compute analyze -p FOLDER --output-format db`` writes another database (schema 1.2 to 2.0, in
``src/utils/analysis_orm.py`` of rocprofiler-compute), with a row per kernel instead of a row per dispatch. Its column
``total_flops`` is a rate in GFLOP/s, and the columns of levels are arithmetic intensities: FLOPs are the rate times the
time of all dispatches, and bytes are FLOPs over intensity. For kernels that its roofline leaves out, and for bytes of
kernels without FLOPs, the rates of its table 4.1 times the time are used. Before version 3.7 these are means over
dispatches, and bytes of L1 and L2 on gfx942 and gfx950 are half of what later versions write.

The rules by counters follow. The architecture (gfx) comes from ``sysinfo.csv``, from the database, or
from the option ``gfx``.

- Time: end minus start, from ``timestamps.csv`` if this file exists.
- FLOPs: 64 x (ADD + MUL + 2 FMA + TRANS) of ``SQ_INSTS_VALU_*_F16|F32|F64`` and 512 x
  ``SQ_INSTS_VALU_MFMA_MOPS_*``. All 64 lanes of a wave count, even masked lanes: the FLOPs of a divergent kernel are
  too high. Kinds of instructions and types without a counter add nothing, and a warning names them. If no precision
  has all four counters of vector instructions, zeros prove nothing: the FLOPs of such a dispatch are unknown.
- Operations of integers: 512 x ``SQ_INSTS_VALU_MFMA_MOPS_I8`` under ``int8``. With ``integers=True`` also 64 x
  ``SQ_INSTS_VALU_INT32`` and ``INT64``, under ``int32`` and ``int64``, as rocprof-compute counts its IOPs. By default
  they are left out, because addresses and loops are made of these instructions too. Their peaks are those that
  ``roofline.csv`` has measured.
- HBM: 32- and 64-byte requests of ``TCC_EA``; on gfx94x 128 bytes for each ``TCC_BUBBLE``; on gfx950 read
  requests of 128, 64 and 32 bytes. Without these counters, bytes are 1024 x (``FETCH_SIZE`` + ``WRITE_SIZE``).
- L2: 64 bytes per request of L1 on gfx908 and gfx90a; on gfx94x and gfx950 128 per read and 64 per write or atomic.
- L1: 64 bytes per cache access; on gfx94x and gfx950 128 bytes, which is an upper bound. LDS: 4 bytes x banks x active
  cycles without conflicts.

- Why a kernel is slow: `Kernels.extra` has instructions (``SQ_INSTS``), requests at L1, L2 and HBM, active lanes, bank
  conflicts of the LDS, the hit rate of L2 and the shares of waits, as far as the file has their counters; see
  ``docs/why.md``.

FLOPs of the matrix units use a separate peak (``fp64_matrix``) if the chip has one. If ``sysinfo.csv`` or the database
names a chip of the catalogue, `Kernels.chip` is this chip, with the measured ceilings of ``roofline.csv``. Otherwise
the chip is made from ``roofline.csv``. A kernel without FLOPs is listed with zero FLOPs. If no counter of FLOPs was
profiled, the FLOPs are unknown.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from roofwidget.chips import Chip
from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.amounts import integers_counted
from roofwidget.readers.ceilings.measured import MATRIX, base_key
from roofwidget.readers.communication import with_unsized_note
from roofwidget.readers.input import databases
from roofwidget.readers.input.source import Source
from roofwidget.readers.rocprof import analysis, machine, passes, rocpd, sdk_json, statistics
from roofwidget.readers.rocprof.counters import (
    ARCHITECTURES,
    Part,
    Uncounted,
    bytes_by_level,
    flops_by_unit,
    integer_operations,
    matrix_counter,
    vector_counter,
)
from roofwidget.readers.rocprof.low_level import low_level_columns
from roofwidget.support.did_you_mean import first_in, listed

FORMAT: Final = "rocprof"
EXPECTED: Final = (
    "a folder, database or JSON of rocprof-compute or rocprofv3, pmc_perf.csv, roofline.csv, rocprof's results.csv or "
    "statistics of kernels"
)

_KERNEL: Final = re.compile(r"\bKernel_?Name\b")
_MEASURE: Final = re.compile(
    r"\b(BeginNs|DurationNs|(Start|End)_Timestamp|(SQ|TCC|TCP|GRBM)_\w+|FETCH_SIZE|Counter_Name)\b"
)
# A pattern that begins with letters is searched for much faster than one that begins with \b.
_CEILINGS: Final = re.compile(r"HBMBw\b(?<!\wHBMBw)")
_FOLDER: Final = re.compile(
    r"(.*/)?(pmc_perf\w*|sysinfo|\w*counter_collection|results\w*|results\.stats|\w*kernel_(trace|stats))\.csv(\.gz)?",
    re.IGNORECASE,
)
_JSON: Final = re.compile(r".*results\.json(\.gz)?", re.IGNORECASE)
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
    """Whether the source is a folder with tables or databases of AMD's counters, or one of these files."""
    if source.is_folder:
        return any(
            _FOLDER.fullmatch(name)
            or (passes.DATABASE.fullmatch(name) and rocpd.is_rocpd(member))
            or (_JSON.fullmatch(name) and sdk_json.is_sdk_json(member))
            for name, member in source.members().items()
        )
    if databases.is_database(source):
        return rocpd.is_rocpd(source) or analysis.is_analysis(source)
    if _CEILINGS.search(source.beginning) or sdk_json.is_sdk_json(source) or statistics.recognises(source):
        return True
    return any(_KERNEL.search(line) and _MEASURE.search(line) for line in source.beginning.splitlines()[:50])


def read(source: Source, *, gfx: str | None = None, integers: bool = False) -> Kernels:
    """Return one row per dispatch, or one row per kernel for a database of rocprof-compute's analysis.

    Parameters
    ----------
    source
        The folder, one table or one database.
    gfx
        The architecture, such as ``"gfx90a"``, if neither ``sysinfo.csv`` nor a database names it.
    integers
        Whether to count the instructions of 32-bit and 64-bit integers too: for kernels whose work is integers.

    Raises
    ------
    ProfileError
        If a table is missing, two tables have different dispatches, a cell is invalid, or a database is damaged.
    ValueError
        If `gfx` is unknown.
    TypeError
        If `integers` is not a bool.
    """
    if integers not in (True, False):
        raise TypeError(f"integers must be True or False, got {integers!r:.40}")
    if gfx is not None and gfx not in ARCHITECTURES:
        raise ValueError(f"gfx must be one of {listed(ARCHITECTURES)}, got {gfx!r}")
    is_database = databases.is_database(source)
    if not source.is_folder and not is_database and _CEILINGS.search(source.beginning):
        message = "roofline.csv has ceilings and no kernels: read the folder, or its pmc_perf.csv"
        return Kernels(chip=ceilings(source), warnings=[message], source=source.name)
    if is_database and not rocpd.is_rocpd(source):
        return _analysed(source, integers=integers)
    found = passes.files(source)
    if len(found.passes) == 1 and statistics.recognises(found.passes[0]):
        return with_unsized_note(statistics.read(found.passes[0]))
    tables, gpus = _passes(source, found.passes)
    rows = passes.joined(tables)
    about, about_warnings = _system(found.sysinfo, gpus)
    arch = gfx or about.gfx
    chip, chip_warnings = machine.gpu(about, found.roofline, integers=integers)
    flops, flops_rules, flops_warnings = _flops(rows, chip, arch, integers=integers)
    moved, missing = bytes_by_level(rows.counters, arch, about.lds_banks)
    bytes_warnings = _bytes_warnings(moved, missing, arch)
    units = None if chip is None or chip.units is None else int(chip.units.split()[0])
    low_level, rules_of_low_level = low_level_columns(rows.counters, rows.fields, units)
    warnings = [*rows.warnings, *about_warnings, *chip_warnings, *flops_warnings, *bytes_warnings]
    kernels = Kernels(
        rows.names,
        flops,
        {level: part.values for level, part in moved.items()},
        time=rows.time,
        chip=chip,
        origin={
            **flops_rules,
            **{f"bytes:{level}": _bytes_rule(level, part.origin, arch) for level, part in moved.items()},
            **({"time": rows.time_rule} if rows.time_rule else {}),
        },
        extra=_extra(rows) | low_level,
        read_as=rules_of_low_level,
        warnings=warnings,
        source=source.name,
    )
    return with_unsized_note(kernels)


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
            raise source.error("the folder has no roofline.csv: profile without --no-roof to measure ceilings")
        return machine.measured(found.roofline, machine.system(found.sysinfo))
    if databases.is_database(source) or not _CEILINGS.search(source.beginning):
        raise source.error("the file has counters; the measured ceilings are in roofline.csv")
    beside = None
    if source.path is not None:
        path = source.path.with_name(source.path.name.replace("roofline", "sysinfo"))
        beside = source.beside(path) if path != source.path else None
    return machine.measured(source, machine.system(beside))


def _passes(source: Source, files: Sequence[Source]) -> tuple[list[passes.Pass], list[rocpd.Gpu]]:
    """Return the passes of a profile and the GPUs that its databases name."""
    found, gpus = [], []
    for file in files:
        if databases.is_database(file) or sdk_json.is_sdk_json(file):
            one, its_gpus = (rocpd if databases.is_database(file) else sdk_json).read(file)
            found.append(one)
            gpus += its_gpus
        else:
            found.append(passes.read_table_of(file))
    for before, after in itertools.combinations([one for one in found if databases.is_database(one.source)], 2):
        if before.counters.keys() >= after.counters.keys() or before.counters.keys() <= after.counters.keys():
            names = f"{PurePosixPath(before.source.name).name} and {PurePosixPath(after.source.name).name}"
            reason = f"{names} have the same counters: they are runs or ranks, not passes of one run"
            raise source.error(f"{reason}; rw.read_many and rw.ranks read each on its own")
    return found, list(dict.fromkeys(gpus))


def _system(sysinfo: Source | None, gpus: Sequence[rocpd.Gpu]) -> tuple[machine.System, list[str]]:
    """Return the GPU by ``sysinfo.csv``, else by the databases, and warnings."""
    if sysinfo is not None or not gpus:
        return machine.system(sysinfo), []
    first = gpus[0]
    if any(gpu != first for gpu in gpus):
        models = listed(dict.fromkeys(gpu.model or gpu.gfx for gpu in gpus))
        gfx = first.gfx if all(gpu.gfx == first.gfx for gpu in gpus) else ""
        return machine.System(gfx=gfx), [f"the kernels ran on different GPUs ({models})"]
    return machine.System(first.gfx, first.model, units=first.units, named_in="the database"), []


def _analysed(source: Source, *, integers: bool) -> Kernels:
    """Return one row per kernel of rocprof-compute's analysis database."""
    found = analysis.read(source)
    chip, chip_warnings = machine.gpu(machine.system(found.sysinfo), found.roofline, integers=integers)
    counted = [*found.flops, *(found.integers if integers else [])]
    used = [part for part in counted if (part.values > 0).any()]
    flops, rules = _by_peak(used, chip)
    if not used:
        known = np.any([~np.isnan(part.values) for part in found.flops], axis=0)
        flops, rules = {"": np.where(known, 0.0, np.nan)}, {}
    several = len(set(found.workloads)) > 1
    return Kernels(
        found.names,
        flops,
        {level: part.values for level, part in found.bytes.items()},
        time=found.time,
        count=found.count,
        category=found.workloads if several else None,
        chip=chip,
        origin={
            **rules,
            **{f"bytes:{level}": part.origin for level, part in found.bytes.items()},
            "time": "sum of end - start of compute_dispatch",
        },
        warnings=[
            *found.warnings,
            *chip_warnings,
            *integers_counted(part.precision for part in used),
            *([] if integers else _left_out(found.flops, found.integers)),
        ],
        source=source.name,
    )


def _flops(
    rows: passes.Joined, chip: Chip | None, gfx: str, *, integers: bool
) -> tuple[dict[str, Floats], dict[str, str], list[str]]:
    """Return FLOPs by the chip's keys, their rules, and warnings."""
    parts, uncounted = flops_by_unit(rows.counters, gfx)
    of_integers, no_integers = integer_operations(rows.counters)
    left_out = [] if integers else _left_out(parts, of_integers)
    parts += of_integers if integers else []
    n = len(rows.names)
    if not parts:
        message = "no counter of FLOPs was profiled (SQ_INSTS_VALU_*, SQ_INSTS_VALU_MFMA_MOPS_*): FLOPs are unknown"
        return {"": np.full(n, np.nan)}, {}, [message]
    warnings = _uncounted_warnings(uncounted)
    if integers and no_integers:
        warnings.append(f"operations of integers were not all counted: {' and '.join(no_integers)} was not profiled")
    total = np.sum([part.values for part in parts], axis=0)
    is_unknown = np.isnan(total) | ((total == 0) & (not uncounted.zero_is_known))
    if is_unknown.any():
        warnings.append(
            f"FLOPs of {int(is_unknown.sum()):,} of {n:,} dispatches are unknown: some counters are missing, and the "
            "others are 0 or missing too"
        )
    used = [part for part in parts if (part.values > 0).any()]
    if not used:
        rule = "; ".join(part.origin for part in parts)
        return {"": np.where(is_unknown, np.nan, 0.0)}, {"flops": f"all zero: {rule}"}, [*warnings, *left_out]
    flops, rules = _by_peak(used, chip)
    flops = {key: np.where(is_unknown, np.nan, values) for key, values in flops.items()}
    return flops, rules, [*warnings, *integers_counted(part.precision for part in used), *left_out]


_KINDS: Final = {
    "ADD": "additions",
    "MUL": "multiplications",
    "FMA": "fused multiply-adds",
    "TRANS": "transcendental operations",
}


def _uncounted_warnings(uncounted: Uncounted) -> list[str]:
    """Return the warnings of operations without a counter, which add nothing to FLOPs."""
    whole = [precision for precision, kinds in uncounted.vector.items() if len(kinds) == len(_KINDS)]
    warnings = []
    if whole:
        warnings.append(f"counters of {' and '.join(whole)} vector instructions are missing: FLOPs may be too low")
    for precision, kinds in uncounted.vector.items():
        if kinds and precision not in whole:
            names = ", ".join(vector_counter(kind, precision) for kind in kinds)
            warnings.append(
                f"counters of {precision} vector instructions are missing: "
                f"{' and '.join(_KINDS[kind] for kind in kinds)} were not counted ({names}): FLOPs may be too low"
            )
    if uncounted.matrix:
        names = ", ".join(map(matrix_counter, uncounted.matrix))
        what = f"{' and '.join(uncounted.matrix)} matrix instructions"
        warnings.append(f"counters of {what} are missing ({names}): FLOPs may be too low")
    return warnings


def _by_peak(parts: Sequence[Part], chip: Chip | None) -> tuple[dict[str, Floats], dict[str, str]]:
    """Return FLOPs and their rules by the chip's keys."""
    flops: dict[str, Floats] = {}
    rules: dict[str, str] = {}
    for part in parts:
        key = _key(part, chip)
        flops[key] = part.values if key not in flops else flops[key] + part.values
        rules[f"flops:{key}"] = f"{rules[f'flops:{key}']} + {part.origin}" if f"flops:{key}" in rules else part.origin
    rules["flops"] = "; ".join(f"{key.removeprefix('flops:')}: {rule}" for key, rule in rules.items())
    return flops, rules


def _left_out(parts: Sequence[Part], of_integers: Sequence[Part]) -> list[str]:
    """Return a warning if kernels without FLOPs do operations of integers that are not counted."""
    if not of_integers:
        return []
    floating = np.sum([np.nan_to_num(part.values) for part in parts], axis=0) if parts else 0.0
    count = int(((floating == 0) & (np.sum([part.values for part in of_integers], axis=0) > 0)).sum())
    if not count:
        return []
    whose = "1 kernel without FLOPs does" if count == 1 else f"{count:,} kernels without FLOPs do"
    return [f"{whose} operations of integers, which are not counted: integers=True counts them"]


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


def _bytes_warnings(moved: dict[str, Part], missing: dict[str, list[str]], gfx: str) -> list[str]:
    warnings = [
        f"bytes of {level} are unknown, because only some of their counters were profiled: {', '.join(names)} "
        f"{'is' if len(names) == 1 else 'are'} missing"
        for level, names in missing.items()
    ]
    if gfx and gfx not in ARCHITECTURES:
        warnings.append(
            f"the counters of {gfx} are not supported, so bytes are unknown; supported are {listed(ARCHITECTURES)}"
        )
    elif not gfx:
        warnings.append(
            "the architecture is unknown, and so are the bytes of L2, L1 and LDS; give it, such as gfx='gfx942'"
        )
    elif "HBM" not in {*moved, *missing}:
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


def _extra(rows: passes.Joined) -> dict[str, Any]:
    named = {ours: first_in(theirs, rows.fields) for ours, theirs in _EXTRA.items()}
    return {ours: rows.fields[name]() for ours, name in named.items() if name is not None}
