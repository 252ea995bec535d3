"""Every public function answers an argument of a wrong type with one clear error, never with an error from inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import traitlets

import roofwidget as rw
from roofwidget import network
from roofwidget.workloads import Graph, Tensor, decoder

CHIP = rw.chip("h100-sxm")
KERNELS = rw.Kernels(["a", "b"], [1e12, 2e12], [1e9, 1e10], time=[1e-2, 2e-2], category=["x", "y"])
BOUND = rw.bound(KERNELS, CHIP)


def graph() -> Graph:
    made = Graph("g")
    made.output(made.gelu(made.relu(made.input("x", (8, 8), "bf16"))))
    return made


def model() -> rw.RooflineModel:
    return rw.RooflineModel([CHIP], KERNELS)


GRAPH = graph()
UNFUSED = rw.Partition.unfused(GRAPH)
WRONG: tuple[Any, ...] = (
    *(None, "", "x", "3 TB/s", "×1.5", 1.5, -1, float("nan"), 10**400, True, b"x", object(), lambda: 1, int),
    *([], ["x"], [None], [1, 2], (), {}, {"x": 1}, {"x": None}, {1: 2}, {"bf16": "x"}),
    *(CHIP, KERNELS, rw.Kernels(), GRAPH),
)
CALLS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    "attainable": (rw.attainable, {"ai": 1, "peak_flops": 1e12, "bandwidth": 1e12}),
    "ridge_point": (rw.ridge_point, {"peak_flops": 1e12, "bandwidth": 1e12}),
    "bound": (
        rw.bound,
        {"kernels": KERNELS, "chip": CHIP, "precision": "bf16", "memory": "HBM", "overlap": 1.0}
        | {"exposed_comm": 0.0, "launch_overhead": 0.0},
    ),
    "advise": (rw.advise, {"bound": BOUND, "close": 0.8, "stop": 0.95, "way_below": 0.1}),
    "project": (
        rw.project,
        {"kernels": KERNELS, "chip": CHIP, "source": CHIP, "clock": 0.5, "precision": "bf16", "memory": "main"}
        | {"at_roof": [0]},
    ),
    "project, recast": (rw.project, {"kernels": KERNELS, "chip": CHIP, "source": CHIP, "recast": "bf16"}),
    "compare_chips": (rw.compare_chips, {"kernels": KERNELS, "chips": [CHIP]}),
    "compare_runs": (rw.compare_runs, {"before": KERNELS, "after": KERNELS}),
    "compare_runs, named": (
        rw.compare_runs,
        {"before": KERNELS, "after": KERNELS, "names": ["a", "b"], "dates": ["2026-01-01", "2026-01-02"]}
        | {"baseline": "a", "match": ["name"], "chip": CHIP},
    ),
    "critical_batch": (
        rw.critical_batch,
        {"chip": CHIP, "d": 8192, "f": 8192, "precision": "bf16", "memory": "main", "weight_bytes": 2}
        | {"activation_bytes": 2, "output_bytes": 2},
    ),
    "critical_batch_per_chip": (
        rw.critical_batch_per_chip,
        {"chip": CHIP, "precision": "bf16", "bandwidth": 1e11, "gradient_bytes": 2},
    ),
    "smallest_square_matmul": (
        rw.smallest_square_matmul,
        {"chip": CHIP, "precision": "bf16", "memory": "main", "itemsize": 2},
    ),
    "chip": (rw.chip, {"name": "h100-sxm"}),
    "chips": (rw.chips, {"vendor": "amd", "family": "CDNA 3"}),
    "load_chips": (rw.load_chips, {"path": "/nonexistent.toml"}),
    "preset": (rw.preset, {"name": "williams-2009"}),
    "Kernel": (
        rw.Kernel,
        {"name": "k", "flops": 1, "bytes": 1, "time": 1, "precision": "bf16", "category": "c", "count": 1},
    ),
    "Kernels": (
        rw.Kernels,
        {"names": ["a"], "flops": [1], "bytes": [1], "time": [1], "precision": ["bf16"], "category": ["x"]}
        | {"count": [1], "self_time": [1], "origin": {"flops": "x"}, "extra": {"x": [1]}, "warnings": ["x"]},
    ),
    "Kernels.from_records": (rw.Kernels.from_records, {"records": [("a", 1, 1)]}),
    "Kernels.from_dataframe": (rw.Kernels.from_dataframe, {"frame": KERNELS.to_dataframe()}),
    "Kernels.top": (KERNELS.top, {"n": 1, "by": "time", "chip": CHIP}),
    "Kernels.filter": (
        KERNELS.filter,
        {"search": "a", "categories": ["x"], "bounds": ["compute"], "precisions": [""], "time_share": 0.5, "top": 1}
        | {"chip": CHIP},
    ),
    "Kernels.bytes_on": (KERNELS.bytes_on, {"chip": CHIP}),
    "Kernels.launches_of": (KERNELS.launches_of, {"row": 0}),
    "Kernels.codes": (KERNELS.codes, {"field": "name"}),
    "Chip": (
        rw.Chip,
        {"name": "c", "peak_flops": {"bf16": 1}, "memories": {"HBM": 1}, "id": "x", "year": 2020, "clock": 1e9}
        | {"default_precision": "bf16", "aliases": ["a"], "sources": {}, "links": {"L": 1}, "ceilings": []}
        | {"checks": [], "units": "1 SM", "power": 1, "energy": None, "notes": ["x"]},
    ),
    "Chip.from_dict": (rw.Chip.from_dict, {"record": CHIP.to_dict()}),
    "Chip.replace": (CHIP.replace, {"peak_flops": {"bf16": 1}, "memories": {"HBM": 1}, "links": {"NVLink": 1}}),
    "Chip.with_measured": (CHIP.with_measured, {"peak_flops": {"bf16": 1}, "bandwidth": {"HBM": 1}, "source": None}),
    "Chip.with_ceiling": (CHIP.with_ceiling, {"name": "n", "peak_flops": 1, "precision": "bf16", "source": None}),
    "Chip.with_ceiling of a memory": (CHIP.with_ceiling, {"name": "n", "bandwidth": 1, "memory": "HBM"}),
    "Chip.with_rates": (CHIP.with_rates, {"peak_flops": {"bf16": 1}, "bandwidths": {"HBM": 1}}),
    "Chip.peak": (CHIP.peak, {"precision": "bf16"}),
    "Chip.peak_of": (CHIP.peak_of, {"flop_class": "vector", "precision": "bf16"}),
    "Chip.bandwidth": (CHIP.bandwidth, {"memory": "main"}),
    "Chip.link_bandwidth": (CHIP.link_bandwidth, {"name": "NVLink"}),
    "Chip.ridge_point": (CHIP.ridge_point, {"precision": "bf16", "memory": "main"}),
    "network.collective_time": (
        network.collective_time,
        {"kind": "all-reduce", "size": 1, "ranks": 2, "bandwidth": 1, "latency": 1, "topology": "ring"},
    ),
    "network.network_bytes": (network.network_bytes, {"kind": "all-reduce", "size": 1, "ranks": 2, "topology": "ring"}),
    "network.network_intensity": (network.network_intensity, {"flops": 1, "network_bytes": 1}),
    "network.network_ridge_point": (
        network.network_ridge_point,
        {"chip": CHIP, "precision": "bf16", "link": "NVLink"},
    ),
    "network.exposed_fraction": (
        network.exposed_fraction,
        {"network_time": 1, "overlappable_time": 1, "body_time": 2},
    ),
    "network.effective_roof": (network.effective_roof, {"attainable": 1, "exposed": 0.1}),
    "dim": (rw.dim, {"name": "b", "low": 1, "high": 8, "default": 2}),
    "Tensor": (Tensor, {"name": "t", "shape": (1, 2), "dtype": "bf16"}),
    "Graph": (Graph, {"name": "g", "convention": "textbook", "dtype": "bf16"}),
    "Graph.input": (lambda **given: graph().input(**given), {"name": "t", "shape": (1, 2), "dtype": "bf16"}),
    "Graph.output": (lambda tensor: graph().output(tensor), {"tensor": "relu"}),
    "Graph.matmul": (lambda **given: graph().matmul(**given), {"a": GRAPH.tensors["x"], "b": GRAPH.tensors["relu"]}),
    "Graph.matmul by position": (lambda a: graph().matmul(a, a), {"a": GRAPH.tensors["x"]}),
    "Graph.with_dtype": (GRAPH.with_dtype, {"dtype": "bf16"}),
    "Graph.with_convention": (GRAPH.with_convention, {"convention": "textbook"}),
    "Graph.kernels": (GRAPH.kernels, {"dims": {}}),
    "Graph.flops": (GRAPH.flops, {"op": "relu"}),
    "Graph.bytes": (GRAPH.bytes, {"what": "relu"}),
    "Graph.count": (GRAPH.count, {"what": "flops", "dims": {}}),
    "Graph.dtype_of": (GRAPH.dtype_of, {"tensor": "relu"}),
    "decoder": (decoder, {"preset": "llama-3-8b", "batch": 1, "seq": 8, "phase": "prefill", "dtype": "bf16"}),
    "Partition": (rw.Partition, {"graph": GRAPH, "groups": [["relu"], ["gelu"]]}),
    "Partition.best": (rw.Partition.best, {"graph": GRAPH, "chip": CHIP}),
    "Partition.unfused": (rw.Partition.unfused, {"graph": GRAPH}),
    "Partition.time": (UNFUSED.time, {"chip": CHIP, "precision": "bf16", "dims": {}, "launch_overhead": 0.0}),
    "Partition.why_not": (UNFUSED.why_not, {"a": "relu", "b": "gelu", "chip": CHIP, "dims": {}}),
    "Partition.fuse": (UNFUSED.fuse, {"a": "relu", "b": "gelu"}),
    "Partition.split": (UNFUSED.split, {"op": "relu"}),
    "Partition.recompute": (UNFUSED.recompute, {"tensor": "relu"}),
    "Partition.bytes": (UNFUSED.bytes, {"group": "relu"}),
    "RooflineModel": (rw.RooflineModel, {"chips": [CHIP], "kernels": KERNELS}),
    "set_what_if": (
        lambda **given: model().set_what_if(**given),
        {"chip": "h100-sxm", "peak_flops": 1e12, "bandwidth": 1e12, "precision": "bf16", "memory": "main"},
    ),
    "model.bound": (lambda **given: model().bound(**given), {"chip": "h100-sxm"}),
    "model.reset": (lambda **given: model().reset(**given), {"chip": "h100-sxm"}),
    "model.move": (lambda **given: model().move(**given), {"kernel": 0, "bytes": 0.5, "time": 2}),
    "model.freeze": (lambda **given: model().freeze(**given), {"name": "x"}),
    "model.projection": (lambda **given: model().projection(**given), {"source": CHIP}),
    **{
        f"model.{name} =": (lambda value, name=name: setattr(model(), name, value), {"value": None})
        for name in rw.RooflineModel.class_trait_names()
        if not name.startswith("_")
    },
}
PUBLIC = (TypeError, ValueError, LookupError, traitlets.TraitError, OSError)
# What errors from inside say, such as "'NoneType' object has no attribute 'casefold'".
FROM_INSIDE = (
    *("object has no attribute", "unsupported operand", "not subscriptable", "cannot unpack", "has no len"),
    *("indices must", "could not convert", "unhashable", "surrogates", "codec", "too large to convert"),
    *("not supported between", "object is not", "object cannot be", "argument of type", "out of range for"),
)


def _said(function: Callable[..., Any], given: Mapping[str, Any]) -> str | None:
    try:
        function(**given)
    except PUBLIC as error:
        return str(error)
    return None


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_an_argument_of_a_wrong_type_gets_one_clear_error(call: str) -> None:
    function, good = CALLS[call]
    for argument in good:
        for wrong in WRONG:
            said = _said(function, {**good, argument: wrong})
            if said is not None:
                where = f"{call}({argument}={wrong!r:.40}): {said}"
                assert said, where
                assert not any(word in said for word in FROM_INSIDE), where


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: CHIP.with_measured(bandwidth="3 TB/s"),  # type: ignore[arg-type]
            TypeError,
            "bandwidth must be a mapping such as {'HBM': '3 TB/s'}, got '3 TB/s'",
        ),
        (
            lambda: CHIP.with_measured(peak_flops=67e12),  # type: ignore[arg-type]
            TypeError,
            "peak_flops must be a mapping such as {'bf16': '989 TFLOP/s'}, got 67000000000000.0",
        ),
        (
            lambda: CHIP.with_ceiling(rw.Ceiling("x", 67e12)),  # type: ignore[arg-type]
            TypeError,
            "with_ceiling takes a name and a rate, as in with_ceiling('no FMA', peak_flops='67 TFLOP/s')",
        ),
        (lambda: CHIP.bandwidth(3), TypeError, "the name of a memory of NVIDIA H100 SXM5 80GB must be text, got 3"),  # type: ignore[arg-type]
        (lambda: rw.advise(BOUND, close="0.8"), TypeError, "close must be a share such as 0.8, got '0.8'"),  # type: ignore[arg-type]
        (lambda: GRAPH.matmul("x", "relu"), TypeError, "operator 'matmul': a must be a Tensor"),
        (lambda: rw.Partition.unfused(CHIP), TypeError, "must be a Graph, got Chip("),  # type: ignore[arg-type]
        (lambda: GRAPH.kernels(8), TypeError, "dims must be a mapping such as {'batch': 8}, got 8"),  # type: ignore[arg-type]
        (lambda: rw.Kernels(5, [1], [1]), TypeError, "names must be a list such as ['gelu', 'matmul'], got 5"),  # type: ignore[arg-type]
        (lambda: KERNELS.launches_of(7), IndexError, "there is no row 7: the table has 2 rows"),
        (lambda: KERNELS.codes("queue"), KeyError, "the table has no text column 'queue'; it has 'name', 'precision'"),
        (lambda: rw.chips(vendor=3), TypeError, "vendor must be text, got 3"),  # type: ignore[arg-type]
        (lambda: rw.load_chips(None), TypeError, "path must be the path of a TOML file, got None"),  # type: ignore[arg-type]
        (lambda: rw.project(KERNELS, CHIP, source=CHIP, at_roof=0), TypeError, "at_roof must be a list such as [0, 3]"),  # type: ignore[arg-type]
    ],
)
def test_an_error_names_the_argument_and_the_fix(call: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert said in str(caught.value)


def test_bytes_on_takes_the_name_of_a_chip() -> None:
    np.testing.assert_array_equal(KERNELS.bytes_on("h100-sxm"), KERNELS.bytes_on(CHIP))
