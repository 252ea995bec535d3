"""The bytes of one operation: what it reads and what it writes if nothing is cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from roofwidget.measure.counts import Request
from roofwidget.measure.torch import counter

MIB4 = 4_194_304
SIDE = 1024


def tensors() -> tuple[Any, Any]:
    return torch.ones(SIDE, SIDE), torch.ones(SIDE, SIDE)


def moved(function: Callable[..., Any], *args: Any) -> tuple[int, int]:
    """Return the bytes read and written, which are the same for fake tensors."""
    counts = counter.count(function, args, {}, Request(timing=None))
    fake = counter.count_without_running(function, args, {}, Request(timing=None))
    assert fake.ops == counts.ops
    assert fake.compulsory_bytes == counts.compulsory_bytes
    return sum(op.bytes_read or 0 for op in counts.ops), sum(op.bytes_written or 0 for op in counts.ops)


@pytest.mark.parametrize(
    ("function", "read", "written"),
    [
        (lambda a, b: a + b, 2 * MIB4, MIB4),
        (lambda a, b: a.add_(b), 2 * MIB4, MIB4),
        (lambda a, _: a + a, MIB4, MIB4),
        (lambda a, _: a.relu_(), MIB4, MIB4),
        (lambda a, _: a.view(-1), 0, 0),
        (lambda a, _: a.t(), 0, 0),
        (lambda a, _: a[1:, ::2], 0, 0),
        (lambda a, _: a.detach(), 0, 0),
        (lambda a, _: a.t_(), 0, 0),
        (lambda a, _: a.t().contiguous(), MIB4, MIB4),
        (lambda a, b: a + b[:1].expand(SIDE, SIDE), MIB4 + 4096, MIB4),
        (lambda a, b: a + b[0], MIB4 + 4096, MIB4),
        (lambda a, b: a + b[:, :1].expand(SIDE, SIDE), MIB4 + 4096, MIB4),
        (lambda a, b: torch.add(a, a, out=b), MIB4, MIB4),
        (lambda a, b: torch.add(a, b, out=a), 2 * MIB4, MIB4),
        (lambda a, b: torch.mm(a, a, out=b), MIB4, MIB4),
        (lambda a, b: a.copy_(b), MIB4, MIB4),
        (lambda a, _: a.fill_(2.0), 0, MIB4),
        (lambda a, _: a.zero_(), 0, MIB4),
        (lambda a, _: a.normal_(), 0, MIB4),
        (lambda a, _: torch.zeros_like(a), 0, MIB4),
        (lambda a, _: torch.empty_like(a), 0, 0),
        (lambda a, _: a.double(), MIB4, 2 * MIB4),
        (lambda a, _: a > 0, MIB4, MIB4 // 4),
        (lambda a, b: torch.cat([a, b]), 2 * MIB4, 2 * MIB4),
        (lambda a, _: a[0].unfold(0, 4, 1).sum(), 4096, 4),
        (lambda a, b: torch._foreach_add_([a, b], 1.0), 2 * MIB4, 2 * MIB4),
    ],
)
def test_an_operation_on_matrices_moves_its_known_bytes(function: Any, read: int, written: int) -> None:
    assert moved(function, *tensors()) == (read, written)


def test_an_embedding_reads_the_rows_it_looks_up() -> None:
    assert moved(nn.Embedding(50_000, 1024), torch.arange(16)) == (65_664, 65_536)


@pytest.mark.parametrize(
    "look_up",
    [
        lambda table, index: table[index],
        lambda table, index: table.index_select(0, index),
        lambda table, index: torch.gather(table, 0, index[:, None].expand(-1, SIDE).contiguous())[:0],
    ],
)
def test_a_look_up_does_not_read_the_whole_table(look_up: Any) -> None:
    read, _ = moved(look_up, torch.ones(SIDE, SIDE), torch.arange(2))
    assert read < MIB4 // 100


def test_a_bag_of_embeddings_reads_the_rows_it_sums() -> None:
    table, tokens, offsets = torch.ones(1000, 64), torch.arange(8), torch.tensor([0, 4])
    counts = counter.count(nn.functional.embedding_bag, (tokens, table, offsets), {}, Request(timing=None))
    (op,) = (op for op in counts.ops if "embedding_bag" in op.name)
    assert op.bytes_read == 8 * 64 * 4 + 8 * (8 + 2)


@pytest.mark.parametrize(
    ("change", "read", "written"),
    [
        (lambda a: a.index_copy_(0, torch.tensor([3]), torch.ones(1, SIDE)), 4096 + 8, 4096),
        (lambda a: a.index_add_(0, torch.tensor([3]), torch.ones(1, SIDE)), 2 * 4096 + 8, 4096),
        (lambda a: a.index_fill_(0, torch.tensor([3, 5]), 1.0), 16, 2 * 4096),
        (lambda a: a.index_put_((torch.tensor([3]),), torch.ones(1, SIDE)), 4096 + 8, 4096),
        (lambda a: a.index_put_((torch.tensor([3]),), torch.ones(1, SIDE), accumulate=True), 2 * 4096 + 8, 4096),
        (lambda a: a.scatter_(0, torch.zeros(1, 8, dtype=torch.int64), 1.0), 64, 32),
        (lambda a: a.scatter_add_(0, torch.zeros(1, 8, dtype=torch.int64), torch.ones(1, 8)), 64 + 32 + 32, 32),
    ],
)
def test_a_change_of_some_elements_moves_those_elements(change: Any, read: int, written: int) -> None:
    counts = counter.count(change, (torch.ones(SIDE, SIDE),), {}, Request(timing=None))
    op = next(op for op in counts.ops if op.name.startswith(("index", "scatter")))
    assert (op.bytes_read, op.bytes_written) == (read, written)
