"""Matching: pairs of rows, compared with a search row by row that follows the five rules in turn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from roofwidget.kernels.matching import match_rows
from roofwidget.kernels.table import Kernels

NAMES = ("a", "fusion", "fusion.1", "fusion.2", "fusion.1.remat.2", "fusion.1\n", ".5", "a .5", "a.٣", "v1.5x")
AMOUNTS = (0, 1, 1.001, 2, 4e9, math.nan)
STEMS = {"fusion.1": "fusion", "fusion.2": "fusion", "fusion.1.remat.2": "fusion.remat", "fusion.1\n": "fusion\n"}
STEMS["a.٣"] = "a"


@st.composite
def runs(draw: Any) -> Kernels:
    amounts = st.sampled_from(AMOUNTS)
    row = st.tuples(st.sampled_from(NAMES), amounts, amounts, st.sampled_from([1, 2]), st.sampled_from("xy"))
    rows = draw(st.lists(row, max_size=9))
    names, flops, moved, count, shapes = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [], [])
    has_shapes: bool = draw(st.booleans())
    return Kernels(names, flops, moved, count=count, extra={"shape": shapes} if rows and has_shapes else {})


def rounded(amount: float) -> object:
    return round(math.log(amount) / 0.01) if amount > 0 else str(amount)


def matched_by_hand(before: Kernels, after: Kernels) -> dict[int, int]:
    n, tables = len(before), (before, after)
    places = [(0, row) for row in range(n)] + [(1, row) for row in range(len(after))]
    launches = [(run, row, tables[run].count[row]) for run, row in places]
    work = {(run, row): (tables[run].flops[row] / n, tables[run].bytes[row] / n) for run, row, n in launches}
    has_shapes = "shape" in before.extra and "shape" in after.extra

    def keyed(word: Callable[[str], str]) -> dict[tuple[int, int], Any]:
        words = {(run, row): word(str(tables[run].names[row])) for run, row in places}
        several = {words[one] for one in places if sum(words[o] == words[one] and o[0] == one[0] for o in places) > 1}
        return {
            (run, row): (key, tables[run].extra["shape"][row] if has_shapes and key in several else None)
            for (run, row), key in words.items()
        }

    names, stems = keyed(str), keyed(lambda name: STEMS.get(name, name))
    found: dict[int, int] = {}
    rules = (names, 2, False), (stems, 2, True), (names, 1, False), (stems, 1, True), (names, 0, False)
    for keys, amounts, needs_work in rules:

        def rule(one: tuple[int, int], keys: Any = keys, amounts: int = amounts) -> object:
            return keys[one], [rounded(each) for each in work[one][:amounts]]

        usable = {one for one in places if not needs_work or any(each > 0 for each in work[one][:amounts])}
        left = [row for row in range(n) if row not in found and (0, row) in usable]
        free = [row for row in range(len(after)) if row not in found.values() and (1, row) in usable]
        for row in left:
            other = next((one for one in free if rule((1, one)) == rule((0, row))), None)
            if other is not None:
                found[row] = other
                free.remove(other)
    return dict(sorted(found.items()))


@given(runs(), runs())
def test_rows_match_as_the_rules_say_when_each_is_applied_row_by_row(before: Kernels, after: Kernels) -> None:
    rows, others = match_rows(before, after, ("name",))
    assert dict(zip(rows.tolist(), others.tolist(), strict=True)) == matched_by_hand(before, after)


def test_columns_of_so_many_values_that_their_product_is_beyond_an_int64_still_count() -> None:
    # Two rows each differ in the first column alone. The other six columns have 2**12 values each: 2**72 together.
    pairs, n = [float(row // 2) for row in range(2**13)], 2**13
    extra = {"first": [float(row % 2) for row in range(n)]} | {f"c{at}": pairs for at in range(6)}
    before = Kernels(["a"] * n, [0] * n, [1] * n, extra=extra)
    rows, others = match_rows(before, before[::-1], ("first", *list(extra)[1:], "name"))
    assert rows.tolist() == list(range(n))
    assert others.tolist() == list(range(n))[::-1]


def test_the_names_of_the_examples_lose_the_numbers_that_xla_gave() -> None:
    for name in NAMES:
        assert re.sub(r"(?<=[^.\s])\.\d+(?=\.|$)", "", name) == STEMS.get(name, name)
