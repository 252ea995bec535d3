"""What each operation of PyTorch is in a graph: the operator with the same FLOPs and bytes, or a plain op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree

from roofwidget.measure.graphs.trace import UPDATED, Operation, Results, made, per_element, read_by
from roofwidget.measure.graphs.views import View, value_of
from roofwidget.measure.torch.flops import CELLS, ONE_FUNCTION, SEVERAL_FUNCTIONS, power_functions
from roofwidget.workloads.expressions import Count, ceil_div, product
from roofwidget.workloads.ops.formulas import COMPARE, DIVIDE, FMA, SOFTMAX, SQRT
from roofwidget.workloads.tensors import is_floating


@dataclass(frozen=True)
class Call(Operation):
    """One operation of an exported program.

    Parameters
    ----------
    trace, results, place
        As in `Operation`.
    target
        The operation.
    arguments
        Its arguments by name; tensors are views.
    counted
        Returns the FLOPs by class that PyTorch's counter has for the operation, or None if it has none.
    origin
        The name of the function that the model called, such as ``dropout``.
    is_complex
        Whether the first result has complex numbers, each of which is a pair here.
    """

    target: Any
    arguments: Mapping[str, Any]
    counted: Callable[[], Mapping[str, int] | None]
    origin: str = ""
    is_complex: bool = False

    @property
    def word(self) -> str:
        """The operation's name, without the name space, the overload and the marks at its ends."""
        return _word(self.target)

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
    return [view for view in read_by(HANDLERS.get(call.word, _unknown), _unknown, call) if view is not None]


# -- matrix products ---------------------------------------------------------------------------------------------------


def _linear(call: Call) -> Results:
    x, weight, bias = call.view("input"), call.view("weight"), call.optional("bias")
    # The operator takes the weight as (inputs, outputs).
    turned = View(weight.array, weight.shape[::-1], weight.strides[::-1], weight.offset)
    return call.operator("linear", "linear", [x], weight.shape[0], bias=bool(bias), weights=[turned, *bias])


def _matmul(call: Call) -> Results:
    a, b = call.view("input", "self", "batch1"), call.view("mat2", "other", "batch2", "vec", "vec2", "tensor")
    return _matrix_product(call, a, b)


def _added_matmul(call: Call) -> Results:
    a, b = call.view("mat1", "batch1", "mat"), call.view("mat2", "batch2", "vec")
    more = [("bias", "vector", call.out.size)]
    return _matrix_product(call, a, b, beside=[call.view("self", "input")], more=more)


def _matrix_product(call: Call, a: View, b: View, **how: Any) -> View:
    left = (1, *a.shape) if len(a.shape) == 1 else a.shape
    right = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    operator = "matmul" if len(left) == len(right) == 2 else "batched_matmul"  # noqa: PLR2004 - matrices
    return call.operator("matmul", operator, [(a, left), (b, right)], **how)


def _convolution(call: Call) -> Results:
    x, weight, bias = call.view("input"), call.view("weight"), call.optional("bias")
    axes = len(weight.shape) - 2
    kernel = weight.shape[2:]
    is_transposed = bool(call.get("transposed", "transpose" in call.word))
    steps, holes = (_each(call.get(name, 1), axes) for name in ("stride", "dilation"))
    edges = _edges(call.get("padding", 0), kernel, holes)
    if is_transposed or axes > 2 or edges is None:  # noqa: PLR2004 - images
        # A transposed convolution spreads each input over the kernel; any other gathers the kernel for each output.
        of = x.size if is_transposed else call.out.size
        more = [("bias", "vector", call.out.size)] if bias else []
        return call.product("convolution", [x, weight, *bias], of * product(weight.shape[1:]), more)
    padded = (1,) * (2 - axes)  # a sequence is an image of height 1
    images = x.shape if len(x.shape) == axes + 2 else (1, *x.shape)
    return call.operator(
        f"conv{axes}d",
        "conv2d",
        [(x, (*images[:2], *padded, *images[2:]))],
        weight.shape[0],
        (*padded, *kernel),
        stride=(*padded, *steps),
        padding=(*(0 for _ in padded), *edges),
        dilation=(*padded, *holes),
        groups=call.get("groups", 1),
        bias=bool(bias),
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
    if width == d and lead[:1] == list(k.shape[: len(lead)][:1]) and 1 < len(q.shape) <= 4:  # noqa: PLR2004 - B, H, N, d
        is_causal = bool(call.get("is_causal", False))
        # A causal mask of torch begins at the first key, so later keys are seen by no query.
        seen = queries if is_causal and isinstance(keys, int) and isinstance(queries, int) and queries < keys else keys
        shapes = [(view, (*view.shape[:-2], seen, view.shape[-1])) for view in (k, v)]
        return call.operator("attention", "attention", [q, *shapes], causal=is_causal, beside=mask, more=more)
    terms = [
        ("Q Kᵀ and P V", "tensor", FMA * pairs * (d + width)),
        ("softmax", "vector", (SOFTMAX - 1) * pairs),
        ("exp", "transcendental", pairs),
        *more,
    ]
    return call.trace.op(call.place("attention"), "opaque", [q, k, v, *mask], [call.out], terms)


def _loss(call: Call) -> Results:
    """Join a function of the differences of two tensors."""
    operands = [call.view("self", "input"), call.view("target")]
    functions = ("subtract", "square" if call.word == "mse_loss" else "absolute")
    if call.out.size == operands[0].size:
        return call.function(call.word, functions, operands)
    elements = operands[0].size
    terms = [*per_element((*functions, "add"), elements), *per_element(["divide"], call.out.size)]
    dims = range(len(operands[0].shape))
    return call.op(call.word, "reduction", operands, terms, dims=dims)


def _recurrent(call: Call) -> Results:
    weights = [view for view in call.get("params", []) if isinstance(view, View)]
    matrices = [view for view in weights if len(view.shape) == 2]  # noqa: PLR2004 - the others are biases
    steps = product(call.view("input", "data").shape[:-1])
    gates, functions = CELLS[call.word]
    # Each cell has a matrix for its input and a matrix for its state, with a row for each gate of each element.
    width = sum(value_of(matrix.shape[0]) for matrix in matrices) // (2 * gates)
    multiply_adds = steps * sum(value_of(matrix.array.size) for matrix in matrices)
    terms = [("multiply-adds", "tensor", FMA * multiply_adds), *per_element(functions, steps * width)]
    return call.op(call.word, "opaque", call.views, terms)


# -- along rows and channels -------------------------------------------------------------------------------------------


def _layer_norm(call: Call) -> Results:
    x, gamma, beta = call.view("input"), call.optional("weight"), call.optional("bias")
    shape, dims = _rows(call, x)
    if gamma and beta:
        return call.operator("layernorm", "layernorm", [(x, shape)], weights=[*gamma, *beta], dims=dims)
    return _normalised(call, "layernorm", (x, shape), {"gamma": gamma}, dims)


def _rms_norm(call: Call) -> Results:
    x, gamma = call.view("input"), call.optional("weight")
    shape, dims = _rows(call, x)
    if gamma:
        return call.operator("rmsnorm", "rmsnorm", [(x, shape)], weights=gamma, dims=dims)
    rows = product(shape[:-1])
    terms = [
        ("mean square", "vector", 2 * x.size + DIVIDE * rows),
        ("epsilon, reciprocal root", "vector", rows + SQRT * rows),
        ("scale", "vector", x.size),
    ]
    return call.trace.op(call.place("rmsnorm"), "reduction", [x], [call.out], terms, dims=dims)


def _rows(call: Call, x: View) -> tuple[tuple[Count, ...], range]:
    """Return the shape of a tensor as rows that are normalised, and the axes of a row."""
    first = len(x.shape) - len(call.arguments["normalized_shape"])
    return (*x.shape[:first], product(x.shape[first:])), range(first, len(x.shape))


def _group_norm(call: Call) -> Results:
    x, weights = call.view("input"), [*call.optional("weight"), *call.optional("bias")]
    groups = call.get("num_groups", call.get("group", 1))
    # Batch and groups are rows; the channels of a group and their images are the elements of a row.
    channels = value_of(x.shape[1]) // groups
    shape = (x.shape[0], groups, channels * product(x.shape[2:]))
    return _normalised(call, "groupnorm", (x, shape), {"gamma and beta": weights}, range(1, len(x.shape)))


def _normalised(
    call: Call, word: str, rows: tuple[View, Sequence[Count]], weights: Mapping[str, Sequence[View]], dims: range
) -> View:
    """Add a layer normalisation whose weights are not a gamma and a beta for each element of a row."""
    more = [(name, "vector", len(found) * rows[0].size) for name, found in weights.items() if found]
    beside = [view for found in weights.values() for view in found]
    return call.operator(word, "layernorm", [rows], affine=False, beside=beside, more=more, dims=dims)


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
        return call.operator("batchnorm", "batchnorm", [x], weights=[*weights, *statistics])
    terms = [("scale and shift", "vector", 2 * x.size)]
    return call.trace.op(call.place("batchnorm"), "broadcast", [x, *weights, *statistics], [call.out], terms)


def _softmax(call: Call) -> Results:
    x = call.view("self", "input")
    axis = call.dims(len(x.shape))[0] if x.shape else 0
    shape = (*x.shape[:axis], *x.shape[axis + 1 :], *x.shape[axis : axis + 1]) or (1,)
    word = "log_softmax" if "log" in call.word else "softmax"
    return call.operator(word, "softmax", [(x, shape)], dims=[axis] if x.shape else ())


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
    return call.op("mean", "reduction", [losses], terms, dims=range(len(shape)))


def _reduction(call: Call) -> Results:
    """Reduce axes: as many combinations as elements that vanish, and a function for each result."""
    x = call.view("self", "input")
    word, before, join, after = _REDUCTIONS[call.word]
    results = call.out.size
    terms = [*per_element(before, x.size), *per_element([join], x.size - results), *per_element(after, results)]
    return call.op(word, "reduction", [x], terms, dims=call.dims(len(x.shape)))


def _variance(call: Call) -> Results:
    x = call.view("self", "input")
    results = call.out.size
    terms = [
        ("mean", "vector", x.size + DIVIDE * results),
        ("variance", "vector", 3 * x.size + DIVIDE * results),
        *(per_element(["sqrt"], results) if "std" in call.word else ()),
    ]
    return call.op(call.word, "reduction", [x], terms, dims=call.dims(len(x.shape)))


def _cumulative(call: Call) -> Results:
    x = call.view("self", "input")
    terms = per_element(["multiply" if "prod" in call.word else "add"], x.size)
    return call.op(call.word, "reduction", [x], terms, dims=call.dims(len(x.shape)))


def _pool(call: Call) -> Results:
    x = call.view("self", "input")
    axes = int(call.word.partition("pool")[2][0])
    is_maximum, is_adaptive = "max" in call.word, "adaptive" in call.word
    is_global = all(size == 1 for size in call.out.shape[-axes:])
    if is_adaptive:
        joined = x.size - call.out.size  # every element belongs to one window, if windows do not overlap
    else:
        joined = (product(_each(call.get("kernel_size"), axes)) - 1) * call.out.size
    if is_maximum:
        word, terms = f"max_pool{axes}d", [("compare", "vector", COMPARE * joined)]
    else:
        word = "global_average_pool" if is_global else f"average_pool{axes}d"
        terms = [("add", "vector", joined), ("divide", "vector", DIVIDE * call.out.size)]
    reduces_all = is_global and (is_adaptive or not is_maximum)
    dims = range(len(x.shape) - axes, len(x.shape)) if reduces_all else ()
    return call.op(word, "reduction", [x], terms, dims=dims)


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
    return call.function(word, functions, call.views)


def _power(call: Call) -> Results:
    exponent = call.arguments.get("exponent")
    words = {2: "square", 3: "cube", 0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
    word = words.get(exponent, "power") if isinstance(exponent, (int, float)) else "power"
    return call.function(word, power_functions(exponent), call.views)


def _cast_or_copy(call: Call) -> Results:
    x = call.view("self", "input", "src", "a")
    if x.array.dtype != call.out.dtype:
        return call.function("cast", (), [x])
    # Dropout outside training, which an exported program writes as a copy.
    is_same = x.is_whole and all(
        near == far or size == 1 for near, far, size in zip(x.strides, call.out.strides, x.shape, strict=True)
    )
    if is_same and not call.origin.startswith(("clone", "contiguous")):
        return x
    return call.function("copy", (), [x])


def _movement(call: Call) -> Results:
    """Move elements to other places: one read and one write."""
    word = _MOVEMENTS[call.word]
    if word == "scatter":
        call.trace.note(UPDATED)
    return call.op(word, "injective", call.views)


def _fourier(call: Call) -> Results:
    x = call.view("self")
    is_real = call.word != "fft_c2c"
    # The real data of a transform back to them are its result.
    shape = call.out.shape if call.word == "fft_c2r" else x.shape
    points = product(shape[axis] for axis in call.arguments["dim"])
    batch = ceil_div(product(shape), points if is_real else 2 * points)
    data = (batch, points) if is_real else (batch, points, 2)
    return call.operator("fft", "fft", [(x, data)], real=is_real)


def _picked(call: Call) -> Results:
    """Read some elements of a table at given indices. The other elements do not move."""
    table = call.view("weight", "self", "input")
    others = [view for view in call.views if view is not table]
    word = "embedding" if call.word == "embedding" else "gather"
    if call.trace.is_made(table.array):
        return call.op(word, "injective", [*others, table])
    rows = made(call.out.shape, call.out.dtype, name=f"{table.array.name}[rows]")
    if word == "gather" or not others:
        return call.op(word, "injective", [*others, rows.view()])
    return call.operator(word, word, others[:1], call.out.shape[-1], dtype=call.out.dtype, weights=[rows.view()])


def _created(call: Call) -> Results:
    return call.op(call.word, "elementwise", [])


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
        **dict.fromkeys(CELLS, _recurrent),
        **dict.fromkeys(("layer_norm", "native_layer_norm"), _layer_norm),
        **dict.fromkeys(("rms_norm", "_fused_rms_norm"), _rms_norm),
        **dict.fromkeys(("group_norm", "native_group_norm"), _group_norm),
        **dict.fromkeys(("batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm),
        "_native_batch_norm_legit": _batch_norm,
        **dict.fromkeys(("softmax", "log_softmax", "_softmax", "_log_softmax"), _softmax),
        "cross_entropy_loss": _cross_entropy,
        **dict.fromkeys(("fft_c2c", "fft_r2c", "fft_c2r"), _fourier),
        **dict.fromkeys(("mse_loss", "l1_loss"), _loss),
        **dict.fromkeys(_REDUCTIONS, _reduction),
        **dict.fromkeys(("var", "std", "var_mean", "std_mean"), _variance),
        **dict.fromkeys(("cumsum", "cumprod"), _cumulative),
        **dict.fromkeys((f"max_pool{n}d_with_indices" for n in (1, 2, 3)), _pool),
        **{f"{way}{kind}_pool{n}d": _pool for way in ("", "adaptive_") for kind in ("max", "avg") for n in (1, 2, 3)},
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
