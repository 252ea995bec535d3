"""`roofwidget class`: questions for learning management systems, and a class from its list to its grades."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roofwidget.cli.options import say
from roofwidget.support.text_tables import counted
from roofwidget.teaching import lms
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.classroom.sheet import read_sheet, tolerance_of, with_tolerance
from roofwidget.teaching.question import Question

DESCRIPTION: Final = """\
Questions for a class. 'lms' writes questions of the bank, with numbers of their
own for each variant, as a file that Moodle, Canvas, Blackboard or another
system imports. docs/teaching.md says more.

  roofwidget class lms bank --format gift --variants 20 --out bank.gift
  roofwidget class lms sheet.toml --format canvas-qti --out sheet.zip
"""
_BANK: Final = "bank"
_MAX_VARIANTS: Final = 1000


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    commands = command.add_subparsers(required=True, metavar="WHAT")
    _add_lms(commands.add_parser("lms", help="questions as a file for a learning management system"))


def _add_lms(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "source",
        metavar="SOURCE",
        help="'bank' for all questions, or a sheet: a TOML file with course, title and questions",
    )
    command.add_argument("--format", required=True, choices=lms.FORMATS, help="the format of the file")
    command.add_argument(
        "--variants", type=_variants, default=1, metavar="N", help="how many variants of each question; by default 1"
    )
    command.add_argument(
        "--seed", type=int, metavar="SEED", help="the seed of the first variant; by default a random one"
    )
    command.add_argument(
        "--tolerance", type=_tolerance, metavar="SHARE", help="how far off a typed number may be, such as 1%%"
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    command.set_defaults(run=_lms)


def _variants(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= _MAX_VARIANTS:
        raise argparse.ArgumentTypeError(f"'{given}' is no number of variants from 1 to {_MAX_VARIANTS}")
    return int(given)


def _tolerance(given: str) -> float:
    try:
        return tolerance_of(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _lms(options: argparse.Namespace) -> int:
    first = secrets.randbelow(10**9) if options.seed is None else options.seed
    seeds = range(first, first + options.variants)
    title, variants = _questions(options.source, seeds)
    found = [with_tolerance(question, options.tolerance) for questions in variants for question in questions]
    content, notes = lms.content(found, options.format, title)
    for note in notes:
        say(note)
    options.out.write_bytes(content)
    say(f"{counted(len(seeds), 'variant')} of each question, with the seeds {seeds[0]} to {seeds[-1]}")
    print(options.out)
    return 0


def _questions(source: str, seeds: Sequence[int]) -> tuple[str, list[Sequence[Question]]]:
    """Return the title of a source, and its questions for each seed."""
    if source == _BANK:
        return "Rooflines", [question_bank(seed) for seed in seeds]
    sheet = read_sheet(Path(source))
    return sheet.title, [sheet.questions(seed) for seed in seeds]
