"""Record steps of optimizers and pooling with the installed PyTorch on the CPU: a trace of its profiler.

The file has the operations of the trace and no name of a machine.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

FILE = Path(__file__).parents[1] / "fixtures" / "torch_recorded" / "lists.trace.json.gz"
SIZES = ((128, 64), (64,), (3, 5, 7))


def step_of(kind: Any, **options: Any) -> Any:
    parameters = [torch.ones(sizes, requires_grad=True) for sizes in SIZES]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer = kind(parameters, **options)
    optimizer.step()
    return optimizer.step


def main() -> None:
    x = torch.ones(2, 3, 32, 33, requires_grad=True)
    steps = [
        step_of(torch.optim.AdamW, fused=True, amsgrad=True),
        step_of(torch.optim.SGD, fused=True, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.5),
        step_of(torch.optim.Adagrad, fused=True),
        step_of(torch.optim.RMSprop, foreach=True),
    ]
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        for step in steps:
            step()
        functional.max_pool2d(x, 3, 2, 1, return_indices=True)[0].sum().backward()
        functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True).sum().backward()
        functional.adaptive_avg_pool2d(x, (7, 5)).sum().backward()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        trace = json.loads(path.read_text(encoding="utf-8"))
    events = [event for event in trace["traceEvents"] if event.get("cat") == "cpu_op"]
    kept = {"schemaVersion": trace["schemaVersion"], "record_shapes": 1, "traceEvents": events}
    FILE.write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
