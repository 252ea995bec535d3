"""Makes a graph of a PyTorch model: `torch.export` traces it, and each of its operations becomes an op.

Views are free: an op that reads a transposed tensor or a slice reads the tensor, or a piece of it. Whether an operation
makes a view or a copy is seen by its result: a view has the storage of another tensor.
"""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree

from roofwidget.measure.graphs.trace import Trace, Where, made
from roofwidget.measure.graphs.views import Array, View, value_of
from roofwidget.measure.torch.fake import no_logged_traces
from roofwidget.measure.torch.flops import flops
from roofwidget.measure.torch.operators import Call, bound, is_composite, read
from roofwidget.measure.torch.symbols import Symbols
from roofwidget.measure.torch.tensors import OpCall, storage_of
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.tensors import checked_dtype

_MAX_REASON: Final = 300  # characters of torch's reason in an error
_MAX_DECOMPOSITIONS: Final = 4  # steps; an operation may consist of operations that consist of others


def graph_of(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any = None) -> Graph:
    """Return the graph of a model: see `Graph.from_torch`."""
    module, name = _module(model)
    if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves((args, kwargs))):
        raise ValueError(
            f"Graph.from_torch needs example inputs for {name}, and got no tensor; call it as "
            "Graph.from_torch(model, torch.randn(1, 3, 224, 224))"
        )
    program = _exported(module, name, args, kwargs, dynamic_shapes)
    arguments = list(inspect.signature(module.forward).parameters)
    leaves = {path for path, part in module.named_modules() if next(part.children(), None) is None}
    trace = Trace(name)
    reader = _Reader(trace, Symbols(program, dynamic_shapes, arguments).count, leaves)
    return trace.graph(reader.program(program))


def without_values(make: Callable[[], Any]) -> Any:
    """Return what a function makes, such as a model or inputs, with tensors that have shapes but no memory."""
    with torch.device("meta"):
        return make()


def _module(model: Any) -> tuple[Any, str]:
    """Return a module for a model or a function, and its name."""
    if isinstance(model, torch.nn.Module):
        module = getattr(model, "_orig_mod", model)  # what torch.compile has wrapped
        return module, type(module).__name__
    if not callable(model) or isinstance(model, type):
        raise TypeError(f"Graph.from_torch needs a torch.nn.Module or a function of tensors, got {model!r:.60}")
    module = torch.nn.Module()
    module.forward = model if _has_signature(model) else partial(_call, model)
    return module, str(getattr(model, "__name__", type(model).__name__))


def _has_signature(function: Any) -> bool:
    try:
        inspect.signature(function)
    except ValueError:  # as of functions that are not written in Python
        return False
    return True


def _call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _exported(module: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any) -> Any:
    training = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad(), warnings.catch_warnings(), no_logged_traces():
            warnings.simplefilter("ignore")
            return _plain(torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"torch.export cannot trace {name}: {type(error).__name__}: {reason:.{_MAX_REASON}}; "
            "make torch.export.export(model, args) work first: it follows no branch on the values of a tensor"
        ) from error
    finally:
        for part, was in training.items():
            part.training = was


def _plain(program: Any) -> Any:
    """Return a program without operations in place, and without those that consist of others and have no operator."""
    known = torch.export.default_decompositions()
    for _ in range(_MAX_DECOMPOSITIONS):
        targets = {node.target for node in program.graph.nodes if isinstance(node.target, torch._ops.OpOverload)}  # noqa: SLF001 - no public name
        missing = {target: known[target] for target in targets if target in known and is_composite(target)}
        # Operations in place become those that write a new tensor, also if no operation is missing.
        program = program.run_decompositions(missing)
        if not missing:
            break
    return program


class _Reader:
    """Reads an exported program into a trace.

    Parameters
    ----------
    trace
        Where operations are added.
    count
        Returns a size of the program as a count.
    leaves
        Paths of the modules that have no modules of their own.
    """

    def __init__(self, trace: Trace, count: Callable[[Any], Count], leaves: set[str]) -> None:
        self.trace, self.count, self.leaves = trace, count, leaves
        # Storages by their address in torch, each with its array and the offset of its first element.
        self._storages: dict[int, tuple[Array, Count]] = {}

    def program(self, program: Any) -> list[View]:
        """Read an exported program, and return its results."""
        names = {spec.arg.name: spec.target or spec.arg.name for spec in program.graph_signature.input_specs}
        module = program.graph_module
        inputs = [self._input(node.meta.get("val"), names[node.name]) for node in _placeholders(module)]
        return _views(self.run(module, inputs))

    def run(self, module: Any, inputs: Iterable[Any]) -> Any:
        """Read a graph module with these values of its inputs, and return the values of its results."""
        values: dict[Any, Any] = {}
        given = iter(inputs)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(given)
                self._known_as(node.meta.get("val"), values[node])
            elif node.op == "get_attr":
                part = operator.attrgetter(node.target)(module)
                values[node] = self._input(part, node.target) if isinstance(part, torch.Tensor) else part
            elif node.op == "output":
                return torch.fx.node.map_arg(node.args[0], values.__getitem__)
            else:
                args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), values.__getitem__)
                values[node] = self._called(node, args, kwargs)
        return ()

    def _input(self, value: Any, name: str) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        known = self._view(value)
        if known is not None:
            return known  # a weight that two modules share
        array = self._array(value, name)
        self._storages[storage_of(value)] = array, 0 - self._start(value)
        return array.view()

    def _known_as(self, value: Any, view: Any) -> None:
        """Note that a tensor of an inner graph is a view of the outer graph."""
        if isinstance(value, torch.Tensor) and isinstance(view, View):
            self._storages.setdefault(storage_of(value), (view.array, view.offset - self._start(value)))

    def _called(self, node: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if node.target is operator.getitem:
            return args[0][args[1]]
        value = node.meta.get("val")
        tensors = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        if not tensors:
            return value
        inner = [part for part in args if isinstance(part, torch.fx.GraphModule)]
        is_attention = str(node.target) == "flex_attention"
        if len(inner) == 1 and not is_attention:
            return self.run(inner[0], args[args.index(inner[0]) + 1 :])
        if str(node.target) == "cond":
            self.trace.note("of a condition only the branch with most FLOPs is counted")
            return self.run(max(inner, key=self._flops), args[3])
        known: Sequence[View | None] = [self._view(tensor) for tensor in tensors]
        if None in known:
            known = self._read(
                node,
                dict(zip(_FLEX, args, strict=False)) if is_attention else bound(node.target, args, kwargs),
                tensors,
            )
        left = iter(known)
        return pytree.tree_map(lambda leaf: next(left) if isinstance(leaf, torch.Tensor) else leaf, value)

    def _read(self, node: Any, arguments: Mapping[str, Any], tensors: Sequence[Any]) -> list[View]:
        """Add an operation, and return its results."""
        arrays = [self._array(tensor) for tensor in tensors]
        origin = str((node.meta.get("torch_fn") or ("", ""))[0])
        place = partial(self._where, node)
        counted = partial(_counted, node)
        call = Call(self.trace, arrays, place, node.target, arguments, counted, origin, tensors[0].is_complex())
        views = read(call)
        # What no operation writes, such as statistics that nothing reads, is an array too.
        views = [*views, *(array.view() for array in arrays[len(views) :])]
        for tensor, view in zip(tensors, views, strict=True):
            self._storages[storage_of(tensor)] = view.array, view.offset
        return views

    def _flops(self, module: Any) -> int:
        """Return the FLOPs of a branch."""
        reader = _Reader(Trace("branch"), self.count, self.leaves)
        inputs = [reader._input(node.meta.get("val"), node.name) for node in _placeholders(module)]
        graph = reader.trace.graph_or_none(_views(reader.run(module, inputs)))
        return 0 if graph is None else graph.count("flops")

    def _where(self, node: Any, word: str) -> Where:
        """Return the place of a node in the model."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        module = str(stack[-1][0]) if stack else ""
        return Where(word, module, module in self.leaves)

    def _array(self, value: Any, name: str = "") -> Array:
        """Return a new array with the layout of a tensor."""
        shape, strides, dtype = self._layout(value)
        return made(shape, dtype, strides=strides if _is_dense(shape, strides) else None, name=name)

    def _view(self, value: Any) -> View | None:
        """Return a tensor as a view of an array that is known, or None."""
        array, start = self._storages.get(storage_of(value), (None, 0))
        shape, strides, dtype = self._layout(value)
        if array is None or array.dtype != dtype:
            return None
        return View(array, shape, strides, self._start(value) + start)

    def _start(self, value: Any) -> Count:
        """Return the offset of a tensor in its storage."""
        return self.count(value.storage_offset()) * (2 if value.is_complex() else 1)

    def _layout(self, value: Any) -> tuple[tuple[Count, ...], tuple[Count, ...], str]:
        """Return the shape, the strides and the dtype of a tensor; a complex number is a pair of numbers."""
        shape = tuple(self.count(size) for size in value.shape)
        strides = tuple(self.count(stride) for stride in value.stride())
        if value.is_complex():
            return (*shape, 2), (*(2 * stride for stride in strides), 1), _dtype_of(value.dtype.to_real())
        return shape, strides, _dtype_of(value.dtype)


_FLEX: Final = ("query", "key", "value")


def _placeholders(module: Any) -> list[Any]:
    return [node for node in module.graph.nodes if node.op == "placeholder"]


def _views(values: Any) -> list[View]:
    return [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, View)]


def _counted(node: Any) -> Mapping[str, int] | None:
    """Return the FLOPs of a node by PyTorch's counter, or None if it has no formula or sizes are dynamic."""
    values = torch.fx.node.map_arg((node.args, dict(node.kwargs), node), lambda one: one.meta.get("val"))
    tensors = [leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    if not isinstance(node.target, torch._ops.OpOverload):  # noqa: SLF001 - no public name
        return None
    if any(isinstance(size, torch.SymInt) for tensor in tensors for size in tensor.shape):
        return None
    return flops(OpCall(node.target, *values))


def _is_dense(shape: Sequence[Count], strides: Sequence[Count]) -> bool:
    """Return whether an array has no gaps and no repeated elements."""
    step: Count = 1
    axes = [(stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1]
    for stride, size in sorted(axes, key=lambda axis: value_of(axis[0])):
        if stride != step:
            return False
        step = step * size
    return True


def _dtype_of(dtype: Any) -> str:
    name = str(dtype).removeprefix("torch.")
    return checked_dtype(name.removeprefix("u") if name.startswith("uint") else name, "a tensor of the model")
