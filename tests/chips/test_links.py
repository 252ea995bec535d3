"""Links between chips: what network bytes use, and what they never use."""

from __future__ import annotations

import math
from typing import Final

import pytest

import roofwidget as rw
from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.compare_chips import compare_chips
from roofwidget.chips import Link, MissingFigureError, is_host_link
from roofwidget.wire import chips_to_wire

CARD: Final = rw.Chip("Card", {"bf16": 1e14}, {"HBM": 1e12}, links={"PCIe": "32 GB/s"})
BARE: Final = rw.Chip("Bare", {"bf16": 1e14}, {"HBM": 1e12})
REFUSAL: Final = (
    r"Card has no known link to other chips: 'PCIe' connects it to its host; "
    r"if chips communicate over it, name it otherwise, as in replace\(links=\{'Fabric': '32 GB/s'\}\)"
)
REDUCE: Final = rw.Kernel("all-reduce", 0, {"HBM": 0, "network": 32e9}, time=2)


def test_network_bytes_never_fall_back_to_the_link_to_the_host() -> None:
    with pytest.raises(MissingFigureError, match=REFUSAL):
        CARD.link()
    with pytest.raises(MissingFigureError, match=REFUSAL):
        CARD.link_bandwidth()
    with pytest.raises(MissingFigureError, match=REFUSAL):
        rw.bound(REDUCE, CARD)
    with pytest.raises(MissingFigureError, match=REFUSAL):
        rw.network.collective_time("all-reduce", 1e9, 8, CARD)
    with pytest.raises(MissingFigureError, match=REFUSAL):
        rw.network.network_ridge_point(CARD)
    with pytest.raises(MissingFigureError, match=REFUSAL):
        rw.critical_batch_per_chip(CARD)


def test_the_link_to_the_host_is_used_where_it_is_named() -> None:
    assert CARD.link("pcie").bandwidth == CARD.link_bandwidth("PCIe") == 32e9
    assert rw.network.network_ridge_point(CARD, link="PCIe") == 1e14 / 32e9
    assert rw.network.collective_time("broadcast", 32e9, 2, CARD.link("PCIe")) == 1
    over_pcie = CARD.replace(links={"Fabric": "32 GB/s"})
    assert over_pcie.link().name == "Fabric", "a link between chips is found behind that to the host"
    assert rw.bound(REDUCE, over_pcie).time.tolist() == [1]


def test_kernels_over_a_link_that_a_chip_lacks_are_unknown_and_said_to_be() -> None:
    kernels = rw.Kernels(["reduce", "matmul"], [math.nan, 1e14], {"HBM": [1, 1], "network": [1e9, math.nan]})
    found = bound_lenient(kernels, CARD)
    assert found.bound_by.tolist() == ["unknown", "compute"]
    words = "1 kernel needs a link to other chips, and Card has none of known bandwidth"
    how = (
        ": 'PCIe' leads to its host; if chips communicate over it, name it otherwise, as in "
        "replace(links={'Fabric': '32 GB/s'}) or links.Fabric in a file of chips."
    )
    assert found.notes == (words + how,)
    assert bound_lenient(kernels, BARE).notes == (words.replace("Card", "Bare") + ".",)
    linked = CARD.replace(name="Linked", links={"Fabric": "1 GB/s"})
    assert words in repr(compare_chips(kernels, [linked, CARD]))


def test_a_collective_over_a_link_that_a_chip_lacks_has_bytes_and_no_known_link() -> None:
    found = bound_lenient(rw.Kernels(["all-reduce"], [0], {"HBM": [1], "network": [1e9]}, time=[1]), CARD)
    assert "bytes over a link" not in str(found.notes)
    (advice,) = rw.advise(found)
    assert (advice.situation, advice.evidence) == ("unknown", "the link of Card to other chips not known")


def test_a_link_that_a_user_adds_comes_before_that_of_the_data_sheet() -> None:
    linked = rw.Chip("Linked", {"bf16": 1e14}, {"HBM": 1e12}, links={"NVLink": "450 GB/s", "PCIe": "64 GB/s"})
    over_pcie = linked.replace(links={"Fabric": "32 GB/s"})
    assert list(over_pcie.links) == ["Fabric", "NVLink", "PCIe"]
    assert rw.bound(REDUCE, over_pcie).time.tolist() == [1]
    # A link of the chip with another rate keeps its place, and a link to the host does not come first.
    assert list(linked.replace(links={"CXL": "32 GB/s", "nvlink": "50 GB/s"}).links) == ["NVLink", "PCIe", "CXL"]


def test_the_page_gets_the_link_between_chips_and_never_that_to_the_host() -> None:
    fabric = CARD.replace(links={"Fabric": "50 GB/s"})
    unstated = CARD.replace(links={"Fabric": Link("Fabric", printed="9 GB/s, direction not stated")})
    sent = [one["link"] for one in chips_to_wire([BARE, CARD, fabric, unstated])]
    assert sent == [None, None, 50e9, None]


@pytest.mark.parametrize("name", ["PCIe", "pcie", "PCI Express", "PCIe 5 x16", "PCI-E", "PCI", "CXL", " CXL 2.0"])
def test_a_link_to_the_host_is_known_by_its_usual_name(name: str) -> None:
    assert is_host_link(name)


@pytest.mark.parametrize("name", ["NVLink", "ICI", "xGMI", "GCD to GCD", "Fabric over PCIe", "NVLink-C2C", "CXLink"])
def test_other_names_are_links_between_chips(name: str) -> None:
    assert not is_host_link(name)


def test_no_chip_of_the_catalogue_sends_network_bytes_to_its_host() -> None:
    for one in rw.chips():
        if all(is_host_link(name) for name in one.links):
            with pytest.raises(MissingFigureError, match="has no known link"):
                one.link_bandwidth()
        else:
            assert not is_host_link(one.link().name)


@pytest.mark.parametrize(
    ("name", "link", "bandwidth"),
    [
        ("p100-sxm2", "NVLink", 80e9),
        ("v100-sxm2-16gb", "NVLink", 150e9),
        ("mi350x", "xGMI", 535.5e9),
        ("mi355x", "xGMI", 535.5e9),
        # CDNA 2 white paper, endnotes: 276, 300 and 800 GB/s of both directions over 3, 3 and 8 links.
        ("mi100", "xGMI", 138e9),
        ("mi210", "xGMI", 150e9),
        ("mi250", "xGMI", 400e9),
        ("mi250x", "xGMI", 400e9),
        ("mi250-gcd", "xGMI", 200e9),
        ("mi250x-gcd", "xGMI", 200e9),
        # CDNA 3 white paper: two links with 256 GB/s of both directions to each of three peers.
        ("mi300a", "xGMI", 384e9),
        # 16 links of 26.5 GB/s.
        ("intel-max-1550", "Xe Link", 424e9),
        ("gaudi2", "RoCE", 262.5e9),
        ("gaudi3", "RoCE", 525e9),
        # Two cards with a bridge: half of the printed sum of both directions.
        ("rtx-2080ti", "NVLink", 50e9),
        ("rtx-3090", "NVLink", 56.25e9),
        ("a30", "NVLink", 100e9),
        ("a40", "NVLink", 56.25e9),
    ],
)
def test_network_bytes_use_the_one_way_rate_of_the_links_between_chips(name: str, link: str, bandwidth: float) -> None:
    chip = rw.chip(name)
    assert (chip.link().name, chip.link_bandwidth()) == (link, bandwidth)
    seconds = rw.bound(rw.Kernel("send", 0, {chip.main_memory: 0, "network": 1e12}), chip).time
    assert seconds.tolist() == [1e12 / bandwidth]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rx-7900-xtx", "has no known link to other chips: 'PCIe' connects it to its host"),
        ("t4", "has no known link to other chips"),
        ("l40s", "has no known link to other chips"),
        ("rtx-4090", "has no known link to other chips"),
        ("tpu-v3", "has no one-way bandwidth for ICI: its source prints 100 GB/s, one direction, per link"),
        ("trn2", "has no one-way bandwidth for NeuronLink: its source prints 1.28 TB/s, direction not stated"),
        ("epyc-9654", "has no known link$"),
    ],
)
def test_a_chip_whose_links_are_unknown_refuses_network_bytes_and_says_why(name: str, words: str) -> None:
    with pytest.raises(MissingFigureError, match=words):
        rw.bound(rw.Kernel("send", 0, {"main": 0, "network": 1e9}), name)
