"""`roofwidget bank`: checks of questions that are written in files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from roofwidget.cli.options import say
from roofwidget.support.text_tables import counted
from roofwidget.teaching.bank import package_entries
from roofwidget.teaching.bank.check import SEEDS, check, lines
from roofwidget.teaching.bank.entries import read_file

DESCRIPTION: Final = """\
Questions that are written in TOML files. 'check' draws each question with many
seeds and says what is wrong: expressions, rules, texts and the number of
variants. Without a file it checks the questions of roofwidget. The exit status
is 1 if something is wrong. docs/teaching.md says how to write questions.

  roofwidget bank check my_questions.toml
  roofwidget bank check
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    commands = command.add_subparsers(required=True, metavar="WHAT")
    checked = commands.add_parser("check", help="say what is wrong with questions")
    checked.add_argument("files", nargs="*", type=Path, metavar="FILE", help="TOML files of questions")
    checked.add_argument(
        "--seeds", type=_seeds, default=SEEDS, metavar="N", help=f"how many seeds are drawn; by default {SEEDS}"
    )
    checked.set_defaults(run=_check)


def _seeds(given: str) -> int:
    if not given.isdecimal() or int(given) < 1:
        raise argparse.ArgumentTypeError(f"'{given}' is no number of seeds from 1 on")
    return int(given)


def _check(options: argparse.Namespace) -> int:
    entries = [entry for file in options.files for entry in read_file(file)] if options.files else package_entries()
    findings = check(entries, options.seeds)
    print("\n".join(lines(findings)))
    faults = sum(len(one.faults) for one in findings)
    say(f"{counted(len(findings), 'question')}, {counted(faults, 'fault')}")
    return 1 if faults else 0
