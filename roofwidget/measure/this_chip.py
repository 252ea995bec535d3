"""The catalogue chip of the device here: asks the vendors' tools and the system."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from roofwidget.chips import Chip, chips, chips_named
from roofwidget.measure import device_tools, system
from roofwidget.measure.device_chips import chip_here, refused
from roofwidget.measure.device_tools import NVIDIA_FIELDS, Device
from roofwidget.support.did_you_mean import nearest

_TIMEOUT_S: Final = 20
# Implementer and part of Arm cores; several chips of the catalogue have Neoverse V2.
_ARM: Final = {("0x46", "0x001"): ("a64fx",), ("0x41", "0xd4f"): ("grace", "graviton4")}
_OF_AMAZON: Final = "graviton4"
# Display controllers, and processing accelerators.
_PCI_CLASSES: Final = ("0x03", "0x12")
_UNITS_TOLERANCE: Final = 0.1
_MAX_CANDIDATES: Final = 5

Run = Callable[[str, tuple[str, ...]], str]


def this_chip(device: int | str | None = None) -> Chip:
    """Return the catalogue's chip of the device here, with notes on its limits and modes.

    Accelerators come first: NVIDIA by ``nvidia-smi`` or `pynvml`, AMD by ``amd-smi`` or ``rocm-smi``, TPUs by JAX if
    JAX is imported, others by their PCI id. Without an accelerator it is the processor. A MIG slice or a partition of a
    GPU has the part of the peaks that its vendor documents.

    Parameters
    ----------
    device
        The number of an accelerator, such as ``1``, or ``"cpu"`` for the processor. By default all accelerators must be
        of one kind.

    Raises
    ------
    UnknownChipError
        If the device is not exactly one chip of the catalogue; the message names the nearest chips and the reason. No
        chip is guessed.
    LookupError
        If there is no such device, or if devices of several kinds are here.
    """
    if device is not None and (isinstance(device, bool) or not (isinstance(device, int) or device == "cpu")):
        raise TypeError(f"device must be the number of an accelerator or 'cpu', got {device!r}")
    found = () if device == "cpu" else accelerators(_run)
    if isinstance(device, int):
        chosen = [one for one in found if one.index == device]
        if not chosen:
            there = ", ".join(f"{one.index}: {one.name}" for one in found)
            raise LookupError(
                f"there is no accelerator {device}; " + (f"there are {there}" if there else "none is here")
            )
        return one_of(chosen)
    return one_of(found) if found else processor()


def one_of(devices: Iterable[Device]) -> Chip:
    """Return the chip of devices of one kind."""
    known = tuple(devices)
    kinds = {(one.name, one.pci, one.slice, one.partition, one.memory_partition): one for one in known}
    if len(kinds) > 1:
        there = ", ".join(f"{one.index}: {' '.join(filter(None, (one.name, one.slice)))}" for one in known)
        numbers_differ = len({one.index for one in known}) > 1
        hint = "name the number of one, as in this_chip(0)" if numbers_differ else "set CUDA_VISIBLE_DEVICES to one"
        raise LookupError(f"devices of several kinds are here; {hint}: {there}")
    found = chip_here(known[0])
    if len(known) == 1:
        return found
    return found.replace(notes=[f"{known[0].tool} finds {len(known)} of these devices here.", *found.notes])


def accelerators(run: Run, root: Path = Path("/")) -> tuple[Device, ...]:
    """Return the accelerators that this process sees, from the first source that finds any.

    Parameters
    ----------
    run
        Runs a tool with arguments and returns its output; an empty text if there is no such tool or it fails.
    root
        The folder that holds ``sys``.
    """
    return _nvidia(run) or _amd(run) or _tpus() or _on_pci(root)


def processor(root: Path = Path("/")) -> Chip:
    """Return the chip of the processor.

    Raises
    ------
    UnknownChipError
        If the processor is not exactly one chip of the catalogue, or if this process may use only a part of it.
    """
    machine = system.machine(root)
    name = device_tools.processor_name(_apple() or machine.name)
    ids = _ARM.get(device_tools.arm_core(system.text_of(root / "proc/cpuinfo")), ())
    if len(ids) > 1 and system.text_of(root / "sys/devices/virtual/dmi/id/sys_vendor") == "Amazon EC2":
        ids = (_OF_AMAZON,)
    named = chips_named(ids[0]) if len(ids) == 1 else () if ids else chips_named(name)
    # A package with a GPU has the same name as its cores.
    found = tuple(one for one in named if one.kind == "cpu") or named
    here = Device(name, "the system")
    if len(found) != 1:
        several = [*ids, *(one.id for one in found)]
        why = "which several chips may be" if several else "which is no chip of the catalogue"
        raise refused(here, why, several or _near_processors(name))
    (only,) = found
    if only.kind != "cpu":
        return only
    cores = int((only.units or "0").split()[0])
    if machine.cores < (1 - _UNITS_TOLERANCE) * cores:
        raise refused(here, f"but this process may use only {machine.cores} of its {cores} cores", [only.id])
    packages = round(machine.cores / cores) if cores else 1
    note = f"This machine has {packages} of these processors; the figures are those of one."
    return only.replace(notes=[note, *only.notes]) if packages > 1 else only


def _near_processors(name: str) -> list[str]:
    by_name = {alias: one.id for one in chips() if one.kind == "cpu" for alias in (one.name, *one.aliases)}
    return list(dict.fromkeys(by_name[close] for close in nearest(name, by_name, most=_MAX_CANDIDATES)))


def _nvidia(run: Run) -> tuple[Device, ...]:
    table = run("nvidia-smi", (f"--query-gpu={','.join(NVIDIA_FIELDS)}", "--format=csv"))
    # A driver that does not know one of the fields answers none.
    table = table or run("nvidia-smi", ("--query-gpu=index,uuid,name,pci.device_id,memory.total", "--format=csv"))
    listing = run("nvidia-smi", ("-L",)) if "Enabled" in table else ""
    found = device_tools.nvidia_smi(table, listing)
    found = found or _by_nvml()
    return device_tools.visible(found, os.environ.get("CUDA_VISIBLE_DEVICES"))


def _by_nvml() -> tuple[Device, ...]:
    try:
        import pynvml  # noqa: PLC0415 - optional
    except ImportError:
        return ()
    try:
        return device_tools.nvml(pynvml)
    except pynvml.NVMLError:
        return ()


def _amd(run: Run) -> tuple[Device, ...]:
    text = run("amd-smi", ("static", "--asic", "--limit", "--partition", "--vram", "--json"))
    found = device_tools.amd_smi(text or run("amd-smi", ("static", "--asic", "--json")))
    if not found:
        options = ("--showmeminfo", "vram", "--showmaxpower", "--showcomputepartition", "--showmemorypartition")
        text = run("rocm-smi", ("--showproductname", *options, "--json"))
        found = device_tools.rocm_smi(text or run("rocm-smi", ("--showproductname", "--json")))
    for variable in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        left = device_tools.visible(found, os.environ.get(variable))
        # The second variable counts what the first left.
        found = tuple(replace(one, index=number) for number, one in enumerate(left)) if left != found else found
    return found


def _tpus() -> tuple[Device, ...]:
    jax: Any = sys.modules.get("jax")
    if jax is None:
        return ()
    try:
        devices = jax.local_devices()
    except RuntimeError:
        return ()
    kinds = [one.device_kind for one in devices if one.platform == "tpu"]
    return tuple(Device(kind, "JAX", number) for number, kind in enumerate(kinds))


def _on_pci(root: Path) -> tuple[Device, ...]:
    """Return the devices whose PCI id is one of the catalogue: the last resort, without a tool."""
    found: list[Device] = []
    for folder in sorted((root / "sys/bus/pci/devices").glob("*")):
        vendor, number, kind = (system.text_of(folder / word) for word in ("vendor", "device", "class"))
        pci = f"{vendor.removeprefix('0x')}:{number.removeprefix('0x')}"
        if kind.startswith(_PCI_CLASSES) and (known := chips_named(pci)):
            name = known[0].name if len(known) == 1 else pci
            found.append(Device(name, "the PCI bus", len(found), pci=pci))
    return tuple(found)


def _apple() -> str:
    """Return the name of Apple's processor; an empty text on other systems."""
    return _run("sysctl", ("-n", "machdep.cpu.brand_string")).strip() if platform.system() == "Darwin" else ""


def _run(tool: str, arguments: tuple[str, ...]) -> str:
    path = shutil.which(tool)
    if path is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a vendor's tool with arguments that are constants here
            [path, *arguments], capture_output=True, encoding="utf-8", timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout if done.returncode == 0 else ""
