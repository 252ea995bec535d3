"""How to install what an optional part of roofwidget needs."""

from __future__ import annotations

import re
from importlib import metadata


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra.

    The command does not name roofwidget: a package index may have another package of this name.

    Examples
    --------
    >>> install_command("parquet")
    "pip install 'pyarrow>=12'"
    """
    of_extra = re.compile(rf"extra == ['\"]{extra}['\"]")
    parts = [line.partition(";") for line in metadata.requires("roofwidget") or ()]
    return " ".join(
        ["pip install", *(f"'{package.strip()}'" for package, _, marker in parts if of_extra.search(marker))]
    )
