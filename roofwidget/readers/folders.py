"""A folder of profiles: what one reader cannot read another may, and else a file that lies beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final

from roofwidget.readers import refusals
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

__all__ = ["read_folder"]

_MOST_MEMBERS: Final = 100


def read_folder(
    folder: Source, modules: Sequence[ModuleType], attempt: Callable[[ModuleType, Source], Kernels]
) -> Kernels:
    """Read a folder by the first of its readers that can; a warning tells of those that could not.

    Where only a package is missing, the one file beside it that needs none is read.

    Raises
    ------
    ImportError, ProfileError
        The first reader's, with how to read file by file.
    """
    failed: ImportError | ProfileError | None = None
    for module in modules:
        if not module.recognises(folder):
            continue
        try:
            return _noted(attempt(module, folder), failed)
        except (ImportError, ProfileError) as error:
            failed = failed or error
    if failed is None:
        raise refusals.of_unknown(folder)
    if isinstance(failed, ImportError):
        found = _one_beside(folder, modules)
        if found is not None:
            return _noted(attempt(*found), failed)
    raise _with_hint(failed, refusals.read_many_hint(folder)) from None


def _noted(kernels: Kernels, failed: Exception | None) -> Kernels:
    if failed is not None:
        kernels.warnings = (*kernels.warnings, f"read in place of what could not be: {failed}")
    return kernels


def _one_beside(folder: Source, modules: Sequence[ModuleType]) -> tuple[ModuleType, Source] | None:
    """Return the file of the first reader that knows any file there and needs no folder; None if it knows several."""
    members = [member for member in folder.members().values() if not member.is_folder]
    for module in modules if len(members) <= _MOST_MEMBERS else ():
        found = [] if module.recognises(folder) else [member for member in members if module.recognises(member)]
        if found:
            return (module, found[0]) if len(found) == 1 else None
    return None


def _with_hint(error: ImportError | ProfileError, hint: str) -> ImportError | ProfileError:
    if isinstance(error, ImportError):
        return ImportError(f"{error}{hint}")
    return ProfileError(error.file, f"{error.reason}{hint}", row=error.row, column=error.column, place=error.place)
