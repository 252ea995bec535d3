"""Writes `js/src/wire/traits.ts`, the table of the synced traits, from their declarations in `roofwidget.state`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roofwidget.kernels.table import Kernels
from roofwidget.state.field import Field
from roofwidget.state.forms import page_type
from roofwidget.state.state import EMPTY, TRAITS, wire_value

FILE = Path(__file__).parent / "src" / "wire" / "traits.ts"
_HEAD = """// The synced traits: who changes them, which a page can undo, and their types. `make traits` writes this file from the
// declarations in roofwidget/state.

import type { Baseline, Kernels } from "./columns.ts";
import type {
  Attempt,
  Chip,
  Moves,
  RatesByQuantity,
  Snapshot,
  Story,
  Terms,
  TypedWork,
  WhatIf,
  Zoom,
} from "./types.ts";

/** The values of the traits in a page. */
export interface TraitTypes {
"""


def text() -> str:
    """Return the text of the file."""
    synced = [field for field in TRAITS.values() if field.sync]
    types = [f"  {_name(field)}: {field.page_type or page_type(field.form)};" for field in synced]
    rows = [f'  {_name(field)}: ["{kind(field)}", {json.dumps(_default(field))}],' for field in synced]
    return "\n".join(
        (
            _HEAD + "\n".join(types),
            "}",
            "",
            "/**",
            " * By trait: who may change it, or whether it is a mapping whose keys are sent alone and with what it is undone;",
            " * and the value that a saved notebook lacks, because it is older than the trait.",
            " */",
            "export const TRAITS = {",
            *rows,
            "} as const;",
            "",
        )
    )


def kind(field: Field[Any]) -> str:
    """Return the owner of a trait. If pages and Python share it: whether it is a mapping, and with what it is undone."""
    if field.owner != "shared":
        return str(field.owner)
    mapping = ["mapping"] if isinstance(field.default, Mapping) else []
    return " ".join([*mapping, *([field.undo] if field.undo else [])]) or "shared"


def _name(field: Field[Any]) -> str:
    first, *others = field.name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _default(field: Field[Any]) -> Any:
    return None if isinstance(field.default, Kernels) else wire_value(EMPTY, field.name)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
