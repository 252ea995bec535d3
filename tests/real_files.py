"""Files of real profilers from other projects, which tests read as they are. They are not part of this repository.

`real_files.toml` lists those that anyone may fetch. ``python -m tests.real_files`` fetches them into a folder that git
ignores; if the environment variable ``ROOFWIDGET_REAL_FILES`` names a folder, it takes them from there. A file whose
SHA-256 differs is refused.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT: Final = Path(__file__).parents[1]
FETCHED: Final = ROOT / ".real-files"
# Also files that are listed nowhere, because their licence is unknown or because they were converted.
_BESIDE: Final = ROOT.parent / "shared/data/profiles"
LISTED: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_LEFT_OUT: Final = "a real file is not here: "
_TIMEOUT_SECONDS: Final = 60


def present(pattern: str = "**/*") -> dict[str, Path]:
    """Return the real files of a pattern that are here, by name."""
    folders = (_BESIDE, FETCHED)
    found = [(path.relative_to(folder).as_posix(), path) for folder in folders for path in sorted(folder.glob(pattern))]
    return {name: path for name, path in found if path.is_file() and path.name != "README.md"}


def real_files(pattern: str) -> list[Path]:
    """Return the real files of a pattern such as ``"ncu/*.csv"``, and skip the test if there is none."""
    found = present(pattern)
    if not found:
        pytest.skip(_LEFT_OUT + pattern)
    return list(found.values())


def real_file(name: str) -> Path:
    """Return a real file such as ``"ert/ert_edison.nersc.gov.01.json"``, and skip the test if it is not here."""
    return real_files(name)[0]


def left_out(reasons: Iterable[str]) -> str:
    """Return the line that says how many tests were skipped because a real file is missing; "" for none.

    Parameters
    ----------
    reasons
        The reasons of all skipped tests.
    """
    names = [reason.partition(_LEFT_OUT)[2].rstrip("')") for reason in reasons if _LEFT_OUT in reason]
    if not names:
        return ""
    fetched = sum(any(fnmatch(listed, name) for listed in LISTED) for name in names)
    how = f"; `make real-files` fetches the files of {fetched} of them, which tests/real_files.toml lists"
    tests = "1 test" if len(names) == 1 else f"{len(names)} tests"
    return f"Left out: {tests} of real files that are not in this repository{how if fetched else ''}."


def fetch(take: Callable[[str], bytes], folder: Path) -> list[str]:
    """Write the listed files into a folder, and return a line for each file that could not be fetched.

    Parameters
    ----------
    take
        Returns the content of a file by its name in `LISTED`.
    folder
        Files that are there already are kept.
    """
    failures = []
    for name, about in LISTED.items():
        target = folder / name
        try:
            data = target.read_bytes() if target.exists() else take(name)
        except OSError as error:
            failures.append(f"{name}: {error}")
            continue
        if hashlib.sha256(data).hexdigest() != about["sha256"]:
            failures.append(f"{name}: its SHA-256 is not that of tests/real_files.toml")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return failures


def address(about: Mapping[str, str]) -> str:
    """Return the address of a file at its commit."""
    owner_and_name = about["repository"].removeprefix("https://github.com/")
    return f"https://raw.githubusercontent.com/{owner_and_name}/{about['commit']}/{about['path']}"


def _from_network(name: str) -> bytes:
    # The address begins with https: see `address`.
    with urllib.request.urlopen(address(LISTED[name]), timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
        data: bytes = answer.read()
    return data


def main() -> int:
    """Fetch the listed files. Return 1 if one could not be fetched."""
    given = os.environ.get("ROOFWIDGET_REAL_FILES")
    failures = fetch(_from_network if given is None else lambda name: Path(given, name).read_bytes(), FETCHED)
    sys.stdout.write("".join(f"{line}\n" for line in failures))
    sys.stdout.write(f"{len(LISTED) - len(failures)} of {len(LISTED)} real files are in {FETCHED.name}\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
