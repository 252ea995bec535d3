"""`Graph`: operations joined by named tensors, and the convention that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from types import MappingProxyType, MethodType
from typing import Any, Final

from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.table import Kernels
from roofwidget.support.arguments import text_argument
from roofwidget.support.did_you_mean import choose_from, did_you_mean, keywords
from roofwidget.workloads import conditions
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.convention import convention as named_convention
from roofwidget.workloads.expressions import Count, Dim, dims_of, evaluate, substitute
from roofwidget.workloads.op import CLASSES, Op
from roofwidget.workloads.partition_report import graph_html
from roofwidget.workloads.registry import OPERATORS, Operator, built_in, register
from roofwidget.workloads.structure import Structure
from roofwidget.workloads.tensors import DTYPES, Tensor, checked_dtype, is_floating

_WHATS: Final = ("flops", *CLASSES, "bytes", "compulsory")


class Graph:
    """Operations joined by named tensors. Every operator is a method: ``y = graph.layernorm(x)``.

    Parameters
    ----------
    name
        Display name.
    ops
        Operations, each after the ops whose tensors it reads. A tensor that no op writes is an input.
    outputs
        The tensors that must be in memory at the end. A tensor that no op reads is always written too.
    convention
        How FLOPs and bytes are counted: a `Convention`, or the name of a preset.
    dtype
        The dtype that is counted for tensors of the graph's main dtype. None counts these tensors in their own dtype.

    Raises
    ------
    ValueError
        If two ops or two tensors have the same name, a tensor is unknown, ops form a cycle or are out of order, an
        output is never produced, or two dims of the same name differ. The message names the op and the tensor.

    Examples
    --------
    >>> g = Graph("mlp tail")
    >>> x = g.input("x", (65536, 4096), "bf16")
    >>> g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
    >>> g
    Graph('mlp tail': 4 ops, 7 tensors, 1 output; textbook)
    >>> g.count("flops"), g.count("bytes"), g.count("compulsory")
    (4832034816, 4831854592, 1073758208)
    """

    __module__ = "roofwidget"

    @keywords("Graph")
    def __init__(
        self,
        name: str = "",
        ops: Iterable[Op] = (),
        outputs: Iterable[Tensor | str] = (),
        *,
        convention: str | Convention = "textbook",
        dtype: str | None = None,
    ) -> None:
        self.name = name
        self._convention = named_convention(convention)
        self._dtype = None if dtype is None else checked_dtype(dtype, f"dtype of graph '{name}'")
        self._ops: dict[str, Op] = {}
        self._tensors: dict[str, Tensor] = {}
        self._inputs: dict[str, Tensor] = {}
        self._outputs: dict[str, Tensor] = {}
        self._producers: dict[str, Op] = {}
        self._consumers: dict[str, list[Op]] = {}
        self._dims: dict[str, Dim] = {}
        self._next: dict[str, int] = {}
        self._known: dict[Count, Count] = {}
        self._conditions: dict[tuple[Count, Count], str] = {}
        self._notes: dict[str, None] = {}
        ops = tuple(ops)
        _check_order(ops)
        written = {tensor.name for op in ops for tensor in op.outputs}
        for op in ops:
            for tensor in op.inputs:
                if tensor.name not in written and tensor.name not in self._tensors:
                    self._add_tensor(tensor, f"op '{op.name}'")
                    self._inputs[tensor.name] = tensor
            self._add(op)
        for output in outputs:
            self.output(output)

    # -- building --------------------------------------------------------------------------------------------------

    def input(self, name: str, shape: Iterable[Count], dtype: str) -> Tensor:
        """Add a tensor that is in memory before the graph runs: an activation, a weight or a cache."""
        tensor = Tensor(name, shape, dtype)
        self._add_tensor(tensor, "input")
        self._inputs[name] = tensor
        return tensor

    @keywords("op")
    def op(
        self,
        kind: str,
        name: str,
        inputs: Iterable[Tensor],
        outputs: Iterable[Tensor],
        flops: Count | Mapping[str, Count],
        *,
        extra_bytes: Count = 0,
        terms: Iterable[tuple[str, Count]] = (),
        precision: str | None = None,
        axes: Iterable[int] | None = None,
        index: str | None = None,
        rescale: bool = True,
        stats: int = 1,
    ) -> Op:
        """Add an operation and the tensors that it writes. The parameters are the same as for `Op`."""
        how: dict[str, Any] = {"extra_bytes": extra_bytes, "terms": terms, "precision": precision, "axes": axes}
        how |= {"index": index, "rescale": rescale, "stats": stats}
        return self._add(Op(name, kind, inputs, outputs, flops, **how))

    def output(self, *tensors: Tensor | str) -> None:
        """Declare tensors that must be in memory at the end."""
        for given in tensors:
            tensor = self._tensor(given, "output")
            if tensor.name not in self._producers:
                raise ValueError(f"output '{tensor.name}' is never produced: no op of graph '{self.name}' writes it")
            self._outputs[tensor.name] = tensor

    @contextmanager
    def building(self) -> Iterator[None]:
        """Return a context that restores the graph if its body raises. Every operator runs in this context."""
        # These tables only grow, so their old lengths are enough to restore them.
        tables: list[dict[Any, Any]] = [self._ops, self._tensors, self._inputs, self._outputs, self._producers]
        tables += [self._dims, self._conditions, self._notes]
        lengths = [len(table) for table in tables]
        try:
            yield
        except BaseException:
            for table, length in zip(tables, lengths, strict=True):
                while len(table) > length:
                    table.popitem()
            for name, readers in list(self._consumers.items()):
                readers[:] = [op for op in readers if self._ops.get(op.name) is op]
                if not readers:
                    del self._consumers[name]
            raise

    def require(self, what: str, count: Count, divisor: Count) -> None:
        """Require a count to be a multiple of `divisor` at all dimensions. Errors call the count `what`."""
        dims = self._merged_dims([count, divisor], what)
        conditions.check({(count, divisor): what}, dims.values(), {name: dim.default for name, dim in dims.items()})
        self._dims |= dims
        self._conditions.setdefault((count, divisor), what)

    def note(self, text: str) -> None:
        """Add a text to `notes`, for people who read the counts. A text that is in `notes` already is not repeated."""
        self._notes[text] = None

    def new_name(self, name: str) -> str:
        """Return the name if it is free, else the name with the first free number: ``gelu_2``."""
        if name not in self._ops and name not in self._tensors:
            return name
        number = self._next.get(name, 2)
        while f"{name}_{number}" in self._ops or f"{name}_{number}" in self._tensors:
            number += 1
        self._next[name] = number + 1
        return f"{name}_{number}"

    def _add(self, op: Op) -> Op:
        where = f"op '{op.name}'"
        if op.name in self._ops:
            raise ValueError(f"graph '{self.name}' has two ops called '{op.name}'; give each its own name")
        for tensor in op.inputs:
            self._tensor(tensor, where)
        new_dims = self._merged_dims([*op.flops.values(), op.extra_bytes], where)
        with self.building():
            for tensor in op.outputs:
                self._add_tensor(tensor, where)
                self._producers[tensor.name] = op
        self._dims |= new_dims
        self._ops[op.name] = op
        for name in dict.fromkeys(tensor.name for tensor in op.inputs):
            self._consumers.setdefault(name, []).append(op)
        return op

    def _add_tensor(self, tensor: Tensor, where: str) -> None:
        if tensor.name in self._tensors:
            raise ValueError(
                f"{where}: graph '{self.name}' already has a tensor called '{tensor.name}'; give each its own name"
            )
        self._dims |= self._merged_dims([tensor.size], f"{where}: tensor '{tensor.name}'")
        for condition, what in conditions.of_sizes(tensor, where).items():
            self._conditions.setdefault(condition, what)
        self._tensors[tensor.name] = tensor
        if self._dtype is not None:
            self._known.clear()  # a new tensor may change the main dtype

    def _merged_dims(self, counts: Iterable[Count], where: str) -> dict[str, Dim]:
        found = {dim.name: dim for dim in dims_of(counts)}
        for name, dim in found.items():
            if self._dims.get(name, dim) != dim:
                raise ValueError(
                    f"{where}: dim '{name}' differs from the graph's '{name}' in its range or default; make it once"
                )
        return found

    @classmethod
    def from_torch(cls, model: Any, *args: Any, dynamic_shapes: Any = None, **kwargs: Any) -> Graph:
        """Return the graph of a PyTorch model, for the tab *Fusion*.

        `torch.export` traces the model in evaluation mode. Operations become ops with the FLOPs and bytes of the
        operators: matrix products, convolutions, normalisations, attention, functions of each element. Views are free,
        and ops walk their loops through them, so that attention written out can be one kernel. An operation that no
        operator describes is opaque and counts its bytes only; `notes` names it. Ops have the paths of their modules
        (``layer1.0.conv1``), and weights are inputs (``layer1.0.conv1.weight``).

        Parameters
        ----------
        model
            A `torch.nn.Module`, or a function of tensors.
        args, kwargs
            Example inputs. Only their shapes and dtypes matter.
        dynamic_shapes
            The dimensions that may change, as `torch.export` takes them:
            ``{"x": {0: torch.export.Dim("batch", max=64)}}``. Each becomes a `dim` with a slider, whose default is the
            size of the example.

        Raises
        ------
        ImportError
            If PyTorch is not installed.
        TypeError, ValueError
            If the model is no module or function, no input is a tensor, or `torch.export` cannot trace the model.
        """
        from roofwidget.measure.frameworks import tracer  # noqa: PLC0415 - an upward import

        graph: Graph = tracer("torch").graph_of(model, args, kwargs, dynamic_shapes)
        return graph

    @classmethod
    def from_jax(cls, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Graph:
        """Return the graph of a JAX function, for the tab *Fusion*.

        `jax.make_jaxpr` traces the function. Its primitives become ops, and nothing is fused: a softmax is reductions
        and functions of each element. Reshapes and broadcasts are free, and ops walk their loops through them, so that
        attention written out can be one kernel. A primitive that no operator describes is opaque and counts its bytes
        only; `notes` names it. A loop of known length is unrolled if it is short.

        Parameters
        ----------
        function
            A function of arrays, also one that `jax.jit` made.
        args, kwargs
            Example inputs: arrays, or `jax.ShapeDtypeStruct`.

        Raises
        ------
        ImportError
            If JAX is not installed.
        TypeError, ValueError
            If `function` is no function, no input is an array, or JAX cannot trace the function.
        """
        from roofwidget.measure.frameworks import tracer  # noqa: PLC0415 - an upward import

        graph: Graph = tracer("jax").graph_of(function, args, kwargs)
        return graph

    # -- contents -------------------------------------------------------------------------------------------------

    @property
    def ops(self) -> tuple[Op, ...]:
        """The operations, each after the ops whose tensors it reads."""
        return tuple(self._ops.values())

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """The tensors by name."""
        return MappingProxyType(self._tensors)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that are in memory before the graph runs, weights included."""
        return tuple(self._inputs.values())

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The declared outputs: tensors that must be in memory at the end."""
        return tuple(self._outputs.values())

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The symbolic dimensions, in the order of their first use."""
        return tuple(self._dims.values())

    @property
    def conditions(self) -> Mapping[tuple[Count, Count], str]:
        """The meaning of each count that has a condition, by (count, divisor).

        The count must be a multiple of the divisor. If the divisor is 0, the count must be at least 1.
        """
        return MappingProxyType(self._conditions)

    @property
    def notes(self) -> tuple[str, ...]:
        """Texts for people who read the counts, such as an assumption. The `source` of kernels repeats these texts."""
        return tuple(self._notes)

    @property
    def convention(self) -> Convention:
        """How FLOPs and bytes are counted."""
        return self._convention

    @property
    def dtype(self) -> str | None:
        """The dtype that replaces the main dtype in counts, or None if the main dtype is kept."""
        return self._dtype

    @property
    def main_dtype(self) -> str | None:
        """The floating-point dtype of most tensors, or None if no tensor has a floating-point dtype.

        If two dtypes have equally many tensors, the dtype that occurs first is the main dtype.
        """
        votes = Counter(tensor.dtype for tensor in self._tensors.values() if is_floating(tensor.dtype))
        return max(votes, key=votes.__getitem__, default=None)

    def producer(self, tensor: Tensor | str) -> Op | None:
        """Return the op that writes a tensor, or None for an input."""
        return self._producers.get(self._tensor(tensor, "producer").name)

    def consumers(self, tensor: Tensor | str) -> tuple[Op, ...]:
        """Return the ops that read a tensor, in the graph's order."""
        return tuple(self._consumers.get(self._tensor(tensor, "consumers").name, ()))

    def dtype_of(self, tensor: Tensor | str) -> str:
        """Return the dtype that is used to count the bytes of a tensor."""
        own = self._tensor(tensor, "dtype_of").dtype
        return self._dtype if self._dtype is not None and own == self.main_dtype else own

    def with_convention(self, convention: str | Convention) -> Graph:
        """Return a copy of this graph that is counted by another convention."""
        return self._copy(named_convention(convention), self._dtype)

    def with_dtype(self, dtype: str | None) -> Graph:
        """Return a copy of this graph in which the tensors of its main dtype are counted in another dtype.

        If `dtype` is None, each tensor is counted in the dtype that it has.
        """
        checked = None if dtype is None else checked_dtype(dtype, f"dtype of graph '{self.name}'")
        return self._copy(self._convention, checked)

    def _copy(self, convention: Convention, dtype: str | None) -> Graph:
        other = Graph(self.name, convention=convention, dtype=dtype)
        for field in (
            "_ops",
            "_tensors",
            "_inputs",
            "_outputs",
            "_producers",
            "_dims",
            "_next",
            "_conditions",
            "_notes",
        ):
            setattr(other, field, dict(getattr(self, field)))
        other._consumers = {name: list(ops) for name, ops in self._consumers.items()}
        return other

    # -- counting --------------------------------------------------------------------------------------------------

    def environment(self, dims: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return the values of all symbols: dimensions (the default unless given), convention, bits of dtypes.

        Raises
        ------
        TypeError, ValueError
            If a dimension is unknown, if its value is not an integer or is outside its range, or if the value breaks
            one of the `conditions`.
        """
        return conditions.sizes(self.name, self._dims, self._conditions, {} if dims is None else dims) | self._fixed()

    def count(self, what: str, dims: Mapping[str, int] | None = None) -> int:
        """Return an exact count over the whole graph.

        Parameters
        ----------
        what
            ``"flops"``, a class of FLOPs (``"tensor"``, ``"vector"``, ``"transcendental"``), ``"bytes"`` (no op is
            fused) or ``"compulsory"``. Compulsory bytes are the bytes of the outputs and of the inputs that an op
            reads. Every fusion moves these bytes.
        dims
            Values of dimensions that differ from their defaults.
        """
        if text_argument(what, "what") not in _WHATS:
            raise ValueError(f"cannot count {what!r:.40}{choose_from(what, _WHATS)}")
        env = self.environment(dims)
        return sum(evaluate(self.simplify(count), env) for count in self._counts(what))

    def flops(self, op: Op | str) -> Count:
        """Return an op's FLOPs, summed over all classes: an int, or an expression over the dimensions."""
        return self.simplify(self._op(op).total_flops)

    def flops_by_class(self, op: Op | str) -> dict[str, Count]:
        """Return an op's FLOPs by class, without classes that have no FLOPs."""
        found = {word: self.simplify(count) for word, count in self._op(op).flops.items()}
        return {word: count for word, count in found.items() if count != 0}

    def bytes(self, what: Tensor | Op | str) -> Count:
        """Return the bytes of a tensor, or the bytes that an op moves as an unfused kernel."""
        if isinstance(what, Op):
            return self.simplify(self._op(what).own_bytes)
        return self.simplify(self._tensor(what, "bytes").bytes)

    def terms(self, op: Op | str) -> tuple[tuple[str, Count], ...]:
        """Return the derivation of an op's FLOPs: named terms whose sum is the FLOPs, without zero terms."""
        found = tuple((word, self.simplify(count)) for word, count in self._op(op).terms)
        return tuple((word, count) for word, count in found if count != 0)

    def simplify(self, count: Count) -> Count:
        """Return a count with the convention and the dtypes substituted. Only dimensions stay symbolic."""
        if isinstance(count, int):
            return count
        known = self._known.get(count)
        if known is None:
            known = self._known[count] = substitute(count, self._fixed())
        return known

    def kernels(self, dims: Mapping[str, int] | None = None) -> Kernels:
        """Return one kernel per op; nothing is fused."""
        structure = Structure(self)
        return structure.kernels([1 << op for op in range(len(structure.ops))], dims=dims)

    def _counts(self, what: str) -> list[Count]:
        if what == "bytes":
            return [op.own_bytes for op in self._ops.values()]
        if what == "compulsory":
            read = [tensor for name, tensor in self._inputs.items() if name in self._consumers]
            unread = {n: t for n, t in self._tensors.items() if n in self._producers and n not in self._consumers}
            return [tensor.bytes for tensor in (*read, *(self._outputs | unread).values())]
        if what == "flops":
            return [op.total_flops for op in self._ops.values()]
        return [op.flops.get(what, 0) for op in self._ops.values()]

    def _fixed(self) -> dict[str, int]:
        widths = {f"@{name}": width for name, width in DTYPES.items()}
        if self._dtype is not None and self.main_dtype is not None:
            widths[f"@{self.main_dtype}"] = DTYPES[self._dtype]
        return {**widths, **self._convention.environment}

    def _op(self, op: Op | str) -> Op:
        name = op.name if isinstance(op, Op) else text_argument(op, "op")
        found = self._ops.get(name)
        if found is None:
            raise ValueError(f"graph '{self.name}' has no op '{name}'{did_you_mean(name, self._ops)}")
        return found

    def _tensor(self, tensor: Tensor | str, where: str) -> Tensor:
        name = tensor.name if isinstance(tensor, Tensor) else text_argument(tensor, f"{where}: a tensor")
        found = self._tensors.get(name)
        if found is None:
            raise ValueError(f"{where}: graph '{self.name}' has no tensor '{name}'{did_you_mean(name, self._tensors)}")
        if isinstance(tensor, Tensor) and tensor != found:
            raise ValueError(
                f"{where}: '{name}' is {tensor}, but graph '{self.name}' has another tensor of that name, {found}"
            )
        return found

    # -- operators -------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in OPERATORS:
            return MethodType(OPERATORS[name], self)
        # Python itself looks up many private names, so a private name gets no suggestion.
        close = "" if name.startswith("_") else did_you_mean(name, OPERATORS)
        raise AttributeError(f"a graph has no operator or attribute '{name}'{close}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *OPERATORS})

    def __repr__(self) -> str:
        counted = ((len(self._ops), "op"), (len(self._tensors), "tensor"), (len(self._outputs), "output"))
        parts = ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in counted)
        return f"Graph({self.name!r}: {parts}; {self._convention.name}{f', {self._dtype}' if self._dtype else ''})"

    def _repr_html_(self) -> str:
        return graph_html(self)


def register_op(name: str, function: Operator) -> None:
    """Make ``graph.<name>(…)`` call ``function(graph, …)``.

    Parameters
    ----------
    name
        An identifier that is neither an attribute of `Graph` nor a built-in operator. Your own operators can be
        replaced.
    function
        Takes the graph, then tensors and keywords. It checks shapes, calls ``graph.op(…)`` and returns a tensor or a
        tuple of tensors.

    Raises
    ------
    TypeError, ValueError
        If the function is not callable, or the name is not an identifier or is taken.

    Examples
    --------
    >>> def cube(graph, x, name=None):
    ...     name = graph.new_name(name or "cube")
    ...     y = Tensor(name, x.shape, x.dtype)
    ...     graph.op("elementwise", name, [x], [y], 2 * x.size)
    ...     return y
    >>> register_op("cube", cube)
    >>> g = Graph()
    >>> g.flops(g.producer(g.cube(g.input("x", (4, 8), "fp32"))))
    64
    """
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"the name of an operator must be an identifier such as 'gelu', got {name!r:.60}")
    if not callable(function):
        raise TypeError(f"operator '{name}' must be a function, got {function!r:.60}")
    if name in built_in() or name in vars(Graph) or name in vars(Graph()):
        what = "a built-in operator" if name in built_in() else "an attribute of every graph"
        raise ValueError(f"'{name}' is {what}; give yours another name")
    register(name, function)


def _check_order(ops: Sequence[Op]) -> None:
    """Raise `ValueError` if ops form a cycle, or an op comes before the op whose tensor it reads."""
    place = {tensor.name: index for index, op in reversed(list(enumerate(ops))) for tensor in op.outputs}
    late = [
        (op, tensor.name, ops[place[tensor.name]])
        for index, op in enumerate(ops)
        for tensor in op.inputs
        if place.get(tensor.name, -1) >= index
    ]
    if not late:
        return
    cycle = _cycle(ops)
    if cycle:
        path = "".join(f" -> '{tensor}' -> {name}" for tensor, name in cycle)
        last = cycle[-1][1]
        raise ValueError(
            f"op '{last}' needs its own result: the ops form a cycle, {last}{path}; drop one of these reads"
        )
    reader, tensor, writer = late[0]
    raise ValueError(
        f"op '{reader.name}' reads tensor '{tensor}' before op '{writer.name}' writes it; put '{writer.name}' first"
    )


def _cycle(ops: Sequence[Op]) -> list[tuple[str, str]] | None:
    """Return the steps of one cycle, or None if there is no cycle. A step is a tensor and the op that reads it."""
    writer = {tensor.name: op for op in ops for tensor in op.outputs}
    shared = {(writer[t.name].name, op.name): t.name for op in ops for t in op.inputs if t.name in writer}
    needs = {op.name: [writer[t.name].name for t in op.inputs if t.name in writer] for op in ops}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return [(shared[step], step[1]) for step in pairwise(error.args[1])]
    return None


def kernel_of_op(value: object) -> Kernel | None:
    """Return the kernel that an op runs as, with its FLOPs and bytes; None if the value is no op.

    Examples
    --------
    >>> x, y = Tensor("x", (8,), "fp32"), Tensor("y", (8,), "fp32")
    >>> kernel = kernel_of_op(Op("relu", "elementwise", [x], [y], 8))
    >>> kernel.bytes, kernel.precision
    (64.0, 'fp32')
    """
    return Graph(value.name, [value], value.outputs).kernels()[0] if isinstance(value, Op) else None
