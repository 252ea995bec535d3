"""What works and what is loaded where a framework is blocked or not needed, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.places import ROOT


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numpy_is_profiled_and_measured_where_the_imports_of_the_others_are_blocked() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['jax'] = None\n"
        "import numpy as np, roofwidget as rw\n"
        "profile = rw.profile(np.tanh, np.ones(100), repeat=1)\n"
        "with rw.record(rw.RooflineModel(['v5p'], [])) as run: run.add('copy', 0, '1 MB')\n"
        "peaks = rw.measure_peaks(budget_s=0.1)\n"
        "profile.summary(peaks)\n"
        "print(sorted(peaks.chip.peak_flops))"
    )
    assert run(code).endswith("['fp32', 'fp64']\n")


def test_a_profile_of_pytorch_does_not_import_its_compiler() -> None:
    pytest.importorskip("torch")
    code = (
        "import sys, torch, roofwidget as rw\n"
        "model = torch.nn.Linear(8, 4)\n"
        "print(rw.profile(lambda x: model(x).sum().backward(), torch.ones(2, 8), repeat=1).flops)\n"
        "print('torch._dynamo' in sys.modules, 'torch._inductor' in sys.modules)"
    )
    # Forward, and the gradient of the weights.
    assert run(code) == f"{2 * 2 * 2 * 8 * 4}\nFalse False\n"


@pytest.mark.parametrize(
    "counting",
    [
        "assert rw.count_flops(np.matmul, np.ones((4, 4)), np.ones((4, 4))).flops == 128",
        "print(rw.profile(np.tanh, np.ones(100), repeat=1).bound('v5p'))",
        "assert rw.measured(flops=2, bytes=24)(abs)(-3) == 3",
        "rw.sweep(lambda n: (np.tanh, np.ones(n)), over={'n': [8]}, peaks='v5p', repeat=1).summary()",
        "rw.from_jax, rw.from_hlo_text, rw.RooflineAnalyzer, rw.measure_peaks, rw.this_chip",
        "from roofwidget.measure import frameworks; list(map(frameworks.counter, ['numpy', 'torch', 'jax']))",
    ],
)
def test_counting_imports_nothing_of_jupyter(counting: str) -> None:
    shown = "print(sorted({'anywidget', 'ipywidgets', 'IPython'} & set(sys.modules)))"
    assert run(f"import sys, numpy as np, roofwidget as rw\n{counting}\n{shown}").endswith("[]\n")


def test_a_function_is_profiled_where_jupyter_is_missing() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['anywidget', 'ipywidgets', 'IPython', 'traitlets']))\n"
        "import numpy as np, roofwidget as rw\n"
        "rw.profile(np.tanh, np.ones(100), repeat=1).summary('v5p')"
    )
    assert run(code)
