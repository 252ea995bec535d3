"""Write tables of averages as versions of PyTorch print them: each version's own table function over made-up events.

    python tests/make_fixtures/torch_tables.py VERSION FILE

FILE is ``torch/autograd/profiler.py`` (PyTorch 1.8 and older) or ``torch/autograd/profiler_util.py`` of that version.
Only the functions that print are run, so neither that version nor its device is needed.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FIXTURES = Path(__file__).parents[1] / "fixtures" / "torch_tables"
_PRINTS = re.compile(r"_?(build_table|format_time|format_time_share|format_memory)")
_STACK = ["/src/nn/modules/linear.py(114): forward", "train.py(7): step"]


class Event:
    """One row. Times are in microseconds; every version's names of the device lead to the same numbers."""

    stack: tuple[str, ...] | list[str] = ()
    node_id = -1
    is_async = is_remote = is_user_annotation = is_legacy = False
    overload_name = ""
    cpu_parent = None
    cpu_memory_usage = self_cpu_memory_usage = 0

    def __init__(
        self, key: str, calls: int, cpu: tuple[float, float], device: tuple[float, float], **more: Any
    ) -> None:
        self.key, self.count = key, calls
        self.cpu_time_total, self.self_cpu_time_total = cpu
        self.cpu_time, self.device_time = cpu[0] / calls, device[0] / calls
        self.device_time_total, self.self_device_time_total = device
        self.device_memory_usage = self.self_device_memory_usage = 0
        self.flops = 0
        self.input_shapes: list[Any] = []
        self.use_device: str | None = "cuda"
        self.device_type = "CUDA" if cpu[0] == 0 else "CPU"
        self.__dict__.update(more)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_str"):
            return self.time_text(getattr(self, name.removesuffix("_str")))
        if "cuda" in name:
            return getattr(self, name.replace("cuda", "device"))
        raise AttributeError(name)


def _events(*, on_device: bool, namespace: str) -> list[Event]:
    """Return a linear layer, its product, an activation and the kernels, or what the host ran of them."""

    def device(total: float, own: float) -> tuple[float, float]:
        return (total, own) if on_device else (0.0, 0.0)

    square = [4096, 4096]
    kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::relu>(int, at::detail::Array<char*, 2>)"
    rows = [
        Event(f"{namespace}linear", 8, (400.0, 40.0), device(12_800.0, 0.0), input_shapes=[square, square, []]),
        Event(
            f"{namespace}mm",
            8,
            (360.0, 300.0),
            device(12_800.0, 12_800.0),
            input_shapes=[square, square],
            flops=8 * 2 * 4096**3,
            stack=_STACK,
            overload_name="out",
            cpu_memory_usage=-2_097_152,
        ),
        Event(f"{namespace}relu", 8, (130.0, 90.0), device(960.0, 960.0), input_shapes=[square]),
    ]
    if on_device and namespace:
        rows += [
            Event("ampere_sgemm_128x64_nn", 8, (0.0, 0.0), device(12_800.0, 12_800.0)),
            Event(kernel, 8, (0.0, 0.0), device(960.0, 960.0)),
        ]
    for row in rows:
        row.use_device = "cuda" if on_device else None
        row.device_memory_usage = 67_108_864 if on_device else 0
        row.self_device_memory_usage = row.device_memory_usage
    return rows


def _functions(path: Path) -> dict[str, Any]:
    """Return the functions of a file that print a table."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef) and _PRINTS.fullmatch(one.name)]
    kinds = SimpleNamespace(CPU="CPU", CUDA="CUDA", PrivateUse1="PRIVATEUSE1", MTIA="MTIA", XPU="XPU")
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True))
    names: dict[str, Any] = {"math": math, "DeviceType": kinds, "torch": torch}
    exec(compile(tree, str(path), "exec"), names)  # noqa: S102 - PyTorch's own functions are what is asked for
    return {name.lstrip("_"): value for name, value in names.items()}


def table(path: Path, *, on_device: bool, plain: bool) -> str:
    """Return the table that the functions of a file print, plain or with all columns that they have."""
    functions = _functions(path)
    Event.time_text = staticmethod(functions["format_time"])  # type: ignore[attr-defined]
    code = functions["build_table"].__code__
    known = code.co_varnames[: code.co_argcount]
    # PyTorch 1.6 and older print operations without a namespace, and do not list kernels.
    events = _events(on_device=on_device, namespace="aten::" if "with_flops" in known else "")
    options = {"with_flops": not plain, "profile_memory": not plain, "use_cuda": on_device}
    if plain:
        for event in events:
            event.input_shapes, event.stack, event.overload_name = [], [], ""
    printed: str = functions["build_table"](events, **{word: value for word, value in options.items() if word in known})
    return printed


if __name__ == "__main__":
    version, file = sys.argv[1], Path(sys.argv[2])
    FIXTURES.mkdir(exist_ok=True)
    for name, on_device, plain in (("device", True, False), ("host", False, True)):
        text = f"epoch 3 done\n{table(file, on_device=on_device, plain=plain)}\n"
        (FIXTURES / f"{version}_{name}.txt").write_text(text, encoding="utf-8")
