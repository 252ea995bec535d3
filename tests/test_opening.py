"""Opening profiles in one line, chips that a person adds, and an empty widget to begin with."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from traitlets import TraitError

import roofwidget as rw
from tests.places import FIXTURES, write

TPU = FIXTURES / "xprof_tpu.roofline_model.json"
CSV = "name,flops,bytes,time (us)\nmatmul,4.3e9,1.2e7,31\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write(path := tmp_path / "run.csv", CSV)
    return path


# -- roofline --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [TPU, str(TPU)])
def test_a_path_alone_is_a_profile_on_the_chip_that_it_names(given: str | Path) -> None:
    widget = rw.roofline(given)
    found = rw.read(TPU)
    assert found.chip is not None
    assert [chip.id for chip in widget.chips] == [found.chip.id]
    assert widget.kernels.names.tolist() == found.names.tolist()


def test_a_path_of_a_profile_without_a_chip_says_what_to_pass(run: Path) -> None:
    with pytest.warns(UserWarning, match="names no chip"):
        rw.roofline(run)


def test_a_table_in_place_of_chips_is_told_where_it_goes() -> None:
    kernels = rw.read(TPU)
    for given in ((kernels,), (kernels, ["h100-sxm"])):
        with pytest.raises(TypeError, match=r"a table of kernels comes second.*kernels\.roofline\(\) shows it"):
            rw.roofline(*given)


def test_kernels_and_the_earlier_run_may_be_paths(run: Path) -> None:
    widget = rw.roofline("h100-sxm", run, baseline=str(run))
    assert widget.baseline is not None
    assert widget.kernels.names.tolist() == widget.baseline.names.tolist() == ["matmul"]


def test_a_chip_is_a_chip_though_a_file_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h100-sxm").mkdir()
    write(tmp_path / "profile", CSV)
    assert [chip.id for chip in rw.roofline("h100-sxm").chips] == ["h100-sxm"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert rw.roofline("profile").kernels.names.tolist() == ["matmul"]


@pytest.mark.parametrize("path", ["profile.ncu-rep", f"runs{os.sep}step", "step.7"])
def test_a_missing_file_is_told_from_a_misspelt_chip(path: str) -> None:
    with pytest.raises(FileNotFoundError, match=path):
        rw.roofline(path)
    with pytest.raises(TraitError, match="h100"):
        rw.roofline("h100-smx")


# -- show_profile ----------------------------------------------------------------------------------------------


def test_a_graph_without_chips_is_shown_on_a_chip_that_has_a_time_for_it() -> None:
    chain = rw.chain([("layernorm", 10), ("gelu", 8)], elements=2**20, dtype="bf16")
    model = rw.RooflineModel(graph=chain)
    assert "bf16" in model.chip().peak_flops
    assert (model.bound().time > 0).all()
    assert rw.RooflineModel(graph=chain, focus_chip="v7x-fp8").focus_chip == "v7x-fp8"
    unknown = rw.chain([("gelu", 8)], elements=2**20, dtype="fp64")
    assert rw.RooflineModel(graph=unknown).focus_chip == "v7x-fp8"


def test_a_profile_puts_its_chip_before_the_others_and_focuses_it() -> None:
    model = rw.RooflineModel(["h100-sxm", "a100-sxm-80gb"], [("old", 1e9, 1e6)])
    found = rw.read(TPU)
    assert found.chip is not None
    model.show_profile(found)
    assert [chip.id for chip in model.chips] == [found.chip.id, "h100-sxm", "a100-sxm-80gb"]
    assert model.focus_chip == found.chip.id
    assert set(model.shown) == {chip.id for chip in model.chips}
    assert model.baseline is None


def test_a_profile_takes_the_place_of_a_graph() -> None:
    model = rw.RooflineModel(["v5p"], graph=rw.chain([("scale", 1)], elements=8))
    model.show_profile([("matmul", 4.3e9, 1.2e7, 31e-6)])
    assert model.graph is None
    assert model.kernels.names.tolist() == ["matmul"]


# -- added chips -----------------------------------------------------------------------------------------------


def test_an_added_chip_is_shown_and_judged_like_the_others_and_chips_stays() -> None:
    model = rw.RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7)])
    model.added_chips = ["H100 SXM5 80GB", "b200"]
    assert model.added_chips == ("h100-sxm", "b200")
    assert [chip.id for chip in model.chips] == ["tpu-v5p"]
    assert [chip.id for chip in model.all_chips] == ["tpu-v5p", "h100-sxm", "b200"]
    assert model.shown == ("tpu-v5p", "h100-sxm", "b200")
    model.focus_chip = "b200"
    model.peak_flops = "3 PFLOP/s"
    assert model.what_if == {"b200": {"peak_flops": {"bf16": 3e15}}}
    assert model.bound().peak == 3e15
    model.added_chips = ["h100-sxm"]
    assert list(model.shown) == ["tpu-v5p", "h100-sxm"]
    assert model.focus_chip == "tpu-v5p"
    assert not model.what_if


def test_a_chip_that_the_model_has_already_is_added_once() -> None:
    model = rw.RooflineModel(["v5p"], added_chips=["v5p", "v6e", "v6e"])
    assert [chip.id for chip in model.all_chips] == ["tpu-v5p", "tpu-v6e"]


def test_an_added_chip_that_is_in_no_catalogue_is_refused_with_the_nearest() -> None:
    model = rw.RooflineModel(["v5p"])
    with pytest.raises(TraitError, match="h100-sxm"):
        model.added_chips = ["h100-smx"]
    assert model.added_chips == ()


def test_a_session_and_a_page_have_the_added_chips(tmp_path: Path) -> None:
    model = rw.RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7)], added_chips=["b200"])
    model.set_what_if("b200", bandwidth="9 TB/s")
    again = rw.RooflineModel.load(model.save(tmp_path / "x.json"))
    assert (again.added_chips, again.shown, again.what_if) == (model.added_chips, model.shown, model.what_if)
    assert "NVIDIA B200 (HGX/DGX, 180GB): " in model.to_html()


def test_the_page_receives_the_figures_of_an_added_chip_apart_from_those_of_python() -> None:
    model = rw.RooflineModel(["v5p"], added_chips=["b200"])
    sent = model.wire_state()["chips"]
    assert [(chip["id"], chip.get("added")) for chip in sent] == [("tpu-v5p", None), ("b200", True)]


# -- explore ---------------------------------------------------------------------------------------------------


def test_explore_begins_with_nothing_and_takes_a_profile() -> None:
    widget = rw.explore(title="Mine")
    assert (widget.chips, len(widget.kernels), widget.title) == ((), 0, "Mine")
    widget.show_profile(rw.read(TPU))
    assert len(widget.chips) == 1
    assert len(widget.kernels) > 0
