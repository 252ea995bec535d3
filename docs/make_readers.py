"""Write `readers.md` from the readers themselves: `python docs/make_readers.py`."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from roofwidget.readers import FORMATS

PAGE = DOCS / "readers.md"

TOP = """# Readers

`rw.read(path)` reads each of these into `Kernels`; what a file holds tells which it is, not its name. A path, bytes or
an open file will do, gzip and zip are undone, and a folder stands for the files that a tool writes together. This page
is written by `docs/make_readers.py` from the readers' own texts: how to make the file, and the rule behind each number.

- `kernels.origin["flops"]` tells of each number which metric and which rule gave it; `kernels.extra` holds what else
  the file tells; `kernels.warnings` says what is missing or doubtful.
- Unknown is NaN and zero is zero: a kernel without FLOPs stays in the table.
- `rw.read(path, format="…")` names the format where the content does not show it.
- `rw.read(path, work={"flash*": {"flops": "4 GFLOP", "bytes": "10 MB"}})` gives the work of one launch of kernels that
  the tool cannot count, by name; an op of `rw.workloads` or a function of the row will do too. Every reader takes it;
  `kernels.with_work(…)` does the same later, and `replace=True` there replaces what is known.
- `rw.read_many("runs/*.json")` reads many at once, with `client=` in processes or on a Dask cluster; a file that fails
  is named in `.failures` and does not lose the others.
- `rw.ranks("traces/rank*.json")` compares the ranks of one program: the slowest rank of each kernel, the median, the
  spread, stragglers, and who waits in collectives. A device that is idle, and a kernel that only one rank has, make no
  straggler.
- `kernels.groupby("name", "shape")` adds launches up, as sums over sums; `kernels.launches_of(row)` gives them back.
"""


def page() -> str:
    """Return the page's text."""
    modules = [import_module(name) for name in FORMATS]
    head = ["| format | what it reads |", "| --- | --- |"]
    head += [f"| [`{module.FORMAT}`](#{module.FORMAT}) | {module.EXPECTED} |" for module in modules]
    return "\n".join([TOP, *head, "", *map(_section, modules)])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def _section(module: ModuleType) -> str:
    text = _markdown(inspect.getdoc(module) or "")
    return f"## {module.FORMAT}\n\n{text}\n\n`{_call(module)}`\n"


def _call(module: ModuleType) -> str:
    parameters = inspect.signature(module.read).parameters.values()
    options = [f"{p.name}={p.default!r}" for p in parameters if p.kind is p.KEYWORD_ONLY]
    return f"rw.read({', '.join(['path', *options])})"


def _markdown(text: str) -> str:
    """Return a doc string's reStructuredText as Markdown: literals, blocks of code, and terms with what they mean."""
    lines = re.sub(r"``([^`]+)``", r"`\1`", text).split("\n")
    shown: list[str] = []
    in_code = in_term = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line and not line.startswith(" "):
            in_code = in_term = False
        if line.endswith("::"):
            in_code = True
            shown.append(line[:-1])
        elif not in_code and re.match(r"[A-Za-z]", line) and following.startswith("    "):
            in_term = True
            shown.append(f"- **{line}**:")
        else:
            shown.append(f"  {line.strip()}" if in_term and line else line)
    return "\n".join(shown)


if __name__ == "__main__":
    main()
