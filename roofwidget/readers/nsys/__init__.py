"""NVIDIA Nsight Systems: the SQLite export, and the reports of ``nsys stats``.

``nsys profile --trace=cuda,nvtx ./program`` writes ``report1.nsys-rep``. That file has NVIDIA's own format, so export
it::

    nsys export --type sqlite report1.nsys-rep
    nsys stats --report cuda_gpu_trace --format csv --output . report1.nsys-rep

Nsight Systems counts neither FLOPs nor bytes of kernels: it gives times, launches, and the bytes of copies. The work of
kernels comes from ``work=``.

- SQLite: a row per kernel, copy and fill, in the order of their starts. The category is the innermost NVTX range of
  the launching thread that contains the launch, without the numbers that PyTorch adds, else the family that the name
  of the kernel tells (matrix product, attention, …); ``range`` in `Kernels.extra` is the whole text of the range.
  FLOPs of ``aten::mm``, ``addmm``, ``bmm`` and ``baddbmm`` come from the sizes that PyTorch's ``emit_nvtx(
  record_shapes=True)`` writes, for the longest kernel of an operation; their dtypes and so their bytes are unknown.
  If `nsys` recorded CUDA graphs as a whole, a replay is one row, and a warning says so.
- Reports: the summaries and traces of kernels and copies of all versions, with commas or printed in columns, and
  several reports in a file or a folder. Of several reports of the same kernels the one with most details is read. The
  number of launches is ``Instances``, ``Count``, ``Calls`` or ``Operations``; times are totals of all launches.
- Ranges (``nvtx_gpu_proj_sum``, ``nvtx_sum``) are rows too, with the time of the device or of the host.
- Bytes of copies between the host and a device are under ``host``, between devices under ``peer``, and within a device
  under the main memory, which reads and writes them. Reports round bytes to 1000.
- If kernels of one name ran on several devices, the number of the device is part of their names.
- Summaries of calls of the host's API are refused: they are no kernels.
"""

from __future__ import annotations

from typing import Final

from roofwidget.kernels.table import Kernels
from roofwidget.readers.folders import members_of
from roofwidget.readers.input import databases
from roofwidget.readers.input.source import Source
from roofwidget.readers.nsys import export, reports

FORMAT: Final = "nsys"
EXPECTED: Final = "the SQLite export of Nsight Systems, or reports of nsys stats"

_OWN_FORMAT: Final = (".nsys-rep", ".qdrep", ".qdstrm")


def recognises(source: Source) -> bool:
    """Whether the source is an export or a report of Nsight Systems, or a folder with such files."""
    if source.is_folder:
        return bool(members_of(source, _is_readable))
    return _is_readable(source) or source.name.casefold().endswith(_OWN_FORMAT)


def read(source: Source) -> Kernels:
    """Return the kernels and copies of a profile.

    Raises
    ------
    ProfileError
        If the file is not exported, is damaged, or has nothing that a device ran.
    """
    if source.is_folder:
        files = members_of(source, _is_readable)
        exports = [file for file in files if databases.is_database(file)]
        if len(exports) > 1:
            raise source.error("several exports of Nsight Systems: they are profiles of their own")
        return export.read(exports[0]) if exports else reports.read(files, source.name)
    if databases.is_database(source):
        return export.read(source)
    if source.name.casefold().endswith(_OWN_FORMAT):
        # `nsys import` turns the stream of a profiling that was cut off into a report.
        command = "nsys export --type sqlite" if not source.name.endswith(".qdstrm") else "QdstrmImporter -i"
        raise source.error(f"the file has NVIDIA's own format: {command} {source.name.rpartition('/')[2]} exports it")
    return reports.read([source], source.name)


def _is_readable(source: Source) -> bool:
    return export.is_export(source) or reports.recognises(source)
