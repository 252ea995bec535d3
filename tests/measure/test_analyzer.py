"""`RooflineAnalyzer`: a point per module of a PyTorch model, where nothing that runs is lost."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import roofwidget as rw
from roofwidget.measure import analyzer, frameworks
from roofwidget.measure.counts import Counts, OpCount, Request
from tests.measure.torch.models import Block, ResNet18
from tests.tables import has_columns

CHIP = rw.Chip("My CPU", {"fp32": "100 GFLOP/s"}, {"DRAM": "10 GB/s"})
ROWS = torch.zeros(16, 64)
OF_LINEAR = 2 * 16 * 64 * 64
"""FLOPs of 16 rows through a 64 by 64 matrix."""
OF_MATRIX = 4 * (64 * 64 + 2 * 16 * 64)
"""Bytes of the same: the matrix, the input and the output."""

Analyzed = dict[str, rw.RooflinePoint]


def analyzed(model: Any, sample: Any, peaks: Any = CHIP) -> Analyzed:
    """Return the points by name, after as few runs as possible."""
    return {point.name: point for point in rw.RooflineAnalyzer(model, sample, peaks).profile(warmup=0, steps=1)}


def work(points: Analyzed) -> dict[str, tuple[int | None, int | None]]:
    """Return FLOPs and bytes by name."""
    return {name: (point.flops, point.bytes_moved) for name, point in points.items()}


class Written(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """A model whose forward is a function of its inputs, with the modules that the function calls."""

    def __init__(self, forward: Callable[..., Any], **modules: Any) -> None:
        super().__init__()
        self.written = forward
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.written(*args, **kwargs)


@pytest.fixture(scope="module")
def of_resnet() -> Analyzed:
    """Return the points of ResNet-18."""
    return analyzed(ResNet18(), torch.zeros(1, 3, 224, 224))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that replaces PyTorch's counter by one that returns the given operations."""

    def replace(*ops: OpCount, warnings: tuple[str, ...] = ()) -> None:
        found = Counts(ops, device="cpu", warnings=warnings)
        monkeypatch.setattr(analyzer, "counter", lambda _: SimpleNamespace(count=lambda *_: found))

    return replace


def op(module: str, flops: int, moved: int, time: float | None, name: str = "addmm") -> OpCount:
    return OpCount(name, {"tensor": flops} if flops else {}, moved, 0, "fp32", module, time=time)


# -- what the counts must be ---------------------------------------------------------------------------------------


def test_resnet_18_has_a_point_for_each_of_its_52_layers_and_for_the_sums_of_its_8_blocks(of_resnet: Analyzed) -> None:
    types = [point.type for point in of_resnet.values()]
    assert len(of_resnet) == 60
    assert {name: types.count(name) for name in types} == {
        "Conv2d": 20,
        "BatchNorm2d": 20,
        "ReLU": 9,
        "MaxPool2d": 1,
        "BasicBlock": 8,
        "AdaptiveAvgPool2d": 1,
        "Linear": 1,
    }
    matrices = [point.flops or 0 for point in of_resnet.values() if point.type in {"Conv2d", "Linear"}]
    assert sum(matrices) == 3_628_146_688
    assert sum(point.bytes_moved or 0 for point in of_resnet.values()) == 118_556_224


def test_a_convolution_has_the_flops_and_bytes_of_its_shapes(of_resnet: Analyzed) -> None:
    early, late = of_resnet["layer1.0.conv1"], of_resnet["layer4.0.conv2"]
    assert (early.flops, early.bytes_moved) == (231_211_008, 4 * (64 * 64 * 9 + 2 * 64 * 56 * 56))
    assert (late.flops, late.bytes_moved) == (231_211_008, 4 * (512 * 512 * 9 + 2 * 512 * 7 * 7))
    assert (round(early.arithmetic_intensity, 2), round(late.arithmetic_intensity, 2)) == (131.89, 23.99)
    assert (early.bound, late.bound) == ("compute", "compute")


def test_layers_without_matrices_compute_too_and_are_bound_by_memory(of_resnet: Analyzed) -> None:
    for name in ("bn1", "relu", "maxpool", "layer1.0.relu"):
        point = of_resnet[name]
        assert point.flops is not None
        assert point.flops > 0, name
        assert point.bound == "memory", name


def test_a_residual_addition_is_a_point_of_the_block_that_adds(of_resnet: Analyzed) -> None:
    add = of_resnet["layer1.0"]
    numbers = 64 * 56 * 56
    assert (add.type, add.flops, add.bytes_moved) == ("BasicBlock", numbers, 3 * 4 * numbers)


def test_attention_that_a_model_calls_as_a_function_is_a_point_of_the_model() -> None:
    ra = rw.RooflineAnalyzer(Block(256, 4), torch.zeros(2, 512, 256), CHIP)
    ra.profile(warmup=0, steps=1)
    matrices = dict(zip(ra.kernels.names, ra.kernels.flops_by_precision["tensor"].tolist(), strict=True))
    assert sum(flops for flops in matrices.values() if flops > 0) == 2_147_483_648
    assert matrices["Block"] == 4 * 2 * 512 * 512 * 256


def test_multi_head_attention_in_evaluation_mode_is_counted() -> None:
    x = torch.zeros(2, 128, 64)
    model = nn.MultiheadAttention(64, 4, batch_first=True)
    ra = rw.RooflineAnalyzer(model, (x, x, x), CHIP)
    assert [point.name for point in ra.profile(warmup=0, steps=1)] == ["MultiheadAttention"]
    projections, attention = 2 * 2 * 128 * 64 * 4 * 64, 4 * 2 * 128 * 128 * 64
    assert ra.kernels.flops_by_precision["tensor"].tolist() == [projections + attention] == [16_777_216]


def test_a_model_that_is_one_layer_has_one_point_with_the_name_of_its_class() -> None:
    assert work(analyzed(nn.Linear(64, 64, bias=False), ROWS)) == {"Linear": (OF_LINEAR, OF_MATRIX)}


def test_a_module_that_runs_twice_counts_twice() -> None:
    shared = nn.Linear(64, 64, bias=False)
    model = Written(lambda x: shared(shared(x)), layer=shared)
    assert work(analyzed(model, ROWS)) == {"layer": (2 * OF_LINEAR, 2 * OF_MATRIX)}
    two_names = nn.Sequential(shared, shared)
    points = analyzed(two_names, ROWS)
    assert sum(point.flops or 0 for point in points.values()) == 2 * OF_LINEAR
    assert {point.type for point in points.values()} == {"Linear"}


@pytest.mark.parametrize("sample", [ROWS, (ROWS,), {"input": ROWS}], ids=["tensor", "tuple", "dict"])
def test_the_sample_is_a_tensor_a_tuple_or_inputs_by_keyword(sample: Any) -> None:
    assert work(analyzed(nn.Linear(64, 64, bias=False), sample)) == {"Linear": (OF_LINEAR, OF_MATRIX)}


def test_inputs_that_a_model_hands_on_by_keyword_count() -> None:
    layer = nn.Linear(64, 64, bias=False)
    model = Written(lambda x: layer(input=x), layer=layer)
    assert work(analyzed(model, {"x": ROWS})) == {"layer": (OF_LINEAR, OF_MATRIX)}


def test_keywords_of_a_model_may_have_any_name() -> None:
    model = Written(lambda by, warmup, function: by + warmup + function)
    assert work(analyzed(model, {"by": ROWS, "warmup": ROWS, "function": ROWS}))["Written"][0] == 2 * 16 * 64


def test_modules_that_move_no_bytes_have_no_point_and_the_summary_names_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Identity(), nn.Linear(64, 64, bias=False))
    ra = rw.RooflineAnalyzer(model, ROWS.reshape(16, 8, 8), CHIP)
    ra.profile(warmup=0, steps=1)
    assert [(point.name, point.bytes_moved) for point in ra.results] == [("3", OF_MATRIX)]
    ra.summary()
    assert "No operations of their own: 0; 1; 2" in capsys.readouterr().out.splitlines()


def test_an_expanded_tensor_counts_once() -> None:
    row = torch.zeros(1024)
    model = Written(lambda x: x + row.expand_as(x))
    assert analyzed(model, torch.zeros(1024, 1024))["Written"].bytes_moved == 4_198_400 + 4_194_304


def test_an_embedding_moves_the_rows_that_it_takes_not_its_table() -> None:
    model = nn.Embedding(50_000, 1024)
    assert analyzed(model, torch.arange(16))["Embedding"].bytes_moved == 65_664 + 65_536


def test_token_ids_need_no_peaks_in_their_own_type(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measure(*args: Any, **options: Any) -> Any:
        asked.append((args, options))
        return SimpleNamespace(chip=CHIP)

    monkeypatch.setattr("roofwidget.measure.profile.measure_peaks", measure)
    model = nn.Sequential(nn.Embedding(100, 64), nn.Linear(64, 64, bias=False))
    ra = rw.RooflineAnalyzer(model, torch.zeros(16, dtype=torch.long))
    points = ra.profile(warmup=0, steps=1)
    assert [point.bound for point in points] == ["memory", "memory"]
    assert points[1].flops == OF_LINEAR
    assert asked == [(("cpu",), {"dtype": None})]
    assert ra.peaks.chip is CHIP


# -- the model afterwards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [False, True])
def test_the_model_is_as_before_also_after_an_error(*, fails: bool) -> None:
    seen = []

    def forward(x: Any) -> Any:
        seen.append((model.training, model.norm.training, torch.is_grad_enabled()))
        if fails:
            raise ArithmeticError("as planned")
        return model.norm(x)

    model = Written(forward, norm=nn.BatchNorm1d(64), frozen=nn.Linear(64, 64).eval())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    ra = rw.RooflineAnalyzer(model, ROWS + 1, CHIP)
    if fails:
        with pytest.raises(ArithmeticError, match="as planned"):
            ra.profile(warmup=0, steps=1)
        assert ra.results == []
    else:
        ra.profile(warmup=0, steps=1)
    assert set(seen) == {(False, False, False)}
    assert (model.training, model.norm.training, model.frozen.training) == (True, True, False)
    assert torch.is_grad_enabled()
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("in_place", [False, True], ids=["parameters are replaced", "parameters are changed in place"])
def test_a_model_on_another_device_comes_back_with_its_own_parameters(*, in_place: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    model(torch.ones(2, 4)).sum().backward()
    if in_place:
        # As a move to a GPU.
        model.to = lambda _: model._apply(torch.clone)
    tensors = [*model.parameters(), *model.buffers(), *(parameter.grad for parameter in model.parameters())]
    kept = [(tensor, tensor.data_ptr()) for tensor in tensors]
    gradients = [parameter.grad for parameter in model.parameters()]
    with analyzer._prepared(model, torch.device("meta")):
        moved = [*model.parameters(), *model.buffers()]
        assert not {tensor.data_ptr() for tensor in moved} & {pointer for _, pointer in kept}
        for parameter in model.parameters():
            parameter.grad = None
    assert [(tensor, tensor.data_ptr()) for tensor in (*model.parameters(), *model.buffers())] == kept[: len(moved)]
    assert all(now.grad is before for now, before in zip(model.parameters(), gradients, strict=True))
    assert [(tensor, tensor.data_ptr()) for tensor in gradients] == kept[len(moved) :]


def test_inputs_go_to_the_device_wherever_they_are_nested() -> None:
    x = torch.zeros(2)
    args, none = analyzer._inputs(([x, {"mask": x}], 3, None), torch.device("meta"))
    assert (args[0][0].device.type, args[0][1]["mask"].device.type, args[1:], none) == ("meta", "meta", (3, None), {})


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_missing_device_warns_and_the_model_runs_on_the_cpu(counted: Callable[..., None]) -> None:
    counted(op("", 1, 1, 1.0))
    ra = rw.RooflineAnalyzer(nn.Linear(64, 64), ROWS, CHIP)
    with pytest.warns(UserWarning, match="no device 'cuda' here: the model runs on the CPU") as caught:
        ra.profile(device="cuda")
    assert caught[0].filename == __file__
    assert len(ra.results) == 1


# -- points and table ----------------------------------------------------------------------------------------------


def test_a_point_has_the_ratios_of_its_flops_bytes_and_time(counted: Callable[..., None]) -> None:
    # The ridge point is at 10 FLOP/byte. At the roof "a" takes 1 s and "b" takes 2 s.
    counted(op("0", 100 * 10**9, 5 * 10**9, 2.0), op("1", 2 * 10**9, 20 * 10**9, 2.5))
    first, second = rw.RooflineAnalyzer(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), ROWS, CHIP).profile()
    assert first == rw.RooflinePoint("0", "Linear", 10**11, 5 * 10**9, 2.0, 20.0, 50.0, "compute", 50.0)
    assert second == rw.RooflinePoint("1", "ReLU", 2 * 10**9, 20 * 10**9, 2.5, 0.1, 0.8, "memory", 80.0)
    assert first.as_dict() == {
        "name": "0",
        "type": "Linear",
        "flops": 10**11,
        "bytes_moved": 5 * 10**9,
        "time_s": 2.0,
        "arithmetic_intensity": 20.0,
        "achieved_gflops": 50.0,
        "bound": "compute",
        "utilization_pct": 50.0,
    }
    with pytest.raises(AttributeError):
        first.flops = 1  # type: ignore[misc]


def test_the_operations_of_a_module_are_added(counted: Callable[..., None]) -> None:
    counted(op("0", 6, 20, 0.25), op("", 0, 8, 1.0, "cat"), op("0", 4, 10, 0.5))
    points = rw.RooflineAnalyzer(nn.Sequential(nn.Linear(1, 1)), ROWS, CHIP).profile()
    assert [(one.name, one.type, one.flops, one.bytes_moved, one.time_s) for one in points] == [
        ("0", "Linear", 10, 30, 0.75),
        ("Sequential", "Sequential", 0, 8, 1.0),
    ]


def test_unknown_work_stays_unknown_and_its_bound_is_undefined(counted: Callable[..., None]) -> None:
    counted(OpCount("custom", None, None, None, "fp32", "0", time=1.0), op("1", 10, 10, None))
    unknown, untimed = rw.RooflineAnalyzer(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), ROWS, CHIP).profile()
    assert (unknown.flops, unknown.bytes_moved, unknown.bound) == (None, None, "undefined")
    assert math.isnan(unknown.arithmetic_intensity)
    assert math.isnan(unknown.utilization_pct)
    assert (untimed.time_s, untimed.bound) == (None, "memory")
    assert math.isnan(untimed.utilization_pct)
    assert not untimed.above_roof


def test_a_precision_without_a_peak_is_undefined_and_the_summary_says_so(
    counted: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    counted(OpCount("addmm", {"tensor": 10}, 10, 0, "bf16", "", time=1.0))
    ra = rw.RooflineAnalyzer(nn.Linear(1, 1), ROWS, CHIP)
    assert ra.profile()[0].bound == "undefined"
    ra.summary()
    assert "1 kernel needs a figure that My CPU lacks, such as the peak of its precision." in capsys.readouterr().out


def test_the_summary_lists_the_slowest_modules_first_in_aligned_columns(
    counted: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    counted(
        op("0", 231_211_008, 10_010_000, 2.5e-3),
        op("1", 0, 1_024, 4e-3),
        op("2", 999, 999_999, 1e-3),
        warnings=("only one of two calls",),
    )
    ra = rw.RooflineAnalyzer(nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU(), nn.Linear(1, 1), nn.Tanh()), ROWS, CHIP)
    ra.profile()
    ra.summary(top=2)
    assert capsys.readouterr().out.splitlines() == [
        "=== Sequential on cpu · roof of My CPU ===",
        "name  type      FLOPs   bytes     AI  GFLOPs/s  bound    util%",
        "1     ReLU          0   1.02k   0.00      0.00  memory    0.0%",
        "0     Conv2d  231.21M  10.01M  23.10     92.48  compute  92.5%",
        "… and 1 more",
        "No operations of their own: 3",
        "Note: only one of two calls",
        "Note: My CPU has no separate peak for vector FLOPs: they are charged to the fp32 peak.",
    ]
    ra.summary(top=None)
    assert "2     Linear      999" in capsys.readouterr().out


def test_a_module_above_its_roof_is_flagged_and_not_clamped(
    counted: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    counted(op("0", 10**11, 10**9, 0.8), op("1", 10**11, 10**9, 2.0), op("2", 10, 10**10, 0.5))
    ra = rw.RooflineAnalyzer(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()), ROWS, CHIP)
    points = ra.profile()
    assert [(point.utilization_pct, point.above_roof) for point in points] == [(125, True), (50, False), (200, True)]
    ra.summary()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[2:5]] == ["50.0%", "125.0%!", "200.0%!"]
    assert len({line.index("%") for line in lines[2:5]}) == 1
    wrong = "faster than the roof: a cache holds the data, or a count, a time or the roof is wrong"
    assert lines[5:] == [f"! 2 {wrong}"]
    counted(op("0", 10**11, 10**9, 2.0), op("1", 10**11, 10**9, 0.8))
    ra.profile()
    ra.summary(top=1)
    assert capsys.readouterr().out.splitlines()[-2:] == ["No operations of their own: 2", f"! 1 {wrong}"]


def test_long_names_are_shortened_so_that_they_stay_distinct(
    counted: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    ends = [f"model.encoder.layers.{layer}.attention.output_projection" for layer in (1, 11)]
    begins = ["first_part.with_a_very_long_name_that_goes_on.out", "other_part.with_a_very_long_name_that_goes_on.out"]
    for names, expected in (
        (ends, ["…er.layers.1.attention.output_projection", "…r.layers.11.attention.output_projection"]),
        (begins, ["first_part.with_a_ve…me_that_goes_on.out", "other_part.with_a_ve…me_that_goes_on.out"]),
    ):
        counted(*(op(name, 10, 10, 1.0 - row / 4) for row, name in enumerate(names)))
        ra = rw.RooflineAnalyzer(nn.Linear(1, 1), ROWS, CHIP)
        ra.profile()
        ra.summary()
        shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:4]]
        assert shown == expected
        assert {len(name) for name in shown} == {40}
        assert [point.name for point in ra.results] == names


def test_the_plot_is_our_widget_with_a_point_per_module_and_a_colour_per_class(counted: Callable[..., None]) -> None:
    counted(op("0", 10, 10, 1.0), op("1", 10, 10, 1.0))
    ra = rw.RooflineAnalyzer(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), ROWS, CHIP)
    ra.profile()
    widget = ra.plot(title="Two layers", presentation=True)
    assert isinstance(widget, rw.RooflineWidget)
    assert (widget.title, widget.presentation, widget.chips) == ("Two layers", True, (CHIP,))
    has_columns(widget.kernels, names=["0", "1"], category=["Linear", "ReLU"])
    assert ra.plot().title == "Sequential on cpu"
    assert widget.show() is None  # type: ignore[func-returns-value]


def test_the_counter_gets_the_model_its_inputs_and_the_numbers_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def count(*arguments: Any) -> Counts:
        given.append(arguments)
        return Counts((op("", 1, 1, 1.0),))

    monkeypatch.setattr(analyzer, "counter", lambda _: SimpleNamespace(count=count))
    model = nn.Linear(64, 64)
    rw.RooflineAnalyzer(model, {"input": ROWS}, CHIP).profile(device="cpu", warmup=3, steps=7)
    assert given == [(model, (), {"input": ROWS}, Request("module", "op", 3, 7))]


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"steps": 0}, ValueError, "steps must be at least 1, got 0"),
        ({"warmup": -1}, ValueError, "warmup must be at least 0, got -1"),
        ({"steps": 2.5}, TypeError, "steps must be a whole number, got 2.5"),
        ({"device": "gpu"}, ValueError, "device must be one that PyTorch knows, such as 'cpu' or 'cuda', got 'gpu'"),
        ({"device": 1.5}, ValueError, "device must be one that PyTorch knows"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        rw.RooflineAnalyzer(nn.Linear(64, 64), ROWS, CHIP).profile(**options)


def test_only_a_pytorch_module_and_a_roof_are_accepted() -> None:
    with pytest.raises(TypeError, match=r"model must be a torch\.nn\.Module, got .*; for a function: rw\.profile"):
        rw.RooflineAnalyzer(torch.relu, ROWS)
    with pytest.raises(LookupError, match="h1000"):
        rw.RooflineAnalyzer(nn.Linear(64, 64), ROWS, "h1000")


def test_without_pytorch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(frameworks, "import_module", missing)
    with pytest.raises(ImportError, match=re.escape("pip install 'torch>=2.6'")):
        rw.RooflineAnalyzer(None, None)


@pytest.mark.parametrize("ask", ["summary", "plot"])
def test_before_profile_there_is_nothing_to_show(ask: str) -> None:
    ra = rw.RooflineAnalyzer(nn.Linear(64, 64), ROWS, CHIP)
    assert (repr(ra), ra.results, len(ra.kernels)) == ("RooflineAnalyzer(Linear, not measured yet)", [], 0)
    with pytest.raises(RuntimeError, match=re.escape("call profile() first")):
        getattr(ra, ask)()


@pytest.mark.parametrize(("top", "kind"), [(0, ValueError), (2.5, TypeError), ("all", TypeError)])
def test_the_number_of_rows_of_the_summary_is_checked(top: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="summary: top"):
        rw.RooflineAnalyzer(nn.Linear(64, 64), ROWS, CHIP).summary(top=top)
