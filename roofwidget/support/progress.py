"""Progress of long work: a tqdm bar in a notebook, a callback, or nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol, TypeAlias

from roofwidget.support.extras import install_command

Progress: TypeAlias = bool | Callable[[int, int | None], object] | None
"""None: a bar in a notebook where tqdm is installed. True: a bar. False: none. Or a function of (done, total)."""


_DELAY_S: Final = 0.5


class Advance(Protocol):
    """Takes the progress since its last call, and what is done next."""

    def __call__(self, count: int, doing: str = "") -> object: ...


@contextlib.contextmanager
def advancing(progress: Progress, total: int | None, *, unit: str, description: str) -> Iterator[Advance]:
    """Yield a function that takes the progress since its last call, in `unit`.

    With the unit ``"B"`` the bar shows kB and MB. A second argument replaces the bar's description.

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

        def call(count: int, doing: str = "") -> None:  # noqa: ARG001 - only a bar shows it
            nonlocal done
            done += count
            progress(done, total)

        yield call
        return
    bar = _bar(progress, total, unit, description)
    if bar is None:
        yield lambda count, doing="": None  # noqa: ARG005 - the form of the others
        return
    with bar:

        def show(count: int, doing: str = "") -> None:
            bar.update(count)
            if doing:
                bar.set_description(doing)

        yield show


def _bar(progress: bool | None, total: int | None, unit: str, description: str) -> Any:  # noqa: FBT001 - True, False or None
    if progress is False or (progress is None and not _in_notebook()):
        return None
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415 - optional
    except ImportError:
        if progress is None:
            return None
        raise ImportError(f"a progress bar needs tqdm: {install_command('progress')}, or pass progress=False") from None
    # A bar that nobody asked for would leave an empty output where the work takes a moment.
    delay = 0 if progress else _DELAY_S
    return tqdm(total=total, unit=unit, unit_scale=unit == "B", desc=description, leave=False, delay=delay)


def _in_notebook() -> bool:
    """Whether this process is a Jupyter kernel."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
