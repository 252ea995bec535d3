"""A TCP proxy on this machine that cuts or holds the connections which go through it.

Only WebSockets are cut, such as a page's connection with a kernel. If plain requests failed too, JupyterLab would
show a dialog over the page.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

_CHUNK_BYTES = 65536
_JOIN_SECONDS = 10.0
# How often a thread that waits for bytes looks whether the proxy has ended.
_POLL_SECONDS = 0.1


class Proxy:
    """Forward connections to a port of this machine.

    Attributes
    ----------
    url : str
        The address of the proxy.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_POLL_SECONDS)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._has_ended = threading.Event()
        self._is_cut = threading.Event()
        self._flows = threading.Event()
        self._flows.set()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._channels: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def cut(self) -> None:
        """Close all WebSockets, lose what is under way on them, and close each new WebSocket at once."""
        self._is_cut.set()
        self._close(self._channels)

    def mend(self) -> None:
        """Forward new connections again."""
        self._is_cut.clear()

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
                server = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                _shut(client)
                continue
            with self._lock:
                self._sockets |= {client, server}
            self._start(self._forward, client, server)
            self._start(self._forward, server, client)

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK_BYTES):
                if b"upgrade: websocket" in data.lower():
                    with self._lock:
                        self._channels |= {source, target}
                    if self._is_cut.is_set():
                        break
                self._flows.wait()
                target.sendall(data)
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


@contextlib.contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """Run a proxy for the server at an address such as ``http://127.0.0.1:8888``."""
    running = Proxy(int(url.rpartition(":")[2]))
    try:
        yield running
    finally:
        running.close()
