"""Decompress gzip and zip while reading. Sizes are limited. Any damaged archive raises the same exception."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final, NoReturn, cast

from roofwidget.readers.errors import ProfileError

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
_ENTRY_OF_ZIP: Final = b"PK\x01\x02"
"""Begins an entry of the table of contents."""
_MAX_DIRECTORY_BYTES: Final = 8 * 2**20
"""10,000 files with paths of 800 letters."""
_BUFFER_BYTES: Final = 2**18
# A piece of an archive. Small pieces tell early that a file is a bomb.
_PIECE_BYTES: Final = 2**14
# Traces of repeated events are packed to a twentieth or a hundredth, and bombs to a thousandth.
_MAX_UNPACKED_RATIO: Final = 200
_MAX_UNPACKED_BYTES: Final = 2**22
"""What may be unpacked whatever the ratio."""
# bzip2 and LZMA unpack a small piece to any size at once.
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MAX_NESTED: Final = 3
# zipfile seeks before the begin of the file if a table of contents is damaged, and then raises a ValueError.
_DAMAGE: Final = (
    *(EOFError, OSError, RuntimeError, NotImplementedError, ValueError, struct.error),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)


def is_packed(stream: BinaryIO) -> bool:
    """Whether a stream begins like a gzip file or a zip archive."""
    begin = stream.read(len(_ZIP))
    return begin.startswith(_GZIP) or begin == _ZIP


def is_zip(stream: BinaryIO) -> bool:
    """Whether a seekable stream is a zip archive."""
    begin = stream.read(len(_ZIP))
    stream.seek(0)
    return begin == _ZIP


def listed_files(stream: BinaryIO, name: str, *, most: int) -> dict[str, int]:
    """Return the files of a zip archive and their compressed sizes, without folders and macOS resource forks."""
    try:
        with zipfile.ZipFile(cast("BinaryIO", _DirectoryStream(stream, name, most))) as archive:
            return {info.filename: info.compress_size for info in _files(archive)}
    except ProfileError:
        raise
    except _DAMAGE as error:
        raise ProfileError(name, f"a damaged zip archive: {error}") from None


class _DirectoryStream:
    """A zip archive from which zipfile reads the table of contents: it reads all of it by one call.

    Parameters
    ----------
    stream
        The archive.
    name
        The archive's name in messages.
    most
        The most entries.
    """

    def __init__(self, stream: BinaryIO, name: str, most: int) -> None:
        self.seek = stream.seek
        self.tell = stream.tell
        self._stream = stream
        self._name = name
        self._most = most

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_DIRECTORY_BYTES:
            takes = f"takes {size / 2**20:,.0f} MiB (at most {_MAX_DIRECTORY_BYTES / 2**20:.0f})"
            self._refuse(f"whose table of contents {takes}")
        data = self._stream.read(size)
        # zipfile makes an object of each entry, whatever number of entries the archive names.
        if data.count(_ENTRY_OF_ZIP) > self._most:
            self._refuse(f"of more than {self._most:,} files")
        return data

    def _refuse(self, what: str) -> NoReturn:
        raise ProfileError(self._name, f"a zip archive {what}; extract it and give the path of the profile")


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]


def member(raw: Callable[[], BinaryIO], shown: str, name: str) -> BinaryIO:
    """Return a decompressed member of a zip archive; `raw` opens the archive, and errors call it `shown`."""
    stream = raw()
    try:
        # ZipFile does not close a file object that it did not open.
        archive = zipfile.ZipFile(stream)
        return cast("BinaryIO", _of_member(archive, archive.getinfo(name), stream, f"{shown}/{name}"))
    except BaseException as error:
        stream.close()
        if isinstance(error, _DAMAGE) and not isinstance(error, ProfileError):
            raise ProfileError(f"{shown}/{name}", f"the archive is damaged: {error}; copy it again") from None
        raise


def unpacked(raw: BinaryIO, name: str, nested: int = 0, on_read: Callable[[int], object] | None = None) -> BinaryIO:
    """Return the decompressed stream; at most three compressions may be nested.

    If the data has unpacked to more than 4 MiB and more than 200 times what was read of the file, reading raises an
    error.
    """
    consumed = raw.consumed if isinstance(raw, _LimitedStream) else None
    counted = _CountingStream(raw, on_read) if on_read is not None else raw
    stream = cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", counted), _BUFFER_BYTES))
    try:
        for _ in range(_MAX_NESTED - nested):
            begin = cast("io.BufferedReader", stream).peek(4)[:4]
            if begin.startswith(_GZIP):
                pieces = _Pieces(stream)
                consumed = consumed or pieces.consumed
                inner = _LimitedStream(gzip.GzipFile(fileobj=cast("BinaryIO", pieces)), name, consumed, stream)
            elif begin == _ZIP:
                inner = _only_member(stream, name)
                consumed = inner.consumed
            else:
                break
            stream = cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", inner), _BUFFER_BYTES))
        begin = cast("io.BufferedReader", stream).peek(4)[:4]
    except ProfileError:
        stream.close()
        raise
    except _DAMAGE as error:
        stream.close()
        raise ProfileError(name, f"the compressed file is damaged or incomplete: {error}; copy it again") from None
    if begin.startswith(_GZIP) or begin in (_ZIP, _ZSTANDARD):
        stream.close()
        kind = "Zstandard" if begin == _ZSTANDARD else f"more than {_MAX_NESTED} times"
        raise ProfileError(name, f"compressed {kind}; decompress it first")
    return stream


def _only_member(stream: BinaryIO, name: str) -> _LimitedStream:
    if not stream.seekable():
        raise zipfile.BadZipFile("a zip archive within a compressed file; decompress the outer one")
    archive = zipfile.ZipFile(stream)
    files = _files(archive)
    if len(files) != 1:
        raise zipfile.BadZipFile(f"a zip archive of {len(files)} files")
    return _of_member(archive, files[0], stream, name)


def _of_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, stream: BinaryIO, name: str) -> _LimitedStream:
    if info.compress_type not in _METHODS:
        raise ProfileError(name, "packed by another method than deflate; extract it, and give the path of the profile")
    opened = archive.open(info)
    begin = stream.tell()
    return _LimitedStream(opened, name, lambda: stream.tell() - begin, archive, stream)


class _OwningStream(io.RawIOBase):
    """A stream that also closes the streams it was opened from."""

    def __init__(self, stream: object, *owners: object) -> None:
        self._stream = cast("BinaryIO", stream)
        self._owners = cast("tuple[BinaryIO, ...]", owners)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any writable buffer is one
        return cast("io.RawIOBase", self._stream).readinto(buffer) or 0

    def close(self) -> None:
        if not self.closed:
            super().close()
            for stream in (self._stream, *self._owners):
                stream.close()


class _CountingStream(_OwningStream):
    """A seekable stream that reports how many bytes were read; a byte that is read twice counts once."""

    def __init__(self, stream: BinaryIO, on_read: Callable[[int], object]) -> None:
        super().__init__(stream)
        self._on_read = on_read
        self._furthest = 0

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as above
        count = super().readinto(buffer)
        here = self._stream.tell() if self._stream.seekable() else self._furthest + count
        if here > self._furthest:
            self._on_read(here - self._furthest)
            self._furthest = here
        return count


class _Pieces:
    """A stream that is read in small pieces, and counts the bytes that were read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._read = 0

    def consumed(self) -> int:
        return self._read

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(_PIECE_BYTES if size < 0 else min(size, _PIECE_BYTES))
        self._read += len(piece)
        return piece


class _LimitedStream(_OwningStream):
    """A decompressed stream that raises an error if the data is damaged or far larger than what it was unpacked from.

    Parameters
    ----------
    stream
        The stream.
    name
        The file's name in messages.
    consumed
        Returns how many bytes of the file have been read.
    owners
        The streams to close too.
    """

    def __init__(self, stream: object, name: str, consumed: Callable[[], int], *owners: object) -> None:
        super().__init__(stream, *owners)
        self.consumed = consumed
        self._name = name
        self._out = 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as above
        try:
            count = super().readinto(memoryview(buffer)[:_PIECE_BYTES])
        except ProfileError:
            raise
        except _DAMAGE as error:
            raise ProfileError(
                self._name, f"the compressed file is damaged or incomplete: {error}; copy it again"
            ) from None
        self._out += count
        if self._out > _MAX_UNPACKED_BYTES and self._out > _MAX_UNPACKED_RATIO * self.consumed():
            limits = f"{_MAX_UNPACKED_BYTES / 2**20:.0f} MiB and {_MAX_UNPACKED_RATIO} times its size"
            raise ProfileError(
                self._name, f"unpacks to more than {limits}; if the file is correct, decompress it yourself"
            )
        return count
