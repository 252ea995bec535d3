"""A partition of a graph's ops into groups, each of which runs as one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

from roofwidget.analysis.bound import bound
from roofwidget.chips import Chip
from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads import merges as moves
from roofwidget.workloads import presets
from roofwidget.workloads.capacity import Capacity
from roofwidget.workloads.expressions import Count, evaluate
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.groups import find_group, find_op, kernels_of
from roofwidget.workloads.legality import FusionError, Refusal, Rules
from roofwidget.workloads.line import Line, in_order
from roofwidget.workloads.op import Op, added
from roofwidget.workloads.presets import How, Made
from roofwidget.workloads.structure import Mask, Structure, members
from roofwidget.workloads.summary import summary
from roofwidget.workloads.tensors import Tensor

__all__ = ["Partition"]

Which: TypeAlias = "str | Op | int | Iterable[str]"
Dims: TypeAlias = "Mapping[str, int] | None"


class Partition:
    """Which ops of a graph run as one kernel. Immutable: `fuse`, `split` and `recompute` return another one.

    A group is named by an op in it, by its position in `groups`, or by the names of all its ops. Counts are exact
    ints, or expressions over the graph's dimensions; `dims` gives the values of those that differ from their defaults.
    Kernels are held against peaks: whatever the convention, a multiply-add counts 2 FLOPs here, as in peak rates.

    Parameters
    ----------
    graph
        The graph. Ops that are added to it later are not in here.
    groups
        Names of ops, or their positions in ``graph.ops``, group by group in any order; every op once.

    Raises
    ------
    ValueError
        If an op is unknown, missing or there twice.
    FusionError
        If a group may not be one kernel, or kernels wait for each other in a circle; its ``refusal`` says why.

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

    def __init__(self, graph: Graph, groups: Iterable[Iterable[str | int]]) -> None:
        self.__dict__.update(_state(presets.given(graph, groups)))

    _structure: Structure
    _rules: Rules
    _masks: tuple[Mask, ...]
    _spilled: tuple[int, ...]

    def _with(self, groups: Iterable[Mask], spilled: Iterable[int] = ()) -> Partition:
        return _made(Made(self._structure, self._rules, list(groups)), {*self._spilled, *spilled})

    # -- making one ------------------------------------------------------------------------------------------------

    @staticmethod
    def unfused(graph: Graph) -> Partition:
        """Return every op as a kernel of its own."""
        return _made(presets.unfused(graph))

    @staticmethod
    @keywords("Partition.fully")
    def fully(graph: Graph, *, chip: Chip | str | None = None, dims: Dims = None) -> Partition:
        """Return a partition of which no two groups may be merged: always those that save most bytes first.

        Parameters
        ----------
        graph, dims
            The graph, at these dimensions.
        chip
            A chip on which the tiles of every kernel must fit; None for any.
        """
        return _made(presets.fully(graph, chip, dims))

    @staticmethod
    @keywords("Partition.pairs")
    def pairs(graph: Graph, *, chip: Chip | str | None = None, dims: Dims = None) -> Partition:
        """Return a partition with at most two ops a kernel, as `fully` merges them."""
        return _made(presets.pairs(graph, chip, dims))

    @staticmethod
    @keywords("Partition.like")
    def like(
        which: str,
        graph: Graph,
        chip: Chip | str | None = None,
        *,
        precision: str = "auto",
        launch_overhead: float | str = 0.0,
        dims: Dims = None,
    ) -> Partition:
        """Return what a compiler would make of a graph by its published rules.

        Parameters
        ----------
        which
            ``"xla"``: producers are fused into all of their consumers, the one that saves most time on `chip` first.
            ``"inductor"``: pairs that share most bytes first; matrix products stay alone.
        graph, dims
            The graph, at these dimensions.
        chip
            The chip for ``"xla"``. The tiles of every kernel must fit on a chip that is given.
        precision, launch_overhead
            As in `time`.

        Raises
        ------
        ValueError
            If there are no rules of that name.
        TypeError
            If ``"xla"`` gets no chip.
        """
        return _made(presets.like(which, graph, chip, precision, launch_overhead, dims))

    @staticmethod
    @keywords("Partition.best")
    def best(
        graph: Graph,
        chip: Chip | str,
        precision: str = "auto",
        *,
        launch_overhead: float | str = 0.0,
        dims: Dims = None,
    ) -> Partition:
        """Return the partition with the shortest `time` on a chip, of equals one with few kernels.

        Dynamic programming over downsets finds it whenever 100,000 steps suffice; else groups are merged as long as
        that saves time. `how` says which it was, `evaluations` how many steps were looked at.

        Parameters
        ----------
        graph, dims
            The graph, at these dimensions.
        chip
            The chip; the tiles of every kernel must fit on it.
        precision, launch_overhead
            As in `time`.

        Examples
        --------
        >>> g = Graph("tail")
        >>> x = g.input("x", (65536, 4096), "bf16")
        >>> g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
        >>> Partition.best(g, "v5p")
        Partition('tail': 4 ops in 1 kernel, 1.07 GB, 1× the compulsory bytes; textbook; optimal)
        """
        return _made(presets.best(graph, chip, precision, launch_overhead, dims))

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._structure.graph

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of the ops of each group, in the graph's order.

        Groups stand in an order in which they can run: of those that may come next the one whose first op is first.
        """
        return tuple(tuple(self._structure.names[op] for op in group) for group in self.indices)

    @cached_property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """The positions in ``graph.ops`` of the ops of each group."""
        return tuple(tuple(members(group)) for group in self._masks)

    @property
    def spilled(self) -> tuple[str, ...]:
        """Names of the tensors inside a group that go through main memory all the same, as they do not fit on chip."""
        return tuple(self._structure.tensors[t].name for t in self._spilled)

    how: How
    """Whether the search of `best` was exact; None of other partitions."""
    evaluations: int | None
    """The steps that the search of `best` looked at; None of other partitions."""

    # -- what it counts --------------------------------------------------------------------------------------------

    def bytes(self, group: Which) -> Count:
        """Return the bytes of a group: what enters, what leaves, and its ops' own extra bytes."""
        return self._structure.bytes(self._find(group), self._structure.counts, self._spilled)

    def flops(self, group: Which) -> dict[str, Count]:
        """Return the FLOPs of a group by class; classes without any are left out."""
        return self._structure.flops(self._find(group), self._structure.counts)

    def total_bytes(self) -> Count:
        """Return the bytes of all groups."""
        s = self._structure
        return added(tuple(s.bytes(group, s.counts, self._spilled) for group in self._masks))

    def total_flops(self) -> Count:
        """Return the FLOPs of all groups and classes. Only `recompute` changes them."""
        return added(tuple(self._structure.flops(self._structure.everything, self._structure.counts).values()))

    @property
    def compulsory_bytes(self) -> Count:
        """Bytes of the inputs that are read and of the outputs: no fusion moves less."""
        return self._structure.compulsory(self._structure.counts)

    def excess(self, dims: Dims = None) -> float:
        """Return how many times the compulsory bytes the total is."""
        env = self.graph.environment(dims)
        total, least = evaluate(self.total_bytes(), env), evaluate(self.compulsory_bytes, env)
        return 1.0 if total == least else total / least

    def kernels(self, dims: Dims = None) -> Kernels:
        """Return one kernel a group: ``a + b``, with FLOPs by class, bytes of main memory, and its precision.

        The precision is that of the op with most FLOPs among those that state one, as products do with the dtype of the
        wider operand; else the dtype of the largest floating-point tensor that leaves. Without FLOPs there is none.
        """
        return kernels_of(self._structure, self._masks, self._spilled, dims, own_precision=True)

    @keywords("Partition.time")
    def time(
        self, chip: Chip | str, precision: str = "auto", dims: Dims = None, *, launch_overhead: float | str = 0.0
    ) -> float:
        """Return the seconds of all kernels one after the other: the sum of their bounds.

        Parameters
        ----------
        chip
            The chip, or the name of one in the catalogue.
        precision
            A precision that judges every kernel, or ``"auto"``: each by its own.
        dims
            Values of dimensions.
        launch_overhead
            Seconds a kernel, as in `roofwidget.bound`.

        Raises
        ------
        MissingFigureError
            If the chip lacks a precision.
        """
        own = precision.casefold() == "auto"
        table = kernels_of(self._structure, self._masks, self._spilled, dims, own_precision=own)
        return bound(table, chip, precision=precision, launch_overhead=launch_overhead).total_time

    # -- moves -----------------------------------------------------------------------------------------------------

    @keywords("Partition.why_not")
    def why_not(self, a: Which, b: Which, *, chip: Chip | str | None = None, dims: Dims = None) -> Refusal | None:
        """Return why the groups of a and b may not be merged, or None if they may.

        Parameters
        ----------
        a, b
            The groups.
        chip, dims
            The chip on which the tiles of the merged kernel must fit, at these dimensions; None for any.
        """
        return self._why_not(self._find(a), self._find(b), self._capacity(chip, dims))

    @keywords("Partition.fuse")
    def fuse(
        self, a: Which, b: Which, *, chip: Chip | str | None = None, spill: bool = False, dims: Dims = None
    ) -> Partition:
        """Return the partition in which the groups of a and b are one.

        Parameters
        ----------
        a, b, chip, dims
            As in `why_not`.
        spill
            True: where the tiles do not fit on `chip`, tensors inside the group are written and read, the largest
            tiles first; `spilled` names them.

        Raises
        ------
        FusionError
            If `why_not` has a reason.
        """
        one, other, capacity = self._find(a), self._find(b), self._capacity(chip, dims)
        if spill and chip is None:
            msg = "spill=True needs the chip that the tiles must fit on"
            raise TypeError(msg)
        refusal = self._why_not(one, other, None if spill else capacity)
        if refusal is not None:
            raise FusionError(refusal)
        spilled = capacity.spills(one | other, self._spilled) if spill and capacity is not None else ()
        return self._with([*(group for group in self._masks if group not in (one, other)), one | other], spilled)

    def split(self, op: str | Op | int) -> Partition:
        """Return the partition in which an op is a group of its own.

        What is left of its group stays together as far as it may: it falls into the parts that still share tensors,
        and what ran before the op is parted from what ran after it.
        """
        one = find_op(self._structure, op)
        whole = next(group for group in self._masks if group & one)
        parts = moves.parts_without(self._structure, self._rules, whole, one)
        return self._with([*(group for group in self._masks if group != whole), one, *parts])

    def recompute(self, tensor: str | Tensor) -> Partition:
        """Return the partition in which each group that reads a tensor makes it for itself.

        The op that makes it is copied into these groups: its FLOPs are counted in each of them, and the tensor no
        longer passes through main memory, unless it is an output. The graph of the result has the copies as ops.

        Raises
        ------
        ValueError
            If the tensor is an input of the graph.
        FusionError
            If the op may not be in one kernel with those that read the tensor.
        """
        graph, groups = moves.recomputed(self._structure, self._masks, tensor)
        made = presets.given(graph, groups)
        spilled = [t for t, one in enumerate(made.structure.tensors) if one.name in self.spilled]
        return _made(made, spilled)

    def _why_not(self, a: Mask, b: Mask, capacity: Capacity | None) -> Refusal | None:
        refusal = self._rules.merge_refusal(self._line, self._masks.index(a), self._masks.index(b))
        return refusal or (capacity.refusal(a | b, self._spilled) if capacity else None)

    def _find(self, group: Which) -> Mask:
        return find_group(self._structure, self._masks, group)

    def _capacity(self, chip: Chip | str | None, dims: Dims) -> Capacity | None:
        return None if chip is None else presets.capacity(self._structure, chip, dims)

    @cached_property
    def _line(self) -> Line:
        return Line(self._structure, self._masks)

    # -- as a value ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._masks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self._masks, self._spilled))

    def _key(self) -> tuple[object, ...]:
        """Return what makes two partitions equal: how they were found does not count."""
        graph = self.graph
        return self._masks, self._spilled, graph.name, graph.convention, graph.dtype, self._structure.ops, graph.outputs

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.graph, list(self._masks), self._spilled, (self.how, self.evaluations))

    def __repr__(self) -> str:
        return summary(self)


def _state(made: Made, spilled: Iterable[int] = ()) -> dict[str, object]:
    """Return the fields of a partition: its groups in order, and of the spilled tensors those inside a group."""
    structure = made.structure
    masks = tuple(in_order(structure, made.groups) or ())
    inside = {t for group in masks for t in structure.inside(group)} if spilled else set()
    return {
        "_structure": structure,
        "_rules": made.rules,
        "_masks": masks,
        "_spilled": tuple(sorted(inside.intersection(spilled))),
        "how": made.how,
        "evaluations": made.evaluations,
    }


def _made(made: Made, spilled: Iterable[int] = ()) -> Partition:
    partition = object.__new__(Partition)
    partition.__dict__.update(_state(made, spilled))
    return partition


def _rebuilt(graph: Graph, groups: list[Mask], spilled: tuple[int, ...], rest: tuple[How, int | None]) -> Partition:
    apart = presets.unfused(graph)
    return _made(Made(apart.structure, apart.rules, groups, *rest), spilled)
