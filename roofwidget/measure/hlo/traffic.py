"""Bytes of main memory that HLO instructions move, and bytes that collectives send.

An instruction reads each of its operands once, even if it takes one twice, and writes its results; nothing is cached
between instructions. What an instruction does not touch does not count: a gather or a slice reads as much as it
returns, and an update in place reads and writes the updates. This holds inside fusions too, where XLA's own analysis
charges a gather or a scatter with the whole table. Tuples and bitcasts move nothing. Arrays in the chip's own memory
count no bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final

from roofwidget.measure.hlo.flops import COLLECTIVES, is_free, library_call
from roofwidget.measure.hlo.text import Array, Computation, Instruction, Module, arrays

_GROUPS: Final = re.compile(r"\breplica_groups=\{(\{[\d,{} ]*\})\}")
_GROUP_GRID: Final = re.compile(r"\breplica_groups=\[(\d{1,9}),(\d{1,9})\]")
_ALIAS: Final = re.compile(r"\{([\d, ]*)\}:\s*\(")
_ALIASES: Final = re.compile(r"input_output_alias=\{(.*?)\}(?:, \w+=|$)")
_PARTITIONS: Final = re.compile(r"\bnum_partitions=(\d{1,9})")
_REPLICAS: Final = re.compile(r"\breplica_count=(\d{1,9})")
_PARTIAL_READS: Final = frozenset({"dynamic-slice", "gather", "slice"})
_UPDATES: Final = frozenset({"dynamic-update-slice", "scatter"})


def ranks(module: Module) -> int:
    """Return on how many chips a program runs."""
    found = [pattern.search(module.header) for pattern in (_PARTITIONS, _REPLICAS)]
    return math.prod(int(each[1]) for each in found if each)


class Traffic:
    """Bytes that the instructions of one program move."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._touched: dict[Instruction, int] = {}
        self._unfused: dict[str, int] = {}
        instructions = [each for part in module.computations.values() for each in part.instructions.values()]
        self._fused_names = {
            part.name for each in instructions if each.opcode == "fusion" for part in self._called(each)
        }

    def read(self, at: Instruction) -> int:
        """Return the bytes that one execution of an instruction reads from main memory."""
        if is_free(at):
            return 0
        # Inside a fusion, the text does not say where an operand is; at the fusion it does.
        return sum(min(self._size(each.results), self._part_read(at, each)) for each in dict.fromkeys(at.inputs))

    def written(self, at: Instruction) -> int:
        """Return the bytes that one execution of an instruction writes to main memory."""
        if is_free(at):
            return 0
        if at.opcode == "fusion":
            return self._written_by(self.fused(at).root, at.results)
        if at.opcode in _UPDATES:
            return min(self._update_bytes(at), self._size(at.results))
        return self._size(outputs(at))

    def unfused(self, at: Instruction) -> int:
        """Return the bytes of an instruction if each instruction that it fuses ran on its own."""
        if at.opcode != "fusion":
            return self.read(at) + self.written(at)
        inner = self.fused(at)
        if inner.name not in self._unfused:
            self._unfused[inner.name] = sum(map(self.unfused, inner.instructions.values()))
        return self._unfused[inner.name]

    def compulsory(self) -> int:
        """Return the bytes that the program must move: of its inputs what it uses, and its outputs, each once.

        An output that XLA updates in its input's place counts as its updates.
        """
        entry = self._module.entry
        used = sum(map(self.touched, entry.parameters.values()))
        parts = entry.root.inputs if entry.root.opcode == "tuple" else (entry.root,)
        aliased = _aliased_outputs(self._module.header)
        total = 0
        for number, part in enumerate(parts):
            in_place = str(number) in aliased or "" in aliased
            total += self._output_bytes(part) if in_place else self._size(part.results)
        return used + total

    def network(self, at: Instruction) -> int | None:
        """Return the bytes that one chip sends over its link; None if the number of chips is unknown.

        With n chips in a group: all-reduce 2 (n - 1)/n of its operands, reduce-scatter and all-to-all (n - 1)/n of
        them, all-gather (n - 1)/n of its results, the others all of their operands. A fusion sends what the collectives
        in it send. On TPUs a reduce-scatter is a fusion ``all-reduce-scatter`` of an all-reduce and a slice.
        """
        if at.opcode == "fusion":
            return self._network_of(self.fused(at))
        if at.kind not in COLLECTIVES:
            return 0
        held = sum(each.result_bytes for each in at.inputs)
        if at.kind in {"collective-broadcast", "collective-permute"}:
            return held
        if at.kind in {"recv", "send"}:
            is_send_to_host = "is_host_transfer=true" in at.attributes
            return 0 if at.kind == "recv" or is_send_to_host else held
        group = self._group(at)
        if group is None:
            return None
        size = sum(array.bytes for array in outputs(at)) if at.kind == "all-gather" else held
        turns = 2 if at.kind == "all-reduce" and not at.within.name.startswith("all-reduce-scatter") else 1
        return turns * size * (group - 1) // group

    def _network_of(self, computation: Computation) -> int | None:
        found = list(map(self.network, computation.instructions.values()))
        known = [sent for sent in found if sent is not None]
        return sum(known) if len(known) == len(found) else None

    def touched(self, at: Instruction) -> int:
        """Return how many bytes of a value in main memory its users read; at most the whole value."""
        if at not in self._touched:
            size = self._size(at.results)
            is_root = at is at.within.root
            self._touched[at] = size if is_root else min(sum(self._part_read(user, at) for user in at.users), size)
        return self._touched[at]

    def fused(self, at: Instruction) -> Computation:
        """Return the computation that a fusion runs.

        Raises
        ------
        ValueError
            If the fusion names none; the message names the line.
        """
        called = self._called(at)
        if len(called) != 1:
            raise ValueError(f"HLO text, line {at.line}: expected 'calls=' and a computation in fusion '{at.name}'")
        return called[0]

    def _called(self, at: Instruction) -> list[Computation]:
        return self._module.called(at, "calls") or self._module.called(at, "to_apply")

    def _size(self, of: Iterable[Array]) -> int:
        return sum(array.bytes for array in of if self._module.in_main_memory(array))

    def _part_read(self, user: Instruction, at: Instruction) -> int:
        """Return how many bytes of a value one user reads."""
        place = user.operands.index(at.name)
        if user.kind in _PARTIAL_READS and place == 0:
            return sum(array.bytes for array in outputs(user))
        if user.opcode in _UPDATES and place < _targets(user):
            return self._target_read(user, place)
        if user.opcode in {"bitcast", "get-tuple-element"}:
            return self.touched(user)
        if user.opcode in {"async-start", "call", "fusion"} and len(inner := self._called(user)) == 1:
            inside = inner[0].parameters
            numbers = [number for number, operand in enumerate(user.operands) if operand == at.name]
            return sum(self.touched(inside[each]) for each in numbers if each in inside)
        return at.result_bytes

    def _target_read(self, user: Instruction, place: int) -> int:
        """Return the bytes that an update reads of the array that it changes.

        XLA updates in place, except in the middle of a fusion: there the result is a new array.
        """
        if user.within.name in self._fused_names and not self._is_result(user):
            return user.results[place].bytes if place < len(user.results) else 0
        # A scatter combines old and new values.
        return _updates(user)[place].result_bytes if user.opcode == "scatter" else 0

    def _is_result(self, at: Instruction) -> bool:
        """Whether an instruction is a result of its computation, and nothing in there uses it."""
        only_passed = all(each.opcode in {"bitcast", "tuple"} and self._is_result(each) for each in at.users)
        return at is at.within.root or (bool(at.users) and only_passed)

    def _update_bytes(self, at: Instruction) -> int:
        """Return the bytes of the elements that an update in place changes."""
        return sum(each.result_bytes for each in _updates(at))

    def _written_by(self, root: Instruction, results: tuple[Array, ...]) -> int:
        parts = root.inputs if root.opcode == "tuple" else (root,)
        if len(parts) != len(results):
            return self._size(results)
        pairs = zip(parts, results, strict=True)
        return sum(self._output_bytes(part) for part, array in pairs if self._module.in_main_memory(array))

    def _output_bytes(self, part: Instruction) -> int:
        """Return the bytes of a result: of one that is updated in place, the updates."""
        source = part
        while source.opcode == "bitcast":
            source = source.inputs[0]
        whole = part.result_bytes
        if source.opcode in _UPDATES:
            return min(self._update_bytes(source), whole)
        if source.opcode == "fusion":
            return min(self._written_by(self.fused(source).root, source.results), whole)
        return whole

    def _group(self, at: Instruction) -> int | None:
        """Return the number of chips that take part in a collective."""
        listed = at.attribute(_GROUPS)
        if listed is not None:
            return max(len(re.findall(r"\d+", group)) for group in listed.split("}"))
        grid = _GROUP_GRID.search(at.attributes)
        if grid:
            return int(grid[2])
        everyone = ranks(self._module)
        return everyone if everyone > 1 else None


def outputs(at: Instruction) -> tuple[Array, ...]:
    """Return the arrays that an instruction writes.

    The first half of an asynchronous pair also returns its operands, and a library's call its scratch memory: these are
    left out.
    """
    if at.opcode == "custom-call" and at.results:
        return at.results[: len(library_call(at).outputs)]
    if at.opcode.endswith("-start") and at.kind != "all-reduce" and isinstance(at.shape, tuple) and len(at.shape) > 1:
        # A copy returns (target, source, context), all others (operands, results, context).
        return tuple(arrays(at.shape[0 if at.kind == "copy" else 1]))
    return at.results


def _targets(at: Instruction) -> int:
    """Return how many arrays an update changes: a scatter of n arrays takes these, the indices and n updates."""
    return 1 if at.opcode == "dynamic-update-slice" else max((len(at.operands) - 1) // 2, 0)


def _updates(at: Instruction) -> tuple[Instruction, ...]:
    """Return the operands that have the new values."""
    count = _targets(at)
    first = count if at.opcode == "dynamic-update-slice" else count + 1
    return at.inputs[first : first + count]


def _aliased_outputs(header: str) -> set[str]:
    """Return the numbers of the outputs that share memory with an input; "" stands for a program's only output."""
    found = _ALIASES.search(header)
    return {place.split(",")[0].strip() for place in _ALIAS.findall(found[1])} if found else set()
