"""The languages for which the front end has texts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parents[1] / "static"
"""The folder of the built front end."""
ENGLISH: Final = "en"


def languages() -> tuple[str, ...]:
    """Return the languages of the built front end, English first. Without a built front end, return only English."""
    built = {path.name.split(".")[1] for path in STATIC.glob("words.*.js")}
    return (ENGLISH, *sorted(built - {ENGLISH}))
