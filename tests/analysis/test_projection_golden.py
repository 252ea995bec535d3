"""The arithmetic of projected times, checked against the golden file that the front end uses too."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from tests.places import GOLDEN, golden, text_of

FILE = golden("projection.json")
OPTIONS = ("precision", "memory", "clock", "at_roof")


def _chip(name: str) -> rw.Chip:
    return rw.Chip(name, **FILE["chips"][name])


def _columns(amounts: list[Any], plain: str) -> dict[str, list[float]]:
    parts = [amount if isinstance(amount, dict) else {plain: amount} for amount in amounts]
    keys = dict.fromkeys(key for part in parts for key in part)
    return {key: [_number(part.get(key)) for part in parts] for key in keys}


def _number(amount: float | None) -> float:
    return float("nan") if amount is None else amount


def _kernels(table: list[dict[str, Any]]) -> rw.Kernels:
    return rw.Kernels(
        [kernel["name"] for kernel in table],
        _columns([kernel["flops"] for kernel in table], ""),
        _columns([kernel["bytes"] for kernel in table], "main"),
        time=[_number(kernel["time"]) for kernel in table],
        precision=[kernel["precision"] for kernel in table],
        self_time=[_number(kernel.get("self_time", kernel["time"])) for kernel in table],
    )


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: str(case["name"]))
def test_a_projected_time_is_what_exact_fractions_give(case: dict[str, Any]) -> None:
    asked = {name: case[name] for name in OPTIONS if name in case}
    found = rw.project(
        _kernels(FILE["tables"][case["table"]]), _chip(case["chip"]), source=_chip(case["source"]), **asked
    )
    wanted = case["expected"]
    np.testing.assert_allclose(found.by_kernel, [_number(time) for time in wanted["by_kernel"]], rtol=1e-12)
    for name in ("before", "time", "speedup", "not_scaled", "far", "above"):
        np.testing.assert_allclose(getattr(found, name), _number(wanted[name]), rtol=1e-12, err_msg=name)


def test_the_file_is_what_its_maker_writes_and_imports_nothing_of_the_package() -> None:
    assert len(FILE["cases"]) >= 30
    maker = GOLDEN / "make_projection.py"
    assert text_of(GOLDEN / "projection.json") == runpy.run_path(str(maker))["text"]()
    assert "import roofwidget" not in text_of(maker)
    assert "from roofwidget" not in text_of(maker)
