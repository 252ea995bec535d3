"""The part of an on-chip memory that one unit may use, and its form on the wire."""

from __future__ import annotations

from roofwidget.chips import Chip, Memory, Share, chip, chips, share_on_chip
from roofwidget.wire import chips_to_wire

L2 = Memory("L2", None, 4e6)


def made(*memories: Memory, units: str | None = None) -> Chip:
    return Chip("c", {"bf16": 1e12}, {"HBM": 1e12, **{memory.name: memory for memory in memories}}, units=units)


def test_a_unit_has_its_share_of_the_nearest_memory() -> None:
    smem = Memory("SMEM", None, 1e6)
    assert share_on_chip(made(L2, units="4 SM")) == Share("L2", 1e6, 4)
    assert share_on_chip(made(L2, smem, units="10 SM")) == Share("SMEM", 1e5, 10)
    assert share_on_chip(made(smem, L2)) == Share("SMEM", 1e6)


def test_a_share_is_unknown_without_a_capacity_on_chip() -> None:
    assert share_on_chip(made()) is None
    assert share_on_chip(made(Memory("L1", 1e13, None))) is None
    assert share_on_chip(Chip("c", {"bf16": 1e12}, {"HBM": Memory("HBM", 1e12, 8e10)})) is None


def test_a_streaming_multiprocessor_of_an_h100_keeps_256_kib() -> None:
    assert share_on_chip(chip("h100-sxm")) == Share("L1", 262_144, 132)


def test_the_wire_has_a_level_bytes_and_units_or_nothing() -> None:
    known, bare = chips_to_wire([made(L2, units="4 SM"), made()])
    assert known["share"] == ["L2", 1e6, 4]
    assert bare["share"] is None


def test_the_wire_has_a_share_of_every_chip_that_python_has_one_of() -> None:
    known = chips()
    shares = [share_on_chip(one) for one in known]
    sent = [one["share"] for one in chips_to_wire(known)]
    assert sent == [one and [one.level, one.capacity, one.units] for one in shares]
    assert sum(one is not None for one in sent) > len(known) / 2
