"""What lessons state and their solutions print, held against their sources and formulas."""

from __future__ import annotations

import ast
import contextlib
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import roofwidget as rw
from tests.places import ROOT, json_of

NOTEBOOKS = ROOT / "notebooks"


def cells_of(lesson: str) -> list[str]:
    """Return the code cells of a lesson."""
    content = json_of(NOTEBOOKS / lesson)
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def texts_of(lesson: str) -> str:
    """Return the text cells of a lesson."""
    content = json_of(NOTEBOOKS / lesson)
    return "\n".join("".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "markdown")


@dataclass(frozen=True)
class Choice:
    """A choice as the code of a lesson has it."""

    key: str
    prompt: str
    answer: str
    options: dict[str, str]


def choices_of(lesson: str) -> Iterator[Choice]:
    """Yield the choices of a lesson that are written out, without running it."""
    asking = (cell for cell in cells_of(lesson) if "options=" in cell)
    for cell in asking:
        for node in ast.walk(ast.parse(cell)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "Question":
                parts = {one.arg: one.value for one in node.keywords}
                with contextlib.suppress(LookupError, ValueError):
                    yield Choice(*(ast.literal_eval(parts[word]) for word in ("key", "prompt", "answer", "options")))


LESSONS = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
CHOICES = [choice for lesson in LESSONS for choice in choices_of(lesson)]


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
    layernorm = wide // 128 * 10 * narrow * tokens / vector
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
    for text in ("0.64 GB", "1.11 GB", "1.14 ms instead of 1.28 ms", "20 µs", "160 µs", "36 %", "1.11 times"):
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


# 32 x 2048 tokens of 4096 numbers, 10 + 8 + 1 + 1 FLOPs for each, and 2 B: one pass takes 160.26 µs on an H100.
NUMBERS = 32 * 2048 * 4096
PASS = 2 * NUMBERS


def test_the_three_graphs_of_the_lesson_on_fusion_do_the_same_flops_and_differ_in_their_passes() -> None:
    names = ran([*cells_of("03_fusion.ipynb")[:2], "h100 = rw.chip('h100-sxm')"])
    passes = {"chain": (8, 2, 4.0), "own": (9, 3, 3.0), "shared": (9, 2, 4.5)}
    for name, (before, after, gain) in passes.items():
        graph = names[name]
        unfused, fused = rw.Partition.unfused(graph), rw.Partition.fully(graph)
        assert {unfused.total_flops(), fused.total_flops()} == {20 * NUMBERS}
        assert (unfused.total_bytes(), fused.total_bytes()) == (before * PASS, after * PASS)
        assert names["gain"](graph) == pytest.approx(gain)
        assert unfused.time(names["h100"]) == pytest.approx(before * 160.26e-6, rel=1e-4)


def test_the_last_merge_of_a_shared_residual_saves_three_passes() -> None:
    names = ran(cells_of("03_fusion.ipynb")[:2])
    merges = [[1, 1, 1, 1], [2, 1, 1], [3, 1], [4]]
    ops = [op.name for op in names["shared"].ops]

    def moved(sizes: list[int]) -> int:
        starts = [sum(sizes[:at]) for at in range(len(sizes))]
        groups = [ops[start : start + size] for start, size in zip(starts, sizes, strict=True)]
        return int(rw.Partition(names["shared"], groups).total_bytes()) // PASS  # type: ignore[arg-type]  # no dimensions

    assert [moved(sizes) for sizes in merges] == [9, 7, 5, 2]


def test_the_lesson_on_fusion_names_the_other_counts_of_a_layernorm() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in texts_of("03_fusion.ipynb").splitlines()]
    table = {(int(row[0]), int(row[1])): (float(row[2]), row[3]) for row in rows if len(row) == 5 and row[0].isdigit()}
    assert {count: ai for count, (ai, _) in table.items()} == {
        (flops, passes): pytest.approx(flops / (2 * passes), abs=0.005)
        for flops, passes in ((10, 2), (10, 3), (8, 2), (6, 2))
    }
    for (flops, passes), (ai, where) in table.items():
        call = re.fullmatch(r"`graph\.layernorm\(x(, affine=False)?\)`", where)
        how = {"affine": not call[1]} if call else {"affine": False, "passes": passes, "flops_per_element": flops}
        graph = rw.Graph()
        graph.output(graph.layernorm(graph.input("x", (65536, 4096), "bf16"), **how))
        assert graph.count("flops") / graph.count("bytes") == pytest.approx(ai, rel=3e-3)


def test_elementwise_operations_of_the_lesson_on_fusion_are_left_of_the_ridge_point_of_the_vector_units() -> None:
    # 67 TFLOP/s in fp32 over 3.35 TB/s.
    ridge = 67e12 / 3.35e12
    assert ridge == pytest.approx(20)
    text = texts_of("03_fusion.ipynb")
    assert "on an H100 67 TFLOP/s in fp32, with the ridge point at 20 instead of 295 FLOP/B" in text
    names = ran(cells_of("03_fusion.ipynb")[:2])
    for name in ("chain", "own", "shared"):
        one = rw.Partition.fully(names[name])
        assert one.total_flops() / one.total_bytes() < ridge  # type: ignore[operator]  # no dimensions


def test_the_caches_of_a_model_with_long_contexts_are_spread_over_chips_that_hold_them() -> None:
    # Llama 3.1 8B: 32 blocks with 2 x 8 heads of 128 numbers of 2 B for each token.
    caches = 64 * 32768 * 32 * 2 * 8 * 128 * 2
    assert f"{caches / 32 / 1e9:.1f} GB in this block" == "8.6 GB in this block"
    assert 3 * 80 * 2**30 < caches + 16e9 < 4 * 0.9 * 80 * 2**30
    story = " ".join(" ".join(cells_of("04_transformers.ipynb")).replace('"\n            "', "").split())
    assert "8.6 GB in this block. The caches of all 32 blocks have 275 GB, so four H100 share them" in story
    assert round(caches / 1e9) == 275
    # 32768 tokens are within the context of Llama 3.1, but not of Llama 3.
    assert "Llama 3.1 8B, whose context has up to 131,072 tokens" in texts_of("04_transformers.ipynb")


def test_a_point_above_its_roof_may_have_bytes_that_came_from_a_cache() -> None:
    above = [one for one in CHOICES if one.key in ("above", "above-the-roof", "above-roof")]
    assert len(above) == 2
    for one in above:
        assert re.fullmatch("[Bb]ytes came from a (cache|nearer memory), or a figure is wrong", one.answer)


def test_no_right_option_of_a_lesson_is_much_longer_than_the_others() -> None:
    longest_name = 20
    wrong = [
        one.key
        for one in CHOICES
        if len(one.answer) > longest_name
        and len(one.answer) > 1.5 * statistics.median(len(other) for other in one.options if other != one.answer)
    ]
    assert wrong == []


def test_the_options_of_lessons_have_the_order_of_their_hmac() -> None:
    assert len(CHOICES) >= 30
    for one in CHOICES:
        question = rw.Question(key=one.key, prompt=one.prompt, answer=one.answer, options=one.options)
        assert list(one.options) == list(question.shuffled().options), one.key


def test_the_lesson_on_limits_states_what_its_messages_and_copies_wait_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(NOTEBOOKS)
    lesson = "07_what_rooflines_cannot_tell.ipynb"
    named = [cell for cell in cells_of(lesson) if re.match(r"sizes =|h100 =|report =", cell)]
    assert len(named) == 3
    names = ran(["import roofwidget as rw", *named])
    # Eight ranks send 7/4 of an all-reduce over links of 450 GB/s one way, with 18 us: the corner is their product.
    corner = 18e-6 * 450e9 / (7 / 4)
    assert f"latency × bandwidth / 1.75 = {corner / 1e6:.1f} MB" in texts_of(lesson)
    assert names["links"].what_if["h100-sxm"]["latency"]["network"] == 18e-6
    hbm = rw.chip("h100-sxm").memories["HBM"]
    assert hbm.latency
    assert hbm.bandwidth
    # 100 kB in one latency are less than a tenth of the bandwidth.
    assert 1e5 / hbm.latency < 0.1 * hbm.bandwidth
    told = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in told[:4]] == [f"copy of {size} MB" for size in ("0.1", "1", "10", "100")]
    assert [rw.reasons(names["report"])[row][0].reason for row in (3, 6, 10)] == [
        "tail",
        "uncoalesced loads",
        "bank conflicts",
    ]
