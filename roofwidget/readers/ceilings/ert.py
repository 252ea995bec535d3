"""Berkeley's Empirical Roofline Tool: the JSON it writes, ``roofline.json``, as ceilings.

Make it with ``ert CONFIG``; the file lies at ``Results.NAME/Run.001/roofline.json``. `roofwidget.read_ceilings` makes a
`Chip` from the measured figures (``empirical``): GB/s by level, and GFLOP/s (both 1e9). The last level is the off-chip
memory; ``STREAM HBM`` is the bandwidth of HBM. If a level occurs twice, the STREAM figure becomes a ceiling. Figures of
the configuration (``spec``) are kept as values of another source.

The precision comes from the label (``FP64 GFLOPs``, ``FP64 Vector GFLOPs FMA``), else from ``ERT_PRECISION`` if it is a
single precision. If a file has neither, the option ``precision="fp64"`` sets the precision; without the option it is
``unspecified``. The highest rate of a precision is the peak. Lower rates become ceilings, named by their labels.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any, Final

from roofwidget.chips import Ceiling, Chip, Source
from roofwidget.kernels.table import Kernels
from roofwidget.readers.ceilings.measured import MATRIX, UNSPECIFIED, VECTOR, Rate, cell, measured_chip
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.documents import list_at, object_at, value_at
from roofwidget.readers.input.source import Source as File
from roofwidget.support.precisions import precision_key

FORMAT: Final = "ert"
EXPECTED: Final = "the roofline.json of the Empirical Roofline Tool"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_GIGA: Final = 1e9
_PRECISION: Final = re.compile(r"\b(?:(?:FP|BF|TF|INT)\d+|DP|SP|HP)\b", re.IGNORECASE)
_WORDS: Final = {"DP": "fp64", "SP": "fp32", "HP": "fp16"}
_MATRIX: Final = re.compile(r"tensor|matrix|mfma|wmma", re.IGNORECASE)
_STREAM: Final = re.compile(r"STREAM\s+(\S.*)", re.IGNORECASE)


def recognises(source: File) -> bool:
    """Whether the file has ERT's top-level keys."""
    if not all(word in source.beginning for word in ('"empirical"', '"gbytes"')):
        return False
    # Accept a file that cannot be parsed, such as an incomplete file: `read` then raises an error that names the place.
    document = source.document(lambda _: True)
    return document is None or (isinstance(value_at(document, "empirical"), dict))


def read(source: File, *, precision: str | None = None) -> Kernels:
    """Return an empty table with the measured chip: ERT has no kernels.

    Parameters
    ----------
    source
        The file.
    precision
        The precision of the FLOPs if the file does not have it.
    """
    chip = ceilings(source, precision=precision)
    message = "ERT measures a machine, not a program: the file has ceilings and no kernels"
    return Kernels(chip=chip, warnings=[message, *chip.notes], source=source.name)


def ceilings(source: File, *, precision: str | None = None) -> Chip:
    """Return the machine with ERT's measurements.

    Parameters
    ----------
    source
        The file.
    precision
        The precision of the FLOPs if the file names no precision, such as ``"fp64"``.

    Raises
    ------
    ProfileError
        If a list is missing or a number is invalid. The message names the place.
    """
    document = source.json()
    empirical = value_at(document, "empirical")
    if not isinstance(empirical, dict):
        raise source.error(f"expected an object, as {EXPECTED} has", place="'empirical'")
    metadata = object_at(empirical, "metadata")
    usual = precision_key(precision) if precision else _configured(metadata)
    pairs = _pairs(source.name, empirical, "empirical", "gflops")
    rates = [_rate(label, value, usual) for label, value in pairs]
    levels, lower = _levels(_pairs(source.name, empirical, "empirical", "gbytes"))
    version = metadata.get("ERT_VERSION")
    title = f"ERT {version}" if isinstance(version, str) else "ERT"
    notes = []
    if any(rate.precision == UNSPECIFIED for rate in rates):
        notes.append(
            "ERT's file does not have the precision of its FLOPs; give it if you know it, such as precision='fp64'"
        )
    return measured_chip(
        source.name,
        _host(metadata) or "ERT machine",
        rates,
        levels,
        Source(f"{title}, {PurePath(source.name).name}", confidence="measured"),
        ceilings=lower,
        checks=_specified(source.name, document, usual),
        check_source=Source(f"{title}, specification in {PurePath(source.name).name}"),
        notes=notes,
    )


def _specified(file: str, document: Any, usual: str) -> dict[str, float]:
    """Return the figures of ``spec`` by the chip's keys."""
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return {}
    rates = [_rate(label, value, usual) for label, value in _pairs(file, spec, "spec", "gflops")]
    levels, _ = _levels(_pairs(file, spec, "spec", "gbytes"))
    stated = {f"memories.{level}.bandwidth": value for level, value in levels.items()}
    return stated | {f"peak_flops.{rate.precision}": rate.rate for rate in rates}


def _pairs(file: str, part: dict[str, Any], word: str, key: str) -> list[tuple[str, float]]:
    """Return ``[label, number]`` pairs, the numbers in base units."""
    data = value_at(part, key, "data")
    place = f"'{word}.{key}.data'"
    if not isinstance(data, list):
        raise ProfileError(file, "expected a list of [label, number]", place=place)
    found = []
    for row, pair in enumerate(data, 1):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and pair[0].strip()):  # noqa: PLR2004
            raise ProfileError(file, f"expected [label, number], got {pair!r:.60}", place=f"{place}, entry {row}")
        found.append((pair[0].strip(), cell(file, pair[1], _GIGA, place=f"{place}, entry {row}")))
    return found


def _rate(label: str, value: float, usual: str) -> Rate:
    match = _PRECISION.search(label)
    if match is None:
        return Rate(usual, VECTOR, value, label)
    return Rate(_named(match[0]), MATRIX if _MATRIX.search(label) else VECTOR, value, label)


def _levels(pairs: list[tuple[str, float]]) -> tuple[dict[str, float], list[Ceiling]]:
    """Return bandwidths by level, nearest level first, and ceilings. Further bandwidths of a level become ceilings."""
    levels: dict[str, float] = {}
    lower: list[Ceiling] = []
    for label, value in pairs:
        stream = _STREAM.fullmatch(label)
        level = stream[1] if stream else label
        if level not in levels:
            levels[level] = value
        elif value > 0:
            lower.append(Ceiling("STREAM" if stream else "second run", value, memory=level))
    return levels, lower


def _configured(metadata: dict[str, Any]) -> str:
    given = list_at(metadata, "CONFIG", "ERT_PRECISION")
    words = [word.strip() for entry in given for word in str(entry).split(",")]
    match = _PRECISION.fullmatch(words[0]) if len(words) == 1 else None
    return _named(match[0]) if match else UNSPECIFIED


def _named(word: str) -> str:
    return _WORDS.get(word.upper(), word.casefold())


def _host(metadata: dict[str, Any]) -> str:
    host = metadata.get("HOSTNAME")
    first = host[0] if isinstance(host, list) and host else host
    return first.strip() if isinstance(first, str) else ""
