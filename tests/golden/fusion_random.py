"""Random graphs, written as in `fusion_text.py`. Nothing of the package is imported.

Each op is drawn from the loops of a tensor that is there: a sum along one of them, a product with a tensor that shares
one. So a letter means one size in the whole graph.
"""

from __future__ import annotations

import math
import random
from typing import Final, NamedTuple

SIZES: Final = (1, 4, 16, 64, 100, 128, 512, 1000, 4096, 16384, 100_000)
KINDS: Final = ("elementwise", "broadcast", "injective", "keep", "drop", "scan", "matmul", "opaque")
WEIGHTS: Final = (5, 3, 2, 4, 3, 1, 6, 0.8)
DTYPES: Final = ("bf16", "bf16", "bf16", "fp32", "fp8", "int8")
MOST_LOOPS: Final = 5
MOST_ELEMENTS: Final = 2**42
"""The product of all sizes: FLOPs and bytes are exact as doubles."""


class Drawn(NamedTuple):
    """A tensor: its name, its loops, its dtype."""

    name: str
    loops: str
    dtype: str


class Draw:
    """Draws one graph."""

    def __init__(self, seed: int, ops: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - a test's dice
        self.sizes = {letter: self.dice.choice(SIZES) for letter in "bmnkde"}
        while math.prod(self.sizes.values()) > MOST_ELEMENTS:
            self.sizes[max(self.sizes, key=self.sizes.__getitem__)] = self.dice.choice(SIZES[:6])
        self.known: list[Drawn] = []
        self.named = set[str]()
        self.lines: list[str] = []
        for _ in range(self.dice.randint(1, 2)):
            self.known.append(self.made(self.dice.choice(["mk", "mk", "bmk", "mn", "k"])))
        for _ in range(ops):
            self.op()

    @property
    def text(self) -> tuple[str, str]:
        """Return the sizes of the loops, and the ops."""
        return " ".join(f"{letter}{size}" for letter, size in self.sizes.items()), "\n".join(self.lines)

    def made(self, loops: str, dtype: str = "") -> Drawn:
        return Drawn(f"t{len(self.known)}", loops, dtype or self.dice.choice(DTYPES))

    def added(self, loops: str, dtype: str = "") -> Drawn:
        self.known.append(self.made(loops, dtype))
        return self.known[-1]

    def some(self) -> Drawn:
        """Return a tensor, rather a late one."""
        return self.dice.choice(self.known[-3:] if self.dice.random() < 0.7 else self.known)

    def word(self, tensor: Drawn, *, is_output: bool = False) -> str:
        if tensor.name in self.named:
            return tensor.name
        self.named.add(tensor.name)
        return f"{tensor.name}[{tensor.loops}]{'!' if is_output else ''}/{tensor.dtype}"

    def op(self) -> None:
        kind = self.dice.choices(KINDS, WEIGHTS)[0]
        x = self.some()
        if kind == "matmul" and (len(x.loops) < 2 or self.dice.random() < 0.1):
            kind = "elementwise"
        reads, loops, how = getattr(self, f"_{kind}")(x)
        out = self.added(loops, self.dice.choice([x.dtype, x.dtype, *DTYPES]))
        if self.dice.random() < 0.08:
            how += f" extra={self.dice.choice([64, 4096, 10**6])}"
        head = f"o{len(self.lines)} {'reduction' if kind in ('keep', 'drop') else kind} {how}"
        words = [self.word(tensor) for tensor in dict.fromkeys(reads)]
        self.lines.append(f"{head}: {' '.join(words)} -> {self.word(out, is_output=self.dice.random() < 0.1)}")

    def each(self) -> int:
        return self.dice.choice([0, 1, 1, 8, 300])

    def _elementwise(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        beside = [one for one in self.known if one.loops == x.loops]
        return [x, self.dice.choice(beside)], x.loops, str(self.each())

    def _broadcast(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        loops = "".join(loop for loop in x.loops if self.dice.random() < 0.5) or x.loops[-1]
        old = [one for one in self.known if {*one.loops} < {*x.loops}]
        other = self.dice.choice(old) if old and self.dice.random() < 0.5 else self.added(loops)
        return [x, other], x.loops, str(self.each())

    def _injective(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        loops = [*x.loops]
        self.dice.shuffle(loops)
        return [x], "".join(loops), "0"

    def _over(self, x: Drawn) -> str:
        return "".join(sorted(self.dice.sample(x.loops, 2 if len(x.loops) > 2 and self.dice.random() < 0.2 else 1)))

    def _keep(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        over = x.loops[-1] if self.dice.random() < 0.7 else self._over(x)
        final = " final" if self.dice.random() < 0.3 else ""
        return [x], x.loops, f"5 over={over}{final}"

    def _drop(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        if len(x.loops) < 2:
            return self._keep(x)
        over = x.loops[-1] if self.dice.random() < 0.6 else self._over(x)
        final = " final" if self.dice.random() < 0.5 else ""
        kept = "".join(loop for loop in x.loops if loop not in over)
        return [x], kept, f"1 over={over} stats={self.dice.choice([1, 2])}{final}"

    def _scan(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        return [x], x.loops, str(self.each())

    def _opaque(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        return [x], x.loops, "10"

    def _matmul(self, x: Drawn) -> tuple[list[Drawn], str, str]:
        over = self.dice.choice(x.loops[-2:])
        rows = x.loops.replace(over, "")
        old = [
            one
            for one in self.known
            if over in one.loops
            and one != x
            and len({*one.loops} - {*x.loops}) == 1
            and len({*one.loops, *x.loops}) < MOST_LOOPS
        ]
        if old and self.dice.random() < 0.6:
            other = self.dice.choice(old)
        else:
            free = [loop for loop in "nked" if loop not in x.loops]
            batch = rows[0] if len(rows) > 1 and self.dice.random() < 0.5 else ""
            other = self.added(batch + over + self.dice.choice(free))
        return [x, other], rows + "".join(loop for loop in other.loops if loop not in x.loops), "2"


def drawn(seed: int, ops: int) -> tuple[str, str]:
    """Return the sizes and the ops of a random graph.

    Examples
    --------
    >>> drawn(1, 2) == drawn(1, 2)
    True
    """
    return Draw(seed, ops).text
