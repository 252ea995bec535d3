"""NVIDIA Nsight Compute: a report (``.ncu-rep``) or any of its tables. NVIDIA's software is not needed.

How to make a report::

    ncu --set roofline -o profile ./program
    ncu --set roofline --metrics group:memory__dram_table,regex:sm__ops_path_tensor.* -o profile ./program

Prefer the report: it has every value in base units and double precision. To make a table instead:
``ncu -i profile.ncu-rep --csv --page raw --print-units base > profile.csv``. It rounds rates to two decimals, with
``--print-fp`` too, so that FLOPs are a little off; automatic units round the bytes of small kernels more. The reader
accepts the long table of ``ncu --csv --metrics …``, the wide table of ``--page raw``, ``--page details`` and
``--print-summary per-kernel``, and the tables that are copied or exported from the window's pages Raw and Summary
(``gpu__time_duration.sum [us]``). Units may be base or automatic, banners and output of the program may be between the
rows, and numbers may be in English or European notation (decided once per file). Several passes of one program may be a
list of files as ``passes``, a folder or a zip archive. A table that ends within a row raises an error. If only the last
launch lacks metrics that all earlier launches have, a warning says so.

Where the numbers come from (`Kernels.origin` has this for each row):

time
    ``gpu__time_duration.sum``, else cycles elapsed divided by cycles per second.
FLOPs outside tensor cores
    Thread instructions that were not predicated off, ``smsp__sass_thread_inst_executed_op_*_pred_on``: add and mul are
    one FLOP, fma is two. Half precision counts twice, because its instructions are packed in pairs
    (``fp16_packed=False`` for code without packing). Divisions and transcendental functions have no counter, so they
    are not counted.
FLOPs of tensor cores
    ``sm__ops_path_tensor_*``, which counts FLOPs. Else, before Hopper, instructions of the tensor pipe times the FLOPs
    of the shape in the kernel's name: 512 for 8x8x4 (``s884``), 2048 for 16x8x8 (``s1688``), 4096 for 16x8x16
    (``s16816``). Without a shape the FLOPs are unknown; no factor is guessed. On A100 the tensor pipe also moves
    registers: if there are exactly 32 hfma thread instructions per tensor instruction, neither of the two kinds of
    instructions is counted. On H100 too the pipe runs hfma of threads, arithmetic and moves, which are told from tensor
    work where the FLOPs of the hmma paths and the instructions ``op_gmma`` are 0, or the FLOPs of all paths are there
    and 0; hfma that never uses the pipe ``fma_type_fp16`` is a move. If no other half-precision arithmetic was counted,
    hfma is also left out on A100 if the tensor pipe has no counter, and on H100 if ``fma_type_fp16`` has none and the
    active cycles of the tensor pipe are enough for all hfma. From Hopper on, counters that are all 0 prove nothing: the
    FLOPs are unknown if the kernel's name indicates tensor cores, and a busy kernel gets a warning. Only zeros of a
    whole pipe or subpipe (``sm__inst_executed_pipe_tensor``, ``…_subpipe_hmma``, ``sm__pipe_tensor_cycles_active``)
    mean no tensor work, if the counter is above 0 for another launch of the file. Instructions, active cycles or a
    share of a pipe above 0 show tensor work, but do not count it: without another counter the FLOPs are unknown. For
    all these kernels ``flops={"nvjet": "155 GFLOP"}`` sets the FLOPs of one launch by kernel name (a number, text, a
    mapping by precision, or an `Op` with the kernel's shapes).
operations of integers
    Of tensor cores as their FLOPs, under ``int8`` and ``int4``. With ``integers=True`` also the instructions of
    threads, ``smsp__sass_thread_inst_executed_op_integer_pred_on``, one operation each, under ``int32``. By default
    they are left out, because addresses and loops are made of these instructions too. Their peak is
    ``.peak_sustained`` of the same counter.
bytes
    DRAM: ``dram__bytes``, else reads and writes, else sectors. L2: ``lts__t_bytes``, else sectors, else the traffic
    between L2 and the SMs. Nsight's own charts changed the definition of L2 bytes between versions, so never compare
    two files whose L2 bytes have different rules. L1: ``l1tex__t_bytes``, else the bytes written back to registers.
    Each of these counters has its own peak, but that of ``l1tex__t_bytes`` is what the tags of L1 look up: 512 B a
    cycle and SM on Turing, where L1 moves 64 B. So the roof of these bytes is that of the data sheet. If the launches
    of a file have bytes of a level from different counters, no peak bounds them all, so this level has no roof, and a
    warning names the counters.
why a kernel is slow
    `Kernels.extra` has occupancy, the three longest stalls, issue slots, hit rates, sectors per request, bank
    conflicts, the busiest pipe and active lanes, as far as the file has their counters (``--set full`` has all), and
    counts of instructions and transactions. `Kernels.read_as` names the counter behind each. `roofwidget.reasons` says
    what they show, `roofwidget.instruction_roofline` uses the counts, and ``docs/why.md`` lists columns and metrics.
ceilings
    `Kernels.chip` has the report's peaks per cycle times the measured clock, because ncu locks the clock to its base
    value. It also has the ceilings ``boost clock`` and, if the catalogue knows the device or ``chip`` names it,
    ``data sheet``. Peaks that are missing in the report come from the data sheet, scaled to the measured clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from roofwidget.readers.input.source import Source
from roofwidget.readers.ncu.assembly import kernels, read_launches
from roofwidget.readers.ncu.ncu_rep import MAGIC
from roofwidget.readers.ncu.pages import is_header, is_printed

if TYPE_CHECKING:
    from roofwidget.chips import Chip
    from roofwidget.kernels.table import Kernels
    from roofwidget.readers.ncu.flops import GivenFlops

FORMAT: Final = "ncu"
EXPECTED: Final = "a report (.ncu-rep) or a table (--csv) of NVIDIA Nsight Compute"

_ENDINGS: Final = (".ncu-rep", ".csv", ".txt", ".log", ".gz")


def recognises(source: Source) -> bool:
    r"""Whether this is a report or a table of Nsight Compute, or a folder that contains a report or a table.

    Examples
    --------
    >>> recognises(Source.of(b"NVR\0\4\0\0\0")), recognises(Source.of(b"Kernel_Name,SQ_WAVES"))
    (True, False)
    """
    if source.is_folder:
        return any(True for _ in _passes_in(source))
    text = source.beginning
    return source.head.startswith(MAGIC) or any(map(_is_ncu_line, text.splitlines())) or is_printed(text)


def read(
    source: Source,
    *,
    flops: GivenFlops | None = None,
    fp16_packed: bool = True,
    integers: bool = False,
    chip: Chip | str | None = None,
    device: int | str | None = None,
    passes: Any = (),
) -> Kernels:
    """Read a report or a table of Nsight Compute.

    Parameters
    ----------
    source
        A report, a table, or a folder of passes of one program.
    flops
        FLOPs of one launch by a pattern of kernel names. They apply to launches with unknown FLOPs, and to launches
        whose tensor counters are all 0 on a chip where this proves nothing.
    fp16_packed
        Whether half-precision instructions outside tensor cores do two operations per thread (HFMA2).
    integers
        Whether to count the integer instructions of threads too, under ``int32``: for kernels whose work is integers.
    chip
        A chip or the name of a chip; its data sheet replaces figures that are missing in the report.
    device
        The number of the device to read, if several were profiled.
    passes
        More files with other metrics of the same launches in the same order: a path or a list of paths.

    Returns
    -------
    Kernels
        One row per launch. A summary gives one row per kernel, and `count` is the kernel's number of launches. The rows
        have FLOPs by precision, bytes of ``DRAM``, ``L2`` and ``L1``, and seconds. `chip` has the roofs.

    Raises
    ------
    ProfileError
        If the file is damaged, has no kernels or no useful metrics, or passes do not match. The message says where.
    TypeError, ValueError
        If an option has the wrong type or value, or a pattern of `flops` matches no kernel's name.
    """
    for name, value in (("fp16_packed", fp16_packed), ("integers", integers)):
        if value not in (True, False):
            raise TypeError(f"{name} must be True or False, got {value!r}")
    given: Sequence[Any] = passes if isinstance(passes, (list, tuple)) else [passes]
    files = [*(_passes_in(source) if source.is_folder else [source]), *map(Source.of, given)]
    if not files:
        raise source.error(f"the folder has no file of Nsight Compute; expected {EXPECTED}")
    launches = read_launches(files, device)
    return kernels(launches, flops=flops, fp16_packed=fp16_packed, integers=integers, chip=chip, source=source.name)


def _passes_in(folder: Source) -> Iterable[Source]:
    for name, member in folder.members().items():
        if name.endswith(_ENDINGS) and not member.is_folder and recognises(member):
            yield member


def _is_ncu_line(line: str) -> bool:
    """Whether a line is a table header of ncu or one of its messages."""
    if line.startswith(("==PROF==", "==WARNING==", "==ERROR==")):
        return True
    if " Name" not in line:
        return False
    cells = [cell.strip().strip('"') for delimiter in ",;\t" for cell in line.split(delimiter)]
    return is_header(cells)
