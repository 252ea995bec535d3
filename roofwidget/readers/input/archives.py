"""Decompress gzip and zip while reading. Sizes are limited. Any damaged archive raises the same exception."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final, cast

from roofwidget.readers.errors import ProfileError

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
_END_OF_ZIP: Final = b"PK\x05\x06"
_BUFFER_BYTES: Final = 2**18
_MAX_UNPACKED_BYTES: Final = 2**31
_MAX_UNPACKED_RATIO: Final = 200
_MAX_NESTED: Final = 3
_DAMAGE: Final = (EOFError, OSError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)


def is_zip(stream: BinaryIO) -> bool:
    """Whether a seekable stream is a zip archive."""
    begin = stream.read(len(_ZIP))
    stream.seek(0)
    return begin == _ZIP


def listed_files(stream: BinaryIO, name: str, *, most: int) -> dict[str, int]:
    """Return the files of a zip archive and their compressed sizes, without folders and macOS resource forks."""
    # Read the number of entries first: listing a huge archive would take too much memory.
    stream.seek(0, io.SEEK_END)
    stream.seek(max(stream.tell() - 2**16 - 22, 0))
    tail = stream.read()
    end = tail.rfind(_END_OF_ZIP)
    if int.from_bytes(tail[end + 10 : end + 12], "little") > most and end >= 0:
        raise ProfileError(
            name, f"a zip archive of more than {most:,} files; extract it and give the path of the profile"
        )
    try:
        with zipfile.ZipFile(stream) as archive:
            return {info.filename: info.compress_size for info in _files(archive)}
    except _DAMAGE as error:
        raise ProfileError(name, f"a damaged zip archive: {error}") from None


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]


def member(raw: Callable[[], BinaryIO], name: str) -> BinaryIO:
    """Return a decompressed member of a zip archive; `raw` opens the archive."""
    stream = raw()
    try:
        # ZipFile does not close a file object that it did not open.
        archive = zipfile.ZipFile(stream)
        return cast("BinaryIO", _OwningStream(archive.open(name), archive, stream))
    except BaseException:
        stream.close()
        raise


def unpacked(
    raw: BinaryIO, name: str, size: int | None, nested: int = 0, on_read: Callable[[int], object] | None = None
) -> BinaryIO:
    """Return the decompressed stream; at most three compressions may be nested."""
    counted = _CountingStream(raw, on_read) if on_read is not None else raw
    stream = cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", counted), _BUFFER_BYTES))
    packed = nested > 0
    try:
        for _ in range(_MAX_NESTED - nested):
            begin = cast("io.BufferedReader", stream).peek(4)[:4]
            if begin.startswith(_GZIP):
                inner: object = _OwningStream(gzip.GzipFile(fileobj=stream), stream)
            elif begin == _ZIP:
                inner = _only_member(stream)
            else:
                break
            packed = True
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
    if not packed:
        return stream
    return cast("BinaryIO", io.BufferedReader(_LimitedStream(stream, name, size), _BUFFER_BYTES))


def _only_member(stream: BinaryIO) -> object:
    if not stream.seekable():
        raise zipfile.BadZipFile("a zip archive within a compressed file; decompress the outer one")
    archive = zipfile.ZipFile(stream)
    files = _files(archive)
    if len(files) != 1:
        raise zipfile.BadZipFile(f"a zip archive of {len(files)} files")
    return _OwningStream(archive.open(files[0].filename), archive, stream)


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


class _LimitedStream(_OwningStream):
    """A decompressed stream that raises an error if the data is damaged or far larger than the compressed file."""

    def __init__(self, stream: BinaryIO, name: str, size: int | None) -> None:
        super().__init__(stream)
        self._name = name
        self._size = size or 0
        self._out = 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as above
        try:
            count = super().readinto(buffer)
        except _DAMAGE as error:
            raise ProfileError(
                self._name, f"the compressed file is damaged or incomplete: {error}; copy it again"
            ) from None
        self._out += count
        if self._out > _MAX_UNPACKED_BYTES and self._out > _MAX_UNPACKED_RATIO * self._size:
            limits = f"{_MAX_UNPACKED_BYTES / 2**30:.0f} GiB and {_MAX_UNPACKED_RATIO} times its size"
            raise ProfileError(
                self._name, f"unpacks to more than {limits}; if the file is correct, decompress it yourself"
            )
        return count
