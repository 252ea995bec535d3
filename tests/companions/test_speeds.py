"""The fastest chip: times over a grid are the same as for one size at a time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

from roofwidget import Chip, Graph, RooflineModel, dim
from roofwidget.companions import speed_map
from roofwidget.companions.speeds import times_over
from roofwidget.workloads import decoder

FLOPS = Chip("Flops", {"bf16": 400e12, "fp8": 800e12}, {"HBM": 1e12})
BYTES = Chip("Bytes", {"bf16": 100e12}, {"HBM": 2e12})
TOKENS, WIDTHS = [1, 64, 4096], [128, 1024, 4096]


@pytest.fixture
def layer() -> Graph:
    """[tokens, width] x [width, width] in bf16."""
    graph = Graph("layer")
    tokens, width = dim("tokens", 1, 4096, default=64), dim("width", 16, 4096, default=1024)
    graph.output(graph.linear(graph.input("x", (tokens, width), "bf16"), width))
    return graph


def cells(figure: Any) -> list[str]:
    return [str(text) for text in figure.marks[1].text]


def seconds(t: int, d: int, peak: int, bandwidth: int) -> Fraction:
    return max(Fraction(2 * t * d * d, peak), Fraction(2 * (2 * t * d + d * d), bandwidth))


def test_each_cell_names_the_fastest_chip_and_by_how_much(layer: Graph) -> None:
    figure = speed_map(RooflineModel([FLOPS, BYTES], graph=layer), {"tokens": TOKENS}, {"width": WIDTHS})
    expected = []
    for width in WIDTHS:
        for tokens in TOKENS:
            one, other = seconds(tokens, width, 400 * 10**12, 10**12), seconds(tokens, width, 10**14, 2 * 10**12)
            expected.append(f"{'A' if one < other else 'B'} {float(max(one, other) / min(one, other)):.2g}×")
    assert cells(figure) == expected
    assert {text[0] for text in expected} == {"A", "B"}
    assert figure.title == "Fastest of 2 at 9 sizes · A Flops: 2 · B Bytes: 7"


def test_the_grid_has_a_colour_a_chip_that_is_stronger_where_it_wins_by_more(layer: Graph) -> None:
    figure = speed_map(RooflineModel([FLOPS, BYTES], graph=layer), {"tokens": TOKENS}, {"width": WIDTHS})
    grid = figure.marks[0]
    assert grid.color.shape == (3, 3)
    colours = np.array(grid.scales["color"].colors)[grid.color]
    by_text: dict[str, set[str]] = {}
    for text, colour in zip(cells(figure), colours.ravel(), strict=True):
        by_text.setdefault(text, set()).add(str(colour))
    assert all(len(found) == 1 for found in by_text.values())
    assert "0, 114, 178" in next(iter(by_text[max(t for t in by_text if t[0] == "A")]))
    assert "213, 94, 0" in next(iter(by_text[max(t for t in by_text if t[0] == "B")]))
    assert figure.marks[1].x.tolist()[:3] == ["1", "64", "4096"]
    assert figure.marks[1].y.tolist()[::3] == ["128", "1024", "4096"]
    assert [axis.label for axis in figure.axes] == ["tokens", "width"]


def test_the_map_follows_rates_shown_chips_dtype_partition_and_overhead(layer: Graph) -> None:
    model = RooflineModel([FLOPS, BYTES], graph=layer)
    figure = speed_map(model, {"tokens": [1, 2]}, {"width": [2048, 4096]})
    assert cells(figure) == ["B 2×"] * 4
    model.set_what_if("Flops", bandwidth="6 TB/s")
    assert cells(figure) == ["A 3×"] * 4
    model.reset()
    model.launch_overhead = 1.0
    assert cells(figure) == ["="] * 4
    model.launch_overhead = 0.0
    model.dtype = "fp8"
    assert cells(figure) == ["A"] * 4, "the other has no fp8"
    model.dtype = None
    model.shown = ["bytes"]
    assert cells(figure) == ["A"] * 4
    model.graph = None
    assert cells(figure) == ["?"] * 4
    assert figure.title == "Fastest of 1 at 4 sizes · ? unknown: 4"


def test_chips_can_be_chosen_and_one_that_goes_is_left_out(layer: Graph) -> None:
    model = RooflineModel([FLOPS, BYTES], graph=layer)
    model.shown = ["flops"]
    figure = speed_map(model, {"tokens": [1, 2]}, {"width": [2048, 4096]}, ["Bytes", "flops"])
    assert cells(figure) == ["A 2×"] * 4
    model.chips = [FLOPS]
    assert cells(figure) == ["A"] * 4


def test_a_chip_without_the_precision_and_a_memory_without_bytes_are_unknown(layer: Graph) -> None:
    model = RooflineModel([FLOPS, Chip("Other", {"fp32": 1e12}, {"HBM": 9e12, "L2": 1e13})], graph=layer)
    figure = speed_map(model, {"tokens": [1, 2]}, {"width": [2048, 4096]})
    assert cells(figure) == ["A"] * 4
    model.memory = "L2"
    assert cells(figure) == ["?"] * 4


def test_sizes_that_the_graph_does_not_allow_are_unknown(layer: Graph) -> None:
    layer.require("tokens of layer", layer.dims[0], 4)
    figure = speed_map(RooflineModel([FLOPS, BYTES], graph=layer), {"tokens": [2, 4]}, {"width": [2048, 4096]})
    assert cells(figure) == ["?", "B 2×", "?", "B 2×"]


def test_over_a_whole_decoder_every_cell_has_the_time_that_the_model_has_there() -> None:
    graph = decoder("llama-3-8b", phase="decode")
    model = RooflineModel([FLOPS, BYTES], graph=graph)
    names = [one.name for one in graph.dims][:2]
    sizes = [(one.low, one.default, one.high) for one in graph.dims[:2]]
    across, up = (grid.ravel().astype(float) for grid in np.meshgrid(*sizes))
    env = {**graph.environment(), names[0]: across, names[1]: up}
    assert model.partition is not None
    found = times_over(model.partition, env, 9, model.chips, precision="auto", memory="main", launch_overhead=1e-6)
    model.launch_overhead = 1e-6
    for cell in range(9):
        model.dims = {names[0]: int(across[cell]), names[1]: int(up[cell])}
        expected = [model.bound(chip.id).total_time for chip in model.chips]
        np.testing.assert_allclose(found[:, cell], expected, rtol=1e-12)


def test_the_precision_of_a_kernel_is_that_of_what_weighs_most_at_each_size() -> None:
    graph = Graph("mixed")
    m, n = dim("m", 1, 1000, default=10), dim("n", 1, 1000, default=10)
    x, y = graph.input("x", (m, 64), "bf16"), graph.input("y", (n, 64), "fp8")
    graph.output(graph.relu(x), graph.relu(y))
    both = Graph("both", convention="textbook")
    a, b = both.input("a", (m, 64), "bf16"), both.input("b", (n, 64), "fp8")
    outs = [type(a)("c", (m, 64), "bf16"), type(a)("d", (n, 64), "fp8")]
    both.op("elementwise", "pair", [a, b], outs, 10**9 * (m + n))
    both.output(*outs)
    model = RooflineModel([FLOPS], graph=both)
    across, up = np.array([1.0, 1000.0, 500.0]), np.array([1000.0, 1.0, 1000.0])
    env = {**both.environment(), "m": across, "n": up}
    assert model.partition is not None
    found = times_over(model.partition, env, 3, [FLOPS], precision="auto", memory="main", launch_overhead=0.0)
    # The larger tensor (2 m or n bytes per column) decides the precision; the first wins a tie.
    assert found[0].tolist() == pytest.approx([1001e9 / 800e12, 1001e9 / 400e12, 1500e9 / 400e12])


def test_an_empty_graph_has_no_dims_and_a_model_without_chips_no_winner(layer: Graph) -> None:
    with pytest.raises(ValueError, match="graph 'empty' has no dim 'tokens'; it has none"):
        speed_map(RooflineModel(graph=Graph("empty")), "tokens", "width")
    figure = speed_map(RooflineModel([], graph=layer), "tokens", "width")
    assert set(cells(figure)) == {"?"}


@pytest.mark.parametrize(
    ("x", "y", "chips", "error", "message"),
    [
        ("token", "width", None, ValueError, "has no dim 'token'; did you mean 'tokens'?"),
        ("tokens", "tokens", None, ValueError, "x_dim and y_dim are both 'tokens'; the graph has 'tokens', 'width'"),
        ([1, 2], "width", None, TypeError, r"x_dim must be the name of a dim or \{name: sizes\}"),
        ("tokens", {"width": [64]}, None, ValueError, "'width' needs at least 2 sizes for a map, got 64 alone"),
        ("tokens", {"width": [8, 64]}, None, ValueError, "'width': sizes must be from 16 to 4096, got 8"),
        ("tokens", "width", ["v5"], TraitError, "'v5' is none of the chips here"),
        ("tokens", "width", [], ValueError, "chips must be 1 to 26 of the model's, got 0"),
    ],
)
def test_what_is_no_map_is_refused(
    layer: Graph, *, x: Any, y: Any, chips: Any, error: type[Exception], message: str
) -> None:
    model = RooflineModel([FLOPS, BYTES], graph=layer)
    with pytest.raises(error, match=message):
        speed_map(model, x, y, chips)


def test_a_model_without_a_graph_has_no_map() -> None:
    with pytest.raises(ValueError, match="the model has no graph; set its graph first"):
        speed_map(RooflineModel(), "batch", "seq")
