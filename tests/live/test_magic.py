"""The magics `%%roofline` and `%roofline` in a shell of IPython."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output

import roofwidget as rw
from roofwidget.live import magic
from roofwidget.measure.recording import Recording, active_recording
from tests.tables import has_columns

CHIP = rw.Chip("Mine", {"fp32": "100 GFLOP/s", "fp64": "50 GFLOP/s"}, {"DRAM": "20 GB/s"})


@pytest.fixture(scope="module")
def process_shell() -> Iterator[Any]:
    main = sys.modules["__main__"]
    with pytest.MonkeyPatch.context() as patch:
        # A shell warns of an environment that is not its own.
        patch.delenv("VIRTUAL_ENV", raising=False)
        shell = InteractiveShell.instance(colors="nocolor")
    shell.run_line_magic("load_ext", "roofwidget")
    yield shell
    InteractiveShell.clear_instance()
    # A shell puts a module of its own there, from which processes cannot be spawned.
    sys.modules["__main__"] = main


@pytest.fixture
def shell(process_shell: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a shell with a widget `w`, an array `a` and a function `f`."""
    monkeypatch.setattr(magic, "measure_peaks", lambda _device: rw_peaks())
    process_shell.reset(new_session=True)
    process_shell.run_line_magic("reload_ext", "roofwidget")
    process_shell.push({"np": np, "rw": rw, "w": rw.RooflineWidget([CHIP]), "a": np.ones((64, 64))})
    process_shell.run_cell("def f(x):\n    return np.exp(x) @ x")
    yield process_shell
    assert active_recording() is None
    assert "_roofwidget_seen" not in process_shell.user_ns


def rw_peaks() -> Any:
    class Peaks:
        chip = CHIP

    return Peaks()


def run(shell: Any, code: str) -> tuple[Any, str, list[RichOutput]]:
    """Run a cell that raises nothing. Return its result, what it printed, and what it displayed."""
    with capture_output() as captured:
        outcome = shell.run_cell(code)
    outcome.raise_error()
    return outcome.result, captured.stdout, captured.outputs


def latest_widget(shell: Any) -> rw.RooflineWidget:
    """Return the widget that the magic has made."""
    widget = shell.magics_manager.registry["RooflineMagics"]._widget
    assert isinstance(widget, rw.RooflineWidget)
    return widget


def line_below(shown: list[RichOutput]) -> str:
    return str(shown[-1].data["text/plain"])


def test_a_cell_runs_as_any_other_and_its_operations_are_a_series(shell: Any) -> None:
    result, printed, shown = run(shell, "%%roofline -w w\nb = a @ a\nc = f(b)\nprint('here')\nb.sum()")
    kernels = shell.user_ns["w"].kernels
    assert (result, type(result)) == (64.0**3, np.float64)
    assert printed.startswith("here\n")
    # A product of an array with itself reads one array.
    assert kernels.names.tolist() == ["matmul", "exp", "matmul", "sum"]
    assert kernels.flops_by_precision["tensor"].tolist()[::2] == [2 * 64**3, 2 * 64**3]
    assert kernels.bytes.tolist() == [2 * 32_768, 2 * 32_768, 3 * 32_768, 32_768]
    assert set(kernels.category) == {"run 1"}
    assert (kernels.time > 0).all()
    assert line_below(shown).startswith("run 1: 4 operations in ")
    assert line_below(shown).endswith("% of the roof of Mine")


def test_variables_are_plain_arrays_again_and_those_that_were_not_set_are_themselves(shell: Any) -> None:
    before = shell.user_ns["a"]
    run(shell, "%%roofline -w w\nb = a + 1\nlisted = [b, {'part': b * 2}, (b, 1)]\na[0] = 5\nsame = a\nz = np.zeros(3)")
    namespace = shell.user_ns
    assert namespace["a"] is before is namespace["same"]
    assert before[0, 0] == 5
    listed = namespace["listed"]
    found = [namespace["b"], listed[0], listed[1]["part"], listed[2][0], namespace["z"]]
    assert [type(value) for value in found] == [np.ndarray] * 5


def test_arrays_of_generators_of_containers_and_of_functions_are_seen(shell: Any) -> None:
    shell.run_cell("parts = [np.ones(100)]\nrng = np.random.default_rng(0)\ndef g():\n    return np.full(10, 2.0) * 3")
    run(shell, "%%roofline -w w\nr = rng.random(50)\nr = r * 2\nparts[0] + 1\ng()\nnp.random.rand(7) - 1")
    kernels = shell.user_ns["w"].kernels
    assert {"multiply", "add", "subtract"} <= set(kernels.extra["operation"])
    assert sorted(kernels.extra["shapes"][kernels.names == "multiply"]) == ["10", "50"]


def test_arrays_of_other_types_stay_and_cause_no_note(shell: Any) -> None:
    words = np.array(["a", "b"])
    shell.push({"words": words, "records": np.zeros(2, dtype=[("x", "f8")])})
    result, _, shown = run(shell, "%%roofline -w w\na @ a\nwords")
    assert result is words
    assert "Note" not in line_below(shown)


def test_operands_of_is_are_themselves(shell: Any) -> None:
    shell.run_cell("class Box: pass\nbox = Box(); box.item = np.ones(3)")
    assert run(shell, "%%roofline -w w\nbox.item is box.item")[0] is True
    run(shell, "%%roofline -w w\nbox.item.flat = 2\nbox.item = box.item + 1")
    assert shell.user_ns["box"].item.tolist() == [3, 3, 3]


def test_the_line_form_returns_the_value_and_takes_options(shell: Any) -> None:
    assert run(shell, "%roofline -w w -n 'a product' (a @ a)[0, 0]")[0] == 64
    run(shell, "total = %roofline -w w -n 'a product' a.sum()")
    assert shell.user_ns["total"] == 64 * 64
    kernels = shell.user_ns["w"].kernels
    assert list(dict.fromkeys(kernels.category)) == ["a product", "a product (2)"]


def test_a_semicolon_silences_the_value_as_in_any_cell(shell: Any) -> None:
    assert run(shell, "%%roofline -w w\na @ a;")[0] is None


def test_an_error_is_shown_at_its_line_without_frames_of_the_magic_and_points_stay(shell: Any) -> None:
    with capture_output() as captured:
        outcome = shell.run_cell("%%roofline -w w\nb = a @ a\nc = 1 / 0\nd = 2")
    assert isinstance(outcome.error_in_exec, ZeroDivisionError)
    assert "line 3\n" in captured.stdout
    assert "----> 3 c = 1 / 0" in captured.stdout
    assert "magic.py" not in captured.stdout
    assert "run_cell_magic" not in captured.stdout
    assert shell.user_ns["w"].kernels.names.tolist() == ["matmul"]
    assert type(shell.user_ns["b"]) is np.ndarray
    assert "d" not in shell.user_ns


def test_magics_inside_a_cell_are_transformed(shell: Any) -> None:
    run(shell, "%%roofline -w w\nhere = %pwd\nb = a @ a")
    assert shell.user_ns["here"] == str(Path.cwd())
    assert shell.user_ns["w"].kernels.names.tolist() == ["matmul"]


def test_functions_and_classes_that_a_cell_defines_work_afterwards(shell: Any) -> None:
    run(
        shell,
        "%%roofline -w w\ndef h(x):\n    return np.ones(3).sum() + x\n"
        "double = lambda x: np.array([x]) * 2\nlazy = (np.array([n]) for n in range(2))\nh(1)",
    )
    assert run(shell, "h(2), double(4)[0], [int(n[0]) for n in lazy]")[0] == (5, 8, [0, 1])


def test_repeated_runs_are_counts_and_the_whole_code_can_be_one_point(shell: Any) -> None:
    run(shell, "%%roofline -w w -r 3\na @ a")
    assert shell.user_ns["w"].kernels.count.tolist() == [3]
    shell.run_cell("calls = []")
    _, _, shown = run(shell, "%%roofline -w w -b call -r 4 -n whole\ncalls.append(type(a))\nb = a @ a\nb + b")
    whole = shell.user_ns["w"].kernels[1]
    assert (whole.name, whole.category, whole.count) == ("whole", "whole", 1)
    assert whole.bytes == 2 * 32_768 + 2 * 32_768
    assert whole.time is not None
    # One run is counted, and three are timed with plain arrays.
    assert shell.user_ns["calls"][1:] == [np.ndarray] * 3
    assert "Note" not in line_below(shown)
    _, _, shown = run(shell, "%%roofline -w w -b call\na @ a")
    assert "Note: the time includes counting; --repeat 5" in line_below(shown)


def test_without_a_widget_one_is_made_on_the_measured_peaks_and_used_again(shell: Any) -> None:
    _, _, shown = run(shell, "%%roofline\na @ a")
    assert repr(CHIP.name)[1:-1] in str(shown[0].data)
    assert line_below(shown).startswith("run 1: 1 operation in ")
    run(shell, "%%roofline\na + a")
    made = latest_widget(shell)
    assert made.chips == (CHIP,)
    assert made.kernels.category.tolist() == ["run 1", "run 2"]
    made.close()
    run(shell, "%%roofline\na + a")
    again = latest_widget(shell)
    assert again is not made
    assert again.kernels.category.tolist() == ["run 1"]


def test_long_runs_have_a_line_that_says_how_far_they_are(
    model_line: tuple[magic._Line, Recording, list[float]],
) -> None:
    line, run, now = model_line
    with capture_output() as captured, run:
        run.add("x", 1, 1)
        now[0] = 0.5
        line.update()
        assert not captured.outputs
        now[0] = 2.25
        line.update()
    assert line_below(captured.outputs) == "run: 1 operation so far, 2.2 s …"


@pytest.fixture
def model_line(process_shell: Any) -> tuple[magic._Line, Recording, list[float]]:
    assert process_shell is not None  # displays are captured only where there is a shell
    now = [0.0]
    run = Recording(rw.RooflineModel([CHIP], []), "run", clock=lambda: now[0])
    return magic._Line(run, is_live=True), run, now


def test_code_without_operations_says_what_is_counted(shell: Any) -> None:
    result, _, shown = run(shell, "%%roofline -w w\n1 + 1")
    assert result == 2
    assert line_below(shown).startswith("run 1: nothing was counted. Counted are operations on numpy arrays")
    assert len(shell.user_ns["w"].kernels) == 0


def test_measured_functions_are_points(shell: Any) -> None:
    shell.run_cell("@rw.measured(flops=lambda x: 7 * x.size, bytes='1 kB')\ndef own(x):\n    return type(x), x @ x")
    kind, _ = run(shell, "%%roofline -w w\nown(a)")[0]
    assert kind is np.ndarray
    kernels = shell.user_ns["w"].kernels
    has_columns(kernels, names=["own"], flops=[7 * 64 * 64])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("%%roofline -w nothing\n1", "--widget: 'nothing' is no RooflineWidget; there are 'w'"),
        ("%%roofline -w a\n1", "--widget: 'a' is no RooflineWidget"),
        ("%%roofline -w w -b layer\n1", "--by: unknown 'layer'; there are 'op', 'module', 'call'"),
        ("%%roofline -w w -r 0\n1", "--repeat must be a whole number of at least 1, got '0'"),
        ("%%roofline -w w -q\n1", "option -q not recognized"),
        ("%%roofline -w w a @ a\n1", "unknown text 'a @ a' after the options; code begins in the next line"),
        ("%%roofline w\n1", "unknown text 'w' after the options; for this widget write -w w"),
        ("%roofline -w w", "%roofline: give a statement"),
    ],
)
def test_wrong_options_are_named(shell: Any, code: str, message: str) -> None:
    with capture_output():
        outcome = shell.run_cell(code)
    assert isinstance(outcome.error_in_exec, UsageError)
    assert message in str(outcome.error_in_exec)


def test_a_run_inside_a_recording_is_refused_and_the_recording_goes_on(shell: Any) -> None:
    with capture_output():
        outcome = shell.run_cell("with rw.record(w, 'outer'):\n    a @ a\n    %roofline -w w a @ a")
    assert isinstance(outcome.error_in_exec, UsageError)
    assert "'outer' is being recorded" in str(outcome.error_in_exec)
    assert shell.user_ns["w"].kernels.category.tolist() == ["outer"]


def test_a_syntax_error_is_one_and_nothing_runs(shell: Any) -> None:
    with capture_output() as captured:
        outcome = shell.run_cell("%%roofline -w w\nx = 3\n1 +")
    assert isinstance(outcome.error_in_exec, SyntaxError)
    assert "line 3" in captured.stdout
    assert "x" not in shell.user_ns


def test_operations_of_pytorch_are_seen_by_module_forward_and_backward(shell: Any) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    shell.push({"model": model, "x": torch.ones(32, 8)})
    run(shell, "%%roofline -w w -b module\ny = model(x)\ny.sum().backward()")
    kernels = shell.user_ns["w"].kernels
    assert {"Sequential.0", "Sequential.1", "Sequential.2"} <= set(kernels.names)
    products = kernels.flops_by_precision["tensor"]
    # Forward, and the gradient of the weights; only the second layer needs the gradient of its input.
    assert products[kernels.names == "Sequential.0"].tolist() == [2 * 2 * 32 * 8 * 16]
    assert products[kernels.names == "Sequential.2"].tolist() == [3 * 2 * 32 * 16 * 4]
    assert not model[0]._forward_hooks


def test_calls_of_jitted_functions_are_seen_and_other_calls_of_jax_are_said_not_to_be(shell: Any) -> None:
    jax = pytest.importorskip("jax")
    function = jax.jit(lambda x: x @ x)
    shell.push({"jax": jax, "j": function, "x": jax.numpy.ones((32, 32))})
    run(shell, "%%roofline -w w\nfor _ in range(3):\n    y = j(x)\ngradient = jax.grad(lambda x: j(x).sum())(x)")
    kernels = shell.user_ns["w"].kernels
    assert shell.user_ns["j"] is function
    has_columns(kernels, names=["<lambda>"], count=[3], flops=[3 * 2 * 32**3], bytes=[3 * 2 * 32 * 32 * 4])
    _, _, shown = run(shell, "%%roofline -w w\nx @ x")
    assert "Operations on JAX arrays outside of a function of jax.jit are not seen" in line_below(shown)


def test_a_block_in_a_notebook_sees_its_arrays(shell: Any) -> None:
    run(shell, "with rw.record(w) as block:\n    b = a @ a\n    n = len(block.kernels)\n    e = np.exp(b)")
    assert shell.user_ns["n"] == 1
    assert shell.user_ns["w"].kernels.names.tolist() == ["matmul", "exp"]
    assert type(shell.user_ns["e"]) is np.ndarray


def test_a_line_says_that_the_code_failed_and_how_long_it_ran(shell: Any) -> None:
    for code, start in (("b = a @ a\n1 / 0", "1 operation in "), ("1 / 0", "nothing was counted")):
        with capture_output() as captured:
            shell.run_cell(f"%%roofline -w w\n{code}")
        found = re.fullmatch(r"run \d: the code failed after (\S+ \S+) with ZeroDivisionError; (.*)", below(captured))
        assert found
        assert found[1] != "0 s"
        assert found[2].startswith(start)
        assert " of 0 s" not in found[2]


def below(captured: Any) -> str:
    return line_below([shown for shown in captured.outputs if "text/plain" in shown.data])


def test_the_widget_of_the_run_before_is_the_one_that_was_named(shell: Any) -> None:
    run(shell, "%%roofline\na @ a")
    run(shell, "%%roofline -w w\na @ a")
    run(shell, "%%roofline\na + a")
    assert latest_widget(shell) is shell.user_ns["w"]
    assert shell.user_ns["w"].kernels.names.tolist() == ["matmul", "add"]


def test_a_missing_widget_is_said_to_be_made_where_there_is_none(shell: Any) -> None:
    del shell.user_ns["w"]
    with capture_output():
        outcome = shell.run_cell("%%roofline -w nowhere\n1")
    text = "%roofline: --widget: 'nowhere' is no RooflineWidget; without --widget the first run makes one"
    assert str(outcome.error_in_exec) == text


def test_a_line_says_that_its_roof_was_disturbed_when_it_was_measured(shell: Any) -> None:
    source = rw.Source("measured here", confidence="measured")
    note = "DRAM: other programs used 80% of the processors"
    busy = CHIP.replace(sources={"memories.DRAM.bandwidth": source}, notes=[note, "fp32: the rates vary"])
    shell.push({"busy": rw.RooflineWidget([busy])})
    _, _, shown = run(shell, "%%roofline -w busy\na @ a")
    assert line_below(shown).endswith(f"% of the roof of Mine\nNote: the measured roofs may be wrong: {note}")


def test_a_warning_of_numpy_points_to_the_users_line(shell: Any) -> None:
    with capture_output(), pytest.warns(RuntimeWarning, match="^overflow encountered in exp$") as caught:
        shell.run_cell("%%roofline -w w\nb = 1000 * a\nnp.exp(b)\nnp.seterr(divide='ignore')")
    try:
        assert [one.lineno for one in caught] == [3]
        assert "measure" not in caught[0].filename
        assert {kind: np.geterr()[kind] for kind in ("over", "divide")} == {"over": "warn", "divide": "ignore"}
    finally:
        np.seterr(divide="warn")


def test_a_profile_warns_at_the_line_of_the_function() -> None:
    def overflows(x: Any) -> Any:
        return np.exp(x)

    with pytest.warns(RuntimeWarning, match="overflow") as caught:
        rw.profile(overflows, np.full(3, 1e3), repeat=1)
    assert {one.filename for one in caught} == {__file__}
