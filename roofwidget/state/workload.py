"""The workload of a chart: its kernels, or a graph with its phase, sizes, convention, dtype and partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from roofwidget import wire, workloads
from roofwidget.kernels.table import Kernels, as_kernels
from roofwidget.state.field import Field, Refused, put
from roofwidget.state.forms import graphs_by_name, one_graph, optional, sizes_by_name, text
from roofwidget.support.did_you_mean import did_you_mean, listed

if TYPE_CHECKING:
    from roofwidget.state.state import State
    from roofwidget.workloads import Graph
    from roofwidget.workloads.partition import Partition


@contextmanager
def refused_as(trait: str) -> Iterator[None]:
    """Return a context in which errors of a graph become `Refused`, which names the trait."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise Refused(f"{trait}: {error}") from None


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
    if not isinstance(groups, workloads.partition.Partition):
        return workloads.partition.Partition.on_some_chip(graph, groups)
    _check_is_of(groups, graph)
    found = workloads.partition.Partition.on_some_chip(graph, groups.indices)
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
    """Return `name` if `name` is a key of `graphs`. Otherwise raise `Refused`.

    If there are no graphs, the only allowed name is ''.
    """
    if name in graphs or (name == "" and not graphs):
        return name
    if list(graphs) == [""] or (not graphs and graph is not None):
        raise Refused(
            f"phase: the graph has no phases, so there is no phase '{name}'; give graphs={{'{name}': graph, …}}"
        )
    if not graphs:
        raise Refused(f"phase: there are no graphs, so there is no phase '{name}'; set graphs first")
    raise Refused(f"phase: no graph is called '{name}'; there are {listed(graphs)}{did_you_mean(name, graphs)}")


def check_dims(dims: Mapping[str, int], graph: Graph | None) -> Mapping[str, int]:
    """Return the sizes that differ from the graph's defaults. Raise `Refused` for sizes that are not allowed."""
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

    Raises `Refused` if no convention has this name.
    """
    if graph is None or name in {"", graph.convention.name}:
        return ""
    with refused_as("convention"):
        return graph.with_convention(name).convention.name


def convention_for(graph: Graph, name: str) -> str:
    """Return `name`. If no convention has this name, or if it is the graph's own convention, return ''."""
    return name if name in workloads.CONVENTIONS and name != graph.convention.name else ""


def check_dtype(dtype: str | None, graph: Graph | None) -> str | None:
    """Return the dtype, or None for the graph's main dtype. If the dtype is unknown, raise `Refused`."""
    if graph is None or dtype is None:
        return None
    with refused_as("dtype"):
        found = graph.with_dtype(dtype).dtype
    return None if found == graph.main_dtype else found


# What a page shows of a table beside its rows.
_TOLD_OF_TABLES: Final = ("source", "series", "warnings", "read_as", "chip")


def graph_of(s: State) -> Graph | None:
    """Return the graph of the current phase, or None without graphs."""
    return s.graphs.get(s.phase)


def counted_graph(s: State) -> Graph | None:
    """Return the graph with its FLOPs and bytes counted by `convention` and `dtype`. None without a graph."""
    return None if s.graph is None else counted(s.graph, s.convention, s.dtype)


def plotted(s: State) -> Kernels:
    """Return the kernels of the partition on the focus chip at the sizes `dims`. Without a graph, the given kernels."""
    if s.partition is None:
        return s.kernels
    return s.partition.kernels(s.dims, chip=next((chip for chip in s.all_chips if chip.id == s.focus_chip), None))


def _unfused(s: State) -> Partition | None:
    graph = s.counted_graph
    return None if graph is None else workloads.partition.Partition.unfused(graph)


def _regrouped(s: State, partition: Partition | None) -> Partition | None:
    """Return the same groups of ops, as the graph is counted now."""
    graph = s.counted_graph
    return None if partition is None or graph is None else as_partition(partition.indices, graph)


def _fit_graph(s: State, given: Graph | None) -> Mapping[str, Graph]:
    if given == s.graph:
        return s.graphs
    return graphs_by_name({} if given is None else {"": given})


def _fit_partition(s: State, given: Any) -> Partition | None:
    if given is None:
        return _unfused(s)
    with refused_as("partition"):
        if s.counted_graph is None:
            raise ValueError("there is no graph to divide into groups; set graph first")
        return as_partition(given, s.counted_graph)


def _after_phase(s: State, old: State, _named: Mapping[str, Any]) -> None:
    """Adapt what depends on the graph. The help text of `phase` states the rules."""
    if s.phase not in s.graphs:
        put(s, "phase", next(iter(s.graphs), ""))
    graph = s.graph
    if graph is old.graph and s.phase == old.phase:
        return
    left = {name: entry for name, entry in s.left.items() if s.graphs.get(name) is entry[0]}
    if old.graph is not None and old.partition is not None and s.graphs.get(old.phase) is old.graph:
        left[old.phase] = (old.graph, old.partition)
    known, partition = left.pop(s.phase, (None, None))
    put(s, "left", MappingProxyType(left))
    if graph is None or not any(graph is one for one in old.graphs.values()):
        put(s, "dims", MappingProxyType({}))
        put(s, "convention", "")
        put(s, "dtype", None if graph is None else check_dtype(graph.dtype, graph))
        put(s, "partition", _unfused(s))
        return
    put(s, "dims", MappingProxyType(dims_for(graph, s.dims)))
    put(s, "convention", convention_for(graph, s.convention))
    put(s, "dtype", None if s.dtype == graph.main_dtype else s.dtype)
    is_left = known is graph and partition is not None
    put(s, "partition", _regrouped(s, partition) if is_left else _unfused(s))


def _count_again(s: State, _old: State, _named: Mapping[str, Any]) -> None:
    # A new convention or dtype changes only the FLOPs and bytes. The groups of ops stay the same, so the row numbers of
    # kernels stay the same.
    put(s, "partition", _regrouped(s, s.partition))


def _forget_rows(s: State, old: State, _named: Mapping[str, Any]) -> None:
    """Reset what refers to rows, because the rows have become other kernels."""
    if s.kernels is old.kernels and s.graph is old.graph and has_same_groups(old.partition, s.partition):
        return
    if s.kernels is not old.kernels:
        put(s, "former_columns", frozenset(old.kernels.extra))
    put(s, "typed_work", MappingProxyType({}))
    put(s, "moves", MappingProxyType({}))
    put(s, "selected", ())
    put(s, "hovered", None)
    put(s, "at_roof", ())


def _is_same_table(one: Kernels | None, other: Kernels | None) -> bool:
    """Return whether two tables are equal, and are the same for a person who reads where they come from."""
    if one is None or other is None or one is other:
        return one is other
    return one == other and all(getattr(one, name) == getattr(other, name) for name in _TOLD_OF_TABLES)


class Workload:
    """What runs: kernels, or graphs."""

    graphs = Field(
        "python",
        graphs_by_name,
        MappingProxyType({}),
        help="Graphs to choose between, by name: the phases of one workload.",
        to_wire=wire.graphs_to_wire,
        in_session=False,
        page_type="readonly (readonly [phase: string, graph: unknown])[]",
    )
    graph = Field(
        "python",
        optional(one_graph),
        help="Operations joined by tensors; the kernels of their partition are shown. It is "
        "the graph of `phase` in `graphs`. A graph that is set here becomes the only one, of phase ''.",
        fit=_fit_graph,
        of="graphs",
        sources=("phase",),
        read=graph_of,
        sync=False,
    )
    phase = Field(
        "shared",
        text,
        "",
        help="Which of `graphs` is shown; '' without any. When the phase changes, `partition` is what it was when "
        "the phase was left, at first unfused; `dims` keeps the sizes that the new graph has too, if they are "
        "within its limits, not its defaults, and possible together; `convention` stays if the new graph knows it "
        "and it is not the graph's own; `dtype` stays unless it is the new graph's main one. A graph that was not "
        "among `graphs` before starts with the defaults of all four.",
        fit=lambda s, given: check_phase(given, s.graphs, s.graph),
        follow=_after_phase,
        also=("graphs",),
        to_wire=wire.text_to_wire,
        undo="with graph",
    )
    dims = Field(
        "shared",
        sizes_by_name,
        MappingProxyType({}),
        help="Sizes of the graph's dimensions that differ from their defaults.",
        fit=lambda s, given: check_dims(given, s.graph),
        to_wire=wire.dims_to_wire,
        undo="with graph",
        page_type="Readonly<Record<string, number>>",
    )
    convention = Field(
        "shared",
        text,
        "",
        help="How operations are counted; empty for the graph's own way.",
        fit=lambda s, given: check_convention(given, s.graph),
        undo="with graph",
    )
    dtype = Field(
        "shared",
        optional(text),
        help="Count as if tensors of the graph's main dtype had this dtype; None as built.",
        fit=lambda s, given: check_dtype(given, s.graph),
        follow=_count_again,
        also=("convention",),
        undo="with graph",
    )
    partition: Field[Partition | None] = Field(
        "shared",
        lambda value: value,
        help="Which ops of the graph run as one kernel: a `Partition`, or groups of names or positions.",
        fit=_fit_partition,
        to_wire=wire.partition_to_wire,
        in_session=False,
        undo="with graph",
        page_type="readonly (readonly number[])[] | null",
    )
    kernels: Field[Kernels] = Field(
        "python",
        as_kernels,
        Kernels(),
        help="The kernels that are plotted. With a graph, these are the kernels of `partition` at `dims`, with the "
        "bytes and FLOPs that they move and do on the focus chip; kernels that are set meanwhile are plotted when "
        "`graph` is None.",
        follow=_forget_rows,
        also=("graphs", "phase", "partition"),
        # Only the given kernels: a page computes the kernels of a partition itself.
        wire_of=lambda s: wire.kernels_to_wire(s.ruled if s.partition is None else s.kernels),
        shows="plotted",
        is_same=_is_same_table,
        in_session=False,
        page_type="Kernels",
    )
    baseline: Field[Kernels | None] = Field(
        "python",
        optional(as_kernels),
        help="An earlier run that `kernels` are compared with, or None.",
        wire_of=lambda s: wire.baseline_to_wire(s.baseline, s.ruled),
        is_same=_is_same_table,
        in_session=False,
        page_type="Baseline | null",
    )
