"""Reads what the vendors' tools print of the devices of a machine. Pure functions of text: nothing here runs a tool."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

NVIDIA_FIELDS: Final = (
    "index",
    "uuid",
    "name",
    "pci.device_id",
    "memory.total",
    "power.limit",
    "clocks.max.sm",
    "mig.mode.current",
)
"""The fields that `nvidia_smi` reads, for ``nvidia-smi --query-gpu=… --format=csv``."""

# A 32-bit number of NVIDIA's tools: the device above, the vendor below.
_PCI_NUMBER: Final = re.compile(r"0x([0-9a-f]{4})([0-9a-f]{4})", re.IGNORECASE)
_LEADING_NUMBER: Final = re.compile(r"\s*(\d+(?:\.\d+)?)")
_GPU_LINE: Final = re.compile(r"GPU (\d+): (.*?)\s*\(UUID: ([^)]+)\)")
_MIG_LINE: Final = re.compile(r"\s+MIG (\S+)\s+Device\s+\d+:\s*\(UUID: ([^)]+)\)")
_UNKNOWN: Final = frozenset({"", "n/a", "unknown", "none"})


@dataclass(frozen=True)
class Device:
    """What a tool says of one device. What it does not say is None or empty.

    Parameters
    ----------
    name
        The name that the driver reports.
    tool
        The tool that says so, for notes.
    index
        The number of the device among those of its vendor.
    uuid
        The identity that environment variables such as ``CUDA_VISIBLE_DEVICES`` may name.
    pci
        Vendor and device, such as ``10de:2330``.
    architecture
        AMD's name of the instruction set, such as ``gfx942``.
    units
        The number of compute units.
    memory
        Bytes of the main memory.
    power_limit
        Watts that the device may draw now.
    max_clock
        The highest clock of the compute units, in Hz.
    slice
        The profile of a MIG slice, such as ``1g.10gb``.
    partition, memory_partition
        AMD's modes, such as ``CPX`` and ``NPS4``.
    """

    name: str
    tool: str
    index: int = 0
    uuid: str = ""
    pci: str = ""
    architecture: str = ""
    units: int | None = None
    memory: float | None = None
    power_limit: float | None = None
    max_clock: float | None = None
    slice: str = ""
    partition: str = ""
    memory_partition: str = ""


def nvidia_smi(table: str, listing: str = "") -> tuple[Device, ...]:
    """Return the devices of NVIDIA.

    Parameters
    ----------
    table
        The output of ``nvidia-smi --query-gpu=… --format=csv`` for `NVIDIA_FIELDS`, or for some of them.
    listing
        The output of ``nvidia-smi -L``, which has the slices of GPUs in MIG mode. A GPU in MIG mode is replaced by its
        slices, because programs see only those.
    """
    slices = _slices(listing)
    found: list[Device] = []
    for row in csv.DictReader(io.StringIO(table), skipinitialspace=True):
        cells = {str(key).partition(" [")[0].strip(): (value or "").strip() for key, value in row.items()}
        name = cells.get("name", "")
        if not name:
            continue
        megabytes, megahertz = _number(cells.get("memory.total")), _number(cells.get("clocks.max.sm"))
        whole = Device(
            name,
            "nvidia-smi",
            int(_number(cells.get("index")) or len(found)),
            cells.get("uuid", ""),
            _pci_of_number(cells.get("pci.device_id", "")),
            memory=None if megabytes is None else megabytes * 2**20,
            power_limit=_number(cells.get("power.limit")),
            max_clock=None if megahertz is None else megahertz * 1e6,
        )
        if cells.get("mig.mode.current", "").casefold() == "enabled":
            found += _in_mig_mode(whole, slices.get(whole.uuid, ()))
        else:
            found.append(whole)
    return tuple(found)


def nvml(library: Any) -> tuple[Device, ...]:
    """Return the devices of NVIDIA, from the module `pynvml`. A GPU in MIG mode is replaced by a slice ``unknown``."""
    found: list[Device] = []
    library.nvmlInit()
    try:
        for index in range(library.nvmlDeviceGetCount()):
            handle = library.nvmlDeviceGetHandleByIndex(index)

            def asked(question: str, *arguments: Any, of: Any = handle) -> Any:
                try:
                    return getattr(library, question)(of, *arguments)
                except (AttributeError, library.NVMLError):
                    return None

            name = asked("nvmlDeviceGetName")
            pci, memory = asked("nvmlDeviceGetPciInfo"), asked("nvmlDeviceGetMemoryInfo")
            watts, megahertz = asked("nvmlDeviceGetPowerManagementLimit"), asked("nvmlDeviceGetMaxClockInfo", 1)
            whole = Device(
                _text(name),
                "NVML",
                index,
                _text(asked("nvmlDeviceGetUUID")),
                "" if pci is None else _pci_of_number(f"{pci.pciDeviceId:#010x}"),
                memory=None if memory is None else float(memory.total),
                power_limit=None if watts is None else watts / 1e3,
                max_clock=None if megahertz is None else megahertz * 1e6,
            )
            in_mig_mode = (asked("nvmlDeviceGetMigMode") or (0,))[0] == 1
            found += _in_mig_mode(whole, ()) if in_mig_mode else [whole]
    finally:
        library.nvmlShutdown()
    return tuple(found)


def amd_smi(text: str) -> tuple[Device, ...]:
    """Return the devices of AMD, from ``amd-smi static --asic --limit --partition --vram --json``."""
    document = _json(text)
    rows = document.get("gpu_data", []) if isinstance(document, Mapping) else document
    found = []
    for position, row in enumerate(rows if isinstance(rows, list) else []):
        asic, vram, limit, partition = (_table(row, word) for word in ("asic", "vram", "limit", "partition"))
        # The limits of the package are within `ppt0` since version 26 of the tool.
        power = {**limit, **_table(limit, "ppt0")}
        name = _known(asic.get("market_name"))
        if not name:
            continue
        units = _number(_value(asic.get("num_compute_units")))
        found.append(
            Device(
                name,
                "amd-smi",
                int(_number(row.get("gpu")) or position),
                pci=_pci_of_parts(asic.get("vendor_id"), asic.get("device_id")),
                architecture=_known(asic.get("target_graphics_version")),
                units=None if units is None else int(units),
                memory=_bytes(vram.get("size")),
                power_limit=_watts(power.get("socket_power_limit"), power.get("socket_power"), power.get("max_power")),
                partition=_known(partition.get("accelerator_partition") or partition.get("compute_partition")).upper(),
                memory_partition=_known(partition.get("memory_partition")).upper(),
            )
        )
    return tuple(found)


def rocm_smi(text: str) -> tuple[Device, ...]:
    """Return the devices of AMD, from the JSON of ``rocm-smi --showproductname --json`` and further options.

    The other options whose output this function reads are ``--showmeminfo vram``, ``--showmaxpower``,
    ``--showcomputepartition`` and ``--showmemorypartition``.
    """
    document = _json(text)
    found = []
    for card, row in document.items() if isinstance(document, Mapping) else ():
        match = re.fullmatch(r"card(\d+)", card)
        if match is None or not isinstance(row, Mapping):
            continue
        # Case differs between versions of the tool: "Card series", "Card Series".
        cells = {key.casefold(): _known(value) for key, value in row.items()}
        series, model = cells.get("card series", ""), cells.get("card model", "")
        is_number = re.fullmatch(r"0x[0-9a-f]{4}", model, re.IGNORECASE) is not None
        name = series if series and not series.startswith("0x") else "" if is_number else model
        found.append(
            Device(
                name or cells.get("gfx version", "") or model,
                "rocm-smi",
                int(match[1]),
                pci=_pci_of_parts("0x1002", model) if is_number else "",
                architecture=cells.get("gfx version", ""),
                memory=_number(cells.get("vram total memory (b)")),
                power_limit=_number(cells.get("max graphics package power (w)")),
                partition=cells.get("compute partition", "").upper(),
                memory_partition=cells.get("memory partition", "").upper(),
            )
        )
    return tuple(found)


def arm_core(cpuinfo: str) -> tuple[str, str]:
    r"""Return implementer and part of an Arm core, from ``/proc/cpuinfo``; empty texts for other processors.

    Examples
    --------
    >>> arm_core("CPU implementer : 0x46\nCPU part : 0x001")
    ('0x46', '0x001')
    """
    cells = dict(re.findall(r"^(CPU implementer|CPU part)\s*:\s*(\S+)", cpuinfo, re.MULTILINE))
    return cells.get("CPU implementer", ""), cells.get("CPU part", "")


def processor_name(text: str) -> str:
    """Return a processor's name without trade marks, clock and number of cores.

    Examples
    --------
    >>> processor_name("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz")
    'Intel Xeon Platinum 8380'
    """
    text = re.sub(r"\((?:R|TM|C)\)", " ", text, flags=re.IGNORECASE)
    text = re.sub(r"@.*| w/ .*|\b\d+-Core\b|\bProcessor\b|\bCPU\b(?! Max)", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def visible(devices: Iterable[Device], chosen: str | None) -> tuple[Device, ...]:
    """Return the devices that a variable such as ``CUDA_VISIBLE_DEVICES`` leaves, in its order; all without one.

    Examples
    --------
    >>> four = [Device("GPU", "a tool", index, uuid=f"GPU-{index}f3") for index in range(4)]
    >>> [one.index for one in visible(four, "2,GPU-0f")], [one.index for one in visible(four, None)]
    ([2, 0], [0, 1, 2, 3])
    """
    known = tuple(devices)
    if chosen is None:
        return known
    return tuple(one for word in chosen.split(",") for one in _called(known, word.strip()))


def _called(devices: Iterable[Device], word: str) -> Iterator[Device]:
    for one in devices:
        if (word.isdigit() and one.index == int(word)) or (word and one.uuid.startswith(word)):
            yield one
            return


def _slices(listing: str) -> dict[str, list[tuple[str, str]]]:
    """Return profile and identity of the MIG slices of each GPU."""
    found: dict[str, list[tuple[str, str]]] = {}
    gpu = ""
    for line in listing.splitlines():
        whole, part = _GPU_LINE.match(line), _MIG_LINE.match(line)
        if whole:
            gpu = whole[3]
        elif part:
            found.setdefault(gpu, []).append((part[1], part[2]))
    return found


def _in_mig_mode(whole: Device, slices: Iterable[tuple[str, str]]) -> list[Device]:
    parts = [replace(whole, slice=profile, uuid=uuid, memory=None) for profile, uuid in slices]
    return parts or [replace(whole, slice="unknown", memory=None)]


def _pci_of_number(text: str) -> str:
    match = _PCI_NUMBER.fullmatch(text.strip())
    return f"{match[2]}:{match[1]}".casefold() if match else ""


def _pci_of_parts(vendor: object, device: object) -> str:
    parts = [re.fullmatch(r"0x([0-9a-f]{4})", str(part), re.IGNORECASE) for part in (vendor, device)]
    return ":".join(part[1].casefold() for part in parts if part) if all(parts) else ""


def _number(text: object) -> float | None:
    match = _LEADING_NUMBER.match(str(text))
    return float(match[1]) if match else None


def _known(text: object) -> str:
    word = str(text or "").strip()
    return "" if word.casefold() in _UNKNOWN else word


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value or "")


def _json(text: str) -> Any:
    """Return the JSON document in a text that may begin with warnings; None if there is none."""
    start = re.search(r"^[\[{]", text, re.MULTILINE)
    try:
        return json.loads(text[start.start() :]) if start else None
    except ValueError:
        return None


def _table(row: object, word: str) -> Mapping[str, Any]:
    part = row.get(word) if isinstance(row, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _value(cell: object) -> object:
    return cell.get("value") if isinstance(cell, Mapping) else cell


def _bytes(cell: object) -> float | None:
    """Return a size of amd-smi in bytes. Its MB is 2**20 bytes."""
    size, unit = _number(_value(cell)), cell.get("unit") if isinstance(cell, Mapping) else "MB"
    return None if size is None else size * (2**30 if unit == "GB" else 2**20)


def _watts(*cells: object) -> float | None:
    """Return the first limit that is a number above zero: a guest of a virtual machine sees 0."""
    return next((watts for cell in cells if (watts := _number(_value(cell)))), None)
