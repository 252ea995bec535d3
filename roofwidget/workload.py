"""The graph of a model: which of its operations run as one kernel, at which sizes, counted how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from traitlets import HasTraits, TraitError, observe, validate

from roofwidget.kernels import Kernels

if TYPE_CHECKING:
    from roofwidget.workloads import Graph
    from roofwidget.workloads.fusion import Partition

__all__ = ["Workload"]


class Workload(HasTraits):
    """What `RooflineModel` knows of graphs. Its traits are declared there, for it alone carries the sync tags."""

    if TYPE_CHECKING:
        graph: Any
        partition: Any
        dims: Any
        convention: Any
        dtype: Any
        kernels: Any

    @property
    def shown_kernels(self) -> Kernels:
        """The kernels of the chart: those of `partition` at `dims`, and without a graph `kernels`."""
        found: Kernels = self.kernels
        if self.partition is not None:
            found = self.partition.kernels(self.dims)
        return found

    def counted_graph(self) -> Graph | None:
        """Return the graph as `convention` and `dtype` have it counted."""
        if self.graph is None:
            return None
        found: Graph = self.graph.with_convention(self.convention or self.graph.convention).with_dtype(self.dtype)
        return found

    def partition_of(self, groups: Any) -> Partition | None:
        """Return groups of ops, by name or position, as a partition of the graph as it is counted now."""
        from roofwidget.workloads.fusion import Partition  # noqa: PLC0415 - only with a graph

        graph = self.counted_graph()
        if graph is None:
            return None
        given = groups.indices if isinstance(groups, Partition) else groups
        return Partition(graph, given)

    # -- what may be set ---------------------------------------------------------------------------------------

    @validate("partition")
    def _check_partition(self, proposal: Any) -> Any:
        if proposal["value"] is None:
            return None if self.graph is None else self._unfused()
        if self.graph is None:
            msg = "partition: there is no graph to part; set graph first"
            raise TraitError(msg)
        try:
            return self.partition_of(proposal["value"])
        except (LookupError, TypeError, ValueError) as error:
            msg = f"partition: {error}"
            raise TraitError(msg) from None

    @validate("dims")
    def _check_dims(self, proposal: Any) -> Mapping[str, int]:
        if self.graph is None:
            return {}
        try:
            values = self.graph.environment(proposal["value"])
        except (TypeError, ValueError) as error:
            msg = f"dims: {error}"
            raise TraitError(msg) from None
        return {dim.name: values[dim.name] for dim in self.graph.dims if values[dim.name] != dim.default}

    @validate("convention")
    def _check_convention(self, proposal: Any) -> str:
        name: str = proposal["value"]
        if self.graph is None or name in {"", self.graph.convention.name}:
            return ""
        return str(self._checked("convention", lambda: self.graph.with_convention(name).convention.name))

    @validate("dtype")
    def _check_dtype(self, proposal: Any) -> str | None:
        if self.graph is None or proposal["value"] is None:
            return None
        found = self._checked("dtype", lambda: self.graph.with_dtype(proposal["value"]).dtype)
        return None if found == self.graph.main_dtype else found

    def _checked(self, trait: str, make: Any) -> Any:
        try:
            return make()
        except (LookupError, TypeError, ValueError) as error:
            msg = f"{trait}: {error}"
            raise TraitError(msg) from None

    # -- what follows from what --------------------------------------------------------------------------------

    @observe("graph")
    def _part_graph(self, _change: Any) -> None:
        with self.hold_trait_notifications():
            self.dims = {}
            self.convention = ""
            self.dtype = None if self.graph is None else self.graph.dtype
            self.partition = None if self.graph is None else self._unfused()

    @observe("convention", "dtype")
    def _count_anew(self, _change: Any) -> None:
        if self.partition is not None and self.graph is not None:
            self.partition = self.partition_of(self.partition)

    def _unfused(self) -> Any:
        from roofwidget.workloads.fusion import Partition  # noqa: PLC0415 - only with a graph

        return Partition.unfused(self.counted_graph())  # type: ignore[arg-type]  # asked only with a graph
