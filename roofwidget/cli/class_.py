"""`roofwidget class`: questions for learning management systems, and a class from its list to its grades."""

from __future__ import annotations

import argparse
import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roofwidget.cli.options import say
from roofwidget.support.did_you_mean import listed
from roofwidget.support.text_tables import aligned, counted, one_line
from roofwidget.teaching import lms
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.classroom.gradebook import gradebook
from roofwidget.teaching.classroom.handing_out import class_pages, write_table
from roofwidget.teaching.classroom.inbox import OTHER, handed_in
from roofwidget.teaching.classroom.sheet import LEVELS, read_sheet, tolerance_of, with_tolerance
from roofwidget.teaching.classroom.students import nbgrader_text, read_key, read_students
from roofwidget.teaching.handout import class_handout
from roofwidget.teaching.question import Question

DESCRIPTION: Final = """\
A class, from its list to its grades. 'pages' writes a page for each student,
with numbers of the student's own and, unless asked for, without answers.
'grade' grades the files that come back. 'nbgrader' writes the list as nbgrader
imports it. 'lms' writes questions, with numbers of their own for each variant,
as a file that Moodle, Canvas, Blackboard or another system imports.
'questions' lists the keys from which a sheet is made.
docs/teaching.md says more.

  roofwidget class questions ridge
  roofwidget class pages students.csv sheet.toml --out pages
  roofwidget class grade students.csv sheet.toml inbox.zip --out gradebook.csv
  roofwidget class handout sheet.toml --out handout.pdf --answer-key key.pdf
  roofwidget class nbgrader students.csv --out nbgrader.csv
  roofwidget class lms bank --format gift --variants 20 --out bank.gift
  roofwidget class lms sheet.toml --format canvas-qti --out sheet.zip
"""
_BANK: Final = "bank"
_MAX_VARIANTS: Final = 1000
_PROMPT_LETTERS: Final = 70
_FEW_QUESTIONS: Final = 10
_FIXED: Final = "few"
# What is wrong if most files of a class have the same fault.
_HINTS: Final = {
    "token": "most files have another token: is {key} the key with which the pages were made?",
    "sheet": "most files are of another sheet: are {sheet} and --answers those with which the pages were made?",
    "unknown-id": "most files are of nobody in {students}: has it lost leading zeros of ids?",
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    commands = command.add_subparsers(required=True, metavar="WHAT")
    _add_pages(commands.add_parser("pages", help="a page for each student"))
    _add_grade(commands.add_parser("grade", help="the grades of the files that came back"))
    _add_questions(commands.add_parser("questions", help="the keys of the bank's questions, for a sheet"))
    _add_handout(commands.add_parser("handout", help="a sheet on paper, and its key"))
    _add_nbgrader(commands.add_parser("nbgrader", help="the list of the class for nbgrader"))
    _add_lms(commands.add_parser("lms", help="questions as a file for a learning management system"))


def _add_students(command: argparse.ArgumentParser) -> None:
    command.add_argument("students", type=Path, metavar="STUDENTS", help="the list of the class: a CSV file with id")


def _add_class(command: argparse.ArgumentParser) -> None:
    _add_students(command)
    command.add_argument(
        "sheet",
        type=Path,
        metavar="SHEET",
        help="a TOML file with course, title, questions and perhaps tolerance; or an executed notebook",
    )
    command.add_argument(
        "--key",
        type=Path,
        default=Path("class.key"),
        metavar="FILE",
        help="the secret of the class, from which numbers and tokens follow; 'pages' makes it if there is none",
    )


def _add_pages(command: argparse.ArgumentParser) -> None:
    _add_class(command)
    command.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the pages go")
    command.add_argument(
        "--answers",
        choices=LEVELS,
        default=LEVELS[0],
        help="what a page has of the answers: nothing, for marks (none, the default); all, compressed, to check what "
        "is entered (packed); also as text at its end (shown)",
    )
    command.set_defaults(run=_pages)


def _add_grade(command: argparse.ArgumentParser) -> None:
    _add_class(command)
    command.add_argument("inbox", type=Path, metavar="INBOX", help="a folder or a zip archive with files of answers")
    command.add_argument(
        "--counts",
        choices=("decay", "first", "best", "last"),
        default="decay",
        help="which of several answers counts; by default 1, 2/3, 1/3 and 0 points by attempt (decay)",
    )
    command.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the gradebook; canvas.csv and moodle.csv go beside it"
    )
    command.add_argument(
        "--items",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="also write the item analysis: a table (.csv) or a page with a chart (.html); can be given twice",
    )
    command.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="KEY",
        help="a question that does not count, such as a faulty one; can be given several times",
    )
    command.add_argument(
        "--answers", choices=LEVELS, default=LEVELS[0], help="what the pages have of the answers, as 'pages' had it"
    )
    command.add_argument("--decimal", choices=(".", ","), default=".", help="the decimal mark of the gradebook")
    command.set_defaults(run=_grade)


def _pages(options: argparse.Namespace) -> int:
    index = class_pages(options.students, options.sheet, options.out, key=options.key, answers=options.answers)
    print(index)
    if options.answers == "none":
        keys = read_sheet(options.sheet).keys
        same = [one.key for one in EXERCISES if one.is_fixed and one.key in keys]
        if same:
            say(f"many students have the same answer to {listed(same)}: give few marks for that")
        say(f"keep {options.key}, and hand out no file but the pages")
    else:
        say(f"keep {options.key}; the pages check answers, so they contain them: for marks take --answers none")
    return 0


def _grade(options: argparse.Namespace) -> int:
    students, sheet = read_students(options.students), read_sheet(options.sheet, options.answers)
    key = read_key(options.key)
    everything = handed_in(options.inbox)
    files = [file for file in everything if file.fault != OTHER]
    others = [file.name for file in everything if file.fault == OTHER]
    found = gradebook(students, everything, sheet, key, options.counts, drop=options.drop)
    _write(options.out, found.table(options.decimal))
    _write(options.out.with_name("canvas.csv"), found.canvas())
    _write(options.out.with_name("moodle.csv"), found.moodle())
    for path in options.items:
        if found.analysis is None:
            say(f"{path} is not written: no file of answers was graded")
        else:
            is_page = path.suffix.lower() == ".html"
            print(found.analysis.to_html(path, title=sheet.title) if is_page else found.analysis.to_csv(path))
    statuses = Counter(row.status for row in found.rows)
    said = ", ".join(f"{count} {status}" for status, count in statuses.items())
    for status, hint in _HINTS.items():
        if 2 * statuses[status] > len(files):
            say(hint.format(key=options.key, sheet=options.sheet.name, students=options.students.name))
    if others:
        say(f"{counted(len(others), 'other file')} not read, such as {others[0]}: 'Save answers' saves a .json file")
    say(f"{counted(len(files), 'file')} of answers in {options.inbox}: {said}")
    return 0


def _write(path: Path, text: str) -> None:
    write_table(path, text)
    print(path)


def _add_handout(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "sheet", type=Path, metavar="SHEET", help="a TOML file with questions of the bank, or an executed notebook"
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="a PDF, or a page to print (.html)")
    command.add_argument("--answer-key", type=Path, metavar="FILE", help="the same with answers, for those who mark")
    command.add_argument("--seed", type=int, metavar="SEED", help="other numbers than those that the sources print")
    command.set_defaults(run=_handout)


def _handout(options: argparse.Namespace) -> int:
    print(class_handout(options.sheet, options.out, answer_key=options.answer_key, seed=options.seed))
    if options.answer_key is not None:
        print(options.answer_key)
    return 0


def _add_nbgrader(command: argparse.ArgumentParser) -> None:
    _add_students(command)
    command.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the CSV file for 'nbgrader db student import'"
    )
    command.set_defaults(run=_nbgrader)


def _nbgrader(options: argparse.Namespace) -> int:
    students = read_students(options.students)
    # nbgrader would take a mark at the begin of the file for a part of the first column's name.
    options.out.write_text(nbgrader_text(students), encoding="utf-8", newline="")
    print(options.out)
    say(f"import it with: nbgrader db student import {options.out}")
    return 0


def _add_lms(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "source",
        metavar="SOURCE",
        help="'bank' for all questions, or a sheet: a TOML file with its questions, or an executed notebook",
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
    title, variants, has_seeds = _questions(options.source, seeds)
    found = [with_tolerance(question, options.tolerance) for questions in variants for question in questions]
    content, notes = lms.content(found, options.format, title)
    for note in notes:
        say(note)
    options.out.write_bytes(content)
    if has_seeds:
        say(f"{counted(len(seeds), 'variant')} of each question, with the seeds {seeds[0]} to {seeds[-1]}")
    print(options.out)
    return 0


def _questions(source: str, seeds: Sequence[int]) -> tuple[str, list[Sequence[Question]], bool]:
    """Return the title of a source, its questions for each seed, and whether the seed changes them."""
    if source == _BANK:
        return "Rooflines", [question_bank(seed) for seed in seeds], True
    sheet = read_sheet(Path(source))
    return sheet.title, [sheet.questions(seed) for seed in seeds], not sheet.own


def _add_questions(command: argparse.ArgumentParser) -> None:
    command.add_argument("words", nargs="*", metavar="WORD", help="only questions whose key or prompt has these words")
    command.add_argument(
        "--full", action="store_true", help="whole prompts, also where there are more than 10 questions"
    )
    command.set_defaults(run=_questions_of_the_bank)


def _questions_of_the_bank(options: argparse.Namespace) -> int:
    words = [word.casefold() for word in options.words]
    fixed = {one.key for one in EXERCISES if one.is_fixed}
    found = [
        [one.key, one.kind, str(one.difficulty), _FIXED if one.key in fixed else "", " ".join(one.prompt.split())]
        for one in question_bank()
        if all(word in f"{one.key} {one.prompt}".casefold() for word in words)
    ]
    if not found:
        raise ValueError(f"no question of the bank has {listed(options.words)}")
    if len(found) > _FEW_QUESTIONS and not options.full:
        found = [[*cells, one_line(prompt, _PROMPT_LETTERS)] for *cells, prompt in found]
    print("\n".join(aligned([["key", "kind", "difficulty", "numbers", "question"], *found], right=[2])))
    return 0
