"""The input of a reader: a file, a member of an archive, a folder or a buffer; gzip and zip are decompressed."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, cast

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input import archives, documents
from roofwidget.support import paths, strict_json

HEAD_BYTES: Final = 64 * 2**10
_MAX_TEXT_BYTES: Final = 512 * 2**20
_MAX_DOCUMENT_BYTES: Final = 256 * 2**20
_CHUNK_BYTES: Final = 2**20
_FIRST_BYTES: Final = 2**20
_MAX_FILES: Final = 10_000
_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    # UTF-32 must come before UTF-16, because the mark of UTF-32 begins with the mark of UTF-16.
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# For texts without a mark: bytes per character, the place of the byte that is not zero, and the encoding.
_ZERO_BYTES: Final = ((4, 0, "utf-32-le"), (4, 3, "utf-32-be"), (2, 0, "utf-16-le"), (2, 1, "utf-16-be"))
_MIN_UNMARKED_BYTES: Final = 8
_MAX_UNMARKED_BYTES: Final = 32

OnRead = Callable[[int], object]
MayOpen = Callable[[Path], bool]
"""Whether a file may be opened that belongs to a profile whose path was given."""


class Source:
    """One input. It can be read several times, and is loaded into memory only if a reader asks for all of it.

    Parameters
    ----------
    name
        The input's name in messages.
    raw
        Opens the stored bytes; None for a folder.
    path
        The path, or None for a buffer.
    size
        Stored bytes, or None if unknown.
    nested
        The number of archives that contain the input: 1 for a file in a zip archive.
    may_open
        Whether a file of the folder, or beside the file, may be opened; None allows all.

    Examples
    --------
    >>> Source.of(b"a,b").text(), Source.of(b"[1, 2]").json()
    ('a,b', [1, 2])
    """

    __module__ = "roofwidget.readers"

    def __init__(
        self,
        name: str,
        raw: Callable[[], BinaryIO] | None,
        *,
        path: Path | None = None,
        size: int | None = None,
        nested: int = 0,
        may_open: MayOpen | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.size = size
        self._raw = raw
        self._nested = nested
        self._may_open: MayOpen = may_open or (lambda _: True)
        self._parsed: strict_json.Parsed | None = None
        self.damage: ProfileError | None = None
        """Why the JSON could not be read, if `document` tried to read it."""

    @classmethod
    def of(cls, given: Any, may_open: MayOpen | None = None) -> Source:
        """Return the source for a path, bytes, or an open file or buffer; an open file is read to its end.

        `may_open` decides which other files may be read with a path; None allows all.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ProfileError
            If the path is neither a file nor a folder, cannot be a path, or may not be read.
        TypeError
            If `given` is neither a path, bytes, an open file nor a buffer.
        """
        if isinstance(given, Source):
            return given
        if isinstance(given, (bytes, bytearray, memoryview)):
            return cls.of_bytes("buffer", bytes(given))
        if hasattr(given, "read"):
            data = given.read()
            name = getattr(given, "name", "buffer")
            name = name if isinstance(name, str) else "buffer"
            return cls.of_bytes(name, data.encode("utf-8") if isinstance(data, str) else bytes(data))
        try:
            name = os.fsdecode(os.fspath(given))
        except TypeError:
            raise TypeError(f"expected a path, bytes or an open file, got {type(given).__name__}") from None
        problem = paths.problem_of(name)
        if problem is not None:
            raise ProfileError(paths.shown(name), problem)
        return cls._of_path(name, Path(name), may_open)

    @classmethod
    def of_bytes(cls, name: str, data: bytes, *, path: Path | None = None) -> Source:
        """Return the source for the bytes of a file."""
        return cls(name, lambda: io.BytesIO(data), path=path, size=len(data))

    @classmethod
    def _of_path(cls, name: str, path: Path, may_open: MayOpen | None) -> Source:
        try:
            if path.is_dir():
                return cls(name, None, path=path, may_open=may_open)
            size = path.stat().st_size
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ProfileError(paths.shown(name), paths.reason_of(error)) from None
        if not path.is_file():
            raise ProfileError(name, "the path is neither a file nor a folder")
        return cls(name, lambda: _opened(path, name), path=path, size=size, may_open=may_open)

    def beside(self, path: Path) -> Source | None:
        """Return the file at the path of a file that belongs to this one, or None if it is not there."""
        return Source.of(path, self._may_open) if path.is_file() and self._may_open(path) else None

    @functools.cached_property
    def head(self) -> bytes:
        """The first 64 KiB, decompressed; empty for a folder."""
        if self.is_folder:
            return b""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    @functools.cached_property
    def is_folder(self) -> bool:
        """Whether this is a folder or an archive of several files."""
        return self._raw is None or len(self._archived) > 1

    @functools.cached_property
    def _archived(self) -> Mapping[str, int]:
        """The files of an archive and their sizes; empty if this is not an archive."""
        # A member of an archive is not seekable. If the member is a zip archive itself, opening it raises an error.
        if self._raw is None or self._nested:
            return {}
        with self._raw() as stream:
            if not archives.is_zip(stream):
                return {}
            return archives.listed_files(stream, self.name, most=_MAX_FILES)

    def open(self, on_read: OnRead | None = None) -> BinaryIO:
        """Return the decompressed stream; `on_read` is called with the number of stored bytes after each read.

        Raises
        ------
        ProfileError
            If this is a folder, if the data is damaged, or if the data decompresses to more than 4 MiB and more than
            200 times its size. If this is found later, reading from the stream raises this error.
        """
        if self.is_folder or self._raw is None:
            raise self.error("this is a folder or an archive of several files; expected one file")
        return archives.unpacked(self._raw(), self.name, self._nested, on_read)

    def chunks(self, limit: int) -> Iterator[bytes]:
        """Yield the decompressed bytes in pieces of up to 1 MiB; raise an error beyond `limit` bytes."""
        total = 0
        with self.open() as stream:
            while piece := stream.read(_CHUNK_BYTES):
                total += len(piece)
                if total > limit:
                    raise self.error(f"the file has more than {limit / 2**20:,.0f} MiB of text; split it")
                yield piece

    @property
    def encoding(self) -> str:
        """The encoding that the byte order mark names.

        Without a mark, the places of zero bytes show whether the text is UTF-16 or UTF-32. All other texts are UTF-8.
        """
        marked = next((encoding for mark, encoding in _BOMS if self.head.startswith(mark)), None)
        return marked or _encoding_by_zeros(self.head) or "utf-8"

    def text(self, limit: int = _MAX_TEXT_BYTES) -> str:
        """Return the whole input as text: UTF-8, UTF-16 or UTF-32, with or without a byte order mark.

        Raises
        ------
        ProfileError
            If the input is not text (the message names the byte), or is longer than `limit` bytes.
        """
        data = b"".join(self.chunks(limit))
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise self.error(
                f"not {self.encoding[:6].upper().rstrip('-')} text: {error.reason}", place=f"byte {error.start + 1}"
            ) from None

    def json(self, *, nan: bool = False, limit: int = _MAX_TEXT_BYTES) -> object:
        """Return the parsed JSON. It is parsed once and shared: do not change it.

        Parameters
        ----------
        nan
            Whether to accept the literals ``NaN``, ``Infinity`` and ``-Infinity``, which are not JSON.
        limit
            The largest text to parse, in bytes.

        Raises
        ------
        ProfileError
            If the text is not JSON, an object has a key twice, or the text contains ``NaN`` or an infinity and `nan` is
            False. The message names line and column.
        """
        if self._parsed is None:
            begin = self.beginning.lstrip("\ufeff \t\r\n")
            if begin[:1] not in ("", "{", "[") and len(self.head) == HEAD_BYTES:
                # No profile begins like this, so the rest is not read.
                documents.parse(self.beginning, self.name)
            self._parsed = documents.parse(self.text(limit), self.name)
        if self._parsed.constant and not nan:
            documents.refuse_constant(self.text(), self.name)
        return self._parsed.value

    def document(self, is_of_format: Callable[[str], object] = lambda _: False) -> object | None:
        """Return the parsed JSON for `recognises`; None if the input is not JSON or is over 256 MiB.

        A small compressed file may contain very much. If it contains more than 1 MiB, it is read only if the first MiB
        passes the test; otherwise the result is None.
        """
        return self._document if not self.is_much or is_of_format(self.first) else None

    @functools.cached_property
    def first(self) -> str:
        """The first MiB as text; bytes that are not text become U+FFFD."""
        with self.open() as stream:
            return stream.read(_FIRST_BYTES).decode(self.encoding, "replace")

    @functools.cached_property
    def is_much(self) -> bool:
        """Whether this is a compressed file that contains more than 1 MiB."""
        if self._raw is None or self.is_folder:
            return False
        with self._raw() as stream:
            is_packed = self._nested > 0 or archives.is_packed(stream)
        if not is_packed:
            return False
        with self.open() as stream:
            return len(stream.read(_FIRST_BYTES)) == _FIRST_BYTES

    @functools.cached_property
    def _document(self) -> object | None:
        begin = self.beginning.lstrip("\ufeff \t\r\n")[:1]
        if begin not in ("{", "[") or (self.size or 0) >= _MAX_DOCUMENT_BYTES:
            return None
        try:
            return self.json(nan=True, limit=_MAX_DOCUMENT_BYTES)
        except ProfileError as error:
            self.damage = error
            return None

    @functools.cached_property
    def beginning(self) -> str:
        """The head as text; bytes that are not text become U+FFFD."""
        return self.head.decode(self.encoding, "replace")

    @functools.cached_property
    def folded(self) -> str:
        """The head as text for a search of words; see `folded`."""
        return folded(self.beginning)

    def members(self) -> Mapping[str, Source]:
        """Return the files of a folder or an archive by their relative names, with ``/`` between the parts.

        Raises
        ------
        ProfileError
            If there are more than 10,000 files.
        """
        return self._members

    @functools.cached_property
    def _members(self) -> dict[str, Source]:
        if self._raw is not None:
            raw = self._raw
            return {
                name: Source(
                    f"{self.name}/{name}",
                    functools.partial(archives.member, raw, self.name, name),
                    size=size,
                    nested=1,
                )
                for name, size in (self._archived if self.is_folder else {}).items()
            }
        found: dict[str, Source] = {}
        for folder, folders, files in os.walk(self.path or ".", onerror=self._refuse_folder):
            # The walk does not enter the others.
            folders[:] = [name for name in folders if self._may_open(Path(folder, name))]
            for name in sorted(files):
                path = Path(folder, name)
                if not (path.is_file() and self._may_open(path)):
                    continue
                if len(found) == _MAX_FILES:
                    raise self.error(f"the folder has more than {_MAX_FILES:,} files; give the path of the profile")
                relative = path.relative_to(self.path or ".").as_posix()
                found[relative] = Source._of_path(f"{self.name.rstrip('/')}/{relative}", path, self._may_open)
        return dict(sorted(found.items()))

    def _refuse_folder(self, error: OSError) -> NoReturn:
        """Raise the error for a folder that cannot be read. Without this error `os.walk` would skip the folder."""
        raise ProfileError(paths.shown(error.filename or self.name), paths.reason_of(error)) from None

    def error(
        self, reason: str, *, row: int | None = None, column: str | None = None, place: str | None = None
    ) -> ProfileError:
        """Return the error for a place of this input: see `ProfileError`."""
        return ProfileError(self.name, reason, row=row, column=column, place=place)

    def __repr__(self) -> str:
        return f"Source({self.name!r})"


def folded(text: str) -> str:
    """Return a text in lower case, with spaces for underscores.

    Examples
    --------
    >>> folded("Kernel_Name")
    'kernel name'
    """
    return text.casefold().replace("_", " ")


class _File(io.FileIO):
    """A file whose errors name the file."""

    def __init__(self, path: Path, name: str) -> None:
        self._shown = paths.shown(name)
        super().__init__(path, "rb")

    def readinto(self, buffer: Any) -> int:
        try:
            return super().readinto(buffer) or 0
        except OSError as error:
            raise ProfileError(self._shown, paths.reason_of(error)) from None

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise ProfileError(self._shown, paths.reason_of(error)) from None


def _opened(path: Path, name: str) -> BinaryIO:
    try:
        return cast("BinaryIO", io.BufferedReader(_File(path, name)))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ProfileError(paths.shown(name), paths.reason_of(error)) from None


def _encoding_by_zeros(head: bytes) -> str | None:
    """Return the UTF-16 or UTF-32 encoding of a text that begins with ASCII characters.

    The places of the zero bytes show the encoding. If the places fit none of these encodings, return None.
    """
    begin = head[:_MAX_UNMARKED_BYTES]
    for width, place, encoding in _ZERO_BYTES:
        whole = begin[: len(begin) // width * width]
        letters, zeros = whole[place::width], whole.count(0)
        if len(whole) >= _MIN_UNMARKED_BYTES and zeros == len(whole) - len(letters) and all(letters):
            return encoding
    return None
