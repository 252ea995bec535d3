"""Read profiles of other tools into `Kernels`. `read` finds the reader by the file's content, not by the file's name.

A reader is a module listed in `FORMATS`. It has ``FORMAT`` (the format's name), ``EXPECTED`` (what the reader accepts,
for error messages), ``recognises(source)``, which must be cheap, and ``read(source, *, …)``. A reader that also accepts
Python objects has ``takes(given)`` and ``read_object(given, *, …)``.
"""

from __future__ import annotations

import functools
import inspect
import os
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from roofwidget.kernels.work import with_named_work
from roofwidget.readers import refusals
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.folders import read_folder
from roofwidget.readers.input.source import Source
from roofwidget.readers.tables import printed
from roofwidget.support.did_you_mean import did_you_mean, listed, unknown_keyword

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from types import ModuleType

    from roofwidget.kernels.table import Kernels
    from roofwidget.readers.captures import read_each as read_each
    from roofwidget.readers.many import Profiles, read_many
    from roofwidget.readers.torch.rules import WorkRules

__all__ = ["FORMATS", "ProfileError", "Profiles", "Source", "read", "read_many", "reader"]

# `read` asks the readers in this order. The reader of PyTorch's traces may also accept Chrome traces of other tools.
# The reader of tables of any tool is last, because it may also accept tables of the other formats.
FORMATS: Final = (
    "roofwidget.readers.onnxruntime",
    "roofwidget.readers.xprof.chrome_trace",
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
    "roofwidget.readers.ceilings.mixbench",
    "roofwidget.readers.likwid",
    "roofwidget.readers.tensorrt",
    "roofwidget.readers.google_benchmark",
    "roofwidget.readers.clustercockpit",
    "roofwidget.readers.hatchet",
    "roofwidget.readers.intel.advisor",
    "roofwidget.readers.intel.vtune",
    "roofwidget.readers.intel.unitrace",
    "roofwidget.readers.nsys",
    "roofwidget.readers.nvprof",
    "roofwidget.readers.uprof",
    "roofwidget.readers.rocprof",
    "roofwidget.readers.ncu",
    "roofwidget.readers.page",
    "roofwidget.readers.tables.lists_of_records",
)
# These readers read a file in pieces.
_STREAMED: Final = ("torch", "xprof-csv", "xplane", "rocprof", "ncu", "table")
_RULES: Final = "rules"
"""The option of readers that apply rules of work to operations themselves."""
RULES_FILE: Final = "work.toml"
"""The file of rules of work beside a profile, which is used without being named."""
_LAZY: Final = {
    **dict.fromkeys(("Profiles", "read_many"), "roofwidget.readers.many"),
    "read_each": "roofwidget.readers.captures",
}


def read(
    path_or_buffer: Any,
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    work: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    **options: Any,
) -> Kernels:
    r"""Read a profile into `Kernels`.

    Parameters
    ----------
    path_or_buffer
        A path, a folder, bytes or an open file. gzip and zip are decompressed. Text is UTF-8, UTF-16 or UTF-32, with or
        without a byte order mark. A data frame, a list of records and other objects that a reader accepts work too. A
        URL is not fetched.
    format
        The format's name. None detects the format from the file's content.
    work
        The work of one launch by a pattern of kernels' names, for kernels whose FLOPs or bytes the profile does not
        have; see `Kernels.with_work`. Or a file of rules, or `WorkRules`: what each operation does, by its name. A file
        ``work.toml`` beside the profile is used too; what `work` gives has precedence.
    **options
        Options of this format's reader: see docs/readers.md, or call `help` on what `reader` returns.

    Returns
    -------
    Kernels
        FLOPs, bytes and seconds. `origin`, `extra`, `chip`, `program`, `steps`, `warnings` and `source` are filled
        in if the format has them.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ProfileError
        If the file is damaged, cannot be read, is of an unknown format, is not of `format`, or contains an invalid
        value. The message names the file, the place and what was expected, or says what the file looks like.
    ImportError
        If the format needs a package that is not installed. The message names the package.
    TypeError
        If the reader does not have the option (the message names the nearest option), or `work` has another form.
    ValueError
        If the format does not exist, or a number of `work` is invalid.

    Examples
    --------
    >>> read(b"name,flops,bytes,time (us)\nmatmul,4.3e9,1.2e7,31").time.tolist()
    [3.1e-05]
    >>> read(b"name,time (us)\nflash_fwd,31", work={"flash*": {"flops": "4 GFLOP"}}).flops.tolist()
    [4000000000.0]
    """
    given, rules = _rules_of(work)
    beside, is_other, source = _rules_beside(path_or_buffer)
    if beside is not None:
        rules = (*rules, beside)
    kernels = with_rules(_read(source, format, {**options, _RULES: rules} if rules else options), rules)
    if beside is not None and any(name.startswith(f"{RULES_FILE}:") for name in _origins(kernels)):
        message = f"{RULES_FILE} beside the profile gives the work of some of its kernels, see `origin`"
        kernels = kernels.replace(warnings=[*kernels.warnings, message])
    if is_other:
        message = f"{RULES_FILE} beside the profile is no file of rules and was not used"
        kernels = kernels.replace(warnings=[*kernels.warnings, message])
    return kernels if given is None else kernels.with_work(given)


def _rules_of(work: object) -> tuple[Any, tuple[WorkRules, ...]]:
    """Return what `work` gives by names of kernels, and its rules."""
    if isinstance(work, (str, os.PathLike)):
        return None, (rules_module().WorkRules.read(work),)
    return (None, (work,)) if isinstance(work, rules_module().WorkRules) else (work, ())


def _rules_beside(given: Any) -> tuple[WorkRules | None, bool, Any]:
    """Return the rules beside a profile, whether the file is another program's, and the profile as its source."""
    if not isinstance(given, (str, os.PathLike, Source)):
        return None, False, given
    source = Source.of(given)
    if source.path is None:
        return None, False, source
    folder = source.path if source.is_folder else source.path.parent
    file = source.beside(folder / RULES_FILE)
    if file is None:
        return None, False, source
    rules = rules_module()
    with file.open() as stream:
        data = stream.read(rules.MAX_BYTES + 1)
    if not rules.are_rules(data):
        return None, True, source
    return rules.WorkRules.from_text(data.decode("utf-8-sig"), RULES_FILE), False, source


def with_rules(kernels: Kernels, rules: Collection[WorkRules]) -> Kernels:
    """Return the table with the work that rules give to kernels of unknown work by their names alone."""
    for each in rules:
        kernels = with_named_work(kernels, functools.partial(rules_module().named_work, each))
    return kernels


def rules_module() -> Any:
    """Return the module of rules of work, which is large, and which few readers need."""
    return import_module("roofwidget.readers.torch.rules")


def _origins(kernels: Kernels) -> Iterator[str]:
    for key in kernels.origin:
        yield from filter(None, kernels.codes(f"origin:{key}").values)


def _read(path_or_buffer: Any, format: str | None, options: dict[str, Any]) -> Kernels:  # noqa: A002 - as above
    if format is None and "columns" in options:
        format = "table"  # noqa: A001 - the parameter above
    modules = [reader(format)] if format is not None else list(_by_format().values())
    for module in modules:
        if hasattr(module, "takes") and module.takes(path_or_buffer):
            return _called(module, module.read_object, path_or_buffer, options)
    source = Source.of(path_or_buffer)
    if format is not None:
        return _read_as(modules[0], source, options)
    if source.is_folder:
        return read_folder(source, modules, lambda module, source: _called(module, module.read, source, options))
    found = reader_of(source)
    if found is None and (delimited := printed.as_delimited(source)) is not None:
        source, found = delimited, reader_of(delimited)
    if found is None:
        raise refusals.of_unknown(source)
    return _called(found, found.read, source, options)


def reader_of(source: Source) -> ModuleType | None:
    """Return the module that reads a file, or None if the file's format is unknown."""
    if refusals.is_session(source):
        return None
    return next((module for module in _by_format().values() if module.recognises(source)), None)


def reader(format: str) -> ModuleType:  # noqa: A002 - the field's word
    """Return the module that reads a format.

    Raises
    ------
    ValueError
        If the format does not exist. The message names the nearest format.

    Examples
    --------
    >>> reader("xprof").FORMAT
    'xprof'
    """
    known = _by_format()
    if format not in known:
        raise ValueError(
            f"there is no format '{format}'{did_you_mean(str(format), known, f'; there are {listed(known)}')}"
        )
    return known[format]


@functools.cache
def _by_format() -> dict[str, ModuleType]:
    modules = [import_module(name) for name in FORMATS]
    return {module.FORMAT: module for module in modules}


def _called(module: ModuleType, function: Callable[..., Kernels], given: object, options: dict[str, Any]) -> Kernels:
    if _RULES in options and _RULES not in inspect.signature(function).parameters:
        options = {name: value for name, value in options.items() if name != _RULES}
    check_options("read", function, options, "work")
    kernels = function(given, **options)
    kernels.read_as = MappingProxyType({"format": module.FORMAT, **kernels.read_as})
    return kernels


def check_options(where: str, function: Callable[..., object], options: Collection[str], *others: str) -> None:
    """Raise `TypeError` for an option that is neither a keyword of `function` nor in `others`."""
    if not options:
        return
    parameters = inspect.signature(function).parameters.values()
    known = [*others, *(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)]
    for name in options:
        if name not in known:
            raise unknown_keyword(where, name, known) if known else TypeError(f"this format has no option '{name}'")


def _read_as(module: ModuleType, source: Source, options: dict[str, Any]) -> Kernels:
    """Read the source with the module of the format that the user named. The error says if the format is another."""
    if not module.recognises(source):
        source = printed.as_delimited(source) or source
    # A bomb must not fill the memory. Readers of a whole text read much text only if it begins like their format.
    if source.is_much and module.FORMAT not in _STREAMED and not module.recognises(source):
        raise refusals.of_another(source, module, []) or refusals.of_unknown(source)
    try:
        return _called(module, module.read, source, options)
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
    raise AttributeError(f"module 'roofwidget.readers' has no attribute '{name}'")
