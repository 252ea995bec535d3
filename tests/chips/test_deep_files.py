"""Chip files that are nested far too deeply, and names of any length: one short error, at once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import roofwidget as rw
from tests.places import write

CHIP = "[[chips]]\nname = 'a'\npeak_flops.bf16 = 1e15\nmemories.HBM = 1e12\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000 + "]" * 100_000,
        "x = " + "{a = " * 900 + "1" + "}" * 900,
        "x" + ".a" * 20_000 + " = 1",
        f"{CHIP}memories{'.a' * 20_000} = 1",
        "[x" + ".a" * 20_000 + "]\nb = 1",
    ],
    ids=["lists", "tables", "dotted key", "dotted key of a chip", "header"],
)
def test_a_file_that_is_nested_too_deeply_is_refused_at_once(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "chips.toml", text)
    start = time.process_time()
    with pytest.raises(ValueError, match=r"chips.toml, line \d: this is not TOML: nested"):
        rw.load_chips(path)
    assert time.process_time() - start < 1


def test_the_error_for_a_long_name_fits_on_a_screen() -> None:
    with pytest.raises(ValueError, match="a chip needs a name that is text") as caught:
        rw.Chip.from_dict({"name": ["x" * 10**6]})
    assert len(str(caught.value)) <= 1000


@pytest.mark.parametrize("status", ["", "given", "single-source"])
def test_a_status_comes_back_from_the_record_of_a_chip(status: str) -> None:
    made = rw.Chip("One", {"bf16": 1e14}, {"HBM": 1e12}, status=status)
    again = rw.Chip.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again.status == status
    assert again == made
