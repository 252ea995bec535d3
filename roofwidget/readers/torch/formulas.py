"""The FLOPs and compulsory bytes of PyTorch's operations, from the shapes of their arguments.

The table of rules is in the doc string of `roofwidget.readers.torch.trace`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from math import prod
from typing import Final, NamedTuple, TypeAlias

from roofwidget.workloads import Graph
from roofwidget.workloads.convention import CONVENTIONS, Convention
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.ops.elementwise import BINARY, UNARY
from roofwidget.workloads.ops.formulas import attended

# -- calls ---------------------------------------------------------------------------------------------------------

Dims = tuple[int, ...]


class UnknownWork(Exception):  # noqa: N818 - not an error: the operation's work stays unknown
    """The arguments of a call are not enough to know its work."""


_DTYPES: Final[Mapping[str, tuple[str, int]]] = {
    "float": ("fp32", 4),
    "double": ("fp64", 8),
    "c10::Half": ("fp16", 2),
    "c10::BFloat16": ("bf16", 2),
    **{f"c10::Float8_{form}": ("fp8", 1) for form in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")},
    "long int": ("int64", 8),
    "long": ("int64", 8),
    "int": ("int32", 4),
    "short int": ("int16", 2),
    "short": ("int16", 2),
    "signed char": ("int8", 1),
    "unsigned char": ("int8", 1),
    "bool": ("bool", 1),
}
_INT: Final = re.compile(r"-?[0-9]{1,18}")
_INTS: Final = re.compile(r"-?[0-9]{1,18}|\[(?:-?[0-9]{1,18}(?:, *-?[0-9]{1,18}){0,9})?\]")
# PyTorch's own limits: 64 axes, and a signed number of 64 bits for the elements.
_MAX_AXES: Final = 64
_MAX_ELEMENTS: Final = 2**63
_OURS: Final = {ours: (ours, size) for ours, size in _DTYPES.values()}


def precision_of(dtype: str) -> str | None:
    """Return our name for a dtype of PyTorch, or None if it is unknown.

    Examples
    --------
    >>> precision_of("c10::BFloat16"), precision_of("bf16"), precision_of("Scalar")
    ('bf16', 'bf16', None)
    """
    known = _DTYPES.get(dtype) or _OURS.get(dtype)
    return known[0] if known else None


class Assumption(Enum):
    """What a formula assumes of an argument that the profile did not record. The value is the warning."""

    ALL_PAIRS = (
        "the profile does not say whether attention is causal, so it is counted in full: if it is causal, half of its "
        "FLOPs are possible; traces of PyTorch 2.1 or newer with record_shapes=True say it"
    )
    ERF = "the profile does not say which formula gelu uses: 5 FLOPs per result are counted, and with tanh it has 8"
    OPERANDS_DTYPE = (
        "the profile does not say the dtype of the results of _scaled_mm: their bytes are counted as if it were the "
        "dtype of its operands"
    )


class OpWork(NamedTuple):
    """The work of one call: FLOPs of tensor or vector units, compulsory bytes, and the rule of the FLOPs.

    `assumed` says what the numbers assume.
    """

    family: str
    flops: int
    bytes: int | None
    rule: str
    vector: bool = False
    detail: str = ""
    assumed: Assumption | None = None


def assumption_warnings(works: Iterable[OpWork | None]) -> list[str]:
    """Return the warnings of what the work of calls assumes, each once."""
    assumed = {work.assumed for work in works if work is not None}
    return [assumption.value for assumption in Assumption if assumption in assumed]


@dataclass(frozen=True)
class OpCall:
    """The arguments of a call by position.

    Parameters
    ----------
    name
        The operation, such as ``"aten::addmm"``.
    dims
        Sizes: a list of ints for a tensor, a list of such lists for a list of tensors, empty for other arguments.
    types
        PyTorch's names of dtypes, ``"Scalar"``, ``"TensorList"`` or ``""``; None if not recorded.
    values
        Arguments that are not tensors, as text; None if not recorded.
    """

    name: str
    dims: Sequence[object]
    types: Sequence[object] | None = None
    values: Sequence[object] | None = None

    def tensor(self, position: int) -> Dims:
        """Return the sizes of a tensor; raise `UnknownWork` if the argument is not a tensor."""
        sizes = self.dims[position] if position < len(self.dims) else None
        if not isinstance(sizes, (list, tuple)) or not self._is_tensor(position, sizes):
            raise UnknownWork
        return _sizes(sizes)

    def tensors(self, position: int) -> list[Dims]:
        """Return the sizes of each tensor of a list."""
        listed = self.dims[position] if position < len(self.dims) else None
        if not isinstance(listed, (list, tuple)) or not listed:
            raise UnknownWork
        return [_sizes(sizes) for sizes in listed if isinstance(sizes, (list, tuple))]

    def has(self, position: int) -> bool:
        """Whether an optional tensor was given."""
        return bool(position < len(self.dims) and self.dims[position])

    def itemsize(self, position: int) -> int | None:
        """Return the bytes of an element, or None if the dtype is unknown."""
        known = self._dtype(position)
        return known[1] if known else None

    def precision(self, position: int = 0) -> str | None:
        """Return our name for the dtype of an argument, or None."""
        known = self._dtype(position)
        return known[0] if known else None

    def read(self) -> int | None:
        """Return the bytes of all tensors that the call reads, each once; None if a dtype is unknown.

        PyTorch records a scalar argument as a tensor without sizes. The bytes of this scalar do not count, nor those of
        the tensor ``out=``, which is recorded after the other arguments.
        """
        total = 0
        for position, sizes in enumerate(self.dims[: _ARGUMENTS.get(self.name)]):
            if (sizes or not position) and isinstance(sizes, (list, tuple)) and self._is_tensor(position, sizes):
                size = self.itemsize(position)
                if size is None:
                    return None
                total += prod(_sizes(sizes)) * size
        return total

    def moved(self, written: int, position: int = 0, size: int | None = None) -> int | None:
        """Return the bytes that the call moves: the result of `read`, plus `written` elements; None if unknown.

        A written element has `size` bytes. Without `size` it has as many bytes as an element of the argument at
        `position`.
        """
        read, size = self.read(), size or self.itemsize(position)
        return None if read is None or size is None else read + written * size

    def value(self, position: int) -> str:
        """Return an argument that is not a tensor as text, ``""`` if not recorded."""
        values = self.values or ()
        return str(values[position]) if position < len(values) else ""

    def truth(self, position: int) -> bool:
        """Return a truth value; raise `UnknownWork` if it was not recorded."""
        try:
            return {"True": True, "true": True, "False": False, "false": False}[self.value(position)]
        except KeyError:
            raise UnknownWork from None

    def ints(self, position: int, rank: int) -> Dims:
        """Return a list of `rank` ints, such as strides; a single int is repeated."""
        listed = self.all_ints(position)
        if len(listed) not in {1, rank}:
            raise UnknownWork
        return listed if len(listed) == rank else listed * rank

    def all_ints(self, position: int) -> Dims:
        """Return an int or a list of ints as a tuple, empty if not recorded."""
        text = self.value(position)
        if text and not _INTS.fullmatch(text):
            raise UnknownWork
        return tuple(map(int, _INT.findall(text)))

    @property
    def shape(self) -> str:
        """The sizes of the call's tensors as text, such as ``"[512], [141, 512], [512, 512]"``."""
        return ", ".join(str(sizes) for sizes in self.dims if sizes)

    @property
    def dtype(self) -> str:
        """The dtypes of the call's tensors as text, without repetitions."""
        found = (self.precision(position) for position, sizes in enumerate(self.dims) if sizes)
        return ", ".join(dict.fromkeys(word for word in found if word))

    def _dtype(self, position: int) -> tuple[str, int] | None:
        word = self.types[position] if self.types is not None and position < len(self.types) else None
        return (_DTYPES.get(word) or _OURS.get(word)) if isinstance(word, str) else None

    def _is_tensor(self, position: int, sizes: Sequence[object]) -> bool:
        """Whether an argument is a tensor: it has sizes, or no sizes but a dtype (a single number on the device)."""
        return bool(sizes and not isinstance(sizes[0], (list, tuple))) or (
            not sizes and self._dtype(position) is not None
        )


def _sizes(given: Sequence[object]) -> Dims:
    sizes = tuple(size for size in given if isinstance(size, int) and not isinstance(size, bool) and size >= 0)
    if len(sizes) < len(given) or len(sizes) > _MAX_AXES or prod(sizes) > _MAX_ELEMENTS:
        raise UnknownWork
    return sizes


# -- formulas ------------------------------------------------------------------------------------------------------

_TEXTBOOK: Final = CONVENTIONS["textbook"].environment
_HALF: Final = Convention("half", causal="half").environment
MATRIX_PRODUCT: Final = "matrix product"
"""The family of products of matrices, and of a matrix and a vector."""
# The dtypes that _scaled_mm may write: their numbers in PyTorch's ScalarType, and the bytes of an element.
_WRITTEN: Final = {"5": 2, "6": 4, "7": 8, "15": 2}


def work_of(call: OpCall) -> OpWork | None:
    """Return the work of a call, or None if there is no formula or the arguments are not enough.

    Examples
    --------
    >>> call = OpCall("aten::addmm", [[512], [141, 512], [512, 512], [], []], ["bf16"] * 3 + ["Scalar"] * 2)
    >>> work_of(call).flops, work_of(call).bytes
    (73924608, 814080)
    """
    formula = FORMULAS.get(call.name)
    if formula is None:
        return None
    try:
        return formula(call)
    except UnknownWork:
        return None


def _product(call: OpCall, left: int, *, result: int | None = None) -> OpWork:
    a, b = call.tensor(left), call.tensor(left + 1)
    if len(a) < 2 or len(a) != len(b) or a[-1] != b[-2] or a[:-2] != b[:-2]:  # noqa: PLR2004 - two axes
        raise UnknownWork
    written = prod(a[:-1]) * b[-1]
    rule = f"2 M N K from the shapes of {call.name}"
    return OpWork(MATRIX_PRODUCT, 2 * written * a[-1], call.moved(written, left, result), rule)


def _scaled_product(call: OpCall) -> OpWork:
    work = _product(call, 0, result=_WRITTEN.get(call.value(6)))
    return work if call.values is not None else work._replace(assumed=Assumption.OPERANDS_DTYPE)


def _times_vector(call: OpCall, left: int) -> OpWork:
    a, b = call.tensor(left), call.tensor(left + 1)
    if len(b) != 1 or a[-1:] != b:
        raise UnknownWork
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
        raise UnknownWork
    strides, dilations = call.ints(first + padding_first, rank), call.ints(first + 2, rank)
    padding = _padding(call, first + (not padding_first), weight[2:], dilations)
    group = call.ints(groups, 1)[0]
    if min(strides, default=1) < 1 or group < 1:
        raise UnknownWork
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
        raise UnknownWork
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
        raise UnknownWork
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
) -> OpWork:
    """Return the work of attention on tensors with the axes (batch, heads, rows, d).

    With `heads_last` the axes are (batch, rows, heads, d). `causal` and `lengths` are positions: where the call has the
    argument for a causal mask, and the argument for the lengths of sequences. `aligned` is where the operation aligns
    its mask.
    """
    first = int(backward)
    q, k, v = (call.tensor(first + step) for step in range(3))
    ragged = lengths is not None and call.has(lengths)
    if not len(q) == len(k) == len(v) == 4 or ragged:  # noqa: PLR2004 - batch, heads, rows, columns
        raise UnknownWork
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


def _binary(call: OpCall, each: int) -> OpWork:
    a = call.tensor(0)
    b = call.tensor(1) if call.has(1) else ()
    written = a if call.name.endswith("_") else _stretched(a, b)
    rule = f"{each} per result of {call.name}"
    return OpWork("element by element", each * prod(written), call.moved(prod(written)), rule, vector=True)


def _stretched(a: Dims, b: Dims) -> Dims:
    width = max(len(a), len(b))
    pairs = list(zip((1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b, strict=True))
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise UnknownWork
    return tuple(n if m == 1 else m for m, n in pairs)


def _unary(call: OpCall, function: str) -> OpWork:
    n = prod(call.tensor(0))
    each = evaluate(sum(count for _, _, count in UNARY[function]), _TEXTBOOK)
    rule = f"{each} per result of {call.name} ({function})"
    return OpWork("element by element", each * n, call.moved(n), rule, vector=True)


def _gelu(call: OpCall) -> OpWork:
    work = _unary(call, "gelu_tanh" if call.value(1) == "tanh" else "gelu_erf")
    return work if call.values is not None else work._replace(assumed=Assumption.ERF)


def _layer_norm(call: OpCall) -> OpWork:
    x = call.tensor(0)
    affine = call.has(2)
    width = prod(call.tensor(2) if affine else call.all_ints(1) or x[-1:])
    graph = Graph()
    graph.layernorm(graph.input("x", (max(prod(x) // max(width, 1), 1), max(width, 1)), "fp32"), affine=affine)
    flops = int(graph.count("flops")) if prod(x) else 0
    rule = f"{8 if affine else 6} per element and 3 per row of {call.name}"
    return OpWork("normalisation", flops, call.moved(prod(x)), rule, vector=True)


def _softmax(call: OpCall) -> OpWork:
    n = prod(call.tensor(0))
    each = _TEXTBOOK["@softmax"]
    return OpWork("softmax", each * n, call.moved(n), f"{each} per element of {call.name}", vector=True)


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
        raise UnknownWork
    found = prod(rows) * prod(size for at, size in enumerate(table) if at != axis % len(table))
    size, width = call.itemsize(0), call.itemsize(index)
    moved = None if size is None or width is None else 2 * found * size + prod(rows) * width
    return OpWork("look-up", 0, moved, f"{call.name} computes nothing")


def _joined(call: OpCall) -> OpWork:
    call.tensors(0)
    # A list of tensors is recorded with one type for the list, not with the dtype of its tensors.
    return OpWork("copy", 0, None, f"{call.name} computes nothing")


_Formulas: TypeAlias = "Mapping[str, Callable[[OpCall], OpWork]]"

_MATRIX: Final[_Formulas] = {
    **dict.fromkeys(("aten::mm", "aten::bmm"), partial(_product, left=0)),
    **dict.fromkeys(("aten::addmm", "aten::_addmm_activation", "aten::baddbmm"), partial(_product, left=1)),
    "aten::_int_mm": partial(_product, left=0, result=4),
    "aten::_scaled_mm": _scaled_product,
    **dict.fromkeys(("aten::mv", "aten::dot"), partial(_times_vector, left=0)),
    "aten::addmv": partial(_times_vector, left=1),
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
        _attention, causal=8, heads_last=True, lengths=3, aligned=CausalMask.BOTTOM_RIGHT
    ),
    "aten::_efficient_attention_forward": partial(_attention, causal=9, heads_last=True, lengths=4),
    "flash_attn::_flash_attn_forward": partial(_attention, causal=5, heads_last=True, aligned=CausalMask.BOTTOM_RIGHT),
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
        *((w, partial(_binary, each=evaluate(BINARY[f], _TEXTBOOK))) for w, f in _PAIRS.items()),
    )
}
_ARGUMENTS: Final[Mapping[str, int]] = {
    **{f"aten::{word}": 2 for word in ("mm", "bmm", "_int_mm", "mv", "dot")},
    **{f"aten::{word}": 5 for word in ("addmm", "baddbmm", "addmv", "native_layer_norm", "embedding")},
    "aten::_addmm_activation": 6,
    "aten::_scaled_mm": 8,
    **{f"aten::{word}": 1 for word in _FUNCTIONS},
    **{f"aten::{word}": 3 if word in {"add", "sub"} else 2 for word in _PAIRS},
    **{f"aten::{word}": 3 for word in ("_softmax", "_log_softmax", "index_select")},
    "aten::gelu": 2,
}
"""How many arguments an operation has before ``out=``."""
FORMULAS: Final[_Formulas] = {
    **_MATRIX,
    **_CONVOLUTIONS,
    **_ATTENTION,
    **_ELEMENTS,
    **dict.fromkeys(("aten::gelu", "aten::gelu_"), _gelu),
    "aten::native_layer_norm": _layer_norm,
    **dict.fromkeys(("aten::_softmax", "aten::_log_softmax"), _softmax),
    "aten::copy_": _copied,
    **dict.fromkeys(("aten::fill_", "aten::zero_"), _filled),
    "aten::index_select": partial(_looked_up, index=2),
    "aten::embedding": partial(_looked_up, index=1),
    "aten::cat": _joined,
}
"""Formula by operation."""

KEEPS_VALUES: Final = frozenset(
    {
        *_CONVOLUTIONS,
        *_ATTENTION,
        "aten::gelu",
        "aten::gelu_",
        "aten::index_select",
        "aten::native_layer_norm",
        "aten::_scaled_mm",
    }
)
"""Operations whose work depends on arguments that are not tensors."""
