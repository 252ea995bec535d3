"""A rule of work that the sizes of a call suggest, for a person to check."""

from __future__ import annotations

import glob
import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

from roofwidget.readers.kernel_families import kernel_family
from roofwidget.readers.torch.calls import Dims, NotEnoughArguments, OpCall
from roofwidget.readers.torch.compiled import computes_products
from roofwidget.readers.torch.forms import MATRIX_PRODUCT
from roofwidget.readers.torch.rules import Rule, built_in, rule_for, rule_line

_NO_OPERATION: Final = "the operation that ran the kernel"
_MAX_TENSORS: Final = 12
_PRODUCTS: Final = ("linear", "gemm")


def proposed_rule(call: OpCall) -> str | None:
    """Return a line of a file of rules for a call of unknown work, or None if its sizes suggest none.

    Examples
    --------
    >>> proposed_rule(OpCall("my::mlp", [[8192, 2880], [5120, 2880], [8192, 5120]], ["bf16"] * 3))
    '"my::mlp" = { op = "linear", x = 0, weight = 1, out = 2 }'
    """
    keys = _proposed(call)
    return None if keys is None else rule_line(glob.escape(call.name), keys)


def proposed_product_flops(call: OpCall) -> float:
    """Return the FLOPs of the matrix product that the proposed rule says; NaN if it says none.

    Examples
    --------
    >>> proposed_product_flops(OpCall("my::mlp", [[8192, 2880], [5120, 2880], [8192, 5120]], ["bf16"] * 3))
    241591910400
    """
    keys = _proposed(call)
    work = Rule(call.name, keys).work(call) if keys is not None and keys.get("op") in _PRODUCTS else None
    return math.nan if work is None or work.flops is None else work.flops


def _proposed(call: OpCall) -> Mapping[str, Any] | None:
    """Return the keys of the rule that the sizes of a call suggest."""
    try:
        tensors = {place: call.tensor(place) for place in range(len(call.dims)) if call.is_tensor(place)}
    except NotEnoughArguments:
        return None
    known = rule_for(built_in(), call.name)
    if known is not None and known.proposal is not None:
        return known.proposal
    if not computes_products(call.name):
        return None
    tensors = dict(list(tensors.items())[:_MAX_TENSORS])
    keys = _attention(tensors) or _product(tensors)
    return {"bytes": "tensors", "at_least": True} if keys is None and tensors else keys


def missing_for_kernel(name: str) -> str:
    """Return what is missing to know the work of a kernel without an operation."""
    known = rule_for(built_in(), name)
    return str(known.keys["missing"]) if known is not None and "missing" in known.keys else _NO_OPERATION


def proposed_for_kernel(name: str) -> str | None:
    """Return a line of a file of rules for a kernel without an operation, with "?" for what only a person knows.

    Examples
    --------
    >>> proposed_for_kernel("nvjet_hsh_128x256_64x4_2x1_v_bz_TNN")
    '"nvjet_hsh_128x256_64x4_2x1_v_bz_TNN" = { op = "gemm", m = "?", n = "?", k = "?" }'
    """
    known = rule_for(built_in(), name)
    keys = None if known is None else known.proposal
    if keys is None and kernel_family(name) == MATRIX_PRODUCT:
        keys = {"op": "gemm", "m": "?", "n": "?", "k": "?"}
    return None if keys is None else rule_line(glob.escape(name), keys)


def _attention(tensors: dict[int, Dims]) -> dict[str, Any] | None:
    """Return the rule of queries, keys and values: three tensors of rows, heads and columns in a row."""
    for q, k, v in zip(tensors, list(tensors)[1:], list(tensors)[2:], strict=False):
        sizes = [tensors[place] for place in (q, k, v)]
        if all(len(each) == 3 for each in sizes) and sizes[0][2] == sizes[1][2]:  # noqa: PLR2004 - rows, heads, columns
            heads, kv_heads = sizes[0][1], sizes[1][1]
            if kv_heads == sizes[2][1] and kv_heads and heads % kv_heads == 0 and sizes[1][0] == sizes[2][0]:
                return {"op": "attention", "q": q, "k": k, "v": v, "pairs": "step"}
    return None


def _product(tensors: dict[int, Dims]) -> dict[str, Any] | None:
    """Return the rule of two tensors that share an inner size. A tensor of the result's sizes makes it more likely."""
    found: list[tuple[bool, dict[str, Any]]] = []
    for first, second in combinations(tensors, 2):
        a, b = tensors[first], tensors[second]
        if len(a) < 2 or len(b) != 2 or a == b:  # noqa: PLR2004 - matrices
            continue
        forms = [(a[-1] == b[1], "linear", "x", "weight", b[0]), (a[-1] == b[0], "gemm", "a", "b", b[1])]
        for fits, op, left, right, columns in forms:
            if fits and a[-1] > 1 and (op == "linear" or len(a) == 2):  # noqa: PLR2004 - as above
                result = (*a[:-1], columns)
                others = [place for place, sizes in tensors.items() if place not in (first, second) and sizes == result]
                keys = {"op": op, left: first, right: second, **({"out": others[0]} if others else {})}
                found.append((bool(others), keys))
    return max(found, key=lambda one: one[0])[1] if found else None
