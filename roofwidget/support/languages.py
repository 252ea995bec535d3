"""The languages that the front end is built for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["ENGLISH", "STATIC", "built_file", "languages"]

STATIC: Final = Path(__file__).parents[1] / "static"
"""Where the built front end lies."""
ENGLISH: Final = "en"


def languages() -> tuple[str, ...]:
    """Return the languages of the bundles that are there, English first: also where nothing is built."""
    stems = (path.name.split(".") for path in STATIC.glob("widget.*.js"))
    return (ENGLISH, *sorted(parts[1] for parts in stems))


def built_file(name: str, language: str = ENGLISH) -> Path:
    """Return where a built file of a language lies.

    Examples
    --------
    >>> built_file("widget.js").name, built_file("widget.js", "de").name
    ('widget.js', 'widget.de.js')
    """
    stem, _, kind = name.rpartition(".")
    return STATIC / (name if language == ENGLISH else f"{stem}.{language}.{kind}")
