"""Files: where this repository has what tests read, and how they are read and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
FIXTURES: Final = ROOT / "tests" / "fixtures"
GOLDEN: Final = ROOT / "tests" / "golden"


def golden(name: str) -> Any:
    """Return what a golden file holds."""
    return json_of(GOLDEN / name)


def text_of(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


def json_of(path: Path) -> Any:
    """Return what a JSON file holds."""
    return json.loads(text_of(path))


def write(path: Path, content: object) -> Path:
    """Write a text, or anything else as JSON, and return its file."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path
