"""What shows the widgets of this process: a notebook, in which its reader runs code, or an app for visitors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any


def is_notebook() -> bool:
    """Return whether this code runs in a cell that a person runs in a notebook.

    JupyterLab and Notebook name the cell in the message that runs it. Voila and nbclient, which run a notebook for
    others, name no cell; Panel, Solara and a script have no Jupyter kernel. marimo says whether it edits or runs.

    Other messages than those that run a cell are not asked: in Voila a visitor writes them.
    """
    marimo: Any = sys.modules.get("marimo")
    if hasattr(marimo, "running_in_notebook") and marimo.running_in_notebook():
        return bool(marimo.app_meta().mode == "edit")
    # Without IPython there is no kernel, and a model needs no Jupyter.
    ipython = sys.modules.get("IPython")
    kernel: Any = None if ipython is None else getattr(ipython.get_ipython(), "kernel", None)
    message: Any = kernel.get_parent() if hasattr(kernel, "get_parent") else {}
    header, metadata = (_mapping(message, key) for key in ("header", "metadata"))
    return header.get("msg_type") == "execute_request" and "cellId" in metadata


def _mapping(message: Any, key: str) -> Mapping[str, Any]:
    part = message.get(key) if isinstance(message, Mapping) else None
    return part if isinstance(part, Mapping) else {}
