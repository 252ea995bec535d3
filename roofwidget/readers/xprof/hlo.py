"""Parse HLO instructions as XProf prints them: shapes, and the FLOPs of calls that XLA's cost model does not know.

An example::

    %c = (bf16[8,4]{1,0}, s8[64]{0}) custom-call(bf16[8,2]{1,0} %a, bf16[2,4]{1,0} %b), custom_call_target="…"
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

_ARRAY: Final = re.compile(r"\b([a-z][a-z0-9]*)\[([\d,<= ]*)\]")
_HEAD: Final = re.compile(r"\s*(?:ROOT\s+)?%?([^\s=]+)\s*=\s*")
_OPCODE: Final = re.compile(r"\s*([a-z][a-z0-9-]*)\(")
_TARGET: Final = re.compile(r'custom_call_target="([^"]*)"')
_CONTRACTED: Final = re.compile(r'"?lhs_contracting_dimensions"?\s*[:=]\s*[\[{]([\d", ]*)[\]}]')
_LABELS: Final = re.compile(r"dim_labels=\w+_(\w+)->\w+")

_PRECISIONS: Final = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16"}
_NARROW: Final = (
    ("f8", "fp8"),
    ("f6", "fp6"),
    ("f4", "fp4"),
    ("s8", "int8"),
    ("u8", "int8"),
    ("s4", "int4"),
    ("u4", "int4"),
)
_BRACKET_OR_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[()]')
# If the work is larger than this, the text was not a shape.
_MAX_WORK: Final = 10**30
# For each call: which operands are the output and the filter of the forward convolution. None stands for the call's
# result.
_CONVOLUTIONS: Final[dict[str, tuple[int | None, int | None]]] = {
    "__cudnn$convForward": (None, 1),
    "__cudnn$convBiasActivationForward": (None, 1),
    "__cudnn$convBackwardInput": (0, 1),
    "__cudnn$convBackwardFilter": (1, None),
}


@dataclass(frozen=True)
class ArrayShape:
    """The shape of an array: XLA's element type and the dimensions, () for a scalar."""

    dtype: str
    dims: tuple[int, ...]

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.dims)

    @property
    def bytes(self) -> int:
        """The size in bytes; types narrower than a byte are packed."""
        bits = re.match(r"[a-z]+(\d+)", self.dtype)
        # A truth value takes one byte. Tokens and other opaque types have no data, so 0 bytes.
        width = int(bits[1]) if bits else 8 * (self.dtype == "pred")
        return -(-self.elements * width // 8)

    @property
    def precision(self) -> str | None:
        """Our name of the precision, or None.

        Examples
        --------
        >>> [ArrayShape(dtype, ()).precision for dtype in ("bf16", "f8e4m3fn", "s32")]
        ['bf16', 'fp8', None]
        """
        return _PRECISIONS.get(self.dtype) or next(
            (p for stem, p in _NARROW if re.match(rf"{stem}(\D|$)", self.dtype)), None
        )

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class Instruction:
    """One instruction: operation, operands, results, and the rest of the line."""

    opcode: str
    operands: tuple[ArrayShape, ...]
    results: tuple[ArrayShape, ...]
    attributes: str

    @property
    def target(self) -> str:
        """The target of a custom call; empty for other instructions."""
        found = _TARGET.search(self.attributes)
        return found[1] if found and self.opcode == "custom-call" else ""

    @property
    def outputs(self) -> tuple[ArrayShape, ...]:
        """The results without a library's scratch memory, which is a one-dimensional last result of bytes."""
        last = self.results[-1]
        is_scratch = len(self.results) > 1 and last.dtype in {"s8", "u8"} and len(last.dims) == 1
        return self.results[:-1] if self.target and is_scratch else self.results

    @property
    def shape(self) -> str:
        """Operands and outputs in one line."""
        return f"{', '.join(map(str, self.operands))} -> {', '.join(map(str, self.outputs))}"


@dataclass(frozen=True)
class CallWork:
    """The work of one execution: FLOPs, bytes if each array is read or written once, and the rule."""

    flops: int
    bytes: int
    precision: str | None
    rule: str


def instruction(text: str) -> Instruction | None:
    """Parse one instruction; None if the text is truncated or has no shapes.

    Examples
    --------
    >>> parsed = instruction("%add.1 = f32[5,8]{1,0:T(8,128)} add(f32[5,8]{1,0:T(8,128)} %a, f32[]{:S(2)} %b)")
    >>> parsed.opcode, parsed.shape
    ('add', 'f32[5,8], f32[] -> f32[5,8]')
    """
    head = _HEAD.match(text)
    if not head:
        return None
    start = head.end()
    end = closing(text, start) if text[start : start + 1] == "(" else text.find(" ", start)
    opcode = _OPCODE.match(text, end) if end > 0 else None
    if not opcode:
        return None
    close = closing(text, opcode.end() - 1)
    if close < 0:
        return None
    results, operands = _shapes(text[start:end]), _shapes(text[opcode.end() : close])
    return Instruction(opcode[1], operands, results, text[close:]) if results else None


def call_work(of: Instruction) -> CallWork | None:
    """Return the work of an opaque call if it is a matrix product or a convolution with known shapes.

    A matrix product of M x K by K x N does 2 M N K FLOPs. A convolution does 2 x outputs x filter elements / output
    channels (padding included). Scales, biases and activations count no FLOPs. Bytes are the bytes of all operands
    and outputs.

    Examples
    --------
    >>> line = '%c = bf16[8,4] custom-call(bf16[8,2] %a, bf16[2,4]{1,0} %b), custom_call_target="__cublas$gemm"'
    >>> call_work(instruction(line))
    CallWork(flops=128, bytes=112, precision='bf16', rule='2 x 32 outputs x 2 (K) of __cublas$gemm')
    """
    if len(of.operands) < 2:  # noqa: PLR2004 - a product and a convolution have two factors
        return None
    counted = _convolution(of) if of.target in _CONVOLUTIONS else _product(of)
    if counted is None:
        return None
    outputs, depth, named = counted
    moved = sum(shape.bytes for shape in (*of.operands, *of.outputs))
    if max(outputs * depth, moved) > _MAX_WORK:
        return None
    rule = f"2 x {outputs} outputs x {depth} ({named}) of {of.target}"
    return CallWork(2 * outputs * depth, moved, of.operands[0].precision, rule)


def _product(of: Instruction) -> tuple[int, int, str] | None:
    name = of.target.casefold()
    # Skip grouped products: the sizes of the groups are data, and the shapes have only the sum of these sizes.
    if not ("gemm" in name or "matmul" in name) or "group" in name:
        return None
    left, right, out = of.operands[0], of.operands[1], of.outputs[0]
    stated = _CONTRACTED.search(of.attributes)
    depth = _stated_depth(left, stated[1]) if stated else _inferred_depth(left, right, out)
    return (out.elements, depth, "K") if depth else None


def _stated_depth(left: ArrayShape, dims: str) -> int | None:
    axes = [int(digits) for digits in re.findall(r"\d+", dims)]
    return math.prod(left.dims[axis] for axis in axes) if axes and max(axes) < len(left.dims) else None


def _inferred_depth(left: ArrayShape, right: ArrayShape, out: ArrayShape) -> int | None:
    """Return the depth K of a matrix product, computed from the sizes of factors and result.

    For a batch of b products, (b M K) x (b K N) / (b M N) is b K^2. The three terms are the numbers of elements of the
    factors and of the result. They are the same for every layout of the factors.
    """
    shared = {shape.dims[:-2] for shape in (left, right, out)}
    batch = math.prod(shared.pop()) if len(shared) == 1 else 1
    if not out.elements * batch:
        return None
    square, rest = divmod(left.elements * right.elements, out.elements * batch)
    depth = math.isqrt(square)
    fits = not rest and depth * depth == square and depth and not left.elements % (depth * batch)
    return depth if fits else None


def _convolution(of: Instruction) -> tuple[int, int, str] | None:
    labels = _LABELS.search(of.attributes)
    arrays = [of.outputs[0] if place is None else of.operands[place] for place in _CONVOLUTIONS[of.target]]
    out, kernel = arrays
    if not labels or len(labels[1]) != len(kernel.dims) or "o" not in labels[1]:
        return None
    channels = kernel.dims[labels[1].index("o")]
    return (out.elements, kernel.elements // channels, "filter elements a channel") if channels else None


def _shapes(text: str) -> tuple[ArrayShape, ...]:
    # A dynamic dimension such as "<=1024" counts with its upper limit.
    return tuple(
        ArrayShape(dtype, tuple(int(digits) for digits in re.findall(r"\d{1,15}", dims)))
        for dtype, dims in _ARRAY.findall(text)
    )


def closing(text: str, start: int) -> int:
    """Return the position after the bracket that closes the bracket at `start`, or -1. Quoted text is skipped.

    Examples
    --------
    >>> closing('(a (b) ")") c', 0)
    11
    """
    first = text.find(")", start)
    if first >= 0 and text.find("(", start + 1, first) < 0 and text.find('"', start, first) < 0:
        return first + 1
    depth = 0
    for found in _BRACKET_OR_TEXT.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0:
            return found.end()
    return -1
