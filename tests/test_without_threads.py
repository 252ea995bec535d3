"""What runs in Pyodide, which has neither threads nor other processes, and where the engine of pictures is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"

# What roofwidget needs is imported first: Pyodide has its own of these.
PROGRAM = """
import importlib.abc, sys, threading
import ipywidgets, anywidget, numpy, traitlets

MISSING = {"subprocess", "_posixsubprocess", "multiprocessing", "_multiprocessing", "quickjs"}

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ImportError(f"{name} is missing here")

def start(self):
    raise RuntimeError("can't start new thread")

for name in [name for name in sys.modules if name.partition(".")[0] in MISSING]:
    del sys.modules[name]
sys.meta_path.insert(0, Missing())
threading.Thread.start = start

import roofwidget as rw

for path in sys.argv[1:]:
    assert len(rw.read(path)) > 0, path
widget = rw.RooflineWidget(["h100-sxm"], rw.Kernels(["copy"], [0], [1e9], time=[1e-3]))
widget.peak_flops = 5e14
assert "<html" in widget.to_html()
assert rw.bound(widget.kernels, "h100-sxm").regime[0] == "memory"
assert len(rw.read_many(sys.argv[1:])) == len(sys.argv[1:])
print("done")
"""


def test_the_widget_and_the_readers_need_no_threads_no_processes_and_no_engine() -> None:
    paths = ["torch/host.trace.json", "gpu/kernels.raw.csv.gz", "xprof_gpu.roofline_model.csv"]
    command = [sys.executable, "-c", PROGRAM, *(str(FIXTURES / path) for path in paths)]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", timeout=60)
    assert done.stdout == "done\n", done.stderr
