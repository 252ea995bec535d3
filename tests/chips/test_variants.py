"""A chip's links, ceilings and card, and changed copies of chips."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from roofwidget.chips import Ceiling, Check, Chip, Energy, Link, Memory, MissingFigureError, Source, chip

SHEET = Source("A data sheet", "https://example.org/sheet.pdf", "datasheet")
RIVAL = Source("Somebody <else>", "", "secondary")


@pytest.fixture
def full() -> Chip:
    """Return a chip with everything that a chip can have."""
    return Chip(
        "Full",
        {"bf16": 100e12, "fp32": 10e12, "fp32_vector": 8e12, "int8": 200e12, "transcendental": 1e12},
        {"HBM": Memory("HBM", 1e12, 80e9), "L2": Memory("L2", None, 50e6, "shared"), "SMEM": 20e12},
        vendor="V",
        kind="gpu",
        year=2024,
        status="cross-checked",
        sources={"peak_flops.bf16": SHEET, "memories.HBM.bandwidth": SHEET, "links.Wire.bandwidth": SHEET},
        links={"Wire": Link("Wire", 300e9, 50e9, 1e-6, "600 GB/s, both ways"), "PCIe": "32 GB/s"},
        ceilings=[Ceiling("no tensor cores", 10e12, precision="BF16"), Ceiling("stream", 0.9e12, memory="hbm")],
        checks=[
            Check("peak_flops.bf16", 103e12, RIVAL),
            Check("peak_flops.bf16", 104e12, RIVAL),
            Check("memories.HBM.bandwidth", 0.96e12, RIVAL),
            Check("memories.L2.bandwidth", 9e12, RIVAL),
        ],
        clock=1.5e9,
        units="132 SM",
        power=700,
        energy=Energy(1e-12, 5e-12, 100.0),
        notes=["Mind <this>."],
    )


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_or_copied_chip_keeps_every_field(full: Chip, protocol: int) -> None:
    assert pickle.loads(pickle.dumps(full, protocol)) == full  # noqa: S301 - our own bytes
    assert copy.deepcopy(full) == full
    assert hash(copy.copy(full)) == hash(full)


def test_a_chip_with_everything_comes_back_from_its_dict(full: Chip) -> None:
    known = full.replace(sources={"energy.per_flop": SHEET, "links.Wire.printed": RIVAL, "units": SHEET})
    assert Chip.from_dict(known.to_dict()) == known
    measured = full.with_measured(bandwidth={"SMEM": 15e12}, source=RIVAL)
    assert Chip.from_dict(measured.to_dict()) == measured


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "cpu"},
        {"year": 2025},
        {"status": "single-source"},
        {"links": {"Wire": 1e9}},
        {"ceilings": ()},
        {"checks": ()},
        {"clock": 2e9},
        {"units": "1 SM"},
        {"power": 1.0},
        {"energy": None},
        {"notes": ()},
    ],
)
def test_chips_that_differ_in_any_field_are_not_equal(full: Chip, changes: dict[str, Any]) -> None:
    assert dataclasses.replace(full, **changes) != full


def test_the_first_link_is_the_one_asked_for_by_no_name(full: Chip) -> None:
    assert full.link() is full.link("wire")
    assert (full.link_bandwidth(), full.link_bandwidth("pcie")) == (300e9, 32e9)


def test_an_unknown_link_names_those_there_are(full: Chip) -> None:
    with pytest.raises(MissingFigureError, match="Full has no link 'NVLink'; it has 'Wire', 'PCIe'"):
        full.link_bandwidth("NVLink")
    with pytest.raises(MissingFigureError, match=r"bare has no known link$"):
        Chip("bare", {"bf16": 1e12}, {"HBM": 1e12}).link()


def test_a_link_without_a_bandwidth_says_what_its_source_prints() -> None:
    one = Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, links={"Wire": Link("Wire", printed="9 GB/s, direction not stated")})
    words = "x has no one-way bandwidth for Wire: its source prints 9 GB/s, direction not stated$"
    with pytest.raises(MissingFigureError, match=words):
        one.link_bandwidth()


@pytest.mark.parametrize(
    ("flop_class", "precision", "peak"),
    [
        ("vector", "fp32", (8e12, True)),
        ("vector", "bf16", (100e12, False)),
        ("transcendental", "bf16", (1e12, True)),
        ("Matmul", "auto", (100e12, False)),
    ],
)
def test_a_class_of_flops_goes_to_its_own_peak_where_there_is_one(
    full: Chip, flop_class: str, precision: str, peak: tuple[float, bool]
) -> None:
    assert full.peak_of(flop_class, precision) == peak


@pytest.mark.parametrize("key", ["fp64_matmul", "fp64_tensor", "fp64_matrix", "matmul", "tensor"])
@pytest.mark.parametrize("flop_class", ["matmul", "tensor"])
def test_matmul_and_tensor_are_one_class_under_several_names(key: str, flop_class: str) -> None:
    assert Chip("x", {"fp64": 1e12, key: 2e12}, {"HBM": 1e12}).peak_of(flop_class, "fp64") == (2e12, True)


def test_an_unknown_class_or_precision_lists_those_there_are(full: Chip) -> None:
    with pytest.raises(ValueError, match="'scalar' is no class of FLOPs; there is 'matmul', 'tensor', 'transc"):
        full.peak_of("scalar")
    with pytest.raises(MissingFigureError, match="Full has no peak for precision 'fp64'"):
        full.peak_of("vector", "fp64")


def test_a_ceiling_lies_under_a_precision_or_level_that_the_chip_has(full: Chip) -> None:
    assert [(c.name, c.precision, c.memory) for c in full.ceilings] == [
        ("no tensor cores", "bf16", None),
        ("stream", None, "HBM"),
    ]
    with pytest.raises(MissingFigureError, match="Full has no memory 'VMEM'"):
        full.with_ceiling("x", bandwidth=1e9, memory="VMEM")
    with pytest.raises(MissingFigureError, match="Full has no peak for precision 'fp64'"):
        full.with_ceiling("x", peak_flops=1e9, precision="fp64")
    with pytest.raises(ValueError, match="has a memory and a precision; give one of them"):
        full.replace(ceilings=[Ceiling("x", 1e9, "HBM", "bf16")])
    with pytest.raises(ValueError, match="ceiling 'x' of chip 'Full' is there twice"):
        full.replace(ceilings=[Ceiling("x", 1e9), Ceiling("x", 2e9)])


def test_a_ceiling_is_of_compute_or_of_bandwidth(full: Chip) -> None:
    added = full.with_ceiling("no FMA", peak_flops="50 TFLOP/s").with_ceiling("cold", bandwidth="1 TB/s", memory="smem")
    assert [(c.name, c.rate, c.memory, c.measured) for c in added.ceilings[2:]] == [
        ("no FMA", 50e12, None, False),
        ("cold", 1e12, "SMEM", False),
    ]
    assert full.with_ceiling("main", bandwidth=1e12).ceilings[-1].memory == "HBM"
    with pytest.raises(ValueError, match="ceiling 'x' needs either peak_flops or bandwidth"):
        full.with_ceiling("x")
    with pytest.raises(ValueError, match="ceiling 'x' needs either peak_flops or bandwidth"):
        full.with_ceiling("x", peak_flops=1e9, bandwidth=1e9)
    with pytest.raises(ValueError, match="ceiling 'x' has peak_flops; memory='HBM' goes with bandwidth"):
        full.with_ceiling("x", peak_flops=1e9, memory="HBM")
    with pytest.raises(ValueError, match="ceiling 'x' has bandwidth; precision='bf16' goes with peak_flops"):
        full.with_ceiling("x", bandwidth=1e9, precision="bf16")


def test_measured_ceilings_stand_beside_the_data_sheet(full: Chip) -> None:
    measured = full.with_measured(peak_flops={"BF16": "80 TFLOP/s"}, bandwidth={"main": 0.9e12}, source=RIVAL)
    assert (measured.peak("bf16"), measured.bandwidth()) == (100e12, 1e12)
    assert [(c.name, c.rate, c.precision, c.memory, c.measured, c.source) for c in measured.ceilings[2:]] == [
        ("measured", 80e12, "bf16", None, True, RIVAL),
        ("measured", 0.9e12, None, "HBM", True, RIVAL),
    ]
    assert measured.sources == full.sources
    assert measured.status == full.status


def test_measuring_again_exchanges_the_ceiling(full: Chip) -> None:
    twice = full.with_measured(bandwidth={"HBM": 0.8e12}).with_measured(bandwidth={"HBM": 0.9e12})
    assert [c.rate for c in twice.ceilings if c.measured] == [0.9e12]


def test_measuring_nothing_or_what_the_chip_lacks_is_refused(full: Chip) -> None:
    with pytest.raises(ValueError, match="with_measured needs peak_flops"):
        full.with_measured()
    with pytest.raises(MissingFigureError, match="Full has no memory 'L1'"):
        full.with_measured(bandwidth={"L1": 1e12})


def test_a_changed_figure_loses_its_source_and_checks_and_the_others_keep_theirs(full: Chip) -> None:
    faster = full.replace(memories={"hbm": "2 TB/s"})
    assert faster.memories["HBM"] == Memory("HBM", 2e12, 80e9)
    assert set(faster.sources) == {"peak_flops.bf16", "links.Wire.bandwidth"}
    assert {check.figure for check in faster.checks} == {"peak_flops.bf16", "memories.L2.bandwidth"}
    assert faster.status == "given"
    assert (faster.name, faster.id, faster.links) == (full.name, full.id, full.links)
    assert full.bandwidth() == 1e12


def test_a_figure_replaced_by_itself_keeps_its_source(full: Chip) -> None:
    assert full.replace(peak_flops={"bf16": "100 TFLOP/s"}) == full


def test_a_changed_figure_may_bring_its_own_source(full: Chip) -> None:
    other = full.replace(peak_flops={"bf16": 90e12}, sources={"peak_flops.bf16": RIVAL})
    assert other.sources["peak_flops.bf16"] == RIVAL
    assert other.sources["memories.HBM.bandwidth"] == SHEET


def test_new_peaks_levels_and_links_join_the_old_ones(full: Chip) -> None:
    more = full.replace(peak_flops={"FP8": 2e14}, memories={"VMEM": 5e12}, links={"wire": 400e9, "Beam": 1e9})
    assert list(more.peak_flops)[-1] == "fp8"
    assert list(more.memories) == ["HBM", "L2", "SMEM", "VMEM"]
    assert more.links["Wire"] == Link("Wire", 400e9, latency=1e-6)
    assert list(more.links) == ["Beam", "Wire", "PCIe"]
    assert "links.Wire.bandwidth" not in more.sources


def test_main_is_the_main_memory_and_another_memory_outside_the_chip_is_a_level_of_its_own() -> None:
    card = chip("t4").replace(memories={"main": "1 TB/s"})
    assert list(card.memories) == list(chip("t4").memories)
    assert card.bandwidth() == 1e12
    twofold = Chip("Twofold", {"bf16": 989e12}, {"HBM": 3.35e12}).replace(memories={"LPDDR5X": "500 GB/s"})
    assert (twofold.bandwidth("HBM"), twofold.bandwidth("LPDDR5X")) == (3.35e12, 500e9)
    with pytest.raises(MissingFigureError, match="has no memory 'DDR4'"):
        twofold.with_measured(bandwidth={"DDR4": "300 GB/s"})


def test_ceilings_go_with_the_figure_that_they_lay_under() -> None:
    plain = Chip("Plain", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 2e12, "L2": 9e12})
    chip_ = plain.with_measured(bandwidth={"HBM": 1.8e12, "L2": 8e12}).with_ceiling("no FMA", peak_flops=50e12)
    slower = chip_.replace(memories={"HBM": 1e12})
    assert [ceiling.key for ceiling in slower.ceilings] == ["measured L2", "no FMA"]
    assert [ceiling.key for ceiling in chip_.replace(peak_flops={"bf16": 1e12}).ceilings] == [
        "measured HBM",
        "measured L2",
    ]


@pytest.mark.parametrize("word", ["main", "ALL", "network", "compute", "overhead", "unknown", "", " "])
def test_a_level_may_not_have_a_name_with_a_meaning_of_its_own(word: str) -> None:
    with pytest.raises(ValueError, match="name"):
        Chip("Mine", {"bf16": 1e12}, {"HBM": 1e12, word: 1e13})


@pytest.mark.parametrize("word", ["auto", "", " "])
def test_a_precision_may_not_have_a_name_with_a_meaning_of_its_own(word: str) -> None:
    with pytest.raises(ValueError, match="name"):
        Chip("Mine", {"bf16": 1e12, word: 1e13}, {"HBM": 1e12})


@pytest.mark.parametrize("word", ["", " ", "BF16"])
def test_a_ceiling_has_a_name_that_is_no_precisions(word: str) -> None:
    with pytest.raises(ValueError, match="name"):
        Chip("Mine", {"bf16": 1e12}, {"HBM": 1e12}).with_ceiling(word, peak_flops=1e11)


def test_ceilings_of_one_name_are_told_apart_by_what_they_lie_under() -> None:
    plain = Chip("Plain", {"bf16": 100e12, "fp8": 200e12}, {"HBM": 2e12})
    both = plain.with_ceiling("no FMA", peak_flops=50e12).with_ceiling("no FMA", peak_flops=90e12, precision="fp8")
    assert [ceiling.key for ceiling in both.ceilings] == ["no FMA", "no FMA fp8"]


def test_changed_links_lose_what_their_source_said_of_them() -> None:
    v5p = chip("v5p").replace(links={"ICI": "1 TB/s"})
    assert not [key for key in v5p.sources if key.startswith("links.ICI")]
    assert v5p.link().per_link is None


def test_a_new_name_gets_its_own_id_unless_one_is_given(full: Chip) -> None:
    assert full.replace(name="Other one").id == "other-one"
    assert full.replace(name="Other one", id="mine").id == "mine"
    assert full.replace(year=2025).id == full.id


def test_an_unknown_field_names_the_nearest_one(full: Chip) -> None:
    with pytest.raises(TypeError, match=r"Chip.replace has no keyword 'memory'; did you mean 'memories'"):
        full.replace(memory={"HBM": 1e12})


def test_other_rates_keep_everything_else_and_are_checked(full: Chip) -> None:
    dragged = full.with_rates({"bf16": 5e13}, {"HBM": 2e12})
    same = {field.name for field in dataclasses.fields(full)} - {"peak_flops", "memories"}
    assert all(getattr(dragged, name) == getattr(full, name) for name in same)
    assert dragged.memories["L2"] == full.memories["L2"]
    assert (dragged.peak(), dragged.bandwidth()) == (5e13, 2e12)
    with pytest.raises(ValueError, match=r"memories\['HBM'\] of chip 'Full' must be a finite number above zero"):
        full.with_rates({}, {"HBM": 0.0})
    with pytest.raises(ValueError, match=r"peak_flops\['bf16'\] of chip 'Full' must be a finite number above zero"):
        full.with_rates({"bf16": float("nan")}, {})


def test_disputed_are_the_checks_more_than_three_percent_off(full: Chip) -> None:
    assert {key: [check.value for check in checks] for key, checks in full.disputed.items()} == {
        "peak_flops.bf16": [104e12],
        "memories.HBM.bandwidth": [0.96e12],
    }


def test_the_card_has_every_figure_with_its_source_and_checks(full: Chip) -> None:
    rows = {figure.key: figure for figure in full.figures}
    assert rows["peak_flops.bf16"].source == SHEET
    assert len(rows["peak_flops.bf16"].checks) == 2
    assert (rows["peak_flops.int8"].unit, rows["peak_flops.bf16"].unit) == ("OP/s", "FLOP/s")
    assert rows["memories.L2.bandwidth"].value is None
    assert (rows["memories.L2.capacity"].value, rows["memories.L2.capacity"].unit) == (50e6, "B")
    assert (rows["links.Wire.per_link"].value, rows["links.Wire.latency"].value) == (50e9, 1e-6)
    assert (rows["units"].value, rows["units"].unit) == (132, "SM")
    assert (rows["clock"].value, rows["power"].value, rows["energy.per_byte"].value) == (1.5e9, 700, 5e-12)
    assert rows["ceilings.stream.HBM"].value == 0.9e12
    assert "ceilings.no tensor cores.bf16" in rows


def test_the_html_card_shows_figures_as_text_and_never_as_markup(full: Chip) -> None:
    card = full._repr_html_()
    for words in ("100 TFLOP/s", "unknown", "1.5 GHz", "132 SM", "A data sheet", "104 TFLOP/s (Somebody &lt;else&gt;)"):
        assert words in card
    assert "Mind &lt;this&gt;." in card
    assert "<this>" not in card


def test_a_source_link_that_is_no_web_address_is_text_only() -> None:
    bad = Source("sheet", "javascript:alert(1)")
    card = Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, sources={"peak_flops.bf16": bad})._repr_html_()
    assert "javascript" not in card


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("clock", "2 GB", "clock of chip 'x': 'GB' is not a unit of Hz; write for example '1.98 GHz'"),
        ("clock", -1.0, "clock of chip 'x' must be a finite number above zero"),
        ("power", True, "power of chip 'x': expected a number or text such as '700 W', got True"),
        ("units", 132, "units of chip 'x' must be a count and a word, such as '132 SM', got 132"),
        ("units", "0 SM", "units of chip 'x' must be a count and a word"),
        ("year", 24, "year of chip 'x' must be a year such as 2024, got 24"),
        ("notes", [1], "notes of chip 'x' must be text, got 1"),
        ("links", [1], "links of chip 'x' must map names to one-way bandwidths"),
        ("links", {"L": 0}, r"links\['L'\] of chip 'x' must be a finite number above zero"),
        ("links", {"L": Link("L", per_link=-1)}, r"per_link of links\['L'\] of chip 'x' must be a finite"),
        ("ceilings", [3], "ceilings of chip 'x' must be Ceiling objects, got 3"),
        ("ceilings", [Ceiling("c", 0.0)], "ceiling 'c' of chip 'x' must be a finite number above zero"),
        ("checks", [3], "checks of chip 'x' must be Check objects, got 3"),
        ("sources", {"clock": "web"}, r"sources\['clock'\] of chip 'x' must be a Source, got 'web'"),
        ("energy", 3, "energy of chip 'x' must be an Energy, got 3"),
        ("energy", Energy(0.0, 1.0, 1.0), "energy.per_flop of chip 'x' must be a finite number above zero"),
        ("energy", Energy(1.0, 1.0, -1.0), "energy.constant_power of chip 'x' must be a finite number that is not neg"),
    ],
)
def test_a_bad_field_is_refused_by_name(field: str, value: object, words: str) -> None:
    given: dict[str, Any] = {field: value}
    with pytest.raises((TypeError, ValueError), match=words):
        Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, **given)
