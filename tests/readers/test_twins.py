"""The fixtures differ from real files of Nsight Compute and PyTorch: a reader fitted to real files fails on them."""

from __future__ import annotations

import csv
import gzip
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from roofwidget.readers import read
from tests.places import FIXTURES
from tests.real_files import real_files

LONG = ["european_long.csv", "hopper_long.csv", "passes/bytes.csv", "passes/flops.csv", "volta_long.csv"]
WIDE = ["wide_automatic.csv", "wide_base.csv"]
TRACES = ["cupti", "device", "host", "old"]


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows under the header: cells by column, in the header's order."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    begin = next(at for at, line in enumerate(lines) if "Kernel Name" in line)
    delimiter = ";" if lines[begin].count(";") > lines[begin].count(",") else ","
    return [row for row in csv.DictReader(lines[begin:], delimiter=delimiter) if row["Kernel Name"]]


def events(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    document = json.loads(data)
    found: list[dict[str, Any]] = document["traceEvents"] if isinstance(document, dict) else document
    return found


@pytest.mark.parametrize("name", [*LONG, *WIDE, "details.csv", "summary.csv"])
def test_no_column_that_is_read_stands_where_real_tables_have_it(name: str) -> None:
    own = list(rows(FIXTURES / "ncu" / name)[0])
    for path in real_files("ncu/*.csv"):
        if path.name.startswith("error"):
            continue
        theirs = list(rows(path)[0])
        for word in ("Kernel Name", "Metric Name", "Metric Value", "Average", "Minimum", "Maximum"):
            if word in own and word in theirs:
                assert own.index(word) != theirs.index(word), (path.name, word)


@pytest.mark.parametrize("name", [*LONG, *WIDE, "details.csv", "summary.csv"])
def test_no_kernel_of_a_real_table_is_in_a_twin(name: str) -> None:
    own = {row["Kernel Name"] for row in rows(FIXTURES / "ncu" / name)}
    for path in real_files("ncu/*.csv"):
        if not path.name.startswith("error"):
            assert own.isdisjoint(row["Kernel Name"] for row in rows(path))


@pytest.mark.parametrize("name", [*WIDE, "two_kernels.ncu-rep"])
def test_a_twin_of_a_report_holds_flops_and_bytes_under_other_metrics_than_the_real_one(name: str) -> None:
    own = read(FIXTURES / "ncu" / name).origin
    for path in (*real_files("ncu/raw_wide*.csv"), *real_files("ncu/*.ncu-rep.gz")):
        theirs = read(path).origin
        for key in ("flops:fp32", "bytes:L1"):
            assert own[key][0] is not None
            assert own[key][0] != theirs[key][0], path.name


def test_no_kernel_and_no_shape_of_a_real_trace_is_in_a_twin() -> None:
    def told(path: Path) -> tuple[set[str], set[str]]:
        on_device = ("kernel", "Kernel", "cuda_profiler_range")
        names = {event["name"] for event in events(path) if event.get("cat") in on_device}
        shapes = [(event.get("args") or {}).get("Input Dims") for event in events(path)]
        return names, {str(dims) for dims in shapes if dims and any(dims)}

    twins = [told(FIXTURES / "torch" / f"{name}.trace.json") for name in TRACES]
    for path in real_files("torch/*.json*"):
        if "key_averages" in path.name:
            continue
        names, shapes = told(path)
        for own_names, own_shapes in twins:
            assert own_names.isdisjoint(names)
            assert own_shapes.isdisjoint(shapes)


@pytest.mark.parametrize("name", TRACES)
def test_events_of_a_twin_have_their_keys_in_another_order(name: str) -> None:
    # A reader that finds fields by position would get wrong fields.
    own = {tuple(event) for event in events(FIXTURES / "torch" / f"{name}.trace.json")}
    for path in real_files("torch/*.json*"):
        if "key_averages" not in path.name:
            assert own.isdisjoint(tuple(event) for event in events(path))


@pytest.mark.parametrize(
    ("maker", "folder"),
    [
        ("make_fixtures/ncu.py", "ncu"),
        ("make_fixtures/torch_profiles.py", "torch"),
        ("make_fixtures/ceilings.py", "ceilings"),
        ("make_fixtures/rocprof.py", "rocprof"),
        ("fixtures/make_xprof.py", ""),
        ("fixtures/make_xprof_calls.py", ""),
    ],
)
def test_the_twins_are_what_their_script_makes(maker: str, folder: str) -> None:
    found = runpy.run_path(str(FIXTURES.parent / maker))
    made = {name: twin().encode() for name, twin in found["TWINS"].items()} if "TWINS" in found else found["twins"]()
    for name, data in made.items():
        assert (FIXTURES / folder / name).read_bytes() == data, name
    if folder in {"ncu", "torch"}:
        files = (path for path in (FIXTURES / folder).rglob("*") if path.is_file())
        assert {path.relative_to(FIXTURES / folder).as_posix() for path in files} == made.keys()
