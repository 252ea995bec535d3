"""Write the notebook that `make demo` opens, run and trusted: `python docs/make_demo.py build/demo`.

Its charts are live before any cell is run: their state is saved in the notebook.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.sign import NotebookNotary

# nbformat has types for a part of its functions.
V4: Any = nbformat.v4
WRITTEN: Any = nbformat
NOTARY: Any = NotebookNotary
ROOT = Path(__file__).parents[1]
PROFILE = ROOT / "tests/fixtures/gpu/block_training.json.gz"

TITLE = """# Start here

Two training steps of a transformer block on an H100, as PyTorch's profiler recorded them. Hover over a kernel, drag the
roof, open *All columns*. Any profile of yours: `rw.roofline("profile.json")`, or drop the file onto the chart.
"""
CHIPS = """## Three generations

Drag a slider, or a roof. The dots above the chart hide and show chips; *+ Chip* adds one of the catalogue.
"""
GRAPH = """## Operations to merge

In the tab *Fusion*, click a line between operations: two become one kernel, and the point moves along the roof.
"""
CODE = {
    TITLE: 'import roofwidget as rw\n\nrw.roofline("h100-sxm", "{profile}")',
    CHIPS: 'rw.roofline(["a100-sxm-80gb", "h100-sxm", "b200"])',
    GRAPH: """g = rw.Graph("end of a layer")
x = g.input("x", (rw.dim("tokens", 1, 65536, default=16384), 4096), "bf16")
g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
rw.roofline("h100-sxm", graph=g)""",
}


def lessons(folder: Path) -> str:
    """Return links to the lessons, with their titles."""
    lines = ["## The lessons", ""]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        first = WRITTEN.read(path, as_version=4).cells[0].source
        title = re.sub(r"^#+ *", "", first.partition("\n")[0])
        lines.append(f"- [{title}]({os.path.relpath(path, folder)})")
    return "\n".join(lines) + "\n"


def main(folder: Path) -> Path:
    """Write the notebook and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = []
    for text, code in CODE.items():
        source = code.replace("{profile}", os.path.relpath(PROFILE, folder))
        cells += [V4.new_markdown_cell(text), V4.new_code_cell(source)]
    notebook = V4.new_notebook(cells=[*cells, V4.new_markdown_cell(lessons(folder))])
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    path = folder / "start.ipynb"
    WRITTEN.write(notebook, path)
    NOTARY().sign(notebook)
    return path


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
