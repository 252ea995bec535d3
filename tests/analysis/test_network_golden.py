"""The golden file of the network plane, which the page is held to as well."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from roofwidget.analysis.messages import AlphaBeta, Messages
from roofwidget.analysis.network import bus_factor
from tests.places import golden

NETWORK: Final[dict[str, list[dict[str, Any]]]] = golden("network.json")


@pytest.mark.parametrize("case", NETWORK["factors"], ids=str)
def test_the_factors_are_those_of_the_network_plane(case: dict[str, Any]) -> None:
    assert float(bus_factor(case["kind"], case["ranks"])) == pytest.approx(case["factor"], rel=1e-15)


@pytest.mark.parametrize("case", NETWORK["models"], ids=str)
def test_the_model_is_that_of_the_network_plane(case: dict[str, Any]) -> None:
    kind, ranks, size = case["kind"], case["ranks"], case["size"]
    model = AlphaBeta(case["latency"], case["link"] / float(bus_factor(kind, ranks)))
    assert float(model.bus_bandwidth(kind, size, ranks)) == pytest.approx(case["model"], rel=1e-12)
    assert model.half_size == pytest.approx(case["half"], rel=1e-12)


@pytest.mark.parametrize("case", NETWORK["messages"], ids=str)
def test_the_bandwidths_of_messages_are_those_of_the_network_plane(case: dict[str, Any]) -> None:
    told = {name: np.array([case[name]], dtype=float) for name in ("size", "ranks", "count", "time", "fastest")}
    texts = np.array([case["kind"]], dtype=object)
    found = Messages(texts, texts, **told)
    rates = found.algorithm_bandwidth, found.bus_bandwidth, found.fastest_bus_bandwidth
    assert [float(rate[0]) for rate in rates] == pytest.approx([case[name] for name in ("algorithm", "bus", "best")])
