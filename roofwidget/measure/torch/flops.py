"""The FLOPs of an operation of PyTorch, by class, and the precision that they have.

``tensor``: matrix products, convolutions and attention, by the formulas of `torch.utils.flop_counter`: a multiply-add
is 2, a convolution multiplies the zeros of its padding, a bias adds nothing, and a causal mask saves nothing. Formulas
of this module cover operations that `FlopCounterMode` counts as 0: attention on a CPU, the fused modules
`MultiheadAttention` and `TransformerEncoderLayer`, recurrent layers, products of vectors. One complex multiply-add
is 8.

``vector`` and ``transcendental``: all other floating-point arithmetic. Elements of functions count as in
`roofwidget.measure.elementwise`, normalisations and softmax as the operators of `rw.Graph` by its convention
``textbook``: 8 per element for a layer normalisation and 3 per row, 5 for a softmax, one of them transcendental. XLA
counts 7 and 5 + 1. A fused Adam step is 12 vector FLOPs a parameter.

Integers have no FLOPs, except those of matrix products. An operation that is in no table has unknown FLOPs: None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, Final, TypeAlias

import torch
from torch.utils.flop_counter import flop_registry

from roofwidget.measure.elementwise import FLOPS_PER_ELEMENT, reduction_flops
from roofwidget.measure.torch.probes import allows_tf32, has_tf32
from roofwidget.measure.torch.tensors import Tensor, is_plain, tensors_in
from roofwidget.support.precisions import precision_key

Flops: TypeAlias = "dict[str, int]"
_Formula: TypeAlias = "Callable[[Sequence[Any], Mapping[str, Any], Any], Flops]"

_SAME_NAME: Final = (
    *("add", "sqrt", "rsqrt", "reciprocal", "square", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh"),
    *("erf", "erfc", "erfinv", "lgamma", "digamma", "sigmoid", "silu", "relu", "maximum", "minimum", "hypot"),
    *("floor", "ceil", "round", "trunc", "sign", "remainder"),
)
ONE_FUNCTION: Final = {
    **{name: name for name in _SAME_NAME},
    "sub": "subtract",
    "rsub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "neg": "negative",
    "abs": "absolute",
    "fmax": "maximum",
    "fmin": "minimum",
    "clamp_min": "maximum",
    "clamp_max": "minimum",
    "fmod": "remainder",
    "sgn": "sign",
    "frac": "subtract",
    "floor_divide": "divide",
    "special_erfcx": "erfc",
    "xlogy": "log",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "isnan": "is_finite",
    "isinf": "is_finite",
    "isfinite": "is_finite",
    "where": "select",
    "masked_fill": "select",
}
"""The function of `FLOPS_PER_ELEMENT` that an operation applies to each element, by the operation's name."""

SEVERAL_FUNCTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "addcmul": ("multiply", "add"),
    "addcdiv": ("divide", "add"),
    "lerp": ("subtract", "multiply", "add"),
    "clamp": ("maximum", "minimum"),
    "hardtanh": ("maximum", "minimum"),
    "leaky_relu": ("greater", "multiply"),
    "_prelu_kernel": ("greater", "multiply"),
    "threshold": ("greater",),
    "threshold_backward": ("greater",),
    "hardtanh_backward": ("greater", "less"),
    "leaky_relu_backward": ("greater", "multiply"),
    "hardsigmoid": ("add", "maximum", "minimum", "divide"),
    "hardswish": ("add", "maximum", "minimum", "multiply", "divide"),
    "elu": ("greater", "exp", "subtract", "multiply"),
    "softplus": ("exp", "log1p", "greater"),
    "log_sigmoid_forward": ("minimum", "absolute", "negative", "exp", "log1p", "subtract"),
    "mish": ("exp", "log1p", "tanh", "multiply"),
    "sigmoid_backward": ("subtract", "multiply", "multiply"),
    "tanh_backward": ("square", "subtract", "multiply"),
    "silu_backward": ("sigmoid", "subtract", "multiply", "add", "multiply", "multiply"),
    "mse_loss_backward": ("subtract", "multiply", "multiply"),
    "native_dropout": ("greater", "multiply", "multiply"),
    "native_dropout_backward": ("multiply", "multiply"),
    "_fused_dropout": ("greater", "multiply", "multiply"),
    "upsample_bilinear2d": ("multiply",) * 4 + ("add",) * 3,
    "_upsample_bilinear2d_aa": ("multiply",) * 4 + ("add",) * 3,
}
"""The functions of operations that apply several."""

# With z = x / sqrt(2): Φ = (1 + erf z) / 2 and x exp(-z²) c, added and multiplied by the gradient.
_GELU_ERF_BACKWARD: Final = (
    *("scale", "erf", "add", "scale"),
    *("square", "negative", "exp", "multiply", "scale"),
    *("add", "multiply"),
)
# With u = x (a + b x²) and t = tanh u: (1 + t) / 2 + x (1 - t²) (a + 3 b x²) / 2, multiplied by the gradient.
_GELU_TANH_BACKWARD: Final = (
    *("square", "scale", "add", "multiply", "tanh", "add", "scale"),
    *("square", "subtract", "scale", "add", "multiply", "multiply", "scale"),
    *("add", "multiply"),
)
_NO_ARITHMETIC: Final = frozenset(
    (
        *("clone", "copy", "_to_copy", "contiguous", "cat", "stack", "repeat", "flip", "roll", "constant_pad_nd"),
        *("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "im2col", "unfold_backward", "slice_backward"),
        *(
            "select_backward",
            "diagonal_backward",
            "slice_scatter",
            "select_scatter",
            "diagonal_scatter",
            "as_strided_scatter",
        ),
        *("embedding", "index", "_unsafe_index", "index_select", "gather", "take", "index_fill", "index_copy"),
        *("scatter", "masked_select", "masked_scatter", "tril", "triu", "nonzero", "fill", "zero", "zeros", "ones"),
        *("full", "arange", "linspace", "eye", "scalar_tensor", "zeros_like", "ones_like", "full_like", "new_zeros"),
        *("new_ones", "new_full", "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
        *(
            "normal",
            "uniform",
            "random",
            "bernoulli",
            "exponential",
            "multinomial",
            "any",
            "all",
            "is_nonzero",
            "equal",
        ),
        *("_local_scalar_dense", "item", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
        *("reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d", "replication_pad3d"),
        *("_foreach_copy", "_foreach_zero", "view_as_real", "view_as_complex", "complex", "isin", "lift"),
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize", "set"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "logical_and", "logical_or", "logical_xor"),
        *("logical_not", "_pack_padded_sequence", "_pad_packed_sequence", "_efficientzerotensor", "lift_fresh_copy"),
    )
)
_ATTENTION: Final = frozenset(
    (
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_fused_attention_overrideable",
    )
)
_GATES: Final = {"RNN_RELU": 1, "RNN_TANH": 1, "LSTM": 4, "GRU": 3}
_MODES: Final = ("RNN_RELU", "RNN_TANH", "LSTM", "GRU")
_ADAM_STEP: Final = 12
_COMPLEX: Final = {"add": 2, "sub": 2, "neg": 2, "mul": 6}
"""FLOPs of real numbers for one operation on complex numbers."""


def flops(operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> Flops | None:
    """Return the FLOPs of one call of an operation of `torch.ops` by class; None if they are unknown.

    Parameters
    ----------
    operation
        The overload, such as ``torch.ops.aten.mm.default``.
    args, kwargs, result
        Its arguments as a dispatch mode gets them, and what it returned.

    Examples
    --------
    >>> a, b = torch.zeros(4, 8), torch.zeros(8, 2)
    >>> flops(torch.ops.aten.mm.default, (a, b), {}, a @ b)
    {'tensor': 128}
    >>> flops(torch.ops.aten.gelu.default, (a,), {}, a)
    {'vector': 128, 'transcendental': 32}
    """
    formula = _formula(operation._overloadpacket)  # noqa: SLF001 - no public name
    tensors = tensors_in((args, kwargs, result))
    if formula is None:
        return None if any(map(_is_floating, tensors)) else {}
    if not all(map(is_plain, tensors)):
        return None
    found = formula(args, kwargs, result)
    if any(tensor.is_complex() for tensor in tensors):
        return _of_complex_numbers(operation, found)
    if "tensor" not in found and not any(map(_is_floating, tensors)):
        return {}
    return {name: int(count) for name, count in found.items() if count}


def precision(
    operation: Any, found: Mapping[str, int] | None, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any
) -> str | None:
    """Return the precision of an operation's FLOPs, such as ``fp32``; None without FLOPs.

    A matrix product has the wider dtype of its first two inputs, and the floating-point one of two equally wide. A
    product of fp32 numbers has TF32 where the device has it and PyTorch's settings allow it. Other operations have the
    dtype of their first floating-point output, or, without one, of their first such input.
    """
    if not found:
        return None
    inputs = tensors_in((args, kwargs))
    if "tensor" in found:
        chosen = inputs[:2]
    else:
        chosen = [tensor for tensor in (*tensors_in(result), *inputs) if _is_floating(tensor)][:1] or inputs[:1]
    if not chosen:
        return None
    dtype = max((tensor.dtype for tensor in chosen), key=lambda each: (each.itemsize, each.is_floating_point))
    key = precision_key(str(dtype.to_real() if dtype.is_complex else dtype))
    if key == "fp32" and "tensor" in found and has_tf32(chosen[0].device):
        is_convolution = "convolution" in operation._overloadpacket.__name__  # noqa: SLF001 - no public name
        return "tf32" if allows_tf32(convolution=is_convolution) else key
    return key


def _is_floating(tensor: Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _of_complex_numbers(operation: Any, found: Flops) -> Flops | None:
    """Return the FLOPs of real numbers that take the place of FLOPs of complex numbers."""
    if not found:
        return {}
    if set(found) == {"tensor"}:
        return {"tensor": 4 * found["tensor"]}
    each = _COMPLEX.get(operation._overloadpacket.__name__.rstrip("_"))  # noqa: SLF001 - no public name
    return None if each is None else {"vector": each * found["vector"]}


@cache
def _formula(packet: Any) -> _Formula | None:
    """Return the formula of an operation, or of the operation that it is in place or for a list of tensors."""
    name = packet.__name__
    if name in _FORMULAS:
        return _FORMULAS[name]
    if packet in flop_registry:
        registered = flop_registry[packet]
        return lambda args, kwargs, result: {"tensor": registered(*args, **kwargs, out_val=result)}
    return _FORMULAS.get(name.removesuffix("_").removeprefix("_foreach_"))


def _nothing(_args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return {}


def _elements(args: Sequence[Any], result: Any) -> int:
    """Return the elements of the first result; of all first arguments if a call changes a list of tensors."""
    if isinstance(result, (list, tuple)) and result and isinstance(args[0], torch.Tensor):
        return int(result[0].numel())
    changed = args[0] if result is None else result
    return sum(int(tensor.numel()) for tensor in tensors_in(changed))


def _sum(functions: Iterable[str], elements: int) -> Flops:
    total: Flops = {}
    for function in functions:
        for name, count in FLOPS_PER_ELEMENT[function].items():
            total[name] = total.get(name, 0) + count * elements
    return total


def _each(functions: tuple[str, ...]) -> _Formula:
    """Return the formula of an operation that applies functions to each element of its result."""

    def formula(args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> Flops:
        scaled = ("multiply",) if kwargs.get("alpha", 1) != 1 or kwargs.get("value", 1) != 1 else ()
        return _sum((*functions, *scaled), _elements(args, result))

    return formula


def _power(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    powers: dict[float, tuple[str, ...]] = {
        2: ("square",),
        3: ("square", "multiply"),
        0.5: ("sqrt",),
        -0.5: ("rsqrt",),
        -1: ("reciprocal",),
        1: (),
    }
    functions = powers.get(args[1], ("power",)) if isinstance(args[1], (int, float)) else ("power",)
    return _sum(functions, _elements(args, result))


def _gelu(_args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> Flops:
    return _sum(("gelu_tanh" if kwargs.get("approximate") == "tanh" else "gelu_erf",), int(result.numel()))


def _gelu_backward(_args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> Flops:
    is_tanh = kwargs.get("approximate") == "tanh"
    return _sum(_GELU_TANH_BACKWARD if is_tanh else _GELU_ERF_BACKWARD, int(result.numel()))


def _per_input(each: int, *, transcendental: int = 0, first: int = 0) -> _Formula:
    """Return the formula of an operation with a number of FLOPs for each element of an argument."""

    def formula(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
        count = sum(int(tensor.numel()) for tensor in tensors_in(args[first]))
        return {"vector": each * count, "transcendental": transcendental * count}

    return formula


def _reduction(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    first = tensors_in(result)[0]
    return reduction_flops(int(args[0].numel()), int(first.numel()))


def _mean(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    # One addition for each element except the first, and a division.
    return {"vector": int(args[0].numel())}


def _variance(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    # Mean 1 per element, variance 3; a division for each.
    return {"vector": 4 * int(args[0].numel()) + 2 * int(tensors_in(result)[0].numel())}


def _norm(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    # Square, add; a root for each result.
    return {"vector": 2 * sum(int(tensor.numel()) for tensor in tensors_in(args[0])) + _elements(args, result)}


def _log_sum_exp(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    elements, rows = int(args[0].numel()), int(result.numel())
    return {"vector": 3 * elements + rows, "transcendental": elements + rows}


def _log_softmax(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    elements, length = int(result.numel()), int(result.shape[args[1]]) if result.dim() else 1
    # Maximum, subtract, sum, subtract the logarithm of the sum.
    return {"vector": 4 * elements, "transcendental": elements + elements // max(length, 1)}


def _layer_norm(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    x, shape, weight, bias = args[0], args[1], args[2], args[3]
    elements = int(result[0].numel())
    affine = sum(1 for parameter in (weight, bias) if parameter is not None)
    return {"vector": (6 + affine) * elements + 3 * (int(x.numel()) // max(prod(map(int, shape)), 1))}


def _rms_norm(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    x, shape, weight = args[0], args[1], args[2]
    each = 3 if weight is None else 4
    elements = int(tensors_in(result)[0].numel())
    return {"vector": each * elements + 3 * (int(x.numel()) // max(prod(map(int, shape)), 1))}


def _group_norm(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    weight, bias, batch, groups = args[1], args[2], args[3], args[6]
    affine = sum(1 for parameter in (weight, bias) if parameter is not None)
    return {"vector": (6 + affine) * int(result[0].numel()) + 3 * int(batch) * int(groups)}


def _batch_norm(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    trains = next((value for value in args if isinstance(value, bool)), False)
    return {"vector": (8 if trains else 2) * int(result[0].numel())}


def _batch_norm_inference(_args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    # A scale and a shift.
    return {"vector": 2 * int(result[0].numel())}


def _window(args: Sequence[Any], *, less: int) -> int:
    kernel = [int(value) for value in args[1]]
    dimensions = 2 if len(kernel) == 1 else len(kernel)
    return prod(kernel * dimensions if len(kernel) == 1 else kernel) - less


def _max_pool(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    return {"vector": _window(args, less=1) * int(result[0].numel())}


def _average_pool(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    return {"vector": _window(args, less=0) * int(result.numel())}


def _nll_loss(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return {"vector": int(args[1].numel())}


def _mse_loss(args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> Flops:
    # Subtract, square; a mean or a sum adds.
    elements = max(int(args[0].numel()), int(args[1].numel()))
    return {"vector": (2 if int(result.numel()) == elements else 3) * elements}


def _adam(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return {"vector": _ADAM_STEP * sum(int(tensor.numel()) for tensor in tensors_in(args[0]))}


def _accumulating(source: int) -> _Formula:
    """Return the formula of an operation that adds each element of an argument to another tensor."""

    def formula(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
        return {"vector": sum(int(tensor.numel()) for tensor in tensors_in(args[source]))}

    return formula


def _index_put(args: Sequence[Any], kwargs: Mapping[str, Any], _result: Any) -> Flops:
    accumulate = args[3] if len(args) > 3 else kwargs.get("accumulate", False)  # noqa: PLR2004 - its place
    return {"vector": int(args[2].numel())} if accumulate else {}


def _pairs(query: Tensor, key: Tensor) -> int:
    return prod(map(int, query.shape[:-1])) * int(key.shape[-2])


def _softmax_of(scores: int) -> Flops:
    return {"vector": 4 * scores, "transcendental": scores}


def _attention(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    query, key, value = args[:3]
    scores = _pairs(query, key)
    return {"tensor": 2 * scores * (int(query.shape[-1]) + int(value.shape[-1])), **_softmax_of(scores)}


def _attention_backward(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    # Scores again, their gradient, and the gradients of value, query and key: five products.
    query, key, value = args[1:4]
    scores = _pairs(query, key)
    products = 2 * scores * (3 * int(query.shape[-1]) + 2 * int(value.shape[-1]))
    # Subtract, multiply, sum of the gradient of a softmax, and the exponential again.
    return {"tensor": products, "vector": 4 * scores, "transcendental": scores}


def _multi_head(query: Tensor, key: Tensor, heads: int) -> Flops:
    batch, queries, width = map(int, query.shape)
    keys = int(key.shape[1])
    projections = 2 * batch * width * width * (2 * queries + 2 * keys)
    scores = batch * heads * queries * keys
    return {"tensor": projections + 4 * batch * queries * keys * width, **_softmax_of(scores)}


def _native_multi_head_attention(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return _multi_head(args[0], args[1], args[4])


def _encoder_layer(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    x, heads, uses_gelu, up, down = args[0], args[2], args[7], args[14], args[16]
    found = _multi_head(x, x, heads)
    tokens, width = prod(map(int, x.shape[:-1])), int(x.shape[-1])
    found["tensor"] += 2 * tokens * (int(up.numel()) + int(down.numel()))
    hidden = _sum(("gelu_erf" if uses_gelu else "relu",), tokens * int(up.shape[0]))
    # Two layer normalisations and two residuals.
    found["vector"] += hidden.get("vector", 0) + 2 * (8 * tokens * width + 3 * tokens) + 2 * tokens * width
    found["transcendental"] += hidden.get("transcendental", 0)
    return found


def _recurrent(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    x, from_input, from_state, mode = args[0], args[1], args[2], _MODES[args[9]]
    steps = prod(map(int, x.shape[:-1]))
    cells = steps * int(from_state.shape[-1])
    products = 2 * steps * (int(from_input.numel()) + int(from_state.numel()))
    return {"tensor": products, **_cell(mode, cells)}


def _recurrent_backward(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    x, from_input, from_state = args[:3]
    steps = prod(map(int, x.shape[:-1]))
    return {"tensor": 4 * steps * (int(from_input.numel()) + int(from_state.numel()))}


def _cell(mode: str, cells: int) -> Flops:
    """Return the element-wise FLOPs of recurrent cells: gates, and the new states."""
    functions = {
        "RNN_RELU": ("add", "relu"),
        "RNN_TANH": ("add", "tanh"),
        "LSTM": ("add", "sigmoid") * 3 + ("add", "tanh", "multiply", "multiply", "add", "tanh", "multiply"),
        "GRU": ("add", "sigmoid") * 2 + ("multiply", "add", "tanh", "subtract", "multiply", "multiply", "add"),
    }[mode]
    return _sum(functions, cells)


def _vector_product(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return {"tensor": 2 * int(args[0].numel())}


def _outer(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return {"tensor": 2 * int(args[1].numel()) * int(args[2].numel())}


def _integer_product(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    a, b = args[:2]
    return {"tensor": 2 * int(a.numel()) * int(b.shape[-1])}


def _batched_sum(args: Sequence[Any], _kwargs: Mapping[str, Any], _result: Any) -> Flops:
    return {"tensor": 2 * int(args[1].numel()) * int(args[2].shape[-1])}


_FORMULAS: Final[Mapping[str, _Formula]] = {
    **dict.fromkeys(_NO_ARITHMETIC, _nothing),
    **{name: _each((function,)) for name, function in ONE_FUNCTION.items()},
    **{name: _each(functions) for name, functions in SEVERAL_FUNCTIONS.items()},
    **dict.fromkeys(_ATTENTION, _attention),
    **dict.fromkeys((f"{name}_backward" for name in _ATTENTION), _attention_backward),
    "_native_multi_head_attention": _native_multi_head_attention,
    "_transformer_encoder_layer_fwd": _encoder_layer,
    "mkldnn_rnn_layer": _recurrent,
    "mkldnn_rnn_layer_backward": _recurrent_backward,
    "dot": _vector_product,
    "vdot": _vector_product,
    "mv": _vector_product,
    "addmv": lambda args, kwargs, result: _vector_product(args[1:], kwargs, result),
    "addr": _outer,
    "addbmm": _batched_sum,
    "_int_mm": _integer_product,
    "pow": _power,
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "sum": _reduction,
    "mean": _mean,
    "prod": _reduction,
    **dict.fromkeys(("max", "min", "amax", "amin", "argmax", "argmin"), _reduction),
    "cumsum": _per_input(1),
    "cumprod": _per_input(1),
    "var": _variance,
    "std": _variance,
    "var_mean": _variance,
    "std_mean": _variance,
    "norm": _norm,
    "linalg_vector_norm": _norm,
    "logsumexp": _log_sum_exp,
    "_softmax": lambda _args, _kwargs, result: _softmax_of(int(result.numel())),
    "_safe_softmax": lambda _args, _kwargs, result: _softmax_of(int(result.numel())),
    "_log_softmax": _log_softmax,
    "_softmax_backward_data": _per_input(4),
    "_log_softmax_backward_data": _per_input(3, transcendental=1),
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _per_input(13),
    "_fused_rms_norm": _rms_norm,
    "_fused_rms_norm_backward": _per_input(10),
    "native_group_norm": _group_norm,
    "native_group_norm_backward": _per_input(13),
    "_native_batch_norm_legit_no_training": _batch_norm_inference,
    **dict.fromkeys(("_native_batch_norm_legit", "native_batch_norm"), _batch_norm),
    "cudnn_batch_norm": _batch_norm,
    "native_batch_norm_backward": _per_input(13),
    "cudnn_batch_norm_backward": _per_input(13),
    **dict.fromkeys(("max_pool2d_with_indices", "max_pool3d_with_indices"), _max_pool),
    "max_pool2d_with_indices_backward": _per_input(1),
    **dict.fromkeys(("avg_pool2d", "avg_pool3d"), _average_pool),
    **dict.fromkeys(("_adaptive_avg_pool2d", "_adaptive_avg_pool3d"), _mean),
    **dict.fromkeys(("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward"), _per_input(1, first=1)),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _nll_loss),
    **dict.fromkeys(("nll_loss_backward", "nll_loss2d_backward"), _per_input(1, first=2)),
    "mse_loss": _mse_loss,
    "embedding_dense_backward": _per_input(1),
    **dict.fromkeys(("_fused_adam", "_fused_adamw"), _adam),
    "index_add": _accumulating(3),
    "scatter_add": _accumulating(2),
    "scatter_reduce": _accumulating(2),
    **dict.fromkeys(("index_put", "_index_put_impl", "_unsafe_index_put"), _index_put),
}
