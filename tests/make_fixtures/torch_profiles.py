"""Write twins of what PyTorch's profiler writes: made-up models on made-up clocks.

Each row on the device is given by its microseconds, so a test can add them up. The order of keys and events, the names,
shapes and categories differ on purpose from common traces. Run this file to write the twins anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]
Named: TypeAlias = tuple[str, list[Any], list[str], list[str]]
FIXTURES = Path(__file__).parents[1] / "fixtures" / "torch"
HALF, BRAIN, FLOAT, DOUBLE = "c10::Half", "c10::BFloat16", "float", "double"


class Writer:
    """Events in the order in which a program causes them; each call gets the next id and the next stretch of time."""

    def __init__(self, begin: float) -> None:
        self.events: list[Event] = []
        self._now = begin
        self._id = 700

    def call(self, chain: list[Named], kernels: list[Event]) -> None:
        """Nest operations, each within the one before it; the last one launches the kernels."""
        span = 10.5 * len(chain) + 4.25 * len(kernels)
        for depth, (name, dims, types, values) in enumerate(chain):
            self._id += 1
            args = {"Ev Idx": self._id, "Input Dims": dims, "External id": self._id, "Input type": types}
            args |= {"Concrete Inputs": values}
            start, last = self._now + 1.25 * depth, self._now + span - 1.25 * depth
            self.events.append({"args": args, "tid": 5, "pid": 90, "dur": last - start, "ts": start, "ph": "X"})
            self.events[-1] |= {"name": name, "cat": "cpu_op"}
        for number, kernel in enumerate(kernels):
            self.launch(kernel, self._now + 1.25 * len(chain) + 2 * number, self._id)
        self._now += span + 3.75

    def launch(self, kernel: Event, at: float, external: int | None) -> None:
        """Call the runtime, and run something on the device later."""
        self._id += 1
        ids = {"correlation": 40000 + self._id} | ({} if external is None else {"External id": external})
        if external is not None:
            self.events.append({"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ph": "X", "pid": 90, "tid": 5})
            self.events[-1] |= {"ts": at, "dur": 1.5, "args": {"cbid": 211, **ids}}
        args = {"device": 3, "stream": 13, **ids, **kernel.get("args", {})}
        self.events.append({"ts": at + 30, "pid": 3, "tid": 13, "ph": "X", "cat": "kernel", **kernel, "args": args})


def kernel(name: str, dur: float, **more: Any) -> Event:
    """Return what runs on the device for some microseconds."""
    return {"name": name, "dur": dur, **more}


GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_64x128_32x6_tn_align8>(Params)"
FLASH = "void flash::fwd<Traits<16, 64, 64>>(Params)"


def device() -> str:
    """Return a trace of a made-up A100: what runs, and what a reader could trip over."""
    out = Writer(5_000_000_000_123.5)
    scalars = ["Scalar", "Scalar"]
    linear = ("aten::linear", [[40, 64], [96, 64], [96]], [HALF] * 3, ["", "", ""])
    addmm = ("aten::addmm", [[96], [40, 64], [64, 96], [], []], [HALF] * 3 + scalars, ["", "", "", "1", "1"])
    for dur in (4.0, 9.0, 5.0):
        out.call([linear, addmm], [kernel(GEMM, dur, args={"grid": [2, 1, 1], "block": [128, 1, 1]})])
    lists = ["ScalarList"] * 3
    shapes = [[4, 8, 10, 12], [16, 4, 3, 5], [16]]
    settings = ["[2, 1]", "[1, 2]", "[1, 1]"]
    conv = ("aten::conv2d", [*shapes, [], [], [], []], [FLOAT] * 3 + [*lists, "Scalar"], ["", "", "", *settings, "2"])
    values = ["", "", "", *settings, "False", "[0, 0]", "2"]
    inner = (
        "aten::convolution",
        [*shapes, *[[]] * 6],
        [FLOAT] * 3 + [*lists, "Scalar", "ScalarList", "Scalar"],
        values,
    )
    cudnn: Named = ("aten::cudnn_convolution", [*shapes[:2], *[[]] * 7], [FLOAT] * 2 + [*lists, *["Scalar"] * 4], [])
    names = ["void nchwToNhwcKernel<float>(Arguments)", "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc"]
    runs = [kernel(names[0], 1.5), kernel(names[1], 6.0), kernel("void add_bias<float>(float*)", 0.5)]
    out.call([conv, inner, cudnn], runs)
    q, k = [2, 4, 32, 16], [2, 4, 48, 16]
    masked = ["", "", "", "0.", "True", "False", "0.25"]
    sdpa = ("aten::scaled_dot_product_attention", [q, k, k, [], [], [], []], [BRAIN] * 3, masked)
    flash = (
        "aten::_scaled_dot_product_flash_attention",
        [q, k, k, [], [], [], []],
        [BRAIN] * 3 + ["Scalar"] * 4,
        masked,
    )
    swapped = [[2, 32, 4, 16], [2, 48, 4, 16], [2, 48, 4, 16], *[[]] * 8]
    forward = ("aten::_flash_attention_forward", swapped, [BRAIN] * 3 + [""] * 8, [""] * 8 + ["True", "False", "0.25"])
    out.call([sdpa, flash, forward], [kernel(FLASH, 7.0)])
    out.call([("aten::mul", [[6, 1, 5], [4, 1]], [FLOAT] * 2, ["", ""])], [kernel("void elementwise<mul>(int)", 2.0)])
    out.call([("aten::bmm", [[3, 8, 16], [3, 16, 4]], [DOUBLE] * 2, ["", ""])], [kernel("dgemm_32x32", 2.5)])
    out.call([("mine::scan", [[7, 9]], [FLOAT], [""])], [kernel("void scan<float>(float*)", 3.0)])
    copied = ("aten::copy_", [[32, 32], [32, 32], []], [FLOAT] * 2 + ["Scalar"], ["", "", "False"])
    out.call([copied], [kernel("Memcpy DtoD (Device -> Device)", 1.0, cat="gpu_memcpy", args={"bytes": 4096})])
    fused = ("triton_poi_fused_relu_3", [[100]], [FLOAT], [""])
    out.call([fused], [kernel(fused[0], 1.25, args={"kernel_flop": 2048, "kernel_num_gb": 0.00001})])
    reduced: Named = ("c10d::allreduce_", [], [], [])
    out.call([reduced], [kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 8.0)])
    out.launch(kernel("lonely", 0.25), 5_000_000_000_000.0, None)
    out.launch(kernel("never_seen_to_end", -1), 5_000_000_000_001.0, None)
    stack = {"ph": "X", "cat": "python_function", "name": 'odd "}, {" name', "ts": 1.5, "dur": 2, "pid": 90, "tid": 5}
    rest = {"deviceProperties": [{"id": 3, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}, {"id": 0, "name": "other"}]}
    return json.dumps({"record_shapes": 1, "traceEvents": [*out.events[::-1], stack], **rest}, indent=None) + "\n"


def old() -> str:
    """Return a trace in the words of older versions: launches have ids of their own, which mean other operations."""
    types = [FLOAT, FLOAT]

    def operation(number: int, name: str, dims: list[Any], ts: int, dur: int) -> Event:
        args = {"External id": str(number), "Input Dims": dims, "Input type": types[: len(dims)]}
        return {"cat": "Operator", "ph": "X", "name": name, "pid": 8, "tid": 8, "ts": ts, "dur": dur, "args": args}

    def launch(number: int, ts: int, name: str, dur: int, category: str = "Kernel") -> list[Event]:
        ids = {"External id": str(number), "correlation": number}
        call = {"cat": "Runtime", "ph": "X", "name": "cudaLaunchKernel", "pid": 8, "tid": 8, "ts": ts, "dur": 3}
        ran = {"cat": category, "ph": "X", "name": name, "pid": 1, "tid": 20, "ts": ts + 50, "dur": dur}
        return [call | {"args": ids}, ran | {"args": {"device": 1, "stream": 20, **ids}}]

    events = [
        operation(1, "aten::empty", [[5, 5]], 100, 10),
        operation(2, "aten::matmul", [[24, 10], [10, 8]], 120, 60),
        operation(3, "aten::mm", [[24, 10], [10, 8]], 125, 50),
        operation(4, "aten::mm", [[2, 2], [2, 2]], 200, 20),
        *launch(1, 150, "sgemm_old", 11),
        *launch(4, 178, "between_operations", 3),
    ]
    return json.dumps(events, indent=1) + "\n"


def host() -> str:
    """Return a trace without a device: a convolution with what it calls, and a product within its wrapper."""

    def operation(name: str, dims: list[Any], values: list[str], ts: float, dur: float) -> Event:
        types = [FLOAT if sizes else "ScalarList" for sizes in dims]
        args = {"External id": int(ts), "Input Dims": dims, "Input type": types, "Concrete Inputs": values}
        return {"name": name, "cat": "cpu_op", "ph": "X", "dur": dur, "ts": ts, "tid": 2, "pid": 2, "args": args}

    conv = [[1, 2, 9], [3, 2, 4], [], [], [], [], []]
    events = [
        operation("aten::conv1d", conv, ["", "", "", "[1]", "[0]", "[1]", "1"], 1000, 100),
        operation("aten::_to_copy", [[1, 2, 9]], [""], 1010, 5),
        operation("aten::mkldnn_convolution", conv, ["", "", "", "[0]", "[1]", "[1]", "1"], 1020, 60),
        operation("aten::matmul", [[6, 7], [7, 5]], ["", ""], 1200, 50),
        operation("aten::mm", [[6, 7], [7, 5]], ["", ""], 1205, 40),
        operation("aten::relu", [[6, 5]], [""], 1300, 8),
    ]
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}) + "\n"


def cupti() -> str:
    """Return a trace with counters of CUPTI, whose durations are all the same."""
    op = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
    ranges = [("blend_rows", 10, 20, 300, 77, 4096, 1024), ("blend_rows", 10, 20, 300, 0, 4096, 2048)]
    ranges.append(("shuffle", 0, 0, 0, 512, 640, 64))
    events = []
    for number, (name, fadd, fmul, ffma, hfma, read, written) in enumerate(ranges):
        args = {"dram__bytes_write.sum": written, op.format("ffma"): ffma, op.format("hfma"): hfma}
        args |= {op.format("fadd"): fadd, "dram__bytes_read.sum": read, op.format("fmul"): fmul}
        events.append({"args": args, "name": name, "cat": "cuda_profiler_range", "ph": "X", "pid": 0, "tid": 0})
        events[-1] |= {"dur": 5555, "ts": 10 + 5555 * number}
    ga100 = {"id": 0, "name": "made up", "computeMajor": 8, "computeMinor": 0}
    return json.dumps({"traceEvents": events, "deviceProperties": [ga100]}, indent=2) + "\n"


HEADERS = [
    "Name",
    "Self CPU %",
    "Self CPU",
    "CPU total %",
    "CPU total",
    "CPU time avg",
    "Self CUDA",
    "Self CUDA %",
    "CUDA total",
    "CUDA time avg",
    "# of Calls",
    "Input Shapes",
    "Total MFLOPs",
]
CONV = "[[2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]"
ROWS = [
    row.split("|")
    for row in (
        "ProfilerStep*|9%|1.000ms|90%|9.000ms|9.000ms|0.000us|0%|3.000ms|3.000ms|1|[]|--",
        f"aten::conv2d|1%|5.000us|30%|250.000us|50.000us|0.000us|0%|1.200ms|240.000us|5|{CONV}|0.138",
        f"aten::cudnn_convolution|1%|90.000us|9%|90.000us|18.000us|1.200ms|99%|1.200ms|240.000us|5|{CONV[:44]}...|--",
        "aten::mm|2%|40.000us|2%|40.000us|20.000us|6.500us|1%|6.500us|3.250us|2|[[30, 20], [20, 10]]|0.024",
        "aten::bmm|2%|40.000us|2%|40.000us|40.000us|2.000us|1%|2.000us|2.000us|1|[[3, 8, 16], [3, 16, 4]]|--",
        "aten::view|2%|1.000us|2%|1.000us|1.000us|0.000us|0%|0.000us|0.000us|1|[[3]]|--",
        "void gemm_kernel<float>(float*, ...|0%|0.000us|0%|0.000us|0.000us|6.500us|1%|6.500us|3.250us|2|[]|--",
    )
]


def printed() -> str:
    """Return the table that averages print, with a program's own line before it."""
    widths = [max(len(row[column]) for row in [HEADERS, *ROWS]) + 4 for column in range(len(HEADERS))]
    rule = "".join("-" * width + "  " for width in widths)

    def line(cells: list[str]) -> str:
        return "".join(f"{cell:>{width}}  " for cell, width in zip(cells, widths, strict=True))

    sums = ["Self CPU time total: 9.500ms", "Self CUDA time total: 1.209ms"]
    return "\n".join(["epoch 3 done", rule, line(HEADERS), rule, *map(line, ROWS), rule, *sums, ""])


TWINS = {
    "device.trace.json": device,
    "old.trace.json": old,
    "host.trace.json": host,
    "cupti.trace.json": cupti,
    "averages.txt": printed,
}

if __name__ == "__main__":
    for twin, made in TWINS.items():
        (FIXTURES / twin).write_text(made(), encoding="utf-8")
