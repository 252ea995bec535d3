"""`roofwidget check`: how far each kernel is from its roof, for people, for CI and for programs."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any, Final

from roofwidget.cli.check_report import Limits, report
from roofwidget.cli.check_text import markdown, text
from roofwidget.cli.options import add_profile, chip_called, chip_of, profile, share, width, with_peaks
from roofwidget.cli.sol import light_of

DESCRIPTION: Final = """\
Say how far each kernel of a profile is from its roof, what limits it, and what
to try. The kernels that save most time at their roof are first.

  roofwidget check profile.ncu-rep
  roofwidget check trace.json --chip h100-sxm --top 3
  roofwidget check profile.csv --on b200 --on mi300x    where is it faster?
  roofwidget check new.csv --baseline old.csv           what became slower?
  roofwidget check trace.json --model model.py          how fast can it be?
  roofwidget check trace.json --work work.toml          rules of unknown work
  roofwidget check step.json --captures 'capture_*'     operations of graphs
  roofwidget check profile.ncu-rep --plan               what to do, and why
  roofwidget check step.json --phase decode             one phase of a step
  roofwidget check traces/                              the ranks of one job

In CI (docs/ci.md has a workflow):
  roofwidget check profile.csv --fail-below 60%          of all roofs together
  roofwidget check profile.csv --fail-below 60% --each   of each kernel's roof
  roofwidget check trace.json --min-known 80%            work of most is known
  roofwidget check profile.csv --only "flash*" --fail-below 60%
  roofwidget check new.csv --baseline old.csv --fail-slower 5%

Exit status: 0 fine, 1 below a limit that you gave, 2 could not say (one
sentence on stderr). If GITHUB_STEP_SUMMARY names a file, the result is added
to it as Markdown.
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    add_profile(command)
    command.add_argument("--top", type=_whole, default=10, metavar="N", help="how many kernels to list; by default 10")
    command.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="CHIP",
        help="also the time on this chip; may be given several times",
    )
    command.add_argument("--baseline", metavar="OLD", help="an earlier profile of the same program, to compare with")
    command.add_argument(
        "--model",
        metavar="FILE.py[:NAME]",
        help="the model that the profile ran: four times for its ops, as 'roofwidget sol' finds them",
    )
    command.add_argument(
        "--plan",
        action="store_true",
        help="what to do, by what it gains at most, each with evidence and a check that would disprove it",
    )
    command.add_argument("--all-notes", action="store_true", help="print all notes, not the first 6")
    command.add_argument("--json", action="store_true", help="JSON of the schema in check.schema.json; see docs/ci.md")
    command.add_argument(
        "--fail-below",
        type=share,
        metavar="SHARE",
        help="exit with 1 if less of the roof is reached, such as 60%% or 0.6",
    )
    command.add_argument("--each", action="store_true", help="--fail-below is for each kernel, not for all together")
    command.add_argument(
        "--fail-slower",
        type=share,
        metavar="SHARE",
        help="exit with 1 if a kernel takes more time than in --baseline by more than this share, such as 5%%",
    )
    command.add_argument(
        "--min-known",
        type=share,
        metavar="SHARE",
        help="exit with 1 if the roof is known for less of the kernel time, such as 80%%",
    )
    command.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    if options.fail_slower is not None and options.baseline is None:
        raise ValueError("--fail-slower compares with an earlier profile: name it with --baseline OLD")
    if options.each and options.fail_below is None:
        raise ValueError("--each is about --fail-below: give a share, such as --fail-below 60%")
    how = (options.only, options.work, options.captures, options.phase)
    kernels, several = profile(options.file, *how)
    before = None if options.baseline is None else profile(options.baseline, *how)[0]
    there = with_peaks(chip_of(kernels, options.chip, options.file, options.clock), options.peaks)
    document = report(
        kernels,
        there,
        before,
        [with_peaks(chip_called(name), options.peaks) for name in options.on],
        Limits(options.fail_below, options.fail_slower, options.min_known, each=options.each),
        file=options.file,
        baseline=options.baseline,
        top=options.top,
        precision=options.precision,
        memory=options.memory,
        with_plan=options.plan,
        several=several,
        model=None if options.model is None else (options.model, light_of(options.model, there, options.precision)),
    )
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8", newline="\n") as out:
            out.write(markdown(document))
    print(_json(document) if options.json else text(document, width(), all_notes=options.all_notes))
    return int(document["exit_status"])


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _whole(given: str) -> int:
    if not given.isdecimal() or int(given) == 0:
        raise argparse.ArgumentTypeError(f"'{given}' is no number of kernels; write for example 10")
    return int(given)
