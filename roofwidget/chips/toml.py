"""TOML text to plain dicts, and the files that are packaged here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

__all__ = ["beside", "parse"]


def parse(text: str) -> dict[str, Any]:
    """Return what TOML text says; raises `ValueError` where it is not TOML."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - needed at the first look-up, not at import
    else:
        import tomli as tomllib  # noqa: PLC0415 - the same
    return tomllib.loads(text)


def beside(module: str, name: str) -> str:
    """Return the text of the file called `name` in the folder of a module's ``__file__``."""
    return Path(module).with_name(name).read_text(encoding="utf-8")
