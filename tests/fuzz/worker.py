"""Runs cases of one subject in this process, and prints a line of JSON for each; `tests.fuzz.run` starts it.

::

    python -m tests.fuzz.worker SUBJECT SEED FIRST END
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final

from nbformat.warnings import DuplicateCellId
from traitlets import TraitError

from tests.fuzz.chips import CHIPS
from tests.fuzz.messages import MESSAGES
from tests.fuzz.profiles import OF_REAL_PROGRAMS, PROFILES
from tests.fuzz.states import STATES
from tests.fuzz.subject import Case, Subject

SUBJECTS: Final[dict[str, Subject]] = {
    "profiles": PROFILES,
    "real": OF_REAL_PROGRAMS,
    "chips": CHIPS,
    "states": STATES,
    "messages": MESSAGES,
}
MAX_MESSAGE_CHARACTERS: Final = 2000
"""The longest message of an error. A longer one does not fit on a screen."""
_MAX_ADDRESS_SPACE: Final = 8 * 2**30
_PEAK: Final = Path("/proc/self/clear_refs")
_STATUS: Final = Path("/proc/self/status")


def drawn(subject: str, seed: int, number: int) -> Case:
    """Return a case. The same three arguments always give the same case."""
    return SUBJECTS[subject].draw(Random(f"{seed} {subject} {number}"))  # noqa: S311 - not for security


def peak_bytes() -> int:
    """Return the largest memory of this process since `forget_peak`, or since its start where Linux is not."""
    if not _STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return next(int(line.split()[1]) for line in _STATUS.read_text("ascii").splitlines() if "VmHWM" in line) * 1024


def forget_peak() -> None:
    """Count the largest memory from now on."""
    if _PEAK.exists():
        _PEAK.write_text("5", "ascii")


def used(subject: str, case: Case) -> dict[str, Any]:
    """Use a case, and return what came of it: "result" or the error, seconds of this process, and bytes of memory."""
    known = SUBJECTS[subject]
    forget_peak()
    before, start = peak_bytes(), time.process_time()
    failure = None
    try:
        known.use(case)
        outcome = "result"
    except known.documented as error:
        outcome = next(kind.__name__ for kind in type(error).__mro__ if kind in known.documented)
        # The message of a TraitError goes to the log, and a page's texts are limited already.
        if not 0 < len(str(error)) <= (10**6 if isinstance(error, TraitError) else MAX_MESSAGE_CHARACTERS):
            where = "".join(traceback.format_tb(error.__traceback__)[-6:])
            failure = f"{where}a message of {len(str(error)):,} characters: {error!s:.300}"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        outcome = type(error).__name__
        failure = traceback.format_exc()
    seconds = time.process_time() - start
    return {
        "what": case.what,
        "size": case.size,
        "outcome": outcome,
        "failure": failure and failure[-6000:],
        "seconds": seconds,
        "bytes": peak_bytes() - before,
    }


def main() -> None:
    subject, seed, first, end = sys.argv[1], *map(int, sys.argv[2:5])
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_ADDRESS_SPACE, _MAX_ADDRESS_SPACE))
    # A warning for the user is a result. A warning of numpy or of Python is a defect.
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=UserWarning)
    warnings.filterwarnings("ignore", category=FutureWarning, module="nbformat")
    warnings.filterwarnings("ignore", category=DuplicateCellId)
    warnings.filterwarnings("ignore", message="metadata .* was set from the constructor", category=DeprecationWarning)
    # The first case would pay for all imports and for everything that is computed once. Parquet may come late.
    with contextlib.suppress(ImportError):
        import_module("pyarrow.parquet")
    for number in range(first - 3, first):
        used(subject, drawn(subject, seed, number))
    # The start of a process is no part of a case.
    sys.stdout.write(json.dumps(None) + "\n")
    sys.stdout.flush()
    for number in range(first, end):
        line = {"number": number, **used(subject, drawn(subject, seed, number))}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
