"""The built JupyterLite site in a real Chromium. `make lite` names its folder in ``ROOFWIDGET_LITE``.

Pyodide, with numpy, comes from its own server, which is refused here: the test ends where the kernel asks for it.
`tests/test_without_threads.py` tries what runs in Pyodide.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.static_server import serving

VARIABLE = "ROOFWIDGET_LITE"
if VARIABLE not in os.environ:
    pytest.skip("`make lite` opens the site that it built", allow_module_level=True)
SITE = Path(os.environ[VARIABLE]).resolve()
PYODIDE = "https://cdn.jsdelivr.net/pyodide/"
OF_PYODIDE = {"numpy", "traitlets"}


@pytest.fixture
def root() -> Iterator[str]:
    with serving(SITE) as address:
        yield address


def test_the_site_has_every_package_that_roofwidget_needs_and_pyodide_lacks() -> None:
    index = json.loads((SITE / "pypi" / "all.json").read_text(encoding="utf-8"))
    needed = {
        re.split(r"[^A-Za-z0-9_-]", line)[0]
        for line in requires("roofwidget") or ()
        # Only what is needed everywhere: there is no wheel of the engine of pictures for Pyodide.
        if "extra ==" not in line and "sys_platform" not in line and "python_version" not in line
    }
    assert needed
    assert needed - OF_PYODIDE <= set(index)
    assert "roofwidget" in index


def test_a_lesson_opens_and_asks_no_server_but_that_of_pyodide(browser: Browser, root: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    asked: list[str] = []

    def judge(route: Route) -> None:
        if route.request.url.startswith((f"{root}/", "data:", "blob:")):
            route.continue_()
        else:
            asked.append(route.request.url)
            route.abort()

    context.route("**/*", judge)
    page = context.new_page()
    with page.expect_request(f"{PYODIDE}**", timeout=120_000):
        page.goto(f"{root}/lab/index.html?path=03_fusion.ipynb")
        cells = page.locator(".jp-Notebook .jp-Cell")
        expect(cells.nth(1)).to_contain_text('await piplite.install("roofwidget")', timeout=120_000)
    assert asked
    assert [url for url in asked if not url.startswith(PYODIDE)] == []
    context.close()
