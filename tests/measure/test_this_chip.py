"""The chip of the device here, from outputs of the vendors' tools.

The outputs are twins: the formats are those of the tools, the machines are made up. ``nvidia-smi --query-gpu`` and
``nvidia-smi -L`` follow NVIDIA's manual page and MIG User Guide, ``rocm-smi --json`` the outputs in public issues of
ROCm, ``amd-smi static --json`` those, and for the two forms of the power limit the changelog of AMD SMI.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.measure import device_tools, system, this_chip
from roofwidget.measure.device_chips import chip_here
from roofwidget.measure.device_tools import Device
from tests.places import write

HEADER = (
    "index, uuid, name, pci.device_id, memory.total [MiB], power.limit [W], clocks.max.sm [MHz], mig.mode.current\n"
)
H100 = "0, GPU-1a2b, NVIDIA H100 80GB HBM3, 0x233010DE, 81559 MiB, 700.00 W, 1980 MHz, Disabled\n"
A100_MIG = HEADER + "0, GPU-5d5b, NVIDIA A100-SXM4-40GB, 0x20B010DE, 40960 MiB, 400.00 W, 1410 MHz, Enabled\n"
SLICES = """GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5b)
  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4)
  MIG 1g.5gb      Device  1: (UUID: MIG-cba6)
"""
MI300X = {
    "Card Series": "AMD Instinct MI300X",
    "Card Model": "0x74a1",
    "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]",
    "GFX Version": "gfx942",
    "VRAM Total Memory (B)": "206141652992",
    "Max Graphics Package Power (W)": "750.0",
    "Compute Partition": "SPX",
    "Memory Partition": "NPS1",
}


def answers(outputs: Mapping[str, str]) -> Callable[[str, tuple[str, ...]], str]:
    """Return a stand-in for running tools: the output of the first key that the command line begins with."""

    def run(tool: str, arguments: tuple[str, ...]) -> str:
        line = " ".join((tool, *arguments))
        return next((text for start, text in outputs.items() if line.startswith(start)), "")

    return run


def here(outputs: Mapping[str, str], root: Path = Path("/nowhere")) -> rw.Chip:
    return this_chip.one_of(this_chip.accelerators(answers(outputs), root))


def nvidia(rows: str, listing: str = "") -> rw.Chip:
    return here({"nvidia-smi --query": rows, "nvidia-smi -L": listing})


def rocm(*cards: Mapping[str, str]) -> rw.Chip:
    return here({"rocm-smi": json.dumps({f"card{number}": card for number, card in enumerate(cards)})})


def amd(**card: Any) -> Device:
    (found,) = device_tools.amd_smi(json.dumps({"gpu_data": [{"gpu": 0, **card}]}))
    return found


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    monkeypatch.setitem(sys.modules, "pynvml", None)


# -- NVIDIA ---------------------------------------------------------------------------------------------------------


def test_a_gpu_of_nvidia_is_the_chip_of_its_name_with_notes_on_its_limits() -> None:
    found = nvidia(HEADER + H100)
    assert (found.id, found.peak("bf16"), found.status) == ("h100-sxm", 989.5e12, "cross-checked")
    assert found.notes[:2] == (
        "nvidia-smi: the power limit is 700 W.",
        "nvidia-smi: the highest clock is 1.98 GHz.",
    )


def test_a_lower_clock_is_said_with_the_clock_of_the_data_sheet() -> None:
    assert nvidia(HEADER + H100.replace("1980 MHz", "1755 MHz")).notes[1] == (
        "nvidia-smi: the highest clock is 1.755 GHz; the peaks of the data sheet are for 1.98 GHz."
    )


def test_a_lower_power_limit_is_said_with_the_difference_to_the_data_sheet() -> None:
    found = nvidia(HEADER + H100.replace("700.00 W", "450.00 W"))
    assert found.notes[0] == (
        "nvidia-smi: the power limit is 450 W, 250 W below the data sheet: sustained rates can be lower than the peaks."
    )


def test_several_equal_gpus_are_one_chip_and_their_number_is_said() -> None:
    found = nvidia(HEADER + H100 + H100.replace("0, GPU-1a2b", "1, GPU-3c4d"))
    assert (found.id, found.notes[0]) == ("h100-sxm", "nvidia-smi finds 2 of these devices here.")


def test_gpus_of_several_kinds_must_be_chosen_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = HEADER + H100 + "1, GPU-3c4d, Tesla T4, 0x1EB810DE, 15360 MiB, 70.00 W, 1590 MHz, [N/A]\n"
    with pytest.raises(LookupError, match=r"as in this_chip\(0\): 0: NVIDIA H100 80GB HBM3, 1: Tesla T4"):
        nvidia(rows)
    monkeypatch.setattr(this_chip, "_run", answers({"nvidia-smi --query": rows}))
    assert rw.this_chip(1).id == "t4"
    with pytest.raises(LookupError, match="there is no accelerator 2; there are 0: NVIDIA H100 80GB HBM3, 1: Tesla T4"):
        rw.this_chip(2)


def test_cuda_visible_devices_leaves_what_programs_see(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = HEADER + H100 + "1, GPU-3c4d, Tesla T4, 0x1EB810DE, 15360 MiB, 70.00 W, 1590 MHz, [N/A]\n"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert nvidia(rows).id == "t4"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1a2b")
    assert nvidia(rows).id == "h100-sxm"


def test_a_driver_that_does_not_know_all_fields_is_asked_for_fewer() -> None:
    rows = "index, uuid, name, pci.device_id, memory.total [MiB]\n0, GPU-1, Tesla T4, 0x1EB810DE, 15360 MiB\n"
    assert here({"nvidia-smi --query-gpu=index,uuid,name,pci.device_id,memory.total --": rows}).id == "t4"


def test_a_mig_slice_has_the_documented_part_of_the_peaks_and_no_links_to_gpus() -> None:
    whole, part = rw.chip("a100-sxm-40gb"), nvidia(A100_MIG, SLICES.replace("  MIG 3g.20gb     Device  0", "  x"))
    assert part.name == "NVIDIA A100 SXM4 40GB, MIG 1g.5gb"
    assert part.peak("bf16") == pytest.approx(whole.peak("bf16") / 7)
    assert part.bandwidth() == pytest.approx(whole.bandwidth() / 8)
    assert part.bandwidth("L2") == pytest.approx(whole.bandwidth("L2") / 8)
    assert part.bandwidth("L1") == pytest.approx(whole.bandwidth("L1") / 7)
    assert part.memories["HBM"].capacity == 5 * 2**30
    assert list(part.links) == ["PCIe"]
    assert any("1/7 of its multiprocessors and 0.125 of its memory" in note for note in part.notes)
    assert part.sources["peak_flops.bf16"].title == (
        "NVIDIA MIG User Guide, Supported MIG Profiles: 0.1429 x NVIDIA A100 SXM4 40GB"
    )


def test_several_slices_must_be_chosen_as_cuda_chooses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LookupError, match=r"set CUDA_VISIBLE_DEVICES to one: 0: NVIDIA A100-SXM4-40GB 3g\.20gb, "):
        nvidia(A100_MIG, SLICES)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-c6d4")
    part, whole = nvidia(A100_MIG, SLICES), rw.chip("a100-sxm-40gb")
    assert part.peak("bf16") == pytest.approx(3 / 7 * whole.peak("bf16"))
    assert part.bandwidth() == pytest.approx(whole.bandwidth() / 2)


@pytest.mark.parametrize(
    ("name", "pci", "profile", "compute", "memory"),
    [
        ("NVIDIA H100 80GB HBM3", "10de:2330", "1g.20gb", 1 / 7, 1 / 4),
        ("NVIDIA H100 80GB HBM3", "10de:2330", "7g.80gb", 1, 1),
        ("NVIDIA H200", "10de:2335", "1g.18gb+me", 1 / 7, 1 / 8),
        ("NVIDIA H200", "10de:2335", "4g.71gb", 4 / 7, 1 / 2),
        ("NVIDIA B200", "10de:2901", "1g.23gb", 1 / 7, 1 / 8),
        ("NVIDIA A30", "10de:20b7", "2g.12gb", 1 / 2, 1 / 2),
    ],
)
def test_profiles_mean_the_shares_of_the_guides_tables(
    name: str, pci: str, profile: str, compute: float, memory: float
) -> None:
    whole, part = rw.chip(pci), chip_here(Device(name, "nvidia-smi", pci=pci, slice=profile))
    assert part.peak() == pytest.approx(compute * whole.peak())
    assert part.bandwidth() == pytest.approx(memory * whole.bandwidth())


@pytest.mark.parametrize(
    ("name", "profile"), [("NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb"), ("b200", "x")]
)
def test_a_slice_without_documentation_is_refused_and_not_the_whole_chip(name: str, profile: str) -> None:
    with pytest.raises(rw.UnknownChipError, match="no documentation here says which part of the peaks it has"):
        chip_here(Device(name, "nvidia-smi", slice=profile))


def test_a_gpu_in_mig_mode_without_a_visible_slice_is_refused() -> None:
    with pytest.raises(rw.UnknownChipError, match="a GPU in MIG mode, whose slice is unknown"):
        nvidia(A100_MIG)


def test_nvml_answers_where_there_is_no_nvidia_smi(monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("pynvml")

    class NVMLError(Exception):
        pass

    def refuse(_handle: object) -> None:
        raise NVMLError

    library.__dict__.update(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 1,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda _handle: b"NVIDIA H100 80GB HBM3",
        nvmlDeviceGetUUID=lambda _handle: "GPU-1a2b",
        nvmlDeviceGetPciInfo=lambda _handle: types.SimpleNamespace(pciDeviceId=0x233010DE),
        nvmlDeviceGetMemoryInfo=lambda _handle: types.SimpleNamespace(total=85520809984),
        nvmlDeviceGetPowerManagementLimit=lambda _handle: 650000,
        nvmlDeviceGetMaxClockInfo=lambda _handle, _clock: 1980,
        nvmlDeviceGetMigMode=refuse,
    )
    monkeypatch.setitem(sys.modules, "pynvml", library)
    found = here({})
    assert found.id == "h100-sxm"
    assert found.notes[0].startswith("NVML: the power limit is 650 W, 50 W below the data sheet")


# -- never a guess --------------------------------------------------------------------------------------------------


def test_an_unknown_name_is_refused_with_the_nearest_chips() -> None:
    with pytest.raises(
        rw.UnknownChipError,
        match=r"nvidia-smi finds 'NVIDIA H100 80GB HBM9', which is no chip of the catalogue; "
        r"the nearest are 'h100-sxm'.*rw\.measure_peaks\(\)",
    ):
        chip_here(Device("NVIDIA H100 80GB HBM9", "nvidia-smi"))


def test_a_name_that_says_nothing_is_found_by_the_pci_id() -> None:
    assert chip_here(Device("Graphics Device", "nvidia-smi", pci="10de:2330", memory=85.5e9)).id == "h100-sxm"


def test_a_name_and_a_pci_id_of_two_chips_are_refused() -> None:
    with pytest.raises(
        rw.UnknownChipError, match="the PCI id is that of another chip; the nearest are 'h200-sxm', 'h100-"
    ):
        chip_here(Device("NVIDIA H200", "nvidia-smi", pci="10de:2330"))


@pytest.mark.parametrize(
    ("name", "pci", "memory", "said"),
    [
        ("NVIDIA GeForce RTX 3080", "", 12288 * 2**20, "rtx-3080 with 10 GiB', but the device has 12 GiB of memory"),
        (
            "GRID A100-10C",
            "10de:20b0",
            10240 * 2**20,
            "a100-sxm-40gb with 40 GiB', but the device has 10 GiB of memory",
        ),
    ],
)
def test_a_device_with_other_memory_is_another_variant_or_a_part(name: str, pci: str, memory: float, said: str) -> None:
    with pytest.raises(rw.UnknownChipError, match=f"{said}: another variant, or a part of it"):
        chip_here(Device(name, "nvidia-smi", pci=pci, memory=memory))


def test_a_name_of_several_chips_is_decided_by_the_memory_or_refused() -> None:
    assert chip_here(Device("gfx942", "rocm-smi", architecture="gfx942", memory=274.9e9)).id == "mi325x"
    with pytest.raises(
        rw.UnknownChipError, match="the name of several chips; the nearest are 'mi300a', 'mi300x', 'mi325x'"
    ):
        chip_here(Device("gfx942", "rocm-smi", architecture="gfx942"))


# -- AMD ------------------------------------------------------------------------------------------------------------


def test_a_gpu_of_amd_is_the_chip_of_its_name_also_as_a_virtual_function() -> None:
    assert rocm(MI300X).id == "mi300x"
    assert rocm(MI300X | {"Card Series": "AMD Instinct MI300X VF", "Card Model": "0x74b5"}).id == "mi300x"
    assert rocm(MI300X).notes[0] == "rocm-smi: the power limit is 750 W."


def test_old_and_new_names_of_columns_and_warnings_before_the_json_are_read() -> None:
    text = "WARNING: AMD GPU device(s) is/are in a low-power state.\n\n" + json.dumps(
        {"card0": {"Card series": "N/A", "Card model": "0x740f", "GFX Version": "gfx90a"}, "system": {"Driver": "6"}}
    )
    assert here({"rocm-smi": text}).id == "mi210"


def test_one_die_of_a_package_is_the_device_that_software_sees() -> None:
    found = rocm({"Card Series": "AMD Instinct MI250X", "Card Model": "0x7408", "VRAM Total Memory (B)": "68702699520"})
    assert found.id == "mi250x-gcd"


@pytest.mark.parametrize(
    ("limit", "watts"),
    [
        ({"max_power": {"value": 750, "unit": "W"}, "socket_power": {"value": 600, "unit": "W"}}, 600),
        ({"max_power": {"value": 750, "unit": "W"}, "socket_power": {"value": 0, "unit": "W"}}, 750),
        ({"ppt0": {"socket_power_limit": {"value": 550, "unit": "W"}}, "ppt1": {"socket_power_limit": "N/A"}}, 550),
        ("N/A", None),
    ],
)
def test_both_forms_of_the_power_limit_of_amd_smi_are_read(limit: object, watts: float | None) -> None:
    asic = {
        "market_name": "AMD Instinct MI300X",
        "vendor_id": "0x1002",
        "device_id": "0x74a1",
        "num_compute_units": 304,
    }
    vram = {"type": "HBM3", "size": {"value": 196592, "unit": "MB"}}
    found = amd(asic=asic, vram=vram, limit=limit, partition={"compute_partition": "SPX", "memory_partition": "NPS1"})
    assert (found.name, found.pci, found.units, found.power_limit) == ("AMD Instinct MI300X", "1002:74a1", 304, watts)
    assert chip_here(found).id == "mi300x"


@pytest.mark.parametrize(
    ("mode", "domains", "compute", "memory"),
    [("DPX", "NPS1", 1 / 2, 1), ("CPX", "NPS1", 1 / 8, 1), ("CPX", "NPS4", 1 / 8, 1 / 4), ("SPX", "NPS4", 1, 1 / 4)],
)
def test_a_partition_has_its_part_of_the_units_and_of_the_memory(
    mode: str, domains: str, compute: float, memory: float
) -> None:
    asic = {"market_name": "AMD Instinct MI300X", "num_compute_units": int(304 * compute)}
    partition = {"accelerator_partition": mode, "memory_partition": domains}
    whole, part = rw.chip("mi300x"), chip_here(amd(asic=asic, partition=partition))
    assert part.peak("fp8") == pytest.approx(compute * whole.peak("fp8"))
    assert part.bandwidth("LDS") == pytest.approx(compute * whole.bandwidth("LDS"))
    assert part.bandwidth() == pytest.approx(memory * whole.bandwidth())
    assert part.bandwidth("Infinity Cache") == pytest.approx(memory * whole.bandwidth("Infinity Cache"))
    assert part.name == f"AMD Instinct MI300X, {mode}/{domains}"


def test_the_partitions_of_other_gpus_are_unknown() -> None:
    with pytest.raises(rw.UnknownChipError, match="in mode CPX: no documentation here says"):
        chip_here(Device("AMD Instinct MI210", "amd-smi", partition="CPX"))


def test_fewer_compute_units_than_the_chip_has_are_a_part_of_it() -> None:
    asic = {"market_name": "AMD Instinct MI300X", "num_compute_units": 80}
    with pytest.raises(rw.UnknownChipError, match="the device is a part: it has 80 of 304 CU"):
        chip_here(amd(asic=asic))


@pytest.mark.parametrize("text", ["", "not json", "[]", "{}", "null", '{"card0": 3}', '{"gpu_data": [1, {}]}'])
def test_output_without_devices_is_no_device(text: str) -> None:
    assert device_tools.amd_smi(text) == device_tools.rocm_smi(text) == device_tools.nvidia_smi(text) == ()


# -- others ---------------------------------------------------------------------------------------------------------


def test_a_tpu_is_asked_of_jax_if_jax_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    device = types.SimpleNamespace(platform="tpu", device_kind="TPU v5 lite")
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(local_devices=lambda: [device] * 4))
    found = here({})
    assert (found.id, found.notes[0]) == ("tpu-v5e", "JAX finds 4 of these devices here.")


def test_without_a_tool_the_pci_id_tells_an_accelerator(tmp_path: Path) -> None:
    for number, (vendor, device, kind) in enumerate(
        [("0x1a03", "0x2000", "0x030000"), ("0x1da3", "0x1060", "0x120000"), ("0x10de", "0x2330", "0x068000")]
    ):
        folder = tmp_path / f"sys/bus/pci/devices/0000:0{number}:00.0"
        folder.mkdir(parents=True)
        for word, text in (("vendor", vendor), ("device", device), ("class", kind)):
            write(folder / word, f"{text}\n")
    assert here({}, tmp_path).id == "gaudi3"


def cpu(monkeypatch: pytest.MonkeyPatch, name: str, cores: int, root: Path = Path("/nowhere")) -> rw.Chip:
    monkeypatch.setattr(system, "machine", lambda _root: system.Machine(name, 2 * cores, cores))
    return this_chip.processor(root)


@pytest.mark.parametrize(
    ("name", "cores", "found"),
    [
        ("AMD EPYC 9654 96-Core Processor", 96, "epyc-9654"),
        ("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", 40, "xeon-8380"),
        ("Intel(R) Xeon(R) Platinum 8480+", 56, "xeon-8480plus"),
        ("Intel(R) Xeon(R) CPU Max 9480", 56, "xeon-max-9480"),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 16, "ryzen-ai-max-395-cpu"),
        ("Apple M1 Max", 10, "apple-m1-max"),
    ],
)
def test_a_processor_is_found_by_the_name_that_the_system_writes(
    monkeypatch: pytest.MonkeyPatch, name: str, cores: int, found: str
) -> None:
    assert cpu(monkeypatch, name, cores).id == found


def test_a_part_of_a_processor_is_not_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        rw.UnknownChipError, match="this process may use only 2 of its 96 cores; the nearest are 'epyc-9654'"
    ):
        cpu(monkeypatch, "AMD EPYC 9654 96-Core Processor", 2)


def test_two_processors_are_said_to_be_two(monkeypatch: pytest.MonkeyPatch) -> None:
    found = cpu(monkeypatch, "AMD EPYC 9654 96-Core Processor", 192)
    assert found.notes[0] == "This machine has 2 of these processors; the figures are those of one."


def test_an_unknown_processor_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        rw.UnknownChipError, match="'AMD EPYC 9655', which is no chip of the catalogue; the nearest are 'epyc-9"
    ):
        cpu(monkeypatch, "AMD EPYC 9655 96-Core Processor", 96)


@pytest.mark.parametrize(
    ("core", "vendor", "found"),
    [("0x46 0x001", "FUJITSU", "a64fx"), ("0x41 0xd4f", "Amazon EC2", "graviton4")],
)
def test_an_arm_processor_is_found_by_its_core_and_the_maker_of_its_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, core: str, vendor: str, found: str
) -> None:
    write_arm(tmp_path, core, vendor)
    assert cpu(monkeypatch, "aarch64", 96, tmp_path).id == found


def test_a_core_that_several_chips_have_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_arm(tmp_path, "0x41 0xd4f", "Somebody")
    with pytest.raises(rw.UnknownChipError, match="which several chips may be; the nearest are 'grace', 'graviton4'"):
        cpu(monkeypatch, "aarch64", 72, tmp_path)


def write_arm(root: Path, core: str, vendor: str) -> None:
    implementer, part = core.split()
    for path, text in (
        ("proc/cpuinfo", f"processor\t: 0\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n"),
        ("sys/devices/virtual/dmi/id/sys_vendor", vendor),
    ):
        (root / path).parent.mkdir(parents=True)
        write(root / path, text)


def test_without_an_accelerator_it_is_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_chip, "accelerators", lambda _run: ())
    monkeypatch.setattr(system, "machine", lambda _root: system.Machine("AMD EPYC 7763 64-Core Processor", 128, 64))
    assert rw.this_chip().id == rw.this_chip("cpu").id == "epyc-7763"


@pytest.mark.parametrize("device", ["gpu", 1.0, True])
def test_another_device_is_refused(device: Any) -> None:
    with pytest.raises(TypeError, match="device must be the number of an accelerator or 'cpu', got"):
        rw.this_chip(device)


def test_a_tool_that_fails_is_as_one_that_is_absent() -> None:
    assert this_chip._run("no-such-tool", ()) == this_chip._run("false", ()) == ""
    assert this_chip._run("echo", ("here",)) == "here\n"
