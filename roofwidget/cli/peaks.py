"""`roofwidget peaks`: the measured peaks of this machine."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Final

from roofwidget.chips import Chip
from roofwidget.cli.options import say
from roofwidget.measure.hardware_peaks import HardwarePeaks
from roofwidget.measure.peaks import measure_peaks

DESCRIPTION: Final = """\
Measure the peak FLOP rates, and the bandwidths and latencies of the memories of
this machine. Other programs on the machine make them worse.

  roofwidget peaks
  roofwidget peaks --device cuda --budget 20
  roofwidget peaks --out node.toml
  roofwidget check profile.csv --chip node.toml
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    command.add_argument("--device", default="cpu", help="cpu; cuda, cuda:1 or mps by PyTorch; gpu or tpu by JAX")
    command.add_argument(
        "--dtype", action="append", metavar="PRECISION", help="a precision, such as fp32; may be given several times"
    )
    command.add_argument("--budget", type=float, default=5.0, metavar="SECONDS", help="for all figures; by default 5")
    command.add_argument("--json", action="store_true", help="every figure with its spread and method")
    command.add_argument("--out", type=Path, metavar="FILE.toml", help="also write a chip that --chip takes")
    command.set_defaults(run=_measure)


def _measure(options: argparse.Namespace) -> int:
    if options.out is not None and options.out.suffix.lower() != ".toml":
        raise ValueError(f"--out: '{options.out}' must end in .toml, so that --chip takes it")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        peaks = measure_peaks(options.device, dtype=options.dtype, budget_s=options.budget, progress=_progress)
    for warning in caught:
        say(str(warning.message))
    if options.out is not None:
        options.out.write_text(_toml(peaks.chip), encoding="utf-8", newline="\n")
        say(f"wrote {options.out}")
    print(json.dumps(peaks.as_dict(), indent=2, ensure_ascii=False) if options.json else _text(peaks))
    return 0


def _text(peaks: HardwarePeaks) -> str:
    _constructor, *lines = str(peaks).splitlines()
    return "\n".join([f"{peaks.name or 'this machine'}, {peaks.device}", *lines])


def _progress(done: int, total: int | None) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Kmeasured {done} of {total} figures" if done != total else "\r\x1b[K")
        sys.stderr.flush()


def _toml(chip: Chip) -> str:
    """Return the text of a file for `load_chips`. JSON's texts are texts of TOML too."""
    lines = ["[[chips]]", f"name = {json.dumps(chip.name, ensure_ascii=False)}"]
    lines += [f"default_precision = {json.dumps(chip.default_precision)}"]
    lines += [f"peak_flops.{precision} = {_figure(rate, 'FLOP/s')}" for precision, rate in chip.peak_flops.items()]
    for level, memory in chip.memories.items():
        capacity = "" if memory.capacity is None else f', capacity = "{memory.capacity:.0f} B"'
        bandwidth = _figure(memory.bandwidth or 0.0, "B/s")
        latency = "" if memory.latency is None else f", latency = {_figure(memory.latency, 's')}"
        lines.append(f"memories.{json.dumps(level)} = {{ bandwidth = {bandwidth}{capacity}{latency} }}")
    lines += ["", "[sources.measured]", 'title = "roofwidget peaks"', 'confidence = "measured"', ""]
    return "\n".join(lines)


def _figure(rate: float, unit: str) -> str:
    # `load_chips` refuses a small number that has no unit.
    return f'{{ value = "{rate!r} {unit}", source = "measured" }}'
