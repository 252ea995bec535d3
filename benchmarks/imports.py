"""Processor time that the first widget's import adds to `import anywidget, numpy`: medians over fresh interpreters."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

FLOOR = "import anywidget, numpy"
WIDGET = f"{FLOOR}, roofwidget; roofwidget.RooflineWidget"
DRAWN = f"{WIDGET}(['v5p'], [('matmul', 4.3e9, 1.2e7)])"
LIMIT_MS = 80
ROUNDS = 15


def seconds(code: str) -> float:
    """Return the processor time of a fresh interpreter from its start to the end of the code."""
    # An installed package has bytecode. A checkout gets it in the first round, unless this variable forbids it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", f"{code}\nimport time; print(time.process_time())"]
    run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", env=environment)  # noqa: S603
    return float(run.stdout)


def main() -> None:
    seconds(DRAWN)  # bytecode and the page cache are warm from here on
    rounds = [[seconds(code) for code in (FLOOR, WIDGET, DRAWN)] for _ in range(ROUNDS)]
    floor, widget, drawn = (statistics.median(column) * 1e3 for column in zip(*rounds, strict=True))
    print(f"import anywidget, numpy            {floor:7.1f} ms")
    print(f"and roofwidget.RooflineWidget      {widget:7.1f} ms")
    print(f"and a widget of one kernel         {drawn:7.1f} ms")
    print(f"added by the import                {widget - floor:7.1f} ms (limit {LIMIT_MS} ms)")
    if widget - floor > LIMIT_MS:
        sys.exit("roofwidget adds too much to the import")


if __name__ == "__main__":
    main()
