"""The dtypes of lists of tensors: a trace records none, but kernels and operations inside tell them.

The names of the kernels that walk over lists have the dtypes as arguments of a template, as in
``FusedAdamMathFunctor<float, 4, …>``, or the size of an element, as in ``CatArrayBatchedCopy<OpaqueType<2u>, …>``.
Where PyTorch runs an operation per tensor, the operations inside have dtypes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Bools
from roofwidget.readers.torch.calls import OpCall, precision_of
from roofwidget.readers.torch.events import Collected, WholeColumn
from roofwidget.readers.torch.nesting import Nest, Positions
from roofwidget.support.arrays import Integers

_OVER_LISTS: Final = ("aten::cat", "aten::_foreach_", "aten::_fused_ad", "aten::_fused_sgd", "aten::_amp_foreach_")
_JOINED: Final = re.compile(
    r"CatArrayBatchedCopy\w*<(?:at::native::(?:\(anonymous namespace\)::)?)?(?:OpaqueType<(\d+)u?>|([\w:]+)),"
)
_FUNCTOR: Final = re.compile(r"\b([A-Za-z]\w*Functor\w*)<([^()]{0,300})")
_ARGUMENT: Final = re.compile(r"[^,<>]+(?:<[^<>]*>)?")


def with_dtypes_of_lists(collected: Collected, nest: Nest, launched: Positions | None = None) -> None:
    """Give the calls of operations over lists the dtypes of their tensors, where something tells them.

    Parameters
    ----------
    collected
        The trace, whose calls and codes of calls change.
    nest
        The operations of the trace.
    launched
        The operation that launched each row on the device, or -1, shape (m,); None without a device.
    """
    calls = collected.calls
    codes = [code for code, call in enumerate(calls) if call.name.startswith(_OVER_LISTS) and _has_list(call)]
    if not codes:
        return
    call = collected.operations.call.integers()
    is_over_lists = np.isin(call, codes)
    found: dict[int, set[tuple[str, ...]]] = defaultdict(set)
    if launched is not None:
        _by_kernels(collected, launched, is_over_lists, found)
    _by_operations(calls, call, nest, is_over_lists, found)
    told = {operation: dtypes.pop() for operation, dtypes in found.items() if len(dtypes) == 1}
    if told:
        collected.operations.call = WholeColumn.of(_with_dtypes(calls, call, told))


def _by_kernels(
    collected: Collected, launched: Positions, is_over_lists: Bools, found: dict[int, set[tuple[str, ...]]]
) -> None:
    rows = np.flatnonzero((launched >= 0) & is_over_lists[launched])
    names = collected.names.values()
    pairs = np.unique(np.stack([launched[rows], collected.device.name.integers()[rows]]), axis=1)
    for operation, name in pairs.T.tolist():
        dtypes = dtypes_of_kernel(names[name])
        if dtypes:
            found[operation].add(dtypes)


def _by_operations(
    calls: list[OpCall], call: Integers, nest: Nest, is_over_lists: Bools, found: dict[int, set[tuple[str, ...]]]
) -> None:
    """Add the dtypes of operations inside on a tensor of the first list, where no kernel tells one."""
    inside = np.flatnonzero((nest.parent >= 0) & is_over_lists[nest.parent])
    by_kernels = set(found)
    for operation, code in np.unique(np.stack([nest.parent[inside], call[inside]]), axis=1).T.tolist():
        outer, inner = calls[call[operation]], calls[code]
        # Inside a fused step, only steps and learning rates are tensors of operations of their own.
        if operation in by_kernels or "foreach" not in outer.name or not inner.types or not inner.dims:
            continue
        listed = outer.dims[0]
        if _is_dtype(inner.types[0]) and isinstance(listed, (list, tuple)) and inner.dims[0] in listed:
            found[operation].add((str(inner.types[0]),))


def dtypes_of_kernel(name: str) -> tuple[str, ...]:
    """Return the dtypes of the lists over which a kernel walks, by its name; one if all have the same.

    Examples
    --------
    >>> dtypes_of_kernel("multi_tensor_apply_kernel<TensorListMetadata<1>, BinaryOpScalarFunctor<float, 1, 1, 0>, …>")
    ('float',)
    >>> dtypes_of_kernel("vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, 3>(int)")
    ()
    """
    joined = _JOINED.search(name)
    if joined is not None:
        dtype = f"OpaqueType<{joined[1]}>" if joined[1] else joined[2]
        return (dtype,) if _is_dtype(dtype) else ()
    functor = _FUNCTOR.search(name) if "multi_tensor_apply_kernel" in name else None
    if functor is None:
        return ()
    dtypes = []
    for argument in _ARGUMENT.findall(functor[2]):
        if not _is_dtype(argument.strip()):
            break
        dtypes.append(argument.strip())
    # The first dtype of mixed precision is that of the arithmetic; the others are those of the lists.
    if functor[1].endswith("MP"):
        return tuple(dtypes[1:])
    return tuple(dtypes) if functor[1] == "CopyFunctor" else tuple(dtypes[:1])


def _with_dtypes(calls: list[OpCall], call: Integers, told: dict[int, tuple[str, ...]]) -> Integers:
    """Return the codes of the calls of all operations, with new calls for those whose dtypes are told."""
    codes: dict[tuple[int, tuple[str, ...]], int] = {}
    changed = call.copy()
    for operation, dtypes in told.items():
        key = (int(call[operation]), dtypes)
        if key not in codes:
            codes[key] = len(calls)
            calls.append(_typed(calls[key[0]], dtypes))
        changed[operation] = codes[key]
    return changed


def _typed(call: OpCall, dtypes: tuple[str, ...]) -> OpCall:
    types = [*(call.types or ())]
    lists = [place for place in range(len(call.dims)) if call.is_list(place)]
    for order, place in enumerate(lists):
        if place < len(types):
            types[place] = dtypes[min(order, len(dtypes) - 1)]
    return replace(call, types=types)


def _has_list(call: OpCall) -> bool:
    return any(call.is_list(place) for place in range(len(call.dims)))


def _is_dtype(word: object) -> bool:
    return isinstance(word, str) and precision_of(word) is not None
