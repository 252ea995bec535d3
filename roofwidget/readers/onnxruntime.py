"""ONNX Runtime: the JSON profile of a session.

How to make it::

    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    session = onnxruntime.InferenceSession("model.onnx", options)
    session.run(None, inputs)
    rw.read(session.end_profiling())

- A row is a node of the graph with its shapes, over all runs: ``count`` is the number of runs, `time` their sum. Only
  the nodes' own times (``…_kernel_time``) are rows. Fences, the executor, the loading of the model and nodes that
  contain other nodes (``If``, ``Loop``, ``Scan``) are left out, and a warning says how many events.
- If the profile has the kernels of a device, the time of a node is the sum of its kernels. If it has none, the time of
  a node on a GPU is the time that the host needs to launch it, and a warning says so.
- FLOPs come from shapes: matrix products 2 x results x K, convolutions 2 x results x channels of a group x kernel,
  element-wise functions as our operators, and 0 for nodes that only move data. FLOPs of other nodes are unknown.
- Bytes are compulsory bytes, not measured traffic: ``activation_size``, ``parameter_size`` and ``output_size``.
  On CPUs, constant weights of products are packed, and these sizes lack them: they are added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.documents import object_at, value_at
from roofwidget.readers.input.json_rows import JsonRows
from roofwidget.readers.input.source import Source
from roofwidget.support.did_you_mean import listed
from roofwidget.workloads.convention import CONVENTIONS
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.ops.elementwise import BINARY, UNARY

FORMAT: Final = "onnxruntime"
EXPECTED: Final = "a JSON profile of ONNX Runtime"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_EVENT: Final = re.compile(r'\ufeff?\s*\[\s*\{[^{}]{0,2000}"cat"\s*:\s*"(?:Session|Node|Api)"')
_RUN: Final = "_kernel_time"
_NODE, _DEVICE_KERNEL = "Node", "Kernel"
_MICRO: Final = 1e6
_CONTROL: Final = frozenset({"If", "Loop", "Scan"})
_SIZES: Final = ("activation_size", "parameter_size", "output_size")
_COMPULSORY: Final = f"compulsory bytes: {' + '.join(_SIZES)}"
_ON_HOST: Final = ("CPUExecutionProvider", "DnnlExecutionProvider", "XnnpackExecutionProvider")
_MAX_NAMED: Final = 8
_PRECISIONS: Final = {
    "float": "fp32",
    "double": "fp64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "int8": "int8",
    "uint8": "int8",
    "float8e4m3fn": "fp8",
    "float8e5m2": "fp8",
}

Shape = tuple[int, ...]


def recognises(source: Source) -> bool:
    """Whether the text begins like a profile of a session.

    Examples
    --------
    >>> recognises(Source.of(b'[{"cat": "Session", "name": "model_loading_uri", "ph": "X"}]'))
    True
    """
    return not source.is_folder and _EVENT.match(source.beginning) is not None


def read(source: Source) -> Kernels:
    """Read the nodes of a profile.

    Returns
    -------
    Kernels
        A row per node and shapes, with seconds, FLOPs and compulsory bytes of all runs, and in `extra` the columns
        ``"shape"`` and ``"provider"``.

    Raises
    ------
    ProfileError
        If the file is incomplete, has no times of nodes, or a value is invalid.
    """
    document = source.json()
    if not (isinstance(document, list) and all(isinstance(event, dict) for event in document)):
        raise source.error("expected a list of events")
    events = [(at, event) for at, event in enumerate(document, 1) if event.get("cat") == _NODE]
    ran = [(at, event) for at, event in events if str(event.get("name")).endswith(_RUN)]
    nodes = [(at, event) for at, event in ran if _argument(event, "op_name") not in _CONTROL]
    if not nodes:
        raise source.error(f"the profile has no event of a node ('…{_RUN}'): run the session before end_profiling()")
    rows = JsonRows(source.name, [event for _, event in nodes], [at for at, _ in nodes])
    launched = _kernel_time(source, document, [at for at, _ in nodes])
    works = [_Work.of(event) for event in rows.rows]
    seconds = rows.numbers("dur") if launched is None else launched
    flops = np.array([work.flops for work in works])
    vector = np.array([work.is_vector for work in works])
    calls = Kernels(
        [name.removesuffix(_RUN) for name in rows.texts("name")],
        {"": np.where(vector, np.nan, flops), "vector": np.where(vector, flops, np.nan)},
        _bytes(rows, works),
        time=seconds / _MICRO,
        precision=[work.precision for work in works],
        category=[_argument(event, "op_name") or None for event in rows.rows],
        origin={
            "flops": [work.rule or None for work in works],
            "bytes:main": [f"{_COMPULSORY} + packed weights" if work.packed else _COMPULSORY for work in works],
            "time": "dur" if launched is None else "dur of the node's kernels",
        },
        extra={
            "shape": [work.shape or None for work in works],
            "provider": [_argument(event, "provider") or None for event in rows.rows],
        },
        warnings=_warnings(document, len(nodes), works, rows, has_kernels=launched is not None),
        source=source.name,
    )
    return calls.groupby("name", "shape", "provider")


def _warnings(
    document: Sequence[Any], nodes: int, works: Sequence[_Work], rows: JsonRows, *, has_kernels: bool
) -> list[str]:
    kernels = sum(event.get("cat") == _DEVICE_KERNEL for event in document)
    messages = ["bytes are compulsory bytes (each operand once); they were not measured"]
    others = len(document) - nodes - kernels
    if others:
        messages.append(f"events that are no node's own time were left out: {others:,}")
    unknown = sorted(
        {_argument(event, "op_name") for event, work in zip(rows.rows, works, strict=True) if not work.rule}
    )
    if unknown:
        messages.append(f"no formula for the FLOPs of {listed(unknown[:_MAX_NAMED])}")
    providers = {_argument(event, "provider") for event in rows.rows} - {"", *_ON_HOST}
    if providers and not has_kernels:
        messages.append(
            f"the profile has no kernels of a device: times of {listed(sorted(providers))} are times in which the host "
            "launched the nodes"
        )
    return messages


def _kernel_time(source: Source, document: Sequence[Any], nodes: Sequence[int]) -> Floats | None:
    """Return the microseconds of each node's kernels on a device; None if the profile has no kernels.

    ONNX Runtime writes the kernels of a node after the node.
    """
    at = [number for number, event in enumerate(document, 1) if event.get("cat") == _DEVICE_KERNEL]
    if not at:
        return None
    owner = np.searchsorted(nodes, at) - 1
    kernels = JsonRows(source.name, [document[number - 1] for number in at], at).numbers("dur")
    owned = owner >= 0
    found: Floats = np.bincount(owner[owned], np.nan_to_num(kernels[owned]), minlength=len(nodes)).astype(np.float64)
    return found


def _bytes(rows: JsonRows, works: Sequence[_Work]) -> Floats:
    """Return the bytes of inputs, weights and outputs; the sizes are texts."""
    packed = [work.packed * _WIDTHS.get(work.precision or "", math.nan) if work.packed else 0.0 for work in works]
    sizes = JsonRows(rows.file, [object_at(event, "args") for event in rows.rows], rows.numbered)
    found: Floats = sum((sizes.numbers(key, is_text=True) for key in _SIZES), start=np.array(packed))
    return found


def _argument(event: Mapping[str, Any], key: str) -> str:
    value = value_at(event, "args", key)
    return value if isinstance(value, str) else ""


# -- work ----------------------------------------------------------------------------------------------------------

_MAX_AXES: Final = 32
_MAX_SIZE: Final = 2**40
_TEXTBOOK: Final = CONVENTIONS["textbook"].environment
_MOVES: Final = frozenset(
    {
        *("Cast", "Concat", "Expand", "Flatten", "Gather", "GatherND", "Identity", "MemcpyFromHost", "MemcpyToHost"),
        *("Pad", "Reshape", "ReorderInput", "ReorderOutput", "Shape", "Slice", "Split", "Squeeze", "Tile", "Transpose"),
        *("Unsqueeze", "Constant", "ConstantOfShape"),
    }
)
_ELEMENTWISE: Final = {
    **{name: BINARY[ours] for name, ours in (("Add", "add"), ("Sub", "subtract"), ("Mul", "multiply"))},
    **{name: BINARY[ours] for name, ours in (("Div", "divide"), ("Max", "maximum"), ("Min", "minimum"))},
    **{
        name: sum(count for _, _, count in UNARY[ours])
        for name, ours in (
            *(("Relu", "relu"), ("Neg", "negative"), ("Abs", "absolute"), ("Sqrt", "sqrt"), ("Exp", "exp")),
            *(("Reciprocal", "reciprocal"), ("Log", "log"), ("Sin", "sin"), ("Cos", "cos"), ("Tanh", "tanh")),
            *(("Erf", "erf"), ("Sigmoid", "sigmoid")),
        )
    },
}
# The position of the second operand: products of quantized tensors have scales and zero points in between.
_PRODUCTS: Final = {
    **dict.fromkeys(("MatMul", "FusedMatMul", "Gemm", "FusedGemm", "MatMulInteger", "MatMulNBits"), 1),
    **dict.fromkeys(("DynamicQuantizeMatMul", "MatMulIntegerToFloat", "GemmFloat8"), 1),
    **dict.fromkeys(("QLinearMatMul", "QGemm"), 3),
}
_MAY_TRANSPOSE: Final = ("Gemm", "FusedGemm", "FusedMatMul", "GemmFloat8", "QGemm")
# The weights of these have fewer bits than the other operand.
_COMPRESSED: Final = ("MatMulNBits",)
_WIDTHS: Final = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2, "int8": 1, "fp8": 1}
_CONVOLUTIONS: Final = {
    **dict.fromkeys(("Conv", "FusedConv", "NhwcConv", "NhwcFusedConv", "ConvInteger", "ConvTranspose"), 1),
    "QLinearConv": 3,
}


class _Work:
    """The FLOPs of a node, NaN if unknown, their rule, and the node's shapes and precision.

    `packed` is the number of weights that the node's shapes and sizes leave out: on CPUs, products keep constant
    weights in a form of their own.
    """

    def __init__(self, operator: str, inputs: Sequence[Shape], results: Sequence[Shape], precision: str | None) -> None:
        self.precision = precision
        self.shape = ", ".join(str(list(shape)) for shape in inputs)
        self.is_vector = operator in _ELEMENTWISE
        self.flops, self.rule, self.packed = math.nan, "", 0
        if operator in _MOVES:
            self.flops, self.rule = 0.0, f"{operator} only moves data"
        elif len(results) == 1 and inputs and inputs[0]:
            self._count(operator, inputs, results[0])

    def _count(self, operator: str, inputs: Sequence[Shape], result: Shape) -> None:
        results = math.prod(result)
        if self.is_vector:
            self.flops = float(results * evaluate(_ELEMENTWISE[operator], _TEXTBOOK))
            self.rule = f"{operator}: FLOPs per result as our operator"
        elif operator in _PRODUCTS:
            depth = _depth(inputs[0], result, operator)
            if depth is not None:
                self.flops, self.rule = 2.0 * results * depth, f"2 x results x K from the shapes of {operator}"
                place = _PRODUCTS[operator]
                is_there = any(math.prod(shape[-2:]) == depth * result[-1] for shape in inputs[place : place + 1])
                self.packed = 0 if is_there or operator in _COMPRESSED else depth * result[-1]
        elif operator in _CONVOLUTIONS and len(inputs) > _CONVOLUTIONS[operator]:
            weights = inputs[_CONVOLUTIONS[operator]]
            if len(weights) == len(inputs[0]):
                of = math.prod(inputs[0]) if operator == "ConvTranspose" else results
                self.flops = 2.0 * of * math.prod(weights[1:])
                self.rule = f"2 x results x channels of a group x kernel from the shapes of {operator}"

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> _Work:
        arguments = object_at(event, "args")
        inputs, dtypes = _shapes(arguments.get("input_type_shape"))
        results, _ = _shapes(arguments.get("output_type_shape"))
        precision = next((_PRECISIONS[dtype] for dtype in dtypes if dtype in _PRECISIONS), None)
        return cls(_argument(event, "op_name"), inputs, results, precision)


def _depth(a: Shape, result: Shape, operator: str) -> int | None:
    """Return K of a product. A may be transposed in a Gemm and in a fused product."""
    if operator not in _MAY_TRANSPOSE or len(a) < 2 or len(result) < 2:  # noqa: PLR2004 - rows and columns
        return a[-1]
    return a[-1] * a[-2] // result[-2] if result[-2] else None


def _shapes(given: object) -> tuple[list[Shape], list[str]]:
    """Return sizes and dtypes of a list such as ``[{"float": [8, 64]}]``; both empty if it has another form."""
    shapes, dtypes = list[Shape](), list[str]()
    for entry in given if isinstance(given, list) else ():
        if not (isinstance(entry, dict) and len(entry) == 1):
            return [], []
        ((dtype, sizes),) = entry.items()
        right = isinstance(sizes, list) and len(sizes) <= _MAX_AXES
        if not (right and all(type(size) is int and 0 <= size < _MAX_SIZE for size in sizes)):
            return [], []
        shapes.append(tuple(sizes))
        dtypes.append(dtype)
    return shapes, dtypes
