"""Graphs and chips of the golden cases of fusion, and a search that tries every partition."""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from roofwidget.chips import Chip, Memory
from roofwidget.workloads import Graph, Tensor, dim
from roofwidget.workloads.expressions import from_wire
from roofwidget.workloads.forms import Form, Forms
from roofwidget.workloads.masks import Mask, members
from roofwidget.workloads.quotient import in_order
from roofwidget.workloads.structure import Structure
from tests.places import GOLDEN

TEXT: Final[Any] = runpy.run_path(str(GOLDEN / "fusion_text.py"))["graph_of"]
_CASES: Final[Mapping[str, Any]] = runpy.run_path(str(GOLDEN / "fusion_cases.py"))
DRAWN: Final[Any] = runpy.run_path(str(GOLDEN / "fusion_random.py"))["drawn"]
HAND: Final[Sequence[Any]] = _CASES["cases"]()
CHIPS: Final[Mapping[str, Any]] = _CASES["CHIPS"]


def graph_of(wire: Mapping[str, Any]) -> Graph:
    """Return a graph that is on the wire."""
    dims = {name: dim(name, low, high, default=default) for name, low, high, default in wire.get("dims", [])}

    def count(part: Any) -> Any:
        return from_wire(part, dims)

    tensors = [Tensor(one["name"], [count(size) for size in one["shape"]], one["dtype"]) for one in wire["tensors"]]
    made = {t for op in wire["ops"] for t in op["outputs"]}
    graph = Graph(wire["name"], convention=wire.get("convention", "textbook"))
    for t, one in enumerate(tensors):
        if t not in made:
            graph.input(one.name, one.shape, one.dtype)
    for op in wire["ops"]:
        graph.op(
            op["kind"],
            op["name"],
            [tensors[t] for t in op["inputs"]],
            [tensors[t] for t in op["outputs"]],
            {word: count(flops) for word, flops in op["flops"].items()},
            extra_bytes=count(op["extra"]),
            terms=[(word, count(flops)) for word, flops in op["terms"]],
            precision=op.get("precision"),
            axes=op.get("axes") if op["kind"] == "reduction" else None,
            index=op.get("index"),
            rescale=op.get("rescale", True),
            stats=op.get("stats", 1),
        )
    graph.output(*(tensors[t] for t in wire["outputs"]))
    return graph


def written(sizes: str, text: str) -> Graph:
    """Return a graph written as in the golden cases."""
    return graph_of(TEXT("written", sizes, text))


def chip_of(what: Mapping[str, Any], name: str = "G") -> Chip:
    """Return a chip of the golden cases: each precision has a peak of its own for products, all others one peak."""
    peaks = dict(what["tensor"])
    peaks |= {f"{precision}_vector": what["vector"] for precision in what["tensor"]}
    memories: dict[str, Any] = {"HBM": what["bandwidth"]}
    if what["units"] == 1:
        return Chip(name, peaks, memories | {"VMEM": Memory("VMEM", None, what["unit"])})
    memories |= {"L2": Memory("L2", None, what["shared"]), "L1": Memory("L1", None, what["units"] * what["unit"])}
    return Chip(name, peaks, memories, units=f"{what['units']} SM")


G: Final = chip_of(CHIPS["G"])
T: Final = chip_of(CHIPS["T"], "T")
S: Final = chip_of(CHIPS["S"], "S")


def forms_of(graph: Graph, chip: Chip | None, **how: Any) -> Forms:
    structure = Structure(graph)
    return Forms(structure, structure.counts_at(None), chip, **how)


def is_kernel(forms: Forms, group: Mask) -> bool:
    """Return whether a group is one kernel on the chip.

    It is connected and convex, without opaque ops beside others, and with two levels of products at most.
    """
    s = forms.structure
    level = dict[int, int]()
    for op in members(group & s.of_kind["matmul"]):
        level[op] = 1 + max((level[other] for other in level if s.before[op] >> other & 1), default=0)
    if max(level.values(), default=0) > 2:
        return False
    if group & (group - 1) and group & s.of_kind["opaque"]:
        return False
    if len(s.connected(group)) > 1:
        return False
    outside = s.everything & ~group
    after = before = 0
    for op in members(group):
        after |= s.after[op]
        before |= s.before[op]
    return not after & before & outside and isinstance(forms.form(group), Form)


def partitions(forms: Forms) -> Iterator[list[Mask]]:
    """Yield every partition of a graph whose groups are kernels that can run in some order."""
    known = {group: is_kernel(forms, group) for group in range(1, forms.structure.everything + 1)}
    for groups in _split(known, forms.structure.everything):
        if in_order(forms.structure, groups) is not None:
            yield groups


def _split(known: Mapping[Mask, bool], left: Mask) -> Iterator[list[Mask]]:
    """Yield the ways to split ops into groups that are kernels. The first op goes with each subset of the others."""
    if not left:
        yield []
        return
    first, rest = left & -left, left & (left - 1)
    for part in range(rest + 1):
        if part & ~rest or not known[part | first]:
            continue
        for others in _split(known, rest & ~part):
            yield [part | first, *others]


def priced(forms: Forms, groups: Sequence[Mask]) -> tuple[float, int]:
    """Return the seconds and the bytes of groups that are kernels."""
    costs = [cost for group in groups if (cost := forms.price(group))]
    assert len(costs) == len(groups)
    return sum(seconds for seconds, _ in costs), sum(moved for _, moved in costs)
