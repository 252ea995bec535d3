"""The network view in the state: its topology, and what-ifs of the link, which has a latency."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from traitlets import TraitError

import roofwidget as rw
from roofwidget.chips import MissingFigureError

LINKED = rw.Chip("Linked", {"bf16": 1e14}, {"HBM": 1e12}, links={"NVLink": rw.Link("NVLink", 450e9, latency=18e-6)})
BARE = rw.Chip("Bare", {"bf16": 1e14}, {"HBM": 1e12}, links={"NVLink": 450e9})
TWO = rw.Chip("Two", {"bf16": 1e14}, {"HBM": 1e12}, links={"NVLink": 450e9, "PCIe": 64e9})
ALONE = rw.Chip("Alone", {"bf16": 1e14}, {"HBM": 1e12}, links={"PCIe": 64e9})
ROWS = [("all-reduce", None, {"network": 14e6}, 1e-3)]


def test_the_view_and_the_topology_are_traits() -> None:
    model = rw.RooflineModel([LINKED], ROWS, view="network", topology="in-network")
    assert (model.view, model.topology) == ("network", "in-network")
    with pytest.raises(TraitError, match="topology"):
        model.topology = "torus"


def test_the_link_is_a_trait_in_the_spelling_of_the_chips_and_in_sessions(tmp_path: Path) -> None:
    model = rw.RooflineModel([TWO, BARE], ROWS, view="network", link="pcie")
    assert model.link == "PCIe"
    model.link = ""
    assert model.link == ""
    model.link = "NVLINK"
    assert model.link == "NVLink"
    model.save(tmp_path / "session.json")
    assert rw.RooflineModel.load(tmp_path / "session.json").link == "NVLink"


def test_a_link_that_no_chip_has_names_the_links_there_are() -> None:
    model = rw.RooflineModel([TWO, BARE], ROWS)
    with pytest.raises(TraitError, match="has a bandwidth for a link 'ICI'; they have 'NVLink', 'PCIe'; '' is that"):
        model.link = "ICI"
    with pytest.raises(TraitError, match="link"):
        model.link = 5
    unknown = rw.Chip("Unknown", {"bf16": 1e14}, {"HBM": 1e12}, links={"ICI": rw.Link("ICI", None)})
    with pytest.raises(TraitError, match="'ICI'; they have none of a known bandwidth"):
        rw.RooflineModel([unknown], ROWS, link="ICI")
    with pytest.raises(TraitError, match="there are no chips"):
        rw.RooflineModel([], ROWS, link="ICI")


def test_a_link_that_new_chips_lack_is_dropped() -> None:
    model = rw.RooflineModel([TWO, BARE], ROWS, link="PCIe")
    model.focus_chip = "bare"
    assert model.link == "PCIe", "another chip has it"
    model.chips = [BARE]
    assert model.link == ""


def test_a_latency_of_the_link_is_a_what_if_that_changes_no_bound() -> None:
    model = rw.RooflineModel([LINKED], rw.Kernels(["all-reduce"], [0], {"main": [1e6], "network": [14e6]}, time=[1e-3]))
    before = model.bound().time
    model.set_what_if(latency="9 us", bandwidth="900 GB/s", memory="network")
    assert model.what_if == {"linked": {"latency": {"network": 9e-6}, "bandwidth": {"network": 900e9}}}
    model.set_what_if(bandwidth="450 GB/s", memory="network")
    assert np.array_equal(model.bound().time, before)
    model.set_what_if(latency=18e-6)
    assert model.what_if == {}, "the latency of the data sheet is no what-if"


def test_an_unknown_latency_can_be_set_and_is_restored_from_a_session(tmp_path: Path) -> None:
    model = rw.RooflineModel([BARE], ROWS)
    model.set_what_if(latency=5e-6)
    path = tmp_path / "session.json"
    model.save(path)
    restored = rw.RooflineModel.load(path)
    assert restored.what_if == {"bare": {"latency": {"network": 5e-6}}}


def test_only_a_link_between_chips_has_a_latency() -> None:
    model = rw.RooflineModel([ALONE], ROWS)
    with pytest.raises(MissingFigureError):
        model.set_what_if(latency=5e-6)
    model = rw.RooflineModel([BARE], ROWS, what_if={"bare": {"latency": {"HBM": 1e-6}}})
    assert model.what_if == {}
    for wrong in (0, -1, math.nan, 1e9):
        with pytest.raises(ValueError, match="latency of Bare"):
            model.set_what_if(latency=wrong)
