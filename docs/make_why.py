"""Write the tables of `why.md` from the columns and the rules: `python docs/make_why.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from roofwidget.analysis.reasons import rules
from roofwidget.kernels.low_level import LOW_LEVEL_COLUMNS
from roofwidget.readers.ncu.low_level_metrics import CONFLICTS, LOCAL, METRICS, TOTALS

PAGE: Final = DOCS / "why.md"


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    for name, table in (("reasons", _reasons()), ("columns", _columns()), ("metrics", _metrics())):
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        text = f"{before}<!-- {name} -->\n{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return text


def _reasons() -> str:
    rows = ["| reason | conditions | source |", "| --- | --- | --- |"]
    for rule in rules():
        parts = [_condition(name, condition) for name, condition in rule.where.items()]
        parts += [f"not {_condition(name, condition)}" for name, condition in rule.unless.items()]
        rows.append(f"| {rule.reason} | {'; '.join(parts)} | {rule.source} |")
    return "\n".join(rows)


def _condition(name: str, condition: str | list[str]) -> str:
    if isinstance(condition, str) and condition[0] in "<>":
        return f"{name} {condition}"
    return f"{name}: {' or '.join([condition] if isinstance(condition, str) else condition)}"


def _columns() -> str:
    rows = ["| column | what it says |", "| --- | --- |"]
    rows += [f"| {one.name} | {one.meaning} |" for one in LOW_LEVEL_COLUMNS.values()]
    return "\n".join(rows)


def _metrics() -> str:
    ratios = [name for name in METRICS if "sector" in name]
    names = [METRICS[name][-1] for name in ratios if "used" in name]
    names += [metric for name in TOTALS for metric in TOTALS[name][0]]
    names += [*LOCAL, *CONFLICTS[0]]
    rest = ["gpu__time_duration.sum", "sm__cycles_elapsed.max", "sm__cycles_active.avg", "sm__cycles_active.max"]
    listed = ",\\\n".join(dict.fromkeys([*rest, *names]))
    return f"```\nncu -o profile --metrics \\\n{listed} \\\n./program\n```"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
