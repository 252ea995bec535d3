"""Time that `%%roofline` adds to a cell beyond the run in which operations are counted: medians over cells.

The added time is that of the whole cell, less that of its code, plus that of the chart's updates while the code runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import roofwidget as rw

LIMIT_MS = 50
ROUNDS = 15
CHIP = rw.Chip("CPU", {"fp64": "100 GFLOP/s", "fp32": "200 GFLOP/s"}, {"DRAM": "20 GB/s"})
NUMPY = """for n in range(100):
    b = a[n:] + 1.0"""
TORCH = """for layer in model:
    x = layer(x)"""


def updates(widget: Any) -> Callable[[], float]:
    """Return a function that returns the seconds of the widget's updates so far."""
    seconds = 0.0
    update = widget.set_series

    def timed(*args: Any) -> None:
        nonlocal seconds
        start = time.perf_counter()
        update(*args)
        seconds += time.perf_counter() - start

    widget.set_series = timed
    return lambda: seconds


def added_ms(shell: Any, widget: rw.RooflineWidget, code: str) -> tuple[float, float]:
    """Return the milliseconds of the code, and those that the magic adds to it."""
    spent = updates(widget)
    before = widget.kernels
    shell.push({"w": widget, "clock": time.perf_counter, "spent": spent})
    cell = f"%%roofline -w w\nbegin, updates = clock(), spent()\n{code}\nend, updated = clock(), spent()"
    codes, added = [], []
    for _ in range(ROUNDS):
        widget.kernels = before
        start = time.perf_counter()
        with capture_output():
            shell.run_cell(cell).raise_error()
        whole = time.perf_counter() - start
        inside = shell.user_ns["updated"] - shell.user_ns["updates"]
        run = shell.user_ns["end"] - shell.user_ns["begin"] - inside
        codes.append(run * 1e3)
        added.append((whole - run) * 1e3)
    return median(codes), median(added)


def main() -> None:
    import torch  # noqa: PLC0415 - the first cells run without it

    # On a busy machine, PyTorch's threads wait for each other, also in the code between its operations.
    torch.set_num_threads(1)
    shell: Any = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "roofwidget")
    generator = np.random.default_rng(0)
    many = rw.Kernels([f"k{n}" for n in range(10_000)], generator.random(10_000), generator.random(10_000))
    model = torch.nn.Sequential(*(torch.nn.Linear(128, 128) for _ in range(100)))
    shell.push({"a": np.ones((1000, 100)), "model": model, "x": torch.ones(64, 128)})
    worst = 0.0
    for what, kernels, code in (
        ("100 operations of numpy", [], NUMPY),
        ("100 operations of numpy, 10,000 kernels on the chart", many, NUMPY),
        ("100 operations of PyTorch", [], TORCH),
    ):
        run, added = added_ms(shell, rw.RooflineWidget([CHIP], kernels), code)
        print(f"{what:55} code {run:7.1f} ms, %%roofline adds {added:6.1f} ms (limit {LIMIT_MS} ms)")
        worst = max(worst, added)
    if worst > LIMIT_MS:
        sys.exit("%%roofline adds too much to a cell")


if __name__ == "__main__":
    main()
