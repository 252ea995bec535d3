"""Fuzzing: thousands of damaged profiles, chip files, saved states and messages, the same in each run.

::

    python -m tests.fuzz.run                          10,000 cases of each subject, and a table of what came of them
    python -m tests.fuzz.run --cases 500 chips states
    python -m tests.fuzz.run --replay chips 1234      one case, with the traceback

A case must end in a result or in an error that the documentation names, with a message that fits on a screen, within 2
seconds of computing time and within 64 MiB and ten times its size of memory. A case that fails is written to
``test-results/fuzz``.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.fuzz.worker import SUBJECTS, drawn, used

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "test-results/fuzz"
SEED: Final = 1
MAX_SECONDS: Final = 2.0
MAX_BYTES: Final = 64 * 2**20
MAX_RATIO: Final = 10
_MAX_SILENT_SECONDS: Final = 120.0
_MAX_START_SECONDS: Final = 600.0
_CASES_OF_PROCESS: Final = 500


@dataclass
class Outcome:
    """What came of the cases of a subject."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    largest: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Count a case."""
        self.cases += 1
        self.outcomes[line["outcome"]] += 1
        self.slowest = max(self.slowest, line["seconds"])
        self.largest = max(self.largest, line["bytes"])
        if line["failure"]:
            self.failures.append(line)


def is_over(line: dict[str, Any]) -> str | None:
    """Return why a case took too much time or memory, or None."""
    if line["seconds"] > MAX_SECONDS:
        return f"{line['seconds']:.1f} s"
    if line["bytes"] > MAX_BYTES + MAX_RATIO * line["size"]:
        return f"{line['bytes'] / 2**20:.0f} MiB for {line['size']:,} bytes"
    return None


def lines_of(subject: str, seed: int, first: int, end: int) -> Iterator[dict[str, Any]]:
    """Run cases in a process of their own, and yield what came of each. After a crash, go on with the next case."""
    while first < end:
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker", subject, *map(str, (seed, first, end))],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                # The heap of a process does not depend on the number of cores.
                env={**os.environ, "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"},
            ) as process,
        ):
            assert process.stdout is not None
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                silent, limit = False, _MAX_START_SECONDS
                while first < end:
                    if not selector.select(limit):
                        silent = True
                        process.kill()
                        break
                    line = process.stdout.readline()
                    if not line:
                        break
                    found = json.loads(line)
                    if found is None:
                        limit = _MAX_SILENT_SECONDS
                        continue
                    first = found["number"] + 1
                    yield found
            process.wait()
            errors.seek(0)
            said = errors.read()[-3000:]
        if first < end:
            what = "no answer" if silent else f"died ({process.returncode})"
            failure = f"{what}\n{said}"
            yield {
                "number": first,
                "what": drawn(subject, seed, first).what,
                "size": 0,
                "outcome": what,
                "failure": failure,
                "seconds": _MAX_SILENT_SECONDS if silent else 0.0,
                "bytes": 0,
            }
            first += 1


def checked(subject: str, seed: int, line: dict[str, Any]) -> dict[str, Any]:
    """Run a case that took too much again, by itself: other programs and earlier cases may have been the reason."""
    if not is_over(line):
        return line
    again = next(lines_of(subject, seed, line["number"], line["number"] + 1))
    over = is_over(again)
    return {**again, "failure": over or again["failure"]}


def outcome_of(
    subject: str, seed: int, cases: int, processes: int = 1, on_failure: Callable[[dict[str, Any]], object] = id
) -> Outcome:
    """Run cases, and return what came of them. `on_failure` gets each case that fails, when it fails."""
    parts = [(first, min(first + _CASES_OF_PROCESS, cases)) for first in range(0, cases, _CASES_OF_PROCESS)]

    def run(part: tuple[int, int]) -> list[dict[str, Any]]:
        lines = []
        for line in lines_of(subject, seed, *part):
            lines.append(checked(subject, seed, line))
            if lines[-1]["failure"]:
                on_failure(lines[-1])
        return lines

    found = Outcome()
    with ThreadPoolExecutor(processes) as threads:
        for lines in threads.map(run, parts):
            for line in lines:
                found.add(line)
    return found


def write(subject: str, seed: int, line: dict[str, Any]) -> Path:
    """Write a case that failed, and return its folder."""
    folder = FOLDER / f"{subject}-{seed}-{line['number']}"
    folder.mkdir(parents=True, exist_ok=True)
    case = drawn(subject, seed, line["number"])
    parts = case.given if isinstance(case.given, tuple) else (case.given,)
    data = next((part for part in parts if isinstance(part, bytes)), None)
    if data is not None:
        (folder / "input").write_bytes(data)
    else:
        (folder / "input.txt").write_text(repr(case.given), "utf-8", "backslashreplace")
    again = f"python -m tests.fuzz.run --seed {seed} --replay {subject} {line['number']}"
    text = f"{again}\n{line['what']}\n{line['failure']}\n"
    (folder / "failure.txt").write_text(text, "utf-8", "backslashreplace")
    return folder


def table(outcomes: dict[str, Outcome]) -> str:
    """Return the table for docs/trust.md."""
    rows = ["| input | cases | results | errors | slowest | largest memory |", "| --- | --- | --- | --- | --- | --- |"]
    for subject, found in outcomes.items():
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in found.outcomes.most_common() if kind != "result")
        rows.append(
            f"| {SUBJECTS[subject].title} | {found.cases:,} | {found.outcomes['result']:,} | {kinds} "
            f"| {found.slowest:.2f} s | {found.largest / 2**20:.0f} MiB |"
        )
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 if a case failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)}")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", nargs=2, metavar=("SUBJECT", "NUMBER"))
    options = parser.parse_args(arguments)
    if options.replay:
        subject, number = options.replay
        line = used(subject, drawn(subject, options.seed, int(number)))
        print(*(f"{key}: {part}" for key, part in line.items()), sep="\n")  # noqa: T201 - what was asked for
        return int(bool(line["failure"]))
    subjects = options.subjects or [name for name in SUBJECTS if name != "real" or _has_real()]
    outcomes = {}
    for subject in subjects:
        tell = functools.partial(_tell, subject, options.seed)
        outcomes[subject] = outcome_of(subject, options.seed, options.cases, options.processes, tell)
    sys.stdout.write(table(outcomes) + "\n")
    return int(any(found.failures for found in outcomes.values()))


def _has_real() -> bool:
    from tests.real_files import present  # noqa: PLC0415

    return bool(present())


def _tell(subject: str, seed: int, line: dict[str, Any]) -> None:
    sys.stdout.write(f"{write(subject, seed, line)}: {line['what']}\n  {_last(line['failure'])}\n")
    sys.stdout.flush()


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


if __name__ == "__main__":
    sys.exit(main())
