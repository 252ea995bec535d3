"""A program that uses the main public names. Type checkers read it against the installed package."""

from __future__ import annotations

import sys
from pathlib import Path

import roofwidget as rw


def judge(profile: Path, chip_name: str) -> str:
    """Return the kernel of a profile to fix first."""
    kernels: rw.Kernels = rw.read(profile)
    chip: rw.Chip = rw.chip(chip_name)
    judged: rw.Bound = rw.bound(kernels, chip)
    ridge: float = chip.ridge_point()
    first = kernels.top(1, by="headroom", chip=chip)
    names = [kernel.name for kernel in first]
    advices = rw.advise(judged)
    report = f"{names[0]} of {len(kernels)} kernels; ridge {ridge:.0f} FLOP/B; {len(advices)} advices"
    return f"{report}; bound by {', '.join(judged.bound_by)}"


def made() -> rw.Kernels:
    """Return kernels made by hand."""
    matmul = rw.Kernel("matmul", 4e12, 1e10, time=8e-3, precision="bf16", category="gemm")
    copy = rw.Kernel("copy", 0, 8e9)
    columns = rw.Kernels([matmul.name, copy.name], [4e12, 0], [1e10, 8e9], time=[8e-3, 4e-3])
    return columns.filter("mat*", time_share=0.9)


def my_chip() -> rw.Chip:
    """Return a chip that the catalogue does not have."""
    chip = rw.Chip("Mine", {"bf16": "400 TFLOP/s", "fp32": 1e14}, {"HBM": "2 TB/s"}, year=2026)
    return chip.with_ceiling("no tensor cores", peak_flops="100 TFLOP/s", precision="bf16")


def show(chip: rw.Chip) -> rw.RooflineWidget:
    """Return a widget with what-ifs and a snapshot."""
    widget = rw.roofline([chip, "h100-sxm"], [("matmul", 4e12, 1e10, 8e-3)], title="Two chips", locale="en")
    widget.set_what_if(bandwidth="3 TB/s")
    widget.focus_chip = chip.id
    bandwidth: float = widget.bandwidth
    widget.reset()
    path: Path = widget.save("page.html")
    html: str = widget.to_html()
    svg: str = widget.to_svg()
    png: bytes = widget.to_png()
    sys.stdout.write(f"{path} {bandwidth} {len(html)} {len(svg)} {len(png)}\n")
    return widget


def fuse(chip: rw.Chip) -> float:
    """Return how long the best partition of a chain takes, in seconds."""
    graph: rw.Graph = rw.chain([("gelu", 8), ("scale", 1)], elements=rw.dim("n", 1, 8192, default=4096))
    best: rw.Partition = rw.Partition.best(graph, chip)
    return best.time(chip)


def compare(before: rw.Kernels, after: rw.Kernels, chip: rw.Chip) -> tuple[int, int]:
    """Return how many kernels two runs have in common, and how many chips are compared."""
    runs: rw.RunComparison = rw.compare_runs(before, after)
    chips: rw.Comparison = rw.compare_chips(after, [chip, "b200"])
    projected: rw.Projection = rw.project(after, "b200")
    advices: rw.Advices = rw.advise(rw.bound(after, chip))
    return len(runs.to_dataframe()), len(chips.flips) + len(advices) + int(projected.time < projected.before)


def lesson(chip: rw.Chip) -> rw.Story:
    """Return a story with a question."""
    question = rw.Question(key="ridge", prompt="Where is the ridge?", answer=chip.ridge_point(), unit="FLOP/B")
    return rw.Story(rw.roofline([chip]), [rw.Step("One chip."), rw.Step("A question.", question=question)])


def measure(budget_s: float) -> rw.HardwarePeaks:
    """Measure this machine, and one function on it."""
    peaks = rw.measure_peaks(budget_s=budget_s)
    profile: rw.Profile = rw.profile(sum, [1, 2, 3])
    profile.roofline(peaks)
    return peaks


if __name__ == "__main__":
    sys.stdout.write(f"roofwidget {rw.__version__}: {judge(Path(sys.argv[1]), 'h100-sxm')}\n")
