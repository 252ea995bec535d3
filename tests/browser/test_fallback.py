"""What a saved notebook shows where no widget can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

import roofwidget as rw
from tests.browser import lab
from tests.places import write

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})


def test_an_untrusted_notebook_shows_the_picture_and_the_table(server: lab.Server, browser: Browser) -> None:
    bundle = rw.roofline([CHIP], [("matmul", 4e12, 1e10, 0.08)], title="Not mine")._repr_mimebundle_()
    assert bundle is not None
    output = {"output_type": "display_data", "metadata": {}, "data": bundle[0]}
    cell: dict[str, Any] = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1, "source": "w"}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": [{**cell, "outputs": [output]}], "metadata": {"kernelspec": kernel}}
    path = write(server.root / "untrusted.ipynb", {**content, "nbformat": 4, "nbformat_minor": 5})
    book = lab.Notebook(browser, server, path.name, None, width=1200, height=900)
    image = book.page.get_by_role("img", name="Not mine")
    expect(image).to_be_visible()
    assert image.evaluate("(image) => image.naturalWidth") == 510
    expect(book.page.get_by_role("table")).to_contain_text("matmul")
    book.tab.close()
