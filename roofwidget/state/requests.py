"""Requests of pages that Python answers: for the catalogue of chips, and to open a profile.

A request and its reply are custom messages::

    {"kind": "roofwidget-request", "page": "k3v8x1", "number": 7, "ask": "catalogue"}
    {"kind": "roofwidget-reply", "page": "k3v8x1", "number": 7, "catalogue": "H4sI…"}

`page` is a random name of the page, `number` counts its requests from 1. What a page asks for:

- ``catalogue``: the chips of the catalogue, as `catalogue` returns them.
- ``part``: keep a part of a file until ``show``, with the `name` and the `size` of the file, the `offset` of the part,
  and its bytes as a buffer. The reply has the number of bytes that are `received`. A file whose first part is sent
  replaces the page's file before.
- ``show``: read the file, or the file at `path`, and show its kernels. `compare`: compare them with those that are
  shown. The reply has the number of kernels that are `shown`.
- ``cancel``: forget the file.

If a request fails, the reply has the reason as `refused`. A page repeats a request without a reply, and gets the reply
of the first time. `js/src/state/requests.ts` is the page's side.
"""

from __future__ import annotations

import base64
import functools
import gzip
import io
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from roofwidget import wire
from roofwidget.chips import chips
from roofwidget.support.text_tables import one_line

KIND: Final = "roofwidget-request"
"""The kind of a page's custom messages that this module describes."""
REPLY: Final = "roofwidget-reply"
MAX_FILE_BYTES: Final = 200 * 10**6
"""The largest file that a page may send."""
_MAX_PAGES: Final = 8
_MAX_PAGE_NAME: Final = 64
_MAX_FILE_NAME: Final = 255
_ASKED: Final = ("catalogue", "part", "show", "cancel")


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


class Requests:
    """The files that pages are sending, and the latest reply to each page."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._replies: OrderedDict[str, tuple[int, Mapping[str, Any]]] = OrderedDict()

    def reply(self, request: Request) -> Mapping[str, Any] | None:
        """Return the reply to a request that a page repeats, or None for a new request."""
        number, reply = self._replies.get(request.page, (0, {}))
        return reply if request.number == number else None

    def remember(self, request: Request, reply: Mapping[str, Any]) -> None:
        """Keep the reply, in case the page repeats the request."""
        _kept(self._replies, request.page, (request.number, reply))

    def keep(self, request: Request) -> int:
        """Keep a part of a file, and return the number of bytes of the file that are kept now.

        Raises
        ------
        ValueError
            If the file is too large, or if the part does not follow the part before.
        """
        if not 0 <= request.size <= MAX_FILE_BYTES:
            raise ValueError(
                f"{one_line(request.name)} has {request.size / 1e6:,.0f} MB, and a page sends at most "
                f"{MAX_FILE_BYTES / 1e6:,.0f} MB: open it by its path, or read it in a cell with rw.read"
            )
        if request.offset == 0:
            _kept(self._files, request.page, _File(request.name[:_MAX_FILE_NAME], request.size, bytearray()))
        file = self._files.get(request.page)
        at = None if file is None else len(file.data)
        if file is None or request.offset != at or request.offset + len(request.data) > file.size:
            raise ValueError(f"a part of {one_line(request.name)} is missing: open the file again")
        file.data.extend(request.data)
        return len(file.data)

    def file(self, request: Request) -> io.BytesIO:
        """Return the file of the page, to be read, and forget it.

        Raises
        ------
        ValueError
            If a part of the file is missing.
        """
        file = self._files.pop(request.page, None)
        if file is None or len(file.data) != file.size:
            raise ValueError("a part of the file is missing: open the file again")
        stream = io.BytesIO(bytes(file.data))
        stream.name = file.name
        return stream

    def cancel(self, request: Request) -> None:
        """Forget the file of the page."""
        self._files.pop(request.page, None)


@dataclass(frozen=True)
class _File:
    name: str
    size: int
    data: bytearray


def _kept(entries: OrderedDict[str, Any], page: str, entry: Any) -> None:
    entries[page] = entry
    entries.move_to_end(page)
    while len(entries) > _MAX_PAGES:
        entries.popitem(last=False)


def within(folder: Path, path: str) -> Path:
    """Return the path of a file in a folder or its subfolders.

    Raises
    ------
    ValueError
        If the path leads elsewhere.
    """
    root = folder.resolve()
    found = (root / path).resolve()
    if not found.is_relative_to(root):
        raise ValueError(f"{one_line(path)} is not in the folder of the notebook: read it in a cell with rw.read")
    return found


@functools.cache
def catalogue() -> str:
    """Return the chips of the catalogue as JSON, compressed with gzip, as base64 text."""
    text = json.dumps(wire.catalogue_to_wire(chips()), allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")
