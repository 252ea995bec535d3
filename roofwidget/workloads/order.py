"""Whether operations come in an order in which they can run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from roofwidget.workloads.op import Op

__all__ = ["check_order"]


def check_order(ops: Sequence[Op]) -> None:
    """Raise `ValueError` if ops form a cycle, or one comes before another that writes what it reads."""
    place = {tensor.name: index for index, op in reversed(list(enumerate(ops))) for tensor in op.outputs}
    late = [
        (op, tensor.name, ops[place[tensor.name]])
        for index, op in enumerate(ops)
        for tensor in op.inputs
        if place.get(tensor.name, -1) >= index
    ]
    if not late:
        return
    cycle = _cycle(ops)
    if cycle:
        path = "".join(f" -> '{tensor}' -> {name}" for tensor, name in cycle)
        last = cycle[-1][1]
        msg = f"op '{last}' needs its own result: the ops form a cycle, {last}{path}; drop one of these reads"
        raise ValueError(msg)
    reader, tensor, writer = late[0]
    msg = f"op '{reader.name}' reads tensor '{tensor}' before op '{writer.name}' writes it; put '{writer.name}' first"
    raise ValueError(msg)


def _cycle(ops: Sequence[Op]) -> list[tuple[str, str]] | None:
    """Return the steps round one cycle, to the op that it starts from: a tensor and the op that reads it; or None."""
    writer = {tensor.name: op for op in ops for tensor in op.outputs}
    readers: dict[str, list[str]] = {op.name: [] for op in ops}
    missing = {op.name: 0 for op in ops}
    for op in ops:
        for name in {writer[t.name].name for t in op.inputs if t.name in writer}:
            readers[name].append(op.name)
            missing[op.name] += 1
    ready = [name for name, number in missing.items() if not number]
    while ready:
        for name in readers.pop(ready.pop()):
            missing[name] -= 1
            if not missing[name]:
                ready.append(name)
    if not readers:
        return None
    # What is left lies on a cycle or behind one; walking against the edges among it must come round.
    before = {name: next(n for n, followers in readers.items() if name in followers) for name in readers}
    path = [next(iter(readers))]
    while path.count(path[-1]) < 2:  # noqa: PLR2004 - it has come round
        path.append(before[path[-1]])
    shared = {(writer[t.name].name, op.name): t.name for op in ops for t in op.inputs if t.name in writer}
    return [(shared[step], step[1]) for step in pairwise(path[path.index(path[-1]) :][::-1])]
