"""Exercises on links between chips: collectives, and the batches and sizes from which they are hidden."""

from __future__ import annotations

from roofwidget.analysis.network import collective_time, effective_roof, network_ridge_point
from roofwidget.analysis.sizing import critical_batch_per_chip
from roofwidget.chips import Chip, Link
from roofwidget.teaching.bank.counts import TPUS, V7X, record
from roofwidget.teaching.bank.exercise import Draw, exercise, exercises
from roofwidget.teaching.bank.phrases import GUIDE, SCALING_BOOK, exact, name, short
from roofwidget.teaching.question import Question


def _linked(word: str) -> Chip:
    """Return a TPU of the catalogue with the bandwidth of one link, one way."""
    chip = record(word, "bf16")
    return chip.replace(links={"ICI": Link("ICI", chip.link("ICI").per_link)})


_LINKED_V5E, _LINKED_V5P, _LINKED_V6E = (_linked(word) for word in ("v5e", "v5p", "v6e"))


@exercise("exposed-communication-roof")
def _exposed_communication_roof(draw: Draw) -> Question:
    chip, share = draw.instead(V7X, TPUS), draw.pick(20, [40, 60])
    roof = float(effective_roof(chip.peak(), share / 100))
    return draw.question(
        prompt=(
            f"The {name(chip)} computes {exact(chip.peak(), 'FLOP/s')} in bf16. A program is compute-bound. In {share} "
            "% of its time all units wait for the links. Which rate can it reach at most over its whole time, in "
            "FLOP/s?"
        ),
        answer=roof,
        unit="FLOP/s",
        explanation=(
            f"Only {100 - share} % of the time are left for arithmetic: {(100 - share) / 100:g} · "
            f"{exact(chip.peak(), 'FLOP/s')} = {short(roof, 'FLOP/s')}."
        ),
        source=GUIDE,
    )


@exercise("hidden-communication-roof")
def _hidden_communication_roof(draw: Draw) -> Question:
    chip, share = draw.instead(V7X, TPUS), draw.pick(20, [40, 60])
    peak, lower = exact(chip.peak(), "FLOP/s"), float(effective_roof(chip.peak(), share / 100))
    higher = chip.peak() * (1 + share / 100)
    return draw.question(
        prompt=(
            f"The {name(chip)} computes {peak} in bf16. A program is compute-bound. Its links are busy in {share} % of "
            "the time, and the arithmetic goes on meanwhile. Where is the flat part of its roof?"
        ),
        answer=f"At {peak}",
        options={
            f"At {short(lower, 'FLOP/s')}": (
                f"This is the roof if all units wait for the links in {share} % of the time. Only exposed "
                "communication lowers the roof."
            ),
            f"At {peak}": "Communication that overlaps with arithmetic takes no time away.",
            f"At {short(higher, 'FLOP/s')}": "Nothing raises the roof above the peak. Overlap only avoids a loss.",
        },
        source=GUIDE,
        difficulty=2,
    )


@exercise("contraction-over-two-chips")
def _contraction_over_two_chips(draw: Draw) -> Question:
    chip = draw.pick(_LINKED_V5E, [_LINKED_V5P, _LINKED_V6E])
    ridge = network_ridge_point(chip)
    # A chip does 2 B (D / 2) F FLOPs and sends 2 B F bytes: D / 2 FLOPs per byte.
    size = 2 * ridge
    peak, link = exact(chip.peak(), "FLOP/s"), exact(chip.link_bandwidth(), "B/s")
    return draw.question(
        prompt=(
            f"A bf16 product of a B × D matrix with a D × F matrix is split along D over two {name(chip)}. Each chip "
            f"computes {peak}. Then each sends its partial result, B × F elements of 2 bytes, to the other one at "
            f"{link}. Above which D does the arithmetic take longer than the exchange?"
        ),
        answer=size,
        wrong_answers={ridge: "Each chip does half of the FLOPs of the whole product."},
        explanation=(
            f"A chip does B · D · F FLOPs and sends 2 · B · F bytes, so D / 2 must reach {peak} / {link} = "
            f"{short(ridge)} FLOP/B. D = {short(size)}."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@exercises(
    {
        "all-gather-on-a-ring": {"both_ways": True},
        "all-gather-on-a-line": {"both_ways": False},
    }
)
def _all_gather(draw: Draw, *, both_ways: bool) -> Question:
    rows, columns = draw.pick(2048, [1024, 4096]), draw.pick(8192, [4096, 16384])
    ranks, one_way = draw.pick(4, [8, 16]), draw.pick(4.5e10, [9e10])
    size = 2 * rows * columns
    topology = "ring-both-ways" if both_ways else "ring"
    seconds = collective_time("all-gather", size, ranks, one_way, topology=topology)
    other = collective_time("all-gather", size, ranks, one_way, topology="ring" if both_ways else "ring-both-ways")
    slip = "Shards travel in both directions at once." if both_ways else "Shards travel in one direction only."
    link = exact(one_way, "B/s")
    if both_ways:
        way = "The chips form a ring. Each shard travels half of the ring in each direction"
        how = f"Half of the array passes each link in each direction: {short(size, 'B')} / (2 · {link})"
    else:
        way = "The chips form a line. The time is that of a ring in which shards travel in one direction only"
        how = f"{ranks - 1} of {ranks} shards pass each link: {ranks - 1} / {ranks} · {short(size, 'B')} / {link}"
    return draw.question(
        prompt=(
            f"A bf16 array of {rows} × {columns} elements of 2 bytes is spread over {ranks} chips. An all-gather gives "
            f"the whole array to each chip. A link transfers {link} in each direction. {way}. Latency does not count. "
            "How long does it take, in seconds?"
        ),
        answer=seconds,
        unit="s",
        wrong_answers={other: slip},
        explanation=f"{how} = {short(seconds, 's')}.",
        source=SCALING_BOOK,
        difficulty=2,
    )


@exercise("all-reduce-time")
def _all_reduce_time(draw: Draw) -> Question:
    size, ranks = draw.pick(1e9, [2e8, 5e8, 4e9]), draw.pick(8, [4, 16])
    one_way = draw.pick(450e9, [300e9, 900e9])
    seconds = collective_time("all-reduce", size, ranks, one_way)
    link = exact(one_way, "B/s")
    return draw.question(
        prompt=(
            f"Each of {ranks} GPUs holds an array of {exact(size, 'B')}. A ring all-reduce sums the arrays. A GPU "
            f"sends {link} in one direction. Latency does not count. How long does it take, in seconds?"
        ),
        answer=seconds,
        unit="s",
        explanation=(
            f"A reduce-scatter and an all-gather each send {ranks - 1} / {ranks} of the array: 2 · {ranks - 1} / "
            f"{ranks} · {exact(size, 'B')} / {link} = {short(seconds, 's')}."
        ),
        source="Derived",
        difficulty=2,
    )


def _data_parallel(chip: Chip, axes: int) -> tuple[float, str]:
    """Return the smallest batch per chip that hides the gradients, and the text of the exercise."""
    bandwidth = 2 * axes * chip.link_bandwidth()
    batch = critical_batch_per_chip(chip, bandwidth=bandwidth)
    said = (
        f"Data-parallel training on {name(chip)} chips: each chip computes {exact(chip.peak(), 'FLOP/s')} in bf16. It "
        f"sends {exact(bandwidth, 'B/s')} over the links of {'one axis' if axes == 1 else 'two axes'} of the "
        "torus. The backward pass of a layer does 4 FLOPs per weight and token. Meanwhile an all-reduce sums the "
        "2-byte gradients of the layer. In it a chip sends 4 bytes per weight."
    )
    return batch, said


@exercise("data-parallel-batch")
def _data_parallel_batch(draw: Draw) -> Question:
    chip = draw.pick(_LINKED_V5P, [_LINKED_V5E, _LINKED_V6E])
    batch, said = _data_parallel(chip, draw.pick(1, [2]))
    return draw.question(
        prompt=f"{said} From how many tokens per chip on does the all-reduce take no longer than the backward pass?",
        answer=batch,
        unit="tokens",
        explanation=(
            f"4 B FLOPs per weight take as long as 4 bytes per weight at B = peak / bandwidth = {short(batch)} tokens."
        ),
        source=SCALING_BOOK,
        difficulty=3,
    )


@exercise("data-parallel-limit")
def _data_parallel_limit(draw: Draw) -> Question:
    tokens = draw.pick(1024, [512, 2048, 4096, 8192])
    batch, said = _data_parallel(_LINKED_V5P, 1)
    link, peak = "The all-reduce", "The backward pass"
    answer = peak if tokens >= batch else link
    least = f"{short(batch)} tokens"
    side = "above" if tokens >= batch else "below"
    options = {
        "The size of a layer": (
            "FLOPs and gradient bytes both grow with the number of weights. Only the tokens per chip change their "
            "ratio."
        ),
        link: f"The backward pass takes longer: {tokens} tokens are above {least}, the peak over the bandwidth.",
        peak: f"The all-reduce takes longer: {tokens} tokens are below {least}, the peak over the bandwidth.",
    }
    return draw.question(
        prompt=f"{said} Each chip has {tokens} tokens. Which takes longer?",
        answer=answer,
        options=options | {answer: f"{tokens} tokens are {side} {least}, the peak over the bandwidth."},
        source=SCALING_BOOK,
        difficulty=2,
    )
