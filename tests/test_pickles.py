"""What a pickle names: public import paths only, so that it can still be read after a file has moved."""

from __future__ import annotations

import pickle
import pickletools

import pytest

import roofwidget as rw
from roofwidget.chips import Check, Figure, Share

SOURCE = rw.Source("a data sheet", "https://example.org")
CHIP = rw.Chip(
    "My chip",
    {"bf16": 1e15},
    {"HBM": rw.Memory("HBM", 3e12, 80e9)},
    links={"NVLink": rw.Link("NVLink", 450e9)},
    ceilings=[rw.Ceiling("measured", 2e12, "HBM", measured=True, source=SOURCE)],
    sources={"peak_flops.bf16": SOURCE},
    checks=[Check("peak_flops.bf16", 9e14, SOURCE)],
    energy=rw.Energy(1e-12, 1e-11, 50.0),
)
GRAPH = rw.workloads.transformer_block(rw.dim("batch", 1, 64, default=8), 2048, 4096, 32)
PUBLIC = {"roofwidget", "roofwidget.chips", "roofwidget.workloads"}


def modules_of(pickled: bytes) -> set[str]:
    """Return the modules of this package that a pickle names."""
    texts = [str(value) for _, value, _ in pickletools.genops(pickled)]
    return {text for text in texts if text.startswith("roofwidget")}


@pytest.mark.parametrize(
    "value",
    [
        CHIP,
        Figure("clock", "Clock", 1.98e9, "Hz"),
        Share("SMEM", 233472.0, 132),
        rw.UnknownChipError("no chip is called 'x'"),
        rw.AmbiguousChipError("'x' is one of several chips"),
        rw.MissingFigureError("x has no link"),
        GRAPH.ops[0],
        GRAPH.dims[0],
        GRAPH.ops[0].total_flops,
        rw.Partition.fully(GRAPH),
        rw.workloads.CONVENTIONS["mac"],
        rw.workloads.FusionError(rw.workloads.Refusal("same", "it is already one kernel")),
        rw.ProfileError("a.json", "expected a number", row=3, column="time"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_pickle_names_public_modules_only_and_comes_back_equal(value: object) -> None:
    pickled = pickle.dumps(value)
    assert modules_of(pickled) <= PUBLIC
    back = pickle.loads(pickled)  # noqa: S301 - written above
    assert type(back) is type(value)
    assert str(back) == str(value)
    assert isinstance(value, Exception) or back == value


def test_a_pickle_of_a_graph_names_public_modules_only() -> None:
    pickled = pickle.dumps(GRAPH)
    assert modules_of(pickled) <= PUBLIC
    back = pickle.loads(pickled)  # noqa: S301 - written above
    assert (back.ops, back.outputs, back.count("bytes")) == (GRAPH.ops, GRAPH.outputs, GRAPH.count("bytes"))
