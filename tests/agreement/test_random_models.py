"""Every number that the page shows is the one that Python gives: random models, seen by both.

Run again what failed with ``ROOFWIDGET_SEED=… pytest tests/agreement``; the message names the seed and the case.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

import roofwidget as rw
from tests.agreement import draw, page
from tests.agreement.reference import Said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEED: Final = os.environ.get("ROOFWIDGET_SEED", "") or str(random.SystemRandom().randrange(10**9))
CASES: Final = int(os.environ.get("ROOFWIDGET_CASES", "") or 400)
# Two processes run the tests of a run.
PARTS: Final = 2
_MAX_SHOWN: Final = 12
# Sums of the two languages differ by rounding only.
_ROUNDING: Final = 1e-12
# Columns of a file that are none of the table.
_OF_FILES: Final = ("chip", "measured on", "intensity", "rate")
Difference = tuple[str, Any, Any]


def said(model: rw.RooflineModel) -> dict[str, Any]:
    """Return what Python says of a model, in the form in which the page's answer comes."""
    here = Said(model)
    return {
        "focus": None if here.focus is None else here.focus.chip.id,
        "roofs": {chip: here.roof(bound) for chip, bound in here.bounds.items()},
        "judged": {chip: here.judged(bound) for chip, bound in here.bounds.items()},
        "filtered": model.filtered_rows.tolist(),
        "counted": here.counted(),
        "categories": here.categories(),
        "bounds": here.bound_by(),
        "ranking": here.ranking(),
        "moved": here.moved(),
        "projected": here.projected(),
        "ceilings": here.ceilings(),
        "levels": here.levels_drawn(),
        "unknown": here.unknown_levels(),
        **here.graph(),
    }


def differences(told: Any, found: Any, where: str = "") -> Iterator[Difference]:
    """Yield each place where two nested values differ."""
    if isinstance(told, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*told, *found)):
            yield from differences(told.get(key, "nothing"), found.get(key, "nothing"), f"{where}.{key}")
    elif isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        for index, (one, other) in enumerate(zip(told, found, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")
    elif not (told == found or _are_close(told, found)):
        yield where, told, found


def _are_close(told: Any, found: Any) -> bool:
    """Return whether two numbers differ by rounding only. NaN and infinity come as texts, and NaN in a file as none."""
    if not isinstance(told, (int, float)):
        return False
    try:
        one, other = float(told), float("nan" if found == "" else found)
    except (TypeError, ValueError):
        return False
    return math.isclose(one, other, rel_tol=_ROUNDING) or (math.isnan(one) and math.isnan(other))


def of_file(model: rw.RooflineModel, text: str) -> Iterator[Difference]:
    """Yield each value of a saved file with all columns that Python does not give."""
    here = Said(model)
    reader = csv.DictReader(io.StringIO(text))
    rows, told = list(reader), here.columns()
    if any(key.startswith("flops:") for key in told):
        # The file has what is of no precision in place of the sum.
        plain = model.shown_kernels.flops_by_precision.get("")
        told = {key: values for key, values in told.items() if key != "flops"}
        told |= {} if plain is None else {"flops": list(plain)}
    found = {key: [row[key] for row in rows] for key in reader.fieldnames or () if key not in _OF_FILES}
    told = {key: ["" if value is None else value for value in values] for key, values in told.items()}
    yield from (one for one in differences(told, found, "csv") if not _are_cancelled(here, one[0]))


def _are_cancelled(here: Said, where: str) -> bool:
    """Return whether a difference of two times is nothing but their rounding."""
    if not where.startswith("csv.headroom[") or here.judging is None:
        return False
    return bool(abs(here.judging.utilization[int(where.split("[")[1].rstrip("]"))] - 1) < _ROUNDING)


def of_snapshot(model: rw.RooflineModel, found: Any) -> Iterator[Difference]:
    """Yield what a snapshot that Python takes keeps differently."""
    here = Said(model)
    if here.focus is None:
        if found is not None:
            yield "snapshot", None, found
        return
    kept = model.freeze()
    told = {
        "chip": kept.chip,
        "precision": kept.precision,
        "memory": kept.memory,
        "peak": kept.peak_flops,
        "bandwidth": kept.bandwidth,
        "kernels": [[name, None if math.isinf(ai) else ai, rate] for name, ai, rate in kept.kernels],
    }
    yield from differences(told, {key: (found or {}).get(key) for key in told}, "snapshot")


def all_differences(model: rw.RooflineModel, found: dict[str, Any]) -> list[Difference]:
    told = json.loads(json.dumps(said(model), default=lambda scalar: scalar.item()))
    left = {key: found[key] for key in told if key in found}
    for chip, rows in told["judged"].items():
        # A page knows more of a kernel.
        for row, other in zip(rows, left["judged"].get(chip, ()), strict=False):
            for key in other.keys() - row.keys():
                del other[key]
    return [*differences(told, left), *of_file(model, found["csv"]), *of_snapshot(model, found["snapshot"])]


@pytest.mark.parametrize("part", range(PARTS))
def test_every_number_of_the_page_is_the_one_that_python_gives(part: int, tmp_path: Path) -> None:
    cases = range(part, CASES, PARTS)
    # pytest shows what a failed test wrote.
    sys.stdout.write(f"ROOFWIDGET_SEED={SEED}, {len(cases)} cases\n")
    models = [draw.model(random.Random(f"{SEED}/{case}"), rw.RooflineModel) for case in cases]  # noqa: S311 - no secret
    answers = page.shown(page.program(tmp_path), map(page.line_of, models), tmp_path)
    found = []
    for case, model, answer in zip(cases, models, answers, strict=True):
        found += [(f"case {case}{where}", one, other) for where, one, other in all_differences(model, answer)]
    shown = "\n".join(f"{where}:\n  Python   {one!r}\n  the page {other!r}" for where, one, other in found[:_MAX_SHOWN])
    assert not found, f"ROOFWIDGET_SEED={SEED}: {len(found)} differences, such as\n{shown}"
