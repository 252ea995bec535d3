"""Checks the traits that depend on the shown graph: phase, sizes of dimensions, convention, dtype and partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from traitlets import TraitError

from roofwidget.support.did_you_mean import did_you_mean, listed
from roofwidget.workloads import CONVENTIONS, Graph
from roofwidget.workloads.partition import Partition


@dataclass
class PhaseMemory:
    """What a model remembers about its graphs, to decide which traits keep their values when the phase changes."""

    graphs: tuple[Graph, ...] = ()
    """The graphs at the last change of graph or phase. Any other graph is new and starts with its defaults."""
    checked: tuple[str, Graph | None, Partition | None] = ("", None, None)
    """Phase, graph and partition of the latest validation: a partition that is set together with a phase is kept."""
    left: dict[str, tuple[Graph, Partition]] = field(default_factory=dict)
    """The graph and the last partition of each phase."""

    def is_new(self, graph: Graph) -> bool:
        """Return whether `graph` is not in `graphs`."""
        return not any(graph is known for known in self.graphs)

    def is_checked(self, phase: str, graph: Graph, partition: Partition | None) -> bool:
        """Return whether the latest validation was for this phase, this graph and this partition."""
        return self.checked[0] == phase and self.checked[1] is graph and self.checked[2] is partition

    def groups_left(self, phase: str, graph: Graph) -> tuple[tuple[int, ...], ...] | None:
        """Return the latest groups of ops of a phase. If the phase had no partition or another graph, return None."""
        known, partition = self.left.get(phase, (None, None))
        return partition.indices if partition is not None and known is graph else None


@contextmanager
def refused_as(trait: str) -> Iterator[None]:
    """Return a context in which errors of a graph become a `TraitError` that names the trait."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise TraitError(f"{trait}: {error}") from None


def has_same_groups(one: Partition | None, other: Partition | None) -> bool:
    """Return whether two partitions group the ops in the same way. The counts of the ops may differ."""
    if one is None or other is None:
        return one is other
    return one.indices == other.indices and one.graph.ops == other.graph.ops


def counted(graph: Graph, convention: str, dtype: str | None) -> Graph:
    """Return the graph with its FLOPs and bytes counted by a convention and a dtype.

    If `convention` is '', the graph's own convention is used. If `dtype` is None, the graph's own dtypes are used.
    """
    return graph.with_convention(convention or graph.convention).with_dtype(dtype)


def as_partition(groups: Any, graph: Graph) -> Partition:
    """Return a partition of the graph.

    `groups` is a `Partition`, or one list of ops for each kernel. An op is given by its name or position.

    Raises
    ------
    LookupError, TypeError, ValueError
        If the groups are not a legal partition. If `groups` is a `Partition` that has spilled tensors, or whose ops
        are not the ops of the graph.
    """
    if not isinstance(groups, Partition):
        return Partition.on_some_chip(graph, groups)
    _check_is_of(groups, graph)
    found = Partition.on_some_chip(graph, groups.indices)
    return groups if groups == found else found


def _check_is_of(partition: Partition, graph: Graph) -> None:
    """Raise `ValueError` if a partition was made for a graph with other ops, or if it spills tensors."""
    own, others = [op.name for op in partition.graph.ops], [op.name for op in graph.ops]
    if own != others:
        strange = next((name for name in own if name not in others), own[-1] if own else "")
        raise ValueError(
            f"op '{strange}' of graph '{partition.graph.name}' has another position, or none, in graph '{graph.name}' "
            "that is shown; set `graph` first"
        )
    if partition.spilled:
        raise ValueError(
            f"it spills {listed(partition.spilled)}, but a model counts no bytes for tensors inside a kernel; "
            "show its kernels() instead of the graph"
        )


def check_phase(name: str, graphs: Mapping[str, Graph], graph: Graph | None) -> str:
    """Return `name` if `name` is a key of `graphs`. Otherwise raise `TraitError`.

    If there are no graphs, the only allowed name is ''.
    """
    if name in graphs or (name == "" and not graphs):
        return name
    if list(graphs) == [""] or (not graphs and graph is not None):
        raise TraitError(
            f"phase: the graph has no phases, so there is no phase '{name}'; give graphs={{'{name}': graph, …}}"
        )
    if not graphs:
        raise TraitError(f"phase: there are no graphs, so there is no phase '{name}'; set graphs first")
    raise TraitError(f"phase: no graph is called '{name}'; there are {listed(graphs)}{did_you_mean(name, graphs)}")


def check_dims(dims: Mapping[str, int], graph: Graph | None) -> Mapping[str, int]:
    """Return the sizes that differ from the graph's defaults. Raise `TraitError` for sizes that are not allowed."""
    if graph is None:
        return MappingProxyType({})
    with refused_as("dims"):
        sizes = graph.environment(dims)
    return MappingProxyType({dim.name: sizes[dim.name] for dim in graph.dims if sizes[dim.name] != dim.default})


def dims_for(graph: Graph, dims: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes in `dims` that a new graph can keep.

    A size is kept if it is within the limits of its dimension and differs from the default of the dimension. If the
    graph does not allow the kept sizes together, return an empty dict.
    """
    sizes = ((dim, dims.get(dim.name, dim.default)) for dim in graph.dims)
    kept = {dim.name: size for dim, size in sizes if dim.low <= size <= dim.high and size != dim.default}
    try:
        graph.environment(kept)
    except ValueError:
        return {}
    return kept


def check_convention(name: str, graph: Graph | None) -> str:
    """Return `name`, the name of a convention. If it is the name of the graph's own convention, return ''.

    Raises `TraitError` if no convention has this name.
    """
    if graph is None or name in {"", graph.convention.name}:
        return ""
    with refused_as("convention"):
        return graph.with_convention(name).convention.name


def convention_for(graph: Graph, name: str) -> str:
    """Return `name`. If no convention has this name, or if it is the graph's own convention, return ''."""
    return name if name in CONVENTIONS and name != graph.convention.name else ""


def check_dtype(dtype: str | None, graph: Graph | None) -> str | None:
    """Return the dtype, or None for the graph's main dtype. If the dtype is unknown, raise `TraitError`."""
    if graph is None or dtype is None:
        return None
    with refused_as("dtype"):
        found = graph.with_dtype(dtype).dtype
    return None if found == graph.main_dtype else found
