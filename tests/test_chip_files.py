"""Chips as plain dicts and in files of one's own, and what is said of a wrong line."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from roofwidget.chips import Chip, Memory, Source, chips, load_chips
from roofwidget.chips.lines import line_of, lines

HEAD = '[[chips]]\nname = "Mine"\n'
GOOD = HEAD + 'peak_flops.bf16 = "400 TFLOP/s"\nmemories.HBM = "2 TB/s"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def load(path: Path, text: str) -> tuple[Chip, ...]:
    path.write_text(text, encoding="utf-8")
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
        "line 4: memories.HBM.capacity of chip 'Mine' is 80 B without a unit; write the unit, such as '80 GB'",
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
        "line 7: the id 'mine' is taken by the chip of line 1; give one another id",
    ),
    "a duplicate id that is written": (
        'sources = {}\n[[chips]]\nid = "a"\n' + GOOD[10:] + '[[chips]]\nname = "Two"\nid = "a"\n' + GOOD[24:],
        "line 9: the id 'a' is taken by the chip of line 2; give one another id",
    ),
    "a wrong type": (GOOD + "year = '2024'\n", "line 5: year of chip 'Mine' must be a whole number, got '2024'"),
    "a year of two digits": (GOOD + "year = 24\n", "line 5: year of chip 'Mine' must be a year such as 2024, got 24"),
    "a truth where a number is": (
        GOOD.replace('"2 TB/s"', "true"),
        "line 4: memories['HBM'] of chip 'Mine': expected a",
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
        "line 6: a check of chip 'Mine' is of no figure: 'peak'",
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


def test_a_file_that_is_no_text_or_not_there_is_refused_by_name(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"mine\.toml: not UTF-8 text \(byte 0\)"):
        load_chips(path)
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        load_chips(path.with_name("none.toml"))


@pytest.mark.parametrize(
    ("peaks", "words"),
    [
        (
            'bf16 = "400 TFLOP/s", fp8 = "1600 TFLOP/s"',
            "fp8 1.6 PFLOP/s of chip 'Mine' is 4 times bf16 400 TFLOP/s",
        ),
        ("fp32 = 10e12, FP16 = 100e12", "fp16 100 TFLOP/s of chip 'Mine' is 10 times fp32 10 TFLOP/s"),
        ("bf16 = 1e14, int8 = 5e14", "int8 500 TFLOP/s of chip 'Mine' is 5 times bf16 100 TFLOP/s"),
        ("fp8 = 1e14, int8 = 2e14, int4 = 5e14", "int4 500 TFLOP/s of chip 'Mine' is 2.5 times int8 200 TFLOP/s"),
        ("fp64 = 1e12, fp32 = 64e12", "fp32 64 TFLOP/s of chip 'Mine' is 64 times fp64 1 TFLOP/s"),
    ],
)
def test_a_precision_more_than_twice_its_sibling_is_warned_of_once_and_loaded(
    path: Path, peaks: str, words: str
) -> None:
    with pytest.warns(UserWarning, match="of twice its width") as caught:
        (mine,) = load(path, HEAD + f"# dense?\npeak_flops = {{ {peaks} }}\nmemories.HBM = 1e12\n")
    (said,) = [str(one.message) for one in caught]
    assert said.startswith(f"{path}, line 4: {words}")
    assert said.endswith(", of twice its width; peaks are dense: is it a figure with sparsity?")
    assert caught[0].filename == __file__
    assert len(mine.peak_flops) > 1


@pytest.mark.parametrize(
    "peaks",
    [
        "bf16 = 989e12, fp8 = 1979e12",
        "tf32 = 494.5e12, fp32 = 67e12, bf16 = 989.5e12",
        "fp8 = 1e15, fp16_vector = 1e12",
        "fp8 = 5e12, fp4 = 5e12",
        "bf16 = 1e12, fp6 = 9e15",
    ],
)
def test_about_twice_is_no_reason_to_warn(path: Path, peaks: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path, HEAD + f"peak_flops = {{ {peaks} }}\nmemories.HBM = 1e12\n")


def test_a_file_with_an_error_gives_no_warning_besides(path: Path) -> None:
    bad = HEAD + "peak_flops = { bf16 = 1e14, fp8 = 1e15 }\nmemories.HBM = 1e12\n" + GOOD + "year = 24\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem(path, bad).startswith("line 9: year")


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
    found = lines(text)
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


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "chips.toml"
    text = '[[chips]]\nname = "Mine"\npeak_flops.bf16 = "1 TFLOP/s"\nmemories.HBM = "1 TB/s"\n'
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert [chip.name for chip in load_chips(file)] == ["Mine"]
