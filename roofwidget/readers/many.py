"""Read many profiles at once, in threads, processes or on a Dask cluster. A failure does not affect other files."""

from __future__ import annotations

import glob
import math
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from roofwidget.kernels.concat import concat, joined_texts
from roofwidget.kernels.metadata import Activity
from roofwidget.kernels.operations import operations_of
from roofwidget.readers import Source, read, reader, reader_of
from roofwidget.readers.captures import captures_among, options_of
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.tables.together import read_together
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import listed
from roofwidget.support.paths import problem_of, shown
from roofwidget.support.progress import Progress, advancing
from roofwidget.support.text_tables import (
    aligned,
    and_more,
    counted,
    first_few,
    html_table,
    html_with_notes,
    one_line,
)
from roofwidget.units import format_quantity

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_MAX_SHOWN_FAILURES: Final = 3
_MAX_TABLE_ROWS: Final = 50
_BATCH_BYTES: Final = 2**22
_BATCH_FILES: Final = 64
_MAX_PATH_CHARACTERS: Final = 80
# The column of `Kernels.extra` that has the path of each row's profile.
_COLUMN: Final = "profile"


class Profiles(Mapping[str, Any]):
    """The result of `read_many`: `Kernels` by path, in the order of the given paths.

    Parameters
    ----------
    read
        Kernels by path.
    failures
        The error of each path that could not be read.
    """

    __module__ = "roofwidget.readers"

    def __init__(self, read: Mapping[str, Kernels], failures: Mapping[str, Exception]) -> None:
        self._read = dict(read)
        self.failures: Mapping[str, Exception] = dict(failures)

    def __getitem__(self, path: str | os.PathLike[str]) -> Kernels:
        return self._read[os.fspath(path)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)

    def merge(self) -> Kernels:
        """Return the kernels of all profiles as one table, in the order of the profiles.

        The column ``"profile"`` of `Kernels.extra` has the path of each row's profile. The warnings begin with this
        path. `Kernels.chip` is the chip of the profiles if all have the same chip. `Kernels.activity` is that of all
        devices together.
        """
        chips = {kernels.chip for kernels in self._read.values()}
        (chip,) = chips if len(chips) == 1 else (None,)
        tables = [kernels.replace(extra={**kernels.extra, _COLUMN: path}) for path, kernels in self._read.items()]
        named = sorted(one.name for one in chips if one is not None)
        differ = [f"the profiles are of different chips ({listed(named)})"] if len(chips) > 1 and named else []
        warned = [f"{path}: {text}" for path, kernels in self._read.items() for text in kernels.warnings]
        categories = joined_texts(kernels.codes("category") for kernels in tables)
        return concat({str(at): kernels for at, kernels in enumerate(tables)}).replace(
            category=categories,
            chip=chip,
            fitting_chips=list(dict.fromkeys(one for kernels in self._read.values() for one in kernels.fitting_chips)),
            warnings=[*differ, *warned],
            source=counted(len(self), "profile"),
            activity=_together_busy([kernels.activity for kernels in self._read.values()]),
        )

    def totals(self) -> Mapping[str, float]:
        """Return the sums over all kernels of all profiles, as `Kernels.totals` does for one table."""
        return self.merge().totals()

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per profile: path, kernels, measured kernels, totals, chip, warnings.

        A profile that failed has its error in the column ``error``.
        """
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        read = [
            {"profile": path, "kernels": len(kernels), "measured": _measured(kernels), **kernels.totals()}
            | {"chip": kernels.chip and kernels.chip.name, "warnings": len(kernels.warnings), "error": None}
            for path, kernels in self._read.items()
        ]
        return pd.DataFrame([*read, *({"profile": path, "error": str(e)} for path, e in self.failures.items())])

    def __repr__(self) -> str:
        rows = [[one_line(path), repr(kernels)] for path, kernels in self._read.items()]
        rows += [[one_line(path), f"failed: {error}"] for path, error in self.failures.items()]
        shown = aligned(rows[:_MAX_TABLE_ROWS]) if rows else []
        title = f"Profiles({len(self)} read, {len(self.failures)} failed)"
        return "\n".join([title, *shown, *and_more(len(rows), _MAX_TABLE_ROWS)])

    def _repr_html_(self) -> str:
        header = ("profile", "kernels", "measured", "time", "FLOPs", "bytes", "chip")
        rows = [
            (
                one_line(path, _MAX_PATH_CHARACTERS),
                f"{len(kernels):,}",
                f"{_measured(kernels):,}",
                format_quantity(kernels.totals()["time"], "s"),
                format_quantity(kernels.totals()["flops"], operations_of(kernels).common),
                format_quantity(kernels.totals()["bytes"], "B"),
                one_line(kernels.chip.name) if kernels.chip is not None else "",
            )
            for path, kernels in islice(self._read.items(), _MAX_TABLE_ROWS)
        ]
        more = "".join(and_more(len(self), _MAX_TABLE_ROWS))
        failed = [f"{path}: failed: {error}" for path, error in self.failures.items()]
        notes = [*failed, *(f"{path}: {text}" for path, kernels in self._read.items() for text in kernels.warnings)]
        caption = f"{counted(len(self), 'profile')} read, {len(self.failures)} failed"
        shown = [*notes[:_MAX_TABLE_ROWS], *and_more(len(notes), _MAX_TABLE_ROWS)]
        return html_with_notes(html_table(caption, header, rows, more), shown)


def _together_busy(parts: Sequence[Activity | None]) -> Activity | None:
    """Return the activity of the devices of several profiles; None if that of one is unknown."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    longest = max(known, key=lambda part: part.gap)
    return replace(
        longest, **{word: math.fsum(getattr(part, word) for part in known) for word in ("busy", "idle", "added")}
    )


def _measured(kernels: Kernels) -> int:
    return int(np.isfinite(kernels.time).sum())


def read_many(
    paths_or_glob: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002 - the field's word
    client: Any = None,
    progress: Progress = None,
    **options: Any,
) -> Profiles:
    """Read many profiles, each with `read`.

    Captures of CUDA or HIP graphs among the files are no profiles: the other traces are read with them. This process
    must be able to open them.

    Parameters
    ----------
    paths_or_glob
        A pattern such as ``"runs/**/*.json"`` (sorted by name), or paths.
    format, **options
        As for `read`, also `work`; they apply to all files.
    client
        Where the readers run: None for threads of this process, a `concurrent.futures.Executor` (a
        ``ProcessPoolExecutor`` uses all cores for large files), or a ``dask.distributed.Client`` whose workers can
        open the same files.
    progress
        None: a bar in a notebook where tqdm is installed. True: a bar. False: no bar. A function is called with (done,
        total).

    Returns
    -------
    Profiles
        A mapping from path to `Kernels`. `failures` has the error of each file that could not be read; a warning
        names these files.

    Raises
    ------
    FileNotFoundError
        If no file matches the pattern.
    ProfileError
        If the pattern cannot be a path, such as a URL.
    ValueError, TypeError
        If a path is given twice, or `client` is not an executor.
    """
    paths = _paths(paths_or_glob)
    if client is not None and not hasattr(client, "submit"):
        raise TypeError(f"client must be an Executor or a dask.distributed Client, got {type(client).__name__}")
    captures = captures_among(paths) if format in {None, "torch"} and "captures" not in options else []
    paths = [path for path in paths if path not in captures]
    how = (format, options, captures)
    with advancing(progress, len(paths), unit="file", description="reading") as advance:
        if client is None:
            with _pool() as threads:
                done = dict(_all(threads, as_completed, paths, how, advance))
        else:
            done = dict(_all(client, _completion_of(client), paths, how, advance))
    found = {path: done[path] for path in paths}
    failures = {path: result for path, result in found.items() if isinstance(result, Exception)}
    if failures:
        _warn(failures, len(paths))
    return Profiles({path: result for path, result in found.items() if path not in failures}, failures)


def _paths(given: Any) -> list[str]:
    if isinstance(given, (str, os.PathLike)):
        pattern = os.fspath(given)
        problem = problem_of(pattern)
        if problem is not None:
            raise ProfileError(shown(pattern), problem)
        paths = sorted(glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207 - glob keeps the path as the user wrote it
        if not paths:
            raise FileNotFoundError(f"no file matches '{pattern}'")
        return paths
    what = "paths_or_glob must be a pattern such as 'runs/*.json', or a list of paths"
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{what}, got {shown_value(given)}")
    paths = []
    for path in given:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{what}, got {shown_value(path)} in the list")
        paths.append(os.fspath(path))
    twice = next((path for path, times in Counter(paths).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"'{twice}' is given twice: remove one")
    return paths


class _InTurn(Executor):
    """Runs each task at once in this thread."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future raises it
            future.set_exception(error)
        return future


def _pool() -> Executor:
    pool = ThreadPoolExecutor()
    try:
        pool.submit(int)
    except RuntimeError:
        # Pyodide has no threads.
        return _InTurn()
    return pool


def _completion_of(client: Any) -> Any:
    """Return the function that yields this client's futures as they complete."""
    if type(client).__module__.split(".")[0] != "distributed":
        return as_completed
    from distributed import as_completed as as_completed_there  # noqa: PLC0415 - optional; a Dask client proves that it is installed

    return as_completed_there


def _all(client: Any, completed: Any, paths: list[str], how: Any, advance: Any) -> Iterator[tuple[str, Any]]:
    """Yield each path with its kernels or its error. A task reads several small files, because a task has a cost."""
    # A file may change between two calls, so Dask must not cache the result by path.
    more = {} if completed is as_completed else {"pure": False}
    alone: list[str] = []
    for is_second in (False, True):
        tasks = [[path] for path in alone] if is_second else _batches(paths)
        paths_of: dict[Any, list[str]] = {}
        for batch in tasks:
            try:
                paths_of[client.submit(_attempts, batch, *how, **more)] = batch
            except Exception as error:  # noqa: BLE001, PERF203 - a pool that lost a worker takes no more tasks
                yield from _told(batch, [error] * len(batch), advance)
        for future in completed(paths_of):
            batch = paths_of[future]
            try:
                results = future.result()
            except Exception as error:  # noqa: BLE001 - a worker that died must not affect other files
                if len(batch) > 1:
                    alone += batch
                    continue
                results = [error]
            yield from _told(batch, results, advance)


def _told(paths: list[str], results: Sequence[Any], advance: Any) -> Iterator[tuple[str, Any]]:
    for path, result in zip(paths, results, strict=True):
        yield path, result
        advance(1)


def _batches(paths: list[str]) -> list[list[str]]:
    """Return the paths in batches of at most `_BATCH_BYTES` and `_BATCH_FILES`; a large file is alone."""
    found: list[list[str]] = []
    left = 0.0
    for path in paths:
        size = _size(path)
        if not found or size > left or len(found[-1]) == _BATCH_FILES:
            found.append([])
            left = _BATCH_BYTES
        found[-1].append(path)
        left -= size
    return found


def _size(path: str) -> float:
    """Return the bytes of a file; infinite if it is a folder or cannot be opened here."""
    try:
        return Path(path).stat().st_size if Path(path).is_file() else float("inf")
    except (OSError, ValueError):
        return float("inf")


def _attempts(
    paths: list[str],
    format: str | None,  # noqa: A002 - as above
    options: dict[str, Any],
    captures: list[str],
) -> list[Kernels | Exception]:
    found = {} if options or format not in {None, "table"} else _together(paths, is_told=format is not None)
    return [found[path] if path in found else _attempt(path, format, options, captures) for path in paths]


def _together(paths: list[str], *, is_told: bool) -> dict[str, Kernels]:
    """Return the kernels of small tables that have the same header, by path; other files are not in the result."""
    sources = [source for source in map(_source, paths) if source is not None]
    found = read_together(sources, lambda source: is_told or _is_table(source))
    for kernels in found.values():
        kernels.read_as = MappingProxyType({"format": "table", **kernels.read_as})
    return found


def _is_table(source: Source) -> bool:
    """Return whether no other reader takes the file; if a reader fails, `read` says why."""
    try:
        return reader_of(source) is reader("table")
    except Exception:  # noqa: BLE001 - one bad file must not affect the others
        return False


def _source(path: str) -> Source | None:
    """Return the file, or None if it cannot be opened; then `read` says why."""
    try:
        return Source.of(path)
    except (OSError, ValueError):
        return None


def _attempt(path: str, format: str | None, options: dict[str, Any], captures: list[str]) -> Kernels | Exception:  # noqa: A002 - as above
    """Return the kernels or the error. An error returned as a value passes through every kind of executor."""
    try:
        return read(path, format, **options, **options_of(path, captures))
    except Exception as error:  # noqa: BLE001 - one bad file must not affect the others
        return error


def _warn(failures: Mapping[str, Exception], count: int) -> None:
    texts = [str(error) if isinstance(error, ProfileError) else f"{path}: {error}" for path, error in failures.items()]
    what = f"{len(failures)} of {counted(count, 'file')} could not be read (see .failures): "
    warnings.warn(what + first_few(texts, _MAX_SHOWN_FAILURES), UserWarning, stacklevel=3)
