"""What each primitive of JAX is in a graph: the operator with the same FLOPs and bytes, or a plain op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, Final

from roofwidget.measure.graphs.trace import UPDATED, Operation, Results, Terms, made, per_element, read_by
from roofwidget.measure.graphs.views import Array, View, reshaped
from roofwidget.measure.graphs.walks import moved
from roofwidget.support.precisions import precision_key
from roofwidget.workloads import Graph
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.index import Index
from roofwidget.workloads.tensors import checked_dtype

# A loop is unrolled if this yields at most so many ops; otherwise it is one op.
_MAX_UNROLLED_OPS: Final = 512


@dataclass(frozen=True)
class Call(Operation):
    """One primitive.

    Parameters
    ----------
    trace, results, place
        As in `Operation`.
    name, params
        Its name and its parameters.
    operands
        What it reads; None is a constant that needs no memory.
    avals
        The shapes and dtypes of the operands.
    scope
        The path of the function that contains it.
    run
        Reads an inner jaxpr into the trace, and returns its results.
    body
        Returns the graph of an inner jaxpr of its own, or None if it has no operations.
    """

    name: str
    params: Mapping[str, Any]
    operands: Sequence[View | None]
    avals: Sequence[Any]
    scope: str
    run: Callable[[Any, Sequence[View | None], str], list[View | None]]
    body: Callable[[Any], Graph | None]

    @property
    def reads(self) -> list[View]:
        """The operands that are in memory."""
        return [view for view in self.operands if view is not None]

    def view(self, place: int) -> View:
        """Return an operand. A constant is written to memory first."""
        found = self.operands[place]
        if found is None:
            found = self.trace.op(self.place("constant"), "elementwise", [], [array_of(self.avals[place])])[0]
        return found


def read(call: Call) -> Sequence[View | None]:
    """Add a primitive to its trace, and return its results. A form that its reader does not know is opaque."""
    return read_by(HANDLERS.get(call.name, _unknown), _unknown, call)


def array_of(aval: Any, name: str = "") -> Array:
    """Return a new array with the shape and the dtype of an abstract value.

    A complex number is a pair of numbers, and a random key is a pair of integers.
    """
    dtype, shape = str(aval.dtype), list(aval.shape)
    if any(type(size) is not int for size in shape):
        raise ValueError(f"an array has the symbolic shape {tuple(shape)}; give Graph.from_jax shapes of ints")
    if dtype.startswith("key<"):
        return made((*shape, 2), "int32", name=name)
    if dtype.startswith("complex"):
        return made((*shape, 2), {"complex64": "fp32"}.get(dtype, "fp64"), name=name)
    return made(shape, checked_dtype(precision_key(dtype.removeprefix("u")), "an array of the function"), name=name)


# -- products ----------------------------------------------------------------------------------------------------------


def _dot(call: Call) -> Results:
    a, b = call.view(0), call.view(1)
    (summed, _), (batch_a, batch_b) = call.params["dimension_numbers"]
    sizes = _ints(a.shape)
    batch = prod(sizes[axis] for axis in batch_a)
    inner = prod(sizes[axis] for axis in summed)
    rows = prod(sizes) // (batch * inner)
    columns = prod(_ints(b.shape)) // (batch * inner)
    lead = (batch,) if batch_b else ()
    operator = "batched_matmul" if batch_b else "matmul"
    operands = [(a, (*lead, rows, inner)), (b, (*lead, inner, columns))]
    return call.operator("matmul", operator, operands)


def _grouped_dot(call: Call) -> Results:
    """Multiply rows by the matrix of their group: (rows, inner) by (groups, inner, columns)."""
    rows, matrices = call.view(0), call.view(1)
    if call.out.shape != (*rows.shape[:-1], matrices.shape[-1]) or matrices.shape[-2] != rows.shape[-1]:
        return _unknown(call)
    return call.product("matmul", call.reads, call.out.size * rows.shape[-1])


def _convolution(call: Call) -> Results:
    x, weight = call.view(0), call.view(1)
    params, numbers = call.params, call.params["dimension_numbers"]
    image = [_ints(x.shape)[axis] for axis in numbers.lhs_spec]
    kernel = [_ints(weight.shape)[axis] for axis in numbers.rhs_spec]
    padding = params["padding"]
    is_plain = (
        len(image) == 4  # noqa: PLR2004 - images
        and params["batch_group_count"] == 1
        and all(low == high and low >= 0 for low, high in padding)
        and set(params["lhs_dilation"]) == {1}
    )
    if is_plain:
        return call.operator(
            "conv2d",
            "conv2d",
            [(x, image)],
            kernel[0],
            tuple(kernel[2:]),
            stride=tuple(params["window_strides"]),
            padding=tuple(low for low, _ in padding),
            dilation=tuple(params["rhs_dilation"]),
            groups=params["feature_group_count"],
            weights=[weight],
        )
    return call.product("convolution", [x, weight], call.out.size * prod(kernel[1:]))


def _fourier(call: Call) -> Results:
    x = call.view(0)
    kind = str(call.params["fft_type"]).upper()
    is_real = "RFFT" in kind
    points = prod(_ints(call.params["fft_lengths"]))
    # The real data of a transform back to them are its result.
    size = prod(_ints(call.out.shape if "IRFFT" in kind else x.shape))
    data = (size // points, points) if is_real else (size // points // 2, points, 2)
    return call.operator("fft", "fft", [(x, data)], real=is_real)


# -- elementwise, and reductions ---------------------------------------------------------------------------------------


def _elementwise(call: Call) -> Results:
    word, functions = _ELEMENTWISE[call.name]
    return call.function(word, functions, call.reads)


def _integer_power(call: Call) -> Results:
    power = int(call.params["y"])
    if power == 2:  # noqa: PLR2004 - a square
        return call.function("square", ("square",), call.reads)
    # By repeated squaring: a multiplication for each bit after the first, and one more for each bit that is 1.
    times = max(abs(power).bit_length() + abs(power).bit_count() - 2, 0)
    functions = (*["multiply"] * times, *(["reciprocal"] if power < 0 else []))
    return call.function("power", functions, call.reads)


def _cast(call: Call) -> Results:
    x = call.view(0)
    if x.array.dtype == call.out.dtype:
        return x
    return call.function("cast", (), [x])


def _reduction(call: Call) -> Results:
    x = call.view(0)
    if x.size == call.out.size and not call.name.startswith("arg"):
        return _reshape(call)
    word, joined = _REDUCTIONS[call.name]
    terms = per_element([joined], x.size - call.out.size)
    return call.op(word, "reduction", [x], terms, dims=_ints(call.params["axes"]))


def _cumulative(call: Call) -> Results:
    x = call.view(0)
    function = {"cumsum": "add", "cumprod": "multiply", "cummax": "maximum", "cummin": "minimum"}.get(call.name)
    terms = per_element([function] if function else ["exp", "add", "log"], x.size)
    return call.op(call.name, "reduction", [x], terms, dims=[call.params["axis"]])


def _window(call: Call) -> Results:
    x = call.view(0)
    taps = prod(call.params["window_dimensions"])
    joined = {"reduce_window_sum": "add", "reduce_window_max": "maximum"}.get(call.name, "minimum")
    terms = per_element([joined], (taps - 1) * call.out.size)
    return call.op(call.name, "reduction", [x], terms, dims=())


# -- views, and movement -----------------------------------------------------------------------------------------------


def _same(call: Call) -> Results:
    return list(call.operands)


def _broadcast(call: Call) -> Results:
    x = call.view(0)
    strides: list[Count] = [0] * len(call.params["shape"])
    for axis, (place, size) in enumerate(zip(call.params["broadcast_dimensions"], x.shape, strict=True)):
        strides[place] = 0 if size == 1 else x.strides[axis]
    return View(x.array, tuple(call.params["shape"]), tuple(strides), x.offset)


def _reshape(call: Call) -> Results:
    x = call.view(0)
    found = reshaped(x, _ints(call.out.shape))
    is_turned = call.name == "reshape" and call.params.get("dimensions") is not None
    if found is not None and not is_turned:
        return found
    return call.op("reshape", "injective", [x], index=None if is_turned else moved(x, call.out.shape))[0]


def _slice(call: Call) -> Results:
    x = call.view(0)
    steps = call.params["strides"] or (1,) * len(x.shape)
    return _part(call, x, _ints(call.params["start_indices"]), _ints(steps), call.out)


def _part(call: Call, x: View, starts: Sequence[int], steps: Sequence[int], out: Array) -> View:
    """Add an op that copies a part of an array."""
    offset = x.offset
    for start, stride in zip(starts, x.strides, strict=True):
        offset = offset + start * stride
    strides = tuple(step * stride for step, stride in zip(steps, x.strides, strict=True))
    view = View(x.array, out.shape, strides, offset)
    return call.trace.op(call.place("slice"), "injective", [view], [out], index=moved(view, out.shape))[0]


def _split(call: Call) -> Results:
    x, axis = call.view(0), call.params["axis"]
    parts: list[View | None] = []
    start = 0
    for size, out in zip(call.params["sizes"], call.results, strict=True):
        starts = [start if place == axis else 0 for place in range(len(x.shape))]
        parts.append(_part(call, x, starts, (1,) * len(x.shape), out))
        start += int(size)
    return parts


def _movement(call: Call) -> Results:
    """Move elements to other places: one read and one write."""
    index = None
    if call.name == "transpose":
        axes = moved(call.view(0), call.view(0).shape).inputs[0]
        index = Index((axes,), (tuple(axes[axis] for axis in call.params["permutation"]),))
    return call.op(_MOVEMENTS[call.name], "injective", call.reads, index=index)


def _picked(call: Call) -> Results:
    """Read some elements of an array at given places. The other elements do not move."""
    table = call.view(0)
    indices = [view for view in call.operands[1:] if view is not None]
    if call.trace.is_made(table.array):
        return call.op("gather", "injective", [*indices, table])
    picked = made(call.out.shape, call.out.dtype, name=f"{table.array.name}[rows]").view()
    return call.op("gather", "injective", [*indices, picked])


def _updated(call: Call) -> Results:
    call.trace.note(UPDATED)
    return call.op("scatter", "injective", call.reads)


def _iota(call: Call) -> Results:
    return call.op("iota", "elementwise", [])


# -- loops and branches ------------------------------------------------------------------------------------------------


def _scan(call: Call) -> Results:
    params = call.params
    closed, length, fixed, carried = (params[key] for key in ("jaxpr", "length", "num_consts", "num_carry"))
    body = call.body(closed)
    if length == 0 or length * (0 if body is None else len(body.ops)) > _MAX_UNROLLED_OPS:
        text = f"a loop of {length} iterations is one op, with the FLOPs and bytes of its body times {length}"
        return _repeated(call, "scan", body, length, text)
    consts, carry = list(call.operands[:fixed]), list(call.operands[fixed : fixed + carried])
    sequences = call.operands[fixed + carried :]
    rows: list[list[View | None]] = []
    order = range(length)[::-1] if params["reverse"] else range(length)
    for step in order:
        items = [view if view is None else _item(view, step) for view in sequences]
        found = call.run(closed, [*consts, *carry, *items], call.scope)
        carry = found[:carried]
        rows.append(found[carried:])
    if params["reverse"]:
        rows.reverse()
    stacked: list[View | None] = []
    for place, out in enumerate(call.results[carried:]):
        parts = [row[place] for row in rows]
        views = [view for view in parts if view is not None]
        stacked += call.trace.op(call.place("stack"), "injective", views, [out]) if views else [None]
    return [*carry, *stacked]


def _item(view: View, step: int) -> View:
    return View(view.array, view.shape[1:], view.strides[1:], view.offset + step * view.strides[0])


def _while(call: Call) -> Results:
    text = "the number of iterations of a while loop is unknown: its body is counted once"
    return _repeated(call, "while", call.body(call.params["body_jaxpr"]), 1, text)


def _repeated(call: Call, word: str, body: Graph | None, times: int, note: str) -> Results:
    """Add one opaque op for a loop. Each iteration moves what its body must move at least."""
    terms: Terms = ()
    extra: Count = 0
    if body is not None:
        terms = [(klass, klass, times * count) for op in body.ops for klass, count in op.flops.items()]
        own = sum(_bytes(view.array) for view in {view.array: view for view in call.reads}.values())
        extra = max(0, times * body.count("compulsory") - own - sum(_bytes(array) for array in call.results))
    for text in (note, *(() if body is None else body.notes)):
        call.trace.note(text)
    return call.op(word, "opaque", call.reads, terms, extra_bytes=extra)


def _cond(call: Call) -> Results:
    call.trace.note("of a condition only the branch with most FLOPs is counted")

    def cost(branch: Any) -> tuple[int, int]:
        graph = call.body(branch)
        return (0, 0) if graph is None else (graph.count("flops"), graph.count("bytes"))

    return call.run(max(call.params["branches"], key=cost), call.operands[1:], call.scope)


def _bytes(array: Array) -> int:
    graph = Graph()
    return int(graph.bytes(graph.input("x", array.shape, array.dtype))) if array.size != 0 else 0  # type: ignore[arg-type]  # shapes of ints


def _unknown(call: Call) -> Results:
    return call.trace.unknown(call.place(call.name), call.reads, call.results)


def _ints(values: Any) -> list[int]:
    return [int(value) for value in values]


_ELEMENTWISE: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        **{
            name: (name, (name,))
            for name in (
                *("exp", "exp2", "expm1", "log", "log1p", "tanh", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
                *("sinh", "cosh", "asinh", "acosh", "atanh", "sqrt", "rsqrt", "cbrt", "square", "erf", "erfc"),
                *("lgamma", "digamma", "sign", "floor", "ceil", "round", "and", "or", "xor", "not", "is_finite"),
            )
        },
        **{
            name: (word, (word,))
            for name, word in {
                "add": "add",
                "add_any": "add",
                "sub": "subtract",
                "mul": "multiply",
                "div": "divide",
                "rem": "remainder",
                "max": "maximum",
                "min": "minimum",
                "pow": "power",
                "neg": "negative",
                "abs": "absolute",
                "logistic": "sigmoid",
                "erf_inv": "erfinv",
                "eq": "equal",
                "ne": "not_equal",
                "lt": "less",
                "le": "less_equal",
                "gt": "greater",
                "ge": "greater_equal",
                "clamp": "clip",
                "reduce_precision": "convert",
            }.items()
        },
        "select_n": ("where", ("select",)),
        **dict.fromkeys(("shift_left", "shift_right_logical", "shift_right_arithmetic"), ("shift", ("shift",))),
    }
)
"""The name of an op, and the functions of `FLOPS_PER_ELEMENT` that it applies, by the primitive's name."""

_REDUCTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "reduce_sum": ("sum", "add"),
    "reduce_max": ("max", "maximum"),
    "reduce_min": ("min", "minimum"),
    "reduce_prod": ("prod", "multiply"),
    "reduce_and": ("all", "and"),
    "reduce_or": ("any", "or"),
    "reduce_xor": ("xor", "xor"),
    "argmax": ("argmax", "maximum"),
    "argmin": ("argmin", "minimum"),
}
"""The name of an op, and the function that joins two elements."""

_MOVEMENTS: Final[Mapping[str, str]] = {
    "transpose": "transpose",
    "rev": "reverse",
    "concatenate": "concatenate",
    "stack": "concatenate",
    "pad": "pad",
    "tile": "tile",
}

_SCATTERS: Final = ("scatter", "scatter-add", "scatter_add", "scatter_mul", "scatter_min", "scatter_max")

HANDLERS: Final[Mapping[str, Callable[[Call], Results]]] = MappingProxyType(
    {
        "dot_general": _dot,
        "ragged_dot_general": _grouped_dot,
        "conv_general_dilated": _convolution,
        "fft": _fourier,
        **dict.fromkeys(_ELEMENTWISE, _elementwise),
        "integer_pow": _integer_power,
        **dict.fromkeys(("convert_element_type", "bitcast_convert_type"), _cast),
        **dict.fromkeys(_REDUCTIONS, _reduction),
        **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _cumulative),
        **dict.fromkeys(("reduce_window_sum", "reduce_window_max", "reduce_window_min"), _window),
        **dict.fromkeys(("stop_gradient", "copy", "copy_p", "optimization_barrier", "name", "pvary"), _same),
        **dict.fromkeys(("sharding_constraint", "device_put", "reshard", "random_wrap", "random_unwrap"), _same),
        "broadcast_in_dim": _broadcast,
        **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshape),
        "slice": _slice,
        "split": _split,
        **dict.fromkeys(_MOVEMENTS, _movement),
        **dict.fromkeys(("gather", "dynamic_slice"), _picked),
        **dict.fromkeys(("dynamic_update_slice", *_SCATTERS), _updated),
        "iota": _iota,
        "scan": _scan,
        "while": _while,
        "cond": _cond,
    }
)
"""How each primitive is read, by its name."""

CONSTANT: Final = frozenset(
    {*_ELEMENTWISE, *_REDUCTIONS, "integer_pow", "convert_element_type", "broadcast_in_dim"}
) | {
    *("reshape", "squeeze", "expand_dims", "transpose", "concatenate", "slice", "copy", "stop_gradient"),
}
"""Primitives whose result is a constant if all operands are constants. A compiler computes these once."""
