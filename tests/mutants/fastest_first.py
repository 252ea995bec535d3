"""A plugin for pytest that shortens a mutant's tests: the fastest comes first, and properties try few examples."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Mutmut writes the durations of the tests here.
_STATS = Path("mutmut-stats.json")

settings.register_profile("mutants", max_examples=25, deadline=None, derandomize=True, database=None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # `tests/conftest.py` loads a profile when it is imported, which is before this.
    settings.load_profile("mutants")
    # Each mutant starts as a copy of a process that has already run the tests.
    for name, module in list(sys.modules.items()):
        if name.startswith("roofwidget."):
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", lambda: None)()
    durations = json.loads(_STATS.read_text(encoding="utf-8"))["duration_by_test"] if _STATS.exists() else {}
    items.sort(key=lambda item: durations.get(item.nodeid, 0))
