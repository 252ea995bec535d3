"""FLOPs of HLO instructions, counted as XLA's own cost analysis counts them.

An element-wise instruction does one FLOP for each element of its result, whatever its type: comparisons, selections,
conversions and integers count too. Transcendental functions count apart, one per element. These are XLA's rules and
not those of `roofwidget.measure.elementwise`, so that the rows of a program add up to the totals that XLA prints. The
rules differ where XLA's formula is not that of the algorithm:

=================== =================================== ==============================
operation           here                                XLA
=================== =================================== ==============================
FFT of n points     5 n log2(n), half for a real one    8 n log2(n)
sort along n        log2(n) comparisons an element      log2 of all elements
triangular solve    n FLOPs an element of the result    2 n
loop                the body times its known runs       the body once
=================== =================================== ==============================

A convolution does 2 FLOPs for each product of an input element and a filter element, and positions in the padding are
not products. PyTorch's counters count them: 231.2 instead of 225.7 MFLOP for 64 channels of 56 x 56 and 3 x 3 filters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from roofwidget.measure.hlo.loops import Loops
from roofwidget.measure.hlo.text import Array, Computation, Instruction, Module
from roofwidget.readers.xprof import hlo as library_calls

FlopKey: TypeAlias = "tuple[str, str | None]"
"""A class of FLOPs (``tensor``, ``vector``, ``transcendental``) and a precision."""

FREE: Final = frozenset(
    {
        *("add-dependency", "after-all", "bitcast", "constant", "domain", "get-dimension-size", "get-tuple-element"),
        *("opt-barrier", "parameter", "partition-id", "replica-id", "set-dimension-size", "tuple"),
    }
)
"""Instructions that compute nothing and move no bytes."""
COLLECTIVES: Final = frozenset(
    {
        *("all-gather", "all-reduce", "all-to-all", "collective-broadcast", "collective-permute", "ragged-all-to-all"),
        *("recv", "reduce-scatter", "send"),
    }
)
"""Instructions that send bytes to other chips."""
_TRANSCENDENTAL: Final = frozenset(
    {
        *("acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosh", "cosine", "erf", "exponential"),
        *("exponential-minus-one", "log", "log-plus-one", "logistic", "power", "rng", "rng-bit-generator", "rsqrt"),
        *("sine", "sinh", "sqrt", "tan", "tanh"),
    }
)
_ELEMENTWISE: Final = frozenset(
    {
        *("abs", "add", "all-reduce", "and", "bitcast-convert", "ceil", "clamp", "compare", "complex", "convert"),
        *("count-leading-zeros", "divide", "floor", "imag", "is-finite", "maximum", "minimum", "multiply", "negate"),
        *("not", "or", "popcnt", "real", "reduce-precision", "remainder", "round-nearest-afz", "round-nearest-even"),
        *("select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign", "stochastic-convert"),
        *("subtract", "xor"),
    }
)
_MOVES: Final = frozenset(
    {
        *("broadcast", "concatenate", "copy", "dynamic-reshape", "dynamic-slice", "dynamic-update-slice", "gather"),
        *("infeed", "iota", "outfeed", "pad", "reshape", "reverse", "slice", "transpose"),
        *(COLLECTIVES - {"all-reduce"}),
    }
)
# Custom calls that only say where data are.
_ANNOTATION: Final = re.compile(r"(?i)sharding|shard_?shape|^AllocateBuffer$|^LayoutConstraint$|^xla\.sdy|^annotate_")
_CONTRACTED: Final = re.compile(r"\blhs_contracting_dims=\{([\d,]*)\}")
_FFT_KIND: Final = re.compile(r"\bfft_type=(\w+)")
_FFT_LENGTH: Final = re.compile(r"\bfft_length=\{([\d,]*)\}")
_DIMENSION: Final = re.compile(r"\bdimensions=\{(\d{1,3})\}")
_WINDOW: Final = re.compile(r"\bwindow=\{([^}]*)\}")
_WINDOW_SIZE: Final = re.compile(r"\bsize=([\dx]+)")
_LABELS: Final = re.compile(r"\bdim_labels=([\w?]+)_([\w?]+)->([\w?]+)")
_FEATURE_GROUPS: Final = re.compile(r"\bfeature_group_count=(\d{1,18})")
_BATCH_GROUPS: Final = re.compile(r"\bbatch_group_count=(\d{1,18})")
_SELECT: Final = re.compile(r"\bselect=%?([^\s,]+)")
_SCATTER: Final = re.compile(r"\bscatter=%?([^\s,]+)")
# A longer axis of both filter and output is a typing error; counting along it would take minutes.
_MAX_POSITIONS: Final = 10**7


class Uncounted(NamedTuple):
    """What the text does not say the FLOPs of: an operation by its name, or a call of a library by its target."""

    kind: Literal["operation", "custom call"]
    name: str


@dataclass(frozen=True)
class Work:
    """FLOPs of one execution by class and precision. None if the text does not say them: `unknown` says of what."""

    flops: Counter[FlopKey] | None
    unknown: tuple[Uncounted, ...] = ()

    def times(self, count: int) -> Work:
        """Return the work of several executions."""
        if self.flops is None:
            return self
        return Work(Counter({key: number * count for key, number in self.flops.items()}))

    @property
    def total(self) -> int:
        """All FLOPs that are known."""
        return sum((self.flops or {}).values())


_NO_WORK: Final = Work(Counter())


def is_free(at: Instruction) -> bool:
    """Whether an instruction computes nothing and moves no bytes: it names, ends or annotates something."""
    return (
        at.opcode in FREE
        or at.opcode.endswith(("-done", "-update"))
        or (at.opcode == "custom-call" and _ANNOTATION.search(at.target) is not None)
    )


def library_call(at: Instruction) -> library_calls.Instruction:
    """Return a custom call as the rules for calls of cuBLAS, cuDNN and oneDNN take it."""
    operands = tuple(array for each in at.inputs for array in each.results)
    return library_calls.Instruction("custom-call", operands, at.results, at.attributes)


class Flops:
    """FLOPs of the instructions of one program."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.loops = Loops(module)
        self._of_computations: dict[str, Work] = {}
        self._rules = {
            "call": self._nested,
            "async": self._nested,
            "cholesky": self._cholesky,
            "conditional": self._conditional,
            "convolution": self._convolution,
            "custom-call": self._custom_call,
            "dot": self._dot,
            "fft": self._fft,
            "fusion": self._nested,
            "map": self._map,
            "reduce": self._reduce,
            "reduce-window": self._reduce_window,
            "scaled-dot": self._dot,
            "scatter": self._scatter,
            "select-and-scatter": self._select_and_scatter,
            "sort": self._sort,
            "triangular-solve": self._triangular_solve,
            "while": self._while,
        }

    def of(self, at: Instruction) -> Work:
        """Return the FLOPs of one execution of an instruction."""
        kind = at.kind
        if is_free(at) or kind in _MOVES:
            return _NO_WORK
        if kind in _TRANSCENDENTAL:
            return self._elementwise("transcendental", at)
        if kind in _ELEMENTWISE:
            return self._elementwise("vector", at)
        rule = self._rules.get(kind)
        return Work(None, (Uncounted("operation", kind),)) if rule is None else rule(at)

    def of_computation(self, computation: Computation) -> Work:
        """Return the FLOPs of all instructions of a computation together."""
        if computation.name not in self._of_computations:
            works = list(map(self.of, computation.instructions.values()))
            self._of_computations[computation.name] = _sum(works)
        return self._of_computations[computation.name]

    def dearest(self, at: Instruction) -> Computation | None:
        """Return the branch of a ``conditional`` that has most FLOPs, or None if it has no branches."""
        names = ("branch_computations", "true_computation", "false_computation")
        branches = self._module.called(at, *names)
        return max(branches, key=lambda branch: self.of_computation(branch).total, default=None)

    def _nested(self, at: Instruction) -> Work:
        called = self._module.called(at, "calls", "to_apply", "called_computations")
        return _sum([self.of_computation(each) for each in called])

    def _while(self, at: Instruction) -> Work:
        trips = self.loops.trip_count(at)
        runs = 1 if trips is None else trips
        return _sum([self.of_computation(each).times(runs) for each in self._module.called(at, "body")])

    def _conditional(self, at: Instruction) -> Work:
        branch = self.dearest(at)
        return _NO_WORK if branch is None else self.of_computation(branch)

    def _elementwise(self, name: str, at: Instruction) -> Work:
        precision = next((array.precision for array in at.results if array.precision), None)
        if precision is None and at.operands:
            # A comparison has the precision of what it compares.
            precision = _widest(at)
        return _one(name, precision, _elements(at))

    def _dot(self, at: Instruction) -> Work:
        left = _operand(at, 0)
        axes = [int(axis) for axis in (at.attribute(_CONTRACTED) or "").split(",") if axis]
        if any(axis >= len(left.dims) for axis in axes):
            raise ValueError(f"HLO text, line {at.line}: expected lhs_contracting_dims within {left}, found {axes}")
        depth = math.prod(left.dims[axis] for axis in axes)
        return _one("tensor", _widest(at), 2 * _elements(at) * depth)

    def _convolution(self, at: Instruction) -> Work:
        image, kernel, out = _operand(at, 0), _operand(at, 1), at.results[0]
        found = _LABELS.search(at.attributes)
        labels = found.groups() if found else ("", "", "")
        shapes = (image, kernel, out)
        if any(len(label) != len(shape.dims) for label, shape in zip(labels, shapes, strict=True)):
            raise _bad_labels(at, shapes)
        try:
            products = _products(labels, shapes, at.attribute(_WINDOW) or "")
        except ValueError:
            raise _bad_labels(at, shapes) from None
        groups = int(at.attribute(_FEATURE_GROUPS) or 1) * int(at.attribute(_BATCH_GROUPS) or 1)
        return _one("tensor", _widest(at), 2 * products // max(groups, 1))

    def _applied(self, at: Instruction) -> Work:
        """Return the FLOPs of one call of the function that a reduction, a sort or a scatter applies."""
        return _sum([self.of_computation(each) for each in self._module.called(at, "to_apply")])

    def _reduce(self, at: Instruction) -> Work:
        return self._applied(at).times(max(_operand(at, 0).elements - _elements(at), 0))

    def _reduce_window(self, at: Instruction) -> Work:
        return self._applied(at).times(_elements(at) * max(_window_elements(at) - 1, 0))

    def _select_and_scatter(self, at: Instruction) -> Work:
        sources = _operand(at, 1).elements
        calls = ((_SELECT, sources * max(_window_elements(at) - 1, 0)), (_SCATTER, sources))
        named = [(at.attribute(pattern), count) for pattern, count in calls]
        return _sum([self.of_computation(self._module.computation(n, at)).times(count) for n, count in named if n])

    def _map(self, at: Instruction) -> Work:
        return self._applied(at).times(_elements(at))

    def _sort(self, at: Instruction) -> Work:
        array = _operand(at, 0)
        axis = int(at.attribute(_DIMENSION) or 0)
        length = array.dims[axis] if axis < len(array.dims) else 1
        return _one("vector", array.precision, array.elements * max(length - 1, 0).bit_length())

    def _scatter(self, at: Instruction) -> Work:
        return self._applied(at).times(_operand(at, len(at.operands) - 1).elements)

    def _fft(self, at: Instruction) -> Work:
        kind = at.attribute(_FFT_KIND)
        # Of an inverse real transform the result is real, and has all points.
        array = at.results[0] if kind == "IRFFT" else _operand(at, 0)
        points = math.prod(int(length) for length in (at.attribute(_FFT_LENGTH) or "").split(",") if length)
        flops = 5 * array.elements * math.log2(max(points, 1)) / (2 if kind in {"RFFT", "IRFFT"} else 1)
        precision = {"c64": "fp32", "c128": "fp64"}.get(array.dtype, array.precision)
        return _one("vector", precision, round(flops))

    def _cholesky(self, at: Instruction) -> Work:
        array = _operand(at, 0)
        return _one("vector", array.precision, array.elements * math.prod(array.dims[-1:]) // 3)

    def _triangular_solve(self, at: Instruction) -> Work:
        triangle = _operand(at, 0)
        return _one("vector", triangle.precision, _elements(at) * math.prod(triangle.dims[-1:]))

    def _custom_call(self, at: Instruction) -> Work:
        counted = library_calls.call_work(library_call(at)) if at.results else None
        if counted is None:
            return Work(None, (Uncounted("custom call", at.target),))
        return _one("tensor", counted.precision, counted.flops)


def _one(name: str, precision: str | None, flops: int) -> Work:
    return Work(Counter({(name, precision): flops} if flops else {}))


def _sum(works: Iterable[Work]) -> Work:
    total: Counter[FlopKey] = Counter()
    unknown: dict[Uncounted, None] = {}
    for work in works:
        unknown |= dict.fromkeys(work.unknown)
        total.update(work.flops or {})
    return Work(None if unknown else total, tuple(unknown))


def _elements(at: Instruction) -> int:
    """Return the elements of the result; reductions of several arrays have several results of one size."""
    if at.kind in {"reduce", "reduce-window", "map"}:
        return at.results[0].elements if at.results else 0
    return sum(array.elements for array in at.results)


def _operand(at: Instruction, number: int) -> Array:
    arrays = at.inputs[number].results if 0 <= number < len(at.operands) else ()
    if not arrays:
        raise ValueError(f"HLO text, line {at.line}: expected an array as operand {number + 1} of '{at.name}'")
    return arrays[0]


def _widest(at: Instruction) -> str | None:
    """Return the precision of the wider one of the first two operands."""
    arrays = [array for each in at.inputs[:2] for array in each.results if array.precision]
    return max(arrays, key=_bits).precision if arrays else None


def _bits(array: Array) -> int:
    digits = re.search(r"\d+", array.dtype)
    return int(digits[0]) if digits else 0


def _bad_labels(at: Instruction, shapes: tuple[Array, ...]) -> ValueError:
    image, kernel, out = shapes
    expected = f"dim_labels such as b01f_01io->b01f and a window for {image}, {kernel} and {out}"
    return ValueError(f"HLO text, line {at.line}: expected {expected}, found '{at.attributes:.80}'")


def _products(labels: tuple[str, ...], shapes: tuple[Array, ...], window: str) -> int:
    """Return how many input elements a convolution multiplies by filter elements, as if it had one group."""
    (image, kernel, out), (left, right, result) = labels, shapes
    spatial = sorted(letter for letter in kernel if letter.isdecimal())
    settings = _window_settings(window, len(spatial))
    products = left.dims[image.index("b")] * left.dims[image.index("f")] * result.dims[out.index("f")]
    for letter, (stride, low, image_dilation, kernel_dilation) in zip(spatial, settings, strict=True):
        sizes = left.dims[image.index(letter)], right.dims[kernel.index(letter)], result.dims[out.index(letter)]
        products *= positions(sizes, stride=stride, low=low, dilations=(image_dilation, kernel_dilation))
    return products


def _window_settings(window: str, axes: int) -> list[tuple[int, int, int, int]]:
    """Return stride, low padding, and the dilations of image and kernel of each axis of a window."""
    given = dict(re.findall(r"(\w+)=([^\s]+)", window))
    values = {name: given[name].split("x") for name in ("stride", "pad", "lhs_dilate", "rhs_dilate") if name in given}
    if any(len(each) != axes for each in values.values()):
        raise ValueError(window)
    pads = [int(pad.split("_")[0]) for pad in values.get("pad", ["0"] * axes)]
    stride, image, kernel = (
        [max(int(number), 1) for number in values.get(name, ["1"] * axes)]
        for name in ("stride", "lhs_dilate", "rhs_dilate")
    )
    return list(zip(stride, pads, image, kernel, strict=True))


def positions(sizes: tuple[int, int, int], *, stride: int, low: int, dilations: tuple[int, int]) -> int:
    """Return the pairs of output and filter positions along one axis that meet an input element, not padding.

    Parameters
    ----------
    sizes
        The numbers of input, filter and output elements along the axis.
    stride, low, dilations
        The stride, the padding before the first element, and the dilations of input and filter.

    Examples
    --------
    >>> positions((56, 3, 56), stride=1, low=1, dilations=(1, 1))
    166
    """
    elements, kernel, out = sizes
    spread, step = dilations
    extent = (elements - 1) * spread + 1 if elements else 0
    # Output o and filter element k meet place o * stride + k * step - low. Count along the longer of the two.
    (few, few_step), (many, many_step) = sorted([(kernel, step), (out, stride)])
    if few > _MAX_POSITIONS:
        raise ValueError(sizes)
    divisor = math.gcd(many_step, spread)
    total = 0
    for index in range(few):
        offset = index * few_step - low
        if offset % divisor:
            continue
        first = max(-(offset // many_step), 0)
        last = min((extent - 1 - offset) // many_step, many - 1)
        # Every `period`-th place has an element, the others are holes of the dilation.
        period = spread // divisor
        phase = (-offset // divisor) * pow(many_step // divisor, -1, period) % period if period > 1 else 0
        first += (phase - first) % period
        total += max((last - first) // period + 1, 0)
    return total


def _window_elements(at: Instruction) -> int:
    found = _WINDOW_SIZE.search(at.attribute(_WINDOW) or "")
    return math.prod(int(size) for size in found[1].split("x") if size) if found else 1
