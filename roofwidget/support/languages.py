"""The languages whose words are built."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parents[1] / "static"
"""The folder of the built front end."""
ENGLISH: Final = "en"


def languages() -> tuple[str, ...]:
    """Return the languages whose words are built, English first. Without a built front end: English alone."""
    built = {path.name.split(".")[1] for path in STATIC.glob("words.*.js")}
    return (ENGLISH, *sorted(built - {ENGLISH}))
