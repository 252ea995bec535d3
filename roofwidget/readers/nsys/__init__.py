"""NVIDIA Nsight Systems: reports of ``nsys stats``, and the SQLite export.

``nsys profile ./program`` writes ``report1.nsys-rep``. That file is NVIDIA's own format; export it::

    nsys export --type sqlite report1.nsys-rep
    nsys stats --report cuda_gpu_trace --format csv --output . report1.nsys-rep
"""

from __future__ import annotations

from typing import Final

from roofwidget.kernels.table import Kernels
from roofwidget.readers.folders import members_of
from roofwidget.readers.input.source import Source
from roofwidget.readers.nsys import reports

FORMAT: Final = "nsys"
EXPECTED: Final = "the SQLite export of Nsight Systems, or reports of nsys stats"


def recognises(source: Source) -> bool:
    """Whether the source has reports of ``nsys stats``, or is a folder with such files."""
    return bool(members_of(source, reports.recognises)) if source.is_folder else reports.recognises(source)


def read(source: Source) -> Kernels:
    """Return the kernels and copies."""
    files = members_of(source, reports.recognises) if source.is_folder else [source]
    return reports.read(files, source.name)
