"""What SECURITY.md promises is held by the tests that it names; those that other documents name exist too."""

from __future__ import annotations

import ast
import gzip
import re
from typing import Final

import pytest

from tests.places import ROOT, text_of

STATIC: Final = ROOT / "roofwidget" / "static"
CONNECT: Final = {
    "asyncio",
    "ftplib",
    "http",
    "httpx",
    "requests",
    "smtplib",
    "socket",
    "ssl",
    "urllib.request",
    "urllib3",
}
RUN: Final = {"dill", "marshal", "pickle", "shelve", "xml", "yaml"}
# The parser of XML that opens nothing by itself. Its reader refuses a DOCTYPE, and so all entities:
# tests/readers/test_workbooks.py::test_a_workbook_with_entities_is_refused.
ALLOWED: Final = {("roofwidget/readers/input/workbooks.py", "xml.parsers.expat")}
# What makes elements and writes them. It reads no text.
WRITES: Final = {f"xml.etree.ElementTree.{name}" for name in ("Element", "SubElement", "indent", "tostring")}


def test_every_promise_names_tests_that_exist() -> None:
    text = text_of(ROOT / "SECURITY.md").partition("## What is promised")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (?!promise|---)(.*?) \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) > 10
    for promise, named in rows:
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", named)
        assert tests, promise
        for file, function in tests:
            assert f"def {function}(" in text_of(ROOT / file), f"{file} has no {function}"


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_every_test_that_a_page_of_the_documentation_names_exists(page: str) -> None:
    for file, function in re.findall(r"(tests/[\w/]+\.py)::(\w+)", text_of(ROOT / "docs" / page)):
        assert f"def {function}(" in text_of(ROOT / file), f"{file} has no {function}"


def test_the_package_imports_nothing_that_connects_or_runs_what_a_file_says() -> None:
    found = []
    for file in (ROOT / "roofwidget").rglob("*.py"):
        for node in ast.walk(ast.parse(text_of(file))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            for name in names:
                parents = {name, name.partition(".")[0], name.rpartition(".")[0]}
                path = file.relative_to(ROOT).as_posix()
                if parents & (CONNECT | RUN) and (path, name) not in ALLOWED and name not in WRITES:
                    found.append(f"{path}:{node.lineno}: {name}")
    assert found == []


def test_the_front_end_holds_no_address() -> None:
    files = [file for file in STATIC.iterdir() if ".js" in file.suffixes or ".css" in file.suffixes]
    if not files:
        pytest.fail('the front end is not built: run "make bundle"', pytrace=False)
    for file in files:
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
        addresses = set(re.findall(r"(?:https?|wss?)://[^\s\"'`)]*", text))
        assert all(address.startswith("http://www.w3.org/") for address in addresses), file.name
