"""Odd figures in a file of chips: each gives a warning with its line, and the file is read."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from roofwidget.chips import Chip, load_chips
from tests.places import write

HEAD = '[[chips]]\nname = "Mine"\n'
GOOD = HEAD + 'peak_flops.bf16 = "400 TFLOP/s"\nmemories.HBM = "2 TB/s"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def load(path: Path, text: str) -> tuple[Chip, ...]:
    write(path, text)
    return load_chips(path)


@pytest.mark.parametrize(
    ("peaks", "words"),
    [
        (
            'bf16 = "400 TFLOP/s", fp8 = "1600 TFLOP/s"',
            "fp8 1.6 PFLOP/s of chip 'Mine' is 4 times bf16 400 TFLOP/s",
        ),
        ("fp32 = 10e12, FP16 = 100e12", "fp16 100 TFLOP/s of chip 'Mine' is 10 times fp32 10 TFLOP/s"),
        ("bf16 = 1e14, int8 = 5e14", "int8 500 TOP/s of chip 'Mine' is 5 times bf16 100 TFLOP/s"),
        ("fp8 = 1e14, int8 = 2e14, int4 = 5e14", "int4 500 TOP/s of chip 'Mine' is 2.5 times int8 200 TOP/s"),
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
        with pytest.raises(ValueError, match=r"mine\.toml, line 9: year"):
            load(path, bad)


@pytest.mark.parametrize(
    ("ceiling", "words"),
    [
        ('rate = "3 TB/s", memory = "HBM"', "ceiling 'x' of chip 'Mine', 3 TB/s, lies above its roof, HBM 2 TB/s"),
        ('rate = "401 TFLOP/s"', "ceiling 'x' of chip 'Mine', 401 TFLOP/s, lies above its roof, bf16 400 TFLOP/s"),
        (
            'rate = "9 TFLOP/s", precision = "fp64"',
            "ceiling 'x' of chip 'Mine', 9 TFLOP/s, lies above its roof, fp64 8",
        ),
    ],
)
def test_a_ceiling_above_its_roof_is_warned_of_and_loaded(path: Path, ceiling: str, words: str) -> None:
    text = GOOD + 'peak_flops.fp64 = "8 TFLOP/s"\n[[chips.ceilings]]\nname = "a"\n{}[[chips.ceilings]]\nname = "x"\n'
    text = text.format("rate = 1e12\n") + ceiling.replace(", ", "\n") + "\n"
    with pytest.warns(UserWarning, match="above its roof") as caught:
        (mine,) = load(path, text)
    (said,) = [str(one.message) for one in caught]
    assert said.startswith(f"{path}, line 11: {words}")
    assert said.endswith("; if it was measured, write measured = true")
    assert caught[0].filename == __file__
    assert len(mine.ceilings) == 2


@pytest.mark.parametrize(
    "ceiling",
    [
        'rate = "3 TB/s", memory = "HBM", measured = true',
        'rate = "2 TB/s", memory = "HBM"',
        'rate = "9 TB/s", memory = "L2"',
        'rate = "400 TFLOP/s"',
    ],
)
def test_a_ceiling_that_was_measured_or_is_not_above_its_roof_is_not_warned_of(path: Path, ceiling: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path, GOOD + f'memories.L2 = {{}}\nceilings = [{{ name = "x", {ceiling} }}]\n')
