"""Chips as plain dicts and in a user's own files, and the errors for wrong lines."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from roofwidget.chips import Chip, Energy, Memory, Source, chips, load_chips
from roofwidget.chips.toml import line_numbers, line_of
from tests.places import write

HEAD = '[[chips]]\nname = "Mine"\n'
GOOD = HEAD + 'peak_flops.bf16 = "400 TFLOP/s"\nmemories.HBM = "2 TB/s"\n'
CHECK = '[[chips.checks]]\nfigure = "{figure}"\nvalue = {value}\nsource = "s"\n[sources.s]\ntitle = "S"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def load(path: Path, text: str) -> tuple[Chip, ...]:
    write(path, text)
    return load_chips(path)


def problem(path: Path, text: str) -> str:
    """Return what is said of a wrong file, without the file's name."""
    with pytest.raises(ValueError, match=r"mine\.toml, line") as caught:
        load(path, text)
    said = str(caught.value)
    assert said.startswith(f"{path}, ")
    return said.removeprefix(f"{path}, ")


def test_every_chip_of_the_catalogue_comes_back_from_its_dict() -> None:
    for one in chips():
        record = one.to_dict()
        assert Chip.from_dict(record) == one
        assert Chip.from_dict(json.loads(json.dumps(record))) == one


def test_a_dict_leaves_out_what_is_unknown() -> None:
    one = Chip("x", {"bf16": 1e12}, {"HBM": 1e12, "L2": None})
    assert one.to_dict() == {
        "id": "x",
        "name": "x",
        "status": "given",
        "default_precision": "bf16",
        "peak_flops": {"bf16": 1e12},
        "memories": {"HBM": {"bandwidth": 1e12}, "L2": {}},
    }


def test_a_dict_names_each_document_once() -> None:
    sheet = Source("Sheet", "https://example.org", "datasheet")
    keys = ("peak_flops.bf16", "memories.HBM.bandwidth")
    record = Chip("x", {"bf16": 1e12}, {"HBM": 1e12}, sources=dict.fromkeys(keys, sheet)).to_dict()
    assert record["sources"] == {"source-1": {"title": "Sheet", "url": "https://example.org"}}
    assert record["peak_flops"]["bf16"] == {"value": 1e12, "source": "source-1", "confidence": "datasheet"}


def test_a_wrong_dict_is_refused_by_name() -> None:
    wrong: dict[str, Any] = {"name": "x", "peak_flops": {"bf16": 1e12}, "memories": {"HBM": {"bandwith": 1e12}}}
    with pytest.raises(
        ValueError, match=r"memories\['HBM'\] of chip 'x' has no key 'bandwith'; did you mean 'bandwidth'"
    ):
        Chip.from_dict(wrong)


def test_figures_are_text_numbers_or_tables_with_a_source(path: Path) -> None:
    (mine,) = load(
        path,
        '[sources.sheet]\ntitle = "Sheet"\nurl = "https://example.org"\nconfidence = "datasheet"\n'
        + HEAD
        + 'id = "mine-1"\nyear = 2026\ndefault_precision = "fp8"\nclock = 1.5e9\nunits = "8 core"\n'
        + 'peak_flops = { BF16 = "400 TFLOP/s", fp8 = { value = 800e12, source = "sheet", formula = "2 x bf16" } }\n'
        + 'memories.HBM.bandwidth = { value = "2 TB/s", source = "sheet", confidence = "measured" }\n'
        + 'memories.HBM.capacity = "64 GB"\n'
        + 'memories.L2 = {}\nmemories."VMEM read" = 9e12\n'
        + 'links.Wire = { bandwidth = "300 GB/s", latency = "1 us" }\nlinks.PCIe = "64 GB/s"\n'
        + 'ceilings = [{ name = "no FMA", rate = "200 TFLOP/s", precision = "bf16" }]\n'
        + 'checks = [{ figure = "peak_flops.bf16", value = "500 TFLOP/s", source = "sheet" }]\n',
    )
    assert (mine.id, mine.year, mine.precision(), mine.clock, mine.units) == ("mine-1", 2026, "fp8", 1.5e9, "8 core")
    assert dict(mine.peak_flops) == {"bf16": 400e12, "fp8": 800e12}
    assert mine.memories["HBM"] == Memory("HBM", 2e12, 64e9)
    assert (mine.memories["L2"].bandwidth, mine.bandwidth("vmem read")) == (None, 9e12)
    assert dict(mine.sources) == {
        "peak_flops.fp8": Source("Sheet: 2 x bf16", "https://example.org", "datasheet"),
        "memories.HBM.bandwidth": Source("Sheet", "https://example.org", "measured"),
    }
    assert (mine.link_bandwidth(), mine.link().latency, mine.link_bandwidth("pcie")) == (300e9, 1e-6, 64e9)
    assert mine.ceilings[0].rate == 200e12
    assert list(mine.disputed) == ["peak_flops.bf16"]


def test_chips_come_in_the_order_of_the_file(path: Path) -> None:
    assert [one.name for one in load(path, GOOD + GOOD.replace("Mine", "Other"))] == ["Mine", "Other"]


FAULTS = {
    "an unknown key": (
        GOOD + "bandwith = 3\n",
        "line 5: a chip has no key 'bandwith'; it has",
    ),
    "an unknown key near a known one": (
        GOOD + 'vendr = "V"\n',
        "line 5: a chip has no key 'vendr'; did you mean 'vendor'?",
    ),
    "an unknown key of the file": (
        '[[chip]]\nname = "x"\n',
        "line 1: a file of chips has no key 'chip'; did you mean 'chips'?",
    ),
    "a fault in the second chip": (
        GOOD + "\n# the second [[chips]]\n" + GOOD.replace("Mine", "Two").replace('"2 TB/s"', '"2 TFLOP/s"'),
        "line 10: memories['HBM'] of chip 'Two': 'TFLOP/s' is not a unit of B/s; write for example '3.35 TB/s'",
    ),
    "gigabytes without a second": (
        GOOD.replace("2 TB/s", "3350 GB"),
        "line 4: memories['HBM'] of chip 'Mine': 'GB' is not a unit of B/s; write for example '3.35 TB/s'",
    ),
    "a bandwidth in GB": (
        HEAD + "peak_flops.bf16 = 1e15\n\n[chips.memories.HBM] # the main one\nbandwidth = 3350\n",
        "line 6: memories.HBM.bandwidth of chip 'Mine' is 3350 B/s without a unit; write the unit, such as '3.35 TB/s'",
    ),
    "a bandwidth in GB as text": (
        GOOD.replace("2 TB/s", "2000"),
        "line 4: memories.HBM of chip 'Mine' is 2000 B/s without a unit; write the unit, such as '3.35 TB/s'",
    ),
    "a peak in TFLOP/s": (
        GOOD.replace('"400 TFLOP/s"', "{ value = 989.5 }"),
        "line 3: peak_flops.bf16 of chip 'Mine' is 989.5 FLOP/s without a unit; write the unit, such as '989.5 TF",
    ),
    "a capacity in GB": (
        GOOD.replace('"2 TB/s"', '{ bandwidth = "2 TB/s", capacity = 80 }'),
        "line 4: memories.HBM.capacity of chip 'Mine' is 80 B without a unit; write the unit, such as '80 GiB'",
    ),
    "a link in GB/s": (
        GOOD + "links.Wire = { per_link = 50 }\n",
        "line 5: links.Wire.per_link of chip 'Mine' is 50 B/s",
    ),
    "a ceiling in GB/s": (
        GOOD
        + 'ceilings = [\n  { name = "a", rate = "1 TB/s", memory = "HBM" },\n'
        + '  { name = "b", memory = "HBM", rate = 9 },\n]\n',
        "line 7: ceilings.1.rate of chip 'Mine' is 9 B/s without a unit",
    ),
    "a duplicate id": (
        GOOD + "\n" + GOOD.replace('"Mine"', '"MINE"'),
        "line 7: the id 'mine' is taken by the chip of line 1; give one a new id",
    ),
    "a duplicate id that is written": (
        'sources = {}\n[[chips]]\nid = "a"\n' + GOOD[10:] + '[[chips]]\nname = "Two"\nid = "a"\n' + GOOD[24:],
        "line 9: the id 'a' is taken by the chip of line 2; give one a new id",
    ),
    "a wrong type": (GOOD + "year = '2024'\n", "line 5: year of chip 'Mine' must be a whole number, got '2024'"),
    "a year of two digits": (GOOD + "year = 24\n", "line 5: year of chip 'Mine' must be a year such as 2024, got 24"),
    "a truth where a number is": (
        GOOD.replace('"2 TB/s"', "true"),
        "line 4: memories['HBM'] of chip 'Mine': expected a",
    ),
    "a capacity in KB": (
        GOOD.replace('"2 TB/s"', '{ bandwidth = "2 TB/s", capacity = 999 }'),
        "line 4: memories.HBM.capacity of chip 'Mine' is 999 B without a unit; write the unit, such as '80 GiB'",
    ),
    "a reserved name of a level": (
        GOOD + 'memories.Network = "1 TB/s"\n',
        "line 5: 'Network' cannot be the name of a memory level of chip 'Mine': the word has a meaning of its own",
    ),
    "a level without a name": (
        GOOD + 'memories." " = "1 TB/s"\n',
        "line 5: the name of a memory level of chip 'Mine' must be text that is not empty, got ' '",
    ),
    "a reserved name of a precision": (
        GOOD + 'peak_flops.auto = "1 TFLOP/s"\n',
        "line 5: 'auto' cannot be the name of a precision of chip 'Mine': the word has a meaning of its own",
    ),
    "an empty id": (GOOD + 'id = ""\n', "line 5: id of chip 'Mine' must be text that is not empty, got ''"),
    "a blank id": (GOOD + 'id = " "\n', "line 5: id of chip 'Mine' must be text that is not empty, got ' '"),
    "a ceiling under a precision it lacks": (
        GOOD + '[[chips.ceilings]]\nname = "x"\nrate = 1e12\nprecision = "fp4"\n',
        "line 8: Mine has no peak for precision 'fp4'; it has 'bf16'",
    ),
    "a ceiling under a level it lacks": (
        GOOD + '[[chips.ceilings]]\nname = "x"\nrate = 1e12\nmemory = "DDR4"\n',
        "line 8: Mine has no memory 'DDR4'; it has 'HBM'",
    ),
    "a ceiling of nothing": (
        GOOD + '[[chips.ceilings]]\nname = "x"\nmemory = "HBM"\nrate = 0\n',
        "line 8: rate of ceiling 'x' of chip 'Mine' must be a finite number above zero, got 0.0",
    ),
    "a ceiling called like a peak": (
        GOOD + '[[chips.ceilings]]\nrate = 1e12\nname = "BF16"\n',
        "line 7: ceiling 'BF16' of chip 'Mine' has the name of its peak 'bf16'; rename it",
    ),
    "a ceiling twice": (
        GOOD + 'ceilings = [\n  { name = "x", rate = 1e12 },\n  { name = "X", rate = 2e12 },\n]\n',
        "line 7: ceiling 'X' of chip 'Mine' is there twice",
    ),
    "a misspelt figure of a check": (
        GOOD + CHECK.format(figure="memories.HBM.bandwidht", value="1e12"),
        "line 6: a check of chip 'Mine' is of a figure that it lacks: 'memories.HBM.bandwidht'; did you mean",
    ),
    "a check in another unit": (
        GOOD + CHECK.format(figure="memories.HBM.bandwidth", value='"2 TB"'),
        "line 7: check of memories.HBM.bandwidth of chip 'Mine': 'TB' is not a unit of B/s; write for example",
    ),
    "a check below zero": (
        GOOD + CHECK.format(figure="peak_flops.bf16", value="-1e12"),
        "line 7: check of peak_flops.bf16 of chip 'Mine' must be a finite number above zero, got -1000000000000.0",
    ),
    "a check in GB/s": (
        GOOD + CHECK.format(figure="memories.HBM.bandwidth", value="2039"),
        "line 7: checks.0.value of chip 'Mine' is 2039 B/s without a unit; write the unit, such as '3.35 TB/s'",
    ),
    "a check in GB": (
        GOOD.replace('"2 TB/s"', '{ bandwidth = "2 TB/s", capacity = "80 GB" }')
        + CHECK.format(figure="memories.HBM.capacity", value="80"),
        "line 7: checks.0.value of chip 'Mine' is 80 B without a unit; write the unit, such as '80 GiB'",
    ),
    "a check in TFLOP/s": (
        GOOD + CHECK.format(figure="peak_flops.bf16", value='"989.5"'),
        "line 7: checks.0.value of chip 'Mine' is 989.5 FLOP/s without a unit; write the unit, such as '989.5 TF",
    ),
    "a list for a table": (
        GOOD.replace('peak_flops.bf16 = "400 TFLOP/s"', "peak_flops = [1]"),
        "line 3: peak_flops of chip",
    ),
    "no name": ('[[chips]]\nid = "x"\n', "line 1: a chip needs a name that is text, got None"),
    "no peaks": (HEAD + 'memories.HBM = "2 TB/s"\n', "line 1: chip 'Mine' has no peak_flops"),
    "no bandwidth of the main memory": (
        HEAD + "peak_flops.bf16 = 1e15\nmemories.HBM = {}\n",
        "line 4: chip 'Mine' needs the bandwidth of its main memory 'HBM'",
    ),
    "a precision twice": (
        HEAD + "memories.HBM = 1e12\n[chips.peak_flops]\nbf16 = 1e12\nBF16 = 2e12\n",
        "line 4: peak_flops of chip 'Mine': 'BF16' is there twice",
    ),
    "a default precision it lacks": (
        GOOD + 'default_precision = "fp8"\n',
        "line 5: default_precision 'fp8' of chip 'Mine' is none of its precisions: 'bf16'",
    ),
    "a ceiling under nothing": (
        GOOD + 'ceilings = [{ name = "x", rate = 1e12, memory = "L2" }]\n',
        "line 5: Mine has no memory 'L2'; it has 'HBM'",
    ),
    "an unknown source": (
        GOOD.replace('"2 TB/s"', '{ value = "2 TB/s", source = "shet" }') + '[sources.sheet]\ntitle = "S"\n',
        "line 4: no source is called 'shet'; did you mean 'sheet'?",
    ),
    "no sources at all": (
        GOOD.replace('"2 TB/s"', '{ value = "2 TB/s", source = "sheet" }'),
        "line 4: no source is called 'sheet'; there is no [sources] table",
    ),
    "a confidence without a source": (
        GOOD.replace('"2 TB/s"', '{ value = "2 TB/s", confidence = "measured" }'),
        "line 4: 'confidence' of chip 'Mine' goes with a source",
    ),
    "a source without a title": (GOOD + "[sources.sheet]\nurl = 'x'\n", "line 5: sources['sheet'] has no title"),
    "a misspelt part of a source": (
        GOOD + "[sources.sheet]\ntitle = 'S'\nlink = 'x'\n",
        "line 7: sources['sheet'] has no key 'link'; it has 'title', 'url', 'confidence'",
    ),
    "a check of nothing": (
        GOOD + '[[chips.checks]]\nfigure = "peak"\nvalue = 1\nsource = "s"\n[sources.s]\ntitle = "S"\n',
        "line 6: a check of chip 'Mine' is of a figure that it lacks: 'peak'; did you mean 'peak_flops.bf16'?",
    ),
    "no chips": ("# nothing\n", "line 1: there is no chip; begin each with a line [[chips]]"),
    "a single table": ('[chips]\nname = "x"\n', "line 1: there is no chip; begin each with a line [[chips]]"),
    "no TOML": (GOOD + "memories.L2 = 3 TB/s\n", "line 5: this is not TOML: "),
    "an unfinished text": (GOOD + 'vendor = "V', "line 5: this is not TOML: "),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_file_line_key_and_fix(path: Path, fault: str) -> None:
    text, words = FAULTS[fault]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem(path, text).startswith(words)


def test_an_error_of_a_very_long_key_fits_on_a_screen(path: Path) -> None:
    for text in (f"{'k' * 10_000} = 1\n", GOOD + f"{'k' * 10_000} = 1\n"):
        with pytest.raises(ValueError, match="has no key 'kkk") as refusal:
            load(path, text)
        assert len(str(refusal.value)) < 1200


def test_a_file_that_is_no_text_or_not_there_is_refused_by_name(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"mine\.toml: not UTF-8 text \(byte 0\)"):
        load_chips(path)
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        load_chips(path.with_name("none.toml"))


def test_the_line_of_every_key_is_found_among_quotes_comments_and_nested_tables() -> None:
    text = '''# [[chips]]
title = """
[[chips]]
"""  # memories = 1
[[chips]]
"na\\u006de" = 'a # b' # name = "c"
a."b.c".d = { e = [1, # one
  2, { f = "}" }], g = 1 }

[chips.memories."L 2"]
bandwidth = 1
[[chips.ceilings]]
rate = 1
[[chips.ceilings]]
rate = 2
[[chips]]
name = 1979-05-27T07:32:00Z
[chips.memories.'L 2']
bandwidth = \'\'\'x
y\'\'\'
capacity = 1
'''
    found = line_numbers(text)
    assert found[("title",)] == 2
    assert (found[("chips",)], found[("chips", 0)], found[("chips", 1)]) == (5, 5, 16)
    assert (found[("chips", 0, "name")], found[("chips", 1, "name")]) == (6, 17)
    nested = ("chips", 0, "a", "b.c", "d")
    assert (found[(*nested, "e", 0)], found[(*nested, "e", 1)], found[(*nested, "e", 2, "f")]) == (7, 8, 8)
    assert found[(*nested, "g")] == 8
    assert (found[("chips", 0, "memories", "L 2")], found[("chips", 0, "memories", "L 2", "bandwidth")]) == (10, 11)
    assert (found[("chips", 0, "ceilings", 0, "rate")], found[("chips", 0, "ceilings", 1, "rate")]) == (13, 15)
    assert found[("chips", 1, "memories", "L 2", "capacity")] == 21
    assert line_of(found, ("chips", 1, "memories", "L 2", "nowhere")) == 18
    assert line_of(found, ("nowhere",)) == 1


def test_a_byte_order_mark_does_not_matter(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert [chip.name for chip in load_chips(path)] == ["Mine"]
    path.write_bytes(b"\xef\xbb\xbf" + b"x" * 4 + b"\xff")
    with pytest.raises(ValueError, match=r"mine\.toml: not UTF-8 text \(byte 7\)"):
        load_chips(path)


@pytest.mark.parametrize("text", ["", "chips = []\n", "chips = [3]\n", "chips = 'x'\n", "[chips]\nname = 'x'\n"])
def test_a_file_without_a_table_of_a_chip_is_shown_one_that_can_be_loaded(path: Path, text: str) -> None:
    _, _, example = problem(path, text).partition(", ")[2].partition("such as\n")
    (made,) = load(path, example)
    assert (made.name, made.peak("bf16"), made.memories["HBM"].capacity) == ("My chip", 400e12, 64 * 2**30)


def test_clock_power_and_energy_may_be_text_with_a_unit(path: Path) -> None:
    energy = 'energy = { per_flop = "0.5 pJ/FLOP", per_byte = "30 pJ/B", constant_power = 0 }\n'
    (mine,) = load(path, GOOD + 'clock = "1.98 GHz"\npower = "1.4 kW"\n' + energy)
    assert (mine.clock, mine.power, mine.energy) == (1.98e9, 1400.0, Energy(5e-13, 3e-11, 0.0))
