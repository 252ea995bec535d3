"""The sweep over sizes: the guide's table of square matmuls, its ridge points, and where they cross."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from roofwidget import Chip, Graph, Kernel, RooflineModel, dim
from roofwidget.companions import size_sweep
from roofwidget.companions.arrays import evaluate_arrays
from roofwidget.workloads import Op, Tensor
from roofwidget.workloads.expressions import ceil_div, maximum, minimum
from roofwidget.workloads.ops.linear import matmul

# "Square MatMul AI (bf16, dtype=2 bytes)", section 4 of the TPU guide.
GUIDE_TABLE = {64: 21.3, 256: 85.3, 1024: 341.3, 4096: 1365.3, 16384: 5461.3}
# The guide's ridge points, and the first whole number of at least three times each.
GUIDE_RIDGES = {"v7x (fp8)": (640.8, 1923), "v7x (bf16)": (320.4, 962), "v6e": (573.8, 1722), "v5p": (166.3, 499)}


@pytest.fixture
def layer() -> Graph:
    """[tokens, width] x [width, width] in bf16, then an activation."""
    graph = Graph("layer")
    tokens, width = dim("tokens", 1, 4096, default=64), dim("width", 16, 4096, default=1024)
    graph.output(graph.relu(graph.linear(graph.input("x", (tokens, width), "bf16"), width)))
    return graph


def drawn(figure: Any) -> dict[float, float]:
    line = figure.marks[1]
    return dict(zip(line.x.tolist(), line.y.round(1).tolist(), strict=True))


@pytest.mark.parametrize(
    "op",
    [
        "matmul",
        matmul,
        lambda n: (2 * n**3, 3 * n * n * 2),
        lambda n: Kernel("matmul", 2 * n**3, 6 * n**2),
        lambda n: Op(
            "matmul",
            "matmul",
            [Tensor(name, (n, n), "bf16") for name in "ab"],
            [Tensor("c", (n, n), "bf16")],
            2 * n**3,
        ),
    ],
)
def test_a_square_matmul_has_the_intensities_of_the_guides_table(op: Any) -> None:
    assert drawn(size_sweep(RooflineModel(), op, list(GUIDE_TABLE))) == GUIDE_TABLE


def test_every_shown_chip_has_its_ridge_point_and_the_first_compute_bound_size() -> None:
    model = RooflineModel()
    ridges, _, crossings = size_sweep(model).marks
    assert ridges.labels == [
        f"{name}: ridge {ridge}, compute-bound from N = {first}" for name, (ridge, first) in GUIDE_RIDGES.items()
    ]
    assert ridges.y[:, 0].round(1).tolist() == [ridge for ridge, _ in GUIDE_RIDGES.values()]
    assert crossings.x.tolist() == [first for _, first in GUIDE_RIDGES.values()]
    model.shown = ["v5p"]
    assert ridges.labels == ["v5p: ridge 166.3, compute-bound from N = 499"]
    assert crossings.x.tolist() == [499]


def test_a_function_is_compute_bound_from_one_of_its_sizes_on() -> None:
    ridges = size_sweep(RooflineModel(), lambda n: (2 * n**3, 6 * n * n), [256, 512, 1024, 2048]).marks[0]
    assert [label.rpartition(" ")[2] for label in ridges.labels] == ["2048", "1024", "2048", "512"]


def test_what_is_never_or_always_compute_bound_has_no_crossing() -> None:
    model = RooflineModel()
    ridges, _, crossings = size_sweep(model, "matmul", [64, 128]).marks
    assert ridges.labels[3] == "v5p: ridge 166.3, memory-bound"
    assert crossings.x.tolist() == []
    ridges, _, crossings = size_sweep(model, "matmul", [8192, 16384]).marks
    assert ridges.labels[0] == "v7x (fp8): ridge 640.8, compute-bound"
    assert crossings.x.tolist() == []


def test_ridge_points_follow_what_ifs_and_precision_and_a_chip_without_it_has_none() -> None:
    chips = [Chip("A", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 1e12}), Chip("B", {"bf16": 400e12}, {"HBM": 2e12})]
    model = RooflineModel(chips)
    ridges = size_sweep(model).marks[0]
    assert ridges.y[:, 0].tolist() == [100, 200]
    model.bandwidth = "2 TB/s"
    assert ridges.y[:, 0].tolist() == [50, 200]
    model.precision = "fp8"
    assert ridges.labels == ["A: ridge 100, compute-bound from N = 300"]


def test_an_op_of_the_graph_is_swept_over_a_dim_as_the_model_has_the_others(layer: Graph) -> None:
    model = RooflineModel(graph=layer)
    figure = size_sweep(model, "linear", {"tokens": [256, 1024]})
    # 2 T D D FLOPs over 2 (2 T D + D D) bytes: T / (2 T / D + 1).
    assert drawn(figure) == {256: round(256 / 1.5, 1), 1024: round(1024 / 3, 1)}
    assert figure.axes[0].label == "tokens"
    model.dims = {"width": 512}
    assert drawn(figure) == {256: 128.0, 1024: round(1024 / 5, 1)}
    model.dtype = "fp8"
    assert drawn(figure) == {256: 256.0, 1024: round(2048 / 5, 1)}


def test_the_kernel_that_an_op_is_in_is_swept_as_the_partition_has_it(layer: Graph) -> None:
    model = RooflineModel(graph=layer)
    figure = size_sweep(model, "relu", {"tokens": [1024, 2048]})
    assert drawn(figure) == {1024: 0.2, 2048: 0.2}
    model.partition = [["linear", "relu"]]
    # 2 T D D + T D FLOPs with the activation, over the same bytes as for the product alone.
    assert figure.marks[1].labels == ["linear + relu"]
    assert figure.marks[1].y.tolist() == pytest.approx([2049 / 2 / 3, 2049 / (2 + 1 / 2) / 2])


def test_a_dims_name_stands_for_its_whole_range_and_sizes_alone_for_the_only_dim(layer: Graph) -> None:
    model = RooflineModel(graph=layer)
    assert list(drawn(size_sweep(model, "linear", "tokens"))) == [2.0**power for power in range(13)]
    graph = Graph()
    graph.output(graph.relu(graph.input("x", (dim("n", 10, 20, default=10), 8), "bf16")))
    assert list(drawn(size_sweep(RooflineModel(graph=graph), "relu", [12, 11]))) == [11, 12]
    assert list(drawn(size_sweep(RooflineModel(graph=graph), "relu", "n"))) == list(range(10, 21))


def test_sizes_that_the_graph_does_not_allow_are_left_out() -> None:
    graph = Graph()
    n = dim("n", 1, 64, default=8)
    graph.output(graph.relu(graph.input("x", (n, 8), "bf16")))
    graph.require("rows of relu", n, 4)
    assert list(drawn(size_sweep(RooflineModel(graph=graph), "relu", {"n": range(2, 13)}))) == [4, 8, 12]


def test_rounding_up_minima_and_maxima_count_over_many_sizes_as_they_do_over_one() -> None:
    graph = Graph()
    n = dim("n", 1, 3000, default=100)
    q = graph.input("q", (n, 64), "bf16")
    graph.output(graph.flash_attention(q, q, q, cache=16384))
    sizes = [1, 7, 100, 999, 2048, 3000]
    swept = size_sweep(RooflineModel(graph=graph), graph.ops[0].name, {"n": sizes}).marks[1]
    one_by_one = [graph.kernels({"n": size}).arithmetic_intensity[0] for size in sizes]
    np.testing.assert_allclose(swept.y, one_by_one, rtol=1e-14)


def test_the_smaller_and_the_larger_of_two_counts_are_taken_size_by_size() -> None:
    n = dim("n", 1, 9, default=2)
    sizes = {"n": np.array([1.0, 5.0, 9.0])}
    assert evaluate_arrays(minimum(n, 5) * 2, sizes).tolist() == [2, 10, 10]
    assert evaluate_arrays(maximum(n, 5) + 1, sizes).tolist() == [6, 6, 10]
    assert evaluate_arrays(ceil_div(n, 4), sizes).tolist() == [1, 2, 3]


def test_when_the_op_is_gone_nothing_is_swept_and_it_comes_back(layer: Graph) -> None:
    model = RooflineModel(graphs={"layer": layer, "empty": Graph("empty")})
    figure = size_sweep(model, "linear", "tokens")
    before = drawn(figure)
    model.phase = "empty"
    assert (drawn(figure), figure.marks[1].labels) == ({}, ["nothing to sweep"])
    assert figure.marks[0].labels[3] == "v5p: ridge 166.3"
    model.phase = "layer"
    assert drawn(figure) == before
    model.graph = None
    assert drawn(figure) == {}


def test_what_moves_no_flops_and_a_model_without_chips_are_drawn_empty() -> None:
    figure = size_sweep(RooflineModel([]), "copy")
    assert drawn(figure) == {}
    assert figure.marks[0].labels == []
    assert drawn(size_sweep(RooflineModel([]), lambda n: (None, n), [1, 2])) == {}


@pytest.mark.parametrize(
    ("op", "sizes", "error", "message"),
    [
        ("matmull", [1], ValueError, "no op and no operator called 'matmull'; did you mean 'matmul'?"),
        (3, [1], TypeError, "op must be the name of an op or an operator, or a function of N, got 3"),
        ("matmul", [], ValueError, "no sizes given; give at least one"),
        ("matmul", [0, 4], ValueError, "sizes must be from 1 to 2147483648, got 0"),
        ("matmul", [1.5], TypeError, r"sizes must be a sequence of whole numbers, got \[1.5\]"),
        ("matmul", [True], TypeError, r"sizes must be a sequence of whole numbers, got \[True\]"),
        ("matmul", 7, TypeError, "sizes must be a sequence of whole numbers, got 7"),
        ("matmul", "tokens", TypeError, "as it has no dims, got 'tokens'"),
        ("gemv", [4], ValueError, "operator 'gemv' takes no square matrices; give a function of N"),
        ("conv2d", [4], ValueError, "operator 'conv2d' also needs channels; give a function of N"),
        (lambda _: 7, [4], TypeError, r"must return an Op, a Graph, a Kernel or \(flops, bytes\), got 7 for N = 4"),
        ("linear", "token", ValueError, "graph 'layer' has no dim 'token'; did you mean 'tokens'?"),
        ("relu", {"tokens": [5000]}, ValueError, "'tokens': sizes must be from 1 to 4096, got 5000"),
        ("relu", [8], ValueError, "name the dim of graph 'layer' for these sizes"),
    ],
)
def test_what_cannot_be_swept_is_refused(
    layer: Graph, op: Any, sizes: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        size_sweep(RooflineModel(graph=layer), op, sizes)
