"""Write `fusion.json`, which pytest and vitest both hold partitions to. Run this file to write it anew.

Nothing of the package is imported. The kernels of `fusion_cases.py` are derived by hand, and `fusion_random.py` draws
more graphs from seeds. Everything about them follows from `golden_fusion.py` and `golden_forms.py`.

**The file** is ``{"bits", "conventions", "chips", "cases", "counts"}``. Ops, tensors and groups are counted from 0. An
int beyond 2^53 is text of its digits. ``bits`` has the bits of each dtype. ``chips`` are those of `fusion_cases.py`.

``cases``: graphs and their kernels on a chip

- ``graph``: the graph on the wire, textbook, without the tables at the top of the file; ``chip``: a key of ``chips``;
- ``groups``: what is said of each connected and convex group: ``{"ops", "form", "keeps", "need", "block", "reads",
  "times", "workspace", "bytes", "flops", "seconds"}``, or ``{"ops", "refusal"}`` with a code. ``reads`` and ``times``
  are by name. What is empty or 0 is left out;
- ``merges``: ``[groups, a, b, code]``: why groups a and b of this partition may not become one on the chip, or null;
- ``splits``: ``[groups, op, groups]``: the groups after op leaves its group;
- ``pairs``, ``xla``: the groups of these presets on the chip;
- ``best``: ``{"groups", "seconds", "bytes"}``: the fastest of all partitions.

``counts``: graphs with dimensions, conventions and precisions, whatever the chip

- ``graph``; ``env``: the value of every symbol in it (dimensions, ``@fma``, ``@bf16`` …);
- ``own``: FLOPs of the whole graph by class as its convention counts them, without the classes whose sum is 0;
- ``compulsory``: bytes of the graph inputs that are read, of the graph outputs, and of what is made and never read,
  which is written in any case;
- ``partitions``: ``{"groups", "legal", "refusal", "bytes", "flops", "precision", "total_bytes", "compulsory"}``;
  ``bytes`` has one number a group, ``flops`` one ``{class: n}`` a group, as peaks count them, without the classes whose
  sum is 0, ``precision`` one dtype or null a group. An illegal partition has ``refusal`` (the code of the first rule
  broken) and no counts.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import runpy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

Group: TypeAlias = frozenset[int]
Wire: TypeAlias = Any

HERE: Final = Path(__file__).parent
RANDOM: Final = 20
DRAWN_CASES: Final = 36
# The guide's tail with a residual of its own and with the normalised input as residual; two groups that wait for each
# other; and siblings that share nothing but an input.
DRAWN: Final = (
    "layernorm: x > y; gelu: y > z; dropout: z > d; add: d r > out",
    "layernorm: x > y; gelu: y > z; dropout: z > d; add: d x > out",
    "a1: x s > p; b1: p t > u; b2: t > q; a2: q s > v",
    "left: x > l; right: x > r; last: l r > out; other: r w > end",
)
# Products whose operands, results and epilogues have different dtypes.
TYPED: Final = (
    "*product: a/bf16 b/bf16 > c/bf16; cast: c > d/fp8",
    "*product: a/bf16 b/bf16 > c/bf16; cast: c > d/fp32",
    "*product: a/bf16 b/bf16 > c/fp32; *narrow: a e/fp8 > f/fp8",
    "*product: a/fp8 b/fp8 > c/bf16; gelu: c > d/bf16; scale: d > e/fp32",
    "*product: a/int8 b/int8 > c/int32; dequantise: c s/fp32 > d/bf16",
    "*mixed: a/bf16 b/int8 > c/bf16; *even: a d/fp8 > e/bf16; *tie: f/int8 d > g/bf16",
    "count: a/int32 > b/int32; shift: b > c/int32",
)
EXACT: Final = 2**53
BRUTE_FORCE: Final = 8
DIMS: Final = [["batch", 1, 1024, 32], ["seq", 128, 8192, 2048]]
BITS: Final = {"fp32": 32, "bf16": 16, "fp8": 8, "fp4": 4, "int8": 8, "int32": 32}
PEAKS: Final = {"fp32": 2**46, "bf16": 2**49, "fp8": 2**50, "fp4": 2**51, "int8": 2**48}
WORDS: Final = {
    "@fma": 2,
    "@transcendental": 1,
    "@divide": 1,
    "@sqrt": 1,
    "@compare": 1,
    "@causal": 2,
    "@padding": 1,
    "@write_allocate": 0,
    "@softmax": 5,
    "@accumulator": 0,
    "@vector": 1,
    "@apart": 0,
}
CONVENTIONS: Final = {"textbook": WORDS, "mac": {**WORDS, "@fma": 1, "@vector": 0}}
JUDGE: Final = runpy.run_path(str(HERE / "golden_fusion.py"))
FORMS: Final = runpy.run_path(str(HERE / "golden_forms.py"))
TEXT: Final = runpy.run_path(str(HERE / "fusion_text.py"))
HAND: Final = runpy.run_path(str(HERE / "fusion_cases.py"))
DRAW: Final = runpy.run_path(str(HERE / "fusion_random.py"))


def written(number: int) -> int | str:
    return number if abs(number) <= EXACT else str(number)


def product(*factors: Wire) -> Wire:
    """Return a product on the wire: one number first, then its other factors; a single factor is itself."""
    number = math.prod(factor for factor in factors if isinstance(factor, int))
    others: list[Wire] = []
    for factor in factors:
        if isinstance(factor, list) and factor[0] == "*":
            others += factor[1:]
        elif not isinstance(factor, int):
            others.append(factor)
    kept = [*([written(number)] if number != 1 or not others else []), *sorted(others, key=json.dumps)]
    return kept[0] if len(kept) == 1 else ["*", *kept]


def wired(
    name: str, ops: list[Any], tensors: list[Any], outputs: list[int], convention: str = "textbook"
) -> dict[str, Any]:
    """Return a graph on the wire."""
    text = json.dumps([ops, tensors])
    return {
        "name": name,
        "dims": [one for one in DIMS if f'"{one[0]}"' in text],
        "convention": convention,
        "ops": ops,
        "tensors": tensors,
        "outputs": outputs,
        "dtypes": BITS,
        "conventions": {convention: CONVENTIONS[convention]},
    }


def drawn(text: str) -> dict[str, Any]:
    """Return a graph of ops on 1,000,000 elements each, written as ``a: x y > z; …``.

    They are elementwise, or with a star products; a tensor is bf16, or what it says where it first stands: ``x/fp8``.
    """
    steps = [step.replace(":", " ").replace(">", " > ").split() for step in text.split(";")]
    typed = [name.partition("/") for step in steps for name in step[1:] if name != ">"]
    dtypes = {name: dtype or "bf16" for name, _, dtype in reversed(typed)}
    names = list(dict.fromkeys(name for name, *_ in typed))
    tensors = [
        {"name": name, "shape": [1000, 1000], "dtype": dtypes[name]}
        | {"bytes": ["/", ["*", 1000000, f"@{dtypes[name]}"], 8]}
        for name in names
    ]
    ops: list[dict[str, Any]] = []
    for name, *step in steps:
        middle = step.index(">")
        sides = (step[:middle], step[middle + 1 :])
        inputs, outputs = ([names.index(one.partition("/")[0]) for one in part] for part in sides)
        flops: dict[str, Wire] = {"vector": 1000000 * (1 + len(ops))}
        if name.startswith("*"):
            flops = {"tensor": product("@fma", 10**9)}
        kind = "matmul" if name.startswith("*") else "elementwise"
        op = {"name": name.removeprefix("*"), "kind": kind, "inputs": inputs, "outputs": outputs, "flops": flops}
        ops.append({**op, "extra": 0, "terms": []})
    read = {tensor for op in ops for tensor in op["inputs"]}
    return wired(text, ops, tensors, [t for op in ops for t in op["outputs"] if t not in read])


class Draw:
    """Draws one graph."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)  # noqa: S311 - a test's dice
        self.symbolic = number % 3 == 0
        self.huge = number % 12 == 7
        self.plain = number % 4 == 3
        self.name = f"random {number}"
        # Dice of their own for what came later: the graphs stay what they were.
        self.stating = random.Random(f"precision {number}")  # noqa: S311 - a test's dice
        self.reducing = random.Random(f"axes {number}")  # noqa: S311 - the same
        self.convention = "mac" if number % 7 == 5 else "textbook"
        self.ops: list[dict[str, Any]] = []
        self.tensors: list[dict[str, Any]] = []
        self.pool = self.shapes()
        self.late = 0.0 if self.plain else self.random.choice([0.0, 0.5, 3.0])
        few = number % 3 != 1
        self.count = self.random.randint(2, BRUTE_FORCE) if few else self.random.randint(BRUTE_FORCE + 1, 12)

    def shapes(self) -> list[list[Wire]]:
        rows, columns = (self.random.choice([32, 100, 128, 256, 1000, 4096]) for _ in range(2))
        if self.huge:
            rows, columns = 2**27 + self.random.randrange(999), 2**26 + self.random.randrange(999)
        first: Wire = self.random.choice(["batch", ["*", "batch", "seq"]]) if self.symbolic else rows
        return [[first, columns], [first, columns], [rows, columns], [columns], [first, 2 * columns], [rows, 1, 3]]

    def tensor(self, shape: list[Wire], dtype: str) -> int:
        bits = product(*shape, f"@{dtype}")
        name = f"t{len(self.tensors)}"
        self.tensors.append({"name": name, "shape": shape, "dtype": dtype, "bytes": ["/", bits, 8]})
        return len(self.tensors) - 1

    def dtype(self) -> str:
        return self.random.choices(list(BITS), [2, 12, 1, 1, 1, 0])[0]

    def inputs(self, most: int) -> list[int]:
        """Return tensors to read, rather late ones: of one kind of graph long chains come, of others wide ones."""
        weights = [1.0 + index * self.late for index in range(len(self.tensors))]
        drawn = self.random.choices(range(len(self.tensors)), weights, k=self.random.randint(1, most))
        return list(dict.fromkeys(drawn))

    def op(self, index: int) -> None:
        kinds = ["elementwise", "broadcast", "injective", "reduction", "matmul", "opaque"]
        weights = [10, 3, 2, 5, 4, 1]
        kind = self.random.choices(kinds, [1, 0, 0, 0, 0, 0] if self.plain else weights)[0]
        inputs = self.inputs(2 if kind == "matmul" or self.plain else 3)
        like = self.tensors[inputs[0]]["shape"]
        same = kind == "elementwise" or self.random.random() < 0.5
        outputs = [self.tensor(like if same else self.random.choice(self.pool), self.dtype())]
        if self.random.random() < 0.1:
            outputs.append(self.tensor(self.random.choice(self.pool), self.dtype()))
        made = self.tensors[outputs[0]]["shape"]
        flops, terms = self.flops(kind, made)
        extra: Wire = 0
        if self.random.random() < 0.15:
            extra = self.random.choice([4096, product(2, *made), ["/", product(*made, "@fp32"), 8]])
        self.ops.append(
            {"name": f"{kind} {index}", "kind": kind, "inputs": inputs, "outputs": outputs}
            | {"flops": flops, "extra": extra, "terms": terms}
            | ({"precision": self.stating.choice(list(PEAKS))} if self.stating.random() < 0.05 else {})
            | ({"axes": self.axes(len(like))} if kind == "reduction" else {})
        )

    def axes(self, rank: int) -> list[int]:
        """Return the axes that a reduction reduces: mostly the last one."""
        if self.reducing.random() < 0.6:
            return [rank - 1]
        return sorted(self.reducing.sample(range(rank), self.reducing.randint(0, rank)))

    def flops(self, kind: str, shape: list[Wire]) -> tuple[dict[str, Wire], list[list[Wire]]]:
        if kind == "matmul":
            counted: Wire = product("@fma", *shape, 2**40 if self.huge else self.random.choice([64, 128, 1024]))
            return {"tensor": counted}, [["multiply and add", counted]]
        if kind in {"injective", "opaque"}:
            return {}, []
        each = self.random.choice([1, 5, 8, 10, 300])
        counted = product(each, *shape)
        if self.random.random() < 0.3:
            apart = product("@transcendental", *shape)
            return {"vector": counted, "transcendental": apart}, [["arithmetic", counted], ["functions", apart]]
        if self.random.random() < 0.2:
            counted = ["+", counted, ["max", *([*shape, 7])]]
        return {"vector": counted}, [["arithmetic", counted]]

    def graph(self) -> dict[str, Any]:
        for _ in range(3 if self.plain else self.random.randint(1, 3)):
            self.tensor(self.random.choice(self.pool), self.dtype())
        for index in range(self.count):
            self.op(index)
        made = [tensor for op in self.ops for tensor in op["outputs"]]
        read = {tensor for op in self.ops for tensor in op["inputs"]}
        # Most of what nothing reads is a result; and some of what is read is one as well.
        chance = [0.9 if tensor not in read else 0.1 for tensor in made]
        outputs = [tensor for tensor, share in zip(made, chance, strict=True) if self.random.random() < share]
        return wired(self.name, self.ops, self.tensors, outputs or made[-1:], self.convention)


class Case:
    """What is written of one graph."""

    def __init__(self, number: int) -> None:
        draw = Draw(number)
        self.huge = draw.huge
        texts = dict(enumerate(DRAWN)) | dict(enumerate(TYPED, RANDOM))
        self.graph = drawn(texts[number]) if number in texts else draw.graph()
        self.random = random.Random(-number)  # noqa: S311 - a test's dice
        self.tight = random.Random(f"capacity {number}")  # noqa: S311 - the same
        self.env = self.values()
        self.judge = JUDGE["Judge"](self.graph, self.env)

    def values(self) -> dict[str, int]:
        """Return a value for every symbol: dimensions in their ranges, the rest as it stands in the graph."""
        dims = {name: self.random.randint(low, high) for name, low, high, _ in self.graph["dims"]}
        words = CONVENTIONS[self.graph["convention"]]
        return {**dims, **words, **{f"@{dtype}": bits for dtype, bits in BITS.items()}}

    def walk(self) -> list[list[Group]]:
        """Return legal partitions: the single ops, one on the way to fewer groups, and the one at the end of it."""
        groups = self.judge.single
        seen = [groups]
        while True:
            pairs = list(itertools.combinations(groups, 2))
            allowed = [pair for pair in pairs if self.judge.refusal(groups, *pair) is None]
            if not allowed:
                break
            groups = self.judge.ordered(self.judge.merged(groups, self.random.choice(allowed)))
            seen.append(groups)
        kept = {0, len(seen) // 2, len(seen) - 1, *(step for step, one in enumerate(seen) if self.has_cycle(one))}
        return [self.judge.ordered(seen[step]) for step in sorted(kept)[:4]]

    def has_cycle(self, groups: Sequence[Group]) -> bool:
        """Return whether some merge would be refused for a cycle: the rarest of codes."""
        return any(self.judge.refusal(groups, *pair) == "cycle" for pair in itertools.combinations(groups, 2))

    def illegal(self) -> Iterator[list[Group]]:
        """Go through a few random partitions that break a rule, of different codes."""
        codes = set[str]()
        for _ in range(60):
            labels = [self.random.randrange(max(2, self.judge.n - 1)) for _ in self.judge.all]
            groups = [frozenset(op for op in self.judge.all if labels[op] == label) for label in sorted(set(labels))]
            code = self.judge.fault(groups := sorted(groups, key=min))
            if code is not None and code not in codes and len(codes) < 2:
                codes.add(code)
                yield groups

    def counted(self, groups: Sequence[Group]) -> dict[str, Any]:
        code = self.judge.fault(groups)
        if code is not None:
            return {"groups": listed(groups), "legal": False, "refusal": code}
        moved = [self.judge.bytes(group) for group in groups]
        flops = [{key: written(n) for key, n in self.judge.flops(group).items()} for group in groups]
        totals = {"total_bytes": written(sum(moved)), "compulsory": written(self.judge.compulsory)}
        counts = {"bytes": [written(n) for n in moved], "flops": flops}
        precision = [self.judge.precision(group) for group in groups]
        return {"groups": listed(groups), "legal": True, **counts, "precision": precision, **totals}

    def own(self) -> dict[str, int | str]:
        sums = {key: sum(work.get(key, 0) for work in self.judge.own) for key in JUDGE["CLASSES"]}
        return {key: written(number) for key, number in sums.items() if number}

    def record(self) -> dict[str, Any]:
        return {
            "graph": self.graph,
            "env": self.env,
            "own": self.own(),
            "compulsory": written(self.judge.compulsory),
            "partitions": [self.counted(groups) for groups in [*self.walk(), *self.illegal()]],
        }


class ChipCase:
    """What is written of one graph on one chip."""

    def __init__(self, name: str, graph: dict[str, Any], chip: str) -> None:
        self.name, self.graph, self.chip = name, graph, chip
        how = (graph, HAND["CHIPS"][chip], TEXT["BITS"])
        self.kernels, self.compilers = FORMS["Kernels"](*how), FORMS["Kernels"](*how, compiler=True)
        self.judge = JUDGE["Judge"](graph | {"dtypes": TEXT["BITS"]}, {}, self.kernels)
        self.random = random.Random(name)  # noqa: S311 - a test's dice

    def groups(self) -> Iterator[dict[str, Any]]:
        for size in range(1, self.judge.n + 1):
            for ops in itertools.combinations(self.judge.all, size):
                group = frozenset(ops)
                if len(self.judge.linked(group, self.judge.touches)) == 1 and self.judge.is_convex(group):
                    yield {"ops": list(ops)} | self.said(group)

    def said(self, group: Group) -> dict[str, Any]:
        if code := self.judge.broken(group) or self.judge.refused(group):
            return {"refusal": code}
        way = self.kernels.way(group)
        tensors, ops = self.graph["tensors"], self.graph["ops"]
        found = {
            "form": way.form,
            "keeps": way.keeps,
            "need": way.need,
            "block": way.block,
            "reads": {tensors[t]["name"]: n for t, n in sorted(way.reads.items())},
            "times": {ops[op]["name"]: n for op, n in sorted(way.times.items())},
            "workspace": way.workspace,
            "bytes": written(self.kernels.bytes(group, way)),
            "flops": {word: written(n) for word, n in self.kernels.flops(group, way).items()},
            "seconds": self.kernels.seconds(group, way),
        }
        return {word: part for word, part in found.items() if part}

    def walk(self) -> list[list[Group]]:
        """Return partitions into kernels: the single ops, one on the way to fewer groups, and the last one."""
        groups = self.judge.single
        seen = [groups]
        while True:
            pairs = itertools.combinations(groups, 2)
            allowed = [pair for pair in pairs if self.judge.refusal(groups, *pair) is None]
            if not allowed:
                break
            groups = self.judge.ordered(self.judge.merged(groups, self.random.choice(allowed)))
            seen.append(groups)
        return [self.judge.ordered(seen[step]) for step in sorted({0, len(seen) // 2, len(seen) - 1})]

    def merges(self, groups: Sequence[Group]) -> Iterator[list[Any]]:
        """Go through some pairs of groups: each code once."""
        pairs = [*itertools.combinations(range(len(groups)), 2), (0, 0)]
        self.random.shuffle(pairs)
        told = set[str | None]()
        for a, b in pairs:
            code = self.judge.refusal(groups, groups[a], groups[b])
            if code not in told:
                told.add(code)
                yield [listed(groups), a, b, code]

    def splits(self, groups: Sequence[Group]) -> Iterator[list[Any]]:
        joined = sorted(op for group in groups if len(group) > 1 for op in group)
        for op in self.random.sample(joined, min(2, len(joined))):
            yield [listed(groups), op, listed(self.judge.split(groups, op))]

    def record(self) -> str:
        """Return the case as text: a line for each group, so that a person can read it."""
        legal = self.walk()
        seconds, moved, groups = self.judge.best()
        rest = {
            "merges": [merge for one in legal for merge in self.merges(one)],
            "splits": [split for one in legal[1:] for split in self.splits(one)],
            "pairs": listed(self.judge.pairs()),
            "xla": listed(self.judge.xla(self.compilers)),
            "best": {"groups": listed(groups), "seconds": seconds, "bytes": written(moved)},
        }
        parts = [f'"name": {text(self.name)}, "chip": {text(self.chip)}', f'"graph": {text(self.graph)}']
        parts.append('"groups": [\n  ' + ",\n  ".join(map(text, self.groups())) + "]")
        return "{" + ",\n ".join([*parts, *(f"{text(word)}: {text(part)}" for word, part in rest.items())]) + "}"


def text(part: Any) -> str:
    return json.dumps(part, separators=(",", ":"), ensure_ascii=False)


def listed(groups: Iterable[Group]) -> list[list[int]]:
    return [sorted(group) for group in groups]


def cases() -> Iterator[str]:
    """Go through the graphs on chips, as they are in the file."""
    graph_of, drawn_text = TEXT["graph_of"], DRAW["drawn"]
    for case in HAND["cases"]():
        yield ChipCase(case.name, graph_of(case.name, case.sizes, case.text), case.chip).record()
    for seed in range(DRAWN_CASES):
        name = f"random {seed}"
        yield ChipCase(name, graph_of(name, *drawn_text(seed, 3 + seed % 4)), "SGST"[seed % 4]).record()


def counts() -> Iterator[str]:
    """Go through the graphs without a chip, one a line."""
    return (text(Case(number).record()) for number in range(RANDOM + len(TYPED)))


def file() -> str:
    """Return the golden file."""
    tables = {"bits": {**TEXT["BITS"], **BITS}, "conventions": CONVENTIONS, "chips": HAND["CHIPS"]}
    parts = [f"{text(word)}: {text(table)}" for word, table in tables.items()]
    parts += [f'"{word}": [\n' + ",\n".join(each()) + "\n]" for word, each in (("cases", cases), ("counts", counts))]
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    (HERE / "fusion.json").write_text(file(), encoding="utf-8")
