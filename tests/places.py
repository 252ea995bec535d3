"""Where this repository has what tests read."""

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
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))
