"""What one kernel can do, worked out with sets and plain loops: the judge of the groups in fusion.json.

Nothing of the package is imported. Terms:

**Loops.** An op of a graph names the loops of its tensors' axes in its index text. Axes that ops share are one loop. An
axis of one element is no loop.
**Whole.** A tile of a tensor that has some loops whole has one element along each other loop.
**Live.** The most bytes of tiles on chip at a time, when ops run in their order: a tile is there from the op that makes
it, or from its first reader, to its last reader.
**Used.** A reduction is used if its result has the rank of what it reduces, or if an op of the group reads it. A
reduction that is not used adds up across blocks.
**Final.** A used reduction is final if it cannot be corrected later (`rescale`), if its result leaves the group, or if
an op of the group after it makes elements of less than 16 bits.
**Waves.** Blocks that run at the same time, one on each unit.

The functions of `Kernels` say how each form is priced. Refusals have a code only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Group: TypeAlias = frozenset[int]
Loops: TypeAlias = frozenset[int]

STEP: Final = 64
VECTOR: Final = 128
LINE: Final = 32
PARTIAL: Final = 4
CLASSES: Final = ("tensor", "vector", "transcendental")
ONE: Final = -1
"""Instead of the loop of an axis of one element."""


class Refused(Exception):  # noqa: N818 - it is a result
    """A group is no kernel. Its text is the code."""


@dataclass
class Way:
    """A way to run a group."""

    form: str
    need: float = 0
    keeps: str = ""
    block: int = 0
    reads: dict[int, int] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    workspace: int = 0


def texts_of(index: str) -> list[list[list[str]]]:
    """Return the letters of the axes of inputs and outputs. No letter is in parentheses here."""
    return [[list(part) for part in side.split(",")] for side in index.split("->")]


class Kernels:
    """Prices the groups of a graph on a chip."""

    def __init__(
        self, graph: Mapping[str, Any], chip: Mapping[str, Any], bits: Mapping[str, int], *, compiler: bool = False
    ) -> None:
        self.compiler, self._known = compiler, dict[Group, Way | str]()
        self.ops, self.tensors, self.chip = graph["ops"], graph["tensors"], chip
        self.all = range(len(self.ops))
        self.size = [int(one["bytes"]) for one in self.tensors]
        self.shape = [tuple(one["shape"]) for one in self.tensors]
        self.width = [bits[one["dtype"]] / 8 for one in self.tensors]
        self.bits = bits
        self.reads = [list(dict.fromkeys(op["inputs"])) for op in self.ops]
        self.makes = [list(op["outputs"]) for op in self.ops]
        self.maker = {t: op for op in self.all for t in self.makes[op]}
        self.readers = [{op for op in self.all if t in self.reads[op]} for t in range(len(self.tensors))]
        self.kept = [t in graph["outputs"] or not self.readers[t] for t in range(len(self.tensors))]
        self.before: list[set[int]] = []
        for op in self.all:
            near = {self.maker[t] for t in self.reads[op] if t in self.maker}
            self.before.append(near.union(*(self.before[one] for one in near)))
        self.after = [{other for other in self.all if op in self.before[other]} for op in self.all]
        self._join()

    def _join(self) -> None:
        """Find the loops: places of axes that an op, or two ops through a tensor, walk together."""
        parent: dict[Any, Any] = {}

        def find(place: Any) -> Any:
            while parent.setdefault(place, place) != place:
                place = parent[place]
            return place

        for op in self.all:
            if self.ops[op]["index"] is None:
                continue
            for side, tensors in zip(texts_of(self.ops[op]["index"]), (self.reads[op], self.makes[op]), strict=True):
                for letters, t in zip(side, tensors, strict=True):
                    for axis, letter in enumerate(letters):
                        if letter != "*":
                            parent[find((t, axis))] = find((op, letter))
        names: dict[Any, int] = {}
        self.axes = [
            [names.setdefault(find((t, axis)), len(names)) if n > 1 else ONE for axis, n in enumerate(shape)]
            for t, shape in enumerate(self.shape)
        ]
        self.sizes = {loop: n for t, axes in enumerate(self.axes) for loop, n in zip(axes, self.shape[t], strict=True)}
        self.walked = [
            {
                t: frozenset(self.axes[t][axis] for axis, letter in enumerate(letters) if letter != "*") - {ONE}
                for letters, t in zip(texts_of(self.ops[op]["index"])[0], self.reads[op], strict=True)
            }
            if self.ops[op]["index"] is not None
            else {}
            for op in self.all
        ]

    # -- what ops and tensors are --------------------------------------------------------------------------------------

    def loops(self, *tensors: int) -> Loops:
        return frozenset(loop for t in tensors for loop in self.axes[t]) - {ONE}

    def count(self, loops: Iterable[int]) -> int:
        return math.prod(self.sizes[loop] for loop in loops)

    def part(self, t: int, whole: Collection[int]) -> float:
        elements: int = math.prod(self.sizes[loop] for loop in self.axes[t] if loop in whole)
        return elements * self.width[t]

    def is_product(self, op: int) -> bool:
        return bool(self.ops[op]["kind"] == "matmul")

    def is_reduction(self, op: int) -> bool:
        return self.ops[op]["kind"] == "reduction" and bool(self.ops[op]["axes"])

    def keeps_rank(self, op: int) -> bool:
        return any(len(self.shape[t]) >= len(self.shape[self.reads[op][0]]) for t in self.makes[op])

    def over(self, *ops: int) -> Loops:
        """Return the loops that reductions reduce, or that products add up."""
        found = set[int]()
        for op in ops:
            if self.is_product(op):
                found |= frozenset().union(*self.walked[op].values()) - self.loops(*self.makes[op])
            else:
                found |= {self.axes[self.reads[op][0]][axis] for axis in self.ops[op]["axes"]}
        return frozenset(found - {ONE})

    def out(self, ops: Iterable[int]) -> Loops:
        return self.loops(*(t for op in ops for t in self.makes[op]))

    def made_in(self, t: int, group: Collection[int]) -> bool:
        return self.maker.get(t) in group

    def touched(self, group: Iterable[int]) -> list[int]:
        return list(dict.fromkeys(t for op in sorted(group) for t in (*self.reads[op], *self.makes[op])))

    def entering(self, group: Group) -> list[int]:
        return [t for t in self.touched(group) if not self.made_in(t, group)]

    def leaving(self, group: Group) -> list[int]:
        return [t for t in self.touched(group) if self.made_in(t, group) and (self.kept[t] or self.readers[t] - group)]

    def inner(self, group: Group) -> list[int]:
        return [t for t in self.touched(group) if self.made_in(t, group) and self.readers[t] & group]

    def used(self, group: Group) -> list[int]:
        reductions = [op for op in sorted(group) if self.is_reduction(op)]
        return [op for op in reductions if self.keeps_rank(op) or any(self.readers[t] & group for t in self.makes[op])]

    def is_final(self, op: int, group: Group) -> bool:
        leaves = any(self.kept[t] or self.readers[t] - group for t in self.makes[op])
        rounds = any(self.width[t] < 2 for other in self.after[op] & group for t in self.makes[other])
        return not self.ops[op]["rescale"] or leaves or rounds

    def sources(self, t: int, group: Group) -> set[int]:
        """Return the ops of a group that make a tensor, or something before it."""
        return ({self.maker[t]} | self.before[self.maker[t]]) & group if t in self.maker else set()

    def live(self, group: Group, tiles: Mapping[int, float]) -> float:
        spans = []
        for t, size in tiles.items():
            readers = self.readers[t] & group
            first = self.maker[t] if self.made_in(t, group) else min(readers)
            spans.append((first, max({first, *readers}), size))
        return max((sum(size for a, b, size in spans if a <= op <= b) for op in group), default=0)

    # -- the price of a way --------------------------------------------------------------------------------------------

    def bytes(self, group: Group, way: Way) -> int:
        moved = sum(self.size[t] * way.reads.get(t, 1) for t in self.entering(group))
        moved += sum(self.size[t] for t in self.leaving(group)) + sum(int(self.ops[op]["extra"]) for op in group)
        return moved + way.workspace

    def flops(self, group: Group, way: Way) -> dict[str, int]:
        total = dict.fromkeys(CLASSES, 0)
        for op in group:
            for word, n in self.ops[op]["flops"].items():
                total[word] += n * way.times.get(op, 1)
        return {word: n for word, n in total.items() if n}

    def rate(self, op: int, word: str) -> float:
        """Return the peak of an op: that of a product's wider operand, the floating one if both are equally wide."""
        if word != "tensor":
            return float(self.chip["vector"])
        dtypes = [self.tensors[t]["dtype"] for t in self.ops[op]["inputs"][:2]]
        return float(self.chip["tensor"][max(dtypes, key=lambda dtype: (self.bits[dtype], "int" not in dtype))])

    def seconds(self, group: Group, way: Way) -> float:
        compute = 0.0
        for op in sorted(group):
            for word, n in self.ops[op]["flops"].items():
                compute += n * way.times.get(op, 1) / self.rate(op, word)
        return max(compute, self.bytes(group, way) / float(self.chip["bandwidth"]))

    # -- which ways there are ------------------------------------------------------------------------------------------

    def way(self, group: Group) -> Way:
        """Return the fastest way to run a connected and convex group, of equally fast ones that of fewest bytes.

        Compilers make kernels of at most one product, without a reduction, a scan or a gather beside it.
        """
        if group not in self._known:
            try:
                self._known[group] = self._fastest(group)
            except Refused as why:
                self._known[group] = str(why)
        found = self._known[group]
        if isinstance(found, str):
            raise Refused(found)
        return found

    def gathers(self, op: int) -> bool:
        return self.ops[op]["kind"] == "injective" and "*" in self.ops[op]["index"]

    def _fastest(self, group: Group) -> Way:
        products = sorted(filter(self.is_product, group))
        if len(group) == 1 and (products or self.ops[min(group)]["kind"] == "opaque"):
            return Way("alone")
        beside = [op for op in group if self.is_reduction(op) or self.ops[op]["kind"] == "scan" or self.gathers(op)]
        if self.compiler and len(group) > 1 and (len(products) > 1 or (products and beside)):
            raise Refused("kinds")
        if not products:
            return self.without_products(group)
        level: dict[int, int] = {}
        for op in products:
            level[op] = 1 + max((level[other] for other in products if other in self.before[op]), default=0)
        if max(level.values()) > 2:
            raise Refused("kinds")
        before, after = self.sides(group, products)
        ways = (self.two_levels if max(level.values()) > 1 else self.one_level)(group, products, before, after)
        return min(ways, key=lambda way: (round(self.seconds(group, way), 15), self.bytes(group, way)))

    # -- rows ----------------------------------------------------------------------------------------------------------

    def without_products(self, group: Group) -> Way:
        used = self.used(group)
        crossing = [op for op in sorted(group) if self.is_reduction(op) and op not in used]
        if crossing and len({self.over(op) for op in (*used, *crossing)}) > 1:
            try:
                way = self.rows(group, sorted([*used, *crossing]), [])
            except Refused:
                way = Way("")
            if way.form == "rows":
                return way
        return self.rows(group, used, crossing)

    def partials(self, ops: Iterable[int], whole: Loops) -> int:
        """Return the bytes of sums that each unit writes once, and that are read once."""
        total = 0
        for op in ops:
            results = sum(math.prod(self.shape[t]) for t in self.makes[op])
            blocks = min(self.count(self.over(op) - whole), self.chip["units"])
            total += 2 * PARTIAL * self.ops[op]["stats"] * results * blocks
        return total

    def rows(self, group: Group, used: list[int], crossing: list[int]) -> Way:
        whole = self.over(*used)
        is_one = len({self.over(op) for op in used}) < 2
        if not used and crossing:
            ways = dict.fromkeys(map(self.over, crossing))
            workspace = min(self.partials([op for op in crossing if self.over(op) != free], free) for free in ways)
        else:
            workspace = self.partials([op for op in crossing if self.over(op) - whole], whole)
        if workspace and self.compiler:
            raise Refused("axes")
        tiles = {}
        for t in self.touched(group):
            held = self.held(t, group, used)
            beside = self.maker.get(t) in used or self.readers[t] & {*used}
            if not is_one and (held or beside):
                held = whole
            if held & self.loops(t):
                tiles[t] = self.part(t, held) * (self.lines(group, whole) if is_one else 1)
            elif t in self.inner(group):
                tiles[t] = min(VECTOR, math.prod(self.shape[t])) * self.width[t]
        need = self.live(group, tiles)
        if need <= self.chip["unit"]:
            return Way("rows" if whole else "stream", need, workspace=workspace)
        if not is_one:
            raise Refused("axes")
        if not whole:
            raise Refused("capacity")
        return self.again(group, used, whole, workspace)

    def held(self, t: int, group: Group, used: list[int]) -> Loops:
        """Return the loops of reductions that need a tensor before they are complete, and after it."""
        found = set[int]()
        readers = self.readers[t] & group
        for op in used:
            first = self.reads[op][0]
            if self.maker.get(t) == op:
                stays = self.made_in(first, group) or self.readers[first] & group & self.after[op]
                if self.keeps_rank(op) and not stays:
                    found |= self.over(op)
            elif readers & (self.before[op] | {op}):
                is_second = self.made_in(t, group) and op in readers and self.keeps_rank(op)
                if is_second or readers & self.after[op]:
                    found |= self.over(op)
        return frozenset(found)

    def lines(self, group: Group, whole: Loops) -> int:
        """Return the rows of a block that uses all bytes of a line of memory; more than 1 if rows are columns."""
        most = 1
        for t in (*self.entering(group), *self.leaving(group)):
            if self.loops(t) & whole and self.axes[t][-1] not in whole and self.shape[t][-1] > 1:
                most = max(most, math.ceil(LINE / self.width[t]))
        return min(most, self.count(self.loops(*self.touched(group)) - whole))

    def again(self, group: Group, used: list[int], whole: Loops, workspace: int) -> Way:
        """Return the way that reads what reductions need once more after each of them, and runs the ops between."""
        chain: dict[int, int] = {}
        for op in reversed(used):
            chain[op] = 1 + max((chain[other] for other in chain if other in self.after[op]), default=0)
        reads, times = {}, {}
        for t in self.entering(group):
            needing = [chain[op] for op in used if self.is_needed(t, op, group)]
            if needing and self.loops(t) & whole:
                reads[t] = 1 + max(needing)
        for one in group:
            needing = [chain[op] for op in used if one in self.sources(self.reads[op][0], group)]
            if needing:
                times[one] = 1 + max(needing)
        need = VECTOR * sum(self.width[t] for t in self.inner(group))
        return Way("two passes", need, reads=reads, times=times, workspace=workspace)

    def is_needed(self, t: int, op: int, group: Group) -> bool:
        first = self.reads[op][0]
        return first == t or bool(self.readers[t] & self.sources(first, group))

    # -- one level of products -----------------------------------------------------------------------------------------

    def sides(self, group: Group, products: list[int]) -> tuple[set[int], set[int]]:
        """Return the ops before products, and those after them or beside what follows them."""
        rest = group - {*products}
        before = {op for op in rest if self.after[op] & {*products}}
        after = {op for op in rest - before if self.before[op] & {*products}}
        after |= {op for op in rest & {*before} if self.before[op] & {*products}}
        after |= {op for op in rest - before - after if self.after[op] & after}
        if rest - before - after:
            raise Refused("kinds")
        for a, b in itertools.combinations(products, 2):
            is_row = b in self.after[a] or a in self.after[b]
            if not (is_row or {*self.reads[a]} & {*self.reads[b]} or self.after[a] & self.after[b] & group):
                raise Refused("kinds")
        return before, after

    def tile(self, live: float, side: int, product: int) -> float:
        one, other = (self.walked[product][t] for t in self.ops[product]["inputs"][:2])
        rows, columns = (self.out([product]) & mine - others for mine, others in ((one, other), (other, one)))
        return live * min(side, self.count(rows)) * min(side, self.count(columns))

    def side(self, live: float, product: int) -> int:
        side = STEP
        while live * (2 * side) ** 2 <= self.chip["unit"] / 2:
            side *= 2
        if self.tile(live, side, product) > self.chip["unit"]:
            raise Refused("capacity")
        return side

    def runs(self, op: int, products: Iterable[int], group: Group, side: int) -> int:
        """Return how often an op before products runs: for each block along the loops that an operand lacks."""
        lacking = {
            self.out([product]) - loops
            for product in products
            for t, loops in self.walked[product].items()
            if op in self.sources(t, group)
        }
        return max(1, sum(math.ceil(self.count(loops) / side) for loops in lacking))

    def edges(self, group: Group, side: int) -> int:
        total = 0
        for op in group:
            if self.is_reduction(op) and op not in self.used(group):
                results = sum(math.prod(self.shape[t]) for t in self.makes[op])
                blocks = math.ceil(self.count(self.over(op)) / side)
                total += 2 * PARTIAL * self.ops[op]["stats"] * results * (blocks if blocks > 1 else 0)
        return total

    def wide_results(self, group: Group, among: Collection[int], products: Iterable[int]) -> float:
        tiles = {t: self.width[t] for t in self.inner(group) if self.maker[t] in among}
        return self.live(group, tiles) or max(self.width[t] for op in products for t in self.makes[op])

    def one_level(self, group: Group, products: list[int], before: set[int], after: set[int]) -> list[Way]:
        used = self.used(group)
        first, last = ([op for op in used if op in side] for side in (before, after))
        for op, product in itertools.product(first, products):
            if product in self.after[op] and not self.over(op) <= self.over(product):
                raise Refused("axes")
        if any(self.is_reduction(op) and op not in used for op in before):
            raise Refused("kinds")
        whole = self.over(*last)
        if not whole <= self.out(products):
            raise Refused("axes")
        after_all = after | {*products}
        ways = []
        final = [op for op in first if self.is_final(op, group)]
        if not last:
            live = self.wide_results(group, after_all, products)
            largest = max(products, key=lambda op: max(math.prod(self.shape[t]) for t in self.makes[op]))
            ways.append(self.tiles(group, products, before, (live, largest), final))
        if used and not any(self.reads_window(op) for op in products):
            row, rows = self.rows_of_operands(group, products, final or ([] if last else first))
            rows -= whole
            if last:
                made = [t for t in self.touched(group) if self.maker.get(t) in after_all]
                kept = [t for t in made if t in self.inner(group) or self.maker[t] in products]
                row += self.live(group, {t: self.part(t, whole) for t in kept})
            ways += self.blocks(group, Way("whole rows", workspace=self.edges(group, STEP)), rows, row, before)
            if not ways:
                raise Refused("capacity")
        if not ways:
            raise Refused("kinds")
        return ways

    def reads_window(self, product: int) -> bool:
        """Return whether an operand has loops that neither the result nor another operand has: taps of a window."""
        for t, loops in self.walked[product].items():
            others = [each for other, each in self.walked[product].items() if other != t]
            if self.count(loops - self.out([product]).union(*others)) > 1:
                return True
        return False

    def tiles(
        self, group: Group, products: list[int], before: set[int], largest: tuple[float, int], final: list[int]
    ) -> Way:
        live, product = largest
        side = self.side(live, product)
        way = Way("tiles", self.tile(live, side, product), block=side, workspace=self.edges(group, side))
        way.times = {op: n for op in before if (n := self.runs(op, products, group, side)) > 1}
        if final:
            row, rows = self.rows_of_operands(group, products, final)
            kept = row * min(STEP, self.count(rows)) + self.tile(live, min(side, STEP), product)
            if kept <= self.chip["unit"]:
                way.keeps, way.need = "rows", kept
            else:
                way.keeps = "again"
                for t in self.entering(group):
                    if self.loops(t) & self.over(final[0]) and any(self.is_needed(t, op, group) for op in final):
                        way.reads[t] = 2
        return way

    def rows_of_operands(self, group: Group, products: list[int], kept: list[int]) -> tuple[float, Loops]:
        """Return the bytes of a row of what reductions make for products, or of what they read, and the rows' loops."""
        operands = dict.fromkeys(t for op in products for t in self.reads[op])
        made = [t for t in operands if self.sources(t, group) & {*kept}]
        raw = [t for op in kept for t in self.reads[op] if not self.made_in(t, group) and self.loops(t) & self.over(op)]
        summed, rows = self.over(*products), self.out(products)
        for t in made:
            rows &= self.loops(t)
        return max(sum(self.part(t, summed) for t in dict.fromkeys(some)) for some in (made, raw)), rows

    def blocks(self, group: Group, like: Way, rows: Loops, row: float, before: Collection[int]) -> list[Way]:
        """Return the fastest way with blocks of rows, the smallest of equally fast blocks, or no way if none fits."""
        products = {op for op in group if self.is_product(op)}
        lacking = [t for t in self.entering(group) if not rows <= self.loops(t)]
        batch = rows
        for t in lacking:
            if self.readers[t] & (products | {*before}):
                batch &= self.loops(t)
        rows -= batch
        entry = sum(self.size[t] / self.count(batch & self.loops(t)) for t in lacking)
        count, ways = self.count(rows), list[Way]()
        block = min(STEP, count)
        while row * block <= self.chip["unit"]:
            number, need = math.ceil(count / block), row * block
            waves = math.ceil(number / self.chip["units"])
            free = self.chip["shared"] - (need if self.chip["units"] == 1 else 0)
            way = Way(like.form, need, like.keeps, block, workspace=like.workspace)
            if waves > 1 and entry > free:
                way.reads = dict.fromkeys(lacking, waves)
            if number > 1:
                way.times = {op: number for op in before if not rows <= self.out([op])}
            ways.append(way)
            if block == count:
                break
            block = min(2 * block, count)

        def rank(way: Way) -> tuple[float, int, float]:
            return round(self.seconds(group, way), 15), self.bytes(group, way), way.need

        return [min(ways, key=rank)] if ways else []

    # -- two levels ----------------------------------------------------------------------------------------------------

    def two_levels(self, group: Group, products: list[int], before: set[int], after: set[int]) -> list[Way]:
        ones = [op for op in products if self.after[op] & {*products}]
        twos = [op for op in products if op not in ones]
        fed = [op for op in twos if self.before[op] & {*ones}]
        between = []
        for op in fed:
            made = [t for t in self.reads[op] if self.sources(t, group) & {*ones}]
            if len(made) != 1 or self.reads_window(op):
                raise Refused("kinds")
            between += made
        middle = {op for op in group - {*products} if self.before[op] & {*ones} and self.after[op] & {*fed}}
        tail, prologue = (before | after) - middle - before, before - middle
        tail |= {op for op in after if op not in middle and self.before[op] & {*products}}
        over, deep = self.over(*fed), self.over(*ones)
        rows = self.loops(between[0]) - over
        for op in ones:
            if not rows <= self.out([op]) <= rows | over:
                raise Refused("axes")
        used = self.used(group)
        for op in used:
            if (op in middle and not self.over(op) <= over) or (op in prologue and not self.over(op) <= deep | over):
                raise Refused("axes")
        if any(self.is_reduction(op) and op not in used and self.over(op) & rows for op in group):
            raise Refused("axes")
        return self.chain(group, (ones, twos, fed), (between, rows, over, deep), (middle, tail, prologue))

    def chain(self, group: Group, levels: Any, loops: Any, ops: Any) -> list[Way]:
        (ones, twos, fed), (between, rows, over, deep), (middle, tail, prologue) = levels, loops, ops
        used = self.used(group)
        width = self.out(twos) - rows
        results = [t for op in twos for t in self.makes[op]]
        lefts = dict.fromkeys(t for op in ones for t in self.reads[op] if rows <= self.loops(t))
        beside = dict.fromkeys(t for op in twos if op not in fed for t in self.reads[op] if rows <= self.loops(t))
        left = sum(self.part(t, deep | over) for t in lefts)
        result = sum(self.part(t, width) for t in results)
        in_middle = [op for op in used if op in middle]
        step = {t: STEP * self.width[t] for t in self.inner(group) if self.maker[t] in middle | {*ones}}
        ways = []
        if not any(self.is_final(op, group) for op in in_middle):
            row = left + result + self.live(group, step)
            ways += self.blocks(group, Way("chain", keeps="result"), rows, row, prologue)
        kept = sum(self.part(t, over) for t in dict.fromkeys(between))
        for op in in_middle:
            inputs = [t for t in self.reads[op] if self.made_in(t, group) and t not in between and self.loops(t) & over]
            kept += sum(self.part(t, over) for t in inputs)
        is_held = any(op in tail for op in used)
        row = left + kept + sum(self.part(t, self.loops(t) - rows) for t in beside if t not in lefts)
        row += result if is_held else STEP * sum(self.width[t] for t in results)
        ways += self.blocks(group, Way("chain", keeps="middle"), rows, row, prologue)
        if not is_held and not any(self.is_final(op, group) for op in used if op in prologue):
            ways += self.made_again(group, (ones, twos), (rows, width, kept), (middle, tail, prologue))
        if not ways:
            raise Refused("capacity")
        return ways

    def made_again(self, group: Group, levels: Any, loops: Any, ops: Any) -> list[Way]:
        (ones, twos), (rows, width, kept), (middle, tail, prologue) = levels, loops, ops
        read = {t for op in ones for t in self.reads[op] if not rows <= self.loops(t) and not self.made_in(t, group)}
        if sum(self.size[t] for t in read) > self.chip["shared"]:
            return []
        live, count = self.wide_results(group, tail | {*twos}, twos), self.count(rows)
        try:
            side = self.side(live, twos[0])
        except Refused:
            return []
        if count < STEP:
            side = min(side, count)

        def need(side: int) -> float:
            bytes_: float = kept * min(side, count) + self.tile(live, side, twos[0])
            return bytes_

        while side > STEP and need(side) > self.chip["unit"]:
            side //= 2
        if need(side) > self.chip["unit"]:
            return []
        times = math.ceil(self.count(width) / side)
        repeated = {*ones, *middle, *(op for op in prologue if self.after[op] & {*ones})}
        return [Way("chain", need(side), "nothing", side, times=dict.fromkeys(repeated, times) if times > 1 else {})]
