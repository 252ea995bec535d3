"""Graphs of PyTorch models: expected counts are closed forms, or PyTorch's own FLOP counter's."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import roofwidget as rw  # noqa: E402
from roofwidget.workloads import Graph  # noqa: E402
from tests.measure.torch.models import Block, ResNet18  # noqa: E402
from tests.places import DOCS, text_of  # noqa: E402

Value: TypeAlias = Any

USING: Final = DOCS / "using.md"


def module(forward: Any, **parts: Any) -> Any:
    """Return a module with this forward function, which takes the module first, and these parts."""

    class Model(nn.Module):  # type: ignore[misc]  # torch is not typed here
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, x: Value) -> Value:
            return forward(self, x)

    return Model()


def tail(x: Value, gamma: Value, beta: Value) -> Value:
    """Return the sum of x and the GELU of its layer normalisation."""
    return functional.gelu(functional.layer_norm(x, (x.shape[-1],), gamma, beta)) + x


@pytest.fixture(scope="module")
def block() -> Graph:
    return rw.Graph.from_torch(Block(256, 8), torch.zeros(2, 512, 256))


@pytest.fixture(scope="module")
def resnet() -> Graph:
    return rw.Graph.from_torch(ResNet18(), torch.zeros(1, 3, 224, 224))


def test_a_transformer_block_has_the_flops_of_its_products_and_of_attention(block: Graph) -> None:
    assert block.count("tensor") == 2_147_483_648
    # The operations' own bytes are 43,037,696; PyTorch's attention also writes a log-sum-exp per query and head.
    assert block.count("bytes") == 43_037_696 - 2 * 8 * 512 * 4


def test_ops_have_the_paths_of_their_modules_and_inputs_the_names_of_parameters(block: Graph) -> None:
    names = ["ln1", "qkv", "attention", "proj", "add", "ln2", "up", "gelu", "down", "add_2"]
    assert [op.name for op in block.ops] == names
    assert {"x", "qkv.weight", "ln1.bias"} <= {tensor.name for tensor in block.inputs}


def test_resnet_18_has_the_flops_that_pytorch_counts(resnet: Graph) -> None:
    assert resnet.count("tensor") == 3_628_146_688
    # PyTorch's max pooling also writes an index of 8 bytes for each of its results.
    assert resnet.count("bytes") == 118_556_224 - 64 * 56 * 56 * 8
    assert resnet.notes == ()


def test_layers_of_resnet_18_are_named_by_their_place(resnet: Graph) -> None:
    names = [op.name for op in resnet.ops]
    assert len(names) == 68
    assert names[:5] == ["conv1", "bn1", "relu", "maxpool", "layer1.0.conv1"]
    assert {"layer1.0.relu", "layer1.0.relu_2", "layer1.0.add", "layer2.0.downsample.0.conv2d"} <= set(names)
    assert "layer1.0.conv1.weight" in {tensor.name for tensor in resnet.inputs}


def test_a_layer_norm_a_gelu_and_a_residual_fuse_to_the_compulsory_bytes() -> None:
    x, row = torch.zeros(4096, 1024), torch.zeros(1024)
    graph = rw.Graph.from_torch(tail, x, row, row.clone())
    size = 4096 * 1024 * 4
    assert graph.count("bytes") == 7 * size + 2 * 4096
    assert graph.count("compulsory") == 33_562_624
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert best.groups == (("layernorm", "gelu", "add"),)
    assert best.total_bytes() == 33_562_624


def test_attention_written_out_is_one_kernel_at_best() -> None:
    def attend(q: Value, k: Value, v: Value) -> Value:
        return (q @ k.transpose(-2, -1) / 8).softmax(-1) @ v

    graph = rw.Graph.from_torch(attend, *(torch.zeros(2, 8, 512, 64) for _ in "qkv"))
    assert graph.count("tensor") == 4 * 2 * 8 * 512 * 512 * 64
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert len(best) == 1
    operand = 2 * 8 * 512 * 64 * 4
    assert best.kernels(chip="H100-SXM").bytes.tolist() == [4 * operand]
    assert best.form(0, "H100-SXM").keeps == "result"


def test_heads_that_views_split_off_and_join_again_are_one_kernel() -> None:
    def attend(model: Any, x: Value) -> Value:
        q, k, v = (part.view(2, 256, 8, 64).transpose(1, 2) for part in model.qkv(x).chunk(3, -1))
        mixed = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return model.out(mixed.transpose(1, 2).reshape(2, 256, 512))

    attention = module(attend, qkv=nn.Linear(512, 1536, bias=False), out=nn.Linear(512, 512, bias=False))
    graph = rw.Graph.from_torch(attention, torch.zeros(2, 256, 512))
    loops = {op.name: op.index for op in graph.ops}
    assert loops["qkv"] == "abc,(de)c->abe,abe,abe"
    assert loops["copy"] == "abcd->ac(bd)"
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert ("matmul", "softmax", "matmul_2", "copy") in best.groups


def test_a_weight_that_is_made_wide_before_its_product_is_one_kernel() -> None:
    def widened(model: Any, x: Value) -> Value:
        return functional.linear(x, model.weight.to(torch.bfloat16) * model.scale)

    weight = nn.Parameter(torch.zeros(512, 512, dtype=torch.int8), requires_grad=False)
    quantised = module(widened, weight=weight, scale=nn.Parameter(torch.zeros(512, 1, dtype=torch.bfloat16)))
    graph = rw.Graph.from_torch(quantised, torch.zeros(16, 512, dtype=torch.bfloat16))
    best = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert best.groups == (("cast", "multiply", "linear"),)
    assert best.kernels(chip="H100-SXM").bytes.tolist() == [512 * 512 + 2 * 512 + 2 * 2 * 16 * 512]


def test_a_sum_of_products_in_einstein_notation_is_products() -> None:
    graph = rw.Graph.from_torch(
        lambda x, y, w: torch.einsum("...ij,...kj,kl->...il", x, y, w),
        *(torch.zeros(size) for size in ((3, 4, 8), (3, 5, 8), (5, 7))),
    )
    assert {op.kind for op in graph.ops} == {"matmul"}
    assert graph.count("tensor") == 2 * 3 * 4 * 5 * 8 + 2 * 3 * 4 * 5 * 7


def test_an_operation_that_consists_of_others_is_these() -> None:
    graph = rw.Graph.from_torch(nn.GLU(), torch.zeros(4, 16))
    assert [op.name for op in graph.ops] == ["sigmoid", "multiply"]
    assert graph.count("compulsory") == (4 * 16 + 4 * 8) * 4


def test_a_dynamic_batch_is_a_slider_with_the_range_that_was_given() -> None:
    batch = torch.export.Dim("batch", min=2, max=64)
    graph = rw.Graph.from_torch(Block(256, 8), torch.zeros(4, 512, 256), dynamic_shapes={"x": {0: batch}})
    (dim,) = graph.dims
    assert (dim.name, dim.low, dim.high, dim.default) == ("batch", 2, 64, 4)
    assert graph.count("tensor", {"batch": 2}) == 2_147_483_648
    assert graph.count("tensor", {"batch": 64}) == 32 * 2_147_483_648


def test_a_dynamic_length_enters_attention_as_a_square() -> None:
    length = {"x": {1: torch.export.Dim("seq")}}
    graph = rw.Graph.from_torch(Block(256, 8), torch.zeros(2, 512, 256), dynamic_shapes=length)
    seq = 77
    products = 2 * 2 * seq * 256 * (3 * 256 + 256 + 4 * 256 + 4 * 256)
    assert graph.count("tensor", {"seq": seq}) == products + 4 * 2 * seq * seq * 256


def test_a_dynamic_image_has_the_size_of_its_convolution() -> None:
    model = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
    shapes = ({2: torch.export.Dim("height", min=8, max=999)},)
    graph = rw.Graph.from_torch(model, torch.zeros(1, 3, 64, 64), dynamic_shapes=shapes)
    assert [graph.count("tensor", {"height": height}) for height in (64, 63, 9)] == [
        2 * 8 * rows * 32 * 27 for rows in (32, 32, 5)
    ]
    assert [graph.count("bytes", {"height": height}) for height in (64, 63, 9)] == [
        4 * (3 * 64 * height + 8 * 27 + 8 * 32 * rows) for height, rows in ((64, 32), (63, 32), (9, 5))
    ]


def test_views_are_free() -> None:
    graph = rw.Graph.from_torch(lambda x: x.transpose(0, 1).reshape(2, 4, 8).unsqueeze(0)[0].relu(), torch.zeros(8, 8))
    assert [(op.name, graph.bytes(op)) for op in graph.ops] == [("relu", 2 * 256)]


def test_a_function_of_a_transposed_result_does_not_join_the_product() -> None:
    graph = rw.Graph.from_torch(lambda x: (x @ x).t() + x, torch.zeros(8, 8))
    assert [op.kind for op in graph.ops] == ["matmul", "injective"]


def test_a_copy_to_contiguous_memory_moves_bytes() -> None:
    graph = rw.Graph.from_torch(lambda x: x.t().contiguous(), torch.zeros(8, 8))
    assert [(op.name, op.kind, graph.bytes(op)) for op in graph.ops] == [("copy", "injective", 512)]


def test_dropout_of_a_model_in_evaluation_is_no_op_and_its_mode_stays() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.ReLU())
    model[0].eval()
    graph = rw.Graph.from_torch(model, torch.zeros(2, 4))
    assert [op.name for op in graph.ops] == ["0.linear", "2.relu"]
    assert [part.training for part in model] == [False, True, True]


def test_halves_of_a_result_are_tensors_of_their_own() -> None:
    def gated(self: Any, x: Value) -> Value:
        gate, up = self.w13(x).chunk(2, -1)
        return self.w2(functional.silu(gate) * up)

    parts = {"w13": nn.Linear(64, 256, bias=False), "w2": nn.Linear(128, 64, bias=False)}
    graph = rw.Graph.from_torch(module(gated, **parts), torch.zeros(4, 64))
    w13, silu, multiply, _ = graph.ops
    assert [tensor.name for tensor in w13.outputs] == ["w13[:, 0:128]", "w13[:, 128:256]"]
    assert [tensor.name for tensor in multiply.inputs] == ["silu", "w13[:, 128:256]"]
    assert graph.bytes(silu) == 2 * 4 * 128 * 4
    assert graph.kernels().precision.tolist() == ["fp32"] * 4


def test_a_whole_result_that_one_op_reads_in_parts_stays_whole(block: Graph) -> None:
    assert [tensor.name for tensor in block.ops[2].inputs] == ["qkv"] * 3


def test_a_rotary_embedding_reads_each_half_once() -> None:
    def rotate(x: Value, cos: Value, sin: Value) -> Value:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    graph = rw.Graph.from_torch(rotate, torch.zeros(2, 8, 16, 64), torch.zeros(16, 64), torch.zeros(16, 64))
    half = 2 * 8 * 16 * 32 * 4
    assert {op.name: graph.bytes(op) for op in graph.ops} == {
        "multiply": 4 * half + 4096,
        "negative": 2 * half,
        "concatenate": 4 * half,
        "multiply_2": 4 * half + 4096,
        "add": 6 * half,
    }


def test_a_part_that_nothing_reads_is_written_but_not_compulsory() -> None:
    graph = rw.Graph.from_torch(lambda x: (x + 1)[:, :2] * 2, torch.zeros(4, 8))
    assert [graph.bytes(op) for op in graph.ops] == [2 * 128, 2 * 32]
    assert graph.count("compulsory") == 128 + 32


def test_an_embedding_reads_the_rows_that_tokens_pick() -> None:
    graph = rw.Graph.from_torch(nn.Embedding(50_000, 64), torch.zeros(32, dtype=torch.int64))
    (op,) = graph.ops
    assert op.kind == "injective"
    assert graph.bytes(op) == 32 * 8 + 2 * 32 * 64 * 4


def test_an_operation_in_place_writes_a_new_tensor_and_a_changed_buffer_is_an_output() -> None:
    def forward(self: Any, x: Value) -> Value:
        self.seen.add_(1)
        x = x * 2
        x += self.seen
        return x

    graph = rw.Graph.from_torch(module(forward, seen=nn.Buffer(torch.zeros(8))), torch.zeros(4, 8))
    assert [op.name for op in graph.ops] == ["add", "multiply", "add_2"]
    assert [tensor.name for tensor in graph.outputs] == ["add", "add_2"]


def test_an_operation_without_an_operator_is_opaque_and_a_note_names_it() -> None:
    graph = rw.Graph.from_torch(lambda x: torch.linalg.qr(x.relu())[0].relu(), torch.zeros(8, 8))
    assert [op.kind for op in graph.ops] == ["elementwise", "opaque", "elementwise"]
    assert graph.flops(graph.ops[1]) == 0
    assert graph.notes == (f"counted as moving bytes only, since no operator describes it: '{graph.ops[1].name}'",)


def test_a_shared_module_that_runs_twice_is_two_ops() -> None:
    graph = rw.Graph.from_torch(module(lambda self, x: self.fc(self.fc(x)), fc=nn.Linear(8, 8)), torch.zeros(4, 8))
    assert [op.name for op in graph.ops] == ["fc", "fc_2"]
    assert graph.count("tensor") == 2 * 2 * 4 * 8 * 8
    assert graph.count("compulsory") == (2 * 32 + 64 + 8) * 4


def test_multi_head_attention_has_the_flops_of_its_products() -> None:
    q, k, v = (torch.zeros(2, 16, 64) for _ in "qkv")
    graph = rw.Graph.from_torch(nn.MultiheadAttention(64, 4, batch_first=True), q, k, v, need_weights=False)
    assert graph.count("tensor") == 2 * 2 * 16 * 64 * 64 * 4 + 4 * 2 * 16 * 16 * 64
    assert all(op.kind != "opaque" or "attention" in op.name for op in graph.ops)


def test_causal_attention_counts_the_pairs_that_its_mask_leaves() -> None:
    graph = rw.Graph.from_torch(Block(256, 8, causal=True), torch.zeros(1, 512, 256))
    assert graph.flops_by_class("attention")["tensor"] == 4 * 256 * 512 * 513 // 2
    assert graph.with_convention("torch").flops_by_class("attention")["tensor"] == 4 * 256 * 512 * 512


@pytest.mark.parametrize(
    ("layer", "shape", "flops"),
    [
        (nn.Conv1d(4, 8, 3, padding="same", bias=False), (2, 4, 9), 2 * 2 * 8 * 9 * 4 * 3),
        (nn.Conv3d(4, 8, 3, bias=False), (1, 4, 5, 5, 5), 2 * 8 * 27 * 4 * 27),
        (nn.ConvTranspose2d(4, 8, 3, stride=2, bias=False), (1, 4, 5, 5), 2 * 4 * 25 * 8 * 9),
        (nn.Conv2d(8, 8, 3, groups=8, bias=False), (1, 8, 6, 6), 2 * 8 * 16 * 9),
        (nn.LSTM(8, 16, batch_first=True), (2, 5, 8), 2 * 10 * (64 * 8 + 64 * 16)),
        (nn.Bilinear(4, 5, 6, bias=False), (3, 4), None),
    ],
    ids=["conv1d", "conv3d", "transposed", "depthwise", "lstm", "bilinear"],
)
def test_products_of_layers_have_their_flops(layer: Any, shape: tuple[int, ...], flops: int | None) -> None:
    inputs = [torch.zeros(shape)] + ([torch.zeros(3, 5)] if flops is None else [])
    graph = rw.Graph.from_torch(layer, *inputs)
    assert graph.count("tensor") == flops if flops is not None else graph.notes


@pytest.mark.parametrize(
    ("layer", "shape", "name", "axes"),
    [
        (nn.Softmax(1), (2, 3, 4), "softmax", (1,)),
        (nn.GroupNorm(2, 4), (2, 4, 8), "groupnorm", (1, 2)),
        (nn.RMSNorm(8), (2, 4, 8), "rmsnorm", (2,)),
        (nn.AdaptiveAvgPool2d(1), (2, 4, 8, 8), "global_average_pool", (2, 3)),
        (nn.MaxPool2d(2), (2, 4, 8, 8), "max_pool2d", ()),
        (nn.AdaptiveMaxPool2d(1), (2, 4, 8, 8), "max_pool2d", (2, 3)),
    ],
    ids=["softmax", "groupnorm", "rmsnorm", "average", "maximum", "global maximum"],
)
def test_reductions_name_the_axes_that_they_reduce(layer: Any, shape: tuple[int, ...], name: str, axes: object) -> None:
    (op,) = rw.Graph.from_torch(layer, torch.zeros(shape)).ops
    assert (op.name, op.kind, op.axes) == (name, "reduction", axes)


@pytest.mark.parametrize(
    ("transform", "dtype", "halves"),
    [
        (torch.fft.fft, torch.complex64, 2),
        (torch.fft.rfft, torch.float32, 1),
        (lambda x: torch.fft.irfft(x, n=64), torch.complex64, 1),
    ],
    ids=["complex", "real", "back"],
)
def test_a_fourier_transform_has_the_flops_of_the_operator(transform: Any, dtype: Any, halves: int) -> None:
    length = 33 if halves == 1 and dtype is torch.complex64 else 64
    graph = rw.Graph.from_torch(transform, torch.zeros(16, length, dtype=dtype))
    assert graph.count("flops") == halves * 16 * 5 * 64 * 6 // 2


def test_dtypes_are_those_of_the_model() -> None:
    graph = rw.Graph.from_torch(nn.Linear(8, 8).to(torch.bfloat16), torch.zeros(4, 8, dtype=torch.bfloat16))
    assert {tensor.dtype for tensor in graph.tensors.values()} == {"bf16"}
    assert graph.kernels().precision.tolist() == ["bf16"]


def test_of_a_condition_the_dearest_branch_counts() -> None:
    def branch(x: Value) -> Value:
        return torch.cond(x.sum() > 0, lambda y: y @ y, lambda y: y + 1, (x,))

    graph = rw.Graph.from_torch(branch, torch.zeros(8, 8))
    assert graph.count("tensor") == 1024
    assert graph.notes == ("of a condition only the branch with most FLOPs is counted",)


def test_a_compiled_model_is_the_model_that_was_compiled() -> None:
    graph = rw.Graph.from_torch(torch.compile(nn.Linear(8, 8), backend="eager"), torch.zeros(4, 8))
    assert [op.name for op in graph.ops] == ["linear"]


def test_keyword_inputs_are_inputs() -> None:
    graph = rw.Graph.from_torch(nn.Linear(8, 8), input=torch.zeros(4, 8))
    assert [tensor.name for tensor in graph.inputs] == ["input", "weight", "bias"]


def test_a_widget_shows_the_graph_and_its_best_partition() -> None:
    graph = rw.Graph.from_torch(Block(64, 4), torch.zeros(1, 16, 64))
    model = rw.RooflineModel([rw.chip("H100-SXM")], graph=graph)
    model.partition = rw.Partition.best(graph, rw.chip("H100-SXM"))
    assert len(model.partition) < len(graph.ops)


def test_a_function_of_pytorch_itself_is_a_model() -> None:
    assert [op.name for op in rw.Graph.from_torch(torch.relu, torch.zeros(4)).ops] == ["relu"]


def test_the_example_of_the_guide_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", text_of(USING), re.DOTALL)
    (example,) = [block for block in blocks if "from_torch" in block]
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own text
    assert [dim.name for dim in names["graph"].dims] == ["batch"]


def test_something_that_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match=r"needs a torch\.nn\.Module or a function of tensors, got 'resnet18'"):
        rw.Graph.from_torch("resnet18", torch.zeros(2))


def branch(x: Value) -> Value:
    return x + 1 if x.sum() > 0 else x


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (
            lambda x: x[x > 0].relu(),
            torch.zeros(4),
            "a tensor has the size u0, which depends on the values of a tensor",
        ),
        (nn.Linear(4, 4), 3, "needs example inputs for Linear, and got no tensor; call it as"),
        (branch, torch.zeros(4), r"torch\.export cannot trace branch: .*; make torch\.export\.export"),
        (nn.Identity(), torch.zeros(4), "Identity has no operations: it returns its inputs, or views of them"),
    ],
    ids=["a size that depends on values", "no tensor", "no way to export it", "no operations"],
)
def test_a_model_that_makes_no_graph_is_refused_with_the_reason(model: Any, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rw.Graph.from_torch(model, given)


def test_an_operation_in_an_unknown_form_is_opaque() -> None:
    def product(x: Value) -> Value:
        return functional.cross_entropy(x, torch.zeros(4, dtype=torch.int64), weight=torch.ones(8))

    graph = rw.Graph.from_torch(product, torch.zeros(4, 8))
    (op,) = [op for op in graph.ops if op.kind == "opaque"]
    assert graph.notes == (f"counted as moving bytes only, since no operator describes it: '{op.name}'",)
