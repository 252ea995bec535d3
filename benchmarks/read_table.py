"""Speed and peak memory of reading large text tables, compared with pandas and Python's csv on the same file.

Writes synthetic tables to the temporary folder, each of 30 MB (or the first argument, in MB): a plain CSV, the same
with output of a program between its rows, rocprof-compute's pmc_perf.csv and Nsight Compute's wide CSV. Each read runs
in a separate process, so that peak memory is measured separately. Import time is not counted.
"""

from __future__ import annotations

import csv
import importlib.util
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
KINDS: Final = 300
OUTPUT_EVERY: Final = 1000
CHANNELS: Final = 600
METRICS: Final = 700
Row = Sequence[object]


def plain(chance: random.Random) -> Iterator[Row]:
    """Yield a header and endless rows of a table in plain words."""
    yield "name", "flops", "bytes", "time (us)", "count", "grid"
    while True:
        name = f"void at::native::kernel_{chance.randrange(KINDS)}<4, float>(int, float*)"
        yield name, chance.randrange(10**12), chance.randrange(10**9), chance.randrange(10**6) / 1e3, 1, "(128, 1, 1)"


def with_output(chance: random.Random) -> Iterator[Row]:
    """Yield the same table with a line of program output after every 1,000 rows."""
    for number, row in enumerate(plain(chance)):
        if number % OUTPUT_EVERY == OUTPUT_EVERY - 1:
            yield (f"step {number} loss {chance.random():.4f}",)
        yield row


def pmc_perf(chance: random.Random) -> Iterator[Row]:
    """Yield a header and endless dispatches of hundreds of counters, as rocprof-compute writes them."""
    used = [f"SQ_INSTS_VALU_{kind}_F{width}" for kind in ("ADD", "MUL", "FMA", "TRANS") for width in (16, 32, 64)]
    used += [f"TCC_EA_{which}_sum" for which in ("RDREQ", "RDREQ_32B", "WRREQ", "WRREQ_64B")]
    channels = [f"TCC_HIT[{channel}]" for channel in range(CHANNELS)]
    yield "Dispatch_ID", "Kernel_Name", *used, *channels, "Start_Timestamp", "End_Timestamp"
    start = 1_700_000_000_000_000_000
    for dispatch in range(10**9):
        end = start + chance.randrange(10**3, 10**5)
        counts = [chance.randrange(10**4) for _ in used[:-4]]
        requests = [chance.randrange(10**3, 10**7) for _ in channels]
        yield (
            dispatch,
            f"kernel_{dispatch % KINDS}(double*, int)",
            *counts,
            5000,
            100,
            5000,
            4000,
            *requests,
            start,
            end,
        )
        start = end + 500


def ncu_wide(chance: random.Random) -> Iterator[Row]:
    """Yield a header, its units and endless launches, as ``ncu --csv --page raw --print-units base`` writes them."""
    counts = ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "dram__bytes.sum"]
    others = [f"metric_{number}.sum" for number in range(METRICS)]
    yield "ID", "Process ID", "Process Name", "Kernel Name", "gpu__time_duration.sum", *counts, *others
    yield "", "", "", "", "nsecond", "inst", "byte", *["inst"] * METRICS
    for launch in range(10**9):
        measured = [f"{chance.randrange(10**9):,}" for _ in (*counts, *others)]
        yield (
            launch,
            4711,
            "train",
            f"void gemm_{launch % KINDS}<float, 8>(float*, int)",
            f"{launch + 1000:,}",
            *measured,
        )


TABLES: Final[dict[str, Callable[[random.Random], Iterator[Row]]]] = {
    "plain": plain,
    "with output": with_output,
    "pmc_perf": pmc_perf,
    "ncu wide": ncu_wide,
}


def write(path: Path, rows: Iterator[Row], size: float, *, quoted: bool) -> None:
    """Write a table of about `size` bytes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
        for row in rows:
            writer.writerow(row)
            if file.tell() > size:
                break


def reading(path: str, how: str) -> None:
    """Read in this process; print seconds, and peak memory in bytes."""
    sys.path.insert(0, str(ROOT))
    if how == "pandas":
        import pandas as pd  # noqa: PLC0415 - the other readers must not pay for this import

        read: Callable[[str], object] = pd.read_csv
    elif how == "csv":
        read = _csv
    else:
        import roofwidget as rw  # noqa: PLC0415 - only this reader pays for the import

        rw.read(b"name,flops,bytes\na,1,2\n")
        read = rw.read
    start = time.perf_counter()
    read(path)
    seconds = time.perf_counter() - start
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def _csv(path: str) -> list[list[str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def measured(path: Path, how: str) -> tuple[float, float]:
    """Return seconds and peak MB of a read in a separate process."""
    command = [sys.executable, __file__, "--read", str(path), how]
    run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")  # noqa: S603
    seconds, memory = run.stdout.split()
    return float(seconds), float(memory) / 1e6


def main() -> None:
    size = float(sys.argv[1]) * 1e6 if len(sys.argv) > 1 else 3e7
    for name, rows in TABLES.items():
        # The reader looks for other files in the folder of pmc_perf.csv, so each table gets its own folder.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "pmc_perf.csv")
            write(path, rows(random.Random(1)), size, quoted=name == "ncu wide")  # noqa: S311 - not for security
            megabytes = path.stat().st_size / 1e6
            ways = ["pandas"] if importlib.util.find_spec("pandas") and name != "with output" else []
            for how in (*ways, "csv", "roofwidget"):
                seconds, memory = measured(path, how)
                speed = f"{seconds:6.2f} s  {megabytes / seconds:6.1f} MB/s  peak {memory:6.0f} MB"
                print(f"{name:12}{megabytes:6,.0f} MB  {how:10}  {speed}")


if __name__ == "__main__":
    reading(sys.argv[2], sys.argv[3]) if "--read" in sys.argv else main()
