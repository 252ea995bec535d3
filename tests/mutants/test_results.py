"""The table of scores: what counts, and what makes a run fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mutants import __main__ as command
from tests.mutants import results
from tests.mutants.results import Mutant, Outcome
from tests.places import ROOT, text_of, write

KILLED: Outcome = "killed"


def of(*outcomes: Outcome) -> list[Mutant]:
    return [Mutant("a.py", f"old {at}", f"new {at}", outcome) for at, outcome in enumerate(outcomes)]


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = write(tmp_path / "equivalent.txt", "# mutants\n")
    monkeypatch.setattr(results, "EQUIVALENT", path)
    return path


def test_a_mutant_that_runs_out_of_time_is_noticed_and_an_equivalent_one_does_not_count(listed: Path) -> None:
    write(listed, "a.py :: old 2 ~> new 2 ## always true\n")
    text, wrong = results.table([of("killed", "timeout", "survived", *[KILLED] * 18)])
    assert text.splitlines()[-2:] == [
        "| a.py | 21 | 19 | 1 | 0 | 1 | 100.0 % |",
        "| all | 21 | 19 | 1 | 0 | 1 | 100.0 % |",
    ]
    assert wrong == []


def test_a_score_below_the_limit_and_a_listed_mutant_that_is_killed_are_wrong(listed: Path) -> None:
    write(listed, "a.py :: old 0 ~> new 0 ## always true\nb.py :: x ~> y ## not run\n")
    _, wrong = results.table([of("killed", "survived", *[KILLED] * 8)])
    assert wrong == [
        "a.py: 90.0 % of its mutants are killed",
        "equivalent.txt: no such mutant survives: a.py :: old 0 ~> new 0",
    ]


def test_a_line_without_a_reason_is_refused(listed: Path) -> None:
    write(listed, "a.py :: old ~> new\n")
    with pytest.raises(ValueError, match=r"^equivalent\.txt: cannot read 'a\.py :: old ~> new'$"):
        results.equivalents()


def test_the_committed_list_is_readable_and_each_file_of_the_command_exists() -> None:
    assert {path for path, _, _ in results.equivalents()} <= set(command.FILES)
    assert [path for path in command.FILES if not (ROOT / path).is_file()] == []


def test_a_mutant_of_stryker_has_the_lines_that_it_changes(tmp_path: Path) -> None:
    def at(line: int, column: int) -> dict[str, int]:
        return {"line": line, "column": column}

    mutants = [
        {"status": "Survived", "replacement": "b - c", "location": {"start": at(1, 5), "end": at(1, 10)}},
        {"status": "NoCoverage", "replacement": "{}", "location": {"start": at(2, 8), "end": at(4, 2)}},
        {"status": "Ignored", "replacement": "0", "location": {"start": at(1, 1), "end": at(1, 2)}},
    ]
    source = "a = b + c;\nif (a) {\n  d();\n}"
    report = write(tmp_path / "report.json", {"files": {"src/x.ts": {"source": source, "mutants": mutants}}})
    assert [str(each) for each in results.of_stryker(report)] == [
        "js/src/x.ts :: a = b + c; ~> a = b - c;",
        "js/src/x.ts :: if (a) { d(); } ~> if (a) {}",
    ]


def test_the_documented_table_adds_up() -> None:
    """The documentation has one row of `table` for each file, and their sum."""
    text = text_of(ROOT / "docs" / "trust.md")
    rows = re.findall(r"^\| (\S+\.(?:py|ts)|all) \|((?: [\d,]+ \|){5}) (\S+) % \|$", text, re.MULTILINE)
    counts = {name: [int(each.replace(",", "")) for each in re.findall(r"[\d,]+", cells)] for name, cells, _ in rows}
    *files, last = counts
    assert last == "all"
    assert counts["all"] == [sum(column) for column in zip(*(counts[name] for name in files), strict=True)]
    assert len(rows) == len(counts)
    for name, _, score in rows:
        mutants, killed, timeout, survived, equivalent = counts[name]
        assert mutants == killed + timeout + survived + equivalent, name
        assert score == f"{100 * (killed + timeout) / (mutants - equivalent):.1f}", name
