"""The part of an on-chip memory that one unit may use, and its form on the wire."""

from __future__ import annotations

import pytest

from roofwidget.chips import Chip, Memory, Share, chip, chips, share_on_chip, shared_on_chip
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


@pytest.mark.parametrize(
    ("name", "kib"),
    [
        # CUDA Programming Guide: maximum shared memory of a block, by compute capability (6.0, 7.0, 7.5, 8.0, 8.6 …).
        ("p100-sxm2", 48),
        ("v100-sxm2-16gb", 96),
        ("t4", 64),
        ("a100-sxm-80gb", 163),
        ("a40", 99),
        ("a10g", 99),
        ("rtx-4090", 99),
        ("h100-sxm", 227),
        ("h20", 227),
        ("b200", 227),
        ("rtx-5090", 99),
    ],
)
def test_a_block_of_threads_keeps_what_cuda_lets_it_allocate_not_the_whole_l1(name: str, kib: int) -> None:
    one = chip(name)
    assert one.units is not None
    assert share_on_chip(one) == Share("L1", kib * 2**10, int(one.units.split()[0]))


def test_a_compute_unit_of_an_mi355x_keeps_its_whole_lds() -> None:
    assert share_on_chip(chip("mi355x")) == Share("LDS", 160 * 2**10, 256)


def test_what_all_units_share_is_the_l2_and_does_not_depend_on_a_block() -> None:
    assert shared_on_chip(chip("h100-sxm")) == 52_428_800
    own = Memory("L1", None, 4 * 2**18, per_block=227 * 2**10)
    assert shared_on_chip(made(own, units="4 SM")) == 4 * 227 * 2**10


def test_the_wire_has_a_level_its_bytes_the_units_and_what_they_share_or_nothing() -> None:
    known, bare = chips_to_wire([made(L2, units="4 SM"), made()])
    assert (known["share"], known["shared"]) == (["L2", 1e6, 4], 4e6)
    assert (bare["share"], bare["shared"]) == (None, None)


def test_the_wire_has_a_share_of_every_chip_that_python_has_one_of() -> None:
    known = chips()
    shares = [(share_on_chip(one), shared_on_chip(one)) for one in known]
    sent = [(one["share"], one["shared"]) for one in chips_to_wire(known)]
    assert sent == [([one.level, one.capacity, one.units], shared) if one else (None, None) for one, shared in shares]
    assert sum(one is not None for one in sent) > len(known) / 2
