"""The same on Linux, macOS and Windows: encodings, line ends and names of files."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

import pytest

from tests.places import ROOT, text_of, write

PROGRAMS: Final = [
    *(ROOT / "roofwidget").rglob("*.py"),
    *(ROOT / "tests").rglob("*.py"),
    *(ROOT / "docs").rglob("*.py"),
]
RESERVED: Final = re.compile(r"(?i)(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?")
# Beyond this a path does not fit into the 260 characters of Windows below an ordinary folder.
PATH_CHARACTERS: Final = 150


@cache
def calls(file: Path) -> list[tuple[str, ast.Call, set[str | None]]]:
    """Return each call of a method or function of a file: its name, the call, and its keywords."""
    found = []
    for node in ast.walk(ast.parse(text_of(file))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            found.append((name, node, {keyword.arg for keyword in node.keywords}))
    return found


def mode_of(call: ast.Call, name: str) -> str | None:
    """Return the mode in which `open` opens a file, or None if the call is of another function of that name."""
    place = 0 if isinstance(call.func, ast.Attribute) else 1
    modes = [argument for argument in call.args[place : place + 1] if isinstance(argument, ast.Constant)]
    modes += [
        keyword.value for keyword in call.keywords if keyword.arg == "mode" and isinstance(keyword.value, ast.Constant)
    ]
    return str(modes[0].value) if name == "open" and modes and re.fullmatch("[rwaxbt+]+", str(modes[0].value)) else None


def test_text_is_read_and_written_with_a_named_encoding() -> None:
    found = []
    for file in PROGRAMS:
        for name, call, keywords in calls(file):
            mode = mode_of(call, name)
            is_text = name in {"read_text", "write_text"} or (mode is not None and "b" not in mode)
            # `read_text("utf-8")` names it too, and so does the second argument of `write_text`.
            named = "encoding" in keywords or len(call.args) > (name == "write_text")
            is_process = name in {"run", "Popen", "check_output"} and keywords & {"text", "universal_newlines"}
            if (is_text and not named) or is_process:
                found.append(f"{file.relative_to(ROOT).as_posix()}:{call.lineno}: {name} without an encoding")
    assert found == []


def test_what_the_package_writes_has_the_same_line_ends_everywhere() -> None:
    found = [
        f"{file.relative_to(ROOT).as_posix()}:{call.lineno}: {name} without newline"
        for file in (ROOT / "roofwidget").rglob("*.py")
        for name, call, keywords in calls(file)
        # Doctests are texts here, and so are not found.
        if name == "write_text" or set(mode_of(call, name) or "rb") & {"w", "a", "x"}
        if "b" not in (mode_of(call, name) or "")
        if "newline" not in keywords
    ]
    assert found == []


@pytest.mark.parametrize("source", ["open('x', 'w')", "p.open('a', encoding='utf-8')", "p.write_text('x')"])
def test_the_search_finds(source: str, tmp_path: Path) -> None:
    write(tmp_path / "x.py", source)
    ((name, call, keywords),) = calls(tmp_path / "x.py")
    assert "newline" not in keywords
    assert name == "write_text" or set(mode_of(call, name) or "") & {"w", "a"}


def test_every_file_has_a_name_that_windows_can_keep() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)  # noqa: S607 - on the path
    if listed.returncode != 0:
        pytest.skip("not a git checkout: the tracked files are not known")
    names = [PurePosixPath(name) for name in listed.stdout.decode().split("\0") if name]
    for name in names:
        assert len(str(name)) <= PATH_CHARACTERS, name
        for part in name.parts:
            assert not re.search(r'[<>:"\\|?*\x00-\x1f]|[ .]$', part), name
            assert not RESERVED.fullmatch(part), name
    assert len({str(name).casefold() for name in names}) == len(names)
