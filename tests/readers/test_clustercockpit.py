"""Reading the archive of ClusterCockpit: a job, its nodes, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from tests.real_files import real_file
from tests.tables import has_columns, lists, warns

GF = {"base": "F/s", "prefix": "G"}
GB = {"base": "B/s", "prefix": "G"}
JOB: dict[str, Any] = {
    "jobId": 7,
    "duration": 86486,
    "numNodes": 32,
    "shared": "none",
    "statistics": {
        "flops_any": {"avg": 225.59, "min": 0, "max": 404.62, "unit": GF},
        "mem_bw": {"avg": 63.57, "min": 0, "max": 74.5, "unit": GB},
        "mem_used": {"avg": 27.84, "min": 1, "max": 37.5, "unit": GB},
    },
}
CLUSTER = {
    "name": "c",
    "metricConfig": [],
    "subClusters": [
        {
            "name": "big",
            "flopRateSimd": {"unit": GF, "value": 112},
            "flopRateScalar": {"unit": GF, "value": 14},
            "memoryBandwidth": {"unit": GB, "value": 24.5},
        }
    ],
}


def metric(unit: Any, **hosts: list[Any]) -> dict[str, Any]:
    series = [{"hostname": host, "data": data, "statistics": {"avg": 1e9}} for host, data in hosts.items()]
    return {"node": {"unit": unit, "timestep": 60, "series": series}}


def nodes(**metrics: Any) -> dict[str, Any]:
    return {
        "flops_any": metric(GF, n1=[2, None, 3.5], n2=[1, 1, 1]),
        "mem_bw": metric(GB, n1=[0.5, 1, 0.25], n2=[2, None, 4]),
    } | metrics


def as_bytes(document: Any) -> bytes:
    return json.dumps(document).encode()


def job(**statistics: Any) -> dict[str, Any]:
    return JOB | {"statistics": statistics}


def test_a_job_has_the_mean_rates_of_its_nodes_for_as_long_as_it_ran() -> None:
    kernels = read(as_bytes(JOB))
    has_columns(
        kernels,
        names=["job 7"],
        time=[86486.0],
        flops=pytest.approx([225.59e9 * 32 * 86486], rel=1e-15),
        bytes=pytest.approx([63.57e9 * 32 * 86486], rel=1e-15),
        arithmetic_intensity=pytest.approx([225.59 / 63.57], rel=1e-15),
        achieved=pytest.approx([7.21888e12], rel=1e-15),
    )
    assert kernels.read_as["format"] == "clustercockpit"
    assert warns(kernels, "32 nodes together")
    assert warns(kernels, "flops_any", "double precision twice")
    how = "mean rate of a node x numNodes x duration"
    assert lists(kernels.origin) == {"flops": [f"flops_any: {how}"], "bytes": [f"mem_bw: {how}"], "time": ["duration"]}


def test_a_node_has_the_sums_of_the_samples_that_all_metrics_have() -> None:
    kernels = read(gzip.compress(as_bytes(nodes())))
    has_columns(
        kernels,
        names=["n1", "n2"],
        time=[120.0, 120.0],
        flops=[5.5 * 60e9, 2 * 60e9],
        bytes=[0.75 * 60e9, 6 * 60e9],
    )
    assert warns(kernels, "left out, with their time: 2")


def test_flops_of_two_precisions_are_added_as_they_are_and_not_to_those_of_any() -> None:
    single, double = ({"avg": avg, "unit": GF} for avg in (3, 4))
    found = read(as_bytes(job(flops_any={"avg": 11, "unit": GF}, flops_sp=single, flops_dp=double)))
    assert found.flops.tolist() == [7e9 * 32 * 86486]
    assert {key: texts[0].partition(":")[0] for key, texts in lists(found.origin).items()} == {
        "flops:fp32": "flops_sp",
        "flops:fp64": "flops_dp",
        "time": "duration",
    }
    assert lists(found.flops_by_precision) == {"fp32": [3e9 * 32 * 86486], "fp64": [4e9 * 32 * 86486]}
    assert not warns(found, "twice")
    rows = read(as_bytes(nodes(flops_sp=metric(GF, n1=[1, 2, 3]), flops_dp=metric(GF, n1=[4, 5, None]))))
    has_columns(rows, flops=[12 * 60e9, float("nan")], bytes=[1.5 * 60e9, 6 * 60e9], time=[120.0, 120.0])
    rows = read(as_bytes(nodes(flops_sp=metric(GF, n1=[1, 2, 3]), flops_dp=metric(GF, n2=[4, 5, 6]))))
    has_columns(rows, names=["n1", "n2"], flops=None, bytes=[1.75 * 60e9, 6 * 60e9])


def test_a_job_without_flops_of_a_precision_needs_no_peak_of_it() -> None:
    none, some = ({"avg": avg, "unit": GF} for avg in (0, 4))
    for precision, statistics in (
        ("fp32", {"flops_sp": some, "flops_dp": none}),
        ("fp64", {"flops_sp": none, "flops_dp": some}),
    ):
        kernels = read(as_bytes(job(**statistics, mem_bw={"avg": 0, "unit": GB})))
        assert list(kernels.flops_by_precision) == [precision]
        chip = rw.Chip("node", {precision: 8e9}, {"DRAM": 1e9})
        assert rw.bound(kernels, chip).time.tolist() == [4e9 * 32 * 86486 / 8e9]
    idle = read(as_bytes(job(flops_sp=none, flops_dp=none)))
    assert idle.flops.tolist() == [0.0]


def test_flops_of_one_precision_alone_are_unknown() -> None:
    kernels = read(as_bytes(job(flops_dp={"avg": 4, "unit": GF}, mem_bw={"avg": 1, "unit": GB})))
    has_columns(kernels, flops=None, bytes=[1e9 * 32 * 86486])
    assert warns(kernels, "FLOPs are unknown", "neither flops_any nor both flops_sp and flops_dp")


def test_a_mean_or_a_metric_that_is_missing_is_unknown() -> None:
    kernels = read(as_bytes(job(flops_any={"avg": None, "unit": GF})))
    has_columns(kernels, flops=None, bytes=None)
    assert warns(kernels, "bytes are unknown", "mem_bw")
    rows = read(as_bytes(nodes(flops_any=metric(GF, n2=[None, None, None]))))
    has_columns(rows, names=["n2", "n1"], flops=None, bytes=[float("nan"), 1.75 * 60e9], time=[float("nan"), 180.0])


def test_samples_of_sockets_are_added_where_nodes_have_none() -> None:
    series = [{"hostname": "n1", "id": str(at), "data": data} for at, data in enumerate(([1, 2, 4], [1, None]))]
    sockets = {"core": {"series": []}, "socket": {"unit": "MB/s", "timestep": 60, "series": series}}
    has_columns(read(as_bytes(nodes(mem_bw=sockets))), bytes=[2 * 60e6, float("nan")], time=[60.0, 180.0])
    both = sockets | metric(GB, n1=[7, 7, 7])
    has_columns(read(as_bytes(nodes(mem_bw=both))), bytes=[14 * 60e9, float("nan")])


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ({"base": "Flops/s"}, 1),
        ("GF/s", 1e9),
        ({"base": "FLOP/s", "prefix": "T"}, 1e12),
        ({"base": "F/s", "prefix": ""}, 1),
    ],
)
def test_the_unit_of_a_metric_is_used(unit: Any, factor: float) -> None:
    assert read(as_bytes(job(flops_any={"avg": 3, "unit": unit}))).flops.tolist() == [3 * factor * 32 * 86486]


@pytest.mark.parametrize("unit", [None, "", 5, "B/s", {"base": "B/s"}, {"prefix": "G"}, {"base": "F/s", "prefix": "m"}])
def test_a_rate_without_a_unit_of_its_own_is_refused(unit: Any) -> None:
    with pytest.raises(ProfileError, match=r"statistics\.flops_any\.unit: expected a unit such as .*'F/s'"):
        read(as_bytes(job(flops_any={"avg": 3, "unit": unit})))


@pytest.mark.parametrize("value", [-1, "3", "NaN", True, [], 10**400, 1e300])
def test_a_value_that_is_no_number_of_its_kind_is_refused_with_its_place(value: Any) -> None:
    for key in ("duration", "numNodes"):
        with pytest.raises(ProfileError, match=f"{key}: expected a number from 0"):
            read(as_bytes(JOB | {key: value}))
    with pytest.raises(ProfileError, match=r"statistics\.flops_any\.avg: expected a number from 0"):
        read(as_bytes(job(flops_any={"avg": value, "unit": GF})))
    with pytest.raises(ProfileError, match=r"mem_bw\.node\.series\[1\]\.data\[2\]: expected a number from 0"):
        read(as_bytes(nodes(mem_bw=metric(GB, n1=[1], n2=[1, None, value]))))


@pytest.mark.parametrize("value", [0, None])
def test_no_nodes_no_time_and_no_step_are_refused(value: Any) -> None:
    with pytest.raises(ProfileError, match="duration: expected a number above 0"):
        read(as_bytes(JOB | {"duration": value}))
    rates = metric(GB, n1=[1])
    rates["node"]["timestep"] = value
    with pytest.raises(ProfileError, match=r"mem_bw\.node\.timestep: expected a number above 0"):
        read(as_bytes(nodes(mem_bw=rates)))


def test_series_that_do_not_fit_each_other_are_refused() -> None:
    rates = metric(GB, n1=[1])
    rates["node"]["timestep"] = 30
    with pytest.raises(ProfileError, match=r"flops_any 60 s, mem_bw 30 s\): read the job's meta"):
        read(as_bytes(nodes(mem_bw=rates)))
    rates = metric(GB, n1=[1])
    rates["node"]["series"] *= 2
    with pytest.raises(ProfileError, match=r"mem_bw\.node\.series\[1\]: the samples of host 'n1' are there twice"):
        read(as_bytes(nodes(mem_bw=rates)))
    rates["node"]["series"] = [{"hostname": "n1"}]
    with pytest.raises(ProfileError, match=r"mem_bw\.node\.series\[0\]: expected an object with"):
        read(as_bytes(nodes(mem_bw=rates)))
    with pytest.raises(ProfileError, match=r"neither flops_any nor both .* and no mem_bw"):
        read(as_bytes({"clock": metric({"base": "Hz"}, n1=[1])}))
    with pytest.raises(ProfileError, match="jobId: expected the number of the job, got None"):
        read(as_bytes(JOB | {"jobId": None}))


@pytest.mark.parametrize("shared", [{"shared": "multi_user"}, {"shared": None, "exclusive": 0}])
def test_a_job_on_shared_nodes_has_a_warning(shared: dict[str, Any]) -> None:
    assert warns(read(as_bytes(JOB | shared)), "shared its nodes")
    assert not warns(read(as_bytes(JOB | {"exclusive": 1})), "shared its nodes")


def test_the_folder_of_a_job_is_its_nodes_and_names_the_job(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_bytes(as_bytes(JOB))
    assert read(tmp_path).names.tolist() == ["job 7"]
    (tmp_path / "data.json.gz").write_bytes(gzip.compress(as_bytes(nodes())))
    kernels = read(tmp_path)
    assert kernels.names.tolist() == ["n1", "n2"]
    assert kernels.origin["flops"].tolist() == ["flops_any: samples of job 7 x timestep"] * 2
    assert kernels.source == str(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "meta.json").write_bytes(as_bytes(JOB))
    with pytest.raises(ProfileError, match=r"which is not one profile; rw\.read_many"):
        read(tmp_path)
    with pytest.raises(ProfileError, match="the files of several jobs"):
        read(tmp_path, "clustercockpit")


def test_the_machines_of_a_cluster_are_no_job_and_the_message_has_the_chip_of_a_node() -> None:
    with pytest.raises(ProfileError, match="machines of a cluster, not a job; the chip of a node is ") as raised:
        read(as_bytes(CLUSTER))
    chip = eval(str(raised.value).partition("a node is ")[2], {"rw": rw})  # noqa: S307 - the message's own code
    assert (chip.name, chip.peak("fp32"), chip.bandwidth()) == ("big", 112e9, 24.5e9)
    numbers = {"name": "old", "flopRateSimd": 9216, "memoryBandwidth": 350}
    with pytest.raises(ProfileError, match=r"rw\.Chip\('old', \{'fp32': '9\.216 TFLOP/s'\}, \{'DRAM': '350 GB/s'\}\)"):
        read(as_bytes(CLUSTER | {"subClusters": [numbers]}))
    with pytest.raises(ProfileError, match=r"subClusters\[0\]\.flopRateSimd\.value: expected a number above 0"):
        read(as_bytes(CLUSTER | {"subClusters": []}))


def test_another_file_is_refused_by_name() -> None:
    with pytest.raises(ProfileError, match=r"expected meta\.json or data\.json of a job"):
        read(b'{"a": 1}', "clustercockpit")


def test_a_real_job_is_read() -> None:
    job = read(real_file("traces-2026/clustercockpit_1403244_meta.json"))
    has_columns(
        job,
        names=["job 1403244"],
        flops=pytest.approx([225.59e9 * 32 * 86486], rel=1e-15),
        bytes=pytest.approx([63.57e9 * 32 * 86486], rel=1e-15),
    )


def test_nodes_of_a_real_job_are_read() -> None:
    path = real_file("traces-2026/clustercockpit_1403244_data.json.gz")
    series = json.loads(gzip.decompress(path.read_bytes()))
    flops, moved = (
        [None if value is None else round(value * 100) for value in series[key]["node"]["series"][0]["data"]]
        for key in ("flops_any", "mem_bw")
    )
    assert (flops[100], moved[100]) == (26594, 6828)
    known = [(one, other) for one, other in zip(flops, moved, strict=True) if one is not None and other is not None]
    kernels = read(path)
    assert kernels.names.tolist() == ["e0102", "e0103", "e0105", "e0106"]
    assert kernels.time[0] == 60 * len(known) == 13440
    assert kernels.flops[0] == sum(one for one, _ in known) * 60 * 10**7
    assert kernels.bytes[0] == sum(other for _, other in known) * 60 * 10**7
