"""Asks a kernel over a connection of its own, so that Python's values can be read while no page can ask."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient

from tests.browser.lab import RUN_SECONDS, CellError, Notebook, Server, plain

KERNEL = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"


class Kernel:
    """The kernel of a notebook, through a connection of its own."""

    def __init__(self, server: Server, book: Notebook) -> None:
        runtime: Path = server.data.parent / "runtime"
        path = runtime / f"kernel-{book.page.evaluate(KERNEL)}.json"
        self._client = BlockingKernelClient(connection_file=str(path))
        self._client.load_connection_file()
        self._client.start_channels()
        self.process = int(self.value("__import__('os').getpid()"))

    def value(self, expression: str, *, seconds: float = RUN_SECONDS) -> Any:
        """Return the value of an expression, which JSON can hold. The kernel answers when it runs no cell."""
        asked = {"answer": f"__import__('json').dumps({expression})"}
        reply = self._client.execute("", silent=True, user_expressions=asked, reply=True, timeout=seconds)
        answer = reply["content"].get("user_expressions", {}).get("answer", reply["content"])
        if answer["status"] != "ok":
            raise CellError(plain("\n".join(answer.get("traceback", [str(answer)]))))
        return json.loads(ast.literal_eval(answer["data"]["text/plain"]))

    def close(self) -> None:
        """End the connection; the kernel goes on."""
        self._client.stop_channels()
