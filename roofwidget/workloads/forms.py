"""What one kernel can do on a chip: the form in which it runs, the bytes that it moves, and why a group is no kernel.

A kernel runs in blocks. A block keeps its tiles on chip; different units of the chip run different blocks. The form of
a kernel says which axes a block has whole, which it walks a few elements at a time, and which are spread over blocks:

- **stream**: tiles of `VECTOR` elements.
- **rows**: the axes that reductions use are whole. If a row does not fit, the kernel passes over it again
  (**two passes**).
- **tiles**: a matrix product. A tile of the result stays on chip; ops before the product run again for each block
  along the axes that their operand lacks, and ops after the product are free.
- **whole rows**: a matrix product whose block has rows of the result whole, for a softmax or a norm after it.
- **chain**: two matrix products one after the other. A block has rows of both and keeps the rows of the second result
  (flash attention), keeps the rows between the products, or computes them again for each block of the result.

Only what fusion forces is charged. A product alone moves what its formula says, so the operands of a fused product are
read once too, except in blocks of whole rows: operands without these rows are read once in each wave of blocks, unless
they stay in the memory that all units share.

Sources: Dao et al., FlashAttention (arXiv 2205.14135), for chains with a kept result; CUTLASS, example 13
(back-to-back products), for chains with a kept middle; Smith, Lowery, Langou and van de Geijn (arXiv 1702.02017) for
the bytes of one product. `STEP` and the half of the capacity that a product's tiles take are choices of this model.

`js/src/fusion/forms.ts` mirrors this file. The tests compare both with `tests/golden/fusion.json`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, prod
from operator import add
from typing import Final, NamedTuple

from roofwidget.chips import Chip, MissingFigureError, share_on_chip, shared_on_chip
from roofwidget.units import format_quantity
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.legality import FusionError, Refusal
from roofwidget.workloads.loops import Loops, LoopsOf, Set
from roofwidget.workloads.masks import Mask, members, union
from roofwidget.workloads.op import CLASSES
from roofwidget.workloads.structure import Counts, Structure
from roofwidget.workloads.tensors import DTYPES, is_floating

STEP: Final = 64
"""Elements of a walked axis that are on chip at a time, and the fewest rows of a block of a product."""
VECTOR: Final = 128
"""Elements of a tile if nothing must be whole."""
LINE: Final = 32
"""Bytes of one access to main memory."""
_PARTIAL: Final = 4  # bytes of a partial result, fp32
_ROUND: Final = 15  # digits of seconds at which two forms are equally fast


@dataclass(frozen=True)
class Form:
    """How a kernel runs on a chip.

    Parameters
    ----------
    name
        The form: ``"alone"``, ``"stream"``, ``"rows"``, ``"two passes"``, ``"tiles"``, ``"whole rows"``, ``"chain"``.
    keeps
        What a block keeps: ``"rows"`` or ``"again"`` of ``"tiles"``, ``"result"``, ``"middle"`` or ``"nothing"`` of
        ``"chain"``. Empty for other forms.
    need
        Bytes on chip at a time, for one block.
    block, blocks
        The rows or the side of a block, elements, and the number of blocks. 0 if the form has no such number.
    reads, times
        Tensors that the kernel reads more than once, and ops that it runs more than once: how often.
    workspace
        Bytes of partial results that the kernel writes and reads.
    """

    __module__ = "roofwidget.workloads"

    name: str
    need: float = 0
    keeps: str = ""
    block: int = 0
    blocks: int = 0
    reads: Mapping[int, int] = field(default_factory=dict)
    times: Mapping[int, int] = field(default_factory=dict)
    workspace: int = 0


_ONCE: Final = Form("")
"""A kernel that reads each tensor once and runs each op once."""


@dataclass(frozen=True)
class KernelForm:
    """How a group runs as one kernel on a chip, in names and numbers.

    Parameters
    ----------
    name, keeps, need, block, blocks, workspace
        As in ``Form``.
    units, capacity
        The units of the chip that run blocks, and the bytes that a block can keep. `capacity` is infinite if unknown.
    reads, times
        Names of tensors that the kernel reads more than once, and of ops that it runs more than once: how often.
    bytes, flops
        Bytes that the kernel moves, and FLOPs that it does, in all.
    """

    __module__ = "roofwidget.workloads"

    name: str
    keeps: str
    need: float
    capacity: float
    block: int
    blocks: int
    units: int
    reads: Mapping[str, int]
    times: Mapping[str, int]
    workspace: int
    bytes: int
    flops: int

    def __str__(self) -> str:
        parts = [self.name + (f", {self.keeps} kept" if self.keeps in {"rows", "result", "middle"} else "")]
        # Where the capacity is unknown, blocks have no meaningful size.
        if self.block and self.capacity < inf:
            parts.append(
                f"blocks of {self.block:,} rows" if self.blocks else f"tiles of {self.block:,} × {self.block:,}"
            )
            if self.blocks:
                idle = f", {self.units:,} units" if self.units > 1 else ""
                parts[-1] += f" ({self.blocks:,} of them{idle})"
        if self.need and self.capacity < inf:
            parts.append(f"{_bytes(self.need)} of {_bytes(self.capacity)} on chip")
        parts += [f"{name} read {n} times" for name, n in self.reads.items()]
        parts += [f"{name} computed {n} times" for name, n in self.times.items()]
        parts += [f"{_bytes(self.workspace)} of partial results"] if self.workspace else []
        return "; ".join(parts)


class Refused(Exception):  # noqa: N818 - not an error: it ends the search for a form
    """A group has no form."""

    def __init__(self, code: str, sentence: str, *ops: int) -> None:
        super().__init__(sentence)
        self.code, self.ops = code, ops


@dataclass
class _Group:
    """A group of ops, with what its forms need."""

    mask: Mask
    ops: list[int]
    loops: Loops
    dots: Mask
    used: list[int]
    """Reductions whose result the group needs complete, in order."""
    crossing: list[int]
    """Reductions that drop their axes and whose result only leaves."""
    entering: list[int]
    leaving: list[int]
    inner: list[int]
    touched: list[int]


class _Chain(NamedTuple):
    """Two levels of products of a group, with the ops around them."""

    ones: list[int]
    """The products of the first level."""
    twos: list[int]
    """The products of the second level."""
    fed: list[int]
    """The products of the second level that read results of the first. Others only meet their results."""
    mids: list[int]
    """The tensors between the levels."""
    middle: Mask
    """The ops between the levels."""
    tail: Mask
    """The ops after the second level."""
    pro: Mask
    """The ops before both levels, or before the second level alone."""
    rows: Set
    """The loops that both levels have in their results: blocks go along them."""
    over: Set
    """The loops that the second level adds up."""
    width: Set
    """The other loops of the results of the second level."""
    deep: Set
    """The loops that the first level adds up."""


class Forms:
    """The forms of the groups of one graph on one chip, with their bytes and times.

    Parameters
    ----------
    structure, counts
        The graph, and its counts as ints.
    chip
        The chip. Without a chip, and on a chip whose on-chip capacity is unknown, everything fits.
    precision
        The precision whose peak applies to every group; ``"auto"``: each group's own precision.
    launch_overhead
        Seconds per kernel.
    dims
        Values of dimensions that differ from their defaults.
    compiler
        Whether only kernels count that general compilers make today: at most one matrix product in a kernel, no
        reduction, scan or gather beside it, and no sums across blocks.
    """

    def __init__(  # noqa: PLR0917 - a graph, a chip, and how a kernel is timed
        self,
        structure: Structure,
        counts: Counts[int],
        chip: Chip | None,
        precision: str = "auto",
        launch_overhead: float = 0.0,
        dims: Mapping[str, int] | None = None,
        *,
        compiler: bool = False,
    ) -> None:
        s = structure
        self.structure, self.counts, self.chip = s, counts, chip
        self.share = None if chip is None else share_on_chip(chip)
        self.unit = inf if self.share is None else self.share.capacity
        self.units = 1 if self.share is None else self.share.units
        self.shared = inf if chip is None or self.share is None else shared_on_chip(chip)
        self.overhead, self.compiler, self._asked = launch_overhead, compiler, (precision, dims)
        self.bandwidth = inf if chip is None else chip.bandwidth()
        self.asked = "" if chip is None else chip.precision(precision)
        self.own = precision.casefold() == "auto"
        env = s.graph.environment(dims)
        self.shapes = [tuple(evaluate(size, env) for size in one.shape) for one in s.tensors]
        self.elements = [prod(shape) for shape in self.shapes]
        self.width = [DTYPES[dtype] / 8 for dtype in s.dtypes]
        self._small = [min(VECTOR, count) * width for count, width in zip(self.elements, self.width, strict=True)]
        self._shaped: Mask = s.of_kind["matmul"] | s.reducing
        self.loops = LoopsOf(s, self.shapes)
        self._touched = [(*reads, *makes) for reads, makes in zip(s.reads, s.makes, strict=True)]
        self._flops = [tuple(by_class.get(word, 0) for word in CLASSES) for by_class in counts.flops]
        self._peaks: dict[tuple[str, str], float] = {}
        self._known: dict[Mask, Form | Refusal] = {}
        self._spans: dict[tuple[int, Mask], Mask] = {}
        self._priced: dict[Mask, tuple[float, int] | tuple[()] | None] = {}
        self._summed: dict[Mask, tuple[int, tuple[int, ...], float]] = {0: (0, (0,) * len(CLASSES), 0.0)}
        # If all groups have the same precision, it is looked up only once.
        floating = (dtype for t, dtype in enumerate(s.dtypes) if is_floating(s.tensors[t].dtype))
        judging = {*floating, *(s.precision(1 << op, counts) for op in range(len(s.ops)))}
        self._only = judging.pop() if len(judging) == 1 else None

    def of_compilers(self) -> Forms:
        """Return the forms of the kernels that general compilers make today."""
        precision, dims = self._asked
        return Forms(self.structure, self.counts, self.chip, precision, self.overhead, dims, compiler=True)

    # -- what a group costs ----------------------------------------------------------------------------------------

    def form(self, group: Mask) -> Form | Refusal:
        """Return the fastest form of a group of connected ops, or why the group has none."""
        found = self._known.get(group)
        if found is None:
            try:
                found = self._fastest(group)
            except Refused as why:
                names = tuple(self.structure.names[op] for op in why.ops or members(group))
                found = Refusal(why.code, str(why), names)
            self._known[group] = found
        return found

    def described(self, group: Mask) -> KernelForm:
        """Return the fastest form of a group in names, or raise `FusionError`."""
        form, s = self.form(group), self.structure
        if isinstance(form, Refusal):
            raise FusionError(form)
        return KernelForm(
            form.name,
            form.keeps,
            form.need,
            self.unit,
            form.block,
            form.blocks,
            self.units,
            {s.tensors[t].name: n for t, n in form.reads.items()},
            {s.names[op]: n for op, n in form.times.items()},
            form.workspace,
            self.bytes(group, form),
            sum(self.flops(group, form)),
        )

    def refusal(self, group: Mask, spilled: Iterable[int] = ()) -> Refusal | None:
        """Return why a group has no form, or None. Parts between spilled tensors need a form each."""
        forms = map(self.form, self.structure.parts(group, spilled))
        return next((form for form in forms if isinstance(form, Refusal)), None)

    def spills(self, group: Mask, spilled: Iterable[int] = ()) -> set[int]:
        """Return the tensors to spill to main memory so that the parts of a group have forms, the largest first."""
        spills = set(spilled)
        for t in sorted(self.structure.inner(group), key=lambda t: (-self.counts.sizes[t], t)):
            if self.refusal(group, spills) is None:
                break
            spills.add(t)
        return spills

    def time(self, group: Mask, spilled: Iterable[int] = ()) -> float:
        """Return the seconds of a group, whose parts between spilled tensors run one after the other.

        A group that does not fit on this chip takes the time of its bytes and FLOPs.
        """
        total = 0.0
        for part in self.structure.parts(group, spilled):
            form = self.form(part)
            total += self.seconds(part, Form("") if isinstance(form, Refusal) else form)
        return total

    def bytes(self, group: Mask, form: Form) -> int:
        """Return the bytes that a group moves in a form."""
        return self._done(group, form)[0]

    def flops(self, group: Mask, form: Form) -> tuple[int, ...]:
        """Return the FLOPs by class that a group does in a form: repeated ops count each time."""
        return self._done(group, form)[1]

    def _done(self, group: Mask, form: Form) -> tuple[int, tuple[int, ...]]:
        moved, flops, _ = self._sums(group)
        for t, times in form.reads.items():
            moved += (times - 1) * self.counts.sizes[t]
        if not form.times:
            return moved + form.workspace, flops
        total = list(flops)
        for op, times in form.times.items():
            for at, more in enumerate(self._flops[op]):
                total[at] += (times - 1) * more
        return moved + form.workspace, tuple(total)

    def seconds(self, group: Mask, form: Form) -> float:
        """Return the bound time of a group in a form.

        Products of several precisions each have the peak of their own; all other FLOPs have the group's precision.
        """
        return self._cost(group, form)[0]

    def _cost(self, group: Mask, form: Form) -> tuple[float, int]:
        """Return the bound time of a group in a form, and its bytes."""
        moved, flops = self._done(group, form)
        compute = 0.0
        if self.chip is not None and any(flops):
            own = self._precision(group) if self.own else self.asked
            if self._is_mixed(group):
                compute = self._mixed(group, form, own)
            else:
                compute = sum(n / self._peak(word, own) for word, n in zip(CLASSES, flops, strict=True) if n)
        return max(compute, moved / self.bandwidth, self.overhead), moved

    def _rank(self, group: Mask, form: Form) -> tuple[float, int]:
        """Return the rounded time and bytes of a form. Without the group's peak on the chip, bytes give the time."""
        try:
            seconds, moved = self._cost(group, form)
        except MissingFigureError:
            moved = self.bytes(group, form)
            seconds = moved / self.bandwidth
        return round(seconds, _ROUND), moved

    def _is_mixed(self, group: Mask) -> bool:
        """Return whether the products of a group state several precisions that count."""
        if not self.own or self._only:
            return False
        s = self.structure
        return len({s.stated[op] for op in members(group & s.of_kind["matmul"])}) > 1

    def _mixed(self, group: Mask, form: Form, own: str) -> float:
        """Return the seconds of FLOPs, those of products at the precision that each states."""
        total = 0.0
        for op in members(group):
            for word, n in zip(CLASSES, self._flops[op], strict=True):
                if n:
                    precision = (self.structure.stated[op] if word == "tensor" else None) or own
                    total += n * form.times.get(op, 1) / self._peak(word, precision)
        return total

    def _precision(self, group: Mask) -> str:
        return self._only or self.structure.precision(group, self.counts) or self.asked

    def _sums(self, group: Mask, smaller: Mask = 0) -> tuple[int, tuple[int, ...], float]:
        """Return what the tensors and ops of a group add up to if it reads each tensor once and runs each op once.

        This is faster if `smaller`, a part of the group, was asked for before.

        Returns
        -------
        bytes, flops
            The bytes that the group moves, and its FLOPs by class.
        tiles
            An upper bound of the bytes of the tiles that a stream has on chip at a time.
        """
        found = self._summed.get(group)
        if found is None:
            s, counts = self.structure, self.counts
            if smaller not in self._summed:
                smaller = 0
            moved, flops, tiles = self._summed[smaller]
            touched = set[int]()
            for op in members(group & ~smaller):
                moved += counts.extra[op]
                flops = tuple(map(add, flops, self._flops[op]))
                touched.update(self._touched[op])
            for t in touched:
                read = s.readers[t] & group
                if s.producer[t] & group:
                    leaves = s.kept[t] or read != s.readers[t]
                    tiles += self._small[t] if read else 0
                else:
                    leaves = bool(read)
                moved += counts.sizes[t] * (leaves - s.crosses(t, smaller))
            # Tiles that the added ops do not touch stay as they were. Others may be new or be kept for longer.
            if tiles > self.unit and not group & self._shaped:
                tiles = self._stream_tiles(group)
            found = self._summed[group] = moved, flops, tiles
        return found

    def _peak(self, word: str, precision: str) -> float:
        if (word, precision) not in self._peaks and self.chip is not None:
            self._peaks[word, precision] = self.chip.peak_of(word, precision)[0]
        return self._peaks[word, precision]

    def price(self, group: Mask, smaller: Mask = 0) -> tuple[float, int] | None:
        """Return the seconds and the bytes of a group in its fastest form, or None if it has no form.

        This is faster if `smaller`, a part of the group, was asked for before.
        """
        found = self._priced.get(group, ())
        if found == ():
            *_, tiles = self._sums(group, smaller)
            is_once = not group & self._shaped and tiles <= self.unit
            form = _ONCE if is_once else self.form(group)
            found = self._priced[group] = None if isinstance(form, Refusal) else self._cost(group, form)
        return found or None

    def least(self, group: Mask, smaller: Mask = 0) -> tuple[float, int]:
        """Return the fewest seconds and bytes of a group in any form; -inf if its peak on the chip is unknown.

        This is faster if `smaller`, a part of the group, was asked for before.
        """
        self._sums(group, smaller)
        try:
            return self._cost(group, _ONCE)
        except MissingFigureError:
            return -inf, 0

    def done(self, group: Mask, spilled: Iterable[int] = ()) -> tuple[int, dict[str, int]]:
        """Return the bytes that a group moves and the FLOPs that it does on the chip; repeated ones count each time."""
        moved, total = 0, [0] * len(CLASSES)
        for part in self.structure.parts(group, spilled):
            form = self.form(part)
            found = Form("") if isinstance(form, Refusal) else form
            moved += self.bytes(part, found)
            total = [n + more for n, more in zip(total, self.flops(part, found), strict=True)]
        return moved, {word: n for word, n in zip(CLASSES, total, strict=True) if n}

    # -- which forms a group has -----------------------------------------------------------------------------------

    def _fastest(self, group: Mask) -> Form:
        s = self.structure
        dots = group & s.of_kind["matmul"]
        alone = not group & (group - 1)
        if self.compiler and not alone:
            self._check_compiler(group, dots)
        if alone and (dots or group & s.of_kind["opaque"]):
            return Form("alone")
        if not group & self._shaped:
            return self._stream(group)
        if not alone and group & s.shuffling:
            self._check_shuffles(group, dots)
        g = self._group(group, dots)
        if not dots:
            forms = self._by_rows(g)
        elif any(s.before[dot] & dots for dot in members(dots)):
            forms = self._chain(g)
        else:
            forms = self._product(g)
        if len(forms) == 1:
            return forms[0]
        return min(forms, key=lambda one: self._rank(group, one))

    def _check_compiler(self, group: Mask, dots: Mask) -> None:
        """Raise `Refused` for a kernel that no general compiler makes today."""
        s = self.structure
        if dots & (dots - 1):
            raise Refused("kinds", f"compilers give {s.label(dots)} a kernel each", *members(dots))
        beside = group & (s.reducing | s.of_kind["scan"] | s.gathering)
        if dots and beside:
            (op, *_), (dot, *_) = members(beside), members(dots)
            raise Refused(
                "kinds", f"compilers do not put {s.names[op]} beside the matrix product {s.names[dot]}", op, dot
            )

    def _check_shuffles(self, group: Mask, dots: Mask) -> None:
        """Raise `Refused` for elements that move in an unknown way beside a product, or after a reduction."""
        s = self.structure
        for op in members(group & s.shuffling):
            size = sum(self.counts.sizes[t] for t in {*s.reads[op], *s.makes[op]})
            if (dots or s.before[op] & group & s.reducing) and (self.chip is None or size > self.unit):
                needed, holds = self._compared(size)
                sentence = f"{s.names[op]} moves elements in a way that is not described: its tensors ({needed})"
                raise Refused("kinds", f"{sentence} do not fit on chip whole; {holds}", op)

    def _group(self, group: Mask, dots: Mask) -> _Group:
        s = self.structure
        loops = self.loops(group)
        if loops.joined is not None and dots:
            name = s.tensors[loops.joined].name
            raise Refused("axes", f"each block of {name} needs elements that other blocks make")
        used, crossing = list[int](), list[int]()
        for op in members(group & s.reducing):
            is_used = s.keeping >> op & 1 or s.feeds[op] & group
            (used if is_used else crossing).append(op)
        ops = list(members(group))
        touched = dict.fromkeys(t for op in ops for t in self._touched[op])
        made = dict.fromkeys(t for op in ops for t in s.makes[op])
        outside = ~group
        return _Group(
            group,
            ops,
            loops,
            dots,
            used,
            crossing,
            [t for t in touched if t not in made],
            [t for t in made if s.kept[t] or s.readers[t] & outside],
            [t for t in made if s.readers[t] & group],
            list(touched),
        )

    # -- tiles -----------------------------------------------------------------------------------------------------

    def _part(self, g: _Group, t: int, whole: Set) -> float:
        """Return the bytes of a tile that has the loops `whole` complete, and one element along each other loop."""
        elements = 1
        for size, axis in zip(self.shapes[t], g.loops.axes[t], strict=True):
            if axis and not axis & ~whole:
                elements *= size
            elif axis & whole:
                elements *= g.loops.count(axis & whole)
        return elements * self.width[t]

    def _most(self, group: Mask, tiles: Mapping[int, float]) -> float:
        """Return the most bytes of tiles that are on chip at a time. Ops run in the graph's order."""
        s = self.structure
        starts: dict[int, float] = {}
        ends: dict[int, float] = {}
        for t, size in tiles.items():
            made, readers = s.producer[t] & group, s.readers[t] & group
            first = (made or readers & -readers).bit_length() - 1
            last = max(first, readers.bit_length() - 1)
            starts[first] = starts.get(first, 0) + size
            ends[last] = ends.get(last, 0) + size
        now = most = 0.0
        for op in sorted({*starts, *ends}):
            now += starts.get(op, 0)
            most = max(most, now)
            now -= ends.get(op, 0)
        return most

    def _stream(self, group: Mask) -> Form:
        """Return the form of a group in which nothing must be whole."""
        need = self._stream_tiles(group)
        if need > self.unit:
            raise self._too_large(group, need)
        return Form("stream", need)

    def _stream_tiles(self, group: Mask) -> float:
        """Return the bytes of the tiles that a stream has on chip at a time."""
        return self._most(group, {t: self._small[t] for t in self.structure.inner(group)})

    # -- no matrix product: rows -----------------------------------------------------------------------------------

    def _by_rows(self, g: _Group) -> list[Form]:
        """Return the form without products. If all that is summed fits on chip, no partial results leave it."""
        if g.crossing and len({g.loops.over[op] for op in (*g.used, *g.crossing)}) > 1:
            try:
                form = self._rows(g, sorted((*g.used, *g.crossing)), [])
            except Refused:
                pass
            else:
                if form.name == "rows":
                    return [form]
        return [self._rows(g, g.used, g.crossing)]

    def _rows(self, g: _Group, used: list[int], crossing: list[int]) -> Form:
        overs = {op: g.loops.over[op] for op in (*used, *crossing)}
        wide = union(overs[op] for op in used)
        differ = len({overs[op] for op in used}) > 1
        if not used and crossing:
            # The kernel runs along the axes of one of the sums, which adds up for free: the others leave partial sums.
            free = min(
                dict.fromkeys(overs.values()),
                key=lambda over: self._partials(g, [op for op in crossing if overs[op] != over], over),
            )
            crossing = [op for op in crossing if overs[op] != free]
            workspace = self._partials(g, crossing, free)
        else:
            crossing = [op for op in crossing if overs[op] & ~wide]
            workspace = self._partials(g, crossing, wide)
        if workspace and self.compiler:
            raise Refused(
                "axes", f"compilers do not add up {self.structure.names[crossing[0]]} across blocks", crossing[0]
            )
        tiles = self._row_tiles(g, used, wide, overs, differ=differ)
        need = self._most(g.mask, tiles)
        if differ and self.chip is None:
            raise self._differing(g, used, overs, need)
        if need <= self.unit:
            return Form("rows" if wide else "stream", need, workspace=workspace)
        if differ:
            raise self._differing(g, used, overs, need)
        return self._passes(g, used, wide, workspace)

    def _row_tiles(
        self, g: _Group, used: list[int], wide: Set, overs: Mapping[int, Set], *, differ: bool
    ) -> dict[int, float]:
        """Return the bytes of the tiles of rows. If no reductions differ, the first that does not fit is the last."""
        s = self.structure
        lines = 1 if differ else self._lines(g, wide)
        reducing: dict[Set, Mask] = {}
        for op in used:
            reducing[overs[op]] = reducing.get(overs[op], 0) | 1 << op
        last = self._last(g, used)
        tiles = {}
        for t in g.touched:
            between = self._between(g, t, last)
            held = union(over for over, ops in reducing.items() if ops & between) if between else 0
            if differ and (held or (s.producer[t] | s.readers[t]) & union(reducing.values())):
                held = wide
            if held & g.loops.of(t):
                tiles[t] = lines * self._part(g, t, held)
                if tiles[t] > self.unit and not differ:
                    break
            elif s.producer[t] & g.mask and s.readers[t] & g.mask:
                tiles[t] = self._small[t]
        return tiles

    def _last(self, g: _Group, used: Iterable[int]) -> Mask:
        """Return the reductions whose result has the rank of what they reduce, and takes its place on chip."""
        s, found = self.structure, 0
        for op in used:
            source = s.reads[op][0]
            if not s.producer[source] & g.mask and not s.readers[source] & g.mask & s.after[op]:
                found |= 1 << op
        return found & s.keeping

    def _between(self, g: _Group, t: int, last: Mask) -> Mask:
        """Return the ops for which a tensor must be whole if they reduce: it is needed for them, and again after."""
        s = self.structure
        readers = s.readers[t] & g.mask
        found = s.producer[t] & last
        if s.producer[t] & g.mask:
            found |= readers & s.keeping
        if readers & (readers - 1):
            if (t, readers) not in self._spans:
                ops = list(members(readers))
                later, earlier = union(s.after[op] for op in ops), union(s.before[op] for op in ops)
                self._spans[t, readers] = (readers | later) & earlier
            found |= self._spans[t, readers]
        return found

    def _lines(self, g: _Group, wide: Set) -> int:
        """Return how many rows a block takes so that each line of memory that it reads or writes is used whole."""
        if not wide:
            return 1
        most = 1
        for t in (*g.entering, *g.leaving):
            axes = g.loops.axes[t]
            if g.loops.of(t) & wide and axes and not axes[-1] & wide and self.shapes[t][-1] > 1:
                most = max(most, ceil(LINE / self.width[t]))
        return min(most, g.loops.count(union(map(g.loops.of, g.touched)) & ~wide))

    def _partials(self, g: _Group, reductions: Iterable[int], wide: Set) -> int:
        """Return the bytes of partial sums: each unit writes its own once, and they are read once."""
        s, total = self.structure, 0
        for op in reductions:
            blocks = g.loops.count(g.loops.over[op] & ~wide)
            results = sum(self.elements[t] for t in s.makes[op])
            total += 2 * _PARTIAL * s.ops[op].stats * results * min(blocks, self.units)
        return total

    def _passes(self, g: _Group, used: list[int], wide: Set, workspace: int) -> Form:
        """Return the form of a kernel whose rows do not fit: what a reduction needs is read and made again after it."""
        s = self.structure
        deep: dict[int, int] = {}
        layers: list[Mask] = []
        for op in reversed(used):
            depth = next((n for n in range(len(layers), 0, -1) if layers[n - 1] & s.after[op]), 0)
            if depth == len(layers):
                layers.append(0)
            layers[depth] |= 1 << op
            deep[op] = depth + 1
        again: dict[int, int] = {}
        seen = 0
        for op in sorted(used, key=deep.__getitem__, reverse=True):
            makers = self._makers(g, op)
            again |= dict.fromkeys(members(makers & ~seen), 1 + deep[op])
            seen |= makers
        reads = {}
        for t in g.entering:
            if g.loops.of(t) & wide:
                readers = members(s.readers[t] & g.mask)
                first = {op: 1 + deep[op] for op in used if s.reads[op][0] == t}
                if most := max(max(again.get(op, 0), first.get(op, 0)) for op in readers):
                    reads[t] = most
        times = {op: again[op] for op in g.ops if op in again}
        need = VECTOR * sum(self.width[t] for t in g.inner)
        return Form("two passes", need, reads=reads, times=times, workspace=workspace)

    def _makers(self, g: _Group, op: int) -> Mask:
        """Return the ops of the group that make what a reduction reduces."""
        return self._behind(self.structure.reads[op][0]) & g.mask

    def _feeds(self, g: _Group, t: int, op: int) -> bool:
        """Return whether a reduction needs a tensor for its result."""
        s = self.structure
        return s.reads[op][0] == t or bool(s.readers[t] & self._makers(g, op))

    # -- matrix products -------------------------------------------------------------------------------------------

    def _cones(self, g: _Group) -> tuple[Mask, Mask]:
        """Return the ops before a product, and the ops that use the result of one or meet it."""
        s, names = self.structure, self.structure.names
        after, before = union(s.after[dot] for dot in members(g.dots)), union(s.before[dot] for dot in members(g.dots))
        upstream, downstream = before & g.mask & ~g.dots, after & g.mask & ~g.dots
        rest = g.mask & ~g.dots & ~upstream & ~downstream
        downstream |= union(1 << op for op in members(rest) if s.after[op] & downstream)
        if loose := rest & ~downstream:
            op, dot = next(members(loose)), next(members(g.dots))
            raise Refused("kinds", f"{names[op]} neither feeds {names[dot]} nor uses its result", op, dot)
        dots = list(members(g.dots))
        for at, one in enumerate(dots):
            for other in dots[at + 1 :]:
                meet = s.after[one] & s.after[other] & g.mask or (s.after[one] | s.before[one]) >> other & 1
                if not meet and not {*s.reads[one]} & {*s.reads[other]}:
                    sentence = f"{names[one]} and {names[other]} are matrix products that share no input and no result"
                    raise Refused("kinds", sentence, one, other)
        return upstream, downstream

    def _results(self, g: _Group, dots: Iterable[int]) -> Set:
        s = self.structure
        return union(g.loops.of(t) for dot in dots for t in s.makes[dot])

    def _operands(self, g: _Group, dot: int) -> list[tuple[int, Set]]:
        """Return the tensors that a product reads, with the loops that the product walks in each."""
        letters = g.loops.of_op[dot]
        return [
            (t, union(letters.get(letter, 0) for axis in axes for letter in axis))
            for t, axes in self.structure.walks[dot].reads
        ]

    def _side(self, g: _Group, live: float, dot: int) -> int:
        """Return the side of a product's tiles: the largest power of two whose tiles take half of the capacity."""
        side = STEP
        while live * (2 * side) ** 2 <= self.unit / 2 and side < 2**30:
            side *= 2
        need = self._tile(g, live, side, dot)
        if need > self.unit:
            raise self._too_large(g.mask, need, f"tiles of {side} × {side} elements need")
        return side

    def _tile(self, g: _Group, live: float, side: int, dot: int) -> float:
        """Return the bytes of a product's tiles. Rows are of the first operand only, columns of the second only.

        If no operand has a loop of the result, its rows and columns are unknown: a tile is then a square of the result.
        """
        one, other = [*(loops for _, loops in self._operands(g, dot)[:2]), 0, 0][:2]
        out = self._results(g, [dot])
        if out & ~(one | other):
            return live * min(side * side, g.loops.count(out))
        rows, columns = g.loops.count(out & one & ~other), g.loops.count(out & other & ~one)
        return live * min(side, rows) * min(side, columns)

    def _repeats(self, g: _Group, op: int, dots: Iterable[int], side: int) -> int:
        """Return how often an op before products runs: once for each block along the loops that its operands lack."""
        s, lacking = self.structure, set[Set]()
        for dot in dots:
            out = self._results(g, [dot])
            for t, loops in self._operands(g, dot):
                maker = s.producer[t] & g.mask
                if maker and (maker >> op & 1 or any(s.before[each] >> op & 1 for each in members(maker))):
                    lacking.add(out & ~loops)
        return max(1, sum(ceil(g.loops.count(loops) / side) for loops in lacking))

    def _final(self, g: _Group, op: int) -> bool:
        """Return whether a reduction must be complete before it is used, because it cannot be corrected later.

        What is rounded to less than 16 bits cannot be corrected.
        """
        s = self.structure
        later = [t for each in members(s.after[op] & g.mask) for t in s.makes[each]]
        is_rounded = any(self.width[t] < 2 and s.dtypes[t] != "bool" for t in later)  # noqa: PLR2004 - bytes
        return is_rounded or not s.ops[op].rescale or any(s.kept[t] or s.readers[t] & ~g.mask for t in s.makes[op])

    def _live(self, g: _Group, of: Mask, dots: Iterable[int]) -> float:
        """Return the bytes on chip for one element of the results of products and of what follows them."""
        s = self.structure
        tiles = {t: self.width[t] for t in g.inner if s.producer[t] & of}
        return self._most(g.mask, tiles) or max(self.width[t] for dot in dots for t in s.makes[dot])

    def _product(self, g: _Group) -> list[Form]:
        """Return the forms of a group with products of one level."""
        s = self.structure
        upstream, downstream = self._cones(g)
        dots = list(members(g.dots))
        first = [op for op in g.used if upstream >> op & 1]
        last = [op for op in g.used if downstream >> op & 1]
        self._check_product(g, dots, upstream, first, last)
        epilogue = g.dots | downstream
        forms = []
        if not last:
            live = self._live(g, epilogue, dots)
            forms.append(self._tiles(g, dots, upstream, live, [op for op in first if self._final(g, op)]))
        if not first and not last:
            return forms
        reads_neighbours = any(self._window(g, dot) for dot in dots)
        if self.chip is not None and not reads_neighbours:
            forms += self._whole_rows(g, dots, (upstream, epilogue), first, last)
        if not forms:
            made, norm = s.names[dots[0]], s.names[last[0]]
            sentence = f"{made} reads neighbours of each element, so {norm} cannot have its rows whole"
            raise Refused("kinds", sentence, dots[0], last[0])
        return forms

    def _check_product(self, g: _Group, dots: list[int], upstream: Mask, first: list[int], last: list[int]) -> None:
        """Raise `Refused` if a reduction before products, or after products, reduces axes that no form has whole."""
        s, names = self.structure, self.structure.names
        for op, dot in itertools.product(first, dots):
            if s.after[op] >> dot & 1 and g.loops.over[op] & ~g.loops.over[dot]:
                sentence = (
                    f"{names[op]} reduces {_axes_of(s.ops[op].axes)}, which {names[dot]} does not add up: "
                    "every block would need all of its rows"
                )
                raise Refused("axes", sentence, op, dot)
        if beside := [op for op in g.crossing if upstream >> op & 1]:
            raise Refused("kinds", f"{names[beside[0]]} neither feeds {names[dots[0]]} nor uses its result", beside[0])
        if union(g.loops.over[op] for op in last) & ~self._results(g, dots):
            raise Refused("axes", f"{names[last[0]]} reduces other axes than those of {names[dots[0]]}", last[0])
        if self.chip is None and last:
            sentence = f"{names[last[0]]} needs rows of {names[dots[0]]} whole: name the chip that holds them"
            raise Refused("axes", sentence, last[0])

    def _whole_rows(
        self, g: _Group, dots: list[int], sides: tuple[Mask, Mask], first: list[int], last: list[int]
    ) -> list[Form]:
        """Return the form whose blocks have rows of the operands or of the result whole, in a list.

        The list is empty if the rows do not fit, but products in tiles do.
        """
        s, (upstream, epilogue) = self.structure, sides
        whole = union(g.loops.over[op] for op in last)
        keeping = [op for op in first if self._final(g, op)] or ([] if last else first)
        per_row, rows = self._kept_rows(g, dots, keeping)
        rows &= ~whole
        if last:
            made = (t for t in g.touched if s.producer[t] & epilogue)
            tiles = {t: self._part(g, t, whole) for t in made if s.producer[t] & g.dots or t in g.inner}
            per_row += self._most(g.mask, tiles)
        found = self._blocks_of_rows(g, Form("whole rows", workspace=self._edges(g, STEP)), rows, per_row, upstream)
        if not found and last:
            count = min(STEP, g.loops.count(rows))
            what = s.tensors[s.makes[dots[0]][0]].name
            raise self._too_large(g.mask, count * per_row, _needed_by(count, what), last[0])
        return found

    def _tiles(self, g: _Group, dots: list[int], upstream: Mask, live: float, final: list[int]) -> Form:
        """Return the form of products in tiles of their results."""
        s = self.structure
        big = max(dots, key=lambda dot: max(self.elements[t] for t in s.makes[dot]))
        side = self._side(g, live, big)
        times = {op: n for op in members(upstream) if (n := self._repeats(g, op, dots, side)) > 1}
        need, keeps, reads = self._tile(g, live, side, big), "", {}
        if final:
            per_row, rows = self._kept_rows(g, dots, final)
            kept = per_row * min(STEP, g.loops.count(rows)) + self._tile(g, live, min(side, STEP), big)
            if kept <= self.unit:
                need, keeps = kept, "rows"
            else:
                keeps, over = "again", g.loops.over[final[0]]
                reads = {
                    t: 2 for t in g.entering if g.loops.of(t) & over and any(self._feeds(g, t, op) for op in final)
                }
        return Form("tiles", need, keeps, block=side, reads=reads, times=times, workspace=self._edges(g, side))

    def _edges(self, g: _Group, side: int) -> int:
        """Return the bytes of partial results of sums over tiles, such as a loss over a vocabulary."""
        s, total = self.structure, 0
        for op in g.crossing:
            blocks = g.loops.count(g.loops.over[op])
            if blocks > side:
                results = sum(self.elements[t] for t in s.makes[op])
                total += 2 * _PARTIAL * s.ops[op].stats * results * ceil(blocks / side)
        return total

    def _kept_rows(self, g: _Group, dots: list[int], keeping: list[int]) -> tuple[float, Set]:
        """Return the bytes of a row of the operands that must be complete on chip, and the loops of the rows."""
        s = self.structure
        summed, rows = union(g.loops.over[dot] for dot in dots), self._results(g, dots)
        made = [
            t
            for dot in dots
            for t in s.reads[dot]
            if s.producer[t] & g.mask and any((self._behind(t) >> op) & 1 for op in keeping)
        ]
        raw = [
            t for op in keeping for t in s.reads[op] if not s.producer[t] & g.mask and g.loops.of(t) & g.loops.over[op]
        ]
        for t in made:
            rows &= g.loops.of(t)
        return max(sum(self._part(g, t, summed) for t in dict.fromkeys(ts)) for ts in (made, raw)), rows

    def _behind(self, t: int) -> Mask:
        """Return the op that makes a tensor, and all ops before it."""
        maker = self.structure.producer[t]
        return maker | self.structure.before[maker.bit_length() - 1] if maker else 0

    def _blocks_of_rows(self, g: _Group, form: Form, rows: Set, per_row: float, upstream: Mask) -> list[Form]:
        """Return the fastest form whose blocks keep rows on chip, in a list; an empty list if not even one block fits.

        What lacks the rows is read once in each wave of blocks. It is read once in all if there is one wave, or if the
        memory that all units share holds it. The smallest of equally fast blocks fills most units.
        """
        s = self.structure
        lacking = [t for t in g.entering if rows & ~g.loops.of(t)]
        walked = [t for t in lacking if s.readers[t] & (g.dots | upstream)]
        batch = rows
        for t in walked:
            batch &= g.loops.of(t)
        rows &= ~batch
        count, entries = g.loops.count(rows), g.loops.count(batch)
        entry = sum(self.counts.sizes[t] / g.loops.count(batch & g.loops.of(t)) for t in lacking)
        spread = [op for op in members(upstream) if rows & ~union(g.loops.of(t) for t in s.makes[op])]
        found, block = list[Form](), min(STEP, count)
        while per_row * block <= self.unit:
            blocks, need = ceil(count / block), per_row * block
            waves = ceil(blocks / self.units)
            free = self.shared if self.units > 1 else self.shared - need
            again = 1 if waves == 1 or entry <= free else waves
            found.append(
                Form(
                    form.name,
                    need,
                    form.keeps,
                    block,
                    blocks * entries,
                    {t: again for t in lacking if again > 1},
                    {op: blocks for op in spread if blocks > 1},
                    form.workspace,
                )
            )
            if block == count:
                break
            block = min(2 * block, count)
        if not found:
            return []

        def rank(one: Form) -> tuple[float, int, float]:
            return *self._rank(g.mask, one), one.need

        return [min(found, key=rank)]

    def _window(self, g: _Group, dot: int) -> bool:
        """Return whether a product reads neighbours: one operand has loops that no other tensor of the product has."""
        operands = self._operands(g, dot)
        out = self._results(g, [dot])
        for t, loops in operands:
            others = out | union(each for other, each in operands if other != t)
            if g.loops.count(loops & ~others) > 1:
                return True
        return False

    def _chain(self, g: _Group) -> list[Form]:
        """Return the forms of a group with two levels of products."""
        s = self.structure
        c = self._levels(g)
        self._check_chain(g, c)
        # Products that add up different axes and have no common rows need all of their operands.
        alike = len({g.loops.over[dot] for dot in c.fed}) == 1
        lefts = self._with_rows(g, c.ones, c.rows, c.over if alike else 0)
        beside = [dot for dot in c.twos if dot not in c.fed]
        sides = [t for t in self._with_rows(g, beside, c.rows, c.width if alike else 0) if t not in lefts]
        left_row = sum(self._part(g, t, c.deep | c.over) for t in lefts)
        results = [t for dot in c.twos for t in s.makes[dot]]
        result_row = sum(self._part(g, t, c.width) for t in results)
        result_step = STEP * sum(self.width[t] for t in results)
        first = union(1 << dot for dot in c.ones)
        between = {t: self.width[t] for t in g.inner if s.producer[t] & (first | c.middle)}
        in_middle = [op for op in g.used if c.middle >> op & 1]
        in_tail = any(c.tail >> op & 1 for op in g.used)
        kept_row = sum(self._part(g, t, c.over) for t in dict.fromkeys(c.mids))
        inputs = (t for op in in_middle for t in s.reads[op] if s.producer[t] & g.mask and t not in c.mids)
        kept_row += sum(self._part(g, t, c.over) for t in inputs if g.loops.of(t) & c.over)
        side_row = sum(self._part(g, t, g.loops.of(t) & ~c.rows) for t in sides)
        one = left_row + result_row + STEP * self._most(g.mask, between)
        two = left_row + kept_row + side_row + (result_row if in_tail else result_step)
        forms = []
        if not any(self._final(g, op) for op in in_middle):
            forms += self._blocks_of_rows(g, Form("chain", keeps="result"), c.rows, one, c.pro)
        forms += self._blocks_of_rows(g, Form("chain", keeps="middle"), c.rows, two, c.pro)
        if not in_tail:
            forms += self._chain_again(g, c, kept_row)
        if not forms:
            block = min(STEP, g.loops.count(c.rows))
            needed, other, holds = self._compared(block * one, block * two)
            what = f"{_needed_by(block, self._listed([*results, *lefts]))} {needed}"
            raise Refused("capacity", f"{what}, {_rows(block)} of {self._listed(c.mids)} {other}; {holds}")
        return forms

    def _levels(self, g: _Group) -> _Chain:
        """Return the products of a chain by level, and its other ops, or raise `Refused`."""
        s, names = self.structure, self.structure.names
        upstream, downstream = self._cones(g)
        ones = [dot for dot in members(g.dots) if s.after[dot] & g.dots]
        twos = [dot for dot in members(g.dots) if not s.after[dot] & g.dots]
        first = union(1 << dot for dot in ones)
        fed = [dot for dot in twos if s.before[dot] & first]
        if self.chip is None:
            sentence = f"{names[ones[0]]} and {names[fed[0]]} are a chain of two products: name the chip that holds"
            raise Refused("axes", f"{sentence} their rows", ones[0], fed[0])
        mids = []
        for dot in fed:
            made = [t for t in s.reads[dot] if self._behind(t) & g.mask & first]
            if len(made) != 1:
                sentence = f"both operands of {names[dot]} are products of the same kernel: a block has rows of only"
                raise Refused("kinds", f"{sentence} one", dot)
            if self._window(g, dot):
                maker = names[next(members(s.producer[made[0]]))]
                sentence = f"{names[dot]} reads a window of the result of {maker}: neighbouring blocks would compute"
                raise Refused("kinds", f"{sentence} the same elements", dot)
            mids += made
        last = union(1 << dot for dot in fed)
        middle = union(1 << op for op in members(g.mask & ~g.dots) if s.before[op] & first and s.after[op] & last)
        over = union(g.loops.over[dot] for dot in fed)
        rows = g.loops.of(mids[0]) & ~over
        width = self._results(g, twos) & ~rows
        deep = union(g.loops.over[dot] for dot in ones)
        return _Chain(ones, twos, fed, mids, middle, downstream & ~middle, upstream & ~middle, rows, over, width, deep)

    def _check_chain(self, g: _Group, c: _Chain) -> None:
        """Raise `Refused` if the products of a chain differ in their rows, or if an op reduces rows."""
        names = self.structure.names
        for dot in c.ones:
            out = self._results(g, [dot])
            if out & ~(c.rows | c.over):
                raise Refused("axes", f"{names[dot]} has axes that {names[c.fed[0]]} does not use", dot, c.fed[0])
            if c.rows & ~out:
                raise Refused("axes", f"{names[dot]} does not have the rows of {names[c.fed[0]]}", dot, c.fed[0])
        allowed = {op: c.over for op in g.used if c.middle >> op & 1}
        allowed |= {op: c.deep | c.over for op in g.used if c.pro >> op & 1}
        for op, axes in allowed.items():
            if g.loops.over[op] & ~axes:
                raise Refused("axes", f"{names[op]} reduces along the rows that are spread over blocks", op)
        for op in g.crossing:
            if g.loops.over[op] & c.rows:
                raise Refused("axes", f"{names[op]} adds up rows that are spread over blocks", op)

    def _with_rows(self, g: _Group, dots: Iterable[int], rows: Set, columns: Set) -> list[int]:
        """Return the tensors that products read and that have all rows of a block; of a single row, no columns."""
        found = dict.fromkeys(t for dot in dots for t in self.structure.reads[dot])
        return [t for t in found if not (rows & ~g.loops.of(t) if rows else columns & g.loops.of(t))]

    def _chain_again(self, g: _Group, c: _Chain, kept_row: float) -> list[Form]:
        """Return the chain that makes the rows between the products again for each block of the result, in a list."""
        s = self.structure
        first = union(1 << dot for dot in c.ones)
        lacking = {t for dot in c.ones for t in s.reads[dot] if c.rows & ~g.loops.of(t) and not s.producer[t] & g.mask}
        is_final = any(self._final(g, op) for op in g.used if c.pro >> op & 1)
        if is_final or sum(self.counts.sizes[t] for t in lacking) > self.shared:
            return []
        last = union(1 << dot for dot in c.twos) | c.tail
        live, count = self._live(g, last, c.twos), g.loops.count(c.rows)
        try:
            side = self._side(g, live, c.twos[0])
        except Refused:
            return []
        if count < STEP:
            side = min(side, max(count, 1))

        def need(side: int) -> float:
            return kept_row * min(side, count) + self._tile(g, live, side, c.twos[0])

        while side > STEP and need(side) > self.unit:
            side //= 2
        if need(side) > self.unit:
            return []
        again = ceil(g.loops.count(c.width) / side)
        repeated = first | c.middle | union(1 << op for op in members(c.pro) if s.after[op] & first)
        times = dict.fromkeys(members(repeated), again) if again > 1 else {}
        return [Form("chain", need(side), "nothing", side, times=times)]

    # -- sentences -------------------------------------------------------------------------------------------------

    def _compared(self, *needs: float) -> list[str]:
        """Return the texts of needs, and what the chip holds. Sizes that rounding would make equal have 15 digits."""
        if self.share is None or self.chip is None:
            return [*map(_bytes, needs), "name the chip that holds this much"]
        whose = "a unit's share of the" if self.share.units > 1 else "the"
        texts = [_bytes(size) for size in (*needs, self.share.capacity)]
        if texts[-1] in texts[:-1]:
            texts = [_bytes(size, 15) for size in (*needs, self.share.capacity)]
        return [*texts[:-1], f"{whose} {self.share.level} of {self.chip.name} holds {texts[-1]}"]

    def _too_large(self, group: Mask, need: float, what: str = "", *ops: int) -> Refused:
        what = what or f"the tiles of {self.structure.label(group)} need"
        needed, holds = self._compared(need)
        return Refused("capacity", f"{what} {needed} at a time; {holds}", *ops)

    def _differing(self, g: _Group, used: list[int], overs: Mapping[int, Set], need: float) -> Refused:
        s = self.structure
        one, other = next((a, b) for a in used for b in used if overs[a] != overs[b])
        axes, others = (_axes_of(s.ops[op].axes) for op in (one, other))
        how = f"{s.names[one]} reduces {axes} and {s.names[other]} reduces {others}"
        if axes == others:
            how = f"{s.names[one]} and {s.names[other]} reduce {axes}, but elements are moved between them"
        needed, holds = self._compared(need)
        sentence = f"{how}: one kernel of {s.label(g.mask)} would keep {needed} on chip at a time; {holds}"
        return Refused("axes", sentence, one, other)

    def _listed(self, tensors: Iterable[int]) -> str:
        names = list(dict.fromkeys(self.structure.tensors[t].name for t in tensors))
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _needed_by(count: int, tensors: str) -> str:
    return f"{_rows(count)} of {tensors} {'needs' if count == 1 else 'need'}"


def _axes_of(axes: Sequence[int]) -> str:
    return f"{'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}"


def _bytes(size: float, *digits: int) -> str:
    return format_quantity(float(size), "B", *digits)
