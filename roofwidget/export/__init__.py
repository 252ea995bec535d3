"""Pictures, pages and tables of a model, made without a browser. This package takes the model's plain state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roofwidget.support.late import late

if not TYPE_CHECKING:
    __getattr__ = late(__name__, "answers", "embed", "fallback", "graph_link", "page", "pictures", "session", "table")
