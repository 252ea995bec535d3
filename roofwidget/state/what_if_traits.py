"""Kernels that are dragged: what-ifs on their bytes and times, kept apart from the data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from traitlets import HasTraits, TraitError, TraitType, observe, validate

from roofwidget import units, wire
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.what_if_arithmetic import apply_what_ifs, least_time
from roofwidget.chips import MissingFigureError
from roofwidget.state.graph import is_same_grouping
from roofwidget.state.rates import one_level
from roofwidget.support.did_you_mean import listed, nearest

if TYPE_CHECKING:
    from roofwidget.analysis.result import Bound
    from roofwidget.chips import Chip
    from roofwidget.kernels.table import Kernels

__all__ = ["Moves", "MovesTrait"]

_FACTORS: Final = ("bytes", "time")
# A factor typed in six digits may lie this much below the least one.
_ROUNDING: Final = 1e-6


class MovesTrait(TraitType[Mapping[int, Mapping[str, float]], Any]):
    """Factors on bytes and time by row: ``{3: {"bytes": 0.5}}``; kept as a read-only mapping without those of 1."""

    default_value = MappingProxyType({})
    info_text = "a mapping from row numbers to {'bytes': factor, 'time': factor}"

    def validate(self, obj: Any, value: Any) -> Mapping[int, Mapping[str, float]]:
        if not isinstance(value, Mapping):
            self.error(obj, value)
        moves = {}
        for row, factors in value.items():
            if isinstance(row, bool) or not isinstance(row, (int, np.integer)) or not isinstance(factors, Mapping):
                self.error(obj, value)
            moves[int(row)] = self._factors(obj, int(row), factors)
        return MappingProxyType({row: moves[row] for row in sorted(moves) if moves[row]})

    def _factors(self, obj: Any, row: int, given: Mapping[Any, Any]) -> Mapping[str, float]:
        for word in given:
            if word not in _FACTORS:
                msg = f"{type(obj).__name__}.{self.name}: row {row} may have 'bytes' and 'time', not {word!r:.40}"
                raise TraitError(msg)
        try:
            factors = {word: _factor(given[word], f"'{word}' of row {row}") for word in _FACTORS if word in given}
        except (TypeError, ValueError) as error:
            msg = f"{type(obj).__name__}.{self.name}: {error}"
            raise TraitError(msg) from None
        return MappingProxyType({word: factor for word, factor in factors.items() if factor != 1})


class Moves(HasTraits):
    """What `RooflineModel` knows of kernels that are carried elsewhere on the roofline."""

    if TYPE_CHECKING:
        precision: Any
        memory: Any
        launch_overhead: Any
        _lock: threading.Lock

        @property
        def shown_kernels(self) -> Kernels: ...
        def resolved_chip(self, name: str | None = None) -> Chip: ...
        def _row_of(self, row: int, what: str) -> int: ...

    moves = MovesTrait(
        help="What-ifs on single kernels: factors on their 'bytes' and 'time' by row, as `move` and a dragged point "
        "set them. The chart draws them beside the data; its points, the table, filters, ranking, totals and exports "
        "stay with the data, and so does all that Python says but `moved_kernels`. Other kernels, another graph or "
        "partition have none. Shared."
    ).tag(sync=True, to_json=wire.moves_to_wire, from_json=wire.moves_from_wire, echo_update=False)

    def move(self, kernel: int | str, *, bytes: float | None = None, time: float | None = None) -> None:  # noqa: A002
        """Ask what another amount of traffic, or a better use of its roof, would make of a kernel.

        Parameters
        ----------
        kernel
            Its row, or its name if no other has it.
        bytes
            How many times its bytes it moves, at every level of memory: 0.5 after a fusion that halves them. Its time
            follows at the same share of its roof. 1 takes this back; without it what was asked before stays.
        time
            How many times as long it takes with those bytes: down to its roof, not below.

        Raises
        ------
        TypeError
            Without `bytes` and `time`, or if one is no number.
        ValueError
            If a factor is not above zero, the kernel's bytes or time are unknown, or the time would beat its roof:
            the least factor is named. Nothing is changed.
        traitlets.TraitError
            If it is none of the kernels, or of several with one name; or if there is no chip to judge by.
        MissingFigureError
            If the focus chip has no peak or bandwidth that was asked for.

        Examples
        --------
        >>> from roofwidget import Chip, RooflineModel
        >>> chip = Chip("My chip", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
        >>> model = RooflineModel([chip], [("norm", 1e9, 62e6, 124e-6)])
        >>> model.move("norm", bytes=0.5)
        >>> float(model.moved_kernels.time[0]), float(model.shown_kernels.time[0])
        (6.2e-05, 0.000124)
        >>> model.move("norm", time=0.25)
        Traceback (most recent call last):
        ValueError: move: 'norm' would beat its roof with time=0.25; the least is 0.5
        """
        row = self._row_called(kernel)
        given = (("bytes", bytes), ("time", time))
        asked = {word: _factor(factor, f"move: {word}") for word, factor in given if factor is not None}
        if not asked:
            msg = "move needs bytes or time: how many times as many, or as long"
            raise TypeError(msg)
        self._check_can_move(row, asked)
        self._swap_moves(lambda old: {**old, row: {**old.get(row, {}), **asked}})

    def reset_moves(self, kernel: int | str | None = None) -> None:
        """Take back what was asked of one kernel, by row or name, or of all without one.

        Raises
        ------
        traitlets.TraitError
            If it is none of the kernels, or of several with one name.
        """
        gone = None if kernel is None else self._row_called(kernel)
        self._swap_moves(lambda old: {row: move for row, move in old.items() if gone is not None and row != gone})

    @property
    def moved_kernels(self) -> Kernels:
        """`shown_kernels` with the what-ifs of `moves` in place.

        `roofwidget.analysis.what_if_arithmetic.moved` has the arithmetic.

        They are judged by the chip that they ran on if that is known, else by the focus chip, what-if rates in force.
        """
        return apply_what_ifs(self.shown_kernels, self.moves, self._judge)

    # -- what may be set, and what follows from it -------------------------------------------------------------

    @validate("moves")
    def _check_moves(self, proposal: Any) -> Mapping[int, Mapping[str, float]]:
        moves: Mapping[int, Mapping[str, float]] = proposal["value"]
        for row in moves:
            self._row_of(row, "moves")
        return moves

    @observe("kernels", "graph", "partition")
    def _forget_moves(self, change: Any) -> None:
        if change["name"] != "partition" or not is_same_grouping(change["old"], change["new"]):
            self.moves = {}

    def _swap_moves(self, change: Callable[[dict[int, Any]], Mapping[int, Any]]) -> None:
        """Replace `moves` by what `change` makes of a copy of it; observers run after."""
        with self._lock:
            old = self.moves
            new = type(self).moves.validate(self, change(dict(old)))
            self._trait_values["moves"] = new
        if new != old:
            self._notify_trait("moves", old, new)

    def _row_called(self, kernel: object) -> int:
        if isinstance(kernel, (int, np.integer)) and not isinstance(kernel, bool):
            return self._row_of(int(kernel), "move")
        names = self.shown_kernels.names
        rows = np.flatnonzero(names == kernel)
        if len(rows) == 1:
            return int(rows[0])
        if len(rows) > 1:
            msg = f"move: {len(rows)} kernels are called '{kernel}'; give a row, such as {int(rows[0])}"
        else:
            known = [str(name) for name in names]
            close = nearest(str(kernel), known) or known[:3]
            msg = f"move: no kernel is called {kernel!r:.60}; nearest: {listed(close)}"
        raise TraitError(msg)

    def _check_can_move(self, row: int, asked: Mapping[str, float]) -> None:
        kernels = self.shown_kernels[[row]]
        name = kernels.names[0]
        if "bytes" in asked and not any(column[0] > 0 for column in kernels.bytes_by_level.values()):
            msg = f"move: '{name}' has no bytes that are known, and so none to change"
            raise ValueError(msg)
        if "time" not in asked or asked["time"] == 1:
            return
        if not kernels.time[0] > 0:
            msg = f"move: '{name}' was not measured, and so has no time to change; give bytes"
            raise ValueError(msg)
        least = float(least_time(self._judge(kernels))[0])
        if asked["time"] < least * (1 - _ROUNDING):
            by = units.format_significant(asked["time"], 6)
            told = units.format_significant(least, 6)
            msg = f"move: '{name}' would beat its roof with time={by}; the least is {told}"
            raise ValueError(msg)

    def _judge(self, kernels: Kernels) -> Bound:
        focus = self.resolved_chip()
        options = {"memory": self.memory, "launch_overhead": self.launch_overhead}
        own = kernels.chip
        if own is not None and own.id != focus.id:
            level = focus.memory(one_level(self.memory))
            is_main = level == next(iter(focus.memories)) and self.memory.casefold() != "all"
            try:
                return bound_lenient(kernels, own, **{**options, "memory": "main" if is_main else self.memory})
            except MissingFigureError:
                pass
        return bound_lenient(kernels, focus, precision=self.precision, **options)


def _factor(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        msg = f"{what} must be a number such as 0.5, got {value!r:.40}"
        raise TypeError(msg)
    return units.positive(float(value), what)
