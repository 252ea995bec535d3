"""Expressions that people type: what they mean, and what they may not do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from roofwidget.readers.torch.typed import typed

VALUES = {("dims", (0, 0)): 3, ("dims", (0, -1)): 5, ("size", (2,)): 100, ("value", (8,)): 7, ("step.sq", ()): 11}


def value(text: str) -> Fraction:
    return typed(text).value(lambda name, indices: VALUES[name, indices])


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("7", 7),
        ("4.25", Fraction(17, 4)),
        ("1e3", 1000),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("2 - 3 - 4", -5),
        ("24 / 4 / 3", 2),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("-2 ** 2", -4),
        ("2 ** 3 ** 2", 512),
        ("2 ** -1", Fraction(1, 2)),
        ("1 - 1/8", Fraction(7, 8)),
        ("min(3, 2, 5) + max(1, 4)", 6),
        ("2*dims[0][0]*dims[0][-1]", 30),
        ("size[2] // value[8]", 14),
        ("step.sq * 2", 22),
        (" ( 1 ) ", 1),
    ],
)
def test_an_expression_is_exact_arithmetic(text: str, result: Fraction) -> None:
    assert value(text) == result


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a number or a name at character 1 of '', found the end"),
        ("2 +", "expected a number or a name at character 4 of '2 \\+', found the end"),
        ("2 3", "expected an operator at character 3 of '2 3', found '3'"),
        ("__import__('os')", "expected one of dims, size, value, step.sq"),
        ("dims[0]", "expected '\\['"),
        ("dims[x][0]", "expected a whole number at character 6"),
        ("dims[0][0](1)", "expected an operator"),
        ("2 ; 3", "found ';'"),
        ("step.pairs", "expected one of"),
        ("size", "expected '\\['"),
        ("min()", "expected a number or a name"),
        ("1 / 0", "a division by zero"),
        ("1 // 0", "a division by zero"),
        ("0 ** -1", "a power with the exponent -1"),
        ("2 ** 65", "a power with the exponent 65"),
        ("2 ** 0.5", "a power with the exponent 1/2"),
        ("((10 ** 64) ** 64) ** 64", "a number that is too large"),
        ("(" * 60 + "1" + ")" * 60, "nested more than 50 deep"),
        ("1+" * 5000 + "1", "an expression of 10,001 characters"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value(text)


@pytest.mark.parametrize(("text", "result"), [("1+" * 249 + "1", 250), ("1**" * 166 + "1", 1), ("-" * 498 + "1", 1)])
def test_the_longest_expressions_have_a_value(text: str, result: int) -> None:
    assert value(text) == result
