"""`rw.sol` of PyTorch code as benchmarks of kernels have it, against derivations by hand."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import roofwidget as rw  # noqa: E402
from roofwidget.workloads.speed_of_light import SpeedOfLight  # noqa: E402
from tests.workloads.test_speed_of_light import G  # noqa: E402

Value: TypeAlias = Any

# G moves 4 TB/s, does 1 PFLOP/s in products of 16 bits, and 100 TFLOP/s otherwise.
BYTES, PRODUCTS, OTHERS = 4e12, 1e15, 1e14
K: Final = 4096


def empty(*shape: int, dtype: Any = torch.bfloat16) -> Value:
    """Return a tensor with a shape and no memory."""
    return torch.empty(*shape, dtype=dtype, device="meta")


def counted(sol: SpeedOfLight, *, unfused: int, compiler: int, best: int, light: int, flops: int, kernels: int) -> None:
    """Check the bytes of all four, the FLOPs, and the number of kernels of best."""
    found = sol.unfused_bytes, sol.compiler_bytes, sol.best_bytes, sol.light_bytes, sol.flops, len(sol.kernels)
    assert found == (unfused, compiler, best, light, flops, kernels)
    assert sol.light <= sol.best <= sol.compiler <= sol.unfused
    assert sol.how == "optimal"


def test_a_matrix_product_is_at_light_however_it_runs() -> None:
    n = 2048
    sol = rw.sol(lambda a, b: a @ b, G, inputs=(empty(n, n), empty(n, n)))
    # Two operands and a result of 2 bytes an element; 2 FLOPs for each of n³.
    moved = 3 * 2 * n * n
    counted(sol, unfused=moved, compiler=moved, best=moved, light=moved, flops=2 * n**3, kernels=1)
    assert (sol.bound_by, sol.light) == ("tensor", 2 * n**3 / PRODUCTS)
    assert sol.unfused == sol.light


def test_a_softmax_moves_its_input_and_its_result() -> None:
    sol = rw.sol(lambda x: torch.softmax(x, dim=-1), G, inputs=empty(K, 1024))
    x = 2 * K * 1024
    counted(sol, unfused=2 * x, compiler=2 * x, best=2 * x, light=2 * x, flops=5 * K * 1024, kernels=1)
    assert (sol.bound_by, sol.light) == ("HBM", 2 * x / BYTES)


def test_a_layer_norm_moves_its_weights_too() -> None:
    sol = rw.sol(nn.LayerNorm(K, dtype=torch.bfloat16, device="meta"), G, inputs=empty(8192, K))
    x, weight = 2 * 8192 * K, 2 * K
    moved = 2 * x + 2 * weight
    # 8 FLOPs an element and 3 a row.
    flops = 8 * 8192 * K + 3 * 8192
    counted(sol, unfused=moved, compiler=moved, best=moved, light=moved, flops=flops, kernels=1)
    assert sol.light == moved / BYTES > flops / OTHERS


def test_an_rms_norm_written_out_is_one_kernel() -> None:
    def norm(x: Value, weight: Value) -> Value:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight

    sol = rw.sol(norm, G, inputs=(empty(8192, K), empty(K)))
    x, row, weight = 2 * 8192 * K, 2 * 8192, 2 * K
    # x·x: 2x; the mean: x and a row; two ops of a row each; two products of x and a row or the weight.
    unfused = 2 * x + (x + row) + 2 * (2 * row) + (2 * x + row) + (2 * x + weight)
    # A square, a sum, two products: 4 FLOPs an element; the mean's division takes the place of an addition; 2 a row.
    flops = 4 * 8192 * K + 2 * 8192
    light = 2 * x + weight
    counted(sol, unfused=unfused, compiler=light, best=light, light=light, flops=flops, kernels=1)


def test_attention_written_out_is_one_kernel_that_no_compiler_makes() -> None:
    def attention(q: Value, k: Value, v: Value) -> Value:
        return torch.softmax(q @ k.transpose(-1, -2) * 0.088, dim=-1) @ v

    heads, n, d = 8, 1024, 128
    sol = rw.sol(attention, G, inputs=[empty(1, heads, n, d) for _ in range(3)])
    t, s = 2 * heads * n * d, 2 * heads * n * n
    # The product, the scale and the softmax write scores, and three ops read them. A compiler scales in the product.
    unfused, compiler = (2 * t + s) + 2 * s + 2 * s + (s + 2 * t), (2 * t + s) + 2 * s + (s + 2 * t)
    products, others = 4 * heads * n * n * d, 6 * heads * n * n
    counted(sol, unfused=unfused, compiler=compiler, best=4 * t, light=4 * t, flops=products + others, kernels=1)
    assert sol.light == products / PRODUCTS
    assert sol.best == pytest.approx(products / PRODUCTS + others / OTHERS)
    assert (sol.unfused, sol.compiler) == pytest.approx((unfused / BYTES, compiler / BYTES))
    # FlashAttention at 60 % of light is below what any compiler reaches; a third of light is impossible.
    assert sol.score(sol.light / 0.6).value == pytest.approx(0.8358, abs=1e-4)
    assert sol.verdict(sol.light / 3).word == "impossible"


class GatedMlp(nn.Module):  # type: ignore[misc]  # torch is not typed here
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(features, hidden, bias=False)
        self.up = nn.Linear(features, hidden, bias=False)
        self.down = nn.Linear(hidden, features, bias=False)

    def forward(self, x: Value) -> Value:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


def test_a_narrow_gated_mlp_is_one_kernel_of_blocks_of_rows() -> None:
    rows, features, hidden = 65536, 256, 1024
    with torch.device("meta"):
        model = GatedMlp(features, hidden).to(torch.bfloat16)
    sol = rw.sol(model, G, inputs=(empty(rows, features),))
    x, w, h = 2 * rows * features, 2 * features * hidden, 2 * rows * hidden
    # Three products; the SiLU reads and writes h, the product of both reads two and writes one.
    unfused = 3 * (x + w + h) + 2 * h + 3 * h
    # One product takes the SiLU and the product of both with it.
    compiler = (x + w + h) + (x + w + 2 * h) + (h + w + x)
    # 5 FLOPs of a SiLU and 1 of the product of both.
    products, others = 6 * rows * features * hidden, 6 * rows * hidden
    light = 2 * x + 3 * w
    counted(sol, unfused=unfused, compiler=compiler, best=light, light=light, flops=products + others, kernels=1)
    assert sol.light == products / PRODUCTS
    assert sol.best == pytest.approx(products / PRODUCTS + others / OTHERS)


def test_a_convolution_block_takes_its_norm_and_relu_along() -> None:
    with torch.device("meta"):
        parts = [nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        model = nn.Sequential(*parts).half().eval()
    sol = rw.sol(model, G, inputs=empty(32, 64, 56, 56, dtype=torch.float16))
    x, weight, norm = 2 * 32 * 64 * 56 * 56, 2 * 64 * 64 * 9, 4 * 2 * 64
    light = 2 * x + weight + norm
    # Textbooks multiply the zeros of the padding too.
    products = 2 * 32 * 64 * 64 * 9 * 56 * 56
    # A norm of constants is a multiply-add, and a ReLU a comparison.
    others = 3 * 32 * 64 * 56 * 56
    unfused = (2 * x + weight) + (2 * x + norm) + 2 * x
    counted(sol, unfused=unfused, compiler=light, best=light, light=light, flops=products + others, kernels=1)
    assert (sol.bound_by, sol.light) == ("tensor", products / PRODUCTS)


def test_a_linear_layer_of_narrow_weights_reads_them_narrow() -> None:
    def linear(x: Value, q: Value, scales: Value) -> Value:
        w = (q.to(torch.bfloat16).view(K, K // 128, 128) * scales[:, :, None]).view(K, K)
        return x @ w.T

    sol = rw.sol(linear, G, inputs=(empty(16, K), empty(K, K, dtype=torch.int8), empty(K, K // 128)))
    x, q, w, scales = 2 * 16 * K, K * K, 2 * K * K, 2 * K * K // 128
    light = 2 * x + q + scales
    unfused = (q + w) + (2 * w + scales) + (w + 2 * x)
    counted(sol, unfused=unfused, compiler=light, best=light, light=light, flops=2 * 16 * K * K + K * K, kernels=1)
    assert (sol.bound_by, sol.light) == ("HBM", light / BYTES)


def test_nothing_is_computed_and_no_weight_needs_memory() -> None:
    # 4 TB of weights.
    with torch.device("meta"):
        model = nn.Linear(1_000_000, 1_000_000, bias=False)
    sol = rw.sol(model, "h100-sxm", inputs=empty(1, 1_000_000, dtype=torch.float32))
    assert sol.light_bytes == 4 * 1_000_000**2 + 2 * 4 * 1_000_000


def test_keywords_of_a_model_are_a_mapping() -> None:
    def scaled(x: Value, *, scale: Value) -> Value:
        return x * scale

    sol = rw.sol(scaled, G, inputs={"x": empty(64, 64), "scale": empty(64, 64)})
    assert sol.light_bytes == 3 * 2 * 64 * 64


def test_an_operation_without_a_formula_makes_light_a_lower_bound() -> None:
    sol = rw.sol(lambda x: torch.linalg.inv(x) * 2, G, inputs=empty(64, 64, dtype=torch.float32))
    assert sol.notes[0].startswith("a lower bound: 1 op has no FLOPs: ")


def test_a_model_without_inputs_says_how_to_give_them() -> None:
    with pytest.raises(ValueError, match=r"needs example inputs for GatedMlp"):
        rw.sol(GatedMlp(8, 8), G)
    with pytest.raises(ValueError, match=r"sol needs example inputs to trace .*; give them as inputs=\(x, w\)"):
        rw.sol(lambda x: x, G)
    with pytest.raises(TypeError, match=r"inputs= are for models, and 'linear' is a graph"):
        rw.sol(rw.Graph("linear"), G, inputs=empty(1))
    with pytest.raises(
        TypeError, match="sol needs a Graph, a PyTorch model, or a function of tensors or arrays, got 3"
    ):
        rw.sol(3, G)
