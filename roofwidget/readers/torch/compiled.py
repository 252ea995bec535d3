"""Triton kernels of PyTorch's compiler: what the compiler wrote about them, and what their names and pointers show.

An operation of the kernel's name lists all pointers of the kernel, in the order of its signature, and then its sizes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Final

from roofwidget.readers.torch.attention import UNKNOWN
from roofwidget.readers.torch.calls import Certainty, NotEnoughArguments, OpCall, OpWork, whole
from roofwidget.readers.torch.forms import MATRIX_PRODUCT
from roofwidget.readers.torch.formulas import SOFTMAX_GRADIENT, element_flops, gradient_flops
from roofwidget.workloads.convention import CONVENTIONS
from roofwidget.workloads.ops.elementwise import UNARY
from roofwidget.workloads.ops.normalisation import NORM_GRADIENTS

_TEXTBOOK: Final = CONVENTIONS["textbook"].environment
_KERNEL: Final = re.compile(r"triton_(poi|red|per|tem|for|mm|helion)?_?(?:fused_)?(.*)")
_MAX_NAME: Final = 1000
_MAX_TILED_AXES: Final = 3
_SIZES: Final = {"poi": 1, "red": 2, "per": 2}
_MAX_WORK: Final = 1e30
_GATHERED: Final = (
    f"{UNKNOWN}how many elements the kernel walks over is no argument, and of a larger pointer it may read few"
)
# Words of operations that consist of several words, with the FLOPs per element, longest first.
_PHRASES: Final[Mapping[str, int]] = {
    **dict.fromkeys(
        ("native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward"),
        sum(NORM_GRADIENTS["layer"]),
    ),
    "_log_softmax_backward_data": SOFTMAX_GRADIENT,
    "_softmax_backward_data": SOFTMAX_GRADIENT,
    "threshold_backward": gradient_flops("relu"),
    "gelu_backward": gradient_flops("gelu_erf"),
    **{f"{function}_backward": gradient_flops(function) for function in ("sigmoid", "tanh", "silu")},
    "native_layer_norm": 8,
    "native_group_norm": 8,
    "convert_element_type": 0,
    "constant_pad_nd": 0,
    "_unsafe_view": 0,
    "_log_softmax": _TEXTBOOK["@softmax"],
    "log_softmax": _TEXTBOOK["@softmax"],
    "_softmax": _TEXTBOOK["@softmax"],
    "_to_copy": 0,
    "clamp_min": 1,
    "clamp_max": 1,
    "index_put": 0,
    "index_select": 0,
}
_FUNCTIONS: Final[Mapping[str, str]] = {
    **{word: word for word in UNARY if "_" not in word},
    "neg": "negative",
    "abs": "absolute",
    "gelu": "gelu_erf",
}
_WORDS: Final[Mapping[str, int]] = {
    **{word: element_flops(name) for word, name in _FUNCTIONS.items()},
    **{word: element_flops(name) for word, name in {"sub": "subtract", "mul": "multiply"}.items()},
    **{word: element_flops(word) for word in ("add", "maximum", "minimum")},
    **dict.fromkeys(("div", "rsub", "pow", "sum", "mean", "amax", "amin", "max", "min", "prod", "clamp"), 1),
    **dict.fromkeys(("eq", "ne", "gt", "ge", "lt", "le"), 1),
    "softmax": _TEXTBOOK["@softmax"],
    "var": 3,
    "std": 4,
}
"""FLOPs per element of a word of a kernel's name."""


def is_compiled(name: str) -> bool:
    """Whether an operation is a Triton kernel of PyTorch's compiler."""
    return name.startswith("triton_")


def computes_products(name: str) -> bool:
    """Whether an operation may compute matrix products: element-by-element kernels and reductions do not."""
    return not is_compiled(name) or _kind(name)[0] not in _SIZES


def compiled_work(call: OpCall) -> OpWork | None:
    """Return the work that the compiler wrote, or None if it wrote none.

    Examples
    --------
    >>> work = compiled_work(OpCall("triton_poi_fused_add_0", (), metadata={"kernel_num_gb": 8.192e-06}))
    >>> work.flops, work.bytes, work.bytes_rule
    (None, 8192.0, 'kernel_num_gb of the op x 1e9')
    """
    flops, gigabytes = (_amount(call, key) for key in ("kernel_flop", "kernel_num_gb"))
    if flops is None and gigabytes is None:
        return None
    return OpWork(
        _family(_kind(call.name)[0]),
        flops,
        None if gigabytes is None else round(gigabytes * 1e9, 3),
        "kernel_flop of the op" if flops is not None else "",
        vector=_kind(call.name)[0] in _SIZES,
        bytes_rule="kernel_num_gb of the op x 1e9" if gigabytes is not None else "",
    )


def estimated_work(call: OpCall) -> OpWork | None:
    """Return what the name and the pointers of a Triton kernel show, or None for another operation.

    The bytes of each pointer once are a lower bound: the trace does not tell which pointers are read and written. They
    are an estimate where a pointer has more elements than the kernel walks over, so that it is gathered from, and
    without sizes among the arguments: then only pointers of equally many elements show how many these are, and the
    kernel may read a slice. The name has each word once: FLOPs are an estimate.
    """
    if not is_compiled(call.name) or not call.dims:
        return None
    kind, words = _kind(call.name)
    try:
        elements = [
            (prod(call.tensor(place)), call.itemsize(place))
            for place in range(len(call.dims))
            if call.is_tensor(place) and call.dims[place]
        ]
        extent = _extent(call, kind)
        moved = _moved(elements, extent)
        if kind == "tem":
            return _template(call, words, moved)
    except NotEnoughArguments:
        return None
    if not elements:
        return None
    # Of a pointer to more elements than the kernel walks over it may read the same ones, or a slice.
    is_whole = extent is not None and all(size <= extent for size, _ in elements)
    why = "lower bound: which pointers are read and written" if is_whole else "how much of each the kernel reads"
    rule = f"estimated: each pointer once ({why} is not in the trace)"
    if kind in _SIZES and extent is None and len({count for count, _ in elements}) > 1:
        moved, rule = None, _GATHERED
    are = Certainty.AT_LEAST if is_whole else Certainty.ESTIMATE
    work = OpWork(_family(kind), None, moved, "", vector=True, bytes_rule=rule, bytes_are=are)
    found = _flops_of_words(words) if kind in _SIZES else None
    if found is None:
        return work
    each, named = found
    count = extent if extent is not None else max(size for size, _ in elements)
    named_words = f"{', '.join(named)}: {each} per element" if named else "no arithmetic"
    rule = f"estimated from the name, each word once: {named_words}"
    return work._replace(flops=each * count, rule=rule, flops_are=Certainty.ESTIMATE)


def _amount(call: OpCall, key: str) -> float | None:
    value = (call.metadata or {}).get(key)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Zero means that the compiler did not count.
    return value if is_number and 0 < value <= _MAX_WORK else None  # type: ignore[operator, return-value]  # a number


def _kind(name: str) -> tuple[str, str]:
    """Return the kind of kernel, such as ``poi``, and the words of its name."""
    found = _KERNEL.fullmatch(name[:_MAX_NAME])
    return (found[1] or "", found[2].rstrip("0123456789").removesuffix("_")) if found else ("", "")


def _family(kind: str) -> str:
    return {"tem": MATRIX_PRODUCT, "red": "reduction", "per": "reduction"}.get(kind, "element by element")


def _extent(call: OpCall, kind: str) -> int | None:
    """Return the number of elements that the kernel walks over; None if the sizes are not arguments.

    The sizes are the last arguments: one of an element-by-element kernel, or one for each axis of its tiles. So as many
    count as reach the elements of the last pointer, which such a kernel writes.
    """
    count = _SIZES.get(kind)
    sizes = [whole(call.value(place)) for place in range(len(call.dims)) if not call.is_tensor(place)]
    if count is None or len(sizes) < count:
        return None
    found = [size if size is not None and size >= 0 else None for size in sizes]
    if kind == "poi" and len(found) > 1:
        pointers = [place for place in range(len(call.dims)) if call.is_tensor(place) and call.dims[place]]
        written = prod(call.tensor(pointers[-1])) if pointers else 0
        tails = (found[-axes:] for axes in range(1, min(len(found), _MAX_TILED_AXES) + 1))
        products = (prod(size for size in tail if size is not None) for tail in tails if None not in tail)
        return next((extent for extent in products if extent >= written), None)
    tail = [size for size in found[-count:] if size is not None]
    return prod(tail) if len(tail) == count else None


def _moved(elements: list[tuple[int, int | None]], extent: int | None) -> int | None:
    """Return the bytes of each pointer once. A pointer to more elements than the kernel walks over is gathered from."""
    moved = 0
    for count, size in elements:
        if size is None:
            return None
        moved += size * (count if extent is None else min(count, extent))
    return moved


def _flops_of_words(words: str) -> tuple[int, list[str]] | None:
    """Return the FLOPs per element and the words that have some; None if the name has no words."""
    if not words:
        return None
    each, named, rest = 0, [], f"_{words}_"
    for phrase, count in _PHRASES.items():
        if f"_{phrase}_" in rest:
            rest = rest.replace(f"_{phrase}_", "_")
            each += count
            named += [phrase] * (count > 0)
    for word in dict.fromkeys(rest.split("_")):
        if _WORDS.get(word):
            each += _WORDS[word]
            named.append(word)
    return each, named


def _template(call: OpCall, words: str, moved: int | None) -> OpWork:
    """Return the work of a template: a product of the first two tensors if their inner sizes agree."""
    if "attention" in words:
        missing = "the mask of flex attention, which is not in the trace"
        return OpWork("attention", None, None, UNKNOWN + missing, missing=missing)
    a, b = call.tensor(0), call.tensor(1)
    if len(a) < 2 or len(a) != len(b) or a[-1] != b[-2] or a[:-2] != b[:-2]:  # noqa: PLR2004 - two axes
        raise NotEnoughArguments
    rule = f"estimated: 2 M N K of the first two tensors of {call.name}"
    pointers = "estimated: each pointer once"
    flops = 2 * prod(a) * b[-1]
    return OpWork(MATRIX_PRODUCT, flops, moved, rule, bytes_rule=pointers, flops_are=Certainty.ESTIMATE)
