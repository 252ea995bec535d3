"""Profiles of other tools, read into `Kernels`. `read` finds the reader by what the file holds, not by its name.

A reader is a module named in `FORMATS`. It has ``FORMAT`` (its name), ``EXPECTED`` (what it reads, for messages),
``recognises(source)``, which must be cheap, and ``read(source, *, …)``. One that reads objects too has
``takes(given)`` and ``read_object(given, *, …)``.
"""

from __future__ import annotations

import codecs
import functools
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from roofwidget.readers import documents
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.source import HEAD_BYTES, Source
from roofwidget.suggest import listed, nearest, unknown_keyword

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from roofwidget.kernels import Kernels
    from roofwidget.readers.many import read_many

__all__ = ["FORMATS", "ProfileError", "Source", "read", "read_many", "reader"]

# In the order in which they are asked: what is told by a few bytes first, tables of any origin last.
FORMATS: Final = (
    "roofwidget.readers.torch.trace",
    "roofwidget.readers.torch.averages",
    "roofwidget.readers.xprof.roofline_model",
    "roofwidget.readers.xprof.hlo_stats",
    "roofwidget.readers.xprof.roofline_csv",
    "roofwidget.readers.xprof.command_line",
    "roofwidget.readers.xprof.xplane",
    "roofwidget.readers.ert",
    "roofwidget.readers.tracelens_arch",
    "roofwidget.readers.carm",
    "roofwidget.readers.likwid",
    "roofwidget.readers.rocprof",
    "roofwidget.readers.ncu",
    "roofwidget.readers.records",
)
_LAZY: Final = {"read_many": "roofwidget.readers.many"}


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
        If the file is damaged, of no known format, or holds a bad value: the message names the file, the place and
        what was expected.
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
    for module in modules:
        if format is not None or module.recognises(source):
            return _called(module.read, source, options)
    raise _refusal(source, modules)


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
        close = nearest(str(format), known, most=1)
        hint = f"did you mean '{close[0]}'?" if close else f"there are {listed(known)}"
        msg = f"there is no format '{format}'; {hint}"
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


def _refusal(source: Source, modules: list[ModuleType]) -> ProfileError:
    """Return the error for an input that no reader recognises."""
    expected = f"expected {'; '.join(module.EXPECTED for module in modules)}"
    if source.is_folder:
        names = listed(list(source.members())[:4])
        held = f"a folder that holds {names}" if names else "an empty folder"
        return ProfileError(source.name, f"{held}, no profile of a known tool; {expected}")
    if not source.head.strip():
        return ProfileError(source.name, f"the file is empty; {expected}")
    if source.beginning.lstrip().startswith(("{", "[")):
        return _json_error(source, expected)
    if (wrong := _first_that_is_no_text(source)) is not None:
        return ProfileError(source.name, f"not UTF-8; {expected}", place=f"byte {wrong + 1}")
    begin = ascii(source.beginning.lstrip("\ufeff \r\n")[:40])
    return ProfileError(source.name, f"begins with {begin}, which is no profile of a known tool; {expected}")


def _json_error(source: Source, expected: str) -> ProfileError:
    try:
        document = source.json(nan=True)
    except ProfileError as error:
        return ProfileError(source.name, f"{error.reason}; {expected}", place=error.place)
    return ProfileError(source.name, f"{expected}, got {documents.described(document)}")


def _first_that_is_no_text(source: Source) -> int | None:
    try:
        ends = len(source.head) < HEAD_BYTES
        codecs.getincrementaldecoder(source.encoding)().decode(source.head, final=ends)
    except UnicodeDecodeError as error:
        return error.start
    return None


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    msg = f"module 'roofwidget.readers' has no attribute '{name}'"
    raise AttributeError(msg)
