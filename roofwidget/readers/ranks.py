"""One profile per rank: `ranks` reads the profiles, and names the ranks by their paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from roofwidget.analysis.ranks import Ranks
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.source import Source
from roofwidget.readers.many import read_many
from roofwidget.readers.torch.captures import rank_in_beginning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roofwidget.support.progress import Progress

# rank3, rank_003, rank-3, rank[3], rank=3
_NUMBER: Final = re.compile(r"rank[ _\-=\[]*(\d+)", re.IGNORECASE)


def ranks(
    paths_or_tables: Any,
    *,
    match: str | Sequence[str] = "name",
    above: float = 0.05,
    format: str | None = None,  # noqa: A002 - the field's word
    client: Any = None,
    progress: Progress = None,
    **options: Any,
) -> Ranks:
    """Compare the ranks of one program: the slowest rank, the median and the spread of each kernel, and stragglers.

    Parameters
    ----------
    paths_or_tables
        A pattern such as ``"traces/rank*.json"``, paths, or the result of `read_many`: one profile per rank. Or
        `Kernels` by rank, or a list of `Kernels`, which are ranks 0, 1 and so on. If all paths contain a number after
        the word "rank", or else all are traces of PyTorch that name their rank, the ranks have these numbers and their
        order. Otherwise a rank's name is its path.
    match
        The columns that identify a kernel: ``"name"``, or ``("name", "shape")`` for example.
    above
        A rank is a straggler if its kernels, without collectives, take longer than the same kernels at the median rank
        by more than this share.
    format, client, progress, **options
        As for `read_many`.

    Returns
    -------
    Ranks
        A table with one row per kernel. `Ranks.stragglers` has the slow ranks, by how much, and in which kernels;
        `Ranks.waiting` has the seconds that each rank waits in collectives. A file that could not be read is left out,
        with a warning.

    Raises
    ------
    FileNotFoundError, ProfileError
        As `read_many`.
    TypeError, ValueError
        If there are fewer than two ranks, a rank has no times, or an option is wrong.

    Examples
    --------
    >>> fast, slow = (Kernels(["gemm"], [1], [1], time=[seconds]) for seconds in (1, 2))
    >>> [straggler.rank for straggler in ranks([fast, slow, fast]).stragglers]
    ['rank 1']
    """
    if isinstance(paths_or_tables, Mapping):
        tables: Mapping[str, Any] = paths_or_tables
    else:
        given = paths_or_tables
        is_one = isinstance(given, (str, bytes, os.PathLike)) or not isinstance(given, Iterable)
        listed = given if is_one else list(given)
        if not is_one and listed and all(isinstance(table, Kernels) for table in listed):
            tables = {f"rank {number}": table for number, table in enumerate(listed)}
        else:
            tables = read_many(listed, format=format, client=client, progress=progress, **options)
    return Ranks(_named(tables), (match,) if isinstance(match, str) else match, above)


def ranks_by_path(profiles: Mapping[str, Kernels]) -> dict[str, str]:
    """Return the paths by rank, in the order of the ranks; nothing if the profiles are not ranks of one program.

    Two ranks have two numbers, by the names of their files or else by the headers of their traces.
    """
    numbers = _numbers(profiles)
    found = sorted(zip(numbers, profiles, strict=True)) if len(numbers) > 1 else []
    return {f"rank {number}": path for number, path in found}


def _named(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables by rank. Paths with the numbers of ranks are sorted by these."""
    named = {rank: tables[path] for rank, path in ranks_by_path(tables).items()}
    return named or {str(name): table for name, table in tables.items()}


def _numbers(tables: Mapping[str, Any]) -> list[int]:
    """Return the rank of each path, or nothing if the ranks are not all known and different."""
    found = [_NUMBER.findall(str(name)) for name in tables]
    numbers = [int(matches[-1]) for matches in found if matches]
    if len(set(numbers)) < len(tables):
        told = [_in_header(str(name), table) for name, table in tables.items()]
        numbers = [number for number in told if number is not None]
    return numbers if len(set(numbers)) == len(tables) else []


def _in_header(path: str, table: Any) -> int | None:
    """Return the rank in the header of a trace of PyTorch; None if there is none, or the file is gone."""
    if not isinstance(table, Kernels) or table.read_as.get("format") != "torch":
        return None
    try:
        return rank_in_beginning(Source.of(path))
    except (OSError, ValueError):
        return None
