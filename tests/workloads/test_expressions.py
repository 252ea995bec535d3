"""Counts are exact, have one normal form, and mean the same before and after substitution and the wire."""

from __future__ import annotations

import json
import pickle
import re
import runpy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads.expressions import (
    Count,
    ceil_div,
    dim,
    dims_of,
    evaluate,
    from_wire,
    maximum,
    minimum,
    substitute,
    symbol,
    symbols,
    to_wire,
    touched,
)
from tests.places import GOLDEN, golden, text_of

FORMULAS: dict[str, Any] = golden("formulas.json")

M, N, K = (dim(name, 1, 4096, default=512) for name in "MNK")
NAMES = ("M", "N", "K", "@fma")
LEAVES: list[Count] = [M, N, K, symbol("@fma")]

# A tree is the index of a leaf, an int, or (operation, tree, tree). It is built with expressions and with ints.
Tree = Any
trees: st.SearchStrategy[Tree] = st.recursive(
    st.one_of(st.sampled_from(NAMES), st.integers(-5, 5), st.integers(-(10**30), 10**30)),
    lambda inner: st.tuples(st.sampled_from(["+", "-", "*", "/", "min", "max"]), inner, inner),
    max_leaves=12,
)
environments = st.fixed_dictionaries({name: st.integers(1, 10**12) for name in NAMES})
divisors = st.integers(1, 9)


def built(tree: Tree, leaves: dict[str, Any]) -> Any:
    if isinstance(tree, str):
        return leaves[tree]
    if isinstance(tree, int):
        return tree
    word, left, right = tree
    a, b = built(left, leaves), built(right, leaves)
    if word == "/":  # a divisor above zero
        return ceil_div(a, maximum(1, b))
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}.get(
        word, lambda: (minimum if word == "min" else maximum)(a, b)
    )()


def expression(tree: Tree) -> Count:
    result: Count = built(tree, dict(zip(NAMES, LEAVES, strict=True)))
    return result


# -- properties --------------------------------------------------------------------------------------------------------


@given(trees, environments)
def test_an_expression_has_the_value_that_the_same_steps_give_with_ints(tree: Tree, env: dict[str, int]) -> None:
    assert evaluate(expression(tree), env) == built(tree, env)


@given(trees, environments, st.sets(st.sampled_from(NAMES)))
def test_substituting_some_symbols_and_then_the_rest_is_evaluating(
    tree: Tree, env: dict[str, int], first: set[str]
) -> None:
    count = expression(tree)
    partly = substitute(count, {name: value for name, value in env.items() if name in first})
    assert symbols(partly) <= symbols(count) - first
    assert evaluate(partly, env) == evaluate(count, env)
    assert substitute(count, env) == evaluate(count, env)


@given(trees, environments)
def test_the_wire_keeps_the_expression(tree: Tree, env: dict[str, int]) -> None:
    count = expression(tree)
    dims = {"M": M, "N": N, "K": K}
    again = from_wire(json.loads(json.dumps(to_wire(count))), dims)
    assert again == count
    assert dims_of([again]) == dims_of([count])
    assert evaluate(again, env) == evaluate(count, env)


@given(trees)
def test_pickling_keeps_the_expression_its_hash_and_its_text(tree: Tree) -> None:
    count = expression(tree)
    again = pickle.loads(pickle.dumps(count))  # noqa: S301 - it was written on the line itself
    assert (again, hash(again), str(again)) == (count, hash(count), str(count))


@given(trees, trees, trees)
def test_sums_and_products_have_one_normal_form(a: Tree, b: Tree, c: Tree) -> None:
    x, y, z = expression(a), expression(b), expression(c)
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert x * (y + z) == x * y + x * z
    assert hash(x + y) == hash(y + x)
    assert x - x == 0
    assert minimum(x, y) == minimum(y, x)
    assert maximum(x, y, z) == maximum(maximum(z, x), y)
    assert x + 0 == 1 * x == x


@given(trees, divisors, divisors)
def test_whole_multiples_come_out_of_a_division_and_common_divisors_cancel(tree: Tree, a: int, b: int) -> None:
    x = expression(tree)
    assert ceil_div(x * a, a) == x
    assert ceil_div(x * a * b, a) == x * b
    assert ceil_div(M * a, b * a) == ceil_div(M, b)
    other = symbol("P")
    assert ceil_div(x * a + other, a) == x + ceil_div(other, a)


@given(trees)
def test_a_term_that_divides_each_term_comes_out_whole(tree: Tree) -> None:
    x = expression(tree)
    assert ceil_div(x * M * K, M * K) == x
    assert ceil_div(6 * x * M * M, 2 * M) == 3 * x * M
    assert str(ceil_div(3 * M, 2 * M)) == "⌈3·M / (2·M)⌉"
    assert str(ceil_div(M * N + K, N)) == "⌈(M·N + K) / N⌉"


# -- examples ----------------------------------------------------------------------------------------------------------


def test_ints_stay_ints() -> None:
    for count, value in ((ceil_div(9, 8), 2), (ceil_div(-9, 8), -1), (minimum(3, 2), 2), (maximum(3, 2), 3)):
        assert type(count) is int
        assert count == value
    assert type(substitute(M * N, {"M": 2, "N": 3})) is int
    assert type(M - M) is int
    assert type(0 * M) is int


def test_expressions_print_as_people_write_them() -> None:
    assert str(2 * M * N * K) == "2·M·N·K"
    assert str(M + 2 * N - K) == "M + 2·N - K"
    assert str(N * N * 3 - 1) == "3·N² - 1"
    assert str(-1 * N) == "-N"
    assert str(ceil_div(M + 7, 8)) == "⌈(M + 7) / 8⌉"
    assert str(ceil_div(M, N)) == "⌈M / N⌉"
    assert str(ceil_div(M, 2 * N)) == "⌈M / (2·N)⌉"
    assert str(ceil_div(2 * M, minimum(N, 8))) == "⌈2·M / min(N, 8)⌉"
    assert str(2 * minimum(M, 8) * K) == "2·min(M, 8)·K"
    assert str(maximum(M, N + 1)) == "max(M, N + 1)"
    power: Count = N
    for _ in range(11):
        power = power * N
    assert str(power) == "N¹²"


def test_values_beyond_any_machine_word_are_exact() -> None:
    huge = 10**40 + 1
    assert evaluate(M * M + 1, {"M": huge}) == huge * huge + 1
    assert evaluate(ceil_div(M, 3), {"M": huge}) == -(-huge // 3)


def test_the_wire_writes_ints_beyond_2_to_the_53_as_text() -> None:
    assert to_wire(2**53) == 2**53
    assert to_wire(2**53 + 1) == "9007199254740993"
    assert to_wire(-(2**60)) == "-1152921504606846976"
    assert to_wire((2**53 + 1) * M) == ["*", "9007199254740993", "M"]
    assert from_wire("-1152921504606846976") == -(2**60)


def test_the_wire_form_is_lists_headed_by_a_word() -> None:
    assert to_wire(M) == "M"
    assert to_wire(symbol("@fma") * M * M) == ["*", "@fma", "M", "M"]
    assert to_wire(3 * M * N + 4) == ["+", ["*", 3, "M", "N"], 4]
    assert to_wire(ceil_div(M, 8)) == ["/", "M", 8]
    assert to_wire(minimum(M, maximum(N, 2))) == ["min", "M", ["max", "N", 2]]


@pytest.mark.parametrize(
    "wire", [None, True, 2.5, "", "two words", "--5", [], ["+"], ["^", "M", 2], ["/", 1, 2, 3], [["+"], 1], {"M": 1}]
)
def test_what_is_not_a_count_on_the_wire_is_refused(wire: Any) -> None:
    with pytest.raises(ValueError, match="not a count"):
        from_wire(wire)


def test_a_symbol_without_a_value_is_named_and_the_nearest_proposed() -> None:
    with pytest.raises(ValueError, match="no value for 'M' of M·N; give one"):
        evaluate(M * N, {"N": 1})
    batch = dim("batch", 1, 8, default=1)
    with pytest.raises(ValueError, match="no value for 'batch' of 2·batch; did you mean 'bach'"):
        evaluate(2 * batch, {"bach": 1})


def test_a_value_that_is_no_int_is_refused() -> None:
    with pytest.raises(TypeError, match=r"the value of 'M' must be an int, got 2\.0"):
        evaluate(M * N, {"M": 2.0, "N": 1})  # type: ignore[dict-item]


@pytest.mark.parametrize("divisor", [0, -1])
def test_a_division_by_zero_or_less_is_refused_in_full(divisor: int) -> None:
    for count, text in ((7, "7"), (2 * M, "2·M"), (M + 1, r"\(M \+ 1\)")):
        message = rf"^a ceil-division needs a divisor above zero, got {text} / {divisor}$"
        with pytest.raises(ValueError, match=message):
            ceil_div(count, divisor)
    with pytest.raises(ValueError, match=rf"got 7 / {divisor}$"):
        evaluate(ceil_div(7, M), {"M": divisor})


def test_the_two_counts_of_a_division_are_not_exchanged() -> None:
    assert ceil_div(M, N) != ceil_div(N, M)
    assert minimum(M, N) == minimum(N, M)


def test_a_constant_that_is_left_of_a_division_is_rounded_up() -> None:
    assert ceil_div(8 * M + 3, 8) == M + 1
    assert ceil_div(8 * M - 3, 8) == M


@pytest.mark.parametrize("number", [1.5, "1", None])
def test_only_ints_and_expressions_are_added_to_an_expression(number: Any) -> None:
    for left, right in ((number, M), (M, number)):
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
            left + right


def test_an_extreme_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="minimum needs at least one"):
        minimum()


# -- dims --------------------------------------------------------------------------------------------------------------


def test_a_dim_without_a_default_starts_at_its_smallest_value() -> None:
    assert dim("batch", 2, 1024) == dim("batch", 2, 1024, default=2)
    assert dim("batch", 2, 1024).default == 2
    with pytest.raises(TypeError, match="low of dim 'batch' must be an int, got '2'"):
        dim("batch", "2", 1024)  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "high", "default"), [(0, 4, 1), (-1, 4, 1), (4, 2, 3), (1, 4, 5), (2, 4, 1)])
def test_a_dim_has_a_range_from_1_that_holds_its_default(low: int, high: int, default: int) -> None:
    with pytest.raises(ValueError, match="dim 'batch' needs 1 <= low <= default <= high"):
        dim("batch", low, high, default=default)


def test_a_dim_may_start_at_its_largest_value_and_has_a_default_that_is_an_int() -> None:
    assert dim("batch", 1, 9, default=9).default == 9
    with pytest.raises(TypeError, match=r"^default of dim 'batch' must be an int, got True"):
        dim("batch", 1, 9, default=True)


def test_the_negative_of_a_count_has_its_sign_at_the_front() -> None:
    n, m = symbol("n"), symbol("m")
    assert (str(-n), repr(-n), str(m - n * m - 3)) == ("-n", "-n", "m - m·n - 3")
    assert evaluate(-(n + 2), {"n": 5}) == -7


@pytest.mark.parametrize("name", ["", "@fma", "two words", "2x", None])
def test_the_name_of_a_dim_is_an_identifier(name: Any) -> None:
    with pytest.raises(ValueError, match="must be an identifier"):
        dim(name, 1, 2, default=1)


@pytest.mark.parametrize("number", [1.0, "1", True])
def test_the_numbers_of_a_dim_are_ints(number: Any) -> None:
    with pytest.raises(TypeError, match="high of dim 'batch' must be an int"):
        dim("batch", 1, number, default=1)


def test_the_dims_of_counts_come_back_with_their_ranges() -> None:
    batch, seq = dim("batch", 1, 8, default=2), dim("seq", 1, 64, default=32)
    found = dims_of([symbol("@fma") * seq, 7, ceil_div(minimum(batch, 4), 3)])
    assert found == (batch, seq)
    assert [(d.name, d.low, d.high, d.default) for d in found] == [("batch", 1, 8, 2), ("seq", 1, 64, 32)]


def test_two_dims_of_one_name_must_be_the_same() -> None:
    with pytest.raises(ValueError, match="two dims are called 'batch'"):
        dims_of([dim("batch", 1, 8, default=2), dim("batch", 1, 9, default=2)])


def test_a_formula_is_written_as_the_page_writes_it() -> None:
    values = FORMULAS["values"]
    for case in FORMULAS["cases"]:
        count = from_wire(case["wire"])
        assert str(substitute(count, values)) == case["text"], case
        # The wire has the terms and factors in written order.
        assert str(substitute(from_wire(to_wire(count)), values)) == case["text"], case


def test_the_golden_file_of_formulas_is_what_its_script_writes() -> None:
    script = GOLDEN / "make_formulas.py"
    assert runpy.run_path(str(script))["text"]() == text_of(GOLDEN / "formulas.json")
    assert not re.search(r"(import|from) roofwidget", text_of(script))


# -- the mean number of items that draws touch -------------------------------------------------------------------------

TOUCHED = golden("touched.json")


def test_touched_is_the_nearest_whole_number_of_the_mean() -> None:
    assert len(TOUCHED["cases"]) > 400
    n = symbol("n")
    for factor, total, picked, times, value in TOUCHED["cases"]:
        assert touched(factor, total, picked, times) == value
        assert evaluate(touched(factor, total, picked, n), {"n": times}) == value
    # After very many draws no item is left.
    assert touched(4096, 8, 2, 10**15) == 8 * 4096


def test_a_sum_of_one_or_an_extreme_of_one_is_the_count_itself() -> None:
    assert from_wire(["+", 5]) == from_wire(["min", 5]) == 5
    assert from_wire(["max", "n"]) == symbol("n")


def test_the_counts_of_touched_have_brackets_where_they_are_products_or_sums() -> None:
    n, m = symbol("n"), symbol("m")
    assert str(touched(n + 1, 8, 2, m)) == "⌊(n + 1)·8·(1 - (1 - 2/8)^m)⌉"
    assert str(touched(2 * n, 3 * n, 2, m)) == "⌊2·n·(3·n)·(1 - (1 - 2/(3·n))^m)⌉"


def test_touched_has_one_text_and_one_form_on_the_wire() -> None:
    for each in TOUCHED["formulas"]:
        count = from_wire(each["wire"])
        assert (str(count), evaluate(count, each["env"])) == (each["text"], each["value"])
        assert from_wire(json.loads(json.dumps(to_wire(count)))) == count
        assert substitute(count, each["env"]) == each["value"]
    with pytest.raises(ValueError, match="not a count"):
        from_wire(["touched", 1, 2, 3])
    with pytest.raises(ValueError, match="picks between none and all of the items, got 3 of 2"):
        touched(1, 2, 3, 4)
