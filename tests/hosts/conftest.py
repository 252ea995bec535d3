"""A Chromium for the tests of hosts, and pages that can reach this machine only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser import lab
from tests.browser.drawn import EVENTUALLY_SECONDS

expect.set_options(timeout=1000 * EVENTUALLY_SECONDS)


@dataclass
class Guarded:
    """A page, with what it asked of other machines and what it reported as an error."""

    page: Page
    external: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class OpenPage(Protocol):
    """How a test opens an address; see the fixture `open_page`."""

    def __call__(self, address: str, answers: Mapping[str, Path] = ...) -> Guarded:
        """Open an address in a context of its own."""


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open addresses in contexts of their own.

    Requests to other machines are kept, and refused unless there is a file to answer with.
    """
    contexts: list[BrowserContext] = []

    def opened(address: str, answers: Mapping[str, Path] = MappingProxyType({})) -> Guarded:
        def answer(route: Route) -> None:
            file = next((file for begin, file in answers.items() if route.request.url.startswith(begin)), None)
            if file is None:
                route.abort()
            else:
                route.fulfill(path=file, headers={"Access-Control-Allow-Origin": "*"})

        context = browser.new_context(viewport={"width": 1280, "height": 1000}, service_workers="block")
        contexts.append(context)
        guarded = Guarded(context.new_page())
        guarded.page.set_default_timeout(lab.RUN_SECONDS * 1000)
        guarded.page.on("request", lambda request: keep(guarded, request.url))
        guarded.page.on("pageerror", lambda error: guarded.errors.append(str(error)))
        guarded.page.on(
            "console", lambda message: guarded.errors.append(message.text) if message.type == "error" else None
        )
        context.route(lambda url: not is_local(url), answer)
        guarded.page.goto(address)
        return guarded

    yield opened
    for context in contexts:
        context.close()


def keep(guarded: Guarded, url: str) -> None:
    if not is_local(url):
        guarded.external.append(url)


def is_local(url: str) -> bool:
    return url.startswith((*lab.LOCAL, "file:", "about:"))
