"""Ceilings that a benchmark measured, read into a `Chip`.

A reader of ceilings is a module in `_FORMATS`: it has ``FORMAT``, ``recognises(source)`` and
``ceilings(source, *, …)``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Final

from roofwidget.chips import Chip
from roofwidget.chips import chip as look_up
from roofwidget.readers import check_options
from roofwidget.readers.ceilings.measured import onto
from roofwidget.readers.input.source import Source
from roofwidget.support.did_you_mean import listed

_FORMATS: Final = ("ceilings.ert", "ceilings.tracelens_arch", "ceilings.carm", "ceilings.mixbench", "likwid", "rocprof")


def read_ceilings(path_or_buffer: Any, *, chip: Chip | str | None = None, **options: Any) -> Chip:
    """Read a machine's ceilings from the output of a benchmark.

    Parameters
    ----------
    path_or_buffer
        The Empirical Roofline Tool's ``roofline.json``, the CARM Tool's ``NAME_roofline.csv``, rocprof-compute's
        ``roofline.csv`` or its folder, the output of likwid-bench or mixbench, or an architecture file of TraceLens. As
        in `read`, it may be a path, bytes or an open file.
    chip
        A chip, or the name of a chip in the catalogue. The measured figures become ceilings below the chip's own peaks
        and bandwidths. None returns a new chip with the measured peaks and bandwidths.
    **options
        Options of the reader: for ERT ``precision="fp64"`` if the file has no precision, for the CARM Tool ``isa``,
        ``precision`` and ``threads``.

    Returns
    -------
    Chip
        FLOP/s and bytes/s, each with its source.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ProfileError
        If the file is of no known tool, has no roof or has an invalid value. The message names file and place.
    TypeError
        If the reader does not have the option. The message names the nearest option.

    Examples
    --------
    >>> found = read_ceilings(b'{"name": "X", "mem_bw_gbps": 5000, "max_achievable_tflops": {"matrix_bf16": 700}}')
    >>> found.peak("bf16"), found.bandwidth(), found.ridge_point()
    (700000000000000.0, 5000000000000.0, 140.0)
    """
    source = Source.of(path_or_buffer)
    reader = _reader(source)
    check_options("read_ceilings", reader.ceilings, options, "chip")
    found: Chip = reader.ceilings(source, **options)
    return found if chip is None else onto(look_up(chip), found)


def _reader(source: Source) -> ModuleType:
    modules = [import_module(f"roofwidget.readers.{name}") for name in _FORMATS]
    for module in modules:
        if module.recognises(source):
            return module
    expected = listed(module.FORMAT for module in modules)
    raise source.error(f"the file has no ceilings of a known tool; the formats are {expected}")
