"""Run each step of `tests.gpu.steps` in a process of its own, and pack what they leave: ``python -m tests.gpu``.

Needs Python with numpy; a step needs PyTorch, JAX, nvcc or Nsight Compute and says which one is missing. Packages of
roofwidget that the machine lacks come from ``.hosts/gpu``, see `make gpu-packages`. At most eight files remain in the
folder that the environment variable ``OUT`` names, or in ``build/gpu``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
import zlib
from pathlib import Path
from typing import Final

from tests.gpu.steps import STEPS

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ROOT / ".hosts/gpu"
TOTAL_SECONDS: Final = 400
MAX_ARCHIVE_BYTES: Final = 16 * 2**20
ARCHIVES: Final = ("figures", "torch", "ncu", "slow", "jax")
"""Folders of what the steps leave; each becomes one file."""


def main() -> None:
    """Run the steps that the command line names, by default all."""
    out = Path(os.environ.get("OUT") or ROOT / "build/gpu").resolve()
    work = out / "work" if "OUT" not in os.environ else ROOT / "build/gpu-work"
    for folder in (out, *(work / name for name in ARCHIVES)):
        folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with (out / "report.txt").open("w", encoding="utf-8") as report:
        for name in sys.argv[1:] or STEPS:
            limit = min(STEPS[name], TOTAL_SECONDS - (time.monotonic() - begin))
            said = _run(name, work, limit) if limit > 1 else f"== {name}: left out, the time is over\n"
            report.write(said)
            report.flush()
            print(said, end="", flush=True)
        for name in ARCHIVES:
            report.write(_pack(work / name, out / f"{name}.tar.gz"))


def _run(name: str, work: Path, limit: float) -> str:
    """Run a step and return what it printed, with its outcome and seconds in the first line."""
    begin = time.monotonic()
    path = os.pathsep.join([str(ROOT), str(PACKAGES), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.gpu.steps", name, str(work)]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path},
            check=False,
            timeout=limit,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        outcome, printed = "done" if done.returncode == 0 else f"failed with {done.returncode}", done.stdout
    except subprocess.TimeoutExpired as late:
        outcome, printed = f"stopped after {limit:.0f} s", late.stdout or b""
    text = printed.decode("utf-8", "replace")
    return f"== {name}: {outcome}, {time.monotonic() - begin:.1f} s\n{text}\n"


def _pack(folder: Path, archive: Path) -> str:
    """Pack a folder, the smallest files first; return which files would make the archive too large."""
    left_out: list[str] = []
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    with tarfile.open(archive, "w:gz") as packed:
        for path in files:
            compressed = len(zlib.compress(path.read_bytes()))
            if archive.stat().st_size + compressed < MAX_ARCHIVE_BYTES:
                packed.add(path, path.relative_to(folder).as_posix())
            else:
                left_out.append(f"{path.name} ({compressed} bytes compressed)")
    return f"{archive.name}: left out {', '.join(left_out)}\n" if left_out else ""


if __name__ == "__main__":
    main()
