"""`roofwidget repair`: mends the saved widgets of notebooks that GitHub refuses as "Invalid Notebook".

GitHub and nbconvert need the key ``state`` in each block of ``metadata.widgets``. Some hosts save the models of the
widgets without this key.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from json.decoder import JSONDecodeError
from pathlib import Path
from typing import Any, Final

from roofwidget.cli.options import say
from roofwidget.support.text_tables import counted

DESCRIPTION: Final = """\
Mend notebooks that GitHub does not show: "Invalid Notebook … the 'state' key is
missing from 'metadata.widgets'". Only the text of metadata.widgets changes;
every other byte of the file stays.

  roofwidget repair lesson.ipynb
  roofwidget repair notebooks/
  roofwidget repair --check notebooks/    change nothing; exit with 1 if needed
"""
STATE: Final = "application/vnd.jupyter.widget-state+json"
_VERSION: Final = {"version_major": 2, "version_minor": 0}
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_CHECKPOINTS: Final = ".ipynb_checkpoints"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Describe the arguments of the command."""
    command.add_argument("paths", type=Path, nargs="+", metavar="NB", help="a notebook, or a folder with notebooks")
    command.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a notebook needs it")
    command.set_defaults(run=_repair)


def _repair(options: argparse.Namespace) -> int:
    notebooks = list(_notebooks(options.paths))
    if not notebooks:
        raise ValueError(f"{', '.join(map(str, options.paths))}: there is no notebook (.ipynb) in it")
    failed = changed = False
    for path in notebooks:
        try:
            old = path.read_bytes()
            new, done = repaired(old.decode("utf-8"))
        except UnicodeDecodeError as error:
            failed = True
            say(f"{path}: byte {error.start + 1} is no UTF-8; save the notebook as UTF-8")
            continue
        except (OSError, ValueError) as error:
            failed = True
            say(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
            continue
        changed = changed or bool(done)
        if done and not options.check:
            _replace(path, new.encode("utf-8"))
        print(f"{path}: {'; '.join(done) if done else 'nothing to mend'}")
    return 2 if failed else int(changed and options.check)


def _notebooks(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        inside = (
            sorted(one for one in path.rglob("*.ipynb") if _CHECKPOINTS not in one.parts) if path.is_dir() else [path]
        )
        yield from inside


def repaired(text: str) -> tuple[str, list[str]]:
    """Return the text of a notebook with widgets that GitHub accepts, and what was done.

    Raises
    ------
    ValueError
        If the text is no notebook. The message gives the place.

    Examples
    --------
    >>> model = {"model_module": "@jupyter-widgets/controls", "model_name": "LabelModel", "state": {}}
    >>> notebook = {"cells": [], "metadata": {"widgets": {STATE: {"a": model}}}, "nbformat": 4, "nbformat_minor": 5}
    >>> text, done = repaired(json.dumps(notebook))
    >>> done
    ["put 1 widget under 'state'", 'set the version of the widgets to 2.0']
    >>> repaired(text)[1]
    []
    """
    try:
        notebook = json.loads(text.removeprefix("\ufeff"))
    except JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"{place}: this is no JSON ({error.msg}); take a whole notebook") from None
    except RecursionError:
        raise ValueError("this is no notebook: its JSON is nested too deeply") from None
    cells = notebook.get("cells", notebook.get("worksheets")) if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("this is no notebook: it has no list of cells")  # noqa: TRY004 - the file is wrong, not a type
    metadata = notebook.get("metadata")
    if not isinstance(metadata, dict) or "widgets" not in metadata:
        return text, []
    mended, done = _mended(metadata["widgets"])
    if not done:
        return text, []
    metadata_span = _members(text, text.index("{"))["metadata"]
    start, end, key = _members(text, metadata_span[0])["widgets"]
    if mended is None:
        return _without_member(text, key, end), done
    dumped = json.dumps(mended, indent=_indent_of(text), ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    line = text[text.rfind("\n", 0, key) + 1 : key]
    margin = line[: len(line) - len(line.lstrip())]
    return text[:start] + dumped.replace("\n", newline + margin) + text[end:], done


def _mended(widgets: Any) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the value of metadata.widgets that GitHub accepts, or None if it must go; and what was done."""
    if not isinstance(widgets, dict):
        return None, ["removed metadata.widgets, which was no object"]
    if STATE not in widgets:
        models = {key: value for key, value in widgets.items() if _is_model(value)}
        if not models:
            return None, ["removed metadata.widgets, which had no widgets of a known format"]
        new, done = _with_state(models)
        return {STATE: new}, done
    new, done = _with_state(widgets[STATE])
    kept = {**widgets, STATE: new}
    dropped = [kind for kind, block in kept.items() if not isinstance(block, dict) or "state" not in block]
    if dropped:
        done.append(f"removed {', '.join(dropped)}, which had no 'state'")
    return {kind: block for kind, block in kept.items() if kind not in dropped}, done


def _with_state(block: Any) -> tuple[dict[str, Any], list[str]]:
    """Return a block of widgets with the keys ``state``, ``version_major`` and ``version_minor``, and what was done."""
    if not isinstance(block, dict):
        return {"state": {}, **_VERSION}, ["replaced the widgets, which were no object, by none"]
    done = []
    outside = {key: value for key, value in block.items() if key != "state" and _is_model(value)}
    state = block.get("state")
    new = {key: value for key, value in block.items() if key not in outside}
    if not isinstance(state, dict):
        new["state"] = outside
        done.append(f"put {counted(len(outside), 'widget')} under 'state'" if outside else "added an empty 'state'")
    elif outside:
        new["state"] = {**outside, **state}
        done.append(f"put {counted(len(outside), 'widget')} under 'state'")
    if not all(type(new.get(key)) is int for key in _VERSION):
        new.update(_VERSION)
        done.append("set the version of the widgets to 2.0")
    return new, done


def _is_model(value: Any) -> bool:
    return isinstance(value, Mapping) and "model_name" in value and "model_module" in value


def _members(text: str, start: int) -> dict[str, tuple[int, int, int]]:
    """Return where the value of each member of the object at `start` begins and ends, and where its key begins.

    If a key is there twice, the last one counts, as for `json.loads`.
    """
    decode = json.JSONDecoder(strict=False).raw_decode
    found: dict[str, tuple[int, int, int]] = {}
    at = _after_space(text, start + 1)
    while text[at] == '"':
        key_start = at
        key, at = decode(text, at)
        value_start = _after_space(text, _after_space(text, at) + 1)
        _value, at = decode(text, value_start)
        found[key] = (value_start, at, key_start)
        at = _after_space(text, at)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return found


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _without_member(text: str, key: int, end: int) -> str:
    """Return the text without the member between two places, and without one of the commas beside it."""
    after = _after_space(text, end)
    if text[after] == ",":
        return text[:key] + text[_after_space(text, after + 1) :]
    before = key
    while text[before - 1] in " \t\r\n":
        before -= 1
    return text[: before - 1] + text[end:] if text[before - 1] == "," else text[:key] + text[after:]


def _indent_of(text: str) -> int | str | None:
    """Return the indentation of the file for `json.dumps`: None if the file is one line."""
    found = re.search(r'\{\r?\n([ \t]+)"', text)
    return None if found is None else found[1]


def _replace(path: Path, content: bytes) -> None:
    """Write the file anew under another name, then rename it, so that no failure leaves half a notebook."""
    target = path.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        Path(name).chmod(target.stat().st_mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
