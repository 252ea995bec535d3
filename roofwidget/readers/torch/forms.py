"""Forms of work: what products, attention, norms and the like compute and move, from the arguments that a rule names.

A rule of `roofwidget.readers.torch.rules` names a form with ``op`` and gives the form its keys. A form returns the work
of one call. The text of its rule has the formula and its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from typing import Final, NamedTuple

from roofwidget.readers.torch.attention import UNKNOWN, attention
from roofwidget.readers.torch.calls import Certainty, Dims, NotEnoughArguments, OpWork, itemsize_of, whole
from roofwidget.readers.torch.given import (
    Given,
    Key,
    Number,
    RuleError,
    bits,
    exact,
    itemsize_of_scalar_type,
    times,
    total,
)
from roofwidget.workloads.convention import CONVENTIONS
from roofwidget.workloads.expressions import evaluate, touched
from roofwidget.workloads.ops.convolution import adaptive_windows
from roofwidget.workloads.ops.elementwise import UNARY
from roofwidget.workloads.ops.optimizers import OPTIONS, STEPS

MATRIX_PRODUCT: Final = "matrix product"
"""The family of products of matrices, and of a matrix and a vector."""

_TEXTBOOK: Final = CONVENTIONS["textbook"].environment


class Form(NamedTuple):
    """A form: the function that counts, and its keys."""

    work: Callable[[Given], OpWork]
    keys: Mapping[str, Key]


# -- products ------------------------------------------------------------------------------------------------------

_PRODUCT_KEYS: Final = {
    "bias": Key.INPUT,
    "scales": Key.INPUTS,
    "out": Key.INPUT,
    "result": Key.INPUT,
    "result_bytes": Key.AMOUNT,
    "packed": Key.AMOUNT,
    "weight_bits": Key.AMOUNT,
}


def _gemm(given: Given) -> OpWork:
    """Multiply M x K by K x N, with the sizes of the inputs or typed ones."""
    if {"m", "n", "k"} <= given.keys.keys():
        batch = given.count("batch", 1)
        return _product(given, batch, (given.count("m"), given.count("n"), given.count("k")), ("a", "b"))
    a, b = given.tensor("a"), given.tensor("b")
    if given.is_on("find_n"):
        return _product(given, 1, (prod(a[:-1]), _found_n(given, prod(a[:-1]), a[-1]), a[-1]), ("a", "b"))
    # A library of column-major matrices sees each tensor transposed.
    as_written = not given.is_on("column_major")
    if bool(given.is_on("transpose_a")) is as_written:
        a = (*a[:-2], *a[-2:][::-1])
    if bool(given.is_on("transpose_b")) is as_written:
        b = (*b[:-2], *b[-2:][::-1])
    if len(a) < 2 or len(b) < 2 or (len(b) > 2 and a[:-2] != b[:-2]):  # noqa: PLR2004 - two axes
        raise RuleError(f"{_two(given, 'a', 'b')} are no matrices that multiply")
    if a[-1] != b[-2] and "n" not in given:
        raise RuleError(f"{_two(given, 'a', 'b')} have the inner sizes {a[-1]} and {b[-2]}, which must be equal")
    n = given.count("n") if "n" in given else b[-1]
    return _product(given, prod(a[:-2]), (a[-2], n, a[-1]), ("a", "b"))


def _found_n(given: Given, m: int, k: int) -> int:
    """Return the N between M and K among the arguments: the place of the three sizes differs between versions."""
    numbers = [given.call.value(place) for place in range(len(given.call.values or ()))]
    for first, n, last in zip(numbers, numbers[1:], numbers[2:], strict=False):
        found = whole(n)
        if (first, last) == (str(m), str(k)) and found is not None and found >= 0:
            return found
    raise NotEnoughArguments(f"no arguments M, N, K with M = {m} and K = {k} were recorded")


def _linear(given: Given) -> OpWork:
    """Multiply rows x of K by a weight of N x K."""
    x, weight = given.tensor("x"), given.tensor("weight", 2)
    if x[-1:] != weight[-1:]:
        raise RuleError(f"{_two(given, 'x', 'weight')} have {x[-1:]} and {weight[-1:]} as last size; K must be equal")
    return _product(given, 1, (prod(x[:-1]), weight[0], x[-1]), ("x", "weight"))


def _product(given: Given, batch: int, sizes: tuple[int, int, int], operands: tuple[str, str]) -> OpWork:
    m, n, k = sizes
    left, right = operands
    k *= _packed_elements(given, left)
    weight: Number | None = given.read(right) if right in given else times(batch * n * k, _typed_itemsize(given))
    if "weight_bits" in given:
        weight = bits(batch * n * k, given.amount("weight_bits"))
    x: Number | None = given.read(left) if left in given else times(batch * m * k, _typed_itemsize(given))
    moved = total([x, weight, given.read("bias", "scales"), times(batch * m * n, _result_itemsize(given, left))])
    letters, numbers = ("2 B M N K", [2, batch, m, n, k]) if batch != 1 else ("2 M N K", [2, m, n, k])
    rule = f"{letters} = {_product_text(numbers)}"
    lists = given.has_list("scales")
    return OpWork(
        MATRIX_PRODUCT,
        2 * batch * m * n * k,
        moved,
        rule,
        bytes_rule=f"operands and result once{' (lower bound: lists of scales have no dtype)' if lists else ''}",
        bytes_are=Certainty.AT_LEAST if lists else Certainty.EXACT,
        precision=_precision(given, left),
    )


def _precision(given: Given, operand: str) -> str | None:
    """Return the precision of a product: that of its left operand, which may be stored as unsigned bytes."""
    if not given.has(operand):
        return None
    place = given.place(operand)
    types, found = given.call.types or (), given.call.precision(place)
    if given.itemsize(operand) == 1 and _packed_elements(given, operand) == _FP4_PER_BYTE:
        return "fp4"
    # Kernels of int8 take signed bytes. Unsigned bytes are a view of fp8, as in Transformer Engine.
    return "fp8" if place < len(types) and types[place] == "unsigned char" else found


_FP4_PER_BYTE: Final = 2


def _packed_elements(given: Given, operand: str) -> int:
    """Return how many elements a byte of the operands has."""
    is_fp4 = operand in given and given.call.precision(given.place(operand)) == "fp4"
    return given.count("packed", 2 if is_fp4 else 1)


def _typed_itemsize(given: Given) -> int | None:
    return itemsize_of(given.keys["precision"]) if "precision" in given else None


def _result_itemsize(given: Given, like: str) -> int | None:
    """Return the bytes of an element of the result: typed, of its tensor, by its ScalarType, or of the operand.

    One-byte operands have a result of two bytes if nothing says more.
    """
    if "result_bytes" in given:
        return given.count("result_bytes")
    if given.has("out"):
        return given.itemsize("out")
    size = itemsize_of_scalar_type(given.whole("result"))
    if size is not None:
        return size
    size = given.itemsize(like) if like in given else _typed_itemsize(given)
    return 2 if size == 1 else size


def _grouped(given: Given) -> OpWork:
    """Multiply the rows of each group by the matrix of the group; offsets on the device say which rows are whose."""
    a, b = given.tensor("a", 2, 3), given.tensor("b", 2, 3)
    swapped = (*b[:-2], b[-1], b[-2])
    if given.is_on("weight_nk"):
        b = swapped
    elif given.is_on("weight_nk_or_kn") and b[-1] == a[-1]:
        if b[-2] == a[-1]:
            raise NotEnoughArguments("which of two equal axes of the weights is K")
        b = swapped
    if a[-1] != b[-2]:
        raise RuleError(f"{_two(given, 'a', 'b')} have the inner sizes {a[-1]} and {b[-2]}, which must be equal")
    # The groups share the rows of `a`, its columns K, or the columns of `b`; an operand of three axes is not shared.
    products = a[-2] * b[-1] * a[-1]
    written = a[-2] * b[-1]
    if len(a) == len(b) == 3:  # noqa: PLR2004 - an axis of groups
        products, written = a[0] * products, a[0] * written
    elif len(a) == len(b):
        written *= given.tensor("offsets", 1)[0] if given.has("offsets") else 1
    read = given.read("a", "b", "scales", "offsets", "bias")
    moved = total([read, times(written, _result_itemsize(given, "a"))])
    note = "" if len(a) == len(b) == 3 else ", if the offsets cover all rows"  # noqa: PLR2004 - as above
    rule = f"2 M N K of all groups = 2 x {products}{note}"
    # Rows past the last offset, and groups without rows, cost nothing.
    are = Certainty.ESTIMATE if note else Certainty.EXACT
    return OpWork(
        MATRIX_PRODUCT,
        2 * products,
        moved,
        rule,
        bytes_rule="operands and result once, all groups used",
        flops_are=are,
        bytes_are=are,
        precision=_precision(given, "a"),
    )


def _two(given: Given, first: str, second: str) -> str:
    return f"{first} = {given.keys.get(first)} and {second} = {given.keys.get(second)}"


def _product_text(numbers: list[int] | list[Number]) -> str:
    return " x ".join(f"{number:g}" if isinstance(number, float) else str(number) for number in numbers)


# -- mixture of experts --------------------------------------------------------------------------------------------


def _moe(given: Given) -> OpWork:
    """Count the products of each token with the weights of its experts: 6 T k D F with a gate, else 4 T k D F."""
    x = given.tensor("x")
    tokens = given.count("tokens", prod(x[:-1]))
    d, ffn, products, experts = _expert_sizes(given, x)
    active = given.tensor("ids")[-1] if given.has("ids") else given.count("active")
    flops = 2 * products * tokens * active * d * ffn
    weight: Number | None
    item = given.itemsize("w1") if given.has("w1") else None
    if "weight_bits" in given:
        weight = bits(products * d * ffn, given.amount("weight_bits"))
    else:
        packed = given.count("packed", 1)
        weight = None if item is None else exact(Fraction(products * d * ffn * item, packed))
    if "touched" in given:
        used: Number | None = given.amount("touched")
        how = f"{used} experts by the rule"
    elif experts is None:
        used, how = None, ""
    else:
        used = _used(experts, active, tokens)
        how = f"{used} of {experts} experts, the mean of random routing (at most {min(experts, tokens * active)})"
    x_item = given.itemsize("x")
    stage = given.word("stage", ("all", "1", "2"), "all")
    wide = active * ffn
    read, written = {"all": (d, d), "1": (d, wide), "2": (wide, d)}[stage]
    result = times(tokens * written, _result_itemsize(given, "x"))
    moved = total([times(tokens * read, x_item), result, times(used, weight)])
    rule = f"{2 * products} T k D F = {_product_text([2 * products, tokens, active, d, ffn])}"
    are = Certainty.EXACT if "touched" in given or experts == used else Certainty.ESTIMATE
    return OpWork(
        "mixture of experts",
        flops,
        moved,
        rule,
        bytes_rule=f"x and result once, weights of {how}" if moved is not None else "",
        bytes_are=are,
        precision=_precision(given, "x"),
    )


def _expert_sizes(given: Given, x: Dims) -> tuple[int, int, int, int | None]:
    """Return D, F, the number of products of a token and an expert, and the number of experts or None."""
    stage = given.word("stage", ("all", "1", "2"), "all")
    products = {"all": 3, "1": 2, "2": 1}[stage]
    if given.has("w1") and given.has("w2"):
        w1, w2 = given.tensor("w1", 3), given.tensor("w2", 3)
        packed = given.count("packed", 1)
        d, ffn = w1[2] * packed, w2[2] * packed
        gated = w1[1] == 2 * ffn
        if not gated and w1[1] != ffn:
            raise RuleError(f"{_two(given, 'w1', 'w2')} have the sizes {list(w1)} and {list(w2)}, which do not fit")
        if stage == "1":
            products = 2 if gated else 1
        return d, ffn, products if gated or stage != "all" else 2, w1[0]
    gated = given.is_on("gated", otherwise=True) is not False
    experts = given.count("experts") if "experts" in given else None
    return given.count("d", x[-1]), given.count("ffn"), products if gated or stage == "2" else products - 1, experts


def _used(experts: int, active: int, tokens: int) -> int:
    """Return the mean number of experts that random routing uses, rounded to a whole number."""
    return int(evaluate(touched(1, experts, min(active, experts), tokens), {})) if experts else 0


def _expert_product(given: Given) -> OpWork:
    """Multiply the rows of tokens, each k times, by the matrices of their experts: 2 T k N K."""
    a, b, ids = given.tensor("a", 2, 3), given.tensor("b", 3), given.tensor("ids", 2)
    pairs, (experts, n, k) = prod(ids), b
    flops = 2 * pairs * n * k
    item = given.itemsize("b")
    used = _used(experts, ids[1], ids[0])
    moved = total(
        [given.read("a"), times(used * n * k, item), times(pairs * n, _result_itemsize(given, "a")), given.read("ids")]
    )
    rule = f"2 T k N K = {_product_text([2, ids[0], ids[1], n, k])}"
    if a[-1] * given.count("packed", 1) != k:
        raise RuleError(f"{_two(given, 'a', 'b')} have the last sizes {a[-1]} and {k}, which must be equal")
    how = f"operands and result once, weights of {used} of {experts} experts, the mean of random routing"
    are = Certainty.EXACT if used == experts else Certainty.ESTIMATE
    precision = _precision(given, "a")
    return OpWork("mixture of experts", flops, moved, rule, bytes_rule=how, bytes_are=are, precision=precision)


# -- work per element ----------------------------------------------------------------------------------------------


def _norm(given: Given) -> OpWork:
    """Count 4 T D + 3 T of an RMS norm, 8 T D + 3 T of a layer norm; a residual adds 1 each, quantising 2 or 3."""
    x = given.tensor("x")
    n = prod(x)
    width = given.count("width") if "width" in given else prod(given.tensor("weight")) if given.has("weight") else x[-1]
    rows = n // max(width, 1)
    is_layer = given.word("kind", ("rms", "layer"), "rms") == "layer"
    each = 8 if is_layer else 4
    if not given.has("weight"):
        each -= 2 if is_layer else 1
    added = given.has("residual")
    quantised = {"none": 0, "static": 2, "dynamic": 3}[given.word("quantised", ("none", "static", "dynamic"), "none")]
    flops = n * (each + added + quantised) + 3 * rows
    written = total([_written(given, n), times(n if added else 0, given.itemsize("x"))])
    moved = total([given.read("x", "weight", "bias", "residual", "scales"), written])
    rule = f"{each + added + quantised} T D + 3 T, T = {rows}, D = {width}"
    return OpWork("normalisation", flops, moved, rule, vector=True, bytes_rule="inputs read, results written")


def _written(given: Given, n: int) -> int | None:
    """Return the bytes of the result: of the tensor ``out``, or n elements like x."""
    found: int | None = given.read("out") if given.has("out") else times(n, given.itemsize("x"))
    return found


def _activation(given: Given) -> OpWork:
    """Apply a function to each element; with a gate, to the first half of each row, times the second half."""
    x = given.tensor("x")
    function = given.word("function", UNARY, "silu")
    each = evaluate(sum(count for _, _, count in UNARY[function]), _TEXTBOOK)
    gated = given.is_on("gated")
    results = prod(x) // 2 if gated else prod(x)
    each += 1 if gated else 0
    each += {"none": 0, "static": 2, "dynamic": 3}[given.word("quantised", ("none", "static", "dynamic"), "none")]
    moved = total([given.read("x", "scales"), _written(given, results)])
    rule = f"{each} per result ({function}{', times the gate' if gated else ''})"
    return OpWork("element by element", each * results, moved, rule, vector=True, bytes_rule="inputs and result once")


def _rotary(given: Given) -> OpWork:
    """Rotate pairs of columns of q and k: 6 FLOPs a pair, in place."""
    rows = prod(given.tensor("positions"))
    table = given.tensor("table")
    columns = table[-1]
    q = given.tensor("q")
    head = given.whole("head_size") or (given.count("d") if "d" in given else q[-1] if len(q) > 2 else None)  # noqa: PLR2004 - heads have an axis
    if head is None:
        raise NotEnoughArguments("the size of a head was not recorded")
    if not 0 < columns <= head:
        raise RuleError(f"the table has {columns} columns, and a head has {head}")
    elements = [prod(given.call.tensor(place)) for place in given.places("q", "k")]
    rotated = sum(elements) * columns // head
    moved = total(
        [
            times(2 * rotated, given.itemsize("q")),
            times(rows * columns, given.itemsize("table")),
            given.read("positions"),
        ]
    )
    rule = f"3 per rotated element of q and k: {rotated}"
    return OpWork(
        "element by element",
        3 * rotated,
        moved,
        rule,
        vector=True,
        bytes_rule=f"rotated columns read and written, {rows} rows of the table, positions",
    )


def _cache(given: Given) -> OpWork:
    """Copy rows of keys and values to the rows of a cache."""
    parts = [given.call.tensor(place) for place in given.places("rows")]
    if not parts:
        raise RuleError(f"rows = {given.keys.get('rows')}: none of these inputs is a tensor")
    first = given.places("rows")[0]
    tokens = parts[0][0] if parts[0] else 1
    slots = prod(given.tensor("slots")) if given.has("slots") else tokens
    moved_rows = min(slots, tokens)
    slots_read = ", and their slots" if given.has("slots") else ""
    elements = sum(prod(sizes) for sizes in parts) // max(tokens, 1) * moved_rows
    item = given.call.itemsize(first)
    out_item = given.itemsize("cache") if given.has("cache") else item
    moved = total([times(elements, item), times(elements, out_item), given.read("slots")])
    return OpWork("copy", 0, moved, "copies rows", bytes_rule=f"{moved_rows} rows read and written{slots_read}")


def _quantise(given: Given) -> OpWork:
    """Scale and round each element: 2 FLOPs, and 1 for the maximum if the scales are computed."""
    x = given.tensor("x")
    n = prod(x)
    dynamic = given.is_on("dynamic")
    twice = given.is_on("whole_tensor")
    read = given.read("x")
    written = given.read("out") if given.has("out") else n
    moved = total([read, read if twice else 0, written, given.read("scales")])
    rule = f"{3 if dynamic else 2} per element (scale, clamp{', maximum' if dynamic else ''})"
    note = "x read twice, " if twice else ""
    return OpWork(
        "element by element",
        (3 if dynamic else 2) * n,
        moved,
        rule,
        vector=True,
        bytes_rule=f"{note}inputs and result once",
    )


def _softmax(given: Given) -> OpWork:
    """Count 5 per element of a softmax over the rows of x, with the bytes of all tensors once."""
    n = prod(given.tensor("x"))
    each = _TEXTBOOK["@softmax"]
    return OpWork(
        "softmax", each * n, _all_tensors(given), f"{each} per element", vector=True, bytes_rule="each tensor once"
    )


def _elements(given: Given) -> OpWork:
    """Count a number of FLOPs per element of x, a tensor or a list; tensors move as `moved` says."""
    n = given.elements("x")
    each = given.amount("each") + (1 if _has_factor(given) else 0)
    flops = exact(Fraction(each) * n)
    rule, results = f"{each:g} per element of input {given.place('x')}", 0
    if "each_tensor" in given:
        results = len(given.call.tensors(given.place("x"))) if given.call.is_list(given.place("x")) else 1
        flops += given.count("each_tensor") * results
        rule += f", {given.count('each_tensor')} per tensor"
    moved, how = _once(given)
    return OpWork(
        given.keys.get("family", "element by element"),
        flops,
        total([moved, times(results, _result_itemsize(given, "x"))]) if results else moved,
        rule,
        vector=True,
        bytes_rule=how,
        flops_are=_unless_options(given, "factor"),
    )


def _has_factor(given: Given) -> bool:
    """Whether the factor at the position `factor` is another number than 1, or on the device."""
    if "factor" not in given:
        return False
    position = given.place("factor")
    factors = re.findall(r"[^\s,\[\]]+", given.call.value(position))
    return given.call.is_tensor(position) or any(factor not in ("1", "1.") for factor in factors)


def _unless_options(given: Given, *keys: str) -> Certainty:
    """Return that FLOPs are a lower bound if a rule reads arguments that were not recorded, else exact."""
    reads_options = not given.keys.keys().isdisjoint(keys)
    return Certainty.AT_LEAST if reads_options and given.call.values is None else Certainty.EXACT


def _moved(given: Given) -> OpWork:
    """Move tensors, or lists of them, without arithmetic: those of `read` and of `written`, or each tensor once."""
    moved, how = _once(given)
    return OpWork("copy", 0, moved, "computes nothing", bytes_rule=how)


def _once(given: Given) -> tuple[int | None, str]:
    """Return the bytes of the inputs that are read and written, else of all tensors, and what they are."""
    if "read" not in given and "written" not in given:
        return _all_tensors(given), "each tensor once"
    return _of_lists(given, "read", "written")


def _of_lists(given: Given, *keys: str) -> tuple[int | None, str]:
    """Return the bytes of inputs that may be lists of tensors, and what they are or why they are unknown."""
    moved = given.bytes_of_lists(*keys)
    return moved, UNKNOWN + _LIST_DTYPE if moved is None else "inputs read, results written"


_LIST_DTYPE: Final = (
    "the dtype of the tensors: a trace has none for lists, and neither the names of the kernels nor operations inside "
    "tell it; a rule with bytes gives them"
)

# -- optimizers ----------------------------------------------------------------------------------------------------


def _optimizer(given: Given) -> OpWork:
    """Count a step of an optimizer over lists of parameters: Adam 13 FLOPs per parameter, Adagrad 7, SGD 2 or 4."""
    n = given.elements("x")
    kind = given.word("kind", STEPS, "adam")
    # The first step of SGD copies the gradient to the momentum.
    momentum = kind == "sgd" and given.has_list("moments") and not given.is_on("first_step")
    options = {
        "momentum": momentum,
        "dampening": momentum and given.is_other_than_zero("dampening"),
        "nesterov": given.is_on("nesterov"),
        "decay": given.is_other_than_zero("decay"),
        "largest": given.has_list("largest_moments"),
        "maximize": given.is_on("maximize"),
        "scale": given.has("gradient_scale"),
    }
    terms = [(kind, STEPS[kind]), *((OPTIONS[key][0], (OPTIONS[key],)) for key, is_on in options.items() if is_on)]
    counts = [evaluate(sum(count for *_, count in parts), _TEXTBOOK) for _, parts in terms]
    each, words = sum(counts), [f"{word} {count}" for (word, _), count in zip(terms, counts, strict=True)]
    changed = ("x", "moments", "largest_moments", *(("gradients",) if given.has("gradient_scale") else ()))
    moved, how = _of_lists(given, "x", "gradients", "moments", "largest_moments", *changed)
    are = _unless_options(given, "decay")
    missing = " (lower bound: weight decay and other options are not in the trace)" if are is Certainty.AT_LEAST else ""
    return OpWork(
        "optimizer",
        each * n,
        moved,
        f"{' + '.join(words)} per parameter{missing}",
        vector=True,
        bytes_rule=how,
        flops_are=are,
    )


# -- pooling -------------------------------------------------------------------------------------------------------


def _pool(given: Given) -> OpWork:
    """Count a maximum or mean over windows: one operation less per window than elements, and a division for a mean."""
    x, axes = given.tensor("x"), given.count("axes")
    if len(x) not in (axes + 1, axes + 2):
        raise RuleError(f"x = {given.place('x')}: input {given.place('x')} has the sizes {list(x)}")
    is_maximum = given.word("kind", ("max", "mean"), "max") == "max"
    is_backward = "gradient" in given
    sides = x[-axes:]
    if is_backward:
        results = given.tensor("gradient", len(x))[-axes:]
    elif "output_size" in given:
        results = _sizes(given, "output_size", axes)
    else:
        results = _pooled_sizes(given, sides)
    if min(results) < 0:
        raise NotEnoughArguments
    planes = prod(x[:-axes])
    written = planes * prod(results)
    in_windows = 0 if is_maximum and is_backward else planes * _in_windows(given, sides, results)
    flops, rule = {
        (True, False): (in_windows - written, f"elements of windows - results = {in_windows} - {written}"),
        (False, False): (in_windows, f"elements of windows = {in_windows}"),
        (True, True): (written, f"1 per element of the gradient: {written}"),
        (False, True): (in_windows + written, f"elements of windows + results = {in_windows} + {written}"),
    }[is_maximum, is_backward]
    item = given.itemsize("x")
    read = given.read("gradient", "indices") if is_backward else given.read("x")
    positions = written * _POSITION_BYTES if is_maximum and not is_backward else 0
    moved = total([read, times(prod(x) if is_backward else written, item), positions])
    how = "gradient read, result written" if is_backward else "input read, results written"
    how += (", positions of the maxima read" if is_backward else " with their positions") if is_maximum else ""
    return OpWork("reduction", max(flops, 0), moved, rule, vector=True, bytes_rule=how)


# Positions of maxima are int64.
_POSITION_BYTES: Final = 8
_WINDOW: Final = "the size of the windows: arguments that PyTorch 2.1 and newer record with record_shapes=True"


def _sizes(given: Given, key: str, axes: int) -> Dims:
    """Return a size per axis from an argument that is a list or one number."""
    if not given.call.value(given.place(key)):
        raise NotEnoughArguments(_WINDOW)
    return given.call.ints(given.place(key), axes)


def _in_windows(given: Given, sides: Dims, results: Dims) -> int:
    """Return the number of elements in all windows of one plane, padding included."""
    if "kernel_size" in given:
        return prod(_sizes(given, "kernel_size", len(sides))) * prod(results)
    return prod(adaptive_windows(*axis) for axis in zip(sides, results, strict=True))


def _pooled_sizes(given: Given, sides: Dims) -> Dims:
    """Return the sizes of a result of pooling, as PyTorch computes them."""
    axes, call = len(sides), given.call
    kernel = _sizes(given, "kernel_size", axes)
    # Without a stride, windows do not overlap.
    stride = call.ints(given.place("stride"), axes) if call.all_ints(given.place("stride")) else kernel
    padding = call.ints(given.place("padding"), axes)
    dilation = call.ints(given.place("dilation"), axes) if "dilation" in given else (1,) * axes
    rounds_up = bool(given.is_on("ceil"))
    sizes = []
    for size, taps, step, edge, hole in zip(sides, kernel, stride, padding, dilation, strict=True):
        if min(taps, step, hole) < 1 or edge < 0:
            raise NotEnoughArguments
        length = (size + 2 * edge - hole * (taps - 1) - 1 + (step - 1 if rounds_up else 0)) // step + 1
        # The last window begins within the input or its left padding.
        length -= rounds_up and (length - 1) * step >= size + edge
        sizes.append(length)
    return tuple(sizes)


def _all_tensors(given: Given) -> int | None:
    call = given.call
    found: int | None = total(call.bytes_of(place) for place in range(len(call.dims)) if call.is_tensor(place))
    return found


# -- state space models --------------------------------------------------------------------------------------------


def _scan(given: Given) -> OpWork:
    """Count a selective scan: 9 B L D N, and 1 per element for the skip connection and for the gate each."""
    u, a = given.tensor("x"), given.tensor("states", 2)
    n = prod(u)
    skip, gate = given.has("skip"), given.has("gate")
    flops = 9 * n * a[1] + n * (skip + gate)
    read = given.read("x", "states", "read", "skip", "gate")
    # The state of each sequence is written at its end, and read where the sequence continues an earlier one.
    state = times(_sequences(given, u), prod(a), given.itemsize("state")) if given.has("state") else 0
    continues = given.has("initial")
    moved = total([read, times(n, given.itemsize("x")), state])
    rule = f"9 L D N{' + L D' * (skip + gate)}, L D = {n}, N = {a[1]}"
    how = "inputs and result once"
    if given.has("state"):
        how += ", the state of each sequence written"
        how += " (lower bound: which sequences continue is on the device)" if continues else ""
    are = Certainty.AT_LEAST if continues else Certainty.EXACT
    return OpWork("scan", flops, moved, rule, vector=True, bytes_rule=how, bytes_are=are)


def _sequences(given: Given, x: Dims) -> int | None:
    """Return the number of sequences: by their offsets, or else the first axis of a batch; None if nothing says."""
    if given.has("lengths"):
        return max(given.tensor("lengths", 1)[0] - 1, 0)
    return x[0] if len(x) == 3 else None  # noqa: PLR2004 - batch, columns, rows


def _short_convolution(given: Given) -> OpWork:
    """Count a convolution of each channel by itself: 2 FLOPs per result and weight."""
    x, weight = given.tensor("x"), given.tensor("weight", 2, 3)
    n, k = prod(x), weight[-1]
    # A step of decoding reads and writes the last k - 1 columns of each channel.
    has_state = given.has("state")
    state = times(2 * n * (k - 1), given.itemsize("state")) if has_state else 0
    moved = total([given.read("x", "weight", "bias"), times(n, given.itemsize("x")), state])
    rule = f"2 B C L k = 2 x {n} x {k}"
    how = f"input, weight and result once{f', {k - 1} columns of the state read and written' if has_state else ''}"
    return OpWork("convolution", 2 * n * k, moved, rule, vector=True, bytes_rule=how)


def _mamba2(given: Given) -> OpWork:
    """Count a chunked scan of Mamba 2 with its convolution: 2 T (G C N + H C P + 2 H N P)."""
    x, weight = given.tensor("x", 3), given.tensor("weight", 2, 3)
    heads = prod(given.tensor("heads"))
    chunk, p, groups = (given.whole(key) for key in ("chunk", "head_size", "groups"))
    if chunk is None or p is None or groups is None or groups < 1:
        raise NotEnoughArguments("the chunk, the head size or the number of groups was not recorded")
    rows, columns = x[0] * x[1], x[2]
    n = (columns - 2 * heads * p - heads) // (2 * groups)
    if n < 1:
        raise RuleError(f"{columns} columns are too few for {heads} heads of {p}")
    channels = heads * p + 2 * groups * n
    scan = 2 * rows * (groups * chunk * n + heads * chunk * p + 2 * heads * n * p)
    flops = scan + 2 * rows * channels * weight[-1]
    moved = total([given.read("x", "weight", "heads"), times(rows * heads * p, given.itemsize("x"))])
    rule = f"2 T (G C N + H C P + 2 H N P) + 2 T channels k, T = {rows}, N = {n}"
    return OpWork("scan", flops, moved, rule, bytes_rule="input, weight and result once")


def _unknown(given: Given) -> OpWork:
    """Say what is missing to know the work."""
    raise NotEnoughArguments(given.keys["missing"])


FORMS: Final[Mapping[str, Form]] = {
    "gemm": Form(
        _gemm,
        {
            "a": Key.INPUT,
            "b": Key.INPUT,
            "transpose_a": Key.FLAG_OR_INPUT,
            "transpose_b": Key.FLAG_OR_INPUT,
            "column_major": Key.FLAG,
            "find_n": Key.FLAG,
            "batch": Key.AMOUNT,
            "m": Key.AMOUNT,
            "n": Key.AMOUNT,
            "k": Key.AMOUNT,
            **_PRODUCT_KEYS,
        },
    ),
    "linear": Form(_linear, {"x": Key.INPUT, "weight": Key.INPUT, **_PRODUCT_KEYS}),
    "grouped": Form(
        _grouped,
        {
            "a": Key.INPUT,
            "b": Key.INPUT,
            "offsets": Key.INPUT,
            "weight_nk": Key.FLAG,
            "weight_nk_or_kn": Key.FLAG,
            **_PRODUCT_KEYS,
        },
    ),
    "attention": Form(
        attention,
        {
            **dict.fromkeys(
                ("q", "k", "v", "out", "lengths", "longest", "longest_keys", "gradient", "lse", "q_v"), Key.INPUT
            ),
            **dict.fromkeys(("cached", "window", "other_mask"), Key.INPUTS),
            **dict.fromkeys(("backward", "pool"), Key.FLAG),
            "pairs": Key.PAIRS,
            **dict.fromkeys(("keys", "out_columns", "kv_columns", "latent"), Key.AMOUNT),
            "causal": Key.FLAG_OR_INPUT,
            "windows": Key.AMOUNTS,
            "layout": Key.TEXT,
            "phase": Key.TEXT,
        },
    ),
    "moe": Form(
        _moe,
        {
            **dict.fromkeys(("x", "w1", "w2", "ids", "out", "result"), Key.INPUT),
            **dict.fromkeys(
                ("tokens", "active", "experts", "ffn", "d", "weight_bits", "packed", "touched", "result_bytes"),
                Key.AMOUNT,
            ),
            "gated": Key.FLAG,
            "stage": Key.TEXT,
        },
    ),
    "moe product": Form(
        _expert_product,
        {
            **dict.fromkeys(("a", "b", "ids", "out", "result"), Key.INPUT),
            "packed": Key.AMOUNT,
            "result_bytes": Key.AMOUNT,
        },
    ),
    "norm": Form(
        _norm,
        {
            **dict.fromkeys(("x", "weight", "bias", "residual", "out"), Key.INPUT),
            "scales": Key.INPUTS,
            "width": Key.AMOUNT,
            "kind": Key.TEXT,
            "quantised": Key.TEXT,
        },
    ),
    "activation": Form(
        _activation,
        {
            "x": Key.INPUT,
            "out": Key.INPUT,
            "scales": Key.INPUTS,
            "function": Key.TEXT,
            "gated": Key.FLAG,
            "quantised": Key.TEXT,
        },
    ),
    "rotary": Form(
        _rotary,
        {**dict.fromkeys(("positions", "q", "k", "head_size", "table"), Key.INPUT), "d": Key.AMOUNT},
    ),
    "cache": Form(_cache, {"rows": Key.INPUTS, "cache": Key.INPUT, "slots": Key.INPUT}),
    "quantise": Form(
        _quantise,
        {"x": Key.INPUT, "out": Key.INPUT, "scales": Key.INPUTS, "dynamic": Key.FLAG, "whole_tensor": Key.FLAG},
    ),
    "softmax": Form(_softmax, {"x": Key.INPUT}),
    "elements": Form(
        _elements,
        {
            **dict.fromkeys(("x", "factor", "result"), Key.INPUT),
            **dict.fromkeys(("each", "each_tensor"), Key.AMOUNT),
            **dict.fromkeys(("read", "written"), Key.INPUTS),
            "family": Key.TEXT,
        },
    ),
    "moved": Form(_moved, {"read": Key.INPUTS, "written": Key.INPUTS}),
    "optimizer": Form(
        _optimizer,
        {
            "kind": Key.TEXT,
            **dict.fromkeys(("x", "gradients", "largest_moments", "gradient_scale"), Key.INPUT),
            "moments": Key.INPUTS,
            **dict.fromkeys(("decay", "dampening"), Key.INPUT),
            **dict.fromkeys(("nesterov", "maximize", "first_step"), Key.FLAG_OR_INPUT),
        },
    ),
    "pool": Form(
        _pool,
        {
            "kind": Key.TEXT,
            "axes": Key.AMOUNT,
            **dict.fromkeys(("x", "kernel_size", "stride", "padding", "dilation", "output_size"), Key.INPUT),
            **dict.fromkeys(("gradient", "indices"), Key.INPUT),
            "ceil": Key.FLAG_OR_INPUT,
        },
    ),
    "scan": Form(
        _scan,
        {
            **dict.fromkeys(("x", "states", "skip", "gate", "state", "initial", "lengths"), Key.INPUT),
            "read": Key.INPUTS,
        },
    ),
    "short convolution": Form(_short_convolution, dict.fromkeys(("x", "weight", "bias", "state"), Key.INPUT)),
    "mamba2": Form(_mamba2, dict.fromkeys(("x", "weight", "heads", "chunk", "head_size", "groups"), Key.INPUT)),
    "unknown": Form(_unknown, {}),
}
"""The form of each word of ``op``."""
