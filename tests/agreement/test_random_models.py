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
import re
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
CASES: Final = int(os.environ.get("ROOFWIDGET_CASES", "") or 2000)
# Two processes run the tests of a run.
PARTS: Final = 2
_MAX_SHOWN: Final = 12
# Sums of the two languages differ by rounding only.
_ROUNDING: Final = 1e-12
Difference = tuple[str, Any, Any]


def said(model: rw.RooflineModel) -> dict[str, Any]:
    """Return what Python says of a model, in the form in which the page's answer comes."""
    here = Said(model)
    ranking, gained = here.ranking()
    return {
        "focus": None if here.focus is None else here.focus.chip.id,
        "roofs": {chip: here.roof_sentence(bound) for chip, bound in here.bounds.items()},
        "cells": here.cells(),
        "usual": here.usual(),
        "tooltips": {chip: [here.tooltip(bound, row) for row in range(here.n)] for chip, bound in here.bounds.items()},
        "sentences": {
            chip: [here.sentence(bound, row) for row in range(here.n)] for chip, bound in here.bounds.items()
        },
        "gaps": [] if here.focus is None else [here.gap(row) for row in range(here.n)],
        "filtered": model.filtered_rows.tolist(),
        "counted": here.counted(),
        "categories": here.categories(),
        "bounds": here.bound_by(),
        "ranking": ranking,
        "gained": gained,
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
    elif told != found:
        yield where, told, found


def of_file(model: rw.RooflineModel, text: str) -> Iterator[Difference]:
    """Yield each number of a saved file that Python does not give."""
    here = Said(model)
    columns = here.columns()
    rows = list(csv.DictReader(io.StringIO(text)))
    if len(rows) != here.n:
        yield "csv", here.n, len(rows)
        return
    for key, (kind, values) in columns.items():
        if kind == "text" or not rows or key not in rows[0] or (key == "flops" and "flops:" in "".join(rows[0])):
            continue
        for row, value in enumerate(values):
            written = float(rows[row][key] or "nan")
            is_same = math.isclose(written, value, rel_tol=_ROUNDING) or (math.isnan(written) and math.isnan(value))
            if not is_same and not _are_cancelled(here, key, row):
                yield f"csv.{key}[{row}]", value, written


def _are_cancelled(here: Said, key: str, row: int) -> bool:
    """Return whether a difference of two times is nothing but their rounding."""
    return key == "headroom" and here.judging is not None and abs(here.judging.utilization[row] - 1) < _ROUNDING


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
        "kernels": [
            [name, None if math.isinf(ai) else f"{ai:.12g}", f"{rate:.12g}"] for name, ai, rate in kept.kernels
        ],
    }
    places = [
        [name, None if ai is None else f"{ai:.12g}", f"{rate:.12g}"]
        for name, ai, rate in (found or {}).get("kernels", ())
    ]
    here_kept = {key: (found or {}).get(key) for key in told} | {"kernels": places}
    # A whole number of more than 2^53 comes back as an int, which is not the double that was meant.
    here_kept |= {key: float(here_kept[key] or 0) for key in ("peak", "bandwidth")}
    yield from differences(told, here_kept, "snapshot")


_NUMBER: Final = re.compile(
    r"(?:unknown\b|∞|(?<![\w.])[\d.]*\d(?![\w.]*[A-Za-z_]\w*\())"
    r"(?: ?(?:%|[kMGTPEZYmµnp]?(?:FLOP/s|FLOP/B|FLOP|OP/s|OP/B|OP|B/s|B|s)(?![\w/])))?"
)


def numbers_in(shown: Any) -> Any:
    """Return the numbers of each text, with their units: other tests hold the words."""
    if isinstance(shown, str):
        return _NUMBER.findall(shown)
    if isinstance(shown, dict):
        return {key: numbers_in(part) for key, part in shown.items()}
    return [numbers_in(part) for part in shown]


def _numbers_of_tooltips(tooltips: dict[str, list[list[list[str]]]]) -> Any:
    """Return the numbers of each tooltip by the label of their row."""
    return {
        chip: [{label: numbers for label, text in rows if (numbers := numbers_in(text))} for rows in of_chip]
        for chip, of_chip in tooltips.items()
    }


def all_differences(model: rw.RooflineModel, found: dict[str, Any]) -> list[Difference]:
    told = json.loads(json.dumps(said(model)))
    saved, snapshot = found.pop("csv"), found.pop("snapshot")
    left = {key: found[key] for key in told if key in found}
    left["moved"] = [parts[:4] for parts in left["moved"]]
    for side in (told, left):
        side |= {key: numbers_in(side[key]) for key in ("roofs", "sentences", "gaps", "counted")}
        side["tooltips"] = _numbers_of_tooltips(side["tooltips"])
    return [*differences(told, left), *of_file(model, saved), *of_snapshot(model, snapshot)]


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
