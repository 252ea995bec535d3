"""`roofwidget sol`: files, their models and inputs, the document, and the exit status."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from roofwidget import cli
from roofwidget.cli import main
from tests.places import json_of, write

Capture = pytest.CaptureFixture[str]
SCHEMA: Final = json_of(Path(cli.__file__).with_name("sol.schema.json"))
NEEDS_TORCH: Final = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
NEEDS_JAX: Final = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")

GRAPH: Final = """
from roofwidget import Graph
linear = Graph("linear")
x, w = linear.input("x", (16, 8192), "bf16"), linear.input("w", (8192, 8192), "bf16")
linear.output(linear.relu(linear.matmul(x, w)))
"""
MADE: Final = """
import roofwidget as rw
def mlp():
    g = rw.Graph("made")
    g.output(g.gelu(g.input("x", (1024,), "bf16")))
    return g
"""
BENCHMARK: Final = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.up = nn.Linear(features, hidden, bias=False)
    def forward(self, x):
        return torch.relu(self.up(x))
rows = 1 << 20
def get_inputs():
    return [torch.rand(rows, 4096)]
def get_init_inputs():
    return [4096, 1 << 16]
"""
JAX: Final = """
import jax
import jax.numpy as jnp
def product(x, w):
    assert not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer), "it runs"
    return x @ w
def get_inputs():
    return [jnp.zeros((1 << 20, 1 << 20), "bfloat16"), jnp.zeros((1 << 20, 128), "bfloat16")]
"""
# 2 inputs and a result; the ReLU is free. H100 SXM: 3.35 TB/s.
LIGHT_BYTES: Final = 2 * 16 * 8192 * 2 + 2 * 8192**2
LIGHT: Final = LIGHT_BYTES / 3.35e12


@pytest.fixture
def linear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(write(Path("linear.py"), GRAPH))


def document(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """Run the command with --json, and return its document, which is of the schema."""
    status = main(["sol", *arguments, "--json"])
    said = capsys.readouterr()
    assert said.err == ""
    found: dict[str, Any] = json.loads(said.out)
    assert list(Draft202012Validator(SCHEMA).iter_errors(found)) == []
    assert found["exit_status"] == status
    return found


def fault(capsys: Capture, *arguments: str) -> str:
    """Run the command, which cannot say anything, and return its sentence."""
    assert main(["sol", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err.removeprefix("roofwidget: ").rstrip("\n")


def test_the_schema_is_one_and_says_what_each_key_is() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"])
    keys = set(SCHEMA["properties"]) - {"format", "chip", "limits"}
    assert {key for key in keys if "description" not in SCHEMA["properties"][key]} == set()


def test_a_graph_of_a_file_has_the_four_times(capsys: Capture, linear: str) -> None:
    found = document(capsys, linear, "--chip", "h100-sxm")
    assert found["light"] == {"time_s": pytest.approx(LIGHT), "bytes": LIGHT_BYTES}
    assert found["unfused"]["bytes"] == LIGHT_BYTES + 2 * 2 * 16 * 8192
    assert found["best"] == {"time_s": pytest.approx(LIGHT), "bytes": LIGHT_BYTES} == found["compiler"]
    assert (found["verdict"], found["bound_by"], found["how"], found["measured"]) == ("fine", "HBM", "optimal", None)
    assert (found["graph"], found["flops"], found["convention"]) == ("linear", 2 * 16 * 8192**2 + 16 * 8192, "textbook")
    assert [kernel["ops"] for kernel in found["kernels"]] == [["matmul", "relu"]]
    assert main(["sol", f"{linear}:linear", "--chip", "h100-sxm"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[:5] == [
        f"{linear}:linear",
        "speed of light of linear on NVIDIA H100 SXM5 80GB, 2.15 GFLOP",
        "unfused   40.38 µs  135 MB  one kernel per op",
        "compiler  40.22 µs  135 MB  what a compiler does today, at best",
        "best      40.22 µs  135 MB  what one can write: 1 kernel, optimal",
    ]
    assert "HBM: 134,742,016 B / 3.35 TB/s = 40.22 µs" in text


def test_a_function_without_parameters_makes_a_graph(capsys: Capture, tmp_path: Path) -> None:
    path = write(tmp_path / "made.py", MADE)
    assert document(capsys, f"{path}:mlp", "--chip", "b200")["light"]["bytes"] == 4 * 1024
    assert document(capsys, str(path), "--chip", "b200")["graph"] == "made"


@NEEDS_TORCH
def test_a_problem_of_a_benchmark_is_traced_without_memory_for_its_tensors(capsys: Capture, tmp_path: Path) -> None:
    # Inputs of 17 GB, a result of 275 GB.
    path = str(write(tmp_path / "problem.py", BENCHMARK))
    found = document(capsys, path, "--chip", "h100-sxm", "--precision", "tf32")
    rows, features, hidden = 1 << 20, 4096, 1 << 16
    assert found["light"]["bytes"] == 4 * (rows * features + features * hidden + rows * hidden)
    assert found["light"]["time_s"] == pytest.approx(2 * rows * features * hidden / 494.5e12)
    assert (found["graph"], found["bound_by"], found["chip"]["precision"]) == ("Model", "tensor", "tf32")


@NEEDS_JAX
def test_a_function_of_jax_is_traced_and_does_not_run(capsys: Capture, tmp_path: Path) -> None:
    # Inputs of 2.2 TB.
    found = document(capsys, f"{write(tmp_path / 'product.py', JAX)}:product", "--chip", "h100-sxm")
    n = 1 << 20
    assert found["light"]["bytes"] == 2 * (n * n + 2 * n * 128)
    assert found["flops"] == 2 * n * n * 128


def test_a_measured_time_has_a_score_and_a_limit(capsys: Capture, linear: str) -> None:
    on = (linear, "--chip", "h100-sxm")
    found = document(capsys, *on, "--measured", "60us", "--baseline", "80us", "--fail-below", "60%")
    judged = found["measured"]
    assert judged["fraction"] == pytest.approx(LIGHT / 60e-6)
    assert judged["score"] == pytest.approx(1 / (1 + (60e-6 - LIGHT) / (80e-6 - LIGHT)))
    assert (judged["verdict"], judged["is_modelled"], found["exit_status"]) == ("possible", False, 0)
    below = document(capsys, *on, "--measured", "80us", "--fail-below", "60%")
    assert (below["verdict"], below["exit_status"]) == ("below", 1)
    assert below["reasons"] == [
        "the measured time reaches 50.28 % of the speed of light, and at least 60 % are asked for"
    ]
    # The baseline is the time of a modelled compiler, which is at light here.
    assert below["measured"]["score"] is None
    assert main(["sol", *on, "--measured", "80us", "--fail-below", "60%"]) == 1
    assert "\nBelow: the measured time reaches 50.28 %" in capsys.readouterr().out


def test_an_impossible_time_gives_status_1_and_what_to_check(capsys: Capture, linear: str) -> None:
    found = document(capsys, linear, "--chip", "h100-sxm", "--measured", "6.1us")
    assert (found["verdict"], found["exit_status"], found["measured"]["verdict"]) == ("impossible", 1, "impossible")
    assert found["measured"]["sentence"] == (
        "measured 6.1 µs is below 40.2 µs, the least time in which NVIDIA H100 SXM5 80GB can move 135 MB. Check:"
    )
    assert found["measured"]["score"] is None
    assert main(["sol", linear, "--chip", "h100-sxm", "--measured", "6.1us"]) == 1
    text = capsys.readouterr().out
    assert "\n- fewer bytes than the 135 MB that are counted" in text
    assert text.splitlines()[-1] == "Impossible: the measured time is below the speed of light."


def test_warm_inputs_and_the_least_time_of_a_kernel_are_options(capsys: Capture, linear: str) -> None:
    found = document(capsys, linear, "--chip", "h100-sxm", "--warm", "--launch-overhead", "50us")
    # The units of an H100 share 52,428,800 B.
    assert found["light"]["bytes"] == LIGHT_BYTES - 52_428_800
    assert found["best"]["time_s"] == 50e-6
    assert found["unfused"]["time_s"] == 100e-6
    assert found["warm"] is True


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("x = 1", "", "{file}: has no graph, model or function; write a function, and get_inputs() for its inputs"),
        (GRAPH, "liner", "{file}: has no 'liner'; did you mean 'linear'?"),
        (GRAPH + "other = Graph('other')", "", "{file}: has 'linear', 'other'; name one, such as {file}:linear"),
        ("def f(x): return x", "f", "{file}: has no example inputs for f; write a function get_inputs() that returns"),
        ("def f(): return 1", "f", "{file}: f() returns 1, and no Graph; return one, or write a function get_inputs()"),
        ("\nraise OSError('no disk')", "", "{file}, line 2: importing it failed: OSError: no disk"),
        ("def f(:", "", "{file}: importing it failed: SyntaxError: "),
        ("def f():\n    return 1 / 0", "f", "{file}, line 2: f() failed: ZeroDivisionError: division by zero"),
        ("def f(x): return x\ndef get_inputs(): return [1]", "f", "{file}: imports neither PyTorch nor JAX, so its"),
        ("from roofwidget import Graph\ng = Graph('g')", "g", "{file}:g: has no operations; return a tensor that"),
    ],
)
def test_a_file_without_an_answer_gives_status_2_and_one_sentence_with_the_fix(
    capsys: Capture, tmp_path: Path, text: str, name: str, sentence: str
) -> None:
    path = str(write(tmp_path / "faulty.py", text))
    said = fault(capsys, f"{path}:{name}" if name else path, "--chip", "h100-sxm")
    assert said.startswith(sentence.format(file=path)), said


@NEEDS_TORCH
@pytest.mark.parametrize(
    ("was", "now", "sentence"),
    [
        ("[4096, 1 << 16]", "[4096]", "{file}: Model(get_init_inputs()) failed: TypeError: "),
        ("torch.rand(rows, 4096)", "torch.rand(rows, -1)", "{file}, line 12: get_inputs() failed: RuntimeError: "),
        ("torch.rand(rows, 4096)", "torch.rand(rows, 64)", "{file}: torch.export cannot trace Model: "),
        ("[torch.rand(rows, 4096)]", "[4096]", "{file}: Graph.from_torch needs example inputs for Model"),
    ],
)
def test_a_fault_of_a_problem_names_the_file_and_its_function(
    capsys: Capture, tmp_path: Path, was: str, now: str, sentence: str
) -> None:
    path = str(write(tmp_path / "problem.py", BENCHMARK.replace(was, now)))
    assert fault(capsys, path, "--chip", "h100-sxm").startswith(sentence.format(file=path))


def test_faults_of_the_options_name_the_option(capsys: Capture, tmp_path: Path, linear: str) -> None:
    missing = str(tmp_path / "missing.py")
    assert fault(capsys, missing, "--chip", "h100-sxm") == f"{missing}: there is no such file"
    assert fault(capsys, f"{missing}:f", "--chip", "h100-sxm") == f"{missing}: there is no such file"
    assert fault(capsys, "profile.csv", "--chip", "h100-sxm").startswith("profile.csv: is no Python file; give a file")
    assert "h100-sxm" in fault(capsys, linear, "--chip", "h100-sxn")
    assert "toml" in fault(capsys, linear, "--chip", str(tmp_path / "no.toml"))
    said = "--baseline is about a measured time: give it with --measured 12us"
    assert fault(capsys, linear, "--chip", "h100-sxm", "--baseline", "12us") == said
    assert "--fail-below is about" in fault(capsys, linear, "--chip", "h100-sxm", "--fail-below", "60%")
    assert "measured" in fault(capsys, linear, "--chip", "h100-sxm", "--measured", "fast")
    assert "fp3" in fault(capsys, linear, "--chip", "h100-sxm", "--precision", "fp3")
    double = str(write(tmp_path / "double.py", GRAPH.replace("bf16", "fp64")))
    assert fault(capsys, double, "--chip", "v5p") == (
        f"{double}: TPU v5p has no peak for precision 'fp64'; it has 'bf16', 'int8', 'int4'; "
        "--precision bf16 takes that peak for every op"
    )
    assert document(capsys, double, "--chip", "v5p", "--precision", "bf16")["light"]["bytes"] == 4 * LIGHT_BYTES
    with pytest.raises(SystemExit) as stopped:
        main(["sol", linear])
    assert stopped.value.code == 2
    assert "--chip" in capsys.readouterr().err


def test_what_the_file_prints_and_an_exit_in_it_leave_no_mark_on_the_document(capsys: Capture, tmp_path: Path) -> None:
    path = str(write(tmp_path / "prints.py", f"print('hello')\n{GRAPH}"))
    assert main(["sol", path, "--chip", "h100-sxm", "--json"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out)["light"]["bytes"], said.err) == (LIGHT_BYTES, "hello\n")
    path = str(write(tmp_path / "leaves.py", "import sys\nsys.exit('bye')"))
    assert fault(capsys, path, "--chip", "h100-sxm") == f"{path}, line 2: importing it failed: SystemExit: bye"


def test_modules_beside_the_file_can_be_imported(capsys: Capture, tmp_path: Path) -> None:
    write(tmp_path / "beside_of_sol.py", GRAPH)
    path = write(tmp_path / "uses.py", "def made():\n    from beside_of_sol import linear\n    return linear")
    before = list(sys.path)
    assert document(capsys, str(path), "--chip", "h100-sxm")["light"]["bytes"] == LIGHT_BYTES
    assert sys.path == before
    sys.modules.pop("beside_of_sol")


def test_the_text_fits_the_columns_of_the_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, linear: str
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert main(["sol", linear, "--chip", "h100-sxm", "--measured", "6us"]) == 1
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 72
