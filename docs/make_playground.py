"""Write the playground: a page on which anyone types kernels and merges graphs, without Python.

`make site` writes it as ``playground.html``. The script builds the page's code with Node, and puts an empty widget, the
catalogue of chips and a few graphs into the page.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import roofwidget as rw
from roofwidget import wire
from roofwidget.export import page, saved_state
from roofwidget.state.requests import compressed

BUILT: Final = ROOT / "build" / "playground"
"""The folder of the built code."""
TITLE: Final = "Roofline playground"
_INTRODUCTION: Final = (
    "Pick a chip, type your kernels or choose a graph, and see what bounds them. Drag roofs, sliders and points. "
    "Everything runs on this page: it sends nothing to anyone, and works without a network."
)
_NO_SCRIPT: Final = "The playground needs JavaScript."
# The rows and columns of the tensors of lesson 3.
_ROWS: Final = (32 * 2048, 4096)


def text() -> str:
    """Build the code, and return the HTML of the playground.

    Raises
    ------
    RuntimeError
        If the code cannot be built: the message has what Node printed.
    """
    script, style = build()
    introduction = f"<h1>{TITLE}</h1>\n<p>{_INTRODUCTION}</p>"
    body = f"{introduction}\n<div data-playground>{_embedded()}<noscript><p>{_NO_SCRIPT}</p></noscript></div>"
    return page.document([], body, TITLE, datetime.now().astimezone().date(), style, starter=script)


def build() -> tuple[str, str]:
    """Build the code of the playground into `BUILT`. Return its script and its style."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("the playground is built with Node, which is not on the path")
    command = [node, str(ROOT / "js" / "build.mjs"), "--playground", str(BUILT)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603 - our own script
    if done.returncode:
        raise RuntimeError(f"the playground cannot be built:\n{done.stdout}{done.stderr}")
    sys.stdout.write(done.stdout)
    script, style = ((BUILT / name).read_text(encoding="utf-8") for name in ("playground.js", "playground-style.css"))
    return script, style


def graphs() -> dict[str, tuple[str, rw.Graph]]:
    """Return the graphs to play with: by the key that links name, a title and a graph."""
    chain = rw.chain(
        [("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=_ROWS[0] * _ROWS[1], dtype="bf16"
    )
    return {
        "chain": ("LayerNorm, GELU, Dropout, Add: a chain", chain),
        "residual": ("LayerNorm, GELU, Dropout, Add: with a residual", _tail(shared=False)),
        "shared": ("LayerNorm, GELU, Dropout, Add: the residual is x", _tail(shared=True)),
        "feed-forward": ("A feed-forward block", _feed_forward()),
        "attention": ("Attention", _attention()),
    }


def _tail(*, shared: bool) -> rw.Graph:
    graph = rw.Graph("residual is the input" if shared else "residual of its own")
    x = graph.input("x", _ROWS, "bf16")
    residual = x if shared else graph.input("residual", _ROWS, "bf16")
    y = graph.dropout(graph.gelu(graph.layernorm(x, affine=False, flops_per_element=10)))
    graph.output(graph.add(y, residual))
    return graph


def _feed_forward() -> rw.Graph:
    graph = rw.Graph("feed-forward")
    tokens = rw.dim("tokens", 1, 16384, default=4096)
    x = graph.input("x", (tokens, 4096), "bf16")
    normed = graph.layernorm(x, affine=False, flops_per_element=10)
    up = graph.matmul(normed, graph.input("W1", (4096, 16384), "bf16"), name="up")
    down = graph.matmul(graph.gelu(up), graph.input("W2", (16384, 4096), "bf16"), name="down")
    graph.output(graph.add(graph.dropout(down), x))
    return graph


def _attention() -> rw.Graph:
    graph = rw.Graph("attention")
    heads, length = 32, rw.dim("sequence", 128, 32768, default=4096)
    q, k, v = (graph.input(name, (heads, length, 128), "bf16") for name in "qkv")
    scores = graph.batched_matmul(q, k, transpose_b=True, name="scores")
    weights = graph.softmax(scores)
    graph.output(graph.batched_matmul(weights, v, name="values"))
    return graph


def _embedded() -> str:
    """Return the element with the values of an empty widget, and the graphs."""
    embedded = {key: {"title": title, "graph": wire.graph_to_wire(one)} for key, (title, one) in graphs().items()}
    state: dict[str, Any] = rw.RooflineModel(chips=[]).wire_state()
    packed = compressed(saved_state.saved(state, graphs=embedded))
    return f'<script type="text/plain">{packed}</script>'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
