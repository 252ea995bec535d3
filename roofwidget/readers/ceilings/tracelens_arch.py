"""TraceLens' architecture files: small JSON files with the rates that a GPU can reach, as ceilings.

Use a file of TraceLens, or write one yourself: ``{"name": "MI300X", "mem_bw_gbps": 5300,
"memory_gb": 192, "max_achievable_tflops": {"matrix_bf16": 708, "vector_fp32": 163}}``.
GB/s and GB are 1e9, TFLOP/s 1e12. ``matrix_fp16`` is a rate of the matrix units. In a `Chip`, a key that is only a
precision means the matrix units below 32 bits, and the vector units from 32 bits on. So ``vector_fp16`` becomes
``fp16_vector`` and ``matrix_fp64`` becomes ``fp64_matrix``.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Final

from roofwidget.chips import Chip, Source
from roofwidget.kernels.table import Kernels
from roofwidget.readers.ceilings.measured import MATRIX, VECTOR, Rate, cell, measured_chip
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.documents import value_at
from roofwidget.readers.input.source import Source as File
from roofwidget.support.precisions import precision_key

FORMAT: Final = "tracelens-arch"
EXPECTED: Final = "an architecture file of TraceLens (JSON with 'mem_bw_gbps' and 'max_achievable_tflops')"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_RATES: Final = "max_achievable_tflops"
_BANDWIDTH: Final = "mem_bw_gbps"


def recognises(source: File) -> bool:
    """Whether the file has TraceLens' top-level keys."""
    if f'"{_RATES}"' not in source.beginning:
        return False
    # Accept a file that cannot be parsed, such as an incomplete file: `read` then raises an error that names the place.
    document = source.document(lambda _: True)
    return document is None or (isinstance(document, dict) and isinstance(document.get(_RATES), dict))


def read(source: File) -> Kernels:
    """Return an empty table with the chip that the file describes."""
    said = "an architecture file of TraceLens has ceilings and no kernels"
    return Kernels(chip=ceilings(source), warnings=[said], source=source.name)


def ceilings(source: File) -> Chip:
    """Return the chip with the rates of the file.

    Raises
    ------
    ProfileError
        If a key is missing, a rate has unknown units, or a number is invalid. The message names the place.
    """
    document = source.json()
    rates = value_at(document, _RATES)
    if not (isinstance(document, dict) and isinstance(rates, dict)):
        raise source.error("expected an object of rates in TFLOP/s", place=f"'{_RATES}'")
    if _BANDWIDTH not in document:
        raise source.error("the key is missing: give the bandwidth in GB/s", place=f"'{_BANDWIDTH}'")
    name = document.get("name")
    return measured_chip(
        source.name,
        name.strip() if isinstance(name, str) and name.strip() else "TraceLens chip",
        [_rate(source.name, key, value) for key, value in rates.items()],
        {"HBM": cell(source.name, document[_BANDWIDTH], 1e9, place=f"'{_BANDWIDTH}'")},
        Source(f"TraceLens architecture file {PurePath(source.name).name}", _reference(document), confidence="given"),
        capacities=_capacity(source.name, document),
        kind="gpu",
    )


def _rate(file: str, key: str, value: object) -> Rate:
    unit, _, precision = key.partition("_")
    place = f"'{_RATES}.{key}'"
    if unit not in (MATRIX, VECTOR) or not precision:
        raise ProfileError(file, "expected a key such as 'matrix_bf16' or 'vector_fp32'", place=place)
    return Rate(precision_key(precision), unit, cell(file, value, 1e12, place=place), key)


def _capacity(file: str, document: dict[str, Any]) -> dict[str, float]:
    given = document.get("memory_gb")
    # As on data sheets, the GB of a memory are GiB.
    size = 0.0 if given is None else cell(file, given, 2**30, place="'memory_gb'")
    return {"HBM": size} if size > 0 else {}


def _reference(document: dict[str, Any]) -> str:
    given = document.get("_reference", "")
    return given if isinstance(given, str) else ""
