"""Verdicts: the golden file, which the page is held to as well, and what the model gives to the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import roofwidget as rw
from roofwidget.analysis.compare_runs import compare_runs
from roofwidget.analysis.verdict import Fusion, facts_of, verdict_of

GOLDEN: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "verdicts.json").read_text(encoding="utf-8")
)


def kernels_of(rows: list[dict[str, Any]]) -> rw.Kernels:
    columns = {name: [row[name] for row in rows] for name in ("name", "flops", "bytes", "time", "category", "count")}
    names, flops, moved = (columns.pop(name) for name in ("name", "flops", "bytes"))
    return rw.Kernels(names, flops, moved, **columns)


def chip_of(case: dict[str, Any]) -> rw.Chip | None:
    if case["chip"] is None:
        return None
    told = case["chip"]
    chip = rw.Chip(
        told["name"],
        {"bf16": told["peak_flops"]},
        {"HBM": told["bandwidth"]},
        id=told["id"],
        vendor=told["vendor"],
        kind=told["kind"],
    )
    rates = case["what_if"] or {}
    return chip.with_rates({}, {"HBM": rates["bandwidth"]} if rates else {})


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: str(case["case"]))
def test_each_rule_and_each_of_its_limits_gives_the_sentences_of_the_exact_fractions(case: dict[str, Any]) -> None:
    kernels, chip, earlier = kernels_of(case["kernels"]), chip_of(case), case["earlier"]
    facts = facts_of(
        kernels,
        None if chip is None else rw.bound(kernels, chip),
        runs=None if earlier is None else compare_runs(kernels_of(earlier["kernels"]), kernels),
        fusion=None if case["fusion"] is None else Fusion(**case["fusion"]),
        what_if=case["what_if"] is not None,
    )
    found = verdict_of(facts)
    assert (found.rule, found.headline, found.detail, found.is_alert) == (
        case["rule"],
        case["headline"],
        case["detail"],
        case["is_alert"],
    )


def test_every_rule_has_a_case() -> None:
    from roofwidget.analysis import verdict  # noqa: PLC0415 - only this test looks at the list of rules

    assert {rule.name for rule in verdict._RULES} == {case["rule"] for case in GOLDEN} - {"nothing"}
