"""What the PyTorch counter finds: operations, FLOPs, bytes, modules and precisions of whole models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import roofwidget as rw
from roofwidget.measure.counts import Counts, OpCount, Request
from roofwidget.measure.torch import counter
from roofwidget.measure.torch.dispatch import count
from roofwidget.measure.torch.tensors import OpCall
from roofwidget.workloads import Graph
from tests.measure.torch.models import Block, ResNet18, decoder
from tests.tables import warns

UNTIMED = Request(timing=None)
IMAGE = torch.zeros(1, 3, 224, 224)
SMALL = torch.zeros(1, 3, 64, 64)


def counted(function: Any, *args: Any, **kwargs: Any) -> Counts:
    return counter.count(function, args, kwargs, UNTIMED)


def not_run(function: Any, *args: Any, **kwargs: Any) -> Counts:
    return counter.count_without_running(function, args, kwargs, UNTIMED)


def tensor_flops(counts: Counts) -> int:
    return sum((op.flops or {}).get("tensor", 0) for op in counts.ops)


def total_bytes(counts: Counts) -> int:
    return sum(op.bytes or 0 for op in counts.ops)


def only(counts: Counts) -> OpCount:
    """Return the one operation that computes or moves something."""
    (op,) = (op for op in counts.ops if op.bytes)
    return op


def test_resnet_18_has_90_operations_and_its_known_flops_and_bytes() -> None:
    model = ResNet18().eval()
    assert sum(parameter.numel() for parameter in model.parameters()) == 11_689_512
    counts = counted(model, IMAGE)
    assert len(counts.ops) == 90
    assert tensor_flops(counts) == 3_628_146_688
    assert total_bytes(counts) == 118_556_224
    assert sum(op.name == "empty" and op.bytes == 0 for op in counts.ops) == 20


def test_resnet_18_in_training_mode_has_110_operations() -> None:
    counts = counted(ResNet18().train(), IMAGE)
    assert (len(counts.ops), tensor_flops(counts), total_bytes(counts)) == (110, 3_628_146_688, 118_633_344)


def test_a_forward_and_backward_pass_of_resnet_18_has_its_known_flops() -> None:
    model = ResNet18().eval()

    def step(image: Any) -> None:
        model(image).sum().backward()

    counts = counted(step, IMAGE)
    assert tensor_flops(counts) == 10_648_412_160
    assert not_run(step, IMAGE) == counts


def test_a_transformer_block_has_27_operations_and_its_known_flops_and_bytes() -> None:
    counts = counted(Block(256, 4), torch.zeros(2, 512, 256))
    assert (len(counts.ops), tensor_flops(counts), total_bytes(counts)) == (27, 2_147_483_648, 43_037_696)


def test_a_causal_mask_saves_no_flops() -> None:
    assert tensor_flops(counted(Block(256, 4, causal=True), torch.zeros(2, 512, 256))) == 2_147_483_648


def test_a_model_of_six_billion_parameters_is_counted_without_memory() -> None:
    torch.set_default_dtype(torch.bfloat16)
    try:
        with FakeTensorMode():
            model = decoder(32, 4096, 32)
            tokens = torch.empty(1, 2048, 4096)
    finally:
        torch.set_default_dtype(torch.float32)
    # Weights of the matrices only: 12 d² a layer.
    assert sum(parameter.numel() for parameter in model.parameters() if parameter.dim() > 1) == 6_442_450_944
    counts = not_run(model, tokens)
    assert tensor_flops(counts) == 28_587_302_322_176
    assert {op.precision for op in counts.ops} == {None, "bf16"}


def test_the_flops_of_products_are_those_of_pytorchs_own_counter() -> None:
    model = ResNet18().eval()
    with FlopCounterMode(display=False) as own:
        model(SMALL).sum().backward()

    def step() -> None:
        model(SMALL).sum().backward()

    assert own.get_total_flops() == tensor_flops(counted(step))


@pytest.mark.parametrize("model", [ResNet18().eval(), Block(256, 4), nn.MultiheadAttention(256, 4).eval()])
def test_no_grad_inference_mode_and_fake_tensors_give_the_same_counts(model: Any) -> None:
    x = SMALL if isinstance(model, ResNet18) else torch.zeros(2, 512, 256)
    call = partial(model, x, x, x) if isinstance(model, nn.MultiheadAttention) else partial(model, x)
    with torch.no_grad():
        expected = counted(call)
        assert not_run(call) == expected
    with torch.inference_mode():
        assert counted(call) == expected
    assert tensor_flops(counted(call)) == tensor_flops(expected)


def test_recording_gradients_changes_no_operation_of_a_forward_pass() -> None:
    model = ResNet18().eval()
    with_gradients = counted(model, SMALL)
    with torch.no_grad():
        assert counted(model, SMALL) == with_gradients


def test_the_fast_path_of_multi_head_attention_is_counted() -> None:
    model = nn.MultiheadAttention(64, 4, batch_first=True).eval()
    x = torch.zeros(2, 128, 64)
    with torch.no_grad():
        op = only(counted(model, x, x, x))
        assert op.name == "_native_multi_head_attention"
        assert op.flops is not None
        assert op.flops["tensor"] == 16_777_216
    # Without the fast path the operations are others, and the products are the same.
    assert tensor_flops(counted(model, x, x, x)) == 16_777_216


def test_the_fast_path_of_an_encoder_layer_is_counted() -> None:
    layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True).eval()
    x = torch.zeros(2, 128, 64)
    # Attention as above, and two matrices of 64 × 256 for 256 tokens.
    expected = 16_777_216 + 2 * 2 * 256 * 64 * 256
    with torch.no_grad():
        assert [op.name for op in counted(layer, x).ops] == ["_transformer_encoder_layer_fwd"]
        assert tensor_flops(counted(layer, x)) == expected
    assert tensor_flops(counted(layer, x)) == expected


def test_attention_on_a_cpu_has_four_flops_per_pair_and_element() -> None:
    batch, heads, tokens, width = 2, 8, 128, 32
    q = torch.zeros(batch, heads, tokens, width)
    op = only(counted(nn.functional.scaled_dot_product_attention, q, q, q))
    pairs = batch * heads * tokens * tokens
    assert op.flops == {"tensor": 4 * pairs * width, "vector": 4 * pairs, "transcendental": pairs}


def test_the_backward_pass_of_attention_has_five_products() -> None:
    q, k, v = (torch.zeros(1, 2, 64, 32, requires_grad=True) for _ in range(3))

    def step() -> None:
        nn.functional.scaled_dot_product_attention(q, k, v).sum().backward()

    assert tensor_flops(counted(step)) == (2 + 5) * 2 * 2 * 64 * 64 * 32


def test_recurrent_layers_have_the_flops_of_their_gates() -> None:
    # Four gates; 8 inputs and 16 states; 5 steps of 2 rows.
    lstm = nn.LSTM(8, 16, batch_first=True)
    with torch.no_grad():
        assert tensor_flops(counted(lstm, torch.zeros(2, 5, 8))) == 2 * 5 * 2 * 4 * 16 * (8 + 16)
        gru = nn.GRU(8, 16, batch_first=True)
        assert tensor_flops(counted(gru, torch.zeros(2, 5, 8))) == 2 * 5 * 2 * 3 * 16 * (8 + 16)
    # Backward: the gradients of inputs and weights, twice the FLOPs of forward.
    step = counted(lambda x: lstm(x)[0].sum().backward(), torch.zeros(2, 5, 8))
    assert tensor_flops(step) == 3 * 2 * 5 * 2 * 4 * 16 * (8 + 16)


def test_keyword_inputs_count_like_positional_ones() -> None:
    model, x = nn.Linear(32, 16), torch.zeros(4, 32)
    by_name = counted(model, input=x)
    assert by_name == counted(model, x)
    assert (tensor_flops(by_name), by_name.compulsory_bytes) == (2 * 4 * 32 * 16, 4 * (4 * 32 + 33 * 16 + 4 * 16))


def test_a_module_that_is_called_twice_counts_twice() -> None:
    shared = nn.Linear(128, 128)

    class Twice(nn.Module):  # type: ignore[misc]  # torch is not typed here
        def __init__(self) -> None:
            super().__init__()
            self.first = shared
            self.second = shared

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    counts = counted(Twice(), torch.zeros(128, 128))
    assert tensor_flops(counts) == 2 * 2 * 128**3
    assert {op.module for op in counts.ops} == {"first"}
    # The weights cross the boundary once.
    assert counts.compulsory_bytes == 4 * (128 * 128 + 128 + 2 * 128 * 128)


def test_a_model_that_is_a_single_layer_has_rows() -> None:
    counts = counted(nn.Linear(8, 8), torch.zeros(2, 8))
    assert [op.name for op in counts.ops] == ["t", "addmm"]
    assert {op.module for op in counts.ops} == {""}


def test_integers_have_bytes_and_no_flops() -> None:
    counts = counted(lambda i: i + 1, torch.arange(10))
    assert [(op.name, op.flops, op.bytes, op.precision) for op in counts.ops] == [("add", {}, 160, None)]
    tokens = counted(nn.Sequential(nn.Embedding(100, 8), nn.Linear(8, 8)), torch.arange(4))
    assert tensor_flops(tokens) == 2 * 4 * 8 * 8


def test_a_product_of_integers_has_flops() -> None:
    a = torch.ones(32, 32, dtype=torch.int8)
    op = only(counted(torch._int_mm, a, a))
    assert (op.flops, op.precision) == ({"tensor": 2 * 32**3}, "int8")


def test_functions_closures_nested_arguments_and_methods_are_counted() -> None:
    weight = torch.zeros(8, 4)

    def f(tree: Any) -> Any:
        return {"y": [tree["x"][0] @ weight]}

    counts = counted(f, {"x": [torch.zeros(2, 8)]})
    assert only(counts).flops == {"tensor": 128}
    assert counts.compulsory_bytes == 4 * (16 + 32 + 8)
    assert not_run(f, {"x": [torch.zeros(2, 8)]}) == counts
    model = nn.Linear(8, 4)
    assert counted(model.forward, torch.zeros(2, 8)) == counted(partial(model), torch.zeros(2, 8))


def test_autocast_computes_in_its_own_precision() -> None:
    model = nn.Linear(64, 64)
    with torch.autocast("cpu", torch.bfloat16):
        counts = counted(model, torch.zeros(8, 64))
        again = counted(model, torch.zeros(8, 64))
        fake = not_run(model, torch.zeros(8, 64))
    assert [op.name for op in counts.ops] == ["_to_copy", "_to_copy", "_to_copy", "t", "addmm"]
    assert (counts.ops[-1].precision, tensor_flops(counts)) == ("bf16", 2 * 8 * 64 * 64)
    assert counts == again == fake


def test_a_product_has_the_wider_precision_and_other_operations_that_of_their_output() -> None:
    x = torch.zeros(4, 4, dtype=torch.float64)
    assert only(counted(torch.mm, x, x)).precision == "fp64"
    mixed = counted(lambda a, b: a + b, torch.zeros(4, dtype=torch.bfloat16), torch.zeros(4))
    assert mixed.ops[-1].precision == "fp32"
    compared = counted(lambda a: a > 0, torch.zeros(4, dtype=torch.float16))
    assert [(op.flops, op.precision) for op in compared.ops] == [({"vector": 4}, "fp16")]


def _on_cuda(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]) -> dict[str, str | None]:
    """Return the precisions of fp32 operations on a CUDA device that nothing runs on."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: capability)
    with FakeTensorMode():
        image, kernel = torch.empty(1, 3, 8, 8, device="cuda"), torch.empty(4, 3, 3, 3, device="cuda")
        matrix = torch.empty(8, 8, device="cuda")
        plain = (None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
        convolved = torch.ops.aten.convolution.default, (image, kernel, *plain)
        calls = {"convolution": convolved, "add": (torch.ops.aten.add.Tensor, (matrix, matrix))}
        for dtype, name in ((torch.float32, "mm"), (torch.bfloat16, "bf16"), (torch.float64, "fp64")):
            calls[name] = torch.ops.aten.mm.default, (matrix.to(dtype), matrix.to(dtype))
        return {name: count(OpCall(run, args, {}, run(*args)))[0].precision for name, (run, args) in calls.items()}


@pytest.fixture
def tf32_settings() -> Iterator[tuple[Any, Any]]:
    """Yield the settings of convolutions and of matrix products, and put them back."""
    convolutions, products = torch.backends.cudnn.conv, torch.backends.cuda.matmul
    before = convolutions.fp32_precision, products.fp32_precision
    yield convolutions, products
    convolutions.fp32_precision, products.fp32_precision = before


@pytest.mark.skipif(not hasattr(torch.backends.cudnn, "conv"), reason="PyTorch has one setting for all of cuDNN")
@pytest.mark.parametrize("setting", ["tf32", "ieee"])
def test_fp32_products_on_cuda_have_the_precision_that_the_settings_of_tf32_allow(
    monkeypatch: pytest.MonkeyPatch, tf32_settings: tuple[Any, Any], setting: str
) -> None:
    convolutions, products = tf32_settings
    other = {"tf32": "ieee", "ieee": "tf32"}[setting]
    convolutions.fp32_precision, products.fp32_precision = setting, other
    shown = {"tf32": "tf32", "ieee": "fp32"}
    found = _on_cuda(monkeypatch, (8, 0))
    assert (found["convolution"], found["mm"]) == (shown[setting], shown[other])
    assert (found["add"], found["bf16"], found["fp64"]) == ("fp32", "bf16", "fp64")
    # Volta and Turing have no TF32, nor do AMD's GPUs convolve in it.
    assert _on_cuda(monkeypatch, (7, 5))["convolution"] == "fp32"
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert _on_cuda(monkeypatch, (9, 4))["convolution"] == "fp32"


def test_pytorch_convolves_in_tf32_by_default_and_multiplies_matrices_in_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _on_cuda(monkeypatch, (9, 0))
    assert (found["convolution"], found["mm"]) == ("tf32", "fp32")
    with torch.backends.cudnn.flags(enabled=False):
        assert _on_cuda(monkeypatch, (9, 0))["convolution"] == "fp32"


def test_an_operation_belongs_to_its_module_forward_and_backward() -> None:
    counts = counted(ResNet18().eval(), SMALL)
    assert counts.ops[0].name == "convolution"
    assert counts.ops[0].module == "conv1"
    assert sum(op.module == "layer2.0.downsample.0" for op in counts.ops) == 1
    assert {op.module for op in counts.ops if op.name == "add_"} == {
        f"layer{i}.{j}" for i in (1, 2, 3, 4) for j in (0, 1)
    }
    model = ResNet18().eval()
    step = counted(lambda image: model(image).sum().backward(), SMALL)
    forward = [op.module for op in step.ops if op.name == "convolution"]
    backward = [op.module for op in step.ops if op.name == "convolution_backward"]
    assert "ResNet18.layer1.0.conv1" in forward
    assert sorted(backward) == sorted(forward)


def test_modules_inside_a_function_are_named_by_their_class() -> None:
    first, second = nn.Linear(8, 8), nn.Linear(8, 8)
    counts = counted(lambda x: second(first(x)) + 1, torch.zeros(2, 8))
    assert [op.module for op in counts.ops if op.bytes] == ["Linear", "Linear (2)", ""]


def test_a_recomputed_forward_pass_belongs_to_its_module() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh())

    def step(x: Any) -> None:
        torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).sum().backward()

    counts = counted(step, torch.zeros(2, 8, requires_grad=True))
    assert sum(op.name == "tanh" and op.module == "Sequential.1" for op in counts.ops) == 2


def test_shapes_of_inputs_are_told_and_cut_short_if_there_are_many() -> None:
    assert not_run(ResNet18().eval(), IMAGE).ops[0].shapes == "1×3×224×224, 64×3×7×7"
    many = counted(torch.stack, [torch.zeros(3)] * 50)
    assert many.ops[0].shapes == ", ".join(["3"] * 8) + ", …"


def test_compulsory_bytes_are_inputs_parameters_buffers_and_outputs_each_once() -> None:
    # 11,689,512 parameters, means and variances of 4800 channels, the image, 1000 scores.
    expected = 4 * (11_689_512 + 2 * 4800 + 3 * 224 * 224 + 1000)
    assert not_run(ResNet18().eval(), IMAGE).compulsory_bytes == expected
    model, x = nn.Linear(32, 16), torch.zeros(4, 32)
    step = counted(lambda: model(x).sum().backward())
    weights = 33 * 16
    # The weights' gradients leave; the result is dropped.
    assert step.compulsory_bytes == 4 * (4 * 32 + 2 * weights)


def test_compulsory_bytes_of_a_cache_are_the_rows_that_change_and_all_that_is_read() -> None:
    cache = torch.zeros(100, 64)
    row, index = torch.ones(1, 64), torch.tensor([3])
    written = counted(lambda: cache.index_copy_(0, index, row))
    assert written.compulsory_bytes == 4 * 64 + 8 + 4 * 64
    read_too = counted(lambda: cache.index_copy_(0, index, row).sum())
    assert read_too.compulsory_bytes == 4 * 64 + 8 + 4 * 64 + 4 * 6400 + 4


def test_a_view_is_listed_and_moves_nothing() -> None:
    profile = rw.profile(lambda x: x.t() + 1, torch.zeros(4, 8), timing=None)
    assert profile.calls == 2
    assert profile.kernels.names.tolist() == ["add"]


def test_what_is_in_no_table_has_unknown_flops() -> None:
    counts = counted(torch.linalg.cholesky, torch.eye(4))
    assert None in [op.flops for op in counts.ops]
    profile = rw.profile(torch.linalg.cholesky, torch.eye(4), timing=None)
    assert warns(profile, "unknown")


def test_sparse_tensors_have_unknown_bytes() -> None:
    counts = counted(torch.sparse.mm, torch.eye(4).to_sparse(), torch.eye(4))
    assert counts.ops[-1].bytes is None
    assert counts.compulsory_bytes is None


def test_a_function_without_operations_says_so() -> None:
    profile = rw.profile(lambda x: None, torch.zeros(1), timing=None)  # noqa: ARG005 - it uses nothing
    assert profile.calls == 0
    assert len(profile.warnings) == 1


def test_a_compiled_model_is_counted_as_before_compilation() -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU())
    eager = counted(model, torch.zeros(8, 64))
    compiled = torch.compile(model, backend="eager")
    counts = counted(compiled, torch.zeros(8, 64))
    assert counts.ops == eager.ops
    assert "compiled" in counts.warnings[0]
    assert not_run(compiled, torch.zeros(8, 64)).ops == eager.ops
    inside = counted(lambda x: compiled(x) + 1, torch.zeros(8, 64))
    assert [op.module for op in inside.ops if op.bytes] == ["Sequential.0", "Sequential.1", ""]


@pytest.mark.parametrize(
    ("operator", "options", "function"),
    [
        ("layernorm", {}, nn.LayerNorm(32)),
        ("layernorm", {"affine": False}, nn.LayerNorm(32, elementwise_affine=False)),
        ("softmax", {}, partial(torch.softmax, dim=-1)),
        ("unary", {"function": "gelu_erf"}, nn.functional.gelu),
        ("unary", {"function": "gelu_tanh"}, partial(nn.functional.gelu, approximate="tanh")),
        ("unary", {"function": "silu"}, nn.functional.silu),
        ("unary", {"function": "relu"}, torch.relu),
        ("unary", {"function": "exp"}, torch.exp),
        ("unary", {"function": "square"}, lambda x: x**2),
        ("reduce_sum", {}, partial(torch.sum, dim=-1)),
    ],
)
def test_flops_besides_products_are_those_of_the_operators_of_a_graph(
    operator: str, options: Any, function: Any
) -> None:
    graph = Graph()
    getattr(graph, operator)(graph.input("x", (64, 32), "fp32"), **options)
    counts = counted(function, torch.ones(64, 32))
    found = sum(sum((op.flops or {}).values()) for op in counts.ops)
    assert found == graph.count("flops")


def test_transcendental_functions_are_a_class_of_their_own() -> None:
    x = torch.ones(8, 16)
    assert only(counted(nn.functional.gelu, x)).flops == {"vector": 4 * 128, "transcendental": 128}
    assert only(counted(partial(torch.softmax, dim=1), x)).flops == {"vector": 4 * 128, "transcendental": 128}
    assert only(counted(partial(torch.log_softmax, dim=1), x)).flops == {"vector": 4 * 128, "transcendental": 128 + 8}
    assert only(counted(torch.add, x, x, alpha=2)).flops == {"vector": 2 * 128}
    assert only(counted(torch.maximum, x, x)).flops == {"vector": 128}


def test_the_flops_of_complex_numbers_are_those_of_their_parts() -> None:
    z = torch.zeros(16, dtype=torch.complex64)
    assert only(counted(torch.mul, z, z)).flops == {"vector": 6 * 16}
    a = torch.zeros(4, 4, dtype=torch.complex64)
    product = only(counted(torch.mm, a, a))
    assert (product.flops, product.precision) == ({"tensor": 8 * 64}, "fp32")


def _stepped(kind: Any, **options: Any) -> dict[str, int]:
    """Return the vector FLOPs of the second step of an optimizer of 6 parameters by operation."""
    parameter = torch.ones(2, 3, requires_grad=True)
    parameter.grad = torch.ones(2, 3)
    optimizer = kind([parameter], **options)
    optimizer.step()
    return {op.name: op.flops["vector"] for op in counted(optimizer.step).ops if op.flops}


def test_a_fused_step_has_the_flops_of_its_options_and_of_the_operator_of_a_graph() -> None:
    adamw = _stepped(torch.optim.AdamW, fused=True, weight_decay=0.0)["_fused_adamw_"]
    graph = Graph()
    graph.adam_step(graph.input("p", (6,), "fp32"), graph.input("g", (6,), "fp32"))
    assert adamw == graph.count("flops") == 13 * 6
    assert _stepped(torch.optim.AdamW, fused=True, amsgrad=True)["_fused_adamw_"] == (13 + 2 + 1) * 6
    assert _stepped(torch.optim.SGD, lr=0.1, fused=True)["_fused_sgd_"] == 2 * 6
    nesterov = _stepped(torch.optim.SGD, lr=0.1, fused=True, momentum=0.9, nesterov=True)
    assert nesterov["_fused_sgd_"] == (2 + 2 + 2) * 6
    assert _stepped(torch.optim.Adagrad, fused=True)["_fused_adagrad_"] == 7 * 6


def test_a_factor_of_each_tensor_of_a_list_is_a_product_for_each_element() -> None:
    def step() -> None:
        tensors = [torch.ones(2, 3), torch.ones(4)]
        torch._foreach_addcdiv_(tensors, tensors, tensors, [0.5, 0.25])
        torch._foreach_addcmul_(tensors, tensors, tensors)

    flops = {op.name: op.flops for op in counted(step).ops if "foreach" in op.name}
    assert flops == {"_foreach_addcdiv_": {"vector": 3 * 10}, "_foreach_addcmul_": {"vector": 2 * 10}}


def test_windows_of_adaptive_pooling_that_overlap_have_their_elements_each() -> None:
    def pooled() -> None:
        x = torch.ones(2, 32, 33, requires_grad=True)
        nn.functional.adaptive_avg_pool2d(x, (7, 5)).sum().backward()
        nn.functional.avg_pool2d(x, 2).sum().backward()

    flops = {op.name: op.flops["vector"] for op in counted(pooled).ops if "pool" in op.name and op.flops}
    # 6 of the borders between 7 windows are within a row, 4 of those between 5 within a column.
    within, results = 2 * (32 + 6) * (33 + 4), 2 * 16 * 16
    assert flops["_adaptive_avg_pool2d"] == within
    assert flops["_adaptive_avg_pool2d_backward"] == within + 2 * 7 * 5
    assert flops["avg_pool2d_backward"] == (2 * 2 + 1) * results
