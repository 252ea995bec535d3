"""What all tests of the companions share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ipywidgets import Widget


@pytest.fixture(autouse=True)
def _no_widget_is_left_open() -> Iterator[None]:
    yield
    Widget.close_all()
