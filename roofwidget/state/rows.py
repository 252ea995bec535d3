"""The rows of the kernels: which are selected, hovered and at their roof, typed work, moves and snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from roofwidget import units, wire
from roofwidget.kernels.table import Kernels
from roofwidget.kernels.work import with_typed_work
from roofwidget.state.field import Field, Refused
from roofwidget.state.forms import optional, row_number, row_numbers, snapshots_of
from roofwidget.state.moves import Moves, check_row, read_only_factors, read_only_rows
from roofwidget.state.rules import read_only_rules, with_rules
from roofwidget.support.did_you_mean import did_you_mean

if TYPE_CHECKING:
    from roofwidget.state.state import State

TypedWork: TypeAlias = Mapping[int, Mapping[str, float]]
"""``"flops"`` and ``"bytes"`` of one launch by row; a number that is left out stays unknown."""

_UNITS: Final = {"flops": "FLOP", "bytes": "B"}
MAX_AMOUNT: Final = 1e27
"""The most FLOPs or bytes of one launch. No kernel has so many; sums of them still fit a double."""


def read_only_work(given: Any) -> TypedWork:
    """Return typed work as read-only mappings, in ascending order of rows.

    Raises
    ------
    TypeError, ValueError
        If `given` is not a mapping from row numbers to mappings, or if an amount is neither a number from 0 to
        `MAX_AMOUNT` nor a text such as ``"4 TFLOP"``.
    """
    return read_only_rows(given, ("flops", "bytes"), "number", _amount, hint=lambda word: did_you_mean(word, _UNITS))


def _amount(value: Any, word: str, what: str) -> float:
    amount = units.parse(value, _UNITS[word], what)
    if not 0 <= amount <= MAX_AMOUNT:
        raise ValueError(f"{what} must be from 0 to {MAX_AMOUNT:g}, got {value!r:.40}")
    return amount


def check_is_unknown(work: TypedWork, kernels: Kernels) -> None:
    """Raise `Refused` if a row does not exist, or if its FLOPs or bytes are known without the typed work."""
    for row, amounts in work.items():
        if row >= len(kernels):
            raise Refused(f"typed_work: {row} is not a row of kernels, which has {len(kernels)}")
        for word, known in (("flops", kernels.flops), ("bytes", kernels.bytes)):
            if word in amounts and not np.isnan(known[row]):
                raise Refused(
                    f"typed_work: the {'FLOPs' if word == 'flops' else word} of '{kernels.names[row]:.60}' (row {row}) "
                    "are known; kernels.with_work(work, replace=True) replaces them"
                )


def ruled(s: State) -> Kernels:
    """Return the plotted kernels with the work that `rules` give them."""
    return s.plotted if s.partition is not None or not s.rules else with_rules(s.plotted, s.rules)


def shown_kernels(s: State) -> Kernels:
    """Return the kernels that the chart shows, see `RooflineModel.shown_kernels`."""
    return with_typed_work(s.ruled, s.typed_work) if s.typed_work else s.ruled


def _fit_rows(s: State, rows: Iterable[int], trait: str) -> tuple[int, ...]:
    n = len(s.kernels) if s.partition is None else len(s.partition)
    return tuple(check_row(row, n, trait) for row in rows)


def _fit_typed_work(s: State, work: TypedWork) -> TypedWork:
    if work and s.partition is not None:
        raise Refused("typed_work: the work of the kernels of a graph is counted; set graph to None first")
    check_is_unknown(work, s.kernels)
    return work


def _fit_moves(s: State, moves: Moves) -> Moves:
    _fit_rows(s, moves, "moves")
    return moves


class Rows:
    """What refers to rows of the shown kernels. It is reset when the rows become other kernels."""

    rules = Field(
        "shared",
        read_only_rules,
        MappingProxyType({}),
        help="Rules of work in force, by the name of the kernels for which a person has written them: lines of a file "
        "of rules, see docs/readers.md. `kernels` stays as it was given; `shown_kernels` has what the rules say of "
        "kernels whose own work is unknown. They stay with other kernels.",
        undo="alone",
        to_wire=dict,
        page_type="Readonly<Record<string, string>>",
    )
    typed_work = Field(
        "shared",
        read_only_work,
        MappingProxyType({}),
        help="FLOPs and bytes of one launch that were typed for kernels whose own are unknown: 'flops' and 'bytes' "
        "by row. `kernels` stays as it was given; `shown_kernels` has the typed numbers times the launches, and so "
        "has all that is computed from it. They are dropped with other kernels.",
        fit=_fit_typed_work,
        to_wire=wire.by_row_to_wire,
        from_wire=wire.by_row_from_wire,
        undo="alone",
        page_type="TypedWork",
    )
    selected = Field(
        "shared",
        row_numbers,
        (),
        help="Row numbers of the selected kernels.",
        fit=lambda s, given: _fit_rows(s, given, "selected"),
    )
    hovered = Field(
        "browser",
        optional(row_number),
        help="Row number of the kernel under the pointer, or None.",
        fit=lambda s, row: None if row is None else _fit_rows(s, [row], "hovered")[0],
        in_session=False,
    )
    at_roof = Field(
        "shared",
        row_numbers,
        (),
        help="Rows of the kernels that reach their roof in the projected time.",
        fit=lambda s, given: _fit_rows(s, given, "at_roof"),
    )
    moves = Field(
        "shared",
        read_only_factors,
        MappingProxyType({}),
        help="What-ifs on single kernels: factors on their 'bytes' and 'time' by row, set by `move` and by a "
        "dragged point. The chart draws them beside the data. Points, table, filters, ranking, totals and exports "
        "show the data, and so does all of Python but `moved_kernels`. They are dropped with other kernels, "
        "another graph or another partition.",
        fit=_fit_moves,
        to_wire=wire.by_row_to_wire,
        from_wire=wire.by_row_from_wire,
        undo="alone",
        page_type="Moves",
    )
    snapshots = Field(
        "shared",
        snapshots_of,
        (),
        help="Roofs with the positions of their kernels, oldest first; `freeze` adds one.",
        to_wire=wire.snapshots_to_wire,
        from_wire=wire.snapshots_from_wire,
        in_session=False,
        undo="alone",
        page_type="readonly Snapshot[]",
    )
