"""What XProf's ``hlo_stats`` adds to other tables of the same profile: each operation's HLO text, and so its shapes.

Joined by program and operation, for a name is unique only within its program. Calls that XLA's cost model cannot see
into get the FLOPs of their shapes x executions, and the bytes of all their operands and outputs, which is how that
model counts bytes too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip
from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.xprof.columns import MICRO, extras
from roofwidget.readers.xprof.draft import Draft, texts
from roofwidget.readers.xprof.hlo import Instruction, instruction, work
from roofwidget.readers.xprof.table import Table

__all__ = ["add_shapes", "complete", "join", "stats_beside"]

_OURS: Final = (
    "HLO",
    "framework op",
    "rematerialization",
    "outside compilation",
    "autotuned",
    "core type",
    "parent op",
)
_TOOLS: Final = ("roofline_model", "cli_roofline", "roofline")
_SAME: Final = 1e-6


def stats_beside(source: Source, shapes: Any, load: Callable[[Source], Table]) -> tuple[Table | None, list[str]]:
    """Return the table ``hlo_stats`` to join, and a remark if the one beside the profile cannot be read.

    Parameters
    ----------
    source
        The profile.
    shapes
        Where ``hlo_stats`` is: a path or buffer; None for the file beside the profile with the same name but for the
        tool's, if there is one; False for none.
    load
        Reads such a table.
    """
    if shapes is False:
        return None, []
    if shapes is not None:
        if shapes is True:
            msg = "shapes must be the path of a hlo_stats table, None or False, got True"
            raise TypeError(msg)
        return load(Source.of(shapes)), []
    path = _sibling(source.path)
    if path is None:
        return None, []
    try:
        return load(Source.of(path)), []
    except ProfileError as error:
        return None, [f"the shapes beside the profile were left out: {error}"]


def _sibling(path: Path | None) -> Path | None:
    if path is None:
        return None
    names = [path.name.rpartition(tool)[0] + "hlo_stats" for tool in _TOOLS if tool in path.name]
    beside = (path.with_name(name + end) for name in names[:1] for end in (".json", ".json.gz"))
    return next((candidate for candidate in beside if candidate.is_file()), None)


def join(draft: Draft, stats: Table) -> list[str]:
    """Add the columns of ``hlo_stats`` to the operations it knows, in place; remark on those of another run.

    Raises
    ------
    ProfileError
        If it knows none of them.
    """
    operations = zip(_programs(stats), stats.texts("hlo_op_name"), strict=True)
    place = {key: row for row, key in enumerate(operations)}
    keys = zip(draft.programs, draft.names, strict=True)
    at = np.array([place.get(key, -1) for key in keys], dtype=np.intp)
    if len(draft) and len(stats):
        agree = np.isclose(stats.numbers("total_time")[at] * MICRO, draft.time, rtol=_SAME, atol=MICRO * _SAME)
        at[~agree] = -1
        if (at < 0).all():
            raise ProfileError(stats.source, "none of its operations is in the profile: it is of another run")
    told = extras(stats) if len(stats) else {}
    for name in _OURS:
        if name in told:
            draft.extra.setdefault(name, _taken(told[name], at))
    missing = int((at < 0).sum())
    return [f"the shapes of {missing} of {len(draft)} operations are not in {stats.source}"] if missing else []


def add_shapes(draft: Draft) -> list[Instruction | None]:
    """Parse the HLO texts; add columns with each operation's shapes and the type of its first operand."""
    parsed = [instruction(line) if line else None for line in draft.extra["HLO"]]
    draft.extra["shape"] = texts([one.shape if one else None for one in parsed])
    draft.extra["dtype"] = texts([one.operands[0].dtype if one and one.operands else None for one in parsed])
    return parsed


def complete(draft: Draft, parsed: Sequence[Instruction | None], chip: Chip | None) -> list[str]:
    """Give the opaque calls of known shapes their FLOPs and bytes, in place; say how many."""
    found = 0
    seconds = 0.0
    without: set[str] = set()
    for row in np.flatnonzero(np.isnan(draft.flops)).tolist():
        call = parsed[row]
        done = work(call) if call else None
        if done is None:
            continue
        times = draft.count[row]
        draft.set_work(row, done.flops * times, done.bytes * times, f"{done.rule} x {times:g} executions")
        if done.precision:
            draft.precision[row] = done.precision
            draft.origin["precision"][row] = "the type of the first operand"
        # A precision that the chip has no peak for could not be judged at all.
        if chip is not None and done.precision and done.precision not in chip.peak_flops:
            draft.precision[row] = draft.origin["precision"][row] = None
            without.add(done.precision)
        found += 1
        seconds += draft.self_time[row]
    if not found:
        return []
    total = draft.self_time.sum()
    share = f", {seconds / total:.1%} of the operations' time" if total else ""
    said = (
        f"XLA's cost model counts nothing for {found} library calls{share}: their FLOPs and bytes were derived from "
        "their shapes x executions, see kernels.origin"
    )
    if not (chip and without):
        return [said]
    words = " and ".join(sorted(without))
    return [
        said,
        f"some of them are {words}, for which the profile has no peak: they are judged by {chip.default_precision}",
    ]


def _programs(stats: Table) -> list[str]:
    return [str(word) for word in stats.texts("program_id")]


def _taken(column: npt.NDArray[Any], at: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Return the column at these rows; None at -1."""
    found: npt.NDArray[Any] = column[at].astype(object)
    found[at < 0] = None
    return found
