"""Precisions have one spelling inside, and every place takes the names that other programs use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.state.what_if import read_only_what_if
from roofwidget.support.precisions import PRECISION_ALIASES, precision_key
from roofwidget.workloads import DTYPES, Graph, Op, Tensor, decoder
from tests.places import write

PEAKS = {"bf16": 1e15, "fp16": 9e14, "fp32": 6e13, "fp64": 3e13, "fp8": 2e15, "fp16_vector": 1e14}
CHIP = rw.Chip("chip", PEAKS, {"HBM": 1e12})
NAMES = [
    ("bfloat16", "bf16"),
    ("BFloat16", "bf16"),
    ("torch.bfloat16", "bf16"),
    ("half", "fp16"),
    ("Half", "fp16"),
    ("float16", "fp16"),
    ("float32", "fp32"),
    ("single", "fp32"),
    ("double", "fp64"),
    ("float64", "fp64"),
    ("float8_e4m3fn", "fp8"),
    ("e5m2", "fp8"),
]


def graph_of(dtype: str) -> Graph:
    graph = Graph()
    graph.matmul(graph.input("a", (64, 64), dtype), graph.input("b", (64, 64), dtype))
    return graph


PLACES: dict[str, Callable[[str], Any]] = {
    "a kernel": lambda word: rw.Kernel("k", 1, 1, precision=word).precision,
    "FLOPs of a kernel": lambda word: list(rw.Kernel("k", {word: 1}, 1).flops)[0],  # type: ignore[arg-type]  # noqa: RUF015
    "a column of kernels": lambda word: rw.Kernels(["k"], [1], [1], precision=[word]).precision[0],
    "columns of FLOPs": lambda word: next(iter(rw.Kernels(["k"], {word: [1]}, [1]).flops_by_precision)),
    "a filter": lambda word: rw.Kernels(["k"], [1], [1], precision=[word]).filter(precisions=word).precision[0],
    "a peak of a chip": lambda word: next(iter(rw.Chip("c", {word: 1}, {"HBM": 1}).peak_flops)),
    "a look-up in a chip": CHIP.precision,
    "the default of a chip": lambda word: CHIP.replace(default_precision=word).default_precision,
    "a changed peak": lambda word: next(
        key for key, rate in CHIP.replace(peak_flops={word: 5}).peak_flops.items() if rate == 5
    ),
    "what-if rates": lambda word: next(
        key for key, rate in CHIP.with_rates({word: 5}, {}).peak_flops.items() if rate == 5
    ),
    "a measured peak": lambda word: CHIP.with_measured(peak_flops={word: 1e13}).ceilings[0].precision,
    "a ceiling": lambda word: CHIP.with_ceiling("x", peak_flops=1e13, precision=word).ceilings[0].precision,
    "the source of a peak": lambda word: next(
        iter(CHIP.replace(sources={f"peak_flops.{word}": rw.Source("sheet")}).sources)
    ).partition(".")[2],
    "the record of a chip": lambda word: next(
        iter(rw.Chip.from_dict({"name": "c", "peak_flops": {word: 1}, "memories": {"HBM": 1}}).peak_flops)
    ),
    "bound": lambda word: rw.bound([("k", 1, 1)], CHIP, precision=word).precision,
    "project": lambda word: rw.project([("k", 1, 1, 1)], CHIP, source=CHIP, recast=word).precision,
    "the widget": lambda word: rw.RooflineModel([CHIP], [("k", 1, 1)], precision=word).precision,
    "the widget's filter": lambda word: (rw.RooflineModel([CHIP], [("k", 1, 1)], precisions=[word]).precisions or ())[
        0
    ],
    "the widget's ceilings": lambda word: (rw.RooflineModel([CHIP], [("k", 1, 1)], ceilings=[word]).ceilings or ())[0],
    "the widget's what-ifs": lambda word: next(iter(_after_what_if(word).what_if["chip"]["peak_flops"])),
    "what-ifs as a mapping": lambda word: next(
        iter(read_only_what_if({"chip": {"peak_flops": {word: 1}}})["chip"]["peak_flops"])
    ),
    "a tensor": lambda word: Tensor("t", (2,), word).dtype,
    "a graph's tensors": lambda word: graph_of(word).main_dtype,
    "the dtype of a graph": lambda word: graph_of("int8").with_dtype(word).dtype,
    "an operation": lambda word: Op("o", "elementwise", (), [Tensor("t", (2,), "int8")], 1, precision=word).precision,
    "a preset's dtype": lambda word: decoder("llama-3-8b", layers=1, dtype=word).main_dtype,
}


def _after_what_if(word: str) -> rw.RooflineModel:
    model = rw.RooflineModel([CHIP], [("k", 1, 1)])
    model.set_what_if(peak_flops=5, precision=word)
    return model


@pytest.mark.parametrize(("word", "name"), NAMES)
@pytest.mark.parametrize("place", PLACES)
def test_a_precision_may_have_the_name_that_other_programs_use(place: str, word: str, name: str) -> None:
    assert PLACES[place](word) == name


def test_a_unit_after_the_precision_stays() -> None:
    assert rw.Chip("c", {"half": 2, "half_vector": 1}, {"HBM": 1}).peak_of("vector", "float16") == (1, True)


def test_one_peak_under_two_names_is_refused() -> None:
    with pytest.raises(ValueError, match="'bfloat16' is there twice"):
        rw.Chip("c", {"bf16": 1, "bfloat16": 2}, {"HBM": 1})
    with pytest.raises(ValueError, match="'bfloat16' is there twice"):
        rw.Kernel("k", {"bf16": 1, "bfloat16": 2}, 1)


def test_an_alias_is_the_name_of_no_other_precision() -> None:
    own = set(DTYPES) | {precision for chip in rw.chips() for precision in chip.peak_flops}
    assert not own & set(PRECISION_ALIASES)
    assert {precision_key(name) for name in own} == own


def test_a_profile_names_precisions_as_other_programs_do(tmp_path: Path) -> None:
    file = write(tmp_path / "kernels.csv", "name,flops,bytes,dtype\na,1,1,bfloat16\nb,1,1,float32\n")
    assert rw.read(file).precision.tolist() == ["bf16", "fp32"]
