"""What the solutions of lessons print, held against the sources of the lessons."""

from __future__ import annotations

from typing import Any

import pytest

from tests.places import ROOT, json_of

NOTEBOOKS = ROOT / "notebooks"


def cells_of(lesson: str) -> list[str]:
    """Return the code cells of a lesson."""
    content = json_of(NOTEBOOKS / lesson)
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def test_the_solution_on_the_paper_of_2009_counts_the_kernels_that_a_machine_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Williams, Waterman, Patterson, CACM 52(4), page 74: no store without write-allocate on the T2+, DMA on Cell. Ridge
    # points 6.7, 4.4, 0.33 and 0.65 FLOP/B; a stencil with write-allocate has 0.333 FLOP/B.
    cells = cells_of("08_the_2009_paper.ipynb")
    names: dict[str, Any] = {}
    for cell in (cells[0], cells[-1]):
        exec(cell, names)  # noqa: S102 - the repository's own notebook
    printed = [line.split(";")[0] for line in capsys.readouterr().out.splitlines() if "memory-bound" in line]
    assert [" ".join(line.split()) for line in printed] == [
        "Intel Xeon E5345 8 of 8 memory-bound, 0 at the ridge point",
        "AMD Opteron X4 2356 8 of 8 memory-bound, 0 at the ridge point",
        "Sun UltraSPARC T2+ 5120 2 of 5 memory-bound, 1 at the ridge point",
        "IBM Cell QS20 3 of 5 memory-bound, 0 at the ridge point",
    ]
