"""Hostile labels in hosts that are no JupyterLab."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.environments import ROOT
from tests.hostile_checks import ALL, CELL, TallyOf, check_widgets
from tests.hosts import hosts
from tests.hosts.conftest import Guarded, OpenPage
from tests.hosts.hosts import HOSTS

MARIMO: Final = f"""import marimo
app = marimo.App()

@app.cell
def _():
    import sys
    sys.path.insert(0, {str(ROOT / "tests")!r})
    import hostile_labels
    import marimo as mo
    made = (hostile_labels.described(), hostile_labels.merged(), hostile_labels.asked())
    mo.vstack([mo.ui.anywidget(widget) for widget in made])
    return

if __name__ == "__main__":
    app.run()
"""
SHOWN: Final = {"Voila": hosts.notebook(CELL), "marimo run": MARIMO}


@pytest.mark.skipif(not ALL, reason="make hosts tries other hosts")
@pytest.mark.parametrize("name", SHOWN)
def test_every_text_is_text(name: str, open_page: OpenPage, tmp_path: Path, tally: TallyOf) -> None:
    (host,) = (one for one in HOSTS if one.name == name)
    own, home = tmp_path / "own", tmp_path / "hostile"
    own.mkdir()
    home.mkdir()
    with hosts.serving(host, own) as address:
        plain = open_page(address)
        expect(plain.page.locator(".rw-chart")).to_be_visible()
    with hosts.serving(dataclasses.replace(host, text=SHOWN[name]), home) as address:
        guarded = open_page(address)
        tally(name)(scripts=check_widgets(guarded.page))
        assert [url for url in guarded.external if not url.startswith(host.own)] == []
        # A host has errors of its own.
        assert errors(guarded) <= errors(plain)


def errors(guarded: Guarded) -> set[str]:
    """Return what a page reported, without the numbers of ports and lines."""
    return {re.sub(r":\d+", "", error) for error in guarded.errors}
