"""Progress of long work: a tqdm bar in a notebook, a callback, or nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Progress: TypeAlias = bool | Callable[[int, int | None], object] | None
"""None: a bar in a notebook where tqdm is installed. True: a bar. False: none. Or a function of (done, total)."""


@contextlib.contextmanager
def advancing(
    progress: Progress, total: int | None, *, unit: str, description: str
) -> Iterator[Callable[[int], object]]:
    """Yield a function that takes the progress since its last call, in `unit`.

    With the unit ``"B"`` the bar shows kB and MB.

    Raises
    ------
    ImportError
        If the caller asks for a bar and tqdm is not installed.

    Examples
    --------
    >>> with advancing(lambda done, total: print(done, "of", total), 3, unit="file", description="reading") as advance:
    ...     advance(1)
    ...     advance(2)
    1 of 3
    3 of 3
    """
    if callable(progress):
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            progress(done, total)

        yield advance
        return
    bar = _bar(progress, total, unit, description)
    if bar is None:
        yield lambda _count: None
        return
    with bar:
        yield bar.update


def _bar(progress: bool | None, total: int | None, unit: str, description: str) -> Any:  # noqa: FBT001 - True, False or None
    if progress is False or (progress is None and not _in_notebook()):
        return None
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - optional
    except ImportError:
        if progress is None:
            return None
        msg = "a progress bar needs tqdm: pip install 'roofwidget[progress]', or pass progress=False"
        raise ImportError(msg) from None
    return tqdm(total=total, unit=unit, unit_scale=unit == "B", desc=description, leave=False)


def _in_notebook() -> bool:
    """Whether this process is a Jupyter kernel."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
