"""The document of `roofwidget check` as a text for a terminal, and as Markdown for the summary of a CI run."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

from roofwidget.support.precisions import operation
from roofwidget.support.text_tables import (
    aligned,
    and_more,
    counted,
    first_few,
    markdown_code,
    markdown_table,
    markdown_text,
    one_line,
)
from roofwidget.units import format_change, format_factor, format_percent, format_quantity
from roofwidget.workloads.speed_of_light import MEANINGS

MAX_EXTRA_DIGITS: Final = 9
"""How many digits more than usual a share may have, so that it does not look like a limit."""
_MAX_SUGGESTIONS: Final = 3
_MAX_NOTES: Final = 6
_MAX_NAMED_KERNELS: Final = 3
_MAX_FILES: Final = 16
_MAX_UNKNOWN: Final = 3
_MIN_UNKNOWN_SHARE: Final = 0.01
_MIN_NAME_LETTERS: Final = 16
_MAX_NAME_LETTERS: Final = 48
_HEADER: Final = ("#", "kernel", "time", "of time", "of roof", "to gain", "bound by")
_RUNS_HEADER: Final = ("kernel", "before", "after", "change", "verdict", "bound by")
_CHIPS_HEADER: Final = ("chip", "precision", "time", "faster")
_RANKS_HEADER: Final = ("rank", "time", "longer than median", "waits", "sends", "hidden")
_FILES_HEADER: Final = ("file", "rank", "format", "rows", "time")
_MODEL_HEADER: Final = ("", "time", "bytes", "the profile takes", "meaning")


def text(document: dict[str, Any], width: int, *, all_notes: bool = False) -> str:
    """Return the document as lines of at most `width` letters, except rules and rows of tables with long numbers."""
    lines: list[str] = []
    for line in _summary(document):
        lines += textwrap.wrap(line, width)
    for about, rule in unknown_lines(document["unknown_work"]):
        lines += [*textwrap.wrap(about, width, subsequent_indent="  "), *([f"  {rule}"] if rule else [])]
    for line in ["", *_title(document), ""]:
        lines += textwrap.wrap(line, width) or [""]
    others = max(len(line) for line in aligned([_HEADER, *_kernel_rows(document, 1)])) - 1
    letters = min(_MAX_NAME_LETTERS, max(_MIN_NAME_LETTERS, width - others))
    lines += aligned([_HEADER, *_kernel_rows(document, letters)], right=(0, 2, 3, 4, 5))
    lines += and_more(document["not_listed"], 0)
    lines.append("")
    for line, indent in _what_to_do(document):
        lines += textwrap.wrap(line, width, initial_indent=indent, subsequent_indent=f"{indent}  ")
    for heading, header, rows, remarks in _other_tables(document, letters):
        lines += ["", *textwrap.wrap(heading, width), *aligned([header, *rows])]
        for remark in remarks:
            lines += textwrap.wrap(remark, width)
    if document["notes"]:
        lines.append("")
        for note in document["notes"] if all_notes else _first_of(document["notes"]):
            lines += textwrap.wrap(f"note: {note}", width, subsequent_indent="  ")
    for line in _verdict(document):
        lines += ["", *textwrap.wrap(line, width)]
    return "\n".join(lines)


def markdown(document: dict[str, Any]) -> str:
    """Return the document as Markdown. Names of kernels are code, so that they are no markup."""
    mark = {"fine": "✅", "below": "❌"}[document["verdict"]]
    lines = [f"### {mark} Roofline of {markdown_code(document['file'])}", ""]
    headline, *detail = map(markdown_text, _summary(document))
    lines += [" ".join([f"**{headline}**", *detail]), ""]
    for about, rule in unknown_lines(document["unknown_work"]):
        lines.append(f"- {markdown_text(about)}" + (f" {markdown_code(rule)}" if rule else ""))
    lines.append("")
    lines += [markdown_text(line) for line in (*_title(document)[1:], *_verdict(document))]
    lines += ["", *markdown_table(_HEADER, _kernel_rows(document, _MAX_NAME_LETTERS), code=1)]
    lines += and_more(document["not_listed"], 0)
    lines.append("")
    lines += [f"{indent}- {markdown_text(line)}" for line, indent in _what_to_do(document)]
    for heading, header, rows, remarks in _other_tables(document, _MAX_NAME_LETTERS):
        lines += ["", f"#### {markdown_text(heading)}", "", *markdown_table(header, rows, code=0), ""]
        lines += [f"- {markdown_text(remark)}" for remark in remarks]
    if document["notes"]:
        lines += ["", "<details><summary>Notes</summary>", ""]
        lines += [f"- {markdown_text(note)}" for note in document["notes"]] + ["", "</details>"]
    return "\n".join(lines) + "\n\n"


def limit_text(share: float) -> str:
    """Return a limit in percent with all of its digits."""
    return format_percent(share, MAX_EXTRA_DIGITS)


def unknown_lines(unknown: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return what the rows of unknown work with most time lack, each with its proposed rule."""
    rows = [row for row in unknown["rows"] if row["share"] >= _MIN_UNKNOWN_SHARE][:_MAX_UNKNOWN]
    found = [(f"Unknown: {one_line(row['name'])}, {_lacks(row)}", row["rule"]) for row in rows]
    more = len(unknown["rows"]) - len(rows) + unknown["not_listed"]
    return [*found, (f"Unknown: {more:,} more; 'roofwidget check --json' lists them", None)] if rows and more else found


def _first_of(notes: Sequence[str]) -> list[str]:
    """Return the first notes, and a line that counts the others and says how to see them."""
    more = [f"{line}; --all-notes prints them" for line in and_more(len(notes), _MAX_NOTES)]
    return [*notes[:_MAX_NOTES], *more]


def _lacks(row: dict[str, Any]) -> str:
    return f"{format_percent(row['share'])} of kernel time; missing: {row['missing']}"


def _summary(document: dict[str, Any]) -> list[str]:
    summary = document["summary"]
    return [line for line in (summary["headline"], summary["detail"]) if line]


def _title(document: dict[str, Any]) -> list[str]:
    chip, program = document["chip"], document["program"]
    unit = operation(chip["precision"])
    rates = f"{format_quantity(chip['peak_flops'], f'{unit}/s', 4)}, {format_quantity(chip['bandwidth'], 'B/s', 4)}"
    share = program["judged_time_s"] / program["time_s"] if program["time_s"] else math.nan
    kernels = counted(program["judged_kernels"], "kernel")
    judged = f"{kernels} with a known roof, {format_percent(share)} of {format_quantity(program['time_s'], 's')}"
    reached = f"together {format_percent(program['utilization'])} of the roof"
    read = one_line(document["read"])
    return [
        document["file"] + (f", from which '{read}' was read" if read and read not in document["file"] else ""),
        f"On {chip['name']} ({chip['precision']}, {chip['memory']}; {rates}).",
        f"{judged}: {reached}, at most {format_quantity(program['headroom_s'], 's')} to gain.",
    ]


def _kernel_rows(document: dict[str, Any], letters: int) -> list[list[str]]:
    return [
        [
            str(at),
            one_line(kernel["short_name"], letters) + _launches(kernel["launches"]),
            _seconds(kernel["time_s"], "not measured"),
            _percent(kernel["time_share"]),
            _percent(kernel["utilization"]),
            "" if kernel["above_roof"] else _seconds(kernel["headroom_s"]),
            _situation(kernel),
        ]
        for at, kernel in enumerate(document["kernels"], 1)
    ]


def _launches(count: int) -> str:
    return "" if count == 1 else f" ×{count:,}"


def _situation(kernel: dict[str, Any]) -> str:
    if kernel["above_roof"]:
        return "above its roof"
    if kernel["bound_by"] == "unknown":
        return str(kernel["situation"]).partition(",")[0]
    return str(kernel["bound_by"]) + (", done" if kernel["done"] else "")


def _suggestions(document: dict[str, Any]) -> dict[str, str]:
    """Return what to try for the first kernels that can gain time, by their numbers in the table."""
    found = [(at, one) for at, one in enumerate(document["kernels"], 1) if one["headroom_s"] and not one["above_roof"]]
    by_advice: dict[str, list[str]] = {}
    for at, kernel in found[:_MAX_SUGGESTIONS]:
        by_advice.setdefault(kernel["suggestion"], []).append(str(at))
    return {", ".join(numbers): advice for advice, numbers in by_advice.items()}


def _what_to_do(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the plan, or else what to try for the first kernels, each with its indent."""
    if document["plan"]:
        yield from _plan_lines(document["plan"], told=document["notes"])
        return
    for numbers, advice in _suggestions(document).items():
        yield f"{numbers}: {advice}", ""


def _plan_lines(plan: dict[str, Any], *, told: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the steps, and the notes of the plan without those that the document has, each with its indent."""
    for number, step in enumerate(plan["steps"], 1):
        names = first_few([one_line(name) for name in step["kernels"]], _MAX_NAMED_KERNELS)
        share = "" if step["gain_share"] is None else f", {format_percent(step['gain_share'])} of the time"
        gain = "gain unknown" if step["gain_s"] is None else f"at most {_seconds(step['gain_s'])}{share}"
        yield f"Step {number}, {gain}: {f'{names}: ' if names else ''}{step['situation']}", ""
        yield f"Try: {step['action']}", "  "
        for fact in step["evidence"]:
            yield (
                f"{'Estimate' if fact['is_estimate'] else 'Evidence'}: {fact['text']} [{one_line(fact['source'])}]",
                "  ",
            )
        yield f"Check: {step['check']}", "  "
    for more in and_more(plan["not_listed"], 0):
        yield more, ""
    for note in plan["notes"]:
        if note not in told:
            yield note, ""


def _other_tables(
    document: dict[str, Any], letters: int
) -> Iterator[tuple[str, Sequence[str], list[list[str]], list[str]]]:
    """Yield the heading, the header, the rows and the remarks of the tables after the table of kernels."""
    if document["ranks"]:
        yield _ranks_table(document["ranks"])
    if document["files"] and not (document["ranks"] and all(file["rank"] for file in document["files"])):
        yield _files_table(document["files"])
    runs = document["baseline"]
    if runs is not None:
        before, after = runs["time_before_s"], runs["time_after_s"]
        heading = (
            f"Against {runs['file']}: {counted(runs['kernels_in_both'], 'kernel')} in both; "
            f"{format_quantity(before, 's')} to {format_quantity(after, 's')} ({format_change(before, after)})"
        )
        remarks = [
            f"only {which}: {first_few(names, _MAX_NAMED_KERNELS)}"
            for which, names in (("before", runs["only_before"]), ("after", runs["only_after"]))
            if names
        ]
        yield heading, _RUNS_HEADER, [_run_row(kernel, letters) for kernel in runs["kernels"]], remarks
    if document["other_chips"]:
        heading = "On other chips, if each kernel keeps its share of the roof"
        own = document["chip"]
        here = [own["name"], own["precision"], _seconds(document["program"]["time_s"]), "1×"]
        ranked = sorted(document["other_chips"], key=lambda chip: float(chip["time_s"]))
        rows = [
            [
                chip["name"],
                chip["precision"],
                _seconds(chip["time_s"]),
                "unknown" if chip["speedup"] is None else f"{format_factor(chip['speedup'])}×",
            ]
            for chip in ranked
        ]
        remarks = list(dict.fromkeys(note for chip in ranked for note in chip["notes"]))
        yield heading, _CHIPS_HEADER, [here, *rows], remarks
    if document["model"]:
        yield _model_table(document, document["model"])


def _ranks_table(ranks: dict[str, Any]) -> tuple[str, Sequence[str], list[list[str]], list[str]]:
    late = "no rank clearly comes last" if ranks["late_rank"] is None else f"{ranks['late_rank']} comes last"
    rows = [
        [
            one_line(rank["rank"]),
            _seconds(rank["time_s"]),
            _seconds(rank["excess_s"]),
            _seconds(rank["waiting_s"]),
            _bytes(rank["sent_bytes"]),
            _percent(rank["hidden_share"]),
        ]
        for rank in ranks["by_rank"][:_MAX_FILES]
    ]
    remarks = [*and_more(len(ranks["by_rank"]), _MAX_FILES), *ranks["findings"]]
    return f"{counted(len(ranks['by_rank']), 'rank')} of one program: {late}", _RANKS_HEADER, rows, remarks


def _files_table(files: Sequence[dict[str, Any]]) -> tuple[str, Sequence[str], list[list[str]], list[str]]:
    read = [file for file in files if file["error"] is None]
    rows = [
        [
            file["file"],
            file["rank"] or "",
            f"not read: {file['error']}" if file["error"] else file["format"],
            "" if file["error"] else f"{file['kernels']:,}",
            "" if file["error"] else _seconds(file["time_s"]),
        ]
        for file in files[:_MAX_FILES]
    ]
    heading = f"{counted(len(read), 'profile')} of {counted(len(files), 'file')}"
    return heading, _FILES_HEADER, rows, list(and_more(len(files), _MAX_FILES))


def _model_table(
    document: dict[str, Any], model: dict[str, Any]
) -> tuple[str, Sequence[str], list[list[str]], list[str]]:
    measured = document["program"]["time_s"]
    heading = f"The ops of {model['file']} ({one_line(model['graph'])}), each once, on {document['chip']['name']}"
    rows = [
        [
            word,
            format_quantity(model[word]["time_s"], "s"),
            format_quantity(model[word]["bytes"], "B"),
            f"{format_factor(measured / model[word]['time_s'])}×" if model[word]["time_s"] else "",
            meaning + (f", {model['how']}" if word == "best" else ""),
        ]
        for word, meaning in MEANINGS.items()
    ]
    return heading, _MODEL_HEADER, rows, ["A profile of several steps takes that much longer; divide by their number."]


def _run_row(kernel: dict[str, Any], letters: int) -> list[str]:
    each = " a launch" if kernel["per_launch"] else ""
    change = "unknown" if kernel["ratio"] is None else format_change(1.0, kernel["ratio"])
    return [
        one_line(kernel["short_name"], letters),
        _seconds(kernel["before_s"]),
        _seconds(kernel["after_s"]),
        change + each,
        kernel["verdict"],
        " → ".join(dict.fromkeys((kernel["bound_by_before"], kernel["bound_by_after"]))),
    ]


def _verdict(document: dict[str, Any]) -> list[str]:
    limits = document["limits"]
    if document["reasons"]:
        return [f"Below: {reason}." for reason in document["reasons"]]
    held = []
    if limits["fail_below"] is not None:
        who = "each kernel reaches" if limits["each"] else "the kernels together reach"
        held.append(f"{who} at least {limit_text(limits['fail_below'])} of the roof")
    if limits["min_known"] is not None:
        held.append(f"the roof is known for at least {limit_text(limits['min_known'])} of kernel time")
    if limits["fail_slower"] is not None:
        held.append(f"no kernel is slower than before by more than {limit_text(limits['fail_slower'])}")
    return [f"Fine: {', and '.join(held)}."] if held else []


def _seconds(seconds: float | None, unknown: str = "unknown") -> str:
    return unknown if seconds is None else format_quantity(seconds, "s")


def _bytes(amount: float | None) -> str:
    return "unknown" if amount is None else format_quantity(amount, "B")


def _percent(share: float | None) -> str:
    return "" if share is None else format_percent(share)
