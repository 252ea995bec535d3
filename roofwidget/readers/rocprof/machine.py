"""The GPU of a profile: ``sysinfo.csv``, and rocprof-compute's measurements, ``roofline.csv``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import numpy as np

from roofwidget.chips import Chip, Source
from roofwidget.readers.ceilings.measured import MATRIX, VECTOR, Rate, measured_chip, onto
from roofwidget.readers.devices import chip_of_device, gfx_of
from roofwidget.readers.input.source import Source as File
from roofwidget.readers.tables.delimited import read_table

_GIGA: Final = 1e9
_ARCH: Final = ("gpu_arch", "gpu_soc", "arch", "gfx")
_MODEL: Final = ("gpu_model", "gpu_series", "gpu_name")
_WHOLE: Final = ("", "SPX", "NA", "N/A")
_BANKS: Final = 32
_LEVELS: Final = {"HBM": "HBM", "MALL": "Infinity Cache", "L2": "L2", "L1": "L1", "LDS": "LDS"}
_RATE: Final = re.compile(r"(MFMA)?(?:_FLOPs_)?(BF|FP|XF|F|I)(\d+)(F4)?(?:Flops|Ops)?")
_KINDS: Final = {"BF": "bf", "FP": "fp", "F": "fp", "XF": "tf", "I": "int"}
# A known error of the benchmark makes its bf16 rate half or twice its fp16 rate. This is the relative tolerance of the
# check for "half" and "twice".
_RATIO_TOLERANCE: Final = 0.05


@dataclass(frozen=True)
class System:
    """The GPU by ``sysinfo.csv`` or by a database; ``""`` and 0 mean unknown.

    The bandwidth is the data sheet's figure for HBM. `named_in` says where the model's name comes from.
    """

    gfx: str = ""
    model: str = ""
    lds_banks: int = _BANKS
    bandwidth: float = 0.0
    is_whole: bool = True
    units: float | None = None
    named_in: str = "sysinfo.csv"


def system(source: File | None) -> System:
    """Read ``sysinfo.csv``; without a file everything is unknown.

    Raises
    ------
    ProfileError
        If the file has no row, or a number is invalid.
    """
    if source is None:
        return System()
    rows = read_table(source, header=lambda cells: any(word in cells for word in (*_ARCH, *_MODEL)))
    rows.decimal = "."
    if not len(rows):
        raise source.error("the table has no row")

    def word(names: tuple[str, ...]) -> str:
        return next((rows.texts(name)[0].strip() for name in names if name in rows.columns), "")

    def number(name: str) -> float:
        value = rows.numbers(name, optional=True)[0]
        return 0.0 if np.isnan(value) else float(value)

    return System(
        gfx_of(word(_ARCH)),
        word(_MODEL),
        int(number("lds_banks_per_cu")) or _BANKS,
        number("hbm_bw") * _GIGA,
        word(("compute_partition",)).upper() in _WHOLE,
    )


def measured(source: File, about: System) -> Chip:
    """Return the GPU of ``roofline.csv``: GB/s and GFLOP/s (1e9) that rocprof-compute's benchmark reached.

    If the file has several devices, the first device is used, with a note.
    """
    rows = read_table(source, header=lambda cells: "HBMBw" in cells, only_rows=True)
    rows.decimal = "."
    if not len(rows):
        raise source.error("the table has no row: the benchmark measured no device")
    bandwidths = {
        level: float(rows.numbers(f"{stem}Bw")[0]) * _GIGA
        for stem, level in _LEVELS.items()
        if f"{stem}Bw" in rows.columns and not np.isnan(rows.numbers(f"{stem}Bw")[0])
    }
    rates = [rate for name in rows.columns if (rate := _rate(name, rows.numbers)) is not None]
    several = [f"{len(rows)} devices were measured; these are the figures of the first device"] if len(rows) > 1 else []
    return measured_chip(
        source.name,
        about.model or about.gfx or "AMD GPU",
        rates,
        dict(reversed(bandwidths.items())),
        Source(f"rocprof-compute's benchmark, {PurePath(source.name).name}", confidence="measured"),
        checks={"memories.HBM.bandwidth": about.bandwidth},
        check_source=Source("data sheet, by sysinfo.csv"),
        vendor="AMD",
        kind="gpu",
        notes=[*several, *rows.open_end(), *_doubts(rates)],
    )


def _rate(name: str, numbers: object) -> Rate | None:
    match = _RATE.fullmatch(name)
    if match is None or not callable(numbers):
        return None
    value = float(numbers(name)[0])
    if np.isnan(value):
        return None
    precision = "tf32" if match[2] == "XF" else f"{_KINDS[match[2]]}{match[3]}"
    return Rate("fp6_fp4" if match[4] else precision, MATRIX if match[1] else VECTOR, value * _GIGA, name)


def _doubts(rates: list[Rate]) -> list[str]:
    matrix: Mapping[str, float] = {rate.precision: rate.rate for rate in rates if rate.unit == MATRIX}
    half, brain = matrix.get("fp16", 0.0), matrix.get("bf16", 0.0)
    if not (half and brain) or all(abs(brain / half / ratio - 1) > _RATIO_TOLERANCE for ratio in (0.5, 2.0)):
        return []
    times = "half" if brain < half else "twice"
    return [f"the measured bf16 rate is {times} that of fp16: a known error of the benchmark on gfx90a and gfx950"]


def gpu(about: System, roofline: File | None, *, integers: bool = False) -> tuple[Chip | None, list[str]]:
    """Return the chip that the kernels ran on, and warnings.

    If the model is one chip of the catalogue and is not partitioned, the result is this chip, with the benchmark's
    figures as ceilings. Otherwise the result is a chip made from the benchmark's figures, or None if the model and the
    figures are unknown. With `integers` the chip of the catalogue also has the measured peaks of 32-bit and 64-bit
    integers, for which no data sheet has a figure.
    """
    found = None if roofline is None else measured(roofline, about)
    sheet, why = _catalogued(about)
    if sheet is not None:
        message = f"the roofs are those of the catalogue's {sheet.name}, the model in {about.named_in}"
        if integers and found is not None:
            sheet = _with_integers(sheet, found)
        return (sheet, [message]) if found is None else (onto(sheet, found), [message, *found.notes])
    if found is not None:
        return found, [f"the roofs are those of roofline.csv, measured; {note}" for note in found.notes]
    if not about.model:
        return None, ["no sysinfo.csv and no roofline.csv: choose a chip to see a roof"]
    if not about.is_whole:
        return None, [f"the profile is of a partition of '{about.model}': choose a chip to see a roof"]
    return None, [f"{about.named_in} names the model '{about.model}', {why}: choose a chip"]


def _with_integers(sheet: Chip, found: Chip) -> Chip:
    """Return `sheet` with the measured peaks of 32-bit and 64-bit integers."""
    own = {
        key: found.peak(key) for key in ("int32", "int64") if key in found.peak_flops and key not in sheet.peak_flops
    }
    sources = {f"peak_flops.{key}": found.sources[f"peak_flops.{key}"] for key in own}
    return sheet.replace(peak_flops={**sheet.peak_flops, **own}, sources={**sheet.sources, **sources})


def _catalogued(about: System) -> tuple[Chip | None, str]:
    """Return the catalogue's chip, or None and a clause that says why the model is not one chip."""
    if not about.model or not about.is_whole:
        return None, ""
    try:
        return chip_of_device(about.model, about.units), ""
    except LookupError as error:
        return None, str(error)
