"""The secrets of classes and the seeds of exports, the same in each run with a seed."""

from __future__ import annotations

import os
import random

import pytest


@pytest.fixture(autouse=True)
def secrets_of_a_seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw what nobody should know from ROOFWIDGET_SEED, if it is set, so that a tree has one verdict."""
    if seed := os.environ.get("ROOFWIDGET_SEED"):
        drawn = random.Random(f"{seed} {request.node.nodeid}")  # noqa: S311 - these secrets shall be known
        monkeypatch.setattr("secrets.token_bytes", drawn.randbytes)
        monkeypatch.setattr("secrets.randbelow", drawn.randrange)
