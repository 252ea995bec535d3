"""FLOPs and bytes of numpy's functions that are not universal functions.

Functions that numpy writes in Python, such as `numpy.mean`, need no rule: their inner calls are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2, prod
from typing import Any, Final, TypeAlias

import numpy as np

from roofwidget.measure.numpy.traffic import Array, is_view, total_bytes
from roofwidget.measure.numpy.ufuncs import product_flops


@dataclass(frozen=True)
class Call:
    """A finished call of a function, with arrays without counters.

    Parameters
    ----------
    args, kwargs
        The arguments, without ``out=``.
    outs
        The targets of ``out=``.
    result
        What the function returned.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outs: tuple[Array, ...]
    result: Any

    @cached_property
    def operands(self) -> tuple[Array, ...]:
        """The arrays among the arguments, also within lists. The targets of ``out=`` are not among them."""
        return (*arrays_in(self.args), *arrays_in(self.kwargs))

    @cached_property
    def results(self) -> tuple[Array, ...]:
        """The arrays of the result."""
        return tuple(arrays_in(self.result))

    @cached_property
    def new(self) -> tuple[Array, ...]:
        """The arrays of the result that the function made: those that are not views of operands, nor targets."""
        given = (*self.operands, *self.outs)
        return tuple(array for array in self.results if not is_view(array, given))

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument that was given by position or by name."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)


@dataclass(frozen=True)
class Work:
    """What an operation costs.

    Parameters
    ----------
    flops
        FLOPs by class, or None if unknown.
    read, written
        Bytes.
    sources, targets
        The arrays that were read and written, all of them or in part.
    """

    flops: dict[str, int] | None
    read: int = 0
    written: int = 0
    sources: tuple[Array, ...] = ()
    targets: tuple[Array, ...] = ()


Rule: TypeAlias = Callable[[Call], Work]
Flops: TypeAlias = Callable[[Call], "dict[str, int] | None"]


NO_OPERATION: Final = Work({})
"""The work of a function that returns its argument, such as `numpy.asarray` of an array: it makes no row."""


def whole(flops: dict[str, int] | None, sources: tuple[Array, ...], targets: tuple[Array, ...]) -> Work:
    """Return the work of an operation that reads and writes whole arrays."""
    return Work(flops, total_bytes(sources), total_bytes(targets), sources, targets)


def computed(flops: dict[str, int] | None, call: Call) -> Work:
    """Return the work of a function that reads all its operands and writes its results. A view moves nothing."""
    targets = (*call.outs, *call.new)
    return Work(flops) if call.results and not targets else whole(flops, call.operands, targets)


def moves(call: Call) -> Work:
    """Return the work of a function that moves elements: no FLOPs."""
    return computed({}, call)


def unknown(call: Call) -> Work:
    """Return the work of a function with unknown FLOPs. Views have none, and neither have whole numbers."""
    has_numbers = any(array.dtype.kind not in "biu" for array in (*call.operands, *call.results))
    work = computed(None if has_numbers else {}, call)
    return work if work.read or work.written else Work({})


def fills(call: Call) -> Work:
    """Return the work of a function that writes its result and reads nothing, such as `numpy.zeros_like`."""
    return whole({}, (), call.results)


def allocates(_call: Call) -> Work:
    """Return the work of a function that reserves memory: none."""
    return Work({})


def gathers(call: Call) -> Work:
    """Return the work of a function that picks elements of its first operand: it reads these and the indices."""
    is_view = call.results and not (*call.outs, *call.new)
    return Work({}) if is_view else _gathered(call, call.operands[1:])


def _gathered(call: Call, indices: Iterable[Array]) -> Work:
    targets = (*call.outs, *call.new)
    written = total_bytes(targets)
    return Work({}, written + total_bytes(indices), written, call.operands, targets)


def overwrites(call: Call) -> Work:
    """Return the work of a function that writes its first operand and reads the others."""
    return whole({}, call.operands[1:], call.operands[:1])


def rearranges(call: Call) -> Work:
    """Return the work of a function that reads and writes its first operand, such as a sort in place."""
    return whole({}, call.operands, call.operands[:1])


def scatters(call: Call) -> Work:
    """Return the work of ``put(a, ind, v)`` and of ``putmask(a, mask, v)``: it writes as many elements as it picks."""
    target, *sources = call.operands
    picked = np.asarray(call.argument(1, "ind"))
    count = int(np.count_nonzero(picked)) if picked.dtype == bool else picked.size
    return changes(target, sources, count * target.itemsize)


def changes(target: Array, sources: Sequence[Array], written: int) -> Work:
    """Return the work of an operation that reads arrays and writes a part of another one."""
    return Work({}, total_bytes(sources), written, tuple(sources), (target,))


def _choose(call: Call) -> Work:
    """Return the work of ``choose(indices, choices)``: it reads the indices, and one element per result."""
    return _gathered(call, call.operands[:1])


def _counting(flops: Flops) -> Rule:
    return lambda call: computed(flops(call), call)


def _pair(call: Call) -> tuple[Array, Array]:
    return np.asarray(call.argument(0, "a")), np.asarray(call.argument(1, "b"))


def _dot(call: Call) -> dict[str, int] | None:
    left, right = _pair(call)
    inner = left.shape[-1] if left.ndim and right.ndim else 1
    if left.ndim and right.ndim:
        return product_flops(left.size * right.size // inner if inner else 0, (left, right))
    return _elementwise(left.size * right.size, left, right)


def _dot_with_target(call: Call) -> Work:
    """Count ``dot(a, b)`` and ``dot(a, b, out)``: the target may be the third argument without its name."""
    targets = (*arrays_in(call.args[2:]), *call.outs)
    return computed(_dot(call), replace(call, args=call.args[:2], outs=targets))


def _copies_where(call: Call) -> Work:
    """Return the work of ``copyto(target, source, where=…)``: it writes the elements that `where` picks."""
    work, where = overwrites(call), call.kwargs.get("where", True)
    if where is True:
        return work
    target = call.operands[0]
    picked = int(np.count_nonzero(np.broadcast_to(where, target.shape)))
    return replace(work, written=picked * target.itemsize)


def _fills_diagonal(call: Call) -> Work:
    target, *sources = call.operands
    return changes(target, sources, min(target.shape) * target.itemsize)


def _elementwise(products: int, *values: Array) -> dict[str, int]:
    is_complex = any(value.dtype.kind == "c" for value in values)
    is_real = any(value.dtype.kind == "f" for value in values)
    return {"vector": products * (6 if is_complex else 1)} if is_complex or is_real else {}


def _vdot(call: Call) -> dict[str, int]:
    left, right = _pair(call)
    return product_flops(left.size, (left, right))


def _outer(call: Call) -> dict[str, int]:
    left, right = _pair(call)
    return _elementwise(left.size * right.size, left, right)


def _tensordot(call: Call) -> dict[str, int]:
    left, right = _pair(call)
    axes = call.argument(2, "axes", 2)
    of_left = range(left.ndim - axes, left.ndim) if isinstance(axes, int) else np.atleast_1d(axes[0])
    inner = prod(left.shape[axis] for axis in of_left)
    return product_flops(left.size * right.size // inner if inner else 0, (left, right))


def _einsum(call: Call) -> dict[str, int] | None:
    """Count a contraction as numpy evaluates it: in one loop over all indices, or pair by pair with ``optimize``."""
    subscripts = call.argument(0, "subscripts")
    if not isinstance(subscripts, str):
        return None
    arrays = [np.asarray(operand) for operand in call.args[1:]]
    given, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = [_without_dots(word, array.ndim) for word, array in zip(given.split(","), arrays, strict=True)]
    sizes: dict[str, int] = {}
    for word, array in zip(inputs, arrays, strict=True):
        for letter, length in zip(word, array.shape, strict=True):
            sizes[letter] = max(length, sizes.get(letter, 1))
    dots = [letter for letter in _DOTS if letter in sizes]
    if arrow:
        output = output.replace("...", "".join(dots))
    else:
        output = "".join([*dots, *sorted(c for c in sizes if c not in dots and "".join(inputs).count(c) == 1)])
    optimize = call.kwargs.get("optimize", False)
    if not optimize or len(arrays) < 3:  # noqa: PLR2004 - a pair has one order only
        return _contraction(inputs, output, sizes, arrays)
    path, _ = np.einsum_path(subscripts, *arrays, optimize=optimize)
    total: dict[str, int] = {}
    for pair in path[1:]:
        picked = [inputs[at] for at in pair]
        inputs = [word for at, word in enumerate(inputs) if at not in pair]
        needed = {*output, *"".join(inputs)}
        kept = "".join(dict.fromkeys(c for c in "".join(picked) if c in needed))
        for name, flops in _contraction(picked, kept, sizes, arrays).items():
            total[name] = total.get(name, 0) + flops
        inputs.append(kept)
    return total


def _without_dots(word: str, dimensions: int) -> str:
    """Return subscripts with a letter for each dimension that ``...`` stands for, the last dimensions first."""
    missing = dimensions - len(word.replace("...", ""))
    return word.replace("...", _DOTS[len(_DOTS) - missing :])


def _contraction(inputs: list[str], output: str, sizes: Mapping[str, int], arrays: list[Array]) -> dict[str, int]:
    """Return the FLOPs of one loop over all indices: a product of the operands, added up if an index vanishes."""
    points = prod(sizes[letter] for letter in {*"".join(inputs)})
    results = prod(sizes[letter] for letter in output)
    summed = points > results
    if len(inputs) == 2 and summed:  # noqa: PLR2004 - a product of two, added up: a matrix product
        return product_flops(points, arrays)
    if len(inputs) == 1:
        return {"vector": points - results} if summed and arrays[0].dtype.kind in "fc" else {}
    return _elementwise(points * (len(inputs) - (0 if summed else 1)), *arrays)


def _convolve(default: str) -> Rule:
    def flops(call: Call) -> dict[str, int]:
        left, right = (np.asarray(call.argument(at, name)) for at, name in ((0, "a"), (1, "v")))
        longer, shorter = max(left.size, right.size), min(left.size, right.size)
        is_valid = call.argument(2, "mode", default) == "valid"
        return product_flops((longer - shorter + 1 if is_valid else longer) * shorter, (left, right))

    return _counting(flops)


def _norm(call: Call) -> dict[str, int] | None:
    """Count one function and one sum per element: a square for most norms. Norms by singular values are unknown."""
    x, order, axis = np.asarray(call.argument(0, "x")), call.argument(1, "ord"), call.argument(2, "axis")
    is_matrix = (x.ndim if axis is None else np.size(axis)) == 2  # noqa: PLR2004 - rows and columns
    plain = (None, "fro", 1, -1, np.inf, -np.inf) if is_matrix else (None, 1, 2, np.inf, -np.inf)
    return {"vector": (4 if x.dtype.kind == "c" else 2) * x.size} if order in plain else None


def _square(call: Call) -> tuple[Array, int, int]:
    """Return the matrix of a call, its side, and how many matrices there are."""
    matrix = np.asarray(call.argument(0, "a"))
    side = matrix.shape[-1]
    return matrix, side, matrix.size // (side * side) if side else 0


def _of_matrices(flops: Callable[[int], float]) -> Rule:
    def count(call: Call) -> dict[str, int]:
        matrix, side, matrices = _square(call)
        return _lapack(flops(side) * matrices, matrix)

    return _counting(count)


def _lapack(flops: float, matrix: Array) -> dict[str, int]:
    return {"tensor": round(flops) * (4 if matrix.dtype.kind == "c" else 1)}


def _solve(call: Call) -> dict[str, int]:
    matrix, side, matrices = _square(call)
    right = np.asarray(call.argument(1, "b"))
    return _lapack(matrices * 2 / 3 * side**3 + 2 * side * max(right.size, call.results[0].size), matrix)


def _qr(call: Call) -> dict[str, int]:
    matrix, mode = np.asarray(call.argument(0, "a")), call.argument(1, "mode", "reduced")
    rows, columns = matrix.shape[-2:]
    large, small = max(rows, columns), min(rows, columns)
    flops = 2 * large * small**2 - 2 / 3 * small**3
    if mode in {"reduced", "complete"}:
        made = small if mode == "reduced" else rows
        flops += 4 * rows * made * small - 2 * (rows + made) * small**2 + 4 / 3 * small**3
    return _lapack(flops * (matrix.size // max(rows * columns, 1)), matrix)


def _fft(name: str) -> Rule:
    """Count 5 n log2(n) for a transform of n complex elements, and half of it if input or output are real."""

    def flops(call: Call) -> dict[str, int]:
        given, shape = call.operands[0], [*call.results[0].shape]
        lengths, axes = call.argument(1, "s", call.kwargs.get("n")), _axes_of_fft(name, call)
        if name.startswith(("rfft", "ihfft")):
            shape[axes[-1]] = given.shape[axes[-1]] if lengths is None else int(np.atleast_1d(lengths)[-1])
        points = prod(shape[axis] for axis in axes)
        factor = 5 if name.startswith(("fft", "ifft")) else 2.5
        return {"vector": round(factor * prod(shape) * log2(points)) if points else 0}

    return _counting(flops)


def _axes_of_fft(name: str, call: Call) -> list[int]:
    given = call.argument(2, "axes", call.kwargs.get("axis"))
    if given is not None:
        return [int(axis) for axis in np.atleast_1d(given)]
    lengths = call.argument(1, "s")
    last = {"2": 2, "n": call.results[0].ndim if lengths is None else np.size(lengths)}.get(name[-1], 1)
    return list(range(-last, 0))


_DOTS: Final = "0123456789"
"""Stand for the dimensions of ``...`` in subscripts, which have letters only."""
_FFTS: Final = (
    *("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn"),
    "irfftn",
)
_MOVES: Final = (
    *("argmax", "argmin", "argpartition", "argsort", "argwhere", "array_equal", "array_equiv", "bincount", "block"),
    *("concatenate", "copy", "delete", "diag", "diag_indices_from", "diagflat", "imag", "insert", "iscomplex"),
    *("isreal", "ix_", "select", "sort_complex", "tril_indices_from", "triu_indices_from"),
    *("unique_all", "unique_counts", "unique_inverse"),
    *("count_nonzero", "digitize", "fft.fftshift", "fft.ifftshift", "flatnonzero", "lexsort", "nonzero"),
    *("packbits", "ravel_multi_index", "repeat", "searchsorted", "unpackbits", "unravel_index", "where"),
)
_UNKNOWN: Final = ("eig", "eigh", "eigvals", "eigvalsh", "lstsq", "svd", "svdvals", "pinv", "cond", "matrix_rank")

RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(_MOVES, moves),
    **dict.fromkeys(("full_like", "ones_like", "zeros_like"), fills),
    **{f"linalg.{name}": unknown for name in _UNKNOWN},
    "choose": _choose,
    "convolve": _convolve("full"),
    "copyto": _copies_where,
    "correlate": _convolve("valid"),
    "dot": _dot_with_target,
    "empty_like": allocates,
    "einsum": _counting(_einsum),
    "fill_diagonal": _fills_diagonal,
    "inner": _counting(_dot),
    "linalg.cholesky": _of_matrices(lambda n: n**3 / 3),
    "linalg.det": _of_matrices(lambda n: 2 / 3 * n**3),
    "linalg.inv": _of_matrices(lambda n: 2 * n**3),
    "linalg.norm": _counting(_norm),
    "linalg.qr": _counting(_qr),
    "linalg.slogdet": _of_matrices(lambda n: 2 / 3 * n**3),
    "linalg.solve": _counting(_solve),
    "outer": _counting(_outer),
    "place": rearranges,
    "put": scatters,
    "putmask": scatters,
    "take": gathers,
    "tensordot": _counting(_tensordot),
    "vdot": _counting(_vdot),
    **{f"fft.{name}": _fft(name) for name in _FFTS},
}
"""What a function of numpy costs, by its name without ``numpy.``.

The FLOPs of linear algebra are LAPACK's usual counts (LAPACK Working Note 41, appendix C) with the leading terms.
"""

METADATA: Final = frozenset(
    {
        *("array2string", "array_repr", "array_str", "can_cast", "common_type", "einsum_path", "iscomplexobj"),
        *("isrealobj", "may_share_memory", "min_scalar_type", "ndim", "result_type", "save", "savetxt", "savez"),
        *("savez_compressed", "shape", "shares_memory", "size"),
    }
)
"""Functions that look at shapes and types, or that write text or files: they run without being counted."""


def rule_name(function: Any) -> str:
    """Return the key of a function in `RULES`.

    Examples
    --------
    >>> rule_name(np.dot), rule_name(np.linalg.solve)
    ('dot', 'linalg.solve')
    """
    module = str(getattr(function, "__module__", "") or "")
    return f"{module}.{getattr(function, '__name__', 'call')}".removeprefix("numpy.")


def arrays_in(value: Any) -> Iterable[Array]:
    """Yield the arrays in a value: the value itself, or the elements of its lists, tuples and dicts."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from arrays_in(part)
