"""Write the golden file of printed formulas that pytest and vitest hold the code to. Run this file to write it anew.

Nothing of the package is imported here: each text is written by hand. In the file a case is a count on the wire, as
`roofwidget.workloads.expressions.to_wire` describes it, and its text where symbols that begin with @ have the values
in `values`. A sum is written term by term, a constant last, the factors of all terms in the order in which they first
occur.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
VALUES: Final = {"@fma": 2, "@bf16": 16, "@fp4": 4}
CASES: Final[list[tuple[Any, str]]] = [
    (["*", "@fma", "M", "N", "K"], "2·M·N·K"),
    (["/", ["*", "M", "N", "@bf16"], 8], "2·M·N"),
    (["/", ["*", "M", "n", "@fp4"], 8], "⌈M·n / 2⌉"),
    (["/", ["+", "M", 1], ["+", "n", 1]], "⌈(M + 1) / (n + 1)⌉"),
    (["/", "M", ["*", 2, "n"]], "⌈M / (2·n)⌉"),
    (["/", "M", ["*", "n", "n"]], "⌈M / n²⌉"),
    (["/", 9, "n"], "⌈9 / n⌉"),
    (["/", ["*", "M", "N"], "n"], "⌈M·N / n⌉"),
    (["/", ["+", ["*", 8, "M"], "n", 16], 8], "M + ⌈n / 8⌉ + 2"),
    (["+", ["*", 5, "N", "N"], ["*", -1, "N"], "@fma", 1], "5·N² - N + 3"),
    (["+", ["*", -3, "n"], ["*", 3, "n"]], "0"),
    (["*", ["+", "n", 1], ["+", "n", 1]], "n² + 2·n + 1"),
    (["*", 2, ["max", "n", 1], ["max", "n", 1]], "2·max(n, 1)²"),
    (["*", "9007199254740993", "n"], "9007199254740993·n"),
    (["+", ["*", -1, "n"], 1], "-n + 1"),
    # One order of factors in all terms: that in which they first occur.
    (["+", ["*", 46, "N"], ["*", 3, "b", "N"]], "46·N + 3·N·b"),
    (["+", ["*", "a", "a", "c"], ["*", "a", "b", "c"]], "a²·c + a·c·b"),
    (["+", ["*", 16, "K", "N"], ["*", "@bf16", "M", "N"]], "16·K·N + 16·N·M"),
    (["+", ["*", 8, ["/", 3, "n"]], ["*", "N", ["/", 3, "n"]]], "8·⌈3 / n⌉ + ⌈3 / n⌉·N"),
    (["max", 1, ["+", ["*", "K", "M"], ["*", "b", "M"]]], "max(1, K·M + M·b)"),
    # A division that a value of a symbol makes exact.
    (["/", ["*", "@bf16", "M", "N"], ["*", 8, "N"]], "2·M"),
    (["/", ["+", ["*", "@fma", "n", "M"], ["*", "@fp4", "n"]], ["*", 2, "n"]], "M + 2"),
    (["/", ["*", 3, "M"], ["*", "@fma", "M"]], "⌈3·M / (2·M)⌉"),
    # Minima and maxima: what is in one of the same kind, and equal ones that are written differently.
    (["min", "n", 9, ["*", "@fma", 2]], "min(n, 4)"),
    (["max", ["*", "@fma", 2], 9], "9"),
    (["max", ["*", ["min", 1, "@fma"], ["max", 4, "N"]], 32], "max(N, 32)"),
    (["+", "n", ["min", "b", 16], ["*", -1, ["min", "@bf16", "b"]]], "n"),
    (["+", ["*", 2, ["min", "b", 16]], ["*", "n", ["min", "@bf16", "b"]]], "2·min(b, 16) + min(b, 16)·n"),
    # A term that disappears and comes again comes last.
    (["+", ["*", 8, "n"], "M", ["*", -4, "@fma", "n"], ["*", "@bf16", "n"]], "M + 16·n"),
]


def text() -> str:
    """Return the text of the golden file, a case a line."""
    cases = [json.dumps({"wire": wire, "text": shown}, ensure_ascii=False) for wire, shown in CASES]
    return f'{{\n"values": {json.dumps(VALUES)},\n"cases": [\n' + ",\n".join(cases) + "\n]\n}\n"


if __name__ == "__main__":
    (HERE / "formulas.json").write_text(text(), encoding="utf-8", newline="\n")
