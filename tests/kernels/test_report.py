"""What a notebook shows of kernels, presets, graphs, partitions and profiles: tables, with warnings, never markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import roofwidget as rw
from roofwidget.workloads import Graph, chain, decoder, dim
from tests.places import write
from tests.tables import has_columns

EVIL = "<script>alert(1)</script>"


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_kernels_are_a_table_with_their_warnings() -> None:
    kernels = rw.Kernels(
        ["gelu", EVIL],
        [1.3e8, 0],
        [6.7e7, float("nan")],
        time=[2.2e-5, float("nan")],
        category=["loop", None],
        warnings=["no bytes of <b>"],
        source="run.csv",
    )
    html = kernels._repr_html_()
    assert cells(html) == [
        ["kernel", "FLOPs", "bytes", "AI", "time", "category"],
        ["gelu", "130 MFLOP", "67 MB", "1.94 FLOP/B", "22 µs", "loop"],
        ["&lt;script&gt;alert(1)&lt;/script&gt;", "0 FLOP", "unknown", "unknown", "", ""],
    ]
    assert "<caption>2 kernels · 1 measured · run.csv</caption>" in html
    assert "<li>no bytes of &lt;b&gt;</li>" in html
    assert "<script>" not in html
    assert repr(kernels) == "Kernels(2 kernels, 1 measured; run.csv; 1 warning)"


def test_a_large_table_of_kernels_says_how_many_are_not_shown() -> None:
    many = rw.Kernels([f"k{row}" for row in range(1_020)], [1] * 1_020, [1] * 1_020, count=[2] * 1_020)
    shown = cells(many._repr_html_())
    assert len(shown) == 22
    assert shown[0] == ["kernel", "FLOPs", "bytes", "AI", "launches"]
    assert shown[-1] == ["… and 1,000 more"]
    assert repr(rw.Kernels(["a"], [1], [1])) == "Kernels(1 kernel, 0 measured)"
    assert repr(rw.RooflineModel(["v5p"], [("a", 1, 1)])).endswith("; 1 kernel)")


def test_no_kernels_are_an_empty_table() -> None:
    assert "<caption>0 kernels · 0 measured</caption>" in rw.Kernels()._repr_html_()


def test_a_preset_is_a_table_of_chips_and_one_of_kernels() -> None:
    preset = rw.preset("tpu-roofline-guide")
    html = preset._repr_html_()
    assert ["v6e", "918 TFLOP/s bf16", "1.6 TB/s HBM", "573.8 FLOP/B"] in cells(html)
    assert html.count("<table>") == 2
    assert f"<li>Source: {preset.source.title}</li>" in html


def test_a_graph_is_a_table_of_its_ops_counted_at_the_defaults() -> None:
    graph = Graph("net")
    graph.relu(graph.input("x", (dim("batch", 1, 64, default=4), 8), "bf16"), name=EVIL)
    html = graph._repr_html_()
    assert cells(html)[0] == ["op", "kind", "reads", "writes", "FLOPs", "bytes"]
    assert cells(html)[1][-2:] == ["32 FLOP", "128 B"]
    assert "<li>Counted at batch = 4.</li>" in html
    assert "<script>" not in html
    ops = decoder("llama-3-8b")
    assert cells(ops._repr_html_())[-1] == [f"… and {len(ops.ops) - 20:,} more"]


def test_a_partition_is_a_table_of_its_kernels() -> None:
    graph = chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=268_435_456)
    by_twos = rw.Partition(graph, [["LayerNorm", "GELU"], ["Dropout", "Add"]])
    html = by_twos._repr_html_()
    assert cells(html)[1:] == [
        ["LayerNorm, GELU", "2", "4.83 GFLOP", "1.07 GB", "4.5 FLOP/B"],
        ["Dropout, Add", "2", "537 MFLOP", "1.07 GB", "0.5 FLOP/B"],
    ]
    assert "4 ops in 2 kernels" in html


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write(tmp_path / "a.csv", "name,flops,bytes,time (s)\nk,1e9,1e6,2\nl,1e9,1e6,3\n")
    write(tmp_path / "b.csv", "name,flops,bytes,time (s)\nm,4e9,2e6,5\n")
    write(tmp_path / "c.csv", "name,flops,bytes\nm,x,2\n")
    return tmp_path


@pytest.mark.filterwarnings("ignore:1 of 3 files")
def test_profiles_are_merged_summed_and_shown_as_a_table(runs: Path) -> None:
    profiles = rw.read_many(runs / "*.csv")
    merged = profiles.merge()
    has_columns(merged, names=["k", "l", "m"], extra={"profile": [str(runs / "a.csv")] * 2 + [str(runs / "b.csv")]})
    assert merged.source == "2 profiles"
    assert profiles.totals()["time"] == 10
    assert profiles.totals()["flops"] == 6e9
    frame = profiles.to_dataframe()
    assert frame["profile"].tolist() == [str(runs / name) for name in ("a.csv", "b.csv", "c.csv")]
    assert frame["time"].tolist()[:2] == [5, 5]
    assert "flops" in frame["error"][2]
    html = profiles._repr_html_()
    assert [row[1:] for row in cells(html)[1:]] == [
        ["2", "2", "5 s", "2 GFLOP", "2 MB", ""],
        ["1", "1", "5 s", "4 GFLOP", "2 MB", ""],
    ]
    assert "<caption>2 profiles read, 1 failed</caption>" in html
    assert "c.csv: failed: " in html


@pytest.mark.filterwarnings("ignore:1 of 3 files")
def test_profiles_can_be_drawn_and_bounded_like_kernels(runs: Path) -> None:
    profiles = rw.read_many(runs / "*.csv")
    assert rw.bound(profiles, "v5p").names.tolist() == ["k", "l", "m"]
    assert rw.RooflineModel(["v5p"], kernels=profiles).kernels == profiles.merge()
    assert len(rw.read_many([]).merge()) == 0
