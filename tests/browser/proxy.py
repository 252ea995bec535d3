"""A TCP proxy on this machine that cuts, holds or delays the connections which go through it.

Usually only WebSockets are cut, such as a page's connection with a kernel. If plain requests fail too, JupyterLab shows
a dialog over the page.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import socket
import threading
import time
from collections.abc import Iterator

_CHUNK_BYTES = 65536
_JOIN_SECONDS = 10.0
# How often a thread that waits for bytes looks whether the proxy has ended.
_POLL_SECONDS = 0.1
# A WebSocket's frame: the length of the payload is in the second byte, or in as many bytes as this that follow.
_LENGTH_BYTES = {126: 2, 127: 8}
_HEADERS_END = b"\r\n\r\n"
# The name of the channel is near the start of a kernel's message.
_CHANNEL_BYTES = 100


class Proxy:
    """Forward connections to a port of this machine.

    Attributes
    ----------
    url : str
        The address of the proxy.
    refused : int
        How many WebSockets were closed at once since `cut` was called.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_POLL_SECONDS)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.refused = 0
        self._has_ended = threading.Event()
        self._is_cut = threading.Event()
        self._is_all_cut = threading.Event()
        self._delay = 0.0
        self._iopub_delay = 0.0
        self._flows = threading.Event()
        self._flows.set()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._channels: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def cut(self) -> None:
        """Close all WebSockets, lose what is under way on them, and close each new WebSocket at once."""
        self.refused = 0
        self._is_cut.set()
        self._close(self._channels)

    def cut_all(self) -> None:
        """Close all connections, and close each new connection at once, as if the server were out of reach."""
        self._is_all_cut.set()
        self._close(self._sockets)

    def mend(self) -> None:
        """Forward new connections again."""
        self._is_cut.clear()
        self._is_all_cut.clear()

    def delay(self, seconds: float, *, iopub: float = 0.0) -> None:
        """Forward from now on all that comes this many seconds later, in both directions.

        A kernel's messages of the channel iopub are late by `iopub` seconds more, so that replies of other channels
        overtake these messages. The channels are sockets of their own in the kernel, and have no common order.
        """
        self._delay, self._iopub_delay = seconds, iopub

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """Keep the connections open but forward nothing, and afterwards forward what has come."""
        self._flows.clear()
        try:
            yield
        finally:
            self._flows.set()

    def close(self) -> None:
        """End all connections and threads."""
        self._has_ended.set()
        self._flows.set()
        self._close(self._sockets)
        self._listener.close()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _close(self, sockets: set[socket.socket]) -> None:
        with self._lock:
            gone = list(sockets)
        for one in gone:
            _shut(one)

    def _accept(self) -> None:
        while not self._has_ended.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            try:
                if self._is_all_cut.is_set():
                    raise ConnectionRefusedError
                server = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                _shut(client)
                continue
            with self._lock:
                self._sockets |= {client, server}
            for source, target in ((client, server), (server, client)):
                late = _Late()
                self._start(self._read, source, target, late)
                self._start(self._send, source, target, late)

    def _read(self, source: socket.socket, target: socket.socket, late: _Late) -> None:
        frames: _Frames | None = None
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK_BYTES):
                if b"upgrade: websocket" in data.lower():
                    with self._lock:
                        self._channels |= {source, target}
                    if self._is_cut.is_set():
                        self.refused += 1
                        break
                    if data.startswith(b"HTTP/1.1 101"):
                        frames = _Frames()
                for part in frames.whole(data) if frames else [data]:
                    is_iopub = frames is not None and b"iopub" in part[:_CHANNEL_BYTES]
                    late.put(part, self._delay + (self._iopub_delay if is_iopub else 0), is_iopub=is_iopub)
        late.end()

    def _send(self, source: socket.socket, target: socket.socket, late: _Late) -> None:
        with contextlib.suppress(OSError):
            while (part := late.next()) is not None:
                self._flows.wait()
                target.sendall(part)
        for one in (source, target):
            with self._lock:
                self._sockets.discard(one)
                self._channels.discard(one)
            _shut(one)


def _shut(one: socket.socket) -> None:
    # Closing alone does not wake a thread that waits in `recv`.
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


class _Late:
    """Parts on their way, each with the time at which it is due."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._order = itertools.count()
        self._parts: list[tuple[float, int, bytes]] = []
        self._last = {False: 0.0, True: 0.0}
        self._has_ended = False

    def put(self, part: bytes, delay: float, *, is_iopub: bool) -> None:
        """Add a part. It stays behind those before it, unless only one of the two is of the channel iopub."""
        with self._changed:
            due = max(time.monotonic() + delay, self._last[is_iopub])
            self._last[is_iopub] = due
            heapq.heappush(self._parts, (due, next(self._order), part))
            self._changed.notify()

    def end(self) -> None:
        """Say that no more parts come."""
        with self._changed:
            self._has_ended = True
            self._changed.notify()

    def next(self) -> bytes | None:
        """Wait for the next part that is due; None if there will be none."""
        with self._changed:
            while True:
                left = self._parts[0][0] - time.monotonic() if self._parts else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._parts)[2]
                if left is None and self._has_ended:
                    return None
                self._changed.wait(left)


class _Frames:
    """Cuts what a server sends on a WebSocket into the answer to the request and whole frames."""

    def __init__(self) -> None:
        self._rest = b""
        self._has_headers = False

    def whole(self, data: bytes) -> list[bytes]:
        """Return what is complete, with `data` at the end of what came before."""
        self._rest += data
        found: list[bytes] = []
        while length := self._length():
            found.append(self._rest[:length])
            self._rest = self._rest[length:]
        return found

    def _length(self) -> int:
        """Return the length of the next frame, or 0 if the frame is not complete."""
        rest = self._rest
        if not self._has_headers:
            end = rest.find(_HEADERS_END) + len(_HEADERS_END)
            self._has_headers = end >= len(_HEADERS_END)
            return end if self._has_headers else 0
        if len(rest) < 2:
            return 0
        more = _LENGTH_BYTES.get(rest[1], 0)
        length = 2 + more + (int.from_bytes(rest[2 : 2 + more], "big") if more else rest[1])
        return length if len(rest) >= length and len(rest) >= 2 + more else 0


@contextlib.contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """Run a proxy for the server at an address such as ``http://127.0.0.1:8888``."""
    running = Proxy(int(url.rpartition(":")[2]))
    try:
        yield running
    finally:
        running.close()
