"""Requests of pages that Python answers: for the catalogue of chips, to open a profile, and to save.

A request and its reply are custom messages::

    {"kind": "roofwidget-request", "page": "k3v8x1", "number": 7, "ask": "catalogue"}
    {"kind": "roofwidget-reply", "page": "k3v8x1", "number": 7, "catalogue": "H4sI…"}

`page` is a random name of the page, `number` counts its requests from 1. What a page asks for:

- ``catalogue``: the chips of the catalogue, as `catalogue` returns them.
- ``part``: keep a part of a file until ``show``, with the `name` and the `size` of the file, the `offset` of the part,
  and its bytes as a buffer. The reply has the number of bytes that are `received`. A file whose first part is sent
  replaces the page's files before. With `beside` it is kept beside them.
- ``show``: read the files, or the file at `path`, and show their kernels; several files become series. `compare`:
  compare them with those that are shown. The reply has the number of kernels that are `shown`.
- ``cancel``: forget the files.
- ``example``: show the kernels of an example.
- ``save``: make the file whose name ends in `name`: ``svg``, ``html`` or ``json``, as `RooflineModel.save` does. An SVG
  is a figure of a `style`, with its `caption` or without. The reply has the text as `saved`.
- ``best``: search the fastest partition of the graph on the focus chip, for at most `SEARCH_SECONDS`. The reply has the
  groups as numbers of ops and how they were found, ``optimal`` or ``greedy``, as `best`; null without a graph or a
  roof.
- ``rule``: what the rule of work in `text` says of the kernels called `name`, whose own work is unknown. The reply has
  the `effect`, as `roofwidget.state.rules.effect` returns it.
- ``rules``: read the file of rules in `text`. The reply has the `rules`, a line by pattern.
- ``save rules``: write the rules in `text`, one a line, to the file ``work.toml`` beside the profile, whose other lines
  stay. The reply has the name of the file as `saved`, or null if Python knows no folder in which it may write.
- ``swap``: make the earlier run the present one, and the present run the earlier. ``stop``: compare with no run.

If a request fails, the reply has the reason as `refused`; see `refusal`. A page repeats a request without a reply, and
gets the reply of the first time. `js/src/state/requests.ts` is the page's side.
"""

from __future__ import annotations

import base64
import functools
import gzip
import io
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from roofwidget import readers, wire
from roofwidget.chips import chips
from roofwidget.state.rules import MAX_LETTERS
from roofwidget.support.text_tables import one_line

KIND: Final = "roofwidget-request"
"""The kind of a page's custom messages that this module describes."""
REPLY: Final = "roofwidget-reply"
MAX_FILE_BYTES: Final = 200 * 10**6
"""The largest file that a page may send."""
_MAX_KEPT_BYTES: Final = 2 * MAX_FILE_BYTES
"""The largest size of all unfinished files together. Beyond it the oldest are forgotten."""
_MAX_SENDING_PAGES: Final = 64
"""The most pages that send files at once. Beyond it the oldest are forgotten: an empty file takes memory too."""
_MAX_FILES: Final = 64
"""The most files that a page opens at once."""
EXPIRY_SECONDS: Final = 600.0
"""A file of which no part has come for this time is forgotten. A busy kernel may keep a page waiting for minutes."""
_MAX_PAGES: Final = 8
_MAX_PAGE_NAME: Final = 64
_MAX_FILE_NAME: Final = 255
_ASKED: Final = (
    *("catalogue", "part", "show", "cancel", "example", "swap", "stop", "save", "best"),
    *("rule", "rules", "save rules"),
)
SEARCH_SECONDS: Final = 2.0
"""The longest search for a page, which waits for its reply."""


@dataclass(frozen=True)
class Request:
    """A request of a page; see the module's description."""

    page: str
    number: int
    ask: str
    name: str = ""
    size: int = 0
    offset: int = 0
    path: str | None = None
    compare: bool = False
    beside: bool = False
    style: str = ""
    caption: bool = False
    text: str = ""
    data: bytes = b""


def page_request(content: object, buffers: Sequence[Any] | None) -> Request | None:
    """Return a custom message as a `Request`. If the message is no request, return None.

    Raises
    ------
    ValueError
        If the message is a request, but a key is missing or has a wrong type.
    """
    if not isinstance(content, Mapping) or content.get("kind") != KIND:
        return None
    given = {key: value for key, value in content.items() if key != "kind"}
    kinds: dict[str, type | tuple[type, ...]] = {
        "page": str,
        "number": int,
        "ask": str,
        "name": str,
        "size": int,
        "offset": int,
        "path": (str, type(None)),
        "compare": bool,
        "beside": bool,
        "style": str,
        "caption": bool,
        "text": str,
    }
    if (
        not {"page", "number", "ask"} <= given.keys() <= kinds.keys()
        or any(not isinstance(value, kinds[key]) for key, value in given.items())
        or any(isinstance(given.get(key), bool) for key in ("number", "size", "offset"))
        or not 0 < len(given["page"]) <= _MAX_PAGE_NAME
        or given["number"] < 1
        or given["ask"] not in _ASKED
    ):
        raise ValueError(f"a page sent a request that has not the form of a page's request: {content!r:.80}")
    data = bytes(buffers[0]) if buffers else b""
    return Request(**given, data=data)


class RefusedError(ValueError):
    """A request that is refused. The message is written for the page."""


def text_of(request: Request) -> str:
    """Return the text of a request; raise `RefusedError` if it is longer than all rules may be."""
    if len(request.text) > MAX_LETTERS:
        raise RefusedError(f"{len(request.text):,} letters of rules; at most {MAX_LETTERS:,} are taken")
    return request.text


def refusal(error: BaseException, request: Request) -> str:
    """Return what a page is told of an error.

    A page has the contents of a file that it sent, so the reader's words may quote them. Whoever asks for a path may
    see the page only, so the reply has no word of what the file or the folder holds. No reply has an absolute path.
    """
    if isinstance(error, RefusedError):
        return str(error)
    if request.path is not None:
        is_missing = isinstance(error, FileNotFoundError)
        reason = "there is no such file" if is_missing else "not opened as a profile; rw.read in a cell says why"
        return f"{one_line(request.path)}: {reason}"
    # The messages of these have paths of the machine on which Python runs.
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    has_path = isinstance(error, ImportError) and error.path is not None
    return type(error).__name__ if has_path else str(error) or type(error).__name__


@dataclass
class _File:
    """The part of a file that a page has sent so far."""

    name: str
    size: int
    data: io.BytesIO = field(default_factory=io.BytesIO)
    # When the latest part came, in seconds.
    time: float = field(default_factory=time.monotonic)

    @property
    def received(self) -> int:
        return self.data.tell()


class Requests:
    """The files that pages are sending, by page, and the latest reply to each page."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, list[_File]] = OrderedDict()
        self._replies: OrderedDict[str, tuple[int, Mapping[str, Any]]] = OrderedDict()
        self._timer: threading.Timer | None = None

    def reply(self, request: Request) -> Mapping[str, Any] | None:
        """Return the reply to a request that a page repeats, or None for a new request."""
        number, reply = self._replies.get(request.page, (0, {}))
        return reply if request.number == number else None

    def remember(self, request: Request, reply: Mapping[str, Any]) -> None:
        """Keep the reply, in case the page repeats the request."""
        self._replies[request.page] = (request.number, reply)
        self._replies.move_to_end(request.page)
        while len(self._replies) > _MAX_PAGES:
            self._replies.popitem(last=False)

    def keep(self, request: Request) -> int:
        """Keep a part of a file, and return the number of bytes of the file that are kept now.

        Raises
        ------
        RefusedError
            If the file is too large, or if the part does not follow the part before.
        """
        if not 0 <= request.size <= MAX_FILE_BYTES:
            raise RefusedError(
                f"{one_line(request.name)} has {request.size / 1e6:,.0f} MB, and a page sends at most "
                f"{MAX_FILE_BYTES / 1e6:,.0f} MB: open it by its path, or read it in a cell with rw.read"
            )
        if request.offset == 0:
            earlier = self._files.get(request.page, []) if request.beside else []
            if len(earlier) == _MAX_FILES:
                raise RefusedError(f"a page opens at most {_MAX_FILES} files at once: read them in a cell with rw.read")
            self._files[request.page] = [*earlier, _File(request.name[:_MAX_FILE_NAME], request.size)]
        file = self._files[request.page][-1] if request.page in self._files else None
        at = None if file is None else file.received
        if file is None or request.offset != at or request.offset + len(request.data) > file.size:
            raise RefusedError(f"a part of {one_line(request.name)} is missing: open the file again")
        file.data.write(request.data)
        file.time = time.monotonic()
        self._files.move_to_end(request.page)
        while (
            len(self._files) > _MAX_SENDING_PAGES
            or sum(one.received for files in list(self._files.values()) for one in files) > _MAX_KEPT_BYTES
        ):
            self._files.popitem(last=False)
        self._start_timer()
        return file.received

    def files(self, request: Request) -> list[io.BytesIO]:
        """Return the files of the page, to be read, and forget them.

        Raises
        ------
        RefusedError
            If a part of a file is missing.
        """
        files = self._files.pop(request.page, [])
        if not files or any(file.received != file.size for file in files):
            raise RefusedError("a part of the file is missing: open the file again")
        for file in files:
            file.data.seek(0)
            file.data.name = file.name
        return [file.data for file in files]

    def cancel(self, request: Request) -> None:
        """Forget the files of the page."""
        self._files.pop(request.page, None)

    def forget(self) -> None:
        """Forget all files and replies."""
        self._files.clear()
        self._replies.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def expire(self) -> None:
        """Forget the files of which no part has come for `EXPIRY_SECONDS`."""
        self._timer = None
        for page, files in list(self._files.items()):
            if time.monotonic() - files[-1].time >= EXPIRY_SECONDS:
                self._files.pop(page, None)
        self._start_timer()

    def _start_timer(self) -> None:
        if self._files and self._timer is None:
            self._timer = threading.Timer(EXPIRY_SECONDS, self.expire)
            self._timer.daemon = True
            # Pyodide has no threads.
            with suppress(RuntimeError):
                self._timer.start()


def within(folder: Path, path: str) -> Path:
    """Return the path, relative to a folder, of a file in the folder or its subfolders.

    Raises
    ------
    RefusedError
        If the path leads elsewhere, or to a hidden file.
    """
    root = folder.resolve()
    found = (root / path).resolve()
    if not found.is_relative_to(root):
        raise RefusedError(f"{one_line(path)} is not in the folder of the notebook: read it in a cell with rw.read")
    inside = found.relative_to(root)
    if any(part.startswith(".") for part in inside.parts):
        raise RefusedError(f"{one_line(path)} is a hidden file: read it in a cell with rw.read")
    return inside


def profile(folder: Path, path: str) -> readers.Source:
    """Return the profile at a path. It has no file that `within` refuses, even if the path is that of a folder.

    Raises
    ------
    FileNotFoundError, ProfileError
        If there is no such file, or if it cannot be read.
    RefusedError
        As `within`.
    """

    def may_open(part: Path) -> bool:
        try:
            within(folder, str(part))
        except RefusedError:
            return False
        return True

    return readers.Source.of(within(folder, path), may_open)


@functools.cache
def catalogue() -> str:
    """Return the chips of the catalogue as JSON, compressed with gzip, as base64 text."""
    text = json.dumps(wire.catalogue_to_wire(chips()), allow_nan=False, separators=(",", ":"))
    return compressed(text)


def compressed(text: str) -> str:
    """Return a text, compressed with gzip, as base64 text."""
    # Without the time, the same text always gives the same page.
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")
