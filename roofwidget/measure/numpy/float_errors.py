"""Warns of overflows and divisions by zero at the user's line, where numpy would name the line of a counted array."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

_OWN_FOLDER: Final = str(Path(__file__).parent)
_NUMPYS_FOLDER: Final = str(Path(np.__file__).parent)


@contextmanager
def warned_at_callers() -> Iterator[None]:
    """Let errors of floating point that warn do so at the user's line until the block ends.

    What the block sets by ``np.seterr`` stays.
    """
    before: Any = np.geterr()
    warn = {kind for kind, action in before.items() if action == "warn"}
    earlier = np.seterrcall(_warn)
    calling: Any = dict.fromkeys(warn, "call")
    np.seterr(**calling)
    try:
        yield
    finally:
        after: Any = np.geterr()
        warning: Any = {kind: "warn" for kind in warn if after[kind] == "call"}
        np.seterr(**warning)
        if np.geterrcall() is _warn:
            np.seterrcall(earlier)


def _warn(kind: str, _flag: int) -> None:
    frame, level, operation = sys._getframe(1), 2, ""  # noqa: SLF001 - as documented for this use
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_OWN_FOLDER, _NUMPYS_FOLDER)):
        ufunc = frame.f_locals.get("ufunc")
        operation = f" in {ufunc.__name__}" if isinstance(ufunc, np.ufunc) else operation
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{kind} encountered{operation}", RuntimeWarning, stacklevel=level)
