r"""TensorRT: the time of each layer of an engine, as ``trtexec`` exports or prints it.

How to make it::

    trtexec --loadEngine=model.plan --exportProfile=profile.json --separateProfileRun
    trtexec --loadEngine=model.plan --dumpProfile --separateProfileRun > log.txt

The JSON file and the printed table are read. A row is a layer of the engine, which is usually several layers of the
model, fused: its name lists them. `time` is the time of all iterations (``timeMs``), and `count` the number of
iterations. The printed table rounds times to 0.01 ms. Its row of totals is left out.

TensorRT writes neither FLOPs nor bytes. With ``layers="layers.json"`` (``trtexec --exportLayerInfo=layers.json
--profilingVerbosity=detailed``) convolutions get 2 x output positions x weights, and each layer its compulsory bytes:
inputs, outputs and weights once. Files of ``--exportLayerInfo`` and ``--exportTimes`` alone have no times of layers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.kernels.table import Kernels
from roofwidget.readers.input.documents import list_at, value_at
from roofwidget.readers.input.json_rows import JsonRows
from roofwidget.readers.input.source import Source

FORMAT: Final = "tensorrt"
EXPECTED: Final = "the layers' times of TensorRT (trtexec --exportProfile, or its printed profile)"
IS_JSON: Final = True
"""Whether the format is JSON, at least in one of its forms."""

_MAX_TEXT_BYTES: Final = 64 * 2**20
_MILLI: Final = 1e3
_EXPORT: Final = "trtexec --exportProfile=profile.json --separateProfileRun"
_NO_WORK: Final = (
    "TensorRT writes neither FLOPs nor bytes of layers: pass layers= with the file of trtexec --exportLayerInfo, or "
    "pass work="
)

_RULES: Final = {
    "flops": "2 x output positions x weights of the layer x iterations",
    "bytes:main": "compulsory bytes: inputs, outputs and weights once x iterations",
}

# -- the exported profile ------------------------------------------------------------------------------------------

_BEGIN: Final = re.compile(r'\ufeff?\s*\[\s*\{\s*"count"\s*:\s*[0-9]+\s*\}\s*[,\]]')
_TIMES: Final = re.compile(r'\ufeff?\s*\[\s*\{[^{}]{0,400}"(?:endComputeMs|computeMs)"')
_LAYERS: Final = re.compile(r'\ufeff?\s*\{\s*"(?:Layers|Bindings)"\s*:')

# -- the printed profile -------------------------------------------------------------------------------------------

_PROFILE: Final = re.compile(r"=== Profile \(([0-9]{1,15}) iterations ?\) ===")
# TensorRT 8.4 and older print the layer first and "Time (ms)"; later versions print it last and "Time(ms)".
_HEADER: Final = re.compile(
    r"(?P<first>Layer\s+)?Time ?\(ms\)\s+Avg\. ?(?:Time ?)?\(ms\)"
    r"(?P<median>\s+Median ?(?:Time ?)?\(ms\))?\s+Time ?\(?%\)?(?(first)|\s+Layer)\s*\Z"
)
_LOG: Final = re.compile(r"^(?:\[[0-9/:. -]+\] ?)?(?:\[[A-Z]\] ?)?")
_NUMBER: Final = re.compile(r"[0-9]{1,20}(?:\.[0-9]+)?")
_NO_SHARE: Final = frozenset({"nan", "-nan"})
_TOTAL: Final = "Total"

# -- the file of layers --------------------------------------------------------------------------------------------

_MIN_CONVOLUTION_AXES: Final = 3
_MAX_AXES: Final = 12
_MAX_SIZE: Final = 2**40


def recognises(source: Source) -> bool:
    """Whether the text is a file of ``trtexec``, or its output with a profile."""
    if source.is_folder:
        return False
    begin = source.beginning
    if any(form.match(begin) for form in (_BEGIN, _TIMES, _LAYERS)):
        return True
    return _PROFILE.search(source.first) is not None


def read(source: Source, *, layers: Any = None) -> Kernels:
    """Read the times of layers.

    Parameters
    ----------
    source
        The exported JSON, or the output of ``trtexec --dumpProfile``.
    layers
        The file of ``trtexec --exportLayerInfo`` of the same engine: a path, bytes or an open file.

    Returns
    -------
    Kernels
        A row per layer: seconds of all iterations, and with `layers` FLOPs and compulsory bytes.

    Raises
    ------
    ProfileError
        If the file has no times of layers (the message says which file does), or a value is invalid.
    """
    if _LAYERS.match(source.beginning):
        raise source.error(
            f"this file has the layers and not their times: read the file of '{_EXPORT}' with layers= this file"
        )
    if _TIMES.match(source.beginning):
        raise source.error(
            f"this file has the times of whole iterations and not of layers: read the file of '{_EXPORT}'"
        )
    is_json = _PROFILE.search(source.first) is None
    names, time, count = _exported(source) if is_json else _printed(source)
    flops, moved, messages = _work(names, layers, count)
    return Kernels(
        names,
        flops,
        moved,
        time=time,
        count=np.full(len(names), count),
        origin={
            "time": "timeMs" if is_json else "Time(ms)",
            **(_RULES if layers is not None else {}),
        },
        warnings=messages,
        source=source.name,
    )


def _exported(source: Source) -> tuple[list[str], Floats, float]:
    """Return names, seconds of all iterations and the number of iterations of an exported profile."""
    document = source.json()
    if not (isinstance(document, list) and all(isinstance(entry, dict) for entry in document) and document):
        raise source.error("expected a list of objects, the first with 'count'")
    count = JsonRows(source.name, document[:1]).numbers("count")[0]
    rows = JsonRows(source.name, document[1:], range(2, len(document) + 1))
    if not count >= 1:
        raise source.error("expected the number of iterations from 1", place="entry 1, 'count'")
    if not len(rows):
        raise source.error(f"the profile has no layers: profile again with '{_EXPORT}'")
    total, mean = rows.numbers("timeMs"), rows.numbers("averageMs")
    return rows.texts("name"), np.where(np.isnan(total), mean * count, total) / _MILLI, float(count)


def _printed(source: Source) -> tuple[list[str], Floats, float]:
    """Return names, seconds of all iterations and the number of iterations of the first printed profile."""
    lines = source.text(_MAX_TEXT_BYTES).splitlines()
    found = next(((at, match) for at, match in enumerate(map(_PROFILE.search, lines)) if match), None)
    begin, iterations = (len(lines), 0.0) if found is None else (found[0], float(found[1][1]))
    forms = ((at, _HEADER.search(lines[at])) for at in range(begin, len(lines)))
    header = next(((at, form) for at, form in forms if form), None)
    if header is None or not iterations:
        raise source.error("expected a profile of trtexec with a header 'Time(ms) … Layer'")
    at, form = header
    names, times = [], []
    for number, line in enumerate(lines[at + 1 :], at + 2):
        row = _row(line, columns=4 if form["median"] else 3, name_is_first=bool(form["first"]))
        if row is None:
            raise source.error(
                f"expected a layer with its times, or the row of totals, got {line!r:.60}", place=f"line {number}"
            )
        if row[0] == _TOTAL:
            break
        names.append(row[0])
        times.append(row[1])
    else:
        raise source.error("the profile has no row of totals at its end: the file is incomplete")
    if not names:
        raise source.error(f"the profile has no layers: profile again with '{_EXPORT}'")
    return names, np.array(times) / _MILLI, iterations


def _row(line: str, *, columns: int, name_is_first: bool) -> tuple[str, float] | None:
    """Return the layer of a line and the milliseconds of all its runs; None for a line of another form."""
    text = _LOG.sub("", line, count=1).strip()
    cells = text.rsplit(maxsplit=columns) if name_is_first else text.split(maxsplit=columns)
    if len(cells) != columns + 1:
        return None
    name = cells.pop(0 if name_is_first else -1)
    is_row = _NUMBER.fullmatch(cells[0]) and all(_NUMBER.fullmatch(cell) or cell in _NO_SHARE for cell in cells[1:])
    return (name, float(cells[0])) if is_row else None


# -- the layers ----------------------------------------------------------------------------------------------------

_BYTES_OF_FORMAT: Final = (
    (re.compile(r"\b(?:fp32|float|int32|tf32)\b", re.IGNORECASE), 4),
    (re.compile(r"\b(?:fp16|half|bf16|bfloat16)\b", re.IGNORECASE), 2),
    (re.compile(r"\b(?:int8|fp8|bool|uint8)\b", re.IGNORECASE), 1),
    (re.compile(r"\b(?:int64)\b", re.IGNORECASE), 8),
)
_NO_DETAILS: Final = "the file has only the names of the layers: export it with --profilingVerbosity=detailed"


def _work(names: Sequence[str], layers: Any, count: float) -> tuple[Any, Any, list[str]]:
    """Return FLOPs and compulsory bytes of all iterations, NaN where unknown, and warnings."""
    if layers is None:
        return {}, {}, [_NO_WORK]
    source = Source.of(layers)
    document = source.json()
    given = value_at(document, "Layers")
    if not isinstance(given, list):
        raise source.error("expected the file of trtexec --exportLayerInfo, which has a list 'Layers'")
    by_name = {layer.get("Name"): layer for layer in given if isinstance(layer, dict)}
    if not by_name:
        raise source.error(_NO_DETAILS)
    found = [by_name.get(name) for name in names]
    missing = [name for name, layer in zip(names, found, strict=True) if layer is None]
    if len(missing) == len(names):
        raise source.error(f"the file has no layer of the profile, such as {missing[0]!r:.60}")
    messages = [f"layers of the profile that the file of layers does not have: {len(missing)}"] * bool(missing)
    messages.append("FLOPs are those of convolutions; bytes are compulsory bytes and were not measured")
    flops = np.array([_flops(layer) for layer in found])
    moved = np.array([_moved(layer) for layer in found])
    return flops * count, moved * count, messages


def _flops(layer: Mapping[str, Any] | None) -> float:
    """Return the FLOPs of a convolution: each weight is used once per output position."""
    weights = _weights(layer)
    outputs = [_dimensions(tensor) for tensor in _tensors(layer, "Outputs")]
    if layer is None or layer.get("ParameterType") != "Convolution" or weights is None or len(outputs) != 1:
        return math.nan
    sizes = outputs[0]
    if sizes is None or len(sizes) < _MIN_CONVOLUTION_AXES:
        return math.nan
    return 2.0 * math.prod(sizes) / sizes[1] * weights[0] if sizes[1] else math.nan


def _moved(layer: Mapping[str, Any] | None) -> float:
    """Return the bytes of the inputs, outputs and weights of a layer."""
    tensors = [*_tensors(layer, "Inputs"), *_tensors(layer, "Outputs")]
    if not tensors:
        return math.nan
    sizes = [_dimensions(tensor) for tensor in tensors]
    widths = [_width(tensor.get("Format/Datatype")) for tensor in tensors]
    weights = _weights(layer) or (0.0, 0.0)
    parts = [math.nan if size is None else float(math.prod(size)) for size in sizes]
    return sum(part * width for part, width in zip(parts, widths, strict=True)) + weights[0] * weights[1]


def _tensors(layer: Mapping[str, Any] | None, key: str) -> list[Mapping[str, Any]]:
    return [tensor for tensor in list_at(layer, key) if isinstance(tensor, dict)]


def _dimensions(tensor: Mapping[str, Any]) -> list[int] | None:
    sizes = tensor.get("Dimensions")
    right = isinstance(sizes, list) and all(type(size) is int and 0 <= size < _MAX_SIZE for size in sizes)
    return sizes if right and len(sizes) <= _MAX_AXES else None  # type: ignore[arg-type]  # it is a list


def _weights(layer: Mapping[str, Any] | None) -> tuple[float, float] | None:
    """Return the number of weights and the bytes of one."""
    count = value_at(layer, "Weights", "Count")
    is_known = type(count) is int and 0 < count < _MAX_SIZE
    return (float(count), _width(value_at(layer, "Weights", "Type"))) if is_known else None


def _width(text: object) -> float:
    """Return the bytes of an element of a format such as ``"Channel major FP16 format where channel % 8 == 0"``."""
    widths = [width for form, width in _BYTES_OF_FORMAT if isinstance(text, str) and form.search(text)]
    return float(widths[0]) if len(widths) == 1 else math.nan
