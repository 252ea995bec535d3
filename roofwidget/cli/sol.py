"""`roofwidget sol`: the least time for the operations of a model, and what a measured time says."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from roofwidget.chips import Chip, MissingFigureError
from roofwidget.cli.options import chip_called, share, width, working
from roofwidget.cli.sol_file import graph_in
from roofwidget.cli.sol_report import report, text
from roofwidget.measure.sol import sol
from roofwidget.workloads.speed_of_light import SpeedOfLight

DESCRIPTION: Final = """\
Say the least time in which a chip can do the operations of a graph, of a
PyTorch model or of a JAX function: its speed of light. The file is imported.
The model is traced, and not run.

  roofwidget sol model.py --chip h100-sxm
  roofwidget sol model.py:attention --chip b200 --json
  roofwidget sol model.py --chip h100-sxm --measured 12us --baseline 20us

FILE.py has a Graph; or a function or a class of models, and get_inputs(), which
returns the list of example inputs. A class also has get_init_inputs(), which
returns its arguments. Problems of KernelBench are such files.

In CI:
  roofwidget sol model.py --chip h100-sxm --measured 12us --fail-below 60%

Exit status: 0 fine, 1 below a limit that you gave or an impossible time, 2
could not say (one sentence on stderr).
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    command.add_argument(
        "file", metavar="FILE.py[:NAME]", help="a Python file, and the graph, model or function in it that counts"
    )
    command.add_argument(
        "--chip", required=True, metavar="CHIP", help="a name that 'roofwidget chips' lists, or a TOML file"
    )
    command.add_argument(
        "--precision", default="auto", help="the precision whose peak applies to every op; by default its own"
    )
    command.add_argument(
        "--launch-overhead", default="0", metavar="TIME", help="the least time of a kernel, such as 2us; not of light"
    )
    command.add_argument("--warm", action="store_true", help="inputs are in cache before the program runs")
    command.add_argument("--measured", metavar="TIME", help="a measured time, such as 12us, to compare with")
    command.add_argument(
        "--baseline", metavar="TIME", help="a measured time that scores 1/2; by default that of a modelled compiler"
    )
    command.add_argument("--json", action="store_true", help="JSON of the schema in sol.schema.json; see docs/ci.md")
    command.add_argument(
        "--fail-below",
        type=share,
        metavar="SHARE",
        help="exit with 1 if --measured reaches less of the speed of light, such as 60%% or 0.6",
    )
    command.set_defaults(run=_sol)


def _sol(options: argparse.Namespace) -> int:
    for option, value in (("--baseline", options.baseline), ("--fail-below", options.fail_below)):
        if value is not None and options.measured is None:
            raise ValueError(f"{option} is about a measured time: give it with --measured 12us")
    how = {"launch_overhead": options.launch_overhead, "warm": options.warm}
    found = light_of(options.file, chip_called(options.chip), options.precision, **how)
    document = report(
        found,
        file=options.file,
        measured=options.measured,
        baseline=options.baseline,
        fail_below=options.fail_below,
    )
    if options.json:
        print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(text(found, document, width()))
    return int(document["exit_status"])


def light_of(file: str, chip: Chip, precision: str = "auto", **how: Any) -> SpeedOfLight:
    """Return the speed of light of what ``FILE.py[:NAME]`` has.

    Raises
    ------
    ValueError, OSError
        If the file has nothing to count, or the chip lacks a peak. The message names the file and what to do.
    """
    with working(f"tracing {file}"):
        graph = graph_in(file)
        try:
            return sol(graph, chip, precision, **how)
        except MissingFigureError as error:
            fix = f"--precision {chip.precision()} takes that peak for every op"
            raise ValueError(f"{file}: {error}; {fix}") from error
