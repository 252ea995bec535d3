"""Steps, iterations and phases of PyTorch's traces: by the host's time of each launch."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from roofwidget.readers.torch import work
from roofwidget.readers.torch.calls import NotEnoughArguments, OpCall, OpWork
from tests.tables import warns

LATE = 10_000.0


def span(name: str, start: float, duration: float, *, category: str = "user_annotation", thread: int = 1) -> Any:
    on = {"pid": 1, "tid": thread, "ts": start, "dur": duration}
    return {"ph": "X", "cat": category, "name": name, **on, "args": {}}


def op(name: str, start: float, duration: float, *, thread: int = 1, dims: list[list[int]] | None = None) -> Any:
    event = span(name, start, duration, category="cpu_op", thread=thread)
    if dims:
        event["args"] = {"Input Dims": dims, "Input type": ["float"] * len(dims)}
    return event


def ran(name: str, launched: float, *, thread: int = 1, late: float = LATE) -> list[Any]:
    """Return a kernel of 1 us and its launch. The kernel runs long after its launch."""
    number = int(launched * 10)
    launch = span("cudaLaunchKernel", launched, 0.1, category="cuda_runtime", thread=thread)
    launch["args"] = {"correlation": number}
    args = {"device": 0, "stream": 7, "correlation": number}
    kernel = {
        "ph": "X",
        "cat": "kernel",
        "name": name,
        "pid": 0,
        "tid": 7,
        "ts": launched + late,
        "dur": 1,
        "args": args,
    }
    return [launch, kernel]


def trace(*events: Any) -> bytes:
    flat = [event for each in events for event in (each if isinstance(each, list) else [each])]
    return json.dumps({"schemaVersion": 1, "traceEvents": flat}).encode()


def phases(kernels: rw.Kernels) -> dict[str, str | None]:
    return dict(zip(kernels.names, kernels.extra["phase"], strict=True))


@pytest.mark.parametrize(
    ("annotation", "phase"),
    [
        ("execute_context_2(6144)_generation_0(0)", "prefill"),
        ("execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk40sqsq4sqsk40)", "decode"),
        ("execute_8192_context_9(10)_generation_37(37)", "mixed"),
        ("step[EXTEND bs=15 toks=15360]", "prefill"),
        ("step[DECODE bs=32]", "decode"),
        ("step[MIXED bs=2 toks=12]", "mixed"),
        ("decode[bs=117/128 tok=117 d=117]", "decode"),
        ("execute_model", None),
    ],
)
def test_a_kernel_has_the_phase_of_the_step_that_launched_it(annotation: str, phase: str | None) -> None:
    # Kernels that run while the host is in a step do not belong to this step.
    data = trace(span(annotation, 0, 10), ran("inside", 5), ran("outside", 20, late=-18))
    kernels = read(data, idle=False)
    if phase is None:
        assert "phase" not in kernels.extra
    else:
        assert phases(kernels) == {"inside": phase, "outside": None}
        assert dict(zip(kernels.names, kernels.extra["iteration"], strict=True)) == pytest.approx(
            {"inside": 0, "outside": np.nan}, nan_ok=True
        )


def test_the_same_kernel_in_two_phases_is_two_rows_and_a_filter_finds_one() -> None:
    steps = [
        event
        for at, kind in enumerate(["EXTEND", "DECODE", "DECODE"])
        for event in (span(f"step[{kind} bs=2 toks=4]", 100 * at, 50), *ran("gemm", 100 * at + 10))
    ]
    kernels = read(trace(*steps), idle=False)
    assert list(zip(kernels.names, kernels.extra["phase"], kernels.count, strict=True)) == [
        ("gemm", "prefill", 1),
        ("gemm", "decode", 2),
    ]
    assert kernels.filter(phases="decode").time.tolist() == [2e-6]
    assert kernels.launches_of(1).extra["iteration"].tolist() == [1, 2]


# -- training ------------------------------------------------------------------------------------------------------


def iteration(number: int, start: float, duration: float = 90.0) -> list[Any]:
    """Return an iteration: forward, backward on autograd's thread, something between, and the optimizer."""
    return [
        span(f"ProfilerStep#{number}", start, duration),
        op("aten::linear", start + 1, 8),
        *ran("forward_kernel", start + 5),
        op("autograd::engine::evaluate_function: AddmmBackward0", start + 20, 20, thread=2),
        op("AddmmBackward0", start + 21, 18, thread=2),
        op("aten::mm", start + 22, 9, thread=2),
        *ran("backward_kernel", start + 25, thread=2),
        *ran("clip", start + 50),
        span("Optimizer.step#Adam.step", start + 60, 20),
        *ran("adam", start + 65),
    ]


def test_training_has_forward_backward_and_optimizer() -> None:
    kernels = read(trace(*iteration(3, 0), *iteration(4, 100)), by="kernel", idle=False)
    assert phases(kernels) == {
        "forward_kernel": "forward",
        "backward_kernel": "backward",
        "clip": None,
        "adam": "optimizer",
    }
    assert kernels.count.tolist() == [2, 2, 2, 2]
    assert np.isnan(kernels.extra["iteration"]).all()
    assert kernels.launches_of(0).extra["iteration"].tolist() == [3, 4]


def test_the_backward_of_a_compiled_graph_is_known_by_its_name() -> None:
    data = trace(*ran("f", 1), op("CompiledFunctionBackward", 10, 20), *ran("b", 15))
    assert phases(read(data, by="kernel", idle=False)) == {"f": "forward", "b": "backward"}


def test_without_a_backward_pass_nothing_is_called_forward() -> None:
    data = trace(span("ProfilerStep#0", 0, 50), op("aten::linear", 1, 8), *ran("k", 5))
    kernels = read(data, idle=False)
    assert "phase" not in kernels.extra
    assert kernels.extra["iteration"].tolist() == [0]


# -- iterations ----------------------------------------------------------------------------------------------------

# The first iteration takes 250 us on the host and the others 100; each iteration launches one kernel of 1 us.
STARTS = {0: (0.0, 250.0), 1: (300.0, 100.0), 2: (400.0, 100.0), 3: (500.0, 100.0)}
TRAINED = trace(
    *(
        event
        for number, (start, duration) in STARTS.items()
        for event in (span(f"ProfilerStep#{number}", start, duration), *ran("k", start + 20))
    )
)


def test_a_first_iteration_that_takes_much_longer_is_left_out_and_said() -> None:
    kernels = read(TRAINED)
    # Starts of the kernels: 320, 420, 520 us. The device is idle for 99 us twice.
    assert kernels.count[kernels.names == "k"].tolist() == [3]
    assert kernels.time[kernels.category == "idle"] == pytest.approx([198e-6])
    assert warns(
        kernels,
        "warm-up is left out: iteration '0' took more than 2 times the median iteration (1 of 4 rows on the device); "
        "iterations='all' keeps it",
    )


def test_all_iterations_or_some_can_be_asked_for() -> None:
    everything = read(TRAINED, iterations="all")
    assert everything.count[everything.names == "k"].tolist() == [4]
    assert everything.time[everything.category == "idle"] == pytest.approx([(299 + 198) * 1e-6])
    assert not warns(everything, "warm-up")
    assert read(TRAINED, iterations=2, idle=False).count.tolist() == [1]
    two = read(TRAINED, iterations=[1, 3])
    # The device ran iteration 2 between them: that is not idle time.
    assert (two.names.tolist(), two.count.tolist()) == (["k"], [2])


def test_overlap_is_a_share_of_the_time_in_which_the_chosen_iterations_kept_the_device_busy() -> None:
    # Iterations 1 and 3 run a kernel of 1 us each; in iteration 1 another kernel of 1 us overlaps it by half.
    events = [*json.loads(TRAINED)["traceEvents"], *ran("k", 320.5)]
    assert "kernels overlap: their times add up to 120.0% of the time in which devices were busy" in (
        read(trace(*events), iterations=[1, 3]).warnings
    )


def test_iterations_of_about_the_same_length_all_count() -> None:
    slower = TRAINED.replace(b'"dur": 250.0', b'"dur": 199.0')
    assert read(slower, idle=False).count.tolist() == [4]
    two = trace(span("ProfilerStep#0", 0, 250), ran("k", 20), span("ProfilerStep#1", 300, 100), ran("k", 320))
    assert read(two, idle=False).count.tolist() == [2]


def test_an_iteration_that_is_not_there_or_no_number_is_refused() -> None:
    with pytest.raises(ProfileError, match="no kernels of iteration 7: it has 0 to 3"):
        read(TRAINED, iterations=7)
    with pytest.raises(ProfileError, match="it has no annotations of iterations or steps"):
        read(trace(ran("k", 1)), iterations=0)
    with pytest.raises(ValueError, match="iterations must be 'all', a number or a list of numbers, got 'last'"):
        read(TRAINED, iterations="last")
    for wrong in (True, 1.5, [1.5]):
        with pytest.raises(TypeError, match="iterations must be 'all', a number or a list of numbers"):
            read(TRAINED, iterations=wrong)


# -- work that depends on the step ---------------------------------------------------------------------------------

STEPS = (
    "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk3000sqsq2sqsk3000)",
    "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk5000sqsq2sqsk5000)",
)


def attention(call: OpCall) -> OpWork:
    """Return a FLOP per key, and twice as many for every second layer."""
    if call.step is None or call.step.sk is None or call.nth is None:
        raise NotEnoughArguments
    return OpWork("attention", call.step.sk * (1 + call.nth % 2), None, "a FLOP per key")


@pytest.fixture
def _rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "FORMULAS", {"mine::attention": attention})


@pytest.mark.usefixtures("_rule")
def test_work_may_depend_on_the_step_and_on_the_number_of_the_call_in_the_step() -> None:
    events = [
        event
        for step, text in enumerate(STEPS)
        for event in (
            span(text, 1000 * step, 500),
            # An inner annotation without sums says less.
            span("step[DECODE bs=2]", 1000 * step + 1, 490),
            *(
                event
                for layer in range(3)
                for event in (
                    op("mine::attention", 1000 * step + 100 * layer + 10, 20, dims=[[2, 8]]),
                    op("mine::inner", 1000 * step + 100 * layer + 12, 10),
                    *ran("fmha", 1000 * step + 100 * layer + 15),
                )
            ),
        )
    ]
    outside = [op("mine::attention", 5000, 20, dims=[[2, 8]]), *ran("fmha", 5005)]
    kernels = read(trace(*events, *outside), idle=False)
    by_phase = dict(zip(kernels.extra["phase"], kernels.flops, strict=True))
    assert by_phase == pytest.approx({"decode": 4 * 3000 + 4 * 5000, None: np.nan}, nan_ok=True)
    assert kernels.launches_of(0).flops.tolist() == [3000, 6000, 3000, 5000, 10000, 5000]
