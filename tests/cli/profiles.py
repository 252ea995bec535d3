"""Small profiles for tests of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# Every fixture that names its chip and has kernels with a roof.
WITH_CHIP: Final = (
    "ncu/two_kernels.ncu-rep",
    "ncu/wide_automatic.csv",
    "ncu/wide_base.csv",
    "rocprof/gfx90a",
    "torch/device.trace.json",
    "xprof_calls.cli_roofline.json",
    "xprof_calls.roofline_model.json",
    "xprof_gpu.roofline_model.csv",
    "xprof_gpu.roofline_model.json",
    "xprof_tpu.roofline_model.csv",
    "xprof_tpu.roofline_model.json",
)
# Fixtures about which nothing can be said without a chip, or at all.
WITHOUT_ANSWER: Final = (
    "ceilings/elm.json",
    "hlo/attention.txt",
    "ncu/error_only.csv",
    "ncu/hopper_long.csv",
    "rocprof/gfx942",
    "torch/cupti.trace.json",
    "xprof_empty.roofline_model.json",
)
CHIP: Final = """\
[[chips]]
name = "Mine"
peak_flops.bf16 = "100 TFLOP/s"
memories.HBM = "1 TB/s"
"""


def chip_file(folder: Path) -> str:
    """Write the chip on which the expected numbers of the tests are easy. Return the path."""
    path = folder / "mine.toml"
    path.write_text(CHIP, encoding="utf-8")
    return str(path)


def profile_file(folder: Path, rows: str, name: str = "profile.csv") -> str:
    """Write a table of kernels. Return the path."""
    path = folder / name
    path.write_text(f"name,flops,bytes,time (s)\n{rows}\n", encoding="utf-8")
    return str(path)
