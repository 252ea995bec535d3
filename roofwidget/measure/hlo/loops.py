"""How often the body of a loop runs: XLA's own count, or the count that the text of the loop implies.

JAX's ``scan`` and ``fori_loop`` become loops with a counter: it starts at a constant, grows by a constant, and is
compared with a constant. XLA says their length in compiled programs of recent releases only.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from roofwidget.measure.hlo.text import Computation, Instruction, Module

# In the texts of GPUs the quotes have backslashes.
_TRIP_COUNT: Final = re.compile(r'known_trip_count\\?":\s*\{\\?"n\\?":\s*\\?"?(\d{1,18})')
_DIRECTION: Final = re.compile(r"\bdirection=([A-Z]{2})")
_INDEX: Final = re.compile(r"\bindex=(\d{1,6})")
_WHOLE: Final = re.compile(r"-?\d{1,18}")
_PASSED_ON: Final = frozenset({"bitcast", "convert", "copy"})

Affine: TypeAlias = "tuple[int | None, int]"
"""An element of the loop's state and what is added to it; without an element, a constant."""
_Given: TypeAlias = "tuple[Affine | None, ...]"


class Loops:
    """The loops of one program."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def trip_count(self, loop: Instruction) -> int | None:
        """Return how often the body of a ``while`` runs, or None if that is decided when the program runs."""
        found = loop.attribute(_TRIP_COUNT)
        return self._implied(loop) if found is None else int(found)

    def _implied(self, loop: Instruction) -> int | None:
        parts = [self._part(loop, key) for key in ("condition", "body")]
        if None in parts or len(loop.operands) != 1:
            return None
        condition, body = (part for part in parts if part is not None)
        compared = _Values(self._module, condition).compared(condition.root)
        start = loop.inputs[0]
        if compared is None or start.opcode != "tuple" or body.root.opcode != "tuple":
            return None
        direction, *sides = compared
        first, inside = _Values(self._module, None), _Values(self._module, body)
        # Both sides are straight lines over the iterations; their difference is one too.
        at_start = growth = 0
        for sign, (element, offset) in zip((1, -1), sides, strict=True):
            at_start += sign * offset
            if element is None:
                continue
            if element >= min(len(start.operands), len(body.root.operands)):
                return None
            before = first.of(start.inputs[element])
            after = inside.of(body.root.inputs[element])
            if before is None or after is None or after[0] != element:
                return None
            at_start += sign * before[1]
            growth += sign * after[1]
        return _iterations(direction, at_start, growth)

    def _part(self, loop: Instruction, key: str) -> Computation | None:
        found = self._module.called(loop, key)
        return found[0] if len(found) == 1 else None


class _Values:
    """What the scalars of a part of a loop are, as sums of an element of the loop's state and a constant."""

    def __init__(self, module: Module, part: Computation | None) -> None:
        self._module = module
        self._part = part
        self._known: dict[tuple[Instruction, _Given], Affine | None] = {}

    def of(self, at: Instruction, given: _Given = ()) -> Affine | None:
        """Return a value of a computation whose parameters are given, or None if it is another function."""
        key = at, given
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._found(at, given)
        return self._known[key]

    def compared(self, root: Instruction, given: _Given = ()) -> tuple[str, Affine, Affine] | None:
        """Return the direction and both sides of the comparison that decides whether a loop goes on."""
        sides = self._operands(root, given)
        inner = self._called(root)
        if inner is not None:
            return self.compared(inner.root, sides)
        direction = root.attribute(_DIRECTION)
        if root.opcode != "compare" or direction is None or len(sides) != 2:  # noqa: PLR2004 - a comparison has two
            return None
        left, right = sides
        return None if left is None or right is None else (direction, left, right)

    def _found(self, at: Instruction, given: _Given) -> Affine | None:
        if at.opcode == "constant":
            return (None, int(at.argument)) if _WHOLE.fullmatch(at.argument.strip()) else None
        if at.opcode == "parameter":
            number = int(at.argument)
            return given[number] if number < len(given) else None
        if at.opcode == "get-tuple-element":
            return self._element(at)
        sides = self._operands(at, given)
        if at.opcode in _PASSED_ON and sides:
            return sides[0]
        if at.opcode in {"add", "subtract"}:
            return _sum(sides, 1 if at.opcode == "add" else -1)
        inner = self._called(at)
        return None if inner is None else self.of(inner.root, sides)

    def _element(self, at: Instruction) -> Affine | None:
        index = at.attribute(_INDEX)
        is_state = at.within is self._part and at.inputs[0].opcode == "parameter"
        return (int(index), 0) if is_state and index is not None else None

    def _operands(self, at: Instruction, given: _Given) -> _Given:
        return tuple(self.of(each, given) for each in at.inputs)

    def _called(self, at: Instruction) -> Computation | None:
        found = self._module.called(at, {"fusion": "calls", "call": "to_apply"}.get(at.opcode, ""))
        return found[0] if len(found) == 1 else None


def _sum(sides: _Given, sign: int) -> Affine | None:
    terms = [side for side in sides if side is not None]
    if len(terms) != 2 or len(sides) != 2:  # noqa: PLR2004 - a sum has two terms
        return None
    (left, number), (right, other) = terms
    if right is not None and (left is not None or sign < 0):
        return None
    return (right if left is None else left), number + sign * other


def _iterations(direction: str, at_start: int, growth: int) -> int | None:
    """Return for how many steps ``at_start + growth x step`` stays on one side of zero; None if for ever.

    Examples
    --------
    >>> _iterations("LT", -10, 1), _iterations("GE", 9, -2), _iterations("NE", 6, -2), _iterations("LT", -1, 0)
    (10, 5, 3, None)
    """
    if direction == "NE":
        steps, rest = divmod(-at_start, growth) if growth else (0, 1)
        return 0 if at_start == 0 else steps if steps > 0 and not rest else None
    if direction in {"GT", "GE"}:
        at_start, growth = -at_start, -growth
    elif direction not in {"LT", "LE"}:
        return None
    # "At most zero" is "less than one" for whole numbers.
    at_start -= direction in {"LE", "GE"}
    if at_start >= 0:
        return 0
    return -(at_start // growth) if growth > 0 else None
