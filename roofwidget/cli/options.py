"""What several commands share: the profile, the chip, the width of the output, and progress on stderr."""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from roofwidget.chips import Chip, UnknownChipError, chip, load_chips
from roofwidget.cli.several import DIFFERENT_CHIPS, Several, read_given
from roofwidget.kernels.filters import phase_column
from roofwidget.kernels.table import Kernels
from roofwidget.readers import FORMATS
from roofwidget.readers.torch.rules import WorkRules
from roofwidget.support.did_you_mean import listed
from roofwidget.support.text_tables import one_line

_SHARE: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)")
_PERCENT: Final = 100.0
_PIPE_WIDTH: Final = 120
_SILENT_SECONDS: Final = 1.0
_SECONDS_BETWEEN_UPDATES: Final = 0.5
_CLEAR_LINE: Final = "\r\x1b[K"


def add_profile(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a profile, its chip, and which of its kernels count."""
    command.add_argument(
        "file",
        metavar="FILE",
        help=f"a profile of any of {len(FORMATS)} formats, a folder of one, or a folder of several",
    )
    command.add_argument(
        "--chip",
        metavar="CHIP",
        help="the chip that it ran on: a name that 'roofwidget chips' lists, or a TOML file; by default the chip that "
        "the profile names",
    )
    command.add_argument(
        "--clock",
        metavar="CLOCK",
        help="judge by the chip at this clock, such as 1.2GHz: one that was set, or the one under a power cap",
    )
    command.add_argument(
        "--only",
        metavar="WORDS",
        default="",
        help="only the kernels whose name has all of these words; * is any letters",
    )
    add_phase(command)
    add_work(command)
    add_captures(command)
    command.add_argument(
        "--precision", default="auto", help="the precision of kernels that name none; by default that of the chip"
    )
    command.add_argument(
        "--peaks",
        choices=("printed", "achievable"),
        default="printed",
        help="the rates that judge: those of data sheets (printed), or measured ones where the chip has them "
        "(achievable)",
    )
    command.add_argument(
        "--memory", default="main", help="the memory level whose bytes count; by default the main memory"
    )


def add_phase(command: argparse.ArgumentParser) -> None:
    """Add the argument that names phases of a PyTorch trace."""
    command.add_argument(
        "--phase",
        action="append",
        default=[],
        metavar="PHASE",
        help="only the kernels of this phase of a PyTorch trace: prefill, decode, mixed, forward, backward or "
        "optimizer; may be given several times",
    )


def add_work(command: argparse.ArgumentParser) -> None:
    """Add the argument that names a file of rules of work."""
    command.add_argument(
        "--work",
        metavar="FILE.toml",
        help="what operations compute and move that the profile cannot tell, one rule a line (docs/readers.md); by "
        "default the file work.toml beside the profile",
    )


def add_captures(command: argparse.ArgumentParser) -> None:
    """Add the argument that names traces of captures of graphs."""
    command.add_argument(
        "--captures",
        action="append",
        default=[],
        metavar="PATTERN",
        help="traces of the captures of the graphs of CUDA or HIP that a PyTorch trace replays, such as "
        "'capture_*.json.gz'; may be given several times",
    )


def profile(
    path: str, only: str = "", work: str | None = None, captures: Sequence[str] = (), phases: Sequence[str] = ()
) -> tuple[Kernels, Several | None]:
    """Return the kernels of a file whose names have the words of `only`, in one of the phases if some are given.

    `work` is a file of rules of work, and `captures` are paths or patterns of captures of graphs. If the file is a
    folder of several profiles, these follow.

    Raises
    ------
    ValueError
        If the file has no such kernel.
    """
    given: dict[str, Any] = {"captures": list(captures)} if captures else {}
    with working(f"reading {path}"):
        kernels, several = read_given(path, work=work, **given)
    if not len(kernels):
        why = f": {kernels.warnings[0]}" if kernels.warnings else ""
        raise ValueError(f"{path}: there are no kernels in it{why}")
    if work is not None:
        kernels.warnings = (*_unused_rules(kernels, work), *kernels.warnings)
    kernels = of_phases(kernels, phases, path)
    found = kernels.filter(only) if only else kernels
    if not len(found):
        names = listed(one_line(name) for name in dict.fromkeys(kernels.top(3, by="self_time").names))
        raise ValueError(f"{path}: no kernel has a name with '{only}'; the longest are {names}")
    return found, several


def of_phases(kernels: Kernels, phases: Sequence[str], path: str) -> Kernels:
    """Return the kernels of the phases; all kernels if none is given.

    Raises
    ------
    ValueError
        If no kernel has one of the phases.
    """
    if not phases:
        return kernels
    known = list(filter(None, dict.fromkeys(phase_column(kernels).texts())))
    missing = [phase for phase in phases if phase.casefold() not in known]
    if missing:
        there = f"the phases are {listed(known)}" if known else "the profile has no phases"
        raise ValueError(f"{path}: no kernel is of the phase '{missing[0]}': {there}")
    found = kernels.filter(phases=phases)
    found.warnings = (f"only kernels of the phase {listed(phases)} count", *found.warnings)
    return found


def _unused_rules(kernels: Kernels, path: str) -> list[str]:
    """Return a note that names the rules of a file that gave no kernel its work."""
    rules, file = WorkRules.read(path), Path(path).name
    origins = [text for key in kernels.origin for text in kernels.codes(f"origin:{key}").values if text]
    names = {str(name) for column in (kernels.names, kernels.extra.get("kernel", ())) for name in column}
    unused = [
        pattern
        for pattern, keys in rules.items()
        if not (
            any(fnmatchcase(name, pattern) for name in names)
            if "part_of" in keys
            else any(f"{file}:" in text and f' "{pattern}": ' in text for text in origins)
        )
    ]
    if not unused:
        return []
    named = listed(map(one_line, unused))
    return [f"{file}: no kernel got its work from {named}: no operation has such a name, or its work was known"]


def with_peaks(one: Chip, peaks: str) -> Chip:
    """Return the chip with the rates that judge.

    Raises
    ------
    MissingFigureError
        If achievable rates are wanted and the chip has no measured rate.
    """
    return one.achievable() if peaks == "achievable" else one


def chip_of(kernels: Kernels, given: str | None, path: str, clock: str | None = None) -> Chip:
    """Return the chip that the user names, or else the chip that the profile names; at `clock` if there is one.

    Raises
    ------
    ValueError
        If neither names a chip.
    """
    ran_on = kernels.chip
    found = ran_on if given is None else chip_called(given)
    if ran_on is not None and found is not None and ran_on.name != found.name:
        say(f"{path}: ran on {ran_on.name}, and --chip judges it by {found.name}")
    fitting = kernels.fitting_chips
    fits = f"its memory and units are those of {listed(fitting)}"
    if found is None:
        about = next((text for text in kernels.warnings if text.startswith(DIFFERENT_CHIPS)), fits if fitting else "")
        why = f"its kernels have no roof: {about}" if about else "names no chip, so its kernels have no roof"
        raise ValueError(
            f"{path}: {why}; say which chip they ran on, for example with --chip {[*fitting, 'h100-sxm'][0]} "
            "('roofwidget chips' lists all)"
        )
    if ran_on is None and fitting and found.id not in fitting and not str(given).lower().endswith(".toml"):
        say(f"{path}: --chip judges it by {found.name}; {fits}")
    return found if clock is None else found.at_clock(clock)


def chip_called(name: str) -> Chip:
    """Return the chip of a TOML file, or of the catalogue."""
    if not name.lower().endswith(".toml"):
        try:
            return chip(name)
        except UnknownChipError as error:
            raise UnknownChipError(f"{error}; 'roofwidget chips WORDS' searches all") from None
    if not Path(name).exists():
        raise FileNotFoundError(2, "there is no such file", name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chips = load_chips(name)
    for one in caught:
        say(str(one.message))
    if len(chips) != 1:
        raise ValueError(f"{name}: has {len(chips)} chips, and one is needed: {listed(one.name for one in chips)}")
    return chips[0]


def share(given: str) -> float:
    """Return a share that the user writes, such as 60% or 0.6."""
    found = _SHARE.fullmatch(given.strip())
    part = float(found[1]) / (_PERCENT if found[2] else 1.0) if found else -1.0
    if not 0 < part <= 1:
        raise argparse.ArgumentTypeError(f"'{given}' is no share; write for example 60% or 0.6")
    return part


def width() -> int:
    """Return the columns of the terminal, or of a pipe."""
    return shutil.get_terminal_size((_PIPE_WIDTH, 0)).columns


def say(message: str) -> None:
    """Print a line for the user on stderr: stdout has only the result."""
    print(f"roofwidget: {message}", file=sys.stderr)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal what is done and for how long, if it takes more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()

    def show() -> None:
        start = time.monotonic()
        if done.wait(_SILENT_SECONDS):
            return
        while True:
            sys.stderr.write(f"{_CLEAR_LINE}{what} … {time.monotonic() - start:.0f} s")
            sys.stderr.flush()
            if done.wait(_SECONDS_BETWEEN_UPDATES):
                break
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()

    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()
