"""A graph in the end of an address: what comes back, and what is refused."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.export import graph_link


def tail() -> rw.Graph:
    graph = rw.Graph("tail")
    x = graph.input("x", (65536, 4096), "bf16")
    graph.output(graph.add(graph.dropout(graph.gelu(graph.layernorm(x, affine=False))), x))
    return graph


def shared() -> rw.RooflineModel:
    graph = tail()
    return rw.RooflineModel(["h100-sxm"], graph=graph, partition=rw.Partition.fully(graph).groups)


def opened(link: str) -> dict[str, Any]:
    """Return the JSON of a link."""
    packed = link.partition("#g=")[2]
    found: dict[str, Any] = json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))))
    return found


def packed(document: Any) -> str:
    """Return the link of a JSON value."""
    return "#g=" + base64.urlsafe_b64encode(zlib.compress(json.dumps(document).encode())).decode().rstrip("=")


def test_a_link_brings_back_the_graph_its_kernels_the_chip_and_the_title() -> None:
    model = shared()
    again = rw.RooflineModel.load(f"https://example.org/page.html{model.graph_link('Mine')}")
    assert (again.title, again.chip().id) == ("Mine", "h100-sxm")
    assert again.partition is not None
    assert model.partition is not None
    assert again.partition.groups == model.partition.groups
    assert again.partition.time("h100-sxm") == model.partition.time("h100-sxm")
    assert [tensor.shape for tensor in again.partition.graph.tensors.values()] == 5 * [(65536, 4096)]


def test_products_reductions_and_extra_bytes_come_back() -> None:
    graph = rw.Graph("all")
    x = graph.input("x", (512, 256), "bf16")
    y = graph.matmul(x, graph.input("w", (256, 128), "fp8"), name="product")
    graph.output(graph.softmax(graph.transpose(y), passes=3))
    partition = rw.Partition.unfused(graph)
    again = graph_link.read(graph_link.text(partition, "h100-sxm", "t")).partition
    assert [op.loops for op in again.graph.ops] == [op.loops for op in graph.ops]
    assert again.total_bytes() == partition.total_bytes()
    assert again.total_flops() == partition.total_flops()
    assert again.time("h100-sxm") == partition.time("h100-sxm")


def test_symbolic_sizes_have_their_values() -> None:
    graph = rw.Graph("sized")
    graph.output(graph.relu(graph.input("x", (rw.dim("batch", 1, 64, default=8), 16), "bf16")))
    model = rw.RooflineModel(["h100-sxm"], graph=graph, dims={"batch": 32})
    assert opened(model.graph_link("t"))["ins"] == [["x", [32, 16], "bf16"]]


def test_without_a_title_the_gain_is_the_title() -> None:
    assert opened(shared().graph_link())["title"] == "9 → 2 passes: 4.5 times. Which graph is yours?"


def test_a_graph_that_is_too_large_for_an_address_has_no_link() -> None:
    graph = rw.Graph("long")
    x = graph.input("x", (16,), "bf16")
    for number in range(65):
        x = graph.relu(x, name=f"op{number}")
    graph.output(x)
    with pytest.raises(ValueError, match=r"graph 'long' has 65 ops: its link would have .* letters, and at most 2,000"):
        rw.RooflineModel(["h100-sxm"], graph=graph).graph_link()
    with pytest.raises(ValueError, match="the model has no graph; set 'graph' first"):
        rw.RooflineModel(["h100-sxm"]).graph_link()


def test_a_link_of_a_newer_version_says_so() -> None:
    newer = packed({**opened(shared().graph_link()), "v": 2})
    with pytest.raises(ValueError, match=r"^This link was made with a newer version\.$"):
        graph_link.read(newer)


@pytest.mark.parametrize(
    "changes",
    [
        {"v": 0},
        {"v": True},
        {"title": "x" * 121},
        {"title": 3},
        {"chip": "no such chip"},
        {"ops": []},
        {"groups": [[0, 1, 2]]},
        {"groups": [[0, 3], [1], [2]]},
        {"groups": [[0, 1, 2, 7]]},
        {"outs": ["nothing"]},
        {"ins": [["x", [2**53 + 1], "bf16"]]},
        {"ins": [["x", [-1], "bf16"]]},
        {"ins": [["x", [1.5], "bf16"]]},
        {"ins": [["x", [1] * 9, "bf16"]]},
        {"ins": [["x", [8], "no dtype"]]},
        {"ins": [["x" * 61, [8], "bf16"]]},
        {"ins": "text"},
        {"ops": 7},
    ],
)
def test_a_damaged_link_is_refused(changes: dict[str, Any]) -> None:
    link = packed({**opened(shared().graph_link()), **changes})
    with pytest.raises(ValueError, match=r"^This link is damaged\."):
        graph_link.read(link)


@pytest.mark.parametrize("link", ["#g=abc", "#g=" + "A" * 2000, packed([1]), packed("text")])
def test_what_holds_no_graph_is_refused(link: str) -> None:
    with pytest.raises(ValueError, match=r"^This link is damaged\."):
        graph_link.read(link)


def test_a_short_link_that_inflates_to_megabytes_is_refused() -> None:
    link = packed({**opened(shared().graph_link()), "title": "a" * 500_000})
    assert len(link) < graph_link.MAX_LETTERS
    with pytest.raises(ValueError, match=r"^This link is damaged\."):
        graph_link.read(link)
