"""A sample of `make fuzz`: some hundred cases of each kind of input, the same in each run."""

from __future__ import annotations

import pytest

from tests.fuzz import run
from tests.fuzz.worker import drawn

CASES = {"profiles": 400, "chips": 400, "states": 200, "messages": 200}


@pytest.mark.parametrize("subject", CASES)
def test_damaged_input_ends_in_a_result_or_a_documented_error(subject: str) -> None:
    found = run.outcome_of(subject, run.SEED, CASES[subject])
    assert found.cases == CASES[subject]
    assert [(line["number"], line["failure"]) for line in found.failures] == []
    assert found.outcomes["result"] > CASES[subject] / 20


def test_a_case_is_the_same_each_time_and_another_for_another_seed() -> None:
    for subject in ("profiles", "chips", "states"):
        assert drawn(subject, 1, 7) == drawn(subject, 1, 7)
        assert drawn(subject, 1, 7) != drawn(subject, 2, 7)


def test_a_case_over_its_time_or_memory_is_a_failure() -> None:
    line = {"seconds": 0.1, "bytes": 2**26, "size": 100}
    assert run.is_over(line) is None
    assert run.is_over({**line, "seconds": 2.1}) == "2.1 s"
    assert run.is_over({**line, "bytes": 2**27}) == "128 MiB for 100 bytes"
