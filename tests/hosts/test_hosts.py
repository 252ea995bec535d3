"""Hosts: the same widget, drawn, changed and heard by Python in each, and pages made of a notebook without a kernel.

`make test` tries the hosts of the development environment, `make hosts` all of `docs/hosts.md`.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests import environments
from tests.environments import DEV, run
from tests.hosts import hosts
from tests.hosts.conftest import OpenPage
from tests.hosts.hosts import HOSTS, Host
from tests.places import write

ALL: Final = os.environ.get("ROOFWIDGET_HOSTS", "") == "all"
ATTEMPTS: Final = 12
RUN_ALL: Final = """async () => {
  const { jupyterapp } = window;
  await jupyterapp.commands.execute('notebook:run-all-cells');
}"""
IS_READY: Final = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
  return context?.isReady && context.session?.kernel?.status === 'idle';
}"""


def of(environment: str) -> pytest.MarkDecorator:
    """Mark a test that needs an environment which only `make hosts` makes."""
    return pytest.mark.skipif(environment != DEV and not ALL, reason=f"make hosts installs '{environment}'")


def run_cells(page: Page, host: Host) -> None:
    """Run all cells of the page."""
    if host.cells == "jupyter":
        page.wait_for_function(IS_READY)
        page.evaluate(RUN_ALL)
    elif host.cells == "marimo":
        # Pressed too early, the button does nothing.
        for _ in range(ATTEMPTS):
            page.get_by_test_id("run-button").last.click()
            with contextlib.suppress(PlaywrightTimeout):
                page.locator(".rw-chart").wait_for(timeout=5000)
                return


def changes_what_python_hears(page: Page) -> None:
    """Move the slider of the peak by a key, and wait until Python says the value that the page shows."""
    expect(page.locator(".rw-chart").first).to_be_visible()
    slider = page.get_by_role("slider", name=re.compile("^Peak")).first
    box = page.get_by_role("textbox", name=re.compile("^Peak.*typed")).first
    before = box.input_value()
    # Of several steps, the page would show one after the other.
    slider.press("ArrowRight")
    expect(box).not_to_have_value(before)
    expect(page.get_by_text(f"Python heard {box.input_value()}").first).to_be_visible()


def opens_paths(page: Page) -> bool:
    """Return whether the panel that opens files has a box for a path."""
    page.get_by_role("button", name="Open", exact=True).first.click()
    expect(page.get_by_role("button", name="Choose a file…").first).to_be_visible()
    return page.get_by_role("textbox", name="Path, in the notebook's folder").count() > 0


def keeps_its_value_when_reloaded(page: Page) -> None:
    """Reload a page whose notebook is saved, and wait for the value that Python has."""
    box = page.get_by_role("textbox", name=re.compile("^Peak.*typed"))
    value = box.input_value()
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.reload()
    expect(box).to_have_value(value)


@pytest.mark.parametrize(
    "host", [pytest.param(one, id=one.name.replace(" ", "-"), marks=of(one.environment)) for one in HOSTS]
)
def test_a_widget_is_drawn_and_heard(host: Host, open_page: OpenPage, tmp_path: Path) -> None:
    with hosts.serving(host, tmp_path) as address:
        folder = environments.python_of(host.environment).parents[1]
        guarded = open_page(address, {begin: folder / file for begin, file in host.brought.items()})
        run_cells(guarded.page, host)
        changes_what_python_hears(guarded.page)
        # Where a person runs the cells, that person can read every file anyway.
        assert opens_paths(guarded.page) == bool(host.cells)
        if host.name == "Notebook 7":
            keeps_its_value_when_reloaded(guarded.page)
        asked = [url for url in guarded.external if not url.startswith((*host.own, *host.brought))]
        assert asked == []


@of("collaboration")
def test_a_second_person_sees_the_picture_and_after_a_reload_the_widget(open_page: OpenPage, tmp_path: Path) -> None:
    (together,) = (host for host in HOSTS if host.name == "Two people")
    with hosts.serving(together, tmp_path) as address:
        first = open_page(address).page
        second = open_page(address).page
        second.wait_for_function(IS_READY)
        run_cells(first, together)
        changes_what_python_hears(first)
        value = first.get_by_role("textbox", name=re.compile("^Peak.*typed")).input_value()
        picture = second.locator("img[src^='data:image/svg+xml']")
        expect(picture).to_be_visible()
        second.reload()
        expect(second.get_by_role("textbox", name=re.compile("^Peak.*typed"))).to_have_value(value)


@of("documents")
def test_a_notebook_that_papermill_has_run_becomes_a_page(open_page: OpenPage, tmp_path: Path) -> None:
    write(tmp_path / "lesson.ipynb", hosts.notebook(hosts.LESSON))
    run("documents", tmp_path, tmp_path / "1", "papermill", "lesson.ipynb", "run.ipynb")
    run("documents", tmp_path, tmp_path / "2", "roofwidget", "page", "run.ipynb")
    guarded = open_page((tmp_path / "run.html").as_uri())
    box = guarded.page.get_by_role("textbox", name=re.compile("^Peak.*typed"))
    before = box.input_value()
    guarded.page.get_by_role("slider", name=re.compile("^Peak")).press("ArrowRight")
    expect(box).not_to_have_value(before)
    assert guarded.external == []
    assert guarded.errors == []


@of("documents")
def test_myst_nb_shows_the_picture_where_html_comes_first(open_page: OpenPage, tmp_path: Path) -> None:
    write(
        tmp_path / "conf.py",
        'extensions = ["myst_nb"]\nnb_mime_priority_overrides = [("html", "text/html", 1)]\n'
        "nb_ipywidgets_js = {}\nhtml_theme = 'basic'\n",
    )
    write(tmp_path / "index.ipynb", hosts.notebook(hosts.LESSON))
    run("documents", tmp_path, tmp_path / "1", "sphinx-build", "-b", "html", ".", "built")
    guarded = open_page((tmp_path / "built" / "index.html").as_uri())
    picture = guarded.page.locator("img[src^='data:image/svg+xml']")
    expect(picture).to_be_visible()
    expect(guarded.page.get_by_role("table").get_by_text("matmul")).to_be_visible()
    assert guarded.external == []
