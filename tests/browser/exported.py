"""Exported pages, opened from their files without a network."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from tests.browser.drawn import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.browser.lab import Notebook


class Exported:
    """A page opened from its file, without a network, and what went wrong on it."""

    def __init__(
        self,
        browser: Browser,
        folder: Path,
        html: str,
        *,
        fragment: str = "",
        prepare: Callable[[Page], None] = lambda _: None,
        **options: Any,
    ) -> None:
        path = folder / "page.html"
        path.write_text(html, encoding="utf-8")
        self.address = path.as_uri()
        viewport = {"width": 1280, "height": 900}
        self.context = browser.new_context(offline=True, **{"viewport": viewport, **options})
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.faults.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        prepare(self.page)
        self.page.goto(self.address + fragment)

    @property
    def drawn(self) -> Drawn:
        """The first widget of the page."""
        return Drawn(cast("Notebook", SimpleNamespace(page=self.page)))

    def close(self) -> None:
        """Close it. Nothing was asked for but the file, and the browser had nothing to complain about."""
        asked = {url.partition("#")[0] for url in self.requests if url != "about:srcdoc"}
        assert asked == {self.page.url.partition("#")[0]}
        assert self.faults == []
        assert self.page.evaluate("window.PWNED") is None
        self.context.close()
