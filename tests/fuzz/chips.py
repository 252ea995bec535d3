"""Chip files: TOML as `rw.load_chips` gets it, and dicts as `Chip.from_dict` gets them from JSON."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any, Final

import roofwidget as rw
from roofwidget import wire
from roofwidget.chips import toml
from tests.fuzz import mutate
from tests.fuzz.subject import Case, Subject

_CHIPS: Final = ("h100-sxm", "v5p", "mi300x", "b200", "xeon-8480")
_BY_HAND: Final = b"""
[sources.sheet]
title = "Data sheet"
url = "https://example.org/sheet.pdf"

[[chips]]
name = "My chip"
aliases = ["mine"]
year = 2026
clock = "1.98 GHz"
units = "132 SM"
power = 700
peak_flops.bf16 = { value = "400 TFLOP/s", source = "sheet", confidence = "datasheet" }
peak_flops.fp8 = "800 TFLOP/s"
memories.HBM = { bandwidth = "2 TB/s", capacity = "64 GB" }
memories.L2 = "10 TB/s"
links.NVLink = { bandwidth = "450 GB/s", per_link = "25 GB/s", count = 18 }
ceilings = [{ name = "STREAM", rate = "1.8 TB/s", memory = "HBM", measured = true }]
checks = [{ figure = "memories.HBM.bandwidth", value = "1.9 TB/s", source = "sheet" }]
notes = ["A note."]

[[chips]]
name = "Another chip"
peak_flops = { fp16 = 1e14, fp32 = 5e13 }
memories = { DRAM = 1e12 }
energy = { per_flop = { fp16 = 1e-12 }, per_byte = { DRAM = 5e-11 }, constant_power = 50 }
"""


@functools.cache
def records() -> list[dict[str, Any]]:
    """Return chips of the catalogue and chips written by hand as dicts."""
    known = [chip.to_dict() for chip in rw.chips()[::12]]
    by_hand = toml.parse(_BY_HAND.decode())["chips"]
    return [*known, *by_hand]


@functools.cache
def files() -> list[bytes]:
    """Return texts of TOML files."""
    whole = Path(rw.chips.__code__.co_filename).with_name("catalogue.toml").read_text("utf-8")
    parts = ["[[chips]]" + part for part in whole.split("[[chips]]")[1:]]
    sources = Path(rw.chips.__code__.co_filename).with_name("sources.toml").read_text("utf-8")
    return [
        _BY_HAND,
        _BY_HAND,
        *(f"{sources}\n{part}".encode() for part in parts[::9]),
        *(p.encode() for p in parts[::9]),
    ]


def _draw(chance: Random) -> Case:
    if chance.random() < 0.5:
        what, data = mutate.damaged(chance.choice(files()), chance.choice(files()), chance)
        if chance.random() < 0.2:
            what, data = f"{what}, deep", data + b"\nx" + b".a" * chance.choice((9, 31, 900, 20_000)) + b" = 1\n"
        return Case(f"TOML: {what}", data, len(data))
    record = mutate.changed(chance.choice(records()), chance, chance.choice(records()))
    return Case("dict", record, len(mutate.text(record)))


def _use(case: Case) -> None:
    if isinstance(case.given, bytes):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "chips.toml")
            path.write_bytes(case.given)
            found = rw.load_chips(path)
    else:
        found = (rw.Chip.from_dict(case.given),)
    for chip in found:
        assert repr(chip)
        assert chip._repr_html_()
        assert rw.Chip.from_dict(json.loads(json.dumps(chip.to_dict()))) == chip
    json.dumps(wire.chips_to_wire(found), allow_nan=False).encode()


CHIPS: Final = Subject("chip files", _draw, _use, (ValueError,))
