"""Ceilings that a benchmark measured, read into a `Chip`.

A reader of ceilings is a module in `_FORMATS`: it has ``FORMAT``, ``recognises(source)`` and
``ceilings(source, *, …)``.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from roofwidget.chips import Chip
from roofwidget.chips import chip as look_up
from roofwidget.readers.ceilings.measured import onto
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.support.did_you_mean import listed, unknown_keyword

__all__ = ["read_ceilings"]

_FORMATS: Final = ("ceilings.ert", "ceilings.tracelens_arch", "ceilings.carm", "likwid", "rocprof")


def read_ceilings(path_or_buffer: Any, *, chip: Chip | str | None = None, **options: Any) -> Chip:
    """Read the ceilings that a tool measured of a machine.

    Parameters
    ----------
    path_or_buffer
        The Empirical Roofline Tool's ``roofline.json``, the CARM Tool's ``NAME_roofline.csv``, rocprof-compute's
        ``roofline.csv`` or its folder, what likwid-bench printed, or an architecture file of TraceLens; as `read`
        takes it.
    chip
        A chip, or the name of one in the catalogue, under whose own figures they become measured ceilings. None makes
        a chip whose peaks and bandwidths are the measured ones.
    **options
        What the reader takes: for ERT ``precision="fp64"`` where the file does not say, for the CARM Tool ``isa``,
        ``precision`` and ``threads``.

    Returns
    -------
    Chip
        FLOP/s and bytes/s, each with its source.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ProfileError
        If it is of no known tool, or holds a bad value or no roof: the message names the file and the place.
    TypeError
        If the reader has no such option: the message names the nearest.

    Examples
    --------
    >>> found = read_ceilings(b'{"name": "X", "mem_bw_gbps": 5000, "max_achievable_tflops": {"matrix_bf16": 700}}')
    >>> found.peak("bf16"), found.bandwidth(), found.ridge_point()
    (700000000000000.0, 5000000000000.0, 140.0)
    """
    source = Source.of(path_or_buffer)
    reader = _reader(source)
    known = [name for name, p in inspect.signature(reader.ceilings).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for word in options:
        if word not in known:
            raise unknown_keyword("read_ceilings", word, ["chip", *known])
    found: Chip = reader.ceilings(source, **options)
    return found if chip is None else onto(look_up(chip), found)


def _reader(source: Source) -> ModuleType:
    modules = [import_module(f"roofwidget.readers.{name}") for name in _FORMATS]
    for module in modules:
        if module.recognises(source):
            return module
    expected = listed(module.FORMAT for module in modules)
    raise ProfileError(source.name, f"holds no ceilings of a known tool; the formats are {expected}")
