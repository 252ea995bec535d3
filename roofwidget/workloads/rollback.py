"""All or nothing: what an operator began to build is taken back if it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from roofwidget.workloads.op import Op

__all__ = ["rolled_back_on_error"]


@contextmanager
def rolled_back_on_error(
    ops: dict[str, Op], tables: Sequence[dict[Any, Any]], consumers: dict[str, list[Op]]
) -> Iterator[None]:
    """Restore ops and tables, which only grow, and the consumers of tensors, if the body raises."""
    grown = (ops, *tables)
    before = [len(table) for table in grown]
    try:
        yield
    except BaseException:
        for table, length in zip(grown, before, strict=True):
            while len(table) > length:
                table.popitem()
        for name, readers in list(consumers.items()):
            readers[:] = [op for op in readers if ops.get(op.name) is op]
            if not readers:
                del consumers[name]
        raise
