"""The page of an item analysis: a chart, a table and the wrong answers. It needs no script and no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from roofwidget.support import html_document
from roofwidget.support.languages import ENGLISH
from roofwidget.support.text_tables import counted, escaped, one_line

if TYPE_CHECKING:
    from roofwidget.teaching.item_analysis import ItemAnalysis, ItemStatistics, WrongAnswer

_STYLE: Final = """\
:root { color-scheme: light dark; --line: #8c959f; --ink: #1b1f24; --mark: #0969da; --flag: #bc4c00; --back: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #7d8590; --ink: #e8eaed; --mark: #58a6ff; --flag: #f0883e; --back: #111111; }
}
body { max-width: 1000px; margin: 0 auto; padding: 16px; font: 15px/1.5 system-ui, sans-serif; background: var(--back);
  color: var(--ink); }
h1 { font-size: 1.6em; }
h2 { font-size: 1.2em; margin: 1.6em 0 .4em; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; text-align: left; vertical-align: top; border-bottom: 1px solid #8885; }
.number { text-align: right; }
.flag { color: var(--flag); font-weight: 600; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.chart { width: 100%; max-width: 640px; height: auto; }
.axis { stroke: var(--line); }
.limit { stroke: var(--line); stroke-dasharray: 4 4; }
.item { fill: var(--mark); }
.flagged { fill: var(--flag); }
.bar { fill: var(--mark); }
.frame { fill: none; stroke: var(--line); }
section { break-inside: avoid; }
@page { size: A4; margin: 18mm 16mm; }
"""
MIN_STUDENTS: Final = 30
"""With fewer students the standard error of a correlation is above 0.18: no flag is raised."""
# The tolerance of a typed number as |log2|: quartiles within it are those of right answers.
_SLIGHT: Final = math.log2(1.05)
_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 16, 48
_RADIUS: Final = 5
# How far the middle of a number is from its mark, and from other marks and numbers.
_AWAY: Final = 14
_BAR_PX: Final = 120
_COLUMNS: Final = (
    *("", "question", "asked", "answered", "p first", "p final", "p", "r", "D", "attempts (median)", "shown"),
    *("most frequent wrong answer", "flags"),
)
_NUMBERS: Final = range(2, 11)
_NOTE: Final = (
    "p is the mean of the points: 1 is a question that all students answer. r is the correlation of the points with "
    "those for all other questions: below 0.1 a question hardly separates, below 0 better students do worse. D is p "
    "among the best 27 % less p among the worst 27 %. The standard error of r is about 1/√n."
)


_TOO_FEW: Final = (
    f"No question has a flag: among fewer than {MIN_STUDENTS} students chance alone gives correlations as large as "
    "those that flags are about."
)
_PROMPT_LETTERS: Final = 200


def item_page(analysis: ItemAnalysis, title: str) -> str:
    """Return the HTML of the page."""
    reliability = f"{analysis.reliability:.2f}" if math.isfinite(analysis.reliability) else "unknown"
    body = "\n".join(
        (
            "<main>",
            f"<h1>{escaped(title)}</h1>",
            f"<p>{counted(analysis.students, 'student')}, {analysis.reliability_name} {reliability}</p>",
            _chart(analysis.items),
            f"<p>{_NOTE}</p>",
            *([] if analysis.students >= MIN_STUDENTS else [f"<p>{_TOO_FEW}</p>"]),
            _table(_COLUMNS, (_row(at, one) for at, one in enumerate(analysis.items, start=1)), _NUMBERS),
            *(_section(at, one, analysis.students) for at, one in enumerate(analysis.items, start=1)),
            "</main>",
        )
    )
    return html_document.document(body, title=title, language=ENGLISH, style=_STYLE)


def _chart(items: Sequence[ItemStatistics]) -> str:
    """Return difficulty against discrimination as SVG. Questions have the numbers of the table."""
    known = {at: one for at, one in enumerate(items, start=1) if math.isfinite(one.discrimination)}
    places = {at: (_x(one.difficulty), _y(one.discrimination)) for at, one in known.items()}
    labels = _labels(places)
    parts = [*_axes()]
    for at, one in known.items():
        (x, y), (beside, below), size = places[at], labels[at], 2 * _RADIUS
        # A flag has a shape of its own, for those who do not see its colour.
        mark = (
            f'<rect class="flagged" x="{x - _RADIUS:.1f}" y="{y - _RADIUS:.1f}" width="{size}" height="{size}"/>'
            if one.flags
            else f'<circle class="item" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"/>'
        )
        parts.append(
            f"<g><title>{escaped(one.key)}: p {one.difficulty:.2f}, r {one.discrimination:.2f}</title>{mark}"
            f'<text x="{beside:.1f}" y="{below + 4:.1f}" text-anchor="middle">{at}</text></g>'
        )
    numbers = ", ".join(str(at) for at in range(1, len(items) + 1) if at not in known)
    rest = f"<p>Not in the chart, because all students have the same points: {numbers}.</p>" if numbers else ""
    label = "Discrimination r of each question against its difficulty p. The table below has the numbers."
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>\n{rest}<p>Squares have a flag. Dashed: r = 0.1.</p>"
    )


def _labels(marks: Mapping[int, tuple[float, float]]) -> dict[int, tuple[float, float]]:
    """Return the middle of each number: beside, above or below its mark, where it is off all others."""
    taken = list(marks.values())
    found = {}
    for at, (x, y) in marks.items():
        around = [(x + dx, y + dy) for dx, dy in ((_AWAY, 0), (0, -_AWAY), (0, _AWAY), (-_AWAY, 0))]
        others = [one for one in taken if one != (x, y)]
        free = (one for one in around if all(math.dist(one, other) >= _AWAY for other in others))
        found[at] = next(free, around[0])
        taken.append(found[at])
    return found


def _axes() -> Iterator[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    yield f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>'
    for tenths in range(0, 11, 2):
        x = _x(tenths / 10)
        yield f'<path class="axis" d="M{x:.1f} {bottom}v4"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tenths / 10:g}</text>'
    for half in (-1, -0.5, 0, 0.5, 1):
        y = _y(half)
        yield f'<path class="axis" d="M{_LEFT - 4} {y:.1f}h4"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{half:g}</text>'
    yield f'<path class="axis" d="M{_LEFT} {_y(0):.1f}H{right}"/>'
    yield f'<path class="limit" d="M{_LEFT} {_y(0.1):.1f}H{right}"/>'
    yield f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">difficulty p (right: easy)</text>'
    middle = (_TOP + bottom) / 2
    yield f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">discrimination r</text>'


def _x(difficulty: float) -> float:
    return _LEFT + difficulty * (_WIDTH - _LEFT - _RIGHT)


def _y(discrimination: float) -> float:
    return _TOP + (1 - discrimination) / 2 * (_HEIGHT - _TOP - _BOTTOM)


def _row(at: int, one: ItemStatistics) -> list[str]:
    most = one.wrong[0] if one.wrong else None
    rounded = (one.p_first, one.p_final, one.difficulty, one.discrimination, one.upper_lower)
    return [
        str(at),
        escaped(one.key),
        str(one.asked),
        str(one.answered),
        *(f"{value:.2f}" if math.isfinite(value) else "" for value in rounded),
        f"{one.attempts:g}" if math.isfinite(one.attempts) else "",
        f"{one.shown:.0%}",
        ""
        if most is None
        else f"{most.share:.0%}: {escaped(most.answer)}{f'. {escaped(most.text)}' if most.text else ''}",
        f'<span class="flag">{escaped(", ".join(one.flags))}</span>' if one.flags else "",
    ]


def _section(at: int, one: ItemStatistics, students: int) -> str:
    """Return the wrong answers of a question in full, with its prompt as the first student had it."""
    parts = [f"<section><h2>{at}. {escaped(one.key)}</h2>"]
    parts.append(f"<p>{escaped(one_line(one.prompt, _PROMPT_LETTERS))}</p>")
    if one.flags:
        parts.append(f'<p class="flag">{escaped(", ".join(one.flags))}</p>')
    if one.wrong:
        third = counted(max(1, round(students / 3)), "student")
        columns = (
            "wrong first answer",
            "",
            "of all",
            f"top third: {third}",
            f"bottom third: {third}",
            "what it is told",
        )
        parts.append(_table(columns, map(_wrong, one.wrong), range(2, 5)))
    else:
        parts.append("<p>No wrong first answer.</p>")
    low, middle, high = (f"{2**ratio:.3g}" for ratio in one.log2_ratios)
    # If most numbers are right, their quartiles say nothing.
    if math.isfinite(one.log2_ratios[1]) and max(map(abs, one.log2_ratios)) > _SLIGHT:
        parts.append(
            f"<p>The middle half of the numbers is {low} to {high} times the right one; the median is {middle}.</p>"
        )
    if one.unreadable:
        inputs = ", ".join(f"<code>{escaped(text)}</code>" for text in one.unreadable)
        parts.append(f"<p>Could not be read, of {one.unreadable_share:.0%} of the students: {inputs}</p>")
    return "\n".join([*parts, "</section>"])


def _wrong(one: WrongAnswer) -> list[str]:
    bar = (
        f'<svg width="{_BAR_PX}" height="12" aria-hidden="true"><rect class="frame" width="{_BAR_PX}" height="12"/>'
        f'<rect class="bar" width="{one.share * _BAR_PX:.1f}" height="12"/></svg>'
    )
    return [
        escaped(one.answer),
        bar,
        *(f"{share:.0%}" for share in (one.share, one.top, one.bottom)),
        escaped(one.text),
    ]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: range) -> str:
    """Return a table of cells that are HTML. The columns `numbers` are aligned to the right."""

    def line(cells: Sequence[str], tag: str) -> str:
        look = [' class="number"' if at in numbers else "" for at in range(len(cells))]
        return "".join(f"<{tag}{extra}>{cell}</{tag}>" for extra, cell in zip(look, cells, strict=True))

    body = "\n".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    head = f"<thead><tr>{line(columns, 'th')}</tr></thead>"
    return f'<div class="wide"><table>{head}\n<tbody>\n{body}\n</tbody></table></div>'
