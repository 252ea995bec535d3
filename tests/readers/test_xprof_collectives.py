"""Collectives of XLA: kind, message size and ranks from the text of an operation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.network import with_topology
from roofwidget.readers import read
from roofwidget.readers.xprof.collectives import collective
from roofwidget.readers.xprof.hlo import instruction
from tests.places import FIXTURES, write
from tests.tables import warns

STATS = FIXTURES / "xprof_calls.hlo_stats.json"
GROUPS = "replica_groups={{0,1,2,3},{4,5,6,7}}"


def found(line: str) -> Any:
    parsed = instruction(line)
    assert parsed is not None
    return collective(parsed)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"%r = f32[100] all-reduce(f32[100] %p), {GROUPS}, to_apply=%add", ("all-reduce", 400, 4)),
        (f"%r = (f32[8], bf16[6]) all-reduce(f32[8] %p, bf16[6] %q), {GROUPS}", ("all-reduce", 44, 4)),
        ("%g = bf16[64] all-gather(bf16[8] %p), replica_groups=[2,8]<=[16], dimensions={0}", ("all-gather", 128, 8)),
        ("%s = f32[8] reduce-scatter(f32[64] %p), replica_groups=[1,8]<=[8]", ("reduce-scatter", 256, 8)),
        (f"%a = s8[64] all-to-all(s8[64] %p), {GROUPS}", ("all-to-all", 64, 4)),
        ("%c = f32[5] collective-permute(f32[5] %p), source_target_pairs={{0,1},{1,0}}", ("send", 20, None)),
        ("%b = f32[5] collective-broadcast(f32[5] %p), replica_groups={{0,1}}", ("broadcast", 20, 2)),
        ("%r = f32[100] all-reduce(f32[100] %p), replica_groups={}, to_apply=%add", ("all-reduce", 400, None)),
    ],
)
def test_a_collective_has_its_kind_its_message_size_and_the_ranks_of_a_group(
    line: str, expected: tuple[str, int, int | None]
) -> None:
    assert found(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "%r = f32[100] add(f32[100] %p, f32[100] %q)",
        f"%r = f32[100] all-reduce-start(f32[100] %p), {GROUPS}",
        "%r = f32[100] all-reduce-done(f32[100] %s)",
    ],
)
def test_other_operations_and_halves_of_asynchronous_pairs_have_no_message(line: str) -> None:
    assert found(line) is None


def changed(tmp_path: Path, texts: dict[str, str]) -> rw.Kernels:
    """Return a profile in which operations have other texts."""
    document = json.loads(STATS.read_text(encoding="utf-8"))
    table = document[0] if isinstance(document, list) else document
    ids = [column["id"] for column in table["cols"]]
    for cells in (one["c"] for one in table["rows"]):
        name = cells[ids.index("hlo_op_name")]["v"]
        if name in texts:
            cells[ids.index("hlo_op_expression")]["v"] = texts[name]
    return read(write(tmp_path / "changed.json", document))


def test_a_profile_has_sizes_and_rates_and_counts_bytes_when_asked(tmp_path: Path) -> None:
    kernels = changed(tmp_path, {"loop_scale_fusion": f"%r = f32[1000] all-reduce(f32[1000] %p), {GROUPS}"})
    at = kernels.names.tolist().index("loop_scale_fusion")
    columns = ("collective", "message size (B)", "ranks")
    assert [kernels.extra[name][at] for name in columns] == ["all-reduce", 4000, 4]
    # 4 executions take 21.125 us.
    assert kernels.extra["bus bandwidth (B/s)"][at] == pytest.approx(1.5 * 4000 * 4 / 21.125e-6, rel=1e-12)
    assert np.isnan(kernels.network_bytes).all()
    assert warns(kernels, "collectives have message sizes and no bytes over the link")
    assert with_topology(kernels, "ring").network_bytes[at] == 4 * 1.5 * 4000


def test_halves_of_asynchronous_collectives_are_counted_in_a_warning(tmp_path: Path) -> None:
    kernels = changed(tmp_path, {"loop_scale_fusion": f"%r = f32[100] all-reduce-start(f32[100] %p), {GROUPS}"})
    assert "collective" not in kernels.extra
    assert warns(kernels, "1 operation of asynchronous collectives without message size: the transfer lasts from start")
