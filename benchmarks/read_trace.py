"""Speed and peak memory of reading a large Chrome trace of PyTorch's profiler, compared with `json.load`.

Writes a synthetic trace of 1 GB (or the first argument, in GB) to the temporary folder. Each read runs in a separate
process, so that peak memory is measured separately.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT_GB = 1.5
CALLS_PER_STEP = 1000
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)


def events(step: int) -> str:
    """Return the events of one step: an operation, its launch and its kernel for each call."""
    rows = []
    for call in range(CALLS_PER_STEP):
        number = step * CALLS_PER_STEP + call + 1
        start = number * 40.125
        m, n, k = (SIZES[(call // stride) % len(SIZES)] for stride in (1, 7, 49))
        operation = {
            "External id": number,
            "Record function id": 0,
            "Concrete Inputs": ["", "", "", "1", "1"],
            "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"],
            "Input Strides": [[1], [k, 1], [1, k], [], []],
            "Input Dims": [[n], [m, k], [k, n], [], []],
            "Ev Idx": number,
        }
        kernel: dict[str, object] = {
            "External id": number,
            "device": 0,
            "context": 1,
            "stream": 7,
            "correlation": number,
        }
        kernel |= {"registers per thread": 168, "shared memory": 98304, "grid": [m // 64, n // 64, 1]}
        kernel |= {"block": [128, 1, 1], "est. achieved occupancy %": 12}
        host, device = {"pid": 1, "tid": 1}, {"pid": 0, "tid": 7}
        rows += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::linear", **host, "ts": start, "dur": 30, "args": {}},
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": "aten::addmm",
                **host,
                "ts": start + 2,
                "dur": 25.5,
                "args": operation,
            },
            {"ph": "X", "cat": "python_function", "name": "torch/nn/modules/linear.py(124): forward", **host}
            | {"ts": start, "dur": 31, "args": {"Python id": number, "Python parent id": number - 1, "Ev Idx": number}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **host, "ts": start + 10, "dur": 5}
            | {"args": {"External id": number, "cbid": 211, "correlation": number}},
            {"ph": "s", "id": number, **host, "ts": start + 10, "cat": "ac2g", "name": "ac2g"},
            {"ph": "X", "cat": "kernel", "name": f"cutlass_80_tensorop_bf16_s16816gemm_{m}x{n}_tn", **device}
            | {"ts": start + 20, "dur": 5 + call % 10 / 8, "args": kernel},
            {"ph": "f", "id": number, **device, "ts": start + 20, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        ]
    return ",\n".join(json.dumps(row) for row in rows)


def write(path: Path, size: float) -> int:
    """Write a trace of about `size` bytes; return its number of calls."""
    steps = 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "record_shapes": 1, "traceEvents": [\n')
        while file.tell() < size:
            file.write((",\n" if steps else "") + events(steps))
            steps += 1
        file.write("\n]}\n")
    return steps * CALLS_PER_STEP


def reading(path: str, how: str) -> None:
    """Read in this process; print seconds, peak memory in bytes and the number of calls."""
    sys.path.insert(0, str(ROOT))
    start = time.perf_counter()
    if how == "json":
        with Path(path).open("rb") as file:
            calls = sum(event["name"] == "aten::addmm" for event in json.load(file)["traceEvents"])
    else:
        import roofwidget as rw  # noqa: PLC0415 - json.load must not pay for this import

        calls = int(rw.read(path, format="torch", idle=False, progress=False).count.sum())
    seconds = time.perf_counter() - start
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, calls)


def measured(path: Path, how: str) -> tuple[float, float, int]:
    """Return seconds, peak GB and calls of a read in a separate process."""
    command = [sys.executable, __file__, "--read", str(path), how]
    run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")  # noqa: S603
    seconds, memory, calls = run.stdout.split()
    return float(seconds), float(memory) / 1e9, int(calls)


def main() -> None:
    size = float(sys.argv[1]) * 1e9 if len(sys.argv) > 1 else 1e9
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        calls = write(path, size)
        megabytes = path.stat().st_size / 1e6
        print(f"{megabytes:,.0f} MB, {calls:,} calls")
        for how in ("json", "roofwidget"):
            seconds, memory, found = measured(path, how)
            assert found == calls
            print(f"{how:10}  {seconds:6.1f} s  {megabytes / seconds:6.1f} MB/s  peak {memory:5.2f} GB")
    if memory > LIMIT_GB:
        sys.exit(f"reading took more than {LIMIT_GB} GB")


if __name__ == "__main__":
    reading(sys.argv[2], sys.argv[3]) if "--read" in sys.argv else main()
