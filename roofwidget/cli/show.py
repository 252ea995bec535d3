"""`roofwidget show`: a roofline in the terminal, or as a page or a picture."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.chip_frame import chip_frame
from roofwidget.analysis.ranking import launches_added, ranking
from roofwidget.analysis.result import roof_level
from roofwidget.analysis.verdict import facts_of, verdict_of
from roofwidget.chips import Chip
from roofwidget.cli.check_report import unknown_work
from roofwidget.cli.check_text import unknown_lines
from roofwidget.cli.options import add_profile, chip_called, chip_of, profile, say, with_peaks, working
from roofwidget.cli.terminal import MIN_HEIGHT, MIN_WIDTH, Point, Roof, draw
from roofwidget.kernels.table import Kernels
from roofwidget.model import RooflineModel
from roofwidget.support.text_tables import one_line
from roofwidget.units import format_percent, format_quantity

DESCRIPTION: Final = """\
Draw the roofline of a profile in the terminal: the roof, the kernels and their
names. Kernel 1 saves most time at its roof. With --png, --svg or --html, write
a file instead.

  roofwidget show profile.ncu-rep
  roofwidget show trace.json --chip h100-sxm --on b200    a second roof
  roofwidget show profile.csv --only "flash*" --width 120 --height 40
  roofwidget show profile.csv --png roof.png --width 900  for a ticket
  roofwidget show profile.csv --html report.html          a live page
  roofwidget show after.csv --frame chip        the same axes for each profile

There are no colours if the output is no terminal, or if NO_COLOR is set.
"""
_PIPE_SIZE: Final = (80, 24)
# One line stays free for the prompt of the shell.
_PROMPT_LINES: Final = 1
_PICTURES: Final = ("html", "svg", "png")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    add_profile(command)
    command.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="CHIP",
        help="also the roof of this chip; may be given several times",
    )
    command.add_argument("--width", type=int, help="columns of the terminal, or px of a picture")
    command.add_argument("--height", type=int, help="lines of the terminal, or px of a picture")
    for kind, what in zip(_PICTURES, ("a page that is live", "a picture of lines", "a picture of pixels"), strict=True):
        command.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {what}")
    command.add_argument(
        "--frame",
        choices=("points", "chip"),
        default="points",
        help="what sets the range of the axes: the kernels, or the chips alone, so that two profiles compare",
    )
    command.add_argument("--dark", action="store_true", help="pictures for a dark page")
    command.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> int:
    kernels, _ = profile(options.file, options.only, options.work, options.captures, options.phase)
    found = [chip_of(kernels, options.chip, options.file, options.clock), *map(chip_called, options.on)]
    chips = [with_peaks(one, options.peaks) for one in found]
    files = {kind: getattr(options, kind) for kind in _PICTURES if getattr(options, kind) is not None}
    if files:
        for kind, path in files.items():
            if path.suffix.lower() != f".{kind}":
                raise ValueError(f"--{kind}: '{path}' must end in .{kind}")
        _write(files, kernels, chips, options)
        return 0
    columns, lines = shutil.get_terminal_size(_PIPE_SIZE)
    width = columns if options.width is None else options.width
    height = lines - _PROMPT_LINES if options.height is None else options.height
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        raise ValueError(
            f"a roofline needs at least {MIN_WIDTH} columns and {MIN_HEIGHT} lines, and there are {width} and "
            f"{height}: enlarge the terminal, or set --width and --height"
        )
    has_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    print(_drawn(kernels, chips, options, width, height, has_colour=has_colour))
    return 0


def _write(files: dict[str, Path], kernels: Kernels, chips: list[Chip], options: argparse.Namespace) -> None:
    size = {name: getattr(options, name) for name in ("width", "height") if getattr(options, name) is not None}
    with warnings.catch_warnings(record=True) as caught, working("drawing"):
        warnings.simplefilter("always")
        model = RooflineModel(
            chips,
            kernels,
            precision=options.precision,
            memory=options.memory,
            frame=options.frame,
            title=Path(options.file).name,
        )
        drawn: dict[str, Any] = {"theme": "dark" if options.dark else "light", **size}
        made: dict[str, str | bytes] = {}
        if "html" in files:
            made["html"] = model.to_html()
        if "svg" in files:
            made["svg"] = model.to_svg(**drawn)
        if "png" in files:
            made["png"] = model.to_png(**drawn)
    for message in dict.fromkeys(str(one.message) for one in caught):
        say(message)
    for kind, path in files.items():
        content = made[kind]
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        print(path)


def _drawn(
    kernels: Kernels, chips: list[Chip], options: argparse.Namespace, width: int, height: int, *, has_colour: bool
) -> str:
    table = launches_added(kernels)
    bounds = [bound_lenient(table, chip, precision=options.precision, memory=options.memory) for chip in chips]
    first = bounds[0]
    level = roof_level(first)
    roofs = [
        Roof(chip.name, chip.peak(bound.precision), chip.bandwidth(roof_level(bound)), bound.precision)
        for chip, bound in zip(chips, bounds, strict=True)
    ]
    ai = first.ai.get(level, np.full(len(first), np.nan))
    frame = chip_frame([(chip, chip) for chip in chips], options.memory) if options.frame == "chip" else None
    is_measured = ~np.isnan(first.achieved)
    rates = np.where(is_measured, first.achieved, first.attainable)
    outside = [frame is not None and not frame.holds(float(x), float(y)) for x, y in zip(ai, rates, strict=True)]
    points = [
        Point(
            name=table.short_names[row],
            ai=float(ai[row]),
            rate=float(rates[row]),
            kind="above" if first.above_roof[row] else str(first.regime[row]) if is_measured[row] else "unmeasured",
            cells=_cells(first, row),
            absence=_absence(first, row, outside[row]),
            is_outside=outside[row],
            operation=first.operation(row),
        )
        for row in ranking(first)
        if first.non_kernels is None or not first.non_kernels[row]
    ]
    headline = verdict_of(facts_of(table, first)).headline
    above = [one_line(headline, width)] if headline else []
    for about, rule in unknown_lines(unknown_work(kernels, len(kernels))):
        above += textwrap.wrap(about, width, subsequent_indent="  ")
        above += textwrap.wrap(rule or "", width, initial_indent="  ", subsequent_indent="  ")
    above = above[: max(0, height - MIN_HEIGHT)]
    drawn = draw(roofs, points, level, width, height - len(above), has_colour=has_colour, frame=frame)
    return "\n".join([*above, drawn])


def _absence(bound: Any, row: int, is_outside: bool) -> str:  # noqa: FBT001 - of this module
    """Return why a kernel is not on the chart, if it is not."""
    if bound.flops[row] == 0:
        return "no FLOPs" if bound.operation(row) == "FLOP" else "no operations"
    return "off the axes" if is_outside else "no roof"


def _cells(bound: Any, row: int) -> tuple[str, str, str]:
    """Return the texts of a kernel's line: what binds it, its share of the roof, and the time to gain."""
    if np.isnan(bound.utilization[row]):
        return str(bound.bound_by[row]), "", ""
    gain = bound.headroom[row]
    saved = "above its roof" if bound.above_roof[row] else "" if np.isnan(gain) else format_quantity(float(gain), "s")
    return str(bound.bound_by[row]), format_percent(float(bound.utilization[row])), saved
