"""Mutation testing: changes one operator, number or text of the code at a time, and counts what the tests notice.

``make mutants`` runs all files, ``make mutants FILES="roofwidget/units.py"`` some of them, and ``FILES=--saved`` prints
the latest results again. Mutmut changes functions in Python, Stryker functions in TypeScript. Both are installed below
``build/mutants``, and change copies of the code there. Values that a module computes when it is imported are not
changed.

Each file has the tests that specify it. A mutant runs only those of them that reach the changed code. A mutant that no
test can kill is in ``equivalent.txt``, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.mutants import results

ROOT: Final = Path(__file__).parents[2]
PLACE: Final = ROOT / "build" / "mutants"
_MUTMUT: Final = "mutmut==3.8.1"
_STRYKER: Final = ["@stryker-mutator/core@10.1.1", "@stryker-mutator/vitest-runner@10.1.1"]

_PYTHON: Final = {
    "roofwidget/units.py": ["test_units"],
    "roofwidget/analysis/roofline.py": ["analysis/test_roofline", "analysis/test_bound"],
    "roofwidget/analysis/bound.py": ["analysis/test_bound", "analysis/test_headroom", "analysis/test_report"],
    "roofwidget/analysis/bound_lenient.py": ["analysis/test_bound", "analysis/test_projection"],
    "roofwidget/analysis/kernel_moves.py": ["analysis/test_kernel_moves"],
    "roofwidget/analysis/projection.py": ["analysis/test_projection", "analysis/test_projection_golden"],
    "roofwidget/analysis/utilization.py": ["analysis/test_utilization", "workloads/test_model_flops"],
    "roofwidget/analysis/network.py": ["analysis/test_network"],
    "roofwidget/analysis/ranks.py": ["analysis/test_ranks"],
    "roofwidget/analysis/sizing.py": ["analysis/test_sizing"],
    "roofwidget/workloads/expressions.py": ["workloads/test_expressions", "workloads/test_numbers"],
    "roofwidget/workloads/partition.py": [
        *("workloads/test_partition", "workloads/test_search_budget", "workloads/test_fusion_golden"),
    ],
    "roofwidget/workloads/legality.py": ["workloads/test_partition", "workloads/test_merging"],
    "roofwidget/workloads/index.py": ["workloads/test_index"],
    "roofwidget/workloads/loops.py": ["workloads/test_index", "workloads/test_fusion_golden"],
    "roofwidget/workloads/forms.py": ["workloads/test_forms", "workloads/test_axes", "workloads/test_fusion_golden"],
    "roofwidget/workloads/search.py": [
        *("workloads/test_group_times", "workloads/test_partition", "workloads/test_search_budget"),
    ],
}
_ROOFLINE: Final = ["test/roofline", "test/text", "test/state/moves.test.ts"]
_TYPESCRIPT: Final = {
    "js/src/text/numbers.ts": ["test/text", "test/chart/axis_units.test.ts"],
    **{
        f"js/src/roofline/{name}.ts": _ROOFLINE
        for name in (
            *("answers", "bound", "ceilings", "compare_runs", "crossings", "filters", "measured_rates", "points"),
            *("positions", "projection", "ranking", "roof_change_index", "roofline", "totals", "kernel_moves"),
        )
    },
    **{
        f"js/src/fusion/{name}.ts": [f"test/fusion/{each}.test.ts" for each in tests]
        for name, tests in {
            "conditions": ["conditions"],
            "expressions": ["expressions"],
            "forms": ["forms", "golden"],
            "graph": ["graph", "expressions", "partition"],
            "greedy": ["search", "golden"],
            "group_kernels": ["partition"],
            "legality": ["partition", "golden"],
            "loops": ["forms", "golden"],
            "partition": ["partition", "golden"],
            "search": ["search", "golden"],
        }.items()
    },
}
FILES: Final = [*_PYTHON, *_TYPESCRIPT]
_PYTEST: Final = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.mutants.fastest_first", "--assert=plain"]


def _copied(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))


def _python(path: str, jobs: int) -> list[results.Mutant]:
    tools, folder = PLACE / "tools", PLACE / "python"
    if not (tools / "mutmut").exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools), _MUTMUT], check=True)
    shutil.rmtree(folder / "mutants", ignore_errors=True)
    for name in ("roofwidget", "tests"):
        _copied(ROOT / name, folder / name)
    (folder / path).write_text(_undecorated((ROOT / path).read_text(encoding="utf-8")), encoding="utf-8")
    settings = {
        "source_paths": ["roofwidget"],
        "only_mutate": [path],
        "pytest_add_cli_args_test_selection": [f"tests/{name}.py" for name in _PYTHON[path]],
        "pytest_add_cli_args": _PYTEST,
        "timeout_multiplier": 10.0,
        "timeout_constant": 5.0,
        "use_git_change_detection": False,
        "track_dependencies": False,
    }
    # A list or a number is written in TOML as in JSON.
    lines = ["[tool.mutmut]", *(f"{name} = {json.dumps(value)}" for name, value in settings.items())]
    lines += ["[tool.pytest.ini_options]", 'pythonpath = ["."]', 'addopts = ["--import-mode=importlib"]']
    lines += ["filterwarnings = ['error', 'ignore:metadata .* was set from the constructor:DeprecationWarning']"]
    (folder / "pyproject.toml").write_text("\n".join(lines), encoding="utf-8")
    # The development environment's packages come first, so that its pytest runs.
    program = f"import sys; sys.path.append({str(tools)!r}); from mutmut.__main__ import cli; cli()"
    subprocess.run([sys.executable, "-c", program, "run", "--max-children", str(jobs)], cwd=folder, check=True)
    return results.of_mutmut(path, folder / "mutants")


def _undecorated(source: str) -> str:
    """Return the source with each decorator as a statement after its function.

    Mutmut leaves out functions with decorators.
    """
    lines = source.splitlines()
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and node.decorator_list
        and not {ast.unparse(each) for each in node.decorator_list} & {"overload", "classmethod", "staticmethod"}
    ]
    for node in sorted(functions, key=lambda each: each.lineno, reverse=True):
        applied = node.name
        for decorator in reversed(node.decorator_list):
            applied = f"{ast.unparse(decorator)}({applied})"
        end = node.end_lineno or node.lineno
        lines.insert(end, f"{' ' * node.col_offset}{node.name} = {applied}")
        del lines[node.decorator_list[0].lineno - 1 : node.lineno - 1]
    return "\n".join([*lines, ""])


def _npm(*command: str) -> None:
    subprocess.run(command, cwd=PLACE / "js", check=True)


def _typescript(path: str, jobs: int) -> list[results.Mutant]:
    folder = PLACE / "js"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("src", "test"):
        _copied(ROOT / "js" / name, folder / name)
    for name in ("package.json", "package-lock.json", ".npmrc", "tsconfig.json"):
        shutil.copy(ROOT / "js" / name, folder)
    # Both languages read these files.
    _copied(ROOT / "tests" / "golden", PLACE / "tests" / "golden")
    if not (folder / "node_modules" / "@stryker-mutator").exists():
        _npm("npm", "ci")
        _npm("npm", "install", "--no-save", "--no-package-lock", *_STRYKER)
    tests = [name if name.endswith(".ts") else f"{name}/**/*.test.{{ts,tsx}}" for name in _TYPESCRIPT[path]]
    test = {"setupFiles": ["test/english.ts"], "include": tests, "testTimeout": 60_000}
    (folder / "vitest.config.ts").write_text(f"export default {json.dumps({'test': test})};", encoding="utf-8")
    settings = {
        "testRunner": "vitest",
        "plugins": ["@stryker-mutator/vitest-runner"],
        "vitest": {"configFile": "vitest.config.ts", "related": False},
        "mutate": [path.removeprefix("js/")],
        "inPlace": True,
        "ignoreStatic": True,
        # Stryker notices endless loops by the number of passes. Only what hangs in another way needs this time.
        "timeoutMS": 60_000,
        "concurrency": jobs,
        "reporters": ["json", "progress-append-only"],
        "jsonReporter": {"fileName": "report.json"},
    }
    (folder / "stryker.config.json").write_text(json.dumps(settings), encoding="utf-8")
    _npm("npx", "stryker", "run")
    return results.of_stryker(folder / "report.json")


def _saved(path: str) -> Path:
    return PLACE / "results" / f"{path.replace('/', '.')}.json"


def main(arguments: Sequence[str]) -> int:
    """Run the files, and print the mutants that survived and the table."""
    parser = argparse.ArgumentParser(prog="make mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="a file of the list; by default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--saved", action="store_true", help="run nothing: print the latest results of the files")
    asked = parser.parse_args(arguments)
    unknown = [path for path in asked.files if path not in FILES]
    if unknown:
        parser.error(f"no tests are listed for {', '.join(unknown)}; the files are: {', '.join(FILES)}")
    if not asked.saved:
        for path in asked.files or FILES:
            mutants = (_python if path in _PYTHON else _typescript)(path, asked.jobs)
            results.save(mutants, _saved(path))
    files = [results.load(_saved(path)) for path in asked.files or FILES if _saved(path).exists()]
    known = results.equivalents()
    for mutants in files:
        for mutant in sorted(mutants):
            if mutant.outcome == "survived" and mutant.key not in known:
                print(mutant)  # noqa: T201 - the result of the command
    text, wrong = results.table(files)
    print(text, *wrong, sep="\n")  # noqa: T201 - the same
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
