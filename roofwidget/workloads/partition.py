"""A partition of a graph's ops into groups, with its bytes, FLOPs, time and possible changes. A group is one kernel.

>>> from roofwidget.workloads import Graph
>>> g = Graph("mlp tail")
>>> x = g.input("x", (65536, 4096), "bf16")
>>> g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
>>> unfused = Partition.unfused(g)
>>> unfused.total_bytes(), unfused.fuse("layernorm", "gelu").total_bytes(), Partition.fully(g).total_bytes()
(4831854592, 3758112768, 1073758208)
>>> print(unfused.why_not("layernorm", "add"))
gelu + dropout must run after layernorm and before add
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, wraps
from typing import Any, Concatenate, Final, Generic, NamedTuple, ParamSpec, TypeAlias, overload

from roofwidget import units
from roofwidget.chips import ChipLike
from roofwidget.chips import chip as find_chip
from roofwidget.kernels.table import Kernels
from roofwidget.support.arguments import list_argument, text_argument
from roofwidget.support.budget import Budget
from roofwidget.support.did_you_mean import choose_from, did_you_mean, keywords
from roofwidget.support.progress import Progress
from roofwidget.workloads import greedy, search
from roofwidget.workloads.expressions import Count, evaluate
from roofwidget.workloads.forms import Forms, KernelForm
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.legality import FusionError, Refusal, Rules
from roofwidget.workloads.masks import Mask, members
from roofwidget.workloads.op import Op, added
from roofwidget.workloads.partition_report import partition_html
from roofwidget.workloads.quotient import QuotientGraph, in_order
from roofwidget.workloads.structure import Structure
from roofwidget.workloads.tensors import Tensor

Which: TypeAlias = "str | Op | int | Iterable[str]"
Dims: TypeAlias = "Mapping[str, int] | None"

_COMPILERS: Final = ("compiler", "inductor", "xla")
_MIN_OPS_FOR_A_BAR: Final = 1000

P = ParamSpec("P")


class _OfGraph(Generic[P]):
    """A method that makes a partition of a graph.

    For example, ``Partition.best(graph, chip)`` takes the graph as an argument, and ``partition.best(chip)`` uses the
    graph of `partition`.
    """

    def __init__(self, make: Callable[Concatenate[Graph, P], Partition]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, partition: None, owner: type[Partition]) -> Callable[Concatenate[Graph, P], Partition]: ...
    @overload
    def __get__(self, partition: Partition, owner: type[Partition]) -> Callable[P, Partition]: ...
    def __get__(self, partition: Partition | None, owner: type[Partition]) -> Callable[..., Partition]:
        return self._make if partition is None else wraps(self._make)(partial(_made_of, self._make, partition))


def _made_of(make: Callable[..., Partition], partition: Partition, *args: Any, **how: Any) -> Partition:
    """Make a partition of the graph in the arguments. Without one, make it of the graph of `partition`."""
    has_graph = "graph" in how or (args and isinstance(args[0], Graph))
    return make(*args, **how) if has_graph else make(partition.graph, *args, **how)


class Partition:
    """Which ops of a graph run as one kernel. Immutable: `fuse`, `split` and `recompute` return a new partition.

    A group is given by an op in it, by its position in `groups`, or by the names of all its ops. Counts are exact ints,
    or expressions over the graph's dimensions; `dims` gives the values of dimensions that differ from their defaults.
    Kernels are compared with peaks, so a multiply-add counts as 2 FLOPs here in every convention, as in peak rates.

    Parameters
    ----------
    graph
        The graph. Later additions to the graph are not included.
    groups
        Groups of ops, in any order: names of ops, or their positions in ``graph.ops``. Each op occurs once.
    chip, dims
        The chip on which the tiles of each group must fit, at these dimensions. Without a chip, sizes of tiles are not
        checked, but groups that depend on them are refused: chains of two matrix products, rows of a product that must
        be whole, and reductions over different axes.

    Raises
    ------
    ValueError
        If an op is unknown, missing or given twice.
    FusionError
        If a group may not be one kernel, or kernels depend on each other in a cycle. The ``refusal`` of the error says
        why.

    Examples
    --------
    >>> from roofwidget.workloads import chain
    >>> g = chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=268_435_456)
    >>> by_twos = Partition(g, [["LayerNorm", "GELU"], ["Dropout", "Add"]])
    >>> by_twos
    Partition('chain': 4 ops in 2 kernels, 2.15 GB, 2× the compulsory bytes; textbook)
    >>> by_twos.kernels().arithmetic_intensity.tolist()
    [4.5, 0.5]
    """

    __module__ = "roofwidget"

    _structure: Structure
    _rules: Rules
    _masks: tuple[Mask, ...]
    _spilled: tuple[int, ...]
    how: search.How | None
    """How `best` found this partition: ``"optimal"`` or ``"greedy"``. None for other partitions."""
    evaluations: int | None
    """The number of steps that the search of `best` tried. None for other partitions."""
    budget_ended: bool
    """Whether the time for `best` ended before the search. Then a longer search may find a faster partition."""

    @keywords("Partition")
    def __init__(
        self,
        graph: Graph,
        groups: Iterable[Iterable[str | int]],
        *,
        chip: ChipLike | None = None,
        dims: Dims = None,
    ) -> None:
        self.__dict__.update(Partition.on_some_chip(graph, groups).__dict__)
        forms = _forms(self._structure, chip, dims)
        for group in self._masks:
            if refusal := forms.refusal(group):
                raise FusionError(refusal)

    @staticmethod
    def on_some_chip(graph: Graph, groups: Iterable[Iterable[str | int]]) -> Partition:
        """Return a partition without a check that its tiles fit on a chip.

        A widget makes its partitions in this way. Its page checks each merge for the chip in focus, and users can
        change this chip later.
        """
        structure = _structure(graph, "(graph, groups)")
        rules = Rules(structure)
        given = list_argument(groups, "groups", "[['gelu', 'add'], ['norm']]")
        masks = [_mask_of(structure, group) for group in given]
        _check(rules, masks)
        return Partition._new(rules, masks)

    def _with(self, groups: Sequence[Mask], spilled: Iterable[int] = ()) -> Partition:
        spilled = {*self._spilled, *spilled}
        return Partition._new(self._rules, groups, spilled=spilled)

    # -- making a partition ----------------------------------------------------------------------------------------

    @_OfGraph
    @staticmethod
    def unfused(graph: Graph) -> Partition:
        """Return the partition with one kernel per op."""
        structure = _structure(graph, "unfused(graph)")
        return Partition._new(Rules(structure), greedy.singles(structure))

    @_OfGraph
    @staticmethod
    @keywords("Partition.fully")
    def fully(graph: Graph, *, chip: ChipLike | None = None, dims: Dims = None) -> Partition:
        """Merge groups until no merge is legal, and return the partition.

        The merge that saves most bytes is always done next.

        Parameters
        ----------
        graph, dims
            The graph, at these dimensions.
        chip
            A chip on which the tiles of every kernel must fit. Without a chip, sizes of tiles are not checked, and what
            depends on them is not merged, as in `Partition`.
        """
        forms, rules = _forms_and_rules(graph, chip, dims, "fully(graph)")
        return Partition._new(rules, greedy.fully(rules, forms))

    @_OfGraph
    @staticmethod
    @keywords("Partition.pairs")
    def pairs(graph: Graph, *, chip: ChipLike | None = None, dims: Dims = None) -> Partition:
        """Return a partition with at most two ops per kernel, merged as by `fully`."""
        forms, rules = _forms_and_rules(graph, chip, dims, "pairs(graph)")
        return Partition._new(rules, greedy.pairs(rules, forms))

    @staticmethod
    @keywords("Partition.like")
    def like(
        which: str,
        graph: Graph,
        chip: ChipLike | None = None,
        *,
        precision: str = "auto",
        launch_overhead: float | str = 0.0,
        dims: Dims = None,
        max_autotune: bool = False,
    ) -> Partition:
        """Return the partition that a compiler would make by its published rules.

        Compilers make fewer kernels than people write: at most one matrix product in a kernel, no reduction, scan or
        gather beside it, and no sums across blocks.

        Parameters
        ----------
        which
            ``"xla"`` fuses producers into all their consumers; the producer that saves most time on `chip` is first.
            ``"inductor"`` fuses pairs; the pair that shares most bytes is first. Matrix products are not fused unless
            `max_autotune`. ``"compiler"`` is the fastest partition of such kernels: an upper estimate of both.
        graph, dims
            The graph, at these dimensions.
        chip
            The chip; ``"xla"`` needs it. If given, the tiles of every kernel must fit on it.
        precision, launch_overhead
            As in `time`.
        max_autotune
            Whether Inductor writes matrix products itself, with elementwise ops around them.

        Raises
        ------
        ValueError
            If there are no rules of that name.
        TypeError
            If ``"xla"`` or ``"compiler"`` gets no chip.
        """
        if which not in _COMPILERS:
            raise ValueError(f"no rules like those of {which!r:.40}{choose_from(which, _COMPILERS)}")
        forms, rules = _forms_and_rules(graph, chip, dims, "like(which, graph, chip)", precision, launch_overhead)
        forms = forms.of_compilers()
        if which == "inductor":
            return Partition._new(rules, greedy.inductor_like(rules, forms, products=max_autotune))
        if forms.chip is None:
            call = f"Partition.like({which!r}, graph, 'v5p')"
            raise TypeError(f"the rules of {which!r} weigh times: name a chip, such as {call}")
        if which == "compiler":
            return Partition._found(rules, search.fastest(rules, forms))
        return Partition._new(rules, greedy.xla_like(rules, forms))

    @_OfGraph
    @staticmethod
    @keywords("Partition.best")
    def best(
        graph: Graph,
        chip: ChipLike,
        precision: str = "auto",
        *,
        launch_overhead: float | str = 0.0,
        dims: Dims = None,
        seconds: float | str | None = None,
        progress: Progress = None,
    ) -> Partition:
        """Return the partition with the shortest `time` on a chip. In a tie, partitions with few kernels are preferred.

        ``partition.best(chip)`` is the best partition of the same graph.

        Dynamic programming over downsets finds it if 100,000 steps suffice. Otherwise groups are merged greedily, as
        long as a merge saves time. `how` names the method that was used, and `evaluations` is the number of steps.

        With `seconds`, groups are first merged greedily, and the exact search has the rest of the time. When the time
        ends, the best partition found so far is returned, and `budget_ended` is true.

        Parameters
        ----------
        graph, dims
            The graph, at these dimensions.
        chip
            The chip, its name in the catalogue, or `HardwarePeaks`; the tiles of every kernel must fit on it.
        precision, launch_overhead
            As in `time`.
        seconds
            The time for the search: seconds, or a text such as ``"10 s"``. Without it the search always ends.
        progress
            None: a bar in a notebook if tqdm is installed and the graph has at least 1,000 ops. True: a bar. False: no
            bar. Or a function of two numbers: how much is done, and the whole. The exact search counts the ops that it
            has finished. The greedy search counts its merges, and their whole number is None, because it is unknown.

        Examples
        --------
        >>> g = Graph("tail")
        >>> x = g.input("x", (65536, 4096), "bf16")
        >>> g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
        >>> Partition.best(g, "v5p")
        Partition('tail': 4 ops in 1 kernel, 1.07 GB, 1× the compulsory bytes; textbook; optimal)
        """
        budget = Budget(None if seconds is None else units.positive(units.parse(seconds, "s", "seconds"), "seconds"))
        # An error of the graph comes before an error of the chip: the two may be swapped.
        there = find_chip(chip) if isinstance(graph, Graph) else None
        forms, rules = _forms_and_rules(graph, there, dims, "best(graph, chip)", precision, launch_overhead)
        if progress is None and len(forms.structure.ops) < _MIN_OPS_FOR_A_BAR:
            progress = False
        return Partition._found(rules, search.fastest(rules, forms, budget=budget, progress=progress))

    @staticmethod
    def _found(rules: Rules, found: search.Found) -> Partition:
        how: dict[str, Any] = {"how": found.how, "evaluations": found.evaluations, "budget_ended": found.budget_ended}
        return Partition._new(rules, found.groups, **how)

    @staticmethod
    def _new(
        rules: Rules,
        groups: Sequence[Mask],
        *,
        spilled: Iterable[int] = (),
        how: search.How | None = None,
        evaluations: int | None = None,
        budget_ended: bool = False,
    ) -> Partition:
        """Return a partition of legal groups, in an order in which they can run.

        A spilled tensor counts only if a group would keep it on chip.
        """
        new = object.__new__(Partition)
        new._structure = structure = rules.structure
        new._rules = rules
        new._masks = tuple(in_order(structure, groups) or ())
        on_chip = {t for group in new._masks for t in structure.inner(group)} if spilled else set()
        new._spilled = tuple(sorted(on_chip.intersection(spilled)))
        new.how, new.evaluations, new.budget_ended = how, evaluations, budget_ended
        return new

    # -- contents --------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._structure.graph

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of the ops of each group, in the graph's order.

        The groups are in an order in which they can run. If several groups may run next, the group with the first op is
        next.
        """
        return tuple(tuple(self._structure.names[op] for op in group) for group in self.indices)

    @cached_property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """The positions in ``graph.ops`` of the ops of each group."""
        return tuple(tuple(members(group)) for group in self._masks)

    @property
    def spilled(self) -> tuple[str, ...]:
        """Names of the tensors inside groups that go to main memory and back, because tiles do not fit on chip."""
        return tuple(self._structure.tensors[t].name for t in self._spilled)

    # -- counts ---------------------------------------------------------------------------------------------------

    def bytes(self, group: Which) -> Count:
        """Return the bytes of a group: tensors that enter, tensors that leave, and extra bytes of the group's ops.

        Each tensor counts once. `form` says what the group moves on a chip, where it may read tensors again.
        """
        return self._structure.bytes(self._find(group), self._structure.counts, self._spilled)

    def flops(self, group: Which) -> dict[str, Count]:
        """Return the FLOPs of a group by class, each op run once, without classes that have no FLOPs."""
        return self._structure.flops(self._find(group), self._structure.counts)

    def total_bytes(self) -> Count:
        """Return the bytes of all groups."""
        s = self._structure
        return added(tuple(s.bytes(group, s.counts, self._spilled) for group in self._masks))

    def total_flops(self) -> Count:
        """Return the FLOPs of all groups and classes. Only `recompute` changes this number."""
        return added(tuple(self._structure.flops(self._structure.everything, self._structure.counts).values()))

    @property
    def compulsory_bytes(self) -> Count:
        """Bytes of the inputs that ops read, and of the outputs. No fusion moves fewer bytes than these."""
        return self._structure.compulsory(self._structure.counts)

    def excess(self, dims: Dims = None) -> float:
        """Return the total bytes divided by the compulsory bytes."""
        env = self.graph.environment(dims)
        total, least = evaluate(self.total_bytes(), env), evaluate(self.compulsory_bytes, env)
        return 1.0 if total == least else total / least

    def kernels(self, dims: Dims = None, *, chip: ChipLike | None = None) -> Kernels:
        """Return one kernel per group, named ``a + b``, with FLOPs by class, bytes of main memory, and a precision.

        The precision is the precision of the op with most FLOPs among the ops that state a precision. Matrix products
        state the dtype of the wider operand. If no op states a precision, the kernel's precision is the dtype of the
        largest floating-point tensor that leaves the group. A group without FLOPs has no precision.

        With a chip, a kernel has the bytes and FLOPs that it moves and does there: what its form on this chip reads or
        computes again counts each time, as hardware counters count it. A group without a form there counts once.
        """
        forms = None if chip is None else _forms(self._structure, chip, dims)
        return self._structure.kernels(self._masks, self._spilled, dims, forms=forms)

    def form(self, group: Which, chip: ChipLike, *, dims: Dims = None) -> KernelForm:
        """Return how a group runs as one kernel on a chip.

        Raises
        ------
        FusionError
            If the group is no kernel on this chip.
        """
        mask, forms = self._find(group), _forms(self._structure, chip, dims)
        return forms.described(mask)

    @keywords("Partition.time")
    def time(
        self, chip: ChipLike, precision: str = "auto", dims: Dims = None, *, launch_overhead: float | str = 0.0
    ) -> float:
        """Return the seconds of all kernels, run one after the other: the sum of their bound times.

        Parameters
        ----------
        chip
            The chip, or its name in the catalogue.
        precision
            The precision whose peak applies to every kernel; ``"auto"`` uses each kernel's own precision.
        dims
            Values of dimensions that differ from their defaults.
        launch_overhead
            Seconds per kernel, as in `roofwidget.bound`.

        Raises
        ------
        MissingFigureError
            If the chip lacks a precision.
        """
        text_argument(precision, "precision")
        forms = _forms(self._structure, find_chip(chip), dims, precision, launch_overhead)
        return sum(forms.time(group, self._spilled) for group in self._masks)

    # -- changes ---------------------------------------------------------------------------------------------------

    @keywords("Partition.why_not")
    def why_not(self, a: Which, b: Which, *, chip: ChipLike | None = None, dims: Dims = None) -> Refusal | None:
        """Return why two groups may not be merged, or None if they may.

        Parameters
        ----------
        a, b
            The groups.
        chip, dims
            The chip on which the tiles of the merged kernel must fit, at these dimensions. Without a chip, sizes of
            tiles are not checked, and what depends on them is refused, as in `Partition`.
        """
        return self._why_not(self._find(a), self._find(b), _forms(self._structure, chip, dims))

    @keywords("Partition.fuse")
    def fuse(
        self, a: Which, b: Which, *, chip: ChipLike | None = None, spill: bool = False, dims: Dims = None
    ) -> Partition:
        """Return the partition with two groups merged.

        Parameters
        ----------
        a, b, chip, dims
            As in `why_not`.
        spill
            True: if the group has no form on `chip`, tensors inside it are spilled, the largest first, until the parts
            between them have one; `spilled` names them. A spilled tensor is written to main memory and read back.

        Raises
        ------
        FusionError
            If `why_not` gives a reason.
        """
        one, other, forms = self._find(a), self._find(b), _forms(self._structure, chip, dims)
        if spill and chip is None:
            raise TypeError("spill=True needs the chip that the tiles must fit on")
        refusal = self._why_not(one, other, None if spill else forms)
        if refusal is not None:
            raise FusionError(refusal)
        spilled = forms.spills(one | other, self._spilled) if spill else ()
        return self._with([*(group for group in self._masks if group not in (one, other)), one | other], spilled)

    def split(self, op: str | Op | int) -> Partition:
        """Return the partition in which an op leaves its group and is a group alone.

        The rest of the group stays together as far as the rules allow. Ops of the rest that share no tensor become
        separate groups. Ops before the removed op are separated from ops after the removed op.
        """
        one = _find_op(self._structure, op)
        whole = next(group for group in self._masks if group & one)
        parts = _parts_without(self._rules, _forms(self._structure, None, None), whole, one)
        return self._with([*(group for group in self._masks if group != whole), one, *parts])

    def recompute(self, tensor: str | Tensor) -> Partition:
        """Return the partition in which each group that reads a tensor computes this tensor again.

        The op that writes the tensor is copied into these groups, so its FLOPs count in each group. The tensor no
        longer passes through main memory, unless it is an output. The graph of the result contains the copies.

        Raises
        ------
        ValueError
            If the tensor is an input of the graph.
        FusionError
            If the op may not share a kernel with the ops that read the tensor.
        """
        new = Partition(*_recomputed(self._structure, self._masks, tensor))
        # Spilled tensors keep their names; their positions in the new graph differ.
        spilled = [t for t, one in enumerate(new._structure.tensors) if one.name in self.spilled]
        return new._with(new._masks, spilled)

    def _why_not(self, a: Mask, b: Mask, forms: Forms | None) -> Refusal | None:
        refusal = self._rules.merge_refusal(self._quotient, self._masks.index(a), self._masks.index(b))
        return refusal or (forms.refusal(a | b, self._spilled) if forms else None)

    def _find(self, which: Which) -> Mask:
        """Return the group given by one of its ops, by its position or by the names of all its ops."""
        if isinstance(which, int):
            if not 0 <= which < len(self):
                raise ValueError(f"there is no group {which}: the partition has {len(self)}, counted from 0")
            return self._masks[which]
        if isinstance(which, (str, Op)):
            one = _find_op(self._structure, which)
            return next(group for group in self._masks if group & one)
        mask = _mask_of(self._structure, which)
        if mask not in self._masks:
            raise ValueError(f"no group of the partition is {self._structure.label(mask)}")
        return mask

    @cached_property
    def _quotient(self) -> QuotientGraph:
        return QuotientGraph(self._structure, self._masks)

    # -- comparing, pickling, printing -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._masks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self._masks, self._spilled))

    def _key(self) -> tuple[object, ...]:
        """Return what `==` compares. How a partition was found does not matter."""
        graph = self.graph
        return self._masks, self._spilled, graph.name, graph.convention, graph.dtype, self._structure.ops, graph.outputs

    def __reduce__(self) -> tuple[object, ...]:
        how = {"how": self.how, "evaluations": self.evaluations, "budget_ended": self.budget_ended}
        state = {"spilled": self._spilled, **how}
        return partial(Partition._of_masks, self.graph, self._masks, **state), ()

    @classmethod
    def _of_masks(cls, graph: Graph, groups: Sequence[Mask], **state: Any) -> Partition:
        """Return an unpickled partition."""
        return cls._new(Rules(Structure(graph)), groups, **state)

    def __repr__(self) -> str:
        graph, kernels = self.graph, len(self)
        ops = sum(map(len, self.indices))
        moved = units.format_quantity(float(evaluate(self.total_bytes(), graph.environment())), "B")
        counted = f"{ops} op{'' if ops == 1 else 's'} in {kernels} kernel{'' if kernels == 1 else 's'}"
        remarks = [
            f"{counted}, {moved}, {units.format_factor(self.excess())}× the compulsory bytes",
            graph.convention.described,
            *([f"spilled: {', '.join(self.spilled)}"] if self.spilled else []),
            *([self.how] if self.how else []),
            *(["the time for the search ended"] if self.budget_ended else []),
        ]
        return f"Partition({graph.name!r}: {'; '.join(remarks)})"

    def _repr_html_(self) -> str:
        return partition_html(self)


def _seconds(launch_overhead: float | str) -> float:
    return units.finite(units.parse(launch_overhead, "s", "launch_overhead"), "launch_overhead")


def _forms(
    structure: Structure,
    chip: ChipLike | None,
    dims: Dims,
    precision: str = "auto",
    launch_overhead: float | str = 0.0,
) -> Forms:
    """Return the forms of a graph's kernels on a chip, or on none."""
    there = None if chip is None else find_chip(chip)
    return Forms(structure, structure.counts_at(dims), there, precision, _seconds(launch_overhead), dims)


def _structure(graph: Graph, call: str) -> Structure:
    """Return the structure of a graph, or raise an error that names the call."""
    if isinstance(graph, Graph):
        return Structure(graph)
    call = f"Partition{'' if call.startswith('(') else '.'}{call}"
    hint = "; its graph is the attribute `graph`" if isinstance(graph, Partition) else ""
    raise TypeError(f"the graph of {call} must be a Graph, got {graph!r:.60}{hint}")


def _forms_and_rules(  # noqa: PLR0917 - a graph, a chip, and how a kernel is timed
    graph: Graph,
    chip: ChipLike | None,
    dims: Dims,
    call: str,
    precision: str = "auto",
    launch_overhead: float | str = 0.0,
) -> tuple[Forms, Rules]:
    structure = _structure(graph, call)
    return _forms(structure, chip, dims, precision, launch_overhead), Rules(structure)


def _find_op(structure: Structure, op: str | Op | int) -> Mask:
    """Return the mask of the op with this name or position."""
    name = op.name if isinstance(op, Op) else op
    if isinstance(name, int) and 0 <= name < len(structure.ops):
        return 1 << name
    if isinstance(name, str) and name in structure.index:
        return 1 << structure.index[name]
    close = did_you_mean(str(name), structure.names, f"; it has {len(structure.ops)} ops")
    raise ValueError(f"graph '{structure.graph.name}' has no op {name!r:.60}{close}")


def _mask_of(structure: Structure, group: Iterable[str | int]) -> Mask:
    """Return the mask of a group given as names or positions of ops."""
    if isinstance(group, str):
        raise TypeError(
            f"a group is a list of ops, got the text {group!r:.60}; write [{group!r:.60}] for a group of one"
        )
    mask = 0
    for op in list_argument(group, "a group", "['gelu', 'add']"):
        one = _find_op(structure, op)
        if mask & one:
            raise ValueError(f"a group has op '{structure.names[one.bit_length() - 1]}' twice")
        mask |= one
    if not mask:
        raise ValueError("a group has no ops")
    return mask


def _check(rules: Rules, groups: Sequence[Mask]) -> None:
    """Raise `ValueError` or `FusionError` if the groups are not a legal partition."""
    structure, covered = rules.structure, 0
    for group in groups:
        if twice := covered & group:
            raise ValueError(f"op '{structure.label(twice & -twice)}' is in two groups")
        covered |= group
    if missing := structure.everything & ~covered:
        raise ValueError(f"no group has {structure.label(missing)}; every op must be in one")
    for group in groups:
        parts = structure.connected(group)
        if len(parts) > 1:
            apart = [structure.label(part) for part in parts[:2]]
            raise FusionError(Refusal("not-connected", f"{apart[0]} and {apart[1]} share no tensor", tuple(apart)))
        if refusal := rules.refusal(group):
            raise FusionError(refusal)
    quotient = greedy.unmerged(structure)
    for group in groups:
        parts = sorted({quotient.owner(op) for op in members(group)})
        if detour := quotient.detour(parts):
            raise FusionError(rules.cycle(quotient, detour, group))
        quotient.merge(parts)


def _parts_without(rules: Rules, forms: Forms, group: Mask, op: Mask) -> list[Mask]:
    """Return the groups into which a legal group is split when an op leaves it.

    The groups are the connected parts of the remaining ops. If a part has ops before and ops after the removed op, the
    ops before it are separated from the part's other ops. Each of these two sets is split into its connected parts. A
    part that breaks a rule of kinds is split into single ops.
    """
    structure = rules.structure
    (left,) = members(op)
    before, after = structure.before[left], structure.after[left]
    parts: list[Mask] = []
    for part in structure.connected(group & ~op):
        has_both = part & before and part & after
        for piece in (part & before, part & ~before) if has_both else (part,):
            for one in structure.connected(piece):
                # A part that needs a chip stays: sizes of tiles are not checked here.
                refusal = rules.refusal(one) or forms.refusal(one)
                is_kernel = refusal is None or refusal.code in {"axes", "capacity"}
                parts += [one] if is_kernel else [1 << each for each in members(one)]
    return parts


def _recomputed(structure: Structure, groups: Sequence[Mask], tensor: str | Tensor) -> tuple[Graph, list[list[str]]]:
    """Return a graph in which each group that reads a tensor computes this tensor itself, and the graph's groups.

    Each of these groups has a copy of the op that writes the tensor.

    The original op stays if its own group, or a group that does not read this tensor, needs an output of the op.
    """
    graph = structure.graph
    maker = graph.producer(tensor)
    name = tensor.name if isinstance(tensor, Tensor) else tensor
    if maker is None:
        raise ValueError(f"'{name}' is an input of graph '{graph.name}': no op computes it")
    op = structure.index[maker.name]
    readers = next(structure.readers[t] for t in structure.makes[op] if structure.tensors[t].name == name)
    users = [group for group in groups if group & readers and not group >> op & 1]
    elsewhere = structure.everything & ~sum(users)
    stays = any(structure.kept[t] or structure.readers[t] & elsewhere for t in structure.makes[op])

    taken = _Taken({*structure.names}, {*graph.tensors})
    if not stays:
        taken.ops.discard(maker.name)
        taken.tensors.difference_update(one.name for one in maker.outputs)
    rewritten: dict[int, list[Op]] = {i: [one] for i, one in enumerate(structure.ops) if i != op}
    rewritten[op] = [maker] if stays else []
    copies: dict[Mask, str] = {}
    for group in users:
        read = {one for i in members(group) for one in structure.ops[i].inputs}
        copy, renamed = _copy(maker, read, taken)
        rewritten[op].append(copy)
        copies[group] = copy.name
        for i in members(group):
            rewritten[i] = [_reading(structure.ops[i], renamed)]
    ops = [one for i in range(len(structure.ops)) for one in rewritten[i]]
    outputs = [one.name for one in graph.outputs]
    new = Graph(graph.name, ops, outputs, convention=graph.convention, dtype=graph.dtype)
    for (count, divisor), what in graph.conditions.items():
        if divisor != 0:
            new.require(what, count, divisor)
    for note in graph.notes:
        new.note(note)
    gone = 0 if stays else 1 << op
    named = [
        [*(structure.names[i] for i in members(part)), *([copies[group]] if group in copies else [])]
        for group in groups
        for part in (structure.connected(group & ~gone) if group & gone else [group])
    ]
    return new, named


class _Taken(NamedTuple):
    """The names that ops and tensors already have. An op and a tensor may have the same name."""

    ops: set[str]
    tensors: set[str]


def _copy(op: Op, read: set[Tensor], taken: _Taken) -> tuple[Op, Mapping[Tensor, Tensor]]:
    """Return a copy of an op that writes only the tensors in `read`, and a map from old to new tensors.

    The copy and its tensors get names that are not in `taken`.
    """
    renamed = {one: Tensor(_free(one.name, taken.tensors), one.shape, one.dtype) for one in op.outputs if one in read}
    return replace(op, name=_free(op.name, taken.ops), outputs=tuple(renamed.values())), renamed


def _reading(op: Op, renamed: Mapping[Tensor, Tensor]) -> Op:
    """Return a copy of an op that reads the new tensor for each tensor in `renamed`."""
    return replace(op, inputs=tuple(renamed.get(one, one) for one in op.inputs))


def _free(name: str, taken: set[str]) -> str:
    """Return the name, or the name with the first free number, and mark the returned name as taken."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free
