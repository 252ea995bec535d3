"""Checks what-ifs of single kernels: factors for bytes and time. The factors do not change the kernels themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from roofwidget import units
from roofwidget.analysis import bound_lenient, kernel_moves
from roofwidget.chips import Chip, MissingFigureError
from roofwidget.kernels.columns import is_number, is_whole
from roofwidget.kernels.table import Kernels
from roofwidget.state.field import Refused
from roofwidget.state.what_if import one_level
from roofwidget.support.did_you_mean import listed, nearest

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound

Moves: TypeAlias = Mapping[int, Mapping[str, float]]
"""Factors on ``"bytes"`` and ``"time"`` by row; a factor that is left out is 1."""

# If a factor is too small, the error message shows the smallest allowed factor, rounded to six digits. A user may then
# enter the rounded factor. So a factor that is below the limit by at most this share is accepted.
_ROUNDING_TOLERANCE: Final = 1e-6


def checked_factor(value: Any, what: str) -> float:
    """Return a factor as a finite float above zero.

    Raises
    ------
    TypeError, ValueError
        If the factor is not a finite number above zero. The message begins with `what`.
    """
    if not is_number(value):
        raise TypeError(f"{what} must be a number such as 0.5, got {value!r:.40}")
    return units.positive(units.parse(value, "s", what), what)


def read_only_factors(given: Any) -> Moves:
    """Return what-if factors as read-only mappings, in ascending order of rows, without factors of 1.

    Raises
    ------
    TypeError, ValueError
        If `given` is not a mapping from row numbers to mappings, if a quantity is neither bytes nor time, or if a
        factor is not a finite number above zero.
    """
    return read_only_rows(
        given, ("bytes", "time"), "factor", lambda value, _, what: checked_factor(value, what), left_out=1
    )


def read_only_rows(
    given: Any,
    words: tuple[str, str],
    kind: str,
    checked: Callable[[Any, str, str], float],
    *,
    left_out: float | None = None,
    hint: Callable[[str], str] = lambda _word: "",
) -> Mapping[int, Mapping[str, float]]:
    """Return numbers by row and word as read-only mappings, in ascending order of rows.

    Parameters
    ----------
    given
        What a user or a page gives.
    words, kind
        The words that a row may have, and what their numbers are, for messages.
    checked
        Returns a number, given the value, its word and what messages call it.
    left_out
        A number that changes nothing.
    hint
        The end of the message for another word.
    """
    first, second = words
    if not isinstance(given, Mapping) or not all(
        is_whole(row) and isinstance(numbers, Mapping) for row, numbers in given.items()
    ):
        shape = f"{{'{first}': {kind}, '{second}': {kind}}}"
        raise TypeError(f"expected a mapping from row numbers to {shape}, got {given!r:.60}")
    kept: dict[int, Mapping[str, float]] = {}
    for row in sorted(given):
        for word in given[row]:
            if word not in words:
                raise ValueError(f"row {row} may have '{first}' and '{second}', not {word!r:.40}{hint(str(word))}")
        found = {
            word: checked(given[row][word], word, f"'{word}' of row {row}") for word in words if word in given[row]
        }
        numbers = {word: number for word, number in found.items() if number != left_out}
        if numbers:
            kept[int(row)] = MappingProxyType(numbers)
    return MappingProxyType(kept)


def check_row(row: int, rows: int, trait: str) -> int:
    """Return `row` if a table of `rows` rows has this row. Otherwise raise a `Refused` that begins with `trait`."""
    if not 0 <= row < rows:
        raise Refused(f"{trait}: {row} is not a row of kernels, which has {rows}")
    return row


def row_called(kernel: object, kernels: Kernels) -> int:
    """Return the row number of a kernel. `kernel` is its row number or its name.

    Raises `Refused` if there is no such kernel, or if several kernels have this name.
    """
    if is_whole(kernel):
        return check_row(int(kernel), len(kernels), "move")
    rows = np.flatnonzero(kernels.names == kernel)
    if len(rows) == 1:
        return int(rows[0])
    if len(rows) > 1:
        msg = f"move: {len(rows)} kernels are called '{kernel}'; give a row, such as {int(rows[0])}"
    else:
        known = [str(name) for name in kernels.names]
        close = nearest(str(kernel), known) or known[:3]
        msg = f"move: no kernel is called {kernel!r:.60}; nearest: {listed(close)}"
    raise Refused(msg)


def check_can_move(kernel: Kernels, asked: Mapping[str, float], bound_of: Callable[[Kernels], Bound]) -> None:
    """Raise `ValueError` if the what-if factors `asked` cannot be applied to a kernel.

    `kernel` is a table with one row.
    """
    name = kernel.names[0]
    if kernel.has_ratios:
        raise ValueError(
            f"move: '{name}' has an intensity and a rate, and no bytes and no time that could change; give its FLOPs "
            "with kernels.with_work(…)"
        )
    if "bytes" in asked and not any(column[0] > 0 for column in kernel.bytes_by_level.values()):
        raise ValueError(f"move: the bytes of '{name}' are unknown, so they cannot be changed; give time")
    if asked.get("time", 1) == 1:
        return
    if not kernel.time[0] > 0:
        raise ValueError(f"move: '{name}' was not measured, so its time cannot be changed; give bytes")
    least = float(kernel_moves.least_time(bound_of(kernel))[0])
    if asked["time"] < least * (1 - _ROUNDING_TOLERANCE):
        factor, allowed = (units.format_significant(value, 6) for value in (asked["time"], least))
        raise ValueError(f"move: '{name}' would beat its roof with time={factor}; the least is {allowed}")


def bound_where_measured(
    kernels: Kernels,
    focus: Chip,
    *,
    precision: str,
    memory: str,
    **shared: float,
) -> Bound:
    """Return the bounds of the kernels on the chip that they ran on.

    If this chip is unknown or lacks a figure, return the bounds on the focus chip.

    Raises
    ------
    MissingFigureError
        If the focus chip is used, and lacks the precision or the memory level.
    """
    own = kernels.chip
    if own is not None and own.id != focus.id:
        level = focus.memory(one_level(memory))
        is_main = level == next(iter(focus.memories)) and memory.casefold() != "all"
        try:
            return bound_lenient.bound_lenient(kernels, own, memory="main" if is_main else memory, **shared)
        except MissingFigureError:
            pass
    return bound_lenient.bound_lenient(kernels, focus, precision=precision, memory=memory, **shared)
