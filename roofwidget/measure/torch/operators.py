"""What each operation of PyTorch is in a graph: the operator with the same FLOPs and bytes, or a plain op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import torch
from torch.utils import _pytree as pytree

from roofwidget.measure.graphs.trace import UNREADABLE, UPDATED, Terms, Trace, Where, made, per_element
from roofwidget.measure.graphs.views import Array, View, value_of
from roofwidget.measure.torch.flops import ONE_FUNCTION, SEVERAL_FUNCTIONS
from roofwidget.workloads.expressions import Count, ceil_div, product
from roofwidget.workloads.ops.formulas import ACCUMULATOR, COMPARE, DIVIDE, FMA, SOFTMAX, SQRT
from roofwidget.workloads.tensors import is_floating

Results: TypeAlias = "View | list[View]"


@dataclass(frozen=True)
class Call:
    """One operation of an exported program.

    Parameters
    ----------
    trace
        Where the operation is added.
    target
        The operation.
    arguments
        Its arguments by name; tensors are views.
    results
        What it writes.
    place
        Returns the place in the model, for a word.
    counted
        Returns the FLOPs by class that PyTorch's counter has for the operation, or None if it has none.
    origin
        The name of the function that the model called, such as ``dropout``.
    is_complex
        Whether the first result has complex numbers, each of which is a pair here.
    """

    trace: Trace
    target: Any
    arguments: Mapping[str, Any]
    results: list[Array]
    place: Callable[[str], Where]
    counted: Callable[[], Mapping[str, int] | None]
    origin: str = ""
    is_complex: bool = False

    @property
    def word(self) -> str:
        """The operation's name, without the name space, the overload and the marks at its ends."""
        return _word(self.target)

    @property
    def out(self) -> Array:
        """The first result."""
        return self.results[0]

    @property
    def views(self) -> list[View]:
        """All tensors among the arguments."""
        return [leaf for leaf in pytree.tree_leaves(dict(self.arguments)) if isinstance(leaf, View)]

    def view(self, *names: str) -> View:
        """Return the argument that has the first of these names that is a tensor."""
        return next(found for name in names if isinstance(found := self.arguments.get(name), View))

    def optional(self, name: str) -> list[View]:
        """Return an argument that may be None, as a list of no or one view."""
        found = self.arguments.get(name)
        return [found] if isinstance(found, View) else []

    def get(self, name: str, default: Any = None) -> Any:
        """Return an argument, or the default if it is missing or None."""
        found = self.arguments.get(name)
        return default if found is None else found

    def dims(self, rank: int, name: str = "dim") -> list[int]:
        """Return axes from 0; all of them if none is given."""
        found = self.arguments.get(name)
        if found is None or found == []:
            return list(range(rank))
        return [int(axis) % max(rank, 1) for axis in (found if isinstance(found, (list, tuple)) else [found])]


def bound(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, with defaults."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return {**{str(place): arg for place, arg in enumerate(args)}, **kwargs}
    defaults = {one.name: one.default_value for one in schema.arguments if one.has_default_value()}
    return {**defaults, **dict(zip((one.name for one in schema.arguments), args, strict=False)), **kwargs}


def is_composite(target: Any) -> bool:
    """Return whether an operation consists of others and has no reader of its own."""
    word = _word(target)
    return word not in HANDLERS and (word in _COMPOSITE or bool(target._can_decompose()))  # noqa: SLF001 - no public name


def _word(target: Any) -> str:
    name = str(getattr(target, "_opname", getattr(target, "__name__", target)))
    return name.strip("_") if name.strip("_") in HANDLERS else name


def read(call: Call) -> list[View]:
    """Add an operation to its trace, and return its results. A form that its reader does not know is opaque."""
    try:
        results = HANDLERS.get(call.word, _unknown)(call)
    except UNREADABLE:
        results = _unknown(call)
    return [results] if isinstance(results, View) else results


# -- matrix products ---------------------------------------------------------------------------------------------------


def _linear(call: Call) -> Results:
    x, weight, bias = call.view("input"), call.view("weight"), call.optional("bias")
    return call.trace.operator(
        call.place("linear"), "linear", [x], weight.shape[0], bias=bool(bias), out=call.out, weights=[weight, *bias]
    )


def _matmul(call: Call) -> Results:
    a, b = call.view("input", "self", "batch1"), call.view("mat2", "other", "batch2", "vec", "vec2", "tensor")
    left = (1, *a.shape) if len(a.shape) == 1 else a.shape
    right = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    operator = "matmul" if len(left) == len(right) == 2 else "batched_matmul"  # noqa: PLR2004 - matrices
    return call.trace.operator(call.place("matmul"), operator, [(a, left), (b, right)], out=call.out)


def _added_matmul(call: Call) -> Results:
    a, b = call.view("mat1", "batch1", "mat"), call.view("mat2", "batch2", "vec")
    right = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    operator = "matmul" if len(a.shape) == 2 else "batched_matmul"  # noqa: PLR2004 - matrices
    more = [("bias", "vector", call.out.size)]
    return call.trace.operator(
        call.place("matmul"), operator, [a, (b, right)], out=call.out, beside=[call.view("self", "input")], more=more
    )


def _product(call: Call, word: str, operands: Iterable[View], multiply_adds: Count, more: Terms = ()) -> Results:
    """Add a matrix product that no operator has as it is."""
    terms = [("multiply-adds", "tensor", FMA * multiply_adds), *more]
    extra = ACCUMULATOR * call.out.size
    return call.trace.op(call.place(word), "matmul", operands, [call.out], terms, extra_bytes=extra)


def _convolution(call: Call) -> Results:
    x, weight, bias = call.view("input"), call.view("weight"), call.optional("bias")
    axes = len(weight.shape) - 2
    kernel = weight.shape[2:]
    is_transposed = bool(call.get("transposed", "transpose" in call.word))
    more = [("bias", "vector", call.out.size)] if bias else []
    steps, holes = (_each(call.get(name, 1), axes) for name in ("stride", "dilation"))
    edges = _edges(call.get("padding", 0), kernel, holes)
    if is_transposed or axes > 2 or edges is None:  # noqa: PLR2004 - images
        # A transposed convolution spreads each input over the kernel; any other gathers the kernel for each output.
        of, each = (x.size, weight.shape[1:]) if is_transposed else (call.out.size, weight.shape[1:])
        return _product(call, "convolution", [x, weight, *bias], of * product(each), more)
    padded = (1,) * (2 - axes)  # a sequence is an image of height 1
    images = x.shape if len(x.shape) == axes + 2 else (1, *x.shape)
    return call.trace.operator(
        call.place(f"conv{axes}d"),
        "conv2d",
        [(x, (*images[:2], *padded, *images[2:]))],
        weight.shape[0],
        (*padded, *kernel),
        stride=(*padded, *steps),
        padding=(*(0 for _ in padded), *edges),
        dilation=(*padded, *holes),
        groups=call.get("groups", 1),
        bias=bool(bias),
        out=call.out,
        weights=[weight, *bias],
    )


def _each(given: Any, axes: int) -> list[int]:
    """Return a number for each axis, where torch takes one number for all."""
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    return found * axes if len(found) == 1 else found


def _edges(given: Any, kernel: Sequence[Any], holes: Sequence[int]) -> list[int] | None:
    """Return the padding of each axis, or None if it differs at the two ends of an axis."""
    if not isinstance(given, str):
        return _each(given, len(kernel))
    both = [0 if given == "valid" else hole * (taps - 1) for taps, hole in zip(kernel, holes, strict=True)]
    return None if any(edge % 2 for edge in both) else [edge // 2 for edge in both]


def _attention(call: Call) -> Results:
    q, k, v = call.view("query"), call.view("key"), call.view("value")
    mask = call.optional("attn_mask")
    *lead, queries, d = q.shape
    keys, width = v.shape[-2:]
    pairs = product([*lead, queries, keys])
    more = [("mask", "vector", pairs)] if mask and is_floating(mask[0].array.dtype) else []
    where = call.place("attention")
    if width == d and lead[:1] == list(k.shape[: len(lead)][:1]) and 1 < len(q.shape) <= 4:  # noqa: PLR2004 - B, H, N, d
        is_causal = bool(call.get("is_causal", False))
        # A causal mask of torch begins at the first key, so later keys are seen by no query.
        seen = queries if is_causal and isinstance(keys, int) and isinstance(queries, int) and queries < keys else keys
        shapes = [(view, (*view.shape[:-2], seen, view.shape[-1])) for view in (k, v)]
        return call.trace.operator(
            where, "attention", [q, *shapes], causal=is_causal, out=call.out, beside=mask, more=more
        )
    terms = [
        ("Q Kᵀ and P V", "tensor", FMA * pairs * (d + width)),
        ("softmax", "vector", (SOFTMAX - 1) * pairs),
        ("exp", "transcendental", pairs),
        *more,
    ]
    return call.trace.op(where, "opaque", [q, k, v, *mask], [call.out], terms)


def _loss(call: Call) -> Results:
    """Join a function of the differences of two tensors."""
    operands = [call.view("self", "input"), call.view("target")]
    functions = ("subtract", "square" if call.word == "mse_loss" else "absolute")
    if call.out.size == operands[0].size:
        return call.trace.function(call.place(call.word), functions, operands, call.out)
    elements = operands[0].size
    terms = [*per_element((*functions, "add"), elements), *per_element(["divide"], call.out.size)]
    dims = range(len(operands[0].shape))
    return call.trace.op(call.place(call.word), "reduction", operands, [call.out], terms, dims=dims)


def _recurrent(call: Call) -> Results:
    weights = [view for view in call.get("params", []) if isinstance(view, View)]
    matrices = [view for view in weights if len(view.shape) == 2]  # noqa: PLR2004 - the others are biases
    steps = product(call.view("input", "data").shape[:-1])
    gates, functions = _CELLS[call.word]
    # Each cell has a matrix for its input and a matrix for its state, with a row for each gate of each element.
    width = sum(value_of(matrix.shape[0]) for matrix in matrices) // (2 * gates)
    multiply_adds = steps * sum(value_of(matrix.array.size) for matrix in matrices)
    terms = [("multiply-adds", "tensor", FMA * multiply_adds), *per_element(functions, steps * width)]
    return call.trace.op(call.place(call.word), "opaque", call.views, call.results, terms)


_CELLS: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "lstm": (4, (*["add"] * 5, *["sigmoid"] * 3, *["tanh"] * 2, *["multiply"] * 3)),
    "gru": (3, (*["add"] * 4, *["sigmoid"] * 2, "tanh", "subtract", *["multiply"] * 3)),
    "rnn_tanh": (1, ("add", "tanh")),
    "rnn_relu": (1, ("add", "relu")),
}
"""Gates of a recurrent cell, and the functions that it applies to each element of its state."""


# -- along rows and channels -------------------------------------------------------------------------------------------


def _layer_norm(call: Call) -> Results:
    x = call.view("input")
    gamma, beta = call.optional("weight"), call.optional("bias")
    axes = len(call.arguments["normalized_shape"])
    shape = (*x.shape[: len(x.shape) - axes], product(x.shape[len(x.shape) - axes :]))
    dims = range(len(x.shape) - axes, len(x.shape))
    if gamma and beta:
        return call.trace.operator(
            call.place("layernorm"), "layernorm", [(x, shape)], out=call.out, weights=[*gamma, *beta], dims=dims
        )
    more = [("gamma", "vector", x.size)] if gamma else []
    return call.trace.operator(
        call.place("layernorm"),
        "layernorm",
        [(x, shape)],
        affine=False,
        out=call.out,
        beside=gamma,
        more=more,
        dims=dims,
    )


def _rms_norm(call: Call) -> Results:
    x, gamma = call.view("input"), call.optional("weight")
    axes = len(call.arguments["normalized_shape"])
    shape = (*x.shape[: len(x.shape) - axes], product(x.shape[len(x.shape) - axes :]))
    dims = range(len(x.shape) - axes, len(x.shape))
    if gamma:
        return call.trace.operator(
            call.place("rmsnorm"), "rmsnorm", [(x, shape)], out=call.out, weights=gamma, dims=dims
        )
    rows = product(shape[:-1])
    terms = [
        ("mean square", "vector", 2 * x.size + DIVIDE * rows),
        ("epsilon, reciprocal root", "vector", rows + SQRT * rows),
        ("scale", "vector", x.size),
    ]
    return call.trace.op(call.place("rmsnorm"), "reduction", [x], [call.out], terms, dims=dims)


def _group_norm(call: Call) -> Results:
    x, weights = call.view("input"), [*call.optional("weight"), *call.optional("bias")]
    groups = call.get("num_groups", call.get("group", 1))
    # Batch and groups are rows; the channels of a group and their images are the elements of a row.
    channels = value_of(x.shape[1]) // groups
    shape = (x.shape[0], groups, channels * product(x.shape[2:]))
    more = [("gamma and beta", "vector", len(weights) * x.size)] if weights else []
    return call.trace.operator(
        call.place("groupnorm"),
        "layernorm",
        [(x, shape)],
        affine=False,
        out=call.out,
        beside=weights,
        more=more,
        dims=range(1, len(x.shape)),
    )


def _batch_norm(call: Call) -> Results:
    x = call.view("input")
    weights = [*call.optional("weight"), *call.optional("bias")]
    statistics = [*call.optional("running_mean"), *call.optional("running_var")]
    if not statistics or call.get("training", False):
        each = 4 if weights else 2
        terms = [("mean", "vector", x.size), ("variance", "vector", 3 * x.size), ("normalise", "vector", each * x.size)]
        dims = [axis for axis in range(len(x.shape)) if axis != 1]
        return call.trace.op(call.place("batchnorm"), "reduction", [x, *weights], [call.out], terms, dims=dims)
    if len(weights) == len(statistics):
        return call.trace.operator(
            call.place("batchnorm"), "batchnorm", [x], out=call.out, weights=[*weights, *statistics]
        )
    terms = [("scale and shift", "vector", 2 * x.size)]
    return call.trace.op(call.place("batchnorm"), "broadcast", [x, *weights, *statistics], [call.out], terms)


def _softmax(call: Call) -> Results:
    x = call.view("self", "input")
    axis = call.dims(len(x.shape))[0] if x.shape else 0
    shape = (*x.shape[:axis], *x.shape[axis + 1 :], *x.shape[axis : axis + 1]) or (1,)
    word = "log_softmax" if "log" in call.word else "softmax"
    return call.trace.operator(call.place(word), "softmax", [(x, shape)], out=call.out, dims=[axis] if x.shape else ())


def _cross_entropy(call: Call) -> Results:
    logits, targets = call.view("self", "input"), call.view("target")
    shape = targets.shape or (1,)
    if call.optional("weight") or product(shape) * logits.shape[-1] != logits.size:
        return _unknown(call)
    rows = made(shape, logits.array.dtype)
    reads = [(logits, (*shape, logits.shape[-1])), (targets, shape)]
    losses = call.trace.operator(
        call.place("cross_entropy"), "cross_entropy", reads, out=rows, dims=[len(logits.shape) - 1]
    )
    if call.out.size == rows.size:
        return losses
    terms = [("add", "vector", rows.size - 1), ("divide", "vector", DIVIDE * call.out.size)]
    dims = range(len(shape))
    return call.trace.op(call.place("mean"), "reduction", [losses], [call.out], terms, dims=dims)


def _reduction(call: Call) -> Results:
    """Reduce axes: as many combinations as elements that vanish, and a function for each result."""
    x = call.view("self", "input")
    word, before, join, after = _REDUCTIONS[call.word]
    dims = call.dims(len(x.shape))
    results = call.out.size
    terms = [
        *per_element(before, x.size),
        *((name, klass, count) for name, klass, count in per_element([join], x.size - results)),
        *per_element(after, results),
    ]
    return call.trace.op(call.place(word), "reduction", [x], call.results, terms, dims=dims)


def _variance(call: Call) -> Results:
    x = call.view("self", "input")
    results = call.out.size
    terms = [
        ("mean", "vector", x.size + DIVIDE * results),
        ("variance", "vector", 3 * x.size + DIVIDE * results),
        *(per_element(["sqrt"], results) if "std" in call.word else ()),
    ]
    dims = call.dims(len(x.shape))
    return call.trace.op(call.place(call.word), "reduction", [x], call.results, terms, dims=dims)


def _cumulative(call: Call) -> Results:
    x = call.view("self", "input")
    terms = per_element(["multiply" if "prod" in call.word else "add"], x.size)
    return call.trace.op(call.place(call.word), "reduction", [x], call.results, terms, dims=call.dims(len(x.shape)))


def _max_pool(call: Call) -> Results:
    x = call.view("self", "input")
    axes = int(call.word.removeprefix("max_pool")[0])
    taps = product(_each(call.get("kernel_size"), axes))
    terms = [("compare", "vector", COMPARE * (taps - 1) * call.out.size)]
    return call.trace.op(call.place(f"max_pool{axes}d"), "reduction", [x], call.results, terms, dims=())


def _adaptive_max_pool(call: Call) -> Results:
    x = call.view("self", "input")
    axes = int(call.word.partition("pool")[2][0])
    # Every element belongs to one window, if windows do not overlap.
    terms = [("compare", "vector", COMPARE * (x.size - call.out.size))]
    dims = range(len(x.shape) - axes, len(x.shape)) if all(size == 1 for size in call.out.shape[-axes:]) else ()
    return call.trace.op(call.place(f"max_pool{axes}d"), "reduction", [x], call.results, terms, dims=dims)


def _average_pool(call: Call) -> Results:
    x = call.view("self", "input")
    axes = int(call.word.partition("pool")[2][0])
    is_global = all(size == 1 for size in call.out.shape[-axes:])
    if "adaptive" in call.word:
        additions = x.size - call.out.size  # every element belongs to one window, if windows do not overlap
    else:
        additions = (product(_each(call.get("kernel_size"), axes)) - 1) * call.out.size
    terms = [("add", "vector", additions), ("divide", "vector", DIVIDE * call.out.size)]
    dims = range(len(x.shape) - axes, len(x.shape)) if is_global else ()
    word = "global_average_pool" if is_global else f"average_pool{axes}d"
    return call.trace.op(call.place(word), "reduction", [x], [call.out], terms, dims=dims)


# -- elementwise, and movement -----------------------------------------------------------------------------------------


def _elementwise(call: Call) -> Results:
    word, functions = _ELEMENTWISE[call.word]
    if call.word == "gelu" and call.get("approximate", "none") == "tanh":
        functions = ("gelu_tanh",)
    if call.word in {"add", "sub", "rsub"} and call.get("alpha", 1) != 1:
        functions = ("multiply", *functions)
    if call.word == "div" and call.get("rounding_mode"):
        functions = (*functions, "floor")
    if call.word == "mul" and call.is_complex:
        functions = ("multiply", "multiply", "add")  # four products and two sums for each pair
    return call.trace.function(call.place(word), functions, call.views, call.out)


def _power(call: Call) -> Results:
    exponent = call.arguments.get("exponent")
    word, functions = (
        _POWERS.get(exponent, ("power", ("power",))) if isinstance(exponent, (int, float)) else ("power", ("power",))
    )
    return call.trace.function(call.place(word), functions, call.views, call.out)


def _cast_or_copy(call: Call) -> Results:
    x = call.view("self", "input", "src", "a")
    if x.array.dtype != call.out.dtype:
        return call.trace.function(call.place("cast"), (), [x], call.out)
    # Dropout outside training, which an exported program writes as a copy.
    is_same = x.is_whole and all(
        near == far or size == 1 for near, far, size in zip(x.strides, call.out.strides, x.shape, strict=True)
    )
    if is_same and not call.origin.startswith(("clone", "contiguous")):
        return x
    return call.trace.function(call.place("copy"), (), [x], call.out)


def _movement(call: Call) -> Results:
    """Move elements to other places: one read and one write."""
    word = _MOVEMENTS[call.word]
    if word == "scatter":
        call.trace.note(UPDATED)
    return call.trace.op(call.place(word), "injective", call.views, call.results)


def _fourier(call: Call) -> Results:
    x = call.view("self")
    is_real = call.word != "fft_c2c"
    # The real data of a transform back to them are its result.
    shape = call.out.shape if call.word == "fft_c2r" else x.shape
    points = product(shape[axis] for axis in call.arguments["dim"])
    batch = ceil_div(product(shape), points if is_real else 2 * points)
    data = (batch, points) if is_real else (batch, points, 2)
    return call.trace.operator(call.place("fft"), "fft", [(x, data)], real=is_real, out=call.out)


def _picked(call: Call) -> Results:
    """Read some elements of a table at given indices. The other elements do not move."""
    table = call.view("weight", "self", "input")
    others = [view for view in call.views if view is not table]
    word = "embedding" if call.word == "embedding" else "gather"
    if call.trace.is_made(table.array):
        return call.trace.op(call.place(word), "injective", [*others, table], [call.out])
    rows = made(call.out.shape, call.out.dtype, name=f"{table.array.name}[rows]")
    if word == "gather" or not others:
        return call.trace.op(call.place(word), "injective", [*others, rows.view()], [call.out])
    return call.trace.operator(
        call.place(word),
        word,
        others[:1],
        call.out.shape[-1],
        dtype=call.out.dtype,
        out=call.out,
        weights=[rows.view()],
    )


def _created(call: Call) -> Results:
    return call.trace.op(call.place(call.word), "elementwise", [], [call.out])


def _unknown(call: Call) -> Results:
    is_pointwise = torch.Tag.pointwise in getattr(call.target, "tags", ()) and len(call.results) == 1
    kind = "elementwise" if is_pointwise else "opaque"
    where = call.place(call.word.strip("_"))
    found = call.counted()
    if found is None:
        return call.trace.unknown(where, call.views, call.results, kind=kind)
    terms = [(klass, klass, count) for klass, count in found.items()]
    return call.trace.op(where, kind, call.views, call.results, terms)


_ELEMENTWISE: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        **{name: (function, (function,)) for name, function in ONE_FUNCTION.items()},
        **{name: (name, functions) for name, functions in SEVERAL_FUNCTIONS.items()},
        "gelu": ("gelu", ("gelu_erf",)),
        "floor_divide": ("divide", ("divide", "floor")),
        "relu6": ("clip", ("clip",)),
        "clamp": ("clip", ("clip",)),
        "hardtanh": ("clip", ("clip",)),
        "where": ("where", ("select",)),
        "masked_fill": ("where", ("select",)),
        "tril": ("tril", ("select",)),
        "triu": ("triu", ("select",)),
        "prelu": ("prelu", SEVERAL_FUNCTIONS["leaky_relu"]),
        "log_sigmoid": ("log_sigmoid", SEVERAL_FUNCTIONS["log_sigmoid_forward"]),
        "celu": ("celu", ("divide", *SEVERAL_FUNCTIONS["elu"])),
        "selu": ("selu", ("multiply", *SEVERAL_FUNCTIONS["elu"])),
        **{
            f"{kind}_{word}": (word, (word,)) for kind in ("bitwise", "logical") for word in ("and", "or", "xor", "not")
        },
    }
)
"""The name of an op, and the functions of `FLOPS_PER_ELEMENT` that it applies, by the operation's name."""

_POWERS: Final[Mapping[float, tuple[str, tuple[str, ...]]]] = {
    2: ("square", ("square",)),
    3: ("cube", ("square", "multiply")),
    0.5: ("sqrt", ("sqrt",)),
    -0.5: ("rsqrt", ("rsqrt",)),
    -1: ("reciprocal", ("reciprocal",)),
}

_REDUCTIONS: Final[Mapping[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]]] = {
    "sum": ("sum", (), "add", ()),
    "mean": ("mean", (), "add", ("divide",)),
    "prod": ("prod", (), "multiply", ()),
    **dict.fromkeys(("max", "amax"), ("max", (), "maximum", ())),
    **dict.fromkeys(("min", "amin"), ("min", (), "minimum", ())),
    "argmax": ("argmax", (), "maximum", ()),
    "argmin": ("argmin", (), "minimum", ()),
    "any": ("any", (), "or", ()),
    "all": ("all", (), "and", ()),
    "logsumexp": ("logsumexp", ("maximum", "subtract", "exp"), "add", ("log",)),
    "linalg_vector_norm": ("norm", ("square",), "add", ("sqrt",)),
    "norm": ("norm", ("square",), "add", ("sqrt",)),
}
"""The name of an op, functions of each element, the function that joins elements, and functions of each result."""

_MOVEMENTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("cat", "concat", "stack", "hstack", "vstack"), "concatenate"),
    **dict.fromkeys(("constant_pad_nd", "pad"), "pad"),
    **{
        name: name
        for name in ("flip", "roll", "repeat", "tile", "repeat_interleave", "pixel_shuffle", "pixel_unshuffle")
    },
    **dict.fromkeys(("slice_scatter", "select_scatter", "index_put", "index_copy", "scatter", "copy"), "scatter"),
    **dict.fromkeys(("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"), "upsample"),
    "im2col": "unfold",
    "channel_shuffle": "shuffle",
}

_COMPOSITE: Final = frozenset(
    ("glu", "huber_loss", "smooth_l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
)
"""Operations that are read as those of their definition, although PyTorch has a kernel for each."""

HANDLERS: Final[Mapping[str, Callable[[Call], Results]]] = MappingProxyType(
    {
        "linear": _linear,
        **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "vdot"), _matmul),
        **dict.fromkeys(("addmm", "baddbmm", "addmv"), _added_matmul),
        **dict.fromkeys(("convolution", "conv1d", "conv2d", "conv3d"), _convolution),
        **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _convolution),
        **dict.fromkeys(("scaled_dot_product_attention", "flex_attention"), _attention),
        **dict.fromkeys(
            (f"_scaled_dot_product_{way}_attention" for way in ("flash", "efficient", "cudnn")), _attention
        ),
        "_scaled_dot_product_flash_attention_for_cpu": _attention,
        **dict.fromkeys(_CELLS, _recurrent),
        **dict.fromkeys(("layer_norm", "native_layer_norm"), _layer_norm),
        **dict.fromkeys(("rms_norm", "_fused_rms_norm"), _rms_norm),
        **dict.fromkeys(("group_norm", "native_group_norm"), _group_norm),
        **dict.fromkeys(("batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm),
        "_native_batch_norm_legit": _batch_norm,
        **dict.fromkeys(("softmax", "log_softmax", "_softmax", "_log_softmax"), _softmax),
        "cross_entropy_loss": _cross_entropy,
        **dict.fromkeys(("fft_c2c", "fft_r2c", "fft_c2r"), _fourier),
        **dict.fromkeys((f"adaptive_max_pool{n}d" for n in (1, 2, 3)), _adaptive_max_pool),
        **dict.fromkeys(("mse_loss", "l1_loss"), _loss),
        **dict.fromkeys(_REDUCTIONS, _reduction),
        **dict.fromkeys(("var", "std", "var_mean", "std_mean"), _variance),
        **dict.fromkeys(("cumsum", "cumprod"), _cumulative),
        **dict.fromkeys((f"max_pool{n}d{end}" for n in (1, 2, 3) for end in ("", "_with_indices")), _max_pool),
        **dict.fromkeys((f"{start}avg_pool{n}d" for n in (1, 2, 3) for start in ("", "adaptive_")), _average_pool),
        **dict.fromkeys(_ELEMENTWISE, _elementwise),
        "pow": _power,
        **dict.fromkeys(
            ("clone", "contiguous", "_to_copy", "to", "lift_fresh_copy", "alias", "dropout"), _cast_or_copy
        ),
        **dict.fromkeys(_MOVEMENTS, _movement),
        **dict.fromkeys(("embedding", "index", "index_select", "gather", "take", "take_along_dim"), _picked),
        **dict.fromkeys(("arange", "zeros", "ones", "full", "eye", "linspace", "scalar_tensor", "empty"), _created),
        **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones"), _created),
        **dict.fromkeys(("new_full", "new_empty", "fill", "zero"), _created),
    }
)
"""How each operation is read, by its name."""
