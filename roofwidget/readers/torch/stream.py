"""Read the events of a Chrome trace in batches, so that memory does not grow with the trace."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from roofwidget.readers.errors import ProfileError
from roofwidget.readers.input import documents
from roofwidget.readers.input.source import Source

EVENTS: Final = "traceEvents"
_CHUNK_BYTES: Final = 2**20
_MAX_VALUE_CHARS: Final = 2**26
_TAIL_CHARS: Final = 2**16
_MAX_TOKEN_CHARS: Final = 16
_CUT_OFF: Final = "the file ends too early; export it again, or copy it whole"
_SPACE: Final = re.compile(r"[ \t\r\n]*")
# Matches between the end of one event and the start of the next event. A match may also be inside a text or inside an
# event, but this is rare. If the text is cut at such a match, the piece is not valid JSON, so the piece is read event
# by event.
_BETWEEN: Final = re.compile(r'\}[ \t\r\n]*,[ \t\r\n]*(?=\{[ \t\r\n]*")')


class Trace:
    """A Chrome trace: an object with a list ``traceEvents``, or only a list of events.

    Parameters
    ----------
    source
        The file.
    on_read
        Called with the number of stored bytes after each read.
    """

    def __init__(self, source: Source, on_read: Callable[[int], object] | None = None) -> None:
        self.properties: dict[str, Any] = {}
        """The other members of the trace; complete when `batches` has ended."""
        self._source = source
        self._on_read = on_read

    def batches(self) -> Iterator[list[Any]]:
        """Yield the events in order, thousands at a time.

        Raises
        ------
        ProfileError
            If the trace is not JSON, ends too early, has no list of events, or a value exceeds 64 MiB of text.
        """
        with self._source.open(self._on_read) as stream:
            window = _Window(stream, self._source.name, self._source.encoding)
            begin = window.peek()
            if begin == "[":
                yield from _elements(window)
            elif begin == "{":
                yield from self._members(window)
            else:
                reason = "expected the object or the list of a Chrome trace" if begin else "the file is empty"
                raise window.error(reason)
            if window.peek():
                raise window.error("unexpected text after the end of the trace")

    def _members(self, window: _Window) -> Iterator[list[Any]]:
        found = False
        window.skip(1)
        while window.peek() != "}":
            key = window.value()
            window.take(":")
            if key == EVENTS:
                if found or window.peek() != "[":
                    raise window.error(f"expected one list '{EVENTS}'")
                found = True
                yield from _elements(window)
            else:
                self.properties[str(key)] = window.value()
            if window.peek() != "}":
                window.take(",")
        window.skip(1)
        if not found:
            raise self._source.error(f"a trace without a list '{EVENTS}'")


def _elements(window: _Window) -> Iterator[list[Any]]:
    window.skip(1)
    while window.peek() not in ("]", ""):
        batch = window.objects()
        if batch is None:
            batch = [window.value()]
            while window.peek() == "," and len(batch) < 1000:  # noqa: PLR2004 - then the whole window is tried again
                window.skip(1)
                batch.append(window.value())
            if window.peek() != "]":
                window.take(",")
        yield batch
    window.take("]")


class _Window:
    """A sliding window over a long text that knows the line and column of each position."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str) -> None:
        self._stream = stream
        self._name = name
        self._encoding = encoding.upper().removesuffix("-SIG")
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._scan = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._bytes = 0
        self._lines = 0
        self._column = 0
        self._tried = -1

    def peek(self) -> str:
        """Go to the next character that is not a space and return it; ``""`` at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # matches anything
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def skip(self, characters: int) -> None:
        """Go forward by some characters."""
        self._at += characters

    def take(self, character: str) -> None:
        """Go beyond the next character, which must be `character`."""
        found = self.peek()
        if found != character:
            raise self.error(f"not JSON: expected '{character}', got {found!r}" if found else _CUT_OFF)
        self._at += 1

    def value(self) -> Any:
        """Return the next JSON value."""
        if not self.peek():
            raise self.error(_CUT_OFF)
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                open_text = documents.has_open_string(self._text, error.pos)
                # More text may complete a value that ends at the window's edge; an error before the edge is final.
                if (open_text or error.pos > len(self._text) - _MAX_TOKEN_CHARS) and self._more():
                    continue
                begun = self._text.rstrip()
                cut_off = open_text or (error.pos > len(begun) - _MAX_TOKEN_CHARS and not begun.endswith(("}", "]")))
                raise self.error(_CUT_OFF if cut_off else f"not JSON: {error.msg}", error.pos) from None
            except RecursionError:
                raise self.error("nested too deeply") from None
            except ValueError as error:
                raise self.error(f"a number that cannot be read: {error}") from None
            # A number may continue in the text that is not read yet.
            if end == len(self._text) and self._more():
                continue
            self._at = end
            return value

    def objects(self) -> list[Any] | None:
        """Return all objects that end in this window, parsed at once; None if the objects cannot be parsed at once."""
        if len(self._text) - self._at < _TAIL_CHARS:
            self._more()
        cut = self._last_cut()
        if cut is None or cut.start() < self._tried:
            return None
        try:
            batch: list[Any] = json.loads(f"[{self._text[self._at : cut.start() + 1]}]")
        except (ValueError, RecursionError):
            self._tried = cut.start() + 1
            return None
        self._at = cut.end()
        return batch

    def error(self, reason: str, at: int | None = None) -> ProfileError:
        """Return the error for a position in the text, by default the current one."""
        here = self._at if at is None else at
        lines = self._text.count("\n", 0, here)
        column = here - self._text.rfind("\n", 0, here) - 1 + (0 if lines else self._column)
        return ProfileError(self._name, reason, place=f"line {self._lines + lines + 1}, column {column + 1}")

    def _last_cut(self) -> re.Match[str] | None:
        cuts = list(_BETWEEN.finditer(self._text, max(self._at, len(self._text) - _TAIL_CHARS)))
        return cuts[-1] if cuts else None

    def _more(self) -> bool:
        """Read more text and drop the used part; return False at the end."""
        if self._ended:
            return False
        if len(self._text) - self._at > _MAX_VALUE_CHARS:
            raise self.error(f"not JSON, or one value of more than {_MAX_VALUE_CHARS / 2**20:.0f} MiB")
        # The piece doubles with each read, so that a long value is not parsed too often.
        piece = self._stream.read(max(_CHUNK_BYTES, len(self._text) - self._at))
        try:
            added = self._decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            place = f"byte {self._bytes + error.start + 1}"
            raise ProfileError(self._name, f"not {self._encoding} text: {error.reason}", place=place) from None
        if not piece:
            self._ended = True
            return False
        self._bytes += len(piece)
        lines = self._text.count("\n", 0, self._at)
        self._column = self._at - self._text.rfind("\n", 0, self._at) - 1 + (0 if lines else self._column)
        self._lines += lines
        self._text = self._text[self._at :] + added
        self._at = 0
        self._tried = -1
        return True
