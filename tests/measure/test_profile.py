"""`profile`, `count_flops` and `Profile`: what they take, what they say, and how they judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.measure import profile as profiles
from roofwidget.measure.counts import Counts, OpCount, Request
from roofwidget.measure.frameworks import framework_of
from roofwidget.measure.hardware_peaks import HardwarePeaks, MeasuredRate
from roofwidget.measure.profile import Profile
from roofwidget.measure.system import Shares
from tests.tables import has_columns

CHIP = rw.Chip("My chip", {"fp32": 1e11, "fp64": 5e10}, {"DRAM": 2e10, "L3": 1e11, "L2": 4e11})

# A product of 4 GFLOP and 100 MB in 50 ms, twice, and a copy of 200 MB in 20 ms.
PRODUCT = OpCount("matmul", {"tensor": 4 * 10**9}, 60 * 10**6, 40 * 10**6, "fp32", "layer1", "2×2, 2×2", 0.05)
COPY = OpCount("copy", {}, 10**8, 10**8, None, "layer2", "2×2", 0.02)
VIEW = OpCount("reshape", {}, 0, 0, None, "layer2", "2×2", 1e-7)
COUNTS = Counts((PRODUCT, COPY, VIEW, PRODUCT), compulsory_bytes=10**8, call_times=(0.15, 0.2, 0.9))


def profile_of(counts: Counts = COUNTS, **options: Any) -> Profile:
    return Profile("forward", counts, **options)


def test_a_profile_has_sums_over_its_operations() -> None:
    p = profile_of()
    assert (p.calls, p.flops, p.other_flops, p.bytes, p.compulsory_bytes) == (4, 8 * 10**9, 0, 4 * 10**8, 10**8)
    assert (p.time, p.call_times, p.device, p.precision) == (0.2, (0.15, 0.2, 0.9), "cpu", "fp32")
    assert p.ops_time == pytest.approx(0.1200001)
    assert p.warnings == ()


def test_views_have_no_row_and_operations_without_flops_have_zero() -> None:
    kernels = profile_of().kernels
    has_columns(
        kernels,
        names=["layer1 matmul", "layer2 copy", "layer1 matmul"],
        flops=[4e9, 0, 4e9],
        bytes=[1e8, 2e8, 1e8],
        extra={"shapes": ["2×2, 2×2", "2×2", "2×2, 2×2"]},
    )


def test_the_whole_call_is_a_row_of_the_program() -> None:
    program = profile_of().kernels.program
    assert program.names.tolist() == ["forward"]
    assert (program.flops[0], program.bytes[0], program.time[0], program.count[0]) == (8e9, 4e8, 0.2, 1)
    assert program.extra["compulsory bytes"].tolist() == [1e8]


def test_modules_are_rows_in_call_order_with_sums() -> None:
    kernels = profile_of(by="module").kernels
    has_columns(kernels, names=["layer1", "layer2"], flops=[8e9, 0], bytes=[2e8, 2e8], time=[0.1, 0.02])
    assert kernels.program.time.tolist() == [0.2]


def test_operations_outside_of_modules_are_those_of_the_function() -> None:
    counts = Counts((PRODUCT, OpCount("add", {"vector": 5}, 40, 20, "fp32")))
    assert profile_of(counts, by="module").kernels.names.tolist() == ["layer1", "forward (own operations)"]


def test_unknown_amounts_stay_unknown_in_modules_and_sums_say_what_they_leave_out() -> None:
    call = OpCount("eig", None, None, None, "fp32", "layer1")
    p = profile_of(Counts((PRODUCT, call)))
    assert p.flops == 4 * 10**9
    assert p.bytes == 10**8
    assert p.warnings == (
        "FLOPs of 1 operation are unknown, and sums leave them out: eig",
        "bytes of 1 operation are unknown, and sums leave them out: eig",
    )
    (flops,), (moved,) = (
        getattr(profile_of(Counts((PRODUCT, call)), by="module").kernels, n) for n in ("flops", "bytes")
    )
    assert np.isnan([flops, moved]).all()


def test_the_bound_is_that_of_the_rows_on_a_chip() -> None:
    bound = profile_of().bound(CHIP)
    # 4 GFLOP at 100 GFLOP/s; 200 MB at 20 GB/s.
    has_columns(
        bound,
        time=pytest.approx([0.04, 0.01, 0.04]),
        bound_by=["compute", "DRAM", "compute"],
        utilization=pytest.approx([0.8, 0.5, 0.8]),
    )


def test_a_bound_can_be_that_of_a_cache() -> None:
    bound = profile_of().bound(CHIP, memory="L3")
    has_columns(bound, bound_by=["compute", "L3", "compute"], time=pytest.approx([0.04, 0.002, 0.04]))
    with pytest.raises(rw.MissingFigureError, match="L7"):
        profile_of().bound(CHIP, memory="L7")


def test_the_summary_says_how_close_the_call_is_to_the_roof_and_lists_the_slowest_rows(capsys: Any) -> None:
    profile_of().summary(CHIP, top=1)
    share, between, roofs, fused, *table = capsys.readouterr().out.splitlines()
    assert share == (
        "forward reaches 45 % of the roof of My chip: a call takes 200 ms, and the roofs allow 90 ms, "
        "bound 89 % by compute and 11 % by DRAM."
    )
    assert between == "Its operations take 120 ms of a call; the other 80 ms (40 %) pass between them."
    assert roofs == "Roofs: fp32 100 GFLOP/s, DRAM 20 GB/s."
    assert fused == "With each array moved once (100 MB instead of 400 MB) the roofs would allow 80 ms."
    assert table == [
        "operation      time    runs  FLOPs    bytes   AI         achieved    bound by  of roof",
        "layer1 matmul  100 ms  2     8 GFLOP  200 MB  40 FLOP/B  80 GFLOP/s  compute   80 %",
        "… and 1 more",
    ]


def summary_of(p: Profile, capsys: Any, *args: Any, **kwargs: Any) -> list[str]:
    p.summary(*args, **kwargs)
    return str(capsys.readouterr().out).splitlines()


def test_the_summary_of_a_call_without_times_says_what_the_roofs_allow(capsys: Any) -> None:
    counts = Counts(
        tuple(OpCount(op.name, op.flops, op.bytes_read, op.bytes_written, "fp32") for op in (PRODUCT, COPY))
    )
    first, _roofs, header, *_ = summary_of(profile_of(counts), capsys, CHIP)
    assert first == ("forward was not timed; on My chip the roofs allow 50 ms, bound 80 % by compute and 20 % by DRAM.")
    assert header.split() == ["operation", "FLOPs", "bytes", "AI", "bound", "by"]


def test_operations_of_one_name_with_other_shapes_are_other_rows_of_the_summary(capsys: Any) -> None:
    small = replace(PRODUCT, shapes="1×1, 1×1", time=0.01)
    lines = summary_of(profile_of(Counts((PRODUCT, small, PRODUCT), call_times=(0.2,))), capsys, CHIP)
    assert [line.split()[:5] for line in lines[4:6]] == [
        ["layer1", "matmul", "100", "ms", "2"],
        ["layer1", "matmul", "10", "ms", "1"],
    ]


def test_a_call_without_any_known_bound_says_so(capsys: Any) -> None:
    counts = Counts((OpCount("eig", None, 8, 8, "fp32"),), call_times=(0.1,))
    assert summary_of(profile_of(counts), capsys, CHIP)[0] == (
        "forward: a call takes 100 ms; its share of the roof is unknown: the FLOPs of eig are unknown."
    )


def test_the_summary_says_how_many_rows_have_no_bound(capsys: Any) -> None:
    counts = Counts((PRODUCT, OpCount("eig", None, 8, 8, "fp32")), call_times=(0.1,))
    lines = summary_of(profile_of(counts), capsys, CHIP)
    assert lines[0].startswith(
        "forward reaches at least 40 % of the roof of My chip: a call takes 100 ms, and the roofs"
    )
    assert lines[1] == "1 operation of 2 has no known bound."
    assert lines[-1] == "Note: FLOPs of 1 operation are unknown, and sums leave them out: eig"


def test_rows_that_a_cache_serves_are_named_with_the_level_that_is_fast_enough(capsys: Any) -> None:
    # 200 MB in 5 ms are 40 GB/s: more than DRAM has, less than L3 has.
    fast = OpCount("copy", {}, 10**8, 10**8, time=0.005)
    p = profile_of(Counts((fast,), call_times=(0.005,)))
    lines = summary_of(p, capsys, CHIP)
    assert lines[0] == (
        "forward is above the roof of My chip (200 %): a call takes 5 ms, and the roofs allow 10 ms, bound by DRAM."
    )
    assert lines[-1] == (
        "Note: 1 row is faster than DRAM allows: a cache holds its data (compare with memory='L3'), or the roof is too "
        "low, as on a busy machine."
    )
    assert summary_of(p, capsys, CHIP, memory="L3")[0].startswith("forward reaches 40 % of the roof of My chip")


def test_a_cache_is_named_only_if_it_holds_the_data_of_one_run(capsys: Any) -> None:
    def note(capacity: float) -> str:
        levels = {"DRAM": 2e10, "L3": rw.Memory("L3", 1e11, capacity)}
        fast = OpCount("copy", {}, 10**7, 10**7, time=0.0005)
        p = profile_of(Counts((fast, fast), call_times=(0.001,)))
        return summary_of(p, capsys, rw.Chip("My chip", {"fp32": 1e11}, levels))[-1]

    assert "(compare with memory='L3')" in note(20e6)
    assert note(19e6) == (
        "Note: 1 row is faster than DRAM allows: no known cache is large enough for 20 MB, so the roof is too low, as "
        "on a busy machine."
    )


def test_a_row_that_exceeds_a_measured_bandwidth_by_little_casts_no_doubt_on_it(capsys: Any) -> None:
    def note(seconds: float, device: str) -> str:
        rate = rw.MeasuredRate("DRAM", "B/s", 2e10, 2e10, 0.004, 60, "torch a += b", None, "2026-11-27")
        peaks = rw.HardwarePeaks(
            1e11, 2e10, 5.0, device, "fp32", tf32_enabled=False, cudnn_benchmark=False, ceilings=(rate,)
        )
        # 200 MB need 10 ms.
        copy = OpCount("copy", {}, 10**8, 10**8, time=seconds)
        return summary_of(profile_of(Counts((copy,), call_times=(0.01,), device=device)), capsys, peaks)[-1]

    assert note(0.01 / 1.03, "cuda:0") == (
        "Note: 1 row is up to 3 % faster than DRAM allows: measured bandwidths differ by as much from one run to the "
        "next, and between mixes of reads and writes."
    )
    too_low = (
        "Note: 1 row is faster than DRAM allows: no known cache is large enough for 200 MB, so the roof is too low"
    )
    assert note(0.01 / 1.06, "cuda:0") == f"{too_low}."
    assert note(0.01 / 1.06, "cpu") == f"{too_low}, as on a busy machine."


def test_rows_above_the_compute_roof_are_named_beside_rows_that_are_faster_than_memory(capsys: Any) -> None:
    fast = OpCount("copy", {}, 10**8, 10**8, time=0.005)
    # 2 GFLOP need 20 ms.
    attention = OpCount("_flash_attention", {"tensor": 2 * 10**9}, 10**6, 10**6, "fp32", time=0.015)
    lines = summary_of(profile_of(Counts((fast, attention), call_times=(0.02,))), capsys, CHIP)
    assert lines[-3].startswith("Note: 1 row is faster than DRAM allows")
    assert lines[-2].startswith("Note: '_flash_attention' is above its roof: its 2 GFLOP need 20 ms at 100 GFLOP/s")
    assert lines[-1] == (
        "Note: FLOPs of attention are those of all pairs of a query and a key, as PyTorch counts them: a kernel that "
        "skips the pairs of a causal mask computes about half."
    )


def test_a_precision_without_a_peak_and_a_call_without_work_have_a_headline_with_the_reason(capsys: Any) -> None:
    half = replace(PRODUCT, precision="fp16")
    assert summary_of(profile_of(Counts((half,), call_times=(0.1,))), capsys, CHIP)[0] == (
        "forward: a call takes 100 ms; its share of the roof is unknown: My chip has no peak for fp16."
    )
    (line,) = summary_of(profile_of(Counts((VIEW,), call_times=(0.1,))), capsys, CHIP)
    assert line == (
        "forward: a call takes 100 ms; its operations, such as views, neither compute nor move bytes, so no roof "
        "limits it."
    )
    (line,) = summary_of(profile_of(Counts((), call_times=(0.1,))), capsys, CHIP)
    assert line.startswith("forward: a call takes 100 ms; no operation was counted: give the arrays as arguments")


def test_times_of_another_kind_of_device_than_the_chip_say_so(capsys: Any) -> None:
    lines = summary_of(profile_of(), capsys, "h100-sxm")
    assert lines[1] == "The times are those of cpu on this machine, the roofs those of another device."


def test_disturbed_times_say_nothing_of_what_passes_between_operations(capsys: Any) -> None:
    counts = replace(COUNTS, load=Shares(0.64, 0.0))
    lines = summary_of(profile_of(counts), capsys, CHIP)
    assert lines[1] == (
        "Timed one by one, its operations take 120 ms; what passes between them is unknown, see the note."
    )


def test_roofs_of_a_busy_machine_have_one_note(capsys: Any) -> None:
    given = measured("other programs used 80% of the processors", "the rates vary: their spread is 30%")
    notes = [line for line in summary_of(profile_of(), capsys, given) if line.startswith("Note")]
    (note,) = notes
    assert note == "Note: the roofs were measured on a busy machine: other programs used up to 80 % of the processors"


def test_peaks_among_the_keywords_are_sent_to_the_methods_of_the_profile() -> None:
    with pytest.raises(TypeError, match=r"'peaks'; give the roofs to the profile, as in p.summary\(peaks\)"):
        rw.profile(lambda x: x + 1, np.ones(3), peaks=CHIP)


def test_a_keyword_near_one_of_profile_is_hinted_at(capsys: Any) -> None:
    with pytest.raises(TypeError, match=r"did you mean 'repeat'\? It is a keyword of rw.profile"):
        rw.profile(np.exp, np.ones(3), repeats=3)
    wrong: Any = {"chip": "v5p"}
    with pytest.raises(TypeError, match=r"Profile.summary has no keyword 'chip': give the chip or the peaks first"):
        profile_of().summary(**wrong)
    assert not capsys.readouterr().out


def test_a_row_above_the_peak_has_a_note(capsys: Any) -> None:
    fast = OpCount("matmul", {"tensor": 10**9}, 8, 8, "fp32", time=0.001)
    lines = summary_of(profile_of(Counts((fast,), call_times=(0.001,))), capsys, CHIP)
    assert lines[-1].startswith("Note: 'matmul' is above its roof: its 1 GFLOP need 10 ms")


def test_operations_that_take_longer_than_a_call_say_so(capsys: Any) -> None:
    counts = Counts((PRODUCT,), call_times=(0.04,))
    assert summary_of(profile_of(counts), capsys, CHIP)[1] == (
        "Timed one by one, its operations take 50 ms: 10 ms longer than a call, since timing takes time too."
    )


@pytest.mark.parametrize(("top", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_the_number_of_rows_of_a_summary_is_a_positive_whole_number(top: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="summary: top"):
        profile_of().summary(CHIP, top)


def measured(*warnings: str) -> HardwarePeaks:
    def rate(name: str, unit: str, value: float) -> MeasuredRate:
        return MeasuredRate(name, unit, value, value, 0.0, 3, "fake", 1, "2026-11-23", warnings)

    ceilings = (rate("fp32", "FLOP/s", 1e11), rate("fp64", "FLOP/s", 5e10), rate("DRAM", "B/s", 2e10))
    return HardwarePeaks(1e11, 2e10, 5.0, "cpu", "fp32", False, False, ceilings, (), "This CPU")  # noqa: FBT003


def test_without_peaks_those_of_the_device_are_measured(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    asked: list[Any] = []

    def measure(device: str, *, dtype: Any) -> HardwarePeaks:
        asked.append((device, dtype))
        return measured("other programs ran")

    monkeypatch.setattr(profiles, "measure_peaks", measure)
    p = profile_of()
    assert p.bound().chip.name == "This CPU (measured)"
    assert [chip.name for chip in p.roofline().chips] == ["This CPU (measured)"]
    notes = [line for line in summary_of(p, capsys) if line.startswith("Note")]
    assert notes == ["Note: the roofs: fp32, DRAM: other programs ran"]
    double = Counts((OpCount("mm", {"tensor": 8}, 8, 8, "fp64"),))
    notes = [line for line in summary_of(profile_of(double), capsys) if line.startswith("Note")]
    assert notes == ["Note: the roofs: fp64, DRAM: other programs ran"]
    bf16 = Counts((OpCount("mm", {"tensor": 8}, 8, 8, "bf16"),))
    profile_of(bf16).bound()
    assert asked == [("cpu", None)] * 4 + [("cpu", ["bf16", "fp32", "fp64"])]


def test_the_widget_opens_with_the_rows_on_the_chip() -> None:
    widget = profile_of().roofline(CHIP, title="forward")
    assert len(widget.kernels) == 3
    assert widget.title == "forward"
    assert profile_of().roofline("v5p").chips[0].name == "TPU v5p"


def test_a_profile_without_operations_has_a_warning_an_empty_table_and_opens() -> None:
    p = rw.profile(lambda: 3, timing=None)
    assert p.warnings[0].startswith("no operation was counted: give the arrays as arguments, as in rw.profile(f, x)")
    assert "rw.measured(flops=…, bytes=…)" in p.warnings[0]
    assert len(p.kernels) == len(p.kernels.program) == 0
    p.roofline(CHIP)
    p.summary(CHIP)


def test_the_repr_is_one_line() -> None:
    assert repr(profile_of()) == "Profile(forward on cpu: 3 operations, 8 GFLOP, 400 MB, 200 ms a call)"


def test_the_html_has_the_slowest_rows_first_and_the_warnings() -> None:
    page = Profile("<f>", Counts((COPY, PRODUCT), warnings=("a < b",)))._repr_html_()
    assert page.startswith("<div><table><caption>&lt;f&gt; on cpu: 2 operations")
    assert page.index("layer1 matmul") < page.index("layer2 copy")
    assert "<li>a &lt; b</li>" in page


def test_the_data_frame_has_a_row_per_operation() -> None:
    frame = profile_of().to_dataframe()
    assert frame["name"].tolist() == ["layer1 matmul", "layer2 copy", "layer1 matmul"]
    assert frame["time"].tolist() == [0.05, 0.02, 0.05]


def test_profiling_a_function_of_numpy_counts_and_times_it() -> None:
    def affine(a: Any, *, scale: float) -> Any:
        return a @ a * scale

    p = rw.profile(affine, np.ones((64, 64)), scale=2.0, repeat=2)
    assert (p.name, p.flops, p.other_flops, p.bytes) == ("affine", 2 * 64**3, 64**2, (2 + 2) * 8 * 64**2)
    assert len(p.call_times) == 2
    assert (p.kernels.time > 0).all()
    assert p.precision == "fp64"


def test_a_slow_function_runs_four_times_unless_the_numbers_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], []

    def slow(a: Any) -> Any:
        calls.append(a)
        now[0] += 3
        return a + 1

    made = partial(Request, clock=lambda: now[0])
    monkeypatch.setattr(profiles, "Request", made)
    assert rw.profile(slow, np.ones(2)).call_times == (3,)
    assert len(calls) == 4
    calls.clear()
    assert len(rw.profile(slow, np.ones(2), warmup=1, repeat=2).call_times) == 2
    assert len(calls) == 6


def test_a_function_of_some_tenths_of_a_second_runs_for_about_a_second_of_each_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]

    def work(a: Any) -> Any:
        now[0] += 0.5
        return a + 1

    monkeypatch.setattr(profiles, "Request", partial(Request, clock=lambda: now[0]))
    assert rw.profile(work, np.ones(2)).call_times == (0.5, 0.5)


def test_times_taken_while_other_programs_ran_say_so() -> None:
    counts = replace(COUNTS, load=Shares(0.64, 0.2), call_times=(0.163, 2.932, 0.787))
    (warning,) = profile_of(counts).warnings
    assert warning == (
        "other programs used 64% of the processors and other virtual machines used 20% of the processors during the "
        "timing: a call took 163 ms to 2.93 s"
    )
    assert profile_of(replace(counts, device="cuda:0", call_times=(0.2, 0.21, 0.22))).warnings == ()
    assert profile_of(replace(counts, load=Shares(0.05, 0.0), call_times=(0.2, 0.21, 0.22))).warnings == ()


def test_times_that_vary_say_so_where_the_system_does_not_say_who_ran() -> None:
    counts = replace(COUNTS, call_times=(0.163, 2.932, 0.787))
    assert profile_of(counts).warnings == ("the times vary: a call took 163 ms to 2.93 s",)


def test_timing_a_call_alone_or_nothing() -> None:
    call = rw.profile(np.exp, np.ones(9), timing="call", repeat=1, warmup=0)
    assert call.time is not None
    assert np.isnan(call.kernels.time).all()
    assert rw.profile(np.exp, np.ones(9), timing=None).time is None


def test_the_name_is_that_of_the_function_within_a_partial() -> None:
    assert rw.count_flops(partial(np.add, 1), np.ones(3)).name == "add"


@pytest.mark.parametrize("count", [rw.profile, rw.count_flops])
def test_what_cannot_be_called_is_refused_with_the_right_call(count: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"must be a function or a model, got array.*as in rw.profile\(f, x\)"):
        count(np.ones(2))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"by": "ops"}, ValueError, "by: unknown 'ops'; did you mean 'op'"),
        ({"by": 3}, TypeError, "by must be text, got 3"),
        ({"by": "fusion"}, ValueError, "by: numpy runs each operation by itself"),
        ({"timing": "calls"}, ValueError, "timing: unknown 'calls'; did you mean 'call'"),
        ({"timing": True}, TypeError, "timing must be text, got True"),
        ({"warmup": -1}, ValueError, "warmup must be at least 0, got -1"),
        ({"repeat": 0}, ValueError, "repeat must be at least 1, got 0"),
        ({"repeat": 2.5}, TypeError, "repeat must be a whole number, got 2.5"),
        ({"repeat": True}, TypeError, "repeat must be a whole number, got True"),
        ({"framework": "pytorch"}, ValueError, "framework: unknown 'pytorch'; did you mean 'torch'"),
        ({"framework": None}, TypeError, "framework must be text, got None"),
    ],
)
def test_bad_options_are_named_with_their_value_and_the_nearest(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    called: list[Any] = []
    with pytest.raises(error, match=message):
        rw.profile(called.append, np.ones(2), **options)
    assert not called


@pytest.mark.parametrize("count", [rw.profile, rw.count_flops])
def test_an_error_of_the_function_is_the_same_object(count: Callable[..., Any]) -> None:
    error = ZeroDivisionError("own")

    def fail(_a: Any) -> None:
        raise error

    with pytest.raises(ZeroDivisionError) as caught:
        count(fail, np.ones(2))
    assert caught.value is error


def test_the_framework_is_that_of_the_arguments_then_of_what_the_function_captures() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(2, 2)
    assert framework_of(lambda: model(1)) == "torch"
    assert framework_of(lambda x: model(torch.from_numpy(x)), [np.ones((1, 2))]) == "torch"
    assert framework_of(model.forward) == "torch"
    assert framework_of(partial(max, model)) == "torch"
    assert framework_of(lambda x: x, [np.ones(2)]) == "numpy"


def test_a_variable_without_a_value_yet_decides_no_framework() -> None:
    def early() -> Any:
        return late

    assert framework_of(early) == "numpy"
    late = 1
    assert early() == late
