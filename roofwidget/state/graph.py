"""The graphs of a model: which one is shown, which of its operations run as one kernel, at which sizes, counted how."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from traitlets import HasTraits, TraitError, observe, validate

from roofwidget.kernels.table import Kernels
from roofwidget.support.did_you_mean import listed, nearest

if TYPE_CHECKING:
    from roofwidget.workloads import Graph
    from roofwidget.workloads.fusion import Partition

__all__ = ["Workload", "is_same_grouping"]


def is_same_grouping(one: Partition | None, other: Partition | None) -> bool:
    """Whether two partitions put the same ops into the same kernels, however they count them."""
    if one is None or other is None:
        return one is other
    return one.indices == other.indices and one.graph.ops == other.graph.ops


class Workload(HasTraits):
    """What `RooflineModel` knows of graphs. Its traits are declared there, for it alone carries the sync tags."""

    if TYPE_CHECKING:
        graph: Any
        graphs: Any
        phase: Any
        partition: Any
        dims: Any
        convention: Any
        dtype: Any
        kernels: Any

    # The graphs there were when the model last settled on one: any other is new.
    _known_graphs: tuple[Graph, ...] = ()
    # The partition that was checked last, and for what: one that came together with a phase stays.
    _parted: tuple[str, Graph | None, Partition | None] = ("", None, None)
    # What is merged in each phase, or was when it was left, and in which graph.
    _left: Mapping[str, tuple[Graph, Partition]] = MappingProxyType({})

    @property
    def shown_kernels(self) -> Kernels:
        """The kernels of the chart: those of `partition` at `dims`, and without a graph `kernels`."""
        found: Kernels = self.kernels
        if self.partition is not None:
            found = self.partition.kernels(self.dims)
        return found

    def told_convention(self) -> str:
        """Return the name of the convention in force, and what it does not say of kernels."""
        from roofwidget.workloads.summary import told  # noqa: PLC0415 - only with a graph

        return told(self.partition.graph.convention)

    def counted_graph(self) -> Graph | None:
        """Return the graph as `convention` and `dtype` have it counted."""
        graph = self._graph_of_phase()
        if graph is None:
            return None
        return graph.with_convention(self.convention or graph.convention).with_dtype(self.dtype)

    def _graph_of_phase(self) -> Graph | None:
        """Return what `graph` is or, while a change is on its way, is about to be."""
        found: Graph | None = self.graphs.get(self.phase)
        return found

    def partition_of(self, groups: Any) -> Partition | None:
        """Return groups of ops, by name or position, as a partition of the graph as it is counted now.

        Raises
        ------
        ValueError
            If they are no legal partition, or a `Partition` of other ops or with tensors that are spilled.
        """
        from roofwidget.workloads.fusion import Partition  # noqa: PLC0415 - only with a graph

        graph = self.counted_graph()
        if graph is None:
            return None
        if not isinstance(groups, Partition):
            return Partition(graph, groups)
        _check_is_of(groups, graph)
        found = Partition(graph, groups.indices)
        return groups if groups == found else found

    # -- what may be set ---------------------------------------------------------------------------------------

    @validate("phase")
    def _check_phase(self, proposal: Any) -> str:
        name: str = proposal["value"]
        if name in self.graphs or (name == "" and not self.graphs):
            return name
        if list(self.graphs) == [""] or (not self.graphs and self.graph is not None):
            msg = f"phase: the graph has no phases, so none is called '{name}'; give graphs={{'{name}': graph, …}}"
            raise TraitError(msg)
        if not self.graphs:
            msg = f"phase: there are no graphs, so none is called '{name}'; set graphs first"
            raise TraitError(msg)
        close = nearest(name, self.graphs, most=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        msg = f"phase: none of the graphs is called '{name}'; there are {listed(self.graphs)}{hint}"
        raise TraitError(msg)

    @validate("partition")
    def _check_partition(self, proposal: Any) -> Any:
        try:
            found = self._parted_by(proposal["value"])
        except (LookupError, TypeError, ValueError) as error:
            msg = f"partition: {error}"
            raise TraitError(msg) from None
        self._parted = (self.phase, self._graph_of_phase(), found)
        return found

    def _parted_by(self, groups: Any) -> Any:
        graph = self._graph_of_phase()
        if groups is None:
            return self._unfused()
        if graph is None:
            msg = "there is no graph to part; set graph first"
            raise ValueError(msg)
        return self.partition_of(groups)

    @validate("dims")
    def _check_dims(self, proposal: Any) -> Mapping[str, int]:
        graph = self._graph_of_phase()
        if graph is None:
            return MappingProxyType({})
        values = self._checked("dims", lambda: graph.environment(proposal["value"]))
        sizes = {dim.name: values[dim.name] for dim in graph.dims if values[dim.name] != dim.default}
        return MappingProxyType(sizes)

    @validate("convention")
    def _check_convention(self, proposal: Any) -> str:
        name: str = proposal["value"]
        graph = self._graph_of_phase()
        if graph is None or name in {"", graph.convention.name}:
            return ""
        return str(self._checked("convention", lambda: graph.with_convention(name).convention.name))

    @validate("dtype")
    def _check_dtype(self, proposal: Any) -> str | None:
        graph = self._graph_of_phase()
        if graph is None or proposal["value"] is None:
            return None
        found: str | None = self._checked("dtype", lambda: graph.with_dtype(proposal["value"]).dtype)
        return None if found == graph.main_dtype else found

    def _checked(self, trait: str, make: Any) -> Any:
        try:
            return make()
        except (LookupError, TypeError, ValueError) as error:
            msg = f"{trait}: {error}"
            raise TraitError(msg) from None

    # -- what follows from what --------------------------------------------------------------------------------

    @observe("graph")
    def _take_graph(self, _change: Any) -> None:
        if self.graph is not self._graph_of_phase():
            self.graphs = {} if self.graph is None else {"": self.graph}

    @observe("graphs")
    def _take_graphs(self, _change: Any) -> None:
        with self.hold_trait_notifications():
            if self.phase not in self.graphs:
                self.phase = next(iter(self.graphs), "")
            self._settle()

    @observe("phase")
    def _take_phase(self, _change: Any) -> None:
        with self.hold_trait_notifications():
            self._settle()

    def _settle(self) -> None:
        """Bring what depends on the graph in line with the one in force: see `phase` for the rule."""
        graph = self._graph_of_phase()
        if graph is None or not any(graph is known for known in self._known_graphs):
            self.dims = {}
            self.convention = ""
            self.dtype = None if graph is None else graph.dtype
            self.partition = self._unfused()
        else:
            self._keep_what_fits(graph)
        self.graph = graph
        self._known_graphs = tuple(self.graphs.values())

    def _keep_what_fits(self, graph: Graph) -> None:
        from roofwidget.workloads import CONVENTIONS  # noqa: PLC0415 - only with a graph

        self.dims = _kept_sizes(graph, self.dims)
        if self.convention not in CONVENTIONS or self.convention == graph.convention.name:
            self.convention = ""
        if self.dtype == graph.main_dtype:
            self.dtype = None
        phase, parted, partition = self._parted
        if phase != self.phase or parted is not graph or partition is not self.partition:
            self.partition = self._merged_before(graph)

    def _merged_before(self, graph: Graph) -> Partition | None:
        """Return what the phase in force was left with, counted as it is now; else each op alone."""
        known, partition = self._left.get(self.phase, (None, None))
        return self.partition_of(partition.indices) if partition is not None and known is graph else self._unfused()

    @observe("partition")
    def _remember(self, _change: Any) -> None:
        graph = self._graph_of_phase()
        if graph is not None and self.partition is not None:
            self._left = {**self._left, self.phase: (graph, self.partition)}

    @observe("convention", "dtype")
    def _count_anew(self, _change: Any) -> None:
        # The same groups: the front end has them, and rows stay what they are.
        if self.partition is not None and self._graph_of_phase() is not None:
            self.partition = self.partition_of(self.partition)

    def _unfused(self) -> Partition | None:
        graph = self.counted_graph()
        if graph is None:
            return None
        from roofwidget.workloads.fusion import Partition  # noqa: PLC0415 - only with a graph

        return Partition.unfused(graph)


def _check_is_of(partition: Partition, graph: Graph) -> None:
    """Raise `ValueError` unless positions in a partition mean the same ops in a graph, and it counts as those do."""
    own, others = [op.name for op in partition.graph.ops], [op.name for op in graph.ops]
    if own != others:
        strange = next((name for name in own if name not in others), own[-1] if own else "")
        msg = (
            f"op '{strange}' of graph '{partition.graph.name}' stands elsewhere or not at all in graph '{graph.name}'"
            " that is shown; set `graph` first"
        )
        raise ValueError(msg)
    if partition.spilled:
        msg = (
            f"it spills {listed(partition.spilled)}, and a model counts what stays inside a kernel as not moved; "
            "show its kernels() in place of the graph"
        )
        raise ValueError(msg)


def _kept_sizes(graph: Graph, dims: Mapping[str, int]) -> dict[str, int]:
    """Return those sizes that a graph has too, within its limits and not at its defaults; none if they do not agree."""
    sizes = ((dim, dims.get(dim.name, dim.default)) for dim in graph.dims)
    kept = {dim.name: size for dim, size in sizes if dim.low <= size <= dim.high and size != dim.default}
    try:
        graph.environment(kept)
    except ValueError:
        return {}
    return kept
