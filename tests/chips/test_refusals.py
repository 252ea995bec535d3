"""Arguments that a chip refuses: reserved names, ceilings with the same key, sources and checks without a figure."""

from __future__ import annotations

from typing import Any

import pytest

from roofwidget.chips import Ceiling, Check, Chip, Energy, Link, Memory, MissingFigureError, Source
from roofwidget.kernels.presets import preset

SHEET = Source("A data sheet", "https://example.org/sheet.pdf", "datasheet")


@pytest.fixture
def mine() -> Chip:
    """Return a chip with two memories outside it, a level without a bandwidth, and a link."""
    return Chip(
        "Mine",
        {"bf16": 100e12, "fp8": 200e12, "vector": 5e12},
        {"HBM": Memory("HBM", 1e12, 80e9), "LPDDR5X": 5e11, "L2": None},
        links={"Wire": Link("Wire", 3e11, printed="600 GB/s, both ways")},
        units="16896 core",
        power="1.4 kW",
    )


# -- memories outside the chip -----------------------------------------------------------------------------------------


def test_each_memory_outside_the_chip_is_replaced_by_its_own_name_alone(mine: Chip) -> None:
    other = mine.replace(memories={"lpddr5x": 4e11, "DDR5": Memory("DDR5", 1e11)})
    assert [(level.name, level.bandwidth) for level in other.memories.values()] == [
        ("HBM", 1e12),
        ("LPDDR5X", 4e11),
        ("L2", None),
        ("DDR5", 1e11),
    ]


def test_a_ceiling_is_never_put_under_another_memory_outside_the_chip(mine: Chip) -> None:
    words = "Mine has no memory 'DDR4'; it has 'HBM', 'LPDDR5X', 'L2'"
    with pytest.raises(MissingFigureError, match=words):
        mine.with_measured(bandwidth={"DDR4": 1e11})
    with pytest.raises(MissingFigureError, match=words):
        mine.with_ceiling("x", bandwidth=1e11, memory="DDR4")
    with pytest.raises(MissingFigureError, match=words):
        mine.replace(ceilings=[Ceiling("x", 1e11, "DDR4")])
    assert mine.with_measured(bandwidth={"lpddr5x": 1e11}).ceilings[0].key == "measured LPDDR5X"


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["main", "All", " network ", "compute", "overhead", "unknown"])
def test_a_level_has_no_name_that_means_something_else(word: str) -> None:
    with pytest.raises(ValueError, match=f"'{word}' cannot be the name of a memory level of chip 'x': the word has a"):
        Chip("x", {"bf16": 1e12}, {word: 1e12})


def test_a_precision_is_not_called_auto_and_may_be_a_class_of_flops(mine: Chip) -> None:
    with pytest.raises(
        ValueError, match="'Auto' cannot be the name of a precision of chip 'x': the word has a meaning"
    ):
        Chip("x", {"Auto": 1e12}, {"HBM": 1e12})
    assert mine.peak_of("vector") == (5e12, True)


@pytest.mark.parametrize("word", ["", "  ", 3, None])
@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("peak_flops", "the name of a precision of chip 'x' must be text that is not empty"),
        ("memories", "the name of a memory level of chip 'x' must be text that is not empty"),
        ("links", "a key of links of chip 'x' must be text that is not empty"),
    ],
)
def test_the_name_of_a_part_is_text_that_is_not_empty(field: str, words: str, word: object) -> None:
    given: dict[str, Any] = {"peak_flops": {"bf16": 1e12}, "memories": {"HBM": 1e12}, field: {word: 1e12}}
    with pytest.raises(ValueError, match=words):
        Chip("x", **given)
    if field != "links":
        with pytest.raises(ValueError, match=words):
            Chip("x", {"bf16": 1e12}, {"HBM": 1e12}).replace(**{field: {word: 1e12}})


@pytest.mark.parametrize("given", ["", " ", 3])
def test_an_id_is_text_that_is_not_empty(given: Any) -> None:
    with pytest.raises(ValueError, match=f"id of chip 'x' must be text that is not empty, got {given!r}"):
        Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, id=given)


# -- ceilings ----------------------------------------------------------------------------------------------------------


def test_a_ceiling_is_chosen_by_its_name_and_the_precision_or_level_that_it_lies_under(mine: Chip) -> None:
    measured = mine.with_measured(peak_flops={"BF16": 9e13, "fp8": 1e14}, bandwidth={"main": 9e11})
    assert [ceiling.key for ceiling in measured.ceilings] == ["measured bf16", "measured fp8", "measured HBM"]
    assert mine.with_ceiling("no FMA", peak_flops=5e13).ceilings[0].key == "no FMA"


@pytest.mark.parametrize(
    "ceiling",
    [
        Ceiling("FP8", 1e12),
        Ceiling("FP8", 1e11, memory="HBM"),
        Ceiling("no FMA", 1e12, precision="vector"),
    ],
)
def test_a_ceiling_is_not_called_like_a_peak(mine: Chip, ceiling: Ceiling) -> None:
    named = mine.replace(peak_flops={"no FMA vector": 1e12})
    with pytest.raises(ValueError, match=r"of chip 'Mine' has the name of its peak '.*'; rename it"):
        named.replace(ceilings=[ceiling])


@pytest.mark.parametrize("name", ["", " ", 3])
def test_a_ceiling_has_a_name_that_is_text(mine: Chip, name: Any) -> None:
    with pytest.raises(ValueError, match="the name of a ceiling of chip 'Mine' must be text that is not empty, got"):
        mine.with_ceiling(name, peak_flops=1e12)


@pytest.mark.parametrize(
    "twin", [Ceiling("NO fma", 2e12, precision="fp8"), Ceiling("no FMA fp8", 2e12)], ids=["case", "key"]
)
def test_two_ceilings_of_one_key_are_refused(mine: Chip, twin: Ceiling) -> None:
    with pytest.raises(ValueError, match=r"(?i)ceiling 'no FMA fp8' of chip 'Mine' is there twice"):
        mine.replace(ceilings=[Ceiling("no FMA", 1e12, precision="fp8"), twin])


def test_a_ceiling_of_the_same_name_and_place_is_exchanged_in_any_case(mine: Chip) -> None:
    twice = mine.with_ceiling("no FMA", peak_flops=5e13).with_ceiling("No fma", peak_flops=4e13)
    assert [(ceiling.name, ceiling.rate) for ceiling in twice.ceilings] == [("No fma", 4e13)]


def test_a_changed_peak_or_bandwidth_takes_its_ceilings_along_unless_some_are_given(mine: Chip) -> None:
    full = mine.with_measured(peak_flops={"bf16": 9e13, "fp8": 1e14}, bandwidth={"HBM": 9e11, "L2": 9e12})
    faster = full.replace(peak_flops={"fp8": 3e14}, memories={"HBM": 2e12})
    assert [ceiling.key for ceiling in faster.ceilings] == ["measured bf16", "measured L2"]
    assert full.replace(memories={"HBM": 2e12}, ceilings=full.ceilings).ceilings == full.ceilings


def test_filling_in_an_unknown_bandwidth_changes_no_figure_and_takes_nothing_along(mine: Chip) -> None:
    checked = mine.with_measured(bandwidth={"L2": 9e12}).replace(checks=[Check("memories.L2.bandwidth", 8e12, SHEET)])
    filled = checked.replace(memories={"L2": 1e13})
    assert (filled.ceilings, filled.checks) == (checked.ceilings, checked.checks)


# -- sources and checks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("memories.HBM.bandwidht", "lacks: 'memories.HBM.bandwidht'; did you mean 'memories.HBM.bandwidth'"),
        ("peak_flops.bf61", "lacks: 'peak_flops.bf61'; did you mean 'peak_flops.bf16'"),
        ("nothing at all", "lacks: 'nothing at all'; there is 'peak_flops.bf16', 'peak_flops.fp8'"),
    ],
)
def test_a_source_or_check_of_no_figure_names_the_nearest(mine: Chip, key: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"a source of chip 'Mine' is of a figure that it {words}"):
        mine.replace(sources={key: SHEET})
    with pytest.raises(ValueError, match=f"a check of chip 'Mine' is of a figure that it {words}"):
        mine.replace(checks=[Check(key, 1.0, SHEET)])


def test_an_unknown_figure_has_no_source_but_others_may_know_it(mine: Chip) -> None:
    with pytest.raises(ValueError, match=r"a source of chip 'Mine' is of a figure that it lacks: 'memories\.L2\.band"):
        mine.replace(sources={"memories.L2.bandwidth": SHEET})
    told = mine.replace(checks=[Check("memories.L2.bandwidth", 9e12, SHEET)])
    assert Chip.from_dict(told.to_dict()) == told
    assert not told.disputed


def test_every_source_that_a_chip_accepts_is_in_its_dict(mine: Chip) -> None:
    keys = [figure.key for figure in mine.figures if figure.value is not None]
    known = mine.replace(sources=dict.fromkeys([*keys, "links.Wire.printed"], SHEET))
    assert Chip.from_dict(known.to_dict()).sources == known.sources


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf")])
def test_the_value_of_a_check_is_above_zero(mine: Chip, value: float) -> None:
    with pytest.raises(
        ValueError, match=r"check of peak_flops\.bf16 of chip 'Mine' must be a finite number above zero"
    ):
        mine.replace(checks=[Check("peak_flops.bf16", value, SHEET)])


def test_a_check_is_in_the_unit_of_its_figure(mine: Chip) -> None:
    given: list[Any] = [
        ("peak_flops.bf16", "103 TFLOP/s", 103e12),
        ("power", "1 kW", 1000.0),
        ("units", 16384, 16384.0),
    ]
    told = mine.replace(checks=[Check(key, value, SHEET) for key, value, _ in given])
    assert [(check.figure, check.value) for check in told.checks] == [(key, value) for key, _, value in given]
    bad: Any = "1 TB/s"
    with pytest.raises(ValueError, match=r"check of peak_flops\.bf16 of chip 'Mine': 'TB/s' is not a unit of FLOP/s"):
        mine.replace(checks=[Check("peak_flops.bf16", bad, SHEET)])
    with pytest.raises(TypeError, match=r"the source of the check of power of chip 'Mine' must be a Source, got None"):
        mine.replace(checks=[Check("power", 1.0, None)])  # type: ignore[arg-type]  # the wrong type is under test


# -- what is no mapping or list ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("peak_flops", "peak_flops of chip 'Mine' must map precisions to rates"),
        ("memories", "memories of chip 'Mine' must map levels to bandwidths"),
        ("links", "links of chip 'Mine' must map names to one-way bandwidths"),
        ("sources", "sources of chip 'Mine' must map figures to Source objects, got None"),
        ("ceilings", "ceilings of chip 'Mine' must be a list, got None"),
        ("checks", "checks of chip 'Mine' must be a list, got None"),
        ("notes", "notes of chip 'Mine' must be a list, got None"),
        ("aliases", "aliases of chip 'Mine' must be a list, got None"),
    ],
)
def test_replacing_a_mapping_or_list_by_nothing_is_refused_by_name(mine: Chip, field: str, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        mine.replace(**{field: None})


# -- the card ----------------------------------------------------------------------------------------------------------


def test_the_card_counts_exactly_and_gives_hertz_watts_and_joules_their_prefixes(mine: Chip) -> None:
    cells = mine.replace(clock="1.98 GHz", energy=Energy(5e-13, 3e-11, 0.0))._repr_html_()
    for words in ("16896 core", "1.4 kW", "1.98 GHz", "0.5 pJ/FLOP", "30 pJ/B", "<td>0 W</td>"):
        assert f"{words}" in cells


def test_energy_may_be_told_with_units(mine: Chip) -> None:
    told: Any = ("0.5 pJ/FLOP", "30 pJ/B", "100 W")
    assert mine.replace(energy=Energy(*told)).energy == Energy(5e-13, 3e-11, 100.0)


def test_the_card_links_each_document_once(mine: Chip) -> None:
    known = mine.replace(sources={"peak_flops.bf16": SHEET, "memories.HBM.bandwidth": SHEET, "clock": SHEET}, clock=1e9)
    card = known._repr_html_()
    assert card.startswith("<table><caption>Mine · given</caption><thead><tr><th scope=")
    assert card.count("<a href='https://example.org/sheet.pdf'") == 1
    assert card.count("<td>A data sheet</td>") == 3


def test_the_machine_whose_stream_is_above_its_bandwidth_says_why() -> None:
    cell = preset("williams-2009").chips[-1]
    assert cell.ceilings[0].rate > cell.bandwidth()
    assert any("0.65 FLOP/B is rounded" in note and "STREAM, 47 GB/s, lies above" in note for note in cell.notes)


BEYOND = r" must be from .+ to .+, which all hardware is, got "


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"peak_flops": {"bf16": "1e99 FLOP/s"}}, r"peak_flops\['bf16'\]"),
        ({"memories": {"HBM": 5e-324}}, r"memories\['HBM'\]"),
        ({"memories": {"HBM": Memory("HBM", 1e12, 1e99)}}, r"capacity of memories\['HBM'\]"),
        ({"links": {"L": 1e99}}, r"links\['L'\]"),
        ({"links": {"L": Link("L", 1e9, latency=1e99)}}, r"latency of links\['L'\]"),
        ({"ceilings": [Ceiling("c", 1e99)]}, "ceiling 'c'"),
        ({"clock": 1e99}, "clock"),
        ({"power": "1e-30 W"}, "power"),
        ({"energy": Energy(1e-99, 1.0, 0.0)}, "energy.per_flop"),
    ],
)
def test_a_chip_made_by_hand_has_no_figure_that_no_hardware_has(change: dict[str, Any], what: str) -> None:
    figures: dict[str, Any] = {"peak_flops": {"bf16": 1e14}, "memories": {"HBM": 1e12}}
    with pytest.raises(ValueError, match=what + " of chip 'Mine'" + BEYOND):
        Chip("Mine", **{**figures, **change})


def test_a_chip_with_other_rates_stays_within_the_limits_of_hardware(mine: Chip) -> None:
    with pytest.raises(ValueError, match=BEYOND):
        mine.with_rates({"bf16": 1e99}, {})
    with pytest.raises(ValueError, match=BEYOND):
        mine.with_rates({}, {"HBM": 5e-324})
    with pytest.raises(ValueError, match=BEYOND):
        mine.with_measured(bandwidth={"HBM": 1e99})
