"""Several profiles in one folder: the ranks of one program, or files that are read each on its own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from roofwidget.analysis.ranks import Ranks
from roofwidget.kernels.table import Kernels
from roofwidget.readers import RULES_FILE, ProfileError, Profiles, read, read_many
from roofwidget.readers.captures import captures_among, traces_among
from roofwidget.readers.errors import RuleDoesNotFitError
from roofwidget.readers.ranks import ranks_by_path
from roofwidget.support.did_you_mean import listed
from roofwidget.support.text_tables import counted, first_few, one_line

DIFFERENT_CHIPS: Final = "the profiles are of different chips"
_MIN_PROFILES: Final = 2
_MAX_NAMED_FILES: Final = 3
_MAX_REASON_CHARACTERS: Final = 200


@dataclass(frozen=True, eq=False)
class Several:
    """The profiles of a folder.

    Parameters
    ----------
    profiles
        The profiles by path, and what could not be read.
    files_of_ranks
        The paths by rank, empty if the profiles are not ranks of one program.
    """

    profiles: Profiles
    files_of_ranks: Mapping[str, str]

    def ranks(self) -> Ranks | None:
        """Return the ranks; None if the profiles are not ranks of one program, or one has no times."""
        tables = {rank: self.profiles[path] for rank, path in self.files_of_ranks.items()}
        if not tables or any(np.isnan(table.self_time).all() for table in tables.values()):
            return None
        return Ranks(tables)

    def kernels(self) -> Kernels:
        """Return the kernels of all profiles as one table, whose notes say what was read."""
        count = len(self.profiles)
        if self.files_of_ranks:
            what = f"{counted(count, 'rank')} of one program: times, FLOPs and bytes are sums over the ranks"
        else:
            what = f"{counted(count, 'profile')}, not ranks of one program: each is read alone, and times are added"
        failed = [f"{_name(path)} ({_reason(error)})" for path, error in self.profiles.failures.items()]
        not_read = [f"not read: {first_few(failed, _MAX_NAMED_FILES)}"] if failed else []
        chips = sorted({one.chip.name for one in self.profiles.values() if one.chip is not None})
        differ = [f"{DIFFERENT_CHIPS}: {listed(chips)}"] if len(chips) > 1 else []
        warned = [what, *not_read, *differ, *self._warnings()]
        return self.profiles.merge().replace(source="", warnings=warned)

    def _warnings(self) -> list[str]:
        """Return each warning of the profiles once, with the names of the files that have it unless all have."""
        by_text: dict[str, list[str]] = {}
        for path, kernels in self.profiles.items():
            for text in dict.fromkeys(kernels.warnings):
                by_text.setdefault(text, []).append(_name(path))
        return [
            text if len(names) == len(self.profiles) else f"{first_few(names, _MAX_NAMED_FILES)}: {text}"
            for text, names in by_text.items()
        ]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return what was read of each file, for JSON."""
        rank_of = {path: rank for rank, path in self.files_of_ranks.items()}
        read = [
            {
                "file": _name(path),
                "rank": rank_of.get(path),
                "format": kernels.read_as["format"],
                "kernels": len(kernels),
                "time_s": float(np.nansum(kernels.self_time)),
                "sent_bytes": sent_bytes(kernels),
                "error": None,
            }
            for path, kernels in self.profiles.items()
        ]
        nothing = dict.fromkeys(("rank", "format", "kernels", "time_s", "sent_bytes"))
        failures = self.profiles.failures.items()
        return [*read, *({"file": _name(path), **nothing, "error": _reason(error)} for path, error in failures)]


def read_given(path: str, **options: Any) -> tuple[Kernels, Several | None]:
    """Return the kernels of a profile, or of all profiles of a folder that is not one profile, and those profiles.

    A folder with several traces of PyTorch, or one that no reader takes as a whole, has several profiles.

    Raises
    ------
    ProfileError, OSError, TypeError, ValueError
        As `roofwidget.read`, if fewer than two files of the folder can be read.
    """
    files = _files(path)
    traces = traces_among(files)
    if len(traces) - len(captures_among(traces)) >= _MIN_PROFILES:
        several = _several(traces, [file for file in files if file not in traces], options)
    else:
        try:
            return read(path, **options), None
        except RuleDoesNotFitError:
            raise
        except ProfileError:
            if len(files) < _MIN_PROFILES:
                raise
            several = _several(files, [], options)
            if len(several.profiles) < _MIN_PROFILES:
                raise
    if not several.profiles:
        raise next(iter(several.profiles.failures.values()))
    return several.kernels(), several


def sent_bytes(kernels: Kernels) -> float | None:
    """Return the bytes that the kernels send over links to other devices; None if no kernel's are known."""
    column = kernels.network_bytes
    return None if np.isnan(column).all() else float(np.nansum(column))


def _files(path: str) -> list[str]:
    """Return the files of a folder but hidden ones and rules of work, sorted by name; none if it is no folder."""
    if not Path(path).is_dir():
        return []
    files = [file for file in Path(path).iterdir() if file.is_file() and not file.name.startswith(".")]
    return sorted(str(file) for file in files if file.name != RULES_FILE)


def _several(files: list[str], others: list[str], options: dict[str, Any]) -> Several:
    with warnings.catch_warnings():
        # The notes name the files that could not be read.
        warnings.simplefilter("ignore")
        found = read_many(files, progress=False, **options)
    wrong = next((error for error in found.failures.values() if isinstance(error, RuleDoesNotFitError)), None)
    if wrong is not None:
        raise wrong
    not_read = {file: ProfileError(file, "it is no trace of PyTorch") for file in others}
    return Several(Profiles(dict(found), {**found.failures, **not_read}), ranks_by_path(found))


def _name(path: str) -> str:
    return one_line(Path(path).name)


def _reason(error: Exception) -> str:
    return one_line(error.reason if isinstance(error, ProfileError) else str(error), _MAX_REASON_CHARACTERS)
