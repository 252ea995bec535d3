"""What became of each mutant of a file, the list of equivalent mutants, and the table."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

LIMIT_PERCENT: Final = 95.0
"""The lowest score with which a run succeeds."""
EQUIVALENT: Final = Path(__file__).with_name("equivalent.txt")
_LINE: Final = re.compile(r"(?P<path>\S+) :: (?P<old>.+?) ~> (?P<new>.*?) ## (?P<reason>.+)")
# The exit codes of pytest when a test fails, or when tests cannot be imported.
_KILLED: Final = {1, 2, 3, 4}
# The exit codes of processes that ran out of time: mutmut's own, and three forms of SIGXCPU.
_TIMEOUT: Final = {36, -24, 24, 152, 255}

Outcome = Literal["killed", "timeout", "survived"]


@dataclass(frozen=True, order=True)
class Mutant:
    """A changed place of a file: the lines before and after the change, each with single spaces."""

    path: str
    old: str
    new: str
    outcome: Outcome

    @property
    def key(self) -> tuple[str, str, str]:
        return self.path, self.old, self.new

    def __str__(self) -> str:
        return f"{self.path} :: {self.old} ~> {self.new}"


def of_mutmut(path: str, workspace: Path) -> list[Mutant]:
    """Read the results of mutmut for a Python file."""
    codes = json.loads((workspace / f"{path}.meta").read_text(encoding="utf-8"))["exit_code_by_key"]
    lines_of = _functions((workspace / path).read_text(encoding="utf-8"))
    mutants = []
    for key, code in codes.items():
        name = key.rpartition(".")[2]
        original = lines_of[re.sub(r"__mutmut_\d+$", "__mutmut_orig", name)]
        old, new = _changed(original, lines_of[name])
        outcome: Outcome = "killed" if code in _KILLED else "timeout" if code in _TIMEOUT else "survived"
        mutants.append(Mutant(path, old, new, outcome))
    return mutants


def _functions(source: str) -> dict[str, list[str]]:
    """Return the lines of each function and method, without the line that names it."""
    lines = source.splitlines()
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "__mutmut_" in node.name:
            text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            found[node.name] = text.replace(
                node.name, re.sub(r"^x_|^x.*ǁ|__mutmut_\w+$", "", node.name), 1
            ).splitlines()
    return found


def _changed(old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    difference = list(difflib.ndiff(old, new))
    before, after = ([line[2:] for line in difference if line.startswith(sign)] for sign in "-+")
    return _spaced(before), _spaced(after)


def of_stryker(report: Path) -> list[Mutant]:
    """Return the mutants in a report of Stryker, without those of code that runs when a module is imported."""
    mutants = []
    for path, file in json.loads(report.read_text(encoding="utf-8"))["files"].items():
        lines = file["source"].split("\n")
        for each in file["mutants"]:
            if each["status"] in {"Ignored", "CompileError", "RuntimeError"}:
                continue
            (start, first), (end, last) = (
                (at["line"] - 1, at["column"] - 1) for at in (each["location"]["start"], each["location"]["end"])
            )
            changed = lines[start][:first] + each["replacement"] + lines[end][last:]
            outcomes: dict[str, Outcome] = {"Killed": "killed", "Timeout": "timeout"}
            outcome = outcomes.get(each["status"], "survived")
            mutants.append(Mutant(f"js/{path}", _spaced(lines[start : end + 1]), _spaced([changed]), outcome))
    return mutants


def _spaced(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())


def save(mutants: Iterable[Mutant], file: Path) -> None:
    """Write the mutants of a file of the code."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(each) for each in mutants], ensure_ascii=False), encoding="utf-8")


def load(file: Path) -> list[Mutant]:
    """Return the mutants that `save` wrote."""
    return [Mutant(**each) for each in json.loads(file.read_text(encoding="utf-8"))]


def equivalents() -> dict[tuple[str, str, str], str]:
    """Return the reasons of the listed mutants that no test can kill."""
    reasons = {}
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            found = _LINE.fullmatch(line)
            if not found:
                raise ValueError(f"{EQUIVALENT.name}: cannot read {line!r}")
            reasons[found["path"], found["old"], found["new"]] = found["reason"]
    return reasons


def table(files: Sequence[Sequence[Mutant]]) -> tuple[str, list[str]]:
    """Return the table of scores, and what is wrong: scores below the limit, and listed mutants that tests kill."""
    known = equivalents()
    rows, wrong = [], []
    for mutants in files:
        path = mutants[0].path
        rows.append(_row(path, mutants, known))
        if _score(mutants, known) < LIMIT_PERCENT:
            wrong.append(f"{path}: {_score(mutants, known):.1f} % of its mutants are killed")
        survived = {each.key for each in mutants if each.outcome == "survived"}
        stale = (key for key in known if key[0] == path and key not in survived)
        wrong += [f"{EQUIVALENT.name}: no such mutant survives: {path} :: {old} ~> {new}" for _, old, new in stale]
    every = [each for mutants in files for each in mutants]
    head = "| file | mutants | killed | timeout | survived | equivalent | score |\n| --- |" + " ---: |" * 6
    return "\n".join([head, *rows, _row("all", every, known)]), wrong


def _score(mutants: Sequence[Mutant], known: dict[tuple[str, str, str], str]) -> float:
    judged = [each for each in mutants if not _is_equivalent(each, known)]
    return 100 * sum(each.outcome != "survived" for each in judged) / max(len(judged), 1)


def _is_equivalent(mutant: Mutant, known: dict[tuple[str, str, str], str]) -> bool:
    return mutant.outcome == "survived" and mutant.key in known


def _row(name: str, mutants: Sequence[Mutant], known: dict[tuple[str, str, str], str]) -> str:
    killed, timeout = (sum(each.outcome == outcome for each in mutants) for outcome in ("killed", "timeout"))
    equivalent = sum(_is_equivalent(each, known) for each in mutants)
    survived = len(mutants) - killed - timeout - equivalent
    score = f"{_score(mutants, known):.1f} %"
    return f"| {name} | {len(mutants):,} | {killed:,} | {timeout} | {survived} | {equivalent} | {score} |"
