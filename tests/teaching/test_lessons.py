"""What lessons state and their solutions print, held against their sources and formulas."""

from __future__ import annotations

import ast
import contextlib
import functools
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
    """Yield the graded choices of a lesson that are written out, without running it."""
    asking = (cell for cell in cells_of(lesson) if "options=" in cell)
    for cell in asking:
        for node in ast.walk(ast.parse(cell)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "Question":
                parts = {one.arg: one.value for one in node.keywords}
                if "graded" in parts:
                    continue
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


@functools.cache
def fusion() -> dict[str, Any]:
    """Return the names that the two stories of the lesson on fusion define."""
    return ran(cells_of("03_fusion.ipynb")[:5])


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
    names = fusion()
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
    unfused, fastest = rw.Partition.unfused(block), rw.Partition.best(block, h100)
    fewest = rw.Partition(block, [["LayerNorm", "up", "GELU"], ["down", "Dropout", "Add"]])
    assert [one.total_bytes() for one in (unfused, fewest, fastest)] == [
        9 * ends + 4 * between + 2 * weight,
        3 * ends + 2 * between + 2 * weight,
        5 * ends + 2 * between + 2 * weight,
    ]
    assert [unfused.total_bytes(), fastest.total_bytes()] == [1_107_296_256, 704_643_072]
    times = [one.time(h100) for one in (unfused, fewest, fastest)]
    assert times == pytest.approx(
        [
            2 * product + (7 * ends + 2 * between) / bandwidth,
            up + layernorm + down,
            2 * ends / bandwidth + up + down,
        ]
    )
    assert fewest.form("up", h100).times == {"LayerNorm": 128}
    assert fastest.groups == (("LayerNorm",), ("up", "GELU"), ("down", "Dropout", "Add"))
    assert names["merge_block"].check(fastest.groups).correct
    assert not names["merge_block"].check(fewest.groups).correct
    gained = (
        f"{1 - 704_643_072 / 1_107_296_256:.0%} fewer bytes, and the block is {times[0] / times[2]:.2f} times faster"
    )
    captions = " ".join(step.caption for step in names["lesson"].story.steps)
    assert gained.replace("%", " %", 1) == "36 % fewer bytes, and the block is 1.11 times faster"
    assert "36 % fewer bytes, and the block is 1.11 times faster." in captions
    said = " ".join([names["merge_block"].explanation, *names["hardly"].options.values()])
    for text in (
        *("704.6 MB", "1107.3 MB", "637.5 MB", "128 times: 160 µs", "20 µs of bytes"),
        f"{product * 1e6:.1f} µs for its {2 * tokens * narrow * wide / 1e9:.0f} GFLOP",
        f"its bytes take {(ends + weight + between) / bandwidth * 1e6:.0f} µs",
        f"{2 * product * 1e6:.0f} of {times[0] * 1e6:.0f} µs",
        f"removed {(times[0] - times[2]) * 1e6:.0f} of the other {(times[0] - 2 * product) * 1e6:.0f} µs",
        f"{(3 * ends + weight + between - ends) / 1e6:.1f} MB instead of {(ends + weight + between) / 1e6:.1f} MB",
        f"{2 * tokens * narrow * wide / (ends + weight + between):.0f} FLOP/B",
    ):
        assert text in said


def test_the_lesson_on_fusion_states_what_rows_of_two_products_need_on_chip() -> None:
    names = fusion()
    joined = rw.Partition.unfused(names["block"]).fuse("up", "GELU", chip=names["h100"])
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
# For each graph: the sizes of its kernels in the order of the operations, the passes, and the rate in TFLOP/s.
PARTITIONS = [
    *[
        ("chain", sizes, passes, rate)
        for sizes, passes, rate in (([1] * 4, 8, 4.19), ([2, 2], 4, 8.38), ([4], 2, 16.75))
    ],
    *[(graph, [1] * 4, 9, 3.72) for graph in ("own", "shared")],
    *[(graph, [2, 1, 1], 7, 4.79) for graph in ("own", "shared")],
    *[(graph, sizes, 5, 6.70) for graph in ("own", "shared") for sizes in ([3, 1], [2, 2])],
    ("own", [4], 3, 11.17),
    ("shared", [4], 2, 16.75),
]


@pytest.mark.parametrize(("name", "sizes", "passes", "rate"), PARTITIONS)
def test_the_three_graphs_of_the_lesson_on_fusion_do_the_same_flops_and_differ_in_their_passes(
    name: str, sizes: list[int], passes: int, rate: float
) -> None:
    names = fusion()
    graph, h100 = names[name], names["h100"]
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    partition = rw.Partition(
        graph, [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
    )
    assert partition.total_flops() == 20 * NUMBERS == 5_368_709_120
    assert partition.total_bytes() == passes * PASS
    assert partition.time(h100) == pytest.approx(passes * 160.26e-6, rel=1e-4)
    assert f"{20 * NUMBERS / partition.time(h100) / 1e12:.2f}" == f"{rate:.2f}"


def test_the_answers_of_the_lesson_on_fusion_are_gains_in_time() -> None:
    names = fusion()
    assert [names[f"gain_{name}"].answer for name in ("chain", "own", "shared")] == pytest.approx([8 / 2, 9 / 3, 9 / 2])
    assert names["passes_chain"].answer == 8
    assert names["time_chain"].answer == pytest.approx(8 * 160.26e-6, rel=1e-4)
    assert names["place_chain"].answer == pytest.approx(20 * NUMBERS / (2 * PASS))
    refused = rw.Partition.unfused(names["shared"]).why_not("LayerNorm", "Add", chip=names["h100"])
    assert refused is not None
    assert refused.sentence == "GELU + Dropout must run after LayerNorm and before Add"


def test_the_lesson_on_fusion_has_eleven_steps_and_votes_before_it_counts() -> None:
    story = fusion()["lesson"].story
    assert len(story.steps) == 11
    assert [question["key"] for question in story.questions] == [
        *("vote", "passes-chain", "time-chain", "gain-chain", "place-chain", "gain-own", "gain-shared", "last-merge"),
        *("merge-block", "hardly", "legal"),
    ]
    assert [question["graded"] for question in story.questions] == [False] + 10 * [True]
    assert story.steps[7].recalls == "vote"
    # Passes, times and the intensity of the merged chain are asked for one after the other.
    assert [step.keeps_hidden for step in story.steps] == 4 * [True] + 7 * [False]
    # Three lines of 80 letters, or a line and a list; the step of the block has one more.
    assert max(len(step.caption) for step in story.steps) <= 4 * 80


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
    names = fusion()
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


def test_the_solution_on_the_gated_block_says_in_prose_what_it_computes(capsys: pytest.CaptureFixture[str]) -> None:
    cells = cells_of("03_fusion.ipynb")
    ran([cells[0], cells[-1]])
    # gate, up and down read and write 4096 x 4096 and 4096 x 16384 numbers and 4096 x 16384 weights of 2 B.
    narrow, wide = 2 * 4096 * 4096, 2 * 4096 * 16384
    five, best = 3 * (narrow + 2 * wide) + 2 * wide + 3 * wide, (narrow + 3 * wide) + (narrow + 2 * wide)
    assert (five, best) == (1_577_058_304, 738_197_504)
    printed = capsys.readouterr().out
    for text in ("5 kernels: 1.58 GB", "2 kernels: 0.74 GB", "1.12 times"):
        assert text in printed
    product, vector = 2 * 4096 * 4096 * 16384 / 989.5e12, 132 * 512 * 1.98e9
    before = 3 * product + 5 * wide / 3.35e12
    # The one kernel also does the 5 + 1 FLOPs of silu and multiply for each hidden number.
    after = 3 * product + 6 * 4096 * 16384 / vector
    told = texts_of("03_fusion.ipynb")
    for text in (
        *(f"{five / 1e6:.1f} MB", f"{best / 1e6:.1f} MB, 53 % fewer", "1040.2 MB"),
        f"{before * 1e6:.1f} µs become {after * 1e6:.1f} µs, {before / after:.2f} times faster",
    ):
        assert text in told
