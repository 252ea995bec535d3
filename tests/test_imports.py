"""Imports that import-linter cannot judge: deferred ones, those by name, and circles through a package's own file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import find_spec
from typing import Any

import roofwidget
from roofwidget import cli, readers
from roofwidget.measure import frameworks
from roofwidget.readers import ceilings
from roofwidget.readers.tables import tools
from tests.places import ROOT, text_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "roofwidget").rglob("*.py")
}
CONTRACTS: list[dict[str, Any]] = tomllib.loads(text_of(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"]


@cache
def tree(module: str) -> ast.Module:
    """Return the syntax tree of a module of this package."""
    return ast.parse(text_of(FILES[module]))


def imports(module: str) -> Iterator[tuple[str, bool]]:
    """Yield each module of this package that a module imports at run time, and whether it does so in a function."""

    def visit(node: ast.AST, *, deferred: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            yield from ((alias.name, deferred) for alias in node.names if alias.name.startswith("roofwidget"))
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import"
            for alias in node.names if str(node.module).split(".")[0] == "roofwidget" else ():
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in FILES else str(node.module)), deferred
        for child in ast.iter_child_nodes(node):
            yield from visit(child, deferred=deferred or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))

    yield from visit(tree(module), deferred=False)


def test_the_only_deferred_imports_of_our_own_modules_are_those_that_the_contract_lists() -> None:
    found = {f"{module} -> {name}" for module in FILES for name, deferred in imports(module) if deferred}
    layers = next(contract for contract in CONTRACTS if contract.get("exhaustive"))
    siblings = next(contract for contract in CONTRACTS if contract["type"] == "acyclic_siblings")
    assert found == set(layers["ignore_imports"]) == set(siblings["ignore_imports"])


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module: {name for name, deferred in imports(module) if not deferred} for module in FILES}
    TopologicalSorter(graph).prepare()


def stood_in() -> Iterator[str]:
    """Yield each module for which its package has a stand-in: what `late` is called with."""
    for package in FILES:
        for node in ast.walk(tree(package)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "late":
                given = [str(one.value) for one in node.args if isinstance(one, ast.Constant)] or vars(roofwidget)[
                    "_LATE"
                ]
                yield from (f"{package}.{name}" for name in given)


def test_modules_are_imported_by_name_only_where_names_load_late_and_each_is_there() -> None:
    named = {
        "roofwidget": list(roofwidget._NAMES.values()),
        "roofwidget.cli": [cli.module_of(name) for name in cli._COMMANDS],
        "roofwidget.measure.frameworks": [
            *frameworks.COUNTERS.values(),
            *frameworks.GRAPHS.values(),
            *frameworks.PROBES.values(),
            *frameworks.WATCHERS.values(),
        ],
        "roofwidget.readers": [*readers.FORMATS, *readers._LAZY.values()],
        "roofwidget.readers.ceilings": [f"roofwidget.readers.{name}" for name in ceilings._FORMATS],
        "roofwidget.readers.tables.tools": list(tools.TOOLS),
        "roofwidget.support.late": list(stood_in()),
        "roofwidget.readers.xprof.convert": [],  # xprof's own converter
    }
    assert {name for name, path in FILES.items() if "import_module(" in text_of(path)} == set(named)
    missing = [name for names in named.values() for name in names if find_spec(name) is None]
    assert not missing
