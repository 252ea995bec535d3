"""Profiles of other tools, read into `Kernels`. `read` finds the reader by what the file holds, not by its name.

A reader is a module named in `FORMATS`. It has ``FORMAT`` (its name), ``EXPECTED`` (what it reads, for messages),
``recognises(source)``, which must be cheap, and ``read(source, *, …)``. One that reads objects too has
``takes(given)`` and ``read_object(given, *, …)``.
"""

from __future__ import annotations

import functools
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from roofwidget.readers import refusals
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.folders import read_folder
from roofwidget.readers.input.source import Source
from roofwidget.support.did_you_mean import did_you_mean, listed, unknown_keyword

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from roofwidget.kernels.table import Kernels
    from roofwidget.readers.many import Profiles, read_many

__all__ = ["FORMATS", "ProfileError", "Profiles", "Source", "read", "read_many", "reader"]

# In the order in which they are asked: what is told by a few bytes first, tables of any origin last.
FORMATS: Final = (
    "roofwidget.readers.torch.trace",
    "roofwidget.readers.torch.averages",
    "roofwidget.readers.xprof.roofline_model",
    "roofwidget.readers.xprof.hlo_stats",
    "roofwidget.readers.xprof.roofline_csv",
    "roofwidget.readers.xprof.command_line",
    "roofwidget.readers.xprof.xplane",
    "roofwidget.readers.ceilings.ert",
    "roofwidget.readers.ceilings.tracelens_arch",
    "roofwidget.readers.ceilings.carm",
    "roofwidget.readers.likwid",
    "roofwidget.readers.rocprof",
    "roofwidget.readers.ncu",
    "roofwidget.readers.tables.records",
)
_LAZY: Final = dict.fromkeys(("Profiles", "read_many"), "roofwidget.readers.many")


def read(path_or_buffer: Any, format: str | None = None, **options: Any) -> Kernels:  # noqa: A002 - the field's word
    r"""Read a profile into `Kernels`.

    Parameters
    ----------
    path_or_buffer
        A path, bytes or an open file; a folder where the tool writes folders. gzip and zip are undone. Text is UTF-8
        with or without a byte order mark, or UTF-16 with one. Also a data frame, a list of records, or another object
        that a reader takes.
    format
        The format's name; None finds it by what the file holds.
    **options
        What the reader of this format takes: see the page of readers, or `reader` and the `help` of what it returns.

    Returns
    -------
    Kernels
        FLOPs, bytes, seconds; with `origin`, `extra`, `chip`, `program`, `steps`, `warnings` and `source` as far as
        the format tells.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ProfileError
        If the file is damaged, of no known format or not of `format`, or holds a bad value: the message names the
        file, the place and what was expected, or what the file looks like.
    ImportError
        If a format needs a package that is not installed: the message names it.
    TypeError
        If the reader has no such option: the message names the nearest one.
    ValueError
        If there is no such format.

    Examples
    --------
    >>> read(b"name,flops,bytes,time (us)\nmatmul,4.3e9,1.2e7,31").time.tolist()
    [3.1e-05]
    """
    if format is None and "columns" in options:
        format = "table"  # noqa: A001 - the same word
    modules = [reader(format)] if format is not None else [import_module(name) for name in FORMATS]
    for module in modules:
        if hasattr(module, "takes") and module.takes(path_or_buffer):
            return _called(module.read_object, path_or_buffer, options)
    source = Source.of(path_or_buffer)
    if format is not None:
        return _read_as(modules[0], source, options)
    if source.is_folder:
        return read_folder(source, modules, lambda module, source: _called(module.read, source, options))
    for module in modules:
        if module.recognises(source):
            return _called(module.read, source, options)
    raise refusals.of_unknown(source)


def reader(format: str) -> ModuleType:  # noqa: A002 - the field's word
    """Return the module that reads a format.

    Raises
    ------
    ValueError
        If there is none: the message names the nearest.

    Examples
    --------
    >>> reader("xprof").FORMAT
    'xprof'
    """
    known = _by_format()
    if format not in known:
        msg = f"there is no format '{format}'{did_you_mean(str(format), known, f'; there are {listed(known)}')}"
        raise ValueError(msg)
    return known[format]


@functools.cache
def _by_format() -> dict[str, ModuleType]:
    modules = [import_module(name) for name in FORMATS]
    return {module.FORMAT: module for module in modules}


def _called(function: Callable[..., Kernels], given: object, options: dict[str, Any]) -> Kernels:
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    for word in options:
        if word not in known:
            raise unknown_keyword("read", word, known) if known else TypeError(f"read has no keyword '{word}' here")
    return function(given, **options)


def _read_as(module: ModuleType, source: Source, options: dict[str, Any]) -> Kernels:
    """Read what a user says is of this format; where that fails for it is of another one, say so."""
    try:
        return _called(module.read, source, options)
    except (ImportError, ProfileError) as error:
        is_of_a_cell = isinstance(error, ProfileError) and (error.row, error.column) != (None, None)
        others = [one for one in _by_format().values() if one is not module]
        refusal = None if is_of_a_cell or "columns" in options else refusals.of_another(source, module, others)
        if refusal is None:
            raise
    raise refusal


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    msg = f"module 'roofwidget.readers' has no attribute '{name}'"
    raise AttributeError(msg)
