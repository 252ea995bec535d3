"""Tables with a column of the chip that their kernels ran on."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pytest

import roofwidget as rw


def read(*rows: str, **options: Any) -> rw.Kernels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rw.read("\n".join(rows).encode(), **options)


@pytest.mark.parametrize("header", ["measured on", "Measured_On", "ran on"])
@pytest.mark.parametrize("word", ["h100-sxm", "NVIDIA H100 SXM5 80GB", "H100 SXM"])
def test_it_becomes_the_chip_of_the_kernels_and_no_further_column(header: str, word: str) -> None:
    kernels = read(f"name,time,{header}", f"a,1,{word}", f"b,2, {word} ", "c,3,")
    assert kernels.chip is not None
    assert kernels.chip.id == "h100-sxm"
    assert (list(kernels.extra), kernels.warnings) == ([], ())


def test_a_data_frame_tells_it_too_and_the_widget_judges_by_it() -> None:
    frame = pd.DataFrame({"name": ["a"], "time": [1.0], "measured on": ["MI300X"]})
    kernels = rw.read(frame)
    assert kernels.chip is not None
    assert kernels.chip.id == "mi300x"
    assert kernels.roofline().focus_chip == "mi300x"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["My chip", "My chip"], "the catalogue has no chip 'My chip'"),
        (["", "H100"], "'H100' is one of several chips"),
        (["v5p", "v6e"], "'tpu-v5p' and 'tpu-v6e', but a table must be of one chip: split it"),
    ],
)
def test_one_that_names_no_chip_is_kept_as_it_is_with_a_warning(words: list[str], reason: str) -> None:
    rows = [f"k,{time},{word}" for time, word in enumerate(words, 1)]
    kernels = read("name,time,measured on", *rows)
    assert kernels.chip is None
    assert kernels.extra["measured on"].tolist() == [word or None for word in words]
    (said,) = kernels.warnings
    assert said.startswith(f"column 'measured on' does not name one chip: {reason}")
    # A column that the user named must name a chip.
    with pytest.raises(rw.ProfileError, match=r"row 3, column 'measured on': .*chip"):
        read("name,time,measured on", "k,1,v5p", "k,1,My chip", columns={"chip": "measured on"})


def test_what_is_no_text_is_a_column_like_others() -> None:
    frame = pd.DataFrame({"name": ["a"], "time": [1.0], "measured on": [20240501]})
    kernels = rw.read(frame)
    assert (kernels.chip, kernels.extra["measured on"].tolist()) == (None, [20240501])
    with pytest.raises(rw.ProfileError, match="measured on"):
        rw.read(frame, columns={"chip": "measured on"})


def test_a_column_of_another_name_is_used_when_the_user_says_so() -> None:
    rows = ("name,time,chip,device", "a,1,v6e,v5p")
    # The focus chip in a file of the widget is not the chip of a measurement.
    assert read(*rows).chip is None
    found = read(*rows, columns={"chip": "device"})
    assert found.chip is not None
    assert (found.chip.id, found.extra["chip"].tolist()) == ("tpu-v5p", ["v6e"])
    # All kernels have the same chip.
    with pytest.raises(TypeError, match="chip:HBM"):
        read(*rows, columns={"chip:HBM": "device"})
