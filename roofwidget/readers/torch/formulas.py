"""The FLOPs and compulsory bytes of PyTorch's operations, from the shapes of their arguments.

The table of rules is in the doc string of `roofwidget.readers.torch.trace`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from math import prod
from typing import Final, TypeAlias

from roofwidget.readers.torch.calls import Assumption, Dims, NotEnoughArguments, OpCall, OpWork, whole
from roofwidget.readers.torch.forms import MATRIX_PRODUCT
from roofwidget.readers.torch.given import itemsize_of_scalar_type
from roofwidget.support.precisions import is_integer
from roofwidget.workloads import Graph
from roofwidget.workloads.convention import CONVENTIONS, Convention
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.ops.elementwise import BINARY, GRADIENTS, POWERS, UNARY
from roofwidget.workloads.ops.formulas import attended
from roofwidget.workloads.ops.normalisation import NORM_GRADIENTS

_NUMBER: Final = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{0,9})?")
_TEXTBOOK: Final = CONVENTIONS["textbook"].environment
_HALF: Final = Convention("half", causal="half").environment
SOFTMAX_GRADIENT: Final = 4
"""FLOPs per element of the gradient of a softmax, or of its logarithm: a function or product, a sum, two more."""


def _product(call: OpCall, left: int, *, result: int | None = None) -> OpWork:
    a, b = call.tensor(left), call.tensor(left + 1)
    if len(a) < 2 or len(a) != len(b) or a[-1] != b[-2] or a[:-2] != b[:-2]:  # noqa: PLR2004 - two axes
        raise NotEnoughArguments
    written = prod(a[:-1]) * b[-1]
    rule = f"2 M N K from the shapes of {call.name}"
    return OpWork(MATRIX_PRODUCT, 2 * written * a[-1], call.moved(written, left, result), rule)


def _scaled_product(call: OpCall) -> OpWork:
    work = _product(call, 0, result=itemsize_of_scalar_type(whole(call.value(6))))
    return work if call.values is not None else work._replace(assumed=Assumption.OPERANDS_DTYPE)


def _times_vector(call: OpCall, left: int) -> OpWork:
    a, b = call.tensor(left), call.tensor(left + 1)
    if len(b) != 1 or a[-1:] != b:
        raise NotEnoughArguments
    return OpWork(MATRIX_PRODUCT, 2 * prod(a), call.moved(prod(a[:-1]), left), f"2 M K from the shapes of {call.name}")


def _convolution(
    call: OpCall, first: int, groups: int, *, padding_first: bool = False, transposed: int | None = None
) -> OpWork:
    """Return the work of a convolution.

    Stride, padding and dilation are the arguments from `first` on; in operations of libraries padding comes first.
    """
    x, weight = call.tensor(0), call.tensor(1)
    rank = len(weight) - 2
    if rank not in {1, 2, 3} or len(x) not in {rank + 1, rank + 2}:
        raise NotEnoughArguments
    strides, dilations = call.ints(first + padding_first, rank), call.ints(first + 2, rank)
    padding = _padding(call, first + (not padding_first), weight[2:], dilations)
    group = call.ints(groups, 1)[0]
    if min(strides, default=1) < 1 or group < 1:
        raise NotEnoughArguments
    batch = x[0] if len(x) == rank + 2 else 1
    detail = _settings(strides, padding, dilations, group)
    spans = zip(x[-rank:], strides, padding, dilations, weight[2:], strict=True)
    if transposed is not None and call.truth(transposed):
        extra = call.ints(transposed + 1, rank)
        sides = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for (n, s, p, d, k), e in zip(spans, extra, strict=True)]
        written = batch * weight[1] * group * _elements(sides)
        return _convolved(call, prod(x) * prod(weight[1:]), written, f"transposed, {detail}".rstrip(", "))
    sides = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, s, p, d, k in spans]
    written = batch * weight[0] * _elements(sides)
    return _convolved(call, written * prod(weight[1:]), written, detail)


def _elements(sides: Sequence[int]) -> int:
    """Return the number of elements of a result.

    Refuse negative sizes: the product of two negative sizes is positive.
    """
    if min(sides) < 0:
        raise NotEnoughArguments
    return prod(sides)


def _padding(call: OpCall, position: int, kernel: Dims, dilations: Dims) -> Dims:
    word = call.value(position)
    if word == "valid":
        return (0,) * len(kernel)
    if word == "same":
        # Half of the total padding. If the total is odd, one side has one more row. At stride 1 no size depends on it.
        return tuple(d * (k - 1) // 2 for k, d in zip(kernel, dilations, strict=True))
    return call.ints(position, len(kernel))


def _settings(strides: Dims, padding: Dims, dilations: Dims, groups: int) -> str:
    words = [
        f"stride {list(strides)}" if set(strides) != {1} else "",
        f"padding {list(padding)}" if any(padding) else "",
        f"dilation {list(dilations)}" if set(dilations) != {1} else "",
        f"groups {groups}" if groups != 1 else "",
    ]
    return ", ".join(word for word in words if word)


def _convolved(call: OpCall, products: int, written: int, detail: str) -> OpWork:
    rule = f"2 x results x channels of a group x kernel from the shapes of {call.name}"
    return OpWork("convolution", 2 * products, call.moved(written), rule, detail=detail)


def _convolution_backward(call: OpCall) -> OpWork:
    gradient, x, weight = call.tensor(0), call.tensor(1), call.tensor(2)
    mask = [word == "True" for word in re.findall("True|False", call.value(10))]
    if len(mask) != 3:  # noqa: PLR2004 - input, weight, bias
        raise NotEnoughArguments
    inputs, weights, _ = mask
    source = x if call.truth(7) else gradient
    once = 2 * prod(source) * prod(weight[1:])
    written = inputs * prod(x) + weights * prod(weight)
    rule = f"2 x results x channels of a group x kernel for each gradient from the shapes of {call.name}"
    strides, padding, dilations = (call.ints(at, len(weight) - 2) for at in (4, 5, 6))
    detail = _settings(strides, padding, dilations, call.ints(9, 1)[0])
    return OpWork("convolution", once * (inputs + weights), call.moved(written), rule, detail=detail)


class CausalMask(Enum):
    """Which causal mask attention has, and where it is aligned if there are not as many queries as keys."""

    NONE = ""
    TOP_LEFT = "top-left"
    BOTTOM_RIGHT = "bottom-right"
    UNKNOWN = "unknown"


_SEEN: Final = {
    CausalMask.TOP_LEFT: "the mask is aligned top-left: the first query sees the first key",
    CausalMask.BOTTOM_RIGHT: "the mask is aligned bottom-right: the last query sees all keys",
}


def _attention(
    call: OpCall,
    causal: int,
    *,
    aligned: CausalMask = CausalMask.TOP_LEFT,
    heads_last: bool = False,
    backward: bool = False,
    lengths: int | None = None,
    windows: tuple[int, ...] = (),
) -> OpWork:
    """Return the work of attention on tensors with the axes (batch, heads, rows, d).

    With `heads_last` the axes are (batch, rows, heads, d). `causal` and `lengths` are positions: where the call has the
    argument for a causal mask, and the argument for the lengths of sequences. `aligned` is where the operation aligns
    its mask.
    """
    first = int(backward)
    q, k, v = (call.tensor(first + step) for step in range(3))
    ragged = lengths is not None and call.has(lengths)
    if any(call.value(place) not in ("", "-1") for place in windows):
        raise NotEnoughArguments
    if not len(q) == len(k) == len(v) == 4 or ragged:  # noqa: PLR2004 - batch, heads, rows, columns
        raise NotEnoughArguments
    heads, rows = (2, 1) if heads_last else (1, 2)
    mask = _causal_mask(call, causal, aligned)
    pairs = q[0] * q[heads] * _pairs(q[rows], k[rows], mask)
    # Matrix products, with P = softmax(Q Kᵀ). Forwards: Q Kᵀ and P V. Backwards: Q Kᵀ again, and the gradients of P, V,
    # Q and K.
    flops = pairs * (3 * q[3] + 2 * v[3] if backward else q[3] + v[3])
    written = prod(q) + prod(k) + prod(v) if backward else prod(q[:3]) * v[3]
    rule, detail = f"{'10' if backward else '4'} B H Nq Nk d", ""
    if mask in _SEEN and q[rows] == k[rows]:
        rule, detail = f"{rule} / 2, causal, from the shapes of {call.name}", "causal"
    elif mask in _SEEN:
        rule = f"{rule}, of the pairs that the causal mask leaves, from the shapes of {call.name}; {_SEEN[mask]}"
        detail = f"causal {mask.value}"
    else:
        rule = f"{rule} from the shapes of {call.name}"
    assumed = Assumption.ALL_PAIRS if mask is CausalMask.UNKNOWN else None
    return OpWork("attention", flops, _attended(call, first, written), rule, detail=detail, assumed=assumed)


def _pairs(queries: int, keys: int, mask: CausalMask) -> int:
    """Return twice the number of pairs of a query and a key that count.

    Without a causal mask, and if it is unknown whether there is a mask, all pairs count. With as many queries as keys a
    causal mask halves them. Otherwise the pairs are counted exactly: the mask starts at the first query and the first
    key (top-left), or ends at the last ones (bottom-right).
    """
    if mask not in _SEEN:
        return 2 * queries * keys
    if mask is CausalMask.TOP_LEFT:
        queries, keys = keys, queries
    return evaluate(attended(2, queries, keys, causal=True), _HALF)


def _attended(call: OpCall, first: int, written: int) -> int | None:
    """Return the bytes that attention moves: it reads q, k and v, and writes `written` elements.

    The backward pass (`first` is 1) also reads the output and its gradient. The result is None if the dtype is unknown.
    """
    size = call.itemsize(first)
    if size is None:
        return None
    read = sum(prod(call.tensor(first + step)) for step in range(3))
    # The output has the size of its gradient, argument 0. The log-sum-exp, one number per row, is left out in the
    # forward and the backward pass.
    return (read + written + 2 * first * prod(call.tensor(0))) * size


def _causal_mask(call: OpCall, position: int, aligned: CausalMask) -> CausalMask:
    """Return the causal mask by the argument at `position`: a truth value, or a ``custom_mask_type`` of PyTorch.

    The types are those of ``torch.nn.attention.bias.CausalVariant``: 1 is top-left, 2 is bottom-right.
    """
    known = {"True": aligned, "False": CausalMask.NONE, "0": CausalMask.NONE}
    known |= {"1": CausalMask.TOP_LEFT, "2": CausalMask.BOTTOM_RIGHT}
    return known.get(call.value(position), CausalMask.UNKNOWN)


def _binary(call: OpCall, each: int, result: int | None = None) -> OpWork:
    a = call.tensor(0)
    b = call.tensor(1) if call.has(1) else ()
    written = a if call.name.endswith("_") else _stretched(a, b)
    rule = f"{each} per result of {call.name}"
    moved = call.moved(prod(written), size=result)
    return OpWork("element by element", each * prod(written), moved, rule, vector=True)


def _power(call: OpCall) -> OpWork:
    number = _NUMBER.fullmatch(call.value(1))
    functions = POWERS.get(float(number[0])) if number else None
    return _binary(call, 1 if functions is None else sum(map(element_flops, functions)))


def _chosen(call: OpCall) -> OpWork:
    given = [at for at in (1, 2) if call.has(at)]
    if not given:
        raise NotEnoughArguments
    shape = call.tensor(0)
    for at in given:
        shape = _stretched(shape, call.tensor(at))
    moved = call.moved(prod(shape), given[0])
    return OpWork("element by element", 0, moved, f"{call.name} computes nothing", vector=True)


def _squared_loss(call: OpCall) -> OpWork:
    n, is_reduced = prod(call.tensor(0)), call.value(2) != "0"
    each = 3 if is_reduced else 2
    moved = call.moved(1 if is_reduced else n)
    return OpWork("reduction", each * n, moved, f"{each} per element of {call.name}", vector=True)


def _stretched(a: Dims, b: Dims) -> Dims:
    width = max(len(a), len(b))
    pairs = list(zip((1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b, strict=True))
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise NotEnoughArguments
    return tuple(n if m == 1 else m for m, n in pairs)


def element_flops(function: str) -> int:
    """Return the FLOPs per element of a function of one variable or of two."""
    return evaluate(BINARY[function] if function in BINARY else sum(count for *_, count in UNARY[function]), _TEXTBOOK)


def gradient_flops(function: str) -> int:
    """Return the FLOPs per element of the gradient of a function of one variable."""
    return sum(map(element_flops, GRADIENTS[function]))


def _unary(call: OpCall, function: str) -> OpWork:
    n = prod(call.tensor(0))
    each = element_flops(function)
    rule = f"{each} per result of {call.name} ({function})"
    return OpWork("element by element", each * n, call.moved(n), rule, vector=True)


def _gelu(call: OpCall) -> OpWork:
    work = _unary(call, "gelu_tanh" if call.value(1) == "tanh" else "gelu_erf")
    return work if call.values is not None else work._replace(assumed=Assumption.ERF)


def _gradient(call: OpCall, function: str) -> OpWork:
    n, each = prod(call.tensor(0)), gradient_flops(function)
    rule = f"{each} per result of {call.name} (gradient of {function})"
    return OpWork("element by element", each * n, call.moved(n), rule, vector=True)


def _gelu_gradient(call: OpCall) -> OpWork:
    work = _gradient(call, "gelu_tanh" if call.value(2) == "tanh" else "gelu_erf")
    return work if call.values is not None else work._replace(assumed=Assumption.ERF)


def _dropout(call: OpCall) -> OpWork:
    n = prod(call.tensor(0))
    moved = call.moved(n)
    rule = f"3 per result of {call.name} (compare, mask, scale)"
    # The mask has a byte per element.
    return OpWork("element by element", 3 * n, None if moved is None else moved + n, rule, vector=True)


def _dropout_gradient(call: OpCall) -> OpWork:
    n = prod(call.tensor(0))
    return OpWork("element by element", 2 * n, call.moved(n), f"2 per result of {call.name} (mask, scale)", vector=True)


def _layer_norm(call: OpCall) -> OpWork:
    x = call.tensor(0)
    affine = call.has(2)
    width = prod(call.tensor(2) if affine else call.all_ints(1) or x[-1:])
    graph = Graph()
    graph.layernorm(graph.input("x", (max(prod(x) // max(width, 1), 1), max(width, 1)), "fp32"), affine=affine)
    flops = int(graph.count("flops")) if prod(x) else 0
    rule = f"{8 if affine else 6} per element and 3 per row of {call.name}"
    return OpWork("normalisation", flops, call.moved(prod(x)), rule, vector=True)


def _group_norm(call: OpCall) -> OpWork:
    n, rows = prod(call.tensor(0)), call.ints(3, 1)[0] * call.ints(6, 1)[0]
    each = 6 + call.has(1) + call.has(2)
    rule = f"{each} per element and 3 per group of {call.name}"
    return OpWork("normalisation", each * n + 3 * rows, call.moved(n), rule, vector=True)


def _batch_norm(call: OpCall) -> OpWork:
    # Without training a scale and a shift.
    n, each = prod(call.tensor(0)), 8 if call.truth(5) else 2
    return OpWork("normalisation", each * n, call.moved(n), f"{each} per element of {call.name}", vector=True)


def _norm_gradient(
    call: OpCall, x: int, read: tuple[int, ...], weight: int, bias: int | None, *, kind: str = "layer"
) -> OpWork:
    """Return the work of the gradient of a normalisation.

    Arguments 0 and 1 are the gradient of the result and the input `x`, and `read` are the other arguments that are
    read: what the forward pass has kept, and the weights. The gradient of the bias has the sizes of the weights;
    `bias` is the argument that says whether there is one.
    """
    plain, with_weight, with_bias = NORM_GRADIENTS[kind]
    has_weight, has_bias = call.has(weight), bias is not None and call.has(bias)
    each = plain + with_weight * has_weight + with_bias * has_bias
    n, size = prod(call.tensor(x)), call.itemsize(x)
    gradients = [call.bytes_of(weight)] * (has_weight + has_bias) if has_weight else []
    parts = [*(call.bytes_of(place) for place in (0, 1, *read) if call.has(place)), *gradients]
    moved = None if size is None or None in parts else sum(part for part in parts if part is not None) + n * size
    return OpWork("normalisation", each * n, moved, f"{each} per element of {call.name}", vector=True)


def _softmax(call: OpCall) -> OpWork:
    n = prod(call.tensor(0))
    each = _TEXTBOOK["@softmax"]
    return OpWork("softmax", each * n, call.moved(n), f"{each} per element of {call.name}", vector=True)


def _softmax_gradient(call: OpCall) -> OpWork:
    n = prod(call.tensor(0))
    rule = f"{SOFTMAX_GRADIENT} per element of {call.name}"
    return OpWork("softmax", SOFTMAX_GRADIENT * n, call.moved(n), rule, vector=True)


def _copied(call: OpCall) -> OpWork:
    return OpWork("copy", 0, call.read(), f"{call.name} computes nothing")


def _filled(call: OpCall) -> OpWork:
    size = call.itemsize(0)
    moved = None if size is None else prod(call.tensor(0)) * size
    return OpWork("copy", 0, moved, f"{call.name} computes nothing")


def _looked_up(call: OpCall, index: int) -> OpWork:
    table, rows = call.tensor(0), call.tensor(index)
    axis = call.ints(1, 1)[0] if call.name == "aten::index_select" else 0
    if not -len(table) <= axis < len(table):
        raise NotEnoughArguments
    found = prod(rows) * prod(size for at, size in enumerate(table) if at != axis % len(table))
    size, width = call.itemsize(0), call.itemsize(index)
    moved = None if size is None or width is None else 2 * found * size + prod(rows) * width
    return OpWork("look-up", 0, moved, f"{call.name} computes nothing")


def _embedding_gradient(call: OpCall) -> OpWork:
    gradient, index = call.tensor(0), call.tensor(1)
    n, written = prod(gradient), call.ints(2, 1)[0] * gradient[-1] if gradient else 0
    size, width = call.itemsize(0), call.itemsize(1)
    moved = None if size is None or width is None else (n + written) * size + prod(index) * width
    return OpWork("look-up", n, moved, f"1 per element of the gradient of {call.name}", vector=True)


def _joined(call: OpCall) -> OpWork:
    elements = sum(map(prod, call.tensors(0)))
    # A list of tensors is recorded with one type for the list, not with the dtype of its tensors. The result has it, or
    # the name of the kernel.
    size = call.result_itemsize() or call.itemsize(0)
    return OpWork("copy", 0, None if size is None else 2 * elements * size, f"{call.name} computes nothing")


def _gathered(call: OpCall) -> OpWork:
    found = prod(call.tensor(2))
    size, width = call.itemsize(0), call.itemsize(2)
    moved = None if size is None or width is None else found * (2 * size + width)
    return OpWork("look-up", 0, moved, f"{call.name} computes nothing")


def _reduced(call: OpCall) -> OpWork:
    word, x = call.name.removeprefix("aten::"), call.tensor(0)
    if word in _OF_TWO and call.has(1):
        return _binary(call, 1)
    # Without axes the second argument of sum, mean and prod is a dtype.
    has_axes = word not in _WITH_DTYPE or len(call.dims) > 3  # noqa: PLR2004 - x, axes, keepdim, dtype
    axes = call.all_ints(1) if has_axes and word not in _SCANS else ()
    if any(not -len(x) <= axis < len(x) for axis in axes):
        raise NotEnoughArguments
    lost = {axis % len(x) for axis in axes} or (() if word in _SCANS else range(len(x)))
    written = prod(size for axis, size in enumerate(x) if axis not in lost)
    read, size = call.itemsize(0), call.itemsize(0)
    if word.startswith("arg") or (word in _WITH_DTYPE and is_integer(call.precision() or "")):
        size = 8
    elif size is not None and word in _OF_TWO and axes:
        size += 8  # the positions too
    moved = None if read is None or size is None else prod(x) * read + written * size
    return OpWork("reduction", prod(x), moved, f"1 per element of {call.name}", vector=True)


_Formulas: TypeAlias = "Mapping[str, Callable[[OpCall], OpWork]]"

_MATRIX: Final[_Formulas] = {
    **dict.fromkeys(("aten::mm", "aten::bmm"), partial(_product, left=0)),
    **dict.fromkeys(
        ("aten::addmm", "aten::addmm_", "aten::_addmm_activation", "aten::baddbmm", "aten::baddbmm_"),
        partial(_product, left=1),
    ),
    "aten::_int_mm": partial(_product, left=0, result=4),
    "aten::_scaled_mm": _scaled_product,
    **dict.fromkeys(("aten::mv", "aten::dot"), partial(_times_vector, left=0)),
    **dict.fromkeys(("aten::addmv", "aten::addmv_"), partial(_times_vector, left=1)),
}
_CONVOLUTIONS: Final[_Formulas] = {
    **{f"aten::conv{rank}d": partial(_convolution, first=3, groups=6) for rank in (1, 2, 3)},
    **dict.fromkeys(
        ("aten::convolution", "aten::_convolution"), partial(_convolution, first=3, groups=8, transposed=6)
    ),
    "aten::cudnn_convolution": partial(_convolution, first=2, groups=5, padding_first=True),
    **dict.fromkeys(
        ("aten::miopen_convolution", "aten::mkldnn_convolution"),
        partial(_convolution, first=3, groups=6, padding_first=True),
    ),
    "aten::convolution_backward": _convolution_backward,
}
_SDPA: Final = "aten::_scaled_dot_product"
_ATTENTION: Final[_Formulas] = {
    # These run the kernel of flash_attn, which aligns its mask at the bottom right since version 2.1: for other than as
    # many queries as keys, torch.nn.attention.bias calls them for CausalVariant.LOWER_RIGHT alone.
    f"{_SDPA}_flash_attention": partial(_attention, causal=4, aligned=CausalMask.BOTTOM_RIGHT),
    f"{_SDPA}_flash_attention_for_cpu": partial(_attention, causal=4),
    f"{_SDPA}_efficient_attention": partial(_attention, causal=6),
    f"{_SDPA}_cudnn_attention": partial(_attention, causal=6),
    f"{_SDPA}_fused_attention_overrideable": partial(_attention, causal=5),
    "aten::_flash_attention_forward": partial(
        _attention, causal=8, heads_last=True, lengths=3, windows=(11, 12), aligned=CausalMask.BOTTOM_RIGHT
    ),
    "aten::_efficient_attention_forward": partial(_attention, causal=9, heads_last=True, lengths=4),
    "flash_attn::_flash_attn_forward": partial(
        _attention, causal=5, heads_last=True, windows=(6, 7), aligned=CausalMask.BOTTOM_RIGHT
    ),
    f"{_SDPA}_flash_attention_backward": partial(_attention, causal=11, backward=True, aligned=CausalMask.BOTTOM_RIGHT),
    f"{_SDPA}_efficient_attention_backward": partial(_attention, causal=11, backward=True),
    f"{_SDPA}_cudnn_attention_backward": partial(_attention, causal=14, backward=True),
}
_SAME_NAME: Final = (
    "relu",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "exp",
    "log",
    "sin",
    "cos",
    "tanh",
    "erf",
    "sigmoid",
    "silu",
    "square",
)
_FUNCTIONS: Final = {word: word for word in _SAME_NAME} | {"neg": "negative", "abs": "absolute"}
_PAIRS: Final = {word: word for word in ("add", "maximum", "minimum")} | {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
}
_ELEMENTS: Final[_Formulas] = {
    f"aten::{word}{place}": formula
    for place in ("", "_")
    for word, formula in (
        *((w, partial(_unary, function=f)) for w, f in _FUNCTIONS.items()),
        *((w, partial(_binary, each=element_flops(f))) for w, f in _PAIRS.items()),
    )
}
_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
_CHOICES: Final = ("masked_fill", "bitwise_and", "bitwise_or", "bitwise_xor")
_CHANGES: Final[_Formulas] = {
    **{f"aten::{word}": partial(_binary, each=element_flops("maximum"), result=1) for word in _COMPARISONS},
    **{f"aten::{word}{place}": partial(_binary, each=0) for place in ("", "_") for word in _CHOICES},
    "aten::where": _chosen,
    "aten::pow": _power,
    "aten::mse_loss": _squared_loss,
}
_NORMS: Final[_Formulas] = {
    "aten::native_layer_norm": _layer_norm,
    "aten::native_layer_norm_backward": partial(_norm_gradient, x=1, read=(3, 4, 5), weight=5, bias=6),
    "aten::native_group_norm": _group_norm,
    "aten::native_group_norm_backward": partial(_norm_gradient, x=1, read=(2, 3, 4), weight=4, bias=4),
    "aten::_fused_rms_norm_backward": partial(_norm_gradient, x=1, read=(3, 4), weight=4, bias=None, kind="rms"),
    **dict.fromkeys(("aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm"), _batch_norm),
    "aten::native_batch_norm_backward": partial(_norm_gradient, x=1, read=(2, 5, 6), weight=2, bias=2),
    **dict.fromkeys(
        ("aten::cudnn_batch_norm_backward", "aten::miopen_batch_norm_backward"),
        partial(_norm_gradient, x=0, read=(2, 5, 6), weight=2, bias=2),
    ),
}
_OF_TWO: Final = ("max", "min")
_WITH_DTYPE: Final = ("sum", "mean", "prod")
_SCANS: Final = ("cumsum", "cumprod")
_REDUCTIONS: Final = tuple(
    f"aten::{word}" for word in (*_OF_TWO, "amax", "amin", "argmax", "argmin", *_WITH_DTYPE, *_SCANS)
)
FORMULAS: Final[_Formulas] = {
    **_MATRIX,
    **_CONVOLUTIONS,
    **_ATTENTION,
    **_ELEMENTS,
    **_CHANGES,
    **dict.fromkeys(("aten::gelu", "aten::gelu_"), _gelu),
    "aten::gelu_backward": _gelu_gradient,
    **{f"aten::{word}_backward": partial(_gradient, function=word) for word in ("sigmoid", "tanh", "silu")},
    "aten::threshold_backward": partial(_gradient, function="relu"),
    "aten::native_dropout": _dropout,
    "aten::native_dropout_backward": _dropout_gradient,
    **_NORMS,
    **dict.fromkeys(("aten::_softmax", "aten::_log_softmax"), _softmax),
    **dict.fromkeys(("aten::_softmax_backward_data", "aten::_log_softmax_backward_data"), _softmax_gradient),
    "aten::copy_": _copied,
    **dict.fromkeys(("aten::fill_", "aten::zero_"), _filled),
    "aten::index_select": partial(_looked_up, index=2),
    "aten::embedding": partial(_looked_up, index=1),
    "aten::embedding_dense_backward": _embedding_gradient,
    "aten::gather": _gathered,
    "aten::cat": _joined,
    **dict.fromkeys(_REDUCTIONS, _reduced),
}
"""Formula by operation."""

VALUED: Final = frozenset(
    {
        *_CONVOLUTIONS,
        *_ATTENTION,
        *_REDUCTIONS,
        *_NORMS,
        "aten::gelu",
        "aten::gelu_",
        "aten::gelu_backward",
        "aten::pow",
        "aten::mse_loss",
        "aten::embedding_dense_backward",
        "aten::index_select",
        "aten::_scaled_mm",
    }
)
"""Operations whose work depends on arguments that are not tensors."""
