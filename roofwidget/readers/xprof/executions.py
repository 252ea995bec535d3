"""How often an operation ran, where XProf counted the kernels that it launched.

On GPU XProf adds one occurrence, and one whole cost, for every kernel event. A library call that launches k kernels
is so shown with k times its occurrences, FLOPs and bytes.
"""

from __future__ import annotations

import fnmatch
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from roofwidget.readers.xprof.draft import Draft
from roofwidget.support.did_you_mean import nearest

__all__ = ["checked", "correct"]

_MOST: Final = 2**53
_LIBRARY_CALL: Final = re.compile(r"custom-call|cudnn|cublas|hipblas|miopen|te_", re.IGNORECASE)


def checked(executions: object) -> Mapping[str, int] | None:
    """Return the option `executions` if it is None, or counts by pattern of operation names.

    Raises
    ------
    TypeError, ValueError
        If it is something else, or a count is no whole number from 1.
    """
    if executions is None:
        return None
    if not isinstance(executions, Mapping) or not all(isinstance(pattern, str) for pattern in executions):
        msg = f"executions must be counts by operation name, such as {{'cudnn-conv*': 5}}, got {executions!r:.60}"
        raise TypeError(msg)
    for pattern, count in executions.items():
        what = f"executions['{pattern}']"
        if isinstance(count, bool) or not isinstance(count, int):
            msg = f"{what} must be a whole number, got {count!r:.60}"
            raise TypeError(msg)
        if not 1 <= count < _MOST:
            msg = f"{what} must be from 1 to {_MOST:,}, got {count!r:.60}"
            raise ValueError(msg)
    return executions


def correct(draft: Draft, told: Mapping[str, int] | None, *, infer: bool) -> list[str]:
    """Scale what was counted for each kernel to executions, in place; say for which operations.

    Parameters
    ----------
    draft
        The operations.
    told
        Executions by pattern of operation names, which go first.
    infer
        Whether they are those of a GPU. Then other library calls ran as often as all other operations of their
        program, if those agree and the occurrences are a multiple of that.

    Raises
    ------
    ValueError
        If a pattern is that of no operation.
    """
    executions = _inferred(draft) if infer else draft.count.copy()
    for pattern, count in (told or {}).items():
        found = [fnmatch.fnmatchcase(name.casefold(), pattern.casefold()) for name in draft.names]
        if not any(found):
            close = nearest(pattern, draft.names, most=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            msg = f"executions: no operation is called '{pattern}'{hint}"
            raise ValueError(msg)
        executions[np.array(found)] = count
    changed = np.flatnonzero(executions != draft.count)
    if not len(changed):
        return []
    factor = executions / draft.count
    draft.extra["XProf occurrences"] = draft.count.copy()
    draft.flops *= factor
    draft.bytes = {level: amount * factor for level, amount in draft.bytes.items()}
    counted = [why for key, why in draft.origin.items() if key.startswith(("flops", "bytes"))]
    for row in changed:
        for why in counted:
            why[row] += f" x {executions[row]:g} executions / {draft.count[row]:g} kernels"
    draft.count = executions
    return [_remark(draft, changed)]


def _inferred(draft: Draft) -> npt.NDArray[np.float64]:
    members = defaultdict(list)
    for row, program in enumerate(draft.programs):
        members[program].append(row)
    executions = draft.count.copy()
    nested = draft.contains_others
    is_call = [_is_library_call(draft, row) for row in range(len(draft))]
    for program, rows in members.items():
        calls = [row for row in rows if is_call[row]]
        counts = {draft.count[row] for row in rows if not is_call[row]}
        # Rows of no program belong together by nothing, and a loop may run a call more often than what is outside.
        if program == "0" or len(counts) != 1 or nested[rows].any():
            continue
        runs = counts.pop()
        for row in calls:
            if draft.count[row] > runs and draft.count[row] % runs == 0:
                executions[row] = runs
    return executions


def _is_library_call(draft: Draft, row: int) -> bool:
    return bool(_LIBRARY_CALL.match(draft.names[row])) or draft.category[row] == "custom-call"


def _remark(draft: Draft, rows: npt.NDArray[np.intp]) -> str:
    kernels = draft.extra["XProf occurrences"]
    named = [f"'{draft.names[r]:.40}' {draft.count[r]:g} times, not {kernels[r]:g}" for r in rows[:5]]
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""  # noqa: PLR2004 - a sentence's length
    return (
        "XProf counts every kernel of a library call as an execution of all of it; by the other operations of their "
        f"program these ran: {', '.join(named)}{more}. FLOPs and bytes are scaled; executions={{name: n}} sets others"
    )
