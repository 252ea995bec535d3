"""Read a folder of profiles: try every reader that recognises the folder, then a single file in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Final

from roofwidget.readers import refusals
from roofwidget.readers.errors import ProfileError, RuleDoesNotFitError
from roofwidget.readers.input.source import Source

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_MAX_MEMBERS: Final = 100


def read_folder(
    folder: Source, modules: Sequence[ModuleType], attempt: Callable[[ModuleType, Source], Kernels]
) -> Kernels:
    """Read a folder with the first reader that succeeds; a warning names the readers that failed.

    A single file is read instead of the folder if all three conditions hold: all readers of the folder failed, the
    first reader lacks a package, and exactly one file in the folder can be read without this package.

    Raises
    ------
    ImportError, ProfileError
        The first reader's error, with a hint how to read each file on its own.
    """
    failed: ImportError | ProfileError | None = None
    for module in modules:
        if not module.recognises(folder):
            continue
        try:
            return _noted(attempt(module, folder), failed)
        except RuleDoesNotFitError:
            raise
        except (ImportError, ProfileError) as error:
            failed = failed or error
    if failed is None:
        raise refusals.of_unknown(folder)
    if isinstance(failed, ImportError):
        found = _single_readable_file(folder, modules)
        if found is not None:
            return _noted(attempt(*found), failed)
    raise _with_hint(failed, refusals.read_many_hint(folder)) from None


def members_of(folder: Source, recognises: Callable[[Source], bool]) -> list[Source]:
    """Return the files of a folder that a reader recognises; none if the folder has more than 100 files."""
    members = folder.members().values()
    return [one for one in members if not one.is_folder and recognises(one)] if len(members) <= _MAX_MEMBERS else []


def alone_in_a_folder(recognises: Callable[[Source], bool]) -> Callable[[Source], bool]:
    """Return a function that also recognises a folder with exactly one file that `recognises` does."""

    @wraps(recognises)
    def either(source: Source) -> bool:
        return len(members_of(source, recognises)) == 1 if source.is_folder else recognises(source)

    return either


def one_of(source: Source, recognises: Callable[[Source], bool]) -> Source:
    """Return the first file of a folder that a reader recognises; another source as it is."""
    return members_of(source, recognises)[0] if source.is_folder else source


def _noted(kernels: Kernels, failed: Exception | None) -> Kernels:
    if failed is not None:
        about = (
            f"another reader failed, so '{kernels.source}' of format '{kernels.read_as['format']}' was read: {failed}"
        )
        kernels.warnings = (about, *kernels.warnings)
    return kernels


def _single_readable_file(folder: Source, modules: Sequence[ModuleType]) -> tuple[ModuleType, Source] | None:
    """Return the first reader that recognises a file in the folder, and this file.

    The result is None if this reader recognises several files, or if no reader recognises a file.
    """
    for module in modules:
        found = [] if module.recognises(folder) else members_of(folder, module.recognises)
        if found:
            return (module, found[0]) if len(found) == 1 else None
    return None


def _with_hint(error: ImportError | ProfileError, hint: str) -> ImportError | ProfileError:
    if isinstance(error, ImportError):
        return ImportError(f"{error}{hint}")
    return ProfileError(error.file, f"{error.reason}{hint}", row=error.row, column=error.column, place=error.place)
