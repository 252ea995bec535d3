"""The widgets whose saved states lie beside this file, by the name of the file.

Chips and graphs are made here, not taken from the catalogue: a figure that is corrected there must not look as if what
a widget writes had changed. A case whose state is saved is not changed any more: make another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import roofwidget as rw

__all__ = ["CASES", "INLINE", "LOCALES"]

# Ridge points at 100 FLOP/byte from HBM and at 10 from L2, and at 200 from HBM.
SMALL: Final = rw.Chip(
    "Small",
    {"bf16": 100e12, "fp8": 200e12, "fp32": 25e12},
    {"HBM": rw.Memory("HBM", 1e12, 80e9), "L2": rw.Memory("L2", 10e12, 50e6, "whole chip")},
    links={"ICI": rw.Link("ICI", 100e9)},
    ceilings=[rw.Ceiling("no FMA", 50e12), rw.Ceiling("STREAM", 0.8e12, memory="HBM", measured=True)],
    clock=1e9,
    notes=["Its figures are round."],
)
LARGE: Final = rw.Chip("Large", {"bf16": 400e12, "fp8": 800e12}, {"HBM": 2e12}, clock=2e9)
HIDDEN: Final = rw.Chip("Hidden", {"bf16": 50e12}, {"HBM": 0.5e12})

NAMES: Final = ("jit(step)/matmul.1", "jit(step)/matmul.2", "gelu", "copy", "all-reduce", "infeed", "opaque")


def _profile(scale: float = 1.0, *, network: bool = True) -> rw.Kernels:
    """Return a measured program: a copy without FLOPs, and one kernel of which nothing is known."""
    nan = math.nan
    levels = {
        "HBM": [1e10, 2e9, 4e9, 8e9, 1e9, 1e9, nan],
        "L2": [4e10, 8e10, 4e9, 8e9, 1e9, 1e9, nan],
    }
    return rw.Kernels(
        NAMES,
        {"bf16": [2e12, 0, 1e9, 0, 1e8, 0, nan], "fp8": [0, 1.6e12, 0, 0, 0, 0, nan]},
        levels | {"network": [0, 0, 0, 0, 2e9, 0, nan]} if network else levels,
        time=[0.04 * scale, 0.02, 0.005 / scale, 0.01, 0.03, 0.002, nan],
        self_time=[0.04 * scale, 0.02, 0.004 / scale, 0.01, 0.03, 0.002, nan],
        precision=["bf16", "fp8", "bf16", None, "bf16", None, None],
        category=["gemm", "gemm", "elementwise", "data movement", "collective", "infeed", None],
        count=[4, 2, 10, 1, 3, 1, 1],
        origin={"flops": "2MNK", "time": ["trace", "trace", "trace", "trace", "clock", "trace", None]},
        extra={"module": ["block 0", "block 1", "block 0", None, None, None, None], "occupancy": [0.5] * 6 + [nan]},
        chip=SMALL,
        program=rw.Kernels(["program"], [3.6e12], {"HBM": [2.6e10]}, time=[0.12]),
        steps=rw.Kernels(["step 1", "step 2"], [1.8e12] * 2, {"HBM": [1.2e10, 1.4e10]}, time=[0.05, 0.07]),
        warnings=["One kernel was not measured."],
        source="a profile",
    )


def _block(name: str, convention: str, rows: int) -> rw.Graph:
    """Return two products with a gelu between them, over as many rows as a dimension says."""
    graph = rw.Graph(name, convention=convention)
    batch = rw.dim("batch", 1, 1024, default=rows)
    x = graph.input("x", (batch, 512), "bf16")
    up = graph.matmul(x, graph.input("up", (512, 2048), "bf16"), name="expand")
    down = graph.matmul(graph.gelu(up, name="act"), graph.input("down", (2048, 512), "bf16"), name="shrink")
    graph.output(graph.add(down, x, name="residual"))
    return graph


def _kernels() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget(
        [SMALL, LARGE, HIDDEN],
        _profile(),
        title="A measured program",
        shown=["small", "large"],
        focus_chip="large",
        memory="all",
        all_levels=True,
        launch_overhead=2e-6,
        baseline=_profile(1.5),
        sort_by="-flops",
        columns=["name", "time", "flops:bf16", "extra:module"],
        rulers=False,
        hovered=2,
        tabbable=True,
        layout={"width": "900px"},
    )
    widget.focus_chip = "small"
    widget.add_class("mine")
    return [widget]


def _graph() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget(
        [SMALL, LARGE],
        graphs={"prefill": _block("prefill", "textbook", 512), "decode": _block("decode", "textbook", 8)},
        phase="decode",
        dims={"batch": 64},
        convention="torch",
        dtype="fp8",
        partition=[["expand", "act"], ["shrink"], ["residual"]],
        selected=[0],
    )
    return [widget]


def _what_ifs() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget(
        [SMALL, LARGE],
        _profile(network=False),
        focus_chip="large",
        precision="bf16",
        exposed_roofs=[0.2],
        search="matmul",
        categories=["gemm", ""],
        bounds=["compute", "HBM"],
        precisions=["bf16", ""],
        time_share=0.9,
        top=5,
        infeed=False,
        at_roof=[0],
        selected=[0],
    )
    widget.freeze("before")
    widget.set_what_if("small", bandwidth="0.5 TB/s")
    widget.set_what_if("large", peak_flops="600 TFLOP/s", bandwidth="3 TB/s")
    widget.ceilings = ["fp8"]
    widget.move(0, bytes=0.5, time=0.8)
    widget.zoom = (1, 1e4, 1e12, 1e15)
    widget.rate_unit, widget.word, widget.x_axis, widget.tick_base = "FLOP/cycle", 2, "balance", 2
    return [widget]


def _time_view() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget(
        [SMALL],
        _profile(network=False),
        memory="HBM",
        scope="program",
        view="time",
        time_scale="linear",
        presentation=True,
    )
    widget.zoom = (0, 0.04, 0, 0.06)
    return [widget]


def _german() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget([SMALL], _profile(), title="Ein Programm", locale="de")
    widget.peak_flops = "150 TFLOP/s"
    return [widget]


def _shared_code() -> list[rw.RooflineWidget]:
    return [rw.RooflineWidget([chip], [("product", 1e12, 1e9), ("copy", 0, 8e6)]) for chip in (SMALL, LARGE)]


def _inline() -> list[rw.RooflineWidget]:
    return [rw.RooflineWidget([SMALL], [("product", 1e12, 1e9)])]


def _typed_work() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget([SMALL, LARGE], _profile(network=False), colour_by="time", frame="chip")
    widget.typed_work = {6: {"flops": "1 TFLOP", "bytes": "2 GB"}}
    widget.added_chips = ["h100-sxm"]
    return [widget]


def _lesson() -> list[rw.RooflineWidget]:
    widget = rw.RooflineWidget(
        [SMALL, LARGE],
        _profile(network=False),
        locks=["precision", "filters"],
        hidden_panels=["projection"],
        ranges={"peak_flops": ("50 TFLOP/s", "200 TFLOP/s")},
        snap={"bandwidth": ["1 TB/s", "2 TB/s", "4 TB/s"]},
        terms={"ridge": "knee"},
        open_files="nothing",
    )
    limit = rw.Question(
        key="limit",
        prompt="What limits **gelu**?",
        answer="memory",
        options={"memory": "It moves more than it computes.", "compute": "Its intensity is left of the knee."},
    )
    ridge = rw.Question(key="ridge", prompt="Where is the knee of Small?", answer=100, unit="FLOP/B")
    rw.Story(
        widget,
        [
            rw.Step("Two chips."),
            rw.Step("A faster memory.", {"bandwidth": "2 TB/s"}, question=limit),
            rw.Step(question=ridge, hides=["gelu"]),
        ],
    )
    widget.answers = {"limit": ["compute", "memory"], "ridge": [250]}
    widget.step = 2
    return [widget]


CASES: Final[Mapping[str, Callable[[], list[rw.RooflineWidget]]]] = MappingProxyType(
    {
        "german": _german,
        "graph": _graph,
        "inline": _inline,
        "kernels": _kernels,
        "lesson": _lesson,
        "shared_code": _shared_code,
        "time_view": _time_view,
        "typed_work": _typed_work,
        "what_ifs": _what_ifs,
    }
)
INLINE: Final = "inline"
"""The case whose widgets are made with ``ROOFWIDGET_INLINE=1``."""
LOCALES: Final = MappingProxyType({"german": "de"})
"""The cases in another language than English; the state does not name it."""
