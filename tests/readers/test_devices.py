"""Finding the chip of a device: names of drivers, device numbers, architectures and compute capabilities."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.kernels.series import as_series
from roofwidget.readers import devices
from roofwidget.readers.many import Profiles
from tests.places import FIXTURES, json_of, text_of, write
from tests.tables import has_columns, warns

GPUS = [chip for vendor in ("nvidia", "amd") for chip in rw.chips(vendor=vendor) if chip.kind == "gpu"]


def trace(*listed: dict[str, Any], device: int | None = 0) -> bytes:
    args = {} if device is None else {"device": device}
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 1, "ts": 5, "dur": 4, "args": args}
    return json.dumps({"schemaVersion": 1, "deviceProperties": listed, "traceEvents": [event]}).encode()


def ran_on(name: str, **more: Any) -> rw.Chip | None:
    return rw.read(trace({"id": 0, "name": name, **more})).chip


def about_devices(kernels: rw.Kernels) -> list[str]:
    return [warning for warning in kernels.warnings if "device" in warning or "ran on" in warning]


@pytest.mark.parametrize("chip", GPUS, ids=lambda chip: chip.id)
def test_every_name_of_a_gpu_of_the_catalogue_finds_it_in_a_trace(chip: rw.Chip) -> None:
    for name in (chip.id, chip.name, *chip.aliases):
        found = ran_on(name)
        assert found is not None, name
        assert found.id == (f"{chip.id}-gcd" if name in {"mi250", "mi250x"} else chip.id)
        assert ran_on(f"{name} VF") == found


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("AMD Instinct MI300X VF", "mi300x"),
        ("AMD Instinct MI325X VF", "mi325x"),
        ("AMD Instinct MI350X VF", "mi350x"),
        ("AMD Instinct MI355X OAM", "mi355x"),
        ("AMD Instinct MI250X", "mi250x-gcd"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"),
    ],
)
def test_a_name_that_a_driver_reports_finds_the_chip_as_software_sees_it(name: str, id_: str) -> None:
    assert ran_on(name) == rw.chip(id_)


@pytest.mark.parametrize(
    ("name", "units", "told"),
    [
        (
            "NVIDIA RTX PRO 6000 Blackwell",
            None,
            (
                "which is one of several chips: 'rtx-pro-6000-workstation', 'rtx-pro-6000-server', "
                "'rtx-pro-6000-max-q'; name a chip"
            ),
        ),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None, "which is not one chip of the catalogue; name a chip"),
        ("AMD Instinct MI300X", 38, "of which the device is a part: it has 38 of 304 CU; name a chip"),
    ],
)
def test_a_device_that_is_not_one_chip_has_no_chip_and_a_word(name: str, units: int | None, told: str) -> None:
    kernels = rw.read(trace({"id": 0, "name": name, "numSms": units}))
    assert kernels.chip is None
    assert about_devices(kernels) == [f"the kernels ran on '{name}', {told}"]
    assert ran_on("AMD Instinct MI300X", numSms=304) == rw.chip("mi300x")


@pytest.mark.parametrize(
    ("device", "about"),
    [
        (
            {"name": "NVIDIA A100-PG509-200", "totalGlobalMem": 42_297_524_224, "numSms": 108},
            (
                "the kernels ran on 'NVIDIA A100-PG509-200', which is not one chip of the catalogue; name a chip; "
                "a memory of 42.3 GB and 108 units are those of 'a100-sxm-40gb', 'a100-pcie-40gb'"
            ),
        ),
        (
            {"name": "", "totalGlobalMem": 206_141_652_992, "numSms": 304},
            (
                "the trace does not name the device, on which kernels ran: choose a chip to see a roof; "
                "a memory of 206 GB and 304 units are those of 'mi300x'"
            ),
        ),
        # As many units as the A100 and another memory.
        (
            {"name": "GPU X", "totalGlobalMem": 20 * 2**30, "numSms": 108},
            "the kernels ran on 'GPU X', which is not one chip of the catalogue; name a chip",
        ),
        (
            {"name": "GPU X", "totalGlobalMem": True, "numSms": 10**400},
            "the kernels ran on 'GPU X', which is not one chip of the catalogue; name a chip",
        ),
    ],
)
def test_a_device_without_a_known_name_has_the_chips_with_its_memory_and_units(
    device: dict[str, Any], about: str
) -> None:
    listed = [{"id": number, **device} for number in (0, 1)]
    kernels = rw.read(trace(*listed))
    assert kernels.chip is None
    assert about_devices(kernels) == [about]
    other = rw.read(trace({"id": 0, "name": "GPU X", "numSms": 108, "totalGlobalMem": 42_297_524_224}, {"id": 1}))
    assert "those of" not in str(other.warnings), "the devices are not alike"


@pytest.mark.parametrize(
    ("memory", "units", "ids"),
    [(42_297_524_224, 108, ["a100-sxm-40gb", "a100-pcie-40gb"]), (206_141_652_992, 304, ["mi300x"])],
)
def test_a_profile_without_a_chip_is_shown_on_those_with_its_memory_and_units(
    memory: int, units: int, ids: list[str]
) -> None:
    kernels = rw.read(trace({"id": 0, "name": "", "totalGlobalMem": memory, "numSms": units}))
    with pytest.warns(UserWarning, match=f"^buffer names no chip; shown on '{ids[0]}'.* by its memory and units; pass"):
        model = rw.RooflineModel(kernels=kernels)
    both = [as_series([kernels, kernels]), Profiles({"a": kernels, "b": kernels}, {}).merge(), kernels[:0]]
    assert [one.fitting_chips for one in (kernels, *both)] == [tuple(ids)] * 4
    opened = rw.RooflineModel(["v5p"], [])
    opened.show_profile(kernels)
    assert [chip.id for chip in model.chips] == ids
    assert [chip.id for chip in opened.chips] == [*ids, "tpu-v5p"]
    assert (model.focus_chip, opened.focus_chip, kernels.chip) == (ids[0], ids[0], None)


def test_kernels_on_a_device_that_is_not_listed_have_no_chip_and_a_word() -> None:
    kernels = rw.read(trace({"id": 0, "name": "NVIDIA H200"}, device=3))
    assert kernels.chip is None
    assert about_devices(kernels) == [
        "the trace does not name device 3, on which kernels ran: choose a chip to see a roof"
    ]


@pytest.mark.parametrize("listed", [(), ({"id": 0},), ({"id": 0, "name": ""},)])
def test_a_trace_that_names_no_device_says_so(listed: tuple[dict[str, Any], ...]) -> None:
    kernels = rw.read(trace(*listed))
    assert kernels.chip is None
    assert about_devices(kernels) == [
        "the trace does not name the device, on which kernels ran: choose a chip to see a roof"
    ]


def test_kernels_without_a_device_number_ran_on_the_only_kind_that_is_listed() -> None:
    two = [{"id": number, "name": "NVIDIA H200"} for number in (0, 1)]
    assert rw.read(trace(*two, device=None)).chip == rw.chip("h200-sxm")
    other = rw.read(trace(*two, {"id": 2, "name": "NVIDIA L4"}, device=None))
    assert other.chip is None
    assert about_devices(other) == ["the kernels ran on different chips: 'NVIDIA H200', 'NVIDIA L4'"]


def test_the_number_of_a_device_does_not_matter_if_all_devices_have_one_name() -> None:
    """AMD numbers the agents of the system, CPUs first."""
    two = [{"id": number, "name": "AMD Instinct MI300X"} for number in (0, 1)]
    assert rw.read(trace(*two, device=9)).chip == rw.chip("mi300x")
    other = rw.read(trace(*two, {"id": 2, "name": "AMD Instinct MI250X"}, device=9))
    assert other.chip is None
    assert about_devices(other) == [
        "the trace does not name device 9, on which kernels ran: choose a chip to see a roof"
    ]


def test_events_of_mtia_are_kernels_and_unknown_categories_are_said() -> None:
    def event(category: str, name: str, **args: int) -> dict[str, Any]:
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": 5, "dur": 4, "args": args}

    events = [
        event("cpu_op", "aten::mm", **{"External id": 7}),
        event("mtia_runtime", "launch", correlation=3),
        event("mtia_ccp_events", "fc_kernel", correlation=3),
    ]
    kernels = rw.read(json.dumps({"traceEvents": events}).encode())
    has_columns(kernels, names=["fc_kernel"], extra={"operation": ["aten::mm"]}, time=[4e-6])
    kernels = rw.read(
        json.dumps({"traceEvents": [*events, event("npu_kernel", "a"), event("npu_kernel", "b")]}).encode()
    )
    assert kernels.warnings[0].endswith("so time on a device may be missing: 'npu_kernel (2)'")
    ordinary = [event("python_function", "f"), event("ac2g", "arrow"), event("user_annotation", "step")]
    kernels = rw.read(json.dumps({"traceEvents": [*events, *ordinary]}).encode())
    assert not warns(kernels, "categories")


def test_a_profile_of_one_die_of_an_mi250x_has_the_roofs_of_one_die(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "rocprof" / "gfx90a", tmp_path, dirs_exist_ok=True)
    (tmp_path / "roofline.csv").unlink()
    path = tmp_path / "sysinfo.csv"
    text = text_of(path)
    for model, chip in (("MI250X", "mi250x-gcd"), ("AMD Instinct MI210 VF", "mi210")):
        write(path, text.replace("MI200", model))
        assert rw.read(tmp_path).chip == rw.chip(chip)


def test_a_partition_of_a_gpu_is_said_to_be_one(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "rocprof" / "gfx942", tmp_path, dirs_exist_ok=True)
    (tmp_path / "roofline.csv").unlink()
    path = tmp_path / "sysinfo.csv"
    head, row = text_of(path).splitlines()
    cells = dict(zip(head.split(","), row.split(","), strict=True)) | {
        "gpu_model": "MI300X",
        "compute_partition": "CPX",
    }
    write(path, "\n".join([",".join(cells), ",".join(cells.values()), ""]))
    kernels = rw.read(tmp_path)
    assert kernels.chip is None
    assert "the profile is of a partition of 'MI300X': choose a chip to see a roof" in kernels.warnings


@pytest.mark.parametrize(("peak", "chip"), [(2310.0e3, "mi350x"), (2516.6e3, "mi355x"), (0.0, "mi350x")])
def test_the_chip_advised_for_gfx950_is_the_one_with_the_nearest_peak(peak: float, chip: str) -> None:
    document = json_of(FIXTURES / "xprof_calls.roofline_model.json")
    document[0]["p"]["peak_flop_rate"] = str(peak)
    said = [warning for warning in rw.read(json.dumps(document).encode()).warnings if "HBM peak" in warning]
    assert len(said) == 1
    assert f"set kernels.chip = rw.chip('{chip}')" in said[0]


@pytest.mark.parametrize(
    ("capability", "chip"),
    [
        ("6.0", "p100-sxm2"),
        ("7.0", "v100-sxm2-16gb"),
        ("7.5", "t4"),
        ("8.0", "a100-sxm-80gb"),
        ("8.6", "a40"),
        ("8.9", "l40s"),
        ("9.0", "h100-sxm"),
        ("10.0", "b200"),
        ("12.0", "rtx-5090"),
    ],
)
def test_the_chip_advised_for_a_table_has_its_compute_capability(capability: str, chip: str) -> None:
    text = (
        "==PROF== Connected to process 1\nDevice 0: some board\n"
        '"ID","Kernel Name","CC","Metric Name","Metric Unit","Metric Value"\n'
        f'"0","k","{capability}","gpu__time_duration.sum","ns","5"\n'
        f'"0","k","{capability}","dram__bytes.sum","byte","64"\n'
    )
    kernels = rw.read(text.encode())
    said = next(warning for warning in kernels.warnings if "there is no chip" in warning)
    assert f"such as chip='{chip}' (compute capability {capability})" in said
    assert not warns(rw.read(text.encode(), chip=chip), "but the data sheet")
    other = "l4" if capability == "7.0" else "v100-sxm2-16gb"
    (said,) = [warning for warning in rw.read(text.encode(), chip=other).warnings if "but the data sheet" in warning]
    assert said.endswith(f"as '{chip}' has, but the data sheet is that of '{other}'")


def test_every_generation_of_nvidia_in_the_catalogue_has_a_chip_to_advise() -> None:
    families = {rw.chip(known).family for known in devices._BY_CAPABILITY.values()}
    # The compute capability of Rubin is not published.
    assert families == {chip.family for chip in rw.chips(vendor="nvidia") if chip.kind == "gpu"} - {"Rubin"}
