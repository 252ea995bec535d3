"""NVIDIA Nsight Compute: a report (``.ncu-rep``) or any of its tables; NVIDIA's software is not needed.

How to make one::

    ncu --set roofline -o profile ./program
    ncu --set roofline --metrics group:memory__dram_table,regex:sm__ops_path_tensor.* -o profile ./program

The report is read best: it holds every value in base units and double precision. From a table that is all there is:
``ncu -i profile.ncu-rep --csv --page raw --print-units base > profile.csv``. Read are the long table of
``ncu --csv --metrics …``, the wide one of ``--page raw``, ``--page details`` and ``--print-summary per-kernel``, in
base or automatic units, with banners and output of the program between the rows, numbers in English or European
notation (decided once for the file), and several passes of one program: a list of files as ``passes``, a folder or a
zip of them. A table that ends within a row is cut off and refused; where only its last launch lacks what the launches
before it have, a warning says so.

Where numbers come from; `Kernels.origin` tells it row by row:

time
    ``gpu__time_duration.sum``, else cycles elapsed over cycles per second.
FLOPs outside tensor cores
    Threads' instructions that were not predicated off, ``smsp__sass_thread_inst_executed_op_*_pred_on``: add and mul
    are one FLOP, fma is two. Half precision counts twice that, for its instructions are packed in pairs
    (``fp16_packed=False`` for code that is not). Divisions and transcendental functions are in no counter.
FLOPs of tensor cores
    ``sm__ops_path_tensor_*``, which counts FLOPs. Else, before Hopper, instructions of the tensor pipe times the FLOPs
    of the shape in the kernel's name: 512 for 8x8x4 (``s884``), 2048 for 16x8x8 (``s1688``), 4096 for 16x8x16
    (``s16816``). Without a shape they are unknown; no factor is guessed. On A100 the tensor pipe also moves registers:
    where 32 threads' hfma stand against each of its instructions, neither is counted; hfma is left out, too, where
    nothing tells of the pipe and no other half-precision arithmetic was counted. From Hopper on counters that are all
    0 prove nothing: FLOPs of a kernel whose name tells of tensor cores are then unknown, those of a busy one get a
    warning, and ``flops={"nvjet": "155 GFLOP"}`` gives either by name, as FLOPs of one launch (a number, text, a
    mapping by precision, or an `Op` with the kernel's shapes).
bytes
    DRAM: ``dram__bytes``, else reads and writes, else sectors. L2: ``lts__t_bytes``, else sectors, else what crosses to
    the SMs, as Nsight's own charts have it by turns: never compare two files of different rules. L1:
    ``l1tex__t_bytes``, else what is written back to registers.
ceilings
    `Kernels.chip` has the peaks per cycle of the report times the clock that was measured, for ncu locks the clock to
    its base. Beside them stand the ceilings ``boost clock`` and, if the catalogue knows the device or ``chip`` names
    it, ``data sheet``; its peaks at the measured clock fill in what the report does not tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.readers.ncu.assembly import kernels, read_launches
from roofwidget.readers.ncu.pages import is_header
from roofwidget.readers.ncu.report import MAGIC

if TYPE_CHECKING:
    from roofwidget.chips import Chip
    from roofwidget.kernels.table import Kernels
    from roofwidget.readers.ncu.flops import GivenFlops

__all__ = ["EXPECTED", "FORMAT", "read", "recognises"]

FORMAT: Final = "ncu"
EXPECTED: Final = "a report (.ncu-rep) or a table (--csv) of NVIDIA Nsight Compute"

_ENDINGS: Final = (".ncu-rep", ".csv", ".txt", ".log", ".gz")


def recognises(source: Source) -> bool:
    r"""Whether this is a report or a table of Nsight Compute, or a folder that holds one.

    Examples
    --------
    >>> recognises(Source.of(b"NVR\0\4\0\0\0")), recognises(Source.of(b"Kernel_Name,SQ_WAVES"))
    (True, False)
    """
    if source.is_folder:
        return any(True for _ in _passes_in(source))
    return source.head.startswith(MAGIC) or any(map(_speaks, source.beginning.splitlines()))


def read(
    source: Source,
    *,
    flops: GivenFlops | None = None,
    fp16_packed: bool = True,
    chip: Chip | str | None = None,
    device: int | str | None = None,
    passes: Any = (),
) -> Kernels:
    """Read what Nsight Compute wrote.

    Parameters
    ----------
    source
        A report, a table, or a folder of passes of one program.
    flops
        FLOPs of one launch by a pattern of kernels' names, for launches whose FLOPs no counter tells, or whose
        counters of tensor cores are all 0 on a chip on which that proves nothing.
    fp16_packed
        Whether half-precision instructions outside tensor cores do two operations a thread (HFMA2).
    chip
        The chip, or the name of one, whose data sheet fills in what the report does not tell of the device.
    device
        The number of one device, where several were profiled.
    passes
        Further files with other metrics of the same launches, in the same order: a path or a list of them.

    Returns
    -------
    Kernels
        One row a launch (of a summary one row a kernel, with its launches as `count`): FLOPs by precision, bytes of
        ``DRAM``, ``L2`` and ``L1``, seconds; `chip` with the roofs.

    Raises
    ------
    ProfileError
        If the file is damaged, holds no kernel or no number of use, or passes do not match: says where.
    TypeError, ValueError
        If an option is not what it says, or a pattern of `flops` is in no kernel's name.
    """
    if fp16_packed not in (True, False):
        msg = f"fp16_packed must be True or False, got {fp16_packed!r}"
        raise TypeError(msg)
    given: Sequence[Any] = passes if isinstance(passes, (list, tuple)) else [passes]
    files = [*(_passes_in(source) if source.is_folder else [source]), *map(Source.of, given)]
    if not files:
        raise ProfileError(source.name, f"the folder holds no file of Nsight Compute; expected {EXPECTED}")
    launches = read_launches(files, device)
    return kernels(launches, flops=flops, fp16_packed=fp16_packed, chip=chip, source=source.name)


def _passes_in(folder: Source) -> Iterable[Source]:
    for name, member in folder.members().items():
        if name.endswith(_ENDINGS) and not member.is_folder and recognises(member):
            yield member


def _speaks(line: str) -> bool:
    """Whether a line is a header of ncu's, or what it says while it profiles."""
    if line.startswith(("==PROF==", "==ERROR==")):
        return True
    if "Kernel Name" not in line:
        return False
    cells = [cell.strip().strip('"') for delimiter in ",;\t" for cell in line.split(delimiter)]
    return is_header(cells)
