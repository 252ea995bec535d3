"""Parses HLO text, as XLA prints its programs, into computations and instructions.

Both forms are read: the compiled program (``compiled.as_text()``, XLA's dumps) and the program before optimisation
(``lowered.as_text(dialect="hlo")``), whose names have no ``%``. An example::

    HloModule jit_f

    %fused (p: f32[8]) -> f32[8] {
      %p = f32[8]{0} parameter(0)
      ROOT %tanh.1 = f32[8]{0} tanh(%p)
    }

    ENTRY %main (x: f32[8]) -> f32[8] {
      %x = f32[8]{0} parameter(0)
      ROOT %tanh_fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from roofwidget.readers.xprof.hlo import ArrayShape, closing
from roofwidget.support.arguments import shown_value, text_argument

HOST_SPACE: Final = 5
"""The memory space of XLA that is the host's memory."""
_MAX_ELEMENTS: Final = 2**63
_MAX_NESTED_TUPLES: Final = 100

_HEAD_EXAMPLE: Final = "the head of a computation, such as '%main (x: f32[8]) -> f32[8] {'"
_INSTRUCTION_EXAMPLE: Final = "an instruction, such as '%y = f32[8]{0} add(%x, %x)'"
_COMPUTATION: Final = re.compile(r"(ENTRY\s+)?%?([^\s(){}=,]+)\s*(?:\(.*)?\{$")
_NAME: Final = re.compile(r"(ROOT\s+)?%?([^\s(){}=,]+)\s*=\s*")
_OPCODE: Final = re.compile(r"\s*([a-z][a-z0-9-]*)\(")
_ARRAY: Final = re.compile(r"([a-z][a-z0-9]*)\[([\d,<= ?]*)\](?:\{([^{}]*)\})?")
_SIZE: Final = re.compile(r"\d{1,18}")
_SPACE: Final = re.compile(r"S\((\d{1,3})\)")
_COMMENT: Final = re.compile(r"/\*.*?\*/")
_MARKED_NAME: Final = re.compile(r"%([^\s(){}=,]+)")
_BETWEEN_NAMES: Final = re.compile(r"[\s,()]+")
# Tables of file names and source lines stand between the header and the first computation.
_TABLE_LINE: Final = re.compile(r"\d+ |(?:FileNames|FunctionNames|FileLocations|StackFrames)$")
_COMMENT_LINE: Final = "//"
_MLIR: Final = re.compile(r"\s*(?:module\b.*\{|#loc|func\.func)")
_WITHOUT_OPERANDS: Final = frozenset({"constant", "parameter"})
_CALLED: Final = re.compile(
    r"\b(calls|to_apply|body|condition|true_computation|false_computation|branch_computations|called_computations)="
    r"(?:\{([^{}]*)\}|%?([^\s(){}=,]+))"
)
_METADATA: Final = re.compile(r'\bop_name="((?:[^"\\]|\\.)*)"')
_TARGET: Final = re.compile(r'custom_call_target="([^"]*)"')


@dataclass(frozen=True)
class Array(ArrayShape):
    """The shape of an array and XLA's number of the memory that holds it: 0 for main memory, 5 for the host's."""

    space: int = 0
    is_dynamic: bool = False

    @cached_property
    def bytes(self) -> int:
        """The size in bytes."""
        return super().bytes


Shape: TypeAlias = "Array | tuple[Shape, ...]"
"""The shape of a value: an array, or a tuple of shapes."""


def arrays(shape: Shape) -> Iterator[Array]:
    """Yield the arrays of a shape in order."""
    if isinstance(shape, Array):
        yield shape
    else:
        for part in shape:
            yield from arrays(part)


@dataclass(frozen=True, eq=False)
class Instruction:
    """One instruction.

    Parameters
    ----------
    name
        The name, without ``%``.
    opcode
        XLA's name of the operation, such as ``dot`` or ``fusion``.
    shape
        The shape of the result.
    operands
        The names of the operands.
    attributes
        The text after the operands.
    argument
        The text between the brackets of an instruction that has no operands: the number of a parameter, the value of a
        constant.
    line
        The number of the line, from 1.
    within
        The computation that it is a part of.
    """

    name: str
    opcode: str
    shape: Shape
    operands: tuple[str, ...]
    attributes: str
    argument: str
    line: int
    within: Computation = field(repr=False)

    @cached_property
    def inputs(self) -> tuple[Instruction, ...]:
        """The instructions that make the operands."""
        return tuple(self.within.instructions[name] for name in self.operands)

    @property
    def users(self) -> list[Instruction]:
        """The instructions that use the result."""
        return self.within.users.get(self.name, [])

    @cached_property
    def results(self) -> tuple[Array, ...]:
        """The arrays of the result."""
        return tuple(arrays(self.shape))

    @cached_property
    def result_bytes(self) -> int:
        """The bytes of all results."""
        return sum(array.bytes for array in self.results)

    @cached_property
    def called(self) -> dict[str, tuple[str, ...]]:
        """The names of the computations that the instruction uses, by attribute: ``calls``, ``to_apply``, ``body``."""
        return {
            attribute: (one,) if one else tuple(_names(several))
            for attribute, several, one in _CALLED.findall(self.attributes)
        }

    @property
    def kind(self) -> str:
        """The opcode; of an asynchronous pair, the first half has the opcode of what it starts."""
        return self.opcode.removesuffix("-start")

    @property
    def op_name(self) -> str:
        """The path that JAX gave the operation, such as ``jit(f)/layer/dot_general``; empty without one."""
        found = _METADATA.search(self.attributes)
        return found[1] if found else ""

    @property
    def target(self) -> str:
        """What a custom call calls; empty for other instructions."""
        found = _TARGET.search(self.attributes) if self.opcode == "custom-call" else None
        return found[1] if found else ""

    def attribute(self, pattern: re.Pattern[str]) -> str | None:
        """Return the first group of a pattern in the attributes, or None."""
        found = pattern.search(self.attributes)
        return found[1] if found else None


@dataclass
class Computation:
    """A list of instructions, by name and in the order in which they run. `root` is the result."""

    name: str
    line: int
    instructions: dict[str, Instruction] = field(default_factory=dict)
    root: Instruction = field(init=False)

    @cached_property
    def parameters(self) -> dict[int, Instruction]:
        """The parameters by their number."""
        found = (each for each in self.instructions.values() if each.opcode == "parameter")
        return {int(each.argument): each for each in found}

    @cached_property
    def users(self) -> dict[str, list[Instruction]]:
        """The instructions that use a value, by the value's name."""
        found: dict[str, list[Instruction]] = {}
        for each in self.instructions.values():
            for name in dict.fromkeys(each.operands):
                found.setdefault(name, []).append(each)
        return found


@dataclass
class Module:
    """A program.

    Parameters
    ----------
    name, header
        The name, and the first line.
    computations, entry
        The computations by name, and the one that runs.
    has_tiles
        Whether layouts have tiles: only those of TPUs do.
    """

    name: str
    header: str
    computations: dict[str, Computation]
    entry: Computation
    has_tiles: bool = False

    def in_main_memory(self, array: Array) -> bool:
        """Whether the main memory holds an array, and not the chip's own memory or the host's.

        On a TPU the spaces above 0 are on the chip, except the host's. On a GPU, space 1 is main memory, where
        collectives find their data.
        """
        return not array.space or (array.space != HOST_SPACE and not self.has_tiles)

    def computation(self, name: str, at: Instruction) -> Computation:
        """Return a computation that an instruction uses.

        Raises
        ------
        ValueError
            If the text has no such computation; the message names the line.
        """
        if name not in self.computations:
            raise ValueError(f"HLO text, line {at.line}: '{at.name}' uses computation '{name}', which the text lacks")
        return self.computations[name]

    def called(self, at: Instruction, *attributes: str) -> list[Computation]:
        """Return the computations that some attributes of an instruction name."""
        return [self.computation(name, at) for attribute in attributes for name in at.called.get(attribute, ())]


def parse(text: str) -> Module:
    """Parse the text of one program.

    Raises
    ------
    TypeError
        If the argument is not text.
    ValueError
        If a line is not HLO, or the program is incomplete: the message names the line and what was expected.

    Examples
    --------
    >>> program = parse('''HloModule jit_f
    ... ENTRY %main (x: f32[2,8]) -> f32[2,2] {
    ...   %x = f32[2,8]{1,0} parameter(0)
    ...   ROOT %dot.1 = f32[2,2]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
    ... }''')
    >>> program.name, program.entry.root.opcode, program.entry.root.operands
    ('jit_f', 'dot', ('x', 'x'))
    """
    return _Parser().parse(text_argument(text, "HLO text"))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, without comments. A line that ends with a comma or a bracket goes on in the next.

    XLA prints an instruction in one line; people break lines.
    """
    parts: list[str] = []
    start = 1
    for number, untrimmed in enumerate(text.split("\n"), 1):
        line = untrimmed.strip()
        if not line or line.startswith(_COMMENT_LINE):
            continue
        if not parts:
            start = number
        parts.append(line)
        if not line.endswith((",", "(")):
            yield start, " ".join(parts)
            parts = []
    if parts:
        yield start, " ".join(parts)


class _Parser:
    def __init__(self) -> None:
        self.computations: dict[str, Computation] = {}
        self.header = ""
        self.entry: Computation | None = None
        # Few shapes are different, and their texts are long.
        self.shapes: dict[str, Shape] = {}
        self.has_tiles = False

    def parse(self, text: str) -> Module:
        current: Computation | None = None
        number = 0
        for number, line in _lines(text):
            if current is None:
                current = self._outside(line, number)
            elif line[0] == "}":
                self._check(current, number)
                current = None
            else:
                self._add(current, line, number)
        if current is not None:
            raise ValueError(
                f"HLO text, line {number}: expected '}}' at the end of '{current.name}', found no more text"
            )
        if self.entry is None:
            expected = "a computation that begins with 'ENTRY'"
            raise ValueError(f"HLO text, line {number or 1}: expected {expected}, found no more text")
        name = re.match(r"HloModule\s+([^\s,]+)", self.header)
        title = name[1] if name else self.entry.name
        return Module(title, self.header, self.computations, self.entry, self.has_tiles)

    def _outside(self, line: str, number: int) -> Computation | None:
        """Read a line between computations: the header, a table's line, or the head of a computation."""
        if line.startswith("HloModule"):
            if self.header:
                raise ValueError(f"HLO text, line {number}: expected one program, found a second 'HloModule'")
            self.header = line
            return None
        head = _COMPUTATION.match(line)
        if head is None:
            if self.header and not self.computations and _TABLE_LINE.match(line):
                return None
            raise _unexpected(number, _HEAD_EXAMPLE if self.header else "'HloModule name'", line)
        if head[2] in self.computations:
            raise ValueError(f"HLO text, line {number}: expected a new name, found a second computation '{head[2]}'")
        found = self.computations[head[2]] = Computation(head[2], number)
        if head[1]:
            if self.entry is not None:
                raise ValueError(f"HLO text, line {number}: expected one ENTRY, found a second one, '{head[2]}'")
            self.entry = found
        return found

    def _check(self, computation: Computation, number: int) -> None:
        if "root" not in vars(computation):
            expected = "an instruction that begins with 'ROOT'"
            raise ValueError(f"HLO text, line {number}: expected {expected} in '{computation.name}', found its end")

    def _add(self, computation: Computation, line: str, number: int) -> None:
        name = _NAME.match(line)
        if name is None:
            raise _unexpected(number, _INSTRUCTION_EXAMPLE, line)
        shape_text, end = self._shape_text(line, name.end(), number)
        opcode = _OPCODE.match(line, end)
        close = closing(line, opcode.end() - 1) if opcode else -1
        if opcode is None or close < 0:
            raise _unexpected(number, _INSTRUCTION_EXAMPLE, line)
        between = line[opcode.end() : close - 1]
        operands = () if opcode[1] in _WITHOUT_OPERANDS else tuple(_names(between))
        known = computation.instructions
        for operand in operands:
            if operand not in known:
                raise _unexpected(number, f"an operand that is defined above line {number}", f"%{operand}")
        if opcode[1] == "parameter" and not between.strip().isdecimal():
            raise _unexpected(number, "the number of a parameter", line)
        if name[2] in known:
            raise ValueError(f"HLO text, line {number}: expected a new name, found a second '{name[2]}'")
        shape = self._shape(shape_text, number)
        argument = "" if operands else between
        found = Instruction(name[2], opcode[1], shape, operands, line[close:], argument, number, computation)
        known[found.name] = found
        if name[1]:
            computation.root = found

    def _shape_text(self, line: str, start: int, number: int) -> tuple[str, int]:
        if line[start : start + 1] == "(":
            end = closing(line, start)
        else:
            found = _ARRAY.match(line, start)
            end = found.end() if found else -1
        if end < 0:
            raise _unexpected(number, _INSTRUCTION_EXAMPLE, line)
        return line[start:end], end

    def _shape(self, text: str, number: int) -> Shape:
        if text not in self.shapes:
            self.shapes[text] = self._parsed_shape(text, number)
        return self.shapes[text]

    def _parsed_shape(self, text: str, number: int) -> Shape:
        """Return a shape: an array, or tuples in brackets, nested to any depth."""
        plain = _COMMENT.sub("", text)
        open_tuples: list[list[Shape]] = [[]]
        at = 0
        while at < len(plain):
            if plain[at] == "(" and len(open_tuples) <= _MAX_NESTED_TUPLES:
                open_tuples.append([])
            elif plain[at] == ")" and len(open_tuples) > 1:
                done = tuple(open_tuples.pop())
                open_tuples[-1].append(done)
            elif plain[at] not in ", ":
                found = _ARRAY.match(plain, at)
                if found is None:
                    raise _unexpected(number, "a shape, such as 'f32[8,4]{1,0}'", plain[at:])
                open_tuples[-1].append(_array(found, number))
                self.has_tiles = self.has_tiles or ":T(" in (found[3] or "")
                at = found.end() - 1
            at += 1
        return open_tuples[0][0]


def _array(found: re.Match[str], number: int) -> Array:
    dtype, sizes, layout = found.groups()
    # A dynamic dimension such as "<=1024" counts with its upper limit.
    dims = tuple(int(digits) for digits in _SIZE.findall(sizes))
    space = _SPACE.search(layout) if layout and ":" in layout else None
    array = Array(dtype, dims, int(space[1]) if space else 0, "<" in sizes or "?" in sizes)
    if array.elements > _MAX_ELEMENTS:
        raise _unexpected(number, "an array of at most 2^63 elements", found[0])
    return array


def _names(text: str) -> Iterator[str]:
    """Yield the names in a list of operands or of computations, with or without ``%`` and shapes."""
    if "%" in text:
        yield from _MARKED_NAME.findall(text)
    elif text.strip():
        plain = _ARRAY.sub("", _COMMENT.sub("", text))
        yield from (name for name in _BETWEEN_NAMES.split(plain) if name)


def _unexpected(number: int, expected: str, found: str) -> ValueError:
    hint = "; this is MLIR: give lowered.as_text(dialect='hlo')" if _MLIR.match(found) else ""
    return ValueError(f"HLO text, line {number}: expected {expected}, found {shown_value(found)}{hint}")
