"""Seconds of the three lines that say how close a function is to the roof of this machine, for each framework.

Each framework runs in a process of its own: the lines import roofwidget, profile a function, measure the peaks of this
machine, and print the summary. The import of the framework is not part of them. Then the cost of counting: a numpy
function of 100 operations, called with counted arrays and without.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np

from roofwidget.measure.counts import Request
from roofwidget.measure.numpy.counter import recorded

MAX_SECONDS: Final = 10
MAX_FACTOR: Final = 2
ROUNDS: Final = 9
ELEMENTS: Final = 300_000
SETUPS: Final = {
    "numpy": """
import numpy as np
x = np.random.default_rng(0).random((2048, 2048), dtype=np.float32)
def f(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
""",
    "torch": """
import torch
x = torch.randn(256, 1024)
f = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024))
""",
    "jax": """
import jax
x = jax.numpy.ones((1024, 1024))
f = jax.jit(lambda x: jax.nn.softmax(x @ x.T))
""",
}
LINES: Final = """
import time
start = time.perf_counter()
import roofwidget as rw
p = rw.profile(f, x)
p.summary()
print(time.perf_counter() - start)
"""


def hundred_operations(x: Any) -> Any:
    for _ in range(50):
        x = x * 1.01
        x = x + 0.1
    return x


def median_seconds(run: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    slow = []
    for framework, setup in SETUPS.items():
        command = [sys.executable, "-c", setup + LINES]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)  # noqa: S603 - our own
        if "ModuleNotFoundError" in ran.stderr:
            print(f"{framework}: not installed")
            continue
        assert not ran.returncode, ran.stderr
        *summary, seconds = ran.stdout.splitlines()
        print(f"{framework}: {float(seconds):.1f} s, at most {MAX_SECONDS}: {summary[0]}")
        slow += [framework] if float(seconds) > MAX_SECONDS else []
    x = np.ones(ELEMENTS)
    plain = median_seconds(lambda: hundred_operations(x))
    counted = median_seconds(lambda: recorded(hundred_operations, (x,), {}, Request()))
    print(f"100 operations on {ELEMENTS:,} numbers: {plain * 1e3:.1f} ms, counted {counted * 1e3:.1f} ms")
    print(f"counting costs {counted / plain:.2f}×, at most {MAX_FACTOR}×")
    assert not slow, f"too slow: {', '.join(slow)}"
    assert counted <= MAX_FACTOR * plain, "counting is too slow"


if __name__ == "__main__":
    main()
