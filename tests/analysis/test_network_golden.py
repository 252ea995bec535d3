"""The golden file of the network plane, which the page is held to as well."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from roofwidget.analysis.messages import AlphaBeta, Messages
from roofwidget.analysis.network import bus_factor, sent_factor
from tests.places import golden

NETWORK: Final[dict[str, list[dict[str, Any]]]] = golden("network.json")


@pytest.mark.parametrize("case", NETWORK["factors"], ids=str)
def test_the_factors_are_those_of_the_network_plane(case: dict[str, Any]) -> None:
    kind, ranks = case["kind"], case["ranks"]
    assert float(bus_factor(kind, ranks)) == pytest.approx(case["factor"], rel=1e-15)
    for topology, sent in case["sent"].items():
        assert float(sent_factor(kind, ranks, topology)) == pytest.approx(sent, rel=1e-15), topology


def test_factors_of_several_messages_are_those_of_each() -> None:
    kinds, ranks = ["all-to-all", "all-reduce", "send", None, "all-gather"], [4, 8, 2, 8, np.nan]
    found = sent_factor(kinds, ranks, "in-network")
    np.testing.assert_array_equal(found, [0.75, 1, 1, np.nan, np.nan])
    np.testing.assert_allclose(sent_factor("all-to-all", [1, 2, 4], "ring"), [0, 0.5, 1.5])
    with pytest.raises(ValueError, match="topology"):
        sent_factor("send", 2, "torus")


@pytest.mark.parametrize("case", NETWORK["roofs"], ids=str)
def test_the_highest_bus_bandwidth_is_that_of_the_network_plane(case: dict[str, Any]) -> None:
    kind, ranks = case["kind"], case["ranks"]
    roof = case["link"] * float(bus_factor(kind, ranks) / sent_factor(kind, ranks, case["topology"]))
    assert roof == pytest.approx(case["roof"], rel=1e-12)


@pytest.mark.parametrize("case", NETWORK["models"], ids=str)
def test_the_model_is_that_of_the_network_plane(case: dict[str, Any]) -> None:
    kind, ranks, size = case["kind"], case["ranks"], case["size"]
    model = AlphaBeta(case["latency"], case["link"] / float(sent_factor(kind, ranks, case["topology"])))
    assert float(model.bus_bandwidth(kind, size, ranks)) == pytest.approx(case["model"], rel=1e-12)
    assert model.half_size == pytest.approx(case["half"], rel=1e-12)


@pytest.mark.parametrize("case", NETWORK["messages"], ids=str)
def test_the_bandwidths_of_messages_are_those_of_the_network_plane(case: dict[str, Any]) -> None:
    told = {name: np.array([case[name]], dtype=float) for name in ("size", "ranks", "count", "time", "fastest")}
    texts = np.array([case["kind"]], dtype=object)
    found = Messages(texts, texts, **told)
    rates = found.algorithm_bandwidth, found.bus_bandwidth, found.fastest_bus_bandwidth
    assert [float(rate[0]) for rate in rates] == pytest.approx([case[name] for name in ("algorithm", "bus", "best")])
