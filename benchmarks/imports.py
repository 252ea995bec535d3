"""Time that `import roofwidget` adds to `import anywidget, numpy`: medians over five fresh interpreters each."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

PROBE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
LIMIT_MS = 60
ROUNDS = 5


def seconds(modules: str) -> float:
    """Return how long the imports take in a fresh interpreter."""
    # An installed package has bytecode. A checkout gets it in the first round, unless this variable forbids it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", PROBE.format(modules)]
    run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=environment)  # noqa: S603
    return float(run.stdout)


def main() -> None:
    seconds("anywidget, numpy, roofwidget")  # bytecode and the page cache are warm from here on
    pairs = [(seconds("anywidget, numpy"), seconds("anywidget, numpy, roofwidget")) for _ in range(ROUNDS)]
    base, both = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    print(f"import anywidget, numpy              {base:7.1f} ms")
    print(f"import anywidget, numpy, roofwidget  {both:7.1f} ms")
    print(f"added                                {both - base:7.1f} ms (limit {LIMIT_MS} ms)")
    if both - base > LIMIT_MS:
        sys.exit("roofwidget adds too much to the import")


if __name__ == "__main__":
    main()
