"""Recognise XProf's raw traces, ``.xplane.pb``, and convert them to the JSON of its tools (package ``xprof``)."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input.source import Source
from roofwidget.support.did_you_mean import listed
from roofwidget.support.extras import install_command

_END: Final = ".xplane.pb"
# Tags of the outermost fields of a trace: planes, errors, warnings and hosts. A length follows each tag.
_FIELDS: Final = (0x0A, 0x12, 0x1A, 0x22)
_MAX_VARINT_BYTES: Final = 10
_CHUNK_BYTES: Final = 2**20
# The first field of a trace is a plane, with the plane's name near its start.
_PLANE: Final = re.compile(rb"\x12[\x01-\x7f](?:/host:|/device:|#Chip|Task Environment)")


def is_trace(source: Source) -> bool:
    r"""Whether the source looks like a trace, or a folder with traces.

    Examples
    --------
    >>> is_trace(Source.of(b"\n\x10\x12\x0e/host:metadata"))
    True
    """
    if source.is_folder:
        return any(name.endswith(_END) for name in source.members())
    # JSON that was converted from a trace has the trace's name, so its first character is checked too.
    is_named = source.name.endswith(_END) and source.head.strip()[:1] not in (b"", b"[", b"{")
    return is_named or (source.head.startswith(b"\n") and _PLANE.search(source.head) is not None)


def converted(source: Source, *tools: str) -> list[Source]:
    """Return the JSON of the given XProf tools for a trace.

    Raises
    ------
    ImportError
        If the package ``xprof`` is not installed.
    ProfileError
        If the trace is damaged or incomplete, or XProf cannot convert it.
    """
    hosts = _hosts(source)
    for one in hosts:
        _check(one)
    try:
        convert = import_module("xprof.convert.raw_to_tool_data")
    except ImportError:
        raise ImportError(
            f"{source.name}: reading .xplane.pb needs the package xprof: {install_command('xprof')}"
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        for host, one in enumerate(hosts):
            trace = Path(folder, f"host{host}{_END}")
            with one.open() as stream, trace.open("wb") as copy:
                shutil.copyfileobj(stream, copy)
            traces.append(str(trace))
        found = [_tool(convert, traces, tool, source.name) for tool in tools]
    return [Source.of_bytes(source.name, data) for data in found]


def _check(trace: Source) -> None:
    """Raise an error if an outermost field of the trace is incomplete.

    XProf would read only a part of the trace, or end the process.
    """
    done = 0
    with trace.open() as stream:
        while tag := stream.read(1):
            size = _varint(stream) if tag[0] in _FIELDS else None
            if size is None:
                raise trace.error(
                    "the trace is damaged or incomplete: a field was expected here; copy it again",
                    place=f"byte {done + 1}",
                )
            length, begin = size
            left = length
            while left and (piece := stream.read(min(left, _CHUNK_BYTES))):
                left -= len(piece)
            if left:
                raise trace.error(f"the trace ends {left:,} bytes too early; copy it again", place=f"byte {done + 1}")
            done += 1 + begin + length


def _varint(stream: BinaryIO) -> tuple[int, int] | None:
    """Return a protobuf integer and its number of bytes, or None if the bytes are no protobuf integer."""
    value = 0
    for count in range(_MAX_VARINT_BYTES):
        byte = stream.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << (7 * count)
        if byte[0] < 0x80:  # noqa: PLR2004 - the last byte
            return value, count + 1
    return None


def _hosts(source: Source) -> list[Source]:
    """Return the traces of one run, one per host."""
    if not source.is_folder:
        return [source]
    found = {name: one for name, one in source.members().items() if name.endswith(_END)}
    runs = sorted({name.rpartition("/")[0] for name in found})
    if len(runs) > 1:
        raise source.error(f"the folder has {len(runs)} runs; give the path of one run: {listed(runs[:5])}")
    return list(found.values())


def _tool(convert: Any, traces: list[str], tool: str, name: str) -> bytes:
    try:
        data, _ = convert.xspace_to_tool_data(traces, tool, {})
    except Exception as error:
        raise ProfileError(name, f"XProf cannot convert the trace to '{tool}': {error}") from error
    if not data:
        raise ProfileError(name, f"XProf finds nothing for '{tool}' in the trace")
    return data if isinstance(data, bytes) else str(data).encode()
