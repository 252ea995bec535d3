"""What `roofwidget sol` finds, as a document of the schema in `sol.schema.json`, and as a text for a terminal."""

from __future__ import annotations

import textwrap
from importlib.metadata import version
from typing import Any, Final

from roofwidget.cli.check_text import limit_text
from roofwidget.support.text_tables import one_line
from roofwidget.units import format_percent
from roofwidget.workloads.speed_of_light import MEANINGS, SpeedOfLight

FORMAT: Final = "roofwidget-sol"
VERSION: Final = 1


def report(
    found: SpeedOfLight,
    *,
    file: str,
    measured: str | None,
    baseline: str | None,
    fail_below: float | None,
) -> dict[str, Any]:
    """Return the document: numbers in SI base units, None where unknown."""
    judged = None if measured is None else _measured(found, measured, baseline)
    reasons = [] if judged is None else _reasons(judged, fail_below)
    is_impossible = judged is not None and judged["verdict"] == "impossible"
    chip = found.chip
    return {
        "format": FORMAT,
        "version": VERSION,
        "roofwidget": version("roofwidget"),
        "file": file,
        "graph": found.graph.name,
        "chip": {"id": chip.id, "name": chip.name, "precision": found.precision, "bandwidth": chip.bandwidth()},
        "verdict": "impossible" if is_impossible else "below" if reasons else "fine",
        "exit_status": 1 if reasons else 0,
        "reasons": reasons,
        "limits": {"fail_below": fail_below},
        "flops": found.flops,
        "convention": found.graph.convention.described,
        "warm": found.warm,
        **four_times(found),
        "bound_by": found.bound_by,
        "parts_s": dict(found.parts),
        "warm_light_s": found.warm_light,
        "how": found.how,
        "kernels": [
            {
                "ops": list(kernel.ops),
                "time_s": kernel.time,
                "bytes": kernel.form.bytes,
                "flops": kernel.form.flops,
                "form": str(kernel.form),
            }
            for kernel in found.kernels
        ],
        "derivation": list(found.derivation),
        "measured": judged,
        "notes": list(found.notes),
    }


def four_times(found: SpeedOfLight) -> dict[str, Any]:
    """Return the time and the bytes of each of the four ways to run a graph."""
    return {word: {"time_s": getattr(found, word), "bytes": getattr(found, f"{word}_bytes")} for word in MEANINGS}


def _measured(found: SpeedOfLight, measured: str, baseline: str | None) -> dict[str, Any]:
    score, verdict = found.score(measured, baseline), found.verdict(measured)
    return {
        "time_s": score.measured,
        "fraction": score.fraction,
        "score": score.value,
        "baseline_s": score.baseline,
        "is_modelled": score.is_modelled,
        "described": str(score),
        "verdict": verdict.word,
        "sentence": verdict.sentence,
        "checks": list(verdict.checks),
    }


def _reasons(judged: dict[str, Any], limit: float | None) -> list[str]:
    if judged["verdict"] == "impossible":
        return ["the measured time is below the speed of light"]
    if limit is not None and judged["fraction"] < limit:
        reached = format_percent(judged["fraction"], 2)
        return [
            f"the measured time reaches {reached} of the speed of light, and at least {limit_text(limit)} are asked for"
        ]
    return []


def text(found: SpeedOfLight, document: dict[str, Any], width: int) -> str:
    """Return the document as lines of at most `width` letters, except rows of the table."""
    lines = [one_line(document["file"], width), *repr(found).splitlines(), ""]
    for line in document["derivation"]:
        lines += textwrap.wrap(line, width, subsequent_indent="  ")
    judged = document["measured"]
    if judged is not None:
        lines += ["", *textwrap.wrap(judged["sentence"], width)]
        for check in judged["checks"]:
            lines += textwrap.wrap(f"- {check}", width, subsequent_indent="  ")
        lines += textwrap.wrap(judged["described"], width)
    for reason in document["reasons"]:
        lines += ["", *textwrap.wrap(f"{document['verdict'].capitalize()}: {reason}.", width)]
    return "\n".join(lines)
