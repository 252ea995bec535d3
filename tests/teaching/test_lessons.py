"""What lessons state and their solutions print, held against their sources and formulas."""

from __future__ import annotations

from typing import Any

import pytest

import roofwidget as rw
from tests.places import ROOT, json_of

NOTEBOOKS = ROOT / "notebooks"


def cells_of(lesson: str) -> list[str]:
    """Return the code cells of a lesson."""
    content = json_of(NOTEBOOKS / lesson)
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def ran(cells: list[str]) -> dict[str, Any]:
    """Return the names that cells define."""
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell, names)  # noqa: S102 - the repository's own notebook
    return names


def test_the_solution_on_the_paper_of_2009_counts_the_kernels_that_a_machine_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Williams, Waterman, Patterson, CACM 52(4), page 74: no store without write-allocate on the T2+, DMA on Cell. Ridge
    # points 6.7, 4.4, 0.33 and 0.65 FLOP/B; a stencil with write-allocate has 0.333 FLOP/B.
    cells = cells_of("08_the_2009_paper.ipynb")
    ran([cells[0], cells[-1]])
    printed = [line.split(";")[0] for line in capsys.readouterr().out.splitlines() if "memory-bound" in line]
    assert [" ".join(line.split()) for line in printed] == [
        "Intel Xeon E5345 8 of 8 memory-bound, 0 at the ridge point",
        "AMD Opteron X4 2356 8 of 8 memory-bound, 0 at the ridge point",
        "Sun UltraSPARC T2+ 5120 2 of 5 memory-bound, 1 at the ridge point",
        "IBM Cell QS20 3 of 5 memory-bound, 0 at the ridge point",
    ]


def test_the_lesson_on_fusion_counts_what_the_kernels_of_the_feed_forward_block_move_and_repeat() -> None:
    names = ran(cells_of("03_fusion.ipynb")[:6])
    block, h100 = names["block"], names["h100"]
    # 4096 tokens of 4096 numbers, 16384 numbers between the products, bf16. The rates are those of an H100; its vector
    # units are 132 SMs with 512 FLOP in each of 1.98e9 cycles per second.
    tokens, narrow, wide = 4096, 4096, 16384
    ends, between, weight = 2 * tokens * narrow, 2 * tokens * wide, 2 * narrow * wide
    peak, vector, bandwidth = 989.5e12, 132 * 512 * 1.98e9, 3.35e12
    product = 2 * tokens * narrow * wide / peak
    up, down = product + 8 * tokens * wide / vector, product + 2 * tokens * narrow / vector
    # A tile of the result of up has at most half of the 232,448 B of a unit: 128 x 128 numbers of 2 B.
    layernorm = wide // 128 * (6 * narrow + 3) * tokens / vector
    unfused, fewest, fastest = (
        rw.Partition.unfused(block),
        rw.Partition(block, names["merge_block"].answer),
        rw.Partition.best(block, h100),
    )
    assert [one.total_bytes() for one in (unfused, fewest, fastest)] == [
        9 * ends + 4 * between + 2 * weight,
        3 * ends + 2 * between + 2 * weight,
        5 * ends + 2 * between + 2 * weight,
    ]
    assert [one.time(h100) for one in (unfused, fewest, fastest)] == pytest.approx(
        [
            2 * product + (7 * ends + 2 * between) / bandwidth,
            up + layernorm + down,
            2 * ends / bandwidth + up + down,
        ]
    )
    assert fewest.form("up", h100).times == {"layernorm": 128}
    assert fastest.groups == (("layernorm",), ("up", "gelu"), ("down", "dropout", "add"))
    said = " ".join([names["merge_block"].explanation, *names["again"].options.values(), names["hardly"].prompt])
    for text in ("0.64 GB", "1.11 GB", "1.14 ms instead of 1.21 ms", "20 µs", "96 µs", "36 %", "1.11 times"):
        assert text in said


def test_the_lesson_on_fusion_states_what_rows_of_two_products_need_on_chip() -> None:
    names = ran(cells_of("03_fusion.ipynb")[:6])
    joined = rw.Partition.unfused(names["block"]).fuse("up", "gelu", chip=names["h100"])
    refusal = joined.why_not("up", "down", chip=names["h100"])
    # 64 rows of the input, of 2 B, with 64 rows of the result or of what is between; and a tile of 64 x 64.
    result, middle = (64 * 2 * (4096 + kept + 64) for kept in (4096, 16384))
    assert (f"{result / 1e6:.2f}", f"{middle / 1e6:.2f}") == ("1.06", "2.63")
    assert refusal is not None
    for text in ("1.06 MB", "2.63 MB", "232 kB"):
        assert text in refusal.sentence
        assert text in names["fits"].options[names["fits"].answer]


def test_the_lesson_on_transformers_asks_for_the_fewest_bytes_and_shows_that_they_take_longer() -> None:
    (cell,) = (cell for cell in cells_of("04_transformers.ipynb") if "merge-feed-forward" in cell)
    names = ran(["import roofwidget as rw\nh100 = rw.chip('h100-sxm')", cell])
    layer, h100, fewest = names["layer"], names["h100"], rw.Partition(names["layer"], names["merge"].answer)
    best = rw.Partition.best(layer, h100)
    # 16384 tokens of 4096 numbers, 14336 numbers between the products, bf16, and the gains of the norm.
    ends, between, weights, gains = 2 * 16384 * 4096, 2 * 16384 * 14336, 3 * 2 * 4096 * 14336, 2 * 4096
    moved = [one.total_bytes() for one in (rw.Partition.unfused(layer), fewest, best)]
    assert moved == [
        2 * ends + 2 * (ends + between) + 3 * between + (between + ends) + 3 * ends + weights + gains,
        3 * ends + 2 * between + weights + gains,
        5 * ends + 2 * between + weights + gains,
    ]
    # Two results of 2 B share a tile: 128 x 128 numbers of each, at most half of the 232,448 B of a unit.
    assert fewest.form("norm", h100).times == {"norm": 14336 // 128}
    assert best.time(h100) < fewest.time(h100)
