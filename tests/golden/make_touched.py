"""Write `touched.json`, which pytest and vitest both hold `touched` to. Run this file to write it anew.

Nothing of the package is imported: every number is the nearest whole number of an exact fraction.

**The file** is ``{"cases": [[factor, total, picked, times, value], …], "formulas": [{"wire", "text", "env", "value",
"in_numbers"}, …]}``. ``value`` is ``factor * total * (1 - (1 - picked / total) ** times)``. A formula has a count on
the wire, its text, values of its symbols, and the text with these values.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
EXPERTS: Final = [
    (8, 2),
    (8, 1),
    (16, 2),
    (6, 2),
    (60, 4),
    (64, 6),
    (128, 8),
    (256, 8),
    (3, 3),
    (7, 0),
    (1, 1),
    (384, 8),
]
FORMULAS: Final[list[tuple[Any, str, dict[str, int], str]]] = [
    (["touched", 4096, 8, 2, "batch"], "⌊4096·8·(1 - (1 - 2/8)^batch)⌉", {"batch": 4}, "⌊4096·8·(1 - (1 - 2/8)^4)⌉"),
    (
        ["*", 2, "D", ["touched", "F", 8, 2, ["*", "batch", "seq"]]],
        "2·D·⌊F·8·(1 - (1 - 2/8)^(batch·seq))⌉",
        {"D": 64, "F": 100, "batch": 2, "seq": 3},
        "2·64·⌊100·8·(1 - (1 - 2/8)^(2·3))⌉",
    ),
    (["touched", 4096, 8, 2, 4], "22400", {}, "22400"),
    (
        ["touched", ["+", "D", 1], "E", 1, ["*", "n", "n"]],
        "⌊(D + 1)·E·(1 - (1 - 1/E)^(n²))⌉",
        {"D": 9, "E": 4, "n": 2},
        "⌊(9 + 1)·4·(1 - (1 - 1/4)^(2²))⌉",
    ),
]


def value(factor: int, total: int, picked: int, times: int) -> int:
    exact = factor * total * (1 - Fraction(total - picked, total) ** times)
    return floor(exact + Fraction(1, 2))


def counted(wire: Any, env: dict[str, int]) -> int:
    """Return the value of a formula above: a sum, a product or `touched`."""
    if isinstance(wire, int):
        return wire
    if isinstance(wire, str):
        return env[wire]
    sign, *parts = wire
    numbers = [counted(part, env) for part in parts]
    if sign == "touched":
        return value(*numbers)
    total = numbers[0]
    for number in numbers[1:]:
        total = total + number if sign == "+" else total * number
    return total


def main() -> None:
    dice = random.Random(8)  # noqa: S311 - a test's dice
    cases = [
        [factor, total, picked, times, value(factor, total, picked, times)]
        for total, picked in EXPERTS
        for factor in (1, 4096, 14336, dice.randrange(1, 10**6))
        for times in (0, 1, 2, 3, 4, 8, 32, 100, dice.randrange(1, 3000))
    ]
    formulas = [
        {"wire": wire, "text": text, "env": env, "value": counted(wire, env), "in_numbers": numbers}
        for wire, text, env, numbers in FORMULAS
    ]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    others = ",\n".join(json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in formulas)
    text = f'{{"cases": [\n{lines}\n],\n"formulas": [\n{others}\n]}}\n'
    (HERE / "touched.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
