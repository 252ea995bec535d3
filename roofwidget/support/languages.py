"""The languages for which the front end has texts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parents[1] / "static"
"""The folder of the built front end."""
ENGLISH: Final = "en"


def languages() -> tuple[str, ...]:
    """Return the codes of the languages that the built front end has, such as "de". English is first.

    If the front end is not built, return only English.
    """
    built = {path.name.split(".")[1] for path in STATIC.glob("words.*.js.gz")}
    return (ENGLISH, *sorted(built - {ENGLISH}))
