"""Find a Chromium or Chrome; run as a script with ``--install``, also install Debian's.

The one place that knows the names: the Makefile runs this file, the harness imports it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# First the Chromium without windows: it paints the same pixels, in a tenth less processor time.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
VARIABLE = "ROOFWIDGET_CHROMIUM"
ADVICE = f"no Chromium or Chrome found: install one (Debian: apt-get install chromium) or set {VARIABLE}"


def find() -> str:
    """Return the path of the browser, or raise ``FileNotFoundError`` with one line of advice."""
    named = os.environ.get(VARIABLE)
    if named:
        path = shutil.which(named)
        if path is None:
            raise FileNotFoundError(f"{VARIABLE}={named} is not a program that can be run")
        return path
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    raise FileNotFoundError(ADVICE)


def install() -> None:
    """Install Debian's Chromium where that is possible: as root, with apt-get."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}

    def done(*arguments: str) -> bool:
        command = [apt, "-qq", *arguments]
        return subprocess.run(command, env=quiet, stdin=subprocess.DEVNULL, check=False).returncode == 0

    done("update")
    # Older releases have no package of the shell alone.
    if not done("install", "-y", SHELL):
        done("install", "-y", "chromium")


def main() -> None:
    """Print the browser's path, or stop with one line that says what to do."""
    try:
        sys.stdout.write(f"{find()}\n")
    except FileNotFoundError:
        if "--install" not in sys.argv or os.environ.get(VARIABLE):
            raise
        install()
        sys.stdout.write(f"{find()}\n")


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:
        sys.exit(str(error))
