"""CPU seconds and peak memory of reading tables of many rows, compared with pandas and polars on the same file.

Writes a CSV and a Parquet file of each size to the temporary folder: name (200 different), flops, bytes, time,
precision, category. Each read runs in a separate process, and the best of three counts: CPU seconds do not depend on
other load as much as wall-clock time does. Import time and the memory after the imports are not counted, except those
of pyarrow, which roofwidget imports when it reads a large file. "alone" is roofwidget without pyarrow and polars.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).parents[1]
ROWS: Final = (100_000, 1_000_000, 5_000_000)
WAYS: Final = ("pandas", "polars", "roofwidget", "alone")
RUNS: Final = 3
NAMES: Final = 200


def write(folder: Path, rows: int) -> list[Path]:
    """Write the table in both forms and return the paths."""
    import pandas as pd  # noqa: PLC0415 - the measured processes must not import it

    chance = np.random.default_rng(1)
    names = np.array([f"void at::native::kernel_{at}<4, float>(int, float*)" for at in range(NAMES)], dtype=object)
    words = {"precision": ["fp16", "bf16", "fp32"], "category": ["gemm", "copy", "reduce"]}
    table = pd.DataFrame(
        {
            "name": names[chance.integers(0, NAMES, rows)],
            "flops": chance.integers(0, 10**12, rows),
            "bytes": chance.integers(0, 10**9, rows),
            "time (us)": chance.integers(1, 10**6, rows) / 1e3,
            **{key: np.array(texts, dtype=object)[chance.integers(0, 3, rows)] for key, texts in words.items()},
        }
    )
    paths = [folder / f"{rows}.csv", folder / f"{rows}.parquet"]
    table.to_csv(paths[0], index=False)
    table.to_parquet(paths[1])
    return paths


def reading(path: str, how: str) -> None:
    """Read in this process; print CPU seconds, and the growth of the peak memory in bytes."""
    read = _reader(how, path.endswith("parquet"))
    before = os.times()
    memory = peak()
    kept = read(path)
    after = os.times()
    print(after.user + after.system - before.user - before.system, peak() - memory, type(kept).__name__)


def peak() -> int:
    """Return the peak memory of this process in bytes. `resource` counts that of the process that started it, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _reader(how: str, is_parquet: bool) -> Callable[[str], Any]:  # noqa: FBT001 - one caller
    if how in {"pandas", "polars"}:
        library: Any = __import__(how)
        return library.read_parquet if is_parquet else library.read_csv  # type: ignore[no-any-return]  # by name
    sys.path.insert(0, str(ROOT))
    if how == "alone":
        modules: dict[str, Any] = sys.modules
        # None stops an import.
        modules.update(pyarrow=None, polars=None)
    import roofwidget as rw  # noqa: PLC0415 - only this reader pays for the import

    rw.read(b"name,flops,bytes\na,1,2\n")
    return rw.read


def measured(path: Path, how: str) -> tuple[float, float]:
    """Return CPU seconds and peak MB: the best of several reads in separate processes."""
    command = [sys.executable, __file__, "--read", str(path), how]
    runs = [subprocess.run(command, check=True, capture_output=True, encoding="utf-8") for _ in range(RUNS)]  # noqa: S603
    figures = [[float(one) for one in run.stdout.split()[:2]] for run in runs]
    seconds, memory = map(min, zip(*figures, strict=True))
    return seconds, memory / 1e6


def main() -> None:
    sizes = [int(float(size)) for size in sys.argv[1:]] or ROWS
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for path in write(Path(folder), rows):
                # Parquet needs a library.
                for how in WAYS[: 4 if path.suffix == ".csv" else 3]:
                    seconds, memory = measured(path, how)
                    print(
                        f"{rows:>9,} rows  {path.suffix[1:]:8}{how:11}{seconds:6.2f} s CPU  {memory:6,.0f} MB",
                        flush=True,
                    )


if __name__ == "__main__":
    reading(sys.argv[2], sys.argv[3]) if "--read" in sys.argv else main()
