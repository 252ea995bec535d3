"""Writes a model's state as JSON text that the front end reads without Python.

`js/src/state/saved_model.ts` reads the text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

State = Mapping[str, Any]
"""The values of a model's synced traits by name, as a page receives them; see `RooflineModel.wire_state`."""


Buffers = list[tuple[list[str | int], str]]
"""Binary values as base64 text, each with the path to its place in the state. JSON has no bytes."""


def saved(state: State, **more: Any) -> str:
    """Return a JSON text with the state, and with `more`."""
    buffers: Buffers = []
    plain = _without_buffers(state, [], buffers)
    return saved_parts(plain, buffers, **more)


def saved_parts(state: State, buffers: Buffers, **more: Any) -> str:
    """Return the same text for a state whose binary values have been taken out."""
    return json.dumps({"state": state, "buffers": buffers, **more}, allow_nan=False, separators=(",", ":"))


def _without_buffers(value: Any, path: list[str | int], buffers: Buffers) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        buffers.append((path, base64.b64encode(value).decode("ascii")))
        return None
    if isinstance(value, Mapping):
        return {key: _without_buffers(part, [*path, key], buffers) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_buffers(part, [*path, at], buffers) for at, part in enumerate(value)]
    return value
