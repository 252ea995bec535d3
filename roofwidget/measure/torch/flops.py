"""The FLOPs of an operation of PyTorch, by class, and the precision that they have.

``tensor``: matrix products, convolutions and attention, by the formulas of `torch.utils.flop_counter`: a multiply-add
is 2, a convolution multiplies the zeros of its padding, a bias adds nothing, and a causal mask saves nothing. Formulas
of this module cover operations that `FlopCounterMode` counts as 0: attention on a CPU, the fused modules
`MultiheadAttention` and `TransformerEncoderLayer`, recurrent layers, products of vectors. One complex multiply-add
is 8.

``vector`` and ``transcendental``: all other floating-point arithmetic. Elements of functions count as in
`roofwidget.measure.elementwise`, normalisations and softmax as the operators of `rw.Graph` by its convention
``textbook``: 8 per element for a layer normalisation and 3 per row, 5 for a softmax, one of them transcendental. XLA
counts 7 and 5 + 1. Fused steps of optimizers count as `Graph.adam_step` and `Graph.sgd_step`, with their options.

Integers have no FLOPs, except those of matrix products. An operation that is in no table has unknown FLOPs: None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import prod
from typing import Any, Final, TypeAlias

import torch
from torch.utils.flop_counter import flop_registry

from roofwidget.measure.elementwise import FLOPS_PER_ELEMENT, reduction_flops
from roofwidget.measure.torch.probes import allows_tf32, has_tf32
from roofwidget.measure.torch.tensors import OpCall, Tensor, is_plain, tensors_in
from roofwidget.support.precisions import precision_key
from roofwidget.workloads.convention import CONVENTIONS
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.ops.convolution import adaptive_windows
from roofwidget.workloads.ops.elementwise import GRADIENTS, POWERS
from roofwidget.workloads.ops.normalisation import NORM_GRADIENTS
from roofwidget.workloads.ops.optimizers import OPTIONS, STEPS

Flops: TypeAlias = "dict[str, int]"
_Formula: TypeAlias = "Callable[[OpCall], Flops]"

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
    "threshold_backward": GRADIENTS["relu"],
    "hardtanh_backward": ("greater", "less"),
    "leaky_relu_backward": ("greater", "multiply"),
    "hardsigmoid": ("add", "maximum", "minimum", "divide"),
    "hardswish": ("add", "maximum", "minimum", "multiply", "divide"),
    "elu": ("greater", "exp", "subtract", "multiply"),
    "softplus": ("exp", "log1p", "greater"),
    "log_sigmoid_forward": ("minimum", "absolute", "negative", "exp", "log1p", "subtract"),
    "mish": ("exp", "log1p", "tanh", "multiply"),
    **{f"{function}_backward": GRADIENTS[function] for function in ("sigmoid", "tanh", "silu")},
    "mse_loss_backward": ("subtract", "multiply", "multiply"),
    "native_dropout": ("greater", "multiply", "multiply"),
    "native_dropout_backward": ("multiply", "multiply"),
    "_fused_dropout": ("greater", "multiply", "multiply"),
    "upsample_bilinear2d": ("multiply",) * 4 + ("add",) * 3,
    "_upsample_bilinear2d_aa": ("multiply",) * 4 + ("add",) * 3,
}
"""The functions of operations that apply several."""

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
CELLS: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "lstm": (4, (*["add"] * 5, *["sigmoid"] * 3, *["tanh"] * 2, *["multiply"] * 3)),
    "gru": (3, (*["add"] * 4, *["sigmoid"] * 2, "tanh", "subtract", *["multiply"] * 3)),
    "rnn_tanh": (1, ("add", "tanh")),
    "rnn_relu": (1, ("add", "relu")),
}
"""Gates of a recurrent cell, and the functions that it applies to each element of its state."""
_MODES: Final = ("rnn_relu", "rnn_tanh", "lstm", "gru")
_TEXTBOOK: Final = CONVENTIONS["textbook"].environment
_COMPLEX: Final = {"add": 2, "sub": 2, "neg": 2, "mul": 6}
"""FLOPs of real numbers for one operation on complex numbers."""


def flops(call: OpCall) -> Flops | None:
    """Return the FLOPs of one call of an operation of `torch.ops` by class; None if they are unknown.

    Examples
    --------
    >>> a, b = torch.zeros(4, 8), torch.zeros(8, 2)
    >>> flops(OpCall(torch.ops.aten.mm.default, (a, b), {}, a @ b))
    {'tensor': 128}
    >>> flops(OpCall(torch.ops.aten.gelu.default, (a,), {}, a))
    {'vector': 128, 'transcendental': 32}
    """
    formula = _formula(call.operation._overloadpacket)  # noqa: SLF001 - no public name
    tensors = [*call.inputs, *call.results]
    if formula is None:
        return None if any(map(_is_floating, tensors)) else {}
    if not all(map(is_plain, tensors)):
        return None
    found = formula(call)
    if any(tensor.is_complex() for tensor in tensors):
        return _of_complex_numbers(call.name, found)
    if "tensor" not in found and not any(map(_is_floating, tensors)):
        return {}
    return {name: int(count) for name, count in found.items() if count}


def precision(call: OpCall, found: Mapping[str, int] | None) -> str | None:
    """Return the precision of an operation's FLOPs, such as ``fp32``; None without FLOPs.

    A matrix product has the wider dtype of its first two inputs, and the floating-point one of two equally wide. A
    product of fp32 numbers has TF32 where the device has it and PyTorch's settings allow it. Other operations have the
    dtype of their first floating-point output, or, without one, of their first such input.
    """
    if not found:
        return None
    inputs = call.inputs
    if "tensor" in found:
        chosen = inputs[:2]
    else:
        chosen = [tensor for tensor in (*call.results, *inputs) if _is_floating(tensor)][:1] or inputs[:1]
    if not chosen:
        return None
    dtype = max((tensor.dtype for tensor in chosen), key=lambda each: (each.itemsize, each.is_floating_point))
    key = precision_key(str(dtype.to_real() if dtype.is_complex else dtype))
    if key == "fp32" and "tensor" in found and has_tf32(chosen[0].device):
        return "tf32" if allows_tf32(convolution="convolution" in call.name) else key
    return key


def _is_floating(tensor: Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _of_complex_numbers(name: str, found: Flops) -> Flops | None:
    """Return the FLOPs of real numbers that take the place of FLOPs of complex numbers."""
    if not found:
        return {}
    if set(found) == {"tensor"}:
        return {"tensor": 4 * found["tensor"]}
    each = _COMPLEX.get(name.rstrip("_"))
    return None if each is None else {"vector": each * found["vector"]}


@cache
def _formula(packet: Any) -> _Formula | None:
    """Return the formula of an operation, or of the operation that it is in place or for a list of tensors."""
    name = packet.__name__
    if name in _FORMULAS:
        return _FORMULAS[name]
    if packet in flop_registry:
        registered = flop_registry[packet]
        return lambda call: {"tensor": registered(*call.args, **call.kwargs, out_val=call.result)}
    return _FORMULAS.get(name.removesuffix("_").removeprefix("_foreach_"))


def _changed(call: OpCall) -> int:
    """Return the elements of the first result; of all first arguments if a call changes a list of tensors."""
    if isinstance(call.result, (list, tuple)) and call.result and isinstance(call.args[0], torch.Tensor):
        return call.made
    changed = call.args[0] if call.result is None else call.result
    return sum(int(tensor.numel()) for tensor in tensors_in(changed))


def _sum(functions: Iterable[str], elements: int) -> Flops:
    total = Counter[str]()
    for function in functions:
        total.update({name: count * elements for name, count in FLOPS_PER_ELEMENT[function].items()})
    return dict(total)


def _each(functions: tuple[str, ...]) -> _Formula:
    """Return the formula of an operation that applies functions to each element of its result."""

    def formula(call: OpCall) -> Flops:
        factors = [call.kwargs.get("alpha", 1), call.kwargs.get("value", 1)]
        # Lists of tensors may have a factor each.
        factors += call.args[3:] if call.name.startswith("_foreach_addc") else []
        is_scaled = any(factor not in (1, [1] * len(call.results)) for factor in factors)
        return _sum((*functions, "multiply") if is_scaled else functions, _changed(call))

    return formula


def power_functions(exponent: Any) -> tuple[str, ...]:
    """Return the functions that raise to a power; exponents that are tensors have no shorter way."""
    return POWERS.get(exponent, ("power",)) if isinstance(exponent, (int, float)) else ("power",)


def _gelu(call: OpCall) -> Flops:
    return _sum(("gelu_tanh" if call.kwargs.get("approximate") == "tanh" else "gelu_erf",), call.made)


def _gelu_backward(call: OpCall) -> Flops:
    is_tanh = call.kwargs.get("approximate") == "tanh"
    return _sum(GRADIENTS["gelu_tanh" if is_tanh else "gelu_erf"], call.made)


def _per_input(each: int, *, transcendental: int = 0, place: int = 0) -> _Formula:
    """Return the formula of an operation with a number of FLOPs for each element of an argument."""
    return lambda call: {"vector": each * call.size(place), "transcendental": transcendental * call.size(place)}


def _log_softmax(call: OpCall) -> Flops:
    length = int(call.result.shape[call.args[1]]) if call.result.dim() else 1
    # Maximum, subtract, sum, subtract the logarithm of the sum.
    return {"vector": 4 * call.made, "transcendental": call.made + call.made // max(length, 1)}


def _layer_norm(call: OpCall) -> Flops:
    return {"vector": (6 + call.given(2, 3)) * call.made + 3 * _rows(call)}


def _rms_norm(call: OpCall) -> Flops:
    return {"vector": (3 + call.given(2)) * call.made + 3 * _rows(call)}


def _rows(call: OpCall) -> int:
    """Return how many rows a layer normalises."""
    return call.size(0) // max(prod(map(int, call.args[1])), 1)


def _group_norm(call: OpCall) -> Flops:
    batch, groups = call.args[3], call.args[6]
    return {"vector": (6 + call.given(1, 2)) * call.made + 3 * int(batch) * int(groups)}


def _batch_norm(call: OpCall) -> Flops:
    # Without training a scale and a shift.
    trains = next((value for value in call.args if isinstance(value, bool)), False)
    return {"vector": (8 if trains else 2) * call.made}


def _window(call: OpCall, place: int = 1) -> int:
    kernel = [int(value) for value in call.args[place]]
    axes = 3 if "pool3d" in call.name else 2
    return prod(kernel * axes if len(kernel) == 1 else kernel)


def _in_windows(call: OpCall, place: int) -> int:
    """Return the number of elements in all windows of adaptive pooling; an argument has the sizes of the input."""
    pooled = call.args[0] if place else call.results[0]
    axes = 3 if "pool3d" in call.name else 2
    sides = zip(call.args[place].shape[-axes:], pooled.shape[-axes:], strict=True)
    return prod(map(int, pooled.shape[:-axes])) * prod(adaptive_windows(int(size), int(made)) for size, made in sides)


def _step(kind: str) -> _Formula:
    """Return the formula of a fused step of an optimizer."""

    def formula(call: OpCall) -> Flops:
        given = call.kwargs
        momentum = kind == "sgd" and bool(call.args[2]) and not given.get("is_first_step")
        options = {
            "momentum": momentum,
            "dampening": momentum and given.get("dampening", 0) != 0,
            "nesterov": given.get("nesterov"),
            "decay": given.get("weight_decay", 0) != 0,
            "largest": given.get("amsgrad"),
            "maximize": given.get("maximize") and kind != "sgd",
            "scale": given.get("grad_scale") is not None,
        }
        terms = [*STEPS[kind], *(OPTIONS[key] for key, is_on in options.items() if is_on)]
        return {"vector": evaluate(sum(count for *_, count in terms), _TEXTBOOK) * call.size(0)}

    return formula


def _mse_loss(call: OpCall) -> Flops:
    # Subtract, square; a mean or a sum adds.
    elements = max(call.size(0), call.size(1))
    return {"vector": (2 if call.made == elements else 3) * elements}


def accumulates(call: OpCall) -> bool:
    """Return whether a call of `index_put` adds to the elements that it changes."""
    place = 3
    return bool(call.args[place] if len(call.args) > place else call.kwargs.get("accumulate", False))


def _pairs(query: Tensor, key: Tensor) -> int:
    return prod(map(int, query.shape[:-1])) * int(key.shape[-2])


def _softmax_of(scores: int) -> Flops:
    return {"vector": 4 * scores, "transcendental": scores}


def _attention(call: OpCall) -> Flops:
    query, key, value = call.args[:3]
    scores = _pairs(query, key)
    return {"tensor": 2 * scores * (int(query.shape[-1]) + int(value.shape[-1])), **_softmax_of(scores)}


def _attention_backward(call: OpCall) -> Flops:
    # Scores again, their gradient, and the gradients of value, query and key: five products.
    query, key, value = call.args[1:4]
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


def _encoder_layer(call: OpCall) -> Flops:
    x, heads, uses_gelu, up = call.args[0], call.args[2], call.args[7], call.args[14]
    found = _multi_head(x, x, heads)
    tokens, width = prod(map(int, x.shape[:-1])), int(x.shape[-1])
    found["tensor"] += 2 * tokens * (call.size(14) + call.size(16))
    hidden = _sum(("gelu_erf" if uses_gelu else "relu",), tokens * int(up.shape[0]))
    # Two layer normalisations and two residuals.
    found["vector"] += hidden.get("vector", 0) + 2 * (8 * tokens * width + 3 * tokens) + 2 * tokens * width
    found["transcendental"] += hidden.get("transcendental", 0)
    return found


def _recurrent(call: OpCall) -> Flops:
    _, functions = CELLS[_MODES[call.args[9]]]
    steps = _steps(call)
    products = 2 * steps * (call.size(1) + call.size(2))
    return {"tensor": products, **_sum(functions, steps * int(call.args[2].shape[-1]))}


def _steps(call: OpCall) -> int:
    return prod(map(int, call.args[0].shape[:-1]))


def _product(place: int = 0) -> _Formula:
    """Return the formula of a product of an argument and the next one, a matrix or a vector."""

    def formula(call: OpCall) -> Flops:
        right = call.args[place + 1]
        return {"tensor": 2 * call.size(place) * (int(right.shape[-1]) if right.dim() > 1 else 1)}

    return formula


_FORMULAS: Final[Mapping[str, _Formula]] = {
    **dict.fromkeys(_NO_ARITHMETIC, lambda _: {}),
    **{name: _each((function,)) for name, function in ONE_FUNCTION.items()},
    **{name: _each(functions) for name, functions in SEVERAL_FUNCTIONS.items()},
    **dict.fromkeys(_ATTENTION, _attention),
    **dict.fromkeys((f"{name}_backward" for name in _ATTENTION), _attention_backward),
    "_native_multi_head_attention": lambda call: _multi_head(call.args[0], call.args[1], call.args[4]),
    "_transformer_encoder_layer_fwd": _encoder_layer,
    "mkldnn_rnn_layer": _recurrent,
    "mkldnn_rnn_layer_backward": lambda call: {"tensor": 4 * _steps(call) * (call.size(1) + call.size(2))},
    **dict.fromkeys(("dot", "vdot", "mv", "_int_mm"), _product()),
    **dict.fromkeys(("addmv", "addbmm"), _product(1)),
    "addr": lambda call: {"tensor": 2 * call.size(1) * call.size(2)},
    "pow": lambda call: _sum(power_functions(call.args[1]), _changed(call)),
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    **dict.fromkeys(
        ("sum", "prod", "max", "min", "amax", "amin", "argmax", "argmin"),
        lambda call: reduction_flops(call.size(0), call.made),
    ),
    # A mean: one addition for each element except the first, and a division.
    **dict.fromkeys(("mean", "cumsum", "cumprod"), _per_input(1)),
    # Mean 1 per element, variance 3; a division for each.
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), lambda call: {"vector": 4 * call.size(0) + 2 * call.made}),
    # Square, add; a root for each result.
    **dict.fromkeys(("norm", "linalg_vector_norm"), lambda call: {"vector": 2 * call.size(0) + _changed(call)}),
    "logsumexp": lambda call: {
        "vector": 3 * call.size(0) + call.made,
        "transcendental": call.size(0) + call.made,
    },
    **dict.fromkeys(("_softmax", "_safe_softmax"), lambda call: _softmax_of(call.made)),
    "_log_softmax": _log_softmax,
    "_softmax_backward_data": _per_input(4),
    "_log_softmax_backward_data": _per_input(3, transcendental=1),
    "native_layer_norm": _layer_norm,
    **dict.fromkeys(
        (f"{norm}_norm_backward" for norm in ("native_layer", "native_group", "native_batch", "cudnn_batch")),
        _per_input(sum(NORM_GRADIENTS["layer"])),
    ),
    "_fused_rms_norm": _rms_norm,
    "_fused_rms_norm_backward": _per_input(sum(NORM_GRADIENTS["rms"])),
    "native_group_norm": _group_norm,
    **dict.fromkeys(("_native_batch_norm_legit_no_training", "_native_batch_norm_legit"), _batch_norm),
    **dict.fromkeys(("native_batch_norm", "cudnn_batch_norm"), _batch_norm),
    **dict.fromkeys(
        ("max_pool2d_with_indices", "max_pool3d_with_indices"),
        lambda call: {"vector": (_window(call) - 1) * call.made},
    ),
    "embedding_dense_backward": _per_input(1),
    **{
        name: formula
        for axes in (2, 3)
        for name, formula in (
            # A window of n elements takes n - 1 comparisons, or n - 1 additions and a division.
            (f"adaptive_max_pool{axes}d", lambda call: {"vector": _in_windows(call, 0) - call.made}),
            (f"_adaptive_avg_pool{axes}d", lambda call: {"vector": _in_windows(call, 0)}),
            (f"_adaptive_avg_pool{axes}d_backward", lambda call: {"vector": _in_windows(call, 1) + call.size(0)}),
            (f"avg_pool{axes}d_backward", lambda call: {"vector": (_window(call, 2) + 1) * call.size(0)}),
            (f"adaptive_max_pool{axes}d_backward", _per_input(1)),
            (f"max_pool{axes}d_with_indices_backward", _per_input(1)),
        )
    },
    **dict.fromkeys(("avg_pool2d", "avg_pool3d"), lambda call: {"vector": _window(call) * call.made}),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _per_input(1, place=1)),
    **dict.fromkeys(("nll_loss_backward", "nll_loss2d_backward"), _per_input(1, place=2)),
    "mse_loss": _mse_loss,
    **dict.fromkeys(("_fused_adam", "_fused_adamw"), _step("adam")),
    "_fused_adagrad": _step("adagrad"),
    "_fused_sgd": _step("sgd"),
    "_amp_foreach_non_finite_check_and_unscale": _per_input(1),
    "index_add": _per_input(1, place=3),
    **dict.fromkeys(("scatter_add", "scatter_reduce"), _per_input(1, place=2)),
    **dict.fromkeys(
        ("index_put", "_index_put_impl", "_unsafe_index_put"),
        lambda call: {"vector": call.size(2)} if accumulates(call) else {},
    ),
}
