"""Which module runs an operation, in the forward and in the backward pass."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from typing import Any, Final

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from typing_extensions import Self

_COMPILED: Final = "_orig_mod"
"""The name under which a compiled module holds the module that was compiled."""


class ModulePaths:
    """Follows which module is in its forward pass, or was when it made the operation whose backward pass runs.

    The path of a module inside `root` is the path that `named_modules` gives it, such as ``layer1.0.conv1``; the path
    of `root` is empty. Any other module that a function calls has the name of its class as its path, such as
    ``Linear``, and its parts have paths below it. Another module of the same class is ``Linear (2)``. Outside all
    modules the path is empty.

    Autograd numbers the nodes that operations of the forward pass make. An operation of the backward pass belongs to
    the module that made its node.
    """

    def __init__(self, root: Any = None) -> None:
        self._names: dict[Any, str] = {}
        self._running: list[tuple[Any, str]] = []
        self._of_nodes: dict[int, str] = {}
        self._classes: dict[str, int] = {}
        self._hooks: list[Any] = []
        self._quiet = ExitStack()
        if root is not None:
            self._name_parts(root, "")

    def __enter__(self) -> Self:
        # A compiled module warns that it calls these hooks twice, which does no harm here.
        self._quiet.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", "Using `torch.compile.* global hooks", UserWarning)
        self._hooks = [
            register_module_forward_pre_hook(self._enter_module),
            register_module_forward_hook(self._leave_module, always_call=True),
        ]
        return self

    def __exit__(self, *error: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._quiet.close()

    def current(self) -> str:
        """Return the path of the module that runs the operation which has just been dispatched."""
        if self._running:
            path = self._running[-1][1]
        else:
            node = torch._C._current_autograd_node()  # noqa: SLF001 - no public name
            path = "" if node is None else self._of_nodes.get(node._sequence_nr(), "")  # noqa: SLF001 - the same
        # Autograd made the node, if any, just before. A later operation that makes no node sees the same number.
        self._of_nodes.setdefault(torch._C._autograd._get_sequence_nr() - 1, path)  # noqa: SLF001 - no public name
        return path

    def _enter_module(self, module: Any, _inputs: Any) -> None:
        if module not in self._names:
            kind = type(getattr(module, _COMPILED, module)).__name__
            self._classes[kind] = self._classes.get(kind, 0) + 1
            self._name_parts(module, kind if self._classes[kind] == 1 else f"{kind} ({self._classes[kind]})")
        self._running.append((module, self._names[module]))

    def _leave_module(self, module: Any, _inputs: Any, _output: Any) -> None:
        if self._running and self._running[-1][0] is module:
            self._running.pop()

    def _name_parts(self, root: Any, path: str) -> None:
        for name, module in root.named_modules():
            parts = [part for part in (path, *name.split(".")) if part not in {"", _COMPILED}]
            self._names.setdefault(module, ".".join(parts))
