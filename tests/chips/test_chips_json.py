"""The catalogue as JSON: it follows its schema, and has what the catalogue has."""

from __future__ import annotations

import copy
import json
import runpy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import roofwidget as rw
from roofwidget.chips import Chip, chips
from tests.places import ROOT, json_of

SCHEMA = json_of(ROOT / "roofwidget/chips/chips.schema.json")
CATALOGUE: dict[str, Any] = json.loads(rw.chips_json())


def errors(catalogue: object) -> list[str]:
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(catalogue)]


def test_the_file_is_up_to_date() -> None:
    maker = runpy.run_path(str(ROOT / "docs/make_chips.py"))
    assert maker["as_json"]() == rw.chips_json(), "run: python docs/make_chips.py"


def test_the_catalogue_follows_its_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert errors(CATALOGUE) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda one: one["chips"][0].update(tdp=700), "'tdp' was unexpected"),
        (lambda one: one["chips"][0]["peak_flops"]["bf16"].pop("source"), "'source' is a required property"),
        (lambda one: one["chips"][0]["peak_flops"]["bf16"].update(value="46 TFLOP/s"), "is not of type 'number'"),
        (lambda one: one["chips"][0].pop("main_memory"), "'main_memory' is a required property"),
        (lambda one: one.update(schema_version=2), "1 was expected"),
    ],
)
def test_the_schema_refuses_what_it_does_not_describe(change: Any, problem: str) -> None:
    changed = copy.deepcopy(CATALOGUE)
    change(changed)
    (found,) = errors(changed)
    assert problem in found


def test_every_chip_of_the_catalogue_can_be_made_of_its_record() -> None:
    assert [one["id"] for one in CATALOGUE["chips"]] == [one.id for one in chips()]
    for record, one in zip(CATALOGUE["chips"], chips(), strict=True):
        assert record["main_memory"] == one.main_memory
        own = {key: value for key, value in record.items() if key not in {"main_memory", "shared_names"}}
        assert Chip.from_dict({**own, "sources": CATALOGUE["sources"]}) == one


def test_every_source_that_a_figure_names_is_there() -> None:
    def named(value: Any) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(named, value))
        if not isinstance(value, dict):
            return set()
        return set().union(*map(named, value.values())) | ({value["source"]} if "source" in value else set())

    assert named(CATALOGUE["chips"]) <= set(CATALOGUE["sources"])


def test_names_that_chips_share_are_apart_from_names_of_one_chip() -> None:
    by_id = {one["id"]: one for one in CATALOGUE["chips"]}
    assert "gfx942" in by_id["mi300x"]["shared_names"]
    assert "gfx942" not in by_id["mi300x"]["aliases"]
    assert {"1002:74a1", "1002:74b5", "AMD Instinct MI300X VF"} <= set(by_id["mi300x"]["aliases"])
