"""Collects the operations of a traced function, and makes a `Graph` of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from roofwidget.measure.elementwise import FLOPS_PER_ELEMENT
from roofwidget.measure.graphs.views import Array, Pieces, View, axes_of, dense
from roofwidget.measure.graphs.walks import Layout, Walked, in_shape, index_of
from roofwidget.support.text_tables import first_words
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.index import ANY, Index, usual
from roofwidget.workloads.op import added
from roofwidget.workloads.ops.elementwise import BINARY, UNARY
from roofwidget.workloads.ops.formulas import ACCUMULATOR, FMA, Work, work
from roofwidget.workloads.tensors import DTYPES, Tensor, is_floating

# How many ops a note names before it says only how many more there are.
_MAX_NAMED_OPS: Final = 6

_UNREADABLE: Final = (LookupError, StopIteration, TypeError, ValueError)
"""What the reader of an operation raises for a form that it does not know, such as a missing operand."""

UPDATED: Final = "an array that is updated in place (scatter) is counted as a copy of the whole array"
"""A note."""

Terms: TypeAlias = "Sequence[tuple[str, str, Count]]"
"""Parts of the FLOPs of an op: a name, a class and a count."""

Results: TypeAlias = "View | Sequence[View | None]"
"""What an operation returns; None is a constant that needs no memory."""


@dataclass(frozen=True)
class Where:
    """The place of an operation in the traced function, which names the op.

    Parameters
    ----------
    word
        What the operation does, such as ``add``.
    module
        The path of the module or function that contains it, such as ``layer1.0``.
    is_leaf
        Whether the module has no modules of its own. The path of such a module says what the operation does.
    """

    word: str
    module: str = ""
    is_leaf: bool = False


@dataclass(eq=False)
class _Step:
    where: Where
    kind: str
    reads: list[View]
    writes: list[Array]
    done: Work
    extra_bytes: Count
    dims: tuple[int, ...] | None
    """The axes of the first view that a reduction reduces; None means its last axis."""
    is_counted: bool = True
    """Whether the FLOPs are known."""
    index: Index | None = None
    """The loops of the views and of what is written, each in `seen`; None if they are unknown."""
    seen: list[View] | None = None
    """The views in the shapes that `index` is about. None for those in `reads`."""
    stats: int = 1


class Trace:
    """The operations of a traced function, in the order in which they run.

    Parameters
    ----------
    name
        The name of the function or model.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._steps: list[_Step] = []
        self._notes: dict[str, None] = {}
        self._conditions: dict[tuple[Count, Count], str] = {}
        self._made: set[Array] = set()

    def note(self, text: str) -> None:
        """Add a text for people who read the counts."""
        self._notes[text] = None

    def operator(
        self,
        where: Where,
        operator: str,
        reads: Iterable[View | tuple[View, Sequence[Count]]],
        *params: Any,
        out: Array,
        weights: Iterable[View] = (),
        beside: Iterable[View] = (),
        more: Terms = (),
        dims: Iterable[int] | None = None,
        **keywords: Any,
    ) -> View:
        """Add an operation that an operator of `Graph` describes, and return its result.

        Parameters
        ----------
        where, operator
            The operation's place, and the operator's name.
        reads
            The operands, each with the shape in which the operator takes it.
        out
            What the operation writes.
        weights
            The views that take the place of the weights that the operator adds to a graph.
        beside, more
            Other views that are read, and FLOPs besides those of the operator.
        dims
            The axes of the first operand that are reduced. By default the operator's own.
        params, keywords
            The operator's parameters.
        """
        scratch = Graph(self.name)
        views: dict[str, View] = {}
        for read in reads:
            view, shape = read if isinstance(read, tuple) else (read, read.shape)
            views[scratch.input(f"operand {len(views)}", shape, view.array.dtype).name] = view
        operands = scratch.inputs
        shown = {tensor.name: in_shape(views[tensor.name], tensor.shape) for tensor in operands}
        getattr(scratch, operator)(*operands, *params, name="op", **keywords)
        views |= zip((tensor.name for tensor in scratch.inputs[len(operands) :]), weights, strict=True)
        (op,) = scratch.ops
        shown |= {tensor.name: in_shape(views[tensor.name], tensor.shape) for tensor in scratch.inputs[len(operands) :]}
        extra = work(*more)
        flops = dict(op.flops)
        for word, count in extra.flops.items():
            flops[word] = flops.get(word, 0) + count
        step = _Step(
            where,
            op.kind,
            [*(views[tensor.name] for tensor in op.inputs), *beside],
            [out],
            Work(flops, (*op.terms, *extra.terms)),
            op.extra_bytes,
            op.axes if dims is None else tuple(dims),
            stats=op.stats,
        )
        if op.loops is not None:
            # How what is read beside the operands is walked is unknown.
            besides = [(ANY,) * len(view.shape) for view in step.reads[len(op.inputs) :]]
            result = in_shape(out.view(), op.outputs[0].shape)
            step.index = Index((*op.loops.inputs, *besides), op.loops.outputs[:1])
            step.seen = [*(shown[tensor.name] for tensor in op.inputs), *step.reads[len(op.inputs) :], result]
        for count, divisor in scratch.conditions:
            if divisor != 0:
                self._conditions.setdefault((count, divisor), f"a size of '{where.module or where.word}'")
        return self._add(step)[0]

    def function(self, where: Where, functions: Iterable[str], reads: Iterable[View], out: Array) -> View:
        """Add an operation that applies functions of `FLOPS_PER_ELEMENT` to each element."""
        return self.op(where, "elementwise", reads, [out], per_element(functions, out.size))[0]

    def op(
        self,
        where: Where,
        kind: str,
        reads: Iterable[View],
        writes: Iterable[Array],
        terms: Terms = (),
        *,
        dims: Iterable[int] | None = None,
        extra_bytes: Count = 0,
        index: Index | None = None,
    ) -> list[View]:
        """Add an operation of a kind of `KINDS`, and return its results.

        `index` has the loops of the views and of what is written. Without it they are those of the kind.
        """
        reduced = None if dims is None else tuple(dims)
        step = _Step(where, kind, list(reads), list(writes), work(*terms), extra_bytes, reduced)
        step.index = index or _usual(step)
        return self._add(step)

    def unknown(
        self, where: Where, reads: Iterable[View], writes: Iterable[Array], *, kind: str = "opaque"
    ) -> list[View]:
        """Add an operation that no operator describes: it has bytes, but no FLOPs. A note names it."""
        return self._add(_Step(where, kind, list(reads), list(writes), work(), 0, None, is_counted=False))

    def _add(self, step: _Step) -> list[View]:
        # A tensor of a graph has at least one element. Empty arrays move nothing.
        if any(view.array.size == 0 for view in step.reads):
            step.index = None
        step.reads = [view for view in step.reads if view.array.size != 0]
        arrays = [*step.writes, *(view.array for view in step.reads)]
        if "tensor" not in step.done.flops and not any(is_floating(array.dtype) for array in arrays):
            step.done = Work({}, ())  # as in profiles, integers have no FLOPs besides those of products
        if any(array.size != 0 for array in step.writes):
            self._steps.append(step)
            self._made.update(step.writes)
        return [array.view() for array in step.writes]

    def is_made(self, array: Array) -> bool:
        """Return whether an operation of the trace writes an array."""
        return array in self._made

    def graph(self, results: Iterable[View]) -> Graph:
        """Return the graph of the operations on which the results depend.

        Raises
        ------
        ValueError
            If there are no such operations.
        """
        found = self.graph_or_none(results)
        if found is None:
            raise ValueError(f"{self.name} has no operations: it returns its inputs, or views of them")
        return found

    def graph_or_none(self, results: Iterable[View]) -> Graph | None:
        """Return the graph of the operations on which the results depend, or None without such operations."""
        outputs = list(results)
        steps = self._needed(outputs)
        return _Builder(self.name, steps, outputs).build(self._conditions, self._all_notes) if steps else None

    def _needed(self, outputs: Iterable[View]) -> list[_Step]:
        needed = {view.array for view in outputs}
        steps: list[_Step] = []
        for step in reversed(self._steps):
            if not needed.isdisjoint(step.writes):
                needed.update(view.array for view in step.reads)
                steps.append(step)
        return steps[::-1]

    def _all_notes(self, names: Mapping[_Step, str]) -> list[str]:
        uncounted = [name for step, name in names.items() if not step.is_counted]
        if not uncounted:
            return list(self._notes)
        named = first_words((f"'{name}'" for name in uncounted), _MAX_NAMED_OPS)
        return [*self._notes, f"counted as moving bytes only, since no operator describes it: {named}"]


class _Builder:
    """Makes a graph of steps: finds the pieces of arrays, the shapes of tensors and the names."""

    def __init__(self, name: str, steps: Sequence[_Step], outputs: Sequence[View]) -> None:
        self.graph = Graph(name)
        self.steps, self.outputs = steps, outputs
        self._words: dict[str, set[str]] = {}
        self._readers: dict[Array, list[list[View]]] = {}
        for step in steps:
            self._words.setdefault(step.where.module, set()).add(step.where.word)
            self._read(step.reads)
        self._read(outputs)
        self._made = {array for step in steps for array in step.writes}
        self._pieces: dict[Array, Pieces] = {}
        self._layouts: dict[Array, tuple[tuple[Count, ...], tuple[Count, ...]]] = {}
        for array, readers in self._readers.items():
            self._pieces[array] = Pieces(array, readers)
            views = [view for reads in readers for view in reads]
            self._layouts[array] = _layout(array, views if array in self._made else [])
        self._tensors: dict[Array, list[Tensor]] = {}

    def _read(self, views: Iterable[View]) -> None:
        by_array: dict[Array, list[View]] = {}
        for view in views:
            by_array.setdefault(view.array, []).append(view)
        for array, own in by_array.items():
            self._readers.setdefault(array, []).append(own)

    def _used(self, array: Array) -> set[int]:
        """Return the places of the pieces of an array that something reads, or [0] of a whole array."""
        views = [view for reads in self._readers.get(array, ()) for view in reads]
        pieces = self._pieces[array] if views else None
        if pieces is None or not pieces.pieces:
            return {0} if views else set()
        return {place for view in views for place in pieces.of(view)}

    def build(self, conditions: Mapping[tuple[Count, Count], str], notes: Any) -> Graph:
        for step in self.steps:
            for view in step.reads:
                if view.array not in self._made and view.array not in self._tensors:
                    tensors = self._tensors[view.array] = self._tensors_of(view.array, view.array.name)
                    for place in sorted(self._used(view.array)):
                        self.graph.input(tensors[place].name, tensors[place].shape, tensors[place].dtype)
        names = {step: self._emit(step) for step in self.steps}
        for view in self.outputs:
            self.graph.output(*(self._read_tensors(view) if view.array in self._made else ()))
        for (count, divisor), what in conditions.items():
            self.graph.require(what, count, divisor)
        for text in notes(names):
            self.graph.note(text)
        return self.graph

    def _emit(self, step: _Step) -> str:
        name = self.graph.new_name(self._name(step.where))
        outputs: list[Tensor] = []
        # What the op writes and nothing reads is no output, which every fusion would have to write.
        unread: Count = 0
        for result, array in enumerate(step.writes):
            if array.size != 0:
                tensors = self._tensors[array] = self._tensors_of(array, f"{name}.{result}" if result else name)
                used = self._used(array)
                outputs += [tensor for place, tensor in enumerate(tensors) if place in used]
                unread = added((unread, *(tensor.bytes for place, tensor in enumerate(tensors) if place not in used)))
        self.graph.op(
            step.kind if step.kind not in {"elementwise", "broadcast"} else _kind(step),
            name,
            [tensor for view in step.reads for tensor in self._read_tensors(view)],
            outputs,
            step.done.flops,
            extra_bytes=step.extra_bytes + unread,
            terms=step.done.terms,
            axes=self._axes(step),
            precision=self._precision(step),
            index=self._index(step, outputs),
            stats=step.stats,
        )
        return name

    def _index(self, step: _Step, outputs: Sequence[Tensor]) -> str | None:
        """Return the index text of an op over its tensors, or None if its loops are unknown."""
        if step.index is None:
            return None
        seen = step.seen or [*step.reads, *(array.view() for array in step.writes)]
        axes = [*step.index.inputs, *step.index.outputs]
        if len(seen) != len(axes):
            return None
        count = len(step.reads)
        layouts = [*(self._layouts_read(view) for view in step.reads), *map(self._layouts_written, step.writes)]
        walked = [
            Walked(view, own if len(own) == len(view.shape) else None, there)
            for view, own, there in zip(seen, axes, layouts, strict=True)
        ]
        if sum(len(each.layouts) for each in walked[count:]) != len(outputs):
            return None
        return index_of(walked[:count], walked[count:])

    def _layouts_read(self, view: View) -> list[Layout]:
        """Return the shape and the strides of each tensor of a view."""
        pieces = self._pieces[view.array]
        return self._layouts_of(view.array, pieces.of(view) if pieces.pieces else [0])

    def _layouts_written(self, array: Array) -> list[Layout]:
        """Return the shape and the strides of each tensor that something reads of a written array."""
        return self._layouts_of(array, sorted(self._used(array))) if array.size != 0 else []

    def _layouts_of(self, array: Array, places: Iterable[int]) -> list[Layout]:
        pieces = self._pieces[array].pieces if array in self._pieces else []
        whole = self._layouts.get(array, (array.shape, array.strides))
        return [(pieces[place].shape, array.strides) if pieces else whole for place in places]

    def _name(self, where: Where) -> str:
        if not where.module:
            return where.word
        last = where.module.rpartition(".")[2]
        says_it_all = where.is_leaf and not last.isdecimal() and len(self._words[where.module]) == 1
        if says_it_all or last == where.word:
            return where.module
        return f"{where.module}.{where.word}"

    def _tensors_of(self, array: Array, name: str) -> list[Tensor]:
        pieces = self._pieces[array].pieces if array in self._pieces else []
        if pieces:
            return [
                Tensor(self.graph.new_name(f"{name}[{piece.place or place}]"), piece.shape, array.dtype)
                for place, piece in enumerate(pieces)
            ]
        shape, _ = self._layouts.get(array, (array.shape, ()))
        # An op and its result share a name, so the name of a result is free.
        return [Tensor(name if array in self._made else self.graph.new_name(name), shape, array.dtype)]

    def _read_tensors(self, view: View) -> list[Tensor]:
        tensors = self._tensors.get(view.array, [])
        pieces = self._pieces[view.array]
        return [tensors[place] for place in pieces.of(view)] if pieces.pieces else tensors

    def _axes(self, step: _Step) -> tuple[int, ...] | None:
        if step.kind != "reduction" or not step.reads:
            return None
        view = step.reads[0]
        shape, strides = self._layouts[view.array]
        if self._pieces[view.array].pieces:
            shape, strides = view.array.shape, view.array.strides
        dims = step.dims if step.dims is not None else (len(view.shape) - 1,)
        return axes_of(view, dims, shape, strides)

    def _precision(self, step: _Step) -> str | None:
        """Return the precision of a product if the first two tensors that the op reads are parts of one operand."""
        operands = step.reads[:2]
        if "tensor" not in step.done.flops or all(len(self._read_tensors(view)) == 1 for view in operands):
            return None
        return max((view.array.dtype for view in operands), key=lambda dtype: (DTYPES[dtype], is_floating(dtype)))


@dataclass(frozen=True)
class Operation:
    """An operation of a traced function, which its reader adds to the trace.

    Parameters
    ----------
    trace
        Where the operation is added.
    results
        What it writes.
    place
        Returns its place in the traced function, for a word.
    """

    trace: Trace
    results: list[Array]
    place: Callable[[str], Where]

    @property
    def out(self) -> Array:
        """The first result."""
        return self.results[0]

    def op(self, word: str, kind: str, reads: Iterable[View], terms: Terms = (), **how: Any) -> list[View]:
        """Add an op that writes all results: see `Trace.op`."""
        return self.trace.op(self.place(word), kind, reads, self.results, terms, **how)

    def operator(self, word: str, operator: str, reads: Iterable[Any], *params: Any, **how: Any) -> View:
        """Add an op that an operator of `Graph` describes, and that writes the first result: see `Trace.operator`."""
        return self.trace.operator(self.place(word), operator, reads, *params, out=self.out, **how)

    def function(self, word: str, functions: Iterable[str], reads: Iterable[View]) -> View:
        """Add an op that applies functions to each element: see `Trace.function`."""
        return self.trace.function(self.place(word), functions, reads, self.out)

    def product(self, word: str, operands: Iterable[View], multiply_adds: Count, more: Terms = ()) -> list[View]:
        """Add a matrix product that no operator has as it is."""
        terms = [("multiply-adds", "tensor", FMA * multiply_adds), *more]
        return self.op(word, "matmul", operands, terms, extra_bytes=ACCUMULATOR * self.out.size)


OperationT = TypeVar("OperationT", bound=Operation)


def read_by(
    handler: Callable[[OperationT], Results], unknown: Callable[[OperationT], Results], operation: OperationT
) -> Sequence[View | None]:
    """Add an operation to its trace, and return its results. A form that its handler does not know is unknown."""
    try:
        results = handler(operation)
    except _UNREADABLE:
        results = unknown(operation)
    return [results] if isinstance(results, View) else results


def _usual(step: _Step) -> Index | None:
    """Return the loops that an op of a kind has over its views. Empty arrays have none."""
    arrays = [*(view.array for view in step.reads), *step.writes]
    if not step.writes or (step.kind == "reduction" and not step.reads) or any(array.size == 0 for array in arrays):
        return None
    views = [Tensor("x", view.shape, "bool") for view in step.reads]
    results = [Tensor("y", array.shape, "bool") for array in step.writes]
    dims = (len(step.reads[0].shape) - 1,) if step.dims is None and step.reads else step.dims
    return usual(step.kind, views, results, dims or ())


def made(shape: Sequence[Count], dtype: str, *, strides: Sequence[Count] | None = None, name: str = "") -> Array:
    """Return a new array. By default its last axis is contiguous."""
    return Array(name, tuple(shape), dense(shape) if strides is None else tuple(strides), dtype)


def _kind(step: _Step) -> str:
    """Return how a function of each element fuses, by the order of the elements that it reads."""
    out = step.writes[0]
    if not all(view.follows(out.shape, out.strides) for view in step.reads):
        return "injective"
    return "elementwise" if all(view.distinct == out.size for view in step.reads) else "broadcast"


def _layout(array: Array, views: Iterable[View]) -> tuple[tuple[Count, ...], tuple[Count, ...]]:
    """Return the shape and the strides of an array's tensor.

    If all ops read the array in the same other shape, the tensor has this shape.
    """
    found = {
        (
            tuple(1 if stride == 0 else size for size, stride in zip(view.shape, view.strides, strict=True)),
            view.strides if view.is_in_order else None,
        )
        for view in views
    }
    shape, strides = next(iter(found)) if len(found) == 1 else (array.shape, array.strides)
    return (array.shape, array.strides) if strides is None else (shape, strides)


def per_element(functions: Iterable[str], elements: Count) -> list[tuple[str, str, Count]]:
    """Return the FLOPs of functions of `FLOPS_PER_ELEMENT`, each applied to so many elements."""
    return [(word, klass, each * elements) for name in functions for word, klass, each in _terms_of(name)]


def _terms_of(function: str) -> Terms:
    if function in UNARY:
        return UNARY[function]
    if function in BINARY:
        return [(function, "vector", BINARY[function])]
    return [(function, klass, count) for klass, count in FLOPS_PER_ELEMENT[function].items()]
