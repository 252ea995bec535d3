"""Environments for programs that are too large for the development environment: `make hosts` and `make graders`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.browser import lab

ROOT: Final = Path(__file__).parents[1]
DEV: Final = "dev"


def python_of(environment: str) -> Path:
    """Return the interpreter of an environment."""
    return Path(sys.executable) if environment == DEV else ROOT / ".hosts" / environment / "bin" / "python"


def variables_of(environment: str, home: Path) -> dict[str, str]:
    """Return the variables of a process in an environment, which finds none of the user's files."""
    variables: dict[str, Any] = lab.environment(home)
    folder = python_of(environment).parent
    return variables | {
        "HOME": str(home),
        "PATH": f"{folder}{os.pathsep}{variables.get('PATH', '')}",
        "VIRTUAL_ENV": str(folder.parent),
    }


def run(environment: str, folder: Path, home: Path, program: str, *arguments: str) -> str:
    """Run a program of an environment in a folder. Return what it prints."""
    home.mkdir()
    done = subprocess.run(
        [str(python_of(environment).parent / program), *arguments],
        cwd=folder,
        env=variables_of(environment, home),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"{program}: {done.stdout}"
    return done.stdout


def make(packages: Mapping[str, Iterable[str]], names: Iterable[str] = ()) -> None:
    """Make environments, each with its packages and with roofwidget as it is here. By default all."""
    for name in names or packages:
        folder = python_of(name).parents[1]
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python_of(name)), "-m", "pip", "install", "--quiet"]
        skip = os.environ | {"HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"}
        subprocess.run([*pip, "--editable", f"{ROOT}[notebooks]", *packages[name]], check=True, env=skip)
